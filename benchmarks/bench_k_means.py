"""k-means against scikit-learn's: the same start, the same number of steps."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "k-means"
HOW = (
    "A loop finds the nearest centre of 256 rows at a time, one centre after another, the rows "
    "innermost: no distances are kept, and the sums follow in one pass."
)
K, STEPS = 8, 30


def heaps(n, d, seed):
    """Return n rows around K overlapping heaps, and K of the rows to start from."""
    rng = np.random.default_rng(seed)
    middles = 2.0 * rng.standard_normal((K, d))
    X = middles[rng.integers(K, size=n)] + rng.standard_normal((n, d))
    return {"X": X, "start": X[rng.choice(n, K, replace=False)]}


def ours(data):
    from mllib.k_means import k_means

    return lambda: k_means(data["X"], data["start"], max_iter=STEPS)


def peer(data):
    from sklearn.cluster import KMeans

    model = KMeans(K, init=data["start"], n_init=1, max_iter=STEPS, tol=0, algorithm="lloyd")
    return lambda: model.fit(data["X"])


def same_end(data, mine, theirs):
    """Compare the sums of squared distances."""
    return Quality("J", float(mine.trace[-1]), float(theirs.inertia_), "lower")


#: Why the row with many columns misses its target.
WHY = (
    "We compute J at every step, from exact distances, and stop when it no longer falls; "
    "scikit-learn compares rounded distances of a matrix product and computes J once, at the end."
)


def row(n, d, target):
    return Row(
        workload=f"Lloyd, {K} clusters, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.cluster.KMeans",
        target=target,
        data=partial(heaps, n, d),
        ours=ours,
        peer=peer,
        quality=same_end,
        why=WHY if d == 50 else "",
    )


ROWS = [row(10_000, 8, 0.85), row(100_000, 2, 0.85), row(20_000, 50, 1.0)]
