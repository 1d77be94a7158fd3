"""Support vector machines against scikit-learn's LIBSVM and LIBLINEAR, at equal quality."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Support vector machines"
HOW = (
    "Pairs of multipliers are chosen by the gain that they promise in a plain loop, compiled; rows "
    "of the kernel are computed when first needed. The linear machine takes Newton steps in numpy."
)

SAME_STEPS = (
    "Both sides make about the same steps, of two passes through the sample each; the peer sets "
    "multipliers aside that seem to stay at a bound, and its kernel holds half the digits."
)
FIXED = (
    "The whole fit takes less than half a millisecond: four Newton steps of some sixty "
    "microseconds each, most of it the overhead of small numpy calls, and checks of the input."
)


def sample(n, d, ones, seed):
    """Return standardised inputs in four clouds, two for each class, 5 % of the labels flipped.

    Eight features tell the classes apart at most; ``ones`` appends a column of ones.
    """
    rng = np.random.default_rng(seed)
    m = min(8, d)
    corners = 2 * rng.integers(0, 2, size=(4, m)) - 1 + 0.5 * rng.standard_normal((4, m))
    mixing = rng.uniform(-1, 1, (4, m, m))
    cloud = rng.integers(4, size=n)
    X = rng.standard_normal((n, d))
    X[:, :m] = np.einsum("ni,nij->nj", X[:, :m], mixing[cloud]) + corners[cloud]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (cloud % 2) ^ (rng.random(n) < 0.05)
    return {"X": np.column_stack([X, np.ones(n)]) if ones else X, "y": y}


def ours_kernel(C, data):
    from mllib.support_vector_machines import SVC

    model = SVC(C=C)
    return lambda: model.fit(data["X"], data["y"])


def peer_kernel(C, data):
    from sklearn.svm import SVC

    model = SVC(C=C)
    return lambda: model.fit(data["X"], data["y"])


def dual_objective(data, mine, theirs):
    """Compare the dual objective that both maximise, to a tenth of their common tolerance."""
    from mllib.support_vector_machines import rbf_kernel

    V, beta = theirs.support_vectors_, theirs.dual_coef_[0]
    other = np.abs(beta).sum() - 0.5 * beta @ rbf_kernel(V, V, mine.ell_) @ beta
    return Quality("dual objective", mine.dual_[0], other, allowed=1e-4)


def ours_linear(C, data):
    from mllib.support_vector_machines import LinearSVC

    # LIBLINEAR penalises an offset, so both get a column of ones and no offset of their own
    model = LinearSVC(C=C, fit_intercept=False)
    return lambda: model.fit(data["X"], data["y"])


def peer_linear(C, data):
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=C, fit_intercept=False, dual=False)
    return lambda: model.fit(data["X"], data["y"])


def primal_objective(C, data, mine, theirs):
    """Compare the primal objective that both minimise."""
    w = theirs.coef_[0]
    xi = np.maximum(0, 1 - (2 * data["y"] - 1) * (data["X"] @ w))
    other = 0.5 * w @ w + C * xi @ xi
    return Quality("primal objective", mine.primal_[0], other, better="lower")


def kernel_row(n, C, target, why=SAME_STEPS):
    return Row(
        workload=f"RBF kernel, C = {C:g}, {n} x 20",
        n=n,
        d=20,
        against="sklearn.svm.SVC",
        target=target,
        data=partial(sample, n, 20, False),
        ours=partial(ours_kernel, C),
        peer=partial(peer_kernel, C),
        quality=dual_objective,
        why=why,
    )


def linear_row(n, d, C, why=FIXED):
    return Row(
        workload=f"squared hinge, linear, C = {C:g}, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.svm.LinearSVC",
        target=0.3,
        data=partial(sample, n, d, True),
        ours=partial(ours_linear, C),
        peer=partial(peer_linear, C),
        quality=partial(primal_objective, C),
        why=why,
    )


ROWS = [
    kernel_row(200, 1.0, 0.7),
    kernel_row(1_000, 1.0, 0.7),
    kernel_row(3_000, 1.0, 0.7),
    kernel_row(200, 10.0, 0.75),
    kernel_row(1_000, 10.0, 0.75),
    kernel_row(3_000, 10.0, 0.75),
    kernel_row(6_000, 10.0, 1.0),
    linear_row(1_000, 10, 1.0),
    linear_row(20_000, 50, 1.0),
    linear_row(20_000, 50, 100.0),
]
