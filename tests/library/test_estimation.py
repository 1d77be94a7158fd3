"""The estimation module: behaviour of each public function, its errors and edge cases."""

import itertools
import math
from fractions import Fraction
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize

import mllib.estimation as module
from mllib.estimation import (
    Dirichlet,
    Gaussian,
    GaussianMean,
    MultivariateGaussian,
    bernoulli_log_likelihood,
    bernoulli_mle,
    categorical_log_likelihood,
    categorical_map,
    categorical_mle,
    category_counts,
    cramer_rao_bound,
    dirichlet_posterior,
    exact_bias_variance,
    fisher_information,
    gaussian_log_likelihood,
    gaussian_mean_posterior,
    gaussian_mle,
    log_likelihood,
    map_estimate,
    mc_bias_variance,
    mle,
    multivariate_gaussian_log_likelihood,
    multivariate_gaussian_mle,
    sample_variance,
)

#: A law on -1, 0, 1 with the first five moments of the Gaussian N(0, 1/3).
VALUES = (Fraction(-1), Fraction(0), Fraction(1))
WEIGHTS = (Fraction(1, 6), Fraction(2, 3), Fraction(1, 6))


def squares(x):
    """Return the sum of squared deviations in whatever arithmetic x brings along."""
    mean = sum(x) / Fraction(len(x))
    return sum((v - mean) ** 2 for v in x)


def coin(x, p):
    return np.where(np.asarray(x) == 1, np.log(p), np.log1p(-p))


def box(x, t):
    return np.where((x >= t) & (x <= t + 1), 0.0, -np.inf)


def two_values(x, t):
    return np.where((x == t) | (x == t + 1), -np.log(2), -np.inf)


def normal(x, mean, variance):
    return stats.norm.logpdf(x, mean, math.sqrt(variance))


# likelihood ----------------------------------------------------------------------------------


def test_log_likelihood_is_the_log_of_the_product():
    x = np.array([1, 0, 0, 1, 1])
    assert math.exp(log_likelihood(coin, x, 0.3)) == pytest.approx(0.3**3 * 0.7**2, rel=1e-12)
    assert bernoulli_log_likelihood(x, 0.3) == pytest.approx(log_likelihood(coin, x, 0.3))


def test_log_likelihood_of_something_impossible_is_minus_infinity():
    assert bernoulli_log_likelihood([1, 0], 1.0) == -np.inf
    assert bernoulli_log_likelihood([1, 1], 1.0) == 0
    assert categorical_log_likelihood([0, 2], [1.0, 0.0]) == -np.inf
    assert categorical_log_likelihood([2, 0], [1.0, 0.0]) == 0
    half_line = lambda x, theta: np.where(x < theta, -np.log(theta), -np.inf)  # noqa: E731
    assert log_likelihood(half_line, np.array([1.0, 3.0]), 2.0) == -np.inf


def test_closed_forms_equal_sums_of_log_densities():
    rng = np.random.default_rng(0)
    x, X = rng.normal(3, 2, 40), rng.standard_normal((30, 3))
    S = np.cov(rng.standard_normal((3, 9)))
    assert gaussian_log_likelihood(x, 2.5, 3.0) == pytest.approx(normal(x, 2.5, 3.0).sum())
    theirs = stats.multivariate_normal([1, 2, 3], S).logpdf(X).sum()
    assert multivariate_gaussian_log_likelihood(X, [1, 2, 3], S) == pytest.approx(theirs)
    assert MultivariateGaussian(np.array([1, 2, 3]), S).log_density(X).sum() == pytest.approx(
        theirs
    )
    assert Gaussian(2.5, 3.0).log_density(x).sum() == pytest.approx(normal(x, 2.5, 3.0).sum())


def test_sum_of_logs_survives_where_the_product_does_not():
    assert np.prod(stats.norm.pdf(np.zeros(2000))) == 0
    assert gaussian_log_likelihood(np.zeros(2000), 0, 1) == pytest.approx(-1000 * np.log(2 * np.pi))
    with np.errstate(over="ignore"):
        assert np.prod(stats.norm.pdf(np.zeros(250), scale=0.01)) == np.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_likelihood(coin, [], 0.5), "x must hold at least one"),
        (
            lambda: log_likelihood(lambda x, t: 1.0, [1, 2], 0.5),
            "log_density must return one number",
        ),
        (lambda: log_likelihood(lambda x, t: x * np.nan, np.ones(2), 1), "below .infinity"),
        (lambda: log_likelihood(lambda x, t: x * np.inf, np.ones(2), 1), "below .infinity"),
        (lambda: bernoulli_log_likelihood([0, 2], 0.5), "x must hold only 0 and 1"),
        (lambda: bernoulli_log_likelihood([0, 1], 1.5), "p must be a number"),
        (lambda: categorical_log_likelihood([1, 2], [0.5, 0.6]), "p must sum to one"),
        (lambda: categorical_log_likelihood([1, -2], [0.5, 0.5]), "counts must be non-negative"),
        (lambda: categorical_log_likelihood([1, 2], [1.0]), "p must have 2 entries"),
        (lambda: gaussian_log_likelihood([1.0], 0.0, 0.0), "variance must be a number"),
        (lambda: gaussian_log_likelihood([1.0], np.inf, 1.0), "mean must be a number in"),
        (lambda: gaussian_log_likelihood([np.nan], 0.0, 1.0), "x contains NaN"),
        (lambda: Gaussian(0.0, -1.0).log_density([1.0]), "variance must be a number"),
        (lambda: Gaussian(np.nan, 1.0).log_density([1.0]), "mean must be a number"),
        (lambda: Gaussian(0.0, 1.0).log_density([np.nan]), "x contains NaN"),
        (lambda: MultivariateGaussian([0.0], [[1.0]]).log_density([[1.0, 2.0]]), "mean must have"),
        (lambda: log_likelihood(coin, 1.0, 0.5), "x must hold at least one"),
        (
            lambda: multivariate_gaussian_log_likelihood([[1.0, 2.0]], [0, 0], np.ones((2, 2))),
            "covariance must be positive definite",
        ),
        (
            lambda: multivariate_gaussian_log_likelihood([[1.0, 2.0]], [0, 0], [[1, 2], [0, 1]]),
            "covariance must be symmetric",
        ),
    ],
)
def test_likelihoods_refuse_bad_input_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


# closed forms --------------------------------------------------------------------------------


def test_gaussian_mle_by_hand_and_against_a_divisor_that_is_wrong():
    assert gaussian_mle([1, 2, 6]) == (3.0, pytest.approx(14 / 3))
    assert sample_variance([1, 2, 6]) == 7.0 != gaussian_mle([1, 2, 6]).variance


@pytest.mark.parametrize("seed", range(10))
def test_no_nearby_gaussian_is_more_likely(seed):
    rng = np.random.default_rng(seed)
    x = rng.gamma(2, 3, 12)
    mean, variance = gaussian_mle(x)
    best = gaussian_log_likelihood(x, mean, variance)
    for a, b in itertools.product((-0.1, 0, 0.1), (0.8, 1, 1.25)):
        if (a, b) != (0, 1):
            assert gaussian_log_likelihood(x, mean + a, b * variance) < best
    assert (
        gaussian_log_likelihood(x, mean, sample_variance(x)) < best
    )  # the corrected one is not ML


@pytest.mark.parametrize("seed", range(10))
def test_no_nearby_covariance_is_more_likely(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 3)) @ rng.standard_normal((3, 3)) + 5
    mean, S = multivariate_gaussian_mle(X)
    best = multivariate_gaussian_log_likelihood(X, mean, S)
    for _ in range(20):
        A = np.eye(3) + 0.1 * rng.standard_normal((3, 3))
        assert multivariate_gaussian_log_likelihood(X, mean, A @ S @ A.T) < best
        assert multivariate_gaussian_log_likelihood(X, mean + 0.1 * A[0], S) < best


def test_multivariate_mle_of_one_column_is_the_univariate_one():
    x = np.random.default_rng(1).normal(4, 2, 25)
    mean, S = multivariate_gaussian_mle(x[:, None])
    assert (mean[0], S[0, 0]) == (pytest.approx(gaussian_mle(x).mean), pytest.approx(x.var()))


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 2.0], [3.0, 5.0]],  # n = d
        [[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]],  # a constant column
        [[1.0, 2.0], [2.0, 4.0], [5.0, 10.0], [7.0, 14.0]],  # one column twice the other
        [[1e8, 1.0], [1e8, 2.0], [1e8, 5.0]],
    ],
)
def test_a_singular_sample_covariance_has_no_maximum(X):
    with pytest.raises(ValueError, match="likelihood has no maximum"):
        multivariate_gaussian_mle(X)


def test_columns_of_very_different_scale_are_not_called_dependent():
    X = np.random.default_rng(2).standard_normal((20, 3)) * [1e-9, 1.0, 1e9]
    np.testing.assert_allclose(multivariate_gaussian_mle(X).covariance, np.cov(X.T, bias=True))


def test_equal_values_have_no_gaussian_mle_but_a_sample_variance_of_zero():
    with pytest.raises(ValueError, match="at least two different values"):
        gaussian_mle([0.1, 0.1, 0.1])
    with pytest.raises(ValueError, match="at least two different values"):
        gaussian_mle([3.0])
    assert sample_variance([2.0, 2.0]) == 0
    with pytest.raises(ValueError, match="at least 2 values"):
        sample_variance([2.0])


@pytest.mark.parametrize("s", range(8))
def test_bernoulli_mle_beats_a_grid(s):
    x = np.arange(7) < s
    grid = np.linspace(0, 1, 701)
    values = [bernoulli_log_likelihood(x, p) for p in grid]
    assert grid[np.argmax(values)] == pytest.approx(bernoulli_mle(x), abs=1e-3)


def test_categorical_estimates():
    counts = category_counts([0, 2, 4, 3, 3, 5], 6)
    assert categorical_mle(counts).tolist() == (counts / 6).tolist()
    laplace = [Fraction(int(c) + 1, 12) for c in counts]
    np.testing.assert_allclose(categorical_map(counts), np.array(laplace, dtype=float), rtol=1e-15)
    np.testing.assert_allclose(
        categorical_map(counts, [0, 1, 0, 0, 0, 3]), np.array([1, 1, 1, 2, 1, 4]) / 10
    )
    assert categorical_map([0, 0], 2.0).tolist() == [0.5, 0.5]


def test_category_counts_include_empty_categories():
    assert category_counts([1, 1, 3], 5).tolist() == [0, 2, 0, 1, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bernoulli_mle([]), "x must hold at least 1"),
        (lambda: bernoulli_mle([0.5]), "x must hold only 0 and 1"),
        (lambda: bernoulli_mle([[0, 1]]), "x must be a vector"),
        (lambda: categorical_mle([0, 0]), "counts must not be all 0"),
        (lambda: categorical_mle([]), "counts must be non-negative"),
        (lambda: categorical_map([-1, 2]), "counts must be non-negative"),
        (lambda: categorical_map([1, 2], -1), "pseudocounts must be a number"),
        (lambda: categorical_map([1, 2], [1, -1]), "pseudocounts must be non-negative"),
        (lambda: categorical_map([1, 2], [1, 1, 1]), "pseudocounts must have 2 entries"),
        (lambda: category_counts([0, 3], 3), "labels must be whole numbers from 0"),
        (lambda: category_counts([0.5], 3), "labels must be whole numbers from 0"),
        (lambda: category_counts([-1], 3), "labels must be whole numbers from 0"),
        (lambda: category_counts([1], 0), "K must be an integer"),
    ],
)
def test_closed_forms_refuse_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# numerical search ----------------------------------------------------------------------------


def test_the_search_finds_the_closed_forms():
    rng = np.random.default_rng(3)
    x = rng.normal(-2, 3, 50)
    found = mle(normal, x, [0.0, 1.0], bounds=[(None, None), (1e-6, None)])
    assert found.converged
    np.testing.assert_allclose(found.theta, gaussian_mle(x), rtol=1e-5)
    assert found.value == pytest.approx(gaussian_log_likelihood(x, *gaussian_mle(x)), rel=1e-10)
    toss = rng.integers(0, 2, 30)
    found = mle(coin, toss, [0.5], bounds=[(1e-9, 1 - 1e-9)])
    assert found.theta[0] == pytest.approx(bernoulli_mle(toss), abs=1e-6)


@pytest.mark.parametrize(("a", "b", "s", "n"), [(2, 2, 1, 3), (3, 1.5, 0, 4), (5, 2, 7, 7)])
def test_map_with_a_beta_prior_is_the_mode_of_the_posterior(a, b, s, n):
    toss = np.arange(n) < s
    prior = lambda p: (a - 1) * np.log(p) + (b - 1) * np.log1p(-p)  # noqa: E731
    found = map_estimate(coin, toss, prior, [0.5], bounds=[(1e-9, 1 - 1e-9)])
    assert found.theta[0] == pytest.approx((s + a - 1) / (n + a + b - 2), abs=1e-6)
    assert Dirichlet(np.array([s + a, n - s + b])).mode[0] == pytest.approx(
        found.theta[0], abs=1e-6
    )


def test_the_search_says_when_it_cannot_start_or_end():
    with pytest.raises(ValueError, match="start must make the sample possible"):
        mle(lambda x, t: np.where(x < t, -np.log(t), -np.inf), np.array([3.0]), [1.0])
    with pytest.warns(UserWarning, match="slope"):
        mle(lambda x, t: x * 0 + t, np.ones(3), [1.0])


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_search_takes_its_units_from_the_start(scale):
    x = scale * np.array([0.3, 1.0, 4.0])
    bounds = [(None, None), (1e-9 * scale**2, None)]
    found = mle(normal, x, [scale, scale**2], bounds=bounds)
    np.testing.assert_allclose(found.theta, gaussian_mle(x), rtol=1e-5)


# properties ----------------------------------------------------------------------------------


def test_exact_moments_stay_fractions():
    moments = exact_bias_variance(lambda x: sum(x) / 3, VALUES, WEIGHTS, 3, Fraction(0))
    assert moments == (0, 0, Fraction(1, 9), Fraction(1, 9), 0)
    assert isinstance(moments.variance, Fraction)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_stand_in_has_the_gaussian_moments_of_the_variance_estimators(n):
    v = Fraction(1, 3)
    for divisor in (n - 1, n, n + 1):
        exact = exact_bias_variance(lambda x, c=divisor: squares(x) / c, VALUES, WEIGHTS, n, v)
        assert exact.mean == Fraction(n - 1, divisor) * v
        assert exact.variance == 2 * (n - 1) * v**2 / Fraction(divisor) ** 2
        assert exact.mse == exact.bias**2 + exact.variance


def test_library_variances_equal_fractions_on_every_sample():
    for x in itertools.product((0, 1, 5), repeat=4):
        exact = squares([Fraction(v) for v in x])
        assert sample_variance(x) == pytest.approx(float(exact / 3), rel=1e-13)
        if exact:
            assert gaussian_mle(x).variance == pytest.approx(float(exact / 4), rel=1e-13)


def test_simulation_agrees_with_enumeration_and_not_with_another_estimator():
    values, p = [0.0, 1.0, 4.0], [0.5, 0.3, 0.2]
    exact = exact_bias_variance(np.median, values, p, 3, 1.1)
    draw = lambda rng, n: rng.choice(values, n, p=p)  # noqa: E731
    rng = np.random.default_rng(4)
    simulated = mc_bias_variance(np.median, draw, 1.1, n=3, repetitions=20000, rng=rng)
    assert abs(simulated.bias - exact.bias) < 6 * simulated.standard_error
    assert simulated.variance == pytest.approx(exact.variance, rel=0.05)
    assert simulated.mse == pytest.approx(simulated.bias**2 + simulated.variance, rel=1e-12)
    other = exact_bias_variance(np.mean, values, p, 3, 1.1)
    assert abs(simulated.bias - other.bias) > 6 * simulated.standard_error


def test_simulation_does_not_depend_on_the_workers():
    draw = lambda rng, n: rng.standard_normal(n)  # noqa: E731
    runs = []
    with ThreadPool(2) as pool:
        for workers in (1, pool.map):
            rng = np.random.default_rng(5)
            runs.append(
                mc_bias_variance(np.mean, draw, 0, n=3, repetitions=50, rng=rng, workers=workers)
            )
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: exact_bias_variance(max, [0, 1], [0.5, 0.6], 2, 0),
            "probabilities must sum to one",
        ),
        (lambda: exact_bias_variance(max, [0, 1], [0.5, 0.5], 20, 0), "n must be smaller"),
        (lambda: exact_bias_variance(max, [0, 1], [1.0], 2, 0), "sequences of one length"),
        (lambda: exact_bias_variance(max, 0.5, [1.0], 2, 0), "sequences of one length"),
        (lambda: exact_bias_variance(max, [0, 1], [0.5, 0.5], 2, np.nan), "target must be"),
        (
            lambda: exact_bias_variance(lambda x: np.inf, [0, 1], [0.5, 0.5], 2, 0),
            "estimator must return finite numbers",
        ),
        (lambda: exact_bias_variance(max, [0, 1], [0.5, 0.5], 0, 0), "n must be an integer"),
        (
            lambda: mc_bias_variance(np.mean, None, 0, n=2, repetitions=2, rng=0),
            "rng must be a numpy.random.Generator",
        ),
        (
            lambda: mc_bias_variance(
                np.mean,
                lambda rng, n: rng.random(n),
                np.nan,
                n=2,
                repetitions=2,
                rng=np.random.default_rng(0),
            ),
            "target must be",
        ),
        (
            lambda: mc_bias_variance(
                lambda x: np.nan,
                lambda rng, n: rng.random(n),
                0,
                n=2,
                repetitions=2,
                rng=np.random.default_rng(0),
            ),
            "estimator must return finite numbers",
        ),
        (lambda: fisher_information(coin, 0.5), "either support"),
        (lambda: fisher_information(coin, 0.5, support=[0, 1], interval=(0, 1)), "either support"),
        (lambda: fisher_information(coin, 0.5, support=[1]), "add up to probability 1"),
        (lambda: fisher_information(coin, 0.5, interval=1.0), "interval must be a vector"),
        (
            lambda: fisher_information(lambda x, t: -np.log(t) + 0 * x, 2.0, interval=(0, 2.0)),
            "score must have mean 0",
        ),
        (lambda: fisher_information(box, 0.0, interval=(0, 1)), "where the support moves"),
        (lambda: fisher_information(box, 3.0, interval=(3, 4)), "where the support moves"),
        (lambda: fisher_information(box, 3.0, interval=(3, 9)), "where the support moves"),
        (lambda: fisher_information(box, 0.0, interval=(-5, 5)), "where the support moves"),
        (lambda: fisher_information(two_values, 2.0, support=[2, 3]), "where the support moves"),
        (
            lambda: fisher_information(
                lambda x, t: np.where(x >= t, t - x, -np.inf), 0.0, interval=(0, np.inf)
            ),
            "where the support moves",
        ),
        (lambda: cramer_rao_bound(0.0), "information must be a number"),
        (lambda: cramer_rao_bound(1.0, 0), "n must be an integer"),
    ],
)
def test_moments_and_bounds_refuse_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_information_where_the_density_vanishes_smoothly_at_ends_that_move():
    def bump(x, t):
        u = np.clip((x - t) * (1 - x + t), 1e-300, None)
        return np.where((x >= t) & (x <= t + 1), np.log(140) + 3 * np.log(u), -np.inf)

    assert fisher_information(bump, 0.0, interval=(0, 1)) == pytest.approx(42, rel=1e-6)


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.9])
def test_information_of_a_toss(p):
    assert fisher_information(coin, p, support=[0, 1]) == pytest.approx(1 / (p * (1 - p)), rel=1e-6)


def test_information_of_a_gaussian_in_both_parameters():
    mean = fisher_information(lambda x, m: normal(x, m, 4.0), 1.0, interval=(-np.inf, np.inf))
    assert mean == pytest.approx(1 / 4, rel=1e-7)
    variance = fisher_information(lambda x, v: normal(x, 1.0, v), 4.0, interval=(-np.inf, np.inf))
    assert variance == pytest.approx(1 / (2 * 4.0**2), rel=1e-6)


def test_information_of_a_poisson_count_and_of_a_cauchy_location():
    counts = np.arange(200)
    assert fisher_information(
        lambda x, r: stats.poisson.logpmf(x, r), 7.0, support=counts
    ) == pytest.approx(1 / 7, rel=1e-6)
    cauchy = fisher_information(
        lambda x, t: stats.cauchy.logpdf(x, t), 0.0, interval=(-np.inf, np.inf)
    )
    assert cauchy == pytest.approx(0.5, rel=1e-6)


def test_cramer_rao_bound_by_hand():
    assert cramer_rao_bound(4.0, 25) == 0.01
    assert cramer_rao_bound(4.0, 25, slope=-2.0) == 0.04


# posteriors ----------------------------------------------------------------------------------


def test_gaussian_posterior_by_quadrature():
    x = np.array([1.0, 4.0, 2.5])
    posterior = gaussian_mean_posterior(x, 2.0, -1.0, 3.0)

    def unnormalised(mu, power):
        return mu**power * math.exp(normal(x, mu, 2.0).sum() + normal(mu, -1.0, 3.0))

    mass, first, second = (quad(unnormalised, -20, 20, args=(k,))[0] for k in range(3))
    assert posterior.mean == pytest.approx(first / mass, rel=1e-9)
    assert posterior.variance == pytest.approx(second / mass - (first / mass) ** 2, rel=1e-8)


def test_gaussian_posterior_in_batches_equals_the_batch():
    x = np.random.default_rng(6).normal(5, 2, 12)
    whole = gaussian_mean_posterior(x, 4.0, 0.0, 1.0)
    pieces = GaussianMean(0.0, 1.0, 4.0)
    for part in (x[7:], x[:0], x[2:7], x[:2]):
        pieces = pieces.update(part)
    assert pieces.mean == pytest.approx(whole.mean, rel=1e-13)
    assert pieces.variance == pytest.approx(whole.variance, rel=1e-13)
    as_deviation = GaussianMean(0.0, 1.0, 4.0).update(x[:6])
    as_deviation = GaussianMean(as_deviation.mean, as_deviation.variance**2, 4.0).update(x[6:])
    assert abs(as_deviation.mean - whole.mean) > 0.1  # the slip: a variance squared again


def test_predictive_adds_the_two_variances():
    assert GaussianMean(1.5, 0.5, 2.0).predictive() == (1.5, 2.5)


def test_gaussian_posterior_in_other_units():
    x = np.array([1.0, 4.0, 2.5])
    base = gaussian_mean_posterior(x, 2.0, -1.0, 3.0)
    for s in (1e-8, 1e8):
        scaled = gaussian_mean_posterior(s * x, s**2 * 2.0, -s, s**2 * 3.0)
        assert scaled.mean == pytest.approx(s * base.mean, rel=1e-12)
        assert scaled.variance == pytest.approx(s**2 * base.variance, rel=1e-12)


def test_dirichlet_moments_against_scipy():
    law = dirichlet_posterior([0.5, 2.0, 1.5], [3, 0, 1])
    assert law.alpha.tolist() == [3.5, 2.0, 2.5]
    np.testing.assert_allclose(law.mean, stats.dirichlet(law.alpha).mean())
    p = np.array([0.2, 0.3, 0.5])
    assert law.log_density(p) == pytest.approx(stats.dirichlet(law.alpha).logpdf(p))
    np.testing.assert_allclose(law.mode, np.array([2.5, 1.0, 1.5]) / 5)
    np.testing.assert_allclose(law.update([1, 1, 1]).alpha, [4.5, 3.0, 3.5])


def test_dirichlet_mode_is_the_map_estimate_and_not_the_mean():
    counts, c = np.array([4, 0, 1]), np.array([1.0, 2.0, 0.5])
    law = dirichlet_posterior(c + 1, counts)
    np.testing.assert_allclose(law.mode, categorical_map(counts, c))
    assert np.abs(law.mode - law.mean).max() > 0.05


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian_mean_posterior([1.0], 0.0, 0.0, 1.0), "noise_variance must be a number"),
        (lambda: gaussian_mean_posterior([1.0], 1.0, 0.0, -1.0), "prior_variance must be a number"),
        (lambda: gaussian_mean_posterior([np.inf], 1.0, 0.0, 1.0), "x contains infinity"),
        (lambda: gaussian_mean_posterior([1.0], 1.0, np.nan, 1.0), "prior_mean must be"),
        (lambda: GaussianMean(0.0, 0.0, 1.0), "variance must be a number"),
        (lambda: GaussianMean(0.0, 1.0, 0.0), "noise_variance must be a number"),
        (lambda: dirichlet_posterior([1.0, 0.0], [1, 1]), "all above 0"),
        (lambda: dirichlet_posterior([1.0], [3]), "alpha must hold at least 2 entries"),
        (lambda: dirichlet_posterior([1.0, 1.0], [1, 1, 1]), "counts must have 2 entries"),
        (lambda: Dirichlet(np.array([0.5, 2.0])).mode, "alpha must be at least 1"),
        (lambda: Dirichlet(np.array([1.0, 1.0])).mode, "alpha must be at least 1"),
        (lambda: Dirichlet(np.array([2.0, 1.0])).log_density([0.5, 0.6]), "p must sum to one"),
        (lambda: Dirichlet(np.array([0.5, 1.0])).log_density([0.0, 1.0]), "infinite there"),
    ],
)
def test_posteriors_refuse_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_functions_leave_their_arguments_alone():
    x, counts = np.array([3.0, 1.0, 2.0]), np.array([1.0, 0.0, 2.0])
    before = x.copy(), counts.copy()
    gaussian_mle(x), sample_variance(x), gaussian_mean_posterior(x, 1.0, 0.0, 1.0)
    categorical_map(counts), dirichlet_posterior(np.ones(3), counts)
    assert np.array_equal(x, before[0])
    assert np.array_equal(counts, before[1])


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_samples_whose_squares_are_lost_are_refused(unit):
    x = np.array([1.0, 2.0, 4.0]) * unit
    for call in (gaussian_mle, sample_variance, lambda x: multivariate_gaussian_mle(x[:, None])):
        with pytest.raises(ValueError, match="between 1e-150 and 1e150 in size"):
            call(x)


def test_equal_values_have_no_variance_whatever_rounding_does():
    assert sample_variance([0.1] * 7) == sample_variance([1e8 + 0.1] * 7) == 0.0


def test_the_categorical_log_likelihood_adds_over_the_observations():
    expected = 2 * math.log(0.2) + 3 * math.log(0.5) + math.log(0.3)
    assert categorical_log_likelihood([2, 3, 1], [0.2, 0.5, 0.3]) == pytest.approx(expected)


def test_simulated_moments_are_those_of_the_estimates_and_the_workers_are_used():
    seen, blocks = [], []

    def workers(function, tasks):
        blocks.extend(tasks)
        return map(function, blocks)

    def estimator(x):
        seen.append(x.mean())
        return seen[-1]

    moments = mc_bias_variance(
        *(estimator, lambda rng, n: 3 + rng.random(n), 2.0),
        **{"n": 4, "repetitions": 50, "rng": np.random.default_rng(0), "workers": workers},
    )
    assert len(blocks) > 1
    mse = np.mean((np.array(seen) - 2.0) ** 2)
    expected = np.mean(seen), np.mean(seen) - 2.0, np.var(seen), mse, np.std(seen) / math.sqrt(50)
    assert tuple(moments) == pytest.approx(expected, rel=1e-12)


def test_one_observation_is_the_default_of_the_bound():
    assert cramer_rao_bound(4.0) == 0.25


def test_a_numerical_search_counts_its_steps():
    normal = lambda x, m: -0.5 * (x - m) ** 2  # noqa: E731
    found = map_estimate(normal, np.array([1.0, 2.0, 6.0]), lambda m: 0.0, [1.0])
    assert found.theta == pytest.approx([3.0])
    assert 1 <= found.n_iter <= 20


def test_the_steps_of_a_search_are_those_of_its_minimiser(monkeypatch):
    runs = []
    monkeypatch.setattr(
        module, "minimize", lambda *a, **b: runs.append(minimize(*a, **b)) or runs[-1]
    )
    found = map_estimate(coin, [1, 0, 0], lambda p: 0.0, [0.9], bounds=[(0.01, 0.99)])
    assert found.theta == pytest.approx([1 / 3])
    assert found.n_iter == runs[0].nit > 0
