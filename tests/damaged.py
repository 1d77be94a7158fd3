"""Calls of the library with one argument damaged: what does the caller get to read?

The calls are those of the doctests. ``python tests/damaged.py`` damages all of them in every way
and prints a table of the outcomes; ``--list own`` prints the cases of one kind, ``--seed 3 --calls
2000`` takes a sample, as ``tests/test_damaged.py`` does.
"""

import argparse
import copy
import dataclasses
import doctest
import importlib
import inspect
import io
import opcode
import os
import pickle
import pkgutil
import re
import signal
import sys
import types
import warnings
from collections import Counter
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pandas as pd

import mllib

LIBRARY = str(Path(mllib.__file__).parent)
#: The outcomes, from best to worst.
OUTCOMES = ("fine", "told", "named", "unnamed", "own", "deep", "nan")
SENTENCES = {
    "fine": "a result",
    "told": "NaN, of which the documentation tells",
    "named": "one sentence of ours that names the argument",
    "unnamed": "a sentence of ours that does not name it",
    "own": "numpy's or Python's own words",
    "deep": "something deep",
    "nan": "NaN",
}
#: Modules beneath those of the chapters.
BENEATH = ("base", "chunks", "compiled", "explained", "numerics")
#: Compiled loops that a page prints as they are: their checks stand in the function before them.
LOOPS = {"updated", "merge_closest", "nearest_neighbour_chain", "minimum_spanning_tree"}


@dataclasses.dataclass
class Call:
    """One call as a doctest made it: the function, or the method with its object, by name."""

    name: str
    target: object
    owner: object  # a class: a new object is made by the call; None for functions
    instance: object
    arguments: dict

    def run(self, arguments):
        """Call with these arguments, by name where that is possible."""
        positional, named = [], {}
        parameters = inspect.signature(self.target).parameters
        several = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
        for key, parameter in parameters.items():
            if key == "self" or key not in arguments:
                continue
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += arguments[key]
            elif parameter.kind is parameter.VAR_KEYWORD:
                named |= arguments[key]
            elif parameter.kind is parameter.POSITIONAL_ONLY or (several and not named):
                positional.append(arguments[key])
            else:
                named[key] = arguments[key]
        if self.instance is None:
            return (self.owner or self.target)(*positional, **named)
        return self.target(self.instance, *positional, **named)


# Recording -----------------------------------------------------------------------------------


def modules():
    """Return the modules of the chapters; what lies beneath them is given checked arrays."""
    return [
        importlib.import_module(f"mllib.{info.name}")
        for info in pkgutil.iter_modules(mllib.__path__)
        if not info.ispkg and info.name not in BENEATH
    ]


def public():
    """Return (module, name, thing) for everything that a module of the library offers."""
    return [(m, name, getattr(m, name)) for m in modules() for name in m.__all__]


def is_record(thing):
    """Whether a class only holds what a function found."""
    return dataclasses.is_dataclass(thing) or issubclass(thing, (tuple, Exception))


@contextmanager
def recording(calls, limit):
    """Note the arguments of the first calls of everything public that can be called."""
    places, made = [], {}
    for module, name, thing in public():
        if inspect.isclass(thing):
            for key, method in inspect.getmembers(thing, inspect.isfunction):
                if is_record(thing):
                    continue
                if key == "__init__" or not key.startswith("_"):
                    label = f"{module.__name__[6:]}.{name}.{key}"
                    owner = thing if key == "__init__" else None
                    wrapped = note(label, method, calls, limit, owner, True)
                    places.append((thing, key, vars(thing).get(key)))
                    setattr(thing, key, wrapped)
        elif callable(thing) and name not in LOOPS:
            made[id(thing)] = (thing, note(f"{module.__name__[6:]}.{name}", thing, calls, limit))
    for module in modules():
        for name, thing in list(vars(module).items()):
            if id(thing) in made and not name.startswith("_"):
                places.append((module, name, thing))
                setattr(module, name, made[id(thing)][1])
    try:
        yield
    finally:
        for place, name, thing in places:
            if thing is None:
                delattr(place, name)
            else:
                setattr(place, name, thing)


def note(label, target, calls, limit, owner=None, method=False):
    """Return the function, writing down what it is given before it runs."""
    signature = inspect.signature(target)

    def noted(*args, **named):
        if len(calls.setdefault(label, [])) < limit:
            try:
                given = dict(signature.bind(*args, **named).arguments)
                instance = given.pop("self") if method else None
                instance = None if owner else copy.deepcopy(instance)
                if owner is None or type(args[0]) is owner:
                    kept = copy.deepcopy(given)
                    calls[label].append(Call(label, target, owner, instance, kept))
            except (TypeError, AttributeError, RecursionError):
                pass  # an iterator that can be read only once, or a call that must fail
        return target(*args, **named)

    noted.__signature__, noted.__doc__ = signature, target.__doc__
    noted.__name__, noted.__module__ = target.__name__, target.__module__
    noted.__wrapped__ = target
    return noted


def recorded(limit=1, among=None):
    """Run the doctests of modules and return the calls they make that succeed again."""
    calls = {}
    with recording(calls, limit), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = doctest.DocTestRunner(verbose=False)
        for module in modules() if among is None else among:
            for test in doctest.DocTestFinder(exclude_empty=True).find(module):
                with redirect_stdout(io.StringIO()):
                    runner.run(test, out=lambda text: None, clear_globs=True)
    good = []
    for label in sorted(calls):
        for call in calls[label]:
            if outcome(call, copy.deepcopy(call), None)[0] in ("fine", "told", "nan"):
                good.append(call)
    return good


# Damage --------------------------------------------------------------------------------------


def entry(value):
    """Damage one entry of an array of numbers."""

    def damage(a):
        b = np.array(a, dtype=np.float64)
        if b.size:
            b.flat[b.size // 2] = value
        return b

    return damage


def as_objects(value):
    """Damage one entry of an array of objects."""

    def damage(a):
        b = np.array(a, dtype=object)
        if b.size:
            b.flat[b.size // 2] = value
        return b

    return damage


def ragged(a):
    rows = np.asarray(a).tolist()
    rows[-1] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0] if not isinstance(rows[-1], str) else ["a", "b"]
    return rows


def masked(a):
    b = np.ma.masked_array(np.array(a))
    b[0] = np.ma.masked
    return b


ARRAYS = {
    "NaN in it": entry(np.nan),
    "infinity in it": entry(np.inf),
    "minus infinity in it": entry(-np.inf),
    "huge": lambda a: np.array(a, dtype=float) * 1e300,
    "tiny": lambda a: np.array(a, dtype=float) * 1e-160,
    "negative": lambda a: -np.abs(np.array(a, dtype=float)) - 1,
    "zero": lambda a: np.zeros_like(np.array(a, dtype=float)),
    "constant far away": lambda a: np.full(np.shape(a), 1e9),
    "empty": lambda a: np.zeros((0,) + np.shape(a)[1:]),
    "no columns": lambda a: np.zeros(np.shape(a)[:1] + (0,)),
    "empty list": lambda a: [],
    "one row less": lambda a: np.array(a)[:-1],
    "one row": lambda a: np.array(a)[:1],
    "one row more": lambda a: np.concatenate([np.array(a), np.array(a)[:1]]),
    "one axis more": lambda a: np.array(a)[None],
    "one axis more, last": lambda a: np.array(a)[..., None],
    "flat": lambda a: np.ravel(a),
    "one number": lambda a: 0.5,
    "ragged": ragged,
    "objects": lambda a: np.array(a, dtype=object),
    "a None in it": as_objects(None),
    "pandas' NA in it": as_objects(pd.NA),
    "10**400 in it": as_objects(10**400),
    "a list in it": as_objects([1.0, 2.0]),
    "a text in it": as_objects("red"),
    "texts": lambda a: np.full(np.shape(a), "red"),
    "texts of numbers": lambda a: np.array(a).astype(str),
    "bytes": lambda a: np.full(np.shape(a), b"red"),
    "complex": lambda a: np.array(a) + 1j,
    "booleans": lambda a: np.array(a).astype(bool),
    "unsigned": lambda a: np.abs(np.array(a, dtype=float)).astype(np.uint64),
    "small integers": lambda a: np.array(a, dtype=float).astype(np.int8),
    "single precision": lambda a: np.array(a, dtype=np.float32),
    "masked": masked,
    "times": lambda a: np.full(np.shape(a), np.datetime64("2024-01-01", "ns")),
    "NaT": lambda a: np.full(np.shape(a), np.datetime64("NaT", "ns")),
    "durations": lambda a: np.full(np.shape(a), np.timedelta64("NaT", "s")),
    "None": lambda a: None,
    "a text": lambda a: "red",
    "a dictionary": lambda a: {"a": 1},
    "an object": lambda a: object(),
    "a class": lambda a: int,
    "a generator": lambda a: (v for v in np.array(a).tolist()),
    "a table with a text": lambda a: pd.DataFrame({"a": ["red"] * max(1, len(np.array(a)))}),
    "a table with NA": lambda a: (
        pd.DataFrame(np.array(a)).astype(object).where(lambda t: False, pd.NA)
    ),
}
NUMBERS = {
    "zero": lambda v: 0,
    "minus one": lambda v: -1,
    "minus a half": lambda v: -0.5,
    "a half": lambda v: 0.5,
    "two": lambda v: 2,
    "ten": lambda v: 10,
    "NaN": lambda v: np.nan,
    "infinity": lambda v: np.inf,
    "minus infinity": lambda v: -np.inf,
    "1e-200": lambda v: 1e-200,
    "1e-320": lambda v: 5e-320,
    "1e200": lambda v: 1e200,
    "10**400": lambda v: 10**400,
    "-10**400": lambda v: -(10**400),
    "True": lambda v: True,
    "numpy's False": lambda v: np.False_,
    "complex": lambda v: 1j,
    "None": lambda v: None,
    "a text": lambda v: "red",
    "a number as text": lambda v: "1",
    "a list": lambda v: [1.0, 2.0],
    "an array": lambda v: np.array([1.0, 2.0]),
    "an empty array": lambda v: np.array([]),
    "masked": lambda v: np.ma.masked,
    "NaT": lambda v: np.datetime64("NaT", "s"),
    "pandas' NA": lambda v: pd.NA,
    "an object": lambda v: object(),
    "a class": lambda v: float,
    "a function": lambda v: abs,
}
FLAGS = {
    "two": lambda v: 2,
    "one": lambda v: 1,
    "NaN": lambda v: np.nan,
    "None": lambda v: None,
    "a text": lambda v: "yes",
    "an empty text": lambda v: "",
    "a list": lambda v: [],
    "an array": lambda v: np.array([True, False]),
    "pandas' NA": lambda v: pd.NA,
    "an object": lambda v: object(),
}
NAMES = {
    "another name": lambda v: "nonsense",
    "an empty name": lambda v: "",
    "capitals": lambda v: v.upper() if v.upper() != v else v.lower() + "x",
    "a number": lambda v: 3,
    "NaN": lambda v: np.nan,
    "None": lambda v: None,
    "True": lambda v: True,
    "a list": lambda v: [v],
    "an array": lambda v: np.array([v, v]),
    "bytes": lambda v: v.encode(),
    "pandas' NA": lambda v: pd.NA,
    "an object": lambda v: object(),
}
OTHERS = {
    "None": lambda v: None,
    "a number": lambda v: 3,
    "a negative number": lambda v: -1.5,
    "NaN": lambda v: np.nan,
    "10**400": lambda v: 10**400,
    "a text": lambda v: "nonsense",
    "an empty list": lambda v: [],
    "a list": lambda v: [1.0, 2.0],
    "an array": lambda v: np.array([[1.0, 2.0], [3.0, 4.0]]),
    "a dictionary": lambda v: {"a": 1},
    "an object": lambda v: object(),
    "a class": lambda v: int,
    "pandas' NA": lambda v: pd.NA,
    "True": lambda v: True,
}
FUNCTIONS = OTHERS | {
    "a function of nothing": lambda v: lambda: 0.0,
    "one that returns None": lambda v: lambda *a, **k: None,
    "one that returns NaN": lambda v: lambda *a, **k: np.nan,
    "one that returns a text": lambda v: lambda *a, **k: "red",
    "one that returns a long array": lambda v: lambda *a, **k: np.ones(17),
}


def is_array(value):
    """Whether a value is an array, or a list that is one."""
    if isinstance(value, np.ndarray):
        return True
    if not isinstance(value, (list, tuple)) or hasattr(value, "_fields") or not value:
        return False
    try:
        return np.asarray(value).dtype.kind in "biufUS"
    except ValueError:
        return False


def damages(value):
    """Return the ways to damage a value of this kind."""
    if isinstance(value, (bool, np.bool_)):
        return FLAGS
    if isinstance(value, (int, float, np.number)):
        return NUMBERS
    if isinstance(value, str):
        return NAMES
    if is_array(value):
        return ARRAYS
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)):
        return FUNCTIONS
    return OTHERS


def arguments_of(call):
    """Return the arguments that can be damaged: those given, and those left at their defaults."""
    found = dict(call.arguments)
    for key, parameter in inspect.signature(call.target).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            found.pop(key, None)  # what cannot be spread does not reach the function
            continue
        if key != "self" and key not in found and parameter.default is not parameter.empty:
            found[key] = parameter.default
    return found


def cases(calls):
    """Return every (call, argument, damage)."""
    found = []
    for call in calls:
        for key, value in arguments_of(call).items():
            if isinstance(value, np.random.Generator):
                ways = OTHERS
            else:
                ways = damages(value)
            found += [(call, key, way) for way in ways]
            if call.owner is not None and hasattr(call.owner, "fit"):
                continue
    return found


# Outcomes ------------------------------------------------------------------------------------


class Slow(BaseException):
    """A call that takes too long."""


def holds_nan(value, depth=0):
    """Whether a result has NaN somewhere in it."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc" and bool(np.isnan(value).any())
    if isinstance(value, (float, np.floating, complex)):
        return bool(value != value)
    if depth > 3:
        return False
    if isinstance(value, dict):
        return any(holds_nan(v, depth + 1) for v in value.values())
    if isinstance(value, (tuple, list)):
        return any(holds_nan(v, depth + 1) for v in value)
    if dataclasses.is_dataclass(value) or type(value).__module__.startswith("mllib."):
        found, fits = getattr(value, "__dict__", {}), hasattr(value, "fit")
        return any(holds_nan(v, depth + 1) for k, v in found.items() if not fits or k[-1] == "_")
    return False


def outcome(call, fresh, key, way=None, seconds=10):
    """Run a fresh copy of a call with one damaged argument; return (outcome, what was said)."""
    arguments = fresh.arguments
    if way is not None:
        value = arguments_of(fresh)[key]
        try:
            arguments[key] = damages(value)[way](value)
        except (TypeError, ValueError, AttributeError, IndexError):
            return "none", "no such damage"

    def stop(number, frame):
        raise Slow

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of the processor, which others use too
    try:
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            result = fresh.run(arguments)
            if fresh.owner and hasattr(fresh.owner, "fit") and way is not None:
                result = fitted(fresh, result)
            if inspect.isgenerator(result):
                result = list(result)
        stored = fresh.owner is not None and not hasattr(fresh.owner, "fit")
        if not holds_nan(result) or stored:
            return "fine", ""
        return ("told" if "NaN" in (fresh.target.__doc__ or "") else "nan"), ""
    except Slow:
        return "deep", f"more than {seconds} s"
    except Exception as error:
        settings = vars(fresh.instance) if hasattr(fresh.instance, "fit") else ()
        known = inspect.signature(fresh.target).parameters
        return judge(error, {*arguments, *known, *settings, key} - {"self"})
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def fitted(call, estimator):
    """Fit an estimator made with a damaged hyperparameter to data that suit its kind."""
    for other in FITS.get(call.name.rsplit(".", 1)[0], []):
        fresh = copy.deepcopy(other)
        return fresh.target(estimator, **fresh.arguments)
    return estimator


FITS = {}


def judge(error, names):
    """Classify what was raised; where two arguments disagree, either may be named."""
    said, where, trace = f"{type(error).__name__}: {error}", "", error.__traceback__
    while trace is not None:
        code, place = trace.tb_frame.f_code, trace.tb_lasti
        ours = code.co_filename.startswith(LIBRARY)
        where = f" [{Path(code.co_filename).name}:{trace.tb_lineno}]" if ours else where
        trace = trace.tb_next
    ours = ours and code.co_code[place] == opcode.opmap["RAISE_VARARGS"]
    if not isinstance(error, (ValueError, TypeError)) or isinstance(error, np.linalg.LinAlgError):
        return "deep", said + where
    if not ours:
        return "own", said + where
    words = set(re.findall(r"[A-Za-z_]\w*", str(error)))
    named = any(name in words or name.removesuffix("s") in words for name in names)
    return ("named" if named else "unnamed"), said + where


#: Cases that do not end as they should, with the reason; patterns of "function(argument: way)".
REGISTER = {
    "linear_algebra.numeric_*(x: one *": "the caller's own function fails at that point",
    "optimization.gradient_descent(*: a function of nothing)": "Python's words on that function",
    "concentration.chernoff_bound(t: 1e-200)": "the caller's own function overflows",
    "optimization.gradient_descent(*: a class)": "int is a function too, but not of an array",
    "*(*: one that returns NaN)": "what the caller's function returns is what comes out",
    "nearest_neighbours.*.predict*(X: huge)": "the distances overflow, and the sentence names them",
    "forests.StackingClassifier.*(X: huge)": "the same: nearest neighbours are among its models",
    "forests.grow_forest(w: constant far away)": "weights of 1e9 ask for so many draws, of memory",
    "support_vector_machines.HardMarginSVM.fit(X: *": "about the classes: there is no margin",
    "k_means.k_means_over_chunks(chunks: *": "the rows of all chunks are what is named X",
    "kernels.gram(Z: a list)": "the kernel is the caller's, and names its second argument Y",
    "gaussian_processes.rbf_evidence(D: negative)": "K, made from D, is no covariance, as it says",
    "*HMM.__init__(n_components: ten)": "more states than rows: it asks for rows",
}


def registered(row):
    """Whether a case stands in the register."""
    _, name, key, way, _ = row
    return any(fnmatch(f"{name}({key}: {way})", pattern) for pattern in REGISTER)


def survey(chosen, seconds=10, show=()):
    """Return [(outcome, name, argument, way, what was said)]; a call may end its process."""
    rows, done = [], 0
    while done < len(chosen):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            with os.fdopen(write, "wb") as pipe:
                for call, key, way in chosen[done:]:
                    pickle.dump(outcome(call, copy.deepcopy(call), key, way, seconds), pipe)
                    pipe.flush()
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            while done < len(chosen):
                call, key, way = chosen[done]
                try:
                    kind, said = pickle.load(pipe)
                except EOFError:
                    kind, said = "deep", "the process died"
                done += 1
                if kind != "none":
                    rows.append((kind, call.name, key, way, said))
                if kind in show:
                    print(f"{kind:8} {call.name}({key}: {way}): {said[:300]}", flush=True)
                if said == "the process died":
                    break
        os.waitpid(child, 0)
    return rows


def prepare(limit=1, among=None):
    """Record the calls, and remember for each estimator the data its doctest fits."""
    calls = recorded(limit, among)
    for call in calls:
        if call.name.endswith(".fit"):
            FITS.setdefault(call.name.rsplit(".", 1)[0], []).append(call)
    return calls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int, default=0, help="a sample of so many, 0 for all")
    parser.add_argument("--only", default="", help="names that hold this text")
    parser.add_argument("--list", default="", help="outcomes to print, e.g. own,deep")
    parser.add_argument("--part", default="0/1", help="every n-th case from the k-th: k/n")
    args = parser.parse_args()
    chosen = cases([call for call in prepare() if args.only in call.name])
    if args.calls:
        picked = np.random.default_rng(args.seed).permutation(len(chosen))[: args.calls]
        chosen = [chosen[i] for i in picked]
    part, parts = map(int, args.part.split("/"))
    rows = survey(chosen[part::parts], show=args.list.split(","))
    counts = Counter(kind for kind, *_ in rows)
    for kind in OUTCOMES:
        print(f"{counts[kind]:7}  {SENTENCES[kind]}")


if __name__ == "__main__":
    sys.exit(main())
