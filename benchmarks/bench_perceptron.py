"""The perceptron against scikit-learn's, for the same passes in the same order of the examples.

Rows with a margin make few mistakes, which blockwise scoring jumps over; the others make many.
"""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Perceptron"
HOW = (
    "The weights change only at a mistake, so the examples up to the next mistake are scored in "
    "one product."
)

PASSES = 10
MANY = (
    "Without a margin each pass makes many mistakes, and after each the next product begins "
    "afresh: about two microseconds of Python for a mistake, where the peer's compiled loop "
    "pays nothing. Choosing the best weights of the run, which the peer does not do, adds about "
    "a quarter."
)


def sample(n, d, gap, seed):
    """Return n labelled points, none within ``gap`` standard deviations of the true hyperplane."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    score = X @ w / np.linalg.norm(w)
    X += np.outer(gap * np.sign(score), w / np.linalg.norm(w))
    return {"X": X, "y": np.sign(score)}


def ours(data):
    from mllib.perceptron import Perceptron

    model = Perceptron(max_iter=PASSES)
    return lambda: model.fit(data["X"], data["y"])


def peer(data):
    from sklearn.linear_model import Perceptron

    model = Perceptron(max_iter=PASSES, tol=None, shuffle=False)
    return lambda: model.fit(data["X"], data["y"])


def quality(data, mine, theirs):
    """Compare the training accuracy; mllib keeps the best weights of a run, so it may be higher."""
    X, y = data["X"], data["y"]
    return Quality("training accuracy", mine.score(X, y), theirs.score(X, y))


def row(n, d, gap, why=""):
    words = f"ten passes, margin {gap:g}" if gap else "ten passes, no margin"
    return Row(
        workload=f"{words}, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.linear_model.Perceptron",
        target=0.6,
        data=partial(sample, n, d, gap),
        ours=ours,
        peer=peer,
        quality=quality,
        why=why,
    )


ROWS = [
    row(200, 5, 0.0, MANY),
    row(1_000, 10, 0.0, MANY),
    row(2_000, 20, 0.0, MANY),
    row(20_000, 50, 0.0, MANY),
    row(2_000, 20, 1.0),
    row(20_000, 50, 1.0),
    row(5_000, 200, 1.0),
]
