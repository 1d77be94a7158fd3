"""The module of ridge and lasso: behaviour of each public function, its errors and edge cases."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm
from uncompiled import uncompiled

from mllib.core.errors import ConvergenceWarning
from mllib.decision_theory import add_intercept
from mllib.linear_algebra import numeric_gradient, outer_product_sum, svd_solve
from mllib.ridge_and_lasso import (
    Lasso,
    Ridge,
    _homotopy,
    _swept_homotopy,
    augment,
    bias_variance,
    centre,
    lars_path,
    lasso,
    lasso_gap,
    lasso_kkt,
    lasso_objective,
    path_at,
    ridge,
    ridge_from_sums,
    ridge_many,
    ridge_objective,
    ridge_svd,
    shrinkage_factors,
    soft_threshold,
    spike_slab_posterior,
    sweep,
)

SHAPES = [(20, 4), (5, 5), (4, 9)]


def sample(seed, n, d):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def lasso_by_enumeration(X, y, lam):
    """Return the least objective over all sign patterns, each a linear problem."""
    best = np.sum(y**2)
    for signs in itertools.product([-1, 0, 1], repeat=X.shape[1]):
        s = np.array(signs)
        A = np.flatnonzero(s)
        if A.size and A.size <= len(X):
            w = np.zeros(len(s))
            w[A] = np.linalg.lstsq(X[:, A].T @ X[:, A], X[:, A].T @ y - lam / 2 * s[A], rcond=None)[
                0
            ]
            best = min(best, np.sum((y - X @ w) ** 2) + lam * np.abs(w).sum())
    return best


# ridge ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lam", [1e-3, 1.0, 50.0])
def test_ridge_has_gradient_zero_and_all_its_forms_agree(shape, lam):
    X, y = sample(0, *shape)
    w = ridge(X, y, lam)
    gradient = numeric_gradient(lambda v: ridge_objective(v, X, y, lam), w)
    np.testing.assert_allclose(gradient, 0, atol=1e-6 * (1 + lam))
    np.testing.assert_allclose(ridge_svd(X, y, lam), w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(svd_solve(*augment(X, y, lam)), w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(Ridge(lam, fit_intercept=False).fit(X, y).coef_, w, rtol=1e-9)
    inverse = np.linalg.inv(X.T @ X + lam * np.eye(shape[1]))
    np.testing.assert_allclose(w, inverse @ X.T @ y, rtol=1e-8, atol=1e-12)


def test_weights_that_do_not_pay():
    X, y = sample(1, 12, 3)
    free = ridge(add_intercept(X), y, 2.0, D=[0, 1, 1, 1])
    model = Ridge(2.0).fit(X, y)
    np.testing.assert_allclose(free, np.r_[model.intercept_, model.coef_], rtol=1e-10)
    paid = ridge(add_intercept(X), y + 100, 2.0)
    assert abs(paid[0] - free[0]) < 99  # a penalised offset does not follow the shift
    moved = Ridge(2.0).fit(X, y + 100)
    np.testing.assert_allclose(moved.coef_, model.coef_, atol=1e-10)
    assert moved.intercept_ == pytest.approx(model.intercept_ + 100)


def test_sums_of_chunks_give_the_fit_of_the_whole():
    X, y = sample(2, 30, 4)
    parts = [outer_product_sum(X[i : i + 7], y[i : i + 7]) for i in range(0, 30, 7)]
    total = sum(parts[1:], parts[0])
    np.testing.assert_allclose(ridge_from_sums(total, 0.5), ridge(X, y, 0.5), rtol=1e-12)
    with pytest.raises(ValueError, match="sums must come from"):
        ridge_from_sums((X, y), 0.5)


def test_a_vanishing_penalty_gives_the_shortest_least_squares_solution():
    X, y = sample(3, 4, 9)
    shortest = np.linalg.pinv(X) @ y
    np.testing.assert_allclose(ridge_svd(X, y, 0.0), shortest, rtol=1e-9)
    np.testing.assert_allclose(Ridge(1e-10, fit_intercept=False).fit(X, y).coef_, shortest, 1e-8)
    twins = np.column_stack([X, X[:, 0]])
    np.testing.assert_allclose(ridge_svd(twins, y, 0.0), np.linalg.pinv(twins) @ y, rtol=1e-8)


def test_many_penalties_at_once():
    X, y = sample(4, 8, 3)
    W = ridge_svd(X, y, [0.1, 1.0, 10.0])
    for lam, w in zip([0.1, 1.0, 10.0], W):
        np.testing.assert_allclose(w, ridge(X, y, lam), rtol=1e-10)
    assert np.all(np.diff(np.linalg.norm(W, axis=1)) < 0)
    factors = shrinkage_factors(X, 1.0)
    hat = X @ np.linalg.solve(X.T @ X + np.eye(3), X.T)
    np.testing.assert_allclose(factors.sum(), np.trace(hat), rtol=1e-12)


def test_bias_and_variance_equal_their_definitions():
    X, _ = sample(5, 7, 3)
    w = np.array([1.0, -2.0, 3.0])
    M = np.linalg.solve(X.T @ X + 2 * np.eye(3), X.T)  # the estimate is M y
    moments = bias_variance(X, w, 2.0, 0.25)
    np.testing.assert_allclose(moments.bias, M @ X @ w - w, rtol=1e-10)
    np.testing.assert_allclose(moments.covariance, 0.25 * M @ M.T, rtol=1e-10)
    assert moments.squared_bias == pytest.approx(moments.bias @ moments.bias)
    assert moments.variance == pytest.approx(np.trace(moments.covariance))


@pytest.mark.parametrize("n", [50, 3])
@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8, 1e100])
def test_estimators_follow_a_change_of_units(n, scale):
    X, y = sample(6, n, 4)
    for make, lam_scale in ((Ridge, scale * scale), (Lasso, scale)):
        plain = make(lam=0.3).fit(X, y)
        scaled = make(lam=0.3 * lam_scale).fit(X * scale, y)
        np.testing.assert_allclose(scaled.coef_ * scale, plain.coef_, rtol=1e-7, atol=1e-10)


def test_nearly_collinear_columns_keep_their_digits_in_the_estimator():
    X, y = sample(7, 40, 2)
    X = np.column_stack([X, X[:, 0] + 1e-6 * X[:, 1]])
    lam = 1e-9
    w = Ridge(lam, fit_intercept=False).fit(X, y).coef_
    reference = np.linalg.lstsq(*augment(X, y, lam), rcond=None)[0]
    assert ridge_objective(w, X, y, lam) <= ridge_objective(reference, X, y, lam) * (1 + 1e-12)
    np.testing.assert_allclose(w, reference, rtol=1e-4)


# lasso ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("z", [-3.0, -1.0, -0.2, 0.0, 0.7, 1.0, 2.5])
@pytest.mark.parametrize("t", [0.0, 0.5, 1.0])
def test_soft_threshold_minimises_its_parabola(z, t):
    grid = np.arange(-4000, 4001) / 1000
    best = grid[np.argmin((grid - z) ** 2 + 2 * t * np.abs(grid))]
    assert soft_threshold(z, t) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("shape", [(12, 4), (4, 4), (3, 5)])
@pytest.mark.parametrize("lam", [0.1, 1.0, 4.0])
def test_path_and_descent_reach_the_least_objective_of_all_sign_patterns(shape, lam):
    X, y = sample(8, *shape)
    best = lasso_by_enumeration(X, y, lam)
    run = lasso(X, y, lam)
    assert run.converged
    assert run.objective[-1] == pytest.approx(best, rel=1e-10)
    assert np.all(np.diff(run.objective) <= 1e-12)
    w = path_at(lars_path(X, y), lam)
    assert lasso_objective(w, X, y, lam) == pytest.approx(best, rel=1e-12)
    assert lasso_kkt(w, X, y, lam).max() < 1e-10
    gap = lasso_gap(w + 0.01, X, y, lam)
    assert gap >= lasso_objective(w + 0.01, X, y, lam) - best - 1e-12
    assert gap > 1e-4


@pytest.mark.parametrize("seed", range(12))
def test_every_kink_meets_the_conditions(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(3, 25, 2)
    X, y = sample(100 + seed, n, d)
    if seed % 3 == 0:
        X[:, 0] = X[:, -1]  # twins
    path = lars_path(X, y)
    assert path.complete
    assert path.lam[0] == pytest.approx(2 * np.abs(X.T @ y).max())
    assert np.all(np.diff(path.lam) <= 0)
    middle = (path.lam[1:] + path.lam[:-1]) / 2
    for lam, w in zip(np.r_[path.lam, middle], np.vstack([path.W, path_at(path, middle)])):
        assert lasso_kkt(w, X, y, lam).max() < 1e-9
    if d < n and seed % 3:
        np.testing.assert_allclose(path.W[-1], np.linalg.lstsq(X, y)[0], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_ties_among_small_integers(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 8, 2)
    X = rng.integers(-1, 2, (n, d)).astype(float)
    y = rng.integers(-2, 3, n).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = lars_path(X, y)
    for lam, w in zip(path.lam, path.W):
        assert lasso_kkt(w, X, y, lam).max() < 1e-9


def test_a_variable_can_leave_and_least_angle_regression_keeps_it():
    X, y = sample(17, 20, 8)
    X[:, 0] = X[:, 1] + X[:, 2] + 0.3 * X[:, 0]
    y = X[:, 1] + X[:, 2] - 0.2 * X[:, 0]  # its weight ends below 0, after a start above
    path, angles = lars_path(X, y), lars_path(X, y, drop=False)
    assert any(e is not None and e < 0 for e in path.entered)
    assert all(e is None or e >= 0 for e in angles.entered)
    for lam, w in zip(angles.lam, angles.W):  # equal correlations, whatever the signs
        c = np.abs(X.T @ (y - X @ w))
        assert np.all(c <= lam / 2 + 1e-9)
        np.testing.assert_allclose(c[w != 0], lam / 2, atol=1e-9)
    np.testing.assert_allclose(angles.W[-1], path.W[-1], atol=1e-9)


def test_many_kinks_do_not_add_up_rounding():
    X, y = sample(19, 120, 150)
    path = lars_path(X, y)
    assert len(path.lam) > 100
    assert max(lasso_kkt(w, X, y, lam).max() for lam, w in zip(path.lam, path.W)) < 1e-8


def test_the_path_stops_where_it_is_told():
    X, y = sample(20, 15, 6)
    whole, part = lars_path(X, y), lars_path(X, y, lam_min=2.0)
    np.testing.assert_allclose(part.W[-1], path_at(whole, 2.0), atol=1e-12)
    assert part.lam[-1] == 2.0
    with pytest.raises(ValueError, match="lam must be at least 2"):
        path_at(part, 1.0)
    beyond = lars_path(X, y, lam_min=1e6)
    assert beyond.lam.tolist() == [1e6]
    assert not beyond.W.any()
    assert not path_at(whole, [1e6, 1e7]).any()
    with pytest.warns(UserWarning, match="lars_path used all 2 kinks"):
        short = lars_path(X, y, max_kinks=2)
    assert not short.complete
    assert len(short.lam) == 2


def test_sweeping_solves_a_least_squares_problem():
    X, y = sample(21, 9, 4)
    T = np.column_stack([X, y]).T @ np.column_stack([X, y])
    once = sweep(sweep(T, 2), 0)
    A = [0, 2]
    w = np.linalg.lstsq(X[:, A], y)[0]
    np.testing.assert_allclose(once[A, -1], w, rtol=1e-10)
    np.testing.assert_allclose(once[[1, 3], -1], X[:, [1, 3]].T @ (y - X[:, A] @ w), rtol=1e-9)
    np.testing.assert_allclose(once[-1, -1], np.sum((y - X[:, A] @ w) ** 2), rtol=1e-10)
    np.testing.assert_allclose(sweep(sweep(once, 2), 0), T, rtol=1e-9, atol=1e-12)
    for table, k, message in (
        (np.zeros((2, 2)), 0, r"T must not be 0 at \(0, 0\)"),
        (np.eye(2), 2, r"k must be an integer in \[0, 1\]"),
        (np.eye(2), -1, r"k must be an integer in \[0, 1\]"),
        (np.ones((2, 3)), 0, "T must be square"),
        ([[1.0, 2.0], [0.0, 1.0]], 0, "T must be symmetric"),
        ([[np.nan, 1.0], [1.0, 1.0]], 1, "T contains NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            sweep(table, k)


def test_a_wrong_threshold_or_sign_is_noticed():
    X, y = sample(22, 15, 5)
    lam = 2.0
    w = lasso(X, y, lam).w
    assert lasso_kkt(w, X, y, lam).max() < 1e-6
    assert lasso_kkt(lasso(X, y, 2 * lam).w, X, y, lam).max() > 0.1  # lam for lam/2
    assert lasso_kkt(-w, X, y, lam).max() > 0.1
    assert lasso_gap(ridge(X, y, lam), X, y, lam) > 0.1  # an L1 penalty that computes L2


@pytest.mark.parametrize("make", [Ridge, Lasso])
def test_constant_columns_and_constant_targets(make):
    X, y = sample(23, 10, 3)
    X[:, 1] = 0.1  # its mean is not exactly 0.1 in floats
    model = make(lam=0.2).fit(X, y)
    assert model.coef_[1] == 0
    assert np.isfinite(model.coef_).all()
    flat = make(lam=0.2).fit(X, np.full(10, 0.3))
    assert not flat.coef_.any()
    assert flat.intercept_ == 0.3
    assert flat.predict(X).tolist() == [0.3] * 10
    one = make(lam=0.2).fit(X[:1], y[:1])
    assert one.predict(X[:1]) == y[:1]


def test_lasso_estimator_equals_descent_and_shows_its_gap():
    X, y = sample(24, 30, 6)
    model = Lasso(lam=3.0).fit(X, y)
    data = centre(X, y)
    np.testing.assert_allclose(model.coef_, lasso(data.X, data.y, 3.0).w, atol=1e-6)
    assert model.gap_ <= 1e-10 * (data.y @ data.y)
    assert model.converged_
    assert not Lasso(lam=1e9).fit(X, y).coef_.any()


def test_more_features_than_the_path_takes():
    X, y = sample(25, 20, 1001)
    model = Lasso(lam=20.0).fit(X, y)
    data = centre(X, y)
    exact = lars_path(data.X, data.y, lam_min=20.0).W[-1]
    np.testing.assert_allclose(model.coef_, exact, atol=1e-4)
    assert lasso_gap(model.coef_, data.X, data.y, 20.0) <= 1e-9 * (data.y @ data.y)


def test_a_column_of_zeros_has_the_weight_zero_wherever_descent_starts():
    X, y = sample(29, 12, 3)
    X[:, 1] = 0.0
    run = lasso(X, y, 1.0, w0=[5.0, 5.0, 5.0])
    assert run.w[1] == 0
    np.testing.assert_allclose(run.w, lasso(X, y, 1.0).w, atol=1e-6)
    assert run.objective[0] == pytest.approx(lasso_objective([5.0, 0.0, 5.0], X, y, 1.0))


def test_running_out_of_passes_warns_with_gap_and_tolerance():
    X, y = sample(26, 30, 20)
    with pytest.warns(UserWarning, match=r"used all 1 passes: the duality gap is .* tol \|y\|\^2"):
        run = lasso(X, y, 0.1, max_iter=1)
    assert not run.converged
    wide = np.random.default_rng(0).standard_normal((6, 1001))  # too many columns for the path
    with pytest.warns(UserWarning, match="used all 1 passes"):
        assert Lasso(lam=0.1, max_iter=1).fit(wide, wide[:, 0]).n_iter_ == 1
    assert issubclass(ConvergenceWarning, UserWarning)


# spike and slab ------------------------------------------------------------------------------


@pytest.mark.parametrize("prob", [0.1, 0.5, 0.9])
def test_spike_and_slab_by_integration(prob):
    x, y = np.array([1.0, -2.0, 0.5]), np.array([0.7, -1.1, 0.9])
    sigma2, tau2 = 0.8, 2.0

    def likelihood(w):
        return norm.pdf(y, x * w, np.sqrt(sigma2)).prod()

    def slab(w):
        return likelihood(w) * norm.pdf(w, 0, np.sqrt(tau2))

    mass = quad(slab, -30, 30, points=[0, 0.6], epsabs=1e-14)[0]
    mean = quad(lambda w: w * slab(w), -30, 30, points=[0, 0.6], epsabs=1e-14)[0] / mass
    found = spike_slab_posterior(x, y, sigma2=sigma2, tau2=tau2, prob=prob)
    odds = prob * mass / ((1 - prob) * likelihood(0))
    assert found.inclusion == pytest.approx(odds / (1 + odds), rel=1e-8)
    assert found.mean == pytest.approx(mean, rel=1e-8)
    assert found.shrunk == pytest.approx(found.inclusion * mean, rel=1e-8)


def test_spike_and_slab_far_in_the_tails_is_finite():
    sure = spike_slab_posterior([1e3], [1e6], sigma2=1.0, tau2=1.0, prob=0.5)
    assert sure.inclusion == 1.0
    wide = spike_slab_posterior([1.0], [1.0], sigma2=1.0, tau2=1e300, prob=0.5)
    assert 0 <= wide.inclusion < 1e-100
    for x in (1e200, 1e-200):
        with pytest.raises(ValueError, match="change the units of x and y"):
            spike_slab_posterior([x], [x], sigma2=1.0, tau2=1.0, prob=0.5)
    for unit in (1e-100, 1e100):
        plain = spike_slab_posterior([1.0, 2.0], [0.5, 1.0], sigma2=1.0, tau2=2.0, prob=0.3)
        moved = spike_slab_posterior(
            [unit, 2 * unit], [0.5, 1.0], sigma2=1.0, tau2=2.0 / unit**2, prob=0.3
        )
        assert moved.inclusion == pytest.approx(plain.inclusion, rel=1e-12)
        assert moved.mean * unit == pytest.approx(plain.mean, rel=1e-12)


# bad input -----------------------------------------------------------------------------------

X0, Y0 = np.eye(3), np.ones(3)


@pytest.mark.parametrize("lam", [0, 0.0, -1.0, np.nan, np.inf, "1", None, True])
def test_penalties_must_be_positive(lam):
    calls = [
        lambda: ridge(X0, Y0, lam),
        lambda: augment(X0, Y0, lam),
        lambda: shrinkage_factors(X0, lam),
        lambda: bias_variance(X0, Y0, lam, 1.0),
        lambda: lasso(X0, Y0, lam),
        lambda: lasso_gap(Y0, X0, Y0, lam),
        lambda: Ridge(lam).fit(X0, Y0),
        lambda: Lasso(lam).fit(X0, Y0),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"lam must be a number in \(0, inf\)"):
            call()


def test_penalties_that_may_be_zero_must_not_be_negative():
    assert ridge_svd(X0, Y0, 0).tolist() == [1, 1, 1]
    assert ridge_objective(Y0, X0, Y0, 0) == lasso_objective(Y0, X0, Y0, 0) == 0
    for call in (ridge_objective, lasso_objective, lasso_kkt):
        with pytest.raises(ValueError, match=r"lam must be a number in \[0, inf\)"):
            call(Y0, X0, Y0, -1)
    with pytest.raises(ValueError, match="lam must not be negative"):
        ridge_svd(X0, Y0, [1.0, -1.0])
    with pytest.raises(ValueError, match="lam_min must be"):
        lars_path(X0, Y0, lam_min=-1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused_by_name(bad):
    X, y = X0.copy(), Y0.copy()
    X[1, 1], y[2] = bad, bad
    calls = (ridge, ridge_svd, augment, lasso)
    for call in (*calls, lambda X, y, lam: lars_path(X, y), lambda X, y, lam: centre(X, y)):
        with pytest.raises(ValueError, match="X contains"):
            call(X, Y0, 1.0)
        with pytest.raises(ValueError, match="y contains"):
            call(X0, y, 1.0)
    with pytest.raises(ValueError, match="Input z contains"):
        soft_threshold([bad], 1.0)


def test_shapes_and_other_arguments():
    with pytest.raises(ValueError, match="y must have 3 entries"):
        ridge(X0, [1.0, 2.0], 1.0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Ridge().fit(X0, [1.0, 2.0])
    with pytest.raises(ValueError, match="D must not be negative"):
        ridge(X0, Y0, 1.0, D=[1, -1, 1])
    with pytest.raises(ValueError, match="D must have 3 entries"):
        ridge(X0, Y0, 1.0, D=[1, 1])
    with pytest.raises(ValueError, match="singular to rounding"):
        ridge(np.ones((3, 2)), Y0, 1.0, D=[0, 0])
    for unit in (1e-8, 1.0, 1e8):
        with pytest.raises(ValueError, match="singular to rounding"):
            ridge(unit * np.ones((3, 2)), Y0, 1e-30 * unit**2)
        assert np.isfinite(ridge(unit * np.ones((3, 2)), Y0, 1e-9 * unit**2)).all()
    with pytest.raises(ValueError, match="between 1e-150 and 1e150"):
        lasso(1e200 * X0, Y0, 1.0)
    with pytest.raises(ValueError, match="fit_intercept must be"):
        Lasso(fit_intercept="yes").fit(X0, Y0)
    with pytest.raises(ValueError, match="z must hold numbers only"):
        soft_threshold("a", 1.0)
    with pytest.raises(ValueError, match="path must be a LassoPath"):
        path_at((1.0, 2.0), 1.0)
    with pytest.raises(ValueError, match="x must not be 0"):
        spike_slab_posterior([0.0], [1.0], sigma2=1, tau2=1, prob=0.5)
    for name in ("sigma2", "tau2", "prob"):
        wrong = {"sigma2": 1.0, "tau2": 1.0, "prob": 0.5} | {name: 0.0}
        with pytest.raises(ValueError, match=f"{name} must be"):
            spike_slab_posterior([1.0], [1.0], **wrong)


def test_arguments_are_not_changed():
    X, y = sample(27, 6, 3)
    before, w0 = (X.copy(), y.copy()), np.ones(3)
    for run in (
        lambda: lasso(X, y, 1.0, w0=w0),
        lambda: lars_path(X, y),
        lambda: Ridge().fit(X, y),
    ):
        run()
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])
    assert w0.tolist() == [1, 1, 1]


def test_ridge_minimises_what_a_general_optimiser_minimises():
    X, y = sample(28, 9, 3)
    theirs = minimize(ridge_objective, np.zeros(3), args=(X, y, 2.0), tol=1e-12)
    np.testing.assert_allclose(ridge(X, y, 2.0), theirs.x, atol=1e-6)


# Fast variants -------------------------------------------------------------------------------


def designs():
    """Yield names and inputs that make a path hard: near and exact dependence, ties, no rows."""
    rng = np.random.default_rng(40)
    A = rng.standard_normal((40, 12))
    yield "tall", A
    yield "correlated", A @ (0.05 * np.eye(12) + 0.95 / 12)
    yield "ill-conditioned", A * np.geomspace(1, 1e-6, 12) @ rng.standard_normal((12, 12))
    yield "units", A * np.geomspace(1e-4, 1e4, 12)
    yield "repeated and opposite columns", np.column_stack([A[:, :4], A[:, :4], -A[:, :4]])
    yield "rank 3", A[:, :3] @ rng.standard_normal((3, 12))
    yield "constant columns", np.where(np.arange(12) % 3 == 0, 7.0, A)
    yield "zero columns", np.where(np.arange(12) % 3 == 0, 0.0, A)
    yield "square", A[:12]
    yield "wide", rng.standard_normal((12, 40))
    yield "wide, correlated", rng.standard_normal((12, 40)) @ (0.1 * np.eye(40) + 0.9 / 40)
    yield "wide, repeated", np.repeat(rng.standard_normal((8, 10)), 3, axis=1)
    yield "one row", rng.standard_normal((1, 5))
    yield "one column", rng.standard_normal((9, 1))
    yield "orthogonal, tied", np.vstack([np.eye(6), -np.eye(6)])
    yield "signs, tied", np.array(list(itertools.product([-1.0, 1.0], repeat=5)))


HARD = pytest.mark.parametrize(
    ("name", "X"), list(designs()), ids=lambda v: v if isinstance(v, str) else ""
)


@HARD
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("target", ["noise", "whole numbers"])
def test_the_fast_path_equals_the_sweeps_of_the_book(name, X, centred, target):
    rng = np.random.default_rng(41)
    y = rng.standard_normal(len(X)) if target == "noise" else rng.integers(-2, 3, len(X)) + 0.0
    if centred:
        X, y, _, _ = centre(X, y)
    if not X.any() or not (X.T @ y).any():
        assert lars_path(X, y).W.any() == 0
        return
    fast = _swept_homotopy(X, y, 0.0, True, 1000)
    plain = _homotopy(outer_product_sum(X, y), 0.0, True, 1000)
    assert fast.complete
    assert plain.complete
    for lam in plain.lam[0] * np.append(np.geomspace(1.5, 1e-4, 30), 0.7):
        w, v = path_at(fast, lam), path_at(plain, lam)
        # columns of 1 to 1e-6: their products reach down to the rounding of the largest
        lost = 1e-9 if name == "ill-conditioned" else 1e-12
        assert lasso_gap(w, X, y, lam) <= lost * (y @ y)
        assert lasso_objective(w, X, y, lam) <= lasso_objective(v, X, y, lam) + 1e-13 * (y @ y)
        np.testing.assert_allclose(X @ w, X @ v, atol=1e-7 * np.linalg.norm(y))
        if name in ("tall", "correlated", "square", "wide", "one column"):
            np.testing.assert_allclose(w, v, rtol=1e-7, atol=1e-10 * np.abs(v).max())


@pytest.mark.parametrize("shape", [(60, 25), (25, 60), (30, 30)])
@pytest.mark.parametrize("drop", [True, False])
def test_the_fast_path_has_the_same_kinks_in_the_same_order(shape, drop):
    rng = np.random.default_rng(42)
    seen = 0
    for _ in range(6):
        X = rng.standard_normal(shape) @ (0.1 * np.eye(shape[1]) + rng.random((shape[1], shape[1])))
        X, y, _, _ = centre(X, rng.standard_normal(shape[0]))
        end = 0.001 * np.abs(X.T @ y).max()
        fast = _swept_homotopy(X, y, end, drop, 1000)
        plain = _homotopy(outer_product_sum(X, y), end, drop, 1000)
        assert fast.entered == plain.entered
        np.testing.assert_allclose(fast.lam, plain.lam, rtol=1e-8)
        np.testing.assert_allclose(fast.W, plain.W, atol=1e-8 * np.abs(plain.W).max())
        assert fast.lam[-1] == 2 * end
        cut = _swept_homotopy(X, y, end, drop, 7)
        assert not cut.complete
        np.testing.assert_array_equal(cut.lam, fast.lam[:7])
        seen += sum(j is not None and j < 0 for j in fast.entered)
    assert seen > 10 if drop else seen == 0


def test_the_fast_path_keeps_its_digits_where_nearly_all_rows_are_explained():
    rng = np.random.default_rng(43)
    X = rng.standard_normal((30, 90))
    for j in range(1, 90):
        X[:, j] = 0.97 * X[:, j - 1] + 0.2 * X[:, j]
    X, y, _, _ = centre(X, rng.standard_normal(30))
    path = lars_path(X, y)
    lams = path.lam[0] * np.geomspace(1, 1e-5, 60)
    assert max(lasso_gap(w, X, y, lam) for w, lam in zip(path_at(path, lams), lams)) < 1e-12 * (
        y @ y
    )
    assert np.abs(y - X @ path.W[-1]).max() < 1e-9


def test_a_path_is_read_off_at_many_penalties_as_at_each():
    X, y = sample(30, 6, 44)
    path = lars_path(X, y)
    lams = np.r_[path.lam, 0.3 * path.lam[:-1] + 0.7 * path.lam[1:], 2 * path.lam[0], 0.0]
    by_interp = [np.interp(lams, path.lam[::-1], w[::-1]) for w in path.W.T]
    np.testing.assert_allclose(path_at(path, lams).T, by_interp, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(path_at(path, path.lam), path.W)
    empty = lars_path(np.zeros((3, 2)), np.ones(3))  # a path of one point
    np.testing.assert_array_equal(path_at(empty, [0.0, 1.0]), np.zeros((2, 2)))


@pytest.mark.parametrize("shape", [(5, 20, 3), (4, 3, 8), (3, 6, 6), (2, 1, 1)])
@pytest.mark.parametrize("lam", [1e-30, 1e-3, 1.0, 1e9])
def test_many_ridge_fits_are_each_the_one_of_the_printed_function(shape, lam):
    rng = np.random.default_rng(45)
    X, Y = rng.standard_normal(shape), rng.standard_normal(shape[:2])
    X[0] *= 1e3
    W = ridge_many(X, Y, lam)
    for r, w in enumerate(W):
        exact = ridge_svd(X[r], Y[r], lam)
        np.testing.assert_allclose(w, exact, rtol=1e-8, atol=1e-9 * np.abs(exact).max())
        if r > 0 and lam > 1e-20:  # where squaring costs the printed function few digits
            v = ridge(X[r], Y[r], lam)
            np.testing.assert_allclose(w, v, rtol=1e-8, atol=1e-9 * np.abs(v).max())


def test_many_ridge_fits_of_dependent_constant_and_repeated_columns():
    rng = np.random.default_rng(46)
    X = rng.standard_normal((6, 15, 4))
    X[0, :, 3] = X[0, :, 0]
    X[1, :, 2] = 0.0
    X[2, :, 1] = 5.0
    X[3, :, 3] = X[3, :, 0] + 1e-9 * X[3, :, 3]
    X[4] = 0.0
    X[5] *= 1e100
    Y = rng.standard_normal((6, 15))
    W = ridge_many(X, Y, 0.1)
    assert np.isfinite(W).all()
    for r in range(6):
        v = ridge_svd(X[r], Y[r], 0.1)
        np.testing.assert_allclose(W[r], v, rtol=1e-9, atol=1e-12 * np.abs(v).max())


def test_many_ridge_fits_name_what_is_wrong():
    X, Y = np.ones((2, 3, 1)), np.ones((2, 3))
    with pytest.raises(ValueError, match=r"X must have shape \(R, n, d\)"):
        ridge_many(X[0], Y, 1.0)
    with pytest.raises(ValueError, match=r"Y must have shape \(2, 3\)"):
        ridge_many(X, Y.T, 1.0)
    with pytest.raises(ValueError, match="lam must be"):
        ridge_many(X, Y, 0.0)
    with pytest.raises(ValueError, match="X contains NaN"):
        ridge_many(np.full((2, 3, 1), np.nan), Y, 1.0)


@pytest.mark.parametrize("shape", [(5, 400, 300), (5, 300, 400)])
def test_many_large_samples_are_solved_in_parts(shape):
    rng = np.random.default_rng(47)
    X, Y = rng.standard_normal(shape), rng.standard_normal(shape[:2])
    X[3] *= 1e4  # squaring this one would lose digits
    for x, y, w in zip(X, Y, ridge_many(X, Y, 2.0)):
        np.testing.assert_allclose(w, ridge_svd(x, y, 2.0), rtol=1e-8, atol=1e-9 * np.abs(w).max())


def test_compiled_and_plain_descent_are_the_same():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((30, 8)), rng.standard_normal(30)
    fast = lasso(X, y, 3.0)
    with uncompiled():
        plain = lasso(X, y, 3.0)
    assert np.array_equal(fast.w, plain.w)
    assert fast.n_iter == plain.n_iter


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_targets_or_penalties_near_the_ends_of_float64_raise_no_foreign_error():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 3))
    y = X[:, 0] + rng.standard_normal(9)
    w = Lasso(1.0).fit(X, y).coef_
    for unit in (1e-100, 1e100):
        model = Lasso(unit).fit(X, y * unit)
        assert model.converged_
        assert np.allclose(model.coef_ / unit, w)
    assert not Lasso(1e300).fit(X * 1e-8, y).coef_.any()


def test_a_descent_tells_every_pass_and_ends_by_its_tolerance():
    X, y = problem_for_passes()
    run = lasso(X, y, 3.0)
    assert len(run.objective) == run.n_iter + 1
    w = np.zeros(X.shape[1])
    for value in run.objective[:6]:
        assert value == pytest.approx(lasso_objective(w, X, y, 3.0))
        w = lasso_pass(w, X, y, 3.0)
    by_tolerance = {tol: lasso(X, y, 3.0, tol=tol).n_iter for tol in (1e-11, 1e-12, 1e-13)}
    assert by_tolerance[1e-11] < run.n_iter == by_tolerance[1e-12] < by_tolerance[1e-13]
    assert run.converged
    early = lasso(X, y, 3.0, tol=0.1)
    assert early.gap == pytest.approx(lasso_gap(early.w, X, y, 3.0))
    assert early.gap > 0
    start = lasso(X, y, 3.0, w0=run.w)
    assert start.n_iter == 1
    with pytest.warns(UserWarning, match="all 2 passes"):
        short = lasso(X, y, 3.0, max_iter=2)
    assert (short.n_iter, short.converged) == (2, False)


def problem_for_passes():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((30, 6)) + 2 * rng.standard_normal((30, 1))  # correlated: many passes
    return X, X @ [3.0, -2.0, 0.0, 0.0, 1.0, 0.0] + rng.standard_normal(30)


def lasso_pass(w, X, y, lam):
    """Minimise along each coordinate once, by the parabola of the definition."""
    w = w.copy()
    for j, x in enumerate(X.T):
        r = y - X @ w + x * w[j]
        w[j] = soft_threshold(x @ r / (x @ x), lam / 2 / (x @ x))
    return w


@pytest.mark.parametrize("intercept", [True, False])
def test_estimators_fit_the_sample_that_was_asked_for(intercept):
    X, y = problem_for_passes()
    X, y = X + 1.0, y + 4.0
    Z, t = (X - X.mean(axis=0), y - y.mean()) if intercept else (X, y)
    chunks = [(X[i::3], y[i::3]) for i in range(3)]
    for model in (Ridge(2.0, intercept).fit(X, y), Ridge(2.0, intercept).fit_chunks(chunks)):
        assert model.coef_ == pytest.approx(np.linalg.solve(Z.T @ Z + 2.0 * np.eye(6), Z.T @ t))
        offset = (y - X @ model.coef_).mean() if intercept else 0.0
        assert model.intercept_ == pytest.approx(offset)
    model = Lasso(3.0, intercept).fit(X, y)
    assert lasso_kkt(model.coef_, Z, t, 3.0) == pytest.approx(np.zeros(6), abs=1e-8)
    assert model.intercept_ == pytest.approx((y - X @ model.coef_).mean() if intercept else 0.0)
    assert model.n_iter_ == len(lars_path(Z, t, lam_min=3.0).lam)
    assert model.converged_
    high = 1.8 * np.abs(Z.T @ t).max()  # nine tenths of where all weights become 0
    loose = Lasso(high, intercept, tol=0.9).fit(X, y)
    assert not loose.coef_.any()
    assert loose.gap_ == pytest.approx(lasso_gap(np.zeros(6), Z, t, high))
    assert loose.gap_ > 0
    assert Lasso(high, intercept).fit(X, y).coef_.any()


def test_a_path_ends_where_it_is_asked_to():
    X, y = problem_for_passes()
    whole = lars_path(X, y)
    assert (whole.lam[-1], whole.complete) == (0.0, True)
    assert whole.W[-1] == pytest.approx(svd_solve(X, y))
    with pytest.warns(UserWarning, match="all 3 kinks"):
        short = lars_path(X, y, max_kinks=3)
    assert not short.complete
    assert np.allclose(short.lam, whole.lam[: len(short.lam)])
    for lam, w, event in zip(whole.lam, whole.W, whole.entered):
        assert lasso_kkt(w, X, y, lam) == pytest.approx(np.zeros(6), abs=1e-7)
        if event is not None:
            assert w[event if event >= 0 else ~event] == pytest.approx(0.0, abs=1e-9)
