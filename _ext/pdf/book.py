"""``make pdf``: the whole book as one file, and each chapter as one, printed by Chromium.

    python _ext/pdf/book.py            writes _build/book.pdf, each chapter also to _build/pdf/
    python _ext/pdf/book.py --chapter perceptron --solutions no --code no

Each page of the site is opened in a browser of its own, made ready for paper there (``paper.js``)
and printed, tagged and with its outline: the same HTML, hence the same numbers and formulas.
Anchors get the name of their page in front, and each page starts at the number where the one
before ended. The index stands last and the contents are printed after it, so both know all page
numbers. pypdf puts the files together; there links between pages become links inside the file.
"""

import argparse
import contextlib
import html as markup
import json
import shutil
import sys
import tempfile
from pathlib import Path

from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, NameObject, NullObject, TextStringObject

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import yaml

from _ext.build import site
from _ext.web import browser as browsers

HERE = Path(__file__).parent
#: Begins the address of an anchor on another page, until the files are put together.
AWAY = "https://elsewhere.invalid/#"


def key(page):
    """Return the word that stands before the anchors of a page."""
    folder, _, name = page.rpartition("/")
    return name if folder.startswith("chapters") else page.replace("/", "-")


def settings():
    """Return the settings of the book, and its parts as (caption, pages)."""
    book = yaml.safe_load((site.ROOT / "_config.yml").read_text(encoding="utf-8"))
    contents = yaml.safe_load(site.CONTENTS.read_text(encoding="utf-8"))
    parts = [("", [contents["root"]])]
    for part in contents["parts"]:
        groups = [[page, *page.get("sections", [])] for page in part["chapters"]]
        parts.append((part["caption"], [one["file"] for group in groups for one in group]))
    return book, parts


@contextlib.contextmanager
def chromium():
    """Give a function that starts the browser that prints, as a context manager."""
    from playwright.sync_api import sync_playwright

    try:
        path = browsers.get()
    except LookupError as error:
        sys.exit(f"The book was not printed: {error}.")
    with sync_playwright() as playwright:

        @contextlib.contextmanager
        def started():
            running = playwright.chromium.launch(executable_path=path, args=browsers.OPTIONS)
            try:
                yield running
            finally:
                running.close()

        yield started


def print_page(browser, address, target, style, **told):
    """Print a page to ``target``; return its title and sections.

    Parameters
    ----------
    browser : playwright browser
    address : str
    target : Path
    style : str
        What this page adds to ``print.css``.
    **told
        What ``paper.js`` is told.

    Raises
    ------
    ValueError
        If something is wider than the page.
    """
    tab = browser.new_page(viewport={"width": 900, "height": 1200}, java_script_enabled=True)
    tab.set_default_timeout(1_800_000)
    tab.emulate_media(media="print", color_scheme="light")
    tab.goto(address, wait_until="load")
    tab.add_script_tag(content=(HERE / "paper.js").read_text(encoding="utf-8"))
    found = tab.evaluate("(told) => window.toPaper(told)", told)
    tab.add_style_tag(content=(HERE / "print.css").read_text(encoding="utf-8") + style)
    tab.evaluate("document.fonts.ready.then(() => true)")
    tab.evaluate("Promise.all([...document.images].map((image) => image.decode()))")
    if wide := tab.evaluate("window.fitPaper()"):
        raise ValueError("Wider than the page:\n" + "\n".join(wide))
    tab.pdf(
        prefer_css_page_size=True, print_background=True, outline=True, tagged=True, path=target
    )
    tab.close()
    return found


class Printer:
    """Prints the pages of a book one after the other, and knows where everything stands.

    Parameters
    ----------
    folder : Path
        Where the files go.
    parts : list of (caption, pages)
    title, author : str
    **shown
        ``code``, whether to print also the code that the site folds, and ``solutions``.
    """

    def __init__(self, folder, parts, title, author, **shown):
        self.folder, self.parts, self.shown = folder, parts, shown
        self.about = {"/Title": title, "/Author": author}
        self.pages = [page for _, group in parts for page in group]
        self.files, self.found, self.numbers, self.starts, self.sheets = {}, {}, {}, {}, 0
        self.tops = {}

    def print(self, start_browser):
        """Print every page, then title and contents."""
        home = {page: key(page) for page in self.pages}
        common = {"home": home, "away": AWAY, **self.shown}
        for i, page in enumerate(self.pages):
            self.files[page] = self.folder / f"{i:03d}.pdf"
            title = json.dumps(self.about["/Title"])
            style = (
                f"@page :first {{ counter-increment: page {self.sheets + 1}; }}\n"
                "@page { @top-left { content: var(--title); } "
                f"@top-right {{ content: {title}; }} }}"
            )
            with start_browser() as browser:
                self.found[page] = print_page(
                    browser,
                    (site.SITE / f"{page}.html").as_uri(),
                    self.files[page],
                    style,
                    page=page,
                    numbers=self.numbers if key(page) == "book-index" else {},
                    **common,
                )
            reader = PdfReader(self.files[page])
            self.starts[page] = self.sheets
            for name, place in reader.named_destinations.items():
                number = reader.get_destination_page_number(place)
                self.numbers[name.lstrip("/")] = number + self.sheets + 1
                self.tops[name.lstrip("/")] = place.top
            self.sheets += len(reader.pages)
            print(f"  {page}: {len(reader.pages)} pages", flush=True)
        if len(self.pages) == 1:
            return
        front = self.folder / "front.pdf"
        with start_browser() as browser:
            print_page(
                browser,
                (site.SITE / f"{self.pages[0]}.html").as_uri(),
                front,
                "",
                page=self.pages[0],
                numbers={},
                front=self.front(),
                **common,
            )
        self.files = {"": front} | self.files

    def front(self):
        """Return title and contents as HTML."""
        title, author = map(markup.escape, self.about.values())
        lines = [
            f'<section class="book-title"><p class="book-name">{title}</p>'
            f'<p class="book-author">{author}</p><p class="book-note">Every result is derived on '
            "the page, implemented in a small tested library, and verified again by running it."
            '</p></section><section class="book-contents"><h1>Contents</h1>'
        ]
        for caption, pages in self.parts:
            lines.append(f'<p class="toc-part">{markup.escape(caption)}</p>' if caption else "")
            for page in pages:
                sections = self.found[page]["sections"] if page.count("/") >= 2 else []
                entries = [(1, key(page), self.found[page]["html"])]
                entries += [(2, section["id"], section["html"]) for section in sections]
                lines += [
                    f'<p class="toc-{level}"><a href="{AWAY}{anchor}"><span class="toc-title">'
                    f'{text}</span><span class="page-number">{self.numbers.get(anchor, "")}</span>'
                    "</a></p>"
                    for level, anchor, text in entries
                ]
        return "\n".join([*lines, "</section>"])

    def whole(self, target):
        """Put all files together, with an outline of parts, pages and sections."""
        writer = PdfWriter()
        for path in self.files.values():
            writer.append(path, import_outline=False)
        front = len(writer.pages) - self.sheets
        for caption, pages in self.parts:
            part = (
                writer.add_outline_item(title=caption, page_number=self.starts[pages[0]] + front)
                if caption
                else None
            )
            for page in pages:
                found = self.found[page]
                item = writer.add_outline_item(
                    title=found["plain"], page_number=self.starts[page] + front, parent=part
                )
                for section in found["sections"]:
                    if number := self.numbers.get(section["id"]):
                        writer.add_outline_item(
                            title=section["plain"], page_number=number - 1 + front, parent=item
                        )
        writer.set_page_label(0, front - 1, style="/r")
        writer.set_page_label(front, len(writer.pages) - 1, style="/D", start=1)

        def place(anchor):
            if anchor not in self.numbers:
                return None
            sheet = writer.pages[self.numbers[anchor] - 1 + front].indirect_reference
            way = [NameObject("/XYZ"), NullObject(), self.tops[anchor], NullObject()]
            return ArrayObject([sheet, *way])

        redirect(writer, place, inside=True)
        writer.add_metadata(self.about)
        writer.write(target)
        return len(writer.pages)

    def chapters(self, folder, address=""):
        """Write each chapter to a file; links elsewhere lead to the site, if it is published."""
        home = {key(page): page for page in self.pages}

        def elsewhere(anchor):
            page, _, place = anchor.partition("--")
            return address and f"{address}{home[page]}.html{f'#{place}' if place else ''}"

        folder.mkdir()
        for page in self.pages:
            if page.count("/") > 1:
                writer = PdfWriter(clone_from=self.files[page])
                redirect(writer, elsewhere)
                writer.add_metadata(self.about | {"/Title": self.found[page]["plain"]})
                writer.write(folder / f"{key(page)}.pdf")


def redirect(writer, to, inside=False):
    """Let the links to other pages lead where ``to(anchor)`` says, or nowhere."""
    for page in writer.pages:
        kept = ArrayObject()
        for reference in page.get("/Annots", ()):
            link = reference.get_object()
            uri = link.get("/A", {}).get("/URI", "")
            if inside and isinstance(link.get("/Dest"), str):
                uri = AWAY + link["/Dest"].lstrip("/")
            if uri.startswith(AWAY):
                place = to(uri.removeprefix(AWAY))
                if not place:
                    continue
                if inside:
                    link.pop("/A", None)
                    link[NameObject("/Dest")] = place
                else:
                    link["/A"][NameObject("/URI")] = TextStringObject(place)
            kept.append(reference)
        if "/Annots" in page:
            page[NameObject("/Annots")] = kept


def main():
    """Print the pages one by one and put them together."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path, default=site.PDF)
    parser.add_argument("--chapter", default="", help="print this one alone, into _build/")
    parser.add_argument("--code", choices=("yes", "no"), default="no", help="what the site folds")
    parser.add_argument("--solutions", choices=("yes", "no"), default="yes")
    options = parser.parse_args()
    if not site.SITE.exists():
        sys.exit("There is no site yet: `make book` builds it.")
    book, parts = settings()
    if options.chapter:
        parts = [("", [p for _, group in parts for p in group if key(p) == options.chapter])]
        if not parts[0][1]:
            sys.exit(f"There is no chapter {options.chapter!r}.")
    with tempfile.TemporaryDirectory() as folder, chromium() as start_browser:
        print("Printing the pages one by one ...", flush=True)
        shown = {name: getattr(options, name) == "yes" for name in ("code", "solutions")}
        printer = Printer(Path(folder), parts, book["title"], book["author"], **shown)
        try:
            printer.print(start_browser)
        except ValueError as error:
            sys.exit(str(error))
        draft, alone = Path(folder) / "book.pdf", Path(folder) / "pdf"
        address = (book.get("html", {}).get("baseurl") or "").rstrip("/")
        printer.chapters(alone, f"{address}/" if address else "")
        if options.chapter:
            hidden = "".join(f"-no-{name}" for name, yes in shown.items() if not yes)
            target = site.PDF.with_name(f"{options.chapter}{hidden}.pdf")
            shutil.copyfile(alone / f"{options.chapter}.pdf", target)
            print(f"{target}: {printer.sheets} pages.")
            return
        count = printer.whole(draft)
        options.output.parent.mkdir(exist_ok=True)
        shutil.copyfile(draft, options.output)
        shutil.rmtree(options.output.with_name("pdf"), ignore_errors=True)
        shutil.copytree(alone, options.output.with_name("pdf"))
    if options.output == site.PDF:
        site.PRINTED.write_text(site.fingerprint(site.sources()))
    print(f"{options.output}: {count} pages.")


if __name__ == "__main__":
    main()
