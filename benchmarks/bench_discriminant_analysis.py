"""Linear and quadratic discriminant analysis against scikit-learn's, fit and predict.

Both sides estimate by maximum likelihood, so their labels must agree.
"""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Discriminant analysis"
HOW = (
    "The rows are sorted by class once; each class then takes one matrix product for its scatter, "
    "and prediction one triangular solve per class (QDA) or one product (LDA)."
)


def sample(n, d, K, seed):
    """Return rows of K Gaussian classes with covariances that differ, and as many new rows."""
    rng = np.random.default_rng(seed)
    y, scale = rng.integers(0, K, n), rng.uniform(0.5, 1.5, (K, d))
    centres = rng.standard_normal((K, d))
    draw = lambda: centres[y] + scale[y] * rng.standard_normal((n, d))  # noqa: E731
    return {"X": draw(), "y": y, "new": draw()}


def model(name, side):
    if side == "ours":
        import mllib.discriminant_analysis as module
    else:
        import sklearn.discriminant_analysis as module
    return getattr(module, name)()


def fit(name, side, data):
    made = model(name, side)
    return lambda: made.fit(data["X"], data["y"])


def predict(name, side, data):
    made = model(name, side).fit(data["X"], data["y"])
    return lambda: made.predict(data["new"])


def quality_of_fit(data, mine, theirs):
    X, y = data["new"], data["y"]
    return Quality("accuracy on new rows", mine.score(X, y), theirs.score(X, y))


def quality_of_labels(data, mine, theirs):
    y = data["y"]
    return Quality("accuracy on new rows", np.mean(mine == y), np.mean(theirs == y))


SHORT = (
    "The call takes a fifth of a millisecond to one: half of it checks the input and keeps the "
    "names of the columns, which the target does not know of."
)
WIDE = (
    "Both sides leave the scores to one product; ours reads the rows twice before it, to see that "
    "no square overflows or vanishes."
)


def row(name, what, n, d, K, target):
    run = fit if what == "fit" else predict
    short = "LDA" if name.startswith("Linear") else "QDA"
    why = SHORT if n == 2_000 else WIDE if what == "predict" else ""
    return Row(
        workload=f"{short} {what}, {K} classes, {n} x {d}",
        n=n,
        d=d,
        against=f"sklearn.discriminant_analysis.{name}",
        target=target,
        data=partial(sample, n, d, K),
        ours=partial(run, name, "ours"),
        peer=partial(run, name, "peer"),
        quality=quality_of_fit if what == "fit" else quality_of_labels,
        why=why,
    )


LDA, QDA = "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"
ROWS = [
    row(name, what, n, d, K, target)
    for name, what, target in (
        (LDA, "fit", 0.3),
        (LDA, "predict", 1.0),
        (QDA, "fit", 0.3),
        (QDA, "predict", 1.0),
    )
    for n, d, K in ((2_000, 10, 3), (20_000, 50, 5))
]
