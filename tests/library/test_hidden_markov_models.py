"""Hidden Markov models: enumeration of paths, zeros, long sequences, errors, fast variants."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm, poisson
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from uncompiled import uncompiled

import mllib.hidden_markov_models as hmm
from mllib.core.errors import NotFittedError
from mllib.hidden_markov_models import (
    HMM,
    CategoricalEmission,
    CategoricalHMM,
    GaussianChain,
    GaussianEmission,
    GaussianHMM,
    MarkovChain,
    PoissonEmission,
    PoissonHMM,
    add_counts,
    backward,
    baum_welch,
    expected_counts,
    fit_markov_chain,
    forward,
    joint_log_probability,
    kalman_filter,
    kalman_smoother,
    m_step,
    markov_chain_log_probability,
    posteriors,
    sample,
    viterbi,
)

MODELS = [
    (K, T, zeros, seed)
    for K, T, zeros, seed in product([1, 2, 3], [1, 2, 5], [False, True], range(3))
]


def random_model(K, T, zeros, seed):
    """Return pi, A and B_tj = e_j(x_t); with zeros, A is upper triangular and B has holes."""
    rng = np.random.default_rng([K, T, zeros, seed])
    pi, A, B = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K), rng.random((T, K))
    if zeros:
        A = np.triu(A)
        A /= A.sum(axis=1, keepdims=True)
        B *= rng.random((T, K)) < 0.8
    return pi, A, B


def log(p):
    with np.errstate(divide="ignore"):
        return np.log(p)


def enumerate_paths(pi, A, B):
    """Return every path and p(x, z), by multiplication only."""
    T, K = B.shape
    paths = list(product(range(K), repeat=T))
    p = [
        pi[z[0]]
        * np.prod([A[i, j] for i, j in pairwise(z)])
        * np.prod([B[t, j] for t, j in enumerate(z)])
        for z in paths
    ]
    return np.array(paths), np.array(p)


def of_rows(function, pi, A, log_B, lengths):
    """Call what the estimators use with one row of log densities for each time."""
    return function(pi, A, hmm._table(log_B, np.arange(len(log_B))), lengths)


# Enumeration ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("K", "T", "zeros", "seed"), MODELS)
def test_forward_backward_and_posteriors_equal_the_sums_over_all_paths(K, T, zeros, seed):
    pi, A, B = random_model(K, T, zeros, seed)
    paths, p = enumerate_paths(pi, A, B)
    f, b, s = forward(pi, A, log(B)), backward(A, log(B)), posteriors(pi, A, log(B))
    assert np.exp(f.log_likelihood) == pytest.approx(p.sum(), rel=1e-12, abs=1e-300)
    for t in range(T):
        for j in range(K):
            heads, q = enumerate_paths(pi, A, B[: t + 1])
            alpha = q[heads[:, t] == j].sum()
            q = enumerate_paths(A[j], A, B[t + 1 :])[1] if t + 1 < T else np.ones(1)
            assert np.exp(f.log_alpha[t, j]) == pytest.approx(alpha, rel=1e-12)
            assert np.exp(b.log_beta[t, j]) == pytest.approx(q.sum(), rel=1e-12)
            if p.sum() > 0:
                gamma = p[paths[:, t] == j].sum() / p.sum()
                assert s.gamma[t, j] == pytest.approx(gamma, rel=1e-10, abs=1e-300)
    for t, i, j in product(range(T - 1), range(K), range(K)):
        if p.sum() > 0:
            xi = p[(paths[:, t] == i) & (paths[:, t + 1] == j)].sum() / p.sum()
            assert s.xi[t, i, j] == pytest.approx(xi, rel=1e-10, abs=1e-300)
    if p.sum() == 0:
        assert f.log_likelihood == -np.inf
        assert not s.gamma.any()
        assert not s.xi.any()


@pytest.mark.parametrize(("K", "T", "zeros", "seed"), MODELS)
def test_viterbi_attains_the_largest_joint_probability(K, T, zeros, seed):
    pi, A, B = random_model(K, T, zeros, seed)
    paths, p = enumerate_paths(pi, A, B)
    path = viterbi(pi, A, log(B))
    assert np.exp(path.log_probability) == pytest.approx(p.max(), rel=1e-12, abs=1e-300)
    at = joint_log_probability(pi, A, log(B), path.states)
    assert np.exp(at) == pytest.approx(p.max(), rel=1e-12, abs=1e-300)
    if p.max() > 0 and np.sum(p > p.max() * (1 - 1e-9)) == 1:
        assert path.states.tolist() == paths[p.argmax()].tolist()


def test_joint_probability_sums_to_one_over_paths_and_observations():
    rng = np.random.default_rng(0)
    pi, A, e = rng.dirichlet([1, 1]), rng.dirichlet([1, 1], 2), rng.dirichlet([1, 1, 1], 2)
    total = sum(
        np.exp(joint_log_probability(pi, A, log(e[:, list(x)].T), np.array(z)))
        for x in product(range(3), repeat=3)
        for z in product(range(2), repeat=3)
    )
    assert total == pytest.approx(1, abs=1e-12)


def test_wrong_recursions_are_caught_by_the_enumeration():
    """A transposed A, a forgotten emission or one step too many changes p(x)."""
    pi, A, B = random_model(3, 5, False, 1)
    exact = enumerate_paths(pi, A, B)[1].sum()
    wrong = [
        forward(pi, A.T / A.T.sum(axis=1, keepdims=True), log(B)).log_likelihood,
        forward(pi, A, log(np.vstack([np.ones(3), B[1:]]))).log_likelihood,
        forward(pi @ A, A, log(B)).log_likelihood,
    ]
    assert all(abs(np.exp(value) / exact - 1) > 1e-3 for value in wrong)


def test_viterbi_breaks_ties_towards_the_lowest_state():
    half = np.full((2, 2), 0.5)
    assert viterbi([0.5, 0.5], half, np.zeros((4, 2))).states.tolist() == [0, 0, 0, 0]


# Zeros and length ----------------------------------------------------------------------------


def test_a_state_of_negligible_probability_may_be_the_only_survivor():
    """State 0 is e^-1000 times less likely until the last observation rules state 1 out."""
    A = np.array([[0.5, 0.5], [0.0, 1.0]])
    log_B = np.zeros((3, 2))
    log_B[1, 0] = -1000.0
    log_B[2, 1] = -np.inf
    expected = 2 * np.log(0.5) - 1000
    assert forward([1.0, 0.0], A, log_B).log_likelihood == pytest.approx(expected, abs=1e-9)
    n = np.array([3])
    fast = of_rows(hmm._scores, np.array([1.0, 0.0]), A, log_B, n)
    assert fast[0] == pytest.approx(expected, abs=1e-9)
    assert posteriors([1.0, 0.0], A, log_B).gamma.tolist() == [[1, 0]] * 3
    assert of_rows(hmm._smooth, np.array([1.0, 0.0]), A, log_B, n)[0].tolist() == [[1, 0]] * 3


def test_the_same_for_a_start_of_negligible_density():
    A = np.full((2, 2), 0.5)
    log_B = np.array([[-2000.0, 0.0], [0.0, 0.0]])
    for pi in (np.array([1.0, 0.0]), np.array([1.0, 1e-310]) / (1 + 1e-310)):
        plain = forward(pi, A, log_B).log_likelihood
        fast = of_rows(hmm._scores, pi, A, log_B, np.array([2]))[0]
        assert fast == pytest.approx(plain, rel=1e-12)
    assert forward([1.0, 0.0], A, log_B).log_likelihood == pytest.approx(-2000, abs=1e-9)


def test_an_impossible_sequence_is_minus_infinity_and_never_nan():
    A = np.array([[0.0, 1.0], [1.0, 0.0]])
    log_B = log(np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]))
    f, b, s = forward([1.0, 0.0], A, log_B), backward(A, log_B), posteriors([1, 0], A, log_B)
    assert f.log_likelihood == -np.inf
    assert viterbi([1.0, 0.0], A, log_B).log_probability == -np.inf
    for array in (f.log_filter, f.log_alpha, b.log_message, b.log_beta, s.gamma, s.xi):
        assert not np.isnan(array).any()
    lengths = np.array([3, 3])
    two = np.vstack([log_B, np.zeros((3, 2))])
    each = of_rows(hmm._scores, np.array([1.0, 0.0]), A, two, lengths)
    assert each.tolist() == [-np.inf, 0.0]
    gamma, transitions, _ = of_rows(hmm._smooth, np.array([1.0, 0.0]), A, two, lengths)
    assert gamma[:3].sum() == 0
    assert gamma[3:].tolist() == [[1, 0], [0, 1], [1, 0]]
    assert transitions.tolist() == [[0, 1], [1, 0]]


def test_a_row_that_no_state_can_emit():
    log_B = np.zeros((200, 2))
    log_B[150] = -np.inf
    pi, A = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])
    assert forward(pi, A, log_B).log_likelihood == -np.inf
    gamma, transitions, each = of_rows(hmm._smooth, pi, A, log_B, np.array([100, 100]))
    assert each[0] == pytest.approx(0, abs=1e-12)
    assert each[1] == -np.inf
    assert gamma[:100].sum() == pytest.approx(100)
    assert transitions.sum() == pytest.approx(99)
    assert not gamma[100:].any()


def test_a_million_steps():
    """Identical rows make the model a mixture, whose log-likelihood is a plain sum."""
    T = 10**6
    weights, e = np.array([0.25, 0.75]), np.array([[0.9, 0.1], [0.2, 0.8]])
    x = np.random.default_rng(0).integers(0, 2, T)
    exact = np.log(weights @ e[:, x]).sum()
    A = np.tile(weights, (2, 1))
    value = of_rows(hmm._scores, weights, A, log(e[:, x].T), np.array([T]))[0]
    assert value == pytest.approx(exact, rel=1e-12)
    gamma, transitions, _ = of_rows(hmm._smooth, weights, A, log(e[:, x].T), np.array([T]))
    joint = weights * e[:, x].T
    np.testing.assert_allclose(gamma, joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    assert transitions.sum() == pytest.approx(T - 1, rel=1e-12)


def test_a_million_steps_from_left_to_right():
    """From state 0 only to 1, emissions tell them apart: the switch is at one place, exactly."""
    T, switch = 10**6, 400_000
    e = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    x = np.where(np.arange(T) < switch, 0, 1)
    a = 1e-3
    A = np.array([[1 - a, a], [0.0, 1.0]])
    log_B = log(e[:, x].T)
    exact = (switch - 1) * np.log1p(-a) + np.log(a)
    lengths = np.array([T])
    value = of_rows(hmm._scores, np.array([1.0, 0.0]), A, log_B, lengths)[0]
    assert value == pytest.approx(exact, rel=1e-12)
    z, score = of_rows(hmm._decode, np.array([1.0, 0.0]), A, log_B, lengths)
    assert z.sum() == T - switch
    assert score[0] == pytest.approx(exact, rel=1e-10)  # a sum of a million terms


def test_plain_forward_keeps_a_likelihood_that_underflows():
    T = 3000
    f = forward([0.5, 0.5], np.full((2, 2), 0.5), np.full((T, 2), np.log(0.1)))
    assert f.log_likelihood == pytest.approx(T * np.log(0.1), rel=1e-13)
    assert np.exp(f.log_likelihood) == 0


# What the estimators use ---------------------------------------------------------------------


def chains():
    rng = np.random.default_rng(7)
    mixing, full = rng.dirichlet(np.ones(3), 3), rng.dirichlet(np.ones(5), 5)
    left_right = np.array([[0.99, 0.01, 0], [0, 0.98, 0.02], [0, 0, 1.0]])
    slow = np.array([[1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6]])
    cycle = np.roll(np.eye(3), 1, axis=1)
    return [
        ("mixing", mixing, 1.0),
        ("five states", full, 3.0),
        ("left-right", left_right, 0.3),
        ("slow", slow, 0.01),
        ("far apart", mixing, 300.0),
        ("far apart, left-right", left_right, 300.0),
        ("identity", np.eye(2), 0.5),
        ("cycle", cycle, 1.0),
        ("one state", np.ones((1, 1)), 1.0),
    ]


@pytest.mark.parametrize(("name", "A", "spread"), chains())
@pytest.mark.parametrize("lengths", [[3000], [1] * 5 + [7, 900, 2, 40, 40], [30] * 40])
def test_scaled_recursions_equal_those_in_logarithms(name, A, spread, lengths):
    rng = np.random.default_rng(len(name))
    lengths = np.array(lengths)
    K, n = len(A), lengths.sum()
    pi, log_B = rng.dirichlet(np.ones(K)), spread * rng.standard_normal((n, K))
    starts = np.cumsum(lengths) - lengths
    parts = [log_B[a : a + m] for a, m in zip(starts, lengths)]
    plain = [posteriors(pi, A, part) for part in parts]
    gamma, transitions, each = of_rows(hmm._smooth, pi, A, log_B, lengths)
    expected = np.array([p.log_likelihood for p in plain])
    np.testing.assert_allclose(each, expected, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(gamma, np.concatenate([p.gamma for p in plain]), atol=1e-10)
    total = sum(p.xi.sum(axis=0) for p in plain)
    np.testing.assert_allclose(transitions, total, atol=1e-10 * n)
    alone = of_rows(hmm._scores, pi, A, log_B, lengths)
    np.testing.assert_allclose(alone, expected, rtol=1e-11, atol=1e-9)
    paths = [viterbi(pi, A, part) for part in parts]
    z, scores = of_rows(hmm._decode, pi, A, log_B, lengths)
    expected = np.array([p.log_probability for p in paths])
    np.testing.assert_allclose(scores, expected, rtol=1e-11, atol=1e-9)
    assert z.tolist() == np.concatenate([p.states for p in paths]).tolist()


@pytest.mark.parametrize("zero", [0.0, 0.3])
def test_symbols_give_what_their_rows_of_log_densities_give(zero):
    """Missing symbols, and with ``zero`` = 0 one that no state emits, in one of four sequences."""
    rng = np.random.default_rng(5)
    e = rng.dirichlet(np.ones(4), 3)
    e[:, 3] *= zero
    emission = CategoricalEmission(e / e.sum(axis=1, keepdims=True))
    pi, A = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3)
    lengths = np.array([700, 5, 1, 400])
    x = rng.integers(-1, 3, lengths.sum())
    x[702] = 3
    rows, coded = emission.log_density(x), hmm._densities(emission, x)
    assert coded.log_B.shape == (5, 3)  # a row for each symbol, and one for those that are missing
    each = hmm._scores(pi, A, coded, lengths)
    assert (each == -np.inf).tolist() == [False, zero == 0, False, False]
    np.testing.assert_allclose(each, of_rows(hmm._scores, pi, A, rows, lengths), rtol=1e-13)
    starts = np.cumsum(lengths) - lengths
    parts = [posteriors(pi, A, rows[a : a + m]) for a, m in zip(starts, lengths)]
    np.testing.assert_allclose(each, [p.log_likelihood for p in parts], rtol=1e-12)
    gamma, transitions, _ = hmm._smooth(pi, A, coded, lengths)
    np.testing.assert_allclose(gamma, np.concatenate([p.gamma for p in parts]), atol=1e-12)
    np.testing.assert_allclose(transitions, sum(p.xi.sum(axis=0) for p in parts), atol=1e-10)
    z, scores = hmm._decode(pi, A, coded, lengths)
    paths = [viterbi(pi, A, rows[a : a + m]) for a, m in zip(starts, lengths)]
    np.testing.assert_allclose(scores, [p.log_probability for p in paths], rtol=1e-12)
    possible = np.repeat(each > -np.inf, lengths)
    assert z[possible].tolist() == np.concatenate([p.states for p in paths])[possible].tolist()


@pytest.mark.parametrize("seed", range(40))
def test_where_plain_numbers_give_up_logarithms_take_over(seed):
    """Zeros and densities over thousands of nats: sure results are right, others are not used."""
    rng = np.random.default_rng(seed)
    K, T = 3, 60
    A = rng.dirichlet(np.ones(K), K) * (rng.random((K, K)) < 0.6) + 1e-3 * np.eye(K)
    A[0, 1:] *= 10.0 ** -rng.integers(0, 120, K - 1)
    A /= A.sum(axis=1, keepdims=True)
    log_B = -rng.exponential(10.0 ** rng.uniform(0, 3), (T, K))
    log_B[rng.random((T, K)) < 0.05] = -np.inf
    pi, d = np.eye(K)[0], hmm._table(log_B, np.arange(T))
    exact = posteriors(pi, A, log_B)
    assert hmm._scores(pi, A, d, np.array([T])) == pytest.approx(exact.log_likelihood, rel=1e-12)
    gamma, transitions, _ = hmm._smooth(pi, A, d, np.array([T]))
    np.testing.assert_allclose(gamma, exact.gamma, atol=1e-11)
    np.testing.assert_allclose(transitions, exact.xi.sum(axis=0), atol=1e-9)


def test_both_ways_are_taken_by_the_tests_above():
    """Left to right over far densities needs logarithms; where chains mix, plain numbers do."""
    log_B = 300 * np.random.default_rng(0).standard_normal((500, 3))
    d, pi = hmm._table(log_B, np.arange(500)), np.full(3, 1 / 3)
    sure = {name: hmm._filter(pi, A, d, [500], False)[2][0] for name, A, _ in chains()[:3:2]}
    assert sure == {"mixing": True, "left-right": False}


def test_long_sequences_in_logarithms_are_counted_in_chunks():
    rng = np.random.default_rng(3)
    pi, A, log_B = rng.dirichlet([1, 1]), rng.dirichlet([1, 1], 2), rng.standard_normal((50, 2))
    exact = posteriors(pi, A, log_B)
    for chunk in (1, 7, 49, 50, 4096):
        gamma, transitions, value = hmm._log_smooth(pi, A, log_B, chunk)
        np.testing.assert_allclose(transitions, exact.xi.sum(axis=0), rtol=1e-12)
        np.testing.assert_allclose(gamma, exact.gamma, rtol=1e-12)
        assert value == exact.log_likelihood


@pytest.mark.parametrize(
    "name", ["_scaled_forward", "_log_forward", "_log_backward", "_best_paths"]
)
def test_loops_without_numba_give_the_same(name):
    rng = np.random.default_rng(1)
    pi, A, log_B = rng.dirichlet([1, 1, 1]), rng.dirichlet([1, 1, 1], 3), -rng.random((40, 3))
    d, loop = hmm._table(log_B, np.arange(40)), getattr(hmm, name)
    arguments = {
        "_scaled_forward": (pi, A.T, d.B, d.row, np.array([25, 40]), True),
        "_log_forward": (log(pi), log(A), log_B),
        "_log_backward": (log(A), log_B),
        "_best_paths": (log(pi), log(A.T), log_B, d.row, np.array([25, 40])),
    }[name]
    fast = loop(*arguments)
    with uncompiled():
        slow = loop(*arguments)
    for a, b in zip(fast, slow):
        np.testing.assert_allclose(a, b, rtol=1e-12)


# Markov chains, sampling ---------------------------------------------------------------------


def test_markov_chain_counts():
    chain = fit_markov_chain([0, 1, 1, 0, 2, 2, 1], K=4, lengths=[4, 3])
    assert chain.pi.tolist() == [0.5, 0, 0.5, 0]
    assert chain.A.tolist() == [[0, 1, 0, 0], [0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0.25] * 4]
    assert markov_chain_log_probability(chain, [0, 2]) == -np.inf


def test_sampling_frequencies():
    """Each frequency lies within five standard errors of its exact value (alarm below 1e-5)."""
    pi, A = np.array([0.3, 0.7]), np.array([[0.9, 0.1], [0.4, 0.6]])
    e = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    T = 100_000
    x, z = sample(HMM(pi, A, CategoricalEmission(e)), T, np.random.default_rng(0))
    for i in range(2):
        leaves = z[:-1] == i
        share = np.mean(z[1:][leaves] == 1)
        assert abs(share - A[i, 1]) < 5 * np.sqrt(A[i, 1] * A[i, 0] / leaves.sum())
        for v in range(3):
            share = np.mean(x[z == i] == v)
            assert abs(share - e[i, v]) < 5 * np.sqrt(e[i, v] * (1 - e[i, v]) / np.sum(z == i))
    again = sample(HMM(pi, A, CategoricalEmission(e)), T, np.random.default_rng(0))
    assert (again[0] == x).all()
    assert (again[1] == z).all()


def test_sampling_never_takes_a_forbidden_transition():
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    model = HMM(np.array([0.0, 0.0, 1.0]), A, PoissonEmission(np.array([[0.0], [5.0], [9.0]])))
    X, z = sample(model, 300, np.random.default_rng(1))
    assert z.tolist() == [2, 0, 1] * 100
    assert (X[z == 0] == 0).all()


@pytest.mark.parametrize("diagonal", [True, False])
def test_gaussian_draws_have_the_means_and_covariances_of_their_states(diagonal):
    """Within 5.5 standard errors; those of a covariance s_ij are sqrt((s_ii s_jj + s_ij^2) / n)."""
    n, S = 20_000, np.array([[[2.0, 0.8], [0.8, 1.0]], [[0.5, -0.6], [-0.6, 3.0]]])
    S = S * np.eye(2) if diagonal else S
    variances = S.diagonal(axis1=1, axis2=2)
    means = np.array([[0.0, 1], [5, -2]])
    emission = GaussianEmission(means, variances if diagonal else S, np.ones(2))
    X = emission.draw(np.repeat([0, 1], n), np.random.default_rng(0))
    for own, mean, v, cov in zip(np.split(X, 2), means, variances, S):
        assert (np.abs(own.mean(axis=0) - mean) < 5.5 * np.sqrt(v / n)).all()
        error = np.sqrt((np.outer(v, v) + cov**2) / n)
        assert (np.abs(np.cov(own.T) - cov) < 5.5 * error).all()


# Gaussian chains -----------------------------------------------------------------------------


def gaussian_chain(k, d, rng):
    def spread(n):
        M = rng.standard_normal((n, n))
        return M @ M.T + 0.1 * np.eye(n)

    A, C = rng.uniform(-0.8, 0.8, (k, k)), rng.standard_normal((d, k))
    return GaussianChain(rng.standard_normal(k), spread(k), A, spread(k), C, spread(d))


def whole_path(chain, X):
    """Return mean and covariance of all states given X, and log p(X), from one large precision."""
    mean, cov, A, W, C, R = chain
    T, k = len(X), len(mean)
    precision, shift = np.zeros((T * k, T * k)), np.zeros(T * k)
    precision[:k, :k] += np.linalg.inv(cov)
    shift[:k] += np.linalg.solve(cov, mean)
    move = np.hstack([-A, np.eye(k)])
    for t, x in enumerate(X):
        own, both = slice(t * k, (t + 1) * k), slice((t - 1) * k, (t + 1) * k)
        precision[own, own] += C.T @ np.linalg.solve(R, C)
        shift[own] += C.T @ np.linalg.solve(R, x)
        if t > 0:
            precision[both, both] += move.T @ np.linalg.solve(W, move)
    z = np.linalg.solve(precision, shift).reshape(T, k)
    joint = multivariate_normal(mean, cov).logpdf(z[0])
    joint += sum(multivariate_normal(A @ a, W).logpdf(b) for a, b in pairwise(z))
    joint += sum(multivariate_normal(C @ a, R).logpdf(x) for a, x in zip(z, X))
    given_x = (np.linalg.slogdet(precision)[1] - T * k * np.log(2 * np.pi)) / 2
    return z, np.linalg.inv(precision), joint - given_x  # p(x) = p(x, z) / p(z | x)


@pytest.mark.parametrize(("k", "d", "T"), [(1, 1, 1), (1, 2, 4), (2, 1, 6), (3, 2, 5)])
def test_kalman_filter_and_smoother_solve_one_large_system(k, d, T):
    rng = np.random.default_rng([k, d, T])
    chain, X = gaussian_chain(k, d, rng), rng.standard_normal((T, d))
    f, s = kalman_filter(chain, X), kalman_smoother(chain, X)
    for t in range(T):
        z, cov, log_p = whole_path(chain, X[: t + 1])
        np.testing.assert_allclose(f.means[t], z[t], atol=1e-9)
        np.testing.assert_allclose(f.covs[t], cov[-k:, -k:], atol=1e-9)
    np.testing.assert_allclose(s.means, z, atol=1e-9)
    for t in range(T):
        own = slice(t * k, (t + 1) * k)
        np.testing.assert_allclose(s.covs[t], cov[own, own], atol=1e-9)
    assert f.log_likelihood == s.log_likelihood == pytest.approx(log_p, rel=1e-9)


# Emissions -----------------------------------------------------------------------------------


def test_emission_densities_are_those_of_scipy():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 2))
    S = np.array([[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.3], [-0.3, 0.5]]])
    means = rng.standard_normal((2, 2))
    full = GaussianEmission(means, S, np.ones(2)).log_density(X)
    expected = [multivariate_normal(m, C).logpdf(X) for m, C in zip(means, S)]
    np.testing.assert_allclose(full.T, expected, rtol=1e-12)
    variances = S.diagonal(axis1=1, axis2=2)
    diagonal = GaussianEmission(means, variances, np.ones(2)).log_density(X)
    expected = [norm(m, np.sqrt(v)).logpdf(X).sum(axis=1) for m, v in zip(means, variances)]
    np.testing.assert_allclose(diagonal.T, expected, rtol=1e-12)
    counts, rates = rng.integers(0, 9, (5, 2)), np.array([[0.0, 2.0], [3.0, 4.0]])
    expected = [poisson(r).logpmf(counts).sum(axis=1) for r in rates]
    np.testing.assert_allclose(PoissonEmission(rates).log_density(counts).T, expected, rtol=1e-12)


@pytest.mark.parametrize("diagonal", [True, False])
def test_gaussian_update_is_the_weighted_maximiser_far_from_the_origin(diagonal):
    rng = np.random.default_rng(0)
    X, gamma = 1e8 + rng.standard_normal((50, 2)), rng.dirichlet([1, 1], 50)
    start = np.ones((2, 2)) if diagonal else np.tile(np.eye(2), (2, 1, 1))
    emission = GaussianEmission(X[:2], start, np.full(2, 1e-9))
    new = emission.update(emission.statistics(X, gamma))
    emission = GaussianEmission(np.zeros((2, 2)), start, np.full(2, 1e-9))
    for _ in range(2):  # means at the origin cost the digits of the first update only
        emission = emission.update(emission.statistics(X, gamma))
    np.testing.assert_allclose(emission.covariances, new.covariances, rtol=1e-6)
    for j in range(2):
        mean = np.average(X - 1e8, axis=0, weights=gamma[:, j])
        np.testing.assert_allclose(new.means[j] - 1e8, mean, atol=1e-7)
        S = np.cov((X - 1e8).T, aweights=gamma[:, j], ddof=0)
        expected = np.diag(S) if diagonal else S
        np.testing.assert_allclose(new.covariances[j], expected, rtol=1e-6)


def test_the_floor_is_the_constrained_maximiser():
    """Points near a line: no C >= diag(floor) of 300 directions has a larger likelihood."""
    rng, floor = np.random.default_rng(0), np.array([0.01, 0.04])
    X = rng.standard_normal((30, 2)) * [1e-3, 1.0] @ np.array([[0.6, -0.8], [0.8, 0.6]])
    emission = GaussianEmission(X[:1], np.eye(2)[None], floor)
    best = emission.update(emission.statistics(X, np.ones((30, 1)))).covariances[0]
    S = np.cov(X.T, ddof=0)
    assert np.linalg.eigvalsh(S - np.diag(floor)).min() < 0
    assert np.linalg.eigvalsh(best - np.diag(floor)).min() > -1e-12

    def likelihood(C):
        return -np.linalg.slogdet(C)[1] - np.trace(np.linalg.solve(C, S))

    for size in np.repeat([1e-3, 0.1, 10.0], 100):
        W = rng.standard_normal((2, 2))
        other = np.diag(floor) + size * W @ W.T
        for step in (1e-4, 0.1, 1.0):
            assert likelihood(best + step * (other - best)) <= likelihood(best) + 1e-12
    diagonal = GaussianEmission(np.zeros((1, 2)), np.ones((1, 2)), floor)
    flat = X * [1e-3, 1.0]
    variances = diagonal.update(diagonal.statistics(flat, np.ones((30, 1)))).covariances
    np.testing.assert_allclose(variances, [[0.01, flat[:, 1].var()]], rtol=1e-12)


# Baum-Welch ----------------------------------------------------------------------------------


def weather(T=120, seed=0):
    model = HMM(
        np.array([0.6, 0.4]),
        np.array([[0.8, 0.2], [0.3, 0.7]]),
        CategoricalEmission(np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])),
    )
    return model, *sample(model, T, np.random.default_rng(seed))


def test_expected_counts_total_the_number_of_starts_transitions_and_symbols():
    model, x, _ = weather()
    c = expected_counts(model, x, [50, 1, 69])
    assert c.start.sum() == pytest.approx(3)
    assert c.transitions.sum() == pytest.approx(49 + 0 + 68)
    assert c.emission[0].sum(axis=0) == pytest.approx(np.bincount(x))


def test_chunks_add_up_to_the_whole():
    model, x, _ = weather()
    whole = expected_counts(model, x, [50, 30, 40])
    parts = add_counts(
        expected_counts(model, x[:50]), expected_counts(model, x[50:], lengths=[30, 40])
    )
    np.testing.assert_allclose(parts.start, whole.start, rtol=1e-12)
    np.testing.assert_allclose(parts.transitions, whole.transitions, rtol=1e-11)
    np.testing.assert_allclose(parts.emission[0], whole.emission[0], rtol=1e-11)
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)


def test_counts_are_the_sums_of_the_posteriors():
    model, x, _ = weather()
    c, log_B = expected_counts(model, x, [50, 30, 40]), model.emission.log_density(x)
    parts = [posteriors(model.pi, model.A, B) for B in np.split(log_B, [50, 80])]
    np.testing.assert_allclose(c.start, sum(p.gamma[0] for p in parts), rtol=1e-12)
    np.testing.assert_allclose(c.transitions, sum(p.xi.sum(axis=0) for p in parts), rtol=1e-11)
    gamma = np.concatenate([p.gamma for p in parts])
    for v in range(3):
        np.testing.assert_allclose(c.emission[0][:, v], gamma[x == v].sum(axis=0), rtol=1e-11)


def test_baum_welch_never_falls_and_reaches_a_stationary_point():
    model, x, _ = weather(400)
    start = HMM(
        np.array([0.5, 0.5]),
        np.array([[0.6, 0.4], [0.4, 0.6]]),
        CategoricalEmission(np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])),
    )
    fit = baum_welch(start, x, tol=1e-11, max_iter=5000)
    assert fit.converged
    assert (np.diff(fit.trace) >= -1e-9).all()
    assert fit.trace[-1] > fit.trace[0]
    again = m_step(fit.params, expected_counts(fit.params, x))
    np.testing.assert_allclose(again.A, fit.params.A, atol=1e-4)
    np.testing.assert_allclose(again.emission.probs, fit.params.emission.probs, atol=1e-4)
    truth = expected_counts(model, x).log_likelihood
    assert fit.trace[-1] >= truth


def test_a_wrong_m_step_is_caught():
    """Emission counts handed to the wrong state make the log-likelihood fall: the driver raises."""
    model, x, _ = weather(200)

    def swapped(theta, X, lengths):
        c = expected_counts(theta, X, lengths)
        return c._replace(emission=(c.emission[0][::-1],))

    with pytest.raises(RuntimeError):
        baum_welch(model, x, counts=swapped)


def test_an_empty_state_keeps_its_rows():
    A = np.array([[1.0, 0.0], [0.3, 0.7]])
    model = HMM(np.array([1.0, 0.0]), A, PoissonEmission(np.array([[2.0], [9.0]])))
    fit = baum_welch(model, np.array([[1.0], [4.0], [1.0]]))
    assert fit.params.A.tolist() == A.tolist()
    assert fit.params.emission.rates.tolist() == [[2.0], [9.0]]
    for covariances in (np.ones((2, 1)), np.ones((2, 1, 1))):
        emission = GaussianEmission(np.array([[0.0], [7.0]]), covariances, np.full(1, 1e-3))
        fit = baum_welch(HMM(model.pi, A, emission), np.array([[1.0], [4.0], [1.0]]))
        assert fit.params.emission.means[1, 0] == 7
        assert fit.params.emission.covariances[1].ravel().tolist() == [1.0]


def test_zeros_of_a_left_right_model_stay_zero():
    A = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    X = np.repeat([1, 40, 200], 20)[:, None]
    model = PoissonHMM(
        3, startprob_init=[1, 0, 0], transmat_init=A, rates_init=[[2], [30], [150]]
    ).fit(X)
    assert model.transmat_[A == 0].tolist() == [0] * 4
    assert model.transmat_[0] == pytest.approx([0.95, 0.05, 0], abs=1e-6)
    assert model.predict(X).tolist() == np.repeat([0, 1, 2], 20).tolist()


def test_an_impossible_start_is_refused_by_name():
    start = HMM(np.ones(1), np.ones((1, 1)), PoissonEmission(np.zeros((1, 1))))
    with pytest.raises(ValueError, match="impossible under the starting model"):
        baum_welch(start, np.array([[1.0]]))


# Estimators ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_diagonal_covariances_conform_as_test_conformance_asks_of_the_defaults():
    results = check_estimator(GaussianHMM(covariance_type="diag"), on_skip=None, on_fail=None)
    assert {r["status"] for r in results if r["check_name"] != "check_array_api_input"} == {
        "passed"
    }


def series(seed=0, n=200):
    A = np.array([[0.95, 0.05], [0.1, 0.9]])
    emission = GaussianEmission(np.array([[0.0, 0], [4, 1]]), np.ones((2, 2)), np.ones(2))
    return sample(HMM(np.array([1.0, 0]), A, emission), n, np.random.default_rng(seed))


def test_estimators_work_in_pipelines_searches_and_clones():
    X, _ = series()
    model = make_pipeline(StandardScaler(), GaussianHMM(random_state=0))
    assert np.isfinite(cross_val_score(model, X, cv=KFold(3))).all()
    search = GridSearchCV(GaussianHMM(random_state=0), {"n_components": [1, 2]}, cv=KFold(2))
    assert search.fit(X).best_params_ == {"n_components": 2}
    assert repr(clone(GaussianHMM(3))) == "GaussianHMM(n_components=3)"


def test_predictions_agree_with_the_functional_core():
    X, z = series()
    model = GaussianHMM(random_state=0).fit(X, lengths=[150, 50])
    pi, A = model.startprob_, model.transmat_
    log_B = model.model_.emission.log_density(X)
    parts = log_B[:150], log_B[150:]
    expected = np.concatenate([viterbi(pi, A, part).states for part in parts])
    assert (model.predict(X, lengths=[150, 50]) == expected).all()
    gamma = np.concatenate([posteriors(pi, A, part).gamma for part in parts])
    np.testing.assert_allclose(model.predict_proba(X, lengths=[150, 50]), gamma, atol=1e-12)
    total = sum(forward(pi, A, part).log_likelihood for part in parts)
    assert model.score(X, lengths=[150, 50]) == pytest.approx(total, rel=1e-12)
    assert model.trace_[-1] == pytest.approx(total, rel=1e-12)
    score, states = model.decode(X, lengths=[150, 50])
    joint = [joint_log_probability(pi, A, p, s) for p, s in zip(parts, np.split(states, [150]))]
    assert score == pytest.approx(sum(joint), rel=1e-12)
    share = np.mean(states == z)
    assert max(share, 1 - share) > 0.95


def test_restarts_keep_the_best_and_seeds_repeat():
    X, _ = series(3)
    X = np.floor(np.abs(3 * X))
    one = PoissonHMM(3, random_state=5).fit(X)
    many = PoissonHMM(3, random_state=5, n_init=5).fit(X)
    assert many.trace_[-1] >= one.trace_[-1]
    same = PoissonHMM(3, random_state=5, n_init=5).fit(X)
    assert (same.rates_ == many.rates_).all()


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_gaussian_fit_does_not_depend_on_the_unit(scale):
    X, _ = series()
    plain = GaussianHMM(random_state=0, tol=1e-8).fit(X)
    scaled = GaussianHMM(random_state=0, tol=1e-8).fit(X * scale)
    np.testing.assert_allclose(scaled.means_, plain.means_ * scale, rtol=1e-6)
    np.testing.assert_allclose(scaled.transmat_, plain.transmat_, rtol=1e-6)
    assert scaled.n_iter_ == plain.n_iter_


def test_degenerate_gaussian_data_have_defined_fits():
    same = GaussianHMM(random_state=0).fit(np.full((6, 2), 3.0))
    np.testing.assert_allclose(same.means_, 3.0)
    assert np.isfinite(same.trace_).all()
    two = GaussianHMM(random_state=0).fit(np.repeat([[0.0], [1.0]], 10, axis=0))
    np.testing.assert_allclose(np.sort(two.covars_.ravel()), 0.25e-6)


def test_categorical_symbols_are_distinct_rows():
    X = np.array([[0, 1], [0, 1], [2, 0], [0, 1], [5, 5], [2, 0]])
    model = CategoricalHMM(random_state=0).fit(X)
    assert model.categories_.tolist() == [[0, 1], [2, 0], [5, 5]]
    assert model.emissionprob_.sum(axis=1) == pytest.approx([1, 1])
    rows, z = model.sample(30, random_state=0)
    assert {tuple(r) for r in rows} <= {(0, 1), (2, 0), (5, 5)}
    assert len(z) == 30


def test_symbols_outside_the_alphabet():
    X = np.array([1, 1, 2, 1, 3, 3, 3, 2])[:, None]
    model = CategoricalHMM(random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"X holds 4\.0, which is not among the 3 symbols"):
        model.score([[1], [4]])
    lenient = CategoricalHMM(unseen="missing", random_state=0).fit(X)
    filtered = lenient.startprob_ @ lenient.transmat_
    np.testing.assert_allclose(lenient.predict_proba([[9], [9]])[1], filtered, atol=1e-12)
    stated = CategoricalHMM(categories=[3, 2, 1, 4], random_state=0).fit(X)
    assert stated.emissionprob_[:, 3].tolist() == [0, 0]
    assert stated.score([[1], [4]]) == -np.inf
    assert stated.predict_proba([[1], [4]]).tolist() == [[0, 0], [0, 0]]
    with pytest.raises(ValueError, match="not among the 2 symbols"):
        CategoricalHMM(categories=[1, 2], unseen="missing").fit(X)


# Errors --------------------------------------------------------------------------------------


ONE = HMM(np.ones(1), np.ones((1, 1)), CategoricalEmission(np.full((1, 2), 0.5)))
COUNTS = ONE._replace(emission=PoissonEmission(np.ones((1, 1))))
NORMAL = ONE._replace(emission=GaussianEmission(np.zeros((1, 1)), np.ones((1, 1)), np.ones(1)))
CHAIN = GaussianChain([0.0], *[np.ones((1, 1))] * 5)

BAD_CALLS = [
    (lambda: kalman_filter(CHAIN, [[np.nan]]), "contains NaN"),
    (lambda: kalman_filter(CHAIN, np.ones((3, 2))), "X must have 1 columns, one for each row of C"),
    (lambda: kalman_filter(CHAIN._replace(C=np.ones((1, 2))), [[1.0]]), "C must have 1 columns"),
    (lambda: kalman_filter(CHAIN._replace(R=np.eye(2)), [[1.0]]), r"R must be of shape \(1, 1\)"),
    (lambda: kalman_filter(CHAIN._replace(cov=[[0.0]]), [[1.0]]), "cov must be positive definite"),
    (lambda: kalman_smoother(CHAIN._replace(A=np.eye(2)), [[1.0]]), r"A must be of shape \(1, 1"),
    (lambda: kalman_smoother(CHAIN._replace(W=[[-1.0]]), [[1.0]]), "W must be positive definite"),
    (lambda: expected_counts(ONE, [0, 2]), "symbols, whole numbers from 0 to 1, or -1"),
    (lambda: expected_counts(ONE, [0, -2]), "symbols, whole numbers from 0 to 1, or -1"),
    (lambda: expected_counts(ONE, [0.0, 1.0]), "symbols, whole numbers"),
    (lambda: baum_welch(ONE, "010"), "symbols, whole numbers"),
    (lambda: baum_welch(COUNTS, [[1], [-1]]), "X must hold counts"),
    (lambda: baum_welch(COUNTS, [[1], [0.5]]), "whole numbers"),
    (lambda: expected_counts(COUNTS, np.ones((3, 2))), "X must have 1 columns"),
    (lambda: expected_counts(COUNTS, [[1.0], [np.inf]]), "contains infinity"),
    (lambda: baum_welch(NORMAL, np.ones(3)), "Expected 2D array"),
    (lambda: baum_welch(NORMAL, [[np.nan]]), "contains NaN"),
    (lambda: expected_counts(NORMAL, np.ones((3, 2))), "X must have 1 columns"),
    (lambda: sample(ONE, 3, None), "rng must be a numpy.random.Generator"),
    (lambda: markov_chain_log_probability(MarkovChain([1.0], [[1.0]]), "01"), "z must be a non-em"),
    (lambda: GaussianHMM(means_init="zero").fit(np.zeros((3, 1))), "means_init must hold finite"),
    (lambda: GaussianHMM(means_init=[[1], [2, 3]]).fit(np.zeros((3, 1))), "means_init must hold"),
    (lambda: CategoricalHMM(categories="ab").fit([[0], [1]]), "categories must hold numbers only"),
    (lambda: CategoricalHMM(categories=[]).fit([[0], [1]]), "0 sample"),
    (lambda: forward([0.5, 0.6], np.eye(2), np.zeros((1, 2))), "pi must sum to one"),
    (lambda: forward([1.5, -0.5], np.eye(2), np.zeros((1, 2))), "pi must not be negative"),
    (lambda: forward([0.5, 0.5], [[0.5, 0.6], [0, 1]], np.zeros((1, 2))), "each row of A must sum"),
    (lambda: forward([0.5, 0.5], np.eye(3), np.zeros((1, 2))), r"A must be of shape \(2, 2\)"),
    (lambda: forward([0.5, 0.5], np.eye(2), np.zeros((1, 3))), "one column for each of the 2"),
    (lambda: forward([0.5, 0.5], np.eye(2), np.zeros((0, 2))), "0 sample"),
    (lambda: forward([0.5, 0.5], np.eye(2), [[np.nan, 0]]), "no NaN"),
    (lambda: backward(np.eye(2), [[np.inf, 0]]), "below infinity"),
    (lambda: viterbi([0.5, 0.5], np.ones((2, 3)), np.zeros((1, 2))), "A must be"),
    (lambda: joint_log_probability([1.0], [[1.0]], [[0.0]], [1]), r"states 0\.\.0, got 1"),
    (lambda: joint_log_probability([1.0], [[1.0]], [[0.0]], [0, 0]), "must have 1 entries"),
    (lambda: fit_markov_chain([], 2), "non-empty vector"),
    (lambda: fit_markov_chain([0.5], 2), "whole numbers"),
    (lambda: fit_markov_chain([0, 1, 0], 2, lengths=[1, 1]), "add up to the 3 rows"),
    (lambda: fit_markov_chain([0, 1, 0], 0), "K must be an integer"),
    (lambda: GaussianHMM().fit(np.zeros((3, 1)), lengths=[2, 2]), "add up to the 3 rows"),
    (lambda: GaussianHMM().fit(np.zeros((3, 1)), lengths=[3, 0]), "at least 1 each"),
    (lambda: GaussianHMM().fit(np.zeros((0, 1))), "0 sample"),
    (lambda: GaussianHMM(4).fit(np.zeros((3, 1))), "minimum of 4"),
    (lambda: GaussianHMM(0).fit(np.zeros((3, 1))), "n_components"),
    (lambda: GaussianHMM(n_init=0).fit(np.zeros((3, 1))), "n_init"),
    (lambda: GaussianHMM(min_covar=0).fit(np.zeros((3, 1))), "min_covar"),
    (lambda: GaussianHMM(covariance_type="tied").fit(np.zeros((3, 1))), "covariance_type"),
    (lambda: GaussianHMM(means_init=[[0.0]]).fit(np.zeros((3, 1))), "means_init"),
    (lambda: GaussianHMM(covars_init=-np.ones((2, 1, 1))).fit(np.zeros((3, 1))), "covars_init"),
    (lambda: GaussianHMM(transmat_init=np.ones((2, 2))).fit(np.zeros((3, 1))), "transmat_init"),
    (lambda: GaussianHMM(startprob_init=[1, 1]).fit(np.zeros((3, 1))), "startprob_init"),
    (lambda: GaussianHMM().fit([[0.0], [np.nan], [1.0]]), "contains NaN"),
    (lambda: PoissonHMM().fit([[0], [-1], [2]]), "Negative values"),
    (lambda: PoissonHMM().fit([[0], [0.5], [2]]), "whole numbers"),
    (lambda: PoissonHMM(rates_init=[[-1], [1]]).fit([[0], [1], [2]]), "rates_init"),
    (lambda: CategoricalHMM(unseen="skip").fit([[0], [1], [2]]), "unseen"),
    (lambda: CategoricalHMM(categories=[0, 0, 1]).fit([[0], [1]]), "categories must be distinct"),
    (lambda: CategoricalHMM(categories=[0, 1]).fit([[0, 1], [1, 1]]), "must have 2 columns"),
    (lambda: CategoricalHMM(emissionprob_init=np.eye(2)).fit([[0], [1], [2]]), "emissionprob_init"),
    (lambda: sample(HMM(np.ones(1), np.ones((1, 1)), None), 0, None), "T must be an integer"),
]


@pytest.mark.parametrize(("call", "message"), BAD_CALLS)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("method", ["predict", "predict_proba", "score", "decode"])
def test_unfitted(method):
    with pytest.raises((NotFittedError, ValueError), match="not fitted yet"):
        getattr(CategoricalHMM(), method)([[0], [1]])
    with pytest.raises((NotFittedError, ValueError), match="not fitted yet"):
        PoissonHMM().sample(3)


def test_running_out_of_iterations_warns_with_gap_and_tolerance():
    X, _ = series()
    with pytest.warns(UserWarning, match=r"max_iter=1: .* tol is"):
        GaussianHMM(max_iter=1, tol=0, random_state=0).fit(X)


def test_records_are_what_they_say():
    chain = MarkovChain(np.array([1.0]), np.ones((1, 1)))
    assert markov_chain_log_probability(chain, [0, 0, 0]) == 0


# Other people's data ---


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
@pytest.mark.parametrize("seed", range(12))
def test_a_constant_column_is_no_obstacle(seed, covariance_type):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal(60), np.full(60, 10 * rng.standard_normal())])
    options = {"covariance_type": covariance_type, "random_state": 0, "tol": 1e-3}
    model = hmm.GaussianHMM(2, **options).fit(X)
    assert (np.diff(model.trace_) > -1e-9).all()
    np.testing.assert_allclose(model.means_[:, 1], X[0, 1], rtol=1e-12)
    np.testing.assert_allclose(model.model_.emission.floor, [1e-6 * X[:, 0].var(), 1e-6])


def test_a_constant_column_does_not_spoil_the_seeding():
    rng = np.random.default_rng(0)
    z = np.repeat([0, 1, 2, 0, 1, 2], 20)
    X = np.array([0.0, 5.0, 10.0])[z][:, None] + rng.standard_normal((120, 1))
    for column in (0.1, 1e9 + 0.1, -7.7):
        Z = np.column_stack([X, np.full(120, column)])
        for seed in range(20):
            plain, wide = (
                hmm._spread_rows(rows, 3, np.random.default_rng(seed)) for rows in (X, Z)
            )
            assert plain[:, 0].tolist() == wide[:, 0].tolist()


@pytest.mark.parametrize("kind", [np.uint8, np.uint64, np.int8, np.int64, float])
def test_lengths_of_every_kind_of_whole_number(kind):
    X = np.random.default_rng(0).standard_normal((30, 2))
    model = hmm.GaussianHMM(2, random_state=0, tol=1e-3)
    if kind is float:
        with pytest.raises(ValueError, match="lengths must be a non-empty list of whole numbers"):
            model.fit(X, lengths=np.array([10.0, 20.0]))
    else:
        found = model.fit(X, lengths=np.array([10, 20], dtype=kind)).trace_
        assert found.tolist() == clone(model).fit(X, lengths=[10, 20]).trace_.tolist()


# With one state scikit-learn's checks of the order of rows hold whatever the code does. With two:


def two_states(kind, rng):
    """Return a fitted model of two sticky states, and three sequences with their lengths."""
    lengths = [7, 12, 5]
    z = np.concatenate([np.repeat([0, 1], [n // 2, n - n // 2]) for n in lengths])
    if kind is hmm.CategoricalHMM:
        X = np.where(rng.random(24) < 0.85, z, 1 - z)[:, None].astype(float)
    elif kind is hmm.PoissonHMM:
        X = rng.poisson(np.array([2.0, 9.0])[z])[:, None].astype(float)
    else:
        X = np.array([0.0, 2.0])[z][:, None] + rng.standard_normal((24, 1))
    model = kind(2, random_state=0, max_iter=5000, tol=1e-12).fit(X, lengths=lengths)
    return model, X, lengths


@pytest.mark.parametrize("kind", [hmm.GaussianHMM, hmm.PoissonHMM, hmm.CategoricalHMM])
def test_the_order_of_sequences_does_not_matter(kind):
    model, X, lengths = two_states(kind, np.random.default_rng(3))
    parts = np.split(X, np.cumsum(lengths)[:-1])
    score, paths = model.score(X, lengths=lengths), model.predict(X, lengths=lengths)
    gamma = model.predict_proba(X, lengths=lengths)
    for order in ([1, 2, 0], [2, 1, 0], [0, 2, 1]):
        Y, n = np.concatenate([parts[k] for k in order]), [lengths[k] for k in order]
        assert model.score(Y, lengths=n) == pytest.approx(score, rel=1e-13)
        back = [np.split(a, np.cumsum(lengths)[:-1]) for a in (paths, gamma)]
        states, soft = (np.concatenate([a[k] for k in order]) for a in back)
        assert model.predict(Y, lengths=n).tolist() == states.tolist()
        np.testing.assert_allclose(model.predict_proba(Y, lengths=n), soft, atol=1e-13)
        counts = [
            hmm.expected_counts(model.model_, model._rows(rows), ends)
            for rows, ends in ((X, lengths), (Y, n))
        ]
        np.testing.assert_allclose(counts[0].start, counts[1].start, atol=1e-12)
        np.testing.assert_allclose(counts[0].transitions, counts[1].transitions, atol=1e-12)


@pytest.mark.parametrize("kind", [hmm.GaussianHMM, hmm.PoissonHMM, hmm.CategoricalHMM])
def test_the_order_within_a_sequence_matters(kind):
    model, X, lengths = two_states(kind, np.random.default_rng(3))
    shuffled = np.concatenate(
        [np.random.default_rng(5).permutation(x) for x in np.split(X, np.cumsum(lengths)[:-1])]
    )
    assert sorted(shuffled.ravel()) == sorted(X.ravel())
    assert model.score(shuffled, lengths=lengths) < model.score(X, lengths=lengths) - 1
    joined = model.score(X)  # and so does where one sequence ends
    assert abs(joined - model.score(X, lengths=lengths)) > 0.1
    one = kind(1, random_state=0).fit(X)  # nothing of this with one state
    assert one.score(shuffled) == pytest.approx(one.score(X), rel=1e-12)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_rows_beyond_all_reach_are_impossible_without_a_warning(kind):
    X = 1e-8 * np.random.default_rng(0).normal(size=(20, 2))
    model = GaussianHMM(2, covariance_type=kind, random_state=0, tol=0.1).fit(X)
    with np.errstate(over="raise", invalid="raise"):
        assert model.score(np.full((2, 2), 1e150)) == -np.inf
        assert not model.predict_proba(np.full((2, 2), 1e150)).any()


def test_rates_too_large_to_draw_from_are_refused():
    with pytest.raises(ValueError, match="rates must be at most 9e18"):
        PoissonEmission(np.array([[1e20]])).draw(np.array([0]), np.random.default_rng(0))


def two_state_data(kind):
    """Return X of two sequences, of 30 and 20 rows, and a model to start from."""
    rng = np.random.default_rng(1)
    A, pi = np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([0.6, 0.4])
    start = {
        GaussianHMM: GaussianEmission(
            np.array([[0.0, 1.0], [2.0, -1.0]]),
            np.array([np.eye(2), 2 * np.eye(2)]),
            np.full(2, 1e-6),
        ),
        PoissonHMM: PoissonEmission(np.array([[2.0, 5.0], [6.0, 1.0]])),
        CategoricalHMM: CategoricalEmission(np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])),
    }[kind]
    model = HMM(pi, A, start)
    X = np.concatenate([sample(model, T, rng)[0] for T in (30, 20)])
    return X, model


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [GaussianHMM, PoissonHMM, CategoricalHMM])
def test_an_ascent_tells_every_step_and_listens_to_lengths_and_limits(kind):
    X, model = two_state_data(kind)
    lengths = [30, 20]
    run = baum_welch(model, X, lengths)
    assert run.trace[0] == pytest.approx(expected_counts(model, X, lengths).log_likelihood)
    assert run.trace[-1] == pytest.approx(expected_counts(run.params, X, lengths).log_likelihood)
    assert len(run.trace) == run.n_iter + 1
    small = np.diff(run.trace) / 50 <= 1e-6
    assert not small[:-1].any()
    assert run.converged == small[-1] == (run.n_iter < 200)
    if kind is PoissonHMM:
        named = baum_welch(model, X, lengths, max_iter=200, tol=1e-6, counts=expected_counts)
        assert np.array_equal(run.trace, named.trace)
    assert baum_welch(model, X, lengths, tol=1e-3).n_iter < run.n_iter
    short = baum_welch(model, X, lengths, max_iter=2)
    assert (short.n_iter, short.converged) == (2, False)
    assert baum_welch(model, X).trace[0] != pytest.approx(run.trace[0])
    used, chunks = [], [(X[:30], [30]), (X[30:], [20])]

    def workers(function, tasks):
        return (used.append(1) or function(task) for task in tasks)

    for asked in ({"tol": 1e-3}, {"max_iter": 2}):
        joined = hmm.baum_welch_over_chunks(model, chunks, **asked, workers=workers)
        alone = baum_welch(model, X, lengths, **asked)
        assert joined.trace == pytest.approx(alone.trace)
        assert joined.n_iter == alone.n_iter
    assert len(used) > 2 * 3
    a, b = expected_counts(model, X[:30]), expected_counts(model, X[30:])
    both, whole = add_counts(a, b), expected_counts(model, X, lengths)
    assert both.log_likelihood == pytest.approx(whole.log_likelihood)
    for one, other in zip(
        (both.start, both.transitions, *both.emission),
        (whole.start, whole.transitions, *whole.emission),
    ):
        assert one == pytest.approx(other)
    parts = [
        posteriors(model.pi, model.A, model.emission.log_density(X[s]))
        for s in (slice(0, 30), slice(30, 50))
    ]
    assert whole.start == pytest.approx(sum(p.gamma[0] for p in parts))
    assert whole.transitions == pytest.approx(sum(p.xi.sum(axis=0) for p in parts))
    gamma = np.concatenate([p.gamma for p in parts])
    new = m_step(model, whole)
    assert new.pi == pytest.approx(whole.start / 2)
    shares = whole.transitions / whole.transitions.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(new.A, shares)
    if kind is CategoricalHMM:
        counts = np.array([[gamma[v == X, j].sum() for v in range(3)] for j in range(2)])
        assert new.emission.probs == pytest.approx(counts / counts.sum(axis=1, keepdims=True))
    else:
        means = gamma.T @ X / gamma.sum(axis=0)[:, None]
        assert new.emission[0] == pytest.approx(means)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [GaussianHMM, PoissonHMM, CategoricalHMM])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"n_components": 3},
        {"n_init": 4},
        {"max_iter": 2},
        {"tol": 1e-2},
        {"startprob_init": [0.9, 0.1]},
        {"transmat_init": [[0.6, 0.4], [0.1, 0.9]]},
        {"random_state": 7},
        {"covariance_type": "diag"},
        {"min_covar": 0.3},
    ],
    ids=str,
)
def test_estimators_climb_from_the_starts_they_are_asked_for(kind, given, monkeypatch):
    X, _ = two_state_data(kind)
    if not set(given) <= set(kind().get_params()):
        with pytest.raises((TypeError, ValueError)):
            kind(**given)
        return
    if kind is CategoricalHMM:
        X = np.array([4.0, 5.0, 9.0])[X][:, None]
    runs, climb = [], hmm.baum_welch

    def recorded(start, X, lengths, **options):
        runs.append((start, X, lengths, options, climb(start, X, lengths, **options)))
        return runs[-1][-1]

    monkeypatch.setattr(hmm, "baum_welch", recorded)
    asked = {"random_state": 3, "max_iter": 15} | given
    settings = kind().get_params() | asked
    fitted = kind(**asked).fit(X, lengths=[30, 20])
    assert len(runs) == settings["n_init"]
    best = max((run[-1] for run in runs), key=lambda fit: fit.trace[-1])
    for start, _, lengths, options, _ in runs:
        assert list(lengths) == [30, 20]
        assert options == {"max_iter": settings["max_iter"], "tol": settings["tol"]}
        assert len(start.pi) == settings["n_components"]
        if "startprob_init" in given:
            assert start.pi.tolist() == given["startprob_init"]
        if "transmat_init" in given:
            assert start.A.tolist() == given["transmat_init"]
        if kind is GaussianHMM:
            assert start.emission.floor == pytest.approx(settings["min_covar"] * X.var(axis=0))
            assert start.emission.covariances.ndim == (2 if "covariance_type" in given else 3)
    assert np.array_equal(fitted.trace_, best.trace)
    assert (fitted.n_iter_, fitted.converged_) == (best.n_iter, best.converged)
    assert np.array_equal(fitted.startprob_, best.params.pi)
    assert np.array_equal(fitted.transmat_, best.params.A)
    fields = {
        GaussianHMM: ("means_", "covars_"),
        PoissonHMM: ("rates_",),
        CategoricalHMM: ("emissionprob_",),
    }
    for name, value in zip(fields[kind], best.params.emission):
        assert np.array_equal(getattr(fitted, name), value)
    rows = runs[0][1]
    log_B = best.params.emission.log_density(rows)
    both = (slice(0, 30), slice(30, 50))
    parts = [forward(best.params.pi, best.params.A, log_B[s]) for s in both]
    paths = [viterbi(best.params.pi, best.params.A, log_B[s]) for s in both]
    gammas = [posteriors(best.params.pi, best.params.A, log_B[s]).gamma for s in both]
    lengths = [30, 20]
    assert fitted.score(X, lengths=lengths) == pytest.approx(sum(p.log_likelihood for p in parts))
    value, z = fitted.decode(X, lengths)
    assert value == pytest.approx(sum(p.log_probability for p in paths))
    assert z.tolist() == np.concatenate([p.states for p in paths]).tolist()
    assert fitted.predict(X, lengths).tolist() == z.tolist()
    assert np.allclose(fitted.predict_proba(X, lengths), np.concatenate(gammas))
    assert len(fitted.sample(random_state=0)[0]) == 1
    drawn, z = fitted.sample(6, random_state=0)
    again, same = sample(best.params, 6, np.random.default_rng(0))
    again = np.array([4.0, 5.0, 9.0])[again][:, None] if kind is CategoricalHMM else again
    assert np.array_equal(drawn, again)
    assert np.array_equal(z, same)
    used = []

    def workers(function, tasks):
        return (used.append(1) or function(task) for task in tasks)

    kind(**asked | {"max_iter": 1}, workers=workers).fit(X)
    assert len(used) == settings["n_init"]


def test_given_emissions_are_the_start():
    X, model = two_state_data(GaussianHMM)
    one = {"max_iter": 1, "startprob_init": model.pi, "transmat_init": model.A}
    covars = np.array([3 * np.eye(2), np.eye(2)])
    with pytest.warns(UserWarning, match="max_iter=1"):
        fit = GaussianHMM(**one, means_init=model.emission.means, covars_init=covars).fit(X)
    emission = model.emission._replace(covariances=covars, floor=1e-6 * X.var(axis=0))
    start = HMM(model.pi, model.A, emission)
    assert fit.trace_[0] == pytest.approx(expected_counts(start, X).log_likelihood)
    for kind, name in ((PoissonHMM, "rates_init"), (CategoricalHMM, "emissionprob_init")):
        X, model = two_state_data(kind)
        rows = X if kind is PoissonHMM else X[:, None]
        with pytest.warns(UserWarning, match="max_iter=1"):
            fit = kind(**one, **{name: model.emission[0]}).fit(rows)
        start = HMM(one["startprob_init"], one["transmat_init"], model.emission)
        assert fit.trace_[0] == pytest.approx(expected_counts(start, X).log_likelihood)


def test_a_chain_counts_the_sequences_it_is_told_of():
    z = np.array([0, 1, 1, 0, 2, 2, 1, 0])
    one, two = fit_markov_chain(z, 3), fit_markov_chain(z, 3, [3, 5])
    assert one.pi.tolist() == [1, 0, 0]
    assert two.pi == pytest.approx([1, 0, 0])
    assert one.A[1] == pytest.approx([2 / 3, 1 / 3, 0])
    assert two.A[1] == pytest.approx([1 / 2, 1 / 2, 0])
    assert fit_markov_chain(z, 3, [4, 4]).pi == pytest.approx([1 / 2, 0, 1 / 2])


def test_starts_of_emissions_are_rows_and_variances_of_the_data():
    X = np.random.default_rng(5).poisson([2.0, 9.0], (40, 2)).astype(float)
    rates = PoissonEmission.start(X, 3, np.random.default_rng(1)).rates
    halves = 2 * rates - X.mean(axis=0)
    assert all((np.abs(X - row).max(axis=1) < 1e-12).any() for row in halves)
    gaussian = GaussianEmission.start(X, 3, np.random.default_rng(1))
    np.testing.assert_allclose(gaussian.means, halves)
    np.testing.assert_allclose(gaussian.covariances, [np.diag(X.var(axis=0))] * 3)
    np.testing.assert_allclose(gaussian.floor, 1e-6 * X.var(axis=0))


def test_a_seed_of_a_categorical_model_gives_one_fit():
    X = np.random.default_rng(6).integers(0, 3, (30, 1))
    one, same, other = (
        CategoricalHMM(3, random_state=seed).fit(X).emissionprob_ for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_poisson_rates_start_half_way_to_the_mean():
    start = hmm.PoissonEmission.start(np.array([[4.0], [4.0], [4.0]]), 2, np.random.default_rng(0))
    assert start.rates.tolist() == [[4.0], [4.0]]
    X = np.array([[1.0, 0.0], [2.0, 5.0], [9.0, 1.0]])
    (one,) = hmm.PoissonEmission.start(X, 1, np.random.default_rng(0)).rates
    assert (2 * one - [4.0, 2.0]).tolist() in X.tolist()
