"""Mend what the theme gets wrong for screen readers, keyboards, search engines and careful readers.

Each function takes the HTML of a page and returns it; nothing here looks at what a chapter says.
"""

import re
from html import escape, unescape

#: Set before anything is drawn: no flash of wrong colours, no error where storage is refused.
COLOURS = """<script>
(() => {
  for (const name of ["localStorage", "sessionStorage"])
    try { void window[name].length; } catch {
      const kept = new Map();
      try {
        Object.defineProperty(window, name, {value: {
          getItem: (key) => kept.get(key) ?? null,
          setItem: (key, value) => { kept.set(key, String(value)); },
          removeItem: (key) => { kept.delete(key); },
        }});
      } catch { /* then scripts do without */ }
    }
  const root = document.documentElement;
  let mode = "auto";
  try { mode = window.localStorage.getItem("mode"); } catch { /* refused */ }
  mode = ["light", "dark"].includes(mode) ? mode : "auto";
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.mode = mode;
  root.dataset.theme = mode === "auto" ? (dark ? "dark" : "light") : mode;
})();
</script>"""

#: Without scripts: no dead buttons, and the contents of the book after a narrow page.
UNSCRIPTED = """<noscript><style>
.pst-js-only, .sidebar-toggle, .btn-download-pdf-button { display: none !important; }
.dropdown-download-buttons .dropdown-menu { display: block; position: static; border: 0; }
.dropdown-download-buttons > .btn { display: none; }
@media (max-width: 991.98px) {
  .bd-container__inner { flex-wrap: wrap; }
  .bd-sidebar-primary { display: flex !important; visibility: visible !important;
    position: static !important; margin: 0 !important; order: 2; flex: 0 0 100%;
    max-width: 100%; max-height: none; }
}
</style></noscript>"""

_REPLACED = (
    # One description of the view, no marks for services that the book does not use.
    (r'(<meta name="viewport"[^>]*>)((?:.|\n)*?)(?=</head>)', "_viewport"),
    (r'<meta name="docsearch:[^>]*>', ""),
    # Colours before the page is drawn.
    (r'<script data-cfasync="false">(?:.|\n)*?</script>', lambda m: COLOURS),
    (r"<noscript>\s*<style>\s*\.pst-js-only[^<]*</style>\s*</noscript>", lambda m: UNSCRIPTED),
    # The bar above the page is never shown; banners and advertisements have no place here.
    (r'<header id="pst-header"(?:.|\n)*?</header>', ""),
    (r'<div class="pst-async-banner-revealer(?:.|\n)*?</aside>\s*</div>', ""),
    (
        r'<div class="sidebar-primary-item">\s*<div id="ethical-ad-placement"[^>]*>\s*</div></div>',
        "",
    ),
    (r'<footer class="bd-footer">\s*</footer>', ""),
    (r'<div id="searchbox"></div>', ""),
    # Landmarks and dialogues with names.
    (
        r'<div id="pst-primary-sidebar"(?! role)',
        '<div id="pst-primary-sidebar" role="region" aria-label="Book"',
    ),
    (
        r'<dialog id="pst-primary-sidebar-modal"(?! aria)',
        r'\g<0> aria-label="Contents of the book"',
    ),
    (r'<dialog id="pst-secondary-sidebar-modal"(?! aria)', r'\g<0> aria-label="On this page"'),
    (r'<dialog id="pst-search-dialog"(?! aria)', r'\g<0> aria-label="Search the book"'),
    (
        r'<nav class="bd-links bd-docs-nav" aria-label="[^"]*"',
        '<nav class="bd-links bd-docs-nav" aria-label="Chapters"',
    ),
    (
        r'<div class="prev-next-area"(?! role)',
        '<div class="prev-next-area" role="navigation" aria-label="Previous and next page"',
    ),
    (r'(<a class="(?:left-prev|right-next)"[^>]*?)\s+title="(?:previous|next) page"', r"\1"),
    (r'<p aria-level="2" class="caption" role="heading">', '<p class="caption">'),
    (r'(<p class="admonition-title">Solution to)(<a [^>]*>) ', r"\1 \2"),
    (r'<aside class="margin sidebar"(?! role)', r'\g<0> role="note"'),
    # A name that holds the words that are seen.
    (r'(<button class="btn search-button-field[^>]*?) title="Search" aria-label="Search"', r"\1"),
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    (
        r'(<a class="[^"]*reference internal"[^>]*>([^<]+)</a><details[^>]*><summary)>',
        r'\1 aria-label="Pages of \2">',
    ),
    (
        r'title="Toggle primary sidebar"',
        'title="Contents of the book" aria-label="Contents of the book"',
    ),
    (r'title="Toggle secondary sidebar"', 'title="On this page" aria-label="On this page"'),
    (
        r'(<button class="[^"]*theme-switch-button[^>]*?)aria-label="[^"]*" data-bs-title="[^"]*"',
        r'\1aria-label="Colours" title="Colours: light, dark or as the system"',
    ),
    (r'"\s+data-bs-placement="\w+"\s+data-bs-toggle="tooltip"', '"'),
    (r'<(i|span) class="(fa[srb]?[ -])', r'<\1 aria-hidden="true" class="\2'),
    (r'(<i aria-hidden="true" class="theme-switch[^>]*?) title="[^"]*"', r"\1"),
    (r'<span class="colon">:</span>', ":"),
    # Entries of a bibliography are the items of a list.
    (r'role="doc-biblioentry"', 'role="listitem"'),
)


def _viewport(match):
    return match[1] + re.sub(r'<meta name="viewport"[^>]*>', "", match[2])


def repaired(html):
    """Return a page with named landmarks, honest names and no dead parts."""
    for pattern, new in _REPLACED:
        html = re.sub(pattern, _viewport if new == "_viewport" else new, html)
    return top_in_main(jointed(headed(html)))


def top_in_main(html):
    """Return the page with the button to the top in its header, else where its main part begins."""
    found = re.search(r'<button type="button"[^>]*id="pst-back-to-top"(?:.|\n)*?</button>', html)
    if not found:
        return html
    button = found[0]
    html = html.replace(button, "", 1)
    header = '<div class="header-article-items__start">'
    if header in html:
        item = f'<div class="header-article-item">{button}</div>'
        html, button = html.replace(header, f"{header}\n{item}", 1), ""
    start = r'<main id="main-content" class="bd-main" role="main"'
    return re.sub(start + ">", lambda m: f'{m[0][:-1]} tabindex="-1">\n{button}', html, count=1)


def headed(html):
    """Return the page with heads of tables that say what they head."""

    def table(match):
        text = match[0]
        body = text.find("<tbody")
        body = len(text) if body < 0 else body
        cell = re.compile(r"<th\b(?![^>]*\bscope=)")
        return cell.sub('<th scope="col"', text[:body]) + cell.sub('<th scope="row"', text[body:])

    return re.sub(r"<table\b(?:.|\n)*?</table>", table, html)


def jointed(html):
    """Return the page with names in tables that may break after dots and underscores only."""

    def name(match):
        return re.sub(
            r">[^<]+", lambda m: re.sub(r"(?<=[\w)])([._]+)(?=\w)", r"\1<wbr>", m[0]), match[0]
        )

    def table(match):
        return re.sub(r"<code\b.*?</code>", name, match[0], flags=re.DOTALL)

    return re.sub(r"<table\b(?:.|\n)*?</table>", table, html)


def described(html):
    """Return the page with a description: the beginning of its first paragraph, if it has none."""
    if re.search(r'<meta\b[^>]*\bname="description"', html):
        return html
    article = html[max(0, html.find("<article")) :]
    for found in re.finditer(r'<p(?: class="lead")?>(.*?)</p>', article, re.DOTALL):
        paragraph = found[1]
        text = re.sub(r"^\s*<strong>.*?</strong>", "", paragraph)  # "The question."
        text = " ".join(unescape(re.sub(r"<[^>]+>", "", text)).split())
        if "katex" not in paragraph and len(text) > 60:
            break
    else:
        title = re.search(r"<title>([^<]*)</title>", html)
        text = unescape(title[1]) if title else ""
    if len(text) > 155:
        text = text[:155].rsplit(" ", 1)[0].rstrip(" ,;:.") + " \N{HORIZONTAL ELLIPSIS}"
    meta = f'<meta name="description" content="{escape(text)}" />'
    return html.replace("</title>", f"</title>\n    {meta}", 1) if text else html
