"""Break the code of a chapter, one small change at a time, and see which claim notices.

    python tests/mutants.py perceptron --sample 60 --function smo

The functions of the chapter's module that its cells call (and those that it prints, wherever they
stand) are changed as ``tests/mutations.py`` says. One warm process runs the unbroken chapter, cell
by cell. For each change it forks a child where the function is first called; the child replaces the
code of the function and runs those of the remaining cells that the change can reach, until one
fails. No file is ever changed. A compiled loop that is changed, and the loops that call it, run as
plain Python, or, where the chapter would take long so, compiled anew.

The libraries for this work, cosmic-ray and mutmut, change a module on disk or a copy of it and
start a command of tests for each change: here that would be a notebook from its first cell,
with all that it imports, thousands of times. Neither knows arrays (fields set to zero, branches of
``np.where``) nor claims, and the changing itself is the shorter half; so both halves are ours.
"""

import argparse
import ast
import contextlib
import copy
import ctypes
import gc
import hashlib
import importlib
import inspect
import io
import json
import os
import random
import re
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))

import loops  # noqa: E402
import mutations  # noqa: E402

#: How a change can end; the first four are deaths.
OUTCOMES = ("claim", "assert", "error", "time", "output only", "alive")
MEMORY = 2 << 30  # bytes that a child may take beyond what it inherits
FOLLOWED = 5.0  # seconds for which a loop is traced as plain Python in the unbroken run
PATIENCE = 30.0  # seconds of a chapter with plain loops above which changed loops are compiled
SCORED = 60  # changes in the sample that a chapter is scored by; a smaller one is a part of it
IN_PLACE = {"append", "extend", "update", "pop", "add", "insert", "sort", "setdefault", "clear"}


# Cells -----------------------------------------------------------------------------------------


class Cell:
    """A cell of code with the names it needs, sets and may change in place."""

    def __init__(self, number, source):
        self.number, self.tree = number, ast.parse(source)
        self.needs, self.sets, self.touches, self.carries = set(), set(), set(), {}
        self.follow(self.tree.body)
        calls = [
            n for n in ast.walk(self.tree) if getattr(getattr(n, "func", 0), "id", "") == "claim"
        ]
        self.claims = [a.value for call in calls for a in call.args]

    def follow(self, statements):
        """Read statements in their order: a name is needed if it is used before it is set."""
        for statement in statements:
            inner = [getattr(statement, f, []) for f in ("body", "orelse", "handlers", "finalbody")]
            inner = [] if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else inner
            below = {id(n) for block in inner for s in block for n in ast.walk(s)}
            nodes = [n for n in ast.walk(statement) if id(n) not in below]
            loads, stores = names(nodes)
            self.touches |= changed(nodes)
            if any(isinstance(n, (ast.FunctionDef, ast.Lambda)) for n in nodes):
                self.carries |= dict.fromkeys(stores, loads)
            self.needs |= loads - self.sets
            self.sets |= stores
            for block in inner:
                self.follow(block)

    def run(self, space):
        """Run the cell; return a digest of what it printed, showed and drew."""
        import matplotlib.pyplot as plt

        body, last = self.tree.body, None
        if body and isinstance(body[-1], ast.Expr):
            body, last = body[:-1], ast.Expression(body[-1].value)
        name, out = f"<cell {self.number}>", io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(ast.Module(body, []), name, "exec"), space)
            if last is not None:
                shown = eval(compile(last, name, "eval"), space)
                print("" if shown is None else repr(shown))
        digest = hashlib.md5(re.sub(r" at 0x\w+", "", out.getvalue()).encode())
        for number in plt.get_fignums():
            draw(plt.figure(number), digest)
        plt.close("all")
        return digest.hexdigest()


def names(nodes):
    """Return the names that nodes load and those they store; what is local to a part is neither."""
    loads, stores, local = set(), set(), set()
    for node in nodes:
        if isinstance(node, ast.comprehension):
            local |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.arg):
            local.add(node.arg)
        elif isinstance(node, ast.Name):
            (loads if isinstance(node.ctx, ast.Load) else stores).add(node.id)
        elif isinstance(node, ast.alias):
            stores.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            stores.add(node.name)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            loads.add(node.target.id)
    return loads - local, stores - local


def changed(nodes):
    """Return the names whose values are changed in place."""
    found = set()
    for node in nodes:
        held = None
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            held = node.value
        elif isinstance(node, ast.AugAssign):
            held = node.target
        elif isinstance(node, ast.Call) and mutations.called(node) in IN_PLACE:
            held = getattr(node.func, "value", None)
        elif isinstance(node, ast.keyword) and node.arg == "out":
            held = node.value
        while isinstance(held, (ast.Subscript, ast.Attribute)):
            held = held.value
        found |= {held.id} if isinstance(held, ast.Name) else set()
    return found


def draw(figure, digest):
    """Add what a figure shows, to four digits, without drawing it."""
    import numpy as np

    for ax in figure.axes:
        for artist in [*ax.lines, *ax.patches, *ax.collections, *ax.images, *ax.texts]:
            for getter in (
                "get_path",
                "get_paths",
                "get_offsets",
                "get_array",
                "get_text",
                "get_xy",
            ):
                with contextlib.suppress(Exception):
                    seen = getattr(artist, getter)()
                    paths = seen if isinstance(seen, list) else [seen]
                    for part in (getattr(path, "vertices", path) for path in paths):
                        numeric = not isinstance(part, str)
                        digest.update(repr(part).encode() if not numeric else rounded(part, np))
        digest.update(repr([t.get_text() for t in (ax.title, ax.xaxis.label)]).encode())


def rounded(values, np):
    values = np.ma.filled(np.ma.asarray(values, dtype=float), 0)
    scale = 10.0 ** (3 - np.floor(np.log10(np.abs(values).max(initial=1e-9) + 1e-12)))
    return (np.rint(values * scale) + 0.0).tobytes()


# The chapter -----------------------------------------------------------------------------------


def code_cells(text):
    """Return the code of the cells of a text twin, without their options."""
    blocks = re.findall(r"(?ms)^(`{3,})\{code-cell\}[^\n]*\n(.*?)^\1$", text)
    options = re.compile(r"\A(---\n.*?^---\n|(:[\w-]+:[^\n]*\n)*)", re.M | re.S)
    return [options.sub("", body, count=1) for _, body in blocks]


class Chapter:
    """The cells of a chapter, the functions they rely on, and how the unbroken chapter runs."""

    def __init__(self, text, root, package):
        self.slug, self.text, self.root = text.stem, text, root
        self.followed, self.patience = FOLLOWED, PATIENCE
        sources = [c for c in code_cells(text.read_text("utf-8")) if c.strip()]
        self.cells = [Cell(k, s) for k, s in enumerate(sources)]
        self.own = root / package / f"{self.slug.replace('-', '_')}.py"
        self.printed = {}
        block = r"\{literalinclude\} (\S+)\n((?::.*\n)*)"
        for path, options in re.findall(block, text.read_text("utf-8")):
            file, name = (text.parent / path).resolve(), re.search(r":pyobject: (\S+)", options)
            if name and root in file.parents:
                self.printed.setdefault(file, set()).add(name[1])
        self.files = [self.own, *(f for f in self.printed if f != self.own)]
        self.trees = {f: ast.parse(f.read_text("utf-8")) for f in self.files}

    def fingerprint(self):
        """Return a hash of the code: that of the cells, of the modules, and what is printed."""
        trees = [cell.tree for cell in self.cells] + [self.trees[f] for f in self.files]
        shown = sorted((f.name, *sorted(names)) for f, names in self.printed.items())
        code = repr(shown) + "".join(ast.unparse(undocumented(tree)) for tree in trees)
        return hashlib.sha256(code.encode()).hexdigest()[:16]

    def is_printed(self, file, name):
        names = self.printed.get(file, ())
        return name in names or name.split(".")[0] in names

    def mutants(self, seen):
        """Return ``(file, change, whether a cell runs it)`` for all changes of the chapter.

        Of a function that is not printed, only what some cell runs.
        """
        made = []
        for file in self.files:
            names = set(mutations.functions(self.trees[file]))
            shown = {n for n in names if self.is_printed(file, n)}
            called = (
                {n for n in names if (str(file), n) in seen.calls} if file == self.own else set()
            )
            for change in mutations.changes(self.trees[file], shown | called):
                if change.span is None:  # the default of an argument in place of what is passed
                    run = (str(file), change.function, change.text.split()[0]) in seen.passed
                else:
                    first, last = change.span
                    run = any((str(file), k) in seen.lines for k in range(first, last + 1))
                if run or change.function in shown:
                    made.append((file, change, run))
        return made

    def module(self, file):
        return importlib.import_module(".".join(file.relative_to(self.root).with_suffix("").parts))

    def break_it(self, file, change):
        """Make a change in this process: the function keeps its identity and gets other code."""
        change.make()
        top, *_ = change.function.split(".")
        node = next(n for n in self.trees[file].body if getattr(n, "name", "") == top)
        module = self.module(file)
        whole = compile(ast.Module([node], []), str(file), "exec")
        code = next(c for c in codes(whole) if c.co_qualname == change.function)
        function = inspect.getattr_static(module, top)
        for name in change.function.split(".")[1:]:
            function = inspect.getattr_static(function, name)
        while not isinstance(function, FunctionType):
            inner = [
                getattr(function, n, None) for n in ("__wrapped__", "__func__", "fget", "func")
            ]
            function = next(f for f in inner if f is not None)
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        function.__code__ = code
        return loops.calling(function)


def undocumented(tree):
    """Return a copy of a tree without the texts that stand as statements."""
    tree = copy.deepcopy(tree)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            texts = [s for s in body if ast.unparse(s)[:1] in "'\"" and isinstance(s, ast.Expr)]
            node.body = [s for s in body if s not in texts] or [ast.Pass()]
    return tree


def codes(code):
    """Return the code objects inside a code object."""
    for inner in code.co_consts:
        if hasattr(inner, "co_code"):
            yield inner
            yield from codes(inner)


# The unbroken run ------------------------------------------------------------------------------


class Seen:
    """What the cells call, which lines run, and which arguments are not left at their default."""

    def __init__(self, files):
        self.files = {str(f) for f in files}
        self.calls, self.lines, self.passed, self.cell = {}, set(), set(), 0
        self.unseen = {}  # code -> its lines that have not run yet
        self.unfollowed = set()  # cells in which some loop ran compiled

    def trace(self, frame, event, _):
        """Follow the frames of the modules and no others (for ``sys.settrace``)."""
        code = frame.f_code
        if code.co_filename not in self.files:
            return None
        name = code.co_qualname.split(".<locals>")[0]
        self.calls.setdefault((code.co_filename, name), set()).add(self.cell)
        self.lines.add((code.co_filename, code.co_firstlineno))
        if "." not in name or code.co_qualname == name:
            self.arguments(frame, name)
        if code not in self.unseen:
            self.unseen[code] = {
                line for *_, line in code.co_lines() if line not in (None, code.co_firstlineno)
            }
        return self.line if self.unseen[code] else None

    def line(self, frame, event, _):
        """Note a line; a function of which all lines have run is not followed any more."""
        code = frame.f_code
        unseen = self.unseen[code]
        if event == "line":
            self.lines.add((code.co_filename, frame.f_lineno))
            unseen.discard(frame.f_lineno)
        if not unseen:
            frame.f_trace_lines = False
            return None
        return self.line

    def compiled(self, functions):
        """Take functions that no trace can follow as called, and all their lines as run."""
        self.unfollowed.add(self.cell)
        for code in (function.__code__ for function in functions):
            self.calls.setdefault((code.co_filename, code.co_qualname), set()).add(self.cell)
            self.lines |= {(code.co_filename, line) for *_, line in code.co_lines() if line}

    def arguments(self, frame, name):
        """Note the arguments of a call that differ from their defaults."""
        code = frame.f_code
        for argument, default in self.defaults(code, frame.f_globals, name):
            value = frame.f_locals[argument]
            if value is not default and not (
                isinstance(value, (str, int, float)) and value == default
            ):
                self.passed.add((code.co_filename, name, argument))

    def defaults(self, code, space, name, known={}):  # noqa: B006
        """Return the arguments of a function with their defaults."""
        if code not in known:
            found = space.get(name.split(".")[0])
            for part in name.split(".")[1:]:
                found = getattr(found, part, None)
            try:
                pairs = inspect.signature(found).parameters.values()
            except (TypeError, ValueError):
                pairs = ()
            none = inspect.Parameter.empty
            known[code] = [(p.name, p.default) for p in pairs if p.default is not none]
            known[code] = [(n, d) for n, d in known[code] if n in code.co_varnames]
        return known[code]


def unbroken(chapter, traced):
    """Run all cells; return times, digests, names changed in place, and what a trace saw."""
    space, seen, times, digests, live = fresh(), Seen(chapter.files), [], [], []
    plainly = loops.PlainlyAtFirst(chapter.followed, seen.compiled)
    for cell in chapter.cells:
        seen.cell, start = cell.number, time.process_time()
        if traced:
            plainly.take(loops.all_of(chapter.files))
            sys.settrace(seen.trace)
        try:
            digests.append(cell.run(space))
        except BaseException as error:
            return {"failed": f"cell {cell.number}: {type(error).__name__}: {error}"}
        finally:
            sys.settrace(None)
        times.append(time.process_time() - start)
        if cell.number in seen.unfollowed:  # plain loops would take longer than is known here
            times[-1] = max(times[-1], 4 * PATIENCE)
        live.append([n for n in cell.needs if n in space and changeable(space[n])])
    calls = [[*k, sorted(v)] for k, v in seen.calls.items()]
    return {"times": times, "digests": digests, "live": live, "calls": calls} | {
        "lines": sorted(seen.lines),
        "passed": sorted(seen.passed),
    }


def changeable(value):
    """Whether a value may change when it is only used: a generator does, and an estimator."""
    if isinstance(value, (ModuleType, type, FunctionType, tuple, list, dict, set, frozenset)):
        return False
    kind = type(value)
    return kind.__module__.split(".")[0] == "mllib" or kind.__name__ in ("Generator", "Pipeline")


def fresh():
    """Return the namespace of a notebook."""
    return {"__name__": "__main__", "__builtins__": __builtins__}


# Children --------------------------------------------------------------------------------------


class Children:
    """Forks that run a function each and send back what it returns; two at a time."""

    def __init__(self, workers=2):
        self.workers, self.running = workers, {}

    def start(self, work, done):
        """Run ``work()`` in a fork; ``done(result, signal)`` gets what it returned, here."""
        while len(self.running) >= self.workers:
            self.collect()
        reading, writing = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            self.child(work, reading, writing)
        os.close(writing)
        os.set_blocking(reading, False)
        self.running[pid] = (reading, done, [])

    def child(self, work, reading, writing):
        """Be the child: never return."""
        code = 1
        try:
            os.setpgid(0, 0)
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # die with the parent (Linux)
            for one in (signal.SIGINT, signal.SIGTERM):
                signal.signal(one, signal.SIG_DFL)
            os.close(reading)
            null = os.open(os.devnull, os.O_RDWR)
            for standard in (0, 1, 2):
                os.dup2(null, standard)
            taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY,) * 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            data, code = json.dumps(work()).encode(), 0
            while data:
                data = data[os.write(writing, data) :]
        finally:
            os._exit(code)

    def collect(self):
        """Wait until a child has said something; hand on the results of those that have ended."""
        select.select([reading for reading, _, _ in self.running.values()], [], [], 0.1)
        for pid, (reading, done, parts) in list(self.running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            with contextlib.suppress(BlockingIOError):
                while part := os.read(reading, 1 << 16):
                    parts.append(part)
            if not ended:
                continue
            del self.running[pid]
            os.close(reading)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # what the child may have started
            text = b"".join(parts) if os.WIFEXITED(status) and not os.WEXITSTATUS(status) else b""
            done(json.loads(text) if text else None, os.WTERMSIG(status))

    def finish(self):
        """Wait for all."""
        while self.running:
            self.collect()

    def kill(self):
        """End all at once."""
        for pid in self.running:
            for end in (os.killpg, os.kill):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    end(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        self.running.clear()


def limit(seconds):
    """End this process by SIGPROF after some seconds of work, by SIGALRM after many more."""
    for timer, one, allowed in (
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, 6 * seconds + 60),
    ):
        signal.signal(one, signal.SIG_DFL)
        signal.setitimer(timer, allowed)


def outlive(space, cells, plain, slow):
    """Run cells until one fails; return the outcome, which claim, and in which cell.

    Time is allowed as the unbroken cell takes; while ``slow()``, as it takes traced.
    """
    from mllib.course import ClaimFailure

    outcome, digests = ["alive", "", -1], plain["digests"]
    for cell in cells:
        times = [5 * plain["times"][cell.number] + 2, 3 * plain["traced"][cell.number] + 2]
        limit(max(times) if slow() else times[0])
        try:
            same = cell.run(space) == digests[cell.number]
        except ClaimFailure as error:
            return ["claim", re.split(r" \[|: ", str(error))[0], cell.number, str(error)[:300]]
        except AssertionError as error:
            return ["assert", "", cell.number, str(error)[:300]]
        except BaseException as error:
            return ["error", "", cell.number, f"{type(error).__name__}: {error}"[:300]]
        if not same and outcome[0] == "alive":
            outcome = ["output only", "", cell.number]
    return outcome


def reached(chapter, live, calling):
    """Return the cells that a change can reach: those that call it, use what they made, and what
    these need; ``calling`` holds the numbers of the cells that call the function."""
    carried = {}
    for cell in chapter.cells:
        carried |= cell.carries
    needs = []
    for cell in chapter.cells:
        names, new = set(cell.needs), set(cell.needs)
        while new := set().union(*(carried.get(n, ()) for n in new)) - names:
            names |= new
        needs.append(names)
    tainted, chosen = set(), set()
    for cell in chapter.cells[min(calling) :]:
        k = cell.number
        if k in calling or needs[k] & tainted:
            chosen.add(k)
            tainted |= cell.sets | cell.touches | set(live[k])
        else:
            tainted -= cell.sets
    wanted = set()
    for cell in chapter.cells[: min(calling) - 1 if min(calling) else None : -1]:
        k = cell.number
        if k in chosen or (cell.sets | cell.touches | set(live[k])) & wanted:
            chosen.add(k)
            wanted = (wanted - cell.sets) | needs[k]
    return [chapter.cells[k] for k in sorted(chosen)]


def gauge(chapter, children, sample=None, only=None, register=(), progress=None):
    """Try the changes of a chapter; return how they ended, and what its statements notice."""
    plain, seen = as_it_is(chapter, children)
    mutants = [m for m in chapter.mutants(seen) if only in (None, m[1].function)]
    counts = Counter(chapter.is_printed(f, c.function) for f, c, _ in mutants)
    mutants = drawn(chapter, mutants, sample, register)
    stated = [(cell, *w) for cell in chapter.cells for w in weakened(cell) if only is None]
    few = random.Random(chapter.slug).sample(range(len(stated)), min(sample or 10**6, len(stated)))
    endings, noticed, space = {}, {}, fresh()

    def start(cells, done, file=None, change=None):
        def ended(result, by):
            died = "time" if by in (signal.SIGPROF, signal.SIGALRM) else "error"
            done(result or [died, "", -1, f"ended by signal {by}"])

        children.start(lambda: run_in(chapter, space, cells, plain, file, change), ended)

    def note(k):
        def done(result):
            endings[k] = result
            if progress:
                progress(len(endings), len(mutants))

        return done

    for cell in chapter.cells:
        groups = {}
        for k, (file, change, run) in enumerate(mutants):
            calling = tuple(sorted(seen.calls.get((str(file), change.function), [-1])))
            if run and calling[0] == cell.number:
                groups.setdefault(calling, []).append((k, file, change))
        for calling, members in groups.items():
            cells = reached(chapter, plain["live"], calling)
            for k, file, change in members:
                start(cells, note(k), file, change)
        for k in few:
            if stated[k][0] is cell:
                start(
                    [cell],
                    lambda result, k=k: noticed.__setitem__(k, result[0]),
                    None,
                    stated[k][2],
                )
        children.finish()
        for calling, members in groups.items():  # had a cell been left out that was needed?
            cells = reached(chapter, plain["live"], calling)
            ran = [c for c in cells if c.number <= max(endings[k][2] for k, *_ in members)]
            if len(ran) == (ran[-1].number - cell.number + 1 if ran else 0):
                continue
            unbroken = []
            start(ran, unbroken.append)
            children.finish()
            for k, file, change in members if unbroken[0][0] != "alive" else ():
                start(chapter.cells[cell.number :], note(k), file, change)
        children.finish()
        cell.run(space)
    tried = []
    for k, (file, change, _) in enumerate(mutants):
        if endings.get(k, " ")[0] == "none":  # there is no zero of a text: nothing was changed
            counts[chapter.is_printed(file, change.function)] -= 1
            continue
        idle = "no cell runs it" if change.span else "no cell passes another value"
        shown = chapter.is_printed(file, change.function)
        tried.append((shown, file, change, endings.get(k, ["alive", "", -1, idle])))
    statements = [
        (stated[k][1], stated[k][0].claims[0], stated[k][2], noticed[k]) for k in sorted(few)
    ]
    return tried, counts, statements


def as_it_is(chapter, children):
    """Run the chapter unbroken, once plainly and once traced; stop if it fails."""
    runs = {}
    for traced in (False, True):
        children.start(
            lambda traced=traced: unbroken(chapter, traced),
            lambda result, _, traced=traced: runs.__setitem__(traced, result),
        )
    children.finish()
    for result in runs.values():
        if result is None or "failed" in result:
            why = result["failed"] if result else "the process ended"
            sys.exit(f"{chapter.slug} fails as it is, before anything is changed: {why}")
    seen = Seen(())
    seen.calls = {(file, name): set(cells) for file, name, cells in runs[True]["calls"]}
    seen.lines = {tuple(x) for x in runs[True]["lines"]}
    seen.passed = {tuple(x) for x in runs[True]["passed"]}
    return runs[False] | {"traced": runs[True]["times"]}, seen


def run_in(chapter, space, cells, plain, file=None, change=None):
    """In a child: make the change and run the cells."""
    import builtins

    differs = [False]  # whether what was to become zero did

    def zero(value):
        other = mutations.zero(value)
        differs.append(other is not value)
        return other

    builtins.__zero__ = zero
    warnings.simplefilter("ignore")
    changed, slow = [], bool
    try:
        if file is not None:
            changed = chapter.break_it(file, change)
        elif change is not None:
            change.make()
            ast.fix_missing_locations(cells[0].tree)
    except (SyntaxError, ValueError) as error:
        return ["error", "", -1, f"{type(error).__name__}: {error}"]
    if changed and sum(plain["traced"]) > chapter.patience:
        slow = loops.compile_anew(changed, limit)
    elif changed:
        loops.run_plainly(changed)
        slow = lambda: True  # noqa: E731
    ending = outlive(space, cells, plain, slow)
    vain = ending[0] == "alive" and len(differs) > 1 and not any(differs)
    return ["none", *ending[1:]] if vain else ending


def drawn(chapter, mutants, sample, register):
    """Return a seeded sample in the order of the text: half from printed functions, and besides
    those that the register lists."""
    if not sample or sample >= len(mutants):
        return mutants
    if sample < SCORED:
        mutants = drawn(chapter, mutants, SCORED, ())
    chance = random.Random(chapter.slug)
    marked = [(chapter.is_printed(f, c.function), k) for k, (f, c, _) in enumerate(mutants)]
    printed = [k for shown, k in marked if shown]
    others = [k for shown, k in marked if not shown]
    few = min(len(printed), max(sample // 2, sample - len(others)))
    chosen = {*chance.sample(printed, few), *chance.sample(others, sample - few)}
    keys = [key(chapter.slug, f, c) for f, c, _ in mutants] if register else []
    chosen |= {k for k, name in enumerate(keys) if name in register}
    return [mutants[k] for k in sorted(chosen)]


# Statements ------------------------------------------------------------------------------------


def weakened(cell):
    """Return changes ``(kind, change)`` of what a claim states, which its check ought to notice.

    A comparison turned round must fail. So should a size that is wrong by a factor of two: the
    ratio of ``tight``, the right-hand side of an inequality in ``holds``, a constant, a factor.
    """
    made = []
    for call in ast.walk(cell.tree):
        verdict = mutations.called(call)
        if not cell.claims or verdict not in ("holds", "tight", "necessary", "contrast"):
            continue
        lines = (call.lineno, call.end_lineno)
        for k, condition in enumerate(call.args[1:], start=1):
            if verdict == "tight":
                for factor in (2.0, 0.5):
                    new = ast.BinOp(condition, ast.Mult(), ast.Constant(factor))
                    text = mutations.cut(ast.unparse(condition), ast.unparse(new))
                    made.append(
                        (
                            "size",
                            mutations.Change("", call.lineno, text, call, "args", k, new, lines),
                        )
                    )
                continue
            holder = ast.Tuple([condition], ast.Load())
            for c in mutations.within(holder, "", (), (), lines):
                at = c.parent if c.parent is not holder else call
                c = c._replace(parent=at, field="args", index=k) if at is call else c
                before, new = c.old(), c.new
                if isinstance(before, ast.Compare) and isinstance(new, ast.Compare):
                    turned = [type(o) for o in new.ops] != [type(o) for o in before.ops]
                    strict = any(
                        {type(a), type(b)} in ({ast.Lt, ast.LtE}, {ast.Gt, ast.GtE})
                        for a, b in zip(before.ops, new.ops)
                    )
                    if turned and not strict:
                        made.append(("direction", c))
                elif verdict == "holds" and isinstance(before, (ast.BinOp, ast.Constant)):
                    small = isinstance(before, ast.Constant) and 0 < abs(before.value) < 0.02
                    if not small:
                        made.append(("size", c))
    return made


# Reports ---------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A change that was tried, and how it ended."""

    printed: bool
    file: Path
    change: mutations.Change
    ending: list  #: outcome, claim, number of the cell, message
    reason: str  #: why it may live, from the register

    @property
    def outcome(self):
        """Return one of OUTCOMES, or that the register gives a reason."""
        return "reason" if self.reason and self.ending[0] in OUTCOMES[4:] else self.ending[0]


def share(rows):
    """Return the share killed of those that have no reason to live."""
    counted = [r for r in rows if r.outcome != "reason"]
    return sum(r.outcome in OUTCOMES[:4] for r in counted) / len(counted) if counted else 1.0


def counts_of(rows):
    """Return how many changes ended in each way."""
    by = Counter(r.outcome for r in rows)
    return {name: by[name] for name in (*OUTCOMES, "reason") if by[name]}


def table(rows):
    """Return lines that say for each function how its changes ended; printed ones have a star."""
    columns = (*OUTCOMES, "reason")
    lines = [f"{'function':<36}{'made':>6}" + "".join(f"{o:>12}" for o in columns) + "  killed"]
    groups = {}
    for row in rows:
        star = " *" if row.printed else ""
        groups.setdefault((not row.printed, row.change.function + star), []).append(row)
    ordered = sorted(groups.items(), key=lambda group: group[0][0])
    groups = [(name, members) for (_, name), members in ordered]
    for name, members in [*groups, ("printed", [r for r in rows if r.printed]), ("all", rows)]:
        by = Counter(r.outcome for r in members)
        numbers = "".join(f"{by[o] or '':>12}" for o in columns)
        lines.append(f"{name[:35]:<36}{len(members):>6}{numbers}{share(members):>8.0%}")
    return lines


def survivors(rows):
    """Return one line for each change that no claim, no assert and no error noticed."""
    return [
        f"{r.outcome:<12}{r.file.stem}:{r.change.line}  {r.change.function}  {r.change.text}"
        + (f"  ({r.ending[3]})" if r.ending[3:] else "")
        for r in rows
        if r.outcome in OUTCOMES[4:]
    ]


def block(chapter, rows, made, sharpness):
    """Return what ``chapters/mutants.yml`` says of a chapter."""
    printed = [r for r in rows if r.printed]
    others = [r for r in rows if not r.printed]
    weights = made[True] * share(printed) + made[False] * share(others)
    kills = Counter(r.ending[1].split(", ")[0] for r in rows if r.ending[1])  # its first name
    sharp = {}
    for kind, _, _, outcome in sharpness:
        sides = sharp.setdefault(kind, {"sharp": 0, "blunt": 0})
        sides["sharp" if outcome in OUTCOMES[:3] else "blunt"] += 1
    return {
        "made_from": chapter.fingerprint(),
        "made": sum(made.values()),
        "tried": len(rows),
        "printed": {"tried": len(printed), **counts_of(printed), "share": round(share(printed), 3)},
        "all": {**counts_of(rows), "share": round(weights / max(1, sum(made.values())), 3)},
        "statements": sharp,
        "claims": dict(sorted(kills.items())),
    }


def key(slug, file, change):
    """Return what names a change in the register of survivors: it moves with its line."""
    line = file.read_text("utf-8").splitlines()[change.line - 1].strip()
    return slug, f"{file.stem}.{change.function}", line, change.text


def read(path):
    """Return what a register holds, or nothing."""
    return (yaml.safe_load(path.read_text("utf-8")) if path.exists() else None) or {}


def reasons(path):
    """Return the register of survivors as ``{key: reason}``."""
    names = ("chapter", "function", "line", "change")
    return {tuple(str(row[n]) for n in names): row["reason"] for row in read(path) or ()}


def publish(path, slug, made):
    """Enter the block of a chapter, unless a larger sample of the same text stands there."""
    blocks = read(path)
    old = blocks.get(slug, {})
    if old.get("made_from") == made["made_from"] and old.get("tried", 0) > made["tried"]:
        return
    blocks[slug] = made
    head = "# How many small changes of its code each chapter notices: made by `make mutants`.\n"
    path.write_text(head + yaml.safe_dump(dict(sorted(blocks.items())), sort_keys=False), "utf-8")


def stale(chapter, register):
    """Return the entries of the register that name no change of the chapter any more."""
    there = {
        key(chapter.slug, file, change)
        for file in chapter.files
        for change in mutations.changes(
            chapter.trees[file], mutations.functions(chapter.trees[file])
        )
    }
    return [k for k in register if k[0] == chapter.slug and k not in there]


def show(number, total):
    """Say how far we are, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r{number} of {total} ", end="", file=sys.stderr, flush=True)


def look(chapter, options):
    """Try the changes of one chapter, say what came of it; return what is wrong."""
    start, chapter.followed, chapter.patience = time.time(), options.followed, options.patience
    register = reasons(options.root / "chapters" / "survivors.yml")
    wrong = [
        f"survivors.yml: there is no such change any more: {k}" for k in stale(chapter, register)
    ]
    besides = () if options.seconds else register  # the gate has no time for all of them
    warm(chapter)
    gc.freeze()
    children = Children()
    os.chdir(chapter.text.parent)
    try:
        tried, made, sharpness = gauge(
            chapter, children, options.sample, options.function, besides, show
        )
    finally:
        children.kill()
    rows = [Row(*t, register.get(key(chapter.slug, t[1], t[2]), "")) for t in tried]
    seconds = time.time() - start
    print(f"\n{chapter.slug}: {len(rows)} of {sum(made.values())} changes, {seconds:.0f} s")
    print(*table(rows), *survivors(rows), sep="\n")
    for kind, name, change, outcome in sharpness:
        if outcome in OUTCOMES[4:]:
            print(f"blunt {kind:<12}{name}  {change.text}")
    wrong += [
        f"survivors.yml: this change is noticed now: {key(chapter.slug, r.file, r.change)}"
        for r in rows
        if r.reason and r.outcome != "reason"
    ]
    if options.seconds:
        old = read(options.root / "chapters" / "mutants.yml").get(chapter.slug, {}).get("all", {})
        if old and not set(old) & {"alive", "output only"}:  # a chapter without survivors stays so
            wrong += [f"survives: {line}" for line in survivors(rows)]
    elif not options.function:
        made = block(chapter, rows, made, sharpness)
        print(yaml.safe_dump(made["statements"], default_flow_style=True).strip())
        publish(options.root / "chapters" / "mutants.yml", chapter.slug, made)
    return wrong


def main(argv=None):
    """Look at the chapters that are asked for, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("chapter", nargs="?", default="all", help="a slug, or all")
    parser.add_argument("--sample", type=int, help="how many changes at most, the same each time")
    parser.add_argument("--function", help="only the changes of this function")
    parser.add_argument(
        "--seconds", type=float, help="a sample for the gate: begin no chapter after that"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    parser.add_argument("--package", default="mllib", help=argparse.SUPPRESS)
    parser.add_argument("--followed", type=float, default=FOLLOWED, help=argparse.SUPPRESS)
    parser.add_argument("--patience", type=float, default=PATIENCE, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    options.root = options.root.resolve()
    sys.path.insert(0, str(options.root))
    texts = sorted((options.root / "chapters").glob("*/*.md"))
    chosen = [t for t in texts if options.chapter in ("all", t.stem)]
    if not chosen:
        names = ", ".join(t.stem for t in texts)
        sys.exit(f"There is no chapter {options.chapter!r}. CHAPTER is one of: {names}; or all.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failed, start = 0, time.time()
    if options.seconds:
        chosen = in_turn(chosen, options)
        register = reasons(options.root / "chapters" / "survivors.yml")
        for text in chosen:
            gone = stale(Chapter(text, options.root, options.package), register)
            print(
                *(f"survivors.yml: there is no such change any more: {k}" for k in gone), sep="\n"
            )
            failed += len(gone)
    for text in chosen:
        if options.seconds and time.time() - start > options.seconds:
            break
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os._exit(one(text, options))
        try:
            failed += os.waitpid(pid, 0)[1] != 0
        except BaseException:
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)
            raise
    return min(1, failed)


def in_turn(texts, options):
    """Return the chapters in an order that changes with the scores, those first whose is stale."""
    path = options.root / "chapters" / "mutants.yml"
    blocks = read(path)
    chapters = [Chapter(t, options.root, options.package) for t in texts]
    random.Random(path.read_bytes() if blocks else 0).shuffle(chapters)
    same = {c.slug: blocks.get(c.slug, {}).get("made_from") == c.fingerprint() for c in chapters}
    return [c.text for c in sorted(chapters, key=lambda c: same[c.slug])]


def one(text, options):
    """Look at one chapter; return the exit code."""
    try:
        wrong = look(Chapter(text, options.root, options.package), options)
        print(*wrong, sep="\n")
        return min(1, len(wrong))
    except KeyboardInterrupt:
        return 130
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()


def warm(chapter):
    """Import once, for all that is forked, what the cells import."""
    import matplotlib

    matplotlib.use("Agg")
    for node in (n for cell in chapter.cells for n in ast.walk(cell.tree)):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        for name in [node.module] if isinstance(node, ast.ImportFrom) else names:
            with contextlib.suppress(ImportError):  # the cell will say it
                importlib.import_module(name)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
