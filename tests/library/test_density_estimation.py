"""Density estimation: counts, kernels, exact errors, bandwidths, the estimator."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import gaussian_kde, norm
from sklearn.neighbors import KernelDensity as Peer

import mllib.density_estimation as module
from mllib.course.datasets import faithful
from mllib.density_estimation import (
    KernelDensity,
    best_bandwidth,
    exact_mise,
    histogram,
    kde_moments,
    knn_density,
    log_kernel_density,
    loo_bandwidth,
    loo_log_density,
    loo_range,
    silverman_bandwidth,
    window_density,
)

RNG = np.random.default_rng(0)
PAIR = ([0.3, 0.7], [[-1.0], [2.0]], [0.5, 1.5])
STANDARD = ([1.0], [[0.0]], [1.0])


# Counting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", [0.0, 0.3, -7.1, 50.0])
def test_a_histogram_counts_as_numpy_does(origin):
    x = RNG.normal(3, 4, 200)
    found = histogram(x, 1.7, origin)
    counts, _ = np.histogram(x, found.edges)
    assert (found.counts == counts).all()
    assert found.counts.sum() == 200
    assert found.counts[0] > 0 < found.counts[-1]
    assert_allclose(found.density @ np.diff(found.edges), 1)
    assert_allclose((found.edges - origin) / 1.7, np.round((found.edges - origin) / 1.7))


def test_an_observation_on_an_edge_belongs_to_the_bin_on_its_right():
    assert histogram([0.0, 1.0, 1.0, 2.0], 1.0).counts.tolist() == [1, 2, 1]


def test_the_window_counts_by_brute_force():
    X, Q = RNG.normal(size=(50, 3)), RNG.normal(size=(20, 3))
    slow = [sum(np.abs(x - q).max() <= 0.6 for x in X) / (50 * 1.2**3) for q in Q]
    assert_allclose(window_density(X, Q, 1.2), slow)


def test_an_observation_on_the_edge_of_a_window_is_in_it():
    X = [[0.0, 0.0], [1.0, 0.0], [3.0, 1.0]]
    assert_allclose(window_density(X, [[0.5, 0.5]], 1.0), 2 / 3)
    assert_allclose(window_density(X, [[1.5, 0.5]], 3.0), 3 / (3 * 9))


def test_nearest_neighbour_density_by_brute_force():
    X, Q = RNG.normal(size=(50, 3)), RNG.normal(size=(20, 3))
    r = np.sort(np.linalg.norm(Q[:, None] - X, axis=2), axis=1)[:, 3]
    assert_allclose(knn_density(X, Q, 4), 4 / 50 / (4 / 3 * np.pi * r**3))
    assert knn_density(X, X[:1], 1) == np.inf


# Kernels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 5])
def test_agrees_with_scikit_learn(d):
    X, Q = RNG.normal(size=(300, d)), 2 * RNG.normal(size=(100, d))
    w = RNG.uniform(0.1, 3, 300)
    for weight in (None, w):
        peer = Peer(bandwidth=0.4, rtol=0, atol=0).fit(X, sample_weight=weight).score_samples(Q)
        ours = log_kernel_density(X, Q, 0.4, weight)
        near = ours > -15  # farther out, the sums that the peer updates by differences lose digits
        assert near.sum() > 20
        assert_allclose(ours[near], peer[near], rtol=1e-6)


def test_agrees_with_a_sum_in_logs():
    X, Q = RNG.normal(size=(300, 5)), 3 * RNG.normal(size=(50, 5))
    D = np.sum((Q[:, None] - X) ** 2, axis=2)
    log_terms = -D / (2 * 0.4**2) - 5 * np.log(0.4 * np.sqrt(2 * np.pi)) - np.log(300)
    assert_allclose(log_kernel_density(X, Q, 0.4), logsumexp(log_terms, axis=1), rtol=1e-12)


def test_agrees_with_scipy_and_its_rule():
    x, q = faithful().X[:, 0], np.linspace(0, 7, 50)
    peer = gaussian_kde(x, "silverman")
    h = silverman_bandwidth(x[:, None])
    assert_allclose(h, np.sqrt(peer.covariance[0, 0]))
    assert_allclose(np.exp(log_kernel_density(x[:, None], q[:, None], h)), peer(q), rtol=1e-10)


def test_blocks_do_not_change_the_result(monkeypatch):
    X, Q = RNG.normal(size=(40, 2)), RNG.normal(size=(30, 2))
    whole = log_kernel_density(X, Q, 0.3), loo_log_density(X, 0.3), loo_range(X)
    windows = window_density(X, Q, 0.5)
    monkeypatch.setattr(
        module, "_blocks", lambda m, n: [slice(a, min(a + 7, m)) for a in range(0, m, 7)]
    )
    assert_allclose(log_kernel_density(X, Q, 0.3), whole[0])
    assert_allclose(loo_log_density(X, 0.3), whole[1])
    assert_allclose(loo_range(X), whole[2])
    assert_allclose(window_density(X, Q, 0.5), windows)


def test_weights_are_repetitions():
    X, w = RNG.normal(size=(30, 2)), RNG.integers(0, 4, 30)
    again, Q = np.repeat(X, w, axis=0), RNG.normal(size=(9, 2))
    assert_allclose(log_kernel_density(X, Q, 0.3, w), log_kernel_density(again, Q, 0.3))
    assert_allclose(np.repeat(loo_log_density(X, 0.3, w), w), loo_log_density(again, 0.3))
    assert_allclose(silverman_bandwidth(X, w), silverman_bandwidth(again))
    assert_allclose(loo_range(X, w), loo_range(again))
    assert_allclose(loo_bandwidth(X, w), loo_bandwidth(again), rtol=1e-6)
    a, b = KernelDensity().fit(X, sample_weight=w), KernelDensity().fit(again)
    assert_allclose(a.score_samples(Q), b.score_samples(Q))


def test_far_away_the_log_density_is_finite():
    far = log_kernel_density([[0.0], [1.0]], [[1e4]], 1.0)
    assert_allclose(far, norm.logpdf(9999) + np.log1p(np.exp(-9999.5)) - np.log(2))


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([1e-8, 1.0, 1e8]), st.floats(-5, 5))
def test_moving_and_scaling_the_data(scale, shift):
    X, Q = np.random.default_rng(1).normal(size=(2, 20, 2))
    moved = log_kernel_density(scale * (X + shift), scale * (Q + shift), scale * 0.4)
    assert_allclose(moved, log_kernel_density(X, Q, 0.4) - 2 * np.log(scale), rtol=1e-6)
    assert_allclose(silverman_bandwidth(scale * (X + shift)), scale * silverman_bandwidth(X))
    assert_allclose(loo_bandwidth(scale * X).h, scale * loo_bandwidth(X).h, rtol=1e-5)


# Exact errors --------------------------------------------------------------------------------


def pair_density(x):
    return sum(w * norm.pdf(x, m[0], v**0.5) for w, m, v in zip(*PAIR))


@pytest.mark.parametrize("q", [-1.5, 0.2, 2.0])
def test_the_moments_by_integration(q):
    def integral(power):
        kernel = norm(q, 0.6).pdf
        return quad(lambda x: kernel(x) ** power * pair_density(x), -12, 14, epsabs=1e-12)[0]

    found = kde_moments([[q]], 0.6, 7, *PAIR)
    assert_allclose(found.mean, integral(1), rtol=1e-8)
    assert_allclose(found.variance, (integral(2) - integral(1) ** 2) / 7, rtol=1e-8)


def test_the_integrated_error_is_the_integral_of_the_moments():
    def error(x):
        mean, variance = kde_moments([[x]], 0.6, 7, *PAIR)
        return (mean[0] - pair_density(x)) ** 2 + variance[0]

    assert_allclose(exact_mise(0.6, 7, *PAIR), quad(error, -12, 14, epsabs=1e-12)[0], rtol=1e-7)


def test_the_integrated_error_in_two_dimensions_by_simulation():
    def gaussian(D, v):
        return np.exp(-D / (2 * v)) / (2 * np.pi * v)

    rng, total, h = np.random.default_rng(3), [], 0.5
    for _ in range(400):
        X = rng.standard_normal((20, 2))
        square = gaussian(np.sum((X[:, None] - X) ** 2, axis=2), 2 * h**2).mean()
        product = gaussian(np.sum(X**2, axis=1), 1 + h**2).mean()
        total.append(square - 2 * product + 1 / (4 * np.pi))
    exact = exact_mise(h, 20, [1.0], [[0.0, 0.0]], [1.0])
    assert abs(np.mean(total) - exact) < 6 * np.std(total) / 20  # false alarm below 1e-8


def test_the_best_bandwidth_beats_its_neighbours():
    for n, truth in ((10, STANDARD), (1000, PAIR), (100, ([1.0], [[0.0, 0, 0]], [4.0]))):
        h = best_bandwidth(n, *truth)
        least = exact_mise(h, n, *truth)
        assert least < min(exact_mise(h * s, n, *truth) for s in (0.5, 0.99, 1.01, 2.0))


def test_the_best_bandwidth_lies_between_the_points_of_the_grid():
    for n in range(2, 30):  # the minimum is above the best point of the grid, or below it
        h = best_bandwidth(n, [1.0], [[0.0]], [1.0])
        least = exact_mise(h, n, [1.0], [[0.0]], [1.0])
        beside = [exact_mise(h * s, n, [1.0], [[0.0]], [1.0]) for s in (0.999, 1.001)]
        assert least < min(beside)


def test_published_sample_sizes_for_a_tenth_of_relative_error_at_zero():
    published = [4, 19, 67, 223, 768, 2790, 10700, 43700, 187000, 842000]  # Silverman, table 4.2
    grid = np.geomspace(0.1, 2, 3000)
    for d, n in enumerate(published, 1):
        f = (2 * np.pi) ** (-d / 2)
        truth = ([1.0], np.zeros((1, d)), [1.0])
        error = []
        for h in grid:
            m = kde_moments(np.zeros((1, d)), h, 1, *truth)
            bias, variance = (m.mean[0] - f) / f, m.variance[0] / f**2
            error.append(variance / (0.1 - bias**2) if abs(bias) < np.sqrt(0.1) else np.inf)
        assert float(f"{np.ceil(min(error)):.3g}") == n


# Bandwidths ----------------------------------------------------------------------------------


def test_leaving_one_out_by_brute_force():
    X = RNG.normal(size=(15, 2))
    slow = [log_kernel_density(np.delete(X, i, 0), X[[i]], 0.3)[0] for i in range(15)]
    assert_allclose(loo_log_density(X, 0.3), slow)


def test_the_range_by_brute_force():
    X = RNG.normal(size=(15, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    near = [np.delete(D[i], i).min() for i in range(15)]
    assert_allclose(
        loo_range(X), np.sqrt([np.mean(np.square(near)) / 3, np.mean(D.max(axis=1) ** 2) / 3])
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_chosen_bandwidth_is_the_best_of_a_fine_grid(seed):
    X = np.random.default_rng(seed).standard_t(2, size=(60, 1 + seed % 3))
    found = loo_bandwidth(X)
    grid = np.geomspace(found.low / 2, found.high * 2, 500)
    scores = [loo_log_density(X, h).sum() for h in grid]
    assert found.log_likelihood >= max(scores) - 1e-9
    assert found.low <= found.h <= found.high
    assert_allclose(found.log_likelihood, loo_log_density(X, found.h).sum())


def test_a_limit_below_is_kept():
    x = faithful().X[:, 1:]
    assert loo_bandwidth(x).h < 0.3 < 2 < loo_bandwidth(x, at_least=1.0).h < 3
    assert loo_bandwidth(x, at_least=500.0).h == 500.0


def test_twins_leave_no_maximum():
    X = np.repeat(RNG.normal(size=(5, 1)), 2, axis=0)
    with pytest.raises(ValueError, match="without a twin"):
        loo_bandwidth(X)
    assert loo_bandwidth(X, at_least=0.1).h >= 0.1
    assert loo_bandwidth(np.vstack([X, [[9.0]]])).h > 0


# The estimator -------------------------------------------------------------------------------


def test_the_estimator_chooses_as_the_functions_do():
    X = RNG.normal(size=(40, 2))
    assert KernelDensity(0.7).fit(X).bandwidth_ == 0.7
    assert KernelDensity().fit(X).bandwidth_ == silverman_bandwidth(X)
    assert KernelDensity("loo").fit(X).bandwidth_ == loo_bandwidth(X).h
    x = faithful().X[:, 1:]
    assert KernelDensity("loo", at_least=1.0).fit(x).bandwidth_ == loo_bandwidth(x, at_least=1).h


def test_draws_have_the_moments_of_the_estimate():
    X, w = np.array([[0.0], [4.0]]), [3.0, 1.0]
    model = KernelDensity(0.5).fit(X, sample_weight=w)
    draws = model.sample(40_000, random_state=0)[:, 0]
    assert abs(draws.mean() - 1) < 6 * np.sqrt(3.25 / 40_000)
    assert abs(draws.var() - 3.25) < 6 * np.sqrt(22 / 40_000)
    assert (model.sample(5, 1) == model.sample(5, 1)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: KernelDensity(0.0).fit([[0.0], [1.0]]), "bandwidth must be a number in"),
        (lambda: KernelDensity(-1.0).fit([[0.0], [1.0]]), "bandwidth must be a number in"),
        (lambda: KernelDensity("best").fit([[0.0], [1.0]]), "'silverman' or 'loo'"),
        (lambda: KernelDensity().fit([[2.0], [2.0]]), "two different rows"),
        (lambda: KernelDensity().fit([[2.0]]), "two different rows"),
        (lambda: KernelDensity().fit([[2.0], [3.0]], sample_weight=[2, 0]), "two different rows"),
        (lambda: KernelDensity("loo").fit([[2.0], [2.0]]), "without a twin"),
        (lambda: KernelDensity(1.0).sample(2), "not fitted"),
        (lambda: knn_density([[0.0], [1.0]], [[0.0]], 3), "at most the 2 rows"),
        (lambda: knn_density([[0.0], [1.0]], [[0.0, 1.0]], 1), "columns of X"),
        (lambda: log_kernel_density([[0.0]], [[0.0]], 0.0), "h must be a number in"),
        (lambda: log_kernel_density([[0.0]], [[0.0]], 1.0, [-1.0]), "must not be negative"),
        (lambda: loo_log_density([[0.0]], 1.0), "minimum of 2"),
        (lambda: loo_bandwidth([[0.0], [1.0]], [0.5, 2.0]), "0 or at least 1"),
        (lambda: loo_bandwidth([[0.0], [1.0]], at_least=-1.0), "at_least must be"),
        (lambda: histogram([], 1.0), "at least one observation"),
        (lambda: histogram([0.0, 1.0], 0.0), "width must be a number"),
        (lambda: histogram([0.0, 1.0], 1e-9), "take a larger width"),
        (lambda: window_density([[0.0]], [[0.0]], -1.0), "h must be a number"),
        (lambda: exact_mise(1.0, 0, *STANDARD), "n must be an integer"),
        (lambda: exact_mise(0.0, 5, *STANDARD), "h must be a number"),
        (lambda: exact_mise(1.0, 5, [0.5], [[0.0]], [1.0]), "sum to one"),
        (lambda: exact_mise(1.0, 5, [1.0], [[0.0]], [0.0]), "variances must be above 0"),
        (lambda: kde_moments([[0.0, 1.0]], 1.0, 5, *STANDARD), "columns of Q"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, message):
    with pytest.raises((ValueError, AttributeError), match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        ("loo_log_density", "np.log(n - 1)", "np.log(n)"),
        ("loo_log_density", "np.maximum(w[i] - 1, 0)", "w[i]"),
        ("log_kernel_density", "d * np.log(h)", "np.log(h)"),
        ("kde_moments", "h**2 / 2", "h**2"),
        ("exact_mise", "(1 - 1 / n)", "1"),
        ("silverman_bandwidth", "(d + 4)", "5"),
        ("knn_density", "d * safe_log(r)", "safe_log(r)"),
    ],
)
def test_a_wrong_variant_gives_another_answer(function, old, new):
    source = inspect.getsource(module)
    assert old in inspect.getsource(getattr(module, function))
    names = {"__name__": "broken"}
    text = inspect.getsource(getattr(module, function)).replace(old, new)
    exec(source.replace(inspect.getsource(getattr(module, function)), text), names)
    X = np.random.default_rng(5).normal(size=(20, 2))
    arguments = {
        "loo_log_density": (X, 0.3),
        "log_kernel_density": (X, X[:3], 0.3),
        "kde_moments": (X[:3], 0.5, 9, [1.0], [[0.0, 0]], [1.0]),
        "exact_mise": (0.5, 9, [1.0], [[0.0, 0]], [1.0]),
        "silverman_bandwidth": (X,),
        "knn_density": (X, X[:3] + 0.1, 2),
    }[function]
    right, wrong = getattr(module, function)(*arguments), names[function](*arguments)
    assert not np.allclose(np.asarray(right), np.asarray(wrong))


# Numbers at the ends of the range ------------------------------------------------------------


def test_every_observation_lies_in_its_bin_whatever_rounding_does():
    rng = np.random.default_rng(0)
    for _ in range(500):
        width, origin = rng.choice([0.001, 0.1, 0.3, 0.7, 1 / 3]), rng.choice([0.0, 0.05, 0.1])
        x = np.round(rng.integers(-30, 30, 9) * rng.choice([0.05, 0.1, 1 / 3]), 2)
        found = histogram(x, width, origin)
        left, right = found.edges[:-1, None], found.edges[1:, None]
        np.testing.assert_array_equal(((left <= x) & (x < right)).sum(axis=1), found.counts)
        assert (found.counts[[0, -1]] > 0).all()
        assert found.counts.sum() == 9


def test_bins_that_rounding_swallows_are_an_error():
    with pytest.raises(ValueError, match="lost in rounding"):
        histogram([1e17, 1e17 + 64], 1.0)
    with pytest.raises(ValueError, match="bins: take a larger width"):
        histogram([0.0, 1e9], 1e-300)


SAMPLE = np.random.default_rng(0).standard_normal((6, 2))


@pytest.mark.parametrize("h", [1e-200, 1e200])
def test_bandwidths_out_of_range_are_an_error_and_not_nan(h):
    for call in (
        lambda h: KernelDensity(h).fit(SAMPLE),
        lambda h: log_kernel_density(SAMPLE, SAMPLE, h),
        lambda h: loo_log_density(SAMPLE, np.float64(h)),
        lambda h: window_density(SAMPLE, SAMPLE, h),
        lambda h: exact_mise(h, 10, [1.0], [[0.0]], [1.0]),
    ):
        with pytest.raises(ValueError, match="too large or too small"):
            call(h)


def test_the_best_bandwidth_of_narrow_parts_far_apart():
    one = best_bandwidth(100, [1.0], [[0.0]], [1e-12])
    two = best_bandwidth(200, [0.5, 0.5], [[0.0], [1.0]], [1e-12, 1e-12])
    assert two == pytest.approx(one, rel=0.02)  # the sizes of the parts vary


def test_an_exact_variance_is_never_below_zero():
    found = kde_moments([[0.3]], 1e8, 1, [0.5, 0.5], [[0.0], [1.0]], [1.0, 1.0])
    assert found.variance[0] >= 0


def test_a_histogram_starts_at_zero_and_keeps_the_order_of_its_bins():
    x = [0.5, 1.0, 1.5, 2.5, 6.5]
    found = histogram(x, 2.0)
    assert_allclose(found.edges, [0, 2, 4, 6, 8])
    assert_allclose(found.density, np.histogram(x, found.edges, density=True)[0])
    assert not np.array_equal(found.density, found.density[::-1])


def test_the_moments_stand_at_their_points():
    truth = ([0.2, 0.8], [[0.0], [3.0]], [1.0, 0.25])
    Q = np.array([[-1.0], [0.5], [3.0]])
    all_at_once = kde_moments(Q, 0.4, 5, *truth)
    for k, q in enumerate(Q):
        alone = kde_moments([q], 0.4, 5, *truth)
        assert_allclose((all_at_once.mean[k], all_at_once.variance[k]), np.ravel(alone))


def test_silvermans_rule_takes_the_mean_of_the_variances_of_all_columns():
    X = np.random.default_rng(0).standard_normal((30, 3)) * [1.0, 2.0, 5.0]
    s = np.sqrt(X.var(axis=0, ddof=1).mean())
    assert_allclose(silverman_bandwidth(X), s * (4 / (5 * 30)) ** (1 / 7))


def test_the_choice_tells_the_range_that_was_searched():
    X = np.random.default_rng(1).standard_normal((9, 2))
    choice = loo_bandwidth(X)
    assert_allclose((choice.low, choice.high), loo_range(X))
    assert_allclose(choice.log_likelihood, loo_log_density(X, choice.h).sum())


def test_one_draw_is_the_default():
    assert KernelDensity(1.0).fit([[0.0], [1.0]]).sample(random_state=0).shape == (1, 1)
