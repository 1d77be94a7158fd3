"""Properties that hold for every input: equivariances, invariances, agreements between chapters."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mllib.perceptron import add_intercept, is_separable, kernel_perceptron, perceptron

settings.register_profile("book", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("book")

# Perceptron ---


def integer_samples(largest=9):
    """Return a strategy for samples of 2 to 12 integer points in one to three dimensions."""
    return st.tuples(st.integers(2, 12), st.integers(1, 3)).flatmap(
        lambda shape: st.tuples(
            arrays(float, shape, elements=st.integers(-largest, largest)),
            arrays(float, shape[0], elements=st.sampled_from([-1.0, 1.0])),
        )
    )


@given(integer_samples(), st.sampled_from([2.0**-20, 0.5, 4.0, 2.0**20]))
def test_perceptron_mistakes_do_not_depend_on_the_scale_of_data_or_step(sample, scale):
    X, y = sample
    run = perceptron(X, y, max_epochs=10)
    assert np.array_equal(perceptron(scale * X, y, max_epochs=10).order, run.order)
    assert np.array_equal(perceptron(X, y, eta=scale, max_epochs=10).order, run.order)


@given(integer_samples(), st.integers(0, 2**32 - 1))
def test_perceptron_is_equivariant_under_permutation_of_coordinates(sample, seed):
    X, y = sample
    p = np.random.default_rng(seed).permutation(X.shape[1])
    run, permuted = perceptron(X, y, max_epochs=10), perceptron(X[:, p], y, max_epochs=10)
    assert np.array_equal(run.w[p], permuted.w)


@given(integer_samples())
def test_flipping_labels_and_points_together_changes_nothing(sample):
    X, y = sample
    run, flipped = perceptron(X, y, max_epochs=10), perceptron(-X, -y, max_epochs=10)
    assert np.array_equal(run.w, flipped.w)


@given(integer_samples(3))
def test_separability_by_linear_programme_agrees_with_the_perceptron(sample):
    X, y = sample
    run = perceptron(add_intercept(X), y, max_epochs=20000)
    assert run.converged == is_separable(X, y)


@given(integer_samples())
def test_kernel_perceptron_counts_the_same_mistakes(sample):
    X, y = sample
    counts = np.bincount(perceptron(X, y, max_epochs=10).order, minlength=len(y))
    assert np.array_equal(kernel_perceptron(X @ X.T, y, max_epochs=10).alpha, counts)
