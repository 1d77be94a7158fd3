"""The library against other people's: objectives, residuals and parameters agree."""

import numpy as np
import pytest
from sklearn.linear_model import Perceptron as SklearnPerceptron

from mllib.perceptron import Perceptron, add_intercept, perceptron

# Perceptron ---


@pytest.mark.parametrize(("n", "d", "eta"), [(50, 3, 1.0), (400, 10, 0.25), (300, 40, 3.0)])
def test_perceptron_makes_the_same_weights_as_sklearn(n, d, eta):
    rng = np.random.default_rng(n)
    X = rng.integers(-9, 10, (n, d)).astype(float)
    y = np.sign(X @ rng.standard_normal(d) + 0.5)
    run = perceptron(add_intercept(X), y, eta=eta, max_epochs=5)
    passes = len(run.mistakes)
    theirs = SklearnPerceptron(eta0=eta, max_iter=passes, tol=None, shuffle=False).fit(X, y)
    np.testing.assert_allclose(run.w[1:], theirs.coef_[0], rtol=1e-12)
    np.testing.assert_allclose(run.w[0], theirs.intercept_[0], rtol=1e-12)


def test_perceptron_estimator_equals_sklearn_where_it_converges():
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (200, 5)).astype(float)
    scores = X @ rng.standard_normal(5)
    X, y = X[np.abs(scores) > 3], np.sign(scores[np.abs(scores) > 3])
    ours = Perceptron().fit(X, y)
    theirs = SklearnPerceptron(max_iter=ours.n_iter_, tol=None, shuffle=False).fit(X, y)
    assert ours.converged_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
