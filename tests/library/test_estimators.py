"""What all estimators share: hyperparameters, arrays of other kinds, sentences of errors."""

import threading

import numpy as np
import pandas as pd
import pytest

from mllib.core.arrays import as_array, check_array, check_targets
from mllib.core.estimators import Estimator, check_parameters
from mllib.core.parallel import map_over
from mllib.forests import RandomForestClassifier
from mllib.least_squares import LinearRegression
from mllib.naive_bayes import GaussianNB
from mllib.perceptron import Perceptron
from mllib.ridge_and_lasso import Lasso, Ridge, ridge

# What hyperparameters of all estimators share ----------------------------------------------------


class Model(Estimator):
    """An estimator that has one of each."""

    def __init__(self, fit_intercept=True, tol=1e-3, max_iter=5, random_state=None, workers=1):
        self.fit_intercept, self.tol, self.max_iter = fit_intercept, tol, max_iter
        self.random_state, self.workers = random_state, workers


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("fit_intercept", [2, 1, 0, "no", None, np.nan, [True]]),
        ("tol", [10, 1, -1e-3, np.nan, np.inf, None, "small", True, 10**400, np.ma.masked]),
        ("max_iter", [0, -1, 2.0, None, True, 10**400, np.nan]),
        ("random_state", [-1, 0.5, "red", True]),
        ("workers", [0, -2, 1.5, None, True, np.nan, 10**400]),
    ],
)
def test_a_hyperparameter_that_cannot_be_meant_is_named(name, values):
    check_parameters(Model())
    for value in values:
        with pytest.raises(ValueError, match=rf"^{name} must be "):
            check_parameters(Model(**{name: value}))


@pytest.mark.parametrize("estimator", [LinearRegression, Ridge, Lasso, Perceptron])
def test_every_fit_begins_with_that(estimator):
    X, y = np.arange(6.0)[:, None], [0, 0, 1, 0, 1, 1]
    with pytest.raises(ValueError, match="fit_intercept must be True or False, got 2"):
        estimator(fit_intercept=2).fit(X, y)
    with pytest.raises(ValueError, match=r"tol must be a number in \[0, 1\), got 10"):
        Lasso(tol=10).fit(X, y)
    with pytest.raises(ValueError, match="fit_intercept must be True or False, got 2"):
        LinearRegression(fit_intercept=2).fit_chunks([(X, y)])


# Arrays of other kinds ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[1.0], [1.0, 2.0]], "y must be an array: give all its rows one length"),
        ([1.0, pd.NA], "y must hold numbers only"),
        ([1.0, 10**400], "y holds a number beyond 1.8e308"),
        ([1.0, None], "Input y contains NaN"),
        (np.array(["2024-01-01", "NaT"], dtype="M8[D]"), "y must hold numbers only, got dates"),
        (np.array([1, "NaT"], dtype="m8[s]"), "y must hold numbers only, got dates or durations"),
        ([np.datetime64("NaT"), 1.0], "y must hold numbers only, got dates"),
        ([pd.NaT, 1.0], "y must hold numbers only, got dates"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), "y has masked entries"),
    ],
)
def test_targets_that_are_none(y, message):
    with pytest.raises((TypeError, ValueError), match=message):
        check_targets(y)
    if not isinstance(y, list) or not isinstance(y[0], list):
        column = y[:, None] if isinstance(y, np.ndarray) else np.array(y, dtype=object)[:, None]
        with pytest.raises((TypeError, ValueError), match=message.replace("y ", "X ", 1)):
            check_array(column)


def test_a_mask_that_hides_nothing_is_no_obstacle():
    rows = np.ma.masked_array([[1.0], [2.0]], [[False], [False]])
    assert check_array(rows).tolist() == as_array(rows, "X").tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_labels_with_missing_values_are_refused(missing):
    with pytest.raises(ValueError, match="Input y contains NaN"):
        GaussianNB().fit([[0.0], [1.0], [2.0]], np.array(["a", missing, "b"], dtype=object))


def test_a_huge_number_of_workers_starts_few_processes():
    before = threading.active_count()
    assert map_over(abs, range(-40, 0), workers=10**9) == list(range(40, 0, -1))
    assert threading.active_count() <= before + 4


# Sentences ----------------------------------------------------------------------------------


def test_sentences_of_the_library_name_what_the_caller_gave():
    X, y = np.arange(6.0)[:, None], [0, 0, 1, 0, 1, 1]
    with pytest.raises(ValueError, match=r"var_floor must be a number in \[0, 1\], got nan"):
        GaussianNB(var_floor=np.nan).fit(X, y)
    with pytest.raises(ValueError, match="y must have 6 entries, got 5"):
        ridge(X, y[:5], 1.0)
    forest = RandomForestClassifier(2, oob_score=True, random_state=0)
    assert forest.fit(X, ["a", "b"] * 3).n_features_in_ == 1  # its shares may be NaN, as it says
