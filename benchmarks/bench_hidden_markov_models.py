"""Hidden Markov models against hmmlearn's 'scaling' implementation, at equal quality.

Each row times the log-likelihood, Viterbi and three iterations of Baum-Welch of both libraries in
turn, on the same categorical data from four states, one thread each. It prints the ratio of the
median times (below 1: mllib is faster) with its spread, the difference of the log-likelihoods, of
the path scores and of the log-likelihoods after the three iterations.
"""

# ruff: noqa: E402
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import json
import time
import warnings

import numpy as np
from hmmlearn.hmm import CategoricalHMM as TheirHMM

from mllib.hidden_markov_models import HMM, CategoricalEmission, CategoricalHMM, sample

K, V, ITERATIONS = 4, 6, 3


def interleaved(ours, theirs, repeats):
    """Return seconds of both, shape (2, repeats), in turn and after one warm-up of each."""
    ours(), theirs()
    seconds = np.empty((2, repeats))
    for r in range(repeats):
        for k in (0, 1) if r % 2 else (1, 0):
            start = time.perf_counter()
            (ours, theirs)[k]()
            seconds[k, r] = time.perf_counter() - start
    return seconds


def model(seed, slow):
    """Return four states with six symbols; ``slow`` ones are left once in 10^4 steps."""
    rng = np.random.default_rng(seed)
    stay, blur = (1 - 1e-4, 9.0) if slow else (0.5, 0.0)
    A = (1 - stay) * rng.dirichlet(np.ones(K), K) + stay * np.eye(K)
    e = rng.dirichlet(np.ones(V), K) + blur
    return HMM(np.full(K, 1 / K), A, CategoricalEmission(e / e.sum(axis=1, keepdims=True)))


def fitted(theta, X, lengths):
    """Return both estimators after three iterations of Baum-Welch from ``theta``."""
    start = {"startprob_init": theta.pi, "transmat_init": theta.A}
    start |= {"emissionprob_init": theta.emission.probs, "categories": np.arange(V)}
    ours = CategoricalHMM(K, max_iter=ITERATIONS, tol=0, **start)
    theirs = TheirHMM(K, n_iter=ITERATIONS, tol=-np.inf, init_params="", n_features=V)
    theirs.implementation = "scaling"
    theirs.startprob_, theirs.transmat_ = theta.pi.copy(), theta.A.copy()
    theirs.emissionprob_ = theta.emission.probs.copy()
    return (lambda: ours.fit(X, lengths=lengths)), (lambda: theirs.fit(X, lengths))


def row(name, theta, lengths, seed, repeats):
    """Return the measurements of one workload as a dictionary."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([sample(theta, int(n), rng)[0] for n in lengths])[:, None]
    fit_ours, fit_theirs = fitted(theta, X, lengths)
    ours, theirs = fit_ours(), fit_theirs()
    calls = {
        "log-likelihood": (
            lambda: ours.score(X, lengths=lengths),
            lambda: theirs.score(X, lengths),
        ),
        "viterbi": (lambda: ours.decode(X, lengths=lengths), lambda: theirs.decode(X, lengths)),
        "baum-welch": fitted(theta, X, lengths),
    }
    result = {"workload": name, "seed": seed}
    for task, (mine, other) in calls.items():
        seconds = interleaved(mine, other, repeats)
        ratios = seconds[0] / seconds[1]
        medians = np.median(seconds, axis=1)
        result[task] = {
            "ratio": medians[0] / medians[1],
            "spread": [ratios.min(), ratios.max()],
        }
    gap = ours.score(X, lengths=lengths) - theirs.score(X, lengths)
    result["log-likelihood"]["difference"] = result["baum-welch"]["difference"] = gap
    path = ours.decode(X, lengths=lengths)[0] - theirs.decode(X, lengths)[0]
    result["viterbi"]["difference"] = path
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--longest", type=int, default=10**6)
    parser.add_argument("--json", help="also write the rows to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # both stop at max_iter on purpose
    work = [(f"T = {T:.0e}", False, [T]) for T in (10**3, 10**4, 10**5, 10**6)]
    work += [("2000 sequences of 20", False, [20] * 2000), ("slow mixing, T = 1e5", True, [10**5])]
    rows = []
    for name, slow, lengths in work:
        for seed in (0, 1):
            if max(lengths) <= options.longest:
                found = row(name, model(seed, slow), lengths, seed, options.repeats)
                rows.append(found)
                cells = [
                    f"{task} {c['ratio']:.2f} ({c['spread'][0]:.2f}-{c['spread'][1]:.2f}) "
                    f"diff {c['difference']:.1e}"
                    for task, c in found.items()
                    if isinstance(c, dict)
                ]
                print(f"{name:<22}", " | ".join(cells), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
