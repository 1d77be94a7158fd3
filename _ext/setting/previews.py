"""Previews: a reference to a statement, equation or figure shows it on hover and on focus.

References of the chapters whose target can be shown are marked ``data-preview``. What stands on the
same page is copied from there by the script; what stands on another page is written to
``<page>.previews.js`` beside that page, which is fetched when it is first wanted.
"""

import json
import os
import posixpath
import re
from pathlib import Path

#: The start tags of what can be shown: statements, exercises, equations, figures.
_SHOWN = re.compile(
    r'<(?P<tag>div|figure)\b(?=[^>]*\sid="(?P<id>[^"]+)")'
    r'(?=[^>]*\sclass="(?:proof (?!proof-block)|exercise |equation|align-))[^>]*>'
)
_LINK = re.compile(r'<a class="reference internal" href="([^"#]*)#([^"]+)"')
_CHAPTER = re.compile(r"chapters/[^/]+/[^/]+\.html")


def element(html, match):
    """Return the whole element whose start tag is ``match``."""
    tag, depth = match["tag"], 0
    for part in re.finditer(rf"<(/?){tag}\b[^>]*>", html[match.start() :]):
        depth += -1 if part[1] else 1
        if depth == 0:
            return html[match.start() : match.start() + part.end()]
    return ""


def shown(html):
    """Return {anchor: start tag} of what the page can show."""
    return {match["id"]: match for match in _SHOWN.finditer(html)}


def moved(html, page):
    """Return a piece of ``page`` whose pictures are addressed from the root of the site."""
    folder = posixpath.dirname(page)

    def address(match):
        if re.match(r"[a-z]+:|/", match[2]):
            return match[0]
        return f'{match[1]}data-src="{posixpath.normpath(posixpath.join(folder, match[2]))}"'

    return re.sub(r'(<img\b[^>]*?\s)src="([^"]+)"', address, html)


def write(folder):
    """Mark the references of the chapters in ``folder`` and write what they show."""
    folder = Path(folder)
    pages = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.glob("chapters/*/*.html"))
    }
    targets = {page: shown(html) for page, html in pages.items()}
    wanted = {page: set() for page in pages}
    for page, html in pages.items():

        def mark(match, page=page):
            there = match[1]
            target = page
            if there:
                target = os.path.normpath(posixpath.join(posixpath.dirname(page), there))
            if match[2] not in targets.get(target, ()):
                return match[0]
            if target != page:
                wanted[target].add(match[2])
            return match[0].replace("<a ", "<a data-preview ", 1)

        marked = _LINK.sub(mark, html)
        (folder / page).write_text(marked, encoding="utf-8")
    for page, anchors in wanted.items():
        pieces = {
            anchor: moved(element(pages[page], targets[page][anchor]), page)
            for anchor in sorted(anchors)
        }
        if pieces:
            body = json.dumps(pieces, ensure_ascii=False, indent=0)
            text = f"window.bookPreviews({json.dumps(page)}, {body});\n"
            (folder / page).with_suffix(".previews.js").write_text(text, encoding="utf-8")
