"""``make pdf``: the whole book as one file, printed by Chromium from the built site.

    python _ext/printing/pdf.py            writes _build/book.pdf

The articles of all pages stand one after the other in one document: the same HTML, hence the same
numbers and the same formulas. Anchors get the name of their page in front, links between pages
become links inside the file. It is printed twice: the first time to learn on which page each
anchor falls, the second time with these numbers in the contents and the index. Then the file is
read, and every number of the site must stand in it.
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

from _ext.printing import pdfread
from _ext.serving import build

STYLE = Path(__file__).with_name("pdf.css")

#: Parts of an article that only a screen needs.
_SCREEN = (
    r'<a class="headerlink"[^>]*>.*?</a>',
    r'<a class="permalink"[^>]*>.*?</a>',
    r'<img\b[^>]*\bclass="only-dark[^>]*>',
    r"<script\b.*?</script>",
    r'<div class="toctree-wrapper.*?</div>',
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


def contents(parts, bodies):
    """Return the table of contents: parts, pages, sections, each with room for its page number."""

    def line(level, anchor, text):
        return (
            f'<p class="toc-{level}"><a href="#{anchor}"><span class="toc-title">{text}</span>'
            f"{number_of(anchor)}</a></p>"
        )

    lines = ['<section class="book-contents"><h1 id="book-contents">Contents</h1>']
    for caption, pages in parts:
        lines.append(f'<p class="toc-part">{markup.escape(caption)}</p>' if caption else "")
        for page in pages:
            lines.append(line(1, key(page), title_of(bodies[page])[0]))
            if page.count("/") >= 2:
                lines += [line(2, anchor, text) for anchor, text in headings(bodies[page])]
    return "\n".join([*lines, "</section>"])


def with_pages(html):
    """Return the index with room for the number of the page after each link."""
    entry = re.compile(r'<a class="reference internal" href="#(?!\S+-entries")([^"]+)">.*?</a>')
    return entry.sub(lambda match: match[0] + number_of(match[1], ", "), html)


def document(site, book, parts, code=False):
    """Return the whole book as one HTML document.

    Parameters
    ----------
    site : Path
    book : dict
        The settings of the book: title, author.
    parts : list of (caption, pages)
    code : bool
        Print the code of claims too, and other code that the site folds: the checking view.
    """
    pages = [page for _, group in parts for page in group]
    bodies = {page: joined(page, html, pages) for page, html in articles(site, pages, code)}
    styles, sections = [STYLE.read_text(encoding="utf-8")], []
    for i, page in enumerate(pages):
        head = title_of(bodies[page])[1].replace("\\", "").replace('"', "'")
        styles.append(
            f"#{key(page)} {{ page: p{i}; }}\n"
            f'@page p{i} {{ @top-left {{ content: "{head}"; }} '
            f'@top-right {{ content: "{book["title"]}"; }} }}'
        )
        body = with_pages(bodies[page]) if key(page) == "book-index" else bodies[page]
        sections.append(f'<article class="bd-article" id="{key(page)}">{body}</article>')
    sheet = re.search(
        r'<link[^>]*rel="stylesheet"[^>]*href="[^"]*(_static/style-[^"]+)"',
        (site / f"{pages[0]}.html").read_text(encoding="utf-8"),
    )[1]
    return (
        '<!DOCTYPE html>\n<html lang="en" data-theme="light" data-mode="light"><head>'
        f'<meta charset="utf-8"><title>{markup.escape(book["title"])}</title>'
        f'<meta name="author" content="{markup.escape(book["author"])}">'
        f'<link rel="stylesheet" href="{sheet}">\n<style>\n{chr(10).join(styles)}\n</style></head>'
        '<body><main class="bd-content"><section class="book-title">'
        f'<p class="book-name">{markup.escape(book["title"])}</p>'
        f'<p class="book-author">{markup.escape(book["author"])}</p>'
        '<p class="book-note">Every result is derived on the page, implemented in a small tested '
        "library, and verified again by running it.</p></section>\n"
        f"{contents(parts, bodies)}\n{chr(10).join(sections)}</main></body></html>\n"
    )


#: Make what is wider than the page as small as it must be; return what still does not fit. All
#: widths are read before any size is set: each change lays out the whole book anew.
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
    .map((part) => `${part.closest("[id]").id}: ${part.textContent.slice(0, 60)}`);
}"""


@contextlib.contextmanager
def chromium():
    """Start the browser that prints."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-headless-shell", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        sys.exit("Chromium is missing. On Debian or Ubuntu: sudo apt-get install chromium")
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()


#: Write the page numbers in.
FILL = """(numbers) => document.querySelectorAll(".page-number").forEach((place) => {
  place.textContent = numbers[place.dataset.to] || "";
})"""


def print_file(browser, site, html, target):
    """Print ``html``, a document in the folder ``site``, to ``target``.

    Returns
    -------
    numbers : dict
        Page number by anchor, as printed in contents and index.
    wide : list of str
        What does not fit on the page.
    """
    with tempfile.NamedTemporaryFile(dir=site, suffix=".html", delete=False) as file:
        file.write(html.encode())
    page_file = Path(file.name)
    tab = browser.new_page(viewport={"width": 900, "height": 1200})
    options = {"prefer_css_page_size": True, "print_background": True, "path": str(target)}
    try:
        tab.set_default_timeout(1_800_000)
        tab.emulate_media(media="print", color_scheme="light")
        tab.goto(page_file.as_uri(), wait_until="load")
        tab.evaluate("document.fonts.ready.then(() => true)")
        tab.evaluate("Promise.all([...document.images].map((image) => image.decode()))")
        wide = tab.evaluate(FIT)
        tab.pdf(**options)
        numbers = pdfread.Pdf(target).places()
        tab.evaluate(FILL, numbers)
        tab.pdf(outline=True, tagged=True, **options)
    finally:
        tab.close()
        page_file.unlink(missing_ok=True)  # a build may have put a new site in place
    return numbers, wide


def labels(html):
    """Return what is numbered in an article: sections, blocks, figures and equations."""
    found = re.findall(r'<span class="section-number">\s*([\d.]+)\s*</span>', html)
    found += re.findall(r'<span class="caption-number">\s*([A-Z][a-z]+ [\d.]+?)\s*</span>', html)
    found += re.findall(r'<a class="equation-number"[^>]*>(\([\d.]+\))</a>', html)
    return list(dict.fromkeys(found))


def missing(site, pages, pdf):
    """Return the numbers of the site that the printed file does not show in the same chapter."""
    places = pdf.places()
    starts = [places.get(key(page)) for page in pages] + [len(pdf.pages) + 1]
    lost = []
    for (page, html), start, end in zip(articles(site, pages), starts, starts[1:], strict=False):
        if start is None or end is None:
            lost.append(f"{page}: not found")
            continue
        text = " ".join(pdf.text(number) for number in range(start, end))
        for label in labels(html):
            if not re.search(rf"(?<![\w.]){re.escape(label)}(?!\.?\d)", text):
                lost.append(f"{page}: {label}")
    return lost


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


def main():
    """Print the book twice: to learn the page numbers, and with them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path, default=build.BUILD / "book.pdf")
    parser.add_argument("--code", action="store_true", help="print the code that the site folds")
    options = parser.parse_args()
    if not build.SITE.exists():
        sys.exit("There is no site yet: `make book` builds it.")
    book, parts = settings()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        draft = Path(folder) / "book.pdf"
        print("Printing twice: to learn the page numbers, and with them ...", flush=True)
        html = document(build.SITE, book, parts, options.code)
        numbers, wide = print_file(browser, build.SITE, html, draft)
        done = pdfread.Pdf(draft)
        if done.places() != numbers:
            sys.exit("The page numbers moved between the two printings.")
        if wide:
            sys.exit("Wider than the page:\n" + "\n".join(wide))
        if lost := missing(build.SITE, [page for _, group in parts for page in group], done):
            sys.exit("On the site, but not in the file:\n" + "\n".join(lost))
        options.output.parent.mkdir(exist_ok=True)
        shutil.copyfile(draft, options.output)
    print(f"{options.output}: {len(done.pages)} pages.")


if __name__ == "__main__":
    main()
