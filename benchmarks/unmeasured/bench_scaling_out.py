"""Fits from chunks: what they cost beside the fit in memory, and what they hold."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Fits from chunks"
HOW = (
    "Each chunk is reduced to a statistic and forgotten; statistics are added in pairs. Time is "
    "set against mllib's own fit in memory, so that a ratio of 1 means no overhead; the memory of "
    "both sides stands beside it, and that of the chunks does not grow with the data."
)


def chunk_rows(n, d, seed, size):
    """Return chunks that are made when they are read."""
    from mllib.scaling_out import SimulatedChunk

    w = np.arange(1.0, d + 1)
    return [SimulatedChunk(i, size, w, seed=seed) for i in range(n // size)]


def regression(n, d, size, seed):
    return {"chunks": chunk_rows(n, d, seed, size)}


def in_memory(data):
    X, y = zip(*(chunk() for chunk in data["chunks"]))
    return np.concatenate(X), np.concatenate(y)


def labels(X, y):
    return X, np.digitize(y, [-10.0, 10.0])


class Labelled:
    """A chunk with three classes instead of a target."""

    def __init__(self, chunk):
        self.chunk = chunk

    def __call__(self):
        return labels(*self.chunk())


def ours_regression(model, data):
    from mllib import least_squares, ridge_and_lasso

    make = {"least squares": least_squares.LinearRegression, "ridge": ridge_and_lasso.Ridge}[model]
    return lambda: make().fit_chunks(data["chunks"])


def peer_regression(model, data):
    from mllib import least_squares, ridge_and_lasso

    make = {"least squares": least_squares.LinearRegression, "ridge": ridge_and_lasso.Ridge}[model]
    return lambda: make().fit(*in_memory(data))


def ours_classes(model, data):
    make, chunks = classifier(model), [Labelled(chunk) for chunk in data["chunks"]]
    return lambda: make().fit_chunks(chunks)


def peer_classes(model, data):
    make = classifier(model)
    return lambda: make().fit(*labels(*in_memory(data)))


def classifier(model):
    from mllib import discriminant_analysis, naive_bayes

    return {
        "Gaussian naive Bayes": naive_bayes.GaussianNB,
        "quadratic discriminant analysis": discriminant_analysis.QuadraticDiscriminantAnalysis,
    }[model]


def quality_weights(data, mine, theirs):
    gap = float(np.abs(mine.coef_ / theirs.coef_ - 1).max())
    return Quality("largest relative difference of weights", gap, 0.0, "lower", 1e-10)


def quality_classes(data, mine, theirs):
    X, y = labels(*data["chunks"][0]())
    return Quality("accuracy on the first chunk", mine.score(X, y), theirs.score(X, y))


def row(model, n, d, size, target):
    kinds = (ours_regression, peer_regression, quality_weights)
    if "Bayes" in model or "analysis" in model:
        kinds = (ours_classes, peer_classes, quality_classes)
    return Row(
        workload=f"{model}, {n} x {d}, {n // size} chunks",
        n=n,
        d=d,
        against="the same model in memory",
        target=target,
        data=partial(regression, n, d, size),
        ours=partial(kinds[0], model),
        peer=partial(kinds[1], model),
        quality=kinds[2],
    )


ROWS = [
    row("least squares", 1_000_000, 20, 1_000, 1.5),
    row("least squares", 1_000_000, 20, 10_000, 1.5),
    row("least squares", 1_000_000, 20, 100_000, 1.5),
    row("least squares", 4_000_000, 20, 100_000, 1.5),
    row("ridge", 1_000_000, 20, 10_000, 1.5),
    row("Gaussian naive Bayes", 1_000_000, 20, 10_000, 1.2),
    row("quadratic discriminant analysis", 1_000_000, 20, 10_000, 1.2),
]
