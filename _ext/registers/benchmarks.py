"""The page on speed: ``{ratios}`` and ``{benchmarks}`` write what ``make bench`` measured.

The first is the picture of all ratios on one logarithmic axis: a dot is the time of mllib divided
by that of its peer, on the worse data set, a ring the same without compilation, where it was
measured. The second is a section per module with its table, folded. The data file is
``benchmarks/results.yml``. Rows that missed their target stand in the table like all others, with
the reason below it.
"""

import math
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from _ext.registers import register

LEFT, RIGHT, LANE, TOP, BOTTOM = 178, 706, 24, 22, 30  #: in pixels; a lane for each chapter
OFFSETS = (0, -6, 6, -3, 3)  #: of dots that would lie on each other

#: The columns of a table of rows: what stands above them, and what a row says there.
COLUMNS = {
    "n": lambda row: grouped(row["n"]),
    "d": lambda row: grouped(row["d"]),
    "Ratio, one thread": lambda row: ratios(row["one_thread"]),
    "Target": lambda row: f"{row['target']:g}",
    "Outcome": lambda row: OUTCOMES[row["met"]],
    "Ratio without numba": lambda row: without_numba(row),
    "Ratio, two threads": lambda row: ratios(row.get("two_threads")),
    "Quality, mllib and peer": lambda row: quality(row["one_thread"]),
    "Memory in MB": lambda row: pair(row["memory"]),
}
OUTCOMES = {
    True: '<span class="verdict verdict-holds">met</span>',
    False: '<span class="verdict verdict-necessary">missed</span>',
}


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


# -- the tables ---------------------------------------------------------------------------------


def grouped(number):
    """Return a whole number in groups of three digits, a dash for none."""
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}") if number else "\N{EN DASH}"


def ratios(seeds):
    """Return the ratio on each data set with its smallest and largest round, one line each."""
    lines = []
    for seed in seeds or ():
        low, high = (f"{x:.2g}" for x in seed["spread"])
        line = f"{seed['ratio']:.2g} ({low} to {high})"
        lines.append(line.replace(" ", "\N{NO-BREAK SPACE}"))
    return "<br>".join(lines) or "not measured"


def without_numba(row):
    """Return the ratio with compilation turned off; rows without loops are the same without it."""
    if row.get("loops") is False:
        return "the same"
    return ratios([row["plain"]]) if "plain" in row else "not measured"


def pair(values, pattern="{}"):
    """Return the value of mllib and that of the peer."""
    return " and ".join(pattern.format(v) for v in values)


def quality(seeds):
    """Return what was compared and both values, on the first data set."""
    first = seeds[0]
    same = "" if all(seed["equal"] for seed in seeds) else " (not equal: no result)"
    return f"{escape(first['measure'])}: {pair(first['quality'], '{:.6g}')}{same}"


def table(title, rows):
    """Return the rows of one module as an HTML table with a caption and named rows and columns."""
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in ("Workload", *COLUMNS))
    body = []
    for row in rows:
        cells = "".join(f"<td>{cell(row)}</td>" for cell in COLUMNS.values())
        body.append(f'<tr><th scope="row">{escape(in_words(row["workload"]))}</th>{cells}</tr>')
    label = escape(f"{title}: mllib and its peer")
    count = f"{len(rows)} row{'s' * (len(rows) > 1)}"
    return (
        f'<details class="table-fold"><summary>Table <span>{count}</span></summary>'
        f'<div class="pst-scrollable-table-container" tabindex="0" role="region" '
        f'aria-label="{label}"><table class="table results-table speed-table">'
        f"<caption>{label}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div></details>"
    )


def circumstances(machine):
    """Return one sentence on when and on what a module was measured."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"Measured on {machine['date']}, {machine['system']} on {machine['cores']} cores of type "
        f"{machine['processor']}, load {machine['load']:g} at the start; {versions}."
    )


def compilation(modules):
    """Return one sentence on what compiling the loops of all modules takes, if there are any."""
    times = [module["compilation"] for module in modules if module.get("compilation")]
    if not times:
        return ""
    cold, kept = (sum(seconds[key] for seconds in times) for key in ("cold", "kept"))
    return (
        f" Compiling, which is not counted, takes {cold:.2g} seconds once for the loops of all "
        f"{len(times)} chapters that run some, and loading what is compiled {kept:.2g} seconds in "
        f"each process that runs them all."
    )


def section(name, module):
    """Return the section of one module."""
    whole = nodes.section(ids=[f"speed-{name.replace('_', '-')}"])
    whole += nodes.title("", module["title"])
    peers = list(dict.fromkeys(row["against"] for row in module["rows"]))
    whole += nodes.paragraph("", f"{module['how']} The peer is {' or '.join(peers)}.")
    whole += nodes.raw("", table(module["title"], module["rows"]), format="html")
    missed = [row for row in module["rows"] if not row["met"]]
    if missed:
        reasons = {}
        for row in missed:
            reasons.setdefault(row["why"], []).append(row)
        whole += nodes.paragraph("", "Why targets are missed:")
        listing = nodes.bullet_list()
        for why, rows in reasons.items():
            names = "; ".join(
                f"{in_words(row['workload'])} (ratio {worst(row):.2g}, target {row['target']:g})"
                for row in rows
            )
            listing += nodes.list_item("", nodes.paragraph("", f"{names}. {why}"))
        whole += listing
    whole += nodes.paragraph("", circumstances(module["machine"]), classes=["result-kind"])
    return whole


def tally(modules):
    """Return one sentence that counts rows and targets met; the picture tells who is faster."""
    rows = [row for module in modules.values() for row in module["rows"]]
    return f"Of {len(rows)} rows, {sum(row['met'] for row in rows)} meet their target."


class Benchmarks(SphinxDirective):
    """``{benchmarks}``: the section of each module in the order of the book."""

    def measured(self):
        """Return the modules by name, in order; a new measurement makes the page out of date."""
        path = Path(self.env.srcdir) / self.config.benchmarks_file
        self.env.note_dependency(str(path))
        modules = register.load(path)
        pages = getattr(self.config, "external_site_map", None) or ()
        slugs = [Path(name).name.replace("-", "_") for name in pages]
        order = sorted(modules, key=lambda name: (slugs.index(name) if name in slugs else -1, name))
        return {name: modules[name] for name in order}

    def run(self):
        """Return the sections."""
        return [section(name, module) for name, module in self.measured().items()]


class Ratios(Benchmarks):
    """``{ratios}``: the picture of all rows, how many there are, and what compiling takes."""

    def run(self):
        """Return the figure and a paragraph."""
        modules = self.measured()
        words = tally(modules) + compilation(modules.values())
        figure = nodes.raw("", picture(list(modules.values())), format="html")
        return [figure, nodes.paragraph("", words)]


def setup(app):
    """Register the directive and where the measurements are."""
    app.add_config_value("benchmarks_file", "benchmarks/results.yml", "env")
    app.add_directive("benchmarks", Benchmarks)
    app.add_directive("ratios", Ratios)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
