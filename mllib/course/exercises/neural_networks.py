"""Checks of the exercises of *Neural networks*."""

import itertools

import numpy as np

from mllib.course.exercises import breaks, code, points
from mllib.neural_networks import Layer

# Equal units stay equal ----------------------------------------------------------------------


@code(
    "ex-neural-networks-symmetry",
    "the layers before and after your run, of a network with one hidden layer of three units or "
    "more: twice two pairs of weights and offsets, of which two units are equal at the start",
)
def _(c, start, end):
    (V, a), (W, _) = start
    before = np.vstack([V, a, np.transpose(W)])  # a column for each hidden unit
    (V, a), (W, _) = end
    after = np.vstack([V, a, np.transpose(W)])
    c.holds("three units or more", before.shape == after.shape, before.shape[1] >= 3)
    pairs = list(itertools.combinations(range(before.shape[1]), 2))
    twins = [pair for pair in pairs if np.ptp(before[:, pair], axis=1).max() == 0]
    c.holds("two are equal at the start: incoming weights, offset, outgoing weights", bool(twins))
    c.holds("not all of them are", len(twins) < len(pairs))
    c.holds("the run has moved them", [abs(after - before)[:, i].max() > 1e-3 for i, _ in twins])
    c.holds(
        "those two are still equal", [np.ptp(after[:, pair], axis=1).max() < 1e-6 for pair in twins]
    )


points(
    "ex-neural-networks-symmetry",
    "If the two units are equal before a step, their values agree on every row.",
    r"So do their entries of $\delta$: equal slopes, times equal outgoing weights, times the same "
    "errors behind them.",
    "Hence the gradients agree in pairs: incoming weights, offset, outgoing weights.",
    "The rule treats every entry alike, and its memories agree too: they start equal and are fed "
    "equal gradients.",
    "Induction over the steps; the sizes of the steps play no part.",
)

# Two units and bad luck ----------------------------------------------------------------------

CORNERS, LABELS = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]]), np.array([0, 1, 1, 0.0])


def loss_and_slopes(theta):
    """Return the mean cross-entropy on XOR, and its slopes, of two tanh units with 9 numbers."""
    W, b, v, a = theta[:4].reshape(2, 2), theta[4:6], theta[6:8], theta[8]
    H = np.tanh(CORNERS @ W + b)
    score = H @ v + a
    error = (1 / (1 + np.exp(-score)) - LABELS) / 4
    back = error[:, None] * v * (1 - H**2)
    slopes = [(CORNERS.T @ back).ravel(), back.sum(axis=0), H.T @ error, [error.sum()]]
    return np.logaddexp(0, (1 - 2 * LABELS) * score).mean(), np.concatenate(slopes)


@code(
    "ex-neural-networks-bad-luck",
    "your start as two pairs of weights and offsets, [(W_1, b_1), (W_2, b_2)] of shapes (2, 2), "
    "(2,), (2, 1) and (1,), for inputs -1 and 1; Adam steps with 0.05 on all four corners",
)
def _(c, first, second):
    shapes = [np.shape(part) for part in (*first, *second)]
    c.holds("two inputs, two units, one output", shapes == [(2, 2), (2,), (2, 1), (1,)])
    theta = np.concatenate([np.ravel(part) for part in (*first, *second)]).astype(float)
    mean, square, losses = np.zeros(9), np.zeros(9), []
    for t in range(1, 1001):
        loss, g = loss_and_slopes(theta)
        mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g**2
        theta = theta - 0.05 * mean / (1 - 0.9**t) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
        losses.append(loss)
    c.holds("the steps lower the loss", losses[-1] < losses[0])
    c.holds(
        r"after a thousand it is within 0.01 of $\frac12\log2$",
        abs(losses[-1] - np.log(2) / 2) < 0.01,
    )


points(
    "ex-neural-networks-bad-luck",
    r"The loss is a mean over four corners; one that is answered with $\frac12$ costs $\log2$.",
    "Two such corners and two that cost nothing make the number that is seen.",
)

# The gradient in the inputs ------------------------------------------------------------------


def relu_loss(net, x, y):
    """Return the cross-entropy of the softmax of a net with ReLU in all layers but the last."""
    for W, b in net[:-1]:
        x = np.maximum(x @ W + b, 0)
    score = x @ net[-1].W + net[-1].b
    return np.logaddexp.reduce(score) - y @ score


@code(
    "ex-neural-networks-inputs",
    "your function `input_gradient(net, x, y)` of the layers of a ReLU network with softmax, one "
    "input of shape (d,) and its one-hot label, which returns the derivatives, shape (d,)",
)
def _(c, input_gradient):
    two = [Layer(np.array([[2.0], [-1.0]]), np.zeros(1)), Layer(np.array([[1.0, -1]]), np.zeros(2))]
    off = input_gradient(two, np.array([-1.0, 0]), np.array([1.0, 0]))
    c.holds("one silent unit in the way: no derivative", np.array_equal(np.ravel(off), [0, 0]))
    rng, shapes, near = np.random.default_rng(0), [], []
    for sizes in ((64, 20, 10), (64, 8, 6, 3), (5, 4)):
        pairs = itertools.pairwise(sizes)
        net = [Layer(rng.normal(size=pair) / 3, rng.normal(size=pair[1])) for pair in pairs]
        x, y = rng.normal(size=sizes[0]), np.eye(sizes[-1])[0]
        said, h = np.asarray(input_gradient(net, x, y)), 1e-6
        change = [relu_loss(net, x + e, y) - relu_loss(net, x - e, y) for e in h * np.eye(len(x))]
        shapes.append(said.shape == x.shape)
        near.append(np.allclose(said, np.array(change) / (2 * h), rtol=0, atol=1e-6))
    c.holds("one derivative for each input, for one, two and three layers", shapes)
    c.holds("all agree with differences to $10^{-6}$", near)


# Does depth help on digits? ------------------------------------------------------------------


@code(
    "ex-neural-networks-depth",
    "the five differences of the test accuracies, (50, 50) less (50,); their mean; their standard "
    "deviation with the denominator 4; and whether the mean exceeds it, True or False",
)
def _(c, differences, mean, deviation, exceeds):
    d = np.asarray(differences, dtype=float)
    c.holds("five of them", d.shape == (5,))
    images = 497 * d
    c.holds("each is a number of the 497 test images", abs(images - images.round()) < 0.05)
    c.holds("not all alike, and none above 5 %", np.ptp(d) > 0, abs(d) < 0.05)
    centre = sum(d) / 5
    spread = (sum((v - centre) ** 2 for v in d) / 4) ** 0.5
    c.holds("the mean of the five", abs(mean - centre) < 6e-4)
    c.holds("their standard deviation", abs(deviation - spread) < 6e-4)
    c.holds("whether the mean is beyond it", bool(exceeds) == (abs(centre) > spread))


# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-neural-networks-break",
    [
        ("backward", "slope(A[l]) * (D", "(D"),
        ("adam_step", "v / (1 - decay**t)", "v"),
        ("chain_rule", "derivative[parent] += ", "derivative[parent] = "),
    ],
)
