"""The least-squares module: behaviour of each public function, its errors and edge cases."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from mllib.core.numerics import centred_columns
from mllib.course.datasets import breast_cancer, longley
from mllib.decision_theory import add_intercept
from mllib.least_squares import (
    LinearRegression,
    _least_squares_by_gram,
    covariance,
    least_absolute_deviations,
    least_squares,
    leverages,
    linear_gaussian,
    log_likelihood,
    mse_and_gradient,
    normal_equations,
    pinv,
    polynomial_features,
    projection,
    regression_chunk,
    regression_statistics,
    simple_fit,
    solve_statistics,
)


def gauss_jordan(A, b):
    """Solve A x = b in fractions."""
    M = [[Fraction(v) for v in row] + [Fraction(t)] for row, t in zip(A, b)]
    for j in range(len(M)):
        pivot = next(i for i in range(j, len(M)) if M[i][j] != 0)
        M[j], M[pivot] = M[pivot], M[j]
        M[j] = [v / M[j][j] for v in M[j]]
        for i in range(len(M)):
            if i != j:
                M[i] = [a - M[i][j] * c for a, c in zip(M[i], M[j])]
    return [row[-1] for row in M]


def exact_least_squares(X, y):
    """Solve the normal equations of whole numbers in fractions."""
    X = [[Fraction(float(v)) for v in row] for row in X]
    columns = list(zip(*X))
    gram = [[sum(a * b for a, b in zip(u, v)) for v in columns] for u in columns]
    right = [sum(a * Fraction(float(t)) for a, t in zip(u, y)) for u in columns]
    return np.array([float(v) for v in gauss_jordan(gram, right)])


def integer_sample(seed, n=12, d=3):
    rng = np.random.default_rng(seed)
    return rng.integers(-9, 10, (n, d)).astype(float), rng.integers(-9, 10, n).astype(float)


# a line, the normal equations, the SVD ---------------------------------------------------------


def test_simple_fit_by_hand_and_against_fractions():
    assert simple_fit([0, 1, 2], [0, 2, 1]) == pytest.approx((0.5, 0.5))
    X, y = integer_sample(0, d=1)
    b, w = exact_least_squares(add_intercept(X), y)
    assert simple_fit(X[:, 0], y) == pytest.approx((w, b), rel=1e-12)


def test_simple_fit_keeps_its_digits_far_from_the_origin():
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0, 5.0])
    assert simple_fit(x + 2.0**30, y).w == simple_fit(x, y).w


@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
def test_lines_and_normal_equations_follow_a_change_of_units(unit):
    X, y = integer_sample(16, d=2)
    x = X[:, 0]
    line, scaled = simple_fit(x, y), simple_fit(unit * x, y)
    assert scaled == pytest.approx((line.w / unit, line.b), rel=1e-12)
    w = normal_equations(X, y)
    np.testing.assert_allclose(unit * normal_equations(unit * X, y), w, rtol=1e-12)
    mixed = normal_equations(X * [unit, 1.0], y)
    np.testing.assert_allclose(mixed * [unit, 1.0], w, rtol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_all_solvers_agree_with_fractions(seed):
    X, y = integer_sample(seed)
    exact = exact_least_squares(X, y)
    fit = least_squares(X, y)
    for w in (normal_equations(X, y), pinv(X) @ y, fit.w, _least_squares_by_gram(X, y)[0]):
        np.testing.assert_allclose(w, exact, rtol=1e-12, atol=1e-13)
    assert fit.rank == 3
    np.testing.assert_allclose(fit.residuals, y - X @ exact, atol=1e-12)
    assert fit.rss == pytest.approx(np.sum((y - X @ exact) ** 2), rel=1e-12)
    assert fit.condition == pytest.approx(np.linalg.cond(X), rel=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_centring_is_a_column_of_ones(seed):
    X, y = integer_sample(seed)
    exact = exact_least_squares(add_intercept(X), y)
    fit = least_squares(X, y, intercept=True)
    np.testing.assert_allclose(np.r_[fit.b, fit.w], exact, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(fit.residuals, y - add_intercept(X) @ exact, atol=1e-12)
    assert fit.rss == pytest.approx(np.sum((y - add_intercept(X) @ exact) ** 2), rel=1e-12)


def test_a_wrong_sign_in_the_normal_equations_would_be_seen():
    X, y = integer_sample(1)
    wrong = np.linalg.solve(X.T @ X, -X.T @ y)
    assert np.abs(X.T @ (y - X @ wrong)).max() > 1
    assert np.abs(X.T @ (y - X @ normal_equations(X, y))).max() < 1e-11


@pytest.mark.parametrize("seed", range(5))
def test_fewer_samples_than_inputs_give_the_shortest_interpolant(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((4, 9)), rng.standard_normal(4)
    fit = least_squares(X, y)
    np.testing.assert_allclose(X @ fit.w, y, atol=1e-12)
    null = np.eye(9) - np.linalg.pinv(X) @ X
    for _ in range(20):
        other = fit.w + null @ rng.standard_normal(9)
        assert np.linalg.norm(other) > np.linalg.norm(fit.w)
    assert fit.rank == 4


def test_collinear_columns_share_the_weight():
    x = np.arange(5.0)
    fit = least_squares(np.column_stack([x, x]), 6 * x + 1, intercept=True)
    np.testing.assert_allclose(fit.w, [3, 3], rtol=1e-12)
    assert (fit.rank, fit.b) == (1, pytest.approx(1))


def test_constant_columns_get_no_weight_beside_an_offset():
    x = np.arange(6.0)
    X = np.column_stack([x, np.full(6, 0.1), np.full(6, 1e9)])
    for scale in (1e-8, 1.0, 1e8):
        model = LinearRegression().fit(scale * X, 2 * x + 3)
        np.testing.assert_allclose(model.coef_ * scale, [2, 0, 0], atol=1e-12)
        assert model.intercept_ == pytest.approx(3)
        assert model.rank_ == 1
    fit = least_squares(np.ones((4, 2)), [1.0, 2, 3, 4], intercept=True)
    assert (fit.rank, fit.b, fit.w.tolist(), fit.condition) == (0, 2.5, [0, 0], 1.0)


def test_constant_targets_and_one_sample():
    X = np.random.default_rng(0).standard_normal((8, 2))
    model = LinearRegression().fit(X, np.full(8, 7.0))
    assert (model.intercept_, model.sigma2_) == (7.0, 0.0)
    assert model.coef_.tolist() == [0.0, 0.0]
    assert LinearRegression().fit([[1.0, 2.0]], [5.0]).predict([[9.0, 9.0]]) == 5.0


# pseudo-inverse, projection, covariance --------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
def test_pinv_meets_the_four_conditions_of_penrose(shape):
    rng = np.random.default_rng(1)
    for rank in range(1, 4):
        A = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
        P = pinv(A)
        np.testing.assert_allclose(A @ P @ A, A, atol=1e-12)
        np.testing.assert_allclose(P @ A @ P, P, atol=1e-11)
        np.testing.assert_allclose((A @ P).T, A @ P, atol=1e-12)
        np.testing.assert_allclose((P @ A).T, P @ A, atol=1e-12)


def test_pinv_of_zero_is_zero_and_rtol_drops_directions():
    assert pinv(np.zeros((2, 3))).tolist() == np.zeros((3, 2)).tolist()
    assert pinv(np.diag([1.0, 1e-3]), rtol=1e-2)[1, 1] == 0


def test_projection_is_symmetric_idempotent_and_fixes_the_columns():
    X, _ = integer_sample(3)
    H = projection(X)
    np.testing.assert_allclose(H, H.T, atol=1e-15)
    np.testing.assert_allclose(H @ H, H, atol=1e-14)
    np.testing.assert_allclose(H @ X, X, atol=1e-13)
    np.testing.assert_allclose(leverages(X), np.diag(H), atol=1e-15)
    assert np.trace(H) == pytest.approx(3)
    assert np.trace(projection(np.column_stack([X, X]))) == pytest.approx(3)


def test_a_leverage_of_one_pins_the_prediction():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 5.0]])
    fit = least_squares(X, [0.0, 1.0, 40.0])
    assert leverages(X)[2] == pytest.approx(1)
    assert fit.residuals[2] == pytest.approx(0, abs=1e-12)


def test_covariance_is_exact_for_noise_of_two_values():
    X, _ = integer_sample(4, n=6, d=2)
    P = np.linalg.inv(X.T @ X) @ X.T
    draws = np.array([P @ e for e in itertools.product([-2.0, 2.0], repeat=6)])
    np.testing.assert_allclose(covariance(X, 4.0), draws.T @ draws / len(draws), rtol=1e-10)


def test_covariance_refuses_dependent_columns():
    with pytest.raises(ValueError, match="X must have linearly independent columns"):
        covariance([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    with pytest.raises(ValueError, match="sigma2 must be a number in"):
        covariance(np.eye(2), -1.0)
    with pytest.raises(ValueError, match="between 1e-150 and 1e150"):
        covariance(1e-200 * np.eye(2))


# likelihood, losses, features ------------------------------------------------------------------


def test_log_likelihood_is_a_sum_of_logarithms_of_densities():
    X, y = integer_sample(5, n=5, d=2)
    w, sigma2 = np.array([0.5, -1.0]), 2.5
    terms = -((y - X @ w) ** 2) / (2 * sigma2) - np.log(np.sqrt(2 * np.pi * sigma2))
    assert log_likelihood(X, y, w, sigma2) == pytest.approx(terms.sum(), rel=1e-12)
    with pytest.raises(ValueError, match="sigma2 must be a number in"):
        log_likelihood(X, y, w, 0.0)


def test_the_fit_has_the_largest_likelihood_nearby():
    X, y = integer_sample(6)
    model = LinearRegression(fit_intercept=False).fit(X, y)
    best = model.loglik(X, y.tolist())
    for step in (0.99, 1.01):
        assert log_likelihood(X, y, model.coef_, step * model.sigma2_) < best
        assert log_likelihood(X, y, step * model.coef_, model.sigma2_) < best
    with pytest.raises(ValueError, match="The fit is perfect"):
        LinearRegression().fit(X, np.ones(12)).loglik(X, y)


def test_linear_gaussian_has_the_moments_it_says():
    rng = np.random.default_rng(7)
    X = np.ones((100_000, 1))
    y = linear_gaussian(X, [3.0], 2.0, rng)
    assert abs(y.mean() - 3) < 6 * 2 / np.sqrt(len(y))
    assert abs(y.var() / 4 - 1) < 6 * np.sqrt(2 / len(y))


def test_mse_gradient_by_differences():
    X, y = integer_sample(8)
    w, h = np.array([0.5, 1.0, -2.0]), 1e-5
    value, gradient = mse_and_gradient(w, X, y)
    assert value == pytest.approx(np.mean((y - X @ w) ** 2))
    for e, g in zip(np.eye(3), gradient):
        ends = [mse_and_gradient(w + t * h * e, X, y)[0] for t in (1, -1)]
        assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(g, rel=1e-7)


@pytest.mark.parametrize(("d", "degree", "m"), [(1, 4, 5), (2, 2, 6), (3, 3, 20), (2, 0, 1)])
def test_polynomial_features_are_counted_and_valued(d, degree, m):
    X = np.random.default_rng(9).integers(-3, 4, (7, d)).astype(float)
    P = polynomial_features(X, degree)
    assert P.shape == (7, m)
    powers = [p for p in itertools.product(range(degree + 1), repeat=d) if sum(p) <= degree]
    expected = {tuple(np.prod(X ** np.array(p), axis=1)) for p in powers}
    assert {tuple(column) for column in P.T} == expected


def test_least_absolute_deviations_of_a_constant_is_the_median():
    y = np.array([3.0, -1.0, 100.0, 7.0, 4.0])
    for scale in (1e-6, 1.0, 1e6):
        assert least_absolute_deviations(np.ones((5, 1)), scale * y) == pytest.approx(4 * scale)


def test_least_absolute_deviations_pass_through_as_many_points_as_weights():
    X, y = integer_sample(10, n=9, d=2)
    best = np.abs(y - X @ least_absolute_deviations(X, y)).sum()
    through = [
        np.abs(y - X @ np.linalg.solve(X[list(pair)], y[list(pair)])).sum()
        for pair in itertools.combinations(range(9), 2)
        if abs(np.linalg.det(X[list(pair)])) > 0.5
    ]
    assert best == pytest.approx(min(through), rel=1e-9)


# the fast path ---------------------------------------------------------------------------------


def cases():
    rng = np.random.default_rng(11)
    yield "round", rng.standard_normal((60, 5))
    yield "scaled", rng.standard_normal((60, 5)) * [1e-6, 1e-3, 1, 1e3, 1e6]
    yield "shifted", rng.standard_normal((60, 3)) + 1e4
    yield "wide", rng.standard_normal((4, 9))
    yield "square", rng.standard_normal((5, 5))
    base = rng.standard_normal((60, 4))
    yield "collinear", np.column_stack([base, base @ [1, 2, 3, 4]])
    for power in range(1, 13):
        noise = 10.0**-power * rng.standard_normal(60)
        yield f"within 1e-{power}", np.column_stack([base, base[:, 0] + noise])
    yield "constant columns", np.where(np.arange(5) % 2, 0.1, rng.standard_normal((60, 5)))
    yield "zero columns", np.where(np.arange(5) % 2, 0.0, rng.standard_normal((60, 5)))
    yield "two values, equal ends", np.eye(60)[:, :6] - np.eye(60)[:, 6:12]
    yield "wide, repeated", np.repeat(rng.standard_normal((4, 5)), 2, axis=1)
    yield "wide, constant", np.column_stack([rng.standard_normal((4, 6)), np.full(4, 0.1)])
    yield "one row", rng.standard_normal((1, 3))
    yield "cancer", breast_cancer().X
    yield "longley", longley().X


@pytest.mark.parametrize(
    ("name", "X"), list(cases()), ids=lambda v: v if isinstance(v, str) else ""
)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_fast_path_equals_the_printed_function(name, X, intercept):
    y = np.random.default_rng(12).standard_normal(len(X))
    plain = least_squares(X, y, intercept=intercept)
    fast = LinearRegression(fit_intercept=intercept).fit(X, y)
    assert fast.rank_ == plain.rank
    kappa = plain.condition
    # Two backward-stable answers differ by kappa and, through the residual, by kappa^2 roundings.
    tolerance = 200 * np.finfo(float).eps * (kappa + kappa**2 * (name != "square"))
    scale = np.linalg.norm(plain.w)
    assert np.linalg.norm(fast.coef_ - plain.w) <= max(tolerance, 1e-13) * scale
    near = max(1e-6, np.finfo(float).eps * kappa)  # each is off by kappa roundings of the residual
    np.testing.assert_allclose(fast.predict(X), X @ plain.w + plain.b, atol=near * np.abs(y).max())
    assert fast.sigma2_ == pytest.approx(plain.rss / len(X), rel=1e-6, abs=1e-20)


def test_the_fast_path_is_taken_and_left_where_it_should_be(monkeypatch):
    import mllib.least_squares as module

    called = []
    honest = module.lstsq
    monkeypatch.setattr(module, "lstsq", lambda *a, **k: called.append(1) or honest(*a, **k))
    rng = np.random.default_rng(13)
    X, y = rng.standard_normal((50, 4)), rng.standard_normal(50)
    LinearRegression().fit(X * [1e-3, 1, 1e3, 1], y)
    assert not called
    LinearRegression().fit(np.column_stack([X, X[:, 0] + 1e-6 * X[:, 1]]), y)
    assert called == [1, 1]  # the second time without units, which does not save the rank


@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
@pytest.mark.parametrize("kind", ["round", "repeated", "wide"])
def test_the_fast_path_follows_a_change_of_units(unit, kind):
    rng = np.random.default_rng(17)
    X, y = rng.standard_normal((3 if kind == "wide" else 30, 4)), rng.standard_normal(30)
    X, y = (X[:, [0, 1, 0, 1]] if kind == "repeated" else X), y[: len(X)]
    w, scaled = (LinearRegression().fit(c * X, y) for c in (1.0, unit))
    assert scaled.rank_ == w.rank_ == {"round": 4, "repeated": 2, "wide": 2}[kind]
    np.testing.assert_allclose(unit * scaled.coef_, w.coef_, rtol=1e-9)
    np.testing.assert_allclose(scaled.intercept_, w.intercept_, rtol=1e-9)


@pytest.mark.parametrize("offset", [1.0, 1e4, 1e8])
def test_chunks_of_few_distinct_rows_far_from_zero_gain_no_rank(offset):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((3, 5)) + offset, rng.standard_normal(3)
        rows = np.append(np.arange(3), rng.integers(0, 3, 40))
        parts = np.split(rng.permutation(rows), [7, 8, 30])
        whole = LinearRegression().fit(X[rows], y[rows])
        nothing = (X[:2], y[:2], np.zeros(2))
        for chunks in (
            [(X[p], y[p]) for p in parts],
            [nothing, *((X[p], y[p], np.full(len(p), 2.0)) for p in parts), nothing],
        ):
            model = LinearRegression().fit_chunks(chunks)
            assert model.rank_ == whole.rank_ == 2
            np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-6, atol=1e-6)


def test_constant_columns_are_centred_to_zero_exactly():
    rng = np.random.default_rng(18)
    X = rng.standard_normal((10, 5))
    X[:, 1], X[:, 3], X[-1, 4] = 0.1, 1e20, X[0, 4]
    Z, mean = centred_columns(X)
    assert not Z[:, [1, 3]].any()
    assert mean[1] == 0.1
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-15)
    np.testing.assert_array_equal(Z, X - mean)
    assert not centred_columns(X[:1])[0].any()


def test_refinement_is_needed():
    rng = np.random.default_rng(14)
    base = rng.standard_normal((100, 3))
    X = np.column_stack([base, base[:, 0] + 2e-4 * rng.standard_normal(100)])
    w = np.array([1.0, 2, 3, 4])
    norms = np.linalg.norm(X, axis=0)
    S = X / norms
    unrefined = np.linalg.solve(S.T @ S, S.T @ (X @ w)) / norms
    refined = LinearRegression(fit_intercept=False).fit(X, X @ w).coef_
    assert np.abs(refined - w).max() < 1e-11
    assert np.abs(refined - w).max() < 0.05 * np.abs(unrefined - w).max()


# bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [2.0]], [1, -1, 1], "y must have 2 entries, got 3|inconsistent"),
        ([[np.nan], [2.0]], [1, -1], "Input X contains NaN"),
        ([[np.inf], [2.0]], [1, -1], "Input X contains infinity"),
        ([[1.0], [2.0]], [np.nan, 1], "y contains NaN"),
        ([1.0, 2.0], [1, -1], "Expected 2D array, got 1D array"),
        ([["a"], ["b"]], [1, -1], "X must hold numbers only"),
        (np.empty((0, 2)), [], "0 sample"),
        (np.empty((2, 0)), [1, 2], "0 feature"),
        ([[1j], [2.0]], [1, -1], "Complex data not supported"),
    ],
)
@pytest.mark.parametrize(
    "function",
    [
        normal_equations,
        least_squares,
        least_absolute_deviations,
        lambda X, y: LinearRegression().fit(X, y),
    ],
)
def test_bad_samples_are_refused_with_one_sentence(function, X, y, message):
    with pytest.raises(ValueError, match=message):
        function(X, y)


def test_undetermined_weights_are_refused_where_they_matter():
    for x, y in (([2.0, 2.0], [1.0, 3.0]), ([0.1] * 10, np.arange(10.0)), ([5.0], [1.0]), ([], [])):
        with pytest.raises(ValueError, match="x must hold at least two different values"):
            simple_fit(x, y)
    for X in (np.ones((5, 2)), np.zeros((5, 1)), np.eye(5)[:2]):
        with pytest.raises(ValueError, match="X must have linearly independent columns"):
            normal_equations(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="degree must be an integer"):
        polynomial_features([[1.0]], -1)
    with pytest.raises(ValueError, match="X is too large for degree 3"):
        polynomial_features([[1e140]], 3)
    with pytest.raises(ValueError, match=r"rng must be a numpy\.random\.Generator, got 3"):
        linear_gaussian([[1.0]], [1.0], 1.0, 3)
    with pytest.raises(ValueError, match="X has 1 features, but LinearRegression is expecting 2"):
        LinearRegression().fit(np.eye(2), [0.0, 1.0]).predict([[1.0]])


def test_functions_leave_their_arguments_alone():
    X, y = integer_sample(15)
    before = X.copy(), y.copy()
    least_squares(X, y, intercept=True)
    LinearRegression().fit(X, y)
    normal_equations(X, y)
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])


@pytest.mark.parametrize("offset", [0, 100, 1e8])
@pytest.mark.parametrize("repeated", [False, True])
def test_inputs_far_from_zero_do_not_gain_rank_by_the_rounding_of_their_mean(offset, repeated):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.integers(-99, 99, (5, 5)) / 64.0
        if repeated:
            X = X[np.r_[:5, rng.integers(0, 5, 9)]]
        y = rng.standard_normal(len(X))
        w = np.linalg.pinv(X - X.mean(axis=0), rcond=1e-9) @ (y - y.mean())
        fit, model = least_squares(X + offset, y, intercept=True), LinearRegression()
        near = {"rtol": 1e-5, "atol": 1e-5 * np.abs(w).max()}
        assert fit.rank == model.fit(X + offset, y).rank_ == 4
        assert np.allclose(fit.w, w, **near)
        assert np.allclose(model.coef_, w, **near)
        if not repeated:
            model.fit_chunks([(X[:2] + offset, y[:2]), (X[2:] + offset, y[2:])])
            assert model.rank_ == 4
            assert np.allclose(model.coef_, w, **near)


def test_a_constant_column_has_no_weight_in_weighted_chunks_either():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.standard_normal((9, 2)), np.full(9, 0.1)])
        y, s = rng.standard_normal(9), rng.random(9)
        whole = LinearRegression().fit(X, y, s)
        parts = LinearRegression().fit_chunks([(X[:4], y[:4], s[:4]), (X[4:], y[4:], s[4:])])
        assert whole.rank_ == parts.rank_ == 2
        assert parts.coef_[2] == 0
        assert np.allclose(parts.coef_, whole.coef_)
    nothing = regression_statistics(X, y, weights=np.zeros(9))
    assert nothing.n == 0
    assert not nothing.R.any()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("lam", [0.0, 2.5])
def test_statistics_know_the_rows_and_what_is_solved_with_them(intercept, lam):
    X, y = integer_sample(3, n=14)
    s = np.array([0, 1, 2, 3, 1, 0, 2, 1, 1, 4, 1, 2, 1, 1.0])
    rows = np.column_stack([X, y])[np.repeat(np.arange(14), s.astype(int))]
    mean = rows.mean(axis=0) if intercept else np.zeros(4)
    parts = [
        regression_chunk((X[i], y[i], s[i]), intercept)
        for i in (slice(0, 5), slice(5, 9), slice(9, 14))
    ]
    for found in (
        parts[0] + parts[1] + parts[2],
        regression_statistics(X, y, intercept=intercept, weights=s),
        regression_statistics(rows[:, :3], rows[:, 3], intercept=intercept),
    ):
        assert found.n == len(rows)
        assert found.mean == pytest.approx(mean)
        assert np.allclose(found.R.T @ found.R, (rows - mean).T @ (rows - mean))
        assert np.array_equal(found.R, np.triu(found.R))
        fit = solve_statistics(found, lam)
        Z, t = (rows - mean)[:, :3], (rows - mean)[:, 3]
        w = np.linalg.solve(Z.T @ Z + lam * np.eye(3), Z.T @ t)
        assert fit.w == pytest.approx(w)
        assert fit.b == pytest.approx(mean[3] - w @ mean[:3])
        assert fit.rss == pytest.approx(np.sum((t - Z @ w) ** 2))
        assert fit.rank == 3
        assert fit.condition**2 == pytest.approx(np.linalg.cond(Z.T @ Z + lam * np.eye(3)))
        left = found.R[:3, 3] - found.R[:3, :3] @ w
        assert fit.residuals == pytest.approx(np.append(left, -np.sqrt(lam) * w)[: 6 if lam else 3])


def test_a_covariance_is_of_noise_of_variance_one_unless_it_is_told():
    X, _ = integer_sample(4)
    assert np.allclose(covariance(X), np.linalg.inv(X.T @ X))


def test_the_variance_of_the_noise_counts_rows_by_their_weights():
    X, y = integer_sample(5)
    s = np.arange(12) % 4
    rows = np.repeat(np.arange(12), s)
    weighted = LinearRegression().fit(X, y, sample_weight=s)
    repeated = LinearRegression().fit(X[rows], y[rows])
    assert weighted.sigma2_ == pytest.approx(repeated.sigma2_)
    assert weighted.sigma2_ == pytest.approx(np.mean((y - weighted.predict(X))[rows] ** 2))
