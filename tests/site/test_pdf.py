"""The book as one file: title, contents, outline, numbers, links, nothing cut."""

import contextlib
import re
import sys
import unicodedata

import pytest
from contents import ROOT
from pypdf import PdfReader

sys.path.insert(0, str(ROOT))

from _ext.pdf import book

CHAPTERS = ("chapters/classification/perceptron", "chapters/theory/concentration")


@pytest.fixture(scope="module")
def folder(browser, tmp_path_factory):
    """Print a short book as ``make pdf`` does: front matter, two chapters, index."""
    folder = tmp_path_factory.mktemp("pdf")
    parts = [("", ["chapters/intro"]), ("Chapters", CHAPTERS), ("Back", ["chapters/book-index"])]
    printer = book.Printer(folder, parts, "The book", "The authors")
    printer.print(lambda: contextlib.nullcontext(browser))
    printer.whole(folder / "book.pdf")
    printer.chapters(folder / "pdf", "https://example.org/")
    return folder


@pytest.fixture(scope="module")
def whole(folder):
    """The short book."""
    return PdfReader(folder / "book.pdf")


def titles(outline):
    """Return an outline as nested lists of titles."""
    return [titles(item) if isinstance(item, list) else item.title for item in outline]


def number(reader, name):
    """Return the page of an anchor, counted from 0."""
    return reader.get_destination_page_number(reader.named_destinations[f"/{name}"])


def test_the_outline_has_parts_chapters_and_sections(whole):
    outline = titles(whole.outline)
    part = outline[outline.index("Chapters") + 1]
    assert part[0].startswith("14. The perceptron")
    assert len(part[1]) > 8
    assert whole.metadata.title == "The book"


def squeezed(pages):
    """Return the text of pages without ligatures, each break and run of spaces one space."""
    text = " ".join(page.extract_text() for page in pages)
    return " ".join(unicodedata.normalize("NFKC", text).split())


def leads_to(whole, page):
    """Return the pages to which the links of a page lead, in order."""
    links = [link.get_object() for link in page.get("/Annots", ())]
    assert not any("elsewhere.invalid" in str(link.get("/A", "")) for link in links)
    return [
        whole.get_page_number(link["/Dest"][0].get_object()) for link in links if "/Dest" in link
    ]


def test_contents_and_index_give_the_pages_on_which_things_stand_and_lead_there(whole):
    theorem, first = (number(whole, f"perceptron{a}") for a in ("--perceptron-mistake-bound", ""))
    shown, begins = whole.page_labels[theorem], whole.page_labels[first]
    assert shown in whole.pages[theorem].extract_text().split("\n")  # a line by itself
    assert "Theorem 14.2 (Novikoff’s mistake bound)" in squeezed([whole.pages[theorem]])
    assert f"14. The perceptron {begins} " in squeezed(whole.pages[1:3])
    assert first in leads_to(whole, whole.pages[1])
    index = whole.pages[number(whole, "book-index") :]
    assert re.search(
        rf"Novikoff mistake bound: Theorem 14\.2 in The perceptron, {shown}\b", squeezed(index)
    )
    assert theorem in [target for page in index for target in leads_to(whole, page)]


def test_links_stay_inside_and_none_hangs(whole):
    targets = [target for page in whole.pages for target in leads_to(whole, page)]
    assert len(targets) > 200
    assert None not in targets


def test_what_is_numbered_on_the_site_has_its_number_on_paper(folder):
    name = "chapters/classification/perceptron"
    html = (ROOT / "_build" / "html" / f"{name}.html").read_text(encoding="utf-8")
    numbered = set(re.findall(r'aria-label="Link to (\w+\.? \(?\d+\.\d+\)?)"', html))
    kinds = {one.split()[0] for one in numbered}
    assert {"Theorem", "Definition", "Figure", "Exercise", "Equation"} <= kinds
    paper = squeezed(PdfReader(folder / "pdf" / "perceptron.pdf").pages)
    assert [one for one in numbered if one.removeprefix("Equation ") not in paper] == []


def test_a_chapter_is_tagged_numbered_as_in_the_book_and_leads_to_the_site(folder, whole):
    chapter = PdfReader(folder / "pdf" / "perceptron.pdf")
    assert "/StructTreeRoot" in chapter.trailer["/Root"]
    assert chapter.outline
    first = number(whole, "perceptron")
    assert whole.page_labels[first] in chapter.pages[0].extract_text()
    links = [
        a.get_object().get("/A", {}).get("/URI", "")
        for p in chapter.pages
        for a in p.get("/Annots", ())
    ]
    assert all(link.startswith("http") for link in links if link)
    assert not any("elsewhere.invalid" in link for link in links)


def test_what_is_wider_than_the_page_stops_the_printing(browser, tmp_path):
    wide = tmp_path / "wide.html"
    wide.write_text(
        '<html data-content_root="./"><article class="bd-article"><h1>Wide</h1>'
        '<p style="width: 4000px">x</p></article></html>'
    )
    with pytest.raises(ValueError, match="Wider than the page"):
        book.print_page(
            browser,
            wide.as_uri(),
            tmp_path / "x.pdf",
            "",
            page="wide",
            home={"wide": "wide"},
            code=False,
            away=book.AWAY,
            numbers={},
        )
