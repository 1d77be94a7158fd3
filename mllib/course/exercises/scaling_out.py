"""Checks of the exercises of *Scaling out*."""

import itertools
from fractions import Fraction

import numpy as np

from mllib.course.exercises import breaks, code, points
from mllib.least_squares import regression_statistics

# Variance without a count --------------------------------------------------------------------


@code(
    "ex-scaling-out-variance",
    "two data sets, lists of numbers, and the list of what is added to both",
)
def _(c, first, second, added):
    def moments(data):
        x = [Fraction(float(v)).limit_denominator(10**6) for v in data]
        mean = sum(x) / len(x)
        return mean, sum((v - mean) ** 2 for v in x) / len(x)

    c.holds(
        "in fractions: the two have the same mean and variance", moments(first) == moments(second)
    )
    c.holds("something is added", len(added) > 0)
    c.holds(
        "after that they differ in the mean or in the variance",
        moments([*first, *added]) != moments([*second, *added]),
    )


points(
    "ex-scaling-out-variance",
    r"With the count $S=n\sigma^2$, and $n$, mean and $S$ of two parts give those of the union.",
    r"The standard error of the mean is $\sigma/\sqrt n$, so it needs the count.",
)

# The nearest neighbour forgets nothing -------------------------------------------------------


@code(
    "ex-scaling-out-neighbour",
    "your function `tell(A, B)` of two different subsets of 3, 6, 9, 12, tuples of the positive "
    "places, which returns the places of two negatives and the place of a prediction",
)
def _(c, tell):
    sets = [s for k in range(5) for s in itertools.combinations((3, 6, 9, 12), k)]
    apart, sure = [], []
    for A, B in itertools.combinations(sets, 2):
        low, high, at = tell(A, B)
        near = min(abs(at - low), abs(at - high))
        plus = [min([abs(at - p) for p in S], default=np.inf) for S in (A, B)]
        sure.append(near not in plus)
        apart.append((plus[0] < near) != (plus[1] < near))
    c.holds("all 120 pairs of subsets: no tie of a positive and a negative", sure)
    c.holds("and the two predictions differ", apart)


points(
    "ex-scaling-out-neighbour",
    "Two different subsets differ in some $3j$, which is in one of them only.",
    "There the negatives are nearer than any other positive, and farther than one at $3j$.",
    "So no two of the $2^m$ subsets share a state: $m$ bits are needed at least.",
)

# A median that may be wrong ------------------------------------------------------------------


@code(
    "ex-scaling-out-histogram",
    "your function `rough_median(chunks, k)` of arrays of numbers in [0, 1] and the number of bins",
)
def _(c, rough_median):
    c.holds(
        "0.1, 0.3, 0.9 in two chunks and ten bins: 0.35",
        abs(rough_median([np.array([0.9, 0.1]), np.array([0.31])], 10) - 0.35) < 1e-9,
    )
    rng, middle, near, same = np.random.default_rng(0), [], [], []
    for n, k in itertools.product((1, 2, 7, 50, 1001), (3, 10, 1000)):
        x = rng.beta(2, 5, n)
        said = rough_median(np.array_split(x, 3) if n > 2 else [x], k)
        element = np.sort(x)[-(-n // 2) - 1]
        near.append(abs(said - element) <= 0.5 / k + 1e-12)
        middle.append(abs((said * k) % 1 - 0.5) < 1e-6)
        same.append(abs(said - rough_median([x], k)) < 1e-12)
    c.holds("it is the middle of a bin, 15 samples of 1 to 1001 numbers", middle)
    c.holds(r"at most half a width from the element of rank $\lceil N/2\rceil$", near)
    c.holds("the chunks do not matter", same)


points(
    "ex-scaling-out-histogram",
    "The counts of the bins add up over chunks.",
    r"The element of rank $\lceil N/2\rceil$ lies in the first bin up to which the counts reach "
    "that rank, and no place of a bin is more than half a width from its middle.",
)

# How bad is averaging? -----------------------------------------------------------------------


@code(
    "ex-scaling-out-averaging",
    "your function `excess(X, y, cut)`, cut being a list of arrays of row numbers: the mean "
    "squared residual of the averaged fit less that of least squares",
)
def _(c, excess):
    rng, said, truth, alone = np.random.default_rng(0), [], [], []
    for n, m in [(30, 2), (30, 5), (60, 3)] * 5:
        X, y = rng.standard_normal((n, 3)) + 1, rng.standard_normal(n) + 4
        cut = np.array_split(rng.permutation(n), m)
        A = np.column_stack([np.ones(n), X])
        fits = [np.linalg.lstsq(A[i], y[i], rcond=None)[0] for i in (np.arange(n), *cut)]
        mean, best = np.mean(fits[1:], axis=0), fits[0]
        said.append(excess(X, y, cut))
        truth.append(np.mean((y - A @ mean) ** 2) - np.mean((y - A @ best) ** 2))
        alone.append(abs(excess(X, y, [np.arange(n)])) < 1e-9)
    c.holds("one chunk has no excess", alone)
    c.holds(
        "15 cuts: the excess by the average of the chunks' weights and offsets",
        np.isclose(said, truth),
    )
    c.holds("it is never negative", np.array(said) >= -1e-12)


points(
    "ex-scaling-out-averaging",
    "The average of affine functions is an affine function.",
    "Of all affine functions least squares has the smallest squared error on these rows.",
    "Merged statistics are those of all rows, and so is their fit.",
)

# Cross-validation in one pass ----------------------------------------------------------------


@code(
    "ex-scaling-out-folds",
    "your function `cross_validation(kept, lam)` of the `regression_statistics` of the folds, "
    "which returns the sum of the squared errors on all rows",
)
def _(c, cross_validation):
    rng, said, truth = np.random.default_rng(0), [], []
    for sizes, lam in itertools.product([(6, 6, 6), (4, 9, 14), (5, 7)], (0.01, 1.0, 100.0)):
        n = sum(sizes)
        X, y = rng.standard_normal((n, 3)) + 2, rng.standard_normal(n) + 5
        folds, error = np.split(np.arange(n), np.cumsum(sizes)[:-1]), 0
        for test in folds:
            train = np.setdiff1d(np.arange(n), test)
            means = X[train].mean(axis=0), y[train].mean()
            rows = np.r_[X[train] - means[0], lam**0.5 * np.eye(3)]
            right = np.append(y[train] - means[1], np.zeros(3))
            w = np.linalg.lstsq(rows, right, rcond=None)[0]
            error += np.sum((y[test] - means[1] - (X[test] - means[0]) @ w) ** 2)
        said.append(cross_validation([regression_statistics(X[i], y[i]) for i in folds], lam))
        truth.append(error)
    c.holds(
        r"three to two folds, equal and not, $\lambda=0.01,1,100$: ridge fitted and judged on rows",
        np.isclose(said, truth, rtol=1e-8),
    )


points(
    "ex-scaling-out-folds",
    "The statistics of the other folds add up to those of the training rows.",
    r"A row $z=(x,y)$ of the fold has the residual $v^Tz-b$ with $v=(-w,1)$.",
    r"Deviations from the mean $m$ of the fold add up to zero, so no cross term is left: "
    r"$\|Rv\|^2+n(m^Tv-b)^2$.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-scaling-out-break",
    [
        ("core.chunks.ColumnMoments", "* gap**2", "* 0"),
        (
            "core.chunks.tree_sum",
            "merge(partial.pop()[1], value)",
            "merge(value, partial.pop()[1])",
        ),
        ("greedy_schedule", "loads[j] = load + cost", "loads[j] = cost"),
        ("states", "fit(A + C) for C", "fit(A) for C"),
        ("logistic_sums", "np.sqrt(s * q * expit(-a))", "np.sqrt(s * q)"),
    ],
)
