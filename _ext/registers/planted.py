"""What ``make mutants`` counted: the share of the planted faults of its code a chapter notices.

``chapters/mutants.yml`` may be missing, and so may any chapter in it: then nothing is said.
"""

from pathlib import Path

import yaml

from _ext.once import QUICK, once
from _ext.registers.verdicts import MUTANTS

DEATHS = ("claim", "assert", "error", "time")
LIVES = ("output only", "alive")


@once
def _read(path):
    return yaml.load(path.read_text(encoding="utf-8"), Loader=QUICK) or {}


def blocks(folder):
    """Return {slug: what was counted for the chapter}."""
    path = Path(folder) / MUTANTS
    return _read(path) if path.exists() else {}


def sentence(folder, slugs):
    """Return in words what share of the planted faults of some chapters died; "" if unknown."""
    found = [block for slug, block in blocks(folder).items() if slug in slugs]
    known = [block for block in found if {"tried", "all", "printed"} <= set(block)]
    if not known:
        return ""
    of = "this chapter" if len(slugs) == 1 else f"{len(known)} chapters"
    tried = sum(b["tried"] for b in known)
    return (
        f"Planted faults: of {tried} small changes in the code of {of}, {_share(known, 'all')} "
        "were noticed when the cells ran again; of those in printed code "
        f"{_share(known, 'printed')}."
    )


def counted(folder, slugs):
    """Return how many faults were planted in some chapters, how many noticed, and not excused."""
    found = [block for slug, block in blocks(folder).items() if slug in slugs]
    known = [block for block in found if {"tried", "all"} <= set(block)]
    died, lived = (
        sum(block["all"].get(way, 0) for block in known for way in ways) for ways in (DEATHS, LIVES)
    )
    return sum(block["tried"] for block in known), died, lived


def _share(known, group):
    """Return the share of faults that died, those left out for which a reason is registered."""
    rows = [b[group] for b in known]
    died = sum(row.get(way, 0) for row in rows for way in DEATHS)
    lived = sum(row.get(way, 0) for row in rows for way in LIVES)
    return f"{died / max(1, died + lived):.0%}".replace("%", "\N{NO-BREAK SPACE}%")
