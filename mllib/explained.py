"""Errors in the caller's words: which argument is it, and what should it be?

Functions check what they are given and say what is wrong. Where a call fails all the same in the
words of numpy or Python, its arguments are held against the documentation of the function, and the
first that does not fit is named. That costs nothing where a call succeeds.
"""

import builtins
import collections.abc
import functools
import inspect
import numbers
import opcode
import os
import re
import sys
from types import FunctionType

import numpy as np

__all__ = ["explain_errors"]

_HERE = os.path.join(os.path.dirname(__file__), "")
_TEXTS = "holds texts"
_LARGE = 2**20  # numbers in a result that are looked through for NaN
_FOREIGN = Exception  # that of a compiled library may be of any kind
_LIBRARIES = {"mllib", "numpy", "scipy", "numba", "pandas", *sys.stdlib_module_names}
_RAISE = opcode.opmap["RAISE_VARARGS"]
_SHAPES = re.compile(r"shape|broadcast|dimension|align|length|axis|axes|out of bounds|entries|1-D")
_OFTEN = {"int": 9, "float": 9, "bool": 9, "str": 9}  # as words of the documentation


def explain_errors(names):
    """Let the public functions and methods of a module explain errors; its last line calls this.

    A call that fails in foreign words raises one sentence that names an argument, with the first
    error as its cause. What the library itself raises, and what a function of the caller raises,
    passes as it is; so does an error for which no argument is to blame, which is a defect.

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
            names[name] = _explained(thing, thing.__doc__, names)


def _explain_methods(kind):
    """Do the same for the methods of a class; records have nothing to check."""
    if issubclass(kind, (tuple, Exception)) or hasattr(kind, "__dataclass_fields__"):
        return
    for owner in kind.__mro__:
        if not owner.__module__.startswith("mllib."):
            continue
        names = vars(sys.modules[owner.__module__])
        for name, method in list(vars(owner).items()):
            public = name == "__init__" or not name.startswith("_")
            if public and inspect.isfunction(method) and not hasattr(method, "explains_errors"):
                setattr(owner, name, _explained(method, method.__doc__, names))


def _explained(function, doc, names):
    """Return the function; an error that is not ours is explained before it goes on."""
    foreign, explain, from_outside = _FOREIGN, _explain, _from_outside
    holds_nan, refuse_nan = _holds_nan, _refuse_nan
    watched = "NaN" not in (doc or "")  # where it is documented, it may come out

    def call(*args, **named):
        try:
            result = function(*args, **named)
        except foreign as error:
            if from_outside(2):
                explain(function, doc, names, args, named, error)
            raise
        if watched and from_outside(2) and holds_nan(result):
            refuse_nan(function, args, named)
        return result

    # A function of its own module, so that doctest and pickle find it where it is written.
    scope = function.__globals__
    stub = FunctionType(call.__code__, scope, function.__name__, None, call.__closure__)
    functools.update_wrapper(stub, function).explains_errors = True
    return stub


def _from_outside(depth):
    """Return whether the caller is not the library: the arguments are then those of the user."""
    return not sys._getframe(depth).f_code.co_filename.startswith(_HERE)


def _holds_nan(result, depth=0):
    """Return whether a result, a record, or what a fit has found, holds NaN."""
    if isinstance(result, np.ndarray):
        if result.dtype != np.float64 or not 0 < result.size <= _LARGE:
            return False
        return bool(np.isnan(result.min()))  # the smallest of numbers and NaN is NaN
    if isinstance(result, float):
        return result != result
    if depth < 3 and isinstance(result, (tuple, list)):
        return any(_holds_nan(part, depth + 1) for part in result)
    if depth == 0 and type(result).__module__.startswith("mllib."):
        found = getattr(result, "__dict__", {})
        plain = hasattr(result, "get_params")  # of an estimator only what ``fit`` has found
        return any(_holds_nan(v, 1) for k, v in found.items() if not plain or k.endswith("_"))
    return False


def _refuse_nan(function, args, named):
    """Raise if the result holds NaN because of an argument that is extreme, or negative."""
    parameters = inspect.signature(function).parameters
    given = inspect.signature(function).bind(*args, **named).arguments
    method = given.pop("self", None) is not None
    for find in (_extreme,) if method else (_extreme, _negative):
        for name, value in given.items():
            reason = find(value)
            if value is None and parameters[name].default is not None:
                reason = "must not be None"
            if reason and reason != _TEXTS:
                raise ValueError(f"{name} {reason}: the result would be NaN.")


def _explain(function, doc, names, args, named, error):
    """Raise one sentence that names an argument, if the error is foreign and one is to blame."""
    ours = _is_ours(error)
    if _is_the_callers(error) or (ours and type(error) not in (TypeError, ValueError)):
        return
    parameters = dict(inspect.signature(function).parameters)
    try:
        given = inspect.signature(function).bind(*args, **named).arguments
    except TypeError:
        return  # Python names the argument that is missing or not known
    holder = given.pop("self", None)
    doc = f"{doc or ''}\n\n{type(holder).__doc__ if holder is not None else ''}"
    if hasattr(holder, "get_params") and function.__name__ != "__init__":
        settings = inspect.signature(type(holder).__init__).parameters
        given = holder.get_params(deep=False) | given
        parameters |= {name: settings[name] for name in settings if name not in parameters}
    if ours and _names_one(str(error), parameters):
        return
    fit = holder is not None and function.__name__ != "__init__"
    sentence = _sentence(given, parameters, doc, names, error, fit + (fit and ours))
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


def _sentence(given, parameters, doc, names, error, certain=0):
    """Return what is wrong with the first argument that does not fit; None if all do.

    If ``certain`` the message may stand where nothing is plainly wrong: 1, because an argument or
    a setting is extreme, 2, because one is of another kind than documented.
    """
    kinds, known = _documented(doc), {}
    for name, value in given.items():
        parameter = parameters[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            known[name] = value
            continue
        values = value if parameter.kind is parameter.VAR_POSITIONAL else (value,)
        for one in values:
            default = parameter.default
            if default is parameter.empty or repr(one) != repr(default):
                known[name] = one
                reason = _misfit(one, kinds.get(name, ""), default, names)
                if reason:
                    said = f": {_first_line(error)}" if _is_ours(error) else ""
                    return f"{name} must be {reason}, got {_shown(one)}{said}."
    if certain == 2:  # a setting may go by another name inside
        shown = {name: _shown(value) for name, value in known.items()}
        same = [name for name, text in shown.items() if f"got {text}." in str(error)]
        return f"{same[0]} = {shown[same[0]]} does not do: {_first_line(error)}." if same else None
    for name, value in known.items():
        reason = _extreme(value)
        if reason and not (certain and reason == _TEXTS):
            return f"{name} {reason}: {_first_line(error)}."
    arrays = {name: np.shape(value) for name, value in known.items() if _is_array(value)}
    arrays = {name: shape for name, shape in arrays.items() if shape}
    ours, shapes = _is_ours(error), _SHAPES.search(str(error))
    if not certain and arrays and (shapes or (len(arrays) > 1 and not ours)):
        shapes = ", ".join(f"{name} of shape {shape}" for name, shape in arrays.items())
        return f"The arguments do not go together, {shapes}: {_first_line(error)}."
    for name, value in known.items() if not ours else ():
        plain = name in arrays or (isinstance(value, numbers.Number) and not _is_flag(value))
        if not plain or (name not in kinds and isinstance(error, (TypeError, OverflowError))):
            return f"{name} does not do here, got {_shown(value)}: {_first_line(error)}."
    return None


def _documented(doc):
    """Return what a docstring in numpy's style says of each parameter."""
    kinds = {}
    for names, kind in re.findall(r"^ {4,8}([*\w][\w*, ]*?) : (.+)$", doc or "", re.M):
        for name in names.split(","):
            kinds.setdefault(name.strip().lstrip("*"), kind.strip())
    return kinds


def _misfit(value, kind, default, names):
    """Return what the value should be, in the words of the documentation; None if it may be."""
    wanted = _with_article(kind)
    if value is None:
        return None if default is None or "None" in kind or "optional" in kind else wanted
    if np.ma.is_masked(value) or type(value).__name__ in ("NAType", "NaTType"):
        return wanted
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return wanted
    tests = _tests(kind, default, names)
    if tests:
        return None if any(test(value) for test in tests) else wanted
    if type(value) is type(default):
        return None
    if isinstance(value, (type, dict, str, bytes, collections.abc.Generator)):
        return wanted
    plain = type(value) is object or callable(value)
    return wanted if plain else None


def _with_article(kind):
    """Return "an array of shape (n, d)" for the documentation's "array of shape (n, d)"."""
    kind = kind.removesuffix(", optional") or "what the documentation says"
    if kind.startswith("{"):
        return f"one of {kind}"
    one = re.match(r"(array|int|float|number|bool|callable|str|dict|tuple|list|[A-Z]\w+)\b", kind)
    if not one or kind.startswith("None"):
        return kind
    return f"an {kind}" if kind[0] in "aiAEIO" else f"a {kind}"


def _tests(kind, default, names):
    """Return the tests, one of which a value of this kind passes; none if nothing is known."""
    words, tests = set(re.findall(r"[A-Za-z_]+", kind)), []
    classes = [names.get(word) or getattr(builtins, word, None) for word in words]
    classes = tuple(c for c in classes if inspect.isclass(c) and c.__name__ not in _OFTEN)
    if classes:
        tests.append(lambda v: isinstance(v, classes))
    if words & {"array", "arrays", "matrix", "vector", "rows"}:
        tests.append(_is_array)
    if "int" in words or "float" in words or "number" in words or "ints" in words:
        tests.append(_is_number if "float" in words or "number" in words else _is_whole)
    if "bool" in words or isinstance(default, bool):
        tests.append(lambda v: isinstance(v, (bool, np.bool_)))
    if words & {"classifier", "regressor", "estimator"}:
        tests.append(lambda v: hasattr(v, "fit") and not isinstance(v, type))
    if words & {"callable", "function"}:
        tests.append(lambda v: callable(v) and not isinstance(v, type))
    if "Generator" in words:
        tests.append(lambda v: isinstance(v, np.random.Generator))
    if words & {"sequence", "list", "tuple", "pair", "iterable", "chunks", "lists"}:
        tests.append(lambda v: isinstance(v, collections.abc.Iterable) and not isinstance(v, str))
    if words & {"str", "name", "names", "text", "label"} or "{" in kind:
        tests.append(lambda v: isinstance(v, str))
    if "dict" in words:
        tests.append(lambda v: isinstance(v, dict))
    return tests


def _is_number(value):
    try:
        return isinstance(value, numbers.Real) and not _is_flag(value) and abs(float(value)) >= 0
    except OverflowError:
        return False


def _is_whole(value):
    return isinstance(value, numbers.Integral) and not _is_flag(value) and abs(value) < 2**63


def _is_flag(value):
    return isinstance(value, (bool, np.bool_))


def _is_array(value):
    """Return whether this is an array of numbers or of texts, or a list that is one."""
    if isinstance(value, (str, bytes, dict, type)) or value is None or np.ma.is_masked(value):
        return False
    try:
        a = np.asarray(value)
        return a.dtype.kind in "biufUS" or (a.dtype.kind == "O" and bool(a.astype(float).size))
    except (TypeError, ValueError, OverflowError):
        return False


def _extreme(value):
    """Return what is unusual about an argument of the right kind."""
    if hasattr(value, "_fields"):  # a record
        return None
    if isinstance(value, (numbers.Real, np.ndarray, list, tuple)) and not _is_flag(value):
        try:
            a = np.asarray(value)
        except (ValueError, OverflowError):
            return "has rows of unequal length or numbers beyond float64"
        if a.dtype.kind in "US" and a.ndim:
            return _TEXTS
        if a.dtype.kind in "mM":
            return "holds dates or durations"
        if a.dtype.kind == "O" and not all(isinstance(v, numbers.Real) for v in a.ravel()[:1000]):
            return "holds what is not a number"
        if a.dtype.kind == "c":
            return "holds complex numbers"
        if a.dtype.kind not in "biuf":
            return None
        if a.size == 0:
            return "is empty"
        if not np.isfinite(a).all():
            return "holds NaN or infinity"
        size = np.abs(a.astype(float)).max()
        if size > 1e100 or 0 < size < 1e-100:
            return "is too large" if size > 1 else "is too small"
        if a.ndim == 0 and (a == 0 or a < 0 or a != np.floor(a)):
            return f"= {value!r} does not do here"
    return None


def _negative(value):
    """Return that an array holds negative numbers, of which there may be no logarithm."""
    if not isinstance(value, (np.ndarray, list)):
        return None
    try:
        a = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return None
    return "holds negative numbers" if a.size and (a < 0).any() else None


def _shown(value):
    """Return a value as a message shows it: an array by its shape, the rest on part of a line."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    if isinstance(value, numbers.Integral) and abs(value) >= 2**63:
        return "a whole number of more than 64 bits"
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def _first_line(error):
    """Return what the first error says, without its full stop."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
