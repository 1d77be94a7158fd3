"""Answers to the exercises of *Decision theory*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-decision-theory-pinball": "(lambda missing, left: missing / (missing + left),)",
    "ex-decision-theory-likelihood-errors": "(y, cautious, bold)",
    "ex-decision-theory-information": "(joint, x > 0)",
    "ex-decision-theory-base-rate": "(posterior(positive, [0.99, 0.01])[0, 1], half)",
    "ex-decision-theory-cheapest": "(cheapest_threshold,)",
    "ex-decision-theory-break": (
        "('decision-theory-cost-rule', 'decision-theory-confusion-metrics',"
        " 'decision-theory-chow-rule', 'decision-theory-decision-regions',"
        " 'decision-theory-type-i-ii-errors')"
    ),
}


def cheapest(*, turned=False, strict=False, top=True, ties=True, bayes=False):
    """The cheapest threshold by trying all, with room for slips."""

    def cheapest_threshold(y, p, cost):
        if bayes:
            return (cost[1, 0] - cost[0, 0]) / (cost[1, 0] - cost[0, 0] + cost[0, 1] - cost[1, 1])
        C = cost.T if turned else cost
        order = np.argsort(p, kind="stable")
        thresholds = [*p[order], *([2.0] if top else [])]
        costs = []
        for k, t in enumerate(thresholds):
            said = (p > t if strict else p >= t) if ties else np.argsort(order) >= k
            costs.append(C[said.astype(int), y].mean())
        return thresholds[int(np.argmin(costs))]

    return cheapest_threshold


ONES, FOUR = np.array([1, 1, 1]), np.array([[0.3, 0.1], [0.2, 0.1], [0.05, 0.15], [0.02, 0.08]])
BREAK = [
    f"decision-theory-{name}"
    for name in (
        "cost-rule",
        "confusion-metrics",
        "chow-rule",
        "decision-regions",
        "type-i-ii-errors",
    )
]

WRONG = {
    "ex-decision-theory-pinball": [
        (lambda missing, left: left / (missing + left),),
        (lambda missing, left: 1 - left / missing / 2 if missing < 9 else 0.9,),
        (lambda missing, left: missing / left / 10 if missing > left else 0.5,),
        (lambda missing, left: missing**2 / (missing**2 + left**2),),
    ],
    "ex-decision-theory-likelihood-errors": [
        (ONES, [0.51, 0.51, 0.02], [0.49, 0.49, 0.99]),  # the other way round
        (ONES, [0.49, 0.49, 0.51], [0.51, 0.51, 0.49]),  # a larger loss
        (ONES, [0.9, 0.9, 0.9], [0.6, 0.6, 0.6]),  # the same number of errors
        (ONES, [0.49, 0.49, 0.99], [0.51, 0.51, 0.0]),
        (-ONES, [0.49, 0.49, 0.01], [0.51, 0.51, 0.98]),
    ],
    "ex-decision-theory-information": [
        (FOUR, [0, 1, 2, 3]),  # nothing is thrown away
        (FOUR, [0, 1, 1, 0]),  # the error rises
        (np.array([[0.4, 0.1], [0.4, 0.1]]), [0, 0]),  # the same row twice
        (10 * FOUR, [0, 0, 1, 1]),
    ],
    "ex-decision-theory-base-rate": [
        (0.75, 0.108),
        (0.0769, 0.12),
        (0.0769, 0.0096),
        (7.7, 10.8),
    ],
    "ex-decision-theory-cheapest": [
        (cheapest(turned=True),),
        (cheapest(strict=True),),
        (cheapest(top=False),),
        (cheapest(ties=False),),
        (cheapest(bayes=True),),
    ],
    "ex-decision-theory-break": [
        ["decision-theory-medical-cost-example", *BREAK[1:]],  # zeros on the diagonal
        [BREAK[0], "decision-theory-bayes-classifier", *BREAK[2:]],
        [*BREAK[:4], "decision-theory-neyman-pearson"],
        BREAK[:4],
    ],
}
