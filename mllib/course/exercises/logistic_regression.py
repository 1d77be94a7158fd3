"""Checks of the exercises of *Logistic regression*."""

import itertools

import numpy as np

from mllib.course.exercises import breaks, code, points, value

# The threshold of a threshold ----------------------------------------------------------------


def kind_by_directions(x, y):
    """Return the kind of a sample by trying a vector of each sort: cuts of the line, and none."""
    places, found = np.unique(x), "overlap"
    cuts = [places[0] - 1, *places, *(places[1:] + places[:-1]) / 2]
    for v in [(a, -a * cut) for a in (-1, 1) for cut in cuts] + [(0, 1), (0, -1)]:
        sides = (2 * y - 1) * (v[0] * x + v[1])
        if min(sides) > 0:
            return "complete"
        if min(sides) == 0 < max(sides):
            found = "quasi-complete"
    return found


@code(
    "ex-logistic-regression-one-input",
    "your rule as a function `kind(x, y)` of values in increasing order and their labels 0 and 1, "
    'which returns "complete", "quasi-complete" or "overlap"',
)
def _(c, kind):
    for sample, said in (
        ((1, 2, 2, 3, 4, 4), "all 64 labellings of 1, 2, 2, 3, 4, 4"),
        ((5, 5, 5), "all 8 labellings of 5, 5, 5, where no cut is between two values"),
        ((0.5, 0.5, 2), "all 8 labellings of 0.5, 0.5, 2"),
    ):
        x = np.array(sample, dtype=float)
        labellings = map(np.array, itertools.product([0, 1], repeat=len(x)))
        c.holds(said, [kind(x, y) == kind_by_directions(x, y) for y in labellings])


points(
    "ex-logistic-regression-one-input",
    r"With =(b,a)$: for =0$ all scores are $b$, which separates one class only.",
    "For $a>0$ the positives lie at or above the cut and the negatives at or below it; for $a<0$ "
    "the other way round.",
    "Some score is not 0 unless all values lie on the cut: there the equal values come in.",
    "The separation is quasi-complete if the classes share the value at which they meet.",
)

# Stiemke's theorem for nothing ---------------------------------------------------------------


@code("ex-logistic-regression-stiemke", "your weights, one for each of the four rows")
def _(c, weights):
    weights = np.asarray(weights, dtype=float)
    c.holds("one weight for each row", weights.shape == (4,))
    c.holds("all of them are positive", weights > 0)
    total = weights @ [[2, 1], [-1, 2], [-2, -1], [1, -2]]
    c.holds(r"beside them $Z^T\lambda$ is 0 to ten digits", abs(total) < 1e-10 * abs(weights).sum())


points(
    "ex-logistic-regression-stiemke",
    "Labels are wanted: with 1 for every row the $z_i$ are the rows.",
    "The first alternative then says that the sample is separated, the second is (b).",
    "(b) and (c) are equivalent, so exactly one alternative holds.",
    r"At the minimiser the gradient is 0: its weights $1-p_i$ are the $\lambda_i$, all positive.",
)

# Newton without a safeguard ------------------------------------------------------------------

value(
    "ex-logistic-regression-overshoot",
    "the largest start, to three digits",
    "5debdfbd810643e0",
)
points(
    "ex-logistic-regression-overshoot",
    "The iteration is an odd function of $w$, so it is enough to compare $|w|$ before and after.",
    "Below the number $|w|$ falls, and its limit must be a point that the iteration keeps.",
    "At the number the run goes to and fro, beyond it each step grows.",
)

# What PSI is worth ---------------------------------------------------------------------------

value(
    "ex-logistic-regression-psi",
    "seven numbers: the factor, the two ends of Wald's interval for it, those of the interval by "
    "likelihood ratio, and the probabilities without and with PSI",
    "2f05c233fdc1bcb7",
    digits=2,
)
points(
    "ex-logistic-regression-psi",
    r"The ends of an interval for $w_j$, exponentiated, are those of an interval for $e^{w_j}$.",
    r"The factor belongs to the odds $p/(1-p)$; only for small $p$ is it nearly that of $p$.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-logistic-regression-break",
    [
        ("fit_irls", "g, -_scaled", "g, _scaled"),
        ("fit_irls", "q * sigmoid(-a)", "q"),
        ("_halved", "t /= 2", "return t, end"),
    ],
)
