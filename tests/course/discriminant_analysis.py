"""Answers to the exercises of *Discriminant analysis*: the chapter's own, and wrong ones."""

import numpy as np

from mllib.course.datasets import breast_cancer, iris
from mllib.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

RIGHT = {
    "ex-discriminant-analysis-features": "([0.0, 0.0], [1.0, 0.0], Sigma)",
    "ex-discriminant-analysis-same-centre": "(*cross.covariances, error, [1.0, 0.0], 0.7)",
    "ex-discriminant-analysis-least-squares": (
        "(np.linalg.lstsq(np.column_stack([np.ones(100), flowers.X[50:]]),"
        " np.repeat([-1.0, 1.0], 50), rcond=None)[0][1:],"
        " LinearDiscriminantAnalysis().fit(flowers.X[50:], flowers.y[50:]).coef_[0], True, False)"
    ),
    "ex-discriminant-analysis-lda-or-qda": "(compare, 'LDA', 'QDA')",
    "ex-discriminant-analysis-break": (
        "('discriminant-analysis-qda', 'discriminant-analysis-additive',"
        " 'discriminant-analysis-lda-logistic-equivalence',"
        " 'discriminant-analysis-fisher-subspace')"
    ),
}


tumours = breast_cancer()


def race(*, held_out=True, turned=False, accuracy=False, seeded=True, part=2):
    """Held-out errors of both rules, with room for slips."""

    def compare(n, seed):
        rng = np.random.default_rng(seed if seeded else 0)
        kinds = [rng.permutation(np.flatnonzero(tumours.y == k)) for k in (0, 1)]
        train = np.concatenate([kind[: n // part] for kind in kinds])
        test = np.setdiff1d(np.arange(569), train) if held_out else train
        X, y = tumours.X[:, :5], tumours.y
        scores = [
            rule.fit(X[train], y[train]).score(X[test], y[test])
            for rule in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis())
        ]
        errors = scores if accuracy else [1 - score for score in scores]
        return errors[::-1] if turned else errors

    return compare


X, y = iris().X[50:], iris().y[50:]
GAP, ROOT = X[50:].mean(axis=0) - X[:50].mean(axis=0), np.sqrt(0.75)
W = LinearDiscriminantAnalysis().fit(X, y).coef_[0]
LONG, TALL = np.diag([9.0, 1 / 9]), np.diag([1 / 9, 9.0])
QDA, ADD, LOGIT, FISHER = (
    f"discriminant-analysis-{name}"
    for name in ("qda", "additive", "lda-logistic-equivalence", "fisher-subspace")
)
WRONG = {
    "ex-discriminant-analysis-features": [
        ([0, 0], [1, 0], [[1, 0.75], [0.75, 1]]),  # the square of the correlation
        ([0, 0], [1, 3**0.5], np.eye(2)),  # the means of the second feature differ
        ([0, 0], [1, 0], [[1, ROOT], [0, 1]]),  # not symmetric
        ([0, 0], [2, 0], np.eye(2)),
        ([0, 0], [1, 0], [[1, 2], [2, 1]]),  # no covariance
    ],
    "ex-discriminant-analysis-same-centre": [
        (LONG, TALL, 0.0705, [1.0, 0.0], 0.0),  # through the centre
        (LONG, TALL, 0.0705, [1.0, 0.0], -0.7),  # the classes exchanged
        (LONG, TALL, 0.141, [1.0, 0.0], 0.7),  # without the priors
        (np.eye(2), 9 * np.eye(2), 0.15, [1.0, 0.0], 0.7),  # determinants differ
        (np.diag([4, 1 / 4]), np.diag([1 / 4, 4]), 0.1561, [1.0, 0.0], 0.7),
        (LONG, LONG, 0.5, [1.0, 0.0], 0.7),
    ],
    "ex-discriminant-analysis-least-squares": [
        (GAP, W, True, False),  # the line between the means
        (W, GAP, True, False),
        (W, W, True, True),
        (W, W, False, False),
        (-W, -W, True, False),
    ],
    "ex-discriminant-analysis-lda-or-qda": [
        (race(held_out=False), "LDA", "QDA"),  # errors on the patients that were fitted
        (race(turned=True), "LDA", "QDA"),
        (race(accuracy=True), "LDA", "QDA"),
        (race(seeded=False), "LDA", "QDA"),
        (race(part=1), "LDA", "QDA"),  # n patients of each kind
        (race(), "LDA", "LDA"),
    ],
    "ex-discriminant-analysis-break": [
        ([QDA, ADD, QDA, FISHER],),  # scores by scipy say nothing of the logistic form
        ([QDA, ADD, LOGIT, LOGIT],),
        ([ADD, QDA, LOGIT, FISHER],),
        ([QDA, ADD, LOGIT],),
    ],
}
