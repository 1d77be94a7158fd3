"""Checks of the exercises of *Least squares*."""

import numpy as np

from mllib.course.exercises import breaks, code, points, value

# The centre and the correlation --------------------------------------------------------------

points(
    "ex-least-squares-correlation",
    "The column of ones is perpendicular to $r$: the residuals add up to 0, and the means of $y$ "
    r"and $\hat y$ agree.",
    r"$\hat y-\bar y$ lies in the column space, the ones being in it, so it is perpendicular to "
    r"$r$: $S_{yy}=S_{\hat y\hat y}+\|r\|^2$ and $S_{y\hat y}=S_{\hat y\hat y}$.",
    r"So $\rho^2=S_{y\hat y}^2/(S_{yy}S_{\hat y\hat y})=1-\|r\|^2/S_{yy}$; neither divisor is 0, "
    r"because neither $y$ nor $\hat y$ is constant.",
    "Which step fails without ones, and that $R^2$ may then be negative.",
)

# The shortest solution depends on the units --------------------------------------------------


@code(
    "ex-least-squares-units",
    "the inputs of the sample, its target, the factor that the new unit puts on the first input, "
    "a new x in the old unit, and the predictions there in the old unit and in the new one",
)
def _(c, sample, target, factor, new, first, second):
    sample, new = np.asarray(sample, dtype=float).ravel(), np.asarray(new, dtype=float).ravel()
    c.holds("two inputs, at the sample and at the new $x$", len(sample) == 2, len(new) == 2)
    c.holds("the sample is not 0, nor is the factor", sample.any(), factor != 0)
    said = {"old": (sample, new, first)}
    unit = np.array([factor, 1.0])
    said["new"] = (unit * sample, unit * new, second)
    for name, (x, at, prediction) in said.items():
        w = target * x / (x @ x)  # the shortest solution is a multiple of the one row
        c.holds(f"in the {name} unit the weights predict the target at the sample", w @ x == target)
        c.holds("and at the new $x$ what you say", abs(w @ at - prediction) < 1e-3)
    c.holds("the two predictions at the new $x$ differ", abs(first - second) > 1e-2)


points(
    "ex-least-squares-units",
    "With full column rank there is one minimiser only.",
    "Dividing its weight by the factor of the column leaves every prediction, and so $J$, as it "
    "was: this is the minimiser in the new unit.",
)

# Weighted least squares ----------------------------------------------------------------------


@code("ex-least-squares-weighted", "your function `weighted(X, y, variances)`")
def _(c, weighted):
    ones = np.ones((2, 1))
    c.holds(
        "one constant, targets 0 and 3 with variances 1 and 2: the weighted mean is 1",
        np.isclose(weighted(ones, np.array([0.0, 3]), np.array([1.0, 2])), [1]),
    )
    rng, repeated, flat = np.random.default_rng(0), [], []
    for _ in range(30):
        X, y, times = rng.normal(size=(8, 3)), rng.normal(size=8), rng.integers(1, 6, 8)
        w = weighted(X, y, 1 / times)
        rows = np.repeat(X, times, axis=0)
        repeated.append(np.allclose(w, np.linalg.pinv(rows) @ np.repeat(y, times)))
        variances = rng.uniform(0.1, 9, 8)
        r = y - X @ weighted(X, y, variances)
        flat.append(np.allclose(X.T @ (r / variances), 0, atol=1e-8))
    c.holds(r"each row repeated $1/\sigma_i^2$ times: the same weights, 30 samples", repeated)
    c.holds(r"any variances: the slope of $\sum_i(y_i-w^Tx_i)^2/\sigma_i^2$ is 0", flat)


points(
    "ex-least-squares-weighted",
    r"In the log-likelihood each residual has its own $\sigma_i^2$; what contains $w$ is "
    r"$-(y_i-w^Tx_i)^2/2\sigma_i^2$.",
    r"Row and target divided by $\sigma_i$ turn the sum into a plain sum of squares.",
)

# Leaving one out without fitting again -------------------------------------------------------


@code("ex-least-squares-loo", "your function `leave_one_out(X, y)`, which returns the n errors")
def _(c, leave_one_out):
    c.holds(
        "a constant and the targets 0, 0, 3: the errors are $-3/2$, $-3/2$ and 3",
        np.isclose(leave_one_out(np.ones((3, 1)), np.array([0.0, 0, 3])), [-1.5, -1.5, 3]),
    )
    rng, right = np.random.default_rng(0), []
    for n, d in [(5, 1), (6, 3), (9, 4), (20, 2)] * 5:
        X, y = rng.normal(size=(n, d)), rng.normal(size=n)
        others = [np.arange(n) != i for i in range(n)]
        fits = [np.linalg.pinv(X[rest]) @ y[rest] for rest in others]
        refitted = [y[i] - X[i] @ fits[i] for i in range(n)]
        right.append(np.allclose(leave_one_out(X, y), refitted))
    c.holds("with their signs, those of $n$ fits, 20 samples", right)


points(
    "ex-least-squares-loo",
    "Without row $i$ the matrix is $X^TX-x_ix_i^T$, and the right side $X^Ty-y_ix_i$.",
    r"By Sherman and Morrison, with $z=(X^TX)^{-1}x_i$ and $h_i=x_i^Tz<1$, the inverse is "
    r"$(X^TX)^{-1}+zz^T/(1-h_i)$.",
    r"So $\hat w_{(i)}=\hat w-zr_i/(1-h_i)$, and the error is $r_i+h_ir_i/(1-h_i)=r_i/(1-h_i)$.",
)

# Is the geyser a line? -----------------------------------------------------------------------

value(
    "ex-least-squares-geyser",
    "the mean squared leave-one-out errors of degree 1 to 6 as a list of six, the best degree, and "
    "by how many minutes its root is below that of the line",
    "dacc3d5d8b25aef8",
    digits=2,
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-least-squares-break",
    [
        ("least_squares", "r = v - Z @ w", "r = y - Z @ w"),
        ("_svd_of_rank", "s > rtol * s[0]", "s > 0"),
        ("covariance", "(Vt.T / s**2) @ Vt", "(Vt.T / s) @ Vt"),
        (
            "_least_squares_by_gram",
            "w += cho_solve(factor, Z.T @ (y - Z @ w) / norms, check_finite=False) / norms",
            "pass",
        ),
        (
            "LinearRegression",
            "np.sum((t - Z @ self.coef_) ** 2) / n",
            "np.sum((t - Z @ self.coef_) ** 2) / (n - 1)",
        ),
    ],
)
