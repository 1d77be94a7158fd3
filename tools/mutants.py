"""Plant faults in the code of a chapter, one at a time, and tell what notices them: an audit.

    python tools/mutants.py perceptron --kind human --function Perceptron.fit

The cells run, and the tests of the module, each noting which functions it reaches. Then one fork
for each change runs the cells, from the first that reaches the changed function, another the tests
that do, until one fails; with a changed compiled loop all loops are plain Python. A run of both
stages over all functions with the usual sample is entered in ``registers/mutants.yml``.
"""

import argparse
import ast
import builtins
import contextlib
import importlib.util
import inspect
import multiprocessing
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from types import SimpleNamespace

os.environ["SCIPY_ARRAY_API"] = "1"
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import mutations  # noqa: E402
import yaml  # noqa: E402

SAMPLE = 60  # mechanical changes of a chapter; those of the human kinds are all tried
GROUPS = {"mechanical": ("mechanical",), "human": mutations.HUMAN}
SCORES = ROOT / "registers" / "mutants.yml"
STAGES = ("claims", "tests")
reached = set()  # the functions that were called since it was emptied
builtins.__reach__ = reached.add


class Chapter:
    """A chapter, its module, and what runs that: the cells, the tests."""

    def __init__(self, text):
        self.text, name = text, text.stem.replace("-", "_")
        self.file, self.module = ROOT / "mllib" / f"{name}.py", f"mllib.{name}"
        self.tree = ast.parse(self.file.read_text("utf-8"))
        self.nodes = mutations.functions(self.tree)
        marks = {n: map(ast.unparse, f.decorator_list) for n, f in self.nodes.items()}
        self.loops = {name for name, decorators in marks.items() if "compiled" in decorators}

    def changes(self):
        """Return all changes of the module."""
        return mutations.changes(self.tree, vars(importlib.import_module(self.module)))

    def shown(self):
        """Return whether a change is of what the page prints, or names with its function."""
        page = self.text.read_text("utf-8")
        printed = re.findall(r":pyobject: ([\w.]+)", page)
        spans = re.findall(r"`([^`\n]+)`", re.sub(r"(?s)```\{code-cell.*?\n```", "", page))
        words = set(re.findall(r"\w+", " ".join(spans)))

        def on_page(change):
            kind, function, _, text = change
            named = {function.split(".")[0], re.match(r"(default |self\.)?(\w*)", text)[2]}
            return function in printed or (kind in mutations.HUMAN[:3] and named <= words)

        return on_page

    def functions(self, module):
        """Return the functions and methods of the module by name, out of their wrappers."""
        found = {}
        for name in self.nodes:
            owner, _, last = name.rpartition(".")
            function = vars(vars(module)[owner] if owner else module)[last]
            function = getattr(function, "fget", getattr(function, "__func__", function))
            found[name] = inspect.unwrap(getattr(function, "py_func", function))
        return found

    def plant(self, names):
        """Give some functions of the imported module the code that the tree has now."""
        made = importlib.util.module_from_spec(importlib.util.find_spec(self.module))
        tree = ast.fix_missing_locations(self.tree)
        exec(compile(tree, str(self.file), "exec"), vars(made))
        old, new = self.functions(sys.modules[self.module]), self.functions(made)
        for name in names:
            for part in ("__code__", "__defaults__", "__kwdefaults__"):
                setattr(old[name], part, getattr(new[name], part))

    def claims(self, numbers):
        """Try changes on the cells."""
        import jupytext
        from matplotlib import pyplot

        cells = [c.source for c in jupytext.read(self.text).cells if c.cell_type == "code"]
        space = {"__name__": "__main__"}
        os.chdir(self.text.parent)

        def run(k):
            try:
                exec(compile(cells[k], f"<cell {k}>", "exec"), space)
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
                claim = re.match(r"ClaimFailure: ([\w-]+)", said)
                return claim[1] if claim else "", f"cell {k}: {said}"
            pyplot.close("all")

        return self.attempt(numbers, run, len(cells), in_order=True)

    def tests(self, numbers):
        """Try changes on the tests of the module and the examples in it."""
        import pytest
        from _pytest.runner import runtestprotocol

        ends, names = [], (self.file.stem, "every_estimator")

        def loop(session):
            def run(k):
                reports = runtestprotocol(session.items[k], log=False)
                return next((("", r.longreprtext) for r in reports if r.failed), None)

            ends.append(self.attempt(numbers, run, len(session.items)))
            return True

        os.chdir(ROOT)
        files = [str(p) for name in names for p in ROOT.glob(f"tests/**/test_{name}.py")]
        options = "-s -p no:nbval -p no:cacheprovider --hypothesis-profile=ci --doctest-modules"
        plugins = [SimpleNamespace(pytest_runtestloop=loop)]
        pytest.main([*options.split(), str(self.file), *files], plugins=plugins)
        return ends[0]

    def attempt(self, numbers, run, steps, in_order=False):
        """Try changes on the steps that reach them; return ``{number: (what failed, effects)}``."""
        made, plain = self.changes(), "NUMBA_DISABLE_JIT" in os.environ

        def survey():
            names = [name for name in self.nodes if plain or name not in self.loops]
            for name in names:
                self.nodes[name].body[:0] = ast.parse(f"__reach__({name!r})").body
            self.plant(names)
            found = []
            for k in range(steps):
                reached.clear()
                start = time.process_time()
                if failed := run(k):
                    return failed, []
                found.append((set(reached), time.process_time() - start))
            return found, list(sys.modules)

        found, libraries = aside(survey)
        if isinstance(found, tuple):
            return f"{self.text.stem} fails before anything is changed: {found[1]}"
        for name in libraries:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        todo, ends, ready = {}, {}, 0
        for n in numbers:
            reach = [k for k in range(steps) if made[n].function in found[k][0]]
            if made[n].kind == "default moved" and not in_order:  # a table reaches no function
                reach += [k for k in range(steps) if not found[k][0]]
            all_on = list(range(min(reach, default=steps), steps))
            todo[n] = all_on if in_order else sorted(reach, key=lambda k: found[k][1])

        def work(n):
            mutations.make(made[n])
            self.plant([made[n].function])
            return next(filter(None, map(run, todo[n])), None), mutations.effects

        for n in sorted(numbers, key=lambda n: todo[n][:1]):
            while in_order and todo[n] and ready < todo[n][0]:
                run(ready)
                ready += 1
            seconds = 5 * sum(found[k][1] for k in todo[n]) + 5
            ends[n] = aside(partial(work, n), seconds) if todo[n] else (None, set())
        return ends


def aside(work, seconds=36000):
    """Return what ``work()`` returns in a fork; a fault was noticed if that ends before."""

    def inside(there):
        import resource

        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1,) * 2)
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30,) * 2)
        for standard in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), standard)
        there.send(work())

    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=inside, args=(there,))
    process.start()
    there.close()
    try:
        for _ in range(int(6 * seconds) + 60):
            if here.poll(1):
                return here.recv()
            if not process.is_alive() and not here.poll():
                break
    except EOFError:  # it crashed, or its time was over
        pass
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)  # what it has started, too
        process.join()
    return ("", "the process ended"), set()


def audit(chapter, groups, stages, sample, only):
    """Plant the faults of a chapter; return ``[(change, {stage: what failed}), ...]``."""
    made, drawn = aside(lambda: [c[:4] for c in chapter.changes()]), []
    for group, kinds in groups.items():
        part = [n for n, c in enumerate(made) if c[0] in kinds and only in (None, c[1])]
        few = min(len(part), sample or (SAMPLE if group == "mechanical" else len(part)))
        drawn += sorted(random.Random(chapter.text.stem).sample(part, few))
    ends = {stage: {} for stage in stages}
    for plain in (False, True):
        os.environ |= {"NUMBA_DISABLE_JIT": "1"} if plain else {}
        numbers = [n for n in drawn if (made[n][1] in chapter.loops) == plain]
        for stage in stages if numbers else ():
            found = aside(partial(getattr(chapter, stage), numbers))
            if not isinstance(found, dict):
                sys.exit(str(found))
            ends[stage] |= found
    rows = {n: {stage: ends[stage][n][0] for stage in stages} for n in drawn}
    did = {n: set().union(*(ends[stage][n][1] for stage in stages)) for n in drawn}
    idle = {n for n in drawn if did[n] == {False}}  # a text has no double, a number no reverse
    return [
        (made[n], failed) for n, failed in rows.items() if any(failed.values()) or n not in idle
    ]


def counts(rows):
    """Return how many changes were tried, how many each stage noticed, and no stage."""
    found = [failed for _, failed in rows]
    noticed = {stage: sum(bool(f.get(stage)) for f in found) for stage in STAGES}
    return {"tried": len(rows), **noticed, "alive": sum(not any(f.values()) for f in found)}


def publish(slug, group, rows):
    """Enter the score of a chapter, with the date of the code."""
    blocks = (yaml.safe_load(SCORES.read_text("utf-8")) if SCORES.exists() else None) or {}
    entry, date = blocks.setdefault(slug, {}), f"git -C '{ROOT}' log -1 --format=%cs"
    entry[group] = {"code": subprocess.getoutput(date), **counts(rows)}
    by = Counter(failed["claims"][0] for _, failed in rows if failed["claims"])
    entry[f"{group} by claim"] = {claim: by[claim] for claim in sorted(by) if claim}
    head = "# Planted faults that were tried, and what noticed them: written by `make mutants`.\n"
    style = {"default_flow_style": None, "width": 100, "sort_keys": False}
    SCORES.write_text(head + yaml.safe_dump(dict(sorted(blocks.items())), **style), "utf-8")


def main():
    """Audit the chapters that are asked for."""
    os.environ["MPLBACKEND"] = "Agg"
    if not hasattr(os, "fork"):
        sys.exit("Faults are planted in forks, which Linux and macOS have: use WSL on Windows.")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    texts = {p.stem: p for p in sorted(ROOT.glob("chapters/*/*.md")) if p.parent.name != "slips"}
    parser.add_argument("chapter", choices=texts)
    parser.add_argument("--kind", choices=(*GROUPS, "all"), default="all")
    parser.add_argument("--stage", choices=(*STAGES, "both"), default="both")
    parser.add_argument("--sample", type=int, help="try so many of each kind, the same each time")
    parser.add_argument("--function", help="only the changes of this function")
    options = parser.parse_args()
    chapter = Chapter(texts[options.chapter])
    groups = {name: kinds for name, kinds in GROUPS.items() if options.kind in (name, "all")}
    stages = STAGES if options.stage == "both" else [options.stage]
    rows = audit(chapter, groups, stages, options.sample, options.function)
    lines = chapter.file.read_text("utf-8").splitlines()
    for (_, function, line, text), failed in rows:
        if missed := [stage for stage in stages if not failed[stage]]:
            end = "alive" if len(missed) == len(stages) else f"no {missed[0]}"
            text = f"{chapter.file.stem}:{line}  {function}  {text}    | {lines[line - 1].strip()}"
            print(f"{end:<10} {text}")
    print(f"\n{chapter.text.stem:<28}{'tried':>8}{'claims':>8}{'tests':>8}{'alive':>8}")
    for name, kinds in ({kind: [kind] for kind in sum(groups.values(), ())} | groups).items():
        part = [row for row in rows if row[0][0] in kinds]
        print(f"{name:<28}" + "".join(f"{n:>8}" for n in counts(part).values()))
        if name in groups and stages == STAGES and not (options.sample or options.function):
            publish(chapter.text.stem, name, part)
    on_page = chapter.shown()
    part = [row for row in rows if on_page(row[0])]
    print(f"{'printed or named':<28}" + "".join(f"{n:>8}" for n in counts(part).values()))


if __name__ == "__main__":
    main()
