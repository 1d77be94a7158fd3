"""Draw the figure of the landing page: six results of the book, from the library's own code.

Run ``python _ext/pages/landing.py`` to write _static/landing.svg again; the drawing does not
depend on the machine.
"""

import itertools
from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np

from mllib.concentration import bernoulli_rate, binomial_mean_tail, chebyshev_bound, hoeffding_bound
from mllib.course.datasets import earthquakes, faithful
from mllib.course.figures import COLOURS, line_across, plot_classes, use_book_style
from mllib.decision_theory import add_intercept
from mllib.hidden_markov_models import PoissonHMM
from mllib.mixtures_and_em import GaussianMixture
from mllib.perceptron import perceptron, separating_weights, weight_path
from mllib.support_vector_machines import SVC

ROOT = Path(__file__).resolve().parents[2]


def two_classes():
    """Return a separable sample in the plane."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal([-1.6, -0.6], 0.7, (14, 2)), rng.normal([1.6, 0.6], 0.7, (14, 2))])
    return X, np.repeat([-1.0, 1.0], 14)


def draw_perceptron(ax):
    """The lines that the perceptron tries, the last one in full."""
    X, y = two_classes()
    path = weight_path(add_intercept(X), y, perceptron(add_intercept(X), y))[1:]
    ax.set(xlim=(-4, 4), ylim=(-2.6, 2.6))
    for w in path[:-1]:
        line_across(ax, w[1:], w[0], lw=0.8, alpha=0.5)
    line_across(ax, path[-1][1:], path[-1][0], lw=2)
    plot_classes(ax, X, y, size=14)


def draw_margin(ax):
    """The widest street and the points that hold it."""
    X, y = two_classes()
    model = SVC(kernel="linear", C=1e3).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    ax.set(xlim=(-4, 4), ylim=(-2.6, 2.6))
    line_across(ax, w, b, lw=2)
    for level in (-1, 1):
        line_across(ax, w, b, level=level, lw=1, ls="--", color=COLOURS["bound"])
    plot_classes(ax, X, y, size=14)
    ax.scatter(*X[model.support_].T, s=70, facecolor="none", edgecolor=COLOURS["ink"], lw=0.9)


def draw_mixture(ax):
    """Two components over the eruptions of Old Faithful."""
    X = faithful().X
    model = GaussianMixture(n_components=2, random_state=0).fit(X)
    ax.scatter(*X.T, s=4, color=COLOURS["observed"], lw=0, alpha=0.8)
    angle = np.linspace(0, 2 * np.pi, 100)
    for mean, covariance in zip(model.means_, model.covariances_):
        for radius in (1, 2):
            ring = radius * np.linalg.cholesky(covariance) @ [np.cos(angle), np.sin(angle)]
            ax.plot(*(mean[:, None] + ring), color=COLOURS["model"], lw=1.4)


def draw_states(ax):
    """The hidden states of the earthquake counts."""
    data = earthquakes()
    model = PoissonHMM(n_components=3, random_state=0).fit(data.X)
    rate = np.ravel(model.rates_)[model.predict(data.X)]
    ax.plot(data.y, data.X[:, 0], "o", ms=2, color=COLOURS["observed"], mew=0)
    ax.step(data.y, rate, where="mid", color=COLOURS["model"], lw=1.6)


def draw_tails(ax):
    """The exact tail of a mean of fifty tosses, and three bounds."""
    e = np.arange(1, 26) / 50
    ax.semilogy(e, [chebyshev_bound(0.25, v, 50) for v in e], "--", color=COLOURS["bound"], lw=1)
    ax.semilogy(e, [hoeffding_bound(50, v) for v in e], "--", color=COLOURS["bound"], lw=1)
    rate = [2 * np.exp(-50 * bernoulli_rate(min(1, 0.5 + v), 0.5)) for v in e]
    ax.semilogy(e, rate, "--", color=COLOURS["bound"], lw=1)
    ax.semilogy(e, [binomial_mean_tail(50, 0.5, v) for v in e], color=COLOURS["truth"], lw=2)


def draw_shattering(ax):
    """Three points in all eight labellings that lines can make."""
    corners = np.array([[0.0, 0.0], [1.0, 0.1], [0.45, 0.9]])
    ax.set(xlim=(-0.4, 7.2), ylim=(-0.5, 3.6))
    for i, labels in enumerate(itertools.product((-1.0, 1.0), repeat=3)):
        shift = np.array([1.85 * (i % 4), 2.0 * (i // 4)])
        w = separating_weights(add_intercept(corners), np.array(labels))
        if len(set(labels)) == 2:
            t = np.linspace(-0.25, 1.25, 200)
            grid = np.array([(u, v) for u in t for v in np.linspace(-0.25, 1.15, 200)])
            near = grid[np.abs(grid @ w[1:] + w[0]) < 0.006 * np.linalg.norm(w[1:])]
            ends = near[[np.argmin(near @ [w[2], -w[1]]), np.argmax(near @ [w[2], -w[1]])]] + shift
            ax.plot(*ends.T, color=COLOURS["model"], lw=1.2)
        plot_classes(ax, corners + shift, np.array(labels), size=16)


PANELS = (
    (draw_perceptron, "The perceptron", "stops within its bound"),
    (draw_margin, "Support vector machines", "no duality gap"),
    (draw_mixture, "Mixtures and EM", "never goes down"),
    (draw_states, "Hidden Markov models", "equal to every path"),
    (draw_tails, "Concentration", "bounds above the exact tail"),
    (draw_shattering, "PAC learning", "all labellings occur"),
)


def main():
    """Write the figure."""
    use_book_style()
    fig, axes = plt.subplots(2, 3, figsize=(7.6, 4.4))
    for ax, (draw, title, finding) in zip(axes.flat, PANELS):
        draw(ax)
        ax.set(xticks=[], yticks=[])
        ax.minorticks_off()
        ax.set_xlabel(f"{title}\n{finding}", fontsize=8.5)
        for side in ("left", "bottom"):
            ax.spines[side].set_color(COLOURS["grid"])
    metadata = {"Date": None, "Creator": None}
    fig.savefig(ROOT / "_static" / "landing.svg", metadata=metadata, bbox_inches="tight")


if __name__ == "__main__":
    main()
