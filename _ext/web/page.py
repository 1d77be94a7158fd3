"""What surrounds the text of a page: its scripts, its description, its foot, marks for others.

The templates in ``templates`` show it. Licence and citation come from ``_config.yml`` and
``CITATION.cff``. What needs an address appears once the address is given and not before: source
and edit links with ``repository.url``; canonical address, card picture, ``sitemap.xml`` and
``404.html`` with ``html.baseurl``, where the site is published.
"""

import re
from html import escape
from pathlib import Path
from urllib.parse import urljoin

import yaml
from docutils import nodes
from sphinx_exercise.nodes import solution_node

from _ext.registers.verdicts import folded
from _ext.web import browser, lighter, repository

HERE = Path(__file__).parent
#: Scripts of the theme and of extensions that no page of this book needs.
UNUSED = ("thebe", "togglebutton", "toggle", "searchtools.js", "language_data.js", "searchindex.js")
#: Scripts that only some pages need, and what in a page needs them.
SOME = {
    "solved.js": 'class="(exercise|course-map)',
    "clipboard": 'class="highlight',
    "copybutton": 'class="highlight',
    "design-tabs.js": "sd-tab",
    "copy-tex.min.js": 'class="katex"',
    "map.js": 'class="course-map"',
    "player.js": " data-player=",
    "share.js": 'class="permalink"',
    "theorem.js": " data-theorem=",
}
#: Fonts that the first screens of every page with formulas show.
FONTS = [f"katex/fonts/KaTeX_{name}.woff2" for name in ("Main-Regular", "Math-Italic")]
#: Pages that are no reading: they are on no map of the site.
APART = ("search", "genindex", "py-modindex", "prf-prf", "404")
#: Width and height of a card, and its margin, in pixels.
CARD, MARGIN = (1200, 630), 40


def description(doctree, title):
    """Return the beginning of the first long paragraph without a formula, else the title."""
    text = title
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        words = [part.astext() for part in paragraph.children]
        if isinstance(paragraph.next_node(), nodes.strong):  # "The question."
            words = words[1:]
        words = " ".join("".join(words).split())
        if len(words) > 60 and not paragraph.next_node(nodes.math):
            text = words
            break
    if len(text) > 155:
        text = text[:155].rsplit(" ", 1)[0].rstrip(" ,;:.") + " \N{HORIZONTAL ELLIPSIS}"
    return text


def bibtex(title, page, app):
    """Return the entry that cites a page of the book."""
    config, name = app.config, page.rpartition("/")[2]
    book = config.html_title or config.project
    title = book if name in ("intro", "index") else title
    lines = [f"  author = {{{{{config.author}}}}}", f"  title  = {{{title}}}"]
    if title != book:
        lines.append(f"  note   = {{In: {book}}}")
    lines.append(f"  year   = {{{year(app)}}}")
    if config.html_baseurl:
        lines.append(f"  url    = {{{urljoin(config.html_baseurl, f'{page}.html')}}}")
    return f"@misc{{check-{name},\n" + ",\n".join(lines) + "\n}"


def year(app):
    """Return the year in which this version was released."""
    citation = Path(app.srcdir) / "CITATION.cff"
    cited = yaml.safe_load(citation.read_text(encoding="utf-8")) if citation.exists() else {}
    return str(cited.get("date-released", app.config.copyright))[:4]


def source_of(page, app):
    """Return the address of the text of a page with ``{way}`` for blob or edit, or ""."""
    options = app.config.html_theme_options
    url = options.get("repository_url")
    if not url or page not in app.env.found_docs:
        return ""
    inside = "/-/" if "gitlab.com/" in url else "/"
    place = "/".join(
        filter(None, [options["repository_branch"], options["path_to_docs"].strip("/")])
    )
    return f"{url}{inside}{{way}}/{place}/{page}.md"


def complete(app, pagename, templatename, context, doctree):
    """Give the template of a page what it shows around the text."""
    config = app.config
    known = app.env.titles.get(pagename)
    title = known.astext() if known else context.get("title", "")
    about, body = description(doctree, title), context.get("body", "")
    gone = [*UNUSED, *(name for name, sign in SOME.items() if not re.search(sign, body))]
    for files in ("script_files", "css_files"):
        context[files] = [
            file
            for file in context[files]
            if not any(part in f"{file} {getattr(file, 'attributes', '')}" for part in gone)
        ]
    context |= {
        "metatags": context.get("metatags", "")
        + f'\n<meta name="description" content="{escape(about)}" />',
        "has_folds": bool(doctree and doctree.next_node(folded)),
        "has_solutions": bool(doctree and doctree.next_node(solution_node)),
        "fonts_ahead": FONTS if 'class="katex"' in body else [],
        "address": config.html_baseurl,
        "foot": {
            "year": year(app),
            "bibtex": bibtex(title, pagename, app),
            "version": config.book_version,
            "source": source_of(pagename, app),
            "report": repository.report(config.html_theme_options, pagename, title),
            "printed": config.book_printed,
            "chapter_pdf": config.book_printed
            and pagename in app.env.found_docs
            and pagename.count("/") == 2
            and f"pdf/{pagename.rpartition('/')[2]}.pdf",
        },
    }
    marks = [
        ("og:site_name", config.html_title or config.project),
        ("og:type", "article" if pagename.count("/") > 1 else "website"),
        ("og:title", title),
        ("og:description", about),
    ]
    card = config.book_cards and pagename not in APART and card_of(app, doctree)
    if config.html_baseurl and pagename not in APART:
        marks.append(("og:url", context["pageurl"]))
    if card:
        marks.append(("og:image", urljoin(config.html_baseurl, card)))
        marks += zip(("og:image:width", "og:image:height"), map(str, CARD))
    context |= {"marks": marks, "card": card}
    if pagename in APART or not config.html_baseurl:
        context["pageurl"] = None


def card_of(app, doctree):
    """Return the picture of the card of a page, seen from the root of the site, or ""."""
    for image in doctree.findall(nodes.image) if doctree else ():
        name = app.env.images.get(image["uri"], ("", ""))[1]
        if name.endswith(".svg"):
            return f"_images/{name.removesuffix('.svg')}.card.png"
    return ""


def missing_page(app):
    """Yield the page that a host shows for an address that is not there."""
    if app.config.html_baseurl:
        yield "404", {"title": "Not found"}, "404.html"


def draw_cards(folder, names):
    """Draw the cards of some pictures: black on white, in the middle."""
    from playwright.sync_api import sync_playwright

    (width, height), path = CARD, browser.find()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=browser.OPTIONS)
        tab = running.new_page(viewport={"width": width, "height": height})
        for name in names:
            svg = (folder / name.replace(".card.png", ".svg")).read_text(encoding="utf-8")
            style = (
                f"body{{margin:0;display:grid;place-items:center;height:{height}px;background:#fff}}"
                f"svg{{width:{width - 2 * MARGIN}px;height:{height - 2 * MARGIN}px}}"
            )
            tab.set_content(f"<style>{style}</style>{svg}")
            tab.screenshot(path=folder / name)
        running.close()


def finish(app, error):
    """Make styles and fonts lighter, and write what only a published site needs."""
    if error or app.builder.format != "html":
        return
    folder, address = Path(app.outdir), app.config.html_baseurl
    lighter.trim(folder)
    if not address:
        return
    if app.config.book_cards:
        cards = {card_of(app, app.env.get_doctree(name)) for name in app.env.found_docs}
        draw_cards(folder, sorted(cards - {""}))
    listed = sorted(path.relative_to(folder) for path in folder.glob("[!_]*/**/*.html"))
    rows = "\n".join(f"<url><loc>{urljoin(address, str(page))}</loc></url>" for page in listed)
    (folder / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}\n</urlset>\n',
        encoding="utf-8",
    )
    (folder / "robots.txt").write_text(f"Sitemap: {address}sitemap.xml\n", encoding="utf-8")


def settle(app, config):
    """Add templates and scripts; an address ends in a slash."""
    config.templates_path.insert(0, str(HERE / "templates"))
    config.html_static_path.append(str(HERE / "scripts"))
    for file in ("katex/copy-tex.min.js", "minisearch/minisearch.min.js"):
        config.html_static_path.append(str(HERE.parent / "vendored" / file))
    if config.html_baseurl:
        config.html_baseurl = config.html_baseurl.rstrip("/") + "/"
        config.book_cards = browser.find() is not None


def setup(app):
    """Connect the steps, after those of the theme."""
    app.setup_extension("_ext.web.writer")
    app.add_config_value("book_printed", False, "html")
    app.add_config_value("book_version", "", "")  # by itself it makes no page anew
    app.add_config_value("book_cards", False, "html")  # a browser draws them
    for script in ("book", "page", "share", "map", "player", "solved", "theorem", "copy-tex.min"):
        app.add_js_file(f"{script}.js", loading_method="defer")
    app.connect("config-inited", settle)
    app.connect("html-page-context", complete, priority=950)
    app.connect("html-collect-pages", missing_page)
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
