"""Gaussian mixtures with full covariances against scikit-learn: same start, same iterations."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Gaussian mixtures"
HOW = (
    "One step of EM whitens the deviations from each mean by the inverse of a triangular factor, "
    "and sums their weighted products."
)

SAME = (
    "Both sides turn every row by the triangular factor of each component and sum the same "
    "products, as the page derives them: what is left to gain are copies of rows."
)


def sample(n, d, K, seed):
    """Return rows from K correlated groups that overlap in any dimension, and one start."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((K, d, d)) / d + np.eye(d)
    z = rng.integers(K, size=n)
    X = 2 / np.sqrt(d) * rng.standard_normal((K, d))[z]
    X += np.einsum("nij,nj->ni", mixing[z], rng.standard_normal((n, d)))
    means = X[rng.choice(n, K, replace=False)]
    return {"X": X, "weights": np.full(K, 1 / K), "means": means, "whole": np.cov(X.T, bias=True)}


def ours(iterations, data):
    from mllib.mixtures_and_em import GaussianMixture, MixtureParams

    K = len(data["means"])
    start = MixtureParams(data["weights"], data["means"], np.stack([data["whole"]] * K))
    model = GaussianMixture(K, init=start, max_iter=iterations, tol=0)
    return lambda: model.fit(data["X"])


def peer(iterations, data):
    from sklearn.mixture import GaussianMixture

    K = len(data["means"])
    model = GaussianMixture(
        K,
        weights_init=data["weights"],
        means_init=data["means"],
        precisions_init=np.stack([np.linalg.inv(data["whole"])] * K),
        max_iter=iterations,
        tol=0,
        reg_covar=0,
    )
    return lambda: model.fit(data["X"])


def quality(iterations, data, mine, theirs):
    """Compare the log-likelihood for each row after the same number of iterations."""
    if (mine.n_iter_, theirs.n_iter_) != (iterations, iterations):
        raise RuntimeError("Both sides must make the same iterations.")
    X = data["X"]
    return Quality("log-likelihood for each row (nats)", mine.score(X), theirs.score(X))


def row(n, d, K, iterations=20, target=0.35):
    return Row(
        workload=f"{iterations} iterations of EM, K = {K}, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.mixture.GaussianMixture",
        target=target,
        data=partial(sample, n, d, K),
        ours=partial(ours, iterations),
        peer=partial(peer, iterations),
        quality=partial(quality, iterations),
        why=SAME,
    )


ROWS = [
    row(2_000, 2, 3),
    row(50_000, 2, 5),
    row(20_000, 8, 5),
    row(10_000, 32, 5, target=0.75),
]
