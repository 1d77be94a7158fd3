"""Checks of the exercises of *Estimation*."""

import itertools
from fractions import Fraction

import numpy as np
from scipy.special import betainc

from mllib.course.exercises import breaks, code, points, value

# Stretching the parameter --------------------------------------------------------------------


@code(
    "ex-estimation-odds",
    "two functions of the number of heads s and of tosses n: the MAP of p, and the MAP of the "
    "log-odds turned back into a probability",
)
def _(c, of_p, of_odds):
    cases = [(1, 2), (2, 5), (1, 4), (7, 9), (3, 12)]

    def densest(s, n, scale):  # where an interval of fixed length on the scale holds most
        ends = scale(np.linspace(-6, 6, 12001))
        mass = betainc(s + 1, n - s + 1, ends[8:]) - betainc(s + 1, n - s + 1, ends[:-8])
        return ends[4 + np.argmax(mass)]

    plain = [densest(s, n, lambda t: (t + 6) / 12) for s, n in cases]
    odds = [densest(s, n, lambda t: 1 / (1 + np.exp(-t))) for s, n in cases]
    c.holds(
        "the first is where short intervals of $p$ hold the most of the posterior, five samples",
        [abs(of_p(*case) - p) < 2e-3 for case, p in zip(cases, plain)],
    )
    c.holds(
        "the second is where short intervals of the log-odds hold the most of it",
        [abs(of_odds(*case) - p) < 2e-3 for case, p in zip(cases, odds)],
    )


points(
    "ex-estimation-odds",
    "The likelihood of the new parameter is that of the old one under another name, so it is "
    r"largest where $g^{-1}(\varphi)=\hat\theta_{\rm ML}$.",
    r"A density takes a factor: that of the log-odds is that of $p$ times $dp/d\varphi=p(1-p)$.",
    "With this factor the posterior is one of more tosses; which rule is that?",
)

# What cannot be estimated without bias -------------------------------------------------------


@code(
    "ex-estimation-no-unbiased",
    "your estimator `T(x)` of the square of p from two tosses x, each 0 or 1, and a function "
    "`largest(n)`: the largest r for which n tosses have an unbiased estimator of the r-th power",
)
def _(c, T, largest):
    values = {x: Fraction(T(x)) for x in itertools.product((0, 1), repeat=2)}
    means = []
    for p in [Fraction(k, 7) for k in range(8)]:
        weight = {x: p ** sum(x) * (1 - p) ** (2 - sum(x)) for x in values}
        means.append(sum(weight[x] * values[x] for x in values) == p**2)
    c.holds(r"$\mathbb E[T]=p^2$, exactly, for $p=0,\frac17,\dots,1$", means)

    def reached(n, r):  # is p^r a combination of the p^s (1 - p)^(n - s)?
        size = max(n, r) + 1
        rows = [np.poly([0] * s + [1] * (n - s)) for s in range(n + 1)]
        rows = np.array([np.pad(row, (size - len(row), 0)) for row in rows])
        power = np.eye(size)[size - 1 - r]
        return np.linalg.matrix_rank(np.vstack([rows, power])) == np.linalg.matrix_rank(rows)

    most = [max(r for r in range(1, n + 4) if reached(n, r)) for n in range(1, 6)]
    c.holds("the largest power for $n$ from 1 to 5", [largest(n) for n in range(1, 6)] == most)


points(
    "ex-estimation-no-unbiased",
    r"$\mathbb E[T]$ is a polynomial in $p$ of degree at most $n$.",
    "A polynomial is bounded on $(0,1)$, and $1/p$ is not.",
    "Polynomials that agree on an interval have equal coefficients, so $p^{n+1}$ is none of them.",
    "For the powers that are left: an estimator that looks at the first $r$ tosses only.",
)

# The highest ticket --------------------------------------------------------------------------


@code(
    "ex-estimation-highest-ticket",
    "your function `largest_moments(M, n)`, which returns the mean of the largest number as a "
    "`Fraction`",
)
def _(c, largest_moments):
    c.holds("one ticket of two: the mean is 3/2", largest_moments(2, 1) == Fraction(3, 2))
    cases = list(itertools.product(range(1, 7), range(1, 5)))
    drawn = [[max(x) for x in itertools.product(range(1, M + 1), repeat=n)] for M, n in cases]
    c.holds(
        r"exactly the mean over all $M^n$ samples, for $M\le6$ and $n\le4$",
        [largest_moments(*case) == Fraction(sum(d), len(d)) for case, d in zip(cases, drawn)],
    )


points(
    "ex-estimation-highest-ticket",
    r"The likelihood is $M^{-n}$ from the largest number drawn on, and 0 below: it falls in $M$.",
    r"$\max\le M$, so the bias is negative for $M>1$.",
    r"$\mathbb E[\max]=\sum_{k\ge1}P(\max\ge k)$, and each $P(\max\le k)=(k/M)^n$ with $k<M$ "
    "vanishes as $n$ grows, so the bias does.",
)

# How much smoothing do earthquakes want? -----------------------------------------------------

value(
    "ex-estimation-smoothing",
    "the best c, then the log-likelihoods of the smoothed table, the Poisson law and the Gaussian",
    "ec34a191d8d7fde6",
)

# When the median wins ------------------------------------------------------------------------

value(
    "ex-estimation-contamination",
    "the smallest of these shares at which the median wins, then the ratios for the shares 0, "
    "0.1 and 0.2",
    "39eab50bc55d3269",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-estimation-break",
    [
        ("gaussian_mle", "float(np.mean((x - mean) ** 2)))", "float(np.var(x, ddof=1)))"),
        ("categorical_map", "return total / total.sum()", "return total / counts.sum()"),
        ("gaussian_mean_posterior", "prior * x.sum()", "prior * x.mean()"),
        ("cramer_rao_bound", '"slope") ** 2', '"slope")'),
        ("dirichlet_posterior", "Dirichlet(alpha + _counts", "Dirichlet(0 * alpha + _counts"),
    ],
)
