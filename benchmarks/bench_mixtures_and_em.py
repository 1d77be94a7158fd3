"""Gaussian mixtures with full covariances against scikit-learn, same start and iterations.

Each row times twenty iterations of both from one start, in turn, on one thread. It prints the ratio
of the median times (below 1: mllib is faster) with its spread, both final log-likelihoods per row,
and the peak memory of both as whole processes.
"""

# ruff: noqa: E402
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import json
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.mixture import GaussianMixture as TheirMixture

from mllib.mixtures_and_em import GaussianMixture, MixtureParams

ROWS = ((2_000, 2, 3), (50_000, 2, 5), (20_000, 8, 5), (10_000, 32, 5))
ITERATIONS = 20


def pair(n, d, K, seed):
    """Return both unfitted estimators with one start, and the data."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((K, d, d)) / np.sqrt(d) + np.eye(d)
    z = rng.integers(K, size=n)
    X = 2 * rng.standard_normal((K, d))[z]
    X += np.einsum("nij,nj->ni", mixing[z], rng.standard_normal((n, d)))
    weights, means = np.full(K, 1 / K), X[rng.choice(n, K, replace=False)]
    whole = np.cov(X.T, bias=True).reshape(d, d)
    start = MixtureParams(weights, means, np.stack([whole] * K))
    ours = GaussianMixture(K, init=start, max_iter=ITERATIONS, tol=0)
    theirs = TheirMixture(
        K,
        weights_init=weights,
        means_init=means,
        precisions_init=np.stack([np.linalg.inv(whole)] * K),
        max_iter=ITERATIONS,
        tol=0,
        reg_covar=0,
    )
    return ours, theirs, X


def row(n, d, K, seed, repeats):
    """Time both in turn and return one row of the table."""
    ours, theirs, X = pair(n, d, K, seed)
    seconds = np.empty((2, repeats))
    for r in range(-1, repeats):  # the first round warms up
        for k in (0, 1) if r % 2 else (1, 0):
            start = time.perf_counter()
            (ours, theirs)[k].fit(X)
            seconds[k, r] = time.perf_counter() - start
    ratios = seconds[0] / seconds[1]
    return {
        "workload": f"Gaussian mixture, full, n={n} d={d} K={K} seed={seed}",
        "peer": "sklearn.mixture.GaussianMixture",
        "ratio": float(np.median(seconds[0]) / np.median(seconds[1])),
        "spread": f"{ratios.min():.2f}-{ratios.max():.2f}",
        "log-likelihood per row": float(ours.score(X)),
        "peer log-likelihood per row": float(theirs.score(X)),
        "iterations": [ours.n_iter_, theirs.n_iter_],
    }


def peak_memory(*arguments):
    """Return the peak resident memory of one fit in a process of its own, in MB."""
    command = [sys.executable, __file__, "--peak", *map(str, arguments)]
    return float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def _report_peak(n, d, K, who):
    ours, theirs, X = pair(int(n), int(d), int(K), 0)
    (theirs if who == "peer" else ours).fit(X)
    with open("/proc/self/status", encoding="utf-8") as status:
        print(next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")))


def main():
    """Run every row on two seeds; print a table, and JSON where --json names a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json")
    parser.add_argument("--peak", nargs=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # neither side converges in twenty iterations, on purpose
    if options.peak:
        return _report_peak(*options.peak)
    rows = []
    for n, d, K in ROWS:
        memory = [peak_memory(n, d, K, who) for who in ("mllib", "peer")]
        for seed in (0, 1):
            r = row(n, d, K, seed, options.repeats)
            r |= {"mllib MB": memory[0], "peer MB": memory[1]}
            rows.append(r)
            print(
                f"{r['workload']:48s} ratio {r['ratio']:5.2f} ({r['spread']})  "
                f"ll/row {r['log-likelihood per row']:.9g} / "
                f"{r['peer log-likelihood per row']:.9g}  MB {memory[0]:.0f} / {memory[1]:.0f}",
                flush=True,
            )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return None


if __name__ == "__main__":
    main()
