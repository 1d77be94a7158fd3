"""Answers to the exercises of *Density estimation*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-density-estimation-epanechnikov": (
        "[100 * (cost(K, a) / best - 1) for K, a in"
        " ((bell, sympy.oo), (sympy.Rational(1, 2) + 0 * u, 1))],"
    ),
    "ex-density-estimation-lscv": "(lscv,)",
    "ex-density-estimation-negative": "(biases, place[estimate.argmin()])",
    "ex-density-estimation-peaks": "(merge, *[peaks(h) for h in chosen])",
    "ex-density-estimation-break": (
        "('density-estimation-kde', 'density-estimation-kde-bandwidth',"
        " 'density-estimation-kde-bandwidth', 'density-estimation-exact',"
        " 'density-estimation-exact')"
    ),
}


def squares(*, width=2**0.5, twice=2, out=True, share=1, dimension=True):
    """Least-squares cross-validation, with room for slips."""

    def lscv(X, h):
        (n, d), D = X.shape, ((X[:, None] - X) ** 2).sum(axis=2)
        d = d if dimension else 1
        far, near = (
            np.exp(-D / (2 * b**2)) / (2 * np.pi * b**2) ** (d / 2) for b in (width * h, h)
        )
        left = near - (np.diag(np.diag(near)) if out else 0)
        return far.mean() - twice * left.sum() / n / (n - share)

    return lscv


BIASES = np.array([-1.4714e-05, -2.2421e-04, -2.9883e-03])
K, W, E, S = (
    f"density-estimation-{name}" for name in ("kde", "kde-bandwidth", "exact", "silverman")
)
WRONG = {
    "ex-density-estimation-epanechnikov": [
        ([6.0, 4.1],),  # the box first
        ([1.041, 1.06],),  # factors
        ([0.041, 0.06],),  # shares
        ([10.5, 15.7],),  # without the fifth root
    ],
    "ex-density-estimation-lscv": [
        (squares(width=1),),
        (squares(width=2),),
        (squares(twice=1),),
        (squares(out=False, share=0),),  # the own hill too
        (squares(share=0),),
        (squares(dimension=False),),
    ],
    "ex-density-estimation-negative": [
        (-BIASES, 6.2),
        (BIASES / [1e-4, 16e-4, 256e-4], 6.2),  # divided by h^4
        (BIASES, 4.2),  # between the hills
        (((1 + np.array([0.1, 0.2, 0.4]) ** 2) ** -0.5 - 1) / (2 * np.pi) ** 0.5, 6.2),  # K = N
    ],
    "ex-density-estimation-peaks": [(5.6, 2, 1), (5.6, 1, 2), (2.5, 2, 2), (12, 2, 2)],
    "ex-density-estimation-break": [
        ([S, W, W, E, E],),  # on one column, and not of the estimate
        ([K, K, W, E, E],),  # nothing is left out there
        ([K, W, W, E],),
        ([K, W, W, W, E],),
    ],
}
