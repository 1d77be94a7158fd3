"""Checks of the exercises of *Boosting*."""

import itertools

import numpy as np

from mllib.course.datasets import iris
from mllib.course.exercises import breaks, code, points

# Another vote --------------------------------------------------------------------------------


@code(
    "ex-boosting-vote",
    r"your vote as a function `vote(gamma)` of the edge that all learners have at least",
)
def _(c, vote):
    cases = [(g, e) for g in (0.01, 0.1, 0.25, 0.4, 0.49) for e in np.linspace(0, 0.5 - g, 26)]
    c.holds("it is above 0, for edges from 0.01 to 0.49", [vote(g) > 0 for g, _ in cases])

    def after(e, a):  # the weight of the wrong and of the right answers, reweighted
        return e * np.exp(a) + (1 - e) * np.exp(-a)

    c.holds(
        r"with 26 errors up to $\frac12-\gamma$ each, no normaliser exceeds $e^{-2\gamma^2}$",
        [after(e, vote(g)) <= np.exp(-2 * g * g) + 1e-12 for g, e in cases],
    )


points(
    "ex-boosting-vote",
    r"Steps 1 and 2 never used which votes they are; step 3 is what changes.",
    r"For a vote above 0 the normaliser increases with the error, so the worst case is "
    r"$\epsilon=\frac12-\gamma$.",
    r"There your vote is the one of the lemma, and its bound applies.",
)

# A learner that says nothing -----------------------------------------------------------------


@code(
    "ex-boosting-abstain",
    "your function `best(plus, minus, zero)` of the three weights, which returns the vote and the "
    "least normaliser",
)
def _(c, best):
    shares = (0.1, 0.25, 0.4, 0.7)
    cases = [(p, m, 1 - p - m) for p, m in itertools.product(shares, shares) if p + m <= 1]
    votes = np.linspace(-3, 3, 6001)
    told, least, lemma = [], [], []
    for plus, minus, zero in cases:
        # each answer with its weight: h = y, h = -y, h = 0
        Z = sum(w * np.exp(-votes * yh) for w, yh in ((plus, 1), (minus, -1), (zero, 0)))
        a, value = best(plus, minus, zero)
        told.append(abs(a - votes[Z.argmin()]) <= 1e-3)
        least.append(abs(value - Z.min()) < 1e-6)
    for e in (0.1, 0.3, 0.5, 0.8):
        a, value = best(1 - e, e, 0.0)
        lemma.append(abs(value**2 - 4 * e * (1 - e)) < 1e-9)
        lemma.append(abs(e * np.exp(a) - value / 2) < 1e-9)
    c.holds("13 weightings: no vote from $-3$ to 3 has a smaller normaliser than yours", told)
    c.holds("and its normaliser is your value", least)
    c.holds("without zeros it is the lemma: half of the weight is wrong afterwards", lemma)


points(
    "ex-boosting-abstain",
    "A zero keeps its weight, whatever the vote is: it adds a constant to $Z$.",
    "$Z$ is convex in the vote, so where its slope is 0 it is least.",
)

# Three labels --------------------------------------------------------------------------------


@code(
    "ex-boosting-one-against-rest",
    "your function `answers(X, y, Q)` of a sample with the labels 0, 1, 2, which returns labels of "
    "the rows of Q",
)
def _(c, answers):
    line, label = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    c.holds(
        "three pieces of a line, in three orders of the labels: each row keeps its label",
        [np.array_equal(answers(line, (label + k) % 3, line), (label + k) % 3) for k in range(3)],
    )
    corner = np.array([[0.0, 9], [1, 8], [5, 1], [6, 0], [5, 9], [6, 8]])
    c.holds(
        "three corners of the plane",
        np.array_equal(
            answers(corner, np.repeat([2, 0, 1], 2), corner + 0.2), np.repeat([2, 0, 1], 2)
        ),
    )
    flowers, right = iris(), []
    for seed in range(5):
        at = np.random.default_rng(seed).permutation(150)
        (A, Q), (t, u) = (np.split(v[at], [120]) for v in (flowers.X, flowers.y))
        said = np.asarray(answers(A, t, Q))
        right.append(said.shape == u.shape and np.mean(said == u))
    c.holds("irises, five divisions: nine in ten of the 30 are right", np.mean(right) >= 0.9)


# A shorter step? -----------------------------------------------------------------------------


@code(
    "ex-boosting-shrinkage",
    "your test errors, shape (20, 3), at rate 1, at rate 0.1, and at rate 0.1 on half of the rows; "
    "and True or False twice, whether the shorter step lowers them by more than three "
    "standard errors, and whether half of the rows lower them further by more than three",
)
def _(c, table, step, half):
    table = np.asarray(table, dtype=float)
    c.holds("twenty divisions, three ways, errors above 0", table.shape == (20, 3), table > 0)
    ratio = table.mean(axis=0)[1:] / table.mean(axis=0)[:2]
    c.holds(
        "the shorter step has between 0.7 and 0.9 of the error of the full one, in the mean",
        0.7 < ratio[0] < 0.9,
    )
    c.holds("half of the rows change it by less than a twentieth", abs(ratio[1] - 1) < 0.05)
    gain = table[:, :2] - table[:, 1:]
    error = np.sqrt(((gain - gain.mean(axis=0)) ** 2).sum(axis=0) / 19 / 20)
    for said, mean, bar, what in zip((step, half), gain.mean(axis=0), error, ("first", "second")):
        c.holds(
            f"your {what} answer is that of the differences, division by division",
            isinstance(said, (bool, np.bool_)) and said == (mean > 3 * bar),
        )


# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-boosting-break",
    [
        ("best_cut", "V[j, c] > V[j, c - 1]", "V[j, c] >= V[j, c - 1]"),
        ("reweight", "np.exp(-alpha * y * answer)", "np.exp(alpha * y * answer)"),
        (
            "leaf_values",
            "return LOSSES[loss]",
            'return newton_steps(leaf, r, w, m) if loss == "softmax" else LOSSES[loss]',
        ),
        ("scan_histogram", "if rows > n - min_leaf:", "if rows > n:"),
    ],
)
