"""Checks of the exercises of *k-means*."""

import itertools
from fractions import Fraction

import numpy as np

from mllib.course.exercises import code, points, value

# Medians -------------------------------------------------------------------------------------


@code(
    "ex-k-means-medians",
    "a cluster of numbers and two different centres, such that moving from the one to the other "
    "lowers nothing",
)
def _(c, cluster, first, second):
    x = [Fraction(v).limit_denominator(10**6) for v in np.ravel(cluster).tolist()]
    a, b = (Fraction(float(v)).limit_denominator(10**6) for v in (first, second))

    def cost(centre):
        return sum(abs(v - centre) for v in x)

    c.holds("the two centres differ", a != b)
    c.holds("both cost the same", cost(a) == cost(b))
    c.holds("and no centre costs less", cost(a) == min(map(cost, x)))


points(
    "ex-k-means-medians",
    "What a small move of the centre changes: the numbers left of it count against those right "
    "of it, so the sum falls towards a median and is constant between the two middle numbers.",
    "Each half-step minimises over its own argument, so neither raises the objective.",
    "Where the proof needs more: the best centre need not be the only one, so equal objectives do "
    "not mean equal centres; a fixed rule for the median, or a stop when nothing falls, mends it.",
)

# Hartigan's descent --------------------------------------------------------------------------


def objective(A, z, K):
    """Sum the squared distances to the means of the clusters."""
    parts = (A[z == k] for k in range(K))
    return sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts if len(part))


@code(
    "ex-k-means-hartigan",
    "your function `hartigan(A, z, K)` of the points, the labels at the start and their number, "
    "which returns the labels at the end and J",
)
def _(c, hartigan):
    rng, never_worse, told, ends, kept = np.random.default_rng(0), [], [], [], []
    for _ in range(40):
        A, z = rng.normal(size=(9, 2)), rng.permutation(np.arange(9) % 3)
        end, J = hartigan(A, z.copy(), 3)
        end = np.asarray(end)
        told.append(abs(J - objective(A, end, 3)) < 1e-9)
        never_worse.append(objective(A, end, 3) <= objective(A, z, 3) + 1e-9)
        kept.append(end.shape == z.shape)
        moves = []
        for i, k in itertools.product(range(9), range(3)):
            moved = end.copy()
            moved[i] = k
            moves.append(objective(A, moved, 3))
        ends.append(min(moves) >= objective(A, end, 3) - 1e-9)
    c.holds("the labels at the end are as many as at the start, 40 samples", kept)
    c.holds("$J$ is that of these labels", told)
    c.holds("no end is worse than its start", never_worse)
    c.holds("at the end no move of a single point lowers $J$", ends)


points(
    "ex-k-means-hartigan",
    "Every move lowers $J$, and there are finitely many partitions: none comes twice.",
    "The gain must exceed rounding, or moves that change nothing go round in a circle.",
)

# How wrong can two half-steps be? ------------------------------------------------------------


@code("ex-k-means-three", "the points, shape (n,) or (n, d), twelve at most, and the start")
def _(c, A, start):
    A, M = (np.asarray(v, dtype=float) for v in (A, start))
    A, M = A.reshape(len(A), -1), M.reshape(len(M), -1)
    K = len(M)
    c.holds("twelve points at most", len(A) <= 12)
    c.holds("the start is taken from the points", [(m == A).all(axis=1).any() for m in M])
    distances = ((A[:, None] - M) ** 2).sum(axis=2)
    z = distances.argmin(axis=1)
    c.holds("at the start each centre has points", [(z == k).any() for k in range(K)])
    means = np.array([A[z == k].mean(axis=0) for k in range(K)])
    again = ((A[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    c.holds("the run ends after one step", again == z)
    J = objective(A, z, K)
    moved = [np.where(np.arange(len(A)) == i, k, z) for i in range(len(A)) for k in range(K)]
    c.holds("no move of a single point lowers $J$", [objective(A, m, K) >= J for m in moved])
    labels = itertools.product(range(K), repeat=len(A) - 1)
    least = min(objective(A, np.array([0, *rest]), K) for rest in labels)
    c.holds("$J$ exceeds the least by more than $10^6$", 1e6 * least < J)


# Seeding a second centre ---------------------------------------------------------------------

points(
    "ex-k-means-second-seed",
    r"The triangle inequality: $D(x)\le D(y)+\epsilon$ for $x,y\in C$.",
    r"With $D(y)\ge D_0$: $D(x)\le(1+\epsilon/D_0)D(y)$.",
    r"Averaging the squares over $y$: each $x$ is drawn with at most $(1+\epsilon/D_0)^2/|C|$.",
    "So the expected cost is at most that factor times the mean over even draws, which is twice "
    "the least.",
)

# Two kinds of eruptions? ---------------------------------------------------------------------

value(
    "ex-k-means-geyser",
    "the five shares J*_K / J*_1 of the waiting times for K = 2 to 6, and the number of kinds",
    "081727f3dc59d639",
    digits=2,
)
