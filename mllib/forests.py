"""Ensembles: averages and votes, bootstrap samples, bagging, random forests, stacking.

Chapter: Trees and ensembles, *Forests*. Main reference: Breiman (2001), Random forests, Machine
Learning 45, 5-32.
"""

import inspect
from copy import deepcopy
from fractions import Fraction
from functools import partial
from math import comb
from typing import NamedTuple

import numpy as np

from mllib.core.arrays import (
    as_array,
    check_array,
    check_sample_weight,
    check_square,
    check_vector,
    check_weighted_X_y,
    class_factors,
)
from mllib.core.estimators import Classifier, Regressor, begin_fit, check_features, check_fitted
from mllib.core.parallel import map_over
from mllib.core.scalars import check_choice, check_flag, check_rng, check_scalar, random_generator
from mllib.least_squares import LinearRegression
from mllib.linear_algebra import spectral_decomposition
from mllib.logistic_regression import LogisticRegression
from mllib.model_selection import k_fold
from mllib.nearest_neighbours import KNeighborsClassifier, KNeighborsRegressor
from mllib.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    check_classes,
    check_points,
    check_regression,
    check_sample,
    grow,
    importances,
    leaves_of,
    n_columns,
    n_leaves,
    presort,
)

__all__ = [
    "Averaging",
    "BaggingClassifier",
    "BaggingRegressor",
    "Forest",
    "OutOfBag",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "averaging",
    "averaging_over_runs",
    "bootstrap_indices",
    "embed",
    "expected_distinct",
    "forest_values",
    "forest_votes",
    "gini_importance",
    "grow_forest",
    "importance_table",
    "majority_accuracy",
    "n_rules",
    "oob_error",
    "oob_prediction",
    "oob_probability",
    "out_of_fold",
    "permutation_importance",
    "plant",
    "proximities",
    "variance_of_average",
]


# Records -------------------------------------------------------------------------------------


class Averaging(NamedTuple):
    """Variances and covariances of B variables, and what they make of the average."""

    variance: float  #: of the average: covariance + (single - covariance) / B
    single: float  #: mean of the B variances
    covariance: float  #: mean covariance of the B (B - 1) / 2 pairs
    correlation: float  #: covariance / single; NaN if nothing varies


class Forest(NamedTuple):
    """Trees, and the bootstrap sample of each."""

    trees: tuple  #: B records ``mllib.trees.Tree``
    copies: np.ndarray  #: how often tree b drew row i, shape (B, n); 0 means out of bag
    n_classes: int  #: K, or None for regression


class OutOfBag(NamedTuple):
    """Answers for the training rows by those trees that have not seen them."""

    value: np.ndarray  #: mean value, shape (n, K) or (n, 1); NaN where every tree saw the row
    n_trees: np.ndarray  #: number of trees that have not seen the row, shape (n,)


# Votes and averages --------------------------------------------------------------------------


def majority_accuracy(p, B):
    """Return sum_{k > B/2} C(B, k) p^k (1 - p)^(B - k), the accuracy of a majority of B voters.

    The voters are independent, each is right with probability p, and B is odd. A fraction gives a
    fraction.

    Book: forests-ensemble, forests-condorcet. Condorcet (1785).

    >>> majority_accuracy(Fraction(3, 5), 3)
    Fraction(81, 125)
    """
    check_scalar(p, "p", low=0, high=1)
    if check_scalar(B, "B", low=1, integer=True) % 2 == 0:
        raise ValueError(f"B must be odd, so that there is always a majority, got {B}.")
    return sum(comb(B, k) * p**k * (1 - p) ** (B - k) for k in range(B // 2 + 1, B + 1))


def variance_of_average(sigma2, rho, B):
    """Return rho sigma^2 + (1 - rho) sigma^2 / B, for a common variance and correlation.

    The correlation of B variables lies between -1/(B - 1) and 1. Fractions give a fraction.

    Book: forests-averaging-variance.

    >>> variance_of_average(1.0, 0.5, 4)
    0.625
    """
    check_scalar(sigma2, "sigma2", low=0)
    check_scalar(B, "B", low=1, integer=True)
    least = -1 if B == 1 else Fraction(-1, B - 1)
    if not float(least) - 1e-12 <= check_scalar(rho, "rho", high=1):
        raise ValueError(f"rho must be at least -1/(B - 1) = {least}, got {rho}: no {B} variables "
                         f"have this correlation.")  # fmt: skip
    return rho * sigma2 + (1 - rho) * sigma2 / B


def averaging(cov):
    """Return what a covariance matrix of B >= 2 variables, shape (B, B), says about their average.

    The result is an ``Averaging``. Fractions stay fractions.

    Book: forests-averaging-variance.

    >>> float(averaging([[1.0, 0.5], [0.5, 1.0]]).variance)
    0.75
    """
    cov = as_array(cov, "cov")
    if cov.dtype != object:
        cov = check_square(cov, "cov", symmetric=True)
    B = len(cov)
    if B < 2 or cov.shape != (B, B):
        raise ValueError(f"cov must be a square matrix of at least 2 variables, got {cov.shape}.")
    single = np.trace(cov) / B
    covariance = (cov.sum() - np.trace(cov)) / (B * (B - 1))
    variance = covariance + (single - covariance) / B
    return Averaging(variance, single, covariance, covariance / single if single else np.nan)


def averaging_over_runs(P):
    """Return the ``Averaging`` of B models from R runs, its moments averaged over m points.

    P[r, b, x], of shape (R, B, m), is the prediction of model b of run r at point x; each run has a
    training sample of its own. The moments are those over the runs, with divisor R - 1.

    Book: forests-averaging-variance.

    >>> averaging_over_runs([[[0.0], [0.0]], [[2.0], [2.0]]])[:2]
    (2.0, 2.0)
    """
    P = as_array(P, "P")
    if P.ndim != 3 or P.shape[0] < 2 or P.shape[1] < 2 or P.shape[2] < 1:
        raise ValueError(f"P must have shape (R, B, m) with R and B at least 2, got {P.shape}.")
    P, B = check_array(P.reshape(len(P), -1), "P").reshape(P.shape), P.shape[1]
    single = P.var(axis=0, ddof=1).mean()
    variance = P.mean(axis=1).var(axis=0, ddof=1).mean()
    covariance = (B * variance - single) / (B - 1)
    correlation = covariance / single if single > 0 else np.nan
    return Averaging(*map(float, (variance, single, covariance, correlation)))


# The bootstrap -------------------------------------------------------------------------------


_DRAWS = 1e8  # their numbers take a gigabyte


def bootstrap_indices(n, rng, size=None, w=None):
    """Return ``size`` rows out of n, drawn independently and with replacement.

    Book: forests-bootstrap-sample. Efron (1979), Annals of Statistics 7, 1-26.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    size : int
        By default n, or the sum of whole weights, or the number of rows of positive weight.
    w : array of shape (n,)
        Row i is drawn with probability w_i / sum of w. A whole number means so many equal rows.

    Examples
    --------
    >>> len(bootstrap_indices(5, np.random.default_rng(0)))
    5
    """
    check_scalar(n, "n", low=1, integer=True)
    check_rng(rng)
    w = check_sample_weight(w, n, "w", ones=True)
    size = _draws(w) if size is None else check_scalar(size, "size", low=1, integer=True)
    ends = np.cumsum(w)
    whole = (w == np.rint(w)).all()
    at = rng.integers(0, int(ends[-1]), size) if whole else rng.random(size) * ends[-1]
    return np.searchsorted(ends, at, side="right").clip(max=np.flatnonzero(w)[-1])


def _draws(w):
    """Return the sum of whole weights, or else the number of rows of positive weight."""
    if (w != np.rint(w)).any():
        return int(np.count_nonzero(w))
    if w.sum() > max(_DRAWS, 10 * len(w)):
        raise ValueError(
            f"w is too large: whole weights mean so many equal rows, at most {_DRAWS:g} in all. "
            f"Divide w by its mean."
        )
    return int(w.sum())


def oob_probability(n, size=None):
    """Return (1 - 1/n)^size, the probability that ``size`` draws out of n miss a given row.

    By default ``size`` is n.

    Book: forests-bootstrap-oob-probability.

    >>> oob_probability(2)
    0.25
    """
    check_scalar(n, "n", low=1, integer=True)
    size = n if size is None else check_scalar(size, "size", low=0, integer=True)
    return (1 - 1 / n) ** size


def expected_distinct(n, size=None):
    """Return n (1 - (1 - 1/n)^size), the expected number of different rows in a bootstrap sample.

    >>> expected_distinct(2)
    1.5
    """
    return n * (1 - oob_probability(n, size))


# Forests -------------------------------------------------------------------------------------


def plant(rng, X, y, factor, order, draws, least, options):
    """Draw a bootstrap sample, grow a tree on it, and return the tree and the copies of each row.

    Book: forests-random-forest.

    Parameters
    ----------
    rng : numpy.random.Generator
        Of this tree alone.
    X, y, factor : arrays of shape (n, d), (n,) and (n,)
        The sample, and the weight of one copy of each row.
    order : array of int of shape (d, n)
        ``presort(X)``, which serves all trees: a row drawn twice is a row of weight 2.
    draws : list of (w, size)
        What ``bootstrap_indices`` is to draw, group by group; an empty list takes every row once.
    least : float
        Share of the sample's weight that each leaf must have.
    options : dict
        Further arguments of ``mllib.trees.grow``.
    """
    copies = np.zeros(len(y), dtype=int) if draws else (factor > 0).astype(int)
    for w, size in draws:
        copies += np.bincount(bootstrap_indices(len(y), rng, size, w), minlength=len(y))
    w = copies * factor
    return grow(X, y, w, order=order, rng=rng, min_weight_leaf=least * w.sum(), **options), copies


def grow_forest(
    X, y, w=None, *, rng, n_trees=100, n_classes=None, criterion="squared_error", bootstrap=True,
    max_samples=None, factor=None, min_weight_fraction_leaf=0.0, workers=1, **limits,
):  # fmt: skip
    """Return a random forest: each tree on a bootstrap sample, each split among random columns.

    Each tree has a generator of its own, spawned from ``rng``: the forest does not depend on
    ``workers``. It does not depend on the order of the rows either.

    Book: forests-random-forest. Breiman (2001), Machine Learning 45, p. 11.

    Parameters
    ----------
    X, y, n_classes, criterion :
        As in ``mllib.trees.grow``.
    w : array of shape (n,)
        Whole weights mean so many equal rows; other weights are probabilities of being drawn.
        Without a bootstrap they are the weights of ``mllib.trees.grow``.
    rng : numpy.random.Generator
    n_trees : int
    bootstrap : bool or "balanced"
        Whether each tree gets a bootstrap sample; "balanced" draws from each class as many rows
        as the smallest class has.
    max_samples : int, float or None
        Number of draws, or their share of the usual number.
    factor : array of shape (n,)
        Further weight of each copy of a row in the tree, such as one for its class.
    min_weight_fraction_leaf : float
        Share of the weight of a tree's sample that each leaf must have, at most one half.
    workers : see ``mllib.core``
    **limits
        ``max_features``, None for bagging, ``max_depth``, ``min_samples_split``,
        ``min_samples_leaf`` and ``min_impurity_decrease`` of ``mllib.trees.grow``.

    Examples
    --------
    >>> forest = grow_forest([[0.0], [1.0]], [5.0, 7.0], n_trees=3, rng=np.random.default_rng(0))
    >>> len(forest.trees), forest.copies.sum(axis=1).tolist()
    (3, [2, 2, 2])
    """
    X, y, w = check_sample(X, y, w, n_classes, criterion)
    check_rng(rng)
    check_scalar(n_trees, "n_trees", low=1, integer=True)
    least = check_scalar(min_weight_fraction_leaf, "min_weight_fraction_leaf", low=0, high=0.5)
    factor = check_sample_weight(factor, len(y), "factor", ones=True)
    rows = np.lexsort(np.vstack([X.T, y]))  # one order for all orders of the rows
    X, y, w, factor = X[rows], y[rows], w[rows], factor[rows]
    draws = _plan(y, w, n_classes, bootstrap, max_samples)
    one = partial(
        plant, X=X, y=y, factor=factor if draws else factor * w, order=presort(X), draws=draws,
        least=least, options=limits | {"n_classes": n_classes, "criterion": criterion},
    )  # fmt: skip
    grown = map_over(one, rng.spawn(n_trees), workers)
    copies = np.empty((n_trees, len(y)), dtype=np.int32)
    copies[:, rows] = [copies for _, copies in grown]
    return Forest(tuple(tree for tree, _ in grown), copies, n_classes)


def _plan(y, w, n_classes, bootstrap, max_samples):
    """Return the list of (weights, number of draws) of each bootstrap sample."""
    balanced = isinstance(bootstrap, str)
    if balanced:
        check_choice(bootstrap, "bootstrap", ("balanced",))
        if n_classes is None:
            raise ValueError("bootstrap='balanced' needs classes: use True for regression.")
    else:
        check_flag(bootstrap, "bootstrap")
    if (balanced or not bootstrap) and max_samples is not None:
        raise ValueError("max_samples needs bootstrap=True: leave it None.")
    if not bootstrap:
        return []
    if balanced:
        groups = [w * (y == k) for k in range(n_classes)]
        groups = [group for group in groups if group.any()]
        return [(group, min(map(_draws, groups))) for group in groups]
    size = _draws(w)
    if isinstance(max_samples, (float, np.floating)):
        check_scalar(max_samples, "max_samples", low=0, high=1, open_low=True)
        size = max(1, round(max_samples * size))
    elif max_samples is not None:
        size = check_scalar(max_samples, "max_samples", low=1, high=size, integer=True)
    return [(w, size)]


def _check_training_rows(forest, X):
    X = check_points(X, forest.trees)
    if len(X) != forest.copies.shape[1]:
        raise ValueError(
            f"X must hold the {forest.copies.shape[1]} training rows in their order, got {len(X)}."
        )
    return X


def forest_values(forest, X):
    """Return the mean over the trees of the value of each row's leaf.

    These are class shares, shape (m, K), or targets, shape (m, 1).

    Book: forests-forest-prediction.

    >>> forest = grow_forest([[0.0], [1.0]], [5.0, 5.0], n_trees=3, rng=np.random.default_rng(0))
    >>> forest_values(forest, [[0.3]])
    array([[5.]])
    """
    X = check_points(X, forest.trees)
    total = np.zeros((len(X), forest.n_classes or 1))
    for tree in forest.trees:
        total += tree.value[leaves_of(tree, X)]
    return total / len(forest.trees)


def forest_votes(forest, X):
    """Return the share of the trees that vote for each class, shape (m, K).

    At a tree's tie the first class gets its vote.

    Book: forests-forest-prediction.
    """
    if forest.n_classes is None:
        raise ValueError("forest must hold trees for classes: take forest_values for regression.")
    X = check_points(X, forest.trees)
    total = np.zeros((len(X), forest.n_classes))
    for tree in forest.trees:
        total[np.arange(len(X)), tree.value.argmax(axis=1)[leaves_of(tree, X)]] += 1
    return total / len(forest.trees)


def oob_prediction(forest, X):
    """Return, for each training row, the mean over the trees whose sample does not hold it.

    X of shape (n, d) holds the training rows, in their order. The result is an ``OutOfBag``.

    Book: forests-oob-error.
    """
    X = _check_training_rows(forest, X)
    total, number = np.zeros((len(X), forest.n_classes or 1)), np.zeros(len(X), dtype=int)
    for tree, copies in zip(forest.trees, forest.copies):
        out = np.flatnonzero(copies == 0)
        total[out] += tree.value[leaves_of(tree, X[out])]
        number[out] += 1
    value = np.full_like(total, np.nan)
    seen = number > 0
    value[seen] = total[seen] / number[seen, None]
    return OutOfBag(value, number)


def oob_error(forest, X, y, w=None):
    """Return the out-of-bag error: the share of wrong classes, or the mean squared error.

    Book: forests-oob-error. Breiman (2001), section 3.1.

    Parameters
    ----------
    forest : Forest
    X, y : arrays of shape (n, d) and (n,)
        The training rows, in their order; at least one must be out of bag for some tree.
    w : array of shape (n,)
        Weights of the rows in the mean.
    """
    value, number = oob_prediction(forest, X)
    y = check_vector(y, "y", length=len(value))
    w = check_sample_weight(w, len(y), "w", ones=True)
    counted = (number > 0) & (w > 0)
    if not counted.any():
        raise ValueError(
            "No row is out of bag: grow more trees, or draw fewer rows with max_samples."
        )
    return float(np.average(_loss(forest, value[counted], y[counted]), weights=w[counted]))


def _loss(forest, value, y):
    """Return 0 or 1 for classes, the squared error for targets, one for each row."""
    if forest.n_classes is None:
        return (y - value[:, 0]) ** 2
    return (value.argmax(axis=1) != y).astype(float)


def gini_importance(forest, d):
    """Return the mean over the trees of each of d columns' share in the tree's total gain.

    The entries are at least 0, of sum 1; all are 0 if no tree gains anything.

    Book: forests-gini-importance. Breiman et al. (1984), section 5.3.4.
    """
    total = sum(importances(tree, d) for tree in forest.trees)
    return total / total.sum() if total.any() else total


def permutation_importance(forest, X, y, rng, *, repeats=1):
    """Return how much the error of a tree grows when a column of its out-of-bag rows is permuted.

    The result, shape (d,), is the mean over the trees with at least two rows out of bag, and it is
    an error if there are none. A column that no tree tests has 0.

    Book: forests-permutation-importance. Breiman (2001), section 10.

    Parameters
    ----------
    forest : Forest
    X, y : arrays of shape (n, d) and (n,)
        The training rows, in their order.
    rng : numpy.random.Generator
    repeats : int
        Permutations for each tree and column.
    """
    X = _check_training_rows(forest, X)
    y = check_vector(y, "y", length=len(X))
    check_rng(rng)
    check_scalar(repeats, "repeats", low=1, integer=True)
    total, counted = np.zeros(X.shape[1]), 0
    for tree, copies in zip(forest.trees, forest.copies):
        Q, u = X[copies == 0], y[copies == 0]
        if len(Q) < 2:
            continue
        counted += 1
        before = _loss(forest, tree.value[leaves_of(tree, Q)], u).mean()
        for j in np.unique(tree.feature[tree.left >= 0]):
            for _ in range(repeats):
                mixed = Q.copy()
                mixed[:, j] = rng.permutation(Q[:, j])
                after = _loss(forest, tree.value[leaves_of(tree, mixed)], u).mean()
                total[j] += (after - before) / repeats
    if not counted:
        raise ValueError("No tree has two rows out of bag: draw fewer rows with max_samples.")
    return total / counted


def importance_table(values, names=None):
    """Return the list of (name, importance), the largest first; names are numbers by default.

    >>> importance_table([0.2, 0.8], ["a", "b"])
    [('b', 0.8), ('a', 0.2)]
    """
    values = check_vector(values, "values")
    names = list(range(len(values))) if names is None else list(names)
    if len(names) != len(values):
        raise ValueError(f"names must have {len(values)} entries, got {len(names)}.")
    return [(names[j], float(values[j])) for j in np.argsort(-values, kind="stable")]


def n_rules(forest):
    """Return the number of ways from a root to a leaf, over all trees."""
    return sum(n_leaves(tree) for tree in forest.trees)


def proximities(forest, X):
    """Return the share of the trees in which two rows fall into one leaf, shape (m, m).

    Book: forests-proximity. Liaw and Wiener (2002), R News 2(3), 18-22.

    >>> forest = grow_forest([[0.0], [1.0]], [5.0, 5.0], n_trees=3, rng=np.random.default_rng(0))
    >>> proximities(forest, [[0.3], [7.0]]).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    X = check_points(X, forest.trees)
    together = np.zeros((len(X), len(X)))
    for tree in forest.trees:
        leaf = leaves_of(tree, X)
        together += leaf[:, None] == leaf
    return together / len(forest.trees)


def embed(K, k=2):
    """Return k coordinates of n points whose inner products are K, seen from their mean.

    The first k columns of V diag(lambda)^(1/2), where V diag(lambda) V^T is K with the mean of
    each row and column taken away: classical scaling. K of shape (n, n) is positive semidefinite.
    The sign of each column makes its entry of largest absolute value positive.

    Book: forests-proximity. Torgerson (1952), Psychometrika 17, 401-419.

    >>> embed([[1.0, 0.0], [0.0, 1.0]], 1).round(4).tolist()
    [[0.7071], [-0.7071]]
    """
    K = check_square(K, "K", symmetric=True)
    check_scalar(k, "k", low=1, high=len(K), integer=True)
    C = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, V = spectral_decomposition((C + C.T) / 2)
    return V[:, :k] * np.sqrt(np.maximum(values[:k], 0))


def _trained(estimator, X, y, s=None):
    """Return a copy fitted with weights, or to repeated rows if it takes no weights."""
    model = deepcopy(estimator)
    if s is None:
        return model.fit(X, y)
    if "sample_weight" in inspect.signature(model.fit).parameters:
        return model.fit(X, y, sample_weight=s)
    if (s != np.floor(s)).any():
        raise ValueError(
            f"sample_weight must be whole numbers for {type(model).__name__}, which takes rows but "
            f"no weights: round them, or leave it out of estimators."
        )
    _draws(s)
    return model.fit(np.repeat(X, s.astype(int), axis=0), np.repeat(y, s.astype(int)))


def out_of_fold(estimator, X, y, folds, sample_weight=None):
    """Return, for each row, the answer of a copy of the estimator that has not seen its fold.

    Answers are class probabilities, shape (n, K), predicted classes as 0 and 1 where the estimator
    has no probabilities, or numbers, shape (n, 1); NaN for rows that no fold leaves out.

    Book: forests-stacking. Wolpert (1992), Neural Networks 5, 241-259.

    Parameters
    ----------
    estimator : estimator
    X, y : arrays of shape (n, d) and (n,)
    folds : list of (train, validation)
        Row numbers, such as ``mllib.model_selection.k_fold`` makes them.
    sample_weight : array of shape (n,), optional
        Weights in training.

    Examples
    --------
    >>> folds = k_fold(4, 2)
    >>> out_of_fold(DecisionTreeRegressor(), [[0], [0], [1], [1]], [1, 1, 3, 3], folds).tolist()
    [[3.0], [3.0], [1.0], [1.0]]
    """
    X, y = check_array(X), as_array(y, "y")
    w = check_sample_weight(sample_weight, len(X))
    classes = np.unique(y) if estimator.kind == "classifier" else None
    answers = np.full((len(X), 1 if classes is None else len(classes)), np.nan)
    for train, rest in folds:
        model = _trained(estimator, X[train], y[train], None if w is None else w[train])
        answers[rest] = _answers(model, X[rest], classes)
    return answers


def _answers(model, X, classes):
    """Return the predictions as one column, or a column for each class."""
    if classes is None:
        return model.predict(X)[:, None]
    if not hasattr(model, "predict_proba"):
        return (model.predict(X)[:, None] == classes).astype(float)
    shares = np.zeros((len(X), len(classes)))
    shares[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    return shares


# Estimators ----------------------------------------------------------------------------------


class _RandomForest:
    """What both forests share: growing with their settings, out-of-bag score, reading."""

    def _grow(self, X, y, w, n_classes=None, factor=None):
        if self.oob_score and self.bootstrap is False:
            raise ValueError(
                "oob_score needs bootstrap=True or 'balanced': without it every tree has every row."
            )
        self.forest_ = grow_forest(
            X, y, w, rng=random_generator(self.random_state), n_trees=self.n_estimators,
            n_classes=n_classes, criterion=self.criterion, max_features=self.max_features,
            bootstrap=self.bootstrap, max_samples=self.max_samples, factor=factor,
            workers=self.workers, max_depth=self.max_depth,
            min_samples_split=self.min_samples_split, min_samples_leaf=self.min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            min_impurity_decrease=self.min_impurity_decrease,
        )  # fmt: skip
        if self.oob_score:
            error = oob_error(self.forest_, X, y, w)
            total = 1.0 if n_classes else np.average((y - np.average(y, weights=w)) ** 2, weights=w)
            self.oob_score_ = float(1 - error / total) if total > 0 else float(error == 0)
            self.oob_values_ = oob_prediction(self.forest_, X).value
        self.n_features_in_ = X.shape[1]
        return self

    def _values(self, X):
        X = check_features(self, X)
        return forest_values(self.forest_, X)

    @property
    def feature_importances_(self):
        """Mean share of each column in the gain of a tree, shape (d,)."""
        check_fitted(self)
        return gini_importance(self.forest_, self.n_features_in_)

    def proximities(self, X):
        """Return the share of trees in which two rows meet in one leaf, shape (m, m)."""
        X = check_features(self, X)
        return proximities(self.forest_, X)


class RandomForestClassifier(_RandomForest, Classifier):
    """Random forest for classes: the mean of the class shares of many randomised trees.

    Whole numbers as ``sample_weight`` mean repeated rows, exactly; only the out-of-bag answers
    treat copies of one row as one row, which is right, since they are no new rows.

    Book: forests-random-forest.

    Parameters
    ----------
    n_estimators : int
        Number of trees B.
    criterion, max_features, max_depth, min_samples_split, min_samples_leaf :
    min_weight_fraction_leaf, min_impurity_decrease :
        As in ``mllib.trees.DecisionTreeClassifier``; rows are counted without their copies.
    bootstrap : bool or "balanced"
        "balanced" draws from each class as many rows as the smallest class has.
    max_samples : int, float or None
        Number of draws, or their share; all by default.
    oob_score : bool
        Whether to compute ``oob_score_`` and ``oob_values_``.
    class_weight, random_state, workers : see ``mllib.core``

    Attributes
    ----------
    forest_ : Forest
    classes_ : array of shape (K,)
    oob_score_ : float
        Accuracy of the out-of-bag answers.
    oob_values_ : array of shape (n, K)
        Out-of-bag class shares, NaN for a row that every tree has seen.
    feature_importances_ : array of shape (d,)
    n_features_in_ : int

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]
    >>> RandomForestClassifier(50, random_state=0).fit(X, y).predict([[0.5], [4.5]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self, n_estimators=100, *, criterion="gini", max_features="sqrt", max_depth=None,
        min_samples_split=2, min_samples_leaf=1, min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0, bootstrap=True, max_samples=None, class_weight=None,
        oob_score=False, random_state=None, workers=1,
    ):  # fmt: skip
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.class_weight = class_weight
        self.oob_score = oob_score
        self.random_state = random_state
        self.workers = workers

    def fit(self, X, y, sample_weight=None):
        """Grow the forest; return self."""
        begin_fit(self, X)
        X, self.classes_, y, w = check_classes(X, y, sample_weight, type(self).__name__)
        factor = class_factors(self.class_weight, self.classes_, y, w)
        return self._grow(X, y, w, len(self.classes_), factor)

    def predict_proba(self, X):
        """Return the mean over the trees of the class shares in each row's leaf, shape (m, K)."""
        return self._values(X)

    def predict(self, X):
        """Return the class with the largest mean share, the first at ties, shape (m,)."""
        values = self._values(X)
        return self.classes_[values.argmax(axis=1)]


class RandomForestRegressor(_RandomForest, Regressor):
    """Random forest for numbers: the mean of many randomised regression trees.

    Parameters and attributes are those of ``RandomForestClassifier``, without classes. The
    criterion is "squared_error", by default a node looks at a third of the columns, and
    ``oob_score_`` is the R^2 of ``oob_values_``, shape (n, 1).

    Book: forests-random-forest.

    >>> forest = RandomForestRegressor(10, bootstrap=False).fit([[0.0], [1.0]], [5.0, 7.0])
    >>> forest.predict([[0.2], [3.0]])
    array([5., 7.])
    """

    def __init__(
        self, n_estimators=100, *, criterion="squared_error", max_features=1 / 3, max_depth=None,
        min_samples_split=2, min_samples_leaf=1, min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0, bootstrap=True, max_samples=None, oob_score=False,
        random_state=None, workers=1,
    ):  # fmt: skip
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.random_state = random_state
        self.workers = workers

    def fit(self, X, y, sample_weight=None):
        """Grow the forest; return self."""
        begin_fit(self, X)
        X, y, w = check_regression(X, y, sample_weight, type(self).__name__)
        return self._grow(X, y, w)

    def predict(self, X):
        """Return the mean over the trees of the values of each row's leaf, shape (m,)."""
        return self._values(X)[:, 0]


def _fit_on_sample(rng, estimator, X, y, w, size, width):
    """Fit a copy on a bootstrap sample of the rows and a random set of columns; return both."""
    rows = bootstrap_indices(len(X), rng, size, w)
    columns = np.sort(rng.permutation(X.shape[1])[:width])
    model = deepcopy(estimator)
    if getattr(model, "random_state", 0) is None:
        model.set_params(random_state=rng)
    return model.fit(X[rows][:, columns], y[rows]), columns


class _Bagging:
    """What both kinds of bagging share."""

    def __init__(
        self, estimator=None, n_estimators=50, *, max_features=None, max_samples=None,
        random_state=None, workers=1,
    ):  # fmt: skip
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.max_samples = max_samples
        self.random_state = random_state
        self.workers = workers

    def _fit_all(self, X, y, w, n_classes, default):
        estimator = default if self.estimator is None else self.estimator
        rows = np.lexsort(np.vstack([X.T, y]))  # one order for all orders of the rows
        ((w, size),) = _plan(y[rows], w[rows], n_classes, True, self.max_samples)
        width = n_columns(self.max_features, X.shape[1])
        one = partial(_fit_on_sample, estimator=estimator, X=X[rows], y=y[rows], w=w, size=size,
                      width=width)  # fmt: skip
        spawned = random_generator(self.random_state).spawn(self.n_estimators)
        fitted = map_over(one, spawned, self.workers)
        self.estimators_, self.columns_ = (list(part) for part in zip(*fitted))
        self.n_features_in_ = X.shape[1]
        return self

    def _mean(self, X, classes):
        X = check_features(self, X)
        pairs = zip(self.estimators_, self.columns_)
        return sum(_answers(m, X[:, c], classes) for m, c in pairs) / len(self.estimators_)


class BaggingClassifier(_Bagging, Classifier):
    """Bagging for classes: the mean of the shares of models fitted to bootstrap samples.

    Book: forests-bagging. Breiman (1996), Machine Learning 24, 123-140.

    Parameters
    ----------
    estimator : classifier
        By default a full decision tree. Each model is a copy of it.
    n_estimators : int
        Number of models B.
    max_features : int, float, "sqrt", "log2" or None
        Columns drawn once for each *model*: the random subspace method. All by default.
    max_samples : int, float or None
        Number of draws, or their share; all by default.
    random_state, workers : see ``mllib.core``

    Attributes
    ----------
    estimators_ : list of classifiers
    columns_ : list of arrays of int
        The columns of each model.
    classes_ : array of shape (K,)
    n_features_in_ : int

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]
    >>> BaggingClassifier(random_state=0).fit(X, y).predict([[0.5], [4.5]])
    array(['a', 'b'], dtype='<U1')
    """

    def fit(self, X, y, sample_weight=None):
        """Fit the models; a whole weight means so many equal rows. Return self."""
        begin_fit(self, X)
        X, self.classes_, y, w = check_classes(X, y, sample_weight, type(self).__name__)
        return self._fit_all(X, y, w, len(self.classes_), DecisionTreeClassifier())

    def predict_proba(self, X):
        """Return the mean of the models' shares, shape (m, K)."""
        check_fitted(self)
        return self._mean(X, np.arange(len(self.classes_)))

    def predict(self, X):
        """Return the class with the largest mean share, the first at ties, shape (m,)."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]


class BaggingRegressor(_Bagging, Regressor):
    """Bagging for numbers: the mean of models fitted to bootstrap samples.

    Parameters and attributes are those of ``BaggingClassifier``, without classes; by default the
    models are full regression trees.

    Book: forests-bagging.

    >>> BaggingRegressor(random_state=0).fit([[0.0], [1.0]], [5.0, 5.0]).predict([[0.3]])
    array([5.])
    """

    def fit(self, X, y, sample_weight=None):
        """Fit the models; a whole weight means so many equal rows. Return self."""
        begin_fit(self, X)
        X, y, w = check_regression(X, y, sample_weight, type(self).__name__)
        return self._fit_all(X, y, w, None, DecisionTreeRegressor())

    def predict(self, X):
        """Return the mean of the models' answers, shape (m,)."""
        return self._mean(X, None)[:, 0]


class _Stacking:
    """What both kinds of stacking share."""

    def __init__(self, estimators=None, final_estimator=None, *, cv=5, random_state=None):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.random_state = random_state

    def _fit_all(self, X, y, s, rows, labels, tree, neighbours, final):
        total = len(X) if s is None else int(s.sum())
        models = [tree, neighbours(min(5, max(1, total // 2)))]
        models = models if self.estimators is None else list(self.estimators)
        if not models:
            raise ValueError("estimators must hold at least one model.")
        if isinstance(self.cv, (list, tuple)):  # row numbers, some of them of rows of weight 0
            here = lambda part: np.searchsorted(rows, np.intersect1d(part, rows))  # noqa: E731
            folds = [tuple(map(here, fold)) for fold in self.cv]
        else:
            check_scalar(self.cv, "cv", low=2, integer=True)
            rng = random_generator(self.random_state)
            folds = k_fold(len(X), min(self.cv, len(X)), rng=rng, labels=labels)
        Z = np.column_stack([out_of_fold(model, X, y, folds, s) for model in models])
        if np.isnan(Z).any():
            raise ValueError("cv must leave out each row in one of its folds.")
        final = final if self.final_estimator is None else self.final_estimator
        self.final_estimator_ = _trained(final, Z, y, s)
        self.estimators_ = [_trained(model, X, y, s) for model in models]
        self.n_features_in_ = X.shape[1]
        return self

    def _features(self, X, classes):
        return np.column_stack([_answers(model, X, classes) for model in self.estimators_])


class StackingClassifier(_Stacking, Classifier):
    """Stacking for classes: a model that learns from the out-of-fold answers of other models.

    Book: forests-stacking.

    Parameters
    ----------
    estimators : list of classifiers
        By default a decision tree and 5 nearest neighbours.
    final_estimator : classifier
        By default ``LogisticRegression()``; its inputs are the class shares of all models.
    cv : int or list of (train, validation)
        Number of folds, in which classes are dealt evenly; or the folds, as row numbers.
    random_state : see ``mllib.core``
        For the division into folds.

    Attributes
    ----------
    estimators_ : list of classifiers, fitted to all rows
    final_estimator_ : classifier
    classes_ : array of shape (K,)
    n_features_in_ : int

    Examples
    --------
    >>> X, y = np.arange(12.0)[:, None], np.repeat(["a", "b"], 6)
    >>> StackingClassifier(cv=3, random_state=0).fit(X, y).predict([[0.0], [11.0]])
    array(['a', 'b'], dtype='<U1')
    """

    def fit(self, X, y, sample_weight=None):
        """Fit the models and the model on top; return self.

        A whole weight counts a row that often, all copies in one fold: none of them helps to
        predict another. A model without weights gets the copies.
        """
        begin_fit(self, X)
        name = type(self).__name__
        X, self.classes_, y, s, rows = check_weighted_X_y(X, y, sample_weight, None, name)
        models = DecisionTreeClassifier(), KNeighborsClassifier, LogisticRegression()
        return self._fit_all(X, y, s, rows, y, *models)

    def predict_proba(self, X):
        """Return the probabilities of the model on top, shape (m, K)."""
        X = check_features(self, X)
        return self.final_estimator_.predict_proba(self._features(X, np.arange(len(self.classes_))))

    def predict(self, X):
        """Return the class of largest probability, the first at ties, shape (m,)."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]


class StackingRegressor(_Stacking, Regressor):
    """Stacking for numbers: a model that learns from the out-of-fold answers of other models.

    Parameters and attributes are those of ``StackingClassifier``, without classes; the defaults
    are regressors, on top ``LinearRegression()``.

    Book: forests-stacking.

    >>> X = np.arange(12.0)[:, None]
    >>> model = StackingRegressor([LinearRegression()], random_state=0).fit(X, 2 * X[:, 0])
    >>> model.predict([[20.0]]).round(6)
    array([40.])
    """

    def fit(self, X, y, sample_weight=None):
        """Fit the models and the model on top; weights are as in ``StackingClassifier``."""
        begin_fit(self, X)
        X, y, w = check_regression(X, y, sample_weight, type(self).__name__)
        rows = np.flatnonzero(w)
        X, y, s = X[rows], y[rows], None if sample_weight is None else w[rows]
        if len(X) < 2:
            raise ValueError(f"X must have at least 2 rows, got {len(X)} sample: folds need them.")
        models = DecisionTreeRegressor(), KNeighborsRegressor, LinearRegression()
        return self._fit_all(X, y, s, rows, None, *models)

    def predict(self, X):
        """Return the answers of the model on top, shape (m,)."""
        X = check_features(self, X)
        return self.final_estimator_.predict(self._features(X, None))
