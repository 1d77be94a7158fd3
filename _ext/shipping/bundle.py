"""One style sheet, one script: what a page needs, in as few bytes and requests as it takes.

The style sheets of the theme and its extensions are joined; rules whose classes or ids occur on no
page and in no script are left out. ``page.js`` stands for the scripts of the theme. The fonts that
the first screens show are fetched ahead.
"""

import hashlib
import itertools
import posixpath
import re
from pathlib import Path

#: Scripts for which ``page.js`` stands; those of the search page stay there.
REPLACED = (
    r"scripts/bootstrap\.js|scripts/pydata-sphinx-theme\.js|scripts/sphinx-book-theme\.js"
    r"|togglebutton\.js|copybutton\.js|clipboard\.min\.js|design-tabs\.js"
)
OF_SEARCH = r"documentation_options\.js|doctools\.js|sphinx_highlight\.js"

_SHEET = re.compile(r'[ \t]*<link\b[^>]*\brel="stylesheet"[^>]*>\s*')
_HREF = re.compile(r'href="([^"?]*)')
_NAME = re.compile(r"([.#])((?:[\w-]|\\.)+)")

#: Fonts by what shows them, first what nearly every formula needs.
FONTS = (
    ("katex/fonts/KaTeX_Main-Regular", r'class="katex"'),
    ("katex/fonts/KaTeX_Math-Italic", r'class="[^"]*\bmathnormal\b'),
    ("katex/fonts/KaTeX_Main-Bold", r'class="[^"]*\bmathbf\b'),
    ("katex/fonts/KaTeX_AMS-Regular", r'class="[^"]*\b(?:mathbb|amsrm)\b'),
    ("katex/fonts/KaTeX_Caligraphic-Regular", r'class="[^"]*\bmathcal\b'),
    ("katex/fonts/KaTeX_Size1-Regular", r'class="[^"]*\b(?:small-op|delimsizing size1)\b'),
    ("katex/fonts/KaTeX_Size2-Regular", r'class="[^"]*\b(?:large-op|delimsizing size2)\b'),
    ("vendor/fontawesome/webfonts/fa-solid-900", r'class="fa(?:s|-solid)\b'),
)
#: How much of an article, in characters of HTML, the first screens show.
FIRST = 60_000


# -- style -----------------------------------------------------------------------------------------


def rules(style):
    """Split the text of a style sheet into (head, body) pairs; body is None for a statement."""
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    found, start, i, depth, quote, opened = [], 0, 0, 0, "", 0
    while i < len(style):
        char = style[i]
        if char == "\\":
            i += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif style.startswith("url(", i) and style[i + 4] not in "\"'":
            i = style.index(")", i)
        elif char == "{":
            depth += 1
            opened = opened if depth > 1 else i
        elif char == "}":
            depth -= 1
            if depth == 0:
                found.append((style[start:opened].strip(), style[opened + 1 : i]))
                start = i + 1
        elif char == ";" and depth == 0:
            found.append((style[start : i + 1].strip(), None))
            start = i + 1
        i += 1
    return found


def selectors(head):
    """Split a list of selectors at its commas, those inside brackets left alone."""
    parts, depth, start, quote = [], 0, 0, ""
    for i, char in enumerate(head):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(head[start:i].strip())
            start = i + 1
    return [*parts, head[start:].strip()]


def _outside_brackets(selector):
    while (shorter := re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", selector)) != selector:
        selector = shorter
    return selector


def used(selector, names):
    """Return whether a selector can match: each class and id that it requires is in ``names``."""
    needed = _NAME.findall(_outside_brackets(selector))
    return all(re.sub(r"\\(.)", r"\1", name) in names for _, name in needed)


def thinned(style, names):
    """Return a style sheet without the rules that no page can use.

    Parameters
    ----------
    style : str
    names : set of str
        The classes and ids in use.
    """
    kept = []
    for head, body in rules(style):
        if body is None:
            kept.append(head)
        elif re.match(r"@(media|supports|layer|container)\b", head):
            if inner := thinned(body, names):
                kept.append(f"{head}{{{inner}}}")
        elif head.startswith("@"):
            kept.append(f"{head}{{{_squeezed(body)}}}")
        elif body.strip() and (live := [s for s in selectors(head) if used(s, names)]):
            heads = ",".join(re.sub(r"\s+", " ", selector) for selector in live)
            kept.append(f"{heads}{{{_squeezed(body)}}}")
    return "\n".join(kept)


def _squeezed(body):
    if '"' in body or "'" in body:
        return body.strip()
    return re.sub(r"\s*([;:{}])\s*", r"\1", re.sub(r"\s+", " ", body)).strip().rstrip(";")


def names_in(pages, scripts):
    """Return every class and id of the pages, and every word of the scripts."""
    names = set()
    for html in pages:
        for value in re.findall(r'\b(?:class|id)="([^"]*)"', html):
            names.update(value.split())
        for script in re.findall(r"<script\b[^>]*>((?:.|\n)*?)</script>", html):
            names.update(re.findall(r"[\w-]+", script))
    for script in scripts:
        names.update(re.findall(r"[\w-]+", script))
    return names


def named(html):
    """Return every class and id of a page, with spaces between."""
    return " ".join(sorted(names_in([html], [])))


def moved(style, folder):
    """Return a style sheet with the addresses in it seen from the folder of static files."""

    def address(match):
        quote, url = match[1], match[2]
        if re.match(r"data:|#|/|[a-z]+:", url):
            return match[0]
        return f"url({quote}{posixpath.normpath(posixpath.join(folder, url))}{quote})"

    return re.sub(r"url\((['\"]?)([^)'\"]+)\1\)", address, style)


def sheet(static, address):
    """Return a style sheet with what it imports, its addresses seen from ``static``."""
    folder = posixpath.dirname(address)
    style = (static / address).read_text(encoding="utf-8-sig")
    style = re.sub(r'@charset "[^"]*";', "", style)
    parts = re.split(r"@import (?:url\()?[\"']?([^\"')]+)[\"']?\)?[^;]*;", style)
    for i in range(1, len(parts), 2):
        parts[i] = sheet(static, posixpath.normpath(posixpath.join(folder, parts[i])))
    parts[::2] = [moved(part, folder) for part in parts[::2]]
    return "".join(parts)


def joined(static, addresses, names):
    """Write the style sheets of a page as one; return its name.

    Parameters
    ----------
    static : Path
        The folder of static files.
    addresses : tuple of str
        The style sheets as seen from there, in order.
    names : set of str
    """
    whole = "\n".join(thinned(sheet(static, address), names) for address in addresses)
    name = f"style-{hashlib.sha256(whole.encode()).hexdigest()[:10]}.css"
    (static / name).write_text(whole, encoding="utf-8")
    return name


# -- pages -----------------------------------------------------------------------------------------


def preloads(html, root):
    """Return the links that fetch the fonts of the first screens ahead."""
    first = html[: html.find("<article") + FIRST]
    return "".join(
        f'<link rel="preload" as="font" type="font/woff2" crossorigin '
        f'href="{root}_static/{font}.woff2" />\n'
        for font, shows in FONTS
        if re.search(shows, first)
    )


def distant(html):
    """Return the page with a mark on each heavy part that starts beyond the first screens.

    Such a part is laid out when the reader comes near; its height is estimated until then.
    """
    pieces, last, seen = [], max(html.find("<article"), 0), 0
    for start, end, heavy in parts(html):
        seen += _letters(html[last:start])
        if seen >= SCREENS and end - start >= heavy:
            pieces.append((start, heights(html[start:end])))
        seen += _letters(html[start:end])
        last = end
    for start, (phone, wide) in reversed(pieces):
        tag = html[start : html.index(">", start) + 1]
        names = re.search(r'\sclass="([^"]*)"', tag)
        kept = f"{names[1]} distant" if names else "distant"
        word, *rest = re.split(r"(?=[\s>])", tag.replace(names[0], "") if names else tag)
        far = f'{word} class="{kept}" style="--phone:{phone}px;--wide:{wide}px"{"".join(rest)}'
        html = html[:start] + far + html[start + len(tag) :]
    return html


def parts(html):
    """Yield (start, end, least size) of what may wait: sections of second level, or results."""
    begin = html.find("<article")
    results = [found.start() for found in re.finditer(r'<div class="result ', html)]
    if results:
        end = html.find("</section>", results[-1])
        yield from ((i, j, HEAVY_RESULT) for i, j in itertools.pairwise([*results, end]))
        return
    depth, opened = 0, None
    for tag in re.finditer(r"<(/?)section\b[^>]*>", html[begin:] if begin >= 0 else ""):
        depth += -1 if tag[1] else 1
        if depth == 2 and not tag[1]:
            opened = tag
        elif depth == 1 and tag[1] and opened:
            yield begin + opened.start(), begin + tag.end(), HEAVY
            opened = None


#: Letters that fill the first screens, and the characters of HTML from which a part is heavy.
SCREENS, HEAVY, HEAVY_RESULT = 2_500, 20_000, 2_000


def _unfolded(html):
    """Return a piece of a page without the code that waits in its folds."""
    return re.sub(r'<details class="code-fold">.*?</details>', "", html, flags=re.DOTALL)


def _letters(html):
    html = _unfolded(html)
    html = re.sub(
        r'<(span|noscript) class="katex-mathml">.*?</math></\1>', "", html, flags=re.DOTALL
    )
    return len(re.sub(r"<[^>]+>|\s+", "", html))


#: Pixels that a piece of a page is high for each of its parts, on a phone and on a wide screen:
#: fitted to the measured heights of the sections of all pages, 0.6 to 1.5 of which they give.
HEIGHTS = {
    "letter": (0.6, 0.32),
    "line": (23, 20),
    "equation": (260, 280),
    "figure": (265, 470),
    "entry": (65, 60),
    "row": (200, 60),
    "item": (18, 9),
    "graph": (750, 700),
}


def heights(html):
    """Return about how many pixels a piece of a page is high, on a phone and on a wide screen."""
    graph = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
    code = re.compile(r"<pre\b.*?</pre>", re.DOTALL)
    html = graph.sub("", html) if "results-graph" in html else html
    html = _unfolded(html)
    text = code.sub("", html)
    parts = {
        "letter": _letters(text),
        "line": sum(lines.count("\n") for lines in code.findall(html)),
        "equation": html.count('class="equation"'),
        "figure": html.count("<figure"),
        "entry": html.count("<dt"),
        "row": html.count("<tr"),
        "item": html.count("<li"),
        "graph": html.count("results-graph"),
    }
    return [100 * round(sum(HEIGHTS[k][i] * parts[k] for k in parts) / 100) or 100 for i in (0, 1)]


def scripted(html, name, version):
    """Return the page with ``page.js`` for the scripts of the theme."""
    gone = REPLACED if name == "search.html" else f"{REPLACED}|{OF_SEARCH}"
    html = re.sub(rf'<script\b[^>]*src="[^"]*(?:{gone})[^"]*"[^>]*>\s*</script>\s*', "", html)
    html = re.sub(rf'<link\b[^>]*href="[^"]*(?:{gone})[^"]*"[^>]*>\s*', "", html)
    html = re.sub(r"<script>(?:let|var|const) toggle[^<]*</script>\s*", "", html)
    html = re.sub(r"<script>kernelName = [^<]*</script>\s*", "", html)
    if name != "search.html":
        html = re.sub(r"<script>DOCUMENTATION_OPTIONS\.[^<]*</script>\s*", "", html)
    root = re.search(r'data-content_root="([^"]*)"', html)
    root = root[1] if root else "./"
    script = f'<script defer src="{root}_static/web/page.js?v={version}"></script>\n'
    return html.replace("</head>", f"{script}</head>", 1)


def afresh(make, text, *given):
    """Return ``make(text, *given)``."""
    return make(text, *given)


def outlined(html, name, version):
    """Return the page with ``page.js``, what is far down marked."""
    return distant(scripted(html, name, version))


def site(folder, keep=afresh):
    """Join the styles and scripts of the site in ``folder``.

    ``keep``, given a function, a text and more, returns what the function makes of them, perhaps
    from an earlier build.
    """
    folder = Path(folder)
    static = folder / "_static"
    version = hashlib.sha256((static / "web" / "page.js").read_bytes()).hexdigest()[:10]
    pages = {
        page: keep(outlined, page.read_text(encoding="utf-8"), page.name, version)
        for page in sorted(folder.glob("**/*.html"))
        if static not in page.parents
    }
    for path in static.glob("scripts/*"):
        path.unlink()
    for pattern in REPLACED.replace("\\", "").split("|"):
        (static / pattern).unlink(missing_ok=True)
    scripts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("**/*.js"))]
    names = names_in([], scripts).union(*(keep(named, html).split() for html in pages.values()))
    sheets, done = {}, set()
    for page, html in pages.items():
        links = _SHEET.findall(html)
        if not links:
            continue
        here = page.parent
        addresses = tuple(
            posixpath.relpath((here / _HREF.search(link)[1]).resolve(), static.resolve())
            for link in links
        )
        done |= set(addresses)
        if addresses not in sheets:
            sheets[addresses] = joined(static, addresses, names)
        root = posixpath.relpath(folder, here)
        root = "" if root == "." else f"{root}/"
        fonts = preloads(html, root)
        new = f'<link rel="stylesheet" href="{root}_static/{sheets[addresses]}" />\n'
        first = links[0]
        html = html.replace(first, "\0", 1)
        html = _SHEET.sub("", html).replace("\0", f"    {new}{fonts}")
        pages[page] = html
    for page, html in pages.items():
        page.write_text(html, encoding="utf-8")
    for address in [*done, "basic.css"]:
        (static / address).unlink(missing_ok=True)
