"""Answers to the exercises of *Support vector machines*: the chapter's own, and wrong ones."""

import itertools

import numpy as np

RIGHT = {
    "ex-support-vector-machines-hulls": (
        "(lambda X, y, lam: (2 / ((lam * y) @ X @ X.T @ (lam * y)),) * 2,)"
    ),
    "ex-support-vector-machines-widen": "([-1, 1, -0.25], [-1, 1, 1], 1.0)",
    "ex-support-vector-machines-certificate": "(relative_gap,)",
    "ex-support-vector-machines-grid": "(table, near)",
    "ex-support-vector-machines-break": "(['support-vector-machines-smo'] * 5,)",
}


def best(s=lambda q: 2 / q, D=lambda s, q: 2 * s - s * s * q / 2):
    """The best scale of the dual and its value, with room for slips; q is the squared distance."""

    def scale(X, y, lam):
        q = np.sum(((lam * y) @ X) ** 2)
        return s(q), D(s(q), q)

    return scale


def gap(*, free=0.0, repair=True, lighter=min, by=lambda P, D: P, value=1.0):
    """A guessed certificate, with room for slips."""

    def relative_gap(X, y, C, w, b):
        m = y * (X @ w + b)
        alpha = np.where(m < 1, C, free * C)
        if repair:
            sides = alpha[y > 0].sum(), alpha[y < 0].sum()
            keep = [lighter(sides) / side if side else 0.0 for side in sides]
            alpha = alpha * np.where(y > 0, *keep)
        v = (alpha * y) @ X
        D, P = alpha.sum() - value * v @ v / 2, w @ w / 2 + C * np.maximum(0, 1 - m).sum()
        return (P - D) / by(P, D)

    return relative_gap


rng = np.random.default_rng(0)
GRID = list(itertools.product((0.1, 1, 10), (0.3, 1, 3)))
LIKE = np.broadcast_to(np.array([[36, 14, 15], [14, 10, 12], [35, 11, 10]])[..., None, None] / 80,
                       (3, 3, 4, 2)) * 100  # fmt: skip
TABLE = LIKE + 1.25 * (np.arange(2) - np.arange(4)[:, None] % 2)
S, G = "support-vector-machines-smo", "support-vector-machines-gap"
Q = "support-vector-machines-certificates"

WRONG = {
    "ex-support-vector-machines-hulls": [
        (best(lambda q: 1 / q),),
        (best(lambda q: 2 / q**0.5),),  # the distance for its square
        (best(D=lambda s, q: 1 / q),),
        (best(D=lambda s, q: s - s * s * q / 2),),  # one class only in the sum
        (lambda X, y, lam: 2 / np.sum(((lam * y) @ X) ** 2),),  # s alone
    ],
    "ex-support-vector-machines-widen": [
        ([-1, 1, 0.25], [-1, 1, -1], 1e6),  # as good as hard: the street gets narrower
        ([-1, 1, 2], [-1, 1, 1], 1.0),  # it changes nothing
        ([-1, 1, -0.25], [-1, 1, 1], np.inf),  # the hard margin
        ([-1, 1, -0.25], [1, 1, -1], 1.0),  # no street before the third
        ([-1, 1, -0.25, 3], [-1, 1, 1, 1], 1.0),
    ],
    "ex-support-vector-machines-certificate": [
        (gap(repair=False),),
        (gap(lighter=max),),  # stretches the lighter side, out of the box
        (gap(by=lambda P, D: D or 1.0),),
        (gap(by=lambda P, D: 1.0),),  # not relative
        (gap(value=2.0),),  # forgets the half
        (gap(free=1.0),),  # C for every example
    ],
    "ex-support-vector-machines-grid": [
        (TABLE, GRID),  # all of them
        (TABLE, [(10, 3)]),  # the best alone
        (TABLE.mean(axis=3), [(1, 1), (10, 3)]),  # divisions averaged
        (TABLE / 100, [(1, 1), (10, 3), (1, 3), (10, 1)]),  # shares
        (TABLE.swapaxes(0, 1)[:, ::-1], [(1, 1), (10, 3)]),
    ],
    "ex-support-vector-machines-break": [
        ([G, S, S, S, S],),  # says nothing of the algorithm
        ([S, S, Q, S, S],),
        ([S, S, S, S],),
        ([S, S, "support-vector-machines-no-such-claim", S, S],),
    ],
}
