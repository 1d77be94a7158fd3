"""Permanent links: everything that can be cited carries a link to itself.

Blocks, exercises, figures, claims, anchored paragraphs and proofs get ``<a class="permalink">``;
the script of the pages makes a click copy the address. Without scripts it is a link like any other.
"""

import html as markup
import re

_TAGS = re.compile(r"<[^>]+>")
_BLOCK = re.compile(
    r'(<div class="(?:proof|exercise)\b[^"]*" id="([^"]+)">\s*'
    r'(?:<span id="[^"]+"></span>)*<p class="admonition-title">)(.*?)(</p>)',
    re.DOTALL,
)
_FIGURE = re.compile(
    r'<a class="headerlink" href="#([^"]+)" title="Link to this (?:image|table|code)">#</a>'
)
_CAPTION = '<span class="caption-text">'
_NUMBER = re.compile(r'<span class="caption-number">([^<]*)</span>\Z')
_CLAIM = re.compile(r'id="(claim-[^"]+)"|<p class="claim-badge">(.*?)</p>')
_PLACE = re.compile(r'(<p id="(?!id\d+")([^"]+)"[^>]*>)(.*?)(</p>)', re.DOTALL)
_PROOF = re.compile(
    r'(<div class="proof-place" id="([^"]+)"[^>]*>\s*<div class="[^"]*">\s*<p>'
    r'<strong class="proof-opening">Proof\.</strong>)'
)


def plain(html):
    """Return the text of a piece of HTML without formulas' second copies."""
    return markup.unescape(_TAGS.sub("", html)).strip()


def link(anchor, what):
    """Return the link of a thing to itself."""
    label = markup.escape(f"Link to {what}", quote=True)
    return f'<a class="permalink" href="#{anchor}" aria-label="{label}">#</a>'


def linked(html, titles=None):
    """Return a page in which everything that can be cited links to itself.

    Parameters
    ----------
    html : str
    titles : dict, optional
        Titles of results by anchor, for those that are no block of their own.
    """
    titles = titles or {}

    def block(match):
        head, anchor, title, tail = match.groups()
        number = re.search(r'<span class="caption-number">(.*?)</span>', title)
        what = plain(number[1]) if number else "this block"
        return f"{head}{title} {link(anchor, what)}{tail}"

    def figure(match):
        begin = html.rfind(_CAPTION, 0, match.start())
        if begin < 0 or html.find("</figcaption>", begin, match.start()) >= 0:
            return match[0]
        number = _NUMBER.search(html, max(0, begin - 200), begin)
        what = plain(number[1]) if number else "this figure"
        return f" {link(match[1], what)}"

    anchor_of_claim = None

    def claim(match):
        nonlocal anchor_of_claim
        if match[1]:
            anchor_of_claim = match[1]
        elif anchor_of_claim:
            name = anchor_of_claim.removeprefix("claim-")
            there = link(anchor_of_claim, f"the claim {name}")
            anchor_of_claim = None
            return f'<p class="claim-badge">{match[2]} {there}</p>'
        return match[0]

    def place(match):
        head, anchor, text, tail = match.groups()
        return f"{head}{text} {link(anchor, titles.get(anchor, 'this paragraph'))}{tail}"

    def proof(match):
        return f"{match[1]} {link(match[2], titles.get(match[2], 'this proof'))}"

    html = _BLOCK.sub(block, html)
    html = _FIGURE.sub(figure, html)
    html = _CLAIM.sub(claim, html)
    html = _PLACE.sub(place, html)
    return _PROOF.sub(proof, html)


def titles_of(results):
    """Return {anchor: title in plain letters} for the entries of the register."""
    return {entry["id"]: re.sub(r"[$`]", "", entry["title"]) for entry in results}
