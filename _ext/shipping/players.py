"""Players: a picture with frames (``mllib.course.player``) becomes one to step through.

On the page stays the still picture, which needs no script. Its frames go into a file of their own
beside it, which ``player.js`` fetches when the figure comes into sight; there colours are classes,
so that one file serves the light and the dark page.
"""

import html as markup
import json
import re
from pathlib import Path
from urllib.parse import unquote

_IMAGE = re.compile(
    r'(<img\b[^>]*\bclass="only-light\b[^>]*\bsrc="([^"]*_images/[^"]+)\.svg"[^>]*>|'
    r'<img\b[^>]*\bsrc="([^"]*_images/[^"]+)\.svg"[^>]*\bclass="only-light\b[^>]*>)'
    r"(\s*<img\b[^>]*>)"
)
_FRAME = re.compile(r'\s*<g class="frame"( display="none")?><desc>(.*?)</desc>(.*?)</g>', re.DOTALL)
_GROUND = re.compile(r'<g class="ground">(.*?)</g>', re.DOTALL)
_BOX = re.compile(r'viewBox="0 0 (\d+) (\d+)"')


def frames(svg):
    """Return what a player draws: its size, its ground, its frames as [words, marks]; else None."""
    if 'class="player"' not in svg:
        return None
    shown = [[markup.unescape(say), rounded(marks)] for _, say, marks in _FRAME.findall(svg)]
    size = [int(side) for side in _BOX.search(svg).groups()]
    return {"size": size, "ground": rounded(_GROUND.search(svg)[1]), "frames": shown}


def rounded(marks):
    """Return marks with their places on a grid of a tenth of a pixel, which no eye can tell."""
    return re.sub(r"(?<=\d)\.(\d)\d+", lambda m: f".{m[1]}" if m[1] != "0" else "", marks)


def still(svg):
    """Return the picture without its hidden frames."""
    return _FRAME.sub(lambda frame: "" if frame[1] else frame[0], svg)


def attach(html, page):
    """Return the page with a place for the controls under each player; write their frames.

    Parameters
    ----------
    html : str
        The page, its figures with their twins for the dark.
    page : Path
        Where it stands; the images are found from there.
    """

    def controls(match):
        address = match[2] or match[3]
        drawn = (Path(page).parent / unquote(markup.unescape(address))).with_suffix(".svg")
        file = drawn.with_suffix(".frames.js")
        if not file.exists():
            svg = drawn.read_text(encoding="utf-8") if drawn.exists() else ""
            if (found := frames(svg)) is None:
                return match[0]
            body = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
            file.write_text(f'window.bookFrames("{drawn.stem}",{body});\n', encoding="utf-8")
            for picture in (drawn, drawn.with_name(f"{drawn.stem}-dark.svg")):
                picture.write_text(still(picture.read_text(encoding="utf-8")), encoding="utf-8")
        said = re.findall(r"<desc>(.*?)</desc>", drawn.read_text(encoding="utf-8"))[-1]
        return (
            f'{match[0]}<div class="player" data-player="{address}.frames.js">'
            f'<div class="player-bar pst-js-only"></div><p class="player-say">{said}</p></div>'
        )

    return _IMAGE.sub(controls, html)
