"""Verdict cards: what a claim found, for the reader; its code stands folded beneath.

A claim displays its verdicts as plain text and as Markdown (``mllib.course.claims``). The card is
made of the Markdown in the notebook, in which formulas stand in dollars and checks are counted. The
same lines stand on the pages of results.

The input of a claim is folded, and so is that of a cell with the tag ``hide-input``: a ``details``
element, which needs no script. One button of the page opens all of them, the checking view, and
``page.js`` remembers it.
"""

import json
import re
from collections import namedtuple

from docutils import nodes

KINDS = ("holds", "tight", "necessary", "contrast", "proves", "refuted")

#: One line of a claim; ``checks`` is how many conditions were true.
Verdict = namedtuple("Verdict", "kind text checks", defaults=(1,))

_CLAIM = re.compile(r"((?:`[a-z0-9-]+` ?)+)\n\n(.*)", re.DOTALL)
_LINE = re.compile(rf"- \*\*({'|'.join(KINDS)})\*\* (.*?)(?: \*\((\d+) checks\)\*)?")


# -- reading ---------------------------------------------------------------------------------------


def displayed(markdown):
    """Return the names and verdicts that a claim displayed, or None for any other output."""
    found = _CLAIM.fullmatch(markdown)
    lines = [_LINE.fullmatch(line) for line in found[2].splitlines()] if found else [None]
    if not all(lines):
        return None
    verdicts = (Verdict(m[1], _unescaped(m[2]), int(m[3] or 1)) for m in lines)
    return tuple(found[1].replace("`", "").split()), tuple(verdicts)


def _unescaped(text):
    """Return what ``mllib.course.claims`` escaped for Markdown, formulas and code apart."""
    pieces = re.split(r"((?<!\\)\$[^$]*\$|(?<!\\)`[^`]*`)", text)
    pieces[::2] = [re.sub(r"\\(.)", r"\1", piece) for piece in pieces[::2]]
    return "".join(pieces)


def in_notebook(path):
    """Return {index of a cell: what ``displayed`` says of each of its outputs with data}."""
    if path.suffix != ".ipynb":
        return {}
    found = {}
    for index, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        forms = [output["data"] for output in cell.get("outputs", ()) if "data" in output]
        found[index] = [displayed("".join(form.get("text/markdown", ""))) for form in forms]
    return found


def show(cell, found):
    """Put a card in the place of each output of a cell that is a claim; return the cards."""
    bundles = [b for b in cell.findall(nodes.container) if b.get("nb_element") == "mime_bundle"]
    cards = []
    for bundle, claim in zip(bundles, found):
        if claim:
            cards.append(nodes.container("", lines(claim[1]), classes=["verdict-card"]))
            bundle.replace_self(cards[-1])
    return cards


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
    """Return in words what was proved, how many checks were run, how many planted faults caught."""
    proved = sum(verdict.kind == "proves" for verdict in verdicts)
    checks = sum(v.checks for v in verdicts if v.kind not in ("proves", "refuted"))
    parts = [f"{proved} proved for all values"] if proved else []
    if checks > 1:
        parts.append(f"{number(checks)} checks were run")
    elif not proved:
        parts.append("this cell was run")
    if caught:
        parts.append(f"{caught} planted {'fault' if caught == 1 else 'faults'} caught")
    return ", ".join(parts)


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
    """Register the fold."""
    app.add_node(folded, html=(visit_folded, depart_folded))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
