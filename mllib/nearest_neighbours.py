"""Nearest neighbours: distances, votes, limits of their risk, k-d trees, hashing, fewer examples.

Chapter: Classification, *Nearest neighbours*. Main references: Cover and Hart (1967), Hart (1968),
Wilson (1972), Friedman, Bentley and Finkel (1977), Charikar (2002).
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import binom

from mllib.core.arrays import (
    check_array,
    check_distribution,
    check_result,
    check_size,
    check_square,
    check_target_length,
    check_targets,
    check_vector,
    check_X_y,
)
from mllib.core.compiled import compiled, compiling
from mllib.core.estimators import Classifier, Regressor, begin_fit, check_features
from mllib.core.numerics import max_abs
from mllib.core.scalars import check_choice, check_rng, check_scalar
from mllib.linear_algebra import p_norm

__all__ = [
    "KDTree",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LSHIndex",
    "LSHSearch",
    "MetricCheck",
    "Neighbours",
    "TreeSearch",
    "angle",
    "bayes_risk",
    "check_metric",
    "condensed_nn",
    "cosine",
    "cover_hart_bound",
    "distance_contrast",
    "edited_nn",
    "hamming",
    "hash_codes",
    "jaccard",
    "kd_query",
    "kd_tree",
    "knn_limit_risk",
    "leave_one_out",
    "leave_one_out_errors",
    "lsh_index",
    "lsh_query",
    "mahalanobis",
    "minkowski",
    "nearest_law",
    "neighbours",
    "nn_limit_risk",
    "nn_risk",
    "pairwise_distances",
    "pearson",
    "vote_shares",
    "vote_weights",
]


# Records -------------------------------------------------------------------------------------


class Neighbours(NamedTuple):
    """The k nearest rows of each query, the nearest first, ties in the order of the rows."""

    index: np.ndarray  #: rows of X, shape (m, k)
    distance: np.ndarray  #: their distances, shape (m, k)


class MetricCheck(NamedTuple):
    """The worst violation of each axiom on a finite set of points; 0 where it holds."""

    negative: float  #: largest -d(a, b)
    identity: float  #: largest d(a, a), or inf where d(a, b) = 0 for two different points
    symmetry: float  #: largest |d(a, b) - d(b, a)|
    triangle: float  #: largest d(a, b) - d(a, c) - d(c, b), if positive


class KDTree(NamedTuple):
    """A balanced tree of boxes: node i has the children 2i + 1 and 2i + 2; the last are leaves."""

    points: np.ndarray  #: rows of X in the order of the leaves, shape (n, d)
    index: np.ndarray  #: which row of X each of them is, shape (n,)
    start: np.ndarray  #: first position of each node, shape (n_nodes,)
    end: np.ndarray  #: one past its last position, shape (n_nodes,)
    low: np.ndarray  #: lower corner of its bounding box, shape (n_nodes, d)
    high: np.ndarray  #: upper corner, shape (n_nodes, d)


class TreeSearch(NamedTuple):
    """Nearest neighbours found in a tree, and the work that it took."""

    index: np.ndarray  #: rows of X, shape (m, k)
    distance: np.ndarray  #: their distances, shape (m, k)
    looked_at: np.ndarray  #: points whose distance was computed, shape (m,)


class LSHIndex(NamedTuple):
    """Hash tables: each lists the rows of X by the signs of b inner products."""

    X: np.ndarray  #: the rows, shape (n, d)
    normals: np.ndarray  #: normals of the hyperplanes, shape (n_tables, b, d)
    codes: np.ndarray  #: sorted codes of the rows, shape (n_tables, n)
    order: np.ndarray  #: row of each code, shape (n_tables, n)


class LSHSearch(NamedTuple):
    """Approximate neighbours by angle, and the work that they took."""

    index: np.ndarray  #: rows of X, -1 where too few candidates were found, shape (m, k)
    angle: np.ndarray  #: their angles in radians, inf where there is none, shape (m, k)
    candidates: np.ndarray  #: rows whose angle was computed, shape (m,)


# Distances and similarities ------------------------------------------------------------------


def _pair(a, b):
    a = check_size(check_vector(a, "a"), "a")
    return a, check_size(check_vector(b, "b", length=len(a)), "b")


def minkowski(a, b, p=2.0):
    """Return (sum_j |a_j - b_j|^p)^(1/p), the largest |a_j - b_j| for p = inf.

    1 is Manhattan, 2 Euclidean, inf Chebyshev; below 1 the triangle inequality fails.

    Book: nearest-neighbours-minkowski.

    Examples
    --------
    >>> minkowski([0, 0], [3, 4]), minkowski([0, 0], [3, 4], p=1)
    (5.0, 7.0)
    """
    _check_power(p)
    a, b = _pair(a, b)
    return float(p_norm(a - b, p))


def _check_power(p):
    if p != np.inf:
        check_scalar(p, "p", low=0, open_low=True)
    if p < 1:
        raise ValueError(f"p must be at least 1: with p = {p:g} the triangle inequality fails.")


def mahalanobis(a, b, Sigma):
    """Return sqrt((a - b)^T Sigma^{-1} (a - b)): Euclidean distance after whitening.

    a and b have shape (d,); Sigma, shape (d, d), is positive definite.

    Examples
    --------
    >>> mahalanobis([0.0, 0.0], [2.0, 0.0], [[4.0, 0.0], [0.0, 1.0]])
    1.0
    """
    a, b = _pair(a, b)
    Sigma = check_square(Sigma, "Sigma", size=len(a), symmetric=True)
    try:
        L = np.linalg.cholesky(Sigma)
    except np.linalg.LinAlgError as error:
        raise ValueError("Sigma must be positive definite: add to its diagonal.") from error
    return float(np.linalg.norm(np.linalg.solve(L, a - b)))


def hamming(a, b):
    """Return the share of entries in which a and b differ; 1 minus it is the matching similarity.

    Examples
    --------
    >>> hamming([1, 0, 1, 1], [1, 1, 1, 1])
    0.25
    """
    a, b = _pair(a, b)
    return float(np.mean(a != b))


def jaccard(a, b):
    """Return the similarity #(a = b = 1) / #(a = 1 or b = 1) of two bit strings; 1 if both are 0.

    Examples
    --------
    >>> jaccard([1, 0, 1, 1], [1, 1, 0, 1])
    0.5
    """
    a, b = _pair(a, b)
    _check_bits(a, "a")
    _check_bits(b, "b")
    either = np.count_nonzero(a + b)
    return float(np.count_nonzero(a * b) / either) if either else 1.0


def _check_bits(v, name):
    if not np.isin(v, (0, 1)).all():
        raise ValueError(f"{name} must hold only 0 and 1: say which entries are present.")


def cosine(a, b):
    """Return a^T b / (||a|| ||b||), the cosine of the angle between a and b.

    Examples
    --------
    >>> cosine([1, 0], [2, 0])
    1.0
    """
    return _cosine(*_pair(a, b))


def _cosine(a, b):
    return float(np.clip(_unit(a[None], "a")[0] @ _unit(b[None], "b")[0], -1, 1))


def _unit(X, name):
    """Return the rows divided by their lengths."""
    length = np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]
    if (length == 0).any():
        raise ValueError(f"{name} must not be 0: a zero vector has no direction.")
    return X / length


def pearson(a, b):
    """Return the cosine of a and b after each is centred by the mean of its own entries.

    Examples
    --------
    >>> round(pearson([1, 2, 4], [2, 1, 7]), 3)
    0.882
    """
    a, b = _pair(a, b)
    return _cosine(a - a.mean(), b - b.mean())


def angle(a, b):
    """Return the angle between a and b in radians, a metric on directions.

    It is 2 arctan(||u - v|| / ||u + v||) for the unit vectors u, v: exact for small angles too.

    Examples
    --------
    >>> round(angle([1, 0], [1, 1]), 4)
    0.7854
    """
    a, b = _pair(a, b)
    return float(_angles(a[None], b[None], "a", "b")[0, 0])


def _angles(X, Y, x="each row of X", y="each row of Y"):
    U, V = _unit(X, x), _unit(Y, y)
    return 2 * np.arctan2(cdist(U, V), cdist(U, -V))


def check_metric(d, points):
    """Return the worst violation of each axiom of a metric over all pairs and triples of points.

    d(a, b) is a number for two rows of points, shape (n, d).

    Examples
    --------
    >>> check_metric(lambda a, b: float((a - b) @ (a - b)), [[0.0], [1.0], [2.0]]).triangle
    2.0
    """
    points = check_array(points, "points")
    D = np.array([[float(d(a, b)) for b in points] for a in points])
    apart = ~np.array([[np.array_equal(a, b) for b in points] for a in points])
    merged = np.inf if (D[apart] == 0).any() else 0.0
    check_result(D - D, "points, by their distances,")
    around = max(float((D - (D[:, [c]] + D[c])).max()) for c in range(len(D)))
    return MetricCheck(
        negative=max(0.0, float(-D.min())),
        identity=max(merged, float(max_abs(np.diag(D)))),
        symmetry=float(max_abs(D - D.T)),
        triangle=max(0.0, around),
    )


METRICS = ("euclidean", "manhattan", "chebyshev", "minkowski", "hamming", "jaccard", "angular")
NO_METRIC = {
    "cosine": "1 - cos breaks the triangle inequality; 'angular' orders the neighbours alike",
    "sqeuclidean": "the square of a distance breaks the triangle inequality; take 'euclidean'",
    "dot": "an inner product is a similarity, not a distance; take 'angular' or 'euclidean'",
}


def _check_metric_name(metric, p, X):
    """Return the metric if it is one, or say which axiom it breaks."""
    if callable(metric):
        worst = check_metric(metric, X[:12])._asdict()
        for axiom, value in worst.items():
            if not value <= 1e-9 * max(1.0, abs(value) if np.isfinite(value) else 1.0):
                raise ValueError(
                    f"metric must be a metric, but on the first rows of X it breaks the axiom "
                    f"{axiom!r} by {value:.3g}: mend it, or take a name such as 'euclidean'."
                )
        return metric
    if isinstance(metric, str) and metric in NO_METRIC:
        raise ValueError(f"metric {metric!r} is no metric: {NO_METRIC[metric]}.")
    check_choice(metric, "metric", METRICS)
    if metric == "minkowski":
        _check_power(p)
    return metric


def pairwise_distances(X, Y, metric="euclidean", p=2.0):
    """Return D with D_ij = d(x_i, y_j), shape (n, m).

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
    metric : str or callable
        "euclidean", "manhattan", "chebyshev", "minkowski" (with ``p``), "hamming", "jaccard" (one
        minus the similarity, for bits), "angular", or a function d(a, b) that is a metric.
    p : float
        The power of "minkowski", at least 1.

    Examples
    --------
    >>> pairwise_distances([[0.0, 0.0]], [[3.0, 4.0], [1.0, 1.0]], "manhattan")
    array([[7., 2.]])
    """
    X, Y = check_array(X), check_array(Y, "Y")
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"Y must have the {X.shape[1]} columns of X, got {Y.shape[1]}.")
    return _distances(X, Y, _check_metric_name(metric, p, X), p)


def _distances(X, Y, metric, p):
    if callable(metric):
        return np.array([[float(metric(a, b)) for b in Y] for a in X]).reshape(len(X), len(Y))
    if metric == "minkowski":
        metric = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}.get(p, metric)
    if metric == "minkowski":  # in units of the largest term no power leaves the floats
        top = cdist(X, Y, "chebyshev")
        unit, total = np.where(top > 0, top, 1.0), np.zeros_like(top)
        for x, y in zip(X.T, Y.T):
            total += (np.abs(x[:, None] - y) / unit) ** p
        return top * total ** (1 / p)
    if metric == "angular":
        return _angles(X, Y)
    if metric == "jaccard":
        _check_bits(X, "X")
        _check_bits(Y, "Y")
        return cdist(X.astype(bool), Y.astype(bool), "jaccard")
    return cdist(X, Y, "cityblock" if metric == "manhattan" else metric)


# The nearest rows, by looking at all ---------------------------------------------------------


@compiled
def squared_distance(a, b):
    """Return sum_j (a_j - b_j)^2, added in the order of the coordinates."""
    s = 0.0
    for j in range(len(a)):
        t = a[j] - b[j]
        s += t * t
    return s


@compiled
def insert(near, found, i, s, row):
    """Put (s, row) into the sorted list of query i if it belongs there; the lower row wins ties."""
    place = near.shape[1] - 1
    if s > near[i, place] or (s == near[i, place] and row > found[i, place]):
        return
    while place > 0 and (
        s < near[i, place - 1] or (s == near[i, place - 1] and row < found[i, place - 1])
    ):
        near[i, place], found[i, place] = near[i, place - 1], found[i, place - 1]
        place -= 1
    near[i, place], found[i, place] = s, row


@compiled
def k_smallest(D, index, near):
    """Put the k smallest entries of each row of D into ``near``, their columns into ``index``."""
    for i in range(D.shape[0]):
        near[i, :], index[i, :] = np.inf, D.shape[1]
        for j in range(D.shape[1]):
            if D[i, j] <= near[i, -1]:
                insert(near, index, i, D[i, j], j)


@compiled
def _closest(X, Q, G, shift, first, index, near):
    """Go on with ``k_smallest`` for squared distances of which G_ij + shift_i is a lower bound.

    The columns of G are the rows of X from ``first`` on. Only where the bound does not exceed the
    k-th smallest so far is a distance summed, one coordinate after the other, so that equal rows
    are equally far.
    """
    for i in range(G.shape[0]):
        limit = near[i, -1] - shift[i]  # from the columns before
        for j in range(G.shape[1]):
            if G[i, j] <= limit:
                s = squared_distance(Q[i], X[first + j])
                if s < near[i, -1]:
                    insert(near, index, i, s, first + j)
                    limit = near[i, -1] - shift[i]


def _closest_by_rows(X, Q, G, slack, index, near):
    """The same with numpy, a query at a time: where nothing is compiled, or k is large."""
    k = near.shape[1]
    limit = np.partition(G, k - 1, axis=1)[:, k - 1] + 2 * slack
    for i in range(len(Q)):
        columns = np.flatnonzero(G[i] <= limit[i])
        s = np.zeros(len(columns))
        for t in range(X.shape[1]):
            s += (Q[i, t] - X[columns, t]) ** 2
        order = np.argsort(s, kind="stable")[:k]
        index[i], near[i] = columns[order], s[order]


def _euclidean_neighbours(X, Q, k):
    """Return the k nearest rows by blocks of matrix products, exact up to the last digit."""
    index, near = np.zeros((len(Q), k), dtype=np.int64), np.full((len(Q), k), np.inf)
    Q = np.ascontiguousarray(Q)
    centre = X[0]  # any point among them saves digits
    Y = X - centre
    squares = np.einsum("ij,ij->i", Y, Y)
    widest = np.sqrt(max_abs(squares))
    fast = compiling() and k <= 256
    columns = 512 if fast else len(X)
    rows = 256 if fast else max(1, 4_000_000 // len(X))
    for a in range(0, len(Q), rows):
        Z, block = Q[a : a + rows] - centre, slice(a, a + rows)
        lengths = np.einsum("ij,ij->i", Z, Z)
        slack = 8 * (X.shape[1] + 4) * np.finfo(float).eps * (np.sqrt(lengths) + widest) ** 2
        Z *= -2
        for b in range(0, len(X), columns):
            G = Z @ Y[b : b + columns].T
            G += squares[b : b + columns]
            if fast:
                _closest(X, Q[block], G, lengths - slack, b, index[block], near[block])
            else:
                _closest_by_rows(X, Q[block], G, slack, index[block], near[block])
    return Neighbours(index, np.sqrt(near, out=near))


def neighbours(X, Q, k=1, *, metric="euclidean", p=2.0):
    """Return the k nearest rows of X for each row of Q, by looking at all of them.

    The nearest comes first; of equally near rows the one with the lowest index.

    Book: nearest-neighbours-knn-rule.

    Parameters
    ----------
    X : array of shape (n, d)
        The stored examples.
    Q : array of shape (m, d)
        The queries.
    k : int
        Between 1 and n.
    metric, p :
        As in ``pairwise_distances``.

    Examples
    --------
    >>> found = neighbours([[0.0], [2.0], [3.0]], [[1.0]], k=2)
    >>> found.index, found.distance
    (array([[0, 1]]), array([[1., 1.]]))
    """
    X, Q = check_array(X), check_array(Q, "Q")
    if X.shape[1] != Q.shape[1]:
        raise ValueError(f"Q must have the {X.shape[1]} columns of X, got {Q.shape[1]}.")
    return _search(X, Q, _check_k(k, len(X)), _check_metric_name(metric, p, X), p)


def _check_k(k, n, name="k"):
    check_scalar(k, name, low=1, integer=True)
    if k > n:
        raise ValueError(
            f"{name} = {k} neighbours cannot be found among {n} example(s) (n_samples = {n}): "
            f"take {name} at most {n}."
        )
    return k


def _search(X, Q, k, metric, p):
    if metric == "euclidean" or (metric == "minkowski" and p == 2):
        return _euclidean_neighbours(np.ascontiguousarray(X), Q, k)
    index, near = np.empty((len(Q), k), dtype=np.int64), np.empty((len(Q), k))
    block = max(1, 4_000_000 // len(X))
    for a in range(0, len(Q), block):
        D = _distances(Q[a : a + block], X, metric, p)
        k_smallest(D, index[a : a + block], near[a : a + block])
    return Neighbours(index, near)


def leave_one_out(X, k=1, *, metric="euclidean", p=2.0):
    """Return the k nearest *other* rows of each row of X.

    Parameters
    ----------
    X, k, metric, p :
        As in ``neighbours``; k is between 1 and n - 1.

    Examples
    --------
    >>> leave_one_out([[0.0], [1.0], [3.0]]).index.tolist()
    [[1], [0], [1]]
    """
    X = check_array(X, min_samples=2)
    _check_k(k, len(X) - 1)
    found = _search(X, X, k + 1, _check_metric_name(metric, p, X), p)
    own = found.index == np.arange(len(X))[:, None]
    own[~own.any(axis=1), k] = True  # enough others stand at distance 0 with a lower index
    return Neighbours(found.index[~own].reshape(-1, k), found.distance[~own].reshape(-1, k))


# Votes ---------------------------------------------------------------------------------------


def vote_weights(distance, weights="uniform"):
    """Return the weight of each neighbour from its distance, both of shape (m, k).

    "uniform" is 1. "distance" is 1/d up to a factor of the row; neighbours at distance 0 share all
    the weight. A function of the distances gives its own.

    Book: nearest-neighbours-knn-combination.

    Examples
    --------
    >>> vote_weights([[1.0, 2.0], [0.0, 3.0]], "distance")
    array([[1. , 0.5],
           [1. , 0. ]])
    """
    distance = check_array(distance, "distance", any_size=True)
    if callable(weights):
        w = np.asarray(weights(distance), dtype=float)
        if w.shape != distance.shape or not (np.isfinite(w) & (w >= 0)).all():
            raise ValueError("weights must return finite numbers >= 0, one for each distance.")
        if (w.sum(axis=1) == 0).any():
            raise ValueError("weights must not all be 0 in a row: widen the function.")
        return w
    check_choice(weights, "weights", ("uniform", "distance"))
    if weights == "uniform":
        return np.ones_like(distance)
    nearest = distance.min(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(nearest == 0, distance == 0, nearest / distance)


def vote_shares(labels, w, K):
    """Return the share of the weight that each class receives: sum_i w_i 1{y_i = c} / sum_i w_i.

    ``labels`` holds the class 0..K-1 of each neighbour and w its weight, both of shape (m, k); the
    shares have shape (m, K).

    Examples
    --------
    >>> vote_shares([[0, 1, 1]], [[1.0, 1.0, 1.0]], 2).round(3)
    array([[0.333, 0.667]])
    """
    labels, w = np.asarray(labels), check_array(w, "w", any_size=True)
    check_scalar(K, "K", low=1, integer=True)
    if labels.shape != w.shape or labels.dtype.kind not in "iu":
        raise ValueError(f"labels must be whole numbers of the shape {w.shape} of w.")
    if labels.min() < 0 or labels.max() >= K:
        raise ValueError(f"labels must lie in 0..{K - 1}, got {labels.min()}..{labels.max()}.")
    if (w < 0).any() or (w.sum(axis=1) == 0).any():
        raise ValueError("w must not be negative, nor all zero in a row.")
    shares = np.stack([np.where(labels == c, w, 0).sum(axis=1) for c in range(K)], axis=1)
    return shares / w.sum(axis=1, keepdims=True)


def leave_one_out_errors(X, y, ks, *, metric="euclidean", p=2.0):
    """Return the share of rows whose k nearest others outvote their label, for each k in ``ks``.

    One search serves all k: the votes are counted as the neighbours come in.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
        Labels of any sortable type.
    ks : list of int
        Between 1 and n - 1.
    metric, p :
        As in ``pairwise_distances``.

    Examples
    --------
    >>> leave_one_out_errors([[0.0], [1.0], [2.1], [3.0]], [0, 0, 1, 1], [1, 3])
    array([0., 1.])
    """
    X, classes, labels = check_X_y(X, y, "leave_one_out_errors", min_samples=2)
    ks = [_check_k(k, len(X) - 1) for k in ks]
    near = labels[leave_one_out(X, max(ks), metric=metric, p=p).index]
    counts = np.stack([np.cumsum(near == c, axis=1) for c in range(len(classes))], axis=2)
    answers = counts.argmax(axis=2)
    return np.array([np.mean(answers[:, k - 1] != labels) for k in ks])


# Limits of the risk --------------------------------------------------------------------------


def cover_hart_bound(bayes, K=2):
    """Return R* (2 - K/(K-1) R*), which the limit of the risk of 1-NN with K classes cannot exceed.

    ``bayes`` is the Bayes risk R*, a number or an array, between 0 and (K-1)/K.

    Book: nearest-neighbours-cover-hart. Cover and Hart (1967), IEEE Transactions on Information
    Theory 13, 21-27.

    Examples
    --------
    >>> cover_hart_bound(0.25)
    0.375
    """
    check_scalar(K, "K", low=2, integer=True)
    bayes = np.asarray(bayes) if np.ndim(bayes) else bayes
    R = np.asarray(bayes)
    if not np.all((R >= 0) & (R <= (K - 1) / K + 1e-12)):
        raise ValueError(f"bayes must lie in [0, {(K - 1) / K:.4g}] for K = {K} classes.")
    return _plain(bayes * (2 - bayes * K / (K - 1)))


def _plain(value):
    """Return a numpy scalar as a Python number; arrays and Fractions as they are."""
    return value.item() if isinstance(value, np.generic) else value


def _posteriors(eta, w):
    """Return posteriors of shape (m, K) and weights of shape (m,), Fractions kept as they are."""
    eta, w = np.asarray(eta), np.asarray(w)
    if eta.ndim != 2 or w.shape != (len(eta),):
        raise ValueError(
            f"eta must be of shape (m, K) and w of shape (m,), got {eta.shape} and {w.shape}."
        )
    check_distribution(eta.astype(float), "eta")
    check_distribution(w.astype(float), "w")
    return eta, w


def bayes_risk(eta, w):
    """Return R* = sum_x w(x) (1 - max_k eta_k(x)) for posteriors on finitely many inputs.

    eta, shape (m, K), holds the class probabilities at each input, w, shape (m,), the probabilities
    of the inputs; floats or Fractions.

    Examples
    --------
    >>> bayes_risk([[0.25, 0.75], [0.5, 0.5]], [0.5, 0.5])
    0.375
    """
    eta, w = _posteriors(eta, w)
    return _plain(w @ (1 - eta.max(axis=1)))


def nn_limit_risk(eta, w):
    """Return R_NN = sum_x w(x) (1 - sum_k eta_k(x)^2): two draws from the same posterior disagree.

    eta and w are as in ``bayes_risk``.

    Examples
    --------
    >>> nn_limit_risk([[0.25, 0.75], [0.5, 0.5]], [0.5, 0.5])
    0.4375
    """
    eta, w = _posteriors(eta, w)
    return _plain(w @ (1 - (eta**2).sum(axis=1)))


def knn_limit_risk(r, k):
    """Return r + (1 - 2r) P(Bin(k, r) > k/2), the limit of the risk of k-NN where R*(x) = r.

    r, a number or an array, is the conditional Bayes risk of two classes, at most 1/2; k is odd.

    Book: nearest-neighbours-knn-limit.

    Examples
    --------
    >>> knn_limit_risk(0.25, 1)
    0.375
    """
    check_scalar(k, "k", low=1, integer=True)
    if k % 2 == 0:
        raise ValueError(f"k must be odd, so that a vote of two classes has no ties, got {k}.")
    r = np.asarray(r, dtype=float)
    if not ((r >= 0) & (r <= 0.5)).all():
        raise ValueError("r must lie in [0, 1/2]: it is the smaller of eta and 1 - eta.")
    risk = r + (1 - 2 * r) * binom.sf(k // 2, k, r)
    return risk if risk.ndim else float(risk)


def nearest_law(D, w, n):
    """Return P[x, z], the probability that the nearest of n draws to input x is input z.

    The draws fall on m inputs with probabilities w, shape (m,), floats or Fractions. The nearest
    lies at distance D[x, z], D of shape (m, m), if some draw does and none is closer; among the
    inputs that far it is z in proportion to w.

    Book: eq-nearest-neighbours-law.
    """
    D, w = check_square(D, "D"), np.asarray(w)
    check_scalar(n, "n", low=1, integer=True)
    check_distribution(w.astype(float), "w")
    P = np.zeros(D.shape, dtype=w.dtype)
    for x in range(len(D)):
        for z in range(len(D)):
            closer, level = w[D[x] < D[x, z]].sum(), w[D[x] == D[x, z]].sum()
            if level > 0:
                P[x, z] = w[z] / level * ((1 - closer) ** n - (1 - closer - level) ** n)
    return P


def nn_risk(D, w, eta, n):
    """Return the risk R_n of 1-NN with n examples on finitely many inputs, exactly.

    R_n = sum_x w(x) sum_z P(z nearest to x) (1 - sum_k eta_k(x) eta_k(z)).

    Book: nearest-neighbours-nn-conditional-risk.

    Parameters
    ----------
    D, w, n :
        As in ``nearest_law``.
    eta : array of shape (m, K)
        Class probabilities at each input; floats or Fractions.
    """
    eta, w = _posteriors(eta, w)
    P = nearest_law(D, w, n)
    return _plain(w @ (P * (1 - eta @ eta.T)).sum(axis=1))


def distance_contrast(X, q):
    """Return (d_max - d_min) / d_min for the Euclidean distances of the rows of X from q.

    It is inf if q is one of the rows.

    Examples
    --------
    >>> distance_contrast([[1.0], [3.0]], [0.0])
    2.0
    """
    X = check_array(X)
    q = check_size(check_vector(q, "q", length=X.shape[1]), "q")
    far = cdist(X, q[None])[:, 0]
    return float((far.max() - far.min()) / far.min()) if far.min() > 0 else np.inf


# k-d trees -----------------------------------------------------------------------------------


@compiled
def split_at_median(X, order, j, start, end, middle):
    """Reorder order[start:end] so that coordinate j is smaller before ``middle`` than after.

    Hoare's find: sweep from both ends, swap what stands on the wrong side of a pivot, and go on in
    the part that holds the middle.
    """
    left, right = start, end - 1
    while left < right:
        pivot = X[order[middle], j]
        a, b = left, right
        while a <= b:
            while X[order[a], j] < pivot:
                a += 1
            while pivot < X[order[b], j]:
                b -= 1
            if a <= b:
                order[a], order[b] = order[b], order[a]
                a += 1
                b -= 1
        if b < middle:
            left = a
        if middle < a:
            right = b


@compiled
def grow_tree(X, order, start, end, low, high):
    """Fill the boxes node by node; halve each along its widest side unless it is a leaf."""
    d, n_nodes = X.shape[1], len(start)
    for node in range(n_nodes):
        widest, width = 0, -1.0
        for j in range(d):
            low[node, j], high[node, j] = np.inf, -np.inf
        for i in range(start[node], end[node]):
            for j in range(d):
                low[node, j] = min(low[node, j], X[order[i], j])
                high[node, j] = max(high[node, j], X[order[i], j])
        for j in range(d):
            if high[node, j] - low[node, j] > width:
                widest, width = j, high[node, j] - low[node, j]
        child = 2 * node + 1
        if child < n_nodes:
            middle = (start[node] + end[node]) // 2
            if middle < end[node]:
                split_at_median(X, order, widest, start[node], end[node], middle)
            start[child], end[child] = start[node], middle
            start[child + 1], end[child + 1] = middle, end[node]


@compiled
def box_distance(q, low, high, node):
    """Return the squared distance of q from the box of a node: 0 inside it."""
    s = 0.0
    for j in range(len(q)):
        if q[j] < low[node, j]:
            s += (low[node, j] - q[j]) * (low[node, j] - q[j])
        elif q[j] > high[node, j]:
            s += (q[j] - high[node, j]) * (q[j] - high[node, j])
    return s


@compiled
def search_tree(points, index, start, end, low, high, Q, near, found, looked_at):
    """Branch and bound: open the nearer box first, never one that is farther than the k-th best."""
    n_nodes, k = len(start), near.shape[1]
    boxes, bounds = np.empty(128, np.int64), np.empty(128)
    for i in range(len(Q)):
        near[i, :], found[i, :] = np.inf, len(points)
        boxes[0], bounds[0], top = 0, 0.0, 1
        while top > 0:
            top -= 1
            node = boxes[top]
            if bounds[top] > near[i, k - 1]:
                continue  # bound: nothing in this box can be among the k nearest
            child = 2 * node + 1
            if child >= n_nodes:
                for t in range(start[node], end[node]):
                    insert(near, found, i, squared_distance(Q[i], points[t]), index[t])
                looked_at[i] += end[node] - start[node]
                continue
            left = box_distance(Q[i], low, high, child)
            right = box_distance(Q[i], low, high, child + 1)
            nearer = child if left <= right else child + 1
            boxes[top], bounds[top] = 2 * child + 1 - nearer, max(left, right)
            boxes[top + 1], bounds[top + 1] = nearer, min(left, right)  # branch: on top
            top += 2


def kd_tree(X, leaf_size=16):
    """Return a k-d tree: boxes halved at the median of their widest side down to ``leaf_size``.

    X has shape (n, d); a leaf holds at most ``leaf_size`` rows.

    Book: nearest-neighbours-kd-tree. Friedman, Bentley and Finkel (1977), ACM Transactions on
    Mathematical Software 3, 209-226.

    Examples
    --------
    >>> tree = kd_tree([[5.0], [1.0], [4.0], [2.0]], leaf_size=2)
    >>> tree.low[:, 0].tolist(), tree.high[:, 0].tolist()
    ([1.0, 1.0, 4.0], [5.0, 2.0, 5.0])
    """
    X = np.ascontiguousarray(check_array(X))
    check_scalar(leaf_size, "leaf_size", low=1, integer=True)
    n, d = X.shape
    levels = 0
    while n > leaf_size * 2**levels:
        levels += 1
    n_nodes = 2 ** (levels + 1) - 1
    start, end = np.zeros(n_nodes, dtype=np.int64), np.full(n_nodes, n, dtype=np.int64)
    low, high = np.empty((n_nodes, d)), np.empty((n_nodes, d))
    order = np.arange(n, dtype=np.int64)
    grow_tree(X, order, start, end, low, high)
    return KDTree(X[order], order, start, end, low, high)


def kd_query(tree, Q, k=1):
    """Return the k nearest rows for each row of Q, the same as ``neighbours``, from a tree.

    Book: nearest-neighbours-branch-and-bound.

    Examples
    --------
    >>> found = kd_query(kd_tree([[0.0], [2.0], [3.0]]), [[1.0]], k=2)
    >>> found.index, found.distance
    (array([[0, 1]]), array([[1., 1.]]))
    """
    Q = np.ascontiguousarray(check_array(Q, "Q"))
    if Q.shape[1] != tree.points.shape[1]:
        raise ValueError(f"Q must have {tree.points.shape[1]} columns, got {Q.shape[1]}.")
    _check_k(k, len(tree.points))
    near, found = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int64)
    looked_at = np.zeros(len(Q), dtype=np.int64)
    search_tree(*tree, Q, near, found, looked_at)
    return TreeSearch(found, np.sqrt(near), looked_at)


# Hashing -------------------------------------------------------------------------------------


def hash_codes(X, normals):
    """Return the code of each row: bit j is 1 where the row lies on the positive side of plane j.

    X has shape (n, d), the normals of the planes (b, d), b at most 62.

    Book: nearest-neighbours-lsh. Charikar (2002), STOC, 380-388.

    Examples
    --------
    >>> hash_codes([[1.0, 1.0], [1.0, -1.0]], [[1.0, 0.0], [0.0, 1.0]])
    array([3, 1])
    """
    X, normals = check_array(X), check_array(normals, "normals")
    if normals.shape[1] != X.shape[1] or len(normals) > 62:
        raise ValueError(f"normals must be at most 62 rows of length {X.shape[1]}.")
    return (X @ normals.T > 0) @ (1 << np.arange(len(normals), dtype=np.int64))


def lsh_index(X, n_tables, n_bits, rng):
    """Return hash tables of the rows of X, each with its own random hyperplanes through 0.

    Parameters
    ----------
    X : array of shape (n, d)
        No row may be 0.
    n_tables : int
        More tables find more neighbours, with more work.
    n_bits : int
        More hyperplanes make smaller buckets: less work, fewer neighbours.
    rng : numpy.random.Generator
    """
    X = check_array(X)
    _unit(X, "each row of X")
    check_scalar(n_tables, "n_tables", low=1, integer=True)
    check_scalar(n_bits, "n_bits", low=1, high=62, integer=True)
    normals = check_rng(rng).standard_normal((n_tables, n_bits, X.shape[1]))
    codes = np.stack([hash_codes(X, planes) for planes in normals])
    order = np.argsort(codes, axis=1, kind="stable")
    return LSHIndex(X, normals, np.take_along_axis(codes, order, axis=1), order)


def lsh_query(tables, Q, k=1):
    """Return the k rows of smallest angle among those that share a bucket with each query."""
    Q = check_array(Q, "Q")
    _check_k(k, len(tables.X))
    hashes = [hash_codes(Q, planes) for planes in tables.normals]
    index, angles = np.full((len(Q), k), -1), np.full((len(Q), k), np.inf)
    work = np.zeros(len(Q), dtype=np.int64)
    for i, q in enumerate(Q):
        bucket = []
        for table, h in enumerate(hashes):
            first, last = (np.searchsorted(tables.codes[table], h[i], s) for s in ("left", "right"))
            bucket.append(tables.order[table, first:last])
        rows = np.unique(np.concatenate(bucket))
        work[i] = len(rows)
        if len(rows):
            far = _angles(q[None], tables.X[rows])[0]
            best = np.argsort(far, kind="stable")[:k]
            index[i, : len(best)], angles[i, : len(best)] = rows[best], far[best]
    return LSHSearch(index, angles, work)


# Fewer examples ------------------------------------------------------------------------------


@compiled
def condense_pass(X, y, kept):
    """Keep each row whose nearest kept row has another label; return how many were added."""
    added = 0
    for i in range(len(X)):
        nearest, best = i, np.inf
        for j in range(len(X)):
            if kept[j]:
                s = squared_distance(X[i], X[j])
                if s < best:
                    nearest, best = j, s
        if y[nearest] != y[i]:
            kept[i] = True
            added += 1
    return added


def condensed_nn(X, y):
    """Return the rows that Hart's rule keeps, increasing: 1-NN with them alone makes no error on X.

    Starting with row 0, pass through the rows and keep each that the kept ones get wrong, until a
    pass keeps nothing new. The distance is Euclidean; the result depends on the order of the rows.
    Rows with different labels are refused if they are equal, or at distance 0 after rounding.

    Book: nearest-neighbours-condensed-nn. Hart (1968), IEEE Transactions on Information Theory 14,
    515-516.

    Examples
    --------
    >>> condensed_nn([[0.0], [1.0], [2.0], [7.0], [8.0]], [0, 0, 0, 1, 1])
    array([0, 3])
    """
    X, _, y = check_X_y(X, y, "condensed_nn")
    group = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    if len(np.unique(np.column_stack([group, y]), axis=0)) > len(np.unique(group)):
        raise ValueError("X must not hold equal rows with different labels: edit the sample first.")
    X, y = np.ascontiguousarray(X), y.astype(np.int64)
    kept = np.zeros(len(X), dtype=bool)
    kept[0], n_kept = True, 1
    while condense_pass(X, y, kept):
        if kept.sum() == n_kept:
            raise ValueError(
                "X holds rows with different labels so near that their squared distance rounds to "
                "0: scale the columns."
            )
        n_kept = kept.sum()
    return np.flatnonzero(kept)


def edited_nn(X, y, k=3, *, metric="euclidean", p=2.0):
    """Return the rows that Wilson's rule keeps: those whose k nearest others vote for their label.

    Book: nearest-neighbours-edited-nn. Wilson (1972), IEEE Transactions on Systems, Man, and
    Cybernetics 2, 408-421.

    Parameters
    ----------
    X, y, metric, p :
        As in ``leave_one_out_errors``.
    k : int
        Between 1 and n - 1.

    Examples
    --------
    >>> edited_nn([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 0], k=2)
    array([0, 2, 3])
    """
    X, classes, y = check_X_y(X, y, "edited_nn", min_samples=2)
    found = leave_one_out(X, k, metric=metric, p=p)
    shares = vote_shares(y[found.index], np.ones(found.index.shape), len(classes))
    return np.flatnonzero(shares.argmax(axis=1) == y)


# Estimators ----------------------------------------------------------------------------------


class _KNeighbors:
    """What both estimators share: hyperparameters, the stored sample and the search."""

    def __init__(
        self, n_neighbors=5, *, weights="uniform", metric="euclidean", p=2.0, algorithm="auto"
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.p = p
        self.algorithm = algorithm

    def _store(self, X):
        _check_k(self.n_neighbors, len(X), "n_neighbors")
        metric = _check_metric_name(self.metric, self.p, X)
        check_choice(self.algorithm, "algorithm", ("auto", "brute", "kd_tree"))
        if not callable(self.weights):
            check_choice(self.weights, "weights", ("uniform", "distance"))
        euclidean = metric == "euclidean" or (metric == "minkowski" and self.p == 2)
        if self.algorithm == "kd_tree" and not euclidean:
            raise ValueError("algorithm 'kd_tree' is Euclidean: take 'brute' with other metrics.")
        low = compiling() and euclidean and X.shape[1] <= 10 and len(X) >= 500
        tree = self.algorithm == "kd_tree" or (self.algorithm == "auto" and low)
        self._X, self._tree = X.copy(), kd_tree(X) if tree else None
        self._measure = self.metric, self.p  # set_params is for the next fit
        self.n_samples_fit_ = len(X)
        self.n_features_in_ = X.shape[1]

    def kneighbors(self, X, n_neighbors=None):
        """Return ``(distance, index)`` of the nearest training rows, each of shape (m, k)."""
        X = check_features(self, X)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        _check_k(k, self.n_samples_fit_, "n_neighbors")
        if self._tree is not None:
            found = kd_query(self._tree, X, k)
        else:
            found = _search(self._X, X, k, *self._measure)
        return found.distance, found.index


class KNeighborsClassifier(_KNeighbors, Classifier):
    """Vote of the k nearest training rows; ties go to the first of the classes.

    Book: nearest-neighbours-knn-rule.

    Parameters
    ----------
    n_neighbors : int
        k, at most the number of training rows; another k needs no other fit.
    weights : {"uniform", "distance"} or callable
        As in ``vote_weights``; others need no other fit.
    metric : str or callable
        As in ``pairwise_distances``.
    p : float
        The power of "minkowski", at least 1.
    algorithm : {"auto", "brute", "kd_tree"}
        How neighbours are searched; the result is the same.

    Attributes
    ----------
    classes_ : array of shape (K,)
    n_samples_fit_, n_features_in_ : int

    Examples
    --------
    >>> KNeighborsClassifier(1).fit([[0.0], [4.0]], ["a", "b"]).predict([[1.0], [3.0]])
    array(['a', 'b'], dtype='<U1')
    """

    def fit(self, X, y):
        """Store the sample; return self."""
        begin_fit(self, X)
        X, classes, index = check_X_y(X, y, type(self).__name__)
        self._store(X)
        self.classes_, self._y = classes, index
        return self

    def predict_proba(self, X):
        """Return the share of the vote of each class, shape (m, K)."""
        distance, index = self.kneighbors(X)
        w = vote_weights(distance, self.weights)
        return vote_shares(self._y[index], w, len(self.classes_))

    def predict(self, X):
        """Return the class with the largest share, shape (m,)."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]


class KNeighborsRegressor(_KNeighbors, Regressor):
    """Weighted mean of the targets of the k nearest training rows.

    Book: nearest-neighbours-knn-combination.

    Parameters
    ----------
    n_neighbors, weights, metric, p, algorithm :
        As in ``KNeighborsClassifier``.

    Attributes
    ----------
    n_samples_fit_, n_features_in_ : int

    Examples
    --------
    >>> KNeighborsRegressor(2).fit([[0.0], [1.0], [5.0]], [1.0, 3.0, 9.0]).predict([[0.2]])
    array([2.])
    """

    def fit(self, X, y):
        """Store the sample; return self."""
        begin_fit(self, X)
        X, y = check_array(X), check_targets(y, type(self).__name__)
        check_target_length(X, y)
        self._store(X)
        self._y = y
        return self

    def predict(self, X):
        """Return the weighted means, shape (m,)."""
        distance, index = self.kneighbors(X)
        w = vote_weights(distance, self.weights)
        return (w * self._y[index]).sum(axis=1) / w.sum(axis=1)
