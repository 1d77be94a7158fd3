"""Penalised logistic and softmax regression against scikit-learn's solvers, by their objectives."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Logistic regression"
HOW = (
    "Newton's method where n d^2 is small; otherwise L-BFGS in a metric taken from some of the "
    "rows, which makes the units of the inputs immaterial. The L1 fit is a quadratic expansion "
    "minimised by compiled coordinate descent over the weights that may move."
)

LAM = 1.0
WELL = (
    "The inputs are independent and of one size, the best case for the peer's plain L-BFGS: it "
    "needs seven steps and no metric."
)
SOFTMAX = (
    "The inputs are independent and of one size, the best case for the peer's plain L-BFGS: second "
    "derivatives and a metric cost here what they do not win back."
)


def sample(n, d, K, spread, seed):
    """Return inputs whose sizes span ``spread`` powers of ten, and labels from the model itself."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    W = 2 * rng.standard_normal((d, K)) / np.sqrt(d)
    y = np.argmax(X @ W + rng.gumbel(size=(n, K)), axis=1)
    return {"X": X * np.logspace(-spread / 2, spread / 2, d), "y": y}


def sparse_sample(n, d, lam, seed):
    """Return inputs of which ten matter, and the penalty."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), np.r_[rng.standard_normal(10), np.zeros(d - 10)]
    y = (rng.random(n) < 1 / (1 + np.exp(-X @ w))).astype(int)
    return {"X": X, "y": y, "lam": lam}


def ours(data):
    from mllib.logistic_regression import LogisticRegression

    model = LogisticRegression(lam=LAM)
    return lambda: model.fit(data["X"], data["y"])


def peer(data):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1 / LAM, max_iter=20_000)
    return lambda: model.fit(data["X"], data["y"])


def ours_l1(data):
    from mllib.logistic_regression import LogisticRegression

    model = LogisticRegression("l1", lam=data["lam"], fit_intercept=False)
    return lambda: model.fit(data["X"], data["y"])


def peer_l1(data):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        l1_ratio=1, C=1 / data["lam"], solver="liblinear", fit_intercept=False, max_iter=1000
    )
    return lambda: model.fit(data["X"], data["y"])


def cross_entropy(model, data):
    scores = model.decision_function(data["X"])
    if scores.ndim == 1:
        return np.logaddexp(0, (1 - 2 * data["y"]) * scores).sum()
    own = scores[np.arange(len(scores)), data["y"]]
    return (np.logaddexp.reduce(scores, axis=1) - own).sum()


def quality(data, mine, theirs):
    value = [cross_entropy(m, data) + LAM / 2 * (m.coef_**2).sum() for m in (mine, theirs)]
    return Quality("penalised cross-entropy (nats)", *value, "lower")


def quality_l1(data, mine, theirs):
    value = [cross_entropy(m, data) + data["lam"] * abs(m.coef_).sum() for m in (mine, theirs)]
    return Quality("penalised cross-entropy (nats)", *value, "lower")


def row(n, d, K, spread, target, why="", seeds=(0, 1)):
    words = "L2" if K == 2 else f"softmax, {K} classes, L2"
    words += f", inputs over {spread} powers of ten" if spread else ""
    return Row(
        workload=f"{words}, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.linear_model.LogisticRegression (lbfgs)",
        target=target,
        data=partial(sample, n, d, K, spread),
        ours=ours,
        peer=peer,
        quality=quality,
        why=why,
        seeds=seeds,
    )


def row_l1(n, d, lam):
    return Row(
        workload=f"L1, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.linear_model.LogisticRegression (liblinear)",
        target=0.9,
        data=partial(sparse_sample, n, d, lam),
        ours=ours_l1,
        peer=peer_l1,
        quality=quality_l1,
    )


ROWS = [
    row(1_000, 20, 2, 0, 1.0),
    row(5_000, 200, 2, 0, 1.0, WELL),
    row(20_000, 50, 2, 0, 1.0),
    row(1_000, 20, 2, 3, 0.3),
    row(5_000, 50, 2, 2, 0.3),
    row(1_000, 20, 3, 0, 0.9, SOFTMAX),
    row(5_000, 50, 5, 0, 0.9, WELL),
    row_l1(1_000, 20, 5.0),
    row_l1(5_000, 200, 20.0),
    row_l1(2_000, 500, 10.0),
]
