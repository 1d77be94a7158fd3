"""Clusters around centres: Lloyd's algorithm, starts, exact optima, indices, data in chunks.

Chapter: Unsupervised learning, *k-means*. Main references: Lloyd (1982), Arthur and Vassilvitskii
(2007), Fisher (1958), Calinski and Harabasz (1974).
"""

from dataclasses import dataclass
from functools import partial
from math import comb, factorial
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from mllib.core.arrays import check_array, check_sample_weight, check_size, check_vector
from mllib.core.chunks import as_passes, chunk_parts, reduce_chunks
from mllib.core.compiled import compiled, compiling
from mllib.core.errors import convergence_warning
from mllib.core.estimators import (
    Clusterer,
    Transformer,
    as_output,
    begin_fit,
    check_features,
    check_parameters,
)
from mllib.core.numerics import centred_columns, max_abs
from mllib.core.parallel import map_over
from mllib.core.scalars import (
    check_choice,
    check_instance,
    check_rng,
    check_scalar,
    random_generator,
)
from mllib.core.tables import column_names, keep_names

__all__ = [
    "Assignment",
    "ClusterStatistic",
    "KMeans",
    "KMeansResult",
    "MiniBatchKMeans",
    "Partition",
    "adjusted_rand_index",
    "assign",
    "bell",
    "best_partition",
    "best_partition_on_line",
    "calinski_harabasz",
    "chunk_statistic",
    "inertia",
    "inertia_curve",
    "k_means",
    "k_means_over_chunks",
    "k_means_plus_plus",
    "k_means_restarts",
    "mini_batch_step",
    "next_centres",
    "partitions",
    "random_partition",
    "seed_centres",
    "selection_probabilities",
    "single_moves",
    "stirling2",
    "update",
]


# Records -------------------------------------------------------------------------------------


class Assignment(NamedTuple):
    """The nearest centre of each row."""

    labels: np.ndarray  #: its index, the lowest at ties, shape (n,)
    distances: np.ndarray  #: squared distance to it, shape (n,)


class KMeansResult(NamedTuple):
    """A run of Lloyd's algorithm."""

    centres: np.ndarray  #: mu_k, shape (K, d)
    labels: np.ndarray | None  #: the nearest of these centres for each row, shape (n,)
    trace: np.ndarray  #: J after each assignment, shape (n_iter + 1,)
    n_iter: int  #: updates of the centres
    converged: bool  #: whether it stopped by itself


class Partition(NamedTuple):
    """A partition into K non-empty clusters and its objective."""

    labels: np.ndarray  #: cluster of each row, numbered by first appearance, shape (n,)
    objective: float  #: J with the means as centres


@dataclass(frozen=True)
class ClusterStatistic:
    """What one update needs to know of the rows; those of two chunks are put together by ``+``."""

    counts: np.ndarray  #: weight of each cluster, shape (K,)
    sums: np.ndarray  #: weighted sum of x_i - mu_k over each cluster, shape (K, d)
    inertia: float  #: weighted sum of ||x_i - mu_k||^2, the objective J at these centres
    far_distance: float  #: largest squared distance of a row of positive weight to its centre
    far_row: np.ndarray  #: that row, shape (d,)

    def merge(self, other):
        """Return the statistic of the rows of both chunks, for the same centres."""
        far = self if self.far_distance >= other.far_distance else other
        return ClusterStatistic(
            self.counts + other.counts,
            self.sums + other.sums,
            self.inertia + other.inertia,
            far.far_distance,
            far.far_row,
        )

    __add__ = merge


# The two half-steps --------------------------------------------------------------------------


def _check_centres(X, centres):
    X, centres = check_array(X), check_array(centres, "centres")
    if centres.shape[1] != X.shape[1]:
        raise ValueError(f"centres must have {X.shape[1]} columns like X, got {centres.shape[1]}.")
    return X, centres


def _check_partition(labels, n, K=None):
    labels = np.asarray(labels)
    if labels.shape != (n,) or labels.dtype.kind not in "iu" or (labels < 0).any():
        raise ValueError(f"labels must hold {n} whole numbers from 0 on, one for each row of X.")
    K = int(labels.max()) + 1 if K is None else check_scalar(K, "K", low=1, integer=True)
    if labels.max() >= K:
        raise ValueError(f"labels must be below K = {K}, got {labels.max()}.")
    return labels.astype(np.int64), K


@compiled
def nearest_centres(X, centres, labels, distances):
    """Write the index of the nearest centre of each row to labels, and its squared distance to
    distances, both in place; at a tie it is the lowest index.
    """
    for i in range(X.shape[0]):
        best, nearest = np.inf, 0
        for k in range(centres.shape[0]):
            s = 0.0
            for j in range(X.shape[1]):
                t = X[i, j] - centres[k, j]
                s += t * t
            if s < best:  # strictly: at a tie the lower index stays
                best, nearest = s, k
        labels[i], distances[i] = nearest, best


#: Rows that are done together: as many as stay in the fastest memory.
_BLOCK = 256


@compiled
def _nearest_in_blocks(XT, centres, labels, distances):
    """Do as ``nearest_centres`` for the columns of XT, to the last bit, with rows innermost.

    Neighbours in memory then undergo the same operation, which one instruction does for several.
    """
    d, n = XT.shape
    s, best, at = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK, dtype=np.int64)
    for first in range(0, n, _BLOCK):
        m = min(_BLOCK, n - first)
        for i in range(m):
            best[i], at[i] = np.inf, 0
        for k in range(centres.shape[0]):
            for i in range(m):
                s[i] = 0.0
            for j in range(d):
                x, c = XT[j, first : first + m], centres[k, j]
                for i in range(m):
                    t = x[i] - c
                    s[i] += t * t
            for i in range(m):
                less = s[i] < best[i]
                best[i] = s[i] if less else best[i]
                at[i] = k if less else at[i]
        for i in range(m):
            labels[first + i], distances[first + i] = at[i], best[i]


def _by_product(X, centres, labels, distances):
    """Do as ``nearest_centres`` with ||x||^2 - 2 x^T mu + ||mu||^2, and settle what is close."""
    origin = centres[0]  # any point among them saves digits
    M = centres - origin
    squares = np.einsum("kj,kj->k", M, M)
    for first in range(0, len(X), 4 * _BLOCK):
        rows = slice(first, first + 4 * _BLOCK)
        Z = X[rows] - origin
        D = Z @ (-2 * M.T)
        D += squares
        size = np.einsum("ij,ij->i", Z, Z) + max_abs(squares)
        slack = 1e-15 * (X.shape[1] + 8) * size
        close = D.min(axis=1, keepdims=True) + slack[:, None] >= D
        labels[rows] = close.argmax(axis=1)
        distances[rows] = ((X[rows] - centres[labels[rows]]) ** 2).sum(axis=1)
        several = np.flatnonzero(close.sum(axis=1) > 1)
        if len(several):
            part, near = np.empty(len(several), np.int64), np.empty(len(several))
            nearest_centres(X[rows][several], centres, part, near)
            labels[first + several], distances[first + several] = part, near


def _columns(X):
    """Return X with its columns side by side in memory, or nothing where loops are not compiled."""
    return np.ascontiguousarray(X.T) if compiling() else None


def _assign(X, centres, columns=None):
    labels, distances = np.zeros(len(X), dtype=np.int64), np.empty(len(X))
    if len(X) * len(centres) < 64:
        nearest_centres(X, centres, labels, distances)
    elif compiling():
        columns = _columns(X) if columns is None else columns
        _nearest_in_blocks(columns, centres, labels, distances)
    else:
        _by_product(X, centres, labels, distances)
    return Assignment(labels, distances)


def assign(X, centres):
    """Return argmin_k ||x_i - mu_k||^2 for each row, the lowest k at ties, and the minimum.

    X has shape (n, d), centres (K, d). Book: k-means-assignment-step.

    >>> assign([[0.0], [1.0], [2.0]], [[0.0], [2.0]]).labels
    array([0, 0, 1])
    """
    return _assign(*_check_centres(X, centres))


def update(X, labels, K, sample_weight=None):
    """Return the mean of each cluster, mu_k = sum_i w_i r_ik x_i / sum_i w_i r_ik, shape (K, d).

    X has shape (n, d); labels are whole numbers from 0 to K - 1. A cluster without rows is an
    error: no centre is better than another. Book: k-means-update-step.

    >>> update([[0.0], [2.0], [5.0]], [0, 0, 1], 2)
    array([[1.],
           [5.]])
    """
    X = check_array(X)
    labels, K = _check_partition(labels, len(X), K)
    w = check_sample_weight(sample_weight, len(X), ones=True)
    counts = np.bincount(labels, w, K)
    if (counts == 0).any():
        raise ValueError(
            f"labels must use every cluster, but {counts.argmin()} of 0..{K - 1} is empty."
        )
    Z, mean = centred_columns(X)
    sums = np.column_stack([np.bincount(labels, w * z, K) for z in Z.T])
    return mean + sums / counts[:, None]


def inertia(X, centres, labels=None, sample_weight=None):
    """Return the objective J = sum_i w_i ||x_i - mu_{z_i}||^2.

    z_i are ``labels``, by default those of the nearest centres. Book: k-means-objective.

    >>> inertia([[0.0], [1.0], [3.0]], [[0.0], [3.0]])
    1.0
    """
    X, centres = _check_centres(X, centres)
    w = check_sample_weight(sample_weight, len(X), ones=True)
    if labels is None:
        return _objective(w, _assign(X, centres).distances)
    labels, _ = _check_partition(labels, len(X), len(centres))
    return _objective(w, ((X - centres[labels]) ** 2).sum(axis=1))


# Lloyd's algorithm ---------------------------------------------------------------------------


@compiled
def add_deviations(X, weights, labels, centres, counts, sums):
    """Add the weight of each row to its cluster, and its weighted deviation from the centre."""
    for i in range(X.shape[0]):
        k = labels[i]
        counts[k] += weights[i]
        for j in range(X.shape[1]):
            sums[k, j] += weights[i] * (X[i, j] - centres[k, j])


def _statistic(X, w, centres, found, farthest=True):
    K, d = centres.shape
    labels, distances = found
    counts, sums = np.zeros(K), np.zeros((K, d))
    if compiling():
        add_deviations(X, w, labels, centres, counts, sums)
    else:
        counts = np.bincount(labels, w, K)
        deviations = w[:, None] * (X - centres[labels])
        sums = np.column_stack([np.bincount(labels, z, K) for z in deviations.T])
    far, reach = centres[0], 0.0
    if farthest or not counts.all():  # one without rows moves there
        i = int(np.argmax(np.where(w > 0, distances, -1.0)))
        if w[i] > 0:
            far, reach = X[i], float(distances[i])
    return ClusterStatistic(counts, sums, _objective(w, distances), reach, far.copy())


def _objective(w, distances):
    """Return the weighted sum of the squared distances, or say that there is no such number."""
    with np.errstate(over="ignore"):
        J = float(w @ distances)
    if not np.isfinite(J):
        raise ValueError("X or sample_weight is too large: the objective overflows; use a unit.")
    return J


def chunk_statistic(X, centres, *, sample_weight=None):
    """Return what a chunk of rows contributes to one step of Lloyd's algorithm: a ClusterStatistic.

    Those of several chunks, for the same centres, add up with ``+``. Book: k-means-chunks.

    >>> chunk_statistic([[0.0], [1.0], [5.0]], [[0.0], [4.0]]).counts
    array([2., 1.])
    """
    X, centres = _check_centres(X, centres)
    w = check_sample_weight(sample_weight, len(X), ones=True, chunk=True)
    return _statistic(X, w, centres, _assign(X, centres))


def next_centres(statistic, centres):
    """Return the centres after one step: mu_k + sums_k / counts_k, the means of the clusters.

    The first empty cluster, if there is one, moves to the row that is farthest from its centre;
    further empty clusters stay where they are until the next step. If a cluster is empty and every
    row lies on its centre, K exceeds the number of distinct rows: a ValueError that asks for "m or
    fewer" clusters, the m that are not empty. Book: k-means-lloyd.
    """
    check_instance(statistic, "statistic", ClusterStatistic, "from chunk_statistic")
    empty, centres = statistic.counts == 0, check_array(centres, "centres")
    new = centres + statistic.sums / np.where(empty, 1.0, statistic.counts)[:, None]
    if empty.any():
        if statistic.far_distance == 0:
            K = len(centres)
            raise ValueError(
                f"X has too few different rows for {K} clusters, {K - int(empty.sum())} or fewer "
                f"of positive weight: ask for fewer clusters."
            )
        new[np.argmax(empty)] = statistic.far_row
    return new


def k_means(X, centres, *, sample_weight=None, max_iter=300, tol=0.0):
    """Minimise J = sum_i w_i ||x_i - mu_{z_i}||^2 in turn over the labels z and the centres mu.

    Each step assigns every row to its nearest centre (the lowest index at ties) and moves every
    centre to the mean of its rows (an empty one as in ``next_centres``).

    Parameters
    ----------
    X : array of shape (n, d)
    centres : array of shape (K, d)
        Where to start; K is at most the number of distinct rows of positive weight.
    sample_weight, max_iter : see ``mllib.core``
    tol : float
        If positive, the run also stops when a step lowers J by at most ``tol`` times J; with 0 a
        converged run is a fixed point: no label changes any more.

    Returns
    -------
    KMeansResult

    References
    ----------
    Book: k-means-lloyd. Lloyd (1982), IEEE Transactions on Information Theory 28, 129-137.

    Examples
    --------
    >>> fit = k_means([[0.0], [1.0], [5.0], [6.0]], [[0.0], [1.0]])
    >>> fit.centres.ravel(), fit.trace[-1], fit.n_iter
    (array([0.5, 5.5]), np.float64(1.0), 2)
    """
    X, centres = _check_centres(X, centres)
    w = check_sample_weight(sample_weight, len(X), ones=True)
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    check_scalar(tol, "tol", low=0)
    columns, trace, labels, full = _columns(X), [], None, False
    for n_iter in range(max_iter + 1):
        before, found = labels, _assign(X, centres, columns)
        labels, was_full = found.labels, full
        trace.append(_objective(w, found.distances))
        if was_full and (labels == before).all():
            return KMeansResult(centres, labels, np.array(trace), n_iter, True)
        statistic = _statistic(X, w, centres, found, farthest=False)
        full = bool((statistic.counts > 0).all())
        if tol > 0 and was_full and full and trace[-2] - trace[-1] <= tol * trace[-2]:
            return KMeansResult(centres, labels, np.array(trace), n_iter, True)
        if n_iter < max_iter:
            centres = next_centres(statistic, centres)
    return KMeansResult(centres, labels, np.array(trace), max_iter, False)


def _chunk_item(chunk, centres):
    X, other, w = chunk_parts(chunk, ("X", "y", "sample_weight"), 1)
    if other is not None and w is None:
        raise ValueError("each chunk must be X or (X, None, sample_weight), not a pair")
    return chunk_statistic(X, centres, sample_weight=w)


def k_means_over_chunks(chunks, centres, *, max_iter=300, tol=0.0, workers=1):
    """Run Lloyd's algorithm on data that come in chunks, each read once for every step.

    Parameters
    ----------
    chunks : sequence of arrays of shape (n_c, d) or tuples (X, None, sample_weight), or function
        A function returns an iterator over them.
    centres : array of shape (K, d)
        Where to start.
    max_iter, tol, workers : see ``mllib.core``
        Labels are not kept: the run stops when a step lowers J by at most ``tol`` times J.

    Returns
    -------
    KMeansResult
        Its labels are None, since they are as many as the rows.

    References
    ----------
    Book: k-means-chunks.

    Examples
    --------
    >>> fit = k_means_over_chunks([[[0.0], [1.0]], [[5.0], [6.0]]], [[0.0], [1.0]])
    >>> fit.centres.ravel(), fit.converged
    (array([0.5, 5.5]), True)
    """
    again, centres, trace = as_passes(chunks), check_array(centres, "centres"), []
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    check_scalar(tol, "tol", low=0)
    for n_iter in range(max_iter + 1):
        total = reduce_chunks(partial(_chunk_item, centres=centres), again(), workers).value
        trace.append(total.inertia)
        full = bool((total.counts > 0).all())
        if n_iter > 0 and full and trace[-2] - trace[-1] <= tol * trace[-2]:
            return KMeansResult(centres, None, np.array(trace), n_iter, True)
        if n_iter < max_iter:
            centres = next_centres(total, centres)
    return KMeansResult(centres, None, np.array(trace), max_iter, False)


def mini_batch_step(X, centres, counts, *, sample_weight=None):
    """Return ``(centres, counts)`` after one batch: each centre is the mean of all rows it got.

    A centre that has received weight N_k = counts_k (0 at the start) moves by
    sum_i w_i (x_i - mu_k) / N_k over the rows of the batch X that are nearest to it, so its steps
    shrink like one over N_k. Book: k-means-mini-batch. Sculley (2010), WWW '10, 1177-1178.

    >>> mini_batch_step([[3.0], [9.0]], [[0.0], [8.0]], [2, 0])
    (array([[1.],
           [9.]]), array([3., 1.]))
    """
    centres = check_array(centres, "centres")
    counts = check_vector(counts, "counts", length=len(centres))
    found = chunk_statistic(X, centres, sample_weight=sample_weight)
    total = counts + found.counts
    return centres + found.sums / np.where(total > 0, total, 1.0)[:, None], total


# Starts --------------------------------------------------------------------------------------


def _law(w, nearest, power):
    """Return probabilities in proportion to w_i D_i^power; power 0 means any D_i > 0."""
    if power == np.inf:
        p = np.zeros(len(w))
        p[np.argmax(np.where(w > 0, nearest, -1.0))] = 1.0
        return p
    w, top = w / max_abs(w), np.max(nearest, where=w > 0, initial=0.0)
    if top > 0 and power > 0:
        p = w * np.minimum(nearest / top, 1.0) ** (power / 2)
    else:
        p = w * (nearest > 0)
    if not p.any():
        p = w
    return p / p.sum()


def selection_probabilities(X, centres, *, power=2.0, sample_weight=None):
    """Return the probability of each row to become the next centre, D_i^power / sum_j D_j^power.

    D_i = min_l ||x_i - mu_l|| is the distance to the nearest of the centres chosen so far, at least
    one; weights multiply D_i^power. A power of 0 takes any row that is not chosen yet, 2 is
    k-means++, inf takes a farthest row. Book: k-means-kmeans-plus-plus.

    >>> selection_probabilities([[0.0], [1.0], [3.0]], [[0.0]])
    array([0. , 0.1, 0.9])
    """
    X, centres = _check_centres(X, centres)
    w = check_sample_weight(sample_weight, len(X), ones=True)
    if power != np.inf:
        check_scalar(power, "power", low=0)
    return _law(w, _assign(X, centres).distances, power)


def seed_centres(X, K, rng, *, power=2.0, sample_weight=None):
    """Return K rows of X, the first drawn evenly, each next one by ``selection_probabilities``.

    A power of 0 gives K different rows (Forgy), 2 k-means++, inf farthest-first traversal.
    Book: k-means-init-strategies.

    >>> seed_centres([[0.0], [1.0], [9.0]], 2, np.random.default_rng(1), power=np.inf).ravel()
    array([1., 9.])
    """
    X = check_array(X)
    check_scalar(K, "K", low=1, high=len(X), integer=True)
    check_rng(rng)
    w = check_sample_weight(sample_weight, len(X), ones=True)
    if power != np.inf:
        check_scalar(power, "power", low=0)
    w = w / max_abs(w)
    chosen = [int(rng.choice(len(X), p=w / w.sum()))]
    nearest = np.full(len(X), np.inf)
    for _ in range(1, K):
        nearest = np.minimum(nearest, _assign(X, X[chosen[-1:]]).distances)
        chosen.append(int(rng.choice(len(X), p=_law(w, nearest, power))))
    return X[chosen]


def k_means_plus_plus(X, K, rng, *, sample_weight=None):
    """Return K rows of X as centres: ``seed_centres`` with the square of the distance.

    Book: k-means-kmeans-plus-plus. Arthur and Vassilvitskii (2007), SODA '07, section 2.2.

    >>> k_means_plus_plus([[0.0], [0.0], [4.0]], 2, np.random.default_rng(0)).ravel()
    array([0., 4.])
    """
    return seed_centres(X, K, rng, power=2.0, sample_weight=sample_weight)


def random_partition(X, K, rng, *, sample_weight=None):
    """Return the means of K clusters to which the rows are assigned at random, none of them empty.

    K is at most the number of rows of positive weight. Book: k-means-init-strategies.
    """
    X = check_array(X)
    w = check_sample_weight(sample_weight, len(X), ones=True)
    check_scalar(K, "K", low=1, high=np.count_nonzero(w), integer=True)
    labels = check_rng(rng).integers(K, size=len(X))
    labels[rng.permutation(np.flatnonzero(w))[:K]] = np.arange(K)
    return update(X, labels, K, w)


#: The power of the distance behind each name of a start.
_POWERS = {"k-means++": 2.0, "random": 0.0, "farthest": np.inf}


def _start(X, K, rng, init, w):
    if init == "partition":
        return random_partition(X, K, rng, sample_weight=w)
    return seed_centres(X, K, rng, power=_POWERS[init], sample_weight=w)


def _run(rng, X, K, init, w, max_iter, tol):
    centres = _start(X, K, rng, init, w)
    return k_means(X, centres, sample_weight=w, max_iter=max_iter, tol=tol)


def k_means_restarts(
    X,
    K,
    rng,
    *,
    n_init=10,
    init="k-means++",
    sample_weight=None,
    max_iter=300,
    tol=0.0,
    workers=1,
):
    """Return the runs of ``k_means`` from ``n_init`` random starts by increasing J, the best first.

    ``init`` is "k-means++", "random" or "farthest", K rows drawn by squared distance, drawn evenly,
    or each as far as possible from those before; or "partition", the means of a random partition.
    The other options are those of ``k_means`` and ``workers``. Book: k-means-init-strategies.
    """
    X = check_array(X)
    check_scalar(K, "K", low=1, integer=True)
    if len(X) < K:
        raise ValueError(f"n_clusters, K = {K}, must be at most the rows of X, n_samples={len(X)}.")
    check_scalar(n_init, "n_init", low=1, integer=True)
    check_choice(init, "init", (*_POWERS, "partition"))
    w = check_sample_weight(sample_weight, len(X), ones=True)
    run = partial(_run, X=X, K=K, init=init, w=w, max_iter=max_iter, tol=tol)
    starts = check_rng(rng).spawn(n_init)
    return sorted(map_over(run, starts, workers), key=lambda fit: fit.trace[-1])


# How many partitions there are, and the best of them -----------------------------------------


def stirling2(n, K):
    """Return S(n, K) = (1/K!) sum_{i=0}^K (-1)^i C(K, i) (K - i)^n, an exact whole number.

    It counts the partitions of n >= 1 things into K non-empty clusters: k-means-stirling-number.

    >>> stirling2(4, 2), stirling2(100, 3) > 10**46
    (7, True)
    """
    check_scalar(n, "n", low=1, integer=True)
    check_scalar(K, "K", low=0, integer=True)
    n, K = int(n), int(K)
    return sum((-1) ** i * comb(K, i) * (K - i) ** n for i in range(K + 1)) // factorial(K)


def bell(n):
    """Return B(n) = sum_{K=1}^n S(n, K), the number of all partitions of n >= 1 things.

    Book: k-means-bell-number.

    >>> [bell(n) for n in range(1, 6)]
    [1, 2, 5, 15, 52]
    """
    check_scalar(n, "n", low=1, integer=True)
    return sum(stirling2(n, K) for K in range(1, n + 1))


def partitions(n, K):
    """Return every partition of n things into K non-empty clusters, one row of labels for each.

    Clusters are numbered by first appearance, so that each of the S(n, K) partitions comes once.

    >>> partitions(3, 2)
    array([[0, 0, 1],
           [0, 1, 0],
           [0, 1, 1]])
    """
    count = stirling2(n, K)
    if count * n > 2**25:
        raise ValueError(f"n = {n}, K = {K} give {count} partitions, too many to list: lower n.")
    rows = [[0]]
    for i in range(1, n):
        rows = [
            [*row, k]
            for row in rows
            for k in range(min(max(row) + 2, K))
            if max(row) + 1 + (k > max(row)) + n - 1 - i >= K  # the rest can still open K
        ]
    return np.array(rows, dtype=np.int64).reshape(count, n)


def best_partition(X, K):
    """Return the Partition of least J by looking at all S(n, K) of them: 9330 for (10, 3).

    It is the first of the best, in lexicographic order of the labels. Book: k-means-global-optimum.

    >>> best_partition([[0.0], [1.0], [3.0]], 2)
    Partition(labels=array([0, 0, 1]), objective=0.5)
    """
    X = check_array(X)
    check_scalar(K, "K", low=1, high=len(X), integer=True)
    every = partitions(len(X), K)
    Z, _ = centred_columns(X)
    J = np.full(len(every), np.einsum("ij,ij->", Z, Z))
    for k in range(K):
        member = (every == k).astype(np.float64)
        J -= ((member @ Z) ** 2).sum(axis=1) / member.sum(axis=1)
    best = int(np.flatnonzero(J.min() + 1e-12 * max_abs(J) >= J)[0])
    labels = every[best]
    return Partition(labels, inertia(X, update(X, labels, K), labels))


@compiled
def split_line(x, best, first):
    """Fill best[k, j], the least J of the j smallest numbers in k clusters, and first[k, j], the
    place in x where the last of these clusters begins, both in place. x increases, best[0, 0] is 0
    and the rest infinite.
    """
    for j in range(1, len(x) + 1):
        mean, spread = 0.0, 0.0
        for i in range(j - 1, -1, -1):  # the last cluster is x[i], ..., x[j - 1]
            t = x[i] - mean
            mean += t / (j - i)
            spread += t * (x[i] - mean)
            for k in range(1, best.shape[0]):
                if best[k - 1, i] + spread < best[k, j]:
                    best[k, j] = best[k - 1, i] + spread
                    first[k, j] = i


def best_partition_on_line(x, K):
    """Return the Partition of n numbers into K clusters of least J, from the left: K n^2 steps.

    The clusters of a best partition are neighbours on the line, so the last one begins somewhere,
    and what stands before it is a best partition of fewer numbers into K - 1 clusters.
    Book: k-means-line. Fisher (1958), Journal of the American Statistical Association 53, 789-798.

    >>> best_partition_on_line([5.0, 0.0, 1.0, 6.0], 2)
    Partition(labels=array([1, 0, 0, 1]), objective=1.0)
    """
    x = check_size(check_vector(x, "x"), "x")
    check_scalar(K, "K", low=1, high=len(x), integer=True)
    order = np.argsort(x, kind="stable")
    best = np.full((K + 1, len(x) + 1), np.inf)
    best[0, 0] = 0.0
    first = np.zeros((K + 1, len(x) + 1), dtype=np.int64)
    split_line(x[order] - np.median(x), best, first)
    labels, end = np.empty(len(x), dtype=np.int64), len(x)
    for k in range(K, 0, -1):
        labels[order[first[k, end] : end]] = k - 1
        end = first[k, end]
    return Partition(labels, float(best[K, len(x)]))


def single_moves(X, labels, K):
    """Return the change of J when row i moves to cluster k and both means follow, shape (n, K).

    It is n_k/(n_k + 1) ||x_i - mu_k||^2 - n_j/(n_j - 1) ||x_i - mu_j||^2 for a row of cluster j, 0
    for its own cluster and inf where it is alone there; every cluster is present. Book:
    k-means-single-moves. Hartigan (1975), Clustering Algorithms, chapter 4.

    >>> single_moves([[0.0], [0.0], [0.5], [1.0]], [0, 0, 0, 1], 2)[2].round(4)
    array([ 0.    , -0.0417])
    """
    X = check_array(X)
    labels, K = _check_partition(labels, len(X), K)
    centres, rows = update(X, labels, K), np.arange(len(X))
    counts = np.bincount(labels, minlength=K).astype(float)
    D, own = cdist(X, centres, "sqeuclidean"), counts[labels]
    leave = np.where(own > 1, own / np.maximum(own - 1, 1) * D[rows, labels], -np.inf)
    change = counts / (counts + 1) * D - leave[:, None]
    change[rows, labels] = 0.0
    return change


# Judging a clustering ------------------------------------------------------------------------


def calinski_harabasz(X, labels):
    """Return (n - K)/(K - 1) times sum_k n_k ||mu_k - xbar||^2 / sum_i ||x_i - mu_{z_i}||^2.

    The n labels take 1 < K < n different values; inf if every row lies on the mean of its cluster.
    Book: k-means-calinski-harabasz. Calinski and Harabasz (1974), Communications in Statistics 3,
    1-27.

    >>> round(calinski_harabasz([[0.0], [1.0], [5.0], [6.0], [10.0]], [0, 0, 1, 1, 1]), 3)
    10.49
    """
    X = check_array(X)
    labels = np.unique(labels, return_inverse=True)[1].ravel()
    labels, K = _check_partition(labels, len(X))
    if not 1 < K < len(X):
        raise ValueError(f"labels must take between 2 and {len(X) - 1} values, they take {K}.")
    Z, _ = centred_columns(X)
    centres = update(Z, labels, K)
    between = np.bincount(labels) @ (centres**2).sum(axis=1)
    within = inertia(Z, centres, labels)
    if within == 0:
        return np.inf
    return float((len(X) - K) / (K - 1) * between / within)


def adjusted_rand_index(a, b):
    """Return the agreement of two clusterings on pairs: 1 if they are equal, about 0 by chance.

    With n_uv rows in cluster u of a and v of b, and sums of pairs N = sum C(n_uv, 2),
    A = sum C(n_u, 2), B = sum C(n_v, 2), T = C(n, 2): (N - AB/T) / ((A + B)/2 - AB/T).
    Book: k-means-limitations. Hubert and Arabie (1985), Journal of Classification 2, 193-218.

    >>> adjusted_rand_index([0, 0, 1, 1], [5, 5, 3, 3])
    1.0
    """
    (_, a), (kinds, b) = (np.unique(np.ravel(c), return_inverse=True) for c in (a, b))
    if len(a) != len(b) or len(a) < 2:
        raise ValueError(f"a and b must have one length of at least 2, got {len(a)} and {len(b)}.")
    table = np.bincount(a * len(kinds) + b)
    N, A, B = (int((c * (c - 1) // 2).sum()) for c in (table, np.bincount(a), np.bincount(b)))
    expected = A * B / comb(len(a), 2)
    most = (A + B) / 2
    return float((N - expected) / (most - expected)) if most != expected else 1.0


def inertia_curve(X, Ks, rng, *, n_init=10, workers=1):
    """Return the least J found for each K in ``Ks``, over ``n_init`` starts of k-means++.

    Book: k-means-choose-k.

    >>> inertia_curve([[0.0], [1.0], [3.0]], [1, 2, 3], np.random.default_rng(0)).round(3)
    array([4.667, 0.5  , 0.   ])
    """
    fits = (k_means_restarts(X, K, rng, n_init=n_init, workers=workers)[0] for K in Ks)
    return np.array([fit.trace[-1] for fit in fits])


# Estimators ----------------------------------------------------------------------------------


class _Centres(Clusterer, Transformer):
    """What both estimators can do once they have centres."""

    def predict(self, X):
        """Return the index of the nearest centre for each row, shape (m,)."""
        return _assign(check_features(self, X), self.cluster_centers_).labels

    def transform(self, X):
        """Return the distance of each row to each centre, shape (m, K)."""
        return as_output(self, cdist(check_features(self, X), self.cluster_centers_), X)

    def fit_transform(self, X, y=None, **options):
        """Fit and return the distances of the training rows to the centres."""
        return self.fit(X, **options).transform(X)

    def fit_predict(self, X, y=None, **options):
        """Fit and return the labels of the training rows."""
        return self.fit(X, **options).labels_

    def score(self, X, y=None, sample_weight=None):
        """Return -J: minus the sum of squared distances of the rows to their nearest centres."""
        X = check_features(self, X)
        return -inertia(X, self.cluster_centers_, sample_weight=sample_weight)

    @property
    def _n_features_out(self):
        return len(self.cluster_centers_)


class KMeans(_Centres):
    """K clusters of least J = sum_i w_i min_k ||x_i - mu_k||^2, by Lloyd's algorithm.

    The best of ``n_init`` runs is kept. Where a run ends depends on its start; neither the order
    of the rows nor writing a row of weight 2 as two rows changes the starts (but a "partition",
    which is drawn row by row).

    Parameters
    ----------
    n_clusters : int
        K, at most the number of distinct rows.
    init : {"k-means++", "random", "farthest", "partition"} or array of shape (K, d)
        As in ``k_means_restarts``; an array is the one start.
    n_init, max_iter, random_state, workers : see ``mllib.core``
    tol : float
        A run stops when no label changes, and with tol > 0 also when a step lowers J by at most
        ``tol`` times J.

    Attributes
    ----------
    cluster_centers_, labels_ : arrays of shapes (K, d) and (n,)
    inertia_ : float, J, the least of all starts
    trace_ : array of shape (n_iter_ + 1,), J after each assignment of the best run
    n_iter_, converged_, n_features_in_

    Examples
    --------
    >>> model = KMeans(2, random_state=0).fit([[0.0], [1.0], [5.0], [6.0]])
    >>> sorted(model.cluster_centers_.ravel()), model.inertia_
    ([np.float64(0.5), np.float64(5.5)], 1.0)
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        n_init=10,
        max_iter=300,
        tol=0.0,
        random_state=None,
        workers=1,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.workers = workers

    def fit(self, X, y=None, sample_weight=None):
        """Cluster the rows of X; y is ignored; return self."""
        begin_fit(self, X)
        X = check_array(X)
        w = check_sample_weight(sample_weight, len(X), ones=True)
        K = check_scalar(self.n_clusters, "n_clusters", low=1, integer=True)
        options = {"max_iter": self.max_iter, "tol": self.tol}
        if isinstance(self.init, str):
            # an order of the rows that neither their place nor their repetition changes
            along = X @ np.random.default_rng(0).standard_normal(X.shape[1])
            order, rng = np.argsort(along, kind="stable"), random_generator(self.random_state)
            options |= {"n_init": self.n_init, "init": self.init, "workers": self.workers}
            best, *_ = k_means_restarts(X[order], K, rng, sample_weight=w[order], **options)
            best = best._replace(labels=best.labels[np.argsort(order)])
        else:
            centres = check_array(self.init, "init")
            if len(centres) != K:
                raise ValueError(f"init must have n_clusters = {K} rows, got {len(centres)}.")
            best = k_means(X, centres, sample_weight=w, **options)
        if not best.converged:
            fall = (best.trace[-2] - best.trace[-1]) / best.trace[-2]
            convergence_warning(
                f"KMeans stopped at max_iter={self.max_iter}; its last step lowered J by the share "
                f"{fall:.2g}, tol={self.tol}: raise max_iter."
            )
        self.cluster_centers_, self.labels_ = best.centres, best.labels
        self.trace_, self.inertia_ = best.trace, float(best.trace[-1])
        self.n_iter_, self.converged_ = best.n_iter, best.converged
        self.n_features_in_ = X.shape[1]
        return self


class MiniBatchKMeans(_Centres):
    """K clusters of small J from one small batch of rows at a time (k-means-mini-batch).

    Parameters
    ----------
    n_clusters : int
        K, at most the number of rows.
    batch_size : int
    max_iter : int
        Passes over the data in ``fit``, each in a new random order.
    random_state : see ``mllib.core``

    Attributes
    ----------
    cluster_centers_ : array of shape (K, d)
    counts_ : array of shape (K,), the weight that each centre has received
    labels_, inertia_ : of the rows of the last ``fit`` or ``partial_fit``, shape (n,), and their J
    n_iter_, n_features_in_

    Examples
    --------
    >>> model = MiniBatchKMeans(2, random_state=0).fit([[0.0], [1.0], [5.0], [6.0]])
    >>> sorted(model.cluster_centers_.ravel().round(9))
    [np.float64(0.5), np.float64(5.5)]
    """

    def __init__(self, n_clusters=8, *, batch_size=256, max_iter=10, random_state=None):
        self.n_clusters = n_clusters
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.random_state = random_state

    def _begin(self, X, rng):
        K = check_scalar(self.n_clusters, "n_clusters", low=1, integer=True)
        if len(X) < K:
            raise ValueError(
                f"n_clusters = {K} clusters need as many rows, X has n_samples={len(X)}: lower it."
            )
        self.cluster_centers_ = k_means_plus_plus(X, K, rng)
        self.counts_ = np.zeros(K)
        self.n_iter_, self.n_features_in_ = 0, X.shape[1]

    def _step(self, X):
        found = mini_batch_step(X, self.cluster_centers_, self.counts_)
        self.cluster_centers_, self.counts_ = found

    def _finish(self, X):
        self.labels_, distances = _assign(X, self.cluster_centers_)
        self.inertia_ = float(distances.sum())
        return self

    def fit(self, X, y=None):
        """Start anew and pass over the rows ``max_iter`` times; return self."""
        begin_fit(self, X)
        X = check_array(X)
        size = check_scalar(self.batch_size, "batch_size", low=1, integer=True)
        rng = random_generator(self.random_state)
        self._begin(X, rng)
        for _ in range(self.max_iter):
            self.n_iter_ += 1
            rows = rng.permutation(len(X))
            for first in range(0, len(X), size):
                self._step(X[rows[first : first + size]])
        return self._finish(X)

    def partial_fit(self, X, y=None):
        """Take one step with X as the batch; the first call also draws the start from it."""
        check_parameters(self)
        started = hasattr(self, "n_features_in_")
        if not started:
            keep_names(self, column_names(X))
        X = check_features(self, X) if started else check_array(X)
        if not started:
            self._begin(X, random_generator(self.random_state))
        self.n_iter_ += 1
        self._step(X)
        return self._finish(X)
