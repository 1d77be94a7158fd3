"""One live theorem: the perceptron's mistake bound on points that the reader moves.

``{live-theorem}`` leaves a picture whose numbers the library computes when the page is written. It
stands for itself without scripts; ``theorem.js`` then lets the reader move the points, or drop the
hypothesis of separability by a switch, and computes the same numbers again. All coordinates are
whole numbers, so script and library take the same steps.
"""

import html
import json

import numpy as np
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from mllib.optimization import solve_qp
from mllib.perceptron import is_separable, mistake_bound, perceptron

#: Half the width and height of the picture, in steps of the points; pixels of a step.
REACH = (40, 25)
STEP = 6
#: What stands before the coordinates of a point: the feature of the intercept.
ONE = 10
#: Passes after which a run without separability is given up.
PASSES = 1000

#: (u, v, label), and the point that the switch carries among the others, and where to.
POINTS = (
    *((18, -14, -1), (36, -10, -1), (4, -21, -1), (32, -21, -1), (26, -15, -1), (25, -7, -1)),
    *((-33, 3, 1), (10, 12, 1), (-9, -2, 1), (30, 19, 1), (-20, 6, 1), (-33, -19, 1)),
)
DROPPED = (7, 16, -19)


#: What the picture says to those who do not see it.
LABEL = (
    "Two classes of points in the plane, the line at which the perceptron stops, and dashed the "
    "line of widest margin; the points that were corrected are ringed."
)


def sample(points):
    """Return the examples and labels of points: whole numbers, the intercept first."""
    points = np.asarray(points, dtype=float)
    return np.column_stack([np.full(len(points), float(ONE)), points[:, :2]]), points[:, 2]


def judged(points):
    """Return what the library finds: mistakes, the bound or None, and both lines."""
    X, y = sample(points)
    run = perceptron(X, y, max_epochs=PASSES)
    found = {
        "mistakes": len(run.order),
        "wrong": sorted({int(i) for i in run.order}),
        "line": run.w.tolist(),
        "bound": None,
        "widest": None,
    }
    if is_separable(X, y, intercept=False):
        widest = solve_qp(np.eye(3), np.zeros(3), G=-y[:, None] * X, c=-np.ones(len(y))).x
        found |= {"bound": mistake_bound(X, y, widest), "widest": widest.tolist()}
    return found


def place(u, v):
    """Return where a point lies in the picture."""
    return (REACH[0] + u) * STEP, (REACH[1] - v) * STEP


def line(w):
    """Return the path of the line on which the weights are undecided, beyond the picture."""
    if w is None or not any(w[1:]):
        return ""
    b, p, q = w
    size = p * p + q * q
    u, v = -ONE * b * p / size, -ONE * b * q / size
    reach = 200 / size**0.5
    ends = [place(u - q * t, v + p * t) for t in (-reach, reach)]
    return "M{:.1f},{:.1f}L{:.1f},{:.1f}".format(*ends[0], *ends[1])


def said(found):
    """Return the verdict in words: its mark, its sentence."""
    k = found["mistakes"]
    if found["bound"] is None:
        words = f"no line separates the classes: {k:,} mistakes in {PASSES:,} passes, and no end"
        return "fails", words.replace(",", "\N{NARROW NO-BREAK SPACE}", 2)
    bound = found["bound"]
    shown = f"{bound:.1f}" if bound < 1000 else f"{bound:,.0f}"
    shown = shown.replace(",", "\N{NARROW NO-BREAK SPACE}")
    few = "mistake" if k == 1 else "mistakes"
    return "holds", f"{k} {few}, and the bound R²‖w*‖²/γ² allows {shown}"


def picture(points=POINTS):
    """Return the theorem as HTML, with the verdict on ``points``."""
    found = judged(points)
    width, height = 2 * REACH[0] * STEP, 2 * REACH[1] * STEP
    marks = []
    for i, (u, v, label) in enumerate(points):
        x, y = place(u, v)
        ring = ' class="ring"' if i in found["wrong"] else ' class="ring off"'
        shape = '<circle r="6"/>' if label > 0 else '<path d="M-6,-6h12v12h-12z"/>'
        kind = "positive" if label > 0 else "negative"
        marks.append(
            f'<g class="point {kind}" transform="translate({x},{y})"><circle{ring} r="11"/>'
            f'<circle class="grip" r="15"/>{shape}</g>'
        )
    mark, words = said(found)
    data = {
        "points": points,
        "dropped": DROPPED,
        "reach": REACH,
        "step": STEP,
        "one": ONE,
        "passes": PASSES,
    }
    data = html.escape(json.dumps(data))
    return "\n".join(
        [
            f'<div class="live-theorem" data-theorem="{data}">',
            f'<svg viewBox="0 0 {width} {height}" role="group" aria-label="{LABEL}">',
            f'<path class="widest" d="{line(found["widest"])}"/>',
            f'<path class="final" d="{line(found["line"])}"/>',
            *marks,
            '</svg><div class="theorem-words"><p class="theorem-verdict" role="status">',
            f'<span class="verdict verdict-{mark}">{mark}</span>',
            f'<span class="verdict-text">{words}</span></p>',
            '<p class="theorem-acts pst-js-only">',
            '<button type="button" class="theorem-drop" aria-pressed="false">',
            "Drop H3: separability</button>",
            '<button type="button" class="theorem-reset">Start again</button>',
            "<span>Move a point: drag it, or Tab to it and use the arrow keys.</span>",
            "</p></div></div>",
        ]
    )


class LiveTheorem(SphinxDirective):
    """``{live-theorem}``."""

    def run(self):
        """Return the picture."""
        return [nodes.raw("", picture(), format="html")]


def setup(app):
    """Register the directive."""
    app.add_directive("live-theorem", LiveTheorem)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
