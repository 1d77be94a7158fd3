"""Kernels: their values, what refutes one, explicit features, kernel ridge, and bad input."""

import itertools
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.stats import poisson
from sklearn.gaussian_process.kernels import ExpSineSquared, Matern
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.metrics import pairwise

from mllib.kernels import (
    KernelRidge,
    center_kernel,
    center_kernel_vectors,
    check_kernel,
    check_psd,
    common_words_kernel,
    default_width,
    exponential_kernel,
    features_from_gram,
    gram,
    kernel_distances,
    kernel_nearest,
    kernel_ridge,
    kernel_ridge_objective,
    linear_kernel,
    matern_kernel,
    periodic_kernel,
    polynomial_kernel,
    polynomial_kernel_features,
    product_kernel,
    rbf_features,
    rbf_kernel,
    scaled_kernel,
    sigmoid_kernel,
    spectrum_kernel,
    sum_kernel,
    trigonometric_features,
    trigonometric_kernel,
)
from mllib.nearest_neighbours import neighbours
from mllib.ridge_and_lasso import ridge
from mllib.support_vector_machines import SVC

RNG = np.random.default_rng(0)
X, Z = RNG.standard_normal((9, 3)), RNG.standard_normal((5, 3))
Y9 = RNG.standard_normal(9)


# Behaviour -----------------------------------------------------------------------------------


def test_kernels_against_their_definitions():
    D = ((X[:, None] - Z) ** 2).sum(axis=2)
    np.testing.assert_allclose(linear_kernel(X, Z), np.einsum("id,jd->ij", X, Z))
    np.testing.assert_allclose(rbf_kernel(X, Z, 1.7), np.exp(-D / (2 * 1.7**2)))
    np.testing.assert_allclose(polynomial_kernel(X, Z, 2, 0.5, 2.0), (0.5 + X @ Z.T / 4) ** 2)
    np.testing.assert_allclose(sigmoid_kernel(X, Z, 0.3, -1), np.tanh(0.3 * X @ Z.T - 1))


def test_rbf_far_from_the_origin_and_in_blocks():
    A = np.random.default_rng(1).standard_normal((150, 2))
    want = np.exp(-((A[:, None] - A) ** 2).sum(axis=2) / 2)
    np.testing.assert_allclose(rbf_kernel(A + 1e6, A + 1e6), want, atol=1e-8)
    np.testing.assert_allclose(rbf_kernel(A, A[:70]), want[:, :70], atol=1e-14)
    assert (np.diag(rbf_kernel(A, A)) == 1).all()
    np.testing.assert_allclose(rbf_kernel(A, A.copy()), rbf_kernel(A, A), atol=1e-14)


def test_trigonometric_kernel_is_the_integral_and_its_features_converge_to_it():
    value = sum(quad(lambda u, t=t: np.cos(u * t), 0, 2 * np.pi)[0] for t in X[0] - Z[0])
    assert trigonometric_kernel(X[:1], Z[:1])[0, 0] == pytest.approx(value)
    assert trigonometric_kernel(X, X)[0, 0] == pytest.approx(6 * np.pi)
    Phi, Psi = trigonometric_features(X, 400), trigonometric_features(Z, 400)
    assert Phi.shape == (9, 2400)
    np.testing.assert_allclose(Phi @ Psi.T, trigonometric_kernel(X, Z), atol=2e-3)


def test_string_kernels_count_by_hand():
    assert common_words_kernel(["a b b c"], ["b c d", ""]).tolist() == [[2.0, 0.0]]
    assert spectrum_kernel(["abab"], ["ab", "ba", "abab", "a"], p=2).tolist() == [[2, 1, 5, 0]]
    assert spectrum_kernel(["aab"], ["aba"], p=1).tolist() == [[5.0]]


def test_closure_rules_are_entrywise():
    a, b = polynomial_kernel, rbf_kernel

    def f(A):
        return A[:, 0] + 2

    np.testing.assert_allclose(sum_kernel(a, b, a)(X, Z), 2 * a(X, Z) + b(X, Z))
    np.testing.assert_allclose(product_kernel(a, b)(X, Z), a(X, Z) * b(X, Z))
    np.testing.assert_allclose(exponential_kernel(b)(X, Z), np.exp(b(X, Z)))
    np.testing.assert_allclose(scaled_kernel(b, f)(X, Z), np.outer(f(X), f(Z)) * b(X, Z))


def test_gram_and_kernel_vectors():
    np.testing.assert_allclose(gram(linear_kernel, X), X @ X.T)
    np.testing.assert_allclose(gram(linear_kernel, X, Z), X @ Z.T)


def test_check_kernel_finds_what_refutes():
    found = check_kernel(lambda A, B: A @ B.T + A[:, :1], X)
    assert found.asymmetry == pytest.approx(np.ptp(X[:, 0]))
    found = check_kernel(lambda A, B: -A @ B.T, X)
    values = np.linalg.eigvalsh(-X @ X.T)
    assert found.eigenvalue == pytest.approx(values[0])
    assert found.witness @ (-X @ X.T) @ found.witness == pytest.approx(values[0])
    good = check_kernel(rbf_kernel, X)
    assert good.asymmetry < 1e-15
    assert good.eigenvalue > 0


def test_features_from_gram_have_the_rank_as_their_number():
    for K, rank in ((X @ X.T, 3), (rbf_kernel(X, X), 9), (np.ones((4, 4)), 1)):
        Phi = features_from_gram(K)
        assert Phi.shape == (len(K), rank)
        np.testing.assert_allclose(Phi @ Phi.T, K, atol=1e-12)


@pytest.mark.parametrize(
    ("d", "r", "c"), [*itertools.product((1, 2, 4), (1, 2, 5), (0.0, 1.0, 2.5))]
)
def test_polynomial_features_reproduce_the_kernel(d, r, c):
    A, B = RNG.standard_normal((2, 6, d))
    Phi, Psi = polynomial_kernel_features(A, r, c), polynomial_kernel_features(B, r, c)
    assert Phi.shape == (6, comb(d + r, r))
    np.testing.assert_allclose(Phi @ Psi.T, (c + A @ B.T) ** r, atol=1e-10)


def test_what_is_left_out_of_the_rbf_features_is_a_poisson_tail():
    x = np.linspace(-4, 4, 9)
    for ell, m in itertools.product((0.7, 2.0), (1, 4, 20)):
        rest = 1 - (rbf_features(x, m, ell) ** 2).sum(axis=1)
        np.testing.assert_allclose(rest, poisson.sf(m - 1, (x / ell) ** 2), atol=1e-12)


def test_distances_and_nearest_in_feature_space():
    Phi, Psi = polynomial_kernel_features(X), polynomial_kernel_features(Z)

    def k(A):
        return np.diag(polynomial_kernel(A, A))

    want = np.linalg.norm(Phi[:, None] - Psi, axis=2)
    np.testing.assert_allclose(kernel_distances(polynomial_kernel(X, Z), k(X), k(Z)), want)
    nearest = kernel_nearest(polynomial_kernel(X, Z), k(X))
    np.testing.assert_array_equal(nearest, want.argmin(axis=0))
    assert kernel_nearest([[1.0], [1.0]], [1.0, 1.0])[0] == 0
    for kernel in (linear_kernel, rbf_kernel):  # the order of the distances is the Euclidean one
        nearest = kernel_nearest(kernel(X, Z), np.diag(kernel(X, X)))
        np.testing.assert_array_equal(nearest, neighbours(X, Z).index[:, 0])


def test_kernel_ridge_is_ridge_on_the_features():
    Phi, Psi = polynomial_kernel_features(X), polynomial_kernel_features(Z)
    model = KernelRidge(lam=0.3, kernel="polynomial", ell=1.0).fit(X, Y9)
    np.testing.assert_allclose(model.predict(Z), Psi @ ridge(Phi, Y9, 0.3), atol=1e-10)
    np.testing.assert_allclose(model.dual_coef_, kernel_ridge(Phi @ Phi.T, Y9, 0.3), atol=1e-10)


def test_kernel_ridge_minimises_its_objective():
    K = rbf_kernel(X, X)
    alpha = kernel_ridge(K, Y9, 0.5)
    at = kernel_ridge_objective(alpha, K, Y9, 0.5)
    f = K @ alpha
    assert at == pytest.approx(np.sum((Y9 - f) ** 2) + 0.5 * alpha @ K @ alpha)
    for _ in range(50):
        assert kernel_ridge_objective(alpha + 0.1 * RNG.standard_normal(9), K, Y9, 0.5) > at


def test_without_penalty_the_targets_are_interpolated():
    np.testing.assert_allclose(KernelRidge(0.0, "rbf", 0.5).fit(X, Y9).predict(X), Y9, atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", rbf_kernel])
def test_a_whole_weight_is_a_repeated_example(kernel):
    s = np.array([1, 0, 2, 3, 1, 0, 1, 5, 1])
    weighted = KernelRidge(0.4, kernel).fit(X, Y9, sample_weight=s)
    repeated = KernelRidge(0.4, kernel).fit(np.repeat(X, s, axis=0), np.repeat(Y9, s))
    np.testing.assert_allclose(weighted.predict(Z), repeated.predict(Z), atol=1e-10)
    np.testing.assert_array_equal(weighted.dual_coef_[s == 0], 0)


def test_precomputed_and_callable_give_what_the_name_gives():
    named = KernelRidge(0.2, "rbf", 0.9).fit(X, Y9)
    called = KernelRidge(0.2, lambda A, B: rbf_kernel(A, B, 0.9)).fit(X, Y9)
    K = rbf_kernel(X, X, 0.9)
    given_K = KernelRidge(0.2, "precomputed").fit(K, Y9)
    np.testing.assert_allclose(called.predict(Z), named.predict(Z))
    np.testing.assert_allclose(given_K.predict(rbf_kernel(Z, X, 0.9)), named.predict(Z))
    np.testing.assert_array_equal(K, rbf_kernel(X, X, 0.9))  # not overwritten


def test_large_samples_are_fitted_in_blocks_of_rows():
    rng = np.random.default_rng(3)
    A, t, Q = rng.standard_normal((200, 2)), rng.standard_normal(200), rng.standard_normal((90, 2))
    model = KernelRidge(0.1, "rbf", 0.8).fit(A, t)
    want = rbf_kernel(Q, A, 0.8) @ np.linalg.solve(rbf_kernel(A, A, 0.8) + 0.1 * np.eye(200), t)
    np.testing.assert_allclose(model.predict(Q), want, atol=1e-9)


def test_default_width_follows_the_scale_and_the_weights():
    assert default_width(1e8 * X) == pytest.approx(1e8 * default_width(X))
    assert default_width(np.full((3, 2), 7.0)) == 1.0
    s = [1, 0, 2, 3, 1, 0, 1, 5, 1]
    assert default_width(X, s) == pytest.approx(default_width(np.repeat(X, s, axis=0)))


# Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linear_kernel(X, X[:, :1]), "Y must have 3 columns like X, got 1"),
        (lambda: rbf_kernel(X, X, 0), "ell must be"),
        (lambda: rbf_kernel(X, X, -1.0), "ell must be"),
        (lambda: rbf_kernel([[np.nan]], [[1.0]]), "Input X contains NaN"),
        (lambda: polynomial_kernel(X, X, r=1.5), "r must be an integer"),
        (lambda: polynomial_kernel(X, X, c=-1), "c must be"),
        (lambda: polynomial_kernel(X, X, ell=0), "ell must be"),
        (lambda: periodic_kernel(X, X, period=0.0), "period must be"),
        (lambda: periodic_kernel(X, X, ell=0.0), "ell must be"),
        (lambda: matern_kernel(X, X, nu=2.5), "nu must be 0.5 or 1.5"),
        (lambda: matern_kernel(X, X, ell=-1.0), "ell must be"),
        (lambda: matern_kernel(X, X[:, :1]), "Y must have 3 columns"),
        (lambda: sigmoid_kernel(X, X, v="1"), "v must be a number"),
        (lambda: sigmoid_kernel(X, X, c=np.nan), "c must be a number"),
        (lambda: common_words_kernel("ab", ["a"]), "A must be a list of strings"),
        (lambda: spectrum_kernel(["a"], [1]), "B must be a list of strings"),
        (lambda: spectrum_kernel(["a"], ["b"], p=0), "p must be an integer"),
        (lambda: rbf_features([1.0], 0), "m must be an integer"),
        (lambda: rbf_features([1.0], 2, ell=0), "ell must be"),
        (lambda: polynomial_kernel_features(X, 0), "r must be an integer"),
        (lambda: polynomial_kernel_features(X, 2, -1), "c must be"),
        (lambda: trigonometric_features(X, 0), "L must be an integer"),
        (lambda: gram(lambda A, B: np.zeros(2), X), "kernel.X, Y. must return finite numbers"),
        (lambda: check_psd([[1.0, 2.0], [2.0, 1.0]]), "its smallest eigenvalue is -1"),
        (lambda: check_psd([[1.0, 2.0], [0.0, 1.0]]), "K must be symmetric"),
        (lambda: check_psd([[np.inf]]), "Input K contains infinity"),
        (lambda: features_from_gram([[-1.0]]), "K must be positive semi-definite"),
        (lambda: kernel_distances([[5.0]], [1.0], [1.0]), "must come from one kernel"),
        (lambda: kernel_ridge([[0.0, 1], [1, 0]], [1, 1], 1.0), "smallest eigenvalue is -1"),
        (lambda: kernel_ridge(np.ones((2, 2)), [1, 2], 0.0), "singular to rounding"),
        (lambda: kernel_ridge(np.eye(2), [1, 2], -1.0), "lam must be"),
        (lambda: kernel_ridge(np.eye(2), [1, 2, 3], 1.0), "y must have 2 entries"),
        (lambda: kernel_ridge(np.eye(2), [1, 2], 1.0, [-1, 1]), "sample_weight must not be neg"),
        (lambda: kernel_ridge(np.eye(2), [1, 2], 1.0, [0, 0]), "not all of it zero"),
        (lambda: KernelRidge(kernel="cosine").fit(X, Y9), "kernel must be one of"),
        (lambda: KernelRidge(kernel="rbf", ell=0.0).fit(X, Y9), "ell must be"),
        (lambda: KernelRidge(kernel="rbf", ell="auto").fit(X, Y9), "ell must be one of"),
        (lambda: KernelRidge(lam=np.nan).fit(X, Y9), "lam must be"),
        (lambda: KernelRidge(degree=0).fit(X, Y9), "degree must be"),
        (lambda: KernelRidge(kernel="precomputed").fit(X, Y9), "must be square"),
        (lambda: KernelRidge(kernel="precomputed").fit(-np.eye(9), Y9), "X, the precomputed"),
        (lambda: KernelRidge(kernel=lambda A, B: -A @ B.T).fit(X, Y9), "kernel.X, X. must be pos"),
        (lambda: KernelRidge().fit(X, Y9[:4]), "inconsistent numbers of samples"),
        (lambda: KernelRidge(lam=0.0).fit(X, Y9), "increase lam"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


# Oracles -------------------------------------------------------------------------------------


def test_kernels_and_kernel_ridge_against_scikit_learn():
    gamma = 1 / (2 * 0.8**2)
    np.testing.assert_allclose(rbf_kernel(X, Z, 0.8), pairwise.rbf_kernel(X, Z, gamma))
    np.testing.assert_allclose(sigmoid_kernel(X, Z, 2, 1), pairwise.sigmoid_kernel(X, Z, 2, 1))
    rival = SklearnKernelRidge(alpha=0.3, kernel="rbf", gamma=gamma)
    ours = KernelRidge(0.3, "rbf", 0.8)
    for s in (None, np.arange(1.0, 10.0)):
        want = rival.fit(X, Y9, sample_weight=s).predict(Z)
        np.testing.assert_allclose(ours.fit(X, Y9, sample_weight=s).predict(Z), want, atol=1e-10)


def test_periodic_and_matern_kernels_against_scikit_learn():
    for nu in (0.5, 1.5):
        np.testing.assert_allclose(matern_kernel(X, Z, nu, 0.7), Matern(0.7, nu=nu)(X, Z))
        assert (np.diag(matern_kernel(X, X, nu)) == 1).all()
    line, other = X[:, :1], Z[:, :1]
    want = ExpSineSquared(length_scale=0.6, periodicity=1.7)(line, other)
    np.testing.assert_allclose(periodic_kernel(line, other, 1.7, 0.6), want)
    turns = periodic_kernel(X, Z + [[1.7, 0.0, -3.4]], 1.7, 0.6)
    np.testing.assert_allclose(turns, periodic_kernel(X, Z, 1.7, 0.6), rtol=1e-10)
    apart = [periodic_kernel(X[:, [j]], Z[:, [j]], 1.7, 0.6) for j in range(3)]
    np.testing.assert_allclose(periodic_kernel(X, Z, 1.7, 0.6), np.prod(apart, axis=0))


# Properties ----------------------------------------------------------------------------------

POINTS = arrays(float, (6, 2), elements=st.floats(-3, 3, width=32))


@settings(max_examples=40, deadline=None)
@given(POINTS, st.floats(0.2, 3))
def test_kernels_have_no_negative_eigenvalue(A, ell):
    def rbf(P, Q):
        return rbf_kernel(P, Q, ell)

    for kernel in (
        rbf,
        polynomial_kernel,
        trigonometric_kernel,
        periodic_kernel,
        matern_kernel,
        sum_kernel(rbf, linear_kernel),
        product_kernel(rbf, polynomial_kernel),
        scaled_kernel(rbf, lambda P: P[:, 0] - P[:, 1]),
        exponential_kernel(lambda P, Q: linear_kernel(P, Q) / 9),
    ):
        K = kernel(A, A)
        found = check_kernel(kernel, A)
        assert found.eigenvalue > -1e-10 * max(1, np.abs(K).max())
        assert found.asymmetry < 1e-10 * max(1, np.abs(K).max())


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("ab ", max_size=6), min_size=2, max_size=6))
def test_string_kernels_are_inner_products_of_counts(texts):
    keys = ["".join(s) for s in itertools.product("ab ", repeat=2)]

    def count(t, s):
        return sum(t[i : i + 2] == s for i in range(len(t)))

    Phi = np.array([[count(t, s) for s in keys] for t in texts])
    assert (spectrum_kernel(texts, texts, 2) == Phi @ Phi.T).all()
    words = sorted({w for t in texts for w in t.split()} | {"a"})
    Psi = np.array([[w in t.split() for w in words] for t in texts], dtype=int)
    assert (common_words_kernel(texts, texts) == Psi @ Psi.T).all()


# Centring ------------------------------------------------------------------------------------


def test_centring_is_that_of_explicit_features():
    Phi, Psi = polynomial_kernel_features(X, 2), polynomial_kernel_features(Z, 2)
    K, k, mean = polynomial_kernel(X, X, 2), polynomial_kernel(X, Z, 2), Phi.mean(axis=0)
    np.testing.assert_allclose(center_kernel(K), (Phi - mean) @ (Phi - mean).T, atol=1e-10)
    centred = center_kernel_vectors(k, K.mean(axis=0))
    np.testing.assert_allclose(centred, (Phi - mean) @ (Psi - mean).T, atol=1e-10)
    own = center_kernel_vectors(K, K.mean(axis=0))
    np.testing.assert_allclose(own, center_kernel(K), atol=1e-10)


def test_centring_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="K must be square"):
        center_kernel(X)
    with pytest.raises(ValueError, match="means must have 9 entries"):
        center_kernel_vectors(linear_kernel(X, Z), np.ones(3))


@pytest.mark.parametrize("unit", [2.0**-450, 2.0**450])
def test_width_scales_with_the_data_at_all_scales(unit):
    s = np.arange(9.0)
    with np.errstate(all="raise"):
        assert default_width(X * unit) == pytest.approx(default_width(X) * unit, rel=1e-12)
        assert default_width(X * unit, s) == pytest.approx(default_width(X, s) * unit, rel=1e-12)
        assert default_width(X, 1e307) == pytest.approx(default_width(X), rel=1e-12)
        K = polynomial_kernel(X * unit, X * unit, ell=unit)
    np.testing.assert_allclose(K, polynomial_kernel(X, X), rtol=1e-12)


@pytest.mark.parametrize("s", [None, np.arange(7.0)])
def test_width_of_a_constant_is_one_whatever_rounding_does(s):
    assert default_width(np.full((7, 3), 0.1), s) == 1.0
    assert default_width(np.r_[np.full((6, 3), 0.1), [[5.0, 5, 5]]], np.r_[np.ones(6), 0]) == 1.0


def test_kernels_refuse_to_overflow():
    A = [[1e140], [-1e140]]
    for call in (
        lambda: polynomial_kernel(A, A),
        lambda: polynomial_kernel([[1.0]], [[1.0]], ell=1e-300),
        lambda: polynomial_kernel_features(A, 3),
        lambda: rbf_kernel(A, A, ell=1e-200),
        lambda: periodic_kernel(A, A, period=1e-200),
        lambda: matern_kernel(A, A, ell=1e-200),
        lambda: rbf_features([1.0], 3, ell=1e-310),
        lambda: KernelRidge(lam=0, kernel="rbf", ell=1e-200).fit(A, [0.0, 1.0]),
    ):
        with pytest.raises(ValueError, match="is too large or too small for float64"):
            call()
    with pytest.raises(ValueError, match="entries must be 0 or between 1e-150 and 1e150"):
        linear_kernel([[1e200]], [[1.0]])


def test_a_kernel_that_vanishes_is_one_all_the_same():
    far = np.array([[0.0], [1.0], [40.0], [41.0]])  # exp(-800) between the clouds
    K, y = rbf_kernel(far, far), [0, 0, 1, 1]
    for model in (KernelRidge(0.1, "precomputed"), SVC(kernel="precomputed")):
        assert np.all((model.fit(K, y).predict(K) > 0.5) == (np.array(y) == 1))
    assert kernel_nearest(K, np.ones(4)).tolist() == [0, 1, 2, 3]
    assert kernel_distances(K, np.ones(4), np.ones(4))[0, 3] == pytest.approx(2**0.5)
    assert center_kernel_vectors(K, K.mean(axis=0)).shape == (4, 4)


def test_what_is_left_out_of_a_kernel():
    assert sigmoid_kernel(X, Z) == pytest.approx(np.tanh(X @ Z.T))
    assert matern_kernel(X, Z) == pytest.approx(Matern(1.0, nu=1.5)(X, Z))
    assert polynomial_kernel(X, Z) == pytest.approx(polynomial_kernel(X, Z, r=3, c=1.0, ell=1.0))
    assert spectrum_kernel(["abcab"], ["xabcab"])[0, 0] == 3  # abc, bca and cab


def test_the_hyperparameters_of_kernel_ridge():
    defaults = {"lam": 1.0, "kernel": "linear", "ell": "scale", "degree": 3, "coef0": 1.0}
    assert KernelRidge().get_params() == defaults
    for chosen in ({}, {"degree": 2}, {"coef0": 3.0}, {"ell": 0.7}):
        named = {"degree": 3, "coef0": 1.0, "ell": default_width(X)} | chosen
        width = named.pop("ell")
        peer = SklearnKernelRidge(alpha=0.5, kernel="polynomial", gamma=width**-2, **named)
        model = KernelRidge(0.5, "polynomial", **chosen).fit(X, Y9)
        assert model.ell_ == pytest.approx(width)
        assert model.predict(Z) == pytest.approx(peer.fit(X, Y9).predict(Z), rel=1e-6)
    scaled = KernelRidge(0.5, "rbf").fit(X, Y9)
    named = KernelRidge(0.5, "rbf", default_width(X)).fit(X, Y9)
    assert scaled.predict(Z) == pytest.approx(named.predict(Z))
