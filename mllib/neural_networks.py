"""Neural networks: layers composed, their gradient by backpropagation, training, estimators.

Chapter: Classification, *Neural networks*. Main references: Rumelhart, Hinton and Williams (1986),
Goodfellow, Bengio and Courville (2016).
"""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mllib.core.arrays import (
    check_array,
    check_sample_weight,
    check_target_length,
    check_targets,
    check_vector,
    check_weighted_X_y,
)
from mllib.core.errors import convergence_warning
from mllib.core.estimators import Classifier, Regressor, begin_fit, check_features
from mllib.core.numerics import log_sum_exp, max_abs
from mllib.core.scalars import check_choice, check_rng, check_scalar, random_generator
from mllib.logistic_regression import sigmoid, softmax

__all__ = [
    "ACTIVATIONS",
    "OUTPUTS",
    "Activation",
    "Layer",
    "MLPClassifier",
    "MLPRegressor",
    "Moments",
    "Output",
    "Scalar",
    "Sweep",
    "TrainingRun",
    "adam_step",
    "backward",
    "chain_rule",
    "dead_units",
    "flatten",
    "forward",
    "initialise",
    "loss_and_gradient",
    "momentum_step",
    "relu_interpolant",
    "topological_order",
    "train",
    "unflatten",
]


# Records -------------------------------------------------------------------------------------


class Layer(NamedTuple):
    """The parameters of one layer, z = W^T a + b; or the derivatives of a loss by them."""

    W: np.ndarray  #: weights, shape (inputs, units): column k belongs to unit k
    b: np.ndarray  #: offsets, shape (units,)


class Activation(NamedTuple):
    """A function applied to each entry, and its derivative computed from the stored value."""

    value: object  #: callable Z -> A = g(Z)
    slope: object  #: callable A -> g'(Z), where A = g(Z)


class Output(NamedTuple):
    """An output layer with the loss that belongs to it: E = psi(z) - y^T z + c(y), a = grad psi."""

    mean: object  #: callable Z -> A, the outputs of the network, shape (n, K)
    loss: object  #: callable (Z, Y) -> E of each row, shape (n,)


class Sweep(NamedTuple):
    """What a reverse sweep over a graph of scalars found, and what it cost."""

    derivative: dict  #: dz / dv for each node v of the graph
    nodes: int  #: nodes of the graph, inputs and constants included
    edges: int  #: local derivatives used, each once


class Moments(NamedTuple):
    """What an optimiser remembers of the gradients that it has seen."""

    first: np.ndarray  #: decayed sum or mean of gradients, shape (p,)
    second: np.ndarray  #: decayed mean of squared gradients, shape (p,); used by Adam
    t: int  #: number of steps taken


class TrainingRun(NamedTuple):
    """What happened in a training run."""

    net: list  #: layers: the last, or the best if there are validation rows or it diverged
    loss: np.ndarray  #: mean loss over the batches of each epoch, shape (n_epochs,)
    score: np.ndarray  #: validation loss after each epoch, or ``loss`` without validation rows
    n_updates: int  #: steps taken
    reason: str  #: "settled", "max_iter" or "diverged"


# Functions: derivatives of graphs of scalars -------------------------------------------------


class Scalar:
    """A number that remembers how it was computed: its parents and the local derivatives.

    ``parents`` are pairs (Scalar, float): each with the derivative of this value with respect to
    it.

    Book: neural-networks-reverse-mode. Linnainmaa (1976), BIT 16, 146-160.

    >>> x = Scalar(3.0)
    >>> z = x * x + 2.0 * x
    >>> z.value, chain_rule(z).derivative[x]
    (15.0, 8.0)
    """

    def __init__(self, value, parents=()):
        self.value, self.parents = value, parents

    def __add__(self, other):
        other = _scalar(other)
        return Scalar(self.value + other.value, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        other = _scalar(other)
        return Scalar(self.value * other.value, ((self, other.value), (other, self.value)))

    def __neg__(self):
        return Scalar(-self.value, ((self, -1.0),))

    def __sub__(self, other):
        return self + (-_scalar(other))

    def __rsub__(self, other):
        return (-self) + other

    __radd__, __rmul__ = __add__, __mul__

    def exp(self):
        """Return e^v, whose derivative is the value itself."""
        value = math.exp(self.value)
        return Scalar(value, ((self, value),))

    def log(self):
        """Return log v, whose derivative is 1 / v."""
        return Scalar(math.log(self.value), ((self, 1 / self.value),))

    def tanh(self):
        """Return tanh v, whose derivative 1 - tanh^2 v needs only the value."""
        value = math.tanh(self.value)
        return Scalar(value, ((self, 1 - value * value),))


def _scalar(v):
    return v if isinstance(v, Scalar) else Scalar(float(v))


def topological_order(z):
    """Return the nodes from which the Scalar z was computed, each after its parents, z last."""
    order, seen, stack = [], set(), [(z, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((parent, False) for parent, _ in node.parents)
    return order


def chain_rule(z):
    """Return dz/dv for every node v from which z was computed, in one sweep from z backwards.

    Book: neural-networks-reverse-mode.
    """
    order, edges = topological_order(z), 0
    derivative = dict.fromkeys(order, 0.0)
    derivative[z] = 1.0
    for node in reversed(order):
        for parent, local in node.parents:
            derivative[parent] += derivative[node] * local  # (neural-networks-reverse-mode)
            edges += 1
    return Sweep(derivative, len(order), edges)


# Functions: activations and outputs ----------------------------------------------------------


def _sigmoid_slope(A):
    return A * (1 - A)


def _tanh_slope(A):
    return 1 - A * A


def _relu(Z):
    return np.maximum(Z, 0)


def _positive(A):
    return (A > 0).astype(float)


def _same(Z):
    return Z


#: The activations by name: each with its slope as a function of the stored value.
ACTIVATIONS = {
    "identity": Activation(_same, np.ones_like),
    "sigmoid": Activation(sigmoid, _sigmoid_slope),
    "tanh": Activation(np.tanh, _tanh_slope),
    "relu": Activation(_relu, _positive),
    "step": Activation(_positive, np.zeros_like),
}


def _squared_loss(Z, Y):
    return 0.5 * ((Z - Y) ** 2).sum(axis=1)


def _binary_loss(Z, Y):
    return (np.logaddexp(0, Z) - Y * Z).sum(axis=1)


def _softmax_loss(Z, Y):
    return log_sum_exp(Z) * Y.sum(axis=1) - (Y * Z).sum(axis=1)


#: The outputs by name: in each the derivative of the loss by the scores is ``mean(Z) - Y``.
OUTPUTS = {
    "identity": Output(_same, _squared_loss),
    "sigmoid": Output(sigmoid, _binary_loss),
    "softmax": Output(softmax, _softmax_loss),
}


# Functions: networks -------------------------------------------------------------------------


def initialise(sizes, *, gain=1.0, rng):
    """Return layers with independent Gaussian weights of variance gain / inputs, and offsets 0.

    ``sizes`` are the numbers of inputs, of units in each hidden layer, of outputs. A gain of 1
    keeps the size of signals for "identity" and (nearly) "tanh", 2 for "relu".

    Book: neural-networks-initialisation. He et al. (2015), section 2.2.

    >>> [layer.W.shape for layer in initialise([3, 2, 1], rng=np.random.default_rng(0))]
    [(3, 2), (2, 1)]
    """
    check_scalar(gain, "gain", low=0)
    check_rng(rng)
    if len(sizes) < 2:
        raise ValueError("sizes must hold at least the number of inputs and of outputs.")
    for size in sizes:
        check_scalar(size, "each of sizes", low=1, integer=True)
    return [
        Layer(np.sqrt(gain / m) * rng.standard_normal((m, k)), np.zeros(k))
        for m, k in pairwise(sizes)
    ]


def forward(net, X, activation="tanh"):
    """Return the values of all layers: A_l = g(A_{l-1} W_l + 1 b_l^T), A_0 = X, and the scores.

    A holds A_0, ..., A_{L-1}, what the backward pass needs; Z = A_{L-1} W_L + 1 b_L^T, shape (n,
    K), are the scores before the output function. g is used in all layers but the last.

    Book: neural-networks-mlp-composition.
    """
    if X.ndim != 2 or X.shape[1] != len(net[0].W):
        raise ValueError(f"X must have shape (n, {len(net[0].W)}) for this net, got {X.shape}.")
    g = ACTIVATIONS[activation].value
    A = [X]
    for W, b in net[:-1]:
        A.append(g(A[-1] @ W + b))
    W, b = net[-1]
    return A, A[-1] @ W + b


def backward(net, A, D, activation="tanh"):
    """Return dE/dW_l and dE/db_l for all layers, from D = dE/dZ of the scores, shape (n, K).

    From the last layer to the first: dE/dW_l = A_{l-1}^T D_l, dE/db_l = D_l^T 1 and
    D_{l-1} = g'(Z_{l-1}) * (D_l W_l^T), entry by entry.

    Book: neural-networks-backpropagation. Rumelhart, Hinton and Williams (1986), Nature 323.

    Parameters
    ----------
    net, A, activation : as for ``forward``, and the values of the layers from it
    D : array of shape (n, K)
    """
    slope = ACTIVATIONS[activation].slope
    gradient = []
    for l in range(len(net) - 1, -1, -1):
        gradient.append(Layer(A[l].T @ D, D.sum(axis=0)))  # (eq-neural-networks-gradient)
        if l > 0:
            D = slope(A[l]) * (D @ net[l].W.T)  # (eq-neural-networks-delta)
    return gradient[::-1]


def loss_and_gradient(net, X, Y, *, activation="tanh", output="identity", alpha=0.0, weights=None):
    """Return E = sum_i s_i E_i + (alpha / 2) sum_l ||W_l||^2 and its gradient, a list of Layer.

    Book: neural-networks-backprop-minibatch.

    Parameters
    ----------
    net : list of Layer
    X, Y : arrays of shape (n, d) and (n, K)
        Targets are numbers, zeros and ones, or one-hot rows.
    activation, output : str
        Names in ``ACTIVATIONS`` and ``OUTPUTS``.
    alpha : float
        Penalty on the weights, not on the offsets.
    weights : array of shape (n,), optional
        s_i, by default 1/n each.
    """
    s = np.full(len(X), 1 / len(X)) if weights is None else weights
    mean, loss = OUTPUTS[output]
    A, Z = forward(net, X, activation)
    gradient = backward(net, A, s[:, None] * (mean(Z) - Y), activation)
    value = s @ loss(Z, Y) + alpha / 2 * sum(np.vdot(W, W) for W, _ in net)
    return value, [Layer(G + alpha * W, h) for (G, h), (W, _) in zip(gradient, net)]


def flatten(net):
    """Return all parameters of a list of layers as one vector."""
    return np.concatenate([part.ravel() for layer in net for part in layer])


def unflatten(theta, sizes):
    """Return the layers whose parameters stand in theta, shape (p,), as views of it, not copies."""
    net, at = [], 0
    for m, k in pairwise(sizes):
        end = at + m * k
        net.append(Layer(theta[at:end].reshape(m, k), theta[end : end + k]))
        at = end + k
    return net


def dead_units(net, X):
    """Return, for each hidden layer, how many ReLU units are 0 on every row of X.

    Book: neural-networks-dead-units.
    """
    A, _ = forward(net, X, "relu")
    return [int((values <= 0).all(axis=0).sum()) for values in A[1:]]


def relu_interpolant(knots, values):
    """Return a network with one hidden ReLU layer that interpolates values linearly between knots.

    One unit for each interval of the increasing knots: f(x) = v_0 + sum_i (s_i - s_{i-1})
    max(0, x - x_i), where s_i is the slope on the interval that begins at x_i, and s_{-1} = 0.

    Book: neural-networks-universal.
    """
    x = check_vector(knots, "knots")
    v = check_vector(values, "values", length=len(x))
    if len(x) < 2 or (np.diff(x) <= 0).any():
        raise ValueError("knots must be at least two increasing numbers: sort them.")
    slopes = np.diff(v) / np.diff(x)
    kinks = np.diff(slopes, prepend=0.0)
    return [Layer(np.ones((1, len(kinks))), -x[:-1]), Layer(kinks[:, None], v[:1])]


# Functions: training -------------------------------------------------------------------------


def momentum_step(theta, g, memory, *, eta, momentum=0.9):
    """Take the step v <- momentum v - eta g, theta <- theta + v; return theta and the memory of v.

    Parameters
    ----------
    theta, g : arrays of shape (p,)
        Parameters and gradient.
    memory : Moments
    eta, momentum : float
        Step size, and the share of the last step that is kept.
    """
    v = momentum * memory.first - eta * g
    return theta + v, Moments(v, memory.second, memory.t + 1)


def adam_step(theta, g, memory, *, eta, momentum=0.9, decay=0.999, floor=1e-8):
    """Take a step of Adam: theta <- theta - eta m / (sqrt(v) + floor), entry by entry.

    m and v are the decayed means of the gradients and of their squares, divided by 1 - momentum^t
    and 1 - decay^t, the sums of their weights. Parameters and result are as in ``momentum_step``.

    Book: neural-networks-adam. Kingma and Ba (2015), Algorithm 1.
    """
    t = memory.t + 1
    m = momentum * memory.first + (1 - momentum) * g
    v = decay * memory.second + (1 - decay) * g * g
    size = np.sqrt(v / (1 - decay**t)) + floor
    return theta - (eta / (1 - momentum**t)) * m / size, Moments(m, v, t)


def _epoch(theta, memory, sizes, X, Y, s, batches, step, options):
    """Run through the batches once; return the parameters, the memory and the mean loss."""
    total = 0.0
    for B in batches:
        value, gradient = loss_and_gradient(
            unflatten(theta, sizes), X[B], Y[B], weights=s[B] / len(B), **options
        )
        if not np.isfinite(value):
            return theta, memory, value
        theta, memory = step(theta, flatten(gradient), memory)
        total += value * len(B)
    return theta, memory, total / sum(len(B) for B in batches)


def train(
    net,
    X,
    Y,
    *,
    activation="tanh",
    output="identity",
    alpha=0.0,
    solver="adam",
    eta=0.01,
    momentum=0.9,
    batch_size=32,
    max_iter=200,
    tol=1e-4,
    patience=10,
    validation=None,
    weights=None,
    rng,
):
    """Train by epochs of mini-batch steps on E of ``loss_and_gradient``.

    Each epoch shuffles the rows, cuts them into batches and makes one step for each. Training ends
    when for ``patience`` epochs the score has not fallen by ``tol`` times its first value, after
    ``max_iter`` epochs, or when the loss is no longer finite; then the parameters are those before
    the epoch with the smallest loss.

    Book: neural-networks-minibatch-training.

    Parameters
    ----------
    net : list of Layer
        The start.
    X, Y, activation, output, alpha : see ``loss_and_gradient``
    solver : {"adam", "sgd"}
    eta, momentum : float
        Step size; share of the last step that is kept.
    batch_size : int
        With n or more the whole sample is one batch, in the order of the rows.
    max_iter, patience : int
        In epochs.
    tol : float
        Relative to the first score; 0 trains on as long as the score falls at all.
    validation : arrays (X, Y) or (X, Y, weights), optional
        The score is the loss on these, without penalty, and the best layers are returned.
    weights : array of shape (n,), optional
        Weight of each row: 2 counts as the row twice.
    rng : numpy.random.Generator
    """
    check_choice(solver, "solver", ("adam", "sgd"))
    check_rng(rng)
    n, sizes = len(X), [len(net[0].W)] + [len(b) for _, b in net]
    s = np.ones(n) if weights is None else np.asarray(weights) * (n / np.sum(weights))
    take = adam_step if solver == "adam" else momentum_step

    def step(theta, g, memory):
        return take(theta, g, memory, eta=eta, momentum=momentum)

    options = {"activation": activation, "output": output}
    held = dict(zip(("X", "Y", "weights"), validation or ()))
    if "weights" in held:
        held["weights"] = held["weights"] / np.sum(held["weights"])
    theta, losses, scores, reason = flatten(net), [], [], "max_iter"
    memory = Moments(np.zeros_like(theta), np.zeros_like(theta), 0)
    best, best_theta, since = np.inf, theta, 0
    for _ in range(max_iter):
        order = rng.permutation(n) if batch_size < n else np.arange(n)
        batches = [order[i : i + batch_size] for i in range(0, n, batch_size)]
        with np.errstate(over="ignore", invalid="ignore"):
            after, memory, loss = _epoch(
                theta, memory, sizes, X, Y, s, batches, step, options | {"alpha": alpha}
            )
            score = loss
            if validation is not None:
                score = loss_and_gradient(unflatten(after, sizes), **held, **options)[0]
        if not (np.isfinite(loss) and np.isfinite(score) and np.isfinite(after).all()):
            reason = "diverged"
            break
        losses.append(loss)
        scores.append(score)
        since = 0 if score < best - tol * scores[0] else since + 1
        if score < best:
            best, best_theta = score, theta if validation is None else after
        theta = after
        if since >= patience:
            reason = "settled"
            break
    chosen = theta if validation is None and reason != "diverged" else best_theta
    return TrainingRun(
        unflatten(chosen, sizes), np.array(losses), np.array(scores), memory.t, reason
    )


# Estimators ----------------------------------------------------------------------------------


def _mean_and_scale(A, s):
    """Return weighted mean and standard deviation of each column; 1 where it does not vary."""
    mean = s @ A / s.sum()
    scale = np.sqrt(s @ (A - mean) ** 2 / s.sum())
    flat = (A[0] == A).all(axis=0) | (scale == 0)
    return np.where(flat, A[0], mean), np.where(flat, 1.0, scale)


class _MLP:
    """What the classifier and the regressor share: parameters, training, the scaled first layer."""

    def __init__(
        self,
        hidden_layer_sizes=(100,),
        *,
        activation="relu",
        alpha=1e-3,
        solver="adam",
        learning_rate=0.01,
        momentum=0.9,
        batch_size=200,
        max_iter=200,
        tol=1e-4,
        early_stopping=False,
        validation_fraction=0.1,
        patience=20,
        random_state=0,
    ):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.alpha = alpha
        self.solver = solver
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state

    def _check(self):
        check_choice(self.activation, "activation", ("identity", "sigmoid", "tanh", "relu"))
        check_choice(self.solver, "solver", ("adam", "sgd"))
        check_scalar(self.alpha, "alpha", low=0)
        check_scalar(self.learning_rate, "learning_rate", low=0, open_low=True)
        check_scalar(self.momentum, "momentum", low=0, high=1, open_high=True)
        check_scalar(
            self.validation_fraction, "validation_fraction", low=0, high=1, open_low=True,
            open_high=True,
        )  # fmt: skip
        for name in ("batch_size", "patience"):
            check_scalar(getattr(self, name), name, low=1, integer=True)
        hidden = self.hidden_layer_sizes
        hidden = [hidden] if np.ndim(hidden) == 0 else list(hidden)
        for size in hidden:
            check_scalar(size, "each of hidden_layer_sizes", low=1, integer=True)
        return hidden

    def _train(self, X, Y, s, output):
        """Train on inputs of mean 0 and variance 1, then fold the scaling into the first layer."""
        hidden, rng = self._check(), random_generator(self.random_state)
        mean, scale = _mean_and_scale(X, s)
        Z, held = (X - mean) / scale, None
        gain = 2.0 if self.activation == "relu" else 1.0
        net = initialise([X.shape[1], *hidden, Y.shape[1]], gain=gain, rng=rng)
        if self.early_stopping:
            order = rng.permutation(len(Z))
            cut = min(len(Z) - 1, max(1, round(self.validation_fraction * len(Z))))
            if cut < 1:
                raise ValueError("early_stopping needs at least 2 samples: n_samples = 1.")
            held, rest = tuple(A[order[:cut]] for A in (Z, Y, s)), np.sort(order[cut:])
            Z, Y, s = Z[rest], Y[rest], s[rest]
        run = train(
            net, Z, Y, activation=self.activation, output=output, alpha=self.alpha,
            solver=self.solver, eta=self.learning_rate, momentum=self.momentum,
            batch_size=self.batch_size, max_iter=self.max_iter, tol=self.tol,
            patience=self.patience, validation=held, weights=s, rng=rng,
        )  # fmt: skip
        self._warn(run)
        W = run.net[0].W / scale[:, None]
        self.net_ = [Layer(W, run.net[0].b - mean @ W), *run.net[1:]]
        self.loss_curve_, self.validation_curve_ = run.loss, run.score
        self._activation = self.activation  # set_params is for the next fit
        self.converged_, self.n_iter_ = run.reason == "settled", max(1, len(run.loss))
        self.n_features_in_ = X.shape[1]

    def _warn(self, run):
        name = type(self).__name__
        if run.reason == "diverged":
            convergence_warning(
                f"{name} diverged after {len(run.loss)} epochs: the loss is no longer finite; the "
                f"weights kept are the best before. Lower learning_rate, now "
                f"{self.learning_rate:g}."
            )
        elif run.reason == "max_iter":
            fall = (run.score[0] - run.score[-1]) / max(abs(run.score[0]), 1e-300)
            convergence_warning(
                f"{name} stopped after max_iter={self.max_iter} epochs while the loss was still "
                f"falling, by {fall:.3g} of its first value so far (tolerance {self.tol:g} in "
                f"{self.patience} epochs): raise max_iter."
            )

    def _scores(self, X):
        return forward(self.net_, X, self._activation)[1]


class MLPClassifier(_MLP, Classifier):
    """Network for classes: cross-entropy + (alpha / 2) sum_l ||W_l||^2, by mini-batch steps.

    E = (1/n) sum_i s_i E_i + (alpha / 2) sum_l ||W_l||^2 with one sigmoid output for two classes,
    softmax for more. Inputs are brought to mean 0 and variance 1 for training (the penalty refers
    to these), then the scaling is folded into the first layer. The weights s_i are brought to mean
    1; they equal repeated rows while the sample is one batch, on average otherwise.

    Book: neural-networks-minibatch-training.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Units of each hidden layer.
    activation : {"relu", "tanh", "sigmoid", "identity"}
    alpha : float
        Penalty on the weights.
    solver : {"adam", "sgd"}
    learning_rate, momentum : float
    batch_size, max_iter : int
        Rows of a step, epochs at most.
    tol, patience : float, int
        Training ends if for ``patience`` epochs the loss has not fallen by tol times its first
        value.
    early_stopping : bool
        Watch the loss on held-out rows instead, weighted by s_i, and keep the best network.
    validation_fraction : float
        Share of rows held out.
    random_state, class_weight : see ``mllib.core``

    Attributes
    ----------
    net_ : list of Layer
        Acts on inputs as they are given.
    classes_ : array of shape (K,)
    loss_curve_, validation_curve_ : arrays of shape (n_iter_,)
    converged_, n_iter_, n_features_in_ : bool, int, int

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> MLPClassifier((8,), activation="tanh", learning_rate=0.1, tol=0.001).fit(X, y).predict(X)
    array([0, 1, 1, 0])
    """

    def __init__(
        self,
        hidden_layer_sizes=(100,),
        *,
        activation="relu",
        alpha=1e-3,
        solver="adam",
        learning_rate=0.01,
        momentum=0.9,
        batch_size=200,
        max_iter=200,
        tol=1e-4,
        early_stopping=False,
        validation_fraction=0.1,
        patience=20,
        random_state=0,
        class_weight=None,
    ):
        super().__init__(
            hidden_layer_sizes,
            activation=activation,
            alpha=alpha,
            solver=solver,
            learning_rate=learning_rate,
            momentum=momentum,
            batch_size=batch_size,
            max_iter=max_iter,
            tol=tol,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            patience=patience,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def fit(self, X, y, sample_weight=None):
        """Train on X of shape (n, d), labels y and weights, both of shape (n,); return self."""
        begin_fit(self, X)
        name, factors = type(self).__name__, self.class_weight
        X, classes, index, s, _ = check_weighted_X_y(X, y, sample_weight, factors, name)
        s = np.ones(len(X)) if s is None else s / max_abs(s)
        Y = (index[:, None] == np.arange(len(classes))).astype(float)
        binary = len(classes) == 2
        self._train(X, Y[:, 1:] if binary else Y, s, "sigmoid" if binary else "softmax")
        self.classes_ = classes
        return self

    def predict_proba(self, X):
        """Return the probability of each class, shape (m, K)."""
        X = check_features(self, X)
        Z = self._scores(X)
        return np.hstack([sigmoid(-Z), sigmoid(Z)]) if Z.shape[1] == 1 else softmax(Z)

    def predict(self, X):
        """Return the most probable class, the first at a tie, shape (m,)."""
        p = self.predict_proba(X)
        return self.classes_[p.argmax(axis=1)]


class MLPRegressor(_MLP, Regressor):
    """Network for numbers: half the mean squared error + (alpha / 2) sum_l ||W_l||^2.

    E = (1/2n) sum_i s_i (f(x_i) - y_i)^2 + (alpha / 2) sum_l ||W_l||^2, where the weights s_i are
    brought to mean 1, inputs and targets to mean 0 and variance 1 for training; then the scaling is
    folded into the first and the last layer. Parameters and attributes are as in ``MLPClassifier``.

    Book: neural-networks-error-regression.

    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> model = MLPRegressor(activation="tanh", learning_rate=0.03, tol=0.001)
    >>> model.fit(x, np.abs(x[:, 0])).score(x, np.abs(x[:, 0])) > 0.9
    True
    """

    def fit(self, X, y, sample_weight=None):
        """Train on X of shape (n, d), numbers y and weights, both of shape (n,); return self."""
        begin_fit(self, X)
        X, y = check_array(X), check_targets(y, "MLPRegressor")
        check_target_length(X, y)
        s = check_sample_weight(sample_weight, len(X), ones=True)
        X, y, s = X[s > 0], y[s > 0], s[s > 0] / max_abs(s)
        mean, scale = _mean_and_scale(y[:, None], s)
        self._train(X, (y[:, None] - mean) / scale, s, "identity")
        W, b = self.net_[-1]
        self.net_[-1] = Layer(W * scale, b * scale + mean)
        return self

    def predict(self, X):
        """Return the outputs, shape (m,)."""
        X = check_features(self, X)
        return self._scores(X)[:, 0]
