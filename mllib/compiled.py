"""Plain loops at the speed of compiled code: one decorator, and numba where it is installed.

Some algorithms are loops, and numpy cannot express them. They are written as the textbook has them,
and ``@compiled`` lets numba translate them (``pip install 'mllib[fast]'``). Without numba the same
Python function runs: slower, with the same result. Reference: Lam, Pitrou and Seibert (2015),
LLVM-HPC '15, article 7.

What a loop has to keep to, so that both ways agree:

- Its arrays hold float64, int64 or bool: narrower numbers are summed differently by Python and by
  compiled code. Every check stands before the loop: inside, a read past the end of an array is not
  noticed, whole numbers wrap around, and a division by zero raises.
- Its callees among the compiled functions, and the constants it reads, stand in its own file: the
  cache on disk notices an edit of that file and of no other.
- It sums by loops: ``x.sum()`` adds in an order of its own, and the last digit may differ.
- The innermost index runs over the last axis, along which neighbours lie side by side.
"""

import inspect
import os
import threading
import warnings
from contextlib import contextmanager
from functools import update_wrapper
from pickle import UnpicklingError
from types import FunctionType

import numpy as np

__all__ = ["compiled", "compiling", "uncompiled"]

#: The oldest numba that knows the versions of Python and numpy that mllib needs.
OLDEST = (0, 61)

_KINDS = frozenset(np.dtype(kind) for kind in (np.float64, np.int64, np.bool_))
_lock = threading.RLock()
_modules = {}  # id of a module's names -> (these names, {name: loop})
_switch = os.environ.get("MLLIB_COMPILE", "1") != "0"
_numba = None  # not looked for yet; afterwards the module, or False


def compiled(function=None, *, also=()):
    """Mark a loop: where numba is installed, its first call compiles it; else it runs as it is.

    Parameters
    ----------
    function : function at the top of a module
        Takes arrays of float64, int64 and bool, and numbers. It may call other compiled functions
        of its file, and itself. An array that is not contiguous is copied first, and what the loop
        has written into the copy is copied back.
    also : tuple of str
        Further kinds of arrays for this loop, such as "uint8"; the loop must convert what it reads
        from them (``int(b[i])``) before it computes.

    Returns
    -------
    function
        With the name, the signature, the documentation and the source of the one given.

    Raises
    ------
    TypeError
        If the function stands inside another one and uses its names; when it is called, if an
        array holds numbers of another kind.

    Notes
    -----
    Neither a decorated function nor its module loads numba until the first call. The compiled code
    is kept on disk beside the source, or in the user's cache where that place is read-only; if
    neither can be written, each process compiles anew. ``MLLIB_COMPILE=0`` in the environment turns
    compilation off, and so does :func:`uncompiled` for a while.

    Examples
    --------
    >>> import numpy as np
    >>> @compiled
    ... def total(x):
    ...     s = 0.0
    ...     for i in range(len(x)):
    ...         s += x[i]
    ...     return s
    >>> float(total(np.array([1.0, 2.0, 4.0])))
    7.0
    """
    if function is None:
        return lambda function: compiled(function, also=also)
    if function.__closure__:
        raise TypeError(f"{function.__name__} uses names of the function around it: move it out.")
    loop = _Loop(function, also)
    with _lock:
        scope = function.__globals__
        loops = _modules.setdefault(id(scope), (scope, {}))[1]
        loops[function.__name__] = loop
        for other in loops.values():  # they may call the new one
            other.fast = None

    def call(*args, **named):
        return loop(args, named)

    # A function of its own module, so that doctest and pickle find it where it is written.
    stub = FunctionType(call.__code__, scope, function.__name__, None, call.__closure__)
    return update_wrapper(stub, function)


def compiling():
    """Return whether compiled functions are compiled here: numba works and is not turned off."""
    return _switch and bool(_load())


@contextmanager
def uncompiled():
    """Run compiled functions as plain Python inside a ``with`` block, in every thread.

    Examples
    --------
    >>> with uncompiled():
    ...     compiling()
    False
    """
    global _switch
    before, _switch = _switch, False
    try:
        yield
    finally:
        _switch = before


class _Loop:
    """One decorated function: how it is called, as it is or compiled."""

    def __init__(self, function, also):
        self.function = function
        self.kinds = _KINDS | {np.dtype(kind) for kind in also}
        self.signature = inspect.signature(function)
        self.defaults = function.__defaults__ or ()
        self.fast = None  # what numba made of it

    def __call__(self, args, named):
        missing = len(self.signature.parameters) - len(args)
        if not named and 0 < missing <= len(self.defaults):
            args += self.defaults[-missing:]
        elif named or missing:
            bound = self.signature.bind(*args, **named)
            bound.apply_defaults()
            args = bound.args
        for a in args:
            if isinstance(a, np.ndarray) and (
                a.dtype not in self.kinds or not a.flags.c_contiguous
            ):
                return self._call_contiguous(args)
        return self._call(args)

    def _call_contiguous(self, args):
        """Call with contiguous copies, and bring back what was written into them."""
        copies = list(args)
        for i, (name, a) in enumerate(zip(self.signature.parameters, args)):
            if isinstance(a, np.ndarray):
                if a.dtype not in self.kinds:
                    kinds = ", ".join(sorted(kind.name for kind in self.kinds))
                    raise TypeError(
                        f"{self.function.__name__} takes arrays of {kinds}; {name} is an array of "
                        f"{a.dtype}: convert it first."
                    )
                copies[i] = np.ascontiguousarray(a)
        result = self._call(copies)
        for a, copy in zip(args, copies):
            if copy is not a and a.flags.writeable:
                a[...] = copy
        return result

    def _call(self, args):
        fast = (self.fast or self._compile()) if _switch else None
        if not fast:
            return self.function(*args)
        try:
            return fast(*args)
        except (OSError, EOFError, ImportError, UnpicklingError):  # the cache, not the loop
            return self._compile(cache=False)(*args)
        except _numba.core.errors.NumbaError as error:
            result = self.function(*args)
            first = str(error).strip().splitlines()[0]
            warnings.warn(
                f"numba cannot compile {self.function.__name__}, which runs uncompiled and slower "
                f"({type(error).__name__}: {first}).",
                RuntimeWarning,
                stacklevel=3,
            )
            return result

    def _compile(self, cache=True):
        """Hand the loops of this module to numba, which translates each at its first call."""
        with _lock:
            numba = _load()
            if not numba or (self.fast and cache):
                return self.fast
            names, loops = _modules[id(self.function.__globals__)]
            scope = dict(names)  # in which loops see each other as numba's, and constants as now
            for name, loop in loops.items():
                f = loop.function
                twin = update_wrapper(FunctionType(f.__code__, scope, name, f.__defaults__), f)
                del twin.__wrapped__
                scope[name] = _njit(numba, twin, cache)
            for name, loop in loops.items():
                loop.fast = scope[name]
            return self.fast


def _njit(numba, function, cache):
    """Return numba's version, kept on disk where a place for it can be written."""
    try:
        return numba.njit(function, cache=cache, nogil=True)
    except (RuntimeError, OSError):
        return numba.njit(function, nogil=True)


def _load():
    """Return numba, or False if it is missing or, with one warning, if it does not work."""
    global _numba
    if _numba is None:
        with _lock:
            if _numba is None:
                _numba = _import()
    return _numba


def _import():
    try:
        import numba

        version = tuple(int(part) for part in numba.__version__.split(".")[:2])
        if version < OLDEST:
            raise ImportError(f"version {numba.__version__} is older than {OLDEST[0]}.{OLDEST[1]}")
        numba.njit, numba.core.errors.NumbaError  # noqa: B018
        return numba
    except ModuleNotFoundError as error:
        if error.name == "numba":
            return False
        reason = error
    except Exception as error:
        reason = error
    warnings.warn(
        f"numba is installed but cannot be used ({reason}): the loops of mllib run uncompiled and "
        f"slower. Mend it with pip install 'mllib[fast]'.",
        RuntimeWarning,
        stacklevel=2,
    )
    return False
