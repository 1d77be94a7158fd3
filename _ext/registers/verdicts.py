"""Verdict cards: what a claim found, for the reader; its code stands folded beneath.

A claim displays its verdicts as plain text and as Markdown (``mllib.course.claims``). The card is
made of the Markdown, in which formulas stand in dollars and checks are counted; what an older
notebook printed as plain lines is read as well. The same lines stand on the pages of results.

The input of a claim is folded, and so is that of a cell with the tag ``hide-input``: a ``details``
element, which needs no script. One button of the page opens all of them, the checking view, and
``page.js`` remembers it.

``chapters/mutants.yml``, where it exists, tells how many planted faults of the code each claim of
a chapter has caught.
"""

import re
from collections import Counter, namedtuple
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.transforms import SphinxTransform

from _ext.once import QUICK, once

KINDS = ("holds", "tight", "necessary", "contrast")

#: Where planted faults are counted, if somebody has.
MUTANTS = "chapters/mutants.yml"

#: One line of a claim; ``checks`` is how many conditions were true.
Verdict = namedtuple("Verdict", "kind text checks", defaults=(1,))

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
_PLAIN = re.compile(rf"  ({'|'.join(KINDS)}) +(\S.*)")
_CHECKS = re.compile(r"\((\d+) checks\)")


# -- reading ---------------------------------------------------------------------------------------


def verdicts_in(printed):
    """Return {names: (Verdict, ...)} for the claims that a cell printed as plain text."""
    found, names, verdicts = {}, [], []
    for line in [*printed.splitlines(), ""]:
        match = _PLAIN.fullmatch(line.rstrip())
        if match and names:
            verdicts.append(Verdict(*match.groups()))
            continue
        if verdicts:
            found[tuple(names)] = tuple(verdicts)
            names, verdicts = [], []
        if _NAME.fullmatch(line):
            names.append(line)
        else:
            names = []
    return found


def displayed(bundle):
    """Return the names and verdicts that a claim displayed, or None for any other output.

    Parameters
    ----------
    bundle : docutils container
        An output of a cell, in all its forms.
    """
    for form in bundle.children:
        if form.get("mime_type") != "text/markdown" or len(form.children) != 2:
            continue
        names, listed = form.children
        if isinstance(names, nodes.paragraph) and isinstance(listed, nodes.bullet_list):
            called = tuple(part.astext() for part in names.findall(nodes.literal))
            verdicts = tuple(_verdict(item[0]) for item in listed.children)
            if called and all(verdict.kind in KINDS for verdict in verdicts):
                return called, verdicts
    return None


def _verdict(line):
    kind, *parts = [part for part in line.children if part.astext()]
    checks = _CHECKS.fullmatch(parts[-1].astext()) if parts else None
    parts = parts[:-1] if checks else parts
    signs = {nodes.math: "$", nodes.literal: "`"}
    text = "".join(
        sign + part.astext() + sign for part in parts for sign in [signs.get(type(part), "")]
    )
    return Verdict(kind.astext(), " ".join(text.split()), int(checks[1]) if checks else 1)


class KeepVerdicts(SphinxTransform):
    """Put an empty card where a claim displayed something; it remembers the verdicts.

    This comes before quotation marks are bent, which would bend the primes of plain formulas.
    """

    default_priority = 400

    def apply(self):
        """Replace the outputs of claims."""
        for bundle in list(self.document.findall(nodes.container)):
            if bundle.get("nb_element") != "mime_bundle":
                continue
            if (found := displayed(bundle)) is not None:
                card = nodes.container(classes=["verdict-card"])
                card["claim"] = found
                bundle.replace_self(card)


def cards(cell):
    """Return the cards of a cell, in order."""
    return [box for box in cell.findall(nodes.container) if "verdict-card" in box["classes"]]


def kills(folder):
    """Return {name of a claim: planted faults that it caught}; empty where nobody has counted."""
    path = Path(folder) / MUTANTS
    return _counted(path) if path.exists() else {}


@once
def _counted(path):
    chapters = yaml.load(path.read_text(encoding="utf-8"), Loader=QUICK) or {}
    by_claim = (f for one in chapters.values() for kind, f in one.items() if kind.endswith("claim"))
    return dict(sum(map(Counter, by_claim), Counter()))


# -- writing ---------------------------------------------------------------------------------------


def sentence(text):
    """Return inline nodes for a text, its `$...$` set as mathematics and `code` as code."""
    parts = []
    for piece in re.split(r"(\$[^$]+\$|`[^`]+`)", text):
        if piece.startswith("$"):
            parts.append(nodes.math(piece[1:-1], piece[1:-1]))
        elif piece.startswith("`"):
            parts.append(nodes.literal(piece[1:-1], piece[1:-1]))
        elif piece:
            parts.append(nodes.Text(piece))
    return parts


def chip(kind):
    """Return the mark of a verdict."""
    return nodes.inline("", kind, classes=["verdict", f"verdict-{kind}"])


def lines(verdicts):
    """Return the verdicts as a list, one line each: the mark, then the sentence."""
    block = nodes.bullet_list(classes=["verdicts"])
    for verdict in verdicts:
        line = nodes.list_item("", chip(verdict.kind), nodes.Text(" "))
        line += nodes.inline("", "", *sentence(verdict.text), classes=["verdict-text"])
        block += line
    return block


def number(count):
    """Return a whole number with narrow spaces between its thousands."""
    return f"{count:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def tally(verdicts, caught=0):
    """Return in words how many checks were run and, if any, how many planted faults caught."""
    checks = sum(verdict.checks for verdict in verdicts)
    words = f"{number(checks)} checks were run" if checks > 1 else "this cell was run"
    if caught:
        words += f", {caught} planted {'fault' if caught == 1 else 'faults'} caught"
    return words


class folded(nodes.Element):
    """Code that one click shows."""


def visit_folded(self, node):
    """Open the fold; it says how much code stands in it."""
    count = node.astext().rstrip("\n").count("\n") + 1
    length = f"{count} line{'s' if count > 1 else ''}"
    self.body.append(f'<details class="code-fold"><summary>Code <span>{length}</span></summary>\n')


def depart_folded(self, node):
    """Close the fold."""
    self.body.append("</details>\n")


def fold(cell):
    """Fold the input of a cell beneath its output."""
    cell.attributes.pop("hide_mode", None)
    for part in list(cell.children):
        if part.get("nb_element") == "cell_code_source":
            cell.remove(part)
            cell += folded("", part)


def setup(app):
    """Register the transform and the fold."""
    app.add_node(folded, html=(visit_folded, depart_folded))
    app.add_transform(KeepVerdicts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
