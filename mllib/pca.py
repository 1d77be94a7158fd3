"""Principal components from covariances, inner products, kernels, distances and paths.

Also their density, factor analysis, and clusters of a graph from its eigenvectors.

Chapter: Unsupervised learning, *Principal components*. Main references: Jolliffe (2002),
Schölkopf, Smola and Müller (1998), Tenenbaum, de Silva and Langford (2000).
"""

import numbers
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, svd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import eigsh

from mllib.core.arrays import (
    check_array,
    check_kernel_values,
    check_sample_weight,
    check_size,
    check_square,
    check_vector,
)
from mllib.core.chunks import chunk_parts, reduce_chunks
from mllib.core.estimators import (
    Transformer,
    as_output,
    begin_fit,
    check_features,
    check_fitted,
    check_parameters,
)
from mllib.core.numerics import max_abs
from mllib.core.scalars import check_choice, check_flag, check_scalar
from mllib.core.tables import keep_names
from mllib.k_means import k_means_restarts
from mllib.kernels import (
    _centre,
    center_kernel,
    center_kernel_vectors,
    check_psd,
    default_width,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)
from mllib.mixtures_and_em import em
from mllib.nearest_neighbours import neighbours

__all__ = [
    "PCA",
    "Components",
    "FactorModel",
    "Isomap",
    "KernelComponents",
    "KernelPCA",
    "Moments",
    "Scaling",
    "classical_scaling",
    "components_from_moments",
    "covariance",
    "factor_analysis",
    "fixed_signs",
    "geodesic_distances",
    "graph_laplacian",
    "kernel_components",
    "kernel_scores",
    "moments",
    "neighbourhood_graph",
    "principal_components",
    "probabilistic_components",
    "project",
    "reconstruct",
    "reconstruction_error",
    "sine_between",
    "spectral_clustering",
]

_EPS, _TINY = np.finfo(float).eps, np.finfo(float).tiny


# Records -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Moments:
    """What principal components need to know of a sample; ``+`` joins two disjoint samples."""

    n: float  #: number of rows, or the sum of their weights
    mean: np.ndarray  #: mean of the rows, shape (d,)
    scatter: np.ndarray  #: sum over i of (x_i - mean)(x_i - mean)^T, shape (d, d)

    def __add__(self, other):
        """Return the moments of the rows of both (eq-pca-merge)."""
        if self.mean.shape != other.mean.shape:
            raise ValueError("both samples must have the same columns: merge chunks of one table.")
        n, gap = self.n + other.n, other.mean - self.mean
        between = self.n * other.n / n * np.outer(gap, gap)
        mean = self.mean + other.n / n * gap
        return Moments(n, mean, self.scatter + other.scatter + between)


class Components(NamedTuple):
    """The directions in which a sample spreads most, with its variance along each."""

    mean: np.ndarray  #: what is subtracted first: the mean of the rows, or 0, shape (d,)
    V: np.ndarray  #: column j is the principal direction v_j, shape (d, k)
    variances: np.ndarray  #: lambda_1 >= ... >= lambda_k > 0, shape (k,)
    total: float  #: the variance in all directions together, the trace of the covariance


class FactorModel(NamedTuple):
    """Rows x = mean + A z + e of k standard Gaussians z and d errors e, all independent."""

    mean: np.ndarray  #: shape (d,)
    loadings: np.ndarray  #: A; the covariance of x is A A^T + diag(noise), shape (d, k)
    noise: np.ndarray  #: the variances of the errors, shape (d,)


class KernelComponents(NamedTuple):
    """Principal components of features that are known by their inner products only."""

    alpha: np.ndarray  #: v_j = sum_i alpha_ij (phi(x_i) - mean), of length 1, shape (n, k)
    variances: np.ndarray  #: lambda_1 >= ... >= lambda_k > 0, shape (k,)
    means: np.ndarray  #: K 1/n, with which new points are centred, shape (n,)


class Scaling(NamedTuple):
    """Points whose distances are, or are close to, those given."""

    Y: np.ndarray  #: coordinates with mean 0, uncorrelated, shape (n, k)
    values: np.ndarray  #: all eigenvalues of B = -1/2 (I - J) D^2 (I - J), falling, shape (n,)


# Functions: moments --------------------------------------------------------------------------


def _blocks(X):
    """Return slices of rows that stay in the cache."""
    size = max(1, 2**16 // X.shape[1])
    return [slice(i, i + size) for i in range(0, len(X), size)]


def _mean(X, w):
    """Return the mean with weights w, counted from the first row: constant columns are exact."""
    return X[0] + sum(w[b] @ (X[b] - X[0]) for b in _blocks(X)) / w.sum()


def moments(X, weights=None):
    """Return n, the mean and the scatter sum_i w_i (x_i - mean)(x_i - mean)^T of X, shape (n, d).

    Those of disjoint samples add up; ``weights``, shape (n,), say how often each row counts.

    Book: pca-moments.

    >>> moments([[1.0], [3.0]]).scatter
    array([[2.]])
    """
    X = check_array(X)
    weights = check_sample_weight(weights, len(X), "weights")
    w = np.ones(len(X)) if weights is None else weights
    mean, scatter = _mean(X, w), np.zeros((X.shape[1], X.shape[1]))
    for rows in _blocks(X):
        Z = X[rows] - mean
        scatter += Z.T @ (Z if weights is None else w[rows, None] * Z)
    return Moments(float(w.sum()), mean, scatter)


def covariance(X):
    """Return Sigma = 1/n sum_i (x_i - mean)(x_i - mean)^T, shape (d, d).

    >>> covariance([[1.0], [3.0]])
    array([[1.]])
    """
    found = moments(X)
    return found.scatter / found.n


# Functions: components -----------------------------------------------------------------------


def fixed_signs(V):
    """Turn the columns of V so that the largest entry of each in absolute value is positive.

    Of entries equal to eight digits the first one counts, so that rounding does not decide.

    >>> fixed_signs(np.array([[-3.0, 1.0], [1.0, -1.0]]))
    array([[ 3.,  1.],
           [-1., -1.]])
    """
    V = check_array(V, "V", any_size=True)
    size = np.abs(V)
    first = np.argmax(size >= (1 - 1e-8) * size.max(axis=0), axis=0)
    return np.where(V[first, np.arange(V.shape[1])] < 0, -V, V)


def _largest(C, k):
    """Return the k largest eigenvalues of a symmetric matrix, falling, and their vectors."""
    m = len(C)
    if m > 400 and k <= min(20, m // 20):
        start = np.random.default_rng(0).standard_normal(m)
        values, V = eigsh(C, k, which="LA", v0=start)
        order = np.argsort(values)
        values, V = values[order], V[:, order]
    else:
        values, V = eigh(C)  # all: LAPACK may lose some of equal values when asked for the last k
        values, V = values[m - k :], V[:, m - k :]
    return values[::-1].copy(), V[:, ::-1]


def _by_svd(Z, n, k):
    """Return s_j^2 / n and the right singular vectors of Z, j <= k."""
    s, Vt = svd(Z, full_matrices=False)[1:]
    return s[:k] ** 2 / n, Vt[:k].T


def _by_gram(Z, n, k):
    """Return the eigenvalues of Z Z^T / n, and v_j = Z^T a_j / sqrt(n lambda_j)."""
    values, A = _largest(Z @ Z.T / n, k)
    return values, Z.T @ A / np.sqrt(n * np.maximum(values, _TINY))


def _check_k(k, share=True):
    """Check a number of components: None, a whole number or, where it makes sense, a share."""
    if k is None:
        return None
    if share and isinstance(k, numbers.Real) and not isinstance(k, numbers.Integral):
        return check_scalar(k, "n_components", low=0, high=1, open_low=True)
    return check_scalar(k, "n_components", low=1, integer=True)


def _count(k, values, total, noise, shape, name="X"):
    """Return how many components are kept; variances up to ``noise`` are rounding."""
    rank = int(np.count_nonzero(values > noise))
    if rank == 0:
        raise ValueError(
            f"{name} is constant (n_samples = {shape[0]}, n_features = {shape[1]}): there is no "
            f"direction in which it varies; pass rows that differ."
        )
    if k is None:
        return rank
    if not isinstance(k, numbers.Integral):
        held = np.cumsum(values[:rank])
        return min(rank, int(np.searchsorted(held, k * total * (1 - 1e-12))) + 1)
    if k > rank:
        raise ValueError(
            f"n_components must be at most {rank}, the number of directions in which {name} varies "
            f"(n_samples = {shape[0]}, n_features = {shape[1]}), got k = {k}."
        )
    return int(k)


def principal_components(X, k=None, *, weights=None, center=True, method="auto"):
    """Return the directions v_1, ..., v_k in which X varies most: Sigma v_j = lambda_j v_j.

    Sigma = 1/n sum_i (x_i - mean)(x_i - mean)^T. Among all orthonormal v_1, ..., v_k they have the
    largest sum of variances, and the rows projected on them are closest to the rows themselves.

    Book: pca-pca-components, pca-svd. Jolliffe (2002), Chapters 1 and 3.

    Parameters
    ----------
    X : array of shape (n, d)
        Not constant.
    k : int, float or None
        How many; a share in (0, 1] of the total variance that the smallest sufficient number of
        them must hold; or None for all directions of positive variance.
    weights : array of shape (n,), optional
        How often each row counts.
    center : bool
        With False the mean stays, and Sigma + mean mean^T takes the place of Sigma.
    method : {"auto", "svd", "covariance", "gram"}
        Singular values of the centred rows; eigenvalues of the (d, d) covariance; or of the (n, n)
        matrix of inner products. "auto" takes the smaller of the two matrices, and where a
        variance below 1e-6 of the largest is asked for, which they would blur, the singular values.

    Examples
    --------
    >>> found = principal_components([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> found.V.ravel(), found.variances.round(4)
    (array([0.6, 0.8]), array([16.6667]))
    """
    X, k = check_array(X, min_samples=2), _check_k(k)
    check_choice(method, "method", ("auto", "svd", "covariance", "gram"))
    check_flag(center, "center")
    weights = check_sample_weight(weights, len(X), "weights")
    if weights is not None:
        X, weights = X[weights > 0], weights[weights > 0]
    n, d = X.shape
    most = max(1, min(n - bool(center), d))
    asked = min(k, most) if isinstance(k, numbers.Integral) else k
    wanted = asked if isinstance(k, numbers.Integral) else most
    way = ("covariance" if d <= n else "gram") if method == "auto" else method
    if way == "covariance":
        mean, total, values, V = _from_moments(moments(X, weights), wanted, center)
    else:
        Z, mean, size, total = _rows(X, weights, center)
        values, V = (_by_svd if way == "svd" else _by_gram)(Z, size, wanted)
    last = _count(asked, values, total, -np.inf, X.shape) - 1
    if method == "auto" and values[last] < 1e-6 * values[0]:
        Z, mean, size, total = _rows(X, weights, center)
        way, (values, V) = "svd", _by_svd(Z, size, most)
    if way == "svd":  # what rounding makes of 0: in the singular values, and in the mean
        root = max(n, d) * np.sqrt(max(values[0], 0)) + 4 * max_abs(mean)
        noise = (_EPS * root) ** 2
    else:
        noise = 10 * min(n, d) * _EPS * values[0]
    k = _count(k, values, total, noise, X.shape)
    return Components(mean, fixed_signs(V[:, :k]), values[:k], total)


def _rows(X, weights, center):
    """Return Z with Sigma = Z^T Z / n, the mean, n, and the total variance."""
    w = np.ones(len(X)) if weights is None else weights
    mean = _mean(X, w) if center else np.zeros(X.shape[1])
    Z = X - mean
    if weights is not None:
        Z *= np.sqrt(w)[:, None]
    return Z, mean, w.sum(), float(np.vdot(Z, Z) / w.sum())


def _from_moments(found, k, center=True):
    """Return the mean, the total variance and the k largest eigenvalues with their vectors."""
    Sigma, mean = found.scatter / found.n, found.mean
    if not center:
        Sigma, mean = Sigma + np.outer(mean, mean), np.zeros_like(mean)
    return mean, float(np.trace(Sigma)), *_largest(Sigma, k)


def components_from_moments(found, k=None):
    """Return the principal components of a sample of which only the moments are at hand.

    k is as in ``principal_components``; variances below about 1e-14 d of the largest count as 0.

    Book: pca-moments.

    >>> parts = moments([[0.0, 0.0]]) + moments([[3.0, 4.0], [6.0, 8.0]])
    >>> components_from_moments(parts).variances.round(4)
    array([16.6667])
    """
    k, d = _check_k(k), len(found.mean)
    wanted = min(k, d) if isinstance(k, numbers.Integral) else d
    mean, total, values, V = _from_moments(found, wanted)
    noise = 10 * d * _EPS * max(values[0], _EPS * float(mean @ mean))
    k = _count(k, values, total, noise, (int(found.n), d))
    return Components(mean, fixed_signs(V[:, :k]), values[:k], total)


def project(X, components):
    """Return the scores z_ij = v_j^T (x_i - mean) on ``Components``, shape (n, k).

    >>> X = [[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]
    >>> project(X, principal_components(X)).ravel()
    array([-5.,  0.,  5.])
    """
    X = check_array(X)
    if X.shape[1] != len(components.mean):
        raise ValueError(f"X must have {len(components.mean)} columns, got {X.shape[1]}.")
    return (X - components.mean) @ components.V


def reconstruct(Y, components):
    """Return the rows mean + sum_j z_ij v_j for scores of shape (n, k), shape (n, d).

    >>> reconstruct([[5.0]], principal_components([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]))
    array([[6., 8.]])
    """
    return components.mean + check_array(Y, "Y", any_size=True) @ components.V.T


def reconstruction_error(X, components):
    """Return 1/n sum_i ||x_i - x'_i||^2, where x'_i is rebuilt from the scores of x_i.

    >>> X = [[0.0, 1.0], [0.0, -1.0], [2.0, 0.0], [-2.0, 0.0]]
    >>> reconstruction_error(X, principal_components(X, 1))
    0.5
    """
    X = check_array(X)
    gap = X - reconstruct(project(X, components), components)
    return float(np.einsum("ij,ij->", gap, gap) / len(X))


def sine_between(v, w):
    """Return the sine of the angle between the lines along v and along w.

    It is the length of what is left of one unit vector after projection on the other.

    >>> sine_between([1.0, 0.0], [-4.0, 3.0])
    0.6
    """
    v = check_vector(v, "v")
    w = check_vector(w, "w", length=len(v))
    if not v.any() or not w.any():
        raise ValueError("v and w must not be 0, which has no direction.")
    v, w = v / np.linalg.norm(v), w / np.linalg.norm(w)
    return float(np.linalg.norm(w - v * (v @ w)))


def _positive(k, values, K, shape, name="X"):
    """Return how many eigenvalues of the centred K are kept: k, or all above its rounding."""
    noise = 10 * len(K) * _EPS * max_abs(K)
    return _count(k, values, 0.0, noise, shape, name)


# Functions: a density ------------------------------------------------------------------------


def probabilistic_components(X, k):
    """Return the FactorModel of largest likelihood with k factors and one variance of all errors.

    Maximises sum_i log N(x_i; mean, A A^T + s^2 I). s^2 is the mean of the d - k variances that k
    principal directions leave, and A = V_k (Lambda_k - s^2 I)^{1/2}. The rows of X, shape (n, d),
    must vary in more than k directions, 1 <= k < d.

    Book: pca-probabilistic. Tipping and Bishop (1999).

    >>> model = probabilistic_components([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]], 1)
    >>> abs(model.loadings).ravel().round(4), model.noise.round(4)
    (array([2., 0.]), array([0.5, 0.5]))
    """
    X = check_array(X, min_samples=2)
    d = X.shape[1]
    check_scalar(k, "k", low=1, high=d - 1, integer=True)
    found = principal_components(X, k)
    noise = (found.total - found.variances.sum()) / (d - k)
    if noise <= 10 * d * _EPS * found.total:
        raise ValueError(
            f"X must vary in more than k = {k} directions, or the likelihood has no bound: lower k."
        )
    A = found.V * np.sqrt(np.maximum(found.variances - noise, 0))
    return FactorModel(found.mean, A, np.full(d, noise))


def _factor_e_step(params, S):
    """Return the means of x z^T and z z^T given the rows, of covariance S, and a log-likelihood.

    That is 2/n of log p(X), but for a constant.
    """
    A, noise = params
    G = np.linalg.inv(np.eye(A.shape[1]) + (A.T / noise) @ A)  # the covariance of z given x
    B = G @ (A.T / noise)  # the mean of z given x is B (x - mean)
    C = A @ A.T + np.diag(noise)
    misfit = np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, S))
    return (S @ B.T, G + B @ S @ B.T), -misfit


def _factor_m_step(statistics, S):
    """Return the loadings and the noise, at least 1e-6 S_jj, of largest expected likelihood."""
    P, M = statistics
    A = np.linalg.solve(M, P.T).T
    return A, np.maximum(np.diag(S) - np.sum(A * P, axis=1), 1e-6 * np.diag(S))


def factor_analysis(X, k, *, max_iter=10_000, tol=1e-10):
    """Return the FactorModel of k factors to which EM climbs: each column has its own noise.

    Climbs sum_i log N(x_i; mean, A A^T + diag(noise)) from the probabilistic components of the
    standardised columns, so that a column in another unit only changes its own row of A and its
    own noise. No noise falls below a millionth of the variance of its column. A is determined up
    to a rotation of the factors. X has shape (n, d), no column is constant, and 1 <= k < d.

    Book: pca-factor-em. Rubin and Thayer (1982).

    >>> rows = np.vstack([np.zeros(3), np.eye(3), np.full(3, 2.0)])
    >>> factor_analysis(rows, 1).noise.round(3)
    array([0.2, 0.2, 0.2])
    """
    X = check_array(X, min_samples=2)
    found = moments(X)
    S = found.scatter / found.n
    unit = np.sqrt(np.diag(S))
    if (unit == 0).any():
        raise ValueError(f"column {np.argmin(unit)} of X is constant: remove it.")
    start = probabilistic_components((X - found.mean) / unit, k)
    params = unit[:, None] * start.loadings, unit**2 * np.maximum(start.noise, 1e-6)
    climb = em(
        partial(_factor_e_step, S=S),
        partial(_factor_m_step, S=S),
        params,
        max_iter=max_iter,
        tol=tol,
        n_samples=2,  # the objective is twice what an observation adds
        name="factor_analysis",
    )
    return FactorModel(found.mean, *climb.params)


# Functions: kernels --------------------------------------------------------------------------


def kernel_components(K, k=None):
    """Return alpha and lambda of v_j = sum_i alpha_ij (phi(x_i) - mean), ||v_j|| = 1.

    (1/n) K_c a_j = lambda_j a_j with the centred K_c and unit vectors a_j; alpha_j is
    a_j / sqrt(n lambda_j). K, shape (n, n), is not centred; k = None takes all variances above
    rounding.

    Book: pca-kernel-pca, pca-kpca-normalisation. Schölkopf, Smola and Müller (1998).

    >>> found = kernel_components([[0.0, 0.0, 0.0], [0.0, 25.0, 50.0], [0.0, 50.0, 100.0]])
    >>> found.alpha[[0, 2]].ravel().round(4), found.variances.round(4)
    (array([ 0.1, -0.1]), array([16.6667]))
    """
    K = check_square(K, "K", symmetric=True)
    return _kernel_components(K, k, K.shape, "K")


def _kernel_components(K, k, shape, name="X"):
    """Do as ``kernel_components``, for a symmetric K made from data of this shape."""
    n, k = len(K), _check_k(k, share=False)
    values, A = _largest(_centre(K), n if k is None else min(k, n))
    k = _positive(k, values, K, shape, name)
    values, A = values[:k], fixed_signs(A[:, :k])
    return KernelComponents(A / np.sqrt(values), values / n, K.mean(axis=0))


def _weighted_components(K, k, shape, s):
    """Do the same for s_i copies of point i, by S^{1/2} K_c S^{1/2}: u_i / sqrt(s_i) for each."""
    k, root, means = _check_k(k, share=False), np.sqrt(s), K @ (s / s.sum())
    C = K - means[:, None] - means + means @ s / s.sum()
    values, U = _largest(root[:, None] * C * root, len(K) if k is None else min(k, len(K)))
    k = _positive(k, values, K, shape)
    A = fixed_signs(U[:, :k] / root[:, None])
    return KernelComponents(s[:, None] * A / np.sqrt(values[:k]), values[:k] / s.sum(), means)


def kernel_scores(k_x, components):
    """Return alpha^T k_xc for the kernel vectors in the columns of k_x, (n, m), centred: (m, k).

    Book: pca-kpca-centering.

    >>> found = kernel_components([[0.0, 0.0, 0.0], [0.0, 25.0, 50.0], [0.0, 50.0, 100.0]])
    >>> kernel_scores([[0.0], [75.0], [150.0]], found).round(4)
    array([[-10.]])
    """
    k_x = check_array(k_x, "k_x", any_size=True)
    if len(k_x) != len(components.means):
        raise ValueError(f"k_x must have {len(components.means)} rows, got shape {k_x.shape}.")
    return center_kernel_vectors(k_x, components.means).T @ components.alpha


# Functions: distances ------------------------------------------------------------------------


def classical_scaling(D, k=None):
    """Return points whose distances are D, if there are any: B = -1/2 (I - J) D^2 (I - J) = Y Y^T.

    D^2 holds the squares of the entries. Points with exactly these distances exist if and only if
    B has no negative eigenvalue; otherwise the positive ones give the best they can. k is the
    number of coordinates, None for one for each eigenvalue above rounding.

    Book: pca-classical-scaling. Torgerson (1952); Mardia, Kent and Bibby (1979), Theorem 14.2.1.

    >>> classical_scaling([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]]).Y.shape
    (3, 2)
    """
    D = check_size(check_square(D, "D", symmetric=True), "D")
    if (D < 0).any() or (np.diag(D) != 0).any():
        raise ValueError("D must hold distances: no entry below 0, and 0 on the diagonal.")
    B = center_kernel(-0.5 * D**2)
    values, A = _largest(B, len(B))
    k = _positive(_check_k(k, share=False), values, D**2, D.shape, "D")
    return Scaling(fixed_signs(A[:, :k]) * np.sqrt(values[:k]), values)


# Functions: paths ----------------------------------------------------------------------------


def neighbourhood_graph(X, k):
    """Return the lengths of the edges from each row to its k nearest other rows, as a sparse array.

    Two points are joined if either is among the k nearest of the other, so an entry may stand on
    one side of the diagonal only. Of equally near rows the first count.

    Book: pca-isomap.

    >>> neighbourhood_graph([[0.0], [1.0], [3.0]], 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """
    X = check_array(X, min_samples=2)
    n = len(X)
    check_scalar(k, "n_neighbors", low=1, integer=True)
    if k >= n:
        raise ValueError(
            f"n_neighbors must be below the rows of X, n_samples = {n}, got k = {k}: a row has "
            f"{n - 1} others."
        )
    found = neighbours(X, X, k + 1)
    other = found.index != np.arange(n)[:, None]
    other[other.all(axis=1), -1] = False  # k + 1 equal rows came first: the last one goes
    index, near = found.index[other], found.distance[other]
    ends = np.arange(0, n * k + 1, k, dtype=np.int32)  # older graph routines know no wider numbers
    return csr_array((near, index.astype(np.int32), ends), shape=(n, n))


def geodesic_distances(graph):
    """Return the lengths of the shortest paths between all nodes of a graph, shape (n, n).

    The graph is a sparse array of lengths of edges, each of which may be walked both ways; one in
    several pieces is refused with their number.

    Book: pca-isomap. Dijkstra (1959).

    >>> geodesic_distances(neighbourhood_graph([[0.0], [1.0], [3.0]], 1))
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    pieces = connected_components(graph)[0]
    if pieces > 1:
        raise ValueError(
            f"the neighbourhood graph is in {pieces} pieces, and there is no path between them: "
            f"increase n_neighbors, or embed each piece by itself."
        )
    G = dijkstra(graph, directed=False)
    return np.minimum(G, G.T)  # the two ways are summed in opposite orders


def _connecting(X):
    """Return the graph of the smallest of 5, 6, 7, ... neighbours that is in one piece."""
    for k in range(min(5, len(X) - 1), len(X)):
        graph = neighbourhood_graph(X, k)
        if connected_components(graph, directed=False)[0] == 1:
            break
    return graph


# Functions: clusters of a graph --------------------------------------------------------------


def _check_edges(W):
    """Return the weights of the edges of a graph: a symmetric matrix without negative entries."""
    W = check_square(W, "W", symmetric=True)
    if (W < 0).any():
        raise ValueError("W must hold weights of edges: no entry below 0.")
    return W


def graph_laplacian(W):
    """Return L = diag(g) - W with the degrees g_i = sum_j w_ij, shape (n, n).

    f^T L f = 1/2 sum_ij w_ij (f_i - f_j)^2 for the symmetric weights w_ij >= 0 of the edges, so
    that L f = 0 for the f that are constant on each piece of the graph, and for no others.

    Book: pca-laplacian-pieces.

    >>> graph_laplacian([[0.0, 3.0], [3.0, 0.0]])
    array([[ 3., -3.],
           [-3.,  3.]])
    """
    W = _check_edges(W)
    return np.diag(W.sum(axis=1)) - W


def spectral_clustering(W, K, rng, *, n_init=10):
    """Return labels 0, ..., K - 1 of the nodes of a graph, shape (n,): a small normalised cut.

    With the degrees g_i = sum_j w_ij, the orthonormal U of least tr(U^T N U), where N is
    diag(g)^{-1/2} L diag(g)^{-1/2}, are eigenvectors. k-means on the rows u_i / sqrt(g_i), of
    weight g_i, looks for the partition that is nearest to them, by ``n_init`` starts.

    W, shape (n, n), holds the symmetric weights w_ij >= 0 of the edges; each node has an edge.
    1 <= K <= n.

    Book: pca-normalised-cut. Shi and Malik (2000); Bach and Jordan (2004).

    >>> W = [[0, 9, 0, 0], [9, 0, 1, 0], [0, 1, 0, 9], [0, 0, 9, 0]]
    >>> labels = spectral_clustering(W, 2, np.random.default_rng(0))
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    W = _check_edges(W)
    check_scalar(K, "K", low=1, high=len(W), integer=True)
    root = np.sqrt(W.sum(axis=1))
    if (root == 0).any():
        raise ValueError(f"W must join each node, and node {np.argmin(root)} has no edge.")
    N = np.eye(len(W)) - W / np.outer(root, root)
    U = eigh(N)[1][:, :K]
    rows = np.where(np.abs(U) < _EPS, 0, U) / root[:, None]  # what is below rounding is 0
    return k_means_restarts(rows, K, rng, n_init=n_init, sample_weight=root**2)[0].labels


# Estimators ----------------------------------------------------------------------------------


def _chunk_moments(chunk):
    """Return the moments of a chunk X, (X, y) or (X, y, sample_weight)."""
    X, _, weights = chunk_parts(chunk, ("X", "y", "sample_weight"), 1)
    X = check_array(X)
    if weights is not None and not check_sample_weight(weights, len(X), chunk=True).any():
        return None
    return moments(X, weights)


def _joined(one, other):
    """Return the moments of both; None stands for no rows of positive weight."""
    return other if one is None else one if other is None else one + other


class PCA(Transformer):
    """Principal components: the scores z_j = v_j^T (x - mean) of largest variance.

    Minimises 1/n sum_i s_i ||x_i - mean - V V^T (x_i - mean)||^2 over V with k orthonormal columns.

    Book: pca-pca-components. Jolliffe (2002).

    Parameters
    ----------
    n_components : int, float or None
        k; a share in (0, 1] of the variance to be held; None for all directions in which the
        training rows vary.
    whiten : bool
        Whether each score is divided by its standard deviation.
    center, method : see ``principal_components``

    Attributes
    ----------
    components_ : array of shape (k, d)
        Row j is v_j; its entry of largest absolute value is positive.
    explained_variance_ : array of shape (k,)
        lambda_j with the divisor n (scikit-learn's are n / (n - 1) times as large).
    explained_variance_ratio_ : array of shape (k,), lambda_j over the total variance
    mean_, n_components_ : array of shape (d,), int

    Examples
    --------
    >>> model = PCA(1).fit([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> model.transform([[9.0, 12.0]]), model.inverse_transform([[10.0]])
    (array([[10.]]), array([[ 9., 12.]]))
    """

    def __init__(self, n_components=None, whiten=False, center=True, method="auto"):
        self.n_components = n_components
        self.whiten = whiten
        self.center = center
        self.method = method

    def fit(self, X, y=None, sample_weight=None):
        """Fit to the rows of X, shape (n, d); a weight counts a row that often; return self."""
        begin_fit(self, X)
        X = check_array(X, min_samples=2)
        options = {"center": self.center, "method": self.method}
        s = check_sample_weight(sample_weight, len(X))
        return self._keep(principal_components(X, self.n_components, weights=s, **options))

    def fit_chunks(self, chunks, workers=1):
        """Fit to chunks X or (X, None, sample_weight), read one after the other; return self.

        The result is that of ``fit`` on all rows together, by the covariance whatever ``method``
        is.
        """
        check_parameters(self)
        if not self.center:
            raise ValueError("fit_chunks centres the rows: set center=True.")
        total = reduce_chunks(_chunk_moments, chunks, workers, merge=_joined)
        if total.value is None:
            raise ValueError("sample_weight must not be zero for every row of all chunks.")
        keep_names(self, total.names)
        return self._keep(components_from_moments(total.value, self.n_components))

    def _keep(self, found):
        self.components_, self.mean_ = found.V.T, found.mean
        self.explained_variance_ = found.variances
        self.explained_variance_ratio_ = found.variances / found.total
        self.n_components_ = self._n_features_out = len(found.variances)
        self.n_features_in_, self._whiten = len(found.mean), self.whiten
        return self

    def transform(self, X):
        """Return the scores, shape (m, k)."""
        Y = (check_features(self, X) - self.mean_) @ self.components_.T
        Y = Y / np.sqrt(self.explained_variance_) if self._whiten else Y
        return as_output(self, Y, X)

    def inverse_transform(self, X):
        """Return mean + sum_j z_ij v_j for scores X of shape (m, k)."""
        check_fitted(self)
        Y = check_array(X, any_size=True)
        if Y.shape[1] != self.n_components_:
            raise ValueError(f"X must hold {self.n_components_} scores a row, got {Y.shape[1]}.")
        if self._whiten:
            Y = Y * np.sqrt(self.explained_variance_)
        return Y @ self.components_ + self.mean_


class KernelPCA(Transformer):
    """Principal components of the features of a kernel: scores v_j^T (phi(x) - mean).

    Book: pca-kernel-pca. Schölkopf, Smola and Müller (1998).

    Parameters
    ----------
    n_components : int or None, for all whose variance is above rounding
    kernel, ell, degree, coef0 : see ``KernelRidge``
        With "precomputed", X is K of shape (n, n) in ``fit``, of shape (m, n) in ``transform``.

    Attributes
    ----------
    dual_coef_ : array of shape (n, k)
        alpha: v_j = sum_i alpha_ij (phi(x_i) - mean) has length 1.
    explained_variance_ : array of shape (k,)
        lambda_j, the variance of score j over the training points.
    X_fit_ : array of shape (n, d)
    ell_ : float, for the kernels "rbf" and "polynomial"

    Examples
    --------
    >>> X = [[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]
    >>> np.abs(KernelPCA().fit_transform(X)).ravel().round(6)
    array([5., 0., 5.])
    """

    def __init__(self, n_components=None, kernel="linear", ell="scale", degree=3, coef0=1.0):
        self.n_components = n_components
        self.kernel = kernel
        self.ell = ell
        self.degree = degree
        self.coef0 = coef0

    def _choose(self, X, s):
        """Return k(X, Y) as a function of two arrays, None if X holds its values."""
        if callable(self.kernel):
            return partial(check_kernel_values, self.kernel)
        check_choice(self.kernel, "kernel", ("linear", "polynomial", "rbf", "precomputed"))
        if self.kernel == "precomputed":
            check_psd(X, "X, the precomputed kernel,")
            return None
        if self.kernel == "linear":
            return linear_kernel
        if isinstance(self.ell, str):
            check_choice(self.ell, "ell", ("scale",))
            self.ell_ = default_width(X, s)
        else:
            self.ell_ = check_scalar(self.ell, "ell", low=0, open_low=True)
        if self.kernel == "rbf":
            return partial(rbf_kernel, ell=self.ell_)
        return partial(polynomial_kernel, r=self.degree, c=self.coef0, ell=self.ell_)

    def fit(self, X, y=None, sample_weight=None):
        """Fit to X, shape (n, d), rows of weight 0 left out; a known K takes no weights."""
        begin_fit(self, X)
        known = isinstance(self.kernel, str) and self.kernel == "precomputed"
        X = check_array(X, min_samples=2, any_size=known)
        s = check_sample_weight(sample_weight, len(X))
        if s is not None:
            if known:
                raise ValueError("sample_weight needs the points: pass the kernel itself.")
            X, s = X[s > 0], s[s > 0]
        centre = X[0] if self.kernel == "linear" else 0.0  # it cancels, and saves digits
        k = self._k = self._choose(X, s)
        K = X if k is None else k(X - centre, X - centre)
        if s is None:
            found = _kernel_components(K, self.n_components, X.shape)
        else:
            found = _weighted_components(K, self.n_components, X.shape, s)
        self._found, self.X_fit_, self._centre = found, X, centre
        self.dual_coef_, self.explained_variance_ = found.alpha, found.variances
        self.n_features_in_, self._n_features_out = X.shape[1], len(found.variances)
        return self

    def fit_transform(self, X, y=None):
        """Return the scores of the training points, K_c alpha = n lambda alpha."""
        Z = len(self.fit(X).X_fit_) * self.explained_variance_ * self.dual_coef_
        return as_output(self, Z, X)

    def transform(self, X):
        """Return the scores of new points, shape (m, k)."""
        check_fitted(self)
        rows, k = check_features(self, X, any_size=self._k is None), self._k
        k_x = rows.T if k is None else k(self.X_fit_ - self._centre, rows - self._centre)
        return as_output(self, kernel_scores(k_x, self._found), X)


class Isomap(Transformer):
    """Coordinates whose distances are close to the lengths of shortest paths through neighbours.

    Classical scaling of the lengths of paths in a graph of neighbours that is in one piece.

    Book: pca-isomap. Tenenbaum, de Silva and Langford (2000).

    Parameters
    ----------
    n_neighbors : int, or None for the smallest from 5 on that joins all rows
    n_components : int

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Coordinates of the training rows.
    dist_matrix_ : array of shape (n, n)
        Lengths of the shortest paths.
    n_neighbors_ : int

    Examples
    --------
    >>> bow = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    >>> Isomap(n_neighbors=3, n_components=1).fit(bow).embedding_.shape
    (4, 1)
    """

    def __init__(self, n_neighbors=None, n_components=2):
        self.n_neighbors = n_neighbors
        self.n_components = n_components

    def fit(self, X, y=None):
        """Fit to X of shape (n, d) and return self."""
        begin_fit(self, X)
        X = check_array(X, min_samples=2)
        check_scalar(self.n_components, "n_components", low=1, integer=True)
        by_hand = self.n_neighbors is not None
        graph = neighbourhood_graph(X, self.n_neighbors) if by_hand else _connecting(X)
        G = geodesic_distances(graph)
        self._found = _kernel_components(-0.5 * G**2, self.n_components, X.shape)
        self.embedding_ = len(X) * self._found.variances * self._found.alpha
        self.dist_matrix_, self.X_fit_ = G, X
        self.n_neighbors_ = int(graph.indptr[1])
        self.n_features_in_, self._n_features_out = X.shape[1], self.n_components
        return self

    def fit_transform(self, X, y=None):
        """Fit and return ``embedding_``."""
        return as_output(self, self.fit(X).embedding_, X)

    def transform(self, X):
        """Return coordinates of new rows: each is joined to its nearest training rows."""
        rows = check_features(self, X)
        found = neighbours(self.X_fit_, rows, min(self.n_neighbors_ + 1, len(self.X_fit_)))
        G = np.full((len(rows), len(self.X_fit_)), np.inf)
        for index, near in zip(found.index.T, found.distance.T):
            np.minimum(G, near[:, None] + self.dist_matrix_[index], out=G)
        return as_output(self, kernel_scores(-0.5 * G.T**2, self._found), X)
