"""Players: a picture with frames (``mllib.course.player``) becomes one to step through.

On the page stays the still picture, which needs no script. Its frames go into a file of their own
beside it, which ``player.js`` fetches when the figure comes into sight; there colours are classes,
so that one file serves the light and the dark page.
"""

import html as markup
import json
import re

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


def controls(found, drawing, address):
    """Return the place of the controls under a drawing as HTML, and write its frames beside it.

    Parameters
    ----------
    found : dict
        What ``frames`` returned.
    drawing : Path
        Where the drawing stands in the site.
    address : str
        The drawing as seen from its page, without its suffix.
    """
    body = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    file = drawing.with_suffix(".frames.js")
    file.write_text(f'window.bookFrames("{drawing.stem}",{body});\n', encoding="utf-8")
    return (
        f'<div class="player" data-player="{address}.frames.js">'
        '<div class="player-bar pst-js-only"></div>'
        f'<p class="player-say">{markup.escape(found["frames"][-1][0], False)}</p></div>'
    )
