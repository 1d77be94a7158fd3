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
    start = np.outer([0.0, 2.0, 4.0], np.ones(d))
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
    if model == "principal components":
        from mllib.pca import PCA

        return PCA(), None, ("mean_", "explained_variance_")
    if model == "k-means":
        from mllib.k_means import KMeans

        return KMeans(3, init=start + 0.5, max_iter=5, tol=0.0), None, ("cluster_centers_",)
    if model == "Gaussian mixture":
        from mllib.mixtures_and_em import GaussianMixture

        given = np.full(3, 1 / 3), start + 0.5, np.broadcast_to(np.eye(d), (3, d, d)).copy()
        options = {"init": given, "n_init": 1, "max_iter": 5, "tol": 0.0}
        return GaussianMixture(3, **options), None, ("means_", "covariances_")
    from mllib.hidden_markov_models import GaussianHMM

    given = {"startprob_init": np.full(3, 1 / 3), "transmat_init": np.full((3, 3), 1 / 3)}
    given |= {"means_init": start + 0.5, "covars_init": np.broadcast_to(np.eye(d), (3, d, d))}
    return GaussianHMM(3, max_iter=5, tol=0.0, **given), "lengths", ("transmat_", "means_")


def ours_held(model, data):
    X, size = data["X"], data["size"]
    starts = range(0, len(X), size)
    fit, beside, _ = estimator(model, X.shape[1])
    chunks = [X[i : i + size] for i in starts]
    if beside == "lengths":
        chunks = [(chunk, np.full(len(chunk) // 100, 100)) for chunk in chunks]
    elif beside:
        chunks = [(chunk, data[beside][i : i + size]) for chunk, i in zip(chunks, starts)]
    return lambda: fit.fit_chunks(chunks)


def peer_held(model, data):
    X = data["X"]
    fit, beside, _ = estimator(model, X.shape[1])
    if beside == "lengths":
        return lambda: fit.fit(X, lengths=np.full(len(X) // 100, 100))
    return lambda: fit.fit(X, data[beside]) if beside else fit.fit(X)


def difference(model, d, data, mine, theirs):
    """Compare fitted arrays, each relative to its largest entry."""
    names = estimator(model, d)[2]
    pairs = [(np.asarray(getattr(m, name)) for m in (mine, theirs)) for name in names]
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
