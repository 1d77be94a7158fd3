"""Checks of the exercises of *Gaussian processes*."""

import numpy as np

from mllib.course.exercises import breaks, code, points


def bell(a, b):
    """Return the Gaussian kernel of length scale 1 between two lists of numbers."""
    return np.exp(-((np.subtract.outer(a, b)) ** 2) / 2)


# Brownian motion draws straight lines --------------------------------------------------------


@code(
    "ex-gaussian-processes-brownian",
    "your function `between(x, y, z)`, which lets the library find the posterior means and "
    "variances at z from values y without noise at increasing x; z lies among the x",
)
def _(c, between):
    x, y = np.array([0.5, 2, 3, 7]), np.array([1, -1, 0.5, 4])
    mean, variance = between(x, y, np.array([1.25, 5.0]))
    c.holds("halfway the mean of two neighbours", np.allclose(mean, [0, 2.25]))
    c.holds("with a quarter of their distance as variance", np.allclose(variance, [1.5 / 4, 4 / 4]))
    rng = np.random.default_rng(0)
    x, y = np.cumsum(rng.uniform(0.3, 2, 8)), rng.normal(size=8)
    z = x[0] + (x[-1] - x[0]) * np.linspace(0.02, 0.97, 10)
    mean, variance = between(x, y, z)
    c.holds("ten inputs among eight: the straight lines", np.allclose(mean, np.interp(z, x, y)))
    K, k = np.minimum.outer(x, x), np.minimum.outer(x, z)
    c.holds(
        "and the variances by the inverse of the covariance matrix",
        np.allclose(variance, z - np.einsum("im,ij,jm->m", k, np.linalg.inv(K), k)),
    )


points(
    "ex-gaussian-processes-brownian",
    "Increments over intervals that do not overlap are uncorrelated and jointly Gaussian, so they "
    "are independent. The variance of each is the length of its interval.",
    r"To know all values is to know $f(x_1)$, which is an increment too, and all increments "
    r"between neighbours.",
    r"Only the increment $f(x_{i+1})-f(x_i)$ is not independent of the two parts between which "
    r"$x$ lies.",
    "Conditioning one part on the sum of both gives the line and the variance.",
)

# Leave one out, with bars --------------------------------------------------------------------


@code(
    "ex-gaussian-processes-loo",
    "your function `leave_one_out(C, y)`, which returns the means and the variances",
)
def _(c, leave_one_out):
    found = leave_one_out(np.array([[2.0, 1], [1, 2]]), np.array([4.0, 2]))
    c.holds(
        "variances 2, covariance 1, targets 4 and 2: means 1 and 2, variances 3/2",
        np.allclose(found, [[1, 2], [1.5, 1.5]]),
    )
    rng, right = np.random.default_rng(0), []
    for n in (2, 3, 6):
        x, y = rng.normal(size=n), rng.normal(size=n)
        C = 1.7 * bell(x, x) + 0.3 * np.eye(n)
        for i, (mean, variance) in enumerate(zip(*leave_one_out(C, y))):
            rest = np.arange(n) != i
            gain = C[i, rest] @ np.linalg.inv(C[np.ix_(rest, rest)])
            refit = gain @ y[rest], C[i, i] - gain @ C[rest, i]
            right.append(np.allclose((mean, variance), refit, rtol=0, atol=1e-10))
    c.holds("2, 3 and 6 targets: eleven refits agree to $10^{-10}$", right)


points(
    "ex-gaussian-processes-loo",
    r"Given the others, the exponent is a parabola in $y_i$; its curvature is $[C^{-1}]_{ii}$.",
    r"Its summit: the linear part is the rest of the sum that makes $\alpha_i$.",
)

# Where to measure next -----------------------------------------------------------------------


def left(K, picks, noise):
    """Return the variances that measurements at the picks leave."""
    C = K[np.ix_(picks, picks)] + noise * np.eye(len(picks))
    return np.diag(K - K[:, picks] @ np.linalg.inv(C) @ K[picks])


@code(
    "ex-gaussian-processes-design",
    "your function `plan(K, n, noise)` of the prior covariances, which returns the list of the n "
    "indices and the largest variance that is left",
)
def _(c, plan):
    c.holds(
        "variances 1 and 1/10, noise 1: the first is measured twice, and 1/3 is left",
        list(plan(np.diag([1, 0.1]), 2, 1.0)[0]) == [0, 0],
        np.isclose(plan(np.diag([1, 0.1]), 2, 1.0)[1], 1 / 3),
    )
    line, rng = np.linspace(0, 12, 121), np.random.default_rng(0)
    first, widest, told = [], [], []
    for x, n, noise in ((np.arange(9.0), 5, 0.1), (rng.normal(size=12), 6, 0.5), (line, 10, 0.01)):
        K = bell(x, x)
        picks, worst = plan(K, n, noise)
        picks = [int(i) for i in picks]
        for k in range(n):
            bars = left(K, picks[:k], noise)
            widest.append(len(picks) == n and bars[picks[k]] > bars.max() - 1e-8)
        first.append(picks[0] == np.flatnonzero(np.diag(K) == K.max())[0])
        told.append(abs(worst - left(K, picks, noise).max()) < 1e-8)
    c.holds(
        "three sets of inputs, all bars equal at the start: the lowest index comes first", first
    )
    c.holds("each further one has the widest of the bars that are left", widest)
    c.holds("and the variance is the largest that is left", told)
    draws = [left(K, rng.choice(121, 10, replace=False), 0.01).max() for _ in range(200)]
    c.holds("on 121 inputs the plan beats nine in ten of 200 draws", np.mean(worst < draws) >= 0.9)


# Does the bend pay? --------------------------------------------------------------------------


@code(
    "ex-gaussian-processes-diabetes",
    "the twenty gains of the process over the line, in nats per patient, their mean and its "
    "standard error; and True or False, whether the bend pays by more than three of these",
)
def _(c, gains, mean, error, pays):
    gains = np.asarray(gains, dtype=float)
    c.holds(
        "twenty gains, none of them above a tenth of a nat or below minus a tenth",
        gains.shape == (20,),
        abs(gains) < 0.1,
    )
    c.holds("your mean is theirs", abs(mean - gains.mean()) < 1e-3)
    spread = ((gains - gains.mean()) ** 2).sum() / 19
    c.holds(
        "your standard error is that of a mean of twenty",
        abs(error - (spread / 20) ** 0.5) < 0.02 * error + 5e-4,
    )
    c.holds("less than a fiftieth of a nat in the mean", abs(gains.mean()) < 0.02)
    c.holds(
        "your answer is that of your numbers",
        isinstance(pays, (bool, np.bool_)),
        bool(pays) == (gains.mean() > 3 * (spread / 20) ** 0.5),
    )


# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-gaussian-processes-break",
    [
        ("gp_predict", "variance + fit.noise)", "variance)"),
        ("condition_on", "gain @ (b - mean_b)", "gain @ b"),
        ("evidence_slopes", "half[np.diag_indices(len(half))] /= 2", "pass"),
        ("_fit", "_cholesky(K + noise * np.eye(len(K)))", "_cholesky(K)"),
    ],
)
