"""Optimisation: convexity tests, Lagrangians, quadratic programmes, gradient, Newton and SGD steps.

Chapter: Foundations, *Optimisation*. Main references: Boyd and Vandenberghe (2004), Nocedal and
Wright (2006), Nesterov (2018); Mehrotra (1992) for the interior-point method.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, null_space

from mllib.core.arrays import check_array, check_result, check_square, check_vector
from mllib.core.errors import convergence_warning
from mllib.core.numerics import cholesky_with_jitter, max_abs
from mllib.core.scalars import check_callable, check_choice, check_scalar, random_generator

__all__ = [
    "Chord",
    "Descent",
    "DualPoint",
    "Infeasible",
    "KKTResiduals",
    "LagrangePoint",
    "NewtonRun",
    "Program",
    "QPRun",
    "QuadraticProgram",
    "SGDRun",
    "Tangent",
    "Unbounded",
    "backtracking",
    "check_first_order",
    "directional_derivative",
    "dual_function",
    "gradient_descent",
    "indicator",
    "interior_point_step",
    "is_convex_on_segments",
    "kkt_residuals",
    "lagrange_quadratic",
    "lagrangian",
    "newton",
    "quadratic_program",
    "sgd",
    "solve_qp",
    "worst_chord",
]


# Records -------------------------------------------------------------------------------------


class Chord(NamedTuple):
    """The chord of a function that comes closest to lying below it, or lies furthest below."""

    holds: bool  #: whether every chord tried lies above the function, up to rounding
    excess: float  #: largest f(t x + (1 - t) z) - t f(x) - (1 - t) f(z); inf if it leaves a set
    x: np.ndarray  #: one end of that chord, shape (d,)
    z: np.ndarray  #: its other end, shape (d,)
    weight: float  #: t, the share of x


class Tangent(NamedTuple):
    """The tangent that comes closest to lying above its function, or lies furthest above."""

    holds: bool  #: whether every tangent tried lies below the function, up to rounding
    gap: float  #: smallest f(z) - f(x) - grad f(x)^T (z - x)
    x: np.ndarray  #: where that tangent touches, shape (d,)
    z: np.ndarray  #: where it comes closest, shape (d,)


class Program(NamedTuple):
    """The programme: minimise f0(x) subject to f_i(x) <= 0 and h_j(x) = 0, as functions of x."""

    f0: Callable  #: objective, (d,) -> number
    grad_f0: Callable  #: its gradient, (d,) -> (d,)
    f: Callable | None = None  #: inequality functions, (d,) -> (m,)
    jac_f: Callable | None = None  #: their gradients as rows, (d,) -> (m, d)
    h: Callable | None = None  #: equality functions, (d,) -> (p,)
    jac_h: Callable | None = None  #: their gradients as rows, (d,) -> (p, d)


class QuadraticProgram(NamedTuple):
    """The programme: minimise x^T P x / 2 + q^T x subject to G x <= c and A x = b.

    It has the functions of a ``Program`` as methods, with f(x) = G x - c and h(x) = A x - b.
    """

    P: np.ndarray  #: symmetric, shape (d, d)
    q: np.ndarray  #: shape (d,)
    G: np.ndarray  #: shape (m, d); m may be 0
    c: np.ndarray  #: shape (m,)
    A: np.ndarray  #: shape (p, d); p may be 0
    b: np.ndarray  #: shape (p,)

    def f0(self, x):
        return 0.5 * x @ self.P @ x + self.q @ x

    def grad_f0(self, x):
        return self.P @ x + self.q

    def f(self, x):
        return self.G @ x - self.c

    def jac_f(self, x):
        return self.G

    def h(self, x):
        return self.A @ x - self.b

    def jac_h(self, x):
        return self.A


class KKTResiduals(NamedTuple):
    """By how much (x, lambda, nu) misses the Karush-Kuhn-Tucker conditions; 0 where they hold."""

    primal: float  #: largest of f_i(x), |h_j(x)| and 0
    dual: float  #: largest of -lambda_i and 0
    slackness: float  #: largest |lambda_i f_i(x)|
    stationarity: float  #: largest entry of |grad_x L(x, lambda, nu)|


class LagrangePoint(NamedTuple):
    """The stationary point of a quadratic on an affine set, and what kind of point it is."""

    x: np.ndarray  #: shape (d,)
    nu: np.ndarray  #: multipliers, shape (p,)
    value: float  #: objective at x
    curvature: float  #: smallest eigenvalue of P on {v: A v = 0}; above 0 at a minimum


class DualPoint(NamedTuple):
    """The dual function at (lambda, nu) and where its infimum is reached."""

    value: float  #: g(lambda, nu); -inf if the Lagrangian has no lower bound
    x: np.ndarray | None  #: a minimiser of L(., lambda, nu), shape (d,); None if there is none


class QPRun(NamedTuple):
    """A solution of a quadratic programme with the multipliers that prove it."""

    x: np.ndarray  #: solution, shape (d,)
    lam: np.ndarray  #: multipliers of G x <= c, shape (m,), all >= 0
    nu: np.ndarray  #: multipliers of A x = b, shape (p,)
    value: float  #: objective at x
    gap: float  #: value - L(x, lam, nu); bounds the distance to the optimum where L is minimal at x
    residuals: KKTResiduals  #: of (x, lam, nu)
    trace: np.ndarray  #: largest scaled residual before each step and at the end, (n_iter + 1,)
    n_iter: int  #: interior-point steps
    converged: bool  #: whether the last entry of trace is at most tol


class Descent(NamedTuple):
    """What happened in a run of gradient descent."""

    z: np.ndarray  #: last iterate, shape (d,)
    trace: np.ndarray  #: f(z_k) before each step and after the last, shape (n_iter + 1,)
    gradient_norms: np.ndarray  #: ||grad f(z_k)|| likewise, shape (n_iter + 1,)
    path: np.ndarray  #: z_0, ..., z_n, shape (n_iter + 1, d)
    n_iter: int  #: steps made
    converged: bool  #: whether the last gradient norm is at most tol


class NewtonRun(NamedTuple):
    """What happened in a run of Newton's method."""

    z: np.ndarray  #: last iterate, shape (d,)
    trace: np.ndarray  #: f(z_k) before each step and after the last, shape (n_iter + 1,)
    gradient_norms: np.ndarray  #: ||grad f(z_k)|| likewise, shape (n_iter + 1,)
    path: np.ndarray  #: z_0, ..., z_n, shape (n_iter + 1, d)
    steps: np.ndarray  #: length t of each step in units of the Newton step, shape (n_iter,)
    n_iter: int  #: steps made
    converged: bool  #: whether the last gradient norm is at most tol


class SGDRun(NamedTuple):
    """What happened in a run of stochastic gradient descent; one entry for each pass."""

    z: np.ndarray  #: last iterate, shape (d,)
    trace: np.ndarray  #: F before the first pass and after each, shape (epochs + 1,)
    gradient_norms: np.ndarray  #: ||grad F|| likewise
    path: np.ndarray  #: iterates likewise, shape (epochs + 1, d)
    n_iter: int  #: updates made
    converged: bool  #: whether the last gradient norm is at most tol


class Infeasible(ValueError):
    """No x satisfies the constraints: lam >= 0, G^T lam + A^T nu = 0 and c^T lam + b^T nu < 0."""

    def __init__(self, message, lam, nu):
        super().__init__(message)
        self.lam, self.nu = lam, nu


class Unbounded(ValueError):
    """The objective has no minimum: P v = 0, G v <= 0, A v = 0 and q^T v < 0 for v = direction."""

    def __init__(self, message, direction):
        super().__init__(message)
        self.direction = direction


# Checks --------------------------------------------------------------------------------------


def _number(f, x, name="f", nan=False):
    """Return f(x) as a float; infinity is allowed, NaN only if asked for."""
    value = np.asarray(f(x))
    if value.size != 1:
        raise ValueError(f"{name} must return one number, got an array of shape {value.shape}.")
    value = check_vector(value.ravel(), name, finite=False).item()
    if np.isnan(value) and not nan:
        raise ValueError(
            f"{name} must not be NaN, it is at {np.round(x, 4)}: return inf outside its domain."
        )
    return value


def _vector_of(function, x, name, length):
    """Return function(x) as a finite vector; an absent function has no entries."""
    if function is None:
        return np.zeros(0)
    return check_vector(np.atleast_1d(function(x)), name, length=length)


def _rows_of(function, x, name, shape):
    if function is None and shape[0] == 0:
        return np.zeros(shape)
    J = np.asarray(None if function is None else function(x))
    if J.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, one gradient a row, got {J.shape}.")
    return check_vector(J.ravel(), name).reshape(shape)


def _point_of(program, x):
    """Return x as a vector of the length that the programme asks for."""
    if not isinstance(program, (Program, QuadraticProgram)):
        raise ValueError(
            f"program must be a Program or a quadratic_program(...), got {type(program).__name__}."
        )
    length = len(program.q) if isinstance(program, QuadraticProgram) else None
    return check_vector(x, "x", length=length)


# Convexity -----------------------------------------------------------------------------------


def indicator(contains):
    """Return the function that is 0 on a set and infinite elsewhere; convex exactly if the set is.

    ``contains`` takes a point of shape (d,) and says whether the set holds it.

    Examples
    --------
    >>> ball = indicator(lambda x: x @ x <= 1)
    >>> is_convex_on_segments(ball, [[0.0, 1.0], [1.0, 0.0], [-0.6, 0.8]])
    True
    """
    check_callable(contains, "contains")
    return lambda x: 0.0 if contains(x) else np.inf


def worst_chord(f, points, *, weights=(0.25, 0.5, 0.75), tol=1e-9):
    """Return the ``Chord`` between two of the points that lies furthest below f, or least above it.

    f is convex if f(t x + (1 - t) z) <= t f(x) + (1 - t) f(z) for all x, z and 0 <= t <= 1.
    A positive excess is a proof that f is not convex; a negative one is no proof that it is.

    Book: optimization-convex-function. Boyd and Vandenberghe (2004), p. 67.

    Parameters
    ----------
    f : callable; takes a point of shape (d,), returns a number; inf outside the domain
    points : array of shape (n, d); all pairs are tried
    weights : sequence of float; the t of the inequality, each strictly between 0 and 1
    tol : float; ``holds`` allows an excess of tol times the largest finite |f| at the points

    Examples
    --------
    >>> worst_chord(lambda x: -x @ x, [[-1.0], [1.0]]).excess
    1.0
    """
    check_callable(f, "f")
    X = check_array(points, "points", min_samples=2)
    weights = check_vector(np.atleast_1d(weights), "weights").tolist()
    if not weights:
        raise ValueError("weights must hold at least one number between 0 and 1: nothing is tried.")
    for t in weights:
        check_scalar(t, "weights", low=0, high=1, open_low=True, open_high=True)
    F = np.array([_number(f, x) for x in X])
    inside = np.flatnonzero(np.isfinite(F))
    if len(inside) < 2:
        raise ValueError("points must hold at least two points where f is finite: add some.")
    worst = (-np.inf, X[0], X[0], 0.5)
    for a, i in enumerate(inside):
        for j in inside[a + 1 :]:
            for t in weights:
                excess = _number(f, t * X[i] + (1 - t) * X[j]) - t * F[i] - (1 - t) * F[j]
                if excess > worst[0]:
                    worst = (float(excess), X[i], X[j], t)
    return Chord(bool(worst[0] <= tol * max_abs(F[inside])), *worst)


def is_convex_on_segments(f, points, *, weights=(0.25, 0.5, 0.75), tol=1e-9):
    """Return whether f(t x + (1 - t) z) <= t f(x) + (1 - t) f(z) for all pairs of the points.

    False is a proof that f is not convex. True only says that these segments do not show it.
    For a set pass its ``indicator``.
    Parameters: as for ``worst_chord``.

    Examples
    --------
    >>> is_convex_on_segments(np.abs, [[-1.0], [0.0], [2.0]])
    True
    """
    return worst_chord(f, points, weights=weights, tol=tol).holds


def check_first_order(f, gradient, points, *, tol=1e-9):
    """Return the ``Tangent`` at whose two points f(z) - f(x) - grad f(x)^T (z - x) is smallest.

    A differentiable f is convex exactly if that gap is never negative: tangents lie below.

    Book: optimization-first-order-convexity. Boyd and Vandenberghe (2004), p. 69.

    Parameters
    ----------
    f, gradient : callable; take a point of shape (d,); return a number, and an array of shape (d,)
    points : array of shape (n, d); all ordered pairs are tried
    tol : float; ``holds`` allows a gap of -tol times the largest |f| at the points

    Examples
    --------
    >>> check_first_order(lambda x: x**3, lambda x: 3 * x**2, [[-1.0], [0.5]]).holds
    False
    """
    check_callable(f, "f")
    check_callable(gradient, "gradient")
    X = check_array(points, "points", min_samples=2)
    F = np.array([_number(f, x) for x in X])
    if not np.isfinite(F).all():
        raise ValueError("f must be finite at all points: leave out those where it is not.")
    D = np.array([check_vector(gradient(x), "gradient(x)", length=X.shape[1]) for x in X])
    gaps = F[None, :] - F[:, None] - (D @ X.T - np.sum(D * X, axis=1)[:, None])  # (x, z)
    np.fill_diagonal(gaps, np.inf)
    i, j = np.unravel_index(np.argmin(gaps), gaps.shape)
    holds = bool(gaps[i, j] >= -tol * max_abs(F))
    return Tangent(holds, float(gaps[i, j]), X[i], X[j])


# Constrained problems ------------------------------------------------------------------------


def quadratic_program(P, q, G=None, c=None, A=None, b=None):
    """Return the programme: minimise x^T P x / 2 + q^T x subject to G x <= c and A x = b.

    Parameters
    ----------
    P : array of shape (d, d); symmetric; positive semi-definite if the programme is to be convex
    q : array of shape (d,)
    G, c : arrays of shape (m, d) and (m,), optional
    A, b : arrays of shape (p, d) and (p,), optional

    Examples
    --------
    >>> quadratic_program([[2.0]], [0.0], G=[[-1.0]], c=[-1.0]).f(np.array([3.0]))
    array([-2.])
    """
    P = check_square(P, "P", symmetric=True)
    d = len(P)
    q = check_vector(q, "q", length=d)
    sides = []
    for M, v, left, right in ((G, c, "G", "c"), (A, b, "A", "b")):
        if (M is None) != (v is None):
            raise ValueError(f"{left} and {right} go together: pass both or neither.")
        M = np.zeros((0, d)) if M is None else check_array(M, left, min_samples=0)
        if M.shape[1] != d:
            raise ValueError(
                f"{left} must have {d} columns, one for each row of P, got {M.shape[1]}."
            )
        sides += [M, np.zeros(0) if v is None else check_vector(v, right, length=len(M))]
    return QuadraticProgram((P + P.T) / 2, q, *sides)


def lagrangian(program, x, lam=(), nu=()):
    """Return L(x, lambda, nu) = f0(x) + sum_i lambda_i f_i(x) + sum_j nu_j h_j(x).

    At a feasible x and lambda >= 0 it is at most f0(x); the signs of lambda are not checked.

    Book: optimization-lagrangian. Boyd and Vandenberghe (2004), p. 215.

    Parameters
    ----------
    program : Program or QuadraticProgram
    x : array of shape (d,)
    lam : array of shape (m,); multipliers of the inequalities
    nu : array of shape (p,); multipliers of the equalities

    Examples
    --------
    >>> program = quadratic_program([[2.0]], [0.0], G=[[-1.0]], c=[-1.0])  # x^2, x >= 1
    >>> lagrangian(program, [3.0], lam=[2.0])
    5.0
    """
    x = _point_of(program, x)
    f = _vector_of(program.f, x, "f(x)", None)
    h = _vector_of(program.h, x, "h(x)", None)
    lam, nu = check_vector(lam, "lam", length=len(f)), check_vector(nu, "nu", length=len(h))
    return float(_number(program.f0, x, "f0") + lam @ f + nu @ h)  # (eq-optimization-lagrangian)


def kkt_residuals(program, x, lam=(), nu=()):
    """Return by how much (x, lambda, nu) misses the Karush-Kuhn-Tucker conditions.

    The conditions are f_i(x) <= 0, h_j(x) = 0, lambda_i >= 0, lambda_i f_i(x) = 0 and
    grad f0(x) + sum_i lambda_i grad f_i(x) + sum_j nu_j grad h_j(x) = 0.

    Book: optimization-kkt. Kuhn and Tucker (1951).

    Parameters
    ----------
    program : Program or QuadraticProgram
    x, lam, nu : arrays of shape (d,), (m,) and (p,)

    Examples
    --------
    >>> program = quadratic_program([[2.0]], [0.0], G=[[-1.0]], c=[-1.0])  # x^2, x >= 1
    >>> kkt_residuals(program, [1.0], lam=[2.0])
    KKTResiduals(primal=0.0, dual=0.0, slackness=0.0, stationarity=0.0)
    """
    x = _point_of(program, x)
    lam, nu = check_vector(lam, "lam"), check_vector(nu, "nu")
    f = _vector_of(program.f, x, "f(x)", len(lam))
    h = _vector_of(program.h, x, "h(x)", len(nu))
    gradient = check_vector(program.grad_f0(x), "grad_f0(x)", length=len(x))
    gradient = gradient + lam @ _rows_of(program.jac_f, x, "jac_f(x)", (len(lam), len(x)))
    gradient = gradient + nu @ _rows_of(program.jac_h, x, "jac_h(x)", (len(nu), len(x)))
    return KKTResiduals(
        primal=float(max(0.0, *f, *np.abs(h), 0.0)),
        dual=float(max(0.0, *(-lam), 0.0)),
        slackness=float(max(0.0, *np.abs(lam * f), 0.0)),
        stationarity=float(max_abs(gradient)),
    )


def lagrange_quadratic(P, q, A, b):
    """Return the stationary point of x^T P x / 2 + q^T x on {x: A x = b}, with its multipliers.

    The equations P x + q + A^T nu = 0 and A x = b are linear and solved together. The point is a
    minimum if ``curvature`` is positive; where it is not unique an error says so.

    Book: optimization-lagrange-multipliers. Nocedal and Wright (2006), section 16.1.

    Parameters
    ----------
    P : array of shape (d, d); symmetric, of any signs
    q : array of shape (d,)
    A : array of shape (p, d); independent rows
    b : array of shape (p,)

    Examples
    --------
    >>> lagrange_quadratic([[2.0, 0.0], [0.0, 2.0]], [0.0, 0.0], [[1.0, 1.0]], [1.0]).x
    array([0.5, 0.5])
    """
    program = quadratic_program(P, q, A=A, b=b)
    P, q, A, b = program.P, program.q, program.A, program.b
    d, p = len(q), len(b)
    if np.linalg.matrix_rank(A) < p:
        raise ValueError(
            "the rows of A must be linearly independent: drop those that repeat others."
        )
    N = null_space(A)  # the directions that stay on the set
    curvatures = np.linalg.eigvalsh(N.T @ P @ N) if N.size else np.array([np.inf])
    if np.abs(curvatures).min() <= 1e-12 * max_abs(P):
        raise ValueError(
            "P must be invertible on the directions v with A v = 0: otherwise there is no "
            "stationary point or a whole line of them."
        )
    K = np.block([[P, A.T], [A, np.zeros((p, p))]])
    solution = np.linalg.solve(K, np.r_[-q, b])  # (eq-optimization-lagrange-system)
    check_result(solution, "A, or another argument,")
    x, nu = solution[:d], solution[d:]
    return LagrangePoint(x, nu, float(program.f0(x)), float(curvatures[0]))


def dual_function(program, lam=(), nu=()):
    """Return g(lambda, nu) = inf_x L(x, lambda, nu) of a quadratic programme, and a minimiser.

    With v = q + G^T lambda + A^T nu it is -v^T P^+ v / 2 - c^T lambda - b^T nu if P is positive
    semi-definite and v lies in its range, and -inf otherwise.

    Book: optimization-weak-duality. Boyd and Vandenberghe (2004), p. 216.

    Parameters
    ----------
    program : QuadraticProgram
    lam : array of shape (m,); the value is a lower bound on the programme only for lambda >= 0
    nu : array of shape (p,)

    Examples
    --------
    >>> dual_function(quadratic_program([[2.0]], [0.0], G=[[-1.0]], c=[-1.0]), lam=[2.0])
    DualPoint(value=1.0, x=array([1.]))
    """
    if not isinstance(program, QuadraticProgram):
        raise ValueError(f"program must be a quadratic_program(...), got {type(program).__name__}.")
    P, q, G, c, A, b = program
    lam = check_vector(lam, "lam", length=len(c))
    nu = check_vector(nu, "nu", length=len(b))
    v = q + lam @ G + nu @ A
    curvatures, V = np.linalg.eigh(P)
    flat = np.abs(curvatures) <= 1e-12 * max_abs(curvatures)
    along = V.T @ v
    size = max_abs(q) + max_abs(lam @ G) + max_abs(nu @ A)
    if (curvatures[~flat] < 0).any() or (np.abs(along[flat]) > 1e-10 * size).any():
        return DualPoint(-np.inf, None)
    inverse = np.where(flat, 0.0, 1 / np.where(flat, 1.0, curvatures))
    x = -V @ (inverse * along)
    return DualPoint(float(0.5 * v @ x - c @ lam - b @ nu), x)  # (eq-optimization-qp-dual)


# Quadratic programmes ------------------------------------------------------------------------


def interior_point_step(P, q, G, c, x, s, lam):
    """Return (x, s, lambda) nearer to P x + q + G^T lambda = 0, G x + s = c, s_i lambda_i = 0.

    Newton's step for these equations shows how far t one can go and what second-order term that
    would leave. The step taken aims the products at sigma mu, where mu is their mean and sigma the
    cube of the share of mu that would be left, corrects for that term (Mehrotra), and goes 99 % of
    the full step, or of the way to the first s_i or lambda_i that would become 0.

    Book: optimization-interior-point. Mehrotra (1992), SIAM Journal on Optimization 2, 575-601.

    Parameters
    ----------
    P, q : arrays of shape (d, d) and (d,)
    G, c : arrays of shape (m, d) and (m,)
    x : array of shape (d,)
    s, lam : arrays of shape (m,); slacks and multipliers, all positive
    """
    x, c = check_vector(x, "x"), check_vector(c, "c")
    P, q = check_square(P, "P", size=len(x), symmetric=True), check_vector(q, "q", length=len(x))
    s, lam = check_vector(s, "s"), check_vector(lam, "lam")
    if not 0 < len(c) == len(s) == len(lam) or min(s.min(), lam.min()) <= 0:
        raise ValueError(f"s and lam must be positive, {len(c)} numbers like c: start with ones.")
    G = check_array(G, "G", any_size=True)
    if G.shape != (len(c), len(x)):
        raise ValueError(f"G must have shape {(len(c), len(x))} like c and x, got {G.shape}.")
    r_d, r_p, mu = P @ x + q + G.T @ lam, G @ x + s - c, s @ lam / len(c)
    L, _ = cholesky_with_jitter(P + G.T @ ((lam / s)[:, None] * G), "P + G^T W G")

    def direction(r_c):
        dx = cho_solve((L, True), -r_d - G.T @ ((lam * r_p - r_c) / s))
        ds = -r_p - G @ dx
        return dx, ds, -(r_c + lam * ds) / s

    def length(ds, dlam):
        v, dv = np.r_[s, lam], np.r_[ds, dlam]
        return min(1.0, np.min(-v[dv < 0] / dv[dv < 0], initial=np.inf))

    _, ds, dlam = direction(s * lam)  # aim at s lambda = 0
    t = length(ds, dlam)
    sigma = ((s + t * ds) @ (lam + t * dlam) / (s @ lam)) ** 3
    dx, ds, dlam = direction(s * lam + ds * dlam - sigma * mu)
    t = 0.99 * length(ds, dlam)
    return x + t * dx, s + t * ds, lam + t * dlam


def _interior_point(P, q, G, c, tol, max_iter):
    """Return x, lambda and the largest residual before each step, for a problem of unit scale."""
    L, _ = cholesky_with_jitter(P + G.T @ G, "P + G^T G")
    x = cho_solve((L, True), G.T @ c - q)
    s = c - G @ x
    lam = -s
    s, lam = (v + max(0.0, 1.0 - v.min()) if v.min() < 1e-3 else v for v in (s, lam))
    best, trace = (x, lam), []
    while len(trace) <= max_iter:
        trace.append(_miss(P, q, G, c, x, lam))
        if trace[-1] == min(trace):
            best = x, lam
        stuck = min(trace) <= tol and trace[-1] > 0.5 * min(trace[:-1], default=np.inf)
        if trace[-1] <= 1e-6 * tol or stuck or not max_abs(s, lam) < 1e12:
            break  # far below tol, for little is gained any more, or on its way to infinity
        try:
            x, s, lam = interior_point_step(P, q, G, c, x, s, lam)
        except (ValueError, FloatingPointError):
            break
        if not (np.isfinite(x).all() and np.isfinite(lam).all() and min(s.min(), lam.min()) > 0):
            break
    return *best, trace


def _miss(P, q, G, c, x, lam):
    """Return the largest residual of the optimality conditions; lam >= 0 is kept elsewhere."""
    f = G @ x - c
    return max(max_abs(P @ x + q + G.T @ lam), f.max(), max_abs(lam * f))


def _polish(P, q, G, c, x, lam):
    """Return (x, lambda) solved exactly for the constraints that look active, if that is better."""
    from scipy.optimize import nnls

    slack = c - G @ x
    for active in (slack < 1e-6, lam > slack):
        B = G[active]
        K = np.block([[P, B.T], [B, np.zeros((len(B), len(B)))]])
        u = np.linalg.lstsq(K, np.r_[-q, c[active]], rcond=1e-12)[0]
        z, mu = u[: len(q)], u[len(q) :]
        if mu.min(initial=0.0) < 0:  # of several multipliers with one sum, take those >= 0
            mu = nnls(B.T, -(P @ z + q))[0]
        multipliers = np.zeros(len(c))
        multipliers[active] = mu
        if _miss(P, q, G, c, z, multipliers) <= max(_miss(P, q, G, c, x, lam), 1e-14):
            return z, multipliers
    return x, lam


def _scaled_solution(P, q, G, c, tol, max_iter):
    """Solve a programme without equalities, with rows, variables, objective scaled to size 1."""
    rows = np.linalg.norm(G, axis=1)
    G, c = G / rows[:, None], c / rows
    size = max_abs(c)
    if size == 0:
        size = max_abs(q) / max_abs(P) if P.any() and q.any() else 1.0
    P, q, c = P * size**2, q * size, c / size
    weight = max_abs(P, q) or 1.0
    P, q = P / weight, q / weight
    x, lam, trace = _interior_point(P, q, G, c, tol, max_iter)
    if min(trace) <= 1e-4:
        x, lam = _polish(P, q, G, c, x, lam)
    trace[-1] = _miss(P, q, G, c, x, lam)
    return size * x, lam * weight / size / rows, trace


def _unit_rows(M, v):
    rows = np.linalg.norm(M, axis=1)
    rows = np.where(rows > 0, rows, 1.0)
    return M / rows[:, None], v / rows, rows


def _refuse_infeasible(program):
    """Raise Infeasible with a certificate if even the best x violates some constraint."""
    from scipy.optimize import linprog

    G, c, gr = _unit_rows(program.G, program.c)
    A, b, ar = _unit_rows(program.A, program.b)
    size = max_abs(c, b) or 1.0
    M = np.vstack([G, A, -A])
    d = M.shape[1]
    M = np.column_stack([M, -np.ones(len(M))])  # minimise the largest violation t
    answer = linprog(np.r_[np.zeros(d), 1.0], M, np.r_[c, b, -b] / size, bounds=(None, None))
    if answer.status == 0 and answer.x[-1] > 1e-8:
        y = -answer.ineqlin.marginals
        lam, plus, minus = np.split(y, [len(c), len(c) + len(b)])
        raise Infeasible(
            f"the constraints G x <= c, A x = b cannot all hold: every x misses one of them by "
            f"{size * answer.x[-1]:.3g} or more in units of its distance; relax one of them.",
            lam / gr,
            (plus - minus) / ar,
        )


def _refuse_unbounded(program):
    """Raise Unbounded with a direction if the objective falls for ever along one."""
    from scipy.optimize import linprog

    P, q, G, _, A, _ = program
    q = q / (max_abs(q) or 1.0)
    P = P / (max_abs(P) or 1.0)
    G, A = _unit_rows(G, np.zeros(len(G)))[0], _unit_rows(A, np.zeros(len(A)))[0]
    flat = np.vstack([P, A])
    answer = linprog(q, G, np.zeros(len(G)), flat, np.zeros(len(flat)), bounds=(-1, 1))
    if answer.status == 0 and answer.fun < -1e-8:
        raise Unbounded(
            f"the objective has no minimum: it falls for ever along {np.round(answer.x, 4) + 0.0}; "
            f"add constraints or make P positive definite.",
            answer.x,
        )


def _affine_set(program):
    """Return a point x0 of {x: A x = b} and an orthonormal basis N of the directions in it."""
    A, b, _ = _unit_rows(program.A, program.b)
    if len(b) == 0:
        return np.zeros(A.shape[1]), np.eye(A.shape[1])
    U, sv, Vt = np.linalg.svd(A)
    r = np.count_nonzero(sv > 1e-11 * max_abs(sv))
    x0 = Vt[:r].T @ ((U[:, :r].T @ b) / sv[:r])
    if max_abs(A @ x0 - b) > 1e-8 * max_abs(b):
        _refuse_infeasible(program)
    return x0, Vt[r:].T


def solve_qp(P, q, G=None, c=None, A=None, b=None, *, tol=1e-9, max_iter=100):
    """Minimise x^T P x / 2 + q^T x subject to G x <= c and A x = b; return x and its multipliers.

    A dense solver for small problems (d + m up to about a thousand): the equalities are
    eliminated, a primal-dual interior-point method finds the active constraints, and one linear
    system for these gives the last digits. The multipliers prove the answer: see ``kkt_residuals``.
    ``Infeasible`` and ``Unbounded`` are raised, with a proof, if no x satisfies the constraints or
    the objective has no lower bound on those that do.

    Book: optimization-interior-point. Nocedal and Wright (2006), section 16.6.

    Parameters
    ----------
    P : array of shape (d, d); symmetric positive semi-definite; zero for a linear programme
    q : array of shape (d,)
    G, c : arrays of shape (m, d) and (m,), optional
    A, b : arrays of shape (p, d) and (p,), optional
    tol : float; largest residual allowed after rows, variables and objective are scaled to size 1
    max_iter : int; interior-point steps at most

    Examples
    --------
    >>> run = solve_qp([[2.0, 0.0], [0.0, 2.0]], [-6.0, -4.0], G=[[1.0, 1.0]], c=[3.0])
    >>> run.x.round(6).tolist(), run.lam.round(6).tolist()
    ([2.0, 1.0], [2.0])
    """
    program = quadratic_program(P, q, G, c, A, b)
    check_scalar(tol, "tol", low=0, open_low=True)
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    P, q, G, c, A, b = program
    smallest, largest = np.linalg.eigvalsh(P)[[0, -1]]
    if smallest < -1e-9 * max(abs(largest), abs(smallest)):
        raise ValueError(
            f"P must be positive semi-definite, its smallest eigenvalue is {smallest:.3g}: the "
            f"programme is not convex."
        )
    x0, N = _affine_set(program)
    GN, rest = G @ N, c - G @ x0
    rest[np.abs(rest) <= 1e-13 * (np.abs(c) + np.abs(G) @ np.abs(x0))] = 0.0
    acts = np.linalg.norm(GN, axis=1) > 1e-11 * np.linalg.norm(G, axis=1)  # rows that still bind
    if (rest[~acts] < -1e-9 * (max_abs(c) + max_abs(b))).any():
        _refuse_infeasible(program)
    P1, q1, G1 = N.T @ P @ N, N.T @ (P @ x0 + q), GN[acts]
    size = max_abs(q) + max_abs(P @ x0)
    P1, q1 = _without_dust(P1, max_abs(P)), _without_dust(q1, size)
    R = _moving_directions(P1, G1)
    lost = q1 - R @ (R.T @ q1)  # flat directions: neither P nor G sees them
    if max_abs(lost) > 1e-9 * size:
        _refuse_infeasible(program)
        _refuse_unbounded(program)
    y, lam, trace = _solve_reduced(
        (R.T @ P1 @ R, R.T @ q1, G1 @ R, rest[acts]), program, tol, max_iter
    )
    x, multipliers = x0 + N @ (R @ y), np.zeros(len(c))
    multipliers[acts] = lam
    nu = np.linalg.lstsq(A.T, -(P @ x + q + multipliers @ G), rcond=None)[0] if len(b) else b
    if trace[-1] > tol:
        _refuse_infeasible(program)
        _refuse_unbounded(program)
        convergence_warning(
            f"solve_qp stopped after {len(trace) - 1} steps with a scaled residual of "
            f"{trace[-1]:.3g} (tolerance {tol:.3g}): raise max_iter or tol."
        )
    value = float(program.f0(x))
    gap = value - lagrangian(program, x, multipliers, nu)
    residuals, done = kkt_residuals(program, x, multipliers, nu), bool(trace[-1] <= tol)
    return QPRun(x, multipliers, nu, value, gap, residuals, np.array(trace), len(trace) - 1, done)


def _without_dust(a, size):
    """Return zeros if a is nothing but what rounding left of numbers of the given size."""
    return a if max_abs(a) > 1e-13 * size else np.zeros_like(a)


def _moving_directions(P, G):
    """Return an orthonormal basis of the directions that P or G sees, both brought to size 1."""
    M = np.vstack([P / (max_abs(P) or 1.0), _unit_rows(G, np.zeros(len(G)))[0]])
    _, sv, Vt = np.linalg.svd(M, full_matrices=False)
    return Vt[sv > 1e-11 * max(1.0, max_abs(sv))].T


def _solve_reduced(reduced, program, tol, max_iter):
    """Solve the programme left after elimination: nothing, a linear system, or interior points."""
    P, q, G, c = reduced
    if len(q) == 0:
        return np.zeros(0), np.zeros(len(c)), [0.0]
    if len(c) > 0:
        return _scaled_solution(P, q, G, c, tol, max_iter)
    y = np.linalg.lstsq(P, -q, rcond=1e-12)[0]
    miss = max_abs(P @ y + q) / (max_abs(q) or 1.0)
    if miss > 1e-8:
        _refuse_unbounded(program)
    return y, np.zeros(0), [miss]


# Descent -------------------------------------------------------------------------------------


def directional_derivative(gradient, z, u):
    """Return grad f(z)^T u / ||u||, the slope of f at z in the direction of u.

    Book: optimization-steepest-descent.

    Parameters
    ----------
    gradient : callable; takes a point of shape (d,), returns an array of shape (d,)
    z, u : arrays of shape (d,); u not zero; only its direction counts

    Examples
    --------
    >>> directional_derivative(lambda z: 2 * z, [3.0, 4.0], [3.0, 4.0])
    10.0
    """
    check_callable(gradient, "gradient")
    z = check_vector(z, "z")
    u = check_vector(u, "u", length=len(z))
    size = max_abs(u)
    if size == 0:
        raise ValueError("u must not be zero: it has no direction.")
    u = u / size
    return float(check_vector(gradient(z), "gradient(z)", length=len(z)) @ u / np.linalg.norm(u))


#: Overflow is not warned about but refused, by the checks that f and its gradient stay finite.
_QUIET = np.errstate(over="ignore", invalid="ignore")


def _objective(f, z, k=0, advice=""):
    value = _number(f, z, nan=True)
    if not np.isfinite(value):
        advice = advice if k > 0 else "start where f is finite"
        raise ValueError(f"the objective is {value} after {k} steps: {advice}.")
    return value


def _slope(g, z, k):
    g = np.asarray(g)
    if g.shape != z.shape:
        raise ValueError(f"gradient must return an array of shape {z.shape}, got {g.shape}.")
    g = check_vector(g, "gradient", finite=False)
    if not np.isfinite(g).all():
        raise ValueError(f"the gradient is not finite after {k} steps: take a smaller step.")
    return g


@_QUIET
def gradient_descent(f, gradient, z0, *, eta, tol=1e-6, max_iter=1000):
    """Minimise f by steps z <- z - eta grad f(z) until ||grad f(z)|| <= tol; a ``Descent``.

    If the gradient is L-Lipschitz, f falls at every step for 0 < eta < 2 / L. An f that stops being
    finite is an error.

    Book: optimization-gradient-descent. Nesterov (2018), section 1.2.3.

    Parameters
    ----------
    f, gradient : callable; take a point of shape (d,); return a number, and an array of shape (d,)
    z0 : array of shape (d,), the start
    eta : float; step size, above 0, in units of z^2 / f
    tol : float; in units of the gradient
    max_iter : int; steps at most

    Examples
    --------
    >>> run = gradient_descent(lambda z: z @ z, lambda z: 2 * z, [1.0, -2.0], eta=0.5)
    >>> run.z, run.n_iter, run.converged
    (array([0., 0.]), 1, True)
    """
    check_callable(f, "f")
    check_callable(gradient, "gradient")
    z = check_vector(z0, "z0")
    check_scalar(eta, "eta", low=0, open_low=True)
    check_scalar(tol, "tol", low=0)
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    advice = f"eta={eta:.3g} is too large, take it below 2/L"
    path, trace, norms = [z], [], []
    for k in range(max_iter + 1):
        trace.append(_objective(f, z, k, advice))
        g = _slope(gradient(z), z, k)
        norms.append(np.linalg.norm(g))
        done = bool(norms[-1] <= tol)
        if done or k == max_iter:
            break
        z = z - eta * g  # (eq-optimization-gd)
        path.append(z)
    return Descent(z, np.array(trace), np.array(norms), np.array(path), k, done)


@_QUIET
def sgd(f, gradient, z0, n, *, eta, epochs=10, batch_size=1, sampling="uniform", tol=0.0, rng=None):
    """Minimise F = (1/n) sum_i F_i by steps z <- z - eta_t grad F_B(z), where B is a small batch.

    Returns an ``SGDRun``; F or a gradient that stops being finite is an error.

    Book: optimization-sgd. Robbins and Monro (1951).

    Parameters
    ----------
    f : callable
        F, takes a point of shape (d,), returns a number; evaluated once a pass, for the trace.
    gradient : callable
        ``gradient(z, batch)`` returns the mean of grad F_i(z) over the indices i in ``batch``.
    z0 : array of shape (d,), the start
    n : int; number of terms
    eta : float or callable; step size above 0, or ``eta(t)`` for the updates t = 0, 1, 2, ...
    epochs : int; passes at most; each makes ceil(n / batch_size) updates
    batch_size : int; terms in a batch, at most n
    sampling : {"uniform", "shuffle", "cyclic"}
        Indices drawn independently with replacement (unbiased); every term once a pass in random
        order; every term once a pass in its own order.
    tol : float; stop after a pass with ||grad F|| <= tol
    rng : None, int or numpy.random.Generator; not used by "cyclic"

    Examples
    --------
    >>> a = np.array([1.0, 2.0, 6.0])
    >>> f, gradient = lambda z: np.mean((z - a) ** 2) / 2, lambda z, B: z - a[B].mean()
    >>> run = sgd(f, gradient, [0.0], 3, eta=lambda t: 1 / (t + 1), epochs=1, sampling="cyclic")
    >>> run.z
    array([3.])
    """
    check_callable(f, "f")
    check_callable(gradient, "gradient")
    z = check_vector(z0, "z0")
    check_scalar(n, "n", low=1, integer=True)
    check_scalar(epochs, "epochs", low=1, integer=True)
    check_scalar(batch_size, "batch_size", low=1, high=n, integer=True)
    check_choice(sampling, "sampling", ("uniform", "shuffle", "cyclic"))
    check_scalar(tol, "tol", low=0)
    step_size = eta if callable(eta) else lambda t: eta
    rng = random_generator(rng)
    everything, t, path = np.arange(n), 0, [z]
    trace = [_objective(f, z)]
    norms = [np.linalg.norm(_slope(gradient(z, everything), z, t))]
    while len(path) <= epochs and norms[-1] > tol:
        if sampling == "uniform":
            batches = rng.integers(n, size=(-(-n // batch_size), batch_size))
        else:
            order = rng.permutation(n) if sampling == "shuffle" else everything
            batches = np.split(order, range(batch_size, n, batch_size))
        for batch in batches:
            eta_t = check_scalar(step_size(t), "eta", low=0, open_low=True)
            z = z - eta_t * _slope(gradient(z, batch), z, t)  # (eq-optimization-sgd)
            t += 1
        path.append(z)
        trace.append(_objective(f, z, t, "take smaller steps eta"))
        norms.append(np.linalg.norm(_slope(gradient(z, everything), z, t)))
    done = bool(norms[-1] <= tol)
    return SGDRun(z, np.array(trace), np.array(norms), np.array(path), t, done)


def backtracking(f, z, step, slope, *, shrink=0.5, share=1e-4):
    """Return the first t of 1, shrink, shrink^2, ... with f(z + t s) <= f(z) + share t slope.

    If no t will do, or the slope is not negative, an error says so.

    Book: optimization-backtracking. Nocedal and Wright (2006), algorithm 3.1.

    Parameters
    ----------
    f : callable; takes a point of shape (d,), returns a number; inf outside the domain
    z, step : arrays of shape (d,)
    slope : float; grad f(z)^T step, below 0
    shrink, share : float; both strictly between 0 and 1

    Examples
    --------
    >>> backtracking(lambda z: z @ z, np.array([1.0]), np.array([-4.0]), -8.0)
    0.25
    """
    check_callable(f, "f")
    z = check_vector(z, "z")
    step = check_vector(step, "step", length=len(z))
    check_scalar(shrink, "shrink", low=0, high=1, open_low=True, open_high=True)
    check_scalar(share, "share", low=0, high=1, open_low=True, open_high=True)
    check_scalar(slope, "slope")
    if slope >= 0:
        raise ValueError(
            f"slope must be negative, got {slope:.3g}: the step does not lead downhill, raise "
            f"damping."
        )
    start, t = _objective(f, z), 1.0
    while (z + t * step != z).any():
        if _number(f, z + t * step) <= start + share * t * slope:
            return t
        t *= shrink
    raise ValueError("f does not fall along the step: gradient and f do not belong together.")


@_QUIET
def newton(f, gradient, hessian, z0, *, damping=0.0, line_search=False, tol=1e-8, max_iter=100):
    """Seek grad f(z) = 0 by steps z <- z - t (H(z) + damping I)^{-1} grad f(z); a ``NewtonRun``.

    t = 1, or with ``line_search`` the first of 1, 1/2, 1/4, ... that makes f fall enough. Close to
    a point with grad f = 0 and invertible H the error is squared at each step; far from it pure
    steps may diverge, and where H is not positive definite they may lead to a maximum or saddle.

    Book: optimization-newton. Nocedal and Wright (2006), section 3.3.

    Parameters
    ----------
    f, gradient, hessian : callable
        Take a point of shape (d,); return a number, and arrays of shape (d,) and (d, d).
    z0 : array of shape (d,), the start
    damping : float; at least 0; changes the steps, not the objective
    line_search : bool
    tol : float; stop at ||grad f(z)|| <= tol, in units of the gradient
    max_iter : int; steps at most

    Examples
    --------
    >>> run = newton(lambda z: z @ z, lambda z: 2 * z, lambda z: 2 * np.eye(2), [1.0, -2.0])
    >>> run.z, run.n_iter
    (array([0., 0.]), 1)
    """
    check_callable(f, "f")
    check_callable(gradient, "gradient")
    check_callable(hessian, "hessian")
    z = check_vector(z0, "z0")
    check_scalar(damping, "damping", low=0)
    check_scalar(tol, "tol", low=0)
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    path, trace, norms, steps = [z], [], [], []
    for k in range(max_iter + 1):
        trace.append(_objective(f, z, k, "the step overshoots, use line_search=True"))
        g = _slope(gradient(z), z, k)
        norms.append(np.linalg.norm(g))
        done = bool(norms[-1] <= tol)
        if done or k == max_iter:
            break
        s = _newton_step(hessian(z), g, damping)
        steps.append(backtracking(f, z, s, g @ s) if line_search else 1.0)
        z = z + steps[-1] * s  # (eq-optimization-newton)
        path.append(z)
    return NewtonRun(z, np.array(trace), np.array(norms), np.array(path), np.array(steps), k, done)


def _newton_step(H, g, damping):
    """Return -(H + damping I)^{-1} g by the eigenvalues of H, which also tell whether it exists."""
    H = check_square(H, "hessian(z)", size=len(g), symmetric=True)
    curvatures, V = np.linalg.eigh(H)
    curvatures = curvatures + damping
    size = np.abs(curvatures)
    if size.min() <= len(g) * np.finfo(float).eps * size.max():
        raise ValueError(
            f"the Hessian is singular, its smallest |eigenvalue| is {size.min():.3g}: pass "
            f"damping > 0."
        )
    return -V @ ((V.T @ g) / curvatures)
