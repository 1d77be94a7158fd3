"""Answers to the exercises of *Kernels*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-kernels-minimum": (
        "(lambda x: np.tril(np.ones((len(x), len(x)))) * np.sqrt(np.diff(x, prepend=0)), [1, 2])"
    ),
    "ex-kernels-root": "hits[0]",
    "ex-kernels-loo": "(loo_residuals,)",
    "ex-kernels-fisher": "(kernel_fisher,)",
    "ex-kernels-choose": "(sum(g > 0 for g in gains), np.mean(gains))",
    "ex-kernels-break": (
        "('kernels-kernel-distance', 'kernels-kernel-ridge-conditions',"
        " 'kernels-polynomial-features', 'kernels-not-a-kernel')"
    ),
}


def steps(root=lambda v: np.sqrt(abs(v)), first=0.0, triangle=np.tril):
    """Features of the minimum, with room for slips."""
    return lambda x: triangle(np.ones((len(x), len(x)))) * root(np.diff(x, prepend=first))


def left_out(power=1, lam_times=1, sign=1, top=lambda inverse, y: inverse @ y):
    """Residuals of leaving one out, with room for slips."""

    def loo_residuals(K, y, lam):
        inverse = np.linalg.inv(K + lam_times * lam * np.eye(len(K)))
        return sign * top(inverse, y) / np.diag(inverse) ** power

    return loo_residuals


def fisher(*, centred=True, even=False, sign=1, ridge=True, whole=False):
    """Coefficients of Fisher's direction, with room for slips."""

    def kernel_fisher(K, y, lam):
        n_k = np.full(len(y), len(y) / 2) if even else np.bincount(y)[y]
        means = np.ones((len(y), 1)) / len(y) if whole else (y[:, None] == y) / n_k[:, None]
        A = K - means * np.ones((1, len(y))) @ K if whole else K - means @ K if centred else K
        A = A + (lam if ridge else 1e-9) * np.eye(len(y))
        return np.linalg.solve(A, sign * np.where(y == 1, 1, -1) / n_k)

    return kernel_fisher


DISTANCE, RIDGE, POLY, REFUTE = (
    f"kernels-{name}"
    for name in (
        "kernel-distance",
        "kernel-ridge-conditions",
        "polynomial-features",
        "not-a-kernel",
    )
)
WRONG = {
    "ex-kernels-minimum": [
        (steps(root=lambda v: v), [1, 2]),  # lengths, not their roots
        (steps(first=1.0), [1, 2]),  # the interval from 0 to the first point is lost
        (steps(triangle=np.triu), [1, 2]),  # the intervals above a point
        (steps(), [1]),
        (steps(), [2, 2]),
    ],
    "ex-kernels-root": [
        (0.5, 0.5),  # the root passes too
        (0.8, 0.1),  # no kernel to begin with
        (0.25, 0.0),
        (0.0, 0.9),
        (-0.55, 0.0),
    ],
    "ex-kernels-loo": [
        (left_out(power=0),),  # alpha itself
        (left_out(sign=-1),),
        (left_out(lam_times=2),),
        (left_out(power=2),),
        (left_out(top=lambda inverse, y: y),),
    ],
    "ex-kernels-fisher": [
        (fisher(centred=False),),
        (fisher(even=True),),  # as if the classes had equally many rows
        (fisher(sign=-1),),
        (fisher(ridge=False),),
        (fisher(whole=True),),  # minus the mean of all rows
    ],
    "ex-kernels-choose": [
        (19, 0.25),  # the length that was picked on the test rows
        (18, 3.3),  # the sum, not the mean
        (18, -0.17),
        (20, 0.17),
    ],
    "ex-kernels-break": [
        ([DISTANCE, DISTANCE, POLY, REFUTE],),  # distances have no targets
        ([REFUTE, RIDGE, POLY, REFUTE],),
        ([DISTANCE, RIDGE, POLY],),
        ([DISTANCE, RIDGE, REFUTE, REFUTE],),
    ],
}
