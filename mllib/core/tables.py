"""Tables: the names of their columns, remembered in ``fit`` and held against later ones."""

import warnings

import numpy as np

from mllib.core.errors import caller_of_the_library

__all__ = [
    "check_names",
    "column_names",
    "keep_names",
]


def column_names(X):
    """Return the names of the columns of a table, an array of str; None for anything else.

    A table is what has ``columns`` that are named by text, such as a DataFrame.

    Raises
    ------
    TypeError
        If some of the names are text and others are not.
    """
    columns = getattr(X, "columns", None)
    if columns is None or callable(columns):
        return None
    names = np.array([None, *columns], dtype=object)[1:]
    text = [isinstance(name, str) for name in names]
    if any(text) and not all(text):
        raise TypeError(
            "Feature names are only supported if all input features have string names: convert "
            "them, e.g. X.columns = X.columns.astype(str)."
        )
    return names if any(text) else None


def keep_names(estimator, names):
    """Keep the names of the columns to which the estimator was fitted; forget older ones."""
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None:
        estimator.feature_names_in_ = names


def check_names(estimator, X):
    """Refuse a table whose columns are not those of ``fit``; warn if only one of both has names."""
    expected, given = getattr(estimator, "feature_names_in_", None), column_names(X)
    name = type(estimator).__name__
    if expected is None and given is None:
        return
    if expected is None:
        message = f"X has feature names, but {name} was fitted without feature names"
        warnings.warn(message, UserWarning, stacklevel=caller_of_the_library())
    elif given is None:
        message = f"X does not have valid feature names, but {name} was fitted with feature names"
        warnings.warn(message, UserWarning, stacklevel=caller_of_the_library())
    elif list(given) != list(expected):
        message = "The feature names should match those that were passed during fit.\n"
        unseen, missing = sorted({*given} - {*expected}), sorted({*expected} - {*given})
        if unseen:
            message += "Feature names unseen at fit time:\n" + _itemised(unseen)
        if missing:
            message += "Feature names seen at fit time, yet now missing:\n" + _itemised(missing)
        if not unseen and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(message)


def _itemised(names):
    more = ["- ...\n"] if len(names) > 5 else []
    return "".join([f"- {name}\n" for name in names[:5]] + more)
