"""Checks of the exercises of *Mixtures and EM*."""

import math

import numpy as np
from scipy.stats import multivariate_normal

from mllib.course.datasets import faithful
from mllib.course.exercises import breaks, code, points


def joint(X, weights, means, covariances):
    """The terms of the mixture at each row, shape (n, K)."""
    laws = zip(weights, means, covariances)
    return np.column_stack([w * multivariate_normal(m, S).pdf(X) for w, m, S in laws])


def refit(X, P):
    """One round of EM from the terms of the mixture: weights, means, covariances."""
    R = P / P.sum(axis=1, keepdims=True)
    means = [r @ X / r.sum() for r in R.T]
    return R.mean(axis=0), means, [(r * (X - m).T) @ (X - m) / r.sum() for r, m in zip(R.T, means)]


# Memberships without a density ---------------------------------------------------------------


@code(
    "ex-mixtures-and-em-fuzzy",
    "your functions `memberships(X, M)`, which returns the best u, shape (n, K), for the rows M "
    "as centres, and `centres(X, U)`, which returns the best centres for these",
)
def _(c, memberships, centres):
    line, pair = np.array([[0.0], [1.0]]), np.array([[-1.0], [2.0]])
    c.holds(
        "0 and 1 with the centres -1 and 2: 4/5 and 1/5 of the first",
        np.allclose(memberships(line, pair), [[0.8, 0.2], [0.2, 0.8]]),
    )
    c.holds(
        "0 and 1 with the memberships (1/3, 2/3) and (2/3, 1/3): the centres 4/5 and 1/5",
        np.allclose(centres(line, np.array([[1, 2], [2, 1]]) / 3), [[0.8], [0.2]]),
    )
    rng = np.random.default_rng(0)
    X, M, falls, no_better = faithful().X, np.array([[2.0, 55.5], [4.0, 80.2]]), [], []

    def total(U, M):
        return (U**2 * ((X[:, None] - M) ** 2).sum(axis=2)).sum()

    for _ in range(40):
        U = np.asarray(memberships(X, M))
        falls.append(total(U, M))
        others = [0.9 * U + 0.1 * rng.dirichlet(np.ones(2), len(X)) for _ in range(3)]
        no_better += [total(V, M) > falls[-1] for V in others]
        M = np.asarray(centres(X, U))
        falls.append(total(U, M))
        no_better += [total(U, M + step) > falls[-1] for step in rng.normal(size=(3, 2, 2))]
    c.holds("on the geyser no other memberships and no other centres have a smaller sum", no_better)
    c.holds("so the sum never rises", np.diff(falls) <= 1e-9 * falls[0])
    far = memberships(np.array([[1e6, 1e6]]), M)
    c.holds("a point far from both centres belongs to each by half", np.abs(far - 0.5) < 1e-3)


points(
    "ex-mixtures-and-em-fuzzy",
    "The memberships: for each point, Cauchy and Schwarz or a multiplier for $\\sum_ku_{ik}=1$; "
    "with the multiplier, why the stationary point is the minimum.",
    r"The centres: for fixed $u$ a sum of squares with the weights $u_{ik}^2$, least at the "
    "weighted mean.",
    "Far away the squared distances are nearly in the ratio 1, and the memberships nearly equal; "
    "the responsibilities of equal balls are nearly 0 and 1.",
)

# Counts and a background ---------------------------------------------------------------------


@code(
    "ex-mixtures-and-em-poisson",
    "your 1000 counts, `e_step(theta)`, which returns the responsibilities, Poisson first, and the "
    "log-likelihood, and `m_step(R)`; theta is (share, rate)",
)
def _(c, counts, e_step, m_step):
    x = np.array([int(v) for v in counts])
    c.holds("1000 counts", len(x) == 1000, x >= 0)
    uniform, factorials = np.where(x < 30, 1 / 30, 0), [math.lgamma(k + 1) for k in x]
    for share, rate in ((0.5, 5.0), (0.7, 11.0)):
        R, height = e_step((share, rate))
        poisson = np.exp(x * np.log(rate) - rate - factorials)
        p = np.column_stack([share * poisson, (1 - share) * uniform])
        g, rest = (p / p.sum(axis=1, keepdims=True)).T
        c.holds(
            f"share {share} and rate {rate}: Bayes' rule for each count",
            np.allclose(R, np.column_stack([g, rest])),
        )
        c.holds("and the logarithm of the product", np.isclose(height, np.log(p.sum(axis=1)).sum()))
        s, r = m_step(np.column_stack([g, rest]))
        near = [(s, r)] + [(s + d, r) for d in (-0.01, 0.01)] + [(s, r + d) for d in (-0.1, 0.1)]
        Q = [
            g @ (np.log(s) + x * np.log(r) - r) + rest.sum() * np.log(1 - s)
            for s, r in near
            if 0 < s < 1 and r > 0
        ]
        c.holds("no share and no rate nearby has a larger $Q$", Q.index(max(Q)) == 0)
    theta = (0.5, 5.0)
    for _ in range(100):
        theta = m_step(e_step(theta)[0])
    c.holds("after 100 rounds: the share within 0.1 of 0.6", abs(theta[0] - 0.6) < 0.1)
    c.holds("the rate within 0.6 of 9", abs(theta[1] - 9) < 0.6)


# The classic genetic linkage example ---------------------------------------------------------


@code(
    "ex-mixtures-and-em-linkage",
    "one round of your EM as a function of theta, and the ratio of errors near the limit",
)
def _(c, once, ratio):
    grid, best = np.arange(1, 10_000) / 10_000, []
    for theta in (0.2, 0.5, 0.9):
        p = (theta / 4) / (1 / 2 + theta / 4)
        split = [math.comb(125, h) * p**h * (1 - p) ** (125 - h) for h in range(126)]
        Q = sum(
            weight * ((h + 34) * np.log(grid) + 38 * np.log(1 - grid))
            for h, weight in enumerate(split)
        )
        best.append(abs(once(theta) - grid[Q.argmax()]) < 1e-4)
    c.holds(
        "from three theta: the largest mean, over all 126 splits of the first cell, of the "
        "log-likelihood",
        best,
    )
    path = [0.5]
    for _ in range(15):
        path.append(once(path[-1]))
    c.holds("from 1/2 the limit is 0.6268", abs(path[-1] - 0.6268) < 5e-5)
    slope = (once(path[-1] + 1e-4) - once(path[-1] - 1e-4)) / 2e-4
    c.holds("the ratio is the slope of a round at the limit", abs(ratio - slope) < 1e-3)


points(
    "ex-mixtures-and-em-linkage",
    "The ratio is the share of information that is missing: one minus the observed information, "
    "the second derivative of the log-likelihood at the limit, over that of the complete data.",
    "Both are computed at the limit, the complete one with the expected split.",
)

# A floor that breaks the promise -------------------------------------------------------------


@code(
    "ex-mixtures-and-em-ridge",
    "the sample X, the weights, means and covariances at the start, and your epsilon",
)
def _(c, X, weights, means, covariances, epsilon):
    X = np.asarray(X, dtype=float)
    theta = [np.asarray(v, dtype=float) for v in (weights, means, covariances)]
    c.holds("X has rows and columns, and epsilon is positive", X.ndim == 2, epsilon > 0)
    c.holds("positive weights that add up to 1", theta[0] > 0, abs(theta[0].sum() - 1) < 1e-9)
    c.holds("positive definite covariances", [np.linalg.eigvalsh(S) > 0 for S in theta[2]])
    heights = []
    for _ in range(50):
        P = joint(X, *theta)
        heights.append(np.log(P.sum(axis=1)).sum())
        theta = refit(X, P)
        theta[2][:] = [S + epsilon * np.eye(X.shape[1]) for S in theta[2]]
    c.holds(
        "in 50 rounds with the floor the log-likelihood falls at some step",
        np.diff(heights).min() < -1e-4,
    )


points(
    "ex-mixtures-and-em-ridge",
    "At a maximum the M-step stays where it is, and any other parameters are lower.",
    "The exact floor maximises $Q$ over a set that contains the current parameters, so its $Q$ is "
    "not below that of staying.",
)

# Does the third kind of eruption survive? ----------------------------------------------------


@code(
    "ex-mixtures-and-em-heldout",
    "the fold of each eruption, 0 to 9, and the held-out log-likelihood of each, four rows for "
    "K = 1, 2, 3, 4, in the order of the data",
)
def _(c, folds, scores):
    X, folds, scores = faithful().X, np.asarray(folds), np.asarray(scores, dtype=float)
    c.holds(
        "one fold and four numbers for each eruption",
        folds.shape == (272,),
        scores.shape == (4, 272),
    )
    c.holds("ten folds of 27 or 28", np.isin(np.bincount(folds, minlength=10), (27, 28)))
    own = np.empty((2, 272))
    for f in range(10):
        A, B = X[folds != f], X[folds == f]
        own[0, folds == f] = multivariate_normal(A.mean(axis=0), np.cov(A.T, bias=True)).logpdf(B)
        P = np.column_stack([A[:, 0] < 3, A[:, 0] >= 3]) * 1.0
        for _ in range(30):
            w, m, S = refit(A, P)
            S = [w[0] * S[0] + w[1] * S[1]] * 2
            P = joint(A, w, m, S)
        own[1, folds == f] = np.log(joint(B, w, m, S).sum(axis=1))
    c.holds("$K=1$: the Gaussian of the other nine folds", np.abs(scores[0] - own[0]) < 1e-4)
    c.holds("$K=2$: the tied mixture of the other nine folds", np.abs(scores[1] - own[1]) < 0.05)
    gain = scores[2:] - scores[1]
    error = gain.std(axis=1) / 272**0.5
    c.holds(
        "three and four differ from two by less than four standard errors",
        np.abs(gain.mean(axis=1)) <= 4 * error,
    )


# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-mixtures-and-em-break",
    [
        ("_moments", "(R[:, k, None] * Z).T @ Z", "Z.T @ Z"),
        ("_moments", "np.where(N > 0, N, 1.0)[:, None]", "len(X)"),
        ("e_step", "float(log_p.sum())", "float(log_p.mean())"),
        ("_climb", "params = m_step(statistics)\n", "m_step(statistics)\n"),
        ("_climb", "trace[-1] - trace[-2] <= tol", "trace[-1] - trace[-2] >= tol"),
    ],
)
points(
    "ex-mixtures-and-em-break",
    r"The sixth is no fault: $\sum_i\gamma_{ik}(x_i-\mu_k)=0$, so it is the same matrix.",
)
