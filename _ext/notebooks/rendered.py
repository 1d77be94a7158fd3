"""The notebook that readers get: the chapter as its page has it, in plain Markdown.

The committed notebook holds the directives of the text; what is handed out (download, ``make lab``,
Binder, Colab) is rendered from the resolved page: numbers and links of the site, printed code of
the library, captions, cited works. Its cells of code are those of the committed notebook with their
outputs, to the letter. What the page folds is folded (claims, preparation, solutions), and each
drawing also stands as an image that a notebook shows before it is trusted. Beside it stands its
workbook, which ``mllib.course.workbook`` cuts from the same cells, and the wheel it installs.
"""

import ast
import base64
import json
import posixpath
import re
import sys
from pathlib import Path
from urllib.parse import quote, urljoin

import nbformat
from docutils import nodes
from sphinx.directives.code import LiteralInclude
from sphinx_exercise.nodes import exercise_enumerable_node, solution_node
from sphinx_proof.nodes import proof_node

from _ext.build.notebooks import name_cells
from _ext.pages import formulas, players
from _ext.registers import code, notes
from mllib.course.page import page as text_of
from mllib.course.page import slugs
from mllib.course.workbook import WHEEL, cut, opening

#: What a kernel of this Python says of itself: a notebook that says the same is not marked unsaved.
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
VERSION = ".".join(map(str, sys.version_info[:3]))
#: What stands on both sides of an inline node.
AROUND = {"emphasis": "*", "strong": "**", "caption": "", "inline": ""}


def in_notebooks(docname):
    """Return whether a page is a notebook."""
    return (
        docname.startswith("chapters/") and docname.count("/") == 2 and "/results/" not in docname
    )


class Rendered:
    """The page ``docname`` as a notebook; ``builder`` knows the numbers of the book.

    Where it stands ``alone`` no link leads to another notebook.
    """

    def __init__(self, doctree, docname, builder, alone=False):
        self.docname, self.builder, self.env, self.alone = docname, builder, builder.env, alone
        source = Path(self.env.doc2path(docname))
        self.given = nbformat.read(source, as_version=4)
        self.folder = source.parent
        self.cells, self.lines, self.solving = [], [], False
        self.blocks(doctree)
        self.flush()
        name_cells(self.cells)
        language = {**self.given.metadata.language_info, "version": VERSION}
        about = {"kernelspec": KERNEL, "language_info": language}
        self.notebook = nbformat.v4.new_notebook(cells=self.cells, metadata=about)

    # -- cells -------------------------------------------------------------------------------------

    def flush(self, **metadata):
        """End a cell of text."""
        text = "\n\n".join(line for line in self.lines if line.strip())
        if text:
            self.cells.append(nbformat.v4.new_markdown_cell(text, metadata=metadata))
        self.lines = []

    def cell(self, node):
        """Hand on a cell of code: folded as on the page, its drawings as images too."""
        self.flush()
        cell = self.given.cells[node["cell_index"]].copy()
        folded = "hide-input" in cell.metadata.get("tags", ()) or code.claims_at(cell.source)
        cell.metadata = {"jupyter": {"source_hidden": True}} if folded else {}
        figure = node.next_node(nodes.figure)
        alt = next((image.get("alt", "") for image in node.findall(nodes.image)), "")
        for output in cell.get("outputs", ()):
            if svg := output.get("data", {}).get("image/svg+xml"):
                output.data["text/html"] = image(svg, alt)
        self.cells.append(cell)
        if figure is not None:
            self.blocks(figure)

    # -- blocks ------------------------------------------------------------------------------------

    def blocks(self, node):
        """Write the blocks inside a node."""
        for child in node.children:
            self.block(child)

    def block(self, node):
        """Write a block."""
        kind = node.tagname
        if notes.is_cell(node):
            self.cell(node)
        elif isinstance(node, nodes.section):
            if isinstance(node.parent, (nodes.section, nodes.document)):
                self.lines.append(self.anchors(node))
            self.blocks(node)
        elif isinstance(node, nodes.title):
            self.heading(node)
        elif notes.is_statement(node) or isinstance(node, exercise_enumerable_node):
            self.statement(node)
        elif isinstance(node, solution_node):
            self.solution(node)
        elif isinstance(node, proof_node):
            self.lines.append(self.anchors(node))
            self.blocks(node[0])
            self.lines[-1] += " ∎"
        elif kind in ("sidebar", "admonition"):
            self.lines.append(quoted(self.inside(node.children)))
        elif kind in ("container", "figure", "legend", "definition_list_item", "block_quote"):
            self.blocks(node)
        elif kind in ("bullet_list", "enumerated_list", "definition_list"):
            self.lines.append(self.listing(node))
        elif kind == "literal_block":
            language = node.get("language", "text")
            language = "python" if language in ("default", "ipython3") else language
            self.printed(node, language)
        elif kind == "math_block":
            self.lines.append(self.display(node))
        elif kind == "table":
            self.lines.append(self.table(node))
        elif kind == "caption":
            number = self.number("figure", node.parent["ids"])
            self.lines.append(f"{self.anchors(node.parent)}*Figure {number}.* {self.text(node)}")
        elif isinstance(node, nodes.TextElement):
            self.lines.append(self.anchors(node) + self.text(node))
        elif isinstance(node, nodes.target):
            self.lines.append(self.anchors(node))

    def printed(self, node, language):
        """Write code; a function of the library has a cell of its own."""
        text, name = node.astext().rstrip(), node.get("printed")
        slug = posixpath.basename(self.docname)
        own = slug in slugs() and name in text_of(slug).printed  # a method is not
        if own:
            self.flush()
        self.lines.append(f"```{language}\n{text}\n```")
        if own:
            self.flush(mllib={"kind": "printed", "name": name})

    def inside(self, children):
        """Return blocks as one text."""
        kept, self.lines = self.lines, []
        for child in children:
            self.block(child)
        text = "\n\n".join(line for line in self.lines if line.strip())
        self.lines = kept
        return text

    def heading(self, node):
        """Write a heading with its number; a title that heads no section is bold."""
        if not isinstance(node.parent, nodes.section):
            self.lines.append(f"**{self.text(node)}**" if node.children else "")
            return
        level, above = 1, node.parent.parent
        while isinstance(above, nodes.section):
            level, above = level + 1, above.parent
        numbers = self.env.toc_secnumbers.get(self.docname, {})
        anchor = "" if level == 1 else f"#{node.parent['ids'][0]}"
        number = ".".join(map(str, numbers.get(anchor, ())))
        self.lines.append(f"{'#' * level} {number} {self.text(node)}".replace("  ", " "))

    def statement(self, node):
        """Write a statement or an exercise: a heading with its number, the text set apart."""
        kind = node.get("countertype", "exercise")
        name = node.get("realtype", "exercise").capitalize()
        title, *rest = node.children
        said = self.text(title).replace("%s", "").strip()
        said = re.sub(r"^(Exercise|\w+)\s*", "", said, count=1) if said.startswith(name) else said
        said = said.removeprefix("(").removesuffix(")") if kind != "exercise" else said
        number = self.number(kind, node["ids"])
        self.lines.append(self.anchors(node) + f"\n\n#### {name} {number}{said and f'. {said}'}")
        self.lines.append(quoted(self.inside(rest)))
        if kind == "exercise":
            self.flush(mllib={"kind": "exercise", "name": node["label"]})

    def solution(self, node):
        """Write a solution under a heading of its own, which is shut when the notebook opens."""
        self.flush()
        (title, *rest), start = node.children, len(self.cells)
        self.lines.append(f"##### {self.text(title).partition(':')[0]}")
        self.flush(**{"jp-MarkdownHeadingCollapsed": True})
        for part in rest:
            self.block(part)
        self.flush()
        for cell in self.cells[start:]:
            cell.metadata["mllib"] = {"kind": "solution", "name": node["target_label"]}

    def listing(self, node):
        """Return a list."""
        if isinstance(node, nodes.definition_list):
            return "\n\n".join(
                f"**{self.text(item[0])}**: {self.inside(item[-1].children)}" for item in node
            )
        sign = "{}. " if isinstance(node, nodes.enumerated_list) else "- "
        items = (
            sign.format(i) + self.inside(item.children).replace("\n", "\n   ")
            for i, item in enumerate(node, node.get("start", 1))
        )
        return "\n".join(items)

    def display(self, node):
        """Return a displayed formula on one line, with its number."""
        tex = node.astext().strip()
        tex = tex if node.get("nowrap") else formulas.displayed(tex)
        number = self.number("displaymath", node["ids"]) if node.get("number") else ""
        tag = rf" \tag{{{number}}}" if number else ""
        return f"{self.anchors(node)}$${' '.join(tex.split())}{tag}$$"

    def table(self, node):
        """Return a table."""
        rows = []
        for row in node.findall(nodes.row):
            cells = (self.inside(entry.children) for entry in row)
            rows.append([re.sub(r"(?<!\\)\|", r"\\|", cell).replace("\n", " ") for cell in cells])
        rows.insert(1, ["---"] * len(rows[0]))
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    # -- inline ------------------------------------------------------------------------------------

    def text(self, node):
        """Return the inline content of a node."""
        return "".join(map(self.inline, node.children)).strip("\n")

    def inline(self, node):
        """Return an inline node."""
        kind = node.tagname
        if isinstance(node, nodes.Text):
            return re.sub(r"([\\`*_\[\]<$|#~])", r"\\\1", node.astext()).replace("\n", " ")
        if kind == "math":
            return f"${' '.join(node.astext().split())}$"
        if kind == "literal":
            return f"`{node.astext()}`"
        if kind in ("image", "permalink", "comment", "raw"):
            return ""
        inner = self.text(node)
        if kind == "reference":
            to = self.address(node)
            return f"[{inner}]({to})" if to else inner
        if kind in ("superscript", "subscript"):
            return f"<{kind[:3]}>{inner}</{kind[:3]}>"
        if "effort" in node.get("classes", ()):
            return f"*({inner})*"
        sign = AROUND.get(kind, "")
        return self.anchors(node) + (f"{sign}{inner.strip()}{sign}" if sign else inner)

    def anchors(self, node):
        """Return the places of a node, to which links lead, named as on the site."""
        names = [i for i in node.get("ids", ()) if not re.fullmatch(r"id\d+", i)]
        return "".join(f'<a id="{name}"></a>' for name in names)

    def address(self, node):
        """Return where a link leads: to a notebook, to the published site, or nowhere ("")."""
        if node.get("refid"):
            return f"#{node['refid']}"
        to = node.get("refuri", "")
        if not node.get("internal") or re.match(r"[a-z]+:", to):
            return to
        here = self.builder.get_target_uri(self.docname)
        page, _, anchor = posixpath.normpath(posixpath.join(posixpath.dirname(here), to)).partition(
            "#"
        )
        if to.startswith("#"):
            return to
        anchor = anchor and f"#{anchor}"
        if in_notebooks(page.removesuffix(".html")) and not self.alone:
            start = posixpath.dirname(self.docname)
            return posixpath.relpath(page.removesuffix(".html"), start) + f".ipynb{anchor}"
        base = self.builder.config.html_baseurl
        return urljoin(base, quote(page) + anchor) if base else ""

    def number(self, kind, ids):
        """Return the number of a numbered block, such as 14.2."""
        known = self.env.toc_fignumbers.get(self.docname, {}).get(kind, {})
        return ".".join(map(str, next((known[i] for i in ids if i in known), ())))


def quoted(text):
    """Return a text set apart."""
    return re.sub(r"(?m)^", "> ", text)


def image(svg, alt):
    """Return a drawing as an image that a notebook shows untrusted too."""
    drawn = base64.b64encode(players.still(svg).encode()).decode()
    told = alt.replace("\n", " ").replace("&", "&amp;").replace('"', "&quot;")
    ground = "background:white;max-width:100%"
    return f'<img style="{ground}" alt="{told}" src="data:image/svg+xml;base64,{drawn}">'


def requirement(config):
    """Return what the first cell of a workbook installs: from the site, the repository, a file."""
    given, name = config.html_theme_options, "ml-you-can-check[book]"
    if config.html_baseurl:
        return f"{name} @ {urljoin(config.html_baseurl, f'_sources/{WHEEL}')}"
    if url := given.get("repository_url"):
        return f"{name} @ git+{url}@{given['repository_branch']}"
    return f"{WHEEL}[book]"


def write(app, pagename, templatename, context, doctree):
    """Write the notebook of a page, and its workbook, where the site offers its source."""
    if doctree is None or not in_notebooks(pagename) or app.builder.format != "html":
        return
    slug, made = posixpath.basename(pagename), {pagename: Rendered(doctree, pagename, app.builder)}
    if slug in slugs():
        book = made[f"{pagename}-workbook"] = Rendered(doctree, pagename, app.builder, alone=True)
        first = opening(text_of(slug).title, requirement(app.config))
        book.notebook.cells = [*first, *cut(slug, book.cells)]
        book.notebook.metadata["mllib"] = {"chapter": slug}
        offered = [("Workbook", f"{pagename}-workbook.ipynb", "pen"), ("Library", WHEEL, "box")]
        menu = (g for g in context["header_buttons"] if g.get("label") == "download-buttons")
        next(menu)["buttons"] += [
            {
                "type": "link",
                "url": context["pathto"](f"_sources/{file}", 1),
                "text": text,
                "tooltip": f"Download {file.rpartition('/')[2]}",
                "icon": f"fas fa-{icon}",
                "label": f"download-{text.lower()}-button",
            }
            for text, file, icon in offered
        ]
    for name, rendered in made.items():
        path = Path(app.outdir, "_sources", f"{name}.ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(rendered.notebook, indent=1, ensure_ascii=False, sort_keys=True)
        path.write_text(text + "\n", encoding="utf-8")
    context["sourcename"] = ""  # Sphinx would copy the committed one there


class Printed(LiteralInclude):
    """``{literalinclude}``, which notes the function that it prints and begins with its ``def``."""

    def run(self):
        """Return the code."""
        name, start = self.options.get("pyobject"), self.options.get("start-at")
        if name and start and "dedent" not in self.options:
            text = Path(self.env.relfn2path(self.arguments[0])[1]).read_text(encoding="utf-8")
            node, lines = ast.parse(text), text.splitlines()
            for part in name.split("."):
                node = next(n for n in node.body if getattr(n, "name", "") == part)
            told, first = node.body[:2]
            if start in lines[first.lineno - 1]:  # only the docstring is left out
                self.options["prepend"] = "\n".join(lines[node.lineno - 1 : told.lineno - 1])
        (block,) = super().run()
        block["printed"] = name
        return [block]


def number_equations(app, doctree, docname):
    """Give the equations that printed code names their numbers."""
    known = app.env.toc_fignumbers.get(docname, {}).get("displaymath", {})

    def number(match):
        return ".".join(map(str, known.get(f"equation-{match[0]}", ()))) or match[0]

    for block in doctree.findall(nodes.literal_block):
        if block.get("printed"):
            block.rawsource = re.sub(r"\beq-[\w-]+", number, block.astext())
            block[:] = [nodes.Text(block.rawsource)]


def setup(app):
    """Write them with the pages, once the buttons of the theme know where they will be."""
    app.add_directive("literalinclude", Printed, override=True)
    app.connect("doctree-resolved", number_equations)
    app.connect("html-page-context", write, priority=960)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
