"""Run the cells of a chapter with other code in the place of the library's: what grading does.

Cells run in a process of their own, which ends whatever the code in it does: a watch ends a call
that goes on without end, and what the code prints goes nowhere.
"""

import ast
import contextlib
import copy
import functools
import importlib
import inspect
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from typing import NamedTuple

import numpy as np

from mllib.course import claims
from mllib.course.page import names, needed, page

__all__ = ["Outcome", "apart", "check", "place"]

#: Seconds of computing, so that a busy machine refuses nothing: a call of a student's function
#: (more where the library's takes long), a cell; and by the clock, the whole.
CALL, CELL, WHOLE = 3, 90, 240
BUDGET = 1.0  # for the comparison with the library
ALONE = False  # whether this process has nothing to do but grade, and may end itself
MEMORY = 4 << 30  # bytes
SLOW = "A loop has no end, or takes far too long."


_VERDICT = (claims.ClaimFailure, type(None))  # how a cell ends that ran to its end


class Outcome(NamedTuple):
    """What one claim, assertion or example says about the code under test."""

    what: str  #: the name of the claim, or where the assertion stands
    passed: bool
    card: str  #: the verdicts in Markdown, or the sentence that says what went wrong
    plain: str


# Where a function takes part -----------------------------------------------------------------


@functools.cache
def _mentions(module):
    """Return {top-level name: names that its code mentions} for a module, by its source."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    found = {}
    for node in tree.body:
        words = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        words |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        for name in [getattr(node, "name", None), *map(_target, getattr(node, "targets", ()))]:
            if name:
                found[name] = words
    return found


def _target(node):
    return getattr(node, "id", None)


def reaching(module, name):
    """Return {(module, name)} of all in the library that comes to a function, itself included."""
    places = [m for m in list(sys.modules) if m.startswith("mllib.") and ".course" not in m]
    found, left = {(module, name)}, [(module, name)]
    while left:
        module, name = left.pop()
        target = getattr(sys.modules[module], name, None)
        for other in places:
            if other != module and getattr(sys.modules[other], name, None) is not target:
                continue
            for user, words in _mentions(other).items():
                if name in words and (other, user) not in found:
                    found.add((other, user))
                    left.append((other, user))
    return found


# Other code in the place of the library's ----------------------------------------------------


def place(module, name, function):
    """Put ``function`` where the library has a function, in every module that holds it."""
    here = sys.modules[module]
    old = getattr(here, name)
    for user, called in reaching(module, name):  # compiled loops keep what they call
        loop = getattr(sys.modules[user], called)
        if hasattr(loop, "py_func") and (user, called) != (module, name):
            _hand_out(sys.modules[user], called, loop, loop.py_func)
    _hand_out(here, name, old, function)


def _hand_out(module, name, old, new):
    for other in [m for n, m in sys.modules.items() if n.startswith("mllib")]:
        if getattr(other, name, None) is old:
            setattr(other, name, new)
    setattr(module, name, new)


def _standing(module, name):
    return getattr(sys.modules[module], name)


class Watched:
    """A student's function: its first calls are compared with the library's on the same input.

    That is no verdict on its values; it finds an argument that was changed, a wrong shape, NaN, and
    for a claim that fails the smallest input on which the two differ.
    """

    def __init__(self, name, function, library):
        self.name, self.function, self.library = name, function, library
        self.signature = inspect.signature(getattr(library, "py_func", library or function))
        self.calls, self.budget = 0, BUDGET
        self.fast, self.compiled, self.spent = None, False, 0.0  # loops are, where they take long
        self.faults, self.different, self.raised = [], None, None
        self.writes = set()  # the arguments that the library is seen to change
        self.now = None  # (since when, seconds allowed, the input) of the call that goes on
        functools.update_wrapper(self, function)

    def __call__(self, *args, **named):
        self.calls += 1
        compare = self.budget > 0
        if self.calls == 1 and self.library:  # what compiles at its first call is not timed
            with contextlib.suppress(Exception):
                self.library(*copy.deepcopy(args), **copy.deepcopy(named))
        start = time.perf_counter()
        if compare:
            before = _tried(copy.deepcopy, ([(args, named)], {}))
            compare = not isinstance(before, _Raised)  # of a generator there is no copy
        if compare:
            theirs = copy.deepcopy(before)
            there = _tried(self.library, theirs) if self.library else None
            shown = self._shown(*before)
        took = time.perf_counter() - start
        self.budget -= took
        self.now = (time.process_time(), CALL + min(300 * took, 4 * CALL), shown if compare else "")
        start = time.perf_counter()
        here = _tried(self.fast or self.function, (args, named))
        if isinstance(here, _Raised) and type(here.error).__module__.startswith("numba"):
            self.fast = None  # it cannot be compiled, so it goes on as it is
            here = _tried(self.function, (args, named))
        self.now = None
        self.spent += time.perf_counter() - start
        if self.spent > BUDGET and hasattr(self.library, "py_func") and not self.compiled:
            self.fast, self.compiled = _compiled(self.function), True
        if isinstance(here, _Raised):
            if not (compare and isinstance(there, _Raised)):
                self.raised = here.error, shown if compare else ""
            raise here.error
        if compare and not isinstance(there, _Raised):
            self._compare(before, (args, named), theirs, here, there)
        return here

    def __reduce__(self):
        """Travel by name: a process that this one forks finds the student's function there."""
        owner = getattr(self.library, "py_func", self.library) or self.function
        return _standing, (owner.__module__, self.name)

    def signed(self):
        """Say which arguments and defaults differ from those that are promised."""
        mine = inspect.signature(self.function).parameters
        if list(mine) != list(self.signature.parameters):
            return [f"Its arguments are {', '.join(mine)}; {self.signature} is promised."]
        pairs = [(p, mine[n]) for n, p in self.signature.parameters.items()]
        return [
            f"The default of `{ours.name}` is {ours.default}, not {theirs.default}."
            for theirs, ours in pairs
            if repr(ours.default) != repr(theirs.default)
        ]

    def _compare(self, before, mine, theirs, here, there):
        shown = self._shown(*before)
        for what, a, b, c in zip(self._arguments(before), *map(_flat, (before, mine, theirs))):
            said = f"It changes its argument `{what}`, which belongs to the caller"
            if isinstance(a, np.ndarray) and not _same(a, c):
                self.writes.add(what)
                self.faults = [old for old in self.faults if not old.startswith(said)]
            elif isinstance(a, np.ndarray) and not _same(a, b) and what not in self.writes:
                self._fault(said, shown)
        if problem := _unlike(here, there):
            self._fault(problem, shown)
        elif self.library is None:
            if problem := _unlike(here, here, nan=True):
                self._fault(problem, shown)
        elif not _same(here, there) or not all(map(_same, _flat(mine), _flat(theirs))):
            size = _size(_flat(before))
            if self.different is None or size < self.different[0]:
                parts = [] if here is None else [f" it gave {_written(here)}"]
                for what, a, b in zip(self._arguments(before), *map(_flat, (before, mine))):
                    if what in self.writes or (isinstance(a, np.ndarray) and not _same(a, b)):
                        parts.append(f" it left `{what}` = {_written(b)}")
                self.different = size, f"With {shown}{' and'.join(parts)}"

    def _fault(self, sentence, shown):
        kind = re.sub(r"\d+", "", sentence)  # the same in another size is not said again
        if not any(re.sub(r"\d+", "", old).startswith(kind) for old in self.faults):
            self.faults.append(f"{sentence}: with {shown}.")

    def _arguments(self, call):
        args, named = call
        return [*list(self.signature.parameters)[: len(args)], *named]

    def _shown(self, args, named):
        pairs = zip(self._arguments((args, named)), [*args, *named.values()])
        return ", ".join(f"`{name}` = {_written(value)}" for name, value in pairs)


def _compiled(function):
    """Return a loop compiled; unlike the library's it notices a step beyond the end of an array."""
    try:
        from numba import njit
    except ImportError:
        return None
    return njit(function, nogil=True, boundscheck=True)


class _Raised(NamedTuple):
    error: BaseException


def _tried(function, call):
    try:
        return function(*call[0], **call[1])
    except (Exception, SystemExit) as error:
        return _Raised(error)


def _flat(call):
    return [*call[0], *call[1].values()]


def _fields(value):
    """Return the parts of a tuple, a list or a record, or None."""
    if isinstance(value, (tuple, list)):
        return list(value)
    return list(vars(value).values()) if hasattr(value, "__dataclass_fields__") else None


def _size(value):
    """Count the numbers in a value, part by part."""
    parts = _fields(value)
    return np.size(value) if parts is None else sum(map(_size, parts))


def _same(a, b):
    """Whether two values are alike to rounding, part by part."""
    a, b = (v.toarray() if hasattr(v, "toarray") else v for v in (a, b))  # of a sparse one
    parts, others = _fields(a), _fields(b)
    if parts is not None and others is not None:
        return len(parts) == len(others) and all(map(_same, parts, others))
    try:
        return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True))
    except (TypeError, ValueError):
        return a is b or type(a) is type(b)


def _unlike(here, there, where="It", nan=False):
    """Say in what kind a value differs from what is promised: record, length, shape, NaN."""
    record = type(there).__name__
    parts = getattr(there, "_fields", None) or getattr(there, "__dataclass_fields__", None)
    if there is None:
        return ""
    if here is None:
        return f"{where} returns nothing; is there a `return`?"
    if parts is not None:
        if type(here) is not type(there):
            return (
                f"{where} returns {_kind(here)} in the place of a `{record}` ({', '.join(parts)})"
            )
        pairs = [(f"The field `{p}`", getattr(here, p), getattr(there, p)) for p in parts]
    elif isinstance(there, (tuple, list)):
        if not hasattr(here, "__len__") or len(here) != len(there):
            return f"{where} returns {_kind(here)} in the place of {_kind(there)}"
        pairs = [
            (f"Entry {k} of what it returns", *both) for k, both in enumerate(zip(here, there))
        ]
    elif isinstance(there, np.ndarray) and isinstance(here, (tuple, list)):
        return f"{where} returns {_kind(here)} in the place of {_kind(there)}"
    else:
        if np.shape(here) != np.shape(there):
            return f"{where} has the shape {np.shape(here)} in the place of {np.shape(there)}"
        with contextlib.suppress(TypeError):
            if np.isnan(here).any() and (nan or not np.isnan(there).any()):
                return f"{where} contains NaN"
        return ""
    return next(filter(None, (_unlike(a, b, name, nan) for name, a, b in pairs)), "")


def _kind(value):
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return "an array of shape " + str(value.shape) if np.ndim(value) else type(value).__name__


def _written(value):
    """Write a value in one line, or its shape where it is large."""
    if isinstance(value, np.random.Generator):
        return "a generator"
    if getattr(value, "_fields", None):
        pairs = zip(value._fields, value)
        return f"{type(value).__name__}({', '.join(f'{n}={_written(v)}' for n, v in pairs)})"
    if isinstance(value, (tuple, list)) and any(
        isinstance(part, (tuple, list, np.ndarray)) for part in value
    ):
        return "(" + ", ".join(map(_written, value)) + ")" if len(value) < 7 else _kind(value)
    if isinstance(value, np.ndarray):
        if value.size > 24 or (value.dtype.kind == "i" and np.abs(value).max(initial=0) > 1e9):
            return f"an array of shape {value.shape}"
        return "`" + np.array2string(value, precision=4, separator=", ").replace("\n", "") + "`"
    text = " ".join(f"{value:.4g}".split() if isinstance(value, float) else repr(value).split())
    return f"`{text if len(text) < 90 else text[:87] + '...'}`"


# The run -------------------------------------------------------------------------------------


class Run:
    """The cells of a chapter, run in order with some functions of the library replaced."""

    def __init__(self, slug, functions, say):
        self.page, self.say = page(slug), say
        self.cells, self.functions = self.page.cells, functions
        self.space, self.shown = {"__name__": "__main__"}, {}
        self.ended, self.calls = {}, {}
        self.since = self.at = None
        self.watched, self.told = [], set()

    def begin(self):
        """Import what the page imports, then put the functions in their places."""
        for cell in self.cells:
            for node in ast.parse(cell.source).body:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    with contextlib.suppress(ImportError):
                        exec(ast.unparse(node), {})
        reach = {}
        for (module, name), function in self.functions.items():
            library = getattr(importlib.import_module(module), name)
            if isinstance(function, str):  # source, to stand in the module
                inside = dict(vars(sys.modules[module]))
                exec(compile(function, f"<{name}>", "exec"), inside)
                function = inside[name]
            self.watched.append(Watched(name, function, library))
            reach |= dict.fromkeys(user for _, user in reaching(module, name))
        for (module, name), function in zip(self.functions, self.watched):
            place(module, name, function)
        return reach

    def end(self):
        """Give the library its functions back."""
        for (module, name), function in zip(self.functions, self.watched):
            place(module, name, function.library)

    def execute(self, k):
        """Run a cell, once; note what ended it and how often it called the functions."""
        if k in self.ended:
            return
        before, self.ended[k] = self._called(), None
        self.since = time.process_time()
        with verdicts() as self.shown[k]:
            try:
                exec(compile(self.cells[k].source, f"<cell {k}>", "exec"), self.space)
            except (Exception, SystemExit) as error:
                self.ended[k] = error
        self.since = None
        self.calls[k] = self._called() - before
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")

    def _fell(self, cells):
        """Return those of the cells that did not run to their ends."""
        return [k for k in cells if not isinstance(self.ended.get(k), _VERDICT)]

    def _called(self):
        return sum(function.calls for function in self.watched)

    def check(self, only=None):
        """Run each claim and each cell with assertions in which the functions take part."""
        reach = self.begin()
        if only is None:
            self._examples()
        for function in self.watched if only is None else ():
            for fault in function.signed():
                self.say(Outcome(f"`{function.name}`", False, fault, fault))
        at, chains, first = {}, {}, {}
        for k, cell in enumerate(self.cells):
            made = claimed(cell.source)
            if cell.solution or not (set(made) & set(only or made) or (asserts(cell) and not only)):
                continue
            chain = [*needed(self.cells, k), k]
            if self.functions and not any(
                names(self.cells[j].source).reads & reach.keys() for j in chain
            ):
                continue
            at[k], chains[k] = ", ".join(made) or f"The assertions under “{cell.section}”", chain
            first = dict.fromkeys(chain, k) | first  # for which claim a cell runs
        for j in sorted(first):  # in the order of the page, for a later cell may use a name anew
            self.at = at[first[j]]
            if fell := self._fell(needed(self.cells, j)):
                self.ended[j] = self.ended[fell[0]]
            self.execute(j)
            chain = chains.get(j, [])
            if chain and (not self.functions or any(map(self.calls.get, chain))):
                self.say(self._outcome([*self._fell(chain), j][0]))
        self.say_faults()
        for function in self.watched:
            if not function.calls and only is None:
                said = "No claim of this chapter comes to it."
                self.say(Outcome(f"`{function.name}`", False, said, said))

    def say_faults(self):
        """Say what the calls of each function have shown, and the first that looks wrong."""
        for function in self.watched:
            for fault in list(function.faults):
                self.say(Outcome(f"`{function.name}`", False, fault, fault))
        self.say([(f.name, f.different and f.different[1]) for f in self.watched])

    def _examples(self):
        import doctest

        self.at = "The examples in the docstring"
        for function in self.watched:
            library = function.library
            space = dict(vars(sys.modules[library.__module__])) | {function.name: function}
            test = doctest.DocTestParser().get_doctest(
                library.__doc__ or "", space, function.name, None, 0
            )
            said, self.since = [], time.process_time()
            doctest.DocTestRunner(verbose=False).run(test, out=said.append)
            self.since = None
            said = re.sub(r"(?m)^    Traceback .*\n(?: {6}.*\n| *\n)*", "", "".join(said))
            if test.examples:
                text = "the examples in its docstring " + ("fail" if said else "come out")
                card = f"{text}.\n\n```\n{said}```" if said else f"{text}."
                self.say(Outcome(f"`{function.name}`", not said, card, card))

    def _outcome(self, k):
        """Say how a claim ended, whose last cell that ran is ``k``."""
        error = self.ended[k]
        plain, card = [("", ""), *self.shown[k]][-1]
        if error is None:
            card = card or "the assertions of this section hold."
            return Outcome(self.at, True, card, plain or card)
        said = self._sentence(error, k)
        return Outcome(self.at, False, f"{card}\n\n{said}".strip(), f"{plain}\n{said}".strip())

    def _sentence(self, error, k):
        for function in self.watched:
            if isinstance(function.raised, tuple) and str(function.raised[0]) == str(error):
                told = f"`{function.name}` raised {type(error).__name__}"
                again, self.told = told in self.told, self.told | {told}
                return f"{told}, as above." if again else told + _told(error, function)
        if isinstance(error, claims.ClaimFailure):
            return "" if self.shown[k] else str(error)
        steps = traceback.extract_tb(error.__traceback__)
        at = next((step.lineno for step in steps if step.filename == f"<cell {k}>"), 0)
        walk = ast.walk(ast.parse(self.cells[k].source))
        simple = [n for n in walk if isinstance(n, ast.stmt) and not hasattr(n, "body")]
        line = next((ast.unparse(n) for n in simple if n.lineno <= at <= n.end_lineno), "")
        if isinstance(error, AssertionError):
            return f"With your code this assertion of the page does not hold: `{line}`."
        return f"With your code the page stopped at `{line}`: {_named(error)}."


def _named(error):
    return f"{type(error).__name__}: {error}".rstrip(".")


def claimed(source):
    """Return the names of the claims in a cell."""
    calls = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)]
    made = [n for n in calls if getattr(n.func, "id", "") == "claim"]
    return [a.value for n in made for a in n.args if isinstance(a, ast.Constant)]


def asserts(cell):
    """Whether a cell asserts something."""
    return any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(cell.source)))


def _told(error, function):
    """Say what a student's function raised, and in which of its lines."""
    code = function.function.__code__
    steps = traceback.extract_tb(error.__traceback__)
    lines = [step.lineno for step in steps if step.filename == code.co_filename]
    line = f", in its line {lines[-1] - code.co_firstlineno + 1}" if lines else ""
    given = f". It was given {function.raised[1]}" if function.raised[1] else ""
    return f": {error}{line}{given}."


def check(slug, functions, only=None, say=print):
    """Run what a chapter claims and asserts of functions that replace the library's.

    Parameters
    ----------
    slug : str; the chapter
    functions : dict; {(module, name): the function that stands there, or its source}
    only : collection of str, optional; the names of the claims to run, instead of all
    say : function; hears of each ``Outcome`` at once
    """
    this, sealed = Run(slug, functions, say), dict(vars(claims.claim))
    watch(this)
    this.check(only)
    if dict(vars(claims.claim)) != sealed:
        said = "The code under test changes what checks it."
        say(Outcome("The claims", False, said, said))


@contextlib.contextmanager
def verdicts():
    """Collect the verdicts of the claims that are made inside, instead of showing them."""
    shown, before = [], claims._show
    claims._show = lambda plain, markdown: shown.append((plain, markdown))
    try:
        yield shown
    finally:
        claims._show = before


def watch(run):
    """End a process of its own when a call or a cell of a run does not end, after saying so."""
    if ALONE:
        threading.Thread(target=_watch, args=(run,), daemon=True).start()


def _watch(run):
    while True:
        time.sleep(0.1)
        now = time.process_time()
        for function in run.watched:
            going = function.now
            if going and now - going[0] > going[1]:
                given = f" with {going[2]}" if going[2] else ""
                limit = f"{going[1]:.0f} seconds of computing{given}"
                _stop(run, f"`{function.name}` did not end within {limit}. {SLOW}")
        since = run.since
        if since and now - since > CELL:
            _stop(run, f"It did not end within {CELL} seconds of computing. {SLOW}")


def _stop(run, sentence):
    try:
        run.say(Outcome(run.at, False, sentence, sentence))
        run.say_faults()
        run.say("stopped")
    finally:
        os._exit(0)


# A process of its own ------------------------------------------------------------------------


def apart(target, *job, seconds=WHOLE):
    """Return what ``target(*job, say=...)`` says in a process of its own; None ends what it cut.

    ``target`` is a function of ``mllib`` and ``job`` what it takes; functions of a notebook may be
    part of it.
    """
    import cloudpickle

    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment |= {"MPLBACKEND": "Agg", "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", "from mllib.course.running import serve; serve()"]
    with tempfile.TemporaryFile() as stream:  # a pipe would stay open as long as a child of it runs
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=stream, env=environment, start_new_session=True
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(cloudpickle.dumps((target, job)), timeout=seconds)
        process.kill()
        with contextlib.suppress(AttributeError, ProcessLookupError):  # Windows has no groups
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        stream.seek(0)
        messages = []
        with contextlib.suppress(EOFError, pickle.UnpicklingError):
            while True:
                messages.append(pickle.load(stream))
    return messages if messages and messages[-1] in ("done", "stopped") else [*messages, None]


def serve():
    """Do the job that stands on the standard input, and write what it says to the output."""
    with contextlib.suppress(ImportError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    global ALONE
    ALONE = True
    target, job = pickle.load(sys.stdin.buffer)
    out = os.fdopen(os.dup(1), "wb")
    for standard in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), standard)

    def say(message):
        pickle.dump(message, out)
        out.flush()

    target(*job, say=say)
    say("done")
