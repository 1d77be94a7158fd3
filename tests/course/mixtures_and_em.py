"""Answers to the exercises of *Mixtures and EM*: the chapter's own, and wrong ones."""

import numpy as np
from scipy.stats import multivariate_normal, poisson

from mllib.course.datasets import faithful

RIGHT = {
    "ex-mixtures-and-em-fuzzy": (
        "(lambda A, M: fuzzy(A, M)[0], lambda A, U: (U**2).T @ A / (U**2).sum(axis=0)[:, None])"
    ),
    "ex-mixtures-and-em-poisson": "(counts, count_e_step, count_m_step)",
    "ex-mixtures-and-em-linkage": (
        "(lambda t: (125 * t / (2 + t) + 34) / (125 * t / (2 + t) + 72), missing)"
    ),
    "ex-mixtures-and-em-ridge": "(X, *path[-1], 0.05)",
    "ex-mixtures-and-em-heldout": (
        "(folds, np.array([held_out[K] for K in (1, 2, 3, 4)])"
        "[:, np.argsort(np.argsort(folds, kind='stable'))])"
    ),
    "ex-mixtures-and-em-break": (
        "('mixtures-and-em-gmm-em', 'mixtures-and-em-complete-likelihood',"
        " 'mixtures-and-em-em-algorithm', 'mixtures-and-em-em-algorithm',"
        " 'mixtures-and-em-em-algorithm')"
    ),
}


def fuzzy(power=1, weight=2, shared=True):
    """Memberships 1 / D^power and centres with weights u^weight."""

    def memberships(X, M):
        U = ((X[:, None] - M) ** 2).sum(axis=2) ** -float(power)
        return U / U.sum(axis=1, keepdims=True) if shared else U

    return memberships, lambda X, U: (U**weight).T @ X / (U**weight).sum(axis=0)[:, None]


def balls(X, M):
    U = np.exp(-((X[:, None] - M) ** 2).sum(axis=2) / 2)
    return U / U.sum(axis=1, keepdims=True)


rng = np.random.default_rng(20)
COUNTS = np.where(rng.random(1000) < 0.6, rng.poisson(9, 1000), rng.integers(30, size=1000))


def mixed(*, n=30, mean=False, swapped=False, weighted=True):
    """Both steps for the counts, with room for slips."""

    def e_step(theta):
        P = theta[0] * poisson.pmf(COUNTS, theta[1]), np.full(1000, (1 - theta[0]) / n)
        P = np.column_stack(P)
        logs = np.log(P.sum(axis=1))
        return P / P.sum(axis=1, keepdims=True), logs.mean() if mean else logs.sum()

    def m_step(R):
        g = R[:, 0] if weighted else np.ones(1000)
        return R[:, int(swapped)].mean(), g @ COUNTS / g.sum()

    return COUNTS, e_step, m_step


def linkage(first=2, own=34, others=38):
    def once(theta):
        h = 125 * theta / (first + theta)
        return (h + own) / (h + own + others)

    return once


X, EYE = faithful().X, np.stack([np.eye(2)] * 2)
CENTRES, FOLDS = np.array([[2.0, 55], [4, 80]]), np.arange(272) % 10


def held(seen=False, order=None, together=True):
    """Held-out log-likelihoods of one and of two Gaussians, these two taken for all of K > 1."""
    scores = np.empty((4, 272))
    for f in range(10):
        A, B = X if seen else X[f != FOLDS], X[f == FOLDS]
        parts = [A[A[:, 0] < 3], A[A[:, 0] >= 3]]
        S = [np.cov(part.T, bias=True) for part in parts]
        S = [sum(len(p) * s for p, s in zip(parts, S)) / len(A)] * 2 if together else S
        laws = [multivariate_normal(p.mean(axis=0), s) for p, s in zip(parts, S)]
        scores[0, f == FOLDS] = multivariate_normal(A.mean(axis=0), np.cov(A.T, bias=True)).logpdf(
            B
        )
        both = sum(len(p) / len(A) * law.pdf(B) for p, law in zip(parts, laws))
        scores[1:, f == FOLDS] = np.log(both)
    return FOLDS, scores if order is None else scores[:, order]


G, C, E, R = (
    f"mixtures-and-em-{name}"
    for name in ("gmm-em", "complete-likelihood", "em-algorithm", "responsibilities")
)
WRONG = {
    "ex-mixtures-and-em-fuzzy": [
        fuzzy(power=0.5),  # the distances for their squares
        fuzzy(weight=1),
        fuzzy(shared=False),
        (balls, fuzzy()[1]),  # responsibilities
        fuzzy(power=2),
    ],
    "ex-mixtures-and-em-poisson": [
        mixed(n=29),
        mixed(mean=True),
        mixed(swapped=True),
        mixed(weighted=False),
        (COUNTS[:100], *mixed()[1:]),
    ],
    "ex-mixtures-and-em-linkage": [
        (linkage(), 0.8672),  # the share that is observed
        (linkage(first=1), 0.1328),
        (linkage(own=0), 0.1328),  # forgets the last cell
        (linkage(others=72), 0.1328),
        (lambda theta: 0.6268, 0.1328),
    ],
    "ex-mixtures-and-em-ridge": [
        (X, [0.5, 0.5], CENTRES, 30 * EYE, 0.05),  # climbs
        (X, [0.36, 0.64], CENTRES, 30 * EYE, 0.0),
        (X, [0.36, 0.36], CENTRES, 30 * EYE, 0.05),
        (X, [0.36, 0.64], CENTRES, 0 * EYE, 0.05),
    ],
    "ex-mixtures-and-em-heldout": [
        held(seen=True),
        held(order=np.argsort(FOLDS, kind="stable")),  # fold after fold
        held(together=False),
        (FOLDS, held()[1].mean(axis=1)),
        (np.arange(272) // 50, held()[1]),
    ],
    "ex-mixtures-and-em-break": [
        ([G, C, C, E, E],),  # the labels are known there
        ([R, C, E, E, E],),  # nothing is fitted there
        ([G, C, E, E],),
        ([G, R, E, E, E],),
    ],
}
