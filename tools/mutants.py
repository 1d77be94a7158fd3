"""Plant faults in the code of a chapter, one at a time, and tell what notices them: an audit.

    python tools/mutants.py perceptron --kind human --function Perceptron.fit

For each change a fork imports the changed module and runs the cells, from the first that imports
it to the last, until one fails. A change that lives goes on to the tests of the module. A compiled
loop that is changed runs, with all others, as plain Python, for what is compiled is kept on disk
by its file. No code is changed on disk; a run over all functions with the usual sample enters its
score in ``registers/mutants.yml``.
"""

import argparse
import ast
import contextlib
import importlib.util
import multiprocessing
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

os.environ |= {"SCIPY_ARRAY_API": "1", "MPLBACKEND": "Agg"}
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import mutations  # noqa: E402
import yaml  # noqa: E402

SAMPLE = 60  # mechanical changes of a chapter; those of the human kinds are all tried
GROUPS = {"mechanical": mutations.KINDS[:1], "human": mutations.HUMAN}
SCORES = ROOT / "registers" / "mutants.yml"


class Chapter:
    """The cells of a chapter, its module and the tests of that."""

    def __init__(self, text):
        name = text.stem.replace("-", "_")
        self.slug, self.folder, self.module = text.stem, text.parent, f"mllib.{name}"
        self.file = ROOT / "mllib" / f"{name}.py"
        self.tree = ast.parse(self.file.read_text("utf-8"))
        self.tests = [str(path) for path in ROOT.glob(f"tests/**/test_{name}.py")]
        marks = {n: ast.unparse(f)[:80] for n, f in mutations.functions(self.tree).items()}
        self.loops = {n for n, mark in marks.items() if re.match("@(compiled|.*jit)", mark)}
        cell = (
            r"(?ms)^(`{3,})\{code-cell\}[^\n]*\n(?:---\n.*?^---\n|(?::[\w-]+:[^\n]*\n)*)(.*?)^\1$"
        )
        self.cells = [code for _, code in re.findall(cell, text.read_text("utf-8"))]

    def run(self, space, first=0, last=None):
        """Run cells; return what noticed a fault, which claim, and the error or the seconds."""
        from matplotlib import pyplot

        os.chdir(self.folder)
        start = time.process_time()
        for k, cell in list(enumerate(self.cells))[first:last]:
            try:
                exec(compile(cell, f"<cell {k}>", "exec"), space)
            except BaseException as error:
                kind, said = type(error).__name__, str(error)
                claim = re.split(r"[:,] | \[", said)[0] if kind == "ClaimFailure" else ""
                return "claims", claim, f"cell {k}: {kind}: {said}"
            pyplot.close("all")
        return "alive", "", time.process_time() - start

    def test(self):
        """Run the tests of the module; return the same."""
        import pytest

        os.chdir(ROOT)
        start = time.process_time()
        code = pytest.main(["-x", "-q", "-p", "no:nbval", "-p", "no:cacheprovider", *self.tests])
        return ("tests", "", "tests") if code else ("alive", "", time.process_time() - start)

    def survey(self):
        """Run the cells as they are; return what a change of the module has to know."""
        space = {"__name__": "__main__"}
        for first in range(len(self.cells)):
            self.run(space, first, first + 1)
            if self.module in sys.modules:
                break
        self.run(space, first + 1)
        module = vars(sys.modules[self.module])
        known = mutations.records(module), mutations.choices(self.tree, module)
        return first, known, [n for n in sys.modules if not re.match(r"mllib\b", n)]

    def plant(self, change, plain, work):
        """Import the module with a change, then work."""
        if plain:
            os.environ["NUMBA_DISABLE_JIT"] = "1"
            if "numba" in sys.modules:
                sys.modules["numba"].config.DISABLE_JIT = 1
        if change:
            mutations.make(change)
        spec = importlib.util.find_spec(self.module)
        module = sys.modules[self.module] = importlib.util.module_from_spec(spec)
        exec(compile(self.tree, str(self.file), "exec"), vars(module))
        setattr(sys.modules["mllib"], self.file.stem, module)
        return work(), mutations.effects


def aside(work, seconds=3600):
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
        if here.poll(6 * seconds + 60):
            return here.recv()
    except EOFError:  # it crashed, or its time was over
        pass
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)  # what it has started, too
        process.join()
    return ("claims", "", "the process ended"), {}


def audit(chapter, groups, sample, only):
    """Plant the faults of a chapter; return ``[(change, what noticed it, which claim), ...]``."""
    first, known, libraries = aside(chapter.survey)
    for name in [*libraries, "pytest"]:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    space, times, rows = {"__name__": "__main__"}, {}, []
    chapter.run(space, 0, first)
    stages = [lambda: chapter.run(space, first)] + [chapter.test] * bool(chapter.tests)
    lines = chapter.file.read_text("utf-8").splitlines()

    def planted(change, stage):
        """Return how a change ends in the cells or in the tests, and what its twists did."""
        plain, work = change.function in chapter.loops, stages[stage]
        if (plain, stage) not in times:
            (end, _, took), _ = aside(lambda: chapter.plant(None, plain, work))
            if end != "alive":
                sys.exit(f"{chapter.slug} fails before anything is changed: {took}")
            times[plain, stage] = 5 * took + 5
        return aside(lambda: chapter.plant(change, plain, work), times[plain, stage])

    made = mutations.changes(chapter.tree, *known)
    for group, kinds in groups.items():
        drawn = [c for c in made if c.kind in kinds and only in (None, c.function)]
        few = min(len(drawn), sample or (SAMPLE if group == "mechanical" else len(drawn)))
        for k in sorted(random.Random(chapter.slug).sample(range(len(drawn)), few)):
            change, did = drawn[k], Counter()
            for stage in range(len(stages)):
                (end, claim, _), effects = planted(change, stage)
                did.update(effects)
                if end != "alive":
                    break
            if end == "alive" and did["called"] and not did["changed"]:
                continue  # there was nothing to change: a text has no double, a number no reverse
            end = "tests" if stage and end != "alive" else end
            rows.append((change, end, claim))
            if end != "claims":
                where = f"{chapter.file.stem}:{change.line}  {change.function}  {change.text}"
                print(f"{end:<6} {where}    | {lines[change.line - 1].strip()}", flush=True)
    return rows


def counts(rows):
    """Return how many changes were tried, and noticed by claims, by tests alone, by nothing."""
    ends = [end for _, end, _ in rows]
    return {"tried": len(rows), **{end: ends.count(end) for end in ("claims", "tests", "alive")}}


def publish(slug, group, rows):
    """Enter the score of a chapter, with the date of the code."""
    blocks = (yaml.safe_load(SCORES.read_text("utf-8")) if SCORES.exists() else None) or {}
    date = subprocess.getoutput(f"git -C '{ROOT}' log -1 --format=%cs")
    entry = blocks.setdefault(slug, {})
    entry[group] = {"code": date, **counts(rows)}
    entry[f"{group} by claim"] = dict(sorted(Counter(c for *_, c in rows if c).items()))
    head = "# Planted faults that were tried, and what noticed them: written by `make mutants`.\n"
    style = {"default_flow_style": None, "width": 100, "sort_keys": False}
    SCORES.write_text(head + yaml.safe_dump(dict(sorted(blocks.items())), **style), "utf-8")


def main():
    """Audit the chapters that are asked for."""
    if not hasattr(os, "fork"):
        sys.exit("Faults are planted in forks, which Linux and macOS have: use WSL on Windows.")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    paths = [path for path in sorted(ROOT.glob("chapters/*/*.md")) if path.parent.name != "slips"]
    texts = {path.stem: path for path in paths}
    parser.add_argument("chapter", choices=[*texts, "all"])
    parser.add_argument("--kind", choices=("human", "mechanical", "all"), default="all")
    parser.add_argument("--sample", type=int, help="try so many of each kind, the same each time")
    parser.add_argument("--function", help="only the changes of this function")
    options = parser.parse_args()
    if options.chapter == "all":
        for slug in texts:
            subprocess.run([sys.executable, __file__, slug, *sys.argv[2:]], check=False)
        return
    chapter = Chapter(texts[options.chapter])
    groups = {name: kinds for name, kinds in GROUPS.items() if options.kind in (name, "all")}
    rows = audit(chapter, groups, options.sample, options.function)
    print(f"\n{chapter.slug:<28}{'tried':>8}{'claims':>8}{'tests':>8}{'alive':>8}")
    for name, kinds in ({kind: [kind] for kind in sum(groups.values(), ())} | groups).items():
        part = [row for row in rows if row[0].kind in kinds]
        print(f"{name:<28}" + "".join(f"{n:>8}" for n in counts(part).values()))
        if name in groups and not options.sample and not options.function:
            publish(chapter.slug, name, part)


if __name__ == "__main__":
    main()
