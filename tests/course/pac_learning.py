"""Answers to the exercises of *PAC learning*: the chapter's own, and wrong ones."""

from math import ceil, log, log10

import numpy as np

RIGHT = {
    "ex-pac-learning-realisable": "(lambda e, d, s: math.ceil(math.log(s / d) / e),)",
    "ex-pac-learning-rectangles": (
        "([grid[i] for i in four], math.comb(16, 5), lambda P: min(set(range(5))"
        " - {int(i) for i in (*P.argmin(axis=0), *P.argmax(axis=0))}))"
    ),
    "ex-pac-learning-parameters": (
        "(lambda a, b, x: int(tuple(x) == (a, b)), six, [*six, (9, 9)], lambda p, q: p)"
    ),
    "ex-pac-learning-luck": "(luck, np.mean(optimism) / one)",
    "ex-pac-learning-break": (
        "('pac-learning-finite-class-proof', 'pac-learning-finite-class',"
        " 'pac-learning-finite-class-vc', 'pac-learning-generalization-bound')"
    ),
}


def inner(P):
    """A point that is extreme in no direction."""
    extreme = {int(i) for i in (*P.argmin(axis=0), *P.argmax(axis=0))}
    return min(set(range(5)) - extreme)


def single(a, b, x):
    return int(tuple(x) == (a, b))


SQUARE = [(0, 0), (0, 3), (3, 0), (3, 3)]
DIAMOND = [(0, 1), (1, 0), (1, 2), (2, 1)]
SIX = [(i, j) for i in range(3) for j in range(2)]
SEVEN = [*SIX, (9, 9)]
rng = np.random.default_rng(0)
RISKS = np.column_stack([rng.integers(85, 105, 200) / 284, rng.integers(95, 120, 200) / 285])
GAIN, BOUND = np.diff(RISKS.mean(axis=0))[0], (log(2 * 540 / 0.05) / 568) ** 0.5
F, P, V, G = (
    f"pac-learning-{name}"
    for name in ("finite-class", "finite-class-proof", "finite-class-vc", "generalization-bound")
)

WRONG = {
    "ex-pac-learning-realisable": [
        (lambda e, d, s: ceil(2 / e**2 * log(2 * s / d)),),  # the agnostic one
        (lambda e, d, s: ceil(log(1 / d) / e),),  # one function
        (lambda e, d, s: ceil(log10(s / d) / e),),
        (lambda e, d, s: ceil(log(s * d) / e),),
        (lambda e, d, s: ceil(s / (e * d)),),  # no logarithm
    ],
    "ex-pac-learning-rectangles": [
        (SQUARE, 4368, inner),  # the corners: three hold the fourth
        (DIAMOND, 16**5, inner),  # with order and repetition
        (DIAMOND, 4368, lambda P: 4),
        (DIAMOND, 4368, lambda P: int(((P - P.mean(axis=0)) ** 2).sum(axis=1).argmax())),
        (DIAMOND[:3], 4368, inner),
    ],
    "ex-pac-learning-parameters": [
        (lambda a, b, x: int(x[0] >= a), SIX, SEVEN, lambda p, q: p),  # b plays no part
        (lambda a, b, x: int(a <= x[0] <= b), [(i, 0) for i in range(6)],
         [(i, i) for i in range(6)] + [(0, 3)], lambda p, q: p),  # intervals: dimension 2
        (single, SIX, SIX, lambda p, q: p),  # six members
        (single, SIX, SEVEN, lambda p, q: (7, 7)),
        (lambda a, b, x: int(x[0] >= a and x[1] >= b), SIX,
         SIX + [(5, 5)], lambda p, q: p),  # corners: dimension 2
    ],
    "ex-pac-learning-luck": [
        (RISKS, GAIN),  # not as a share
        (RISKS[:, ::-1], -GAIN / BOUND),
        (RISKS, GAIN / (2 * BOUND)),  # of the bound on the excess risk
        (RISKS * [284, 285], GAIN / BOUND),  # errors, not risks
        (RISKS[:100], GAIN / BOUND),
    ],
    "ex-pac-learning-break": [
        ([F, F, V, G],),  # its failure probabilities are computed without erm
        ([P, P, V, G],),
        ([P, F, V],),
        ([P, F, F, G],),
    ],
}  # fmt: skip
