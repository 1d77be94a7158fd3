"""Checks of the exercises of *Concentration inequalities*."""

from itertools import combinations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import beta, binom

from mllib.course.datasets import breast_cancer
from mllib.course.exercises import breaks, code, points

# One side of Chebyshev -----------------------------------------------------------------------


@code(
    "ex-concentration-cantelli",
    "your law, two pairs (value, probability), and the t at which it attains the bound",
)
def _(c, law, t):
    values, p = np.array(law, dtype=float).T
    c.holds("$t$ is positive, and the law has two points", t > 0, len(set(values)) == 2)
    c.holds("its probabilities are positive and add up to 1", p > 0, np.isclose(p.sum(), 1))
    centred = values - p @ values
    variance, above = p @ centred**2, p[centred >= float(t) - 1e-9].sum()
    bound = variance / (variance + float(t) ** 2)
    c.holds(r"$\Pr[Z-\mathbb EZ\ge t]$ equals the bound", np.isclose(above, bound, rtol=1e-9))


points(
    "ex-concentration-cantelli",
    r"If $Z-\mathbb EZ\ge t$ then $(Z-\mathbb EZ+u)^2\ge(t+u)^2$, for $t+u\ge0$.",
    r"Markov's inequality for this square; its mean is $\sigma^2+u^2$.",
    r"The derivative of $\frac{\sigma^2+u^2}{(t+u)^2}$ vanishes at one $u\ge0$, and there it is "
    "the bound.",
)

# A mean without concentration ----------------------------------------------------------------


@code(
    "ex-concentration-pairs",
    "a table of 0 and 1 with a row for each of the equally likely outcomes and a column for each "
    "variable, and the deviation epsilon",
)
def _(c, table, epsilon):
    X = np.asarray(table)
    c.holds("its entries are 0 and 1", X.ndim == 2, np.isin(X, (0, 1)))
    m, n = X.shape
    c.holds("each variable is a fair coin", 2 * X.sum(axis=0) == m)
    both = [4 * (X[:, i] * X[:, j]).sum() == m for i, j in combinations(range(n), 2)]
    c.holds("any two of them are independent", both)
    stray = np.mean(np.abs(X.mean(axis=1) - 0.5) >= epsilon - 1e-12)
    c.holds(
        "the mean strays more often than Hoeffding's bound allows",
        stray > 2 * np.exp(-2 * n * epsilon**2),
    )
    c.holds("and no more often than Chebyshev's", stray <= 1 / (4 * n * epsilon**2) + 1e-12)


# How many test cases? ------------------------------------------------------------------------


def observed_rate():
    """Repeat the experiment: the error rate on the second half of the tumours."""
    tumours = breast_cancer()
    order = np.random.default_rng(2).permutation(len(tumours.y))
    radius, malignant = tumours.X[order, 20], tumours.y[order] == 0
    tried = np.sort(radius[:284])
    errors = [np.mean((radius[:284] > t) != malignant[:284]) for t in tried]
    return np.mean((radius[284:] > tried[np.argmin(errors)]) != malignant[284:])


@code(
    "ex-concentration-testset",
    "two numbers of test cases, by Hoeffding and by Clopper and Pearson",
)
def _(c, by_hoeffding, by_exact):
    bound = [2 * np.exp(-2 * (by_hoeffding - k) * 0.01**2) for k in (0, 1)]
    c.holds("Hoeffding's bound falls to 0.05 there, and not before", bound[0] <= 0.05 < bound[1])
    k = observed_rate() * by_exact
    low, high = beta.ppf(0.025, k, by_exact - k + 1), beta.ppf(0.975, k + 1, by_exact - k)
    c.holds(
        "at the observed error rate the exact interval reaches 0.01 to each side, to 2 %",
        abs((high - low) / 0.02 - 1) < 0.02,
    )
    c.holds("the answers differ by more than a factor of two", by_hoeffding > 2 * by_exact)


points(
    "ex-concentration-testset",
    r"The radius of Hoeffding takes the variance to be $\frac14$, that of a fair coin.",
    "At the error rate $r$ it is $r(1-r)$, and the number needed is proportional to it.",
)

# Variance matters: Bennett -------------------------------------------------------------------


@code("ex-concentration-bennett", "your function `bennett(n, epsilon, variance, M)`")
def _(c, bennett):
    cases = [(n, e, p) for n in (1, 20, 500) for p in (0.01, 0.1, 0.5) for e in (0.02, 0.1, 0.3)]
    given = [(n, e, p * (1 - p), 1 - p) for n, e, p in cases]
    said = np.array([bennett(*case) for case in given])

    def exponent(n, e, v, M):  # the least over all lambda
        return (
            n
            * minimize_scalar(
                lambda x: v / M**2 * np.expm1(x * M) - v / M * x - x * e,
                bounds=(0, 20 / M),
                method="bounded",
                options={"xatol": 1e-10},
            ).fun
        )

    least = np.exp([exponent(*case) for case in given])
    c.holds(
        r"the least over all $\lambda$, found numerically, in 27 cases",
        np.isclose(said, least, rtol=1e-6, atol=0),
    )
    tails = np.array([binom.sf(np.ceil(n * (p + e) - 1e-9) - 1, n, p) for n, e, p in cases])
    c.holds("never below the exact tails of $n$ coins", tails <= said + 1e-12)
    bernstein = [np.exp(-n * e**2 / (2 * v + 2 * M * e / 3)) for n, e, v, M in given]
    c.holds("never above Bernstein's bound", said <= np.array(bernstein) + 1e-12)


points(
    "ex-concentration-bennett",
    r"The derivative of $\lambda\varepsilon-\frac{\sigma^2}{M^2}(e^{\lambda M}-1-\lambda M)$ "
    r"vanishes at $e^{\lambda M}=1+u$, $u=M\varepsilon/\sigma^2$.",
    r"It is concave in $\lambda$, so that is its maximum; the value there is "
    r"$\frac{\sigma^2}{M^2}h(u)$.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-concentration-break",
    [
        ("hoeffding_bound", "math.exp(-2 * n * z * z)", "math.exp(-n * z * z)"),
        (
            "binomial_mean_tail",
            "return upper + binomial_tail(",
            "return upper + 0 * binomial_tail(",
        ),
        (
            "bernoulli_rate",
            "kl_divergence([q, 1 - q], [p, 1 - p])",
            "kl_divergence([p, 1 - p], [q, 1 - q])",
        ),
        ("bernstein_bound", "+ 2 * largest / 3", "+ 0 * largest"),
    ],
)
