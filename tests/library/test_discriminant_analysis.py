"""Discriminant analysis: behaviour, errors, oracles, published numbers, properties, agreements."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as SklearnLDA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as SklearnQDA
from sklearn.neighbors import NearestCentroid

from mllib.discriminant_analysis import (
    ClassStatistics,
    GaussianClasses,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularisedDiscriminantAnalysis,
    class_statistics,
    estimate_classes,
    fisher_direction,
    fisher_directions,
    fisher_ratio,
    labelled_statistics,
    lda_error_rate,
    linear_rule_error,
    linear_scores,
    logistic_form,
    mahalanobis,
    quadratic_scores,
    regularised_covariances,
)

IRIS = load_iris(return_X_y=True)
MODELS = [
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularisedDiscriminantAnalysis,
]


def random_covariance(rng, d):
    M = rng.standard_normal((d, d))
    return M @ M.T + 0.3 * np.eye(d)


def random_classes(rng, K=3, d=4, shared=False):
    covariances = np.stack([random_covariance(rng, d) for _ in range(K)])
    covariances = covariances[0] if shared else covariances
    return GaussianClasses(rng.dirichlet(np.full(K, 4.0)), rng.standard_normal((K, d)), covariances)


def sample(rng, n=60, d=3, K=3):
    y = np.concatenate([np.repeat(np.arange(K), d + 2), rng.integers(0, K, n - K * (d + 2))])
    return rng.standard_normal((n, d)) @ random_covariance(rng, d) + y[:, None] % 2, y


# statistics ----------------------------------------------------------------------------------


def test_statistics_are_counts_means_and_scatters():
    rng = np.random.default_rng(0)
    X, y = sample(rng)
    s = class_statistics(X, y)
    for k in range(3):
        C = X[y == k]
        assert s.counts[k] == len(C)
        np.testing.assert_allclose(s.means[k], C.mean(axis=0))
        np.testing.assert_allclose(s.scatters[k], (len(C) - 1) * np.cov(C.T))
    np.testing.assert_allclose(s.within, s.scatters.sum(axis=0))
    total = (len(X) - 1) * np.cov(X.T)
    np.testing.assert_allclose(s.within + s.between, total)
    shared = class_statistics(X, y, shared=True)
    assert shared.scatters.shape == (3, 3)
    np.testing.assert_allclose(shared.within, s.within)


@pytest.mark.parametrize("shared", [False, True])
def test_chunks_add_up_to_the_whole_even_without_a_class(shared):
    rng = np.random.default_rng(1)
    X, y = sample(rng, 90)
    order = np.argsort(y, kind="stable")
    X, y = X[order] + 1e6, y[order]
    w = rng.integers(1, 4, 90).astype(float)
    whole = class_statistics(X, y, weights=w, shared=shared)
    parts = [
        class_statistics(X[c], y[c], 3, weights=w[c], shared=shared)
        for c in np.array_split(np.arange(90), 7)
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    np.testing.assert_allclose(merged.counts, whole.counts)
    np.testing.assert_allclose(merged.means, whole.means, rtol=1e-13)
    np.testing.assert_allclose(merged.scatters, whole.scatters, rtol=1e-7, atol=1e-7)


def test_statistics_of_two_shapes_are_not_added():
    X, y = IRIS
    with pytest.raises(ValueError, match="scatters of one shape"):
        class_statistics(X, y) + class_statistics(X, y, shared=True)


def test_arguments_are_not_changed():
    X, y = IRIS
    before = X.copy()
    class_statistics(X, y)
    LinearDiscriminantAnalysis().fit(X, y).transform(X)
    assert np.array_equal(X, before)


@pytest.mark.parametrize("y", [[0.0, 1.0], [0], [-1, 0], [[0], [1]]])
def test_class_indices_are_checked(y):
    with pytest.raises(ValueError, match="class indices"):
        class_statistics([[0.0], [1.0]], y)
    with pytest.raises(ValueError, match="below K = 1"):
        class_statistics([[0.0], [1.0]], [0, 1], 1)


# estimates -----------------------------------------------------------------------------------


def test_denominators_in_fractions():
    # classes {0, 2} and {1, 2, 6}: scatters 2 and 14, n = 5, K = 2
    s = class_statistics([[0.0], [2.0], [1.0], [2.0], [6.0]], np.array([0, 0, 1, 1, 1]))
    assert s.scatters.ravel().tolist() == [2, 14]

    def value(**options):
        entries = estimate_classes(s, **options).covariances.ravel()
        return [Fraction(v).limit_denominator(99) for v in entries]

    assert value() == [1, Fraction(14, 3)]
    assert value(unbiased=True) == [2, 7]
    assert value(shared=True) == [Fraction(16, 5)]
    assert value(shared=True, unbiased=True) == [Fraction(16, 3)]
    assert estimate_classes(s).priors.tolist() == [0.4, 0.6]
    assert estimate_classes(s, priors=[0.5, 0.5]).priors.tolist() == [0.5, 0.5]


def test_the_pooled_estimate_is_unbiased_and_the_printed_weights_are_not():
    # all 2^5 samples of five fair coins in classes of 2 and 3 rows: variance 1/4
    y, values = np.array([0, 0, 1, 1, 1]), []
    for tosses in itertools.product([0.0, 1.0], repeat=5):
        s = class_statistics(np.array(tosses)[:, None], y)
        values.append([
            estimate_classes(s, shared=True, unbiased=u).covariances.item() for u in (True, False)
        ])  # fmt: skip
    assert np.allclose(np.mean(values, axis=0), [1 / 4, 1 / 4 * 3 / 5])


def test_covariance_types_keep_what_they_say():
    s = class_statistics(*IRIS)
    full = estimate_classes(s, shared=True).covariances
    diag = estimate_classes(s, shared=True, covariance_type="diag").covariances
    ball = estimate_classes(s, shared=True, covariance_type="spherical").covariances
    assert np.array_equal(diag, np.diag(np.diag(full)))
    np.testing.assert_allclose(ball, np.trace(full) / 4 * np.eye(4))
    each = estimate_classes(s, covariance_type="spherical").covariances
    np.testing.assert_allclose(each[2], np.trace(s.scatters[2]) / 50 / 4 * np.eye(4))


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_constrained_covariances_reach_the_estimators_and_the_projection(kind):
    X, y = IRIS
    spread = np.array([X[y == k].var(axis=0) for k in range(3)])  # 50 flowers of each species
    level = spread if kind == "diag" else np.repeat(spread.mean(axis=1, keepdims=True), 4, axis=1)
    qda = QuadraticDiscriminantAnalysis(covariance_type=kind).fit(X, y)
    np.testing.assert_allclose(qda.covariances_, level[:, :, None] * np.eye(4))
    lda = LinearDiscriminantAnalysis(covariance_type=kind).fit(X, y)
    np.testing.assert_allclose(lda.covariances_, np.diag(level.mean(axis=0)))
    W = lda.fisher_.directions
    np.testing.assert_allclose(W.T @ np.diag(level.mean(axis=0)) @ W, np.eye(2), atol=1e-12)
    Z, centres = lda.transform(X), lda.transform(lda.means_)
    assert np.array_equal(((Z[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1), lda.predict(X))


@pytest.mark.parametrize("model", MODELS)
def test_other_priors_move_the_log_odds_by_their_own(model):
    X, y = IRIS
    prior = np.array([0.5, 0.2, 0.3])
    before, after = (model(priors=p).fit(X, y).predict_log_proba(X) for p in (None, prior))
    expected = np.broadcast_to(np.diff(np.log(prior)), (150, 2))
    np.testing.assert_allclose(np.diff(after - before), expected, atol=1e-9)


def test_estimates_refuse_what_cannot_be_estimated():
    s = class_statistics([[0.0], [1.0], [5.0]], np.array([0, 0, 1]))
    with pytest.raises(ValueError, match="unbiased=True"):
        estimate_classes(s, unbiased=True)
    with pytest.raises(ValueError, match="class 2 has no rows"):
        estimate_classes(class_statistics([[0.0], [1.0]], np.array([0, 1]), 3))
    with pytest.raises(ValueError, match="one scatter per class"):
        estimate_classes(class_statistics(*IRIS, shared=True))
    with pytest.raises(ValueError, match="sum to one"):
        estimate_classes(s, priors=[0.5, 0.6])
    with pytest.raises(ValueError, match="covariance_type"):
        estimate_classes(s, covariance_type="round")


# scores --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_quadratic_scores_are_log_densities_up_to_one_constant(seed):
    rng = np.random.default_rng(seed)
    classes = random_classes(rng)
    X = rng.standard_normal((20, 4))
    logs = np.column_stack([
        np.log(p) + multivariate_normal(m, S).logpdf(X) for p, m, S in zip(*classes)
    ])  # fmt: skip
    np.testing.assert_allclose(quadratic_scores(X, classes) - 2 * np.log(2 * np.pi), logs)


@pytest.mark.parametrize("seed", range(5))
def test_linear_scores_differ_from_the_quadratic_ones_by_one_number_per_row(seed):
    rng = np.random.default_rng(seed)
    classes = random_classes(rng, shared=True)
    X = rng.standard_normal((20, 4))
    gap = quadratic_scores(X, classes) - linear_scores(X, classes)
    np.testing.assert_allclose(gap - gap[:, :1], 0, atol=1e-12)


def test_the_logistic_form_is_the_posterior_and_the_other_sign_is_not():
    rng = np.random.default_rng(0)
    classes = random_classes(rng, K=2, shared=True)
    X = rng.standard_normal((20, 4))
    joint = [p * multivariate_normal(m, classes.covariances).pdf(X)
             for p, m in zip(classes.priors, classes.means)]  # fmt: skip
    w, b = logistic_form(classes)
    truth = joint[1] / (joint[0] + joint[1])
    np.testing.assert_allclose(1 / (1 + np.exp(-(X @ w + b))), truth)
    wrong = b - 2 * np.log(classes.priors[1] / classes.priors[0])
    assert np.abs(1 / (1 + np.exp(-(X @ w + wrong))) - truth).max() > 0.01


def test_mahalanobis_is_a_distance_with_its_root():
    rng = np.random.default_rng(0)
    S, x, m = random_covariance(rng, 3), rng.standard_normal(3), rng.standard_normal(3)
    expected = np.sqrt((x - m) @ np.linalg.inv(S) @ (x - m))
    np.testing.assert_allclose(mahalanobis([x], m, S), [expected])
    with pytest.raises(ValueError, match="singular"):
        mahalanobis([x], m, np.ones((3, 3)))


# error rates ---------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [0.5, 0.2, 0.9])
def test_the_error_of_lda_is_the_closed_form_and_no_other_rule_errs_less(prior):
    rng = np.random.default_rng(3)
    S = random_covariance(rng, 3)
    means = rng.standard_normal((2, 3))
    classes = GaussianClasses(np.array([1 - prior, prior]), means, S)
    w, b = logistic_form(classes)
    delta = mahalanobis(means[:1], means[1], S).item()
    best = linear_rule_error(w, b, classes)
    assert best == pytest.approx(lda_error_rate(delta, prior), rel=1e-12)
    others = [linear_rule_error(w + 0.3 * rng.standard_normal(3), b + 0.3 * rng.standard_normal(),
                                classes) for _ in range(200)]  # fmt: skip
    assert min(others) >= best


def test_the_error_of_a_linear_rule_counts_both_classes_with_their_covariances():
    classes = GaussianClasses(
        np.array([0.3, 0.7]), np.array([[0.0, 1.0], [2.0, 0.0]]),
        np.array([[[1.0, 0.5], [0.5, 2.0]], [[3.0, 0.0], [0.0, 0.5]]]),
    )  # fmt: skip
    w, b = np.array([1.0, -0.5]), -0.4
    a = [(w @ m + b) / np.sqrt(w @ S @ w) for _, m, S in zip(*classes)]
    expected = 0.3 * norm.cdf(a[0]) + 0.7 * norm.sf(a[1])
    assert linear_rule_error(w, b, classes) == pytest.approx(expected, rel=1e-13)
    with pytest.raises(ValueError, match="not be 0"):
        linear_rule_error([0.0, 0.0], 1.0, classes)


def test_error_rates_refuse_impossible_arguments():
    for prior in (0, 1, -0.1):
        with pytest.raises(ValueError, match="prior"):
            lda_error_rate(1.0, prior)
    with pytest.raises(ValueError, match="above 0"):
        lda_error_rate([1.0, 0.0])


# Fisher --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_fishers_direction_beats_all_others_and_is_the_normal_of_lda(seed):
    rng = np.random.default_rng(seed)
    X, y = sample(rng, K=2)
    s = class_statistics(X, y)
    gap = s.means[1] - s.means[0]
    S_b = np.outer(gap, gap)
    w = fisher_direction(*s.means, s.within)
    best = fisher_ratio(w, S_b, s.within)
    assert best == pytest.approx(gap @ np.linalg.solve(s.within, gap))
    assert all(fisher_ratio(v, S_b, s.within) <= best for v in rng.standard_normal((500, 3)))
    lda = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(lda.coef_[0], w * len(X))


@pytest.mark.parametrize(("K", "d"), [(2, 4), (3, 4), (5, 2), (4, 3)])
def test_fishers_directions_solve_the_generalised_problem(K, d):
    X, y = sample(np.random.default_rng(0), 80, d, K)
    s = class_statistics(X, y)
    W, ratios = fisher_directions(s)
    assert W.shape == (d, min(K - 1, d))
    assert (np.diff(ratios) <= 0).all()
    np.testing.assert_allclose(s.between @ W, s.within @ W * ratios, atol=1e-8)
    np.testing.assert_allclose(W.T @ s.within @ W, 80 * np.eye(W.shape[1]), atol=1e-9)
    assert (W[np.abs(W).argmax(axis=0), np.arange(W.shape[1])] > 0).all()
    values = eigh(s.between, s.within, eigvals_only=True)[::-1]
    np.testing.assert_allclose(values[: len(ratios)], ratios)


def test_fisher_refuses_directions_without_spread():
    with pytest.raises(ValueError, match="no spread"):
        fisher_ratio([1.0, 0.0], np.eye(2), np.diag([0.0, 1.0]))
    with pytest.raises(ValueError, match="singular"):
        fisher_direction([0.0, 0.0], [1.0, 1.0], np.diag([0.0, 1.0]))


def test_all_directions_keep_the_rule_of_lda():
    X, y = load_wine(return_X_y=True)
    lda = LinearDiscriminantAnalysis().fit(X, y)
    T, centres = lda.transform(X), lda.transform(lda.means_)
    squared = ((T[:, None] - centres) ** 2).sum(axis=2)
    assert np.array_equal((np.log(lda.priors_) - squared / 2).argmax(axis=1), lda.predict(X))


# regularisation ------------------------------------------------------------------------------


def test_the_corners_of_rda_are_qda_and_lda():
    rng = np.random.default_rng(0)
    X, y = sample(rng)
    new = rng.standard_normal((50, 3))
    qda, lda = QuadraticDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
    for alpha, other in ((1, qda), (0, lda)):
        rda = RegularisedDiscriminantAnalysis(alpha=alpha, gamma=0).fit(X, y)
        np.testing.assert_allclose(rda.predict_proba(new), other.predict_proba(new), rtol=1e-9)


@pytest.mark.parametrize("unbiased", [False, True])
def test_gamma_keeps_the_trace_and_lowers_the_condition(unbiased):
    X, y = sample(np.random.default_rng(1))
    s = class_statistics(X, y)
    path = [regularised_covariances(s, 0.4, g, unbiased=unbiased) for g in np.linspace(0, 1, 6)]
    traces = np.trace(path, axis1=2, axis2=3)
    np.testing.assert_allclose(traces, np.broadcast_to(traces[0], traces.shape))
    assert (np.diff(np.linalg.cond(path), axis=0) < 0).all()
    own, pooled = (estimate_classes(s, shared=h, unbiased=unbiased).covariances for h in (0, 1))
    np.testing.assert_allclose(path[0], 0.4 * own + 0.6 * pooled)


def test_the_remedy_that_rda_names_helps():
    twins = np.array([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0], [6.0, 6.0]])  # one feature twice
    single = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0], [6.0, 6.0]]), [0, 0, 0, 1]
    cases = [  # what is refused, what is said, and what fits
        ({"alpha": 1, "gamma": 0}, *single, "raise gamma above 0 or lower alpha", {"alpha": 0.9}),
        ({"alpha": 1, "gamma": 0.1}, *single, "or lower alpha", {"alpha": 0.9}),
        ({"alpha": 0.5, "gamma": 0}, twins, [0, 0, 1, 1], "raise gamma above 0.$", {"gamma": 0.1}),
        ({"alpha": 0.5, "gamma": 0.1}, twins[:2], [0, 1], "no class holds two different", None),
    ]
    for refused, Z, labels, said, remedy in cases:
        with pytest.raises(ValueError, match=said):
            RegularisedDiscriminantAnalysis(**refused).fit(Z, labels)
        if remedy:
            RegularisedDiscriminantAnalysis(**{**refused, **remedy}).fit(Z, labels)
    with pytest.raises(ValueError, match="comparable units"):
        RegularisedDiscriminantAnalysis().fit(twins * [1e-14, 0] + [0, 1], [0, 0, 1, 1])


def test_rda_takes_fewer_rows_than_features():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8, 20)) + 3 * (np.arange(8) % 2)[:, None]
    y = np.arange(8) % 2
    assert RegularisedDiscriminantAnalysis().fit(X, y).score(X, y) == 1
    with pytest.raises(ValueError, match="raise gamma above 0"):
        RegularisedDiscriminantAnalysis(gamma=0).fit(X, y)
    for name in ("alpha", "gamma"):
        with pytest.raises(ValueError, match=name):
            RegularisedDiscriminantAnalysis(**{name: 1.1}).fit(X, y)


# bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_samples_that_cannot_be_fitted_are_refused_with_a_remedy(model):
    X, y = IRIS
    with pytest.raises(ValueError, match="at least 2 classes"):
        model().fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="NaN"):
        model().fit(np.where(X > 7.8, np.nan, X), y)
    with pytest.raises(ValueError, match="sum to one"):
        model(priors=[0.5, 0.5, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match="3 entries"):
        model(priors=[0.5, 0.5]).fit(X, y)


def test_small_classes_and_singular_covariances_are_refused_with_a_remedy():
    X, y = IRIS
    one = np.r_[0:51]
    with pytest.raises(ValueError, match=r"Class 1 of y has 1 row\(s\).*d \+ 1 = 5.*Regularised"):
        QuadraticDiscriminantAnalysis().fit(X[one], y[one])
    with pytest.raises(ValueError, match=r"Class 2 of y has 4 row\(s\)"):
        QuadraticDiscriminantAnalysis().fit(X[:104], y[:104])
    LinearDiscriminantAnalysis().fit(X[one], y[one])
    few = np.r_[0:2, 50:52, 100:102]
    with pytest.raises(ValueError, match=r"n = d \+ K = 7 rows.*alpha=0"):
        LinearDiscriminantAnalysis().fit(X[few], y[few])
    for model in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        with pytest.raises(ValueError, match="Feature 4 of X does not vary"):
            model().fit(np.column_stack([X, np.full(150, 0.1)]), y)
        with pytest.raises(ValueError, match="Feature 0 of X does not vary"):
            model().fit(np.column_stack([np.zeros(150), X]), y)
        with pytest.raises(ValueError, match="determine another"):
            model().fit(np.column_stack([X, X[:, 0] - 2 * X[:, 1]]), y)
    between = np.column_stack([X, y])  # constant in each class, different between them
    with pytest.raises(ValueError, match="Feature 4 of X does not vary"):
        LinearDiscriminantAnalysis().fit(between, y)


def test_exactly_enough_rows_are_enough():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((8, 3)), np.repeat([0, 1], 4)
    QuadraticDiscriminantAnalysis().fit(X, y)
    LinearDiscriminantAnalysis().fit(X[2:7], y[2:7])


def test_a_prior_of_zero_is_never_predicted():
    X, y = IRIS
    for model in MODELS:
        fitted = model(priors=[0.5, 0.5, 0.0]).fit(X, y)
        assert set(fitted.predict(X)) == {0, 1}
        assert (fitted.predict_proba(X)[:, 2] == 0).all()


# weights, labels, shells ---------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("unbiased", [False, True])
def test_weights_are_repeated_rows(model, unbiased):
    rng = np.random.default_rng(0)
    X, y = sample(rng, 80)
    w = rng.integers(0, 4, 80)
    a = model(unbiased=unbiased).fit(X, y, sample_weight=w)
    b = model(unbiased=unbiased).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(a.priors_, b.priors_)


def test_a_class_of_weight_zero_is_no_class():
    X, y = IRIS
    fitted = LinearDiscriminantAnalysis().fit(X, y, sample_weight=(y < 2).astype(float))
    assert fitted.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="sample_weight"):
        LinearDiscriminantAnalysis().fit(X, y, sample_weight=-np.ones(150))


def test_scores_have_the_shapes_that_scikit_learn_uses():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    lda = LinearDiscriminantAnalysis().fit(X, names)
    assert lda.decision_function(X).shape == (150, 3)
    np.testing.assert_allclose(X @ lda.coef_.T + lda.intercept_, lda.decision_function(X))
    np.testing.assert_allclose(np.exp(lda.predict_log_proba(X)), lda.predict_proba(X))
    two = LinearDiscriminantAnalysis().fit(X[50:], names[50:])
    assert two.decision_function(X).shape == (150,)
    np.testing.assert_allclose(
        1 / (1 + np.exp(-(X @ two.coef_[0] + two.intercept_))), two.predict_proba(X)[:, 1]
    )
    w, b = logistic_form(GaussianClasses(two.priors_, two.means_, two.covariances_))
    np.testing.assert_allclose(np.r_[two.coef_[0], two.intercept_], np.r_[w, b])
    assert lda.transform(X).shape == (150, 2)


def test_spherical_covariances_and_equal_priors_are_the_nearest_centroid():
    X, y = load_wine(return_X_y=True)
    model = LinearDiscriminantAnalysis(priors=np.ones(3) / 3, covariance_type="spherical")
    assert np.array_equal(model.fit(X, y).predict(X), NearestCentroid().fit(X, y).predict(X))


# oracles and published numbers ---------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_agrees_with_scikit_learn(load):
    X, y = load(return_X_y=True)
    ours = LinearDiscriminantAnalysis().fit(X, y)
    theirs = SklearnLDA(solver="lsqr", store_covariance=True).fit(X, y)
    np.testing.assert_allclose(ours.covariances_, theirs.covariance_, rtol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    Z = X[:, :4]  # the peer measures rank in absolute units and refuses more
    X = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    quadratic = QuadraticDiscriminantAnalysis().fit(X, y)
    peer = SklearnQDA(store_covariance=True).fit(X, y)
    np.testing.assert_allclose(quadratic.covariances_, peer.covariance_, rtol=1e-9)
    np.testing.assert_allclose(quadratic.predict_proba(X), peer.predict_proba(X), atol=1e-8)


def test_projections_agree_with_scikit_learn_up_to_sign_and_scale():
    X, y = IRIS
    ours = LinearDiscriminantAnalysis().fit(X, y).transform(X)
    theirs = SklearnLDA(solver="eigen").fit(X, y).transform(X)
    for a, b in zip(ours.T, theirs.T):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("unbiased", [False, True])
def test_iris_has_three_resubstitution_errors_either_way(unbiased):
    X, y = IRIS
    for model in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        assert np.count_nonzero(model(unbiased=unbiased).fit(X, y).predict(X) != y) == 3


# properties ----------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), model=st.sampled_from(MODELS[:2]))
def test_affine_maps_of_the_inputs_change_no_posterior(seed, model):
    rng = np.random.default_rng(seed)
    X, y = sample(rng)
    A = rng.standard_normal((3, 3)) + 3 * np.eye(3)
    if np.linalg.cond(A) > 100:
        return
    shift = 10 * rng.standard_normal(3)
    before = model().fit(X, y).predict_proba(X)
    after = model().fit(X @ A.T + shift, y).predict_proba(X @ A.T + shift)
    np.testing.assert_allclose(after, before, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("model", MODELS)
def test_the_unit_of_the_inputs_does_not_matter(model, scale):
    X, y = IRIS
    np.testing.assert_allclose(
        model().fit(scale * X, y).predict_proba(scale * X), model().fit(X, y).predict_proba(X),
        atol=1e-9,
    )  # fmt: skip


@pytest.mark.parametrize("far", [2.0**20, -(2.0**20), 2.0**40])
def test_whole_numbers_far_from_the_origin_keep_every_digit(far):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 16)  # so that means are exact
    X = rng.integers(-8, 9, (64, 2)) + 3.0 * (y == 1)[:, None]
    near, away = (
        LinearDiscriminantAnalysis().fit(X + s, y).decision_function(X + s) for s in (0.0, far)
    )
    np.testing.assert_allclose(away, near, atol=1e-14)


def test_far_from_the_origin_the_digits_remain():
    X, y = IRIS
    near, far = (LinearDiscriminantAnalysis().fit(X + s, y).predict_proba(X + s) for s in (0, 1e6))
    np.testing.assert_allclose(far, near, atol=1e-6)


def test_an_empty_chunk_of_a_class_adds_nothing():
    nothing = ClassStatistics(np.zeros(2), np.zeros((2, 1)), np.zeros((2, 1, 1)))
    s = class_statistics([[1.0], [4.0], [6.0]], np.array([0, 1, 1]))
    both = nothing + s + nothing
    assert np.array_equal(both.means, s.means)
    assert np.array_equal(both.scatters, s.scatters)


def test_scores_keep_their_digits_wherever_the_rows_lie():
    rng = np.random.default_rng(31)
    X = rng.standard_normal((90, 3)) + np.repeat(np.eye(3), 30, axis=0)
    y = np.repeat([0, 1, 2], 30)
    near = LinearDiscriminantAnalysis().fit(X, y)
    for offset, digits in ((1.0, 1e-12), (50.0, 1e-11), (1e6, 1e-7)):
        model = LinearDiscriminantAnalysis().fit(X + offset, y)
        gap = model.predict_log_proba(X + offset) - near.predict_log_proba(X)
        assert np.abs(gap).max() < digits, offset


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_features_and_weights_of_any_accepted_size(kind):
    X, y = np.arange(1.0, 9.0)[:, None] ** 2, np.repeat([0, 1], 4)
    labels = kind().fit(X, y).predict(X)
    for unit in (1e-149, 1e147):
        assert np.array_equal(kind().fit(X * unit, y).predict(X * unit), labels)
    with pytest.raises(ValueError, match="too large, squares overflow"):
        kind().fit(X * 1e147, y, np.full(8, 1e200))
    for weight in (1e-200, 1e200):
        assert np.allclose(kind().fit(X, y, np.full(8, weight)).means_, kind().fit(X, y).means_)


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("priors", [None, [0.6, 0.3, 0.1]])
@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_the_estimators_keep_the_estimates_that_were_asked_for(unbiased, priors, kind):
    X, y = sample(np.random.default_rng(3), n=50)
    n, parts = np.bincount(y), [X[y == k] for k in range(3)]
    S = np.array([(Z - Z.mean(axis=0)).T @ (Z - Z.mean(axis=0)) for Z in parts])

    def constrained(Sigma):
        variances = np.diag(Sigma)
        shapes = {"full": Sigma, "diag": np.diag(variances)}
        return shapes.get(kind, variances.mean() * np.eye(3))

    asked = {"unbiased": unbiased, "priors": priors}
    own, pooled = S / (n - unbiased)[:, None, None], S.sum(axis=0) / (50 - 3 * unbiased)
    lda = LinearDiscriminantAnalysis(covariance_type=kind, **asked).fit(X, y)
    assert lda.covariances_ == pytest.approx(constrained(pooled))
    qda = QuadraticDiscriminantAnalysis(covariance_type=kind, **asked).fit(X, y)
    assert qda.covariances_ == pytest.approx(np.array([constrained(Sigma) for Sigma in own]))
    rda = RegularisedDiscriminantAnalysis(0.7, 0.2, **asked).fit(X, y)
    for k, Sigma in enumerate(0.7 * own + 0.3 * pooled):
        expected = 0.8 * Sigma + 0.2 * np.trace(Sigma) / 3 * np.eye(3)
        assert rda.covariances_[k] == pytest.approx(expected)
    for model in (lda, qda, rda):
        assert model.priors_ == pytest.approx(n / 50 if priors is None else priors)
        assert model.means_ == pytest.approx(np.array([Z.mean(axis=0) for Z in parts]))
        logs = [
            np.log(model.priors_[k]) + multivariate_normal(model.means_[k], Sigma).logpdf(X)
            for k, Sigma in enumerate(np.broadcast_to(model.covariances_, (3, 3, 3)))
        ]
        weights = np.exp(np.transpose(logs))
        expected = weights / weights.sum(axis=1, keepdims=True)
        assert model.predict_proba(X) == pytest.approx(expected)
    scores = X @ lda.coef_.T + lda.intercept_
    assert scores - scores[:, :1] == pytest.approx(
        np.subtract(*np.broadcast_arrays(lda.decision_function(X), lda.decision_function(X)[:, :1]))
    )
    W, m = lda.fisher_.directions, n @ lda.means_ / 50
    between = (n[:, None] * (lda.means_ - m)).T @ (lda.means_ - m) / 50
    assert W.T @ lda.covariances_ @ W == pytest.approx(np.eye(2), abs=1e-10)
    assert np.diag(W.T @ between @ W) == pytest.approx(lda.fisher_.ratios)
    assert lda.fisher_.ratios[0] > lda.fisher_.ratios[1]


def test_what_is_left_out_of_an_error_rate_and_of_statistics():
    assert lda_error_rate(1.5) == lda_error_rate(1.5, 0.5) != lda_error_rate(1.5, 0.1)
    X, y = sample(np.random.default_rng(4))
    statistics = class_statistics(X, y)
    assert statistics.scatters.shape == (3, 3, 3)
    left_out = estimate_classes(statistics)
    named = estimate_classes(statistics, shared=False, unbiased=False, covariance_type="full")
    assert all(np.array_equal(a, b) for a, b in zip(left_out, named))
    assert np.array_equal(
        regularised_covariances(statistics, 0.5, 0.1),
        regularised_covariances(statistics, 0.5, 0.1, unbiased=False),
    )


@pytest.mark.parametrize("shared", [False, True])
def test_labelled_rows_of_any_classes_add_up(shared):
    X, y = sample(np.random.default_rng(5), n=40)
    y = np.array([30, 10, 20])[y]
    parts = [labelled_statistics((X[y == k], y[y == k]), shared) for k in (30, 10, 20)]
    parts.append(labelled_statistics((X[:7], y[:7]), shared))
    total = parts[0] + parts[1] + parts[2] + parts[3]
    rows = np.concatenate([np.arange(40), np.arange(7)])
    index = np.searchsorted([10, 20, 30], y[rows])
    whole = class_statistics(X[rows], index, 3, shared=shared)
    assert total.classes.tolist() == [10, 20, 30]
    assert total.rows.tolist() == np.bincount(index).tolist()
    for field in ("counts", "means", "scatters"):
        assert getattr(total.statistics, field) == pytest.approx(getattr(whole, field))
    assert labelled_statistics((X, y)).statistics.scatters.shape == (3, 3, 3)
    with pytest.raises(ValueError, match="This Mine estimator"):
        labelled_statistics((X, None), name="Mine")


def test_the_maximum_likelihood_is_the_default_of_shrinking():
    X, y = sample(np.random.default_rng(6))
    statistics = class_statistics(X, y)
    own = statistics.scatters / statistics.counts[:, None, None]
    assert regularised_covariances(statistics, 1.0, 0.0) == pytest.approx(own)


@pytest.mark.parametrize(("steps", "refused"), [(1150, True), (1600, False)])
def test_a_feature_is_constant_by_the_size_of_its_largest_class_mean(steps, refused):
    """The spread within the classes is 0.9 and 1.26 times 1e-13 of the largest mean."""
    apart = 1.0 + steps * np.spacing(1.0)
    X = np.array([[1.0], [apart], [0.6], [0.6]])
    model, y = LinearDiscriminantAnalysis(), [0, 0, 1, 1]
    spread = (apart - 1) / np.sqrt(8)
    assert (spread <= 1e-13) == refused
    if refused:
        with pytest.raises(ValueError, match="does not vary within"):
            model.fit(X, y)
    else:
        assert model.fit(X, y).predict(X).tolist() == y
