"""Checks of the exercises of *Forests*."""

import itertools
from fractions import Fraction

import numpy as np

from mllib.course.exercises import code, points

# Half out of bag -----------------------------------------------------------------------------


@code(
    "ex-forests-half",
    r"your bounds as a function `bounds(n, alpha)`, the lower and the upper one for $\alpha n$ "
    r"draws, and the multiple that leaves half of the rows",
)
def _(c, bounds, multiple):
    cases = list(itertools.product((2, 3, 10, 1000), (0.5, 1, 2, 5)))
    left_out = [((1 - 1 / n) ** (alpha * n), *bounds(n, alpha)) for n, alpha in cases]
    c.holds(
        "4 sample sizes, 4 multiples: the probability of being left out lies between your bounds",
        [low <= p + 1e-12 and p <= high + 1e-12 for p, low, high in left_out],
    )
    ends = [bounds(10**6, alpha) for alpha in (0.5, 1, 2, 5)]
    c.holds("for a million rows they meet, to five digits", [b - a < 1e-5 for a, b in ends])
    c.holds(
        "your multiple leaves half of a million rows out of bag, to four digits",
        abs((1 - 1e-6) ** (multiple * 1e6) - 0.5) < 5e-5,
    )


points(
    "ex-forests-half",
    r"All draws miss a row with probability $(1-\frac1n)^{\alpha n}$, a power of what the theorem "
    "bounds.",
    r"Powers with $\alpha>0$ keep the order; the two ends have one limit.",
)

# Voters who take turns -----------------------------------------------------------------------


@code(
    "ex-forests-turns",
    "two laws, each a dict of probabilities of triples such as (1, 0, 1), 1 for a voter who is "
    "right; and the correlation of two voters in the first and in the second",
)
def _(c, always, never_more, first, second):
    for law, said, chance, which in (
        (always, first, 1, "first"),
        (never_more, second, Fraction(2, 3), "second"),
    ):
        law = {w: Fraction(p).limit_denominator(10**6) for w, p in law.items()}
        c.holds(
            f"the {which} law: triples of 0 and 1, probabilities that add up to 1",
            [len(w) == 3 and set(w) <= {0, 1} for w in law],
            [p >= 0 for p in law.values()],
            sum(law.values()) == 1,
        )
        right = [sum(p for w, p in law.items() if w[k]) for k in range(3)]
        c.holds("each voter is right with probability 2/3", [p == Fraction(2, 3) for p in right])
        majority = sum(p for w, p in law.items() if sum(w) >= 2)
        c.holds(f"the majority with probability {chance}", majority == chance)
        both = [
            sum(p for w, p in law.items() if w[i] and w[j])
            for i, j in itertools.combinations(range(3), 2)
        ]
        found = [(p - Fraction(4, 9)) / Fraction(2, 9) for p in both]
        c.holds(
            "the correlation of every two voters is yours", [abs(r - said) < 1e-9 for r in found]
        )


points(
    "ex-forests-turns",
    r"In the first law the number of right voters does not vary, so the average has variance 0.",
    r"$\rho\sigma^2+\frac{1-\rho}3\sigma^2\ge0$ for any three with a common correlation: the bound "
    r"$-\frac1{B-1}$ of the theorem, which your voters attain.",
)

# The bagged neighbour ------------------------------------------------------------------------


@code(
    "ex-forests-neighbour",
    "your functions `weights(n)`, the weights of the nearest to the farthest of n rows, and "
    "`limit(j)`, that of the j-th nearest for large n, j from 1",
)
def _(c, weights, limit):
    listed = []
    for n in range(1, 6):
        nearest = [min(sample) for sample in itertools.product(range(n), repeat=n)]
        listed.append(np.bincount(nearest, minlength=n) / n**n)
    c.holds(
        "1 to 5 rows, all bootstrap samples listed: the share in which a row is the nearest drawn",
        [
            np.shape(weights(n)) == (n,) and np.allclose(weights(n), p)
            for n, p in enumerate(listed, 1)
        ],
    )
    large = np.asarray(weights(10**5))
    c.holds(
        "the first five limits are the weights of 100 000 rows, to four digits",
        [abs(limit(j) - large[j - 1]) < 1e-4 for j in range(1, 6)],
    )


points(
    "ex-forests-neighbour",
    "The nearest row drawn has at least rank $j$ exactly if all draws avoid the $j-1$ nearer ones.",
    "The weight of rank $j$ is the difference of two such probabilities.",
    "Bagging answers with a weighted mean over the nearest rows, with weights that fall "
    "geometrically, and almost none beyond the first few.",
)

# Other targets for each tree -----------------------------------------------------------------


@code(
    "ex-forests-targets",
    "your function `answers(X, y, noise, Q)`: full trees for the targets y + noise[b], one for "
    "each row of noise, and their mean answers at Q; and your errors, shape (20, 3), of a tree, of "
    "50 trees with noise, of 50 bagged ones",
)
def _(c, answers, errors):
    rng = np.random.default_rng(0)
    x, y, noise = rng.uniform(size=(12, 1)), rng.normal(size=12), rng.normal(size=(8, 12))
    Q = rng.uniform(size=(40, 1))
    nearest = abs(Q - x.T).argmin(axis=1)
    c.holds(
        "one column: the mean target of the nearest row",
        np.allclose(answers(x, y, noise, Q), (y + noise.mean(axis=0))[nearest]),
    )
    X, Q = rng.normal(size=(12, 3)), rng.normal(size=(60, 3))
    c.holds(
        "three columns: at a row its own mean target",
        np.allclose(answers(X, y, noise, X), y + noise.mean(axis=0)),
    )
    single = [answers(X, y, e[None], Q) for e in noise]
    together = np.asarray(answers(X, y, noise, Q))
    c.holds(
        "elsewhere the mean of what the single trees answer",
        np.allclose(together, np.mean(single, axis=0)),
    )
    c.holds(
        "and not the tree of the mean targets: its questions differ from theirs",
        not np.allclose(together, answers(X, y, noise.mean(axis=0)[None], Q)),
    )
    errors = np.asarray(errors, dtype=float)
    c.holds(
        "errors of twenty samples and three ways, none below 0",
        errors.shape == (20, 3),
        errors >= 0,
    )
    gain = errors[:, :1] - errors[:, 1:]
    c.holds(
        "both ensembles beat the tree by more than three standard errors",
        gain.mean(axis=0) > 3 * gain.std(axis=0, ddof=1) / 20**0.5,
    )


points(
    "ex-forests-targets",
    "On one column the cuts that matter lie halfway between neighbours, whatever the targets are: "
    "the row that answers does not depend on the noise.",
    "The noise has mean 0, so the mean answer is the old target.",
    "Noise helps where it changes the questions, and with them the row that answers.",
)

# Honest shares from a balanced bootstrap -----------------------------------------------------


@code(
    "ex-forests-honest-shares",
    "your functions `corrected(s, pi)`, the probability at the frequency pi, and `threshold(pi)`, "
    "the share above which it exceeds 1/2",
)
def _(c, corrected, threshold):
    densities = list(itertools.product((0.1, 0.5, 1, 3), repeat=2))
    right, same = [], []
    for pi in (0.01, 0.05, 0.3, 0.5, 0.8):
        for rare, common in densities:
            s = rare / (rare + common)
            joint = pi * rare, (1 - pi) * common
            right.append(abs(corrected(s, pi) - joint[0] / sum(joint)) < 1e-9)
            tie = abs(joint[0] - joint[1]) < 1e-9
            same.append(tie or (s > threshold(pi)) == (joint[0] > joint[1]))
        near = threshold(pi) + np.array([-1e-6, 1e-6])
        same.append([bool(a) for a in (corrected(near[0], pi) < 0.5, corrected(near[1], pi) > 0.5)])
    c.holds("5 frequencies, 16 pairs of densities: the probability by Bayes' theorem", right)
    c.holds("your threshold gives the decisions of 1/2, also next to it", np.hstack(same))


points(
    "ex-forests-honest-shares",
    "With equal frequencies the odds of the share are the ratio of the two densities.",
    "At the frequency $\\pi$ the odds are that ratio times $\\pi/(1-\\pi)$.",
)
