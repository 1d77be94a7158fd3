"""The grader graded: which wrong versions of a function do the claims of its chapter refuse?

    python tools/graded.py perceptron

Each function that the page prints is replaced by itself, which must pass, and then by the wrong
versions that ``tools/mutations.py`` makes of it, each in a fork; what grades a student's function
grades them. The count is entered in ``registers/grading.yml``, and those that pass by their line.
"""

import argparse
import ast
import contextlib
import importlib
import inspect
import os
import random
import sys
import time
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools"), str(ROOT / "tests" / "course")]

import mutations  # noqa: E402
import yaml  # noqa: E402
from mutants import aside  # noqa: E402

from mllib.course import exercises, running  # noqa: E402
from mllib.course.page import page, slugs  # noqa: E402

SCORES = ROOT / "registers" / "grading.yml"
SAMPLE = 60  # mechanical changes of a function; those of the human kinds are all tried


def tree_of(module):
    """Return the syntax tree of a module of the library."""
    return ast.parse(inspect.getsource(importlib.import_module(module)))


def versions(module, name):
    """Return the wrong versions of a function: [(kind, text, line, source)]."""
    tree, space = tree_of(module), vars(importlib.import_module(module))
    every = [c for c in mutations.changes(tree, space) if c.function == name]
    slips = [k for k, change in enumerate(every) if change.kind not in mutations.HUMAN]
    few = set(random.Random(name).sample(slips, min(SAMPLE, len(slips))))
    node, made = stripped(mutations.functions(tree)[name]), []
    for k, change in enumerate(every):
        if k in few or k not in slips:
            back = mutations.make(change)
            text = ast.unparse(ast.fix_missing_locations(node))
            mutations.make(back)
            made.append((change.kind, change.text, change.line, text))
    return made


def grade(slug, module, name, source):
    """Return whether a version ever acts otherwise, what refuses it, or ""; and the effects."""
    refused, differs = [], []

    def say(message):
        if isinstance(message, running.Outcome) and not message.passed:
            refused.append(message.what)
            raise Enough
        if isinstance(message, list):
            differs.extend(text for _, text in message if text)

    run = running.Run(slug, {(module, name): source}, say)
    running.watch(run)  # ends the process when a call does not end, which refuses it
    with contextlib.suppress(Enough):
        run.check()
    return (bool(differs), (refused or [""])[0]), mutations.effects


class Enough(BaseException):
    """Ends a run at the first refusal."""


def audit(slug):
    """Grade the versions of the printed functions of a chapter; return their scores."""
    chapter, scores = page(slug), {}
    warm = running.Run(slug, {}, None)
    warm.begin()  # the forks need not import again
    running.BUDGET, running.ALONE = 4, True
    for name, (module, _) in chapter.printed.items():
        text = ast.unparse(stripped(mutations.functions(tree_of(module))[name]))
        start = time.perf_counter()
        (_, reference), _ = aside(partial(grade, slug, module, name, text), 300)
        took = time.perf_counter() - start
        if reference:
            raise SystemExit(f"{name}: the library's own function is refused by {reference}")
        tried, alive, same = 0, [], []
        for kind, what, line, source in versions(module, name):
            (differs, refused), effects = aside(partial(grade, slug, module, name, source), 100)
            if not refused and effects == {False}:
                continue  # a text has no double, a number no reverse: nothing was changed
            if not refused and not differs:
                same.append(what)  # on every input of the chapter it does what the library does
            elif not refused:
                alive.append(what)
            tried += 1
            if not refused:
                print(f"passes  {name}:{line}  {kind}  {what}  {differs}", flush=True)
        refused = tried - len(alive) - len(same)
        print(f"{slug} {name}: {refused} of {tried}, {len(same)} same; {took:.1f} s", flush=True)
        scores[name] = {"tried": tried, "refused": refused, "passed": alive, "no difference": same}
    return scores


def answers(slug):
    """Return for each exercise of a chapter its kind, and how many wrong answers are refused."""
    told = importlib.import_module(slug.replace("-", "_"))
    scores = {}
    for label in page(slug).exercises:
        found = exercises.entry(label)
        if found is None or found.check is None:
            scores[label] = {"kind": "none" if found is None else "proof"}
            continue
        if found.kind == "breaks" and not exercises.answer(label, eval(told.RIGHT[label])).passed:
            raise SystemExit(f"{label}: the solution of the chapter is refused")
        wrong = told.WRONG[label]
        refused = sum(not exercises.answer(label, *given).passed for given in wrong)
        scores[label] = {"kind": found.kind, "tried": len(wrong), "refused": refused}
        print(f"{label}: {refused} of {len(wrong)} refused", flush=True)
    return scores


def stripped(node):
    """Return a function without its decorators."""
    node.decorator_list = []
    return node


def enter(slug, part, scores):
    """Enter the scores of a chapter in the register."""
    blocks = (yaml.safe_load(SCORES.read_text("utf-8")) if SCORES.exists() else None) or {}
    blocks.setdefault(slug, {})[part] = scores
    head = (
        "# Wrong versions of functions and wrong answers to exercises, and how many grading\n"
        "# refuses; the right ones pass. Written by tools/graded.py.\n"
    )
    style = {"default_flow_style": None, "width": 100, "sort_keys": False}
    text = yaml.safe_dump(dict(sorted(blocks.items())), **style)
    SCORES.write_text(head + text, "utf-8")


def main():
    """Grade the chapters that are asked for."""
    os.environ["MPLBACKEND"] = "Agg"
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("chapter", choices=slugs(), nargs="+")
    for slug in parser.parse_args().chapter:
        enter(slug, "functions", audit(slug))
        enter(slug, "exercises", answers(slug))


if __name__ == "__main__":
    main()
