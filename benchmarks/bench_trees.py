"""Decision trees against scikit-learn's: growing for classes and for numbers, answering."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Decision trees"
HOW = (
    "Columns are sorted once; one pass with running class counts finds the best cut of each, and "
    "both children keep the order."
)


def classes(n, d, seed):
    """Return n rows with Gaussian features and five classes that depend on the first five."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return {"X": X, "y": np.argmax(X[:, :5] + rng.standard_normal((n, 5)), axis=1)}


def numbers(n, d, seed):
    """Return n rows with Gaussian features and a noisy target of the first two."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return {"X": X, "y": X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.standard_normal(n)}


def ours_classify(data):
    from mllib.trees import DecisionTreeClassifier

    return lambda: DecisionTreeClassifier(min_samples_leaf=5).fit(data["X"], data["y"])


def peer_classify(data):
    from sklearn.tree import DecisionTreeClassifier

    return lambda: DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(
        data["X"], data["y"]
    )


def ours_regress(data):
    from mllib.trees import DecisionTreeRegressor

    return lambda: DecisionTreeRegressor(min_samples_leaf=5).fit(data["X"], data["y"])


def peer_regress(data):
    from sklearn.tree import DecisionTreeRegressor

    return lambda: DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(
        data["X"], data["y"]
    )


def ours_predict(data):
    model = ours_classify(data)()
    return lambda: model.predict(data["X"])


def peer_predict(data):
    model = peer_classify(data)()
    return lambda: model.predict(data["X"])


def fitted(data, mine, theirs):
    """Compare the scores on the training rows."""
    X, y = data["X"], data["y"]
    # equal gains are settled by another rule, so the trees differ in a few nodes
    score = mine.score(X, y), theirs.score(X, y)
    return Quality("training score", *score, "higher", allowed=1e-3)


def answered(data, mine, theirs):
    """Compare the shares of right answers."""
    y = data["y"]
    share = float(np.mean(mine == y)), float(np.mean(theirs == y))
    return Quality("accuracy", *share, "higher", allowed=1e-3)


WALK = (
    "A walk of some fourteen tests that the processor cannot foresee: both sides wait for the same "
    "memory, and the peer reads numbers of half the size."
)


def row(workload, n, d, target, sample, ours, peer, quality, against, why=""):
    return Row(
        workload=f"{workload}, {n} x {d}",
        n=n,
        d=d,
        against=f"sklearn.tree.{against}",
        target=target,
        data=partial(sample, n, d),
        ours=ours,
        peer=peer,
        quality=quality,
        why=why,
    )


CLASSIFY = (classes, ours_classify, peer_classify, fitted, "DecisionTreeClassifier")
REGRESS = (numbers, ours_regress, peer_regress, fitted, "DecisionTreeRegressor")
PREDICT = (classes, ours_predict, peer_predict, answered, "DecisionTreeClassifier")
ROWS = [
    row("five classes", 1_000, 20, 0.4, *CLASSIFY),
    row("five classes", 10_000, 20, 0.4, *CLASSIFY),
    row("five classes", 50_000, 20, 0.4, *CLASSIFY),
    row("regression", 10_000, 20, 0.45, *REGRESS),
    row("answers", 50_000, 20, 0.9, *PREDICT, WALK),
]
