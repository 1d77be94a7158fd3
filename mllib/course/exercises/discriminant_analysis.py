"""Checks of the exercises of *Discriminant analysis*."""

from math import erf, sqrt

import numpy as np

from mllib.course.datasets import breast_cancer, iris
from mllib.course.exercises import breaks, code, points

# More features never hurt, in theory ---------------------------------------------------------


@code(
    "ex-discriminant-analysis-features",
    "two means and the common covariance of two Gaussian classes in the plane; the second feature "
    "is the one that was added",
)
def _(c, mu_1, mu_2, Sigma):
    gap, S = np.subtract(mu_2, mu_1, dtype=float), np.asarray(Sigma, dtype=float)
    c.holds("two features", gap.shape == (2,), S.shape == (2, 2))
    det = S[0, 0] * S[1, 1] - S[0, 1] * S[1, 0]
    c.holds("a covariance: symmetric, positive definite", S[0, 1] == S[1, 0], S[0, 0] > 0, det > 0)
    c.holds("the second feature has the same mean in both classes", gap[1] == 0)
    c.holds(r"$\Delta=1$ with the first alone", abs(gap[0] ** 2 / S[0, 0] - 1) < 1e-9)
    turn = np.linspace(0, np.pi, 200_001)
    v = np.array([np.cos(turn), np.sin(turn)])
    largest = ((gap @ v) ** 2 / (v * (S @ v)).sum(axis=0)).max()
    c.holds(r"$\Delta=2$ with both: $J(v)$ is 4 in the best direction", abs(largest - 4) < 1e-4)


points(
    "ex-discriminant-analysis-features",
    r"$\Delta^2$ is the largest $J(v)$ over all directions $v$.",
    "The directions that give the new feature the weight 0 have the ratios of before: a maximum "
    "over more directions is no smaller.",
    "A rule may ignore the feature, so the least error over all rules cannot rise.",
)

# Same centre, different classes --------------------------------------------------------------


@code(
    "ex-discriminant-analysis-same-centre",
    "the two covariances, the error of QDA, and a line beside the centre: v and a with class 2 "
    "where v^T x + a > 0, both classes having the mean 0",
)
def _(c, first, second, error, v, a):
    S, v = np.array([first, second], dtype=float), np.asarray(v, dtype=float)
    c.holds("two covariances of the plane", S.shape == (2, 2, 2), S[:, 0, 1] == S[:, 1, 0])
    c.holds("positive definite", np.linalg.eigvalsh(S) > 0)
    det = np.linalg.det(S)
    c.holds("of equal determinant", abs(det[0] / det[1] - 1) < 1e-9)
    turn = 2 * np.pi * (np.arange(100_000) + 0.5) / 100_000
    u = np.array([np.cos(turn), np.sin(turn)])
    along = [(u * np.linalg.solve(P, u)).sum(axis=0) for P in S]
    # Along each ray the class of the larger quadratic form is the less probable one.
    truth = np.mean(1 / np.maximum(*along)) / (2 * sqrt(det[0]))
    c.holds("QDA errs on less than 15 %", truth < 0.15)
    c.holds("its error is the integral that you found", abs(error - truth) < 2e-3)
    c.holds("the line does not go through the centre", a != 0)
    z = [a / sqrt(v @ P @ v) for P in S]
    line = (1 + erf(z[0] / sqrt(2))) / 4 + (1 - erf(z[1] / sqrt(2))) / 4
    c.holds("it errs on less than 40 %", line < 0.4)


points(
    "ex-discriminant-analysis-same-centre",
    "Both half-planes of a line through the centre hold half of each class.",
    r"Beside it the two classes count differently, as $v^T\Sigma_1v\ne v^T\Sigma_2v$.",
)

# Discriminant analysis by least squares ------------------------------------------------------


def even_on_boundary(X, t):
    """Whether LDA has even odds where least squares of the labels -1 and 1 is 0."""
    a, *w = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), t, rcond=None)[0]
    x, odds = -a * np.array(w) / np.dot(w, w), np.log(np.sum(t > 0) / np.sum(t < 0))
    S = sum(np.cov(X[t == k].T, bias=True) * np.mean(t == k) for k in (-1, 1))
    for k in (-1, 1):
        away = x - X[t == k].mean(axis=0)
        odds -= k * away @ np.linalg.solve(S, away) / 2
    return abs(odds) < 1e-6


@code(
    "ex-discriminant-analysis-least-squares",
    "the directions of least squares and of LDA on versicolor and virginica, of any length; and "
    "whether the boundaries agree, True or False, with 50 flowers of each and with the first 10 of "
    "virginica",
)
def _(c, regressed, normal, equal, fewer):
    flowers = iris()
    X, t = flowers.X[50:], 2.0 * (flowers.y[50:] == 2) - 1
    along = np.column_stack([np.ones(100), X @ np.asarray(regressed, dtype=float)])
    slope = np.linalg.lstsq(along, t, rcond=None)[0]
    c.holds(
        "what least squares along the first direction leaves over is orthogonal to all columns",
        abs(X.T @ (t - along @ slope)) < 1e-6,
    )
    c.holds("the first points to virginica", slope[1] > 0)
    A, B, w = X[:50], X[50:], np.asarray(normal, dtype=float)
    pair = np.array([B.mean(axis=0) - A.mean(axis=0), (np.cov(A.T) + np.cov(B.T)) @ w])
    cosine = pair[0] @ pair[1] / np.prod(np.linalg.norm(pair, axis=1))
    c.holds("$S_w$ takes the second to a positive multiple of $m_2-m_1$", cosine > 1 - 1e-9)
    truth = [even_on_boundary(X[:m], t[:m]) for m in (100, 60)]
    c.holds("whether the two boundaries agree", np.array([equal, fewer], dtype=bool) == truth)


points(
    "ex-discriminant-analysis-least-squares",
    "With centred variables the normal equations have the total scatter on the left.",
    r"It is $S_w$ plus a multiple of $\delta\delta^T$, and the right side is a multiple of "
    r"$\delta=m_2-m_1$.",
    r"So $S_ww$ is a multiple of $\delta$; its factor is positive because $w^TS_ww>0$.",
    "The intercepts follow from different principles.",
)

# Linear or quadratic? ------------------------------------------------------------------------


def two_errors(tumours, n, rng):
    """Return the errors of LDA and QDA on the patients left out, by slow formulas."""
    A, Q = [], []
    for k in (0, 1):
        rows = rng.permutation(np.flatnonzero(tumours.y == k))
        A.append(tumours.X[rows[: n // 2], :5])
        Q.append(tumours.X[rows[n // 2 :], :5])
    own, t = [np.cov(a.T, bias=True) for a in A], np.repeat([0, 1], [len(q) for q in Q])
    errors = []
    for S in ([sum(own) / 2] * 2, own):
        Z = [np.concatenate(Q) - a.mean(axis=0) for a in A]
        far = [((z @ np.linalg.inv(V)) * z).sum(axis=1) for z, V in zip(Z, S)]
        g = np.array(far) + np.log(np.linalg.det(S))[:, None]
        errors.append(np.mean(g.argmin(axis=0) != t))
    return errors


@code(
    "ex-discriminant-analysis-lda-or-qda",
    "your function `compare(n, seed)`, which returns the errors of LDA and of QDA as shares, and "
    'the rule to choose, "LDA" or "QDA", for n = 12 and for n = 320',
)
def _(c, compare, few, many):
    sizes, R, tumours, rng = (12, 40, 320), 40, breast_cancer(), np.random.default_rng(0)
    mine = np.array([[compare(n, seed) for seed in range(R)] for n in sizes])
    truth = np.array([[two_errors(tumours, n, rng) for _ in range(R)] for n in sizes])
    c.holds("two errors each time, as shares", mine.shape == truth.shape, mine >= 0, mine <= 1)
    c.holds(
        "the division hangs on the seed, and on nothing else",
        np.array_equal(compare(40, 7), mine[1, 7]),
        np.ptp(mine[1], axis=0) > 0,
    )
    noise = np.sqrt((mine.var(axis=1) + truth.var(axis=1)) / R)
    c.holds(
        "the mean errors for n = 12, 40 and 320 are those of other divisions, up to four standard "
        "errors",
        abs(mine.mean(axis=1) - truth.mean(axis=1)) < 4 * noise,
    )
    more = np.diff(mine).mean(axis=1)
    c.holds("LDA comes first, with fewer errors at 12 and more at 320", more[0] > 0, more[2] < 0)
    better = np.where(np.diff(truth).mean(axis=1)[[0, 2], 0] > 0, "LDA", "QDA")
    c.holds("the rule to choose", np.array([few.upper(), many.upper()]) == better)


# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-discriminant-analysis-break",
    [
        ("quadratic_scores", "- half_log_det", "+ half_log_det"),
        ("class_statistics", "(Z - means[k])", "Z"),
        ("logistic_form", "+ safe_log(priors[1])", "- safe_log(priors[1])"),
        ("fisher_directions", "np.sqrt(counts / n)", "np.ones(len(counts))"),
    ],
)
