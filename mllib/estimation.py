"""Estimation: maximum likelihood, bias and variance of estimators, priors and posteriors.

Chapter: Foundations, *Estimation*. Main references: Fisher (1922), Lehmann and Casella (1998).
"""

import itertools
import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import xlogy

from mllib.core.arrays import (
    check_array,
    check_distribution,
    check_size,
    check_square,
    check_vector,
)
from mllib.core.errors import convergence_warning
from mllib.core.numerics import column_scale, log_density_from_cholesky, max_abs
from mllib.core.parallel import map_over
from mllib.core.scalars import (
    check_count,
    check_finite,
    check_positive,
    check_probability,
    check_rng,
    check_scalar,
)
from mllib.probability import dirichlet_log_density

__all__ = [
    "Dirichlet",
    "EstimatorMoments",
    "Gaussian",
    "GaussianMean",
    "MultivariateGaussian",
    "PointEstimate",
    "bernoulli_log_likelihood",
    "bernoulli_mle",
    "categorical_log_likelihood",
    "categorical_map",
    "categorical_mle",
    "category_counts",
    "cramer_rao_bound",
    "dirichlet_posterior",
    "exact_bias_variance",
    "fisher_information",
    "gaussian_log_likelihood",
    "gaussian_mean_posterior",
    "gaussian_mle",
    "log_likelihood",
    "map_estimate",
    "mc_bias_variance",
    "mle",
    "multivariate_gaussian_log_likelihood",
    "multivariate_gaussian_mle",
    "sample_variance",
]


# Checks --------------------------------------------------------------------------------------


def _sample(x, name="x", at_least=1):
    x = check_vector(x, name)
    if len(x) < at_least:
        raise ValueError(f"{name} must hold at least {at_least} values, got {len(x)}.")
    return x


def _size(x):
    """Return the number of observations in a sample of any kind."""
    if np.ndim(x) == 0 or len(x) == 0:
        raise ValueError("x must hold at least one observation.")
    return len(x)


def _counts(counts, name="counts", *, length=None):
    counts = check_vector(counts, name, length=length)
    if len(counts) == 0 or (counts < 0).any():
        raise ValueError(f"{name} must be non-negative numbers, one for each category.")
    return counts


# Records -------------------------------------------------------------------------------------


class Gaussian(NamedTuple):
    """A Gaussian N(mean, variance) on the line, for instance a fitted or a predictive one."""

    mean: float  #: mu, in the unit of x
    variance: float  #: sigma^2, the square of that unit (not the standard deviation)

    def log_density(self, x):
        """Return log N(x; mean, variance) = -(log(2 pi v) + (x - m)^2 / v) / 2 in nats."""
        m, v = check_finite(self.mean, "mean"), check_positive(self.variance, "variance")
        x = check_vector(np.ravel(x), "x").reshape(np.shape(x))
        return -0.5 * (np.log(2 * np.pi * v) + (x - m) ** 2 / v)


class MultivariateGaussian(NamedTuple):
    """A Gaussian N(mean, covariance) in d dimensions."""

    mean: np.ndarray  #: mu, shape (d,)
    covariance: np.ndarray  #: Sigma, shape (d, d)

    def log_density(self, X):
        """Return log N(x_i; mean, covariance) for each row of X, in nats."""
        return _gaussian_log_densities(X, self.mean, self.covariance)


class PointEstimate(NamedTuple):
    """Where a numerical search for the largest objective ended."""

    theta: np.ndarray  #: the maximiser found, shape (q,)
    value: float  #: log-likelihood plus log-prior there, in nats
    converged: bool  #: whether the search met its tolerance
    n_iter: int  #: iterations of the search


class EstimatorMoments(NamedTuple):
    """How an estimator of one number behaves over all samples of size n."""

    mean: float  #: E[T], in the unit of the estimate
    bias: float  #: E[T] - theta
    variance: float  #: E[(T - E[T])^2]
    mse: float  #: E[(T - theta)^2]
    standard_error: float  #: of mean and bias, if they were simulated; 0 if they are exact


class Dirichlet(NamedTuple):
    """The law Dir(alpha) on probability vectors, density proportional to prod_k p_k^(alpha_k - 1).

    With two categories it is the Beta(alpha_1, alpha_2) law of p_1.
    """

    alpha: np.ndarray  #: parameters, all above 0, shape (K,)

    @property
    def mean(self):
        """E[p_k] = alpha_k / sum_j alpha_j: the probability of category k in the next draw."""
        return self.alpha / self.alpha.sum()

    @property
    def mode(self):
        """The most probable p, (alpha_k - 1) / (sum_j alpha_j - K); needs every alpha_k >= 1."""
        excess = self.alpha - 1
        if (excess < 0).any() or excess.sum() == 0:
            raise ValueError(
                "alpha must be at least 1 in every category and above 1 in one: otherwise the "
                "density has no single highest point; use the mean."
            )
        return excess / excess.sum()

    def log_density(self, p):
        """Return the log-density at one probability vector p of shape (K,), in nats."""
        return dirichlet_log_density(check_vector(p, "p", length=len(self.alpha)), self.alpha)

    def update(self, counts):
        """Return the posterior after further counts, shape (K,)."""
        return dirichlet_posterior(self.alpha, counts)


@dataclass(frozen=True)
class GaussianMean:
    """What is known of the mean mu of N(mu, noise_variance): mu has the law N(mean, variance)."""

    mean: float  #: mu_n, which is also the MAP estimate
    variance: float  #: sigma_n^2, the variance (not the standard deviation) of mu
    noise_variance: float  #: sigma^2, the known variance of one observation

    def __post_init__(self):
        check_finite(self.mean, "mean")
        check_positive(self.variance, "variance")
        check_positive(self.noise_variance, "noise_variance")

    def update(self, x):
        """Return the posterior after the further observations x: today's belief is the prior."""
        return gaussian_mean_posterior(x, self.noise_variance, self.mean, self.variance)

    def predictive(self):
        """Return the law of the next observation, N(mean, noise_variance + variance)."""
        return Gaussian(self.mean, self.noise_variance + self.variance)


# Likelihood ----------------------------------------------------------------------------------


def log_likelihood(log_density, x, *theta):
    """Return l(theta) = sum_i log p(x_i; theta), the log-likelihood of an i.i.d. sample, in nats.

    ``log_density(x, *theta)`` gives log p of each of the n observations x, of shape (n,) or (n, d);
    -inf where the model calls an observation impossible, and then l is -inf.

    Book: estimation-likelihood. Fisher (1922), Phil. Trans. A 222, 309-368.

    Examples
    --------
    >>> round(log_likelihood(lambda x, r: np.log(r) - r * x, np.array([1.0, 2.0]), 0.5), 4)
    -2.8863
    """
    n = _size(x)
    values = np.asarray(log_density(x, *theta), dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(
            f"log_density must return one number for each of the {n} observations, "
            f"got shape {values.shape}."
        )
    if np.isnan(values).any() or (values == np.inf).any():
        raise ValueError(
            f"log_density must be a number below +infinity everywhere: check it at theta = "
            f"{', '.join(map(str, theta))}."
        )
    return float(values.sum())


def bernoulli_log_likelihood(x, p):
    """Return s log p + (n - s) log(1 - p), where s is the number of ones among the n values of x.

    Examples
    --------
    >>> round(bernoulli_log_likelihood([1, 0, 1], 0.5), 4)
    -2.0794
    """
    x = _check_binary(x)
    p = check_probability(p, "p")
    return float(xlogy(x.sum(), p) + xlogy(len(x) - x.sum(), 1 - p))


def categorical_log_likelihood(counts, p):
    """Return sum_k N_k log p_k; -inf if a category that occurred has probability 0.

    Examples
    --------
    >>> categorical_log_likelihood([1, 1], [1.0, 0.0])
    -inf
    """
    counts = _counts(counts)
    p = check_distribution(check_vector(p, "p", length=len(counts)), "p")
    return float(xlogy(counts, p).sum())


def gaussian_log_likelihood(x, mean, variance):
    """Return -(n/2) log(2 pi variance) - sum_i (x_i - mean)^2 / (2 variance), in nats.

    Examples
    --------
    >>> round(gaussian_log_likelihood([-1.0, 1.0], 0.0, 1.0), 4)
    -2.8379
    """
    x, v = _sample(x), check_positive(variance, "variance")
    mean = check_finite(mean, "mean")
    return float(-0.5 * len(x) * np.log(2 * np.pi * v) - np.sum((x - mean) ** 2) / (2 * v))


def multivariate_gaussian_log_likelihood(X, mean, covariance):
    """Return -(n/2) log|2 pi Sigma| - (1/2) sum_i (x_i - mu)^T Sigma^{-1} (x_i - mu), in nats."""
    return float(_gaussian_log_densities(X, mean, covariance).sum())


def _gaussian_log_densities(X, mean, covariance):
    X = check_array(X)
    mean = check_vector(mean, "mean", length=X.shape[1])
    covariance = check_square(covariance, "covariance", size=X.shape[1], symmetric=True)
    try:
        L = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "covariance must be positive definite: with a singular one there is no density."
        ) from error
    return log_density_from_cholesky(X, mean, L)


# Maximum likelihood --------------------------------------------------------------------------


def gaussian_mle(x):
    """Maximise the Gaussian likelihood: the mean, and the mean square deviation (divided by n).

    Equal values are refused: the likelihood then grows without bound as sigma^2 -> 0.

    Book: estimation-gaussian-mle.

    Examples
    --------
    >>> gaussian_mle([1.0, 2.0, 6.0])
    Gaussian(mean=3.0, variance=4.666666666666667)
    """
    x = check_size(_sample(x), "x")
    if np.ptp(x) == 0:
        raise ValueError(
            "x must hold at least two different values: otherwise the likelihood has no maximum."
        )
    mean = x.mean()
    return Gaussian(float(mean), float(np.mean((x - mean) ** 2)))


def sample_variance(x):
    """Return sum_i (x_i - mean)^2 / (n - 1), the variance with Bessel's correction.

    Unbiased for every law with a finite variance. Needs n >= 2; equal values give 0.

    Examples
    --------
    >>> sample_variance([1.0, 2.0, 6.0])
    7.0
    """
    x = check_size(_sample(x, at_least=2), "x")
    if np.ptp(x) == 0:  # the mean of equal numbers need not be that number once rounded
        return 0.0
    return float(np.sum((x - x.mean()) ** 2) / (len(x) - 1))


def multivariate_gaussian_mle(X):
    """Maximise the Gaussian likelihood in d dimensions: mean vector and covariance (over n).

    X needs n > d rows whose centred columns are linearly independent: with a singular covariance
    the likelihood has no maximum.

    Book: estimation-mvn-mle.

    Examples
    --------
    >>> multivariate_gaussian_mle([[0.0, 0.0], [2.0, 0.0], [1.0, 3.0]]).covariance.round(4)
    array([[0.6667, 0.    ],
           [0.    , 2.    ]])
    """
    X = check_array(X)
    n, d = X.shape
    mean = X.mean(axis=0)
    C = X - mean
    C[:, np.ptp(X, axis=0) == 0] = 0
    rank = np.linalg.matrix_rank(C / column_scale(C))
    if rank < d:
        raise ValueError(
            f"X must have linearly independent columns after centring, so at least {d + 1} rows: "
            f"its {n} rows span {rank} of {d} dimensions and the likelihood has no maximum."
        )
    return MultivariateGaussian(mean, C.T @ C / n)


def _check_binary(x):
    x = _sample(x)
    if not np.isin(x, (0.0, 1.0)).all():
        raise ValueError("x must hold only 0 and 1: encode failure as 0 and success as 1.")
    return x


def bernoulli_mle(x):
    """Return the share of ones, which maximises p^s (1 - p)^(n - s).

    Examples
    --------
    >>> bernoulli_mle([1, 0, 1, 1])
    0.75
    """
    return float(_check_binary(x).mean())


def category_counts(labels, K):
    """Return N_k, how often each category 0, ..., K - 1 occurs among the labels.

    Examples
    --------
    >>> category_counts([0, 2, 2], 4)
    array([1, 0, 2, 0])
    """
    check_count(K, "K")
    labels = _sample(labels, "labels")
    if (labels != np.floor(labels)).any() or labels.min() < 0 or labels.max() >= K:
        raise ValueError(f"labels must be whole numbers from 0 to K - 1 = {K - 1}.")
    return np.bincount(labels.astype(int), minlength=K)


def categorical_mle(counts):
    """Return the frequencies N_k / n, which maximise sum_k N_k log p_k over probability vectors.

    Examples
    --------
    >>> categorical_mle([1, 0, 3])
    array([0.25, 0.  , 0.75])
    """
    return categorical_map(counts, 0.0)


def categorical_map(counts, pseudocounts=1.0):
    """Return (N_k + c_k) / (n + sum_j c_j), the MAP estimate under the prior Dir(c + 1).

    The pseudocounts c_k >= 0, a number or one for each category, are imagined further occurrences:
    1 is Laplace smoothing, 0 maximum likelihood.

    Book: estimation-pseudocounts, estimation-pseudocounts-are-dirichlet-map.

    Examples
    --------
    >>> categorical_map([2, 0, 1, 0])
    array([0.42857143, 0.14285714, 0.28571429, 0.14285714])
    """
    counts = _counts(counts)
    if np.ndim(pseudocounts) == 0:
        pseudocounts = np.full(len(counts), check_scalar(pseudocounts, "pseudocounts", low=0))
    total = counts + _counts(pseudocounts, "pseudocounts", length=len(counts))
    if total.sum() == 0:
        raise ValueError(
            "counts must not be all 0 without pseudocounts: there is nothing to share."
        )
    return total / total.sum()


def mle(log_density, x, start, *, bounds=None):
    """Maximise l(theta) = sum_i log p(x_i; theta) numerically, for models without a closed form.

    The search is a quasi-Newton method with numerical derivatives and ends at a local maximum.

    Parameters
    ----------
    log_density, x : as for ``log_likelihood``
    start : sequence of q floats
        Where the search begins; the sample must be possible there. Each entry also says of what
        size its parameter is; 0 stands for size 1.
    bounds : sequence of (low, high), optional; one pair each, None where there is no bound

    Examples
    --------
    >>> waiting = np.array([1.0, 2.0])
    >>> fit = mle(lambda x, r: np.log(r) - r * x, waiting, [1.0], bounds=[(1e-9, None)])
    >>> fit.theta.round(4), fit.converged
    (array([0.6667]), True)
    """
    return map_estimate(log_density, x, lambda *theta: 0.0, start, bounds=bounds)


def map_estimate(log_density, x, log_prior, start, *, bounds=None):
    """Maximise log p(x; theta) + log p(theta) numerically: the maximum a posteriori estimate.

    Parameters
    ----------
    log_density, x, start, bounds : as for ``mle``
    log_prior : callable; ``log_prior(*theta)``, up to a constant
    """
    start = _sample(start, "start")
    n, unit = _size(x), np.where(start == 0, 1.0, np.abs(start))

    def loss(u):
        theta = unit * u
        value = log_likelihood(log_density, x, *theta) + float(log_prior(*theta))
        return -value / n if value > -np.inf else 1e100

    if not abs(loss(start / unit)) < 1e100:
        raise ValueError("start must make the sample possible: its log-likelihood is -infinity.")
    if bounds is not None:
        bounds = [
            [end if end is None else end / s for end in pair] for pair, s in zip(bounds, unit)
        ]
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000}
    found = minimize(
        loss, start / unit, jac="3-point", bounds=bounds, method="L-BFGS-B", options=options
    )
    if not found.success:
        gap = max_abs(found.jac)
        convergence_warning(f"The search stopped at a slope of {gap:.2g}, the tolerance is 1e-09.")
    theta, value = unit * found.x, -n * float(found.fun)
    return PointEstimate(theta, value, bool(found.success), int(found.nit))


# Properties of estimators --------------------------------------------------------------------


def exact_bias_variance(estimator, values, probabilities, n, target):
    """Return the moments of an estimator exactly, by listing all samples of a finite law.

    A sample (x_1, ..., x_n) has the probability P(x_1) ... P(x_n). Nothing is converted: with
    ``fractions.Fraction`` for values, probabilities and target, the moments are fractions too.

    Parameters
    ----------
    estimator : callable; takes a list of n values, returns a number
    values, probabilities : sequences of equal length K; the law of one observation
    n : int; sample size; K^n samples are listed, at most a million
    target : number; the parameter that is estimated

    Examples
    --------
    >>> exact_bias_variance(max, [0, 1], [0.5, 0.5], 2, 1)
    EstimatorMoments(mean=0.75, bias=-0.25, variance=0.1875, mse=0.25, standard_error=0)
    """
    check_count(n, "n")
    if not np.iterable(values) or np.shape(probabilities) != (len(values),):
        raise ValueError("values and probabilities must be sequences of one length.")
    check_distribution(np.array(probabilities, dtype=float), "probabilities")
    check_finite(target, "target")
    law = list(zip(values, probabilities))
    if len(law) ** n > 10**6:
        raise ValueError(f"n must be smaller: {len(law)}^{n} samples are too many to list.")
    weights, estimates = [], []
    for sample in itertools.product(law, repeat=n):
        weights.append(math.prod(p for _, p in sample))
        estimates.append(estimator([v for v, _ in sample]))
    _check_estimates(estimates)
    mean = sum(w * t for w, t in zip(weights, estimates))
    variance = sum(w * (t - mean) ** 2 for w, t in zip(weights, estimates))
    mse = sum(w * (t - target) ** 2 for w, t in zip(weights, estimates))
    return EstimatorMoments(mean, mean - target, variance, mse, 0)


def _check_estimates(estimates):
    if not np.isfinite(np.array(estimates, dtype=float)).all():
        raise ValueError("estimator must return finite numbers: some of its estimates are not.")


def _repeat(estimator, draw, n, block):
    rng, size = block
    return [float(estimator(draw(rng, n))) for _ in range(size)]


def mc_bias_variance(estimator, draw, target, *, n, repetitions, rng, workers=1):
    """Return the moments of an estimator by simulation, with the standard error of mean and bias.

    Parameters
    ----------
    estimator : callable; takes a sample, returns a number
    draw : callable; ``draw(rng, n)`` returns a sample of size n
    target : float; the parameter that is estimated
    n, repetitions : int; sample size, and number of samples, at least 2
    rng, workers : see ``mllib.core``

    Examples
    --------
    >>> draw = lambda rng, n: rng.standard_normal(n)
    >>> rng = np.random.default_rng(0)
    >>> moments = mc_bias_variance(np.mean, draw, 0.0, n=4, repetitions=1000, rng=rng)
    >>> abs(moments.variance - 0.25) < 0.05
    True
    """
    check_count(n, "n")
    check_count(repetitions, "repetitions", 2)
    check_rng(rng)
    check_finite(target, "target")
    sizes = np.diff(np.linspace(0, repetitions, min(16, repetitions) + 1).astype(int))
    blocks = [(child, int(size)) for child, size in zip(rng.spawn(len(sizes)), sizes)]
    parts = map_over(partial(_repeat, estimator, draw, n), blocks, workers)
    T = np.array([t for part in parts for t in part])
    _check_estimates(T)
    mean, variance = float(T.mean()), float(T.var())
    mse = float(np.mean((T - target) ** 2))
    return EstimatorMoments(mean, mean - target, variance, mse, math.sqrt(variance / repetitions))


def fisher_information(log_density, theta, *, support=None, interval=None):
    """Return I(theta) = E[(d/dtheta log p(x; theta))^2], the information in one observation.

    The slope is a central difference; the expectation a sum over ``support`` or an integral over
    ``interval``. It is refused where the probabilities do not add up to 1, the score does not have
    mean 0, or some x is possible at theta and impossible a little beside it: then the support moves
    with theta and there is no Cramer-Rao bound. (This is looked for just inside the interval and
    where the integral is evaluated; a log-density that is not -inf outside the support hides it.)

    Book: estimation-cramer-rao. Rao (1945), Bull. Calcutta Math. Soc. 37, 81-91.

    Parameters
    ----------
    log_density : callable; ``log_density(x, theta)`` with one real parameter; -inf for density 0
    theta : float
    support : array of shape (K,), optional; all values of a discrete variable
    interval : pair of floats, optional
        Where the density at theta lives, no more; ends may be infinite.

    Examples
    --------
    >>> coin = lambda x, p: np.where(x == 1, np.log(p), np.log(1 - p))
    >>> round(fisher_information(coin, 0.5, support=[0, 1]), 6)
    4.0
    """
    theta = float(check_finite(theta, "theta"))
    if (support is None) == (interval is None):
        raise ValueError("give either support, for a discrete variable, or interval.")
    h = 1e-5 * (abs(theta) or 1.0)

    def moment(x, power, cell=h):
        p = np.exp(log_density(x, theta))
        with np.errstate(invalid="ignore"):
            score = (log_density(x, theta + h) - log_density(x, theta - h)) / (2 * h)
        lost = ~np.isfinite(score)
        if np.any(lost & (p * cell > 1e-12)):
            raise ValueError(
                f"log_density must be finite at {theta - h:.9g} and {theta + h:.9g} wherever it is "
                f"at theta: where the support moves with theta there is no Cramer-Rao bound."
            )
        return p * np.where(lost, 0.0, score) ** power

    if support is not None:
        support = _sample(support, "support")
        mass, mean, information = (float(np.sum(moment(support, k, 1))) for k in range(3))
    else:
        low, high = check_vector(interval, "interval", length=2, finite=False)
        if low > -np.inf:  # a density that jumps only at the other end has no score of mean 0
            moment(float(low + h / 1000), 0)
        mass, mean, information = (
            quad(moment, low, high, args=(k,), limit=200)[0] for k in range(3)
        )
    if not abs(mass - 1) < 1e-6:
        raise ValueError(
            f"log_density must add up to probability 1 there, it adds up to {mass:.6g}."
        )
    if abs(mean) > 1e-4 * math.sqrt(information):
        raise ValueError(
            f"The score must have mean 0, it has {mean:.3g}: where the support moves with theta "
            f"there is no Cramer-Rao bound."
        )
    return information


def cramer_rao_bound(information, n=1, *, slope=1.0):
    """Return slope^2 / (n I), below which no variance lies; I is that of one observation.

    ``slope`` is d E[T] / d theta: 1 for an unbiased estimator of theta.

    Examples
    --------
    >>> cramer_rao_bound(4.0, 25)
    0.01
    """
    check_positive(information, "information")
    check_count(n, "n")
    return check_finite(slope, "slope") ** 2 / (n * information)


# Posteriors ----------------------------------------------------------------------------------


def gaussian_mean_posterior(x, noise_variance, prior_mean, prior_variance):
    """Return the posterior of mu for x_i ~ N(mu, sigma^2), sigma^2 known, mu ~ N(mu_0, sigma_0^2).

    mu_n = (sigma_0^2 sum_i x_i + sigma^2 mu_0) / (sigma^2 + n sigma_0^2),
    sigma_n^2 = sigma^2 sigma_0^2 / (sigma^2 + n sigma_0^2).

    Book: estimation-gaussian-mean-map.

    Parameters
    ----------
    x : array of shape (n,); observations; an empty array returns the prior
    noise_variance : float; sigma^2 > 0, the variance of one observation
    prior_mean, prior_variance : float; mu_0 and sigma_0^2 > 0

    Examples
    --------
    >>> gaussian_mean_posterior([3.0, 5.0], 2.0, 0.0, 1.0)
    GaussianMean(mean=2.0, variance=0.5, noise_variance=2.0)
    """
    x = check_vector(x, "x")
    noise = check_positive(noise_variance, "noise_variance")
    prior = check_positive(prior_variance, "prior_variance")
    mu_0, n = check_finite(prior_mean, "prior_mean"), len(x)
    mean = (prior * x.sum() + noise * mu_0) / (noise + n * prior)  # (eq-estimation-posterior-mean)
    variance = noise * prior / (noise + n * prior)  # (eq-estimation-posterior-variance)
    return GaussianMean(float(mean), float(variance), float(noise))


def dirichlet_posterior(alpha, counts):
    """Return the posterior Dir(alpha + N) of category probabilities with prior Dir(alpha), K >= 2.

    Book: estimation-dirichlet-categorical-posterior.

    Examples
    --------
    >>> dirichlet_posterior([1.0, 1.0], [3, 0]).mean
    array([0.8, 0.2])
    """
    alpha = check_vector(alpha, "alpha")
    if len(alpha) < 2 or (alpha <= 0).any():
        raise ValueError("alpha must hold at least 2 entries, all above 0.")
    return Dirichlet(alpha + _counts(counts, length=len(alpha)))
