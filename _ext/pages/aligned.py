"""Aligned formulas as rows of cells, which a narrow screen may break.

KaTeX sets ``aligned`` as one box, as wide as its longest row; a phone would cut it. Here each cell
is set by itself, and the style sheet puts the cells side by side where there is room. What a screen
reader hears and what is copied remains the whole formula.
"""

import re

_WHOLE = re.compile(r"\\begin\{aligned\}(.*)\\end\{aligned\}([\s.,;]*)", re.DOTALL)
_MARK = re.compile(
    r"(?P<opened>\\begin\{[a-z*]+\}|\{)|(?P<closed>\\end\{[a-z*]+\}|\})"
    r"|(?P<row>\\\\(?:\[[^\]]*\])?)|\\.|(?P<cell>&)",
    re.DOTALL,
)
_SPACE = re.compile(
    r"(?P<opened>\\begin\{[a-z*]+\}|\\left(?![a-z])|\{)"
    r"|(?P<closed>\\end\{[a-z*]+\}|\\right(?![a-z])|\})|(?P<space>\\q?quad(?![a-z]))|\\."
)
#: Where a formula may break besides relations and signs.
BREAK = r"\allowbreak "


def cells(tex):
    """Return the rows of an aligned formula as tuples of cells, or None for any other formula."""
    whole = _WHOLE.fullmatch(tex.strip())
    if whole is None:
        return None
    inside, rest = whole.groups()
    rows, depth, start = [[]], 0, 0
    for mark in _MARK.finditer(inside):
        depth += bool(mark["opened"]) - bool(mark["closed"])
        if depth < 0:  # two environments stand side by side
            return None
        if depth == 0 and (mark["row"] or mark["cell"]):
            rows[-1].append(inside[start : mark.start()].strip())
            start = mark.end()
            rows += [[]] if mark["row"] else []
    rows[-1].append(f"{inside[start:]}{rest}".strip())
    # As in TeX, a relation that begins a cell keeps its distance.
    return tuple(
        tuple(breakable(f"{{}}{cell}" if i % 2 and cell else cell) for i, cell in enumerate(row))
        for row in rows
        if any(row)
    )


def breakable(tex):
    """Return a formula that may also break after its wide spaces outside of groups."""
    done, depth, start = [], 0, 0
    for mark in _SPACE.finditer(tex):
        depth += bool(mark["opened"]) - bool(mark["closed"])
        if depth == 0 and mark["space"]:
            done.append(f"{tex[start : mark.end()]}{BREAK}")
            start = mark.end()
    return "".join([*done, tex[start:]])
