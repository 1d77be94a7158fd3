"""Answers to the exercises of *Nearest neighbours*: the chapter's own, and wrong ones."""

from fractions import Fraction as F

import numpy as np

from mllib.course.datasets import breast_cancer

RIGHT = {
    "ex-nearest-neighbours-both-ends": (
        "([F(1, 2), F(1, 2), F(0)], [F(1, 2), F(1, 4), F(1, 4)], F(1, 2), F(5, 8))"
    ),
    "ex-nearest-neighbours-slow": "(lambda m, n: (1 - F(1, m)) ** n * F(m, 2) / (m - 1),)",
    "ex-nearest-neighbours-standardise": (
        "([np.random.default_rng(seed).permutation(569) for seed in range(20)], gains, wins)"
    ),
    "ex-nearest-neighbours-break": (
        "('nearest-neighbours-knn-rule', 'nearest-neighbours-branch-and-bound',"
        " 'nearest-neighbours-cover-hart', 'nearest-neighbours-neighbour-converges',"
        " 'nearest-neighbours-knn-combination')"
    ),
}


def study(scaled=lambda A: A, sign=1, k=9, flat=False):
    """Twenty differences of test errors, with room for slips."""
    tumours, orders, found = breast_cancer(), [], []
    for seed in range(20):
        orders.append(np.random.default_rng(seed).permutation(569))
        errors = []
        X, (t, u) = tumours.X[orders[-1]], np.split(tumours.y[orders[-1]], [400])
        m, s = scaled(X).mean(axis=0), scaled(X).std(axis=0)
        for A in (X, (X - m) / s):
            far = ((A[400:, None] - A[:400]) ** 2).sum(axis=2)
            votes = t[far.argsort(axis=1)[:, :k]].mean(axis=1) > 0.5
            errors.append(np.mean(votes != u))
        found.append(sign * (errors[0] - errors[1]))
    return orders, found, sum(np.array(found) > 0)


ORDERS, GAINS, WINS = study(lambda A: A[:400])
HALF, EVEN, APART = F(1, 2), [F(1, 2), F(1, 2), F(0)], [F(1, 2), F(1, 4), F(1, 4)]
RULE, BOUND = "nearest-neighbours-knn-rule", "nearest-neighbours-cover-hart"
NEAR, VOTE = "nearest-neighbours-neighbour-converges", "nearest-neighbours-knn-combination"
TREE = "nearest-neighbours-branch-and-bound"
WRONG = {
    "ex-nearest-neighbours-both-ends": [
        (APART, EVEN, F(5, 8), HALF),  # the two exchanged
        (EVEN, APART, HALF, HALF),  # R* told in the place of R_NN
        ([0.4, 0.4, 0.2], APART, F(16, 25), F(5, 8)),  # tenths are no exact floats
        ([F(1, 3)] * 3, [F(1, 3)] * 3, F(2, 3), F(2, 3)),  # R* = 2/3, where both ends meet
        (EVEN, [F(2, 3), F(1, 6), F(1, 6)], HALF, HALF),  # another R*
    ],
    "ex-nearest-neighbours-slow": [
        (lambda m, n: (1 - F(1, m)) ** n / 2,),  # the other inputs are m - 1, not m
        (lambda m, n: F(m, 2) / (m - 1) * F(n, m),),
        (lambda m, n: (1 - F(1, m)) ** (n - 1) * F(m, 2) / (m - 1),),  # one example fewer
        (lambda m, n: F(3, 8) + F(1, n + m),),
    ],
    "ex-nearest-neighbours-standardise": [
        study(),  # scaled by all the rows
        study(lambda A: A[:400], sign=-1),
        study(lambda A: A[:400], k=8),
        (ORDERS, GAINS, 20),
        (ORDERS[:10], GAINS[:10], WINS),
        ([ORDERS[0]] * 20, [GAINS[0]] * 20, 20),
    ],
    "ex-nearest-neighbours-break": [
        ([RULE, TREE, BOUND, VOTE, VOTE],),  # means of given weights know no law
        ([TREE, BOUND, BOUND, NEAR, VOTE],),  # the bound does not see the tree
        ([RULE, TREE, BOUND, NEAR],),
        ([RULE, TREE, "nearest-neighbours-nn-conditional-risk-2", NEAR, VOTE],),
    ],
}
