"""Answers to the exercises of *Bayesian regression*: the chapter's own, and wrong ones."""

import numpy as np

from mllib.bayesian_regression import evidence_maximization, offset_free
from mllib.course.datasets import diabetes

RIGHT = {
    "ex-bayesian-regression-shrink": (
        "(lambda S, x, new, beta: beta * (x @ S @ new)**2 / (1 + beta * new @ S @ new),)"
    ),
    "ex-bayesian-regression-surprise": (
        "(add_intercept(hours[:, None]), score, 0.01, 1.0, [1.0, 3.0], *targets,"
        " calm.covariance, shock.covariance)"
    ),
    "ex-bayesian-regression-prequential": "(prequential,)",
    "ex-bayesian-regression-gamma": (
        "(order, *zip(*[(run.gamma, run.alpha / run.beta) for n in (30, 60, 120, 240, 442)"
        " for run in [evidence_maximization(offset_free(sick.X[order[:n]]),"
        " offset_free(sick.y[order[:n]]))]]))"
    ),
    "ex-bayesian-regression-break": (
        "('bayesian-regression-blr-predictive', 'bayesian-regression-blr-general-prior',"
        " 'bayesian-regression-evidence', 'bayesian-regression-evidence-gradient',"
        " 'bayesian-regression-evidence-updates')"
    ),
}

X, Y, NEW = np.array([[1.0, 0], [1, 1], [1, 3]]), np.array([1.0, 2, 2]), np.array([1.0, 2])
SIGMA = np.linalg.inv(np.eye(2) + X.T @ X)
MEAN, WIDTH = NEW @ SIGMA @ X.T @ Y, np.sqrt(1 + NEW @ SIGMA @ NEW)
AFTER = np.linalg.inv(np.eye(2) + X.T @ X + np.outer(NEW, NEW))
TARGETS = (MEAN, MEAN + 1000 * WIDTH)


def prequential(*, noise=1.0, learn=True, late=False, mean=False, turned=False):
    """The sum of the log predictive densities, with room for slips."""

    def total(X, y, alpha, beta):
        alpha = 1 / alpha if turned else alpha
        A, b, said = alpha * np.eye(X.shape[1]), np.zeros(X.shape[1]), []
        for x, t in zip(X, y):
            new = A + beta * np.outer(x, x), b + beta * t * x
            A, b = new if late else (A, b)
            v, m = noise / beta + x @ np.linalg.solve(A, x), x @ np.linalg.solve(A, b)
            with np.errstate(divide="ignore", invalid="ignore"):
                said.append(-(np.log(2 * np.pi * v) + (t - m) ** 2 / v) / 2)
            A, b = new if learn else (A, b)
        return np.mean(said) if mean else np.sum(said)

    return total


ORDER, SICK = np.random.default_rng(9).permutation(442), diabetes()


def table(*, raw=False, wrong=lambda run: (run.gamma, run.alpha / run.beta)):
    """The order, the gammas and the penalties, with room for slips."""
    free = (lambda A: A) if raw else offset_free
    rows = [ORDER[:n] for n in (30, 60, 120, 240, 442)]
    runs = [evidence_maximization(free(SICK.X[r]), free(SICK.y[r])) for r in rows]
    return ORDER, *zip(*map(wrong, runs))


PREDICT, PRIOR, EVIDENCE, SLOPE, UPDATES, OFFSET = (
    f"bayesian-regression-{name}"
    for name in (
        "blr-predictive",
        "blr-general-prior",
        "evidence",
        "evidence-gradient",
        "evidence-updates",
        "free-offset",
    )
)
WRONG = {
    "ex-bayesian-regression-shrink": [
        (lambda S, x, new, beta: (x @ S @ new) ** 2 / (1 + new @ S @ new),),  # beta forgotten
        (lambda S, x, new, beta: beta * (x @ S @ new) / (1 + beta * new @ S @ new),),
        (lambda S, x, new, beta: beta * (x @ S @ new) ** 2 / (1 + beta * x @ S @ x),),
        (lambda S, x, new, beta: beta * (x @ S @ new) ** 2,),
        (lambda S, x, new, beta: (x @ S @ new) ** 2 / (1 + new @ S @ new / beta),),
    ],
    "ex-bayesian-regression-surprise": [
        (X, Y, 1, 1, NEW, MEAN, MEAN + 100, AFTER, AFTER),  # not far enough
        (X, Y, 1, 1, NEW, 0.0, TARGETS[1], AFTER, AFTER),  # not on the line
        (X, Y, 1, 1, NEW, *TARGETS, SIGMA, SIGMA),  # before the update
        (X, Y, 1, 1, NEW, *TARGETS, AFTER, AFTER * 1e5),  # with the noise that it shows
        (X, Y, 1, 1, NEW, *TARGETS, AFTER + 0.1, AFTER + 0.1),
    ],
    "ex-bayesian-regression-prequential": [
        (prequential(noise=0.0),),
        (prequential(learn=False),),
        (prequential(late=True),),  # updates on a row before it is predicted
        (prequential(mean=True),),
        (prequential(turned=True),),  # a variance for a precision
    ],
    "ex-bayesian-regression-gamma": [
        table(raw=True),  # not centred
        table(wrong=lambda run: (run.gamma, run.beta / run.alpha)),
        table(wrong=lambda run: (run.gamma, run.alpha)),
        table(wrong=lambda run: (10 - run.gamma, run.alpha / run.beta)),
        table(wrong=lambda run: (9.999, 1e-9)),  # least squares
        (np.sort(ORDER), *table()[1:]),  # another order
    ],
    "ex-bayesian-regression-break": [
        ([EVIDENCE, PRIOR, EVIDENCE, SLOPE, UPDATES],),
        ([PREDICT, PREDICT, EVIDENCE, SLOPE, UPDATES],),
        ([PREDICT, PRIOR, EVIDENCE, OFFSET, UPDATES],),
        ([PREDICT, PRIOR, EVIDENCE, SLOPE],),
    ],
}
