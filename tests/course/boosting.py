"""Answers to the exercises of *Boosting*: the chapter's own, and wrong ones."""

from math import log

import numpy as np

RIGHT = {
    "ex-boosting-vote": "(lambda g: __import__('math').atanh(2 * g),)",
    "ex-boosting-abstain": "(lambda p, m, z: (log(p / m) / 2, z + 2 * (p * m)**0.5),)",
    "ex-boosting-one-against-rest": "(one_against_rest,)",
    "ex-boosting-shrinkage": "(table, *(gain > 3 * error))",
    "ex-boosting-break": (
        "('boosting-best-stump', 'boosting-half-claim', 'boosting-newton-leaf',"
        " 'boosting-histogram')"
    ),
}


def against_rest(*, pick=np.argmax, best=lambda y, k: np.where(y == k, 1, -1), rounds=50):
    """One committee of stumps for each class, with room for slips."""
    from mllib.boosting import adaboost, committee_score

    def answers(X, y, Q):
        runs = [adaboost(X, best(y, k), rounds) for k in range(3)]
        return pick([committee_score(R, Q) / np.abs(R.alpha).sum() for R in runs], axis=0)

    return answers


rng = np.random.default_rng(0)
WIDE = rng.uniform(0.4, 1.0, (20, 1))  # divisions differ more than the ways
TABLE = WIDE * [1.0, 0.8, 0.795] + rng.normal(scale=0.01, size=(20, 3))
H, N, B, M = (f"boosting-{name}" for name in ("half-claim", "newton-leaf", "best-stump", "margins"))

WRONG = {
    "ex-boosting-vote": [
        (lambda g: log((1 + 2 * g) / (1 - 2 * g)),),  # without the half
        (lambda g: 0.5 * log((1 - g) / g),),  # the edge for the error
        (lambda g: 0.5 * log((1 - 2 * g) / (1 + 2 * g)),),
        (lambda g: 1.0,),
        (lambda g: g,),
    ],
    "ex-boosting-abstain": [
        (lambda p, m, z: (log(p / m), z + 2 * (p * m) ** 0.5),),
        (lambda p, m, z: (log(m / p) / 2, z + 2 * (p * m) ** 0.5),),
        (lambda p, m, z: (log(p / m) / 2, 2 * (p * m) ** 0.5),),  # zeros forgotten
        (lambda p, m, z: (log((1 - m) / m) / 2, z + 2 * (p * m) ** 0.5),),  # zeros as right
        (lambda p, m, z: log(p / m) / 2,),
    ],
    "ex-boosting-one-against-rest": [
        (against_rest(pick=np.argmin),),
        (against_rest(best=lambda y, k: np.where(y <= k, 1, -1)),),  # up to the class
        (against_rest(rounds=1),),
        (lambda X, y, Q: against_rest()(X, y, Q) + 1,),  # labels from 1
        (lambda X, y, Q: against_rest()(X, y, X),),
    ],
    "ex-boosting-shrinkage": [
        (TABLE, False, False),  # three standard errors of each mean, not of the differences
        (TABLE, True, True),
        (TABLE[:, ::-1], True, False),
        (TABLE.T, True, False),
        (1 - TABLE, True, False),  # shares explained
        (TABLE, 0.2, 0.0),
    ],
    "ex-boosting-break": [
        ([H, H, N, "boosting-histogram"],),  # the half claim takes any stump
        ([B, H, N, "boosting-no-such-claim"],),
        ([B, H, M, "boosting-histogram"],),
        ([B, H, N, N],),
        ([B, H, N],),
    ],
}
