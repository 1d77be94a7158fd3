"""Old names: for one version they work, warn, and say what to use instead."""

import warnings
from functools import wraps


def deprecated(instead, gone):
    """Let a function or method warn each time it is called.

    Parameters
    ----------
    instead : str
        What to use, as a caller writes it.
    gone : str
        The version that no longer has the old name.

    Examples
    --------
    >>> @deprecated("mllib.pca.scores", gone="9.0")
    ... def project(x):
    ...     return x
    """

    def mark(function):
        @wraps(function)
        def old(*arguments, **named):
            told = f"{function.__qualname__} goes with mllib {gone}: use {instead}."
            warnings.warn(told, DeprecationWarning, stacklevel=2)
            return function(*arguments, **named)

        old.gone = gone
        return old

    return mark
