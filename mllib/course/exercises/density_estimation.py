"""Checks of the exercises of *Density estimation*."""

import numpy as np
from scipy.integrate import simpson

from mllib.course.exercises import breaks, code, points, value


def hills(x, X, h):
    """The estimate with Gaussian hills on the rows X at the places x, one row for each place."""
    square = ((x[:, None] - X) ** 2).sum(axis=2)
    return np.exp(-square / (2 * h**2)).mean(axis=1) / (2 * np.pi * h**2) ** (X.shape[1] / 2)


# The best window -----------------------------------------------------------------------------

value(
    "ex-density-estimation-epanechnikov",
    "how much the Gaussian loses, in per cent, and how much the box",
    "d836a4777feeefbb",
    digits=2,
)
points(
    "ex-density-estimation-epanechnikov",
    r"Scaling $K$ to $\mu_2=\frac15$ changes nothing, so it remains to compare $\int K^2$.",
    r"$K_e(u)\ge\frac34(1-u^2)$ everywhere and $K\ge0$: $\int KK_e\ge\frac34(1-\mu_2)=\int K_e^2$.",
    r"$\int K^2=\int K_e^2+2\int(K-K_e)K_e+\int(K-K_e)^2$, and the last term is positive for "
    r"$K\ne K_e$.",
)

# Squares instead of logarithms ---------------------------------------------------------------


@code(
    "ex-density-estimation-lscv",
    "your function `lscv(X, h)` for Gaussian hills, X of shape (n, d)",
)
def _(c, lscv):
    twins = lscv(np.zeros((2, 1)), 1.0)  # the estimate is one hill, its square integrates to R(K)
    c.holds(
        r"two equal numbers and $h=1$: $1/(2\sqrt\pi)-2/\sqrt{2\pi}$",
        np.isclose(twins, 0.5 / np.pi**0.5 - 2 / (2 * np.pi) ** 0.5),
    )
    rng, t = np.random.default_rng(0), np.linspace(-9, 9, 361)
    plane = np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2)
    said, truth = [], []
    for n, d, h in [(5, 1, 0.3), (5, 1, 1.0), (12, 1, 0.5), (4, 2, 0.8)]:
        X = rng.normal(size=(n, d))
        square = hills(plane if d == 2 else t[:, None], X, h) ** 2
        whole = square.sum() * (t[1] - t[0]) ** 2 if d == 2 else simpson(square, x=t)
        left = [hills(X[[i]], np.delete(X, i, axis=0), h)[0] for i in range(n)]
        said.append(lscv(X, h))
        truth.append(whole - 2 * np.mean(left))
    c.holds(
        "on the line and in the plane: the integral of the square by its definition, less twice "
        "the mean of what the other hills say",
        np.isclose(said, truth, rtol=1e-6),
    )
    peaks = np.append(rng.normal(-3, 1, 100), rng.normal(3, 1, 100))[:, None]
    best, x = min(np.geomspace(0.05, 2, 30), key=lambda h: lscv(peaks, h)), np.linspace(-9, 9, 901)
    truth = (np.exp(-((x + 3) ** 2) / 2) + np.exp(-((x - 3) ** 2) / 2)) / (8 * np.pi) ** 0.5
    rule = np.std(peaks, ddof=1) * (4 / 600) ** 0.2
    loss = [((hills(x[:, None], peaks, h) - truth) ** 2).sum() for h in (best, rule)]
    c.holds(
        "two Gaussians 6 deviations apart: half the error of Silverman's rule",
        2 * loss[0] < loss[1],
    )


points(
    "ex-density-estimation-lscv",
    r"$\int(\hat f-f)^2$ has three parts, and $\int f^2$ does not contain $h$.",
    r"H1: $x_i$ is independent of the others, so $\hat f_{-i}(x_i)$ has the mean "
    r"$\mathbb E\int\hat f_{-i}f$.",
    r"The mean of a hill does not depend on how many there are: "
    r"$\mathbb E\hat f_{-i}=\mathbb E\hat f$, for every $n\ge2$.",
    r"The product of two hills of bandwidth $h$ integrates to a hill of bandwidth $\sqrt2h$ at "
    "their distance.",
)

# Hills below zero ----------------------------------------------------------------------------


@code(
    "ex-density-estimation-negative",
    "the three biases at 0, for h = 0.1, 0.2, 0.4, and a query at which the estimate from the "
    "seven observations with h = 0.5 is negative",
)
def _(c, biases, query):
    h = np.array([0.1, 0.2, 0.4])
    # E[K_4((0 - x)/h)/h] is an integral of (3 - u^2)/2 times a bell of variance 1/(1 + h^2)
    exact = ((3 - 1 / (1 + h**2)) / 2 / np.sqrt(1 + h**2) - 1) / np.sqrt(2 * np.pi)
    c.holds(
        "the biases are exact, to 1 %",
        np.shape(biases) == (3,),
        np.isclose(biases, exact, rtol=1e-2, atol=0),
    )
    u = (query - np.array([0.4, 1.0, 1.3, 1.9, 3.2, 3.6, 5.0])) / 0.5
    c.holds("there the estimate is negative", ((3 - u**2) * np.exp(-(u**2) / 2)).sum() < 0)


points(
    "ex-density-estimation-negative",
    r"$\int u^2\,\mathcal N=1$ and $\int u^4\,\mathcal N=3$ give $\int K_4=1$ and $\mu_2=0$.",
    "The odd moments vanish, so the first term of the bias that is left is that of $h^4$.",
)

# How many kinds of eruption? -----------------------------------------------------------------

value(
    "ex-density-estimation-peaks",
    "the bandwidth in minutes at which the last two peaks merge, and the numbers of peaks of "
    "Silverman's rule and of the leave-one-out choice",
    "b67652f819d77859",
    digits=2,
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-density-estimation-break",
    [
        ("log_kernel_density", "d * np.log(h)", "np.log(h)"),
        ("loo_log_density", "np.maximum(w[i] - 1, 0)", "w[i]"),
        ("loo_log_density", "np.log(n - 1)", "np.log(n)"),
        ("kde_moments", "h**2 / 2", "h**2"),
        ("exact_mise", "(1 - 1 / n)", "1"),
    ],
)
