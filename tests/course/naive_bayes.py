"""Answers to the exercises of *Naive Bayes*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-naive-bayes-missing": (
        "(lambda prior, tables, x: np.exp(log_posterior(scores(prior,"
        " categorical_log_likelihoods([x], tables))))[0],)"
    ),
    "ex-naive-bayes-loo": (
        "(leave_one_out, np.sum(loo.argmax(axis=1) == y),"
        " np.sum(CategoricalNB().fit(X, y).predict(X) == y))"
    ),
    "ex-naive-bayes-affine": "(one, zero)",
    "ex-naive-bayes-temperature": (
        "(lambda log_p, T: np.exp(log_posterior(log_p / T)),"
        " lambda log_p, y: max(np.arange(1, 8, 0.25), key=lambda T:"
        " log_posterior(log_p / T)[np.arange(len(y)), y].mean()))"
    ),
    "ex-naive-bayes-break": (
        "('naive-bayes-laplace-smoothing', 'naive-bayes-laplace-smoothing',"
        " 'naive-bayes-mle', 'naive-bayes-gaussian-nb')"
    ),
}


def posterior(last=False, likely=False, prior=True, normalised=True):
    """A posterior with some features left out, with room for slips."""

    def of(pi, tables, x):
        p = np.array(pi) if prior else np.ones(len(pi))
        for table, v in zip(tables, x):
            if v >= 0 or last:
                p = p * table[:, v]
            elif likely:
                p = p * table.max(axis=1)
        return p / p.sum() if normalised else p

    return of


def without(*, day=True, label=True, add=1, values=(3, 3, 2, 2), turned=False):
    """Predict each day from the others, with room for slips."""

    def leave_one_out(X, y):
        p = []
        for i, x in enumerate(X):
            rest = np.arange(len(X)) != i if day else np.ones(len(X), dtype=bool)
            g = np.array([np.mean(y[rest if label else slice(None)] == k) for k in (0, 1)])
            for k in (0, 1):
                rows = X[rest & (y == k)]
                for j, V in enumerate(values):
                    g[k] *= (add + np.sum(rows[:, j] == x[j])) / (len(rows) + add * V)
            p.append(g[::-1] / g.sum() if turned else g / g.sum())
        return np.array(p)

    return leave_one_out


def cool(log_p, T):
    p = np.exp(log_p / T)
    return p / p.sum(axis=1, keepdims=True)


def choose(measure=lambda p, y: np.log(p[np.arange(len(y)), y]).mean(), last=8):
    grid = np.arange(1, last, 0.25)
    return lambda log_p, y: max(grid, key=lambda T: measure(cool(log_p, T), y))


H = np.array([[9, 1], [1, 2]]) / 13
SMOOTH, MLE, GAUSS = (f"naive-bayes-{name}" for name in ("laplace-smoothing", "mle", "gaussian-nb"))
WRONG = {
    "ex-naive-bayes-missing": [
        (posterior(last=True),),  # -1 picks the last value
        (posterior(likely=True),),  # filled in by the most probable value
        (posterior(prior=False),),
        (posterior(normalised=False),),
    ],
    "ex-naive-bayes-loo": [
        (without(day=False), 7, 13),  # nothing is left out
        (without(label=False), 7, 13),  # the prior has seen the day
        (without(add=0.5), 7, 13),
        (without(values=(3, 3, 3, 3)), 7, 13),
        (without(turned=True), 7, 13),
        (without(), 13, 13),
    ],
    "ex-naive-bayes-affine": [
        (H, H * [[1, 2], [4, 8]]),  # not divided by its sum
        (H, np.array([[1, 1], [1, 7]]) / 10),  # the odds are not affine
        (np.full((2, 2), 0.25), np.outer([0.3, 0.7], [0.4, 0.6])),  # independent
        (np.eye(2) / 2, np.diag([0.25, 0.75])),  # cells that are never seen
    ],
    "ex-naive-bayes-temperature": [
        (lambda log_p, T: cool(log_p, 1 / T), choose()),  # multiplied
        (lambda log_p, T: np.exp(log_p / T), choose()),  # not normalised
        (cool, choose(lambda p, y: np.mean(p.argmax(axis=1) == y))),  # no T changes that
        (cool, choose(lambda p, y: p[np.arange(len(y)), y].mean())),
        (cool, choose(last=2)),
    ],
    "ex-naive-bayes-break": [
        ([SMOOTH, MLE, MLE, GAUSS],),  # frequencies know no pseudocount
        ([SMOOTH, SMOOTH, SMOOTH, MLE],),
        ([SMOOTH, SMOOTH, MLE],),
        ([GAUSS, SMOOTH, MLE, GAUSS],),
    ],
}
