"""Checks of the exercises of *Decision trees*."""

import itertools
from fractions import Fraction
from math import log2

import numpy as np

from mllib.course.exercises import breaks, code, points

# Two judges ----------------------------------------------------------------------------------


def judged(a, b):
    """Return what Gini and entropy leave in the groups (a, b) and (10 - a, 10 - b), added up."""
    groups = [(a, b), (10 - a, 10 - b)]
    entropies = [-k * log2(k / (u + v)) for u, v in groups for k in (u, v) if k]
    return sum(Fraction(2 * u * v, u + v) for u, v in groups), sum(entropies)


def disputed(s, t):
    """Whether Gini prefers the division s to t, and entropy t to s."""
    (g, e), (h, f) = judged(*s), judged(*t)
    return g < h and e > f + 1e-9


@code(
    "ex-trees-judges",
    "the number of pairs, and of one of them the division that Gini prefers and the one that "
    "entropy prefers, each as (rows of class 0, rows of class 1) of one of its groups",
)
def _(c, number, first, second):
    first, second = tuple(map(int, first)), tuple(map(int, second))
    whole = [(a, b) for a in range(11) for b in range(11) if 0 < a + b < 20]
    c.holds("two divisions into groups that are not empty", first in whole, second in whole)
    c.holds("Gini prefers the first, entropy the second", disputed(first, second))
    once = {min((a, b), (10 - a, 10 - b)) for a, b in whole}
    pairs = sum(disputed(s, t) for s in once for t in once)
    c.holds("your number of pairs, each division counted once", number == pairs)


points(
    "ex-trees-judges",
    "In each pair one of the two divisions has a group of one class only: say which judge likes "
    "it, and why the slope of an impurity at the shares 0 and 1 matters for that.",
)

# The order of three classes ------------------------------------------------------------------

points(
    "ex-trees-three-classes",
    "Step 1: the lines become affine functions of the vector of shares, which touch $\\varphi$ at "
    "the shares of the two best groups and lie above it; at a face of the simplex any slope does "
    "that is steep enough for the finitely many groups.",
    "Step 2 goes through: an affine function at a mean is the mean of its values.",
    "Step 3: each value goes where its function is lower, and where that is so is a half-space: "
    "some best division is a cut by a hyperplane.",
    "Only for two classes, in one dimension, is every half-space a cut of one fixed order.",
)

# Extra leaves for an extra feature -----------------------------------------------------------


@code(
    "ex-trees-parity",
    "your function `leaves_of(d, used)` of the number of bits and the list of the columns, from 0, "
    "whose parity is the label",
)
def _(c, leaves_of):
    known = [(1, [0], 2), (2, [0, 1], 4), (2, [1], 2)]
    c.holds(
        "one of the bits: 2 leaves; parity of two bits: 4",
        [leaves_of(d, used) == count for d, used, count in known],
    )
    counts = []
    for d in range(2, 7):
        for used in itertools.chain.from_iterable(
            itertools.combinations(range(d), k) for k in range(2, d + 1)
        ):
            # until one of its bits is left nothing gains, and column follows column
            counts.append(leaves_of(d, list(used)) == 2 ** (used[-2] + 2))
    c.holds(
        "every choice of two to six of at most six bits: as many as ties in order leave", counts
    )


points(
    "ex-trees-parity",
    "As long as two bits of the parity are open every split gains 0, so all columns are tied.",
    "Ties go to the lowest column, whether it has a part in the parity or not.",
)

# Which cost should prune? --------------------------------------------------------------------


@code(
    "ex-trees-which-cost",
    "your table of shape (20, 2, 2) for the division, the cost (Gini, error share), and leaves or "
    "test error; the mean by which Gini errs more, and its standard error",
)
def _(c, table, mean, error):
    table = np.asarray(table, dtype=float)
    c.holds("twenty divisions, two costs, two numbers", table.shape == (20, 2, 2))
    leaves, wrong = np.moveaxis(table, 2, 0)
    c.holds("leaves are whole numbers from 1", leaves >= 1, leaves == leaves.round())
    c.holds("test errors are shares of 169 rows", abs(169 * wrong - (169 * wrong).round()) < 1e-6)
    middle, size = wrong.mean(axis=0), leaves.mean(axis=0)
    c.holds("in the mean between one in fifty and one in eight", middle > 0.02, middle < 0.125)
    c.holds("with 3 to 12 leaves in the mean", size > 3, size < 12)
    more = wrong[:, 0] - wrong[:, 1]
    c.holds("the mean of the twenty differences", abs(mean - more.mean()) < 1e-4)
    spread = sum((v - more.mean()) ** 2 for v in more) / 19
    c.holds("and its standard error", abs(error - (spread / 20) ** 0.5) < 0.02 * error)


points(
    "ex-trees-which-cost",
    "A node that is split holds two classes, so its own answer is wrong on some row.",
    "The branch below it ends in pure leaves and errs nowhere.",
    "So each split node has a strength above 0, and at 0 none is folded.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-trees-break",
    [
        ("scan_column", "x[rows[i + 1]] > x[r] and", "x[rows[i + 1]] >= x[r] and"),
        ("midpoint", "return m if a <= m < b else a", "return m"),
        ("weakest_links", "/ (leaves[t] - 1)", "/ leaves[t]"),
        ("find_leaves", "<= threshold[t] else", "< threshold[t] else"),
    ],
)
