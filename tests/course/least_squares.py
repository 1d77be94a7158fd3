"""Answers to the exercises of *Least squares*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-least-squares-units": "([1, 1], 2, 10, [1, 0], small @ [1, 0], large @ [10, 0])",
    "ex-least-squares-weighted": "(weighted,)",
    "ex-least-squares-loo": "(leave_one_out,)",
    "ex-least-squares-geyser": (
        "(left_out, 1 + np.argmin(left_out), np.sqrt(left_out[0]) - np.sqrt(min(left_out)))"
    ),
    "ex-least-squares-break": (
        "('least-squares-centring', 'least-squares-minimum-norm', 'least-squares-ls-covariance',"
        " 'least-squares-refinement', 'least-squares-sigma-mle')"
    ),
}


def weighted(power, *, targets=True):
    """Weighted least squares with rows multiplied by a power of the variances."""

    def fit(X, y, variances):
        s = np.asarray(variances) ** power
        return np.linalg.pinv(X * s[:, None]) @ (y * s if targets else y)

    return fit


def left_out(rule):
    """Errors as a rule of residuals and leverages."""

    def leave_one_out(X, y):
        H = X @ np.linalg.pinv(X)
        return rule(y - H @ y, np.diag(H))

    return leave_one_out


def spoils(X, y):
    y -= X @ (np.linalg.pinv(X) @ y)
    return y / (1 - np.diag(X @ np.linalg.pinv(X)))


LOO = [35.2, 33.8, 32.9, 32.3, 32.7, 33.1]
CENTRE, SHORT, COVARIANCE = (
    f"least-squares-{name}" for name in ("centring", "minimum-norm", "ls-covariance")
)
REFINED, VARIANCE = "least-squares-refinement", "least-squares-sigma-mle"
WRONG = {
    "ex-least-squares-units": [
        ([1, 1], 2, 10, [2, 2], 4, 4),  # a multiple of the sample
        ([1, 1], 2, 10, [1, 0], 1, 20 / 101),  # the new x stays in the old unit
        ([1, 1], 2, 1, [1, 0], 1, 1),  # no change of the unit
        ([0, 1], 2, 10, [1, 1], 2, 2),
        ([1, 1], 2, 10, [1, 0], 2, 0.2),  # a minimiser, not the shortest
        ([1, 1, 1], 2, 10, [1, 0, 0], 2 / 3, 200 / 102),  # three inputs
    ],
    "ex-least-squares-weighted": [
        (weighted(0.0),),
        (weighted(-1.0),),  # divided by the variance
        (weighted(0.5),),
        (weighted(-0.5, targets=False),),
        (lambda X, y, variances: weighted(-0.5)(X, y, variances).mean(),),
    ],
    "ex-least-squares-loo": [
        (left_out(lambda r, h: r),),
        (left_out(lambda r, h: r * (1 - h)),),
        (left_out(lambda r, h: r / (1 - h) ** 2),),
        (left_out(lambda r, h: r / (1 - h.mean())),),
        (left_out(lambda r, h: -r / (1 - h)),),
        (left_out(lambda r, h: np.mean((r / (1 - h)) ** 2)),),
        (spoils,),
    ],
    "ex-least-squares-geyser": [
        (LOO, 4, 2.86),  # saves square minutes
        (LOO, 6, 0.28),
        (np.sqrt(LOO), 4, 0.246),
        (LOO[::-1], 4, 0.246),
    ],
    "ex-least-squares-break": [
        ([CENTRE, CENTRE, COVARIANCE, REFINED, VARIANCE],),
        ([CENTRE, SHORT, COVARIANCE, VARIANCE, VARIANCE],),
        ([CENTRE, SHORT, COVARIANCE, REFINED],),
        ([CENTRE, SHORT, COVARIANCE, REFINED, REFINED],),
    ],
}
