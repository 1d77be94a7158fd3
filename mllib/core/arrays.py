"""Checks of arrays at the door: shape, type, length and finiteness, named in one sentence.

After these, code trusts its input.
"""

import datetime
import numbers
import warnings

import numpy as np

from mllib.core.errors import DataConversionWarning, caller_of_the_library, same_as_sklearn
from mllib.core.scalars import check_choice, check_scalar

__all__ = [
    "as_array",
    "as_float",
    "check_X_y",
    "check_array",
    "check_distribution",
    "check_kernel_values",
    "check_labels",
    "check_lengths",
    "check_result",
    "check_sample_weight",
    "check_signs",
    "check_size",
    "check_square",
    "check_target_length",
    "check_target_shape",
    "check_targets",
    "check_vector",
    "check_weighted_X_y",
    "class_factors",
]

_BLOCK = 2**15  # entries that are checked at a time, while they are in the cache


def as_array(a, name):
    """Return ``a`` as an array of any type; masks and nested lists of unequal lengths are refused.

    A table is laid out row by row, and an array that begins in the middle of a number's bytes, as
    one that came over a wire may, is copied: so results are the same, to the last bit, as for any
    other array of its values.
    """
    if np.ma.is_masked(a):
        raise ValueError(
            f"{name} has masked entries, and a mask would be ignored: remove them or fill them in."
        )
    try:
        laid = np.asarray(a, order="C" if hasattr(a, "columns") else None)
        return laid if laid.flags.aligned else laid.copy()
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be an array: give all its rows one length.") from error


def as_float(X, name):
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


def check_array(X, name="X", *, min_samples=1, finite=True, any_size=False):
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
    X = as_float(X, name)
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
    if finite and any_size:
        _check_finite(X, name)
    return check_size(X, name) if finite and not any_size else X


def check_vector(v, name, *, length=None, finite=True):
    """Return ``v`` as a float64 vector of shape (length,), or say what is wrong with it."""
    v = as_float(v, name)
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


def check_size(X, name="X"):
    """Return X if it is finite and its squares neither overflow nor underflow, entry by entry."""
    entries = X.ravel(order="K")
    for start in range(0, entries.size, _BLOCK):
        block = entries[start : start + _BLOCK]
        with np.errstate(over="ignore", invalid="ignore"):
            small = block @ block <= 1e300  # then each entry is at most 1e150, and none is NaN
        size = np.abs(block)
        tiny = size.min() < 1e-150 and ((size < 1e-150) != (size == 0)).any()
        if tiny or not (small or size.max() <= 1e150):
            _check_finite(X, name)
            bad = (size > 1e150) | ((size < 1e-150) & (size > 0))
            raise ValueError(
                f"{name} holds {block[bad][0]:.3g}, but entries must be 0 or between 1e-150 and "
                f"1e150 in size: divide by a unit."
            )
    return X


def check_square(A, name, *, size=None, symmetric=False):
    """Return ``A`` as a float64 square matrix, symmetric up to rounding where asked."""
    A = check_array(A, name, any_size=True)
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
        K = as_float(kernel(X, Y), "kernel(X, Y)")
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
    p = as_float(p, name)
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


def check_target_length(X, y):
    if y.shape[0] != X.shape[0]:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has "
            f"{X.shape[0]} rows, y has {y.shape[0]} entries."
        )


def check_target_shape(y, estimator):
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
            same_as_sklearn(DataConversionWarning),
            stacklevel=caller_of_the_library(),
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
    y = check_target_shape(y, estimator)
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
    y = as_float(check_target_shape(y, estimator), "y")
    _check_finite(y, "y")
    return check_size(y, "y")


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
    check_target_length(X, index)
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
