"""Errors and warnings, and whose line a warning names."""

import sys
import warnings

__all__ = [
    "ConvergenceWarning",
    "DataConversionWarning",
    "NotFittedError",
    "caller_of_the_library",
    "convergence_warning",
    "same_as_sklearn",
]


class NotFittedError(ValueError, AttributeError):
    """Raised when an estimator is used before ``fit``."""


class ConvergenceWarning(UserWarning):
    """Issued when an iteration stops at ``max_iter`` before its criterion is met."""


class DataConversionWarning(UserWarning):
    """Issued when an input is reshaped to what the estimator expects."""


def same_as_sklearn(ours):
    """Return scikit-learn's class of the same name if scikit-learn is already loaded."""
    exceptions = sys.modules.get("sklearn.exceptions")
    return getattr(exceptions, ours.__name__, ours)


def convergence_warning(message):
    """Warn that an iteration ran out; ``message`` states the achieved gap and the tolerance."""
    kind = same_as_sklearn(ConvergenceWarning)
    warnings.warn(message, kind, stacklevel=caller_of_the_library())


def caller_of_the_library():
    """Return the ``stacklevel`` at which a warning of our caller names the user's own line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("mllib."):
        frame, level = frame.f_back, level + 1
    return level
