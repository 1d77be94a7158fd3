"""Errors in the caller's words: which argument is it, and what should it be?

Functions check what they are given and say what is wrong. Where a call fails all the same in the
words of numpy or Python, its arguments are held against the documentation of the function, and the
first that does not fit is named. A call that succeeds costs one more call of Python, nothing else.
"""

import functools
import inspect
import numbers
import opcode
import os
import re
import sys
from collections.abc import Generator, Iterable
from types import FunctionType

import numpy as np

from mllib.base import _shown

__all__ = ["explain_errors"]

_HERE = os.path.join(os.path.dirname(__file__), "")
_LIBRARIES = {"mllib", "numpy", "scipy", "numba", "pandas", *sys.stdlib_module_names}
_RAISE = opcode.opmap["RAISE_VARARGS"]
_NOT_ABOUT_ARGUMENTS = (MemoryError, OSError, RuntimeError, ImportError)


def explain_errors(names):
    """Let the public functions and methods of a module explain errors; its last line calls this.

    A call that fails in foreign words raises one sentence that names an argument, with the first
    error as its cause. What the library itself raises about an argument, and what a function of the
    caller raises, passes as it is.

    Parameters
    ----------
    names : dict
        ``globals()`` of the module.

    Examples
    --------
    >>> def double(x):
    ...     '''Return 2 x.
    ...
    ...     Parameters
    ...     ----------
    ...     x : array of shape (n,)
    ...     '''
    ...     return 2 * np.asarray(x)
    >>> names = {"__name__": __name__, "__all__": ["double"], "double": double}
    >>> explain_errors(names)
    >>> names["double"](None)
    Traceback (most recent call last):
        ...
    TypeError: x must be an array of shape (n,), got None.
    """
    if names.get("__name__", __name__) not in sys.modules:
        return  # a changed copy of a module, whose errors are looked at as they are
    for name in names["__all__"]:
        thing = names[name]
        if inspect.isclass(thing):
            _explain_methods(thing)
        elif inspect.isfunction(thing) and not hasattr(thing, "__wrapped__"):
            names[name] = _explained(thing)


def _explain_methods(kind):
    """Do the same for the methods of a class; records have nothing to check."""
    if issubclass(kind, (tuple, Exception)) or hasattr(kind, "__dataclass_fields__"):
        return
    estimator = hasattr(kind, "get_params")  # which stores what it is given, and looks at it later
    for owner in kind.__mro__:
        if owner.__module__.startswith("mllib."):
            for name, method in list(vars(owner).items()):
                public = not name.startswith("_") or (name == "__init__" and not estimator)
                if public and inspect.isfunction(method) and not hasattr(method, "explains_errors"):
                    setattr(owner, name, _explained(method))


def _explained(function):
    """Return the function; an error that is not ours is explained before it goes on."""
    explain = _explain

    def call(*args, **named):
        try:
            return function(*args, **named)
        except Exception as error:
            explain(function, args, named, error)
            raise

    # A function of its own module, so that doctest and pickle find it where it is written.
    scope = function.__globals__
    stub = FunctionType(call.__code__, scope, function.__name__, None, call.__closure__)
    functools.update_wrapper(stub, function).explains_errors = True
    return stub


def _explain(function, args, named, error):
    """Raise one sentence that names an argument, if the error is foreign and from outside."""
    if sys._getframe(2).f_code.co_filename.startswith(_HERE):
        return  # the arguments are those of the library: what the user called comes later
    ours = _is_ours(error)
    if _is_the_callers(error) or isinstance(error, _NOT_ABOUT_ARGUMENTS):
        return
    if ours and type(error) not in (TypeError, ValueError):
        return
    parameters = dict(inspect.signature(function).parameters)
    try:
        given = inspect.signature(function).bind(*args, **named).arguments
    except TypeError:
        return  # Python names the argument that is missing or not known
    holder, doc = given.pop("self", None), inspect.cleandoc(function.__doc__ or "")
    if holder is not None:
        doc += f"\n\n{inspect.cleandoc(type(holder).__doc__ or '')}"
    if hasattr(holder, "get_params"):
        settings = inspect.signature(type(holder).__init__).parameters
        given = holder.get_params(deep=False) | given
        parameters |= {name: settings[name] for name in settings if name not in parameters}
    if ours and _names_one(str(error), parameters):
        return
    names = inspect.unwrap(function).__globals__
    sentence = _sentence(given, parameters, _documented(doc), names, error, ours)
    if sentence:
        kind = TypeError if isinstance(error, (TypeError, AttributeError)) else ValueError
        raise kind(sentence) from error


def _names_one(message, given):
    """Return whether a message names an argument, or an entry ``k`` of an argument ``ks``."""
    words = set(re.findall(r"[A-Za-z_]\w*", message))
    return any(name in words or name.removesuffix("s") in words for name in given)


def _is_ours(error):
    """Return whether a raise statement of the library raised this."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return _package(trace) == "mllib" and code.co_code[trace.tb_lasti] == _RAISE


def _is_the_callers(error):
    """Return whether a function of the caller, called by the library, raised this."""
    trace, inside, last = error.__traceback__, False, ""
    while trace is not None:
        last = _package(trace)
        inside = inside or last == "mllib"
        trace = trace.tb_next
    return inside and last not in _LIBRARIES


def _package(trace):
    return trace.tb_frame.f_globals.get("__name__", "").split(".")[0]


# What is wrong with the arguments -----------------------------------------------------------------


def _sentence(given, parameters, kinds, names, error, ours):
    """Return what is wrong, by the first argument that does not fit; None if ours says it best."""
    said, changed = _first_line(error), {}
    for name, value in given.items():
        kind, default = parameters[name].kind, parameters[name].default
        if default is not inspect.Parameter.empty and repr(value) == repr(default):
            continue
        changed[name] = value
        spread = kind is inspect.Parameter.VAR_POSITIONAL
        for one in value if spread else (value,):
            wanted = kinds.get(name, "what the documentation says")
            if kind is not inspect.Parameter.VAR_KEYWORD and not _fits(one, wanted, default, names):
                more = f": {said}" if ours else ""
                return f"{name} must be {_with_article(wanted)}, got {_shown(one)}{more}."
    for name, value in changed.items():
        if ours and f"got {_shown(value)}." in str(error):  # it goes by another name inside
            return f"{name} = {_shown(value)} does not do: {said}."
    for name, value in changed.items():
        reason = _extreme(value)
        if reason:
            return f"{name} {reason}: {said}."
    if ours or not changed:
        return None
    together = ", ".join(f"{name} = {_shown(value):.40}" for name, value in changed.items())
    return f"No result for {together}: {said}."


def _documented(doc):
    """Return what a docstring in numpy's style, without the margin, says of each parameter."""
    kinds = {}
    for names, kind in re.findall(r"^([*\w][\w*, ]*?) : (.+)$", doc, re.M):
        for name in names.split(","):
            kinds.setdefault(name.strip().lstrip("*"), kind.strip())
    return kinds


def _with_article(kind):
    """Return "an array of shape (n, d)" for the documentation's "array of shape (n, d)"."""
    kind = kind.removesuffix(", optional")
    if kind.startswith("{"):
        return f"one of {kind}"
    if not re.match(r"(array|int|float|number|bool|callable|str|dict|tuple|list|[A-Z]\w+)\b", kind):
        return kind
    if kind.startswith("None"):
        return kind
    return f"an {kind}" if kind[0] in "aiAEIO" else f"a {kind}"


def _fits(value, kind, default, names):
    """Return whether the value may be what is meant, in the words of the documentation."""
    if value is None:
        return default is None or "None" in kind or "optional" in kind
    missing = np.ma.is_masked(value) or type(value).__name__ in ("NAType", "NaTType")
    if missing or isinstance(value, (np.datetime64, np.timedelta64)):
        return False
    words = set(re.findall(r"[A-Za-z_]+", kind))
    tests = [test for some, test in _SORTS if words & some]
    tests += [_of(thing) for thing in map(names.get, words) if inspect.isclass(thing)]
    if tests:
        return any(test(value) for test in tests) or ("{" in kind and isinstance(value, str))
    if "{" in kind:
        return isinstance(value, str)
    if isinstance(default, bool):
        return _is_flag(value)
    strange = isinstance(value, (type, dict, str, bytes, Generator)) or callable(value)
    return type(value) is type(default) or not (strange or type(value) is object)


def _of(kind):
    return lambda value: isinstance(value, kind)


def _is_flag(value):
    return isinstance(value, (bool, np.bool_))


def _is_number(value):
    try:
        return isinstance(value, numbers.Real) and not _is_flag(value) and abs(float(value)) >= 0
    except OverflowError:
        return False


def _is_whole(value):
    return isinstance(value, numbers.Integral) and not _is_flag(value) and abs(value) < 2**63


def _is_array(value):
    """Return whether this is an array of numbers or of texts, or a list that is one."""
    if isinstance(value, (str, bytes, dict, type)) or value is None or np.ma.is_masked(value):
        return False
    try:
        a = np.asarray(value)
        return a.dtype.kind in "biufUS" or (a.dtype.kind == "O" and bool(a.astype(float).size))
    except (TypeError, ValueError, OverflowError):
        return False


#: Words of the documentation, and what passes for what they mean.
_SORTS = (
    ({"array", "arrays", "matrix", "vector", "rows"}, _is_array),
    ({"float", "number"}, _is_number),
    ({"int", "ints"}, _is_whole),
    ({"bool"}, _is_flag),
    ({"classifier", "regressor", "estimator"}, lambda v: hasattr(v, "fit") and not callable(v)),
    ({"callable", "function"}, lambda v: callable(v) and not isinstance(v, type)),
    ({"Generator"}, _of(np.random.Generator)),
    ({"str", "name", "names", "text", "label"}, _of(str)),
    ({"dict"}, _of(dict)),
    (
        {"sequence", "list", "tuple", "pair", "iterable", "chunks", "lists", "set"},
        lambda v: isinstance(v, Iterable) and not isinstance(v, str),
    ),
)


def _extreme(value):
    """Return what is unusual about an array of numbers, or a number, of the right kind."""
    plain = isinstance(value, (numbers.Real, np.ndarray, list, tuple))  # no table, no record
    if not plain or not _is_array(value) or np.asarray(value).dtype.kind in "USO":
        return None
    a = np.asarray(value, dtype=float)
    if a.size == 0:
        return "is empty"
    if not np.isfinite(a).all():
        return "holds NaN or infinity"
    size = np.abs(a).max()
    if size > 1e100 or 0 < size < 1e-100:
        return "is too large" if size > 1 else "is too small"
    return None


def _first_line(error):
    """Return what the first error says, without its full stop."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
