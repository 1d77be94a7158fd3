"""Checks of the exercises of *Naive Bayes*."""

import itertools
from fractions import Fraction

import numpy as np

from mllib.course.datasets import digits
from mllib.course.exercises import breaks, code, points
from mllib.naive_bayes import BernoulliNB

# A feature that was not observed -------------------------------------------------------------


@code(
    "ex-naive-bayes-missing",
    "your function `posterior(prior, tables, x)` of a prior, one table of shape (K, V_j) for each "
    "feature, and values of which -1 means not observed, which returns p(k | observed), shape (K,)",
)
def _(c, posterior):
    rng, right = np.random.default_rng(0), []
    for x in itertools.product((-1, 0, 1), (-1, 2), (-1, 0)):
        prior = rng.dirichlet(np.ones(3))
        tables = [rng.dirichlet(np.ones(V), size=3) for V in (2, 3, 4)]
        truth = np.zeros(3)
        for z in itertools.product(range(2), range(3), range(4)):
            if all(seen in (-1, v) for seen, v in zip(x, z)):
                truth += prior * np.prod([table[:, v] for table, v in zip(tables, z)], axis=0)
        said = posterior(prior, tables, np.array(x))
        right.append(np.shape(said) == (3,) and np.allclose(said, truth / truth.sum()))
    c.holds("it is that of the joint law summed over all that was not observed, 12 patterns", right)


points(
    "ex-naive-bayes-missing",
    "The law of the observed features is the sum of the joint law over the values of the others.",
    "A sum of products over separate variables is a product of sums.",
    "The sum over one missing feature is 1, so its factor goes.",
    "Where the product is not there to begin with, the sum needs the joint table: the first step.",
)

# Leave one out by subtraction ----------------------------------------------------------------

#: Outlook, temperature, humidity, wind and tennis of the fourteen days, as the page codes them.
DAYS = "21010 21000 01011 12011 10111 10100 00101 22010 20111 12111 22101 02001 01111 12000"


def counted(days, x):
    """Return P(1 | x) from a list of days, word by word, with one more of each value."""
    s = []
    for k in (0, 1):
        rows = [day for day in days if day[4] == k]
        s.append(Fraction(len(rows), len(days)))
        for j, values in enumerate((3, 3, 2, 2)):
            s[k] *= Fraction(1 + sum(day[j] == x[j] for day in rows), len(rows) + values)
    return s[1] / sum(s)


@code(
    "ex-naive-bayes-loo",
    "your function `leave_one_out(X, y)`, which returns the probabilities of 0 and 1 for each day, "
    "shape (14, 2); and how many days are right, first unseen, then seen",
)
def _(c, leave_one_out, unseen, seen):
    rng = np.random.default_rng(0)
    real = np.array([[int(v) for v in day] for day in DAYS.split()])
    samples = [real, *(rng.integers(0, (3, 3, 2, 2, 2), (14, 5)) for _ in range(3))]
    shapes, sums, equal = [], [], []
    for days in samples:
        p = np.asarray(leave_one_out(days[:, :4], days[:, 4]))
        shapes.append(p.shape == (14, 2))
        sums.append(np.allclose(p.sum(axis=1), 1))
        refits = [float(counted(np.delete(days, i, 0).tolist(), days[i])) for i in range(14)]
        equal.append(np.allclose(p[:, 1], refits, rtol=1e-9))
    c.holds("two probabilities for each day", shapes)
    c.holds("they add up to 1", sums)
    c.holds("as fourteen counts of the other thirteen have it, on four samples", equal)
    days = real.tolist()
    alone = [counted(days[:i] + days[i + 1 :], x) for i, x in enumerate(days)]
    whole = [counted(days, x) for x in days]
    right = [sum((p > Fraction(1, 2)) == x[4] for p, x in zip(ps, days)) for ps in (alone, whole)]
    c.holds("so many days are right, unseen and seen", np.array([unseen, seen]) == right)


# Affine odds without independence ------------------------------------------------------------


@code(
    "ex-naive-bayes-affine",
    "the laws of the two bits in class 1 and in class 0, each of shape (2, 2), rows for x_1",
)
def _(c, one, zero):
    one, zero = (np.asarray(law, dtype=float) for law in (one, zero))
    c.holds("two tables of four cells", one.shape == (2, 2), zero.shape == (2, 2))
    c.holds("all eight are positive", one > 0, zero > 0)
    c.holds("each table has the sum 1", np.isclose([one.sum(), zero.sum()], 1))
    across = one[0, 0] * one[1, 1] * zero[0, 1] * zero[1, 0]
    c.holds(
        "the log odds are affine: a change of $x_2$ adds the same for both values of $x_1$",
        np.isclose(across, one[0, 1] * one[1, 0] * zero[0, 0] * zero[1, 1], rtol=1e-9, atol=0),
    )
    naive = [np.outer(law.sum(axis=1), law.sum(axis=0)) for law in (one, zero)]
    c.holds(
        "somewhere the naive odds say the other class",
        ((one - zero) * (naive[0] - naive[1]) < -1e-9).any(),
    )


points(
    "ex-naive-bayes-affine",
    "The common factor $h$ cancels in the odds, so some affine classifier is the best.",
    "Naive Bayes takes its weights from single features, in which $h$ does not cancel; a method "
    "that fits the weights to the labels needs only that the odds are affine.",
)

# One number against overconfidence -----------------------------------------------------------


def likelihood(log_p, y, T):
    """Return the mean log-probability of the labels at a temperature."""
    cold = log_p / T
    return np.mean(cold[np.arange(len(y)), y] - np.logaddexp.reduce(cold, axis=1))


@code(
    "ex-naive-bayes-temperature",
    "your function `cool(log_p, T)`, which returns the probabilities at temperature T for "
    "log-probabilities of shape (m, K), and your function `choose(log_p, y)`, which returns T for "
    "held-out rows and their labels",
)
def _(c, cool, choose):
    by_hand = [cool(np.log([[0.8, 0.2]]), T) for T in (0.5, 1, 2)]
    c.holds(
        "4/5 and 1/5 become 16/17 and 1/17 at $T=1/2$, themselves at 1, 2/3 and 1/3 at 2",
        np.allclose(np.reshape(by_hand, (3, 2))[:, 0], [16 / 17, 4 / 5, 2 / 3]),
        np.allclose(np.sum(by_hand, axis=-1), 1),
    )
    images, same, best, gaps = digits(), [], [], []
    for seed in range(20):
        rows = np.random.default_rng(seed).permutation(1797)
        (A, H, Q), (t, h, u) = (np.split(v[rows], [900, 1200]) for v in (images.X > 7, images.y))
        fit = BernoulliNB().fit(A, t)
        held, log_p = fit.predict_log_proba(H), fit.predict_log_proba(Q)
        T = float(choose(held, h))
        others = [likelihood(held, h, 1.2**k) for k in range(-5, 13)]
        best.append(likelihood(held, h, T) > max(others) - 0.005)
        p = cool(log_p, T)
        same.append((p.argmax(axis=1) == log_p.argmax(axis=1)).all())
        gaps.append(p.max(axis=1).mean() - np.mean(p.argmax(axis=1) == u))
    c.holds("20 splits: no other temperature is clearly better on the held-out images", best)
    c.holds("not a single decision has changed", same)
    c.holds("claim and accuracy are within 0.02 on average", abs(np.mean(gaps)) < 0.02)


points(
    "ex-naive-bayes-temperature",
    "With $m$ copies of each feature the logarithms are $m$ times too large; dividing undoes that.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-naive-bayes-break",
    [
        ("conditional_tables", " + pseudocount * V)", ")"),
        ("conditional_tables", " + pseudocount * V)", " + pseudocount)"),
        ("class_counts", "np.bincount(y * V + x", "np.bincount(y + x"),
        ("gaussian_log_likelihoods", "Z @ (-0.5 / variance[k])", "Z @ (-1 / variance[k])"),
    ],
)
