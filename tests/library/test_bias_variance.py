"""The bias-variance module: behaviour of each public function, its errors and edge cases."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mllib.bias_variance import (
    Decomposition,
    FixedDesign,
    conditional_mse,
    decompose,
    decompose_smoother,
    exact_decompose,
    integrate,
    legendre_features,
    parameter_mse,
    polynomial_learner,
    ridge_smoother,
)
from mllib.least_squares import polynomial_features, projection

F = Fraction
X5 = np.linspace(0, 1, 5)
F5 = np.sin(2 * np.pi * X5)
LINE = partial(polynomial_learner, r=1)
GRID = np.array([0.1, 0.4, 0.8])


def mean_of(X, y, X_new):
    return [sum(y) / len(y)] * len(X_new)


def simulate(seed=0, repeats=40, **options):
    draw = FixedDesign(X5, F5, 0.3)
    rng = np.random.default_rng(seed)
    f_new = np.sin(2 * np.pi * GRID)
    return decompose(LINE, draw, GRID, f_new, noise=0.3, repeats=repeats, rng=rng, **options)


# conditional_mse -----------------------------------------------------------------------------


def test_conditional_mse_is_exact_on_fractions():
    parts = conditional_mse(F(1, 3), [F(0), F(10), F(-2)], [F(1, 2), F(1, 6), F(1, 3)])
    assert parts.mse == F(1, 2) * F(1, 9) + F(1, 6) * F(29, 3) ** 2 + F(1, 3) * F(7, 3) ** 2
    assert parts.mse == parts.noise + parts.squared_distance
    assert isinstance(parts.mse, Fraction)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, [0, 1], [0.5, 0.6]), "probabilities"),
        ((0, [0, 1, 2], [0.5, 0.5]), "values must have 2 entries"),
        ((0, 3, [1.0]), "values must be a vector"),
        ((0, [0, 1], 0.5), "probabilities must be a vector"),
        (("half", [0, 1], [0.5, 0.5]), "prediction must hold numbers only"),
        ((np.nan, [0, 1], [0.5, 0.5]), "prediction contains NaN"),
        ((0, [0, np.inf], [0.5, 0.5]), "values contains inf"),
    ],
)
def test_conditional_mse_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        conditional_mse(*arguments)


# exact_decompose -----------------------------------------------------------------------------


def test_every_data_set_of_a_small_design_in_fractions():
    parts = exact_decompose(mean_of, [0, 1, 2], [F(0), F(1), F(5)], [F(-1), F(2)],
                            [F(2, 3), F(1, 3)], [1], [F(1)])  # fmt: skip
    assert parts.mean == [F(2)]
    assert parts.squared_bias == [F(1)]
    assert parts.variance == [F(2, 3)]  # sigma^2 / n with sigma^2 = 2
    assert parts.noise == [F(2)]
    assert parts.risk == [F(11, 3)]


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_enumeration_equals_the_formula_of_linear_smoothers(lam):
    learner = partial(polynomial_learner, r=2, lam=lam)
    f_new = np.cos(GRID)
    listed = exact_decompose(learner, X5, F5, [-0.5, 0.5], [0.5, 0.5], GRID, f_new)
    Phi, new = (legendre_features(x, 2, interval=(0, 1)) for x in (X5, GRID))
    formula = decompose_smoother(ridge_smoother(Phi, new, lam), F5, f_new, 0.25)
    for a, b in zip(listed[:5], formula[:5]):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)


def test_a_learner_that_is_not_linear_in_y():
    def median(X, y, X_new):
        return [sorted(y)[1]] * len(X_new)

    parts = exact_decompose(median, [0, 1, 2], [0, 0, 0], [F(-1), F(1)], [F(1, 2)] * 2, [0], [0])
    assert parts.variance == [1]
    assert parts.risk == [2]


def test_errors_are_added_to_f_and_not_taken_from_it():
    law = [F(-1), F(2)], [F(2, 3), F(1, 3)]
    parts = exact_decompose(lambda X, y, X_new: [max(y)], [0] * 3, [F(0)] * 3, *law, [0], [F(0)])
    assert parts.mean == [-1 * F(8, 27) + 2 * F(19, 27)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"errors": [0, 1]}, "errors must have mean 0"),
        ({"f": [0, 1]}, "f must have 1 entries"),
        ({"f": [np.nan]}, "f contains NaN"),
        ({"f_new": [0, 1]}, "f_new must have 1 entries"),
        ({"X": 3}, "X must be a sequence of inputs, got 3"),
        ({"X_new": 3}, "X_new must be a sequence"),
        ({"errors": [], "probabilities": []}, "probabilities must have at least one entry"),
        ({"learner": "mean"}, "learner must be a function"),
        ({"learner": lambda X, y, X_new: [0, 0]}, "learner must return 1 predictions"),
        ({"X": list(range(21)), "f": [0] * 21}, "2\\^21 data sets"),
        ({"learner": lambda X, y, X_new: [np.nan]}, "predictions of the learner contains NaN"),
        ({"probabilities": [0.5, 0.4]}, "probabilities"),
    ],
)
def test_exact_decompose_refuses(change, message):
    good = {"learner": mean_of, "X": [0], "f": [0], "errors": [-1, 1]}
    good |= {"probabilities": [0.5, 0.5], "X_new": [0], "f_new": [0]}
    with pytest.raises(ValueError, match=message):
        exact_decompose(**(good | change))


# decompose -----------------------------------------------------------------------------------


def test_simulation_agrees_with_the_formula():
    parts = simulate(repeats=20000)
    Phi, new = (legendre_features(x, 1, interval=(0, 1)) for x in (X5, GRID))
    exact = decompose_smoother(ridge_smoother(Phi, new), F5, np.sin(2 * np.pi * GRID), 0.09)
    # six standard errors: of the mean prediction, of a variance of Gaussians, of a mean square
    assert (np.abs(parts.mean - exact.mean) < 6 * np.sqrt(exact.variance / 20000)).all()
    for a, b in ((parts.variance, exact.variance), (parts.noise, exact.noise)):
        assert (np.abs(a / b - 1) < 6 * np.sqrt(2 / 20000)).all()
    assert (np.abs(parts.risk / exact.risk - 1) < 6 * np.sqrt(2 / 20000)).all()


def test_the_parts_are_averages_over_the_spawned_generators():
    draw, f_new = FixedDesign(X5, F5, 0.3), np.sin(2 * np.pi * GRID)
    T = np.array([LINE(*draw(rng), GRID) for rng in np.random.default_rng(0).spawn(40)])
    parts = simulate()
    np.testing.assert_allclose(parts.mean, T.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(parts.squared_bias, (T.mean(axis=0) - f_new) ** 2, rtol=1e-9)
    np.testing.assert_allclose(parts.variance, np.mean((T - T.mean(axis=0)) ** 2, axis=0))


def test_same_results_for_every_number_of_workers():
    alone = simulate()
    with ThreadPoolExecutor(3) as pool:
        others = [simulate(workers=2), simulate(workers=3), simulate(workers=pool.map)]
    for other in others:
        for a, b in zip(alone, other):
            np.testing.assert_array_equal(a, b)
    assert not np.array_equal(alone.risk, simulate(seed=1).risk)


def test_debiased_squared_bias_has_the_right_mean():
    rng = np.random.default_rng(3)
    draw = FixedDesign(X5, np.zeros(5), 1.0)  # a line is unbiased for 0
    values = [decompose(LINE, draw, GRID, np.zeros(3), repeats=5, rng=rng) for _ in range(500)]
    raw = np.array([v.squared_bias for v in values])
    mended = np.array([v.debiased for v in values])
    assert (np.abs(mended.mean(axis=0)) < 6 * mended.std(axis=0) / np.sqrt(500)).all()
    assert (raw.mean(axis=0) > 6 * raw.std(axis=0) / np.sqrt(500)).all()
    exact = decompose_smoother(np.eye(3), np.zeros(3), GRID, 1.0)
    np.testing.assert_array_equal(exact.debiased, exact.squared_bias)


def test_noise_may_be_a_function():
    draw = FixedDesign(X5, F5, 0.0)

    def coin(rng, m):
        return np.array([3.0, -3.0])

    rng = np.random.default_rng(0)
    parts = decompose(LINE, draw, [0.0, 1.0], [0, 0], noise=coin, repeats=2, rng=rng)
    assert parts.noise.tolist() == [9.0, 9.0]
    np.testing.assert_allclose(parts.variance, 0, atol=1e-25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers must be"),
        ({"workers": -2}, "workers must be"),
        ({"workers": 1.5}, "workers must be an integer"),
        ({"repeats": 1}, "repeats must be an integer in \\[2, inf\\)"),
        ({"repeats": 2.0}, "repeats must be an integer"),
        ({"noise": -1.0}, "noise must be a number"),
        ({"noise": np.nan}, "noise must be a number"),
        ({"noise": lambda rng, m: np.zeros(m + 1)}, "noise must have 3 entries"),
        ({"X_new": 0.5}, "X_new must be a sequence of inputs"),
        ({"learner": None}, "learner must be a function"),
        ({"draw": (X5, F5)}, "draw must be a function"),
        ({"draw": lambda rng: F5}, r"draw must return a pair \(X, y\)"),
        ({"rng": 0}, "rng must be a numpy.random.Generator"),
        ({"f_new": [0.0, 1.0]}, "f_new must have 3 entries"),
        ({"f_new": [0.0, 1.0, np.nan]}, "f_new contains NaN"),
        ({"learner": lambda X, y, X_new: np.zeros(2)}, "prediction of the learner must have 3"),
        ({"learner": lambda X, y, X_new: np.full(3, np.nan)}, "learner contains NaN"),
    ],
)
def test_decompose_refuses(options, message):
    good = {"learner": LINE, "draw": FixedDesign(X5, F5, 1.0), "X_new": GRID}
    good |= {"f_new": np.zeros(3), "repeats": 3, "rng": np.random.default_rng(0)}
    with pytest.raises(ValueError, match=message):
        decompose(**(good | options))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X5, F5[:3], 1.0), "f must have 5 entries"),
        ((X5, F5, -1.0), "sigma must be a number"),
        ((X5, np.full(5, np.nan), 1.0), "f contains NaN"),
        ((5, F5, 1.0), "X must be a sequence"),
    ],
)
def test_fixed_design_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        FixedDesign(*arguments)


# integrate, decompose_smoother ---------------------------------------------------------------


def test_integrate_weights_every_part():
    parts = Decomposition([1, 2], [3.0, 5.0], [0.0, 8.0], [1, 1], [4.0, 14.0], 7)
    assert integrate(parts, [0.75, 0.25])[:] == (1.25, 3.5, 2.0, 1.0, 6.5, 7)
    assert integrate(parts).variance == 4
    with pytest.raises(ValueError, match="weights must have 2 entries"):
        integrate(parts, [1.0])
    with pytest.raises(ValueError, match=r"parts\.mean must be a vector"):
        integrate(integrate(parts))
    with pytest.raises(ValueError, match="parts must be a Decomposition"):
        integrate([1.0])
    with pytest.raises(ValueError, match="weights"):
        integrate(parts, [0.5, 0.6])


def test_variance_of_a_projection_adds_up_to_the_number_of_parameters():
    for r in range(5):
        Phi = legendre_features(np.linspace(0, 1, 12), r, interval=(0, 1))
        parts = decompose_smoother(ridge_smoother(Phi, Phi), np.zeros(12), np.zeros(12), 2.0)
        assert parts.variance.sum() == pytest.approx(2 * (r + 1), rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(2), [0.0], [0.0, 0.0], 1.0), "f must have 2"),
        ((np.eye(2), [0.0, 0.0], [0.0], 1.0), "f_new must have 2"),
        ((np.eye(2), [0.0, 0.0], [0.0, 0.0], -1.0), "sigma2"),
        (([[np.nan]], [0.0], [0.0], 1.0), "S contains NaN"),
    ],
)
def test_decompose_smoother_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        decompose_smoother(*arguments)


# polynomials and ridge -----------------------------------------------------------------------


def test_features_are_orthonormal_under_the_uniform_law():
    t, w = np.polynomial.legendre.leggauss(20)
    Phi = legendre_features(3 + 2 * t, 8, interval=(1, 5))
    np.testing.assert_allclose(Phi.T @ (w[:, None] / 2 * Phi), np.eye(9), atol=1e-13)


def test_polynomials_equal_numpy_and_ridge_equals_scikit_learn():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(0, 1, 15), rng.standard_normal(15)
    ours = polynomial_learner(x, y, GRID, r=4)
    np.testing.assert_allclose(ours, np.polyval(np.polyfit(x, y, 4), GRID), rtol=1e-9)
    Phi, new = (legendre_features(v, 4, interval=(0, 1)) for v in (x, GRID))
    theirs = Ridge(0.7, fit_intercept=False).fit(Phi, y).predict(new)
    np.testing.assert_allclose(polynomial_learner(x, y, GRID, r=4, lam=0.7), theirs, rtol=1e-10)


def test_legendre_features_span_the_monomials():
    x = np.random.default_rng(4).uniform(2, 9, 12)
    same = projection(polynomial_features((x - 5)[:, None], 4))
    np.testing.assert_allclose(
        projection(legendre_features(x, 4, interval=(2, 9))), same, atol=1e-9
    )


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4)])
@pytest.mark.parametrize("lam", [1e-6, 0.5, 300.0])
def test_smoother_by_its_definition(shape, lam):
    rng = np.random.default_rng(5)
    X, new = rng.standard_normal(shape), rng.standard_normal((5, shape[1]))
    stated = new @ np.linalg.solve(X.T @ X + lam * np.eye(shape[1]), X.T)
    np.testing.assert_allclose(ridge_smoother(X, new, lam), stated, rtol=1e-7, atol=1e-7)


def test_smoother_with_fewer_rows_than_columns_interpolates():
    X = np.random.default_rng(1).standard_normal((3, 6))
    np.testing.assert_allclose(ridge_smoother(X, X), np.eye(3), atol=1e-12)
    y = np.arange(3.0)
    np.testing.assert_allclose(ridge_smoother(X, np.eye(6)) @ y, np.linalg.pinv(X) @ y, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: legendre_features([0.0], -1, interval=(0, 1)), "r must be"),
        (lambda: legendre_features([0.0], 1, interval=(1, 1)), "interval must be"),
        (lambda: legendre_features([np.nan], 1, interval=(0, 1)), "x contains NaN"),
        (lambda: polynomial_learner([0.0], [0.0, 1.0], [0.0], r=0), "y must have 1"),
        (lambda: polynomial_learner([0.0], [0.0], 1.0, r=0), "x_new must be a vector"),
        (lambda: ridge_smoother(np.eye(2), np.eye(3)), "X_new must have 2 columns"),
        (lambda: ridge_smoother(np.eye(2), np.eye(2), -1.0), "lam"),
    ],
)
def test_fits_refuse(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# parameter_mse -------------------------------------------------------------------------------


def test_parameter_mse_of_estimates_listed_by_hand():
    rng = np.random.default_rng(2)
    T, w = rng.standard_normal((50, 3)), np.array([1.0, -2.0, 0.5])
    parts = parameter_mse(T, w)
    np.testing.assert_allclose(parts.bias, T.mean(axis=0) - w, atol=1e-14)
    assert parts.squared_bias == pytest.approx(np.sum((T.mean(axis=0) - w) ** 2))
    assert parts.variance == pytest.approx(np.trace(np.cov(T.T, bias=True)))
    assert parts.mse == pytest.approx(np.mean(np.sum((T - w) ** 2, axis=1)))


def test_parameter_mse_with_weights():
    parts = parameter_mse([[0.0], [4.0]], [2.0], [0.75, 0.25])
    assert (parts.squared_bias, parts.variance, parts.mse) == (1.0, 3.0, 4.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parameter_mse([[0.0]], [0.0]), "minimum of 2"),
        (lambda: parameter_mse(np.zeros((3, 2)), [0.0]), "target must have 2"),
        (lambda: parameter_mse(np.zeros((3, 1)), [0.0], [1.0]), "weights must have 3"),
        (lambda: parameter_mse([[0.0], [np.nan]], [0.0]), "estimates contains NaN"),
    ],
)
def test_parameter_errors_refuse(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_penalty_acts_in_the_basis_of_the_interval():
    x, x_new = np.linspace(0, 1, 8), np.array([0.3, 0.7])
    y = np.sin(5 * x)
    unit = polynomial_learner(x, y, x_new, r=4, lam=0.1)
    wide = polynomial_learner(2 + 3 * x, y, 2 + 3 * x_new, r=4, lam=0.1, interval=(2.0, 5.0))
    assert wide == pytest.approx(unit)
    assert (
        abs(polynomial_learner(x, y, x_new, r=4, lam=0.1, interval=(0.0, 2.0)) - unit).max() > 0.01
    )


def test_new_errors_are_none_by_default_and_may_differ_from_place_to_place():
    def spread(rng, m):
        return np.arange(1.0, m + 1) * rng.choice([-1, 1], size=m)

    given = LINE, FixedDesign(X5, F5, 0.3), GRID, np.zeros(3)
    named = {"repeats": 9, "rng": np.random.default_rng(0)}
    assert decompose(*given, **named).noise.tolist() == [0, 0, 0]
    assert decompose(*given, noise=spread, **named).noise.tolist() == [1, 4, 9]
