"""Boosting against scikit-learn's: AdaBoost with stumps, exact and binned gradient boosting."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Boosting"
HOW = (
    "Columns are sorted, or cut into bins of one byte, once for all rounds; a stump is one pass, "
    "and of two children only the smaller one's histogram is summed."
)


def two_classes(n, d, seed):
    """Return n rows with Gaussian features and noisy signs of a sum over the first columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X[:, 0] + X[:, 1] ** 2 - 1 + np.abs(X[:, 2]) - 0.8
    return {"X": X, "y": (score + 0.5 * rng.standard_normal(n) > 0).astype(int)}


def numbers(n, d, seed):
    """Return n rows with uniform features, a noisy sum of curves of five of them, and new rows."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(2 * n, d))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    f += 10 * X[:, 3] + 5 * X[:, 4]
    y = f + rng.standard_normal(2 * n)
    return {"X": X[:n], "y": y[:n], "Q": X[n:], "f": f[n:]}


def ours_adaboost(data):
    from mllib.boosting import AdaBoostClassifier

    return lambda: AdaBoostClassifier(n_estimators=100).fit(data["X"], data["y"])


def peer_adaboost(data):
    from sklearn.ensemble import AdaBoostClassifier

    return lambda: AdaBoostClassifier(n_estimators=100, random_state=0).fit(data["X"], data["y"])


def ours_exact(data):
    from mllib.boosting import GradientBoostingRegressor

    return lambda: GradientBoostingRegressor(n_estimators=50).fit(data["X"], data["y"])


def peer_exact(data):
    from sklearn.ensemble import GradientBoostingRegressor

    return lambda: GradientBoostingRegressor(n_estimators=50, random_state=0).fit(
        data["X"], data["y"]
    )


def ours_binned(data):
    from mllib.boosting import GradientBoostingRegressor

    settings = {"max_depth": 6, "min_samples_leaf": 40, "max_bins": 255}
    return lambda: GradientBoostingRegressor(**settings).fit(data["X"], data["y"])


def peer_binned(data):
    from sklearn.ensemble import HistGradientBoostingRegressor

    return lambda: HistGradientBoostingRegressor(early_stopping=False).fit(data["X"], data["y"])


def ours_predict(data):
    model = ours_binned(data)()
    return lambda: model.predict(data["Q"])


def peer_predict(data):
    model = peer_binned(data)()
    return lambda: model.predict(data["Q"])


def fitted(data, mine, theirs):
    """Compare the shares of training rows that are right."""
    X, y = data["X"], data["y"]
    return Quality("training accuracy", mine.score(X, y), theirs.score(X, y), "higher")


def generalised(data, mine, theirs):
    """Compare R^2 on new rows against the truth without noise."""
    Q, f = data["Q"], data["f"]
    return Quality("R^2 on new rows", mine.score(Q, f), theirs.score(Q, f), "higher", 0.002)


def answered(data, mine, theirs):
    """Compare R^2 of the answers on new rows against the truth without noise."""
    f = data["f"]
    score = (1 - float(np.mean((a - f) ** 2) / f.var()) for a in (mine, theirs))
    return Quality("R^2 on new rows", *score, "higher", 0.002)


def row(workload, n, d, target, sample, ours, peer, quality, against):
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
    )


ADABOOST = (two_classes, ours_adaboost, peer_adaboost, fitted, "AdaBoostClassifier")
EXACT = (numbers, ours_exact, peer_exact, generalised, "GradientBoostingRegressor")
BINNED = (numbers, ours_binned, peer_binned, generalised, "HistGradientBoostingRegressor")
PREDICT = (numbers, ours_predict, peer_predict, answered, "HistGradientBoostingRegressor")
ROWS = [
    row("100 stumps", 1_000, 20, 0.1, *ADABOOST),
    row("100 stumps", 10_000, 20, 0.1, *ADABOOST),
    row("50 exact trees", 5_000, 20, 1.0, *EXACT),
    row("100 binned trees", 10_000, 20, 0.75, *BINNED),
    row("100 binned trees", 100_000, 20, 1.0, *BINNED),
    row("answers of 100 trees", 50_000, 20, 1.0, *PREDICT),
]
