"""Fits from chunks: what they cost beside the fit in memory, and what they hold."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Fits from chunks"
HOW = (
    "Each chunk is reduced to a statistic and forgotten; statistics are added in pairs. Time is "
    "set against mllib's own fit to all rows at once, so that a ratio of 1 means no overhead. In "
    "the first four rows each chunk is made when it is read, and the memory of both sides, beside "
    "the times, shows that the chunks' does not grow with the data; in the others the chunks are "
    "parts of the same arrays, and models that iterate take five steps from one start."
)


# Rows that are made when they are read -------------------------------------------------------


def made(n, d, size, seed):
    """Return chunks of a regression, none of them in memory."""
    from mllib.scaling_out import SimulatedChunk

    w = np.arange(1.0, d + 1)
    return [SimulatedChunk(i, size, w, seed=seed) for i in range(n // size)]


def ours_made(chunks):
    from mllib.least_squares import LinearRegression

    return lambda: LinearRegression().fit_chunks(chunks)


def peer_made(chunks):
    from mllib.least_squares import LinearRegression

    def fit():
        X, y = zip(*(chunk() for chunk in chunks))
        return LinearRegression().fit(np.concatenate(X), np.concatenate(y))

    return fit


# Rows in memory ------------------------------------------------------------------------------


def held(n, d, size, seed):
    """Return three clusters, their classes and a target, and the size of a chunk."""
    rng = np.random.default_rng(seed)
    label = rng.integers(3, size=n)
    X = rng.standard_normal((n, d)) + 2.0 * label[:, None]
    return {"X": X, "label": label, "y": X.sum(axis=1) + rng.standard_normal(n), "size": size}


def estimator(model, d):
    """Return the estimator, what it fits to beside X, and the fitted arrays to compare."""
    if model == "least squares":
        from mllib.least_squares import LinearRegression

        return LinearRegression(), "y", ("coef_",)
    if model == "ridge":
        from mllib.ridge_and_lasso import Ridge

        return Ridge(), "y", ("coef_",)
    if model == "Gaussian naive Bayes":
        from mllib.naive_bayes import GaussianNB

        return GaussianNB(), "label", ("theta_", "var_")
    if model == "quadratic discriminant analysis":
        from mllib.discriminant_analysis import QuadraticDiscriminantAnalysis

        return QuadraticDiscriminantAnalysis(), "label", ("means_", "covariances_")
    from mllib.pca import PCA

    return PCA(), None, ("mean_", "explained_variance_")


def iterating(model, d):
    """Return a fit in memory, the same over chunks, and what of their results to compare."""
    start, eyes = np.outer([0.5, 2.5, 4.5], np.ones(d)), np.stack([np.eye(d)] * 3)
    limits, even = {"max_iter": 5, "tol": 0.0}, np.full(3, 1 / 3)
    if model == "k-means":
        from mllib.k_means import k_means, k_means_over_chunks

        options = limits | {"centres": start}
        fits = partial(k_means, **options), partial(k_means_over_chunks, **options)
        return *fits, lambda fit: [fit.centres]
    if model == "Gaussian mixture":
        from mllib.mixtures_and_em import MixtureParams, em_over_chunks, fit_mixture

        options = limits | {"start": MixtureParams(even, start, eyes)}
        fits = partial(fit_mixture, **options), partial(em_over_chunks, **options)
        return *fits, lambda fit: fit.params[1:]
    from mllib.hidden_markov_models import (
        HMM,
        GaussianEmission,
        baum_welch,
        baum_welch_over_chunks,
    )

    first = HMM(even, np.full((3, 3), 1 / 3), GaussianEmission(start, eyes, np.full(d, 1e-6)))
    fits = (partial(f, first, **limits) for f in (baum_welch, baum_welch_over_chunks))
    return *fits, lambda fit: [fit.params.A, fit.params.emission.means]


ITERATING = ("k-means", "Gaussian mixture", "hidden Markov model")


def ours_held(model, data):
    X, size = data["X"], data["size"]
    starts = range(0, len(X), size)
    chunks = [X[i : i + size] for i in starts]
    if model in ITERATING:
        if model == "hidden Markov model":
            chunks = [(chunk, np.full(len(chunk) // 100, 100)) for chunk in chunks]
        over_chunks = iterating(model, X.shape[1])[1]
        return lambda: over_chunks(chunks)
    fit, beside, _ = estimator(model, X.shape[1])
    if beside:
        chunks = [(chunk, data[beside][i : i + size]) for chunk, i in zip(chunks, starts)]
    return lambda: fit.fit_chunks(chunks)


def peer_held(model, data):
    X = data["X"]
    if model in ITERATING:
        lengths = [np.full(len(X) // 100, 100)] if model == "hidden Markov model" else []
        in_memory = iterating(model, X.shape[1])[0]
        return lambda: in_memory(X, *lengths)
    fit, beside, _ = estimator(model, X.shape[1])
    return lambda: fit.fit(X, data[beside]) if beside else fit.fit(X)


def difference(model, d, data, mine, theirs):
    """Compare fitted arrays, each relative to its largest entry."""
    if model in ITERATING:
        arrays = iterating(model, d)[2]
    else:
        names = estimator(model, d)[2]
        arrays = lambda fit: [getattr(fit, name) for name in names]  # noqa: E731
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(arrays(mine), arrays(theirs))]
    gap = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)
    return Quality("largest relative difference", gap, 0.0, "lower", 1e-10)


# Rows of the table ---------------------------------------------------------------------------


def row_made(n, d, size):
    return Row(
        workload=f"least squares, {n} x {d}, {n // size} chunks made when read",
        n=n,
        d=d,
        against="the same model in memory",
        target=1.5,
        data=partial(made, n, d, size),
        ours=ours_made,
        peer=peer_made,
        quality=partial(difference, "least squares", d),
    )


CENTRED = (
    "Each chunk is centred and multiplied with its target, so that sums of chunks lose no digits; "
    "in memory one product of the centred columns does."
)
LOOKED_AT = "Each pass looks at every chunk afresh for numbers that are not finite."


def row_held(model, n, d, size, target=1.2, why=""):
    return Row(
        workload=f"{model}, {n} x {d}, {n // size} chunks",
        n=n,
        d=d,
        against="the same model in memory",
        target=target,
        data=partial(held, n, d, size),
        ours=partial(ours_held, model),
        peer=partial(peer_held, model),
        quality=partial(difference, model, d),
        why=why,
    )


ROWS = [
    row_made(250_000, 20, 1_000),
    row_made(250_000, 20, 10_000),
    row_made(1_000_000, 20, 10_000),
    row_made(4_000_000, 20, 10_000),
    row_held("least squares", 200_000, 20, 20_000, 1.5, CENTRED),
    row_held("ridge", 200_000, 20, 20_000),
    row_held("Gaussian naive Bayes", 200_000, 20, 20_000),
    row_held("quadratic discriminant analysis", 200_000, 20, 20_000),
    row_held("principal components", 200_000, 20, 20_000),
    row_held("k-means", 200_000, 20, 20_000, 1.5, LOOKED_AT),
    row_held("Gaussian mixture", 200_000, 20, 20_000),
    row_held("hidden Markov model", 50_000, 5, 10_000),
]
