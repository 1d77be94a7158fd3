"""Answers to the exercises of *Probability*: the chapter's own, and wrong ones."""

from fractions import Fraction

import numpy as np

from mllib.probability import FiniteSpace

RIGHT = {
    "ex-probability-screening": "(once.posterior[0], twice.posterior[0])",
    "ex-probability-doors": "(knows, blind)",
    "ex-probability-standardised": "(table_of_rates,)",
    "ex-probability-conditional-entropy": "(np.array([[0.9, 0.05], [0.0, 0.05]]), 1)",
    "ex-probability-gaussian-kl": "(gaussian_kl,)",
    "ex-probability-break": (
        "('probability-sum-rule', 'probability-ci-factorisation',"
        " 'probability-dirichlet-moments', 'probability-gaussian-block', 'probability-gibbs')"
    ),
}


def space(*, open_0=False, show=False, biased=False, blind=False):
    """The pairs (car, opened) of a host, with room for slips."""
    weights = {}
    for car in range(3):
        doors = [d for d in range(3) if (open_0 or d) and (blind or show or d != car)]
        shares = [Fraction(1, len(doors))] * len(doors)
        if biased and len(doors) == 2:
            shares = [Fraction(1, 4), Fraction(3, 4)]
        weights |= {(car, d): p / 3 for d, p in zip(doors, shares)}
    return FiniteSpace(weights)


def kl(half=0.5, d=True, sign=1, square=True, swap=False, roots=False, trace=True):
    """The divergence of two Gaussians, with room for slips."""

    def gaussian_kl(m1, S1, m2, S2):
        if swap:
            m1, S1, m2, S2 = m2, S2, m1, S1
        P, gap = np.linalg.inv(S2), np.asarray(m2) - m1
        logs = np.linalg.slogdet(S2)[1] - np.linalg.slogdet(S1)[1]
        form = gap @ (P if square else np.eye(len(gap))) @ gap
        size = (np.trace(P @ S1) if trace else np.trace(S1) / np.trace(S2)) - (len(gap) if d else 1)
        return half * (size + form + sign * logs * (0.5 if roots else 1))

    return gaussian_kl


BREAK = [
    f"probability-{name}"
    for name in (
        "sum-rule",
        "ci-factorisation",
        "dirichlet-moments",
        "gaussian-block",
        "gibbs",
    )
]

WRONG = {
    "ex-probability-screening": [
        (0.99, 0.9999),  # the condition transposed
        (Fraction(11, 566), Fraction(11, 566) ** 2),
        (Fraction(99, 599), 0.7973),  # the prior forgotten for the healthy
    ],
    "ex-probability-doors": [
        (space(blind=True), space(blind=True)),
        (space(), space()),
        (space(open_0=True), space(blind=True)),
        (space(biased=True), space(blind=True)),
        (space(), space(blind=True, open_0=True)),
    ],
    "ex-probability-standardised": [
        ([[0.4452, 0.5162], [0.3025, 0.3035]],),  # turned round
        ([[0.4452, 0.4452], [0.3035, 0.3035]],),  # the observed rates
        ([[0.4452, 0.3035], [0.4452, 0.3035]],),
    ],
    "ex-probability-conditional-entropy": [
        (np.array([[0.9, 0.05], [0.0, 0.05]]), 0),  # the other y
        (np.array([[0.25, 0.25], [0.25, 0.25]]), 1),  # independent
        (np.array([[0.9, 0.05], [0.0, 0.5]]), 1),  # adds up to more than 1
        (np.array([[0.9, 0.0], [0.05, 0.05]]), 1),  # turned round
    ],
    "ex-probability-gaussian-kl": [
        (kl(swap=True),),
        (kl(half=1.0),),
        (kl(d=False),),
        (kl(sign=-1),),
        (kl(square=False),),
        (kl(roots=True),),
        (kl(trace=False),),
    ],
    "ex-probability-break": [
        ["probability-total-variance", *BREAK[1:]],
        [*BREAK[:3], "probability-gaussian-marginal", BREAK[4]],  # the marginal is as it was
        [*BREAK[:4], "probability-entropy"],
        BREAK[:3],
    ],
}
