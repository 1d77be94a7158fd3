"""The linear algebra module: behaviour of each public function, its errors and edge cases."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sympy

from mllib.linear_algebra import (
    condition_number,
    gram_matrix,
    gram_schmidt,
    is_positive_semidefinite,
    jacobi_eigen,
    jacobi_rotation,
    leading_minors,
    low_rank_approximation,
    matrix_rank,
    numeric_gradient,
    numeric_hessian,
    numeric_jacobian,
    outer_product_sum,
    p_norm,
    principal_minors,
    push_through,
    sherman_morrison,
    spectral_decomposition,
    svd_from_eigh,
    svd_solve,
)

TWO = np.array([[4.0, 0.0], [3.0, 5.0]])  # singular values 2 sqrt(10), sqrt(10)


def random_matrix(seed, n, d, rank=None):
    rng = np.random.default_rng(seed)
    if rank is None:
        return rng.standard_normal((n, d))
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


def random_symmetric(seed, d):
    B = random_matrix(seed, d, d)
    return B + B.T


def laeuchli(eps):
    return np.array([[1.0, 1.0], [eps, 0.0], [0.0, eps]])


# derivatives ---------------------------------------------------------------------------------


def symbolic(expression, symbols, at):
    """Return value, gradient and Hessian of a sympy expression at a point, as floats."""
    point = dict(zip(symbols, at))
    gradient = [float(sympy.diff(expression, s).subs(point)) for s in symbols]
    H = [[float(sympy.diff(expression, s, t).subs(point)) for t in symbols] for s in symbols]
    return sympy.lambdify([symbols], expression, "numpy"), gradient, H


def test_gradient_and_hessian_equal_symbolic_ones():
    x = sympy.symbols("x0:3")
    expression = sympy.exp(x[0] * x[1]) + sympy.sin(x[2]) * x[0] ** 3 - x[1] / (1 + x[2] ** 2)
    f, gradient, H = symbolic(expression, x, [0.7, -1.2, 0.4])
    np.testing.assert_allclose(numeric_gradient(f, [0.7, -1.2, 0.4]), gradient, rtol=1e-8)
    np.testing.assert_allclose(numeric_hessian(f, [0.7, -1.2, 0.4]), H, rtol=1e-5, atol=1e-5)


def test_gradient_in_a_matrix_has_its_shape_and_transposes_the_inverse():
    L = np.array([[2.0, 1.0], [-0.5, 1.5]])
    g = numeric_gradient(lambda M: np.linalg.slogdet(M)[1], L)
    np.testing.assert_allclose(g, np.linalg.inv(L).T, rtol=1e-8)
    assert np.abs(g - np.linalg.inv(L)).max() > 0.1


def test_jacobian_has_a_row_for_each_value_and_a_column_for_each_variable():
    A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    J = numeric_jacobian(lambda x: A @ x, [0.1, 0.2, 0.3])
    assert J.shape == (2, 3)
    np.testing.assert_allclose(J, A, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_derivatives_follow_the_scale_of_x(scale):
    x = scale * np.array([1.0, -2.0])
    np.testing.assert_allclose(numeric_gradient(lambda v: np.sum(v**3), x), 3 * x**2, rtol=1e-8)
    H = numeric_hessian(lambda v: v[0] ** 2 * v[1], x)
    np.testing.assert_allclose(H, [[2 * x[1], 2 * x[0]], [2 * x[0], 0]], atol=1e-5 * scale)


def test_the_step_is_a_power_of_the_precision_times_the_largest_entry():
    x, seen = np.array([0.5, -8.0, 0.25]), []
    numeric_gradient(lambda v: seen.append(v) or 0.0, x)
    assert np.ptp(seen, axis=0) / 2 == pytest.approx([8 * np.finfo(float).eps ** (1 / 3)] * 3)


def test_a_given_step_is_used():
    assert numeric_gradient(lambda x: x[0] ** 3, [0.0], h=0.5) == pytest.approx(0.25)
    assert numeric_hessian(lambda x: x[0] ** 4, [0.0], h=0.5)[0, 0] == pytest.approx(2.0)


def test_hessian_is_symmetric_to_the_last_bit():
    H = numeric_hessian(lambda x: np.exp(x[0] * x[1]) * np.cos(x[2]), [0.3, 0.2, 0.1])
    assert np.array_equal(H, H.T)


def test_derivatives_of_bad_functions_and_points_are_refused():
    with pytest.raises(ValueError, match="f must return one number, got an array of shape"):
        numeric_gradient(lambda x: x, [1.0, 2.0])
    with pytest.raises(ValueError, match="f must return a vector"):
        numeric_jacobian(lambda x: x[0], [1.0, 2.0])
    with pytest.raises(ValueError, match="f is not finite near x"), np.errstate(invalid="ignore"):
        numeric_gradient(lambda x: np.log(x[0]), [-1.0])
    with pytest.raises(ValueError, match="Input x contains NaN"):
        numeric_hessian(np.sum, [np.nan])
    with pytest.raises(ValueError, match="h must be a number"):
        numeric_gradient(np.sum, [1.0], h=0)
    with pytest.raises(ValueError, match="x must be a vector"):
        numeric_jacobian(np.ravel, np.eye(2))
    with pytest.raises(ValueError, match="x must have at least one entry"):
        numeric_jacobian(np.ravel, [])
    for derivative in (numeric_gradient, numeric_jacobian, numeric_hessian):
        with pytest.raises(ValueError, match="f must be a function of an array like x, got 3"):
            derivative(3, [1.0])


# norms ---------------------------------------------------------------------------------------


def test_norms_by_hand():
    assert [p_norm([3.0, -4.0], p) for p in (1, 2, np.inf)] == [7.0, 5.0, 4.0]
    assert p_norm([1.0, 1.0], 0.5) == pytest.approx(4.0)
    assert p_norm([], 2) == 0.0
    assert p_norm([0.0, 0.0], 3) == 0.0


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_norms_neither_overflow_nor_underflow(scale):
    assert p_norm([3 * scale, 4 * scale]) == pytest.approx(5 * scale, rel=1e-14)
    assert p_norm([scale, scale], 40) == pytest.approx(2 ** (1 / 40) * scale, rel=1e-14)


def test_norms_refuse_bad_exponents_and_shapes():
    for p, v in itertools.product((0, -1, np.nan, "2", True), ([1.0, 2.0], [0.0, 0.0], [])):
        with pytest.raises(ValueError, match="p must be a number in"):
            p_norm(v, p)
    with pytest.raises(ValueError, match="v must be a vector"):
        p_norm(np.eye(2))
    with pytest.raises(ValueError, match="Input v contains infinity"):
        p_norm([np.inf])


# Gram matrices and semidefiniteness ----------------------------------------------------------


def test_gram_matrix_holds_inner_products_of_rows():
    X = random_matrix(0, 4, 3)
    K = gram_matrix(X)
    assert K.shape == (4, 4)
    for i, j in itertools.product(range(4), repeat=2):
        assert K[i, j] == pytest.approx(sum(a * b for a, b in zip(X[i], X[j])))


def test_sums_equal_the_loop_and_those_of_parts_add_up():
    X, y = random_matrix(1, 30, 4), random_matrix(2, 30, 1)[:, 0]
    whole = outer_product_sum(X, y)
    S, b = np.zeros((4, 4)), np.zeros(4)
    for x_i, y_i in zip(X, y):
        S, b = S + np.outer(x_i, x_i), b + y_i * x_i
    np.testing.assert_allclose(whole.S, S, rtol=1e-12)
    np.testing.assert_allclose(whole.b, b, rtol=1e-12)
    parts = sum(outer_product_sum(X[k : k + 11], y[k : k + 11]) for k in (0, 11, 22))
    assert parts.n == whole.n == 30
    np.testing.assert_allclose(parts.S, whole.S, rtol=1e-12)
    np.testing.assert_allclose(parts.b, whole.b, rtol=1e-12)
    w = np.arange(4.0)
    assert parts.squared_error(w) == pytest.approx(np.sum((y - X @ w) ** 2), rel=1e-12)


def test_sums_over_other_features_or_of_other_things_are_refused():
    one, two = outer_product_sum([[1.0]], [1.0]), outer_product_sum([[1.0, 2.0]], [1.0])
    with pytest.raises(ValueError, match="over the same features, got 1 and 2"):
        one + two
    for other in (3, 0.0, None):
        with pytest.raises(TypeError, match="unsupported operand"):
            other + one
        with pytest.raises(TypeError, match="unsupported operand"):
            one + other


def exactly_psd(K):
    """Decide z^T K z >= 0 by symmetric elimination in fractions: all pivots >= 0, zeros clean."""
    K = [[Fraction(int(v)) for v in row] for row in K]
    while K:
        pivot = next((i for i in range(len(K)) if K[i][i] != 0), None)
        if pivot is None:
            return all(v == 0 for row in K for v in row)
        if K[pivot][pivot] < 0:
            return False
        keep = [i for i in range(len(K)) if i != pivot]
        K = [[K[i][j] - K[i][pivot] * K[pivot][j] / K[pivot][pivot] for j in keep] for i in keep]
    return True


def test_semidefiniteness_of_every_small_integer_matrix():
    for a, b, c, d, e, f in itertools.product((-1, 0, 1, 2), repeat=6):
        K = np.array([[a, d, e], [d, b, f], [e, f, c]], dtype=float)
        expected = exactly_psd(K)
        assert is_positive_semidefinite(K) == expected
        assert (min(principal_minors(K).values()) > -1e-9) == expected


def test_leading_minors_are_not_enough():
    K = np.diag([0.0, -1.0])
    assert leading_minors(K).tolist() == [0, 0]
    assert not is_positive_semidefinite(K)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_semidefiniteness_does_not_depend_on_scale(scale):
    assert is_positive_semidefinite(scale * gram_matrix(random_matrix(3, 9, 2)))
    assert not is_positive_semidefinite(scale * np.array([[1.0, 1.01], [1.01, 1.0]]))


def test_minors_of_a_large_matrix_are_refused():
    assert len(principal_minors(np.eye(5))) == 31
    with pytest.raises(ValueError, match="K has 17 rows"):
        principal_minors(np.eye(17))


# inverses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4), (1, 5), (5, 1)])
def test_both_sides_of_push_through_agree_with_an_inverse(shape):
    X = random_matrix(4, *shape)
    expected = np.linalg.inv(X.T @ X + 0.3 * np.eye(shape[1])) @ X.T
    for side in ("smaller", "features", "samples"):
        np.testing.assert_allclose(push_through(X, 0.3, side=side), expected, atol=1e-12)


def test_push_through_refuses_what_it_cannot_solve():
    for lam in (0, -1, np.nan):
        with pytest.raises(ValueError, match="lam must be a number in"):
            push_through(np.eye(2), lam)
    with pytest.raises(ValueError, match="side must be one of"):
        push_through(np.eye(2), 1.0, side="left")
    with pytest.raises(ValueError, match="lam = 1e-30 is lost beside the entries of X"):
        push_through(np.ones((2, 3)), 1e-30)


def test_sherman_morrison_in_fractions():
    Q = sympy.Matrix([[2, 1, 0], [0, 3, 1], [1, 0, 1]])  # not symmetric
    x, a = sympy.Matrix([1, -2, 1]), sympy.Rational(3, 2)
    expected = np.array((Q + a * x * x.T).inv().tolist(), dtype=float)
    ours = sherman_morrison(np.array(Q.inv().tolist(), dtype=float), [1.0, -2.0, 1.0], 1.5)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_adding_a_sample_and_taking_it_away_changes_nothing():
    Q_inv = np.linalg.inv(gram_matrix(random_matrix(5, 4, 9)))
    x = random_matrix(6, 4, 1)[:, 0]
    back = sherman_morrison(sherman_morrison(Q_inv, x), x, -1.0)
    np.testing.assert_allclose(back, Q_inv, rtol=1e-9)


def test_an_update_to_a_singular_matrix_is_refused():
    with pytest.raises(ValueError, match="Q \\+ a x x\\^T is singular"):
        sherman_morrison(np.eye(2), [0.6, 0.8], -1.0)
    with pytest.raises(ValueError, match="x must have 2 entries, got 3"):
        sherman_morrison(np.eye(2), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="a must be a number in"):
        sherman_morrison(np.eye(2), [1.0, 2.0], np.inf)
    with pytest.raises(ValueError, match="Q_inv must be square"):
        sherman_morrison(np.ones((2, 3)), [1.0, 2.0])


# eigenvalues ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", [spectral_decomposition, jacobi_eigen])
def test_eigenvectors_rebuild_a_symmetric_matrix(method, seed):
    C = random_symmetric(seed, 2 + seed)
    values, V = method(C)[:2]
    np.testing.assert_allclose(V.T @ V, np.eye(len(C)), atol=1e-13)
    np.testing.assert_allclose((V * values) @ V.T, C, atol=1e-12)
    assert (np.diff(values) <= 0).all()
    assert (V[np.abs(V).argmax(axis=0), np.arange(len(C))] > 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_jacobi_equals_the_library_routine(seed):
    C = random_symmetric(seed, 3 * seed + 1)
    ours, theirs = jacobi_eigen(C), spectral_decomposition(C)
    np.testing.assert_allclose(ours.values, theirs.values, atol=1e-12 * np.abs(C).max() * len(C))
    np.testing.assert_allclose(ours.V, theirs.V, atol=1e-9)
    assert ours.converged


def test_repeated_eigenvalues_and_the_zero_matrix():
    C = 2 * np.eye(4) + np.ones((4, 4))
    run = jacobi_eigen(C)
    np.testing.assert_allclose(run.values, [6, 2, 2, 2], atol=1e-13)
    np.testing.assert_allclose((run.V * run.values) @ run.V.T, C, atol=1e-13)
    assert jacobi_eigen(np.zeros((3, 3))).values.tolist() == [0, 0, 0]
    assert jacobi_eigen([[5.0]]).values.tolist() == [5]


@pytest.mark.parametrize("scale", [1e-140, 1e-8, 1e8, 1e140])
def test_jacobi_follows_the_scale(scale):
    C = random_symmetric(9, 5)
    run = jacobi_eigen(scale * C)
    np.testing.assert_allclose(run.values, scale * jacobi_eigen(C).values, rtol=1e-12)
    assert run.converged


def test_each_rotation_takes_off_twice_the_square_of_its_pivot():
    C = random_symmetric(10, 6)
    run = jacobi_eigen(C)
    D = C.copy()
    for before, after in itertools.pairwise(run.off):
        p, q = np.unravel_index(np.argmax(np.abs(np.triu(D, 1))), D.shape)
        assert before - after == pytest.approx(2 * D[p, q] ** 2, rel=1e-6, abs=1e-13)
        c, s = jacobi_rotation(D, p, q)
        J = np.eye(6)
        J[[p, p, q, q], [p, q, p, q]] = c, s, -s, c
        D = J.T @ D @ J
        assert abs(D[p, q]) < 1e-13
        D = (D + D.T) / 2


@pytest.mark.parametrize("seed", range(5))
def test_a_rotation_takes_the_smaller_of_two_angles(seed):
    C = random_symmetric(seed, 4)
    c, s = jacobi_rotation(C, 1, 3)
    assert c**2 + s**2 == pytest.approx(1, rel=1e-14)
    assert abs(s) <= c  # at most 45 degrees
    assert jacobi_rotation([[2.0, 3.0], [3.0, 2.0]], 0, 1) == pytest.approx((0.5**0.5, 0.5**0.5))


def test_a_rotation_with_the_wrong_sign_does_not_make_a_zero():
    C = random_symmetric(11, 3)
    c, s = jacobi_rotation(C, 0, 2)
    J = np.eye(3)
    J[[0, 0, 2, 2], [0, 2, 0, 2]] = c, -s, s, c
    assert abs((J.T @ C @ J)[0, 2]) > 0.1


def test_jacobi_stops_at_max_rotations():
    run = jacobi_eigen(random_symmetric(12, 8), max_rotations=3)
    assert not run.converged
    assert len(run.off) == 4


@pytest.mark.parametrize(
    "function",
    [
        spectral_decomposition,
        jacobi_eigen,
        is_positive_semidefinite,
        lambda C: jacobi_rotation(C, 0, 1),
    ],
)
def test_where_symmetry_is_assumed_it_is_demanded(function):
    with pytest.raises(ValueError, match="must be symmetric; symmetrise it first"):
        function([[1.0, 1.0], [-1.0, 1.0]])
    with pytest.raises(ValueError, match="must be square, got shape \\(2, 3\\)"):
        function(np.ones((2, 3)))
    with pytest.raises(ValueError, match="contains NaN"):
        function([[np.nan, 0.0], [0.0, 1.0]])


def test_bad_rotations_are_refused():
    with pytest.raises(ValueError, match="p and q must differ"):
        jacobi_rotation(np.eye(2), 1, 1)
    for p, q, name in ((0, 2, "q"), (-1, 1, "p"), (0, 0.5, "q")):
        with pytest.raises(ValueError, match=f"{name} must be an integer in"):
            jacobi_rotation(np.eye(2), p, q)
    with pytest.raises(ValueError, match="max_rotations must be an integer"):
        jacobi_eigen(np.eye(2), max_rotations=0)


# the singular value decomposition ------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (1, 3), (3, 1), (1, 1)])
def test_svd_rebuilds_matrices_of_every_shape(shape):
    A = random_matrix(7, *shape)
    U, s, V = svd_from_eigh(A)
    k = min(shape)
    assert (U.shape, s.shape, V.shape) == ((shape[0], k), (k,), (shape[1], k))
    np.testing.assert_allclose(U.T @ U, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-12)
    np.testing.assert_allclose((U * s) @ V.T, A, atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(A, compute_uv=False), rtol=1e-9)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_svd_completes_the_basis_where_rank_is_missing(rank):
    A = random_matrix(8, 7, 4, rank=rank)
    U, s, V = svd_from_eigh(A)
    assert np.count_nonzero(s) == rank
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(A @ V, U * s, atol=1e-6 * s[0])


def test_svd_by_hand_and_of_nothing():
    U, s, V = svd_from_eigh(TWO)
    np.testing.assert_allclose(s**2, [40, 10], rtol=1e-13)
    np.testing.assert_allclose(np.abs(V), np.full((2, 2), np.sqrt(0.5)), rtol=1e-13)
    U, s, V = svd_from_eigh(np.zeros((3, 2)))
    assert s.tolist() == [0, 0]
    np.testing.assert_allclose(U.T @ U, np.eye(2))


@pytest.mark.parametrize("scale", [1e-140, 1e-8, 1e8, 1e140])
def test_svd_follows_the_scale(scale):
    s = svd_from_eigh(scale * TWO).s
    np.testing.assert_allclose(s, scale * np.sqrt([40, 10]), rtol=1e-12)


def test_squaring_loses_what_the_solver_keeps():
    X = laeuchli(1e-9)
    assert svd_from_eigh(X).s[1] == 0
    assert matrix_rank(X) == 2
    np.testing.assert_allclose(svd_solve(X, X @ [1.0, 2.0]), [1, 2], rtol=1e-6)


def test_gram_schmidt_keeps_the_span_and_skips_dependent_columns():
    A = random_matrix(9, 6, 3)
    Q = gram_schmidt(np.column_stack([A[:, 0], 2 * A[:, 0], A[:, 1], A[:, 0] - A[:, 1], A[:, 2]]))
    assert Q.shape == (6, 3)
    np.testing.assert_allclose(Q.T @ Q, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(Q @ (Q.T @ A), A, atol=1e-13)
    for j in range(3):  # the first j + 1 vectors span the first j + 1 columns
        np.testing.assert_allclose(Q[:, : j + 1] @ (Q[:, : j + 1].T @ A[:, j]), A[:, j], atol=1e-13)


def test_gram_schmidt_stays_orthogonal_on_nearly_dependent_columns():
    A = np.vstack([np.ones(6), 1e-7 * np.eye(6)])
    Q = gram_schmidt(A)
    assert Q.shape == (7, 6)
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-14)
    once = []
    for a in A.T:  # one pass only, as in exact arithmetic
        v = a / np.linalg.norm(a)
        v = v - sum(((q @ v) * q for q in once), np.zeros(7))
        once.append(v / np.linalg.norm(v))
    assert np.abs(np.array(once) @ np.array(once).T - np.eye(6)).max() > 1e-9


def test_gram_schmidt_completes_a_basis():
    Q = gram_schmidt(np.column_stack([[0.6, 0.8, 0.0], np.eye(3)]))
    np.testing.assert_allclose(Q.T @ Q, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(Q[:, 0], [0.6, 0.8, 0.0])
    with pytest.raises(ValueError, match="A has only zero columns"):
        gram_schmidt(np.zeros((3, 2)))


def test_low_rank_error_is_the_tail_of_the_singular_values():
    A = random_matrix(10, 8, 5)
    s = np.linalg.svd(A, compute_uv=False)
    for k in range(1, 6):
        A_k, error, ours = low_rank_approximation(A, k)
        np.testing.assert_allclose(ours, s)
        assert np.linalg.matrix_rank(A_k) == k
        assert error == pytest.approx(np.linalg.norm(A - A_k), abs=1e-13)
        assert error == pytest.approx(np.sqrt(np.sum(s[k:] ** 2)), abs=1e-13)
    for k in (0, 6, 1.5):
        with pytest.raises(ValueError, match="k must be an integer in \\[1, 5\\]"):
            low_rank_approximation(A, k)


@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e140])
def test_rank_and_condition_do_not_depend_on_scale(scale):
    A = scale * random_matrix(11, 6, 5, rank=3)
    assert matrix_rank(A) == 3
    assert condition_number(scale * TWO) == pytest.approx(2)


def test_rank_and_condition_at_the_edges():
    assert matrix_rank(np.zeros((2, 3))) == 0
    assert condition_number(np.zeros((2, 2))) == np.inf
    assert condition_number([[3.0]]) == 1
    assert matrix_rank(np.diag([1.0, 1e-3]), rtol=1e-2) == 1
    with pytest.raises(ValueError, match="rtol must be a number"):
        matrix_rank(np.eye(2), rtol=-1)


def test_solution_is_the_shortest_of_the_best():
    X = random_matrix(12, 9, 4)
    X = np.column_stack([X, X[:, 0]])  # a duplicated column
    y = random_matrix(13, 9, 1)[:, 0]
    w = svd_solve(X, y)
    np.testing.assert_allclose(X.T @ (y - X @ w), 0, atol=1e-12)
    assert w[0] == pytest.approx(w[4])
    for t in (-1.0, 0.1, 2.0):  # equally good, but longer
        other = w + t * np.array([1.0, 0, 0, 0, -1.0])
        assert np.linalg.norm(other) > np.linalg.norm(w)
    assert svd_solve(np.zeros((3, 2)), np.ones(3)).tolist() == [0, 0]


@pytest.mark.parametrize(
    "function",
    [
        gram_matrix,
        gram_schmidt,
        svd_from_eigh,
        matrix_rank,
        condition_number,
        lambda A: low_rank_approximation(A, 1),
        lambda A: push_through(A, 1.0),
        lambda A: svd_solve(A, [1.0, 2.0]),
        lambda A: outer_product_sum(A, [1.0, 2.0]),
    ],
)
@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], "contains NaN"),
        ([[1.0, np.inf], [0.0, 1.0]], "contains infinity"),
        ([1.0, 2.0], "Expected 2D array, got 1D array"),
        ([["a", "b"], ["c", "d"]], "must hold numbers only"),
        ([[1j, 0], [0, 1]], "Complex data not supported"),
        (np.empty((0, 2)), "0 sample"),
    ],
)
def test_bad_matrices_are_refused_with_one_sentence(function, A, message):
    with pytest.raises(ValueError, match=message):
        function(A)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="y must have 2 entries, got 3"):
        svd_solve(np.eye(2), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="y must have 2 entries, got 3"):
        outer_product_sum(np.eye(2), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="w must have 2 entries, got 1"):
        outer_product_sum(np.eye(2), [1.0, 2.0]).squared_error([1.0])


def test_functions_leave_their_arguments_alone():
    A, C = random_matrix(14, 5, 3), random_symmetric(14, 4)
    before = A.copy(), C.copy()
    svd_from_eigh(A)
    gram_schmidt(A)
    push_through(A, 1.0)
    jacobi_eigen(C)
    spectral_decomposition(C)
    numeric_gradient(lambda x: float(np.sum(x)), A)
    assert np.array_equal(A, before[0])
    assert np.array_equal(C, before[1])


# Deliberately wrong variants ------------------------------------------------------------------


def test_wrong_variants_fail():
    A, x = random_matrix(15, 6, 4), random_matrix(16, 4, 1)[:, 0]
    Q = A.T @ A
    Q_inv = np.linalg.inv(Q)
    u = Q_inv @ x
    exact = np.linalg.inv(Q + np.outer(x, x))
    np.testing.assert_allclose(sherman_morrison(Q_inv, x), exact, rtol=1e-9, atol=1e-12)
    for wrong in (
        Q_inv + np.outer(u, u) / (1 + x @ u),  # sign of the correction
        Q_inv - np.outer(u, u) / (1 - x @ u),  # sign in the denominator
        Q_inv - np.outer(u, u),  # no denominator
    ):
        assert np.abs(wrong - exact).max() > 1e-3
    s = np.linalg.svd(A, compute_uv=False)
    U, _, Vt = np.linalg.svd(A, full_matrices=False)
    last = (U[:, 2:] * s[2:]) @ Vt[2:]  # keeps the smallest singular values
    assert np.linalg.norm(A - last) > low_rank_approximation(A, 2).error * 1.1
    y = random_matrix(17, 6, 1)[:, 0]
    fit = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(svd_solve(A, y), fit, rtol=1e-9)
    for wrong in (Vt @ ((U.T @ y) / s), Vt.T @ ((U.T @ y) * s)):  # V^T for V; s for 1/s
        assert np.abs(wrong - fit).max() > 1e-3


@pytest.mark.parametrize("h", [0.5, 0.125])
def test_the_step_of_a_jacobian_is_the_one_that_is_given(h):
    # ((x + h)^3 - (x - h)^3) / 2h = 3 x^2 + h^2: the error of a cubic tells the step
    found = numeric_jacobian(lambda x: np.array([x[0] ** 3, x[1]]), [2.0, 1.0], h=h)
    assert found == pytest.approx(np.diag([12 + h**2, 1.0]))


def test_negative_eigenvalues_up_to_a_share_of_the_largest_are_rounding():
    def judged(share, **given):
        return is_positive_semidefinite(np.diag([4.0, 4.0, 0.0, -4 * share]), **given)

    assert judged(0.8e-12)
    assert not judged(1.2e-12)
    assert judged(0.8e-3, rtol=1e-3)
    assert not judged(1.2e-3, rtol=1e-3)


def test_a_column_of_which_less_than_a_share_is_left_is_skipped():
    def columns(share, **given):
        return gram_schmidt([[1.0, 1.0], [0.0, share]], **given).shape[1]

    assert (columns(0.8e-10), columns(1.2e-10)) == (1, 2)
    assert (columns(0.8e-3, rtol=1e-3), columns(1.2e-3, rtol=1e-3)) == (1, 2)


def test_small_singular_values_are_dropped_below_a_share_of_the_largest():
    X = np.zeros((6, 2))
    X[0, 0], X[1, 1] = 1.0, 0.8 * 6 * 2.0**-52  # below the default, which counts the six rows
    y = np.array([2.0, 3.0, 0, 0, 0, 0])
    assert matrix_rank(X) == 1
    assert svd_solve(X, y) == pytest.approx([2.0, 0.0])
    X[1, 1] = 1.2 * 6 * 2.0**-52
    assert matrix_rank(X) == 2
    X[1, 1] = 0.01
    assert svd_solve(X, y) == pytest.approx([2.0, 300.0])
    assert svd_solve(X, y, rtol=0.1) == pytest.approx([2.0, 0.0])
