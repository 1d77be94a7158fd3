"""Finish a built site: dark figures, and without what the theme ships and the book does not use."""

import hashlib
import re
import shutil
from pathlib import Path

from _ext.once import Kept
from _ext.registers import register, verdicts
from _ext.setting import anchors, exercises, figures, previews
from _ext.shipping import access, bundle, library, players, share, weight

#: Scripts that may wait until the page has been read.
DEFERRED = (
    "doctools.js|sphinx_highlight.js|clipboard.min.js|copybutton.js|sphinx-book-theme.js"
    "|togglebutton.js|design-tabs.js|searchtools.js|language_data.js|searchindex.js"
)

REMOVED = (
    r'<script[^>]*src="[^"]*sphinx-thebe\.js[^"]*"[^>]*>\s*</script>',
    r'<link[^>]*href="[^"]*sphinx-thebe\.css[^"]*"[^>]*>',
    r"<script>\s*const THEBE_JS_URL[^<]*</script>",
    r"<script>\s*(?:let|const|var) (?:thebe|sel)_?[^<]*[Tt]hebe[^<]*</script>",
)


#: The scripts of the book.
WEB = Path(__file__).with_name("web")

#: KaTeX's script that copies a formula as its source.
COPY_TEX = WEB.parents[1] / "vendored" / "katex" / "copy-tex.min.js"

#: What finds results, terms and functions by their names, on the search page alone.
SEARCH_SCRIPTS = "".join(
    f'<script defer src="{name}"></script>' for name in ("searchnames.js", "_static/web/search.js")
)


def lighter(html, name):
    """Return a page without unused scripts, the others deferred."""
    for pattern in REMOVED:
        html = re.sub(pattern, "", html)
    html = html.replace('data-default-mode=""', 'data-default-mode="auto"')
    # sphinx-exercise gives one and the same id to all bodies of a page.
    html = re.sub(r'(<section) id="(?:exercise|solution)-content"', r"\1", html)
    # The title that only print shows is a second heading of the page to a screen reader.
    html = re.sub(
        r'(<div id="jb-print-docs-body"[^>]*>\s*)<h1>(.*?)</h1>',
        r'\1<p class="print-title">\2</p>',
        html,
    )
    if name == "search.html":
        html = html.replace("</head>", f"{SEARCH_SCRIPTS}</head>")
    else:
        html = re.sub(
            rf'<script (?=[^>]*src="[^"]*(?:{DEFERRED})[^>]*>)(?!defer)', "<script defer ", html
        )
    return html


#: Scripts that only some pages need, and what they need them for.
SCRIPTS = {
    COPY_TEX: 'class="katex"',
    WEB / "map.js": 'class="course-map"',
    WEB / "player.js": " data-player=",
    WEB / "share.js": 'class="permalink"',
    WEB / "theorem.js": " data-theorem=",
}


def with_scripts(html):
    """Return a page that loads the scripts of the book, those that it needs."""
    root = re.search(r'data-content_root="([^"]*)"', html)
    if not root:
        return html
    scripts = [WEB / "book.js", *(script for script, sign in SCRIPTS.items() if sign in html)]
    tags = [
        f'<script defer src="{root[1]}_static/web/{path.name}?v='
        f'{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"></script>'
        for path in scripts
    ]
    return html.replace("</head>", "".join(tags) + "</head>", 1)


def downloads(html):
    """Return a page whose source is saved by its link instead of being shown."""
    return re.sub(
        r'(<a href="[^"]*_sources/[^"]*"\s*)target="_blank"(\s*class="[^"]*btn-download-source)',
        r"\1download\2",
        html,
    )


def mended(html, name):
    """Return a page without what it does not use and with the theme's faults mended."""
    return access.described(access.repaired(lighter(html, name)))


def made_by(*facts):
    """Return a mark of the code that finishes pages, and of further facts that it uses."""
    code = sorted(path for path in WEB.parents[1].glob("**/*") if path.suffix in {".py", ".js"})
    digest = hashlib.sha256(repr(facts).encode())
    for path in code:
        digest.update(path.read_bytes())
    return digest.digest()


def site(folder, pdf=False):
    """Finish the site in ``folder``; ``pdf``: it has the whole book as ``book.pdf``.

    A chapter that stands in its folder ``pdf`` is offered on its page.
    """
    folder = Path(folder)
    book = share.about(WEB.parents[2], pdf, (path.stem for path in folder.glob("pdf/*.pdf")))
    shutil.copytree(WEB, folder / "_static" / "web")
    shutil.copy(COPY_TEX, folder / "_static" / "web")
    results = register.load(WEB.parents[2] / "chapters" / "results.yml")
    titles = anchors.titles_of(results)
    keep = Kept(folder.parent / "pages", made_by(book, titles))

    def citable(html, name):
        html = anchors.linked(share.shared(html, name, book), titles)
        return exercises.plainer(verdicts.switched(downloads(with_scripts(html))))

    for page in sorted(folder.glob("**/*.html")):
        html = keep(mended, page.read_text(encoding="utf-8"), page.name)
        html = players.attach(figures.pair(html, page, keep), page)
        html = keep(citable, html, page.relative_to(folder).as_posix())
        page.write_text(html, encoding="utf-8")
    library.site(folder, results, titles)
    previews.write(folder)
    for unused in folder.glob("**/*.map"):
        unused.unlink()
    index = folder / "searchindex.js"
    index.write_text(weight.slim(index.read_text(encoding="utf-8")), encoding="utf-8")
    weight.trim(folder)
    bundle.site(folder, keep)
    keep.forget()
    share.site(folder, book)
