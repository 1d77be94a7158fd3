"""Gaussian discriminant analysis: one Gaussian for each class, and Bayes' rule.

Chapter: Classification, *Discriminant analysis*. Main references: Fisher (1936), Friedman (1989).
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import ndtr

from mllib.core.arrays import (
    check_array,
    check_distribution,
    check_result,
    check_sample_weight,
    check_square,
    check_vector,
    check_X_y,
)
from mllib.core.chunks import chunk_parts, in_places, merge_labels, reduce_chunks
from mllib.core.estimators import (
    Classifier,
    Transformer,
    as_output,
    begin_fit,
    check_features,
    check_parameters,
)
from mllib.core.numerics import log_normalise, max_abs, safe_log
from mllib.core.scalars import (
    check_choice,
    check_count,
    check_flag,
    check_probability,
    check_scalar,
)
from mllib.core.tables import keep_names

__all__ = [
    "ClassStatistics",
    "FisherDirections",
    "GaussianClasses",
    "LabelledStatistics",
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "RegularisedDiscriminantAnalysis",
    "class_statistics",
    "estimate_classes",
    "fisher_direction",
    "fisher_directions",
    "fisher_ratio",
    "labelled_statistics",
    "lda_error_rate",
    "linear_rule_error",
    "linear_scores",
    "logistic_form",
    "mahalanobis",
    "quadratic_scores",
    "regularised_covariances",
]


# Records -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassStatistics:
    """All that discriminant analysis needs to know about rows; those of two sets add with ``+``."""

    counts: np.ndarray  #: n_k, rows of class k (or the sum of their weights), shape (K,)
    means: np.ndarray  #: m_k, mean of class k, 0 for a class without rows, shape (K, d)
    scatters: np.ndarray  #: S_k = sum (x - m_k)(x - m_k)^T, (K, d, d), or their sum, (d, d)

    def __add__(self, other):
        """Return the statistics of the rows of both (eq-discriminant-analysis-merge)."""
        if self.scatters.shape != other.scatters.shape:
            raise ValueError(
                f"both statistics must have scatters of one shape, got {self.scatters.shape} and "
                f"{other.scatters.shape}: use the same classes, features and `shared`."
            )
        counts = self.counts + other.counts
        share = other.counts / np.where(counts > 0, counts, 1)
        gap = other.means - self.means
        lever = (self.counts * share)[:, None] * gap
        if self.scatters.ndim == 2:
            between = lever.T @ gap
        else:
            between = lever[:, :, None] * gap[:, None, :]
        means = self.means + share[:, None] * gap
        return ClassStatistics(counts, means, self.scatters + other.scatters + between)

    @property
    def within(self):
        """S_w = sum_k S_k, the within-class scatter, shape (d, d)."""
        return self.scatters if self.scatters.ndim == 2 else self.scatters.sum(axis=0)

    @property
    def between(self):
        """S_b = sum_k n_k (m_k - m)(m_k - m)^T, the between-class scatter, shape (d, d)."""
        gap = self.means - self.counts @ self.means / self.counts.sum()
        return (self.counts[:, None] * gap).T @ gap


@dataclass(frozen=True)
class LabelledStatistics:
    """The statistics of rows with labels of any kind; two sets need not hold the same classes."""

    classes: np.ndarray  #: the labels that occur, sorted, shape (K,)
    rows: np.ndarray  #: how many rows of positive weight each class has, shape (K,)
    statistics: ClassStatistics  #: of these classes, in this order

    def __add__(self, other):
        """Return the statistics of the rows of both; each class is put where it belongs."""
        classes, places = merge_labels(self.classes, other.classes)
        first, second = (part._among(len(classes), at) for part, at in zip((self, other), places))
        rows, statistics = (a + b for a, b in zip(first, second))
        return LabelledStatistics(classes, rows, statistics)

    def _among(self, K, places):
        """Return rows and statistics as of K classes, of which these have the given places."""
        counts, means, S = (getattr(self.statistics, f) for f in ("counts", "means", "scatters"))
        wide = ClassStatistics(
            in_places(counts, places, K),
            in_places(means, places, K),
            S if S.ndim == 2 else in_places(S, places, K),
        )
        return in_places(self.rows, places, K), wide


class GaussianClasses(NamedTuple):
    """K Gaussian classes: p(k) = pi_k and p(x | k) = N(x; mu_k, Sigma_k)."""

    priors: np.ndarray  #: pi_k, sum one, shape (K,)
    means: np.ndarray  #: mu_k, shape (K, d)
    covariances: np.ndarray  #: Sigma_k, shape (K, d, d); one Sigma for all classes, shape (d, d)


class FisherDirections(NamedTuple):
    """The directions that spread the class means furthest against the spread within classes."""

    directions: np.ndarray  #: columns w_j with w_i^T S_w w_j = n [i = j], shape (d, r)
    ratios: np.ndarray  #: w_j^T S_b w_j / w_j^T S_w w_j, largest first, shape (r,)


# Functions: what is counted ------------------------------------------------------------------


def _check_index(y, n, K):
    """Return the class indices and K, the largest index plus one unless it is given."""
    y = np.asarray(y)
    if y.shape != (n,) or y.dtype.kind not in "iu" or (n and y.min() < 0):
        raise ValueError(
            f"y must hold {n} class indices 0, 1, ..., got shape {y.shape} and dtype {y.dtype}: "
            f"use numpy.unique(y, return_inverse=True)."
        )
    largest = int(y.max()) + 1 if n else 1
    if K is None:
        return y, largest
    check_count(K, "K")
    if largest > K:
        raise ValueError(f"y must hold class indices below K = {K}, got {largest - 1}.")
    return y, K


def class_statistics(X, y, K=None, *, weights=None, shared=False):
    """Return the counts n_k, the means m_k and the scatters S_k = sum (x_i - m_k)(x_i - m_k)^T.

    Book: discriminant-analysis-additive. Chan, Golub and LeVeque (1983).

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of int of shape (n,); class of each row, 0 to K - 1
    K : int, optional; number of classes; a chunk of the data need not hold them all
    weights : array of shape (n,), optional; how often each row counts
    shared : bool; whether only the sum of the scatters, (d, d), is kept: enough for one covariance

    Examples
    --------
    >>> X, y = np.array([[0.0], [2.0], [5.0], [6.0], [4.0]]), np.array([0, 0, 1, 1, 1])
    >>> both = class_statistics(X[:3], y[:3], 2) + class_statistics(X[3:], y[3:], 2)
    >>> both.means.ravel(), both.scatters.ravel()
    (array([1., 5.]), array([2., 2.]))
    """
    X = check_array(X)
    y, K = _check_index(y, len(X), K)
    weights = check_sample_weight(weights, len(X), "weights", ones=True)
    d = X.shape[1]
    order = np.argsort(y, kind="stable")
    edges = np.searchsorted(y[order], np.arange(K + 1))
    counts, means = np.zeros(K), np.zeros((K, d))
    scatters = np.zeros((d, d) if shared else (K, d, d))
    for k in range(K):
        rows = order[edges[k] : edges[k + 1]]
        Z, w = X[rows], weights[rows]
        counts[k] = w.sum()
        if counts[k] > 0:
            means[k] = w @ Z / counts[k]
            Z = np.sqrt(w)[:, None] * (Z - means[k])
            S = scatters if shared else scatters[k]
            S += Z.T @ Z
    return ClassStatistics(counts, means, scatters)


def labelled_statistics(chunk, shared=False, name="The classifier"):
    """Return the statistics of a chunk (X, y) or (X, y, sample_weight) with labels of any kind.

    ``shared`` is as in ``class_statistics``, ``name`` says in messages whose sample it is.

    Examples
    --------
    >>> parts = [labelled_statistics(([[x]], [k])) for x, k in ((1.0, "b"), (5.0, "a"), (3.0, "b"))]
    >>> both = parts[0] + parts[1] + parts[2]
    >>> both.classes.tolist(), both.statistics.means.ravel().tolist()
    (['a', 'b'], [5.0, 2.0])
    """
    X, y, weights = chunk_parts(chunk, ("X", "y", "sample_weight"), 2)
    X, classes, index = check_X_y(X, y, name, min_classes=1)
    weights = check_sample_weight(weights, len(X), ones=True)
    if not (weights > 0).all():
        kept = weights > 0
        X, classes, index = check_X_y(X[kept], classes[index[kept]], name, min_classes=1)
        weights = weights[kept]
    K, rows = len(classes), np.bincount(index)
    with np.errstate(over="ignore", invalid="ignore"):
        statistics = class_statistics(X, index, K, weights=weights, shared=shared)
    return LabelledStatistics(classes, rows, statistics)


# Functions: what is estimated ----------------------------------------------------------------


def _divisors(statistics, shared, unbiased):
    """Return n - K or n for one shared covariance, n_k - 1 or n_k for one per class."""
    n = statistics.counts
    if (n <= 0).any():
        raise ValueError(f"class {np.argmin(n)} has no rows: drop the class or add rows of it.")
    divisor = n.sum() - len(n) * unbiased if shared else n - unbiased
    if np.min(divisor) <= 0:
        raise ValueError(
            "unbiased=True divides by n - K or n_k - 1 and needs more rows: each class needs at "
            "least 2; add rows or use unbiased=False."
        )
    return divisor


def _check_priors(priors, counts):
    """Return the given priors, or the shares n_k / n."""
    if priors is None:
        return counts / counts.sum()
    return check_distribution(check_vector(priors, "priors", length=len(counts)), "priors")


def _constrained(Sigma, covariance_type):
    """Return Sigma, its diagonal, or the multiple of I with its trace."""
    check_choice(covariance_type, "covariance_type", ("full", "diag", "spherical"))
    if covariance_type == "full":
        return Sigma
    variances = np.diagonal(Sigma, axis1=-2, axis2=-1)
    if covariance_type == "spherical":
        variances = variances.mean(axis=-1, keepdims=True)
    return variances[..., None] * np.eye(Sigma.shape[-1])


def estimate_classes(
    statistics, *, shared=False, unbiased=False, priors=None, covariance_type="full"
):
    """Return pi_k = n_k / n, mu_k = m_k and Sigma_k = S_k / n_k, or one Sigma = sum_k S_k / n.

    Book: discriminant-analysis-da-estimates.

    Parameters
    ----------
    statistics : ClassStatistics
    shared : bool; one covariance for all classes (LDA) or one for each (QDA)
    unbiased : bool; divide by n_k - 1, or by n - K if shared; the default is maximum likelihood
    priors : array of shape (K,), optional; used in the place of n_k / n
    covariance_type : str; "full"; "diag" keeps the variances only, "spherical" their mean

    Examples
    --------
    >>> statistics = class_statistics([[0.0], [2.0], [5.0], [9.0]], np.array([0, 0, 1, 1]))
    >>> estimate_classes(statistics, shared=True, unbiased=True).covariances
    array([[5.]])
    """
    if not shared and statistics.scatters.ndim == 2:
        raise ValueError("statistics must keep one scatter per class: use shared=False for them.")
    divisor = _divisors(statistics, shared, check_flag(unbiased, "unbiased"))
    if shared:
        covariances = statistics.within / divisor
    else:
        covariances = statistics.scatters / divisor[:, None, None]
    covariances = _constrained(covariances, covariance_type)
    return GaussianClasses(_check_priors(priors, statistics.counts), statistics.means, covariances)


def regularised_covariances(statistics, alpha, gamma, *, unbiased=False):
    """Return (1 - gamma) A_k + gamma (tr A_k / d) I with A_k = alpha S_k/n_k + (1 - alpha) S_w/n.

    Book: discriminant-analysis-rda. Friedman (1989), who weights S_k and S_w by their counts.

    Parameters
    ----------
    statistics : ClassStatistics; with one scatter per class
    alpha, gamma, unbiased : as for ``RegularisedDiscriminantAnalysis``
    """
    check_probability(alpha, "alpha")
    check_probability(gamma, "gamma")
    check_flag(unbiased, "unbiased")
    own = estimate_classes(statistics, unbiased=unbiased and alpha > 0).covariances
    pooled = estimate_classes(statistics, shared=True, unbiased=unbiased).covariances
    A = alpha * own + (1 - alpha) * pooled
    d = A.shape[-1]
    level = np.trace(A, axis1=1, axis2=2) / d
    return (1 - gamma) * A + gamma * level[:, None, None] * np.eye(d)


# Functions: scores and rules -----------------------------------------------------------------


def _factor(covariance, name="covariance"):
    """Return the lower Cholesky factor, or say that the covariance has none."""
    try:
        return cholesky(covariance, lower=True)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"{name} must be positive definite, but it is singular: use more rows than features, "
            f"drop constant or repeated features, or shrink it (regularised_covariances)."
        ) from error


def quadratic_scores(X, classes):
    """Return g_k(x) = log pi_k - log|Sigma_k| / 2 - (x - mu_k)^T Sigma_k^{-1} (x - mu_k) / 2.

    It is log p(x, k) up to the constant d log(2 pi) / 2; shape (n, K). One Sigma may serve all.

    Book: discriminant-analysis-qda.

    Examples
    --------
    >>> classes = GaussianClasses(np.array([0.5, 0.5]), np.array([[0.0], [0.0]]),
    ...                           np.array([[[1.0]], [[4.0]]]))
    >>> quadratic_scores([[0.0], [3.0]], classes).argmax(axis=1)
    array([0, 1])
    """
    priors, means, covariances = classes
    X = check_array(X)
    scores = np.empty((len(X), len(means)))
    for k, mean in enumerate(means):
        L = _factor(covariances if covariances.ndim == 2 else covariances[k])
        Z = solve_triangular(L, (X - mean).T, lower=True)
        half_log_det = np.log(np.diag(L)).sum()
        scores[:, k] = safe_log(priors[k]) - half_log_det - 0.5 * np.einsum("ji,ji->i", Z, Z)
    return scores


def _linear_form(classes):
    """Return W, b and the centre c with scores (x - c)^T w_k + b_k."""
    priors, means, covariance = classes
    c = priors @ means
    L = _factor(covariance)
    U = solve_triangular(L, (means - c).T, lower=True)
    W = solve_triangular(L, U, lower=True, trans="T").T
    return W, safe_log(priors) - 0.5 * np.einsum("jk,jk->k", U, U), c


def _score_linearly(X, form):
    """Return (x - c)^T w_k + b_k with the W, b and c of ``_linear_form``."""
    W, b, c = form
    return (X - c) @ W.T + b


def linear_scores(X, classes):
    """Return log pi_k + mu_k^T Sigma^{-1} x - mu_k^T Sigma^{-1} mu_k / 2, measured from the centre.

    The classes share one Sigma. The origin is moved to c = sum_k pi_k mu_k, so that data far from 0
    keep their digits; it changes no difference between scores.

    Book: discriminant-analysis-lda.
    """
    return _score_linearly(check_array(X), _linear_form(classes))


def logistic_form(classes):
    """Return w and b with p(second class | x) = 1 / (1 + exp(-(w^T x + b))) for one Sigma.

    w = Sigma^{-1} (mu_2 - mu_1) and
    b = (mu_1^T Sigma^{-1} mu_1 - mu_2^T Sigma^{-1} mu_2) / 2 + log(pi_2 / pi_1).

    Book: discriminant-analysis-lda-logistic-equivalence.

    Examples
    --------
    >>> two = GaussianClasses(np.array([0.1, 0.9]), np.array([[0.0], [1.0]]), np.eye(1))
    >>> w, b = logistic_form(two)
    >>> bool(np.isclose(1 / (1 + np.exp(-(0.5 * w[0] + b))), 0.9))
    True
    """
    priors, (mu_1, mu_2), covariance = classes
    w = cho_solve((_factor(covariance), True), mu_2 - mu_1)
    return w, float(-w @ (mu_1 + mu_2) / 2 + safe_log(priors[1]) - safe_log(priors[0]))


def mahalanobis(X, mean, covariance):
    """Return the distances sqrt((x - mean)^T covariance^{-1} (x - mean)) of the rows of X.

    Examples
    --------
    >>> mahalanobis([[3.0, 0.0], [0.0, 3.0]], [0.0, 0.0], [[9.0, 0.0], [0.0, 1.0]])
    array([1., 3.])
    """
    X = check_array(X)
    mean = check_vector(mean, "mean", length=X.shape[1])
    L = _factor(check_square(covariance, "covariance", size=X.shape[1], symmetric=True))
    return np.linalg.norm(solve_triangular(L, (X - mean).T, lower=True), axis=0)


def linear_rule_error(w, b, classes):
    """Return the exact error of the rule "second class where w^T x + b > 0" on two Gaussians.

    w^T x + b is Gaussian with mean w^T mu_k + b and variance w^T Sigma_k w in class k, so that

        error = pi_1 Phi((w^T mu_1 + b) / s_1) + pi_2 Phi(-(w^T mu_2 + b) / s_2).

    Book: discriminant-analysis-error-rate.

    Examples
    --------
    >>> two = GaussianClasses(np.array([0.5, 0.5]), np.array([[-1.0], [1.0]]), np.eye(1))
    >>> round(float(linear_rule_error([1.0], 0.0, two)), 6)
    0.158655
    """
    priors, means, covariances = classes
    w = check_vector(w, "w", length=means.shape[1])
    if not w.any():
        raise ValueError("w must not be 0: a constant answer has no boundary.")
    check_scalar(b, "b")
    s = np.sqrt(w @ covariances @ w)
    return priors @ ndtr(np.array([1, -1]) * (means @ w + b) / s)


def lda_error_rate(delta, prior=0.5):
    """Return the Bayes error of two Gaussians with one covariance, Phi(-Delta/2) for prior 1/2.

    ``delta`` is the Mahalanobis distance of the means, ``prior`` that of the second class. With
    t = log(prior / (1 - prior)) the error is
    (1 - prior) Phi(-Delta/2 + t/Delta) + prior Phi(-Delta/2 - t/Delta).

    Book: discriminant-analysis-error-rate.

    Examples
    --------
    >>> round(float(lda_error_rate(2.0)), 6)
    0.158655
    """
    check_probability(prior, "prior", inside=True)
    delta = np.asarray(delta, dtype=np.float64)
    if not (delta > 0).all():
        raise ValueError("delta must be above 0: classes with one mean cannot be told apart.")
    t = np.log(prior / (1 - prior))
    below, above = -delta / 2 + t / delta, -delta / 2 - t / delta
    return (1 - prior) * ndtr(below) + prior * ndtr(above)


# Functions: Fisher ---------------------------------------------------------------------------


def fisher_ratio(w, S_b, S_w):
    """Return J(w) = w^T S_b w / w^T S_w w, the scatter between classes over that within them.

    Book: discriminant-analysis-fisher-criterion.

    Examples
    --------
    >>> fisher_ratio([1.0, 0.0], [[4.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 1.0]])
    2.0
    """
    w = check_vector(w, "w")
    S_b = check_square(S_b, "S_b", size=len(w), symmetric=True)
    S_w = check_square(S_w, "S_w", size=len(w), symmetric=True)
    below = w @ S_w @ w
    if not below > 0:
        raise ValueError("w must have w^T S_w w > 0: along it the classes have no spread.")
    return check_result(float(w @ S_b @ w / below), "w")


def fisher_direction(m_1, m_2, S_w):
    """Return S_w^{-1} (m_2 - m_1), which maximises Fisher's ratio for two classes.

    It points from the first mean to the second; S_w is the scatter within, or a multiple of it.

    Book: discriminant-analysis-fisher-direction. Fisher (1936).

    Examples
    --------
    >>> fisher_direction([0.0, 0.0], [2.0, 1.0], [[2.0, 0.0], [0.0, 1.0]])
    array([1., 1.])
    """
    m_1 = check_vector(m_1, "m_1")
    m_2 = check_vector(m_2, "m_2", length=len(m_1))
    L = _factor(check_square(S_w, "S_w", size=len(m_1), symmetric=True), "S_w")
    return cho_solve((L, True), m_2 - m_1)


def fisher_directions(statistics, covariance=None):
    """Solve S_b w = lambda S_w w for the min(K - 1, d) largest lambda; all others are 0.

    With S_w / n = L L^T the vectors u = L^T w turn the problem into an ordinary one, whose
    matrix is M^T M with the rows sqrt(n_k / n) L^{-1}(m_k - m) of M. A ``covariance`` takes the
    place of S_w / n. The largest entry of each direction is positive.

    Book: discriminant-analysis-fisher-subspace. Rao (1948).
    """
    counts, means = statistics.counts, statistics.means
    n = counts.sum()
    within = statistics.within / n if covariance is None else covariance
    L = _factor(within, "covariance, the scatter within classes,")
    gap = means - counts @ means / n
    M = solve_triangular(L, gap.T, lower=True).T
    _, s, Vt = np.linalg.svd(np.sqrt(counts / n)[:, None] * M, full_matrices=False)
    r = min(len(counts) - 1, means.shape[1])
    W = solve_triangular(L, Vt[:r].T, lower=True, trans="T")
    W *= np.sign(W[np.abs(W).argmax(axis=0), np.arange(r)])
    return FisherDirections(W, s[:r] ** 2)


# Estimators ----------------------------------------------------------------------------------


def _refuse_singular(covariance, scale, whose, remedy):
    """Raise if a covariance is singular up to rounding, whatever the units of the features."""
    flat = np.diag(covariance) <= (1e-13 * scale) ** 2
    if flat.any():
        j = int(np.argmax(flat))
        raise ValueError(f"Feature {j} of X does not vary within {whose}: drop it, or {remedy}.")
    spread = np.sqrt(np.diag(covariance))
    try:
        pivots = np.diag(cholesky(covariance / np.outer(spread, spread)))
    except np.linalg.LinAlgError:
        pivots = np.zeros(1)
    if pivots.min() < 1e-7:
        raise ValueError(
            f"The covariance of {whose} is singular, since some features determine another: drop "
            f"one of them, or {remedy}."
        )


class _GaussianClassifier(Classifier):
    """What the estimators of this chapter share: checks, scores, posteriors."""

    _shared = False

    def fit(self, X, y, sample_weight=None):
        """Estimate from X of shape (n, d) and labels y of shape (n,); return self."""
        begin_fit(self, X)
        name = type(self).__name__
        return self._fit(labelled_statistics((X, y, sample_weight), self._shared, name))

    def fit_chunks(self, chunks, workers=1):
        """Fit to chunks (X, y) or (X, y, sample_weight), as ``fit`` to all rows; return self."""
        check_parameters(self)
        total = reduce_chunks(partial(labelled_statistics, shared=self._shared), chunks, workers)
        keep_names(self, total.names)
        return self._fit(total.value)

    def _fit(self, labelled):
        """Remember the classes and estimate from the statistics of the sample."""
        if len(labelled.classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes in y, got 1 class: add samples "
                f"of another class."
            )
        if not np.isfinite(labelled.statistics.scatters).all():
            raise ValueError("X or its weights are too large, squares overflow: divide by a unit.")
        self.classes_, self.n_features_in_ = labelled.classes, labelled.statistics.means.shape[1]
        return self._estimate(labelled.statistics, labelled.rows)

    def _store(self, model):
        self.priors_, self.means_, self.covariances_ = model
        return self

    def _scores(self, X):
        return quadratic_scores(X, GaussianClasses(self.priors_, self.means_, self.covariances_))

    def decision_function(self, X):
        """Return the scores g_k(x), shape (n, K); for two classes g_2 - g_1, shape (n,)."""
        scores = self._scores(check_features(self, X))
        return scores if len(self.classes_) > 2 else scores[:, 1] - scores[:, 0]

    def predict_proba(self, X):
        """Return the posteriors p(k | x), shape (n, K)."""
        return log_normalise(self._scores(check_features(self, X)))[0]

    def predict_log_proba(self, X):
        """Return log p(k | x), shape (n, K)."""
        scores = self._scores(check_features(self, X))
        return scores - log_normalise(scores)[1][:, None]

    def predict(self, X):
        """Return the labels argmax_k g_k(x), the first class at a tie; shape (n,)."""
        scores = self._scores(check_features(self, X))
        return self.classes_[scores.argmax(axis=1)]


class LinearDiscriminantAnalysis(_GaussianClassifier, Transformer):
    """Gaussian classes with one covariance: argmax_k log pi_k + log N(x; mu_k, Sigma).

    Needs n >= d + K rows; otherwise Sigma is singular and the sample is refused.

    Book: discriminant-analysis-lda. Hastie, Tibshirani and Friedman (2009), section 4.3.

    Parameters
    ----------
    priors : array of shape (K,), optional; pi_k of the sorted classes; by default n_k / n
    unbiased : bool; divide the scatter by n - K; the default is maximum likelihood, by n
    covariance_type : str
        "full"; "diag" or "spherical" estimate less, and are fitted from fewer rows. With
        "spherical" and equal priors each point goes to the nearest class mean.

    Attributes
    ----------
    classes_ : array of shape (K,)
    priors_, means_, covariances_ : arrays of shape (K,), (K, d), (d, d); pi_k, mu_k and Sigma
    coef_, intercept_ : (K, d), (K,); linear scores; of two classes (1, d), (1,), the logistic form
    fisher_ : FisherDirections; the directions that `transform` projects on

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"]
    >>> LinearDiscriminantAnalysis().fit(X, y).predict([[2.7], [2.8]])
    array(['a', 'b'], dtype='<U1')
    """

    _shared = True

    def __init__(self, priors=None, unbiased=False, covariance_type="full"):
        self.priors = priors
        self.unbiased = unbiased
        self.covariance_type = covariance_type

    def _estimate(self, statistics, rows):
        K, d = statistics.means.shape
        model = estimate_classes(
            statistics,
            shared=True,
            unbiased=self.unbiased,
            priors=self.priors,
            covariance_type=self.covariance_type,
        )
        remedy = "shrink with RegularisedDiscriminantAnalysis(alpha=0, gamma=0.1)"
        if self.covariance_type == "full" and rows.sum() < d + K:
            raise ValueError(
                f"X has {rows.sum()} rows, but {d} features in {K} classes need at least n = d + K "
                f"= {d + K} rows for an invertible covariance: add rows, or {remedy}."
            )
        size = np.abs(model.means).max(axis=0)
        _refuse_singular(model.covariances, size, "the classes", remedy)
        self._store(model)
        W, b, c = self._form = _linear_form(model)
        if K == 2:
            W, b = W[1:] - W[:1], b[1:] - b[:1]
        self.coef_, self.intercept_ = W, b - W @ c
        self.fisher_ = fisher_directions(statistics, model.covariances)
        return self

    def _scores(self, X):
        W, b, c = self._form
        if max_abs(np.abs(W) @ np.abs(c)) < 1e3:  # to centre would save no digits
            return X @ W.T + (b - W @ c)
        return _score_linearly(X, self._form)

    def transform(self, X):
        """Return the coordinates of the rows of X along Fisher's directions, best first."""
        Z = (check_features(self, X) - self.priors_ @ self.means_) @ self.fisher_.directions
        return as_output(self, Z, X)

    @property
    def _n_features_out(self):
        return self.fisher_.directions.shape[1]


class QuadraticDiscriminantAnalysis(_GaussianClassifier):
    """Gaussian classes, each with its own covariance: argmax_k log pi_k + log N(x; mu_k, Sigma_k).

    Every class needs n_k >= d + 1 rows; otherwise Sigma_k is singular and the sample is refused.

    Book: discriminant-analysis-qda. Hastie, Tibshirani and Friedman (2009), section 4.3.

    Parameters
    ----------
    priors, covariance_type : as for ``LinearDiscriminantAnalysis``
    unbiased : bool; divide each scatter by n_k - 1; the default is maximum likelihood, by n_k

    Attributes
    ----------
    classes_ : array of shape (K,)
    priors_, means_, covariances_ : arrays of shape (K,), (K, d), (K, d, d); pi_k, mu_k and Sigma_k

    Examples
    --------
    >>> X, y = [[-1.0], [0.0], [1.0], [-4.0], [0.0], [4.0]], [0, 0, 0, 1, 1, 1]
    >>> QuadraticDiscriminantAnalysis().fit(X, y).predict([[-3.0], [0.5], [3.0]])
    array([1, 0, 1])
    """

    def __init__(self, priors=None, unbiased=False, covariance_type="full"):
        self.priors = priors
        self.unbiased = unbiased
        self.covariance_type = covariance_type

    def _estimate(self, statistics, rows):
        model = estimate_classes(
            statistics,
            unbiased=self.unbiased,
            priors=self.priors,
            covariance_type=self.covariance_type,
        )
        d = self.n_features_in_
        remedy = "shrink with RegularisedDiscriminantAnalysis(alpha=0.5, gamma=0.1)"
        for name, n_k, mean, covariance in zip(self.classes_, rows, model.means, model.covariances):
            if self.covariance_type == "full" and n_k < d + 1:
                raise ValueError(
                    f"Class {name!s:.40} of y has {n_k} row(s), but the covariance of {d} features "
                    f"needs at least n_k = d + 1 = {d + 1} to be invertible: add rows, or {remedy}."
                )
            _refuse_singular(covariance, np.abs(mean), f"class {name}", remedy)
        return self._store(model)


class RegularisedDiscriminantAnalysis(_GaussianClassifier):
    """Gaussian classes with shrunken covariances: between QDA, LDA and one sphere for each class.

    Sigma_k = (1 - gamma) A_k + gamma (tr A_k / d) I, with A_k = alpha S_k/n_k + (1 - alpha) S_w/n.
    With gamma above 0 it takes samples with fewer rows than features, unless some A_k is 0.

    Book: discriminant-analysis-rda. Friedman (1989).

    Parameters
    ----------
    alpha : float; 1 keeps the covariance of each class (QDA), 0 takes the pooled one (LDA)
    gamma : float
        In [0, 1]; shrinks towards a multiple of I: the features should have comparable units.
    priors : as for ``LinearDiscriminantAnalysis``
    unbiased : bool; divide by n_k - 1 and n - K; the default is maximum likelihood, by n_k and n

    Attributes
    ----------
    classes_ : array of shape (K,)
    priors_, means_, covariances_ : arrays of shape (K,), (K, d), (K, d, d); pi_k, mu_k and Sigma_k

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [4.0, 5.0], [6.0, 6.0]], [0, 0, 1, 1]
    >>> RegularisedDiscriminantAnalysis().fit(X, y).predict([[1.0, 0.0], [5.0, 4.0]])
    array([0, 1])
    """

    def __init__(self, alpha=0.5, gamma=0.1, priors=None, unbiased=False):
        self.alpha = alpha
        self.gamma = gamma
        self.priors = priors
        self.unbiased = unbiased

    def _remedy(self, statistics):
        """Return what would mend a singular covariance; S_w holds the spread of every S_k."""
        if not statistics.within.any():
            return "add rows: no class holds two different ones"
        if self.gamma == 0:
            return "raise gamma above 0" + (" or lower alpha" if self.alpha == 1 else "")
        if self.alpha == 1:
            return "lower alpha, which lends each class the spread of the others"
        return "bring the features to comparable units, by their standard deviations"

    def _estimate(self, statistics, rows):
        alpha, gamma = self.alpha, self.gamma
        covariances = regularised_covariances(statistics, alpha, gamma, unbiased=self.unbiased)
        remedy = self._remedy(statistics)
        for name, mean, covariance in zip(self.classes_, statistics.means, covariances):
            _refuse_singular(covariance, np.abs(mean), f"class {name}", remedy)
        priors = _check_priors(self.priors, statistics.counts)
        return self._store(GaussianClasses(priors, statistics.means, covariances))
