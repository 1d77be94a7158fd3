"""Figures in the dark: each transparent SVG gets a twin in the colours of the dark page.

Only colours that mean something are mapped: the palette of ``mllib.course.figures``, black, white
and greys. Any other colour, such as those of a colour map, is left as it was drawn. The page
carries both and shows one; no chapter is edited for it.
"""

import math
import re
from pathlib import Path

from _ext.pages import players
from mllib.course.figures import COLOURS, DARK

#: Where black and white of a light page go on a dark one; greys go between.
INK_ON_DARK, DARK_PAGE = 0xE6, 0x14
#: No label is set smaller than this, in CSS pixels: on a phone a drawing scrolls instead.
LEGIBLE = 9
LABEL = 12.0  #: what the labels of a drawing count as where they are larger, or none is found

_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")
_NAMED = re.compile(r"(?<=[:\"' ])(black|white)(?=[;\"' ])")


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


def twin(name):
    """Return the name of the dark twin of a drawing."""
    return f"{name.removesuffix('.svg')}-dark.svg"


def size_of(svg):
    """Return the width and height of an SVG in CSS pixels, or None if it does not say."""
    match = re.search(r'<svg[^>]*?\bviewBox="[\d.-]+ [\d.-]+ ([\d.]+) ([\d.]+)"', svg)
    if not match:
        return None
    scale = 4 / 3 if re.search(r'<svg[^>]*?\swidth="[\d.]+pt"', svg) else 1
    return tuple(round(float(side) * scale) for side in match.groups())


def least(svg):
    """Return the width in CSS pixels at which the smallest label of a drawing is legible."""
    scales = re.findall(r'<g style="[^"]*" transform="[^"]*\bscale\(([\d.]+) -', svg)
    sizes = [LABEL, *(float(scale) * 400 / 3 for scale in scales)]
    sizes += map(float, re.findall(r'<svg[^>]*\bfont-size="([\d.]+)"', svg))  # a player's
    width, _ = size_of(svg) or (0, 0)
    return math.ceil(width * LEGIBLE / min(sizes))


def finish(app, error):
    """Write the dark twin of each drawing of the site; take away drawings that no page shows."""
    if error or app.builder.format != "html":
        return
    folder = Path(app.outdir, app.builder.imagedir)
    shown = {name for _, name in app.env.images.values()}
    for path in folder.glob("*"):
        if re.sub(r"(-dark\.svg|\.frames\.js)$", ".svg", path.name) not in shown:
            path.unlink()
    for path in folder.glob("*.svg"):
        dark = folder / twin(path.name)
        if path.name.endswith("-dark.svg") or (
            dark.exists() and dark.stat().st_mtime >= path.stat().st_mtime
        ):
            continue
        svg = players.still(path.read_text(encoding="utf-8"))
        path.write_text(svg, encoding="utf-8")
        dark.write_text(darkened(svg), encoding="utf-8")
