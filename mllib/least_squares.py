"""Least squares: the affine function that comes closest to the targets in squared distance.

Chapter: Regression, *Least squares*. Main references: Legendre (1805), Gauss (1823), Golub and
Van Loan (2013).
"""

from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq, svd
from scipy.linalg.lapack import dpocon

from mllib.core.arrays import (
    check_array,
    check_result,
    check_sample_weight,
    check_size,
    check_target_length,
    check_targets,
    check_vector,
)
from mllib.core.chunks import chunk_parts, reduce_chunks
from mllib.core.estimators import (
    Regressor,
    begin_fit,
    check_features,
    check_fitted,
    check_parameters,
)
from mllib.core.numerics import centred_columns, max_abs, weighted_rows
from mllib.core.scalars import check_rng, check_scalar
from mllib.core.tables import keep_names

__all__ = [
    "LeastSquaresFit",
    "Line",
    "LinearRegression",
    "RegressionStatistics",
    "covariance",
    "least_absolute_deviations",
    "least_squares",
    "leverages",
    "linear_gaussian",
    "log_likelihood",
    "mse_and_gradient",
    "normal_equations",
    "pinv",
    "polynomial_features",
    "projection",
    "regression_chunk",
    "regression_statistics",
    "simple_fit",
    "solve_statistics",
]

_EPS = np.finfo(float).eps


# Records -------------------------------------------------------------------------------------


class Line(NamedTuple):
    """The line f(x) = w x + b."""

    w: float  #: slope, in units of y per unit of x
    b: float  #: value at x = 0, in units of y


class LeastSquaresFit(NamedTuple):
    """The shortest weights among those that minimise ||y - X w - b||^2, and what is left over."""

    w: np.ndarray  #: weights, shape (d,)
    b: float  #: offset; 0 for a fit without one
    residuals: np.ndarray  #: r_i = y_i - w^T x_i - b, shape (n,)
    rss: float  #: residual sum of squares J = sum_i r_i^2
    rank: int  #: number of independent columns (of the centred X, if there is an offset)
    condition: float  #: s_1 / s_rank of the matrix that was solved with; 1 if its rank is 0


@dataclass(frozen=True)
class RegressionStatistics:
    """All that least squares and ridge need to know about rows z = (x, y); ``+`` joins two sets."""

    n: int  #: rows, or the sum of their weights
    mean: np.ndarray  #: m, the means of the d inputs and of y, shape (d + 1,); 0 without an offset
    R: np.ndarray  #: upper triangular, R^T R = sum_i (z_i - m)(z_i - m)^T, shape (d + 1, d + 1)
    rest: np.ndarray | float = 0.0  #: what rounding took from m, of which R and a sum need to know

    def __add__(self, other):
        """Return the statistics of the rows of both (scaling-out-merge)."""
        if len(self.mean) != len(other.mean):
            raise ValueError(
                f"both statistics must be over the same features, got {len(self.mean) - 1} and "
                f"{len(other.mean) - 1}: add up chunks with the same columns."
            )
        if not (self.n and other.n):
            return self if self.n else other
        share = other.n / (self.n + other.n)
        gap = (other.mean - self.mean) + (other.rest - self.rest)
        row = np.sqrt(self.n * share) * gap
        R = _triangle(np.vstack([self.R, other.R, row]))
        mean = self.mean + share * gap
        rest = ((self.mean - mean) + share * gap) + self.rest
        return RegressionStatistics(self.n + other.n, mean, R, rest)


# Functions -----------------------------------------------------------------------------------


def _check_sample(X, y):
    X = check_array(X)
    return X, check_size(check_vector(y, "y", length=len(X)), "y")


def simple_fit(x, y):
    """Return the line that minimises sum_i (y_i - w x_i - b)^2; a ``Line``.

    w = Cov(x, y) / Var(x) and b = mean(y) - w mean(x), of x and y of shape (n,).

    Book: least-squares-simple-regression.

    Examples
    --------
    >>> simple_fit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
    Line(w=2.0, b=1.0)
    """
    x = check_size(check_vector(x, "x"), "x")
    y = check_size(check_vector(y, "y", length=len(x)), "y")
    if len(x) == 0 or x.min() == x.max():
        raise ValueError("x must hold at least two different values: observe another input.")
    dx, dy = x - x.mean(), y - y.mean()
    w = (dx @ dy) / (dx @ dx)  # (eq-least-squares-slope)
    return Line(float(w), float(y.mean() - w * x.mean()))


def normal_equations(X, y):
    """Return the w that solves X^T X w = X^T y, by a Cholesky factor of X^T X.

    X of shape (n, d) must have full column rank; use ``add_intercept`` for an offset.

    Book: least-squares-normal-equations.

    Examples
    --------
    >>> normal_equations([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 3.0, 5.0]).round(6)
    array([1., 2.])
    """
    X, y = _check_sample(X, y)
    factor, norms, rcond = _gram_factor(X)
    if rcond < len(norms) * _EPS:
        raise ValueError(
            "X must have linearly independent columns: drop the redundant ones, or use "
            "least_squares, which returns the shortest of all solutions."
        )
    return cho_solve(factor, X.T @ y / norms) / norms  # (eq-least-squares-normal)


def _gram_factor(Z):
    """Return a Cholesky factor of the Gram matrix of Z's columns divided by their lengths, these.

    Third comes an estimate of 1 / kappa of that matrix, which is 0 where there is no factor.
    """
    norms = np.sqrt(np.einsum("ij,ij->j", Z, Z))
    norms[norms == 0] = 1.0  # such a column is found by the factorisation
    gram = (Z.T @ Z) / np.outer(norms, norms)
    try:
        factor = cho_factor(gram, lower=True, check_finite=False)
    except LinAlgError:
        return None, norms, 0.0
    rcond, _ = dpocon(factor[0], np.linalg.norm(gram, 1), uplo="L")
    return factor, norms, float(rcond)


def pinv(X, *, rtol=None):
    """Return the pseudo-inverse X^+ = V diag(1/s_j) U^T, with the s_j > 0 only, shape (d, n).

    X^+ y is the shortest of the w that minimise ||y - X w||; with full column rank
    X^+ = (X^T X)^{-1} X^T. Singular values at most rtol times the largest count as 0; by default
    rtol is max(n, d) times the rounding unit 2.2e-16.

    Book: least-squares-pseudo-inverse. Penrose (1955).

    Examples
    --------
    >>> pinv([[2.0, 0.0], [0.0, 0.0]])
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    U, s, Vt = _svd_of_rank(check_array(X), rtol)
    return (Vt.T / s) @ U.T


def _svd_of_rank(X, rtol=None):
    """Return U, s and V^T of the singular values that are not 0 up to rounding."""
    U, s, Vt = svd(X, full_matrices=False, check_finite=False)
    rtol = max(X.shape) * _EPS if rtol is None else check_scalar(rtol, "rtol", low=0)
    keep = s > rtol * s[0]
    return U[:, keep], s[keep], Vt[keep]


def least_squares(X, y, *, intercept=False):
    """Return the shortest w that minimises ||y - X w||^2, or ||y - X w - b||^2 with an offset.

    The offset of ``intercept`` is free: centre the columns and y, solve for w, and put
    b = mean(y) - w^T mean(x). X of shape (n, d) may have any rank, and n may be smaller than d; a
    constant column gets weight 0 beside an offset. The answer is a ``LeastSquaresFit``.

    Book: least-squares-svd-least-squares, least-squares-minimum-norm.

    Examples
    --------
    >>> fit = least_squares([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [1.0, 3.0, 5.0], intercept=True)
    >>> fit.w.round(6), round(fit.b, 6), fit.rank
    (array([1., 1.]), 1.0, 1)
    """
    X, y = _check_sample(X, y)
    Z, x_mean = _well_centred(X) if intercept else (X, np.zeros(X.shape[1]))
    y_mean = y.mean() if intercept else 0.0
    U, s, Vt = _svd_of_rank(Z)
    v = y - y_mean
    w = Vt.T @ ((U.T @ v) / s)  # (eq-least-squares-svd)
    if len(s) < Z.shape[1]:
        w, s = _without_units(Z, v, w, s)
    r = v - Z @ w
    condition = s[0] / s[-1] if s.size else 1.0
    return LeastSquaresFit(w, float(y_mean - w @ x_mean), r, float(r @ r), len(s), float(condition))


def _well_centred(X):
    """Return centred columns and means, once more: what rounding leaves of a mean counts as rank.

    It is common to all rows, so that n rows far from 0 would have rank n instead of n - 1.
    """
    Z, mean = centred_columns(X)
    shift = Z.mean(axis=0)
    return Z - shift, mean + shift


def _without_units(Z, y, w, s):
    """Return solution and singular values with columns of length about 1 if that saves the rank.

    Columns of very different length make singular values look like rounded zeros. If all are above
    rounding once the units are gone, the minimiser is unique, and no unit matters for it. Otherwise
    w and s are returned as they are.
    """
    n, d = Z.shape
    norms = np.linalg.norm(Z, axis=0)
    if n < d or not norms.all():
        return w, s
    units = np.exp2(np.round(np.log2(norms)))  # powers of two, which cost no digit
    v, _, rank, values = lstsq(Z / units, y, cond=n * _EPS, check_finite=False)
    return (v / units, values) if rank == d else (w, s)


def _shortest(Z, y, rtol):
    """Return the shortest solution and the singular values that are not 0 up to rounding."""
    w, _, rank, s = lstsq(Z, y, cond=rtol, check_finite=False)
    return (w, s) if rank == Z.shape[1] else _without_units(Z, y, w, s[:rank])


def _least_squares_by_gram(Z, y):
    """Return the shortest solution and the rank, by the Gram matrix where that loses no accuracy.

    The Gram matrix of the columns, scaled to length 1, is factorised, and one step of refinement
    w <- w + (Z^T Z)^{-1} Z^T (y - Z w) removes the error of order kappa^2 of the factorisation.
    That is safe up to kappa^2 = 1e8. Beyond, and wherever the rank might be below d, the
    singular value decomposition takes over.
    """
    n, d = Z.shape
    factor, norms, rcond = _gram_factor(Z) if n >= d else (None, None, 0.0)
    if rcond > 1e-8:
        w = cho_solve(factor, Z.T @ y / norms, check_finite=False) / norms
        w += cho_solve(factor, Z.T @ (y - Z @ w) / norms, check_finite=False) / norms
        return w, d
    w, s = _shortest(Z, y, max(n, d) * _EPS)
    return w, len(s)


def regression_statistics(X, y, *, intercept=True, weights=None):
    """Return n, the means and the triangular factor R of the rows (x_i, y_i), centred at the means.

    R holds the products R^T R = sum_i (z_i - m)(z_i - m)^T without the loss of digits that
    forming them would cost. Statistics of disjoint sets of rows add with ``+``.

    Book: scaling-out-merge. Demmel, Grigori, Hoemmen and Langou (2012).

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
    intercept : bool
        Whether the model has an offset; without one the rows are taken as they are, with m = 0.
    weights : array of shape (n,), optional; how often each row counts

    Examples
    --------
    >>> parts = [regression_statistics([[x]], [2 * x + 1]) for x in (0.0, 1.0, 5.0)]
    >>> fit = solve_statistics(parts[0] + parts[1] + parts[2])
    >>> fit.w.round(6), round(fit.b, 6)
    (array([2.]), 1.0)
    """
    X, y = _check_sample(X, y)
    Z, n, s = np.column_stack([X, y]), len(X), None
    mean = rest = np.zeros(Z.shape[1])
    if weights is not None:
        s = check_sample_weight(weights, len(X), "weights", chunk=True)
        n = float(s.sum())
        Z, s = (Z[s > 0], s[s > 0]) if n else (0 * Z, None)
    if intercept and n:
        Z, high = centred_columns(Z)
        low = Z.mean(axis=0) if s is None else s @ Z / s.sum()
        Z, mean = Z - low, high + low
        rest = (high - mean) + low
    return RegressionStatistics(
        n, mean, _triangle(Z if s is None else np.sqrt(s)[:, None] * Z), rest
    )


def _triangle(Z):
    """Return R, square and upper triangular with a diagonal >= 0, with R^T R = Z^T Z."""
    size = Z.shape[1]
    R = np.linalg.qr(Z, mode="r")
    R = np.where(np.diag(R) < 0, -1.0, 1.0)[:, None] * R
    return R if len(R) == size else np.vstack([R, np.zeros((size - len(R), size))])


def solve_statistics(statistics, lam=0.0):
    """Minimise sum_i (y_i - w^T x_i - b)^2 + lam ||w||^2 from the statistics of the rows alone.

    With R = (A r; 0 rho) the sum is ||r - A w||^2 + rho^2 at the best b = mean y - w^T mean x.

    For lam = 0 it is the shortest minimiser. Of the ``LeastSquaresFit`` the ``residuals`` are those
    of the d or 2 d rows that were solved with; ``rss`` is over all data, without the penalty.
    """
    check_scalar(lam, "lam", low=0)
    if not statistics.n > 0:
        raise ValueError("statistics must be of rows whose sample_weight is not all zero.")
    d = len(statistics.mean) - 1
    A, r, rho = statistics.R[:d, :d], statistics.R[:d, d], statistics.R[d, d]
    B, t = A, r
    if lam > 0:
        B, t = np.vstack([A, np.sqrt(lam) * np.eye(d)]), np.append(r, np.zeros(d))
    w, s = _shortest(B, t, max(statistics.n, d) * _EPS)
    b = float(statistics.mean[d] - w @ statistics.mean[:d])
    condition = float(s[0] / s[-1]) if s.size else 1.0
    rss = float(np.sum((r - A @ w) ** 2) + rho**2)
    return LeastSquaresFit(w, b, t - B @ w, rss, len(s), condition)


def regression_chunk(chunk, intercept=True):
    """Return ``regression_statistics`` of a chunk (X, y) or (X, y, sample_weight), after checks."""
    X, y, s = chunk_parts(chunk, ("X", "y", "sample_weight"), 2)
    X = check_array(X)
    y = check_targets(y, "the regression")
    check_target_length(X, y)
    s = check_sample_weight(s, len(X), chunk=True)
    return regression_statistics(X, y, intercept=bool(intercept), weights=s)


def projection(X):
    """Return the hat matrix H = U U^T: H y is the point of the column space nearest to y.

    With full column rank H = X (X^T X)^{-1} X^T. H is symmetric, H H = H, and trace H = rank X.

    Book: least-squares-projection.

    Examples
    --------
    >>> projection([[1.0], [1.0]])
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    U, _, _ = _svd_of_rank(check_array(X))
    return U @ U.T


def leverages(X):
    """Return h_i = H_ii, the weight of y_i in its own prediction; they add up to rank X.

    Book: least-squares-projection.

    Examples
    --------
    >>> leverages([[1.0, 0.0], [1.0, 0.0], [1.0, 3.0]]).round(6)
    array([0.5, 0.5, 1. ])
    """
    U, _, _ = _svd_of_rank(check_array(X))
    return np.einsum("ij,ij->i", U, U)


def covariance(X, sigma2=1.0):
    """Return Cov(w) = sigma^2 (X^T X)^{-1} for the least-squares weights w, shape (d, d).

    X has full column rank; sigma2 is the variance of the noise, in squared units of y.

    Book: least-squares-ls-covariance.

    Examples
    --------
    >>> covariance([[2.0, 0.0], [0.0, 1.0]], 4.0)
    array([[1., 0.],
           [0., 4.]])
    """
    X = check_array(X)
    check_scalar(sigma2, "sigma2", low=0)
    _, s, Vt = _svd_of_rank(X)
    if len(s) < X.shape[1]:
        raise ValueError(
            "X must have linearly independent columns: drop the redundant ones, without that the "
            "weights are not determined and have no covariance."
        )
    return check_result(sigma2 * ((Vt.T / s**2) @ Vt), "X")  # (eq-least-squares-covariance)


def log_likelihood(X, y, w, sigma2):
    """Return l(w, sigma^2) = -(n/2) log(2 pi sigma^2) - ||y - X w||^2 / (2 sigma^2), in nats.

    Book: least-squares-ls-is-mle.

    Parameters
    ----------
    X, y, w : arrays of shape (n, d), (n,) and (d,)
    sigma2 : float; variance of the noise, positive

    Examples
    --------
    >>> round(log_likelihood([[1.0], [1.0]], [0.0, 2.0], [1.0], 1.0), 6)
    -2.837877
    """
    X, y = _check_sample(X, y)
    w = check_vector(w, "w", length=X.shape[1])
    check_scalar(sigma2, "sigma2", low=0, open_low=True)
    r = y - X @ w
    return float(-0.5 * len(y) * np.log(2 * np.pi * sigma2) - (r @ r) / (2 * sigma2))


def linear_gaussian(X, w, sigma, rng):
    """Return y = X w + epsilon with independent epsilon_i ~ N(0, sigma^2); an array of shape (n,).

    Book: least-squares-gaussian-noise-model.

    Parameters
    ----------
    X, w : arrays of shape (n, d) and (d,)
    sigma : float; standard deviation of the noise, in units of y
    rng : numpy.random.Generator

    Examples
    --------
    >>> linear_gaussian([[1.0], [2.0]], [3.0], 0.0, np.random.default_rng(0))
    array([3., 6.])
    """
    X = check_array(X)
    w = check_vector(w, "w", length=X.shape[1])
    check_scalar(sigma, "sigma", low=0)
    return X @ w + sigma * check_rng(rng).standard_normal(len(X))


def mse_and_gradient(w, X, y):
    """Return (1/n) ||y - X w||^2 and its gradient (2/n) X^T (X w - y).

    Book: least-squares-ls-gradient-descent.

    Examples
    --------
    >>> mse_and_gradient([0.0], [[1.0], [1.0]], [1.0, 3.0])
    (5.0, array([-4.]))
    """
    X, y = _check_sample(X, y)
    r = y - X @ check_vector(w, "w", length=X.shape[1])
    return float(r @ r) / len(y), -2 / len(y) * (X.T @ r)


def polynomial_features(X, degree):
    """Return all monomials of the columns of X up to a degree, the constant 1 first.

    For one input x the row is (1, x, ..., x^r); for two and r = 2 it is
    (1, x_1, x_2, x_1^2, x_1 x_2, x_2^2). X of shape (n, d) gives shape (n, binomial(d + r, r)).

    Book: least-squares-polynomial-features.

    Examples
    --------
    >>> polynomial_features([[2.0, 3.0]], 2)
    array([[1., 2., 3., 4., 6., 9.]])
    """
    X = check_array(X)
    check_scalar(degree, "degree", low=0, integer=True)
    with np.errstate(over="ignore", invalid="ignore"):
        columns = [
            X[:, list(chosen)].prod(axis=1)
            for r in range(degree + 1)
            for chosen in combinations_with_replacement(range(X.shape[1]), r)
        ]
    if not np.isfinite(columns).all():
        raise ValueError(f"X is too large for degree {degree}: divide it by a larger unit.")
    return np.column_stack(columns)


def least_absolute_deviations(X, y):
    """Return a w that minimises sum_i |y_i - w^T x_i|: maximum likelihood under Laplace noise.

    The minimum is found as a linear programme in (w, t): minimise sum_i t_i subject to
    -t_i <= y_i - w^T x_i <= t_i.

    Book: least-squares-other-noise-other-loss.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)

    Returns
    -------
    array of shape (d,) : one of the minimisers, which need not be unique

    Examples
    --------
    >>> least_absolute_deviations([[1.0], [1.0], [1.0]], [0.0, 1.0, 50.0]).round(6)
    array([1.])
    """
    from scipy.optimize import linprog

    X, y = _check_sample(X, y)
    n, d = X.shape
    unit, scale = max_abs(X) or 1.0, max_abs(y) or 1.0
    cost = np.concatenate([np.zeros(d), np.ones(n)])
    G = np.block([[X / unit, -np.eye(n)], [-X / unit, -np.eye(n)]])
    free = [(None, None)] * d + [(0, None)] * n
    run = linprog(cost, A_ub=G, b_ub=np.concatenate([y, -y]) / scale, bounds=free)
    if run.x is None:
        raise ValueError("The linear programme failed on this X and y: rescale their columns.")
    return run.x[:d] * (scale / unit)


# Estimator -----------------------------------------------------------------------------------


class LinearRegression(Regressor):
    """Least squares: minimise sum_i s_i (y_i - w^T x_i - b)^2 over w and b, weights s_i or 1.

    Where the minimiser is not unique (n <= d, collinear or constant columns), the shortest w.

    The Gram matrix of the columns, scaled to length 1, is factorised and the solution refined once,
    while that loses no digits (condition number below 1e8); else by singular values.

    Book: least-squares-normal-equations, least-squares-svd-least-squares, least-squares-refinement.

    Parameters
    ----------
    fit_intercept : bool; whether the model has an offset b

    Attributes
    ----------
    coef_ : array of shape (d,); w, in units of y per unit of each input
    intercept_ : float; b, in units of y
    rank_ : int; independent columns of the (centred) inputs
    sigma2_ : float
        Maximum-likelihood estimate of the variance of the noise: the mean squared residual.

    Examples
    --------
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([2.]), 1.0)
    """

    def __init__(self, fit_intercept=True):
        self.fit_intercept = fit_intercept

    def fit(self, X, y=None, sample_weight=None):
        """Fit w and b; weights multiply the squares: a whole one counts a row that often."""
        begin_fit(self, X)
        X = check_array(X)
        y = check_targets(y, "LinearRegression")
        check_target_length(X, y)
        s = check_sample_weight(sample_weight, len(X))
        if s is not None:
            Z, t, x_mean, y_mean = weighted_rows(X, y, s, bool(self.fit_intercept))
        elif self.fit_intercept:
            (Z, x_mean), y_mean = _well_centred(X), y.mean()
            t = y - y_mean
        else:
            Z, t, x_mean, y_mean = X, y, np.zeros(X.shape[1]), 0.0
        self.coef_, self.rank_ = _least_squares_by_gram(Z, t)
        self.intercept_ = float(y_mean - self.coef_ @ x_mean)
        n = len(X) if s is None else s.sum()
        self.sigma2_ = float(np.sum((t - Z @ self.coef_) ** 2) / n)
        check_result(np.append(self.coef_, [self.intercept_, self.sigma2_]), "X or y")
        self.n_features_in_ = X.shape[1]
        return self

    def fit_chunks(self, chunks, workers=1):
        """Fit to chunks (X, y) or (X, y, sample_weight), one after the other; return self.

        The result is that of ``fit`` on all rows together; ``chunks`` may be an iterator, and
        ``workers`` is as in ``mllib.core.chunks.reduce_chunks``.
        """
        check_parameters(self)
        task = partial(regression_chunk, intercept=self.fit_intercept)
        total = reduce_chunks(task, chunks, workers)
        fit = solve_statistics(total.value)
        self.coef_, self.intercept_, self.rank_ = fit.w, fit.b, fit.rank
        self.sigma2_ = fit.rss / total.value.n
        self.n_features_in_ = total.width
        keep_names(self, total.names)
        return self

    def predict(self, X):
        """Return w^T x + b for each row of X."""
        X = check_features(self, X)
        return X @ self.coef_ + self.intercept_

    def loglik(self, X, y):
        """Return the Gaussian log-likelihood of y given X at w, b and sigma^2, in nats."""
        check_fitted(self)
        if self.sigma2_ == 0:
            raise ValueError("The fit is perfect, so its variance is 0: fit more samples first.")
        X = check_features(self, X)
        y = check_vector(y, "y", length=len(X))
        return log_likelihood(X, y - self.intercept_, self.coef_, self.sigma2_)
