"""What is noted while a page is read: its anchors, statements, claims and references."""

import itertools
import re
from dataclasses import dataclass, field

from docutils import nodes
from sphinx import addnodes

from _ext.registers import code, verdicts

# -- records ---------------------------------------------------------------------------------------


@dataclass
class Claim:
    """A claim found in a code cell."""

    names: tuple  #: the results that it verifies
    line: int  #: where its cell stands
    executed: bool  #: whether the cell has an execution count
    verdicts: tuple  #: what the cell showed under these names: Verdict(kind, text, checks)
    code: tuple = ()  #: dotted mllib names used in the cell, and in the cells since the anchor
    problem: str = ""  #: why the claim does not count, empty if it does


@dataclass
class Page:
    """What one page states and verifies."""

    statements: list = field(default_factory=list)  #: (kind, label or "", line) of proof blocks
    anchors: dict = field(default_factory=dict)  #: registered name -> order on the page
    targets: set = field(default_factory=set, repr=False)  #: every id on the page
    claims: list = field(default_factory=list)  #: Claim, in reading order
    rests_on: dict = field(default_factory=dict)  #: registered name -> names that it refers to
    proved_by: dict = field(default_factory=dict)  #: name -> anchors of its proof
    words: dict = field(default_factory=dict)  #: registered name -> text of the statement


# -- reading pages ---------------------------------------------------------------------------------


def is_statement(node):
    return isinstance(node, nodes.Element) and "realtype" in node.attributes


def _is_proof(node):
    return isinstance(node, nodes.Element) and node.tagname == "proof_node"


def is_cell(node):
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def cell_source(cell):
    for part in cell.findall(nodes.container):
        if part.get("nb_element") == "cell_code_source":
            return part.astext()
    return ""


def _verdicts_of(cell):
    """Return {names: (Verdict, ...)} for the claims that a cell displayed, or printed."""
    streams = [b.astext() for b in cell.findall(nodes.literal_block) if "stream" in b["classes"]]
    return verdicts.verdicts_in("\n".join(streams)) | dict(b["claim"] for b in verdicts.cards(cell))


def _failed(cell):
    return any("traceback" in b["classes"] for b in cell.findall(nodes.literal_block))


def _line(node):
    while node is not None and getattr(node, "line", None) is None:
        node = node.parent
    return getattr(node, "line", None)


def _references(node):
    """Return the labels that ``node`` refers to."""
    for part in node.findall():
        if isinstance(part, addnodes.pending_xref) and part.get("reftype") not in {"eq", "cite"}:
            yield part.get("reftarget", "").lstrip("#")
        elif isinstance(part, nodes.reference) and part.get("refid"):
            yield part["refid"]


def read_page(doctree, registered):
    """Collect the anchors, statements, claims and references of ``doctree``.

    Parameters
    ----------
    doctree : docutils document
    registered : set of str
        Names of the results and slips that the registers know.
    """
    page = Page()
    local, since, cells = {}, {}, []
    current = []  # the results whose references are being collected
    for node in doctree.findall(nodes.Element):
        here = [i for i in node["ids"] if i in registered]
        page.targets.update(node["ids"])
        for name in here:
            page.anchors.setdefault(name, len(page.anchors))
            since.setdefault(name, len(cells))
            page.words.setdefault(name, statement_of(node).astext())
        if is_statement(node):
            named = not re.fullmatch(rf"{node['realtype']}-\d+", node["label"])
            page.statements.append((node["realtype"], node["label"] if named else "", _line(node)))
            current = [node["label"]]
        elif here:
            if _is_proof(node):  # a proof with an anchor of its own carries its theorem
                for name in current:
                    page.proved_by.setdefault(name, []).extend(here)
            current = here
        elif isinstance(node, nodes.section) and not is_statement(node.parent):
            current = []
        if is_cell(node):
            source, before = cell_source(node), local
            local = code.after(source, before)
            cells.append(code.used(code.parsed(source), before | code.imported(source) | local))
            shown = _verdicts_of(node)
            for names, problem in code.claims_in(source):
                first = min((since[n] for n in names if n in since), default=len(cells) - 1)
                names_used = dict.fromkeys(itertools.chain(cells[-1], *cells[first:-1]))
                claim = Claim(
                    names,
                    _line(node),
                    node.get("exec_count") is not None,
                    shown.get(names, ()),
                    tuple(names_used),
                    problem,
                )
                claim.problem = claim.problem or _fault(claim, _failed(node))
                page.claims.append(claim)
                if set(names) & set(current):
                    current = []
        elif isinstance(node, nodes.TextElement) and not isinstance(node, nodes.Inline):
            for name in current:
                page.rests_on.setdefault(name, []).extend(_references_here(node))
    for name, labels in page.rests_on.items():
        page.rests_on[name] = list(dict.fromkeys(x for x in labels if x != name))
    return page


def _references_here(node):
    """References of a text element, those of nested text elements left to their own turn."""
    for part in node.children:
        if isinstance(part, (nodes.Inline, addnodes.pending_xref)):
            yield from _references(part)


def _fault(claim, failed):
    if failed:
        return "its cell ended in an error"
    if not claim.executed:
        return "its cell was not executed"
    if "holds" not in [verdict.kind for verdict in claim.verdicts]:
        return "its cell showed no verdict that it holds"
    return ""


def statement_of(node):
    """Return the node that states the result anchored at ``node``."""
    if is_statement(node):
        return node
    if isinstance(node, nodes.section):
        for child in node.children:
            if isinstance(child, (nodes.paragraph, nodes.math_block, nodes.bullet_list)):
                return child
            if is_statement(child):
                return child
    if isinstance(node, (nodes.container, nodes.Admonition)) or _is_proof(node):
        paragraph = node.next_node(nodes.paragraph)
        return node if paragraph is None else paragraph
    return node
