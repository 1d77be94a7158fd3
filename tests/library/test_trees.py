"""Decision trees: behaviour, errors, edge cases, oracles, properties, wrong variants."""

import inspect
import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.tree import DecisionTreeClassifier as PeerClassifier
from sklearn.tree import DecisionTreeRegressor as PeerRegressor
from uncompiled import uncompiled

import mllib.trees as module
from mllib.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    apply,
    best_category_split,
    best_split,
    contingency,
    depth,
    entropy,
    gain_ratio,
    gini,
    grow,
    id3,
    id3_predict,
    importances,
    information_gain,
    intrinsic_value,
    leaf_boxes,
    misclassification,
    n_leaves,
    presort,
    prune,
    pruning_path,
    regression_objective,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def same_tree(a, b, but=()):
    return all(np.allclose(u, v) for name, u, v in zip(a._fields, a, b) if name not in but)


# Impurity and gain ---------------------------------------------------------------------------


def test_impurities_of_known_counts():
    assert entropy([1, 1]) == 1
    assert entropy([[3, 0], [1, 1]]).tolist() == [0, 1]
    assert not np.signbit(entropy([3, 0]))
    assert gini([F(1), F(1), F(2)]) == F(5, 8)
    assert misclassification([[1, 1], [3, 1]]).tolist() == [0.5, 0.25]
    assert intrinsic_value([[1, 1], [2, 0], [0, 4]]) == 1.5
    assert gain_ratio([[2, 0], [2, 0], [0, 2], [0, 2]]) == 0.5


def test_gain_in_fractions():
    assert information_gain(np.array([[F(3), F(1)], [F(0), F(4)]]), gini) == F(9, 32)


@pytest.mark.parametrize("bad", [[], [[0, 0], [1, 1]], [[-1, 2], [1, 1]]])
def test_counts_that_are_none(bad):
    with pytest.raises(ValueError, match="counts must"):
        information_gain(bad)


def test_one_child_has_no_gain_ratio():
    with pytest.raises(ValueError, match="at least two rows"):
        gain_ratio([[1, 2]])


def test_contingency_counts_and_checks():
    assert contingency(["b", "a", "b"], ["x", "y", "x"]).tolist() == [[0, 1], [2, 0]]
    with pytest.raises(ValueError, match="one entry for each row"):
        contingency([1, 2], [1])


def test_id3_stops_where_nothing_varies_and_answers_the_unseen():
    tree = id3([["a"], ["a"], ["a"]], [1, 0, 1])
    assert tree.feature == -1
    assert tree.label == 1
    assert id3([["a"], ["b"]], [1, 1]).children == {}
    tree = id3([["a", "u"], ["a", "v"], ["b", "u"], ["b", "u"]], [0, 1, 2, 2])
    assert id3_predict(tree, [["a", "w"], ["c", "u"], ["a", "v"]]).tolist() == [0, 2, 1]
    with pytest.raises(ValueError, match=r"shape \(n, d\)"):
        id3([["a"]], [1, 2])
    with pytest.raises(ValueError, match="criterion"):
        id3([["a"]], [1], criterion="gini")
    with pytest.raises(ValueError, match=r"shape \(m, d\)"):
        id3_predict(tree, ["a", "w"])


def test_id3_goes_on_where_a_gain_of_zero_is_rounded_below_zero():
    X = np.array([(a, b) for a in range(5) for b in range(5)])
    y = X.sum(axis=1) % 5 < 2
    assert -1e-12 < information_gain(contingency(X[:, 0], y)) <= 0
    for criterion in ("gain", "gain_ratio"):
        assert (id3_predict(id3(X, y, criterion), X) == y).all()


# The search for a split ----------------------------------------------------------------------


def brute(X, y, w, K, criterion, min_leaf):
    """Return (gain, column, threshold) of the best cut by direct formulas."""

    def cost(r):
        W = w[r].sum()
        if K is None:
            return (w[r] * (y[r] - np.average(y[r], weights=w[r])) ** 2).sum()
        p = np.bincount(y[r].astype(int), w[r], minlength=K) / W
        logs = np.log2(p, out=np.zeros(K), where=p > 0)
        return W * (1 - (p**2).sum()) if criterion == "gini" else -W * (p * logs).sum()

    best = (-1.0, -1, 0.0)
    for j, x in enumerate(X.T):
        values = np.unique(x)
        for a, b in itertools.pairwise(values):
            L = x <= a
            if min(L.sum(), (~L).sum()) >= min_leaf:
                gain = (cost(w > 0) - cost(L) - cost(~L)) / w.sum()
                if gain > best[0] + 1e-10:
                    best = (gain, j, (a + b) / 2)
    return best


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@pytest.mark.parametrize("min_leaf", [1, 3])
def test_the_best_split_is_the_best_of_all(rng, criterion, min_leaf):
    for whole in (True, False):
        for _ in range(25):
            X = rng.integers(0, 4, (12, 3)).astype(float)
            w = rng.integers(1, 4, 12) * 1.0 if whole else rng.uniform(0.1, 2, 12)
            K = None if criterion == "squared_error" else 3
            y = rng.integers(0, 3, 12) * 1.0 if K else rng.standard_normal(12)
            gain, j, s = brute(X, y, w, K, criterion, min_leaf)
            found = best_split(X, y, w, n_classes=K, criterion=criterion, min_samples_leaf=min_leaf)
            assert found[:2] == (j, s)
            assert found.gain == pytest.approx(max(gain, 0), abs=1e-12)


def test_ties_go_to_the_lowest_column_and_threshold():
    X = np.array([[0, 3], [1, 2], [2, 1], [3, 0]])
    assert best_split(X, [0.0, 1, 1, 0])[:2] == (0, 0.5)
    assert best_split(X[:, ::-1], [0.0, 1, 1, 0])[:2] == (0, 0.5)


def test_constant_columns_make_no_split():
    assert best_split(np.ones((4, 2)), [0.0, 1, 2, 3]).feature == -1
    tree = grow(np.ones((4, 2)), [0.0, 1, 2, 3])
    assert (len(tree.n), tree.value[0, 0]) == (1, 1.5)


def test_weights_far_apart_do_not_divide_by_zero():
    tree = grow([[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0], [1e20, 1.0, 1.0])
    assert np.isfinite(tree.value).all()
    assert np.isfinite(tree.impurity).all()


def test_neighbours_are_separated():
    a = np.nextafter(1, 2)
    X = np.c_[[a, np.nextafter(a, 2)]]
    assert apply(grow(X, [0.0, 1.0]), X).tolist() == [1, 2]


def test_weights_and_targets_whose_squares_no_float_holds_are_refused():
    X, y = [[0.0], [1.0]], np.array([0.0, 1.0])
    for target, w in ((y * 1e200, None), (y * 1e100, [1e100, 1.0]), (y, [1e-200, 1e-201])):
        with pytest.raises(ValueError, match="w or y is too large"):
            grow(X, target, w)
    assert np.isfinite(grow(X, y * 1e145, [3.0, 1.0]).impurity).all()


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_categories_by_all_divisions(rng, criterion):
    for _ in range(20):
        x = np.append(np.arange(5), rng.integers(0, 5, 20))
        y = rng.integers(0, 2, 25) * 1.0
        if criterion == "squared_error":
            y = y + rng.standard_normal(25)
        w = rng.uniform(0.5, 2, 25)
        K = None if criterion == "squared_error" else 2
        gains = [
            brute(np.isin(x, s)[:, None] * 1.0, y, w, K, criterion, 1)[0]
            for k in (1, 2)
            for s in itertools.combinations(range(5), k)
        ]
        found = best_category_split(x, y, w, criterion=criterion)
        assert found.gain == pytest.approx(max(gains), abs=1e-12)
        assert sorted(found.left + found.right) == [0, 1, 2, 3, 4]
        at = np.isin(x, found.left)[:, None] * 1.0
        assert brute(at, y, w, K, criterion, 1)[0] == pytest.approx(found.gain, abs=1e-12)


def test_one_category_is_refused():
    with pytest.raises(ValueError, match="at least two values"):
        best_category_split(["a", "a"], [0, 1])
    with pytest.raises(ValueError, match="class indices"):
        best_category_split(["a", "b"], [0, 2])


# Growing -------------------------------------------------------------------------------------


def test_depth_zero_is_a_leaf():
    tree = grow([[0.0], [1.0]], [1.0, 3.0], max_depth=0)
    assert tree.feature.tolist() == [-1]
    assert tree.value.tolist() == [[2.0]]
    model = DecisionTreeClassifier(max_depth=0).fit([[0], [1], [2]], ["b", "a", "b"])
    assert model.predict([[9]]).tolist() == ["b"]
    assert model.get_depth() == 0
    assert model.get_n_leaves() == 1
    assert model.feature_importances_.tolist() == [0]


def test_one_class():
    model = DecisionTreeClassifier().fit([[0], [1]], [7, 7])
    assert model.predict([[5]]).tolist() == [7]
    assert model.predict_proba([[5]]).tolist() == [[1.0]]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_non_finite_is_refused(value):
    X = np.array([[0.0], [value]])
    for model in (DecisionTreeClassifier(), DecisionTreeRegressor()):
        with pytest.raises(ValueError, match="Input X contains"):
            model.fit(X, [0, 1])
    with pytest.raises(ValueError, match="Input X contains"):
        apply(grow([[0.0], [1.0]], [0.0, 1.0]), X)


def test_limits(rng):
    X, y = rng.standard_normal((200, 4)), rng.integers(0, 3, 200)
    kw = {"n_classes": 3, "criterion": "gini"}
    assert grow(X, y, min_samples_leaf=7, **kw).n.min() == 7
    tree = grow(X, y, min_samples_split=30, **kw)
    assert (tree.n[tree.left >= 0] >= 30).all()
    assert [depth(grow(X, y, max_depth=k, **kw)) for k in range(4)] == [0, 1, 2, 3]
    w = rng.uniform(0, 2, 200)
    tree = grow(X, y, w, min_weight_leaf=10.0, **kw)
    assert 10 <= tree.weight.min() < 12
    model = DecisionTreeClassifier(min_weight_fraction_leaf=0.1).fit(X, y, w)
    assert 0.1 <= model.tree_.weight.min() / w.sum() < 0.15
    tree = grow(X, y, min_impurity_decrease=0.01, **kw)
    inner = np.flatnonzero(tree.left >= 0)
    cost = tree.weight * tree.impurity / 200
    assert (cost[inner] - cost[tree.left[inner]] - cost[tree.right[inner]] >= 0.01 - 1e-12).all()
    assert (grow(X, y * 0, **kw).left == -1).all()


def test_compiled_and_plain_agree(rng):
    X, y, w = rng.integers(0, 9, (80, 5)) * 1.0, rng.integers(0, 3, 80), rng.uniform(size=80)
    for kw in ({"n_classes": 3, "criterion": "gini"}, {"n_classes": 3, "criterion": "entropy"}, {}):
        for share in (5, 2):
            draw = {"max_features": share}
            fast = grow(X, y, w, rng=np.random.default_rng(1), **draw, **kw)
            with uncompiled():
                slow = grow(X, y, w, rng=np.random.default_rng(1), **draw, **kw)
                path, leaf = pruning_path(slow), apply(slow, X)
            assert same_tree(fast, slow)
            assert np.array_equal(leaf, apply(fast, X))
            assert np.allclose(path.strength, pruning_path(fast).strength)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_weights_are_repetitions(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (20, 2)), rng.integers(0, 3, 20)
    w = rng.integers(0, 3, 20) * 1.0
    w[0] = 1
    rows = np.repeat(np.arange(20), w.astype(int))
    for kw in ({"n_classes": 3, "criterion": "gini"}, {"n_classes": 3, "criterion": "entropy"}, {}):
        assert same_tree(grow(X, y, w, **kw), grow(X[rows], y[rows], **kw), but=("n",))


def test_class_weight_is_a_factor_of_the_rows(rng):
    X, y = rng.standard_normal((60, 3)), np.repeat(["a", "b"], [45, 15])
    w = np.where(y == "a", 60 / 90, 60 / 30)
    one = DecisionTreeClassifier(max_depth=2, class_weight="balanced").fit(X, y)
    two = DecisionTreeClassifier(max_depth=2).fit(X, y, w)
    three = DecisionTreeClassifier(max_depth=2, class_weight={"a": 60 / 90, "b": 2}).fit(X, y)
    assert same_tree(one.tree_, two.tree_)
    assert same_tree(one.tree_, three.tree_)
    assert one.tree_.value[0] == pytest.approx([0.5, 0.5])
    for bad in ("auto", {"c": 1}, 3):
        with pytest.raises(ValueError, match="class_weight"):
            DecisionTreeClassifier(class_weight=bad).fit(X, y)


def test_presorted_columns_and_rows_left_out(rng):
    X, y, w = rng.standard_normal((50, 3)), rng.standard_normal(50), rng.integers(0, 2, 50) * 1.0
    order = presort(X)
    before = order.copy()
    tree = grow(X, y, w, order=order)
    assert same_tree(tree, grow(X[w > 0], y[w > 0]))
    assert np.array_equal(order, before)
    with pytest.raises(ValueError, match="order must have shape"):
        grow(X, y, order=order[:2])


def test_random_columns(rng):
    X, y = rng.standard_normal((100, 6)), rng.integers(0, 2, 100)
    one, two, other = (
        DecisionTreeClassifier(max_features=2, random_state=s).fit(X, y).tree_ for s in (0, 0, 1)
    )
    assert same_tree(one, two)
    assert not np.array_equal(one.feature[:5], other.feature[:5])
    roots = [
        grow(X, y, max_depth=1, max_features=1, rng=np.random.default_rng(s)).feature[0]
        for s in range(600)
    ]
    share = np.bincount(roots, minlength=6)  # 100 each, deviation 9.1: six deviations
    assert np.abs(share - 100).max() < 55
    X[:, 1:] = 0  # only column 0 varies: it is found whatever is drawn
    assert grow(X, y, max_depth=1, max_features=1, rng=rng).feature[0] == 0
    with pytest.raises(ValueError, match="rng must be"):
        grow(X, y, max_features=1)
    for share, leaves in (("sqrt", 2), ("log2", 2), (0.4, 2)):
        model = DecisionTreeClassifier(max_features=share, random_state=3).fit(X, y)
        assert same_tree(
            model.tree_, DecisionTreeClassifier(max_features=leaves, random_state=3).fit(X, y).tree_
        )


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("criterion", "error"),
        ("max_depth", -1),
        ("max_depth", 1.5),
        ("min_samples_split", 1),
        ("min_samples_leaf", 0),
        ("min_weight_fraction_leaf", 0.6),
        ("min_impurity_decrease", -0.1),
        ("max_features", 0),
        ("max_features", 1.5),
        ("max_features", "all"),
        ("ccp_alpha", -1),
        ("random_state", "a"),
    ],
)
def test_bad_settings(name, bad):
    for model in (DecisionTreeClassifier, DecisionTreeRegressor):
        with pytest.raises(ValueError, match=name):
            model(**{name: bad}).fit([[0], [1]], [0, 1])


@pytest.mark.parametrize("w", [[1, -1], [0, 0], [1, np.nan], [1]])
def test_bad_weights(w):
    for model in (DecisionTreeClassifier(), DecisionTreeRegressor()):
        with pytest.raises(ValueError, match="sample_weight"):
            model.fit([[0], [1]], [0, 1], w)


def test_a_class_without_weight_is_absent():
    model = DecisionTreeClassifier().fit([[0], [1], [2]], ["a", "b", "c"], [1, 0, 1])
    assert model.classes_.tolist() == ["a", "c"]
    assert model.predict([[0], [2]]).tolist() == ["a", "c"]


def test_xor_third_bit_and_positive_gain():
    X = np.array(list(itertools.product([0, 1], repeat=2)))
    y = X.sum(axis=1) % 2
    assert DecisionTreeClassifier(max_depth=2).fit(X, y).score(X, y) == 1
    model = DecisionTreeClassifier(min_impurity_decrease=1e-12).fit(X, y)
    assert model.get_n_leaves() == 1


def test_boxes_objective_and_importances(rng):
    X, y = rng.uniform(size=(60, 2)), rng.standard_normal(60)
    tree = grow(X, y, max_depth=4)
    leaves, low, high = leaf_boxes(tree, [0, 0], [1, 1])
    assert (high - low).prod(axis=1).sum() == pytest.approx(1)
    at = apply(tree, X)
    assert regression_objective(tree, X, y) == pytest.approx(
        sum(((y[at == t] - y[at == t].mean()) ** 2).sum() for t in leaves)
    )
    assert importances(tree, 3).sum() == pytest.approx(1)
    assert importances(tree, 3)[2] == 0
    with pytest.raises(ValueError, match="columns"):
        apply(tree, X[:, :0] if tree.feature.max() < 0 else X[:, :1])
    with pytest.raises(ValueError, match="low and high"):
        leaf_boxes(tree, [0], [1])


# Pruning -------------------------------------------------------------------------------------


def all_prunings(T, cost, t=0):
    yield cost[t], 1
    if T.left[t] >= 0:
        right = list(all_prunings(T, cost, T.right[t]))
        for a in all_prunings(T, cost, T.left[t]):
            for b in right:
                yield a[0] + b[0], a[1] + b[1]


def test_pruned_trees_are_the_best_of_all(rng):
    for _ in range(20):
        X, y = rng.standard_normal((14, 2)), rng.standard_normal(14)
        T = grow(X, y, max_depth=3)
        cost = T.weight * T.impurity / 14
        every = list(all_prunings(T, cost))
        for alpha in rng.exponential(0.1, 10):
            P = prune(T, alpha)
            mine = ((P.weight * P.impurity)[P.left < 0] / 14).sum() + alpha * n_leaves(P)
            assert mine == pytest.approx(min(c + alpha * k for c, k in every))
            assert np.array_equal(P.n[0], 14)
            kept = apply(P, X)
            assert np.allclose(P.value[kept, 0], [y[kept == k].mean() for k in kept])


def test_growth_goes_on_where_a_gain_of_zero_is_rounded_below_zero(rng):
    for m, k, criterion in itertools.product((5, 6, 7, 10), (1, 2, 3), ("gini", "entropy")):
        X = np.array([(a, b) for a in range(m) for b in range(m)])
        y = X.sum(axis=1) % m < k
        T = grow(X, y, n_classes=2, criterion=criterion)
        assert (T.value.argmax(axis=1)[apply(T, X)] == y).all()
        groups = np.repeat(np.arange(4.0), rng.integers(1, 8, 4) * 3)[:, None]
        labels = np.arange(len(groups)) % 3 == 0  # a third of each group
        assert n_leaves(grow(groups, labels, n_classes=2, criterion=criterion)) == 4
    corners, xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    for w in rng.uniform(0.1, 1, 100):
        T = grow(corners, xor, np.full(4, w), n_classes=2, criterion="entropy")
        assert n_leaves(T) == 4


def test_splits_that_gain_nothing_have_no_importance(rng):
    for criterion in ("gini", "entropy"):
        for sizes in rng.integers(1, 8, (20, 3)):
            groups = np.repeat(np.arange(3.0), sizes * 4)[:, None]
            labels = np.arange(len(groups)) % 4 == 0  # a quarter of each group
            T = grow(groups, labels, n_classes=2, criterion=criterion)
            assert n_leaves(T) == 3
            assert not importances(T, 2).any()


def test_pruning_at_zero_takes_back_gains_that_are_rounded_above_zero():
    for sizes in ([6, 8, 12, 14], [6, 10], [4, 14, 2, 10]):
        x = np.repeat(np.arange(float(len(sizes))), sizes)[:, None]
        T = grow(x, np.arange(len(x)) % 2, n_classes=2, criterion="gini")
        assert n_leaves(T) == len(sizes)
        path = pruning_path(T)
        assert path.alpha.tolist() == [0.0]
        assert path.leaves.tolist() == [1]
        assert len(prune(T, 0).n) == 1


def test_pruning_at_zero_takes_back_what_gains_nothing():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    T = grow(X, X.sum(axis=1) % 2, n_classes=2, criterion="gini")
    path = pruning_path(T)
    assert path.leaves.tolist() == [4, 1]
    assert path.alpha == pytest.approx([0, 0.5 / 3])
    T = grow([[0.0], [1.0], [2.0]], [0.0, 1.0, 1.0], n_classes=2, criterion="gini")
    assert same_tree(prune(T, 0), T)
    single = grow([[0.0], [1.0]], [1.0, 1.0])
    assert pruning_path(single).leaves.tolist() == [1]
    with pytest.raises(ValueError, match="alpha"):
        prune(T, -1)


def test_pruning_by_costs_that_rise_at_a_split():
    T = grow([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])
    assert T.left.tolist() == [1, 2, -1, -1, -1]
    T = T._replace(impurity=np.array([5.0, 1, 100, 100, 0]) * 3 / T.weight)
    path = pruning_path(T)
    assert path.leaves.tolist() == [2, 1]
    assert path.alpha == pytest.approx([0, 4])
    assert path.cost == pytest.approx([1, 5])
    assert prune(T, 0).n.tolist() == [3, 2, 1]


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_the_path_is_that_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    X = X[:, :8] + 1e-3 * np.random.default_rng(0).standard_normal(X[:, :8].shape)  # no ties
    kw = {"min_samples_leaf": 3}
    mine = pruning_path(grow(X, y, n_classes=len(set(y)), criterion="gini", **kw))
    theirs = PeerClassifier(random_state=0, **kw).cost_complexity_pruning_path(X, y)
    merged = np.unique(theirs.ccp_alphas.round(10))
    assert np.allclose(mine.alpha, merged, atol=1e-9)
    assert mine.cost[-1] == pytest.approx(theirs.impurities[-1])


# Oracles -------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("limits", [{"max_depth": 4}, {"min_samples_leaf": 5}])
def test_classifier_against_scikit_learn(rng, criterion, limits):
    X = rng.standard_normal((400, 5))
    y = np.argmax(X[:, :3] + 0.5 * rng.standard_normal((400, 3)), axis=1)
    w = rng.uniform(0.5, 2, 400)  # no two different divisions are equally good
    mine = DecisionTreeClassifier(criterion, **limits).fit(X, y, w)
    theirs = PeerClassifier(criterion=criterion, random_state=0, **limits).fit(X, y, w)
    # it splits some pure nodes, whose weighted impurity it rounds above 0: leaves are not counted
    assert np.allclose(mine.predict_proba(X), theirs.predict_proba(X))
    assert np.allclose(mine.feature_importances_, theirs.feature_importances_)
    assert np.allclose(mine.tree_.impurity[0], theirs.tree_.impurity[0])


def test_regressor_against_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32).astype(float)  # as scikit-learn stores it
    mine = DecisionTreeRegressor(min_samples_leaf=10).fit(X, y)
    theirs = PeerRegressor(min_samples_leaf=10, random_state=0).fit(X, y)
    assert np.allclose(mine.predict(X), theirs.predict(X))
    assert mine.get_n_leaves() == theirs.get_n_leaves()


def test_digits_at_equal_quality():
    X, y = load_digits(return_X_y=True)
    mine = DecisionTreeClassifier().fit(X[::2], y[::2])
    theirs = [PeerClassifier(random_state=s).fit(X[::2], y[::2]) for s in range(5)]
    scores = [t.score(X[1::2], y[1::2]) for t in theirs]
    assert mine.score(X[::2], y[::2]) == 1
    assert mine.score(X[1::2], y[1::2]) > min(scores) - 0.03


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_monotone_maps_of_columns_and_scales_of_targets_change_nothing(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    tree, warped = grow(X, y), grow(np.exp(X), y)
    assert np.array_equal(tree.feature, warped.feature)
    assert np.array_equal(tree.n, warped.n)
    for scale in (1e-8, 1e8):
        scaled = grow(X, scale * y)
        assert np.array_equal(tree.feature, scaled.feature)
        assert np.allclose(scaled.value, scale * tree.value, rtol=1e-9)


# Published -----------------------------------------------------------------------------------


def test_quinlans_mornings():
    outlook = [[2, 3], [4, 0], [3, 2]]
    assert information_gain(outlook) == pytest.approx(0.246, abs=1e-3)  # Quinlan (1986), p. 91
    assert gain_ratio(outlook) == pytest.approx(0.156, abs=1e-3)  # p. 102


def test_irises_by_sepals():
    data = load_iris()
    first = best_split(data.data[:, :2], data.target, n_classes=3, criterion="gini")
    assert (first.feature, round(first.threshold, 2)) == (0, 5.45)
    assert gini([50, 50, 50]) - first.gain == pytest.approx(0.438906, abs=1e-6)


# Wrong variants ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x[rows[i + 1]] > x[r] and wide", "wide"),
        ("right_sum -= w[r] * (2 * b - w[r])", "right_sum -= w[r] * (2 * b + w[r])"),
        ("left_sum / W_left + right_sum / W_right", "left_sum / n + right_sum / n"),
        ("if gain > best + slack", "if gain >= best"),
        ("min_leaf <= i + 1 <= n - min_leaf", "min_leaf <= i + 1 <= n"),
    ],
)
def test_wrong_scans_are_noticed(rng, old, new):
    source, names = inspect.getsource(module), {"__name__": "wrong"}
    assert old in source
    exec(source.replace("@compiled\n", "").replace(old, new, 1), names)
    wrong = 0
    for _ in range(40):
        X, y = rng.integers(0, 3, (9, 2)) * 1.0, rng.integers(0, 3, 9) * 1.0
        w = rng.integers(1, 3, 9) * 1.0
        try:
            found = names["best_split"](X, y, w, n_classes=3, criterion="gini", min_samples_leaf=2)[
                :2
            ]
        except (ZeroDivisionError, IndexError):
            found = None
        wrong += found != brute(X, y, w, 3, "gini", 2)[1:]
    assert wrong > 0


LIMITS = {
    "max_depth": 2,
    "min_samples_split": 15,
    "min_samples_leaf": 7,
    "min_impurity_decrease": 0.02,
    "max_features": 1,
}


@pytest.mark.parametrize("classes", [None, 3])
def test_trees_listen_to_every_option_and_tell_of_every_node(rng, classes):
    X, w = rng.standard_normal((60, 3)), rng.integers(1, 4, 60).astype(float)
    y = X[:, 0] + rng.standard_normal(60)
    y = y if classes is None else np.digitize(y, [-0.5, 0.5]).astype(float)
    criteria = ("squared_error",) if classes is None else ("gini", "entropy")

    def run(w=None, **limits):
        named = {"n_classes": classes, "criterion": criteria[0]} | limits
        return grow(X, y, w, rng=np.random.default_rng(1), **named)

    default = run()
    named = {"max_depth": None, "min_samples_split": 2, "min_samples_leaf": 1}
    named |= {"min_weight_leaf": 0.0, "min_impurity_decrease": 0.0, "max_features": None}
    assert same_tree(default, run(**named))
    assert same_tree(default, run(order=presort(X)))
    assert default.n.min() == 1
    for limits in ({name: value} for name, value in (LIMITS | {"min_weight_leaf": 9.0}).items()):
        other = run(**limits)
        assert len(other.n) != len(default.n) or not same_tree(other, default), limits
    assert depth(run(max_depth=2)) == 2
    tree = run(min_samples_split=15)
    assert tree.n[tree.left >= 0].min() >= 15 > tree.n[tree.left < 0].min()
    assert run(min_samples_leaf=7).n.min() >= 7
    assert run(w, min_weight_leaf=9.0).weight.min() >= 9.0
    for criterion in criteria:
        tree = run(w, criterion=criterion, max_depth=3)
        reach = {0: np.arange(60)}
        for t in range(len(tree.n)):
            rows = reach[t]
            assert (tree.n[t], tree.weight[t]) == (len(rows), pytest.approx(w[rows].sum()))
            if classes is None:
                mean = np.average(y[rows], weights=w[rows])
                assert tree.value[t] == pytest.approx([mean])
                spread = np.average((y[rows] - mean) ** 2, weights=w[rows])
                assert tree.impurity[t] == pytest.approx(spread)
            else:
                counts = np.bincount(y[rows].astype(int), w[rows], minlength=3)
                assert tree.value[t] == pytest.approx(counts / counts.sum())
                assert tree.impurity[t] == pytest.approx(
                    {"gini": gini, "entropy": entropy}[criterion](counts)
                )
            if tree.left[t] >= 0:
                left = X[rows, tree.feature[t]] <= tree.threshold[t]
                reach[tree.left[t]], reach[tree.right[t]] = rows[left], rows[~left]
            else:
                assert (tree.feature[t], tree.threshold[t], tree.right[t]) == (-1, 0.0, -1)
        split = best_split(X, y, w, n_classes=classes, criterion=criterion)
        both = tree.weight[tree.left[0]] * tree.impurity[tree.left[0]]
        both += tree.weight[tree.right[0]] * tree.impurity[tree.right[0]]
        assert split[:2] == (tree.feature[0], tree.threshold[0])
        assert split.gain == pytest.approx(tree.impurity[0] - both / w.sum())
        assert split.n_left == tree.n[tree.left[0]]
        few = best_split(X, y, w, n_classes=classes, criterion=criterion, min_samples_leaf=25)
        assert 25 <= few.n_left <= 35
        letters = np.array(list("abcdef"))[(3 * X[:, 0]).astype(int) % 6]
        target = y if classes is None else (y > 0) * 1.0
        divided = best_category_split(letters, target, w, criterion=criterion)
        goes = np.isin(letters, divided.left)
        means = [
            np.average(target[letters == a], weights=w[letters == a])
            for a in divided.left + divided.right
        ]
        assert means == sorted(means)
        again = best_split(goes[:, None], target, w, n_classes=classes and 2, criterion=criterion)
        assert divided.gain == pytest.approx(again.gain)
        if criterion == "gini":
            assert divided == best_category_split(letters, target, w)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize(
    "given",
    [
        {},
        *({name: value} for name, value in LIMITS.items()),
        {"min_weight_fraction_leaf": 0.2},
        {"ccp_alpha": 0.02},
        {"max_features": 1, "random_state": 3},
        {"criterion": "entropy"},
    ],
    ids=str,
)
def test_the_estimators_grow_what_they_are_asked_for(rng, kind, given):
    X, w = rng.standard_normal((60, 3)), rng.integers(1, 4, 60).astype(float)
    y = X[:, 0] + rng.standard_normal(60)
    asked, classes = dict(given), None
    if kind is DecisionTreeClassifier:
        y, classes = np.digitize(y, [-0.5, 0.5]), 3
        asked.setdefault("criterion", "gini")
    elif asked.pop("criterion", None):
        with pytest.raises(ValueError, match="criterion must be"):
            kind(**given).fit(X, y)
        return
    model = kind(**{"random_state": 0} | asked).fit(X, y, sample_weight=w)
    alpha, share = asked.pop("ccp_alpha", 0.0), asked.pop("min_weight_fraction_leaf", 0.0)
    draws = np.random.default_rng(asked.pop("random_state", 0))
    tree = grow(X, y, w, n_classes=classes, min_weight_leaf=share * w.sum(), rng=draws, **asked)
    tree = prune(tree, alpha) if alpha else tree
    assert len(model.tree_.n) == len(tree.n)
    assert same_tree(model.tree_, tree)
    assert np.array_equal(model.apply(X), apply(tree, X))
    assert (model.get_depth(), model.get_n_leaves()) == (depth(tree), n_leaves(tree))
    assert np.allclose(model.feature_importances_, importances(tree, 3))
    values = tree.value[apply(tree, X)]
    if classes:
        assert np.allclose(model.predict_proba(X), values)
    else:
        assert np.allclose(model.predict(X), values[:, 0])


def test_the_pruning_path_tells_costs_leaves_and_strengths(rng):
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    tree = grow(X, y, max_depth=4)
    path = pruning_path(tree)
    for alpha, leaves, cost in zip(path.alpha, path.leaves, path.cost):
        small = prune(tree, alpha)
        assert n_leaves(small) == leaves
        assert cost == pytest.approx(regression_objective(small, X, y) / 40)
        assert len(prune(tree, alpha, path.strength).n) == len(small.n)
        split = (tree.left >= 0) & (path.strength > alpha)
        assert split.sum() == leaves - 1
    assert len(prune(tree, 0.0, np.zeros(len(tree.n))).n) == 1
