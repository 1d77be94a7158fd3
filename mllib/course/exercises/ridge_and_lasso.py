"""Checks of the exercises of *Ridge regression and the lasso*."""

import itertools

import numpy as np

from mllib.course.exercises import breaks, code, points, value

# A prior with another centre -----------------------------------------------------------------


@code("ex-ridge-and-lasso-centre", "your formula as a function `map_estimate(X, y, lam, m)`")
def _(c, map_estimate):
    one = map_estimate(np.ones((1, 1)), np.array([4.0]), 1.0, np.array([2.0]))
    c.holds("one row $x=1$, $y=4$, centre 2 and $\\lambda=1$: halfway, 3", np.isclose(one, [3]))
    rng, flat, far = np.random.default_rng(0), [], []
    for _ in range(20):
        X, y, m = rng.normal(size=(7, 3)), rng.normal(size=7), rng.normal(size=3)
        lam = rng.uniform(0.1, 9)
        w = map_estimate(X, y, lam, m)
        flat.append(np.allclose(X.T @ (X @ w - y) + lam * (w - m), 0, atol=1e-9))
        far.append(np.allclose(map_estimate(X, y, 1e9, m), m, atol=1e-6))
    c.holds(r"the slope of $\|y-Xw\|^2+\lambda\|w-m\|^2$ is 0 at it, 20 samples", flat)
    c.holds(r"for $\lambda=10^9$ it is $m$", far)


points(
    "ex-ridge-and-lasso-centre",
    r"The logarithm of the prior is $-\|w-m\|^2/2\tau^2$ and a constant: with "
    r"$\lambda=\sigma^2/\tau^2$ the penalty is $\lambda\|w-m\|^2$.",
    "With $w=m+h$ the misfit is that of $h$ to the targets $y-Xm$: a ridge problem in $h$.",
    r"As $\lambda\to\infty$ its solution tends to 0, and the estimate to $m$.",
)

# Does each weight shrink? --------------------------------------------------------------------


def ridge_of_two(X, y, lam):
    """Solve the two equations of ridge regression by Cramer's rule."""
    a, b, d = X[:, 0] @ X[:, 0] + lam, X[:, 0] @ X[:, 1], X[:, 1] @ X[:, 1] + lam
    p, q = X.T @ y
    return np.array([p * d - b * q, a * q - b * p]) / (a * d - b * b)


@code(
    "ex-ridge-and-lasso-grows",
    "X of shape (n, 2), y, the smaller and the larger penalty, and for each of them the weight "
    "that grows",
)
def _(c, X, y, low, high, first, second):
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    c.holds(
        "two columns, and as many targets as rows", X.ndim == 2, X.shape[-1] == 2, len(X) == len(y)
    )
    c.holds("both penalties are above 0, the second is larger", 0 < low < high)
    before, after = (ridge_of_two(X, y, lam) for lam in (low, high))
    said = np.abs(before - first) + np.abs(after - second)
    c.holds("ridge regression gives one of its weights these values", said.min() < 1e-3)
    j = int(said.argmin())
    c.holds("it grows in absolute value", abs(after[j]) > 1.0001 * abs(before[j]))
    c.holds("and the norm of both weights falls", np.linalg.norm(after) < np.linalg.norm(before))


# Squares and absolute values together --------------------------------------------------------


@code("ex-ridge-and-lasso-elastic", "your function `elastic_net(X, y, lam1, lam2)`")
def _(c, elastic_net):
    by_hand = elastic_net(np.eye(3), np.array([5.0, -3.0, 0.5]), 2.0, 1.0)
    c.holds(
        r"$X=I$, $y=(5,-3,\frac12)$, $\lambda_1=2$, $\lambda_2=1$: the weights are 2, -1 and 0",
        np.isclose(by_hand, [2, -1, 0]),
    )
    rng, lower, same = np.random.default_rng(0), [], []
    for lam1, lam2 in itertools.product((0.5, 2, 8), (0.3, 1, 5)):
        X, y = rng.normal(size=(8, 4)), rng.normal(0, 2, 8)
        w = np.asarray(elastic_net(X, y, lam1, lam2), dtype=float)
        g = 2 * X.T @ (y - X @ w) - 2 * lam2 * w  # the slope of the squares, downwards
        on = np.abs(w) > 1e-9
        same.append(np.allclose(g[on], lam1 * np.sign(w[on]), atol=1e-6))
        lower.append((np.abs(g[~on]) <= lam1 + 1e-6).all())
    c.holds(r"at a weight that is not 0 the squares pull with $\lambda_1$, nine cases", same)
    c.holds("at a weight that is 0 with no more", lower)


points(
    "ex-ridge-and-lasso-elastic",
    r"The squares of the weights are the misfit of made-up rows $\sqrt{\lambda_2}I$ with target 0.",
    r"The misfit of scikit-learn is ours divided by $2n$: $\lambda_1=2n\alpha\rho$ and "
    r"$\lambda_2=n\alpha(1-\rho)$.",
)

# Which penalty predicts best? ----------------------------------------------------------------

value(
    "ex-ridge-and-lasso-predict",
    "the number of measurements at the best point of the path of patients 0, 2, 4, ..., and the "
    "mean squared errors on the others of the best point and of least squares",
    "b593d2a4a23aa27e",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-ridge-and-lasso-break",
    [
        ("lasso_kkt", "np.maximum(np.abs(g) - lam, 0)", "0.0 * g"),
        ("_descend", "(z - lam / 2) / q[j] if z > 0", "(z - lam) / q[j] if z > 0"),
        ("_next_kink", "j = int(np.argmax(root))", "j = int(np.argmin(root))"),
        ("sweep", "swept[k, k] = -1 / p", "swept[k, k] = 1 / p"),
        ("_filter", "1 / (s + lam / np.where(kept, s, 1.0))", "1 / s"),
    ],
)
