"""Support vector machines: separators of largest margin, hard and soft, linear and with kernels.

Chapter: Kernels and margins, *Support vector machines*. Main references: Boser, Guyon and Vapnik
(1992), Cortes and Vapnik (1995); Platt (1998) and Fan, Chen and Lin (2005) for the solver.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

from mllib.core.arrays import (
    check_array,
    check_kernel_values,
    check_signs,
    check_square,
    check_vector,
    check_weighted_X_y,
    check_X_y,
)
from mllib.core.compiled import compiled
from mllib.core.errors import convergence_warning
from mllib.core.estimators import Classifier, begin_fit, check_features
from mllib.core.scalars import check_choice, check_scalar
from mllib.decision_theory import add_intercept, hinge
from mllib.kernels import (
    check_psd,
    default_width,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)
from mllib.perceptron import separating_weights

__all__ = [
    "SVC",
    "HardMarginSVM",
    "KKTResiduals",
    "LinearRun",
    "LinearSVC",
    "Margin",
    "SMORun",
    "SupportVectors",
    "binary_problems",
    "distance_to_plane",
    "dual_objective",
    "duality_gap",
    "geometric_margin",
    "hinge_objective",
    "kkt_residuals",
    "linear_svm",
    "margin",
    "offset_bracket",
    "primal_objective",
    "recover_offset",
    "smo",
    "support_vectors",
    "votes",
]


# Records -------------------------------------------------------------------------------------


class Margin(NamedTuple):
    """How far a sample stays from the wrong side of a hyperplane."""

    functional: float  #: gamma = min_i y_i (w^T x_i + b), in units of the score
    geometric: float  #: gamma / ||w||, in units of the inputs


class KKTResiduals(NamedTuple):
    """By how much (w, b, xi) and alpha miss the optimality conditions; all 0 at the optimum.

    w = sum_i alpha_i y_i phi(x_i), mu_i = C - alpha_i and xi_i = [1 - y_i f_i]_+ hold by
    construction; C = inf forces xi = 0.
    """

    primal: float  #: largest violation of y_i f_i >= 1 - xi_i; can be above 0 only if C = inf
    box: float  #: largest violation of 0 <= alpha_i <= C
    balance: float  #: |sum_i alpha_i y_i|
    margin: float  #: largest |alpha_i (y_i f_i - 1 + xi_i)|
    slack: float  #: largest |mu_i xi_i|


class SupportVectors(NamedTuple):
    """The indices of the examples with alpha_i > 0, by where they stand."""

    on_margin: np.ndarray  #: y_i f_i = 1, no slack
    inside: np.ndarray  #: 0 < y_i f_i < 1: inside the margin and on the right side
    misclassified: np.ndarray  #: y_i f_i <= 0: on the wrong side, or on the boundary


class SMORun(NamedTuple):
    """What the decomposition method found, and how far it is from the optimum."""

    alpha: np.ndarray  #: multipliers of the margin constraints, shape (n,)
    b: float  #: offset
    f: np.ndarray  #: scores of the training examples, f_i = sum_j alpha_j y_j K_ij + b
    primal: float  #: ||w||^2 / 2 + C sum_i xi_i at (w, b)
    dual: float  #: sum_i alpha_i - ||w||^2 / 2
    gap: float  #: primal - dual; bounds how far either is from the optimum
    violation: float  #: max_up F_i - min_low F_i, in units of the score; 0 or less at the optimum
    trace: np.ndarray  #: dual objective before each step and after the last, shape (n_iter + 1,)
    n_iter: int  #: steps made
    converged: bool  #: whether the steps ended with violation <= tol


class LinearRun(NamedTuple):
    """What Newton's method on the primal found, and how far it is from the optimum."""

    w: np.ndarray  #: weights, shape (d,)
    b: float  #: offset
    alpha: np.ndarray  #: multipliers, shape (n,); w = sum_i alpha_i y_i x_i up to rounding
    primal: float  #: objective at (w, b)
    dual: float  #: dual objective at alpha
    gap: float  #: primal - dual
    trace: np.ndarray  #: smoothed objective after each step, shape (n_iter,)
    n_iter: int  #: Newton steps
    converged: bool  #: whether gap <= tol * primal


# Checks --------------------------------------------------------------------------------------


def _check_two_sides(y):
    if (y == y[0]).all():
        raise ValueError(
            f"y must hold both -1 and +1, got only {y[0]:+.0f}: with one class every hyperplane "
            f"beyond the sample separates; add examples of the other class."
        )


def _check_C(C, *, hard=False):
    if hard and isinstance(C, float) and np.isposinf(C):
        return C
    return check_scalar(C, "C", low=0, open_low=True)


def _check_offset(b):
    check_scalar(b, "b", low=-np.inf, high=np.inf, open_low=True, open_high=True)


def _check_gram(K, y):
    return check_square(K, "K", size=len(y), symmetric=True)


def _price_too_high():
    return ValueError(
        "C is too large for the scale of X, or sample_weight is: standardise the features or "
        "lower C."
    )


def _not_separable(where):
    return ValueError(
        f"the two classes are not separable {where}, so no hard margin exists: use the soft "
        f"margin, SVC(C=...)."
    )


# Geometry ------------------------------------------------------------------------------------


def distance_to_plane(X, w, b):
    """Return |w^T x_i + b| / ||w||, the distance of each row of X to the hyperplane.

    Parameters
    ----------
    X : array of shape (n, d)
    w : array of shape (d,)
        Not zero.
    b : float

    Returns
    -------
    array of shape (n,)
        In units of the inputs.

    Raises
    ------
    ValueError
        If w is zero: then there is no hyperplane.

    References
    ----------
    Book: support-vector-machines-hyperplane-distances.

    Examples
    --------
    >>> distance_to_plane([[0.0, 0.0], [3.0, 4.0]], [3.0, 4.0], -5.0)
    array([1., 4.])
    """
    X = check_array(X)
    w, length = _check_normal(w, X.shape[1])
    _check_offset(b)
    return np.abs(X @ (w / length) + b / length)


def _check_normal(w, d):
    """Return w and its length, whose square neither under- nor overflows."""
    w = check_vector(w, "w", length=d)
    size = np.abs(w).max()
    if size == 0:
        raise ValueError("w must not be zero: w = 0 describes no hyperplane.")
    return w, float(size * np.linalg.norm(w / size))


def margin(w, b, X, y):
    """Return the functional margin min_i y_i (w^T x_i + b) and the geometric one, over ||w||.

    Parameters
    ----------
    w : array of shape (d,)
        Not zero.
    b : float
    X : array of shape (n, d)
    y : array of shape (n,)
        Labels -1 and +1.

    Returns
    -------
    Margin
        Both negative as soon as one example is misclassified.

    References
    ----------
    Book: support-vector-machines-margin.

    Examples
    --------
    >>> margin([2.0, 0.0], 0.0, [[-1.0, 0.0], [2.0, 5.0]], [-1, 1])
    Margin(functional=2.0, geometric=1.0)
    """
    X = check_array(X)
    y, (w, length) = check_signs(y, len(X)), _check_normal(w, X.shape[1])
    _check_offset(b)
    gamma = float(np.min(y * (X @ w + b)))
    return Margin(gamma, gamma / length)


def geometric_margin(w, b, X, y):
    """Return min_i y_i (w^T x_i + b) / ||w||, in units of the inputs.

    Parameters
    ----------
    w : array of shape (d,)
        Not zero.
    b : float
    X : array of shape (n, d)
    y : array of shape (n,)
        Labels -1 and +1.
    """
    return margin(w, b, X, y).geometric


# Objectives ----------------------------------------------------------------------------------


def hinge_objective(w, b, X, y, C):
    """Return ||w||^2 / 2 + C sum_i [1 - y_i (w^T x_i + b)]_+, the soft-margin objective.

    Parameters
    ----------
    w : array of shape (d,)
    b : float
        Not penalised.
    X : array of shape (n, d)
    y : array of shape (n,)
        Labels -1 and +1.
    C : float
        Price of a unit of slack, above 0.

    References
    ----------
    Book: support-vector-machines-hinge-form. Cortes and Vapnik (1995).

    Examples
    --------
    >>> hinge_objective([1.0], 0.0, [[-2.0], [0.5]], [-1, 1], C=10.0)
    5.5
    """
    X = check_array(X)
    y, w = check_signs(y, len(X)), check_vector(w, "w", length=X.shape[1])
    _check_offset(b)
    _check_C(C)
    return float(0.5 * w @ w + C * hinge(y * (X @ w + b)).sum())


def _primal_value(norm2, f, y, C):
    """||w||^2/2 + C sum xi; for C = inf that of (w, b) scaled to functional margin 1."""
    if np.isfinite(C).all():
        return float(0.5 * norm2 + np.sum(C * hinge(y * f)))
    gamma = np.min(y * f)
    return float(0.5 * norm2 / gamma**2) if gamma > 0 else np.inf


def primal_objective(alpha, b, K, y, C):
    """Return ||w||^2 / 2 + C sum_i [1 - y_i f_i]_+ for w = sum_i alpha_i y_i phi(x_i).

    f_i = sum_j alpha_j y_j K_ij + b. For C = inf, (w, b) is first scaled to min_i y_i f_i = 1;
    the value is inf if an example is misclassified.

    Parameters
    ----------
    alpha : array of shape (n,)
    b : float
    K : array of shape (n, n)
        K_ij = k(x_i, x_j).
    y : array of shape (n,)
        Labels -1 and +1.
    C : float
        Above 0; inf for the hard margin.

    References
    ----------
    Book: support-vector-machines-hinge-form.
    """
    y = check_signs(y)
    K, alpha = _check_gram(K, y), check_vector(alpha, "alpha", length=len(y))
    _check_offset(b)
    _check_C(C, hard=True)
    g = K @ (alpha * y)
    return _primal_value((alpha * y) @ g, g + b, y, C)


def dual_objective(alpha, K, y):
    """Return sum_i alpha_i - sum_ij alpha_i alpha_j y_i y_j K_ij / 2.

    Parameters
    ----------
    alpha : array of shape (n,)
        Multipliers; dual feasible if 0 <= alpha_i <= C and sum_i alpha_i y_i = 0.
    K : array of shape (n, n)
        K_ij = k(x_i, x_j).
    y : array of shape (n,)
        Labels -1 and +1.

    References
    ----------
    Book: support-vector-machines-soft-dual.

    Examples
    --------
    >>> dual_objective([0.5, 0.5], [[1.0, -1.0], [-1.0, 1.0]], [-1, 1])
    0.5
    """
    y = check_signs(y)
    K, alpha = _check_gram(K, y), check_vector(alpha, "alpha", length=len(y))
    return float(alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y))


def duality_gap(alpha, b, K, y, C):
    """Return primal minus dual objective; at least 0 for every b and every dual feasible alpha.

    It equals sum_i alpha_i (y_i f_i - 1 + xi_i) + sum_i (C - alpha_i) xi_i, so it is 0 exactly
    where complementary slackness holds.

    Parameters
    ----------
    alpha : array of shape (n,)
    b : float
    K : array of shape (n, n)
    y : array of shape (n,)
        Labels -1 and +1.
    C : float
        Above 0; inf for the hard margin.

    References
    ----------
    Book: support-vector-machines-gap.

    Examples
    --------
    >>> duality_gap([0.5, 0.5], 0.0, [[1.0, -1.0], [-1.0, 1.0]], [-1, 1], C=1.0)
    0.0
    """
    return primal_objective(alpha, b, K, y, C) - dual_objective(alpha, K, y)


def kkt_residuals(alpha, b, K, y, C):
    """Return by how much alpha and b miss the Karush-Kuhn-Tucker conditions.

    Parameters
    ----------
    alpha : array of shape (n,)
    b : float
    K : array of shape (n, n)
    y : array of shape (n,)
        Labels -1 and +1.
    C : float
        Above 0; inf for the hard margin.

    Returns
    -------
    KKTResiduals

    References
    ----------
    Book: support-vector-machines-svm-complementary-slackness.

    Examples
    --------
    >>> kkt_residuals([0.5, 0.5], 0.0, [[1.0, -1.0], [-1.0, 1.0]], [-1, 1], C=1.0)
    KKTResiduals(primal=0.0, box=0.0, balance=0.0, margin=0.0, slack=0.0)
    """
    y = check_signs(y)
    K, alpha = _check_gram(K, y), check_vector(alpha, "alpha", length=len(y))
    _check_offset(b)
    _check_C(C, hard=True)
    m = y * (K @ (alpha * y) + b)
    hard = np.isinf(C)
    xi = np.zeros(len(y)) if hard else hinge(m)
    mu = np.zeros(len(y)) if hard else C - alpha  # C = inf: mu has nothing to multiply
    return KKTResiduals(
        primal=float(hinge(m).max()) if hard else 0.0,
        box=float(max(0.0, -alpha.min(), alpha.max() - C)),
        balance=float(abs(alpha @ y)),
        margin=float(np.abs(alpha * (m - 1 + xi)).max()),
        slack=float(np.abs(mu * xi).max()),
    )


# The offset and the support vectors ----------------------------------------------------------


def _up_low(alpha, y, C, tol=0.0):
    """Which y_i alpha_i may still grow (up), and which may still shrink (low)."""
    below, above = alpha < C - tol, alpha > tol
    return np.where(y > 0, below, above), np.where(y > 0, above, below)


def _rounding(alpha, C):
    return 1e-8 * np.minimum(C, max(alpha.max(), 0.0))


def _bracket(alpha, F, y, C, tol=0.0):
    up, low = _up_low(alpha, y, C, tol)
    return (
        float(np.max(F[up], initial=-np.inf)),
        float(np.min(F[low], initial=np.inf)),
    )


def offset_bracket(alpha, K, y, C):
    """Return the ends (low, high) of the interval that the KKT inequalities leave for b.

    With F_i = y_i - sum_j alpha_j y_j K_ij, low is the largest F_i over the examples whose
    y_i alpha_i can grow within the box, high is the smallest over those whose y_i alpha_i can
    shrink. At the optimum low <= high, with equality if some 0 < alpha_i < C; low > high means
    that alpha is not optimal.

    Parameters
    ----------
    alpha : array of shape (n,)
    K : array of shape (n, n)
    y : array of shape (n,)
        Labels -1 and +1.
    C : float
        Above 0; inf for the hard margin.

    References
    ----------
    Book: support-vector-machines-bias-recovery. Keerthi et al. (2001).

    Examples
    --------
    >>> offset_bracket([0.1, 0.1], [[1.0, -1.0], [-1.0, 1.0]], [-1, 1], C=0.1)
    (-0.8, 0.8)
    """
    y = check_signs(y)
    _check_two_sides(y)
    K, alpha = _check_gram(K, y), check_vector(alpha, "alpha", length=len(y))
    _check_C(C, hard=True)
    return _bracket(alpha, y - K @ (alpha * y), y, C, _rounding(alpha, C))


def _offset(alpha, F, y, C, tol=0.0):
    free = (alpha > tol) & (alpha < C - tol)
    if free.any():
        return float(F[free].mean())
    return float(np.mean(_bracket(alpha, F, y, C, tol)))


def recover_offset(alpha, K, y, C):
    """Return b = the mean of y_i - sum_j alpha_j y_j K_ij over the examples with 0 < alpha_i < C.

    If there are none, the midpoint of ``offset_bracket``.

    Parameters
    ----------
    alpha : array of shape (n,)
    K : array of shape (n, n)
    y : array of shape (n,)
        Labels -1 and +1.
    C : float
        Above 0; inf for the hard margin.

    References
    ----------
    Book: support-vector-machines-bias-recovery.

    Examples
    --------
    >>> recover_offset([0.5, 0.5], [[1.0, -1.0], [-1.0, 1.0]], [-1, 1], C=1.0)
    0.0
    """
    y = check_signs(y)
    _check_two_sides(y)
    K, alpha = _check_gram(K, y), check_vector(alpha, "alpha", length=len(y))
    _check_C(C, hard=True)
    return _offset(alpha, y - K @ (alpha * y), y, C, _rounding(alpha, C))


def support_vectors(alpha, f, y, C, *, tol=1e-6):
    """Sort the examples with alpha_i > 0: on the margin, inside it, or misclassified.

    Parameters
    ----------
    alpha : array of shape (n,)
    f : array of shape (n,)
        Scores of the training examples.
    y : array of shape (n,)
        Labels -1 and +1.
    C : float
        Above 0; inf for the hard margin.
    tol : float
        How far y_i f_i may be below 1 and still count as on the margin; a free multiplier,
        0 < alpha_i < C, is on the margin in any case.

    Returns
    -------
    SupportVectors

    References
    ----------
    Book: support-vector-machines-support-vectors.

    Examples
    --------
    >>> support_vectors([1.0, 0.0, 0.5, 1.0], [-0.2, 2.0, -1.0, 0.3], [1, 1, -1, 1], C=1.0)
    SupportVectors(on_margin=array([2]), inside=array([3]), misclassified=array([0]))
    """
    y = check_signs(y)
    alpha = check_vector(alpha, "alpha", length=len(y))
    m = y * check_vector(f, "f", length=len(y))
    _check_C(C, hard=True)
    check_scalar(tol, "tol", low=0)
    return _sorted_by_margin(alpha, m, C, tol)


def _sorted_by_margin(alpha, m, C, tol):
    zero = _rounding(alpha, C)
    support, free = alpha > zero, (alpha > zero) & (alpha < C - zero)
    on = support & (free | (m >= 1 - tol))
    return SupportVectors(
        np.flatnonzero(on),
        np.flatnonzero(support & ~on & (m > 0)),
        np.flatnonzero(support & ~on & (m <= 0)),
    )


# Solving the dual ----------------------------------------------------------------------------


def smo(K, y, C=1.0, *, tol=1e-6, max_iter=100_000):
    """Maximise sum_i alpha_i - sum_ij alpha_i alpha_j y_i y_j K_ij / 2 two multipliers at a time.

    Subject to 0 <= alpha_i <= C and sum_i alpha_i y_i = 0. Each step picks the pair that promises
    the largest gain, moves y_i alpha_i up and y_j alpha_j down by the same t, and stops t at the
    box. F_i = y_i - sum_j alpha_j y_j K_ij is the offset at which example i has score y_i.

    Parameters
    ----------
    K : array of shape (n, n)
        K_ij = k(x_i, x_j), positive semi-definite.
    y : array of shape (n,)
        Labels -1 and +1, both present.
    C : float
        Above 0; inf for the hard margin.
    tol : float
        Stop when no pair violates the optimality condition by more, in units of the score.
    max_iter : int
        Steps at most.

    Returns
    -------
    SMORun

    Raises
    ------
    ValueError
        If K is not square, symmetric and positive semi-definite, if y has one class, if C <= 0,
        or if C = inf and the classes are not separable.

    Warns
    -----
    ConvergenceWarning
        If max_iter is reached; fewer steps than examples cut a run short on purpose.

    References
    ----------
    Book: support-vector-machines-smo. Platt (1998); Fan, Chen and Lin (2005), working set
    selection 2.

    Examples
    --------
    >>> run = smo([[1.0, -1.0], [-1.0, 1.0]], [-1, 1], C=1.0)
    >>> run.alpha, run.b, run.gap
    (array([0.5, 0.5]), 0.0, 0.0)
    """
    K, y = _check_problem(K, y, C, tol, max_iter)
    rows, run = _KernelRows(K, _PrecomputedKernel()), None
    if np.inf == C:
        run = _solve(rows, y, C, tol, min(max_iter, 1000 + 20 * len(y)))
        if not run.converged:
            _refuse_inseparable(K, y)
    if run is None or not (run.converged or run.n_iter == max_iter):
        run = _solve(rows, y, C, tol, max_iter)
    if not run.converged and max_iter >= len(y):
        convergence_warning(
            f"smo stopped after max_iter={max_iter} steps with violation {run.violation:.3g} "
            f"(tolerance {tol:g}) and duality gap {run.gap:.3g}: raise max_iter or tol, or lower C."
        )
    return run


def _refuse_inseparable(K, y):
    """Raise if no hyperplane separates the images phi(x_i), which K determines up to a rotation.

    Independent images can be separated whatever y is. Otherwise their coordinates along the
    eigenvectors of K, as many as its rank, are given to the linear programme, each in its own
    unit: that changes the weights of a separating plane and not whether there is one.
    """
    values, vectors = np.linalg.eigh(K)
    keep = values > len(K) * np.finfo(float).eps * values[-1]
    if not keep.all() and separating_weights(add_intercept(vectors[:, keep]), y) is None:
        raise _not_separable("in the feature space of the kernel")


def _check_problem(K, y, C, tol, max_iter):
    y = check_signs(y)
    _check_two_sides(y)
    K = _check_gram(K, y)
    check_psd(K)
    _check_C(C, hard=True)
    check_scalar(tol, "tol", low=0, open_low=True)
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    return K, y


_DONE, _TRACE_FULL, _UNBOUNDED, _NOT_A_KERNEL = -1, -2, -3, -4


@compiled
def _exchange(alpha, F, y, C, k, rows, slot, scale, trace, step, tol, max_iter):
    """Make steps of ``smo``, in place, until it ends or needs something.

    k is the diagonal of K, and K_i stands in rows[slot[i]]; slot[i] = -1 where it is still unknown.
    C[i] is the bound of alpha[i]; either all are finite or none is.
    Return the index of the row that is needed or what else the matter is, and the number of steps
    made.
    """
    up, low = np.empty(len(y), dtype=np.bool_), np.empty(len(y), dtype=np.bool_)
    for s in range(len(y)):  # which y_s alpha_s may grow, and which may shrink
        up[s] = alpha[s] < C[s] if y[s] > 0 else alpha[s] > 0
        low[s] = alpha[s] > 0 if y[s] > 0 else alpha[s] < C[s]
    # two images of one point: no distance, but a step of finite length unless C is infinite
    small = 1e-12 * scale if np.inf > C[0] else 1e-14 * scale
    least = small if np.inf > C[0] else max(1e-290 * min(scale, 1.0), 1e-300)
    while True:
        i, highest, lowest = 0, -np.inf, np.inf
        for s in range(len(y)):
            if up[s] and F[s] > highest:
                i, highest = s, F[s]
            if low[s] and F[s] < lowest:
                lowest = F[s]
        if highest - lowest <= tol or step == max_iter:
            return _DONE, step
        if step + 1 == len(trace):
            return _TRACE_FULL, step
        if slot[i] < 0:
            return i, step
        K_i, j, slope, curve = rows[slot[i]], 0, 0.0, 1.0
        for s in range(len(y)):
            if low[s] and F[s] < highest:
                distance2 = k[i] + k[s] - 2 * K_i[s]
                if distance2 < -1e-5 * scale:
                    return _NOT_A_KERNEL, step
                distance2 = distance2 if distance2 > small else least
                if (highest - F[s]) ** 2 * curve > slope**2 * distance2:  # the largest gain
                    j, slope, curve = s, highest - F[s], distance2
        if slot[j] < 0:
            return j, step
        K_j = rows[slot[j]]
        room_i = C[i] - alpha[i] if y[i] > 0 else alpha[i]
        room_j = alpha[j] if y[j] > 0 else C[j] - alpha[j]
        t = min(slope / curve, room_i, room_j)
        if not t < 1e280:
            return _UNBOUNDED, step
        alpha[i] = alpha[i] + y[i] * t if t < room_i else (C[i] if y[i] > 0 else 0.0)
        alpha[j] = alpha[j] - y[j] * t if t < room_j else (0.0 if y[j] > 0 else C[j])
        for s in (i, j):
            up[s] = alpha[s] < C[s] if y[s] > 0 else alpha[s] > 0
            low[s] = alpha[s] > 0 if y[s] > 0 else alpha[s] < C[s]
        trace[step + 1] = trace[step] + t * slope - 0.5 * t**2 * (k[i] + k[j] - 2 * K_i[j])
        step += 1
        for s in range(len(y)):
            F[s] -= t * (K_i[s] - K_j[s])


def _solve(rows, y, C, tol, max_iter):
    """``smo`` with the rows of a kernel: hand over those that ``_exchange`` asks for.

    C may be an array, with the bound of each multiplier.
    """
    bounds = np.full(rows.n, C, dtype=np.float64)
    alpha, F, trace, step, needed = np.zeros(rows.n), y.copy(), np.zeros(1000), 0, 0
    while needed != _DONE:
        needed, step = _exchange(
            alpha, F, y, bounds, rows.diagonal, rows.table, rows.slot, rows.scale, trace, step,
            tol, max_iter,
        )  # fmt: skip
        if needed == _TRACE_FULL:
            trace = np.append(trace, np.zeros(len(trace)))
        elif needed == _UNBOUNDED:
            raise _not_separable("in the feature space of the kernel")
        elif needed == _NOT_A_KERNEL:
            raise ValueError(
                "kernel must be positive semi-definite, but it gives a negative squared distance: "
                "use a kernel that is an inner product."
            )
        elif needed >= 0:
            rows.fetch(needed)
    F = y - rows.times(alpha * y)  # afresh: no rounding has piled up
    return _smo_run(alpha, F, y, C, trace[: step + 1], tol, max_iter)


def _smo_run(alpha, F, y, C, trace, tol, max_iter):
    """Collect what is known at the end; all of it follows from alpha and F."""
    b = _offset(alpha, F, y, C, _rounding(alpha, C))
    violation = np.subtract(*_bracket(alpha, F, y, C))
    n_iter = len(trace) - 1
    beta = alpha * y
    norm2 = max(0.0, float(beta @ (y - F)))
    f = y - F + b
    primal, dual = _primal_value(norm2, f, y, C), float(alpha.sum() - 0.5 * norm2)
    return SMORun(
        alpha=alpha,
        b=b,
        f=f,
        primal=primal,
        dual=dual,
        gap=primal - dual,
        violation=float(violation),
        trace=trace,
        n_iter=n_iter,
        converged=bool(n_iter < max_iter or violation <= tol),
    )


class _KernelRows:
    """Rows of the kernel matrix: all of them for small problems, else those that were asked for.

    The oldest row makes room for a new one where the table is full.
    """

    WHOLE = 1500  # examples up to which the whole matrix is kept: 18 MB
    TABLE = 100e6  # bytes of kept rows otherwise

    def __init__(self, X, kernel):
        self.X, self.kernel, self.n = X, kernel, len(X)
        self.diagonal = np.ascontiguousarray(kernel.diagonal(X))
        self.scale = max(float(np.max(self.diagonal)), 1e-290)
        if self.n <= self.WHOLE or isinstance(kernel, _PrecomputedKernel):
            self.table, self.slot = np.ascontiguousarray(kernel.matrix(X)), np.arange(self.n)
        else:
            size = min(self.n, max(2, int(self.TABLE / (8 * self.n))))
            self.table, self.slot = np.empty((size, self.n)), np.full(self.n, -1)
            self.owner, self.fetched, self.row_of = np.full(size, -1), 0, kernel.rows(X)

    def fetch(self, i):
        """Put K_i into the table."""
        place = self.fetched % len(self.table)
        if self.owner[place] >= 0:
            self.slot[self.owner[place]] = -1
        self.table[place], self.owner[place], self.slot[i] = self.row_of(i), i, place
        self.fetched += 1

    def restrict(self, rows):
        """The same for some of the examples."""
        if len(rows) == self.n:
            return self
        return _KernelRows(self.kernel.take(self.X, rows), self.kernel)

    def times(self, beta):
        """Return K beta, from the rows where beta is not zero."""
        used = np.flatnonzero(beta)
        total, kept = np.zeros(self.n), used[self.slot[used] >= 0]
        for i in range(0, len(kept), 100):
            part = kept[i : i + 100]
            total += beta[part] @ self.table[self.slot[part]]
        for i in used[self.slot[used] < 0]:
            total += beta[i] * self.row_of(int(i))
        return total


# Solving the linear primal -------------------------------------------------------------------


def linear_svm(X, y, C=1.0, *, loss="hinge", fit_intercept=True, tol=1e-6, max_iter=1000):
    """Minimise ||w||^2 / 2 + C sum_i loss(1 - y_i (w^T x_i + b)) over w and b by Newton's method.

    loss(u) is [u]_+ ("hinge") or [u]_+^2 ("squared_hinge"); b is not penalised. The hinge is
    rounded off over a width h, and h is reduced until the gap of the hinge problem itself is
    below ``tol`` times its value. One step costs O(n d^2): made for n >> d.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
        Labels -1 and +1, both present.
    C : float
        Above 0.
    loss : {"hinge", "squared_hinge"}
    fit_intercept : bool
        Whether there is an offset; otherwise b = 0.
    tol : float
        Largest duality gap, relative to the objective.
    max_iter : int
        Newton steps at most.

    Returns
    -------
    LinearRun

    Raises
    ------
    ValueError
        If X or y has the wrong shape, y one class, or C <= 0.

    References
    ----------
    Book: support-vector-machines-primal-vs-dual-cost. Chapelle (2007).

    Examples
    --------
    >>> run = linear_svm([[-1.0], [1.0], [3.0]], [-1, 1, 1], C=10.0)
    >>> run.w.round(4), abs(round(run.b, 4))
    (array([1.]), 0.0)
    """
    return _primal_svm(X, y, C, loss, fit_intercept, tol, max_iter)


def _primal_svm(X, y, C, loss, fit_intercept, tol, max_iter, s=1.0):
    """``linear_svm`` with weights s_i on the losses."""
    X = check_array(X)
    y = check_signs(y, len(X))
    _check_two_sides(y)
    _check_C(C)
    check_choice(loss, "loss", ("hinge", "squared_hinge"))
    check_scalar(tol, "tol", low=0, open_low=True)
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    if np.max(s) > 1e140 / C or C * np.max(s) * (1 + np.abs(X).max()) > 1e140:  # squares overflow
        raise _price_too_high()
    if X.shape[1] > len(X):  # w is a combination of the rows: work in their span
        Q, R = np.linalg.qr(X.T)
        run = _linear_svm(R.T, y, C, loss, fit_intercept, tol, max_iter, s)
        return run._replace(w=Q @ run.w)
    return _linear_svm(X, y, C, loss, fit_intercept, tol, max_iter, s)


def _linear_svm(X, y, C, loss, fit_intercept, tol, max_iter, s=1.0):
    """``linear_svm`` with weights s_i on the losses.

    The row sqrt(s_i) (x_i, 1) and the margin sqrt(s_i) in place of (x_i, 1) and 1 make C s_i of the
    price of a square, and the same with the cap C sqrt(s_i) of a hinge.
    """
    root = np.sqrt(np.full(len(X), s, dtype=np.float64))
    A = y[:, None] * (add_intercept(X) if fit_intercept else X)
    B = A if np.ndim(s) == 0 else root[:, None] * A
    penalty = np.ones(A.shape[1])
    penalty[: int(fit_intercept)] = 0.0
    u, trace = np.zeros(A.shape[1]), []
    squared = loss == "squared_hinge"
    h = 1.0
    while True:
        q, cap = (2 * C, None) if squared else (C / h, C * root)
        u, a, values = _newton_margin(B, root, penalty, u, q, cap, max_iter - len(trace))
        trace += values
        run = _linear_run(A, y, penalty, u, root * a, C * root**2, squared, trace, tol)
        if run.converged or squared or len(trace) >= max_iter or h < 1e-12:
            return run
        h *= 0.1


def _newton_margin(A, goal, penalty, u, q, cap, max_steps):
    """Minimise sum penalty u^2 / 2 + sum_i phi(goal_i - (A u)_i) by Newton steps, searching lines.

    phi(v) = a v - a^2 / 2q with a = phi'(v) = min(max(q v, 0), cap_i): zero, then curved, then
    straight; without cap it stays curved. Only the curved examples enter the second derivative.
    Return u, a and the objective after each step.
    """
    v, values = goal - A @ u, []
    a, now = _pull(q * v, cap)
    before, G = np.zeros(len(A), dtype=bool), np.zeros((A.shape[1], A.shape[1]))
    for _ in range(max(1, max_steps)):
        G = _gram_of(A, now, before, G)
        gradient = penalty * u - a @ A
        step = -_solve_scaled(q * G, penalty, gradient, q)
        z = A @ step
        t = _line_search(u, v, step, z, penalty, q, cap)
        u, v, before = u + t * step, v - t * z, now
        a, now = _pull(q * v, cap)
        values.append(float(0.5 * penalty @ u**2 + a @ v - 0.5 * a @ a / q))
        still = (now == before).all()
        if (t == 1 and still and now.any()) or -gradient @ step <= 1e-15 * values[-1]:
            break
    return u, a, values


def _pull(w, cap):
    """Return a = w cut to [0, cap], and which of its entries lie strictly between."""
    now = w > 0
    a = np.where(now, w, 0.0)
    if cap is not None:
        now &= w < cap
        np.minimum(a, cap, out=a)
    return a, now


def _gram_of(A, now, before, G):
    """Return A_now^T A_now, from G = A_before^T A_before where that is less work."""
    changed = now != before
    if np.count_nonzero(changed) >= np.count_nonzero(now):
        B = A.compress(now, axis=0)
        return B.T @ B
    enter, leave = A.compress(changed & now, axis=0), A.compress(changed & before, axis=0)
    return G + enter.T @ enter - leave.T @ leave


def _solve_scaled(H, penalty, gradient, q):
    """Solve (H + diag(penalty)) x = gradient, scaled to unit diagonal; a flat offset gets q."""
    diagonal = H.reshape(-1)[:: len(H) + 1]  # a view
    diagonal += penalty
    diagonal += np.where(diagonal > 0, 1e-13 * diagonal, q)
    s = 1 / np.sqrt(diagonal)
    _, x, failed = dposv(H * s * s[:, None], s * gradient)
    if failed:
        raise _price_too_high()
    return s * x


def _line_search(u, v, step, z, penalty, q, cap):
    """Return 1 if the full step lands near the minimum along it, else the minimiser.

    The slope along the step is continuous, never falls, and is straight between the points where an
    example begins or ceases to count: once it has changed its sign, a few chords find its zero.
    """
    constant, linear = (penalty * u) @ step, (penalty * step) @ step
    qv, qz, w = q * v, q * z, np.empty_like(v)

    def slope(t):
        np.subtract(qv, qz if t == 1 else t * qz, out=w)
        np.maximum(w, 0.0, out=w)
        if cap is not None:
            np.minimum(w, cap, out=w)
        return constant + t * linear - w @ z

    low, at_low, high = 0.0, slope(0.0), 1.0
    at_high = slope(1.0)
    if at_low >= 0 or abs(at_high) <= 3e-2 * abs(at_low):
        return 1.0
    while at_high < 0 and high < 1e30:  # a step through a flat stretch is too short
        low, at_low, high = high, at_high, 4 * high
        at_high = slope(high)
    if at_high < 0:  # no end in sight
        return high
    best = min(abs(at_low), at_high)
    for k in range(60):
        t = 0.5 * (low + high) if k % 4 == 3 else low - at_low * (high - low) / (at_high - at_low)
        value = slope(t)
        if abs(value) <= 1e-2 * best:
            break
        if value < 0:
            low, at_low = t, value
        else:
            high, at_high = t, value
    return t


def _linear_run(A, y, penalty, u, alpha, C, squared, trace, tol):
    """Certify u: make alpha dual feasible by shrinking the heavier side, then take the gap."""
    free_offset = penalty[0] == 0
    if free_offset:
        plus, minus = alpha[y > 0].sum(), alpha[y < 0].sum()
        ratio = min(plus, minus) / max(plus, minus, 1e-300)
        alpha = np.where((y > 0) == (plus > minus), ratio * alpha, alpha)
    xi = np.maximum(0.0, 1 - A @ u)
    primal = 0.5 * penalty @ u**2 + C @ (xi**2 if squared else xi)
    dual = alpha.sum() - 0.5 * penalty @ (alpha @ A) ** 2
    dual -= 0.25 * alpha @ (alpha / C) if squared else 0.0
    gap = float(primal - dual)
    w, b = (u[1:], float(u[0])) if free_offset else (u, 0.0)
    return LinearRun(
        w, b, alpha, float(primal), float(dual), gap, np.array(trace), len(trace),
        bool(gap <= tol * primal),
    )  # fmt: skip


# Several classes -----------------------------------------------------------------------------


def binary_problems(index, K, scheme):
    """Return the two-class problems that a K-class problem is split into.

    Parameters
    ----------
    index : array of shape (n,)
        Class of each example, 0 to K - 1.
    K : int
        Number of classes, at least 2.
    scheme : {"ovo", "ovr"}
        One against one: classes k < l with label -1 for k and +1 for l, K (K - 1) / 2 problems.
        One against the rest: +1 for k, -1 for all others, K problems. K = 2 is one problem
        either way, +1 for class 1.

    Returns
    -------
    list of (rows, y)
        Indices of the examples that take part, shape (n_m,), and their labels -1 and +1.

    Examples
    --------
    >>> [y.tolist() for rows, y in binary_problems([0, 1, 2], 3, "ovr")]
    [[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    check_scalar(K, "K", low=2, integer=True)
    index = np.asarray(index)
    if index.ndim != 1 or not np.isin(index, np.arange(K)).all():
        raise ValueError(f"index must be a vector of classes 0 to {K - 1}.")
    check_choice(scheme, "scheme", ("ovo", "ovr"))
    if K == 2 or scheme == "ovr":
        everyone = np.arange(len(index))
        classes = [1] if K == 2 else range(K)
        return [(everyone, np.where(index == k, 1.0, -1.0)) for k in classes]
    problems = []
    for k in range(K):
        for l in range(k + 1, K):
            rows = np.flatnonzero((index == k) | (index == l))
            problems.append((rows, np.where(index[rows] == l, 1.0, -1.0)))
    return problems


def votes(scores, K):
    """Turn one-against-one scores into one score per class: the number of duels that it wins.

    Equal numbers are ordered by the sum of the scores in its duels, squashed into (-1/3, 1/3).

    Parameters
    ----------
    scores : array of shape (n, K (K - 1) / 2)
        Scores of the problems k < l in the order of ``binary_problems``; above 0 favours l.
    K : int

    Returns
    -------
    array of shape (n, K)

    Examples
    --------
    >>> votes([[-2.0, -1.0, 3.0]], 3).round(2)
    array([[ 2.25, -0.28,  1.22]])
    """
    scores = check_array(scores, "scores")
    check_scalar(K, "K", low=2, integer=True)
    if scores.shape[1] != K * (K - 1) // 2:
        raise ValueError(
            f"scores must have {K * (K - 1) // 2} columns, one for each pair of the {K} classes, "
            f"got {scores.shape[1]}."
        )
    won, confidence = np.zeros((len(scores), K)), np.zeros((len(scores), K))
    column = 0
    for k in range(K):
        for l in range(k + 1, K):
            s = scores[:, column]
            won[:, l] += s > 0
            won[:, k] += s <= 0
            confidence[:, l] += s
            confidence[:, k] -= s
            column += 1
    return won + confidence / (3 * (np.abs(confidence) + 1))


# Kernels as the estimators use them ----------------------------------------------------------


class _Kernel:
    """A kernel function with what the solver asks for: matrix, single rows, diagonal."""

    def __init__(self, function):
        self.function = function

    def between(self, X, Y):
        return check_kernel_values(self.function, X, Y)

    def matrix(self, X):
        return self.between(X, X)

    def rows(self, X):
        return lambda i: self.between(X[i : i + 1], X)[0]

    def diagonal(self, X):
        blocks = [X[i : i + 64] for i in range(0, len(X), 64)]
        return np.concatenate([np.diag(self.between(B, B)) for B in blocks])

    def take(self, X, rows):
        return X[rows]


class _RBFKernel(_Kernel):
    """exp(-||x - y||^2 / (2 ell^2)); a row costs one matrix-vector product and n exponentials."""

    def __init__(self, ell):
        super().__init__(partial(rbf_kernel, ell=ell))
        self.ell = ell

    def rows(self, X):
        Z = (X - X.mean(axis=0)) / self.ell
        h = 0.5 * np.einsum("ij,ij->i", Z, Z)

        def row(i):
            r = Z @ Z[i]
            r -= h
            r -= h[i]
            return np.exp(np.minimum(r, 0.0, out=r), out=r)

        return row

    def matrix(self, X):
        return rbf_kernel(X, X, self.ell)

    def diagonal(self, X):
        return np.ones(len(X))


class _PrecomputedKernel(_Kernel):
    """X already holds k(x_i, x_j)."""

    def __init__(self):
        super().__init__(None)

    def matrix(self, X):
        return X

    def rows(self, X):
        return X.__getitem__

    def diagonal(self, X):
        return np.diag(X)

    def take(self, X, rows):
        return X[np.ix_(rows, rows)]


# Estimators ----------------------------------------------------------------------------------


class _MarginClassifier(Classifier):
    """What the estimators of this chapter share: scores, votes and labels."""

    def _problems(self, index, K):
        self._way = check_choice(self.multi_class, "multi_class", ("ovo", "ovr"))
        return binary_problems(index, K, self._way)

    def _scores(self, X):
        return X @ self.coef_.T + self.intercept_

    def decision_function(self, X):
        """Return the score f(x) for two classes, shape (n,), else one score per class, (n, K)."""
        S = self._scores(check_features(self, X))
        K = len(self.classes_)
        if K == 2:
            return S[:, 0]
        return votes(S, K) if self._way == "ovo" else S

    def predict(self, X):
        """Return the class of the largest score, shape (n,); f(x) = 0 is the first of two."""
        D = self.decision_function(X)
        return self.classes_[D.argmax(axis=1) if D.ndim == 2 else (D > 0).astype(int)]


class SVC(_MarginClassifier):
    """Soft-margin support vector machine: min ||w||^2 / 2 + C sum_i s_i [1 - y_i f(x_i)]_+.

    f(x) = w^T phi(x) + b = sum_i alpha_i y_i k(x_i, x) + b, found through the dual by ``smo``;
    a weight s_i, 1 unless given, makes the box of alpha_i the interval from 0 to C s_i. If every
    alpha_i ends at 0 or C s_i, up to rounding, a whole interval of b is optimal: b is its midpoint.

    Parameters
    ----------
    C : float
        Price of a unit of slack, above 0.
    kernel : {"rbf", "linear", "polynomial", "precomputed"} or callable
        A callable ``kernel(X, Y)`` returns the matrix k(x_i, y_j). With "precomputed", X is
        K of shape (n, n) in ``fit`` and of shape (m, n) in ``predict``.
    ell : float or "scale"
        Length in exp(-||x - y||^2 / (2 ell^2)) and in (coef0 + x^T y / ell^2)^degree, in units of
        the inputs; "scale" takes ``default_width(X)``.
    degree, coef0 : int, float
        Of the polynomial kernel.
    multi_class : {"ovo", "ovr"}
        One against one, or one against the rest.
    tol : float
        Largest violation of optimality, in units of the score.
    max_iter : int
        Steps at most for each two-class problem.
    class_weight : None, "balanced" or dict
        Factor for the weights s_i of the examples of each class.

    Attributes
    ----------
    classes_ : array of shape (K,)
    support_ : array of int
        Training examples with alpha_i > 0 in some two-class problem.
    support_vectors_ : array of shape (n_support, d)
        Their inputs (rows of K if precomputed).
    dual_coef_ : array of shape (n_problems, n_support)
        alpha_i y_i, one row for each problem of ``binary_problems``.
    intercept_ : array of shape (n_problems,)
    coef_ : array of shape (n_problems, d)
        w, for the linear kernel only.
    kinds_ : list of SupportVectors
        Training examples on the margin, inside it and misclassified, for each problem.
    gap_, primal_, dual_, violation_ : arrays of shape (n_problems,)
        Duality gap, objectives and largest violation at the end.
    n_iter_ : array of shape (n_problems,)
    converged_ : bool
    ell_ : float

    Raises
    ------
    ValueError
        If a precomputed K is not square, symmetric and positive semi-definite, among the usual.

    References
    ----------
    Book: support-vector-machines-kernel-svm. Cortes and Vapnik (1995).

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], ["no", "no", "yes", "yes"]
    >>> SVC(C=10.0).fit(X, y).predict([[0.1, 0.9]])
    array(['yes'], dtype='<U3')
    """

    def __init__(
        self,
        C=1.0,
        kernel="rbf",
        ell="scale",
        degree=3,
        coef0=1.0,
        multi_class="ovo",
        tol=1e-3,
        max_iter=100_000,
        class_weight=None,
    ):
        self.C = C
        self.kernel = kernel
        self.ell = ell
        self.degree = degree
        self.coef0 = coef0
        self.multi_class = multi_class
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _bound(self):
        return _check_C(self.C)

    def _make_kernel(self, X, s=None):
        if callable(self.kernel):
            return _Kernel(self.kernel)
        names = ("rbf", "linear", "polynomial", "precomputed")
        check_choice(self.kernel, "kernel", names)
        if self.kernel == "precomputed":
            check_psd(X, "X, the precomputed kernel,")
            return _PrecomputedKernel()
        if self.kernel == "linear":
            return _Kernel(linear_kernel)
        if isinstance(self.ell, str):
            check_choice(self.ell, "ell", ("scale",))
            self.ell_ = default_width(X, s)
        else:
            self.ell_ = check_scalar(self.ell, "ell", low=0, open_low=True)
        if self.kernel == "rbf":
            return _RBFKernel(self.ell_)
        r = check_scalar(self.degree, "degree", low=1, integer=True)
        c, ell = check_scalar(self.coef0, "coef0", low=0), self.ell_
        return _Kernel(partial(polynomial_kernel, r=r, c=c, ell=ell))

    def fit(self, X, y, sample_weight=None):
        """Train on X of shape (n, d), labels y of two or more classes and weights, both (n,)."""
        begin_fit(self, X)
        return self._fit(X, y, sample_weight, self.class_weight)

    def _fit(self, X, y, sample_weight, class_weight):
        C, name = self._bound(), type(self).__name__
        check_scalar(self.tol, "tol", low=0, open_low=True)
        check_scalar(self.max_iter, "max_iter", low=1, integer=True)
        X, classes, index, s, kept = check_weighted_X_y(X, y, sample_weight, class_weight, name)
        self.classes_, self.n_features_in_ = classes, X.shape[1]
        if isinstance(self.kernel, str) and self.kernel == "precomputed" and len(X) < X.shape[1]:
            X = X[:, kept] if kept[-1] < X.shape[1] else X
        C = np.full(len(X), C) if s is None else C * s
        problems = self._problems(index, len(classes))
        self._kernel = self._make_kernel(X, s)
        linear = isinstance(self.kernel, str) and self.kernel == "linear"
        Z = np.ascontiguousarray(X) if linear else X
        self._centre = Z.mean(axis=0) if linear else None  # moves b alone, and saves digits
        rows = _KernelRows(Z - self._centre if linear else X, self._kernel)
        beta, runs = np.zeros((len(problems), len(X))), []
        for m, (who, signs) in enumerate(problems):
            run = _solve(rows.restrict(who), signs, C[who], self.tol, self.max_iter)
            beta[m, who] = run.alpha * signs
            runs.append(run)
        support = np.flatnonzero(beta.any(axis=0))
        self.support_, self.support_vectors_ = kept[support], X[support]
        self.dual_coef_ = beta[:, support]
        self._store(runs, [(kept[who], signs, C[who]) for who, signs in problems])
        return self

    def _store(self, runs, problems):
        self.intercept_ = np.array([run.b for run in runs])
        if self._centre is not None:
            self.coef_ = self.dual_coef_ @ (self.support_vectors_ - self._centre)
            self.intercept_ -= self.coef_ @ self._centre
        elif hasattr(self, "coef_"):
            del self.coef_
        self.kinds_ = [
            SupportVectors(*(who[s] for s in _sorted_by_margin(r.alpha, y * r.f, C, self.tol)))
            for r, (who, y, C) in zip(runs, problems)
        ]
        for field in ("gap", "primal", "dual", "violation", "n_iter"):
            setattr(self, f"{field}_", np.array([getattr(run, field) for run in runs]))
        self.converged_ = all(run.converged for run in runs)
        if not self.converged_:
            convergence_warning(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} steps with "
                f"violation {self.violation_.max():.3g} (tolerance {self.tol:g}) and duality gap "
                f"{self.gap_.max():.3g}: raise max_iter, scale the features, or lower C."
            )

    def _scores(self, X):
        if self._centre is not None:
            return super()._scores(X)
        if isinstance(self._kernel, _PrecomputedKernel):
            return X[:, self.support_] @ self.dual_coef_.T + self.intercept_
        size = max(1, int(2e6 / max(1, len(self.support_))))
        blocks = [
            self._kernel.between(X[i : i + size], self.support_vectors_) @ self.dual_coef_.T
            for i in range(0, len(X), size)
        ]
        return np.concatenate(blocks) + self.intercept_


class HardMarginSVM(SVC):
    """The separator of largest margin: min ||w||^2 / 2 subject to y_i (w^T phi(x_i) + b) >= 1.

    There are no weights: a condition that is repeated is the same condition.

    Parameters
    ----------
    kernel, ell, degree, coef0, multi_class, tol, max_iter
        As ``SVC``.

    Attributes
    ----------
    margin_ : array of shape (n_problems,)
        Geometric margin min_i y_i f(x_i) / ||w||, in the feature space of the kernel.
    classes_, support_, support_vectors_, dual_coef_, intercept_, coef_, gap_, ...
        As ``SVC``; ``gap_`` is that of (w, b) scaled to y_i f(x_i) >= 1.

    Raises
    ------
    ValueError
        If two classes are not separable: for the linear kernel decided by a linear programme, for
        others when the dual grows without bound.

    References
    ----------
    Book: support-vector-machines-hard-margin. Boser, Guyon and Vapnik (1992).

    Examples
    --------
    >>> model = HardMarginSVM().fit([[0.0, 0.0], [3.0, 4.0], [9.0, 9.0]], [0, 1, 1])
    >>> model.coef_.round(6), model.intercept_.round(6), model.margin_.round(6)
    (array([[0.24, 0.32]]), array([-1.]), array([2.5]))
    """

    def __init__(
        self,
        kernel="linear",
        ell="scale",
        degree=3,
        coef0=1.0,
        multi_class="ovo",
        tol=1e-6,
        max_iter=100_000,
    ):
        self.kernel = kernel
        self.ell = ell
        self.degree = degree
        self.coef0 = coef0
        self.multi_class = multi_class
        self.tol = tol
        self.max_iter = max_iter

    def _bound(self):
        return np.inf

    def fit(self, X, y):
        """Train on X of shape (n, d) and labels y of shape (n,) of separable classes."""
        begin_fit(self, X)
        if isinstance(self.kernel, str) and self.kernel == "linear":
            A, classes, index = check_X_y(X, y, type(self).__name__)
            if 0 < np.ptp(A, axis=0).max() < 1e-145:
                raise ValueError("X is too small, its squares would vanish: divide it by a unit.")
            for who, signs in self._problems(index, len(classes)):
                Z = add_intercept(A[who] - A[who].mean(axis=0))
                if separating_weights(Z, signs) is None:
                    raise _not_separable("by a hyperplane")
        return self._fit(X, y, None, None)

    def _store(self, runs, problems):
        pairs = [(run, y) for run, (_, y, _) in zip(runs, problems)]
        smallest = [np.min(y * run.f) for run, y in pairs]
        norms = [np.sqrt((run.alpha * y) @ (run.f - run.b)) for run, y in pairs]
        self.margin_ = np.divide(smallest, norms)
        super()._store(runs, problems)


class LinearSVC(_MarginClassifier):
    """Linear support vector machine by its primal: ||w||^2 / 2 + C sum_i s_i loss(1 - y_i f(x_i)).

    f(x) = w^T x + b, loss(u) = [u]_+^2 or [u]_+; b is not penalised, s_i is 1 unless given.

    Parameters
    ----------
    C : float
        Price of slack, above 0.
    loss : {"squared_hinge", "hinge"}
    fit_intercept : bool
        Whether there is an offset b.
    multi_class : {"ovr", "ovo"}
        One against the rest, or one against one.
    tol : float
        Largest duality gap relative to the objective.
    max_iter : int
        Newton steps at most for each two-class problem.
    class_weight : None, "balanced" or dict
        Factor for the weights s_i of the examples of each class.

    Attributes
    ----------
    classes_ : array of shape (K,)
    coef_, intercept_ : arrays of shape (n_problems, d) and (n_problems,)
    gap_, primal_, dual_ : arrays of shape (n_problems,)
    n_iter_ : array of shape (n_problems,)
    converged_ : bool

    References
    ----------
    Book: support-vector-machines-primal-vs-dual-cost. Chapelle (2007).

    Examples
    --------
    >>> LinearSVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[1.4], [1.6]])
    array([0, 1])
    """

    def __init__(
        self,
        C=1.0,
        loss="squared_hinge",
        fit_intercept=True,
        multi_class="ovr",
        tol=1e-4,
        max_iter=1000,
        class_weight=None,
    ):
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    def fit(self, X, y, sample_weight=None):
        """Train on X of shape (n, d), labels y of two or more classes and weights, both (n,)."""
        begin_fit(self, X)
        name = type(self).__name__
        X, classes, index, s, _ = check_weighted_X_y(X, y, sample_weight, self.class_weight, name)
        options = {
            "loss": self.loss,
            "fit_intercept": self.fit_intercept,
            "tol": self.tol,
            "max_iter": self.max_iter,
        }
        problems = self._problems(index, len(classes))
        runs = [
            _primal_svm(
                X if len(who) == len(X) else X[who],
                signs,
                self.C,
                s=1.0 if s is None else s[who],
                **options,
            )
            for who, signs in problems
        ]
        self.coef_ = np.array([run.w for run in runs])
        self.intercept_ = np.array([run.b for run in runs])
        self.classes_, self.n_features_in_ = classes, X.shape[1]
        for field in ("gap", "primal", "dual", "n_iter"):
            setattr(self, f"{field}_", np.array([getattr(run, field) for run in runs]))
        self.converged_ = all(run.converged for run in runs)
        if not self.converged_:
            convergence_warning(
                f"LinearSVC stopped after max_iter={self.max_iter} steps with relative gap "
                f"{(self.gap_ / self.primal_).max():.3g} (tolerance {self.tol:g}): raise max_iter."
            )
        return self
