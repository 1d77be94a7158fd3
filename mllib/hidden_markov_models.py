"""Hidden Markov models: likelihood, decoding, learning and sampling of state sequences.

Chapter: hidden-markov-models. Reference: Rabiner (1989), Proceedings of the IEEE 77, 257-286.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from mllib.base import (
    DensityEstimator,
    check_array,
    check_choice,
    check_distribution,
    check_features,
    check_fitted,
    check_lengths,
    check_rng,
    check_scalar,
    check_square,
    check_vector,
    random_generator,
)
from mllib.mixtures_and_em import constrained_covariances, em
from mllib.numerics import (
    cholesky_with_jitter,
    gaussian_log_density,
    log_normalise,
    log_sum_exp,
    safe_log,
    squared_distances,
)

__all__ = [
    "HMM",
    "Backward",
    "CategoricalEmission",
    "CategoricalHMM",
    "ExpectedCounts",
    "Forward",
    "GaussianEmission",
    "GaussianHMM",
    "MarkovChain",
    "Path",
    "PoissonEmission",
    "PoissonHMM",
    "Posteriors",
    "add_counts",
    "backward",
    "baum_welch",
    "expected_counts",
    "fit_markov_chain",
    "forward",
    "joint_log_probability",
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

    log_message: np.ndarray  #: log beta_t(j) minus its log-sum over j, shape (T, K)
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

    def check(self, x):
        """Return symbols as an array of whole numbers -1..V-1, or say what is wrong with them."""
        x, V = np.asarray(x), self.probs.shape[1]
        if x.ndim != 1 or x.size == 0 or x.dtype.kind not in "iu" or x.min() < -1 or x.max() >= V:
            raise ValueError(
                f"X must be a non-empty vector of symbols, whole numbers from 0 to {V - 1}, or -1 "
                f"for a missing one."
            )
        return x

    def log_density(self, x):
        """Return log e_j(x_t), shape (T, K), for symbols ``x`` of shape (T,)."""
        table = np.append(safe_log(self.probs).T, np.zeros((1, len(self.probs))), axis=0)
        return table[x]

    def statistics(self, x, gamma):
        """Return (n,) with n_jv = sum_t gamma_t(j) [x_t = v], shape (K, V)."""
        V = self.probs.shape[1]
        seen = x >= 0
        return (np.array([np.bincount(x[seen], g, minlength=V) for g in gamma[seen].T]),)

    def update(self, statistics):
        """Return the maximiser e_j(v) = n_jv / sum_v n_jv; an empty state keeps its row."""
        return CategoricalEmission(_normalise_rows(statistics[0], self.probs))

    def draw(self, z, rng):
        """Return one symbol for each state in ``z``, shape (T,)."""
        return _draw_rows(self.probs, z, rng)


class PoissonEmission(NamedTuple):
    """e_j(x) = prod_f exp(-l_jf) l_jf^{x_f} / x_f!, the features independent given the state."""

    rates: np.ndarray  #: l_jf >= 0, expected counts, shape (K, d)

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
        return rng.poisson(self.rates[z]).astype(float)


class GaussianEmission(NamedTuple):
    """e_j(x) = N(x; mu_j, Sigma_j), with every variance at least ``floor``."""

    means: np.ndarray  #: mu_j, shape (K, d)
    covariances: np.ndarray  #: Sigma_j, shape (K, d, d), or its diagonal, shape (K, d)
    floor: np.ndarray  #: the smallest variance allowed for each feature, shape (d,), above 0

    def check(self, X):
        """Return rows as float64 of shape (T, d), or say what is wrong with them."""
        return _rows_of(X, self.means.shape[1])

    def log_density(self, X):
        """Return log e_j(x_t) in nats, shape (T, K), for rows ``X`` of shape (T, d)."""
        columns = []
        for mean, covariance in zip(self.means, self.covariances):
            if covariance.ndim == 1:
                squares = (X - mean) ** 2 @ (1 / covariance)
                columns.append(-0.5 * (squares + np.log(2 * np.pi * covariance).sum()))
            else:
                L, _ = cholesky_with_jitter(covariance, "the covariance of a state")
                columns.append(gaussian_log_density(X, mean, L))
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
        raise ValueError("Negative values in data passed to PoissonHMM: X must hold counts.")
    if (np.floor(X) != X).any():
        raise ValueError("X must hold whole numbers (counts), got fractions: round them first.")
    return X


def _log_step(a):
    """Return (a minus its log-sum, the log-sum); a row of -inf stays -inf."""
    total = log_sum_exp(a)
    return a - (total if np.isfinite(total) else 0.0), total


def forward(pi, A, log_B):
    """Run the forward recursion, normalised at each step.

    alpha_1(j) = pi_j e_j(x_1) and alpha_t(j) = e_j(x_t) sum_i alpha_{t-1}(i) a_ij, in logarithms:
    nothing underflows, however long the sequence, and structural zeros stay exact.

    Parameters
    ----------
    pi : array of shape (K,)
    A : array of shape (K, K)
        Rows sum to one.
    log_B : array of shape (T, K)
        log e_j(x_t) in nats; -inf where state j cannot emit x_t.

    Returns
    -------
    Forward

    Raises
    ------
    ValueError
        If pi or a row of A is not a distribution, or log_B has no rows, NaN or +inf.

    References
    ----------
    hidden-markov-models-forward; Rabiner (1989), pp. 262-263 and 272-273.

    Examples
    --------
    >>> import numpy as np
    >>> pi, A = [0.8, 0.2], [[0.6, 0.4], [0.5, 0.5]]
    >>> B = np.array([[0.4, 0.1], [0.2, 0.5], [0.4, 0.1]])  # ice creams 3, 1, 3
    >>> np.exp(forward(pi, A, np.log(B)).log_alpha[:2]).round(6).tolist()
    [[0.32, 0.02], [0.0404, 0.069]]
    """
    pi, A, log_B = _check_model(pi, A, log_B)
    log_A = safe_log(A)
    log_filter, log_scale = np.empty_like(log_B), np.empty(len(log_B))
    log_filter[0], log_scale[0] = _log_step(safe_log(pi) + log_B[0])
    for t in range(1, len(log_B)):
        predicted = log_sum_exp(log_filter[t - 1][:, None] + log_A, axis=0)
        log_filter[t], log_scale[t] = _log_step(log_B[t] + predicted)
    return Forward(log_filter, log_scale, float(log_scale.sum()))


def backward(A, log_B):
    """Run the backward recursion, normalised at each step.

    beta_T(i) = 1 and beta_t(i) = sum_j a_ij e_j(x_{t+1}) beta_{t+1}(j), in logarithms.

    Parameters
    ----------
    A : array of shape (K, K)
    log_B : array of shape (T, K)
        log e_j(x_t) in nats.

    Returns
    -------
    Backward

    References
    ----------
    hidden-markov-models-backward; Rabiner (1989), p. 263.

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[0.4, 0.1], [0.2, 0.5], [0.4, 0.1]])
    >>> np.exp(backward([[0.6, 0.4], [0.5, 0.5]], np.log(B)).log_beta[1]).round(6).tolist()
    [0.28, 0.25]
    """
    A = check_square(A, "A")
    _, A, log_B = _check_model(np.full(len(A), 1 / len(A)), A, log_B)
    log_A = safe_log(A)
    log_message, log_scale = np.zeros_like(log_B), np.zeros(len(log_B))
    log_message[-1], log_scale[-1] = _log_step(np.zeros(len(A)))
    for t in range(len(log_B) - 2, -1, -1):
        ahead = log_sum_exp(log_A + log_B[t + 1] + log_message[t + 1], axis=1)
        log_message[t], log_scale[t] = _log_step(ahead)
    return Backward(log_message, log_scale)


def posteriors(pi, A, log_B):
    """Return gamma_t(i) and xi_t(i, j), the posteriors of states and of transitions.

    gamma_t(i) = alpha_t(i) beta_t(i) / p(x) and
    xi_t(i, j) = alpha_t(i) a_ij e_j(x_{t+1}) beta_{t+1}(j) / p(x).

    Parameters
    ----------
    pi : array of shape (K,)
    A : array of shape (K, K)
    log_B : array of shape (T, K)

    Returns
    -------
    Posteriors
        gamma and xi are zero if the sequence is impossible: it has no posterior.

    References
    ----------
    hidden-markov-models-posteriors; Rabiner (1989), pp. 263-264.

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[0.9, 0.2], [0.9, 0.2]])  # an umbrella on both days
    >>> posteriors([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], np.log(B)).gamma[:, 0].round(3).tolist()
    [0.883, 0.883]
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


def viterbi(pi, A, log_B):
    """Return a most probable path, argmax_z p(z_{1:T}, x_{1:T}), by dynamic programming.

    v_1(j) = pi_j e_j(x_1), v_t(j) = e_j(x_t) max_i v_{t-1}(i) a_ij with the back-pointer
    pa_t(j) = argmax_i v_{t-1}(i) a_ij; the path is read backwards from argmax_j v_T(j).

    Parameters
    ----------
    pi : array of shape (K,)
    A : array of shape (K, K)
    log_B : array of shape (T, K)

    Returns
    -------
    Path
        Ties go to the lowest index; an impossible sequence has log probability -inf.

    References
    ----------
    hidden-markov-models-viterbi; Viterbi (1967), IEEE Trans. Information Theory 13, 260-269.

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[0.4, 0.1], [0.2, 0.5], [0.4, 0.1]])
    >>> viterbi([0.8, 0.2], [[0.6, 0.4], [0.5, 0.5]], np.log(B)).states.tolist()
    [0, 1, 0]
    """
    pi, A, log_B = _check_model(pi, A, log_B)
    T, K = log_B.shape
    log_A, pointer = safe_log(A), np.empty((T, K), dtype=int)
    v = safe_log(pi) + log_B[0]
    for t in range(1, T):
        scores = v[:, None] + log_A
        pointer[t] = scores.argmax(axis=0)
        v = log_B[t] + scores.max(axis=0)
    states = np.empty(T, dtype=int)
    states[-1] = v.argmax()
    for t in range(T - 1, 0, -1):
        states[t - 1] = pointer[t, states[t]]
    return Path(states, float(v.max()))


def joint_log_probability(pi, A, log_B, z):
    """Return log p(x_{1:T}, z_{1:T}) = log pi_{z_1} + sum_{t>1} log a_{z_{t-1} z_t} + sum_t log e.

    Parameters
    ----------
    pi : array of shape (K,)
    A : array of shape (K, K)
    log_B : array of shape (T, K)
    z : array of int of shape (T,)
        A path of states 0..K-1.

    References
    ----------
    hidden-markov-models-joint

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[0.4, 0.1], [0.2, 0.5], [0.4, 0.1]])
    >>> pi, A = [0.8, 0.2], [[0.6, 0.4], [0.5, 0.5]]
    >>> round(float(np.exp(joint_log_probability(pi, A, np.log(B), [0, 1, 0]))), 6)
    0.0128
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


def _normalise_rows(counts, old):
    """Return counts divided by their row sums; a row without counts keeps its old value."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1), old)


def fit_markov_chain(z, K, lengths=None):
    """Return the chain that maximises p(z): a_ij = n_ij / sum_j n_ij from transition counts.

    Parameters
    ----------
    z : array of int of shape (n,)
        Observed states 0..K-1, sequences one after the other.
    K : int
        Number of states.
    lengths : list of int, optional
        Lengths of the sequences; one sequence if absent.

    Returns
    -------
    MarkovChain
        pi holds the shares of first states. The row of a state that is never left is not
        determined by the data and is set to 1/K.

    References
    ----------
    hidden-markov-models-markov-chain

    Examples
    --------
    >>> fit_markov_chain([0, 0, 1, 0, 0], K=2).A.round(4).tolist()
    [[0.6667, 0.3333], [1.0, 0.0]]
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
    """Return log p(z_{1:T}) = log pi_{z_1} + sum_{t>1} log a_{z_{t-1} z_t} in nats.

    Parameters
    ----------
    chain : MarkovChain
    z : array of int of shape (T,)

    Examples
    --------
    >>> import numpy as np
    >>> chain = MarkovChain(np.array([1.0, 0.0]), np.array([[0.9, 0.1], [0.5, 0.5]]))
    >>> round(float(np.exp(markov_chain_log_probability(chain, [0, 0, 1]))), 4)
    0.09
    """
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

    Parameters
    ----------
    model : HMM
    T : int
        Length of the sequence.
    rng : numpy.random.Generator

    Returns
    -------
    X : array
        Symbols of shape (T,) for a categorical emission, rows of shape (T, d) otherwise.
    z : array of int of shape (T,)

    References
    ----------
    hidden-markov-models-sampling

    Examples
    --------
    >>> import numpy as np
    >>> e = CategoricalEmission(np.eye(2))
    >>> alternate = HMM(np.array([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 0.0]]), e)
    >>> sample(alternate, 4, np.random.default_rng(0))[0].tolist()
    [0, 1, 0, 1]
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
    """Return the E-step's statistics of a chunk of sequences under the current model.

    sum gamma_1(i), sum_{t<T} xi_t(i, j) and the emission's gamma-weighted sums. Chunks may be
    processed anywhere: their statistics add up (``add_counts``).

    Parameters
    ----------
    model : HMM
    X : array of shape (n,) or (n, d)
        Observations, sequences one after the other, as ``model.emission`` expects them.
    lengths : list of int, optional

    Returns
    -------
    ExpectedCounts

    References
    ----------
    hidden-markov-models-baum-welch

    Examples
    --------
    >>> import numpy as np
    >>> e = CategoricalEmission(np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> model = HMM(np.array([0.5, 0.5]), np.array([[0.7, 0.3], [0.3, 0.7]]), e)
    >>> round(float(expected_counts(model, np.array([0, 0, 1, 0])).transitions.sum()), 10)
    3.0
    """
    X = model.emission.check(X)
    lengths = check_lengths(lengths, len(X))
    log_B = model.emission.log_density(X)
    parts = [
        posteriors(model.pi, model.A, log_B[a : a + n]) for a, n in zip(_starts(lengths), lengths)
    ]
    gamma = np.concatenate([p.gamma for p in parts])
    return ExpectedCounts(
        sum(p.gamma[0] for p in parts),
        sum(p.xi.sum(axis=0) for p in parts),
        model.emission.statistics(X, gamma),
        float(sum(p.log_likelihood for p in parts)),
    )


def add_counts(first, second):
    """Return the statistics of two chunks together: every field is a sum.

    Parameters
    ----------
    first, second : ExpectedCounts
        Statistics under the same model.
    """
    emission = tuple(a + b for a, b in zip(first.emission, second.emission))
    return ExpectedCounts(
        first.start + second.start,
        first.transitions + second.transitions,
        emission,
        first.log_likelihood + second.log_likelihood,
    )


def m_step(model, counts):
    """Return the model that maximises the expected log joint probability, given the counts.

    pi_i and a_ij are the expected counts divided by their sums; the emission maximises its own
    term. A state without expected visits keeps its row.

    Parameters
    ----------
    model : HMM
        The current model, whose rows are kept where nothing was counted.
    counts : ExpectedCounts

    References
    ----------
    hidden-markov-models-baum-welch
    """
    return HMM(
        _normalise_rows(counts.start, model.pi),
        _normalise_rows(counts.transitions, model.A),
        model.emission.update(counts.emission),
    )


def baum_welch(model, X, lengths=None, *, max_iter=200, tol=1e-6, counts=expected_counts):
    """Climb log p(X; theta) by expectation-maximisation from ``model``.

    The E-step counts expected starts, transitions and emissions; the M-step divides them by their
    sums. The log-likelihood never falls.

    Parameters
    ----------
    model : HMM
        theta_0. A zero in pi, A or a categorical emission stays zero.
    X : array of shape (n,) or (n, d)
        Sequences one after the other.
    lengths : list of int, optional
    max_iter : int
    tol : float
        The gain per observation, in nats, below which the iteration stops.
    counts : callable (model, X, lengths) -> ExpectedCounts
        The E-step. Pass one that maps over chunks and adds with ``add_counts`` to use several
        machines.

    Returns
    -------
    mllib.mixtures_and_em.EMFit
        ``params`` is the fitted HMM, ``trace`` the log-likelihood at the start and after each
        iteration.

    Raises
    ------
    ValueError
        If X is not what the emission expects, or impossible under the starting model.

    References
    ----------
    hidden-markov-models-baum-welch; Baum, Petrie, Soules and Weiss (1970), Annals of Mathematical
    Statistics 41, 164-171.

    Examples
    --------
    >>> import numpy as np
    >>> start = HMM(np.ones(1), np.ones((1, 1)), PoissonEmission(np.array([[1.0]])))
    >>> fit = baum_welch(start, np.array([[2.0], [4.0]]))
    >>> fit.params.emission.rates.tolist()
    [[3.0]]
    """
    X = model.emission.check(X)

    def e_step(theta):
        c = counts(theta, X, lengths)
        if c.log_likelihood == -np.inf:
            raise ValueError(
                "X is impossible under the starting model (log-likelihood -inf): start from "
                "probabilities that allow every sequence."
            )
        return (theta, c), c.log_likelihood

    return em(
        e_step,
        lambda statistics: m_step(*statistics),
        model,
        max_iter=max_iter,
        tol=tol,
        n_samples=len(X),
        name="Baum-Welch",
    )


# Fast variants: many pieces of sequences side by side ----------------------------------------
#
# A long sequence is cut into pieces that advance together, one numpy call for all of them. A piece
# that does not start its sequence starts from a guess. Then the true message is carried across each
# seam and the pieces run again until they meet what the guess gave. Ratios of messages never grow
# under a nonnegative recursion, so from that point on the two agree to the same relative accuracy.
# Where a chain forgets too slowly for that, and where a sequence is so short that guessing does not
# pay, the exact K x K transfer of each piece replaces the guess.
#
# The recursion is the same in both directions: message = weight * prediction, prediction =
# M message, with M = A^T forwards and M = A backwards, where message t is b_t(j) = e_j(x_t)
# beta_t(j). It runs in plain arithmetic if A is positive, since an entry that underflows is then
# below 1e-180 of each of its successors, and in logarithms if A has structural zeros.

_POSITIVE = 1e-100  # entries of A above this allow plain arithmetic
_MEET = 1e-13  # relative difference of two messages that count as equal
_SHORT = 2**12  # rows up to which transfers are cheaper than guesses
_MEDIUM = 2**16  # rows up to which a few numbers for each of them are kept rather than made again


class _Coded(NamedTuple):
    """Rows of log densities of which many are equal: row t is table[x[t]]."""

    table: np.ndarray  # (V, K)
    x: np.ndarray  # (n,) of int


def _densities(emission, X):
    """Return log e_j(x_t) as an array of shape (n, K), or coded where x_t is a symbol."""
    if isinstance(emission, CategoricalEmission):
        symbols = np.append(np.arange(emission.probs.shape[1]), -1)
        return _Coded(emission.log_density(symbols), X)
    return emission.log_density(X)


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces of sequences, longest first, stored time by time in packed columns."""

    start: np.ndarray  # (P,) row at which the piece starts
    size: np.ndarray  # (P,) number of rows, decreasing
    before: np.ndarray  # (P,) the piece before it in the same sequence, -1 for none
    after: np.ndarray  # (P,) the piece after it in the same sequence, -1 for none
    active: list  # (L + 1,) number of pieces longer than t
    offset: list  # (L,) first packed column of time t
    rows: np.ndarray  # (n,) the row of each packed column

    @cached_property
    def ends(self):
        """The packed column at which each piece ends, shape (P,)."""
        return np.asarray(self.offset)[self.size - 1] + np.arange(len(self.size))

    @cached_property
    def heads(self):
        """The pieces that start a sequence, in the order of the sequences."""
        first = np.flatnonzero(self.before < 0)
        return first[np.argsort(self.start[first])]

    @cached_property
    def sequence(self):
        """(P,) the sequence to which each piece belongs."""
        return np.searchsorted(self.start[self.heads], self.start, side="right") - 1

    @cached_property
    def linked(self):
        """Forwards and backwards: the pieces that continue another one, and that other one."""
        pairs = []
        for source in (self.before, self.after):
            pieces = np.flatnonzero(source >= 0)
            pairs.append((pieces, source[pieces]))
        return pairs

    @cached_property
    def chains(self):
        """Forwards and backwards: pieces in order of time, and what each of them continues."""
        order = np.argsort(self.start).tolist()
        return (order, self.before.tolist()), (order[::-1], self.after.tolist())

    @cached_property
    def stretches(self):
        """Stretches of times (first, past the last) with equally many pieces, last one first.

        A stretch has about 4096 columns: what is computed for it stays in the cache.
        """
        found, past = [], len(self.offset)
        for t in range(past - 1, -1, -1):
            m = self.active[t]
            if t == 0 or self.active[t - 1] != m or (past - t + 1) * m > 4096:
                found.append((t, past))
                past = t
        return found


def _cut(lengths):
    """Cut sequences into pieces of nearly equal size, of the order of the square root of n.

    Little data are often cut again and again, by the iterations of Baum-Welch: this is remembered.
    """
    n = int(lengths.sum())
    L = max(2, int(0.5 * np.sqrt(n))) if n <= _SHORT else max(64, int(0.36 * np.sqrt(n)))
    return _remembered_cut(tuple(lengths.tolist()), L) if n <= _MEDIUM else _cut_at(lengths, L)


@lru_cache(maxsize=8)
def _remembered_cut(lengths, L):
    return _cut_at(np.array(lengths), L)


def _cut_at(lengths, L):
    """Cut sequences of more than 2 L rows into pieces of at most L."""
    n = int(lengths.sum())
    count = np.where(lengths <= 2 * L, 1, -(-lengths // L))
    P = int(count.sum())
    sequence = np.repeat(np.arange(len(lengths)), count)
    within = np.arange(P) - np.repeat(np.cumsum(count) - count, count)
    small, longer = lengths // count, lengths % count
    size = small[sequence] + (within < longer[sequence])
    start = np.cumsum(size) - size
    order = np.argsort(-size, kind="stable")
    rank = np.empty(P, dtype=int)
    rank[order] = np.arange(P)
    before = np.where(within > 0, rank[np.arange(P) - 1], -1)[order]
    after = np.full(P, -1)
    after[before[before >= 0]] = np.flatnonzero(before >= 0)
    start, size = start[order], size[order]
    active = np.searchsorted(-size, -np.arange(size[0]), side="left")
    offset = _starts(active)
    rows = np.empty(n, dtype=int)
    for t, (o, m) in enumerate(zip(offset.tolist(), active.tolist())):
        np.add(start[:m], t, out=rows[o : o + m])
    return _Pieces(start, size, before, after, [*active.tolist(), 0], offset.tolist(), rows)


def _unpack(V, p):
    """Return packed columns (K, n) as rows (n, K)."""
    out = np.empty(V.shape[::-1])
    out[p.rows] = V.T
    return out


class _Weights:
    """e_j(x_t) divided by its largest entry over j, for the packed columns of one time."""

    def __init__(self, first, table, codes):
        self.first, self.table, self.codes = first, table, codes

    def at(self, o, m):
        """Return the weights (K, m) of the columns o, ..., o + m - 1."""
        if o == 0:
            return self.first  # pi takes part
        if self.codes is None:
            return self.table[:, o : o + m]
        return self.table.take(self.codes[o : o + m], axis=1)


class _SumProduct:
    """Messages in plain arithmetic, advanced by the positive matrix M."""

    neutral = 1.0
    weigh, divide = np.multiply, np.divide

    def __init__(self, M):
        self.M, self.unit = np.ascontiguousarray(M), np.eye(len(M))
        # a step shrinks a message at most by the smallest entry: divide before it gets small
        self.every = max(1, min(8, int(120 / max(1.0, -np.log10(M.min())))))

    def predict(self, a, out=None):
        if out is None or out.flags.c_contiguous:
            return self.M.dot(a, out=out)
        return np.matmul(self.M, a, out=out)  # slower for little arrays

    def size(self, a, axis=0):
        return np.add.reduce(a, axis=axis)

    def log(self, a):
        return np.log(a)

    def normalised(self, a):
        return a / a.sum(axis=0)

    def log_total(self, a):
        return np.log(a.sum(axis=0))

    def apply(self, T, u):
        return T.dot(u)

    def meet(self, new, old):
        return (np.abs(new - old) <= _MEET * new + 1e-250).all(axis=0)


class _LogSum:
    """Logarithmic messages; -inf entries are structural zeros."""

    neutral, every = 0.0, 8
    weigh, divide = np.add, np.subtract

    def __init__(self, M):
        self.M, self.unit = safe_log(M), safe_log(np.eye(len(M)))
        self.columns = np.ascontiguousarray(self.M.T)[:, :, None]

    def predict(self, a, out=None):
        new = log_sum_exp(self.columns + a[:, None, :], axis=0)
        return new if out is None else np.copyto(out, new)

    def size(self, a, axis=0):
        # finite, so that nothing is -inf - -inf
        return np.maximum.reduce(a, axis=axis, initial=-1e300)

    def log(self, a):
        return a

    def normalised(self, a):
        return a - self.size(a)

    def log_total(self, a):
        return log_sum_exp(a, axis=0)

    def apply(self, T, u):
        return log_sum_exp(T + u, axis=1)

    def meet(self, new, old):
        with np.errstate(invalid="ignore"):
            return ((np.abs(new - old) <= _MEET) | (new == old)).all(axis=0)


class _LogMax(_LogSum):
    """As ``_LogSum`` with the maximum in place of the sum."""

    def predict(self, a, out=None):
        return np.maximum.reduce(self.columns + a[:, None, :], axis=0, out=out)

    def apply(self, T, u):
        return np.maximum.reduce(T + u, axis=1)

    def log_total(self, a):
        return a.max(axis=0)


class _Trail:
    """What a sweep leaves behind; a second sweep overwrites what it changes."""

    def __init__(self, ring, K, p, keep):
        L, P = len(p.offset), len(p.start)
        self.marks = np.empty((-(-L // ring.every), K, P))  # messages every few steps, of size 1
        self.scale = np.full(self.marks[:, 0].shape, ring.neutral)  # what was divided out there
        self.end = np.empty((K, P))  # last message of each piece
        self.out = np.empty((K, len(p.rows))) if keep else None  # all messages, packed


def _sweep(ring, u, W, p, steps, trail, changed=None):
    """Advance all pieces together from the predictions ``u`` (K, P), in place.

    With ``changed`` (the number of leading pieces that start from another prediction than last
    time) the sweep ends as soon as the messages meet the marks of last time. Return the number
    of pieces that were then left as they were, and the number of steps made.
    """
    P, every, marks, out = u.shape[1], ring.every, trail.marks, trail.out
    weigh, predict, at, scratch = ring.weigh, ring.predict, W.at, np.empty_like(u)
    for count, t in enumerate(steps):
        m, o, rest = p.active[t], p.offset[t], p.active[t + 1]
        a, new = (u, scratch) if m == P else (u[:, :m], scratch[:, :m])
        if out is not None:
            new = out[:, o : o + m]
        weigh(a, at(o, m), out=new)
        if t % every == 0:
            size, mark = ring.size(new), marks[t // every, :, :m]
            ring.divide(new, size, out=new)
            met = changed is not None and m >= changed and ring.meet(new, mark).all()
            mark[...], trail.scale[t // every, :m] = new, size
            if met:
                return m, count + 1
        if rest < m:
            trail.end[:, rest:m] = new[:, rest:]
        predict(new, a)
    return 0, len(steps)


def _run(ring, W, p, start=None, backwards=False, keep=True):
    """Return the exact messages as (trail, total, reach), or None if guesses did not lead to them.

    ``start`` holds the true prediction (K, P) for each piece; without it they are guessed and
    repaired. ``total`` is the logarithm of what was divided out of each piece, ``reach`` the number
    of steps after which the guesses no longer mattered.
    """
    K, L, (linked, source) = len(ring.M), len(p.offset), p.linked[backwards]
    steps, trail = range(L - 1, -1, -1) if backwards else range(L), _Trail(ring, K, p, keep)
    u = np.full((K, len(p.start)), ring.neutral) if start is None else start.copy()
    _sweep(ring, u, W, p, steps, trail)
    reach = 0
    if start is None and len(linked):
        start = np.full_like(u, ring.neutral)
        start[:, linked] = ring.normalised(u[:, source])
        again = start.copy()
        # backwards, short pieces join late: all that changed must have joined before the end
        changed = linked.max() + 1 if backwards else 0
        kept, reach = _sweep(ring, again, W, p, steps, trail, changed)
        if not (backwards and kept):
            u[:, kept:] = again[:, kept:]
        if not ring.meet(ring.normalised(u[:, source]), start[:, linked]).all():
            return None
    # the last message of a sequence counts whole; other pieces hand their prediction over
    total = ring.log_total(trail.end)
    total[source] = ring.log(ring.size(u[:, source]))
    return trail, total + ring.log(trail.scale).sum(axis=0), reach


def _seams(ring, back, W, p):
    """Return the true predictions (K, P) at the seams, forwards and, given ``back``, backwards.

    The transfer T[j, i] of a piece leads from prediction i at its start to message j at its end:
    K times as many columns as messages have, otherwise the same sweep.
    """
    K, P = len(ring.M), len(p.start)
    u = np.repeat(ring.unit[:, :, None], P, axis=2)
    T = np.empty_like(u)
    flat = T.reshape(K, -1), u.reshape(K, -1)
    for t, (m, o) in enumerate(zip(p.active, p.offset)):
        a, old = (T, u) if m == P else (T[:, :, :m], u[:, :, :m])
        ring.weigh(old, W.at(o, m)[:, None, :], out=a)
        if t % ring.every == 0:
            ring.divide(a, ring.size(a, axis=(0, 1)), out=a)
        if m == P:
            ring.predict(*flat)
        else:
            old[...] = ring.predict(a.reshape(K, -1)).reshape(a.shape)
    forth = _chain(ring, u, *p.chains[0])
    if back is None:
        return forth, None
    T = np.ascontiguousarray(T.transpose(1, 0, 2))
    back.predict(T.reshape(K, -1), u.reshape(K, -1))
    return forth, _chain(ring, u, *p.chains[1])


def _chain(ring, transfers, order, source):
    """Return the predictions (K, P) that the transfers (K, K, P) carry from piece to piece."""
    T = ring.divide(transfers, ring.size(transfers, axis=(0, 1))).transpose(2, 0, 1)
    T, u = list(np.ascontiguousarray(T)), [None] * len(order)
    first = np.full(len(transfers), ring.neutral)
    for count, q in enumerate(order):
        u[q] = first if source[q] < 0 else ring.apply(T[source[q]], u[source[q]])
        if count % ring.every == 0:
            u[q] = ring.normalised(u[q])
    u = ring.normalised(np.array(u).T.copy())
    u[:, [q for q in order if source[q] < 0]] = ring.neutral
    return u


def _forward_run(ring, back, W, p, keep=True):
    """Return what ``_run`` returns, by transfers if need be, and the seams if they were used."""
    seams = None
    if len(p.rows) > _SHORT or p.before.max() < 0:
        run = _run(ring, W, p, keep=keep)
        if run is not None:
            return *run, seams
    seams = _seams(ring, back, W, p)
    return *_run(ring, W, p, seams[0], keep=keep), seams


def _row_max(X):
    """Return X.max(axis=1); column by column where the rows are short, which is faster."""
    if X.shape[1] > 16:
        return X.max(axis=1)
    top = X[:, 0].copy()
    for column in X.T[1:]:
        np.maximum(top, column, out=top)
    return top


def _weights(pi, log_B, lengths, p, plain):
    """Return the weights and the sum of their log shifts for each sequence, shape (S,).

    The start enters the weights of each first row, so that nothing of pi underflows. A row that no
    state can emit has shift -inf; its weights are set to 1. ``plain`` is False for log weights.
    """

    def shifted(rows):
        shift = _row_max(rows)
        dead = shift == -np.inf
        w = rows - np.where(dead, 0.0, shift)[:, None]
        if plain:
            np.exp(w, out=w)
            w[dead] = 1.0
        return w, shift

    starts, P = _starts(lengths), len(p.start)
    coded = isinstance(log_B, _Coded)
    table, of_row = (log_B.table, log_B.x) if coded else (log_B, slice(None))
    first, first_shift = shifted((table[of_row[starts]] if coded else table[starts]) + safe_log(pi))
    w, shift = shifted(table)
    shift = shift[of_row]
    shift[starts] = first_shift
    if coded:
        table, codes = np.ascontiguousarray(w.T), (log_B.x % len(w))[p.rows]
        begin = table[:, codes[:P]]
        if len(codes) <= _MEDIUM:
            table, codes = table.take(codes, axis=1), None
    else:
        table, codes = np.ascontiguousarray(w[p.rows].T), None
        begin = table[:, :P].copy()
    begin[:, p.heads] = first.T
    return _Weights(begin, table, codes), np.add.reduceat(shift, starts)


def _rings(A):
    """Return the arithmetic that suits A, forwards and backwards."""
    ring = _SumProduct if A.min() >= _POSITIVE else _LogSum
    return ring(A.T), ring(A)


def _fast_log_likelihood(pi, A, log_B, lengths):
    """Return log p(x) of each sequence; equal to ``forward`` on each."""
    (ring, _), p = _rings(A), _cut(lengths)
    W, shift = _weights(pi, log_B, lengths, p, ring.neutral == 1)
    _, total, _, _ = _forward_run(ring, None, W, p, keep=False)
    return shift + np.bincount(p.sequence, total)


def _fast_smooth(pi, A, log_B, lengths):
    """Return gamma (n, K), summed xi (K, K) and log p(x) (S,); equal to ``posteriors`` on each."""
    gamma, rows, _, transitions, each = _posterior_sums(pi, A, log_B, lengths)
    out = np.empty(gamma.shape)
    out[rows] = gamma
    return out, transitions, each


def _posterior_sums(pi, A, log_B, lengths):
    """Return gamma with its rows in any order, that order, and the sums of gamma_1 and xi."""
    (ring, back), p = _rings(A), _cut(lengths)
    W, shift = _weights(pi, log_B, lengths, p, ring.neutral == 1)
    trail, total, reach, seams = _forward_run(ring, back, W, p)
    each, f = shift + np.bincount(p.sequence, total), trail.out
    if ring.neutral == 0:
        run = seams is None and _run(back, W, p, backwards=True)
        b = (run or _run(back, W, p, (seams or _seams(ring, back, W, p))[1], True))[0].out
        gamma, transitions = _log_counts(A, _unpack(f, p), _unpack(b, p), np.cumsum(lengths) - 1)
        return gamma, slice(None), gamma[_starts(lengths)].sum(axis=0), transitions, each
    start = _guessed_ends(back, W, p, 2 * reach + 16) if seams is None else seams[1]
    possible = None
    if each.min() == -np.inf:
        possible = (each > -np.inf)[p.sequence].astype(float)
    transitions, sure = _smooth_in_place(back, f, W, p, start, possible)
    if seams is None and not sure:
        start, seams = _seams(ring, back, W, p)[::-1]
        f = _run(ring, W, p, seams)[0].out
        transitions, _ = _smooth_in_place(back, f, W, p, start, possible)
    begin = f[:, p.heads].sum(axis=1)
    return f.T, p.rows, begin, A * transitions, each


def _guessed_ends(back, W, p, reach):
    """Return beta (K, P) at the end of each piece, from guesses ``reach`` steps further on."""
    u = np.full((len(back.M), len(p.start)), back.neutral)
    (linked, source), trail = p.linked[1], _Trail(back, len(u), p, keep=False)
    _sweep(back, u, W, p, range(min(reach, len(p.offset)) - 1, -1, -1), trail)
    start = np.full_like(u, back.neutral)
    start[:, linked] = back.normalised(u[:, source])
    return start


def _smooth_in_place(back, f, W, p, start, possible):
    """Turn the forward messages ``f`` into gamma, in place, on the way back from ``start``.

    With s_t = sum_i f_t(i) beta_t(i): gamma_t = f_t beta_t / s_t, and the sum over t of
    xi_t / A = f_t b_{t+1}^T / s_t. Pieces that are not ``possible`` count nothing. Return the sum
    and whether the messages at the seams were those of ``start``.
    """
    K, ones, u = len(f), np.ones(len(f)), start.copy()
    sums, end, ahead = np.zeros((K, K)), np.empty_like(start), np.empty((K, 0))
    for first, past in p.stretches:
        m, rest, steps = p.active[first], p.active[past], past - first
        F, a = f[:, p.offset[first] : p.offset[first] + steps * m], u[:, :m]
        beta, b = np.empty_like(F), np.empty((K, steps * m + rest))
        b[:, steps * m :] = ahead[:, :rest]  # of the time behind this stretch
        for t in range(past - 1, first - 1, -1):
            k = (t - first) * m
            beta[:, k : k + m] = a
            now = b[:, k : k + m]
            np.multiply(a, W.at(p.offset[t], m), out=now)
            if t % back.every == 0:
                now /= back.size(now)
            back.predict(now, a)
        ahead, inside = b[:, :m], (steps - 1) * m + rest
        end[:, rest:m] = F[:, inside:]
        beta *= F
        weight = 1 / ones.dot(beta)
        if possible is not None:
            weight *= np.tile(possible[:m], steps)
        sums += (F[:, :inside] * weight[:inside]).dot(b[:, m:].T)
        np.multiply(beta, weight, out=F)
    linked, source = p.linked[1]
    b, last = ahead[:, source], end[:, linked]  # across the seams
    last /= ones.dot(last * (back.M @ b))
    if possible is not None:
        last *= possible[linked]
    sums += last.dot(b.T)
    reached = back.normalised(u[:, source])
    return sums, back.meet(reached, back.normalised(start[:, linked])).all()


def _log_counts(A, f, b, last, chunk=4096):
    """Return gamma and summed xi from logarithmic messages, a chunk of rows at a time."""
    log_A, transitions = safe_log(A), np.zeros_like(A)
    gamma = np.empty_like(f)
    gamma[last], _ = log_normalise(f[last])
    inside = np.setdiff1d(np.arange(len(f)), last)
    for rows in np.split(inside, range(chunk, len(inside), chunk)):
        log_xi = f[rows, :, None] + log_A + b[rows + 1, None, :]
        xi, _ = log_normalise(log_xi, axis=(1, 2))
        gamma[rows] = xi.sum(axis=2)
        transitions += xi.sum(axis=0)
    return gamma, transitions


def _fast_counts(model, X, lengths=None):
    """Return what ``expected_counts`` returns."""
    lengths = check_lengths(lengths, len(X))
    log_B, emission = _densities(model.emission, X), model.emission
    gamma, rows, *sums, each = _posterior_sums(model.pi, model.A, log_B, lengths)
    X = X[rows]
    if isinstance(log_B, _Coded) and X.min() >= 0:  # no symbol is missing
        V = emission.probs.shape[1]
        statistics = (np.array([np.bincount(X, g, minlength=V) for g in gamma.T]),)
    else:
        statistics = emission.statistics(X, gamma)
    return ExpectedCounts(*sums, statistics, float(each.sum()))


def _fast_viterbi(pi, A, log_B, lengths):
    """Return the states (n,) and log p(x, z) (S,) that ``viterbi`` finds for each sequence."""
    p, log_A = _cut(lengths), safe_log(A)
    W, shift = _weights(pi, log_B, lengths, p, plain=False)
    trail, total, _, seams = _forward_run(_LogMax(A.T), None, W, p)
    if len(p.rows) <= _SHORT:
        z = _trace_in_order(_unpack(trail.out, p).T, log_A, np.cumsum(lengths) - 1)
    else:
        z = np.empty(len(p.rows), dtype=int)
        z[p.rows] = _trace(trail.out, log_A, p, rounds=2 if seams is None else 0)
    return z, shift + np.bincount(p.sequence, total)


def _trace(v, log_A, p, rounds):
    """Read the best path off the messages v, all pieces together; return packed states.

    Each piece ends where the first state of the next one points to. It is first traced from
    its own best state; where the next piece points elsewhere, all are traced again until they
    meet the old path. If that is not enough, the way back from every state at every seam decides.
    """
    states, (linked, source) = np.empty(v.shape[1], dtype=np.int16), p.linked[1]
    end, v_end, changed = v[:, p.ends].argmax(axis=0), v[:, p.ends[linked]], None
    for _ in range(rounds):
        _walk(states, v, log_A, p, end.copy(), changed)
        target = (v_end + log_A[:, states[source]]).argmax(axis=0)
        if (target == end[linked]).all():
            return states
        end[linked], changed = target, linked.max() + 1
    first = _walk_all(v, log_A, p)  # first[k, q] leads to the end state k of piece q
    pointer = (v_end[:, None] + log_A[:, :, None]).argmax(axis=0)
    place = dict(zip(linked.tolist(), range(len(linked))))
    for q in np.argsort(-p.start).tolist():
        if q in place:
            after = p.after[q]
            end[q] = pointer[first[end[after], after], place[q]]
    _walk(states, v, log_A, p, end, None)
    return states


def _walk(states, v, log_A, p, s, changed):
    """Trace all pieces back from their last states ``s``, in place.

    With ``changed``, the number of leading pieces that end elsewhere than last time, the walk ends
    as soon as all of them are on the old path.
    """
    inside = 0  # pieces that have begun, seen from their ends
    for t in range(len(p.offset) - 1, -1, -1):
        m, o = p.active[t], p.offset[t]
        if inside:
            scores = log_A.take(s[:inside], axis=1)
            scores += v[:, o : o + inside]
            s[:inside] = scores.argmax(axis=0)
        old, inside = states[o : o + m], m
        if changed is not None and t % 4 == 0 and m >= changed and (s[:m] == old).all():
            return
        old[...] = s[:m]


def _walk_all(v, log_A, p):
    """Return the first state (K, P) of the best path of each piece that ends in state k."""
    K = len(log_A)
    s, inside = np.repeat(np.arange(K)[:, None], len(p.start), axis=1), 0
    for t in range(len(p.offset) - 1, -1, -1):
        o = p.offset[t]
        if inside:
            scores = log_A[:, s[:, :inside]] + v[:, None, o : o + inside]
            s[:, :inside] = scores.argmax(axis=0)
        inside = p.active[t]
    return s


def _trace_in_order(v, log_A, last):
    """Read the best path off the messages v (K, n), one row after the other; return states."""
    pointer = (v[:, None, :] + log_A[:, :, None]).argmax(axis=0)
    pointer[:, last] = v[:, last].argmax(axis=0)  # an end points to its own best state
    z, state, flat, K = [], 0, pointer.T.ravel().tolist(), len(log_A)
    for begin in range(len(flat) - K, -1, -K):
        state = flat[begin + state]
        z.append(state)
    return np.array(z[::-1])


# Estimators ----------------------------------------------------------------------------------


class _SequenceModel(DensityEstimator):
    """What the three estimators share: Baum-Welch with restarts, decoding and sampling."""

    def fit(self, X, y=None, lengths=None):
        """Climb log p(X) from ``n_init`` starts; ``lengths`` are those of the sequences in X."""
        K = check_scalar(self.n_components, "n_components", low=1, integer=True)
        check_scalar(self.n_init, "n_init", low=1, integer=True)
        rng = random_generator(self.random_state)
        X = check_array(X, min_samples=max(2, K))
        lengths = check_lengths(lengths, len(X))
        rows = self._training_rows(X)
        options = {"max_iter": self.max_iter, "tol": self.tol, "counts": _fast_counts}
        starts = [self._start(rows, K, rng) for _ in range(self.n_init)]
        fits = [baum_welch(start, rows, lengths, **options) for start in starts]
        best = max(fits, key=lambda fit: fit.trace[-1])
        self.n_features_in_, self.model_ = X.shape[1], best.params
        self.startprob_, self.transmat_ = best.params.pi, best.params.A
        self.trace_, self.n_iter_, self.converged_ = best.trace, best.n_iter, best.converged
        self._store(best.params.emission)
        return self

    def _start(self, rows, K, rng):
        """Return theta_0: the caller's values where given, else sticky random transitions."""
        pi, A = self.startprob_init, self.transmat_init
        pi = np.full(K, 1 / K) if pi is None else check_vector(pi, "startprob_init", length=K)
        A = (np.eye(K) + rng.dirichlet(np.ones(K), K)) / 2 if A is None else A
        A = check_distribution(check_square(A, "transmat_init", size=K), "transmat_init")
        return HMM(check_distribution(pi, "startprob_init"), A, self._emission(rows, K, rng))

    def _log_densities(self, X, lengths):
        rows = self._rows(check_features(self, X))
        return _densities(self.model_.emission, rows), check_lengths(lengths, len(X))

    def predict(self, X, lengths=None):
        """Return the most probable path (Viterbi), shape (n,)."""
        return self.decode(X, lengths)[1]

    def predict_proba(self, X, lengths=None):
        """Return gamma, shape (n, K); zero rows for an impossible sequence."""
        log_B, lengths = self._log_densities(X, lengths)
        return _fast_smooth(self.startprob_, self.transmat_, log_B, lengths)[0]

    def score(self, X, y=None, lengths=None):
        """Return log p(X) in nats, summed over the sequences; -inf if one is impossible."""
        log_B, lengths = self._log_densities(X, lengths)
        return float(_fast_log_likelihood(self.startprob_, self.transmat_, log_B, lengths).sum())

    def decode(self, X, lengths=None):
        """Return (max_z log p(X, z) in nats, summed over the sequences; the path, shape (n,))."""
        log_B, lengths = self._log_densities(X, lengths)
        z, scores = _fast_viterbi(self.startprob_, self.transmat_, log_B, lengths)
        return float(scores.sum()), z

    def sample(self, n_samples=1, random_state=None):
        """Return (X, z), one sequence of ``n_samples`` rows and its states."""
        check_fitted(self)
        rows, z = sample(self.model_, n_samples, random_generator(random_state))
        return self._observations(rows), z

    def _training_rows(self, X):
        return self._rows(X)

    def _rows(self, X):
        return X

    def _observations(self, rows):
        return rows


def _spread_rows(X, K, rng):
    """Return K rows far apart: each drawn with probability proportional to its squared distance."""
    chosen = [X[rng.integers(len(X))]]
    scale = np.maximum(np.std(X, axis=0), np.finfo(float).tiny)
    while len(chosen) < K:
        D = squared_distances(X / scale, np.array(chosen) / scale).min(axis=1)
        p = D / D.sum() if D.sum() > 0 else None
        chosen.append(X[rng.choice(len(X), p=p)])
    return np.array(chosen)


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
    n_init : int
        Number of starts; the best log-likelihood is kept.
    max_iter : int
    tol : float
        Gain per observation, in nats, that ends an ascent.
    startprob_init, transmat_init, means_init, covars_init : arrays, optional
        Starting values pi (K,), A (K, K), mu (K, d) and Sigma (K, d, d) or (K, d).
    random_state : None, int or numpy.random.Generator

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

    def _emission(self, X, K, rng):
        check_choice(self.covariance_type, "covariance_type", ("full", "diag"))
        check_scalar(self.min_covar, "min_covar", low=0, open_low=True)
        d, diagonal = X.shape[1], self.covariance_type == "diag"
        variance = X.var(axis=0)
        variance = np.where(variance > 0, variance, 1.0)
        means, covars = self.means_init, self.covars_init
        means = _spread_rows(X, K, rng) if means is None else _check_init(means, "means", (K, d))
        if covars is None:
            covars = np.tile(
                variance if diagonal else np.diag(variance), (K,) + (1,) * (2 - diagonal)
            )
        covars = _check_init(covars, "covars", (K, d) if diagonal else (K, d, d))
        _check_covariances(covars)
        return GaussianEmission(means, covars, self.min_covar * variance)

    def _store(self, emission):
        self.means_, self.covars_ = emission.means, emission.covariances


def _check_init(value, name, shape):
    """Return a starting value as finite float64 of the given shape."""
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

    Several columns are independent given the state.

    Parameters
    ----------
    n_components : int
        Number of states K.
    n_init : int
        Number of starts; the best log-likelihood is kept.
    max_iter : int
    tol : float
        Gain per observation, in nats, that ends an ascent.
    startprob_init, transmat_init, rates_init : arrays, optional
        Starting values pi (K,), A (K, K) and rates (K, d).
    random_state : None, int or numpy.random.Generator

    Attributes
    ----------
    startprob_, transmat_, rates_ : arrays
        ``rates_`` are expected counts for one time step, shape (K, d).
    trace_ : log-likelihood in nats at the start and after each iteration
    n_iter_, converged_, model_

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([1, 20, 1, 20], 6)[:, None]
    >>> PoissonHMM(n_components=2, random_state=0).fit(X).rates_.round(2).ravel().tolist()
    [1.0, 20.0]
    """

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
    ):
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.startprob_init = startprob_init
        self.transmat_init = transmat_init
        self.rates_init = rates_init
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = tags.input_tags.categorical = True
        return tags

    def _rows(self, X):
        return _check_counts(X)

    def _emission(self, X, K, rng):
        if self.rates_init is None:
            return PoissonEmission((_spread_rows(X, K, rng) + X.mean(axis=0)) / 2)
        rates = _check_init(self.rates_init, "rates", (K, X.shape[1]))
        if (rates < 0).any():
            raise ValueError("rates_init must not be negative.")
        return PoissonEmission(rates)

    def _store(self, emission):
        self.rates_ = emission.rates


class CategoricalHMM(_SequenceModel):
    """p(x_t = v | z_t = j) = e_j(v), z a Markov chain; maximises log p(X) by Baum-Welch.

    A symbol is a distinct row of X. The alphabet is that of the training data unless
    ``categories`` states it.

    Parameters
    ----------
    n_components : int
        Number of states K.
    categories : array of shape (V,) or (V, d), optional
        The alphabet; column v of ``emissionprob_init`` belongs to its v-th entry.
    unseen : {"error", "missing"}
        What a symbol outside the alphabet means after ``fit``: a mistake, or a missing
        observation, which says nothing about the state.
    n_init : int
        Number of starts; the best log-likelihood is kept.
    max_iter : int
    tol : float
        Gain per observation, in nats, that ends an ascent.
    startprob_init, transmat_init, emissionprob_init : arrays, optional
        Starting values pi (K,), A (K, K) and e (K, V).
    random_state : None, int or numpy.random.Generator

    Attributes
    ----------
    categories_ : array of shape (V, d)
    startprob_, transmat_, emissionprob_ : arrays
    trace_ : log-likelihood in nats at the start and after each iteration
    n_iter_, converged_, model_

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([1, 1, 2, 1, 3, 3, 3, 4, 3])[:, None]
    >>> CategoricalHMM(n_components=2, random_state=1).fit(X).categories_.ravel().tolist()
    [1.0, 2.0, 3.0, 4.0]
    """

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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    def _training_rows(self, X):
        check_choice(self.unseen, "unseen", ("error", "missing"))
        if self.categories is None:
            self.categories_ = np.unique(X, axis=0)
        else:
            rows = self.categories
            rows = np.reshape(rows, (-1, 1)) if np.ndim(rows) < 2 else rows
            self.categories_ = check_array(rows, "categories")
        if self.categories_.shape[1] != X.shape[1]:
            raise ValueError(f"categories must have {X.shape[1]} columns, like X.")
        if len(np.unique(self.categories_, axis=0)) < len(self.categories_):
            raise ValueError("categories must be distinct: drop the repeated ones.")
        return self._rows(X, unseen="error")

    def _rows(self, X, unseen=None):
        x = _symbols(X, self.categories_)
        if (unseen or self.unseen) == "error" and (x < 0).any():
            row = X[np.argmin(x)].tolist()
            raise ValueError(
                f"X holds {row if len(row) > 1 else row[0]}, which is not among the "
                f"{len(self.categories_)} symbols known: list it in categories, or set "
                f"unseen='missing'."
            )
        return x

    def _emission(self, x, K, rng):
        V, e = len(self.categories_), self.emissionprob_init
        if e is not None:
            e = _check_init(e, "emissionprob", (K, V))
            return CategoricalEmission(check_distribution(e, "emissionprob_init"))
        share = (np.bincount(x, minlength=V) + 1.0) / (len(x) + V)
        return CategoricalEmission(_normalise_rows(share * rng.uniform(0.5, 1.5, (K, V)), share))

    def _observations(self, rows):
        return self.categories_[rows]

    def _store(self, emission):
        self.emissionprob_ = emission.probs


def _symbols(X, categories):
    """Return the index of each row of X in the distinct rows ``categories``, -1 if absent."""
    if X.shape[1] == 1:
        low, V = categories[0, 0], len(categories)
        if X.min() >= low and X.max() < low + V and (categories[:, 0] == low + np.arange(V)).all():
            x = (X[:, 0] - low).astype(int)  # whole numbers without a gap
            if (x + low == X[:, 0]).all():
                return x
        order = np.argsort(categories[:, 0])
        known = categories[order, 0]
        place = np.minimum(np.searchsorted(known, X[:, 0]), len(known) - 1)
        return np.where(known[place] == X[:, 0], order[place], -1)
    _, code = np.unique(np.concatenate([categories, X]), axis=0, return_inverse=True)
    table = np.full(code.max() + 1, -1)
    table[code[: len(categories)]] = np.arange(len(categories))
    return table[code[len(categories) :]]
