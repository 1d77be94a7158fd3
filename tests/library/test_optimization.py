"""The optimisation module: behaviour of each public function, its errors and edge cases."""

import itertools

import numpy as np
import pytest

from mllib.core.errors import ConvergenceWarning
from mllib.optimization import (
    Infeasible,
    Program,
    Unbounded,
    backtracking,
    check_first_order,
    directional_derivative,
    dual_function,
    gradient_descent,
    indicator,
    interior_point_step,
    is_convex_on_segments,
    kkt_residuals,
    lagrange_quadratic,
    lagrangian,
    newton,
    quadratic_program,
    sgd,
    solve_qp,
    worst_chord,
)

LINE = np.linspace(-2, 2, 9)[:, None]
BOWL = np.array([[2.0, 0.0], [0.0, 10.0]])


def bowl(z):
    return 0.5 * z @ BOWL @ z


def bowl_gradient(z):
    return BOWL @ z


def enumerate_active_sets(P, q, G, c, A, b):
    """Return the optimal value of a convex programme by trying every set of active constraints."""
    d = len(q)
    for k in range(len(c) + 1):
        for active in map(list, itertools.combinations(range(len(c)), k)):
            B, right = np.vstack([G[active], A]), np.r_[-q, c[active], b]
            K = np.block([[P, B.T], [B, np.zeros((len(B), len(B)))]])
            u = np.linalg.lstsq(K, right, rcond=None)[0]
            solved = np.abs(K @ u - right).max() < 1e-8
            x, lam = u[:d], u[d : d + k]
            if solved and (G @ x - c).max(initial=-1) < 1e-8 and lam.min(initial=1) > -1e-8:
                return 0.5 * x @ P @ x + q @ x
    return None


def random_program(rng, d, m, p, rank):
    """Return a small convex programme of integers, feasible and bounded or not."""
    M = rng.integers(-3, 4, (rank, d)).astype(float)
    q, G, c, A, b = (
        rng.integers(-4, 5, shape).astype(float) for shape in (d, (m, d), m, (p, d), p)
    )
    return M.T @ M, q, G, c, A, b


# convexity -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x**2,
        np.abs,
        np.exp,
        lambda x: np.logaddexp(0, -x),
        lambda x: np.maximum(0, 1 - x),
        lambda x: np.zeros(1),
    ],
)
def test_convex_functions_have_no_chord_below_them(f):
    assert is_convex_on_segments(f, LINE)
    assert worst_chord(f, LINE).excess <= 1e-12


@pytest.mark.parametrize("f", [np.sin, lambda x: x**3, lambda x: -(x**2), lambda x: np.sign(x)])
def test_a_chord_below_the_function_is_found_and_is_what_it_says(f):
    chord = worst_chord(f, LINE)
    middle = chord.weight * chord.x + (1 - chord.weight) * chord.z
    excess = f(middle) - chord.weight * f(chord.x) - (1 - chord.weight) * f(chord.z)
    assert chord.excess == pytest.approx(excess.item())
    assert chord.excess > 0
    assert not chord.holds
    assert not is_convex_on_segments(f, LINE)


def test_indicators_tell_a_disc_from_a_ring():
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (40, 2))
    disc = indicator(lambda x: x @ x <= 1)
    ring = indicator(lambda x: 0.25 <= x @ x <= 1)
    assert is_convex_on_segments(disc, points)
    assert worst_chord(ring, points).excess == np.inf


def test_chords_refuse_what_they_cannot_judge():
    with pytest.raises(ValueError, match="points must hold at least two points where f is finite"):
        worst_chord(indicator(lambda x: x[0] > 1.9), LINE)
    with pytest.raises(ValueError, match="f must not be NaN"):
        worst_chord(lambda x: np.nan, LINE)
    with pytest.raises(ValueError, match="f must return one number"):
        worst_chord(lambda x: np.zeros(2), LINE)
    with pytest.raises(ValueError, match="f must be a function"):
        worst_chord(3.0, LINE)
    with pytest.raises(ValueError, match="contains must be a function"):
        indicator(None)
    with pytest.raises(ValueError, match="weights must be a number in"):
        worst_chord(np.abs, LINE, weights=(1.0,))
    with pytest.raises(ValueError, match="weights must hold at least one number"):
        is_convex_on_segments(np.sin, LINE, weights=())
    with pytest.raises(ValueError, match="minimum of 2"):
        worst_chord(np.abs, [[1.0]])


def test_first_order_gap_is_the_distance_from_the_tangent():
    touch = check_first_order(lambda x: x**2, lambda x: 2 * x, LINE)
    assert touch.holds
    assert touch.gap == pytest.approx(0.25)  # (x - z)^2 for neighbours half a unit apart
    cubic = check_first_order(lambda x: x**3, lambda x: 3 * x**2, LINE)
    assert not cubic.holds
    x, z = cubic.x.item(), cubic.z.item()
    assert cubic.gap == pytest.approx(z**3 - x**3 - 3 * x**2 * (z - x))
    brute = min(z**3 - x**3 - 3 * x**2 * (z - x) for x in LINE[:, 0] for z in LINE[:, 0] if x != z)
    assert cubic.gap == pytest.approx(brute)


def test_first_order_refuses_a_gradient_of_the_wrong_length():
    with pytest.raises(ValueError, match=r"gradient\(x\) must have 2 entries"):
        check_first_order(bowl, lambda x: np.zeros(3), np.eye(2))
    with pytest.raises(ValueError, match="f must be finite at all points"):
        check_first_order(indicator(lambda x: x[0] > 0), np.zeros_like, LINE)


# programmes and multipliers ------------------------------------------------------------------


def test_lagrangian_by_hand():
    program = quadratic_program(BOWL, [1, 1], G=[[1, 0]], c=[2], A=[[0, 1]], b=[3])
    assert lagrangian(program, [1.0, 2.0], lam=[5.0], nu=[7.0]) == 21 + 3 - 5 - 7
    assert lagrangian(program, [1.0, 2.0], lam=[-5.0], nu=[7.0]) == 21 + 3 + 5 - 7


def test_a_program_of_functions_and_one_of_matrices_agree():
    qp = quadratic_program(BOWL, [1, 1], G=[[1, 0]], c=[2], A=[[0, 1]], b=[3])
    program = Program(qp.f0, qp.grad_f0, qp.f, qp.jac_f, qp.h, qp.jac_h)
    x, lam, nu = np.array([4.0, -1.0]), [0.5], [-2.0]
    assert lagrangian(program, x, lam, nu) == lagrangian(qp, x, lam, nu)
    assert kkt_residuals(program, x, lam, nu) == kkt_residuals(qp, x, lam, nu)


def test_multipliers_must_fit_the_constraints():
    qp = quadratic_program(BOWL, [1, 1], G=[[1, 0]], c=[2])
    with pytest.raises(ValueError, match="lam must have 1 entries"):
        lagrangian(qp, [0.0, 0.0])
    with pytest.raises(ValueError, match="nu must have 0 entries"):
        lagrangian(qp, [0.0, 0.0], [1.0], [1.0])
    with pytest.raises(ValueError, match=r"f\(x\) must have 2 entries"):
        kkt_residuals(qp, [0.0, 0.0], [1.0, 1.0])
    wrong = Program(bowl, bowl_gradient, lambda x: x, lambda x: np.ones(2))
    with pytest.raises(ValueError, match=r"jac_f\(x\) must have shape \(2, 2\)"):
        kkt_residuals(wrong, [0.0, 0.0], [1.0, 1.0])


def test_programmes_that_are_none_or_incomplete_or_not_finite_are_refused():
    qp, x = quadratic_program(BOWL, [1, 1], G=[[1, 0]], c=[2]), [0.0, 0.0]
    for function in (lagrangian, kkt_residuals):
        with pytest.raises(ValueError, match="program must be a Program or a quadratic_program"):
            function(BOWL, x, [1.0])
        with pytest.raises(ValueError, match="x must have 2 entries, got 3"):
            function(qp, [0.0, 0.0, 0.0], [1.0])
        with pytest.raises(ValueError, match=r"Input f\(x\) contains NaN"):
            function(Program(bowl, bowl_gradient, lambda x: [np.nan], qp.jac_f), x, [1.0])
    with pytest.raises(
        ValueError, match=r"jac_f\(x\) must have shape \(1, 2\), one gradient a row"
    ):
        kkt_residuals(Program(bowl, bowl_gradient, qp.f), x, [1.0])
    with pytest.raises(ValueError, match=r"Input jac_f\(x\) contains NaN"):
        kkt_residuals(Program(bowl, bowl_gradient, qp.f, lambda x: [[np.nan, 0]]), x, [1.0])


def test_each_residual_sees_its_own_condition():
    qp = quadratic_program(2 * np.eye(2), [0, 0], G=[[-1, 0]], c=[-1], A=[[0, 1]], b=[3])
    assert max(kkt_residuals(qp, [1.0, 3.0], [2.0], [-6.0])) == 0
    assert kkt_residuals(qp, [0.0, 3.0], [2.0], [-6.0]).primal == 1
    assert kkt_residuals(qp, [1.0, 5.0], [2.0], [-6.0]).primal == 2
    assert kkt_residuals(qp, [1.0, 1.0], [2.0], [-6.0]).primal == 2
    assert kkt_residuals(qp, [1.0, 3.0], [-2.0], [-6.0]).dual == 2
    assert kkt_residuals(qp, [4.0, 3.0], [2.0], [-6.0]).slackness == 6
    assert kkt_residuals(qp, [1.0, 3.0], [2.0], [6.0]).stationarity == 12


def test_the_ends_of_a_chord_in_the_plane_and_the_multipliers_of_two_constraints_keep_their_order():
    chord = worst_chord(lambda x: -(x[0] ** 2), [[0.0, 3.0], [2.0, 5.0], [2.0, 5.5]])
    assert (chord.x.tolist(), chord.z.tolist()) == ([0, 3], [2, 5])
    a, b = 2 * np.eye(2), [[1.0, 0.0], [0.0, 1.0]]
    assert lagrange_quadratic(a, [0, 0], b, [1, 3]).nu.tolist() == [-2, -6]
    run = solve_qp(a, np.zeros(2), A=np.array(b), b=np.array([1.0, 3.0]))
    np.testing.assert_allclose(run.nu, [-2, -6])


def test_lagrange_point_by_hand_and_its_kind():
    least = lagrange_quadratic(2 * np.eye(2), [0, 0], [[1, 1]], [1])
    assert least.x.tolist() == [0.5, 0.5]
    assert least.nu.tolist() == [-1.0]
    assert least.value == 0.5
    assert least.curvature == pytest.approx(2)
    saddle = lagrange_quadratic([[1.0, 0.0], [0.0, -1.0]], [0, 0], [[1, 0]], [1])
    assert saddle.curvature == pytest.approx(-1)
    steepest = lagrange_quadratic(np.diag([1.0, 3.0, 5.0]), [0, 0, 0], [[1, 0, 0]], [1])
    assert steepest.curvature == pytest.approx(3)  # of 3 and 5 along the plane
    point = lagrange_quadratic(np.eye(2), [0, 0], np.eye(2), [3, 4])
    assert point.x.tolist() == [3, 4]
    assert point.curvature == np.inf


def test_lagrange_refuses_dependent_rows_and_flat_directions():
    with pytest.raises(ValueError, match="rows of A must be linearly independent"):
        lagrange_quadratic(np.eye(2), [0, 0], [[1, 1], [2, 2]], [1, 2])
    with pytest.raises(ValueError, match="P must be invertible on the directions"):
        lagrange_quadratic(np.diag([1.0, 0.0]), [0, 0], [[1, 0]], [1])
    with pytest.raises(ValueError, match="P must be symmetric"):
        lagrange_quadratic([[1, 2], [0, 1]], [0, 0], [[1, 1]], [1])


@pytest.mark.parametrize("seed", range(10))
def test_dual_function_is_the_least_value_of_the_lagrangian(seed):
    rng = np.random.default_rng(seed)
    P, q, G, c, A, b = random_program(rng, 3, 2, 1, 3)
    qp = quadratic_program(P + np.eye(3), q, G, c, A, b)
    lam, nu = rng.uniform(0, 2, 2), rng.normal(size=1)
    value, x = dual_function(qp, lam, nu)
    assert value == pytest.approx(lagrangian(qp, x, lam, nu))
    around = x + rng.normal(0, 1, (200, 3))
    assert all(lagrangian(qp, z, lam, nu) > value for z in around)


def test_dual_function_is_minus_infinity_without_a_lower_bound():
    flat = quadratic_program(np.diag([1.0, 0.0]), [0, 1], G=[[0, -1]], c=[0])
    assert dual_function(flat, [0.5]) == (-np.inf, None)
    assert dual_function(flat, [1.0]).value == 0
    bent = quadratic_program(np.diag([1.0, -1.0]), [0, 0], G=[[0, 1]], c=[1])
    assert dual_function(bent, [3.0]).value == -np.inf
    with pytest.raises(ValueError, match="program must be a quadratic_program"):
        dual_function(Program(bowl, bowl_gradient))


def test_dual_function_cancels_slopes_up_to_rounding():
    assert -(0.1 + 0.2) + 0.3 != 0
    rounded = quadratic_program([[0.0]], [-(0.1 + 0.2)], [[1.0]], [1.0])
    assert dual_function(rounded, [0.3]).value == -0.3


# quadratic programmes ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_solve_qp_equals_enumeration_of_all_active_sets(seed):
    rng = np.random.default_rng(seed)
    seen = {"solved": 0, "refused": 0}
    for _ in range(40):
        d, m = int(rng.integers(1, 5)), int(rng.integers(0, 6))
        p, rank = int(rng.integers(0, min(d, 3))), int(rng.integers(0, d + 1))
        P, q, G, c, A, b = random_program(rng, d, m, p, rank)
        expected = enumerate_active_sets(P, q, G, c, A, b)
        try:
            run = solve_qp(P, q, G if m else None, c if m else None, A, b)
            assert run.converged
            assert run.value == pytest.approx(expected, rel=1e-8, abs=1e-8)
            assert max(run.residuals) < 1e-7
            seen["solved"] += 1
        except (Infeasible, Unbounded):
            assert expected is None
            seen["refused"] += 1
    assert min(seen.values()) > 0


def test_certificates_of_infeasible_and_unbounded_programmes_prove_it():
    rng = np.random.default_rng(100)
    kinds = set()
    for _ in range(300):
        P, q, G, c, A, b = random_program(rng, 3, 4, 1, 1)
        if enumerate_active_sets(P, q, G, c, A, b) is not None:
            continue
        with pytest.raises((Infeasible, Unbounded)) as refused:
            solve_qp(P, q, G, c, A, b)
        proof = refused.value
        kinds.add(type(proof))
        if isinstance(proof, Infeasible):
            assert proof.lam.min() >= 0
            assert np.abs(proof.lam @ G + proof.nu @ A).max() < 1e-9
            assert proof.lam @ c + proof.nu @ b < -1e-9
        else:
            v = proof.direction
            assert max(np.abs(P @ v).max(), np.abs(A @ v).max(), (G @ v).max()) < 1e-8
            assert q @ v < 0
    assert kinds == {Infeasible, Unbounded}


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_solve_qp_does_not_care_about_units(size):
    P, q = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([-3.0, -2.0])
    G, c = np.array([[1.0, 1.0], [-1.0, 0.0]]), np.array([1.0, 0.0])
    plain = solve_qp(P, q, G, c)
    dearer = solve_qp(size * P, size * q, G, c)
    np.testing.assert_allclose(dearer.x, plain.x, atol=1e-12)
    np.testing.assert_allclose(dearer.lam / size, plain.lam, atol=1e-12)
    longer = solve_qp(P, size * q, G, size * c)
    np.testing.assert_allclose(longer.x / size, plain.x, atol=1e-12)
    steeper = solve_qp(P, q, size * G, size * c)
    np.testing.assert_allclose(steeper.lam * size, plain.lam, atol=1e-12)


def test_solve_qp_with_a_linear_objective_finds_a_vertex():
    run = solve_qp(np.zeros((2, 2)), [-1, -2], G=[[1, 1], [-1, 0], [0, -1]], c=[1, 0, 0])
    np.testing.assert_allclose(run.x, [0, 1], atol=1e-12)
    np.testing.assert_allclose(run.lam, [2, 1, 0], atol=1e-12)
    assert run.gap == pytest.approx(0, abs=1e-12)


def test_solve_qp_is_exact_where_an_active_constraint_has_price_zero():
    # x1^2 + x2^2 - 4 x2 with x1 <= 0 and x2 <= 1: interior points alone are 2e-8 away
    x, lam = solve_qp(2 * np.eye(2), [0.0, -4.0], np.eye(2), [0.0, 1.0])[:2]
    np.testing.assert_allclose(x, [0, 1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(lam, [0, 2], rtol=0, atol=1e-14)


def test_solve_qp_without_inequalities_is_lagrange():
    A, b = [[1.0, 2.0]], [3.0]
    by_equations = lagrange_quadratic(BOWL, [1, -1], A, b)
    run = solve_qp(BOWL, [1, -1], A=A, b=b)
    np.testing.assert_allclose(run.x, by_equations.x, rtol=1e-12)
    np.testing.assert_allclose(run.nu, by_equations.nu, rtol=1e-12)
    free = solve_qp(BOWL, [1, -1])
    np.testing.assert_allclose(free.x, [-0.5, 0.1], rtol=1e-12)


def test_solve_qp_accepts_repeated_and_empty_rows():
    G, c = [[1, 0], [1, 0], [0, 0]], [1, 1, 5]
    A, b = [[0, 1], [0, 2]], [2, 4]
    run = solve_qp(np.eye(2), [-3, 0], G, c, A, b)
    np.testing.assert_allclose(run.x, [1, 2], atol=1e-12)
    assert run.lam[:2].sum() == pytest.approx(2)
    assert run.lam[2] == 0
    assert max(run.residuals) < 1e-10


def test_solve_qp_when_the_equalities_leave_one_point():
    run = solve_qp(np.eye(2), [0, 0], G=[[1, 0]], c=[5], A=np.eye(2), b=[3, 4])
    assert run.x.tolist() == [3, 4]
    with pytest.raises(Infeasible):
        solve_qp(np.eye(2), [0, 0], G=[[1, 0]], c=[2], A=np.eye(2), b=[3, 4])


@pytest.mark.parametrize(
    ("kind", "arguments", "sentence"),
    [
        (ValueError, {"P": [[1, 2], [0, 1]]}, "P must be symmetric"),
        (ValueError, {"P": [[1, 0], [0, -1]]}, "P must be positive semi-definite"),
        (ValueError, {"P": [[1, 0]]}, "P must be square"),
        (ValueError, {"q": [1, 2, 3]}, "q must have 2 entries"),
        (ValueError, {"G": [[1, 0]]}, "G and c go together"),
        (ValueError, {"A": [[1, 0, 0]], "b": [1]}, "A must have 2 columns"),
        (ValueError, {"G": [[1, 0]], "c": [1, 2]}, "c must have 1 entries"),
        (ValueError, {"tol": 0.0}, "tol must be a number in"),
        (Infeasible, {"G": [[1, 0], [-1, 0]], "c": [-1, -1]}, "cannot all hold"),
        (Infeasible, {"A": [[1, 1], [1, 1]], "b": [0, 1]}, "cannot all hold"),
        (Infeasible, {"A": [[1, 1], [1, 1], [1, -1]], "b": [0, 1, 0]}, "cannot all hold"),
        (Infeasible, {"G": [[0, 0]], "c": [-1]}, "cannot all hold"),
        (Unbounded, {"P": np.zeros((2, 2)), "q": [1, 0]}, "no minimum"),
        (Unbounded, {"P": np.diag([1, 0]), "G": [[0, 1]], "c": [0]}, "no minimum"),
    ],
)
def test_solve_qp_refuses_in_one_sentence(kind, arguments, sentence):
    with pytest.raises(kind, match=sentence) as caught:
        solve_qp(**({"P": np.eye(2), "q": [1, 1]} | arguments))
    assert "\n" not in str(caught.value)


def test_solve_qp_warns_when_it_runs_out_of_steps():
    with pytest.warns(Warning, match=r"solve_qp stopped after 1 steps.*tolerance") as caught:
        run = solve_qp(np.eye(2), [-3, -2], [[1, 1], [-1, 0], [0, 1]], [1, 0, 0.2], max_iter=1)
    assert not run.converged
    assert f" a scaled residual of {run.trace[-1]:.3g} " in str(caught[0].message)
    assert caught[0].category.__name__ == ConvergenceWarning.__name__


def test_interior_point_step_keeps_signs_and_shrinks_the_linear_residuals():
    rng = np.random.default_rng(3)
    P, q, G, c = np.eye(3), rng.normal(size=3), rng.normal(size=(5, 3)), np.ones(5)
    x, s, lam = np.zeros(3), np.ones(5), np.ones(5)
    for _ in range(6):
        before = np.abs(P @ x + q + G.T @ lam).max()
        x, s, lam = interior_point_step(P, q, G, c, x, s, lam)
        assert min(s.min(), lam.min()) > 0
        assert np.abs(P @ x + q + G.T @ lam).max() <= before + 1e-14
    assert s @ lam < 1e-6
    for s, lam in (([0.0], [1.0]), ([1.0], [-1.0]), ([], [])):
        with pytest.raises(ValueError, match="s and lam must be positive"):
            interior_point_step(
                P[:1, :1], q[:1], np.ones((len(s), 1)), np.ones(len(s)), [0], s, lam
            )


def test_functions_leave_their_arguments_alone():
    P, q, G, c = BOWL.copy(), np.array([-3.0, 1]), np.array([[1.0, 1.0]]), np.array([0.5])
    copies = [a.copy() for a in (P, q, G, c)]
    solve_qp(P, q, G, c)
    dual_function(quadratic_program(P, q, G, c), [1.0])
    z0 = np.array([1.0, 1.0])
    gradient_descent(bowl, bowl_gradient, z0, eta=0.1, max_iter=5)
    assert z0.tolist() == [1, 1]
    for a, copy in zip((P, q, G, c), copies):
        assert np.array_equal(a, copy)


# descent -------------------------------------------------------------------------------------


def test_directional_derivative_is_a_slope_and_ignores_length():
    z, u, h = np.array([1.0, 2.0]), np.array([3.0, -1.0]), 1e-6
    slope = directional_derivative(bowl_gradient, z, u)
    unit = u / np.linalg.norm(u)
    assert slope == pytest.approx((bowl(z + h * unit) - bowl(z - h * unit)) / (2 * h))
    assert slope == pytest.approx(directional_derivative(bowl_gradient, z, 1e200 * u))
    with pytest.raises(ValueError, match="u must not be zero"):
        directional_derivative(bowl_gradient, z, [0.0, 0.0])


def test_gradient_descent_makes_the_steps_written_out():
    run = gradient_descent(bowl, bowl_gradient, [1.0, 1.0], eta=0.125, max_iter=2)
    assert run.path.tolist() == [[1, 1], [0.75, -0.25], [0.5625, 0.0625]]
    assert run.trace.tolist() == [bowl(z) for z in run.path]
    assert run.gradient_norms.tolist() == [np.linalg.norm(BOWL @ z) for z in run.path]
    assert (run.n_iter, run.converged) == (2, False)


@pytest.mark.parametrize(("eta", "converges"), [(0.19, True), (0.21, False), (0.01, True)])
def test_the_step_size_edge_is_two_over_the_largest_curvature(eta, converges):
    run = gradient_descent(bowl, bowl_gradient, [1.0, 1.0], eta=eta, max_iter=2000)
    assert run.converged is converges
    assert (np.diff(run.trace) < 0).all() == converges


def test_gradient_descent_stops_at_a_minimum_without_a_step():
    for tol in (1e-6, 0.0):
        run = gradient_descent(bowl, bowl_gradient, [0.0, 0.0], eta=0.1, tol=tol)
        assert (run.n_iter, run.converged) == (0, True)
        run = newton(bowl, bowl_gradient, lambda z: BOWL, [0.0, 0.0], tol=tol)
        assert (run.n_iter, run.converged) == (0, True)


def test_gradient_descent_refuses_in_one_sentence():
    with pytest.raises(ValueError, match="eta must be a number in"):
        gradient_descent(bowl, bowl_gradient, [1.0, 1.0], eta=0.0)
    with pytest.raises(ValueError, match=r"objective is inf after \d+ steps: eta=1 is too large"):
        gradient_descent(bowl, bowl_gradient, [1.0, 1.0], eta=1.0)
    with pytest.raises(ValueError, match="gradient must return an array of shape"):
        gradient_descent(bowl, lambda z: z[:1], [1.0, 1.0], eta=0.1)
    with pytest.raises(ValueError, match="z0 must be a vector"):
        gradient_descent(bowl, bowl_gradient, [[1.0, 1.0]], eta=0.1)
    with pytest.raises(ValueError, match="f must return one number"):
        gradient_descent(bowl_gradient, bowl_gradient, [1.0, 1.0], eta=0.1)
    with pytest.raises(ValueError, match="f must hold numbers only"):
        gradient_descent(lambda z: "low", bowl_gradient, [1.0, 1.0], eta=0.1)
    with pytest.raises(ValueError, match="gradient must hold numbers only"):
        gradient_descent(bowl, lambda z: ["up", "down"], [1.0, 1.0], eta=0.1)


A_THIRD = np.array([1.0, 2.0, 6.0])


def mean_square(z):
    return 0.5 * np.mean((z - A_THIRD) ** 2)


def mean_square_gradient(z, batch):
    return z - A_THIRD[batch].mean()


def test_sgd_with_steps_one_over_t_is_the_running_mean():
    run = sgd(
        mean_square,
        mean_square_gradient,
        [100.0],
        3,
        eta=lambda t: 1 / (t + 1),
        epochs=1,
        sampling="cyclic",
    )
    assert run.z.tolist() == [3.0]
    assert run.n_iter == 3
    assert run.trace.tolist() == [mean_square(100.0), mean_square(3.0)]


@pytest.mark.parametrize("sampling", ["uniform", "shuffle", "cyclic"])
def test_sgd_with_full_batches_is_gradient_descent_unless_it_draws_with_replacement(sampling):
    run = sgd(
        mean_square,
        mean_square_gradient,
        [0.0],
        3,
        eta=0.5,
        epochs=4,
        batch_size=3,
        sampling=sampling,
        rng=0,
    )
    full = gradient_descent(mean_square, lambda z: z - A_THIRD.mean(), [0.0], eta=0.5, max_iter=4)
    assert np.allclose(run.path, full.path, rtol=1e-14) == (sampling != "uniform")


def test_sgd_looks_at_every_term_once_a_pass_when_shuffled():
    seen = []

    def note(z, batch):
        if len(batch) < 7:
            seen.append(batch)
        return z * 0

    sgd(lambda z: 1.0, note, [1.0], 7, eta=1.0, epochs=1, batch_size=3, sampling="shuffle", rng=1)
    assert [len(batch) for batch in seen] == []  # a zero gradient is a minimum: no pass is made
    sgd(
        lambda z: 1.0,
        lambda z, batch: note(z, batch) + 1,
        [1.0],
        7,
        eta=1.0,
        epochs=1,
        batch_size=3,
        sampling="shuffle",
        rng=1,
    )
    assert [len(batch) for batch in seen] == [3, 3, 1]
    assert sorted(np.concatenate(seen)) == list(range(7))


def test_sgd_draws_every_term_equally_often_when_uniform():
    drawn = []

    def note(z, batch):
        if len(batch) < 3:  # not the gradient of the whole, for the trace
            drawn.extend(batch)
        return z * 0 + 1

    sgd(lambda z: 1.0, note, [1.0], 3, eta=1.0, epochs=300, batch_size=2, rng=2)
    counts = np.bincount(drawn)
    assert counts.sum() == 300 * 2 * 2  # two batches of two in each pass
    assert np.abs(counts - 400).max() < 6 * np.sqrt(1200 * 2 / 9)  # six standard deviations


def test_sgd_repeats_itself_with_one_seed_and_stops_at_tol():
    runs = [
        sgd(mean_square, mean_square_gradient, [0.0], 3, eta=0.1, epochs=5, rng=seed)
        for seed in (1, 1, 2)
    ]
    assert np.array_equal(runs[0].path, runs[1].path)
    assert not np.array_equal(runs[0].path, runs[2].path)
    early = sgd(
        mean_square, mean_square_gradient, [0.0], 3, eta=0.5, batch_size=3, sampling="cyclic",
        epochs=100, tol=1e-3,
    )  # fmt: skip
    assert early.converged
    assert len(early.trace) < 100


def test_sgd_refuses_in_one_sentence():
    def ask(**options):
        return sgd(mean_square, mean_square_gradient, [0.0], 3, **options)

    with pytest.raises(ValueError, match="eta must be a number in"):
        ask(eta=-1.0)
    with pytest.raises(ValueError, match="eta must be a number in"):
        ask(eta=lambda t: 1.0 - t)
    with pytest.raises(ValueError, match="batch_size must be an integer in"):
        ask(eta=1.0, batch_size=4)
    with pytest.raises(ValueError, match="sampling must be one of"):
        ask(eta=1.0, sampling="random")
    with pytest.raises(ValueError, match="take a smaller step"):
        ask(eta=1e200, epochs=5)


def test_newton_solves_a_quadratic_in_one_step_from_anywhere():
    run = newton(bowl, bowl_gradient, lambda z: BOWL, [7.0, -3.0])
    assert run.n_iter == 1
    np.testing.assert_allclose(run.z, 0, atol=1e-15)
    damped = newton(bowl, bowl_gradient, lambda z: BOWL, [7.0, -3.0], damping=2.0, max_iter=1)
    np.testing.assert_allclose(damped.z, [3.5, -0.5])


def test_newton_squares_the_error():
    f, d1, d2 = (
        lambda z: np.exp(z[0]) - z[0],
        lambda z: np.exp(z) - 1,
        lambda z: np.diag(np.exp(z)),
    )
    errors = np.abs(newton(f, d1, d2, [0.5]).path[:, 0])
    inside = errors[1:][errors[1:] > 1e-14]
    assert (inside <= errors[: len(inside)] ** 2).all()
    plus = 0.5 + (np.exp(0.5) - 1) / np.exp(0.5)  # the wrong sign leads away
    assert plus > 0.5 > errors[1]


def test_pure_newton_overshoots_and_a_line_search_mends_it():
    def f(z):
        return np.logaddexp(0, z[0]) + np.logaddexp(0, -z[0])

    def d1(z):
        return np.tanh(z / 2)

    def d2(z):
        return np.array([[0.5 / np.cosh(z[0] / 2) ** 2]])

    with pytest.raises(ValueError, match=r"after \d+ steps|singular"):
        newton(f, d1, d2, [3.0])
    careful = newton(f, d1, d2, [3.0], line_search=True)
    assert careful.converged
    assert (np.diff(careful.trace) < 0).all()
    assert careful.steps[0] < 1 == careful.steps[-1]


def test_newton_goes_to_a_saddle_if_that_is_near():
    saddle = np.diag([1.0, -1.0])
    run = newton(lambda z: 0.5 * z @ saddle @ z, lambda z: saddle @ z, lambda z: saddle, [1.0, 2.0])
    assert run.z.tolist() == [0, 0]
    with pytest.raises(ValueError, match="slope must be negative"):
        newton(
            lambda z: 0.5 * z @ saddle @ z,
            lambda z: saddle @ z,
            lambda z: saddle,
            [1.0, 2.0],
            line_search=True,
        )


def test_newton_refuses_in_one_sentence():
    with pytest.raises(ValueError, match=r"the Hessian is singular.*damping > 0"):
        newton(bowl, bowl_gradient, lambda z: np.ones((2, 2)), [1.0, 2.0])
    with pytest.raises(ValueError, match=r"hessian\(z\) must be symmetric"):
        newton(bowl, bowl_gradient, lambda z: np.array([[1.0, 1.0], [0.0, 1.0]]), [1.0, 2.0])
    with pytest.raises(ValueError, match=r"hessian\(z\) must be of shape"):
        newton(bowl, bowl_gradient, lambda z: np.eye(3), [1.0, 2.0])
    with pytest.raises(ValueError, match="damping must be a number in"):
        newton(bowl, bowl_gradient, lambda z: BOWL, [1.0, 2.0], damping=-1.0)


def test_backtracking_takes_the_first_step_that_falls_enough():
    def f(z):
        return z @ z

    z, step = np.array([1.0]), np.array([-16.0])
    assert backtracking(f, z, step, -32.0) == 1 / 16
    assert backtracking(f, z, step, -32.0, share=0.96) == 1 / 256
    assert backtracking(lambda z: np.inf if z[0] < 0 else z @ z, z, step, -32.0) == 1 / 16
    with pytest.raises(ValueError, match="slope must be negative"):
        backtracking(f, z, -step, 32.0)
    with pytest.raises(ValueError, match="f does not fall along the step"):
        backtracking(f, z, -step, -32.0)
    with pytest.raises(ValueError, match="start where f is finite"):
        backtracking(lambda z: np.inf, z, step, -32.0)
    for slope in (np.nan, "down"):
        with pytest.raises(ValueError, match="slope must be a number in"):
            backtracking(f, z, step, slope)
    with pytest.raises(ValueError, match="shrink must be a number in"):
        backtracking(f, z, step, -32.0, shrink=1.0)


# wrong variants --------------------------------------------------------------------------------


def test_a_wrong_sign_or_a_sum_for_a_mean_would_be_noticed():
    start, eta = np.array([1.0, 1.0]), 0.1
    right = gradient_descent(bowl, bowl_gradient, start, eta=eta, max_iter=1).z
    assert bowl(start - eta * bowl_gradient(start)) < bowl(start)
    assert bowl(start + eta * bowl_gradient(start)) > bowl(start)
    np.testing.assert_allclose(right, start - eta * bowl_gradient(start))

    def summed(z, batch):
        return len(batch) * mean_square_gradient(z, batch)

    options = {"eta": 0.5, "epochs": 1, "batch_size": 3, "sampling": "cyclic"}
    mean_step = sgd(mean_square, mean_square_gradient, [0.0], 3, **options).z
    sum_step = sgd(mean_square, summed, [0.0], 3, **options).z
    assert mean_step.tolist() == [1.5]
    assert sum_step.tolist() == [4.5]


def dense_step(P, q, G, c, x, s, lam, *, corrected=True):
    """Return Mehrotra's step from the whole linear system, nothing eliminated."""
    d, m = len(q), len(c)
    K = np.block(
        [
            [P, np.zeros((d, m)), G.T],
            [G, np.eye(m), np.zeros((m, m))],
            [np.zeros((m, d)), np.diag(lam), np.diag(s)],
        ]
    )

    def solve(products):
        u = np.linalg.solve(K, -np.r_[P @ x + q + G.T @ lam, G @ x + s - c, products])
        return np.split(u, [d, d + m])

    def furthest(ds, dlam):
        return min([1.0] + [-v / dv for v, dv in zip(np.r_[s, lam], np.r_[ds, dlam]) if dv < 0])

    _, ds, dlam = solve(s * lam)
    t = furthest(ds, dlam)
    sigma = (np.mean((s + t * ds) * (lam + t * dlam)) / np.mean(s * lam)) ** 3
    dx, ds, dlam = solve(s * lam + corrected * ds * dlam - sigma * np.mean(s * lam))
    t = min(1.0, 0.99 * furthest(ds, dlam))
    return x + t * dx, s + t * ds, lam + t * dlam


def test_interior_point_step_solves_the_whole_newton_system():
    rng = np.random.default_rng(4)
    for _ in range(20):
        M, G = rng.normal(size=(2, 3)), rng.normal(size=(5, 3))
        P, q, c = M.T @ M, rng.normal(size=3), rng.normal(size=5)
        start = rng.normal(size=3), rng.uniform(0.1, 2, 5), rng.uniform(0.1, 2, 5)
        ours = np.concatenate(interior_point_step(P, q, G, c, *start))
        np.testing.assert_allclose(ours, np.concatenate(dense_step(P, q, G, c, *start)), rtol=1e-8)
        wrong = np.concatenate(dense_step(P, q, G, c, *start, corrected=False))
        assert np.abs(ours - wrong).max() > 1e-6


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("P", [[1.0, 2.0]]),
        ("P", [[1.0, 0.0], [0.0, np.nan]]),
        ("q", [1.0]),
        ("q", None),
        ("G", [[1.0, 2.0]]),
        ("G", "red"),
        ("c", [1.0, np.inf, 0.0]),
        ("x", [[1.0, 2.0]]),
        ("s", [1.0, 1.0]),
        ("s", [1.0, 0.0, 1.0]),
        ("lam", [1.0, -1.0, 1.0]),
        ("lam", [[1.0], [1.0, 2.0], [1.0]]),
    ],
)
def test_interior_point_step_says_what_is_wrong(name, value):
    arguments = {"P": np.eye(2), "q": [1.0, 1.0], "G": [[1.0, 0], [0, 1], [1, 1]]}
    arguments |= {"c": [1.0, 1, 1], "x": [0.0, 0], "s": [1.0, 1, 1], "lam": [1.0, 1, 1]}
    assert len(interior_point_step(**arguments)) == 3
    with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
        interior_point_step(**(arguments | {name: value}))


def told(run, f, gradient, steps):
    """Check what all runs tell: of each place on the path its value and slope, and the end."""
    assert run.path.shape == (steps + 1, len(run.z))
    assert run.z.tolist() == run.path[-1].tolist()
    assert run.trace == pytest.approx([f(z) for z in run.path])
    assert run.gradient_norms == pytest.approx([np.linalg.norm(gradient(z)) for z in run.path])


def test_a_descent_tells_its_path_and_ends_by_tolerance_or_limit():
    run = gradient_descent(bowl, bowl_gradient, [3.0, 1.0], eta=0.05)
    told(run, bowl, bowl_gradient, run.n_iter)
    z = np.array([3.0, 1.0])
    for place in run.path[:20]:
        assert place == pytest.approx(z)
        z = z - 0.05 * BOWL @ z
    assert run.converged
    assert run.gradient_norms[-1] <= 1e-6 < run.gradient_norms[-2]
    loose = gradient_descent(bowl, bowl_gradient, [3.0, 1.0], eta=0.05, tol=0.1)
    assert loose.gradient_norms[-1] <= 0.1 < loose.gradient_norms[-2]
    endless = gradient_descent(bowl, bowl_gradient, [3.0, 1.0], eta=1e-6)
    assert (endless.n_iter, endless.converged) == (1000, False)
    short = gradient_descent(bowl, bowl_gradient, [3.0, 1.0], eta=0.05, max_iter=4)
    assert (short.n_iter, short.converged) == (4, False)


def test_a_newton_run_tells_its_path_and_ends_by_tolerance_or_limit():
    def f(z):
        return np.sum(np.cosh(z)) + z[0] * z[1] / 4

    def gradient(z):
        return np.sinh(z) + z[::-1] / 4

    def hessian(z):
        return np.diag(np.cosh(z)) + np.array([[0, 0.25], [0.25, 0]])

    for given in ({}, {"damping": 0.5}, {"line_search": True}):
        run = newton(f, gradient, hessian, [2.5, -1.0], **given)
        told(run, f, gradient, run.n_iter)
        assert run.converged
        assert run.gradient_norms[-1] <= 1e-8 < run.gradient_norms[-2]
        assert len(run.steps) == run.n_iter
        z, step = run.path[0], run.path[1] - run.path[0]
        full = -np.linalg.solve(hessian(z) + given.get("damping", 0.0) * np.eye(2), gradient(z))
        assert step == pytest.approx(run.steps[0] * full)
    slow = newton(f, gradient, hessian, [2.5, -1.0], damping=1e6)
    assert (slow.n_iter, slow.converged) == (100, False)
    assert newton(f, gradient, hessian, [2.5, -1.0], max_iter=2).n_iter == 2
    assert newton(f, gradient, hessian, [2.5, -1.0], tol=1.0).gradient_norms[-1] > 1e-8

    def steep(z):
        return float(np.log(np.cosh(3 * z[0])))

    found = newton(
        *(steep, lambda z: 3 * np.tanh(3 * z), lambda z: 9 / np.cosh(3 * z[:, None]) ** 2),
        *([1.5],),
        line_search=True,
    )
    assert found.steps[0] < 1.0 == found.steps[-1]
    assert found.steps[0] == backtracking(
        *(steep, found.path[0], (found.path[1] - found.path[0]) / found.steps[0]),
        3 * np.tanh(4.5) * (found.path[1] - found.path[0])[0] / found.steps[0],
    )


@pytest.mark.parametrize("sampling", ["uniform", "shuffle", "cyclic"])
def test_a_stochastic_run_tells_each_pass(sampling):
    a = np.array([[1.0, 0.0], [2.0, 5.0], [6.0, -1.0], [7.0, 2.0], [0.0, 0.0]])

    def f(z):
        return np.mean(np.sum((z - a) ** 2, axis=1)) / 2

    def gradient(z, batch=slice(None)):
        return z - a[batch].mean(axis=0)

    start = [[9.0, 9.0], 5]
    run = sgd(f, gradient, *start, eta=0.1, batch_size=2, sampling=sampling, rng=0)
    told(run, f, gradient, 10)
    assert (run.n_iter, run.converged) == (30, False)
    rng, z = np.random.default_rng(0), np.array([9.0, 9.0])
    for k in range(3):
        assert run.path[k] == pytest.approx(z)
        if sampling == "uniform":
            batches = rng.integers(5, size=(3, 2))
        else:
            order = rng.permutation(5) if sampling == "shuffle" else np.arange(5)
            batches = [order[:2], order[2:4], order[4:]]
        for batch in batches:
            z = z - 0.1 * gradient(z, batch)
    one = sgd(f, gradient, *start, eta=0.1, epochs=2, sampling=sampling, rng=0)
    assert (len(one.trace), one.n_iter) == (3, 10)
    stopped = sgd(f, gradient, *start, eta=0.1, sampling=sampling, tol=9.0, rng=0)
    assert (stopped.converged, stopped.gradient_norms[-1] <= 9.0) == (True, True)
    assert stopped.n_iter < 50


def test_uniform_draws_one_at_a_time_are_the_default():
    a = np.array([[1.0], [2.0], [6.0]])

    def f(z):
        return np.mean((z - a) ** 2) / 2

    def gradient(z, batch):
        return z - a[batch].mean(axis=0)

    left_out = sgd(f, gradient, [0.0], 3, eta=0.1, rng=1)
    named = {"epochs": 10, "batch_size": 1, "sampling": "uniform", "tol": 0.0, "rng": 1}
    assert np.array_equal(left_out.path, sgd(f, gradient, [0.0], 3, eta=0.1, **named).path)
    assert left_out.n_iter == 30


def test_a_step_back_is_half_and_must_fall_by_a_ten_thousandth():
    z, s = np.array([1.0]), np.array([-2.0])
    assert backtracking(lambda z: z @ z, z, s, -4.0) == 0.5
    assert backtracking(lambda z: z @ z, z, s, -4.0, shrink=0.75) == 0.75
    assert backtracking(lambda z: z @ z, z, s, -4.0, share=0.9) == 0.0625
    for fall, t in ((1.2e-4, 1.0), (0.8e-4, 0.5)):  # of what the slope promises
        f = {1.0: 0.0, -1.0: -4 * fall, 0.0: -9.0}
        assert backtracking(lambda z, f=f: f[float(z[0])], z, s, -4.0) == t


@pytest.mark.parametrize("seed", range(5))
def test_a_solved_programme_tells_value_gap_residuals_and_steps(seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((4, 4))
    P, q, x0 = M @ M.T + np.eye(4), 5 * rng.standard_normal(4), rng.standard_normal(4)
    G, A = rng.standard_normal((6, 4)), rng.standard_normal((1, 4))
    c, b = G @ x0 + rng.random(6), A @ x0
    run = solve_qp(P, q, G, c, A, b)
    program = quadratic_program(P, q, G, c, A, b)
    assert run.value == pytest.approx(0.5 * run.x @ P @ run.x + q @ run.x)
    assert run.gap == pytest.approx(run.value - lagrangian(program, run.x, run.lam, run.nu))
    assert tuple(run.residuals) == tuple(kkt_residuals(program, run.x, run.lam, run.nu))
    assert (len(run.trace), run.converged) == (run.n_iter + 1, True)
    assert run.trace[-1] <= 1e-9 < run.trace[0]
    dual = dual_function(program, run.lam, run.nu)
    assert (dual.value, dual.x) == (pytest.approx(run.value), pytest.approx(run.x))
    with pytest.warns(UserWarning, match="after 2 steps"):
        rough = solve_qp(P, q, G, c, A, b, max_iter=2, tol=1e-15)
    assert (rough.n_iter, rough.converged) == (2, False)
    off = kkt_residuals(program, run.x + 0.1, run.lam - 0.5, run.nu)
    assert off.primal == pytest.approx(
        max(*(G @ (run.x + 0.1) - c), *np.abs(A @ (run.x + 0.1) - b))
    )
    assert off.dual == pytest.approx(0.5 - run.lam.min())
    assert off.slackness == pytest.approx(np.abs((run.lam - 0.5) * (G @ (run.x + 0.1) - c)).max())
    slope = P @ (run.x + 0.1) + q + (run.lam - 0.5) @ G + run.nu @ A
    assert off.stationarity == pytest.approx(np.abs(slope).max())
    rough_gap = rough.value - lagrangian(program, rough.x, rough.lam, rough.nu)
    assert rough.gap == pytest.approx(rough_gap, abs=1e-12)


def test_multipliers_that_are_left_out_are_none():
    program = quadratic_program(BOWL, [1.0, -1.0])
    x = np.array([2.0, 3.0])
    assert lagrangian(program, x) == program.f0(x)
    assert kkt_residuals(program, x).stationarity == 29.0
    assert dual_function(program).value == pytest.approx(-0.5 * (1 / 2 + 1 / 10))


def test_a_chord_and_a_tangent_tell_where_they_are_worst():
    def f(x):
        return float(x[0] ** 4 - 3 * x[0] ** 2)

    points, weights = np.array([[-1.0], [0.5], [2.0]]), (0.2, 0.5, 0.7)
    excess = {
        (a, b, t): f(t * points[a] + (1 - t) * points[b])
        - t * f(points[a])
        - (1 - t) * f(points[b])
        for a, b in itertools.combinations(range(3), 2)
        for t in weights
    }
    (a, b, t), worst = max(excess.items(), key=lambda item: item[1])
    found = worst_chord(f, points, weights=weights)
    assert (found.holds, found.excess, found.weight) == (False, pytest.approx(worst), t)
    assert (found.x.tolist(), found.z.tolist()) == (points[a].tolist(), points[b].tolist())
    quarter = worst_chord(f, points)
    assert quarter.excess == worst_chord(f, points, weights=(0.25, 0.5, 0.75)).excess
    assert worst_chord(f, points, tol=worst / 4 * 1.01).holds  # |f| is at most 4 there
    assert not worst_chord(f, points, tol=worst / 4 * 0.99).holds
    assert is_convex_on_segments(f, points, weights=(0.2,), tol=worst / 4 * 1.01)
    assert is_convex_on_segments(lambda x: abs(x[0]), points, weights=(0.5,))
    assert not is_convex_on_segments(f, points, weights=weights)

    def slope(x):
        return 4 * x**3 - 6 * x

    gaps = {
        (a, b): f(points[b]) - f(points[a]) - slope(points[a]) @ (points[b] - points[a])
        for a, b in itertools.permutations(range(3), 2)
    }
    (a, b), least = min(gaps.items(), key=lambda item: item[1])
    tangent = check_first_order(f, slope, points)
    assert (tangent.holds, tangent.gap) == (False, pytest.approx(least))
    assert (tangent.x.tolist(), tangent.z.tolist()) == (points[a].tolist(), points[b].tolist())
    assert check_first_order(f, slope, points, tol=-least / 4 * 1.01).holds
    assert not check_first_order(f, slope, points, tol=-least / 4 * 0.99).holds


def test_a_billionth_counts_as_rounding_of_a_chord_or_a_tangent():
    for miss, holds in ((0.5e-9, True), (5e-9, False)):

        def bent(x, miss=miss):
            return 1.0 + miss * (abs(x[0]) < 0.1)

        assert worst_chord(bent, [[-1.0], [1.0]]).holds is holds
        assert is_convex_on_segments(bent, [[-1.0], [1.0]]) is holds
        shifted = check_first_order(lambda x, m=miss: 1.0 - m * (x[0] > 0), lambda x: 0 * x, LINE)
        assert shifted.holds is holds
