"""Your own code under the theorems of the book.

    from mllib.course import check, hint, mine

    @mine
    def kernel_perceptron(K, y, *, max_epochs=1000):
        ...

    check("perceptron")              # which statements of the chapter hold with it?
    hint("kernel_perceptron")        # the equation; then the step of the proof; then the loop

``@mine`` puts a function where the library has one of that name; the other functions stay the
library's, so every task can be done alone. ``check`` runs what the chapter claims and asserts of
it in a process of its own, and shows the verdicts of the book. None of this holds a solution back:
the truth of a claim comes from an enumeration, a fraction, another formula.
"""

import importlib
import importlib.util
import inspect
import re
import sys
import time

from mllib.course.hints import EMPTY, hints
from mllib.course.page import page, slugs
from mllib.course.running import Outcome, apart, place
from mllib.course.running import check as run

__all__ = ["Report", "check", "hint", "mine"]

#: The student's functions: {(module, name): function}.
MINE = {}


def chapters_of(name):
    """Return the chapters whose module has, or whose page prints, a function of this name."""
    return [slug for slug in slugs() if module_of(slug, name)]


def module_of(slug, name):
    """Return the module where a chapter has a function, or None."""
    chapter = page(slug)
    if name in chapter.printed:
        return chapter.printed[name][0]
    path = importlib.util.find_spec(chapter.module).origin
    with open(path, encoding="utf-8") as source:
        return chapter.module if re.search(rf"(?m)^def {name}\(", source.read()) else None


def mine(function):
    """Put a function in the place of the library's of that name; use as a decorator.

    Where several chapters have a function of that name, say which: ``@mine("k-means")``.
    """
    if isinstance(function, str):
        return lambda decorated: _put(function, decorated)
    found = chapters_of(function.__name__)
    if len(found) > 1:
        raise ValueError(
            f"{function.__name__} stands in several chapters: write @mine({found[0]!r}), "
            f"or another of {', '.join(found[1:])}."
        )
    return _put(found[0] if found else "", function)


def _put(slug, function):
    name = function.__name__
    module = module_of(slug, name) if slug else None
    if module is None:
        raise ValueError(f"No chapter has a function {name!r} that yours could replace.")
    importlib.import_module(module)
    if unwritten(function):
        print(f"{name} is still empty; the library's works in its place.")
        return getattr(sys.modules[module], name)
    MINE[module, name] = function
    place(module, name, function)
    return function


def unwritten(function):
    """Whether a function still ends in the line that the workbook left in it."""
    try:
        return EMPTY in inspect.getsource(function)
    except (OSError, TypeError):  # its source is not at hand
        return False


class Report:
    """What a check found: shown as cards in a notebook, as lines elsewhere."""

    def __init__(self, title, outcomes, remark="", seconds=0.0):
        self.title, self.outcomes, self.remark = title, outcomes, remark
        self.seconds = seconds

    @property
    def passed(self):
        """Whether everything holds."""
        return bool(self.outcomes) and all(outcome.passed for outcome in self.outcomes)

    @property
    def score(self):
        """The share of the checks that hold, from 0 to 1."""
        held = sum(outcome.passed for outcome in self.outcomes)
        return held / len(self.outcomes) if self.outcomes else 0.0

    def require(self):
        """Show the report and raise an ``AssertionError`` unless all holds."""
        print(self)
        if not self.passed:
            failed = [outcome.what for outcome in self.outcomes if not outcome.passed]
            raise AssertionError("; ".join(failed) or self.remark)

    def _head(self):
        if not self.outcomes:
            return self.title
        held = sum(outcome.passed for outcome in self.outcomes)
        return f"{self.title}: {held} of {len(self.outcomes)} hold"

    def __repr__(self):
        lines = [self._head()]
        for outcome in self.outcomes:
            lines.append(f"{'holds' if outcome.passed else 'FAILS'}  {outcome.what}")
            if not outcome.passed:
                lines += ["  " + line for line in outcome.plain.splitlines()]
        return "\n".join([*lines, self.remark] if self.remark else lines)

    def _repr_markdown_(self):
        parts = [f"**{self._head()}**"]
        held = [o for o in self.outcomes if o.passed]
        for outcome in self.outcomes:
            if not outcome.passed:
                parts.append(f"✗ **{outcome.what}**\n\n{outcome.card}")
        if self.remark:
            parts.append(self.remark)
        if held:
            cards = "\n\n".join(f"✓ **{o.what}**\n\n{o.card}" for o in held)
            summary = f"<summary>{len(held)} that hold</summary>"
            parts.append(f"<details>{summary}\n\n{cards}\n\n</details>")
        return "\n\n".join(parts)


def check(slug, *names):
    """Run what a chapter claims and asserts of your functions; return a ``Report``.

    Parameters
    ----------
    slug : str; the chapter, such as "perceptron"
    *names : str, optional; the functions to check, instead of all of this chapter that are yours
    """
    chapter = page(slug)
    for name in names:
        if module_of(slug, name) is None:
            raise ValueError(f"{chapter.title} has no function {name!r}.")
    own = {chapter.module, *(module for module, _ in chapter.printed.values())}
    functions = {key: f for key, f in MINE.items() if key[0] in own}
    if names:
        functions = {key: f for key, f in functions.items() if key[1] in names}
    if not functions:
        what = " or ".join(names) or ", ".join(chapter.printed) or "a function"
        return Report(chapter.title, [], f"Nothing to check yet: write {what} under @mine first.")
    start = time.perf_counter()
    messages = apart(run, slug, functions)
    return report(slug, functions, messages, time.perf_counter() - start)


def report(slug, functions, messages, seconds):
    """Make a report of what a run said."""
    outcomes = [titled(page(slug), m) for m in messages if isinstance(m, Outcome)]
    own = {f"`{name}`" for _, name in functions}
    outcomes.sort(key=lambda o: o.passed or o.what not in own)  # first what explains the rest
    if messages[-1] is None:
        said = "The run ended before its end: it took too long, asked for too much memory, or died."
        outcomes.append(Outcome("The process", False, said, said))
    different = [pair for m in messages if isinstance(m, list) for pair in m if pair[1]]
    said = [f"The first case that looks wrong in `{name}`: {text}." for name, text in different]
    if different and all(outcome.passed for outcome in outcomes):
        said = [
            f"No check sees it, but `{name}` differs from the library's. That need not be wrong: "
            f"there may be more than one right answer, as at a tie. {text}."
            for name, text in different
        ]
    names = ", ".join(f"`{name}`" for _, name in functions)
    return Report(f"{page(slug).title} with your {names}", outcomes, "\n\n".join(said), seconds)


def titled(chapter, outcome):
    """Put the title of a statement before the name of its claim."""
    first = outcome.what.split(", ")[0]
    if first in chapter.statements:
        title = chapter.statements[first].title
        return outcome._replace(what=f"{title} ({outcome.what})" if title else outcome.what)
    return outcome


def hint(name, chapter=None):
    """Give one more hint for a function each time: its equation, its proof, the shape of its loop.

    Parameters
    ----------
    name : str or function; what you are writing
    chapter : str, optional; needed where several chapters have a function of that name
    """
    name = getattr(name, "__name__", name)
    slug = chapter or next(iter(chapters_of(name)), None)
    if slug is None or module_of(slug, name) is None:
        raise ValueError(f"No chapter has a function {name!r}.")
    given = hints(slug, module_of(slug, name), name)
    GIVEN[slug, name] = min(GIVEN.get((slug, name), 0) + 1, len(given))
    number = GIVEN[slug, name]
    return Hint(f"**Hint {number} of {len(given)}.** {given[number - 1]}")


#: How many hints were given: {(chapter, function): number}.
GIVEN = {}


class Hint(str):
    """A hint, typeset in a notebook."""

    __slots__ = ()

    def _repr_markdown_(self):
        return str(self)

    __repr__ = str.__str__
