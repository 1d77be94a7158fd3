"""What is noted while a page is read: its anchors, claims and references."""

import itertools
from dataclasses import dataclass, field

from docutils import nodes
from sphinx import addnodes

from _ext.registers import code

# -- records ---------------------------------------------------------------------------------------


@dataclass
class Claim:
    """A claim found in a code cell."""

    names: tuple  #: the results that it verifies
    verdicts: tuple  #: what the cell showed under these names: Verdict(kind, text, checks)
    code: tuple = ()  #: dotted mllib names used in the cell, and in the cells since the anchor


@dataclass
class Page:
    """What one page states and verifies."""

    anchors: dict = field(default_factory=dict)  #: registered name -> order on the page
    claims: list = field(default_factory=list)  #: Claim, in reading order
    rests_on: dict = field(default_factory=dict)  #: registered name -> names that it refers to
    proved_by: dict = field(default_factory=dict)  #: name -> anchors of its proof
    words: dict = field(default_factory=dict)  #: registered name -> text of the statement


def pages(env):
    """Return {docname: Page}: Sphinx keeps them with what else it knows of a page."""
    return {name: about["page"] for name, about in env.metadata.items() if "page" in about}


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


def _references(node):
    """Return the labels that ``node`` refers to."""
    for part in node.findall():
        if isinstance(part, addnodes.pending_xref) and part.get("reftype") not in {"eq", "cite"}:
            yield part.get("reftarget", "").lstrip("#")
        elif isinstance(part, nodes.reference) and part.get("refid"):
            yield part["refid"]


def read_page(doctree, registered, displayed):
    """Collect the anchors, claims and references of ``doctree``.

    Parameters
    ----------
    doctree : docutils document
    registered : set of str
        Names of the results and slips that the registers know.
    displayed : dict
        What ``verdicts.in_notebook`` found in the notebook of the page.
    """
    page = Page()
    local, since, cells = {}, {}, []
    current = []  # the results whose references are being collected
    for node in doctree.findall(nodes.Element):
        here = [i for i in node["ids"] if i in registered]
        for name in here:
            page.anchors.setdefault(name, len(page.anchors))
            since.setdefault(name, len(cells))
            page.words.setdefault(name, statement_of(node).astext())
        if is_statement(node):
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
            shown = dict(filter(None, displayed.get(node["cell_index"], ())))
            for names, *_ in code.claims_at(source):
                first = min((since[n] for n in names if n in since), default=len(cells) - 1)
                names_used = dict.fromkeys(itertools.chain(cells[-1], *cells[first:-1]))
                page.claims.append(Claim(names, shown.get(names, ()), tuple(names_used)))
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


# -- all pages -----------------------------------------------------------------------------------


def chapters(env):
    """Return {slug: docname} of the published chapters, in reading order."""
    order = [d for d in reading_order(env) if d.count("/") >= 2 and "/slips/" not in d]
    return {docname.rsplit("/", 1)[1]: docname for docname in order}


def reading_order(env):
    """Return the pages in the order of the table of contents."""
    seen = []

    def visit(docname):
        if docname not in seen:
            seen.append(docname)
            for child in env.toctree_includes.get(docname, []):
                visit(child)

    visit(env.config.root_doc)
    return seen + sorted(set(env.found_docs) - set(seen))


def edges(pages, results, order):
    """Return the pairs (result, result it rests on), forward references on a page left out."""
    home = {}
    for docname in order:
        for name, place in pages.get(docname, Page()).anchors.items():
            home.setdefault(name, (docname, place))
    known = {entry["id"] for entry in results}
    found = []
    for docname in order:
        page = pages.get(docname, Page())
        for name in page.anchors:
            proofs = page.proved_by.get(name, [])
            for target in [*proofs, *page.rests_on.get(name, [])]:
                if name == target or not {name, target} <= known & set(home):
                    continue
                same, forward = home[target][0] == docname, home[target][1] > home[name][1]
                if same and forward and target not in proofs:
                    continue
                found.append((name, target))
    return list(dict.fromkeys(found))
