"""The perceptron module: behaviour of each public function, its errors and edge cases."""

import itertools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from uncompiled import uncompiled

from mllib.decision_theory import add_intercept
from mllib.perceptron import (
    BatchPerceptron,
    KernelPerceptron,
    Perceptron,
    averaged_weights,
    batch_perceptron,
    functional_margin,
    is_separable,
    kernel_perceptron,
    mistake_bound,
    mistake_counts,
    perceptron,
    perceptron_criterion,
    pocket_weights,
    separating_weights,
    weight_path,
)

CORNERS = np.array(list(itertools.product([0.0, 1.0], repeat=2)))
XOR = np.array([-1.0, 1.0, 1.0, -1.0])


def integer_sample(seed, n=40, d=3):
    """Return integer points with labels given by a random hyperplane through the origin."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (n, d)).astype(float)
    scores = X @ rng.standard_normal(d)
    return X[scores != 0], np.sign(scores[scores != 0])


def replay(X, y, eta, passes, is_mistake):
    """Run the perceptron with Python lists and integers, for comparison."""
    w, order = [0] * len(X[0]), []
    for _ in range(passes):
        for i, (x, t) in enumerate(zip(X, y)):
            if is_mistake(t, sum(a * b for a, b in zip(w, x))):
                w = [a + eta * t * b for a, b in zip(w, x)]
                order.append(i)
    return w, order


# perceptron ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_perceptron_equals_a_replay_in_integers(seed):
    X, y = integer_sample(seed)
    run = perceptron(X, y, max_epochs=3)
    w, order = replay(X.astype(int), y.astype(int), 1, 3, lambda t, s: t * s <= 0)
    assert run.w.tolist() == w
    assert run.order.tolist() == order[: len(run.order)]
    assert run.mistakes.sum() == len(run.order)


def test_perceptron_distinguishes_a_wrong_sign_in_the_update():
    X, y = integer_sample(0)
    wrong, _ = replay(X.astype(int), -y.astype(int), 1, 3, lambda t, s: -t * s <= 0)
    assert perceptron(X, y, max_epochs=3).w.tolist() != wrong


def test_ties_read_as_negative_leave_a_zero_score_of_a_negative_example_alone():
    run = perceptron([[1.0]], [-1.0], ties="negative")
    assert run.order.size == 0
    assert run.w.tolist() == [0.0]
    assert perceptron([[1.0]], [-1.0]).order.tolist() == [0]


@pytest.mark.parametrize("ties", ["mistake", "negative"])
def test_compiled_and_plain_loops_make_the_same_run(ties):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((40, 3)), rng.choice([-1.0, 1.0], 40)
    run = perceptron(X, y, eta=0.3, max_epochs=5, ties=ties)
    pocket = pocket_weights(X, y, run, eta=0.3)
    with uncompiled():
        plain = perceptron(X, y, eta=0.3, max_epochs=5, ties=ties)
        same = pocket_weights(X, y, run, eta=0.3)
    assert all(np.array_equal(a, b) for a, b in zip(run, plain))
    assert np.array_equal(pocket[0], same[0])
    assert pocket[1] == same[1]


def test_a_shuffled_run_visits_in_the_order_of_the_generator():
    X, y = integer_sample(3, n=200, d=4)
    run = perceptron(X, y, rng=np.random.default_rng(1))
    rng = np.random.default_rng(1)
    visits = np.concatenate([rng.permutation(200) for _ in run.mistakes])
    assert np.array_equal(visits[run.steps], run.order)
    assert run.converged


def test_steps_say_when_each_mistake_was_made():
    run = perceptron(np.eye(3), np.ones(3))
    assert run.steps.tolist() == [0, 1, 2]
    assert run.n_steps == 6
    assert run.mistakes.tolist() == [3, 0]


def test_weight_path_ends_at_the_weights_and_counts_rebuild_them():
    X, y = integer_sample(4)
    run = perceptron(X, y)
    assert np.array_equal(weight_path(X, y, run)[-1], run.w)
    assert np.array_equal((mistake_counts(run, len(y)) * y) @ X, run.w)


def test_averaged_weights_are_the_mean_over_all_steps():
    X, y = integer_sample(5)
    run = perceptron(X, y, max_epochs=4)
    path, w, seen = weight_path(X, y, run), 0, []
    for step in range(run.n_steps):
        w = np.searchsorted(run.steps, step, side="right")
        seen.append(path[w])
    np.testing.assert_allclose(averaged_weights(X, y, run), np.mean(seen, axis=0), rtol=1e-12)


@pytest.mark.parametrize(("n", "epochs"), [(60, 10), (2300, 1)])  # errors are counted by thousands
def test_pocket_holds_the_best_of_all_weights_met(n, epochs):
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((n, 2)), rng.choice([-1.0, 1.0], n)
    run = perceptron(X, y, max_epochs=epochs)
    w, errors = pocket_weights(X, y, run, candidates=len(run.order))
    all_errors = [np.count_nonzero((X @ v > 0) != (y > 0)) for v in weight_path(X, y, run)[1:]]
    assert errors == min(all_errors) < all_errors[-1]
    assert np.count_nonzero((X @ w > 0) != (y > 0)) == errors


def test_functions_leave_their_arguments_alone():
    X, y = integer_sample(7)
    before = X.copy(), y.copy()
    perceptron(X, y)
    batch_perceptron(X, y)
    separating_weights(X, y)
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])


# the bound, margins, separability ------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_mistake_bound_holds_for_any_separator(seed):
    X, y = integer_sample(seed)
    made = len(perceptron(X, y, max_epochs=10**6).order)
    assert made <= mistake_bound(X, y, separating_weights(X, y))


def test_mistake_bound_is_met_by_the_unit_vectors():
    signs = np.array([1.0, -1, -1, 1, 1])
    assert mistake_bound(np.eye(5), signs, signs) == 5 == len(perceptron(np.eye(5), signs).order)


def test_mistake_bound_by_hand():
    # R^2 = 25, |w*|^2 = 4 and gamma = 2: each square counts, and the farthest point, not the mean
    assert mistake_bound([[3.0, 4.0], [1.0, 0.0]], [1, 1], [2.0, 0.0]) == 25.0
    assert mistake_bound([[3.0, 4.0], [-2.0, 0.0]], [1, -1], [1.0, 0.0]) == 6.25


def test_mistake_bound_does_not_change_when_data_or_separator_are_scaled():
    X, y = integer_sample(8)
    w = separating_weights(X, y)
    expected = pytest.approx(mistake_bound(X, y, w), rel=1e-12)
    for scale in (1e-8, 1e8):
        assert mistake_bound(scale * X, y, w) == expected
        assert mistake_bound(X, y, scale * w) == expected


def test_mistake_bound_refuses_a_vector_that_does_not_separate():
    with pytest.raises(ValueError, match="w_star must classify every example"):
        mistake_bound([[1.0], [2.0]], [1, -1], [1.0])


def test_functional_margin_by_hand():
    assert functional_margin([1.0, -1.0], [[2.0, 1.0], [0.0, 3.0]], [1, -1]) == 1.0


def test_every_labelling_of_a_triangle_is_separable_and_two_of_the_square_are_not():
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    labellings = itertools.product([-1.0, 1.0], repeat=3)
    assert all(is_separable(triangle, np.array(t)) for t in labellings)
    square = [t for t in itertools.product([-1.0, 1.0], repeat=4) if not is_separable(CORNERS, t)]
    assert square == [(-1, 1, 1, -1), (1, -1, -1, 1)]


def test_separability_does_not_depend_on_scale_or_on_constant_columns():
    X, y = integer_sample(9)
    for scale in (1e-8, 1e8):
        assert is_separable(scale * X, y, intercept=False)
        assert not is_separable(scale * CORNERS, XOR)
    assert is_separable(np.column_stack([X, np.zeros(len(X))]), y)


def test_equal_points_with_different_labels_are_not_separable():
    assert separating_weights([[1.0, 2.0], [1.0, 2.0]], [1, -1]) is None


# criterion and batch -------------------------------------------------------------------------


def test_criterion_and_gradient_by_hand():
    value, gradient = perceptron_criterion(
        [1.0, 0.0], [[2.0, 1.0], [-1.0, 1.0], [3.0, 0.0]], [-1, 1, 1]
    )
    assert value == 3.0
    assert gradient.tolist() == [3.0, 0.0]


def test_batch_perceptron_separates_and_reports_its_trace():
    X, y = integer_sample(10)
    run = batch_perceptron(X, y)
    assert run.converged
    assert (y * (X @ run.w) > 0).all()
    assert run.errors[0] == len(y)
    assert run.criterion[-1] == 0
    assert len(run.criterion) == len(run.errors)


def test_batch_perceptron_stops_at_max_iter():
    run = batch_perceptron(add_intercept(CORNERS), XOR, max_iter=7)
    assert not run.converged
    assert len(run.criterion) == 8


# kernel --------------------------------------------------------------------------------------


def test_kernel_perceptron_with_inner_products_is_the_perceptron():
    X, y = integer_sample(11)
    run, dual = perceptron(X, y), kernel_perceptron(X @ X.T, y)
    assert np.array_equal(dual.alpha, mistake_counts(run, len(y)))
    assert np.array_equal(dual.f, X @ run.w)
    assert np.array_equal(dual.mistakes, run.mistakes)


def test_kernel_estimator_equals_the_perceptron_on_explicit_features():
    X, y = integer_sample(12, n=25, d=2)
    quadratic = np.column_stack([X**2, np.sqrt(2) * X[:, 0] * X[:, 1]])
    with pytest.warns(ConvergenceWarning):
        by_kernel = KernelPerceptron(lambda P, Q: (P @ Q.T) ** 2, max_iter=20).fit(X, y)
    by_features = perceptron(add_intercept(quadratic), y, max_epochs=20)
    scores = add_intercept(quadratic) @ by_features.w
    np.testing.assert_allclose(by_kernel.decision_function(X), scores, rtol=1e-9, atol=1e-6)


def test_kernel_matrix_must_be_square_symmetric_and_fit_y():
    with pytest.raises(ValueError, match="K must be square"):
        kernel_perceptron([[1.0, 2.0]], [1, -1])
    with pytest.raises(ValueError, match="K must be symmetric"):
        kernel_perceptron([[1.0, 2.0], [0.0, 1.0]], [1, -1])
    with pytest.raises(ValueError, match="y must have 2 entries"):
        kernel_perceptron(np.eye(2), [1, -1, 1])
    with pytest.raises(ValueError, match="kernel must be None or a function"):
        KernelPerceptron(kernel="rbf").fit(CORNERS, XOR)


# estimators ----------------------------------------------------------------------------------


def test_estimator_stores_the_run():
    X, y = integer_sample(13)
    names = np.where(y > 0, "yes", "no")
    model = Perceptron(fit_intercept=False).fit(X, names)
    run = perceptron(X, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert np.array_equal(model.coef_[0], run.w)
    assert model.intercept_.tolist() == [0.0]
    assert model.n_iter_ == len(run.mistakes)
    assert model.converged_
    assert np.array_equal(model.mistake_counts_, mistake_counts(run, len(y)))
    assert np.array_equal(model.predict(X), names)


def test_estimator_returns_the_pocket_and_warns_with_the_errors_left():
    rng = np.random.default_rng(14)
    X, y = rng.standard_normal((80, 2)), rng.choice([-1, 1], 80)
    with pytest.warns(UserWarning, match=r"max_iter=5 passes; .* leave \d+ of 80"):
        model = Perceptron(max_iter=5).fit(X, y)
    last = perceptron(add_intercept(X), y.astype(float), max_epochs=5).w
    assert not model.converged_
    assert model.score(X, y) > np.mean(np.where(add_intercept(X) @ last > 0, 1, -1) == y)


def test_averaged_estimator_uses_the_averaged_weights():
    X, y = integer_sample(15)
    model = Perceptron(average=True).fit(X, y)
    A = add_intercept(X)
    expected = averaged_weights(A, y, perceptron(A, y))
    np.testing.assert_allclose(np.r_[model.intercept_, model.coef_[0]], expected, rtol=1e-12)


def test_shuffled_fits_with_one_seed_are_identical():
    X, y = integer_sample(16)
    fits = [Perceptron(shuffle=True, random_state=3).fit(X, y).coef_[0] for _ in range(2)]
    assert np.array_equal(*fits)
    run = perceptron(add_intercept(X), y, rng=np.random.default_rng(3))
    assert np.array_equal(fits[0], run.w[1:])
    assert not np.array_equal(run.order, perceptron(add_intercept(X), y).order)


def test_batch_estimator_warns_when_it_runs_out():
    with pytest.warns(UserWarning, match="BatchPerceptron stopped after max_iter=5"):
        BatchPerceptron(max_iter=5).fit(CORNERS, XOR)
    assert BatchPerceptron().fit(*integer_sample(17)).converged_


# bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [2.0]], [0, 1], "y must hold only -1 and \\+1"),
        ([[1.0], [2.0]], [1, -1, 1], "y must have 2 entries, got 3"),
        ([[np.nan], [2.0]], [1, -1], "Input X contains NaN"),
        ([[np.inf], [2.0]], [1, -1], "Input X contains infinity"),
        ([1.0, 2.0], [1, -1], "Expected 2D array, got 1D array"),
        ([["a"], ["b"]], [1, -1], "X must hold numbers only"),
        (np.empty((0, 2)), [], "0 sample"),
        ([[1j], [2.0]], [1, -1], "Complex data not supported"),
    ],
)
@pytest.mark.parametrize("function", [perceptron, batch_perceptron, separating_weights])
def test_bad_samples_are_refused_with_one_sentence(function, X, y, message):
    with pytest.raises(ValueError, match=message):
        function(X, y)


@pytest.mark.parametrize("eta", [0, -1, np.nan, np.inf, "1", None, True])
def test_bad_step_sizes_are_refused(eta):
    with pytest.raises(ValueError, match="eta must be a number in"):
        perceptron(CORNERS, XOR, eta=eta)
    with pytest.raises(ValueError, match="eta must be a number in"):
        Perceptron(eta=eta).fit(CORNERS, XOR)


@pytest.mark.parametrize("passes", [0, -3, 1.5, None])
def test_bad_numbers_of_passes_are_refused(passes):
    with pytest.raises(ValueError, match="max_epochs must be an integer"):
        perceptron(CORNERS, XOR, max_epochs=passes)
    with pytest.raises(ValueError, match="max_iter must be an integer"):
        Perceptron(max_iter=passes).fit(CORNERS, XOR)


def test_a_run_on_another_sample_is_refused():
    X, y = integer_sample(18)
    run = perceptron(X, y)
    for function in (weight_path, averaged_weights, pocket_weights):
        with pytest.raises(ValueError, match="run must be one on X and y"):
            function(X[:-1], y[:-1], run)
        with pytest.raises(ValueError, match="eta must be a number in"):
            function(X, y, run, eta="1")
    with pytest.raises(ValueError, match="n must be an integer in"):
        mistake_counts(run, run.order.max())
    with pytest.raises(ValueError, match="candidates must be an integer"):
        pocket_weights(X, y, run, candidates=0)
    with pytest.raises(ValueError, match="run must have made a mistake"):
        pocket_weights([[1.0]], [-1], perceptron([[1.0]], [-1], ties="negative"))


def test_a_kernel_that_returns_the_wrong_shape_is_named():
    with pytest.raises(ValueError, match=r"kernel\(X, Y\) must return finite numbers of shape"):
        KernelPerceptron(kernel=lambda P, Q: np.ones((2, 2))).fit(CORNERS, XOR)
    with pytest.raises(ValueError, match="max_iter must be an integer"):
        KernelPerceptron(max_iter=0).fit(CORNERS, XOR)


def test_bad_choices_and_classes_are_refused():
    with pytest.raises(ValueError, match=r"rng must be a numpy\.random\.Generator"):
        perceptron(CORNERS, XOR, rng=3)
    with pytest.raises(ValueError, match="ties must be one of 'mistake', 'negative'"):
        perceptron(CORNERS, XOR, ties="positive")
    with pytest.raises(ValueError, match="needs at least 2 classes in y, got 1"):
        Perceptron().fit(CORNERS, np.ones(4))
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        Perceptron().fit(CORNERS, [0, 1, 2, 1])
    with pytest.raises(ValueError, match="w must have 2 entries, got 3"):
        functional_margin([1.0, 2.0, 3.0], CORNERS, XOR)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [Perceptron, BatchPerceptron, KernelPerceptron])
def test_rows_whose_inner_products_overflow_are_refused(kind):
    X, y = np.array([[1.0], [2.0], [5.0], [6.0]]), [0, 0, 1, 1]
    for unit in (1e154, 1e200):
        with pytest.raises(ValueError, match="between 1e-150 and 1e150"):
            kind().fit(X * unit, y)
    with pytest.raises(ValueError, match="sample_weight times X"):
        BatchPerceptron().fit(X, y, sample_weight=np.full(4, 1e200))


@pytest.mark.parametrize("step", [{}, {"eta": 0.25}])
def test_weights_of_a_run_are_those_of_its_step_size(step):
    X, y = integer_sample(19)
    X, y = np.vstack([X, -X[:3]]), np.append(y, y[:3])  # not separable
    eta = step.get("eta", 1.0)
    run = perceptron(X, y, **step)
    assert (len(run.mistakes), run.converged) == (1000, False)
    path = weight_path(X, y, run, **step)
    w = np.zeros(3)
    for k, i in enumerate(run.order[:200]):
        assert np.array_equal(path[k], w)
        w = w + eta * y[i] * X[i]
    assert np.array_equal(path[-1], run.w)
    short = perceptron(X, y, max_epochs=3, **step)
    survived = np.diff(short.steps, append=short.n_steps)
    path = weight_path(X, y, short, **step)
    mean = (survived @ path[1:] + short.steps[0] * path[0]) / short.n_steps
    assert averaged_weights(X, y, short, **step) == pytest.approx(mean)
    for candidates in (1, 5):
        longest = np.sort(np.argsort(-survived, kind="stable")[:candidates])
        wrong = [np.count_nonzero((X @ path[1 + k] > 0) != (y > 0)) for k in longest]
        best, errors = pocket_weights(X, y, short, candidates=candidates, **step)
        assert errors == min(wrong)
        assert np.array_equal(best, path[1 + longest[np.argmin(wrong)]])
    many = perceptron(X, y, max_epochs=60, **step)
    hundred = pocket_weights(X, y, many, candidates=100, **step)
    assert np.array_equal(pocket_weights(X, y, many, **step)[0], hundred[0])


@pytest.mark.parametrize("step", [{}, {"eta": 0.25}])
def test_a_batch_run_follows_the_gradient_and_tells_each_step(step):
    A, y = integer_sample(19)
    A, y = np.vstack([A, -A[:3]]), np.append(y, y[:3])  # not separable
    run = batch_perceptron(A, y, **step)
    assert (len(run.criterion), run.converged) == (1001, False)
    w = np.zeros(3)
    for value, errors in list(zip(run.criterion, run.errors))[:30]:
        margins = y * (A @ w)
        assert value == pytest.approx(-margins[margins <= 0].sum())
        assert errors == np.count_nonzero(margins <= 0)
        w = w + step.get("eta", 1.0) * (y * (margins <= 0)) @ A
    short = batch_perceptron(A, y, max_iter=30, **step)
    assert short.w == pytest.approx(w)
    ended = batch_perceptron(*integer_sample(20))
    assert ended.errors[0] > ended.errors[-1] == 0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("max_iter", [1, 1000])
def test_the_estimators_store_the_runs_that_were_asked_for(fit_intercept, max_iter):
    X, y = integer_sample(21, n=30)
    A = add_intercept(X) if fit_intercept else X
    asked = {"fit_intercept": fit_intercept, "max_iter": max_iter}
    online = Perceptron(0.5, average=True, **asked).fit(X, y)
    run = perceptron(A, y, eta=0.5, max_epochs=max_iter)
    batch = BatchPerceptron(0.5, **asked).fit(X, y)
    steps = batch_perceptron(A, y, eta=0.5, max_iter=max_iter)
    mean = averaged_weights(A, y, run, eta=0.5)
    for model, made, w in ((online, run, mean), (batch, steps, steps.w)):
        stored = np.append(model.intercept_, model.coef_) if fit_intercept else model.coef_[0]
        assert np.array_equal(stored, w)
        assert model.converged_ == made.converged == (max_iter == 1000)
    assert np.array_equal(online.mistakes_, run.mistakes)
    assert np.array_equal(online.mistake_counts_, mistake_counts(run, len(y)))
    assert online.n_iter_ == len(run.mistakes)
    assert np.array_equal(batch.criterion_, steps.criterion)
    assert batch.n_iter_ == len(steps.criterion) - 1

    def cubic(P, Q):
        return (1 + P @ Q.T) ** 3

    for kernel in (None, cubic):
        model = KernelPerceptron(kernel, **asked).fit(X, y)
        K = fit_intercept + (X @ X.T if kernel is None else kernel(X, X))
        run = kernel_perceptron(K, y, max_epochs=max_iter)
        assert np.array_equal(model.support_, np.flatnonzero(run.alpha))
        assert np.array_equal(model.dual_coef_, (run.alpha * y)[model.support_])
        assert np.array_equal(model.support_vectors_, X[model.support_])
        assert np.array_equal(model.mistakes_, run.mistakes)
        assert (model.n_iter_, model.converged_) == (len(run.mistakes), run.converged)
        assert model.decision_function(X) == pytest.approx(run.f)


def test_an_offset_is_sought_unless_it_is_not_wanted():
    assert is_separable([[1.0], [2.0]], [-1, 1])
    assert not is_separable([[1.0], [2.0]], [-1, 1], intercept=False)
    assert kernel_perceptron(np.eye(2), [1, -1]).converged


def test_the_kernel_perceptron_ends_after_a_thousand_passes():
    run = kernel_perceptron(1 + CORNERS @ CORNERS.T, XOR)
    assert (len(run.mistakes), run.converged) == (1000, False)


def test_classes_weigh_as_they_are_told_and_shuffling_is_asked_for():
    X, y = integer_sample(22, n=30)
    weights = np.where(y > 0, 3.0, 0.5)
    by_class = BatchPerceptron(class_weight={1: 3.0, -1: 0.5}).fit(X, y)
    by_row = BatchPerceptron().fit(X, y, sample_weight=weights)
    scaled = batch_perceptron(weights[:, None] * add_intercept(X), y)
    for model in (by_class, by_row):
        assert np.array_equal(np.append(model.intercept_, model.coef_), scaled.w)
    assert not np.array_equal(scaled.w, batch_perceptron(add_intercept(X), y).w)
    fixed = Perceptron(random_state=0).fit(X, y)
    assert np.array_equal(fixed.coef_[0], perceptron(add_intercept(X), y).w[1:])
