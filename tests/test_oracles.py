"""The library against other people's: objectives, residuals and parameters agree."""

import numpy as np
import pytest
from sklearn.linear_model import Perceptron as SklearnPerceptron

from mllib.perceptron import Perceptron

# Perceptron ---


@pytest.mark.parametrize(("n", "d", "eta"), [(50, 3, 1.0), (400, 10, 0.25), (300, 40, 3.0)])
def test_perceptron_makes_the_same_weights_as_sklearn(n, d, eta):
    rng = np.random.default_rng(n)
    X = rng.integers(-9, 10, (n, d)).astype(float)
    y = np.sign(X @ rng.standard_normal(d) + 0.5)
    ours = Perceptron(eta=eta, max_iter=5).fit(X, y)
    theirs = SklearnPerceptron(eta0=eta, max_iter=len(ours.mistakes_), tol=None, shuffle=False)
    theirs.fit(X, y)
    if ours.converged_:
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-12)
    else:  # ours returns the pocket, which is at least as good as the last weights
        assert ours.score(X, y) >= theirs.score(X, y)
