"""Neural networks: the functions, their oracles, deliberately wrong variants, the estimators."""

import inspect
import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neural_network import MLPClassifier as Rival

import mllib.neural_networks as module
from mllib.linear_algebra import numeric_gradient
from mllib.neural_networks import (
    ACTIVATIONS,
    OUTPUTS,
    Layer,
    MLPClassifier,
    MLPRegressor,
    Moments,
    Scalar,
    adam_step,
    backward,
    chain_rule,
    dead_units,
    flatten,
    forward,
    initialise,
    loss_and_gradient,
    momentum_step,
    relu_interpolant,
    topological_order,
    train,
    unflatten,
)

SMOOTH = ("identity", "sigmoid", "tanh", "relu")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def sample(rng, output, n=5, d=3, K=2):
    X = rng.standard_normal((n, d))
    if output == "identity":
        return X, rng.standard_normal((n, K))
    if output == "sigmoid":
        return X, rng.integers(0, 2, (n, K)).astype(float)
    return X, np.eye(K)[rng.integers(0, K, n)]


def network(rng, sizes):
    net = initialise(sizes, rng=rng)
    return [Layer(W, rng.standard_normal(len(b))) for W, b in net]


def gradient_error(functions, activation, output, alpha=0.3):
    rng, sizes = np.random.default_rng(1), [3, 4, 3, 2]
    X, Y = sample(rng, output)
    s, net = rng.uniform(0.1, 1, 5), network(rng, sizes)
    loss = functions["loss_and_gradient"]
    options = {"activation": activation, "output": output, "alpha": alpha, "weights": s}
    found = flatten(loss(net, X, Y, **options)[1])
    truth = numeric_gradient(
        lambda t: loss_and_gradient(unflatten(t, sizes), X, Y, **options)[0], flatten(net)
    )
    return np.abs(found - truth).max() / np.abs(truth).max()


@pytest.mark.parametrize(
    ("activation", "output"), list(itertools.product(SMOOTH, ("identity", "sigmoid", "softmax")))
)
def test_the_gradient_is_that_of_central_differences(activation, output):
    assert gradient_error(vars(module), activation, output) < 1e-6


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("D @ net[l].W.T", "-D @ net[l].W.T"),
        ("slope(A[l]) *", "slope(A[l] + 1) *"),
        ("A[l].T @ D", "A[l].T @ (D + 0.01)"),
        ("D.sum(axis=0)", "D.mean(axis=0)"),
        ("if l > 0", "if l > 1"),
        ("G + alpha * W", "G + 2 * alpha * W"),
        ("(mean(Z) - Y), act", "(Y - mean(Z)), act"),
        ("s[:, None] * (mean", "(mean"),
    ],
)
def test_wrong_variants_of_backpropagation_are_noticed(old, new):
    source, names = inspect.getsource(module), {"__name__": "broken"}
    assert old in source
    exec(source.replace(old, new, 1), names)
    try:
        error = gradient_error(names, "tanh", "softmax")
    except ValueError:
        return
    assert error > 1e-3


def test_scalars_give_the_gradient_of_backpropagation(rng):
    sizes = [3, 4, 2]
    net, (X, Y) = network(rng, sizes), sample(rng, "identity", n=1)
    theta = [Scalar(v) for v in flatten(net)]
    (W1, b1), (W2, b2) = unflatten(np.array(theta, dtype=object), sizes)
    h = [v.tanh() for v in X[0] @ W1 + b1]
    z = sum(0.5 * (v - y) * (v - y) for v, y in zip(h @ W2 + b2, Y[0]))
    value, gradient = loss_and_gradient(net, X, Y)
    derivative = chain_rule(z).derivative
    assert abs(z.value - value) < 1e-12
    assert np.allclose([derivative[t] for t in theta], flatten(gradient), rtol=0, atol=1e-12)


def test_a_graph_is_swept_once_whatever_the_number_of_paths():
    x = Scalar(1.0)
    z = x
    for _ in range(60):
        z = z + z
    sweep = chain_rule(z)
    assert (sweep.nodes, sweep.edges) == (61, 120)
    assert sweep.derivative[x] == 2.0**60
    order = topological_order(z)
    assert order[0] is x
    assert order[-1] is z


def test_arithmetic_of_scalars():
    x, y = Scalar(2.0), Scalar(3.0)
    z = 1 - x * y + (y - 4) * 2 - (-x).exp() + 3 * x.tanh() + y.log()
    d = chain_rule(z).derivative
    assert z.value == pytest.approx(1 - 6 - 2 - np.exp(-2) + 3 * np.tanh(2) + np.log(3))
    assert d[x] == pytest.approx(-3 + np.exp(-2) + 3 * (1 - np.tanh(2) ** 2))
    assert d[y] == pytest.approx(-2 + 2 + 1 / 3)


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_come_from_stored_values(name):
    z, g = np.array([-2.0, -0.3, 0.4, 1.7]), ACTIVATIONS[name]
    numeric = (g.value(z + 1e-6) - g.value(z - 1e-6)) / 2e-6
    assert np.allclose(g.slope(g.value(z)), numeric, atol=1e-8)
    assert not ACTIVATIONS["step"].slope(z).any()
    assert ACTIVATIONS["step"].value(z).tolist() == [0, 0, 1, 1]


def test_outputs_are_stable_and_match_their_formulas():
    Z, Y = np.array([[2.0, -1.0, 0.5]]), np.array([[0.0, 1.0, 0.0]])
    p, q = np.exp(Z) / np.exp(Z).sum(), 1 / (1 + np.exp(-Z))
    assert np.allclose(OUTPUTS["softmax"].mean(Z), p)
    assert OUTPUTS["softmax"].loss(Z, Y)[0] == pytest.approx(-np.log(p[0, 1]))
    shared = np.array([[0.5, 0.25, 0.25]])
    assert OUTPUTS["softmax"].loss(Z, shared)[0] == pytest.approx(-np.sum(shared * np.log(p)))
    binary = -np.sum(Y * np.log(q) + (1 - Y) * np.log(1 - q))
    assert OUTPUTS["sigmoid"].loss(Z, Y)[0] == pytest.approx(binary)
    assert OUTPUTS["identity"].loss(Z, Y)[0] == 0.5 * (4 + 4 + 0.25)
    far = 1e4 * Z
    for output in OUTPUTS.values():
        assert np.isfinite(output.mean(far)).all()
        assert np.isfinite(output.loss(far, Y)).all()


def test_forward_of_a_network_on_paper():
    net = [
        Layer(np.array([[1.0, -1], [2, 0]]), np.array([0.0, 1])),
        Layer(np.ones((2, 1)), -np.ones(1)),
    ]
    A, Z = forward(net, np.array([[1.0, 1], [-2, 0]]), "relu")
    assert A[1].tolist() == [[3, 0], [0, 3]]
    assert Z.tolist() == [[2], [2]]
    with pytest.raises(ValueError, match="X must have shape"):
        forward(net, np.ones((2, 3)))
    gradient = backward(net, A, np.array([[1.0], [2.0]]), "relu")
    assert gradient[0].W.tolist() == [[1, -4], [1, 0]]
    assert gradient[1].W.tolist() == [[3], [6]]
    assert gradient[0].b.tolist() == [1, 2]
    assert gradient[1].b.tolist() == [3]


def test_flatten_and_unflatten_undo_each_other(rng):
    net = network(rng, [4, 3, 5, 2])
    again = unflatten(flatten(net), [4, 3, 5, 2])
    assert all(np.array_equal(p, q) for a, b in zip(net, again) for p, q in zip(a, b))


def test_initialise(rng):
    net = initialise([500, 400, 3], gain=2.0, rng=rng)
    assert net[0].W.std() == pytest.approx(np.sqrt(2 / 500), rel=0.02)
    assert not any(layer.b.any() for layer in net)
    for sizes, gain in (([3], 1.0), ([3, 0], 1.0), ([3, 2], -1.0)):
        with pytest.raises(ValueError, match=r"sizes|gain"):
            initialise(sizes, gain=gain, rng=rng)
    with pytest.raises(ValueError, match="rng must be"):
        initialise([2, 1], rng=0)


def test_steps_on_paper():
    zero = Moments(np.zeros(2), np.zeros(2), 0)
    theta, m = momentum_step(np.array([1.0, 2]), np.array([1.0, -1]), zero, eta=0.5)
    assert theta.tolist() == [0.5, 2.5]
    assert m.first.tolist() == [-0.5, 0.5]
    assert m.t == 1
    theta, m = momentum_step(theta, np.zeros(2), m, eta=0.5, momentum=0.5)
    assert theta.tolist() == [0.25, 2.75]
    theta, m = adam_step(np.zeros(2), np.array([4.0, -0.01]), zero, eta=0.1, floor=0)
    assert np.allclose(theta, [-0.1, 0.1])  # the first step has size eta whatever the gradient
    theta, m = adam_step(theta, np.array([0.0, -0.01]), m, eta=0.1, floor=0)
    first = 0.1 * 4 * 0.9 / (1 - 0.81) / np.sqrt(0.001 * 16 * 0.999 / (1 - 0.999**2))
    assert np.allclose(theta, [-0.1 - 0.1 * first, 0.2])


def test_a_full_batch_without_momentum_is_gradient_descent(rng):
    X, Y = sample(rng, "identity", n=20)
    net = network(rng, [3, 4, 2])
    theta = flatten(net)
    options = {"alpha": 0.1}
    run = train(net, X, Y, solver="sgd", momentum=0.0, eta=0.1, batch_size=20, max_iter=7, tol=0,
                patience=99, rng=rng, **options)  # fmt: skip
    for _ in range(7):
        theta = theta - 0.1 * flatten(
            loss_and_gradient(unflatten(theta, [3, 4, 2]), X, Y, **options)[1]
        )
    assert np.allclose(flatten(run.net), theta, rtol=0, atol=1e-12)
    assert run.n_updates == 7
    assert run.reason == "max_iter"
    assert len(run.loss) == 7


def test_weights_are_repeated_rows(rng):
    X, Y = sample(rng, "softmax", n=12)
    counts = rng.integers(0, 4, 12)
    net = network(rng, [3, 4, 2])
    options = {"output": "softmax", "batch_size": 99, "max_iter": 30, "rng": rng}
    weighted = train(net, X, Y, weights=counts, **options)
    repeated = train(net, np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0), **options)
    assert np.allclose(flatten(weighted.net), flatten(repeated.net), atol=1e-9)
    assert np.allclose(weighted.loss, repeated.loss)


def test_a_row_of_weight_zero_does_not_shift_the_targets(rng):
    X, y = rng.standard_normal((9, 2)), np.append(rng.standard_normal(8), 1e6)
    options = {"hidden_layer_sizes": (3,), "max_iter": 1500, "tol": 1e-6, "random_state": 0}
    weighted = MLPRegressor(**options).fit(X, y, sample_weight=np.append(np.ones(8), 0))
    assert np.abs(weighted.predict(X[:8])).max() < 100


def test_every_row_is_used_once_in_an_epoch(rng, monkeypatch):
    X, Y = sample(rng, "identity", n=23)
    seen = []
    whole = module.loss_and_gradient

    def spy(net, rows, *args, **options):
        seen.append(rows)
        return whole(net, rows, *args, **options)

    monkeypatch.setattr(module, "loss_and_gradient", spy)
    run = train(network(rng, [3, 4, 2]), X, Y, batch_size=5, max_iter=2, rng=rng)
    assert run.n_updates == 10
    assert [len(B) for B in seen[:5]] == [5, 5, 5, 5, 3]
    for epoch in (seen[:5], seen[5:]):
        assert np.array_equal(np.sort(np.vstack(epoch), axis=0), np.sort(X, axis=0))
    assert not np.array_equal(np.vstack(seen[:5]), np.vstack(seen[5:]))


def test_divergence_keeps_the_last_finite_weights(rng):
    X, Y = sample(rng, "identity", n=20)
    run = train(network(rng, [3, 4, 2]), X, Y, activation="identity", solver="sgd", eta=50.0,
                batch_size=20, rng=rng)  # fmt: skip
    assert run.reason == "diverged"
    assert np.isfinite(flatten(run.net)).all()
    assert np.isfinite(run.loss).all()
    value, _ = loss_and_gradient(run.net, X, Y, activation="identity")
    assert value <= run.loss[0]
    assert len(run.loss) < 200


def test_early_stopping_returns_the_best_layers(rng):
    X, Y = sample(rng, "identity", n=15)
    held = sample(rng, "identity", n=15)
    run = train(network(rng, [3, 30, 2]), X, Y, validation=held, patience=15, rng=rng)
    value, _ = loss_and_gradient(run.net, *held)
    assert run.reason == "settled"
    assert value == run.score.min()
    assert len(run.score) - 1 - run.score.argmin() <= 15


@pytest.mark.parametrize("tol", [0.0, 0.01])
def test_patience_counts_epochs_without_a_fall_of_tol_times_the_first_score(rng, tol):
    X, Y = sample(rng, "identity", n=15)
    held, net = sample(rng, "identity", n=15), network(rng, [3, 30, 2])
    options = {"validation": held, "tol": tol, "batch_size": 99, "rng": rng}
    whole = train(net, X, Y, patience=9999, max_iter=400, **options).score
    early = train(net, X, Y, patience=8, max_iter=400, **options)
    since = 0
    for epoch in range(1, len(whole)):
        fell = whole[epoch] < whole[:epoch].min() - tol * whole[0]
        since = 0 if fell else since + 1
        if since == 8:
            break
    assert early.reason == "settled"
    np.testing.assert_array_equal(early.score, whole[: epoch + 1])
    assert loss_and_gradient(early.net, *held)[0] == pytest.approx(early.score.min(), rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=2, max_size=8))
def test_the_interpolant_passes_through_its_points(values):
    knots = np.linspace(-1, 2, len(values))
    net = relu_interpolant(knots, values)
    t = np.linspace(-1, 2, 50)
    _, Z = forward(net, t[:, None], "relu")
    assert np.allclose(Z[:, 0], np.interp(t, knots, values), atol=1e-9)


def test_the_interpolant_refuses_what_it_cannot_do():
    for knots, values in (([0.0], [1.0]), ([0, 0], [1, 1]), ([0, 1], [1, 2, 3])):
        with pytest.raises(ValueError, match=r"knots|values"):
            relu_interpolant(knots, values)


def test_dead_units():
    net = [
        Layer(np.array([[1.0, -1, 1]]), np.array([0.0, 0, -9])),
        Layer(np.ones((3, 1)), np.ones(1)),
    ]
    assert dead_units(net, np.array([[1.0], [2.0]])) == [2]
    assert dead_units(net, np.array([[1.0], [-2.0]])) == [1]


# The estimators ------------------------------------------------------------------------------


def divided(seed):
    data = load_digits()
    rows = np.random.default_rng(seed).permutation(1797)
    return [v[rows[:1300]] for v in (data.data, data.target)] + [
        v[rows[1300:]] for v in (data.data, data.target)
    ]


def test_digits_over_ten_seeds_against_scikit_learn():
    ours, theirs = [], []
    for seed in range(10):
        A, t, Q, u = divided(seed)
        ours.append(MLPClassifier(random_state=seed).fit(A, t).score(Q, u))
        if seed < 2:
            theirs.append(Rival(random_state=seed).fit(A, t).score(Q, u))
    assert np.mean(ours) >= 0.97
    assert np.mean(ours[:2]) > np.mean(theirs) - 0.01


def test_probabilities_and_labels_of_any_kind(rng):
    X = rng.standard_normal((60, 2))
    for y in (
        np.where(X[:, 0] > 0, "yes", "no"),
        np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])],
    ):
        model = MLPClassifier((10,), tol=1e-3).fit(X, y)
        P = model.predict_proba(X)
        assert np.allclose(P.sum(axis=1), 1)
        assert P.shape == (60, len(np.unique(y)))
        assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
        assert model.score(X, y) > 0.9


def test_units_of_the_inputs_do_not_matter(rng):
    X = rng.standard_normal((80, 3))
    y = X[:, 0] * X[:, 1]
    model = MLPRegressor(tol=1e-2)
    base = model.fit(X, y).predict(X)
    for factor in (1e-140, 1e-8, 1e8, 1e140):
        assert np.allclose(model.fit(factor * X, y).predict(factor * X), base, atol=1e-6)
        scaled = model.fit(X, factor * y).predict(X)
        assert np.allclose(scaled / factor, base, atol=1e-6)


def test_constant_inputs_and_targets_are_defined(rng):
    X = np.column_stack([np.full(20, 7.0), rng.standard_normal(20)])
    model = MLPRegressor(tol=1e-3).fit(X, np.full(20, 3.0))
    assert np.allclose(model.predict(X), 3, atol=0.2)


def test_an_exploding_run_warns_and_keeps_finite_weights(rng):
    X = rng.standard_normal((50, 3))
    model = MLPRegressor(solver="sgd", learning_rate=100.0, activation="identity")
    with pytest.warns(ConvergenceWarning, match=r"diverged after .* Lower learning_rate"):
        model.fit(X, X[:, 0])
    assert np.isfinite(model.predict(X)).all()
    assert not model.converged_


def test_running_out_of_epochs_warns(rng):
    X = rng.standard_normal((50, 3))
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        MLPRegressor(max_iter=3).fit(X, X[:, 0])


def test_early_stopping_of_the_estimators(rng):
    X = rng.standard_normal((200, 5))
    y = (X[:, 0] > 0).astype(int)
    model = MLPClassifier(early_stopping=True, random_state=1).fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.9
    assert len(model.validation_curve_) == model.n_iter_
    with pytest.raises(ValueError, match="n_samples = 1"):
        MLPRegressor(early_stopping=True).fit([[1.0]], [1.0])


@pytest.mark.filterwarnings("ignore:.*stopped after max_iter=3")
def test_the_score_on_held_out_rows_is_weighted_like_the_loss(rng):
    X, Y = sample(rng, "identity", n=12)
    held, s = sample(rng, "identity", n=3), np.array([3, 0, 1])
    net = network(rng, [3, 5, 2])
    options = {"batch_size": 12, "max_iter": 3, "rng": rng}
    weighted = train(net, X, Y, validation=(*held, s), **options)
    copies = train(net, X, Y, validation=[np.repeat(A, s, axis=0) for A in held], **options)
    np.testing.assert_allclose(weighted.score, copies.score, rtol=1e-12)
    A, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    model = MLPRegressor(early_stopping=True, validation_fraction=0.5, max_iter=3)
    order = np.random.default_rng(0)
    initialise([2, 100, 1], gain=2.0, rng=order)
    watched = order.permutation(20)[:10]
    light = np.ones(20)
    light[watched[1:]] = 1e-12  # one row of the watched ones counts: the score is its error
    model.fit(A, y, light)
    mean = light @ y / light.sum()
    scale = np.sqrt(light @ (y - mean) ** 2 / light.sum())
    row = watched[:1]
    error = 0.5 * ((model.predict(A[row]) - y[row]) / scale) ** 2
    assert model.validation_curve_.min() == pytest.approx(error[0], rel=1e-6)


def test_one_seed_one_result_and_two_layers(rng):
    X = rng.standard_normal((100, 3))
    y = np.sign(X[:, 0] * X[:, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [MLPClassifier((8, 6), random_state=s, max_iter=30).fit(X, y) for s in (3, 3, 4)]
    P = [f.predict_proba(X) for f in fits]
    assert np.array_equal(P[0], P[1])
    assert not np.allclose(P[0], P[2])
    assert [layer.W.shape for layer in fits[0].net_] == [(3, 8), (8, 6), (6, 1)]


@pytest.mark.parametrize(
    "bad",
    [
        {"hidden_layer_sizes": (0,)},
        {"activation": "step"},
        {"solver": "lbfgs"},
        {"alpha": -1},
        {"learning_rate": 0},
        {"momentum": 1},
        {"batch_size": 0},
        {"max_iter": 0},
        {"tol": -1},
        {"validation_fraction": 1},
        {"patience": 0},
        {"random_state": -1},
    ],
)
def test_bad_settings_are_named(bad):
    X, y = np.eye(4), [0, 1, 0, 1]
    for kind in (MLPClassifier, MLPRegressor):
        with pytest.raises(ValueError, match=next(iter(bad))):
            kind(**bad).fit(X, y)


def test_bad_data_are_named():
    X, y = np.eye(4), [0, 1, 0, 1]
    for kind in (MLPClassifier, MLPRegressor):
        with pytest.raises(NotFittedError):
            kind().predict(X)
        with pytest.raises(ValueError, match="inconsistent"):
            kind().fit(X, y[:3])
        with pytest.raises(ValueError, match="sample_weight"):
            kind().fit(X, y, sample_weight=[1, -1, 1, 1])
    with pytest.raises(ValueError, match="1 class"):
        MLPClassifier().fit(X, y, sample_weight=[1, 0, 1, 0])


def test_one_weight_of_any_size_serves_all_rows():
    X, y = np.array([[1.0], [2.0], [5.0], [6.0]]), [0, 0, 1, 1]
    plain = MLPClassifier(tol=0.9).fit(X, y).predict_proba(X)
    for weight in (2, np.full(4, 1e300), np.full(4, 1e-300)):
        assert np.array_equal(MLPClassifier(tol=0.9).fit(X, y, weight).predict_proba(X), plain)


DEFAULTS = {
    "activation": ("tanh", "relu"),
    "output": ("identity", "sigmoid"),
    "alpha": (0.0, 0.1),
    "solver": ("adam", "sgd"),
    "eta": (0.01, 0.02),
    "momentum": (0.9, 0.5),
    "batch_size": (32, 16),
    "tol": (1e-4, 1e-2),
    "patience": (10, 3),
    "weights": (None, np.arange(80) % 3 + 1.0),
    "max_iter": (200, 5),
}


def test_a_training_run_listens_to_every_option_and_has_the_published_defaults(rng):
    X, Y = rng.standard_normal((80, 2)), rng.integers(0, 2, (80, 1)).astype(float)
    net = network(rng, [2, 3, 1])

    def run(**given):
        return train(net, X, Y, rng=np.random.default_rng(1), **given)

    default = run()
    named = run(**{name: value for name, (value, _) in DEFAULTS.items()})
    assert np.array_equal(default.loss, named.loss)
    assert default.reason == "settled"
    assert len(default.loss) < 200
    assert default.n_updates == 3 * len(default.loss)  # of 32, 32 and 16 rows
    assert np.array_equal(default.score, default.loss)
    for name, (_, other) in DEFAULTS.items():
        assert not np.array_equal(run(**{name: other}).loss, default.loss), name
    endless = run(patience=10**6)
    assert (len(endless.loss), endless.reason) == (200, "max_iter")
    ends = [len(run(tol=tol).loss) for tol in (1e-3, 1e-4, 1e-5)]
    assert ends[1] == len(default.loss)
    held = (X[:9] + 1.0, Y[:9])
    watched = run(validation=held)
    final = loss_and_gradient(watched.net, *held)[0]
    assert final == pytest.approx(watched.score.min())
    assert not np.array_equal(watched.score, watched.loss)


def test_what_is_left_out_of_a_step_and_of_a_start(rng):
    theta, g = rng.standard_normal((2, 4))
    memory = Moments(rng.standard_normal(4), rng.random(4), 3)
    pairs = (
        (momentum_step, {"momentum": 0.9}),
        (adam_step, {"momentum": 0.9, "decay": 0.999, "floor": 1e-8}),
    )
    for step, named in pairs:
        got, kept = step(theta, g, memory, eta=0.1)
        want, same = step(theta, g, memory, eta=0.1, **named)
        assert np.array_equal(got, want)
        assert (kept.t, np.array_equal(kept.first, same.first)) == (4, True)
    v = 0.8 * memory.first - 0.1 * g
    moved, kept = momentum_step(theta, g, memory, eta=0.1, momentum=0.8)
    assert np.allclose(moved, theta + v)
    assert np.array_equal(kept.second, memory.second)
    m, s = 0.8 * memory.first + 0.2 * g, 0.7 * memory.second + 0.3 * g**2
    moved, kept = adam_step(theta, g, memory, eta=0.1, momentum=0.8, decay=0.7, floor=0.5)
    size = np.sqrt(s / (1 - 0.7**4)) + 0.5
    assert np.allclose(moved, theta - 0.1 * m / (1 - 0.8**4) / size)
    assert np.allclose(kept.first, m)
    assert np.allclose(kept.second, s)
    wide = initialise([2000, 50], gain=3.0, rng=np.random.default_rng(0))[0].W
    plain = initialise([2000, 50], rng=np.random.default_rng(0))[0].W
    assert np.allclose(wide, np.sqrt(3.0) * plain)
    assert plain.var() == pytest.approx(1 / 2000, rel=0.02)
    X, Y = sample(rng, "identity")
    net = network(rng, [3, 4, 2])
    value, _ = loss_and_gradient(net, X, Y)
    named = {"activation": "tanh", "output": "identity", "alpha": 0.0, "weights": np.full(5, 0.2)}
    assert value == pytest.approx(loss_and_gradient(net, X, Y, **named)[0])
    A, Z = forward(net, X)
    assert value == pytest.approx(0.5 * np.mean(np.sum((Z - Y) ** 2, axis=1)))
    found = backward(net, A, Z - Y)
    assert np.array_equal(found[0].W, backward(net, A, Z - Y, "tanh")[0].W)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"hidden_layer_sizes": (3, 2)},
        {"activation": "tanh"},
        {"alpha": 0.3},
        {"solver": "sgd"},
        {"learning_rate": 0.1},
        {"momentum": 0.2},
        {"batch_size": 7},
        {"max_iter": 2},
        {"tol": 0.3, "patience": 1},
        {"patience": 1},
        {"early_stopping": True},
        {"early_stopping": True, "validation_fraction": 0.4},
        {"random_state": 5},
    ],
    ids=str,
)
@pytest.mark.parametrize("model", [MLPClassifier, MLPRegressor])
def test_the_estimators_train_as_they_are_told(model, given, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 2)) * [1.0, 5.0] + 3.0
    y = (X[:, 0] + rng.standard_normal(40) > 3).astype(int)
    calls = []

    def recorded(net, *data, **options):
        calls.append((net, data, options))
        return train(net, *data, **options)

    monkeypatch.setattr(module, "train", recorded)
    asked = {"hidden_layer_sizes": (4,), "max_iter": 6} | given
    found = model(**asked).fit(X, y)
    settings = model().get_params() | asked
    (net, (Z, Y), options), names = calls[0], {"eta": "learning_rate"}
    for name in ("activation", "alpha", "solver", "eta", "momentum", "batch_size", "max_iter"):
        assert options[name] == settings[names.get(name, name)], name
    assert (options["tol"], options["patience"]) == (settings["tol"], settings["patience"])
    assert [len(layer.b) for layer in net[:-1]] == list(settings["hidden_layer_sizes"])
    start = np.random.default_rng(settings["random_state"])
    gain = 2.0 if settings["activation"] == "relu" else 1.0
    fresh = initialise([2, *settings["hidden_layer_sizes"], 1], gain=gain, rng=start)
    assert np.array_equal(fresh[0].W, net[0].W)
    held = round(settings["validation_fraction"] * 40) if settings["early_stopping"] else 0
    assert len(Z) == len(Y) == 40 - held
    assert held == 0 or len(options["validation"][0]) == held
    assert found.n_iter_ == len(found.loss_curve_) == len(found.validation_curve_)
    assert found.converged_ == (found.n_iter_ < settings["max_iter"])
    if not held:
        assert np.array_equal(found.loss_curve_, found.validation_curve_)
        assert np.allclose(Z, (X - X.mean(axis=0)) / X.std(axis=0))
    scores = forward(found.net_, X, settings["activation"])[1][:, 0]
    said = found.predict_proba(X)[:, 1] if model is MLPClassifier else found.predict(X)
    assert np.allclose(said, 1 / (1 + np.exp(-scores)) if model is MLPClassifier else scores)


def test_classes_weigh_as_they_are_told(rng):
    X, y = rng.standard_normal((30, 2)), np.arange(30) % 2
    named = {"hidden_layer_sizes": (3,), "batch_size": 30, "max_iter": 5, "tol": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_class = MLPClassifier(class_weight={0: 1.0, 1: 4.0}, **named).fit(X, y)
        by_row = MLPClassifier(**named).fit(X, y, sample_weight=1.0 + 3.0 * y)
        plain = MLPClassifier(**named).fit(X, y)
    assert np.allclose(by_class.predict_proba(X), by_row.predict_proba(X))
    assert not np.allclose(by_class.predict_proba(X), plain.predict_proba(X))
