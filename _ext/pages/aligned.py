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
_SEEN = re.compile(
    r'(<span class="katex-html" aria-hidden="true">)(.*)(</span></span></span>)', re.DOTALL
)

#: Where a formula may break besides relations and signs.
BREAK = r"\allowbreak "
#: Letters that a row of a phone holds.
PHONE = 30


def cells(tex):
    """Return the rows of an aligned formula as lists of cells, or None for any other formula."""
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
    return [row for row in rows if any(row)]


def breakable(tex):
    """Return a formula that may also break after its wide spaces outside of groups."""
    done, depth, start = [], 0, 0
    for mark in _SPACE.finditer(tex):
        depth += bool(mark["opened"]) - bool(mark["closed"])
        if depth == 0 and mark["space"]:
            done.append(f"{tex[start : mark.end()]}{BREAK}")
            start = mark.end()
    return "".join([*done, tex[start:]])


def letters(html):
    """Return about how many letters wide a typeset piece is."""
    return len(re.sub(r"<[^>]+>|\s+|\u200b", "", html))


def broken(formula, rows, typeset):
    """Return a typeset formula whose visible half consists of rows and cells.

    Parameters
    ----------
    formula : str
        The HTML of the whole formula.
    rows : list of list of str
        Its cells, as TeX.
    typeset : callable
        Returns the HTML of a cell.
    """
    lines, widest = [], 0
    for row in rows:
        line = []
        for i, cell in enumerate(row):
            # As in TeX, a relation that begins a cell keeps its distance.
            cell = breakable(f"{{}}{cell}" if i % 2 and cell else cell)
            seen = _SEEN.search(typeset(cell))[2] if cell else ""
            place = ("left", "right")[i % 2] + (" further" if i > 1 else "")
            line.append(f'<span class="katex-cell {place}">{seen}</span>')
        lines.append(f'<span class="katex-row">{"".join(line)}</span>')
        widest = max(widest, letters("".join(line)))
    columns = max(map(len, rows))
    kind = f"katex-rows columns-{columns}" + (" long" if widest > PHONE or columns > 2 else "")
    whole = _SEEN.search(formula)
    return (
        f'{formula[: whole.start(2)]}<span class="{kind}">{"".join(lines)}</span>'
        f"{formula[whole.end(2) :]}"
    )
