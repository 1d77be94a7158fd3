"""Answers to the exercises of *Concentration inequalities*: the chapter's own, and wrong ones."""

import itertools
from fractions import Fraction

import numpy as np

RIGHT = {
    "ex-concentration-cantelli": "(law, t)",
    "ex-concentration-pairs": (
        "([[bin(m & seed).count('1') % 2 for m in masks] for seed in range(2**bits)], 0.5)"
    ),
    "ex-concentration-testset": "(by_hoeffding, by_exact)",
    "ex-concentration-bennett": "(bennett,)",
    "ex-concentration-break": (
        "('concentration-hoeffding', 'concentration-chebyshev', 'concentration-chernoff',"
        " 'concentration-bernstein')"
    ),
}


def bennett(*, scale=2, u=1, sides=1, minus=True, h=0):
    """Bennett's bound, with room for slips."""

    def bound(n, epsilon, variance, M):
        v = M**u * epsilon / variance
        value = (1 + v) * np.log(1 + v) - (v if minus else 0) + h
        return sides * np.exp(-n * variance / M**scale * value)

    return bound


COINS = np.array(list(itertools.product((0, 1), repeat=10)))
HALF = Fraction(1, 2)
BREAK = [f"concentration-{name}" for name in ("hoeffding", "chebyshev", "chernoff", "bernstein")]

WRONG = {
    "ex-concentration-cantelli": [
        ([(0, HALF), (1, HALF)], 1),  # a fair coin attains it at 1/2 only
        ([(-1, HALF), (1, HALF)], 0.5),
        ([(2, Fraction(3, 7)), (Fraction(-3, 2), Fraction(3, 7))], 2),  # not a law
        ([(2, Fraction(3, 7)), (0, Fraction(1, 7)), (-2, Fraction(3, 7))], 2),  # three points
    ],
    "ex-concentration-pairs": [
        (COINS, 0.3),  # independent altogether
        (COINS[:, :1].repeat(20, axis=1), 0.5),  # one coin twenty times
        (COINS[1:], 0.5),  # not fair
        (COINS, 0.01),  # the bound is above 1
    ],
    "ex-concentration-testset": [
        (18445, 18445),
        (9223, 3740),  # one side
        (18445, 1000),
        (3740, 18445),
        (26492, 5300),  # for 99 %
    ],
    "ex-concentration-bennett": [
        (bennett(scale=1),),
        (bennett(u=0),),
        (bennett(sides=2),),
        (bennett(minus=False),),
        (bennett(h=1),),
    ],
    "ex-concentration-break": [
        ["concentration-chernoff", *BREAK[1:]],
        [BREAK[0], "concentration-markov", *BREAK[2:]],
        [*BREAK[:3], "concentration-subgaussian"],
        BREAK[:3],
    ],
}
