"""The look of every figure: one style, one palette, one meaning for each colour.

``use_book_style()`` in a chapter's first cell makes each figure a deterministic SVG. The colours
below, the grid apart, have a contrast of at least 4.5 to 1 on white. The site turns each into its
dark twin, so a chapter never names a colour of its own.
"""

from pathlib import Path

try:
    import matplotlib as mpl
    import matplotlib.pyplot as plt
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"mllib.course.figures needs {error.name}: pip install 'ml-you-can-check[book]'.",
        name=error.name,
    ) from error

__all__ = [
    "COLOURS",
    "DARK",
    "MARKERS",
    "label_line",
    "line_across",
    "plot_classes",
    "use_book_style",
]

#: One meaning per colour through the whole book, on a light page.
COLOURS = {
    "positive": "#0b5fa5",  # class +1, or the first of several classes
    "negative": "#b8431a",  # class -1, or the second
    "third": "#8a5a00",  # a third class or component
    "model": "#6f3d99",  # what was learned
    "truth": "#1a7340",  # what generated the data, or the exact value
    "bound": "#595959",  # what a theorem promises (drawn dashed)
    "observed": "#00707a",  # what was measured
    "ink": "#1a1a1a",
    "muted": "#6b6b6b",
    "grid": "#d9d9d9",
}

#: The same meanings on a dark page.
DARK = {
    "positive": "#6cb4f5",
    "negative": "#f59a6b",
    "third": "#e0b050",
    "model": "#c9a3ee",
    "truth": "#6fcf97",
    "bound": "#b3b3b3",
    "observed": "#4fd1d9",
    "ink": "#e6e6e6",
    "muted": "#a3a3a3",
    "grid": "#4a4a4a",
}

#: Shapes that double the colours, so that nothing rests on hue alone.
MARKERS = {"positive": "o", "negative": "s", "third": "^"}

_STYLE = Path(__file__).with_name("book.mplstyle")


def use_book_style():
    """Apply the book's style; inside a notebook, show figures as deterministic SVG."""
    plt.style.use(_STYLE)
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    if get_ipython() is not None:
        set_matplotlib_formats("svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})


def plot_classes(ax, X, y, *, size=30, labels=None):
    """Scatter a binary sample: class +1 as filled blue discs, class -1 as hollow red squares.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    X : array of shape (n, 2)
    y : array of shape (n,); positive entries are class +1, all others class -1
    size : float; of the markers, as in ``scatter``
    labels : pair of str, optional; legend entries for class +1 and class -1
    """
    labels = labels or (None, None)
    p, m = y > 0, y <= 0
    ax.scatter(
        *X[p].T,
        s=size,
        marker=MARKERS["positive"],
        color=COLOURS["positive"],
        linewidth=0,
        label=labels[0],
        zorder=3,
    )
    ax.scatter(
        *X[m].T,
        s=size,
        marker=MARKERS["negative"],
        facecolor="none",
        edgecolor=COLOURS["negative"],
        linewidth=1.4,
        label=labels[1],
        zorder=3,
    )


def line_across(ax, w, b, *, level=0.0, **style):
    """Draw {x : w^T x + b = level} across the current limits of ``ax``, which stay as they are."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    if abs(w[1]) * (top - bottom) >= abs(w[0]) * (right - left):
        x1 = (left, right)
        x2 = [(level - b - w[0] * v) / w[1] for v in x1]
    else:
        x2 = (bottom, top)
        x1 = [(level - b - w[1] * v) / w[0] for v in x2]
    style = {"color": COLOURS["model"]} | style
    ax.plot(x1, x2, **style)
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)


def label_line(ax, x, y, text, *, colour="ink", **style):
    """Write ``text`` at (x, y) in data coordinates in one of the book's colours."""
    style = {"va": "center", "ha": "left", "fontsize": 9} | style
    ax.text(x, y, text, color=COLOURS[colour], **style)


mpl.rcParams["svg.hashsalt"] = "machine-learning-you-can-check"
