"""The library against other people's: objectives, residuals and parameters agree."""

import importlib
import sys
import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog, minimize, minimize_scalar, rosen, rosen_der, rosen_hess
from scipy.special import expit, logsumexp
from scipy.stats import binom, dirichlet, multinomial, multivariate_normal, norm
from scipy.stats import entropy as scipy_entropy
from sklearn import linear_model as sklearn_linear
from sklearn import metrics as sklearn_metrics
from sklearn import model_selection as sklearn_selection
from sklearn.covariance import EmpiricalCovariance
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, DotProduct
from sklearn.linear_model import Lasso as SklearnLasso
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.linear_model import lars_path as sklearn_lars_path
from sklearn.metrics import zero_one_loss
from sklearn.mixture import GaussianMixture as SklearnMixture
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC as SklearnSVC
from sklearn.svm import LinearSVC as SklearnLinearSVC
from statsmodels.regression.linear_model import OLS
from statsmodels.regression.quantile_regression import QuantReg

from mllib import (
    bayesian_regression,
    bias_variance,
    concentration,
    decision_theory,
    estimation,
    least_squares,
    model_selection,
    optimization,
    probability,
)
from mllib.core.numerics import squared_distances
from mllib.decision_theory import add_intercept
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
from mllib.pac_learning import erm, linear_dichotomies
from mllib.perceptron import Perceptron, perceptron
from mllib.ridge_and_lasso import (
    Lasso,
    Ridge,
    centre,
    lars_path,
    lasso,
    lasso_objective,
    path_at,
    ridge_objective,
)
from mllib.support_vector_machines import (
    SVC,
    LinearSVC,
    dual_objective,
    hinge_objective,
    primal_objective,
    smo,
)

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


def hmmlearn_models():
    """Return the peer; left out on the one version of Python for which it has no wheel."""
    if sys.version_info >= (3, 14):
        return pytest.importorskip("hmmlearn.hmm", reason="hmmlearn has no wheel for Python 3.14")
    return importlib.import_module("hmmlearn.hmm")


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
    model = getattr(hmmlearn_models(), theirs)(3, **kwargs)
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
    # 20 iterations: later the log-likelihood no longer rises beyond rounding, which ends our run.
    theirs = SklearnMixture(
        3,
        covariance_type=family,
        weights_init=np.full(3, 1 / 3),
        means_init=means,
        precisions_init=precisions[family],
        max_iter=20,
        tol=0,
        reg_covar=0,
    )
    start = MixtureParams(np.full(3, 1 / 3), means, np.stack([np.eye(d)] * 3))
    ours = GaussianMixture(
        3, covariance_type=family, init=start, max_iter=20, tol=0, covariance_floor=0
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


# Probability ---


@pytest.mark.parametrize("d", [1, 3, 8])
def test_gaussian_log_density_and_entropy_equal_scipy(d):
    rng = np.random.default_rng(d)
    A, mean = rng.standard_normal((d, d)), rng.standard_normal(d)
    cov, X = A @ A.T + 0.1 * np.eye(d), 3 * rng.standard_normal((20, d))
    theirs = multivariate_normal(mean, cov)
    ours = probability.gaussian_log_density(X, mean, cov)
    np.testing.assert_allclose(ours, theirs.logpdf(X), rtol=1e-9)
    assert probability.gaussian_entropy(cov) == pytest.approx(theirs.entropy(), rel=1e-10)


def test_gaussian_conditional_mean_and_covariance_are_those_of_sklearns_gaussian_process():
    X = np.array([[0.0], [0.7], [1.5], [2.0], [3.1]])
    y, new = np.array([0.3, -0.2, 1.0]), [1, 3]
    kernel, seen = RBF(0.8), [0, 2, 4]
    theirs = GaussianProcessRegressor(kernel, alpha=1e-9, optimizer=None).fit(X[seen], y)
    mean, cov = theirs.predict(X[new], return_cov=True)
    K = kernel(X) + 1e-9 * np.eye(5)
    ours = probability.gaussian_conditional(np.zeros(5), K, seen, y)
    np.testing.assert_allclose(ours.mean, mean, rtol=1e-6)
    np.testing.assert_allclose(ours.cov, cov, atol=1e-8)


def test_categorical_and_dirichlet_equal_scipy():
    rng = np.random.default_rng(1)
    p, alpha = rng.dirichlet(np.ones(5)), rng.uniform(0.3, 6, 5)
    theirs = multinomial(1, p)
    E = np.eye(5)
    np.testing.assert_allclose(
        probability.categorical_log_pmf(E, p), theirs.logpmf(E), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(probability.categorical_moments(p).cov, theirs.cov(), atol=1e-15)
    P = rng.dirichlet(alpha, 10)
    ours = probability.dirichlet_log_density(P, alpha)
    np.testing.assert_allclose(ours, dirichlet(alpha).logpdf(P.T), rtol=1e-9)
    moments = probability.dirichlet_moments(alpha)
    np.testing.assert_allclose(moments.mean, dirichlet(alpha).mean(), rtol=1e-12)
    np.testing.assert_allclose(moments.cov, dirichlet(alpha).cov(), rtol=1e-10)


def test_entropy_and_divergence_equal_scipy():
    P, Q = np.random.default_rng(2).dirichlet(np.full(6, 0.5), (2, 40))
    np.testing.assert_allclose(probability.entropy(P), scipy_entropy(P, axis=1), rtol=1e-12)
    ours = probability.kl_divergence(P, Q)
    np.testing.assert_allclose(ours, scipy_entropy(P, Q, axis=1), rtol=1e-10)


# Estimation ---


@pytest.mark.parametrize("species", range(3))
def test_gaussian_mle_equals_scipy_and_sklearn_on_iris(species):
    X, y = load_iris(return_X_y=True)
    X = X[y == species]
    ours = estimation.multivariate_gaussian_mle(X)
    mean, covariance = stats.multivariate_normal.fit(X)
    np.testing.assert_allclose(ours.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(ours.covariance, covariance, rtol=1e-9)
    np.testing.assert_allclose(ours.covariance, EmpiricalCovariance().fit(X).covariance_, rtol=1e-9)
    value = estimation.multivariate_gaussian_log_likelihood(X, *ours)
    assert value == pytest.approx(stats.multivariate_normal(mean, covariance).logpdf(X).sum())
    for x in X.T:
        location, deviation = stats.norm.fit(x)
        assert estimation.gaussian_mle(x) == pytest.approx((location, deviation**2), rel=1e-12)


def test_laplace_smoothing_is_that_of_sklearns_naive_bayes():
    labels = np.array([0, 2, 4, 3, 3, 5])
    model = CategoricalNB(alpha=0.7, min_categories=7).fit(labels[:, None], np.zeros(6))
    counts = estimation.category_counts(labels, 7)
    theirs = np.exp(model.feature_log_prob_[0][0])
    np.testing.assert_allclose(estimation.categorical_map(counts, 0.7), theirs, rtol=1e-12)


@pytest.mark.parametrize("law", [stats.gumbel_r, stats.logistic, stats.laplace])
def test_numerical_search_finds_the_likelihood_of_scipys_fit(law):
    x = law.rvs(3, 2, size=40, random_state=1)
    ours = estimation.mle(law.logpdf, x, [3.0, 2.0], bounds=[(None, None), (1e-6, None)])
    theirs = law.logpdf(x, *law.fit(x)).sum()
    assert ours.value == pytest.approx(theirs, rel=1e-6)


# Decision theory ---


@pytest.mark.parametrize("seed", range(5))
def test_metrics_of_classes_equal_sklearn(seed):
    rng = np.random.default_rng(seed)
    y, predicted = rng.integers(0, 2, (2, 60))
    ours, theirs = decision_theory, sklearn_metrics
    assert ours.accuracy(y, predicted) == pytest.approx(theirs.accuracy_score(y, predicted))
    assert ours.precision(y, predicted) == pytest.approx(theirs.precision_score(y, predicted))
    assert ours.recall(y, predicted) == pytest.approx(theirs.recall_score(y, predicted))
    negatives = theirs.recall_score(y, predicted, pos_label=0)
    assert ours.specificity(y, predicted) == pytest.approx(negatives)
    for beta in (0.5, 1.0, 2.0):
        want = theirs.fbeta_score(y, predicted, beta=beta)
        assert ours.f_score(y, predicted, beta=beta) == pytest.approx(want)
    fpr, tpr, _ = theirs.roc_curve(y, predicted)
    assert ours.type1_rate(y, predicted) == pytest.approx(fpr[1])
    assert ours.type2_rate(y, predicted) == pytest.approx(1 - tpr[1])
    three, guess = rng.integers(0, 3, (2, 60))
    names = np.array(["b", "c", "a"])
    want = theirs.confusion_matrix(names[three], names[guess]).T
    assert np.array_equal(ours.confusion_matrix(names[three], names[guess]), want)
    loss = ours.empirical_risk(ours.zero_one, guess, three)
    assert loss == pytest.approx(zero_one_loss(three, guess))


def test_probability_and_margin_losses_equal_sklearn():
    rng = np.random.default_rng(0)
    y, p, score = rng.integers(0, 2, 50), rng.uniform(0.01, 0.99, 50), rng.normal(0, 2, 50)
    ours = decision_theory.empirical_risk(decision_theory.log_loss, p, y)
    assert ours == pytest.approx(sklearn_metrics.log_loss(y, p), rel=1e-12)
    hinge = decision_theory.hinge((2 * y - 1) * score).mean()
    assert hinge == pytest.approx(sklearn_metrics.hinge_loss(2 * y - 1, score), rel=1e-12)


def test_metrics_of_regression_equal_sklearn():
    rng = np.random.default_rng(1)
    y, f = rng.normal(5, 2, (2, 80))
    pairs = [
        (decision_theory.mean_squared_error, sklearn_metrics.mean_squared_error),
        (decision_theory.root_mean_squared_error, sklearn_metrics.root_mean_squared_error),
        (decision_theory.mean_absolute_error, sklearn_metrics.mean_absolute_error),
        (decision_theory.r2, sklearn_metrics.r2_score),
    ]
    for ours, theirs in pairs:
        assert ours(y, f) == pytest.approx(theirs(y, f), rel=1e-12)
    assert decision_theory.nrmse(y, f) ** 2 == pytest.approx(1 - sklearn_metrics.r2_score(y, f))


def test_prepared_inputs_equal_sklearn():
    X, y = load_breast_cancer(return_X_y=True)
    ours, theirs = decision_theory.Standardizer().fit(X), StandardScaler().fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.scale_, theirs.scale_, rtol=1e-12)
    names = np.array(["malignant", "benign"])[y]
    encoded = OneHotEncoder(sparse_output=False).fit_transform(names[:, None])
    assert np.array_equal(decision_theory.one_hot(names), encoded)


@pytest.mark.parametrize("prior", [0.5, 0.2, 0.03])
def test_bayes_error_of_gaussians_equals_the_best_threshold(prior):
    # N(-1, 1) and N(1, 1): the error of deciding 1 above t, minimised over t by a scalar search.
    error = minimize_scalar(
        lambda t: (1 - prior) * norm.sf(t, -1) + prior * norm.cdf(t, 1),
        bounds=(-8, 8),
        options={"xatol": 1e-12},
    )
    densities = [norm(-1).pdf, norm(1).pdf]
    table = decision_theory.density_table(densities, [1 - prior, prior], [-12, -4, error.x, 4, 12])
    assert decision_theory.bayes_error(table.joint) == pytest.approx(error.fun, rel=1e-10)


# Optimisation ---


@pytest.mark.parametrize("seed", range(10))
def test_quadratic_programmes_equal_scipy(seed):
    rng = np.random.default_rng(seed)
    M, x0 = rng.normal(size=(6, 4)), rng.normal(size=4)
    P, q = M.T @ M, rng.normal(size=4)
    G, A = rng.normal(size=(6, 4)), rng.normal(size=(1, 4))
    c, b = G @ x0 + rng.uniform(0, 1, 6), A @ x0
    run = optimization.solve_qp(P, q, G, c, A, b)
    theirs = minimize(
        lambda x: 0.5 * x @ P @ x + q @ x,
        x0,
        jac=lambda x: P @ x + q,
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda x: c - G @ x, "jac": lambda x: -G},
            {"type": "eq", "fun": lambda x: A @ x - b, "jac": lambda x: A},
        ],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert run.value == pytest.approx(theirs.fun, rel=1e-8, abs=1e-8)
    assert max(run.residuals) < 1e-10


@pytest.mark.parametrize("seed", range(10))
def test_linear_programmes_equal_scipy(seed):
    rng = np.random.default_rng(seed)
    q, G, c = rng.normal(size=3), rng.normal(size=(8, 3)), rng.uniform(0.1, 1, 8)
    G, c = np.vstack([G, np.eye(3), -np.eye(3)]), np.r_[c, np.full(6, 2.0)]
    run = optimization.solve_qp(np.zeros((3, 3)), q, G, c)
    theirs = linprog(q, G, c, bounds=(None, None))
    assert run.value == pytest.approx(theirs.fun, rel=1e-10)
    np.testing.assert_allclose(run.lam, -theirs.ineqlin.marginals, atol=1e-8)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_dual_of_the_support_vector_machine_by_quadratic_programming(C):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X[:100, :3]), np.where(y[:100] == 1, 1.0, -1.0)
    K, n = np.exp(-squared_distances(X, X) / 2), 100
    run = optimization.solve_qp(
        y[:, None] * K * y,
        -np.ones(n),
        np.vstack([np.eye(n), -np.eye(n)]),
        np.r_[np.full(n, C), np.zeros(n)],
        y[None],
        [0.0],
    )
    ours = smo(K, y, C, tol=1e-8)
    assert -run.value == pytest.approx(ours.dual, rel=1e-9)
    offset = run.nu[0]  # the offset is the multiplier of sum_i alpha_i y_i = 0
    assert primal_objective(run.x, offset, K, y, C) == pytest.approx(-run.value, rel=1e-9)
    theirs = SklearnSVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y)
    w = np.zeros(n)
    w[theirs.support_] = theirs.dual_coef_[0]
    scores = K @ w + theirs.intercept_[0]
    their_primal = 0.5 * w @ K @ w + C * np.maximum(0, 1 - y * scores).sum()
    assert -run.value * (1 - 1e-12) <= their_primal <= -run.value * (1 + 1e-5)


def test_gradient_and_newton_steps_end_where_scipy_ends():
    X, y = load_breast_cancer(return_X_y=True)
    X = np.column_stack([np.ones(len(X)), StandardScaler().fit_transform(X[:, [0, 1, 4]])])

    def f(w):
        return np.logaddexp(0, X @ w).sum() - y @ (X @ w)

    def gradient(w):
        return X.T @ (expit(X @ w) - y)

    def hessian(w):
        p = expit(X @ w)
        return (X.T * (p * (1 - p))) @ X

    theirs = minimize(f, np.zeros(4), jac=gradient, method="BFGS", options={"gtol": 1e-8})
    ours = optimization.newton(f, gradient, hessian, np.zeros(4), line_search=True)
    assert ours.trace[-1] == pytest.approx(theirs.fun, rel=1e-12)
    np.testing.assert_allclose(ours.z, theirs.x, rtol=1e-6)
    step = 4 / np.linalg.eigvalsh(X.T @ X)[-1]
    slow = optimization.gradient_descent(
        f, gradient, np.zeros(4), eta=step, tol=1e-6, max_iter=50_000
    )
    assert slow.converged
    assert slow.n_iter > 10 * ours.n_iter
    np.testing.assert_allclose(slow.z, theirs.x, rtol=1e-5)


# Model selection ---


def test_cross_validation_equals_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    model = sklearn_linear.Ridge(0.05)
    cv = model_selection.cross_validate(model, X, y, folds=7)
    theirs = sklearn_selection.cross_val_score(
        model, X, y, cv=sklearn_selection.KFold(7), scoring="neg_mean_squared_error"
    )
    np.testing.assert_allclose(cv.losses, -theirs, rtol=1e-12)
    np.testing.assert_allclose(
        model_selection.cross_val_score(model, X, y, folds=7),
        sklearn_selection.cross_val_score(model, X, y, cv=sklearn_selection.KFold(7)),
        rtol=1e-12,
    )
    shuffled = sklearn_selection.KFold(4, shuffle=True, random_state=3)  # their folds, our loop
    np.testing.assert_allclose(
        model_selection.cross_val_score(model, X, y, folds=shuffled),
        sklearn_selection.cross_val_score(model, X, y, cv=shuffled),
        rtol=1e-12,
    )
    ours = model_selection.KFold(4, shuffle=True, random_state=3)  # our folds, their loop
    np.testing.assert_allclose(
        model_selection.cross_val_score(model, X, y, folds=ours),
        sklearn_selection.cross_val_score(model, X, y, cv=ours),
        rtol=1e-12,
    )


def test_grid_search_equals_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    grid = {"alpha": [10.0, 1.0, 0.1, 0.01, 0.001]}
    ours = model_selection.grid_search(sklearn_linear.Ridge(), grid, X, y, folds=5)
    theirs = sklearn_selection.GridSearchCV(
        sklearn_linear.Ridge(), grid, cv=5, scoring="neg_mean_squared_error"
    ).fit(X, y)
    np.testing.assert_allclose(ours.means, -theirs.cv_results_["mean_test_score"], rtol=1e-12)
    assert ours.setting == theirs.best_params_


@pytest.mark.parametrize("intercept", [False, True])
def test_leave_one_out_of_ridge_equals_scikit_learn(intercept):
    X, y = load_diabetes(return_X_y=True)
    lambdas = np.geomspace(1e-4, 10, 11)
    ours = model_selection.RidgeCV(lambdas, fit_intercept=intercept).fit(X, y)
    theirs = sklearn_linear.RidgeCV(lambdas, fit_intercept=intercept, store_cv_results=True).fit(
        X, y
    )
    np.testing.assert_allclose(ours.scores_, theirs.cv_results_.mean(axis=0), rtol=1e-9)
    assert ours.lambda_ == theirs.alpha_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)


def test_bic_of_linear_regression_equals_statsmodels():
    X, y = load_diabetes(return_X_y=True)
    A = add_intercept(X[:, :4])
    theirs = OLS(y, A).fit()
    # statsmodels does not count the variance, and multiplies by -2
    assert model_selection.bic(theirs.llf, 5, len(y)) == pytest.approx(theirs.bic / -2)
    ours = model_selection.bic_linear(A, y)
    assert ours == pytest.approx((theirs.bic + np.log(len(y))) / -2, rel=1e-12)


# Least squares -----------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", [(60, 5), (5, 12)])
def test_least_squares_agrees_with_scikit_learn(shape, intercept):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal(shape) + 3, rng.standard_normal(shape[0])
    ours = least_squares.LinearRegression(fit_intercept=intercept).fit(X, y)
    theirs = sklearn_linear.LinearRegression(fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-9, abs=1e-12)
    assert ours.rank_ == theirs.rank_
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-12)


def test_least_squares_agrees_with_statsmodels():
    X, y = load_breast_cancer(return_X_y=True)
    A = np.column_stack([np.ones(len(X)), X[:, :6]])
    theirs = OLS(y, A).fit()
    fit = least_squares.least_squares(A, y)
    np.testing.assert_allclose(fit.w, theirs.params, rtol=1e-8)
    assert fit.rss == pytest.approx(theirs.ssr, rel=1e-10)
    s2 = fit.rss / (len(y) - 7)
    np.testing.assert_allclose(
        np.sqrt(np.diag(least_squares.covariance(A, s2))), theirs.bse, rtol=1e-8
    )
    assert least_squares.log_likelihood(A, y, fit.w, fit.rss / len(y)) == pytest.approx(
        theirs.llf, rel=1e-10
    )
    np.testing.assert_allclose(
        least_squares.leverages(A), theirs.get_influence().hat_matrix_diag, rtol=1e-8
    )


def test_least_absolute_deviations_agree_with_median_regression():
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(81), rng.standard_normal((81, 2))])
    y = X @ [1.0, -2.0, 0.5] + rng.laplace(size=81)
    theirs = QuantReg(y, X).fit(0.5).params
    ours = least_squares.least_absolute_deviations(X, y)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    assert np.abs(y - X @ ours).sum() <= np.abs(y - X @ theirs).sum() + 1e-9


def test_polynomial_features_agree_with_scikit_learn():
    X = np.random.default_rng(2).standard_normal((9, 3))
    theirs = PolynomialFeatures(4).fit_transform(X)
    np.testing.assert_allclose(least_squares.polynomial_features(X, 4), theirs, rtol=1e-12)


# Ridge and lasso ---


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("rows", [442, 8])
def test_ridge_equals_scikit_learn(lam, rows):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:rows], y[:rows]
    ours, theirs = Ridge(lam).fit(X, y), SklearnRidge(alpha=lam).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-10)
    Z, t = X - X.mean(axis=0), y - y.mean()
    best = ridge_objective(ours.coef_, Z, t, lam)
    assert best <= ridge_objective(theirs.coef_, Z, t, lam) * (1 + 1e-13)


@pytest.mark.parametrize("lam", [1.0, 60.0, 900.0])
def test_lasso_equals_scikit_learn(lam):
    X, y = load_diabetes(return_X_y=True)
    n = len(y)
    ours = Lasso(lam).fit(X, y)
    theirs = SklearnLasso(alpha=lam / (2 * n), tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-10)
    Z, t = X - X.mean(axis=0), y - y.mean()
    best = lasso_objective(ours.coef_, Z, t, lam)
    assert best <= lasso_objective(theirs.coef_, Z, t, lam) * (1 + 1e-13)
    assert lasso(Z, t, lam).objective[-1] == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("method", ["lasso", "lar"])
def test_kinks_of_the_path_equal_scikit_learn(method):
    X, y = load_diabetes(return_X_y=True)
    data = centre(X, y)
    path = lars_path(data.X, data.y, drop=method == "lasso")
    alphas, _, coefs = sklearn_lars_path(data.X, data.y, method=method)
    np.testing.assert_allclose(path.lam, 2 * len(y) * alphas, atol=1e-7)
    np.testing.assert_allclose(path.W, coefs.T, atol=1e-6)
    assert not path_at(path, 2000.0).any()


# Bayesian regression ---


def test_evidence_and_posterior_are_those_of_scikit_learn_on_the_diabetes_data():
    X, y = load_diabetes(return_X_y=True)
    y = y - y.mean()
    theirs = sklearn_linear.BayesianRidge(
        alpha_1=0,
        alpha_2=0,
        lambda_1=0,
        lambda_2=0,
        fit_intercept=False,
        tol=1e-10,
        max_iter=2000,
        compute_score=True,
    ).fit(X, y)
    ours = bayesian_regression.BayesianLinearRegression(fit_intercept=False, tol=1e-12).fit(X, y)
    assert ours.alpha_ == pytest.approx(theirs.lambda_, rel=1e-8)
    assert ours.beta_ == pytest.approx(theirs.alpha_, rel=1e-8)
    assert ours.log_evidence_ == pytest.approx(theirs.scores_[-1], rel=1e-10)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
    np.testing.assert_allclose(ours.covariance_, theirs.sigma_, rtol=1e-6, atol=1e-6)
    for a, b in zip(ours.predict(X, return_std=True), theirs.predict(X, return_std=True)):
        np.testing.assert_allclose(a, b, rtol=1e-7)


def test_prediction_is_that_of_a_gaussian_process_with_a_linear_kernel():
    X, y = load_diabetes(return_X_y=True)
    X, y = 20 * X[:60], (y[:60] - y[:60].mean()) / 50
    law = bayesian_regression.isotropic_posterior(X[:40], y[:40], 1.0, 4.0).predict(X[40:])
    theirs = GaussianProcessRegressor(DotProduct(0.0, "fixed"), alpha=0.25, optimizer=None)
    mean, std = theirs.fit(X[:40], y[:40]).predict(X[40:], return_std=True)
    np.testing.assert_allclose(law.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(law.variance, std**2 + 0.25, rtol=1e-8)


# Bias and variance ---


def test_variance_of_predictions_equals_statsmodels():
    X, y = load_diabetes(return_X_y=True)
    X = add_intercept(X)
    fit = OLS(y[:60], X[:60]).fit()
    S = bias_variance.ridge_smoother(X[:60], X[60:80])
    parts = bias_variance.decompose_smoother(S, fit.fittedvalues, fit.predict(X[60:80]), fit.scale)
    theirs = fit.get_prediction(X[60:80])
    np.testing.assert_allclose(parts.variance, theirs.se_mean**2, rtol=1e-9)
    np.testing.assert_allclose(parts.risk, theirs.se_obs**2, rtol=1e-9)  # linear truth: no bias
    np.testing.assert_allclose(S @ y[:60], theirs.predicted_mean, rtol=1e-9)
