"""Exercises that check themselves.

    from mllib.course import answer

    answer("ex-perceptron-margin")                       # what to hand in; the points of a proof
    answer("ex-perceptron-margin", margin_perceptron)    # is it right?

Each chapter has a file here, with one entry for each of its exercises:

- ``@code(label, expects)``: a check ``check(c, answer)`` of what is handed in, which says sentence
  by sentence what holds, ``c.holds(...)`` as in a claim; its truth comes from an enumeration or
  from numbers worked out by hand, never from a solution;
- ``value(label, expects, digest)``: a number, a yes or no, a law; the file keeps a digest of it;
- ``breaks(label, changes)``: which claim notices which fault? The claims that are named are run;
- ``points(label, ...)``: what a proof must say, shown when it is asked for.
"""

import functools
import hashlib
import inspect
import time
import traceback
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from mllib.course import claims, running
from mllib.course.hints import source
from mllib.course.page import page, slugs
from mllib.course.running import (
    Outcome,
    Run,
    Watched,
    apart,
    check,
    claimed,
    verdicts,
    watch,
)

__all__ = ["answer", "breaks", "code", "digest", "entry", "judge", "points", "value"]


class Entry(NamedTuple):
    """How an exercise knows that it was done."""

    kind: str  #: "code", "value", "breaks" or "proof"
    expects: str  #: what to hand in, one sentence
    check: object = None
    points: tuple = ()


ENTRIES = {}


def _enter(label, **fields):
    ENTRIES[label] = ENTRIES.get(label, Entry("proof", ""))._replace(**fields)


def code(label, expects):
    """Check what is handed in by a function ``check(c, *answer)``; a decorator."""
    return lambda check: _enter(label, kind="code", expects=expects, check=check)


def value(label, expects, kept, *, digits=3, at=()):
    """Check a value by its digest; a law, a function, by its values at the points ``at``.

    ``kept`` is what ``digest(label, right, digits)`` gives for the right answer.
    """

    def right(c, *given):
        given = given[0] if len(given) == 1 else given
        if callable(given):
            given = [given(*np.atleast_1d(point)) for point in at]
        found = any(digest(label, near, digits) == kept for near in _near(given, digits))
        c.holds("the answer is right", found)

    _enter(label, kind="value", expects=expects, check=right)


def breaks(label, changes):
    """Check which claims notice faults: ``changes`` are triples (function, old code, new code).

    The function, or class, stands in the chapter's module, or is named like "core.chunks.tree_sum".
    """
    expects = f"the names of {len(changes)} claims, one for each change in its order"
    _enter(label, kind="breaks", expects=expects, check=changes)


def points(label, *said):
    """List what a proof must say."""
    _enter(label, points=said)


# Values --------------------------------------------------------------------------------------


def digest(label, given, digits=3):
    """Return a digest of an answer, equal for equal forms of it."""
    text = f"{label} {_plain(given, digits)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(given, digits):
    """Write an answer in one way: yes or no, words, numbers rounded, lists of them."""
    if isinstance(given, (bool, np.bool_)):
        return "yes" if given else "no"
    if isinstance(given, str):
        words = " ".join(given.lower().replace("-", " ").split()).strip(".")
        return {"true": "yes", "false": "no"}.get(words, words)
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, (list, tuple)) or np.ndim(given):
        return "[" + " ".join(_plain(part, digits) for part in given) + "]"
    number = f"{float(given):.{digits - 1}e}"
    return number.replace("-", "", 1) if float(number) == 0 else number


def _near(given, digits):
    """Return an answer, and for a number its neighbours, which it may have been rounded to."""
    if isinstance(given, (bool, np.bool_, str)) or not isinstance(
        given, (int, float, Fraction, np.number)
    ):
        return [given]
    step = 0.5 * 10.0 ** (1 - digits) * 10.0 ** np.floor(np.log10(abs(float(given)) or 1))
    whole = float(given).is_integer() and abs(given) < 10**digits
    return [given] if whole else [given, float(given) - 0.9 * step, float(given) + 0.9 * step]


# Answers -------------------------------------------------------------------------------------


def chapter_of(label):
    """Return the chapter that has an exercise."""
    found = [slug for slug in slugs() if label.startswith(f"ex-{slug}-")]
    slug = max(found, key=len, default=None)
    if slug is None or label not in page(slug).exercises:
        known = ", ".join(page(slug).exercises) if slug else "names begin with ex- and the chapter"
        raise ValueError(f"There is no exercise {label!r}; {known}.")
    return slug


def entry(label):
    """Return the entry of an exercise, or None where it has none."""
    module = f"mllib.course.exercises.{chapter_of(label).replace('-', '_')}"
    if find_spec(module):
        import_module(module)
    return ENTRIES.get(label)


def answer(label, *given):
    """Say whether an answer is right; without one, what to hand in and what a proof must say.

    For None, an answer that is still empty, it says what to hand in and no more.

    Parameters
    ----------
    label : str; the exercise, such as "ex-perceptron-margin"
    *given : what the exercise asks for: a function, a number, words
    """
    from mllib.course.grading import Report

    given = given[0] if len(given) == 1 and isinstance(given[0], tuple) else given
    empty = len(given) == 1 and given[0] is None
    given = () if empty else given
    found, title = entry(label), page(chapter_of(label)).exercises[label]["title"]
    if found is None:
        said = "It has no check; its solution stands in the chapter."
        return Report(title, [], said)
    if not given or found.check is None:
        parts = [f"Hand in {found.expects}."] if found.check else []
        if found.points and empty:
            parts.append(f"When you have tried: `answer({label!r})` shows what a proof must say.")
        elif found.points:
            listed = "\n".join(f"- {point}" for point in found.points)
            parts.append(f"A proof makes these points:\n\n{listed}")
        return Report(title, [], "\n\n".join(parts))
    start = time.perf_counter()
    if found.kind == "breaks":  # each claim has a process of its own
        messages = []
        judge(label, given, messages.append)
    else:
        messages = apart(judge, label, given)
    outcomes = [m for m in messages if isinstance(m, Outcome)]
    if messages[-1] is None:
        said = "The check ended before its end: out of time or memory."
        outcomes.append(Outcome(label, False, said, said))
    return Report(title, outcomes, seconds=time.perf_counter() - start)


def judge(label, given, say):
    """Check an answer where it is; ``apart`` lets this run in a process of its own."""
    found, slug = entry(label), chapter_of(label)
    if found.kind == "breaks":
        _judge_claims(slug, label, found.check, given, say)
        return
    run = Run(slug, {}, say)
    run.at, run.watched = label, [Watched(_name(g), g, None) for g in given if callable(g)]
    watch(run)
    careful = iter(run.watched)
    given = [next(careful) if callable(g) else g for g in given]
    run.since, said = time.process_time(), ""
    if number := _other_number(found.check, given):
        said = f"{number} Hand in {found.expects}."
        say(Outcome(label, False, said, said))
        return
    with verdicts() as shown:
        try:
            with claims.claim(label) as c:
                found.check(c, *given)
        except claims.ClaimFailure as error:
            said = "" if shown else str(error)
        except Exception as error:
            said = f"{_stopped(error)} Hand in {found.expects}."
    run.since = None
    plain, card = shown[-1] if shown else ("", "")
    if found.kind == "value" and not said and "FAILS" in plain:
        said = f"Hand in {found.expects}."
    passed = not said and "FAILS" not in plain
    say(Outcome(label, passed, f"{card}\n\n{said}".strip(), f"{plain}\n{said}".strip()))
    run.say_faults()


def _other_number(check, given):
    """Say how many things are handed in, where a check takes another number; else ""."""
    wanted = list(inspect.signature(check).parameters.values())[1:]
    if any(w.kind is w.VAR_POSITIONAL for w in wanted) or len(wanted) == len(given):
        return ""
    return f"You handed in {len(given)}, and {len(wanted)} are asked for."


def _name(function):
    return getattr(function, "__name__", "your function")


def _stopped(error):
    """Say in one sentence what stopped the check."""
    steps = traceback.extract_tb(error.__traceback__)
    last = [step for step in steps if step.filename != running.__file__][-1]
    line = f", at `{last.line}`" if last.line else ""
    named = f"{type(error).__name__}: {error}".rstrip(".")
    return f"With your answer the check stopped: {named}{line}."


def _judge_claims(slug, label, changes, given, say):
    """Say of each claim that is named whether it notices its fault."""
    named = list(given[0]) if len(given) == 1 and not isinstance(given[0], str) else list(given)
    if len(named) != len(changes) or not all(isinstance(name, str) for name in named):
        said = f"There are {len(changes)} changes: hand in as many names of claims."
        say(Outcome(label, False, said, said))
        return
    for number, (name, change) in enumerate(zip(named, changes), 1):
        against = missed(slug, name, *change)
        said = against or "It notices the change."
        say(Outcome(f"Change {number}, caught by `{name}`", not against, said, said))


def planted(slug, function, old, new):
    """Return a change as grading takes it: the place of the function, and its changed source."""
    elsewhere, _, function = function.rpartition(".")
    module = f"mllib.{elsewhere}" if elsewhere else page(slug).module
    text = source(module, function)
    if old not in text:
        raise ValueError(f"{function} does not hold {old!r}.")
    return {(module, function): text.replace(old, new, 1)}


@functools.cache
def missed(slug, name, function, old, new):
    """Return why a claim does not notice a change of a function, a sentence; "" if it fails."""
    if name not in {found for cell in page(slug).cells for found in claimed(cell.source)}:
        return f"The chapter has no claim {name!r}."
    messages = apart(check, slug, planted(slug, function, old, new), {name})
    if messages[-1] is None:
        return "It did not come to its end, so nothing is known: try again."
    outcomes = [m for m in messages if isinstance(m, Outcome) and name in m.what]
    return "It holds with the change too." if all(m.passed for m in outcomes) else ""
