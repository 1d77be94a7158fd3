"""The logistic regression module: behaviour, errors, oracles, published numbers, properties."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.metrics import roc_curve as their_roc
from uncompiled import uncompiled

import mllib.logistic_regression as module
from mllib.course.datasets import breast_cancer, digits, iris, spector
from mllib.decision_theory import Standardizer, add_intercept, one_hot
from mllib.linear_algebra import numeric_gradient, numeric_jacobian
from mllib.logistic_regression import (
    LogisticRegression,
    OneVsOne,
    OneVsRest,
    _is_separated,
    _step_proves_overlap,
    _two_loops,
    cross_entropy,
    fit_gd,
    fit_irls,
    fit_l1,
    fit_sgd,
    fit_softmax,
    gradient,
    hessian,
    kkt_residuals,
    logit,
    quadratic_l1,
    reliability,
    roc_area,
    roc_curve,
    separation,
    sigmoid,
    softmax,
    softmax_gradient,
    softmax_hessian,
    softmax_loss,
    working_response,
)


def noisy(seed, n=80, d=4):
    """Return inputs with an offset, and labels drawn from the model itself."""
    rng = np.random.default_rng(seed)
    A = add_intercept(rng.normal(size=(n, d - 1)))
    return A, (rng.random(n) < sigmoid(A @ np.linspace(1, -1, d))).astype(float)


def objective(model, X, y, lam):
    """Return E + lam ||w||^2 / 2 of a fitted model, from its own log-probabilities."""
    P = model.predict_log_proba(X)
    index = np.searchsorted(model.classes_, y)
    return -P[np.arange(len(y)), index].sum() + lam / 2 * np.sum(model.coef_**2)


# The model -----------------------------------------------------------------------------------


def test_sigmoid_and_logit_undo_each_other_and_do_not_overflow():
    z = np.array([-1000.0, -3.0, 0.0, 2.0, 1000.0])
    assert sigmoid(z)[[0, 2, 4]].tolist() == [0.0, 0.5, 1.0]
    assert np.allclose(logit(sigmoid(z[1:4])), z[1:4], rtol=1e-14)
    assert logit([0, 1]).tolist() == [-np.inf, np.inf]
    with pytest.raises(ValueError, match="between 0 and 1"):
        logit([1.5])


@pytest.mark.parametrize("seed", range(5))
def test_derivatives_are_central_differences(seed):
    A, y = noisy(seed)
    w, s = np.random.default_rng(seed).normal(size=(4, 1))[:, 0], np.linspace(0.5, 2, 80)
    slope = numeric_gradient(lambda v: cross_entropy(v, A, y, s), w)
    assert np.allclose(gradient(w, A, y, s), slope, atol=1e-5)
    assert np.allclose(
        hessian(w, A, s), numeric_jacobian(lambda v: gradient(v, A, y, s), w), atol=1e-5
    )
    assert not np.allclose(gradient(w, A, 1 - y, s), slope, atol=1e-2)


def test_cross_entropy_is_scikit_learns_log_loss():
    A, y = noisy(0)
    w = np.array([0.3, -1, 2, 0.5])
    assert np.isclose(cross_entropy(w, A, y), log_loss(y, sigmoid(A @ w), normalize=False))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: cross_entropy([0.0], [[1.0]], [-1]), "only 0 and 1"),
        (lambda: cross_entropy([0.0, 1.0], [[1.0]], [1]), "1 entries"),
        (lambda: cross_entropy([0.0], [[1.0]], [1], [-1.0]), "must not be negative"),
        (lambda: gradient([0.0], [[1.0]], [1], [0.0]), "not all of it zero"),
        (lambda: fit_irls([[1.0]], [1], lam=-1.0), "lam must be at least 0"),
        (lambda: fit_irls([[1.0]], [1], lam=[1.0, 2.0]), "lam must have 1 entries"),
        (lambda: fit_irls([[1.0]], [1], max_iter=0), "max_iter"),
        (lambda: fit_gd([[1.0]], [1], eta=0.0), "eta"),
        (lambda: fit_sgd([[1.0]], [1], eta=1.0, rng=0), "rng must be"),
        (lambda: fit_l1([[1.0]], [1], 0.0), "without a penalty use fit_irls"),
        (lambda: kkt_residuals([0.0], [[1.0]], [1], 1.0, penalty="l3"), "'l2', 'l1'"),
        (lambda: working_response([1e4], [[1.0]], [1]), "inside"),
        (lambda: softmax_loss([[0.0]], [[1.0]], [[2.0]]), "one_hot"),
        (lambda: roc_curve([1, 1], [0.1, 0.2]), "both classes"),
        (lambda: reliability([0, 1], [0.1, 1.2]), "between 0 and 1"),
        (lambda: reliability([0, 1], [0.1, 0.2], bins=0), "bins"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, match):
    with pytest.raises(ValueError, match=match):
        call()


# Separation ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_separation_agrees_with_all_candidates_in_the_plane(seed):
    rng = np.random.default_rng(seed)
    Z = rng.integers(-3, 4, (int(rng.integers(3, 7)), 2)).astype(float)
    Z = Z[np.abs(Z).any(axis=1)]
    if len(Z) == 0:
        return
    V = np.concatenate([Z, -Z, Z @ [[0, 1], [-1, 0]], Z @ [[0, -1], [1, 0]]])
    S = Z @ V.T
    V = V[(S >= 0).all(axis=0) & (S > 0).any(axis=0)]
    I = (Z @ V.T > 0).any(axis=1) if len(V) else np.zeros(len(Z), bool)
    found = separation(Z, np.ones(len(Z)))
    kind = "complete" if I.all() else "quasi-complete" if I.any() else "overlap"
    assert found.kind == kind
    assert (found.separated == I).all()
    assert (Z @ found.direction > -1e-9).all()


def test_separation_does_not_see_units():
    A, y = noisy(1)
    y = (A[:, 1] > 0.2).astype(float)
    assert separation(A * [1, 1e8, 1e-8, 1], y).kind == "complete"


@pytest.mark.parametrize("labels", list(itertools.product([0, 1], repeat=5)))
def test_separated_samples_are_noticed_in_every_labelling(labels):
    X, y = np.array([[1.0], [2], [2], [3], [4]]), np.array(labels)
    if len(set(labels)) == 1:
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LogisticRegression(penalty=None).fit(X, y)
    exists = separation(add_intercept(X), y).kind == "overlap"
    assert model.converged_ == exists
    assert len(caught) == (0 if exists else 1)
    assert exists or "hyperplane separates" in str(caught[0].message)


def test_weights_of_zero_are_no_sign_of_a_hyperplane():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(penalty=None).fit([[0.0], [1], [0], [1]], [0, 0, 1, 1])
    assert model.converged_
    assert abs(model.coef_[0, 0]) + abs(model.intercept_[0]) == 0


def test_separated_classes_are_noticed_with_three_classes_too():
    table = iris()
    with pytest.warns(ConvergenceWarning, match="separates"):
        LogisticRegression(penalty=None).fit(table.X, table.y)  # setosa can be split off
    index = np.array([0, 1, 2, 0, 1, 2])
    X = add_intercept(np.array([[0.0], [1], [2], [1], [2], [0]]))
    far, s = 20 * np.ones((2, 3)) * [0, 1, 2], np.ones(6)  # so that the linear programme decides
    assert not _is_separated(X, far, index, s)
    quasi = add_intercept(np.array([[0.0], [1], [2], [0], [1], [2]]))
    assert _is_separated(quasi, far, index, s)
    rng = np.random.default_rng(0)
    W = fit_softmax(X, one_hot(index)).W
    assert not _is_separated(X, W + rng.normal(size=(2, 1)), index, np.ones(6))


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("K", [2, 3])
def test_one_separated_row_is_noticed_among_thousands_that_overlap(solver, K):
    rng = np.random.default_rng(K)
    X, index = rng.normal(size=(3000, 3)), rng.integers(0, K, 3000)
    X[:, 2] = 0
    model = LogisticRegression(penalty=None, solver=solver)
    s = rng.integers(1, 4, 3000).astype(float)
    assert model.fit(X[:, :2], index, s).converged_
    W = np.vstack([model.intercept_, model.coef_.T])
    assert _step_proves_overlap(
        add_intercept(X[:, :2]), W if K > 2 else W @ [[0, 1]], one_hot(index), s
    )
    X[7, 2] = 1  # a feature of one row only: its weight may grow for ever
    with pytest.warns(ConvergenceWarning, match="separates"):
        assert not model.fit(X, index, s).converged_


def test_the_linear_programme_needs_no_square_of_the_rows():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(20000, 2)), rng.integers(0, 2, 20000)
    assert separation(X, y).kind == "overlap"


# Fitting two classes -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_each_newton_step_is_a_weighted_least_squares_fit(seed):
    A, y = noisy(seed)
    run = fit_irls(A, y, w0=[2.0, -2, 1, 1])
    for w, after, t in zip(run.path, run.path[1:], run.steps):
        z, v = working_response(w, A, y)
        u = np.linalg.lstsq(np.sqrt(v)[:, None] * A, np.sqrt(v) * z, rcond=None)[0]
        assert np.allclose(w + t * (u - w), after, atol=1e-8)
    assert run.converged
    assert np.abs(gradient(run.w, A, y)).max() < 1e-9
    assert len(run.trace) == len(run.path) == run.n_iter + 1
    assert (np.diff(run.trace) < 1e-12).all()


def test_newton_converges_exactly_where_a_minimiser_exists():
    kinds = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        A = add_intercept(rng.integers(-2, 3, (rng.integers(4, 16), 2)).astype(float))
        y = rng.integers(0, 2, len(A))
        kinds.append(separation(A, y).kind)
        exists = kinds[-1] == "overlap"
        assert fit_irls(A, y).converged == exists
        assert fit_softmax(A, one_hot(y, [0, 1])).converged == exists
        ends = [np.vstack([A, 1e9 * A[:1]]), np.append(y, y[0]), np.append(np.ones(len(A)), 0)]
        assert fit_irls(ends[0], ends[1], weights=ends[2]).converged == exists
    assert min(kinds.count(kind) for kind in ("overlap", "quasi-complete", "complete")) > 10


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [0, 1, 2, 2]])
def test_a_tiny_penalty_converges_by_the_estimators_tolerance(labels):
    X = [[-1.0], [0.0], [0.0], [1.0]]
    model = LogisticRegression(lam=1e-12).fit(X, labels)
    assert model.converged_


def test_gradient_descent_and_sgd_approach_newtons_solution():
    A, y = noisy(2)
    w = fit_irls(A, y).w
    run = fit_gd(A, y, eta=4 / np.linalg.norm(A, 2) ** 2, tol=1e-9, max_iter=10**5)
    assert run.converged
    assert np.allclose(run.w, w, atol=1e-8)
    assert np.isclose(run.gradient_norm, np.linalg.norm(gradient(run.w, A, y)), atol=1e-10)
    walk = fit_sgd(A, y, eta=lambda t: 6 / (60 + t), epochs=300, rng=np.random.default_rng(0))
    assert walk.n_iter == 300 * len(y)
    assert cross_entropy(walk.w, A, y) < 1.01 * cross_entropy(w, A, y)


def test_penalised_gradient_descent_ends_at_the_penalised_fit():
    A, y = noisy(3)
    lam = np.array([0, 1, 2, 3.0])
    eta = 1 / (np.linalg.norm(A, 2) ** 2 / 4 + 3)
    run = fit_gd(A, y, eta=eta, lam=lam, tol=1e-10, max_iter=10**5)
    assert np.allclose(run.w, fit_irls(A, y, lam=lam).w, atol=1e-9)


def test_the_compiled_loops_and_the_plain_ones_agree():
    A, y = noisy(4)
    fits = [lambda: fit_gd(A, y, eta=0.02, max_iter=50).w, lambda: fit_l1(A, y, 3.0).w]
    fast = [fit() for fit in fits]
    with uncompiled():
        slow = [fit() for fit in fits]
    for a, b in zip(fast, slow):
        assert np.allclose(a, b, rtol=1e-10, atol=1e-12)


def test_a_column_twice_shares_its_weight():
    A, y = noisy(5)
    twin = fit_irls(np.column_stack([A, A[:, 1]]), y)
    w = fit_irls(A, y).w
    assert twin.converged
    assert np.isclose(twin.w[1], twin.w[4])
    assert np.isclose(twin.w[1] + twin.w[4], w[1])


@pytest.mark.parametrize("seed", range(10))
def test_l1_fits_meet_their_conditions_and_a_wrong_support_does_not(seed):
    A, y = noisy(seed, d=8)
    lam = np.r_[0.0, np.linspace(0.5, 3, 7)]
    run = fit_l1(A, y, lam)
    g = A.T @ (sigmoid(A @ run.w) - y)
    assert run.converged
    on = run.w != 0
    assert np.abs(g + lam * np.sign(run.w))[on].max() < 1e-8
    assert (np.abs(g)[~on] <= lam[~on] + 1e-8).all()
    j = 1 + np.argmax(np.abs(run.w[1:]))
    wrong = run.w.copy()
    wrong[j] = 0
    residuals = kkt_residuals(wrong, A, y, lam, penalty="l1")
    g = A.T @ (sigmoid(A @ wrong) - y)
    assert np.isclose(residuals[j], max(abs(g[j]) - lam[j], 0))
    assert residuals.max() > 0.01
    assert (np.diff(run.trace) <= 1e-10).all()


def test_l1_gives_up_a_weight_on_a_column_of_zeros():
    X = np.array([[1.0, 0, 1], [1, 0, 2], [1, 0, 3], [1, 0, 1.5], [1, 7, 1]])
    y, lam, s = [0, 1, 0, 1, 1], [0, 1.0, 0.1], [1, 1, 1, 1, 0]
    far, near = (fit_l1(X, y, lam, weights=s, w0=[0, start, 0]) for start in (2.0, 0.0))
    assert far.converged
    assert far.w[1] == 0
    assert np.allclose(far.w, near.w)


def test_quadratic_l1_solves_one_weight_by_soft_thresholding():
    H = np.array([[2.0]])
    for g, expected in ((-5.0, 2.0), (0.5, 0.0), (5.0, -2.0)):
        u = quadratic_l1(H, np.array([g]), np.zeros(1), np.ones(1), 1e-12, 100)
        assert np.isclose(u[0], expected)


# Several classes -----------------------------------------------------------------------------


def test_softmax_derivatives_are_central_differences():
    rng = np.random.default_rng(0)
    A, W, s = rng.normal(size=(12, 3)), rng.normal(size=(3, 4)), rng.uniform(0.5, 2, 12)
    Y = one_hot(np.arange(12) % 4)

    def loss(v):
        return softmax_loss(v.reshape(4, 3).T, A, Y, s)

    v = W.T.ravel()
    assert np.allclose(softmax_gradient(W, A, Y, s).T.ravel(), numeric_gradient(loss, v), atol=1e-6)

    def slope(v):
        return softmax_gradient(v.reshape(4, 3).T, A, Y, s).T.ravel()

    assert np.allclose(softmax_hessian(W, A, s), numeric_jacobian(slope, v), atol=1e-6)


@pytest.mark.parametrize("offset", [0.0, -1e8, 1e17, -1e280])
def test_softmax_sums_to_one_far_from_zero(offset):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P = softmax(np.full((2, 3), offset) + [[0.0, 0.0, 0.0], [0.0, 1e9, -np.inf]])
        assert softmax([-1.7e308, 1.7e308]).tolist() == [0, 1]
        assert np.isnan(softmax([np.inf, 0.0])).any()
    assert np.allclose(P.sum(axis=1), 1, rtol=1e-15)
    assert np.allclose(P[0], 1 / 3, rtol=1e-15)


def test_softmax_with_two_classes_is_the_logistic_fit():
    A, y = noisy(6)
    W = fit_softmax(A, one_hot(y)).W
    assert np.allclose(W[:, 1] - W[:, 0], fit_irls(A, y).w, atol=1e-9)
    assert np.allclose(W.sum(axis=1), 0, atol=1e-10)
    assert np.allclose(softmax(A @ W)[:, 1], sigmoid(A @ (W[:, 1] - W[:, 0])))


@pytest.mark.parametrize("K", [3, 5])
def test_reductions_train_the_models_they_promise(K):
    rng = np.random.default_rng(K)
    y = np.arange(40 * K) % K
    X = rng.normal(size=(40 * K, 2)) + 4 * np.column_stack([np.cos(y), np.sin(y)])
    rest, pairs = OneVsRest().fit(X, y), OneVsOne().fit(X, y)
    assert len(rest.estimators_) == K
    assert len(pairs.estimators_) == K * (K - 1) // 2
    assert (pairs.decision_function(X).sum(axis=1) == K * (K - 1) // 2).all()
    assert min(rest.score(X, y), pairs.score(X, y)) > 0.7
    assert np.allclose(rest.predict_proba(X).sum(axis=1), 1)


# Oracles -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("K", [2, 3])
def test_the_penalised_fit_is_scikit_learns(solver, K):
    rng = np.random.default_rng(K)
    X = rng.normal(size=(300, 6)) * [1, 10, 0.1, 1, 1, 1] + [0, 5, 0, 0, 0, 0]
    W = rng.normal(size=(6, K)) / [[1], [10], [0.1], [1], [1], [1]]
    y = np.argmax(X @ W + rng.gumbel(size=(300, K)), axis=1)
    ours = LogisticRegression(lam=0.7, solver=solver, tol=1e-13, max_iter=2000).fit(X, y)
    theirs = Theirs(C=1 / 0.7, tol=1e-10, max_iter=10**5, solver="newton-cg").fit(X, y)
    assert np.isclose(objective(ours, X, y, 0.7), objective(theirs, X, y, 0.7), rtol=1e-8)
    assert objective(ours, X, y, 0.7) <= objective(theirs, X, y, 0.7) * (1 + 1e-9)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_the_l1_fit_is_at_least_as_good_as_liblinears():
    A, y = noisy(7, n=200, d=12)
    ours = fit_l1(A, y, 4.0).w
    theirs = Theirs(
        l1_ratio=1, C=1 / 4, solver="liblinear", fit_intercept=False, tol=1e-8, max_iter=10**4
    )
    theirs = theirs.fit(A, y).coef_[0]

    def value(w):
        return cross_entropy(w, A, y) + 4 * np.abs(w).sum()

    assert value(ours) <= value(theirs) * (1 + 1e-10)
    assert np.allclose(ours, theirs, atol=1e-3)


def test_many_inputs_take_the_limited_memory_method():
    table = digits()
    X, y = table.X[:600], table.y[:600]
    ours = LogisticRegression(lam=1.0).fit(X, y)
    theirs = Theirs(C=1.0, tol=1e-6, max_iter=10**4).fit(X, y)
    assert ours.converged_
    assert ours.coef_.shape == (10, 64)
    assert objective(ours, X, y, 1.0) <= objective(theirs, X, y, 1.0) * (1 + 1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_roc_is_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    y, score = np.r_[0, 1, rng.integers(0, 2, 50)], rng.integers(0, 9, 52) / 8
    curve = roc_curve(y, score)
    fpr, tpr, thresholds = their_roc(y, score, drop_intermediate=False)
    assert np.allclose(curve.false_positives, fpr)
    assert np.allclose(curve.true_positives, tpr)
    assert np.allclose(curve.thresholds, thresholds)
    assert np.isclose(roc_area(y, score), roc_auc_score(y, score))


def test_reliability_counts_every_case_once():
    r = reliability([0, 1, 1, 1], [0.0, 0.24, 0.25, 1.0], bins=4)
    assert r.count.tolist() == [2, 1, 1]
    assert np.allclose(r.predicted, [0.12, 0.25, 1.0])
    assert np.allclose(r.observed, [0.5, 1, 1])


# Published -----------------------------------------------------------------------------------


def test_spector_and_mazzeo():
    table = spector()
    run = fit_irls(add_intercept(table.X), table.y)
    assert np.allclose(run.w, [-13.02135, 2.82611, 0.09516, 2.37869], atol=1e-4)
    assert np.isclose(run.trace[-1], 12.88963, atol=1e-4)


def test_the_example_with_449262_iterations():
    u = np.random.RandomState(5).random_sample(200)
    X = add_intercept(np.column_stack([1 + 2 * u[:100], 3 * u[100:]]))
    y = (X[:, 2] > 1.5 * X[:, 1] - 1).astype(float)
    run = fit_gd(X, y, eta=0.1, w0=np.ones(3), tol=1e-3, max_iter=10**6)
    assert run.n_iter + 1 == 449262
    assert np.round(run.w, 4).tolist() == [110.2037, -146.6376, 92.3106]


# The estimator -------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["l2", "l1", None])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_weights_mean_repetition(penalty, solver):
    A, y = noisy(8)
    X, times = A[:, 1:], np.arange(80) % 4
    options = {"penalty": penalty, "solver": solver, "tol": 1e-12, "max_iter": 1000}
    once = LogisticRegression(**options).fit(X, y, sample_weight=times)
    again = LogisticRegression(**options).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert np.allclose(once.coef_, again.coef_, atol=1e-5)
    assert np.allclose(once.intercept_, again.intercept_, atol=1e-5)


def test_class_weights_multiply_the_weights_of_their_class():
    A, y = noisy(9)
    X = A[:, 1:]
    by_class = LogisticRegression(class_weight={1.0: 3.0}).fit(X, y)
    by_row = LogisticRegression().fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    assert np.allclose(by_class.coef_, by_row.coef_)
    balanced = LogisticRegression(class_weight="balanced", penalty=None).fit(X, y)
    p = balanced.predict_proba(X)[:, 1]
    share = np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    assert np.isclose(np.average(p, weights=share), 0.5)
    for bad in ("even", 3):
        with pytest.raises(ValueError, match="class_weight"):
            LogisticRegression(class_weight=bad).fit(X, y)


@given(st.floats(-8, 8), st.floats(-8, 8), st.sampled_from(["newton", "lbfgs"]))
@settings(max_examples=25, deadline=None)
def test_units_change_only_the_units(a, b, solver):
    A, y = noisy(10)
    X, units = A[:, 1:], np.array([10**a, 10**b, 1.0])
    options = {"penalty": None, "solver": solver, "tol": 1e-12, "max_iter": 1000}
    plain = LogisticRegression(**options).fit(X, y)
    scaled = LogisticRegression(**options).fit(X * units, y)
    assert np.allclose(scaled.coef_ * units, plain.coef_, atol=1e-4)
    assert np.allclose(scaled.intercept_, plain.intercept_, atol=1e-4)


def test_a_penalty_scales_with_the_square_of_the_units():
    A, y = noisy(11)
    X = A[:, 1:]
    plain = LogisticRegression(lam=2.0, tol=1e-12).fit(X, y)
    for unit in (1e-8, 1e8):
        scaled = LogisticRegression(lam=2.0 * unit**2, tol=1e-12).fit(X * unit, y)
        assert np.allclose(scaled.coef_ * unit, plain.coef_, rtol=1e-6)


def test_far_from_the_origin_nothing_is_lost():
    A, y = noisy(12)
    X = A[:, 1:]
    near, far = (LogisticRegression().fit(X + shift, y) for shift in (0.0, 1e6))
    assert np.allclose(near.coef_, far.coef_, atol=1e-6)


def test_a_constant_column_gets_weight_zero():
    A, y = noisy(13)
    for penalty in (None, "l2", "l1"):
        model = LogisticRegression(penalty).fit(np.column_stack([A[:, 1:], np.full(80, 0.1)]), y)
        assert model.coef_[0, -1] == 0


def test_more_inputs_than_cases():
    rng = np.random.default_rng(14)
    X, y = rng.normal(size=(20, 60)), np.arange(20) % 2
    with pytest.warns(ConvergenceWarning, match="separates"):
        LogisticRegression(penalty=None).fit(X, y)
    for penalty in ("l2", "l1"):
        model = LogisticRegression(penalty, tol=1e-10).fit(X, y)
        assert model.converged_
    assert np.count_nonzero(model.coef_) <= 20


def test_running_out_of_steps_is_said():
    table = breast_cancer()
    X = Standardizer().fit_transform(table.X)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 .*tolerance"):
        model = LogisticRegression(max_iter=1).fit(X, table.y)
    assert not model.converged_
    assert model.n_iter_ == 1


def test_log_probabilities_keep_their_digits_in_the_tails():
    model = LogisticRegression(lam=1e-6).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    far = model.predict_log_proba([[1000.0]])
    assert -np.inf < far[0, 0] < -1000
    assert far[0, 1] <= 0


def test_l1_says_what_to_do_with_three_classes():
    table = iris()
    with pytest.raises(ValueError, match="OneVsRest"):
        LogisticRegression("l1").fit(table.X, table.y)
    assert OneVsRest(LogisticRegression("l1")).fit(table.X, table.y).score(table.X, table.y) > 0.9


def test_one_class_is_refused():
    for weight in (None, [1, 1, 0]):
        y = [0, 0, 0] if weight is None else [0, 0, 1]
        with pytest.raises(ValueError, match="2 classes"):
            LogisticRegression().fit([[0.0], [1.0], [2.0]], y, sample_weight=weight)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_a_likelihood_that_rounds_to_one_is_separation_and_no_division_by_zero(solver):
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal((7, 6))
        y = np.arange(7) % 3
        model = LogisticRegression(penalty=None, solver=solver)
        with pytest.warns(ConvergenceWarning, match="no solution here"):
            model.fit(X, y)
        assert not model.converged_
        assert (model.predict(X) == y).all()


@pytest.mark.parametrize("constant", [0.1, 1e30, 1e108])
def test_a_constant_column_has_no_weight_and_does_no_harm_whatever_its_size(constant):
    rng = np.random.default_rng(0)
    for K in (2, 3):
        X, y = rng.standard_normal((30, 2)), np.arange(30) % K
        wide = np.column_stack([X, np.full(30, constant)])
        plain = LogisticRegression(penalty=None).fit(X, y)
        model = LogisticRegression(penalty=None).fit(wide, y)
        assert not model.coef_[:, 2].any()
        assert np.allclose(model.predict_proba(wide), plain.predict_proba(X))


# The line search and what a run reports --------------------------------------------------------


@pytest.mark.parametrize(("lam", "start"), [(0.0, [6.0, 6, -6]), ([0, 0.5, 2.0], [6.0, 6, -6])])
def test_each_newton_step_is_the_first_length_that_lowers_the_objective_enough(lam, start):
    A, y = noisy(0, n=60, d=3)
    pen = np.broadcast_to(np.asarray(lam, dtype=float), 3)

    def value(w):
        return np.logaddexp(0, (1 - 2 * y) * (A @ w)).sum() + pen @ w**2 / 2

    for k in range(1, 7):
        run = fit_irls(A, y, lam=lam, w0=start, max_iter=k)
        w, before, t = run.path[-1], run.path[-2], run.steps[-1]
        p = sigmoid(A @ before)
        g, H = A.T @ (p - y) + pen * before, (A.T * (p * (1 - p))) @ A + np.diag(pen)
        s = -np.linalg.solve(H, g)
        enough = [value(before + u * s) <= value(before) + 1e-4 * u * (g @ s) + 1e-12
                  for u in (t, 2 * t)]  # fmt: skip
        np.testing.assert_allclose(w, before + t * s, rtol=1e-7)
        np.testing.assert_allclose(run.trace, [value(v) for v in run.path], rtol=1e-12)
        assert enough[0]
        assert t == 1 or not enough[1]


def test_a_step_that_wins_a_little_too_little_is_halved():
    X, y = np.ones((3, 1)), np.array([0, 1, 1])

    def beyond(w, share):
        """Return what the full step from w wins, less this share of what is asked."""
        p = sigmoid(w)
        g, h = 3 * p - 2, 3 * p * (1 - p)
        won = cross_entropy([w], X, y) - cross_entropy([w - g / h], X, y)
        return won - share * 1e-4 * g**2 / h

    for share, t in ((0.99, 0.5), (1.01, 1.0)):
        w = brentq(beyond, 1.5, 6, args=(share,))
        assert fit_irls(X, y, w0=[w], max_iter=1).steps.tolist() == [t]
        pair = fit_softmax(X, one_hot(y), W0=[[-w / 2, w / 2]], max_iter=1).W[0]
        step = (2 - 3 * sigmoid(w)) / (3 * sigmoid(w) * sigmoid(-w))
        assert (np.diff(pair)[0] - w) / step == pytest.approx(t)


def test_the_gap_is_the_fall_that_the_quadratic_model_promises():
    A, y = noisy(0, n=60, d=3)
    lam = np.array([0, 0.5, 2.0])
    run = fit_irls(A, y, lam=lam, w0=[6.0, 6, -6], tol=1e-3)
    g = A.T @ (sigmoid(A @ run.w) - y) + lam * run.w
    assert run.gap == pytest.approx(
        g @ np.linalg.solve(hessian(run.w, A) + np.diag(lam), g) / 2, rel=1e-6
    )
    assert run.gap <= 1e-3 * run.trace[-1]
    options = {"lam": lam, "w0": [6.0, 6, -6], "tol": 1e-3, "max_iter": run.n_iter - 1}
    assert not fit_irls(A, y, **options).converged


def test_softmax_steps_are_halved_until_the_objective_falls_enough():
    flowers = iris()
    A, Y = add_intercept(Standardizer().fit_transform(flowers.X)), one_hot(flowers.y)
    pen, W, halved = np.r_[0.0, np.full(4, 0.5)], np.random.default_rng(12).normal(0, 4, (5, 3)), []

    def value(W):
        return softmax_loss(W, A, Y) + (pen @ W**2).sum() / 2

    for _ in range(8):
        run = fit_softmax(A, Y, lam=pen, W0=W, max_iter=1)
        G = softmax_gradient(W, A, Y) + pen[:, None] * W
        H = softmax_hessian(W, A) + np.diag(np.tile(pen, 3))
        step = -(np.linalg.pinv(H, rcond=1e-12) @ G.T.ravel()).reshape(3, 5).T
        t = np.vdot(run.W - W, step) / np.vdot(step, step)
        enough = [value(W + u * step) <= value(W) + 1e-4 * u * (G * step).sum() + 1e-12
                  for u in (t, 2 * t)]  # fmt: skip
        np.testing.assert_allclose(run.W, W + t * step, atol=1e-6)
        assert enough[0]
        assert abs(t - 1) < 1e-6 or not enough[1]
        halved.append(t < 0.9)
        W = run.W
    assert any(halved)
    assert not halved[-1]


def test_a_small_gap_alone_is_no_convergence_of_a_separated_softmax():
    X = add_intercept(np.array([[-1.0], [0], [0], [1], [1]]))  # the last counts for nothing
    run = fit_softmax(X, one_hot([0, 0, 1, 1, 0]), weights=[1, 1, 1, 1, 0])
    assert run.gap < 1e-9
    assert not run.converged


def test_a_far_example_that_overlaps_brings_no_warning():
    X = np.append(np.arange(6.0), 60.0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(penalty=None).fit(X, [0, 0, 1, 0, 1, 1, 1])
    assert model.decision_function(X).max() > 12


def test_the_limited_memory_method_multiplies_by_the_estimate_of_bfgs():
    half = np.random.default_rng(15).standard_normal((9, 6))
    pairs = [(s, half.T @ half @ s) for s in half[:4]]  # a quadratic with this Hessian
    B = np.eye(6) * (pairs[-1][0] @ pairs[-1][1]) / (pairs[-1][1] @ pairs[-1][1])
    for s, t in pairs:
        K = np.eye(6) - np.outer(t, s) / (s @ t)
        B = K.T @ B @ K + np.outer(s, s) / (s @ t)
    loops = _two_loops(half[5], [(s, t, s @ t) for s, t in pairs], lambda G: G)
    np.testing.assert_allclose(loops, B @ half[5], rtol=1e-10)


def lean(W):
    """Return weights of classes less their mean, which is all that probabilities see."""
    return W - W.mean(axis=1, keepdims=True)


def test_newton_runs_tell_every_step_and_listen_to_every_option():
    A, y = noisy(5)
    Y, s = np.column_stack([1 - y, y]), np.arange(80) % 3 + 1.0
    fits = {
        "two": (lambda **given: fit_irls(A, y, **given), lambda w, s: cross_entropy(w, A, y, s)),
        "more": (lambda **given: fit_softmax(A, Y, **given), lambda W, s: softmax_loss(W, A, Y, s)),
    }
    for case, (fit, loss) in fits.items():
        for lam, weights in ((0.0, None), (0.7, None), (0.7, s)):
            run = fit(lam=lam, weights=weights)
            end = run.w if case == "two" else run.W
            assert run.trace[-1] == pytest.approx(loss(end, weights) + lam / 2 * np.sum(end**2))
            assert run.trace[0] == pytest.approx(loss(0 * end, weights))
            assert (len(run.trace), run.converged) == (run.n_iter + 1, True)
        assert np.array_equal(fit().trace, fit(lam=0.0, tol=1e-20, max_iter=100).trace)
        assert fit(tol=1e-2).n_iter < fit().n_iter
        short = fit(max_iter=1)
        assert (short.n_iter, short.converged) == (1, False)
        assert short.gap > 1e-6
    start = fit_irls(A, y, w0=[1.0, 0, 0, 0])
    assert start.path[0].tolist() == [1.0, 0, 0, 0]
    assert start.w == pytest.approx(fit_irls(A, y).w)
    assert np.array_equal(fit_irls(A, y).path[-1], fit_irls(A, y).w)
    begun = fit_softmax(A, Y, W0=np.ones((4, 2)) * [1.0, 3.0])
    assert begun.trace[0] == pytest.approx(softmax_loss(np.ones((4, 2)) * [1.0, 3.0], A, Y))
    assert np.allclose(lean(begun.W), lean(fit_softmax(A, Y).W))


def test_gradient_runs_tell_where_they_end_and_listen_to_every_option():
    A, y = noisy(6)
    run = fit_gd(A, y, eta=0.02)
    assert run.gradient_norm == pytest.approx(np.linalg.norm(gradient(run.w, A, y)), rel=1e-3)
    assert (run.converged, run.gradient_norm <= 1e-6) == (True, True)
    assert fit_gd(A, y, eta=0.02, tol=1e-2).n_iter < run.n_iter
    assert run.n_iter == fit_gd(A, y, eta=0.02, lam=0.0, tol=1e-6, max_iter=1000).n_iter
    w = np.zeros(4)
    for k in range(4):
        short = fit_gd(A, y, eta=0.02, lam=0.3, w0=np.ones(4), max_iter=k + 1)
        w = np.ones(4) if k == 0 else w
        w = w - 0.02 * (gradient(w, A, y) + 0.3 * w)
        assert (short.n_iter, short.converged) == (k + 1, False)
        assert short.w == pytest.approx(w)
        assert short.gradient_norm == pytest.approx(np.linalg.norm(gradient(w, A, y) + 0.3 * w))
    assert fit_gd(A, y, eta=1e-5).n_iter == 1000
    drawn = fit_sgd(A, y, eta=0.01, rng=np.random.default_rng(0))
    named = fit_sgd(A, y, eta=0.01, epochs=10, w0=np.zeros(4), rng=np.random.default_rng(0))
    assert (drawn.n_iter, drawn.w.tolist()) == (800, named.w.tolist())
    assert drawn.gradient_norm == pytest.approx(np.linalg.norm(gradient(drawn.w, A, y)))
    other = fit_sgd(A, y, eta=0.01, epochs=1, w0=np.ones(4), rng=np.random.default_rng(0))
    assert other.n_iter == 80
    assert not np.allclose(
        other.w, fit_sgd(A, y, eta=0.01, epochs=1, rng=np.random.default_rng(0)).w
    )


def test_l1_runs_tell_every_step_and_listen_to_every_option():
    A, y = noisy(7)
    lam, s = np.array([0.0, 2.0, 2.0, 5.0]), np.arange(80) % 3 + 1.0
    for weights in (None, s):
        run = fit_l1(A, y, lam, weights=weights)
        value = cross_entropy(run.w, A, y, weights) + lam @ np.abs(run.w)
        assert run.trace[-1] == pytest.approx(value)
        assert (len(run.trace), run.converged) == (run.n_iter + 1, True)
        residuals = kkt_residuals(run.w, A, y, lam, penalty="l1", weights=weights)
        assert run.residual == pytest.approx(residuals.max() / 5, abs=1e-12)
        early = fit_l1(A, y, lam, weights=weights, tol=0.3)
        residuals = kkt_residuals(early.w, A, y, lam, penalty="l1", weights=weights)
        assert early.residual == pytest.approx(residuals.max() / 5)
        assert 1e-6 < early.residual <= 0.3
    begun = fit_l1(A, y, lam, w0=np.ones(4))
    assert begun.trace[0] == pytest.approx(cross_entropy(np.ones(4), A, y) + lam.sum())
    short = fit_l1(A, y, lam, max_iter=1)
    assert (short.n_iter, short.converged) == (1, False)
    w = np.array([0.3, -0.2, 0.0, 1.0])
    assert kkt_residuals(w, A, y, lam) == pytest.approx(np.abs(gradient(w, A, y) + lam * w))
    assert not np.allclose(kkt_residuals(w, A, y, lam), kkt_residuals(w, A, y, lam, weights=s))


WAYS = [
    (K, solver, p) for K in (2, 3) for solver in ("auto", "newton", "lbfgs") for p in ("l2", None)
]


@pytest.mark.parametrize(("K", "solver", "penalty"), [*WAYS, (2, "auto", "l1")])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_estimator_minimises_what_it_is_asked_to(K, solver, penalty, fit_intercept):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((90, 2)) + 1.0
    y = (X @ rng.standard_normal((2, K)) + 2 * rng.gumbel(size=(90, K))).argmax(axis=1)
    factors = {0: 1.0, 1: 3.0, 2: 0.5}
    s = np.array([factors[k] for k in y])
    asked = {"lam": 2.0, "class_weight": factors, "tol": 1e-12, "max_iter": 1000}
    model = LogisticRegression(penalty, fit_intercept=fit_intercept, solver=solver, **asked).fit(
        X, y
    )
    A = add_intercept(X) if fit_intercept else X
    lam = np.full(A.shape[1], 2.0 if penalty else 0.0)
    lam[: int(fit_intercept)] = 0.0
    W = np.vstack([model.intercept_, model.coef_.T]) if fit_intercept else model.coef_.T
    if penalty == "l1":
        residuals = kkt_residuals(W[:, 0], A, y, lam, penalty="l1", weights=s)
        assert residuals == pytest.approx(np.zeros(len(lam)), abs=1e-6)
    elif K == 2:
        slope = gradient(W[:, 0], A, y, s) + lam * W[:, 0]
        assert slope == pytest.approx(np.zeros(len(lam)), abs=1e-4)
    else:
        slope = softmax_gradient(W, A, one_hot(y, np.arange(3)), s) + lam[:, None] * W
        assert np.abs(slope).max() < 1e-4
    if not fit_intercept:
        assert not model.intercept_.any()
    assert model.converged_
    assert model.n_iter_ > 1


def test_the_estimator_stops_by_its_tolerance_and_limit():
    X, y = noisy(9)
    for solver, penalty in (("lbfgs", "l2"), ("newton", "l2"), ("auto", "l1")):
        loose = LogisticRegression(penalty, solver=solver, tol=0.1).fit(X, y)
        tight = LogisticRegression(penalty, solver=solver, tol=1e-12).fit(X, y)
        assert loose.n_iter_ <= tight.n_iter_
        assert not (solver == "lbfgs" and loose.n_iter_ == tight.n_iter_)
        with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
            short = LogisticRegression(penalty, solver=solver, max_iter=1, tol=1e-12).fit(X, y)
        assert (short.n_iter_, short.converged_) == (1, False)


@pytest.mark.parametrize("scheme", [OneVsRest, OneVsOne])
def test_reductions_weigh_classes_and_copy_the_estimator(scheme):
    rng = np.random.default_rng(10)
    X = rng.standard_normal((60, 2))
    y = np.digitize(X[:, 0] + rng.standard_normal(60), [-0.5, 0.5])
    factors = {0: 1.0, 1: 4.0, 2: 0.5}
    by_class = scheme(LogisticRegression(lam=0.3), class_weight=factors).fit(X, y)
    by_row = scheme(LogisticRegression(lam=0.3)).fit(X, y, sample_weight=[factors[k] for k in y])
    plain = scheme().fit(X, y)
    named = scheme(LogisticRegression()).fit(X, y)
    for one, other, same in (
        (by_class, by_row, True),
        (plain, named, True),
        (plain, by_row, False),
    ):
        pairs = list(zip(one.estimators_, other.estimators_, strict=True))
        assert len(pairs) == 3
        assert all(np.allclose(a.coef_, b.coef_) for a, b in pairs) is same


def test_bins_of_a_tenth_are_the_default():
    y, p = np.array([0, 1, 1, 0, 1]), np.array([0.04, 0.06, 0.14, 0.52, 0.58])
    found = reliability(y, p)
    assert found.count.tolist() == [2, 1, 2]
    assert found.predicted == pytest.approx([0.05, 0.14, 0.55])
    assert found.observed == pytest.approx([0.5, 1.0, 0.5])
    curve = roc_curve(y, p)
    assert curve.thresholds.tolist() == [np.inf, 0.58, 0.52, 0.14, 0.06, 0.04]
    assert curve.false_positives == pytest.approx([0, 0, 0.5, 0.5, 0.5, 1])
    assert curve.true_positives == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3, 1, 1])


@pytest.mark.parametrize("far", [40.0, 800.0])
def test_a_start_where_rounding_leaves_no_curvature_is_no_end(far):
    run = fit_irls(np.ones((4, 1)), [0, 1, 1, 1], w0=[far])
    assert (run.n_iter, run.converged) == (0, False)


def test_without_separation_there_is_no_direction():
    found = separation([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [0, 1, 0])
    assert found.kind == "overlap"
    assert found.direction.tolist() == [0, 0]
    assert not found.separated.any()


def test_losses_and_residuals_of_large_scores_are_exact():
    A, Y = (
        np.array([[1e4, 0.0, -1e4], [0.0, -1e4, 1e4]]),
        np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]),
    )
    loss, R = module._losses(A, Y, np.array([2.0, 1.0]))
    assert (loss, R.tolist()) == (4e4, [[2.0, 0.0, -2.0], [0.0, 0.0, 0.0]])


def test_the_gap_of_a_softmax_fit_is_half_the_decrement_of_newton():
    X, Y = add_intercept(np.arange(6.0)[:, None]), np.eye(3)[[0, 1, 0, 2, 1, 2]]
    run = fit_softmax(X, Y, lam=1.0, max_iter=1)
    G = softmax_gradient(run.W, X, Y) + run.W
    H = softmax_hessian(run.W, X) + np.eye(6)
    g = G.T.ravel()
    assert run.gap == pytest.approx(g @ np.linalg.solve(H, g) / 2, rel=1e-6)
    assert not run.converged


def test_a_reduction_trains_copies_of_the_model_it_is_given():
    X, y = np.array([[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]]), [0, 1, 2]
    for kind in (OneVsRest, OneVsOne):
        given = LogisticRegression(lam=3.0)
        assert [model.lam for model in kind(given).fit(X, y).estimators_] == [3.0] * 3
        assert not hasattr(given, "coef_")
