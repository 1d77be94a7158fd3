"""Support vector machines: separators of largest margin, hard and soft, linear and with kernels.

Chapter: Kernels and margins, *Support vector machines*. Main references: Boser, Guyon and Vapnik
(1992), Cortes and Vapnik (1995); Platt (1998) and Fan, Chen and Lin (2005) for the solver.

Everywhere the labels y, shape (n,), are -1 and +1; K, shape (n, n), holds k(x_i, x_j); alpha, shape
(n,), are the multipliers of the margin constraints, f_i = sum_j alpha_j y_j K_ij + b the scores;
and C > 0 is the price of a unit of slack, inf for the hard margin.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv
from scipy.optimize import brentq

from mllib.core.arrays import (
    as_float,
    check_array,
    check_sample_weight,
    check_signs,
    check_size,
    check_square,
    check_vector,
    check_weighted_X_y,
    check_X_y,
)
from mllib.core.compiled import compiled
from mllib.core.errors import convergence_warning
from mllib.core.estimators import Classifier, begin_fit, check_features
from mllib.core.numerics import max_abs
from mllib.core.scalars import check_choice, check_scalar
from mllib.decision_theory import add_intercept, hinge
from mllib.kernels import check_psd, chosen_kernel, kernel_diagonal, rbf_kernel
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


def _check_solution(K, y, alpha, C=np.inf, b=0.0):
    """Return K, y and alpha of one problem; C and b are checked too."""
    y = check_signs(y)
    K = check_square(K, "K", size=len(y), symmetric=True)
    _check_C(C, hard=True)
    _check_offset(b)
    return K, y, check_vector(alpha, "alpha", length=len(y))


def _check_plane(w, b, X):
    """Return X, w and the length of w, which must not be 0."""
    X = check_array(X)
    w = check_size(check_vector(w, "w", length=X.shape[1]), "w")
    _check_offset(b)
    if not w.any():
        raise ValueError("w must not be zero: w = 0 describes no hyperplane.")
    return X, w, float(np.linalg.norm(w))


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
    """Return |w^T x_i + b| / ||w||, the distance of each row of X to the hyperplane, shape (n,).

    In units of the inputs. w must not be 0: then there is no hyperplane.

    Book: support-vector-machines-hyperplane-distances.

    Examples
    --------
    >>> distance_to_plane([[0.0, 0.0], [3.0, 4.0]], [3.0, 4.0], -5.0)
    array([1., 4.])
    """
    X, w, length = _check_plane(w, b, X)
    return np.abs(X @ (w / length) + b / length)


def margin(w, b, X, y):
    """Return the functional margin min_i y_i (w^T x_i + b) and the geometric one, over ||w||.

    Both are negative as soon as one example is misclassified.

    Book: support-vector-machines-margin.

    Parameters
    ----------
    w : array of shape (d,)
        Not zero.
    b : float
    X : array of shape (n, d)
    y : array of shape (n,)

    Examples
    --------
    >>> margin([2.0, 0.0], 0.0, [[-1.0, 0.0], [2.0, 5.0]], [-1, 1])
    Margin(functional=2.0, geometric=1.0)
    """
    X, w, length = _check_plane(w, b, X)
    gamma = float(np.min(check_signs(y, len(X)) * (X @ w + b)))
    return Margin(gamma, gamma / length)


def geometric_margin(w, b, X, y):
    """Return min_i y_i (w^T x_i + b) / ||w||, in units of the inputs.

    Parameters
    ----------
    w, b, X, y :
        As in ``margin``.
    """
    return margin(w, b, X, y).geometric


# Objectives ----------------------------------------------------------------------------------


def hinge_objective(w, b, X, y, C):
    """Return ||w||^2 / 2 + C sum_i [1 - y_i (w^T x_i + b)]_+, the soft-margin objective.

    Book: support-vector-machines-hinge-form. Cortes and Vapnik (1995).

    Parameters
    ----------
    w, b, X, y :
        As in ``margin``; w may be 0.
    C : float

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

    For C = inf, (w, b) is first scaled to min_i y_i f_i = 1; the value is inf if an example is
    misclassified.

    Book: support-vector-machines-hinge-form.

    Parameters
    ----------
    alpha : array of shape (n,)
        Dual feasible if 0 <= alpha_i <= C and sum_i alpha_i y_i = 0.
    b : float
    K : array of shape (n, n)
    y : array of shape (n,)
    C : float
    """
    K, y, alpha = _check_solution(K, y, alpha, C, b)
    g = K @ (alpha * y)
    return _primal_value((alpha * y) @ g, g + b, y, C)


def dual_objective(alpha, K, y):
    """Return sum_i alpha_i - sum_ij alpha_i alpha_j y_i y_j K_ij / 2.

    Book: support-vector-machines-soft-dual.

    Examples
    --------
    >>> dual_objective([0.5, 0.5], [[1.0, -1.0], [-1.0, 1.0]], [-1, 1])
    0.5
    """
    K, y, alpha = _check_solution(K, y, alpha)
    return float(alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y))


def duality_gap(alpha, b, K, y, C):
    """Return primal minus dual objective; at least 0 for every b and every dual feasible alpha.

    It equals sum_i alpha_i (y_i f_i - 1 + xi_i) + sum_i (C - alpha_i) xi_i, so it is 0 exactly
    where complementary slackness holds.

    Book: support-vector-machines-gap.

    Parameters
    ----------
    alpha, b, K, y, C :
        As in ``primal_objective``.

    Examples
    --------
    >>> duality_gap([0.5, 0.5], 0.0, [[1.0, -1.0], [-1.0, 1.0]], [-1, 1], C=1.0)
    0.0
    """
    return primal_objective(alpha, b, K, y, C) - dual_objective(alpha, K, y)


def kkt_residuals(alpha, b, K, y, C):
    """Return by how much alpha and b miss the Karush-Kuhn-Tucker conditions.

    Book: support-vector-machines-svm-complementary-slackness.

    Parameters
    ----------
    alpha, b, K, y, C :
        As in ``primal_objective``.

    Examples
    --------
    >>> kkt_residuals([0.5, 0.5], 0.0, [[1.0, -1.0], [-1.0, 1.0]], [-1, 1], C=1.0)
    KKTResiduals(primal=0.0, box=0.0, balance=0.0, margin=0.0, slack=0.0)
    """
    K, y, alpha = _check_solution(K, y, alpha, C, b)
    m = y * (K @ (alpha * y) + b)
    hard = np.isinf(C)
    xi = np.zeros(len(y)) if hard else hinge(m)
    mu = np.zeros(len(y)) if hard else C - alpha  # C = inf: mu has nothing to multiply
    return KKTResiduals(
        primal=float(max_abs(hinge(m))) if hard else 0.0,
        box=float(max(0.0, -alpha.min(), alpha.max() - C)),
        balance=float(abs(alpha @ y)),
        margin=float(max_abs(alpha * (m - 1 + xi))),
        slack=float(max_abs(mu * xi)),
    )


# The offset and the support vectors ----------------------------------------------------------


def _up_low(alpha, y, C, tol=0.0):
    """Which y_i alpha_i may still grow (up), and which may still shrink (low)."""
    below, above = alpha < C - tol, alpha > tol
    return np.where(y > 0, below, above), np.where(y > 0, above, below)


def _rounding(alpha, C):
    return 1e-8 * np.minimum(C, max_abs(alpha))


def _bracket(alpha, F, y, C, tol=0.0):
    up, low = _up_low(alpha, y, C, tol)
    return float(np.max(F[up], initial=-np.inf)), float(np.min(F[low], initial=np.inf))


def offset_bracket(alpha, K, y, C):
    """Return the ends (low, high) of the interval that the KKT inequalities leave for b.

    With F_i = y_i - sum_j alpha_j y_j K_ij, low is the largest F_i over the examples whose
    y_i alpha_i can grow within the box, high is the smallest over those whose y_i alpha_i can
    shrink. At the optimum low <= high, with equality if some 0 < alpha_i < C; low > high means
    that alpha is not optimal.

    Book: support-vector-machines-bias-recovery. Keerthi et al. (2001).

    Parameters
    ----------
    alpha, K, y, C :
        As in ``primal_objective``.

    Examples
    --------
    >>> offset_bracket([0.1, 0.1], [[1.0, -1.0], [-1.0, 1.0]], [-1, 1], C=0.1)
    (-0.8, 0.8)
    """
    K, y, alpha = _check_solution(K, y, alpha, C)
    _check_two_sides(y)
    return _bracket(alpha, y - K @ (alpha * y), y, C, _rounding(alpha, C))


def _offset(alpha, F, y, C):
    tol = _rounding(alpha, C)
    free = (alpha > tol) & (alpha < C - tol)
    return float(np.mean(F[free] if free.any() else _bracket(alpha, F, y, C, tol)))


def recover_offset(alpha, K, y, C):
    """Return b = the mean of y_i - sum_j alpha_j y_j K_ij over the examples with 0 < alpha_i < C.

    If there are none, the midpoint of ``offset_bracket``.

    Book: support-vector-machines-bias-recovery.

    Parameters
    ----------
    alpha, K, y, C :
        As in ``primal_objective``.

    Examples
    --------
    >>> recover_offset([0.5, 0.5], [[1.0, -1.0], [-1.0, 1.0]], [-1, 1], C=1.0)
    0.0
    """
    K, y, alpha = _check_solution(K, y, alpha, C)
    _check_two_sides(y)
    return _offset(alpha, y - K @ (alpha * y), y, C)


def support_vectors(alpha, f, y, C, *, tol=1e-6):
    """Sort the examples with alpha_i > 0: on the margin, inside it, or misclassified.

    Book: support-vector-machines-support-vectors.

    Parameters
    ----------
    alpha, y, C :
        As in ``primal_objective``.
    f : array of shape (n,)
        Scores of the training examples.
    tol : float
        How far y_i f_i may be below 1 and still count as on the margin; a free multiplier,
        0 < alpha_i < C, is on the margin in any case.

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

    Book: support-vector-machines-smo. Platt (1998); Fan, Chen and Lin (2005), working set
    selection 2.

    Parameters
    ----------
    K : array of shape (n, n)
        Positive semi-definite.
    y : array of shape (n,)
        Both labels present; for C = inf the classes must be separable.
    C : float
    tol : float
        Stop when no pair violates the optimality condition by more, in units of the score.
    max_iter : int
        Steps; fewer than n cut a run short on purpose, without a warning.

    Returns
    -------
    SMORun

    Examples
    --------
    >>> run = smo([[1.0, -1.0], [-1.0, 1.0]], [-1, 1], C=1.0)
    >>> run.alpha, run.b, run.gap
    (array([0.5, 0.5]), 0.0, 0.0)
    """
    K, y, _ = _check_solution(K, y, y, C)
    _check_two_sides(y)
    check_psd(K)
    check_scalar(tol, "tol", low=0, open_low=True)
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    rows, run = _KernelRows(K), None
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
    eigenvectors of K, as many as its rank, are given to the linear programme, each in its own unit.
    """
    values, vectors = np.linalg.eigh(K)
    keep = values > len(K) * np.finfo(float).eps * values[-1]
    if not keep.all() and separating_weights(add_intercept(vectors[:, keep]), y) is None:
        raise _not_separable("in the feature space of the kernel")


_DONE, _TRACE_FULL, _UNBOUNDED, _NOT_A_KERNEL = -1, -2, -3, -4


@compiled
def _exchange(alpha, F, up, low, y, C, k, rows, slot, trace, step, tol, max_iter):
    """Make steps of ``smo``, in place, until it ends or needs something.

    k is the diagonal of K, and K_i stands in rows[slot[i]]; slot[i] = -1 where it is still unknown.
    C[i] is the bound of alpha[i]; either all are finite or none is.
    Return the index of the row that is needed or what else the matter is, and the number of steps
    made.
    """
    scale = k.max()  # two images of one point: a short distance, but none at all if C is infinite
    small, least = (1e-12 * scale, 1e-12 * scale) if C[0] < np.inf else (1e-14 * scale, 0.0)
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
        t = min(slope / curve, room_i, room_j) if curve > 0 else min(room_i, room_j)
        if t == np.inf:
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
    """``smo`` with the rows of a kernel and a C for each example: hand over rows when asked."""
    bounds = np.full(len(y), C, dtype=np.float64)
    alpha, F, trace, step, needed = np.zeros(len(y)), y.copy(), np.zeros(1000), 0, 0
    up, low = _up_low(alpha, y, bounds)
    while needed != _DONE:
        needed, step = _exchange(
            alpha, F, up, low, y, bounds, rows.diagonal, rows.table, rows.slot, trace, step, tol,
            max_iter,
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
    b, violation = _offset(alpha, F, y, C), float(np.subtract(*_bracket(alpha, F, y, C)))
    norm2, f = max(0.0, float((alpha * y) @ (y - F))), y - F + b
    primal, dual = _primal_value(norm2, f, y, C), float(alpha.sum() - 0.5 * norm2)
    converged = bool(step < max_iter or violation <= tol)
    trace = trace[: step + 1]
    return SMORun(alpha, b, f, primal, dual, primal - dual, violation, trace, step, converged)


class _KernelRows:
    """Rows of the matrix of kernel(X, X), or of X itself if kernel is None.

    All of them for small problems, else those that were asked for; the oldest row makes room for
    a new one where the table is full.
    """

    WHOLE = 1500  # examples up to which the whole matrix is kept: 18 MB
    TABLE = 100e6  # bytes of kept rows otherwise

    def __init__(self, X, kernel=None):
        self.X, self.kernel, n = X, kernel, len(X)
        if kernel is None or n <= self.WHOLE:
            self.table = np.ascontiguousarray(X if kernel is None else kernel(X, X))
            self.slot, self.diagonal = np.arange(n), self.table.diagonal().copy()
            return
        size = min(n, max(2, int(self.TABLE / (8 * n))))
        self.table, self.slot = np.empty((size, n)), np.full(n, -1)
        self.owner, self.fetched = np.full(size, -1), 0
        self.gaussian = getattr(kernel, "func", None) is rbf_kernel
        if self.gaussian:
            self.Z = (X - X[0]) / kernel.keywords["ell"]
            self.h, self.diagonal = 0.5 * np.einsum("ij,ij->i", self.Z, self.Z), np.ones(n)
        else:
            self.diagonal = kernel_diagonal(kernel, X)

    def row(self, i):
        """Return K_i; the Gaussian kernel takes one matrix-vector product and n exponentials."""
        if self.gaussian:
            R = self.Z @ self.Z[i]
            R -= self.h + self.h[i]
            return np.exp(np.minimum(R, 0.0, out=R), out=R)
        return self.kernel(self.X[i : i + 1], self.X)[0]

    def fetch(self, i):
        """Put K_i into the table."""
        place = self.fetched % len(self.table)
        if self.owner[place] >= 0:
            self.slot[self.owner[place]] = -1
        self.table[place], self.owner[place], self.slot[i] = self.row(i), i, place
        self.fetched += 1

    def restrict(self, rows):
        """The same for some of the examples."""
        if len(rows) == len(self.X):
            return self
        part = self.X[rows] if self.kernel else self.X[np.ix_(rows, rows)]
        return _KernelRows(part, self.kernel)

    def times(self, beta):
        """Return K beta, from the rows where beta is not zero."""
        total = np.zeros(len(beta))
        for i in np.flatnonzero(beta):
            total += beta[i] * (self.row(i) if self.slot[i] < 0 else self.table[self.slot[i]])
        return total


# Solving the linear primal -------------------------------------------------------------------


def linear_svm(
    X, y, C=1.0, *, loss="hinge", fit_intercept=True, sample_weight=None, tol=1e-6, max_iter=1000
):
    """Minimise ||w||^2 / 2 + C sum_i s_i loss(1 - y_i (w^T x_i + b)) by Newton's method.

    loss(u) is [u]_+ ("hinge") or [u]_+^2 ("squared_hinge"); b is not penalised. The hinge is
    rounded off over a width h, and h is reduced until the gap of the hinge problem itself is
    below ``tol`` times its value. One step costs O(n d^2): made for n >> d.

    Book: support-vector-machines-primal-vs-dual-cost. Chapelle (2007).

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
        Both labels present.
    C : float
        Finite.
    loss : {"hinge", "squared_hinge"}
    fit_intercept : bool
        Whether there is an offset; otherwise b = 0.
    tol : float
        Largest duality gap, relative to the objective.
    sample_weight, max_iter : see ``mllib.core``.
        s_i, and the largest number of Newton steps.

    Returns
    -------
    LinearRun

    Examples
    --------
    >>> run = linear_svm([[-1.0], [1.0], [3.0]], [-1, 1, 1], C=10.0)
    >>> run.w.round(4), abs(round(run.b, 4))
    (array([1.]), 0.0)
    """
    X = check_array(X)
    y, s = check_signs(y, len(X)), check_sample_weight(sample_weight, len(X), ones=True)
    _check_two_sides(y)
    check_choice(loss, "loss", ("hinge", "squared_hinge"))
    check_scalar(tol, "tol", low=0, open_low=True)
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    s, squared, basis = _check_C(C) * s, loss == "squared_hinge", None
    if not s.max() < 1e140 / (1 + max_abs(X)):  # squares would overflow
        raise _price_too_high()
    if X.shape[1] > len(X):  # w is a combination of the rows: work in their span
        basis, R = np.linalg.qr(X.T)
        X = R.T
    A = y[:, None] * (add_intercept(X) if fit_intercept else X)
    penalty = np.ones(A.shape[1])
    penalty[: int(fit_intercept)] = 0.0
    u, trace, h = np.zeros(A.shape[1]), [], 1.0
    while True:
        q, width = (2 * s, np.inf) if squared else (s / h, h)
        u, alpha = _newton(A, penalty, u, q, width, trace, max_iter)
        alpha = alpha if squared else np.minimum(alpha, s)  # s / h * h may be rounded up
        if fit_intercept:  # dual feasible: the heavier side shrinks
            plus, minus = alpha[y > 0].sum(), alpha[y < 0].sum()
            ratio = min(plus, minus) / max(plus, minus) if max(plus, minus) > 0 else 1.0
            alpha = np.where((y > 0) == (plus > minus), ratio * alpha, alpha)
        xi = np.maximum(0.0, 1 - A @ u)
        primal = float(0.5 * penalty @ u**2 + s @ (xi**2 if squared else xi))
        dual = float(alpha.sum() - 0.5 * penalty @ (alpha @ A) ** 2)
        dual -= float(0.25 * alpha @ (alpha / np.where(s > 0, s, 1))) if squared else 0.0
        converged = bool(primal - dual <= tol * primal)
        if converged or squared or len(trace) >= max_iter or h < 1e-12:
            break
        h *= 0.1
    w, b = (u[1:], float(u[0])) if fit_intercept else (u, 0.0)
    w, n_iter = w if basis is None else basis @ w, len(trace)
    return LinearRun(w, b, alpha, primal, dual, primal - dual, np.array(trace), n_iter, converged)


def _newton(A, penalty, u, q, h, trace, max_iter):
    """Minimise sum penalty u^2 / 2 + sum_i q_i phi(1 - (A u)_i) by Newton steps, searching lines.

    phi(v) = r v - r^2 / 2 with its slope r = phi'(v) = min(max(v, 0), h): zero, then curved, then
    straight. Only the curved examples enter the second derivative. Return u and all q_i r_i; the
    objective after each step is appended to ``trace``.
    """
    v, root = 1 - A @ u, np.sqrt(q)
    r, now = np.minimum(np.maximum(v, 0.0), h), (v > 0) & (v < h)
    for _ in range(max(1, max_iter - len(trace))):
        B = root[now, None] * A[now]
        H, gradient = B.T @ B + np.diag(penalty), penalty * u - (q * r) @ A
        diagonal = H.diagonal()
        H[np.diag_indices(len(H))] += np.where(diagonal > 0, 1e-13 * diagonal, max_abs(q))
        unit = 1 / np.sqrt(H.diagonal())
        _, step, failed = dposv(H * unit * unit[:, None], -unit * gradient)
        if failed:
            raise _price_too_high()
        step *= unit
        z = A @ step
        t = _line_search(penalty * u, v, step, z, penalty, q, h)
        u, v, before = u + t * step, v - t * z, now
        r, now = np.minimum(np.maximum(v, 0.0), h), (v > 0) & (v < h)
        trace.append(float(0.5 * penalty @ u**2 + q @ (r * (v - 0.5 * r))))
        still = t == 1 and now.any() and (now == before).all()
        if still or -gradient @ step <= 1e-15 * trace[-1]:
            break
    return u, q * r


def _line_search(pull, v, step, z, penalty, q, h):
    """Return 1 if the full step lands near the minimum along it, else the minimiser.

    The slope along the step is continuous and never falls, and is straight between the points
    where an example begins or ceases to count.
    """
    constant, linear, qz = pull @ step, (penalty * step) @ step, q * z

    def slope(t):
        return constant + t * linear - qz @ np.minimum(np.maximum(v - t * z, 0.0), h)

    start, high = slope(0.0), 1.0
    if start >= 0 or abs(slope(1.0)) <= 3e-2 * abs(start):
        return 1.0
    while slope(high) < 0 and high < 1e30:  # a step through a flat stretch is too short
        high *= 4
    return high if slope(high) < 0 else brentq(slope, 0.0, high, xtol=1e-12, rtol=1e-3)


# Several classes -----------------------------------------------------------------------------


def binary_problems(index, K, scheme):
    """Return the two-class problems that a K-class problem is split into, a list of (rows, y).

    ``index``, shape (n,), holds the class of each example, 0 to K - 1; ``rows`` are the indices of
    the examples that take part and y their labels. scheme "ovo" is one against one: classes k < l
    with label -1 for k and +1 for l, K (K - 1) / 2 problems; "ovr" is one against the rest: +1 for
    k, -1 for all others, K problems. K = 2 is one problem either way, +1 for class 1.

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
    for k, l in combinations(range(K), 2):
        rows = np.flatnonzero((index == k) | (index == l))
        problems.append((rows, np.where(index[rows] == l, 1.0, -1.0)))
    return problems


def votes(scores, K):
    """Turn one-against-one scores into one score per class: the number of duels that it wins.

    ``scores``, shape (n, K (K - 1) / 2), are those of the problems k < l in the order of
    ``binary_problems``; above 0 favours l. Equal numbers of wins, shape (n, K), are ordered by the
    sum of the scores in the duels of a class, squashed into (-1/3, 1/3).

    Examples
    --------
    >>> votes([[-2.0, -1.0, 3.0]], 3).round(2)
    array([[ 2.25, -0.28,  1.22]])
    """
    scores = check_array(scores, "scores", any_size=True)
    check_scalar(K, "K", low=2, integer=True)
    if scores.shape[1] != K * (K - 1) // 2:
        raise ValueError(
            f"scores must have {K * (K - 1) // 2} columns, one for each pair of the {K} classes, "
            f"got {scores.shape[1]}."
        )
    won, confidence = np.zeros((len(scores), K)), np.zeros((len(scores), K))
    for s, (k, l) in zip(scores.T, combinations(range(K), 2)):
        won[:, l] += s > 0
        won[:, k] += s <= 0
        confidence[:, l] += s
        confidence[:, k] -= s
    return won + confidence / (3 * (np.abs(confidence) + 1))


# Estimators ----------------------------------------------------------------------------------


class _MarginClassifier(Classifier):
    """What the estimators of this chapter share: scores, votes and labels."""

    def _problems(self, index, K):
        self._way = check_choice(self.multi_class, "multi_class", ("ovo", "ovr"))
        return binary_problems(index, K, self._way)

    def _keep_runs(self, runs):
        """Store what the runs know of their ends; say whether all have converged."""
        for field in ("gap", "primal", "dual", "n_iter"):
            setattr(self, f"{field}_", np.array([getattr(run, field) for run in runs]))
        self.converged_ = all(run.converged for run in runs)
        return self.converged_

    def _scores(self, X):
        return X @ self.coef_.T + self.intercept_

    def decision_function(self, X):
        """Return the score f(x) for two classes, shape (n,), else one score per class, (n, K)."""
        given = getattr(self, "kernel", None) == "precomputed"
        S = self._scores(check_features(self, X, any_size=given))
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

    Book: support-vector-machines-kernel-svm. Cortes and Vapnik (1995).

    Parameters
    ----------
    C : float
        Price of a unit of slack, above 0.
    kernel, ell, degree, coef0 :
        As in ``KernelRidge``.
    multi_class : {"ovo", "ovr"}
        One against one, or one against the rest.
    tol : float
        Largest violation of optimality, in units of the score, above 0.
    max_iter, class_weight : see ``mllib.core``.
        Steps at most for each two-class problem, and factors of s_i.

    Attributes
    ----------
    classes_ : array of shape (K,)
    support_ : array of int, training examples with alpha_i > 0 in some two-class problem
    support_vectors_ : array of shape (n_support, d), their inputs (rows of K if precomputed)
    dual_coef_ : array of shape (n_problems, n_support), alpha_i y_i as in ``binary_problems``
    intercept_ : array of shape (n_problems,)
    coef_ : array of shape (n_problems, d), w, for the linear kernel only
    kinds_ : list of SupportVectors, training examples by where they stand, for each problem
    gap_, primal_, dual_, violation_, n_iter_ : arrays of shape (n_problems,), as in ``SMORun``
    converged_ : bool
    ell_ : float

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

    def fit(self, X, y, sample_weight=None):
        """Train on X of shape (n, d), labels y of two or more classes and weights, both (n,)."""
        begin_fit(self, X)
        C, name = _check_C(self.C, hard=isinstance(self, HardMarginSVM)), type(self).__name__
        check_scalar(self.tol, "tol", low=0, open_low=True)
        if self.kernel == "precomputed":  # a kernel may vanish, as exp(-400): that is 0
            X = as_float(X, "X")
            X = np.where(np.abs(X) < 1e-150, 0.0, X)
        X, classes, index, s, kept = check_weighted_X_y(
            X, y, sample_weight, self.class_weight, name
        )
        self.classes_, self.n_features_in_ = classes, X.shape[1]
        linear, given = self.kernel == "linear", self.kernel == "precomputed"
        if given and len(X) < X.shape[1] and kept[-1] < X.shape[1]:
            X = X[:, kept]
        C = np.full(len(X), C) if s is None else C * s
        problems = self._problems(index, len(classes))
        self._kernel = chosen_kernel(self, X, s)
        self._centre = X.mean(axis=0) if linear else None  # moves b alone, and saves digits
        rows = _KernelRows(X - self._centre if linear else X, self._kernel)
        beta, runs = np.zeros((len(problems), len(X))), []
        for m, (who, signs) in enumerate(problems):
            run = _solve(rows.restrict(who), signs, C[who], self.tol, self.max_iter)
            beta[m, who] = run.alpha * signs
            runs.append(run)
        support = np.flatnonzero(beta.any(axis=0))
        self.support_, self.support_vectors_ = kept[support], X[support]
        self.dual_coef_, self.intercept_ = beta[:, support], np.array([run.b for run in runs])
        if linear:
            self.coef_ = self.dual_coef_ @ (self.support_vectors_ - self._centre)
            self.intercept_ -= self.coef_ @ self._centre
        elif hasattr(self, "coef_"):
            del self.coef_
        self.kinds_ = [
            SupportVectors(
                *(kept[who[i]] for i in _sorted_by_margin(r.alpha, t * r.f, C[who], self.tol))
            )
            for r, (who, t) in zip(runs, problems)
        ]
        self.violation_ = np.array([run.violation for run in runs])
        if not self._keep_runs(runs):
            convergence_warning(
                f"{name} stopped after max_iter={self.max_iter} steps with violation "
                f"{self.violation_.max():.3g} (tolerance {self.tol:g}) and duality gap "
                f"{self.gap_.max():.3g}: raise max_iter, scale the features, or lower C."
            )
        return self

    def _scores(self, X):
        if self._centre is not None:
            return super()._scores(X)
        if self._kernel is None:
            return X[:, self.support_] @ self.dual_coef_.T + self.intercept_
        size = max(1, int(2e6 / max(1, len(self.support_))))
        blocks = [
            self._kernel(X[i : i + size], self.support_vectors_) @ self.dual_coef_.T
            for i in range(0, len(X), size)
        ]
        return np.concatenate(blocks) + self.intercept_


class HardMarginSVM(SVC):
    """The separator of largest margin: min ||w||^2 / 2 subject to y_i (w^T phi(x_i) + b) >= 1.

    There are no weights: a condition that is repeated is the same condition. Classes that are not
    separable are refused: for the linear kernel decided by a linear programme, for others when the
    dual grows without bound.

    Book: support-vector-machines-hard-margin. Boser, Guyon and Vapnik (1992).

    Parameters
    ----------
    kernel, ell, degree, coef0, multi_class, tol, max_iter :
        As in ``SVC``.

    Attributes
    ----------
    margin_ : array of shape (n_problems,), min_i y_i f(x_i) / ||w|| in the kernel's feature space
    classes_, support_, dual_coef_, intercept_, coef_, gap_, converged_ : as in ``SVC``
        ``gap_`` is that of (w, b) scaled to y_i f(x_i) >= 1.

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
        super().__init__(np.inf, kernel, ell, degree, coef0, multi_class, tol, max_iter)

    def fit(self, X, y):
        """Train on X of shape (n, d) and labels y of shape (n,) of separable classes."""
        begin_fit(self, X)
        if isinstance(self.kernel, str) and self.kernel == "linear":
            A, classes, index = check_X_y(X, y, type(self).__name__)
            for who, signs in self._problems(index, len(classes)):
                Z = add_intercept(A[who] - A[who[0]])
                if separating_weights(Z, signs) is None:
                    raise _not_separable("by a hyperplane")
        super().fit(X, y)
        self.margin_ = 1 / np.sqrt(2 * self.primal_)
        return self


class LinearSVC(_MarginClassifier):
    """Linear support vector machine by its primal: ||w||^2 / 2 + C sum_i s_i loss(1 - y_i f(x_i)).

    f(x) = w^T x + b, loss(u) = [u]_+^2 or [u]_+; b is not penalised, s_i is 1 unless given.

    Book: support-vector-machines-primal-vs-dual-cost. Chapelle (2007).

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
        Largest duality gap relative to the objective, above 0.
    max_iter, class_weight : see ``mllib.core``.
        Newton steps at most for each two-class problem, and factors of s_i.

    Attributes
    ----------
    classes_ : array of shape (K,)
    coef_, intercept_ : arrays of shape (n_problems, d) and (n_problems,)
    gap_, primal_, dual_, n_iter_ : arrays of shape (n_problems,), as in ``LinearRun``
    converged_ : bool

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
        runs = [
            linear_svm(
                X[who],
                signs,
                self.C,
                loss=self.loss,
                fit_intercept=self.fit_intercept,
                sample_weight=None if s is None else s[who],
                tol=self.tol,
                max_iter=self.max_iter,
            )
            for who, signs in self._problems(index, len(classes))
        ]
        self.coef_ = np.array([run.w for run in runs])
        self.intercept_ = np.array([run.b for run in runs])
        self.classes_, self.n_features_in_ = classes, X.shape[1]
        if not self._keep_runs(runs):
            convergence_warning(
                f"LinearSVC stopped after max_iter={self.max_iter} steps with relative gap "
                f"{(self.gap_ / self.primal_).max():.3g} (tolerance {self.tol:g}): raise max_iter."
            )
        return self
