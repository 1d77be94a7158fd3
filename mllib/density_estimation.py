"""Density estimation without a family: counting in regions, kernels, exact errors, bandwidths.

Chapter: Unsupervised learning, *Density estimation*. Main references: Rosenblatt (1956), Parzen
(1962), Silverman (1986), Marron and Wand (1992).
"""

import numbers
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
from scipy.special import gammaln

from mllib.core.arrays import check_array, check_sample_weight, check_vector
from mllib.core.estimators import DensityEstimator, begin_fit, check_features, check_fitted
from mllib.core.numerics import log_sum_exp, max_abs, safe_log
from mllib.core.scalars import check_scalar, random_generator
from mllib.nearest_neighbours import neighbours

__all__ = [
    "BandwidthChoice",
    "Histogram",
    "KernelDensity",
    "Moments",
    "best_bandwidth",
    "exact_mise",
    "histogram",
    "kde_moments",
    "knn_density",
    "log_kernel_density",
    "loo_bandwidth",
    "loo_log_density",
    "loo_range",
    "silverman_bandwidth",
    "window_density",
]


# Records -------------------------------------------------------------------------------------


class Histogram(NamedTuple):
    """Counts in bins of equal width; the bin j holds edges[j] <= x < edges[j + 1]."""

    edges: np.ndarray  #: ends of the bins, increasing, shape (n_bins + 1,)
    counts: np.ndarray  #: observations in each bin, shape (n_bins,)
    density: np.ndarray  #: counts / (n width), shape (n_bins,)


class Moments(NamedTuple):
    """Exact mean and variance of an estimate over all samples of one size."""

    mean: np.ndarray  #: E f_hat(x) at each query, shape (m,)
    variance: np.ndarray  #: Var f_hat(x), shape (m,)


class BandwidthChoice(NamedTuple):
    """A bandwidth chosen by the leave-one-out likelihood."""

    h: float  #: the maximiser found
    log_likelihood: float  #: its value L(h) in nats
    low: float  #: no maximiser is smaller, nor smaller than what was asked
    high: float  #: no maximiser is larger


# Counting ------------------------------------------------------------------------------------


def histogram(x, width, origin=0.0):
    """Return counts k and densities k / (n width) in the bins [origin + j width, + (j + 1) width).

    The bins reach from the one of the smallest to the one of the largest observation.

    Book: density-estimation-region-estimator.

    >>> histogram([1.0, 2.0, 2.5, 4.0], 2.0).density
    array([0.125, 0.25 , 0.125])
    """
    x = check_vector(x, "x")
    if len(x) == 0:
        raise ValueError("x must hold at least one observation.")
    check_scalar(width, "width", low=0, open_low=True)
    check_scalar(origin, "origin")
    with np.errstate(over="ignore", invalid="ignore"):
        j = np.floor((x - origin) / width)
        bins = np.ptp(j)
    if not bins <= 1e7:
        raise ValueError(f"width {width:g} makes {bins:.3g} bins: take a larger width.")
    edges = origin + width * np.arange(j.min() - 1, j.max() + 3)
    if not (np.diff(edges) > 0).all():
        raise ValueError(f"width {width:g} is lost in rounding next to {max_abs(x):.3g}.")
    j = np.searchsorted(edges, x, side="right") - 1  # the edges as rounded decide, not (x - o)/w
    edges, counts = edges[j.min() : j.max() + 2], np.bincount(j - j.min())
    return Histogram(edges, counts, counts / (len(x) * width))


def window_density(X, Q, h):
    """Return k / (n h^d) with k the rows of X in the cube of side h around each query: fixed V.

    This is the kernel density estimate whose kernel is 1 on [-1/2, 1/2]^d.

    >>> window_density([[0.0], [1.0], [4.0]], [[0.5]], 2.0)
    array([0.33333333])
    """
    X, Q = _pair(X, Q)
    _check_width(h, X.shape[1])
    n, d = X.shape
    out = np.empty(len(Q))
    for rows in _blocks(len(Q), n):
        k = np.count_nonzero(cdist(Q[rows], X, "chebyshev") <= h / 2, axis=1)
        out[rows] = k / (n * h**d)
    return out


def knn_density(X, Q, k):
    """Return k / (n V(r)) with r the distance to the k-th nearest row of X: fixed k.

    V(r) = pi^(d/2) r^d / Gamma(d/2 + 1) is the volume of the ball; where r = 0 the estimate is
    infinite. It does not integrate to one.

    Book: density-estimation-region-estimator. Loftsgaarden and Quesenberry (1965).

    >>> knn_density([[0.0], [1.0], [4.0]], [[0.5], [2.0]], 2)
    array([0.66666667, 0.16666667])
    """
    X, Q = _pair(X, Q)
    n, d = X.shape
    check_scalar(k, "k", low=1, integer=True)
    if k > n:
        raise ValueError(f"k must be at most the {n} rows of X, got {k}.")
    r = neighbours(X, Q, k).distance[:, -1]
    log_volume = d / 2 * np.log(np.pi) - gammaln(d / 2 + 1) + d * safe_log(r)
    with np.errstate(over="ignore"):
        return np.exp(np.log(k / n) - log_volume)


# Kernel density estimates --------------------------------------------------------------------


def log_kernel_density(X, Q, h, sample_weight=None):
    """Return log (1/n) sum_i N(q; x_i, h^2 I) for each query, in nats.

    The sum is taken in logs, so that a query far from all data has a finite log density.

    Book: density-estimation-kde. Parzen (1962), Annals of Mathematical Statistics 33, 1065-1076.

    Parameters
    ----------
    X, Q : arrays of shape (n, d) and (m, d)
    h : float
        Bandwidth, above 0.
    sample_weight : see ``mllib.core``

    Examples
    --------
    >>> log_kernel_density([[0.0]], [[0.0], [2.0]], 1.0).round(4)
    array([-0.9189, -2.9189])
    """
    X, Q = _pair(X, Q)
    _check_width(h, 1)
    w = check_sample_weight(sample_weight, len(X), ones=True)
    n, d = w.sum(), X.shape[1]
    out = np.empty(len(Q))
    for rows in _blocks(len(Q), len(X)):
        A = cdist(Q[rows], X, "sqeuclidean")
        A *= -0.5 / h**2
        out[rows] = log_sum_exp(A + safe_log(w))
    return out - np.log(n) - d * np.log(h) - d / 2 * np.log(2 * np.pi)


def loo_log_density(X, h, sample_weight=None):
    """Return log (1/(n-1)) sum_{j != i} N(x_i; x_j, h^2 I) for each row i, in nats.

    Weights are 0 or at least 1; one repetition is left out.

    Book: density-estimation-kde-bandwidth. Habbema, Hermans and van den Broek (1974).

    >>> loo_log_density([[0.0], [2.0]], 1.0).round(4)
    array([-2.9189, -2.9189])
    """
    X = check_array(X, min_samples=2)
    _check_width(h, 1)
    w = _whole_weights(sample_weight, len(X))
    n, d = w.sum(), X.shape[1]
    out = np.empty(len(X))
    for rows in _blocks(len(X), len(X)):
        A = cdist(X[rows], X, "sqeuclidean")
        A *= -0.5 / h**2
        A += safe_log(w)
        i = np.arange(len(X))[rows]
        A[i - i[0], i] = safe_log(np.maximum(w[i] - 1, 0))
        out[rows] = log_sum_exp(A)
    return out - np.log(n - 1) - d * np.log(h) - d / 2 * np.log(2 * np.pi)


# Exact errors --------------------------------------------------------------------------------


def kde_moments(Q, h, n, weights, means, variances):
    """Return the exact mean and variance of the estimate at Q over all samples of n draws.

    The truth is f = sum_k w_k N(m_k, v_k I). Then E f_hat = sum_k w_k N(x; m_k, (v_k + h^2) I), and
    n Var f_hat = (4 pi h^2)^(-d/2) sum_k w_k N(x; m_k, (v_k + h^2/2) I) - (E f_hat)^2.

    Book: density-estimation-exact.

    Parameters
    ----------
    Q, h, n : array of shape (m, d), bandwidth above 0, sample size
    weights, means, variances : arrays of shape (K,), (K, d) and (K,)

    Examples
    --------
    >>> kde_moments([[0.0]], 1.0, 1, [1.0], [[0.0]], [1.0]).mean.round(4)
    array([0.2821])
    """
    Q = check_array(Q, "Q")
    w, M, v = _truth(weights, means, variances, Q.shape[1])
    _check_size(h, n)
    D = cdist(Q, M, "sqeuclidean")
    d = Q.shape[1]
    mean = _gaussians(D, v + h**2, d) @ w
    square = (4 * np.pi * h**2) ** (-d / 2) * (_gaussians(D, v + h**2 / 2, d) @ w)
    return Moments(mean, np.maximum(square - mean**2, 0) / n)


def exact_mise(h, n, weights, means, variances):
    """Return E integral (f_hat - f)^2 for n draws from f = sum_k w_k N(m_k, v_k I).

    With S_a = sum_kl w_k w_l N(m_k - m_l; 0, (v_k + v_l + a h^2) I) it is
    (4 pi h^2)^(-d/2) / n + (1 - 1/n) S_2 - 2 S_1 + S_0. Parameters are as in ``kde_moments``.

    Book: density-estimation-exact. Marron and Wand (1992), Annals of Statistics 20, 712-736.

    >>> round(exact_mise(0.5, 100, [1.0], [[0.0]], [1.0]), 5)
    0.0056
    """
    w, M, v = _truth(weights, means, variances)
    _check_size(h, n)
    d = M.shape[1]
    D, V = cdist(M, M, "sqeuclidean"), v[:, None] + v
    S = [w @ _gaussians(D, V + a * h**2, d) @ w for a in (0, 1, 2)]
    return float((4 * np.pi * h**2) ** (-d / 2) / n + (1 - 1 / n) * S[2] - 2 * S[1] + S[0])


def best_bandwidth(n, weights, means, variances):
    """Return the h at which ``exact_mise`` is least. Parameters are as in ``kde_moments``.

    >>> round(best_bandwidth(100, [1.0], [[0.0]], [1.0]), 3)
    0.445
    """
    w, M, v = _truth(weights, means, variances)
    _check_size(1.0, n)
    wide = np.sqrt(max_abs(v) + max_abs(cdist(M, [w @ M], "sqeuclidean")))
    narrow = np.sqrt(np.min(v))  # the narrowest part may decide
    grid = np.log(np.geomspace(narrow, wide, 200) * np.geomspace(1e-4, 10, 200))

    def error(t):
        return exact_mise(np.exp(t), n, w, M, v)

    i = int(np.argmin([error(t) for t in grid]))
    ends = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
    return float(np.exp(minimize_scalar(error, bounds=ends, options={"xatol": 1e-9}).x))


# Choosing the bandwidth ----------------------------------------------------------------------


def silverman_bandwidth(X, sample_weight=None):
    """Return s (4 / ((d + 2) n))^(1/(d + 4)), the best h for large n if the truth is Gaussian.

    s^2 is the mean of the variances of the columns, with divisor n - 1.

    Book: density-estimation-silverman. Silverman (1986), equations 3.28 and 4.14.

    >>> round(silverman_bandwidth([[0.0], [1.0], [2.0]]), 4)
    0.8503
    """
    X = check_array(X)
    w = check_sample_weight(sample_weight, len(X), ones=True)
    n, d = w.sum(), X.shape[1]
    kept = X[w > 0]
    if n <= 1 or (kept == kept[0]).all():
        raise ValueError(
            f"X must have at least two different rows to choose a bandwidth, got {len(kept)} "
            f"sample(s) that are equal: give bandwidth as a number."
        )
    centre = w @ X / n
    s = np.sqrt(w @ np.sum((X - centre) ** 2, axis=1) / ((n - 1) * d))
    return float(s * (4 / ((d + 2) * n)) ** (1 / (d + 4)))


def loo_range(X, sample_weight=None):
    """Return (low, high) between which every maximiser of the leave-one-out likelihood lies.

    low^2 and high^2 are the means of delta_i^2 / d and Delta_i^2 / d, with delta_i and Delta_i the
    distances from x_i to the nearest and to the farthest of the others.

    Book: density-estimation-kde-bandwidth.

    >>> loo_range([[0.0], [1.0], [3.0]])
    (1.4142135623730951, 2.70801280154532)
    """
    X = check_array(X, min_samples=2)
    w = _whole_weights(sample_weight, len(X))
    X, w = X[w > 0], w[w > 0]
    near, far = np.empty(len(X)), np.empty(len(X))
    for rows in _blocks(len(X), len(X)):
        D = cdist(X[rows], X, "sqeuclidean")
        far[rows] = D.max(axis=1)
        i = np.arange(len(X))[rows]
        D[i - i[0], i] = np.where(w[i] > 1, 0.0, np.inf)
        near[rows] = D.min(axis=1)
    scale = w.sum() * X.shape[1]
    return float(np.sqrt(w @ near / scale)), float(np.sqrt(w @ far / scale))


def loo_bandwidth(X, sample_weight=None, *, at_least=0.0):
    """Return the bandwidth that maximises L(h) = sum_i log f_hat_{-i}(x_i).

    A grid of 60 values over ``loo_range``, then a bracketed search around the best. Where every row
    has a twin, L grows without bound as h falls to 0: that is refused unless ``at_least``, the
    smallest bandwidth to consider, is given, such as the unit to which the data were rounded.

    Book: density-estimation-kde-bandwidth.

    >>> round(loo_bandwidth([[0.0], [2.0]]).h, 6)
    2.0
    """
    X = check_array(X, min_samples=2)
    check_scalar(at_least, "at_least", low=0)
    w = _whole_weights(sample_weight, len(X))
    low, high = loo_range(X, w)
    low = max(low, at_least)
    if not low > 0:
        raise ValueError(
            "X must have a row without a twin: where each row of X is repeated, the leave-one-out "
            "likelihood grows without bound as h falls to 0; give at_least, the unit of rounding."
        )

    def score(t):
        return w @ loo_log_density(X, np.exp(t), w)

    if high <= low:
        h = low
    else:
        grid = np.linspace(np.log(low), np.log(high), 60)
        i = int(np.argmax([score(t) for t in grid]))
        ends = grid[max(i - 1, 0)], grid[min(i + 1, 59)]
        found = minimize_scalar(lambda t: -score(t), bounds=ends, options={"xatol": 1e-9})
        h = np.exp(found.x if -found.fun >= score(grid[i]) else grid[i])
    return BandwidthChoice(float(h), float(w @ loo_log_density(X, h, w)), low, high)


# Estimator -----------------------------------------------------------------------------------


class KernelDensity(DensityEstimator):
    """The density (1/n) sum_i N(x; x_i, h^2 I).

    Book: density-estimation-kde.

    Parameters
    ----------
    bandwidth : float, "silverman" or "loo"
        h itself, or the rule by which it is chosen.
    at_least : float
        Smallest bandwidth that "loo" may choose, such as the unit of rounding.

    Attributes
    ----------
    bandwidth_, n_features_in_ : float, int

    Examples
    --------
    >>> float(KernelDensity(1.0).fit([[0.0], [1.0]]).score_samples([[0.5]])[0].round(4))
    -1.0439
    """

    def __init__(self, bandwidth="silverman", *, at_least=0.0):
        self.bandwidth = bandwidth
        self.at_least = at_least

    def fit(self, X, y=None, sample_weight=None):
        """Store the sample and choose the bandwidth; return self."""
        begin_fit(self, X)
        X = check_array(X)
        w = check_sample_weight(sample_weight, len(X), ones=True)
        if isinstance(self.bandwidth, numbers.Real):
            h = _check_width(self.bandwidth, 1, "bandwidth")
        elif self.bandwidth == "silverman":
            h = silverman_bandwidth(X, w)
        elif self.bandwidth == "loo":
            h = loo_bandwidth(X, w, at_least=self.at_least).h
        else:
            raise ValueError(
                f"bandwidth must be a number above 0, 'silverman' or 'loo', got {self.bandwidth!r}."
            )
        self.bandwidth_ = float(h)
        self._X, self._w = X[w > 0].copy(), w[w > 0]
        self.n_features_in_ = X.shape[1]
        return self

    def score_samples(self, X):
        """Return the log density of each row of X in nats, shape (m,)."""
        X = check_features(self, X)
        return log_kernel_density(self._X, X, self.bandwidth_, self._w)

    def sample(self, n_samples=1, random_state=None):
        """Return draws of the estimate: a stored row, plus h times a standard Gaussian."""
        check_fitted(self)
        check_scalar(n_samples, "n_samples", low=1, integer=True)
        rng = random_generator(random_state)
        rows = rng.choice(len(self._X), n_samples, p=self._w / self._w.sum())
        noise = rng.standard_normal((n_samples, self.n_features_in_))
        return self._X[rows] + self.bandwidth_ * noise


# Checks --------------------------------------------------------------------------------------


def _pair(X, Q):
    X, Q = check_array(X), check_array(Q, "Q")
    if X.shape[1] != Q.shape[1]:
        raise ValueError(f"Q must have the {X.shape[1]} columns of X, got {Q.shape[1]}.")
    return X, Q


def _blocks(m, n):
    """Cut m rows into slices whose distances to n rows fill at most 4 MB."""
    size = max(1, 500_000 // n)
    return [slice(a, a + size) for a in range(0, m, size)]


def _whole_weights(sample_weight, n):
    """Return weights of which one repetition can be left out."""
    w = check_sample_weight(sample_weight, n, ones=True)
    if ((w > 0) & (w < 1)).any() or w.sum() < 2:
        raise ValueError(
            "sample_weight must be 0 or at least 1, and 2 or more in all: leaving one out takes "
            "away one repetition of a row."
        )
    return w


def _check_width(h, d, name="h"):
    """Return a width of which the square, and the power d, are neither 0 nor infinite."""
    check_scalar(h, name, low=0, open_low=True)
    if not abs(np.log10(h)) * max(2, d) <= 300:
        raise ValueError(f"{name} = {h:.3g} is too large or too small: divide X by a unit.")
    return h


def _check_size(h, n):
    _check_width(h, 1)
    check_scalar(n, "n", low=1, integer=True)


def _truth(weights, means, variances, d=None):
    M = check_array(means, "means")
    w = check_vector(weights, "weights", length=len(M))
    v = check_vector(variances, "variances", length=len(M))
    if (w < 0).any() or abs(w.sum() - 1) > 1e-8:
        raise ValueError("weights must be at least 0 and sum to one: divide by the sum.")
    if (v <= 0).any():
        raise ValueError("variances must be above 0.")
    if d is not None and M.shape[1] != d:
        raise ValueError(f"means must have the {d} columns of Q, got {M.shape[1]}.")
    return w, M, v


def _gaussians(D, v, d):
    """Return N(.; 0, v I) at squared distances D in d dimensions."""
    return (2 * np.pi * v) ** (-d / 2) * np.exp(-D / (2 * v))
