"""Hidden Markov models: likelihood, decoding, learning, sampling; the filter of Gaussian chains.

Chapter: Sequences and graphs, *Hidden Markov models*. Main reference: Rabiner (1989).
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve
from scipy.special import gammaln, xlogy

from mllib.core.arrays import (
    check_array,
    check_distribution,
    check_lengths,
    check_square,
    check_vector,
)
from mllib.core.chunks import as_passes, chunk_parts, column_moments, reduce_chunks
from mllib.core.compiled import compiled
from mllib.core.estimators import DensityEstimator, begin_fit, check_features, check_fitted
from mllib.core.numerics import (
    cholesky_with_jitter,
    log_density_from_cholesky,
    log_normalise,
    safe_log,
    squared_distances,
)
from mllib.core.parallel import map_over
from mllib.core.scalars import check_choice, check_rng, check_scalar, random_generator
from mllib.mixtures_and_em import constrained_covariances, em

__all__ = [
    "HMM",
    "Backward",
    "CategoricalEmission",
    "CategoricalHMM",
    "ExpectedCounts",
    "Forward",
    "GaussianChain",
    "GaussianEmission",
    "GaussianHMM",
    "GaussianStates",
    "MarkovChain",
    "Path",
    "PoissonEmission",
    "PoissonHMM",
    "Posteriors",
    "add_counts",
    "backward",
    "baum_welch",
    "baum_welch_over_chunks",
    "expected_counts",
    "fit_markov_chain",
    "forward",
    "joint_log_probability",
    "kalman_filter",
    "kalman_smoother",
    "m_step",
    "markov_chain_log_probability",
    "posteriors",
    "sample",
    "viterbi",
]


# Records -------------------------------------------------------------------------------------


class MarkovChain(NamedTuple):
    """A first-order Markov chain on states 0..K-1."""

    pi: np.ndarray  #: start, shape (K,): pi_i = p(z_1 = i)
    A: np.ndarray  #: transitions, shape (K, K): a_ij = p(z_{t+1} = j | z_t = i); rows sum to one


class Forward(NamedTuple):
    """What the forward pass knows at time t from x_1, ..., x_t."""

    log_filter: np.ndarray  #: log p(z_t = j | x_{1:t}), shape (T, K); -inf rows once impossible
    log_scale: np.ndarray  #: log c_t = log p(x_t | x_{1:t-1}) in nats, shape (T,)
    log_likelihood: float  #: log p(x_{1:T}) = sum_t log c_t, -inf for an impossible sequence

    @property
    def log_alpha(self):
        """log alpha_t(j) = log p(x_{1:t}, z_t = j), shape (T, K)."""
        return self.log_filter + np.cumsum(self.log_scale)[:, None]


class Backward(NamedTuple):
    """What the backward pass knows at time t from x_{t+1}, ..., x_T."""

    log_message: np.ndarray  #: log beta_t(j) minus the scales of t, ..., T; shape (T, K)
    log_scale: np.ndarray  #: the log-sum that step t divided out, shape (T,)

    @property
    def log_beta(self):
        """log beta_t(j) = log p(x_{t+1:T} | z_t = j), shape (T, K)."""
        return self.log_message + np.cumsum(self.log_scale[::-1])[::-1, None]


class Posteriors(NamedTuple):
    """What the whole sequence says about states and transitions."""

    gamma: np.ndarray  #: gamma_t(i) = p(z_t = i | x_{1:T}), shape (T, K)
    xi: np.ndarray  #: xi_t(i, j) = p(z_t = i, z_{t+1} = j | x_{1:T}), shape (T - 1, K, K)
    log_likelihood: float  #: log p(x_{1:T}) in nats; if it is -inf, gamma and xi are zero


class Path(NamedTuple):
    """A most probable sequence of states."""

    states: np.ndarray  #: argmax_z p(z_{1:T}, x_{1:T}), shape (T,); ties towards the lowest index
    log_probability: float  #: its log p(z_{1:T}, x_{1:T}) in nats


class ExpectedCounts(NamedTuple):
    """The additive statistics of one E-step; those of two chunks of sequences add up."""

    start: np.ndarray  #: sum over sequences of gamma_1(i), shape (K,)
    transitions: np.ndarray  #: sum over sequences and t < T of xi_t(i, j), shape (K, K)
    emission: tuple  #: the emission's statistics, arrays whose first axis is the state
    log_likelihood: float  #: sum over sequences of log p(x) in nats


class CategoricalEmission(NamedTuple):
    """e_j(v) = p(x_t = v | z_t = j) for symbols v = 0..V-1; a symbol -1 counts as missing."""

    probs: np.ndarray  #: shape (K, V), rows sum to one

    @classmethod
    def start(cls, x, K, V, rng):
        """Return the shares of the V symbols in x, disturbed anew for each state."""
        share = (np.bincount(x, minlength=V) + 1.0) / (len(x) + V)
        return cls(_normalise_rows(share * rng.uniform(0.5, 1.5, (K, V)), share))

    def check(self, x):
        """Return symbols as an array of whole numbers -1..V-1, or say what is wrong with them."""
        x, V = np.asarray(x), self.probs.shape[1]
        if x.ndim != 1 or x.size == 0 or x.dtype.kind not in "iu" or x.min() < -1 or x.max() >= V:
            raise ValueError(
                f"X must be a non-empty vector of symbols, whole numbers from 0 to {V - 1}, or -1 "
                f"for a missing one."
            )
        return x.astype(np.int64, copy=False)

    def log_density(self, x):
        """Return log e_j(x_t), shape (T, K), for symbols ``x`` of shape (T,)."""
        table = np.append(safe_log(self.probs).T, np.zeros((1, len(self.probs))), axis=0)
        return table[x]

    def statistics(self, x, gamma):
        """Return (n,) with n_jv = sum_t gamma_t(j) [x_t = v], shape (K, V)."""
        x, gamma = self.check(x), check_array(gamma, "gamma", any_size=True)
        if len(gamma) != len(x):
            raise ValueError(f"gamma must have a row for each of the {len(x)} symbols.")
        return (_count_symbols(x, gamma, self.probs.shape[1]),)

    def update(self, statistics):
        """Return the maximiser e_j(v) = n_jv / sum_v n_jv; an empty state keeps its row."""
        return CategoricalEmission(_normalise_rows(statistics[0], self.probs))

    def draw(self, z, rng):
        """Return one symbol for each state in ``z``, shape (T,)."""
        return _draw_rows(self.probs, z, rng)


class PoissonEmission(NamedTuple):
    """e_j(x) = prod_f exp(-l_jf) l_jf^{x_f} / x_f!, the features independent given the state."""

    rates: np.ndarray  #: l_jf >= 0, expected counts, shape (K, d)

    @classmethod
    def start(cls, X, K, rng):
        """Return rates half-way between the mean and K rows far apart."""
        return cls((_spread_rows(X, K, rng) + X.mean(axis=0)) / 2)

    def check(self, X):
        """Return counts as float64 of shape (T, d), or say what is wrong with them."""
        return _check_counts(_rows_of(X, self.rates.shape[1]))

    def log_density(self, X):
        """Return log e_j(x_t) in nats, shape (T, K), for counts ``X`` of shape (T, d)."""
        columns = [xlogy(X, rate).sum(axis=1) - rate.sum() for rate in self.rates]
        return np.stack(columns, axis=1) - gammaln(X + 1).sum(axis=1)[:, None]

    def statistics(self, X, gamma):
        """Return (sum_t gamma_t(j), sum_t gamma_t(j) x_t) of shapes (K,) and (K, d)."""
        return gamma.sum(axis=0), gamma.T @ X

    def update(self, statistics):
        """Return the maximiser l_j = sum_t gamma_t(j) x_t / sum_t gamma_t(j)."""
        n, total = statistics
        kept = (n > 0)[:, None]
        return PoissonEmission(np.where(kept, total / np.where(kept, n[:, None], 1), self.rates))

    def draw(self, z, rng):
        """Return one row of counts for each state in ``z``, shape (T, d)."""
        if np.max(self.rates) > 9e18:
            raise ValueError("rates must be at most 9e18 to draw from: counts are 64-bit numbers.")
        return rng.poisson(self.rates[z]).astype(float)


class GaussianEmission(NamedTuple):
    """e_j(x) = N(x; mu_j, Sigma_j), with every variance at least ``floor``."""

    means: np.ndarray  #: mu_j, shape (K, d)
    covariances: np.ndarray  #: Sigma_j, shape (K, d, d), or its diagonal, shape (K, d)
    floor: np.ndarray  #: the smallest variance allowed for each feature, shape (d,), above 0

    @classmethod
    def start(cls, X, K, rng, *, diagonal=False, min_covar=1e-6, means=None, covariances=None):
        """Return given means and covariances, else K rows far apart and the variances of X.

        The floor is ``min_covar`` times these (times 1 for a constant feature); given covariances
        are raised to it, or the first step of EM would lose.
        """
        variance = column_moments(X).variance
        variance = np.where(variance > 0, variance, 1.0)
        means = _spread_rows(X, K, rng) if means is None else means
        if covariances is None:
            covariances = np.stack([variance if diagonal else np.diag(variance)] * K)
        floor = min_covar * variance
        if diagonal:
            return cls(means, np.maximum(covariances, floor), floor)
        return cls(means, constrained_covariances(covariances, np.ones(K), floor=floor), floor)

    def check(self, X):
        """Return rows as float64 of shape (T, d), or say what is wrong with them."""
        return _rows_of(X, self.means.shape[1])

    def log_density(self, X):
        """Return log e_j(x_t) in nats, shape (T, K), for rows ``X`` of shape (T, d)."""
        columns = []
        with np.errstate(over="ignore"):  # so far away that the density is 0
            for mean, covariance in zip(self.means, self.covariances):
                if covariance.ndim == 1:
                    squares = (X - mean) ** 2 @ (1 / covariance)
                    columns.append(-0.5 * (squares + np.log(2 * np.pi * covariance).sum()))
                else:
                    L, _ = cholesky_with_jitter(covariance, "the covariance of a state")
                    columns.append(log_density_from_cholesky(X, mean, L))
        return np.stack(columns, axis=1)

    def statistics(self, X, gamma):
        """Return (n_j, sum_t gamma_t(j) y_t, sum_t gamma_t(j) y_t y_t^T) with y_t = x_t - mu_j.

        Centring on the current means keeps the digits of data far from the origin; the
        statistics of two chunks under one model still add up.
        """
        second = []
        for mean, weight in zip(self.means, gamma.T):
            Y = X - mean
            diagonal = self.covariances.ndim == 2
            second.append(weight @ Y**2 if diagonal else (Y * weight[:, None]).T @ Y)
        n = gamma.sum(axis=0)
        return n, gamma.T @ X - n[:, None] * self.means, np.array(second)

    def update(self, statistics):
        """Return the maximiser under the floor; a state without expected visits is kept.

        mu_j = mu_j + s_j / n_j and Sigma_j = S_j / n_j - (s_j / n_j)(s_j / n_j)^T, raised to the
        floor as in a mixture (mixtures-and-em-floor-is-exact).
        """
        n, first, second = statistics
        means, covariances, seen = self.means.copy(), self.covariances.copy(), n > 0
        n, second = n[seen], second[seen]
        shift = first[seen] / n[:, None]
        means[seen] += shift
        if covariances.ndim == 2:
            covariances[seen] = np.maximum(second / n[:, None] - shift**2, self.floor)
        else:
            scatter = second - n[:, None, None] * shift[:, :, None] * shift[:, None, :]
            scatter = (scatter + scatter.transpose(0, 2, 1)) / 2  # what rounding may have taken off
            covariances[seen] = constrained_covariances(scatter, n, floor=self.floor)
        return GaussianEmission(means, covariances, self.floor)

    def draw(self, z, rng):
        """Return one row for each state in ``z``, shape (T, d)."""
        noise = rng.standard_normal((len(z), self.means.shape[1]))
        if self.covariances.ndim == 2:
            return self.means[z] + noise * np.sqrt(self.covariances)[z]
        L = np.array([cholesky_with_jitter(S)[0] for S in self.covariances])
        return self.means[z] + np.einsum("tij,tj->ti", L[z], noise)


class HMM(NamedTuple):
    """theta = (pi, A, e): a Markov chain z_t that is seen only through x_t ~ e_{z_t}."""

    pi: np.ndarray  #: start, shape (K,): pi_i = p(z_1 = i)
    A: np.ndarray  #: transitions, shape (K, K): a_ij = p(z_{t+1} = j | z_t = i)
    emission: tuple  #: a CategoricalEmission, GaussianEmission or PoissonEmission


class GaussianChain(NamedTuple):
    """z_1 ~ N(mean, cov), z_t = A z_{t-1} + N(0, W), x_t = C z_t + N(0, R), noises independent.

    All three covariances are symmetric positive definite.
    """

    mean: np.ndarray  #: of z_1, shape (k,)
    cov: np.ndarray  #: of z_1, shape (k, k)
    A: np.ndarray  #: how a state moves, shape (k, k)
    W: np.ndarray  #: covariance of the noise of a move, shape (k, k)
    C: np.ndarray  #: what is seen of a state, shape (d, k)
    R: np.ndarray  #: covariance of the noise of an observation, shape (d, d)


class GaussianStates(NamedTuple):
    """The Gaussian laws of the states of a chain, one for each time."""

    means: np.ndarray  #: shape (T, k)
    covs: np.ndarray  #: shape (T, k, k)
    log_likelihood: float  #: log p(x_{1:T}) in nats


# Functions -----------------------------------------------------------------------------------


def _check_model(pi, A, log_B=None):
    """Return pi (K,), A (K, K) and log_B (T, K) as float64, or say what is wrong with them."""
    pi = check_distribution(check_vector(pi, "pi"), "pi")
    A = check_distribution(check_square(A, "A", size=len(pi)), "A")
    if log_B is None:
        return pi, A
    log_B = check_array(log_B, "log_B", finite=False)
    if log_B.shape[1] != len(pi):
        raise ValueError(
            f"log_B must have one column for each of the {len(pi)} states, got {log_B.shape[1]}."
        )
    if np.isnan(log_B).any() or (log_B == np.inf).any():
        raise ValueError("log_B must hold log densities below infinity, and no NaN.")
    return pi, A, log_B


def _rows_of(X, d):
    """Return observations as a finite float64 array of shape (T, d)."""
    X = check_array(X)
    if X.shape[1] != d:
        raise ValueError(f"X must have {d} columns, like the emission, got {X.shape[1]}.")
    return X


def _check_counts(X):
    """Return rows of counts as they are, or say what is wrong with them."""
    if (X < 0).any():
        raise ValueError("Negative values in data passed to Poisson emissions: X must hold counts.")
    if (np.floor(X) != X).any():
        raise ValueError("X must hold whole numbers (counts), got fractions: round them first.")
    return X


def _spread_rows(X, K, rng):
    """Return K rows far apart: each drawn with probability proportional to its squared distance.

    Distances are in standard deviations of each feature; a constant one does not count.
    """
    chosen, variance = [X[rng.integers(len(X))]], column_moments(X).variance
    scale = np.where(variance > 0, np.sqrt(variance), np.inf)
    while len(chosen) < K:
        D = squared_distances(X / scale, np.array(chosen) / scale).min(axis=1)
        p = D / D.sum() if D.any() else None
        chosen.append(X[rng.choice(len(X), p=p)])
    return np.array(chosen)


@compiled
def _count_symbols(x, gamma, V):
    """Return n_jv = sum_t gamma_t(j) [x_t = v], shape (K, V); a symbol -1 is passed over."""
    counts = np.zeros((gamma.shape[1], V))
    for t in range(len(x)):
        if x[t] >= 0:
            for j in range(gamma.shape[1]):
                counts[j, x[t]] += gamma[t, j]
    return counts


@compiled
def _log_sum(a):
    """Return log sum_k exp(a_k), the largest term first; -inf if all are."""
    top = a[0]
    for k in range(1, len(a)):
        top = max(top, a[k])
    if top == -np.inf:
        return top
    total = 0.0
    for k in range(len(a)):
        total += math.exp(a[k] - top)
    return top + math.log(total)


@compiled
def _log_forward(log_pi, log_A, log_B):
    """Return log p(z_t = j | x_{1:t}), shape (T, K), and log c_t, shape (T,).

    From a time on at which c_t = 0, what was seen is impossible, and all are -inf.
    """
    T, K = log_B.shape
    log_filter, log_scale, terms = np.empty((T, K)), np.empty(T), np.empty(K)
    for t in range(T):
        for j in range(K):
            predicted = log_pi[j]
            if t > 0:
                for i in range(K):
                    terms[i] = log_filter[t - 1, i] + log_A[i, j]
                predicted = _log_sum(terms)
            log_filter[t, j] = predicted + log_B[t, j]
        log_scale[t] = _log_sum(log_filter[t])
        if log_scale[t] > -np.inf:
            for j in range(K):
                log_filter[t, j] -= log_scale[t]
    return log_filter, log_scale


@compiled
def _log_backward(log_A, log_B):
    """Return log beta_t(i) less the sum of its scales, shape (T, K), and these, shape (T,)."""
    T, K = log_B.shape
    log_message, log_scale, ahead = np.zeros((T, K)), np.zeros(T), np.empty(K)
    for t in range(T - 2, -1, -1):
        for j in range(K):
            ahead[j] = log_B[t + 1, j] + log_message[t + 1, j]
        log_scale[t] = _log_sum(ahead)
        for i in range(K):
            for j in range(K):
                ahead[j] = log_A[i, j] + log_B[t + 1, j] + log_message[t + 1, j]
            log_message[t, i] = _log_sum(ahead)
            if log_scale[t] > -np.inf:
                log_message[t, i] -= log_scale[t]
    return log_message, log_scale


def forward(pi, A, log_B):
    """Run the forward recursion, normalised at each step.

    alpha_1(j) = pi_j e_j(x_1) and alpha_t(j) = e_j(x_t) sum_i alpha_{t-1}(i) a_ij, in logarithms:
    nothing underflows, however long the sequence, and structural zeros stay exact. ``pi``, shape
    (K,), and the rows of ``A``, (K, K), sum to one; ``log_B``, (T, K), holds log e_j(x_t) in nats,
    -inf where state j cannot emit x_t.

    Book: hidden-markov-models-forward. Rabiner (1989), pp. 262-263 and 272-273.

    Examples
    --------
    >>> import numpy as np
    >>> pi, A = [0.8, 0.2], [[0.6, 0.4], [0.5, 0.5]]
    >>> B = np.array([[0.4, 0.1], [0.2, 0.5], [0.4, 0.1]])  # ice creams 3, 1, 3
    >>> np.exp(forward(pi, A, np.log(B)).log_alpha[:2]).round(6).tolist()
    [[0.32, 0.02], [0.0404, 0.069]]
    """
    pi, A, log_B = _check_model(pi, A, log_B)
    log_filter, log_scale = _log_forward(safe_log(pi), safe_log(A), log_B)
    return Forward(log_filter, log_scale, float(log_scale.sum()))


def backward(A, log_B):
    """Run the backward recursion, normalised at each step; arguments as for `forward`.

    beta_T(i) = 1 and beta_t(i) = sum_j a_ij e_j(x_{t+1}) beta_{t+1}(j), in logarithms.

    Book: hidden-markov-models-backward. Rabiner (1989), p. 263.
    """
    A = check_square(A, "A")
    _, A, log_B = _check_model(np.full(len(A), 1 / len(A)), A, log_B)
    return Backward(*_log_backward(safe_log(A), log_B))


@compiled
def _scaled_forward(pi, AT, B, row, ends, keep):
    """Return p(z_t = j | x_{1:t}), if ``keep``, and c_t for sequences that end before ``ends``.

    B[row[t], j] is e_j(x_t) over its largest value at t, and above 0 unless j cannot emit x_t.
    The third array says of each sequence whether no step came close to losing a state.
    """
    n, K, first = len(row), len(pi), 0
    alpha, c, sure = np.empty((n if keep else 0, K)), np.ones(n), np.ones(len(ends), dtype=np.bool_)
    now, new, zeros = np.empty(K), np.empty(K), AT.min() == 0
    for s in range(len(ends)):
        for t in range(first, ends[s]):
            total = 0.0
            for j in range(K):
                predicted = pi[j] if t == first else 0.0
                if t > first:
                    for i in range(K):
                        predicted += now[i] * AT[j, i]
                e = B[row[t], j]
                new[j] = predicted * e
                total += new[j]
                if zeros and new[j] < 1e-200 and predicted > 0 and e > 0:
                    sure[s] = False  # possible, perhaps the only survivor, and soon zero
            if total < 1e-50 or not sure[s]:
                sure[s] = False
                break
            c[t] = total
            for j in range(K):
                now[j] = new[j] / total
                if keep:
                    alpha[t, j] = now[j]
        first = ends[s]
    return alpha, c, sure


@compiled
def _scaled_backward(A, B, row, ends, alpha, c, sure):
    """Turn alpha into gamma, in place, and return sum_t xi_t(i, j) / a_ij over sure sequences.

    alpha_t(i) beta_t(i) sums to 1 over i at each t; a sequence where an overflow ends that is not
    sure.
    """
    K, first = len(A), 0
    counts, block = np.zeros((K, K)), np.zeros((K, K))
    beta, ahead = np.empty(K), np.empty(K)
    for s in range(len(ends)):
        before = counts + block
        for t in range(ends[s] - 1, first - 1, -1):
            if not sure[s]:
                break
            total, inside = 0.0, t < ends[s] - 1
            for j in range(K):
                ahead[j] = B[row[t + 1], j] * beta[j] / c[t + 1] if inside else 0.0
            for i in range(K):
                beta[i] = 0.0 if inside else 1.0
                for j in range(K):
                    beta[i] += A[i, j] * ahead[j]
                total += alpha[t, i] * beta[i]
            if not 0.0 < total < np.inf:
                sure[s] = False
                counts, block = before, np.zeros((K, K))
                break
            for i in range(K):
                weight = alpha[t, i] / total
                alpha[t, i] = weight * beta[i]
                for j in range(K):
                    block[i, j] += weight * ahead[j]
            if t % 1000 == 0:  # sums of sums keep their digits
                counts += block
                block[:] = 0.0
        first = ends[s]
    return counts + block


def posteriors(pi, A, log_B):
    """Return gamma_t(i) and xi_t(i, j), the posteriors of states and of transitions.

    gamma_t(i) = alpha_t(i) beta_t(i) / p(x) and
    xi_t(i, j) = alpha_t(i) a_ij e_j(x_{t+1}) beta_{t+1}(j) / p(x); both are zero if the sequence
    is impossible: it has no posterior. Arguments as for `forward`.

    Book: hidden-markov-models-posteriors. Rabiner (1989), pp. 263-264.
    """
    pi, A, log_B = _check_model(pi, A, log_B)
    f, b = forward(pi, A, log_B), backward(A, log_B)
    if f.log_likelihood == -np.inf:
        T, K = log_B.shape
        return Posteriors(np.zeros((T, K)), np.zeros((T - 1, K, K)), -np.inf)
    gamma, _ = log_normalise(f.log_filter + b.log_message)
    ahead = (log_B + b.log_message)[1:]
    log_xi = f.log_filter[:-1, :, None] + safe_log(A) + ahead[:, None, :]
    xi, _ = log_normalise(log_xi, axis=(1, 2))
    return Posteriors(gamma, xi, f.log_likelihood)


@compiled
def _best_paths(log_pi, log_AT, log_B, row, ends):
    """Return z, which maximises p(x, z), and log p(x, z) of sequences that end before ``ends``.

    The sequences stand one behind the other: z has one entry for each of ``row``, and log p one for
    each of ``ends``. The log densities of time t are log_B[row[t]], and log_AT[j, i] is log a_ij.
    """
    n, K, first = len(row), len(log_pi), 0
    z, log_p, pointer = np.empty(n, dtype=np.int64), np.empty(len(ends)), np.empty((n, K), np.int16)
    v, new = np.zeros(K), np.empty(K)
    for s in range(len(ends)):
        total = 0.0
        for t in range(first, ends[s]):
            highest = -np.inf
            for j in range(K):
                best, at = log_pi[j], 0
                if t > first:
                    best = v[0] + log_AT[j, 0]
                    for i in range(1, K):
                        score = v[i] + log_AT[j, i]
                        if score > best:
                            best, at = score, i
                pointer[t, j] = at
                new[j] = best + log_B[row[t], j]
                highest = max(highest, new[j])
            top = highest if highest > -np.inf else 0.0
            for j in range(K):
                v[j] = new[j] - top  # near zero, where digits are finest
            total += top
        z[ends[s] - 1] = v.argmax()
        log_p[s] = total + v.max()
        for t in range(ends[s] - 1, first, -1):
            z[t - 1] = pointer[t, z[t]]
        first = ends[s]
    return z, log_p


def viterbi(pi, A, log_B):
    """Return a most probable path, argmax_z p(z_{1:T}, x_{1:T}), by dynamic programming.

    v_1(j) = pi_j e_j(x_1), v_t(j) = e_j(x_t) max_i v_{t-1}(i) a_ij with the back-pointer
    pa_t(j) = argmax_i v_{t-1}(i) a_ij; the path is read backwards from argmax_j v_T(j). Ties go
    to the lowest index; an impossible sequence has log probability -inf. Arguments as for
    `forward`.

    Book: hidden-markov-models-viterbi. Viterbi (1967).
    """
    pi, A, log_B = _check_model(pi, A, log_B)
    T = len(log_B)
    z, log_p = _best_paths(safe_log(pi), safe_log(A.T), log_B, np.arange(T), np.array([T]))
    return Path(z, float(log_p[0]))


def joint_log_probability(pi, A, log_B, z):
    """Return log p(x_{1:T}, z_{1:T}) = log pi_{z_1} + sum_{t>1} log a_{z_{t-1} z_t} + sum_t log e.

    Book: hidden-markov-models-joint.

    Parameters
    ----------
    pi, A, log_B
        As for `forward`.
    z : array of int of shape (T,)
        A path of states 0..K-1.
    """
    pi, A, log_B = _check_model(pi, A, log_B)
    z = _check_states(z, len(pi))
    if len(z) != len(log_B):
        raise ValueError(f"z must have {len(log_B)} entries, one for each row of log_B.")
    emitted = log_B[np.arange(len(z)), z].sum()
    return float(safe_log(pi)[z[0]] + safe_log(A)[z[:-1], z[1:]].sum() + emitted)


def _check_states(z, K):
    """Return a path of whole numbers 0..K-1, or say what is wrong with it."""
    z = np.asarray(z)
    if z.ndim != 1 or z.size == 0 or z.dtype.kind not in "iu":
        raise ValueError("z must be a non-empty vector of whole numbers, one state for each time.")
    if z.min() < 0 or z.max() >= K:
        raise ValueError(f"z must hold states 0..{K - 1}, got {z.min()}..{z.max()}.")
    return z


def _check_chain(chain, X):
    """Return the fields of a GaussianChain and X (T, d) as float64, or say what is wrong."""
    mean = check_vector(chain.mean, "mean")
    A = check_square(chain.A, "A", size=len(mean))
    C, X = check_array(chain.C, "C", any_size=True), check_array(X)
    if C.shape[1] != len(mean):
        raise ValueError(f"C must have {len(mean)} columns, like a state, got {C.shape[1]}.")
    if X.shape[1] != len(C):
        raise ValueError(f"X must have {len(C)} columns, one for each row of C, got {X.shape[1]}.")
    covariances = []
    for name, size in (("cov", len(mean)), ("W", len(mean)), ("R", len(C))):
        S = check_square(getattr(chain, name), name, size=size, symmetric=True)
        cholesky_with_jitter(S, name)
        covariances.append(S)
    return mean, covariances[0], A, covariances[1], C, covariances[2], X


def kalman_filter(chain, X):
    """Return N(z_t; m_t, P_t) = p(z_t | x_{1:t}) for t = 1..T, and log p(x_{1:T}).

    Predict: m = A m_{t-1}, P = A P_{t-1} A^T + W (at t = 1 the start). Correct, with
    S = C P C^T + R and the gain G = P C^T S^-1: m_t = m + G (x_t - C m), P_t = P - G C P.
    ``chain`` is a GaussianChain, the observations ``X`` have shape (T, d).

    Book: hidden-markov-models-kalman. Kalman (1960), Journal of Basic Engineering 82, 35-45.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> kalman_filter(GaussianChain([0.0], one, one, one, one, one), [[2.0]]).means
    array([[1.]])
    """
    mean, cov, A, W, C, R, X = _check_chain(chain, X)
    means, covs, log_likelihood = [], [], 0.0
    for t, x in enumerate(X):
        if t > 0:
            mean, cov = A @ mean, A @ cov @ A.T + W
        L, _ = cholesky_with_jitter(C @ cov @ C.T + R, "C P C^T + R")
        log_likelihood += log_density_from_cholesky(x[None], C @ mean, L)[0]
        gain = cho_solve((L, True), C @ cov).T
        mean, cov = mean + gain @ (x - C @ mean), cov - gain @ C @ cov
        cov = (cov + cov.T) / 2
        means.append(mean)
        covs.append(cov)
    return GaussianStates(np.array(means), np.array(covs), float(log_likelihood))


def kalman_smoother(chain, X):
    """Return the Gaussians p(z_t | x_{1:T}) for t = 1..T, and log p(x_{1:T}).

    Backwards from the end of `kalman_filter`, whose log-likelihood is handed on as it is, with
    m = A m_t, P = A P_t A^T + W and J = P_t A^T P^-1: m_t + J (m'_{t+1} - m) and
    P_t + J (P'_{t+1} - P) J^T, where the dash marks what is smoothed.
    Arguments as for `kalman_filter`.

    Book: hidden-markov-models-kalman. Rauch, Tung and Striebel (1965), AIAA Journal 3, 1445-1450.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> kalman_smoother(GaussianChain([0.0], one, one, one, one, one), [[2.0]]).means
    array([[1.]])
    """
    _, _, A, W, _, _, X = _check_chain(chain, X)
    means, covs, log_likelihood = kalman_filter(chain, X)
    for t in range(len(X) - 2, -1, -1):
        ahead = A @ covs[t] @ A.T + W
        L, _ = cholesky_with_jitter(ahead, "A P A^T + W")
        J = cho_solve((L, True), A @ covs[t]).T
        means[t] += J @ (means[t + 1] - A @ means[t])
        covs[t] += J @ (covs[t + 1] - ahead) @ J.T
    return GaussianStates(means, covs, log_likelihood)


def _normalise_rows(counts, old):
    """Return counts divided by their row sums; a row without counts keeps its old value."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1), old)


def fit_markov_chain(z, K, lengths=None):
    """Return the chain that maximises p(z): a_ij = n_ij / sum_j n_ij from transition counts.

    z holds observed states 0..K-1, sequences one after the other, of the given ``lengths``. pi are
    the shares of first states. The row of a state that is never left is not determined by the
    data and is set to 1/K.

    Book: hidden-markov-models-chain-mle.
    """
    check_scalar(K, "K", low=1, integer=True)
    z = _check_states(z, K)
    starts = _starts(check_lengths(lengths, len(z)))
    inside = np.ones(len(z), dtype=bool)
    inside[starts] = False
    codes = (z[:-1] * K + z[1:])[inside[1:]]
    counts = np.bincount(codes, minlength=K * K).reshape(K, K)
    pi = np.bincount(z[starts], minlength=K) / len(starts)
    return MarkovChain(pi, _normalise_rows(counts, 1 / K))


def markov_chain_log_probability(chain, z):
    """Return log p(z_{1:T}) = log pi_{z_1} + sum_{t>1} log a_{z_{t-1} z_t} in nats."""
    z = _check_states(z, len(chain.pi))
    return joint_log_probability(chain.pi, chain.A, np.zeros((len(z), len(chain.pi))), z)


def _starts(lengths):
    """Return the row at which each sequence starts."""
    return np.concatenate([[0], np.cumsum(lengths)[:-1]])


def _draw_rows(P, rows, rng):
    """Draw one index from the distribution P[row] for each row, by inverting its cdf."""
    cdf = np.cumsum(P, axis=1)
    u = rng.random(len(rows)) * cdf[rows, -1]
    return (u[:, None] >= cdf[rows]).sum(axis=1)


def sample(model, T, rng):
    """Draw (X, z): z_1 ~ pi, then x_t ~ e_{z_t} and z_{t+1} ~ a_{z_t .} for t = 1..T.

    X holds symbols, shape (T,), for a categorical emission, rows of shape (T, d) otherwise.

    Book: hidden-markov-models-sampling.
    """
    check_scalar(T, "T", low=1, integer=True)
    check_rng(rng)
    pi, A = _check_model(model.pi, model.A)
    cdf = np.cumsum(np.vstack([pi, A]), axis=1)
    u = rng.random(T)
    z, state = np.empty(T, dtype=int), -1
    for t in range(T):
        row = cdf[state + 1]  # row 0 is pi, row i + 1 is a_i.
        state = z[t] = np.searchsorted(row, u[t] * row[-1], side="right")
    return model.emission.draw(z, rng), z


def expected_counts(model, X, lengths=None):
    """Return the E-step's statistics of sequences in X of the given ``lengths``, under the model.

    These are sum gamma_1(i), sum_{t<T} xi_t(i, j) and the emission's gamma-weighted sums; those of
    two chunks of sequences add up (``add_counts``).
    """
    X = model.emission.check(X)
    lengths = check_lengths(lengths, len(X))
    pi, A = _check_model(model.pi, model.A)
    gamma, transitions, each = _smooth(pi, A, _densities(model.emission, X), lengths)
    return ExpectedCounts(
        gamma[_starts(lengths)].sum(axis=0),
        transitions,
        model.emission.statistics(X, gamma),
        float(each.sum()),
    )


def add_counts(first, second):
    """Return the statistics of two chunks under one model together: every field is a sum."""
    emission = tuple(a + b for a, b in zip(first.emission, second.emission))
    return ExpectedCounts(
        first.start + second.start,
        first.transitions + second.transitions,
        emission,
        first.log_likelihood + second.log_likelihood,
    )


def m_step(model, counts):
    """Return the model that maximises the expected log joint probability, given ExpectedCounts.

    pi_i and a_ij are the expected counts divided by their sums; the emission maximises its own
    term, which ``model.emission.update(counts.emission)`` does. A state without expected visits
    keeps its row of ``model``.

    Book: hidden-markov-models-baum-welch.
    """
    return HMM(
        _normalise_rows(counts.start, model.pi),
        _normalise_rows(counts.transitions, model.A),
        model.emission.update(counts.emission),
    )


def baum_welch(model, X, lengths=None, *, max_iter=200, tol=1e-6, counts=expected_counts):
    """Climb log p(X; theta) by expectation-maximisation from ``model``.

    The E-step counts expected starts, transitions and emissions; the M-step divides them by their
    sums. The log-likelihood never falls, if the variances of ``model`` are not below its floor.

    Book: hidden-markov-models-baum-welch. Baum, Petrie, Soules and Weiss (1970), Annals of
    Mathematical Statistics 41, 164-171.

    Parameters
    ----------
    model : HMM
        theta_0, under which every sequence is possible. A zero in pi, A or a categorical emission
        stays zero.
    X : array of shape (n,) or (n, d)
        Sequences one after the other, of the given ``lengths``.
    max_iter : see ``mllib.core``
    tol : float
        The gain per observation, in nats, that ends the iteration.
    counts : callable (model, X, lengths) -> ExpectedCounts
        The E-step.

    Returns
    -------
    mllib.mixtures_and_em.EMFit
        ``params`` is the fitted HMM, ``trace`` the log-likelihood at the start and after each step.

    Examples
    --------
    >>> import numpy as np
    >>> start = HMM(np.ones(1), np.ones((1, 1)), PoissonEmission(np.array([[1.0]])))
    >>> baum_welch(start, np.array([[2.0], [4.0]])).params.emission.rates.tolist()
    [[3.0]]
    """
    X = model.emission.check(X)
    return _climb(model, lambda theta: counts(theta, X, lengths), max_iter, tol)


def baum_welch_over_chunks(model, chunks, *, max_iter=200, tol=1e-6, workers=1):
    """Return what `baum_welch` finds in all sequences: one map and one sum per iteration.

    ``chunks`` is a sequence of X or (X, lengths), whole sequences each, or a function that returns
    an iterator over them; they are read once per iteration. ``workers``: see ``mllib.core``.
    """
    again = as_passes(chunks)

    def counts(theta):
        task = partial(_count_chunk, model=theta)
        return reduce_chunks(task, again(), workers, merge=add_counts).value

    return _climb(model, counts, max_iter, tol)


def _count_chunk(chunk, model):
    return expected_counts(model, *chunk_parts(chunk, ("X", "lengths"), 1))


def _climb(model, counts, max_iter, tol):
    """Run EM from ``model`` with the E-step ``counts(theta)``."""
    first = counts(model)
    if first.log_likelihood == -np.inf:
        raise ValueError(
            "X is impossible under the starting model (log-likelihood -inf): start from "
            "probabilities that allow every sequence."
        )

    def e_step(theta):
        c = first if theta is model else counts(theta)
        return (theta, c), c.log_likelihood

    n = round(first.start.sum() + first.transitions.sum())  # one for each observation
    options = {"max_iter": max_iter, "tol": tol, "n_samples": n, "name": "Baum-Welch"}
    return em(e_step, lambda statistics: m_step(*statistics), model, **options)


# Many sequences, one after the other ----------------------------------------------------------


class _Densities(NamedTuple):
    """log e_j(x_t) = log_B[row[t], j]: equal symbols share a row."""

    log_B: np.ndarray  # (V, K)
    row: np.ndarray  # (n,) of int
    B: np.ndarray  # exp(log_B - shift), (V, K), the largest 1; above 0 where log_B > -inf
    shift: np.ndarray  # (V,) the largest log density of each row; 0 if all are -inf


def _densities(emission, X):
    """Return log e_j(x_t), one row for each symbol if the emission has symbols."""
    if isinstance(emission, CategoricalEmission):
        V = emission.probs.shape[1]
        table = emission.log_density(np.append(np.arange(V), -1))
        return _table(table, np.where(X < 0, V, X))
    return _table(emission.log_density(X), np.arange(len(X)))


def _table(log_B, row):
    shift = log_B.max(axis=1)
    shift[shift == -np.inf] = 0.0
    B = np.exp(log_B - shift[:, None])
    B[(B < 1e-300) & (log_B > -np.inf)] = 1e-300
    return _Densities(log_B, row, B, shift)


def _filter(pi, A, d, lengths, keep):
    """Return what the scaled forward pass returns; nothing is sure where A is close to zeros."""
    alpha, c, sure = _scaled_forward(pi, A.T, d.B, d.row, np.cumsum(lengths), keep)
    return alpha, c, sure & (not ((A > 0) & (A < 1e-50)).any())


def _scores(pi, A, d, lengths):
    """Return log p(x) of each sequence, from logarithms where plain numbers are not sure."""
    starts, (_, c, sure) = _starts(lengths), _filter(pi, A, d, lengths, False)
    each = np.add.reduceat(np.log(c) + d.shift[d.row], starts)
    for s in np.flatnonzero(~sure):
        log_B = d.log_B[d.row[starts[s] : starts[s] + lengths[s]]]
        each[s] = _log_forward(safe_log(pi), safe_log(A), log_B)[1].sum()
    return each


def _smooth(pi, A, d, lengths):
    """Return gamma (n, K), summed xi (K, K) and log p(x) (S,), as ``posteriors`` on each has them.

    They come from logarithms where plain numbers are not sure.
    """
    starts, (gamma, c, sure) = _starts(lengths), _filter(pi, A, d, lengths, True)
    transitions = A * _scaled_backward(A, d.B, d.row, np.cumsum(lengths), gamma, c, sure)
    each = np.add.reduceat(np.log(c) + d.shift[d.row], starts)
    for s in np.flatnonzero(~sure):
        rows = slice(starts[s], starts[s] + lengths[s])
        gamma[rows], counts, each[s] = _log_smooth(pi, A, d.log_B[d.row[rows]])
        transitions += counts
    return gamma, transitions, each


def _log_smooth(pi, A, log_B, chunk=4096):
    """Return gamma, summed xi and log p(x) of one sequence; xi is held for a chunk of times."""
    f, transitions = forward(pi, A, log_B), np.zeros_like(A)
    if f.log_likelihood == -np.inf:
        return np.zeros_like(log_B), transitions, -np.inf
    message = backward(A, log_B).log_message
    log_A, ahead = safe_log(A), log_B + message
    for t in range(0, len(log_B) - 1, chunk):
        log_xi = f.log_filter[t : t + chunk][: len(log_B) - 1 - t, :, None] + log_A
        xi, _ = log_normalise(log_xi + ahead[t + 1 : t + 1 + chunk, None, :], axis=(1, 2))
        transitions += xi.sum(axis=0)
    return log_normalise(f.log_filter + message)[0], transitions, f.log_likelihood


def _decode(pi, A, d, lengths):
    """Return the best path, shape (n,), and its log p(x, z) for each sequence, shape (S,)."""
    return _best_paths(safe_log(pi), safe_log(A.T), d.log_B, d.row, np.cumsum(lengths))


# Estimators ----------------------------------------------------------------------------------


class _SequenceModel(DensityEstimator):
    """What the three estimators share: Baum-Welch with restarts, decoding and sampling."""

    _fitted = ()  # names of attributes for the first fields of the emission

    def fit(self, X, y=None, lengths=None):
        """Climb log p(X) from ``n_init`` starts; ``lengths`` are those of the sequences in X."""
        begin_fit(self, X)
        K = check_scalar(self.n_components, "n_components", low=1, integer=True)
        rng = random_generator(self.random_state)
        X = check_array(X, min_samples=max(2, K))
        lengths = check_lengths(lengths, len(X))
        rows = self._rows(X, fitting=True)
        starts = [
            HMM(*self._chain(K, rng), self._emission(rows, K, rng)) for _ in range(self.n_init)
        ]
        options = {"max_iter": self.max_iter, "tol": self.tol}
        climb = partial(baum_welch, X=rows, lengths=lengths, **options)
        best = max(map_over(climb, starts, self.workers), key=lambda fit: fit.trace[-1])
        self.n_features_in_, self.model_ = X.shape[1], best.params
        self.startprob_, self.transmat_, emission = best.params
        self.trace_, self.n_iter_, self.converged_ = best.trace, best.n_iter, best.converged
        for name, value in zip(self._fitted, emission):
            setattr(self, name, value)
        return self

    def _chain(self, K, rng):
        """Return pi and A: the caller's values where given, else sticky random transitions."""
        pi, A = self.startprob_init, self.transmat_init
        pi = np.full(K, 1 / K) if pi is None else check_vector(pi, "startprob_init", length=K)
        A = (np.eye(K) + rng.dirichlet(np.ones(K), K)) / 2 if A is None else A
        A = check_distribution(check_square(A, "transmat_init", size=K), "transmat_init")
        return check_distribution(pi, "startprob_init"), A

    def _densities(self, X, lengths):
        X = check_features(self, X)
        lengths = check_lengths(lengths, len(X))
        return _densities(self.model_.emission, self._rows(X)), lengths

    def predict(self, X, lengths=None):
        """Return the most probable path (Viterbi), shape (n,)."""
        return self.decode(X, lengths)[1]

    def predict_proba(self, X, lengths=None):
        """Return gamma, shape (n, K); zero rows for an impossible sequence."""
        densities, lengths = self._densities(X, lengths)
        return _smooth(self.startprob_, self.transmat_, densities, lengths)[0]

    def score(self, X, y=None, lengths=None):
        """Return log p(X) in nats, summed over the sequences; -inf if one is impossible."""
        densities, lengths = self._densities(X, lengths)
        return float(_scores(self.startprob_, self.transmat_, densities, lengths).sum())

    def decode(self, X, lengths=None):
        """Return (max_z log p(X, z) in nats, summed over the sequences; the path, shape (n,))."""
        densities, lengths = self._densities(X, lengths)
        z, scores = _decode(self.startprob_, self.transmat_, densities, lengths)
        return float(scores.sum()), z

    def sample(self, n_samples=1, random_state=None):
        """Return (X, z), one sequence of ``n_samples`` rows and its states."""
        check_fitted(self)
        return sample(self.model_, n_samples, random_generator(random_state))

    def _rows(self, X, fitting=False):
        """Return the observations in X as the emission expects them."""
        return X


class GaussianHMM(_SequenceModel):
    """x_t | z_t = j ~ N(mu_j, Sigma_j), z a Markov chain; maximises log p(X) by Baum-Welch.

    Every variance stays at or above ``min_covar`` times the variance of its feature in the
    training data (times 1 for a constant feature), so that no state collapses onto one point.

    Parameters
    ----------
    n_components : int
        Number of states K.
    covariance_type : {"full", "diag"}
    min_covar : float
        The floor on variances, relative to those of the data, above 0.
    n_init, max_iter, random_state, workers : see ``mllib.core``
    tol : float
        Gain per observation, in nats, that ends an ascent.
    startprob_init, transmat_init, means_init, covars_init : arrays, optional
        Starting values pi (K,), A (K, K), mu (K, d) and Sigma (K, d, d) or (K, d).

    Attributes
    ----------
    startprob_, transmat_, means_, covars_ : arrays
    trace_ : log-likelihood in nats at the start and after each iteration
    n_iter_, converged_, model_

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([0.0, 5.0, 0.1, 5.1], 5)[:, None]
    >>> GaussianHMM(n_components=2, random_state=0).fit(X).means_.round(2).ravel().tolist()
    [0.05, 5.05]
    """

    _fitted = ("means_", "covars_")

    def __init__(
        self,
        n_components=2,
        *,
        covariance_type="full",
        min_covar=1e-6,
        n_init=1,
        max_iter=200,
        tol=1e-6,
        startprob_init=None,
        transmat_init=None,
        means_init=None,
        covars_init=None,
        random_state=None,
        workers=1,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.min_covar = min_covar
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.startprob_init = startprob_init
        self.transmat_init = transmat_init
        self.means_init = means_init
        self.covars_init = covars_init
        self.random_state = random_state
        self.workers = workers

    def _emission(self, X, K, rng):
        check_choice(self.covariance_type, "covariance_type", ("full", "diag"))
        check_scalar(self.min_covar, "min_covar", low=0, open_low=True)
        d, diagonal = X.shape[1], self.covariance_type == "diag"
        covars = _check_init(self.covars_init, "covars", (K, d) if diagonal else (K, d, d))
        if covars is not None:
            _check_covariances(covars)
        given = {"means": _check_init(self.means_init, "means", (K, d)), "covariances": covars}
        options = {"diagonal": diagonal, "min_covar": self.min_covar}
        return GaussianEmission.start(X, K, rng, **options, **given)


def _check_init(value, name, shape):
    """Return a starting value as finite float64 of the given shape; None stays None."""
    if value is None:
        return None
    try:
        value = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        value = np.array(np.nan)  # words or rows of unequal length: refused below
    if value.shape != shape or not np.isfinite(value).all():
        raise ValueError(f"{name}_init must hold finite numbers in shape {shape}.")
    return value


def _check_covariances(covars):
    """Raise unless every covariance is positive definite (every variance positive)."""
    if covars.ndim == 2:
        if (covars <= 0).any():
            raise ValueError("covars_init must hold variances above 0.")
        return
    for S in covars:
        cholesky_with_jitter(check_square(S, "covars_init", symmetric=True), "covars_init")


class PoissonHMM(_SequenceModel):
    """x_t | z_t = j ~ Poisson(l_j), z a Markov chain; maximises log p(X) by Baum-Welch.

    Several columns are independent given the state. Parameters and attributes are those of
    `GaussianHMM`, but for ``rates_init`` and ``rates_``: expected counts for one time step, (K, d).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([1, 20, 1, 20], 6)[:, None]
    >>> PoissonHMM(n_components=2, random_state=0).fit(X).rates_.round(2).ravel().tolist()
    [1.0, 20.0]
    """

    _fitted = ("rates_",)

    def __init__(
        self,
        n_components=2,
        *,
        n_init=1,
        max_iter=200,
        tol=1e-6,
        startprob_init=None,
        transmat_init=None,
        rates_init=None,
        random_state=None,
        workers=1,
    ):
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.startprob_init = startprob_init
        self.transmat_init = transmat_init
        self.rates_init = rates_init
        self.random_state = random_state
        self.workers = workers

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = tags.input_tags.categorical = True
        return tags

    def _rows(self, X, fitting=False):
        return _check_counts(X)

    def _emission(self, X, K, rng):
        rates = _check_init(self.rates_init, "rates", (K, X.shape[1]))
        if rates is None:
            return PoissonEmission.start(X, K, rng)
        if (rates < 0).any():
            raise ValueError("rates_init must not be negative.")
        return PoissonEmission(rates)


class CategoricalHMM(_SequenceModel):
    """p(x_t = v | z_t = j) = e_j(v), z a Markov chain; maximises log p(X) by Baum-Welch.

    A symbol is a distinct row of X. Parameters and attributes not listed are those of
    `GaussianHMM`.

    Parameters
    ----------
    categories : array of shape (V,) or (V, d), optional
        The alphabet, by default that of the training data; column v of ``emissionprob_init`` and
        ``emissionprob_``, both (K, V), belongs to its v-th entry. It is kept as ``categories_``.
    unseen : {"error", "missing"}
        What a symbol outside the alphabet means after ``fit``: a mistake, or a missing
        observation, which says nothing about the state.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([1, 1, 2, 1, 3, 3, 3, 4, 3])[:, None]
    >>> CategoricalHMM(n_components=2, random_state=1).fit(X).categories_.ravel().tolist()
    [1.0, 2.0, 3.0, 4.0]
    """

    _fitted = ("emissionprob_",)

    def __init__(
        self,
        n_components=2,
        *,
        categories=None,
        unseen="error",
        n_init=1,
        max_iter=200,
        tol=1e-6,
        startprob_init=None,
        transmat_init=None,
        emissionprob_init=None,
        random_state=None,
        workers=1,
    ):
        self.n_components = n_components
        self.categories = categories
        self.unseen = unseen
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.startprob_init = startprob_init
        self.transmat_init = transmat_init
        self.emissionprob_init = emissionprob_init
        self.random_state = random_state
        self.workers = workers

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    def _rows(self, X, fitting=False):
        if fitting:
            self._set_alphabet(X)
        x = _symbols(X, self.categories_)
        if (fitting or self.unseen == "error") and (x < 0).any():
            row = X[np.argmin(x)].tolist()
            raise ValueError(
                f"X holds {row if len(row) > 1 else row[0]}, which is not among the "
                f"{len(self.categories_)} symbols known: list it in categories, or set "
                f"unseen='missing'."
            )
        return x

    def _set_alphabet(self, X):
        check_choice(self.unseen, "unseen", ("error", "missing"))
        if self.categories is None:
            self.categories_ = np.unique(X, axis=0)
            return
        rows = self.categories
        rows = np.reshape(rows, (-1, 1)) if np.ndim(rows) < 2 else rows
        self.categories_ = check_array(rows, "categories")
        if self.categories_.shape[1] != X.shape[1]:
            raise ValueError(f"categories must have {X.shape[1]} columns, like X.")
        if len(np.unique(self.categories_, axis=0)) < len(self.categories_):
            raise ValueError("categories must be distinct: drop the repeated ones.")

    def _emission(self, x, K, rng):
        V = len(self.categories_)
        e = _check_init(self.emissionprob_init, "emissionprob", (K, V))
        if e is None:
            return CategoricalEmission.start(x, K, V, rng)
        return CategoricalEmission(check_distribution(e, "emissionprob_init"))

    def sample(self, n_samples=1, random_state=None):
        """Return (X, z), one sequence of ``n_samples`` rows and its states."""
        x, z = super().sample(n_samples, random_state)
        return self.categories_[x], z


def _symbols(X, categories):
    """Return the index of each row of X in the distinct rows ``categories``, -1 if absent."""
    if X.shape[1] == 1:
        low, V = categories[0, 0], len(categories)
        if X.min() >= low and X.max() < low + V and (categories[:, 0] == low + np.arange(V)).all():
            x = (X[:, 0] - low).astype(int)  # whole numbers without a gap: quick to find
            if (x + low == X[:, 0]).all():
                return x
        order = np.argsort(categories[:, 0])
        known = categories[order, 0]
        place = np.minimum(np.searchsorted(known, X[:, 0]), len(known) - 1)
        return np.where(known[place] == X[:, 0], order[place], -1)
    _, code = np.unique(np.concatenate([categories, X]), axis=0, return_inverse=True)
    table = np.full(len(code), -1)
    table[code[: len(categories)]] = np.arange(len(categories))
    return table[code[len(categories) :]]
