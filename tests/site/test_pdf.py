"""The book as one file: title, contents, outline, numbers, running heads, nothing cut."""

import bisect
import contextlib
import re
import sys

import pytest
from contents import ROOT, SITE, pages

sys.path.insert(0, str(ROOT))

from _ext.printing import pdf, pdfmerge, pdfread

MM = 72 / 25.4
PRINTED = ("classification/perceptron", "theory/concentration")


@pytest.fixture(scope="module")
def parts():
    """The parts of a short book: front matter, two chapters, index."""
    chapters = [f"chapters/{name}" for name in PRINTED]
    return [("", ["chapters/intro"]), ("Chapters", chapters), ("Back", ["chapters/book-index"])]


@pytest.fixture(scope="module")
def book(parts):
    """The documents of the short book."""
    settled, _ = pdf.settings()
    return pdf.Book(SITE, settled, parts)


@pytest.fixture(scope="module")
def files(book, browser, tmp_path_factory):
    """Print the short book as ``make pdf`` does; give the files and the page number of anchors."""
    folder = tmp_path_factory.mktemp("pdf")
    return pdf.printed(book, folder, lambda: contextlib.nullcontext(browser))


@pytest.fixture(scope="module")
def printed(book, files, tmp_path_factory):
    """The short book as one file, and the page numbers."""
    target = tmp_path_factory.mktemp("pdf") / "book.pdf"
    pdf.put_together(book, files[0], target)
    return pdfread.Pdf(target), files[1]


def test_all_pages_join_into_one_book_without_a_dangling_link():
    settled, parts = pdf.settings()
    assert [f"{page}.html" for _, group in parts for page in group] == pages()
    book = pdf.Book(SITE, settled, parts)
    ids, targets = [], set()
    for page in ["", *book.pages]:
        html = book.page(page, 1) if page else book.front()
        ids += re.findall(r'\sid="([^"]*)"', html)
        found = re.findall(rf'\shref="(?:{re.escape(pdfmerge.AWAY)}|#)([^"]*)"', html)
        targets |= {link.replace("&amp;", "&") for link in found}
        for picture in re.findall(r'<img\b[^>]*\ssrc="([^"]*)"', html):
            assert (SITE / picture).is_file(), picture
        assert "only-dark" not in html.partition("</head>")[2]
        assert "<script" not in html
    assert len(ids) == len(set(ids))
    assert len(targets) > 500
    assert not targets - set(ids)


def test_the_numbers_are_those_of_the_site(files, parts):
    chapter = (SITE / "chapters/classification/perceptron.html").read_text(encoding="utf-8")
    known = pdf.labels(chapter)
    assert {"Theorem", "Definition", "Figure", "Exercise"} <= {one.split()[0] for one in known}
    assert len(known) > 40
    for page in parts[1][1]:
        assert pdf.missing(SITE, page, pdfread.Pdf(files[0][page])) == []


def test_a_number_that_is_not_printed_is_noticed(files, parts, monkeypatch):
    (page, *_) = parts[1][1]
    whole = pdf.labels
    monkeypatch.setattr(pdf, "labels", lambda html: [*whole(html), "Theorem 99.99"])
    assert pdf.missing(SITE, page, pdfread.Pdf(files[0][page])) == [f"{page}: Theorem 99.99"]


def test_links_between_pages_lead_to_their_places_in_the_file(printed, book):
    done, numbers = printed
    assert set(numbers) == set(done.places())
    links = re.compile(rb"/Subtype /Link\b.*?/Dest /([^\s/>]+)", re.DOTALL)
    starts = [numbers[pdf.key(page)] for page in book.pages]
    across = 0
    for number, page in enumerate(done.pages, 1):
        body = done.objects[page]
        for annotation in re.findall(
            rb"(\d+) 0 R", (re.findall(rb"/Annots \[(.*?)\]", body) or [b""])[0]
        ):
            about = done.objects[int(annotation)]
            assert pdfmerge.AWAY.encode() not in about
            for found in links.findall(about):
                target = numbers[pdfread.plain(found).decode()]  # every link leads somewhere
                across += bisect.bisect(starts, number) != bisect.bisect(starts, target)
    assert across > 100


def test_each_chapter_is_a_file_of_its_own_too(printed, files, book, tmp_path):
    _, numbers = printed
    pdf.chapters(book, files[0], tmp_path / "pdf", "https://a.b/")
    assert sorted(path.stem for path in (tmp_path / "pdf").iterdir()) == sorted(
        name.rpartition("/")[2] for name in PRINTED
    )
    done = pdfread.Pdf(tmp_path / "pdf" / "perceptron.pdf")
    assert len(done.pages) == numbers["concentration"] - numbers["perceptron"]
    assert pdf.missing(SITE, f"chapters/{PRINTED[0]}", done) == []
    words = pdf.title_of(next(html for _, html in pdf.articles(SITE, [f"chapters/{PRINTED[0]}"])))
    assert words[1].encode("utf-16-be").hex().upper().encode() in done.objects[done.info]


def test_a_link_to_an_anchor_that_no_file_has_is_noticed(book, files, tmp_path):
    page = book.pages[-1]  # the index leads to all pages
    alone = [pdfmerge.Part(files[0][page])]
    with pytest.raises(ValueError, match=r"anchors that are not in the file: concentration--"):
        pdfmerge.merged(alone, tmp_path / "index.pdf", {"Title": "Index"})
    there = tmp_path / "there.pdf"
    pdfmerge.merged(
        alone, there, {"Title": "Index"}, address=lambda anchor: f"https://a.b/#{anchor}"
    )
    assert b"/URI (https://a.b/#perceptron--term-pocket)" in there.read_bytes()


def test_the_whole_has_the_tags_of_its_parts(printed, files):
    done, _ = printed
    kinds = ("H1", "H2", "P", "Link", "Table", "TH", "Figure")

    def count(pdf):
        bodies = [body for body in pdf.objects.values() if b"/Type /StructElem" in body]
        return {k: sum(b"/S /%s\n" % k.encode() in body for body in bodies) for k in kinds}

    parts = [count(pdfread.Pdf(path)) for path in files[0].values()]
    assert count(done) == {kind: sum(part[kind] for part in parts) for kind in kinds}
    assert min(count(done).values()) >= 2
    tree = done.objects[done.reference(done.catalog, b"StructTreeRoot")]
    pairs = re.search(rb"/Nums \[(.*?)\]", done.objects[done.reference(tree, b"ParentTree")])[1]
    keys = [int(key) for key, _ in re.findall(rb"(\d+) (\d+) 0 R", pairs)]
    assert keys == sorted(set(keys))
    used = [
        int(key)
        for body in done.objects.values()
        for key in re.findall(rb"/StructParents? (\d+)", body.partition(b">> stream")[0])
    ]
    assert sorted(used) == keys


def test_title_contents_and_running_heads(printed, parts):
    done, numbers = printed
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
    depths = {title: depth for depth, title in done.outline()}
    assert (depths["Chapters"], depths["Contents"]) == (0, 0)
    for page, html in pdf.articles(SITE, parts[1][1]):
        assert depths[pdf.title_of(html)[1]] == 1, page
        assert len(pdf.headings(html)) == html.count("<h2") > 5
        for _, heading in pdf.headings(html):
            if "katex" not in heading:
                assert re.sub(r"<[^>]+>", "", heading).replace("&amp;", "&") in outline, heading


def test_nothing_is_wider_than_the_page_or_leaves_it(printed):
    done, _ = printed
    for page in range(1, len(done.pages) + 1):
        for x, y, size, shown, _ in done.glyphs(page):
            if shown.strip():
                assert 19 * MM <= x <= 191 * MM, (page, shown, x)
                assert 8 * MM <= y <= 289 * MM - size / 2, (page, shown, y)


def test_figures_and_code_are_in_place(printed, parts):
    done, numbers = printed
    start, end = numbers["perceptron"], numbers["concentration"]
    text = " ".join(done.text(page) for page in range(start, end))
    plain = re.sub(r"\s", "", text)
    assert "withclaim(" not in plain  # folded on the page, left out on paper
    assert "necessarywithoutH3:nocleanpassin1000onXOR" in plain
    assert len(re.findall(r"Verified: \S+ (?:checks were|cell was) run", text)) >= 10
    drawn = sum(
        b"/XObject" in done.objects[n]
        or b" re\n" in done._stream(done.reference(done.objects[n], b"Contents"))
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
    done, numbers = printed
    assert done.places() == numbers
    index = " ".join(done.text(page) for page in range(numbers["book-index"], len(done.pages) + 1))
    there = numbers["perceptron--term-pocket"]
    assert re.search(rf"pocket: term in The perceptron, {there}\b", index)
