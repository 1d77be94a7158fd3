"""The book as one file: title, contents, outline, numbers, links, nothing cut."""

import contextlib
import sys

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


def test_contents_and_index_give_the_pages_on_which_things_stand(whole):
    theorem = number(whole, "perceptron--perceptron-mistake-bound")
    shown = whole.page_labels[theorem]
    assert (
        f"\n{shown}" in whole.pages[theorem].extract_text()
        or shown in whole.pages[theorem].extract_text()
    )
    contents = whole.pages[1].extract_text()
    first = whole.page_labels[number(whole, "perceptron")]
    assert "14. The perceptron" in contents
    assert first in contents.partition("14. The perceptron")[2][:12]
    index = "".join(page.extract_text() for page in whole.pages[-40:])
    assert f", {shown}" in index


def test_links_stay_inside_and_none_hangs(whole):
    inside = 0
    for page in whole.pages:
        for link in page.get("/Annots", ()):
            link = link.get_object()
            inside += "/Dest" in link
            assert "elsewhere.invalid" not in str(link.get("/A", ""))
    assert inside > 200


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
