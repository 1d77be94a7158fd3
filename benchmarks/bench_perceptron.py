"""The perceptron against scikit-learn's, for the same passes in the same order of the examples.

Rows with a margin make few mistakes, which blockwise scoring jumps over; the others make many.
The quality column says how far the last weights of both are apart, relative to their size.
"""

# ruff: noqa: E402
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import time
import warnings

import numpy as np
from sklearn.linear_model import Perceptron as TheirPerceptron

from mllib.perceptron import Perceptron, add_intercept, perceptron

ROWS = (
    (200, 5, 0.0),
    (1_000, 10, 0.0),
    (2_000, 20, 0.0),
    (20_000, 50, 0.0),
    (2_000, 20, 1.0),
    (20_000, 50, 1.0),
    (5_000, 200, 1.0),
)
PASSES, REPEATS = 10, 7


def sample(n, d, gap, seed):
    """Return n labelled points, none within ``gap`` standard deviations of the true hyperplane."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    score = X @ w / np.linalg.norm(w)
    X += np.outer(gap * np.sign(score), w / np.linalg.norm(w))
    return X, np.sign(score)


def row(n, d, gap, seed):
    """Time both in turn; return the median ratio, its spread, and the quality columns."""
    X, y = sample(n, d, gap, seed)
    ours = Perceptron(max_iter=PASSES)
    theirs = TheirPerceptron(max_iter=PASSES, tol=None, shuffle=False)
    seconds = np.empty((2, REPEATS))
    for r in range(-1, REPEATS):  # the first round warms up
        for k in (0, 1) if r % 2 else (1, 0):
            start = time.perf_counter()
            (ours, theirs)[k].fit(X, y)
            if r >= 0:
                seconds[k, r] = time.perf_counter() - start
    ratios = seconds[0] / seconds[1]
    last = perceptron(add_intercept(X), y, max_epochs=PASSES).w
    other = np.r_[theirs.intercept_, theirs.coef_[0]]
    apart = np.linalg.norm(last - other) / np.linalg.norm(other)
    return (
        np.median(ratios),
        np.ptp(ratios),
        apart,
        ours.score(X, y),
        theirs.score(X, y),
        ours.mistakes_,
    )


def main():
    """Print one row for each workload and seed."""
    print(
        "n, d, gap, seed | ratio (spread) | last weights apart | accuracy ours, theirs | mistakes"
    )
    for n, d, gap in ROWS:
        for seed in (0, 1):
            ratio, spread, apart, ours, theirs, mistakes = row(n, d, gap, seed)
            print(
                f"{n:6d} {d:4d} {gap:4.1f} {seed} | {ratio:5.2f} ({spread:.2f}) | {apart:.1e} | "
                f"{ours:.4f} {theirs:.4f} | {mistakes.sum()}",
                flush=True,
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
