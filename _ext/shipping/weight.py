"""Take from a built site what the theme ships and the book does not use.

The icon script goes (the icon font shows the same icons), the icon fonts keep only the glyphs in
use, and the search index is fetched by the search page alone.
"""

import hashlib
import json
import logging
import re
import shutil
from html import unescape
from pathlib import Path

#: Scripts that no page needs, and those that only the search page needs.
UNUSED = (r"scripts/fontawesome\.js",)
SEARCH = (r"searchtools\.js", r"language_data\.js", r"searchindex\.js")

_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_GLYPH = re.compile(r'"\\([ef][0-9a-f]{3})"|([\ue000-\uf8ff])')


def without_scripts(html, name):
    """Return a page without the scripts that it does not use."""
    for script in UNUSED if name == "search.html" else UNUSED + SEARCH:
        html = re.sub(rf'<script[^>]*src="[^"]*{script}[^"]*"[^>]*>\s*</script>\s*', "", html)
        html = re.sub(rf'<link[^>]*href="[^"]*{script}[^"]*"[^>]*>\s*', "", html)
    return html


def glyphs_used(styles, pages):
    """Return the code points of the icons that a site shows.

    Parameters
    ----------
    styles : str
        All style sheets.
    pages : str
        All pages and scripts: an icon named there (``fa-bars``) is in use, and so is every private
        character that a style names outside the icon classes.
    """
    named = set(re.findall(r"fa-[a-z0-9-]+", pages))
    used = {ord(c) for c in re.findall("[\ue000-\uf8ff]", pages)}
    for selector, body in _RULE.findall(styles):
        icons = set(re.findall(r"\.(fa-[a-z0-9-]+):{1,2}before", selector))
        if icons and not icons & named:
            continue
        used |= {int(code, 16) if code else ord(char) for code, char in _GLYPH.findall(body)}
    return used


def without_icons(style, pages):
    """Return a style sheet without the rules of icons that no page names."""
    named = set(re.findall(r"fa-[a-z0-9-]+", pages))

    def kept(match):
        selectors = match[1].split(",")
        icons = [re.fullmatch(r"\s*\.(fa-[a-z0-9-]+):{1,2}before\s*", one) for one in selectors]
        unused = all(icon and icon[1] not in named for icon in icons)
        return "" if unused and match[2].startswith("content:") else match[0]

    return _RULE.sub(kept, style)


#: Classes of formulas that call for a font of their own; other fonts keep every letter in use.
FONTS = {
    "KaTeX_AMS-Regular": "amsrm|mathbb|textbb",
    "KaTeX_Caligraphic-Regular": "mathcal",
    "KaTeX_Fraktur-Regular": "mathfrak|textfrak",
    "KaTeX_Main-Bold": "mathbf|textbf",
    "KaTeX_Main-Italic": "mathit|textit",
    "KaTeX_Math-BoldItalic": "boldsymbol",
    "KaTeX_SansSerif-Regular": "mathsf|textsf",
    "KaTeX_Script-Regular": "mathscr|textscr",
    "KaTeX_Typewriter-Regular": "mathtt|texttt",
}


def letters_in(pages, classes):
    """Return the characters that formulas show in one of ``classes``, or None if that is unsure.

    Parameters
    ----------
    pages : list of str
    classes : str
        Their names, with ``|`` between.
    """
    shown = re.compile(rf'<span class="(?:[^"]* )?(?:{classes})(?: [^"]*)?"[^>]*>([^<]*)(</span>)?')
    letters = set()
    for html in pages:
        for text, closed in shown.findall(html):
            if not closed:  # something stands inside that may inherit the font
                return None
            letters |= {ord(char) for char in unescape(text)}
    return letters


def subset(path, points, kept=None):
    """Keep in the font at ``path`` only the glyphs of ``points``.

    ``kept`` is a folder that remembers what was cut before.
    """
    from fontTools import subset as tool

    key = path.read_bytes() + repr(sorted(points)).encode()
    before = Path(kept or path.parent) / f"{hashlib.sha256(key).hexdigest()}.woff2"
    if before.exists():
        shutil.copyfile(before, path)
        return
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of every table
    options = tool.Options()
    options.flavor = "woff2"
    options.layout_features = []
    options.recalc_timestamp = False
    font = tool.load_font(str(path), options)
    cutter = tool.Subsetter(options)
    cutter.populate(unicodes=points)
    cutter.subset(font)
    tool.save_font(font, str(path), options)
    if kept:
        part = before.with_suffix(".part")
        shutil.copyfile(path, part)
        part.rename(before)  # whole or not at all


#: What one searches for: words, words with an index such as l1, and years.
SEARCHED = re.compile(r"\D+|[a-z]+\d{1,2}|(1[6-9]|20)\d\d")


def slim(index):
    """Return Sphinx's search index without numbers and scraps of them, a tenth of its weight."""
    start, end = index.index("{"), index.rindex("}") + 1
    data = json.loads(index[start:end])
    data["terms"] = {t: pages for t, pages in data["terms"].items() if SEARCHED.fullmatch(t)}
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return index[:start] + text + index[end:]


_SPOKEN = re.compile(r'<span class="katex-mathml">(<math\b.*?</math>)</span>', re.DOTALL)


def later(html):
    """Return a page whose formulas are spelled out, for screen readers, just after it has opened.

    The script of the pages unpacks what waits in ``noscript``; without scripts it is there at once.
    """
    return _SPOKEN.sub(r'<noscript class="katex-mathml">\1</noscript>', html)


def elements(html):
    """Count the elements of a page as it opens in a browser that runs scripts."""
    html = re.sub(r"<!--.*?-->", "", html, flags=re.DOTALL)
    html = re.sub(r"(<(noscript|script|style)\b[^>]*>).*?</\2>", r"\1", html, flags=re.DOTALL)
    return len(re.findall(r"<[a-zA-Z]", html))


def trim(folder):
    """Make the site in ``folder`` lighter; what was cut is remembered beside it."""
    folder = Path(folder)
    static, kept = folder / "_static", folder.parent / "fonts"
    kept.mkdir(exist_ok=True)
    for script in static.glob("scripts/fontawesome.js*"):
        script.unlink()
    pages = []
    for page in sorted(folder.glob("**/*.html")):
        html = later(without_scripts(page.read_text(encoding="utf-8"), page.name))
        page.write_text(html, encoding="utf-8")
        pages.append(html)
    texts = [p.read_text(encoding="utf-8") for p in sorted(static.glob("**/*.js"))]
    styles = [p.read_text(encoding="utf-8") for p in sorted(static.glob("**/*.css"))]
    points = glyphs_used("\n".join(styles), "\n".join(pages + texts))
    for font in static.glob("vendor/fontawesome/webfonts/*.woff2"):
        subset(font, points, kept)
    for sheet in static.glob("styles/*.css"):
        style = sheet.read_text(encoding="utf-8")
        sheet.write_text(without_icons(style, "\n".join(pages + texts)), encoding="utf-8")
    letters = {ord(c) for html in pages for c in set(unescape(html))}
    for font in static.glob("katex/fonts/*.woff2"):
        own = letters_in(pages, FONTS[font.stem]) if font.stem in FONTS else None
        subset(font, letters if own is None else own | {ord(" ")}, kept)
    for font in static.glob("vendor/fontawesome/webfonts/*.ttf"):
        font.unlink()
