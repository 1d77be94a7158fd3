"""Decision trees: impurity and gain, the search for a split, growing, pruning.

Chapter: Trees and ensembles, *Decision trees*. Main reference: Breiman, Friedman, Olshen and Stone
(1984), Classification and Regression Trees.
"""

from typing import NamedTuple

import numpy as np

from mllib.core.arrays import (
    as_array,
    check_array,
    check_sample_weight,
    check_target_length,
    check_targets,
    check_vector,
    check_X_y,
    class_factors,
)
from mllib.core.compiled import compiled
from mllib.core.estimators import Classifier, Regressor, begin_fit, check_features, check_fitted
from mllib.core.numerics import max_abs
from mllib.core.scalars import check_choice, check_rng, check_scalar, random_generator

__all__ = [
    "Branch",
    "CategorySplit",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "PruningPath",
    "Split",
    "Tree",
    "apply",
    "best_category_split",
    "best_split",
    "contingency",
    "depth",
    "entropy",
    "gain_ratio",
    "gini",
    "grow",
    "id3",
    "id3_predict",
    "importances",
    "information_gain",
    "intrinsic_value",
    "leaf_boxes",
    "misclassification",
    "n_leaves",
    "presort",
    "prune",
    "pruning_path",
    "regression_objective",
]

#: The codes of the criteria in the compiled loops.
SQUARED, GINI, ENTROPY = 0, 1, 2
_CODES = {"squared_error": SQUARED, "gini": GINI, "entropy": ENTROPY}

#: Gains that differ by less than this share of the node's total count as equal.
_SLACK = 1e-12


# Records -------------------------------------------------------------------------------------


class Split(NamedTuple):
    """A binary split: rows with ``X[:, feature] <= threshold`` go left."""

    feature: int  #: index of the column, -1 if no split is allowed
    threshold: float  #: midway between two neighbouring values of the column
    gain: float  #: impurity of the node less the weighted impurity of its children
    n_left: int  #: rows that go left


class CategorySplit(NamedTuple):
    """A binary split of the values of one categorical column."""

    left: tuple  #: the values that go left: the smaller means of the target, sorted by them
    right: tuple  #: all other values, sorted by their means
    gain: float  #: as in ``Split``


class Tree(NamedTuple):
    """A binary tree in flat arrays, parents before children, one entry for each of m nodes."""

    feature: np.ndarray  #: column tested, -1 at a leaf, shape (m,)
    threshold: np.ndarray  #: ``x <= threshold`` goes left; 0 at a leaf, shape (m,)
    left: np.ndarray  #: index of the left child, -1 at a leaf, shape (m,)
    right: np.ndarray  #: index of the right child, -1 at a leaf, shape (m,)
    value: np.ndarray  #: shares of the classes, shape (m, K), or the mean target, shape (m, 1)
    n: np.ndarray  #: training rows that reach the node, shape (m,)
    weight: np.ndarray  #: their total weight, shape (m,)
    impurity: np.ndarray  #: Gini, entropy in bits, or mean squared error, shape (m,)


class Node(NamedTuple):
    """What the scans of a node's columns share."""

    W: float  #: total weight
    mean: float  #: of the targets
    total: np.ndarray  #: weight of each class
    slack: float  #: gains closer than this count as equal


class Limits(NamedTuple):
    """The settings of ``grow`` as the compiled loops take them."""

    criterion: int  #: its code
    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: float
    min_decrease: float
    tried: int  #: columns looked at in each node


class PruningPath(NamedTuple):
    """The smallest best pruned trees of all strengths; the last is the root alone."""

    alpha: np.ndarray  #: strengths from which each tree of the path is best, increasing from 0
    leaves: np.ndarray  #: its number of leaves, decreasing
    cost: np.ndarray  #: its weighted impurity R(T), increasing
    strength: np.ndarray  #: for each node, the strength from which it is no longer split


class Branch(NamedTuple):
    """A node of a tree with one branch for each value of a categorical column."""

    label: object  #: the most frequent class among the node's rows, the first at ties
    counts: dict  #: the number of rows of each class
    feature: int  #: index of the column tested, -1 at a leaf
    children: dict  #: value -> Branch


# Impurity and gain ---------------------------------------------------------------------------


def _counts(counts, ndim=None):
    counts = as_array(counts, "counts")
    if counts.dtype != object:  # fractions stay fractions
        counts = counts.astype(float)
    if counts.size == 0 or (ndim and counts.ndim != ndim):
        raise ValueError("counts must hold a row of class counts for each child.")
    total = counts.sum(axis=-1)
    if not (np.all(counts >= 0) and np.all(total > 0) and np.all(total < np.inf)):
        raise ValueError("counts must be finite and not negative, and no row of them empty.")
    return counts


def entropy(counts):
    """Return -sum_k p_k log2 p_k in bits, with p_k the share of class k and 0 log 0 = 0.

    ``counts`` of shape (..., K) are weights of the classes, not all 0; the result has shape (...).

    Book: trees-entropy-impurity.

    >>> float(entropy([2, 1, 1]))
    1.5
    """
    counts = _counts(counts).astype(float)
    p = counts / counts.sum(axis=-1, keepdims=True)
    return 0.0 - (p * np.log2(np.where(p > 0, p, 1))).sum(axis=-1)


def gini(counts):
    """Return 1 - sum_k p_k^2, the probability that two rows drawn with replacement differ.

    Shapes are as in ``entropy``; fractions give a fraction.

    Book: trees-gini. Breiman et al. (1984), section 4.3.

    >>> float(gini([2, 1, 1]))
    0.625
    """
    counts = _counts(counts)
    p = counts / counts.sum(axis=-1, keepdims=True)
    return 1 - (p**2).sum(axis=-1)


def misclassification(counts):
    """Return 1 - max_k p_k, the share of errors of the answer "most frequent class".

    >>> float(misclassification([2, 1, 1]))
    0.5
    """
    counts = _counts(counts)
    return 1 - counts.max(axis=-1) / counts.sum(axis=-1)


def contingency(x, y):
    """Return the table whose row v, column k counts the rows with the v-th value and class k.

    ``x`` and ``y`` have shape (n,); values and classes are sorted.

    >>> contingency(["a", "b", "a"], [0, 1, 1]).tolist()
    [[1, 1], [0, 1]]
    """
    (values, v), (classes, k) = (np.unique(as_array(u, "x"), return_inverse=True) for u in (x, y))
    if len(v) != len(k) or len(v) == 0:
        raise ValueError(f"x and y must have one entry for each row, got {len(v)} and {len(k)}.")
    counts = np.zeros((len(values), len(classes)), dtype=int)
    np.add.at(counts, (v, k), 1)
    return counts


def information_gain(counts, impurity=entropy):
    """Return I(D) - sum_v |D_v|/|D| I(D_v), the impurity that a split into children D_v removes.

    ``counts`` of shape (V, K) has one row of class counts for each child; ``impurity`` is
    ``entropy``, ``gini``, ``misclassification`` or another function of class counts.

    Book: trees-information-gain. Quinlan (1986), Machine Learning 1, p. 90.

    >>> float(information_gain([[4, 0], [0, 4]]))
    1.0
    """
    counts = _counts(counts, 2)
    share = counts.sum(axis=1) / counts.sum()
    return impurity(counts.sum(axis=0)) - (share * impurity(counts)).sum()


def intrinsic_value(counts):
    """Return the entropy of the sizes of the children in bits, for counts of shape (V, K).

    >>> float(intrinsic_value([[4, 0], [0, 4]]))
    1.0
    """
    return entropy(_counts(counts, 2).sum(axis=1))


def gain_ratio(counts):
    """Return information gain over intrinsic value, for counts of at least two children.

    Book: trees-gain-ratio. Quinlan (1993), C4.5, section 2.2.

    >>> float(gain_ratio([[2, 0], [2, 0], [0, 2], [0, 2]]))
    0.5
    """
    if len(_counts(counts, 2)) < 2:
        raise ValueError("counts must have at least two rows: one child has intrinsic value 0.")
    return information_gain(counts) / intrinsic_value(counts)


# Branches for each value: ID3 ----------------------------------------------------------------


def id3(X, y, criterion="gain"):
    """Return the ``Branch`` that tests the column of largest gain, a child for each of its values.

    A node becomes a leaf when it is pure or when every column is constant on it. X of shape (n, d)
    holds categories of any sortable kind; ``criterion`` is "gain", as in ID3, or "gain_ratio", as
    in C4.5.

    Book: trees-information-gain. Quinlan (1986), Machine Learning 1, 81-106.

    >>> id3([["red", "big"], ["red", "small"], ["blue", "big"]], ["no", "no", "yes"]).feature
    0
    """
    X, y = as_array(X, "X"), as_array(y, "y")
    if X.ndim != 2 or y.shape != X.shape[:1] or len(y) == 0:
        raise ValueError(f"X must have shape (n, d) and y shape (n,), got {X.shape} and {y.shape}.")
    check_choice(criterion, "criterion", ("gain", "gain_ratio"))
    return _id3(X, y, information_gain if criterion == "gain" else gain_ratio)


def _id3(X, y, score):
    classes, counts = np.unique(y, return_counts=True)
    label = classes[counts.argmax()]
    counts = dict(zip(classes.tolist(), counts.tolist()))
    tables = [contingency(x, y) for x in X.T]
    scores = [score(table) if len(table) > 1 else -np.inf for table in tables]
    if len(classes) == 1 or max(scores) == -np.inf:
        return Branch(label, counts, -1, {})
    j = int(np.argmax(np.round(scores, 12)))  # the first of equals
    groups = {v: X[:, j] == v for v in np.unique(X[:, j]).tolist()}
    return Branch(label, counts, j, {v: _id3(X[g], y[g], score) for v, g in groups.items()})


def id3_predict(tree, X):
    """Return the class of each row; a value that a node has not seen gets the node's own class.

    >>> tree = id3([["red"], ["red"], ["blue"]], ["no", "no", "yes"])
    >>> id3_predict(tree, [["blue"], ["green"]]).tolist()
    ['yes', 'no']
    """
    X = as_array(X, "X")
    if X.ndim != 2:
        raise ValueError(f"X must have shape (m, d), got {X.shape}.")
    labels = []
    for row in X.tolist():
        node = tree
        while node.feature >= 0 and row[node.feature] in node.children:
            node = node.children[row[node.feature]]
        labels.append(node.label)
    return np.array(labels)


# The search for a split ----------------------------------------------------------------------


@compiled
def xlogx(c):
    """Return c log2 c, and 0 at 0."""
    return c * np.log2(c) if c > 0 else 0.0


@compiled
def summarise(rows, y, w, criterion, total):
    """Fill total[k] with the weight of class k; return (W, mean, W * impurity, all y equal)."""
    W, mean, equal = 0.0, 0.0, True
    total[:] = 0
    for r in rows:
        W += w[r]
        equal = equal and y[r] == y[rows[0]]
        if criterion == SQUARED:
            mean += w[r] * y[r]
        else:
            total[int(y[r])] += w[r]
    mean /= W
    left_over = 0.0
    if criterion == SQUARED:
        for r in rows:
            left_over += w[r] * (y[r] - mean) ** 2
    elif criterion == GINI:
        for k in range(len(total)):
            left_over += total[k] * (1 - total[k] / W)
    else:
        left_over = xlogx(W)
        for k in range(len(total)):
            left_over -= xlogx(total[k])
    return W, mean, left_over, equal


@compiled
def scan_column(x, rows, y, w, node, limits, left, best):
    """Return the largest gain, times W, among the cuts of one column, if it is above ``best``.

    ``rows`` are sorted by x; the cut c > 0 sends the first c of them left, and 0 says that none
    is better. ``left`` is room for the weights of the classes on the left.
    """
    W, mean, total, slack = node
    criterion, min_leaf, min_weight = limits.criterion, limits.min_leaf, limits.min_weight
    n, cut, W_left, S = len(rows), 0, 0.0, 0.0
    all_sum, left_sum = 0.0, 0.0
    for k in range(len(total)):
        all_sum += xlogx(total[k]) if criterion == ENTROPY else total[k] ** 2
        left[k] = 0.0
    right_sum = all_sum
    for i in range(n - 1):
        r = rows[i]
        W_left += w[r]
        if criterion == SQUARED:
            S += w[r] * (y[r] - mean)
        else:  # only the count of one class changes on either side
            k = int(y[r])
            a, b = left[k], total[k] - left[k]
            left[k] += w[r]
            if criterion == GINI:
                left_sum += w[r] * (2 * a + w[r])
                right_sum -= w[r] * (2 * b - w[r])
            else:
                left_sum += xlogx(a + w[r]) - xlogx(a)
                right_sum += xlogx(b - w[r]) - xlogx(b)
        W_right = W - W_left
        wide = min_leaf <= i + 1 <= n - min_leaf and W_left >= min_weight <= W_right
        if x[rows[i + 1]] > x[r] and wide:
            if criterion == SQUARED:
                gain = S * S * W / (W_left * W_right)
            elif criterion == GINI:
                gain = left_sum / W_left + right_sum / W_right - all_sum / W
            else:
                gain = left_sum + right_sum - all_sum
                gain += xlogx(W) - xlogx(W_left) - xlogx(W_right)
            if gain > best + slack:
                best, cut = gain, i + 1
    return best, cut


@compiled
def midpoint(a, b):
    """Return the number halfway between a < b, or a where rounding leaves nothing between."""
    m = 0.5 * a + 0.5 * b
    return m if a <= m < b else a


@compiled
def search(XT, order, start, end, y, w, node, limits, left, pool, state):
    """Return (column, cut, gain times W) of the best split of a node; the column is -1 if none is.

    All columns are looked at in order, or as many as ``tried`` of those that vary, at random.
    """
    d = len(pool)
    feature, cut, best, seen = -1, 0, -np.inf, 0
    for i in range(d):
        if limits.tried < d:  # the next column of a random order
            state[0] = state[0] * 48271 % 2147483647  # Lehmer's generator, seeded from ``rng``
            k = i + state[0] % (d - i)
            pool[i], pool[k] = pool[k], pool[i]
        j = pool[i]
        rows = order[j, start:end]
        if XT[j, rows[0]] == XT[j, rows[-1]]:
            continue
        gain, c = scan_column(XT[j], rows, y, w, node, limits, left, best)
        if c > 0:
            feature, cut, best = j, c, gain
        seen += 1
        if seen >= limits.tried and feature >= 0:
            break
    return feature, cut, best


@compiled
def partition(order, start, end, columns, goes_left, buffer):
    """In each column move the rows that go left to the front; both sides stay sorted."""
    for j in range(columns):
        a, b = start, 0
        for i in range(start, end):
            r = order[j, i]
            order[j, a], buffer[b] = r, r
            side = 1 if goes_left[r] else 0
            a += side
            b += 1 - side
        for i in range(b):
            order[j, a + i] = buffer[i]


@compiled
def grow_nodes(XT, order, y, w, limits, state, tree, begin):
    """Grow depth first from presorted columns into the arrays of ``tree``; return m.

    ``begin[t]`` becomes the place in ``order`` where the rows of node t begin.
    """
    d, N = order.shape
    goes_left = np.zeros(XT.shape[1], np.bool_)
    buffer, pool = np.empty(N, np.int64), np.arange(d)
    total, counts = np.empty(tree.value.shape[1]), np.empty(tree.value.shape[1])
    stack = np.empty((len(tree.n) + 1, 4), np.int64)  # start, end, depth, parent
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, N, 0, -1
    top, m = 1, 0
    while top > 0:
        top -= 1
        start, end, level, parent = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if parent >= 0 and tree.left[parent] < 0:
            tree.left[parent] = m
        elif parent >= 0:
            tree.right[parent] = m
        W, mean, left_over, equal = summarise(order[0, start:end], y, w, limits.criterion, total)
        begin[m], tree.n[m], tree.weight[m], tree.impurity[m] = start, end - start, W, left_over / W
        if not equal and level < limits.max_depth and end - start >= limits.min_split:
            slack = W  # gains closer than rounding can tell count as equal
            if limits.criterion == SQUARED:
                slack = left_over + 0.01 * abs(mean) * np.sqrt(W * left_over)
            node = Node(W, mean, total, _SLACK * slack)
            j, cut, gain = search(XT, order, start, end, y, w, node, limits, counts, pool, state)
            if j >= 0 and max(gain, 0.0) >= limits.min_decrease * tree.weight[0]:
                middle = start + cut
                tree.feature[m] = j
                tree.threshold[m] = midpoint(XT[j, order[j, middle - 1]], XT[j, order[j, middle]])
                for i in range(start, end):
                    goes_left[order[j, i]] = i < middle
                columns = d if level + 1 < limits.max_depth else 1
                partition(order, start, end, columns, goes_left, buffer)
                stack[top, 0], stack[top, 1] = middle, end
                stack[top + 1, 0], stack[top + 1, 1] = start, middle
                stack[top : top + 2, 2], stack[top : top + 2, 3] = level + 1, m
                top += 2
        m += 1
    return m


@compiled
def fill_values(rows, begin, tree, y, w, classes):
    """Sum the targets (or the weights of the classes) of each leaf, then of parents, and divide."""
    value = tree.value
    for t in range(len(value) - 1, -1, -1):
        for k in range(value.shape[1]):
            value[t, k] = 0.0
        if tree.left[t] < 0:
            for i in range(begin[t], begin[t] + tree.n[t]):
                r = rows[i]
                if classes:
                    value[t, int(y[r])] += w[r]
                else:
                    value[t, 0] += w[r] * y[r]
        else:
            for k in range(value.shape[1]):
                value[t, k] = value[tree.left[t], k] + value[tree.right[t], k]
    for t in range(len(value)):
        for k in range(value.shape[1]):
            value[t, k] /= tree.weight[t]


def presort(X):
    """Return, for each column, the rows in increasing order: an array of shape (d, n).

    Rows of equal value keep their order.

    >>> presort([[3.0], [1.0], [2.0]])
    array([[1, 2, 0]])
    """
    X = check_array(X)
    return np.argsort(np.ascontiguousarray(X.T), axis=1, kind="stable").astype(np.int64)


def check_sample(X, y, w, n_classes, criterion):
    """Return X, targets or class indices, and weights as arrays."""
    X = check_array(X)
    y = check_vector(y, "y", length=len(X))
    w = check_sample_weight(w, len(X), "w", ones=True)
    if n_classes is None:
        check_choice(criterion, "criterion", ("squared_error",))
    else:
        check_choice(criterion, "criterion", ("gini", "entropy"))
        if not (np.isin(y, np.arange(n_classes))).all():
            raise ValueError(f"y must hold the class indices 0 to {n_classes - 1}.")
    check_sums(w, y if n_classes is None else np.ones(1))
    return X, y, w


def check_sums(w, y):
    """Refuse weights and targets whose sums of squares overflow or vanish."""
    W, top = float(w.sum()), float(max_abs(y))
    if not (W >= 1e-150 and W * W * max(1.0, W * top * top) < np.inf):
        raise ValueError(
            "w or y is too large or w too small for sums of squares: divide by a unit."
        )


def n_columns(share, d):
    """Return how many of d columns a ``max_features`` means: a number, a share, a word or None."""
    if share is None:
        return d
    if isinstance(share, str):
        check_choice(share, "max_features", ("sqrt", "log2"))
        return max(1, int(np.sqrt(d) if share == "sqrt" else np.log2(d)))
    if isinstance(share, (float, np.floating)):
        return max(1, int(check_scalar(share, "max_features", low=0, high=1, open_low=True) * d))
    return check_scalar(share, "max_features", low=1, high=d, integer=True)


def grow(
    X, y, w=None, *, n_classes=None, criterion="squared_error", max_depth=None,
    min_samples_split=2, min_samples_leaf=1, min_weight_leaf=0.0, min_impurity_decrease=0.0,
    max_features=None, rng=None, order=None,
):  # fmt: skip
    """Return the ``Tree`` that greedy splitting makes of a sample.

    A node is split at the largest gain, unless all its targets are equal, no cut is allowed or a
    limit is reached. A gain of 0 is no reason to stop. Ties go to the lowest column, then to the
    lowest threshold. Rows of weight 0 are left out.

    Book: trees-greedy-tree.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
        Targets, or class indices below ``n_classes``.
    w : array of shape (n,)
        Weights of the rows; 1 by default. A whole number means so many equal rows, except that the
        limits on rows count rows.
    n_classes : int
        K for classes; None for regression.
    criterion : {"squared_error", "gini", "entropy"}
        The first for regression, the others for classes.
    max_depth : int
        0 is a single leaf; None sets no limit.
    min_samples_split, min_samples_leaf : int
        Rows that a node must have to be split, and that each child must get.
    min_weight_leaf : float
        Total weight that each child must get.
    min_impurity_decrease : float
        A split must lower R(T), the weighted mean impurity of the leaves, by at least this.
    max_features : int, float, "sqrt", "log2" or None
        Columns looked at in each node, drawn at random by ``rng``; a float is a share of all, None
        takes all, in order.
    order : array of int of shape (d, n)
        ``presort(X)``, if it is known already.

    Examples
    --------
    >>> tree = grow([[0.0], [1.0], [2.0], [3.0]], [5.0, 5.0, 7.0, 7.0])
    >>> tree.threshold[0].item(), tree.value[:, 0].tolist()
    (1.5, [6.0, 5.0, 7.0])
    """
    X, y, w = check_sample(X, y, w, n_classes, criterion)
    d = X.shape[1]
    check_scalar(min_samples_split, "min_samples_split", low=2, integer=True)
    check_scalar(min_samples_leaf, "min_samples_leaf", low=1, integer=True)
    check_scalar(min_weight_leaf, "min_weight_leaf", low=0)
    check_scalar(min_impurity_decrease, "min_impurity_decrease", low=0)
    if max_depth is not None:
        check_scalar(max_depth, "max_depth", low=0, integer=True)
    tried = n_columns(max_features, d)
    if tried < d:
        check_rng(rng)
    order = presort(X) if order is None else _check_order(order, X.T.shape)
    if not w.all():
        order = np.ascontiguousarray(order[w[order] > 0].reshape(d, -1))
    N, K = order.shape[1], n_classes or 1
    deepest = N if max_depth is None else min(max_depth, N)
    limits = Limits(
        _CODES[criterion], deepest, min_samples_split, min_samples_leaf,
        max(float(min_weight_leaf), np.finfo(float).tiny), float(min_impurity_decrease), tried,
    )  # fmt: skip
    state = np.array([1 if rng is None else rng.integers(1, 2147483647)], dtype=np.int64)
    tree = empty_tree(N, deepest, K)
    begin = np.empty(len(tree.n), dtype=np.int64)
    m = grow_nodes(np.ascontiguousarray(X.T), order, y, w, limits, state, tree, begin)
    tree = Tree(*(a[:m].copy() for a in tree))
    fill_values(order[0], begin, tree, y, w, n_classes is not None)
    return tree


def empty_tree(N, max_depth, K):
    """Return room for all nodes of a tree of N rows that is not deeper than ``max_depth``."""
    room = min(2 * N - 1, 2 ** min(max_depth + 1, 62) - 1)
    feature, left, right, n = (np.full(room, -1, dtype=np.int64) for _ in range(4))
    threshold, weight, impurity = (np.zeros(room) for _ in range(3))
    return Tree(feature, threshold, left, right, np.zeros((room, K)), n, weight, impurity)


def _check_order(order, shape):
    """Return row numbers, sorted by each column; the rows are taken as sorted."""
    order = as_array(order, "order")
    if order.shape != shape or order.dtype.kind not in "iu":
        raise ValueError(f"order must have shape {shape} and hold row numbers, as presort(X).")
    if order.min() < 0 or order.max() >= shape[1]:
        raise ValueError(f"order must hold row numbers from 0 to {shape[1] - 1}.")
    return order.astype(np.int64, order="C")


def best_split(X, y, w=None, *, n_classes=None, criterion="squared_error", min_samples_leaf=1):
    """Return the binary ``Split`` of largest gain, the first of equals.

    Book: trees-cart-classification, trees-cart-regression. Breiman et al. (1984), sections 2.4
    and 8.3.

    Parameters
    ----------
    X, y, w, n_classes, criterion, min_samples_leaf :
        As in ``grow``.

    Examples
    --------
    >>> best_split([[0.0], [1.0], [2.0]], [0, 0, 1], n_classes=2, criterion="gini")[:2]
    (0, 1.5)
    """
    limits = {"max_depth": 1, "min_samples_leaf": min_samples_leaf}
    tree = grow(X, y, w, n_classes=n_classes, criterion=criterion, **limits)
    if len(tree.left) == 1:
        return Split(-1, 0.0, 0.0, 0)
    W, I = tree.weight, tree.impurity
    gain = I[0] - (W[1] / W[0] * I[1] + W[2] / W[0] * I[2])
    return Split(int(tree.feature[0]), float(tree.threshold[0]), float(gain), int(tree.n[1]))


def best_category_split(x, y, w=None, *, criterion="gini"):
    """Return the best division of the values of a categorical column into two groups.

    The values are sorted by the mean of y, the share of class 1 if y holds 0 and 1, and only the
    cuts of this order are tried.

    Book: trees-category-order. Breiman et al. (1984), Theorem 4.5; Fisher (1958), JASA 53, 789-798.

    Parameters
    ----------
    x : array of shape (n,)
        Categories of any sortable kind, at least two different ones.
    y : array of shape (n,)
        0 and 1 for "gini" and "entropy", any numbers for "squared_error".
    w : array of shape (n,)
    criterion : {"gini", "entropy", "squared_error"}

    Examples
    --------
    >>> best_category_split(["a", "b", "c", "c"], [1, 0, 1, 1]).left
    ('b',)
    """
    check_choice(criterion, "criterion", tuple(_CODES))
    values, v = np.unique(as_array(x, "x"), return_inverse=True)
    n_classes = None if criterion == "squared_error" else 2
    _, y, w = check_sample(np.zeros((len(v), 1)), y, w, n_classes, criterion)
    weight = np.bincount(v, w)
    if len(values) < 2 or (weight == 0).any():
        raise ValueError("x must hold at least two values, each with a positive weight.")
    by_mean = np.argsort(np.bincount(v, w * y) / weight, kind="stable")
    place = np.empty(len(values))
    place[by_mean] = np.arange(len(values))
    split = best_split(place[v][:, None], y, w, n_classes=n_classes, criterion=criterion)
    values, c = values[by_mean].tolist(), int(split.threshold) + 1
    return CategorySplit(tuple(values[:c]), tuple(values[c:]), split.gain)


# Reading a tree ------------------------------------------------------------------------------


@compiled
def find_leaves(X, feature, threshold, left, right, leaf):
    """Walk each row from the root to its leaf."""
    for i in range(len(X)):
        t = 0
        while left[t] != -1:
            t = left[t] if X[i, feature[t]] <= threshold[t] else right[t]
        leaf[i] = t


def leaves_of(tree, X):
    """Return the leaf of each row of a checked array."""
    leaf = np.empty(len(X), dtype=np.int64)
    find_leaves(X, tree.feature, tree.threshold, tree.left, tree.right, leaf)
    return leaf


def check_points(X, trees):
    """Return X as an array with at least the columns that the trees test."""
    X = np.ascontiguousarray(check_array(X))
    needed = max(int(tree.feature.max()) for tree in trees) + 1
    if X.shape[1] < needed:
        raise ValueError(f"X must have at least {needed} columns, got {X.shape[1]}.")
    return X


def apply(tree, X):
    """Return the index of the leaf that each row of X falls into, shape (m,).

    >>> apply(grow([[0.0], [1.0]], [5.0, 7.0]), [[-3.0], [3.0]]).tolist()
    [1, 2]
    """
    return leaves_of(tree, check_points(X, [tree]))


def depth(tree):
    """Return the number of tests on the longest way from the root to a leaf."""
    levels = np.zeros(len(tree.left), dtype=int)
    for t in np.flatnonzero(tree.left >= 0):  # parents come before children
        levels[[tree.left[t], tree.right[t]]] = levels[t] + 1
    return int(levels.max())


def n_leaves(tree):
    """Return the number of leaves |T|."""
    return int((tree.left < 0).sum())


def leaf_boxes(tree, low, high):
    """Return the leaves and the box that each cuts out of a given one, for drawing the regions.

    ``low`` and ``high``, of shape (d,), are opposite corners of the box to be divided. The result
    is an array of leaves and two of their corners, of shape (|T|, d): the region of a leaf is
    low < x <= high.

    >>> leaves, low, high = leaf_boxes(grow([[0.0], [1.0]], [5.0, 7.0]), [0.0], [1.0])
    >>> leaves.tolist(), low[:, 0].tolist(), high[:, 0].tolist()
    ([1, 2], [0.0, 0.5], [0.5, 1.0])
    """
    low = check_vector(low, "low", finite=False)
    high = check_vector(high, "high", length=len(low), finite=False)
    if not (low <= high).all():
        raise ValueError("low must not be above high.")
    m, d = len(tree.left), len(low)
    lows, highs = np.tile(low, (m, 1)), np.tile(high, (m, 1))
    if tree.feature.max() >= d:
        raise ValueError(f"low and high must have more than {tree.feature.max()} entries.")
    for t in np.flatnonzero(tree.left >= 0):
        j, a, b = tree.feature[t], tree.left[t], tree.right[t]
        lows[[a, b]], highs[[a, b]] = lows[t], highs[t]
        highs[a, j] = min(highs[t, j], tree.threshold[t])
        lows[b, j] = max(lows[t, j], tree.threshold[t])
    leaves = np.flatnonzero(tree.left < 0)
    return leaves, lows[leaves], highs[leaves]


def regression_objective(tree, X, y):
    """Return sum_j sum_{x_i in R_j} (y_i - v_j)^2, with the values v_j of the leaves R_j.

    Book: trees-regression-tree-objective.
    """
    leaf = apply(tree, X)
    y = check_vector(y, "y", length=len(leaf))
    return float(np.sum((y - tree.value[leaf, 0]) ** 2))


def importances(tree, d):
    """Return the share of each of d columns in the total gain of all splits; 0 if none gains.

    Book: trees-importance. Breiman et al. (1984), section 5.3.4.
    """
    t = np.flatnonzero(tree.left >= 0)
    cost = _costs(tree)
    gains = cost[t] - cost[tree.left[t]] - cost[tree.right[t]]
    gains = np.where(gains > _SLACK * cost[0], gains, 0)  # less is rounding
    total = np.bincount(tree.feature[t], gains, minlength=d)
    return total / total.sum() if total.any() else total


# Pruning -------------------------------------------------------------------------------------


@compiled
def weakest_links(left, right, cost, strength):
    """Fill strength[t] with the alpha from which node t is no longer split in the best tree.

    Costs are any numbers from 0 up; where a split raises the cost, alpha may be negative. Links
    that differ by less than 1e-12 of the root's cost are equal: only rounding tells them apart.
    """
    m = len(left)
    leaves, below, link = np.empty(m, np.int64), np.empty(m), np.empty(m)
    alpha = -np.inf
    while strength[0] == np.inf:  # it is split, and no leaf yet
        weakest = np.inf
        for t in range(m - 1, -1, -1):  # children before parents
            leaves[t], below[t], link[t] = 1, cost[t], np.inf
            if strength[t] == np.inf:
                leaves[t] = leaves[left[t]] + leaves[right[t]]
                below[t] = below[left[t]] + below[right[t]]
                link[t] = (cost[t] - below[t]) / (leaves[t] - 1)
                weakest = min(weakest, link[t])
        alpha = max(alpha, weakest)
        for t in range(m):
            if link[t] <= alpha + 1e-12 * cost[0]:
                strength[t] = alpha
            if left[t] != -1 and strength[t] <= alpha:  # what hangs below goes with it
                for child in (left[t], right[t]):
                    strength[child] = min(strength[child], alpha)


def _costs(tree):
    """Return R(t), the impurity of each node times its share of the sample, shape (m,)."""
    return tree.weight / tree.weight[0] * tree.impurity


def _strengths(tree):
    cost, strength = _costs(tree), np.where(tree.left >= 0, np.inf, 0.0)
    weakest_links(tree.left, tree.right, cost, strength)
    return np.where(strength > 1e-12 * cost[0], strength, 0.0)  # gone from 0 on, up to rounding


def pruning_path(tree):
    """Return the path of the smallest trees that minimise R(T) + alpha |T|.

    R(T) is the mean impurity of the leaves, weighted by their share of the sample; T runs through
    all trees that are left when splits are taken back from below. With another array ``impurity``
    in the tree, ``tree._replace(impurity=...)``, it is pruned by that cost.

    Book: trees-weakest-link. Breiman et al. (1984), section 3.3.

    >>> path = pruning_path(grow([[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]))
    >>> path.alpha.tolist(), path.leaves.tolist()
    ([0.0, 2.0], [2, 1])
    """
    cost, strength = _costs(tree), _strengths(tree)
    t = np.flatnonzero(tree.left >= 0)
    t = t[np.argsort(strength[t], kind="stable")]  # in the order in which they fold
    saved = cost[t] - cost[tree.left[t]] - cost[tree.right[t]]
    saved = np.append(np.cumsum(saved[::-1])[::-1], 0.0)  # by all splits from the i-th on
    alpha = np.unique(np.append(0.0, strength[t]))
    folded = np.searchsorted(strength[t], alpha, side="right")
    return PruningPath(alpha, 1 + len(t) - folded, cost[0] - saved[folded], strength)


def prune(tree, alpha, strength=None):
    """Return the smallest tree that minimises R(T) + alpha |T| among the pruned trees.

    At alpha 0 only splits that gain nothing are taken back. ``strength`` is
    ``pruning_path(tree).strength``, if it is known already.

    Book: trees-tree-pruning.
    """
    check_scalar(alpha, "alpha", low=0)
    strength = _strengths(tree) if strength is None else strength
    split = (tree.left >= 0) & (strength > alpha)
    kept = np.zeros(len(split), dtype=bool)
    kept[0] = True
    kept[tree.left[split]] = kept[tree.right[split]] = True
    rename = np.cumsum(kept) - 1
    left, right = (np.where(split, rename[child], -1) for child in (tree.left, tree.right))
    feature, threshold = np.where(split, tree.feature, -1), np.where(split, tree.threshold, 0.0)
    return Tree(*(a[kept] for a in (feature, threshold, left, right, *tree[4:])))


# Estimators ----------------------------------------------------------------------------------


def check_regression(X, y, sample_weight, estimator):
    """Return X, the targets and the weights."""
    X, y = check_array(X), check_targets(y, estimator)
    check_target_length(X, y)
    return X, y, check_sample_weight(sample_weight, len(X), ones=True)


def check_classes(X, y, sample_weight, estimator):
    """Return X, the classes of positive weight, their indices and the weights."""
    X, classes, y = check_X_y(X, y, estimator, min_classes=1)
    w = check_sample_weight(sample_weight, len(X), ones=True)
    present = np.flatnonzero(np.bincount(y, w))
    return X, classes[present], np.searchsorted(present, y).clip(max=len(present) - 1), w


class _DecisionTree:
    """What both estimators share: growing with their settings, pruning, reading."""

    def _grow(self, X, y, w, n_classes=None):
        check_scalar(self.ccp_alpha, "ccp_alpha", low=0)
        least = self.min_weight_fraction_leaf
        check_scalar(least, "min_weight_fraction_leaf", low=0, high=0.5)
        tree = grow(
            X, y, w, n_classes=n_classes, criterion=self.criterion, max_depth=self.max_depth,
            min_samples_split=self.min_samples_split, min_samples_leaf=self.min_samples_leaf,
            min_weight_leaf=least * w.sum(), min_impurity_decrease=self.min_impurity_decrease,
            max_features=self.max_features, rng=random_generator(self.random_state),
        )  # fmt: skip
        self.tree_ = prune(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree
        self.n_features_in_ = X.shape[1]
        return self

    @property
    def feature_importances_(self):
        """Share of each column in the total gain, shape (d,)."""
        check_fitted(self)
        return importances(self.tree_, self.n_features_in_)

    def apply(self, X):
        """Return the index in ``tree_`` of the leaf of each row, shape (m,)."""
        X = np.ascontiguousarray(check_features(self, X))
        return leaves_of(self.tree_, X)

    def get_depth(self):
        """Return the depth of the tree."""
        check_fitted(self)
        return depth(self.tree_)

    def get_n_leaves(self):
        """Return the number of leaves."""
        check_fitted(self)
        return n_leaves(self.tree_)


class DecisionTreeClassifier(_DecisionTree, Classifier):
    """Classification tree: greedy splits by largest gain, the class shares of its leaf as answer.

    Book: trees-greedy-tree.

    Parameters
    ----------
    criterion : {"gini", "entropy"}
    max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease, max_features :
        As in ``grow``.
    min_weight_fraction_leaf : float
        Share of the total weight that each leaf must have, at most one half.
    ccp_alpha : float
        Strength of cost-complexity pruning; 0 prunes nothing.
    class_weight, random_state : see ``mllib.core``

    Attributes
    ----------
    tree_ : Tree
    classes_ : array of shape (K,)
    feature_importances_ : array of shape (d,)
    n_features_in_ : int

    Examples
    --------
    >>> DecisionTreeClassifier().fit([[0.0], [4.0]], ["a", "b"]).predict([[1.0], [3.0]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self, criterion="gini", *, max_depth=None, min_samples_split=2, min_samples_leaf=1,
        min_weight_fraction_leaf=0.0, min_impurity_decrease=0.0, max_features=None, ccp_alpha=0.0,
        class_weight=None, random_state=None,
    ):  # fmt: skip
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Grow the tree, prune it where asked; return self."""
        begin_fit(self, X)
        X, self.classes_, y, w = check_classes(X, y, sample_weight, type(self).__name__)
        w = w * class_factors(self.class_weight, self.classes_, y, w)
        return self._grow(X, y, w, len(self.classes_))

    def predict_proba(self, X):
        """Return the shares of the classes in each row's leaf, shape (m, K)."""
        leaf = self.apply(X)
        return self.tree_.value[leaf]

    def predict(self, X):
        """Return the class with the largest share, the first at ties, shape (m,)."""
        leaf = self.apply(X)
        return self.classes_[self.tree_.value.argmax(axis=1)[leaf]]


class DecisionTreeRegressor(_DecisionTree, Regressor):
    """Regression tree: greedy splits by largest fall of the squared error, the leaf's mean.

    Parameters and attributes are those of ``DecisionTreeClassifier``, without classes; the
    criterion is "squared_error".

    Book: trees-cart-regression.

    >>> DecisionTreeRegressor(max_depth=1).fit([[0], [1], [2]], [1, 1, 4]).predict([[5], [0.5]])
    array([4., 1.])
    """

    def __init__(
        self, criterion="squared_error", *, max_depth=None, min_samples_split=2, min_samples_leaf=1,
        min_weight_fraction_leaf=0.0, min_impurity_decrease=0.0, max_features=None, ccp_alpha=0.0,
        random_state=None,
    ):  # fmt: skip
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Grow the tree, prune it where asked; return self."""
        begin_fit(self, X)
        X, y, w = check_regression(X, y, sample_weight, type(self).__name__)
        return self._grow(X, y, w)

    def predict(self, X):
        """Return the mean target of each row's leaf, shape (m,)."""
        leaf = self.apply(X)
        return self.tree_.value[leaf, 0]
