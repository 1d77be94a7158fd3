"""Numerical helpers used by several chapters: log-space sums, distances, Cholesky, Gaussians."""

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import rel_entr

__all__ = [
    "centred_columns",
    "cholesky_with_jitter",
    "column_scale",
    "divergence_terms",
    "log_density_from_cholesky",
    "log_normalise",
    "log_sum_exp",
    "max_abs",
    "safe_log",
    "squared_distances",
    "weighted_rows",
]


def max_abs(*arrays):
    """Return the largest of the absolute values of all entries, 0 of none: a scale for rounding.

    >>> float(max_abs([1.0, -3.0], [[]])), float(max_abs([0.5], [-2.0, 2.5]))
    (3.0, 2.5)
    """
    return np.max([np.abs(a).max(initial=0) for a in arrays])


def column_scale(X):
    """Return the largest absolute value in each column of X, 1 for a column of zeros.

    >>> column_scale([[1.0, 0.0], [-4.0, 0.0]]).tolist()
    [4.0, 1.0]
    """
    size = np.abs(X).max(axis=0)
    return np.where(size > 0, size, 1.0)


def safe_log(p):
    """Return log p elementwise, with log 0 = -inf and no warning."""
    with np.errstate(divide="ignore"):
        return np.log(p)


def log_sum_exp(a, axis=-1):
    """Return log sum_k exp(a_k) along ``axis`` without overflow; -inf if every term is -inf.

    Subtracting the largest term first keeps each exponential in [0, 1].
    """
    a = np.asarray(a, dtype=np.float64)
    top = np.max(a, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return safe_log(np.sum(np.exp(a - top), axis=axis)) + np.squeeze(top, axis=axis)


def log_normalise(a, axis=-1):
    """Return ``(p, log_sum)`` with p_k = exp(a_k) / sum_j exp(a_j) along ``axis``.

    Where every term is -inf, p is zero: an impossible case has no posterior. Everywhere else p sums
    to one, however far the a_k are from 0.
    """
    a = np.asarray(a, dtype=np.float64)
    top = np.max(a, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # a_k - top may be -inf; inf / inf is NaN
        p = np.exp(a - top)
        total = np.sum(p, axis=axis, keepdims=True)
        p /= np.where(total == 0, 1.0, total)
    return p, np.squeeze(safe_log(total), axis=axis) + np.squeeze(top, axis=axis)


def divergence_terms(q, p):
    """Return q log(q/p) - q + p elementwise: at least 0, and 0 only for q = p, for q, p >= 0.

    For two distributions the sum is KL(q || p), but no term is negative, so none cancel. For q near
    p and u = (p - q)/(p + q) a term is (p - q) u - 2 q (u^3/3 + u^5/5 + ...), exact to the last
    digits where the difference of q and p is.

    Examples
    --------
    >>> divergence_terms(np.array([0.5, 0.0, 0.5]), np.array([0.5, 0.5, 0.0]))
    array([0. , 0.5, inf])
    """
    gap, total = p - q, p + q
    u = gap / np.where(total > 0, total, 1.0)
    square, series = u * u, 0.0
    for k in range(19, 1, -2):
        series = square * (1 / k + series)
    return np.where(np.abs(u) < 0.1, u * (gap - 2 * q * series), rel_entr(q, p) - q + p)


def squared_distances(X, Y):
    """Return D with D_ij = ||x_i - y_j||^2, for X of shape (n, d) and Y of shape (m, d).

    The data are centred before the square is expanded, and rounding below zero is clipped, so that
    points far from the origin keep their digits.
    """
    centre = Y.mean(axis=0)
    X, Y = X - centre, Y - centre
    D = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", Y, Y) - 2 * (X @ Y.T)
    return np.maximum(D, 0, out=D)


def centred_columns(X):
    """Return X minus the means of its columns, and the means; constant columns become exactly 0."""
    mean = np.ones(len(X)) @ X / len(X)
    same = np.flatnonzero(X[0] == X[-1])
    if same.size:
        same = same[(X[:, same] == X[0, same]).all(axis=0)]
        mean[same] = X[0, same]  # the mean of equal numbers need not be that number once rounded
    return X - mean, mean


def weighted_rows(X, y, s, centre=True):
    """Return the rows sqrt(s_i) (x_i - x_mean, y_i - y_mean), x_mean and y_mean, all weighted.

    Their sum of squared residuals is sum_i s_i (y_i - b - w^T x_i)^2 at the best offset b, so that
    a fit of them without an offset is the weighted fit of the sample with one. Rows of weight 0 are
    left out; without ``centre`` the means are 0.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
    s : array of shape (n,)
        At least 0 each, not all 0.
    centre : bool

    Returns
    -------
    tuple
        Arrays of shape (m, d), (m,) and (d,), and a float; m rows have a positive weight.

    Examples
    --------
    >>> X, y = np.array([[0.0], [2.0]]), np.array([4.0, 8.0])
    >>> weighted_rows(X, y, np.array([1.0, 1.0]))
    (array([[-1.],
           [ 1.]]), array([-2.,  2.]), array([1.]), 6.0)
    """
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    root = np.sqrt(s)
    if not centre:
        return root[:, None] * X, root * y, np.zeros(X.shape[1]), 0.0
    (Z, x_mean), (t, y_mean) = centred_columns(X), centred_columns(y[:, None])
    x_shift, y_shift = s @ Z / s.sum(), s @ t / s.sum()
    t = (t - y_shift)[:, 0]
    return root[:, None] * (Z - x_shift), root * t, x_mean + x_shift, float((y_mean + y_shift)[0])


def cholesky_with_jitter(A, name="A"):
    """Return ``(L, jitter)`` with L lower triangular and L L^T = A + jitter I.

    Jitter is 0 whenever A factorises as it is. Otherwise it is the smallest of
    1e-14, 1e-13, ..., 1e-6 times the mean of A's diagonal that makes the factorisation succeed.

    Raises
    ------
    ValueError
        If A is indefinite beyond that jitter.
    """
    scale = float(np.mean(np.diag(A)))
    for relative in [0.0] + [10.0**power for power in range(-14, -5)]:
        jitter = relative * scale
        try:
            return cholesky(A + jitter * np.eye(len(A)), lower=True, check_finite=False), jitter
        except np.linalg.LinAlgError:
            continue
    raise ValueError(
        f"{name} must be positive definite, its smallest eigenvalue is "
        f"{np.linalg.eigvalsh(A)[0]:.3g}: add to its diagonal or mend its entries."
    )


def log_density_from_cholesky(X, mean, L):
    """Return log N(x_i; mean, L L^T) for each row of X, in nats.

    log N = -(d log 2 pi + ||L^{-1}(x - mean)||^2) / 2 - sum_j log L_jj, so no inverse is formed.

    Parameters
    ----------
    X : array of shape (n, d)
    mean : array of shape (d,)
    L : array of shape (d, d)
        Lower Cholesky factor of the covariance.
    """
    Z = solve_triangular(L, (X - mean).T, lower=True, check_finite=False)
    d = len(mean)
    return -0.5 * (d * np.log(2 * np.pi) + np.einsum("ji,ji->i", Z, Z)) - np.log(np.diag(L)).sum()
