"""Checks of the exercises of *Nearest neighbours*."""

import itertools
from fractions import Fraction

import numpy as np

from mllib.course.datasets import breast_cancer
from mllib.course.exercises import breaks, code, points

# Angles are distances ------------------------------------------------------------------------

points(
    "ex-nearest-neighbours-angle",
    "The determinant of the Gram matrix, written out in a, b and c, is at least 0.",
    r"Ordered by $c$ it bounds $(c-ab)^2$ by a product of two factors, each the square of a sine.",
    r"The lower root says $c\ge\cos(\alpha+\beta)$, since no sine of an angle up to $\pi$ is "
    "negative.",
    r"The arc cosine decreases: for $\alpha+\beta\le\pi$ this is the triangle inequality.",
    r"For $\alpha+\beta>\pi$ the cosine turns back; there no angle is large enough to break it.",
)

# Both ends of the theorem --------------------------------------------------------------------


@code(
    "ex-nearest-neighbours-both-ends",
    "two triples of fractions, the first with R_NN = R*, the second at the upper bound, and the "
    "two risks R_NN",
)
def _(c, below, above, R_below, R_above):
    triples = [[Fraction(p) for p in triple] for triple in (below, above)]
    c.holds("three probabilities each", [len(t) == 3 and min(t) >= 0 for t in triples])
    c.holds("that add up to 1 exactly", [sum(t) == 1 for t in triples])
    best = [1 - max(t) for t in triples]
    c.holds("both have the same $R^*$", best[0] == best[1])
    c.holds(r"which lies between 0 and $\frac23$", best[0] > 0, best[0] < Fraction(2, 3))
    differ = [sum(p * q for p, q in itertools.permutations(t, 2)) for t in triples]
    told = [Fraction(R_below), Fraction(R_above)]
    c.holds("$R_{NN}$ is the probability that two labels differ", np.array(told) == differ)
    c.holds("the first has $R_{NN}=R^*$", differ[0] == best[0])
    bound = best[1] * (2 - Fraction(3, 2) * best[1])
    c.holds("the second has $R_{NN}$ equal to the upper bound", differ[1] == bound)


# A refuge in the tail ------------------------------------------------------------------------


def parity_risk(m, n):
    """Sum the errors over all samples of n inputs and all questions, all of them 1 apart."""
    wrong = 0
    for *sample, x in itertools.product(range(1, m + 1), repeat=n + 1):
        nearest = x if x in sample else sample[0]
        wrong += nearest % 2 != x % 2
    return Fraction(wrong, m ** (n + 1))


@code(
    "ex-nearest-neighbours-slow",
    "your formula as a function `risk(m, n)`, for even m, exact if m and n are integers",
)
def _(c, risk):
    cases = [(4, 1), (2, 3), (4, 3), (8, 2), (12, 3), (6, 4)]
    c.holds(
        "it counts the errors over all samples and questions, six cases of $m$ and $n$",
        [abs(risk(m, n) - parity_risk(m, n)) < 1e-12 for m, n in cases],
    )
    c.holds(
        r"for $m=4n$ it stays above $\frac38$, $n=1..200$",
        [risk(4 * n, n) > 0.375 for n in range(1, 201)],
    )
    c.holds("for $m=40$ it is below 0.001 at $n=400$", risk(40, 400) < 1e-3)


points(
    "ex-nearest-neighbours-slow",
    "A question that was seen is answered rightly, one that was not gets the label of example 0.",
    r"For $m=4n$ the chance of the latter is bounded below by $1-n/m$.",
    "The limit is taken for one distribution, here one $m$; for every $n$ another $m$ is chosen.",
)

# Does standardising help? --------------------------------------------------------------------


def test_error(A, t, Q, u):
    """Return the share of wrong votes of the nine nearest rows of A."""
    near = ((Q[:, None] - A) ** 2).sum(axis=2).argsort(axis=1, kind="stable")[:, :9]
    return np.mean((t[near].mean(axis=1) > 0.5) != u)


@code(
    "ex-nearest-neighbours-standardise",
    "your 20 divisions, each an order of the 569 rows of which the first 400 are for training; the "
    "20 test errors as measured minus those after standardising; and in how many standardising won",
)
def _(c, divisions, differences, wins):
    tumours, truth = breast_cancer(), []
    c.holds("20 divisions and as many differences", len(divisions) == len(differences) == 20)
    c.holds(
        "each division is an order of all the rows",
        [sorted(rows) == list(range(569)) for rows in divisions],
    )
    c.holds("no two of them are equal", len({tuple(rows) for rows in divisions}) == 20)
    for rows in divisions:
        (A, Q), (t, u) = (np.split(v[list(rows)], [400]) for v in (tumours.X, tumours.y))
        m, s = A.mean(axis=0), A.std(axis=0)
        truth.append(test_error(A, t, Q, u) - test_error((A - m) / s, t, (Q - m) / s, u))
    c.holds(
        "each difference is that of two votes of nine, scaled by the training rows alone",
        abs(np.array(differences) - truth) < 1e-9,
    )
    c.holds("standardising won as often as you say", wins == np.sum(np.array(truth) > 1e-9))


# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-nearest-neighbours-break",
    [
        ("insert", "and row > found[i, place]", "and row < found[i, place]"),
        ("search_tree", "bounds[top] > near", "bounds[top] >= near"),
        ("cover_hart_bound", "bayes * K / (K - 1)", "bayes"),
        ("nearest_law", "(1 - closer - level) ** n", "(1 - level) ** n"),
        ("vote_shares", "np.where(labels == c, w, 0)", "1.0 * (labels == c)"),
    ],
)
