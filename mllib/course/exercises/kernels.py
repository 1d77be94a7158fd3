"""Checks of the exercises of *Kernels*."""

import numpy as np

from mllib.course.exercises import breaks, code, points, value

# The smaller of two numbers ------------------------------------------------------------------


@code(
    "ex-kernels-minimum",
    "your features as a function `features(points)` of increasing points, which returns one row "
    "for each, and two or more points that refute the maximum",
)
def _(c, features, spots):
    Phi = np.asarray(features(np.array([1.0, 3, 4])))
    c.holds("a row of features for each of 1, 3, 4", Phi.ndim == 2, len(Phi) == 3)
    gram = [[1, 1, 1], [1, 3, 3], [1, 3, 4]]
    c.holds("their products are the smaller numbers", np.allclose(Phi @ Phi.T, gram))
    rng, right = np.random.default_rng(0), []
    for n in range(1, 9):
        x = np.sort(rng.uniform(0, 9, n))
        Phi = np.asarray(features(x))
        right.append(np.allclose(Phi @ Phi.T, [[min(u, v) for v in x] for u in x]))
    c.holds("so they are on eight other sets of points", right)
    largest = [[float(max(u, v)) for v in spots] for u in spots]
    c.holds("the points are not negative", np.array(spots) >= 0)
    c.holds("the maximum on them has a negative eigenvalue", np.linalg.eigvalsh(largest)[0] < -1e-9)


points(
    "ex-kernels-minimum",
    "The squares of the features are the lengths of the intervals below a point.",
    "Two points have the intervals below the smaller one in common; their lengths add up to it.",
    "So every Gram matrix is positive semidefinite, and a positive semidefinite function is a "
    "kernel.",
    "For the maximum one negative value $z^TKz$, or a negative determinant, is enough.",
)

# No rule for roots ---------------------------------------------------------------------------


@code("ex-kernels-root", "the two numbers a and b")
def _(c, a, b):
    K = np.array([[1, a, b], [a, 1, a], [b, a, 1]], dtype=float)
    c.holds("no value is negative", K >= 0)
    c.holds("the matrix has no negative eigenvalue", np.linalg.eigvalsh(K)[0] > -1e-12)
    least = np.linalg.eigvalsh(np.sqrt(np.abs(K)))[0]
    c.holds("the matrix of its roots has one", least < -1e-9)


points(
    "ex-kernels-root",
    "On two points a kernel has a determinant that is not negative.",
    "Roots keep that inequality between products, so each pair still passes: the third point is "
    "needed.",
)

# Leave one out without refitting -------------------------------------------------------------


@code("ex-kernels-loo", "your function `loo_residuals(K, y, lam)`, which returns n residuals")
def _(c, loo_residuals):
    c.holds(
        r"two equal inputs, $y=(0,1)$, $\lambda=1$: each predicts half of the other",
        np.allclose(loo_residuals(np.ones((2, 2)), np.array([0.0, 1]), 1.0), [-0.5, 1]),
    )
    rng, right = np.random.default_rng(0), []
    for lam in (0.01, 0.5, 10.0):
        X, y = rng.normal(size=(12, 2)), rng.normal(size=12) + 3
        squares = ((X[:, None] - X) ** 2).sum(axis=2)
        for K in (X @ X.T, np.exp(-squares / 2), (1 + X @ X.T) ** 3):
            refits = []
            for i in range(12):
                rest = np.arange(12) != i
                alpha = np.linalg.solve(K[np.ix_(rest, rest)] + lam * np.eye(11), y[rest])
                refits.append(y[i] - K[i, rest] @ alpha)
            right.append(np.allclose(loo_residuals(K, y, lam), refits, rtol=1e-9, atol=1e-10))
    c.holds("they are those of twelve refits, three kernels and three penalties", right)


points(
    "ex-kernels-loo",
    "Change the target of example $i$ to what the model without it predicts there.",
    "That model still minimises the objective of the changed sample: the new example adds nothing.",
    r"So it has the coefficients $(K+\lambda I)^{-1}(y-r_ie_i)$, and coefficient $i$, a residual "
    r"over $\lambda$, is 0.",
)

# Fisher's direction among the features -------------------------------------------------------


def rings(rng, n):
    """Return two noisy rings of radius 1 and 3, and their labels."""
    y, turn = np.arange(n) % 2, rng.uniform(0, 2 * np.pi, n)
    far = 1 + 2 * y + 0.2 * rng.normal(size=n)
    return far[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]), y


@code(
    "ex-kernels-fisher",
    "your function `kernel_fisher(K, y, lam)` of labels 0 for class 1 and 1 for class 2, which "
    "returns the n coefficients",
)
def _(c, kernel_fisher):
    rng, solved = np.random.default_rng(0), []
    for lam in (0.1, 1.0, 5.0):
        X, y = rng.normal(size=(15, 2)), rng.permutation(np.arange(15) < 5).astype(int)
        squares = np.column_stack([X**2, 2**0.5 * X[:, 0] * X[:, 1]])
        for Phi, K in ((X, X @ X.T), (squares, (X @ X.T) ** 2)):
            m = np.array([Phi[y == k].mean(axis=0) for k in (0, 1)])
            w, away = Phi.T @ kernel_fisher(K, y, lam), Phi - m[y]
            solved.append(np.allclose(away.T @ away @ w + lam * w, m[1] - m[0]))
    c.holds(
        r"$w=\Phi^T\alpha$ solves $(S_w+\lambda I)w=m_2-m_1$: the linear kernel and its square, "
        "5 and 10 rows",
        solved,
    )
    (A, s), (Q, u) = rings(rng, 60), rings(rng, 300)
    near, new = (np.exp(-((P[:, None] - A) ** 2).sum(axis=2) / 2) for P in (A, Q))
    alpha = kernel_fisher(near, s, 0.1)
    z = near @ alpha
    cut = (z[s == 0].mean() + z[s == 1].mean()) / 2
    c.holds(
        "the Gaussian kernel tells nine in ten new points of two rings apart",
        np.mean((new @ alpha > cut) == u) > 0.9,
    )


points(
    "ex-kernels-fisher",
    r"With the features as rows of $\Phi$: $S_w=\Phi^TP\Phi$ and $m_2-m_1=\Phi^Te$.",
    r"Put $w=\Phi^T\alpha$ into $(S_w+\lambda I)w=m_2-m_1$ and take $\Phi^T$ out in front.",
    r"The system can be solved: $PK$ has no negative eigenvalue, zeros apart those of $S_w$.",
)

# Which length does the geyser choose? --------------------------------------------------------

value(
    "ex-kernels-choose",
    "in how many of the 20 divisions the chosen model beats the line, and its mean gain in minutes",
    "0dd58fd1aec123bf",
    digits=2,
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-kernels-break",
    [
        ("kernel_nearest", "[:, None] - 2 * K, axis=0", "[:, None] * 0 - 2 * K, axis=0"),
        ("_solve", "dpotrs(factor, root * y,", "dpotrs(factor, 1.0 * y,"),
        ("polynomial_kernel_features", "weight * np.prod", "weight**2 * np.prod"),
        ("check_kernel", "float(parts.values[-1])", "float(parts.values[0])"),
    ],
)
