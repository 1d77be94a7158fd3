"""Code with one fault put in on purpose: what the exercises called *Break it* run."""

import inspect
import re
from types import ModuleType

__all__ = ["broken"]


def broken(module, old, new):
    """Return a copy of a module in whose source the first ``old`` is replaced by ``new``.

    The copy is apart from the module, which stays as it is, and its loops run uncompiled, so that
    a fault cannot read past the end of an array.

    Parameters
    ----------
    module : module
    old, new : str; code as it is written in the module, and what stands there instead

    Examples
    --------
    >>> from mllib import perceptron as module
    >>> copy = broken(module, "y[i] * score <= 0", "y[i] * score < 0")  # a score of 0 is right
    >>> copy.perceptron([[1.0], [-1.0]], [1, -1]).mistakes
    array([0])
    >>> module.perceptron([[1.0], [-1.0]], [1, -1]).mistakes
    array([1, 0])
    """
    source = inspect.getsource(module)
    if old not in source:
        raise ValueError(f"old does not stand in {module.__name__}: {old!r}.")
    source = re.sub(r"^@compiled(\(.*\))?\n", "", source, flags=re.M)
    copy = ModuleType(f"{module.__name__} (broken)")
    exec(compile(source.replace(old, new, 1), copy.__name__, "exec"), vars(copy))
    return copy
