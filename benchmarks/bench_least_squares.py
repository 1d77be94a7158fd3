"""Least squares with an offset against scikit-learn's LinearRegression, which calls LAPACK's gelsd.

Features are correlated, as features are. In the last row one nearly repeats another.
"""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Least squares"
HOW = (
    "The Gram matrix is factorised by Cholesky and one step of refinement restores the digits "
    "that squaring costs. Where an estimate of its condition forbids that, the singular value "
    "decomposition takes over, after the fast way has been tried."
)

ONE_PRODUCT = (
    "Three fifths of the time is the one product of the data with themselves, and a sixth is "
    "writing a centred copy of them; beyond that there are four passes over the copy."
)


def sample(n, d, nearly, seed):
    """Return correlated features and noisy targets; ``nearly`` repeats a feature to 1e-7."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + rng.standard_normal((d, d)) / (2 * np.sqrt(d)))
    X += 3 * rng.standard_normal(d)
    if nearly:
        X[:, -1] = X[:, 0] + 1e-7 * X[:, -1]
    return {"X": X, "y": X @ rng.standard_normal(d) + 2 + rng.standard_normal(n)}


def ours(data):
    from mllib.least_squares import LinearRegression

    model = LinearRegression()
    return lambda: model.fit(data["X"], data["y"])


def peer(data):
    from sklearn.linear_model import LinearRegression

    model = LinearRegression()
    return lambda: model.fit(data["X"], data["y"])


def quality(data, mine, theirs):
    """Compare the sum of squared residuals that both minimise."""
    mine, theirs = (np.sum((data["y"] - m.predict(data["X"])) ** 2) for m in (mine, theirs))
    return Quality("residual sum of squares", mine, theirs, better="lower", allowed=1e-10)


def row(n, d, nearly=False, target=0.3, why=""):
    words = ", a feature nearly repeated" if nearly else ""
    return Row(
        workload=f"least squares{words}, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.linear_model.LinearRegression",
        target=target,
        data=partial(sample, n, d, nearly),
        ours=ours,
        peer=peer,
        quality=quality,
        why=why,
    )


ROWS = [
    row(200, 10),
    row(5_000, 100),
    row(20_000, 300, why=ONE_PRODUCT),
    row(5_000, 100, nearly=True, target=1.2),
]
