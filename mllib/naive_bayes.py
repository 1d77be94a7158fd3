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
    check_target_length,
    check_vector,
)
from mllib.core.chunks import chunk_parts, in_places, merge_labels, reduce_chunks
from mllib.core.estimators import Classifier, begin_fit, check_features, check_parameters
from mllib.core.numerics import log_sum_exp, safe_log
from mllib.core.scalars import check_choice, check_count, check_probability, check_scalar
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
        return categorical_log_likelihoods(codes, self.tables)


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
    check_count(n_classes, "n_classes")
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
    n_classes, n_values : int and d ints; K, and V_j over all classes
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
    """Return the counts of two disjoint samples together: everything adds."""
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
    """Return p(x_j = v | k) = (N_kv + c) / (n_k + c V_j), of shape (K, V_j) for each feature.

    c = 0 is maximum likelihood, c = 1 Laplace smoothing; c > 0 is the posterior mean under the
    prior Dir(c, ..., c) for each row, and the most probable row under Dir(c + 1, ..., c + 1).

    Book: naive-bayes-laplace-smoothing.

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
    """Return sum_j log p(x_j = v | k) for each row of codes and each class, shape (m, K).

    A code of -1 stands for a missing value, whose factor is left out; other codes are 0 to V_j - 1.
    Tables have shape (K, V_j).

    Examples
    --------
    >>> categorical_log_likelihoods([[0], [-1]], [[[0.0, 1.0], [1.0, 0.0]]])
    array([[-inf,   0.],
           [  0.,   0.]])
    """
    X = _whole(X, "X")
    if X.ndim != 2 or X.shape[1] != len(tables):
        raise ValueError(f"X must have shape (m, {len(tables)}), one column for each table.")
    tables = [check_array(table, "tables", any_size=True) for table in tables]
    if min(table.min() for table in tables) < 0:
        raise ValueError("tables must hold probabilities, none below 0.")
    last = np.array([table.shape[1] for table in tables]) - 1
    if ((X < -1) | (last < X)).any():
        raise ValueError("X must hold codes from -1 to V_j - 1 in column j.")
    g = np.zeros((len(X), len(tables[0])))
    for x, table in zip(X.T, tables):
        g += np.vstack([safe_log(table).T, np.zeros(len(table))]).take(x, axis=0)  # -1: zeros
    return g


def bernoulli_log_likelihoods(X, p):
    """Return sum_j [x_j log p_kj + (1 - x_j) log(1 - p_kj)] for m rows of 0 and 1, shape (m, K).

    Book: naive-bayes-bernoulli.

    Examples
    --------
    >>> bernoulli_log_likelihoods([[1, 0]], [[0.5, 0.5], [1.0, 1.0]])
    array([[-1.38629436,        -inf]])
    """
    X, p = _binary(X), check_array(p, "p", any_size=True)
    if (p < 0).any() or (p > 1).any():
        raise ValueError("p must hold probabilities, numbers from 0 to 1.")
    on, off = safe_log(p), safe_log(1 - p)
    if np.isfinite(on).all() and np.isfinite(off).all():
        return X @ (on - off).T + off.sum(axis=1)  # (eq-naive-bayes-affine)
    possible = [np.where(np.isfinite(L), L, 0.0) for L in (on, off)]
    g = X @ (possible[0] - possible[1]).T + possible[1].sum(axis=1)
    g[X @ (p == 0).T + (1 - X) @ (p == 1).T > 0] = -np.inf
    return g


def _binary(X):
    X = check_array(X)
    if not ((X == 0) | (X == 1)).all():
        raise ValueError("X must hold only 0 and 1: compare it with a threshold first.")
    return X


def linear_weights(prior, p):
    """Return b, W with log pi_k + sum_j log p(x_j | k) = b_k + sum_j W_kj x_j for binary features.

    W_kj = log(p_kj / (1 - p_kj)) and b_k = log pi_k + sum_j log(1 - p_kj), where P(x_j = 1 | k)
    = p_kj lies strictly between 0 and 1; shapes (K,) and (K, d).

    Book: naive-bayes-bernoulli.

    Examples
    --------
    >>> linear_weights([1.0], [[0.5, 0.75]])[1]
    array([[0.        , 1.09861229]])
    """
    p = check_array(p, "p", any_size=True)
    prior = check_distribution(check_vector(prior, "prior", length=len(p)), "prior")
    if (p <= 0).any() or (p >= 1).any():
        raise ValueError("p must lie strictly between 0 and 1: smooth the counts first.")
    return safe_log(prior) + np.log1p(-p).sum(axis=1), np.log(p) - np.log1p(-p)


def class_moments(X, y, n_classes, weights=None):
    """Return n_k, the means mu_kj and the sums of (x_ij - mu_kj)^2 within each class.

    Moments of disjoint samples merge (``merge_moments``).

    Parameters
    ----------
    X, y, n_classes, weights : as for ``class_counts``, but X of any numbers

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
    with np.errstate(over="ignore", invalid="ignore"):
        for k in np.flatnonzero(n > 0):
            Z = X[y == k] - X[0]  # near 0: no digits are lost, and constant features become 0
            mean[k] = w[y == k] @ Z / n[k]
            Z -= mean[k]
            scatter[k] = w[y == k] @ (Z * Z)
    if not np.isfinite(scatter).all():
        raise ValueError("X or its weights are too large, squares overflow: divide by a unit.")
    return Moments(n, np.where(n[:, None] > 0, X[0] + mean, 0.0), scatter)


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

    A variance is at least the share ``floor`` of the feature's variance over all classes; a feature
    without any variance gets 1 in every class, so that it says nothing about the class.

    Book: naive-bayes-gaussian-nb.

    Examples
    --------
    >>> class_variances(class_moments([[0.0], [2.0], [5.0]], [0, 0, 1], 2), floor=0.01)
    array([[1.        ],
           [0.04222222]])
    """
    check_probability(floor, "var_floor")
    n, mean, scatter = moments
    if (n <= 0).any():
        raise ValueError("moments must hold examples of every class: drop the empty ones.")
    centre = n @ mean / n.sum()
    overall = (scatter.sum(axis=0) + n @ (mean - centre) ** 2) / n.sum()
    variance = np.maximum(scatter / n[:, None], max(floor, 1e-100) * overall)
    constant = (mean == mean[0]).all(axis=0) & (scatter == 0).all(axis=0)
    return np.where(constant | (variance == 0), 1.0, variance)


def gaussian_log_likelihoods(X, mean, variance):
    """Return sum_j log N(x_j; mu_kj, sigma_kj^2) for m rows and K classes, in nats, shape (m, K).

    Book: naive-bayes-gaussian-nb.

    Examples
    --------
    >>> gaussian_log_likelihoods([[0.0]], [[0.0], [1.0]], [[1.0], [1.0]])
    array([[-0.91893853, -1.41893853]])
    """
    X, mean = check_array(X), check_array(mean, "mean", any_size=True)
    variance = check_array(variance, "variance", any_size=True)
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

    Features of different kinds only meet here: their log-likelihoods, (m, K) each, add.

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
    """Return log p(k | x) = g_k - log sum_j exp(g_j) for each row of scores g, shape (m, K).

    A row that is -inf in every class has probability 0 and no posterior: it is refused.

    Book: naive-bayes-posterior-confidence.

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
    """Return how many free numbers describe a class and its features: naively, and in full.

    K - 1 + K sum_j (V_j - 1) if they are independent given the class, K prod_j V_j - 1 for any
    table.

    Book: naive-bayes-assumption.

    Examples
    --------
    >>> n_parameters([2] * 20, 2)
    (41, 2097151)
    """
    K = check_count(n_classes, "n_classes")
    V = [int(check_count(v, "n_values")) for v in n_values]
    cells = K
    for v in V:
        cells *= v
    return K - 1 + K * sum(v - 1 for v in V), cells - 1


# Estimators ----------------------------------------------------------------------------------


def _observed(x):
    """Return the sorted distinct values; whole numbers close together are counted, not sorted."""
    low = x.min()
    if np.ptp(x) <= len(x) and (np.floor(x) == x).all():
        return low + np.flatnonzero(np.bincount((x - low).astype(np.int64)))
    return np.unique(x)


def _codes(X, categories, unseen="error"):
    """Return the place of each entry among the categories of its column, -1 where it has none."""
    if all(np.array_equal(known, known[0] + np.arange(len(known))) for known in categories):
        place = X - [known[0] for known in categories]  # whole numbers without a gap
        inside = (place >= 0) & (place < [len(known) for known in categories])
        if (inside & (place == np.floor(place))).all():
            return place.astype(np.int64)
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


def _categories(X, categories, unseen):
    """Return the values of each column: those that are given, or those that occur."""
    check_choice(unseen, "unseen", ("error", "missing"))
    if categories is None:
        return tuple(map(_observed, np.ascontiguousarray(X.T)))
    if len(categories) != X.shape[1]:
        raise ValueError(f"categories must list the values of each of the {X.shape[1]} columns.")
    categories = tuple(np.unique(check_vector(v, "categories")) for v in categories)
    if min(len(v) for v in categories) == 0:
        raise ValueError("categories must list at least one value for each column.")
    return categories


class _NaiveBayes(Classifier):
    """What the classifiers share; ``features_`` is a tuple of (columns, record)."""

    def fit(self, X, y, sample_weight=None):
        """Fit to X of shape (n, d), labels y (n,) and weights (n,), if any; return self."""
        begin_fit(self, X)
        X = check_array(X)
        return self._estimate(self.statistics(X, y, sample_weight), X.shape[1])

    def fit_chunks(self, chunks, workers=1):
        """Fit to chunks (X, y) or (X, y, sample_weight), as ``fit`` to all rows; return self."""
        check_parameters(self)
        total = reduce_chunks(_ChunkSums(self), chunks, workers)
        keep_names(self, total.names)
        return self._estimate(total.value, total.width)

    def statistics(self, X, y, sample_weight=None):
        """Return the sums over the rows of X from which ``fit`` estimates, as LabelledSums."""
        X = check_array(X)
        weights = check_sample_weight(sample_weight, len(X), chunk=True)
        classes, index = check_labels(y, type(self).__name__)
        check_target_length(X, index)
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
        fitted = zip(self._columns(d), sums.parts)
        self.features_ = tuple((columns, self._record(kind, s)) for (kind, columns), s in fitted)
        self.classes_, self.n_features_in_ = classes, d
        return self

    def _columns(self, d):
        """Return the kinds of features and the columns of each; None are all of them."""
        return [(self._kind, None)]

    def _sums(self, X, index, K, weights):
        parts = []
        for kind, columns in self._columns(X.shape[1]):
            Z = X if columns is None else X[:, columns]
            if kind == "gaussian":
                parts.append(class_moments(Z, index, K, weights))
            elif kind == "bernoulli":
                bits = np.greater(Z, check_scalar(self.threshold, "threshold"))
                parts.append(class_counts(bits, index, K, [2] * Z.shape[1], weights))
            else:
                categories = _categories(Z, self.categories, self.unseen)
                sizes, codes = [len(known) for known in categories], _codes(Z, categories)
                counts = class_counts(codes, index, K, sizes, weights)
                parts.append(CategoricalCounts(categories, counts))
        return tuple(parts)

    def _record(self, kind, sums):
        """Return the fitted record of one kind of features."""
        if kind == "gaussian":
            return GaussianFeatures(sums.mean, class_variances(sums, self.var_floor))
        if kind == "bernoulli":
            tables = conditional_tables(sums, self.pseudocount)
            return BernoulliFeatures(np.stack([t[:, 1] for t in tables], axis=1), self.threshold)
        tables = conditional_tables(sums.counts, self.pseudocount)
        return CategoricalFeatures(sums.categories, tables, self.unseen)

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


class GaussianNB(_NaiveBayes):
    """Numeric features, x_j | k ~ N(mu_kj, sigma_kj^2), independent given the class.

    Means and variances maximise the likelihood (the denominator of a variance is n_k).

    Book: naive-bayes-gaussian-nb.

    Parameters
    ----------
    priors : array of shape (K,), optional; class probabilities; by default their frequencies
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

    _kind = "gaussian"

    def __init__(self, *, priors=None, prior_pseudocount=0.0, var_floor=1e-9):
        self.priors = priors
        self.prior_pseudocount = prior_pseudocount
        self.var_floor = var_floor

    def _estimate(self, sums, d):
        super()._estimate(sums, d)
        self.theta_, self.var_ = self.features_[0][1]
        return self


class BernoulliNB(_NaiveBayes):
    """Binary features, P(x_j = 1 | k) = p_kj, independent given the class.

    Book: naive-bayes-bernoulli.

    Parameters
    ----------
    pseudocount : float; c in p_kj = (N_kj + c) / (n_k + 2 c)
    threshold : float; a value above it counts as 1
    priors, prior_pseudocount : as for ``GaussianNB``

    Attributes
    ----------
    classes_, class_count_, class_prior_ : arrays of shape (K,)
    p_ : array of shape (K, d); P(x_j = 1 | k), input of ``linear_weights``
    features_ : tuple; the fitted record, as (columns, BernoulliFeatures)

    Examples
    --------
    >>> BernoulliNB().fit([[0, 1], [1, 1], [1, 0]], ["a", "a", "b"]).p_
    array([[0.5       , 0.75      ],
           [0.66666667, 0.33333333]])
    """

    _kind = "bernoulli"

    def __init__(self, pseudocount=1.0, *, threshold=0.0, priors=None, prior_pseudocount=0.0):
        self.pseudocount = pseudocount
        self.threshold = threshold
        self.priors = priors
        self.prior_pseudocount = prior_pseudocount

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # one cut through numeric features is coarse
        return tags

    def _estimate(self, sums, d):
        super()._estimate(sums, d)
        self.p_ = self.features_[0][1].p
        return self


class CategoricalNB(_NaiveBayes):
    """Categorical features, P(x_j = v | k) from a table, independent given the class.

    The values of a feature are any numbers; each distinct number is a category.

    Book: naive-bayes-categorical.

    Parameters
    ----------
    pseudocount : float; c in (N_kv + c) / (n_k + c V); V counts values over all classes
    categories : list of d arrays, optional; all values of each feature; by default those in X
    unseen : {"error", "missing"}
        What another value means at prediction: a mistake, or a missing observation, whose factor is
        left out in every class.
    priors, prior_pseudocount : as for ``GaussianNB``

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

    _kind = "categorical"

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

    def _estimate(self, sums, d):
        super()._estimate(sums, d)
        self.categories_, self.tables_, _ = self.features_[0][1]
        return self


class MixedNB(_NaiveBayes):
    """Features of several kinds, independent given the class: their log-likelihoods add.

    Book: naive-bayes-numeric-features.

    Parameters
    ----------
    kinds : list of d strings, optional
        "gaussian", "bernoulli" or "categorical" for each column; all Gaussian by default.
    pseudocount, threshold, categories, unseen, var_floor, priors, prior_pseudocount
        As for the other three; ``categories`` in the order of the categorical columns.

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
        known = ("gaussian", "bernoulli", "categorical")
        for kind in kinds:
            check_choice(kind, "kinds", known)
        places = [(kind, np.flatnonzero(np.array(kinds) == kind)) for kind in known]
        return [(kind, columns) for kind, columns in places if len(columns)]
