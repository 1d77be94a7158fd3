"""The register of results: every statement of the book, its executed claim, its code and its test.

While pages are read, ``statements`` notes the anchors, the claims (``with claim("name") as c:`` in
a code cell, with what the cell printed) and the references. From these notes are written here

``{results-index}``
    every result by part and chapter, and the map of which chapter rests on which; beside it a
    page for each chapter has the entries, with statement, verdicts, ``mllib`` names, tests and
    sources, and the graph of which result rests on which;
``{results-table}``
    the results of the page where it stands;
``{errata-index}``
    the slips of the sources, each with the way to its check;
``{grading-table}``
    how much of what is wrong the grading of each chapter refuses.

The registers are ``registers/results.yml`` and ``registers/errata.yml``.
"""

import itertools
import re
from collections import defaultdict
from pathlib import Path
from types import MappingProxyType

from docutils import nodes
from sphinx import addnodes
from sphinx.util import docname_join
from sphinx.util.osutil import relative_uri

from _ext.registers import (
    blocks,
    code,
    coursemap,
    graded,
    notes,
    places,
    planted,
    register,
    verdicts,
)

#: How many tests an entry names; a row of a table names one less.
LISTED = 3

# -- places ----------------------------------------------------------------------------------------


class ResultsIndex(places.Place):
    """``{results-index}``."""


class ResultsTable(places.Place):
    """``{results-table}``."""

    renewed = False


class ErrataIndex(places.Place):
    """``{errata-index}``."""


class GradingTable(places.Place):
    """``{grading-table}``."""


class words(nodes.Inline, nodes.TextElement):
    """Words of an entry, without an element of their own on the page."""


class FillPlaces(places.Filler):
    """Write the lists of results and slips into their places."""

    fills = MappingProxyType(
        {
            "results-index": lambda self, place: self.index(),
            "results-table": lambda self, place: self.table(),
            "errata-index": lambda self, place: self.errata(),
            "grading-table": lambda self, place: self.grading(),
        }
    )

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
        return blocks.link(self.app.builder, self.env.docname, found.docname, found.node_id, shown)

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
                body = nodes.field_body("", words("", "", *content))
                block.append(nodes.field("", nodes.field_name("", label), body))

        if claim is not None:
            listed = self.tests_for(claim, entry["chapter"])
            tests = [nodes.literal("", test) for test in listed[:LISTED]]
            if len(listed) > LISTED:
                tests.append(nodes.Text(f"and {len(listed) - LISTED} more"))
            row("Code", blocks.commas(map(self.code, claim.code)))
            row("Tests", blocks.commas(tests))
        needs = [target for source, target in self.pairs if source == entry["id"]]
        row("Rests on", blocks.commas(self.entry_link(target) for target in needs))
        row("Sources", [nodes.Text("; ".join(entry["sources"]))] if entry.get("sources") else [])
        return block if len(block) else None

    def statement(self, docname, name):
        """Return a copy of the statement anchored at ``name``, without ids, labels and numbers."""
        if docname not in self.doctrees:
            self.doctrees[docname] = self.env.get_doctree(docname)
        for node in self.doctrees[docname].findall(nodes.Element):
            if name in node["ids"]:
                stated = notes.statement_of(node)
                break
        else:
            return []
        if notes.is_statement(stated):
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
        return [part for part in parts if blocks.cleaned(part)]

    def home(self, name):
        """Return the chapter of a result."""
        return self.entries[name]["chapter"]

    def title_of(self, slug):
        """Return the title of a chapter."""
        return self.env.titles[self.chapters[slug]].astext()

    def entry_address(self, name):
        """Return the address of the entry of a result, as seen from this page."""
        page, anchor = blocks.entry_page(self.config, self.home(name)), f"result-{name}"
        return f"#{anchor}" if page == self.env.docname else self.address(page, anchor)

    def entry_link(self, name):
        """Return a link to the entry of a result."""
        title = verdicts.sentence(self.entries[name]["title"])
        return nodes.reference("", "", *title, internal=True, refuri=self.entry_address(name))

    # The three places.

    def gather(self):
        """Read what every list is written from."""
        self.results, self.slips = register.registers(self.app)
        self.entries = {entry["id"]: entry for entry in self.results}
        self.pages = notes.pages(self.env)
        self.chapters = notes.chapters(self.env)
        self.tests = code.names_tested(Path(self.app.srcdir) / self.config.results_tests)
        self.kills = planted.kills(self.env.srcdir)
        self.doctrees = {}
        self.order = notes.reading_order(self.env)
        self.pairs = notes.edges(self.pages, self.results, self.order)
        self.of_chapter = defaultdict(list)
        for entry in self.results:
            if self.chapters.get(entry["chapter"]) in self.pages:
                self.of_chapter[entry["chapter"]].append(entry)
        for slug, entries in self.of_chapter.items():
            place = self.pages[self.chapters[slug]].anchors
            entries.sort(key=lambda entry: place.get(entry["id"], len(place)))
        self.shown = [slug for slug in self.chapters if self.of_chapter[slug]]
        return self

    def sorted(self, names):
        """Return the names of results in reading order, each once."""
        position = {
            name: (self.order.index(docname), place)
            for docname, page in self.pages.items()
            for name, place in page.anchors.items()
            if docname in self.order
        }
        return sorted(set(names), key=lambda name: (position[name], name))

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
                sections.append(blocks.section(f"results-{blocks.slug(part)}", [nodes.Text(part)]))
            title = self.env.titles[docname].deepcopy()
            chapter = blocks.section(f"results-{slug}", title.children)
            chapter += self.listing(slug)
            (sections[-1] if part else box).append(chapter)
        box.extend(sections)
        return box.children

    def listing(self, slug):
        """Return the results of a chapter, one line each."""
        docname, page = self.chapters[slug], blocks.entry_page(self.config, slug)
        block = nodes.bullet_list(classes=["results-list"])
        for entry in self.of_chapter[slug]:
            to = (self.env.docname, page, f"result-{entry['id']}")
            line = nodes.paragraph(
                "", "", blocks.link(self.app.builder, *to, *verdicts.sentence(entry["title"]))
            )
            claim = self.claim_of(docname, entry["id"])
            marks = dict.fromkeys(v.kind for v in claim.verdicts) if claim else []
            line += nodes.Text(" ")
            line += blocks.text(
                ": ".join([entry["kind"], *filter(None, [", ".join(marks)])]), "result-kind"
            )
            block += nodes.list_item("", line)
        return block

    def map(self):
        """Return the map of the course; each chapter leads to the page of its results."""
        pages = {slug: blocks.entry_page(self.config, slug) for slug in self.shown}
        drawn = coursemap.map_of(self, lambda slug: self.address(pages[slug]))
        if not drawn:
            return []
        section = blocks.section("results-graph", [nodes.Text("Which chapter rests on which")])
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
        page = blocks.section(f"results-{slug}", [nodes.Text(f"Results: {title}")])
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
        page += graded.named(self.env.srcdir, slug)
        entries = blocks.section(f"entries-{slug}", [nodes.Text("Entries")])
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
        heading += blocks.text(entry["kind"].capitalize(), "result-kind")
        heading += nodes.Text(" ")
        heading += blocks.link(
            self.app.builder,
            self.env.docname,
            docname,
            entry["id"],
            *verdicts.sentence(entry["title"]),
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
        pairs = [pair for pair in self.pairs if slug in {self.home(name) for name in pair}]
        if not pairs:
            return []
        rows = [
            {
                "name": name,
                "title": blocks.plain(self.entries[name]["title"]),
                "part": self.title_of(self.home(name)),
                "link": self.entry_address(name),
                "facts": [self.entries[name]["kind"]],
            }
            for name in self.sorted(name for pair in pairs for name in pair)
        ]
        section = blocks.section("results-graph", [nodes.Text("Which result rests on which")])
        section += nodes.paragraph(
            "",
            "A line runs from each result to those whose statement or proof uses it. "
            "Each name leads to its entry; results of other chapters stand under their chapter.",
        )
        section += nodes.raw("", coursemap.drawn(rows, pairs), format="html")
        return [section]

    def table(self):
        """Return the table of the results of this page."""
        docname = self.env.docname
        page = self.pages.get(docname, notes.Page())
        rows = []
        for name in sorted(page.anchors, key=page.anchors.get):
            if name not in self.entries:
                continue
            entry, claim = self.entries[name], self.claim_of(docname, name)
            title = [
                blocks.link(
                    self.app.builder, docname, docname, name, *verdicts.sentence(entry["title"])
                )
            ]
            title += [nodes.Text(" "), blocks.text(entry["kind"], "result-kind")]
            code, tests, marks = [], [], []
            if claim is not None:
                code = blocks.commas(map(self.code, claim.code))
                listed = self.tests_for(claim, entry["chapter"])[: LISTED - 1]
                tests = blocks.commas(nodes.literal("", t.partition("::")[2]) for t in listed)
                kinds = dict.fromkeys(v.kind for v in claim.verdicts)
                marks = blocks.commas(map(verdicts.chip, kinds), " ")
            rows.append((title, marks, code, tests))
        if not rows:
            return []
        return [blocks.table(("Result", "Verdicts", "mllib", "Test"), rows, "results-table")]

    def grading(self):
        """Return the table of what grading refuses, each chapter leading to what it does not."""
        here, links = (self.app.builder, self.env.docname), {}
        for slug in self.shown:
            to = (blocks.entry_page(self.config, slug), f"results-{slug}")
            links[slug] = blocks.link(*here, *to, nodes.Text(self.title_of(slug)))
        return graded.table(self.env.srcdir, links)

    def errata(self):
        """Return the slips by source, a line each with the way to where it is run."""
        home = {name: docname for docname, page in self.pages.items() for name in page.anchors}
        by_source = defaultdict(list)
        for entry in self.slips:
            if f"erratum-{entry['id']}" in home:
                by_source[entry["source"]].append(entry)
        sections = []
        for source in sorted(by_source):
            section = blocks.section(f"errata-{blocks.slug(source)}", [nodes.Text(source)])
            listing = nodes.bullet_list(classes=["results-list"])
            for entry in by_source[source]:
                listing += self.slip(entry, home[f"erratum-{entry['id']}"])
            section += listing
            sections.append(section)
        return sections or [
            nodes.paragraph("", "None of the chapters written so far has a slip to list.")
        ]

    def slip(self, entry, docname):
        """Return the line of a slip: its place in the notes, how grave, what is printed."""
        where = entry["location"] + (" (as extracted)" if entry["confidence"] == "medium" else "")
        to = (self.env.docname, docname, f"erratum-{entry['id']}")
        line = nodes.paragraph("", "", blocks.link(self.app.builder, *to, nodes.Text(where)))
        line += [nodes.Text(" "), blocks.text(entry["severity"].replace("-", " "), "result-kind")]
        line += [nodes.Text(" "), *verdicts.sentence(entry["original"])]
        return nodes.list_item("", line, ids=[f"slip-{entry['id']}"])


# -- Sphinx ----------------------------------------------------------------------------------------


def link_results(app, what, name, obj, options, lines):
    """Link the results that a docstring names: ``Book: perceptron-mistake-bound``."""
    homes = {Path(p).name: p for p in app.config.external_site_map if not p.startswith("api/")}
    titles = {entry["id"]: entry for entry in register.registers(app)[0]}

    def link(match):
        entry = titles.get(match[0])
        if entry is None or entry["chapter"] not in homes:
            return match[0]
        title = blocks.plain(entry["title"])
        return f"`{title} <../{homes[entry['chapter']]}.html#{entry['id']}>`__"

    inside = False  # a list of names may go on in the next line
    for i, line in enumerate(lines):
        inside = bool(line.strip()) and (inside or "Book: " in line)
        if inside:
            lines[i] = re.sub(r"[a-z0-9]+(?:-[a-z0-9]+)+", link, line)


def chapter_pages(app):
    """Yield a page of results for each chapter, written from the notes of the chapters."""
    if app.config.results_page not in app.env.found_docs or app.builder.format != "html":
        return
    env, builder = app.env, app.builder
    index = app.config.results_page
    base = env.get_doctree(index)
    writer = FillPlaces(base)
    env.temp_data["docname"] = index
    writer.gather()
    for i, slug in enumerate(writer.shown):
        docname = blocks.entry_page(app.config, slug)
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
            to = blocks.entry_page(app.config, writer.shown[place])
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


def setup(app):
    """Register directives, transforms and checks."""
    app.add_config_value("results_file", "registers/results.yml", "env")
    app.add_config_value("errata_file", "registers/errata.yml", "env")
    app.add_config_value("results_tests", "tests", "env")
    app.add_config_value("results_page", "chapters/results", "env")
    app.add_config_value("errata_page", "chapters/errata", "env")
    app.add_node(words, html=(lambda writer, node: None,) * 2)
    app.add_directive("results-index", ResultsIndex)
    app.add_directive("results-table", ResultsTable)
    app.add_directive("errata-index", ErrataIndex)
    app.add_directive("grading-table", GradingTable)
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("_ext.registers.statements")
    app.setup_extension("_ext.registers.places")
    app.add_post_transform(FillPlaces)
    app.connect("autodoc-process-docstring", link_results, priority=50)
    app.connect("html-collect-pages", chapter_pages)
    return {
        "version": "1",
        "env_version": 1,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
