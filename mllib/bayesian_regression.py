"""Linear regression with a Gaussian prior: posterior, prediction with error bars, evidence.

Chapter: Regression, *Bayesian regression*. Main references: MacKay (1992),
Bishop (2006, chapter 3).
"""

from dataclasses import dataclass
from math import log, pi
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular, svd

from mllib.core.arrays import (
    as_array,
    check_array,
    check_sample_weight,
    check_size,
    check_square,
    check_targets,
    check_vector,
)
from mllib.core.errors import convergence_warning
from mllib.core.estimators import Regressor, begin_fit, check_features
from mllib.core.numerics import centred_columns, max_abs, weighted_rows
from mllib.core.scalars import (
    check_choice,
    check_count,
    check_instance,
    check_positive,
    check_rng,
    check_scalar,
)

__all__ = [
    "BayesianLinearRegression",
    "EvidenceGradient",
    "EvidenceRun",
    "Prediction",
    "WeightBelief",
    "evidence_gradient",
    "evidence_maximization",
    "function_covariance",
    "isotropic_posterior",
    "log_evidence",
    "offset_free",
    "posterior",
    "predict",
    "sample_predictive",
    "update",
]

_EPS = np.finfo(float).eps
_TINY = float(np.finfo(float).tiny)


# Records -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WeightBelief:
    """What is known of the weights: w has the law N(mean, covariance); the noise is known."""

    mean: np.ndarray  #: mu, which is also the MAP estimate, shape (d,)
    covariance: np.ndarray  #: Sigma, shape (d, d)
    beta: float  #: precision of the noise, 1 / sigma^2

    def update(self, X, y):
        """Return the belief after further observations: today's posterior is the prior."""
        return update(self, X, y)

    def predict(self, X):
        """Return mean and variance of a new observation at each row of X."""
        return predict(self, X)


class Prediction(NamedTuple):
    """The law N(mean, variance) of a new observation at each of m inputs."""

    mean: np.ndarray  #: mu^T x, in the unit of y, shape (m,)
    variance: np.ndarray  #: 1 / beta + x^T Sigma x, the square of that unit, shape (m,)

    @property
    def std(self):
        """The standard deviation, in the unit of y: the half-length of an error bar."""
        return np.sqrt(self.variance)


class EvidenceGradient(NamedTuple):
    """Slope of the log evidence in the two precisions."""

    alpha: float  #: (d / alpha - |mu|^2 - tr Sigma) / 2
    beta: float  #: (n / beta - |y - X mu|^2 - tr(X^T X Sigma)) / 2


class EvidenceRun(NamedTuple):
    """What happened while the evidence was maximised."""

    alpha: float  #: precision of the prior
    beta: float  #: precision of the noise
    gamma: float  #: number of weights that the data determine, between 0 and d
    log_evidence: np.ndarray  #: log p(y | alpha, beta) at the start and after each update, nats
    n_iter: int  #: updates made
    converged: bool  #: whether both precisions came to rest
    at_bound: bool  #: whether a precision was stopped because the evidence has no maximum
    path: np.ndarray  #: (alpha, beta) at the start and after each update, shape (n_iter + 1, 2)


class _Spectrum(NamedTuple):
    s2: np.ndarray  # squared singular values of X, shape (k,), k = min(n, d)
    c: np.ndarray  # u_j^T y, shape (k,)
    rest: float  # squared length of the part of y outside the span of the u_j
    n: int
    d: int


# Functions: input ----------------------------------------------------------------------------


def _factor(V, name):
    """Return the lower Cholesky factor of a covariance that is not singular up to rounding."""
    V = check_square(V, name, symmetric=True)
    message = f"{name} must be positive definite: give every direction some variance."
    try:
        L = cholesky(V, lower=True, check_finite=False)
    except np.linalg.LinAlgError as error:
        raise ValueError(message) from error
    if (np.diag(L) ** 2 <= 4 * len(V) * _EPS * np.diag(V)).any():
        raise ValueError(message)
    return L


def _sample(X, y):
    X = check_array(X)
    return X, check_size(check_vector(y, "y", length=len(X)), "y")


def _triangle(B):
    """Return Q and R with R^T R = I + B^T B and B = Q R; B is not squared, which costs digits."""
    _check_vague(max_abs(B))
    Q, R = np.linalg.qr(np.vstack([B, np.eye(B.shape[1])]))
    return Q[: len(B)], R


def _check_vague(size):
    """Refuse a prior so wide beside the noise that the square of this size would overflow."""
    if not size < 1e150:
        raise ValueError(
            "beta times the prior variance is too large for this X: lower beta, narrow the prior, "
            "or divide X by a larger unit."
        )


def _inputs(belief, X):
    check_instance(belief, "belief", WeightBelief, "as posterior returns it")
    X, d = check_array(X), len(belief.mean)
    if X.shape[1] != d:
        raise ValueError(f"X must have {d} columns, one for each weight, got {X.shape[1]}.")
    return X


# Functions: posterior ------------------------------------------------------------------------


def posterior(X, y, beta, mu_0, V_0):
    """Return p(w | y, X) for y_i = w^T x_i + noise of variance 1 / beta and w from N(mu_0, V_0).

    V_n^{-1} = V_0^{-1} + beta X^T X and V_n^{-1} mu_n = V_0^{-1} mu_0 + beta X^T y, computed
    without an inverse: with V_0 = L L^T, V_n = L (I + beta L^T X^T X L)^{-1} L^T and
    mu_n = mu_0 + beta V_n X^T (y - X mu_0).

    Book: bayesian-regression-blr-general-prior. Bishop (2006), equations (3.50) and (3.51).

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,); with a column of ones if there is an offset
    beta : float; precision of the noise, above 0
    mu_0, V_0 : arrays of shape (d,) and (d, d); mean and covariance of the prior

    Examples
    --------
    >>> belief = posterior([[1.0], [1.0]], [2.0, 4.0], 1.0, [0.0], [[1.0]])
    >>> belief.mean, belief.covariance
    (array([2.]), array([[0.33333333]]))
    """
    (X, y), beta = _sample(X, y), check_positive(beta, "beta")
    mu_0 = check_vector(mu_0, "mu_0", length=X.shape[1])
    L = _factor(check_square(V_0, "V_0", size=X.shape[1]), "V_0")
    with np.errstate(over="ignore", invalid="ignore"):
        r, B = np.sqrt(beta) * (y - X @ mu_0), np.sqrt(beta) * X @ L
    Q, R = _triangle(B)  # the bracket I + B^T B is R^T R
    half = solve_triangular(R, L.T, trans="T")  # V_n = half^T half
    return WeightBelief(mu_0 + half.T @ (Q.T @ r), half.T @ half, beta)


def isotropic_posterior(X, y, alpha, beta):
    """Return the posterior under the prior N(0, I / alpha), the Bayesian form of ridge regression.

    Sigma^{-1} = alpha I + beta X^T X and mu = beta Sigma X^T y.

    Book: bayesian-regression-blr-posterior.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
    alpha, beta : float; precisions of a weight and of the noise, above 0

    Examples
    --------
    >>> isotropic_posterior([[1.0], [1.0]], [2.0, 4.0], 1.0, 1.0).mean
    array([2.])
    """
    X, alpha = check_array(X), check_positive(alpha, "alpha")
    d = X.shape[1]
    return posterior(X, y, beta, np.zeros(d), np.eye(d) / alpha)


def update(belief, X, y):
    """Return the belief after the further observations (X, y): the old posterior is the prior.

    Book: bayesian-regression-blr-sequential.

    Examples
    --------
    >>> belief = isotropic_posterior([[1.0]], [2.0], 1.0, 1.0)
    >>> update(belief, [[1.0]], [4.0]).mean
    array([2.])
    """
    X = _inputs(belief, X)
    return posterior(X, y, belief.beta, belief.mean, belief.covariance)


# Functions: prediction -----------------------------------------------------------------------


def predict(belief, X):
    """Return the law N(mu^T x, 1 / beta + x^T Sigma x) of a new observation at each row x of X.

    Book: bayesian-regression-blr-predictive. Bishop (2006), equation (3.58).

    Examples
    --------
    >>> belief = isotropic_posterior([[1.0]], [2.0], 1.0, 1.0)
    >>> predict(belief, [[0.0], [2.0]])
    Prediction(mean=array([0., 2.]), variance=array([1., 3.]))
    """
    X = _inputs(belief, X)
    mean = np.einsum("ij,j->i", X, belief.mean)
    spread = np.einsum("ij,jk,ik->i", X, belief.covariance, X, optimize=True)
    return Prediction(mean, 1 / belief.beta + np.maximum(spread, 0))


def function_covariance(belief, X):
    """Return X Sigma X^T, the covariances of f(x) = w^T x (without noise) at the rows of X.

    Examples
    --------
    >>> belief = isotropic_posterior([[1.0, 0.0]], [2.0], 1.0, 1.0)
    >>> function_covariance(belief, [[1.0, 2.0], [1.0, 3.0]])
    array([[4.5, 6.5],
           [6.5, 9.5]])
    """
    X = _inputs(belief, X)
    return X @ belief.covariance @ X.T


def sample_predictive(belief, X, S, rng, *, noise=True):
    """Return S joint draws of new observations: w_s from the posterior, then X w_s plus noise.

    Book: bayesian-regression-predictive-by-sampling.

    Parameters
    ----------
    belief : WeightBelief
    X : array of shape (m, d)
    S : int; number of draws; each, for one draw of the weights, is a row of the result, (S, m)
    rng : numpy.random.Generator
    noise : bool; without the noise of an observation the draws are of f(x) = w^T x

    Examples
    --------
    >>> belief = isotropic_posterior([[1.0]], [2.0], 1.0, 1.0)
    >>> sample_predictive(belief, [[0.0], [2.0]], 5, np.random.default_rng(0)).shape
    (5, 2)
    """
    X = _inputs(belief, X)
    check_count(S, "S")
    check_rng(rng)
    L = _factor(belief.covariance, "belief.covariance")
    W = belief.mean + rng.standard_normal((S, len(L))) @ L.T
    draws = W @ X.T
    return draws + rng.standard_normal(draws.shape) / np.sqrt(belief.beta) if noise else draws


# Functions: evidence -------------------------------------------------------------------------


def log_evidence(X, y, alpha, beta):
    """Return log p(y | X, alpha, beta), the probability of the data with the weights averaged out.

    It is (d log alpha + n log(beta / 2 pi) - beta |y - X mu|^2 - alpha |mu|^2 - log |A|) / 2 nats
    with A = alpha I + beta X^T X and A mu = beta X^T y.

    Book: bayesian-regression-evidence. MacKay (1992), Neural Computation 4, 415-447.

    Parameters
    ----------
    X, y, alpha, beta : as for ``isotropic_posterior``

    Examples
    --------
    >>> round(log_evidence([[1.0]], [2.0], 1.0, 1.0), 4)  # log N(2; 0, 1 + 1)
    -2.2655
    """
    (X, y), alpha, beta = (
        _sample(X, y),
        check_positive(alpha, "alpha"),
        check_positive(beta, "beta"),
    )
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = np.sqrt(beta) / np.sqrt(alpha)
        Q, R = _triangle(scale * X)  # A / alpha = R^T R
        mu = solve_triangular(R, Q.T @ (scale * y))
        r = y - X @ mu
        fit = len(r) * np.log(beta / (2 * np.pi)) - beta * (r @ r) - alpha * (mu @ mu)
        value = float(0.5 * fit - np.log(np.abs(np.diag(R))).sum())
    if not np.isfinite(value):
        raise ValueError("X, y or beta is too large, the evidence overflows: divide by a unit.")
    return value  # (eq-bayesian-regression-evidence)


def evidence_gradient(X, y, alpha, beta):
    """Return the derivatives of ``log_evidence`` with respect to alpha and beta.

    Book: bayesian-regression-evidence-gradient.

    Parameters
    ----------
    X, y, alpha, beta : as for ``isotropic_posterior``

    Examples
    --------
    >>> slope = evidence_gradient([[1.0]], [2.0], 1.0, 1.0)
    >>> round(slope.alpha, 4), round(slope.beta, 4)
    (-0.25, -0.25)
    """
    belief = isotropic_posterior(X, y, alpha, beta)
    (X, y), mu, Sigma = _sample(X, y), belief.mean, belief.covariance
    r = y - X @ mu
    trace = np.einsum("ij,jk,ik->", X, Sigma, X, optimize=True)
    return EvidenceGradient(
        float(len(mu) / alpha - mu @ mu - np.trace(Sigma)) / 2,
        float(len(r) / beta - r @ r - trace) / 2,
    )


def _decompose(X, y):
    """Return what the evidence needs of a sample, whatever the precisions are, and V."""
    n, d = X.shape
    if n > d:  # the triangle of (X, y) has all its inner products, and none is squared
        A, size = np.column_stack([X, y]), 8 * (d + 1)
        whole = n - n % size  # first blocks of rows that fit the cache: half the time
        blocks = np.linalg.qr(A[:whole].reshape(-1, size, d + 1), mode="r")
        R = np.linalg.qr(np.vstack([*blocks, A[whole:]]), mode="r")
        X, y = R[:, :d], R[:, d]
    U, s, Vt = svd(X, full_matrices=False, check_finite=False)
    c = U.T @ y
    outside = y - U @ c
    return _Spectrum(s**2, c, float(outside @ outside), n, d), Vt.T


def _posterior_of(data, V, alpha, beta):
    """Return mean and covariance as ``isotropic_posterior``, without another factorisation."""
    with np.errstate(over="ignore"):
        _check_vague(np.sqrt(beta / alpha) * np.sqrt(max_abs(data.s2)))
    t = alpha + beta * data.s2
    mean = V @ (beta * np.sqrt(data.s2) * data.c / t)
    if len(t) == data.d:
        half = V / np.sqrt(t)
        return mean, half @ half.T
    if beta * max_abs(data.s2) > 1e6 * alpha:  # the difference below would lose what is left
        rest = np.eye(data.d) - V @ V.T
        half = V / np.sqrt(t)
        return mean, rest @ rest.T / alpha + half @ half.T
    half = V * np.sqrt(beta * data.s2 / t)  # outside the span of the rows the prior stays
    return mean, (np.eye(data.d) - half @ half.T) / alpha


class _Moments(NamedTuple):
    """|mu|^2, |y - X mu|^2, gamma, n - gamma without a loss of digits, and the log evidence."""

    length: float
    rss: float
    gamma: float
    left: float
    evidence: float


def _moments(data, alpha, beta):
    """Return what the updates and the evidence need, in O(k) operations."""
    q = beta * data.s2
    t = alpha + q
    prior, share = alpha / t, q / t  # what is left to the prior in each direction, and the rest
    r, v, gamma = prior * data.c, beta / t * data.c, float(np.add.reduce(share))
    length, rss = float(data.s2 * v @ v), float(r @ r) + data.rest
    left = data.n - len(data.c) + float(np.add.reduce(prior))
    fit = data.n * log(beta / (2 * pi)) - beta * rss - alpha * length
    evidence = 0.5 * (fit - float(np.add.reduce(np.log1p(q / alpha))))
    return _Moments(length, rss, gamma, left, evidence)


def _new_precisions(method, data, alpha, beta, moments=None):
    """Return the precisions after one update (eq-bayesian-regression-fixed-point, or EM)."""
    now = moments or _moments(data, alpha, beta)
    if method == "em":
        trace = (data.d - now.gamma) / alpha  # tr Sigma
        return data.d / (now.length + trace), data.n / (now.rss + now.gamma / beta)
    return now.gamma / max(now.length, _TINY), now.left / max(now.rss, _TINY)


def evidence_maximization(
    X, y, *, alpha=None, beta=None, method="fixed-point", tol=1e-8, max_iter=1000
):
    """Maximise log p(y | X, alpha, beta) over the precisions; each update costs O(min(n, d)).

    Fixed point: alpha <- gamma / |mu|^2 and 1 / beta <- |y - X mu|^2 / (n - gamma), where gamma
    = sum_j beta s_j^2 / (alpha + beta s_j^2). EM: alpha <- d / (|mu|^2 + tr Sigma) and
    1 / beta <- (|y - X mu|^2 + tr(X^T X Sigma)) / n; slower, but the evidence never falls.

    The evidence has no maximum if the targets are orthogonal to the inputs (alpha grows) or if
    they, more than X has rank, lie on a plane (beta grows). The prior variance of a score is then
    kept above 1e-12 of the noise, the noise variance above 1e-12 of the mean square of y, and
    ``at_bound`` is true. If all of X or of y is zero, no precision is better
    than another: it is refused.

    Book: bayesian-regression-blr-hyperparameters. MacKay (1992), Neural Computation 4, 415-447.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
    alpha, beta : float, optional; a precision that is given is kept, one that is None is chosen
    method : {"fixed-point", "em"}
    tol : float; stop when no precision changes by more than this fraction
    max_iter : see ``mllib.core``

    Examples
    --------
    >>> run = evidence_maximization([[1.0], [2.0], [3.0]], [1.1, 1.9, 3.2])
    >>> round(1 / run.alpha, 2), round(1 / run.beta, 3), run.converged
    (1.07, 0.021, True)
    """
    return _maximise(_decompose(*_sample(X, y))[0], (alpha, beta), method, tol, max_iter)


def _maximise(data, given, method, tol, max_iter):
    check_choice(method, "method", ("fixed-point", "em"))
    check_scalar(tol, "tol", low=0)
    check_count(max_iter, "max_iter")
    pairs = zip(given, ("alpha", "beta"))
    given = [p if p is None else float(check_positive(p, name)) for p, name in pairs]
    top, square = float(max_abs(data.s2)), (float(data.c @ data.c) + data.rest) / data.n
    if top == 0 or square == 0:
        raise ValueError(
            f"{'y' if top else 'X'} is zero everywhere (or constant, with a free offset), so the "
            f"evidence prefers no precision: pass alpha and beta."
        )
    highest, lowest = 1e12 / square, 1e-12 * top / (data.n * square)
    beta = given[1] or 2 / square
    alpha = given[0] or float(data.s2.sum()) / data.n / square
    if not (1e-250 < alpha < 1e250 and 1e-250 < beta < 1e250):
        raise ValueError("X or y is too large or too small for precisions: divide by a unit.")
    moments = _moments(data, alpha, beta)
    path, trace, converged, bound = [(alpha, beta)], [moments.evidence], False, False
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        a, b = _new_precisions(method, data, alpha, beta, moments)
        if not (given[1] or b > 0):
            raise ValueError(
                "X must have more rows, each counted as often as sample_weight says, than rank for "
                "method='fixed-point': take method='em', or pass beta."
            )
        b = given[1] or min(b, highest)
        a = given[0] or min(max(a, lowest), 1e12 * b * top)
        change = max(abs(a / alpha - 1), abs(b / beta - 1))
        alpha, beta = float(a), float(b)
        bound = (given[1] is None and b == highest) or (given[0] is None and a >= 1e12 * b * top)
        moments = _moments(data, alpha, beta)
        path.append((alpha, beta))
        trace.append(moments.evidence)
        if change <= tol:
            converged = True
            break
    else:
        convergence_warning(
            f"The precisions still change by a fraction of {change:.1e} in the last of {max_iter} "
            f"updates, tol is {tol:.1e}: raise max_iter or tol."
        )
    trace, path = np.array(trace), np.array(path)
    return EvidenceRun(alpha, beta, moments.gamma, trace, n_iter, converged, bool(bound), path)


# Functions: a free offset --------------------------------------------------------------------


def offset_free(A):
    """Return n - 1 rows that keep all of A but its mean: an orthonormal set of contrasts.

    A reflection that takes (1, ..., 1) to a multiple of the first axis is applied, and the first
    row, sqrt(n) times the mean, is dropped. Independent noise stays independent, inner products
    of centred columns stay as they are, and an offset common to all n >= 2 rows disappears.

    Book: bayesian-regression-free-offset.

    Examples
    --------
    >>> offset_free([1.0, 3.0])
    array([-1.41421356])
    """
    A = as_array(A, "A")
    one = A.ndim == 1
    A = check_array(A.reshape(-1, 1) if one else A, "A", min_samples=2)
    n = len(A)
    A = A - np.where((A[0] == A).all(axis=0), A[0], A.mean(axis=0))
    rows = A[1:] - A[0] / (1 - np.sqrt(n))
    return rows[:, 0] if one else rows


# Estimator -----------------------------------------------------------------------------------


class BayesianLinearRegression(Regressor):
    """y = b + w^T x + noise: w from N(0, I / alpha), noise of variance 1 / beta, b flat.

    A whole ``sample_weight`` counts a row that often, as if it had been measured that often.

    Book: bayesian-regression-blr-posterior, bayesian-regression-free-offset.

    Parameters
    ----------
    alpha, beta : float, optional
        Precisions of a weight and of the noise; None chooses by maximising the evidence.
        Standardise inputs that have different units, since all weights share alpha.
    fit_intercept : bool; whether there is an offset b, all values equally likely beforehand
    method, tol, max_iter : as in ``evidence_maximization``

    Attributes
    ----------
    coef_ : array of shape (d,); posterior mean of the weights: ridge with lam = alpha_ / beta_
    covariance_ : array of shape (d, d); posterior covariance of the weights
    intercept_, alpha_, beta_ : float
    log_evidence_ : float; log p(y | X) in nats there; with an offset, of the n - 1 contrasts
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> model = BayesianLinearRegression(alpha=1.0, beta=2.0).fit([[-1.0], [1.0]], [3.0, 5.0])
    >>> mean, std = model.predict([[0.0], [2.0]], return_std=True)
    >>> mean, (std**2).round(3)
    (array([4. , 5.6]), array([0.75, 1.55]))
    """

    def __init__(
        self,
        alpha=None,
        beta=None,
        fit_intercept=True,
        method="fixed-point",
        tol=1e-8,
        max_iter=1000,
    ):
        self.alpha = alpha
        self.beta = beta
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        """Fit to X of shape (n, d), y of shape (n,) and weights of shape (n,), if any."""
        begin_fit(self, X)
        X = check_array(X, min_samples=2 if self.fit_intercept else 1)
        y = check_vector(check_targets(y, type(self).__name__), "y", length=len(X))
        s = check_sample_weight(sample_weight, len(X))
        self._n, offset = len(X) if s is None else s.sum(), bool(self.fit_intercept)
        if self._n <= offset:
            raise ValueError(
                f"sample_weight must add up to more than 1 beside an offset, which takes one "
                f"row, got {self._n:.3g}: a weight says how often a row was measured."
            )
        if s is not None:
            Z, t, centre, level = weighted_rows(X, y, s, offset)
        elif offset:
            (Z, centre), (t, level) = centred_columns(X), centred_columns(y[:, None])
            Z, t, level = offset_free(Z), offset_free(t)[:, 0], level[0]
        else:
            Z, t, centre, level = X, y, np.zeros(X.shape[1]), 0.0
        data, V = _decompose(Z, t)
        data = data._replace(n=self._n - offset)
        if self.alpha is None or self.beta is None:
            given = (self.alpha, self.beta)
            run = _maximise(data, given, self.method, self.tol, self.max_iter)
            self.alpha_, self.beta_ = run.alpha, run.beta
            self.n_iter_, self.converged_ = run.n_iter, run.converged
        else:
            self.alpha_, self.beta_ = (
                check_positive(self.alpha, "alpha"),
                check_positive(self.beta, "beta"),
            )
            self.n_iter_, self.converged_ = 1, True
        self.coef_, self.covariance_ = _posterior_of(data, V, self.alpha_, self.beta_)
        self.log_evidence_ = _moments(data, self.alpha_, self.beta_).evidence
        self.x_mean_, self.intercept_ = centre, float(level - centre @ self.coef_)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X, return_std=False):
        """Return the mean of a new observation at each row, and its standard deviation if asked."""
        X = check_features(self, X)
        belief = WeightBelief(self.coef_, self.covariance_, self.beta_)
        mean = self.intercept_ + np.einsum("ij,j->i", X, self.coef_)
        if not return_std:
            return mean
        offset = 1 / (self._n * self.beta_) if self.fit_intercept else 0.0
        return mean, np.sqrt(predict(belief, X - self.x_mean_).variance + offset)
