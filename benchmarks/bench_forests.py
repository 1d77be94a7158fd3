"""Random forests against scikit-learn's: growing for classes and for numbers, answering."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Random forests"
HOW = (
    "A bootstrap sample is a vector of whole weights, so one sorting of the columns serves all "
    "trees; each tree walks all rows in one compiled loop."
)


def classes(n, d, seed):
    """Return n rows with Gaussian features and five classes that depend on the first five."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2 * n, d))
    y = np.argmax(X[:, :5] + rng.standard_normal((2 * n, 5)), axis=1)
    return {"X": X[:n], "y": y[:n], "Q": X[n:], "u": y[n:]}


def numbers(n, d, seed):
    """Return n rows with Gaussian features and a noisy target of the first two."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2 * n, d))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.standard_normal(2 * n)
    return {"X": X[:n], "y": y[:n], "Q": X[n:], "u": y[n:]}


def ours_classify(data):
    from mllib.forests import RandomForestClassifier

    return lambda: RandomForestClassifier(50, random_state=0).fit(data["X"], data["y"])


def peer_classify(data):
    from sklearn.ensemble import RandomForestClassifier

    return lambda: RandomForestClassifier(50, random_state=0).fit(data["X"], data["y"])


def ours_regress(data):
    from mllib.forests import RandomForestRegressor

    return lambda: RandomForestRegressor(50, random_state=0).fit(data["X"], data["y"])


def peer_regress(data):
    from sklearn.ensemble import RandomForestRegressor

    return lambda: RandomForestRegressor(50, max_features=1 / 3, random_state=0).fit(
        data["X"], data["y"]
    )


def ours_predict(data):
    model = ours_classify(data)()
    return lambda: model.predict(data["Q"])


def peer_predict(data):
    model = peer_classify(data)()
    return lambda: model.predict(data["Q"])


def fitted(data, mine, theirs):
    """Compare the scores on as many new rows; forests are random, so they differ a little."""
    Q, u = data["Q"], data["u"]
    return Quality("test score", mine.score(Q, u), theirs.score(Q, u), "higher", allowed=0.02)


def answered(data, mine, theirs):
    """Compare the shares of right answers on new rows."""
    u = data["u"]
    return Quality(
        "accuracy", float(np.mean(mine == u)), float(np.mean(theirs == u)), "higher", allowed=0.02
    )


def row(workload, n, d, target, sample, ours, peer, quality, against, why=""):
    return Row(
        workload=f"{workload}, {n} x {d}",
        n=n,
        d=d,
        against=f"sklearn.ensemble.{against}",
        target=target,
        data=partial(sample, n, d),
        ours=ours,
        peer=peer,
        quality=quality,
        why=why,
    )


CLASSIFY = (classes, ours_classify, peer_classify, fitted, "RandomForestClassifier")
REGRESS = (numbers, ours_regress, peer_regress, fitted, "RandomForestRegressor")
PREDICT = (classes, ours_predict, peer_predict, answered, "RandomForestClassifier")
WALKS = (
    "The peer reads the rows in single precision and keeps the fields of a node together, one read "
    "of memory where mllib's arrays need four."
)
ROWS = [
    row("50 trees, five classes", 1_000, 20, 0.55, *CLASSIFY),
    row("50 trees, five classes", 10_000, 20, 0.55, *CLASSIFY),
    row("50 trees, regression", 10_000, 20, 0.55, *REGRESS),
    row("answers of 50 trees", 10_000, 20, 1.0, *PREDICT, WALKS),
]
