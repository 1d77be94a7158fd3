"""Probability: finite spaces in exact fractions, joint tables, Gaussians, Dirichlets, entropy.

Chapter: Foundations, *Probability*. Main references: Kolmogorov (1933), Shannon (1948).
"""

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import prod
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.special import entr, gammaln, xlogy

from mllib.core.arrays import (
    as_array,
    check_array,
    check_distribution,
    check_size,
    check_square,
    check_vector,
)
from mllib.core.numerics import divergence_terms, log_density_from_cholesky, log_normalise, max_abs
from mllib.core.scalars import (
    check_callable,
    check_count,
    check_finite,
    check_positive,
    check_probability,
    check_rng,
)

__all__ = [
    "FiniteSpace",
    "Gaussian",
    "GaussianProduct",
    "Moments",
    "Posterior",
    "bayes",
    "bernoulli_log_pmf",
    "bernoulli_moments",
    "bernoulli_sample",
    "categorical_log_pmf",
    "categorical_moments",
    "categorical_sample",
    "chain_rule",
    "conditional",
    "covariance",
    "dirichlet_log_density",
    "dirichlet_moments",
    "dirichlet_sample",
    "entropy",
    "expectation",
    "gaussian_conditional",
    "gaussian_entropy",
    "gaussian_log_density",
    "gaussian_marginal",
    "gaussian_pdf",
    "gaussian_product",
    "gaussian_sample",
    "is_conditionally_independent",
    "isotropic_log_density",
    "kl_divergence",
    "marginal",
    "precision",
    "variance",
]


# Records -------------------------------------------------------------------------------------


class Posterior(NamedTuple):
    """What Bayes' rule returns."""

    posterior: np.ndarray  #: p(k | x), shape of the likelihood: (K,) or (K, m)
    evidence: object  #: p(x) = sum_k p(x | k) p(k): a number, or shape (m,)


class Gaussian(NamedTuple):
    """The parameters of a Gaussian density."""

    mean: np.ndarray  #: mu, shape (d,); (m, d) if it was conditioned on m values at once
    cov: np.ndarray  #: Sigma, shape (d, d), symmetric positive definite


class GaussianProduct(NamedTuple):
    """The product of two Gaussian densities of one variable: exp(log_constant) N(x; mean, cov)."""

    mean: np.ndarray  #: m, shape (d,)
    cov: np.ndarray  #: S, shape (d, d)
    log_constant: float  #: log N(m1; m2, S1 + S2), the integral of the product


class Moments(NamedTuple):
    """Mean and covariance of a random vector."""

    mean: np.ndarray  #: E[x], shape (K,)
    cov: np.ndarray  #: Cov[x], shape (K, K)


def _as_fraction(value, name):
    """Return an exact fraction from an integer, a fraction or a decimal in quotes."""
    exact = isinstance(value, (numbers.Rational, str)) and not isinstance(value, bool)
    if not exact:
        raise ValueError(
            f"{name} must be exact, got {value!r}: write Fraction(1, 10) or '0.1', not 0.1."
        )
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"{name} must be a fraction such as '1/3', got {value!r}.") from error


@dataclass(frozen=True)
class FiniteSpace:
    """A finite probability space: P(A) = sum of p(omega) over the outcomes omega in A, exactly.

    An event is a set of outcomes, or a function that says of an outcome whether it belongs.

    Book: probability-axioms. Kolmogorov (1933), chapter 1.

    Parameters
    ----------
    weights : mapping
        Outcome -> probability, as integers, ``fractions.Fraction`` or strings such as ``"0.05"``
        and ``"1/3"``; none negative, their sum exactly one.

    Examples
    --------
    >>> die = FiniteSpace.uniform(range(1, 7))
    >>> die.prob({2, 4, 6}), die.conditional({6}, lambda face: face > 3)
    (Fraction(1, 2), Fraction(1, 3))
    """

    weights: Mapping  #: outcome omega -> probability p(omega), a Fraction

    def __post_init__(self):
        if not isinstance(self.weights, Mapping) or not self.weights:
            raise ValueError("weights must be a non-empty dictionary from outcome to probability.")
        exact = {w: _as_fraction(p, f"the weight of {w!r}") for w, p in self.weights.items()}
        for outcome, p in exact.items():
            if p < 0:
                raise ValueError(f"weights must not be negative, that of {outcome!r} is {p}.")
        total = sum(exact.values())
        if total != 1:
            raise ValueError(f"weights must sum to one, got {total}: divide by the sum.")
        object.__setattr__(self, "weights", exact)

    @classmethod
    def uniform(cls, outcomes):
        """Return the space in which the distinct ``outcomes`` are equally likely."""
        try:
            return cls.from_counts(dict.fromkeys(outcomes, 1))
        except TypeError as error:
            raise ValueError(
                f"outcomes must be a collection of labels, such as range(6) or tuples: {error}."
            ) from error

    @classmethod
    def from_counts(cls, counts):
        """Return the space of relative frequencies: p(omega) = count / sum of the counts."""
        if not isinstance(counts, Mapping):
            raise ValueError("counts must be a dictionary from outcome to count.")
        exact = {w: _as_fraction(c, f"the count of {w!r}") for w, c in counts.items()}
        total = sum(exact.values())
        if total <= 0:
            raise ValueError(f"counts must have a positive sum, got {total}.")
        return cls({w: c / total for w, c in exact.items()})

    @property
    def outcomes(self):
        """The sample space Omega, a frozenset."""
        return frozenset(self.weights)

    def events(self):
        """Return an iterator over all events: the 2^|Omega| subsets of Omega."""
        omega = list(self.weights)
        sizes = (combinations(omega, k) for k in range(len(omega) + 1))
        return map(frozenset, chain.from_iterable(sizes))

    def event(self, event):
        """Return an event, given as a set of outcomes or as a function, as a frozenset."""
        if callable(event):
            return frozenset(w for w in self.weights if event(w))
        try:
            chosen = frozenset(event)
        except TypeError as error:
            raise ValueError(
                f"event must be a set of outcomes, or a function of an outcome: {error}."
            ) from error
        if not chosen <= self.outcomes:
            alien = sorted(map(repr, chosen - self.outcomes))
            raise ValueError(
                f"event holds {', '.join(alien)}, which the space does not have: pass a set of "
                f"outcomes, or a function that returns True for some of them."
            )
        return chosen

    def prob(self, event):
        """Return P(event), a Fraction."""
        return sum((self.weights[w] for w in self.event(event)), Fraction(0))

    def conditional(self, event, given):
        """Return P(event | given) = P(event and given) / P(given)."""
        A, B = self.event(event), self.event(given)
        if self.prob(B) == 0:
            raise ValueError(
                "given must have positive probability: P(A | B) is not defined for P(B) = 0."
            )
        return self.prob(A & B) / self.prob(B)  # (eq-probability-conditional)

    def given(self, event):
        """Return the conditioned space: outcomes of the event, with weights p(omega) / P(event)."""
        B = self.event(event)
        return FiniteSpace({w: self.conditional({w}, B) for w in self.weights if w in B})

    def independent(self, *events):
        """Return whether P(intersection) = product of P over every collection of the events."""
        sets = [self.event(event) for event in events]
        if len(sets) < 2:
            raise ValueError(f"independent needs at least 2 events, got {len(sets)}.")
        collections = chain.from_iterable(combinations(sets, k) for k in range(2, len(sets) + 1))
        return all(
            self.prob(frozenset.intersection(*some)) == prod(map(self.prob, some))
            for some in collections
        )

    def law(self, X):
        """Return the law of the random variable X, a function of outcomes: p(x) = P(X = x)."""
        check_callable(X, "X")
        p = {}
        for w, weight in self.weights.items():
            p[X(w)] = p.get(X(w), 0) + weight
        return FiniteSpace(p)

    def expectation(self, X):
        """Return E[X] = sum over omega of X(omega) p(omega), exact if X is."""
        check_callable(X, "X")
        return sum(X(w) * p for w, p in self.weights.items())


# Functions: joint tables ---------------------------------------------------------------------


def _is_exact(a):
    return a.dtype == object and all(isinstance(v, numbers.Rational) for v in a.ravel())


def _probabilities(p, name):
    """Return p as float64, or as an array of exact fractions; entries >= 0 with sum one."""
    p = as_array(p, name)
    if not (p.size and p.ndim and _is_exact(p)):
        shape = p.shape
        return check_distribution(p.ravel() if p.ndim else p, name).reshape(shape)
    if (p < 0).any():
        raise ValueError(f"{name} must not be negative, its smallest entry is {p.min()}.")
    if p.sum() != 1:
        raise ValueError(f"{name} must sum to one, got a sum of {p.sum()}: divide by the sum.")
    return p


def _axes(axes, ndim, name):
    """Return distinct axes of a table as a tuple of non-negative integers."""
    axes = tuple(axes) if np.iterable(axes) else (axes,)
    whole = all(isinstance(a, numbers.Integral) and 0 <= a < ndim for a in axes)
    if not whole or len(set(axes)) != len(axes):
        raise ValueError(f"{name} must name different axes from 0 to {ndim - 1}, got {list(axes)}.")
    return tuple(int(a) for a in axes)


def marginal(joint, keep):
    """Return the marginal table of some variables: p(x) = sum_y p(x, y).

    ``joint`` has one axis of length K_j for each variable, and floats, or fractions for an exact
    result; ``keep`` are the axes that stay, in the order in which the result has them.

    Book: probability-sum-rule.

    Examples
    --------
    >>> marginal([[0.125, 0.25], [0.5, 0.125]], 0)
    array([0.375, 0.625])
    """
    joint = _probabilities(joint, "joint")
    keep = _axes(keep, joint.ndim, "keep")
    rest = tuple(a for a in range(joint.ndim) if a not in keep)
    p = np.asarray(joint.sum(axis=rest))  # (eq-probability-sum)
    return p.transpose(np.argsort(np.argsort(keep)))


def _marginal_in_place(joint, keep):
    """Return the marginal over the axes ``keep`` with every other axis kept at length one."""
    rest = tuple(a for a in range(joint.ndim) if a not in keep)
    return np.asarray(joint.sum(axis=rest, keepdims=True))


def conditional(joint, given):
    """Return the table p(other variables | given variables) = p(all) / p(given), of the same shape.

    It sums to one over the axes that are not ``given``, and is not defined where these have
    probability 0. Tables are as for ``marginal``.

    Book: probability-conditional-probability.

    Examples
    --------
    >>> conditional([[0.125, 0.375], [0.25, 0.25]], 0)
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    joint = _probabilities(joint, "joint")
    below = _marginal_in_place(joint, _axes(given, joint.ndim, "given"))
    if (below == 0).any():
        raise ValueError(
            "joint gives probability 0 to some value of the given variables, where the "
            "conditional is not defined: drop that value from the table."
        )
    return joint / below  # (eq-probability-conditional)


def chain_rule(joint, order=None):
    """Return the factors p(x_1), p(x_2 | x_1), ..., p(x_m | x_1, ..., x_{m-1}) of a joint table.

    The variables are taken in ``order``, by default 0, 1, ..., m - 1. Each factor has one axis for
    each variable, of length one where it does not depend on it: their product is the table.

    Book: probability-chain-rule.

    Examples
    --------
    >>> [factor.shape for factor in chain_rule([[0.125, 0.375], [0.25, 0.25]], (1, 0))]
    [(1, 2), (2, 2)]
    """
    joint = _probabilities(joint, "joint")
    order = range(joint.ndim) if order is None else order
    order = _axes(order, joint.ndim, "order")
    if len(order) != joint.ndim:
        raise ValueError(f"order must name all {joint.ndim} variables, got {list(order)}.")
    factors = []
    for k in range(1, len(order) + 1):
        table = _marginal_in_place(joint, order[:k])  # p(x_1, ..., x_k)
        factors.append(conditional(table, order[: k - 1]))
    return factors


def bayes(prior, likelihood):
    """Return p(k | x) = p(x | k) p(k) / p(x) with the evidence p(x) = sum_k p(x | k) p(k).

    ``prior`` has shape (K,), ``likelihood`` shape (K,), or (K, m) for m observations; it may
    be a density. An observation of evidence 0 is refused. Fractions give fractions.

    Book: probability-bayes-theorem. Bayes (1763).

    Examples
    --------
    >>> bayes([0.25, 0.75], [0.5, 0.5])
    Posterior(posterior=array([0.25, 0.75]), evidence=0.5)
    """
    prior = _probabilities(prior, "prior")
    L = as_array(likelihood, "likelihood")
    if not _is_exact(L):
        L = check_array(np.atleast_2d(L), "likelihood", any_size=True).reshape(L.shape)
    if prior.ndim != 1 or L.ndim not in (1, 2) or len(L) != len(prior):
        raise ValueError(
            f"likelihood must have one row for each of the entries of prior, got shapes "
            f"{L.shape} and {prior.shape}."
        )
    if (L < 0).any():
        raise ValueError(f"likelihood must not be negative, its smallest entry is {L.min()}.")
    joint = (prior * L.T).T
    evidence = joint.sum(axis=0)
    if np.any(evidence == 0):
        raise ValueError(
            "likelihood contradicts the prior: an observation has probability 0 under every k "
            "that the prior allows."
        )
    evidence = evidence if L.ndim == 2 or _is_exact(joint) else float(evidence)
    return Posterior(joint / evidence, evidence)  # (eq-probability-bayes)


def is_conditionally_independent(joint, x, y, given=(), *, tol=1e-10):
    """Return whether x and y are independent given z: p(x, y, z) p(z) = p(x, z) p(y, z) everywhere.

    Every combination of values is tried. The product form needs no division, so values of z with
    probability 0 ask nothing.

    Book: probability-conditional-independence. Dawid (1979).

    Parameters
    ----------
    joint : array of shape (K_1, ..., K_m); floats, or fractions for an exact answer
    x, y, given : int or tuple of int; axes of three groups, none twice; ``given`` may be ()
    tol : float; largest difference that counts as rounding, for floats only

    Examples
    --------
    >>> is_conditionally_independent([[0.25, 0.25], [0.25, 0.25]], 0, 1)
    True
    """
    joint = _probabilities(joint, "joint")
    x, y, z = (_axes(a, joint.ndim, n) for a, n in ((x, "x"), (y, "y"), (given, "given")))
    _axes(x + y + z, joint.ndim, "x, y and given together")
    groups = (x + y + z, x + z, y + z, z)
    p_xyz, p_xz, p_yz, p_z = (_marginal_in_place(joint, keep) for keep in groups)
    gap = max_abs(p_xyz * p_z - p_xz * p_yz)
    return bool(gap == 0 if _is_exact(joint) else gap <= tol)


# Functions: moments --------------------------------------------------------------------------


def _values(x, name):
    exact = as_array(x, name)
    if exact.ndim == 1 and exact.size and _is_exact(exact):
        return exact
    return check_size(check_vector(x, name), name)


def _weights(p, n):
    """Return the weights of n values: given ones, or 1/n each."""
    if n == 0:
        raise ValueError("x must have at least one entry, got none.")
    if p is None:
        return np.full(n, Fraction(1, n), dtype=object)
    p = _probabilities(p, "p")
    if p.shape != (n,):
        raise ValueError(f"p must have one entry for each of the {n} values, got shape {p.shape}.")
    return p


def _average(x, p):
    exact = _is_exact(x) and _is_exact(p)
    return (x * p).sum() if exact else float(x.astype(float) @ p.astype(float))


def expectation(x, p=None):
    """Return E[X] = sum_i x_i p_i, for values x of shape (n,) and probabilities p, by default 1/n.

    Floats or fractions, as in all functions of this section.

    Examples
    --------
    >>> expectation([0, 1], [0.25, 0.75])
    0.75
    """
    x = _values(x, "x")
    return _average(x, _weights(p, len(x)))


def covariance(x, y, p=None):
    """Return Cov[X, Y] = E[(X - E X)(Y - E Y)] = E[XY] - E[X] E[Y] of n pairs with probabilities p.

    The first form is computed: the second cancels where the means are large. Without p it is
    ``numpy.cov`` with ``ddof=0``.

    Book: probability-covariance.

    Examples
    --------
    >>> covariance([0, 1], [0, 2])
    0.5
    """
    x, y = _values(x, "x"), _values(y, "y")
    if len(x) != len(y):
        raise ValueError(f"y must have as many entries as x, got {len(y)} and {len(x)}.")
    p = _weights(p, len(x))
    return _average((x - _average(x, p)) * (y - _average(y, p)), p)


def variance(x, p=None):
    """Return Var[X] = E[(X - E X)^2] = E[X^2] - E[X]^2; the first form is computed.

    Book: probability-variance-identity.

    Examples
    --------
    >>> variance([0, 1], [0.25, 0.75])
    0.1875
    """
    return covariance(x, x, p)


# Functions: entropy --------------------------------------------------------------------------


def entropy(p):
    """Return H[p] = -sum_k p_k log p_k in nats, with 0 log 0 = 0; p has shape (K,) or (n, K).

    It lies between 0 and log K.

    Book: probability-entropy. Shannon (1948).

    Examples
    --------
    >>> round(entropy([0.5, 0.5, 0.0]), 4)
    0.6931
    """
    H = entr(check_distribution(p, "p")).sum(axis=-1)
    return float(H) if H.ndim == 0 else H


def kl_divergence(q, p):
    """Return KL(q || p) = sum_k q_k log(q_k / p_k) in nats; inf if q_k > 0 = p_k for some k.

    Both have shape (K,) or (n, K). It is at least 0, and 0 only for q = p.

    Book: probability-gibbs. Kullback and Leibler (1951).

    Examples
    --------
    >>> round(kl_divergence([1.0, 0.0], [0.5, 0.5]), 4)
    0.6931
    """
    q, p = check_distribution(q, "q"), check_distribution(p, "p")
    if q.shape != p.shape:
        raise ValueError(f"q and p must have one shape, got {q.shape} and {p.shape}.")
    D = divergence_terms(q, p).sum(axis=-1)  # no term is negative: none cancel
    return float(D) if D.ndim == 0 else D


# Functions: Gaussians ------------------------------------------------------------------------


def _covariance_factor(cov, name="cov", size=None):
    """Return ``(cov, L)`` with cov = L L^T; refuse what is not symmetric positive definite."""
    cov = check_square(cov, name, size=size, symmetric=True)
    try:
        L = cholesky(cov, lower=True, check_finite=False)
        # L_jj^2 / cov_jj is the share of coordinate j that coordinates 0..j-1 do not determine.
        singular = (np.diag(L) ** 2 <= len(cov) * np.finfo(float).eps * np.diag(cov)).any()
    except np.linalg.LinAlgError:
        singular = True
    if singular:
        eigenvalues = np.linalg.eigvalsh(cov)
        tiny = len(cov) * np.finfo(float).eps * max_abs(eigenvalues)
        smallest = eigenvalues[0] if abs(eigenvalues[0]) > tiny else 0.0
        raise ValueError(
            f"{name} must be positive definite, its smallest eigenvalue is {smallest:.3g}: drop "
            f"coordinates or add to its diagonal."
        )
    return cov, L


def _parameters(mean, cov, names=("mean", "cov")):
    mean = check_vector(mean, names[0])
    return mean, *_covariance_factor(cov, names[1], size=len(mean))


def _points(X, d):
    """Return X as an array of shape (n, d), and whether it was a single point of shape (d,)."""
    X = as_array(X, "X")
    single = X.ndim == 1
    X = check_array(np.atleast_2d(X) if single else X)
    if X.shape[1] != d:
        raise ValueError(f"X must have {d} columns, one for each entry of mean, got {X.shape[1]}.")
    return X, single


def gaussian_pdf(x, mu, sigma2):
    """Return N(x; mu, sigma^2) = exp(-(x - mu)^2 / (2 sigma^2)) / sqrt(2 pi sigma^2).

    ``sigma2`` is the variance, not the standard deviation. A density has the unit 1/x, and may
    exceed 1.

    Book: probability-gaussian-univariate.

    Examples
    --------
    >>> round(gaussian_pdf(0.0, 0.0, 1.0), 4)
    0.3989
    """
    check_finite(mu, "mu")
    check_positive(sigma2, "sigma2")
    x = as_array(x, "x")
    shape = x.shape
    z = (check_vector(np.ravel(x), "x") - mu) / np.sqrt(sigma2)
    with np.errstate(over="ignore"):
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi * sigma2)
    return density.reshape(shape) if shape else float(density[0])


def gaussian_log_density(X, mean, cov):
    """Return log N(x; mu, Sigma) = -(d log 2 pi + log|Sigma| + (x-mu)^T Sigma^-1 (x-mu)) / 2.

    X holds points of shape (n, d), or one of shape (d,). With Sigma = L L^T the quadratic form is
    |z|^2 for L z = x - mu, and log|Sigma| is 2 sum_j log L_jj: no inverse, no determinant.

    Book: probability-gaussian-multivariate, probability-cholesky-density.

    Examples
    --------
    >>> round(gaussian_log_density([0.0, 0.0], [0.0, 0.0], np.eye(2)), 4)
    -1.8379
    """
    mean, _, L = _parameters(mean, cov)
    X, single = _points(X, len(mean))
    log_density = log_density_from_cholesky(X, mean, L)  # (eq-probability-cholesky)
    return float(log_density[0]) if single else log_density


def isotropic_log_density(X, mean, tau2):
    """Return log N(x; mu, tau^2 I) = -(d log(2 pi tau^2) + |x - mu|^2 / tau^2) / 2, as the above.

    Book: probability-isotropic-gaussian.

    Examples
    --------
    >>> round(isotropic_log_density([3.0, 4.0], [3.0, 4.0], 1.0), 4)
    -1.8379
    """
    mean = check_vector(mean, "mean")
    check_positive(tau2, "tau2")
    X, single = _points(X, len(mean))
    squares = ((X - mean) ** 2).sum(axis=1) / tau2
    log_density = -0.5 * (len(mean) * np.log(2 * np.pi * tau2) + squares)
    return float(log_density[0]) if single else log_density


def precision(cov):
    """Return the precision: 1 / sigma^2 of a variance, Lambda = Sigma^-1 of a covariance matrix.

    Book: probability-precision.

    Examples
    --------
    >>> precision(4.0), precision([[4.0, 0.0], [0.0, 1.0]]).tolist()
    (0.25, [[0.25, 0.0], [0.0, 1.0]])
    """
    if as_array(cov, "cov").ndim == 0:
        return 1 / check_positive(cov, "cov")
    cov, L = _covariance_factor(cov)
    Lambda = cho_solve((L, True), np.eye(len(cov)))
    return (Lambda + Lambda.T) / 2


def gaussian_marginal(mean, cov, keep):
    """Return the Gaussian of some coordinates: N(x_a; mu_a, Sigma_aa), the other rows crossed out.

    ``keep`` are the coordinates a, in the order in which the result has them.

    Book: probability-gaussian-marginal.

    Examples
    --------
    >>> gaussian_marginal([1.0, 2.0], [[4.0, 1.0], [1.0, 9.0]], 1)
    Gaussian(mean=array([2.]), cov=array([[9.]]))
    """
    mean, cov, _ = _parameters(mean, cov)
    a = list(_axes(keep, len(mean), "keep"))
    if not a:
        raise ValueError("keep must name at least one coordinate, got none.")
    return Gaussian(mean[a], cov[np.ix_(a, a)])


def gaussian_conditional(mean, cov, given, values):
    """Return the Gaussian of the other coordinates a, given the values of the coordinates b.

    mu_a|b = mu_a + Sigma_ab Sigma_bb^-1 (x_b - mu_b), and Sigma_a|b is the Schur complement
    Sigma_aa - Sigma_ab Sigma_bb^-1 Sigma_ba, whatever the values are.

    Book: probability-gaussian-conditional.

    Parameters
    ----------
    mean, cov : arrays of shape (d,) and (d, d)
    given : int or tuple of int; the coordinates b, not all of them
    values : float, or array of shape (len(b),) or (m, len(b)); m rows give m means at once

    Examples
    --------
    >>> gaussian_conditional([1.0, 2.0], [[4.0, 1.0], [1.0, 2.0]], 1, 4.0)
    Gaussian(mean=array([2.]), cov=array([[3.5]]))
    """
    mean, cov, _ = _parameters(mean, cov)
    b = list(_axes(given, len(mean), "given"))
    a = [j for j in range(len(mean)) if j not in b]
    if not a or not b:
        raise ValueError("given must name at least one coordinate, and not all of them.")
    values = as_array(values, "values")
    x_b = check_array(values.reshape(1, -1) if values.ndim < 2 else values, "values")
    if x_b.shape[1] != len(b):
        raise ValueError(
            f"values must have {len(b)} columns, one for each given coordinate, got "
            f"{x_b.shape[1]}: pass shape (m, {len(b)}) for m cases at once."
        )
    S_aa, S_ab, S_bb = (cov[np.ix_(rows, columns)] for rows, columns in ((a, a), (a, b), (b, b)))
    L = cholesky(S_bb, lower=True)
    gain = cho_solve((L, True), S_ab.T).T  # Sigma_ab Sigma_bb^-1
    mu = mean[a] + (x_b - mean[b]) @ gain.T  # (eq-probability-conditional-mean)
    schur = S_aa - gain @ S_ab.T  # (eq-probability-schur)
    return Gaussian(mu if values.ndim == 2 else mu[0], (schur + schur.T) / 2)


def gaussian_product(m1, S1, m2, S2):
    """Return m, S and log c with N(x; m1, S1) N(x; m2, S2) = c N(x; m, S) for all x.

    S^-1 = S1^-1 + S2^-1, S^-1 m = S1^-1 m1 + S2^-1 m2, c = N(m1; m2, S1 + S2). Only S1 + S2 is
    factorised: S = S1 (S1 + S2)^-1 S2 and m = m1 + S1 (S1 + S2)^-1 (m2 - m1).

    Book: probability-product-of-gaussians.

    Parameters
    ----------
    m1, S1, m2, S2 : arrays of shape (d,) and (d, d), each a mean and a covariance

    Examples
    --------
    >>> gaussian_product([0.0], [[1.0]], [4.0], [[1.0]])[:2]
    (array([2.]), array([[0.5]]))
    """
    m1, S1, _ = _parameters(m1, S1, ("m1", "S1"))
    m2 = check_vector(m2, "m2", length=len(m1))
    m2, S2, _ = _parameters(m2, S2, ("m2", "S2"))
    L = cholesky(S1 + S2, lower=True)
    gain = cho_solve((L, True), S1).T  # S1 (S1 + S2)^-1
    S = gain @ S2
    log_constant = log_density_from_cholesky(m1[None], m2, L)[0]
    return GaussianProduct(m1 + gain @ (m2 - m1), (S + S.T) / 2, float(log_constant))


def gaussian_entropy(cov):
    """Return the differential entropy of N(mu, Sigma), (d log(2 pi e) + log|Sigma|) / 2, in nats.

    It is negative where the density is large enough.

    Examples
    --------
    >>> round(gaussian_entropy([[1.0]]), 4)
    1.4189
    """
    cov, L = _covariance_factor(cov)
    return float(0.5 * len(cov) * np.log(2 * np.pi * np.e) + np.log(np.diag(L)).sum())


def gaussian_sample(mean, cov, n, rng):
    """Draw n times x = mu + L z with standard Gaussian z, where Sigma = L L^T; shape (n, d).

    Parameters
    ----------
    mean, cov : arrays of shape (d,) and (d, d)
    n : int; how many
    rng : numpy.random.Generator
    """
    mean, _, L = _parameters(mean, cov)
    n = check_count(n, "n")
    return mean + check_rng(rng).standard_normal((n, len(mean))) @ L.T  # (eq-probability-affine)


# Functions: Bernoulli, categorical, Dirichlet ------------------------------------------------


def _one_distribution(p, name="p"):
    p = check_distribution(p, name)
    if p.ndim != 1:
        raise ValueError(f"{name} must be one distribution of shape (K,), got shape {p.shape}.")
    return p


def _whole_numbers(x, name, K):
    """Return x as integers from 0 to K - 1, whatever its shape."""
    x = as_array(x, name)
    flat = check_vector(np.ravel(x), name)
    if ((flat != np.floor(flat)) | (flat < 0) | (flat >= K)).any():
        raise ValueError(f"{name} must hold whole numbers from 0 to {K - 1} only.")
    return flat.astype(int).reshape(x.shape)


def bernoulli_log_pmf(x, p):
    """Return log p^x (1 - p)^(1 - x) for x in {0, 1}; 0^0 = 1, and log 0 = -inf.

    Book: probability-bernoulli-categorical.

    Examples
    --------
    >>> bernoulli_log_pmf([0, 1], 1.0)
    array([-inf,   0.])
    """
    p = float(check_probability(p, "p"))
    x = _whole_numbers(x, "x", 2)
    log_pmf = xlogy(x, p) + xlogy(1 - x, 1 - p)
    return log_pmf if x.ndim else float(log_pmf)


def bernoulli_moments(p):
    """Return the mean p and the variance p (1 - p), as one-dimensional ``Moments``.

    Examples
    --------
    >>> bernoulli_moments(0.25)
    Moments(mean=array([0.25]), cov=array([[0.1875]]))
    """
    p = float(check_probability(p, "p"))
    return Moments(np.array([p]), np.array([[p * (1 - p)]]))


def bernoulli_sample(p, n, rng):
    """Draw n times 1 with probability p and 0 otherwise; shape (n,) of int."""
    check_probability(p, "p")
    n = check_count(n, "n")
    return (check_rng(rng).random(n) < p).astype(int)


def categorical_log_pmf(x, p):
    """Return log prod_k p_k^{x_k} for one-of-K vectors x; 0^0 = 1, and log 0 = -inf.

    x has shape (K,) or (n, K): value k is row k of ``numpy.eye(K)``.

    Book: probability-bernoulli-categorical.

    Examples
    --------
    >>> categorical_log_pmf([0, 1, 0], [0.0, 1.0, 0.0])
    0.0
    """
    p = _one_distribution(p)
    X, single = np.atleast_2d(_whole_numbers(x, "x", 2)), np.ndim(x) == 1
    if X.ndim != 2 or X.shape[1] != len(p) or (X.sum(axis=1) != 1).any():
        raise ValueError(
            f"x must be one-of-{len(p)} vectors, a single 1 in each row: make them with "
            f"numpy.eye({len(p)})[k]."
        )
    log_pmf = xlogy(X, p).sum(axis=1)
    return float(log_pmf[0]) if single else log_pmf


def categorical_moments(p):
    """Return mean p and covariance diag(p) - p p^T of a one-of-K vector.

    Examples
    --------
    >>> categorical_moments([0.5, 0.5]).cov
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    p = _one_distribution(p)
    return Moments(p.copy(), np.diag(p) - np.outer(p, p))


def categorical_sample(p, n, rng):
    """Draw n values k with probabilities p_k by inverting the cumulative sums; shape (n,) of int.

    A value of probability 0 is never drawn.
    """
    p = _one_distribution(p)
    edges = np.cumsum(p)
    u = check_rng(rng).random(check_count(n, "n")) * edges[-1]
    return np.searchsorted(edges, u, side="right")


def _check_alpha(alpha):
    alpha = check_vector(alpha, "alpha")
    if len(alpha) < 2 or (alpha <= 0).any():
        raise ValueError("alpha must hold at least 2 entries, all above 0.")
    return alpha


def dirichlet_log_density(p, alpha):
    """Return log f(p) = log G(alpha_0) - sum_k log G(alpha_k) + sum_k (alpha_k - 1) log p_k.

    G is the gamma function and alpha_0 = sum_k alpha_k; the density is with respect to the first
    K - 1 coordinates of p, of shape (K,) or (n, K). It is -inf on the faces where the density
    vanishes, and a p_k = 0 with alpha_k < 1 is refused, since the density is not bounded there.

    Book: probability-dirichlet.

    Examples
    --------
    >>> dirichlet_log_density([0.25, 0.75], [1.0, 1.0])
    0.0
    """
    alpha, p = _check_alpha(alpha), check_distribution(p, "p")
    if p.ndim > 2 or p.shape[-1] != len(alpha):
        raise ValueError(f"p must have {len(alpha)} columns, one for each alpha_k, not {p.shape}.")
    if ((p == 0) & (alpha < 1)).any():
        raise ValueError("p has a 0 where alpha is below 1, and the density is infinite there.")
    log_constant = gammaln(alpha.sum()) - gammaln(alpha).sum()
    log_density = log_constant + xlogy(alpha - 1, p).sum(axis=-1)  # (eq-probability-dirichlet)
    return float(log_density) if p.ndim == 1 else log_density


def dirichlet_moments(alpha):
    """Return mean m = alpha / alpha_0 and covariance (diag(m) - m m^T) / (alpha_0 + 1).

    Book: probability-dirichlet-moments.

    Examples
    --------
    >>> dirichlet_moments([1.0, 3.0]).mean
    array([0.25, 0.75])
    """
    alpha = _check_alpha(alpha)
    m = alpha / alpha.sum()
    return Moments(m, (np.diag(m) - np.outer(m, m)) / (alpha.sum() + 1))


def dirichlet_sample(alpha, n, rng):
    """Draw n points of the simplex (K numbers each): Gamma(alpha_k) variables over their sum.

    Logarithms keep small alpha from giving 0/0: log G(a) is drawn as log G(a + 1) + log(U) / a.
    """
    alpha = _check_alpha(alpha)
    size = (check_count(n, "n"), len(alpha))
    larger, u = check_rng(rng).standard_gamma(alpha + 1, size), rng.random(size)
    return log_normalise(np.log(larger) + np.log1p(-u) / alpha)[0]
