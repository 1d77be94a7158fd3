"""The glossary: ``{book-glossary}`` lists every term once, and each term leads to it.

The terms stand in ``registers/glossary.yml``. In its chapter, the first bold occurrence of a term
becomes the anchor ``term-<name>`` and a quiet link to the entry, which leads back to it. Terms of
chapters that are not published wait. The build fails on an entry that is malformed, on two entries
with one name, and on a term that its chapter does not print in bold.
"""

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import yaml
from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from _ext.registers import notes, places, register
from _ext.registers.verdicts import sentence

logger = logging.getLogger(__name__)

REQUIRED = ("term", "chapter", "definition")
OPTIONAL = ("printed", "symbol", "aliases")
FORM = (
    f"an entry has the fields {', '.join(REQUIRED)}, and may have {', '.join(OPTIONAL)}: "
    "aliases is a list, every other field is text (in quotes)"
)


# -- the file --------------------------------------------------------------------------------------


def plain(text):
    """Return ``text`` as it is compared: without case and marks of mathematics or code."""
    text = re.sub(r"[$`]", "", text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    return re.sub(r"\s+", " ", text).strip(" .:,;").casefold()


def slug(text):
    """Return the name of ``text`` in addresses: letters and digits, joined by hyphens."""
    ascii_only = unicodedata.normalize("NFKD", plain(text)).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_only).strip("-")


@dataclass(frozen=True)
class Term:
    """An entry of the glossary."""

    term: str
    chapter: str
    definition: str
    printed: str = ""  #: how the chapter prints it in bold, where that differs
    symbol: str = ""
    aliases: tuple = ()

    @property
    def slug(self):
        """The name of the term in addresses."""
        return slug(self.term)

    @property
    def names(self):
        """The term and its aliases."""
        return (self.term, *self.aliases)

    @property
    def bold(self):
        """What the chapter prints in bold, as it is compared."""
        return plain(self.printed or self.term)


def well_formed(entry):
    """Return whether an entry has the fields it needs and no others, each of its kind."""
    return (
        isinstance(entry, dict)
        and all(entry.get(key) for key in REQUIRED)
        and set(entry) <= {*REQUIRED, *OPTIONAL}
        and all(isinstance(entry[key], list if key == "aliases" else str) for key in entry)
    )


def load(app):
    """Return the well-formed terms of the glossary."""
    entries = register.load(Path(app.srcdir) / app.config.glossary_file)
    return [
        Term(**{**entry, "aliases": tuple(entry.get("aliases", ()))})
        for entry in entries
        if well_formed(entry)
    ]


# -- the way from the chapter ----------------------------------------------------------------------


class AnchorTerms(SphinxTransform):
    """Give the first bold occurrence of each term of the chapter its anchor."""

    default_priority = 872

    def apply(self):
        """Anchor the terms of this page, and note which were found."""
        if self.env.docname.count("/") < 2:
            return  # no chapter
        chapter, found = self.env.docname.rpartition("/")[2], {}
        sought = {term.bold: term.slug for term in load(self.app) if term.chapter == chapter}
        for node in self.document.findall(nodes.strong):
            bold = plain(node.astext())
            if bold in sought and bold not in found:
                found[bold] = sought[bold]
                node["ids"].append(f"term-{sought[bold]}")
        self.env.metadata[self.env.docname]["terms"] = set(found.values())


class LinkTerms(SphinxPostTransform):
    """Make each anchored term a quiet link to its entry."""

    default_priority = 2

    def run(self, **kwargs):
        """Wrap the anchored terms; copies elsewhere have no anchor and stay as they are."""
        page = self.config.glossary_page
        if page not in self.env.found_docs:
            return
        uri = self.app.builder.get_relative_uri(self.env.docname, page)
        for node in list(self.document.findall(nodes.strong)):
            names = [i.removeprefix("term-") for i in node["ids"] if i.startswith("term-")]
            if names and not isinstance(node.parent, nodes.reference):
                link = nodes.reference("", "", internal=True, classes=["term"])
                link["refuri"] = f"{uri}#glossary-{names[0]}"
                node.replace_self(link)  # the anchor goes with it
                node["ids"] = []
                link += node


# -- the page --------------------------------------------------------------------------------------


class BookGlossary(places.Place):
    """``{book-glossary}``."""


def letter(text):
    """Return the heading under which ``text`` is listed: its first letter, or # for a digit."""
    first = slug(text)[:1]
    return first.upper() if first.isalpha() else "#"


def by_letter(items, name):
    """Return [(letter, items)] in the order of the alphabet, digits first."""
    groups = defaultdict(list)
    for item in sorted(items, key=lambda item: (slug(name(item)), name(item))):
        groups[letter(name(item))].append(item)
    return sorted(groups.items())


def letters_of(kind, groups):
    """Return the line of links to the letters of a list, and one section for each letter."""
    line = nodes.paragraph(classes=["letters"])
    sections = []
    for capital, _ in groups:
        identity = f"{kind}-{'digits' if capital == '#' else capital.lower()}-entries"
        title = "0-9" if capital == "#" else capital
        line += nodes.reference("", title, internal=True, refuri=f"#{identity}")
        line += nodes.Text(" ")
        section = nodes.section(ids=[identity])
        section += nodes.title("", title)
        sections.append(section)
    return line, sections


class FillGlossary(places.Filler):
    """Write the glossary into its place."""

    fills = MappingProxyType({"book-glossary": lambda self, place: self.listing()})

    def listing(self):
        """Return the line of letters and the sections of the published terms."""
        chapters = notes.chapters(self.env)
        terms = [term for term in load(self.app) if term.chapter in chapters]
        if not terms:
            return [nodes.paragraph("", "None of the chapters written so far has a term to list.")]
        entries = [(name, term) for term in terms for name in term.names]
        groups = by_letter(entries, lambda entry: entry[0])
        line, sections = letters_of("glossary", groups)
        for section, (_, group) in zip(sections, groups):
            listing = nodes.definition_list(classes=["glossary-list"])
            for name, term in group:
                docname = chapters[term.chapter]
                listing += self.entry(term, docname) if name == term.term else self.see(name, term)
            section += listing
        return [line, *sections]

    def entry(self, term, docname):
        """Return the entry of a term: definition, symbol, other names, and the way to its place."""
        head = nodes.term("", "", *sentence(term.term), ids=[f"glossary-{term.slug}"])
        if term.symbol:
            head += [nodes.Text(" "), nodes.inline("", "", *sentence(term.symbol))]
        body = nodes.definition("", nodes.paragraph("", "", *sentence(term.definition)))
        uri = self.app.builder.get_relative_uri(self.env.docname, docname)
        title = self.env.titles[docname].astext()
        last = nodes.paragraph(classes=["glossary-place"])
        if term.aliases:
            last += [nodes.Text("Also "), *sentence(", ".join(term.aliases)), nodes.Text(". ")]
        last += nodes.Text("Defined in ")
        last += nodes.reference("", title, internal=True, refuri=f"{uri}#term-{term.slug}")
        last += nodes.Text(".")
        body += last
        return nodes.definition_list_item("", head, body)

    def see(self, name, term):
        """Return the line of another name, which leads to the entry."""
        head = nodes.term("", "", *sentence(name), ids=[f"glossary-{slug(name)}"])
        line = nodes.paragraph("", "see ")
        link = nodes.reference("", "", internal=True, refuri=f"#glossary-{term.slug}")
        link += sentence(term.term)
        line += link
        return nodes.definition_list_item("", head, nodes.definition("", line))


# -- Sphinx ----------------------------------------------------------------------------------------


def faults(entry, first, chapters, found):
    """Yield what is wrong with an entry.

    Parameters
    ----------
    entry : what stands in the register
    first : dict from a name in addresses to the first entry that has it; this entry is added
    chapters : dict from slug to docname of the published chapters
    found : dict from docname to the slugs of the terms anchored on the page
    """
    if not well_formed(entry):
        yield FORM
        return
    for name in (entry["term"], *entry.get("aliases", ())):
        if first.setdefault(slug(name), entry) is not entry:
            yield f"{name} is entered twice, first under {first[slug(name)]['term']}"
    docname = chapters.get(entry["chapter"])
    if docname in found and slug(entry["term"]) not in found[docname]:
        yield (
            f"term {entry['term']}: the chapter {entry['chapter']} does not print "
            f"**{entry.get('printed') or entry['term']}** in bold; print it where it is defined, "
            "or give the field printed"
        )


def check(app, env):
    """Warn about every fault, with its line."""
    path, first = Path(app.srcdir) / app.config.glossary_file, {}
    if not (entries := register.load(path)):
        return
    places = yaml.compose(path.read_text(encoding="utf-8"), Loader=register.QUICK).value
    found = {name: about["terms"] for name, about in env.metadata.items() if "terms" in about}
    for place, entry in zip(places, entries):
        location = f"{app.config.glossary_file}:{place.start_mark.line + 1}"
        for message in faults(entry, first, notes.chapters(env), found):
            logger.warning(message, location=location, type="glossary")


def setup(app):
    """Register the directive, the transforms and the checks."""
    app.add_config_value("glossary_file", "registers/glossary.yml", "env")
    app.add_config_value("glossary_page", "chapters/glossary", "env")
    app.setup_extension("_ext.registers.places")
    app.add_directive("book-glossary", BookGlossary)
    app.add_transform(AnchorTerms)
    app.add_post_transform(FillGlossary)
    app.add_post_transform(LinkTerms)
    app.connect("env-check-consistency", check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
