"""Answers to the exercises of *Model selection*: the chapter's own, and wrong ones."""

import numpy as np
from scipy.stats import norm
from sklearn.neighbors import KNeighborsClassifier

RIGHT = {
    "ex-model-selection-worst": "(nothing, tied, Majority())",
    "ex-model-selection-groups": "(group_folds,)",
    "ex-model-selection-question": (
        "(difference, difference.mean(), error, difference.mean() / error)"
    ),
    "ex-model-selection-consistency": (
        "(lambda n: 2 * norm.sf(np.sqrt(np.log(n))), lambda n: 2 * norm.sf(np.sqrt(2)))"
    ),
    "ex-model-selection-break": (
        "('model-selection-k-fold-cv', 'model-selection-loocv-shortcut',"
        " 'model-selection-gcv-rotation', 'model-selection-bic-linear')"
    ),
}


class Answer:
    """A classifier that gives one answer: a rule of the share of ones that it has learned."""

    def __init__(self, rule):
        self.rule = rule

    def fit(self, X, y):
        self.answer = int(self.rule(np.mean(y)))

    def predict(self, X):
        return np.full(len(X), self.answer)


def folds(*, rows=False, swapped=False, overlap=False, few=0):
    """Folds that respect groups, with room for slips."""

    def group_folds(groups, k):
        names = np.unique(groups)
        number = {name: i % k for i, name in enumerate(names)}
        fold = np.arange(len(groups)) % k if rows else np.array([number[g] for g in groups])
        everything = np.arange(len(groups))
        parts = [(fold != j, fold == j) for j in range(k - few)]
        pairs = [(everything[a | b if overlap else a], everything[b]) for a, b in parts]
        return [pair[::-1] for pair in pairs] if swapped else pairs

    return group_folds


X, Y = np.zeros((20, 1)), np.repeat([0, 1], 10)
D = np.array([400.0, 900, 100, 350, 600, -100, 250, 500, 200, 300])
ERROR = D.std(ddof=1) / 10**0.5
CV, SHORTCUT, GCV, BIC, EVIDENCE = (
    f"model-selection-{name}"
    for name in ("k-fold-cv", "loocv-shortcut", "gcv-rotation", "bic-linear", "bic-evidence")
)


def of_bic(n):
    return 2 * norm.sf(np.sqrt(np.log(n)))


def of_two(n):
    return 2 * norm.sf(np.sqrt(2))


WRONG = {
    "ex-model-selection-worst": [
        (X, np.repeat([0, 1], [9, 11]), Answer(lambda share: share > 0.5)),  # not tied
        (X, Y, Answer(lambda share: share < 0.5)),  # the minority: never wrong
        (X, Y, Answer(lambda share: True)),
        (np.arange(20.0)[:, None], np.arange(20) % 2, KNeighborsClassifier(1)),  # looks at X
        (X, np.zeros(20, dtype=int), Answer(lambda share: True)),  # one class
    ],
    "ex-model-selection-groups": [
        (folds(rows=True),),
        (folds(swapped=True),),
        (folds(overlap=True),),
        (folds(few=1),),  # some rows are never left out
        (lambda groups, k: folds()(groups, len(np.unique(groups))),),
    ],
    "ex-model-selection-question": [
        (D, D.mean(), D.std(ddof=1), D.mean() / D.std(ddof=1)),  # of one fold
        (D, D.mean(), D.std() / 10**0.5, D.mean() / D.std() * 10**0.5),
        (-D, -D.mean(), ERROR, -D.mean() / ERROR),  # ridge minus neighbours
        (D, D.mean(), ERROR, D.mean()),
        (D[:5], D[:5].mean(), D[:5].std(ddof=1) / 5**0.5, 3.5),
    ],
    "ex-model-selection-consistency": [
        (lambda n: of_bic(n) / 2, of_two),  # one side of the normal law
        (of_bic, lambda n: of_two(n) / 2),
        (lambda n: 2 * norm.sf(np.log(n)), of_two),  # without the root
        (of_bic, lambda n: 2 * norm.sf(1)),
        (of_bic, of_bic),
        (lambda n: of_bic(800), of_two),  # does not tend to 0
    ],
    "ex-model-selection-break": [
        ([CV, SHORTCUT, SHORTCUT, BIC],),
        ([CV, SHORTCUT, GCV, EVIDENCE],),
        ([SHORTCUT, SHORTCUT, GCV, BIC],),
        ([CV, SHORTCUT, GCV],),
    ],
}
