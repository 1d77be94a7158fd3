"""What ``make mutants`` counted: how many planted faults of its code a chapter notices.

Nothing is taken from what was tried: a change that makes no difference counts as alive.
``chapters/mutants.yml`` may be missing, and so may any chapter in it: then nothing is said.
"""

from pathlib import Path

import yaml

from _ext.once import QUICK, once
from _ext.registers import verdicts

#: How a change dies; every other end is a change that lives.
DEATHS = ("claim", "assert", "error", "time")


@once
def _read(path):
    return yaml.load(path.read_text(encoding="utf-8"), Loader=QUICK) or {}


def blocks(folder):
    """Return {slug: what was counted for the chapter}."""
    path = Path(folder) / verdicts.MUTANTS
    return _read(path) if path.exists() else {}


def counted(folder, slugs):
    """Return how many faults were planted in some chapters, and how many of them were noticed."""
    found = [block for slug, block in blocks(folder).items() if slug in slugs]
    known = [block for block in found if {"tried", "all"} <= set(block)]
    died = sum(block["all"].get(way, 0) for block in known for way in DEATHS)
    return sum(block["tried"] for block in known), died


def sentence(folder, slugs):
    """Return in words how many planted faults of some chapters died, and lived; "" if unknown."""
    tried, died = counted(folder, slugs)
    if not tried:
        return ""
    of = "this chapter" if len(slugs) == 1 else "the chapters"
    share = f"{died / tried:.0%}".replace("%", "\N{NO-BREAK SPACE}%")
    all_, dead, alive = map(verdicts.number, (tried, died, tried - died))
    return (
        f"Planted faults: {all_} small changes were tried in the code of {of}. When the cells ran "
        f"again, a claim, an assert, an error or the clock noticed {dead} of them ({share}); "
        f"{alive} stayed alive."
    )
