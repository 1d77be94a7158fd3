"""Answers to the exercises of *Ridge regression and the lasso*: its own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-ridge-and-lasso-centre": "(lambda X, y, lam, m: m + ridge(X, y - X @ m, lam),)",
    "ex-ridge-and-lasso-grows": "(A, t, 1e-6, 0.5, low[1], high[1])",
    "ex-ridge-and-lasso-elastic": "(elastic_net,)",
    "ex-ridge-and-lasso-predict": "(np.count_nonzero(W[best]), errors[best], errors[-1])",
    "ex-ridge-and-lasso-break": (
        "('ridge-and-lasso-lasso-optimality', 'ridge-and-lasso-descent-converges',"
        " 'ridge-and-lasso-path-exact', 'ridge-and-lasso-sweep',"
        " 'ridge-and-lasso-ridge-shrinkage-svd')"
    ),
}


def ridge(X, y, lam):
    return np.linalg.solve(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y)


def net(*, price=0.5, squares=1.0, swapped=False, divided=False, rounds=500):
    """The elastic net by descent in single weights, with room for slips."""

    def elastic_net(X, y, lam1, lam2):
        lam1, lam2 = (lam2, lam1) if swapped else (lam1, lam2)
        added = 0.0 if divided else squares * lam2
        w = np.zeros(X.shape[1])
        for _ in range(rounds):
            for j in range(len(w)):
                z = X[:, j] @ (y - X @ w + X[:, j] * w[j])
                shrunk = np.sign(z) * max(abs(z) - price * lam1, 0)
                w[j] = shrunk / (X[:, j] @ X[:, j] + added)
        return w / (1 + lam2) if divided else w

    return elastic_net


def squares_first(X, y, lam1, lam2):
    w = ridge(X, y, lam2)
    return np.sign(w) * np.maximum(np.abs(w) - lam1 / 2, 0)


X, Y = np.array([[1.0, 1.0], [0.0, 0.5]]), np.array([2.0, 0.0])
LASSO, DESCENT, PATH, SWEEP, SVD, ORDER = (
    f"ridge-and-lasso-{name}"
    for name in (
        "lasso-optimality",
        "descent-converges",
        "path-exact",
        "sweep",
        "ridge-shrinkage-svd",
        "diabetes-order",
    )
)
WRONG = {
    "ex-ridge-and-lasso-centre": [
        (lambda X, y, lam, m: ridge(X, y - X @ m, lam),),  # forgets to come back
        (lambda X, y, lam, m: m + ridge(X, y, lam),),
        (lambda X, y, lam, m: m + ridge(X, y + X @ m, lam),),
        (lambda X, y, lam, m: m + ridge(X, y - X @ m, 2 * lam),),
        (lambda X, y, lam, m: ridge(X, y, lam) + lam * m,),
    ],
    "ex-ridge-and-lasso-grows": [
        (X, Y, 0.5, 1e-6, *[ridge(X, Y, lam)[1] for lam in (0.5, 1e-6)]),  # the larger first
        (X, Y, 1e-6, 0.5, *[ridge(X, Y, lam)[0] for lam in (1e-6, 0.5)]),  # this one shrinks
        (X, Y, 1e-6, 0.5, *[np.linalg.norm(ridge(X, Y, lam)) for lam in (1e-6, 0.5)]),
        (X, Y, 1e-6, 0.5, 0.0, 0.5),
        (X, -Y, 0.5, 2.0, *[ridge(X, -Y, lam)[0] for lam in (0.5, 2.0)]),  # grows, below 0
        (np.eye(2), Y, 0.1, 1.0, 0.0, 0.0),
        (np.eye(3), np.ones(3), 0.1, 1.0, 0.9, 0.5),  # three columns
    ],
    "ex-ridge-and-lasso-elastic": [
        (net(price=1.0),),  # lambda for lambda / 2
        (net(squares=2.0),),
        (net(squares=0.0),),  # the lasso alone
        (net(swapped=True),),
        (net(divided=True),),  # right for orthonormal columns only
        (squares_first,),
        (net(rounds=2),),
    ],
    "ex-ridge-and-lasso-predict": [
        (7, 2960, 2934),  # exchanged
        (9, 2828, 2845),  # centred at the means of the patients to be predicted
        (10, 2934, 2960),
        (7, 24959, 24959),  # without the offset
        (7, 2934, 2982),  # least squares on its own patients
    ],
    "ex-ridge-and-lasso-break": [
        ([LASSO, DESCENT, PATH, SWEEP, ORDER],),
        ([PATH, DESCENT, PATH, SWEEP, SVD],),
        ([LASSO, DESCENT, DESCENT, SWEEP, SVD],),
        ([LASSO, DESCENT, PATH, SWEEP],),
    ],
}
