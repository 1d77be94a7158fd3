"""The support vector module: each public function, its errors, edge cases and wrong variants."""

import itertools
import pickle
import warnings
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from uncompiled import uncompiled

from mllib.decision_theory import hinge
from mllib.kernels import linear_kernel, polynomial_kernel, rbf_kernel
from mllib.support_vector_machines import (
    SVC,
    HardMarginSVM,
    LinearSVC,
    _KernelRows,
    _solve,
    binary_problems,
    distance_to_plane,
    dual_objective,
    duality_gap,
    geometric_margin,
    hinge_objective,
    kkt_residuals,
    linear_svm,
    margin,
    offset_bracket,
    primal_objective,
    recover_offset,
    smo,
    support_vectors,
    votes,
)

CORNERS = np.array(list(itertools.product([-1.0, 1.0], repeat=2)))
XOR = np.array([-1.0, 1.0, 1.0, -1.0])


def overlapping(seed, n=40, d=2, gap=0.8):
    """Two Gaussian clouds that overlap, labels alternating so that both are present."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.standard_normal((n, d)) + gap * y[:, None], y


def separable(seed, n=30, d=2):
    """Points on both sides of a random hyperplane, at least 0.3 away from it."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((4 * n, d)), rng.standard_normal(d)
    w /= np.linalg.norm(w)
    s = X @ w
    X, s = X[np.abs(s) > 0.3][:n], s[np.abs(s) > 0.3][:n]
    X = np.vstack([X, w, -w])
    return X + 3.0, np.sign(np.append(s, [1.0, -1.0]))


def qp(K, y, C):
    """The dual optimum by scipy's SLSQP: an independent solver for small problems."""
    Q = K * np.outer(y, y)
    answer = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.zeros(len(y)),
        jac=lambda a: Q @ a - 1,
        bounds=[(0, C)] * len(y),
        constraints={"type": "eq", "fun": lambda a: a @ y, "jac": lambda a: y},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    return answer.x, -answer.fun


def widest_slab(X, y):
    """The largest geometric margin in the plane: try every normal that an optimum can have.

    The widest slab touches one point of each class, or two of one and one of the other: its normal
    joins a +1 to a -1, or is perpendicular to a line through two points of one class.
    """
    P, M = X[y > 0], X[y < 0]
    normals = [p - m for p in P for m in M]
    for S in (P, M):
        normals += [np.array([-(q - p)[1], (q - p)[0]]) for p in S for q in S if (p != q).any()]
    V = np.array(normals) / np.linalg.norm(normals, axis=1)[:, None]
    V = np.vstack([V, -V])
    return np.max((P @ V.T).min(axis=0) - (M @ V.T).max(axis=0)) / 2


# Geometry ------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 5])
def test_distance_is_that_of_the_least_squares_projection(d):
    rng = np.random.default_rng(d)
    X, w, b = rng.standard_normal((20, d)), rng.standard_normal(d), 0.7
    shift = np.linalg.lstsq(w[None, :], -(X @ w + b)[None, :], rcond=None)[0].T
    np.testing.assert_allclose(distance_to_plane(X, w, b), np.linalg.norm(shift, axis=1))


def test_margins_scale_as_they_should_and_turn_negative():
    X, y = separable(0)
    model = HardMarginSVM().fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    one, five = margin(w, b, X, y), margin(5 * w, 5 * b, X, y)
    assert five.functional == pytest.approx(5 * one.functional)
    assert five.geometric == pytest.approx(one.geometric)
    assert one.geometric == pytest.approx(distance_to_plane(X, w, b).min())
    assert geometric_margin(w, b, X, y) == one.geometric
    flipped = np.where(np.arange(len(y)) == 3, -y, y)
    assert geometric_margin(w, b, X, flipped) == pytest.approx(-distance_to_plane(X, w, b)[3])


def test_a_zero_normal_is_refused():
    with pytest.raises(ValueError, match="w must not be zero"):
        distance_to_plane([[1.0]], [0.0], 1.0)
    with pytest.raises(ValueError, match="w must not be zero"):
        margin([0.0], 1.0, [[1.0]], [1])


# Objectives and certificates -----------------------------------------------------------------


def test_hinge_is_zero_from_one_on_and_has_slope_minus_one_below():
    np.testing.assert_array_equal(hinge([[2.0, 1.0], [0.25, -1.0]]), [[0, 0], [0.75, 2]])


@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_primal_in_kernel_form_is_the_hinge_objective(C):
    X, y = overlapping(1)
    rng = np.random.default_rng(2)
    alpha, b = C * rng.random(len(y)), 0.3
    w = (alpha * y) @ X
    value = primal_objective(alpha, b, X @ X.T, y, C)
    assert value == pytest.approx(hinge_objective(w, b, X, y, C), rel=1e-12)


def test_the_gap_is_the_sum_of_the_complementarity_products_and_never_negative():
    rng = np.random.default_rng(0)
    for seed in range(50):
        X, y = overlapping(seed, n=12)
        K, C = rbf_kernel(X, X), 2.0
        alpha = C * rng.random(12)
        plus, minus = alpha[y > 0].sum(), alpha[y < 0].sum()
        alpha[y > 0] *= min(plus, minus) / plus
        alpha[y < 0] *= min(plus, minus) / minus
        b = rng.standard_normal()
        m = y * (K @ (alpha * y) + b)
        xi = np.maximum(0, 1 - m)
        products = alpha @ (m - 1 + xi) + (C - alpha) @ xi
        gap = duality_gap(alpha, b, K, y, C)
        assert gap == pytest.approx(products, abs=1e-10)
        assert gap >= 0


def test_residuals_see_each_condition():
    K, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), [-1, 1]
    assert max(kkt_residuals([0.5, 0.5], 0.0, K, y, 1.0)) == 0
    assert kkt_residuals([0.5, 0.6], 0.0, K, y, 1.0).balance == pytest.approx(0.1)
    assert kkt_residuals([0.5, 1.5], 0.0, K, y, 1.0).box == pytest.approx(0.5)
    assert kkt_residuals([1.0, 1.0], 0.0, K, y, 1.0).margin == pytest.approx(1.0)
    assert kkt_residuals([0.25, 0.25], 0.0, K, y, 1.0).slack == pytest.approx(0.375)
    assert kkt_residuals([0.25, 0.25], 0.0, K, y, np.inf).primal == pytest.approx(0.5)
    assert max(kkt_residuals([0.5, 0.5], 0.0, K, y, np.inf)) == 0


def test_hard_margin_primal_is_that_of_the_scaled_separator():
    K, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), [-1, 1]
    assert primal_objective([0.4, 0.4], 0.0, K, y, np.inf) == pytest.approx(0.5)
    assert primal_objective([0.5, 0.5], 2.0, K, y, np.inf) == np.inf


# smo -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
def test_smo_reaches_the_optimum_of_an_independent_solver(seed, C):
    X, y = overlapping(seed, n=24)
    for K in (linear_kernel(X, X), rbf_kernel(X, X, 0.8)):
        run = smo(K, y, C, tol=1e-8)
        value = qp(K, y, C)[1]
        assert run.converged
        assert run.dual == pytest.approx(value, rel=1e-6)
        assert run.gap <= 1e-6 * run.primal
        assert max(kkt_residuals(run.alpha, run.b, K, y, C)) < 1e-6 * max(1, C)


def test_smo_record_is_consistent_with_the_public_functions():
    X, y = overlapping(3)
    K = rbf_kernel(X, X)
    run = smo(K, y, 2.0)
    np.testing.assert_allclose(run.f, K @ (run.alpha * y) + run.b, atol=1e-12)
    assert run.primal == pytest.approx(primal_objective(run.alpha, run.b, K, y, 2.0))
    assert run.dual == pytest.approx(dual_objective(run.alpha, K, y))
    assert run.gap == pytest.approx(duality_gap(run.alpha, run.b, K, y, 2.0), abs=1e-10)
    assert run.trace[-1] == pytest.approx(run.dual)
    assert run.b == pytest.approx(recover_offset(run.alpha, K, y, 2.0), abs=1e-9)
    assert (np.diff(run.trace) > 0).all()
    assert len(run.trace) == run.n_iter + 1


def test_smo_stops_at_max_iter_and_says_so():
    X, y = overlapping(0)
    run = smo(X @ X.T, y, 1.0, max_iter=3)
    assert (run.n_iter, run.converged) == (3, False)
    assert run.gap > 0
    assert run.violation > 1e-6


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [0.3, 5.0, 200.0])
def test_rows_on_demand_lead_along_the_same_path(monkeypatch, kernel, C):
    X, y = overlapping(5, n=100, gap=0.5)
    kernel = partial(rbf_kernel, ell=0.7) if kernel == "rbf" else linear_kernel
    whole = _solve(_KernelRows(X, kernel), y, C, 1e-6, 10**6)
    monkeypatch.setattr(_KernelRows, "WHOLE", 0)
    rows = _KernelRows(X, kernel)
    run = _solve(rows, y, C, 1e-6, 10**6)
    assert 0 < rows.fetched < 10 * len(X)
    assert run.converged
    assert run.dual == pytest.approx(whole.dual, rel=1e-7)
    np.testing.assert_allclose(run.f, whole.f, atol=2e-5)
    assert run.alpha @ y == pytest.approx(0, abs=1e-8 * C)
    assert run.alpha.min() >= 0
    assert run.alpha.max() <= C


def test_the_table_of_rows_stays_within_its_bound_and_changes_nothing(monkeypatch):
    X, y = overlapping(6, n=200)
    monkeypatch.setattr(_KernelRows, "WHOLE", 0)
    roomy = SVC(C=5.0, tol=1e-6).fit(X, y)
    for size in (2, 3, 50):
        monkeypatch.setattr(_KernelRows, "TABLE", 8 * 200 * size)
        rows = _KernelRows(X, partial(rbf_kernel, ell=roomy.ell_))
        run = _solve(rows, y, 5.0, 1e-6, 10**6)
        assert rows.table.shape == (size, 200)
        assert np.count_nonzero(rows.slot >= 0) == size
        assert run.dual == pytest.approx(roomy.dual_[0], rel=1e-12)


def test_compiled_and_plain_steps_are_the_same():
    X, y = overlapping(2, n=40)
    K = rbf_kernel(X, X)
    fast = smo(K, y, 3.0)
    with uncompiled():
        plain = smo(K, y, 3.0)
    assert fast.n_iter == plain.n_iter
    np.testing.assert_allclose(fast.alpha, plain.alpha, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(fast.trace, plain.trace, rtol=1e-12)


def test_each_step_is_the_exchange_of_largest_gain():
    X, y = overlapping(7, n=60)
    for K, C in ((rbf_kernel(X, X), 1.0), (polynomial_kernel(X, X, 2), 0.05)):
        beta, F = np.zeros(60), y.copy()  # beta = alpha y
        for k in range(1, 21):
            top, bottom = np.where(y > 0, C, 0), np.where(y > 0, 0, -C)
            i = np.argmax(np.where(beta < top, F, -np.inf))
            curve = K[i, i] + np.diag(K) - 2 * K[i]
            curve[i] = 1.0  # i is no partner for itself
            j = np.argmax(np.where((beta > bottom) & (F[i] > F), (F[i] - F) ** 2 / curve, 0))
            t = min((F[i] - F[j]) / curve[j], top[i] - beta[i], beta[j] - bottom[j])
            beta[i], beta[j], F = beta[i] + t, beta[j] - t, F - t * (K[i] - K[j])
            beta = np.where(np.abs(beta - top) < 1e-14, top, beta)
            beta = np.where(np.abs(beta - bottom) < 1e-14, bottom, beta)
            run = smo(K, y, C, max_iter=k)
            np.testing.assert_allclose(run.alpha, beta * y, rtol=1e-9, atol=1e-12)
            assert run.trace[k] == pytest.approx(beta @ y - 0.5 * beta @ K @ beta)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_smo_does_not_depend_on_the_scale_of_the_inputs(scale):
    X, y = overlapping(7)
    plain, scaled = smo(X @ X.T, y, 1.0), smo((scale * X) @ (scale * X).T, y, 1.0 / scale**2)
    np.testing.assert_allclose(scaled.f, plain.f, atol=1e-4)
    assert scaled.converged


def test_smo_with_duplicates_of_both_labels_and_with_constant_inputs():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    run = smo(X @ X.T, [1, -1, 1, -1], 1.0)
    assert run.converged
    assert run.gap < 1e-9
    flat = smo(np.zeros((3, 3)), [1, 1, -1], 2.0)
    assert flat.primal == pytest.approx(4.0)
    assert flat.gap == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("K", "y", "C", "message"),
    [
        (np.eye(3), [1, -1], 1.0, "shape \\(2, 2\\)"),
        ([[1.0, 0.5], [0.0, 1.0]], [1, -1], 1.0, "symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], [1, -1], 1.0, "smallest eigenvalue is -1"),
        ([[1.0, np.nan], [np.nan, 1.0]], [1, -1], 1.0, "NaN"),
        (np.eye(2), [1, 1], 1.0, "both -1 and \\+1"),
        (np.eye(2), [0, 1], 1.0, "only -1 and \\+1"),
        (np.eye(2), [-1, 1], 0.0, "C must be"),
        (np.eye(2), [-1, 1], -1.0, "C must be"),
        (np.eye(2), [-1, 1], np.nan, "C must be"),
        (np.ones((2, 2)), [-1, 1], np.inf, "not separable"),
        (np.zeros((2, 2)), [-1, 1], np.inf, "not separable"),
    ],
)
def test_smo_refuses_what_it_cannot_solve(K, y, C, message):
    with pytest.raises(ValueError, match=message):
        smo(K, y, C)


def test_a_wrong_sign_in_the_step_is_caught_by_the_certificates():
    """The checks are alive: swap the pair's directions once and gap and residuals say so."""
    X, y = overlapping(8)
    K = X @ X.T
    run = smo(K, y, 1.0)
    i, j = np.flatnonzero((run.alpha > 0.05) & (run.alpha < 0.95))[:2]
    wrong = run.alpha.copy()
    wrong[i] += 0.04 * y[i]
    wrong[j] += 0.04 * y[j]
    assert kkt_residuals(wrong, run.b, K, y, 1.0).balance == pytest.approx(0.08)
    wrong = run.alpha.copy()
    wrong[i] += 0.04 * y[i]
    wrong[j] -= 0.04 * y[j]
    assert duality_gap(wrong, recover_offset(wrong, K, y, 1.0), K, y, 1.0) > 1e-4 * run.primal


# Offset and kinds ----------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
def test_the_offset_minimises_the_primal_for_the_fixed_weights(C):
    X, y = overlapping(9, n=30)
    K = X @ X.T
    run = smo(K, y, C, tol=1e-9)
    g = K @ (run.alpha * y)
    grid = np.concatenate([y - g, [run.b]])  # the objective in b is piecewise linear
    values = [C * np.maximum(0, 1 - y * (g + b)).sum() for b in grid]
    assert values[-1] <= min(values) + 1e-6 * C


def test_without_free_vectors_the_offset_is_the_middle_of_the_bracket():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    run = smo(X @ X.T, y, 0.05)
    assert set(run.alpha) == {0.05}
    low, high = offset_bracket(run.alpha, X @ X.T, y, 0.05)
    assert low < high
    assert run.b == pytest.approx((low + high) / 2)
    w = (run.alpha * y) @ X
    inside = [hinge_objective(w, b, X, y, 0.05) for b in np.linspace(low, high, 9)]
    outside = [hinge_objective(w, b, X, y, 0.05) for b in (low - 0.01, high + 0.01)]
    assert np.ptp(inside) < 1e-12
    assert min(outside) > inside[0]


def test_an_offset_that_is_not_unique_is_the_same_for_weights_and_copies():
    rng = np.random.default_rng(24)
    n, d = rng.integers(6, 40), rng.integers(1, 4)
    X, y, w = rng.standard_normal((n, d)), rng.integers(0, 3, n), rng.integers(1, 4, n)
    model = SVC(C=10.0, kernel="linear", tol=1e-10)
    weighted = model.fit(X, y, sample_weight=w).decision_function(X)
    copies = model.fit(np.repeat(X, w, axis=0), np.repeat(y, w)).decision_function(X)
    np.testing.assert_allclose(weighted, copies, atol=1e-7)


@pytest.mark.parametrize("C", [1e3, 1e9, 1e12])
def test_a_price_far_above_the_multipliers_leaves_support_vectors_and_offset(C):
    K, y = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.5, 4.0]]), np.array([-1, 1, 1])
    run, hard = smo(K, y, C), smo(K, y, np.inf)
    np.testing.assert_allclose(run.b, hard.b, atol=1e-9)
    assert recover_offset(run.alpha, K, y, C) == pytest.approx(run.b)
    assert len(support_vectors(run.alpha, run.f, y, C).on_margin) == np.count_nonzero(run.alpha)


def test_the_bracket_is_crossed_where_alpha_is_not_optimal():
    X, y = overlapping(0)
    low, high = offset_bracket(np.zeros(len(y)), X @ X.T, y, 1.0)
    assert (low, high) == (1.0, -1.0)


def test_kinds_partition_the_support_vectors():
    X, y = overlapping(10, n=60)
    run = smo(X @ X.T, y, 1.0, tol=1e-9)
    kinds = support_vectors(run.alpha, run.f, y, 1.0)
    together = np.sort(np.concatenate(kinds))
    np.testing.assert_array_equal(together, np.flatnonzero(run.alpha > 0))
    m = y * run.f
    np.testing.assert_allclose(m[kinds.on_margin], 1, atol=1e-6)
    assert ((m[kinds.inside] > 0) & (m[kinds.inside] < 1)).all()
    assert (m[kinds.misclassified] <= 0).all()
    assert len(kinds.inside) > 0
    assert len(kinds.misclassified) > 0


# linear_svm ----------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_linear_primal_agrees_with_the_dual(C):
    X, y = overlapping(11, n=80, d=3)
    primal, dual = linear_svm(X, y, C, tol=1e-9), smo(X @ X.T, y, C, tol=1e-9)
    assert primal.converged
    assert primal.primal == pytest.approx(dual.primal, rel=1e-7)
    np.testing.assert_allclose(primal.w, (dual.alpha * y) @ X, atol=1e-4)
    assert primal.gap >= -1e-9 * primal.primal


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_squared_hinge_against_a_general_optimiser(fit_intercept):
    X, y = overlapping(12, n=50, d=4)
    run = linear_svm(X, y, 0.7, loss="squared_hinge", fit_intercept=fit_intercept)

    def objective(u):
        f = X @ u[1:] + (u[0] if fit_intercept else 0.0)
        return 0.5 * u[1:] @ u[1:] + 0.7 * (np.maximum(0, 1 - y * f) ** 2).sum()

    best = minimize(objective, np.zeros(5), method="BFGS", options={"gtol": 1e-9})
    assert run.primal == pytest.approx(best.fun, rel=1e-8)
    assert run.primal == pytest.approx(objective(np.append(run.b, run.w)), rel=1e-12)
    assert abs(run.gap) < 1e-8 * run.primal


def test_the_linear_primal_with_more_features_than_examples():
    X, y = overlapping(13, n=10, d=60)
    run, dual = linear_svm(X, y, 1.0, tol=1e-9), smo(X @ X.T, y, 1.0, tol=1e-9)
    np.testing.assert_allclose(run.w, (dual.alpha * y) @ X, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_linear_primal_does_not_depend_on_the_scale_of_the_inputs(scale, loss):
    X, y = overlapping(14)
    plain = linear_svm(X, y, 1.0, loss=loss)
    scaled = linear_svm(scale * X, y, 1.0 / scale**2, loss=loss)
    np.testing.assert_allclose(scaled.w * scale, plain.w, atol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_linear_primal_where_only_the_offset_matters(loss):
    run = linear_svm(np.zeros((3, 1)), [-1, 1, -1], 0.01, loss=loss, tol=1e-8)
    values = {"hinge": (0.02, -1.0), "squared_hinge": (0.08 / 3, -1 / 3)}[loss]
    assert run.converged
    assert (run.primal, run.b) == pytest.approx(values, rel=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_whole_weight_of_a_linear_machine_counts_a_row_that_often(loss):
    rng = np.random.default_rng(23)
    X, s = rng.standard_normal((40, 2)), rng.integers(1, 5, 40)
    y = np.where(X[:, 0] + rng.standard_normal(40) > 0, 1, -1)
    weighted = LinearSVC(loss=loss, tol=1e-9).fit(X, y, s)
    copied = LinearSVC(loss=loss, tol=1e-9).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-6)
    np.testing.assert_allclose(weighted.intercept_, copied.intercept_, rtol=1e-6)


def test_linear_svm_with_one_class_wrong_shapes_or_bad_loss():
    with pytest.raises(ValueError, match="both -1 and \\+1"):
        linear_svm([[1.0], [2.0]], [1, 1])
    with pytest.raises(ValueError, match="must have 2 entries"):
        linear_svm([[1.0], [2.0]], [1, -1, 1])
    with pytest.raises(ValueError, match="loss must be one of"):
        linear_svm([[1.0], [2.0]], [1, -1], loss="log")
    with pytest.raises(ValueError, match="C must be"):
        linear_svm([[1.0], [2.0]], [1, -1], C=0)


def test_linear_svc_warns_with_gap_and_tolerance():
    X, y = overlapping(15, n=100)
    with pytest.warns(UserWarning, match=r"relative gap .* \(tolerance 1e-08\)"):
        LinearSVC(loss="hinge", tol=1e-8, max_iter=2).fit(X, y)


# Hard margin ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_the_hard_margin_is_the_widest_slab(seed):
    X, y = separable(seed)
    model = HardMarginSVM().fit(X, y)
    assert model.margin_[0] == pytest.approx(widest_slab(X, y), rel=1e-5)
    assert 1 / np.linalg.norm(model.coef_[0]) == pytest.approx(model.margin_[0], rel=1e-5)
    assert 0 <= model.gap_[0] < 1e-5 * model.primal_[0]


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_hard_margin_scales_with_the_inputs(scale):
    X, y = separable(1)
    model = HardMarginSVM().fit(scale * X, y)
    assert model.margin_[0] == pytest.approx(scale * widest_slab(X, y), rel=1e-5)


def test_the_hard_margin_is_refused_where_there_is_none():
    with pytest.raises(ValueError, match="not separable by a hyperplane"):
        HardMarginSVM().fit(CORNERS, XOR)
    with pytest.raises(ValueError, match="not separable in the feature space"):
        HardMarginSVM(kernel="rbf").fit([[0.0], [0.0], [1.0]], [1, -1, 1])


def test_the_hard_margin_with_a_kernel_separates_xor():
    model = HardMarginSVM(kernel="polynomial", degree=2, ell=1.0).fit(CORNERS, XOR)
    np.testing.assert_array_equal(model.predict(CORNERS), XOR)
    np.testing.assert_allclose(np.abs(model.dual_coef_), 0.125, atol=1e-6)


# SVC -----------------------------------------------------------------------------------------


def test_svc_solves_rings_and_xor():
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 200), np.repeat([1.0, 3.0], 100)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    assert SVC().fit(X, radius).score(X, radius) == 1.0
    assert SVC(C=10).fit(CORNERS, XOR).score(CORNERS, XOR) == 1.0


def test_kernel_given_by_name_by_function_and_as_a_matrix_agree():
    X, y = overlapping(16)
    T = np.random.default_rng(1).standard_normal((7, 2))
    named = SVC(ell=0.9, tol=1e-8).fit(X, y)
    called = SVC(kernel=lambda A, B: rbf_kernel(A, B, 0.9), tol=1e-8).fit(X, y)
    given = SVC(kernel="precomputed", tol=1e-8).fit(rbf_kernel(X, X, 0.9), y)
    want = named.decision_function(T)
    np.testing.assert_allclose(called.decision_function(T), want, atol=1e-6)
    np.testing.assert_allclose(given.decision_function(rbf_kernel(T, X, 0.9)), want, atol=1e-6)
    assert given.__sklearn_tags__().input_tags.pairwise


def test_refitting_on_the_support_vectors_changes_nothing():
    X, y = overlapping(17, n=80)
    whole = SVC(kernel="linear", tol=1e-9).fit(X, y)
    again = SVC(kernel="linear", tol=1e-9).fit(X[whole.support_], y[whole.support_])
    assert len(whole.support_) < len(y)
    np.testing.assert_allclose(again.coef_, whole.coef_, atol=1e-7)
    np.testing.assert_allclose(again.intercept_, whole.intercept_, atol=1e-7)


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
def test_several_classes(scheme):
    rng = np.random.default_rng(3)
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0]])
    index = np.arange(120) % 4
    X, names = centres[index] + rng.standard_normal((120, 2)), np.array(list("wxyz"))[index]
    for model in (SVC(multi_class=scheme), LinearSVC(multi_class=scheme)):
        scores = model.fit(X, names).decision_function(X)
        assert scores.shape == (120, 4)
        assert model.score(X, names) > 0.9
        np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(X))
        assert len(model.gap_) == (6 if scheme == "ovo" else 4)
        assert model.converged_


def test_one_against_one_is_the_majority_of_the_duels():
    rng = np.random.default_rng(4)
    S = rng.standard_normal((200, 6))
    table = votes(S, 4)
    for s, row in zip(S, table):
        won = np.zeros(4)
        for (k, l), value in zip(itertools.combinations(range(4), 2), s):
            won[l if value > 0 else k] += 1
        assert won[row.argmax()] == won.max()
        assert np.abs(row - won).max() < 1 / 3


def test_binary_problems_cover_each_pair_with_the_later_class_positive():
    index = np.array([0, 1, 2, 1, 0])
    problems = binary_problems(index, 3, "ovo")
    assert [rows.tolist() for rows, _ in problems] == [[0, 1, 3, 4], [0, 2, 4], [1, 2, 3]]
    assert problems[2][1].tolist() == [-1, 1, -1]
    assert len(binary_problems(index[:2], 2, "ovr")) == 1


def test_svc_warns_with_violation_gap_and_tolerance():
    X, y = overlapping(18, n=60)
    with pytest.warns(UserWarning, match=r"violation .* \(tolerance 0.001\) and duality gap"):
        model = SVC(max_iter=2).fit(X, y)
    assert not model.converged_


def test_svc_is_silent_where_it_converges():
    X, y = overlapping(18, n=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SVC(C=1e4).fit(X, y).converged_


def test_a_refit_with_another_kernel_leaves_no_stale_weights():
    X, y = overlapping(19)
    model = SVC(kernel="linear").fit(X, y)
    model.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(model, "coef_")


def test_svc_pickles():
    X, y = overlapping(20)
    for kernel in ("rbf", "linear", "polynomial"):
        model = SVC(kernel=kernel).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_large_predictions_are_made_in_blocks():
    X, y = overlapping(21, n=200, gap=0.1)
    model = SVC().fit(X, y)
    T = np.random.default_rng(0).standard_normal((30_000, 2))
    want = rbf_kernel(T[-5:], model.support_vectors_, model.ell_) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(T)[-5:], want + model.intercept_[0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C must be"),
        ({"C": np.inf}, "C must be"),
        ({"C": "one"}, "C must be"),
        ({"kernel": "cosine"}, "kernel must be one of"),
        ({"ell": -1.0}, "ell must be"),
        ({"ell": "auto"}, "ell must be one of"),
        ({"kernel": "polynomial", "degree": 0}, "degree must be"),
        ({"kernel": "polynomial", "coef0": -1.0}, "coef0 must be"),
        ({"multi_class": "all"}, "multi_class must be one of"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"kernel": lambda A, B: np.ones(3)}, "must return finite numbers of shape"),
        ({"kernel": lambda A, B: -np.abs(A @ B.T)}, "positive semi-definite"),
    ],
)
def test_svc_refuses_bad_parameters_by_name(params, message):
    X, y = overlapping(0, n=10)
    with pytest.raises(ValueError, match=message):
        SVC(**params).fit(X, y)


X4, Y4 = np.array([[0.0, 1.0], [2.0, 1.0], [3.0, -1.0], [-1.0, -2.0]]), [1, 1, -1, -1]
K4 = X4 @ X4.T


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: distance_to_plane(X4, [1, 1], np.nan), "b must be a number"),
        (lambda: margin([1, 1], np.inf, X4, Y4), "b must be a number"),
        (lambda: hinge_objective([1, 1], "0", X4, Y4, 1.0), "b must be a number"),
        (lambda: duality_gap([0.1] * 4, np.nan, K4, Y4, 1.0), "b must be a number"),
        (lambda: kkt_residuals([0.1] * 4, np.nan, K4, Y4, 1.0), "b must be a number"),
        (lambda: offset_bracket([0.0] * 4, K4, [1] * 4, 1.0), r"both -1 and \+1"),
        (lambda: recover_offset([0.0] * 4, K4, [1] * 4, 1.0), r"both -1 and \+1"),
        (lambda: support_vectors([0.1] * 4, [1] * 4, Y4, 1.0, tol=-1), "tol must be"),
        (lambda: linear_kernel(X4, X4[:, :1]), "Y must have 2 columns like X, got 1"),
        (lambda: rbf_kernel(X4, X4, 0), "ell must be"),
        (lambda: rbf_kernel([[np.nan]], [[1.0]]), "Input X contains NaN"),
        (lambda: polynomial_kernel(X4, X4, r=1.5), "r must be an integer"),
        (lambda: polynomial_kernel(X4, X4, c=-1), "c must be"),
        (lambda: polynomial_kernel(X4, X4, ell=0), "ell must be"),
        (lambda: linear_svm(X4, Y4, 1e300), "C is too large for the scale of X"),
        (lambda: binary_problems([0, 1, 5], 3, "ovo"), "index must be a vector of classes 0 to 2"),
        (lambda: binary_problems([0, 0], 1, "ovo"), "K must be an integer"),
        (lambda: votes([[1.0, 2.0]], 3), "scores must have 3 columns"),
    ],
)
def test_bad_arguments_of_the_functions_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_svc_refuses_bad_data_by_name():
    X, y = overlapping(0, n=10)
    with pytest.raises(ValueError, match="at least 2 classes"):
        SVC().fit(X, np.ones(10))
    with pytest.raises(ValueError, match="contains NaN"):
        SVC().fit(np.vstack([[np.nan, 0.0], X[1:]]), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SVC().fit(X, y[:-1])
    with pytest.raises(ValueError, match="precomputed kernel, must be positive semi-definite"):
        SVC(kernel="precomputed").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match="must be square"):
        SVC(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="not fitted yet"):
        SVC().predict(X)
    with pytest.raises(ValueError, match="is expecting 2 features"):
        SVC().fit(X, y).predict(X[:, :1])


def test_a_hard_margin_that_does_not_exist_is_refused_and_a_run_that_ends_early_warns():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((100, 2)), np.where(rng.random(100) < 0.5, -1.0, 1.0)
    for K in (X @ X.T, (1 + X @ X.T) ** 2):
        with pytest.raises(ValueError, match="not separable in the feature space"):
            smo(K, y, np.inf)
    with pytest.warns(UserWarning, match="smo stopped after max_iter=100 steps with violation"):
        assert not smo(np.exp(X @ X.T), y, 1e4, max_iter=100).converged
    with warnings.catch_warnings():  # fewer steps than examples: cut short on purpose
        warnings.simplefilter("error")
        assert not smo(X @ X.T, y, 1.0, max_iter=5).converged
        K = np.exp(-((X[:, :1] - X[:, 0]) ** 2) * 1e4)  # separable, but not in one step
        assert smo(K, y, np.inf, max_iter=1).n_iter == 1


def test_far_from_the_origin_a_linear_machine_keeps_its_digits():
    rng = np.random.default_rng(3)
    y = np.arange(30) % 2
    X = np.round(rng.normal(size=(30, 3)) + y[:, None], 3)
    for offset in (0.0, 2.0**26):
        near = SVC(kernel="linear", tol=1e-8).fit(X, y)
        far = SVC(kernel="linear", tol=1e-8).fit(X + offset, y)
        np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-5)
        np.testing.assert_allclose(
            far.decision_function(X + offset), near.decision_function(X), atol=1e-5
        )
        apart = X + 10 * y[:, None]
        near, far = HardMarginSVM().fit(apart, y), HardMarginSVM().fit(apart + offset, y)
        np.testing.assert_allclose(far.margin_, near.margin_, rtol=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_weights_that_overflow_are_refused(loss):
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    with np.errstate(all="raise"), pytest.raises(ValueError, match="or sample_weight is"):
        LinearSVC(loss=loss).fit(X, y, [1.0, 1e300, 1.0])
    X, y = np.random.default_rng(1).normal(size=(30, 3)), np.arange(30) % 2
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        one = np.r_[1e100, np.ones(29)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LinearSVC(loss=loss, fit_intercept=False).fit(X, y, one)
    assert np.isfinite(model.coef_).all()


def test_an_exchange_run_tells_every_step_and_listens_to_every_option():
    X, y = overlapping(20)
    K = X @ X.T
    run, named = smo(K, y), smo(K, y, 1.0, tol=1e-6, max_iter=100_000)
    assert np.array_equal(run.trace, named.trace)
    for C in (1.0, 0.2):
        run = smo(K, y, C)
        w = (run.alpha * y) @ X
        assert run.f == pytest.approx(X @ w + run.b)
        xi = np.maximum(0, 1 - y * run.f)
        assert run.primal == pytest.approx(w @ w / 2 + C * xi.sum())
        assert run.dual == pytest.approx(run.alpha.sum() - w @ w / 2)
        assert run.gap == pytest.approx(run.primal - run.dual, abs=1e-12)
        low, high = offset_bracket(run.alpha, K, y, C)
        assert (len(run.trace), run.converged) == (run.n_iter + 1, True)
        assert run.trace[-1] == pytest.approx(run.dual)
        assert run.violation <= 1e-6
        assert run.b == pytest.approx(recover_offset(run.alpha, K, y, C))
        assert min(low, high) - 1e-6 <= run.b <= max(low, high) + 1e-6
    loose = [smo(K, y, tol=tol).n_iter for tol in (1e-2, 1e-5, 1e-6, 1e-7)]
    assert loose[0] < loose[1] < loose[2] < loose[3]
    early = smo(K, y, max_iter=7)
    assert (early.n_iter, early.converged, early.gap > 0.1) == (7, False, True)
    assert early.gap == pytest.approx(duality_gap(early.alpha, early.b, K, y, 1.0))
    F = y - K @ (early.alpha * y)
    up = (early.alpha < 1) & (y > 0) | (early.alpha > 0) & (y < 0)
    low = (early.alpha < 1) & (y < 0) | (early.alpha > 0) & (y > 0)
    assert early.violation == pytest.approx(F[up].max() - F[low].min())


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_linear_run_tells_its_end_and_listens_to_every_option(loss, fit_intercept):
    X, y = overlapping(21)
    s = np.arange(40) % 3 + 1.0
    asked = {"loss": loss, "fit_intercept": fit_intercept}
    for C, weights in ((1.0, None), (0.3, s)):
        run = linear_svm(X, y, C, sample_weight=weights, tol=1e-9, **asked)
        price = C * (np.ones(40) if weights is None else weights)
        xi = np.maximum(0, 1 - y * (X @ run.w + run.b))
        cost = price @ (xi**2 if loss == "squared_hinge" else xi)
        assert run.primal == pytest.approx(run.w @ run.w / 2 + cost)
        assert run.gap == pytest.approx(run.primal - run.dual, abs=1e-12)
        assert run.w == pytest.approx((run.alpha * y) @ X, abs=1e-3)
        dual = run.alpha.sum() - np.sum(((run.alpha * y) @ X) ** 2) / 2
        dual -= (run.alpha**2 / price).sum() / 4 * (loss == "squared_hinge")
        assert run.dual == pytest.approx(dual)
        assert (run.converged, len(run.trace)) == (True, run.n_iter)
        assert run.trace[-1] == pytest.approx(run.primal, rel=1e-4)
        if not fit_intercept:
            assert run.b == 0.0
    short = linear_svm(X, y, max_iter=1, tol=1e-12, **asked)
    assert (short.n_iter, short.converged) == (1, False)
    assert linear_svm(X, y, tol=0.5, **asked).n_iter <= linear_svm(X, y, tol=1e-9, **asked).n_iter


def test_a_millionth_below_the_margin_is_on_it():
    alpha, y = np.ones(3), np.array([1.0, 1.0, 1.0])
    f = 1 - np.array([0.8e-6, 1.2e-6, 1e-3])
    assert support_vectors(alpha, f, y, 1.0).on_margin.tolist() == [0]
    assert support_vectors(alpha, f, y, 1.0, tol=2e-6).on_margin.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"C": 0.2},
        {"kernel": "linear"},
        {"kernel": "polynomial", "degree": 2},
        {"kernel": "polynomial", "coef0": 0.3},
        {"ell": 0.5},
        {"tol": 1e-2},
        {"max_iter": 3},
        {"class_weight": {3: 1.0, 5: 4.0, 9: 0.5}},
    ],
    ids=str,
)
def test_svc_keeps_the_runs_of_the_machines_it_is_asked_for(scheme, given):
    rng = np.random.default_rng(22)
    X = rng.standard_normal((45, 2))
    index = np.digitize(X[:, 0] + 0.7 * rng.standard_normal(45), [-0.4, 0.4])
    labels = np.array([3, 5, 9])
    model = SVC(multi_class=scheme, **{"tol": 1e-8} | given).fit(X, labels[index])
    settings = SVC().get_params() | {"tol": 1e-8} | given
    near = {"abs": 1e-6 if settings["tol"] == 1e-8 else 0.03}
    width = settings["ell"] if settings["ell"] != "scale" else np.sqrt(2 * X.var() / 2)
    if "class_weight" in given:
        width = model.ell_  # counts rows by their weights
    elif settings["kernel"] != "linear":
        assert model.ell_ == pytest.approx(width)
    kernels = {
        "rbf": partial(rbf_kernel, ell=width),
        "linear": linear_kernel,
        "polynomial": partial(
            polynomial_kernel, r=settings["degree"], c=settings["coef0"], ell=width
        ),
    }
    k, factors = kernels[settings["kernel"]], settings["class_weight"] or {}
    C = settings["C"] * np.array([factors.get(label, 1.0) for label in labels])[index]
    rows = X - X.mean(axis=0) if settings["kernel"] == "linear" else X
    K = k(rows, rows)
    scores = []
    for m, (who, signs) in enumerate(binary_problems(index, 3, scheme)):
        Kernel = _KernelRows(K[np.ix_(who, who)])
        run = _solve(Kernel, signs, C[who], settings["tol"], settings["max_iter"])
        beta = np.zeros(45)
        beta[who] = run.alpha * signs
        found = np.zeros(45)
        found[model.support_] = model.dual_coef_[m]
        assert found == pytest.approx(beta, **near)
        for field in ("gap", "primal", "dual", "violation"):
            assert getattr(model, f"{field}_")[m] == pytest.approx(getattr(run, field), **near)
        assert model.n_iter_[m] == pytest.approx(run.n_iter, rel=0.3)
        scores.append(K @ beta + run.b)
        on, inside, wrong = model.kinds_[m]
        margins = signs * scores[-1][who]
        assert set(who[margins <= 0]) & set(who[run.alpha > 1e-9]) == set(wrong)
        assert {*on, *inside, *wrong} == set(who[run.alpha > 1e-9])
    S = np.column_stack(scores)
    assert model.decision_function(X) == pytest.approx(
        votes(S, 3) if scheme == "ovo" else S, **near
    )
    assert np.array_equal(model.support_vectors_, X[model.support_])
    assert model.classes_.tolist() == [3, 5, 9]
    assert model.converged_ == ("max_iter" not in given)
    if settings["kernel"] == "linear":
        assert X @ model.coef_.T + model.intercept_ == pytest.approx(S, **near)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"C": 0.2},
        {"loss": "hinge"},
        {"fit_intercept": False},
        {"tol": 0.5},
        {"max_iter": 1},
        {"class_weight": {0: 1.0, 1: 4.0, 2: 0.5}},
    ],
    ids=str,
)
def test_linear_svc_keeps_the_runs_of_the_machines_it_is_asked_for(scheme, given):
    rng = np.random.default_rng(23)
    X = rng.standard_normal((45, 2)) + 0.5
    index = np.digitize(X[:, 0] + 0.7 * rng.standard_normal(45), [0.1, 0.9])
    model = LinearSVC(multi_class=scheme, **given).fit(X, index)
    settings = LinearSVC().get_params() | given
    factors = settings.pop("class_weight") or {}
    weights = np.array([factors.get(k, 1.0) for k in index])
    C = settings.pop("C")
    settings.pop("multi_class")
    for m, (who, signs) in enumerate(binary_problems(index, 3, scheme)):
        run = linear_svm(X[who], signs, C, sample_weight=weights[who], **settings)
        assert model.coef_[m] == pytest.approx(run.w)
        assert model.intercept_[m] == pytest.approx(run.b)
        for field in ("gap", "primal", "dual", "n_iter"):
            assert getattr(model, f"{field}_")[m] == pytest.approx(getattr(run, field))
        if not run.converged:
            assert not model.converged_
    assert model.n_iter_.max() <= settings["max_iter"]


def test_the_hard_margin_listens_to_every_option():
    X, y = separable(24)
    for given in (
        {},
        {"kernel": "rbf", "ell": 2.0},
        {"kernel": "polynomial", "degree": 2},
        {"kernel": "polynomial", "coef0": 4.0},
        {"tol": 1e-2},
    ):
        model = HardMarginSVM(**given).fit(X, y)
        same = {name: model.get_params()[name] for name in ("kernel", "ell", "degree", "coef0")}
        soft = SVC(1e9, **same, tol=model.tol).fit(X, y)
        assert model.decision_function(X) == pytest.approx(soft.decision_function(X), abs=0.05)
        nearest = (y * model.decision_function(X)).min()
        assert nearest == pytest.approx(1.0, abs=0.02)
        assert model.margin_ == pytest.approx(1 / np.sqrt(2 * model.primal_))
        if not given:
            assert model.margin_[0] == pytest.approx(widest_slab(X, y))
    wide = HardMarginSVM(kernel="rbf", ell=2.0).fit(X, y)
    assert wide.ell_ == 2.0
    three = np.digitize(X[:, 0], [2.5, 3.5])
    apart = np.column_stack([3 * three, X[:, 1]])
    assert len(HardMarginSVM(multi_class="ovr", kernel="rbf").fit(apart, three).intercept_) == 3
    with pytest.raises(ValueError, match="by a hyperplane"):
        HardMarginSVM(multi_class="ovr").fit(apart, three)
    HardMarginSVM().fit(apart, three)


def test_each_pair_of_separable_classes_has_its_margin():
    X, y = np.array([[0.0, 0], [2, 0], [2, 8]]), np.arange(3)
    model = HardMarginSVM().fit(X, y)
    np.testing.assert_allclose(model.margin_, [1, np.sqrt(17), 4], rtol=1e-6)


def test_a_hard_margin_takes_what_it_is_given():
    homogeneous = HardMarginSVM("polynomial", ell=1.0, degree=2, coef0=0.0)
    with pytest.raises(ValueError, match="separable"):  # (x^T z)^2 does not tell x from -x
        homogeneous.fit([[1.0], [-1.0]], [0, 1])
    X, y = np.random.default_rng(2).normal(size=(30, 8)), np.arange(30) % 2
    X[:, 0] += 9 * y
    with pytest.warns(UserWarning, match="max_iter=31"):
        assert not HardMarginSVM(max_iter=31, tol=1e-12).fit(X, y).converged_
    loose, tight = (HardMarginSVM(tol=tol).fit(X, y) for tol in (1e-1, 1e-9))
    assert loose.gap_.max() > 100 * tight.gap_.max()


def test_kinds_of_support_vectors_are_listed_in_the_order_of_the_rows():
    m, y = np.array([0.5, -1, 0.2, -2, 1.0, 1.0]), np.ones(6)
    alpha = np.array([1, 1, 1, 1, 0.5, 0.5])
    kinds = support_vectors(alpha, m, y, 1.0)
    assert [k.tolist() for k in kinds] == [[4, 5], [0, 2], [1, 3]]


def test_a_known_kernel_may_vanish():
    x, y = np.array([[0.0], [1.0], [29.0], [30.0]]), [0, 1, 0, 1]
    K = rbf_kernel(x, x, 1.0)
    assert 0 < K.min() < 1e-150
    known = SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(known.dual_coef_, SVC(kernel="rbf", ell=1.0).fit(x, y).dual_coef_)
