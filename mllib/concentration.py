"""Concentration: how far a sample mean strays from its expectation, exactly and by bounds.

Chapter: Learning theory, *Concentration*. Main references: Chernoff (1952), Hoeffding (1963).
"""

import math
from fractions import Fraction
from numbers import Rational
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betainc, betaincinv, ndtr, ndtri

from mllib.base import check_distribution, check_scalar, check_vector
from mllib.numerics import log_sum_exp, safe_log

__all__ = [
    "ChernoffBound",
    "Interval",
    "TwoSidedBound",
    "bernoulli_chernoff",
    "bernoulli_log_mgf",
    "binomial_deviation",
    "binomial_tail",
    "chebyshev_bound",
    "chebyshev_sample_size",
    "chernoff_bound",
    "chernoff_sample_size",
    "clopper_pearson",
    "clt_sample_size",
    "clt_tail",
    "discrete_log_mgf",
    "gaussian_chernoff",
    "gaussian_log_mgf",
    "hoeffding_bound",
    "hoeffding_epsilon",
    "hoeffding_interval",
    "hoeffding_mgf_bound",
    "hoeffding_sample_size",
    "is_subgaussian",
    "large_deviations_bound",
    "legendre_transform",
    "markov_bound",
    "markov_function_bound",
    "rademacher_chernoff",
    "rademacher_log_mgf",
    "subgaussian_bound",
    "subgaussian_sample_size",
    "union_bound",
]


# Records -------------------------------------------------------------------------------------


class ChernoffBound(NamedTuple):
    """A bound P(Y_n >= t) <= exp(-n rate) on the upper tail of a mean of n i.i.d. variables."""

    bound: float  #: exp(-n rate), between 0 and 1
    rate: float  #: psi*(t), the largest lambda t - psi(lambda) over lambda >= 0; may be inf
    tilt: float  #: the lambda that attains it; inf if it is only approached


class TwoSidedBound(NamedTuple):
    """A bound P(|Y_n - mu| >= epsilon) <= 2 exp(-n min(rates)) and the two tails it joins."""

    bound: float  #: between 0 and 1
    upper: ChernoffBound  #: for Y_n - mu >= epsilon
    lower: ChernoffBound  #: for mu - Y_n >= epsilon


class Interval(NamedTuple):
    """An interval that covers an unknown mean with a stated probability."""

    low: float  #: lower end
    high: float  #: upper end


# Checks --------------------------------------------------------------------------------------


def _positive(value, name):
    check_scalar(value, name, low=0, open_low=True)
    if value == math.inf:
        raise ValueError(f"{name} must be finite, got {value!r}.")
    return float(value)


def _finite(value, name):
    check_scalar(value, name)
    if math.isinf(value):
        raise ValueError(f"{name} must be finite, got {value!r}.")
    return float(value)


def _check_delta(delta):
    return float(check_scalar(delta, "delta", low=0, high=1, open_low=True, open_high=True))


def _check_n(n):
    return int(check_scalar(n, "n", low=1, integer=True))


def _check_p(p):
    return float(check_scalar(p, "p", low=0, high=1))


def _exp_bound(exponent, sides=1):
    """Return min(1, sides * exp(-exponent)) for an exponent that may be inf."""
    return min(1.0, sides * math.exp(-exponent))


def _squared_ranges(n, low, high):
    """Return the mean of (b_i - a_i)^2 over i = 1..n."""
    ends = []
    for value, name in ((low, "low"), (high, "high")):
        if np.ndim(value) == 0:
            ends.append(np.full(1, _finite(value, name)))
        else:
            ends.append(check_vector(value, name, length=n))
    widths = ends[1] - ends[0]
    if (widths < 0).any():
        raise ValueError("low must not exceed high: exchange the two ends of the range.")
    return float(np.mean(widths**2))


def _smallest_n(real, satisfies):
    """Return the smallest n >= 1 with satisfies(n), given its value before rounding up."""
    if not real < 1e15:
        raise ValueError("the sample size exceeds 1e15: epsilon is too small, choose a larger one.")
    n = max(1, math.ceil(real))
    while n > 1 and satisfies(n - 1):
        n -= 1
    while not satisfies(n):
        n += 1
    return n


# Hoeffding -----------------------------------------------------------------------------------


def hoeffding_bound(n, epsilon, low=0, high=1, two_sided=True):
    """Bound the chance that a mean of independent bounded variables strays by epsilon.

    P(|Y_n - E Y_n| >= epsilon) <= 2 exp(-2 n epsilon^2 / r^2), where r^2 is the mean of
    (b_i - a_i)^2 and X_i lies in [a_i, b_i]. One-sided, without the factor 2.

    Parameters
    ----------
    n : int
        Number of variables.
    epsilon : float
        Deviation of the mean, above 0, in the unit of the variables.
    low, high : float or array of shape (n,)
        The ranges a_i and b_i; one number each if they are equal.
    two_sided : bool

    Returns
    -------
    float
        Never above 1.

    Raises
    ------
    ValueError
        If n < 1, epsilon <= 0, or some low exceeds its high.

    References
    ----------
    Book: concentration-hoeffding. Hoeffding (1963), JASA 58, 13-30, theorems 1 and 2.

    Examples
    --------
    >>> round(hoeffding_bound(100, 0.1), 4)
    0.2707
    >>> round(hoeffding_bound(2, 1.0, low=[0, -1], high=[1, 1], two_sided=False), 4)
    0.2019
    """
    n, epsilon = _check_n(n), _positive(epsilon, "epsilon")
    r2 = _squared_ranges(n, low, high)
    return _exp_bound(2 * n * epsilon**2 / r2 if r2 > 0 else math.inf, 2 if two_sided else 1)


def hoeffding_sample_size(epsilon, delta, low=0, high=1, two_sided=True):
    """Return the smallest n whose Hoeffding bound is at most delta.

    n >= (high - low)^2 log(2/delta) / (2 epsilon^2), or log(1/delta) if one-sided.

    Parameters
    ----------
    epsilon : float
        Deviation of the mean, above 0.
    delta : float
        Allowed probability, strictly between 0 and 1.
    low, high : float
        The range of every variable.
    two_sided : bool

    Returns
    -------
    int

    Examples
    --------
    >>> hoeffding_sample_size(0.05, 0.05)
    738
    """
    epsilon, delta = _positive(epsilon, "epsilon"), _check_delta(delta)
    r2 = _squared_ranges(1, _finite(low, "low"), _finite(high, "high"))
    real = r2 * math.log((2 if two_sided else 1) / delta) / (2 * epsilon**2)
    return _smallest_n(real, lambda n: hoeffding_bound(n, epsilon, low, high, two_sided) <= delta)


def hoeffding_epsilon(n, delta, low=0, high=1, two_sided=True):
    """Return the deviation whose Hoeffding bound is delta: r sqrt(log(2/delta) / (2n)).

    Parameters are those of ``hoeffding_bound`` with delta, strictly between 0 and 1, in the
    place of epsilon; r^2 is the mean squared range.

    Examples
    --------
    >>> round(hoeffding_epsilon(738, 0.05), 5)
    0.04999
    """
    n, delta = _check_n(n), _check_delta(delta)
    r2 = _squared_ranges(n, low, high)
    return math.sqrt(r2 * math.log((2 if two_sided else 1) / delta) / (2 * n))


def hoeffding_interval(mean, n, delta, low=0, high=1):
    """Return the interval mean -+ hoeffding_epsilon(n, delta), cut to [low, high].

    It covers the expectation of n independent variables in [low, high] with probability at least
    1 - delta, whatever their laws, as long as they have one expectation.

    Examples
    --------
    >>> [round(v, 3) for v in hoeffding_interval(0.1, 200, 0.05)]
    [0.004, 0.196]
    """
    epsilon = hoeffding_epsilon(n, delta, _finite(low, "low"), _finite(high, "high"))
    mean = float(check_scalar(mean, "mean", low=low, high=high))
    return Interval(max(float(low), mean - epsilon), min(float(high), mean + epsilon))


def hoeffding_mgf_bound(lam, low=0, high=1):
    """Return exp(lambda^2 (b-a)^2 / 8), Hoeffding's bound on E exp(lambda (X - E X)).

    It holds for every X in [low, high] and every real lambda; inf where it overflows.

    References
    ----------
    Book: concentration-hoeffding-lemma. Hoeffding (1963), inequality (4.16).

    Examples
    --------
    >>> round(hoeffding_mgf_bound(2.0), 4)
    1.6487
    """
    exponent = _finite(lam, "lam") ** 2 * _squared_ranges(1, low, high) / 8
    return math.exp(exponent) if exponent < 709 else math.inf


# Markov and Chebyshev ------------------------------------------------------------------------


def markov_bound(mean, t):
    """Bound P(Z >= t) <= E[Z] / t for Z >= 0 and t > 0, never above 1.

    References
    ----------
    Book: concentration-markov.

    Examples
    --------
    >>> markov_bound(2.0, 10.0)
    0.2
    """
    mean = float(check_scalar(mean, "mean", low=0))
    return min(1.0, mean / _positive(t, "t"))


def markov_function_bound(mean_phi, phi_t):
    """Bound P(Z >= t) <= E[phi(Z)] / phi(t) for phi >= 0 non-decreasing with phi(t) > 0.

    Parameters
    ----------
    mean_phi : float
        E[phi(Z)], not negative.
    phi_t : float
        phi(t), above 0.

    Examples
    --------
    For the exponential law E[Z^4] = 24:

    >>> markov_function_bound(24.0, 10.0**4)
    0.0024
    """
    mean_phi = float(check_scalar(mean_phi, "mean_phi", low=0))
    return min(1.0, mean_phi / _positive(phi_t, "phi_t"))


def chebyshev_bound(variance, epsilon, n=1):
    """Bound P(|Y_n - mu| >= epsilon) <= variance / (n epsilon^2), never above 1.

    Y_n is the mean of n uncorrelated variables of one expectation mu and the given variance.

    References
    ----------
    Book: concentration-chebyshev.

    Examples
    --------
    >>> chebyshev_bound(0.25, 0.125, n=100)
    0.16
    """
    variance = float(check_scalar(variance, "variance", low=0))
    return min(1.0, variance / (_check_n(n) * _positive(epsilon, "epsilon") ** 2))


def chebyshev_sample_size(variance, epsilon, delta):
    """Return the smallest n whose Chebyshev bound is at most delta.

    Examples
    --------
    >>> chebyshev_sample_size(0.25, 0.05, 0.05)
    2000
    """
    variance, delta = _positive(variance, "variance"), _check_delta(delta)
    real = variance / (delta * _positive(epsilon, "epsilon") ** 2)
    slack = 1 + 1e-12  # a bound equal to delta up to rounding is not rounded up
    return _smallest_n(
        real / slack, lambda n: chebyshev_bound(variance, epsilon, n) <= delta * slack
    )


# Chernoff ------------------------------------------------------------------------------------


def _call_log_mgf(log_mgf, lam):
    value = float(log_mgf(lam))
    if math.isnan(value):
        raise ValueError(f"log_mgf({lam:g}) is NaN: return inf where the expectation is infinite.")
    return value


def _bracket(value):
    """Return lambda such that the concave ``value`` has its maximum in [lambda/2, 2 lambda].

    Returns 0 if the maximum is at 0 and inf if the value still rises at the largest lambda.
    """
    lam = 1.0
    while value(lam / 2) >= value(lam):
        lam /= 2
        if lam < 1e-280:
            return 0.0
    while lam < 1e280:
        gain = value(2 * lam) - value(lam)
        if not gain > 1e-14 * lam:
            return lam
        lam *= 2
    return math.inf


def legendre_transform(log_mgf, t):
    """Maximise lambda t - psi(lambda) over lambda >= 0, where psi is a log moment generator.

    The function is concave in lambda; its maximum is bracketed by doubling and found by Brent's
    method on log lambda. The returned rate is the value at the returned tilt, so that the bound
    made from it holds even where the search is inexact.

    Parameters
    ----------
    log_mgf : callable
        psi(lambda) = log E exp(lambda X) for a number lambda >= 0, with psi(0) = 0; inf where
        the expectation is infinite.
    t : float
        A level in the unit of X. For t <= E X the rate is 0.

    Returns
    -------
    ChernoffBound
        With n = 1.

    Raises
    ------
    ValueError
        If psi(0) is not 0 or psi returns NaN.

    References
    ----------
    Book: concentration-chernoff. Chernoff (1952), Annals of Mathematical Statistics 23, 493-507.

    Examples
    --------
    >>> round(legendre_transform(lambda lam: lam**2 / 2, 3.0).rate, 6)
    4.5
    """
    t = _finite(t, "t")
    if not callable(log_mgf) or not abs(_call_log_mgf(log_mgf, 0.0)) < 1e-9:
        raise ValueError("log_mgf must be a function with log_mgf(0) = 0: the log of E exp(0).")

    def value(lam):
        return lam * t - _call_log_mgf(log_mgf, lam)

    lam = _bracket(value)
    if lam in (0.0, math.inf):
        return ChernoffBound(_exp_bound(lam), lam, lam)
    ends = (math.log(lam / 2), math.log(2 * lam))
    found = minimize_scalar(
        lambda u: -value(math.exp(u)), bounds=ends, method="bounded", options={"xatol": 1e-9}
    )
    best = max((lam / 2, lam, 2 * lam, math.exp(found.x)), key=value)
    rate = value(best)
    return ChernoffBound(_exp_bound(rate), rate, best) if rate > 0 else ChernoffBound(1.0, 0.0, 0.0)


def chernoff_bound(log_mgf, t, n=1):
    """Bound P(Y_n >= t) <= exp(-n psi*(t)) for the mean Y_n of n i.i.d. variables.

    psi*(t) is the maximum of lambda t - psi(lambda) over lambda >= 0 (``legendre_transform``).

    Parameters
    ----------
    log_mgf : callable
        psi of one variable.
    t : float
        Level of the mean.
    n : int

    Returns
    -------
    ChernoffBound

    Examples
    --------
    >>> result = chernoff_bound(rademacher_log_mgf, 0.5, n=20)
    >>> round(result.bound, 4), round(result.tilt, 4)
    (0.0731, 0.5493)
    """
    n = _check_n(n)
    one = legendre_transform(log_mgf, t)
    return one._replace(bound=_exp_bound(n * one.rate))


def large_deviations_bound(log_mgf, mean, epsilon, n=1):
    """Bound P(|Y_n - mu| >= epsilon) <= 2 exp(-n min(rate+, rate-)).

    The rates are the Legendre transforms of the log moment generators of X - mu and mu - X.

    Parameters
    ----------
    log_mgf : callable
        psi of one variable X, for positive and negative arguments.
    mean : float
        mu = E X.
    epsilon : float
    n : int

    Returns
    -------
    TwoSidedBound

    References
    ----------
    Book: concentration-large-deviations.

    Examples
    --------
    >>> round(large_deviations_bound(rademacher_log_mgf, 0.0, 0.5, n=20).bound, 4)
    0.1462
    """
    mean, epsilon, n = _finite(mean, "mean"), _positive(epsilon, "epsilon"), _check_n(n)
    upper = chernoff_bound(lambda lam: log_mgf(lam) - lam * mean, epsilon, n)
    lower = chernoff_bound(lambda lam: log_mgf(-lam) + lam * mean, epsilon, n)
    return TwoSidedBound(_exp_bound(n * min(upper.rate, lower.rate), 2), upper, lower)


def chernoff_sample_size(rate, delta, two_sided=False):
    """Return the smallest n with exp(-n rate) <= delta; with 2 exp(-n rate) if two-sided.

    Examples
    --------
    >>> chernoff_sample_size(0.02, 0.05)
    150
    """
    rate, delta = _positive(rate, "rate"), _check_delta(delta)
    sides = 2 if two_sided else 1
    return _smallest_n(
        math.log(sides / delta) / rate, lambda n: _exp_bound(n * rate, sides) <= delta
    )


def bernoulli_log_mgf(lam, p):
    """Return psi(lambda) = log(1 - p + p exp(lambda)) for a variable that is 1 with probability p.

    Examples
    --------
    >>> round(bernoulli_log_mgf(1.0, 0.5), 4)
    0.6201
    """
    p = _check_p(p)
    return float(np.logaddexp(safe_log(1 - p), safe_log(p) + lam))


def gaussian_log_mgf(lam, mean=0.0, sigma=1.0):
    """Return psi(lambda) = lambda mean + lambda^2 sigma^2 / 2 for the law N(mean, sigma^2).

    Examples
    --------
    >>> gaussian_log_mgf(2.0, sigma=3.0)
    18.0
    """
    with np.errstate(over="ignore"):  # inf is the right answer for a huge lambda
        quadratic = np.square(np.float64(lam) * _positive(sigma, "sigma")) / 2
    return float(lam * _finite(mean, "mean") + quadratic)


def rademacher_log_mgf(lam):
    """Return psi(lambda) = log cosh(lambda) for a fair sign, without overflow.

    Examples
    --------
    >>> round(rademacher_log_mgf(1000.0), 4)
    999.3069
    """
    return float(abs(lam) + np.log1p(np.exp(-2 * abs(lam))) - math.log(2))


def discrete_log_mgf(lam, values, probabilities):
    """Return psi(lambda) = log sum_j p_j exp(lambda v_j) for a law on finitely many values.

    Parameters
    ----------
    lam : float
    values, probabilities : arrays of shape (m,)

    Examples
    --------
    >>> round(discrete_log_mgf(1.0, [-1, 1], [0.5, 0.5]), 4)
    0.4338
    """
    p = check_distribution(probabilities, "probabilities")
    v = check_vector(values, "values", length=len(p))
    return float(log_sum_exp(safe_log(p) + lam * v))


def _relative_entropy(t, p):
    """Return t log(t/p) + (1-t) log((1-t)/(1-p)), with 0 log 0 = 0."""
    terms = (
        a * (math.log(a) - math.log(b)) if b > 0 else math.inf
        for a, b in ((t, p), (1 - t, 1 - p))
        if a > 0
    )
    return max(0.0, sum(terms))


def bernoulli_chernoff(n, t, p):
    """Bound P(S_n / n >= t) <= exp(-n kl(t, p)) for S_n binomial, in closed form.

    kl(t, p) = t log(t/p) + (1-t) log((1-t)/(1-p)) for p <= t <= 1, attained at the tilt
    lambda = log(t (1-p) / (p (1-t))). For t <= p the bound is 1, for t > 1 it is 0.

    Examples
    --------
    >>> round(bernoulli_chernoff(100, 0.6, 0.5).bound, 4)
    0.1335
    """
    n, t, p = _check_n(n), _finite(t, "t"), _check_p(p)
    if t <= p:
        return ChernoffBound(1.0, 0.0, 0.0)
    if t > 1 or p == 0:
        return ChernoffBound(0.0, math.inf, math.inf)
    rate = _relative_entropy(t, p)
    tilt = math.log(t / p) + math.log((1 - p) / (1 - t)) if t < 1 else math.inf
    return ChernoffBound(_exp_bound(n * rate), rate, tilt)


def gaussian_chernoff(n, t, sigma=1.0):
    """Bound P(Y_n >= t) <= exp(-n t^2 / (2 sigma^2)) for the mean of n centred Gaussians.

    The tilt is t / sigma^2; for t <= 0 the bound is 1.

    Examples
    --------
    >>> round(gaussian_chernoff(1, 2.0).bound, 4)
    0.1353
    """
    n, t, sigma = _check_n(n), max(0.0, _finite(t, "t")), _positive(sigma, "sigma")
    rate = (t / sigma) ** 2 / 2
    return ChernoffBound(_exp_bound(n * rate), rate, t / sigma**2)


def rademacher_chernoff(n, t):
    """Bound P(Y_n >= t) for the mean of n fair signs: the Bernoulli rate at (1 + t)/2, p = 1/2.

    psi*(t) = ((1+t) log(1+t) + (1-t) log(1-t)) / 2 for 0 <= t <= 1, at the tilt artanh t.

    Examples
    --------
    >>> round(rademacher_chernoff(1, 0.99).bound, 4)
    0.516
    """
    b = bernoulli_chernoff(n, (1 + _finite(t, "t")) / 2, 0.5)
    return b._replace(tilt=b.tilt / 2)


# Sub-Gaussian variables ----------------------------------------------------------------------


def subgaussian_bound(n, epsilon, sigma, two_sided=True):
    """Bound P(|Y_n| >= epsilon) <= 2 exp(-n epsilon^2 / (2 sigma^2)).

    Y_n is the mean of n independent centred variables, each with psi(lambda) at most
    lambda^2 sigma^2 / 2. One-sided, without the factor 2.

    References
    ----------
    Book: concentration-subgaussian.

    Examples
    --------
    >>> round(subgaussian_bound(100, 0.2, sigma=1.0), 4)
    0.2707
    """
    n, sigma = _check_n(n), _positive(sigma, "sigma")
    return _exp_bound(n * (_positive(epsilon, "epsilon") / sigma) ** 2 / 2, 2 if two_sided else 1)


def subgaussian_sample_size(epsilon, delta, sigma, two_sided=True):
    """Return the smallest n whose sub-Gaussian bound is at most delta.

    Examples
    --------
    >>> subgaussian_sample_size(0.1, 0.05, sigma=1.0)
    738
    """
    epsilon, delta = _positive(epsilon, "epsilon"), _check_delta(delta)
    real = 2 * (_positive(sigma, "sigma") / epsilon) ** 2 * math.log((1 + two_sided) / delta)
    return _smallest_n(real, lambda n: subgaussian_bound(n, epsilon, sigma, two_sided) <= delta)


def is_subgaussian(log_mgf, sigma, lambdas):
    """Say whether psi(lambda) <= lambda^2 sigma^2 / 2 at each of the given lambdas.

    False refutes that the variable is sigma-sub-Gaussian. True only says that these lambdas do
    not refute it: the definition asks for every real lambda.

    Parameters
    ----------
    log_mgf : callable
        psi of a centred variable.
    sigma : float
    lambdas : array of shape (m,)

    Examples
    --------
    >>> grid = np.linspace(-20, 20, 81)
    >>> is_subgaussian(rademacher_log_mgf, 1.0, grid), is_subgaussian(rademacher_log_mgf, 0.9, grid)
    (True, False)
    """
    sigma, lambdas = _positive(sigma, "sigma"), check_vector(lambdas, "lambdas")
    psi = np.array([_call_log_mgf(log_mgf, lam) for lam in lambdas])
    return bool(np.all(psi <= (lambdas * sigma) ** 2 / 2 + 1e-12 * np.maximum(1, np.abs(lambdas))))


# The Gaussian approximation and the exact binomial -------------------------------------------


def clt_tail(n, epsilon, sigma, two_sided=True):
    """Approximate P(|Y_n - mu| > epsilon) by 2 Phi(-sqrt(n) epsilon / sigma): no bound.

    References
    ----------
    Book: concentration-clt.

    Examples
    --------
    >>> round(clt_tail(100, 0.1, sigma=0.5), 4)
    0.0455
    """
    n, sigma = _check_n(n), _positive(sigma, "sigma")
    z = math.sqrt(n) * _positive(epsilon, "epsilon") / sigma
    return float((2 if two_sided else 1) * ndtr(-z))


def clt_sample_size(epsilon, delta, sigma, two_sided=True):
    """Return the smallest n at which the Gaussian approximation of the tail is at most delta.

    Examples
    --------
    >>> clt_sample_size(0.05, 0.05, sigma=0.5)
    385
    """
    epsilon, delta = _positive(epsilon, "epsilon"), _check_delta(delta)
    z = max(0.0, -float(ndtri(delta / (2 if two_sided else 1))))
    real = (z * _positive(sigma, "sigma") / epsilon) ** 2
    if real == 0:  # one-sided with delta >= 1/2: any sample will do
        return 1
    return _smallest_n(real, lambda n: clt_tail(n, epsilon, sigma, two_sided) <= delta)


def _as_printed(x):
    """Return the fraction that the decimal digits of x spell: 0.1 is one tenth."""
    return Fraction(x) if isinstance(x, Rational) else Fraction(repr(float(x)))


def binomial_tail(n, k, p):
    """Return P(S_n >= k) for S_n binomial, by the incomplete beta function.

    Examples
    --------
    >>> binomial_tail(3, 2, 0.5)
    0.5
    """
    n, p = _check_n(n), _check_p(p)
    check_scalar(k, "k", integer=True)
    if k <= 0:
        return 1.0
    return float(betainc(k, n - k + 1, p)) if k <= n else 0.0


def binomial_deviation(n, p, epsilon, two_sided=True):
    """Return P(|S_n/n - p| >= epsilon) exactly; one-sided, P(S_n/n - p >= epsilon).

    p and epsilon are read as the decimals they print as, so that n p + n epsilon = k is decided
    without rounding.

    Parameters
    ----------
    n : int
    p, epsilon : float or fractions.Fraction
    two_sided : bool

    Examples
    --------
    >>> binomial_deviation(10, 0.5, 0.5)
    0.001953125
    """
    n = _check_n(n)
    _check_p(p)
    _positive(epsilon, "epsilon")
    exact_p, exact_epsilon = _as_printed(p), _as_printed(epsilon)
    upper = binomial_tail(n, math.ceil(n * (exact_p + exact_epsilon)), float(p))
    at_most = math.floor(n * (exact_p - exact_epsilon))
    # P(S_n <= m) = P(n - S_n >= n - m), and n - S_n is binomial with 1 - p
    lower = binomial_tail(n, n - at_most, float(1 - exact_p))
    return upper + lower if two_sided else upper


def clopper_pearson(k, n, delta):
    """Return the exact interval for p after k successes in n independent trials.

    Its ends are the p at which P(S_n >= k) and P(S_n <= k) equal delta/2. It covers p with
    probability at least 1 - delta.

    Parameters
    ----------
    k, n : int
        0 <= k <= n.
    delta : float

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> [round(v, 4) for v in clopper_pearson(4, 20, 0.05)]
    [0.0573, 0.4366]
    """
    n, delta = _check_n(n), _check_delta(delta)
    check_scalar(k, "k", low=0, high=n, integer=True)
    low = float(betaincinv(k, n - k + 1, delta / 2)) if k > 0 else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - delta / 2)) if k < n else 1.0
    return Interval(low, high)


def union_bound(probabilities):
    """Return min(1, sum of probabilities): a bound on the chance that any of the events occurs.

    Examples
    --------
    >>> round(union_bound([0.01, 0.02]), 4)
    0.03
    """
    p = check_vector(probabilities, "probabilities")
    if p.size == 0 or (p < 0).any() or (p > 1).any():
        raise ValueError("probabilities must be one or more numbers in [0, 1].")
    return min(1.0, float(p.sum()))
