"""What is made of statements, proofs and claims while their page is read.

The page is noted (``notes``); a claim becomes the place of its verdicts, its code folded.
"""

from pathlib import Path
from types import MappingProxyType

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx_proof.nodes import proof_node

from _ext.registers import blocks, code, graded, notes, planted, register, verdicts


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
            results = register.registers(self.env.app)[0]
            title = next(
                (entry["title"] for entry in results if entry["id"] == label), "this proof"
            )
            place = opening.parent.index(opening) + 1
            opening.parent.insert(place, blocks.permalink(to=label, what=blocks.plain(title)))
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
    """Note what the page states, and fill the cards of the claims and of the chapter."""

    default_priority = 871  # before terms are looked for, which no card prints

    def apply(self):
        """Collect the notes of the page, fill its cards, fold its code."""
        results, errata = register.registers(self.app)
        displayed = verdicts.in_notebook(Path(self.env.doc2path(self.env.docname)))
        names = register.register_names(results, errata)
        page = notes.read_page(self.document, names, displayed)
        self.env.metadata[self.env.docname]["page"] = page
        found = {claim.names: claim for claim in page.claims}
        titles = {entry["id"]: entry["title"] for entry in results}
        kills = planted.kills(self.env.srcdir)
        for cell in self.document.findall(notes.is_cell):
            made = [names for names, *_ in code.claims_at(notes.cell_source(cell))]
            if made and all(found[names].verdicts for names in made):
                cards = verdicts.show(cell, displayed.get(cell["cell_index"], ()))
                self.mark(cell, cards, [found[names] for names in made], titles, kills)
            if cell.get("hide_mode") == "input":
                verdicts.fold(cell)
        source, slug = self.env.srcdir, self.env.docname.rpartition("/")[2]
        tried, died = planted.counted(source, [slug])
        noticed = f"{verdicts.number(died)} of {verdicts.number(tried)} noticed."
        said = {"Planted faults:": noticed if tried else "", "Grading:": graded.line(source, slug)}
        for card in self.document.findall(nodes.admonition):
            for head, words in said.items() if "chapter-card" in card["classes"] else ():
                if words:
                    card[-1] += [nodes.Text(" "), nodes.strong("", head), nodes.Text(f" {words}")]

    def mark(self, cell, cards, claims, titles, kills):
        """Make a cell the place of its claims: an address, a badge, the verdicts, code folded."""
        names = [name for claim in claims for name in claim.names]
        shown = [verdict for claim in claims for verdict in claim.verdicts]
        tally = verdicts.tally(shown, sum(kills.get(name, 0) for name in names))
        badge = self.badge(names[0], titles, f"Verified: {tally}")
        cell["classes"].append("claim")
        cell["ids"].append(f"claim-{names[0]}")
        cards[0].insert(0, badge)
        verdicts.fold(cell)

    def badge(self, name, titles, words):
        """Return the badge of a claim, linked to the entry of its result or slip."""
        docname, config = self.env.docname, self.config
        content = nodes.Text(words)
        if name in titles:
            page, entry = blocks.entry_page(config, docname.rpartition("/")[2]), f"result-{name}"
            listed, what = config.results_page, blocks.plain(titles[name])
        else:
            page, entry = config.errata_page, f"slip-{name.removeprefix('erratum-')}"
            listed, what = page, "this slip"
        if listed in self.env.found_docs:
            content = blocks.link(self.app.builder, docname, page, entry, content)
            content["reftitle"] = f"The entry of {what}"
        link = blocks.permalink(to=f"claim-{name}", what=f"the claim {name}")
        return nodes.paragraph("", "", content, link, classes=["claim-badge"])


def visit_permalink(self, node):
    """Write the link of a thing to itself."""
    self.body.append(node.html())
    raise nodes.SkipNode


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
        for node in self.document.findall(notes.is_statement):
            for part in node.children:
                if isinstance(part, nodes.section):
                    part["ids"] = [f"{node['ids'][0]}-statement"]


def setup(app):
    """Register the directive, the transforms and the notes."""
    app.setup_extension("sphinx_proof")
    app.setup_extension("_ext.registers.verdicts")
    app.add_directive_to_domain("prf", "proof", Proof, override=True)
    app.add_node(blocks.permalink, html=(visit_permalink, None))
    app.add_node(proof_node, override=True, html=(visit_proof, depart_proof))
    app.add_transform(TidyStatements)
    app.add_transform(MarkClaims)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
