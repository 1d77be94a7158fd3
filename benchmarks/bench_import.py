"""Loading the estimators of the book against loading scikit-learn's of the same names.

Each call starts an interpreter that imports the estimators and ends; the time is its processor
time. Both import numpy and scipy.
"""

import subprocess
import sys

from rows import Quality, Row

TITLE = "Loading the library"
HOW = "Modules of scipy that only one function needs are imported by that function."
COMMON = (
    "Two thirds of our time are numpy and scipy.linalg, which both sides import; the rest is "
    "scipy.special and the modules themselves."
)

#: our module -> (our estimators, the peer's module, its estimators)
PAIRS = {
    "least_squares": ("LinearRegression", "linear_model", "LinearRegression"),
    "ridge_and_lasso": ("Ridge, Lasso", "linear_model", "Ridge, Lasso"),
    "bayesian_regression": ("BayesianLinearRegression", "linear_model", "BayesianRidge"),
    "model_selection": ("RidgeCV", "linear_model", "RidgeCV"),
    "perceptron": ("Perceptron", "linear_model", "Perceptron"),
    "support_vector_machines": ("SVC, LinearSVC", "svm", "SVC, LinearSVC"),
    "mixtures_and_em": ("GaussianMixture", "mixture", "GaussianMixture"),
}


def lines(data):
    ours = ["import numpy, scipy, mllib"]
    peer = ["import sklearn"]
    for module, (names, other, others) in PAIRS.items():
        ours.append(f"from mllib.{module} import {names}")
        peer.append(f"from sklearn.{other} import {others}")
    count = sum(names.count(",") + 1 for names, _, _ in PAIRS.values())
    return "; ".join(ours), "; ".join(peer), count


def load(side, data):
    """Return the call that imports everything of one side in a new interpreter."""
    code = lines(data)[side] + "; print(len([n for n in dir() if n[0].isupper()]))"

    def call():
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        return int(done.stdout)

    return call


def quality(data, mine, theirs):
    return Quality("estimators loaded", mine, theirs, allowed=0)


ROWS = [
    Row(
        workload="import of the estimators of the book",
        n=0,
        d=0,
        against="import sklearn",
        target=0.3,
        data=lambda seed: {},
        ours=lambda data: load(0, data),
        peer=lambda data: load(1, data),
        quality=quality,
        why=COMMON,
        seeds=(0, 1),
    )
]
