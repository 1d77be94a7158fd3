"""What the book names: its terms, results, functions and people, for the index and the search.

``{book-index}`` lists in one alphabet every term, every result, every function and class of
``mllib``, and every author that is cited. The same names and the sections, with their numbers and
further words, are written to ``searchnames.js``, and which page holds which word to one file for
each letter in ``searchwords``: the search fetches them when it is used.
"""

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from docutils import nodes

from _ext.pages import formulas
from _ext.registers import blocks, glossary, notes, places
from _ext.registers.register import registers
from _ext.registers.verdicts import sentence

#: Objects of the library that are worth an entry of their own; methods are found with their class.
LIBRARY = ("function", "class", "module")


@dataclass(frozen=True)
class Name:
    """Something that has a name and a place."""

    title: str  #: with $...$ for mathematics and `...` for code
    kind: str  #: what it is, such as "Theorem 1.2", "term" or "function"
    docname: str
    anchor: str
    words: str = ""  #: further words under which the search finds it
    symbol: str = ""
    listed: bool = True  #: whether the index lists it


def numbered(env, docname, kind, label):
    """Return a kind with the number that its block carries, such as ``Theorem 1.2``."""
    counter = env.config.prf_realtyp_to_countertyp.get(kind, kind)
    number = env.toc_fignumbers.get(docname, {}).get(counter, {}).get(label)
    return f"{kind.capitalize()} {'.'.join(map(str, number))}" if number else kind


def results(app):
    """Yield every result of the published chapters by its name."""
    env = app.env
    chapters = notes.chapters(env)
    stated, pages = getattr(env, "proof_list", {}), notes.pages(env)
    for entry in registers(app)[0]:
        docname = chapters.get(entry["chapter"])
        if docname is not None:
            block = stated.get(entry["id"], {})
            kind = numbered(env, docname, block.get("realtype", entry["kind"]), entry["id"])
            words = f"{entry['id']} {entry['kind']}"
            said = pages[docname].words.get(entry["id"], "")
            words += " " + " ".join(re.findall(r"\b\w\^\w\b", said))
            if block:  # the title that the page gives it
                words += " " + said.partition("\n")[0]
            yield Name(entry["title"], kind, docname, entry["id"], words)


def terms(app):
    """Yield every term of the published chapters, and its other names."""
    chapters = notes.chapters(app.env)
    for term in glossary.load(app):
        if term.chapter in chapters:
            words = " ".join((*term.names, term.printed, term.definition, term.symbol))
            for name in term.names:
                docname, anchor = chapters[term.chapter], f"term-{term.slug}"
                yield Name(name, "term", docname, anchor, words, term.symbol)


def library(app):
    """Yield every module, function and class of the library."""
    for dotted, item in app.env.get_domain("py").objects.items():
        if item.objtype in LIBRARY and dotted.startswith("mllib."):
            name = dotted.removeprefix("mllib.")
            title = f"`{name.rsplit('.', 1)[-1]}`"
            kind = f"{item.objtype} of mllib"
            if "." in name:
                kind = f"{item.objtype}, mllib.{name.rsplit('.', 1)[0]}"
            yield Name(title, kind, item.docname, item.node_id, dotted)


def exercises(app):
    """Yield every exercise with a title; the search finds them, the index leaves them out."""
    for label, item in getattr(app.env, "sphinx_exercise_registry", {}).items():
        if title := item.get("title"):
            kind = numbered(app.env, item["docname"], "exercise", label)
            yield Name(title, kind, item["docname"], label, listed=False)


def people(app):
    """Yield each author of a cited work once for each page that cites it."""
    domain = app.env.domaindata.get("cite")
    if not domain:
        return
    citing = {}
    for reference in domain["citation_refs"]:
        for target in reference.targets:
            citing.setdefault(target.key, []).append((reference.docname, reference.citation_ref_id))
    seen = set()
    for citation in domain["citations"]:
        for person in citation.entry.persons.get("author", ()):
            last = " ".join(map(str, (*person.rich_prelast_names, *person.rich_last_names)))
            first = " ".join(map(str, (*person.rich_first_names, *person.rich_middle_names)))
            name = f"{last}, {first}" if first else last
            for docname, anchor in citing.get(citation.key, ()):
                if (name, docname) not in seen:
                    seen.add((name, docname))
                    yield Name(name, "cited", docname, anchor)


def sections(app):
    """Yield the sections of what is read from front to back; the search finds them."""
    for docname in app.env.found_docs:
        if not docname.startswith("chapters/"):
            continue
        numbers = app.env.toc_secnumbers.get(docname, {})
        for link in app.env.tocs[docname].findall(nodes.reference):
            anchor, number = (
                link["anchorname"],
                ".".join(map(str, numbers.get(link["anchorname"], ()))),
            )
            words = (f"${n.astext()}$" if isinstance(n, nodes.math) else n.astext() for n in link)
            kind = f"Section {number}".strip() if anchor else "page"
            yield Name("".join(words), kind, docname, anchor.lstrip("#"), listed=False)


def collect(app, *more):
    """Return every name of the book, in the order of the alphabet."""
    found = [*results(app), *terms(app), *library(app), *exercises(app), *people(app), *more]
    return sorted(found, key=lambda n: (glossary.slug(n.title), n.kind, n.docname, n.anchor))


# -- the index -------------------------------------------------------------------------------------


class BookIndex(places.Place):
    """``{book-index}``."""


#: What an alphabet passes over at the beginning of a title.
ARTICLE = re.compile(r"(?i)^(?:an?|the) (?=[a-z])")


class FillIndex(places.Filler):
    """Write the index into its place."""

    fills = MappingProxyType({"book-index": lambda self, place: self.listing()})

    def listing(self):
        """Return the line of letters and the sections of names."""
        together = {}
        for name in collect(self.app):
            if name.listed:
                together.setdefault(name.title, []).append(name)
        groups = glossary.by_letter(together.items(), lambda item: ARTICLE.sub("", item[0]))
        line, sections = glossary.letters_of("index", groups)
        for section, (_, group) in zip(sections, groups):
            listing = nodes.bullet_list(classes=["index-list"])
            for title, found in group:
                entry = nodes.paragraph("", "", *sentence(title), nodes.Text(": "))
                entry += blocks.commas(map(self.place, found), "; ")
                listing += nodes.list_item("", entry)
            section += listing
        return [line, *sections]

    def place(self, name):
        """Return the link to one place, which says what stands there."""
        uri = self.app.builder.get_relative_uri(self.env.docname, name.docname)
        title = self.env.titles[name.docname].astext()
        if name.kind == "cited":
            text = f"cited in {title}"
        elif name.kind == "term" or name.docname.count("/") >= 2:
            text = f"{name.kind} in {title}"
        else:
            text = name.kind
        return nodes.reference("", text, internal=True, refuri=f"{uri}#{name.anchor}")


# -- the search ------------------------------------------------------------------------------------


def shown(title):
    """Return a title as HTML: mathematics as MathML, which needs no style sheet."""
    parts = []
    for node in sentence(title):
        text = node.astext()
        if isinstance(node, nodes.math):
            formula = formulas.typeset(text, mathml=True)
            parts.append(formula.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))
        else:
            text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            parts.append(f"<code>{text}</code>" if isinstance(node, nodes.literal) else text)
    return "".join(parts)


def searchable(app, pages):
    """Return the lines of the search: title, kind, page, anchor, title as text, words, symbol."""
    lines = []
    for name in collect(app, *sections(app)):
        if name.kind != "cited" and name.docname in pages:
            title, look = glossary.plain(name.title), shown(name.title)
            title = re.sub(r"\b(\w) squared", r"\g<0> \1^2", title)
            more = {*glossary.plain(f"{name.words} {name.symbol}").split()} - {*title.split()}
            text = title if title != look.lower() else ""
            where = pages.index(name.docname), name.anchor
            more = " ".join(sorted(more))
            lines.append([look, name.kind, *where, text, more, shown(name.symbol)])
    return lines


def write_search(app, error):
    """Write the names, and which page holds which word, as Sphinx indexed them."""
    if error is not None or app.builder.format != "html":
        return
    pages = [name for name in notes.reading_order(app.env) if "/" in name]
    pages.sort(key=lambda name: name.count("/") < 2)  # chapters come first
    listed = [[app.env.titles[name].astext(), app.builder.get_target_uri(name)] for name in pages]
    letters = defaultdict(dict)
    indexed, titled = app.builder.indexer._mapping, app.builder.indexer._title_mapping
    for word in {*indexed, *titled}:
        holding = indexed.get(word, set()) | titled.get(word, set())
        found = sorted(pages.index(name) for name in holding if name in pages)
        letters[word[0] if "a" <= word[:1] <= "z" else "0"][word] = found
    folder = Path(app.outdir, "searchwords")
    folder.mkdir(exist_ok=True)
    for letter, table in letters.items():
        text = json.dumps(dict(sorted(table.items())), ensure_ascii=False, separators=(",", ":"))
        (folder / f"{letter}.js").write_text(f'window.bookWords("{letter}",{text});\n', "utf-8")
    lines = (json.dumps(line, ensure_ascii=False) for line in searchable(app, pages))
    text = f"window.bookPages = {json.dumps(listed, ensure_ascii=False)};\n"
    text += "window.bookNames = [\n" + ",\n".join(lines) + "\n];\n"
    (folder.parent / "searchnames.js").write_text(text, encoding="utf-8")


def setup(app):
    """Register the directive and the writer of the names."""
    app.setup_extension("_ext.registers.glossary")
    app.add_directive("book-index", BookIndex)
    app.add_post_transform(FillIndex)
    app.connect("build-finished", write_search)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
