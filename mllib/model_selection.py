"""Choosing a model by its error on data that did not fit it, or by its approximate evidence.

Chapter: Regression, *Model selection*. Main references: Stone (1974), Golub, Heath and Wahba
(1979), Schwarz (1978).

An *estimator* here is any object with ``fit(X, y)`` and ``predict(X)``, from this library,
scikit-learn or elsewhere. It is never changed: each fit is made on a fresh copy. A *loss* is a
function L(y, f) that acts elementwise, such as those of ``mllib.decision_theory``.
"""

import copy
import itertools
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import norm, svd

from mllib.core.arrays import (
    check_array,
    check_result,
    check_sample_weight,
    check_square,
    check_target_length,
    check_targets,
    check_vector,
)
from mllib.core.estimators import Regressor, begin_fit, check_features
from mllib.core.numerics import weighted_rows
from mllib.core.parallel import map_over
from mllib.core.scalars import (
    check_callable,
    check_choice,
    check_flag,
    check_rng,
    check_scalar,
    random_generator,
)
from mllib.decision_theory import squared
from mllib.least_squares import LinearRegression, least_squares, log_likelihood
from mllib.ridge_and_lasso import Ridge, centre

__all__ = [
    "CrossValidation",
    "Fold",
    "KFold",
    "NestedCrossValidation",
    "RidgeCV",
    "RidgeSearch",
    "Search",
    "Split",
    "bic",
    "bic_linear",
    "cross_val_score",
    "cross_validate",
    "effective_df",
    "gcv_ridge",
    "grid_search",
    "hat_matrix",
    "k_fold",
    "laplace_log_evidence",
    "loo_residuals",
    "loocv",
    "loocv_ridge",
    "nested_cross_validate",
    "one_standard_error",
    "ridge_search",
    "train_val_test_split",
]

_EPS = np.finfo(float).eps


# Records -------------------------------------------------------------------------------------


class Split(NamedTuple):
    """Three disjoint sets of row numbers that together are all rows."""

    train: np.ndarray  #: rows to fit on, increasing
    validation: np.ndarray  #: rows to choose on, increasing
    test: np.ndarray  #: rows to report on, once, increasing


class Fold(NamedTuple):
    """One part of a cross-validation: fit on ``train``, evaluate on ``validation``."""

    train: np.ndarray  #: row numbers, increasing
    validation: np.ndarray  #: row numbers, increasing, none of them in train


class CrossValidation(NamedTuple):
    """The losses of a cross-validation, one entry for each fold."""

    losses: np.ndarray  #: mean loss on the rows left out, shape (k,)
    train_losses: np.ndarray  #: mean loss on the rows fitted, shape (k,)
    sizes: np.ndarray  #: how many rows were left out, shape (k,)

    @property
    def mean(self):
        """The average of the losses of the folds, (1/k) sum_j L_j."""
        return float(self.losses.mean())

    @property
    def pooled(self):
        """The average over all rows left out; it equals ``mean`` if the folds have one size."""
        return float(self.sizes @ self.losses / self.sizes.sum())

    @property
    def standard_error(self):
        """The standard deviation of the folds' losses (over k - 1) divided by the root of k."""
        return float(_standard_errors(self.losses))


class Search(NamedTuple):
    """The losses of several candidates on the same folds, and the one that was chosen."""

    candidates: tuple  #: settings, dictionaries in the order given
    losses: np.ndarray  #: mean loss of each candidate on each fold, shape (m, k)
    means: np.ndarray  #: average over the folds, shape (m,)
    standard_errors: np.ndarray  #: of those averages, shape (m,)
    best: int  #: index of the chosen candidate

    @property
    def setting(self):
        """The chosen candidate."""
        return self.candidates[self.best]


class NestedCrossValidation(NamedTuple):
    """The losses of the whole procedure "search, then fit" on rows that it has not seen."""

    losses: np.ndarray  #: mean loss on each outer fold, shape (k,)
    searches: tuple  #: the inner search of each outer fold

    @property
    def mean(self):
        """The average of the outer losses."""
        return float(self.losses.mean())

    @property
    def standard_error(self):
        """The standard deviation of the outer losses (over k - 1) divided by the root of k."""
        return float(_standard_errors(self.losses))


class RidgeSearch(NamedTuple):
    """Leave-one-out and generalised cross-validation along a list of ridge penalties."""

    lambdas: np.ndarray  #: penalties, shape (m,)
    scores: np.ndarray  #: LOOCV(lambda) or GCV(lambda), shape (m,)
    df: np.ndarray  #: effective degrees of freedom Tr H_lambda, shape (m,)
    best: int  #: index of the smallest score, the first at a tie

    @property
    def lam(self):
        """The penalty with the smallest score."""
        return float(self.lambdas[self.best])


# Functions: input ----------------------------------------------------------------------------


def _standard_errors(losses):
    k = losses.shape[-1]
    if k < 2:
        raise ValueError("a standard error needs at least 2 folds, got 1: use more folds.")
    return losses.std(axis=-1, ddof=1) / np.sqrt(k)


def _check_sample(X, y):
    """Return X as (n, d) floats and y as a vector of numbers or labels of the same length."""
    X, y = check_array(X, min_samples=2), np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must be a vector with one entry per row of X, got shape {y.shape}.")
    check_target_length(X, y)
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity: remove those samples first.")
    if y.dtype.kind == "O" and any(v is None or v != v for v in y):
        raise ValueError("Input y contains NaN or None: remove those samples first.")
    return X, y


def _check_regression(X, y, min_samples=1):
    X = check_array(X, min_samples=min_samples)
    return X, check_vector(y, "y", length=len(X))


def _check_model(estimator):
    if isinstance(estimator, type):
        raise ValueError(
            f"estimator must be an instance, got the class {estimator.__name__}: "
            f"pass {estimator.__name__}()."
        )
    for method in ("fit", "predict"):
        if not callable(getattr(estimator, method, None)):
            raise ValueError(
                f"estimator must have the methods fit and predict, {type(estimator).__name__} "
                f"has no {method}."
            )
    return estimator


def _fresh(thing):
    """Return an unfitted copy: the same class with the same settings, part by part."""
    if type(thing) in (list, tuple):
        return type(thing)(_fresh(part) for part in thing)
    if hasattr(thing, "get_params") and not isinstance(thing, type):
        return type(thing)(**{k: _fresh(v) for k, v in thing.get_params(deep=False).items()})
    return copy.deepcopy(thing)


def _check_rows(rows, name, n):
    rows = np.asarray(rows)
    if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a non-empty vector of row numbers, got {rows!r}.")
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"{name} must hold row numbers from 0 to {n - 1}.")
    return rows


def _resolve_folds(folds, X, y, name="folds"):
    """Return a tuple of ``Fold``s from a number, an object with ``split``, or index pairs."""
    if isinstance(folds, (int, np.integer)) and not isinstance(folds, bool):
        return k_fold(len(X), check_scalar(folds, name, low=2, integer=True))
    pairs = folds.split(X, y) if hasattr(folds, "get_n_splits") else folds
    try:
        pairs = [(train, validation) for train, validation in pairs]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a whole number, a splitter such as KFold(5), or a list of pairs "
            f"(train, validation) of row numbers, got {folds!r}."
        ) from error
    if not pairs:
        raise ValueError(f"{name} must hold at least one pair (train, validation), got none.")
    made = []
    for train, validation in pairs:
        fold = Fold(_check_rows(train, "train", len(X)), _check_rows(validation, "val", len(X)))
        if np.intersect1d(*fold).size:
            raise ValueError(f"{name} must not validate on rows that they train on: remove those.")
        made.append(fold)
    return tuple(made)


# Functions: splitting ------------------------------------------------------------------------


def train_val_test_split(n, sizes=(0.6, 0.2, 0.2), *, rng, labels=None):
    """Return a random ``Split`` of the rows 0, ..., n-1 into training, validation and test rows.

    Each row falls into exactly one part. With ``labels``, shape (n,), each class is split by itself
    in the same proportions, up to rounding (a stratified split).

    Book: model-selection-train-val-test.

    Parameters
    ----------
    n : int
    sizes : three positive numbers that sum to one
        Shares of the three parts, none of which may become empty.
    rng : numpy.random.Generator
    labels : array of shape (n,), optional

    Examples
    --------
    >>> split = train_val_test_split(10, rng=np.random.default_rng(0))
    >>> [len(part) for part in split]
    [6, 2, 2]
    """
    check_scalar(n, "n", low=3, integer=True)
    sizes = check_vector(sizes, "sizes", length=3)
    if (sizes <= 0).any() or abs(sizes.sum() - 1) > 1e-8:
        raise ValueError(f"sizes must be three positive shares that sum to one, got {sizes}.")
    check_rng(rng)
    classes = np.zeros(n) if labels is None else _check_labels(labels, n)
    part = np.empty(n, dtype=int)
    for label in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == label))
        cuts = np.round(np.cumsum(sizes)[:2] * len(rows) + 1e-9).astype(int)
        for number, chunk in enumerate(np.split(rows, cuts)):
            part[chunk] = number
    split = Split(*(np.flatnonzero(part == number) for number in range(3)))
    if min(map(len, split)) == 0:
        raise ValueError(f"a part of the split is empty with n={n} and sizes {sizes}: enlarge it.")
    return split


def _check_labels(labels, n):
    labels = np.asarray(labels)
    if labels.shape != (n,):
        raise ValueError(f"labels must have {n} entries, got shape {labels.shape}.")
    return np.unique(labels, return_inverse=True)[1]


def k_fold(n, k, *, rng=None, labels=None):
    """Return the rows 0, ..., n-1 in k ``Fold`` records, whose sizes differ by at most one.

    Every row is left out by exactly one fold. Without ``rng`` and ``labels`` the folds are
    consecutive blocks, the longer ones first.

    Book: model-selection-k-fold-cv. Stone (1974).

    Parameters
    ----------
    n, k : int
        Rows, and folds, from 2 to n.
    rng : numpy.random.Generator, optional
        Shuffles the rows before they are dealt.
    labels : array of shape (n,), optional
        Class of each row; the members of a class are dealt to the folds in turn, so that the
        folds' counts of each class differ by at most one.

    Examples
    --------
    >>> [fold.validation.tolist() for fold in k_fold(5, 2)]
    [[0, 1, 2], [3, 4]]
    """
    check_scalar(n, "n", low=2, integer=True)
    check_scalar(k, "k", low=2, integer=True)
    if k > n:
        raise ValueError(f"k must be at most the number of samples n={n}, got k={k} folds.")
    order = np.arange(n) if rng is None else check_rng(rng).permutation(n)
    number = np.empty(n, dtype=int)
    if labels is None:
        number[order] = np.repeat(np.arange(k), n // k + (np.arange(k) < n % k))
    else:
        by_class = np.argsort(_check_labels(labels, n)[order], kind="stable")
        number[order[by_class]] = np.arange(n) % k
    return tuple(Fold(np.flatnonzero(number != j), np.flatnonzero(number == j)) for j in range(k))


class KFold:
    """The folds of ``k_fold`` in the form that scikit-learn's tools accept as ``cv``.

    Book: model-selection-k-fold-cv.

    Parameters
    ----------
    n_splits : int
        Number of folds k, from 2 to n.
    shuffle : bool
        Whether the rows are dealt in random order.
    random_state : see ``mllib.core``
        Used if ``shuffle``.
    stratify : bool
        Whether each class is dealt evenly to the folds.

    Examples
    --------
    >>> [validation.tolist() for train, validation in KFold(2).split(np.zeros((4, 1)))]
    [[0, 1], [2, 3]]
    """

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None, stratify=False):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.stratify = stratify

    def split(self, X, y=None, groups=None):
        """Yield (train, validation) row numbers for each fold."""
        check_scalar(self.n_splits, "n_splits", low=2, integer=True)
        if check_flag(self.stratify, "stratify") and y is None:
            raise ValueError("stratify=True requires y to be passed: give the labels.")
        shuffle = check_flag(self.shuffle, "shuffle")
        rng = random_generator(self.random_state) if shuffle else None
        n = len(X) if hasattr(X, "__len__") else 0
        if n < self.n_splits:
            raise ValueError(f"X must have a row for each of {self.n_splits} folds, got {n} rows.")
        yield from k_fold(n, self.n_splits, rng=rng, labels=y if self.stratify else None)

    def get_n_splits(self, X=None, y=None, groups=None):
        """Return the number of folds."""
        return self.n_splits

    def __repr__(self):
        return (
            f"KFold({self.n_splits}, shuffle={self.shuffle}, random_state={self.random_state}, "
            f"stratify={self.stratify})"
        )


# Functions: cross-validation -----------------------------------------------------------------


def _mean_loss(loss, y, predicted):
    predicted = np.asarray(predicted)
    if predicted.shape != y.shape:
        raise ValueError(f"predict must return shape {y.shape}, it returned {predicted.shape}.")
    if predicted.dtype.kind == "f" and np.isnan(predicted).any():
        raise ValueError("predict returned NaN: mend the estimator or drop the setting.")
    value = float(np.mean(loss(y, predicted)))
    if np.isnan(value):
        raise ValueError("loss returned NaN: give a loss that is defined for every prediction.")
    return value


def _fit_fold(estimator, X, y, loss, fold):
    """Fit a fresh copy on the rows ``fold.train``; return its loss left out, and fitted."""
    model = _fresh(estimator)
    model.fit(X[fold.train], y[fold.train])
    left_out = _mean_loss(loss, y[fold.validation], model.predict(X[fold.validation]))
    return left_out, _mean_loss(loss, y[fold.train], model.predict(X[fold.train]))


def cross_validate(estimator, X, y, *, folds=5, loss=squared, workers=1):
    """Return the losses (1/|V_j|) sum_{i in V_j} L(y_i, f_{-j}(x_i)) of folds j = 1, ..., k.

    f_{-j} is the estimator fitted without the rows of fold j; the result is a ``CrossValidation``.

    Book: model-selection-k-fold-cv. Stone (1974), Geisser (1975).

    Parameters
    ----------
    estimator : object with ``fit(X, y)`` and ``predict(X)``
        It is not changed.
    X, y : arrays of shape (n, d) and (n,)
        Targets or labels y.
    folds : int, splitter such as ``KFold``, or list of pairs (train, validation)
        An int k stands for k consecutive blocks; ``KFold`` and ``k_fold`` shuffle or stratify.
    loss : callable
        L(y, f), elementwise, e.g. ``decision_theory.squared`` or ``zero_one``.
    workers : see ``mllib.core``

    Examples
    --------
    >>> X = np.arange(6.0)[:, None]
    >>> cv = cross_validate(RidgeCV([1e-8]), X, 2 * X[:, 0], folds=3)
    >>> cv.mean < 1e-12, cv.sizes.tolist()
    (True, [2, 2, 2])
    """
    X, y = _check_sample(X, y)
    folds = _resolve_folds(folds, X, y)
    fit = partial(_fit_fold, _check_model(estimator), X, y, check_callable(loss, "loss"))
    losses, train_losses = np.array(map_over(fit, folds, workers)).T
    return CrossValidation(losses, train_losses, np.array([len(f.validation) for f in folds]))


def _score_fold(estimator, X, y, fold):
    model = _fresh(estimator)
    model.fit(X[fold.train], y[fold.train])
    return float(model.score(X[fold.validation], y[fold.validation]))


def cross_val_score(estimator, X, y, *, folds=5, workers=1):
    """Return the estimator's own ``score`` (R^2 or accuracy) on each fold left out, shape (k,).

    Parameters are as in ``cross_validate``; the estimator must have the method ``score``.

    Book: model-selection-k-fold-cv.
    """
    X, y = _check_sample(X, y)
    if not callable(getattr(_check_model(estimator), "score", None)):
        raise ValueError("estimator must have the method score; otherwise use cross_validate.")
    folds = _resolve_folds(folds, X, y)
    return np.array(map_over(partial(_score_fold, estimator, X, y), folds, workers))


def loocv(estimator, X, y, *, loss=squared, workers=1):
    """Return the leave-one-out ``CrossValidation`` of an estimator: k-fold with k = n, by n fits.

    Parameters are as in ``cross_validate``.

    Book: model-selection-loocv.
    """
    X, y = _check_sample(X, y)
    return cross_validate(estimator, X, y, folds=len(X), loss=loss, workers=workers)


# Functions: choosing -------------------------------------------------------------------------


def _candidates(grid):
    """Return a tuple of settings from a list of them, or from a table of lists of values."""
    if isinstance(grid, dict):
        for name, values in grid.items():
            if isinstance(values, str) or not hasattr(values, "__len__"):
                raise ValueError(f"grid[{name!r}] must be a list of values, got {values!r}.")
        grid = [dict(zip(grid, row)) for row in itertools.product(*grid.values())] if grid else []
    if isinstance(grid, str) or not hasattr(grid, "__iter__"):
        raise ValueError(f"grid must be a list of settings or a dictionary of lists, got {grid!r}.")
    grid = tuple(grid)
    if not grid:
        raise ValueError("grid has no candidates: give at least one setting.")
    for setting in grid:
        if not isinstance(setting, dict):
            raise ValueError(
                f"each candidate of grid must be a dictionary of settings, got {setting!r}."
            )
    return grid


def _with_setting(estimator, setting):
    model = _fresh(estimator)
    if setting and not hasattr(model, "set_params"):
        raise ValueError(f"estimator {type(model).__name__} needs set_params to be searched over.")
    return model.set_params(**setting) if setting else model


def one_standard_error(means, standard_errors):
    """Return the first index whose mean is at most that of the best plus its standard error.

    min {j : mean_j <= mean_b + se_b} with b = argmin mean, for arrays of shape (m,). Order the
    candidates from the simplest to the most complex.

    Book: model-selection-one-standard-error. Breiman, Friedman, Olshen and Stone (1984, sec. 3.4).

    >>> one_standard_error([3.0, 1.2, 1.0, 1.1], [0.3, 0.3, 0.3, 0.3])
    1
    """
    means = check_vector(means, "means")
    if means.size == 0:
        raise ValueError("means has no candidates: give at least one.")
    standard_errors = check_vector(standard_errors, "standard_errors", length=len(means))
    if (standard_errors < 0).any():
        raise ValueError("standard_errors must not be negative.")
    best = int(np.argmin(means))
    return int(np.argmax(means <= means[best] + standard_errors[best]))


def grid_search(estimator, grid, X, y, *, folds=5, loss=squared, rule="min", workers=1):
    """Return the ``Search`` among settings of an estimator, by cross-validation on the same folds.

    The choice is argmin_m (1/k) sum_j L_mj, the first at a tie, or for ``rule="one-se"`` the first
    candidate within one standard error of that minimum.

    Book: model-selection-hyperparameter, model-selection-one-standard-error.

    Parameters
    ----------
    estimator : object with ``fit``, ``predict`` and ``set_params``
    grid : list of dictionaries, or dictionary of lists
        Candidate settings; a dictionary of lists stands for all combinations. For the rule of one
        standard error list them from the simplest to the most complex.
    X, y, folds, loss, workers
        As in ``cross_validate``.
    rule : {"min", "one-se"}

    Examples
    --------
    >>> X = np.arange(6.0)[:, None]
    >>> grid = {"lambdas": [[100.0], [1e-6]]}
    >>> grid_search(RidgeCV(), grid, X, 2 * X[:, 0], folds=3).setting
    {'lambdas': [1e-06]}
    """
    X, y = _check_sample(X, y)
    check_choice(rule, "rule", ("min", "one-se"))
    candidates, folds = _candidates(grid), _resolve_folds(folds, X, y)
    models = [_with_setting(_check_model(estimator), setting) for setting in candidates]
    fit = partial(_fit_one, X, y, check_callable(loss, "loss"))
    pairs = list(itertools.product(models, folds))
    losses = np.array(map_over(fit, pairs, workers)).reshape(len(models), len(folds))
    return _choose(candidates, losses, rule)


def _fit_one(X, y, loss, pair):
    return _fit_fold(pair[0], X, y, loss, pair[1])[0]


def _choose(candidates, losses, rule):
    means = losses.mean(axis=1)
    one = losses.shape[1] == 1
    errors = np.zeros(len(means)) if one else _standard_errors(losses)
    if rule == "one-se" and one:
        raise ValueError('rule="one-se" needs at least 2 folds, got 1: use more folds.')
    check_result(errors, "y")
    best = int(np.argmin(means)) if rule == "min" else one_standard_error(means, errors)
    return Search(candidates, losses, means, errors, best)


def nested_cross_validate(
    estimator, grid, X, y, *, outer=5, inner=5, loss=squared, rule="min", workers=1
):
    """Cross-validate the whole procedure "search by cross-validation, then fit the winner".

    For each outer fold the search sees its training rows only, so that the rows it is judged on
    have had no part in the choice. The result is a ``NestedCrossValidation``.

    Book: model-selection-nested-cv. Stone (1974), Varma and Simon (2006).

    Parameters
    ----------
    estimator, grid, X, y, loss, rule
        As in ``grid_search``.
    outer : int, object with ``split``, or list of pairs
        The folds that judge.
    inner : int or object with ``split``
        The folds that choose, made anew from each outer training set.
    workers : see ``mllib.core``
        Distributes the outer folds.
    """
    X, y = _check_sample(X, y)
    check_choice(rule, "rule", ("min", "one-se"))
    outer, candidates = _resolve_folds(outer, X, y, "outer"), _candidates(grid)
    if not (isinstance(inner, (int, np.integer)) or hasattr(inner, "get_n_splits")):
        raise ValueError(f"inner must be a number of folds or a splitter, got {inner!r}.")
    options = {"folds": inner, "loss": check_callable(loss, "loss"), "rule": rule}
    run = partial(_fit_outer, _check_model(estimator), candidates, X, y, options)
    losses, searches = zip(*map_over(run, outer, workers))
    return NestedCrossValidation(np.array(losses), searches)


def _fit_outer(estimator, candidates, X, y, options, fold):
    search = grid_search(estimator, candidates, X[fold.train], y[fold.train], **options)
    winner = _with_setting(estimator, search.setting)
    return _fit_fold(winner, X, y, options["loss"], fold)[0], search


# Functions: ridge regression in closed form --------------------------------------------------


def _svd(Z, rank, lam):
    """Return U and s of the singular value decomposition of Z, without the s that are 0.

    Of a wide Z they are those of Z Z^T, which is quicker, unless squaring costs digits: an error of
    eps s_1^2 in the squares changes H by about eps s_1^2 / (s_rank^2 + lam).
    """
    n, d = Z.shape
    if d > n:
        s2, U = np.linalg.eigh(Z @ Z.T)
        s2, U = s2[-rank:], U[:, -rank:]
        if _EPS * s2[-1] < 1e-10 * (s2[0] + lam):
            keep = s2 > n * _EPS * s2[-1]
            return U[:, keep], np.sqrt(s2[keep])
    U, s, _ = svd(Z, full_matrices=False)
    keep = s > max(n, d) * _EPS * max(norm(Z.ravel()), np.finfo(float).tiny)
    return U[:, keep], s[keep]


def _directions(X, lam, intercept):
    """Return U and s with H_lam = U diag(s^2 / (s^2 + lam)) U^T.

    With an intercept they are those of the centred X, and the direction 1/sqrt(n), which no penalty
    shrinks, as if its s were infinite.
    """
    check_scalar(lam, "lam", low=0)
    if not check_flag(intercept, "intercept"):
        return _svd(X, min(X.shape), lam)
    n, d = X.shape
    U, s = _svd(X - X.mean(axis=0), min(n - 1, d), lam)
    return np.column_stack([np.full(n, n**-0.5), U]), np.append(np.inf, s)


def _factors(s, lam):
    """Return s^2 / (s^2 + lam), also where s^2 is not a number of the machine."""
    with np.errstate(over="ignore"):
        return 1 / (1 + lam / s / s)


def hat_matrix(X, lam=0.0, *, intercept=False):
    """Return H with y_hat = H y for ridge regression, H = X (X^T X + lam I)^{-1} X^T, shape (n, n).

    With an intercept, which is not penalised, H = 11^T/n + the same matrix of the centred X.
    Without a penalty it is ``least_squares.projection``.

    Book: model-selection-hat-matrix.

    >>> hat_matrix([[1.0], [1.0]], 2.0)
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    U, s = _directions(check_array(X), lam, intercept)
    return (U * _factors(s, lam)) @ U.T


def effective_df(X, lam=0.0, *, intercept=False):
    """Return Tr H_lam = sum_j s_j^2 / (s_j^2 + lam), plus 1 for an unpenalised intercept.

    The s_j are the singular values of X, or of the centred X if there is an intercept.

    Book: model-selection-hat-matrix.

    >>> effective_df(np.eye(3), 1.0)
    1.5
    """
    return float(_factors(_directions(check_array(X), lam, intercept)[1], lam).sum())


def _residuals_and_leverages(U, f, y):
    """Return y - H y and the diagonal of H = U diag(f) U^T, without forming H."""
    return y - U @ (f * (U.T @ y)), U**2 @ f


def _linear_fit(X, y, lam, intercept):
    """Check the arguments of a fit and return its residuals and leverages."""
    X, y = _check_regression(X, y)
    U, s = _directions(X, lam, intercept)
    if intercept:
        y = y - y[0]  # the intercept fits it, and y - H y would lose digits to it
    return _residuals_and_leverages(U, _factors(s, lam), y)


def _loo(residuals, leverages):
    room = 1 - leverages
    if (room <= 64 * len(room) * _EPS).any():
        row = np.argwhere(room == room.min())[0, 0]
        raise ValueError(
            f"row {row} of X has leverage 1, so its fit without itself is not determined: use "
            f"lam > 0 or drop columns."
        )
    return residuals / room


def _gcv(residuals, leverages):
    room = 1 - leverages.mean(axis=0)
    if (room <= 64 * len(leverages) * _EPS).any():
        raise ValueError("Tr H = n, so that GCV is 0/0: use lam > 0 or drop columns.")
    return np.mean(residuals**2, axis=0) / room**2


def loo_residuals(X, y, lam=0.0, *, intercept=False):
    """Return y_i - f_{-i}(x_i) = (y_i - y_hat_i) / (1 - h_ii) for ridge regression, from one fit.

    f_{-i} minimises ||y - X w||^2 + lam ||w||^2 over the sample without row i.

    Book: model-selection-loocv-shortcut. Allen (1974), Golub, Heath and Wahba (1979).

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
    lam : float
        The same penalty in every refit, at least 0, and positive if some h_ii = 1 without it.
    intercept : bool
        Whether an unpenalised intercept is fitted too.

    Examples
    --------
    >>> loo_residuals([[1.0], [1.0], [1.0]], [0.0, 3.0, 6.0])
    array([-4.5,  0. ,  4.5])
    """
    return _loo(*_linear_fit(X, y, lam, intercept))


def loocv_ridge(X, y, lam=0.0, *, intercept=False):
    """Return LOOCV(lam) = (1/n) sum_i ((y_i - y_hat_i) / (1 - h_ii))^2, from one fit.

    Parameters are as in ``loo_residuals``.

    Book: model-selection-loocv-shortcut.

    >>> round(loocv_ridge([[1.0], [1.0], [1.0]], [0.0, 3.0, 6.0]), 4)
    13.5
    """
    return float(np.mean(loo_residuals(X, y, lam, intercept=intercept) ** 2))


def gcv_ridge(X, y, lam=0.0, *, intercept=False):
    """Return GCV(lam) = MSE / (1 - Tr(H_lam) / n)^2, MSE = (1/n) sum_i (y_i - y_hat_i)^2.

    Parameters are as in ``loo_residuals``.

    Book: model-selection-gcv. Golub, Heath and Wahba (1979).

    >>> round(gcv_ridge([[1.0], [1.0], [1.0]], [0.0, 3.0, 6.0]), 4)
    13.5
    """
    return float(_gcv(*_linear_fit(X, y, lam, intercept)))


def ridge_search(X, y, lambdas, *, criterion="loo", intercept=True, sample_weight=None):
    """Return LOOCV or GCV at each penalty, and the penalty that minimises it, as a ``RidgeSearch``.

    One singular value decomposition serves all penalties: n d^2 operations once and n d for each.

    Book: model-selection-loocv-shortcut, model-selection-gcv.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
    lambdas : array of shape (m,)
        Candidates, at least one, none negative.
    criterion : {"loo", "gcv"}
    intercept : bool
    sample_weight : array of shape (n,), optional
        Copies of each row, of which "loo" leaves out one at a time: then 0 or at least 1.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> ridge_search(X, 2 * X[:, 0], [10.0, 1.0, 0.0]).lam
    0.0
    """
    X, y = _check_regression(X, y, min_samples=2)
    check_choice(criterion, "criterion", ("loo", "gcv"))
    intercept = check_flag(intercept, "intercept")
    lambdas = check_vector(lambdas, "lambdas")
    if lambdas.size == 0:
        raise ValueError("lambdas has no candidates: give at least one penalty.")
    if (lambdas < 0).any():
        raise ValueError(f"lambdas must not be negative, the smallest is {lambdas.min():.3g}.")
    w = check_sample_weight(sample_weight, len(X), ones=True)
    if criterion == "loo" and ((w > 0) & (w < 1)).any():
        raise ValueError(
            "sample_weight must be 0 or at least 1 for criterion='loo', which leaves out one copy "
            "of a row: multiply the weights and lambdas by one number, or take criterion='gcv'."
        )
    if sample_weight is None:
        Z, t = centre(X, y)[:2] if intercept else (X, y)
    else:
        Z, t = weighted_rows(X, y, w, intercept)[:2]
    w, n = w[w > 0], w.sum()
    U, s = _svd(Z, min(len(Z) - intercept, Z.shape[1]), lambdas.min())
    F = np.column_stack([_factors(s, lam) for lam in lambdas])
    R, H = _residuals_and_leverages(U, F, t[:, None])  # a column for each penalty
    w = w[:, None]
    H += intercept * w / n
    if criterion == "gcv":
        scores = _gcv(R * np.sqrt(len(w) / n), H * len(w) / n)
    else:  # of a row's leverage and residual a copy has the shares 1 / w and 1 / sqrt(w)
        scores = np.sum(w * _loo(R / np.sqrt(w), H / w) ** 2, axis=0) / n
    return RidgeSearch(lambdas, scores, F.sum(axis=0) + intercept, int(np.argmin(scores)))


# Functions: evidence and its approximation ---------------------------------------------------


def bic(log_likelihood, q, n):
    """Return log p(D | theta_ML) - (q/2) log n, to be maximised.

    It takes the largest log-likelihood of the model in nats, the number of free parameters and the
    number of samples.

    Book: model-selection-bic. Schwarz (1978). Others multiply by -2 and minimise.

    >>> round(bic(-10.0, 2, 100), 4)
    -14.6052
    """
    check_scalar(log_likelihood, "log_likelihood", high=np.finfo(float).max)
    check_scalar(q, "q", low=0, integer=True)
    check_scalar(n, "n", low=1, integer=True)
    return float(log_likelihood - 0.5 * q * np.log(n))


def bic_linear(X, y, *, sigma2=None):
    """Return the BIC of linear regression: its largest log-likelihood - (q/2) log n.

    X of shape (n, q) has linearly independent columns, the ones included if there is an intercept;
    q is their number, plus 1 if the noise variance sigma2 is estimated and not given.

    Book: model-selection-bic-linear. Schwarz (1978).

    >>> round(bic_linear([[1.0], [1.0]], [-1.0, 1.0]), 4)
    -3.531
    """
    X, y = _check_regression(X, y)
    (n, q), fit = X.shape, least_squares(X, y)
    if fit.rank < q:
        raise ValueError("X has linearly dependent columns, so q is not their number: drop some.")
    free = sigma2 is None
    if free:
        size = norm(X.ravel()) * norm(fit.w) + norm(y)
        if fit.rss <= (8 * n * _EPS * size) ** 2:
            raise ValueError(
                "y: the fit is exact, so the likelihood is unbounded: drop columns of X."
            )
        sigma2 = fit.rss / n  # where the likelihood is largest
    return bic(log_likelihood(X, y, fit.w, sigma2), q + free, n)


def laplace_log_evidence(log_joint, A):
    """Return log p(D, theta_0) + (q/2) log 2 pi - (1/2) log det A, Laplace's approximation.

    ``log_joint`` is log p(D | theta_0) + log p(theta_0) at the mode theta_0, A of shape (q, q)
    minus its Hessian there, positive definite.

    Book: model-selection-laplace. Laplace (1774), Tierney and Kadane (1986).

    >>> laplace_log_evidence(-0.5 * np.log(2 * np.pi), [[1.0]])
    0.0
    """
    check_scalar(log_joint, "log_joint", high=np.finfo(float).max)
    A = check_square(A, "A", symmetric=True)
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError as error:
        raise ValueError("A must be positive definite: is theta_0 a strict maximum?") from error
    return float(log_joint + 0.5 * len(A) * np.log(2 * np.pi) - np.log(np.diag(L)).sum())


# Estimator -----------------------------------------------------------------------------------


class RidgeCV(Regressor):
    """Ridge regression whose penalty minimises leave-one-out or generalised cross-validation.

    f(x) = b + w^T x minimises sum_i s_i (y_i - b - w^T x_i)^2 + lam ||w||^2, lam from ``lambdas``.
    A whole weight s_i counts a row that often, and one copy of it is left out at a time: with "loo"
    a weight is 0 or at least 1.

    Book: model-selection-loocv-shortcut, model-selection-gcv.

    Parameters
    ----------
    lambdas : list of float
        Candidates, at least 0; the first of the best is taken.
    criterion : {"loo", "gcv"}
    fit_intercept : bool

    Attributes
    ----------
    lambda_ : float
        The chosen penalty.
    scores_ : array of shape (m,)
        The criterion at each candidate.
    df_ : array of shape (m,)
        Effective degrees of freedom of each candidate, the intercept included.
    coef_ : array of shape (d,)
    intercept_ : float

    Examples
    --------
    >>> RidgeCV([0.0, 10.0]).fit([[0.0], [1.0], [2.0], [4.0]], [0.0, 2.0, 4.0, 8.0]).lambda_
    0.0
    """

    def __init__(self, lambdas=(0.01, 0.1, 1.0, 10.0, 100.0), criterion="loo", fit_intercept=True):
        self.lambdas = lambdas
        self.criterion = criterion
        self.fit_intercept = fit_intercept

    def fit(self, X, y=None, sample_weight=None):
        """Choose the penalty, fit with it on all rows, and return self."""
        begin_fit(self, X)
        y, intercept = check_targets(y, "RidgeCV"), bool(self.fit_intercept)
        options = {"criterion": self.criterion, "intercept": intercept}
        search = ridge_search(X, y, self.lambdas, sample_weight=sample_weight, **options)
        self.lambda_, self.scores_, self.df_ = search.lam, search.scores, search.df
        model = Ridge(search.lam, intercept) if search.lam > 0 else LinearRegression(intercept)
        model.fit(X, y, sample_weight)
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        self.n_features_in_ = model.n_features_in_
        return self

    def predict(self, X):
        """Return b + w^T x for each row of X, shape (n,)."""
        X = check_features(self, X)
        return X @ self.coef_ + self.intercept_
