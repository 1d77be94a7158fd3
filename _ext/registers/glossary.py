"""The glossary: ``{book-glossary}`` lists every term once, and each term leads to it.

The terms stand in ``chapters/glossary.yml``. In its chapter, the first bold occurrence of a term
becomes the anchor ``term-<name>`` and a quiet link to the entry, which leads back to it. Terms of
chapters that are not published wait. The build fails on an entry that is malformed, on two entries
with one name, and on a term that its chapter does not print in bold.
"""

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from _ext.once import QUICK, once
from _ext.registers import relations
from _ext.registers.verdicts import sentence

logger = logging.getLogger(__name__)

REQUIRED = ("term", "chapter", "definition")
OPTIONAL = ("printed", "symbol", "aliases")


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
    line: int = 0  #: where its entry begins

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


def read(text):
    """Return the terms in the YAML ``text``, and the faults of its form as (line, message)."""
    terms, faults = [], []
    entries = yaml.load(text, Loader=QUICK) or []
    top = yaml.compose(text, Loader=QUICK)
    lines = [node.start_mark.line + 1 for node in top.value] if entries else []
    for line, entry in zip(lines, entries, strict=True):
        name = entry.get("term", "?") if isinstance(entry, dict) else "?"
        wrong = _form(entry)
        if wrong:
            faults.append((line, f"term {name}: {wrong}"))
            continue
        terms.append(Term(**{**entry, "aliases": tuple(entry.get("aliases", ()))}, line=line))
    return terms, faults


def _form(entry):
    """Say what is wrong with the form of an entry, or nothing."""
    if not isinstance(entry, dict):
        return "an entry has the fields " + ", ".join((*REQUIRED, *OPTIONAL))
    for key in REQUIRED:
        if not entry.get(key):
            return f"the field {key} is missing"
    for key, value in entry.items():
        if key not in REQUIRED + OPTIONAL:
            return f"there is no field {key}"
        wanted = list if key == "aliases" else str
        if not isinstance(value, wanted):
            return f"{key} must be {'a list' if wanted is list else 'text (in quotes)'}"
    return ""


def repeated(terms):
    """Yield (line, message) for each name that leads to two entries."""
    first = {}
    for term in terms:
        for name in term.names:
            key = slug(name)
            if key in first and first[key] is not term:
                yield term.line, f"{name} is entered twice, first in line {first[key].line}"
            first.setdefault(key, term)


def load(app):
    """Return the terms and the faults of the form of the file."""
    path = Path(app.srcdir) / app.config.glossary_file
    return _terms(path) if path.exists() else ([], [])


@once
def _terms(path):
    return read(path.read_text(encoding="utf-8"))


# -- the way from the chapter ----------------------------------------------------------------------


def _chapter(docname):
    """Return the slug of a chapter, or nothing for the other pages."""
    return docname.rsplit("/", 1)[1] if docname.count("/") >= 2 else ""


def _sought(terms, docname):
    """Return {text in bold: slug} for the terms of a chapter."""
    chapter = _chapter(docname)
    return {term.bold: term.slug for term in terms if chapter and term.chapter == chapter}


class AnchorTerms(SphinxTransform):
    """Give the first bold occurrence of each term of the chapter its anchor."""

    default_priority = 872

    def apply(self):
        """Anchor the terms of this page, and note which were found."""
        sought = _sought(load(self.app)[0], self.env.docname)
        found = {}
        for node in self.document.findall(nodes.strong):
            bold = plain(node.astext())
            if bold in sought and bold not in found:
                found[bold] = sought[bold]
                node["ids"].append(f"term-{sought[bold]}")
        if not hasattr(self.env, "book_terms"):
            self.env.book_terms = {}
        self.env.book_terms[self.env.docname] = (sought, set(found.values()))


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


class book_glossary(nodes.General, nodes.Element):
    """Place of the glossary."""


class BookGlossary(SphinxDirective):
    """``{book-glossary}``."""

    def run(self):
        """Leave a place that is filled once every page has been read."""
        self.env.note_dependency(str(Path(self.env.srcdir) / self.config.glossary_file))
        return [book_glossary()]


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


class FillGlossary(SphinxPostTransform):
    """Write the glossary into its place, before references are resolved."""

    default_priority = 1

    def run(self, **kwargs):
        """Fill every place on this page."""
        for place in list(self.document.findall(book_glossary)):
            place.replace_self(self.listing())

    def listing(self):
        """Return the line of letters and the sections of the published terms."""
        chapters = relations.chapters(self.env)
        terms = [term for term in load(self.app)[0] if term.chapter in chapters]
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


def faults(terms, chapters, found):
    """Yield (line, message) for each term that its published chapter does not print in bold.

    Parameters
    ----------
    terms : list of Term
    chapters : dict from slug to docname of the published chapters
    found : dict from docname to the slugs of the terms anchored on the page
    """
    yield from repeated(terms)
    for term in terms:
        docname = chapters.get(term.chapter)
        if docname in found and term.slug not in found[docname]:
            shown = term.printed or term.term
            yield (
                term.line,
                f"term {term.term}: the chapter {term.chapter} does not print **{shown}** "
                "in bold; print it where it is defined, or give the field printed",
            )


def check(app, env):
    """Warn about every fault, with its line."""
    terms, form = load(app)
    found = {docname: names for docname, (_, names) in getattr(env, "book_terms", {}).items()}
    for line, message in [*form, *faults(terms, relations.chapters(env), found)]:
        logger.warning(message, location=f"{app.config.glossary_file}:{line}", type="glossary")


def out_of_date(app, env, added, changed, removed):
    """Read a chapter anew when its terms are others than when it was read."""
    terms = load(app)[0]
    noted = getattr(env, "book_terms", {})
    return [
        docname
        for docname in env.found_docs
        if docname in noted and noted[docname][0] != _sought(terms, docname)
    ]


def rewritten(app, env):
    """Write the glossary anew in every build: titles and numbers of chapters may have changed."""
    return [name for name in (app.config.glossary_page,) if name in env.found_docs]


def forget(app, env, docname):
    """Drop the notes of a page that is read anew."""
    getattr(env, "book_terms", {}).pop(docname, None)


def merge(app, env, docnames, other):
    """Take over the notes that a parallel reader made."""
    if not hasattr(env, "book_terms"):
        env.book_terms = {}
    for docname in docnames:
        if docname in getattr(other, "book_terms", {}):
            env.book_terms[docname] = other.book_terms[docname]


def setup(app):
    """Register the directive, the transforms and the checks."""
    app.add_config_value("glossary_file", "chapters/glossary.yml", "env")
    app.add_config_value("glossary_page", "chapters/glossary", "env")
    app.add_node(book_glossary)
    app.add_directive("book-glossary", BookGlossary)
    app.add_transform(AnchorTerms)
    app.add_post_transform(FillGlossary)
    app.add_post_transform(LinkTerms)
    app.connect("env-get-outdated", out_of_date)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", rewritten)
    app.connect("env-check-consistency", check)
    return {
        "version": "1",
        "env_version": 1,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
