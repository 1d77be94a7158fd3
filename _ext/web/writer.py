"""How a page is written: Sphinx's HTML with what this book adds to it.

Everything that can be cited carries a link to itself, ``<a class="permalink">``. Drawings come in
two colours (``pages.figures``), heads of tables say what they head, references to a statement, an
equation, a figure or an exercise are marked ``data-preview``; what such a reference shows on
another page is written beside the page as ``<page>.previews.js``, fetched when it is wanted.
"""

import json
import posixpath
import re
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx import addnodes
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import exercise_enumerable_node, solution_node

from _ext.pages import figures, players
from _ext.registers import blocks, register
from _ext.registers.notes import is_statement


def in_chapter(docname):
    """Return whether a page is a chapter; only chapters have previews."""
    return docname.count("/") == 2 and not docname.startswith("chapters/results")


def citable(env):
    """Return {anchor: page} for all that a preview can show."""
    found = {label: block["docname"] for label, block in getattr(env, "proof_list", {}).items()}
    exercises = getattr(env, "sphinx_exercise_registry", {})
    found |= {label: item["docname"] for label, item in exercises.items()}
    equations = env.domaindata["math"]["objects"]
    found |= {f"equation-{label}": docname for label, (docname, _) in equations.items()}
    labels = env.domaindata["std"]["labels"].values()
    found |= {place[1]: place[0] for place in labels if place[1].startswith("fig-")}
    return found


class Writer(HTML5Translator):
    """Writes the body of a page."""

    def __init__(self, document, builder):
        super().__init__(document, builder)
        if not hasattr(builder, "citable"):
            builder.citable = citable(builder.env)
            results = register.registers(builder.app)[0]
            builder.titles = {entry["id"]: blocks.plain(entry["title"]) for entry in results}
        self.docname, self.previews, self.begun = builder.current_docname, {}, {}

    # -- previews --------------------------------------------------------------------------------

    def dispatch_visit(self, node):
        """Write a node; keep the beginning of what a preview may show."""
        start = len(self.body)
        ids = getattr(node, "attributes", {}).get("ids", ())
        shown = next((i for i in ids if self.builder.citable.get(i) == self.docname), None)
        shown = shown if in_chapter(self.docname) else None
        try:
            super().dispatch_visit(node)
        except nodes.SkipNode:
            self._keep(shown, start)
            raise
        if shown:
            self.begun[node] = shown, start

    def dispatch_departure(self, node):
        """End a node, and keep what a preview may show of it."""
        super().dispatch_departure(node)
        if node in self.begun:
            self._keep(*self.begun.pop(node))

    def _keep(self, anchor, start):
        if anchor:
            self.previews[anchor] = "".join(self.body[start:])

    def depart_document(self, node):
        """Write what other pages may show of this one."""
        super().depart_document(node)
        if self.previews:
            path = Path(self.builder.get_outfilename(self.docname)).with_suffix(".previews.js")
            path.parent.mkdir(parents=True, exist_ok=True)
            page = json.dumps(self.builder.get_target_uri(self.docname))
            pieces = json.dumps(self.previews, ensure_ascii=False, indent=0)
            path.write_text(f"window.bookPreviews({page}, {pieces});\n", encoding="utf-8")

    # -- tags ------------------------------------------------------------------------------------

    def starttag(self, node, tagname, suffix="\n", empty=False, **attributes):
        """Return a start tag with what a reader or a screen reader misses in it."""
        if tagname == "th":
            attributes["scope"] = "col" if isinstance(node.parent.parent, nodes.thead) else "row"
        elif tagname == "aside" and "margin" in node["classes"]:
            attributes["role"] = "note"
        elif tagname == "img" and "size" in node:
            attributes |= {"loading": "lazy"} | dict(
                zip(("width", "height"), map(str, node["size"]))
            )
        elif tagname == "a" and isinstance(node, nodes.reference) and node.get("internal"):
            anchor = node.get("refid") or node.get("refuri", "").partition("#")[2]
            if in_chapter(self.builder.citable.get(anchor, "")):
                attributes["data-preview"] = ""
        elif attributes.get("role") == "doc-biblioentry":  # entries are the items of a list
            attributes["role"] = "listitem"
        return super().starttag(node, tagname, suffix, empty, **attributes)

    def visit_Text(self, node):
        """Write a text; names in tables, titles and sidebars break after dots and underscores."""
        start = len(self.body)
        super().visit_Text(node)
        code = isinstance(node.parent, nodes.literal)
        entry = node.parent.parent.parent if code else node.parent.parent
        inside = code and (
            len(self._table_row_indices) > 1 or isinstance(node.parent.parent, nodes.title)
        )
        named = isinstance(node.parent, addnodes.desc_addname)
        if inside or named or isinstance(entry, addnodes.compact_paragraph):
            joint = re.compile(r"(?<=[\w)])([._]+)(?=\w)")
            self.body[start:] = [joint.sub(r"\1<wbr>", text) for text in self.body[start:]]

    # -- links of a thing to itself ----------------------------------------------------------------

    def permalink(self, anchor, what):
        """Write the link of a thing to itself."""
        self.body.append(blocks.permalink(to=anchor, what=what).html())

    def add_permalink_ref(self, node, title):
        """Write the link of a figure or table by its number; headings keep the link of Sphinx."""
        if isinstance(node, (nodes.figure, nodes.table, nodes.container)):
            if node["ids"]:
                self.permalink(node["ids"][0], self.number_of(node) or "this figure")
        else:
            super().add_permalink_ref(node, title)

    def number_of(self, node):
        """Return the kind and number of a node as its caption has it, or ``""``."""
        env = self.builder.env
        kind = node.get("countertype") or env.get_domain("std").get_enumerable_node_type(node)
        number = self.builder.fignumbers.get(kind, {}).get(node["ids"][0])
        if number is None:
            return ""
        said = node["realtype"].capitalize() + " %s" if is_statement(node) else None
        said = said or self.config.numfig_format.get(kind, "%s")
        return said % ".".join(map(str, number))

    def visit_title(self, node):
        """Begin a title; that of a box that folds opens and shuts it."""
        if isinstance(node.parent, solution_node) and "dropdown" in node.parent["classes"]:
            self.body.append(self.starttag(node, "summary", "", CLASS="admonition-title"))
            self.context.append("</summary>\n")
        else:
            super().visit_title(node)

    def depart_title(self, node):
        """End a title; that of a numbered block links to the block."""
        block = node.parent
        if is_statement(block) or isinstance(block, exercise_enumerable_node):
            self.permalink(block["ids"][0], self.number_of_block(block))
        super().depart_title(node)

    def number_of_block(self, block):
        """Return the kind and number of a statement or exercise."""
        if not is_statement(block):
            number = self.builder.fignumbers.get("exercise", {}).get(block["ids"][0], ())
            return f"Exercise {'.'.join(map(str, number))}"
        return self.number_of(block) or "this block"

    def depart_paragraph(self, node):
        """End a paragraph; one that has a name links to itself."""
        if node["ids"] and not re.fullmatch(r"id\d+", node["ids"][0]):
            name = node["ids"][0]
            self.permalink(name, self.builder.titles.get(name, "this paragraph"))
        super().depart_paragraph(node)

    # -- drawings --------------------------------------------------------------------------------

    def visit_image(self, node):
        """Write a drawing twice, for the light and the dark page, and what plays its frames.

        Where its labels would be too small, its box scrolls.
        """
        source = Path(self.builder.srcdir) / node["uri"]
        name = self.builder.images.get(node["uri"], "")
        if not name.endswith(".svg") or not source.exists():
            super().visit_image(node)
            return
        svg = source.read_text(encoding="utf-8")
        self.body.append(f'<span class="scrolls" style="--least: {figures.least(svg)}px">')
        for kind, file in (("only-light", name), ("only-dark", figures.twin(name))):
            image = node.copy()
            image["uri"] = posixpath.join(self.builder.imgpath, quote(file))
            image["classes"] = [kind, *node["classes"]]
            if not {"width", "height"} & set(node.attributes):
                image["size"] = figures.size_of(svg) or ()
            super().visit_image(image)
        self.body.append("</span>")
        if frames := players.frames(svg):
            folder = Path(self.builder.outdir, self.builder.imagedir)
            folder.mkdir(exist_ok=True)
            address = posixpath.join(self.builder.imgpath, quote(Path(name).stem))
            self.body.append(players.controls(frames, folder / name, address))

    def depart_image(self, node):
        """Nothing is open."""


def visit_solution(self, node):
    """Begin a solution, folded if it asks for it; that needs no script."""
    tag = "details" if "dropdown" in node["classes"] else "div"
    self.body.append(self.starttag(node, tag, CLASS="admonition"))
    self.context.append(f"</{tag}>\n")


def depart_solution(self, node):
    """End a solution."""
    self.body.append(self.context.pop())


def without_thebe(app, doctree, docname):
    """Take away what sphinx-thebe adds to each page; ``make live`` brings its own."""
    for part in list(doctree.findall(nodes.raw)):
        if "thebe" in part.astext() or part.astext().startswith("<script>kernelName"):
            part.parent.remove(part)


def setup(app):
    """Let pages be written so."""
    app.setup_extension("_ext.registers.results")
    app.set_translator("html", Writer)
    app.add_node(solution_node, override=True, html=(visit_solution, depart_solution))
    app.connect("doctree-resolved", without_thebe, priority=900)
    app.connect("build-finished", figures.finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
