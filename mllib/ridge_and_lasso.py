"""Linear regression with a penalty on the weights: ridge by linear algebra, the lasso by its path.

Chapter: Regression, *Ridge and lasso*. Main references: Hoerl and Kennard (1970), Tibshirani
(1996), Efron, Hastie, Johnstone and Tibshirani (2004).
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, svd
from scipy.special import expit

from mllib.core.arrays import (
    check_array,
    check_result,
    check_sample_weight,
    check_size,
    check_square,
    check_target_length,
    check_targets,
    check_vector,
)
from mllib.core.chunks import reduce_chunks
from mllib.core.compiled import compiled, compiling
from mllib.core.errors import convergence_warning
from mllib.core.estimators import Regressor, begin_fit, check_features, check_parameters
from mllib.core.numerics import centred_columns, max_abs, weighted_rows
from mllib.core.scalars import check_flag, check_scalar
from mllib.core.tables import keep_names
from mllib.least_squares import regression_chunk, solve_statistics
from mllib.linear_algebra import ProductSums, outer_product_sum

__all__ = [
    "Centred",
    "Lasso",
    "LassoPath",
    "LassoRun",
    "Ridge",
    "RidgeMoments",
    "SpikeSlab",
    "augment",
    "bias_variance",
    "centre",
    "lars_path",
    "lasso",
    "lasso_gap",
    "lasso_kkt",
    "lasso_objective",
    "path_at",
    "ridge",
    "ridge_from_sums",
    "ridge_many",
    "ridge_objective",
    "ridge_svd",
    "shrinkage_factors",
    "soft_threshold",
    "spike_slab_posterior",
    "sweep",
]

_EPS = np.finfo(float).eps


# Records -------------------------------------------------------------------------------------


class Centred(NamedTuple):
    """A sample with the means taken away, which makes the offset of a linear fit zero."""

    X: np.ndarray  #: inputs minus their column means, shape (n, d)
    y: np.ndarray  #: targets minus their mean, shape (n,)
    x_mean: np.ndarray  #: means of the columns, shape (d,)
    y_mean: float  #: mean of the targets


class RidgeMoments(NamedTuple):
    """Mean error and covariance of the ridge estimate when y = X w* + noise."""

    bias: np.ndarray  #: E[w_hat] - w*, shape (d,)
    covariance: np.ndarray  #: Cov[w_hat], shape (d, d)
    squared_bias: float  #: squared norm of the bias
    variance: float  #: trace of the covariance; E|w_hat - w*|^2 = squared_bias + variance


class LassoRun(NamedTuple):
    """What happened in a run of coordinate descent."""

    w: np.ndarray  #: final weights, shape (d,)
    objective: np.ndarray  #: |y - Xw|^2 + lam |w|_1 at the start and after each pass
    gap: float  #: how far the final objective can be above the minimum, at most
    n_iter: int  #: passes through the coordinates
    converged: bool  #: whether the gap fell to tol |y|^2


class LassoPath(NamedTuple):
    """All solutions of the lasso: between two neighbouring kinks they lie on a straight line."""

    lam: np.ndarray  #: penalties of the kinks, decreasing, shape (m,)
    W: np.ndarray  #: weights at the kinks, shape (m, d); W[0] = 0
    entered: tuple  #: at each kink the variable that enters (j) or leaves (~j); None at the end
    complete: bool  #: whether the path reached the penalty it was asked for


class SpikeSlab(NamedTuple):
    """Posterior of one weight that is exactly zero or else Gaussian."""

    inclusion: float  #: probability that the weight is not zero
    mean: float  #: mean of the weight if it is not zero
    variance: float  #: its variance if it is not zero
    shrunk: float  #: posterior mean, inclusion * mean


# Functions: input ----------------------------------------------------------------------------


def _sample(X, y):
    X = check_array(X)
    return X, check_size(check_vector(y, "y", length=len(X)), "y")


def _penalty(lam, name="lam"):
    return check_scalar(lam, name, low=0, open_low=True)


def centre(X, y):
    """Return the sample minus its means, together with the means; a ``Centred``.

    The offset that minimises sum_i (y_i - b - w^T x_i)^2 for given w is mean y - w^T mean x, so a
    fit of the centred sample without an offset is a fit of the sample with a free one.

    Book: ridge-and-lasso-centring.

    Examples
    --------
    >>> centre([[1.0], [3.0]], [5.0, 9.0])
    Centred(X=array([[-1.],
           [ 1.]]), y=array([-2.,  2.]), x_mean=array([2.]), y_mean=7.0)
    """
    X, y = _sample(X, y)
    Z, x_mean = centred_columns(X)
    y_mean = float(y[0] if np.ptp(y) == 0 else y.mean())
    return Centred(Z, y - y_mean, x_mean, y_mean)


# Functions: ridge ----------------------------------------------------------------------------


def ridge_objective(w, X, y, lam):
    """Return J(w) = ||y - Xw||^2 + lam ||w||^2.

    Parameters
    ----------
    w, X, y : arrays of shape (d,), (n, d) and (n,)
    lam : float; at least 0

    Examples
    --------
    >>> ridge_objective([1.0], [[1.0], [1.0]], [2.0, 2.0], 3.0)
    5.0
    """
    X, y = _sample(X, y)
    w = check_vector(w, "w", length=X.shape[1])
    check_scalar(lam, "lam", low=0)
    return float(np.sum((y - X @ w) ** 2) + lam * (w @ w))


def ridge(X, y, lam, D=None):
    """Minimise ||y - Xw||^2 + lam sum_j D_j w_j^2: w = (X^T X + lam diag(D))^{-1} X^T y.

    Book: ridge-and-lasso-ridge-closed-form. Hoerl and Kennard (1970), Technometrics 12, 55-67.

    Parameters
    ----------
    X : array of shape (n, d)
        With n < d too: a positive penalty on every weight makes the minimiser unique.
    y : array of shape (n,)
    lam : float; above 0; so tiny that the matrix is singular to rounding, it is refused
    D : array of shape (d,), optional
        Which weights pay, all equally by default; 0 for the column of ones of an offset.

    Examples
    --------
    >>> ridge([[1.0], [1.0]], [2.0, 2.0], 1.0)
    array([1.33333333])
    """
    X, y = _sample(X, y)
    return ridge_from_sums(outer_product_sum(X, y), lam, D)


def ridge_from_sums(sums, lam, D=None):
    """Return the ridge weights, shape (d,), from sum_i x_i x_i^T and sum_i y_i x_i alone.

    The ``sums`` of chunks of a sample, from ``mllib.linear_algebra.outer_product_sum``, add up, so
    the data need not be in memory together; lam and D are as in ``ridge``.

    Examples
    --------
    >>> parts = [outer_product_sum([[1.0]], [2.0]), outer_product_sum([[1.0]], [2.0])]
    >>> ridge_from_sums(parts[0] + parts[1], 1.0)
    array([1.33333333])
    """
    _penalty(lam)
    if not isinstance(sums, ProductSums):
        raise ValueError("sums must come from mllib.linear_algebra.outer_product_sum.")
    D = np.ones(len(sums.b)) if D is None else check_vector(D, "D", length=len(sums.b))
    if (D < 0).any():
        raise ValueError(f"D must not be negative, its smallest entry is {D.min():.3g}.")
    A = sums.S + lam * np.diag(D)  # (eq-ridge-and-lasso-normal)
    try:
        factor = cho_factor(A, lower=True)
        if np.diag(factor[0]).min() ** 2 <= 4 * _EPS * len(D) * np.diag(A).max():
            raise LinAlgError
    except LinAlgError as error:
        raise ValueError(
            "X^T X + lam diag(D) is singular to rounding: raise lam, or use ridge_svd."
        ) from error
    return cho_solve(factor, sums.b)


def ridge_many(X, Y, lam):
    """Return the ridge weights of R samples of one size: w_r = (X_r^T X_r + lam I)^{-1} X_r^T y_r.

    All are solved together, as repeated simulations want it: X of shape (R, n, d) and Y of shape
    (R, n) give shape (R, d), as ``mllib.bias_variance.parameter_mse`` takes it.

    Examples
    --------
    >>> ridge_many([[[1.0], [1.0]], [[2.0], [0.0]]], [[2.0, 2.0], [1.0, 5.0]], 1.0).round(4)
    array([[1.3333],
           [0.4   ]])
    """
    if np.ndim(X) != 3:
        raise ValueError(f"X must have shape (R, n, d), one sample each, got {np.shape(X)}.")
    R, n, d = np.shape(X)
    X = check_array(np.reshape(X, (-1, d))).reshape(R, n, d)
    Y = check_array(Y, "Y")
    if Y.shape != (R, n):
        raise ValueError(f"Y must have shape {(R, n)} like the samples of X, got {Y.shape}.")
    _penalty(lam)
    step = max(1, 2**18 // (n * d))  # samples that stay in a processor's cache together
    parts = (slice(r, r + step) for r in range(0, R, step))
    return np.concatenate([_ridge_stack(X[part], Y[part], lam) for part in parts])


def _ridge_stack(X, Y, lam):
    """Return ``ridge_many`` of a few samples: all are squared, and solved as one stack."""
    n, d = X.shape[1:]
    Xt = X.transpose(0, 2, 1)
    A = Xt @ X if d <= n else X @ Xt  # (X^T X + lam I)^{-1} X^T = X^T (X X^T + lam I)^{-1}
    b = Xt @ Y[..., None] if d <= n else Y[..., None]
    diagonal = np.einsum("rii->ri", A)  # a view
    lost = lam <= 1e-6 * np.trace(A, axis1=1, axis2=2)
    diagonal += lam
    A[lost], diagonal[lost] = 0.0, 1.0
    u = np.linalg.solve(A, b)
    W = (u if d <= n else Xt @ u)[..., 0]
    for r in np.flatnonzero(lost):  # where squaring loses digits
        W[r] = ridge_svd(X[r], Y[r], lam)
    return W


def augment(X, y, lam):
    """Return (X; sqrt(lam) I) and (y; 0), d made-up observations that pull each weight to 0.

    The sum of squared residuals of the taller sample is ||y - Xw||^2 + lam ||w||^2, so plain least
    squares on it is ridge.

    Book: ridge-and-lasso-augmented-data.

    Examples
    --------
    >>> augment([[3.0]], [2.0], 4.0)
    (array([[3.],
           [2.]]), array([2., 0.]))
    """
    X, y = _sample(X, y)
    _penalty(lam)
    d = X.shape[1]
    return np.vstack([X, np.sqrt(lam) * np.eye(d)]), np.append(y, np.zeros(d))


def _filter(s, lam, shape):
    """Return s / (s^2 + lam) without squaring s; 0 for singular values that are rounded zeros."""
    kept = s > _EPS * max(shape) * max_abs(s)
    with np.errstate(over="ignore", divide="ignore"):
        return np.where(kept, 1 / (s + lam / np.where(kept, s, 1.0)), 0.0)


def ridge_svd(X, y, lam):
    """Return V diag(s_j / (s_j^2 + lam)) U^T y, the ridge weights from X = U diag(s) V^T.

    One decomposition serves all penalties, and X is not squared. At lam = 0 it is the shortest of
    all least squares solutions, the limit of ridge as lam falls to 0.

    Book: ridge-and-lasso-ridge-shrinkage-svd.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
    lam : float or array of shape (m,); at least 0

    Returns
    -------
    array of shape (d,), or (m, d) for m penalties

    Examples
    --------
    >>> ridge_svd([[1.0], [1.0]], [2.0, 2.0], [0.0, 1.0]).round(4).ravel()
    array([2.    , 1.3333])
    """
    X, y = _sample(X, y)
    penalties = check_vector(np.ravel(lam), "lam")
    if (penalties < 0).any():
        raise ValueError(f"lam must not be negative, its smallest value is {penalties.min():.3g}.")
    U, s, Vt = svd(X, full_matrices=False)
    a = U.T @ y
    W = np.array([(_filter(s, each, X.shape) * a) @ Vt for each in penalties])
    return W[0] if np.ndim(lam) == 0 else W


def shrinkage_factors(X, lam):
    """Return s_j^2 / (s_j^2 + lam), what ridge leaves of the fit along each singular direction.

    Their sum is the trace of the hat matrix, the effective number of parameters.

    Book: ridge-and-lasso-ridge-shrinkage-svd.

    Parameters
    ----------
    X : array of shape (n, d)
    lam : float; above 0

    Returns
    -------
    array of shape (min(n, d),), decreasing, in [0, 1); 1 where rounding loses lam

    Examples
    --------
    >>> shrinkage_factors([[3.0, 0.0], [0.0, 1.0]], 1.0)
    array([0.9, 0.5])
    """
    X = check_array(X)
    _penalty(lam)
    s = svd(X, compute_uv=False)
    return s * _filter(s, lam, X.shape)


def bias_variance(X, w_star, lam, sigma2):
    """Return bias and covariance of ridge for y = X w* + noise of mean 0 and covariance sigma2 I.

    With A = X^T X + lam I: bias = -lam A^{-1} w*, covariance = sigma2 A^{-1} X^T X A^{-1}.

    Book: ridge-and-lasso-ridge-bias.

    Parameters
    ----------
    X : array of shape (n, d); taken as fixed
    w_star : array of shape (d,); the true weights
    lam : float; above 0
    sigma2 : float; variance of the noise, at least 0

    Returns
    -------
    RidgeMoments

    Examples
    --------
    >>> bias_variance([[1.0], [1.0]], [3.0], 1.0, 9.0)[:2]
    (array([-1.]), array([[2.]]))
    """
    X = check_array(X)
    w_star = check_vector(w_star, "w_star", length=X.shape[1])
    _penalty(lam)
    check_scalar(sigma2, "sigma2", low=0)
    _, s, Vt = svd(X, full_matrices=False)
    f = _filter(s, lam, X.shape)
    bias = -(w_star - (s * f * (Vt @ w_star)) @ Vt)  # lam A^{-1} = I - A^{-1} X^T X
    return RidgeMoments(
        bias, sigma2 * (Vt.T * f**2) @ Vt, float(bias @ bias), float(sigma2 * np.sum(f**2))
    )


# Functions: lasso ----------------------------------------------------------------------------


def soft_threshold(z, t):
    """Return sign(z) max(|z| - t, 0), the minimiser of (w - z)^2 + 2 t |w|.

    Parameters
    ----------
    z : float or array
    t : float; at least 0

    Examples
    --------
    >>> soft_threshold([-3.0, 0.5, 1.5], 1.0).tolist()
    [-2.0, 0.0, 0.5]
    """
    check_scalar(t, "t", low=0)
    z = check_vector(np.ravel(z), "z").reshape(np.shape(z))
    return np.where(np.abs(z) > t, z - np.sign(z) * t, 0.0)


def lasso_objective(w, X, y, lam):
    """Return J(w) = ||y - Xw||^2 + lam ||w||_1.

    Parameters
    ----------
    w, X, y : arrays of shape (d,), (n, d) and (n,)
    lam : float; at least 0

    Examples
    --------
    >>> lasso_objective([1.0], [[1.0], [1.0]], [2.0, 2.0], 3.0)
    5.0
    """
    X, y = _sample(X, y)
    w = check_vector(w, "w", length=X.shape[1])
    check_scalar(lam, "lam", low=0)
    return float(np.sum((y - X @ w) ** 2) + lam * np.sum(np.abs(w)))


def lasso_kkt(w, X, y, lam):
    """Return for each weight how far 0 is from its subdifferential; all 0 exactly at a minimiser.

    With g = 2 X^T (y - Xw): |g_j - lam sign(w_j)| where w_j != 0, max(|g_j| - lam, 0) elsewhere.

    Book: ridge-and-lasso-lasso-optimality.

    Parameters
    ----------
    w, X, y : arrays of shape (d,), (n, d) and (n,)
    lam : float; at least 0

    Returns
    -------
    array of shape (d,)

    Examples
    --------
    >>> lasso_kkt([0.5, 0.0], [[1.0, 0.0], [0.0, 1.0]], [1.5, 0.5], 2.0)
    array([0., 0.])
    """
    X, y = _sample(X, y)
    w = check_vector(w, "w", length=X.shape[1])
    check_scalar(lam, "lam", low=0)
    g = 2 * (X.T @ (y - X @ w))
    return np.where(w != 0, np.abs(g - lam * np.sign(w)), np.maximum(np.abs(g) - lam, 0))


def lasso_gap(w, X, y, lam):
    """Return an upper bound on J(w) - min J, zero exactly at a minimiser: the duality gap.

    Every vector v with |2 X^T v| <= lam in each entry gives min J >= ||y||^2 - ||y - v||^2; here v
    is the residual, scaled down until it is allowed.

    Book: ridge-and-lasso-lasso-dual.

    Parameters
    ----------
    w, X, y : arrays of shape (d,), (n, d) and (n,)
    lam : float; above 0

    Examples
    --------
    >>> lasso_gap([0.5, 0.0], [[1.0, 0.0], [0.0, 1.0]], [1.5, 0.5], 2.0)
    0.0
    """
    X, y = _sample(X, y)
    w = check_vector(w, "w", length=X.shape[1])
    _penalty(lam)
    return _gap(w, X, y, lam, y - X @ w)


def _gap(w, X, y, lam, r):
    largest = 2 * max_abs(X.T @ r)
    v = r * (lam / largest) if largest > lam else r
    # |r|^2 + lam |w|_1 - 2 v^T y + |v|^2, grouped so that equal parts cancel before they are summed
    return max(0.0, float((r - v) @ (r - v) + lam * np.abs(w).sum() - 2 * v @ (y - r)))


@compiled
def _descend(XT, q, w, r, lam):
    """Move each weight in turn to its minimiser, and the residual r with it, in place."""
    for j in range(len(w)):
        if q[j] == 0:
            continue
        z = q[j] * w[j]
        for i in range(len(r)):
            z += XT[j, i] * r[i]
        new = 0.0
        if abs(z) > lam / 2:
            new = (z - lam / 2) / q[j] if z > 0 else (z + lam / 2) / q[j]
        if new != w[j]:  # (eq-ridge-and-lasso-coordinate)
            for i in range(len(r)):
                r[i] += XT[j, i] * (w[j] - new)
            w[j] = new


def lasso(X, y, lam, *, w0=None, tol=1e-12, max_iter=10_000):
    """Minimise ||y - Xw||^2 + lam ||w||_1, one coordinate at a time; a ``LassoRun``.

    With r the residual, w_j moves to soft_threshold(x_j^T r + ||x_j||^2 w_j, lam/2) / ||x_j||^2,
    the minimiser along it; a column of zeros keeps the weight 0. The run ends when the duality gap
    is at most tol ||y||^2.

    Book: ridge-and-lasso-coordinate-descent. Friedman, Hastie, Hoefling and Tibshirani (2007),
    Annals of Applied Statistics 1, 302-332.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
    lam : float; above 0
    w0 : array of shape (d,), optional; where to start, 0 by default
    tol : float; tolerance on the gap, relative to ||y||^2
    max_iter : int; passes through the coordinates at most; running out warns

    Examples
    --------
    >>> lasso([[1.0, 0.0], [0.0, 1.0]], [1.5, 0.5], 2.0).w
    array([0.5, 0. ])
    """
    X, y = _sample(X, y)
    _penalty(lam)
    check_scalar(tol, "tol", low=0)
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    d = X.shape[1]
    w = np.zeros(d) if w0 is None else check_vector(w0, "w0", length=d).copy()
    q, XT = np.diag(outer_product_sum(X, y).S).copy(), np.ascontiguousarray(X.T)
    w[q == 0] = 0.0
    r, objective, gap, enough = y - X @ w, [], np.inf, tol * (y @ y)
    objective.append(r @ r + lam * np.abs(w).sum())
    for _ in range(max_iter):
        _descend(XT, q, w, r, float(lam))
        objective.append(r @ r + lam * np.abs(w).sum())
        gap = _gap(w, X, y, lam, y - X @ w)
        if gap <= enough:
            break
    else:
        convergence_warning(
            f"lasso used all {max_iter} passes: the duality gap is {gap:.3g}, above tol |y|^2 = "
            f"{enough:.3g}; raise max_iter or tol, or use lars_path."
        )
    return LassoRun(w, np.array(objective), gap, len(objective) - 1, bool(gap <= enough))


def sweep(T, k):
    """Sweep row k of a symmetric table: one step of Gauss-Jordan elimination, undone by a second.

    With p = T_kk: T_ij - T_ik T_kj / p off row and column k, T_ik / |p| on them, -1/p at (k, k).
    Swept over a set A of rows with positive p, a table of inner products [X^T X, X^T y] holds the
    least squares weights (X_A^T X_A)^{-1} X_A^T y in the last column of A, and beside the other
    rows the products x_j^T r with the residual r of that fit.

    Book: ridge-and-lasso-sweep. Goodnight (1979), The American Statistician 33, 149-158.

    Parameters
    ----------
    T : array of shape (m, m); symmetric; it is not changed
    k : int; A row with T_kk != 0: above 0 it joins A, below 0 it leaves

    Returns
    -------
    array of shape (m, m), symmetric

    Examples
    --------
    >>> table = np.array([[4.0, 2.0], [2.0, 3.0]])
    >>> sweep(table, 0)
    array([[-0.25,  0.5 ],
           [ 0.5 ,  2.  ]])
    >>> sweep(sweep(table, 0), 0)
    array([[4., 2.],
           [2., 3.]])
    """
    T = check_square(T, "T", symmetric=True)
    check_scalar(k, "k", low=0, high=len(T) - 1, integer=True)
    p = T[k, k]
    if p == 0:
        raise ValueError(f"T must not be 0 at ({k}, {k}): that row cannot be swept.")
    swept = T - np.outer(T[:, k], T[:, k] / p)
    swept[k] = swept[:, k] = T[:, k] / abs(p)
    swept[k, k] = -1 / p
    return swept


def _next_kink(T, active, s, mu, free, drop):
    """Return (mu, j) of the next kink: variable j enters, ~j means it leaves; (0, None) for none.

    As mu falls, the inactive correlations a_j + mu g_j and the active weights a_j + mu g_j are
    lines; we look for the first that meets its limit, mu or -mu for the one, 0 for the other.
    """
    d = len(active)
    a, g = T[:d, d], T[:d, :d] @ (active * s)
    best, event = 0.0, None
    for sign in (1.0, -1.0):
        slope = 1 - sign * g
        meets = free & (slope > 1e-10)  # not those that keep inside the limit as it shrinks
        root = np.divide(sign * a, slope, out=np.zeros(d), where=meets)
        j = int(np.argmax(root))
        if root[j] > best:
            best, event = root[j], j
    if drop:
        meets = active & (s * g > 0)  # weights that move towards 0
        root = np.divide(-a, g, out=np.zeros(d), where=meets)
        j = int(np.argmax(root))
        if root[j] > best:
            best, event = root[j], ~j
    return min(best, mu), event


def lars_path(X, y, *, lam_min=0.0, drop=True, max_kinks=None):
    """Follow the minimisers of ||y - Xw||^2 + lam ||w||_1 from lam = 2 ||X^T y||_inf down.

    Between kinks the weights are w_A = u - (lam/2) v, with X_A^T X_A u = X_A^T y and X_A^T X_A v =
    s_A, the signs of the correlations. At a kink a variable enters, since its correlation reaches
    lam/2, or leaves, since its weight reaches 0. Of the table of all inner products, swept over A,
    the compiled loop keeps the rows of A; without numba the whole table is swept.

    Book: ridge-and-lasso-lars-path. Osborne, Presnell and Turlach (2000); Efron, Hastie, Johnstone
    and Tibshirani (2004), Annals of Statistics 32, 407-499.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,); centre both first if the model has an offset
    lam_min : float; where to stop, at least 0
    drop : bool
        Whether variables may leave. Without it the path is least angle regression, which differs
        from the lasso from the first weight that changes sign.
    max_kinks : int, optional; kinks at most, 100 + 50 d by default; running out warns

    Returns
    -------
    LassoPath

    Examples
    --------
    >>> path = lars_path([[1.0, 0.0], [0.0, 1.0]], [1.5, 0.5])
    >>> path.lam, path.W.tolist(), path.entered
    (array([3., 1., 0.]), [[0.0, 0.0], [1.0, 0.0], [1.5, 0.5]], (0, 1, None))
    """
    X, y = _sample(X, y)
    check_scalar(lam_min, "lam_min", low=0)
    most = 100 + 50 * X.shape[1] if max_kinks is None else max_kinks
    check_scalar(most, "max_kinks", low=1, integer=True)
    check_flag(drop, "drop")
    if compiling():
        path = _swept_homotopy(X, y, lam_min / 2, drop, most)
    else:
        path = _homotopy(outer_product_sum(X, y), lam_min / 2, drop, most)
    if not path.complete:
        convergence_warning(
            f"lars_path used all {most} kinks and is at lam = {path.lam[-1]:.3g}, above lam_min = "
            f"{lam_min:.3g}: raise max_kinks, or use lasso."
        )
    return path


def _homotopy(sums, mu_min, drop, most):
    """Return the path of ``lars_path`` by sweeps of the whole table, in terms of mu = lam/2.

    This is the algorithm as the book states it; where loops are compiled ``lars_path`` uses
    ``_swept_homotopy``, and the tests hold the two equal.
    """
    d = len(sums.b)
    start = T = np.block([[sums.S, sums.b[:, None]], [sums.b, sums.c]])
    norms, active, s = np.diag(sums.S), np.zeros(d, dtype=bool), np.zeros(d)
    rounding = 8 * _EPS * np.sqrt(max_abs(norms) * sums.c)  # of a correlation
    floor = max(mu_min, rounding)
    mu, lam, W, entered, done = np.inf, [], [], [], False
    while not done and len(lam) < most:
        free = ~active & (np.diag(T)[:d] > 1e-11 * norms)  # no combination of active columns
        mu, event = _next_kink(T, active, s, mu, free, drop)
        done = mu <= floor or event is None
        if done:
            mu, event = mu_min, None
        w = _weights(T, active, s, mu, drop)
        if event is not None and event < 0:
            w[~event] = 0.0
        lam.append(2 * mu)
        W.append(w)
        entered.append(event)
        if not done:
            j = max(event, ~event)
            s[j] = np.sign(T[j, d] + mu * (T[j, :d] @ (active * s))) if event >= 0 else 0.0
            active[j] = event >= 0
            T = sweep(T, j) if len(lam) % 50 else _swept(start, active)
    return LassoPath(np.array(lam), np.array(W), tuple(entered), bool(done))


def _weights(T, active, s, mu, drop):
    """Return w_A = u - mu v; on the lasso's path a weight has its correlation's sign or is 0."""
    d = len(active)
    w = np.where(active, T[:d, d] + mu * (T[:d, :d] @ (active * s)), 0.0)
    return np.where(s * w > 0, w, 0.0) if drop else w


def _swept(T, active):
    """Return the table swept over all active rows afresh, before rounding adds up."""
    for k in np.flatnonzero(active):
        T = sweep(T, k)
    return T


@compiled
def _sweep_rows(T, A, m, a, D, row, j):
    """Sweep variable j, whose row of the table is given: off the rows of A, off a and off D.

    Of a swept table the rows of A are kept, and of all others the last column and the diagonal.
    """
    d, p = len(a), row[j]
    for k in range(m):
        share = row[A[k]] / p
        for c in range(d + 1):
            T[k, c] -= share * row[c]
        T[k, j] = row[A[k]] / abs(p)
    for c in range(d):
        a[c] -= row[d] / p * row[c]
        D[c] -= row[c] / p * row[c]
    a[j], D[j] = row[d] / abs(p), -1 / p


@compiled
def _enter(T, A, m, a, D, q, b, j):
    """Let j enter, q being its inner products with all variables; return the new size of A."""
    d, row = len(a), T[m]
    for c in range(d):
        row[c] = q[c]
    row[d] = b[j]
    for k in range(m):
        for c in range(d + 1):
            row[c] -= q[A[k]] * T[k, c]
    for k in range(m):
        row[A[k]] = T[k, j]
    _sweep_rows(T, A, m, a, D, row, j)
    p = row[j]
    for c in range(d + 1):
        row[c] /= p
    row[j] = -1 / p
    A[m] = j
    return m + 1


@compiled
def _leave(T, A, m, a, D, j):
    """Let j leave; the last row takes the place of its row. Return the new size of A."""
    k = 0
    while A[k] != j:
        k += 1
    row = T[k].copy()
    A[k] = A[m - 1]
    T[k] = T[m - 1]
    _sweep_rows(T, A, m - 1, a, D, row, j)
    return m - 1


@compiled
def _inner_products(X, S, j):
    """Return X^T x_j: a row of S, if there is one."""
    if len(S) > 0:
        return S[j]
    q = np.zeros(X.shape[1])
    for i in range(len(X)):
        for c in range(len(q)):
            q[c] += X[i, j] * X[i, c]
    return q


@compiled
def _follow(X, S, b, s, norms, mu, ends, drop, lam, W, events):
    """Do as ``_homotopy``, for as many kinks as ``lam`` has room; return (kinks, mu, done).

    s is that of the last kink, and s_j = 0 says that variable j is not active. A path that is done
    ends with the event d.
    """
    d, m = len(s), 0
    A, T = np.empty(min(X.shape), np.int64), np.empty((min(X.shape), d + 1))
    a, D = b.copy(), norms.copy()
    for j in range(d):
        if s[j] != 0:
            m = _enter(T, A, m, a, D, _inner_products(X, S, j), b, j)
    for kink in range(len(lam)):
        g = np.zeros(d)
        for k in range(m):
            a[A[k]] = T[k, d]
            for j in range(d):
                g[j] += s[A[k]] * T[k, j]
        best, event = 0.0, d
        for j in range(d):
            if s[j] == 0 and m < len(A) and D[j] > 1e-11 * norms[j]:
                slope = 1 - g[j] if a[j] > 0 else 1 + g[j]
                if slope > 1e-10 and abs(a[j]) > best * slope:
                    best, event = abs(a[j]) / slope, j
        for j in range(d):
            if drop and s[j] * g[j] > 0 and -a[j] / g[j] > best:
                best, event = -a[j] / g[j], ~j
        mu = min(best, mu)
        if mu <= ends[0] or event == d:
            mu, event = ends[1], d
        for j in range(d):
            w = a[j] + mu * g[j] if s[j] != 0 else 0.0
            W[kink, j] = 0.0 if event == ~j or (drop and s[j] * w <= 0) else w
        lam[kink], events[kink] = 2 * mu, event
        if event == d:
            return kink + 1, mu, True
        if event >= 0:
            s[event] = np.sign(a[event] + mu * g[event])
            m = _enter(T, A, m, a, D, _inner_products(X, S, event), b, event)
        else:
            s[~event] = 0.0
            m = _leave(T, A, m, a, D, ~event)
    return len(lam), mu, False


def _swept_homotopy(X, y, mu_min, drop, most):
    """Return the same as ``_homotopy``, by a compiled loop; 50 kinks later the table is new."""
    norms, b, c = np.einsum("ij,ij->j", X, X), X.T @ y, y @ y
    S = X.T @ X if len(X) >= len(b) else np.empty((0, len(b)))
    s, mu, done, parts = np.zeros(len(b)), np.inf, False, []
    ends = np.array([max(mu_min, 8 * _EPS * np.sqrt(max_abs(norms) * c)), mu_min])
    while not done and most > 0:
        m = min(50, most)
        part = np.empty(m), np.empty((m, len(b))), np.empty(m, dtype=np.int64)
        kinks, mu, done = _follow(X, S, b, s, norms, mu, ends, drop, *part)
        parts.append([a[:kinks] for a in part])
        most -= kinks
    lam, W, events = map(np.concatenate, zip(*parts))
    entered = tuple(None if j == len(b) else int(j) for j in events)
    return LassoPath(lam, W, entered, bool(done))


def path_at(path, lam):
    """Return the weights of a path at any penalty, on the straight line between two kinks.

    Parameters
    ----------
    path : LassoPath
    lam : float or array of shape (m,)
        At least the smallest penalty of the path; the weights are 0 above the largest.

    Returns
    -------
    array of shape (d,), or (m, d) for m penalties

    Examples
    --------
    >>> path_at(lars_path([[1.0, 0.0], [0.0, 1.0]], [1.5, 0.5]), 2.0)
    array([0.5, 0. ])
    """
    if not isinstance(path, LassoPath):
        raise ValueError("path must be a LassoPath, as lars_path returns it.")
    penalties = check_vector(np.ravel(lam), "lam")
    if (penalties < path.lam[-1]).any():
        raise ValueError(
            f"lam must be at least {path.lam[-1]:.6g}, where the path ends, got "
            f"{penalties.min():.6g}: follow the path further."
        )
    after = np.clip(np.searchsorted(-path.lam, -penalties), 1, len(path.lam) - 1)
    high, low = path.lam[after - 1], path.lam[after]
    t = np.clip((high - penalties) / np.where(high > low, high - low, 1.0), 0.0, 1.0)[:, None]
    W = (1 - t) * path.W[after - 1] + t * path.W[after]
    return W[0] if np.ndim(lam) == 0 else W


# Functions: spike and slab -------------------------------------------------------------------


def spike_slab_posterior(x, y, *, sigma2, tau2, prob):
    """Return the posterior of w in y = x w + noise when w may be exactly zero; a ``SpikeSlab``.

    Prior: w = 0 with probability 1 - prob, else w ~ N(0, tau2). Noise: N(0, sigma2 I). All that
    matters of the data is z = x^T y / ||x||^2 ~ N(w, v), v = sigma2 / ||x||^2, and the odds of
    inclusion are prob N(z; 0, tau2 + v) against (1 - prob) N(z; 0, v).

    Book: ridge-and-lasso-spike-and-slab. Mitchell and Beauchamp (1988), JASA 83, 1023-1032.

    Parameters
    ----------
    x, y : arrays of shape (n,)
    sigma2, tau2 : float; variances of the noise and of the slab, above 0
    prob : float; prior probability that the weight is not zero, in (0, 1)

    Examples
    --------
    >>> found = spike_slab_posterior([1.0, 1.0], [2.0, 2.0], sigma2=2.0, tau2=3.0, prob=0.5)
    >>> round(found.inclusion, 4), found.mean, found.variance
    (0.6914, 1.5, 0.75)
    """
    x = check_vector(x, "x")
    y = check_vector(y, "y", length=len(x))
    for value, name in ((sigma2, "sigma2"), (tau2, "tau2")):
        _penalty(value, name)
    check_scalar(prob, "prob", low=0, high=1, open_low=True, open_high=True)
    if not x.any():
        raise ValueError("x must not be 0 throughout: such an input says nothing of its weight.")
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        size = x @ x
        z, v = (x @ y) / size, sigma2 / size
        share = tau2 / (tau2 + v)
        log_odds = np.log(prob) - np.log1p(-prob) + 0.5 * (np.log(v) - np.log(v + tau2))
        gain = share / v  # 1/v - 1/(v + tau2)
        log_odds += 0.5 * z * (gain * z)
    if not np.isfinite([z, v, tau2 + v, gain]).all():
        raise ValueError("x, y and the variances are too far apart: change the units of x and y.")
    p = expit(log_odds)
    return SpikeSlab(float(p), float(z * share), float(v * share), float(p * z * share))


# Estimators ----------------------------------------------------------------------------------


class _Linear(Regressor):
    """What the linear models share: a fit of the centred sample, and the offset afterwards."""

    def _centred(self, X, y, sample_weight):
        X, y = check_array(X), check_targets(y, type(self).__name__)
        check_target_length(X, y)
        _penalty(self.lam)
        s = check_sample_weight(sample_weight, len(X))
        if s is not None:
            return Centred(*weighted_rows(X, y, s, bool(self.fit_intercept)))
        if self.fit_intercept:
            return centre(X, y)
        return Centred(X, y, np.zeros(X.shape[1]), 0.0)

    def _store(self, w, data):
        self.coef_ = w
        self.intercept_ = float(data.y_mean - data.x_mean @ w)
        check_result(np.append(w, self.intercept_), "X or y")
        self.n_features_in_ = len(w)
        return self

    def predict(self, X):
        """Return X w + b, shape (n,)."""
        return check_features(self, X) @ self.coef_ + self.intercept_


class Ridge(_Linear):
    """Linear regression by minimising sum_i s_i (y_i - b - w^T x_i)^2 + lam ||w||^2; b is free.

    The weights s_i are 1 unless given.

    Book: ridge-and-lasso-ridge-closed-form, ridge-and-lasso-centring.

    Parameters
    ----------
    lam : float; above 0; the same number as ``alpha`` of scikit-learn's Ridge
    fit_intercept : bool; whether there is an offset b; it is never penalised

    Attributes
    ----------
    coef_ : array of shape (d,)
    intercept_ : float

    Examples
    --------
    >>> model = Ridge(lam=2.0).fit([[-1.0], [0.0], [1.0]], [98.0, 100.0, 102.0])
    >>> model.coef_, model.intercept_
    (array([1.]), 100.0)
    """

    def __init__(self, lam=1.0, fit_intercept=True):
        self.lam = lam
        self.fit_intercept = fit_intercept

    def fit(self, X, y, sample_weight=None):
        """Fit to X of shape (n, d) and y of shape (n,); a whole weight counts a row that often."""
        begin_fit(self, X)
        data = self._centred(X, y, sample_weight)
        return self._store(_ridge_stack(data.X[None], data.y[None], float(self.lam))[0], data)

    def fit_chunks(self, chunks, workers=1):
        """Fit to chunks (X, y) or (X, y, sample_weight), one after the other; return self.

        The result is that of ``fit`` on all rows together; ``chunks`` may be an iterator, and
        ``workers`` is as in ``mllib.core.chunks.reduce_chunks``.
        """
        check_parameters(self)
        _penalty(self.lam)
        task = partial(regression_chunk, intercept=self.fit_intercept)
        total = reduce_chunks(task, chunks, workers)
        self.coef_, self.intercept_ = solve_statistics(total.value, float(self.lam))[:2]
        self.n_features_in_ = total.width
        keep_names(self, total.names)
        return self


class Lasso(_Linear):
    """Linear regression by minimising sum_i s_i (y_i - b - w^T x_i)^2 + lam ||w||_1; b is free.

    The weights s_i are 1 unless given.

    Up to 1000 features (100 without numba) the path is followed from its start to lam, which is
    exact; beyond that, and if the path's rounding shows in the duality gap, coordinates descend
    until the gap is small.

    Book: ridge-and-lasso-lars-path, ridge-and-lasso-coordinate-descent.

    Parameters
    ----------
    lam : float; above 0; 2 n times the ``alpha`` of scikit-learn's Lasso
    fit_intercept : bool; whether there is an offset b; it is never penalised
    tol : float; tolerance on the duality gap, relative to the sum of squares of the centred y
    max_iter : int; passes of coordinate descent at most

    Attributes
    ----------
    coef_ : array of shape (d,); with exact zeros
    intercept_ : float
    gap_ : float; how far the objective can be above its minimum, at most
    converged_ : bool
    n_iter_ : int; kinks of the path, or passes of coordinate descent

    Examples
    --------
    >>> model = Lasso(lam=2.0).fit([[-1.0, 1.0], [0.0, -2.0], [1.0, 1.0]], [98.0, 100.0, 102.0])
    >>> model.coef_, model.intercept_
    (array([1.5, 0. ]), 100.0)
    """

    def __init__(self, lam=1.0, fit_intercept=True, tol=1e-10, max_iter=10_000):
        self.lam = lam
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        """Fit to X of shape (n, d) and y of shape (n,); a whole weight counts a row that often."""
        begin_fit(self, X)
        data = self._centred(X, y, sample_weight)
        w, self.n_iter_, self.gap_ = self._solve(data.X, data.y, float(self.lam))
        self.converged_ = bool(self.gap_ <= self.tol * (data.y @ data.y))
        return self._store(w, data)

    def _solve(self, X, y, lam):
        """Return (w, iterations, gap): along the path, or by descent if there are many features."""
        w, enough = np.zeros(X.shape[1]), self.tol * (y @ y)
        gap = _gap(w, X, y, lam, y)
        if gap <= enough:
            return w, 1, gap
        if len(w) <= (1000 if compiling() else 100):
            path = lars_path(X, y, lam_min=min(lam, 2 * max_abs(X.T @ y)))
            w = path.W[-1]
            gap = _gap(w, X, y, lam, y - X @ w)
            if gap <= enough:
                return w, len(path.lam), gap
        run = lasso(X, y, lam, w0=w, tol=self.tol, max_iter=self.max_iter)
        return run.w, run.n_iter, run.gap
