"""The PAC-learning module: risks, finite classes, shattering, growth, bounds, errors."""

import itertools
import math

import numpy as np
import pytest

from mllib import pac_learning as pac

THRESHOLDS = np.array([[int(x >= t) for x in range(6)] for t in range(7)])
INTERVALS = np.unique(
    [[int(a <= x < b) for x in range(6)] for a in range(7) for b in range(a, 7)], axis=0
)


def dichotomies_by_directions(X):
    """All labellings of planar points by half-planes, from a sweep of directions and offsets."""
    made = set()
    for angle in np.linspace(0, 2 * np.pi, 1441):
        s = X @ [np.cos(angle), np.sin(angle)]
        for cut in np.r_[s.min() - 1, s.max() + 1, (np.sort(s)[1:] + np.sort(s)[:-1]) / 2]:
            if np.abs(s - cut).min() > 1e-9:
                made.add(tuple((s > cut).astype(int)))
    return made


def test_erm_takes_the_least_share_of_errors():
    predictions = np.array([["a", "b", "a"], ["b", "b", "a"]])
    best = pac.erm(predictions, ["b", "b", "b"])
    assert best.risks.tolist() == [2 / 3, 1 / 3]
    assert (best.index, best.risk) == (1, 1 / 3)
    assert pac.erm([[0, 1], [1, 0]], [1, 1]).index == 0  # a tie


def test_finite_class_bound_and_sample_size_are_inverse():
    for size, eps, delta in ((1, 0.5, 0.5), (10, 0.1, 0.05), (10**9, 0.01, 1e-6)):
        n = pac.finite_class_sample_size(eps, delta, size)
        assert pac.finite_class_bound(n, delta, size) <= eps * (1 + 1e-9)
        assert n == 1 or pac.finite_class_bound(n - 1, delta, size) > eps
        assert pac.uniform_deviation_bound(n, eps / 2, size) <= delta * (1 + 1e-9)
        formula = math.sqrt(2 / n * math.log(2 * size / delta))
        assert pac.finite_class_bound(n, delta, size) == pytest.approx(formula, rel=1e-12)


@pytest.mark.parametrize(("family", "d"), [(THRESHOLDS, 1), (INTERVALS, 2)])
def test_known_vc_dimensions(family, d):
    assert pac.vc_dimension(family) == d
    for k in range(7):
        assert pac.growth_function(family, k) == pac.sauer_bound(k, d)


def test_vc_dimension_of_trivial_and_full_families():
    assert pac.vc_dimension([[0, 1, 0]]) == 0
    assert pac.vc_dimension(list(itertools.product((0, 1), repeat=3))) == 3
    assert pac.vc_dimension([[0, 0], [0, 0]]) == 0  # equal rows are one hypothesis


def test_shattering_and_patterns():
    assert pac.is_shattered(INTERVALS, [0, 3])
    assert not pac.is_shattered(INTERVALS, [0, 3, 5])
    assert [1, 0, 1] not in pac.patterns(INTERVALS, [0, 3, 5]).astype(int).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_linear_dichotomies_equal_a_sweep_of_directions(seed):
    X = np.random.default_rng(seed).standard_normal((5, 2))
    assert set(map(tuple, pac.linear_dichotomies(X))) == dichotomies_by_directions(X)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_linear_dichotomies_of_degenerate_points_equal_a_search_over_integers(seed, intercept):
    """Points of {-2, ..., 2}^2 repeat, lie on lines and at 0; w of least size is small."""
    X = np.random.default_rng(seed).integers(-2, 3, (5, 2))
    Z = np.column_stack([np.ones(5, dtype=int), X]) if intercept else X
    w = np.array(list(itertools.product(range(-20, 21), repeat=Z.shape[1])))
    expected = {tuple(t) for t in (w @ Z.T > 0).astype(int)}
    assert set(map(tuple, pac.linear_dichotomies(X, intercept=intercept))) == expected


@pytest.mark.parametrize(("n", "d"), [(3, 1), (4, 2), (5, 3), (6, 2)])
def test_linear_dichotomies_in_general_position_are_counted_by_cover(n, d):
    X = np.random.default_rng(n).standard_normal((n, d))
    count = 2 * sum(math.comb(n - 1, i) for i in range(d + 1))
    assert len(pac.linear_dichotomies(X)) == count
    strict = 2 * sum(math.comb(n - 1, i) for i in range(d))
    made = pac.linear_dichotomies(X, intercept=False)
    only_by_w_0 = not made.all(axis=1).any()  # without all ones, all zeros is made by w = 0 alone
    assert len(made) == strict + only_by_w_0


def test_sauer_bound_and_polynomial_bound():
    assert pac.sauer_bound(5, 9) == pac.sauer_bound(5, 10**9) == 32
    for d in range(1, 8):
        for n in range(d, 40):
            assert math.log(pac.sauer_bound(n, d)) <= pac.vc_log_growth(n, d) + 1e-12


def test_vc_bound_solves_its_equation():
    for n, d, delta in ((50, 1, 0.05), (500, 10, 0.01), (5, 10, 0.5)):
        eps = pac.vc_generalisation_bound(n, d, delta)
        log_left = math.log(4) + d * math.log(2 * math.e * n / d) - n * eps**2 / 8
        assert log_left == pytest.approx(math.log(delta), abs=1e-9)


def test_vc_sample_size_is_the_first_that_suffices():
    for eps, delta, d in ((0.1, 0.05, 1), (0.5, 0.5, 30), (0.999, 0.9, 7), (0.01, 1e-6, 3)):
        n = pac.vc_sample_size(eps, delta, d)
        assert pac.vc_generalisation_bound(n, d, delta) <= eps
        assert pac.vc_generalisation_bound(n - 1, d, delta) > eps


def test_a_growth_search_that_stops_at_the_wrong_size_would_be_seen():
    # One shattered set is enough: here only the last two points are shattered.
    family = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    assert pac.vc_dimension(family) == 2
    assert pac.growth_function(family, 2) == 4
    assert not pac.is_shattered(family, [0, 1])


def test_a_family_of_dimension_four_whose_first_point_shatters_nothing():
    family = [(0, *b, sum(b) % 2) for b in itertools.product((0, 1), repeat=4)]
    assert pac.vc_dimension(family) == 4
    assert [pac.growth_function(family, k) for k in range(7)] == [1, 2, 4, 8, 16, 16, 16]


@pytest.mark.parametrize("n", [1, 40, 1000])
def test_the_uniform_deviation_bound_depends_on_n(n):
    expected = 14 * math.exp(-2 * n * 0.3**2)
    assert pac.uniform_deviation_bound(n, 0.3, 7) == pytest.approx(expected, rel=1e-12, abs=0)


def test_one_frequency_memorises_any_labels():
    x = 10.0 ** -np.arange(1, 9)
    for y in itertools.product((0, 1), repeat=8):
        assert ((np.sin(pac.sine_frequency(y) * x) > 0) == np.array(y, dtype=bool)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pac.erm([[0, 1]], [0]), "one column for each of the 1 labels"),
        (lambda: pac.erm([[]], []), "y must be a vector with at least one label"),
        (lambda: pac.erm([0, 1], [0, 1]), "one row per hypothesis"),
        (lambda: pac.erm(np.empty((0, 2)), [0, 1]), "at least one"),
        (lambda: pac.erm([[0, 1]], [0, np.nan]), "y contains NaN"),
        (lambda: pac.finite_class_bound(10, 0.0, 5), "delta must be a number in \\(0, 1\\)"),
        (lambda: pac.finite_class_bound(0, 0.1, 5), "n must be an integer"),
        (lambda: pac.finite_class_bound(10, 0.1, 0), "size must be an integer"),
        (
            lambda: pac.finite_class_sample_size(1.0, 0.1, 5),
            "epsilon must be a number in \\(0, 1\\)",
        ),
        (lambda: pac.finite_class_sample_size(1e-300, 0.1, 5), "epsilon is too small"),
        (lambda: pac.vc_sample_size(1e-300, 0.1, 5), "epsilon is too small"),
        (lambda: pac.is_shattered(THRESHOLDS, [0, 6]), "whole numbers from 0 to 5"),
        (lambda: pac.patterns(THRESHOLDS, [-1]), "whole numbers from 0 to 5"),
        (lambda: pac.is_shattered(THRESHOLDS, "all"), "points must list columns"),
        (lambda: pac.uniform_deviation_bound(10, -1.0, 5), "epsilon must be a number"),
        (lambda: pac.vc_dimension([[0, 2]]), "family must hold only 0 and 1"),
        (lambda: pac.vc_dimension(np.empty((0, 3))), "0 sample"),
        (lambda: pac.growth_function(THRESHOLDS, 7), "k must be an integer in"),
        (lambda: pac.linear_dichotomies(np.zeros((17, 1))), "at most 16 rows"),
        (lambda: pac.linear_dichotomies([[np.nan]]), "contains NaN"),
        (lambda: pac.sauer_bound(-1, 2), "n must be an integer"),
        (lambda: pac.vc_generalisation_bound(4, 10, 0.1), "n must be at least d = 10"),
        (lambda: pac.vc_generalisation_bound(40, 0, 0.1), "d must be an integer"),
        (lambda: pac.vc_generalisation_bound(40, 2, 1.0), "delta must be a number"),
        (lambda: pac.vc_sample_size(0.0, 0.1, 2), "epsilon must be a number"),
        (lambda: pac.vc_sample_size(0.1, 1.0, 2), "delta must be a number"),
        (lambda: pac.vc_sample_size(0.1, 0.1, 0), "d must be an integer"),
        (lambda: pac.sine_frequency([0, 2]), "each 0 or 1"),
        (lambda: pac.sine_frequency([0] * 13), "1 to 12 labels"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("offset", [1e8, 1e12])
def test_dichotomies_do_not_mind_where_the_origin_is(offset):
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert len(pac.linear_dichotomies(square + offset)) == 14
