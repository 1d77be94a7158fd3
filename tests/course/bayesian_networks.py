"""Answers to the exercises of *Bayesian networks*: the chapter's own, and wrong ones."""

import numpy as np

from mllib.bayesian_networks import sample

RIGHT = {
    "ex-bayesian-networks-selection": "(correlation,)",
    "ex-bayesian-networks-cancellation": (
        "(F(1, 2), [row[1] for row in m_given_x], [[F(v, 10) for v in row] for row in y_given])"
    ),
    "ex-bayesian-networks-rejection": "(rejection,)",
    "ex-bayesian-networks-prior": (
        "(not d_separated(winner, 1, 2, 0), bool(unequal < 1e-6), unequal)"
    ),
    "ex-bayesian-networks-break": (
        "('bayesian-networks-reachability', 'bayesian-networks-blanket',"
        " 'bayesian-networks-dirichlet-bn')"
    ),
}


def rejecting(*, how=np.all, ones=False, seed=None, whole=False, seen=True):
    """Rejection sampling, with room for slips."""

    def rejection(net, query, evidence, n, rng):
        rows = sample(net, n, rng if seed is None else np.random.default_rng(seed))
        at = net.names.index
        agree = [rows[:, at(k)] == (1 if ones else v) for k, v in evidence.items()]
        keep = how(agree, axis=0) if evidence and seen else np.full(n, True)
        return rows[keep] if whole else rows[keep, at(query)]

    return rejection


R, B, D, G = (
    f"bayesian-networks-{name}" for name in ("reachability", "blanket", "dirichlet-bn", "gibbs")
)
WRONG = {
    "ex-bayesian-networks-selection": [(0,), (0.9,), (-0.2244,), (-0.1111,)],
    "ex-bayesian-networks-cancellation": [
        (0.5, [0.25, 0.75], [[0.4, 0.8], [0.3, 0.6]]),  # nothing cancels
        (0.5, [0.5, 0.5], [[0.4, 0.6], [0.3, 0.7]]),  # m does not hear of x
        (0.5, [0.25, 0.75], [[0.3, 0.6], [0.3, 0.4]]),  # two rows are equal
        (1, [0.25, 0.75], [[0.4, 0.8], [0.2, 0.6]]),  # x is certain
    ],
    "ex-bayesian-networks-rejection": [
        (rejecting(how=np.any),),
        (rejecting(ones=True),),
        (rejecting(seed=3),),
        (rejecting(whole=True),),
        (rejecting(seen=False),),
    ],
    "ex-bayesian-networks-prior": [
        (True, False, 1.0),
        (False, True, 0),
        (True, True, 0),
        (False, False, 0.001),
    ],
    "ex-bayesian-networks-break": [
        ([R, R, D],),  # the blanket is no question of walks
        ([R, B, B],),
        ([D, B, D],),
        ([R, B],),
    ],
}
