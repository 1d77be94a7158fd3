"""Answers to the exercises of *Estimation*: the chapter's own, and wrong ones."""

from fractions import Fraction

RIGHT = {
    "ex-estimation-odds": "(lambda s, n: s / n, lambda s, n: (s + 1) / (n + 2))",
    "ex-estimation-no-unbiased": "(lambda x: x[0] * x[1], lambda n: n)",
    "ex-estimation-highest-ticket": "(largest_moments,)",
    "ex-estimation-smoothing": ("(grid[scores.index(max(scores))], max(scores), narrow, rounded)"),
    "ex-estimation-contamination": (
        "(min(s for s, r in ratio.items() if r < 1), ratio[0.0], ratio[0.1], ratio[0.2])"
    ),
    "ex-estimation-break": (
        "('estimation-gaussian-mle', 'estimation-die-example', 'estimation-gaussian-mean-map',"
        " 'estimation-cramer-rao', 'estimation-dirichlet-categorical-posterior')"
    ),
}


def ticket(*, power=0, last=0, fraction=True, start=1):
    """The mean of the largest number, with room for slips."""

    def largest_moments(M, n):
        mean = M - sum(Fraction(k, M) ** (n + power) for k in range(start, M + last))
        return mean if fraction else float(mean)

    return largest_moments


def mle(s, n):
    return s / n


def laplace(s, n):
    return (s + 1) / (n + 2)


BREAK = [
    f"estimation-{name}"
    for name in (
        "gaussian-mle",
        "die-example",
        "gaussian-mean-map",
        "cramer-rao",
        "dirichlet-categorical-posterior",
    )
]

WRONG = {
    "ex-estimation-odds": [
        (mle, mle),  # nothing changes
        (laplace, mle),
        (mle, lambda s, n: (s + 0.5) / (n + 1)),
        (mle, lambda s, n: (s - 1) / (n - 2) if n > 2 else 0.5),  # divides by p(1 - p)
        (mle, lambda s, n: (s + 1) / (n + 3)),
    ],
    "ex-estimation-no-unbiased": [
        (lambda x: (sum(x) / 2) ** 2, lambda n: n),  # the square of the mean
        (lambda x: x[0] * x[1], lambda n: n + 1),
        (lambda x: x[0], lambda n: n),
        (lambda x: x[0] * x[1], lambda n: 1),
    ],
    "ex-estimation-highest-ticket": [
        (ticket(last=1),),
        (ticket(power=-1),),
        (ticket(fraction=False),),
        (lambda M, n: Fraction(n * (M + 1), n + 1),),  # without replacement
        (ticket(start=2),),
    ],
    "ex-estimation-smoothing": [
        (10, -98.33, -119.05, -98.38),
        (1, -98.33, -98.38, -119.05),  # both laws exchanged
        (1, -99.16, -119.05, -98.38),
        (1, 98.33, 119.05, 98.38),
    ],
    "ex-estimation-contamination": [
        (0.08, 1.558, 0.997, 0.804),
        (0.1, 0.642, 1.003, 1.244),  # mean over median
        (0.1, 1.571, 0.997, 0.804),  # the limit of many observations
    ],
    "ex-estimation-break": [
        ["estimation-mvn-mle", *BREAK[1:]],  # this one has code of its own
        [*BREAK[:3], "estimation-delta-method", BREAK[4]],
        [
            BREAK[0],
            "estimation-categorical-mle",
            *BREAK[2:],
        ],  # without pseudocounts nothing changes
        BREAK[:4],
    ],
}
