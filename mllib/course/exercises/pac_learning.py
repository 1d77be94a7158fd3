"""Checks of the exercises of *PAC learning*."""

import itertools
from math import log, sqrt

import numpy as np

from mllib.course.exercises import breaks, code, points


def patterns(table, columns):
    """Return the labellings of some points by the members of a class, the rows of a table."""
    return {tuple(row) for row in np.asarray(table)[:, list(columns)].tolist()}


# The realisable case is cheaper --------------------------------------------------------------


@code(
    "ex-pac-learning-realisable",
    "your sample size as a function `enough(epsilon, delta, size)` of the risk, the probability of "
    "failure and the number of functions",
)
def _(c, enough):
    cases = list(itertools.product((0.3, 0.1, 0.01), (0.2, 0.05), (2, 10, 1000)))
    failures, asked = [], []
    for e, delta, size in cases:
        n = enough(e, delta, size)
        # every other rule has a risk just above epsilon, with errors independent of the rest
        failures.append(1 - (1 - (1 - e) ** n) ** (size - 1) <= delta)
        asked.append(enough(e / 100, delta, size) <= 100 * n + 1)
    c.holds("18 cases, the worst risks and independent errors: failure at most delta", failures)
    c.holds("a hundredth of the risk costs at most a hundred times the examples, and 1", asked)
    c.holds(
        "the union bound over the functions is met, and not for half as many examples",
        [
            (s - 1) * (1 - e) ** enough(e, d, s) <= d < s * (1 - e) ** (enough(e, d, s) / 2)
            for e, d, s in cases
        ],
    )


points(
    "ex-pac-learning-realisable",
    "ERM makes no error on the sample, because some function makes none.",
    r"One function of risk above $\varepsilon$ makes none with probability below "
    r"$(1-\varepsilon)^n\le e^{-\varepsilon n}$.",
    "The union bound over all functions that are so bad.",
)

# Rectangles ----------------------------------------------------------------------------------


def boxed(rows, inside):
    """Say of each point whether the smallest rectangle around some of them holds it."""
    low, high = rows[inside].min(axis=0), rows[inside].max(axis=0)
    return ((low <= rows) & (rows <= high)).all(axis=1)


@code(
    "ex-pac-learning-rectangles",
    "four points of the grid; the number of five-point sets that you tried; and your reason as a "
    "function `caught(P)` of five points, shape (5, 2): the index of one that is in every "
    "rectangle around the other four",
)
def _(c, four, number, caught):
    four = np.asarray(four)
    c.holds(
        "four different points of the 4 by 4 grid",
        four.shape == (4, 2),
        np.isin(four, np.arange(4)),
        len(np.unique(four, axis=0)) == 4,
    )
    subsets = [list(s) for k in range(1, 5) for s in itertools.combinations(range(4), k)]
    c.holds(
        "each of their subsets is what some rectangle holds of them",
        [boxed(four, s).sum() == len(s) for s in subsets],
    )
    grid = np.array(list(itertools.product(range(4), repeat=2)))
    fives = [grid[list(s)] for s in itertools.combinations(range(16), 5)]
    c.holds("the number is that of all sets of five", number == len(fives))
    rng = np.random.default_rng(0)
    fives = fives[::40] + [rng.normal(size=(5, 2)) for _ in range(60)]
    c.holds(
        "the rectangle around four of five holds the one that you name, on the grid and off it",
        [boxed(P, np.arange(5) != caught(P))[caught(P)] for P in fives],
    )


points(
    "ex-pac-learning-rectangles",
    "Five points anywhere: four of them, or fewer, are extreme in the four directions.",
    "A rectangle around these holds all, so they cannot be told from the fifth.",
)

# Dimension without parameters ----------------------------------------------------------------


@code(
    "ex-pac-learning-parameters",
    "your function `f(a, b, x)`, which is 0 or 1 at points x = (x1, x2); six points; seven pairs "
    "(a, b); and a function `apart(p, q)` of two pairs, a point at which their functions differ",
)
def _(c, f, six, seven, apart):
    six, seven = [tuple(map(float, x)) for x in six], [tuple(map(float, p)) for p in seven]
    c.holds("six points, and seven pairs", len(set(six)) == 6, len(set(seven)) == 7)
    table = [[f(a, b, x) for x in six] for a, b in seven]
    c.holds("seven members on the six points", len(patterns(table, range(6))) == 7)
    c.holds("every value is 0 or 1", np.isin(table, (0, 1)))
    pairs = list(
        itertools.combinations(seven + list(itertools.product((-1.5, 0.25, 3), repeat=2)), 2)
    )
    c.holds(
        "two pairs always differ at the point that you name",
        [p == q or f(*p, apart(p, q)) != f(*q, apart(p, q)) for p, q in pairs],
    )
    places = list(dict.fromkeys(six + seven + [(0.0, 0.0), (0.5, 2.0)]))
    family = [[f(a, b, x) for x in places] for a, b in {*seven, *places}]
    c.holds("one point can get both labels", max(len(patterns(table, [k])) for k in range(6)) == 2)
    c.holds(
        "no two points get all four labellings",
        [len(patterns(family, two)) < 4 for two in itertools.combinations(range(len(places)), 2)],
    )


# How much of the gap is luck? ----------------------------------------------------------------


@code(
    "ex-pac-learning-luck",
    "your risks, shape (200, 2), of the chosen rule on its own half and on the other; and the mean "
    "optimism as a share of the bound on all gaps, for delta = 0.05",
)
def _(c, risks, share):
    risks = np.asarray(risks, dtype=float)
    c.holds("two risks for each of 200 shuffles", risks.shape == (200, 2))
    errors = risks * [284, 285]
    c.holds("shares of the 284 and the 285 tumours", abs(errors - errors.round()) < 1e-6)
    own, fresh = risks.mean(axis=0)
    c.holds("with shuffled labels more than a quarter is wrong, on either half", risks > 0.25)
    c.holds("on its own half the rule looks better, in the mean", own < fresh)
    bound = sqrt(log(2 * 540 / 0.05) / (2 * 284))
    c.holds(
        "your share is the mean difference over the bound",
        abs(share * bound - (fresh - own)) < 5e-4,
    )
    c.holds("between a sixth and a half of it", 1 / 6 < (fresh - own) / bound < 1 / 2)


# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-pac-learning-break",
    [
        ("erm", "np.argmin(risks)", "np.argmax(risks)"),
        (
            "finite_class_sample_size",
            "hoeffding_sample_size(epsilon / 2,",
            "hoeffding_sample_size(epsilon,",
        ),
        ("vc_dimension", "if not any(len(_patterns", "if not all(len(_patterns"),
        ("vc_generalisation_bound", "vc_log_growth(2 * n, d)", "vc_log_growth(n, d)"),
    ],
)
