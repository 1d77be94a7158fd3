"""Checks of the exercises of *Probability*."""

from fractions import Fraction

import numpy as np

from mllib.course.exercises import breaks, code, points, value

# A rare disease ------------------------------------------------------------------------------

value(
    "ex-probability-screening",
    "the probability of the disease after one positive test, and after two",
    "99908719393dd8ad",
)
points(
    "ex-probability-screening",
    "Given the state of health both results are independent, so their likelihoods multiply, and "
    "it does not matter whether one updates once or twice.",
    r"$P(\text{positive}\mid\text{ill})$ in the place of $P(\text{ill}\mid\text{positive})$ is "
    r"wrong by the factor $P(\text{positive})/P(\text{ill})$.",
)

# Three doors ---------------------------------------------------------------------------------


@code(
    "ex-probability-doors",
    "two `FiniteSpace`s of pairs (car, opened): for the host who knows and for the blind one",
)
def _(c, knows, blind):
    def p(host, event):
        return sum(weight for pair, weight in host.weights.items() if event(*pair))

    hosts, doors, third = (knows, blind), (0, 1, 2), Fraction(1, 3)
    c.holds(
        "for both the car stands behind each door with probability 1/3",
        [p(host, lambda car, _, d=d: car == d) == third for host in hosts for d in doors],
    )
    c.holds("none opens door 0, which you chose", [p(h, lambda _, o: o == 0) == 0 for h in hosts])
    c.holds("the one who knows never shows the car", p(knows, lambda car, o: car == o) == 0)
    c.holds(
        "where he can choose, he opens both doors equally often",
        p(knows, lambda car, o: (car, o) == (0, 1)) == p(knows, lambda car, o: (car, o) == (0, 2)),
    )
    c.holds(
        "the blind one opens both equally often, wherever the car is",
        [blind.weights.get((car, o), 0) == third / 2 for car in doors for o in (1, 2)],
    )
    changing = [
        p(h, lambda car, o: o == 2 and car == 1) / p(h, lambda car, o: o == 2 and car != 2)
        for h in hosts
    ]
    c.holds(
        "door 2 open and no car: changing wins with probabilities 2/3 and 1/2",
        changing == [Fraction(2, 3), Fraction(1, 2)],
    )


points(
    "ex-probability-doors",
    "The likelihood of *door 2 opened, no car* for a car behind door 0: the same in both cases.",
    "For a car behind door 1: the host who knows has no choice, the blind one has.",
)

# If women had applied like men ---------------------------------------------------------------

value(
    "ex-probability-standardised",
    "the four rates to four digits, [[men, men], [women, women]], each with the choices of men, "
    "then of women",
    "e412be50d0ee29ec",
    digits=4,
)

# On average, knowing cannot hurt -------------------------------------------------------------


@code(
    "ex-probability-conditional-entropy",
    "your joint table of p(x, y), a row for each x, and the number of the column y that raises "
    "the entropy",
)
def _(c, joint, y):
    p = np.asarray(joint, dtype=float)
    c.holds("it is a table of probabilities", p.ndim == 2, p >= 0, np.isclose(p.sum(), 1))
    c.holds(
        "$y$ is the number of a column, and possible", y in range(p.shape[1]), p[:, y].sum() > 0
    )

    def H(q):
        return -sum(v * np.log(v) for v in q if v > 0)

    c.holds("its entropy given $y$ exceeds $H[X]$", H(p[:, y] / p[:, y].sum()) > H(p.sum(axis=1)))


points(
    "ex-probability-conditional-entropy",
    "Put $p(x,y)=p(x\\mid y)\\,p(y)$ into the mutual information and split the logarithm of the "
    "quotient.",
    "One part becomes $H[X]$ after the sum over $y$, the other $-H[X\\mid Y]$.",
    "Gibbs' inequality says that $I(X;Y)\\ge0$.",
)

# The divergence of two Gaussians -------------------------------------------------------------


@code(
    "ex-probability-gaussian-kl",
    "your function `gaussian_kl(m1, S1, m2, S2)` of means, shape (d,), and covariances, (d, d)",
)
def _(c, gaussian_kl):
    zero, one = np.zeros(1), np.eye(1)
    c.holds(
        r"$\mathcal N(3,1)$ and $\mathcal N(0,1)$: 9/2",
        abs(gaussian_kl(zero + 3, one, zero, one) - 4.5) < 1e-9,
    )
    cases = [(0.5, 0.7, -1, 2), (-1, 2, 0.5, 0.7), (2, 1, 1.5, 3)]

    def integral(m1, v1, m2, v2):
        x, step = np.linspace(-25, 25, 5001, retstep=True)
        log_q, log_p = (-((x - m) ** 2) / v - np.log(v) for m, v in ((m1, v1), (m2, v2)))
        return (np.exp(log_q / 2) * (log_q - log_p)).sum() * step / np.sqrt(8 * np.pi)

    def line(m1, v1, m2, v2):
        return gaussian_kl(zero + m1, one * v1, zero + m2, one * v2)

    gaps = np.array([line(*case) - integral(*case) for case in cases])
    c.holds("in one dimension the integral, to 8 digits", np.abs(gaps) < 1e-8)
    rng, positive, equal, mapped, added = np.random.default_rng(0), [], [], [], []
    for _ in range(30):
        m1, m2, factors = rng.standard_normal(3), rng.standard_normal(3), rng.normal(size=(2, 3, 3))
        S1, S2 = (F @ F.T + np.eye(3) for F in factors)
        M, D = rng.standard_normal((3, 3)) + 3 * np.eye(3), gaussian_kl(m1, S1, m2, S2)
        positive.append(D > 0)
        equal.append(abs(gaussian_kl(m1, S1, m1, S1)) < 1e-9)
        other = gaussian_kl(M @ m1, M @ S1 @ M.T, M @ m2, M @ S2 @ M.T)
        mapped.append(np.isclose(other, D, rtol=1e-6))
        v1, v2 = np.diag(S1), np.diag(S2)
        apart = sum(map(line, m1, v1, m2, v2))
        added.append(np.isclose(gaussian_kl(m1, np.diag(v1), m2, np.diag(v2)), apart))
    c.holds(
        "positive for 30 pairs in three dimensions, and zero for equal arguments", positive, equal
    )
    c.holds("the same when both variables are mapped by one matrix", mapped)
    c.holds("for independent coordinates their divergences add up", added)


points(
    "ex-probability-gaussian-kl",
    r"Both logarithms are quadratic forms; under $q$ the one of $q$ has the expectation "
    r"$\operatorname{tr}I=d$.",
    r"$\mathbb E[(x-m_2)(x-m_2)^T]=S_1+(m_1-m_2)(m_1-m_2)^T$ gives the trace and the quadratic "
    "form of the means.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-probability-break",
    [
        ("marginal", "return p.transpose(np.argsort(np.argsort(keep)))", "return p"),
        ("is_conditionally_independent", "p_xyz * p_z - p_xz", "p_xyz - p_xz"),
        ("dirichlet_moments", "(alpha.sum() + 1))", "alpha.sum())"),
        ("gaussian_conditional", "schur = S_aa - gain", "schur = S_aa + gain"),
        ("kl_divergence", "divergence_terms(q, p)", "divergence_terms(p, q)"),
    ],
)
