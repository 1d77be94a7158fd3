"""The penalty of ridge by leave-one-out and by generalised cross-validation, against RidgeCV.

Both sides choose among thirty penalties and fit with the best; scikit-learn's RidgeCV scores by
leave-one-out only, so it is the peer of both.
"""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Model selection"
HOW = (
    "The leverages of every penalty follow from one eigendecomposition of the smaller Gram matrix, "
    "in one product for all penalties."
)
MEMORY = (
    "The data are centred, turned and centred again for the last fit; at this size the system "
    "takes and gives back the memory of each copy, which costs as much as the arithmetic."
)
ONE_DECOMPOSITION = (
    "Half of the time is the decomposition of the Gram matrix of the rows, the same on both sides."
)
LAMBDAS = np.geomspace(1e-2, 1e4, 30)


def sample(n, d, seed):
    """Return correlated features off the origin and targets with as much noise as signal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + rng.standard_normal((d, d)) / np.sqrt(d))
    y = X @ rng.standard_normal(d)
    return {"X": X + rng.standard_normal(d), "y": y + y.std() * rng.standard_normal(n) + 1}


def ours(criterion, data):
    from mllib.model_selection import RidgeCV

    model = RidgeCV(LAMBDAS, criterion=criterion)
    return lambda: model.fit(data["X"], data["y"])


def peer(data):
    from sklearn.linear_model import RidgeCV

    model = RidgeCV(LAMBDAS)
    return lambda: model.fit(data["X"], data["y"])


def quality(criterion, data, mine, theirs):
    """Compare the criterion at both chosen penalties, and for leave-one-out also the weights."""
    from mllib.model_selection import gcv_ridge, loocv_ridge

    score = {"loo": loocv_ridge, "gcv": gcv_ridge}[criterion]
    pair = (score(**data, lam=lam, intercept=True) for lam in (mine.lambda_, theirs.alpha_))
    gap = np.abs(mine.coef_ - theirs.coef_).max()
    if criterion == "loo" and gap > 1e-8 * np.abs(theirs.coef_).max():
        raise RuntimeError("The same penalty must give the same weights.")
    names = {"loo": "leave-one-out error", "gcv": "generalised cross-validation error"}
    return Quality(names[criterion], *pair, better="lower", allowed=1e-10)


def row(criterion, n, d, target=0.3):
    words = {"loo": "leave-one-out", "gcv": "generalised cross-validation"}[criterion]
    return Row(
        workload=f"ridge at 30 penalties, {words}, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.linear_model.RidgeCV",
        target=target,
        data=partial(sample, n, d),
        ours=partial(ours, criterion),
        peer=peer,
        quality=partial(quality, criterion),
        why=ONE_DECOMPOSITION if d > n else MEMORY,
    )


SIZES = (200, 10, 0.3), (2_000, 50, 0.3), (10_000, 100, 0.3), (200, 1_000, 0.9)
ROWS = [row(criterion, *size) for criterion in ("loo", "gcv") for size in SIZES]
