"""Boosting against scikit-learn's: AdaBoost with stumps, exact and binned gradient boosting."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Boosting"
HOW = (
    "Columns are sorted, or cut into bins of one byte, once for all rounds; a stump is one pass, "
    "and of two children only the smaller one's histogram is summed. AdaBoost is judged by the "
    "exponential loss that both sides descend: mllib takes the stump of least weighted error, "
    "which descends faster, and a lower loss is not a better answer on new rows."
)

BINNED_TREES = {"max_depth": 6, "min_samples_leaf": 40}


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

    return lambda: GradientBoostingRegressor(max_bins=255, **BINNED_TREES).fit(data["X"], data["y"])


def peer_binned(data):
    from sklearn.ensemble import HistGradientBoostingRegressor

    settings = {"max_leaf_nodes": None, "early_stopping": False, **BINNED_TREES}
    return lambda: HistGradientBoostingRegressor(**settings).fit(data["X"], data["y"])


def ours_predict(data):
    model = ours_binned(data)()
    return lambda: model.predict(data["Q"])


def peer_predict(data):
    model = peer_binned(data)()
    return lambda: model.predict(data["Q"])


def fitted(data, mine, theirs):
    """Compare mean exponential losses, the objective of both; the peer's weights are 2 alpha."""
    X, sign = data["X"], 2 * data["y"] - 1
    votes = np.array([2 * stump.predict(X) - 1 for stump in theirs.estimators_])
    scores = mine.decision_function(X), theirs.estimator_weights_ @ votes / 2
    losses = (float(np.mean(np.exp(-sign * score))) for score in scores)
    return Quality("mean exponential loss", *losses, "lower")


def generalised(data, mine, theirs):
    """Compare R^2 on new rows against the truth without noise."""
    Q, f = data["Q"], data["f"]
    return Quality("R^2 on new rows", mine.score(Q, f), theirs.score(Q, f), "higher", 0.002)


def answered(data, mine, theirs):
    """Compare R^2 of the answers on new rows against the truth without noise."""
    f = data["f"]
    score = (1 - float(np.mean((a - f) ** 2) / f.var()) for a in (mine, theirs))
    return Quality("R^2 on new rows", *score, "higher", 0.002)


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


ADABOOST = (two_classes, ours_adaboost, peer_adaboost, fitted, "AdaBoostClassifier")
EXACT = (numbers, ours_exact, peer_exact, generalised, "GradientBoostingRegressor")
BINNED = (numbers, ours_binned, peer_binned, generalised, "HistGradientBoostingRegressor")
SINGLE = (
    "For the squared loss without weights the peer adds up two numbers in each bin, from gradients "
    "kept in single precision; mllib adds up three, since weights may be any numbers."
)
WALKS = (
    "The peer keeps the fields of a node together, one read of memory where mllib's arrays need "
    "four."
)
PREDICT = (numbers, ours_predict, peer_predict, answered, "HistGradientBoostingRegressor")
ROWS = [
    row("100 stumps", 1_000, 20, 0.1, *ADABOOST),
    row("100 stumps", 10_000, 20, 0.1, *ADABOOST),
    row("50 exact trees", 5_000, 20, 1.0, *EXACT),
    row("100 binned trees", 10_000, 20, 0.75, *BINNED, SINGLE),
    row("100 binned trees", 100_000, 20, 1.0, *BINNED, SINGLE),
    row("answers of 100 trees", 50_000, 20, 1.0, *PREDICT, WALKS),
]
