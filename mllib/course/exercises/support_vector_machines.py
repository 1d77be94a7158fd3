"""Checks of the exercises of *Support vector machines*."""

import itertools

import numpy as np
from scipy.optimize import minimize_scalar

from mllib.course.exercises import breaks, code, points


def price(x, y, C, w, b):
    """Return P(w, b) for points on the line."""
    return w * w / 2 + C * np.maximum(0, 1 - y * (w * x + b)).sum()


def shortest(x, y, C):
    """Return the best w on the line and its price: for each w some best b is a kink."""

    def least(w):
        return min(price(x, y, C, w, b) for b in y - w * x)

    reach = np.sqrt(2 * C * len(x)) + 1
    found = minimize_scalar(
        least, bounds=(-reach, reach), method="bounded", options={"xatol": 1e-9}
    )
    return found.x, found.fun


# The hard dual in the convex hulls -----------------------------------------------------------


@code(
    "ex-support-vector-machines-hulls",
    r"your function `best(X, y, lam)` of a sample and the $\lambda_i$, which returns the best $s$ "
    "and the value of $D$ there",
)
def _(c, best):
    X, y, lam = np.array([[-2.0, 0], [1, 0]]), np.array([-1.0, 1]), np.ones(2)
    c.holds("two points at distance 3: $s=2/9$ and $D=2/9$", np.allclose(best(X, y, lam), 2 / 9))

    def D(alpha):
        return alpha.sum() - ((alpha * y) @ X @ X.T @ (alpha * y)) / 2

    rng, told, greatest = np.random.default_rng(0), [], []
    for n in (2, 3, 5):
        X, y = rng.normal(size=(2 * n, 2)), np.repeat([-1.0, 1], n)
        X[:, 0] += 3 * y
        lam = np.concatenate([rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n))])
        s, value = best(X, y, lam)
        told.append(abs(value - D(s * lam)) < 1e-9)
        greatest.append(
            [D(s * lam) >= D((s + step) * lam) for step in (-1, -0.01, -1e-3, 1e-3, 0.01, 1)]
        )
    c.holds("three samples of 4 to 10 points: the value is that of the dual objective", told)
    c.holds("and no other $s$ has a larger one", greatest)
    X, y = np.array([[0, 0], [0, 2], [3, 0], [3, 2.0]]), np.array([-1, -1, 1, 1.0])
    values = [best(X, y, np.array([p, 1 - p, p, 1 - p]))[1] for p in (0, 0.3, 1)]
    c.holds(
        "sides at distance 3: their closest points give $1/(2\\gamma^2)$ with $\\gamma=3/2$",
        np.allclose(values, 1 / (2 * 1.5**2)),
    )


points(
    "ex-support-vector-machines-hulls",
    r"$\sum_i\alpha_i=2s$ and $w=s(p-q)$ with $p,q$ in the two hulls, so $D$ is a parabola in $s$ "
    r"with the only parameter $\|p-q\|$.",
    r"Its largest value falls with $\|p-q\|$, so the best $\lambda$ has the closest points.",
    r"Every pair of points of the hulls comes from some $\lambda$; separable means $p\ne q$.",
    r"Strong duality: this value is $\frac12\|w\|^2$ at the optimum, where "
    r"$\|w\|=1/\gamma_{\rm geom}$.",
)

# Can one more example widen the street? ------------------------------------------------------


@code(
    "ex-support-vector-machines-widen",
    "three numbers x, their labels y, and the price C; the third point is the one that widens",
)
def _(c, x, y, C):
    x, y = np.ravel(x).astype(float), np.ravel(y).astype(float)
    c.holds("three points with labels $-1$ or $+1$", len(x) == len(y) == 3, np.isin(y, (-1, 1)))
    c.holds("a price that is finite and above 0", 0 < C < np.inf)
    two, three = (abs(shortest(x[:n], y[:n], C)[0]) for n in (2, 3))
    c.holds("the first two have a street, one class on each side", two > 1e-4, y[0] != y[1])
    c.holds("with the third there is one too", three > 1e-4)
    c.holds("and it is wider: its $w$ is shorter", three < two - 1e-4)


points(
    "ex-support-vector-machines-widen",
    "Hard margin: each example is a constraint, and the shortest $w$ that obeys all is among those "
    "that obey all but one.",
    "The example and its old optimum: what the third point pays for, and why the other two let go.",
)

# A certificate of your own -------------------------------------------------------------------


@code(
    "ex-support-vector-machines-certificate",
    "your function `relative_gap(X, y, C, w, b)`",
)
def _(c, relative_gap):
    X, y, w = np.array([[-1.0], [1], [1]]), np.array([-1.0, 1, 1]), np.array([0.5])
    c.holds(
        "one point at $-1$, two at 1, $w=1/2$, $b=0$: the gap is 1 for $C=1$, 19/55 for $C=0.1$",
        np.isclose([relative_gap(X, y, C, w, 0.0) for C in (1.0, 0.1)], [1, 19 / 55]),
    )
    c.holds(
        "the same with the labels exchanged", np.isclose(relative_gap(X, -y, 0.1, -w, 0.0), 19 / 55)
    )
    c.holds(
        "nothing to guess, all margins above 1: $D=0$, so the gap is the whole",
        np.isclose(relative_gap(X, y, 1.0, 4 * w, 0.0), 1),
    )
    far = np.array([[-1.0], [1], [9]])
    c.holds(
        "a point far off has no multiplier: 1/5 for the points -1, 1, 9, $w=1/2$, $C=0.1$",
        np.isclose(relative_gap(far, y, 0.1, w, 0.0), 1 / 5),
    )
    rng, above = np.random.default_rng(0), []
    for C, slope in itertools.product((0.1, 1.0, 10.0), (0.3, 1.0, -2.0)):
        y = np.array([-1.0, 1] * 5)
        x, b = rng.normal(size=10) + y, rng.normal()
        P = price(x, y, C, slope, b)
        gap = relative_gap(x[:, None], y, C, np.array([slope]), b)
        above.append(gap >= (P - shortest(x, y, C)[1]) / P - 1e-6)
    c.holds("nine machines on the line: it is at least the relative error of $P$", above)


points(
    "ex-support-vector-machines-certificate",
    r"The repaired $\alpha$ is feasible: shrinking keeps it in the box.",
    r"So $D\le\min P$ by weak duality, and $(P-D)/P$ is at least the relative error.",
    "Why it is loose: the multipliers strictly between 0 and $C$ are guessed wrongly.",
)

# Width and price together --------------------------------------------------------------------


@code(
    "ex-support-vector-machines-grid",
    r"your table of errors in per cent, shape (3, 3, 4, 2) for $\ell$, $C$, the sample and the "
    r"division, and the list of the pairs $(C,\ell)$ that it does not tell apart from the best",
)
def _(c, table, pairs):
    table = np.asarray(table, dtype=float)
    c.holds("three widths, three prices, four samples, two divisions", table.shape == (3, 3, 4, 2))
    errors = table * 80 / 100
    c.holds("each entry is a whole number of the 80 tumours", abs(errors - errors.round()) < 1e-6)
    mean, differ = table.mean(axis=(2, 3)), np.ptp(table, axis=3).max()
    c.holds("two divisions of a sample do not always agree", differ > 0)
    others = mean[1:, 1:].mean()
    c.holds(
        "the lowest price is worse than the four other pairs are in the mean",
        mean[:, 0] > others,
    )
    c.holds("and so is the narrow kernel", mean[0] > others)
    near = [
        (C, ell)
        for row, ell in zip(mean, (0.3, 1, 3))
        for error, C in zip(row, (0.1, 1, 10))
        if error < mean.min() + differ
    ]
    c.holds(
        "your pairs are those that are above the least by less than divisions differ",
        {tuple(map(float, pair)) for pair in pairs} == set(near),
    )


# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-support-vector-machines-break",
    [
        ("_exchange", "t = min(slope / curve, room_i, room_j)", "t = min(slope / curve, room_i)"),
        ("_exchange", "room_i = C[i] - alpha[i] if y[i] > 0 else alpha[i]", "room_i = C[i]"),
        ("_exchange", "- 0.5 * t**2", "- t**2"),
        ("_exchange", "t * (K_i[s] - K_j[s])", "t * K_i[s]"),
        ("_exchange", "if low[s] and F[s] < lowest", "if up[s] and F[s] < lowest"),
    ],
)
