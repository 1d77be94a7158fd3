"""Bayesian linear regression by evidence against scikit-learn's BayesianRidge."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Bayesian regression"
HOW = (
    "One decomposition of the triangle of (X, y) serves every update of the two precisions, which "
    "are then sums over as many numbers as there are singular values."
)

DIGITS = (
    "The triangle of (X, y) keeps all digits of columns that nearly depend on each other; the Gram "
    "matrix is several times as quick and loses them."
)

FIXED = (
    "The whole fit takes a fifth of a millisecond: six updates of some twenty short numpy calls "
    "each, and checks of the input."
)


def sample(n, d, seed):
    """Return correlated centred features and targets with as much noise as signal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + rng.standard_normal((d, d)) / np.sqrt(d))
    y = X @ rng.standard_normal(d)
    y += y.std() * rng.standard_normal(n)
    return {"X": X - X.mean(axis=0), "y": y - y.mean()}


def ours(intercept, data):
    from mllib.bayesian_regression import BayesianLinearRegression

    model = BayesianLinearRegression(fit_intercept=intercept)
    return lambda: model.fit(data["X"], data["y"])


def peer(intercept, data):
    from sklearn.linear_model import BayesianRidge

    model = BayesianRidge(fit_intercept=intercept)
    return lambda: model.fit(data["X"], data["y"])


def quality(intercept, data, mine, theirs):
    """Compare the evidence of both choices of the two precisions."""
    from mllib.bayesian_regression import log_evidence, offset_free

    X, y = (offset_free(data[k]) if intercept else data[k] for k in ("X", "y"))
    chosen = ((mine.alpha_, mine.beta_), (theirs.lambda_, theirs.alpha_))

    return Quality("log evidence (nats)", *(log_evidence(X, y, *p) for p in chosen), allowed=1e-10)


def row(n, d, intercept=True):
    words = "" if intercept else "without an offset, "
    return Row(
        workload=f"weights and precisions, {words}{n} x {d}",
        n=n,
        d=d,
        against="sklearn.linear_model.BayesianRidge",
        target=0.25,
        data=partial(sample, n, d),
        ours=partial(ours, intercept),
        peer=partial(peer, intercept),
        quality=partial(quality, intercept),
        why=FIXED if n * d < 10_000 else DIGITS,
    )


ROWS = [
    row(200, 10),
    row(200, 10, intercept=False),
    row(5_000, 50),
    row(5_000, 50, intercept=False),
    row(20_000, 200),
    row(200, 1_000),
]
