"""The page on speed: ``{ratios}`` and ``{benchmarks}`` write what ``make bench`` measured.

The first is the picture of all ratios, the second a section per module with its table, folded. The
data file is ``benchmarks/results.yml``. Rows that missed their target stand in the table
like all others, with the reason below it.
"""

from html import escape
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from _ext.once import QUICK
from _ext.registers.ratios import in_words, picture

HEADS = (
    "Workload",
    "n",
    "d",
    "Ratio, one thread",
    "Target",
    "Outcome",
    "Ratio without numba",
    "Ratio, two threads",
    "Quality, mllib and peer",
    "Memory in MB",
)


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
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in HEADS)
    body = []
    for row in rows:
        outcome = ("met", "verdict-holds") if row["met"] else ("missed", "verdict-necessary")
        cells = (
            grouped(row["n"]),
            grouped(row["d"]),
            ratios(row["one_thread"]),
            f"{row['target']:g}",
            f'<span class="verdict {outcome[1]}">{outcome[0]}</span>',
            without_numba(row),
            ratios(row.get("two_threads")),
            quality(row["one_thread"]),
            pair(row["memory"]),
        )
        name = escape(in_words(row["workload"]))
        cells = "".join(f"<td>{cell}</td>" for cell in cells)
        body.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
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
            by = [max(s["ratio"] for s in row["one_thread"]) for row in rows]
            names = "; ".join(
                f"{in_words(row['workload'])} (ratio {r:.2g}, target {row['target']:g})"
                for row, r in zip(rows, by)
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
        modules = yaml.load(path.read_text(encoding="utf-8"), Loader=QUICK)
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
