r"""A run of an algorithm as a picture with frames, which the page lets the reader step through.

    film = Player((-4, 4), (-3, 3))
    film.classes(X, y)                        # what is drawn first stands behind every frame
    for i, w in zip(run.order, path[1:]):
        film.frame("after one more correction")
        film.line(w[1:], w[0])
        film.rings(X[i])
    film.show()

Every frame is part of the output of its cell, so it is compared when the notebook runs again. The
output is one SVG that shows its last frame, and the others hidden: a still picture wherever there
is no script. Colours are named by their meaning (``mllib.course.figures.COLOURS``).
"""

from html import escape

import numpy as np

from mllib.course.figures import COLOURS

__all__ = ["Player"]

#: Size of the picture in pixels, and its margins with and without axes.
WIDTH, HEIGHT = 480, 300
BARE, WITH_AXES = (6, 6, 6, 6), (46, 10, 10, 38)
LOOK = 'fill="none" stroke-width="1.5" font-family="system-ui,sans-serif" font-size="14"'


class Player:
    """Frames over a common ground, drawn in coordinates of the data.

    Parameters
    ----------
    xlim, ylim : pair of float; what the picture shows
    xlabel, ylabel : str, optional; names of the axes; without any no axis is drawn
    xticks, yticks : sequence of float; where an axis is marked
    height : int; pixels; the width is always the same
    equal : bool; whether a unit is as long on both axes: the wider of the limits then gives way
    """

    def __init__(
        self,
        xlim,
        ylim,
        *,
        xlabel="",
        ylabel="",
        xticks=(),
        yticks=(),
        height=HEIGHT,
        equal=False,
    ):
        self.height = height
        axes = bool(xlabel or ylabel or len(xticks) or len(yticks))
        left, top, right, bottom = WITH_AXES if axes else BARE
        self._box = (left, top, WIDTH - right, height - bottom)
        self._lim = tuple(map(float, xlim)), tuple(map(float, ylim))
        if equal:
            self._lim = _equal(self._lim, self._box)
        self._ground, self._frames, self._used = [], [], set()
        if axes:
            self._axes(xlabel, ylabel, xticks, yticks)

    # Places.

    def _place(self, points):
        """Return pixels for points of shape (n, 2)."""
        points = np.asarray(points, dtype=float).reshape(-1, 2)
        if not np.isfinite(points).all():
            raise ValueError("what is drawn must be finite.")
        (x0, x1), (y0, y1) = self._lim
        left, top, right, bottom = self._box
        x = left + (points[:, 0] - x0) / (x1 - x0) * (right - left)
        y = bottom - (points[:, 1] - y0) / (y1 - y0) * (bottom - top)
        # What lies far outside is cut off anyway: the picture stays small.
        return np.clip(np.column_stack([x, y]), -2 * WIDTH, 3 * WIDTH)

    def _add(self, markup):
        (self._frames[-1][1] if self._frames else self._ground).append(markup)
        return self

    def _ink(self, way, colour):
        if colour not in COLOURS:
            raise ValueError(f"colour must be one of {', '.join(COLOURS)}, got {colour!r}.")
        self._used.add((way, colour))
        return f"{way}-{colour}"

    # What can be drawn.

    def dots(self, points, *, colour="observed", size=7, marker="disc"):
        """Draw points as discs, squares or hollow squares of ``size`` pixels."""
        places = self._place(points)
        if marker == "hollow":
            h = size / 2
            d = "".join(f"M{_xy(p - h)}h{size}v{size}h-{size}z" for p in places)
            return self._add(f'<path class="{self._ink("s", colour)}" d="{d}"/>')
        cap = {"disc": "round", "square": "square"}[marker]
        d = "".join(f"M{_xy(p)}h0" for p in places)
        ink = self._ink("s", colour)
        return self._add(f'<path class="{ink} {cap}" stroke-width="{size}" d="{d}"/>')

    def classes(self, X, y, *, size=8):
        """Draw a binary sample: class +1 as discs, class -1 as hollow squares."""
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        if np.any(y > 0):
            self.dots(X[y > 0], colour="positive", size=size)
        if np.any(y <= 0):
            self.dots(X[y <= 0], colour="negative", size=size, marker="hollow")
        return self

    def rings(self, points, *, colour="ink", radius=9):
        """Draw a ring around each point."""
        d = "".join(
            f"M{_xy(p - [radius, 0])}a{radius},{radius} 0 1,0 {2 * radius},0"
            f"a{radius},{radius} 0 1,0 {-2 * radius},0"
            for p in self._place(points)
        )
        return self._add(f'<path class="{self._ink("s", colour)}" d="{d}"/>')

    def curve(self, points, *, colour="model", width=2, dashed=False, closed=False):
        """Draw the polygon through points of shape (n, 2)."""
        d = "M" + "L".join(_xy(p) for p in self._place(points)) + ("z" if closed else "")
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        ink = self._ink("s", colour)
        return self._add(f'<path class="{ink}" stroke-width="{width:g}"{dash} d="{d}"/>')

    def segments(self, starts, ends, *, colour="muted", width=1):
        """Draw a straight line from each start to its end."""
        pairs = zip(self._place(starts), self._place(ends), strict=True)
        d = "".join(f"M{_xy(a)}L{_xy(b)}" for a, b in pairs)
        ink = self._ink("s", colour)
        return self._add(f'<path class="{ink}" stroke-width="{width:g}" d="{d}"/>')

    def line(self, w, b, *, colour="model", width=2, dashed=False):
        """Draw {x : w^T x + b = 0} across the picture."""
        w = np.asarray(w, dtype=float)
        size = w @ w
        if size == 0:
            return self
        middle = np.mean(self._lim, axis=1)
        nearest = middle - (w @ middle + b) / size * w
        along = np.array([-w[1], w[0]]) / size**0.5 * np.ptp(self._lim, axis=1).sum()
        ends = [nearest - along, nearest + along]
        return self.curve(ends, colour=colour, width=width, dashed=dashed)

    def ellipse(self, mean, covariance, *, radius=1.0, colour="model", width=2):
        """Draw {x : (x - mean)^T covariance^-1 (x - mean) = radius^2}."""
        angle = np.linspace(0, 2 * np.pi, 41)[:-1]
        circle = np.array([np.cos(angle), np.sin(angle)])
        ring = np.asarray(mean) + radius * (np.linalg.cholesky(covariance) @ circle).T
        return self.curve(ring, colour=colour, width=width, closed=True)

    def box(self, low, high, *, colour="grid", opacity=0.2, edge=""):
        """Fill the rectangle between two corners; ``edge`` is the colour of its border."""
        (left, bottom), (right, top) = self._place([low, high])
        names = self._ink("f", colour) + (f" {self._ink('s', edge)}" if edge else "")
        return self._add(
            f'<path class="{names}" fill-opacity="{opacity:g}" '
            f'd="M{_n(left)},{_n(top)}H{_n(right)}V{_n(bottom)}H{_n(left)}z"/>'
        )

    def text(self, point, words, *, colour="ink", anchor="middle", shift=(0, 5)):
        """Write words at a point, ``shift`` pixels away from it."""
        x, y = self._place([point])[0] + shift
        return self._add(
            f'<text class="{self._ink("f", colour)}" x="{_n(x)}" y="{_n(y)}" '
            f'text-anchor="{anchor}">{escape(words)}</text>'
        )

    def frame(self, say):
        """Begin the next frame; ``say`` tells in one line what it shows."""
        if not say.strip() or "\n" in say:
            raise ValueError("a frame says in one non-empty line what it shows.")
        self._frames.append((say, []))
        return self

    def _axes(self, xlabel, ylabel, xticks, yticks):
        left, top, right, bottom = self._box
        ink = self._ink("s", "muted")
        d = f"M{left},{top}V{bottom}H{right}"
        marks = []
        for x in xticks:
            at = self._place([[x, self._lim[1][0]]])[0][0]
            d += f"M{_n(at)},{bottom}v4"
            marks.append((at, bottom + 18, "middle", f"{x:g}"))
        for y in yticks:
            at = self._place([[self._lim[0][0], y]])[0][1]
            d += f"M{left},{_n(at)}h-4"
            marks.append((left - 7, at + 5, "end", f"{y:g}"))
        self._add(f'<path class="{ink}" d="{d}"/>')
        marks.append(((left + right) / 2, self.height - 5, "middle", xlabel))
        ink = self._ink("f", "muted")
        for x, y, anchor, words in marks:
            if words:
                self._add(
                    f'<text class="{ink}" x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}">'
                    f"{escape(words)}</text>"
                )
        if ylabel:
            y = (top + bottom) / 2
            self._add(
                f'<text class="{ink}" transform="translate(14,{_n(y)})rotate(-90)" '
                f'text-anchor="middle">{escape(ylabel)}</text>'
            )

    # The picture.

    def svg(self):
        """Return the picture: its last frame shown, the others hidden."""
        if len(self._frames) < 2:
            raise ValueError("a player needs two frames at least.")
        attribute = {"s": "stroke", "f": "fill"}
        style = "".join(
            f".{way}-{colour}{{{attribute[way]}:{COLOURS[colour]}}}"
            for way, colour in sorted(self._used)
        )
        last, hidden = len(self._frames) - 1, ' display="none"'
        frames = "\n".join(
            f'<g class="frame"{hidden if i < last else ""}>'
            f"<desc>{escape(say)}</desc>{''.join(marks)}</g>"
            for i, (say, marks) in enumerate(self._frames)
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
            f'width="{WIDTH}" height="{self.height}" class="player" {LOOK}>\n'
            f"<style>.round{{stroke-linecap:round}}.square{{stroke-linecap:square}}{style}"
            f'</style>\n<g class="ground">{"".join(self._ground)}</g>\n{frames}\n</svg>\n'
        )

    def show(self):
        """Display the picture in a notebook; say how many frames it has elsewhere."""
        svg, plain = self.svg(), f"A player of {len(self._frames)} frames"
        try:
            from IPython import get_ipython
            from IPython.display import display
        except ImportError:
            get_ipython = lambda: None  # noqa: E731
        if getattr(get_ipython(), "kernel", None) is None:
            print(plain)
            return
        display({"text/plain": plain, "image/svg+xml": svg}, raw=True)


def _equal(lim, box):
    """Widen one of the limits so that a unit is as long on both axes."""
    span, room = np.ptp(lim, axis=1), np.array([box[2] - box[0], box[3] - box[1]])
    unit = np.max(span / room)
    grown = (unit * room - span) / 2
    return tuple((low - more, high + more) for (low, high), more in zip(lim, grown, strict=True))


def _n(value):
    """Return a number of pixels, to a hundredth."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _xy(point):
    return f"{_n(point[0])},{_n(point[1])}"
