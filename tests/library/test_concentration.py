"""The concentration module: bounds, exact tails, inversions, errors."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from mllib import concentration as co

HALF = Fraction(1, 2)


# exact tails ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_binomial_tail_equals_scipy_and_fractions(n, p):
    for k in range(-1, n + 3):
        assert co.binomial_tail(k, n, p) == pytest.approx(binom.sf(k - 1, n, p), abs=1e-14)
        exact = co.binomial_tail(k, n, Fraction(repr(p)))
        assert float(exact) == pytest.approx(co.binomial_tail(k, n, p), rel=1e-12)


def test_binomial_mean_tail_counts_the_threshold_itself():
    # 0.5 + 0.1 is 0.6 in decimals: 6 of 10 belongs to the tail.
    assert co.binomial_mean_tail(10, 0.5, 0.1, two_sided=False) == pytest.approx(386 / 1024)
    assert co.binomial_mean_tail(10, 0.5, 0.1) == pytest.approx(2 * 386 / 1024)
    assert co.binomial_mean_tail(10, 0.3, 0.1) == pytest.approx(
        sum(binom.pmf(k, 10, 0.3) for k in range(11) if abs(k - 3) >= 1)
    )
    assert co.binomial_mean_tail(3, HALF, HALF) == Fraction(1, 4)


def test_clopper_pearson_equals_scipy():
    for k, n in ((0, 5), (3, 10), (10, 10), (17, 189)):
        theirs = binomtest(k, n).proportion_ci(0.95, method="exact")
        assert tuple(co.clopper_pearson(k, n, 0.05)) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.parametrize("delta", [1e-6, 1e-20, 1e-100])
def test_clopper_pearson_leaves_half_of_a_small_delta_in_each_tail(delta):
    low, high = co.clopper_pearson(2, 5, delta)
    assert binom.sf(1, 5, low) == pytest.approx(delta / 2, rel=1e-6)
    mirrored = co.clopper_pearson(3, 5, delta)  # successes and failures swapped
    assert (1 - high, 1 - low) == pytest.approx(tuple(mirrored), abs=1e-15)


# bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5, 40, 300])
@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9])
def test_every_bound_lies_above_the_exact_tail(n, p):
    for epsilon in (0.02, 0.1, 0.25, 0.4):
        one = co.binomial_mean_tail(n, p, epsilon, two_sided=False)
        two = co.binomial_mean_tail(n, p, epsilon)
        assert one <= co.markov_bound(p, p + epsilon) * (1 + 1e-12)
        assert two <= co.chebyshev_bound(p * (1 - p), epsilon, n) * (1 + 1e-12)
        assert two <= co.hoeffding_bound(n, epsilon)
        assert one <= co.hoeffding_bound(n, epsilon, two_sided=False)
        if p + epsilon <= 1:
            chernoff = math.exp(-n * co.bernoulli_rate(p + epsilon, p))
            assert one <= chernoff * (1 + 1e-9) <= co.hoeffding_bound(n, epsilon, two_sided=False)


def test_a_larger_constant_in_the_exponent_would_be_wrong():
    tails = [(n, e) for n in range(1, 3000, 7) for e in (0.05, 0.1, 0.2, 0.3)]
    exact = np.array([co.binomial_mean_tail(n, 0.5, e) for n, e in tails])
    right = np.array([co.hoeffding_bound(n, e) for n, e in tails])
    wrong = np.array([2 * math.exp(-2.2 * n * e**2) for n, e in tails])
    assert (exact <= right).all()
    assert not (exact <= wrong).all()


@pytest.mark.parametrize(
    ("log_mgf", "rate", "points"),
    [
        (
            lambda v: math.log(0.7 + 0.3 * math.exp(v)),
            lambda t: co.bernoulli_rate(t, 0.3),
            (0.1, 0.3, 0.5, 0.9),
        ),
        (lambda v: 2.0 * v**2, lambda t: co.gaussian_rate(t, 2.0), (-1.0, 0.0, 0.5, 3.0)),
        (lambda v: math.log(math.cosh(v)), co.rademacher_rate, (-0.2, 0.3, 0.9)),
    ],
)
def test_numeric_legendre_transform_equals_the_closed_forms(log_mgf, rate, points):
    for t in points:
        answer = co.chernoff_bound(log_mgf, t, n=7)
        assert answer.rate == pytest.approx(rate(t), abs=1e-12)
        assert answer.bound == pytest.approx(math.exp(-7 * rate(t)), abs=1e-12)


def test_chernoff_takes_only_positive_tilts_and_notices_infinite_rates():
    below = co.chernoff_bound(lambda v: v, 0.5)  # X = 1 always, threshold below its mean
    assert below == (1.0, 0.0, 0.0)
    above = co.chernoff_bound(lambda v: v, 1.5)  # X = 1 never reaches 1.5
    assert above.bound == 0.0
    assert above.tilt == math.inf
    exponential = co.chernoff_bound(lambda v: -math.log(1 - v) if v < 1 else math.inf, 3.0)
    assert exponential.rate == pytest.approx(3 - 1 - math.log(3), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1.0, 1e8, 1e100])
def test_the_rate_does_not_depend_on_the_unit(scale):
    answer = co.chernoff_bound(
        lambda v: np.logaddexp(math.log(0.7), math.log(0.3) + v * scale), 0.5 * scale
    )
    assert answer.rate == pytest.approx(co.bernoulli_rate(0.5, 0.3), rel=1e-12)
    assert answer.tilt * scale == pytest.approx(math.log(0.5 * 0.7 / (0.3 * 0.5)), rel=1e-6)


def test_a_level_just_above_the_range_has_an_infinite_rate():
    assert co.chernoff_bound(lambda v: v, 1 + 1e-9).rate == math.inf


def test_subgaussian_constants_are_refuted_on_a_grid():
    grid = np.linspace(-20, 20, 401)
    rademacher = lambda v: np.logaddexp(v, -v) - math.log(2)  # noqa: E731
    assert co.is_subgaussian(rademacher, 1.0, grid)
    assert not co.is_subgaussian(rademacher, 0.99, grid)
    exponential = lambda v: -v - math.log1p(-v) if v < 1 else math.inf  # noqa: E731
    assert not co.is_subgaussian(exponential, 10.0, grid)


def test_rates_at_the_edges():
    assert co.bernoulli_rate(0.2, 0.0) == math.inf
    assert co.bernoulli_rate(1.0, 1.0) == 0.0
    assert co.bernoulli_rate(0.5 + 1e-8, 0.5) == pytest.approx(2e-16, rel=1e-7)
    assert co.bernoulli_rate(2e-20, 1e-20) == pytest.approx((2 * math.log(2) - 1) * 1e-20)
    assert co.rademacher_rate(1.0) == pytest.approx(math.log(2))
    assert co.rademacher_rate(1.5) == math.inf


def test_unequal_ranges_enter_by_their_mean_square():
    low, high = np.zeros(4), np.array([1.0, 2.0, 3.0, 4.0])
    expected = 2 * math.exp(-2 * 4 * 0.25 / 7.5)
    assert co.hoeffding_bound(4, 0.5, low, high) == pytest.approx(expected)
    assert co.subgaussian_bound(9, 0.3, 0.5) == pytest.approx(co.hoeffding_bound(9, 0.3))
    assert co.hoeffding_log_mgf(2.0, -1, 1) == 2.0


def test_bernstein_knows_the_variance():
    expected = math.exp(-40 * 0.09 / (2 * 0.1 + 2 * 0.7 * 0.3 / 3))
    assert co.bernstein_bound(40, 0.3, 0.1, 0.7, two_sided=False) == pytest.approx(expected)
    assert co.bernstein_bound(40, 0.3, 0.1, 0.7) == pytest.approx(2 * expected)
    assert co.bernstein_bound(10, 0.5, 0.0, 1.0) == pytest.approx(2 * math.exp(-7.5))  # a constant
    rare = (2000, 0.02, 0.01 * 0.99, 0.99)  # errors of probability 0.01, three times as many
    exact = co.binomial_mean_tail(2000, 0.01, 0.02, two_sided=False)
    assert exact <= co.bernstein_bound(*rare, two_sided=False)
    assert math.exp(-2000 * 0.02**2 / (2 * 0.0099)) < exact  # without the term in M it is false


# inversions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.05), (0.01, 1e-6), (0.5, 0.9)])
def test_sample_sizes_are_the_smallest_that_do(epsilon, delta, two_sided):
    n = co.hoeffding_sample_size(epsilon, delta, two_sided=two_sided)
    assert co.hoeffding_bound(n, epsilon, two_sided=two_sided) <= delta * (1 + 1e-9)
    assert n == 1 or co.hoeffding_bound(n - 1, epsilon, two_sided=two_sided) > delta
    radius = co.hoeffding_radius(n, delta, two_sided=two_sided)
    assert co.hoeffding_bound(n, radius, two_sided=two_sided) == pytest.approx(delta)
    m = co.chebyshev_sample_size(0.25, epsilon, delta)
    assert co.chebyshev_bound(0.25, epsilon, m) <= delta * (1 + 1e-9)
    assert m == 1 or co.chebyshev_bound(0.25, epsilon, m - 1) > delta


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("delta", [0.4, 0.05, 1e-9])
def test_every_inversion_is_the_smallest_n(delta, two_sided):
    sides = 2 if two_sided else 1
    pairs = [
        (
            co.chernoff_sample_size(0.03, delta, two_sided=two_sided),
            lambda n: sides * math.exp(-0.03 * n),
        ),
        (
            co.subgaussian_sample_size(0.1, delta, 0.7, two_sided=two_sided),
            lambda n: co.subgaussian_bound(n, 0.1, 0.7, two_sided=two_sided),
        ),
        (
            co.central_limit_sample_size(0.1, delta, 0.7, two_sided=two_sided),
            lambda n: co.central_limit_tail(n, 0.1, 0.7, two_sided=two_sided),
        ),
    ]
    for n, tail in pairs:
        assert n > 1
        assert tail(n) <= delta < tail(n - 1)


def test_intervals_are_clipped():
    assert co.hoeffding_interval(0.02, 50, 0.05).low == 0.0
    assert co.hoeffding_interval(0.98, 50, 0.05).high == 1.0


def test_scaling_the_unit_changes_nothing():
    for scale in (1e-150, 1e-8, 1e8, 1e150):
        assert co.hoeffding_bound(50, 0.1 * scale, 0.0, scale) == pytest.approx(
            co.hoeffding_bound(50, 0.1)
        )
        assert co.central_limit_tail(50, 0.1 * scale, 0.5 * scale) == pytest.approx(
            co.central_limit_tail(50, 0.1, 0.5)
        )
        assert co.subgaussian_bound(50, 0.1 * scale, 0.5 * scale) == pytest.approx(
            co.subgaussian_bound(50, 0.1, 0.5)
        )
        assert co.bernstein_bound(50, 0.1 * scale, 0.2 * scale * scale, scale) == pytest.approx(
            co.bernstein_bound(50, 0.1, 0.2, 1.0)
        )
        assert co.hoeffding_radius(50, 0.1, 0.0, scale) == pytest.approx(
            co.hoeffding_radius(50, 0.1) * scale
        )


# bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: co.markov_bound(-1.0, 2.0), "mean must be a number in"),
        (lambda: co.markov_bound(1.0, 0.0), "t must be a number in"),
        (lambda: co.chebyshev_bound(-0.1, 1.0), "variance must be"),
        (lambda: co.chebyshev_bound(1.0, 1.0, n=0), "n must be an integer"),
        (lambda: co.chebyshev_sample_size(1.0, 0.1, 0.0), "delta must be a number in \\(0, 1\\)"),
        (lambda: co.hoeffding_bound(0, 0.1), "n must be an integer"),
        (lambda: co.hoeffding_bound(2.5, 0.1), "n must be an integer"),
        (lambda: co.hoeffding_bound(5, 0.0), "epsilon must be a number"),
        (lambda: co.hoeffding_bound(5, np.nan), "epsilon must be a number"),
        (lambda: co.hoeffding_bound(5, 0.1, 1.0, 0.0), "low must be below high"),
        (lambda: co.hoeffding_bound(5, 0.1, 0.0, np.inf), "high contains infinity"),
        (lambda: co.hoeffding_bound(5, 0.1, -1e308, 1e308), "between 1e-150 and 1e150"),
        (lambda: co.hoeffding_bound(5, 0.1, "zero"), "low must hold numbers only"),
        (
            lambda: co.hoeffding_bound(5, 0.1, np.zeros(4), np.ones(4)),
            "vector with n = 5 entries",
        ),
        (
            lambda: co.hoeffding_bound(1, 0.1, np.zeros((1, 1)), 1.0),
            "must be a number, or a vector",
        ),
        (lambda: co.hoeffding_interval(0.5, 5, 0.1, "zero"), "low must be a number in"),
        (lambda: co.hoeffding_interval(0.5, 5, 0.1, 2.0, 1.0), "low must be below high"),
        (lambda: co.hoeffding_log_mgf(np.inf, 0.0, 1.0), "v must be a number in"),
        (lambda: co.hoeffding_bound(5, 0.1, two_sided="yes"), "two_sided must be True or False"),
        (lambda: co.hoeffding_sample_size(0.1, 1.0), "delta must be a number in"),
        (lambda: co.bernstein_bound(5, 0.0, 0.1, 1.0), "epsilon must be a number"),
        (lambda: co.bernstein_bound(5, 0.1, -0.1, 1.0), "variance must be"),
        (lambda: co.bernstein_bound(5, 0.1, 0.1, 0.0), "largest must be"),
        (lambda: co.hoeffding_radius(5, -0.1), "delta must be a number in"),
        (lambda: co.binomial_tail(1, 2, 1.5), "p must be a number in \\[0, 1\\]"),
        (lambda: co.binomial_tail(1.5, 2, 0.5), "k must be an integer"),
        (lambda: co.binomial_mean_tail(5, 0.5, -1), "epsilon must be a number"),
        (lambda: co.bernoulli_rate(1.2, 0.5), "q must be a number in"),
        (lambda: co.gaussian_rate(1.0, 0.0), "sigma must be a number"),
        (lambda: co.gaussian_rate(np.inf, 1.0), "t must be a number in"),
        (lambda: co.chernoff_bound(lambda v: v, np.inf), "t must be a number in"),
        (lambda: co.clopper_pearson(1, 5, 1e-300), "delta must be a number in \\[1e-100, 1\\)"),
        (lambda: co.clopper_pearson(6, 5, 0.1), "k must be an integer in"),
        (lambda: co.hoeffding_sample_size(1e-200, 0.1), "epsilon is too small"),
        (lambda: co.chernoff_sample_size(0.0, 0.1), "rate must be a number"),
        (lambda: co.chernoff_sample_size(1e-200, 0.1), "rate is too small"),
        (lambda: co.subgaussian_sample_size(0.1, 0.1, -1.0), "sigma must be a number"),
        (lambda: co.central_limit_sample_size(0.1, 1.5, 1.0), "delta must be a number"),
        (lambda: co.is_subgaussian(lambda v: v, 1.0, []), "grid must have an entry"),
        (lambda: co.is_subgaussian(0.5, 1.0, [1.0]), "log_mgf must be a function"),
        (lambda: co.is_subgaussian(lambda v: math.nan if v else 0.0, 1.0, [1.0]), "not return NaN"),
        (lambda: co.chernoff_bound(3.0, 1.0), "log_mgf must be a function"),
        (lambda: co.chernoff_bound(lambda v: 1.0 + v, 1.0), "psi\\(0\\) = 0"),
        (lambda: co.chernoff_bound(lambda v: math.nan if v else 0.0, 1.0), "must not return NaN"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("t", [1e-2, 1.01e-4, 0.99e-4, 1e-8, 1e-30, 1e-100])
def test_the_rate_of_a_coin_keeps_its_digits_near_zero(t):
    assert co.rademacher_rate(t) == pytest.approx(t**2 / 2 + t**4 / 12 + t**6 / 30, rel=1e-7, abs=0)


def test_a_range_is_a_unit():
    assert co.hoeffding_sample_size(0.3, 0.05, 2.0, 5.0) == co.hoeffding_sample_size(0.1, 0.05)
    radius = 3 * math.sqrt(math.log(2 / 0.05) / 800)
    inside = co.hoeffding_interval(3.4, 400, 0.05, 2.0, 5.0)
    assert tuple(inside) == pytest.approx((3.4 - radius, 3.4 + radius))
    assert co.hoeffding_interval(2.1, 400, 0.05, 2.0, 5.0).low == 2.0
    assert co.hoeffding_interval(4.9, 400, 0.05, 2.0, 5.0).high == 5.0


@pytest.mark.parametrize(
    ("function", "given", "left_out"),
    [
        (co.chebyshev_bound, (2.0, 3.0), {"n": 1}),
        (co.chernoff_bound, (lambda v: v**2 / 2, 2.0), {"n": 1}),
        (co.chernoff_sample_size, (0.03, 0.05), {"two_sided": False}),
        (co.subgaussian_bound, (50, 0.1, 0.7), {"two_sided": True}),
        (co.subgaussian_sample_size, (0.1, 0.05, 0.7), {"two_sided": True}),
        (co.hoeffding_bound, (50, 0.1), {"low": 0.0, "high": 1.0, "two_sided": True}),
        (co.hoeffding_radius, (50, 0.05), {"low": 0.0, "high": 1.0, "two_sided": True}),
        (co.hoeffding_sample_size, (0.1, 0.05), {"low": 0.0, "high": 1.0, "two_sided": True}),
        (co.bernstein_bound, (50, 0.1, 0.2, 1.0), {"two_sided": True}),
        (co.central_limit_tail, (50, 0.1, 0.5), {"two_sided": True}),
        (co.central_limit_sample_size, (0.1, 0.05, 0.7), {"two_sided": True}),
    ],
)
def test_what_is_left_out_is_one_variable_in_0_1_and_both_sides(function, given, left_out):
    assert function(*given) == function(*given, **left_out)
