"""The book as one file: title, contents, outline, numbers, running heads, nothing cut."""

import re
import sys

import pytest
from contents import ROOT, SITE, pages

sys.path.insert(0, str(ROOT))

from _ext.printing import pdf, pdfread

MM = 72 / 25.4
PRINTED = ("classification/perceptron", "theory/concentration")


@pytest.fixture(scope="module")
def parts():
    """The parts of a short book: front matter, two chapters, index."""
    chapters = [f"chapters/{name}" for name in PRINTED]
    return [("", ["chapters/intro"]), ("Chapters", chapters), ("Back", ["chapters/book-index"])]


@pytest.fixture(scope="module")
def printed(parts, browser, tmp_path_factory):
    """Print the short book as ``make pdf`` does; give the file, its page numbers, what was wide."""
    target = tmp_path_factory.mktemp("pdf") / "book.pdf"
    book, _ = pdf.settings()
    numbers, wide = pdf.print_file(browser, SITE, pdf.document(SITE, book, parts), target)
    return pdfread.Pdf(target), numbers, wide


def test_the_whole_book_joins_into_one_document_without_a_dangling_link():
    book, parts = pdf.settings()
    assert [f"{page}.html" for _, group in parts for page in group] == pages()
    html = pdf.document(SITE, book, parts)
    ids = re.findall(r'\sid="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    targets = {link.replace("&amp;", "&") for link in re.findall(r'\shref="#([^"]*)"', html)}
    assert len(targets) > 500
    assert not targets - set(ids)
    for picture in re.findall(r'<img\b[^>]*\ssrc="([^"]*)"', html):
        assert (SITE / picture).is_file(), picture
    assert "only-dark" not in html.partition("</head>")[2]
    assert "<script" not in html


def test_the_numbers_are_those_of_the_site(printed, parts):
    done, *_ = printed
    group = [page for _, group in parts for page in group]
    chapter = (SITE / "chapters/classification/perceptron.html").read_text(encoding="utf-8")
    known = pdf.labels(chapter)
    assert {"Theorem", "Definition", "Figure", "Exercise"} <= {one.split()[0] for one in known}
    assert len(known) > 40
    assert pdf.missing(SITE, group, done) == []


def test_a_number_that_is_not_printed_is_noticed(printed, parts, monkeypatch):
    done, *_ = printed
    group = [page for _, group in parts for page in group]
    whole = pdf.labels
    monkeypatch.setattr(pdf, "labels", lambda html: [*whole(html), "Theorem 99.99"])
    assert "chapters/classification/perceptron: Theorem 99.99" in pdf.missing(SITE, group, done)


def test_title_contents_and_running_heads(printed, parts):
    done, numbers, _ = printed
    assert "Machine Learning You Can Check" in done.text(1)
    assert not re.search(r"\b1\b", done.text(1))  # a title page has no number
    text = " ".join(done.text(page) for page in range(2, numbers["intro"]))
    for page in parts[1][1]:
        start = numbers[pdf.key(page)]
        title = pdf.title_of(next(html for _, html in pdf.articles(SITE, [page])))[1]
        assert re.search(rf"{re.escape(title)} ?{start}\b", text), title
        for inside in (start, start + 1, start + 5):
            head = [g for g in done.glyphs(inside) if g[1] > (297 - 22) * MM]
            assert "".join(g[3] for g in head).startswith(title)
            foot = "".join(g[3] for g in done.glyphs(inside) if g[1] < 20 * MM)
            assert foot == str(inside)


def test_the_outline_has_every_section_with_its_number(printed, parts):
    done, *_ = printed
    outline = [title for _, title in done.outline()]
    assert len(outline) == len(set(outline)) or outline.count("Exercises") <= 1
    for page, html in pdf.articles(SITE, parts[1][1]):
        assert pdf.title_of(html)[1] in outline, page
        assert len(pdf.headings(html)) == html.count("<h2") > 5
        for _, heading in pdf.headings(html):
            if "katex" not in heading:
                assert re.sub(r"<[^>]+>", "", heading).replace("&amp;", "&") in outline, heading


def test_nothing_is_wider_than_the_page_or_leaves_it(printed):
    done, _, wide = printed
    assert wide == []
    for page in range(1, len(done.pages) + 1):
        for x, y, size, shown, _ in done.glyphs(page):
            if shown.strip():
                assert 19 * MM <= x <= 191 * MM, (page, shown, x)
                assert 8 * MM <= y <= 289 * MM - size / 2, (page, shown, y)


def test_figures_and_code_are_in_place(printed, parts):
    done, numbers, _ = printed
    start, end = numbers["perceptron"], numbers["concentration"]
    text = " ".join(done.text(page) for page in range(start, end))
    plain = re.sub(r"\s", "", text)
    assert "withclaim(" not in plain  # folded on the page, left out on paper
    assert "necessarywithoutH3:nocleanpassin1000onXOR" in plain
    assert len(re.findall(r"Verified: \S+ (?:checks were|cell was) run", text)) >= 10
    drawn = sum(
        b"/XObject" in done.objects[n]
        or b" re\n" in done._stream(done._reference(done.objects[n], b"Contents"))
        for n in done.pages[start - 1 : end - 1]
    )
    assert drawn > 5


def test_the_checking_view_can_be_printed_too(parts):
    (page, *_) = parts[1][1]
    (read,), (checked,) = (
        [html for _, html in pdf.articles(SITE, [page], code)] for code in (0, 1)
    )
    assert "code-fold" not in read
    assert checked.count('<details open class="code-fold">') == checked.count("code-fold") > 15
    assert read.count('class="verdict-card') == checked.count('class="verdict-card') > 10


def test_every_page_number_in_contents_and_index_is_that_of_its_target(printed):
    done, numbers, _ = printed
    assert done.places() == numbers
    index = " ".join(done.text(page) for page in range(numbers["book-index"], len(done.pages) + 1))
    there = numbers["perceptron--term-pocket"]
    assert re.search(rf"pocket: term in The perceptron, {there}\b", index)
