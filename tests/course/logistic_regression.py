"""Answers to the exercises of *Logistic regression*: the chapter's own, and wrong ones."""

RIGHT = {
    "ex-logistic-regression-one-input": "(kind_on_line,)",
    "ex-logistic-regression-stiemke": "(lam,)",
    "ex-logistic-regression-overshoot": "(low,)",
    "ex-logistic-regression-psi": (
        "([np.exp(grades.w[3]), *np.exp(wald_psi), *np.exp(ratio_psi), without, with_],)"
    ),
    "ex-logistic-regression-break": "(['logistic-regression-irls'] * 3,)",
}


def rule(*, one=True, both=True, equal=True, ties=True, alone="complete"):
    """Name the kind of a sample on the line, with room for slips."""

    def kind(x, y):
        a, b = x[y == 0], x[y == 1]
        if one and (len(a) == 0 or len(b) == 0):
            return alone
        if len(a) == 0 or len(b) == 0:
            return "overlap"
        apart = [a.max() - b.min(), b.max() - a.min() if both else 1]
        if min(apart) < 0:
            return "complete"
        if min(apart) == 0 and (equal is False or x[0] < x[-1]):
            return "quasi-complete" if ties else "complete"
        return "overlap"

    return kind


A, B = "logistic-regression-irls", "logistic-regression-convexity"
WRONG = {
    "ex-logistic-regression-one-input": [
        (rule(one=False),),  # a single class does not overlap
        (rule(alone="quasi-complete"),),
        (rule(both=False),),  # the positives may lie below
        (rule(equal=False),),  # all on the cut is no separation
        (rule(ties=False),),
        (lambda x, y: "overlap",),
    ],
    "ex-logistic-regression-stiemke": [
        ([1, 0, 1, 0],),  # not all positive
        ([1, 2, 3, 4],),
        ([-1, -1, -1, -1],),
        ([0.5, 0.5],),
        ([0, 0, 0, 0],),
    ],
    "ex-logistic-regression-overshoot": [(1.5,), (2,), (2.4,), (2.15,), (3.14,)],
    "ex-logistic-regression-psi": [
        ([2.38, 0.29, 4.47, 0.47, 4.81, 0.11, 0.56],),  # weights, not factors
        ([10.8, 1.6, 122.7, 1.3, 86.9, 0.11, 0.56],),  # the intervals exchanged
        ([10.8, 1.3, 86.9, 1.6, 122.7, 0.56, 0.11],),
        ([10.8, 1.3, 86.9, 1.6, 122.7, 0.34, 0.34],),
        ([5.3, 1.3, 86.9, 1.6, 122.7, 0.11, 0.56],),  # the ratio of the probabilities
        (10.8,),
    ],
    "ex-logistic-regression-break": [
        ([B, A, A],),  # that E is convex says nothing of steps
        ([A, B, A],),
        ([A, A],),
        ([A, A, B],),
    ],
}
