"""Boosting: behaviour, errors, edge cases, oracles, properties, wrong variants."""

import inspect
import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import AdaBoostClassifier as PeerAdaBoost
from sklearn.ensemble import GradientBoostingClassifier as PeerClassifier
from sklearn.ensemble import GradientBoostingRegressor as PeerRegressor
from sklearn.exceptions import ConvergenceWarning
from uncompiled import uncompiled

import mllib.boosting as module
from mllib.boosting import (
    AdaBoostClassifier,
    Additive,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    Stump,
    adaboost,
    best_constant,
    best_stump,
    bin_columns,
    committee_score,
    gradient_boosting,
    grow_binned,
    leaf_values,
    margins,
    mean_loss,
    negative_gradient,
    normaliser,
    reweight,
    scores,
    staged_committee_scores,
    staged_scores,
    vote_weight,
)
from mllib.trees import DecisionTreeClassifier, apply, grow


def disc(seed, n=60):
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    return X, np.where((X**2).sum(axis=1) < 0.64, 1.0, -1.0)


def table(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    X = rng.integers(0, 4, (n, 3)).astype(float)
    return X, rng.choice([-1.0, 1.0], n), rng.integers(0, 4, n) + (np.arange(n) == 0)


def broken(old, new):
    """The functions of the module after one change to its source, without compilation."""
    source, names = inspect.getsource(module), {"__name__": "broken"}
    assert source.count(old) >= 1, old
    exec(source.replace("@compiled\n", "").replace(old, new, 1), names)
    return names


# Stumps --------------------------------------------------------------------------------------


def best_of_all(X, y, w):
    """The first stump of least weighted error among all of them, in whole numbers."""
    X, y, w = X[w > 0], y[w > 0], w[w > 0]
    found = []
    for j, x in enumerate(X.T):
        values = np.unique(x)
        for theta in (-np.inf, *((values[1:] + values[:-1]) / 2)):
            for s in (1.0, -1.0):
                found.append((int(w[np.where(x > theta, s, -s) != y].sum()), (j, theta, s)))
    least = min(error for error, _ in found)
    return next(stump for error, stump in found if error == least)


@pytest.mark.parametrize("seed", range(60))
def test_best_stump_is_the_first_of_all(seed):
    X, y, w = table(seed)
    assert tuple(best_stump(X, y, w)) == best_of_all(X, y, w)
    with uncompiled():
        assert tuple(best_stump(X, y, w)) == best_of_all(X, y, w)


def test_uncompiled_runs_are_the_same():
    X, y = disc(4)
    one = adaboost(X, y, 60)
    with uncompiled():
        two = adaboost(X, y, 60)
    assert one.learners == two.learners
    assert np.allclose(one.alpha, two.alpha)


def test_stump_answers():
    h = Stump(1, 0.5, -1.0)
    assert h(np.array([[9, 0.5], [9, 0.6], [9, -3]])).tolist() == [1, -1, 1]
    assert Stump(0, -np.inf, 1.0)(np.array([[-1e308]])).tolist() == [1]


def test_neighbouring_values_are_separated():
    a = np.array([[1.0], [np.nextafter(1, 2)]])
    h = best_stump(a, [-1, 1])
    assert h(a).tolist() == [-1, 1]


def test_constant_features_give_the_constant_stump():
    assert best_stump(np.ones((4, 2)), [1, -1, -1, -1]) == (0, -np.inf, -1.0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("V[j, c] > V[j, c - 1]", "V[j, c] >= V[j, c - 1]"),
        ("r -= 2 * v", "r -= v"),
        ("1.0 if best >= 0 else -1.0", "1.0"),
        ("slack = 1e-12", "slack = -1e-12"),
        ("abs(r) > abs(best)", "r > abs(best)"),
    ],
)
def test_wrong_searches_are_noticed(old, new):
    wrong = broken(old, new)
    found = []
    for seed in range(60):
        X, y, w = table(seed)
        try:
            found.append(tuple(wrong["best_stump"](X, y, w)) == best_of_all(X, y, w))
        except IndexError:
            found.append(False)
    assert not all(found)


# AdaBoost ------------------------------------------------------------------------------------


def test_votes_and_normalisers():
    e = np.array([0.1, 0.25, 0.5, 0.9])
    assert np.allclose(vote_weight(e), np.log((1 - e) / e) / 2)
    assert np.allclose(normaliser(e, vote_weight(e)), 2 * np.sqrt(e * (1 - e)))
    assert vote_weight(0.0) == np.inf
    assert vote_weight(1.0) == -np.inf
    with pytest.raises(ValueError, match="error must lie in"):
        vote_weight(1.5)


def test_three_rounds_in_fractions():
    run = adaboost(np.arange(6.0)[:, None], [1, 1, -1, -1, 1, 1], 3)
    assert np.allclose(run.error, [1 / 3, 1 / 4, 1 / 6])
    assert np.allclose(run.weights, [float(F(k, 20)) for k in (5, 5, 2, 2, 3, 3)])
    assert run.stopped == "rounds"
    assert len(run.learners) == 3
    assert np.isclose(run.Z.prod(), 30**0.5 / 9)


@pytest.mark.parametrize("seed", range(4))
def test_mean_exponential_is_the_product_of_the_normalisers(seed):
    X, y = disc(seed)
    w = np.random.default_rng(seed).integers(0, 3, 60).astype(float)
    run = adaboost(X, y, 40, w)
    for f, Z in zip(staged_committee_scores(run, X), np.cumprod(run.Z), strict=True):
        assert abs(w @ np.exp(-y * f) / w.sum() - Z) < 1e-12
        assert w[y * f <= 0].sum() / w.sum() <= Z + 1e-12
    assert np.allclose(committee_score(run, X), f)


def test_weights_mean_repetition():
    X, y = disc(1)
    w = np.random.default_rng(0).integers(0, 4, 60)
    one = adaboost(X, y, 30, w.astype(float))
    two = adaboost(np.repeat(X, w, axis=0), np.repeat(y, w), 30)
    assert one.learners == two.learners
    assert np.allclose(one.alpha, two.alpha)
    assert np.allclose(one.Z, two.Z)


def test_perfect_learner_decides_alone():
    run = adaboost([[0.0], [1.0]], [-1, 1], 9)
    assert run.stopped == "perfect"
    assert run.alpha.tolist() == [1]
    assert run.Z.tolist() == [0]
    late = iter([np.array([1.0, 1, -1]), np.array([1.0, 1, 1])])
    run = adaboost(
        np.zeros((3, 1)), [1, 1, 1], 9, learn=lambda X, y, w: (lambda a: lambda X: a)(next(late))
    )
    assert len(run.learners) == 1
    assert run.error.tolist() == [0]


def test_no_edge_stops():
    xor = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    run = adaboost(xor, [1, -1, -1, 1], 5)
    assert run.stopped == "no edge"
    assert run.learners == ()
    assert run.weights.tolist() == [0.25] * 4
    constant = adaboost(np.ones((3, 1)), [1, 1, -1], 5)
    assert constant.stopped == "no edge"
    assert len(constant.learners) == 1


def test_margins():
    assert np.allclose(margins([2.0, -1.0], [1, -1], [2.0, -1.0]), [2 / 3, 1 / 3])
    for none in ([0.0, 0.0], []):
        with pytest.raises(ValueError, match="alpha must hold a weight other than 0"):
            margins([0.0, 0.0], [1, -1], none)


def test_learners_must_answer_with_signs():
    with pytest.raises(ValueError, match="learn must return"):
        adaboost([[0.0], [1.0]], [1, -1], 2, learn=lambda X, y, w: lambda X: np.zeros(2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0, 1]}, "y must hold only -1 and [+]1"),
        ({"rounds": 0}, "rounds must be an integer"),
        ({"w": [0.0, 0.0]}, "w must not be negative"),
        ({"w": [-1.0, 1.0]}, "w must not be negative"),
        ({"X": [[np.nan], [0.0]]}, "NaN"),
    ],
)
def test_adaboost_refuses(change, message):
    given = {"X": [[0.0], [1.0]], "y": [-1, 1], "rounds": 3} | change
    with pytest.raises(ValueError, match=message):
        adaboost(**given)


def test_scikit_learn_with_our_stump():
    X, y = disc(3, 200)
    y = np.where(np.random.default_rng(0).uniform(size=200) < 0.2, -y, y)
    for w in (None, np.random.default_rng(1).uniform(0.5, 2, 200)):
        mine = AdaBoostClassifier(n_estimators=50).fit(X, y, w)
        peer = PeerAdaBoost(AdaBoostClassifier(n_estimators=1), n_estimators=50).fit(X, y, w)
        assert np.allclose(peer.estimator_errors_, mine.committee_.error, rtol=1e-9)
        assert np.allclose(peer.estimator_weights_, 2 * mine.committee_.alpha, rtol=1e-9)
        assert np.array_equal(peer.predict(X), mine.predict(X))


def test_published_toy_of_three_rounds():
    """Ten points on a line: errors .3, .2143, .1818, votes .4236, .6496, .7520 (Li Hang, 2012)."""
    y = np.array([1, 1, 1, -1, -1, -1, 1, 1, 1, -1.0])
    run = adaboost(np.arange(10.0)[:, None], y, 3)
    assert np.allclose(run.error, [0.3, 3 / 14, 2 / 11])
    assert np.allclose(run.alpha, [0.4236, 0.6496, 0.7520], atol=5e-5)
    assert [h.threshold for h in run.learners] == [2.5, 8.5, 5.5]
    assert (np.sign(committee_score(run, np.arange(10.0)[:, None])) == y).all()


def test_published_tumours():
    """Stumps beat a single tree on the tumours, over twelve divisions."""
    X, y = load_breast_cancer(return_X_y=True)
    errors = []
    for seed in range(12):
        at = np.random.default_rng(seed).permutation(569)
        A, Q = at[:400], at[400:]
        fits = AdaBoostClassifier(n_estimators=100), DecisionTreeClassifier()
        errors.append([1 - M.fit(X[A], y[A]).score(X[Q], y[Q]) for M in fits])
    boosted, tree = np.mean(errors, axis=0)
    assert boosted < tree - 0.03


def test_adaboost_estimator():
    X, y = disc(5, 100)
    names = np.where(y > 0, "in", "out")
    M = AdaBoostClassifier(n_estimators=30).fit(X, names)
    assert M.classes_.tolist() == ["in", "out"]
    f = M.decision_function(X)
    assert np.array_equal(M.predict(X), np.where(f > 0, "out", "in"))
    P = M.predict_proba(X)
    assert np.allclose(np.log(P[:, 1] / P[:, 0]) / 2, f)
    staged = list(M.staged_predict(X))
    assert len(staged) == 30
    assert np.array_equal(staged[-1], M.predict(X))
    assert np.allclose(list(M.staged_decision_function(X))[-1], f)
    deep = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5).fit(X, names)
    assert deep.score(X, names) > M.committee_.error[0]


def test_adaboost_estimator_says_what_is_wrong():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.warns(ConvergenceWarning, match="no better than a coin"):
        M = AdaBoostClassifier().fit(X, [1, 0, 0, 1])
    assert M.decision_function(X).tolist() == [0] * 4
    assert M.predict(X).tolist() == [0] * 4
    with pytest.raises(ValueError, match="Only binary classification"):
        AdaBoostClassifier().fit(X, [0, 1, 2, 0])
    with pytest.raises(ValueError, match="at least 2 classes in y"):
        AdaBoostClassifier().fit(X, [1, 1, 1, 1])
    with pytest.raises(ValueError, match="at least 2 classes in y"):
        AdaBoostClassifier().fit(X, [1, 0, 0, 1], [0, 1, 1, 0])
    with pytest.raises(ValueError, match="n_estimators must be an integer"):
        AdaBoostClassifier(n_estimators=0).fit(X, [1, 0, 0, 1])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("w = w * np.exp(-alpha * y * answer)", "w = w * np.exp(alpha * y * answer)"),
        ("return w / Z, Z", "return w, Z"),
        ("0.5 * (np.log1p(-error)", "(np.log1p(-error)"),
        ("error = v[wrong].sum()", "error = wrong.mean()"),
    ],
)
def test_wrong_rounds_are_noticed(old, new):
    X, y = np.arange(6.0)[:, None], [1, 1, -1, -1, 1, 1]
    run = broken(old, new)["adaboost"](X, y, 3)
    right = adaboost(X, y, 3)
    assert len(run.error) != 3 or not (
        np.allclose(run.error, right.error) and np.allclose(run.alpha, right.alpha)
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 100))
def test_monotone_changes_of_a_column_change_no_vote(seed, scale):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, 2)), rng.choice([-1.0, 1.0], 30)
    one, two = adaboost(X, y, 5), adaboost(np.c_[np.exp(X[:, 0]), scale * X[:, 1]], y, 5)
    assert np.allclose(one.alpha, two.alpha)


# Losses and leaves ---------------------------------------------------------------------------


LOSSES = ("squared", "absolute", "logistic", "softmax")


def loss_sample(loss, rng, n=6):
    if loss == "softmax":
        return np.arange(n) % 3.0, rng.standard_normal((n, 3))
    y = (np.arange(n) % 2.0) if loss == "logistic" else rng.standard_normal(n)
    return y, rng.standard_normal(n)


@pytest.mark.parametrize("loss", LOSSES)
def test_negative_gradient_is_that_of_the_loss(loss):
    rng = np.random.default_rng(0)
    y, u = loss_sample(loss, rng)
    R = negative_gradient(loss, y, u)
    for i in np.ndindex(u.shape):
        e = np.zeros_like(u)
        e[i] = 1e-6
        slope = 6 * (mean_loss(loss, y, u + e) - mean_loss(loss, y, u - e)) / 2e-6
        assert abs(slope + R[i]) < 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_best_constant_has_no_slope(loss):
    rng = np.random.default_rng(1)
    y, _ = loss_sample(loss, rng, 9)
    w = rng.integers(1, 4, 9).astype(float)
    c = best_constant(loss, y, w, 3)
    u = np.tile(c, (9, 1)) if loss == "softmax" else np.full(9, c[0])
    for d in (-0.01, 0.01):
        other = u + d * np.array([1, 0, 0]) if loss == "softmax" else u + d
        assert mean_loss(loss, y, u, w) <= mean_loss(loss, y, other, w) + 1e-12


@pytest.mark.parametrize("power", [-140, -1, 140])
def test_leaf_values_do_not_depend_on_the_scale_of_the_weights(power):
    leaf, r, w = (
        np.array([0, 0, 1, 1]),
        np.array([0.5, -0.25, 0.75, 0.25]),
        np.array([1, 3, 2, 1.0]),
    )
    light = np.where(leaf == 1, 10.0**power * w, w)  # beside rows of ordinary weight
    for loss in ("squared", "logistic", "softmax"):
        found = leaf_values(loss, leaf, r, light, 2, 3)
        np.testing.assert_allclose(found, leaf_values(loss, leaf, r, w, 2, 3), rtol=1e-12)


def test_leaf_values_by_hand():
    leaf = np.array([1, 1, 2, 2])
    r, w = np.array([0.5, -0.25, 0.75, 0.75]), np.array([1.0, 2, 1, 3])
    assert leaf_values("squared", leaf, r, w, 4).tolist() == [0, 0, 0.75, 0]
    assert np.allclose(leaf_values("logistic", leaf, r, w, 3), [0, 0, 3 / (4 * 0.1875)])
    assert np.allclose(leaf_values("softmax", leaf, r, w, 3, 4), [0, 0, 3 / 4 * 4])
    assert leaf_values("absolute", leaf, r, np.ones(4), 3).tolist() == [0, 0.125, 0.75]
    assert leaf_values("absolute", leaf, r, w, 3).tolist() == [0, -0.25, 0.75]
    assert leaf_values("logistic", leaf[:1], np.zeros(1), np.ones(1), 2).tolist() == [0, 0]


# Binned trees --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_a_bin_for_each_value_gives_the_exact_tree(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 150)), int(rng.integers(1, 5))
    limits = {"max_depth": int(rng.integers(1, 7)), "min_samples_leaf": int(rng.integers(1, 5))}
    X = rng.integers(0, rng.integers(2, 40), (n, d)).astype(float)
    r = rng.standard_normal(n) if seed % 2 else rng.integers(0, 4, n).astype(float)
    w = rng.integers(1, 4, n).astype(float)
    exact, (binned, leaf) = grow(X, r, w, **limits), grow_binned(bin_columns(X), r, w, **limits)
    for a, b in zip(exact, binned, strict=True):
        assert a.shape == b.shape
        assert np.allclose(a, b, atol=1e-9)
    assert np.array_equal(leaf, apply(exact, X))
    if seed < 10:
        with uncompiled():
            again, _ = grow_binned(bin_columns(X), r, w, **limits)
        assert all(np.allclose(a, b, atol=1e-12) for a, b in zip(again, binned))


def test_bins_have_equal_weight():
    x = np.random.default_rng(0).standard_normal((1000, 1))
    bins = bin_columns(x, 10)
    assert np.bincount(bins.codes[:, 0]).tolist() == [100] * 10
    assert (bins.high[0, :-1] < bins.low[0, 1:]).all()
    w = np.r_[np.full(500, 3.0), np.ones(500)]
    heavy = bin_columns(np.arange(1000.0)[:, None], 4, w)
    assert np.bincount(heavy.codes[:, 0], w).tolist() == [501, 498, 501, 500] or np.allclose(
        np.bincount(heavy.codes[:, 0], w), 500, atol=3
    )


def test_a_heavy_value_leaves_no_empty_bin():
    x = np.r_[np.zeros(90), np.arange(1, 11)][:, None]
    bins = bin_columns(x, 4)
    used = np.unique(bins.codes)
    assert used.tolist() == list(range(len(used)))


def test_rows_of_a_part():
    X = np.arange(8.0)[:, None]
    tree, leaf = grow_binned(bin_columns(X), X[:, 0] > 3.5, rows=[0, 1, 6, 7], max_depth=1)
    assert tree.threshold[0] == 3.5
    assert leaf.tolist() == [1, 1, -1, -1, -1, -1, 2, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_depth": 0}, "max_depth must be an integer"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be an integer"),
        ({"w": [1.0, 0.0]}, "w must be positive"),
        ({"r": [1.0]}, "r must have 2 entries"),
    ],
)
def test_binned_trees_refuse(change, message):
    given = {"r": [0.0, 1.0]} | change
    with pytest.raises(ValueError, match=message):
        grow_binned(bin_columns([[0.0], [1.0]]), **given)


@pytest.mark.parametrize("max_bins", [1, 257, 2.5])
def test_bins_fit_into_a_byte(max_bins):
    with pytest.raises(ValueError, match="max_bins must be an integer"):
        bin_columns([[0.0], [1.0]], max_bins)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if rows > n - min_leaf:", "if rows > n:"),
        ("H[place, k, b, s] -= H[other, k, b, s]", "H[place, k, b, s] += H[other, k, b, s]"),
        ("S += H[j, b, 1] - mean * H[j, b, 0]", "S += H[j, b, 1]"),
        ("while H[place, j, after[m], 2] == 0:", "while False:"),
        ("place, other = other, place", "pass"),
    ],
)
def test_wrong_histograms_are_noticed(old, new):
    wrong, same = broken(old, new), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, r = rng.integers(0, 12, (40, 2)).astype(float), rng.standard_normal(40) + 3
        limits = {"max_depth": 4, "min_samples_leaf": 3}
        exact = grow(X, r, **limits)
        try:
            tree, _ = wrong["grow_binned"](wrong["bin_columns"](X), r, **limits)
        except (IndexError, ZeroDivisionError):
            same.append(False)
            continue
        same.append(
            len(tree.n) == len(exact.n) and all(np.allclose(a, b) for a, b in zip(exact, tree))
        )
    assert not all(same)


# Gradient boosting ---------------------------------------------------------------------------


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    X = np.float32(rng.standard_normal((200, 4))).astype(float)
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.standard_normal(200)


def test_regression_is_scikit_learns_in_every_round(sample):
    X, y = sample
    settings = {"n_estimators": 40, "learning_rate": 0.2, "max_depth": 3, "min_samples_leaf": 2}
    mine = GradientBoostingRegressor(**settings).fit(X, y)
    peer = PeerRegressor(**settings, random_state=0).fit(X, y)
    for a, b in zip(mine.staged_predict(X), peer.staged_predict(X), strict=True):
        assert np.allclose(a, b, atol=1e-12)
    assert np.allclose(mine.train_loss_[1:], 0.5 * peer.train_score_)


@pytest.mark.parametrize("cuts", [[0], [-1, 1], [-1, 0, 1]])
def test_classification_is_scikit_learns_in_every_round(sample, cuts):
    X, y = sample
    y = np.digitize(y, cuts)
    w = np.random.default_rng(1).uniform(0.5, 2, 200)
    settings = {"n_estimators": 30, "max_depth": 2}  # uneven weights: no two splits are equal
    mine = GradientBoostingClassifier(**settings).fit(X, y, w)
    peer = PeerClassifier(**settings, random_state=0).fit(X, y, w)
    for a, b in zip(mine.staged_predict_proba(X), peer.staged_predict_proba(X), strict=True):
        assert np.allclose(a, b, atol=1e-10)
    assert np.array_equal(mine.predict(X), peer.predict(X))


def test_squared_loss_falls_by_the_theorem(sample):
    X, y = sample
    for rate in (0.3, 1.0, 1.7, 2.5):
        model = gradient_boosting(X, y, rounds=15, rate=rate)
        u = np.full(200, y.mean())
        for (tree,), before, after in zip(model.trees, model.trace, model.trace[1:]):
            leaf, r = apply(tree, X), y - u
            gain = sum((leaf == j).sum() * r[leaf == j].mean() ** 2 for j in np.unique(leaf))
            assert np.isclose(before - after, rate * (2 - rate) / 2 * gain / 200, atol=1e-9)
            u = u + rate * tree.value[leaf, 0]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("max_bins", [None, 16])
def test_training_loss_falls_and_scores_agree(sample, loss, max_bins):
    X, y = sample
    if loss in ("logistic", "softmax"):
        y = np.digitize(y, [0] if loss == "logistic" else [-1, 1]).astype(float)
    model = gradient_boosting(X, y, loss, rounds=25, max_bins=max_bins, n_classes=3)
    assert isinstance(model, Additive)
    assert len(model.trace) == 26
    assert (np.diff(model.trace) < 0).all()
    u = scores(model, X)
    stages = list(staged_scores(model, X))
    assert np.allclose(u, stages[-1])
    assert len(stages) == 25
    flat = u if loss == "softmax" else u[:, 0]
    assert np.isclose(mean_loss(loss, y, flat), model.trace[-1])
    with uncompiled():
        assert np.array_equal(scores(model, X[:20]), u[:20])


def test_bins_of_each_value_change_nothing(sample):
    X, y = sample
    X = X.round(1)
    exact = GradientBoostingRegressor(n_estimators=30).fit(X, y).predict(X)
    assert np.allclose(
        GradientBoostingRegressor(n_estimators=30, max_bins=256).fit(X, y).predict(X), exact
    )


@pytest.mark.parametrize("max_bins", [None, 8])
def test_weights_mean_repetition_of_rows(sample, max_bins):
    X, y = sample
    w = np.random.default_rng(2).integers(0, 3, 200)
    for M, t in (
        (GradientBoostingRegressor, y),
        (GradientBoostingClassifier, np.digitize(y, [-1, 1])),
    ):

        def make(M=M):
            return M(n_estimators=15, max_bins=max_bins)

        one = make().fit(X, t, w)
        two = make().fit(np.repeat(X, w, axis=0), np.repeat(t, w))
        assert np.allclose(one.predict(X), two.predict(X))


@pytest.mark.parametrize("max_bins", [None, 32])
def test_subsampling_is_seeded_and_uses_its_share(sample, max_bins):
    X, y = sample
    one, same, other = (
        GradientBoostingRegressor(
            n_estimators=5, subsample=0.25, max_bins=max_bins, random_state=seed
        ).fit(X, y)
        for seed in (0, 0, 1)
    )
    assert all(tree.n[0] == 50 for (tree,) in one.model_.trees)
    assert np.array_equal(one.predict(X), same.predict(X))
    assert not np.array_equal(one.predict(X), other.predict(X))
    with pytest.raises(ValueError, match="rng must be"):
        gradient_boosting(X, y, subsample=0.5)


def test_constant_targets_and_features():
    X = np.ones((5, 2))
    M = GradientBoostingRegressor(n_estimators=3).fit(X, [1.0, 2, 3, 4, 5])
    assert np.allclose(M.predict(X), 3)
    M = GradientBoostingRegressor(n_estimators=3).fit(np.arange(5.0)[:, None], np.full(5, 7.0))
    assert np.array_equal(M.predict([[2.0]]), [7.0])
    assert M.train_loss_.tolist() == [0] * 4


@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, GradientBoostingClassifier])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an integer"),
        ({"learning_rate": 0.0}, "learning_rate must be a number in [(]0"),
        ({"learning_rate": -0.1}, "learning_rate must be a number"),
        ({"max_depth": 0}, "max_depth must be an integer"),
        ({"max_depth": None}, "max_depth must be an integer"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be"),
        ({"subsample": 0.0}, "subsample must be a number"),
        ({"subsample": 1.5}, "subsample must be a number"),
        ({"max_bins": 300}, "max_bins must be an integer"),
    ],
)
def test_settings_are_checked(estimator, bad, message):
    with pytest.raises(ValueError, match=message):
        estimator(**bad).fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_targets_are_checked():
    X = [[0.0], [1.0], [2.0]]
    for y, loss, message in (
        ([0.0, 0.5, 1.0], "logistic", "class indices 0 to 1"),
        ([0.0, 0.0, 0.0], "logistic", "every class"),
        ([0.0, 1.0, 3.0], "softmax", "class indices 0 to 2"),
        ([0.0, 1.0, 1.0], "huber", "loss must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            gradient_boosting(X, y, loss, n_classes=3)
    with pytest.raises(ValueError, match="at least 2 classes in y"):
        GradientBoostingClassifier().fit(X, [1, 1, 1])
    with pytest.raises(ValueError, match="loss must be one of"):
        GradientBoostingRegressor("logistic").fit(X, [0.0, 1, 2])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        GradientBoostingRegressor().fit(X, [0.0, 1])


def test_a_loss_that_diverges_is_named():
    X, y = np.arange(40.0)[:, None], np.tile([1.0, -1.0], 20)
    with pytest.raises(ValueError, match=r"diverged within .* lower the rate 50"):
        gradient_boosting(X, y, rounds=400, rate=50.0)


def test_published_iris():
    X, y = load_iris(return_X_y=True)
    errors = []
    for seed in range(12):
        at = np.random.default_rng(seed).permutation(150)
        M = GradientBoostingClassifier(n_estimators=30).fit(X[at[:100]], y[at[:100]])
        errors.append(1 - M.score(X[at[100:]], y[at[100:]]))
    assert np.mean(errors) < 0.08


def test_two_softmax_scores_are_one_logistic_score(sample):
    X, y = sample
    y = (y > 0).astype(float)
    one = gradient_boosting(X, y, "logistic", rounds=12)
    two = gradient_boosting(X, y, "softmax", rounds=12, n_classes=2)
    u, v = scores(one, X)[:, 0], scores(two, X)
    assert np.allclose(v[:, 1] - v[:, 0], u, atol=1e-9)


def test_agreement_with_adaboost_on_the_exponential_loss():
    """Coordinate descent on the exponential loss over all stumps takes AdaBoost's steps."""
    X, y = disc(9, 24)
    answers = np.array(
        [
            np.where(x > theta, s, -s)
            for x in X.T
            for theta in (-np.inf, *((np.sort(x)[1:] + np.sort(x)[:-1]) / 2))
            for s in (1.0, -1.0)
        ]
    )
    run, f = adaboost(X, y, 8), np.zeros(24)
    for h, alpha, stage in zip(run.learners, run.alpha, itertools.count(1)):
        e = np.exp(-y * f)
        wrong = ((answers != y) * e).sum(axis=1)
        best = 2 * np.sqrt(wrong * (e.sum() - wrong)).min()  # least loss along any stump
        f = f + alpha * h(X)
        assert np.isclose(np.exp(-y * f).sum(), best), stage


def test_reweight_by_hand():
    w, Z = reweight(np.array([0.8, 0.2]), np.array([1, 1]), np.array([1, -1]), vote_weight(0.2))
    assert np.allclose(w, 0.5)
    assert np.isclose(Z, 0.8)


@pytest.mark.parametrize("power", [-200, 200])
@pytest.mark.parametrize("max_bins", [None, 16])
def test_units_of_weights_do_not_matter(power, max_bins):
    rng = np.random.default_rng(6)
    X, y, c = rng.normal(size=(40, 3)), rng.normal(size=40), np.arange(40) % 3
    w = rng.integers(1, 4, 40).astype(float)
    for loss, target in (("squared", y), ("absolute", y), ("softmax", c.astype(float))):
        options = {"rounds": 3, "max_bins": max_bins, "n_classes": 3}
        one = module.gradient_boosting(X, target, loss, w=w, **options)
        two = module.gradient_boosting(X, target, loss, w=w * 2.0**power, **options)
        assert np.allclose(module.scores(one, X), module.scores(two, X), rtol=1e-12)
        assert one.trace[-1] < one.trace[0]
        assert two.trees[0][0].weight[0] == (w * 2.0**power).sum()


def test_models_refuse_points_with_too_few_columns():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(30, 3))
    model = module.gradient_boosting(X, X[:, 2], rounds=2)
    for call in (module.scores, lambda m, Q: next(module.staged_scores(m, Q))):
        with pytest.raises(ValueError, match="X must have at least 3 columns, got 1"):
            call(model, X[:, :1])


def test_binned_trees_refuse_rows_that_are_not_there():
    bins = module.bin_columns(np.arange(6.0)[:, None])
    for rows in ([0, 6], [-1, 2], [], [[0, 1]], np.ones(6, dtype=bool)):
        with pytest.raises(ValueError, match="rows must"):
            module.grow_binned(bins, np.arange(6.0), rows=rows)


OPTIONS = {
    "rounds": (100, 7),
    "rate": (0.1, 0.3),
    "max_depth": (3, 1),
    "min_samples_leaf": (1, 9),
    "subsample": (1.0, 0.5),
    "max_bins": (None, 4),
    "w": (None, np.arange(50) % 3 + 1.0),
}


@pytest.mark.parametrize("loss", ["squared", "absolute", "logistic", "softmax"])
def test_boosting_listens_to_every_option_and_has_the_published_defaults(loss):
    rng = np.random.default_rng(0)
    X, z = rng.standard_normal((50, 2)), rng.standard_normal(50)
    y = {
        "logistic": (X[:, 0] + z > 0) * 1.0,
        "softmax": np.digitize(X[:, 0] + z, [-0.6, 0.6]) * 1.0,
    }
    y, K = y.get(loss, X[:, 0] + z), 3 if loss == "softmax" else 1

    def run(**given):
        return gradient_boosting(X, y, loss, n_classes=K, rng=np.random.default_rng(1), **given)

    left_out = run()
    named = run(**{name: value for name, (value, _) in OPTIONS.items()})
    assert np.array_equal(left_out.trace, named.trace)
    assert len(left_out.trace) == 101
    few = run(rounds=4)
    assert np.array_equal(few.trace, left_out.trace[:5])
    for name, (_, other) in list(OPTIONS.items())[1:]:
        assert not np.array_equal(run(rounds=4, **{name: other}).trace, few.trace), name
    assert (left_out.rate, left_out.loss) == (0.1, loss)
    assert left_out.start == pytest.approx(best_constant(loss, y, None, K))
    for model, w in ((left_out, None), (run(rounds=4, w=OPTIONS["w"][1]), OPTIONS["w"][1])):
        stages = [np.tile(model.start, (50, 1)), *staged_scores(model, X)]
        shape = (lambda u: u) if loss == "softmax" else (lambda u: u[:, 0])
        assert model.trace == pytest.approx([mean_loss(loss, y, shape(u), w) for u in stages])
        assert stages[-1] == pytest.approx(scores(model, X))
        assert all(len(grown) == K for grown in model.trees)
    if loss == "squared":
        assert np.array_equal(gradient_boosting(X, y).trace, left_out.trace)


def test_the_constant_and_the_leaves_of_one_class_are_those_of_k_equal_to_one():
    y, w = np.array([0.0, 1.0, 1.0, 1.0]), np.array([2.0, 1.0, 1.0, 4.0])
    assert best_constant("logistic", y, w) == pytest.approx(np.log(3.0))
    assert best_constant("squared", y, w) == pytest.approx(0.75)
    assert best_constant("softmax", y, w, 2) == pytest.approx(np.log([0.25, 0.75]))
    leaf, r = np.array([0, 1, 1, 1]), y - 0.5
    for loss in ("squared", "absolute", "logistic"):
        assert np.array_equal(leaf_values(loss, leaf, r, w, 2), leaf_values(loss, leaf, r, w, 2, 1))
    half = leaf_values("softmax", leaf, r, w, 2, 2)
    assert half == pytest.approx(leaf_values("logistic", leaf, r, w, 2) / 2)


def test_a_binned_tree_has_three_levels_and_leaves_of_any_size():
    rng = np.random.default_rng(2)
    X, r = rng.standard_normal((60, 2)), rng.standard_normal(60)
    bins = bin_columns(X)
    assert bins.codes.max() == 59
    assert bin_columns(X, 5).codes.max() == 4
    assert bin_columns(rng.standard_normal((700, 1))).codes.max() == 255
    for asked in ({}, {"max_depth": 2}, {"min_samples_leaf": 12}):
        tree, leaf = grow_binned(bins, r, **asked)
        limits = {"max_depth": 3, "min_samples_leaf": 1} | asked
        exact = grow(X, r, **limits)
        assert np.array_equal(tree.feature, exact.feature)
        assert np.allclose(tree.threshold, exact.threshold, equal_nan=True)
        assert np.array_equal(leaf, apply(exact, X))
    w = rng.integers(1, 4, 60)
    tree, leaf = grow_binned(bins, r, w, rows=np.arange(0, 60, 2))
    exact = grow(X[::2], r[::2], w[::2], max_depth=3)
    assert np.array_equal(tree.feature, exact.feature)
    assert (leaf[1::2] == -1).all()
    assert np.array_equal(leaf[::2], apply(exact, X[::2]))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"n_estimators": 7},
        {"learning_rate": 0.4},
        {"max_depth": 1},
        {"min_samples_leaf": 9},
        {"subsample": 0.5},
        {"max_bins": 4},
        {"loss": "absolute"},
    ],
    ids=str,
)
def test_the_estimators_boost_as_they_are_told(given):
    rng = np.random.default_rng(3)
    X, z = rng.standard_normal((40, 2)), rng.standard_normal(40)
    names = {"n_estimators": "rounds", "learning_rate": "rate"}
    options = {names.get(name, name): value for name, value in given.items() if name != "loss"}
    targets = {
        "regressor": X[:, 0] + z,
        "two": (X[:, 0] + z > 0) * 1,
        "three": np.digitize(z, [-1, 1]),
    }
    for case, y in targets.items():
        kind = GradientBoostingRegressor if case == "regressor" else GradientBoostingClassifier
        loss = {"two": "logistic", "three": "softmax"}.get(case, given.get("loss", "squared"))
        if case != "regressor" and "loss" in given:
            continue
        few = {} if case == "regressor" else {"n_estimators": 5} | given
        options = options | ({} if case == "regressor" else {"rounds": few["n_estimators"]})
        model = kind(random_state=5, **given | few).fit(X, y)
        run = gradient_boosting(
            X,
            y,
            loss,
            n_classes=3 if case == "three" else 2,
            rng=np.random.default_rng(5),
            **options,
        )
        assert np.array_equal(model.train_loss_, run.trace)
        assert np.array_equal(model.model_.start, run.start)
        u = scores(run, X)
        if case == "regressor":
            assert np.array_equal(model.predict(X), u[:, 0])
            continue
        assert np.array_equal(model.decision_function(X), u if case == "three" else u[:, 0])
        stages = list(model.staged_predict_proba(X))
        answers = [model.classes_[P.argmax(axis=1)] for P in stages]
        np.testing.assert_array_equal(list(model.staged_predict(X)), answers)
        assert len(stages) == len(run.trees)
        assert np.array_equal(stages[-1], model.predict_proba(X))


def test_a_committee_tells_every_round():
    X, y = disc(1)
    run = adaboost(X, y, 6)
    w = np.full(len(y), 1 / len(y))
    for h, alpha, error in zip(run.learners, run.alpha, run.error):
        answer = h(X)
        assert error == pytest.approx(w[answer != y].sum())
        assert alpha == pytest.approx(0.5 * np.log((1 - error) / error))
        w = w * np.exp(-alpha * y * answer)
        w = w / w.sum()
    assert run.weights == pytest.approx(w)
    assert run.stopped == "rounds"
    f = committee_score(run, X)
    assert f == pytest.approx(list(staged_committee_scores(run, X))[-1])
    weighted = np.where(X[:, 0] > 0, 9.0, 1.0)
    assert best_stump(X, y, weighted) != best_stump(X, y)
    assert best_stump(X, y) == best_stump(X, y, np.ones(len(y)))
    assert np.array_equal(adaboost(X, y, 6, weighted).error, adaboost(X, y, 6, weighted / 2).error)
    assert not np.array_equal(adaboost(X, y, 6, weighted).error, run.error)
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    assert np.array_equal(model.committee_.alpha, run.alpha)
    deep = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=6).fit(X, y)
    assert not np.array_equal(deep.committee_.error, run.error)
    share = mean_loss("squared", np.array([0.0, 2.0]), np.zeros(2), np.array([3.0, 1.0]))
    assert share == 0.5


def test_stages_answer_with_the_best_class():
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=3).fit(X, y + 5)
    stages = list(model.staged_predict(X))
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    assert [np.mean(stage == y + 5) > 0.9 for stage in stages] == [True] * 3
