"""The picture of the page on speed: every measured row is a dot on one logarithmic axis of ratios.

A full dot is the time of mllib divided by that of its peer, on the worse data set; a ring is the
same with compilation turned off, where it was measured. Alt text and finding are computed.
"""

import math
import re
from html import escape

LEFT, RIGHT, LANE, TOP, BOTTOM = 178, 706, 24, 22, 30  #: in pixels; a lane for each chapter
OFFSETS = (0, -6, 6, -3, 3)  #: of dots that would lie on each other


def in_words(workload):
    """Return the name of a row without the shorthand of its data file."""
    for pattern, words in (
        (r"(\d+) x 1\b", r"\1 rows of one number"),
        (r"(\d+) x (\d+)", r"\1 rows of \2 numbers"),
        (r"\bk = (\d+)", r"\1 components"),
        (r"\bK = (\d+)", r"\1 components"),
        (r"\btol (?=\d)", "tolerance "),
        (r"\bL2\b", "squared penalty"),
        (r"\bL1\b", "absolute penalty"),
    ):
        workload = re.sub(pattern, words, workload)
    return re.sub(r"\d{4,}", lambda m: f"{int(m[0]):,}".replace(",", "\u202f"), workload)


def worst(row):
    """Return the ratio on the data set where mllib does worse."""
    return max(seed["ratio"] for seed in row["one_thread"])


def plain(row):
    """Return the ratio without compilation, None if it is not measured or nothing is compiled."""
    return row["plain"]["ratio"] if "plain" in row else None


def finding(modules):
    """Return what the picture shows, in sentences."""
    rows = [row for module in modules for row in module["rows"]]
    slowest = max(rows, key=worst)
    faster = sum(worst(row) < 1 for row in rows)
    text = (
        f"In {faster} of {len(rows)} rows mllib takes less time than its peer on every data set; "
        f"half of all ratios are at most {sorted(map(worst, rows))[(len(rows) - 1) // 2]:.2g}, and "
        f"the largest is {worst(slowest):.2g} ({in_words(slowest['workload'])})."
    )
    rings = [plain(row) for row in rows if plain(row)]
    if rings:
        text += (
            f" Without numba {sum(r >= 1 for r in rings)} of the {len(rings)} rows with loops that "
            f"were measured so are slower than their peer, up to {max(rings):.0f} times."
        )
    return text


def axis(modules):
    """Return the powers of ten between which all ratios lie."""
    rows = [row for module in modules for row in module["rows"]]
    values = [worst(row) for row in rows] + [plain(row) for row in rows if plain(row)] + [1.0]
    return math.floor(math.log10(min(values))), max(1, math.ceil(math.log10(max(values))))


def lane(module, y, place):
    """Return the name of a chapter and its dots as SVG, at height y."""
    parts = [
        f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(module["title"])}</text>'
    ]
    marks = [(plain(row), "ring", row) for row in module["rows"] if plain(row)]
    marks += [(worst(row), "dot", row) for row in module["rows"]]
    taken = []
    for value, kind, row in marks:
        x, words = place(value), " without numba" if kind == "ring" else ""
        crowd = sum(abs(x - other) < 8 for other in taken)
        taken.append(x)
        title = f"{in_words(row['workload'])}: {value:.2g}{words}"
        parts.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y + OFFSETS[crowd % len(OFFSETS)]}" r="3.6">'
            f"<title>{escape(title)}</title></circle>"
        )
    return "".join(parts)


def picture(modules):
    """Return the figure as HTML: lanes in the order given, the line at 1, caption and alt text."""
    low, high = axis(modules)
    height = TOP + LANE * len(modules)

    def place(ratio):
        return LEFT + (RIGHT - LEFT) * (math.log10(ratio) - low) / (high - low)

    parts = []
    for power in range(low, high + 1):
        x = place(10.0**power)
        name = f"{10.0**power:g}"
        kind = "one" if power == 0 else "tick"
        parts.append(f'<path class="{kind}" d="M{x:.1f} {TOP - 6}V{height}"/>')
        parts.append(f'<text x="{x:.1f}" y="{height + 16}" text-anchor="middle">{name}</text>')
    one = place(1.0)
    parts.append(f'<text x="{one - 8:.1f}" y="10" text-anchor="end">mllib faster</text>')
    parts.append(f'<text x="{one + 8:.1f}" y="10">peer faster</text>')
    for i, module in enumerate(modules):
        parts.append(lane(module, TOP + LANE * i + LANE // 2, place))
    said = finding(modules)
    alt = (
        f"Dots for {sum(len(m['rows']) for m in modules)} rows in {len(modules)} lanes, one for "
        f"each chapter, over a logarithmic axis of ratios from {10.0**low:g} to {10.0**high:g} "
        f"with a line at 1. {said}"
    )
    return (
        f'<figure class="speed-picture"><div class="pst-scrollable-table-container" tabindex="0" '
        f'role="region" aria-label="Picture of all ratios"><svg role="img" '
        f'aria-label="{escape(alt)}" viewBox="0 0 {RIGHT + 14} {height + BOTTOM}">'
        f"{''.join(parts)}</svg></div><figcaption>{escape(said)} Full dots: with numba, or with "
        f"nothing to compile; rings: the same rows without numba.</figcaption></figure>"
    )
