"""Numbers printed in the literature, recomputed with the library."""

import numpy as np
import pytest

from mllib.perceptron import add_intercept, perceptron

# Perceptron ---


@pytest.mark.parametrize(
    ("ties", "w", "mistakes"),
    [("negative", (-0.1000, 0.2013), [13, 0]), ("mistake", (-0.2000, 0.4049), [24, 8, 2, 0])],
)
def test_threshold_learned_from_100_uniform_points(ties, w, mistakes):
    # Lorencio Abril (2023), Example 4.4: MATLAB's rng(5) draws NumPy's RandomState(5) uniforms.
    x = np.random.RandomState(5).random_sample(100)
    y = np.where(x > 0.5, 1.0, -1.0)
    run = perceptron(add_intercept(x[:, None]), y, eta=0.1, max_epochs=10, ties=ties)
    assert np.round(run.w, 4).tolist() == list(w)
    assert run.mistakes.tolist() == mistakes
