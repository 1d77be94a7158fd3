"""Answers to the exercises of *Hierarchical clustering*: the chapter's own, and wrong ones."""

import numpy as np

from mllib.hierarchical_clustering import cut, dbscan, linkage
from mllib.k_means import adjusted_rand_index

RIGHT = {
    "ex-hierarchical-clustering-diameter": "([0, 1, 3], last, 2)",
    "ex-hierarchical-clustering-monotone": "(['single', 'complete'], [0, 2, 5, 9.1])",
    "ex-hierarchical-clustering-budget": "(1 - within / J(flowers.X),)",
    "ex-hierarchical-clustering-noise": "(indices,)",
    "ex-hierarchical-clustering-break": (
        "('hierarchical-clustering-lance-williams', 'hierarchical-clustering-chain',"
        " 'hierarchical-clustering-single-mst')"
    ),
}


def rand(*, method="single", eps=0.2, k=5, strays=False, kept=True, order=1):
    """Both indices, with room for slips."""

    def indices(X, y):
        if strays:  # a third kind
            y = np.r_[y, np.full(len(X) - 120, 2)]
        X = X if kept else X[:120]
        both = cut(linkage(X, method), 2), dbscan(X, eps, k).labels
        return [adjusted_rand_index(z[: len(y)], y) for z in both][::order]

    return indices


L, C, M = (f"hierarchical-clustering-{name}" for name in ("lance-williams", "chain", "single-mst"))
WRONG = {
    "ex-hierarchical-clustering-diameter": [
        ([0, 1, 3], 3, 2),  # the height of complete linkage
        ([0, 1, 3], 2.5, 2.5),  # the mean of the pairs between the parts
        ([0, 1], 1, 1),  # no counterexample
        ([0, 1, 2], 1.5, 4 / 3),  # a tie
    ],
    "ex-hierarchical-clustering-monotone": [
        (["single"], [0, 2, 5, 9.1]),
        (["single", "complete", "average"], [0, 2, 5, 9.1]),
        (["single", "complete"], [0, 2, 5, 9.5]),  # the same merges
        (["single", "complete"], [0, 2, 5, 9]),  # a tie
        (["single", "complete"], [0, 2, 5, 9.1, 20]),
    ],
    "ex-hierarchical-clustering-budget": [(0.1156,), (88.4,), (0.776,), (0.944,)],
    "ex-hierarchical-clustering-noise": [
        (rand(method="average"),),
        (rand(eps=0.3),),
        (rand(k=4),),  # counts the others only
        (rand(strays=True),),
        (rand(kept=False),),  # the strays left out before
        (rand(order=-1),),
    ],
    "ex-hierarchical-clustering-break": [
        ([M, C, M],),  # single linkage has no weights
        ([L, L, M],),  # the update is right
        ([L, C, L],),  # no edge is kept there
        ([L, C],),
    ],
}
