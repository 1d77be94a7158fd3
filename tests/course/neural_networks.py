"""Answers to the exercises of *Neural networks*: the chapter's own, and wrong ones."""

import numpy as np

from mllib.neural_networks import initialise, train

RIGHT = {
    "ex-neural-networks-symmetry": "(net, end)",
    "ex-neural-networks-bad-luck": "(*initialise([2, 2, 1], rng=np.random.default_rng(0)),)",
    "ex-neural-networks-inputs": "(input_gradient,)",
    "ex-neural-networks-depth": (
        "(gains, np.mean(gains), np.std(gains, ddof=1),"
        " abs(np.mean(gains)) > np.std(gains, ddof=1))"
    ),
    "ex-neural-networks-break": (
        "('neural-networks-backpropagation', 'neural-networks-adam',"
        " 'neural-networks-reverse-mode')"
    ),
}


def by_layers(*, slope=True, first=True, error=lambda p, y: p - y, value=False):
    """The gradient in the inputs, with room for slips."""

    def input_gradient(net, x, y):
        values = [x]
        for W, b in net[:-1]:
            values.append(np.maximum(values[-1] @ W + b, 0))
        score = values[-1] @ net[-1].W + net[-1].b
        p = np.exp(score - score.max())
        delta = error(p / p.sum(), y)
        for (W, _), a in zip(net[:0:-1], values[:0:-1]):
            delta = W @ delta * ((a > 0) if slope else 1)
        if value:
            return delta[:, None] * x
        return net[0].W @ delta if first else delta

    return input_gradient


def start(seed, units=2):
    return tuple(initialise([2, units, 1], rng=np.random.default_rng(seed)))


BACK, ADAM, MODE, OUT = (
    f"neural-networks-{n}" for n in ("backpropagation", "adam", "reverse-mode", "softmax-ce-delta")
)
D = np.array([-1, 1, -3, -2, -10]) / 497
ROWS, CLASSES = np.random.default_rng(0).normal(size=(30, 3)), np.eye(2)[np.arange(30) % 2]


def run(*, outgoing=True, incoming=True, all_of_them=False, epochs=20):
    """Train a network of which two hidden units may start equal."""
    rng = np.random.default_rng(1)
    net = initialise([3, 4, 2], rng=rng)
    for k in (1, 2, 3) if all_of_them else (1,):
        if incoming:
            net[0].W[:, k] = net[0].W[:, 0]
        if outgoing:
            net[1].W[k] = net[1].W[0]
    return net, train(net, ROWS, CLASSES, output="softmax", max_iter=epochs, rng=rng).net


WRONG = {
    "ex-neural-networks-symmetry": [
        run(outgoing=False),
        run(incoming=False),
        run(all_of_them=True),
        run(epochs=0),
        (run()[0], run(outgoing=False)[1]),  # the end of another run
    ],
    "ex-neural-networks-bad-luck": [
        start(3),  # learns
        start(4),
        ((np.zeros((2, 2)), np.zeros(2)), (np.zeros((2, 1)), np.zeros(1))),  # stays at log 2
        start(0, units=4),  # four units
        ((np.array([[3.0, 3], [3, 3]]), np.array([3.0, -3])), (np.array([[-9.0], [9]]), [9.0])),
    ],
    "ex-neural-networks-inputs": [
        (by_layers(slope=False),),
        (by_layers(first=False),),  # stops at the first hidden layer
        (by_layers(error=lambda p, y: y - p),),  # downhill
        (by_layers(error=lambda p, y: p),),
        (by_layers(value=True),),  # the derivative by the weights
    ],
    "ex-neural-networks-depth": [
        (D, D.mean(), D.std(), False),  # the denominator 5
        (D, D.sum(), D.std(ddof=1), False),
        (D, D.mean(), D.std(ddof=1), True),
        (497 * D, -3, 4.2, False),  # images, not shares
        (D[:4], D[:4].mean(), D[:4].std(ddof=1), False),
    ],
    "ex-neural-networks-break": [
        ([OUT, ADAM, MODE],),  # the error of the output is not yet sent back
        ([BACK, BACK, MODE],),
        ([BACK, ADAM, BACK],),
        ([BACK, ADAM],),
    ],
}
