"""Nearest neighbours against scikit-learn's: looking at all rows, and k-d trees."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Nearest neighbours"
HOW = (
    "Looking at all rows is a matrix product and one pass over it; a tree stores the smallest box "
    "around each node's points and opens the nearer half first."
)

K = 5


def sample(n, m, d, seed):
    """Return n stored rows and m questions with independent Gaussian coordinates."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return {"X": X, "Q": rng.standard_normal((m, d)), "y": (X[:, 0] > 0).astype(int)}


def ours_brute(data):
    from mllib.nearest_neighbours import KNeighborsClassifier

    model = KNeighborsClassifier(K, algorithm="brute").fit(data["X"], data["y"])
    return lambda: model.kneighbors(data["Q"])[0]


def peer_brute(data):
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(K, algorithm="brute").fit(data["X"], data["y"])
    return lambda: model.kneighbors(data["Q"])[0]


def ours_build(data):
    from mllib.nearest_neighbours import kd_tree

    return lambda: kd_tree(data["X"])


def peer_build(data):
    from sklearn.neighbors import KDTree

    return lambda: KDTree(data["X"])


def ours_query(data):
    from mllib.nearest_neighbours import kd_query, kd_tree

    tree = kd_tree(data["X"])
    return lambda: kd_query(tree, data["Q"], K).distance


def peer_query(data):
    from sklearn.neighbors import KDTree

    tree = KDTree(data["X"])
    return lambda: tree.query(data["Q"], K)[0]


def found(data, mine, theirs):
    """Compare the mean distance of the neighbours found: smaller is nearer."""
    return Quality("mean distance", float(mine.mean()), float(theirs.mean()), "lower")


def usable(data, mine, theirs):
    """Compare what the two trees find for the questions."""
    from mllib.nearest_neighbours import kd_query

    near, far = kd_query(mine, data["Q"], K).distance, theirs.query(data["Q"], K)[0]
    return Quality("mean distance", float(near.mean()), float(far.mean()), "lower")


SEARCH = (
    "Both searches measure the box of every half that they open. Ours keeps its list of neighbours "
    "sorted by distance and index, and has not been tuned beyond the plain loop that the page "
    "prints; the machine was shared with other work when this was measured."
)


def brute(n, m, d):
    return Row(
        workload=f"{m} questions, all rows, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.neighbors.KNeighborsClassifier (brute)",
        target=1.0,
        data=partial(sample, n, m, d),
        ours=ours_brute,
        peer=peer_brute,
        quality=found,
    )


def tree(n, m, d, build):
    return Row(
        workload=f"tree {'built' if build else f'asked {m} times'}, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.neighbors.KDTree",
        target=0.9 if build else 0.55,
        data=partial(sample, n, m, d),
        ours=ours_build if build else ours_query,
        peer=peer_build if build else peer_query,
        quality=usable if build else found,
        why="" if build else SEARCH,
    )


ROWS = [
    brute(10_000, 1_000, 50),
    brute(20_000, 1_000, 10),
    tree(50_000, 5_000, 3, True),
    tree(50_000, 5_000, 3, False),
    tree(50_000, 1_000, 10, True),
    tree(50_000, 1_000, 10, False),
]
