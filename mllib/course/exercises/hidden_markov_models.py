"""Checks of the exercises of *Hidden Markov models*."""

import itertools

import numpy as np

from mllib.course.exercises import breaks, code, points, value


def paths(pi, A, T):
    """Return every path of T states with its probability."""
    for z in itertools.product(range(len(pi)), repeat=T):
        yield z, pi[z[0]] * np.prod([A[i, j] for i, j in itertools.pairwise(z)])


# The missing step ----------------------------------------------------------------------------

points(
    "ex-hidden-markov-models-xi",
    r"The sum over $j$ leaves $\alpha_t(i)$ times what the backward recursion calls $\beta_t(i)$.",
    r"The sum over $i$ leaves $\beta_{t+1}(j)$ times what the forward recursion calls "
    r"$\alpha_{t+1}(j)$.",
    "Neither needs the other recursion.",
)

# Nothing observed ----------------------------------------------------------------------------


@code(
    "ex-hidden-markov-models-predict",
    "your function `predict_state(pi, A, log_B, h)`, which returns the probabilities of the "
    "states at time T + h, shape (K,)",
)
def _(c, predict_state):
    rng, right, shapes, sums = np.random.default_rng(0), [], [], []
    for K, T, h in itertools.product((2, 3), (1, 3), (0, 1, 2)):
        pi, A = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), size=K)
        B, truth = rng.uniform(0.1, 1, (T, K)), np.zeros(K)
        for z, probability in paths(pi, A, T + h):
            truth[z[-1]] += probability * np.prod(B[np.arange(T), z[:T]])
        said = np.asarray(predict_state(pi, A, np.log(B), h))
        shapes.append(said.shape == (K,))
        sums.append(abs(said.sum() - 1) < 1e-9)
        right.append(np.allclose(said, truth / truth.sum()))
    c.holds("one probability for each state", shapes)
    c.holds("they add up to 1", sums)
    c.holds("as the sum over all paths has it, 2 and 3 states, $h = 0, 1, 2$", right)
    pi, A = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.3, 0.7]])
    far = predict_state(pi, A, np.log([[0.9, 0.1]]), 300)
    c.holds(
        "after 300 steps nothing is left of what was seen: 3/4 and 1/4",
        np.allclose(far, [0.75, 0.25]),
    )


points(
    "ex-hidden-markov-models-predict",
    "A factor of 1 for every state: a row of zeros in logarithms.",
)

# Memory in the emissions ---------------------------------------------------------------------


@code(
    "ex-hidden-markov-models-counterexample",
    "pi, A and your rule as a function `q(x, z)`: the probability of the three observations x, "
    "each 0 or 1, given the path z of three states 0 or 1",
)
def _(c, pi, A, q):
    pi, A = np.asarray(pi, dtype=float), np.asarray(A, dtype=float)
    triples = list(itertools.product((0, 1), repeat=3))
    c.holds("two states", pi.shape == (2,), A.shape == (2, 2))
    c.holds(
        "pi and the rows of A are probabilities",
        np.isclose([pi.sum(), *A.sum(axis=1)], 1),
        pi >= 0,
        A >= 0,
    )
    c.holds(
        "on every path the eight sequences have probabilities that add up to 1",
        [abs(sum(q(x, z) for x in triples) - 1) < 1e-9 for z in triples],
        [q(x, z) >= 0 for x in triples for z in triples],
    )
    weight = dict(paths(pi, A, 3))
    given = np.zeros((3, 2, 2))  # p(x_t = v | z_t = j), the one-time emissions of the rule
    for (z, p), x, t in itertools.product(weight.items(), triples, range(3)):
        given[t, z[t], x[t]] += p * q(x, z)
    total = given.sum(axis=2, keepdims=True)
    given = np.divide(given, total, out=np.full_like(given, 0.5), where=total > 0)
    truth = {x: sum(p * q(x, z) for z, p in weight.items()) for x in triples}
    wrong = {
        x: sum(p * np.prod([given[t, z[t], x[t]] for t in range(3)]) for z, p in weight.items())
        for x in triples
    }
    c.holds(
        "with the one-time emissions of this rule the sum over paths gives another $p(x)$",
        max(abs(truth[x] - wrong[x]) for x in triples) > 1e-6,
    )


# Does order matter? --------------------------------------------------------------------------

value(
    "ex-hidden-markov-models-order",
    "the number of the 99 shuffles that score at least as high, and the bound on the probability "
    "that none does, were the years exchangeable",
    "0a2a0c01d294f692",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-hidden-markov-models-break",
    [
        (
            "_log_forward",
            "log_filter[t - 1, i] + log_A[i, j]",
            "log_filter[t - 1, i] + log_A[j, i]",
        ),
        ("_log_forward", "log_filter[t, j] -= log_scale[t]", "log_filter[t, j] -= 0.0"),
        ("_best_paths", "pointer[t, z[t]]", "pointer[t, z[ends[s] - 1]]"),
        ("m_step", "_normalise_rows(counts.start, model.pi)", "model.pi"),
    ],
)
points(
    "ex-hidden-markov-models-break",
    "A sequence of length 1 has no transition: of the four it would show the last only.",
)
