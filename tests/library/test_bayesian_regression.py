"""Bayesian regression: posterior, prediction, evidence and the estimator, and what they refuse."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mllib import bayesian_regression as br
from mllib.bayesian_regression import BayesianLinearRegression
from mllib.linear_algebra import numeric_gradient
from mllib.ridge_and_lasso import ridge_svd


def sample(n=12, d=3, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X @ rng.standard_normal(d) + noise * rng.standard_normal(n)


def spd(d, seed=1):
    A = np.random.default_rng(seed).standard_normal((d, d))
    return A @ A.T + 0.1 * np.eye(d)


# Posterior -----------------------------------------------------------------------------------


def test_posterior_is_the_formula_with_inverses():
    X, y = sample()
    mu_0, V_0 = np.array([1.0, -2, 0.5]), spd(3)
    belief = br.posterior(X, y, 4.0, mu_0, V_0)
    V = np.linalg.inv(np.linalg.inv(V_0) + 4 * X.T @ X)
    np.testing.assert_allclose(belief.covariance, V, rtol=1e-10)
    np.testing.assert_allclose(
        belief.mean, V @ (np.linalg.inv(V_0) @ mu_0 + 4 * X.T @ y), rtol=1e-10
    )


def test_posterior_is_prior_times_likelihood_up_to_a_constant():
    X, y = sample()
    mu_0, V_0 = np.array([1.0, -2, 0.5]), spd(3)
    belief = br.posterior(X, y, 4.0, mu_0, V_0)
    W = np.random.default_rng(2).standard_normal((50, 3))
    log_joint = multivariate_normal(mu_0, V_0).logpdf(W) - 2 * ((y - W @ X.T) ** 2).sum(axis=1)
    gap = log_joint - multivariate_normal(belief.mean, belief.covariance).logpdf(W)
    assert np.ptp(gap) < 1e-8
    wrong = log_joint - multivariate_normal(belief.mean, 1.1 * belief.covariance).logpdf(W)
    assert np.ptp(wrong) > 0.1


def test_sequential_equals_batch_in_every_order_of_three_parts():
    X, y = sample()
    prior = br.WeightBelief(np.array([1.0, 0, 2]), spd(3), 2.0)
    batch = br.posterior(X, y, 2.0, prior.mean, prior.covariance)
    for order in itertools.permutations(range(3)):
        belief = prior
        for k in order:
            belief = belief.update(X[k::3], y[k::3])
        np.testing.assert_allclose(belief.mean, batch.mean, rtol=1e-10)
        np.testing.assert_allclose(belief.covariance, batch.covariance, rtol=1e-10)


def test_more_weights_than_data():
    X, y = sample(4, 9)
    belief = br.isotropic_posterior(X, y, 0.5, 2.0)
    dual = X.T @ np.linalg.solve(X @ X.T + 0.25 * np.eye(4), y)
    np.testing.assert_allclose(belief.mean, dual, rtol=1e-10)
    assert np.linalg.eigvalsh(belief.covariance)[-1] == pytest.approx(2.0)  # untouched directions


def test_arguments_are_not_changed():
    X, y = sample()
    mu, V = np.zeros(3), np.eye(3)
    copies = [a.copy() for a in (X, y, mu, V)]
    br.posterior(X, y, 1.0, mu, V).update(X, y).predict(X)
    assert all(np.array_equal(a, b) for a, b in zip((X, y, mu, V), copies))


# Prediction ----------------------------------------------------------------------------------


def test_prediction_is_the_conditional_law_of_the_joint_gaussian():
    X, y = sample()
    x = np.array([0.3, -1.0, 2.0])
    alpha, beta = 0.7, 3.0
    law = br.isotropic_posterior(X, y, alpha, beta).predict(x[None])
    K = X @ X.T / alpha + np.eye(len(y)) / beta
    k = X @ x / alpha
    assert law.mean[0] == pytest.approx(k @ np.linalg.solve(K, y), rel=1e-10)
    variance = x @ x / alpha + 1 / beta - k @ np.linalg.solve(K, k)
    assert law.variance[0] == pytest.approx(variance, rel=1e-9)
    assert law.std[0] == pytest.approx(variance**0.5, rel=1e-9)


def test_draws_have_the_moments_of_the_prediction_and_one_weight_vector_per_row():
    X, y = sample()
    belief = br.isotropic_posterior(X, y, 0.7, 3.0)
    points = np.array([[1.0, 0, 0], [1, 1, 1], [2, 0, 0]])
    draws = br.sample_predictive(belief, points, 40_000, np.random.default_rng(3))
    law = belief.predict(points)
    assert (np.abs(draws.mean(axis=0) - law.mean) < 5.5 * law.std / 200).all()
    assert (np.abs(draws.var(axis=0) / law.variance - 1) < 5.5 * (2 / 40_000) ** 0.5).all()
    quiet = br.sample_predictive(belief, points, 40_000, np.random.default_rng(3), noise=False)
    np.testing.assert_allclose(quiet[:, 2], 2 * quiet[:, 0])  # f is linear for each draw
    np.testing.assert_allclose(np.cov(quiet.T), br.function_covariance(belief, points), atol=0.02)
    assert (quiet.var(axis=0) < draws.var(axis=0) - 0.2).all()


# Evidence ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(12, 3), (4, 9), (5, 5)])
def test_evidence_is_the_density_of_the_targets(shape):
    X, y = sample(*shape)
    cov = X @ X.T / 0.7 + np.eye(len(y)) / 3
    exact = multivariate_normal(np.zeros(len(y)), cov).logpdf(y)
    assert br.log_evidence(X, y, 0.7, 3.0) == pytest.approx(exact, rel=1e-10)
    moments = br._moments(br._decompose(X, y)[0], 0.7, 3.0)
    assert moments.evidence == pytest.approx(exact, rel=1e-10)
    slope = br.evidence_gradient(X, y, 0.7, 3.0)
    numeric = numeric_gradient(lambda p: br.log_evidence(X, y, *p), [0.7, 3.0])
    np.testing.assert_allclose([slope.alpha, slope.beta], numeric, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("method", ["fixed-point", "em"])
@pytest.mark.parametrize("shape", [(40, 3), (15, 30)])
def test_the_evidence_is_stationary_where_both_updates_end(method, shape):
    X, y = sample(*shape)
    X, y = X / np.arange(1, shape[1] + 1), 3 * X[:, 0] + y / 3
    run = br.evidence_maximization(X, y, method=method, tol=1e-10, max_iter=20_000)
    assert run.converged
    assert not run.at_bound
    slope = br.evidence_gradient(X, y, run.alpha, run.beta)
    assert abs(slope.alpha * run.alpha) < 1e-5
    assert abs(slope.beta * run.beta) < 1e-5
    assert 0 < run.gamma < min(shape)
    assert run.log_evidence[-1] == pytest.approx(br.log_evidence(X, y, run.alpha, run.beta))
    if method == "em":
        assert (np.diff(run.log_evidence) > -1e-9).all()


def test_one_update_is_the_formula_with_the_posterior():
    X, y = sample()
    belief = br.isotropic_posterior(X, y, 0.7, 3.0)
    rss = np.sum((y - X @ belief.mean) ** 2)
    trace, data = np.trace(belief.covariance), br._decompose(X, y)[0]
    a, b = br._new_precisions("em", data, 0.7, 3.0)
    assert a == pytest.approx(3 / (belief.mean @ belief.mean + trace))
    assert b == pytest.approx(len(y) / (rss + np.trace(X.T @ X @ belief.covariance)))
    gamma = 3 - 0.7 * trace
    a, b = br._new_precisions("fixed-point", data, 0.7, 3.0)
    assert a == pytest.approx(gamma / (belief.mean @ belief.mean))
    assert b == pytest.approx((len(y) - gamma) / rss)


def test_a_given_precision_is_kept():
    X, y = sample()
    run = br.evidence_maximization(X, y, beta=4.0)
    assert run.beta == 4.0
    assert abs(br.evidence_gradient(X, y, run.alpha, 4.0).alpha) < 1e-6
    run = br.evidence_maximization(X, y, alpha=0.1)
    assert run.alpha == 0.1
    assert abs(br.evidence_gradient(X, y, 0.1, run.beta).beta) < 1e-5


def test_targets_on_a_plane_stop_at_the_bound():
    X = np.column_stack([np.ones(6), np.arange(6.0)])
    run = br.evidence_maximization(X, X @ [1.0, 2])
    assert run.at_bound
    assert run.converged
    np.testing.assert_allclose(
        br.isotropic_posterior(X, X @ [1.0, 2], run.alpha, run.beta).mean, [1, 2], rtol=1e-6
    )


def test_evidence_does_not_fall_on_the_way_to_a_bound():
    X, y = sample(15, 30)  # random rows can explain any targets, so the noise vanishes
    run = br.evidence_maximization(X, y)
    assert run.at_bound
    assert run.log_evidence[-1] > run.log_evidence.max() - 1e-4


def test_targets_orthogonal_to_the_inputs_stop_at_the_bound():
    run = br.evidence_maximization([[1.0], [1.0], [0.0]], [1.0, -1.0, 2.0])
    assert run.at_bound
    assert run.gamma < 1e-9


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_a_change_of_units_only_rescales(unit):
    X, y = sample(30, 4)
    a, b = br.evidence_maximization(X, y), br.evidence_maximization(X * unit, y)
    assert b.alpha == pytest.approx(a.alpha * unit**2, rel=1e-6)
    assert b.beta == pytest.approx(a.beta, rel=1e-6)
    c = br.evidence_maximization(X, y * unit)
    assert c.beta == pytest.approx(a.beta / unit**2, rel=1e-6)


def test_running_out_of_updates_warns_with_the_change_and_the_tolerance():
    X, y = sample()
    with pytest.warns(UserWarning, match=r"fraction of .* tol is 1.0e-08"):
        run = br.evidence_maximization(X, y, max_iter=2)
    assert not run.converged


# A free offset -------------------------------------------------------------------------------


def test_contrasts_keep_centred_inner_products_and_lose_the_offset():
    X, y = sample()
    A, t = br.offset_free(X), br.offset_free(y)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(A.T @ A, centred.T @ centred, atol=1e-12)
    np.testing.assert_allclose(A.T @ t, centred.T @ y, atol=1e-12)
    np.testing.assert_allclose(br.offset_free(y + 7), t, atol=1e-12)
    Q = br.offset_free(np.eye(12))
    np.testing.assert_allclose(Q @ Q.T, np.eye(11), atol=1e-12)


def test_the_free_offset_is_the_limit_of_a_broad_prior_on_it():
    X, y = sample()
    y = y + 5
    model = BayesianLinearRegression(alpha=0.7, beta=3.0).fit(X, y)
    V_0 = np.diag([1e7, 1 / 0.7, 1 / 0.7, 1 / 0.7])
    wide = br.posterior(np.column_stack([np.ones(12), X]), y, 3.0, np.zeros(4), V_0)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), wide.mean, rtol=1e-5)
    law = wide.predict(np.column_stack([np.ones(12), 3 * X]))
    mean, std = model.predict(3 * X, return_std=True)
    np.testing.assert_allclose(mean, law.mean, rtol=1e-5)
    np.testing.assert_allclose(std, law.std, rtol=1e-5)


# The estimator -------------------------------------------------------------------------------


def test_estimator_stores_what_the_core_computes():
    X, y = sample(40)
    model = BayesianLinearRegression(fit_intercept=False).fit(X, y)
    run = br.evidence_maximization(X, y)
    belief = br.isotropic_posterior(X, y, run.alpha, run.beta)
    np.testing.assert_allclose([model.alpha_, model.beta_], [run.alpha, run.beta], rtol=1e-12)
    np.testing.assert_allclose(model.coef_, belief.mean, rtol=1e-12)
    np.testing.assert_allclose(model.predict(X, return_std=True)[1], belief.predict(X).std)
    assert model.intercept_ == 0
    assert model.converged_


def designs():
    """Yield names and inputs on which a Gram matrix keeps its digits, and on which it does not."""
    rng = np.random.default_rng(50)
    A = rng.standard_normal((30, 6))
    yield "tall", A + 3
    yield "nearly square", rng.standard_normal((7, 6))
    yield "square", rng.standard_normal((6, 6))
    yield "wide", rng.standard_normal((6, 30))
    yield "units", A * np.geomspace(1e-3, 1e3, 6)
    yield "nearly collinear", A @ (np.ones((6, 6)) + 1e-6 * np.eye(6))
    yield "repeated columns", A[:, [0, 1, 2, 0, 1, 2]]
    yield "constant and zero columns", np.where(np.arange(6) < 2, [0.1, 0, 0, 0, 0, 0], A)
    yield "repeated rows, wide", np.repeat(rng.standard_normal((4, 12)), 2, axis=0)
    yield "ties", rng.integers(-1, 2, (20, 5)) + 0.0
    yield "one column", rng.standard_normal((5, 1))


@pytest.mark.parametrize(
    ("name", "X"), list(designs()), ids=lambda v: v if isinstance(v, str) else ""
)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("given", [{}, {"alpha": 0.3}, {"beta": 20.0}, {"alpha": 0.3, "beta": 2.0}])
def test_the_fast_estimator_equals_the_printed_functions(name, X, intercept, given):
    rng = np.random.default_rng(51)
    y = X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(len(X)) + 2
    model = BayesianLinearRegression(fit_intercept=intercept, max_iter=20_000, **given).fit(X, y)
    A, t = (br.offset_free(X), br.offset_free(y)) if intercept else (X, y)
    alpha, beta = given.get("alpha"), given.get("beta")
    if alpha is None or beta is None:
        run = br.evidence_maximization(A, t, alpha=alpha, beta=beta, max_iter=20_000)
        np.testing.assert_allclose([model.alpha_, model.beta_], [run.alpha, run.beta], rtol=1e-6)
        assert model.converged_
        assert abs(model.n_iter_ - run.n_iter) <= 1
    else:
        assert (model.alpha_, model.beta_) == (alpha, beta)
    np.testing.assert_array_equal(model.covariance_, model.covariance_.T)
    weights = ridge_svd(A, t, model.alpha_ / model.beta_)
    size = np.abs(weights).max()
    np.testing.assert_allclose(model.coef_, weights, rtol=1e-7, atol=1e-8 * size)
    if model.beta_ * np.sum(A**2) > 1e8 * model.alpha_:
        return  # the targets are met exactly, and the printed posterior has no digits left
    belief = br.isotropic_posterior(A, t, model.alpha_, model.beta_)
    np.testing.assert_allclose(model.coef_, belief.mean, rtol=1e-7, atol=1e-8 * size)
    size = np.abs(belief.covariance).max()
    np.testing.assert_allclose(model.covariance_, belief.covariance, rtol=1e-7, atol=1e-8 * size)
    evidence = br.log_evidence(A, t, model.alpha_, model.beta_)
    assert model.log_evidence_ == pytest.approx(evidence, rel=1e-8, abs=1e-8)
    offset = y.mean() - X.mean(axis=0) @ belief.mean if intercept else 0.0
    assert model.intercept_ == pytest.approx(offset, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("n", [12, 3])
@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_whole_weight_counts_a_row_that_often(n, offset, weighted):
    draw = np.random.default_rng(23)
    A, u, times = draw.normal(size=(n, 4)), draw.normal(2, 1, n), np.arange(n) % 3 + 1
    x = draw.normal(0, 3, (20, 4))
    rows = np.repeat(np.arange(n), times if weighted else 1)
    P, v = (br.offset_free(M[rows]) if offset else M[rows] for M in (A, u))
    model = BayesianLinearRegression(0.7, 3.0, offset).fit(A, u, times if weighted else None)
    plain, centre = br.isotropic_posterior(P, v, 0.7, 3.0), offset * A[rows].mean(axis=0)
    errors = br.predict(plain, x - centre).variance + offset / (3 * len(rows))
    intercept = offset * np.mean(u[rows] - A[rows] @ plain.mean)
    for ours, printed in (
        (model.coef_, plain.mean),
        (model.covariance_, plain.covariance),
        (model.log_evidence_, br.log_evidence(P, v, 0.7, 3.0)),
        (model.intercept_, intercept),
        (model.predict(x, return_std=True)[1] ** 2, errors),
    ):
        np.testing.assert_allclose(ours, printed, rtol=1e-6, atol=1e-9)


def test_samples_and_precisions_that_overflow_are_named():
    X, y = sample()
    for A, t, name in ((1e200 * X, y, "X"), (X, 1e200 * y, "y"), (1e-200 * X, y, "X")):
        with pytest.raises(ValueError, match=f"{name} holds .* between 1e-150 and 1e150 in size"):
            BayesianLinearRegression().fit(A, t)
        with pytest.raises(ValueError, match=f"{name} holds .* between 1e-150 and 1e150 in size"):
            br.evidence_maximization(A, t)
    with pytest.raises(ValueError, match="too large or too small for precisions"):
        BayesianLinearRegression().fit(1e-140 * X, 1e140 * y)
    with pytest.raises(ValueError, match="too large for this X"):
        BayesianLinearRegression(alpha=1e-300, beta=1e300).fit(X, y)


def test_estimator_shifts_with_the_data():
    X, y = sample(40)
    a = BayesianLinearRegression().fit(X, y)
    b = BayesianLinearRegression().fit(X + 1000, y - 50)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-7)
    for u, v in zip(a.predict(X, return_std=True), b.predict(X + 1000, return_std=True)):
        np.testing.assert_allclose(u - v, (u - v).mean(), atol=1e-6)


def test_constant_columns_and_duplicate_points_do_no_harm():
    X, y = sample()
    X, y = np.vstack([X, X]), np.append(y, y)
    wide = np.column_stack([X, np.full(24, 3.0)])
    model = BayesianLinearRegression(alpha=1.0, beta=2.0).fit(wide, y)
    assert model.coef_[3] == pytest.approx(0, abs=1e-12)
    assert np.isfinite(model.predict(wide, return_std=True)[1]).all()


# Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, "1", True])
@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_precisions_must_be_positive_numbers(name, bad):
    X, y = sample()
    good = {"alpha": 1.0, "beta": 1.0, name: bad}
    for function in (br.isotropic_posterior, br.log_evidence, br.evidence_gradient):
        with pytest.raises(ValueError, match=name):
            function(X, y, **good)
    with pytest.raises(ValueError, match=name):
        br.evidence_maximization(X, y, **{name: bad})
    with pytest.raises(ValueError, match=name):
        BayesianLinearRegression(**good).fit(X, y)


@pytest.mark.parametrize(
    ("V_0", "message"),
    [
        ([[1.0, 1.0], [1.0, 1.0]], "V_0 must be positive definite"),
        ([[1.0, 0.0], [0.0, 0.0]], "V_0 must be positive definite"),
        ([[1.0, 0.0], [0.0, -1.0]], "V_0 must be positive definite"),
        ([[1.0, 0.5], [0.0, 1.0]], "V_0 must be symmetric"),
        ([[1.0, 0.0], [0.0, np.nan]], "V_0 contains NaN"),
        ([[1.0]], "V_0 must be of shape"),
        ([1.0, 1.0], "V_0"),
    ],
)
def test_prior_covariances_that_are_none(V_0, message):
    with pytest.raises(ValueError, match=message):
        br.posterior(np.eye(2), [1.0, 2.0], 1.0, [0.0, 0.0], V_0)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [np.nan]], [1.0, 2.0], "X contains NaN"),
        ([[1.0], [2.0]], [1.0, np.inf], "y contains infinity"),
        ([[1.0], [2.0]], [1.0], "y must have 2 entries"),
        ([1.0, 2.0], [1.0, 2.0], "Expected 2D array"),
        ([[1.0], [2.0]], [[1.0], [2.0]], "y must be a vector"),
        ([[1e200], [2.0]], [1.0, 2.0], "between 1e-150 and 1e150"),
    ],
)
def test_samples_that_are_none(X, y, message):
    for function in (br.isotropic_posterior, br.log_evidence):
        with pytest.raises(ValueError, match=message):
            function(X, y, 1.0, 1.0)
    with pytest.raises(ValueError, match=message):
        br.evidence_maximization(X, y)


def test_other_bad_arguments():
    X, y = sample()
    belief = br.isotropic_posterior(X, y, 1.0, 1.0)
    with pytest.raises(ValueError, match="mu_0 must have 3 entries"):
        br.posterior(X, y, 1.0, [0.0], np.eye(3))
    with pytest.raises(ValueError, match="X must have 3 columns"):
        belief.predict([[1.0]])
    with pytest.raises(ValueError, match="X must have 3 columns"):
        belief.update([[1.0]], [1.0])
    with pytest.raises(ValueError, match="belief must be a WeightBelief"):
        br.predict((0, 1), X)
    with pytest.raises(ValueError, match="S must be an integer"):
        br.sample_predictive(belief, X, 0, np.random.default_rng(0))
    with pytest.raises(ValueError, match="rng must be"):
        br.sample_predictive(belief, X, 5, 0)
    for call in (br.posterior, br.isotropic_posterior, br.log_evidence, br.evidence_gradient):
        wide = (1e300, np.zeros(3), 1e300 * np.eye(3)) if call is br.posterior else (1e-300, 1e300)
        with pytest.raises(ValueError, match="beta times the prior variance is too large"):
            call(X, y, *wide)
    with pytest.raises(ValueError, match="method must be one of"):
        br.evidence_maximization(X, y, method="newton")
    with pytest.raises(ValueError, match="max_iter"):
        br.evidence_maximization(X, y, max_iter=0)
    with pytest.raises(ValueError, match="minimum of 2"):
        br.offset_free([1.0])


def test_nothing_to_learn_from_is_said():
    X, y = sample()
    with pytest.raises(ValueError, match="y is zero everywhere"):
        BayesianLinearRegression().fit(X, np.full(12, 3.0))
    with pytest.raises(ValueError, match="X is zero everywhere"):
        BayesianLinearRegression().fit(np.ones((12, 2)), y)
    model = BayesianLinearRegression(alpha=1.0, beta=1.0).fit(X, np.full(12, 3.0))
    np.testing.assert_allclose(model.predict(X), 3)


def test_columns_of_rounded_constants_count_as_constant():
    X = sample(10, 1)[0]
    with pytest.raises(ValueError, match="y is zero everywhere"):
        BayesianLinearRegression().fit(X, np.full(10, 0.1))


# Other people's data ---


@pytest.mark.parametrize(("offset", "digits"), [(0.0, 13), (1e5, 10), (1e7, 8), (1e9, 6)])
def test_posterior_of_columns_far_from_zero_keeps_the_digits_of_an_svd(offset, digits):
    rng = np.random.default_rng(0)
    X = np.round((rng.standard_normal((50, 2)) + offset) * 2**20) / 2**20
    y = np.round((X @ [1.0, -2.0] + 0.1 * rng.standard_normal(50)) * 2**20) / 2**20
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    S = [[sum(r[i] * r[j] for r in rows) for j in (0, 1)] for i in (0, 1)]
    b = [sum(r[i] * Fraction(v) for r, v in zip(rows, y.tolist())) for i in (0, 1)]
    (p, q), (_, s) = [[100 * S[i][j] + (i == j) for j in (0, 1)] for i in (0, 1)]
    det = p * s - q * q
    covariance = np.array([[float(v / det) for v in row] for row in ((s, -q), (-q, p))])
    mean = [float(100 * v / det) for v in (s * b[0] - q * b[1], p * b[1] - q * b[0])]
    general = br.posterior(X, y, 100.0, np.zeros(2), np.eye(2))
    for belief in (br.isotropic_posterior(X, y, 1.0, 100.0), general):
        np.testing.assert_allclose(belief.mean, mean, rtol=10.0**-digits)
        np.testing.assert_allclose(belief.covariance, covariance, rtol=10.0**-digits)


def test_few_precise_rows_beside_a_vague_prior_keep_the_variance_that_is_left():
    X, y = np.array([[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]), [1.0, 2.0]
    for alpha, beta in ((1e-6, 1e6), (1e-8, 1e8), (1e-12, 1e4)):
        covariance = (
            BayesianLinearRegression(alpha, beta, fit_intercept=False).fit(X, y).covariance_
        )
        assert np.isclose(covariance[2, 2], 1 / (alpha + beta), rtol=1e-9)
        assert np.isclose(covariance[3, 3], 1 / alpha, rtol=1e-9)
        assert np.allclose(covariance[:2, :2] * alpha, [[0.8, -0.4], [-0.4, 0.2]], atol=1e-9)


def test_an_offset_common_to_all_rows_leaves_no_rounding_behind():
    for n in range(2, 12):
        assert not br.offset_free(np.full((n, 2), 0.1)).any()


def test_weights_that_stand_for_too_few_rows_are_refused_by_name():
    X, y = np.array([[1.0, 2.0], [0.5, 1.0], [3.0, 2.0]]), np.array([1.0, 2.0, 0.0])
    for s in ([0.0, 1.0, 0.0], [0.3, 0.3, 0.3]):
        for alpha, beta in ((None, None), (1.0, 1.0)):
            with pytest.raises(ValueError, match="sample_weight must add up to more than 1"):
                BayesianLinearRegression(alpha, beta).fit(X, y, s)
    model = BayesianLinearRegression(1e-9, fit_intercept=False)
    with pytest.raises(ValueError, match="X must have more rows, each counted as often as"):
        model.fit(X, y, [1.0, 1e-3, 1e-3])
    model.set_params(method="em").fit(X, y, [1.0, 1e-3, 1e-3])
    assert model.beta_ > 0
    model.set_params(method="fixed-point", alpha=None, beta=1.0, tol=1e-2)
    model.fit(X, y, [1.0, 1e-3, 1e-3])
    assert model.beta_ == 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["fixed-point", "em"])
def test_a_run_tells_every_update_and_ends_by_its_tolerance(method):
    X, y = sample(9, 4, noise=1.5)
    asked = {} if method == "fixed-point" else {"method": method}
    run = br.evidence_maximization(X, y, **asked)
    by_tolerance = {
        tol: br.evidence_maximization(X, y, method=method, tol=tol) for tol in (1e-7, 1e-8, 1e-9)
    }
    assert run.n_iter == by_tolerance[1e-8].n_iter
    assert by_tolerance[1e-7].n_iter < run.n_iter < by_tolerance[1e-9].n_iter
    assert len(run.path) == len(run.log_evidence) == run.n_iter + 1
    assert run.path[-1].tolist() == [run.alpha, run.beta]
    for (alpha, beta), value in zip(run.path, run.log_evidence):
        assert value == pytest.approx(br.log_evidence(X, y, alpha, beta))
    s2 = np.linalg.svd(X, compute_uv=False) ** 2
    assert run.gamma == pytest.approx((run.beta * s2 / (run.alpha + run.beta * s2)).sum())
    assert run.converged
    assert not run.at_bound
    few = br.evidence_maximization(X, y, max_iter=3, tol=0.0, **asked)
    assert (few.n_iter, few.converged) == (3, False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("offset", [True, False])
def test_the_estimator_chooses_as_it_is_asked(offset):
    X, y = sample(9, 4, noise=1.5)
    y = y + 5.0 * offset
    rows = (br.offset_free(X), br.offset_free(y)) if offset else (X, y)
    for given in (
        {},
        {"method": "em"},
        {"tol": 1e-3},
        {"max_iter": 2},
        {"alpha": 3.0},
        {"beta": 0.5},
    ):
        model = BayesianLinearRegression(fit_intercept=offset, **given).fit(X, y)
        run = br.evidence_maximization(*rows, **given)
        assert (model.alpha_, model.beta_) == pytest.approx((run.alpha, run.beta), rel=1e-6)
        assert (model.n_iter_, model.converged_) == (run.n_iter, run.converged)
        belief = br.isotropic_posterior(*rows, run.alpha, run.beta)
        assert model.coef_ == pytest.approx(belief.mean, rel=1e-5)
        assert model.covariance_ == pytest.approx(belief.covariance, rel=1e-5)
        assert model.log_evidence_ == pytest.approx(br.log_evidence(*rows, run.alpha, run.beta))
        centre = X.mean(axis=0) if offset else np.zeros(4)
        assert model.x_mean_ == pytest.approx(centre)
        assert model.intercept_ == pytest.approx(
            (y.mean() - centre @ belief.mean) * offset, rel=1e-5
        )
        assert model.predict(X).shape == (9,)
    both = BayesianLinearRegression(alpha=1.0, beta=2.0, fit_intercept=offset).fit(X, y)
    assert (both.alpha_, both.beta_, both.n_iter_, both.converged_) == (1.0, 2.0, 1, True)
