"""Concentration inequalities: how far a mean strays from its expectation; exact binomial tails.

Chapter: Learning theory, *Concentration*. Main references: Hoeffding (1963), Chernoff (1952),
Boucheron, Lugosi and Massart (2013).
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betainccinv, betaincinv, ndtr, ndtri

from mllib.core.arrays import check_size, check_vector
from mllib.core.scalars import (
    check_count,
    check_finite,
    check_flag,
    check_positive,
    check_probability,
    check_scalar,
)
from mllib.probability import kl_divergence

__all__ = [
    "ChernoffBound",
    "Interval",
    "bernoulli_rate",
    "bernstein_bound",
    "binomial_mean_tail",
    "binomial_tail",
    "central_limit_sample_size",
    "central_limit_tail",
    "chebyshev_bound",
    "chebyshev_sample_size",
    "chernoff_bound",
    "chernoff_sample_size",
    "clopper_pearson",
    "gaussian_rate",
    "hoeffding_bound",
    "hoeffding_interval",
    "hoeffding_log_mgf",
    "hoeffding_radius",
    "hoeffding_sample_size",
    "is_subgaussian",
    "markov_bound",
    "rademacher_rate",
    "subgaussian_bound",
    "subgaussian_sample_size",
]


# Records -------------------------------------------------------------------------------------


class ChernoffBound(NamedTuple):
    """The best exponential bound on a tail, and where it comes from."""

    bound: float  #: exp(-n rate), an upper bound on P(X_1 + ... + X_n >= n t)
    rate: float  #: psi*(t) = sup over lambda >= 0 of lambda t - psi(lambda)
    tilt: float  #: a lambda that attains the rate to rounding; inf if the rate is infinite


class Interval(NamedTuple):
    """A confidence interval for a mean."""

    low: float  #: lower end
    high: float  #: upper end


# Checks --------------------------------------------------------------------------------------


def _round_up(n, small="epsilon"):
    """Return the smallest integer >= 1 that is not below n, up to rounding errors in n."""
    if not n < 1e15:
        raise ValueError(f"{small} is too small: the sample size would exceed 1e15.")
    return max(1, math.ceil(n * (1 - 1e-12)))


def _sides(two_sided):
    return 1 + check_flag(two_sided, "two_sided")


def _log_mgf(log_mgf):
    """Return a log-moment generating function as it is, or say what is wrong with it."""
    if not callable(log_mgf) or not abs(log_mgf(0.0)) <= 1e-12:
        raise ValueError("log_mgf must be a function psi with psi(0) = 0, psi(v) = log E exp(v X).")
    return log_mgf


def _root_mean_square_range(low, high, n=1):
    """Return sqrt((1/n) sum_i (b_i - a_i)^2) for a common range, or one range for each variable."""
    ends = []
    for end, name in ((low, "low"), (high, "high")):
        if np.ndim(end) > 1 or (np.ndim(end) == 1 and len(end) != n):
            raise ValueError(
                f"{name} must be a number, or a vector with n = {n} entries, one per variable, got "
                f"shape {np.shape(end)}."
            )
        ends.append(check_size(check_vector(np.atleast_1d(end), name), name))
    ranges = ends[1] - ends[0]
    if not np.all(ranges > 0):
        raise ValueError("low must be below high for every variable: swap them.")
    return math.hypot(*ranges) / math.sqrt(len(ranges))


# First moments -------------------------------------------------------------------------------


def markov_bound(mean, t):
    """Return E[Z] / t, an upper bound on P(Z >= t) for Z >= 0; above 1 it says nothing.

    Book: probability-markov, concentration-markov.

    Examples
    --------
    >>> markov_bound(1.0, 4.0)
    0.25
    """
    return float(check_scalar(mean, "mean", low=0) / check_positive(t, "t"))


def chebyshev_bound(variance, t, n=1):
    """Return Var[X] / (n t^2), an upper bound on P(|Y_n - E Y_n| >= t) for a mean of n variables.

    They are uncorrelated and have the given variance each.

    Book: probability-chebyshev, concentration-chebyshev.

    Examples
    --------
    >>> chebyshev_bound(0.25, 0.5, n=4)
    0.25
    """
    check_scalar(variance, "variance", low=0)
    return float(variance / check_positive(t, "t") / t / check_count(n, "n"))


def chebyshev_sample_size(variance, epsilon, delta):
    """Return the smallest n with Var[X] / (n epsilon^2) <= delta, for delta in (0, 1).

    Examples
    --------
    >>> chebyshev_sample_size(0.25, 0.1, 0.05)
    500
    """
    check_scalar(variance, "variance", low=0)
    check_positive(epsilon, "epsilon")
    return _round_up(variance / epsilon / epsilon / check_probability(delta, "delta", inside=True))


# Exponential moments -------------------------------------------------------------------------


def chernoff_bound(log_mgf, t, n=1):
    """Return exp(-n psi*(t)), an upper bound on P(X_1 + ... + X_n >= n t), independent.

    psi*(t) = sup over lambda >= 0 of lambda t - psi(lambda), psi(lambda) = log E exp(lambda X), the
    function ``log_mgf``: convex, psi(0) = 0, inf where the moment does not exist. What is maximised
    is concave and 0 at lambda = 0: the maximum is bracketed by doubling, then by golden sections.

    Book: concentration-chernoff. Chernoff (1952), Annals of Mathematical Statistics 23, 493-507.

    Examples
    --------
    >>> round(chernoff_bound(lambda v: v**2 / 2, 1.0).rate, 6)  # the standard Gaussian
    0.5
    """
    log_mgf, t = _log_mgf(log_mgf), check_finite(t, "t")
    check_count(n, "n")

    def gain(v):
        value = v * t - log_mgf(v)
        if value != value:
            raise ValueError(f"log_mgf must not return NaN, it does at {v:g}: return inf instead.")
        return value

    tilt, rate = _maximise_concave(gain, start=1.0 if t == 0 else 1 / abs(t))
    return ChernoffBound(math.exp(-n * rate), rate, tilt)


def _maximise_concave(gain, start):
    """Maximise a concave function with gain(0) = 0 over v >= 0; ``start`` has the unit of v."""
    v = start
    while gain(v / 2) >= gain(v) and v > 1e-290:  # the maximum is to the left of v
        v /= 2
    while gain(2 * v) - gain(v) > 1e-14 * abs(gain(v)) and v < 1e290:  # to the right of v
        v *= 2
    if v >= 1e290:
        return math.inf, math.inf
    low, high = math.log(v / 2), math.log(2 * v)
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if gain(math.exp(left)) >= gain(math.exp(right)):
            high = right
        else:
            low = left
    v = math.exp(0.5 * (low + high))
    return (v, float(gain(v))) if gain(v) > 0 else (0.0, 0.0)


def chernoff_sample_size(rate, delta, *, two_sided=False):
    """Return the smallest n with exp(-n rate) <= delta, or 2 exp(-n rate) <= delta for two sides.

    The rate is psi*(t) > 0, for two sides the smaller of the two.

    Examples
    --------
    >>> chernoff_sample_size(bernoulli_rate(0.15, 0.1), 0.001, two_sided=False)
    565
    """
    return _round_up(
        math.log(_sides(two_sided) / check_probability(delta, "delta", inside=True))
        / check_positive(rate, "rate"),
        "rate",
    )


def bernoulli_rate(q, p):
    """Return psi*(q) = q log(q/p) + (1-q) log((1-q)/(1-p)) for a Bernoulli(p) variable, q >= p.

    It is the Kullback-Leibler divergence from Bernoulli(p) to Bernoulli(q), in nats; 0 for q <= p
    and infinite where q is impossible.

    Examples
    --------
    >>> bernoulli_rate(1.0, 0.5) == math.log(2)
    True
    """
    q, p = float(check_probability(q, "q")), float(check_probability(p, "p"))
    return kl_divergence([q, 1 - q], [p, 1 - p]) if q > p else 0.0  # (eq-concentration-kl)


def gaussian_rate(t, sigma):
    """Return psi*(t) = t^2 / (2 sigma^2) for a N(0, sigma^2) variable, and 0 for t <= 0."""
    z = max(0.0, check_finite(t, "t")) / check_positive(sigma, "sigma")
    return z * z / 2


def rademacher_rate(t):
    """Return psi*(t) = ((1+t) log(1+t) + (1-t) log(1-t)) / 2 for X = -1 or +1 with probability 1/2.

    0 for t <= 0 and infinite for t > 1.
    """
    t = check_finite(t, "t")
    if t <= 0 or t > 1:
        return 0.0 if t <= 0 else math.inf
    if t < 1e-4:  # the two terms would cancel
        return t * t / 2 + t**4 / 12
    return bernoulli_rate((1 + t) / 2, 0.5)


def subgaussian_bound(n, epsilon, sigma, *, two_sided=True):
    """Return exp(-n epsilon^2 / (2 sigma^2)), doubled for two sides.

    It bounds P(|Y_n| >= epsilon) for the mean Y_n of n independent variables of mean 0 with
    log E exp(lambda X) <= lambda^2 sigma^2 / 2 for all lambda.

    Book: concentration-subgaussian.

    Parameters
    ----------
    n : int
    epsilon, sigma : float; deviation and sub-Gaussian constant, above 0
    two_sided : bool; whether both directions count
    """
    check_count(n, "n")
    return _sides(two_sided) * math.exp(
        -n * gaussian_rate(check_positive(epsilon, "epsilon"), sigma)
    )


def subgaussian_sample_size(epsilon, delta, sigma, *, two_sided=True):
    """Return the smallest n whose sub-Gaussian bound is at most delta.

    Parameters
    ----------
    epsilon, delta, sigma : float; deviation, probability of a larger one, sub-Gaussian constant
    two_sided : bool

    Examples
    --------
    >>> subgaussian_sample_size(0.1, 0.05, sigma=0.5)
    185
    """
    ratio = check_positive(sigma, "sigma") / check_positive(epsilon, "epsilon")
    return _round_up(
        2
        * ratio
        * ratio
        * math.log(_sides(two_sided) / check_probability(delta, "delta", inside=True))
    )


def is_subgaussian(log_mgf, sigma, grid):
    """Return whether psi(lambda) <= lambda^2 sigma^2 / 2 at every lambda of the grid.

    False refutes that X, of mean 0, is sigma-sub-Gaussian; True says only that these lambda do not.

    Book: concentration-subgaussian.

    Examples
    --------
    >>> rademacher = lambda v: np.logaddexp(v, -v) - np.log(2)
    >>> grid = np.linspace(-9, 9, 181)
    >>> is_subgaussian(rademacher, 1.0, grid), is_subgaussian(rademacher, 0.9, grid)
    (True, False)
    """
    log_mgf, grid = _log_mgf(log_mgf), check_vector(grid, "grid")
    psi = np.array([float(log_mgf(v)) for v in grid])
    if grid.size == 0 or np.isnan(psi).any():
        raise ValueError("grid must have an entry, and log_mgf must not return NaN on it.")
    bound = (grid * check_positive(sigma, "sigma")) ** 2 / 2
    return bool(np.all(psi <= bound + 1e-13 * np.maximum(1.0, np.abs(grid))))


# Bounded variables ---------------------------------------------------------------------------


def hoeffding_log_mgf(v, low, high):
    """Return v^2 (b - a)^2 / 8, which bounds log E exp(v (X - E X)) for X in [a, b] = [low, high].

    Book: concentration-hoeffding-lemma.
    """
    z = check_finite(v, "v") * _root_mean_square_range(low, high)
    return z * z / 8


def hoeffding_bound(n, epsilon, low=0.0, high=1.0, *, two_sided=True):
    """Return exp(-2 n epsilon^2 / ((1/n) sum_i (b_i - a_i)^2)), doubled for two sides.

    It bounds P(|Y_n - E Y_n| >= epsilon) for the mean Y_n of n independent X_i in [a_i, b_i];
    above 1 it says nothing.

    With the differences c_i as ranges, at epsilon = t / n, it is McDiarmid's bound.

    Book: concentration-hoeffding, concentration-mcdiarmid. Hoeffding (1963), theorem 2.

    Parameters
    ----------
    n : int; how many variables are averaged
    epsilon : float; deviation, above 0, in the unit of X
    low, high : float or array of shape (n,); ranges a_i and b_i
    two_sided : bool; whether both directions count

    Examples
    --------
    >>> round(hoeffding_bound(100, 0.1), 4)
    0.2707
    """
    check_count(n, "n")
    check_positive(epsilon, "epsilon")
    z = epsilon / _root_mean_square_range(low, high, n)
    return _sides(two_sided) * math.exp(-2 * n * z * z)  # (eq-concentration-hoeffding)


def hoeffding_radius(n, delta, low=0.0, high=1.0, *, two_sided=True):
    """Return the epsilon at which the Hoeffding bound for n variables equals delta.

    Parameters
    ----------
    n, low, high, two_sided : as for ``hoeffding_bound``
    delta : float; probability of a larger deviation, in (0, 1)

    Examples
    --------
    >>> round(hoeffding_radius(100, 0.05), 4)
    0.1358
    """
    check_count(n, "n")
    log_ratio = math.log(_sides(two_sided) / check_probability(delta, "delta", inside=True))
    return _root_mean_square_range(low, high, n) * math.sqrt(log_ratio / (2 * n))


def hoeffding_sample_size(epsilon, delta, low=0.0, high=1.0, *, two_sided=True):
    """Return the smallest n whose Hoeffding bound is at most delta, for a common range.

    Parameters
    ----------
    epsilon, delta : float; deviation, and probability of a larger one
    low, high : float
    two_sided : bool

    Examples
    --------
    >>> hoeffding_sample_size(0.1, 0.05)
    185
    """
    ratio = _root_mean_square_range(low, high) / check_positive(epsilon, "epsilon")
    return _round_up(
        ratio
        * ratio
        * math.log(_sides(two_sided) / check_probability(delta, "delta", inside=True))
        / 2
    )


def hoeffding_interval(mean, n, delta, low=0.0, high=1.0):
    """Return mean -+ radius, clipped to [low, high]; it misses with probability at most delta.

    Parameters
    ----------
    mean : float; observed mean of n independent variables in [low, high]
    n, delta, low, high : as for ``hoeffding_radius``, with a common range
    """
    low, high = check_finite(low, "low"), check_finite(high, "high")
    radius = hoeffding_radius(n, delta, low, high)
    check_scalar(mean, "mean", low=low, high=high)
    return Interval(max(low, mean - radius), min(high, mean + radius))


def bernstein_bound(n, epsilon, variance, largest, *, two_sided=True):
    """Return exp(-n epsilon^2 / (2 sigma^2 + 2 M epsilon / 3)), doubled for two sides.

    It bounds P(|Y_n - E Y_n| >= epsilon) for the mean Y_n of n independent X_i whose variances have
    the mean sigma^2, with |X_i - E X_i| <= M; one side needs X_i - E X_i <= M only.

    Book: concentration-bernstein. Boucheron, Lugosi and Massart (2013), section 2.8.

    Parameters
    ----------
    n : int; how many variables are averaged
    epsilon : float; deviation, above 0, in the unit of X
    variance, largest : float; sigma^2, and M above 0
    two_sided : bool; whether both directions count

    Examples
    --------
    >>> round(bernstein_bound(500, 0.02, variance=0.0099, largest=0.99, two_sided=False), 4)
    0.0023
    """
    check_count(n, "n")
    check_positive(epsilon, "epsilon")
    check_scalar(variance, "variance", low=0)
    check_positive(largest, "largest")
    spread = 2 * variance / epsilon + 2 * largest / 3
    return _sides(two_sided) * math.exp(-n * epsilon / spread)  # (eq-concentration-bernstein)


# Exact and approximate tails -----------------------------------------------------------------


def binomial_tail(k, n, p):
    """Return P(S >= k) for S the number of successes in n independent trials, exact to rounding.

    For 1 <= k <= n it is the incomplete beta integral I_p(k, n - k + 1). With a
    ``fractions.Fraction`` for p the sum is evaluated in fractions and a Fraction returned.

    Examples
    --------
    >>> binomial_tail(2, 3, Fraction(1, 2))
    Fraction(1, 2)
    """
    check_count(n, "n")
    check_scalar(k, "k", integer=True)
    check_probability(p, "p")
    if isinstance(p, Fraction):
        terms = (math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(max(0, k), n + 1))
        return sum(terms, Fraction(0))
    if k <= 0:
        return 1.0
    return 0.0 if k > n else float(betainc(k, n - k + 1, p))


def binomial_mean_tail(n, p, epsilon, *, two_sided=True):
    """Return P(|S/n - p| >= epsilon), or P(S/n - p >= epsilon) for one side, exact to rounding.

    The thresholds n (p + epsilon) and n (p - epsilon) are computed in fractions of the shortest
    decimals that denote p and epsilon, so that 0.1 means one tenth.

    Parameters
    ----------
    n : int
    p, epsilon : float or Fraction; success probability and deviation, above 0
    two_sided : bool

    Examples
    --------
    >>> binomial_mean_tail(10, 0.5, 0.5)
    0.001953125
    """
    check_count(n, "n")
    check_probability(p, "p")
    check_positive(epsilon, "epsilon")
    q, e = (v if isinstance(v, Fraction) else Fraction(repr(float(v))) for v in (p, epsilon))
    upper = binomial_tail(math.ceil(n * (q + e)), n, p)
    if _sides(two_sided) == 1:
        return upper
    return upper + binomial_tail(n - math.floor(n * (q - e)), n, 1 - p)


def central_limit_tail(n, epsilon, sigma, *, two_sided=True):
    """Return Phi(-sqrt(n) epsilon / sigma), doubled for two sides: an approximation, not a bound.

    Book: concentration-clt.

    Parameters
    ----------
    n : int
    epsilon, sigma : float; deviation of the mean, standard deviation of one variable
    two_sided : bool
    """
    check_count(n, "n")
    z = math.sqrt(n) * check_positive(epsilon, "epsilon") / check_positive(sigma, "sigma")
    return _sides(two_sided) * float(ndtr(-z))


def central_limit_sample_size(epsilon, delta, sigma, *, two_sided=True):
    """Return the smallest n whose normal approximation of the tail is at most delta: no guarantee.

    Parameters
    ----------
    epsilon, delta, sigma, two_sided : as for ``central_limit_tail`` and ``subgaussian_sample_size``

    Examples
    --------
    >>> central_limit_sample_size(0.05, 0.05, sigma=0.5)
    385
    """
    z = max(0.0, -float(ndtri(check_probability(delta, "delta", inside=True) / _sides(two_sided))))
    root = z * check_positive(sigma, "sigma") / check_positive(epsilon, "epsilon")
    return _round_up(root * root)


def clopper_pearson(k, n, delta):
    """Return the exact interval for a success probability after k successes in n trials.

    Its ends are the p at which P(S >= k) and P(S <= k) fall to delta / 2, for delta in [1e-100, 1),
    the largest probability of missing p. Clopper and Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> [round(v, 4) for v in clopper_pearson(0, 10, 0.05)]
    [0.0, 0.3085]
    """
    check_count(n, "n")
    check_scalar(k, "k", low=0, high=n, integer=True)
    half = float(check_scalar(delta, "delta", low=1e-100, high=1, open_high=True)) / 2
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, half))
    high = 1.0 if k == n else float(betainccinv(k + 1, n - k, half))
    return Interval(low, high)
