"""The decision theory module: behaviour of each public function, its errors and edge cases."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from mllib.decision_theory import (
    REJECT,
    BinaryCounts,
    Standardizer,
    absolute,
    accuracy,
    add_intercept,
    bayes_classifier,
    bayes_error,
    binary_counts,
    boundary_points,
    conditional_risk,
    confusion_matrix,
    cost_loss,
    cost_sensitive_rule,
    cost_threshold,
    decision_boundaries,
    density_table,
    empirical_risk,
    expected_costs,
    expected_risk,
    exponential,
    f_score,
    from_one_hot,
    hinge,
    log_loss,
    logistic,
    mean_absolute_error,
    mean_squared_error,
    norm_loss,
    nrmse,
    one_hot,
    posterior,
    precision,
    r2,
    recall,
    reject_rule,
    reject_tradeoff,
    root_mean_squared_error,
    specificity,
    squared,
    squared_margin,
    threshold,
    type1_rate,
    type2_rate,
    zero_one,
    zero_one_margin,
)

MEDICAL = [[0.0, 60.0], [10.0, 0.0]]


def random_joint(rng, m, K):
    """Return a table of whole numbers and the same table with sum one."""
    counts = rng.integers(0, 20, (m, K)) + np.eye(m, K, dtype=int)
    return counts, counts / counts.sum()


# losses --------------------------------------------------------------------------------------


def test_losses_of_hand_made_cases():
    assert zero_one(["a", "b"], ["a", "c"]).tolist() == [0, 1]
    assert squared([1.0, -2.0], [3.0, -2.0]).tolist() == [4, 0]
    assert absolute([1.0, -2.0], [3.0, 1.0]).tolist() == [2, 3]
    assert norm_loss([[3.0, 4.0]], [[0.0, 0.0]]).tolist() == [5]
    assert norm_loss([[3.0, 4.0]], [[0.0, 0.0]], p=np.inf).tolist() == [4]
    assert hinge([-1, 0, 1, 2]).tolist() == [2, 1, 0, 0]
    assert zero_one_margin([-1, 0, 1e-300]).tolist() == [1, 1, 0]
    assert squared_margin([-1, 1, 2]).tolist() == [4, 0, 1]
    assert exponential([-1.0, 0.0, 1.0]) == pytest.approx([np.e, 1, 1 / np.e])
    assert logistic([0.0], base=2).tolist() == [1]


def test_log_loss_is_the_logistic_loss_of_the_log_odds():
    p = np.linspace(0.01, 0.99, 99)
    z = np.log(p / (1 - p))
    np.testing.assert_allclose(log_loss(np.ones(99), p), logistic(z), rtol=1e-12)
    np.testing.assert_allclose(log_loss(np.zeros(99), p), logistic(-z), rtol=1e-12)


def test_losses_at_the_ends_of_the_range_are_not_nan():
    assert log_loss([0, 1], [0.0, 1.0]).tolist() == [0, 0]
    assert log_loss([0, 1], [1.0, 0.0]).tolist() == [np.inf, np.inf]
    assert logistic([-1e4, 1e4]) == pytest.approx([1e4, 0], rel=1e-15, abs=0)
    assert exponential([-1e4]).tolist() == [np.inf]


@pytest.mark.parametrize("loss", [hinge, logistic, exponential, squared_margin, zero_one_margin])
def test_margin_losses_refuse_nan(loss):
    with pytest.raises(ValueError, match="z contains NaN"):
        loss([0.0, np.nan])


def test_losses_say_what_is_wrong():
    with pytest.raises(ValueError, match="y must hold only 0 and 1"):
        log_loss([-1, 1], [0.5, 0.5])
    with pytest.raises(ValueError, match="probabilities in"):
        log_loss([0, 1], [0.5, 1.5])
    with pytest.raises(ValueError, match="y contains NaN"):
        zero_one([np.nan], [1.0])
    with pytest.raises(ValueError, match="f contains NaN"):
        squared([1.0], [np.nan])
    with pytest.raises(ValueError, match="base must be a number"):
        logistic([0.0], base=1)
    with pytest.raises(ValueError, match="p must be a number"):
        norm_loss([1.0], [2.0], p=0.5)
    with pytest.raises(ValueError, match="f must hold whole numbers from 0 to 1"):
        cost_loss(MEDICAL)([0, 1], [0, 2])


@pytest.mark.parametrize("loss", [zero_one, squared, absolute, norm_loss, cost_loss(MEDICAL)])
def test_losses_refuse_shapes_that_do_not_go_together(loss):
    with pytest.raises(ValueError, match=r"y and f must have shapes that .*\(2,\) and \(3,\)\."):
        loss([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match=r"y and p must have shapes that .*\(2,\) and \(3,\)\."):
        log_loss([0, 1], [0.5, 0.5, 0.5])


# risks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_expected_risk_equals_a_sum_of_fractions(seed):
    rng = np.random.default_rng(seed)
    counts, joint = random_joint(rng, 6, 3)
    f = rng.integers(0, 3, 6)
    C = rng.integers(0, 9, (3, 3))
    total = int(counts.sum())
    by_hand = sum(
        Fraction(int(counts[i, b]) * int(C[f[i], b]), total) for i in range(6) for b in range(3)
    )
    assert expected_risk(cost_loss(C), f, joint) == pytest.approx(float(by_hand), rel=1e-12)


def test_expected_risk_weights_the_conditional_risks():
    joint = np.array([[0.1, 0.3], [0.0, 0.0], [0.45, 0.15]])
    f = np.array([1.5, 7.0, -1.0])
    values = [0.0, 2.0]
    p = joint[[0, 2]] / joint[[0, 2]].sum(axis=1, keepdims=True)
    R = conditional_risk(squared, f[[0, 2]], p, values)
    np.testing.assert_allclose(R, [0.25 * 2.25 + 0.75 * 0.25, 0.75 * 1 + 0.25 * 9])
    assert expected_risk(squared, f, joint, values) == pytest.approx(0.4 * R[0] + 0.6 * R[1])


def test_impossible_values_do_not_count_even_at_infinite_loss():
    assert conditional_risk(log_loss, [0.0], [[1.0, 0.0]]).tolist() == [0.0]


def test_empirical_risk_is_the_expected_risk_of_the_sample_as_a_distribution():
    y, f = np.array([1.0, 4.0, 2.0, 2.0, 6.0]), np.array([1.0, 2.0, 2.0, 3.0, 3.0])
    uniform = np.diag(np.full(5, 0.2))
    for loss, by_hand in ((squared, 14 / 5), (absolute, 6 / 5), (zero_one, 3 / 5)):
        assert empirical_risk(loss, f, y) == pytest.approx(by_hand)
        assert expected_risk(loss, f, uniform, y) == pytest.approx(by_hand)


def test_risks_say_what_is_wrong():
    with pytest.raises(ValueError, match=r"p must sum to one, got a sum of 0\.9"):
        conditional_risk(zero_one, [0], [[0.5, 0.4]])
    with pytest.raises(ValueError, match="joint must sum to one"):
        expected_risk(zero_one, [0, 1], [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match="p must not be negative"):
        conditional_risk(zero_one, [0], [[1.5, -0.5]])
    with pytest.raises(ValueError, match="joint contains NaN"):
        expected_risk(zero_one, [0], [[np.nan, 1.0]])
    with pytest.raises(ValueError, match="f must have one entry for each of the 1 rows"):
        expected_risk(zero_one, [0, 1], [[0.5, 0.5]])
    with pytest.raises(ValueError, match="values must have one entry"):
        conditional_risk(squared, [0.0], [[0.5, 0.5]], [1.0])
    with pytest.raises(ValueError, match="loss must not return NaN"):
        conditional_risk(lambda y, f: np.nan * (y + f), [0], [[0.5, 0.5]])
    with pytest.raises(ValueError, match="loss must not return NaN"):
        empirical_risk(lambda y, f: np.nan * (y + f), [0], [1])
    with pytest.raises(ValueError, match=r"it returned shape \(7,\) instead of \(1, 2\)"):
        conditional_risk(lambda y, f: np.ones(7), [0], [[0.5, 0.5]])
    with pytest.raises(ValueError, match="loss must be a function of y and f"):
        empirical_risk("squared", [0], [1])
    with pytest.raises(ValueError, match="f and y must be non-empty vectors of one length"):
        empirical_risk(squared, [1.0], [1.0, 2.0])


# optimal rules -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_bayes_classifier_beats_every_rule_on_a_table(seed):
    counts, joint = random_joint(np.random.default_rng(seed), 5, 3)
    right = [counts[range(5), rule].sum() for rule in itertools.product(range(3), repeat=5)]
    chosen = bayes_classifier(joint)
    assert counts[range(5), chosen].sum() == max(right)
    assert bayes_error(joint) == pytest.approx(1 - max(right) / counts.sum(), rel=1e-12)


def test_the_rule_with_the_sign_of_the_scores_reversed_is_no_bayes_rule():
    _, joint = random_joint(np.random.default_rng(0), 5, 3)
    assert expected_risk(zero_one, bayes_classifier(-joint), joint) > bayes_error(joint) + 0.1


@pytest.mark.parametrize("seed", range(5))
def test_cost_sensitive_rule_is_the_cheapest_of_all_rules(seed):
    rng = np.random.default_rng(seed)
    counts, joint = random_joint(rng, 4, 3)
    C = rng.integers(0, 9, (4, 3))  # four decisions, three classes
    paid = [
        sum(counts[i, b] * C[a, b] for i, a in enumerate(rule) for b in range(3))
        for rule in itertools.product(range(4), repeat=4)
    ]
    p = joint / joint.sum(axis=1, keepdims=True)
    chosen = cost_sensitive_rule(p, C)
    assert sum(counts[i, b] * C[a, b] for i, a in enumerate(chosen) for b in range(3)) == min(paid)


def test_transposing_the_costs_changes_the_rule():
    p = [[0.8, 0.2]]
    assert cost_sensitive_rule(p, MEDICAL).tolist() == [1]
    assert cost_sensitive_rule(p, np.transpose(MEDICAL)).tolist() == [0]


def test_medical_threshold_is_one_seventh():
    assert cost_threshold(MEDICAL) == 1 / 7
    assert cost_threshold([[1.0, 6.0], [3.0, 2.0]]) == (3 - 1) / ((3 - 1) + (6 - 2))
    sevenths = np.array([[1 - p, p] for p in (1 / 7 - 1e-9, 1 / 7 + 1e-9)])
    assert cost_sensitive_rule(sevenths, MEDICAL).tolist() == [0, 1]
    np.testing.assert_allclose(expected_costs([[6 / 7, 1 / 7]], MEDICAL), [[60 / 7, 60 / 7]])


def test_ties_go_to_the_lowest_index_and_the_threshold_to_one():
    assert bayes_classifier([[0.5, 0.5]]).tolist() == [0]
    assert cost_sensitive_rule([[0.5, 0.5]], [[0, 1], [1, 0]]).tolist() == [0]
    assert threshold([0.5]).tolist() == [1]
    assert reject_rule([[0.75, 0.25]], 0.75).tolist() == [0]  # decided, not rejected
    assert reject_tradeoff([[0.75, 0.25]], [0.75]).coverage.tolist() == [1]


def test_posterior_does_not_underflow_and_allows_impossible_classes():
    g = np.array([[-1000.0, -1001.0], [0.0, -np.inf]])
    p = posterior(g, [0.5, 0.5])
    np.testing.assert_allclose(p[0], [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))], rtol=1e-12)
    assert p[1].tolist() == [1, 0]
    assert posterior([[0.0, 0.0]], [1.0, 0.0]).tolist() == [[1, 0]]


def test_reject_rule_and_its_tradeoff():
    joint = np.array([[0.3, 0.1], [0.2, 0.2], [0.0, 0.2]])
    p = joint / joint.sum(axis=1, keepdims=True)
    assert reject_rule(p, 0.7).tolist() == [0, REJECT, 1]
    assert reject_rule(p, 0.0).tolist() == [0, 0, 1]
    tradeoff = reject_tradeoff(joint, [0.0, 0.7, 1.0])
    np.testing.assert_allclose(tradeoff.coverage, [1, 0.6, 0.2])
    np.testing.assert_allclose(tradeoff.error, [0.3, 0.1, 0.0], atol=1e-15)
    assert tradeoff.error[0] == pytest.approx(bayes_error(joint))


def test_rules_say_what_is_wrong():
    with pytest.raises(ValueError, match="p must sum to one"):
        cost_sensitive_rule([[0.5, 0.4]], MEDICAL)
    with pytest.raises(ValueError, match="one column for each of the 3 classes"):
        cost_sensitive_rule([[0.5, 0.3, 0.2]], MEDICAL)
    with pytest.raises(ValueError, match="cost contains NaN"):
        cost_sensitive_rule([[0.5, 0.5]], [[0, np.nan], [1, 0]])
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        cost_threshold([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="each error dearer"):
        cost_threshold([[5.0, 60.0], [5.0, 0.0]])
    with pytest.raises(ValueError, match="p must sum to one"):
        reject_rule([[0.5, 0.4]], 0.5)
    with pytest.raises(ValueError, match="theta must be a number"):
        reject_rule([[0.5, 0.5]], 1.5)
    with pytest.raises(ValueError, match="theta must hold thresholds"):
        reject_tradeoff([[0.5, 0.5]], [2.0])
    with pytest.raises(ValueError, match="g must not hold NaN"):
        bayes_classifier([[0.5, np.nan]])
    with pytest.raises(ValueError, match="prior must sum to one"):
        posterior([[0.0, 0.0]], [0.5, 0.6])
    with pytest.raises(ValueError, match="prior must have 2 entries"):
        posterior([[0.0, 0.0]], [1.0])
    with pytest.raises(ValueError, match="row 1 of log_densities is impossible"):
        posterior([[0.0, 0.0], [-np.inf, -np.inf]], [0.5, 0.5])
    with pytest.raises(ValueError, match="no NaN"):
        posterior([[np.nan, 0.0]], [0.5, 0.5])
    with pytest.raises(ValueError, match="probabilities in"):
        threshold([1.2])


# regions and densities -----------------------------------------------------------------------


def test_boundary_points_lie_on_the_hyperplane():
    rng = np.random.default_rng(0)
    w, b = np.array([1.0, -2.0, 0.5]), 0.3
    U, V = rng.standard_normal((2, 100, 3)) * 5

    def rule(X):
        return X @ w + b > 0

    apart = rule(U) != rule(V)
    found = boundary_points(rule, U[apart], V[apart])
    assert np.abs(found @ w + b).max() < 1e-12


def test_decision_boundaries_of_two_gaussians_solve_the_quadratic():
    # equal priors, N(0, 1) against N(0, 4): the densities cross where x^2 = (8/3) log 2
    densities = [norm(0, 1).logpdf, norm(0, 2).logpdf]

    def rule(x):
        return np.argmax([g(x) for g in densities], axis=0)

    root = np.sqrt(8 / 3 * np.log(2))
    np.testing.assert_allclose(decision_boundaries(rule, -9, 9), [-root, root], rtol=1e-12)
    assert decision_boundaries(lambda x: x > 5, -1, 1).size == 0


def test_bayes_error_of_two_gaussians_equals_the_normal_tail():
    for delta in (0.5, 2.0, 6.0):
        densities = [norm(0).pdf, norm(delta).pdf]
        table = density_table(densities, [0.5, 0.5], [-12, 0, delta / 2, delta, 12 + delta])
        assert bayes_error(table.joint) == pytest.approx(norm.cdf(-delta / 2), rel=1e-10)
    table = density_table([norm(0).pdf, norm(2).pdf], [0.3, 0.7], [-12, 0, 2, 14])
    np.testing.assert_allclose(table.joint.sum(axis=0), [0.3, 0.7], rtol=1e-10)
    np.testing.assert_allclose(table.x @ table.joint, [0, 1.4], atol=1e-10)  # p(k) times the mean


def test_regions_and_densities_say_what_is_wrong():
    with pytest.raises(ValueError, match="decide differently at the two ends"):
        boundary_points(lambda x: x > 5, [0.0], [1.0])
    for bad in (5.0, lambda x: 1, lambda x: np.zeros((len(x), 2))):
        with pytest.raises(ValueError, match=r"rule must (be a function|return one decision)"):
            decision_boundaries(bad, -1.0, 1.0)
        with pytest.raises(ValueError, match=r"rule must (be a function|return one decision)"):
            boundary_points(bad, [0.0], [1.0])
    for bad in (0.5, lambda x: 0.5):
        with pytest.raises(ValueError, match=r"densities must (be functions|map shape)"):
            density_table([norm.pdf, bad], [0.5, 0.5], [-9.0, 9.0])
    with pytest.raises(ValueError, match="U and V must have one shape"):
        boundary_points(lambda x: x > 5, [0.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="high must be a number"):
        decision_boundaries(lambda x: x > 0, 1.0, -1.0)
    with pytest.raises(ValueError, match="breaks must be at least two increasing"):
        density_table([norm.pdf], [1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="breaks must enclose all of the mass"):
        density_table([norm.pdf], [1.0], [-1.0, 1.0])
    with pytest.raises(ValueError, match="one entry for each of the 1 densities"):
        density_table([norm.pdf], [0.5, 0.5], [-9.0, 9.0])


# metrics -------------------------------------------------------------------------------------

Y = ["s"] * 100 + ["h"] * 50
PREDICTED = ["s"] * 80 + ["h"] * 20 + ["s"] * 5 + ["h"] * 45


def test_metrics_of_a_matrix_counted_by_hand():
    assert binary_counts(Y, PREDICTED, "s") == BinaryCounts(tp=80, fp=5, fn=20, tn=45)
    assert confusion_matrix(Y, PREDICTED).tolist() == [[45, 20], [5, 80]]
    assert confusion_matrix(Y, PREDICTED, ["s", "h"]).tolist() == [[80, 5], [20, 45]]
    assert accuracy(Y, PREDICTED) == 125 / 150
    assert precision(Y, PREDICTED, "s") == 80 / 85
    assert recall(Y, PREDICTED, "s") == 0.8
    assert specificity(Y, PREDICTED, "s") == 0.9
    assert type1_rate(Y, PREDICTED, "s") == 0.1
    assert type2_rate(Y, PREDICTED, "s") == 0.2
    assert f_score(Y, PREDICTED, "s") == 160 / 185
    assert f_score(Y, PREDICTED, "s", beta=2) == pytest.approx(5 * 80 / (5 * 80 + 4 * 20 + 5))


def test_counts_times_costs_is_the_empirical_risk():
    codes = {"h": 0, "s": 1}
    y, predicted = ([codes[v] for v in side] for side in (Y, PREDICTED))
    total = np.sum(confusion_matrix(Y, PREDICTED) * np.array(MEDICAL))
    assert total / 150 == pytest.approx(empirical_risk(cost_loss(MEDICAL), predicted, y))


@pytest.mark.parametrize(
    ("metric", "y", "predicted", "what"),
    [
        (precision, [1, 0], [0, 0], "nothing is called positive"),
        (recall, [0, 0], [1, 0], "nothing is positive"),
        (type2_rate, [0, 0], [1, 0], "nothing is positive"),
        (specificity, [1, 1], [1, 0], "nothing is negative"),
        (type1_rate, [1, 1], [1, 0], "nothing is negative"),
        (f_score, [0, 0], [0, 0], "nothing is positive or called positive"),
    ],
)
def test_undefined_metrics_raise_or_return_what_was_asked(metric, y, predicted, what):
    with pytest.raises(ValueError, match=what):
        metric(y, predicted)
    assert metric(y, predicted, undefined=0.5) == 0.5


def test_metrics_say_what_is_wrong():
    with pytest.raises(ValueError, match="label 'x', which is not among the classes"):
        confusion_matrix(["a", "b"], ["a", "x"], ["a", "b"])
    with pytest.raises(ValueError, match="same length"):
        accuracy([1, 0], [1])
    with pytest.raises(ValueError, match="y contains NaN"):
        accuracy([1.0, np.nan], [1.0, 0.0])
    with pytest.raises(ValueError, match="labels of one kind"):
        accuracy(["1"], [1])
    with pytest.raises(ValueError, match="predicted must be a non-empty vector"):
        accuracy([1], [[1]])
    with pytest.raises(ValueError, match="positive=1 is not among the labels"):
        recall(["s", "h"], ["s", "s"])
    with pytest.raises(ValueError, match="must hold labels of one kind, or pass classes"):
        confusion_matrix(np.array(["a", 1], dtype=object), ["a", "a"])
    with pytest.raises(ValueError, match="must not repeat a label"):
        confusion_matrix([0, 1], [0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="f must have 2 entries"):
        mean_squared_error([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="beta must be a number"):
        f_score([1, 0], [1, 0], beta=0)


def test_regression_metrics_of_a_hand_made_case():
    y, f = [1.0, 2.0, 3.0, 6.0], [1.0, 4.0, 3.0, 5.0]
    assert mean_squared_error(y, f) == 5 / 4
    assert root_mean_squared_error(y, f) == np.sqrt(5 / 4)
    assert mean_absolute_error(y, f) == 3 / 4
    assert nrmse(y, f) == pytest.approx(np.sqrt(5 / 14))
    assert r2(y, f) == pytest.approx(9 / 14)
    assert r2(y, [3.0] * 4) == 0


@pytest.mark.parametrize("scale", [1e-140, 1e-8, 1e8, 1e140])
def test_relative_metrics_do_not_depend_on_the_unit(scale):
    y, f = scale * np.array([1.0, 2.0, 3.0, 6.0]), scale * np.array([1.0, 4.0, 3.0, 5.0])
    assert r2(y, f) == pytest.approx(9 / 14, rel=1e-12)


@pytest.mark.parametrize("metric", [r2, nrmse])
def test_relative_metrics_of_a_constant_target(metric):
    with pytest.raises(ValueError, match="undefined when y is constant"):
        metric([2.0, 2.0], [1.0, 2.0])
    assert metric([2.0, 2.0], [1.0, 2.0], undefined=0.0) == 0.0


# preparing inputs ----------------------------------------------------------------------------


def test_add_intercept_puts_the_ones_first():
    assert add_intercept([[2.0, 3.0], [4.0, 5.0]]).tolist() == [[1, 2, 3], [1, 4, 5]]


@pytest.mark.parametrize("y", [[0, 2, 1, 2], ["b", "a", "b", "c"], [True, False, True]])
def test_one_hot_round_trip(y):
    Y_ = one_hot(y)
    classes = np.unique(y)
    assert Y_.shape == (len(y), len(classes))
    assert (Y_.sum(axis=1) == 1).all()
    assert from_one_hot(Y_, classes).tolist() == list(y)
    assert from_one_hot([[0.0, 1.0], [1.0, 0.0]]).tolist() == [1, 0]


def test_one_hot_with_given_classes():
    assert one_hot(["b"], ["b", "a", "c"]).tolist() == [[1, 0, 0]]
    with pytest.raises(ValueError, match="label 'd', which is not among the classes"):
        one_hot(["d"], ["b", "a"])
    with pytest.raises(ValueError, match="y contains NaN"):
        one_hot([1.0, np.nan])
    with pytest.raises(ValueError, match="y contains NaN or None"):
        one_hot(np.array(["a", None], dtype=object))
    with pytest.raises(ValueError, match="classes must have one entry for each of the 2 columns"):
        from_one_hot([[0.0, 1.0]], ["a"])


@pytest.mark.parametrize("scale", [1e-140, 1e-8, 1.0, 1e8, 1e140])
def test_standardizer_brings_means_to_zero_and_variances_to_one_in_any_unit(scale):
    X = scale * np.random.default_rng(0).normal(3, 2, (50, 4))
    Z = Standardizer().fit_transform(X)
    assert np.abs(Z.mean(axis=0)).max() < 1e-12
    assert np.abs(Z.var(axis=0) - 1).max() < 1e-12


def test_standardizer_keeps_its_digits_far_from_the_origin():
    x = np.arange(5.0)[:, None]
    near, far = Standardizer().fit_transform(x), Standardizer().fit_transform(x + 2.0**40)
    np.testing.assert_allclose(far, near, rtol=1e-12)


@pytest.mark.parametrize("n", [7, 50])
def test_standardizer_finds_the_float_nearest_to_the_mean(n):
    for seed in range(20):
        x = 1e9 / 3 + np.random.default_rng(seed).normal(0, 1, n)
        exact = sum(map(Fraction, x)) / n
        error = abs(Fraction(Standardizer().fit(x[:, None]).mean_[0]) - exact)
        assert error <= Fraction(np.spacing(float(exact))) / 2


def test_standardizer_without_variance_and_its_inverse():
    X = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]])
    model = Standardizer().fit(X)
    assert model.scale_[0] == 1
    assert model.transform(X)[:, 0].tolist() == [0, 0, 0]
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, rtol=1e-15)
    before = X.copy()
    model.fit_transform(X)
    assert np.array_equal(X, before)


def test_standardizer_parts_and_errors():
    X = np.array([[1.0], [3.0]])
    assert Standardizer(with_std=False).fit_transform(X).tolist() == [[-1], [1]]
    assert Standardizer(with_mean=False).fit_transform(X).tolist() == [[1], [3]]
    with pytest.raises(ValueError, match="with_mean must be True or False"):
        Standardizer(with_mean="yes").fit(X)
    with pytest.raises(ValueError, match="contains NaN"):
        Standardizer().fit([[np.nan]])
    with pytest.raises(ValueError, match="expecting 1 features"):
        Standardizer().fit(X).transform([[1.0, 2.0]])


def test_the_threshold_is_the_one_that_is_given():
    assert threshold([0.2, 0.5, 0.9], 0.6).tolist() == [0, 0, 1]
    assert threshold([0.2, 0.5, 0.9], 0.1).tolist() == [1, 1, 1]


def test_grids_and_halvings_are_as_fine_as_asked():
    assert boundary_points(lambda x: x > 0.3, [0.0], [1.0], steps=1).tolist() == [0.25]
    assert boundary_points(lambda x: x > 0.3, [0.0], [1.0], steps=2).tolist() == [0.375]
    outside = lambda x: abs(x) > 0.5  # noqa: E731
    assert len(decision_boundaries(outside, -1.0, 1.0, points=2)) == 0
    assert len(decision_boundaries(outside, -1.0, 1.0, points=3)) == 2
    around = lambda m: lambda x: abs(x - m) < 0.2  # noqa: E731
    assert len(decision_boundaries(around(7.0), 0.0, 2000.0)) == 2  # steps of 1 by default
    assert len(decision_boundaries(around(7.5), 0.0, 2000.0)) == 0
    for options, nodes in (({}, 40), ({"points": 60}, 60)):
        table = density_table([norm(-1).pdf, norm(1).pdf], [0.5, 0.5], [-12, 0, 12], **options)
        assert len(table.joint) == 2 * nodes


def test_two_numbers_of_which_one_is_zero_are_not_constant():
    assert nrmse([-1.0, 0.0], [0.0, 0.0]) == pytest.approx(np.sqrt(2))
    assert Standardizer().fit([[-1.0], [0.0]]).scale_ == pytest.approx([0.5])


def test_a_standardizer_counts_by_weights_and_does_what_is_asked():
    X = np.array([[1.0, 2.0], [3.0, 8.0], [8.0, -1.0]])
    rows = np.repeat(X, [1, 3, 2], axis=0)
    weighted = Standardizer().fit(X, sample_weight=[1, 3, 2])
    assert weighted.mean_ == pytest.approx(rows.mean(axis=0))
    assert weighted.scale_ == pytest.approx(rows.std(axis=0))
    assert Standardizer(with_std=False).fit_transform(X) == pytest.approx(X - X.mean(axis=0))
    assert Standardizer(with_mean=False).fit_transform(X) == pytest.approx(X / X.std(axis=0))
    assert list(weighted.get_feature_names_out(["height", "depth"])) == ["height", "depth"]
