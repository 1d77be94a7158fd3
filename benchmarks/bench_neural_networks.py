"""Neural networks against scikit-learn's: digits, Adam, equal accuracy."""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Neural networks"
HOW = (
    "All parameters stand in one vector, so that a step of Adam is a few vector operations; "
    "forward and backward pass are matrix products."
)

EPOCHS = 60


def sample(seed):
    """Return 1300 digits to train on and 497 to test, pixels in [0, 1]."""
    from sklearn.datasets import load_digits

    data = load_digits()
    rows = np.random.default_rng(seed).permutation(1797)
    X, y = data.data[rows] / 16, data.target[rows]
    return {"X": X[:1300], "y": y[:1300], "Q": X[1300:], "u": y[1300:]}


def ours(units, data):
    from mllib.neural_networks import MLPClassifier

    model = MLPClassifier(
        (units,), batch_size=100, max_iter=EPOCHS, learning_rate=0.003, tol=0, patience=EPOCHS
    )
    return lambda: quietly(model, data)


def peer(units, data):
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier(
        (units,),
        batch_size=100,
        max_iter=EPOCHS,
        learning_rate_init=0.003,
        tol=0,
        n_iter_no_change=EPOCHS,
        random_state=0,
    )
    return lambda: quietly(model, data)


def quietly(model, data):
    """Fit without the warning that the number of epochs was given."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data["X"], data["y"])


def accuracy(data, mine, theirs):
    """Compare the accuracies on the test rows."""
    scores = (model.score(data["Q"], data["u"]) for model in (mine, theirs))
    return Quality("test accuracy", *map(float, scores), "higher", allowed=0.01)


def row(units):
    return Row(
        workload=f"digits, {units} hidden units, {EPOCHS} epochs of Adam",
        n=1300,
        d=64,
        against="sklearn.neural_network.MLPClassifier (adam)",
        target=1.0,
        data=sample,
        ours=partial(ours, units),
        peer=partial(peer, units),
        quality=accuracy,
    )


ROWS = [row(100), row(400)]
