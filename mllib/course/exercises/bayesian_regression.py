"""Checks of the exercises of *Bayesian regression*."""

import numpy as np

from mllib.course.datasets import diabetes
from mllib.course.exercises import breaks, code, points

# Data never widen a band ---------------------------------------------------------------------


@code(
    "ex-bayesian-regression-shrink",
    "the exact decrease as a function `decrease(Sigma, x, x_new, beta)`",
)
def _(c, decrease):
    one = np.ones(1)
    c.holds(
        r"one weight, $\Sigma=1$, $x=x_{new}=1$, $\beta=3$: from 1 to 1/4",
        abs(decrease(np.eye(1), one, one, 3.0) - 3 / 4) < 1e-12,
    )
    rng, right, level = np.random.default_rng(0), [], []
    for _ in range(40):
        R, x, new = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
        Sigma, beta = R @ R.T + 0.1 * np.eye(3), rng.uniform(0.2, 5)
        after = np.linalg.inv(np.linalg.inv(Sigma) + beta * np.outer(new, new))
        right.append(np.isclose(decrease(Sigma, x, new, beta), x @ (Sigma - after) @ x))
        x = x - (x @ Sigma @ new) / (new @ Sigma @ new) * new
        level.append(abs(decrease(Sigma, x, new, beta)) < 1e-9)
    c.holds(r"40 cases: it is what $\Sigma^{-1}+\beta x_{new}x_{new}^T$ takes off", right)
    c.holds(r"it is 0 where $x^T\Sigma x_{new}=0$", level)


points(
    "ex-bayesian-regression-shrink",
    r"One more row adds $\beta x_{new}x_{new}^T$ to the precision $\Sigma^{-1}$.",
    r"By Sherman and Morrison the covariance loses a multiple of $\Sigma x_{new}x_{new}^T\Sigma$, "
    "by a positive factor.",
    r"So the decrease is a square times that factor; it is 0 exactly where $f(x)$ and $f(x_{new})$ "
    "are uncorrelated.",
)

# A counterexample about surprise -------------------------------------------------------------


@code(
    "ex-bayesian-regression-surprise",
    "X, y, alpha, beta, a new row, two targets for it, one on the line and one 1000 deviations of "
    "the prediction off, and the posterior covariance after each",
)
def _(c, X, y, alpha, beta, new, on_line, far, first, second):
    X, y, new = np.asarray(X, dtype=float), np.asarray(y, dtype=float), np.ravel(new)
    A = alpha * np.eye(X.shape[1]) + beta * X.T @ X
    mean = new @ np.linalg.solve(A, beta * X.T @ y)
    deviation = np.sqrt(1 / beta + new @ np.linalg.solve(A, new))
    c.holds("the first target is on the line", abs(on_line - mean) < 0.01 * deviation)
    c.holds("the second is 1000 deviations off", abs(far - mean) > 999 * deviation)
    after = np.linalg.inv(A + beta * np.outer(new, new))
    c.holds("the first covariance is the posterior's", np.allclose(first, after))
    c.holds("the second equals it to rounding", np.allclose(second, first, rtol=1e-9))


points(
    "ex-bayesian-regression-surprise",
    r"The new covariance $(\Sigma^{-1}+\beta x_{new}x_{new}^T)^{-1}$ does not contain $y_{new}$.",
    "It needs the precision of the noise to be known: where it is estimated, the residual counts.",
)

# The evidence, one prediction at a time ------------------------------------------------------


@code("ex-bayesian-regression-prequential", "your function `prequential(X, y, alpha, beta)`")
def _(c, prequential):
    none = prequential(np.zeros((1, 1)), np.zeros(1), 1.0, 1.0)
    c.holds(r"one row $x=0$, $y=0$: $-\frac12\log2\pi$", abs(none + np.log(2 * np.pi) / 2) < 1e-9)
    rng, same = np.random.default_rng(0), []
    for n, d in ((1, 2), (4, 1), (6, 3)):
        X, y, alpha, beta = rng.normal(size=(n, d)), rng.normal(size=n), *rng.uniform(0.3, 4, 2)
        C = np.eye(n) / beta + X @ X.T / alpha  # the covariance of all targets at once
        joint = -(np.linalg.slogdet(2 * np.pi * C)[1] + y @ np.linalg.solve(C, y)) / 2
        orders = [np.arange(n), np.arange(n)[::-1], rng.permutation(n)]
        same += [abs(prequential(X[p], y[p], alpha, beta) - joint) < 1e-8 for p in orders]
    c.holds("three samples in three orders: the log-density of all targets at once", same)


points(
    "ex-bayesian-regression-prequential",
    r"The chain rule: $p(y)=\prod_ip(y_i\mid y_1,\dots,y_{i-1})$, in any order of the rows.",
    "Each factor is the predictive density under the posterior of the rows before.",
)

# How many measurements does the disease listen to? -------------------------------------------


@code(
    "ex-bayesian-regression-gamma",
    "your order of the 442 patients, the five gammas and the five penalties alpha / beta",
)
def _(c, order, gammas, penalties):
    c.holds("each patient comes once", sorted(order) == list(range(442)))
    c.holds("five of both", len(gammas) == 5, len(penalties) == 5)
    c.holds(r"every $\gamma$ lies strictly between 0 and 10", [0 < g < 10 for g in gammas])
    sick, counted, still = diabetes(), [], []
    for n, gamma, lam in zip((30, 60, 120, 240, 442), gammas, penalties):
        X, y = sick.X[order[:n]], sick.y[order[:n]]
        X, y = X - X.mean(axis=0), y - y.mean()
        s2 = np.linalg.svd(X, compute_uv=False) ** 2
        counted.append(abs(np.sum(s2 / (s2 + lam)) / gamma - 1) < 0.01)
        mu = np.linalg.solve(X.T @ X + lam * np.eye(10), X.T @ y)
        rows = np.array([n - 1, n])  # centring takes a row, whether one counts it or not
        stated = gamma / (mu @ mu) * np.sum((y - X @ mu) ** 2) / (rows - gamma)
        still.append(np.abs(stated / lam - 1).min() < 0.01)
    c.holds(r"each $\gamma$ is the sum of $s_j^2/(s_j^2+\alpha/\beta)$, to a hundredth", counted)
    c.holds("at each pair the update of the two precisions stands still, to a hundredth", still)


points(
    "ex-bayesian-regression-gamma",
    r"The $s_j^2$ are sums over the rows and grow like $n$; $\alpha/\beta$ does not.",
    r"So in more and more directions $\beta s_j^2$ is above $\alpha$, and $\gamma$ counts these.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-bayesian-regression-break",
    [
        ("predict", "1 / belief.beta + np.maximum(spread, 0)", "np.maximum(spread, 0)"),
        ("posterior", "(y - X @ mu_0)", "y"),
        ("log_evidence", " - alpha * (mu @ mu)", ""),
        ("evidence_gradient", "mu @ mu - np.trace(Sigma)", "mu @ mu"),
        ("_new_precisions", "now.left / max(now.rss, _TINY)", "data.n / max(now.rss, _TINY)"),
    ],
)
