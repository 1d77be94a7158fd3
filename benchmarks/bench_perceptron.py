"""The perceptron against scikit-learn's, for the same passes in the same order of the examples.

Rows with a margin make few mistakes, the others many.
"""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Perceptron"
HOW = "A pass is a plain loop, compiled; without a separator the best weights met are looked for."

PASSES = 10
POCKET = (
    "The passes take less time than the peer's. But where no pass is without a mistake, the "
    "hundred weights that survived longest are compared on the whole sample, which the peer does "
    "not do, and this takes most of the time."
)
SCORES = (
    "Nearly all of the time goes into the scores, products of examples with the weights, which "
    "both sides compute one after the other; we also write out the inputs with a column of ones."
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


def row(n, d, gap, why=SCORES):
    words = f"ten passes, margin {gap:g}" if gap else "ten passes, no margin"
    return Row(
        workload=f"{words}, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.linear_model.Perceptron",
        target=0.5,
        data=partial(sample, n, d, gap),
        ours=ours,
        peer=peer,
        quality=quality,
        why=why,
    )


ROWS = [
    row(200, 5, 0.0, POCKET),
    row(1_000, 10, 0.0, POCKET),
    row(2_000, 20, 0.0, POCKET),
    row(20_000, 50, 0.0, POCKET),
    row(2_000, 20, 1.0),
    row(20_000, 50, 1.0),
    row(5_000, 200, 1.0),
]
