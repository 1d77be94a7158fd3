"""Logistic regression: class probabilities from linear scores, fitted by maximum likelihood.

Chapter: Classification, *Logistic regression*. Main references: Cox (1958), Albert and Anderson
(1984), Hastie, Tibshirani and Friedman (2009, section 4.4).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from mllib.core.arrays import (
    check_array,
    check_result,
    check_sample_weight,
    check_vector,
    check_weighted_X_y,
)
from mllib.core.compiled import compiled
from mllib.core.errors import convergence_warning
from mllib.core.estimators import Classifier, begin_fit, check_features
from mllib.core.numerics import column_scale, log_normalise, log_sum_exp, max_abs
from mllib.core.scalars import check_choice, check_rng, check_scalar

__all__ = [
    "ROC",
    "GradientRun",
    "IRLSRun",
    "L1Run",
    "LogisticRegression",
    "OneVsOne",
    "OneVsRest",
    "Reliability",
    "Separation",
    "SoftmaxRun",
    "cross_entropy",
    "fit_gd",
    "fit_irls",
    "fit_l1",
    "fit_sgd",
    "fit_softmax",
    "gradient",
    "hessian",
    "kkt_residuals",
    "logit",
    "reliability",
    "roc_area",
    "roc_curve",
    "separation",
    "sigmoid",
    "softmax",
    "softmax_gradient",
    "softmax_hessian",
    "softmax_loss",
    "working_response",
]


# Records -------------------------------------------------------------------------------------


class Separation(NamedTuple):
    """Whether a maximum-likelihood fit exists, and the direction that says no."""

    kind: str  #: "overlap" (it exists), "quasi-complete" or "complete" (it does not)
    direction: np.ndarray  #: v with z_i^T v >= 0 for all i, shape (d,); 0 if the data overlap
    separated: np.ndarray  #: which examples some such v has z_i^T v > 0 for, shape (n,)


class IRLSRun(NamedTuple):
    """What happened in a run of Newton's method."""

    w: np.ndarray  #: last weights, shape (d,)
    path: np.ndarray  #: weights before each step and after the last, shape (n_iter + 1, d)
    trace: np.ndarray  #: the objective likewise, shape (n_iter + 1,)
    steps: np.ndarray  #: length t of each step in units of the Newton step, shape (n_iter,)
    gap: float  #: -g^T s / 2 for the next Newton step s: the excess over the minimum, to 2nd order
    n_iter: int  #: steps made
    converged: bool  #: whether the gap is at most tol times the objective, and the scores rest


class GradientRun(NamedTuple):
    """What happened in a run of gradient steps."""

    w: np.ndarray  #: last weights, shape (d,)
    gradient_norm: float  #: length of the gradient there
    n_iter: int  #: steps made
    converged: bool  #: whether the gradient is at most tol long


class L1Run(NamedTuple):
    """What happened in a run that minimises E + sum_j lam_j |w_j|."""

    w: np.ndarray  #: last weights, shape (d,)
    trace: np.ndarray  #: the objective before each step and after the last, shape (n_iter + 1,)
    residual: float  #: largest optimality residual, in units of the largest penalty
    n_iter: int  #: steps made
    converged: bool  #: whether the residual is at most tol, up to rounding


class SoftmaxRun(NamedTuple):
    """What happened in a run of Newton's method for K classes."""

    W: np.ndarray  #: last weights, one column for each class, shape (d, K)
    trace: np.ndarray  #: the objective before each step and after the last, shape (n_iter + 1,)
    gap: float  #: the excess over the minimum, to second order
    n_iter: int  #: steps made
    converged: bool  #: whether the gap is at most tol times the objective, and the scores rest


class Reliability(NamedTuple):
    """Predicted probabilities against what happened, bin by bin; empty bins are left out."""

    predicted: np.ndarray  #: mean predicted probability in each bin
    observed: np.ndarray  #: share of the positive class in each bin
    count: np.ndarray  #: examples in each bin


class ROC(NamedTuple):
    """Every trade-off between the two kinds of error that one score allows."""

    false_positives: np.ndarray  #: share of the negatives with score >= t, from 0 to 1
    true_positives: np.ndarray  #: share of the positives with score >= t, from 0 to 1
    thresholds: np.ndarray  #: t, falling; the first is inf


# Functions: checks ---------------------------------------------------------------------------


def _binary_labels(y, n):
    y = check_vector(y, "y", length=n)
    if not ((y == 0) | (y == 1)).all():
        raise ValueError("y must hold only 0 and 1: turn labels -1 and +1 into (y + 1)/2.")
    return y


def _sample(X, y, weights=None):
    """Return X, labels 0 and 1, and one weight for each example, or say what is wrong with them."""
    X = check_array(X)
    s = check_sample_weight(weights, len(X), "weights", ones=True)
    return X, _binary_labels(y, len(X)), s


def _softmax_sample(X, Y, weights):
    X = check_array(X)
    Y = check_array(Y, "Y")
    if len(Y) != len(X) or not ((Y == 0) | (Y == 1)).all() or not (Y.sum(axis=1) == 1).all():
        raise ValueError("Y must have one row for each example, with one 1 and else 0: one_hot(y).")
    return X, Y, check_sample_weight(weights, len(X), "weights", ones=True)


def _penalties(lam, d):
    """Return the penalty of each weight, from one number for all or from a list."""
    lam = np.full(d, lam, dtype=float) if np.ndim(lam) == 0 else check_vector(lam, "lam", length=d)
    if not (np.isfinite(lam).all() and (lam >= 0).all()):
        raise ValueError("lam must be at least 0 and finite, for each weight.")
    return lam


def _start(w0, d):
    return np.zeros(d) if w0 is None else check_vector(w0, "w0", length=d)


def _check_run(tol, max_iter):
    check_scalar(tol, "tol", low=0)
    check_scalar(max_iter, "max_iter", low=1, integer=True)


# Functions: the model ------------------------------------------------------------------------


def sigmoid(z):
    """Return sigma(z) = 1 / (1 + e^{-z}), which never overflows; NaN stays NaN.

    Examples
    --------
    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    return expit(z)


def logit(p):
    """Return log(p / (1 - p)), the log-odds of a probability; -inf at 0 and inf at 1.

    Examples
    --------
    >>> logit(np.array([0.0, 0.5, 0.75]))
    array([      -inf, 0.        , 1.09861229])
    """
    p = np.asarray(p, dtype=float)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p must hold probabilities between 0 and 1.")
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-p)


def cross_entropy(w, X, y, weights=None):
    """Return E(w) = sum_i s_i log(1 + exp(-(2 y_i - 1) w^T x_i)), minus the log-likelihood in nats.

    Book: logistic-regression-cross-entropy, logistic-regression-logistic-loss-pm1.

    Parameters
    ----------
    w : array of shape (d,)
    X : array of shape (n, d); use ``add_intercept`` for an offset
    y : array of shape (n,); labels 0 and 1
    weights : array of shape (n,), optional; s_i: example i counts as if it stood there s_i times

    Examples
    --------
    >>> round(cross_entropy([0.0], [[1.0], [2.0]], [0, 1]), 4)
    1.3863
    """
    X, y, s = _sample(X, y, weights)
    w = check_vector(w, "w", length=X.shape[1])
    return float(s @ np.logaddexp(0, (1 - 2 * y) * (X @ w)))


def gradient(w, X, y, weights=None):
    """Return grad E(w) = X^T (p - y), shape (d,), with p = sigma(X w), each example times s_i.

    Parameters
    ----------
    w, X, y, weights : as ``cross_entropy``
    """
    X, y, s = _sample(X, y, weights)
    p = sigmoid(X @ check_vector(w, "w", length=X.shape[1]))
    return X.T @ (s * (p - y))  # (eq-logistic-regression-gradient)


def hessian(w, X, weights=None):
    """Return the Hessian X^T V X of E, shape (d, d): V is diagonal with s_i p_i (1 - p_i).

    It does not depend on the labels.
    """
    X = check_array(X)
    s = check_sample_weight(weights, len(X), "weights", ones=True)
    p = sigmoid(X @ check_vector(w, "w", length=X.shape[1]))
    return X.T @ ((s * p * (1 - p))[:, None] * X)  # (eq-logistic-regression-hessian)


def separation(X, y):
    """Return a ``Separation``: whether E has a minimiser, and the direction that says no.

    With z_i = (2 y_i - 1) x_i: E has a minimiser exactly if no v has all z_i^T v >= 0 and one of
    them above 0. The linear programme that decides does not see gaps or overlaps below about 1e-9
    of a feature's largest entry. X and y are as in ``cross_entropy``.

    Book: logistic-regression-existence. Albert and Anderson (1984), Biometrika 71, 1-10.

    Examples
    --------
    >>> X = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]
    >>> separation(X, [0, 1, 0]).kind, separation(X, [0, 1, 1]).kind
    ('overlap', 'complete')
    """
    X, y, _ = _sample(X, y)
    v, separated = _separate((2 * y - 1)[:, None] * X)
    kind = "complete" if separated.all() else "quasi-complete" if separated.any() else "overlap"
    return Separation(kind, v if separated.any() else np.zeros(X.shape[1]), separated)


def _separate(Z):
    """Return v with Z v >= 0 and as many of its entries above 0 as there can be, and which.

    The linear programme maximises sum_i u_i subject to z_i^T v >= u_i and 0 <= u_i <= 1. Since v
    may be as long as it likes, each u_i is 0 or 1 at its solution.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_array, csr_array, eye_array

    (n, d), size = Z.shape, column_scale(Z)
    answer = linprog(
        np.r_[np.zeros(d), -np.ones(n)],
        A_ub=block_array([[csr_array(-Z / size), eye_array(n)]]),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * d + [(0, 1)] * n,
    )
    if answer.status != 0:
        raise ValueError(f"X and y could not be decided by the linear programme: {answer.message}")
    return answer.x[:d] / size, answer.x[d:] > 0.5


# Functions: fitting two classes --------------------------------------------------------------


def working_response(w, X, y):
    """Return z = X w + V^{-1} (y - p) and v = p (1 - p), both of shape (n,).

    One Newton step from w, of shape (d,), ends at the minimiser of sum_i v_i (z_i - x_i^T u)^2.
    Where a fitted probability is 0 or 1 to machine precision z does not exist: an error says so.
    """
    X, y, _ = _sample(X, y)
    scores = X @ check_vector(w, "w", length=X.shape[1])
    p = sigmoid(scores)
    v = p * sigmoid(-scores)
    if not (v > 0).all():
        raise ValueError("w must leave every fitted probability inside (0, 1): shorten w.")
    return scores + (y - p) / v, v  # (eq-logistic-regression-working)


def _scaled_solve(H, g):
    """Return a solution s of H s = g for H >= 0, of least length in scaled units if H is singular.

    Dividing row and column j by the square root of H_jj first makes the units of the inputs
    immaterial.
    """
    h = np.sqrt(np.where(np.diag(H) > 0, np.diag(H), 1.0))
    A = H / h[:, None] / h
    try:
        factor = cho_factor(A, lower=True, check_finite=False)
        if np.diag(factor[0]).min() ** 2 > 100 * len(g) * np.finfo(float).eps:
            return cho_solve(factor, g / h, check_finite=False) / h
    except np.linalg.LinAlgError:
        pass
    curvatures, V = np.linalg.eigh(A)
    used = curvatures > 100 * len(g) * np.finfo(float).eps * curvatures[-1]
    step = V[:, used] @ ((V[:, used].T @ (g / h)) / curvatures[used]) / h
    return np.where(np.diag(H) > 0, step, 0.0)  # rounding gives a column of zeros no weight


def _halved(at, start, slope):
    """Return the first t of 1, 1/2, 1/4, ... at which the objective falls enough, and ``at(t)``.

    ``at(t)`` is a tuple whose first entry is the objective, ``start`` at t = 0; where rounding
    hides the fall the answer is 0 and None.
    """
    t = 1.0
    while t > 1e-9:
        end = at(t)
        if end[0] <= start * (1 + 1e-14) + 1e-4 * t * slope:
            return t, end
        t /= 2
    return 0.0, None


def _newton(objective, newton_step, scores, w, tol, max_iter, least):
    """Minimise by Newton steps; stop where the objective is at most ``least``.

    ``newton_step(w)`` returns the gradient and the step, ``scores`` maps the step to the moves of
    the scores. On separated data some losses fall like e^{-a}: each step adds about 1 to their
    scores a and divides the gap by e. Near a minimiser the gap falls ever faster, and the scores
    rest: the next step moves none of them by 1/4.
    """
    path, trace, steps, gap = [w], [objective(w)], [], np.inf

    def at(t):
        return objective(w + t * step), w + t * step

    while True:
        g, step = newton_step(w)
        last, gap = gap, -(g @ step) / 2
        done = gap <= tol * trace[-1] or last / 4 <= gap <= 1e-10 * trace[-1]  # only rounding left
        if done or len(steps) == max_iter or trace[-1] <= least:
            break
        t, end = _halved(at, trace[-1], -2 * gap)
        if t == 0:
            break
        value, w = end
        path.append(w)
        trace.append(value)
        steps.append(t)
    done = done and trace[-1] <= objective(0 * w) * (1 + 1e-12)  # no minimum is above E(0)
    done = done and max_abs(scores(step)) < 0.25
    path, trace, steps = np.array(path), np.array(trace), np.array(steps)
    check_result(path.sum() + trace.sum(), "X")
    return IRLSRun(w, path, trace, steps, float(gap), len(steps), bool(done))


def fit_irls(X, y, *, lam=0.0, weights=None, w0=None, tol=1e-20, max_iter=100):
    """Minimise E(w) + sum_j lam_j w_j^2 / 2 by Newton steps, halved until the objective falls.

    Each full step is a weighted least-squares fit of the working response. The objective is convex,
    so a minimiser, where there is one, is global. Where there is none the weights grow until the
    objective no longer falls beyond rounding, and ``converged`` is False unless rounding hides
    that they grow; ``separation`` tells beforehand.

    Book: logistic-regression-irls. Hastie, Tibshirani and Friedman (2009), section 4.4.1.

    Parameters
    ----------
    X, y, weights : as ``cross_entropy``
    lam : float or array of shape (d,); penalty of each weight; give the offset a 0
    w0 : array of shape (d,), optional
        Start; 0 by default. So far out that rounding leaves a direction no curvature, the run may
        stop early, with ``converged`` False.
    tol : float
        Stop when the excess over the minimum, estimated by -g^T s / 2, is at most tol times the
        objective, so that units do not matter.
    max_iter : see ``mllib.core``

    Examples
    --------
    >>> fit_irls([[1.0], [1.0], [1.0]], [0, 1, 1]).w  # log(2/1)
    array([0.69314718])
    """
    X, y, s = _sample(X, y, weights)
    lam, sign = _penalties(lam, X.shape[1]), 1 - 2 * y
    _check_run(tol, max_iter)

    def objective(w):
        return s @ np.logaddexp(0, sign * (X @ w)) + lam @ w**2 / 2

    def newton_step(w):
        a = sign * (X @ w)
        q = sigmoid(a)  # 1 - P(y_i | x_i), exact also where P rounds to 1
        g = X.T @ (s * sign * q) + lam * w
        B = np.sqrt(s * q * sigmoid(-a))[:, None] * X
        return g, -_scaled_solve(B.T @ B + np.diag(lam), g)  # (eq-logistic-regression-newton)

    w = _start(w0, X.shape[1])
    least = 0.0 if lam.any() else 1e-12 * objective(w)
    return _newton(objective, newton_step, lambda u: X[s > 0] @ u, w, tol, max_iter, least)


def fit_gd(X, y, *, eta, lam=0.0, w0=None, tol=1e-6, max_iter=1000):
    """Minimise E(w) + sum_j lam_j w_j^2 / 2 by steps w <- w - eta (X^T (p - y) + lam w).

    Book: logistic-regression-gradient-descent.

    Parameters
    ----------
    X, y, lam, w0 : as ``fit_irls``
    eta : float
        Step size; the objective falls at each step if it is at most 8 / ||X||^2, without penalty.
    tol : float; stop before a step where the gradient is at most tol long
    max_iter : see ``mllib.core``

    Examples
    --------
    >>> run = fit_gd([[1.0], [1.0], [1.0]], [0, 1, 1], eta=1.0)
    >>> run.w.round(4), run.converged
    (array([0.6931]), True)
    """
    X, y, _ = _sample(X, y)
    lam = _penalties(lam, X.shape[1])
    check_scalar(eta, "eta", low=0, open_low=True)
    _check_run(tol, max_iter)
    w = _start(w0, X.shape[1])
    X, XT = np.ascontiguousarray(X), np.ascontiguousarray(X.T)
    with np.errstate(over="ignore"):  # 1 / (1 + inf) is the right 0
        w, norm, k = _gradient_steps(X, XT, y, float(eta), lam, w, float(tol), int(max_iter))
    check_result(norm, "eta or lam")
    return GradientRun(w, float(norm), int(k), bool(norm <= tol))


@compiled
def _gradient_steps(X, XT, y, eta, lam, w, tol, max_iter):
    norm, k = 0.0, 0
    for k in range(max_iter + 1):
        p = 1.0 / (1.0 + np.exp(-(X @ w)))
        g = XT @ (p - y) + lam * w
        square = 0.0
        for j in range(len(g)):
            square += g[j] * g[j]
        norm = np.sqrt(square)
        if norm <= tol or k == max_iter:
            break
        w = w - eta * g  # (eq-logistic-regression-gd)
    return w, norm, k


def fit_sgd(X, y, *, eta, epochs=10, w0=None, rng):
    """Run w <- w + eta_t (y_i - p_i) x_i over the examples, in a new random order in each pass.

    ``converged`` is always False: no criterion is tested.

    Book: logistic-regression-sgd, optimization-sgd.

    Parameters
    ----------
    X, y, w0 : as ``fit_irls``
    eta : float or callable; step size, or ``eta(t)`` for the updates t = 0, 1, 2, ...
    epochs : int; passes
    rng : numpy.random.Generator
    """
    X, y, _ = _sample(X, y)
    step_size = eta if callable(eta) else lambda t: eta
    check_scalar(epochs, "epochs", low=1, integer=True)
    check_rng(rng)
    w, t = _start(w0, X.shape[1]), 0
    for _ in range(epochs):
        for i in rng.permutation(len(X)):
            eta_t = check_scalar(step_size(t), "eta", low=0, open_low=True)
            w = w + eta_t * (y[i] - sigmoid(X[i] @ w)) * X[i]  # (eq-logistic-regression-sgd)
            t += 1
    return GradientRun(w, float(np.linalg.norm(gradient(w, X, y))), t, False)


def kkt_residuals(w, X, y, lam, *, penalty="l2", weights=None):
    """Return for each weight how far 0 is from the subdifferential; all 0 exactly at a minimiser.

    With g = grad E(w): |g_j + lam_j w_j| for "l2"; for "l1" |g_j + lam_j sign(w_j)| where
    w_j != 0 and max(|g_j| - lam_j, 0) elsewhere.

    Book: logistic-regression-penalty-optimality.

    Parameters
    ----------
    w : array of shape (d,)
    X, y, lam, weights : as ``fit_irls``
    penalty : {"l2", "l1"}
    """
    X, y, s = _sample(X, y, weights)
    w = check_vector(w, "w", length=X.shape[1])
    lam = _penalties(lam, X.shape[1])
    check_choice(penalty, "penalty", ("l2", "l1"))
    g = gradient(w, X, y, s)
    return np.abs(g + lam * w) if penalty == "l2" else _l1_residuals(w, g, lam)


def _l1_residuals(w, g, lam):
    return np.where(w != 0, np.abs(g + lam * np.sign(w)), np.maximum(np.abs(g) - lam, 0))


def fit_l1(X, y, lam, *, weights=None, w0=None, tol=1e-10, max_iter=200):
    """Minimise E(w) + sum_j lam_j |w_j| by Newton steps on the weights that may move.

    Each step replaces E by its quadratic expansion at w and minimises the sum with the penalty
    by coordinate descent, over the weights that are not 0 or whose gradient exceeds lam_j.

    Book: logistic-regression-penalty-optimality. Friedman, Hastie and Tibshirani (2010).

    Parameters
    ----------
    X, y, weights, w0 : as ``fit_irls``
    lam : float or array of shape (d,)
        Penalty of each weight, one at least above 0; give the offset a 0.
    tol : float; stop when the largest optimality residual is at most tol times the largest penalty
    max_iter : see ``mllib.core``
    """
    X, y, s = _sample(X, y, weights)
    lam = _penalties(lam, X.shape[1])
    if not (lam > 0).any():
        raise ValueError("lam must be above 0 for some weight: without a penalty use fit_irls.")
    _check_run(tol, max_iter)
    w = _start(w0, X.shape[1]).copy()
    w[(lam > 0) & ~X[s > 0].any(axis=0)] = 0.0  # on a column of zeros a weight only costs
    rounding = 1e-14 * (s @ np.abs(X))

    def objective(w):
        return s @ np.logaddexp(0, (1 - 2 * y) * (X @ w)) + lam @ np.abs(w)

    def at(t):
        return objective(w + t * step), w + t * step

    trace = [objective(w)]
    while True:
        p = sigmoid(X @ w)
        g = X.T @ (s * (p - y))
        residuals = _l1_residuals(w, g, lam)
        done = (residuals <= tol * max_abs(lam) + rounding).all()
        if done or len(trace) > max_iter:
            break
        A = np.flatnonzero((w != 0) | (np.abs(g) >= lam))
        B = np.sqrt(s * p * (1 - p))[:, None] * X[:, A]
        u = quadratic_l1(B.T @ B, g[A], w[A], lam[A], 1e-3 * max_abs(residuals), 200)
        step = np.zeros_like(w)
        step[A] = u - w[A]
        promised = g @ step + lam @ (np.abs(w + step) - np.abs(w))
        t, end = _halved(at, trace[-1], min(promised, 0.0))
        if t == 0:  # rounding hides what is left
            done = (residuals <= 1e-6 * max_abs(lam) + rounding).all()
            break
        value, w = end
        trace.append(value)
    worst = float(residuals.max() / lam.max())
    return L1Run(w, np.array(trace), worst, len(trace) - 1, bool(done))


@compiled
def quadratic_l1(H, g, w, lam, tol, sweeps):
    """Minimise g^T (u - w) + (u - w)^T H (u - w) / 2 + sum_j lam_j |u_j|, one u_j at a time.

    The array r = g + H (u - w) is the gradient of the quadratic at u. A sweep over all weights
    ends with those that are not 0 until they rest; then all are looked at again.
    """
    u, r = w.copy(), g.copy()
    everything = True
    for _ in range(sweeps):
        worst = 0.0
        for j in range(len(u)):
            h, old = H[j, j], u[j]
            if h <= 0.0 or (not everything and old == 0.0):
                continue
            c = h * old - r[j]
            size = abs(c) - lam[j]
            new = 0.0 if size <= 0.0 else (size if c > 0.0 else -size) / h
            if new != old:
                r += (new - old) * H[j]
                u[j] = new
                worst = max(worst, h * abs(new - old))
        if worst <= tol:
            if everything:
                break
            everything = True
        else:
            everything = False
    return u


# Functions: several classes ------------------------------------------------------------------


def softmax(A):
    """Return e^{a_k} / sum_j e^{a_j} along the last axis, which never overflows; NaN stays NaN.

    Examples
    --------
    >>> softmax([[0.0, 0.0], [1000.0, 0.0]])
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    return log_normalise(A)[0]


def softmax_loss(W, X, Y, weights=None):
    """Return E(W) = -sum_i s_i sum_k y_ik log p_ik with p = softmax(X W), in nats.

    Book: logistic-regression-softmax-cross-entropy.

    Parameters
    ----------
    W : array of shape (d, K); column k holds w_k
    X : array of shape (n, d)
    Y : array of shape (n, K); one-hot labels
    weights : array of shape (n,), optional
    """
    X, Y, s = _softmax_sample(X, Y, weights)
    A = X @ check_array(W, "W", any_size=True)
    return float(s @ (log_sum_exp(A) - (Y * A).sum(axis=1)))


def softmax_gradient(W, X, Y, weights=None):
    """Return grad E(W) = X^T (p - Y), shape (d, K), column k for w_k, each example times s_i.

    Parameters
    ----------
    W, X, Y, weights : as ``softmax_loss``
    """
    X, Y, s = _softmax_sample(X, Y, weights)
    P = softmax(X @ check_array(W, "W", any_size=True))
    return X.T @ (s[:, None] * (P - Y))  # (eq-logistic-regression-softmax-gradient)


def softmax_hessian(W, X, weights=None):
    """Return the Hessian of E in the stacked weights (w_1, ..., w_K), shape (K d, K d).

    Block (k, l) is sum_i s_i p_ik (1[k = l] - p_il) x_i x_i^T; W, X, weights as ``softmax_loss``.
    """
    X = check_array(X)
    s = check_sample_weight(weights, len(X), "weights", ones=True)
    P = softmax(X @ check_array(W, "W", any_size=True))
    d, K = X.shape[1], P.shape[1]
    H = np.empty((K, d, K, d))
    for k in range(K):
        for j in range(k, K):
            v = s * P[:, k] * ((k == j) - P[:, j])
            H[k, :, j] = X.T @ (v[:, None] * X)  # (eq-logistic-regression-softmax-hessian)
            H[j, :, k] = H[k, :, j].T
    return H.reshape(K * d, K * d)


def fit_softmax(X, Y, *, lam=0.0, weights=None, W0=None, tol=1e-20, max_iter=100):
    """Minimise E(W) + sum_jk lam_j W_jk^2 / 2 by Newton steps on all K d weights.

    The Hessian is singular where nothing is penalised: a common vector added to all w_k changes no
    probability. A step leaves that sum as it is. Without a minimiser, as ``fit_irls``.

    Book: logistic-regression-softmax-training.

    Parameters
    ----------
    X, Y, weights : as ``softmax_loss``
    lam : float or array of shape (d,); penalty of each input's weights; give the offsets a 0
    W0 : array of shape (d, K), optional; start; 0 by default
    tol, max_iter : as ``fit_irls``
    """
    X, Y, s = _softmax_sample(X, Y, weights)
    shape = X.shape[1], Y.shape[1]
    lam = _penalties(lam, shape[0])
    _check_run(tol, max_iter)
    W0 = np.zeros(shape) if W0 is None else check_array(W0, "W0", any_size=True)
    if W0.shape != shape:
        raise ValueError(f"W0 must have shape {shape}, got {W0.shape}.")

    def matrix(w):  # from the stacked weights
        return w.reshape(shape[::-1]).T

    def objective(w):
        return softmax_loss(matrix(w), X, Y, s) + (lam @ matrix(w) ** 2).sum() / 2

    def newton_step(w):
        W = matrix(w)
        G = softmax_gradient(W, X, Y, s) + lam[:, None] * W
        H = softmax_hessian(W, X, s) + np.diag(np.tile(lam, shape[1]))
        step = matrix(-_scaled_solve(H, G.T.ravel()))
        step[lam == 0] -= step[lam == 0].mean(axis=1, keepdims=True)  # no common shift
        return G.T.ravel(), step.T.ravel()

    w = W0.T.ravel()
    least = 0.0 if lam.any() else 1e-12 * objective(w)
    moves = lambda u: X[s > 0] @ matrix(u)  # noqa: E731
    run = _newton(objective, newton_step, moves, w, tol, max_iter, least)
    return SoftmaxRun(matrix(run.w), run.trace, run.gap, run.n_iter, run.converged)


# Functions: judging probabilities and scores -------------------------------------------------


def reliability(y, p, bins=10):
    """Compare predicted probabilities with what happened, in bins of equal width on [0, 1].

    Takes labels 0 and 1 and probabilities of 1, both of shape (n,); returns a Reliability.

    Examples
    --------
    >>> reliability([0, 1, 1], [0.1, 0.3, 0.9], bins=2).observed
    array([0.5, 1. ])
    """
    p = check_vector(p, "p")
    y = _binary_labels(y, len(p))
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p must hold probabilities between 0 and 1.")
    check_scalar(bins, "bins", low=1, integer=True)
    index = np.minimum((p * bins).astype(int), bins - 1)
    count = np.bincount(index, minlength=bins)
    full = count > 0
    sums = [np.bincount(index, weights=v, minlength=bins)[full] / count[full] for v in (p, y)]
    return Reliability(*sums, count[full])


def roc_curve(y, score):
    """Return the shares of false and true positives of the rule "1 if score >= t", for every t.

    Takes labels 0 and 1, both present, and scores of which only the order matters (larger speaks
    for 1), both of shape (n,); returns a ROC.

    Examples
    --------
    >>> roc_curve([0, 1, 1], [0.2, 0.1, 0.7]).true_positives
    array([0. , 0.5, 0.5, 1. ])
    """
    score = check_vector(score, "score")
    y = _binary_labels(y, len(score))
    if y.min() == y.max():
        raise ValueError("y must hold both classes: one of the two shares has no denominator.")
    thresholds, index = np.unique(-score, return_inverse=True)
    positives = np.bincount(index, weights=y)
    negatives = np.bincount(index, weights=1 - y)
    shares = [np.append(0, np.cumsum(c)) / c.sum() for c in (negatives, positives)]
    return ROC(*shares, np.append(np.inf, -thresholds))


def roc_area(y, score):
    """Return the area under the ROC curve, by trapezia; y and score as ``roc_curve``.

    It is the probability that a random positive has a larger score than a random negative, ties
    counted half.

    Book: logistic-regression-roc-area. Hanley and McNeil (1982), Radiology 143, 29-36.

    Examples
    --------
    >>> roc_area([0, 1, 1], [0.2, 0.1, 0.7])
    0.5
    """
    curve = roc_curve(y, score)
    width = np.diff(curve.false_positives)
    return float(width @ (curve.true_positives[1:] + curve.true_positives[:-1]) / 2)


# Functions: many weights ---------------------------------------------------------------------


def _losses(A, Y, s):
    """Return E at the scores A and the residuals s_i (p_ik - y_ik); one column is two classes."""
    if A.shape[1] == 1:
        e = np.exp(-np.abs(A))
        loss = np.log1p(e) + np.maximum(A, 0) - Y * A
        return s @ loss[:, 0], s[:, None] * (np.where(A >= 0, 1.0, e) / (1 + e) - Y)
    A = A - A.max(axis=1, keepdims=True)
    E = np.exp(A)
    total = E.sum(axis=1)
    loss = np.log(total) - (Y * A).sum(axis=1)
    return s @ loss, s[:, None] * (E / total[:, None] - Y)


def _inverse_curvature(X, v, lam):
    """Return the map G -> P^{-1} G, where P is near X^T V X + diag(lam).

    P comes from some of the rows, plus its own diagonal, which keeps it invertible.
    """
    n, d = X.shape
    if d > 500 or 2 * d > n:
        diagonal = np.einsum("i,ij,ij->j", v, X, X) + lam
        diagonal = np.where(diagonal > 0, diagonal, 1.0)
        return lambda G: G / diagonal[:, None]
    some = slice(None, None, max(1, n // (2 * d + 200)))
    B = np.sqrt(v[some])[:, None] * X[some]
    P = v.sum() / max(v[some].sum(), np.finfo(float).tiny) * (B.T @ B)
    diagonal = np.diag(P).copy()
    for j in np.flatnonzero(diagonal + lam == 0):
        diagonal[j] = v @ X[:, j] ** 2 or 1.0
    P += np.diag(lam + diagonal)
    h = np.sqrt(np.diag(P))
    factor = cho_factor(P / h[:, None] / h, lower=True, check_finite=False)
    return lambda G: cho_solve(factor, G / h[:, None], check_finite=False) / h[:, None]


def _lbfgs(X, Y, s, lam, tol, max_iter, memory=10):
    """Minimise E(W) + sum_jk lam_j W_jk^2 / 2 by the L-BFGS recursion, in the metric P.

    Nocedal and Wright (2006), algorithm 7.4. Scores move along a line with the weights, so trying
    a step length costs no product.
    """
    W, A, pairs, n_iter = np.zeros((X.shape[1], Y.shape[1])), np.zeros(Y.shape), [], 0
    f, R = _losses(A, Y, s)
    G = X.T @ R

    def at(t):
        loss, R = _losses(A + t * along, Y, s)
        return loss + (lam @ (W + t * step) ** 2).sum() / 2, R

    while True:
        if n_iter % 10 == 0:  # the metric follows the curvature
            P = R / s[:, None] + Y
            solve = _inverse_curvature(X, s * (P * (1 - P)).mean(axis=1), lam)
        step = -_two_loops(G, pairs, solve)
        slope, along = (G * step).sum(), X @ step
        done = -slope / 2 <= tol * f
        if done or n_iter == max_iter:
            break
        t, end = _halved(at, f, slope)
        if t == 0:  # rounding hides what is left
            done = -slope / 2 <= 1e-9 * f
            break
        A += t * along
        W, (f, R), old, n_iter = W + t * step, end, G, n_iter + 1
        G = X.T @ R + lam[:, None] * W
        change, turn = t * step, G - old
        if (product := np.vdot(change, turn)) > 0:
            pairs = [*pairs[1 - memory :], (change, turn, product)]
    return W, n_iter, bool(done), -slope / 2 / max(f, 1e-300)


def _two_loops(G, pairs, solve):
    """Return the L-BFGS approximation of H^{-1} G from changes of weights and of gradients."""
    Q, shares = G, []
    for change, turn, product in reversed(pairs):
        shares.append((change * Q).sum() / product)
        Q = Q - shares[-1] * turn
    Q = solve(Q)
    if pairs:
        _, turn, product = pairs[-1]
        Q = Q * (product / (turn * solve(turn)).sum())
    for (change, turn, product), share in zip(pairs, reversed(shares)):
        Q = Q + (share - (turn * Q).sum() / product) * change
    return Q


# Functions: is there a fit -------------------------------------------------------------------


def _is_separated(A, W, index, s):
    """Return whether the unpenalised objective has no minimiser, given the weights reached.

    Several classes are separated if the differences of their scores are. The linear programme is
    asked only if some example is fitted with a probability very near 1, or if a Newton step does
    not prove that the examples overlap.
    """
    if W.shape[1] == 1:
        W = np.hstack([np.zeros_like(W), W])
    (n, d), K = A.shape, W.shape[1]
    own, Y = np.arange(n), np.eye(K)[index]
    odds = (A @ W) - (A @ W)[own, index][:, None]  # of the classes that did not occur, logarithms
    if (odds[Y == 0] < 0).all():
        return True
    if odds.min() >= -12 and (
        n > 2e5 or n * (K * d) ** 2 > 2e9 or _step_proves_overlap(A, W, Y, s)
    ):
        return False
    D = np.zeros((n, K, K, d))  # row (i, k) has the score of the own class less that of class k
    for k in range(K):
        D[own, k, index] += A
        D[:, k, k] -= A
    return bool(_separate(D[Y == 0].reshape(-1, K * d))[1].any())


def _step_proves_overlap(A, W, Y, s):
    """Return whether the Newton step from W shows that no direction separates the classes.

    The gradient is a sum with the weights p_ik > 0 of the classes that did not occur. The step
    makes it 0 for the weights p_ik (1 + t_ik - sum_l p_il t_il) with the scores t of the step.
    """
    P, (d, K) = softmax(A @ W), W.shape
    g = A.T @ (s[:, None] * (Y - P))
    T = A @ _scaled_solve(softmax_hessian(W, A, s), g.T.ravel()).reshape(K, d).T
    return np.where(Y == 1, 0.0, T - np.einsum("ij,ij->i", P, T)[:, None]).min() > -0.9


# Estimators ----------------------------------------------------------------------------------


def _with_offset(X, s):
    """Return (1, X - mean) and the weighted mean; a constant column becomes exactly 0."""
    mean = s @ X / s.sum()
    same = np.flatnonzero(X[0] == X[-1])
    same = same[(X[:, same] == X[0, same]).all(axis=0)]
    mean[same] = X[0, same]  # the mean of equal numbers need not be that number once rounded
    A = np.ones((len(X), X.shape[1] + 1))
    np.subtract(X, mean, out=A[:, 1:])
    return A, mean


class LogisticRegression(Classifier):
    """Linear classifier with probabilities, fitted by penalised maximum likelihood.

    Minimises E + (lam/2) ||w||^2 ("l2"), E + lam ||w||_1 ("l1") or E alone (None), where
    E = -sum_i s_i log P(y_i | x_i). Two classes have P(second | x) = sigma(w^T x + b), more have
    P(k | x) = softmax_k(w_k^T x + b_k). Offsets are not penalised.

    Book: logistic-regression-regularised, logistic-regression-existence.

    Parameters
    ----------
    penalty : {"l2", "l1"} or None; "l1" takes two classes
    lam : float; above 0; not used without penalty
    fit_intercept : bool; whether to fit an offset
    solver : {"auto", "newton", "lbfgs"}
        "auto" takes Newton's method where n d^2 is small. "l1" has a method of its own.
    tol : float
        Stop when the estimated excess over the minimum is at most tol times the objective
        ("l1": when the optimality residuals are at most tol lam).
    class_weight, max_iter : see ``mllib.core``

    Attributes
    ----------
    classes_ : array of shape (K,)
    coef_ : array of shape (1, d), or (K, d) for more than two classes
    intercept_ : array of shape (1,) or (K,)
    n_iter_ : int
    converged_ : bool
        Also False where the data are separated and nothing is penalised: then no minimiser exists,
        the weights are those reached, and a warning says so. (With n above 200 000 or
        n (K d)^2 above 2e9, this is looked into only where some score exceeds 12.)

    Examples
    --------
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict_proba([[1.5]])
    array([[0.5, 0.5]])
    """

    def __init__(
        self,
        penalty="l2",
        lam=1.0,
        fit_intercept=True,
        class_weight=None,
        solver="auto",
        tol=1e-7,
        max_iter=200,
    ):
        self.penalty = penalty
        self.lam = lam
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        """Train on X of shape (n, d), labels y and weights, both of shape (n,); return self."""
        begin_fit(self, X)
        if self.penalty is not None:
            check_choice(self.penalty, "penalty", ("l2", "l1"))
            check_scalar(self.lam, "lam", low=0, open_low=True)
        check_choice(self.solver, "solver", ("auto", "newton", "lbfgs"))
        name = "LogisticRegression"
        X, classes, index, s, _ = check_weighted_X_y(X, y, sample_weight, self.class_weight, name)
        s = np.ones(len(X)) if s is None else s
        A, mean = _with_offset(X, s) if self.fit_intercept else (X, np.zeros(X.shape[1]))
        lam = np.full(A.shape[1], 0.0 if self.penalty is None else float(self.lam))
        lam[: int(self.fit_intercept)] = 0.0
        W, self.n_iter_, self.converged_, gap = self._solve(A, index, len(classes), s, lam)
        if self.penalty is None and _is_separated(A, W, index, s):
            self.converged_ = False
            convergence_warning(
                "LogisticRegression without penalty has no solution here: a hyperplane separates "
                "the classes, so the likelihood grows as long as the weights do. Take "
                "penalty='l2' or penalty='l1'."
            )
        elif not self.converged_:
            convergence_warning(
                f"LogisticRegression stopped after {self.n_iter_} steps of max_iter="
                f"{self.max_iter} with an estimated relative excess of {gap:.3g} (tolerance "
                f"{self.tol:.3g}): raise max_iter."
            )
        self.classes_, self.n_features_in_ = classes, X.shape[1]
        self.coef_ = W[int(self.fit_intercept) :].T
        offsets = W[0] if self.fit_intercept else np.zeros(W.shape[1])
        self.intercept_ = offsets - self.coef_ @ mean
        self.n_iter_ = max(1, self.n_iter_)
        return self

    def _solve(self, A, index, K, s, lam):
        """Return weights of shape (d, 1) or (d, K), the steps made, whether they did, the gap."""
        n, d = A.shape
        if self.penalty == "l1":
            if K > 2:
                raise ValueError(
                    "penalty='l1' serves two classes, y holds more: wrap it in OneVsRest."
                )
            run = fit_l1(A, index, lam, weights=s, tol=self.tol, max_iter=self.max_iter)
            return run.w[:, None], run.n_iter, run.converged, run.residual
        small = n * d**2 <= 2e7 and d <= 200 if K == 2 else n * (K * d) ** 2 <= 2e7 and K * d <= 60
        Y = index[:, None].astype(float) if K == 2 else np.eye(K)[index]
        if self.solver == "lbfgs" or (self.solver == "auto" and not small):
            return _lbfgs(A, Y, s, lam, self.tol, self.max_iter)
        options = {"lam": lam, "weights": s, "max_iter": self.max_iter}
        options["tol"] = min(self.tol, 1e-18)  # the last step squares the error
        run = fit_irls(A, index, **options) if K == 2 else fit_softmax(A, Y, **options)
        gap = run.gap / max(run.trace[-1], 1e-300)
        W = run.w[:, None] if K == 2 else run.W
        return W, run.n_iter, run.converged or gap <= self.tol, gap

    def decision_function(self, X):
        """Return the scores, shape (n,) for two classes, otherwise (n, K)."""
        X = check_features(self, X)
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X):
        """Return P(k | x) for each row and class, shape (n, K)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([sigmoid(-scores), sigmoid(scores)])
        return softmax(scores)

    def predict_log_proba(self, X):
        """Return log P(k | x), shape (n, K), exact also where P rounds to 0 or 1."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return -np.logaddexp(0, np.column_stack([scores, -scores]))
        return scores - log_sum_exp(scores)[:, None]

    def predict(self, X):
        """Return the most probable class of each row, the first at a tie; shape (n,)."""
        return _best(self, X)


def _best(model, X):
    """Return the class with the largest score, the first at a tie; one score is of two classes."""
    scores = model.decision_function(X)
    index = (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
    return model.classes_[index]


class _Reduction(Classifier):
    """What the two reductions to binary problems share."""

    def __init__(self, estimator=None, class_weight=None):
        self.estimator = estimator
        self.class_weight = class_weight

    def _fit_one(self, X, positive, s):
        model = LogisticRegression() if self.estimator is None else self.estimator
        fresh = type(model)(**model.get_params(deep=False))
        return fresh.fit(X, positive.astype(int), **({} if s is None else {"sample_weight": s}))

    def fit(self, X, y, sample_weight=None):
        """Train on X of shape (n, d), labels y and weights, both of shape (n,); return self."""
        begin_fit(self, X)
        name = type(self).__name__
        X, classes, index, s, _ = check_weighted_X_y(X, y, sample_weight, self.class_weight, name)
        self.estimators_ = self._fit_all(X, index, len(classes), s)
        self.classes_, self.n_features_in_ = classes, X.shape[1]
        return self

    def predict(self, X):
        """Return the class with the largest score or the most votes, the first at a tie."""
        return _best(self, X)


class OneVsRest(_Reduction):
    """Several classes by one binary model for each class against all others.

    The class with the largest score wins. Two classes need one model.

    Book: logistic-regression-one-vs-rest.

    Parameters
    ----------
    estimator : classifier with ``decision_function``, or None
        Copied for each class; None is ``LogisticRegression()``.
    class_weight : see ``mllib.core``; passed on as ``sample_weight``

    Attributes
    ----------
    classes_ : array of shape (K,)
    estimators_ : list of K fitted models, one for K = 2

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]], ["a", "b", "c"]
    >>> OneVsRest().fit(X, y).predict([[0.0, 5.0]])
    array(['b'], dtype='<U1')
    """

    def _fit_all(self, X, index, K, s):
        return [self._fit_one(X, index == k, s) for k in (range(K) if K > 2 else [1])]

    def decision_function(self, X):
        """Return the score of each class, shape (n, K); of the second, (n,), if there are two."""
        X = check_features(self, X)
        scores = [model.decision_function(X) for model in self.estimators_]
        return np.column_stack(scores) if len(scores) > 1 else scores[0]

    def predict_proba(self, X):
        """Return the models' probabilities divided by their sum, shape (n, K).

        The sum of the K separate probabilities is not 1 by itself.
        """
        X = check_features(self, X)
        own = np.column_stack([model.predict_proba(X)[:, 1] for model in self.estimators_])
        if own.shape[1] == 1:
            return np.hstack([1 - own, own])
        total = own.sum(axis=1, keepdims=True)
        return np.where(total > 0, own / np.where(total > 0, total, 1), 1 / own.shape[1])


class OneVsOne(_Reduction):
    """Several classes by one binary model for each pair of classes, fitted on those two alone.

    Each model has one vote. Two classes need one model.

    Book: logistic-regression-one-vs-one.

    Parameters
    ----------
    estimator, class_weight : as in ``OneVsRest``; any classifier will do

    Attributes
    ----------
    classes_ : array of shape (K,)
    estimators_ : list of K (K - 1) / 2 fitted models, in the order (0, 1), (0, 2), ..., (1, 2), ...

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]], ["a", "b", "c"]
    >>> OneVsOne().fit(X, y).decision_function([[0.0, 5.0]])
    array([[1., 2., 0.]])
    """

    def _fit_all(self, X, index, K, s):
        models = []
        for j, k in _pairs(K):
            pair = (index == j) | (index == k)
            models.append(self._fit_one(X[pair], index[pair] == k, s if s is None else s[pair]))
        return models

    def decision_function(self, X):
        """Return the votes of each class, shape (n, K); for two classes +1 or -1, shape (n,)."""
        X = check_features(self, X)
        K = len(self.classes_)
        votes = np.zeros((len(X), K))
        for (j, k), model in zip(_pairs(K), self.estimators_):
            second = model.predict(X) == 1
            votes[:, k] += second
            votes[:, j] += ~second
        return votes if K > 2 else votes[:, 1] - votes[:, 0]


def _pairs(K):
    return [(j, k) for j in range(K) for k in range(j + 1, K)]
