"""What every estimator of the book shares: the protocol, input checks, errors and random state.

The estimators follow scikit-learn's conventions without importing scikit-learn: they pass its
``check_estimator`` and work inside its pipelines and searches, while ``mllib`` itself needs only
numpy and scipy.
"""

import datetime
import functools
import importlib
import inspect
import numbers
import os
import signal
import sys
import time
import warnings
from collections import deque
from itertools import islice

import numpy as np

__all__ = [
    "Classifier",
    "Clusterer",
    "ConvergenceWarning",
    "DataConversionWarning",
    "DensityEstimator",
    "Estimator",
    "NotFittedError",
    "Progress",
    "Regressor",
    "Transformer",
    "as_array",
    "check_X_y",
    "check_array",
    "check_callable",
    "check_choice",
    "check_distribution",
    "check_features",
    "check_fitted",
    "check_flag",
    "check_instance",
    "check_kernel_values",
    "check_labels",
    "check_lengths",
    "check_parameters",
    "check_result",
    "check_rng",
    "check_sample_weight",
    "check_scalar",
    "check_signs",
    "check_square",
    "check_targets",
    "check_vector",
    "check_weighted_X_y",
    "class_factors",
    "column_names",
    "convergence_warning",
    "keep_names",
    "map_over",
    "random_generator",
    "stream_over",
]


# Errors and warnings -------------------------------------------------------------------------


class NotFittedError(ValueError, AttributeError):
    """Raised when an estimator is used before ``fit``."""


class ConvergenceWarning(UserWarning):
    """Issued when an iteration stops at ``max_iter`` before its criterion is met."""


class DataConversionWarning(UserWarning):
    """Issued when an input is reshaped to what the estimator expects."""


def _same_as_sklearn(ours):
    """Return scikit-learn's class of the same name if scikit-learn is already loaded."""
    exceptions = sys.modules.get("sklearn.exceptions")
    return getattr(exceptions, ours.__name__, ours)


def convergence_warning(message):
    """Warn that an iteration ran out; ``message`` states the achieved gap and the tolerance."""
    kind = _same_as_sklearn(ConvergenceWarning)
    warnings.warn(message, kind, stacklevel=_caller_of_the_library())


# Arrays --------------------------------------------------------------------------------------


def as_array(a, name):
    """Return ``a`` as an array of any type; masks and nested lists of unequal lengths are refused.

    A table is laid out row by row, so that results are the same, to the last bit, as for an array
    of its values.
    """
    if np.ma.is_masked(a):
        raise ValueError(
            f"{name} has masked entries, and a mask would be ignored: remove them or fill them in."
        )
    try:
        return np.asarray(a, order="C" if hasattr(a, "columns") else None)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be an array: give all its rows one length.") from error


def _as_float(X, name):
    """Convert to float64; refuse sparse, complex and non-numeric input by name."""
    if hasattr(X, "tocsr") or hasattr(X, "todense"):
        raise TypeError(
            f"{name} is a sparse matrix, but dense data is required: pass {name}.toarray()."
        )
    X = as_array(X, name)
    if np.iscomplexobj(X):
        raise ValueError(
            f"Complex data not supported: {name} has dtype {X.dtype}; pass {name}.real."
        )
    if X.dtype == np.float64:
        return X
    if X.dtype.kind in "mM" or (X.dtype.kind == "O" and any(map(_is_time, X.ravel()))):
        raise TypeError(
            f"{name} must hold numbers only, got dates or durations: subtract a first date and "
            f"divide by a unit, e.g. numpy.timedelta64(1, 's')."
        )
    try:
        with np.errstate(over="ignore"):
            return X.astype(np.float64)
    except TypeError as error:
        raise TypeError(
            f"{name} must hold numbers only: argument must be a string or a number ({error})."
        ) from error
    except ValueError as error:
        raise ValueError(f"{name} must hold numbers only: {error}.") from error
    except OverflowError as error:
        raise ValueError(
            f"{name} holds a number beyond 1.8e308, too large for float64: divide by a larger unit."
        ) from error


def _is_time(v):
    """Return whether an entry is a date or a duration, which would silently become a number."""
    return isinstance(v, (np.datetime64, np.timedelta64, datetime.date, datetime.timedelta))


def _check_finite(X, name):
    if not np.isfinite(X).all():
        what = "NaN" if np.isnan(X).any() else "infinity"
        raise ValueError(f"Input {name} contains {what}: remove or replace those entries first.")


def check_array(X, name="X", *, min_samples=1, finite=True):
    """Return ``X`` as a float64 array of shape (n, d), or say what is wrong with it.

    Parameters
    ----------
    X : array-like of shape (n, d)
    name : str
        The argument's name, used in messages.
    min_samples : int
        The smallest number of rows that makes sense for the caller.
    finite : bool
        Whether NaN and infinity are refused.

    Raises
    ------
    TypeError, ValueError
        One sentence that names the argument and the fix.
    """
    X = _as_float(X, name)
    if X.ndim == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array instead for {name} of shape {X.shape}. Reshape your "
            f"data: {name}.reshape(-1, 1) for one feature, {name}.reshape(1, -1) for one sample."
        )
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead for {name}: pass one of "
            f"shape (n_samples, n_features)."
        )
    n, d = X.shape
    if n < min_samples:
        raise ValueError(
            f"Found array with {n} sample(s) (shape={X.shape}) while a minimum of "
            f"{min_samples} is required: give {name} more rows."
        )
    if d == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required: "
            f"give {name} a column."
        )
    if finite:
        _check_finite(X, name)
    return X


def check_vector(v, name, *, length=None, finite=True):
    """Return ``v`` as a float64 vector of shape (length,), or say what is wrong with it."""
    v = _as_float(v, name)
    if v.ndim != 1:
        raise ValueError(f"{name} must be a vector (1-D array), got shape {v.shape}.")
    if length is not None and v.shape[0] != length:
        raise ValueError(f"{name} must have {length} entries, got {v.shape[0]}.")
    if finite:
        _check_finite(v, name)
    return v


def check_result(result, name):
    """Return ``result`` unless it holds NaN: then squares of the argument ``name`` overflowed."""
    if np.isnan(result).any():
        raise ValueError(
            f"{name} is too large or too small, the result would be NaN: divide by a unit."
        )
    return result


def check_squares(X, name="X"):
    """Return X unless sums of squares of its entries would overflow, or all of them underflow."""
    largest = max(X.max(initial=0.0), -X.min(initial=0.0))
    if largest > 1e150 or 0 < largest < 1e-150:
        raise ValueError(f"{name} is too large or too small to be squared: divide by a unit.")
    return X


def check_square(A, name, *, size=None, symmetric=False):
    """Return ``A`` as a float64 square matrix, symmetric up to rounding where asked."""
    A = check_array(A, name)
    if A.shape[0] != A.shape[1] or (size is not None and A.shape[0] != size):
        wanted = "square" if size is None else f"of shape ({size}, {size})"
        raise ValueError(f"{name} must be {wanted}, got shape {A.shape}.")
    if symmetric and np.abs(A - A.T).max() > 1e-8 * np.abs(A).max():
        raise ValueError(
            f"{name} must be symmetric; symmetrise it first, e.g. ({name} + {name}.T)/2."
        )
    return A


def check_signs(y, n=None):
    """Return labels -1 and +1 as a float64 vector of shape (n,), or say what is wrong with them."""
    y = check_vector(y, "y", length=n)
    if not (np.abs(y) == 1).all():
        raise ValueError("y must hold only -1 and +1: turn labels 0 and 1 into 2*y - 1.")
    return y


def check_kernel_values(kernel, X, Y):
    """Return kernel(X, Y) as a finite float64 array with one entry for each pair of rows."""
    try:
        K = _as_float(kernel(X, Y), "kernel(X, Y)")
    except TypeError as error:
        raise TypeError(f"kernel must be a function of two arrays of rows ({error}).") from error
    if K.shape != (len(X), len(Y)) or not np.isfinite(K).all():
        raise ValueError(
            f"kernel(X, Y) must return finite numbers of shape ({len(X)}, {len(Y)}), one for "
            f"each pair of rows, got shape {K.shape}."
        )
    return K


def check_distribution(p, name, *, axis=-1):
    """Return ``p`` as a float64 array whose entries are >= 0 and sum to one along ``axis``."""
    p = _as_float(p, name)
    _check_finite(p, name)
    if p.size == 0 or p.ndim == 0:
        raise ValueError(f"{name} must have at least one entry, got shape {p.shape}.")
    if (p < 0).any():
        raise ValueError(f"{name} must not be negative, its smallest entry is {p.min():.3g}.")
    total = p.sum(axis=axis)
    if np.abs(total - 1).max() > 1e-8:
        worst = np.ravel(total)[np.argmax(np.abs(np.ravel(total) - 1))]
        rows = "each row of " if p.ndim > 1 else ""
        raise ValueError(
            f"{rows}{name} must sum to one, got a sum of {worst:.6g}: divide by the sum."
        )
    return p


def _check_target_length(X, y):
    if y.shape[0] != X.shape[0]:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has "
            f"{X.shape[0]} rows, y has {y.shape[0]} entries."
        )


def _check_target_shape(y, estimator):
    """Return the target as a 1-D array; a column is flattened with a warning."""
    if y is None:
        raise ValueError(
            f"This {estimator} estimator requires y to be passed, but the target y is None."
        )
    if hasattr(y, "tocsr"):
        raise TypeError("y is a sparse matrix, but a dense vector is required: pass y.toarray().")
    y = as_array(y, "y")
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected: pass y.ravel().",
            _same_as_sklearn(DataConversionWarning),
            stacklevel=_caller_of_the_library(),
        )
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    return y


def check_labels(y, estimator="classifier"):
    """Return ``(classes, index)`` for labels of any sortable type, so that y = classes[index].

    ``estimator`` is a name for messages.

    Raises
    ------
    ValueError
        If y is missing, not 1-D, holds NaN, or holds real numbers that are not whole
        (a regression target).
    """
    y = _check_target_shape(y, estimator)
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers.")
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            what = "NaN" if np.isnan(y).any() else "infinity"
            raise ValueError(f"Input y contains {what}: remove those samples first.")
        if (y != np.floor(y)).any():
            raise ValueError(
                "Unknown label type: continuous. A classifier expects class labels in y, "
                "got real numbers that are not whole."
            )
    if _holds_missing(y):
        raise ValueError("Input y contains NaN or None: remove those samples first.")
    try:
        return np.unique(y, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"Unknown label type: the labels in y cannot be sorted ({error}); convert "
            f"them to one type, e.g. y.astype(str)."
        ) from error


def _holds_missing(y):
    """Return whether labels hold NaN, NaT, None or the missing value of pandas."""
    if y.dtype.kind in "mM":
        return bool(np.isnat(y).any())
    return y.dtype.kind == "O" and any(
        v is None or type(v).__name__ in ("NAType", "NaTType") or (np.isscalar(v) and v != v)
        for v in y.ravel()
    )


def check_targets(y, estimator="regressor"):
    """Return a regression target as a finite float64 vector of shape (n,)."""
    y = _as_float(_check_target_shape(y, estimator), "y")
    _check_finite(y, "y")
    return y


def check_X_y(X, y, estimator, *, min_samples=1, min_classes=2):
    """Validate a classification sample; return ``(X, classes, index)`` with y = classes[index].

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Labels of any sortable type.
    estimator : str
        A name for messages.
    min_samples, min_classes : int
        The smallest numbers of rows and of classes that are accepted.
    """
    X = check_array(X, min_samples=min_samples)
    classes, index = check_labels(y, estimator)
    _check_target_length(X, index)
    if len(classes) < min_classes:
        raise ValueError(
            f"{estimator} needs at least {min_classes} classes in y, got {len(classes)} "
            f"class: add samples of another class."
        )
    return X, classes, index


def check_sample_weight(weights, n, name="sample_weight", *, ones=False, chunk=False):
    """Return the weights of n examples as a float64 vector; None, for all ones, stays None.

    A whole weight counts an example that often, a weight of 0 leaves it out.

    Parameters
    ----------
    weights : array of shape (n,), float or None
        A number is the weight of every example.
    n : int
    name : str
        The argument's name, used in messages.
    ones : bool
        Whether None is returned as a vector of ones.
    chunk : bool
        Whether all of them may be 0, as in a part of a sample.
    """
    if weights is None:
        return np.ones(n) if ones else None
    if isinstance(weights, numbers.Real) and not isinstance(weights, (bool, np.bool_)):
        weights = np.full(n, check_scalar(weights, name, low=0), dtype=np.float64)
    s = check_vector(weights, name, length=n)
    with np.errstate(over="ignore"):
        total = s.sum()
    if total == np.inf:
        raise ValueError(f"{name} is too large, its sum is infinite: divide by the largest.")
    if (s < 0).any() or not (chunk or total > 0):
        zero = "" if chunk else " and not all of it zero"
        raise ValueError(
            f"{name} must not be negative{zero}: a weight of 2 counts an example twice, a weight "
            f"of 0 leaves it out."
        )
    return s


def class_factors(class_weight, classes, index, s=None):
    """Return the factor by which the class of each example multiplies its weight, shape (n,).

    Parameters
    ----------
    class_weight : None, "balanced" or dict
        None means factors 1; "balanced" gives all classes the same total weight and leaves the sum
        as it is; a dict maps classes to factors above 0, 1 for those that it leaves out.
    classes : array of shape (K,)
    index : array of int of shape (n,)
        The class of example i is ``classes[index[i]]``.
    s : array of shape (n,), optional
        Weights of the examples; all 1 by default.

    Examples
    --------
    >>> class_factors("balanced", np.array(["a", "b"]), np.array([0, 0, 0, 1])).round(2)
    array([0.67, 0.67, 0.67, 2.  ])
    """
    if class_weight is None:
        return np.ones(len(index))
    if isinstance(class_weight, str):
        check_choice(class_weight, "class_weight", ("balanced",))
        totals = np.bincount(index, weights=s, minlength=len(classes))
        present = totals > 0
        return (totals.sum() / (present.sum() * np.where(present, totals, 1.0)))[index]
    if not isinstance(class_weight, dict):
        raise ValueError("class_weight must be None, 'balanced' or a dict from class to factor.")
    named = classes.tolist()
    if set(class_weight) - set(named) and set(named) - set(class_weight):
        raise ValueError(
            f"class_weight must map the classes in y, {named}, to factors, got the keys "
            f"{list(class_weight)}."
        )
    factors = [
        check_scalar(class_weight.get(c, 1.0), "class_weight", low=0, open_low=True) for c in named
    ]
    return np.array(factors, dtype=np.float64)[index]


def check_weighted_X_y(X, y, sample_weight, class_weight, estimator):
    """Validate a weighted classification sample; return ``(X, classes, index, s, rows)``.

    Examples of weight 0 are left out, ``rows`` are the numbers of those that stay, and s are their
    weights times those of their classes; s is None if neither is given.
    """
    X, classes, index = check_X_y(X, y, estimator)
    s, rows = check_sample_weight(sample_weight, len(X)), np.arange(len(X))
    if s is not None and not s.all():
        rows = np.flatnonzero(s)
        X, classes, index = check_X_y(X[rows], classes[index[rows]], estimator)
        s = s[rows]
    if class_weight is not None:
        s = class_factors(class_weight, classes, index, s) * (1.0 if s is None else s)
    return X, classes, index, s, rows


def check_lengths(lengths, n):
    """Return the lengths of consecutive sequences that together make ``n`` rows."""
    if lengths is None:
        return np.array([n])
    lengths = as_array(lengths, "lengths")
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu" or lengths.size == 0:
        raise ValueError("lengths must be a non-empty list of whole numbers, one per sequence.")
    if (lengths < 1).any():
        raise ValueError("lengths must be at least 1 each: drop the empty sequences.")
    total = sum(lengths.tolist())  # Python's whole numbers have no last one
    if total != n:
        raise ValueError(f"lengths must add up to the {n} rows of X, they add up to {total}.")
    return lengths.astype(np.int64)


# Tables --------------------------------------------------------------------------------------


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


def _remembers_names(fit):
    """Return ``fit`` that also keeps the column names of its table in ``feature_names_in_``."""

    @functools.wraps(fit)
    def fit_and_remember(self, *args, **options):
        check_parameters(self)
        names = column_names(args[0] if args else options.get("X"))
        goes_on = fit.__name__ == "partial_fit" and hasattr(self, "n_features_in_")
        result = fit(self, *args, **options)
        if not goes_on:
            keep_names(self, names)
        return result

    fit_and_remember.keeps_the_protocol = True
    return fit_and_remember


def _checks_parameters(fit):
    """Return ``fit`` that begins with the check of what hyperparameters of all models share."""

    @functools.wraps(fit)
    def check_and_fit(self, *args, **options):
        check_parameters(self)
        return fit(self, *args, **options)

    check_and_fit.keeps_the_protocol = True
    return check_and_fit


def _check_names(estimator, X):
    """Refuse a table whose columns are not those of ``fit``; warn if only one of both has names."""
    expected, given = getattr(estimator, "feature_names_in_", None), column_names(X)
    name = type(estimator).__name__
    if expected is None and given is None:
        return
    if expected is None:
        message = f"X has feature names, but {name} was fitted without feature names"
        warnings.warn(message, UserWarning, stacklevel=_caller_of_the_library())
    elif given is None:
        message = f"X does not have valid feature names, but {name} was fitted with feature names"
        warnings.warn(message, UserWarning, stacklevel=_caller_of_the_library())
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


def _caller_of_the_library():
    """Return the ``stacklevel`` at which a warning of our caller names the user's own line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("mllib."):
        frame, level = frame.f_back, level + 1
    return level


def _itemised(names):
    more = ["- ...\n"] if len(names) > 5 else []
    return "".join([f"- {name}\n" for name in names[:5]] + more)


def _honours_set_output(transform):
    """Return ``transform`` whose result is the table that ``set_output`` asks for."""

    @functools.wraps(transform)
    def transform_and_name(self, *args, **options):
        Z = transform(self, *args, **options)
        if not isinstance(Z, np.ndarray) or _output_of(self) == "default":
            return Z
        X = args[0] if args else options["X"]
        index = X.index if hasattr(X, "columns") and hasattr(X, "index") else None
        pandas = importlib.import_module("pandas")
        return pandas.DataFrame(Z, index=index, columns=self.get_feature_names_out())

    transform_and_name.keeps_the_protocol = True
    return transform_and_name


def _output_of(estimator):
    """Return what ``transform`` gives: by ``set_output``, else by scikit-learn's configuration."""
    asked = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    if asked is None and "sklearn" in sys.modules:
        asked = sys.modules["sklearn"].get_config().get("transform_output")
    return check_choice(asked or "default", "transform", ("default", "pandas"))


# Scalars, choices, random numbers ------------------------------------------------------------


def check_scalar(
    value, name, *, low=None, high=None, open_low=False, open_high=False, integer=False
):
    """Return ``value`` if it is a real number (or integer) within the stated interval.

    ``open_low`` and ``open_high`` exclude the end points.
    """
    kind = numbers.Integral if integer else numbers.Real
    good = isinstance(value, kind) and not isinstance(value, (bool, np.bool_)) and value == value
    if good and isinstance(value, numbers.Integral):
        good = -(2**63) <= value < 2**63
    if good and low is not None:
        good = (value > low if open_low else value >= low) and (high is not None or value != np.inf)
    if good and high is not None:
        good = value < high if open_high else value <= high
    if good:
        return value
    left = "-inf" if low is None else f"{low:g}"
    right = "inf" if high is None else f"{high:g}"
    opening = "(" if open_low or low is None else "["
    closing = ")" if open_high or high is None else "]"
    sort = "an integer" if integer else "a number"
    raise ValueError(
        f"{name} must be {sort} in {opening}{left}, {right}{closing}, got {_shown(value)}."
    )


def _shown(value):
    """Return how a refused value is shown in a message, an array by its shape: at most one line."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    if isinstance(value, numbers.Integral) and abs(value) >= 2**63:
        return "a whole number of more than 64 bits"
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def check_choice(value, name, choices):
    """Return ``value`` if it is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        wanted = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {wanted}, got {_shown(value)}.")
    return value


def check_flag(value, name):
    """Return ``value`` as a bool if it is True or False, and nothing that merely counts as one."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {_shown(value)}.")
    return bool(value)


def check_callable(value, name):
    """Return ``value`` if it can be called."""
    if not callable(value) or isinstance(value, type):
        raise ValueError(f"{name} must be a function, got {_shown(value)}.")
    return value


def check_instance(value, name, kind, source):
    """Return ``value`` if it is of the class ``kind``; ``source`` says where one comes from."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(k.__name__ for k in kinds)
        raise ValueError(f"{name} must be a {wanted}, {source}, got {_shown(value)}.")
    return value


#: What hyperparameters of one name mean in every estimator; ``check_parameters`` holds them to it.
FLAGS = ("average", "center", "early_stopping", "fit_intercept", "optimise")
FLAGS += ("oob_score", "shuffle", "unbiased", "whiten", "with_mean", "with_std")
COUNTS = ("max_iter", "n_estimators", "n_init")


def check_parameters(estimator):
    """Refuse hyperparameters that make no sense; ``fit`` of every estimator begins with it.

    Flags are True or False, counts are whole numbers from 1 on, ``tol`` is relative and lies in
    [0, 1), ``random_state`` is what ``random_generator`` takes and ``workers`` what ``map_over``
    takes. What only one model has is checked by that model.
    """
    given = estimator.get_params(deep=False)
    for name in FLAGS:
        if name in given:
            check_flag(given[name], name)
    for name in COUNTS:
        if name in given:
            check_scalar(given[name], name, low=1, integer=True)
    if "tol" in given:
        check_scalar(given["tol"], "tol", low=0, high=1, open_high=True)
    if "random_state" in given:
        random_generator(given["random_state"])
    if "workers" in given:
        _check_workers(given["workers"])


def check_rng(rng):
    """Return ``rng`` if it is a ``numpy.random.Generator``."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(
            f"rng must be a numpy.random.Generator, got {_shown(rng)}: pass "
            f"numpy.random.default_rng(0)."
        )
    return rng


def random_generator(random_state):
    """Return a ``numpy.random.Generator`` from None, a non-negative int, or a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or (
        isinstance(random_state, numbers.Integral)
        and not isinstance(random_state, (bool, np.bool_))
        and random_state >= 0
    ):
        return np.random.default_rng(random_state)
    raise ValueError(
        f"random_state must be None, a non-negative integer or a numpy.random.Generator, "
        f"got {_shown(random_state)}."
    )


# Work that splits ----------------------------------------------------------------------------


def map_over(function, items, workers=1):
    """Apply ``function`` to each item; ``workers`` has SciPy's meaning.

    If a process is killed, new ones do its items again, up to three times. An error of ``function``
    arrives here with the traceback of the worker as its cause; it ends all processes, and so does
    an interrupt. In a terminal or a notebook, a bar tells after two seconds how far the work is
    (``MLLIB_PROGRESS=0`` in the environment turns it off).

    Parameters
    ----------
    function : callable
        Picklable, unless ``workers`` is 1.
    items : iterable
    workers : int or map-like callable
        1 runs here; an int above 1 starts that many processes, though never more than 64; -1 one
        for each core; a callable such as ``pool.map`` or a distributed client's ``map``, whose
        futures are waited for, is used as it is.

    Returns
    -------
    list
        The results in the order of the items.
    """
    workers, items = _check_workers(workers), list(items)
    results, bar = [], Progress(len(items))
    if callable(workers):
        parts = ([result] for result in stream_over(function, items, workers))
    else:
        size = 1 if workers == 1 else max(1, len(items) // (4 * workers))
        batches = [items[i : i + size] for i in range(0, len(items), size)]
        parts = stream_over(_Batch(function), batches, workers, in_flight=len(batches) or 1)
    for part in parts:
        results += part
        bar.show(len(results))
    bar.close()
    return results


def stream_over(function, items, workers=1, *, in_flight=None):
    """Yield ``function(item)`` in the order of the items, which are read only as they are needed.

    Parameters
    ----------
    function, workers
        As in ``map_over``.
    items : iterable
        May be endless.
    in_flight : int, optional
        How many items are at work at a time; by default one for each worker. While the oldest of
        them takes long, up to twice as many younger results wait behind it. A map-like callable
        gets the items in groups of this size; by default a list or tuple whole, since it is in
        memory anyway, and 32 items at a time of any other iterable.

    Yields
    ------
    object
    """
    workers = _check_workers(workers)
    whole = len(items) if isinstance(items, (list, tuple)) and items else 32
    at_most = whole if callable(workers) else workers
    if in_flight is not None:
        at_most = check_scalar(in_flight, "in_flight", low=1, integer=True)
    items = iter(items)
    if callable(workers):
        while group := list(islice(items, at_most)):
            yield from _settled(workers(function, group))
    elif workers == 1:
        yield from map(function, items)
    else:
        yield from _on_processes(function, items, workers, at_most)


_PROCESSES = 64  # on one machine, whatever number is asked for


def _check_workers(workers):
    """Return a map-like callable as it is, and a number of processes as a positive int."""
    if callable(workers):
        return workers
    check_scalar(workers, "workers", low=-1, integer=True)
    if workers == 0:
        raise ValueError("workers must be -1, a positive integer or a map-like callable, got 0.")
    return (os.cpu_count() or 1) if workers == -1 else min(int(workers), _PROCESSES)


def _settled(results):
    """Yield the results of a map-like callable; futures are waited for, and let go one by one."""
    if isinstance(results, list):
        waiting = results[::-1]
        results = (waiting.pop() for _ in range(len(waiting)))
    for a in results:
        future = callable(getattr(a, "result", None)) and callable(getattr(a, "done", None))
        yield a.result() if future else a
        del a


class _Batch:
    """A function of one item as a function of several."""

    def __init__(self, function):
        self.function = function

    def __call__(self, items):
        return [self.function(item) for item in items]


def _on_processes(function, items, workers, in_flight):
    """Yield the results of processes in order; the work of one that is killed is repeated.

    While fewer than ``in_flight`` items are at work the next is read and handed on, unless twice
    as many are behind the oldest one.
    """
    from concurrent.futures import FIRST_COMPLETED, wait
    from concurrent.futures.process import BrokenProcessPool

    pool, tasks, more, lost = _processes(workers), deque(), True, 0  # tasks: [item, future]
    try:
        while True:
            try:
                at_work = []
                for task in tasks:
                    if task[1] is None:
                        task[1] = pool.submit(function, task[0])
                    if not task[1].done():
                        at_work.append(task[1])
                    elif isinstance(task[1].exception(), BrokenProcessPool):
                        raise task[1].exception()
                    else:
                        task[0] = None  # let go of the item: only its result is kept
                if more and len(at_work) < in_flight and len(tasks) <= 2 * in_flight:
                    tasks.extend([item, None] for item in islice(items, 1))
                    more = bool(tasks) and tasks[-1][1] is None
                    continue
                if at_work and at_work[0] is tasks[0][1]:
                    wait(at_work, return_when=FIRST_COMPLETED)
                    continue
                if not tasks:
                    return
            except BrokenProcessPool as error:
                lost += 1
                if lost == 4:
                    raise RuntimeError(
                        "workers were killed four times over the same work, perhaps because the "
                        "memory was full: use fewer workers or smaller items."
                    ) from error
                _stop(pool)
                pool = _processes(workers)
                for task in tasks:
                    done = task[1] is not None and task[1].done() and not task[1].cancelled()
                    if not done or isinstance(task[1].exception(), BrokenProcessPool):
                        task[1] = None
                continue
            lost = 0
            yield tasks.popleft()[1].result()
    finally:
        _stop(pool)


def _processes(workers):
    """Return a pool of processes that leave an interrupt to the one that started them."""
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(workers, initializer=_begin_worker)


def _begin_worker():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["MLLIB_PROGRESS"] = "0"  # one bar is enough


def _stop(pool):
    """End the processes of a pool, at work or not."""
    running = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in running:
        process.terminate()
    for process in running:
        process.join()


class Progress:
    """A line such as ``[#####.....] 50 of 100`` for work that takes longer than two seconds."""

    def __init__(self, total=None, *, patience=2.0):
        self.total, self.start, self.patience = total, time.monotonic(), patience
        self.last, self.width = 0.0, 0
        self.visible = os.environ.get("MLLIB_PROGRESS", "1") != "0" and _watched()

    def show(self, done):
        """Draw the line again, at most ten times a second."""
        now = time.monotonic()
        if self.visible and now - self.start > self.patience and now - self.last > 0.1:
            text = f"{done} done"
            if self.total:
                full = 30 * done // self.total
                text = f"[{'#' * full}{'.' * (30 - full)}] {done} of {self.total}"
            self.last, self.width = now, max(self.width, len(text))
            print("\r" + text.ljust(self.width), end="", file=sys.stderr, flush=True)

    def close(self):
        """Take the line away."""
        if self.width:
            print("\r" + " " * self.width + "\r", end="", file=sys.stderr, flush=True)


def _watched():
    """Return whether somebody looks on: a terminal, or a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell" or (
        sys.stderr is not None and sys.stderr.isatty()
    )


# The estimator protocol ----------------------------------------------------------------------


class Estimator:
    """The part of scikit-learn's protocol that does not depend on what is estimated.

    A subclass lists its hyperparameters as keyword arguments of ``__init__``, which stores them
    untouched; ``fit`` validates them. Fitted attributes end in an underscore.

    Fitted to a table with named columns, an estimator keeps their names in ``feature_names_in_``
    and refuses a table whose columns have other names or another order.
    """

    kind = None

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        keepers = dict.fromkeys(("fit", "partial_fit"), _remembers_names)
        keepers["fit_chunks"] = _checks_parameters
        keepers |= dict.fromkeys(("transform", "fit_transform"), _honours_set_output)
        for name, keeper in keepers.items():
            method = getattr(cls, name, None)
            if method is not None and not hasattr(method, "keeps_the_protocol"):
                setattr(cls, name, keeper(method))

    @classmethod
    def _parameter_names(cls):
        signature = inspect.signature(cls.__init__)
        return sorted(name for name in signature.parameters if name != "self")

    def get_params(self, deep=True):
        """Return the hyperparameters by name; ``deep`` adds those of nested estimators."""
        params = {name: getattr(self, name) for name in self._parameter_names()}
        if deep:
            for name, value in list(params.items()):
                if hasattr(value, "get_params") and not isinstance(value, type):
                    params |= {f"{name}__{key}": v for key, v in value.get_params().items()}
        return params

    def set_params(self, **params):
        """Set hyperparameters by name (``part__name`` for a nested estimator); return self."""
        known = self._parameter_names()
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters "
                    f"are: {known}."
                )
            if rest:
                getattr(self, name).set_params(**{rest: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self):
        signature = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name in self._parameter_names()
            if repr(getattr(self, name)) != repr(signature[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None if self.kind == "transformer" else self.kind,
            target_tags=TargetTags(required=self.kind in ("classifier", "regressor")),
            classifier_tags=ClassifierTags() if self.kind == "classifier" else None,
            regressor_tags=RegressorTags() if self.kind == "regressor" else None,
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
        )


def check_fitted(estimator):
    """Raise ``NotFittedError`` unless the estimator has been fitted."""
    if not hasattr(estimator, "n_features_in_"):
        raise _same_as_sklearn(NotFittedError)(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with "
            f"appropriate arguments before using this estimator."
        )


def check_features(estimator, X, **options):
    """Check that the estimator is fitted and that ``X`` has its features; return X."""
    check_fitted(estimator)
    _check_names(estimator, X)
    X = check_array(X, **options)
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    return X


class Classifier(Estimator):
    """An estimator whose ``predict`` returns one of ``classes_``."""

    kind = "classifier"

    def score(self, X, y):
        """Return the accuracy: the share of rows of ``X`` whose predicted label equals ``y``."""
        predicted = self.predict(X)
        y = _check_target_shape(y, type(self).__name__)
        _check_target_length(predicted, y)
        return float(np.mean(predicted == y))


class Regressor(Estimator):
    """An estimator whose ``predict`` returns real numbers."""

    kind = "regressor"

    def score(self, X, y):
        """Return R^2 = 1 - sum (y - f(x))^2 / sum (y - mean y)^2.

        If y is constant it is 1 where the predictions are exact, else 0.
        """
        predicted = self.predict(X)
        y = check_targets(y, type(self).__name__)
        _check_target_length(predicted, y)
        with np.errstate(over="ignore", invalid="ignore"):
            residual = np.sum((y - predicted) ** 2)
            total = np.sum((y - y.mean()) ** 2)
            check_result(residual / total if total else 0.0, "y")
        if total == 0:
            return float(residual == 0)
        return float(1 - residual / total)


class Clusterer(Estimator):
    """An estimator that stores the cluster of each training row in ``labels_``."""

    kind = "clusterer"

    def fit_predict(self, X, y=None):
        """Fit and return the labels of the training rows."""
        return self.fit(X, y).labels_


class DensityEstimator(Estimator):
    """An estimator whose ``score_samples`` returns log-densities."""

    kind = "density_estimator"

    def score(self, X, y=None):
        """Return the mean log-density of the rows of ``X`` in nats."""
        return float(np.mean(self.score_samples(X)))


class Transformer(Estimator):
    """An estimator whose ``transform`` maps rows to rows of ``_n_features_out`` numbers."""

    kind = "transformer"

    def fit_transform(self, X, y=None):
        """Fit and return the transformed training rows."""
        return self.fit(X, y).transform(X)

    def set_output(self, *, transform=None):
        """Choose what ``transform`` returns: "default", an array, or "pandas"; return self."""
        if transform is not None:
            check_choice(transform, "transform", ("default", "pandas"))
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns of ``transform``: pca0, pca1, ... for a PCA."""
        self._input_names(input_features)
        name = type(self).__name__.lower()
        return np.array([f"{name}{j}" for j in range(self._n_features_out)], dtype=object)

    def _input_names(self, input_features):
        """Return the names of the columns of X: as given, as in ``fit``, or x0, x1, ..."""
        check_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            numbered = np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)
            return numbered if known is None else known
        names = np.asarray(input_features, dtype=object)
        if known is not None and not np.array_equal(names, known):
            raise ValueError("input_features is not equal to feature_names_in_: leave it out.")
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(names)}"
            )
        return names
