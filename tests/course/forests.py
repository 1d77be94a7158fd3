"""Answers to the exercises of *Forests*: the chapter's own, and wrong ones."""

import itertools
from fractions import Fraction
from math import e, exp, log

import numpy as np

RIGHT = {
    "ex-forests-half": (
        "(lambda n, alpha: ((1 - 1 / n)**alpha * np.exp(-alpha), np.exp(-alpha)), log(2))"
    ),
    "ex-forests-turns": (
        "({(0, 1, 1): F(1, 3), (1, 0, 1): F(1, 3), (1, 1, 0): F(1, 3)},"
        " {(1, 1, 1): F(2, 3), (0, 0, 0): F(1, 3)}, averaging(cov).correlation, 1)"
    ),
    "ex-forests-neighbour": (
        "(lambda n: -np.diff((1 - np.arange(n + 1) / n)**n),"
        " lambda j: np.exp(-(j - 1)) * (1 - np.exp(-1)))"
    ),
    "ex-forests-targets": (
        "(lambda X, y, noise, Q: np.mean([(lambda T: T.value[apply(T, Q), 0])(grow(X, y + e))"
        " for e in noise], axis=0), errors)"
    ),
    "ex-forests-honest-shares": (
        "(lambda s, pi: pi * s / (pi * s + (1 - pi) * (1 - s)), lambda pi: 1 - pi)"
    ),
}


def full(X, y, Q, *, targets=None):
    """The answers of a full regression tree, its questions chosen for y."""
    targets = y if targets is None else targets
    if len(y) == 1 or np.ptp(y) == 0:
        return np.full(len(Q), targets.mean())
    cuts = [(j, m) for j in range(X.shape[1]) for v in [np.sort(X[:, j])]
            for m in (v[1:] + v[:-1]) / 2]  # fmt: skip
    cost = [sum(len(s) * s.var() for s in (y[X[:, j] <= m], y[X[:, j] > m])) for j, m in cuts]
    j, m = cuts[int(np.argmin(cost))]
    said = np.empty(len(Q))
    for rows, there in ((X[:, j] <= m, Q[:, j] <= m), (X[:, j] > m, Q[:, j] > m)):
        said[there] = full(X[rows], y[rows], Q[there], targets=targets[rows])
    return said


def noisy(X, y, noise, Q):
    return np.mean([full(X, y + e, Q) for e in noise], axis=0)


THIRD, F = Fraction(1, 3), Fraction
TURNS = {(0, 1, 1): THIRD, (1, 0, 1): THIRD, (1, 1, 0): THIRD}
ONE = {(1, 1, 1): 2 * THIRD, (0, 0, 0): THIRD}
ALONE = {w: F(2 ** sum(w), 27) for w in itertools.product((0, 1), repeat=3)}
rng = np.random.default_rng(0)
ERRORS = np.array([0.5, 0.17, 0.18]) * rng.uniform(0.8, 1.2, (20, 3))


def ranks(n):
    return -np.diff((1 - np.arange(n + 1) / n) ** n)


def bayes(s, pi):
    return pi * s / (pi * s + (1 - pi) * (1 - s))


WRONG = {
    "ex-forests-half": [
        (lambda n, a: ((1 - 1 / n) * exp(-a), exp(-a)), log(2)),  # the power forgotten
        (lambda n, a: ((1 - 1 / n) ** a * exp(-a), exp(-a)), 0.5),
        (lambda n, a: ((1 - 1 / n) ** a * exp(-a), exp(-a)), 1 / log(2)),
        (lambda n, a: (0.0, exp(-a)), log(2)),  # no bound that gets near
        (lambda n, a: ((1 - 1 / n) ** a * a / e, a / e), e / 2),
    ],
    "ex-forests-turns": [
        (ONE, TURNS, 1, F(-1, 2)),  # exchanged
        (TURNS, ALONE, F(-1, 2), 0),  # independent voters gain
        (TURNS, ONE, F(-1, 3), 1),
        (TURNS, ONE, F(1, 3) - F(4, 9), 1 - F(2, 3)),  # covariances
        ({(1, 1, 0): 1}, ONE, F(-1, 2), 1),  # the third is never right
        ({(1, 1, 1): 1}, ONE, 1, 1),
    ],
    "ex-forests-neighbour": [
        (lambda n: ranks(n)[::-1], lambda j: exp(1 - j) - exp(-j)),
        (lambda n: ranks(n), lambda j: exp(-j) * (1 - exp(-1))),  # from 0
        (lambda n: ranks(n), lambda j: exp(-j)),
        (lambda n: (1 - np.arange(n) / n) ** n, lambda j: exp(1 - j) - exp(-j)),  # at least
        (lambda n: exp(1) ** -np.arange(n) * (1 - exp(-1)), lambda j: exp(1 - j) - exp(-j)),
    ],
    "ex-forests-targets": [
        (lambda X, y, noise, Q: full(X, y + noise.mean(axis=0), Q), ERRORS),  # one tree
        (lambda X, y, noise, Q: np.mean([full(X, y + e, Q, targets=y) for e in noise], axis=0),
         ERRORS),  # noise in the questions only
        (lambda X, y, noise, Q: full(X, y, Q), ERRORS),
        (noisy, ERRORS[:, ::-1]),
        (noisy, ERRORS.mean(axis=0)),
    ],
    "ex-forests-honest-shares": [
        (lambda s, pi: pi * s, lambda pi: 1 - pi),
        (bayes, lambda pi: pi),
        (bayes, lambda pi: 0.5),
        (lambda s, pi: bayes(s, 1 - pi), lambda pi: pi),
        (lambda s, pi: s * pi / (1 - pi), lambda pi: 1 - pi),  # not divided by the sum
    ],
}  # fmt: skip
