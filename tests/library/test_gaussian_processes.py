"""Gaussian processes: conditioning, predictions, samples, evidence, the estimator, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import multivariate_normal, norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor as Rival
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

from mllib.bayesian_regression import isotropic_posterior
from mllib.core.numerics import squared_distances
from mllib.course.datasets import sunspots
from mllib.gaussian_processes import (
    GaussianProcessRegressor,
    condition_on,
    evidence_slopes,
    gp_covariance,
    gp_fit,
    gp_predict,
    log_marginal_likelihood,
    maximise_evidence,
    polynomial_evidence,
    rbf_evidence,
    sample_functions,
    sample_prior,
)
from mllib.kernels import KernelRidge, linear_kernel, polynomial_kernel, rbf_kernel
from mllib.linear_algebra import numeric_gradient
from mllib.probability import gaussian_conditional

RNG = np.random.default_rng(0)
X, Q = RNG.standard_normal((12, 2)), RNG.standard_normal((5, 2))
Y = np.sin(X[:, 0]) + 0.3 * RNG.standard_normal(12)


def fixed(**settings):
    """A model that keeps its hyperparameters."""
    settings = {"ell": 0.9, "signal": 1.7, "noise": 0.3, "optimise": False} | settings
    return GaussianProcessRegressor(**settings)


# Conditioning and samples --------------------------------------------------------------------


def test_condition_on_equals_the_conditional_density_where_there_is_one():
    M = RNG.standard_normal((5, 5))
    S, mean = M @ M.T + np.eye(5), RNG.standard_normal(5)
    want = gaussian_conditional(mean, S, (2, 3, 4), [1.0, -1.0, 2.0])
    law = condition_on([1.0, -1.0, 2.0], S[2:, 2:], S[:2, 2:], S[:2, :2], mean[2:], mean[:2])
    np.testing.assert_allclose(law.mean, want.mean)
    np.testing.assert_allclose(law.cov, want.cov)


def test_condition_on_a_singular_joint_leaves_nothing_open():
    law = condition_on([2.0, 5.0], np.diag([1.0, 2.0]), [[1.0, -2.0]], [[3.0]])
    np.testing.assert_allclose(law.mean, [2 - 5])
    np.testing.assert_allclose(law.cov, 0, atol=1e-15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: condition_on([1.0], [[0.0]], [[1.0]], [[1.0]]), "B, the covariance"),
        (lambda: condition_on([1.0], [[1.0]], [[1.0, 2.0]], [[1.0]]), "C must have 1 columns"),
        (lambda: condition_on([1.0], np.eye(2), [[1.0]], [[1.0]]), "B must be"),
        (lambda: sample_functions(0, [[0.0, 1], [1, 0]], 2, RNG), "semi-definite"),
        (lambda: sample_functions(0, np.eye(2), 0, RNG), "S must be"),
        (lambda: sample_functions(0, np.eye(2), 1, 7), "rng must be"),
        (lambda: gp_fit([[1.0, 0.5], [0.2, 1]], [1, 2], 1), "K must be symmetric"),
        (lambda: gp_fit([[0.0, 1], [1, 0]], [1, 2], 1), "semi-definite"),
        (lambda: gp_fit(np.eye(2), [1, 2, 3], 1), "y must have 2 entries"),
        (lambda: gp_fit(np.eye(2), [1, 2], -1e-9), "noise must be"),
        (lambda: gp_fit(np.ones((2, 2)), [1, 2], 0.0), "noise must be above 0"),
        (lambda: gp_predict(gp_fit(np.eye(2), [1, 2], 1), np.eye(3), np.ones(3)), "k_x must have"),
        (lambda: maximise_evidence(None, np.zeros((1, 1)), [1.0], [0.0]), "low must not"),
        (lambda: maximise_evidence(None, np.zeros((1, 1)), [1.0], [1.0]), "somewhere be below"),
        (lambda: fixed(ell=0.0).fit(X, Y), "ell must be"),
        (lambda: fixed(ell=-1.0).fit(X, Y), "ell must be"),
        (lambda: fixed(signal=0.0).fit(X, Y), "signal must be"),
        (lambda: fixed(noise=-0.1).fit(X, Y), "noise must be"),
        (lambda: fixed(noise=0.0, optimise=True).fit(X, Y), "noise must be"),
        (lambda: fixed(ell="auto").fit(X, Y), "ell must be one of"),
        (lambda: fixed(kernel="cubic").fit(X, Y), "kernel must be one of"),
        (lambda: fixed(optimise=True, bounds=(2.0, 1.0)).fit(X, Y), "bounds must be"),
        (lambda: fixed(n_restarts=-1).fit(X, Y), "n_restarts must be"),
        (lambda: fixed().fit(X, Y[:-1]), "inconsistent numbers of samples"),
        (lambda: fixed(kernel=lambda A, B: -A @ B.T).fit(X, Y), "semi-definite"),
        (lambda: fixed(noise=0.0).fit([[1.0], [1.0]], [0.0, 1.0]), "noise must be above 0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_samples_have_mean_and_covariance_also_where_it_is_singular():
    K = np.outer([1.0, 2, 3], [1.0, 2, 3])
    draws = sample_functions([1.0, 0, -1], K, 100_000, np.random.default_rng(1))
    np.testing.assert_allclose(draws.mean(axis=0), [1, 0, -1], atol=0.06)
    np.testing.assert_allclose(np.cov(draws.T), K, rtol=0.03)
    np.testing.assert_allclose(draws[:, 1], 2 * (draws[:, 0] - 1), atol=1e-6)
    lines = sample_prior(linear_kernel, np.array([[1.0], [2.0]]), 5, np.random.default_rng(2))
    np.testing.assert_allclose(lines[:, 1], 2 * lines[:, 0], atol=1e-6)


# Prediction ----------------------------------------------------------------------------------


def test_prediction_is_the_conditional_of_the_joint_and_wrong_variants_are_not():
    K, k_x = 1.7 * rbf_kernel(X, X, 0.9), 1.7 * rbf_kernel(X, Q, 0.9)
    joint = np.block([[1.7 * rbf_kernel(Q, Q, 0.9), k_x.T], [k_x, K + 0.3 * np.eye(12)]])
    want = gaussian_conditional(np.zeros(17), joint, tuple(range(5, 17)), Y)
    fit = gp_fit(K, Y, 0.3)
    law = gp_predict(fit, k_x, np.full(5, 1.7), latent=True)
    np.testing.assert_allclose(law.mean, want.mean, atol=1e-12)
    np.testing.assert_allclose(law.variance, np.diag(want.cov), atol=1e-12)
    np.testing.assert_allclose(gp_covariance(fit, k_x, joint[:5, :5]), want.cov, atol=1e-12)
    target = gp_predict(fit, k_x, np.full(5, 1.7))
    np.testing.assert_allclose(target.variance, law.variance + 0.3)
    noiseless = gp_predict(gp_fit(K, Y, 0.0), k_x, np.full(5, 1.7))
    assert np.abs(noiseless.mean - want.mean).max() > 0.01  # the noise forgotten inside
    assert np.abs(noiseless.variance - target.variance).min() > 0.01


def test_without_noise_the_curve_runs_through_the_targets_and_the_bars_close():
    model = fixed(noise=0.0).fit(X, Y)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, Y, atol=1e-6)
    assert std.max() < 1e-5
    assert model.jitter_ == 0


def test_far_from_the_data_the_prior_returns():
    mean, std = fixed().fit(X, Y).predict(X[:1] + 1e6, return_std=True)
    assert mean[0] == 0
    assert std[0] == pytest.approx(np.sqrt(2.0))


def test_jitter_is_reported_and_is_not_noise():
    fit = gp_fit(np.ones((3, 3)), [2.0, 2.0, 2.0], 0.0)
    assert fit.jitter == pytest.approx((fit.L @ fit.L.T)[2, 2] - 1, rel=0.01) == 1e-14
    assert fit.noise == 0
    assert gp_predict(fit, np.ones((3, 1)), [1.0]).mean[0] == pytest.approx(2.0)
    assert gp_fit(np.ones((3, 3)), [2.0, 2.0, 2.0], 0.5).jitter == 0
    smooth = rbf_kernel(np.linspace(0, 1, 30)[:, None], np.linspace(0, 1, 30)[:, None], 1.0)
    assert 0 < gp_fit(smooth, np.ones(30), 0.0).jitter < 1e-9
    given = {"ell": 1.0, "signal": 1.0, "noise": 1e-30, "optimise": False}
    model = GaussianProcessRegressor(**given).fit(np.linspace(0, 1, 30)[:, None], np.ones(30))
    assert model.jitter_ == gp_fit(smooth, np.ones(30), 1e-30).jitter > 0
    assert gp_fit(1e-20 * np.eye(3), [2.0, 2.0, 2.0], 0.0).jitter == 0


def test_the_bars_of_repeated_rows_are_those_of_less_noise():
    twice = fixed().fit(np.vstack([X, X]), np.r_[Y, Y])
    once = fixed(noise=0.15).fit(X, Y)
    np.testing.assert_allclose(twice.predict(Q), once.predict(Q), atol=1e-10)
    np.testing.assert_allclose(
        twice.predict(Q, True, latent=True)[1], once.predict(Q, True, latent=True)[1], atol=1e-10
    )


# Evidence ------------------------------------------------------------------------------------


def test_evidence_and_its_parts():
    K = rbf_kernel(X, X)
    at = log_marginal_likelihood(K, Y, 0.2)
    C = K + 0.2 * np.eye(12)
    assert at.value == pytest.approx(multivariate_normal(np.zeros(12), C).logpdf(Y))
    assert at.fit == pytest.approx(-Y @ np.linalg.solve(C, Y) / 2)
    assert at.complexity == pytest.approx(-np.linalg.slogdet(C)[1] / 2)
    assert at.constant == pytest.approx(-6 * np.log(2 * np.pi))


def test_slopes_against_differences():
    D = squared_distances(X, X)
    for theta in ([0.0, 0.0, -1.0], [-0.7, 1.0, 0.3], [1.0, -1.0, -3.0]):
        value, gradient = rbf_evidence(np.array(theta), D, Y)
        K = np.exp(theta[1] - D / (2 * np.exp(2 * theta[0])))
        C = K + np.exp(theta[2]) * np.eye(12)
        assert value.value == pytest.approx(multivariate_normal(np.zeros(12), C).logpdf(Y))
        numeric = numeric_gradient(lambda t: rbf_evidence(t, D, Y)[0].value, np.array(theta))
        np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-6)
    fit = gp_fit(K, Y, np.exp(theta[2]))
    assert evidence_slopes(fit, [np.eye(12)])[0] == pytest.approx(
        (fit.alpha @ fit.alpha - np.trace(np.linalg.inv(C))) / 2
    )


@pytest.mark.parametrize(("r", "c"), [(1, 0.0), (2, 0.5), (3, 1.0)])
def test_slopes_of_the_polynomial_kernel_against_differences(r, c):
    def value(theta):
        ell, signal, noise = np.exp(theta)
        C = signal * (c + X @ X.T / ell**2) ** r + noise * np.eye(12)
        return multivariate_normal(np.zeros(12), C).logpdf(Y)

    for theta in ([0.7, 0.0, -1.0], [1.5, 1.0, 0.3]):
        at, gradient = polynomial_evidence(np.array(theta), X, Y, r, c)
        assert at.value == pytest.approx(value(theta))
        numeric = numeric_gradient(value, np.array(theta))
        np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kernel", ["polynomial", "linear", "rbf"])
def test_the_climb_ends_where_the_slopes_of_each_kernel_vanish(kernel):
    model = GaussianProcessRegressor(kernel, degree=2, coef0=0.5).fit(X, Y)
    assert model.converged_
    assert model.n_iter_ >= 1

    def value(theta):
        ell, signal, noise = np.exp(theta)
        numbers = {"degree": 2, "coef0": 0.5, "ell": ell, "signal": signal, "noise": noise}
        return fixed(kernel=kernel, **numbers).fit(X, Y).log_marginal_likelihood_

    theta = np.log([model.ell_, model.signal_, model.noise_])
    slopes = numeric_gradient(value, theta)
    free = [name not in model.at_bound_ for name in ("ell", "signal", "noise")]
    assert np.abs(slopes[free]).max() < 1e-3
    assert value(theta) == pytest.approx(model.log_marginal_likelihood_)


def test_bounds_are_kept_and_reported():
    x = np.linspace(0, 10, 40)[:, None]
    model = GaussianProcessRegressor(bounds=(0.5, 2.0)).fit(x, np.sin(x[:, 0]))
    assert model.at_bound_ == ("noise",)
    assert model.converged_  # the slope points out of the bounds
    assert model.noise_ == pytest.approx(0.25 * np.mean(np.sin(x) ** 2))
    assert GaussianProcessRegressor(ell=3.0).fit(*sunspot_roots(80)).at_bound_ == ()


def test_restarts_find_the_higher_of_two_summits():
    x = np.array([1.3, 4.8, 5.3, 6.1, 6.3, 6.7, 6.9, 8.5, 9.8])[:, None]
    y = np.array([1.3, -0.7, -1.8, -0.1, -0.3, 0, -0.1, 0.7, 1.1])
    settings = {"ell": 3.0, "signal": 1.0, "noise": 0.3}
    one = GaussianProcessRegressor(**settings).fit(x, y)
    many = GaussianProcessRegressor(**settings, n_restarts=10, random_state=0).fit(x, y)
    assert one.log_marginal_likelihood_ == pytest.approx(-10.351, abs=1e-3)
    assert many.log_marginal_likelihood_ == pytest.approx(-10.131, abs=1e-3)
    again = GaussianProcessRegressor(**settings, n_restarts=10, random_state=0).fit(x, y)
    assert again.ell_ == many.ell_


def test_a_climb_that_is_cut_short_warns():
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = GaussianProcessRegressor(max_iter=1).fit(X, Y)
    assert not model.converged_


# The estimator -------------------------------------------------------------------------------


def test_kernels_by_name_by_function_and_precomputed_agree():
    want = fixed().fit(X, Y)
    mean, std = want.predict(Q, return_std=True)
    other = fixed(kernel=lambda A, B: rbf_kernel(A, B, 0.9)).fit(X, Y)
    np.testing.assert_allclose(other.predict(Q, return_std=True), (mean, std), atol=1e-12)
    table = fixed(kernel="precomputed").fit(rbf_kernel(X, X, 0.9), Y)
    np.testing.assert_allclose(table.predict(rbf_kernel(Q, X, 0.9)), mean, atol=1e-12)
    assert np.isfinite(table.fit(rbf_kernel(X, X, 0.01), Y).predict(rbf_kernel(Q, X, 0.01))).all()
    for call in (table.predict, table.sample_prior, table.sample_posterior):
        with pytest.raises(ValueError, match="pass the kernel itself"):
            call(rbf_kernel(Q, X, 0.9), True)
    poly = fixed(kernel="polynomial", degree=2, coef0=0.5).fit(X, Y)
    byhand = fixed(kernel=lambda A, B: polynomial_kernel(A, B, 2, 0.5, 0.9)).fit(X, Y)
    np.testing.assert_allclose(poly.predict(Q, True), byhand.predict(Q, True), atol=1e-12)


def test_latent_bars_leave_the_noise_out():
    model = fixed().fit(X, Y)
    target, function = (model.predict(Q, True, latent=latent)[1] for latent in (False, True))
    np.testing.assert_allclose(target**2, function**2 + 0.3)
    np.testing.assert_allclose(model.predict(Q), model.predict(Q, True)[0], atol=1e-14)


def test_samples_of_the_estimator():
    model = fixed().fit(X, Y)
    mean, std = model.predict(Q, return_std=True, latent=True)
    draws = model.sample_posterior(Q, 50_000, random_state=3)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=6 * std.max() / 50_000**0.5)
    np.testing.assert_allclose(draws.std(axis=0), std, rtol=0.02)
    prior = model.sample_prior(Q, 50_000, random_state=3)
    np.testing.assert_allclose(np.cov(prior.T), 1.7 * rbf_kernel(Q, Q, 0.9), atol=0.06)
    assert (model.sample_prior(Q, 2, 5) == model.sample_prior(Q, 2, 5)).all()


def test_constant_and_zero_targets_have_a_fit():
    for level in (0.0, 3.0):
        model = GaussianProcessRegressor().fit(X, np.full(12, level))
        assert np.isfinite(model.predict(Q)).all()
        np.testing.assert_allclose(model.predict(X), level, atol=0.01)


def test_one_example_is_enough():
    mean, std = fixed().fit([[1.0]], [2.0]).predict([[1.0]], return_std=True)
    assert mean[0] == pytest.approx(2 * 1.7 / 2.0)
    assert std[0] ** 2 == pytest.approx(1.7 - 1.7**2 / 2 + 0.3)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_do_not_matter(scale):
    one = GaussianProcessRegressor().fit(X, Y)
    other = GaussianProcessRegressor().fit(scale * X, Y / scale)
    np.testing.assert_allclose(other.predict(scale * Q) * scale, one.predict(Q), rtol=1e-3)
    assert other.ell_ / scale == pytest.approx(one.ell_, rel=1e-3)
    assert other.noise_ * scale**2 == pytest.approx(one.noise_, rel=1e-3)


# Oracles -------------------------------------------------------------------------------------


def sunspot_roots(n):
    table = sunspots()
    z = np.sqrt(table.y[:n])
    return table.X[:n], z - z.mean()


def test_scikit_learn_computes_the_same_law_and_climbs_to_the_same_evidence():
    A, z = sunspot_roots(120)
    kernel = ConstantKernel(8.0) * RBF(3.0) + WhiteKernel(0.8)
    theirs = Rival(kernel).fit(A, z)
    ours = GaussianProcessRegressor(ell=3.0).fit(A, z)
    assert ours.log_marginal_likelihood_ == pytest.approx(
        theirs.log_marginal_likelihood_value_, abs=1e-4
    )
    same = ConstantKernel(ours.signal_) * RBF(ours.ell_) + WhiteKernel(ours.noise_)
    theirs = Rival(same, optimizer=None).fit(A, z)
    np.testing.assert_allclose(
        ours.predict(A + 0.5, True), theirs.predict(A + 0.5, return_std=True), atol=1e-8
    )
    theta, gradient = (
        theirs.kernel_.theta,
        theirs.log_marginal_likelihood(theirs.kernel_.theta, eval_gradient=True)[1],
    )
    assert theta.shape == gradient.shape == (3,)
    assert np.abs(gradient).max() < 1e-3


def test_scikit_learn_on_the_linear_kernel():
    kernel = ConstantKernel(1.7) * DotProduct(sigma_0=0.0, sigma_0_bounds="fixed")
    theirs = Rival(kernel, alpha=0.3, optimizer=None).fit(X, Y)
    ours = fixed(kernel="linear").fit(X, Y)
    want = theirs.predict(Q, return_std=True)
    np.testing.assert_allclose(ours.predict(Q, True, latent=True), want, atol=1e-10)
    assert ours.log_marginal_likelihood_ == pytest.approx(theirs.log_marginal_likelihood_value_)


def test_sunspots_are_the_published_series():
    table = sunspots()
    assert table.X.shape == (309, 1)
    assert (np.diff(table.X[:, 0]) == 1).all()
    assert table.X[0, 0] == 1700
    assert table.y[0] == 5.0
    assert table.y.max() == 190.2


# Properties ----------------------------------------------------------------------------------

POINTS = arrays(float, (5, 2), elements=st.floats(-3, 3, width=32))


@settings(max_examples=40, deadline=None)
@given(POINTS, st.floats(0.2, 3), st.floats(0.01, 10))
def test_variance_lies_between_zero_and_the_prior_and_falls_with_data(A, ell, noise):
    k_x = rbf_kernel(A, Q, ell)
    wide = gp_predict(gp_fit(rbf_kernel(A[:3], A[:3], ell), np.ones(3), noise), k_x[:3], np.ones(5))
    more = gp_predict(gp_fit(rbf_kernel(A, A, ell), np.ones(5), noise), k_x, np.ones(5))
    assert (more.variance >= noise).all()
    assert (wide.variance <= 1 + noise + 1e-12).all()
    assert (more.variance <= wide.variance + 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(POINTS, st.permutations(range(5)))
def test_order_of_the_data_does_not_matter(A, order):
    y = np.arange(5.0)
    one = fixed().fit(A, y)
    other = fixed().fit(A[order], y[order])
    np.testing.assert_allclose(other.predict(Q, True), one.predict(Q, True), atol=1e-9)
    assert other.log_marginal_likelihood_ == pytest.approx(one.log_marginal_likelihood_)


# Other chapters ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf"])
def test_the_mean_is_kernel_ridge_with_the_ratio_of_the_variances(kernel):
    ours = fixed(kernel=kernel).fit(X, Y).predict(Q)
    np.testing.assert_allclose(ours, KernelRidge(0.3 / 1.7, kernel, 0.9).fit(X, Y).predict(Q))
    assert np.abs(ours - KernelRidge(0.3, kernel, 0.9).fit(X, Y).predict(Q)).max() > 1e-4


def test_the_linear_kernel_is_bayesian_regression():
    law = isotropic_posterior(X, Y, 1 / 1.7, 1 / 0.3).predict(Q)
    mean, std = fixed(kernel="linear").fit(X, Y).predict(Q, return_std=True)
    np.testing.assert_allclose(mean, law.mean, atol=1e-12)
    np.testing.assert_allclose(std, law.std, atol=1e-12)


def test_one_step_predictions_multiply_to_the_evidence():
    total = norm.logpdf(Y[0], 0, np.sqrt(2.0))
    for i in range(1, 12):
        mean, std = fixed().fit(X[:i], Y[:i]).predict(X[i : i + 1], return_std=True)
        total += norm.logpdf(Y[i], mean[0], std[0])
    assert total == pytest.approx(fixed().fit(X, Y).log_marginal_likelihood_)


@pytest.mark.filterwarnings("ignore:The evidence was still rising")
@pytest.mark.parametrize("optimise", [True, False])
def test_a_likelihood_that_overflows_is_refused(optimise):
    X = np.random.default_rng(2).normal(size=(12, 2))
    model = GaussianProcessRegressor("linear", optimise=optimise)
    with np.errstate(all="raise"), pytest.raises(ValueError, match="y, X or K is too large"):
        model.fit(X * 1e100, X[:, 0] * 1e100)


def test_a_climb_tells_where_every_start_ended():
    D = squared_distances(X, X)
    starts = np.log([[0.3, 0.5, 0.1], [3.0, 2.0, 0.4], [1.0, 1.0, 1.0]])
    low, high = np.full(3, -8.0), np.full(3, 8.0)
    run = maximise_evidence(lambda t: rbf_evidence(t, D, Y), starts, low, high)
    assert run.summits.shape == (3, 3)
    for summit, value in zip(run.summits, run.values):
        assert rbf_evidence(summit, D, Y)[0].value == pytest.approx(value)
    best = np.argmax(run.values)
    assert (run.value, run.theta.tolist()) == (run.values[best], run.summits[best].tolist())
    np.testing.assert_allclose(run.gradient, rbf_evidence(run.theta, D, Y)[1], atol=1e-9)
    for start, value in zip(starts, run.values):
        alone = maximise_evidence(lambda t: rbf_evidence(t, D, Y), [start], low, high)
        assert alone.value == pytest.approx(value)
    named = {"tol": 1e-5, "max_iter": 500, "names": ["theta_0", "theta_1", "theta_2"]}
    same = maximise_evidence(lambda t: rbf_evidence(t, D, Y), starts, low, high, **named)
    assert (run.n_iter, run.at_bound) == (same.n_iter, same.at_bound)
    short = maximise_evidence(lambda t: rbf_evidence(t, D, Y), starts, low, high, max_iter=1)
    assert (short.n_iter, short.converged) == (1, False)
    tight = (np.full(3, -0.1), np.full(3, 0.1))
    at = maximise_evidence(lambda t: rbf_evidence(t, D, Y), starts, *tight, names="abc").at_bound
    assert set(at) <= set("abc")
    assert at
    point = (np.full(3, -1e-6), np.full(3, 1e-6))  # all three at bounds, in the order of names
    at = maximise_evidence(lambda t: rbf_evidence(t, D, Y), starts, *point, names="abc").at_bound
    assert at == ("a", "b", "c")


def test_a_slope_of_the_evidence_that_is_left_is_below_the_tolerance():
    D = squared_distances(X, X)
    wide = np.full(3, -8.0), np.full(3, 8.0)
    steps = [
        maximise_evidence(lambda t: rbf_evidence(t, D, Y), np.zeros((1, 3)), *wide, **given)
        for given in ({"tol": 1e-1}, {}, {"tol": 1e-5})
    ]
    assert steps[0].n_iter < steps[1].n_iter == steps[2].n_iter
    assert np.abs(steps[0].gradient).max() > 1e-5 > np.abs(steps[1].gradient).max()


def test_a_zero_mean_and_the_cubic_kernel_are_the_defaults():
    M = RNG.standard_normal((4, 4))
    S = M @ M.T + np.eye(4)
    law = condition_on([1.0, 2.0], S[2:, 2:], S[:2, 2:], S[:2, :2])
    np.testing.assert_allclose(law.mean, S[:2, 2:] @ np.linalg.solve(S[2:, 2:], [1.0, 2.0]))
    evidence, slopes = polynomial_evidence(np.zeros(3), X, Y)
    want = log_marginal_likelihood((1 + X @ X.T) ** 3, Y, 1.0)
    assert evidence.value == pytest.approx(want.value)
    assert slopes[1] == pytest.approx(polynomial_evidence(np.zeros(3), X, Y, r=3, c=1.0)[1][1])


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear"])
def test_the_estimator_keeps_the_hyperparameters_and_what_follows_from_them(kernel):
    given = {"degree": 2, "coef0": 0.5} if kernel == "polynomial" else {}
    model = fixed(kernel=kernel, **given).fit(X, Y)
    kernels = {
        "rbf": lambda A, B: rbf_kernel(A, B, 0.9),
        "polynomial": lambda A, B: polynomial_kernel(A, B, 2, 0.5, 0.9),
        "linear": linear_kernel,
    }
    k = kernels[kernel]
    fit = gp_fit(1.7 * k(X, X), Y, 0.3)
    assert (model.ell_, model.signal_, model.noise_, model.jitter_) == (0.9, 1.7, 0.3, 0.0)
    assert (model.n_iter_, model.converged_, model.at_bound_) == (1, True, ())
    np.testing.assert_allclose(model.dual_coef_, fit.alpha)
    np.testing.assert_array_equal(model.X_fit_, X)
    assert model.log_marginal_likelihood_ == pytest.approx(fit.evidence.value)
    own = np.diag(1.7 * k(Q, Q))
    for latent in (False, True):
        law = gp_predict(fit, 1.7 * k(X, Q), own, latent)
        mean, std = model.predict(Q, return_std=True, latent=latent)
        np.testing.assert_allclose(mean, law.mean)
        np.testing.assert_allclose(std, law.std)
    np.testing.assert_allclose(model.predict(Q), law.mean)
    both = model.sample_prior(Q, 3, random_state=1), model.sample_posterior(Q, 3, random_state=1)
    prior = sample_prior(lambda A, B: 1.7 * k(A, B), Q, 3, np.random.default_rng(1))
    np.testing.assert_allclose(both[0], prior, atol=1e-6)
    np.testing.assert_allclose(both[1], model.sample_posterior(Q, 3, random_state=1))
    assert abs(both[1] - model.sample_posterior(Q, 3, random_state=2)).max() > 0.01


def test_scales_are_those_of_the_data_and_bounds_and_restarts_are_used():
    start = fixed(ell="scale", signal="scale", noise="scale").fit(X, Y)
    square = np.mean(Y**2)
    want = (np.sqrt(2 * X.var() / 2), square, square / 10)
    assert (start.ell_, start.signal_, start.noise_) == pytest.approx(want)
    tight = GaussianProcessRegressor(bounds=(0.9, 1.1)).fit(X, Y)
    scales = np.array([want[0], np.sqrt(square), np.sqrt(square)])
    found = np.array([tight.ell_, np.sqrt(tight.signal_), np.sqrt(tight.noise_)]) / scales
    assert ((found > 0.9 - 1e-9) & (found < 1.1 + 1e-9)).all()
    assert tight.at_bound_
    assert not GaussianProcessRegressor().fit(X, Y).at_bound_
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        short = GaussianProcessRegressor(max_iter=1).fit(X, Y)
    assert (short.n_iter_, short.converged_) == (1, False)
    loose = GaussianProcessRegressor(tol=0.5).fit(X, Y)
    assert loose.n_iter_ < GaussianProcessRegressor().fit(X, Y).n_iter_
