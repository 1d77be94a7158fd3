"""Naive Bayes: a classifier that takes the features as independent once the class is known.

Chapter: Classification, *Naive Bayes*. Main references: Maron (1961), Domingos and Pazzani (1997).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mllib.core.arrays import (
    as_array,
    check_array,
    check_distribution,
    check_labels,
    check_sample_weight,
    check_vector,
)
from mllib.core.chunks import chunk_parts, in_places, merge_labels, reduce_chunks
from mllib.core.compiled import compiled, compiling
from mllib.core.estimators import Classifier, begin_fit, check_features, check_parameters
from mllib.core.numerics import log_sum_exp, safe_log
from mllib.core.scalars import check_choice, check_scalar
from mllib.core.tables import keep_names

__all__ = [
    "BernoulliFeatures",
    "BernoulliNB",
    "CategoricalCounts",
    "CategoricalFeatures",
    "CategoricalNB",
    "Counts",
    "GaussianFeatures",
    "GaussianNB",
    "LabelledSums",
    "MixedNB",
    "Moments",
    "bernoulli_log_likelihoods",
    "categorical_log_likelihoods",
    "class_counts",
    "class_moments",
    "class_prior",
    "class_variances",
    "conditional_tables",
    "gaussian_log_likelihoods",
    "linear_weights",
    "log_posterior",
    "merge_counts",
    "merge_moments",
    "n_parameters",
    "scores",
]


# Records -------------------------------------------------------------------------------------


class Counts(NamedTuple):
    """How often each value of each feature occurred in each class; counts of two samples add."""

    n: np.ndarray  #: n_k, examples (or total weight) of class k, shape (K,)
    tables: tuple  #: N_kv for each feature, shape (K, V_j) each


class Moments(NamedTuple):
    """Sizes, means and squared deviations of each feature within each class."""

    n: np.ndarray  #: n_k, examples (or total weight) of class k, shape (K,)
    mean: np.ndarray  #: mu_kj, shape (K, d); 0 for a class without examples
    scatter: np.ndarray  #: sum over class k of (x_ij - mu_kj)^2, shape (K, d)


class CategoricalCounts(NamedTuple):
    """Counts together with what was counted, so that two samples need not hold the same values."""

    categories: tuple  #: the values that feature j takes, sorted, shape (V_j,) each
    counts: Counts  #: how often, in this order


@dataclass(frozen=True)
class LabelledSums:
    """All that naive Bayes needs to know about labelled rows; ``+`` joins two sets of rows."""

    classes: np.ndarray  #: the labels that occur, sorted, shape (K,)
    n: np.ndarray  #: n_k, rows (or total weight) of each, shape (K,)
    parts: tuple  #: for each kind of feature its Moments, Counts or CategoricalCounts

    def __add__(self, other):
        """Return the sums over the rows of both; each class is put where it belongs."""
        classes, (here, there) = merge_labels(self.classes, other.classes)
        K = len(classes)
        n = in_places(self.n, here, K) + in_places(other.n, there, K)
        pairs = zip(self.parts, other.parts, strict=True)
        parts = tuple(_merge(_among(a, here, K), _among(b, there, K)) for a, b in pairs)
        return LabelledSums(classes, n, parts)


class CategoricalFeatures(NamedTuple):
    """Fitted tables of categorical features."""

    categories: tuple  #: the known values of each feature, sorted, shape (V_j,) each
    tables: tuple  #: p(x_j = v | k), shape (K, V_j) each
    unseen: str = "error"  #: "error" or "missing": what another value means

    def log_likelihoods(self, X):
        """Return sum_j log p(x_j | k) for each row of X and each class, shape (m, K)."""
        codes = _codes(X, self.categories, self.unseen)
        if not compiling():
            return categorical_log_likelihoods(codes, self.tables)
        g = np.zeros((len(X), len(self.tables[0])))
        start = np.cumsum([0, *(len(known) for known in self.categories[:-1])])
        _add_entries(codes, start, np.concatenate([safe_log(t).T for t in self.tables]), g)
        return g


class BernoulliFeatures(NamedTuple):
    """Fitted probabilities of binary features."""

    p: np.ndarray  #: P(x_j = 1 | k), shape (K, d)
    threshold: float  #: a value above it counts as 1

    def log_likelihoods(self, X):
        """Return sum_j log p(x_j | k) for each row of X and each class, shape (m, K)."""
        return bernoulli_log_likelihoods(np.greater(X, self.threshold), self.p)


class GaussianFeatures(NamedTuple):
    """Fitted means and variances of numeric features."""

    mean: np.ndarray  #: mu_kj, shape (K, d)
    variance: np.ndarray  #: sigma_kj^2, shape (K, d)

    def log_likelihoods(self, X):
        """Return sum_j log p(x_j | k) for each row of X and each class, shape (m, K)."""
        return gaussian_log_likelihoods(X, self.mean, self.variance)


# Functions -----------------------------------------------------------------------------------


def _whole(a, name):
    """Return an array of whole numbers as integers, or say that it is none."""
    a = as_array(a, name)
    if a.dtype.kind not in "biu":
        if a.dtype.kind != "f" or not np.isfinite(a).all() or (a != np.floor(a)).any():
            raise ValueError(f"{name} must hold whole numbers: number the categories from 0.")
        a = a.astype(np.intp)
    return a


def _check_classes(X, y, n_classes, weights):
    check_scalar(n_classes, "n_classes", low=1, integer=True)
    y = _whole(y, "y")
    if y.shape != (len(X),):
        raise ValueError(f"y must have one entry for each of the {len(X)} rows of X.")
    if len(y) and (y.min() < 0 or y.max() >= n_classes):
        raise ValueError(f"y must hold class numbers from 0 to n_classes - 1 = {n_classes - 1}.")
    return y, check_sample_weight(weights, len(X), "weights", chunk=True)


def class_counts(X, y, n_classes, n_values, weights=None):
    """Return n_k = sum_i [y_i = k] and N_kv = sum_i [y_i = k][x_ij = v] for every feature j.

    Counts of disjoint samples add (``merge_counts``), so a large sample can be counted in pieces.

    Book: naive-bayes-mle.

    Parameters
    ----------
    X : array of shape (n, d); codes: feature j takes the values 0, ..., n_values[j] - 1
    y : array of shape (n,); class numbers 0, ..., n_classes - 1
    n_classes : int; K
    n_values : sequence of d ints; V_j, the number of values of each feature over all classes
    weights : array of shape (n,), optional; how often each row counts; 1 by default

    Examples
    --------
    >>> class_counts([[0, 1], [2, 1], [0, 0]], [0, 1, 0], 2, [3, 2]).tables[0]
    array([[2, 0, 0],
           [0, 0, 1]])
    """
    X = _whole(X, "X")
    if X.ndim != 2 or X.shape[1] != len(n_values):
        raise ValueError(f"X must have shape (n, {len(n_values)}), one column for each feature.")
    y, weights = _check_classes(X, y, n_classes, weights)
    if X.size and ((X.min(axis=0) < 0).any() or (X.max(axis=0) >= n_values).any()):
        raise ValueError("X must hold codes from 0 to n_values[j] - 1 in column j.")
    tables = []
    for x, V in zip(X.T, n_values):
        cells = np.bincount(y * V + x, weights, minlength=n_classes * V)
        tables.append(cells.reshape(n_classes, V))  # (eq-naive-bayes-counts)
    return Counts(np.bincount(y, weights, minlength=n_classes), tuple(tables))


def merge_counts(first, second):
    """Return the counts of two disjoint samples together: everything adds.

    Examples
    --------
    >>> a = class_counts([[0], [1]], [0, 1], 2, [2])
    >>> merge_counts(a, a).n
    array([2, 2])
    """
    tables = tuple(M + N for M, N in zip(first.tables, second.tables, strict=True))
    return Counts(first.n + second.n, tables)


def class_prior(n, pseudocount=0.0):
    """Return pi_k = (n_k + c) / (sum_j n_j + c K); c = 0 gives the class frequencies.

    Examples
    --------
    >>> class_prior([9, 5], 1.0)
    array([0.625, 0.375])
    """
    check_scalar(pseudocount, "pseudocount", low=0)
    n = check_vector(n, "n") + pseudocount
    if len(n) == 0 or (n <= 0).any():
        raise ValueError("n must be positive for every class: drop the classes without examples.")
    return n / n.sum()


def conditional_tables(counts, pseudocount=1.0):
    """Return p(x_j = v | k) = (N_kv + c) / (n_k + c V_j), one table for each feature.

    c = 0 is maximum likelihood; c > 0 is the posterior mean under the prior Dir(c, ..., c) for
    each row, and the most probable row under Dir(c + 1, ..., c + 1).

    Book: naive-bayes-laplace-smoothing.

    Parameters
    ----------
    counts : Counts
    pseudocount : float; c >= 0; 1 is Laplace smoothing

    Returns
    -------
    tuple of d arrays of shape (K, V_j); rows that sum to one

    Examples
    --------
    >>> conditional_tables(class_counts([[0], [1], [1]], [0, 0, 0], 1, [3]))[0]
    array([[0.33333333, 0.5       , 0.16666667]])
    """
    check_scalar(pseudocount, "pseudocount", low=0)
    if pseudocount == 0 and (np.asarray(counts.n) <= 0).any():
        raise ValueError("counts must hold every class, or pseudocount must be above 0.")
    tables = []
    for N in counts.tables:
        V = N.shape[1]
        tables.append((N + pseudocount) / (counts.n[:, None] + pseudocount * V))
    return tuple(tables)


def categorical_log_likelihoods(X, tables):
    """Return sum_j log p(x_j = v | k) for each row and class.

    Parameters
    ----------
    X : array of shape (m, d); codes; -1 stands for a missing value, whose factor is left out
    tables : sequence of d arrays of shape (K, V_j)

    Returns
    -------
    array of shape (m, K); -inf where a factor is 0

    Examples
    --------
    >>> categorical_log_likelihoods([[0], [-1]], [[[0.0, 1.0], [1.0, 0.0]]])
    array([[-inf,   0.],
           [  0.,   0.]])
    """
    X = _whole(X, "X")
    if X.ndim != 2 or X.shape[1] != len(tables):
        raise ValueError(f"X must have shape (m, {len(tables)}), one column for each table.")
    tables = [check_array(table, "tables") for table in tables]
    if any((table < 0).any() for table in tables):
        raise ValueError("tables must hold probabilities, none below 0.")
    last = np.array([table.shape[1] for table in tables]) - 1
    if ((X < -1) | (last < X)).any():
        raise ValueError("X must hold codes from -1 to V_j - 1 in column j.")
    g = np.zeros((len(X), len(tables[0])))
    for x, table in zip(X.T, tables):
        g += np.vstack([safe_log(table).T, np.zeros(len(table))])[x]  # code -1 reads the zeros
    return g


def bernoulli_log_likelihoods(X, p):
    """Return sum_j [x_j log p_kj + (1 - x_j) log(1 - p_kj)] for each row and class.

    Book: naive-bayes-bernoulli.

    Parameters
    ----------
    X : array of shape (m, d); zeros and ones
    p : array of shape (K, d); P(x_j = 1 | k)

    Examples
    --------
    >>> bernoulli_log_likelihoods([[1, 0]], [[0.5, 0.5], [1.0, 1.0]])
    array([[-1.38629436,        -inf]])
    """
    X, p = _binary(X), check_array(p, "p")
    if (p < 0).any() or (p > 1).any():
        raise ValueError("p must hold probabilities, numbers from 0 to 1.")
    on, off = safe_log(p), safe_log(1 - p)
    if np.isfinite(on).all() and np.isfinite(off).all():
        return X @ (on - off).T + off.sum(axis=1)  # (eq-naive-bayes-affine)
    possible = [np.where(np.isfinite(L), L, 0.0) for L in (on, off)]
    g = X @ (possible[0] - possible[1]).T + possible[1].sum(axis=1)
    g[X @ (p == 0).T + (1 - X) @ (p == 1).T > 0] = -np.inf
    return g


@compiled
def _add_entries(X, start, logs, g):
    """Add to g_ik the entry log p(x_ij | k) of each feature; the tables stand below each other."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if X[i, j] >= 0:  # a missing value says nothing
                for k in range(g.shape[1]):
                    g[i, k] += logs[start[j] + X[i, j], k]


def _binary(X):
    X = np.asarray(X)
    if X.dtype == bool:
        return check_array(X)
    X = check_array(X)
    if not ((X == 0) | (X == 1)).all():
        raise ValueError("X must hold only 0 and 1: compare it with a threshold first.")
    return X


def linear_weights(prior, p):
    """Return b, W with log pi_k + sum_j log p(x_j | k) = b_k + sum_j W_kj x_j for binary features.

    W_kj = log(p_kj / (1 - p_kj)) and b_k = log pi_k + sum_j log(1 - p_kj).

    Book: naive-bayes-bernoulli.

    Parameters
    ----------
    prior : array of shape (K,); pi_k
    p : array of shape (K, d); P(x_j = 1 | k), strictly between 0 and 1

    Returns
    -------
    b : array of shape (K,)
    W : array of shape (K, d)

    Examples
    --------
    >>> linear_weights([1.0], [[0.5, 0.75]])[1]
    array([[0.        , 1.09861229]])
    """
    p = check_array(p, "p")
    prior = check_distribution(check_vector(prior, "prior", length=len(p)), "prior")
    if (p <= 0).any() or (p >= 1).any():
        raise ValueError("p must lie strictly between 0 and 1: smooth the counts first.")
    return safe_log(prior) + np.log1p(-p).sum(axis=1), np.log(p) - np.log1p(-p)


def class_moments(X, y, n_classes, weights=None):
    """Return n_k, the means mu_kj and the sums of (x_ij - mu_kj)^2 within each class.

    Moments of disjoint samples merge (``merge_moments``).

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,); class numbers 0, ..., n_classes - 1
    n_classes : int; K
    weights : array of shape (n,), optional; how often each row counts

    Examples
    --------
    >>> class_moments([[1.0], [3.0], [7.0]], [0, 0, 1], 2).scatter
    array([[2.],
           [0.]])
    """
    X = check_array(X)
    y, weights = _check_classes(X, y, n_classes, weights)
    n = np.bincount(y, weights, minlength=n_classes).astype(np.float64)
    w = np.ones(len(X)) if weights is None else weights
    mean, scatter = np.zeros((2, n_classes, X.shape[1]))
    origin = X[0]  # near the data: no digits are lost, and constant features become exactly 0
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        (_moments if compiling() else _moments_by_class)(X, y.astype(np.int64), w, n, mean, scatter)
    if not (np.isfinite(mean).all() and np.isfinite(scatter).all()):
        raise ValueError("X is too large, its squares overflow: divide by a larger unit.")
    return Moments(n, np.where(n[:, None] > 0, origin + mean, 0.0), scatter)


@compiled
def _moments(X, y, w, n, mean, scatter):
    """Fill in the means, counted from the first row, and then the squared deviations."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            mean[y[i], j] += w[i] * (X[i, j] - X[0, j])
    for k in range(len(n)):
        for j in range(X.shape[1]):
            if n[k] > 0:
                mean[k, j] /= n[k]
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            z = X[i, j] - X[0, j] - mean[y[i], j]
            scatter[y[i], j] += w[i] * z * z


def _moments_by_class(X, y, w, n, mean, scatter):
    """Do as ``_moments``, without a compiler."""
    for k in np.flatnonzero(n > 0):
        rows = y == k
        Z = X[rows] - X[0]
        mean[k] = w[rows] @ Z / n[k]
        Z -= mean[k]
        scatter[k] = w[rows] @ (Z * Z)


def merge_moments(first, second):
    """Return the moments of two disjoint samples together.

    Squared deviations from the new mean are those from the old means plus
    (n n' / (n + n')) (mu - mu')^2.

    Examples
    --------
    >>> a, b = (class_moments([[x]], [0], 1) for x in (1.0, 3.0))
    >>> merge_moments(a, b).scatter
    array([[2.]])
    """
    n = first.n + second.n
    share = (second.n / np.where(n > 0, n, 1.0))[:, None]
    gap = second.mean - first.mean
    between = first.n[:, None] * share * gap**2
    return Moments(n, first.mean + share * gap, first.scatter + second.scatter + between)


def _among(part, places, K):
    """Return sums over some classes as sums over K classes, of which these have the places."""
    if isinstance(part, CategoricalCounts):
        return part._replace(counts=_among(part.counts, places, K))
    if isinstance(part, Counts):
        tables = tuple(in_places(table, places, K) for table in part.tables)
        return Counts(in_places(part.n, places, K), tables)
    return Moments(*(in_places(field, places, K) for field in part))


def _merge(first, second):
    """Return the sums of two sets of rows over the same classes."""
    if isinstance(first, Moments):
        return merge_moments(first, second)
    if isinstance(first, Counts):
        return merge_counts(first, second)
    joined = [merge_labels(a, b) for a, b in zip(first.categories, second.categories)]
    wide = [
        Counts(
            part.counts.n,
            tuple(
                in_places(table.T, places[side], len(known)).T
                for table, (known, places) in zip(part.counts.tables, joined)
            ),
        )
        for side, part in enumerate((first, second))
    ]
    return CategoricalCounts(tuple(known for known, _ in joined), merge_counts(*wide))


def class_variances(moments, floor=1e-9):
    """Return sigma_kj^2 = scatter_kj / n_k, the maximum-likelihood variances, kept above a floor.

    Book: naive-bayes-gaussian-nb.

    Parameters
    ----------
    moments : Moments; with examples in every class
    floor : float
        A variance is at least this share of the feature's variance over all classes; a feature
        without any variance gets 1 in every class, so that it says nothing about the class.

    Examples
    --------
    >>> class_variances(class_moments([[0.0], [2.0], [5.0]], [0, 0, 1], 2), floor=0.01)
    array([[1.        ],
           [0.04222222]])
    """
    check_scalar(floor, "var_floor", low=0, high=1)
    n, mean, scatter = moments
    if (n <= 0).any():
        raise ValueError("moments must hold examples of every class: drop the empty ones.")
    with np.errstate(over="ignore", invalid="ignore"):
        centre = n @ mean / n.sum()
        overall = (scatter.sum(axis=0) + n @ (mean - centre) ** 2) / n.sum()
    if not (overall < 1e300).all():
        raise ValueError("moments are too large, their squares overflow: divide by a larger unit.")
    constant = (mean == mean[0]).all(axis=0) & (scatter == 0).all(axis=0)
    overall[constant] = 0.0
    if (overall[~constant] < 1e-280).any():
        raise ValueError("X is too small, its squares vanish: divide by a smaller unit.")
    variance = np.maximum(scatter / n[:, None], floor * overall)
    least = np.maximum(1e-250 * overall, 1e-290)  # the square of a distance over this is finite
    return np.where(overall > 0, np.maximum(variance, least), 1.0)


def gaussian_log_likelihoods(X, mean, variance):
    """Return sum_j log N(x_j; mu_kj, sigma_kj^2) for each row and class, in nats.

    Book: naive-bayes-gaussian-nb.

    Parameters
    ----------
    X : array of shape (m, d)
    mean : array of shape (K, d)
    variance : array of shape (K, d); above 0

    Examples
    --------
    >>> gaussian_log_likelihoods([[0.0]], [[0.0], [1.0]], [[1.0], [1.0]])
    array([[-0.91893853, -1.41893853]])
    """
    X, mean, variance = check_array(X), check_array(mean, "mean"), check_array(variance, "variance")
    if mean.shape != variance.shape or mean.shape[1] != X.shape[1]:
        raise ValueError(f"mean and variance must have shape (K, {X.shape[1]}), like X's columns.")
    if (variance <= 0).any():
        raise ValueError("variance must be positive: raise the floor of class_variances.")
    g = np.empty((len(X), len(mean)))
    for k in range(len(mean)):
        Z = X - mean[k]
        np.multiply(Z, Z, out=Z)
        g[:, k] = Z @ (-0.5 / variance[k])
    return g - 0.5 * np.log(2 * np.pi * variance).sum(axis=1)


def scores(prior, *log_likelihoods):
    """Return g_k(x) = log pi_k + the sum of the given log p(x_part | k), shape (m, K).

    Features of different kinds only meet here: their log-likelihoods add.

    Parameters
    ----------
    prior : array of shape (K,); pi_k
    *log_likelihoods : arrays of shape (m, K); one for each group of features

    Examples
    --------
    >>> scores([0.25, 0.75], [[0.0, -1.0]])
    array([[-1.38629436, -1.28768207]])
    """
    prior = check_distribution(check_vector(prior, "prior"), "prior")
    g = safe_log(prior)
    for part in log_likelihoods:
        g = g + check_array(part, "log_likelihoods", finite=False)
    return g


def log_posterior(g):
    """Return log p(k | x) = g_k - log sum_j exp(g_j) for each row of scores g.

    Book: naive-bayes-posterior-confidence.

    Parameters
    ----------
    g : array of shape (m, K)
        g_k(x) = log p(x, k) up to a constant in each row; -inf where p(x, k) = 0.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_posterior([[-1000.0, -1000.0]]))
    array([[0.5, 0.5]])
    """
    g = check_array(g, "g", finite=False)
    total = log_sum_exp(g)
    if not np.isfinite(total).all():
        row = int(np.argmin(np.isfinite(total)))
        raise ValueError(
            f"row {row} of X is impossible in every class, g = -inf: a probability in each is 0; "
            f"smooth with pseudocount > 0."
        )
    return g - total[:, None]


def n_parameters(n_values, n_classes):
    """Return how many free numbers describe d categorical features and a class.

    Book: naive-bayes-assumption.

    Parameters
    ----------
    n_values : sequence of d ints; V_j
    n_classes : int; K

    Returns
    -------
    naive : int; K - 1 + K sum_j (V_j - 1), if the features are independent given the class
    full : int; K prod_j V_j - 1, for an arbitrary joint table

    Examples
    --------
    >>> n_parameters([2] * 20, 2)
    (41, 2097151)
    """
    K = check_scalar(n_classes, "n_classes", low=1, integer=True)
    V = [int(check_scalar(v, "n_values", low=1, integer=True)) for v in n_values]
    cells = K
    for v in V:
        cells *= v
    return K - 1 + K * sum(v - 1 for v in V), cells - 1


# Estimators ----------------------------------------------------------------------------------


def _observed(X):
    """Return the sorted distinct values of each column."""
    found = []
    for x in np.ascontiguousarray(X.T):
        low = x.min()
        if x.max() - low <= len(x) and (np.floor(x) == x).all():  # count instead of sorting
            found.append(low + np.flatnonzero(np.bincount((x - low).astype(np.int64))))
        else:
            found.append(np.unique(x))
    return tuple(found)


def _codes(X, categories, unseen="error"):
    """Return the place of each entry among the categories of its column, -1 where it has none."""
    low, V = np.array([(known[0], len(known)) for known in categories]).T
    if all(known[-1] - known[0] == len(known) - 1 for known in categories) and all(
        (known == np.floor(known)).all() for known in categories
    ):  # whole numbers without a gap
        shifted = X - low
        with np.errstate(invalid="ignore"):
            place = shifted.astype(np.int64)
        if place.min() >= 0 and (place.max(axis=0) < V).all() and (place == shifted).all():
            return place
    codes = np.empty(X.shape[::-1], dtype=np.int64)
    for j, (x, known) in enumerate(zip(np.ascontiguousarray(X.T), categories)):
        V = len(known)
        place = np.minimum(np.searchsorted(known, x), V - 1)
        same = known[place] == x
        if unseen == "error" and not same.all():
            raise ValueError(
                f"X holds {x[np.argmin(same)]:g} in column {j}, which is not among the {V} values "
                f"known there: list it in categories, or set unseen='missing'."
            )
        codes[j] = np.where(same, place, -1)
    return np.ascontiguousarray(codes.T)


class _NaiveBayes(Classifier):
    """What the classifiers share; a subclass fits ``features_``, a tuple of (columns, record)."""

    def fit(self, X, y, sample_weight=None):
        """Fit to X of shape (n, d), labels y (n,) and weights (n,), if any; return self.

        A weight counts a row that often; a row of weight 0 is as good as absent.
        """
        begin_fit(self, X)
        X = check_array(X)
        return self._estimate(self.statistics(X, y, sample_weight), X.shape[1])

    def fit_chunks(self, chunks, workers=1):
        """Fit to chunks (X, y) or (X, y, sample_weight), one after the other; return self.

        The result is that of ``fit`` on all rows together; ``chunks`` may be an iterator, and
        ``workers`` is as in ``mllib.core.chunks.reduce_chunks``.
        """
        check_parameters(self)
        total = reduce_chunks(_ChunkSums(self), chunks, workers)
        keep_names(self, total.names)
        return self._estimate(total.value, total.width)

    def statistics(self, X, y, sample_weight=None):
        """Return the sums over the rows of X from which ``fit`` estimates, as LabelledSums."""
        X = check_array(X)
        weights = check_sample_weight(sample_weight, len(X), chunk=True)
        classes, index = check_labels(y, type(self).__name__)
        if len(index) != len(X):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {len(X)} "
                f"rows, y has {len(index)} entries."
            )
        if weights is not None and not weights.all():
            keep = weights > 0
            if not keep.any():
                raise ValueError("sample_weight must not be zero for every row: weigh some rows.")
            return self.statistics(X[keep], classes[index[keep]], weights[keep])
        parts = self._sums(X, index, len(classes), weights)
        return LabelledSums(classes, np.bincount(index, weights), parts)

    def _estimate(self, sums, d):
        """Estimate from the sums over rows with d features; return self."""
        classes, n = sums.classes, sums.n
        self.class_count_ = n
        if self.priors is None:
            check_scalar(self.prior_pseudocount, "prior_pseudocount", low=0)
            self.class_prior_ = class_prior(n, self.prior_pseudocount)
        else:
            priors = check_vector(self.priors, "priors", length=len(classes))
            self.class_prior_ = check_distribution(priors, "priors")
        self.features_ = self._fit_features(sums.parts, d)
        self.classes_, self.n_features_in_ = classes, d
        return self

    def predict_joint_log_proba(self, X):
        """Return g_k(x) = log pi_k + sum_j log p(x_j | k), shape (m, K)."""
        X = check_features(self, X)
        rows = max(1, 2**16 // X.shape[1])  # a block of rows at a time stays in the fast memory
        blocks = [self._scores(X[i : i + rows]) for i in range(0, len(X), rows)]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _scores(self, X):
        parts = [
            features.log_likelihoods(X if columns is None else X[:, columns])
            for columns, features in self.features_
        ]
        return scores(self.class_prior_, *parts)

    def predict_log_proba(self, X):
        """Return log p(k | x) for each row of X, shape (m, K)."""
        return log_posterior(self.predict_joint_log_proba(X))

    def predict_proba(self, X):
        """Return p(k | x) for each row of X, shape (m, K)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X):
        """Return the class with the largest score for each row; the first of them at a tie."""
        g = self.predict_joint_log_proba(X)
        best = g.argmax(axis=1)
        if (g[np.arange(len(g)), best] == -np.inf).any():
            log_posterior(g)  # says which row is impossible
        return self.classes_[best]


class _ChunkSums:
    """The statistics of a chunk, for a classifier that is not fitted yet; picklable."""

    def __init__(self, model):
        self.model = type(model)(**model.get_params())

    def __call__(self, chunk):
        return self.model.statistics(*chunk_parts(chunk, ("X", "y", "sample_weight"), 2))


def _fit_gaussian(moments, floor):
    return GaussianFeatures(moments.mean, class_variances(moments, floor))


def _binary_counts(X, index, K, weights, threshold):
    check_scalar(threshold, "threshold")
    return class_counts(np.greater(X, threshold), index, K, [2] * X.shape[1], weights)


def _fit_bernoulli(counts, pseudocount, threshold):
    tables = conditional_tables(counts, pseudocount)
    return BernoulliFeatures(np.column_stack([table[:, 1] for table in tables]), threshold)


def _categorical_counts(X, index, K, weights, categories, unseen):
    check_choice(unseen, "unseen", ("error", "missing"))
    if categories is None:
        categories = _observed(X)
    elif len(categories) != X.shape[1]:
        raise ValueError(f"categories must list the values of each of the {X.shape[1]} columns.")
    else:
        categories = tuple(np.unique(check_vector(v, "categories")) for v in categories)
        if min(len(v) for v in categories) == 0:
            raise ValueError("categories must list at least one value for each column.")
    counts = class_counts(_codes(X, categories), index, K, [len(v) for v in categories], weights)
    return CategoricalCounts(categories, counts)


def _fit_categorical(counted, pseudocount, unseen):
    tables = conditional_tables(counted.counts, pseudocount)
    return CategoricalFeatures(counted.categories, tables, unseen)


class GaussianNB(_NaiveBayes):
    """Numeric features, x_j | k ~ N(mu_kj, sigma_kj^2), independent given the class.

    Means and variances maximise the likelihood (the denominator of a variance is n_k).

    Book: naive-bayes-gaussian-nb.

    Parameters
    ----------
    priors : array of shape (K,), optional
        Class probabilities; the frequencies of the classes by default.
    prior_pseudocount : float; added to each n_k when the prior is estimated
    var_floor : float; a variance is at least this share of the feature's variance over all classes

    Attributes
    ----------
    classes_, class_count_, class_prior_ : arrays of shape (K,)
    theta_, var_ : arrays of shape (K, d); means and variances
    features_ : tuple; the fitted record, as (columns, GaussianFeatures)

    Examples
    --------
    >>> GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]).predict([[2.0]])
    array([0])
    """

    def __init__(self, *, priors=None, prior_pseudocount=0.0, var_floor=1e-9):
        self.priors = priors
        self.prior_pseudocount = prior_pseudocount
        self.var_floor = var_floor

    def _sums(self, X, index, K, weights):
        return (class_moments(X, index, K, weights),)

    def _fit_features(self, parts, d):
        record = _fit_gaussian(*parts, self.var_floor)
        self.theta_, self.var_ = record
        return ((None, record),)


class BernoulliNB(_NaiveBayes):
    """Binary features, P(x_j = 1 | k) = p_kj, independent given the class.

    Book: naive-bayes-bernoulli.

    Parameters
    ----------
    pseudocount : float; c in p_kj = (N_kj + c) / (n_k + 2 c)
    threshold : float; a value above it counts as 1
    priors : array of shape (K,), optional
        Class probabilities; the frequencies of the classes by default.
    prior_pseudocount : float; added to each n_k when the prior is estimated

    Attributes
    ----------
    classes_, class_count_, class_prior_ : arrays of shape (K,)
    p_ : array of shape (K, d)
        P(x_j = 1 | k); ``linear_weights`` turns it into the weights of a linear classifier.
    features_ : tuple; the fitted record, as (columns, BernoulliFeatures)

    Examples
    --------
    >>> BernoulliNB().fit([[0, 1], [1, 1], [1, 0]], ["a", "a", "b"]).p_
    array([[0.5       , 0.75      ],
           [0.66666667, 0.33333333]])
    """

    def __init__(self, pseudocount=1.0, *, threshold=0.0, priors=None, prior_pseudocount=0.0):
        self.pseudocount = pseudocount
        self.threshold = threshold
        self.priors = priors
        self.prior_pseudocount = prior_pseudocount

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # one cut through numeric features is coarse
        return tags

    def _sums(self, X, index, K, weights):
        return (_binary_counts(X, index, K, weights, self.threshold),)

    def _fit_features(self, parts, d):
        record = _fit_bernoulli(*parts, self.pseudocount, self.threshold)
        self.p_ = record.p
        return ((None, record),)


class CategoricalNB(_NaiveBayes):
    """Categorical features, P(x_j = v | k) from a table, independent given the class.

    The values of a feature are any numbers; each distinct number is a category.

    Book: naive-bayes-categorical.

    Parameters
    ----------
    pseudocount : float
        c in (N_kv + c) / (n_k + c V); V counts the values of the feature over all classes.
    categories : list of d arrays, optional
        All values that each feature can take; those that occur in the training data by default.
    unseen : {"error", "missing"}
        What a value outside the categories means at prediction: a mistake, or a missing
        observation, whose factor is left out in every class.
    priors : array of shape (K,), optional
        Class probabilities; the frequencies of the classes by default.
    prior_pseudocount : float; added to each n_k when the prior is estimated

    Attributes
    ----------
    classes_, class_count_, class_prior_ : arrays of shape (K,)
    categories_ : tuple of d arrays of shape (V_j,)
    tables_ : tuple of d arrays of shape (K, V_j); p(x_j = v | k)
    features_ : tuple; the fitted record, as (columns, CategoricalFeatures)

    Examples
    --------
    >>> CategoricalNB().fit([[3], [3], [7]], ["a", "a", "b"]).tables_[0]
    array([[0.75      , 0.25      ],
           [0.33333333, 0.66666667]])
    """

    def __init__(
        self,
        pseudocount=1.0,
        *,
        categories=None,
        unseen="error",
        priors=None,
        prior_pseudocount=0.0,
    ):
        self.pseudocount = pseudocount
        self.categories = categories
        self.unseen = unseen
        self.priors = priors
        self.prior_pseudocount = prior_pseudocount

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    def _sums(self, X, index, K, weights):
        return (_categorical_counts(X, index, K, weights, self.categories, self.unseen),)

    def _fit_features(self, parts, d):
        record = _fit_categorical(*parts, self.pseudocount, self.unseen)
        self.categories_, self.tables_ = record.categories, record.tables
        return ((None, record),)


class MixedNB(_NaiveBayes):
    """Features of several kinds, independent given the class: their log-likelihoods add.

    Book: naive-bayes-numeric-features.

    Parameters
    ----------
    kinds : list of d strings, optional
        "gaussian", "bernoulli" or "categorical" for each column; all Gaussian by default.
    pseudocount : float; c for binary and categorical columns
    threshold : float; a value of a binary column above it counts as 1
    categories : list of arrays, optional
        All values of each categorical column, in the order of these columns.
    unseen : {"error", "missing"}; as in ``CategoricalNB``
    var_floor : float; as in ``GaussianNB``
    priors : array of shape (K,), optional
    prior_pseudocount : float

    Attributes
    ----------
    classes_, class_count_, class_prior_ : arrays of shape (K,)
    features_ : tuple of (columns, record); one record for each kind that occurs

    Examples
    --------
    >>> X = [[0.1, 2], [0.3, 2], [0.2, 5], [0.4, 5]]
    >>> MixedNB(["gaussian", "categorical"]).fit(X, [0, 0, 1, 1]).predict([[0.2, 2]])
    array([0])
    """

    def __init__(
        self,
        kinds=None,
        *,
        pseudocount=1.0,
        threshold=0.0,
        categories=None,
        unseen="error",
        var_floor=1e-9,
        priors=None,
        prior_pseudocount=0.0,
    ):
        self.kinds = kinds
        self.pseudocount = pseudocount
        self.threshold = threshold
        self.categories = categories
        self.unseen = unseen
        self.var_floor = var_floor
        self.priors = priors
        self.prior_pseudocount = prior_pseudocount

    def _columns(self, d):
        """Return the columns of each kind that occurs."""
        kinds = ["gaussian"] * d if self.kinds is None else list(self.kinds)
        if len(kinds) != d:
            raise ValueError(f"kinds must name one kind for each of the {d} columns of X.")
        for kind in kinds:
            check_choice(kind, "kinds", ("gaussian", "bernoulli", "categorical"))
        places = [
            (kind, np.flatnonzero([k == kind for k in kinds]))
            for kind in ("gaussian", "bernoulli", "categorical")
        ]
        return [(kind, columns) for kind, columns in places if len(columns)]

    def _sums(self, X, index, K, weights):
        options = {
            "gaussian": (class_moments,),
            "bernoulli": (_binary_counts, self.threshold),
            "categorical": (_categorical_counts, self.categories, self.unseen),
        }
        parts = []
        for kind, columns in self._columns(X.shape[1]):
            count, *settings = options[kind]
            parts.append(count(X[:, columns], index, K, weights, *settings))
        return tuple(parts)

    def _fit_features(self, parts, d):
        options = {
            "gaussian": (_fit_gaussian, self.var_floor),
            "bernoulli": (_fit_bernoulli, self.pseudocount, self.threshold),
            "categorical": (_fit_categorical, self.pseudocount, self.unseen),
        }
        fitted = []
        for (kind, columns), part in zip(self._columns(d), parts):
            fit, *settings = options[kind]
            fitted.append((columns, fit(part, *settings)))
        return tuple(fitted)
