"""The library against other people's: objectives, residuals and parameters agree."""

import warnings

import hmmlearn.hmm
import numpy as np
import pytest
from scipy.optimize import minimize_scalar, rosen, rosen_der, rosen_hess
from scipy.special import logsumexp
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.metrics import zero_one_loss
from sklearn.mixture import GaussianMixture as SklearnMixture
from sklearn.svm import SVC as SklearnSVC
from sklearn.svm import LinearSVC as SklearnLinearSVC

from mllib import concentration
from mllib.hidden_markov_models import (
    HMM,
    CategoricalEmission,
    CategoricalHMM,
    GaussianEmission,
    GaussianHMM,
    PoissonEmission,
    PoissonHMM,
)
from mllib.hidden_markov_models import sample as sample_hmm
from mllib.linear_algebra import (
    condition_number,
    gram_schmidt,
    matrix_rank,
    numeric_gradient,
    numeric_hessian,
    numeric_jacobian,
    p_norm,
    spectral_decomposition,
    svd_from_eigh,
    svd_solve,
)
from mllib.mixtures_and_em import GaussianMixture, MixtureParams
from mllib.pac_learning import empirical_risk, erm, linear_dichotomies
from mllib.perceptron import Perceptron, add_intercept, perceptron
from mllib.support_vector_machines import SVC, LinearSVC, dual_objective, hinge_objective

# Perceptron ---


@pytest.mark.parametrize(("n", "d", "eta"), [(50, 3, 1.0), (400, 10, 0.25), (300, 40, 3.0)])
def test_perceptron_makes_the_same_weights_as_sklearn(n, d, eta):
    rng = np.random.default_rng(n)
    X = rng.integers(-9, 10, (n, d)).astype(float)
    y = np.sign(X @ rng.standard_normal(d) + 0.5)
    run = perceptron(add_intercept(X), y, eta=eta, max_epochs=5)
    passes = len(run.mistakes)
    theirs = SklearnPerceptron(eta0=eta, max_iter=passes, tol=None, shuffle=False).fit(X, y)
    np.testing.assert_allclose(run.w[1:], theirs.coef_[0], rtol=1e-12)
    np.testing.assert_allclose(run.w[0], theirs.intercept_[0], rtol=1e-12)


def test_perceptron_estimator_equals_sklearn_where_it_converges():
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (200, 5)).astype(float)
    scores = X @ rng.standard_normal(5)
    X, y = X[np.abs(scores) > 3], np.sign(scores[np.abs(scores) > 3])
    ours = Perceptron().fit(X, y)
    theirs = SklearnPerceptron(max_iter=ours.n_iter_, tol=None, shuffle=False).fit(X, y)
    assert ours.converged_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


# Support vector machines ---


def standardised_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial"])
def test_svc_reaches_libsvms_objective_scores_and_support(kernel, C):
    X, y = standardised_cancer()
    ours = SVC(C=C, kernel=kernel, tol=1e-6).fit(X, y)
    ell = getattr(ours, "ell_", 1.0)
    gamma = 0.5 / ell**2 if kernel == "rbf" else 1 / ell**2
    name = "poly" if kernel == "polynomial" else kernel
    theirs = SklearnSVC(C=C, kernel=name, gamma=gamma, coef0=1.0, tol=1e-6).fit(X, y)
    want = theirs.decision_function(X)
    largest = np.abs(want).max()
    np.testing.assert_allclose(ours.decision_function(X), want, atol=2e-5 * largest)
    alpha, labels = np.zeros(len(y)), 2.0 * y - 1
    alpha[theirs.support_] = np.abs(theirs.dual_coef_[0])
    gram = {
        "rbf": lambda: np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2)),
        "linear": lambda: X @ X.T,
        "polynomial": lambda: (1 + gamma * X @ X.T) ** 3,
    }[kernel]()
    assert ours.dual_[0] == pytest.approx(dual_objective(alpha, gram, labels), rel=1e-6)
    assert ours.gap_[0] <= 1e-5 * ours.primal_[0]


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
def test_svc_with_three_classes_agrees_with_sklearn(scheme):
    X, y = load_iris(return_X_y=True)
    ours = SVC(multi_class=scheme, tol=1e-6).fit(X, y)
    if scheme == "ovo":
        theirs = SklearnSVC(gamma=0.5 / ours.ell_**2, tol=1e-6).fit(X, y)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    else:
        for k in range(3):
            theirs = SklearnSVC(gamma=0.5 / ours.ell_**2, tol=1e-6).fit(X, y == k)
            want = theirs.decision_function(X)
            np.testing.assert_allclose(ours.decision_function(X)[:, k], want, atol=2e-4)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_linear_svc_reaches_liblinears_objectives(C):
    X, y = standardised_cancer()
    A = np.column_stack([np.ones(len(X)), X])  # LIBLINEAR penalises the offset: give it none
    for loss in ("squared_hinge", "hinge"):
        ours = LinearSVC(C=C, loss=loss, fit_intercept=False, tol=1e-8).fit(A, y)
        theirs = SklearnLinearSVC(
            C=C, loss=loss, fit_intercept=False, tol=1e-8, max_iter=10**6, random_state=0
        ).fit(A, y)
        w, labels = theirs.coef_[0], 2.0 * y - 1
        xi = np.maximum(0, 1 - labels * (A @ w))
        reached = hinge_objective(w, 0.0, A, labels, C) if loss == "hinge" else (
            0.5 * w @ w + C * xi @ xi
        )  # fmt: skip
        assert ours.primal_[0] == pytest.approx(reached, rel=1e-6)
        assert ours.primal_[0] <= reached * (1 + 1e-8)


# Hidden Markov models ---


def hmm_pair(kind, lengths, **options):
    """Return X, an mllib and an hmmlearn estimator with the same start, both unfitted."""
    rng = np.random.default_rng(len(kind))
    pi, A = np.array([0.5, 0.3, 0.2]), rng.dirichlet(np.ones(3), 3) / 2 + np.eye(3) / 2
    means, rates = np.array([[0.0, 0], [3, 1], [-2, 4]]), np.array([[1.0], [6], [15]])
    e = rng.dirichlet(np.ones(4), 3)
    truth, ours, theirs, start = {
        "categorical": (CategoricalEmission(e), CategoricalHMM, "CategoricalHMM", (e + 0.25) / 2),
        "poisson": (PoissonEmission(rates), PoissonHMM, "PoissonHMM", rates + 1),
        "gaussian": (
            GaussianEmission(means, np.tile(np.eye(2), (3, 1, 1)), np.ones(2)),
            GaussianHMM,
            "GaussianHMM",
            means + 0.5,
        ),
    }[kind]
    parts = [sample_hmm(HMM(pi, A, truth), n, rng)[0].reshape(n, -1) for n in lengths]
    X = np.concatenate(parts)
    A0 = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    common = {"startprob_init": pi, "transmat_init": A0}
    kwargs = {"n_iter": 20, "tol": -np.inf, "init_params": "", "implementation": "scaling"}
    if kind == "gaussian":
        kwargs |= {"covariance_type": "full", "covars_prior": 0, "covars_weight": 0}
        common |= {"covars_init": np.tile(np.eye(2), (3, 1, 1))}
    name = {"categorical": "emissionprob", "poisson": "rates", "gaussian": "means"}[kind]
    model = getattr(hmmlearn.hmm, theirs)(3, **kwargs)
    model.startprob_, model.transmat_ = pi.copy(), A0.copy()
    field = {"categorical": "emissionprob_", "poisson": "lambdas_", "gaussian": "means_"}[kind]
    setattr(model, field, start.copy())
    if kind == "gaussian":
        model.covars_ = np.tile(np.eye(2), (3, 1, 1))
        model.min_covar = 0
    if kind != "gaussian":
        X = X.astype(int)
    options = {"max_iter": 20, "tol": 0, f"{name}_init": start} | common | options
    return X, ours(3, **options), model


@pytest.mark.parametrize("lengths", [[400], [3, 1, 200, 40, 40]])
@pytest.mark.parametrize("kind", ["categorical", "poisson", "gaussian"])
@pytest.mark.filterwarnings("ignore:Baum-Welch stopped")
def test_hmm_equals_hmmlearn_after_twenty_iterations(kind, lengths):
    X, ours, theirs = hmm_pair(kind, lengths)
    ours.fit(X, lengths=lengths)
    theirs.fit(X, lengths)
    field = {"categorical": "emissionprob_", "poisson": "lambdas_", "gaussian": "means_"}[kind]
    mine = {"categorical": "emissionprob_", "poisson": "rates_", "gaussian": "means_"}[kind]
    np.testing.assert_allclose(ours.transmat_, theirs.transmat_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.startprob_, theirs.startprob_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(getattr(ours, mine), getattr(theirs, field), rtol=1e-6, atol=1e-9)
    assert ours.score(X, lengths=lengths) == pytest.approx(theirs.score(X, lengths), rel=1e-9)
    score, path = ours.decode(X, lengths=lengths)
    their_score, their_path = theirs.decode(X, lengths)
    assert score == pytest.approx(their_score, rel=1e-9)
    assert (path == their_path).all()
    gamma = theirs.predict_proba(X, lengths)
    np.testing.assert_allclose(ours.predict_proba(X, lengths=lengths), gamma, atol=1e-8)


# Mixtures and EM ---


@pytest.mark.parametrize("family", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_gaussian_mixture_takes_sklearns_path(family, d):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((400, d)) + 3 * rng.integers(0, 3, (400, 1))
    means = X[:3]
    precisions = {"full": np.stack([np.eye(d)] * 3), "tied": np.eye(d)}
    precisions |= {"diag": np.ones((3, d)), "spherical": np.ones(3)}
    theirs = SklearnMixture(
        3,
        covariance_type=family,
        weights_init=np.full(3, 1 / 3),
        means_init=means,
        precisions_init=precisions[family],
        max_iter=30,
        tol=0,
        reg_covar=0,
    )
    start = MixtureParams(np.full(3, 1 / 3), means, np.stack([np.eye(d)] * 3))
    ours = GaussianMixture(
        3, covariance_type=family, init=start, max_iter=30, tol=0, covariance_floor=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(X)
        ours.fit(X)
    np.testing.assert_allclose(ours.weights_, theirs.weights_, rtol=1e-7)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-7)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    assert ours.bic(X) == pytest.approx(theirs.bic(X), rel=1e-9)
    assert ours.aic(X) == pytest.approx(theirs.aic(X), rel=1e-9)


# Concentration ---


@pytest.mark.parametrize("n", [1, 17, 250, 4000])
def test_binomial_tails_equal_scipy_also_where_they_are_tiny(n):
    for p in (0.01, 0.3, 0.5, 0.97):
        for k in np.unique(np.linspace(1, n, 23).astype(int)):
            theirs = binom.sf(k - 1, n, p)
            np.testing.assert_allclose(concentration.binomial_tail(k, n, p), theirs, rtol=1e-9)


def test_numeric_chernoff_bound_equals_a_bounded_scalar_search():
    rng = np.random.default_rng(0)
    for _ in range(40):
        values, weights = rng.uniform(-3, 5, 6), rng.dirichlet(np.ones(6))
        t = weights @ values + rng.uniform(0.05, 0.9) * (values.max() - weights @ values)

        def log_mgf(v, values=values, weights=weights):
            return logsumexp(v * values, b=weights)

        search = minimize_scalar(
            lambda v, t=t, f=log_mgf: f(v) - v * t, bounds=(0, 300), options={"xatol": 1e-10}
        )
        rate = concentration.chernoff_bound(log_mgf, t).rate
        np.testing.assert_allclose(rate, -search.fun, rtol=1e-9, atol=1e-12)


# PAC learning ---


def test_empirical_risk_is_the_zero_one_loss_of_sklearn():
    X, y = load_iris(return_X_y=True)
    rules = np.array([np.digitize(X[:, j], np.quantile(X[:, j], (1 / 3, 2 / 3))) for j in range(4)])
    ours = erm(rules, y)
    theirs = np.array([zero_one_loss(y, rule) for rule in rules])
    np.testing.assert_allclose(ours.risks, theirs, rtol=1e-12)
    assert (ours.index, ours.risk) == (int(theirs.argmin()), pytest.approx(theirs.min()))
    assert empirical_risk(rules[2], y) == pytest.approx(theirs[2])


@pytest.mark.parametrize("intercept", [True, False])
def test_linear_labellings_are_those_that_sklearn_fits_without_error(intercept):
    X = np.random.default_rng(3).integers(-5, 6, (6, 2)).astype(float)
    Z = add_intercept(X) if intercept else X
    made = set(map(tuple, linear_dichotomies(X, intercept=intercept)))
    for code in range(1, 2**6 - 1):
        y = (code >> np.arange(6)) & 1
        fitted = SklearnPerceptron(fit_intercept=False, tol=None, max_iter=3000).fit(Z, y)
        assert (tuple(y) in made) == (fitted.score(Z, y) == 1)


# Linear algebra ---


@pytest.mark.parametrize(("n", "d", "rank"), [(9, 4, 4), (4, 9, 4), (12, 6, 2), (30, 30, 30)])
def test_decompositions_equal_numpy(n, d, rank):
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    U, s, V = svd_from_eigh(A)
    theirs = np.linalg.svd(A, compute_uv=False)
    np.testing.assert_allclose(s, theirs, rtol=1e-6, atol=1e-7 * theirs[0])
    np.testing.assert_allclose((U * s) @ V.T, A, atol=1e-7 * theirs[0])
    assert matrix_rank(A) == np.linalg.matrix_rank(A) == rank
    if rank == min(n, d):
        assert condition_number(A) == pytest.approx(np.linalg.cond(A), rel=1e-9)
    C = A.T @ A
    values, V = spectral_decomposition(C)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(C)[::-1], atol=1e-10 * values[0])
    np.testing.assert_allclose(C @ V, V * values, atol=1e-10 * values[0])


@pytest.mark.parametrize(("n", "d", "rank"), [(20, 5, 5), (5, 20, 5), (20, 8, 3)])
def test_svd_solve_equals_numpy_lstsq(n, d, rank):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    y = rng.standard_normal(n)
    theirs = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(svd_solve(X, y), theirs, rtol=1e-9, atol=1e-11)


def test_gram_schmidt_is_the_qr_factor_of_numpy_up_to_signs():
    A = np.random.default_rng(0).standard_normal((8, 5))
    Q = np.linalg.qr(A)[0]
    signs = np.sign(np.sum(Q * gram_schmidt(A), axis=0))
    np.testing.assert_allclose(gram_schmidt(A), Q * signs, atol=1e-13)


def test_numeric_derivatives_equal_the_rosenbrock_formulas_of_scipy():
    x = np.array([0.4, -1.3, 0.9, 2.0])
    np.testing.assert_allclose(numeric_gradient(rosen, x), rosen_der(x), rtol=1e-7)
    np.testing.assert_allclose(numeric_jacobian(rosen_der, x), rosen_hess(x), rtol=1e-7, atol=1e-4)
    np.testing.assert_allclose(numeric_hessian(rosen, x), rosen_hess(x), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("p", [1, 1.5, 2, 7, np.inf])
def test_p_norms_equal_numpy(p):
    v = np.random.default_rng(1).standard_normal(50)
    assert p_norm(v, p) == pytest.approx(np.linalg.norm(v, p), rel=1e-13)
