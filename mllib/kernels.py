"""Kernels: functions that are inner products of features, tests and rules for them, kernel ridge.

Chapter: Kernels and margins, *Kernels*. Main references: Aronszajn (1950), Schölkopf and Smola
(2002), Shawe-Taylor and Cristianini (2004).

A kernel here is a function ``kernel(X, Y)`` that returns the matrix of k(x_i, y_j), shape (n, m),
for X of shape (n, d) and Y of shape (m, d), or for sequences of n and m other objects.
"""

from collections import Counter
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.spatial.distance import cdist
from scipy.special import gammaln

from mllib.core.arrays import (
    check_array,
    check_kernel_values,
    check_sample_weight,
    check_size,
    check_square,
    check_target_length,
    check_targets,
    check_vector,
)
from mllib.core.estimators import Regressor, begin_fit, check_features
from mllib.core.numerics import max_abs
from mllib.core.scalars import check_choice, check_scalar
from mllib.linear_algebra import spectral_decomposition

__all__ = [
    "KernelCheck",
    "KernelRidge",
    "center_kernel",
    "center_kernel_vectors",
    "check_kernel",
    "check_psd",
    "common_words_kernel",
    "default_width",
    "exponential_kernel",
    "features_from_gram",
    "gram",
    "kernel_distances",
    "kernel_nearest",
    "kernel_ridge",
    "kernel_ridge_objective",
    "linear_kernel",
    "matern_kernel",
    "periodic_kernel",
    "polynomial_kernel",
    "polynomial_kernel_features",
    "product_kernel",
    "rbf_features",
    "rbf_kernel",
    "scaled_kernel",
    "sigmoid_kernel",
    "spectrum_kernel",
    "sum_kernel",
    "trigonometric_features",
    "trigonometric_kernel",
]


class KernelCheck(NamedTuple):
    """What one Gram matrix says against a function being a kernel."""

    asymmetry: float  #: the largest |k(x_i, x_j) - k(x_j, x_i)|
    eigenvalue: float  #: the smallest eigenvalue of (K + K^T) / 2
    witness: np.ndarray  #: a unit vector z with z^T K z = eigenvalue, shape (n,)


# Kernel functions ----------------------------------------------------------------------------


def _check_points(X, Y):
    X, Y = check_array(X), check_array(Y, "Y")
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"Y must have {X.shape[1]} columns like X, got {Y.shape[1]}.")
    return X, Y


def _finite_values(K, name="X"):
    """Return numbers that were computed from the argument unless some of them overflowed."""
    if not np.isfinite(K).all():
        raise ValueError(f"{name} is too large or too small for float64: divide it by a unit.")
    return K


def linear_kernel(X, Y):
    """Return K_ij = x_i^T y_j."""
    X, Y = _check_points(X, Y)
    return X @ Y.T


def rbf_kernel(X, Y, ell=1.0):
    """Return K_ij = exp(-||x_i - y_j||^2 / (2 ell^2)).

    ell > 0 is a length in units of the inputs; scikit-learn's gamma is 1 / (2 ell^2). The points
    are centred before the square is expanded, so that points far from the origin keep their digits.

    Book: kernels-rbf-kernel.

    Examples
    --------
    >>> rbf_kernel([[0.0], [2.0]], [[0.0]], ell=2.0).round(4)
    array([[1.    ],
           [0.6065]])
    """
    check_scalar(ell, "ell", low=0, open_low=True)
    same = X is Y
    X, Y = _check_points(X, Y)
    centre = Y[0]  # any point among them saves digits
    with np.errstate(over="ignore"):
        A, B = (X - centre) / ell, (Y - centre) / ell
        a, b = 0.5 * np.einsum("ij,ij->i", A, A), 0.5 * np.einsum("ij,ij->i", B, B)
        _finite_values(max_abs(a) + max_abs(b), "X or Y, in units of ell,")
    K = np.empty((len(A), len(B)))
    for i in range(0, len(A), 64):  # a block stays in the cache from product to exponential
        R = A[i : i + 64] @ B.T
        R -= b
        R -= a[i : i + 64, None]
        np.exp(np.minimum(R, 0.0, out=R), out=K[i : i + 64])
    if same:
        K[np.diag_indices(len(K))] = 1.0
    return K


def polynomial_kernel(X, Y, r=3, c=1.0, ell=1.0):
    """Return K_ij = (c + x_i^T y_j / ell^2)^r.

    Book: kernels-linear-polynomial-kernels.

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
    r : int
        Degree.
    c : float
        At least 0; above 0 the features of all degrees up to r take part.
    ell : float
        Length in units of the inputs.

    Examples
    --------
    >>> polynomial_kernel([[1.0, 2.0]], [[3.0, 0.0]], r=2)
    array([[16.]])
    """
    check_scalar(r, "r", low=1, integer=True)
    check_scalar(c, "c", low=0)
    check_scalar(ell, "ell", low=0, open_low=True)
    X, Y = _check_points(X, Y)
    with np.errstate(over="ignore", invalid="ignore"):
        A = X / ell
        B = A if X is Y else Y / ell
        return _finite_values((c + A @ B.T) ** r)


def sigmoid_kernel(X, Y, v=1.0, c=0.0):
    """Return K_ij = tanh(v x_i^T y_j + c): in spite of its name not a kernel in general.

    Book: kernels-sigmoid-kernel.

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
    v, c : float

    Examples
    --------
    >>> sigmoid_kernel([[1.0]], [[1.0]], c=-1.0)
    array([[0.]])
    """
    check_scalar(v, "v")
    check_scalar(c, "c")
    return np.tanh(v * linear_kernel(X, Y) + c)


def trigonometric_kernel(X, Y):
    """Return K_ij = sum_l sin(2 pi t) / t with t = x_il - y_jl, a term with t = 0 being 2 pi.

    Book: kernels-trigonometric-kernel-example.

    Examples
    --------
    >>> trigonometric_kernel([[0.0]], [[0.0], [0.5]]).round(4)
    array([[6.2832, 0.    ]])
    """
    X, Y = _check_points(X, Y)
    return 2 * np.pi * np.sinc(2 * (X[:, None] - Y)).sum(axis=2)


def periodic_kernel(X, Y, period=1.0, ell=1.0):
    """Return K_ij = exp(-2 sum_l sin^2(pi t_l / period) / ell^2) with t = x_i - y_j.

    It is the Gaussian kernel of points on a circle of radius 1, one circle for each coordinate.

    Book: gaussian-processes-more-kernels. Rasmussen and Williams (2006), equation 4.31.

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
    period : float
        In units of the inputs.
    ell : float
        Length on the circle, without a unit.

    Examples
    --------
    >>> periodic_kernel([[0.0]], [[1.0], [0.5]]).round(4)
    array([[1.    , 0.1353]])
    """
    check_scalar(period, "period", low=0, open_low=True)
    check_scalar(ell, "ell", low=0, open_low=True)
    X, Y = _check_points(X, Y)
    with np.errstate(over="ignore", invalid="ignore"):
        chords = np.sin(np.pi * (X[:, None] - Y) / period) / ell
        return _finite_values(np.exp(-2 * (chords**2).sum(axis=2)))


def matern_kernel(X, Y, nu=1.5, ell=1.0):
    """Return K_ij = e^-a (nu = 1/2) or (1 + a) e^-a (nu = 3/2), a = sqrt(2 nu) |x_i - y_j| / ell.

    Book: gaussian-processes-more-kernels. Rasmussen and Williams (2006), equation 4.17.

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
    nu : {0.5, 1.5}
        Functions drawn from the process have a slope for 1.5, and none for 0.5.
    ell : float
        Length in units of the inputs.

    Examples
    --------
    >>> matern_kernel([[0.0]], [[2.0]], nu=0.5, ell=2.0).round(4)
    array([[0.3679]])
    """
    if check_scalar(nu, "nu") not in (0.5, 1.5):
        raise ValueError(f"nu must be 0.5 or 1.5, got {nu:g}.")
    check_scalar(ell, "ell", low=0, open_low=True)
    X, Y = _check_points(X, Y)
    with np.errstate(over="ignore", invalid="ignore"):
        a = np.sqrt(2 * nu) * cdist(X, Y) / ell
        return _finite_values((1.0 if nu == 0.5 else 1 + a) * np.exp(-a))


def _texts(A, name):
    if isinstance(A, str) or not all(isinstance(a, str) for a in A):
        raise ValueError(f"{name} must be a list of strings.")
    return list(A)


def _bags_product(A, B):
    """Return K_ij = sum over the keys of the counts in bag i times those in bag j."""
    return np.array([[float(sum(n * b[key] for key, n in a.items())) for b in B] for a in A])


def common_words_kernel(A, B):
    """Return K_ij, the number of distinct words, split by white space, in both strings a_i and b_j.

    Book: kernels-string-kernel.

    Examples
    --------
    >>> common_words_kernel(["to be or not to be"], ["not to worry", "so"])
    array([[2., 0.]])
    """
    bags = ([Counter(set(t.split())) for t in _texts(*pair)] for pair in ((A, "A"), (B, "B")))
    return _bags_product(*bags)


def spectrum_kernel(A, B, p=3):
    """Return K_ij = sum over all strings s of length p of (times s in a_i) (times s in b_j).

    Book: kernels-spectrum. Leslie, Eskin and Noble (2002).

    Examples
    --------
    >>> spectrum_kernel(["banana"], ["ananas", "xyz"], p=2)
    array([[8., 0.]])
    """
    check_scalar(p, "p", low=1, integer=True)
    bags = (
        [Counter(t[i : i + p] for i in range(len(t) - p + 1)) for t in _texts(*pair)]
        for pair in ((A, "A"), (B, "B"))
    )
    return _bags_product(*bags)


def default_width(X, sample_weight=None):
    """Return ell = sqrt(d v / 2), v the variance of all entries of X: half the mean square scale.

    Multiplying X, shape (n, d), by a constant multiplies ell by it, and leaves the kernel as it is:
    that of scikit-learn's gamma="scale". 1 if X is constant. A weight counts a row that often.

    Book: kernels-rbf-kernel.

    Examples
    --------
    >>> default_width([[0.0, 2.0], [4.0, 6.0]])
    2.23606797749979
    """
    X, s = check_array(X), check_sample_weight(sample_weight, len(X))
    if s is not None:
        X, s = X[s > 0], s[s > 0] / s.sum()
    if (X[0, 0] == X).all():  # whose mean need not be that number once rounded
        return 1.0
    if s is None:
        spread = X.std()
    else:
        spread = np.sqrt(s @ ((X - s @ X.mean(axis=1)) ** 2).mean(axis=1))
    return float(spread * np.sqrt(X.shape[1] / 2)) or 1.0


# New kernels from old ------------------------------------------------------------------------


def sum_kernel(*kernels):
    """Return the kernel k_1 + k_2 + ...; its features are those of all of them side by side.

    Book: kernels-kernel-closure.

    Examples
    --------
    >>> sum_kernel(linear_kernel, polynomial_kernel)([[1.0]], [[1.0]])
    array([[9.]])
    """
    return lambda X, Y: sum(check_kernel_values(k, X, Y) for k in kernels)


def product_kernel(*kernels):
    """Return the kernel k_1 k_2 ...; its features are all products of one feature of each.

    Book: kernels-kernel-closure.

    Examples
    --------
    >>> product_kernel(linear_kernel, polynomial_kernel)([[2.0]], [[1.0]])
    array([[54.]])
    """
    return lambda X, Y: np.prod([check_kernel_values(k, X, Y) for k in kernels], axis=0)


def scaled_kernel(kernel, f):
    """Return the kernel f(x) k(x, x') f(x'); its features are those of k times f(x).

    f takes X and returns one number for each row. A constant f = sqrt(c) gives c k.

    Book: kernels-kernel-closure.

    Examples
    --------
    >>> scaled_kernel(linear_kernel, lambda X: X[:, 0] ** 2)(np.array([[2.0]]), np.array([[3.0]]))
    array([[216.]])
    """
    return lambda X, Y: (
        np.asarray(f(X))[:, None] * check_kernel_values(kernel, X, Y) * np.asarray(f(Y))
    )


def exponential_kernel(kernel):
    """Return the kernel exp(k), the limit of 1 + k + k^2/2 + ... + k^m/m!.

    Book: kernels-kernel-closure.

    Examples
    --------
    >>> exponential_kernel(linear_kernel)([[1.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 2.7183]])
    """
    return lambda X, Y: np.exp(check_kernel_values(kernel, X, Y))


# Is it a kernel? -----------------------------------------------------------------------------


def gram(kernel, X, Z=None):
    """Return K_ij = k(x_i, x_j), or with Z the kernel vectors k(x_i, z_j) as columns.

    Book: kernels-kernel-matrix.

    Examples
    --------
    >>> gram(linear_kernel, [[1.0], [2.0]])
    array([[1., 2.],
           [2., 4.]])
    """
    return check_kernel_values(kernel, X, X if Z is None else Z)


def check_kernel(kernel, X):
    """Look for a proof on the points X that a function is not a kernel.

    An asymmetry or a negative eigenvalue beyond rounding is a proof; their absence on some points
    is none.

    Book: kernels-not-a-kernel.

    Examples
    --------
    >>> found = check_kernel(lambda X, Y: (np.array(X)[:, None] - np.array(Y)) ** 2, [0.0, 1.0])
    >>> found.asymmetry, round(found.eigenvalue, 12)
    (0.0, -1.0)
    """
    K = gram(kernel, X)
    parts = spectral_decomposition((K + K.T) / 2)
    return KernelCheck(float(max_abs(K - K.T)), float(parts.values[-1]), parts.V[:, -1])


def check_psd(K, name="K"):
    """Return K if it is symmetric and positive semidefinite, by one Cholesky factorisation.

    Eigenvalues above -1e-7 of the trace pass, which is what rounding to float32 can do; else a
    ValueError tells the smallest one of ``name``.

    Examples
    --------
    >>> check_psd([[1.0, 1.0], [1.0, 1.0]])
    array([[1., 1.],
           [1., 1.]])
    """
    K = check_square(K, name, symmetric=True)
    A = K.copy()
    A[np.diag_indices(len(A))] += 1e-7 * np.trace(A)
    if dpotrf(A.T, overwrite_a=True, clean=False)[1] != 0 and np.any(K):
        raise ValueError(
            f"{name} must be positive semi-definite, its smallest eigenvalue is "
            f"{np.linalg.eigvalsh(K)[0]:.3g}: use a kernel that is an inner product, or clip "
            f"the negative eigenvalues."
        )
    return K


# Explicit features ---------------------------------------------------------------------------


def features_from_gram(K):
    """Return features Phi of shape (n, r), one column for each eigenvalue above 0: K = Phi Phi^T.

    K, shape (n, n), is symmetric positive semidefinite of rank r.

    Book: kernels-kernel-iff-psd.

    Examples
    --------
    >>> features_from_gram([[1.0, 2.0], [2.0, 4.0]]).round(4)
    array([[1.],
           [2.]])
    """
    values, V = spectral_decomposition(check_psd(K))
    kept = values > 1e-12 * values[0]
    return V[:, kept] * np.sqrt(values[kept])


def _exponents(d, r):
    """Return all rows of d whole numbers that sum to r, shape (C(d + r - 1, r), d)."""
    if d == 1:
        return np.array([[r]])
    rest = [(j, _exponents(d - 1, r - j)) for j in range(r, -1, -1)]
    return np.vstack([np.column_stack([np.full(len(p), j), p]) for j, p in rest])


def polynomial_kernel_features(X, r=3, c=1.0):
    """Return features Phi with Phi Phi^T = (c + x^T x')^r: all monomials, weighted.

    The monomial c^(j_0 / 2) x_1^j_1 ... x_d^j_d, with j_0 + ... + j_d = r, carries the root of the
    multinomial coefficient r! / (j_0! ... j_d!). Phi has shape (n, C(d + r, r)); c is at least 0.

    Book: kernels-polynomial-features.

    Examples
    --------
    >>> polynomial_kernel_features([[2.0]], r=2).round(4)
    array([[1.    , 2.8284, 4.    ]])
    """
    X = check_array(X)
    check_scalar(r, "r", low=1, integer=True)
    check_scalar(c, "c", low=0)
    J = _exponents(X.shape[1] + 1, r)
    weight = np.exp(0.5 * (gammaln(r + 1) - gammaln(J + 1).sum(axis=1)))
    Z = np.column_stack([np.full(len(X), np.sqrt(c)), X])
    with np.errstate(over="ignore", invalid="ignore"):
        return _finite_values(weight * np.prod(Z[:, None] ** J, axis=2))


def rbf_features(x, m, ell=1.0):
    """Return the first m features exp(-x^2 / 2 ell^2) (x / ell)^j / sqrt(j!) of numbers x, (n, m).

    Book: kernels-rbf-features.

    Examples
    --------
    >>> rbf_features([0.0, 1.0], 3).round(4)
    array([[1.    , 0.    , 0.    ],
           [0.6065, 0.6065, 0.4289]])
    """
    check_scalar(m, "m", low=1, integer=True)
    check_scalar(ell, "ell", low=0, open_low=True)
    with np.errstate(over="ignore"):
        t = _finite_values(check_size(check_vector(x, "x"), "x") / ell, "x, in units of ell,")
        Phi = np.empty((len(t), m))
        Phi[:, 0] = np.exp(-(t**2) / 2)
    for j in range(1, m):
        Phi[:, j] = Phi[:, j - 1] * t / np.sqrt(j)
    return Phi


def trigonometric_features(X, L):
    """Return sqrt(2 pi / L) (cos(theta x_l), sin(theta x_l)) for theta = 2 pi (j + 1/2) / L, j < L.

    They have shape (n, 2 d L): L frequencies for each column of X.

    Book: kernels-trigonometric-kernel-example.

    Examples
    --------
    >>> trigonometric_features([[0.0]], 1).round(4)
    array([[2.5066, 0.    ]])
    """
    X = check_array(X)
    check_scalar(L, "L", low=1, integer=True)
    theta = 2 * np.pi * (np.arange(L) + 0.5) / L
    T = (X[:, :, None] * theta).reshape(len(X), -1)
    return np.sqrt(2 * np.pi / L) * np.hstack([np.cos(T), np.sin(T)])


# Distances in the feature space --------------------------------------------------------------


def kernel_distances(K, k_x, k_z):
    """Return D_ij = ||phi(x_i) - phi(z_j)||, shape (n, m), from kernel values alone.

    K, shape (n, m), holds k(x_i, z_j), k_x k(x_i, x_i) and k_z k(z_j, z_j).

    Book: kernels-kernel-distance.

    Examples
    --------
    >>> kernel_distances([[6.0]], [4.0], [9.0])
    array([[1.]])
    """
    K = check_array(K, "K", any_size=True)
    k_x = check_vector(k_x, "k_x", length=K.shape[0])
    k_z = check_vector(k_z, "k_z", length=K.shape[1])
    D = k_x[:, None] + k_z - 2 * K
    if D.min() < -1e-8 * max(max_abs(K), k_x.max(), k_z.max()):
        raise ValueError(
            f"K, k_x and k_z must come from one kernel: the squared distance of some pair is "
            f"{D.min():.3g}."
        )
    return np.sqrt(np.maximum(D, 0, out=D), out=D)


def center_kernel(K):
    """Return K_c = (I - J) K (I - J), every entry of J being 1/n: products of centred features.

    K_c is the Gram matrix of phi(x_i) - m, where m is the mean of the features; K is symmetric.

    Book: pca-kpca-centering. Schölkopf, Smola and Müller (1998), Appendix A.

    Examples
    --------
    >>> center_kernel([[1.0, 2.0], [2.0, 4.0]])
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    return _centre(check_square(K, "K", symmetric=True))


def _centre(K):
    """Do as ``center_kernel``, for a symmetric K."""
    means = K.mean(axis=0)
    K_c = K - means
    K_c -= (means - means.mean())[:, None]
    return K_c


def center_kernel_vectors(k, means):
    """Return (I - J) (k_x - K 1/n) for each column k_x of k: products with the centred features.

    Entry i is (phi(x_i) - m)^T (phi(x) - m): the new point is moved by the mean m of the
    training points, not by a mean of its own. k, shape (n, m), holds the kernel vectors of m new
    points as columns, means K 1/n, the row means of the Gram matrix of the training points.

    Book: pca-kpca-centering.

    Examples
    --------
    >>> center_kernel_vectors([[3.0], [6.0]], [1.5, 3.0])
    array([[-0.75],
           [ 0.75]])
    """
    k = check_array(k, "k", any_size=True)
    k = k - check_vector(means, "means", length=len(k))[:, None]
    k -= k.mean(axis=0)
    return k


def kernel_nearest(K, k_x):
    """Return for each column z of K the index i of the nearest phi(x_i), the lowest at ties.

    k(z, z) is the same for all i and does not matter: the nearest has the least k(x_i, x_i) -
    2 k(x_i, z). K, shape (n, m), holds k(x_i, z_j), k_x k(x_i, x_i).

    Book: kernels-kernel-distance.

    Examples
    --------
    >>> kernel_nearest([[0.99], [0.01]], [1.0, 1.0])
    array([0])
    """
    K = check_array(K, "K", any_size=True)
    return np.argmin(check_vector(k_x, "k_x", length=len(K))[:, None] - 2 * K, axis=0)


# Kernels as estimators name them --------------------------------------------------------------


def kernel_diagonal(kernel, X):
    """Return k(x_i, x_i) for each row, by blocks of rows."""
    blocks = (X[i : i + 64] for i in range(0, len(X), 64))
    return np.concatenate([np.diag(kernel(B, B)) for B in blocks])


def chosen_kernel(estimator, X, s=None):
    """Return k(X, Y) as the kernel, ell, degree and coef0 of an estimator say, and set its ell_.

    None stands for "precomputed", which is checked; with weights s of the rows, ell counts them.
    """
    kernel, degree, coef0 = estimator.kernel, estimator.degree, estimator.coef0
    if callable(kernel):
        return partial(check_kernel_values, kernel)
    check_choice(kernel, "kernel", ("linear", "polynomial", "rbf", "precomputed"))
    check_scalar(degree, "degree", low=1, integer=True)
    check_scalar(coef0, "coef0", low=0)
    if kernel == "precomputed":
        check_psd(X, "X, the precomputed kernel,")
        return None
    if kernel == "linear":
        return linear_kernel
    if isinstance(estimator.ell, str):
        check_choice(estimator.ell, "ell", ("scale",))
        estimator.ell_ = default_width(X, s)
    else:
        estimator.ell_ = check_scalar(estimator.ell, "ell", low=0, open_low=True)
    if kernel == "rbf":
        return partial(rbf_kernel, ell=estimator.ell_)
    return partial(polynomial_kernel, r=degree, c=coef0, ell=estimator.ell_)


# Kernel ridge --------------------------------------------------------------------------------


def kernel_ridge(K, y, lam, sample_weight=None):
    """Return alpha: f(x) = sum_i alpha_i k(x_i, x) has the least sum_i (y_i - f_i)^2 + lam |f|^2.

    alpha = (K + lam I)^{-1} y, shape (n,). With weights s_i on the squares, alpha = S^{1/2} beta
    with (S^{1/2} K S^{1/2} + lam I) beta = S^{1/2} y: a whole weight is a repeated example.

    Book: kernels-kernel-ridge.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric positive semidefinite.
    y : array of shape (n,)
    lam : float
        At least 0; at 0 K must be invertible, and f runs through all targets.
    sample_weight : see ``mllib.core``.

    Examples
    --------
    >>> kernel_ridge([[1.0, 0.0], [0.0, 1.0]], [2.0, 4.0], 1.0)
    array([1., 2.])
    """
    K = check_psd(K)
    y = check_vector(y, "y", length=len(K))
    check_scalar(lam, "lam", low=0)
    return _finite_values(_solve(K.copy(), y, lam, check_sample_weight(sample_weight, len(K))), "K")


def _solve(K, y, lam, s):
    """Return the alpha of ``kernel_ridge``; only the lower triangle of K is read, and lost.

    Where the square of a pivot is at most 4 rounding units of the largest K_ii, K + lam I counts as
    singular, which is an error.
    """
    root = 1.0 if s is None else np.sqrt(s)
    if s is not None:
        K *= root
        K *= root[:, None]
    largest = max_abs(K.diagonal())
    K[np.diag_indices(len(K))] += lam
    factor, info = dpotrf(K.T, lower=0, overwrite_a=1, clean=0)
    smallest = factor.diagonal().min() if info == 0 else 0.0
    if smallest**2 <= 4 * np.finfo(float).eps * largest:
        raise ValueError(f"K + lam I is singular to rounding with lam = {lam:g}: increase lam.")
    return root * dpotrs(factor, root * y, lower=0)[0]


def kernel_ridge_objective(alpha, K, y, lam):
    """Return ||y - K alpha||^2 + lam alpha^T K alpha, what kernel ridge minimises.

    Book: kernels-kernel-ridge.

    Parameters
    ----------
    alpha : array of shape (n,)
    K, y, lam :
        As in ``kernel_ridge``.

    Examples
    --------
    >>> kernel_ridge_objective([1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]], [2.0, 4.0], 1.0)
    10.0
    """
    K = check_square(K, "K", symmetric=True)
    alpha = check_vector(alpha, "alpha", length=len(K))
    residual = check_vector(y, "y", length=len(K)) - K @ alpha
    check_scalar(lam, "lam", low=0)
    return float(residual @ residual + lam * (alpha @ K @ alpha))


class KernelRidge(Regressor):
    """Ridge regression on the features of a kernel: min sum_i s_i (y_i - f(x_i))^2 + lam |f|^2.

    f(x) = w^T phi(x) = sum_i alpha_i k(x_i, x) and |f|^2 = ||w||^2 = alpha^T K alpha. There is no
    offset: subtract the mean of y, or add a constant to the kernel.

    Book: kernels-kernel-ridge.

    Parameters
    ----------
    lam : float
        At least 0; the same number as ``alpha`` of scikit-learn's KernelRidge.
    kernel : {"linear", "polynomial", "rbf", "precomputed"} or callable
        A callable ``kernel(X, Y)`` returns the matrix k(x_i, y_j). With "precomputed", X is
        K of shape (n, n) in ``fit`` and of shape (m, n) in ``predict``.
    ell : float or "scale"
        Length in exp(-||x - y||^2 / (2 ell^2)) and in (coef0 + x^T y / ell^2)^degree, in units of
        the inputs; "scale" takes ``default_width(X)``.
    degree, coef0 : int, float
        Of the polynomial kernel.

    Attributes
    ----------
    dual_coef_ : array of shape (n,), alpha
    X_fit_ : array of shape (n, d), the training inputs, which prediction needs
    ell_ : float, the length used; only of the kernels "rbf" and "polynomial"

    Examples
    --------
    >>> model = KernelRidge(lam=1e-9, kernel="rbf", ell=1.0).fit([[0.0], [3.0]], [1.0, 2.0])
    >>> model.predict([[0.0], [3.0], [1e3]]).round(6)
    array([1., 2., 0.])
    """

    def __init__(self, lam=1.0, kernel="linear", ell="scale", degree=3, coef0=1.0):
        self.lam = lam
        self.kernel = kernel
        self.ell = ell
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X, y, sample_weight=None):
        """Fit to X of shape (n, d) and y of shape (n,); a weight counts an example that often."""
        begin_fit(self, X)
        X = check_array(X, any_size=self.kernel == "precomputed")
        y = check_targets(y, type(self).__name__)
        check_target_length(X, y)
        s = check_sample_weight(sample_weight, len(X))
        check_scalar(self.lam, "lam", low=0)
        self._kernel = chosen_kernel(self, X, s)
        K = X if self._kernel is None else self._kernel(X, X)
        if callable(self.kernel):
            check_psd(K, "kernel(X, X)")
        self.dual_coef_ = _finite_values(_solve(K.copy(), y, self.lam, s))
        self.X_fit_, self.n_features_in_ = X, X.shape[1]
        return self

    def predict(self, X):
        """Return f(x) = sum_i alpha_i k(x_i, x) for each row, shape (m,)."""
        if getattr(self, "_kernel", None) is None:
            return check_features(self, X, any_size=True) @ self.dual_coef_
        X, size = check_features(self, X), max(1, int(2e6 / len(self.X_fit_)))
        blocks = [X[i : i + size] for i in range(0, len(X), size)]
        return np.concatenate([self._kernel(B, self.X_fit_) @ self.dual_coef_ for B in blocks])
