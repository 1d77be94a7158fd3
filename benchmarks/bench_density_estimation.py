"""Kernel density estimates against scikit-learn and scipy: log densities of new rows."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Density estimation"
HOW = "Blocks of squared distances, then the log-sum-exp of each row in place of a tree."


def bells(n, d, seed):
    """Return n rows to fit, of covariance I, and n to judge, from two Gaussians."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2, n, d)) + 3 * rng.integers(0, 2, (2, n, 1))
    white = np.linalg.inv(np.linalg.cholesky(np.atleast_2d(np.cov(X[0].T)))).T
    return {"X": X[0] @ white, "Q": X[1] @ white}


def ours(data):
    from mllib.density_estimation import KernelDensity

    model = KernelDensity(0.3).fit(data["X"])
    return lambda: model.score_samples(data["Q"])


def tree(data):
    from sklearn.neighbors import KernelDensity

    model = KernelDensity(bandwidth=0.3, rtol=0, atol=0).fit(data["X"])
    return lambda: model.score_samples(data["Q"])


def plain(data):
    from scipy.stats import gaussian_kde

    model = gaussian_kde(data["X"].T, bw_method=0.3)
    return lambda: model.logpdf(data["Q"].T)


def agree(data, mine, theirs):
    """Compare the density at the median row, where every method keeps its digits."""
    middle = np.argsort(mine)[len(mine) // 2 :]
    gap = float(np.abs(mine[middle] - theirs[middle]).max())
    return Quality("largest difference of log densities above the median", gap, 0.0, "lower", 1e-6)


def row(n, d, target, peer, against):
    return Row(
        workload=f"log densities against {against.split('.')[-1]}, {n} x {d}",
        n=n,
        d=d,
        against=against,
        target=target,
        data=partial(bells, n, d),
        ours=ours,
        peer=peer,
        quality=agree,
    )


ROWS = [
    row(2_000, 1, 0.8, tree, "sklearn.neighbors.KernelDensity"),
    row(5_000, 2, 0.8, tree, "sklearn.neighbors.KernelDensity"),
    row(5_000, 2, 0.8, plain, "scipy.stats.gaussian_kde"),
]
