"""Kernel ridge regression with the Gaussian kernel against scikit-learn's, fit and prediction."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Kernels"
HOW = (
    "Only half of the symmetric Gram matrix is computed, in blocks of rows that stay in the cache "
    "from the product to the exponential, and factorised where it stands."
)

LAM = 0.5


def sample(n, d, seed):
    """Return a smooth function of d inputs with noise, and as many new inputs."""
    rng = np.random.default_rng(seed)
    X, Q = rng.standard_normal((2, n, d))
    y = np.sin(X @ rng.standard_normal(d)) + 0.3 * rng.standard_normal(n)
    return {"X": X, "y": y, "Q": Q, "ell": float(np.sqrt(d))}


def ours(data):
    from mllib.kernels import KernelRidge

    model = KernelRidge(LAM, "rbf", data["ell"])
    return lambda: model.fit(data["X"], data["y"]).predict(data["Q"])


def peer(data):
    from sklearn.kernel_ridge import KernelRidge

    model = KernelRidge(alpha=LAM, kernel="rbf", gamma=0.5 / data["ell"] ** 2)
    return lambda: model.fit(data["X"], data["y"]).predict(data["Q"])


def quality(data, mine, theirs):
    """Compare the root mean square of the predictions, which agree to rounding."""
    assert np.allclose(mine, theirs, atol=1e-8)
    return Quality("rms of predictions", np.sqrt(np.mean(mine**2)), np.sqrt(np.mean(theirs**2)))


def row(n, d):
    return Row(
        workload=f"fit and predict {n} x {d}",
        n=n,
        d=d,
        against="sklearn.kernel_ridge.KernelRidge",
        target=0.7,
        data=partial(sample, n, d),
        ours=ours,
        peer=peer,
        quality=quality,
    )


ROWS = [row(200, 5), row(1_000, 10), row(2_000, 20)]
