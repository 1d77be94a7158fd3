"""Checks of the exercises of *Bayesian networks*."""

import itertools
from fractions import Fraction

import numpy as np

from mllib.bayesian_networks import bayes_net
from mllib.course.exercises import breaks, code, points, value

# Selection -----------------------------------------------------------------------------------

value(
    "ex-bayesian-networks-selection",
    "the correlation of the two diseases among the patients, for P(A) = P(B) = 1/10",
    "2caba5056d14cad8",
)
points(
    "ex-bayesian-networks-selection",
    r"The graph is $A\to H\leftarrow B$ with $H=A\vee B$.",
    r"Among the patients $P(A,B)=ab/h$ and $P(A)\,P(B)=ab/h^2$, since each of the diseases alone "
    "brings one in.",
    "$h<1$, as neither is certain, so the first is smaller: the covariance is negative.",
    "The definition is that of an active walk, with a collider that is given.",
)

# Connected, and yet independent --------------------------------------------------------------


@code(
    "ex-bayesian-networks-cancellation",
    "P(x = 1); P(m = 1) for x = 0, 1; and P(y = 1), two rows for x = 0, 1 of two numbers for "
    "m = 0, 1",
)
def _(c, x, m, y):
    def exact(v):
        return Fraction(float(v)).limit_denominator(10**6)

    x, m, y = exact(x), [exact(v) for v in m], [[exact(v) for v in row] for row in y]
    four = [v for row in y for v in row]
    c.holds(
        "two numbers for $m$, four for $y$", len(m) == 2, [len(row) == 2 for row in y], len(y) == 2
    )
    c.holds("all are probabilities", [0 <= v <= 1 for v in (x, *m, *four)])
    c.holds("$x$ is not certain", 0 < x < 1)
    c.holds("no table has two equal rows", m[0] != m[1], len(set(four)) == 4)
    given = [(1 - m[k]) * y[k][0] + m[k] * y[k][1] for k in (0, 1)]
    c.holds("in fractions: $P(y=1\\mid x)$ is the same for $x=0$ and $x=1$", given[0] == given[1])


points(
    "ex-bayesian-networks-cancellation",
    "Not d-separated: the edge from x to y is an active walk, whatever the tables.",
    "A method that tests for independence would leave the edge out; it assumes that ways never "
    "cancel exactly.",
)

# Write the sampler ---------------------------------------------------------------------------


@code(
    "ex-bayesian-networks-rejection",
    "your function `rejection(net, query, evidence, n, rng)`, which returns the values of the "
    "query in the rows that are kept",
)
def _(c, rejection):
    f = Fraction
    net = bayes_net(
        {"rain": (), "sprinkler": ("rain",), "wet": ("rain", "sprinkler")},
        {
            "rain": [f(4, 5), f(1, 5)],
            "sprinkler": [[f(1, 2), f(1, 2)], [f(9, 10), f(1, 10)]],
            "wet": [[[f(1), f(0)], [f(1, 5), f(4, 5)]], [[f(1, 4), f(3, 4)], [f(0), f(1)]]],
        },
    )
    law = {}
    for r, s, w in itertools.product((0, 1), repeat=3):
        p = net.tables[0][r] * net.tables[1][r][s] * net.tables[2][r][s][w]
        law["rain", r, "sprinkler", s, "wet", w] = float(p)

    def chance(**seen):
        at = {"rain": 1, "sprinkler": 3, "wet": 5}
        return sum(p for row, p in law.items() if all(row[at[k]] == v for k, v in seen.items()))

    n, cases = 20_000, [("rain", {"wet": 1}), ("rain", {"wet": 1, "sprinkler": 1})]
    cases.append(("sprinkler", {"wet": 0}))
    for query, seen in cases:
        kept = np.asarray(rejection(net, query, dict(seen), n, np.random.default_rng(0)))
        told = ", ".join(f"{k} = {v}" for k, v in seen.items())
        share, p = chance(**seen), chance(**seen, **{query: 1}) / chance(**seen)
        c.holds(f"{query}, given {told}: zeros and ones", kept.ndim == 1, np.isin(kept, (0, 1)))
        c.holds(
            "as many rows are kept as the evidence is likely, up to five deviations",
            abs(len(kept) - n * share) <= 5 * np.sqrt(n * share * (1 - share)) + 1e-9,
        )
        c.holds(
            "the share of ones is the posterior, up to five standard errors",
            len(kept) > 0 and abs(kept.mean() - p) <= 5 * np.sqrt(p * (1 - p) / len(kept)),
        )
    rngs = map(np.random.default_rng, (1, 2))
    first, other = (rejection(net, "rain", {"wet": 1}, 200, rng) for rng in rngs)
    c.holds("another generator draws other rows", not np.array_equal(first, other))


points(
    "ex-bayesian-networks-rejection",
    "Of $n$ rows about $n\\,p(\\text{evidence})$ are kept, so the standard error grows like one "
    "over its root.",
    "Elimination does not draw, and costs the same for rare evidence.",
)

# Another prior -------------------------------------------------------------------------------

value(
    "ex-bayesian-networks-prior",
    "is the third edge kept (True or False), are equivalent graphs equal, and the largest "
    "difference of the log evidence between two equivalent graphs",
    "999aabb3656532ff",
)
points(
    "ex-bayesian-networks-prior",
    "The spread-out prior imagines one table of applicants, and each family has its marginal "
    "counts: turning an edge moves the same applicants.",
    "With 1 for every entry the families imagine different numbers, more for more cells.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-bayesian-networks-break",
    [
        ("_reach", '(way == "up") != (t in given)', 'way == "up" or t in given or True'),
        ("markov_blanket", "if s == t or t in pa]", "if s == t]"),
        (
            "dirichlet_tables",
            "A / A.sum(axis=-1, keepdims=True) for A in means",
            "A / (A.sum(axis=-1, keepdims=True) - 1) for A in means",
        ),
    ],
)
