"""Linear algebra for the rest of the book: derivatives, norms, Gram matrices, eigenvalues, the SVD.

Chapter: Foundations, *Linear algebra*. Main references: Golub and Van Loan (2013), Horn and Johnson
(2013).
"""

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, svd

from mllib.core.arrays import check_array, check_result, check_size, check_square, check_vector
from mllib.core.numerics import max_abs
from mllib.core.scalars import check_choice, check_scalar

__all__ = [
    "SVD",
    "JacobiRun",
    "LowRank",
    "ProductSums",
    "SpectralDecomposition",
    "condition_number",
    "gram_matrix",
    "gram_schmidt",
    "is_positive_semidefinite",
    "jacobi_eigen",
    "jacobi_rotation",
    "leading_minors",
    "low_rank_approximation",
    "matrix_rank",
    "numeric_gradient",
    "numeric_hessian",
    "numeric_jacobian",
    "outer_product_sum",
    "p_norm",
    "principal_minors",
    "push_through",
    "sherman_morrison",
    "spectral_decomposition",
    "svd_from_eigh",
    "svd_solve",
]

_EPS, _MAX = np.finfo(float).eps, np.finfo(float).max


# Records -------------------------------------------------------------------------------------


class SpectralDecomposition(NamedTuple):
    """A symmetric matrix as C = V diag(values) V^T with V^T V = I."""

    values: np.ndarray  #: eigenvalues lambda_1 >= ... >= lambda_d, shape (d,)
    V: np.ndarray  #: column j is a unit eigenvector of lambda_j, shape (d, d)


class JacobiRun(NamedTuple):
    """What happened while rotations made a symmetric matrix diagonal."""

    values: np.ndarray  #: diagonal at the end, sorted: lambda_1 >= ... >= lambda_d, shape (d,)
    V: np.ndarray  #: product of all rotations, its columns in the order of values, shape (d, d)
    off: np.ndarray  #: sum of squares off the diagonal before each rotation and at the end
    converged: bool  #: whether the off-diagonal part fell below the rounding of C


class SVD(NamedTuple):
    """A matrix as A = U diag(s) V^T, thin: with k = min(n, d) columns in U and in V."""

    U: np.ndarray  #: left singular vectors u_j, shape (n, k)
    s: np.ndarray  #: singular values s_1 >= ... >= s_k >= 0, shape (k,)
    V: np.ndarray  #: right singular vectors v_j (not transposed), shape (d, k)


class LowRank(NamedTuple):
    """The best approximation of a matrix among those of rank at most k."""

    A_k: np.ndarray  #: sum over j <= k of s_j u_j v_j^T, shape (n, d)
    error: float  #: Frobenius norm of A - A_k, the root of the sum of s_j^2 over j > k
    s: np.ndarray  #: all singular values of A, shape (min(n, d),)


@dataclass(frozen=True, eq=False)
class ProductSums:
    """Sums over a sample from which least squares can be solved; those of two samples add up."""

    n: int  #: number of samples
    S: np.ndarray  #: sum of x_i x_i^T = X^T X, shape (d, d)
    b: np.ndarray  #: sum of y_i x_i = X^T y, shape (d,)
    c: float  #: sum of y_i^2

    def __add__(self, other):
        if not isinstance(other, ProductSums):
            return NotImplemented
        if len(self.b) != len(other.b):
            raise ValueError(
                f"both sums must be over the same features, got {len(self.b)} and {len(other.b)}: "
                f"add up chunks with the same columns."
            )
        return ProductSums(self.n + other.n, self.S + other.S, self.b + other.b, self.c + other.c)

    def __radd__(self, other):  # 0 + first, with which the built-in sum begins
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def squared_error(self, w):
        """Return sum_i (y_i - w^T x_i)^2 = w^T S w - 2 b^T w + c."""
        w = check_vector(w, "w", length=len(self.b))
        return float(w @ self.S @ w - 2 * self.b @ w + self.c)


# Functions: derivatives ----------------------------------------------------------------------


def _point(x):
    return check_vector(np.ravel(x), "x").reshape(np.shape(x))


def _step(x, h, power):
    """Return h, or eps^power times the largest entry of x in absolute value (1 if x = 0)."""
    if h is not None:
        return check_scalar(h, "h", low=0, open_low=True)
    return _EPS**power * (max_abs(x) or 1.0)


def _value(f, x, ndim):
    if not callable(f):
        raise ValueError(f"f must be a function of an array like x, got {f!r}.")
    y = np.asarray(f(x), dtype=float)
    if (ndim == 0 and y.size != 1) or (ndim == 1 and y.ndim != 1):
        what = "one number" if ndim == 0 else "a vector (1-D array)"
        raise ValueError(f"f must return {what}, got an array of shape {y.shape}.")
    if not np.isfinite(y).all():
        raise ValueError("f is not finite near x: choose a smaller h, or an x inside its domain.")
    return y.item() if ndim == 0 else y


def numeric_gradient(f, x, *, h=None):
    """Return the gradient of f at x by central differences: (f(x + h e_j) - f(x - h e_j)) / 2h.

    f takes an array like x, of any shape, and returns one number; the result has the shape of x:
    for a matrix Lambda it holds df / dLambda_ij, each entry being a variable of its own. The step h
    is by default eps^(1/3) times the largest entry of x, which balances the error h^2 of the
    formula and the error eps / h of rounding.

    Book: linear-algebra-gradient-hessian, linear-algebra-central-differences.

    >>> numeric_gradient(lambda x: x[0] ** 2 + 3 * x[1], [2.0, 1.0]).round(6)
    array([4., 3.])
    """
    x = _point(x)
    h = _step(x, h, 1 / 3)
    g = np.empty(x.shape)
    for j in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[j] += h
        behind[j] -= h
        g[j] = (_value(f, ahead, 0) - _value(f, behind, 0)) / (ahead[j] - behind[j])
    return g


def numeric_jacobian(f, x, *, h=None):
    """Return J_ij = df_i / dx_j, shape (m, d), by central differences; h: ``numeric_gradient``.

    f takes a vector of shape (d,) and returns one of shape (m,). Row i is the transposed gradient
    of f_i, so that f(x + v) = f(x) + J v + o(|v|).

    Book: linear-algebra-gradient-hessian.

    >>> numeric_jacobian(lambda x: x[0] * x, [2.0, 1.0]).round(6)
    array([[4., 0.],
           [1., 2.]])
    """
    x = check_vector(x, "x")
    if x.size == 0:
        raise ValueError("x must have at least one entry: a Jacobian needs a variable.")
    h = _step(x, h, 1 / 3)
    columns = []
    for j in range(len(x)):
        ahead, behind = x.copy(), x.copy()
        ahead[j] += h
        behind[j] -= h
        columns.append((_value(f, ahead, 1) - _value(f, behind, 1)) / (ahead[j] - behind[j]))
    return np.column_stack(columns)


def numeric_hessian(f, x, *, h=None):
    """Return H_jk = d^2 f / dx_j dx_k, shape (d, d), by central differences in both directions.

    H_jk is (f(x + h_j + h_k) - f(x + h_j - h_k) - f(x - h_j + h_k) + f(x - h_j - h_k)) / 4 h^2,
    where h_j = h e_j; h is by default eps^(1/4) times the largest entry of x.

    Book: linear-algebra-gradient-hessian.

    >>> numeric_hessian(lambda x: x[0] ** 2 * x[1], [1.0, 2.0]).round(5)
    array([[4., 2.],
           [2., 0.]])
    """
    x = check_vector(x, "x")
    h = _step(x, h, 1 / 4)
    steps, H = h * np.eye(len(x)), np.empty((len(x), len(x)))
    for j, k in itertools.combinations_with_replacement(range(len(x)), 2):
        u, v = steps[j], steps[k]
        four = [_value(f, x + a * u + b * v, 0) * a * b for a in (1, -1) for b in (1, -1)]
        H[j, k] = H[k, j] = sum(four) / (4 * h**2)
    return check_result(H, "x")


# Functions: norms, Gram matrices, sums over a sample ------------------------------------------


def p_norm(v, p=2.0):
    """Return ||v||_p = (sum_j |v_j|^p)^(1/p) for p > 0; the largest |v_j| for p = inf.

    For 0 < p < 1 the same formula is evaluated, but it is not a norm.

    Book: linear-algebra-lp-norms.

    >>> p_norm([3.0, -4.0]), p_norm([3.0, -4.0], 1), p_norm([3.0, -4.0], np.inf)
    (5.0, 7.0, 4.0)
    """
    v = np.abs(check_vector(v, "v"))
    if p is np.ma.masked or p != np.inf:
        check_scalar(p, "p", low=0, open_low=True)
    top = np.max(v, initial=0.0)  # dividing by it first, no power over- or underflows to nonsense
    if p == np.inf or top == 0:
        return float(top)
    return float(top * np.sum((v / top) ** p) ** (1 / p))


def gram_matrix(X):
    """Return K = X X^T, shape (n, n), the inner products K_ij = x_i^T x_j of the rows of X.

    The Gram matrix of the columns, X^T X, is ``gram_matrix(X.T)``.

    >>> gram_matrix([[1.0, 0.0], [3.0, 4.0]])
    array([[ 1.,  3.],
           [ 3., 25.]])
    """
    X = check_array(X)
    return X @ X.T


def outer_product_sum(X, y):
    """Return sum_i x_i x_i^T, sum_i y_i x_i and sum_i y_i^2, the sums behind least squares.

    Equal to X^T X, X^T y and y^T y for X of shape (n, d) and y of shape (n,). The sums of parts of
    a sample add up, so that data larger than memory are a map over chunks and one ``sum``.

    Book: linear-algebra-outer-product-sum.

    >>> whole = outer_product_sum([[1.0], [2.0]], [3.0, 5.0])
    >>> parts = outer_product_sum([[1.0]], [3.0]) + outer_product_sum([[2.0]], [5.0])
    >>> whole.S, whole.b, whole.c, parts.c
    (array([[5.]]), array([13.]), 34.0, 34.0)
    """
    X = check_array(X)
    y = check_size(check_vector(y, "y", length=len(X)), "y")
    return ProductSums(len(X), X.T @ X, X.T @ y, float(y @ y))


def is_positive_semidefinite(K, *, rtol=1e-12):
    """Return whether z^T K z >= 0 for all z, judged by the smallest eigenvalue of a symmetric K.

    Eigenvalues above -rtol times the largest in absolute value count as rounded zeros.

    Book: linear-algebra-psd-characterisations.

    >>> is_positive_semidefinite([[1.0, 2.0], [2.0, 4.0]])
    True
    """
    K = check_square(K, "K", symmetric=True)
    check_scalar(rtol, "rtol", low=0)
    values = eigh(K, eigvals_only=True)
    return bool(values[0] >= -rtol * max_abs(values))


def principal_minors(K):
    """Return a dict from S to det K_SS for every non-empty tuple S of indices, smallest sets first.

    K has at most 16 rows, since there are 2^d - 1 minors.

    >>> principal_minors([[0.0, 0.0], [0.0, -1.0]])
    {(0,): 0.0, (1,): -1.0, (0, 1): 0.0}
    """
    K = check_square(K, "K")
    d = len(K)
    if d > 16:
        raise ValueError(f"K has {d} rows and 2^{d} - 1 minors: test its eigenvalues instead.")
    subsets = (S for size in range(d) for S in itertools.combinations(range(d), size + 1))
    return {S: float(np.linalg.det(K[np.ix_(S, S)])) + 0.0 for S in subsets}


def leading_minors(K):
    """Return the determinants of the upper left squares of sizes 1, ..., d, shape (d,).

    All positive means positive definite (Sylvester); all non-negative does not mean semidefinite.

    >>> leading_minors([[2.0, 1.0], [1.0, 2.0]]).round(6)
    array([2., 3.])
    """
    K = check_square(K, "K")
    return np.array([np.linalg.det(K[:k, :k]) for k in range(1, len(K) + 1)])


# Functions: inverses -------------------------------------------------------------------------


def push_through(X, lam, *, side="smaller"):
    """Return (X^T X + lam I_d)^{-1} X^T = X^T (X X^T + lam I_n)^{-1}, shape (d, n), for lam > 0.

    ``side`` says which system is solved: "features" the d x d one, "samples" the n x n one, or the
    "smaller". A lam so small beside X that the matrix is singular in floating point is refused.

    Book: linear-algebra-push-through.

    >>> push_through([[1.0, 1.0]], 2.0)
    array([[0.25],
           [0.25]])
    """
    X = check_array(X)
    check_scalar(lam, "lam", low=0, open_low=True)
    check_choice(side, "side", ("smaller", "features", "samples"))
    n, d = X.shape
    try:
        if side == "features" or (side == "smaller" and d <= n):
            return cho_solve(cho_factor(X.T @ X + lam * np.eye(d)), X.T)
        return cho_solve(cho_factor(X @ X.T + lam * np.eye(n)), X).T
    except np.linalg.LinAlgError:
        raise ValueError(
            f"lam = {lam:.3g} is lost beside the entries of X in floating point: increase lam."
        ) from None


def sherman_morrison(Q_inv, x, a=1.0):
    """Return (Q + a x x^T)^{-1} = Q^{-1} - a Q^{-1} x x^T Q^{-1} / (1 + a x^T Q^{-1} x).

    In d^2 operations instead of the d^3 of a new inverse; Q^{-1}, shape (d, d), need not be
    symmetric, and a negative weight a takes a sample away. A sum without an inverse is refused.

    Book: linear-algebra-sherman-morrison. Sherman and Morrison (1950).

    >>> sherman_morrison(np.eye(2), [1.0, 0.0])
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    Q_inv = check_square(Q_inv, "Q_inv")
    x = check_vector(x, "x", length=len(Q_inv))
    check_scalar(a, "a", low=-_MAX, high=_MAX)
    column, row = Q_inv @ x, x @ Q_inv
    change = a * (x @ column)
    if abs(1 + change) <= 8 * len(x) * _EPS * (1 + abs(change)):
        raise ValueError(
            f"Q + a x x^T is singular, since 1 + a x^T Q^-1 x = {1 + change:.1e}: change a or x."
        )
    return Q_inv - a * np.outer(column, row) / (1 + change)


# Functions: eigenvalues ----------------------------------------------------------------------


def _signed(V):
    """Flip columns so that the largest entry of each, the first at a tie, is positive."""
    largest = V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])]
    return V * np.where(largest < 0, -1.0, 1.0)


def spectral_decomposition(C):
    """Return C = V diag(lambda) V^T with V^T V = I and lambda_1 >= ... >= lambda_d.

    C is symmetric. Computed by LAPACK; ``jacobi_eigen`` is the algorithm that the book proves. The
    sign of each eigenvector makes its entry of largest absolute value positive.

    Book: linear-algebra-spectral-theorem.

    >>> spectral_decomposition([[1.0, 2.0], [2.0, 1.0]]).values.round(6)
    array([ 3., -1.])
    """
    C = check_square(C, "C", symmetric=True)
    values, V = eigh(C)
    return SpectralDecomposition(values[::-1].copy(), _signed(V[:, ::-1]))


def jacobi_rotation(C, p, q):
    """Return the cosine and sine of the rotation that makes the entry (p, q) of J^T C J zero.

    J is the identity but for J_pp = J_qq = c, J_pq = s, J_qp = -s; C is symmetric. The angle is at
    most 45 degrees.

    Book: linear-algebra-jacobi-rotation. Golub and Van Loan (2013), algorithm 8.5.1.

    >>> jacobi_rotation(np.array([[2.0, 0.0], [0.0, 1.0]]), 0, 1)
    (1.0, 0.0)
    """
    C = check_square(C, "C", symmetric=True)
    for index, name in ((p, "p"), (q, "q")):
        check_scalar(index, name, low=0, high=len(C) - 1, integer=True)
    if p == q:
        raise ValueError(f"p and q must differ, both are {p}: a rotation turns two axes.")
    return _rotation(C, p, q)


def _rotation(C, p, q):
    if C[p, q] == 0:
        return 1.0, 0.0
    tau = (C[q, q] - C[p, p]) / (2 * C[p, q])
    sign = 1.0 if tau >= 0 else -1.0
    t = sign / (abs(tau) + np.hypot(1.0, tau))  # the smaller root, (eq-linear-algebra-tangent)
    c = 1 / np.hypot(1.0, t)
    return float(c), float(t * c)


def jacobi_eigen(C, *, max_rotations=None):
    """Make a symmetric C diagonal by rotations, each zeroing the largest entry off the diagonal.

    Every rotation takes exactly 2 C_pq^2 off the sum of squares off the diagonal, which therefore
    shrinks at least by the factor 1 - 2 / (d (d - 1)): 40 d^2 of them, the default limit, are more
    than it takes to reach the rounding level.

    Book: linear-algebra-spectral-theorem. Jacobi (1846).

    >>> run = jacobi_eigen([[1.0, 2.0], [2.0, 1.0]])
    >>> run.values.round(6), run.off.tolist()
    (array([ 3., -1.]), [8.0, 0.0])
    """
    C = check_size(check_square(C, "C", symmetric=True), "C")
    d = len(C)
    limit = 40 * d * d if max_rotations is None else max_rotations
    check_scalar(limit, "max_rotations", low=1, integer=True)
    D, V, off = C, np.eye(d), []
    enough = (d * _EPS * np.linalg.norm(D)) ** 2
    while True:
        outside = np.triu(np.abs(D), 1)
        off.append(2 * np.sum(outside**2))
        if off[-1] <= enough or len(off) > limit:
            break
        p, q = np.unravel_index(np.argmax(outside), D.shape)
        J = np.eye(d)
        J[p, p], J[p, q] = c, s = _rotation(D, p, q)
        J[q, p], J[q, q] = -s, c
        D, V = J.T @ D @ J, V @ J
        D[p, q] = D[q, p] = 0.0
    order = np.argsort(-np.diag(D), kind="stable")
    done = bool(off[-1] <= enough)
    return JacobiRun(np.diag(D)[order], _signed(V[:, order]), np.array(off), done)


# Functions: the singular value decomposition -------------------------------------------------


def gram_schmidt(A, *, rtol=1e-10):
    """Return Q, shape (n, r), orthonormal columns with the span of the columns of A, in order.

    q_j is a_j - sum_{i<j} (q_i^T a_j) q_i divided by its length. A column of which no more than the
    share ``rtol`` of its length is left depends on those before it and is skipped, so [Q, I]
    completes an orthonormal Q to a basis of the whole space.

    Book: linear-algebra-gram-schmidt.

    >>> gram_schmidt([[3.0, 6.0, 1.0], [4.0, 8.0, 1.0]]).round(6)
    array([[ 0.6,  0.8],
           [ 0.8, -0.6]])
    """
    A = check_array(A, "A")
    check_scalar(rtol, "rtol", low=0, high=1)
    n, k = A.shape
    Q, r = np.empty((n, min(n, k))), 0
    for a in A.T:
        length = p_norm(a)
        if r == n or length == 0:
            continue
        v = a / length
        for _ in range(2):  # once in exact arithmetic; the second pass removes the rounding
            v = v - Q[:, :r] @ (Q[:, :r].T @ v)  # (eq-linear-algebra-gram-schmidt)
        if np.linalg.norm(v) > rtol:
            Q[:, r] = v / np.linalg.norm(v)
            r += 1
    if r == 0:
        raise ValueError("A has only zero columns: pass at least one that is not zero.")
    return Q[:, :r]


def svd_from_eigh(A):
    """Return A = U diag(s) V^T, built as the book proves it: from the eigenvectors of A^T A.

    s_j = sqrt(lambda_j), u_j = A v_j / s_j for s_j > 0, and further u_j by Gram-Schmidt. Squaring A
    costs half of the digits: singular values up to sqrt(10 n eps) s_1, about 1e-7 s_1, cannot be
    told from zero and are set to zero: use ``svd_solve`` or ``scipy.linalg.svd`` if that matters.

    Book: linear-algebra-svd, linear-algebra-svd-proof.

    >>> U, s, V = svd_from_eigh([[4.0, 0.0], [3.0, 5.0]])
    >>> (s**2).round(6)
    array([40., 10.])
    """
    A = check_array(A, "A")
    n, d = A.shape
    if n < d:
        U, s, V = svd_from_eigh(A.T)
        return SVD(V, s, U)
    values, V = spectral_decomposition(A.T @ A)
    r = np.count_nonzero(values > 10 * n * _EPS * values[0])  # the rounding of A^T A
    s = np.zeros(d)
    s[:r] = np.sqrt(values[:r])
    U = A @ V[:, :r] / s[:r]  # (eq-linear-algebra-left-vectors)
    U = gram_schmidt(np.column_stack([U, np.eye(n)]))[:, :d]  # completes r columns to d
    return SVD(U, s, V)


def low_rank_approximation(A, k):
    """Return A_k = sum_{j<=k} s_j u_j v_j^T, which minimises ||A - B||_F over rank(B) <= k.

    Book: linear-algebra-low-rank-approximation. Eckart and Young (1936).

    >>> A_1, error, s = low_rank_approximation([[2.0, 0.0], [0.0, 1.0]], 1)
    >>> A_1, error
    (array([[2., 0.],
           [0., 0.]]), 1.0)
    """
    A = check_array(A, "A")
    check_scalar(k, "k", low=1, high=min(A.shape), integer=True)
    U, s, Vt = svd(A, full_matrices=False)
    return LowRank((U[:, :k] * s[:k]) @ Vt[:k], p_norm(s[k:]), s)


def _cut(s, shape, rtol):
    """Return the level below which a singular value counts as zero."""
    if rtol is None:
        rtol = max(shape) * _EPS
    return check_scalar(rtol, "rtol", low=0) * s[0]


def matrix_rank(A, *, rtol=None):
    """Return the number of singular values of A above rtol times the largest.

    By default rtol is max(n, d) times the rounding unit 2.2e-16.

    Book: linear-algebra-matrix-rank.

    >>> matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    1
    """
    A = check_array(A, "A")
    s = svd(A, compute_uv=False)
    return int(np.count_nonzero(s > _cut(s, A.shape, rtol)))


def condition_number(A):
    """Return kappa(A) = s_1 / s_k, the largest over the smallest singular value, k = min(n, d).

    It is inf if the smallest is exactly 0, and about 1e16 or more if it is 0 up to rounding.

    Book: linear-algebra-conditioning.

    >>> condition_number([[4.0, 0.0], [0.0, 0.5]])
    8.0
    """
    s = svd(check_array(A, "A"), compute_uv=False)
    return float(s[0] / s[-1]) if s[-1] > 0 else np.inf


def svd_solve(X, y, *, rtol=None):
    """Return the w that minimises ||y - X w||, the shortest such w, as V diag(1/s) U^T y.

    Directions with s_j at most rtol times s_1 are dropped; rtol is as in ``matrix_rank``.

    Book: linear-algebra-svd-code-example.

    >>> svd_solve([[1.0, 1.0], [1.0, 1.0]], [1.0, 3.0]).round(6)
    array([1., 1.])
    """
    X = check_array(X)
    y = check_vector(y, "y", length=len(X))
    U, s, Vt = svd(X, full_matrices=False)
    keep = s > _cut(s, X.shape, rtol)
    return Vt[keep].T @ ((U[:, keep].T @ y) / s[keep])  # (eq-linear-algebra-svd-solve)
