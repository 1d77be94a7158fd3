"""Hierarchical clustering against scipy: from rows to the tree of merges."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Hierarchical clustering"
HOW = (
    "A spanning tree without a matrix for single linkage, the nearest-neighbour chain for the "
    "others, both as compiled loops."
)


def bells(n, d, seed):
    """Return n rows from ten Gaussians."""
    rng = np.random.default_rng(seed)
    return {
        "X": rng.standard_normal((n, d))
        + 5 * rng.standard_normal((10, d))[rng.integers(10, size=n)]
    }


def ours(method, data):
    from mllib.hierarchical_clustering import linkage

    return lambda: linkage(data["X"], method)


def peer(method, data):
    from scipy.cluster.hierarchy import linkage

    return lambda: linkage(data["X"], method)


def heights(data, mine, theirs):
    """Compare the heights of all merges."""
    gap = float(np.max(np.abs(mine.height - theirs[:, 2]) / theirs[-1, 2]))
    return Quality("largest difference of heights over the last one", gap, 0.0, "lower", 1e-9)


#: Why small tables miss some targets.
SHORT = (
    "The call takes a few milliseconds: what our loop over the distances saves, checks and the "
    "sorting of the merges cost again; at 5000 rows they no longer count."
)


def row(method, n, target):
    return Row(
        workload=f"{method} linkage, {n} x 10",
        n=n,
        d=10,
        against="scipy.cluster.hierarchy.linkage",
        target=target,
        data=partial(bells, n, 10),
        ours=partial(ours, method),
        peer=partial(peer, method),
        quality=heights,
        why=SHORT if n == 1_000 and method != "average" else "",
    )


ROWS = [
    row("ward", 1_000, 0.65),
    row("ward", 5_000, 0.65),
    row("average", 1_000, 0.75),
    row("average", 5_000, 0.75),
    row("single", 1_000, 0.5),
    row("single", 5_000, 0.5),
]
