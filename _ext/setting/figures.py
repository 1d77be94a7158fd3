"""Figures in the dark: each transparent SVG gets a twin in the colours of the dark page.

Only colours that mean something are mapped: the palette of ``mllib.course.figures``, black, white
and greys. Any other colour, such as those of a colour map, is left as it was drawn. The page
carries both and shows one; no chapter is edited for it.
"""

import html as markup
import re
from pathlib import Path
from urllib.parse import unquote

from mllib.course.figures import COLOURS, DARK

#: Where black and white of a light page go on a dark one; greys go between.
INK_ON_DARK, DARK_PAGE = 0xE6, 0x14

_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")
_NAMED = re.compile(r"(?<=[:\"' ])(black|white)(?=[;\"' ])")
_IMAGE = re.compile(r'<img\b[^>]*?\bsrc="([^"]*_images/[^"]+)\.svg"[^>]*>')


def dark_colour(colour):
    """Return the colour that ``colour`` (#rgb or #rrggbb) has on a dark page."""
    code = colour.lower().lstrip("#")
    code = "".join(2 * c for c in code) if len(code) == 3 else code
    for meaning, light in COLOURS.items():
        if light.lstrip("#").lower() == code:
            return DARK[meaning]
    red, green, blue = (int(code[i : i + 2], 16) for i in (0, 2, 4))
    if max(red, green, blue) - min(red, green, blue) <= 4:
        grey = (red + green + blue) / 3
        turned = round(INK_ON_DARK + (DARK_PAGE - INK_ON_DARK) * grey / 255)
        return "#" + 3 * f"{turned:02x}"
    return colour


def darkened(svg):
    """Return the text of an SVG in the colours of the dark page."""
    svg = _NAMED.sub(lambda m: "#000000" if m[1] == "black" else "#ffffff", svg)
    svg = _COLOUR.sub(lambda m: dark_colour(m[0]), svg)
    # What names no colour is drawn in black: give the root the ink of the dark page.
    return re.sub(r"<svg\b(?![^>]*\sfill=)", f'<svg fill="{DARK["ink"]}"', svg, count=1)


_NUMBERS = re.compile(r"(\s(?:d|x|y|points|transform)=\")([^\"]*)")
_LONG = re.compile(r"-?\d*\.\d{2,}(?![\deE.])")


def compact(svg):
    """Return an SVG without remarks and line breaks, its points on a grid of a tenth.

    Scales keep their digits: a factor is no place.
    """

    def shorter(match):
        number = f"{float(match[0]):.1f}".rstrip("0").rstrip(".")
        return "0" if number in ("-0", "") else number

    def data(match):
        places = re.split(r"(scale\([^)]*\)|matrix\([^)]*\)|rotate\([^)]*\))", match[2])
        places[::2] = [_LONG.sub(shorter, place) for place in places[::2]]
        return match[1] + " ".join("".join(places).split())

    svg = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = _NUMBERS.sub(data, svg)
    return re.sub(r">\s+<", "><", svg).strip() + "\n"


def size_of(svg):
    """Return the width and height of an SVG in CSS pixels, or None if it does not say."""
    match = re.search(r'<svg[^>]*?\bviewBox="[\d.-]+ [\d.-]+ ([\d.]+) ([\d.]+)"', svg)
    if not match:
        return None
    scale = 4 / 3 if re.search(r'<svg[^>]*?\swidth="[\d.]+pt"', svg) else 1
    return tuple(round(float(side) * scale) for side in match.groups())


def afresh(make, text):
    """Return ``make(text)``."""
    return make(text)


def pair(html, page, keep=afresh):
    """Return the page with a dark twin beside each SVG image, and write the twins.

    Parameters
    ----------
    html : str
        The page.
    page : Path
        Where it stands; the images are found from there.
    keep : callable
        Given a function and a text, returns what it makes of it, perhaps from an earlier build.
    """

    def twins(match):
        image, address = match[0], match[1]
        drawn = (Path(page).parent / unquote(markup.unescape(address))).with_suffix(".svg")
        if address.endswith("-dark") or "only-" in image or not drawn.exists():
            return image
        svg = drawn.read_text(encoding="utf-8")
        twin = drawn.with_name(f"{drawn.stem}-dark.svg")
        if not twin.exists():
            svg = keep(compact, svg)
            drawn.write_text(svg, encoding="utf-8")
            twin.write_text(keep(darkened, svg), encoding="utf-8")
        size = size_of(svg)
        added = 'loading="lazy"'
        if size and not re.search(r"\s(?:width|height|style)=", image):
            added += f' width="{size[0]}" height="{size[1]}"'  # the page keeps its place
        light = _with(image, "only-light", added)
        dark = _with(image, "only-dark", added).replace(f"{address}.svg", f"{address}-dark.svg")
        return light + dark

    return _IMAGE.sub(twins, html)


def _with(image, name, added):
    """Return the tag ``image`` with a class and further attributes."""
    if re.search(r'\sclass="', image):
        return re.sub(r'\sclass="', f' {added} class="{name} ', image, count=1)
    return image.replace("<img", f'<img class="{name}" {added}', 1)


def setup(app):
    """Nothing to register: the pairs are made when the site is finished."""
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
