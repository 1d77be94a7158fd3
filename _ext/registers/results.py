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
    the slips of the sources, each with the verdicts of its check.

The registers are ``chapters/results.yml`` and ``chapters/errata.yml``.
"""

import itertools
import re
from collections import defaultdict
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import docname_join
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

from _ext.registers import (
    blocks,
    code,
    coursemap,
    graph,
    notes,
    planted,
    register,
    relations,
    verdicts,
)

#: How many tests an entry names; a row of a table names one less.
LISTED = 3

# -- places ----------------------------------------------------------------------------------------


class results_index(nodes.General, nodes.Element):
    """Place of the list of all results."""


class results_table(nodes.General, nodes.Element):
    """Place of the table of the results of one page."""


class errata_index(nodes.General, nodes.Element):
    """Place of the list of slips."""


class words(nodes.Inline, nodes.TextElement):
    """Words of an entry, without an element of their own on the page."""


class _Placeholder(SphinxDirective):
    node = None

    def run(self):
        """Leave a place that is filled once every page has been read."""
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

        code, tests = [], []
        if claim is not None:
            for dotted in claim.code:
                code += [self.code(dotted), nodes.Text(", ")]
            listed = self.tests_for(claim, entry["chapter"])
            for test in listed[:LISTED]:
                tests += [nodes.literal("", test), nodes.Text(", ")]
            if len(listed) > LISTED:
                tests += [nodes.Text(f"and {len(listed) - LISTED} more"), nodes.Text("")]
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

    # The three places.

    def gather(self):
        """Read what every list is written from."""
        self.results, self.slips = register.registers(self.app)
        self.pages = getattr(self.env, "book_pages", {})
        self.chapters = relations.chapters(self.env)
        self.tests = code.names_tested(Path(self.app.srcdir) / self.config.results_tests)
        self.kills = verdicts.kills(self.env.srcdir)
        self.doctrees = {}
        self.order = relations.reading_order(self.env)
        self.pairs = relations.edges(self.pages, self.results, self.order)
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
        home = {entry["id"]: entry["chapter"] for entry in self.results}
        pairs = [pair for pair in self.pairs if slug in {home[name] for name in pair}]
        if not pairs:
            return []
        titles = {entry["id"]: blocks.plain(entry["title"]) for entry in self.results}
        names = self.sorted(name for pair in pairs for name in pair)

        def link(name):
            page = blocks.entry_page(self.config, home[name])
            return f"#result-{name}" if home[name] == slug else self.address(page, f"result-{name}")

        section = blocks.section("results-graph", [nodes.Text("Which result rests on which")])
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
        page = self.pages.get(docname, notes.Page())
        entries = {entry["id"]: entry for entry in self.results}
        rows = []
        for name in sorted(page.anchors, key=page.anchors.get):
            if name not in entries:
                continue
            entry, claim = entries[name], self.claim_of(docname, name)
            title = [
                blocks.link(
                    self.app.builder, docname, docname, name, *verdicts.sentence(entry["title"])
                )
            ]
            title += [nodes.Text(" "), blocks.text(entry["kind"], "result-kind")]
            code, tests, marks = [], [], []
            if claim is not None:
                for dotted in claim.code:
                    code += [self.code(dotted), nodes.Text(", ")]
                for test in self.tests_for(claim, entry["chapter"])[: LISTED - 1]:
                    tests += [nodes.literal("", test.partition("::")[2]), nodes.Text(", ")]
                for kind in dict.fromkeys(v.kind for v in claim.verdicts):
                    marks += [verdicts.chip(kind), nodes.Text(" ")]
            rows.append((title, marks[:-1], code[:-1], tests[:-1]))
        if not rows:
            return []
        return [blocks.table(("Result", "Verdicts", "mllib", "Test"), rows, "results-table")]

    def errata(self):
        """Return the slips by source."""
        by_source = defaultdict(list)
        for entry in self.slips:
            if entry["chapter"] in self.chapters:
                by_source[entry["source"]].append(entry)
        sections = []
        for source in sorted(by_source):
            section = blocks.section(f"errata-{blocks.slug(source)}", [nodes.Text(source)])
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
        heading += [
            blocks.text(entry["severity"].replace("-", " "), "result-kind"),
            nodes.Text(" "),
        ]
        heading += blocks.link(self.app.builder, self.env.docname, docname, name, nodes.Text(where))
        box += heading
        rows = nodes.field_list(classes=["result-facts"])
        for label, key in (
            ("The notes say", "original"),
            ("What is true", "correction"),
            ("Why", "why"),
        ):
            if entry.get(key):
                body = nodes.field_body("", words("", "", *verdicts.sentence(str(entry[key]))))
                rows += nodes.field("", nodes.field_name("", label), body)
        box += rows
        claim = self.claim_of(docname, name)
        if claim is not None and claim.verdicts:
            box.extend(self.verdicts(claim))
        return box


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


def lists(app, env):
    """Name the pages to write in every build: any page or test may have changed what they list."""
    names = (app.config.results_page, app.config.errata_page)
    return [name for name in names if name in env.found_docs]


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
    app.add_config_value("results_file", "chapters/results.yml", "env")
    app.add_config_value("errata_file", "chapters/errata.yml", "env")
    app.add_config_value("results_tests", "tests", "env")
    app.add_config_value("results_page", "chapters/results", "env")
    app.add_config_value("errata_page", "chapters/errata", "env")
    for node in (results_index, results_table, errata_index):
        app.add_node(node)
    app.add_node(words, html=(lambda writer, node: None,) * 2)
    app.add_directive("results-index", ResultsIndex)
    app.add_directive("results-table", ResultsTable)
    app.add_directive("errata-index", ErrataIndex)
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("_ext.registers.statements")
    app.add_post_transform(FillPlaces)
    app.connect("autodoc-process-docstring", link_results, priority=50)
    app.connect("env-updated", lists)
    app.connect("html-collect-pages", chapter_pages)
    return {
        "version": "1",
        "env_version": 1,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
