"""Naive Bayes against scikit-learn: fitting, and the probabilities of the training rows."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Naive Bayes"
HOW = (
    "Fitting is one pass of counting, or of class sums as products; prediction adds one row of a "
    "table for each feature, or is one product."
)

KINDS = {
    "Gaussian": ("GaussianNB", {"var_smoothing": 0.0}),
    "Bernoulli": ("BernoulliNB", {}),
    "categorical": ("CategoricalNB", {}),
}


def sample(kind, n, d, K, seed):
    """Return n rows of K classes whose features move a little with the class."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    if kind == "Gaussian":
        X = rng.standard_normal((n, d)) + rng.standard_normal((K, d))[y]
    elif kind == "Bernoulli":
        X = (rng.random((n, d)) < rng.uniform(0.1, 0.9, (K, d))[y]).astype(float)
    else:
        X = np.floor(5 * rng.random((n, d)) ** rng.uniform(0.5, 2, (K, d))[y])
        X[:5] = np.arange(5)[:, None]
    return {"kind": kind, "X": X, "y": y}


def make(data, ours):
    name, settings = KINDS[data["kind"]]
    if ours:
        import mllib.naive_bayes as module

        return getattr(module, name)()
    import sklearn.naive_bayes as module

    return getattr(module, name)(**settings)


def fit(data, ours):
    model = make(data, ours)
    return lambda: model.fit(data["X"], data["y"])


def predict(data, ours):
    model = make(data, ours).fit(data["X"], data["y"])
    return lambda: model.predict_proba(data["X"])


def mean_log_probability(data, p):
    return float(np.mean(np.log(p[np.arange(len(p)), data["y"]] + 1e-300)))


def fitted_quality(data, mine, theirs):
    mine, theirs = (mean_log_probability(data, m.predict_proba(data["X"])) for m in (mine, theirs))
    return Quality("mean log-probability of the true class", mine, theirs)


def predicted_quality(data, mine, theirs):
    mine, theirs = (mean_log_probability(data, p) for p in (mine, theirs))
    return Quality("mean log-probability of the true class", mine, theirs)


FINDING = (
    "The values that each feature takes are found and checked first, which the peer leaves to the "
    "caller: it takes codes from 0 for granted."
)

ARRAYS = (
    "Sums and tables are array operations, one class or one feature after the other: what a "
    "compiled loop would gain is not worth a second implementation."
)


def row(what, kind, n, d, K):
    call, quality, target = {
        "fit": (fit, fitted_quality, 0.3),
        "probabilities": (predict, predicted_quality, 0.8),
    }[what]
    return Row(
        workload=f"{kind}, {what}, {K} classes, {n} x {d}",
        n=n,
        d=d,
        against=f"sklearn.naive_bayes.{KINDS[kind][0]}",
        target=target,
        data=partial(sample, kind, n, d, K),
        ours=partial(call, ours=True),
        peer=partial(call, ours=False),
        quality=quality,
        why=FINDING if (what, kind) == ("fit", "categorical") else ARRAYS,
    )


ROWS = [
    row(what, kind, n, d, K)
    for kind in KINDS
    for what in ("fit", "probabilities")
    for n, d, K in ((1_000, 10, 3), (20_000, 30, 10))
]
