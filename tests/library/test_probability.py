"""The probability module: behaviour of each public function, its errors and edge cases."""

import itertools
from fractions import Fraction as F

import numpy as np
import pytest
import sympy
from scipy.stats import dirichlet

from mllib.course.datasets import berkeley
from mllib.probability import (
    FiniteSpace,
    bayes,
    bernoulli_log_pmf,
    bernoulli_moments,
    bernoulli_sample,
    categorical_log_pmf,
    categorical_moments,
    categorical_sample,
    chain_rule,
    conditional,
    covariance,
    dirichlet_log_density,
    dirichlet_moments,
    dirichlet_sample,
    entropy,
    expectation,
    gaussian_conditional,
    gaussian_entropy,
    gaussian_log_density,
    gaussian_marginal,
    gaussian_pdf,
    gaussian_product,
    gaussian_sample,
    is_conditionally_independent,
    isotropic_log_density,
    kl_divergence,
    marginal,
    precision,
    variance,
)

WEIGHTS = {"a": F(1, 12), "b": F(5, 12), "c": 0, "d": F(1, 4), "e": "0.25"}
NUMERATORS = {"a": 1, "b": 5, "c": 0, "d": 3, "e": 3}  # of twelve


def fractions(table):
    """Return an integer table as an array of exact fractions that sum to one."""
    total = int(np.sum(table))
    return np.vectorize(lambda v: F(int(v), total), otypes=[object])(table)


def random_table(seed, shape=(2, 3, 2)):
    return fractions(np.random.default_rng(seed).integers(1, 20, shape))


def random_gaussian(seed, d):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((d, d))
    return rng.standard_normal(d), A @ A.T + 0.3 * np.eye(d)


# Finite spaces -------------------------------------------------------------------------------


def test_probabilities_of_all_events_are_sums_of_numerators():
    space = FiniteSpace(WEIGHTS)
    events = list(space.events())
    assert len(set(events)) == len(events) == 32
    for A in events:
        assert space.prob(A) == F(sum(NUMERATORS[w] for w in A), 12)


def test_conditional_probabilities_of_all_pairs_are_ratios_of_numerators():
    space = FiniteSpace(WEIGHTS)

    def count(A):
        return sum(NUMERATORS[w] for w in A)

    for A, B in itertools.product(space.events(), repeat=2):
        if count(B):
            assert space.conditional(A, B) == F(count(A & B), count(B))
            assert space.given(B).prob(A & B) == F(count(A & B), count(B))


def test_an_event_may_be_a_function():
    die = FiniteSpace.uniform(range(1, 7))
    assert die.prob(lambda face: face % 2 == 0) == F(1, 2)
    assert die.event(lambda face: face > 4) == {5, 6}


def test_independence_of_several_events_looks_at_every_collection():
    coins = FiniteSpace.uniform(itertools.product([0, 1], repeat=2))
    first, second, equal = (lambda w: w[0] == 1), (lambda w: w[1] == 1), (lambda w: w[0] == w[1])
    for pair in itertools.combinations((first, second, equal), 2):
        assert coins.independent(*pair)
    assert not coins.independent(first, second, equal)


def test_triple_products_alone_do_not_make_independence():
    eight = FiniteSpace.uniform(range(8))
    A, B, C = {0, 1, 2, 3}, {0, 1, 2, 4}, {0, 5, 6, 7}
    assert eight.prob(A & B & C) == eight.prob(A) * eight.prob(B) * eight.prob(C)
    assert not eight.independent(A, B, C)


def test_law_and_expectation_of_a_variable():
    dice = FiniteSpace.uniform(itertools.product(range(1, 7), repeat=2))
    law = dice.law(sum)
    assert law.prob({7}) == F(1, 6)
    assert [law.weights[s] * 36 for s in range(2, 13)] == [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]
    assert dice.expectation(sum) == 7 == law.expectation(lambda s: s)


def test_counts_become_relative_frequencies():
    table = berkeley()
    space = FiniteSpace.from_counts(dict(zip(map(tuple, table.X.tolist()), table.y.tolist())))
    man, woman, admitted = (lambda w: w[1] == 0), (lambda w: w[1] == 1), (lambda w: w[2] == 1)
    assert space.conditional(admitted, man) == F(1198, 2691)
    assert space.conditional(admitted, woman) == F(557, 1835)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"a": 0.5, "b": 0.5}, "weight of 'a' must be exact, got 0.5"),
        ({"a": True}, "must be exact, got True"),
        ({"a": "half", "b": "0.5"}, "must be a fraction such as '1/3', got 'half'"),
        ({"a": "1/0"}, "must be a fraction such as"),
        ({"a": F(3, 2), "b": F(-1, 2)}, "must not be negative, that of 'b' is -1/2"),
        ({"a": F(1, 2), "b": F(1, 3)}, "must sum to one, got 5/6"),
        ({}, "non-empty dictionary"),
        ([0.5, 0.5], "non-empty dictionary"),
    ],
)
def test_bad_weights_are_refused_with_one_sentence(weights, message):
    with pytest.raises(ValueError, match=message):
        FiniteSpace(weights)


def test_bad_events_are_refused_with_one_sentence():
    space = FiniteSpace(WEIGHTS)
    with pytest.raises(ValueError, match="event holds 'z', which the space does not have"):
        space.prob({"a", "z"})
    with pytest.raises(ValueError, match="given must have positive probability"):
        space.conditional({"a"}, {"c"})
    with pytest.raises(ValueError, match="given must have positive probability"):
        space.given(lambda w: w == "c")
    with pytest.raises(ValueError, match="at least 2 events"):
        space.independent({"a"})
    with pytest.raises(ValueError, match="counts must have a positive sum"):
        FiniteSpace.from_counts({"a": 0})
    with pytest.raises(ValueError, match="counts must be a dictionary"):
        FiniteSpace.from_counts([1, 2])
    with pytest.raises(ValueError, match="outcomes must be a collection of labels"):
        FiniteSpace.uniform(6)
    with pytest.raises(ValueError, match="event must be a set of outcomes, or a function"):
        space.prob(3)
    for method in (space.law, space.expectation):
        with pytest.raises(ValueError, match="X must be a function"):
            method({"a": 1})


# Joint tables --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_marginals_in_every_order_equal_sums_written_out(seed):
    joint = random_table(seed)
    for size in (1, 2, 3):
        for keep in itertools.permutations(range(3), size):
            expected = np.full([joint.shape[a] for a in keep], F(0), dtype=object)
            for index, p in np.ndenumerate(joint):
                expected[tuple(index[a] for a in keep)] += p
            assert (marginal(joint, keep) == expected).all()
    assert marginal(joint, ()) == 1


def test_marginal_of_floats_and_of_fractions_agree():
    joint = random_table(4)
    np.testing.assert_allclose(
        marginal(joint.astype(float), (2, 0)), marginal(joint, (2, 0)).astype(float), rtol=1e-15
    )


def test_conditional_tables_are_ratios_and_sum_to_one():
    joint = random_table(5)
    table = conditional(joint, (0, 2))
    assert (table.sum(axis=1) == 1).all()
    for (i, j, k), p in np.ndenumerate(joint):
        assert table[i, j, k] == p / sum(joint[i, :, k])


def test_conditional_on_nothing_is_the_joint_table():
    joint = random_table(6)
    assert (conditional(joint, ()) == joint).all()


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_chain_rule_multiplies_to_the_joint_table_in_every_order(order):
    joint = random_table(7)
    factors = chain_rule(joint, order)
    assert (np.prod(np.broadcast_arrays(*factors), axis=0) == joint).all()
    for k, factor in enumerate(factors):
        assert all(factor.shape[a] == 1 for a in order[k + 1 :])


def test_bayes_reverses_a_conditional_table_exactly():
    joint = random_table(8, (3, 4))
    prior = marginal(joint, 0)
    posterior, evidence = bayes(prior, conditional(joint, 0))
    assert (posterior == conditional(joint, 1)).all()
    assert (evidence == marginal(joint, 1)).all()


def test_bayes_takes_densities_and_single_observations():
    posterior, evidence = bayes([0.5, 0.5], [4.0, 12.0])
    assert posterior.tolist() == [0.25, 0.75]
    assert evidence == 8.0
    exact = bayes([F(1, 5), F(4, 5)], [F(1, 2), F(1, 10)])
    assert (exact.posterior.tolist(), exact.evidence) == ([F(5, 9), F(4, 9)], F(9, 50))


def test_conditional_independence_of_a_chain_and_dependence_without_the_middle():
    start, step = np.array([F(1, 3), F(2, 3)]), np.array([[F(1, 4), F(3, 4)], [F(1, 2), F(1, 2)]])
    chain = start[:, None, None] * step[:, :, None] * step[None]
    assert is_conditionally_independent(chain, 0, 2, 1)
    assert not is_conditionally_independent(chain, 0, 2)
    assert not is_conditionally_independent(chain, 0, 1, 2)
    assert is_conditionally_independent(chain.astype(float), 0, 2, 1)
    assert not is_conditionally_independent(chain.astype(float), 0, 2)


def test_groups_of_variables_and_impossible_values():
    p, q = random_table(9, (2, 3)), random_table(10, (2, 2))
    product = p[:, :, None, None] * q
    assert is_conditionally_independent(product, (0, 1), (3, 2))
    assert not is_conditionally_independent(product, (0, 2), 1)
    impossible = np.array([[[F(1, 4), F(0)], [F(1, 4), F(0)]], [[F(1, 4), F(0)], [F(1, 4), F(0)]]])
    assert is_conditionally_independent(impossible, 0, 1, 2)


def test_rounding_counts_as_independence_up_to_a_tolerance():
    nearly = 0.25 + 1e-6 * np.array([[1, -1], [-1, 1]])
    assert is_conditionally_independent(nearly, 0, 1, tol=1e-5)
    assert not is_conditionally_independent(nearly, 0, 1)  # the default is 1e-10
    one_corner = np.full((3, 3), 1 / 9)
    one_corner[:2, :2] += 1e-6 * np.array([[1, -1], [-1, 1]])
    assert is_conditionally_independent(one_corner, 0, 1, tol=1.01e-6)
    assert not is_conditionally_independent(one_corner, 0, 1, tol=0.99e-6)  # the largest counts


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: marginal([[0.5, 0.4]], 0), "joint must sum to one, got a sum of 0.9"),
        (lambda: marginal([[F(1, 2), F(1, 3)]], 0), "joint must sum to one, got a sum of 5/6"),
        (lambda: marginal([[F(3, 2), F(-1, 2)]], 0), "joint must not be negative"),
        (lambda: marginal([[1.5, -0.5]], 0), "joint must not be negative"),
        (lambda: marginal([[np.nan, 0.5]], 0), "joint contains NaN"),
        (lambda: marginal(1.0, 0), "joint must have at least one entry"),
        (lambda: marginal([[0.5, 0.5]], 2), "keep must name different axes from 0 to 1, got"),
        (lambda: marginal([[0.5, 0.5]], (0, 0)), "keep must name different axes"),
        (lambda: marginal([[0.5, 0.5]], -1), "keep must name different axes"),
        (lambda: marginal([[0.5, 0.5]], None), "keep must name different axes"),
        (lambda: marginal([[0.5, 0.25], [0.25]], 0), "joint must be an array: give all its rows"),
        (lambda: conditional([[0.5, 0.0], [0.5, 0.0]], 1), "gives probability 0 to some value"),
        (lambda: chain_rule([[0.5, 0.5]], (0,)), "order must name all 2 variables"),
        (lambda: chain_rule([[0.5, 0.5]], (0, 2)), "order must name different axes"),
        (lambda: bayes([0.5, 0.6], [1, 1]), "prior must sum to one"),
        (lambda: bayes([0.5, 0.5], [1, 1, 1]), "likelihood must have one row for each"),
        (lambda: bayes([0.5, 0.5], [-1, 1]), "likelihood must not be negative"),
        (lambda: bayes([0.5, 0.5], [0, 0]), "likelihood contradicts the prior"),
        (lambda: bayes([0.5, 0.5], [np.inf, 0]), "likelihood contains infinity"),
        (lambda: is_conditionally_independent([[0.5, 0.5]], 0, 0), "x, y and given together"),
    ],
)
def test_bad_tables_are_refused_with_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Moments -------------------------------------------------------------------------------------


def test_moments_are_exact_for_fractions():
    x, p = [F(0), F(1), F(3)], [F(1, 2), F(1, 3), F(1, 6)]
    assert expectation(x, p) == F(5, 6)
    assert variance(x, p) == F(11, 6) - F(25, 36)
    assert covariance(x, [F(1), F(0), F(1)], p) == F(1, 2) - F(5, 6) * F(2, 3)


def test_moments_of_a_sample_are_those_of_numpy():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 50)) + 1e6
    assert expectation(x) == pytest.approx(np.mean(x), rel=1e-14)
    assert variance(x) == pytest.approx(np.var(x), rel=1e-9)
    assert covariance(x, y) == pytest.approx(np.cov(x, y, ddof=0)[0, 1], rel=1e-9)


def test_variance_does_not_cancel_far_from_zero():
    x = 1e9 + np.array([0.0, 1.0, 2.0])
    assert variance(x) == pytest.approx(2 / 3, rel=1e-6)
    assert abs(np.mean(x**2) - np.mean(x) ** 2 - 2 / 3) > 0.5  # off by the whole of it


def test_bad_values_and_weights_are_refused():
    with pytest.raises(ValueError, match="p must have one entry for each of the 2 values"):
        expectation([1, 2], [1.0])
    with pytest.raises(ValueError, match="p must sum to one"):
        variance([1, 2], [0.5, 0.6])
    with pytest.raises(ValueError, match="y must have as many entries as x"):
        covariance([1, 2], [1])
    with pytest.raises(ValueError, match="at least one entry"):
        expectation([])
    with pytest.raises(ValueError, match="x contains NaN"):
        variance([1, np.nan])


# Entropy -------------------------------------------------------------------------------------


def test_entropy_by_hand():
    assert entropy([0.5, 0.25, 0.25]) == pytest.approx(1.5 * np.log(2), rel=1e-15)
    assert entropy([0, 1, 0]) == 0
    assert entropy([[0.25] * 4, [1, 0, 0, 0]]) == pytest.approx([np.log(4), 0])


def test_divergence_by_hand():
    assert kl_divergence([0.5, 0.5], [0.25, 0.75]) == pytest.approx(0.5 * np.log(4 / 3))
    assert kl_divergence([0.5, 0.5], [1, 0]) == np.inf
    assert kl_divergence([1, 0], [0.5, 0.5]) == pytest.approx(np.log(2))
    assert kl_divergence([0.3, 0.7], [0.3, 0.7]) == 0
    rows = [[0.5, 0.5], [0.1, 0.9]]
    assert kl_divergence(rows, rows).tolist() == [0, 0]


@pytest.mark.parametrize(("p", "gap"), [(2**-3, 2**-k) for k in range(4, 50)] + [(1e-20, 1e-20)])
def test_divergence_of_laws_near_each_other_keeps_its_digits(p, gap):
    a, b = sympy.Rational(p), sympy.Rational(p + gap)
    for r, s in ((a, b), (b, a)):
        want = r * sympy.log(r / s) + (1 - r) * sympy.log((1 - r) / (1 - s))
        laws = [[float(v), 1 - float(v)] for v in (r, s)]
        assert kl_divergence(*laws) == pytest.approx(float(want.evalf(60)), rel=1e-13)


def test_divergence_and_entropy_refuse_what_is_no_distribution():
    with pytest.raises(ValueError, match="p must sum to one"):
        entropy([0.5, 0.4])
    with pytest.raises(ValueError, match="p must be an array: give all its rows one length"):
        entropy([[0.5, 0.5], [1.0]])
    with pytest.raises(ValueError, match="q must not be negative"):
        kl_divergence([1.5, -0.5], [0.5, 0.5])
    with pytest.raises(ValueError, match="q and p must have one shape"):
        kl_divergence([1.0], [0.5, 0.5])


# Gaussians -----------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 5])
def test_log_density_is_the_formula_with_inverse_and_determinant(d):
    mean, cov = random_gaussian(d, d)
    X = np.random.default_rng(d).standard_normal((7, d))
    quadratic = np.einsum("ij,jk,ik->i", X - mean, np.linalg.inv(cov), X - mean)
    expected = -0.5 * (quadratic + np.log(np.linalg.det(2 * np.pi * cov)))
    np.testing.assert_allclose(gaussian_log_density(X, mean, cov), expected, rtol=1e-10)
    assert gaussian_log_density(X[0], mean, cov) == pytest.approx(expected[0], rel=1e-10)


def test_log_density_stays_finite_where_the_determinant_underflows():
    cov = 1e-3 * np.eye(400)
    assert np.linalg.det(cov) == 0
    expected = -200 * np.log(2 * np.pi * 1e-3)
    assert gaussian_log_density(np.zeros(400), np.zeros(400), cov) == pytest.approx(expected)


def test_isotropic_density_is_a_product_of_coordinates():
    X = np.random.default_rng(1).standard_normal((6, 3))
    mean = np.array([1.0, -2.0, 0.5])
    assert gaussian_pdf(X, 0, 1.0).shape == X.shape
    by_coordinates = sum(np.log(gaussian_pdf(X[:, j] - mean[j], 0, 2.5)) for j in range(3))
    np.testing.assert_allclose(isotropic_log_density(X, mean, 2.5), by_coordinates, rtol=1e-12)
    np.testing.assert_allclose(
        gaussian_log_density(X, mean, 2.5 * np.eye(3)), by_coordinates, rtol=1e-12
    )


def test_precision_of_a_number_and_of_a_matrix():
    _, cov = random_gaussian(2, 4)
    np.testing.assert_allclose(precision(cov) @ cov, np.eye(4), atol=1e-12)
    assert np.array_equal(precision(cov), precision(cov).T)
    assert precision(0.5) == 2.0


def test_marginal_picks_rows_in_the_order_asked_for():
    mean, cov = random_gaussian(3, 4)
    part = gaussian_marginal(mean, cov, (3, 1))
    assert part.mean.tolist() == [mean[3], mean[1]]
    assert part.cov.tolist() == [[cov[3, 3], cov[3, 1]], [cov[1, 3], cov[1, 1]]]


@pytest.mark.parametrize("given", [(0,), (2, 0), (1, 3, 2)])
def test_conditional_times_marginal_is_the_joint_density(given):
    mean, cov = random_gaussian(4, 4)
    rest = [j for j in range(4) if j not in given]
    for x in np.random.default_rng(5).standard_normal((5, 4)):
        over_rest = gaussian_conditional(mean, cov, given, x[list(given)])
        log_b = gaussian_log_density(x[list(given)], *gaussian_marginal(mean, cov, given))
        log_a = gaussian_log_density(x[rest], *over_rest)
        assert log_a + log_b == pytest.approx(gaussian_log_density(x, mean, cov), rel=1e-10)


def test_conditional_covariance_is_the_inverse_of_a_block_of_the_precision():
    mean, cov = random_gaussian(6, 5)
    block = np.linalg.inv(cov)[np.ix_([0, 2, 4], [0, 2, 4])]
    over_rest = gaussian_conditional(mean, cov, (1, 3), [0.0, 1.0])
    np.testing.assert_allclose(over_rest.cov, np.linalg.inv(block), rtol=1e-9)


def test_many_values_at_once():
    mean, cov = random_gaussian(7, 3)
    values = np.random.default_rng(8).standard_normal((6, 2))
    together = gaussian_conditional(mean, cov, (0, 2), values)
    assert together.mean.shape == (6, 1)
    for row, mu in zip(values, together.mean):
        np.testing.assert_allclose(gaussian_conditional(mean, cov, (0, 2), row).mean, mu)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_product_equals_both_densities_multiplied(d):
    (m1, S1), (m2, S2) = random_gaussian(9, d), random_gaussian(10, d)
    m, S, log_constant = gaussian_product(m1, S1, m2, S2)
    X = np.random.default_rng(11).standard_normal((9, d))
    both = gaussian_log_density(X, m1, S1) + gaussian_log_density(X, m2, S2)
    np.testing.assert_allclose(log_constant + gaussian_log_density(X, m, S), both, rtol=1e-10)
    Lambda = np.linalg.inv(S1) + np.linalg.inv(S2)
    np.testing.assert_allclose(S, np.linalg.inv(Lambda), rtol=1e-9)
    swapped = gaussian_product(m2, S2, m1, S1)
    np.testing.assert_allclose(swapped.mean, m, rtol=1e-9)


def test_entropy_of_a_gaussian_may_be_negative():
    assert gaussian_entropy([[1.0]]) == pytest.approx(0.5 * np.log(2 * np.pi * np.e))
    assert gaussian_entropy([[0.01]]) < 0
    _, cov = random_gaussian(12, 3)
    expected = 0.5 * np.log(np.linalg.det(2 * np.pi * np.e * cov))
    assert gaussian_entropy(cov) == pytest.approx(expected, rel=1e-12)


def test_gaussian_sample_has_the_moments_asked_for():
    mean, cov = random_gaussian(13, 3)
    X = gaussian_sample(mean, cov, 200_000, np.random.default_rng(0))
    assert np.abs(X.mean(axis=0) - mean).max() < 6 * np.sqrt(cov.max() / len(X))
    np.testing.assert_allclose(np.cov(X.T), cov, atol=6 * cov.max() * np.sqrt(2 / len(X)))


SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
BAD_COVARIANCES = [
    (SINGULAR, "must be positive definite, its smallest eigenvalue is"),
    ([[1.0, 2.0], [2.0, 1.0]], "must be positive definite, its smallest eigenvalue is -1"),
    ([[1.0, 0.5], [0.4, 1.0]], "must be symmetric; symmetrise it first"),
    ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], r"must be of shape \(2, 2\), got shape \(2, 3\)"),
    ([[1.0]], r"must be of shape \(2, 2\), got shape \(1, 1\)"),
    ([[np.nan, 0.0], [0.0, 1.0]], "contains NaN"),
    ([[0.0, 0.0], [0.0, 0.0]], "must be positive definite"),
]


@pytest.mark.parametrize(("cov", "message"), BAD_COVARIANCES)
def test_bad_covariances_are_refused_with_one_sentence(cov, message):
    good = np.eye(2)
    calls = [
        lambda: gaussian_log_density([0.0, 0.0], [0.0, 0.0], cov),
        lambda: gaussian_marginal([0.0, 0.0], cov, 0),
        lambda: gaussian_conditional([0.0, 0.0], cov, 0, 1.0),
        lambda: gaussian_product([0.0, 0.0], good, [0.0, 0.0], cov),
        lambda: gaussian_product([0.0, 0.0], cov, [0.0, 0.0], good),
        lambda: gaussian_sample([0.0, 0.0], cov, 3, np.random.default_rng(0)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message) as error:
            call()
        assert "\n" not in str(error.value)


def test_a_refused_covariance_is_named():
    with pytest.raises(ValueError, match=r"^cov must be positive definite"):
        gaussian_log_density([0.0, 0.0], [0.0, 0.0], SINGULAR)
    with pytest.raises(ValueError, match=r"^S2 must be positive definite"):
        gaussian_product([0.0, 0.0], np.eye(2), [0.0, 0.0], SINGULAR)


def test_singular_covariances_are_found_whatever_the_units():
    rng = np.random.default_rng(14)
    for scales in ([1, 1, 1], [1e-8, 1, 1e8], [1e8, 1e-8, 1]):
        A = rng.standard_normal((3, 2))
        cov = (A @ A.T) * np.outer(scales, scales)
        with pytest.raises(ValueError, match="cov must be positive definite"):
            precision((cov + cov.T) / 2)
    assert precision(np.diag([1e-20, 1e20]))[0, 0] == pytest.approx(1e20)


@pytest.mark.parametrize(
    ("middle", "ulps", "said"), [(1e-3, 2, "is 0:"), (1.0, 4, "is -8.88e-16:")]
)
def test_what_rounding_can_make_of_a_zero_is_called_zero(middle, ulps, said):
    cov = np.diag([1.0, middle, -ulps * np.finfo(float).eps])  # up to d eps |largest|, d = 3
    with pytest.raises(ValueError, match=said):
        precision(cov)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian_log_density([[1.0]], [0, 0], np.eye(2)), "X must have 2 columns"),
        (lambda: gaussian_conditional([0, 0], np.eye(2), (0, 1), [1, 2]), "not all of them"),
        (lambda: gaussian_conditional([0, 0], np.eye(2), (), []), "at least one coordinate"),
        (lambda: gaussian_conditional([0, 0], np.eye(2), 0, [1, 2]), "values must have 1 columns"),
        (lambda: gaussian_conditional([0, 0], np.eye(2), 0, np.nan), "values contains NaN"),
        (lambda: gaussian_conditional([0, 0], np.eye(2), 2, 1), "given must name different axes"),
        (lambda: gaussian_marginal([0, 0], np.eye(2), ()), "keep must name at least one"),
        (lambda: gaussian_product([0, 0], np.eye(2), [0], [[1]]), "m2 must have 2 entries"),
        (lambda: gaussian_pdf(0.0, 0.0, 0.0), "sigma2 must be a number in"),
        (lambda: gaussian_pdf(0.0, np.inf, 1.0), "mu must be a number in"),
        (lambda: isotropic_log_density([0.0], [0.0], -1.0), "tau2 must be a number in"),
        (lambda: precision(0.0), "cov must be a number in"),
        (lambda: gaussian_sample([0.0], [[1.0]], 0, None), "n must be an integer in"),
        (lambda: gaussian_sample([0.0], [[1.0]], 1, None), "rng must be a numpy.random.Generator"),
    ],
)
def test_bad_gaussian_arguments_are_refused_with_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_functions_leave_their_arguments_alone():
    mean, cov = random_gaussian(15, 3)
    before = mean.copy(), cov.copy()
    gaussian_conditional(mean, cov, 0, 1.0)
    gaussian_product(mean, cov, mean, cov)
    part = gaussian_marginal(mean, cov, (0, 1, 2))
    part.cov[0, 0] = 7
    assert np.array_equal(mean, before[0])
    assert np.array_equal(cov, before[1])


# Bernoulli, categorical, Dirichlet -----------------------------------------------------------


def test_bernoulli_at_both_ends_gives_no_nan():
    assert np.exp(bernoulli_log_pmf([0, 1], 0.3)) == pytest.approx([0.7, 0.3])
    assert bernoulli_log_pmf(1, 0) == -np.inf
    assert bernoulli_log_pmf(0, 0) == 0
    assert bernoulli_log_pmf([0, 1], F(1, 4)) == pytest.approx(np.log([0.75, 0.25]))


def test_categorical_puts_p_k_on_e_k_and_agrees_with_bernoulli():
    p = np.array([0.5, 0.3, 0.2, 0.0])
    assert np.exp(categorical_log_pmf(np.eye(4), p)).tolist() == pytest.approx(p.tolist())
    coin = categorical_log_pmf(np.eye(2), [0.7, 0.3])
    assert coin == pytest.approx(bernoulli_log_pmf([0, 1], 0.3))


def test_moments_equal_sums_over_the_values():
    p = np.array([0.5, 0.3, 0.2])
    mean, cov = categorical_moments(p)
    E = np.eye(3)
    np.testing.assert_allclose(mean, sum(w * e for w, e in zip(p, E)))
    np.testing.assert_allclose(
        cov, sum(w * np.outer(e - mean, e - mean) for w, e in zip(p, E)), atol=1e-15
    )
    assert bernoulli_moments(0.3).cov[0, 0] == pytest.approx(0.3 * 0.49 + 0.7 * 0.09)


def test_dirichlet_moments_equal_exact_integrals():
    p = sympy.symbols("p", positive=True)
    for a, b in [(2, 3), (sympy.Rational(3, 2), 4)]:
        density = p ** (a - 1) * (1 - p) ** (b - 1)
        total = sympy.integrate(density, (p, 0, 1))
        mean = sympy.integrate(p * density, (p, 0, 1)) / total
        second = sympy.integrate(p**2 * density, (p, 0, 1)) / total
        m, cov = dirichlet_moments([float(a), float(b)])
        assert m[0] == pytest.approx(float(mean), rel=1e-12)
        assert cov[0, 0] == pytest.approx(float(second - mean**2), rel=1e-12)
        assert cov[0, 1] == pytest.approx(-cov[0, 0])


def test_dirichlet_density_on_the_faces():
    assert dirichlet_log_density([0.0, 1.0], [2.0, 1.0]) == -np.inf
    assert dirichlet_log_density([0.0, 1.0], [1.0, 1.0]) == 0.0
    with pytest.raises(ValueError, match="the density is infinite there"):
        dirichlet_log_density([0.0, 1.0], [0.5, 1.0])


def test_dirichlet_samples_have_the_moments_and_survive_tiny_alpha():
    alpha, n = np.array([0.5, 2.0, 4.0]), 100_000
    P = dirichlet_sample(alpha, n, np.random.default_rng(1))
    m, cov = dirichlet_moments(alpha)
    assert np.abs(P.mean(axis=0) - m).max() < 6 * np.sqrt(cov.max() / n)
    tiny = dirichlet_sample([1e-6, 1e-6, 1e-6], 200, np.random.default_rng(2))
    assert np.isfinite(tiny).all()
    np.testing.assert_allclose(tiny.sum(axis=1), 1, rtol=1e-12)
    corners = dirichlet_sample(np.full(3, 1e-4), 1000, np.random.default_rng(5))
    assert np.abs(corners.mean(axis=0) - 1 / 3).max() < 0.08  # 5 standard errors


def test_samples_follow_their_probabilities_and_never_draw_the_impossible():
    n, rng = 100_000, np.random.default_rng(3)
    assert abs(bernoulli_sample(0.3, n, rng).mean() - 0.3) < 6 * np.sqrt(0.21 / n)
    p = np.array([0.0, 0.6, 0.0, 0.4, 0.0])
    share = np.bincount(categorical_sample(p, n, rng), minlength=5) / n
    assert np.abs(share - p).max() < 6 * np.sqrt(0.24 / n)
    assert (share[p == 0] == 0).all()
    assert bernoulli_sample(0.0, 10, rng).tolist() == [0] * 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bernoulli_log_pmf(2, 0.5), "x must hold whole numbers from 0 to 1"),
        (lambda: bernoulli_log_pmf(0.5, 0.5), "x must hold whole numbers from 0 to 1"),
        (lambda: bernoulli_log_pmf(1, 1.5), r"p must be a number in \[0, 1\]"),
        (lambda: categorical_log_pmf([1, 1], [0.5, 0.5]), "x must be one-of-2 vectors"),
        (lambda: categorical_log_pmf([1, 0, 0], [0.5, 0.5]), "x must be one-of-2 vectors"),
        (lambda: categorical_log_pmf([1, 0], [0.5, 0.6]), "p must sum to one"),
        (lambda: categorical_moments([[1.0]]), "p must be one distribution"),
        (lambda: dirichlet_log_density([0.5, 0.5], [1.0, 0.0]), "alpha must hold at least 2"),
        (lambda: dirichlet_log_density([0.5, 0.5], [1, 1, 1]), "p must have 3 columns"),
        (lambda: dirichlet_log_density([0.5, 0.6], [1, 1]), "p must sum to one"),
        (lambda: dirichlet_moments([1.0]), "alpha must hold at least 2 entries"),
        (lambda: dirichlet_sample([1.0, np.inf], 1, None), "alpha contains infinity"),
        (lambda: dirichlet_sample([1.0, 2.0], 1, 0), "rng must be a numpy.random.Generator"),
        (lambda: categorical_sample([1.0], 1, 0), "rng must be a numpy.random.Generator"),
        (lambda: bernoulli_sample(0.5, 1, 0), "rng must be a numpy.random.Generator"),
    ],
)
def test_bad_discrete_arguments_are_refused_with_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_variants_are_told_apart():
    (m1, S1), (m2, S2) = random_gaussian(20, 2), random_gaussian(17, 2)
    over = gaussian_conditional(m1, S1, 0, 0.3)
    assert abs(over.cov[0, 0] - S1[1, 1]) > 1e-3  # forgetting the Schur complement
    assert abs(over.mean[0] - (m1[1] - S1[1, 0] / S1[0, 0] * (0.3 - m1[0]))) > 1e-3  # wrong sign
    m, S, _ = gaussian_product(m1, S1, m2, S2)
    assert np.abs(S - (S1 + S2)).max() > 1e-3  # adding covariances instead of precisions
    assert np.abs(m - (m1 + m2) / 2).max() > 1e-3  # not weighting by precision


def test_numbers_beyond_the_policy_are_refused_or_do_not_matter():
    with np.errstate(all="raise", under="ignore"):
        assert gaussian_pdf(1e200, 0.0, 1.0) == 0.0
        with pytest.raises(ValueError, match="between 1e-150 and 1e150"):
            variance([0.0, 1e200])


@pytest.mark.parametrize(("gap", "independent"), [(2e-11, True), (8e-11, True), (2e-10, False)])
def test_a_gap_of_a_tenth_of_a_billionth_counts_as_rounding(gap, independent):
    assert (
        is_conditionally_independent(
            np.full((2, 2), 0.25) + gap * np.array([[1, -1], [-1, 1]]), 0, 1
        )
        is independent
    )


def test_the_dirichlet_density_of_three_and_four_categories_is_scipys():
    rng = np.random.default_rng(0)
    for alpha in ([0.5, 2.0, 4.5], [3.0, 1.0, 0.2, 7.0]):
        P = rng.dirichlet(np.ones(len(alpha)), size=5)
        expected = [dirichlet.logpdf(p, alpha) for p in P]
        assert dirichlet_log_density(P, alpha) == pytest.approx(expected)


def test_the_smallest_eigenvalue_of_a_singular_covariance_is_told_as_zero():
    for cov, told in ((np.ones((3, 3)), "0"), (np.diag([1.0, 1.0, -1e-3]), "-0.001")):
        with pytest.raises(ValueError, match=f"its smallest eigenvalue is {told}:"):
            gaussian_log_density(np.zeros(3), np.zeros(3), cov)
