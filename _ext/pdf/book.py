"""``make pdf``: the whole book as one file, printed by Chromium from the built site.

    python _ext/printing/pdf.py            writes _build/book.pdf, each chapter also to _build/pdf/

Each page of the site is printed by itself, by a browser that ends before the next one starts: the
same HTML, hence the same numbers and the same formulas, and no more memory than the longest chapter
takes. Every number of the page must then stand in its file. Anchors get the name of their page in
front, and each file starts at the page number where the one before ended. Contents and index come
first, to learn how long they are, and again at the end, with the page numbers. The files are put
together (``pdfmerge``), and links between pages become links inside the file.
"""

import argparse
import contextlib
import html as markup
import posixpath
import re
import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from _ext.printing import pdfmerge, pdfread
from _ext.serving import build
from _ext.shipping import share

STYLE = Path(__file__).with_name("pdf.css")

#: Parts of an article that only a screen needs.
_SCREEN = (
    r'<a class="headerlink"[^>]*>.*?</a>',
    r'<a class="permalink"[^>]*>.*?</a>',
    r'<img\b[^>]*\bclass="only-dark[^>]*>',
    r"<script\b.*?</script>",
    r'<div class="toctree-wrapper.*?</div>',
    r'(?<=<pre>)<noscript class="code">|</noscript>(?=</pre>)',
)


def articles(site, pages, code=False):
    """Yield (page, HTML inside its article) for the pages of a site.

    What is folded is shown on paper; code that is folded only if ``code`` asks for it.

    Parameters
    ----------
    site : Path
    pages : list of str
        Paths of the pages, without ``.html``.
    """
    for page in pages:
        html = (site / f"{page}.html").read_text(encoding="utf-8")
        inside = re.search(r'<article class="bd-article"[^>]*>(.*?)</article>', html, re.DOTALL)[1]
        for pattern in _SCREEN:
            inside = re.sub(pattern, "", inside, flags=re.DOTALL)
        # Nothing is laid out later than the rest on paper.
        inside = re.sub(r' style="--phone[^"]*"|\sloading="lazy"', "", inside)
        if not code:
            inside = re.sub(
                r'<details class="code-fold">.*?</details>', "", inside, flags=re.DOTALL
            )
        yield page, inside.replace("<details", "<details open")


def key(page):
    """Return the word that stands before the anchors of a page."""
    folder, _, name = page.rpartition("/")
    return name if folder.startswith("chapters") else page.replace("/", "-")


def joined(page, html, pages):
    """Return the article of ``page`` with anchors, links and pictures that hold in one document."""
    folder = posixpath.dirname(page)

    def anchor(match):
        return f'{match[1]}id="{key(page)}--{match[2]}"'

    def link(match):
        address, _, fragment = markup.unescape(match[1]).partition("#")
        if re.match(r"[a-z]+:", address):
            return match[0]
        target = page
        if address:
            path = posixpath.normpath(posixpath.join(folder, unquote(address)))
            target = path.removesuffix(".html")
        if target not in pages:
            return ""  # the text stays, without a link
        place = f"{key(target)}--{fragment}" if fragment else key(target)
        return f'href="#{markup.escape(place)}"'

    def picture(match):
        if re.match(r"[a-z]+:|/", match[2]):
            return match[0]
        return f'{match[1]}src="{posixpath.normpath(posixpath.join(folder, match[2]))}"'

    html = re.sub(r'(<[a-z][^>]*?\s)id="([^"]*)"', anchor, html)
    html = re.sub(r'(?<=\s)href="([^"]*)"', link, html)
    return re.sub(r'(<img\b[^>]*?\s)src="([^"]*)"', picture, html)


def title_of(html):
    """Return the title of an article: its HTML, and its plain text with the number."""
    inside = re.search(r"<h1[^>]*>(.*?)</h1>", html, re.DOTALL)[1]
    without = re.sub(
        r'<(span|noscript) class="katex-mathml">.*?</\1>(?=<span class="katex-html)', "", inside
    )
    return inside, markup.unescape(re.sub(r"<[^>]+>", "", without)).strip()


def headings(html):
    """Return (anchor, HTML) of the second-level headings of an article."""
    section = r'<section\b[^>]*\sid="([^"]+)"[^>]*>\s*(?:<span id="[^"]*"></span>\s*)*'
    found = re.findall(section + r"<h2[^>]*>(.*?)</h2>", html, re.DOTALL)
    return [(anchor, re.sub(r"</?a\b[^>]*>", "", text)) for anchor, text in found]


def number_of(anchor, before=""):
    """Return the place of a page number, with as much room as it will need."""
    return f'{before}<span class="page-number" data-to="{anchor}">000</span>'


def numbered(html, numbers):
    """Return a document with the page numbers written in."""
    place = re.compile(r'(<span class="page-number" data-to="([^"]*)">)000(?=</span>)')
    return place.sub(lambda match: f"{match[1]}{numbers.get(markup.unescape(match[2]), '')}", html)


def contents(parts, titles, sections):
    """Return the table of contents: parts, pages, sections, each with room for its page number.

    Parameters
    ----------
    parts : list of (caption, pages)
    titles : dict
        The title of each page, as HTML.
    sections : dict
        What ``headings`` found on each page.
    """

    def line(level, anchor, text):
        return (
            f'<p class="toc-{level}"><a href="#{anchor}"><span class="toc-title">{text}</span>'
            f"{number_of(anchor)}</a></p>"
        )

    lines = ['<section class="book-contents"><h1 id="book-contents">Contents</h1>']
    for caption, pages in parts:
        lines.append(f'<p class="toc-part">{markup.escape(caption)}</p>' if caption else "")
        for page in pages:
            lines.append(line(1, key(page), titles[page]))
            if page.count("/") >= 2:
                lines += [line(2, anchor, text) for anchor, text in sections[page]]
    return "\n".join([*lines, "</section>"])


def with_pages(html):
    """Return the index with room for the number of the page after each link."""
    entry = re.compile(r'<a class="reference internal" href="#(?!\S+-entries")([^"]+)">.*?</a>')
    return entry.sub(lambda match: match[0] + number_of(match[1], ", "), html)


_TARGET = re.compile(r'(?<=\shref=")#([^"]*)')


class Book:
    """The documents that are printed: title and contents, then one for each page of the site.

    Parameters
    ----------
    site : Path
    book : dict
        The settings of the book: title, author.
    parts : list of (caption, pages)
    code : bool
        Print the code of claims too, and other code that the site folds: the checking view.
    """

    def __init__(self, site, book, parts, code=False):
        self.site, self.book, self.parts, self.code = site, book, parts, code
        self.pages = [page for _, group in parts for page in group]
        self.home = {key(page): page for page in self.pages}
        titles, sections, self.wanted = {}, {}, {page: {key(page)} for page in self.pages}
        for page in self.pages:
            html = self.body(page)
            titles[page], sections[page] = title_of(html)[0], headings(html)
            self.note(html, page)
        self.contents = contents(parts, titles, sections)
        self.note(self.contents)

    def note(self, html, own=""):
        """Note the anchors of other pages to which ``html`` leads."""
        for link in _TARGET.findall(html):
            anchor = markup.unescape(link)
            page = self.home.get(anchor.partition("--")[0])
            if page and page != own:
                self.wanted[page].add(anchor)

    def body(self, page):
        """Return the article of a page."""
        ((_, html),) = articles(self.site, [page], self.code)
        html = joined(page, html, self.pages)
        return with_pages(html) if key(page) == "book-index" else html

    def front(self):
        """Return the document of title and contents."""
        title, author = (markup.escape(self.book[what]) for what in ("title", "author"))
        return self.document(
            f'<section class="book-title"><p class="book-name">{title}</p>'
            f'<p class="book-author">{author}</p>'
            '<p class="book-note">Every result is derived on the page, implemented in a small '
            "tested library, and verified again by running it.</p></section>\n" + self.contents
        )

    def page(self, page, start):
        """Return the document of a page whose first sheet has the number ``start``."""
        html = self.body(page)
        head = title_of(html)[1].replace("\\", "").replace('"', "'")
        # An anchor is noted in the file only if a link of its own document leads there.
        links = "".join(
            f'<a href="#{markup.escape(anchor)}"></a>' for anchor in sorted(self.wanted[page])
        )
        return self.document(
            f'<article class="bd-article" id="{key(page)}">{html}</article><p hidden>{links}</p>',
            f"@page :first {{ counter-increment: page {start}; }}\n"
            f'@page {{ @top-left {{ content: "{head}"; }} '
            f'@top-right {{ content: "{self.book["title"]}"; }} }}',
            page,
        )

    def document(self, inside, style="", page=""):
        """Return what is printed as one file; links to other documents lead ``AWAY``."""

        def link(match):
            home = self.home.get(markup.unescape(match[1]).partition("--")[0], "")
            return match[0] if home == page else f"{pdfmerge.AWAY}{match[1]}"

        sheet = re.search(
            r'<link[^>]*rel="stylesheet"[^>]*href="[^"]*(_static/style-[^"]+)"',
            (self.site / f"{page or self.pages[0]}.html").read_text(encoding="utf-8"),
        )[1]
        return (
            '<!DOCTYPE html>\n<html lang="en" data-theme="light" data-mode="light"><head>'
            f'<meta charset="utf-8"><title>{markup.escape(self.book["title"])}</title>'
            f'<link rel="stylesheet" href="{sheet}">\n'
            f"<style>\n{STYLE.read_text(encoding='utf-8')}{style}\n</style></head>"
            f'<body><main class="bd-content">{_TARGET.sub(link, inside)}</main></body></html>\n'
        )


#: Make what is wider than the page as small as it must be; return what still does not fit. All
#: widths are read before any size is set: each change lays out the whole document anew.
FIT = """() => {
  const boxes = [...document.querySelectorAll(".equation-body")]
    .map((box) => ({ box, part: box.firstElementChild, least: 0.5, size: 1 }));
  for (const part of document.querySelectorAll("table")) {
    boxes.push({ box: part.parentElement, part, least: 0.6, size: 1 });
  }
  for (let round = 0; round < 8; round += 1) {
    const wide = boxes
      .map((one) => ({ one, ratio: one.box.clientWidth / one.box.scrollWidth }))
      .filter(({ one, ratio }) => ratio < 0.999 && one.size > one.least);
    if (!wide.length) break;
    for (const { one, ratio } of wide) {
      one.size = Math.max(one.least, one.size * Math.min(ratio, 0.99) * 0.995);
      one.part.style.fontSize = `${one.size}em`;
    }
  }
  for (const code of document.querySelectorAll("pre")) { // short code is not torn apart
    if (code.textContent.split("\\n").length > 15) continue;
    const box = code.closest(".cell_input, .output") || code.parentElement;
    box.style.setProperty("break-inside", "avoid", "important");
  }
  const edge = document.querySelector("main").getBoundingClientRect().right + 1;
  const parts = ".katex-html .katex-base, img, pre, td, p, li, .equation-number";
  const crossed = [...document.querySelectorAll(".equation-number")].filter((number) => {
    const formulas = number.parentElement.querySelectorAll(".katex-html .katex-base");
    const left = number.getBoundingClientRect().left;
    return [...formulas].some((part) => part.getBoundingClientRect().right > left + 1);
  });
  const spilt = [...document.querySelectorAll(".page-number")].filter((number) => {
    const ink = document.createRange();
    ink.selectNodeContents(number);
    const [room, text] = [number, ink].map((part) => part.getBoundingClientRect());
    return text.left < room.left - 1 || text.right > room.right + 1;
  });
  return [...document.querySelectorAll(parts)]
    .filter((part) => part.getBoundingClientRect().right > edge)
    .concat(crossed, spilt)
    .map((part) => `${part.closest("[id]")?.id}: ${part.textContent.slice(0, 60)}`);
}"""


@contextlib.contextmanager
def chromium():
    """Give a function that starts the browser that prints, as a context manager."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-headless-shell", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        sys.exit("Chromium is missing. On Debian or Ubuntu: sudo apt-get install chromium")
    with sync_playwright() as playwright:

        @contextlib.contextmanager
        def started():
            options = ["--no-sandbox", "--disable-gpu"]
            browser = playwright.chromium.launch(executable_path=path, args=options)
            try:
                yield browser
            finally:
                browser.close()

        yield started


def print_file(browser, site, html, target):
    """Print ``html``, a document in the folder ``site``, to ``target``.

    Returns
    -------
    pdf : pdfread.Pdf
    wide : list of str
        What does not fit on the page.
    """
    with tempfile.NamedTemporaryFile(dir=site, suffix=".html", delete=False) as file:
        file.write(html.encode())
    page_file = Path(file.name)
    tab = browser.new_page(viewport={"width": 900, "height": 1200})
    try:
        tab.set_default_timeout(1_800_000)
        tab.emulate_media(media="print", color_scheme="light")
        tab.goto(page_file.as_uri(), wait_until="load")
        tab.evaluate("document.fonts.ready.then(() => true)")
        tab.evaluate("Promise.all([...document.images].map((image) => image.decode()))")
        wide = tab.evaluate(FIT)
        tab.pdf(
            prefer_css_page_size=True,
            print_background=True,
            outline=True,
            tagged=True,
            path=str(target),
        )
    finally:
        tab.close()
        page_file.unlink(missing_ok=True)  # a build may have put a new site in place
    return pdfread.Pdf(target), wide


def printed(book, folder, start_browser):
    """Print each document of a book; return the files in order and the page number of each anchor.

    Parameters
    ----------
    book : Book
    folder : Path
        Where the files go.
    start_browser : callable
        Returns a browser as a context manager; every document has one of its own.
    """
    files = {page: folder / f"{i:03d}.pdf" for i, page in enumerate(["", *book.pages])}
    sheets, starts, numbers, again = 0, {}, {}, {}

    def put(page, html):
        with start_browser() as browser:
            pdf, wide = print_file(browser, book.site, html, files[page])
        if wide:
            raise ValueError("Wider than the page:\n" + "\n".join(wide))
        return pdf

    for page in files:
        starts[page] = sheets + 1
        html = book.page(page, starts[page]) if page else book.front()
        pdf = put(page, html)
        if page and (lost := missing(book.site, page, pdf)):
            raise ValueError("On the site, but not in the file:\n" + "\n".join(lost))
        numbers |= {anchor: number + sheets for anchor, number in pdf.places().items()}
        if 'class="page-number"' in html:
            again[page] = html, pdf.places(), len(pdf.pages)
        sheets += len(pdf.pages)
        print(f"  {page or 'title and contents'}: {len(pdf.pages)} pages", flush=True)
    for page, (html, *before) in again.items():
        pdf = put(page, numbered(html, numbers))
        if [pdf.places(), len(pdf.pages)] != before:
            raise ValueError(f"The page numbers moved between the two printings of {page}.")
    return files, numbers


def labels(html):
    """Return what is numbered in an article: sections, blocks, figures and equations."""
    found = re.findall(r'<span class="section-number">\s*([\d.]+)\s*</span>', html)
    found += re.findall(r'<span class="caption-number">\s*([A-Z][a-z]+ [\d.]+?)\s*</span>', html)
    found += re.findall(r'<a class="equation-number"[^>]*>(\([\d.]+\))</a>', html)
    return list(dict.fromkeys(found))


def missing(site, page, pdf):
    """Return the numbers of a page of the site that its printed file does not show."""
    ((_, html),) = articles(site, [page])
    text = " ".join(pdf.text(number) for number in range(1, len(pdf.pages) + 1))
    return [
        f"{page}: {label}"
        for label in labels(html)
        if not re.search(rf"(?<![\w.]){re.escape(label)}(?!\.?\d)", text)
    ]


def settings():
    """Return the settings of the book, and its parts as (caption, pages)."""
    root = build.ROOT
    book = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    parts = [("", [toc["root"]])]
    for part in toc["parts"]:
        files = [[page, *page.get("sections", [])] for page in part["chapters"]]
        parts.append((part["caption"], [one["file"] for group in files for one in group]))
    return book, parts


def put_together(book, files, target):
    """Put the printed files of a book together in ``target``."""
    captions = {page: caption for caption, group in book.parts for page in group}
    parts = [pdfmerge.Part(path, captions.get(page, "")) for page, path in files.items()]
    about = {"Title": book.book["title"], "Author": book.book["author"]}
    pdfmerge.merged(parts, target, about)


def chapters(book, files, folder, address=""):
    """Put each chapter into a file of its own in ``folder``, numbered as in the book.

    A link to another page leads to the site at ``address``, or nowhere while there is none.
    """

    def elsewhere(anchor):
        home, _, place = anchor.partition("--")
        page = book.home.get(home)
        return address and page and f"{address}{page}.html{f'#{place}' if place else ''}"

    folder.mkdir()
    for page in book.pages:
        if page.count("/") > 1:
            title = title_of(next(html for _, html in articles(book.site, [page])))[1]
            about = {"Title": title, "Author": book.book["author"]}
            target = folder / f"{key(page)}.pdf"
            pdfmerge.merged([pdfmerge.Part(files[page])], target, about, address=elsewhere)


def main():
    """Print the pages one by one and put them together."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path, default=build.BUILD / "book.pdf")
    parser.add_argument("--code", action="store_true", help="print the code that the site folds")
    options = parser.parse_args()
    if not build.SITE.exists():
        sys.exit("There is no site yet: `make book` builds it.")
    settled, parts = settings()
    with tempfile.TemporaryDirectory() as folder, chromium() as start_browser:
        draft = Path(folder) / "book.pdf"
        print("Printing the pages one by one ...", flush=True)
        book = Book(build.SITE, settled, parts, options.code)
        try:
            files, numbers = printed(book, Path(folder), start_browser)
            put_together(book, files, draft)
        except ValueError as error:
            sys.exit(str(error))
        done = pdfread.Pdf(draft)
        if done.places() != numbers:
            sys.exit("The page numbers moved when the files were put together.")
        alone = Path(folder) / "pdf"
        chapters(book, files, alone, share.about(build.ROOT).address)
        options.output.parent.mkdir(exist_ok=True)
        shutil.copyfile(draft, options.output)
        shutil.rmtree(options.output.with_name("pdf"), ignore_errors=True)
        shutil.copytree(alone, options.output.with_name("pdf"))
    print(f"{options.output}: {len(done.pages)} pages.")


if __name__ == "__main__":
    main()
