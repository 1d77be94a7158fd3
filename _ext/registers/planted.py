"""What ``make mutants`` counted: how many planted faults of its code a chapter notices.

Nothing is taken from what was tried: a change that makes no difference counts as alive.
``chapters/mutants.yml`` may be missing, and so may any chapter in it: then nothing is said.
"""

from pathlib import Path

import yaml

from _ext.once import QUICK, once
from _ext.registers import verdicts

#: The two sums of a chapter, in words.
KINDS = {
    "mechanical": "small mechanical changes (a sign, a comparison, a constant)",
    "human": "slips of a person (an argument ignored, another default, a field of a result zeroed, "
    "doubled or reversed, another statistic)",
}


@once
def _read(path):
    return yaml.load(path.read_text(encoding="utf-8"), Loader=QUICK) or {}


def blocks(folder):
    """Return {slug: what was counted for the chapter}."""
    path = Path(folder) / verdicts.MUTANTS
    return _read(path) if path.exists() else {}


def scores(folder, slugs, kind):
    """Return what was counted for some chapters, of one kind of change."""
    found = [block.get(kind) for slug, block in blocks(folder).items() if slug in slugs]
    return [score for score in found if score]


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
            sums = [
                sum(s.get(n) or 0 for s in known) for n in ("tried", "claims", "tests", "alive")
            ]
            share = f"{sums[1] / max(1, sums[0]):.0%}".replace("%", "\N{NO-BREAK SPACE}%")
            tried, claims, tests, alive = map(verdicts.number, sums)
            more = f", the tests of the library alone {tests} more" if sums[2] else ""
            said.append(
                f"Of {tried} {words}, planted one at a time in the code of {of}, the cells noticed "
                f"{claims} when they ran again ({share}){more}; {alive} stayed alive."
            )
    return " ".join(said)
