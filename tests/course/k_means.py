"""Answers to the exercises of *k-means*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-k-means-medians": "([0, 1], 0, 1)",
    "ex-k-means-hartigan": "(hartigan,)",
    "ex-k-means-three": "(A, A[[0, 4, 5]])",
    "ex-k-means-geyser": (
        "([best_partition_on_line(waits, K).objective / best_partition_on_line(waits, 1).objective"
        " for K in range(2, 7)], gap_choice(waits, np.random.default_rng(20)))"
    ),
}


def inertia(A, z, K):
    parts = [A[z == k] for k in range(K)]
    return sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts if len(part))


def descent(*, steps=10**6, sign=1, told=inertia, spoil=False):
    """Move single points while that lowers J, with room for slips."""

    def hartigan(A, z, K):
        z = z if spoil else z.copy()
        for _ in range(steps):
            moves = [(i, k) for i in range(len(A)) for k in range(K)]
            moved = [np.where(np.arange(len(A)) == i, k, z) for i, k in moves]
            change = [sign * (inertia(A, m, K) - inertia(A, z, K)) for m in moved]
            if min(change) >= -1e-9:
                break
            z[:] = moved[int(np.argmin(change))]
        return z, told(A, z, K)

    return hartigan


L = 1000.0
WRONG = {
    "ex-k-means-medians": [
        ([0, 1, 2], 1, 1),  # the same centre
        ([0, 1, 2], 0, 1),  # one is no median
        ([0, 4], 1, 5),
        ([0, 1, 5], 0, 2),
    ],
    "ex-k-means-hartigan": [
        (descent(steps=1),),  # stops after one move
        (descent(steps=0),),
        (descent(sign=-1, steps=20),),  # makes the worst move
        (descent(told=lambda A, z, K: inertia(A, z, K) / len(A)),),
        (descent(spoil=True),),  # changes the labels it was given
        (lambda A, z, K: descent()(A, z, K)[0],),
    ],
    "ex-k-means-three": [
        (np.array([[0, 0], [0, 1], [5, 0], [5, 1.0]]), np.array([[0, 0], [0, 1.0]])),
        ([0, 0, L, L], [0, L]),  # the best
        ([0, 0, L, L, 1000 * L, 1000 * L + 1], [0, L, 1000 * L]),  # a good start
        ([0, 0, 9, 9, 9000, 9001], [0, 9000, 9001]),  # too near to the best
        ([0, 0, L, L, 1000 * L, 1000 * L + 1], [1, 1000 * L, 1000 * L + 1]),  # from no point
    ],
    "ex-k-means-geyser": [
        ([0.5, 0.3, 0.2, 0.1, 0.05], 2),
        ([0.25, 0.11, 0.0625, 0.04, 0.028], 2),
        ([0.5, 0.3, 0.2, 0.1, 0.05], 6),
    ],
}
