"""What lets a page be passed on: licence, citation, links to its source, cards, a map of the site.

Everything comes from ``_config.yml`` and ``CITATION.cff``. What needs an address appears once the
address is given and not before: source and edit links with ``repository.url``; canonical address,
card picture, ``sitemap.xml`` and ``404.html`` with ``html.baseurl``, where the site is published.
"""

import contextlib
import html as markup
import posixpath
import re
import shutil
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import yaml

LICENCES = (
    'Text and figures: <a rel="license" href="https://creativecommons.org/licenses/by/4.0/">'
    'CC BY 4.0</a>. Code: <a href="https://opensource.org/license/bsd-3-clause">BSD 3-Clause</a>.'
)
#: Pages that are no reading: they are on no map of the site.
APART = ("search.html", "genindex.html", "py-modindex.html", "prf-prf.html", "404.html")
#: Width and height of a card, and its margin, in pixels.
CARD, MARGIN = (1200, 630), 40

_FOOTER = re.compile(r'(<footer class="bd-footer-content">).*?(</footer>)', re.DOTALL)
_META = re.compile(r'<meta\b(?=[^>]*\bname="description")[^>]*\bcontent="([^"]*)"')
_FIGURE = re.compile(r'<img\b[^>]*\bclass="only-light[^>]*\bsrc="([^"]*_images/[^"]+\.svg)"')


class About(NamedTuple):
    """What is the same for all pages."""

    title: str
    author: str
    year: str
    repository: str = ""  #: address of its root, empty while there is none
    branch: str = "main"
    folder: str = ""  #: where in the repository the book lies
    address: str = ""  #: where the site is published, with a final slash, or empty
    pdf: bool = False  #: whether the site has the whole book as ``book.pdf``
    pdfs: tuple = ()  #: pages that the site has as ``pdf/name.pdf``


def about(root, pdf=False, pdfs=()):
    """Read the settings of the book in ``root``; ``pdf`` and ``pdfs``: what was printed."""
    root = Path(root)
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    citation = root / "CITATION.cff"
    cited = yaml.safe_load(citation.read_text(encoding="utf-8")) if citation.exists() else {}
    source = config.get("repository") or {}
    address = ((config.get("html") or {}).get("baseurl") or "").rstrip("/")
    return About(
        title=config["title"],
        author=config.get("author", ""),
        year=str(cited.get("date-released", config.get("copyright", "")))[:4],
        repository=(source.get("url") or "").rstrip("/"),
        branch=source.get("branch") or "main",
        folder=(source.get("path_to_book") or "").strip("/"),
        address=f"{address}/" if address else "",
        pdf=pdf,
        pdfs=tuple(sorted(pdfs)),
    )


# -- one page --------------------------------------------------------------------------------------


def title_of(html):
    """Return the title of a page without the number of its chapter and the name of the book."""
    found = re.search(r"<title>([^<]*)</title>", html)
    whole = markup.unescape(found[1]) if found else ""
    return re.sub(r"^\d+\. ", "", whole.rpartition(" \N{EM DASH} ")[0] or whole)


def source_of(page):
    """Return the text from which ``page`` is made, or "" for one that is gathered."""
    folder, _, name = page.rpartition("/")
    if folder.startswith("chapters/results") or page in APART or page == "index.html":
        return ""
    return f"{folder}/{name.removesuffix('.html')}.md".lstrip("/")


def bibtex(title, key, book, page=""):
    """Return the entry that cites a page of the book."""
    lines = [f"  author = {{{{{book.author}}}}}", f"  title  = {{{title}}}"]
    if title != book.title:
        lines.append(f"  note   = {{In: {book.title}}}")
    lines.append(f"  year   = {{{book.year}}}")
    if book.address:
        lines.append(f"  url    = {{{book.address}{page}}}")
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"


def footer(html, page, book):
    """Return what stands at the foot of a page."""
    root = "../" * page.count("/")
    name = page.rpartition("/")[2].removesuffix(".html")
    title = book.title if name in ("intro", "index") else title_of(html)
    links = []
    if name in book.pdfs:
        links.append(f'<a href="{root}pdf/{name}.pdf" download>This chapter as PDF</a>')
    if book.pdf:
        links.append(f'<a href="{root}book.pdf" download>The book as PDF</a>')
    if book.repository and (path := source_of(page)):
        at = f"{book.branch}/{book.folder}/{path}".replace("//", "/")
        inside = "/-/" if "gitlab.com/" in book.repository else "/"
        links.append(f'<a href="{book.repository}{inside}blob/{at}">Source of this page</a>')
        links.append(f'<a href="{book.repository}{inside}edit/{at}">Edit this page</a>')
    entry = markup.escape(bibtex(title, f"check-{name}", book, page), quote=False)
    more = f'<p class="page-links">{" ".join(links)}</p>' if links else ""
    return (
        '<div class="page-foot">'
        f"<p>© {book.year} {markup.escape(book.author)}. {LICENCES}</p>{more}"
        '<details class="cite"><summary>Cite this page</summary>'
        f'<pre class="cite-entry">{entry}</pre></details></div>'
    )


def head(html, page, book):
    """Return the marks in the head of a page that tell others what it is."""
    described = _META.search(html)
    marks = {
        "og:site_name": markup.escape(book.title),
        "og:type": "article" if page.count("/") > 1 else "website",
        "og:title": markup.escape(title_of(html) or book.title),
        "og:description": described[1] if described else "",
    }
    links = ""
    if book.address and page not in APART:
        own = urljoin(book.address, "chapters/intro.html" if page == "index.html" else page)
        links = f'<link rel="canonical" href="{own}" />\n'
        marks["og:url"] = own
        if picture := card_of(html, page):
            marks["og:image"] = urljoin(book.address, picture)
            marks["og:image:width"], marks["og:image:height"] = map(str, CARD)
    tags = "".join(f'<meta property="{k}" content="{v}" />\n' for k, v in marks.items() if v)
    kind = "summary_large_image" if "og:image" in marks else "summary"
    return f'{links}{tags}<meta name="twitter:card" content="{kind}" />\n'


def card_of(html, page):
    """Return the picture of the card of a page, seen from the root of the site, or ""."""
    figure = _FIGURE.search(html)
    if not figure:
        return ""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), figure[1]))
    return path.removesuffix(".svg") + ".card.png"


def shared(html, page, book):
    """Return a page with its foot and the marks in its head.

    Parameters
    ----------
    html : str
    page : str
        Where it stands, seen from the root of the site.
    book : About
    """
    html = re.sub(r'<link rel="canonical"[^>]*>\s*', "", html)
    foot = footer(html, page, book)
    html = _FOOTER.sub(lambda match: match[1] + foot + match[2], html, count=1)
    return html.replace("</head>", head(html, page, book) + "</head>", 1)


# -- the site --------------------------------------------------------------------------------------


def sitemap(pages, address):
    """Return the map of the site for search engines."""
    listed = "\n".join(
        f"<url><loc>{markup.escape(urljoin(address, page))}</loc></url>" for page in sorted(pages)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{listed}\n</urlset>\n'
    )


def missing(html, page, address):
    """Return the page that a host shows for an address that is not there.

    It may be shown anywhere, so all its links are absolute.
    """
    base = urlsplit(urljoin(address, page)).path

    def absolute(match):
        return f'{match[1]}="{urljoin(base, match[2])}"'

    article = (
        '<section id="missing"><h1>This page does not exist</h1>'
        "<p>Perhaps its name has changed: look it up in the contents beside this text, in the "
        f'<a href="{urlsplit(address).path}search.html">search</a>, or begin at the '
        f'<a href="{urlsplit(address).path}chapters/intro.html">first page</a>.</p></section>'
    )
    begin, end = html.index(">", html.index("<article")) + 1, html.index("</article>")
    html = html[:begin] + article + html[end:]
    html = re.sub(r'<footer class="prev-next-footer.*?</footer>', "", html, flags=re.DOTALL)
    html = re.sub(r'<link rel="canonical"[^>]*>\s*|<meta property="og:[^>]*>\s*', "", html)
    html = re.sub(r"<title>[^<]*</title>", "<title>Not found</title>", html)
    links = r'\b(href|src|action|data-content_root)="(?![a-z]+:|#|/)([^"]*)"'
    return re.sub(links, absolute, html)


def draw_cards(folder, pictures):
    """Draw each figure as a card: black on white, in the middle; return whether that was possible.

    Parameters
    ----------
    folder : Path
    pictures : iterable of str
        Addresses of cards; the figure of each stands beside it.
    """
    from playwright.sync_api import sync_playwright

    browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if browser is None:
        return False
    width, height = CARD
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = running.new_page(viewport={"width": width, "height": height})
        for picture in sorted(set(pictures)):
            drawn = folder / picture.replace(".card.png", ".svg")
            svg = drawn.read_text(encoding="utf-8")
            style = (
                f"body{{margin:0;display:grid;place-items:center;height:{height}px;background:#fff}}"
                f"svg{{width:{width - 2 * MARGIN}px;height:{height - 2 * MARGIN}px}}"
            )
            tab.set_content(f"<style>{style}</style>{svg}")
            tab.screenshot(path=folder / picture)
        running.close()
    return True


def site(folder, book):
    """Write what only a published site needs: cards, the map of the site, the page for errors."""
    folder = Path(folder)
    if not book.address:
        return
    pages = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.glob("**/*.html"))
        if "_static" not in path.parts
    }
    cards = {page: card_of(path.read_text(encoding="utf-8"), page) for page, path in pages.items()}
    wanted = {card for page, card in cards.items() if card and page not in APART}
    drawn = False
    with contextlib.suppress(ImportError):
        drawn = draw_cards(folder, wanted)
    if not drawn:  # no browser: no picture rather than a broken one
        for path in pages.values():
            html = path.read_text(encoding="utf-8")
            html = re.sub(r'<meta property="og:image[^>]*>\s*', "", html)
            path.write_text(html.replace("summary_large_image", "summary"), encoding="utf-8")
    listed = [page for page in pages if page not in APART and page != "index.html"]
    (folder / "sitemap.xml").write_text(sitemap(listed, book.address), encoding="utf-8")
    (folder / "robots.txt").write_text(f"Sitemap: {book.address}sitemap.xml\n", encoding="utf-8")
    first = "chapters/intro.html"
    html = missing(pages[first].read_text(encoding="utf-8"), first, book.address)
    (folder / "404.html").write_text(html, encoding="utf-8")
