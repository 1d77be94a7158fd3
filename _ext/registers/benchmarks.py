"""The page on speed: ``{benchmarks}`` writes what ``make bench`` measured, a section per module.

The data file is ``benchmarks/results.yml``. Rows that missed their target stand in the table
like all others, with the reason below it.
"""

import re
from html import escape
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from _ext.once import QUICK

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
        name = escape(re.sub(r"\d{4,}", lambda m: grouped(int(m[0])), row["workload"]))
        cells = "".join(f"<td>{cell}</td>" for cell in cells)
        body.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    label = escape(f"{title}: mllib and its peer")
    return (
        f'<div class="pst-scrollable-table-container" tabindex="0" role="region" '
        f'aria-label="{label}"><table class="table results-table speed-table">'
        f"<caption>{label}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def circumstances(machine):
    """Return one sentence on when and on what a module was measured."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"Measured on {machine['date']}, {machine['system']} on {machine['cores']} cores of type "
        f"{machine['processor']}, load {machine['load']:g} at the start; {versions}."
    )


def compilation(seconds):
    """Return one sentence on what compiling the loops of a module takes, if it has any."""
    if seconds is None:
        return ""
    return (
        f" Compiling the loops, which is not counted, takes {seconds['cold']:.2g} seconds once for "
        f"all, and {seconds['kept']:.2g} seconds in each process that finds them compiled."
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
                f"{row['workload']} (ratio {r:.2g}, target {row['target']:g})"
                for row, r in zip(rows, by)
            )
            listing += nodes.list_item("", nodes.paragraph("", f"{names}. {why}"))
        whole += listing
    words = circumstances(module["machine"]) + compilation(module.get("compilation"))
    whole += nodes.paragraph("", words, classes=["result-kind"])
    return whole


def tally(modules):
    """Return one sentence that counts rows, targets met, and rows in which mllib is faster."""
    rows = [row for module in modules.values() for row in module["rows"]]
    worst = [max(seed["ratio"] for seed in row["one_thread"]) for row in rows]
    return (
        f"Of {len(rows)} rows, {sum(row['met'] for row in rows)} meet their target, and in "
        f"{sum(ratio < 1 for ratio in worst)} mllib is faster than its peer on every data set."
    )


class Benchmarks(SphinxDirective):
    """``{benchmarks}``: the count, then the section of each module in the order of the book."""

    def run(self):
        """Return the nodes; a new measurement makes the page out of date."""
        path = Path(self.env.srcdir) / self.config.benchmarks_file
        self.env.note_dependency(str(path))
        modules = yaml.load(path.read_text(encoding="utf-8"), Loader=QUICK)
        pages = getattr(self.config, "external_site_map", None) or ()
        slugs = [Path(name).name.replace("-", "_") for name in pages]
        order = sorted(modules, key=lambda name: (slugs.index(name) if name in slugs else -1, name))
        parts = [section(name, modules[name]) for name in order]
        return [nodes.paragraph("", tally(modules)), *parts]


def setup(app):
    """Register the directive and where the measurements are."""
    app.add_config_value("benchmarks_file", "benchmarks/results.yml", "env")
    app.add_directive("benchmarks", Benchmarks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
