"""Hidden Markov models against hmmlearn's 'scaling' implementation, which is written in C++.

Categorical data from four states. Baum-Welch makes three iterations from one start.
"""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Hidden Markov models"
HOW = (
    "The recursions are plain loops, compiled: scaled where that is sure to lose nothing, in "
    "logarithms otherwise; equal symbols share one row of densities."
)

K, V, ITERATIONS = 4, 6, 3
ONE_MORE = (
    "Three iterations take four expectation steps, since the trace ends with the log-likelihood of "
    "the model that is returned; the peer takes three. Each step divides its posteriors by their "
    "sum, which keeps the digits of long sequences, and on short ones the checks of the input and "
    "of each M-step weigh as much as the loop."
)
SUMS = (
    "Both sides are compiled loops over four states, and both wait for one division after the "
    "other; what is saved are the log densities that the peer writes out for each time."
)
ARGMAX = (
    "Both sides are compiled loops that wait for one maximum after the other; ours also keeps the "
    "digits of the sum of a long path, and the checks of the input weigh on short ones."
)


def sample(lengths, slow, seed):
    """Return sequences of symbols and their model; ``slow`` states are left once in 10^4 steps."""
    rng = np.random.default_rng(seed)
    stay, blur = (1 - 1e-4, 9.0) if slow else (0.5, 0.0)
    A = (1 - stay) * rng.dirichlet(np.ones(K), K) + stay * np.eye(K)
    e = rng.dirichlet(np.ones(V), K) + blur
    e /= e.sum(axis=1, keepdims=True)
    n, state = int(np.sum(lengths)), 0
    fresh = np.zeros(n, dtype=bool)
    fresh[np.cumsum(lengths)[:-1]] = fresh[0] = True
    X, up, down = np.empty(n), np.cumsum(A, axis=1).tolist(), np.cumsum(e, axis=1).tolist()
    for t, (first, u, v) in enumerate(zip(fresh.tolist(), rng.random(n), rng.random(n))):
        row = [1 / K * (k + 1) for k in range(K)] if first else up[state]
        state = sum(u > c for c in row[:-1])
        X[t] = sum(v > c for c in down[state][:-1])
    return {"X": X[:, None], "lengths": lengths, "pi": np.full(K, 1 / K), "A": A, "e": e}


def our_model(data, iterations):
    from mllib.hidden_markov_models import CategoricalHMM

    return CategoricalHMM(
        K,
        max_iter=iterations,
        tol=0,
        startprob_init=data["pi"],
        transmat_init=data["A"],
        emissionprob_init=data["e"],
        categories=np.arange(V),
    )


def peer_model(data, iterations):
    from hmmlearn.hmm import CategoricalHMM

    model = CategoricalHMM(K, n_iter=iterations, tol=-np.inf, init_params="", n_features=V)
    model.implementation = "scaling"
    model.startprob_, model.transmat_ = data["pi"].copy(), data["A"].copy()
    model.emissionprob_ = data["e"].copy()
    return model


def symbols(data):
    """Return the data as hmmlearn wants them."""
    return data["X"].astype(int)


def our_fit(data):
    return lambda: our_model(data, ITERATIONS).fit(data["X"], lengths=data["lengths"])


def peer_fit(data):
    X = symbols(data)
    return lambda: peer_model(data, ITERATIONS).fit(X, data["lengths"])


def same_model(data):
    """Return our estimator with the parameters that the data came from."""
    model = our_model(data, 1).fit(data["X"][:1000])
    model.startprob_, model.transmat_, model.emissionprob_ = data["pi"], data["A"], data["e"]
    emission = type(model.model_.emission)(data["e"])
    model.model_ = model.model_._replace(pi=data["pi"], A=data["A"], emission=emission)
    return model


def our_score(data):
    model = same_model(data)
    return lambda: model.score(data["X"], lengths=data["lengths"])


def peer_score(data):
    model, X = peer_model(data, 1), symbols(data)
    return lambda: model.score(X, data["lengths"])


def our_path(data):
    model = same_model(data)
    return lambda: model.decode(data["X"], lengths=data["lengths"])[0]


def peer_path(data):
    model, X = peer_model(data, 1), symbols(data)
    return lambda: model.decode(X, data["lengths"])[0]


def equal_numbers(measure, data, mine, theirs):
    """Compare two log probabilities; both must be the same number, not only a good one."""
    if abs(mine - theirs) > 1e-9 * abs(theirs):
        raise RuntimeError(f"{measure} differs: {mine} and {theirs}.")
    return Quality(measure, mine, theirs, allowed=1e-9)


def equal_fits(data, mine, theirs):
    """Compare the log-likelihood of the data under both fitted models."""
    scores = (
        mine.score(data["X"], lengths=data["lengths"]),
        theirs.score(symbols(data), data["lengths"]),
    )
    return equal_numbers("log-likelihood after the fit (nats)", data, *scores)


TASKS = {
    "log-likelihood": (our_score, peer_score, partial(equal_numbers, "log-likelihood (nats)")),
    "Viterbi": (our_path, peer_path, partial(equal_numbers, "log probability of the path (nats)")),
    "Baum-Welch": (our_fit, peer_fit, equal_fits),
}


def row(task, words, lengths, target, slow=False):
    ours, peer, quality = TASKS[task]
    return Row(
        workload=f"{task}, {words}",
        n=sum(lengths),
        d=1,
        against="hmmlearn.hmm.CategoricalHMM, scaling",
        target=target,
        data=partial(sample, lengths, slow),
        ours=ours,
        peer=peer,
        quality=quality,
        why=WHY[task],
    )


TARGETS = {"log-likelihood": 0.7, "Viterbi": 0.6, "Baum-Welch": 0.4}
WHY = {"log-likelihood": SUMS, "Viterbi": ARGMAX, "Baum-Welch": ONE_MORE}

ROWS = [
    row(task, f"one sequence of {10**power}", [10**power], target)
    for task, target in TARGETS.items()
    for power in (3, 4, 5, 6)
]
ROWS += [row(task, "2000 sequences of 20", [20] * 2000, 0.25) for task in TARGETS]
ROWS += [
    row(task, "slow mixing, one sequence of 100000", [10**5], target, slow=True)
    for task, target in TARGETS.items()
]
