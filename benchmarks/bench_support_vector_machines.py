"""Support vector machines against scikit-learn's LIBSVM and LIBLINEAR, at equal quality.

Each row interleaves the two on the same data, one thread each, and reports the ratio of the median
times together with what both reached: the dual objective (kernel) or the primal objective (linear),
and the share of equal labels. Peak memory is that of a fresh process which does nothing else.
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC as SklearnSVC
from sklearn.svm import LinearSVC as SklearnLinearSVC
from threadpoolctl import threadpool_limits

from mllib.support_vector_machines import SVC, LinearSVC, rbf_kernel

KERNEL_ROWS = [(n, C) for C in (1.0, 10.0) for n in (200, 1000, 3000)]
LINEAR_ROWS = [(1000, 10, 1.0), (20000, 50, 1.0), (20000, 50, 100.0)]


def sample(n, d, seed):
    """Return standardised inputs of shape (n, d) and two classes with 5 % of labels flipped."""
    X, y = make_classification(n, d, n_informative=min(8, d), flip_y=0.05, random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def interleaved(ours, theirs, repeats):
    """Time the two in turn; return both arrays of seconds, after one warm-up of each."""
    ours(), theirs()
    seconds = np.zeros((2, repeats))
    for r in range(repeats):
        for k, run in enumerate((ours, theirs) if r % 2 else (ours, theirs)[::-1]):
            start = time.perf_counter()
            run()
            seconds[k if r % 2 else 1 - k, r] = time.perf_counter() - start
    return seconds


def pair(kind, n, d, C):
    """Return the two estimators of a row."""
    if kind == "rbf":
        return SVC(C=C), SklearnSVC(C=C)
    # LIBLINEAR penalises an offset, so both get a column of ones and no offset of their own.
    return LinearSVC(C=C, fit_intercept=False), SklearnLinearSVC(
        C=C, fit_intercept=False, dual=False
    )


def quality(kind, ours, theirs, X, y, C):
    """Return both objectives, our relative gap and the share of equal labels."""
    if kind == "rbf":
        V, beta = theirs.support_vectors_, theirs.dual_coef_[0]
        their = np.abs(beta).sum() - 0.5 * beta @ rbf_kernel(V, V, ours.ell_) @ beta
        own = ours.dual_[0]
    else:
        w, own = theirs.coef_[0], ours.primal_[0]
        xi = np.maximum(0, 1 - (2 * y - 1) * (X @ w))
        their = 0.5 * w @ w + C * xi @ xi
    equal = np.mean(ours.predict(X) == theirs.predict(X))
    return own, their, abs(ours.gap_[0]) / ours.primal_[0], equal


def row(kind, n, d, C, seed, repeats):
    """Return one row of the table as a dictionary."""
    X, y = sample(n, d, seed)
    X = np.column_stack([X, np.ones(n)]) if kind == "linear" else X
    ours, theirs = pair(kind, n, d, C)
    seconds = interleaved(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), repeats)
    own, their, gap, equal = quality(kind, ours, theirs, X, y, C)
    low, high = np.quantile(seconds[0] / seconds[1], (0.25, 0.75))
    return {
        "workload": f"{kind} {n}x{d} C={C:g} seed {seed}",
        "ratio": float(np.median(seconds[0]) / np.median(seconds[1])),
        "spread": f"{low:.2f}-{high:.2f}",
        "mllib ms": 1e3 * float(np.median(seconds[0])),
        "peer ms": 1e3 * float(np.median(seconds[1])),
        "objective": float(own),
        "peer objective": float(their),
        "gap": float(gap),
        "labels equal": float(equal),
    }


def peak_memory(kind, n, d, C, who):
    """Return the peak resident memory in MB of a fresh process that fits one of the two."""
    code = [sys.executable, __file__, "--peak", kind, str(n), str(d), str(C), who]
    return float(subprocess.run(code, capture_output=True, text=True, check=True).stdout)


def _report_peak(kind, n, d, C, who):
    X, y = sample(int(n), int(d), 0)
    pair(kind, int(n), int(d), float(C))[who == "peer"].fit(X, y)
    with open("/proc/self/status", encoding="utf-8") as status:
        print(next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")))


def main():
    """Run every row on two seeds; print a table, and JSON where --json names a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json")
    parser.add_argument("--peak", nargs=5)
    options = parser.parse_args()
    threadpool_limits(1)
    if options.peak:
        return _report_peak(*options.peak)
    work = [("rbf", n, 20, C) for n, C in KERNEL_ROWS]
    work += [("linear", n, d, C) for n, d, C in LINEAR_ROWS]
    rows = []
    for kind, n, d, C in work:
        memory = [peak_memory(kind, n, d, C, who) for who in ("mllib", "peer")]
        for seed in (0, 1):
            r = row(kind, n, d, C, seed, options.repeats)
            r |= {"mllib MB": memory[0], "peer MB": memory[1]}
            rows.append(r)
            print(
                f"{r['workload']:34s} ratio {r['ratio']:5.2f} ({r['spread']})  "
                f"objective {r['objective']:.7g} / {r['peer objective']:.7g}  gap {r['gap']:.0e}  "
                f"labels {r['labels equal']:.4f}  MB {memory[0]:.0f} / {memory[1]:.0f}",
                flush=True,
            )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return None


if __name__ == "__main__":
    main()
