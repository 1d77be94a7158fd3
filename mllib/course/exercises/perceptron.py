"""Checks of the exercises of *The perceptron*."""

import numpy as np

from mllib.course.exercises import breaks, code, points, value

# Another start -------------------------------------------------------------------------------


@code(
    "ex-perceptron-warm-start",
    "your bound as a function `bound(R, length, gamma, v, eta)` of R, the norm of w*, the margin, "
    "the norm of the start and the step size",
)
def _(c, bound):
    cases = [(3, 2, 1, 0, 1), (3, 2, 1, 0, 4), (5, 1, 0.5, 0, 1)]
    c.holds(
        r"for $v = 0$ it is $R^2\|w^*\|^2/\gamma^2$, whatever $\eta$",
        [abs(bound(*case) - (case[0] * case[1] / case[2]) ** 2) < 1e-9 for case in cases],
    )
    cases = [(R, 2, 1, v, eta) for R in (1, 3) for v in (0.5, 4, 30) for eta in (0.25, 1, 8)]

    def allowed(k, R, length, gamma, v, eta):
        return k * eta * gamma <= length * (v + (v**2 + k * eta**2 * R**2) ** 0.5) + 1e-9

    largest = [max(k for k in range(1000) if allowed(k, *case)) for case in cases]
    c.holds(
        "no number of mistakes that the inequality allows exceeds it",
        [k <= bound(*case) + 1e-6 for k, case in zip(largest, cases)],
    )
    c.holds(
        "and it is at most twice the largest of them, and 2",
        [bound(*case) <= 2 * k + 2 for k, case in zip(largest, cases)],
    )


points(
    "ex-perceptron-warm-start",
    r"Step 1 starts at $w^{*T}v$, which is at least $-\|w^*\|\|v\|$: the inequality of Cauchy and "
    "Schwarz is needed there too.",
    r"Step 2 starts at $\|v\|^2$ and grows by at most $\eta^2R^2$ at each mistake.",
    "Cauchy and Schwarz join both steps to one inequality in $k$.",
    r"Its left side grows like $k$ and its right side like $\sqrt k$, so $k$ is bounded.",
    r"Where $\eta$ stays: the start is measured in steps, so a larger $\eta$ forgets it sooner.",
)

# The order matters ---------------------------------------------------------------------------


def mistakes(X, y, order, passes=10_000):
    """Count the mistakes of the perceptron on the rows in an order; None if it does not end."""
    w, made = np.zeros(2), 0
    for _ in range(passes):
        before = made
        for i in order:
            if y[i] * (w @ X[i]) <= 0:
                w, made = w + y[i] * X[i], made + 1
        if made == before:
            return made
    return None


@code(
    "ex-perceptron-order",
    "X of shape (n, 2), y, and two orders, each a list of the row numbers 0 to n - 1",
)
def _(c, X, y, first, second):
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    c.holds("at most four points in the plane", X.ndim == 2, X.shape[-1] == 2, 0 < len(X) <= 4)
    c.holds("each with a label $-1$ or $+1$", len(y) == len(X), np.isin(y, (-1, 1)))
    rows = list(range(len(X)))
    c.holds("two orders of all the rows", sorted(first) == rows, sorted(second) == rows)
    one, two = mistakes(X, y, first), mistakes(X, y, second)
    c.holds("both runs end without a training error", one is not None, two is not None)
    c.holds("after different numbers of mistakes", one != two)


# A perceptron with a margin ------------------------------------------------------------------


@code(
    "ex-perceptron-margin",
    "your function `margin_perceptron(X, y, c)`, which returns the weights and the number of "
    "updates",
)
def _(c, margin_perceptron):
    single = np.array([[1.0, 0.0]])
    by_hand = [margin_perceptron(single, np.ones(1), k) for k in (0, 2.5, 3)]
    c.holds(
        "the one example $(1, 0)$ needs 1, 3 and 4 updates for $c = 0$, 2.5 and 3, and ends with "
        "that weight",
        [n == k and np.array_equal(w, [k, 0]) for (w, n), k in zip(by_hand, (1, 3, 4))],
    )
    four, signs = np.array([[2, 1.0], [1, -2], [-1, 0], [2, -1]]), np.array([1, -1, -1, 1.0])
    w, n = margin_perceptron(four, signs, 0)
    c.holds(
        "for $c = 0$ on four points: the perceptron's three mistakes and its weights $(3, 2)$",
        n == 3,
        np.array_equal(w, [3, 2]),
    )
    rng, margins, counts = np.random.default_rng(0), [], []
    for _ in range(100):
        separator = rng.integers(1, 6, 2)
        X = rng.integers(-9, 10, (15, 2)).astype(float)
        X = X[X @ separator != 0]
        y, level = np.sign(X @ separator), rng.integers(0, 40)
        w, n = margin_perceptron(X, y, level)
        margins.append((y * (X @ w)).min() > level)
        R2, gamma = (X**2).sum(axis=1).max(), np.abs(X @ separator).min()
        counts.append(n <= (R2 + 2 * level) * (separator @ separator) / gamma**2)
    c.holds("the margin exceeds $c$ on 100 separable samples", margins)
    c.holds(r"after at most $(R^2+2c)\|w^*\|^2/\gamma^2$ updates", counts)


points(
    "ex-perceptron-margin",
    "Step 1 does not change: it never used that the example was a mistake.",
    r"In step 2 the middle term $2\tilde y_iw^Tx_i$ is now at most $2c$ in the place of 0.",
    r"So $\|w^{(k)}\|^2\le k(R^2+2c)$, and step 3 goes through with $R^2+2c$ for $R^2$.",
)

# Which flowers can be told apart by a line? --------------------------------------------------

value(
    "ex-perceptron-iris",
    "six answers, True or False: setosa and versicolor in four measurements, then in the two of "
    "the petals; in the same way setosa and virginica; versicolor and virginica",
    "76d1a7343af4f785",
)
points(
    "ex-perceptron-iris",
    "A separator in two measurements is one in four: the other two weights are 0.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-perceptron-break",
    [
        ("_one_pass", "y[i] * score <= 0", "y[i] * score < 0"),
        ("_one_pass", "w[j] += eta * y[i] * X[i, j]", "w[j] += eta * X[i, j]"),
        ("_one_pass", "w[j] += eta * y[i] * X[i, j]", "w[j] += y[i] * X[i, j]"),
        ("_one_pass", "order[k], steps[k] = i", "order[k], steps[k] = k"),
        ("kernel_perceptron", "y[i] * K[:, i]", "K[:, i]"),
    ],
)
