"""Bias and variance: where the error of a learned predictor or of an estimate comes from.

Chapter: Regression, *Bias and variance*. Main reference: Geman, Bienenstock and Doursat (1992).
"""

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mllib.core.arrays import check_array, check_distribution, check_vector
from mllib.core.parallel import map_over
from mllib.core.scalars import check_callable, check_rng, check_scalar
from mllib.least_squares import pinv

__all__ = [
    "ConditionalMSE",
    "Decomposition",
    "FixedDesign",
    "ParameterMSE",
    "conditional_mse",
    "decompose",
    "decompose_smoother",
    "exact_decompose",
    "integrate",
    "legendre_features",
    "parameter_mse",
    "polynomial_learner",
    "ridge_smoother",
]


# Records -------------------------------------------------------------------------------------


class ConditionalMSE(NamedTuple):
    """The squared error of one prediction at one input, split at the conditional mean."""

    mse: float  #: E[(y - c)^2 | x], computed on its own
    noise: float  #: Var(y | x)
    squared_distance: float  #: (E[y | x] - c)^2


class Decomposition(NamedTuple):
    """The parts of the expected squared error of a learner, at each of m inputs or averaged."""

    mean: np.ndarray  #: averaged predictor, E_D[f_D(x)], shape (m,)
    squared_bias: np.ndarray  #: (E_D[f_D(x)] - f(x))^2, in squared units of y
    variance: np.ndarray  #: E_D[(f_D(x) - E_D[f_D(x)])^2]
    noise: np.ndarray  #: E[(y - f(x))^2]
    risk: np.ndarray  #: E[(y - f_D(x))^2], computed from y and f_D(x), not from the parts
    repeats: int  #: data sets drawn; 0 if the parts are exact

    @property
    def debiased(self):
        """The squared bias less variance / (repeats - 1): simulated averages are never exact."""
        return self.squared_bias - self.variance / (self.repeats - 1 if self.repeats else np.inf)


class ParameterMSE(NamedTuple):
    """The parts of the expected squared distance of an estimated vector from the true one."""

    bias: np.ndarray  #: E[w_hat] - w*, shape (d,)
    squared_bias: float  #: ||bias||^2
    variance: float  #: E||w_hat - E[w_hat]||^2, the trace of the covariance
    mse: float  #: E||w_hat - w*||^2


# Functions: input ----------------------------------------------------------------------------


def _length(X, name):
    if not hasattr(X, "__len__"):
        raise ValueError(f"{name} must be a sequence of inputs, got {X!r}.")
    return len(X)


def _check_law(values, probabilities, name):
    """Return the pairs (value, probability) of a finite law, in the numbers that were given."""
    check_distribution(check_vector(probabilities, "probabilities"), "probabilities")
    check_vector(values, name, length=len(probabilities))
    return list(zip(values, probabilities))


def _weights(weights, m):
    """Return a law of m entries, the uniform one by default."""
    weights = np.full(m, 1 / m) if weights is None else check_distribution(weights, "weights")
    return check_vector(weights, "weights", length=m)


# Functions: exact parts ----------------------------------------------------------------------


def conditional_mse(prediction, values, probabilities):
    """Return E[(y - c)^2] = Var(y) + (E[y] - c)^2 as a ``ConditionalMSE``.

    c is the prediction; y has a law of finitely many ``values`` and their ``probabilities``.
    Fractions give fractions.

    Book: bias-variance-conditional-mse-split.

    >>> conditional_mse(0, [0, 10], [0.75, 0.25])
    ConditionalMSE(mse=25.0, noise=18.75, squared_distance=6.25)
    """
    check_vector([prediction], "prediction")
    law = _check_law(values, probabilities, "values")
    mean = sum(p * v for v, p in law)
    mse = sum(p * (v - prediction) ** 2 for v, p in law)
    noise = sum(p * (v - mean) ** 2 for v, p in law)
    return ConditionalMSE(mse, noise, (mean - prediction) ** 2)


def exact_decompose(learner, X, f, errors, probabilities, X_new, f_new):
    """Return risk = bias^2 + variance + noise by listing every data set of a finite design.

    y_i = f_i + e_i with independent e_i that take K values; there are K^n data sets, at most a
    million. The ``Decomposition`` holds lists of length m; fractions if all was given in fractions.

    Book: bias-variance-pointwise-decomposition.

    Parameters
    ----------
    learner : callable
        ``learner(X, y, X_new)`` returns the m predictions of what was learned from (X, y).
    X : sequence of length n
        Inputs of the design, in any form that the learner takes.
    f : sequence of length n
        True values at X.
    errors, probabilities : sequences of length K
        The law of one error, of mean 0.
    X_new, f_new : sequences of length m
        New inputs and the true values there; a new y is f_new plus an independent error.

    Examples
    --------
    >>> mean = lambda X, y, X_new: [sum(y) / len(y)] * len(X_new)
    >>> exact_decompose(mean, [0, 1], [0, 1], [-1, 1], [0.5, 0.5], [0], [0]).risk
    [1.75]
    """
    check_callable(learner, "learner")
    law = _check_law(errors, probabilities, "errors")
    if abs(sum(float(p * e) for e, p in law)) > 1e-12 * max(abs(float(e)) for e, _ in law):
        raise ValueError("errors must have mean 0: move their mean into f.")
    check_vector(f, "f", length=_length(X, "X"))
    check_vector(f_new, "f_new", length=_length(X_new, "X_new"))
    if len(law) ** len(f) > 10**6:
        raise ValueError(f"X must be shorter: {len(law)}^{len(f)} data sets are too many to list.")
    weights, predictions = [], []
    for sample in itertools.product(law, repeat=len(f)):
        weights.append(math.prod(p for _, p in sample))
        y = [a + e for a, (e, _) in zip(f, sample)]
        predictions.append(list(learner(X, y, X_new)))
    if {len(row) for row in predictions} != {len(f_new)}:
        raise ValueError(f"learner must return {len(f_new)} predictions, one for each new input.")
    check_array(predictions, "predictions of the learner", any_size=True)
    parts = _exact_parts(weights, predictions, law, f_new)
    return Decomposition(*map(list, zip(*parts)), 0)


def _exact_parts(weights, predictions, law, f_new):
    """Yield mean, bias^2, variance, noise and risk at each new input, each by its definition."""
    noise = sum(p * e**2 for e, p in law)
    for f, column in zip(f_new, zip(*predictions)):
        mean = sum(w * t for w, t in zip(weights, column))
        variance = sum(w * (t - mean) ** 2 for w, t in zip(weights, column))
        risk = sum(w * p * (f + e - t) ** 2 for w, t in zip(weights, column) for e, p in law)
        yield mean, (mean - f) ** 2, variance, noise, risk


# Functions: simulation -----------------------------------------------------------------------


@dataclass(frozen=True)
class FixedDesign:
    """Data sets with the same inputs and new Gaussian errors: y = f + sigma e.

    X has shape (n,) or (n, d), f holds the true values at X, and sigma is the standard deviation of
    the errors.
    """

    X: np.ndarray
    f: np.ndarray
    sigma: float

    def __post_init__(self):
        """Refuse lengths that differ and a negative sigma."""
        f = check_vector(self.f, "f", length=_length(self.X, "X"))
        check_scalar(self.sigma, "sigma", low=0)
        object.__setattr__(self, "f", f)

    def __call__(self, rng):
        """Return one data set (X, y)."""
        return self.X, self.f + self.sigma * rng.standard_normal(len(self.f))


@dataclass(frozen=True)
class _Repeat:
    """Draw one data set, learn, predict, draw new errors; an object, so that it can travel."""

    learner: object
    draw: object
    X_new: np.ndarray
    m: int
    noise: object

    def __call__(self, rng):
        sample = self.draw(rng)
        if not isinstance(sample, tuple) or len(sample) != 2:
            raise ValueError(f"draw must return a pair (X, y), got {sample!r}.")
        X, y = sample
        prediction = np.asarray(self.learner(X, y, self.X_new), dtype=np.float64)
        if callable(self.noise):
            return prediction, np.asarray(self.noise(rng, self.m), dtype=np.float64)
        return prediction, self.noise * rng.standard_normal(self.m)


def decompose(learner, draw, X_new, f_new, *, noise=0.0, repeats, rng, workers=1):
    """Return risk, bias^2, variance and noise by learning from many simulated data sets.

    E[(y - f_D(x))^2] = (E f_D(x) - f(x))^2 + Var f_D(x) + Var(y | x), averages over ``repeats``.
    The variance has divisor ``repeats``. Risk is simulated with new y, so that it differs from the
    sum of the parts by averages of cross terms, which vanish like 1 / sqrt(repeats).

    Book: bias-variance-integrated-decomposition. Geman, Bienenstock and Doursat (1992).

    Parameters
    ----------
    learner : callable
        ``learner(X, y, X_new)`` returns m predictions.
    draw : callable
        ``draw(rng)`` returns one data set (X, y), such as a ``FixedDesign``.
    X_new : array of shape (m,) or (m, d)
        Inputs where the error is split.
    f_new : array of shape (m,)
        True regression function there.
    noise : float or callable
        Standard deviation of new Gaussian errors, or ``noise(rng, m)`` that draws m of them.
    repeats : int
        Data sets, at least 2; each gets its own generator, spawned from ``rng``.
    rng : numpy.random.Generator
    workers : see ``mllib.core``

    Examples
    --------
    >>> mean = lambda X, y, X_new: np.full(len(X_new), y.mean())
    >>> draw = FixedDesign(np.zeros(4), np.zeros(4), 1.0)
    >>> rng = np.random.default_rng(0)
    >>> parts = decompose(mean, draw, [0.0], [2.0], noise=1.0, repeats=2000, rng=rng)
    >>> abs(parts.squared_bias - 4) < 0.1, abs(parts.variance - 0.25) < 0.05
    (array([ True]), array([ True]))
    """
    check_callable(learner, "learner")
    check_callable(draw, "draw")
    f_new = check_vector(f_new, "f_new", length=_length(X_new, "X_new"))
    check_scalar(repeats, "repeats", low=2, integer=True)
    check_rng(rng)
    if not callable(noise):
        check_scalar(noise, "noise", low=0)
    task = _Repeat(learner, draw, np.asarray(X_new), len(f_new), noise)
    pairs = map_over(task, rng.spawn(repeats), workers)
    for row, new in pairs:
        check_vector(row, "each prediction of the learner", length=len(f_new))
        check_vector(new, "noise", length=len(f_new))
    F, E = (np.array(part) for part in zip(*pairs))
    mean = F.mean(axis=0)
    risk = np.mean((f_new + E - F) ** 2, axis=0)
    squared_bias, variance = (mean - f_new) ** 2, F.var(axis=0)
    return Decomposition(mean, squared_bias, variance, np.mean(E**2, axis=0), risk, repeats)


def integrate(parts, weights=None):
    """Return the parts averaged over inputs: each is E_x of the one at x, a float.

    ``weights`` of shape (m,) are the law of the inputs, such as those of a quadrature; equal by
    default.

    >>> integrate(Decomposition([0, 0], [1.0, 3.0], [0, 2.0], [1, 1], [2.0, 6.0], 0)).risk
    4.0
    """
    if not isinstance(parts, Decomposition):
        raise ValueError(f"parts must be a Decomposition, got {parts!r}.")
    m = len(check_vector(parts.mean, "parts.mean"))
    weights = _weights(weights, m)
    means = (float(weights @ np.asarray(part, dtype=np.float64)) for part in parts[:5])
    return Decomposition(*means, parts.repeats)


# Functions: predictions that are linear in y -------------------------------------------------


def decompose_smoother(S, f, f_new, sigma2):
    """Return the parts for predictions S y that are linear in y = f + errors of variance sigma2.

    bias = S f - f_new; variance = sigma2 diag(S S^T); the risk is their sum plus sigma2.

    Book: bias-variance-linear-smoother.

    Parameters
    ----------
    S : array of shape (m, n)
        Row j holds the weights of y_1, ..., y_n in the j-th prediction.
    f, f_new : arrays of shape (n,) and (m,)
        True values where y is measured, and where the predictions are made.
    sigma2 : float
        Variance of each error; errors are uncorrelated, and a new one is added to f_new.

    Examples
    --------
    >>> decompose_smoother([[0.5, 0.5]], [0.0, 2.0], [0.0], 1.0).risk
    array([2.5])
    """
    S = check_array(S, "S", any_size=True)
    f = check_vector(f, "f", length=S.shape[1])
    f_new = check_vector(f_new, "f_new", length=S.shape[0])
    check_scalar(sigma2, "sigma2", low=0)
    mean = S @ f
    squared_bias = (mean - f_new) ** 2
    variance = sigma2 * np.sum(S**2, axis=1)  # (eq-bias-variance-smoother)
    noise = np.full(len(f_new), float(sigma2))
    return Decomposition(mean, squared_bias, variance, noise, squared_bias + variance + noise, 0)


def legendre_features(x, r, *, interval):
    """Return Phi with Phi_ij = sqrt(2j + 1) P_j(t_i), j = 0..r, t the interval mapped to [-1, 1].

    P_j are Legendre's polynomials; x has shape (n,), Phi (n, r + 1). They span what the monomials
    of ``least_squares.polynomial_features`` span, the polynomials of degree at most r, and are
    orthonormal under the uniform law on the interval, so that least squares with them is well
    conditioned.

    >>> legendre_features([0.0, 1.0], 1, interval=(0, 1)).round(3)
    array([[ 1.   , -1.732],
           [ 1.   ,  1.732]])
    """
    x = check_vector(x, "x")
    check_scalar(r, "r", low=0, integer=True)
    a, b = check_vector(interval, "interval", length=2)
    if not a < b:
        raise ValueError(f"interval must be (a, b) with a < b, got ({a:g}, {b:g}).")
    t = 2 * (x - a) / (b - a) - 1
    return np.polynomial.legendre.legvander(t, r) * np.sqrt(2 * np.arange(r + 1) + 1)


def ridge_smoother(X, X_new, lam=0.0):
    """Return S = X_new (X^T X + lam I)^{-1} X^T, so that S y are the predictions of ridge at X_new.

    S has shape (m, n). With lam = 0 these are the predictions of the shortest least-squares
    solution. Ridge is least squares on X with sqrt(lam) I appended and y with zeros
    (ridge-and-lasso-augmented-data), so S is read off a pseudo-inverse.

    >>> ridge_smoother([[1.0], [1.0]], [[1.0]], 2.0)
    array([[0.25, 0.25]])
    """
    X = check_array(X)
    X_new = check_array(X_new, "X_new")
    check_scalar(lam, "lam", low=0)
    n, d = X.shape
    if X_new.shape[1] != d:
        raise ValueError(f"X_new must have {d} columns like X, got {X_new.shape[1]}.")
    augmented = np.vstack([X, np.sqrt(lam) * np.eye(d)])
    return X_new @ pinv(augmented)[:, :n]


def polynomial_learner(x, y, x_new, *, r, lam=0.0, interval=(0.0, 1.0)):
    """Fit a polynomial of degree r by least squares, or by ridge if lam > 0; return it at x_new.

    Parameters
    ----------
    x, y, x_new : arrays of shape (n,), (n,) and (m,)
    r : int
    lam : float
        Penalty on the squared coefficients in the basis of ``legendre_features``.
    interval : pair of floats
        Interval of that basis.

    Examples
    --------
    >>> polynomial_learner([0.0, 0.5, 1.0], [0.0, 1.0, 2.0], [2.0], r=1).round(6)
    array([4.])
    """
    Phi = legendre_features(x, r, interval=interval)
    y, x_new = check_vector(y, "y", length=len(Phi)), check_vector(x_new, "x_new")
    return ridge_smoother(Phi, legendre_features(x_new, r, interval=interval), lam) @ y


def parameter_mse(estimates, target, weights=None):
    """Return E||w_hat - w*||^2 = ||E w_hat - w*||^2 + E||w_hat - E w_hat||^2 as a ``ParameterMSE``.

    ``estimates`` of shape (R, d) are those of every data set, or of R simulated ones, at least 2;
    ``target`` is the true w*, ``weights`` the probabilities of the data sets, equal by default.

    Book: bias-variance-vector-estimator-decomposition.

    >>> parameter_mse([[0.0, 1.0], [2.0, 1.0]], [0.0, 0.0])
    ParameterMSE(bias=array([1., 1.]), squared_bias=2.0, variance=1.0, mse=3.0)
    """
    T = check_array(estimates, "estimates", min_samples=2, any_size=True)
    target = check_vector(target, "target", length=T.shape[1])
    weights = _weights(weights, len(T))
    mean = weights @ T
    variance = float(weights @ np.sum((T - mean) ** 2, axis=1))
    mse = float(weights @ np.sum((T - target) ** 2, axis=1))
    bias = mean - target
    return ParameterMSE(bias, float(bias @ bias), variance, mse)
