"""Checks of the exercises of *Bias and variance*."""

import numpy as np

from mllib.course.datasets import diabetes
from mllib.course.exercises import code, missed, points, value

# How optimistic is the training error? -------------------------------------------------------

value(
    "ex-bias-variance-optimism",
    "what the first formula gives for the degrees 0, 1, 3, 5, 8 and 15 of the table",
    "8743231849ce44f3",
)
points(
    "ex-bias-variance-optimism",
    r"$y-Hy=(I-H)f+(I-H)\varepsilon$; the cross term has mean 0, because $(I-H)f$ is a constant "
    r"and $\mathbb E[\varepsilon]=0$.",
    "$I-H$ is a projection of rank $n-p$, so by step 3 of the proof the second part adds "
    r"$\sigma^2(n-p)/n$.",
    r"New outputs cost bias$^2+\sigma^2p/n+\sigma^2$: the difference is $2\sigma^2p/n$.",
)

# A higher degree, a larger bias --------------------------------------------------------------


@code(
    "ex-bias-variance-counterexample",
    "the number of the input, 0 to 29, the lower degree and the higher one",
)
def _(c, i, low, high):
    c.holds("one of the 30 inputs", i in range(30))
    c.holds("two degrees, the lower one first", 0 <= low < high < 30)
    x = np.linspace(0, 1, 30)
    f, square = np.sin(2 * np.pi * x), {}
    for r in (low, high):
        Q, _ = np.linalg.qr(np.polynomial.legendre.legvander(2 * x - 1, r))
        square[r] = (f - Q @ (Q.T @ f))[i] ** 2
    c.holds("the squared bias of the higher one is no rounding error", square[high] > 1e-10)
    c.holds("and more than 3/2 of that of the lower one", square[high] > 1.5 * square[low])


# Nearest neighbours --------------------------------------------------------------------------


@code("ex-bias-variance-neighbours", "your function `neighbour_smoother(x, x_new, k)`")
def _(c, neighbour_smoother):
    by_hand = neighbour_smoother(np.array([0.0, 1, 3]), np.array([2.0, 0.2]), 2)
    c.holds(
        "inputs 0, 1, 3 and two neighbours: the second and third at 2, the first two at 0.2",
        np.isclose(by_hand, [[0, 0.5, 0.5], [0.5, 0.5, 0]]),
    )
    rng, sums, variances, nearest = np.random.default_rng(0), [], [], []
    for k in (1, 2, 3, 7) * 5:
        x, new = rng.integers(0, 6, 8) / 2, rng.integers(-2, 14, 4) / 4  # with many ties
        S = np.asarray(neighbour_smoother(x, new, k))
        sums.append(np.allclose(S.sum(axis=1), 1))
        variances.append(np.allclose((S**2).sum(axis=1), 1 / k))
        for row, at in zip(S, new):
            order = sorted(range(8), key=lambda i: (abs(x[i] - at), i))
            nearest.append(set(np.flatnonzero(row)) == set(order[:k]))
    c.holds("each row sums to 1", sums)
    c.holds(r"the variance of each prediction is $\sigma^2/k$", variances)
    c.holds("the outputs that count are the nearest, at ties the lower index", nearest)


# Does the best penalty depend on n? ----------------------------------------------------------

PENALTIES = np.array([0.0, 1, 5, 20, 80, 320, 1280])


def error_and_share(n, repeats=100):
    """Return the error on new patients for each penalty, and the share of variance at 0."""
    rng, patients = np.random.default_rng(n), diabetes()
    Z, t = patients.X * np.sqrt(442), patients.y - patients.y.mean()
    said = np.full((repeats, 442, len(PENALTIES)), np.nan)
    for one in said:
        D, new = np.split(rng.permutation(442), [n])
        X, y = Z[D] - Z[D].mean(axis=0), t[D] - t[D].mean()
        A = X.T @ X + PENALTIES[:, None, None] * np.eye(10)
        W = np.linalg.solve(A, np.broadcast_to((X.T @ y)[:, None], (len(A), 10, 1)))[..., 0]
        one[new] = t[D].mean() + (Z[new] - Z[D].mean(axis=0)) @ W.T
    variance = np.nanvar(said, axis=0).mean(axis=0)
    error = ((t[:, None] - np.nanmean(said, axis=0)) ** 2).mean(axis=0) + variance
    return error, variance[0] / error[0]


@code(
    "ex-bias-variance-patients",
    "for data sets of 20, 40 and 160 patients three best penalties of the seven, the same per "
    "patient, and three shares",
)
def _(c, best, each, shares):
    runs = {n: error_and_share(n) for n in (20, 40, 160)}
    least = [PENALTIES[error.argmin()] for error, _ in runs.values()]
    c.holds("the best penalties, as another simulation finds them", np.asarray(best) == least)
    c.holds(r"per patient: $\lambda/n$", np.isclose(each, np.array(best) / list(runs), rtol=0.05))
    off = np.array(shares) - [share for _, share in runs.values()]
    c.holds("the share of variance, up to 0.06", np.abs(off) < 0.06)
    c.holds("it falls", np.diff(shares) < 0)


# Break it ------------------------------------------------------------------------------------

FAULTS = [
    ("_exact_parts", "w * p * (f + e - t) ** 2", "w * p * (f - t) ** 2"),
    None,  # a method, which no claim calls
    ("decompose_smoother", "np.sum(S**2, axis=1)", "np.sum(S, axis=1)"),
    ("parameter_mse", "np.sum((T - mean) ** 2, axis=1)", "np.sum((T - target) ** 2, axis=1)"),
    ("ridge_smoother", "np.sqrt(lam) * np.eye(d)", "lam * np.eye(d)"),
]


@code(
    "ex-bias-variance-break",
    'for each of the five changes in their order the name of a claim that notices it, or "none"',
)
def _(c, *named):
    named = list(named[0]) if len(named) == 1 else named
    c.holds("five answers", len(named) == 5)
    for number, (name, fault) in enumerate(zip(named, FAULTS), 1):
        if name == "none":
            c.holds(f"change {number}: no claim notices it", number in (2, 5))
        else:
            caught = fault and not missed("bias-variance", name, *fault)
            c.holds(f"change {number}: `{name}` notices it", bool(caught))
