"""Forests: behaviour, errors, edge cases, oracles, published numbers, wrong variants."""

import inspect
import itertools
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier as PeerClassifier
from sklearn.ensemble import RandomForestRegressor as PeerRegressor
from sklearn.inspection import permutation_importance as peer_permutation

import mllib.forests as module
from mllib.forests import (
    BaggingClassifier,
    BaggingRegressor,
    Forest,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    averaging,
    averaging_over_runs,
    bootstrap_indices,
    embed,
    expected_distinct,
    forest_values,
    forest_votes,
    gini_importance,
    grow_forest,
    importance_table,
    majority_accuracy,
    n_rules,
    oob_error,
    oob_prediction,
    oob_probability,
    out_of_fold,
    permutation_importance,
    proximities,
    variance_of_average,
)
from mllib.least_squares import LinearRegression
from mllib.logistic_regression import LogisticRegression
from mllib.model_selection import k_fold
from mllib.nearest_neighbours import KNeighborsClassifier, KNeighborsRegressor
from mllib.trees import DecisionTreeClassifier, DecisionTreeRegressor, apply, grow


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def sample(rng):
    X = rng.integers(0, 8, (50, 4)).astype(float)
    return X, (X[:, 0] + rng.integers(0, 4, 50) > 5).astype(int)


CLASSES = {"n_classes": 2, "criterion": "gini"}


def same_trees(a, b, but=()):
    return len(a) == len(b) and all(
        len(s.n) == len(t.n)
        and all(np.allclose(u, v) for name, u, v in zip(s._fields, s, t) if name not in but)
        for s, t in zip(a, b)
    )


# Votes and averages --------------------------------------------------------------------------


def test_majority_of_eleven():
    assert majority_accuracy(F(3, 5), 11) == F(36791901, 48828125)
    assert majority_accuracy(0.5, 7) == pytest.approx(0.5)
    assert majority_accuracy(F(1), 3) == 1


@pytest.mark.parametrize(("p", "B"), [(1.2, 3), (-0.1, 3), (0.5, 4), (0.5, 0), (0.5, 2.5)])
def test_votes_that_are_none(p, B):
    with pytest.raises(ValueError, match=r"p must|B must"):
        majority_accuracy(p, B)


def test_variance_of_average_in_fractions_and_at_its_ends():
    assert variance_of_average(F(2), F(1, 4), 3) == F(1)
    assert variance_of_average(F(5), F(1), 9) == 5
    assert variance_of_average(F(5), F(-1, 8), 9) == 0
    assert variance_of_average(F(5), F(-1), 1) == 5
    assert variance_of_average(1.0, -1 / 3, 4) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    ("sigma2", "rho", "B"), [(-1, 0, 2), (1, 1.1, 2), (1, -0.6, 3), (1, 0, 0), (1, float("nan"), 2)]
)
def test_moments_that_no_variables_have(sigma2, rho, B):
    with pytest.raises(ValueError, match=r"sigma2 must|rho must|B must"):
        variance_of_average(sigma2, rho, B)


@given(st.integers(0, 10_000), st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_averaging_is_the_mean_of_the_covariance_matrix(seed, B):
    A = np.random.default_rng(seed).standard_normal((B, B))
    cov = A @ A.T
    found = averaging(cov)
    assert found.variance == pytest.approx(cov.mean())
    assert found.single == pytest.approx(np.trace(cov) / B)
    assert found.correlation >= -1 / (B - 1) - 1e-12
    off = cov[~np.eye(B, dtype=bool)].mean()
    assert found.covariance == pytest.approx(off) == found.correlation * found.single


def test_averaging_of_constants_has_no_correlation():
    assert np.isnan(averaging(np.zeros((3, 3))).correlation)
    assert np.isnan(averaging_over_runs(np.ones((3, 2, 1))).correlation)


@pytest.mark.parametrize("bad", [[[1.0]], [[1.0, 2.0], [0.0, 1.0]], [[1.0, 2.0]]])
def test_what_is_no_covariance_matrix(bad):
    with pytest.raises(ValueError, match="cov must"):
        averaging(bad)
    with pytest.raises(ValueError, match="P must have shape"):
        averaging_over_runs(bad)


def test_averaging_over_runs_uses_unbiased_moments(rng):
    P = rng.standard_normal((9, 4, 3)) + rng.standard_normal((9, 1, 3))
    cov = np.mean([np.cov(P[:, :, x].T) for x in range(3)], axis=0)
    off = cov[~np.eye(4, dtype=bool)].mean()
    single = np.diag(cov).mean()
    assert np.allclose(averaging_over_runs(P), (cov.mean(), single, off, off / single))


# The bootstrap -------------------------------------------------------------------------------


def test_bootstrap_depends_on_the_generator_alone():
    a, b = (bootstrap_indices(20, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(a, b)
    assert len(a) == 20
    assert a.min() >= 0
    assert a.max() < 20


def test_whole_weights_are_rows_and_draw_like_them():
    w = np.array([2, 0, 3, 1])
    repeated = np.repeat(np.arange(4), w)
    a = bootstrap_indices(4, np.random.default_rng(1), w=w)
    b = repeated[bootstrap_indices(6, np.random.default_rng(1))]
    assert np.array_equal(a, b)


def test_other_weights_are_probabilities(rng):
    w = np.array([0.25, 0.0, 0.5])
    assert len(bootstrap_indices(3, rng, w=w)) == 2
    share = np.bincount(bootstrap_indices(3, rng, 30_000, w), minlength=3) / 30_000
    assert share[1] == 0
    assert abs(share[0] - 1 / 3) < 6 * np.sqrt(2 / 9 / 30_000)


@pytest.mark.parametrize("w", [[-1.0, 2.0], [0.0, 0.0], [1.0], [np.nan, 1.0]])
def test_weights_that_draw_nothing(rng, w):
    with pytest.raises(ValueError, match=r"\bw\b"):
        bootstrap_indices(2, rng, w=w)


def test_bootstrap_arguments(rng):
    with pytest.raises(ValueError, match="n must"):
        bootstrap_indices(0, rng)
    with pytest.raises(ValueError, match="size must"):
        bootstrap_indices(2, rng, 0)
    with pytest.raises(ValueError, match="rng must"):
        bootstrap_indices(2, 0)


def test_oob_probability_published():
    # Breiman (1996), section 6.1: "about 37% of the data are left out"
    assert round(oob_probability(10_000), 2) == 0.37
    assert oob_probability(1) == 0
    assert oob_probability(3, 0) == 1
    assert expected_distinct(3) == pytest.approx(3 * (1 - 8 / 27))
    assert expected_distinct(4, 1) == 1


# Forests -------------------------------------------------------------------------------------


def test_a_forest_without_randomness_is_a_tree(sample):
    X, y = sample
    forest = grow_forest(X, y, n_trees=2, bootstrap=False, rng=np.random.default_rng(0), **CLASSES)
    assert same_trees(forest.trees, [grow(X, y, **CLASSES)] * 2)
    assert (forest.copies == 1).all()


def test_trees_are_those_of_repeated_rows(sample):
    X, y = sample
    forest = grow_forest(X, y * 1.5, n_trees=4, rng=np.random.default_rng(0))
    again = [grow(np.repeat(X, k, axis=0), np.repeat(y * 1.5, k)) for k in forest.copies]
    assert same_trees(forest.trees, again, but=("n",))


def test_order_of_rows_does_not_matter(sample, rng):
    X, y = sample
    at = rng.permutation(50)
    a, b = (
        grow_forest(X[i], y[i], n_trees=4, max_features=2, rng=np.random.default_rng(3), **CLASSES)
        for i in (np.arange(50), at)
    )
    assert same_trees(a.trees, b.trees)
    assert np.array_equal(np.sort(a.copies.sum(axis=0)), np.sort(b.copies.sum(axis=0)))


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_whole_weights_are_repeated_rows(sample, rng, kind, bootstrap):
    X, y = sample
    w = rng.integers(0, 4, 50)
    model = {"n_estimators": 8, "random_state": 1, "bootstrap": bootstrap}
    a = kind(**model).fit(X, y, sample_weight=w)
    b = kind(**model).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert np.allclose(a._values(X), b._values(X))


def test_bagging_with_weights_is_bagging_of_repeated_rows(sample, rng):
    X, y = sample
    w = rng.integers(0, 4, 50)
    for kind in (BaggingClassifier, BaggingRegressor):
        a = kind(n_estimators=5, random_state=1).fit(X, y, sample_weight=w)
        b = kind(n_estimators=5, random_state=1).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        assert np.array_equal(a.predict(X), b.predict(X))


def test_workers_change_nothing(sample):
    X, y = sample
    one = RandomForestClassifier(6, random_state=2).fit(X, y)
    with ThreadPoolExecutor(2) as pool:
        others = [
            RandomForestClassifier(6, random_state=2, workers=workers).fit(X, y)
            for workers in (2, pool.map)
        ]
        bagged = BaggingRegressor(n_estimators=4, random_state=2, workers=pool.map).fit(X, y)
    for other in others:
        assert np.array_equal(one.forest_.copies, other.forest_.copies)
        assert all(
            np.array_equal(u, v)
            for a, b in zip(one.forest_.trees, other.forest_.trees)
            for u, v in zip(a, b)
        )
    alone = BaggingRegressor(n_estimators=4, random_state=2).fit(X, y)
    assert np.array_equal(alone.predict(X), bagged.predict(X))


def test_values_and_votes_by_hand(sample):
    X, y = sample
    forest = grow_forest(
        X, y, n_trees=5, max_depth=2, rng=np.random.default_rng(0), max_features=2, **CLASSES
    )
    values = np.array([t.value[apply(t, X)] for t in forest.trees])
    assert np.allclose(forest_values(forest, X), values.mean(axis=0))
    votes = np.mean(values.argmax(axis=2) == 1, axis=0)
    assert np.allclose(forest_votes(forest, X)[:, 1], votes)
    assert np.allclose(forest_votes(forest, X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="forest must hold trees for classes"):
        forest_votes(forest._replace(n_classes=None), X)


def test_limits_reach_the_trees(sample):
    X, y = sample
    deep = RandomForestClassifier(5, random_state=0, max_depth=2).fit(X, y)
    assert max(len(t.n) for t in deep.forest_.trees) <= 7
    few = RandomForestClassifier(5, random_state=0, min_samples_leaf=6).fit(X, y)
    assert min(t.n.min() for t in few.forest_.trees) >= 6
    heavy = RandomForestRegressor(5, random_state=0, min_weight_fraction_leaf=0.2).fit(X, y)
    assert min(t.weight.min() for t in heavy.forest_.trees) >= 10 - 1e-9
    stump = RandomForestRegressor(5, random_state=0, min_impurity_decrease=9.0).fit(X, y)
    assert all(len(t.n) == 1 for t in stump.forest_.trees)
    rare = RandomForestRegressor(5, random_state=0, min_samples_split=51).fit(X, y)
    assert all(len(t.n) == 1 for t in rare.forest_.trees)


def test_estimators_are_grown_with_their_settings(sample):
    X, y = sample
    how = {"max_features": 2, "min_samples_leaf": 2, "min_weight_fraction_leaf": 0.05}
    model = RandomForestClassifier(9, random_state=4, max_samples=0.8, **how).fit(X, y)
    forest = grow_forest(
        X, y, n_trees=9, max_samples=40, rng=np.random.default_rng(4), **how, **CLASSES
    )
    assert same_trees(model.forest_.trees, forest.trees)
    assert np.array_equal(model.feature_importances_, gini_importance(forest, 4))
    usual = RandomForestRegressor(3, random_state=4).fit(X, y)
    third = grow_forest(X, y, n_trees=3, max_features=1, rng=np.random.default_rng(4))
    assert same_trees(usual.forest_.trees, third.trees)


def test_number_of_draws(sample):
    X, y = sample
    for size, draws in ((None, 50), (0.5, 25), (7, 7), (1e-9, 1)):
        forest = RandomForestClassifier(3, max_samples=size).fit(X, y).forest_
        assert (forest.copies.sum(axis=1) == draws).all()


def test_balanced_bootstrap_draws_equally(sample):
    X, y = sample
    y = y + (np.arange(50) < 6)  # three classes
    forest = RandomForestClassifier(4, bootstrap="balanced", random_state=0).fit(X, y).forest_
    least = np.bincount(y).min()
    for copies in forest.copies:
        assert (np.bincount(y, copies) == least).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must"),
        ({"max_features": 5}, r"max_features must be an integer in \[1, 4\]"),
        ({"max_features": 0}, "max_features must"),
        ({"max_features": 1.5}, "max_features must"),
        ({"max_features": "half"}, "max_features must"),
        ({"max_samples": 0}, "max_samples must"),
        ({"max_samples": 51}, "max_samples must"),
        ({"max_samples": 0.0}, "max_samples must"),
        ({"max_samples": 0.5, "bootstrap": False}, "max_samples needs"),
        ({"bootstrap": "half"}, "bootstrap must"),
        ({"bootstrap": None}, "bootstrap must"),
        ({"bootstrap": False, "oob_score": True}, "oob_score needs bootstrap=True"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf must"),
        ({"criterion": "squared"}, "criterion must"),
        ({"random_state": -1}, "random_state must"),
        ({"workers": 0}, "workers must"),
    ],
)
def test_settings_that_are_refused(sample, settings, message):
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(**({"n_estimators": 3} | settings)).fit(*sample)
    with pytest.raises(ValueError, match=message):
        RandomForestRegressor(**({"n_estimators": 3} | settings)).fit(*sample)


def test_more_that_is_refused(sample, rng):
    X, y = sample
    with pytest.raises(ValueError, match=r"balanced.* needs classes"):
        RandomForestRegressor(2, bootstrap="balanced").fit(X, y)
    with pytest.raises(ValueError, match="class_weight must"):
        RandomForestClassifier(2, class_weight={7: 1.0}).fit(X, y)
    with pytest.raises(ValueError, match="rng must"):
        grow_forest(X, y, rng=0)
    with pytest.raises(ValueError, match="n_trees must"):
        grow_forest(X, y, rng=rng, n_trees=0)
    with pytest.raises(ValueError, match="factor must"):
        grow_forest(X, y, rng=rng, factor=[1.0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RandomForestRegressor().fit(X, y[:-1])
    forest = grow_forest(X, y, n_trees=20, rng=rng)
    with pytest.raises(ValueError, match="X must have at least 4 columns"):
        forest_values(forest, X[:, :2])
    with pytest.raises(ValueError, match="X must hold the 50 training rows"):
        oob_prediction(forest, X[:9])
    with pytest.raises(ValueError, match="names must"):
        importance_table([0.1, 0.9], ["a"])


def test_one_class_and_one_row():
    forest = RandomForestClassifier(3, random_state=0).fit([[0.0], [1.0]], ["a", "a"])
    assert forest.predict([[5.0]]).tolist() == ["a"]
    assert forest.predict_proba([[5.0]]).tolist() == [[1.0]]
    assert forest.feature_importances_.tolist() == [0.0]
    with pytest.raises(ValueError, match="No row is out of bag"):
        RandomForestRegressor(9, oob_score=True).fit([[1.0]], [2.0])
    assert RandomForestRegressor(9).fit([[1.0]], [2.0]).predict([[0.0]]) == 2


def test_a_class_without_weight_is_absent(sample):
    X, y = sample
    model = RandomForestClassifier(3, random_state=0).fit(X, y, sample_weight=1.0 * (y == 1))
    assert model.classes_.tolist() == [1]


# Out of bag ----------------------------------------------------------------------------------


def test_out_of_bag_by_hand(sample):
    X, y = sample
    forest = grow_forest(X, y, n_trees=5, rng=np.random.default_rng(1), max_features=2, **CLASSES)
    value, number = oob_prediction(forest, X)
    assert np.array_equal(number, (forest.copies == 0).sum(axis=0))
    wrong = []
    for i in range(50):
        judges = [t.value[apply(t, X[[i]])[0]] for t, k in zip(*forest[:2]) if k[i] == 0]
        if not judges:
            assert np.isnan(value[i]).all()
            continue
        assert np.allclose(value[i], np.mean(judges, axis=0))
        wrong.append(np.mean(judges, axis=0).argmax() != y[i])
    assert oob_error(forest, X, y) == pytest.approx(np.mean(wrong))
    model = RandomForestClassifier(5, max_features=2, oob_score=True, random_state=1).fit(X, y)
    assert model.oob_score_ == pytest.approx(1 - np.mean(wrong))
    assert np.allclose(model.oob_values_, value, equal_nan=True)


def test_out_of_bag_score_of_regression(sample):
    X, y = sample
    model = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    answers = model.oob_values_[:, 0]
    assert model.oob_score_ == pytest.approx(1 - np.mean((y - answers) ** 2) / y.var())
    constant = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, np.ones(50))
    assert constant.oob_score_ == 1


def test_weights_count_in_the_out_of_bag_error(sample):
    X, y = sample
    forest = grow_forest(X, y, n_trees=30, rng=np.random.default_rng(1), **CLASSES)
    w = 1.0 * (np.arange(50) < 10)
    value = oob_prediction(forest, X).value
    assert oob_error(forest, X, y, w) == pytest.approx(np.mean(value[:10].argmax(axis=1) != y[:10]))


def test_wrong_out_of_bag_prediction_is_noticed(sample):
    X, y = sample
    source = inspect.getsource(module)
    names = {"__name__": "broken"}
    exec(source.replace("np.flatnonzero(copies == 0)", "np.flatnonzero(copies > 0)"), names)
    forest = grow_forest(X, y, n_trees=5, rng=np.random.default_rng(1), **CLASSES)
    assert names["oob_error"](forest, X, y) < oob_error(forest, X, y)


# Importance ----------------------------------------------------------------------------------


def test_gini_importance_by_hand(sample):
    X, y = sample
    forest = grow_forest(X, y, n_trees=5, rng=np.random.default_rng(1), max_features=2, **CLASSES)
    shares = []
    for t in forest.trees:
        gain = np.zeros(4)
        for v in np.flatnonzero(t.left >= 0):
            a, b = t.left[v], t.right[v]
            cost = t.weight * t.impurity
            gain[t.feature[v]] += cost[v] - cost[a] - cost[b]
        shares.append(gain / gain.sum())
    assert np.allclose(gini_importance(forest, 4), np.mean(shares, axis=0))


def test_permutation_importance_of_a_column_never_tested(sample):
    X, y = sample
    X = np.column_stack([X, np.ones(50)])
    forest = grow_forest(X, y, n_trees=5, rng=np.random.default_rng(1), **CLASSES)
    found = permutation_importance(forest, X, y, np.random.default_rng(0), repeats=3)
    assert found[4] == 0
    assert found[0] > 0


def test_permutation_importance_of_regression_is_squared_error(rng):
    X = rng.standard_normal((80, 3))
    y = 3 * X[:, 1]
    forest = grow_forest(X, y, n_trees=20, rng=rng)
    found = permutation_importance(forest, X, y, rng)
    assert found[1] > y.var()
    assert np.abs(found[[0, 2]]).max() < 0.1 * found[1]


def test_nothing_to_permute():
    lonely = grow_forest([[0.0], [1.0]], [0.0, 1.0], n_trees=2, bootstrap=False,
                         rng=np.random.default_rng(0))  # fmt: skip
    with pytest.raises(ValueError, match="No tree has two rows out of bag"):
        permutation_importance(lonely, [[0.0], [1.0]], [0.0, 1.0], np.random.default_rng(0))


def test_permutation_ranks_like_scikit_learn():
    data = load_wine()
    A, t, Q, u = data.data[::2], data.target[::2], data.data[1::2], data.target[1::2]
    forest = RandomForestClassifier(100, random_state=0).fit(A, t)
    ours = permutation_importance(forest.forest_, A, t, np.random.default_rng(0), repeats=3)
    peer = PeerClassifier(100, random_state=0).fit(A, t)
    theirs = peer_permutation(peer, Q, u, n_repeats=10, random_state=0).importances_mean
    assert set(np.argsort(ours)[-3:]) & set(np.argsort(theirs)[-3:])
    assert np.corrcoef(forest.feature_importances_, peer.feature_importances_)[0, 1] > 0.95


def test_importance_table_is_sorted_and_stable():
    assert importance_table([1, 3, 3]) == [(1, 3.0), (2, 3.0), (0, 1.0)]


def test_rules_are_leaves(sample):
    X, y = sample
    forest = grow_forest(X, y, n_trees=5, rng=np.random.default_rng(1), **CLASSES)
    assert n_rules(forest) == sum((t.left < 0).sum() for t in forest.trees)


# Proximities ---------------------------------------------------------------------------------


def test_proximities_by_hand(sample):
    X, y = sample
    model = RandomForestClassifier(7, random_state=0, max_depth=3).fit(X, y)
    P = model.proximities(X)
    leaves = np.array([apply(t, X) for t in model.forest_.trees])
    for i, j in itertools.product(range(0, 50, 7), repeat=2):
        assert P[i, j] == pytest.approx(np.mean(leaves[:, i] == leaves[:, j]))
    assert np.array_equal(P, P.T)
    assert (np.diag(P) == 1).all()
    assert np.linalg.eigvalsh(P).min() > -1e-10
    assert np.array_equal(P, proximities(model.forest_, X))


def test_embed_reproduces_distances(rng):
    G = rng.standard_normal((12, 3))
    Z = embed(G @ G.T, 3)
    near, far = (((A[:, None] - A) ** 2).sum(axis=2) for A in (Z, G))
    assert np.allclose(near, far)
    assert np.allclose(Z.mean(axis=0), 0)
    assert (Z[np.abs(Z).argmax(axis=0), np.arange(3)] > 0).all()
    with pytest.raises(ValueError, match="k must"):
        embed(np.eye(2), 3)
    with pytest.raises(ValueError, match="symmetric"):
        embed([[1.0, 2.0], [0.0, 1.0]], 1)


# Bagging and stacking ------------------------------------------------------------------------


def test_bagging_is_the_mean_of_its_models(sample):
    X, y = sample
    model = BaggingClassifier(n_estimators=4, max_features=2, random_state=0).fit(X, y)
    shares = np.mean(
        [m.predict_proba(X[:, c]) for m, c in zip(model.estimators_, model.columns_)], axis=0
    )
    assert np.allclose(model.predict_proba(X), shares)
    assert all(len(c) == 2 for c in model.columns_)
    assert len({tuple(c) for c in model.columns_}) > 1


def test_bagging_takes_any_model(sample):
    X, y = sample
    near = BaggingClassifier(KNeighborsClassifier(1), 5, random_state=0).fit(X, y)
    assert near.score(X, y) > 0.8
    assert BaggingRegressor(LinearRegression(), 5, random_state=0).fit(X, X[:, 0]).score(
        X, X[:, 0]
    ) == pytest.approx(1)
    trees = BaggingClassifier(DecisionTreeClassifier(max_features=1), 5, random_state=0)
    assert np.array_equal(
        trees.fit(X, y).predict_proba(X), trees.fit(X, y).predict_proba(X)
    )  # the models' own randomness comes from random_state


def test_out_of_fold_answers_have_not_seen_their_rows(rng):
    X, y = rng.uniform(size=(20, 2)), rng.standard_normal(20)
    folds = k_fold(20, 4)
    found = out_of_fold(KNeighborsRegressor(1), X, y, folds)[:, 0]
    for train, rest in folds:
        for i in rest:
            assert found[i] == y[train[((X[train] - X[i]) ** 2).sum(axis=1).argmin()]]
    shares = out_of_fold(DecisionTreeClassifier(), X, [0, 1] * 10, folds)
    assert shares.shape == (20, 2)
    assert np.allclose(shares.sum(axis=1), 1)


def test_out_of_fold_with_a_class_that_a_fold_lacks_and_without_probabilities(rng):
    X, y = rng.uniform(size=(9, 2)), np.array([0, 0, 0, 0, 1, 1, 1, 1, 2])
    shares = out_of_fold(DecisionTreeClassifier(), X, y, k_fold(9, 3))
    assert shares.shape == (9, 3)
    assert np.allclose(shares.sum(axis=1), 1)

    class Mute(DecisionTreeClassifier):
        predict_proba = property(lambda self: self.missing)

    decided = out_of_fold(Mute(), X, y, k_fold(9, 3))
    assert set(np.unique(decided)) <= {0, 1}
    assert np.allclose(decided.sum(axis=1), 1)


def test_stack_of_one_perfect_model(rng):
    X = rng.standard_normal((40, 2))
    y = X @ [1.0, 2.0]
    stack = StackingRegressor([LinearRegression(), DecisionTreeRegressor(max_depth=0)],
                              random_state=0).fit(X, y)  # fmt: skip
    assert np.allclose(stack.predict(X), y)
    assert stack.final_estimator_.coef_[0] == pytest.approx(1)


def test_stack_of_classifiers(sample):
    X, y = sample
    stack = StackingClassifier(
        [DecisionTreeClassifier(max_depth=2), LogisticRegression()], cv=3, random_state=0
    ).fit(X, np.array(["no", "yes"])[y])
    assert stack.predict_proba(X).shape == (50, 2)
    assert stack.score(X, np.array(["no", "yes"])[y]) > 0.7
    with pytest.raises(ValueError, match="estimators must hold"):
        StackingClassifier([]).fit(X, y)
    with pytest.raises(ValueError, match="cv must"):
        StackingRegressor(cv=1).fit(X, y)


# Oracles -------------------------------------------------------------------------------------


def test_as_good_as_scikit_learn_on_ten_divisions():
    for data, n, ours, peer in (
        (load_breast_cancer(), 400, RandomForestClassifier, PeerClassifier),
        (load_diabetes(), 300, RandomForestRegressor, PeerRegressor),
    ):
        scores = []
        same = {} if ours is RandomForestClassifier else {"max_features": 1 / 3}
        for seed in range(10):
            at = np.random.default_rng(seed).permutation(len(data.target))
            (A, Q), (t, u) = (np.split(v[at], [n]) for v in (data.data, data.target))
            scores.append(
                [kind(50, random_state=seed, **same).fit(A, t).score(Q, u) for kind in (ours, peer)]
            )
        gap = np.diff(scores, axis=1)
        assert abs(gap.mean()) < 4 * gap.std(ddof=1) / np.sqrt(10) + 1e-3


def test_the_root_without_bootstrap_is_scikit_learns(sample):
    X, y = sample
    ours = RandomForestClassifier(1, bootstrap=False, max_features=None).fit(X, y)
    peer = PeerClassifier(1, bootstrap=False, max_features=None, random_state=0).fit(X, y)
    assert ours.score(X, y) == peer.score(X, y)
    assert ours.forest_.trees[0].impurity[0] == pytest.approx(peer.estimators_[0].tree_.impurity[0])


def test_records_can_be_made_by_hand():
    leaf = grow([[0.0], [0.0]], [0, 1], [0.4, 0.6], **CLASSES)
    forest = Forest((leaf, leaf), np.zeros((2, 1), int), 2)
    assert forest_values(forest, [[3.0]]).tolist() == [[0.4, 0.6]]


@pytest.mark.parametrize("kind", [module.RandomForestClassifier, module.BaggingClassifier])
def test_whole_weights_that_mean_too_many_rows_are_refused(kind):
    X, y = np.arange(24.0)[:, None], np.repeat([0, 1], 12)
    for weight in (1e8, 1e100):
        with pytest.raises(ValueError, match="whole weights mean so many equal rows"):
            kind(n_estimators=3, random_state=0).fit(X, y, sample_weight=np.full(24, weight))
    w = np.full(24, 1e8)
    assert (
        kind(n_estimators=20, random_state=0).fit(X, y, sample_weight=w / w.mean()).predict(X) == y
    ).all()


OPTIONS = {
    "n_estimators": 5,
    "criterion": "entropy",
    "max_features": 3,
    "max_depth": 2,
    "min_samples_split": 15,
    "min_samples_leaf": 7,
    "min_weight_fraction_leaf": 0.2,
    "min_impurity_decrease": 0.03,
    "bootstrap": False,
    "max_samples": 0.5,
    "random_state": 4,
    "class_weight": {0: 1.0, 1: 5.0},
}


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
@pytest.mark.parametrize("name", [None, *OPTIONS])
def test_forests_grow_what_they_are_asked_for(sample, kind, name):
    X, y = sample
    classes = kind is RandomForestClassifier
    if not classes and name in ("criterion", "class_weight"):
        name = None
    given = {} if name is None else {name: OPTIONS[name]}
    settings = kind(n_estimators=8, random_state=1).get_params() | given
    model = kind(**{"n_estimators": 8, "random_state": 1} | given).fit(X, y)
    draws = np.random.default_rng(settings.pop("random_state"))
    weights = settings.pop("class_weight", None) or {}
    if classes:
        settings |= {"n_classes": 2, "factor": np.array([weights.get(k, 1.0) for k in y])}
    settings["n_trees"] = settings.pop("n_estimators")
    settings.pop("oob_score")
    forest = grow_forest(X, y, rng=draws, **settings)
    assert same_trees(model.forest_.trees, forest.trees)
    assert np.array_equal(model.forest_.copies, forest.copies)
    assert np.allclose(model.feature_importances_, gini_importance(forest, 4))
    assert np.allclose(model.proximities(X), proximities(forest, X))
    values = forest_values(forest, X)
    assert np.allclose(model.predict_proba(X) if classes else model.predict(X)[:, None], values)
    if name is None:
        asked = {"n_estimators": 60, "random_state": 1, "oob_score": True}
        scored = kind(**asked).fit(X, y)
        error = oob_error(scored.forest_, X, y)
        assert scored.oob_score_ == pytest.approx(1 - error / (1.0 if classes else y.var()))
        assert np.allclose(scored.oob_values_, oob_prediction(scored.forest_, X).value)
        assert not hasattr(model, "oob_score_")
        used = []

        def workers(function, tasks):
            return (used.append(1) or function(task) for task in tasks)

        kind(n_estimators=8, workers=workers).fit(X, y)
        assert len(used) == 8
    elif name != "random_state":
        plain = kind(n_estimators=8, random_state=1).fit(X, y)
        assert not same_trees(model.forest_.trees, plain.forest_.trees)


def test_what_is_left_out_of_a_forest(sample):
    X, y = sample
    left_out = grow_forest(X, y, rng=np.random.default_rng(0))
    named = {"n_trees": 100, "n_classes": None, "criterion": "squared_error", "bootstrap": True}
    named |= {"max_samples": None, "min_weight_fraction_leaf": 0.0}
    assert same_trees(
        left_out.trees, grow_forest(X, y, rng=np.random.default_rng(0), **named).trees
    )
    heavy = grow_forest(X, y, np.arange(50) % 3 + 1.0, rng=np.random.default_rng(0), n_trees=4)
    assert heavy.copies.sum(axis=1).tolist() == [(np.arange(50) % 3 + 1).sum()] * 4
    once = permutation_importance(left_out, X, y, np.random.default_rng(0))
    assert np.array_equal(
        once, permutation_importance(left_out, X, y, np.random.default_rng(0), repeats=1)
    )
    twice = permutation_importance(left_out, X, y, np.random.default_rng(0), repeats=20)
    assert not np.allclose(once, twice)
    assert np.allclose(once, twice, atol=0.05)
    assert embed(np.eye(4)).shape == (4, 2)
    assert oob_probability(10, 3) == pytest.approx(0.9**3)
    assert expected_distinct(10, 3) == pytest.approx(10 * (1 - 0.9**3))
    assert importance_table([0.3, 0.7]) == [(1, 0.7), (0, 0.3)]
    assert len(bootstrap_indices(9, np.random.default_rng(0), size=4)) == 4


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
@pytest.mark.parametrize(
    "given",
    [{}, {"n_estimators": 4}, {"max_features": 2}, {"max_samples": 0.4}, {"random_state": 8}],
    ids=str,
)
def test_bagging_fits_what_it_is_asked_for(sample, kind, given):
    X, y = sample
    asked = {"n_estimators": 6, "random_state": 2} | given
    tree = DecisionTreeClassifier if kind is BaggingClassifier else DecisionTreeRegressor
    model = kind(**asked).fit(X, y)
    order = np.lexsort(np.vstack([X.T, y]))
    rngs = np.random.default_rng(asked["random_state"]).spawn(asked["n_estimators"])
    answers = []
    for m, rng in enumerate(rngs):
        rows = order[bootstrap_indices(50, rng, round(asked.get("max_samples", 1.0) * 50))]
        columns = np.sort(rng.permutation(4)[: asked.get("max_features", 4)])
        assert np.array_equal(model.columns_[m], columns)
        one = tree(random_state=rng).fit(X[rows][:, columns], y[rows])
        answers.append(
            one.predict_proba(X[:, columns])
            if kind is BaggingClassifier
            else one.predict(X[:, columns])
        )
    assert len(model.estimators_) == asked["n_estimators"]
    said = model.predict_proba(X) if kind is BaggingClassifier else model.predict(X)
    assert np.allclose(said, np.mean(answers, axis=0))
    shallow = kind(tree(max_depth=1), **asked).fit(X, y)
    assert {one.get_depth() for one in shallow.estimators_} == {1}
    used = []

    def workers(function, tasks):
        return (used.append(1) or function(task) for task in tasks)

    kind(**asked, workers=workers).fit(X, y)
    assert len(used) == asked["n_estimators"]


@pytest.mark.parametrize("kind", [StackingClassifier, StackingRegressor])
def test_stacking_fits_what_it_is_asked_for(sample, kind):
    X, y = sample
    classes = kind is StackingClassifier
    models = [DecisionTreeClassifier(max_depth=2), LogisticRegression()]
    tops = [LogisticRegression(), LogisticRegression(lam=9.0)]
    if not classes:
        models, tops = (
            [DecisionTreeRegressor(max_depth=2), LinearRegression()],
            [LinearRegression(), DecisionTreeRegressor(max_depth=3)],
        )
    for top in (None, tops[1]):
        for cv in (5, 3, [(np.arange(25), np.arange(25, 50)), (np.arange(25, 50), np.arange(25))]):
            given = {} if cv == 5 else {"cv": cv}
            model = kind(models, top, random_state=3, **given).fit(X, y)
            folds = cv
            if isinstance(cv, int):
                folds = k_fold(50, cv, rng=np.random.default_rng(3), labels=y if classes else None)
            Z = np.column_stack([out_of_fold(one, X, y, folds) for one in models])
            final = type(top or tops[0])(**(top or tops[0]).get_params()).fit(Z, y)
            whole = [type(one)(**one.get_params()).fit(X, y) for one in models]
            features = np.column_stack(
                [one.predict_proba(X) if classes else one.predict(X) for one in whole]
            )
            if classes:
                assert np.allclose(model.predict_proba(X), final.predict_proba(features))
            else:
                assert np.allclose(model.predict(X), final.predict(features))
            assert len(model.estimators_) == 2
            assert model.final_estimator_.get_params() == final.get_params()
    default = kind(random_state=3).fit(X, y)
    assert [type(one).__name__[:4] for one in default.estimators_] == ["Deci", "KNei"]
    assert default.estimators_[1].n_neighbors == 5


@pytest.mark.parametrize("kind", [StackingClassifier, StackingRegressor])
def test_a_whole_weight_of_a_stacked_row_is_so_many_copies(sample, kind):
    X, y = sample
    weights = np.arange(50) % 4
    copies = np.repeat(np.arange(50), weights)
    halves = np.arange(50) < 20
    parts = [(np.flatnonzero(a), np.flatnonzero(~a)) for a in (halves, ~halves)]
    of_copies = [(np.flatnonzero(a), np.flatnonzero(~a)) for a in (halves[copies], ~halves[copies])]
    model, top = (LogisticRegression(), LogisticRegression(lam=9.0))
    if kind is StackingRegressor:
        model, top = LinearRegression(), DecisionTreeRegressor(max_depth=3)
    weighted = kind([model], top, cv=parts).fit(X, y, weights)
    repeated = kind([model], top, cv=of_copies).fit(X[copies], y[copies])
    plain = kind([model], top, cv=parts).fit(X, y)
    ask = "predict_proba" if kind is StackingClassifier else "predict"
    answers = [getattr(one, ask)(X) for one in (weighted, repeated, plain)]
    np.testing.assert_allclose(answers[0], answers[1], rtol=1e-6)
    assert not np.allclose(answers[0], answers[2])
    left_out = out_of_fold(model, X, y, parts, weights)
    at_copies = out_of_fold(model, X[copies], y[copies], of_copies)
    np.testing.assert_allclose(left_out[copies], at_copies)
