"""What ``make mutants`` counted: how many planted faults of its code a chapter notices.

Nothing is taken from what was tried: a change that makes no difference counts as alive.
``registers/mutants.yml`` may be missing, and so may any chapter in it: then nothing is said.
"""

from collections import Counter
from pathlib import Path

from _ext.registers import register, verdicts

MUTANTS = "registers/mutants.yml"
#: The two sums of a chapter, in words.
KINDS = {
    "mechanical": "small mechanical changes (a sign, a comparison, a constant)",
    "human": "slips of a person (an argument ignored, another default, a field of a result zeroed, "
    "doubled or reversed, another statistic)",
}


def _blocks(folder):
    """Return {slug: what was counted for the chapter}."""
    return register.load(Path(folder) / MUTANTS) or {}


def scores(folder, slugs, kind):
    """Return what was counted for some chapters, of one kind of change."""
    found = [block.get(kind) for slug, block in _blocks(folder).items() if slug in slugs]
    return [score for score in found if score]


def kills(folder):
    """Return {name of a claim: planted faults that it caught}."""
    blocks = _blocks(folder).values()
    by_claim = (f for one in blocks for kind, f in one.items() if kind.endswith("claim"))
    return dict(sum(map(Counter, by_claim), Counter()))


def counted(folder, slugs):
    """Return how many faults were planted in some chapters, and how many their cells noticed."""
    known = [score for kind in KINDS for score in scores(folder, slugs, kind)]
    return sum(score["tried"] for score in known), sum(score["claims"] for score in known)


def sentence(folder, slugs):
    """Return in words how many faults were planted and what noticed them; "" if unknown."""
    of = "this chapter" if len(slugs) == 1 else "the chapters"
    said = []
    for kind, words in KINDS.items():
        if known := scores(folder, slugs, kind):
            names = ("tried", "claims", "tests", "alive")
            tried, claims, tests, alive = (sum(s.get(n) or 0 for s in known) for n in names)
            parts = [f"{n / max(1, tried):.0%}" for n in (claims, tests)]
            share, other = (part.replace("%", "\N{NO-BREAK SPACE}%") for part in parts)
            tried, claims, tests, alive = map(verdicts.number, (tried, claims, tests, alive))
            asked = all(score["tests"] is not None for score in known)
            more = f", the tests of the library {tests} ({other})" if asked else ""
            said.append(
                f"Of {tried} {words}, planted one at a time in the code of {of}, the cells noticed "
                f"{claims} when they ran again ({share}){more}; {alive} stayed alive."
            )
    return " ".join(said)
