"""Checks of the exercises of *Decision theory*."""

import numpy as np

from mllib.course.exercises import breaks, code, points, value

# Quantiles from a crooked loss ---------------------------------------------------------------


@code(
    "ex-decision-theory-pinball",
    "a function `tau(missing, left)` of the costs of an item too few and of one too many: which "
    "quantile of the demand should the shop stock?",
)
def _(c, tau):
    c.holds("equal costs give back the median", abs(tau(1, 1) - 0.5) < 1e-12)
    c.holds("nine times as much for a missing item: 0.9", abs(tau(9, 1) - 0.9) < 1e-12)
    rng, quantile = np.random.default_rng(0), []
    for missing, left in [(9, 1), (3, 2), (1, 4), (0.5, 0.25), (20, 30)]:
        demand, stock = rng.integers(0, 200, 2000), np.arange(200)
        lack = demand - stock[:, None]
        cost = np.where(lack > 0, missing * lack, -left * lack).mean(axis=1)
        q, order = stock[cost.argmin()], tau(missing, left)
        quantile.append((demand <= q).mean() >= order - 1e-9)
        quantile.append((demand >= q).mean() >= 1 - order - 1e-9)
    c.holds("the stock of least cost is that quantile, five pairs of costs", quantile)


points(
    "ex-decision-theory-pinball",
    r"For $a<b$: $L(y,b)-L(y,a)$ is the integral from $a$ to $b$ of $1-\tau$ where $y\le t$ and "
    r"$-\tau$ where $y>t$.",
    r"Its expectation has the integrand $F(t)-\tau$, which takes the place of $2F(t)-1$.",
    r"The other two steps go through, since $\Pr(y\ge q\mid x)\ge1-\tau$ says "
    r"$\Pr(y<q\mid x)\le\tau$.",
)

# Better likelihood, more mistakes ------------------------------------------------------------


@code(
    "ex-decision-theory-likelihood-errors",
    "three labels 0 or 1, and two lists of three probabilities of the label 1",
)
def _(c, y, first, second):
    y, *both = (np.asarray(v, dtype=float) for v in (y, first, second))
    c.holds("three labels, 0 or 1", y.shape == (3,), np.isin(y, (0, 1)))
    c.holds(
        "three probabilities each, strictly between 0 and 1",
        [(p.shape == (3,), (p > 0).all(), (p < 1).all()) for p in both],
    )
    likelihood = [np.where(y == 1, p, 1 - p).prod() for p in both]
    errors = [((p >= 0.5) != y).sum() for p in both]
    c.holds("the first has the smaller mean log loss", likelihood[0] > likelihood[1])
    c.holds(r"and more errors at the threshold $\frac12$", errors[0] > errors[1])


points(
    "ex-decision-theory-likelihood-errors",
    "The proposition bounds the errors of *one* predictor by its own surrogate risk.",
    "It says where the minimisers agree, and puts no order on two arbitrary predictors.",
)

# Another measurement cannot hurt -------------------------------------------------------------


@code(
    "ex-decision-theory-information",
    "a joint table of p(x, y), a row for each x, and for each row the number of its group g(x)",
)
def _(c, joint, g):
    joint, g = np.asarray(joint, dtype=float), np.asarray(g)
    c.holds(
        "it is a table of probabilities, with a group for each row",
        joint >= 0,
        abs(joint.sum() - 1) < 1e-7,
        g.shape == (len(joint),),
    )
    given = joint / joint.sum(axis=1, keepdims=True)
    apart = [np.ptp(given[g == k], axis=0).max() > 1e-6 for k in np.unique(g)]
    c.holds("information is lost: rows with different $p(y\\mid x)$ share a group", any(apart))
    merged = np.array([joint[g == k].sum(axis=0) for k in np.unique(g)])
    error = [1 - table.max(axis=1).sum() for table in (joint, merged)]
    c.holds("the Bayes error is the same", abs(error[0] - error[1]) < 1e-9)


points(
    "ex-decision-theory-information",
    "A classifier of $u$ is $f(g(x))$, one of the classifiers of $x$, and among these the Bayes "
    "classifier is best.",
    "Nothing is lost where $g(x)$ still determines the Bayes choice at $x$.",
)

# A positive test -----------------------------------------------------------------------------

value(
    "ex-decision-theory-base-rate",
    "the probability of a cancer after a positive test, and the prevalence at which it is one half",
    "40afc2bbfa42a96b",
    digits=2,
)
points(
    "ex-decision-theory-base-rate",
    "What was asked for is the precision; it depends on the prevalence.",
    "Recall and specificity are conditional on the disease and do not.",
)

# The cheapest threshold on a sample ----------------------------------------------------------


@code(
    "ex-decision-theory-cheapest",
    "your function `cheapest_threshold(y, p, cost)` of the labels, the probabilities and the "
    "array of costs; class 1 is decided from the threshold on",
)
def _(c, cheapest_threshold):
    medical = np.array([[0, 60], [10, 0]])
    y, p = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.6, 0.9])
    c.holds(
        "labels in the order of the probabilities: between the last 0 and the first 1",
        0.4 < cheapest_threshold(y, p, medical) <= 0.6,
    )
    c.holds("only healthy ones: above all of them", cheapest_threshold(0 * y, p, medical) > 0.9)
    c.holds(
        "only sick ones: at most the smallest", cheapest_threshold(0 * y + 1, p, medical) <= 0.1
    )
    rng, least = np.random.default_rng(0), []
    for _ in range(100):
        y, p = rng.integers(0, 2, 30), rng.integers(0, 15, 30) / 15
        cost = rng.integers(0, 60, (2, 2)) + 60 * (1 - np.eye(2, dtype=int))

        def average(t, y=y, p=p, cost=cost):
            return cost[(p >= t).astype(int), y].mean()

        tried = min(average(t) for t in [*p, 2.0])
        least.append(average(cheapest_threshold(y, p, cost)) <= tried + 1e-12)
    c.holds("no threshold is cheaper on 100 samples with ties, four costs each", least)


# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-decision-theory-break",
    [
        ("cost_threshold", "C[0, 1] - C[1, 1]", "C[0, 1]"),
        ("confusion_matrix", "np.add.at(N, (a, b), 1)", "np.add.at(N, (b, a), 1)"),
        ("reject_rule", "p.max(axis=1) >= theta", "p.max(axis=1) < theta"),
        (
            "boundary_points",
            "np.where(same, middle, U), np.where(same, V, middle)",
            "np.where(same, U, middle), np.where(same, middle, V)",
        ),
        ("type1_rate", "_ratio(c.fp, c.fp + c.tn, what", "_ratio(c.fp, c.fp + c.tp, what"),
    ],
)
