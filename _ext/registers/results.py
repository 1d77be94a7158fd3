"""The register of results: every statement of the book, its executed claim, its code and its test.

While pages are read, this extension notes the anchors, the claims (``with claim("name") as c:`` in
a code cell, with what the cell printed) and the references. The build then fails where a statement
has no executed claim, or a claim states nothing. From the same notes it writes

``{results-index}``
    every result by part and chapter, and the graph of which chapter rests on which; beside it a
    page for each chapter has the entries, with statement, verdicts, ``mllib`` names, tests and
    sources, and the graph of which result rests on which;
``{results-table}``
    the results of the page where it stands;
``{errata-index}``
    the slips of the sources, each with the verdicts of its check.

The registers are ``chapters/results.yml`` and ``chapters/errata.yml``.
"""

import ast
import functools
import hashlib
import itertools
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import yaml
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import docname_join, logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri
from sphinx_proof.nodes import proof_node

from _ext.once import QUICK, once
from _ext.registers import coursemap, graph, planted, verdicts
from _ext.registers.verdicts import sentence as _titled

logger = logging.getLogger(__name__)

#: Blocks that state something, which must therefore be run.
STATEMENTS = ("theorem", "lemma", "proposition", "corollary", "algorithm", "example")
#: Kinds in results.yml that need an executed claim; definitions and advice need only the anchor.
CLAIMED_KINDS = (*STATEMENTS, "derivation")

_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")


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


# -- reading claims --------------------------------------------------------------------------------


def claims_in(source):
    """Return the claims in Python ``source`` as a list of (names, problem)."""
    found = []
    for call in ast.walk(_parsed(source)):
        if not isinstance(call, ast.Call):
            continue
        called = (
            call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        )
        if called != "claim":
            continue
        literal = [
            a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
        ]
        problem = (
            "" if literal and len(literal) == len(call.args) else "its names must be written out"
        )
        found.append((tuple(literal), problem))
    return found


@functools.cache
def _parsed(source):
    """Parse a code cell; lines of IPython magic are blanked."""
    lines = ["" if re.match(r"\s*[%!?]", line) else line for line in source.splitlines()]
    try:
        return ast.parse("\n".join(lines))
    except SyntaxError:
        return ast.parse("")


@functools.cache
def imported(source):
    """Return {local name: dotted name} for what ``source`` imports from mllib, the course apart."""
    local = {}
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mllib":
            for alias in node.names:
                local[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("mllib.") and alias.asname:
                    local[alias.asname] = alias.name
    return {name: dotted for name, dotted in local.items() if not dotted.startswith("mllib.course")}


def after(source, local):
    """Return what the local names stand for once ``source`` has run: {local name: dotted name}.

    An object that a class of mllib made, or one of its methods returned, stands for that class:
    after ``die = FiniteSpace.uniform(faces)``, a claim that calls ``die.prob`` uses FiniteSpace.
    """
    local = local | imported(source)
    for node in _parsed(source).body:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            made, root = "", node.value
            while isinstance(root, (ast.Call, ast.Attribute)):
                root = root.func if isinstance(root, ast.Call) else root.value
            if isinstance(target, ast.Name) and isinstance(root, ast.Name):
                made = local.get(root.id, "")
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    local.pop(name.id, None)
                    if _CLASS.fullmatch(made.rpartition(".")[2]):
                        local[name.id] = made
    return local


def used(tree, local):
    """Return the dotted mllib names that the syntax ``tree`` uses, in order, given its imports."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            chain, value = [node.attr], node.value
            while isinstance(value, ast.Attribute):
                chain.insert(0, value.attr)
                value = value.value
            if isinstance(value, ast.Name):
                dotted = local.get(value.id, "")
                if dotted.count(".") == 1:  # a module under a local name
                    names.append((node.lineno, node.col_offset, f"{dotted}.{chain[0]}"))
                elif value.id == "mllib" and len(chain) > 1 and chain[0] != "course":
                    names.append((node.lineno, node.col_offset, ".".join(["mllib", *chain[:2]])))
        elif isinstance(node, ast.Name) and local.get(node.id, "").count(".") >= 2:
            names.append((node.lineno, node.col_offset, local[node.id]))
    return tuple(dict.fromkeys(name for _, _, name in sorted(names)))


def tests_of(folder):
    """Return {dotted mllib name: [file::test, ...]} for the test functions in ``folder``."""
    found = defaultdict(list)
    for path in sorted(Path(folder).glob("test_*.py")):
        for name, function in _tests_in(path):
            found[name].append(f"{path.name}::{function}")
    return dict(found)


@once
def _tests_in(path):
    """Return [(dotted mllib name, test function that uses it), ...] for one file of tests."""
    source, pairs = path.read_text(encoding="utf-8"), []
    tree, local = ast.parse(source), imported(source)
    for node in tree.body:
        for function in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(function, ast.FunctionDef) and function.name.startswith("test_"):
                pairs += [(name, function.name) for name in used(function, local)]
    return pairs


# -- reading pages ---------------------------------------------------------------------------------


def _is_statement(node):
    return isinstance(node, nodes.Element) and "realtype" in node.attributes


def _is_proof(node):
    return isinstance(node, nodes.Element) and node.tagname == "proof_node"


def _is_cell(node):
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def _cell_source(cell):
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
            page.words.setdefault(name, _statement_of(node).astext())
        if _is_statement(node):
            named = not re.fullmatch(rf"{node['realtype']}-\d+", node["label"])
            page.statements.append((node["realtype"], node["label"] if named else "", _line(node)))
            current = [node["label"]]
        elif here:
            if _is_proof(node):  # a proof with an anchor of its own carries its theorem
                for name in current:
                    page.proved_by.setdefault(name, []).extend(here)
            current = here
        elif isinstance(node, nodes.section) and not _is_statement(node.parent):
            current = []
        if _is_cell(node):
            source, before = _cell_source(node), local
            local = after(source, before)
            cells.append(used(_parsed(source), before | imported(source) | local))
            shown = _verdicts_of(node)
            for names, problem in claims_in(source):
                first = min((since[n] for n in names if n in since), default=len(cells) - 1)
                code = dict.fromkeys(itertools.chain(cells[-1], *cells[first:-1]))
                claim = Claim(
                    names,
                    _line(node),
                    node.get("exec_count") is not None,
                    shown.get(names, ()),
                    tuple(code),
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


def _statement_of(node):
    """Return the node that states the result anchored at ``node``."""
    if _is_statement(node):
        return node
    if isinstance(node, nodes.section):
        for child in node.children:
            if isinstance(child, (nodes.paragraph, nodes.math_block, nodes.bullet_list)):
                return child
            if _is_statement(child):
                return child
    if isinstance(node, (nodes.container, nodes.Admonition)) or _is_proof(node):
        paragraph = node.next_node(nodes.paragraph)
        return node if paragraph is None else paragraph
    return node


# -- the registers ---------------------------------------------------------------------------------


def load(path):
    """Read a register; an empty or missing file is an empty list."""
    return _read(path) if Path(path).exists() else []


@once
def _read(path):
    return yaml.load(path.read_text(encoding="utf-8"), Loader=QUICK) or []


def registers(app):
    """Return the results and the slips, each as a list of entries."""
    source = Path(app.srcdir)
    return load(source / app.config.results_file), load(source / app.config.errata_file)


def register_names(results, errata):
    """Return every name that a claim may carry."""
    return {entry["id"] for entry in results} | {f"erratum-{entry['id']}" for entry in errata}


def _chapters(env):
    """Return {slug: docname} of the published chapters, in reading order."""
    order = [d for d in reading_order(env) if d.count("/") >= 2]
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


def faults(pages, results, errata, chapters):
    """Yield (docname, line, message) for every statement, claim or anchor that does not fit.

    Parameters
    ----------
    pages : dict from docname to Page
    results, errata : lists of register entries
    chapters : dict from slug to docname of the published chapters
    """
    registered = register_names(results, errata)
    verified, claimed = defaultdict(list), defaultdict(list)
    for docname, page in pages.items():
        for claim in page.claims:
            title = ", ".join(claim.names) or "?"
            if claim.problem:
                yield docname, claim.line, f"claim {title}: {claim.problem}"
            for name in claim.names:
                if name not in page.targets:
                    yield (
                        docname,
                        claim.line,
                        f"claim {name} names nothing that is anchored on this page",
                    )
                elif name not in registered:
                    yield (
                        docname,
                        claim.line,
                        f"claim {name} is in neither results.yml nor errata.yml",
                    )
                claimed[name].append((docname, claim.line))
                if not claim.problem:
                    verified[docname].append(name)
    for name, places in claimed.items():
        for docname, line in places[1:]:
            yield docname, line, f"claim {name} is made twice, first in {places[0][0]}"
    for docname, page in pages.items():
        for kind, label, line in page.statements:
            if kind in STATEMENTS and not label:
                yield docname, line, f"{kind} without a label, hence without a claim"
            elif kind in STATEMENTS and label not in verified[docname]:
                yield docname, line, f"{kind} {label} has no executed claim that holds"
    for entry in results:
        docname = chapters.get(entry["chapter"])
        if docname is None or docname not in pages:
            continue
        page = pages[docname]
        stated = {label for _, label, _ in page.statements if label}
        if entry["id"] not in page.anchors:
            yield docname, None, f"result {entry['id']} ({entry['kind']}) has no anchor on its page"
        elif (
            entry["kind"] in CLAIMED_KINDS
            and entry["id"] not in verified[docname]
            and entry["id"] not in stated
        ):
            yield docname, None, f"{entry['kind']} {entry['id']} has no executed claim that holds"
    for entry in errata:
        docname, name = chapters.get(entry["chapter"]), f"erratum-{entry['id']}"
        if docname is None or docname not in pages:
            continue
        if name not in pages[docname].anchors:
            yield docname, None, f"slip {entry['id']} has no anchor {name} on its page"
        elif name not in verified[docname]:
            yield docname, None, f"slip {entry['id']} has no executed claim {name} that holds"


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


# -- Sphinx ----------------------------------------------------------------------------------------


class results_index(nodes.General, nodes.Element):
    """Place of the list of all results."""


class results_table(nodes.General, nodes.Element):
    """Place of the table of the results of one page."""


class errata_index(nodes.General, nodes.Element):
    """Place of the list of slips."""


class _Placeholder(SphinxDirective):
    node = None

    def run(self):
        """Leave a place that is filled once every page has been read."""
        for name in (self.config.results_file, self.config.errata_file, verdicts.MUTANTS):
            if (path := Path(self.env.srcdir) / name).exists():
                self.env.note_dependency(str(path))
        if self.node is not results_table:
            for path in sorted(
                (Path(self.env.srcdir) / self.config.results_tests).glob("test_*.py")
            ):
                self.env.note_dependency(str(path))
        place = self.node()
        self.set_source_info(place)
        return [place]


class ResultsIndex(_Placeholder):
    """``{results-index}``."""

    node = results_index


class ResultsTable(_Placeholder):
    """``{results-table}``."""

    node = results_table


class ErrataIndex(_Placeholder):
    """``{errata-index}``."""

    node = errata_index


class Proof(SphinxDirective):
    """``{prf:proof}`` with an optional label and no repeated ids."""

    has_content = True
    option_spec = MappingProxyType(
        {"class": directives.class_option, "label": directives.unchanged_required}
    )

    def run(self):
        """Return the proof, opened by its title."""
        self.assert_has_content()
        box = nodes.admonition(classes=["proof", "proof-block", *self.options.get("class", [])])
        self.state.nested_parse(self.content, self.content_offset, box)
        opening = nodes.strong("", "Proof.", classes=["proof-opening"])
        if box.children and isinstance(box[0], nodes.paragraph):
            box[0].insert(0, nodes.Text(" "))
            box[0].insert(0, opening)
        else:
            box.insert(0, nodes.paragraph("", "", opening))
        proof = proof_node("", box)
        self.set_source_info(proof)
        if label := self.options.get("label"):
            proof["ids"].append(label)
            if not hasattr(self.env, "proof_list"):
                self.env.proof_list = {}
            self.env.proof_list[label] = {
                "docname": self.env.docname,
                "countertype": "proof",
                "realtype": "proof",
                "ids": [label],
                "label": label,
                "prio": 0,
                "nonumber": True,
            }
        return [proof]


class MarkClaims(SphinxTransform):
    """Note what the page states, and fill the card of each claim."""

    default_priority = 880

    def apply(self):
        """Collect the notes of the page, fill its cards, fold its code."""
        results, errata = registers(self.app)
        page = read_page(self.document, register_names(results, errata))
        if not hasattr(self.env, "book_pages"):
            self.env.book_pages = {}
        self.env.book_pages[self.env.docname] = page
        found = {claim.names: claim for claim in page.claims}
        titles = {entry["id"]: entry["title"] for entry in results}
        kills = verdicts.kills(self.env.srcdir)
        if kills:
            self.env.note_dependency(str(Path(self.env.srcdir) / verdicts.MUTANTS))
        for cell in self.document.findall(_is_cell):
            made = [names for names, _ in claims_in(_cell_source(cell))]
            if made and not any(found[names].problem for names in made):
                self.mark(cell, [found[names] for names in made], titles, kills)
            if cell.get("hide_mode") == "input":
                verdicts.fold(cell)

    def mark(self, cell, claims, titles, kills):
        """Make a cell the place of its claims: an address, a badge, the verdicts, code folded."""
        names = [name for claim in claims for name in claim.names]
        shown = [verdict for claim in claims for verdict in claim.verdicts]
        tally = verdicts.tally(shown, sum(kills.get(name, 0) for name in names))
        badge = self.badge(names[0], titles, f"Verified: {tally}")
        cell["classes"].append("claim")
        cell["ids"].append(f"claim-{names[0]}")
        for card in verdicts.cards(cell):
            card += verdicts.lines(card["claim"][1])
        place = verdicts.cards(cell)[:1] or [
            part
            for part in cell.findall(nodes.container)
            if part.get("nb_element") == "cell_code_output"
        ]
        place[0].insert(0, badge)
        verdicts.fold(cell)

    def badge(self, name, titles, words):
        """Return the badge of a claim, linked to the entry of its result or slip."""
        docname, config = self.env.docname, self.config
        content = nodes.Text(words)
        if name in titles:
            page, entry = entry_page(config, docname.rpartition("/")[2]), f"result-{name}"
            listed, what = config.results_page, re.sub(r"[$`]", "", titles[name])
        else:
            page, entry = config.errata_page, f"slip-{name.removeprefix('erratum-')}"
            listed, what = page, "this slip"
        if listed in self.env.found_docs:
            content = _link(self.app.builder, docname, page, entry, content)
            content["reftitle"] = f"The entry of {what}"
        return nodes.paragraph("", "", content, classes=["claim-badge"])


def entry_page(config, slug):
    """Return the name of the page on which the results of a chapter are entered."""
    return f"{config.results_page}/{slug}"


def _text(text, *classes):
    return nodes.inline("", text, classes=list(classes))


def _link(builder, fromdoc, todoc, anchor, *content):
    uri = builder.get_relative_uri(fromdoc, todoc) if fromdoc != todoc else ""
    link = nodes.reference("", "", internal=True, refuri=f"{uri}#{anchor}")
    link += content
    return link


class FillPlaces(SphinxPostTransform):
    """Write the lists of results and slips into their places, before references are resolved."""

    default_priority = 1

    def run(self, **kwargs):
        """Fill every place on this page."""
        fill = {results_index: self.index, results_table: self.table, errata_index: self.errata}
        places = [node for node in self.document.findall() if type(node) in fill]
        if not places:
            return
        self.gather()
        for place in places:
            place.replace_self(fill[type(place)]())

    # Facts about one result.

    def claim_of(self, docname, name):
        """Return the claim of ``name`` on its page, or None."""
        page = self.pages.get(docname)
        return next((c for c in page.claims if name in c.names), None) if page else None

    def verdicts(self, claim):
        """Return the verdicts of ``claim`` as on its card, and their tally."""
        caught = sum(self.kills.get(name, 0) for name in claim.names)
        tally = verdicts.tally(claim.verdicts, caught)
        return [verdicts.lines(claim.verdicts), nodes.paragraph("", tally, classes=["tally"])]

    def code(self, dotted):
        """Return the name ``dotted`` as code, linked to the reference page when it is there."""
        found = self.env.domaindata["py"]["objects"].get(dotted)
        shown = nodes.literal("", dotted.removeprefix("mllib."))
        if found is None:
            return shown
        return _link(self.app.builder, self.env.docname, found.docname, found.node_id, shown)

    def tests_for(self, claim, chapter):
        """Return the tests that use the code of ``claim``, those of its own module first."""
        own = f"test_{chapter.replace('-', '_')}.py"
        count = defaultdict(int)
        for dotted in claim.code:
            for test in self.tests.get(dotted, ()):
                count[test] += 1
        return sorted(count, key=lambda test: (not test.startswith(own), -count[test], test))

    def facts(self, entry, docname, claim):
        """Return the lines that tell code, tests and sources of a result."""
        block = nodes.field_list(classes=["result-facts"])

        def row(label, content):
            if content:
                body = nodes.field_body("", nodes.paragraph("", "", *content))
                block.append(nodes.field("", nodes.field_name("", label), body))

        code, tests = [], []
        if claim is not None:
            for dotted in claim.code:
                code += [self.code(dotted), nodes.Text(", ")]
            listed = self.tests_for(claim, entry["chapter"])
            for test in listed[:3]:
                tests += [nodes.literal("", test), nodes.Text(", ")]
            if len(listed) > 3:
                tests += [nodes.Text(f"and {len(listed) - 3} more"), nodes.Text("")]
        row("Code", code[:-1])
        row("Tests", tests[:-1])
        sources = "; ".join(entry.get("sources") or [])
        row("Sources", [nodes.Text(sources)] if sources else [])
        return block if len(block) else None

    def statement(self, docname, name):
        """Return a copy of the statement anchored at ``name``, without ids, labels and numbers."""
        if docname not in self.doctrees:
            self.doctrees[docname] = self.env.get_doctree(docname)
        for node in self.doctrees[docname].findall(nodes.Element):
            if name in node["ids"]:
                stated = _statement_of(node)
                break
        else:
            return []
        if _is_statement(stated):
            parts = [p.deepcopy() for p in stated.children if isinstance(p, nodes.section)]
            parts = list(itertools.chain.from_iterable(part.children for part in parts))
        elif isinstance(stated, (nodes.Admonition, nodes.container, nodes.section)):
            parts = []
        else:
            parts = [stated.deepcopy()]
        for part in parts:
            for reference in part.findall(addnodes.pending_xref):
                if reference["reftype"] == "doc":  # named from the folder of the chapter
                    reference["reftarget"] = "/" + docname_join(docname, reference["reftarget"])
                reference["refdoc"] = self.env.docname  # links start from the copy
            for reference in part.findall(nodes.reference):
                if reference.get("refid"):  # a link within the page leads back to that page
                    uri = self.app.builder.get_relative_uri(self.env.docname, docname)
                    reference["refuri"] = f"{uri}#{reference.attributes.pop('refid')}"
        return [part for part in parts if _cleaned(part)]

    # The three places.

    def gather(self):
        """Read what every list is written from."""
        self.results, self.slips = registers(self.app)
        self.pages = getattr(self.env, "book_pages", {})
        self.chapters = _chapters(self.env)
        self.tests = tests_of(Path(self.env.srcdir) / self.config.results_tests)
        self.kills = verdicts.kills(self.env.srcdir)
        self.doctrees = {}
        self.order = reading_order(self.env)
        self.pairs = edges(self.pages, self.results, self.order)
        self.of_chapter = defaultdict(list)
        for entry in self.results:
            if self.chapters.get(entry["chapter"]) in self.pages:
                self.of_chapter[entry["chapter"]].append(entry)
        for slug, entries in self.of_chapter.items():
            place = self.pages[self.chapters[slug]].anchors
            entries.sort(key=lambda entry: place.get(entry["id"], len(place)))
        self.shown = [slug for slug in self.chapters if self.of_chapter[slug]]
        return self

    def index(self):
        """Return the list of all results by part and chapter, each with the way to its entry."""
        box = nodes.container(classes=["results-index"])
        listed = [(slug, entry) for slug in self.shown for entry in self.of_chapter[slug]]
        verified = sum(
            self.claim_of(self.chapters[slug], entry["id"]) is not None for slug, entry in listed
        )
        summary = (
            f"{len(listed)} results in {len(self.shown)} chapters; "
            f"{verified} of them are run on their page."
        )
        box += nodes.paragraph("", summary, classes=["results-count"])
        if said := planted.sentence(self.env.srcdir, self.shown):
            box += nodes.paragraph("", said, classes=["results-faults"])
        box.extend(self.map())
        sections = []
        part = None
        for slug in self.shown:
            docname = self.chapters[slug]
            if (caption := self.part_of(docname)) != part:
                part = caption
                sections.append(_section(f"results-{_slug(part)}", [nodes.Text(part)]))
            title = self.env.titles[docname].deepcopy()
            chapter = _section(f"results-{slug}", title.children)
            chapter += self.listing(slug)
            (sections[-1] if part else box).append(chapter)
        box.extend(sections)
        return box.children

    def listing(self, slug):
        """Return the results of a chapter, one line each."""
        docname, page = self.chapters[slug], entry_page(self.config, slug)
        block = nodes.bullet_list(classes=["results-list"])
        for entry in self.of_chapter[slug]:
            to = (self.env.docname, page, f"result-{entry['id']}")
            line = nodes.paragraph("", "", _link(self.app.builder, *to, *_titled(entry["title"])))
            claim = self.claim_of(docname, entry["id"])
            marks = dict.fromkeys(v.kind for v in claim.verdicts) if claim else []
            line += nodes.Text(" ")
            line += _text(
                ": ".join([entry["kind"], *filter(None, [", ".join(marks)])]), "result-kind"
            )
            block += nodes.list_item("", line)
        return block

    def map(self):
        """Return the map of the course; each chapter leads to the page of its results."""
        drawn = coursemap.map_of(self, lambda slug: self.address(entry_page(self.config, slug)))
        if not drawn:
            return []
        section = _section("results-graph", [nodes.Text("Which chapter rests on which")])
        section += nodes.paragraph(
            "",
            "A line runs down from each chapter to those whose statements or proofs use its "
            "results; what follows from other lines, and what looks ahead, is left out. Each name "
            "leads to the results of its chapter, where all their dependences are drawn.",
        )
        section += drawn
        return [section]

    def address(self, docname, anchor=""):
        """Return the address of a place as seen from this page."""
        uri = self.app.builder.get_relative_uri(self.env.docname, docname)
        return f"{uri}#{anchor}" if anchor else uri

    def chapter(self, slug):
        """Return the page with the entries of one chapter and their graph."""
        docname = self.chapters[slug]
        title = self.env.titles[docname].astext()
        page = _section(f"results-{slug}", [nodes.Text(f"Results: {title}")])
        back = nodes.paragraph("", "", nodes.Text("The results of "))
        back += nodes.reference("", title, internal=True, refuri=self.address(docname))
        back += nodes.Text(", in the order in which the chapter states them. ")
        back += nodes.reference(
            "", "All results", internal=True, refuri=self.address(self.config.results_page)
        )
        back += nodes.Text(".")
        page += back
        if said := planted.sentence(self.env.srcdir, [slug]):
            page += nodes.paragraph("", said, classes=["results-faults"])
        entries = _section(f"entries-{slug}", [nodes.Text("Entries")])
        for entry in self.of_chapter[slug]:
            entries += self.result(entry, docname)
        page += entries
        page += self.picture(slug)
        return page

    def part_of(self, docname):
        """Return the caption of the part to which a chapter belongs."""
        root = self.env.get_doctree(self.config.root_doc)
        for toctree in root.findall(addnodes.toctree):
            if docname in toctree["includefiles"]:
                return toctree.get("caption") or ""
        return ""

    def result(self, entry, docname):
        """Return the block of one result."""
        claim = self.claim_of(docname, entry["id"])
        box = nodes.container(
            ids=[f"result-{entry['id']}"], classes=["result", f"result-{entry['kind']}"]
        )
        heading = nodes.paragraph(classes=["result-title"])
        heading += _text(entry["kind"].capitalize(), "result-kind")
        heading += nodes.Text(" ")
        heading += _link(
            self.app.builder, self.env.docname, docname, entry["id"], *_titled(entry["title"])
        )
        box += heading
        box.extend(self.statement(docname, entry["id"]))
        if claim is not None and claim.verdicts:
            box.extend(self.verdicts(claim))
        if (facts := self.facts(entry, docname, claim)) is not None:
            box += facts
        return box

    def picture(self, slug):
        """Return the graph of what the results of a chapter rest on, drawn and as text."""
        home = {entry["id"]: entry["chapter"] for entry in self.results}
        pairs = [pair for pair in self.pairs if slug in {home[name] for name in pair}]
        if not pairs:
            return []
        titles = {entry["id"]: re.sub(r"[$`]", "", entry["title"]) for entry in self.results}
        position = {
            name: (self.order.index(docname), place)
            for docname, page in self.pages.items()
            for name, place in page.anchors.items()
            if docname in self.order
        }
        names = sorted({name for pair in pairs for name in pair}, key=lambda n: (position[n], n))

        def link(name):
            page = entry_page(self.config, home[name])
            return f"#result-{name}" if home[name] == slug else self.address(page, f"result-{name}")

        section = _section("results-graph", [nodes.Text("Which result rests on which")])
        section += nodes.paragraph(
            "",
            "An arrow leads from a result to one whose statement or proof uses it. "
            "Each box is a link to its entry; results of other chapters have other colours.",
        )
        section += self.drawn(
            names,
            pairs,
            {name: titles[name] for name in names},
            {name: home[name] for name in sorted(names, key=lambda n: home[n] != slug)},
            link,
            "Graph of the results",
        )
        return [section]

    def drawn(self, names, pairs, titles, groups, link, what):
        """Return a graph as a drawing whose boxes are links, and as text."""
        drawing = graph.svg(
            names,
            pairs,
            titles=titles,
            groups=groups,
            link=link,
            label=f"{what}: an arrow leads from each to those that rest on it. "
            "The same arrows are listed as text below.",
        )
        listing = nodes.bullet_list(classes=["rests-on"])
        for name in names:
            needs = [target for source, target in pairs if source == name]
            if not needs:
                continue
            line = nodes.paragraph()
            line += nodes.reference("", titles[name], internal=True, refuri=link(name))
            line += nodes.Text(" rests on ")
            for i, target in enumerate(needs):
                line += nodes.Text(", " if i else "")
                line += nodes.reference("", titles[target], internal=True, refuri=link(target))
            listing += nodes.list_item("", line)
        opening = "<details class='rests-on-text'><summary>The arrows as text</summary>"
        return [
            nodes.raw("", drawing, format="html"),
            nodes.raw("", opening, format="html"),
            listing,
            nodes.raw("", "</details>", format="html"),
        ]

    def table(self):
        """Return the table of the results of this page."""
        docname = self.env.docname
        page = self.pages.get(docname, Page())
        entries = {entry["id"]: entry for entry in self.results}
        rows = []
        for name in sorted(page.anchors, key=page.anchors.get):
            if name not in entries:
                continue
            entry, claim = entries[name], self.claim_of(docname, name)
            title = [_link(self.app.builder, docname, docname, name, *_titled(entry["title"]))]
            title += [nodes.Text(" "), _text(entry["kind"], "result-kind")]
            code, tests, marks = [], [], []
            if claim is not None:
                for dotted in claim.code:
                    code += [self.code(dotted), nodes.Text(", ")]
                for test in self.tests_for(claim, entry["chapter"])[:2]:
                    tests += [nodes.literal("", test.partition("::")[2]), nodes.Text(", ")]
                for kind in dict.fromkeys(v.kind for v in claim.verdicts):
                    marks += [verdicts.chip(kind), nodes.Text(" ")]
            rows.append((title, marks[:-1], code[:-1], tests[:-1]))
        if not rows:
            return []
        return [_table(("Result", "Verdicts", "mllib", "Test"), rows, "results-table")]

    def errata(self):
        """Return the slips by source."""
        by_source = defaultdict(list)
        for entry in self.slips:
            if entry["chapter"] in self.chapters:
                by_source[entry["source"]].append(entry)
        sections = []
        for source in sorted(by_source):
            section = _section(f"errata-{_slug(source)}", [nodes.Text(source)])
            for entry in by_source[source]:
                section += self.slip(entry)
            sections.append(section)
        return sections or [
            nodes.paragraph("", "None of the chapters written so far has a slip to list.")
        ]

    def slip(self, entry):
        """Return the block of one slip."""
        docname, name = self.chapters[entry["chapter"]], f"erratum-{entry['id']}"
        box = nodes.container(ids=[f"slip-{entry['id']}"], classes=["slip"])
        where = entry["location"] + (" (as extracted)" if entry["confidence"] == "medium" else "")
        heading = nodes.paragraph(classes=["result-title"])
        heading += [_text(entry["severity"].replace("-", " "), "result-kind"), nodes.Text(" ")]
        heading += _link(self.app.builder, self.env.docname, docname, name, nodes.Text(where))
        box += heading
        rows = nodes.field_list(classes=["result-facts"])
        for label, key in (
            ("The notes say", "original"),
            ("What is true", "correction"),
            ("Why", "why"),
        ):
            if entry.get(key):
                body = nodes.field_body("", nodes.paragraph("", "", *_titled(str(entry[key]))))
                rows += nodes.field("", nodes.field_name("", label), body)
        box += rows
        claim = self.claim_of(docname, name)
        if claim is not None and claim.verdicts:
            box.extend(self.verdicts(claim))
        return box


def _slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _section(identity, title):
    section = nodes.section(ids=[identity])
    section += nodes.title("", "", *[part.deepcopy() for part in title])
    return section


def _table(heads, rows, *classes):
    table = nodes.table(classes=list(classes))
    group = nodes.tgroup(cols=len(heads))
    table += group
    for _ in heads:
        group += nodes.colspec(colwidth=1)
    head = nodes.row()
    for text in heads:
        head += nodes.entry("", nodes.paragraph("", text))
    group += nodes.thead("", head)
    body = nodes.tbody()
    for cells in rows:
        line = nodes.row()
        for cell in cells:
            line += nodes.entry("", nodes.paragraph("", "", *cell))
        body += line
    group += body
    return table


def _cleaned(node):
    """Strip what must not appear twice in the book: ids, names, labels and numbers of equations."""
    for part in [node, *node.findall(nodes.Element)]:
        if not isinstance(part, nodes.Element):
            continue
        for key in ("ids", "names", "dupnames"):
            part[key] = []
        for key in ("label", "number", "backrefs"):
            if isinstance(part, nodes.math_block) or key == "backrefs":
                part.attributes.pop(key, None)
    for part in list(node.findall(nodes.target)):
        if part is not node:
            part.parent.remove(part)
    return not isinstance(node, (nodes.target, nodes.comment))


def visit_proof(self, node):
    """Open the proof, at its anchor if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="proof-place"))


def depart_proof(self, node):
    """Close the proof."""
    self.body.append("</div>\n")


class TidyStatements(SphinxTransform):
    """Replace the id that sphinx-proof repeats in every statement of a page."""

    default_priority = 870

    def apply(self):
        """Name the body of each block after the block."""
        for node in self.document.findall(_is_statement):
            for part in node.children:
                if isinstance(part, nodes.section):
                    part["ids"] = [f"{node['ids'][0]}-statement"]


def forget(app, env, docname):
    """Drop the notes of a page that is read anew."""
    getattr(env, "book_pages", {}).pop(docname, None)


def merge(app, env, docnames, other):
    """Take over the notes that a parallel reader made."""
    if not hasattr(env, "book_pages"):
        env.book_pages = {}
    for docname in docnames:
        if docname in getattr(other, "book_pages", {}):
            env.book_pages[docname] = other.book_pages[docname]


def check(app, env):
    """Warn about every fault, with its place."""
    results, errata = registers(app)
    for docname, line, message in faults(
        getattr(env, "book_pages", {}), results, errata, _chapters(env)
    ):
        logger.warning(message, location=(docname, line), type="results")


def outdated(app, env):
    """Name the pages whose lists must be written again because another page changed."""
    pages = getattr(env, "book_pages", {})
    digest = hashlib.sha256(repr(sorted(pages.items())).encode()).hexdigest()
    if digest == getattr(env, "book_digest", None):
        return []
    env.book_digest = digest
    return [
        name for name in (app.config.results_page, app.config.errata_page) if name in env.found_docs
    ]


def chapter_pages(app):
    """Yield a page of results for each chapter; what would be written as it stands is passed over.

    The pages come from no file: they are written after all others, from the notes of the chapters.
    """
    if app.config.results_page not in app.env.found_docs or app.builder.format != "html":
        return
    env, builder = app.env, app.builder
    index = app.config.results_page
    kept = Path(app.doctreedir) / "results.json"
    before = json.loads(kept.read_text()) if kept.exists() else {}
    after = {}
    base = env.get_doctree(index)
    writer = FillPlaces(base)
    env.temp_data["docname"] = index
    writer.gather()
    common = (env.toc_fignumbers, _numbers(env), app.config.book_code, env.titles[index].astext())
    for i, slug in enumerate(writer.shown):
        docname = entry_page(app.config, slug)
        own = writer.chapters[slug]
        facts = (
            common,
            env.titles[own].astext(),
            writer.of_chapter[slug],
            writer.pages[own],
            planted.blocks(env.srcdir).get(slug),
            [pair for pair in writer.pairs if set(pair) & set(writer.pages[own].anchors)],
            [writer.tests_for(claim, slug) for claim in writer.pages[own].claims],
            writer.kills,
            [link for link in writer.shown if abs(writer.shown.index(link) - i) <= 1],
        )
        after[slug] = hashlib.sha256(repr(facts).encode()).hexdigest()
        written = Path(builder.get_outfilename(docname))
        if before.get(slug) == after[slug] and written.exists():
            continue
        env.temp_data["docname"] = builder.current_docname = docname
        builder.secnumbers = builder.fignumbers = {}  # not those of the page written before
        builder.imgpath = relative_uri(builder.get_target_uri(docname), "_images")
        document = nodes.document(base.settings, base.reporter)
        document += writer.chapter(slug)
        env.apply_post_transforms(document, docname)
        env.temp_data["docname"] = docname

        def step(place, docname=docname):
            if not 0 <= place < len(writer.shown):
                return None
            title = env.titles[writer.chapters[writer.shown[place]]].astext()
            to = entry_page(app.config, writer.shown[place])
            return {"link": builder.get_relative_uri(docname, to), "title": f"Results: {title}"}

        context = {
            "title": document.next_node(nodes.title).astext(),
            "body": builder.render_partial(document[0])["fragment"],
            "parents": [{"link": builder.get_relative_uri(docname, index), "title": "Results"}],
            "prev": step(i - 1),
            "next": step(i + 1),
        }
        yield docname, context, "page.html"
    env.temp_data.clear()
    kept.write_text(json.dumps(after))


def _numbers(env):
    """Return the number of each page that has one."""
    return {docname: numbers.get("") for docname, numbers in env.toc_secnumbers.items()}


def setup(app):
    """Register directives, transforms and checks."""
    app.add_config_value("book_code", "", "env")  # given by build.py
    app.add_config_value("results_file", "chapters/results.yml", "env")
    app.add_config_value("errata_file", "chapters/errata.yml", "env")
    app.add_config_value("results_tests", "tests", "env")
    app.add_config_value("results_page", "chapters/results", "env")
    app.add_config_value("errata_page", "chapters/errata", "env")
    for node in (results_index, results_table, errata_index):
        app.add_node(node)
    app.add_directive("results-index", ResultsIndex)
    app.add_directive("results-table", ResultsTable)
    app.add_directive("errata-index", ErrataIndex)
    app.setup_extension("sphinx_proof")
    app.setup_extension("_ext.registers.verdicts")
    app.add_directive_to_domain("prf", "proof", Proof, override=True)
    app.add_node(proof_node, override=True, html=(visit_proof, depart_proof))
    app.add_transform(TidyStatements)
    app.add_transform(MarkClaims)
    app.add_post_transform(FillPlaces)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", outdated)
    app.connect("env-check-consistency", check)
    app.connect("html-collect-pages", chapter_pages)
    return {
        "version": "1",
        "env_version": 1,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
