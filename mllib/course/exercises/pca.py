"""Checks of the exercises of *Principal components*."""

import numpy as np
from scipy.spatial.distance import cdist

from mllib.course.datasets import diabetes
from mllib.course.exercises import breaks, code, points

# Uncorrelated, and yet -----------------------------------------------------------------------


@code(
    "ex-pca-dependent",
    "five points of the plane, and a function `g(s)`, which gives the second score of each from "
    "its first",
)
def _(c, X, g):
    X = np.asarray(X, dtype=float)
    c.holds("five different points of the plane", X.shape == (5, 2), len(np.unique(X, axis=0)) == 5)
    Z = X - X.mean(axis=0)
    S = Z.T @ Z / 5
    c.holds("the coordinates are uncorrelated", abs(S[0, 1]) < 1e-9)
    c.holds(
        "the first has the larger variance, so that the directions are the axes", S[0, 0] > S[1, 1]
    )
    c.holds("the second is not constant", S[1, 1] > 1e-9)
    said = [g(s) for s in Z[:, 0]]
    c.holds("the second score is that function of the first", np.allclose(said, Z[:, 1]))


points(
    "ex-pca-dependent",
    "Scores are centred: the function takes and gives deviations from the mean.",
    "Uncorrelated coordinates of a Gaussian law are independent, so neither tells of the other.",
)

# How many components? ------------------------------------------------------------------------


@code(
    "ex-pca-parallel", "your function `parallel_analysis(D, rounds, rng)`, which returns a number"
)
def _(c, parallel_analysis):
    rng = np.random.default_rng(0)

    def count(D, rounds=40):
        Z = (D - D.mean(axis=0)) / D.std(axis=0)
        return parallel_analysis(Z, rounds, np.random.default_rng(1))

    one, two = rng.standard_normal((2, 200, 1))
    noise = rng.standard_normal((200, 6))
    c.holds("six columns that share one cause have one component", count(3 * one + noise) == 1)
    both = np.hstack([3 * one + noise[:, :3], 2 * two + noise[:, 3:]])
    c.holds("three columns of one cause and three of another: two", count(both) == 2)
    c.holds("two columns, one the other: one", count(np.hstack([one, one])) == 1)
    free = rng.standard_normal((60, 3))
    free -= free.mean(axis=0)
    c.holds(
        "three columns without any correlation: the last eigenvalue is above chance, the first "
        "is not, and there is none",
        count(np.linalg.qr(free)[0]) == 0,
    )
    chance = [count(rng.standard_normal((50, 4))) for _ in range(40)]
    c.holds(
        "40 samples of independent columns: nearly all have none", np.sum(np.array(chance) > 0) < 10
    )


# A new point from its distances --------------------------------------------------------------


@code(
    "ex-pca-gower",
    "your function `scores(D, delta, k)` of the distances between the rows, shape (n, n), and of "
    "those of a new point from them, shape (n,), which returns its first k scores",
)
def _(c, scores):
    rng, right, known = np.random.default_rng(0), [], []
    for n, d, k in [(9, 2, 2), (20, 3, 3), (20, 5, 2)]:
        X, Q = rng.standard_normal((n, d)) * np.arange(1, d + 1), rng.standard_normal((5, d)) + 1
        V = np.linalg.svd(X - X.mean(axis=0))[2][:k].T
        said = np.array([scores(cdist(X, X), delta, k) for delta in cdist(Q, X)])
        truth = (Q - X.mean(axis=0)) @ V
        right.append(said.shape == truth.shape)
        sign = np.sign((said * truth).sum(axis=0)) if right[-1] else 1
        known.append(right[-1] and np.allclose(said * sign, truth, atol=1e-8))
    c.holds("$k$ numbers for a point", right)
    c.holds(
        "five new points of three samples: the coordinates along the singular vectors of the "
        "centred rows, but for the sign of each direction",
        known,
    )


points(
    "ex-pca-gower",
    r"$-\frac12\|x-x'\|^2=x^Tx'-\frac12\|x\|^2-\frac12\|x'\|^2$ serves as a kernel.",
    "What depends on the new point alone is the same in all entries, and $I-J$ removes it.",
    r"What depends on $x_i$ alone cancels between $k_x$ and $\frac1nK\mathbf 1$, up to a constant, "
    "which $I-J$ removes too.",
    r"$\alpha=a_j/\sqrt{\lambda_j}$, with the eigenvalue of $B$ itself and not of $\frac1nB$.",
)

# Components or ridge? ------------------------------------------------------------------------


def errors(X, y, train, test):
    """Mean squared errors on the test rows: 1 to 10 components, then ridge."""
    scaled = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    A, Q, m = scaled[train], scaled[test], y[train].mean()
    t, V = y[train] - m, np.linalg.svd(A, full_matrices=False)[2].T
    weights = [V[:, :k] @ np.linalg.lstsq(A @ V[:, :k], t, rcond=None)[0] for k in range(1, 11)]
    for lam in (1, 10, 30, 100):
        rows = np.r_[A, lam**0.5 * np.eye(10)], np.append(t, np.zeros(10))
        weights.append(np.linalg.lstsq(*rows, rcond=None)[0])
    return np.array([np.mean((y[test] - m - Q @ w) ** 2) for w in weights])


@code(
    "ex-pca-regression",
    "your function `both_errors(X, y, train, test)` of ten columns and the numbers of the rows, "
    "which returns the mean squared errors on the test rows of 1 to 10 components, then of ridge "
    "with 1, 10, 30, 100; and the number of components from which the two are level",
)
def _(c, both_errors, level):
    rng, gaps = np.random.default_rng(0), []
    for _ in range(5):
        X = rng.standard_normal((60, 10)) @ rng.standard_normal((10, 10)) + np.arange(10)
        y = X @ rng.standard_normal(10) + 3 * rng.standard_normal(60) + 5
        train, test = np.split(rng.permutation(60), [25])
        truth = errors(X, y, train, test)
        gaps.append(np.abs(np.array(both_errors(X, y, train, test)) / truth - 1))
    gaps = np.array(gaps)
    c.holds("ten errors, then four", gaps.shape == (5, 14))
    c.holds("five samples: the errors of the components, by singular vectors", gaps[:, :10] < 1e-6)
    c.holds("those of ridge, by further rows, to 2 %", gaps[:, 10:] < 0.02)
    sugar, found = diabetes(), []
    for seed in range(10):
        rows = np.split(np.random.default_rng(seed).permutation(442), [300])
        found.append(errors(sugar.X, sugar.y, *rows))
    found = np.mean(found, axis=0)
    apart = found[:10] / found[10:].min()
    c.holds("from that number on the errors are within 3 % of ridge", apart[level - 1 :] < 1.03)
    c.holds("one component fewer has more", level == 1 or apart[level - 2] > 1.03)


# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-pca-break",
    [
        ("_by_svd", "s[:k] ** 2 / n", "s[:k] / n"),
        ("Moments", "self.scatter + other.scatter + between", "self.scatter + other.scatter"),
        ("_kernel_components", "A / np.sqrt(values),", "A / np.sqrt(values / n),"),
        ("classical_scaling", "-0.5 * D**2", "-1.0 * D**2"),
    ],
)
