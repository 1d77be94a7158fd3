"""Answers to the exercises of *Bias and variance*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-bias-variance-optimism": (
        "([exact_parts(r).squared_bias + sigma**2 * (1 - (r + 1) / 30)"
        " for r in (0, 1, 3, 5, 8, 15)],)"
    ),
    "ex-bias-variance-counterexample": "(worst, 1, 3)",
    "ex-bias-variance-neighbours": "(neighbour_smoother,)",
    "ex-bias-variance-patients": "([20, 20, 20], [1, 0.5, 0.12], [0.62, 0.28, 0.04])",
    "ex-bias-variance-break": (
        "('bias-variance-pointwise-decomposition', 'none', 'bias-variance-linear-smoother',"
        " 'bias-variance-vector-estimator-decomposition', 'none')"
    ),
}


def neighbours(*, last=False, weight=lambda k: 1 / k, extra=0, turned=False):
    """The matrix of the k nearest, with room for slips."""

    def neighbour_smoother(x, x_new, k):
        S = np.zeros((len(x_new), len(x)))
        for row, at in zip(S, x_new):
            order = sorted(range(len(x)), key=lambda i: (abs(x[i] - at), -i if last else i))
            row[order[: k + extra]] = weight(k + extra)
        return S.T if turned else S

    return neighbour_smoother


BIAS = [0.475, 0.21970, 0.00555, 0.00003, 0.0, 0.0]
POINT, SUM, SMOOTH, VECTOR, DEGREES = (
    f"bias-variance-{name}"
    for name in (
        "pointwise-decomposition",
        "integrated-decomposition",
        "linear-smoother",
        "vector-estimator-decomposition",
        "polynomial-degrees-example",
    )
)
WRONG = {
    "ex-bias-variance-optimism": [
        ([b + 0.25 * (1 - r / 30) for b, r in zip(BIAS, (0, 1, 3, 5, 8, 15))],),  # p = r
        ([b + 0.25 * (1 + (r + 1) / 30) for b, r in zip(BIAS, (0, 1, 3, 5, 8, 15))],),
        ([b + 0.25 * (1 - 2 * (r + 1) / 30) for b, r in zip(BIAS, (0, 1, 3, 5, 8, 15))],),
        ([0.721, 0.452, 0.222, 0.200, 0.175, 0.117],),  # the simulation
    ],
    "ex-bias-variance-counterexample": [
        (3, 3, 1),  # exchanged
        (2, 1, 3),  # falls here, as on average
        (4, 1, 2),  # the same up to rounding
        (30, 1, 3),
        (5, 25, 29),  # rounding errors
    ],
    "ex-bias-variance-neighbours": [
        (neighbours(last=True),),  # the higher index at a tie
        (neighbours(weight=lambda k: 1.0),),
        (neighbours(weight=lambda k: 1 / k**0.5),),
        (neighbours(extra=1),),
        (neighbours(turned=True),),
    ],
    "ex-bias-variance-patients": [
        ([5, 20, 80], [0.25, 0.5, 0.5], [0.62, 0.28, 0.04]),
        ([20, 20, 20], [20, 20, 20], [0.62, 0.28, 0.04]),
        ([20, 20, 20], [1, 0.5, 0.125], [0.04, 0.28, 0.62]),
        ([20, 20, 20], [1, 0.5, 0.125], [0.38, 0.22, 0.03]),  # at another penalty
    ],
    "ex-bias-variance-break": [
        ([POINT, POINT, SMOOTH, VECTOR, "none"],),
        (["none", "none", SMOOTH, VECTOR, "none"],),
        ([POINT, "none", SMOOTH, VECTOR, DEGREES],),
        ([SUM, "none", SMOOTH, VECTOR, "none"],),
        ([POINT, SMOOTH, VECTOR],),
    ],
}
