"""Principal components, kernel principal components and Isomap against scikit-learn's."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Principal components"
HOW = (
    "Eigenvectors of the smaller of the covariance and the matrix of inner products, and singular "
    "values only where a small variance would be blurred; a few of many by Lanczos' method."
)


def sample(n, d, seed):
    """Return n rows in d dimensions whose variances fall by and by, with a mean."""
    rng = np.random.default_rng(seed)
    r = min(n, d)
    X = rng.standard_normal((n, r)) * (1 / (1 + np.arange(r)))
    X = X @ np.linalg.qr(rng.standard_normal((d, r)))[0].T
    return {"X": X + 0.01 * rng.standard_normal((n, d)) + rng.standard_normal(d)}


def roll(n, d, seed):
    """Return n points on a rolled sheet with some noise."""
    from sklearn.datasets import make_swiss_roll

    return {"X": make_swiss_roll(n, noise=0.05, random_state=seed)[0]}


def ours_pca(k, data):
    from mllib.pca import PCA

    return lambda: PCA(k).fit(data["X"])


def peer_pca(k, data):
    from sklearn.decomposition import PCA

    return lambda: PCA(k, random_state=0).fit(data["X"])


def rebuilt(data, mine, theirs):
    """Compare the reconstruction errors of all rows."""

    def error(model):
        gap = data["X"] - model.inverse_transform(model.transform(data["X"]))
        return float(np.mean(np.sum(gap**2, axis=1)))

    return Quality("reconstruction error", error(mine), error(theirs), "lower")


def ours_kernel(k, data):
    from mllib.pca import KernelPCA

    return lambda: KernelPCA(k, kernel="rbf", ell=2.0).fit_transform(data["X"])


def peer_kernel(k, data):
    from sklearn.decomposition import KernelPCA

    model = KernelPCA(k, kernel="rbf", gamma=1 / 8, random_state=0)
    return lambda: model.fit_transform(data["X"])


def spread(data, mine, theirs):
    """Compare the variances of the scores, added up."""
    return Quality("variance", mine.var(axis=0).sum(), theirs.var(axis=0).sum(), "higher")


def ours_isomap(k, data):
    from mllib.pca import Isomap

    return lambda: Isomap(8, k).fit_transform(data["X"])


def peer_isomap(k, data):
    from sklearn.manifold import Isomap

    return lambda: Isomap(n_neighbors=8, n_components=k).fit_transform(data["X"])


#: Why rows miss their targets, by the number of rows.
WHY = {
    1_000: "Half a millisecond on both sides, most of it the same product and eigenproblem.",
    50_000: "We subtract the mean before we multiply: one more pass through the rows; the "
    "peer multiplies first and loses digits where the mean is far from 0.",
    1_500: "Nearly all of the time is SciPy's, on both sides: one eigenproblem, and for Isomap "
    "the same shortest paths.",
}


def row(workload, n, d, k, target, data, ours, peer, quality, against):
    return Row(
        workload=f"{workload}, {n} x {d}, k = {k}",
        n=n,
        d=d,
        against=against,
        target=target,
        data=partial(data, n, d),
        ours=partial(ours, k),
        peer=partial(peer, k),
        quality=quality,
        why=WHY.get(n, ""),
    )


PLAIN = (0.95, sample, ours_pca, peer_pca, rebuilt, "sklearn.decomposition.PCA")
KERNEL = (0.9, sample, ours_kernel, peer_kernel, spread, "sklearn.decomposition.KernelPCA")
PATHS = (0.9, roll, ours_isomap, peer_isomap, spread, "sklearn.manifold.Isomap")
ROWS = [
    row("components", 1_000, 50, 10, *PLAIN),
    row("components", 50_000, 50, 10, *PLAIN),
    row("components", 2_000, 500, 10, *PLAIN),
    row("components", 200, 5_000, 10, *PLAIN),
    row("Gaussian kernel", 1_500, 10, 5, *KERNEL),
    row("Isomap, 8 neighbours", 1_500, 3, 2, *PATHS),
]
