"""Hierarchical clustering: linkages, greedy merging, nearest-neighbour chain, trees, cuts, DBSCAN.

Chapter: Unsupervised learning, *Hierarchical clustering*. Main references: Lance and Williams
(1967), Ward (1963), Benzecri (1982), Murtagh (1983), Gower and Ross (1969), Ester et al. (1996).
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from mllib.core.arrays import check_array, check_size, check_square
from mllib.core.compiled import compiled
from mllib.core.estimators import Clusterer, begin_fit
from mllib.core.scalars import check_choice, check_count, check_positive, check_scalar
from mllib.k_means import best_partition, k_means
from mllib.nearest_neighbours import pairwise_distances

__all__ = [
    "AgglomerativeClustering",
    "DensityClusters",
    "Division",
    "Tree",
    "cophenetic",
    "cut",
    "dbscan",
    "divide",
    "leaf_order",
    "linkage",
    "merge_closest",
    "minimum_spanning_tree",
    "nearest_neighbour_chain",
    "updated",
]

#: The linkages and the number by which the loops know them.
METHODS = {"single": 0, "complete": 1, "average": 2, "ward": 3, "centroid": 4}


# Records -------------------------------------------------------------------------------------


class Tree(NamedTuple):
    """The merges of n observations: clusters 0..n-1 are these, merge t makes the cluster n + t."""

    children: np.ndarray  #: the two clusters of each merge, the lower number first, shape (n-1, 2)
    height: np.ndarray  #: their linkage distance, shape (n-1,)
    size: np.ndarray  #: observations in the new cluster, shape (n-1,)
    looked_at: int  #: pairs of clusters that were inspected


class DensityClusters(NamedTuple):
    """Clusters made of dense places."""

    labels: np.ndarray  #: cluster of each row, -1 for noise, shape (n,)
    core: np.ndarray  #: whether the row is a core point, shape (n,)


class Division(NamedTuple):
    """Clusters made by splitting."""

    labels: np.ndarray  #: cluster of each row, numbered by first appearance, shape (n,)
    trace: np.ndarray  #: J after 0, 1, ..., K - 1 splits, shape (K,)


# Merging -------------------------------------------------------------------------------------


@compiled
def updated(kind, ac, bc, ab, a, b, c):
    """Return the distance of the union of A and B from C; of Ward (3) and centroid (4) squared.

    Parameters
    ----------
    kind : int, as in ``METHODS``
    ac, bc, ab, a, b, c : float, the distances between A, B and C, and their sizes
    """
    if kind == 0:  # single
        return min(ac, bc)
    if kind == 1:  # complete
        return max(ac, bc)
    if kind == 2:  # average
        return (a * ac + b * bc) / (a + b)
    if kind == 3:  # Ward
        return ((a + c) * ac + (b + c) * bc - c * ab) / (a + b + c)
    return (a * ac + b * bc - a * b * ab / (a + b)) / (a + b)  # centroid


@compiled
def unite(D, kind, sizes, a, b, active, m):
    """Let place a stand for the union of a and b, and drop b from the first m active places."""
    k = 0
    for i in range(m):
        c = active[i]
        if c != b:
            active[k] = c
            k += 1
            if c != a:
                D[a, c] = updated(kind, D[a, c], D[b, c], D[a, b], sizes[a], sizes[b], sizes[c])
                D[c, a] = D[a, c]
    sizes[a] += sizes[b]


@compiled
def merge_closest(D, kind, pairs, height):
    """Merge the closest pair of clusters n - 1 times; return how many pairs were looked at: all.

    Parameters
    ----------
    D : array of shape (n, n)
        Overwritten; a place stands for the cluster that holds the observation of that number.
    kind : int, as in ``METHODS``
    pairs, height : arrays of shape (n - 1, 2) and (n - 1,)
        Filled with the places that are united, and their distance.
    """
    n = len(D)
    active, sizes, looked_at = np.arange(n), np.ones(n), 0
    for t in range(n - 1):
        m = n - t
        a, b, closest = n, n, np.inf
        for i in range(m):
            for j in range(i + 1, m):
                looked_at += 1
                if D[active[i], active[j]] < closest:
                    a, b, closest = active[i], active[j], D[active[i], active[j]]
        pairs[t, 0], pairs[t, 1], height[t] = a, b, closest
        unite(D, kind, sizes, a, b, active, m)
    return looked_at


@compiled
def nearest_neighbour_chain(D, kind, pairs, height):
    """Merge pairs of clusters that are each other's nearest, found by walking to the nearest.

    Parameters and result are as in ``merge_closest``; the merges come in another order. At ties the
    walk prefers to turn back, so that it ends.
    """
    n = len(D)
    active, sizes, looked_at = np.arange(n), np.ones(n), 0
    chain, length = np.empty(n, dtype=np.int64), 0
    for t in range(n - 1):
        m = n - t
        if length == 0:
            chain[0] = active[0]
            length = 1
        while True:
            a, closest = chain[length - 1], np.inf
            b = a
            if length > 1:
                b = chain[length - 2]
                closest = D[a, b]
            for i in range(m):
                c = active[i]
                if c != a and D[a, c] < closest:
                    b, closest = c, D[a, c]
            looked_at += m - 1
            if length > 1 and b == chain[length - 2]:
                break
            chain[length] = b
            length += 1
        length -= 2
        pairs[t, 0], pairs[t, 1], height[t] = min(a, b), max(a, b), closest
        unite(D, kind, sizes, min(a, b), max(a, b), active, m)
    return looked_at


@compiled
def minimum_spanning_tree(D, pairs, weight):
    """Grow a tree from place 0: n - 1 times add the edge to the place outside that is closest.

    Fill ``pairs`` and ``weight`` with their ends and lengths; return how many were looked at.
    """
    n = len(D)
    outside, near, source = np.arange(n), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    newest, looked_at = 0, 0
    for t in range(n - 1):
        m, k, best = n - t, 0, n
        for i in range(m):
            c = outside[i]
            if c != newest:
                outside[k] = c
                k += 1
                looked_at += 1
                if D[newest, c] < near[c]:
                    near[c], source[c] = D[newest, c], newest
                if best == n or near[c] < near[best]:
                    best = c
        pairs[t, 0], pairs[t, 1], weight[t] = source[best], best, near[best]
        newest = best
    return looked_at


@compiled
def spanning_tree_of_points(X, pairs, weight):
    """The same for squared Euclidean distances, computed when they are looked at."""
    n, d = X.shape
    outside, near, source = np.arange(n), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    newest, looked_at = 0, 0
    for t in range(n - 1):
        m, k, best = n - t, 0, n
        for i in range(m):
            c = outside[i]
            if c != newest:
                outside[k] = c
                k += 1
                looked_at += 1
                s = 0.0
                for j in range(d):
                    s += (X[newest, j] - X[c, j]) ** 2
                if s < near[c]:
                    near[c], source[c] = s, newest
                if best == n or near[c] < near[best]:
                    best = c
        pairs[t, 0], pairs[t, 1], weight[t] = source[best], best, near[best]
        newest = best
    return looked_at


@compiled
def name_clusters(pairs, children, size):
    """Turn pairs of members into numbers of clusters: merge t unites those of its two members."""
    n = len(pairs) + 1
    above = np.full(2 * n - 1, -1)
    for t in range(n - 1):
        for side in range(2):
            top = pairs[t, side]
            while above[top] >= 0:
                top = above[top]
            c = pairs[t, side]  # on the way up, let everything met point to the top
            while above[c] >= 0:
                after = above[c]
                above[c] = top
                c = after
            children[t, side] = top
            size[t] += 1 if top < n else size[top - n]
        if children[t, 0] > children[t, 1]:
            children[t, 0], children[t, 1] = children[t, 1], children[t, 0]
        for side in range(2):
            above[children[t, side]] = n + t


def linkage(X, method="average", *, metric="euclidean", algorithm="auto"):
    """Return the tree of merges of the closest clusters under a linkage, in order of height.

    Book: hierarchical-clustering-chain. Murtagh (1983), The Computer Journal 26, 354-359.

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) if ``metric`` is "precomputed"
    method : {"single", "complete", "average", "ward", "centroid"}
        The distance of two clusters: least, greatest or mean distance of their members;
        sqrt(2ab/(a + b)) times the distance of their means for sizes a, b; that of their means.
    metric : str or callable
        As in ``nearest_neighbours.pairwise_distances``; or "precomputed": X holds dissimilarities,
        symmetric, not negative, 0 on the diagonal. "ward" and "centroid" take them for Euclidean.
    algorithm : {"auto", "naive", "chain", "spanning-tree"}
        "auto" takes the tree for "single", "naive" for "centroid", for the others the chain.

    Examples
    --------
    >>> tree = linkage([[0.0], [1.0], [4.0]], "complete")
    >>> tree.children.tolist(), tree.height.tolist()
    ([[0, 1], [2, 3]], [1.0, 4.0])
    """
    check_choice(method, "method", tuple(METHODS))
    check_choice(algorithm, "algorithm", ("auto", "naive", "chain", "spanning-tree"))
    if algorithm == "auto":
        algorithm = {"single": "spanning-tree", "centroid": "naive"}.get(method, "chain")
    if algorithm == "chain" and method == "centroid":
        raise ValueError("algorithm 'chain' needs a reducible linkage: take 'naive'.")
    if algorithm == "spanning-tree" and method != "single":
        raise ValueError("algorithm 'spanning-tree' is for method 'single': take 'chain'.")
    known = isinstance(metric, str) and metric == "precomputed"
    X = check_array(X, min_samples=2)
    pairs, height = np.empty((len(X) - 1, 2), dtype=np.int64), np.empty(len(X) - 1)
    squares = method in ("ward", "centroid")
    if squares and not known and metric != "euclidean":
        raise ValueError(f"method {method!r} needs metric 'euclidean' or 'precomputed'.")
    if algorithm == "spanning-tree" and metric == "euclidean":
        squares = True
        looked_at = spanning_tree_of_points(np.ascontiguousarray(X), pairs, height)
    else:
        D = _given(X) if known else pairwise_distances(X, X, metric)
        if callable(metric):
            check_size(D, "metric(X, X)")
        if squares:
            D **= 2
        if algorithm == "spanning-tree":
            looked_at = minimum_spanning_tree(D, pairs, height)
        else:
            merge = merge_closest if algorithm == "naive" else nearest_neighbour_chain
            looked_at = merge(D, METHODS[method], pairs, height)
    if method != "centroid":
        order = np.argsort(height, kind="stable")
        pairs, height = pairs[order], height[order]
    children, size = np.empty_like(pairs), np.zeros(len(pairs), dtype=np.int64)
    name_clusters(pairs, children, size)
    if squares:
        height = np.sqrt(np.maximum(height, 0))
    return Tree(children, height, size, int(looked_at))


def _given(X):
    """Return a given matrix of dissimilarities as a copy that may be overwritten."""
    D = check_square(X, "X", symmetric=True)
    if (D < 0).any():
        raise ValueError("X must not hold negative dissimilarities: shift or square them first.")
    if np.diag(D).any():
        raise ValueError("X must have zeros on its diagonal: nothing differs from itself.")
    return (D + D.T) / 2


# Reading a tree ------------------------------------------------------------------------------


def _by_appearance(labels):
    """Return the labels renamed 0, 1, ... in the order in which they first appear."""
    _, first, index = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[index.ravel()]


def cut(tree, n_clusters=None, *, height=None):
    """Return the labels of the clusters after some of the merges, numbered by first appearance.

    Either all merges but the last ``n_clusters`` - 1 are done, or those of at most this ``height``.

    Book: hierarchical-clustering-agglomerative.

    >>> cut(linkage([[0.0], [5.0], [1.0]]), 2)
    array([0, 1, 0])
    """
    n = len(tree.height) + 1
    if (n_clusters is None) == (height is None):
        raise ValueError("give either n_clusters or height, and not both.")
    if height is None:
        check_scalar(n_clusters, "n_clusters", low=1, integer=True)
        if n_clusters > n:
            raise ValueError(f"n_clusters must be at most the {n} observations, got {n_clusters}.")
        merges = n - n_clusters
    else:
        check_scalar(height, "height", low=0)
        if (np.diff(tree.height) < 0).any():
            raise ValueError("height cannot cut a tree whose heights fall: give n_clusters.")
        merges = int(np.searchsorted(tree.height, height, side="right"))
    top = np.arange(2 * n - 1)
    for t in reversed(range(merges)):  # a merge comes after those of its parts
        top[tree.children[t]] = top[n + t]
    return _by_appearance(top[:n])


def leaf_order(tree):
    """Return the observations from left to right, so that no two branches of the drawing cross.

    >>> leaf_order(linkage([[0.0], [5.0], [1.0]]))
    array([1, 0, 2])
    """
    n = len(tree.height) + 1
    order, waiting = [], [2 * n - 2]
    while waiting:
        node = waiting.pop()
        if node < n:
            order.append(node)
        else:
            left, right = tree.children[node - n]
            waiting += [int(right), int(left)]
    return np.array(order)


def cophenetic(tree):
    """Return U, shape (n, n), with U_ij the height of the merge that first brings i and j together.

    Book: hierarchical-clustering-ultrametric. Sokal and Rohlf (1962), Taxon 11, 33-40.

    >>> cophenetic(linkage([[0.0], [5.0], [1.0]], "single"))[1]
    array([4., 0., 4.])
    """
    n = len(tree.height) + 1
    place = np.argsort(leaf_order(tree))
    first = np.concatenate([place, np.zeros(n - 1, dtype=np.int64)])
    last = first + 1  # the leaves below a node are neighbours in the order: first..last-1
    U = np.zeros((n, n))
    for t, (a, b) in enumerate(tree.children):
        U[first[a] : last[a], first[b] : last[b]] = tree.height[t]
        U[first[b] : last[b], first[a] : last[a]] = tree.height[t]
        first[n + t], last[n + t] = min(first[a], first[b]), max(last[a], last[b])
    return U[np.ix_(place, place)]


# Density -------------------------------------------------------------------------------------


def dbscan(X, eps, min_samples=5, *, metric="euclidean"):
    """Return the clusters of the dense rows of X, numbered by their first core points.

    A core point has at least ``min_samples`` rows, itself included, within the distance ``eps``.
    Single linkage of the core points alone, cut at the height ``eps``, makes the clusters. Any
    other row joins its nearest core point (the first at ties) if that is within ``eps``, and is
    noise if it is not. The labels do not depend on the order of the rows, ties apart.

    Book: hierarchical-clustering-dbscan. Ester, Kriegel, Sander and Xu (1996), KDD-96, 226-231.

    Parameters
    ----------
    X : array of shape (n, d)
    eps : float, above 0, in the units of X
    min_samples : int
    metric : str or callable
        As in ``nearest_neighbours.pairwise_distances``; all n^2 distances are kept.

    Returns
    -------
    DensityClusters

    Examples
    --------
    >>> dbscan([[0.0], [1.0], [2.0], [9.0]], 1.0, 3).labels
    array([ 0,  0,  0, -1])
    """
    check_positive(eps, "eps")
    check_count(min_samples, "min_samples")
    X = check_array(X)
    D = pairwise_distances(X, X, metric)
    if callable(metric):
        check_size(D, "metric(X, X)")
    core = np.sum(eps >= D, axis=1) >= min_samples
    labels, dense = np.full(len(X), -1), np.flatnonzero(core)
    labels[dense] = 0
    if len(dense) > 1:
        tree = linkage(D[np.ix_(dense, dense)], "single", metric="precomputed")
        labels[dense] = cut(tree, height=eps)
    if len(dense) > 0:
        nearest = dense[np.argmin(D[:, dense], axis=1)]
        labels = np.where(D[np.arange(len(X)), nearest] <= eps, labels[nearest], -1)
    return DensityClusters(labels, core)


# Splitting -----------------------------------------------------------------------------------


def divide(X, K, *, exact_up_to=10):
    """Split the cluster of largest J in two, K - 1 times; J is the sum of squares around the mean.

    A cluster of at most ``exact_up_to`` rows (16 at most, as m rows can be split in 2^(m-1) - 1
    ways) is split in the best of all ways, a larger one by 2-means that starts from the row
    farthest from the mean and the row farthest from that one.

    Book: hierarchical-clustering-divisive.

    >>> divide([[0.0], [1.0], [9.0], [5.0]], 3).labels
    array([0, 0, 1, 2])
    """
    X = check_array(X)
    check_scalar(K, "K", low=1, integer=True)
    check_scalar(exact_up_to, "exact_up_to", low=1, high=16, integer=True)
    distinct = len(np.unique(X, axis=0))
    if distinct < K:
        raise ValueError(f"K must be at most the {distinct} distinct rows of X, got {K}.")
    labels, J = np.zeros(len(X), dtype=np.int64), [_scatter(X)]
    trace = [sum(J)]
    for k in range(1, K):
        widest = int(np.argmax(J))
        rows = np.flatnonzero(labels == widest)
        part = _halves(X[rows], exact_up_to)
        labels[rows[part == 1]] = k
        J[widest] = _scatter(X[rows[part == 0]])
        J.append(_scatter(X[rows[part == 1]]))
        trace.append(sum(J))
    return Division(_by_appearance(labels), np.array(trace))


def _scatter(X):
    return float(np.sum((X - X.mean(axis=0)) ** 2)) if (X[0] != X).any() else 0.0


def _halves(X, exact_up_to):
    """Return 0 or 1 for each row: the two parts of a cluster."""
    if len(X) <= exact_up_to:
        return best_partition(X, 2).labels
    one = X[np.argmax(cdist(X, [X.mean(axis=0)], "sqeuclidean"))]
    other = X[np.argmax(cdist(X, [one], "sqeuclidean"))]
    return k_means(X, np.array([one, other])).labels


# Estimator -----------------------------------------------------------------------------------


class AgglomerativeClustering(Clusterer):
    """Clusters made by merging, read off the tree at a number of clusters or at a height.

    Book: hierarchical-clustering-agglomerative.

    Parameters
    ----------
    n_clusters : int
    linkage, metric : see ``linkage``
    distance_threshold : float, optional
        Merge while the height is at most this, whatever ``n_clusters`` is.

    Attributes
    ----------
    labels_, children_, distances_ : arrays of shape (n,), (n - 1, 2) and (n - 1,)
    n_clusters_, n_leaves_, n_features_in_ : int

    Examples
    --------
    >>> AgglomerativeClustering(2).fit([[0.0], [5.0], [1.0]]).labels_
    array([0, 1, 0])
    """

    def __init__(
        self, n_clusters=2, *, linkage="ward", metric="euclidean", distance_threshold=None
    ):
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric
        self.distance_threshold = distance_threshold

    def fit(self, X, y=None):
        """Build the tree and cut it; return self."""
        begin_fit(self, X)
        X = check_array(X, min_samples=2)
        tree = linkage(X, self.linkage, metric=self.metric)
        h = self.distance_threshold
        self.labels_ = cut(tree, self.n_clusters) if h is None else cut(tree, height=h)
        self.children_, self.distances_ = tree.children, tree.height
        self.n_clusters_, self.n_leaves_ = int(self.labels_.max()) + 1, len(X)
        self.n_features_in_ = X.shape[1]
        return self
