"""Finish a built site: dark figures, and without what the theme ships and the book does not use."""

import re
from pathlib import Path

from _ext import figures, weight

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


def lighter(html, name):
    """Return a page without unused scripts, the others deferred."""
    for pattern in REMOVED:
        html = re.sub(pattern, "", html)
    html = html.replace('data-default-mode=""', 'data-default-mode="auto"')
    html = html.replace(
        'localStorage.getItem("mode") || ""', 'localStorage.getItem("mode") || "auto"'
    )
    # The title that only print shows is a second heading of the page to a screen reader.
    html = re.sub(
        r'(<div id="jb-print-docs-body"[^>]*>\s*)<h1>(.*?)</h1>',
        r'\1<p class="print-title">\2</p>',
        html,
    )
    if name != "search.html":
        html = re.sub(
            rf'<script (?=[^>]*src="[^"]*(?:{DEFERRED})[^>]*>)(?!defer)', "<script defer ", html
        )
    return html


def site(folder):
    """Finish the site in ``folder``."""
    folder = Path(folder)
    for page in sorted(folder.glob("**/*.html")):
        html = page.read_text(encoding="utf-8")
        page.write_text(figures.pair(lighter(html, page.name), page), encoding="utf-8")
    for unused in folder.glob("**/*.map"):
        unused.unlink()
    weight.trim(folder)
