"""Properties that hold for every input: equivariances, invariances, agreements between chapters."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mllib import (
    bayesian_regression,
    concentration,
    decision_theory,
    estimation,
    least_squares,
    model_selection,
    optimization,
    pac_learning,
    probability,
)
from mllib.bias_variance import decompose_smoother, exact_decompose, parameter_mse
from mllib.decision_theory import add_intercept
from mllib.hidden_markov_models import forward, posteriors, viterbi
from mllib.k_means import k_means
from mllib.linear_algebra import (
    condition_number,
    gram_matrix,
    gram_schmidt,
    is_positive_semidefinite,
    jacobi_eigen,
    low_rank_approximation,
    matrix_rank,
    outer_product_sum,
    p_norm,
    push_through,
    sherman_morrison,
    svd_from_eigh,
    svd_solve,
)
from mllib.mixtures_and_em import (
    MixtureParams,
    kl_gap,
    log_likelihood,
    lower_bound,
    m_step,
    responsibilities,
)
from mllib.perceptron import is_separable, kernel_perceptron, perceptron
from mllib.ridge_and_lasso import (
    Lasso,
    Ridge,
    centre,
    lars_path,
    lasso_kkt,
    path_at,
    ridge,
    ridge_svd,
    shrinkage_factors,
)
from mllib.support_vector_machines import (
    SVC,
    kkt_residuals,
    linear_svm,
    offset_bracket,
    rbf_kernel,
    smo,
)

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


# Support vector machines ---


def both_classes(sample):
    """Return the sample with its first two labels set to -1 and +1."""
    X, y = sample
    return X, np.concatenate([[-1.0, 1.0], y[2:]])


@given(integer_samples(), st.sampled_from([0.01, 1.0, 50.0]))
def test_smo_ends_with_a_certificate_on_every_sample(sample, C):
    X, y = both_classes(sample)
    K = rbf_kernel(X, X, 3.0)
    run = smo(K, y, C)
    low, high = offset_bracket(run.alpha, K, y, C)
    assert run.converged
    assert -1e-9 * C <= run.gap <= len(y) * C * max(run.violation, 1e-9)
    assert max(kkt_residuals(run.alpha, run.b, K, y, C)) <= 1e-5 * max(1.0, C)
    assert low <= high + 1e-6


@given(integer_samples(), st.sampled_from([0.01, 1.0]))
def test_the_linear_primal_and_the_dual_reach_one_value(sample, C):
    X, y = both_classes(sample)
    dual = smo(X @ X.T, y, C)
    assert np.isclose(linear_svm(X, y, C, tol=1e-8).primal, dual.dual, rtol=1e-5)


@given(integer_samples(), st.integers(0, 2**32 - 1), st.sampled_from([1e-8, 1.0, 1e8]))
def test_svc_is_invariant_under_scale_order_shift_and_rotation(sample, seed, scale):
    X, y = both_classes(sample)
    rng = np.random.default_rng(seed)
    p, Q = rng.permutation(len(y)), np.linalg.qr(rng.standard_normal((X.shape[1],) * 2))[0]
    f = SVC(tol=1e-7, ell=2.0).fit(X, y).decision_function(X)
    moved = scale * (X[p] @ Q + 3.0)
    g = SVC(tol=1e-7, ell=2.0 * scale).fit(moved, y[p]).decision_function(moved)
    assert np.allclose(f[p], g, atol=1e-4) or _flat_offset(X, y)


def _flat_offset(X, y):
    """Whether no multiplier is free, so that b is a midpoint which rounding may tip."""
    run = smo(rbf_kernel(X, X, 2.0), y, 1.0, tol=1e-9)
    return not ((run.alpha > 0) & (run.alpha < 1.0)).any()


@given(integer_samples())
def test_swapping_the_labels_turns_the_scores_round(sample):
    X, y = both_classes(sample)
    K = rbf_kernel(X, X, 3.0)
    here, there = smo(K, y, 1.0), smo(K, -y, 1.0)
    assert np.isclose(here.dual, there.dual, rtol=1e-5)
    assert np.isclose(here.primal, there.primal, rtol=1e-5)


# Hidden Markov models ---


def hidden_chains():
    """Return a strategy for (pi, A, log_B) with 2 or 3 states and 1 to 40 times."""
    return st.tuples(st.integers(2, 3), st.integers(1, 40), st.integers(0, 2**32 - 1)).map(
        lambda k: hidden_chain(*k)
    )


def hidden_chain(K, T, seed):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K), 5 * rng.standard_normal((T, K))


@given(hidden_chains())
def test_hmm_is_equivariant_under_renaming_the_states(chain):
    pi, A, log_B = chain
    order = np.roll(np.arange(len(pi)), 1)
    renamed = pi[order], A[np.ix_(order, order)], log_B[:, order]
    s, r = posteriors(*chain), posteriors(*renamed)
    np.testing.assert_allclose(r.log_likelihood, s.log_likelihood, rtol=1e-12)
    np.testing.assert_allclose(r.gamma, s.gamma[:, order], atol=1e-12)
    assert (order[viterbi(*renamed).states] == viterbi(*chain).states).all()


@given(hidden_chains(), st.sampled_from([-1e5, 3.0, 1e5]))
def test_hmm_emissions_in_another_unit_shift_the_log_likelihood_only(chain, shift):
    pi, A, log_B = chain
    s, r = posteriors(*chain), posteriors(pi, A, log_B + shift)
    expected = s.log_likelihood + shift * len(log_B)
    np.testing.assert_allclose(r.log_likelihood, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(r.gamma, s.gamma, atol=1e-9)


@given(hidden_chains())
def test_hmm_with_identical_rows_is_a_mixture(chain):
    pi, _, log_B = chain
    joint = pi * np.exp(log_B)
    s = posteriors(pi, np.tile(pi, (len(pi), 1)), log_B)
    np.testing.assert_allclose(s.log_likelihood, np.log(joint.sum(axis=1)).sum(), atol=1e-9)
    np.testing.assert_allclose(s.gamma, joint / joint.sum(axis=1, keepdims=True), atol=1e-12)


@given(hidden_chains())
def test_hmm_best_path_lies_below_the_sum_and_above_its_share(chain):
    K, T = len(chain[0]), len(chain[2])
    best, total = viterbi(*chain).log_probability, forward(*chain).log_likelihood
    assert total - T * np.log(K) - 1e-9 <= best <= total + 1e-9


# Mixtures and EM ---


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 3))
def test_bound_plus_gap_is_the_log_likelihood_and_an_m_step_never_lowers_it(seed, K, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, d))
    theta = MixtureParams(np.full(K, 1 / K), X[:K], np.stack([np.eye(d)] * K))
    R = rng.dirichlet(np.ones(K), size=20)
    value = log_likelihood(X, theta)
    np.testing.assert_allclose(lower_bound(X, R, theta) + kl_gap(X, R, theta), value, rtol=1e-10)
    assert kl_gap(X, R, theta) >= -1e-10
    after = m_step(X, responsibilities(X, theta))
    assert log_likelihood(X, after) >= value - 1e-9 * abs(value)


@given(st.integers(0, 2**32 - 1))
def test_mixture_is_equivariant_under_relabelling_and_translation(seed):
    rng = np.random.default_rng(seed)
    X, c, p = rng.standard_normal((15, 2)), rng.standard_normal(2), rng.permutation(3)
    theta = MixtureParams(rng.dirichlet(np.ones(3)), X[:3], np.stack([np.eye(2)] * 3))
    moved = MixtureParams(theta.weights[p], theta.means[p] + c, theta.covariances[p])
    np.testing.assert_allclose(
        responsibilities(X, theta)[:, p], responsibilities(X + c, moved), atol=1e-9
    )


@given(st.integers(0, 2**32 - 1))
def test_k_means_is_the_hard_limit_of_em(seed):
    X = np.random.default_rng(seed).standard_normal((12, 2))
    D = np.sort(((X[:, None] - X[:3]) ** 2).sum(axis=-1), axis=1)
    variance = (D[:, 1] - D[:, 0]).min() / 200  # responsibilities off by less than exp(-100)
    sharp = MixtureParams(np.full(3, 1 / 3), X[:3], np.stack([variance * np.eye(2)] * 3))
    after = m_step(X, responsibilities(X, sharp)).means
    np.testing.assert_allclose(after, k_means(X, X[:3], max_iter=1).centres, atol=1e-12)


# Concentration ---


@given(st.integers(1, 400), st.integers(1, 99), st.integers(1, 98))
def test_exact_tail_then_chernoff_then_hoeffding(n, percent, more):
    p, epsilon = percent / 100, more / 100
    exact = concentration.binomial_mean_tail(n, p, epsilon, two_sided=False)
    hoeffding = concentration.hoeffding_bound(n, epsilon, two_sided=False)
    if percent + more > 100:
        assert exact == 0
    else:
        q = (percent + more) / 100
        chernoff = np.exp(-n * concentration.bernoulli_rate(q, p))
        assert exact <= chernoff * (1 + 1e-9)
        assert chernoff <= hoeffding * (1 + 1e-9)


@given(st.integers(1, 200), st.integers(0, 100), st.integers(1, 99))
def test_two_sided_binomial_tail_does_not_know_heads_from_tails(n, percent, more):
    p, mirrored, epsilon = percent / 100, (100 - percent) / 100, more / 100
    tail = concentration.binomial_mean_tail(n, p, epsilon)
    np.testing.assert_allclose(
        concentration.binomial_mean_tail(n, mirrored, epsilon), tail, rtol=1e-9, atol=1e-300
    )


@given(st.integers(1, 60), st.integers(0, 60), st.sampled_from([0.2, 0.05, 1e-6]))
def test_clopper_pearson_ends_put_half_of_delta_into_each_tail(n, k, delta):
    k = min(k, n)
    low, high = concentration.clopper_pearson(k, n, delta)
    if k > 0:
        np.testing.assert_allclose(concentration.binomial_tail(k, n, low), delta / 2, rtol=1e-8)
    if k < n:
        at_most = 1 - concentration.binomial_tail(k + 1, n, high)
        np.testing.assert_allclose(at_most, delta / 2, rtol=1e-8, atol=1e-13)


# PAC learning ---


def labelling_families(points=5):
    """Return a strategy for families of 1 to 20 labellings of ``points`` points."""
    return st.integers(1, 20).flatmap(
        lambda m: arrays(int, (m, points), elements=st.integers(0, 1))
    )


@given(labelling_families(), st.permutations(range(5)), arrays(int, 5, elements=st.integers(0, 1)))
def test_vc_dimension_ignores_names_of_points_and_of_labels(family, order, flips):
    d = pac_learning.vc_dimension(family)
    assert pac_learning.vc_dimension(family[:, order]) == d
    assert pac_learning.vc_dimension(family ^ flips) == d
    assert pac_learning.vc_dimension(np.vstack([family, family])) == d


@given(labelling_families(), labelling_families())
def test_a_larger_family_has_no_smaller_dimension_and_obeys_sauer(family, more):
    d = pac_learning.vc_dimension(np.vstack([family, more]))
    assert pac_learning.vc_dimension(family) <= d <= np.log2(len(family) + len(more))
    for k in range(6):
        growth = pac_learning.growth_function(family, k)
        assert growth <= pac_learning.sauer_bound(k, pac_learning.vc_dimension(family))


@given(integer_samples(largest=3).filter(lambda s: len(s[1]) <= 6), st.sampled_from([0.25, 8.0]))
def test_linear_labellings_do_not_depend_on_scale_or_origin(sample, scale):
    X, _ = sample
    made = pac_learning.linear_dichotomies(X)
    assert np.array_equal(pac_learning.linear_dichotomies(scale * X + 1), made)
    assert set(map(tuple, 1 - made)) == set(map(tuple, made))


# Linear algebra ---


def integer_matrices(most=5, largest=9):
    """Return a strategy for matrices of integers with 1 to ``most`` rows and columns."""
    return st.tuples(st.integers(1, most), st.integers(1, most)).flatmap(
        lambda shape: arrays(float, shape, elements=st.integers(-largest, largest))
    )


@given(arrays(float, 4, elements=st.integers(-9, 9)), st.floats(1, 20), st.floats(1, 20))
def test_p_norms_fall_with_p_and_are_homogeneous(v, p, q):
    low, high = min(p, q), max(p, q)
    assert p_norm(v, high) <= p_norm(v, low) * (1 + 1e-12)
    assert p_norm(v, np.inf) <= p_norm(v, high) * (1 + 1e-12)
    np.testing.assert_allclose(p_norm(-8 * v, p), 8 * p_norm(v, p), rtol=1e-12)


@given(integer_matrices())
def test_singular_values_ignore_transposition_order_and_signs(A):
    s = svd_from_eigh(A).s
    for B in (A.T, A[::-1], -A, A[:, ::-1]):
        np.testing.assert_allclose(svd_from_eigh(B).s, s, atol=1e-6 * (s[0] or 1))
    np.testing.assert_allclose(np.sum(s**2), np.sum(A**2), rtol=1e-10)


@given(integer_matrices())
def test_gram_schmidt_finds_the_rank_and_keeps_the_span(A):
    if not A.any():
        return
    Q = gram_schmidt(A)
    assert Q.shape[1] == matrix_rank(A)
    np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-12)
    np.testing.assert_allclose(Q @ (Q.T @ A), A, atol=1e-9)


@given(integer_matrices(), st.integers(-5, 5))
def test_a_shift_of_the_diagonal_shifts_the_eigenvalues(A, t):
    C = A @ A.T
    shifted = jacobi_eigen(C + t * np.eye(len(C))).values
    np.testing.assert_allclose(shifted, jacobi_eigen(C).values + t, atol=1e-10 * (1 + C.max()))


@given(integer_matrices())
def test_gram_matrices_are_semidefinite_and_taking_something_off_spoils_them(A):
    K = gram_matrix(A)
    assert is_positive_semidefinite(K)
    lowest = jacobi_eigen(K).values[-1]
    assert not is_positive_semidefinite(K - (lowest + 1) * np.eye(len(K)))


@given(integer_matrices(), st.floats(0.1, 10))
def test_push_through_from_both_sides_and_by_updates(A, lam):
    from_features = push_through(A, lam, side="features")
    np.testing.assert_allclose(push_through(A, lam, side="samples"), from_features, atol=1e-9)
    inverse = np.eye(A.shape[1]) / lam
    for x in A:  # the chapter on least squares adds samples one at a time
        inverse = sherman_morrison(inverse, x)
    np.testing.assert_allclose(inverse @ A.T, from_features, atol=1e-8)


@given(integer_matrices(), st.data())
def test_solutions_solve_the_normal_equations_and_do_not_depend_on_chunks(A, data):
    y = data.draw(arrays(float, len(A), elements=st.integers(-9, 9)))
    cut = data.draw(st.integers(0, len(A)))
    w = svd_solve(A, y)
    np.testing.assert_allclose(A.T @ (A @ w - y), 0, atol=1e-8)
    pieces = [(A[:cut], y[:cut]), (A[cut:], y[cut:])]
    sums = [outer_product_sum(X, t) for X, t in pieces if len(X)]
    error = sum(sums).squared_error(w)
    np.testing.assert_allclose(error, np.sum((y - A @ w) ** 2), atol=1e-8)


@given(integer_matrices(), st.sampled_from([2.0**-30, 0.5, 2.0**30]))
def test_low_rank_errors_scale_and_fall_with_k(A, scale):
    errors = [low_rank_approximation(A, k).error for k in range(1, min(A.shape) + 1)]
    assert (np.diff([np.linalg.norm(A), *errors]) <= 1e-12 * (1 + np.abs(A).max())).all()
    scaled = low_rank_approximation(scale * A, 1).error
    np.testing.assert_allclose(scaled, scale * errors[0], atol=1e-12 * scale)
    if 1 < condition_number(A) < 1e6:
        assert condition_number(scale * A) == condition_number(A)


# Estimation ---


def real_samples(largest=12):
    """Return a strategy for samples of 2 to ``largest`` multiples of 1/8, not all equal."""
    eighths = st.integers(-800, 800).map(lambda k: k / 8)
    return st.lists(eighths, min_size=2, max_size=largest).map(np.array).filter(np.ptp)


@given(real_samples(), st.sampled_from([-3.0, 0.5, 1e8]), st.integers(-50, 50))
def test_gaussian_mle_moves_with_the_data(x, scale, shift):
    mean, variance = estimation.gaussian_mle(x)
    moved = estimation.gaussian_mle(scale * x + shift)
    np.testing.assert_allclose(moved.mean, scale * mean + shift, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moved.variance, scale**2 * variance, rtol=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_multivariate_mle_is_affine_equivariant(seed, d):
    rng = np.random.default_rng(seed)
    X, A, b = rng.standard_normal((d + 8, d)), rng.standard_normal((d, d)), rng.standard_normal(d)
    mean, S = estimation.multivariate_gaussian_mle(X)
    moved = estimation.multivariate_gaussian_mle(X @ A.T + b)
    np.testing.assert_allclose(moved.mean, A @ mean + b, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(moved.covariance, A @ S @ A.T, rtol=1e-8, atol=1e-10)


@given(real_samples(), st.integers(0, 12), st.permutations(range(12)))
def test_bayesian_updates_ignore_order_and_batches(x, cut, order):
    prior = estimation.GaussianMean(1.0, 4.0, 9.0)
    whole, shuffled = prior.update(x), x[[i for i in order if i < len(x)]]
    parts = prior.update(shuffled[:cut]).update(shuffled[cut:])
    np.testing.assert_allclose(parts.mean, whole.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(parts.variance, whole.variance, rtol=1e-12)
    lowest, highest = min(1.0, x.mean()), max(1.0, x.mean())
    assert lowest - 1e-9 <= whole.mean <= highest + 1e-9


@given(arrays(int, 5, elements=st.integers(0, 9)), arrays(int, 5, elements=st.integers(1, 9)))
def test_pseudocounts_are_a_prior_and_a_sample_seen_before(counts, pseudo):
    smoothed = estimation.categorical_map(counts, pseudo)
    np.testing.assert_allclose(smoothed.sum(), 1)
    np.testing.assert_allclose(smoothed, estimation.categorical_mle(counts + pseudo))
    posterior = estimation.dirichlet_posterior(pseudo + 1.0, counts)
    np.testing.assert_allclose(smoothed, posterior.mode)
    again = estimation.dirichlet_posterior(pseudo + 1.0, np.zeros(5)).update(counts)
    assert np.array_equal(again.alpha, posterior.alpha)


@given(real_samples(largest=6))
def test_corrected_variance_is_half_the_mean_squared_difference(x):
    pairs = [(a - b) ** 2 for i, a in enumerate(x) for b in x[:i]]
    np.testing.assert_allclose(estimation.sample_variance(x), np.mean(pairs) / 2, rtol=1e-9)


# Decision theory ---


def joint_tables():
    """Return a strategy for joint tables of 2 to 8 inputs and 2 to 4 classes."""
    return (
        st.tuples(st.integers(2, 8), st.integers(2, 4))
        .flatmap(lambda shape: arrays(float, shape, elements=st.integers(0, 9)))
        .filter(lambda counts: counts.sum() > 0)
        .map(lambda counts: counts / counts.sum())
    )


@given(joint_tables(), st.integers(0, 2**32 - 1))
def test_no_rule_errs_less_than_the_bayes_classifier(joint, seed):
    rule = np.random.default_rng(seed).integers(0, joint.shape[1], len(joint))
    loss, best = decision_theory.zero_one, decision_theory.bayes_classifier(joint)
    error = decision_theory.bayes_error(joint)
    assert error <= decision_theory.expected_risk(loss, rule, joint) + 1e-12
    assert abs(error - decision_theory.expected_risk(loss, best, joint)) < 1e-12


@given(joint_tables(), st.integers(0, 2**32 - 1))
def test_merging_inputs_never_lowers_the_bayes_error(joint, seed):
    group = np.random.default_rng(seed).integers(0, 3, len(joint))
    merged = np.array([joint[group == g].sum(axis=0) for g in range(3)])
    assert decision_theory.bayes_error(merged) >= decision_theory.bayes_error(joint) - 1e-12


@given(joint_tables().filter(lambda t: t.sum(axis=1).min() > 0), st.integers(0, 2**32 - 1))
def test_cheapest_decision_ignores_what_every_decision_pays(joint, seed):
    rng = np.random.default_rng(seed)
    p = joint / joint.sum(axis=1, keepdims=True)
    cost = rng.uniform(0, 9, (3, joint.shape[1]))
    shifted = 4 * cost + rng.uniform(-5, 5, joint.shape[1])
    paid = decision_theory.expected_costs(p, cost)
    chosen = decision_theory.cost_sensitive_rule(p, shifted)
    assert np.all(paid[np.arange(len(p)), chosen] <= paid.min(axis=1) + 1e-9)


@given(joint_tables(), st.lists(st.floats(0, 1), min_size=2, max_size=9).map(sorted))
def test_rejecting_more_covers_less_and_errs_less(joint, theta):
    tradeoff = decision_theory.reject_tradeoff(joint, theta)
    assert np.all(np.diff(tradeoff.coverage) <= 1e-12)
    assert np.all(np.diff(tradeoff.error) <= 1e-12)


@given(
    arrays(float, (12, 3), elements=st.integers(-99, 99)),
    st.sampled_from([1e-8, 0.5, 1e8]),
    st.integers(-9, 9),
)
def test_standardising_forgets_origin_and_unit(X, scale, shift):
    before = decision_theory.Standardizer().fit_transform(X)
    after = decision_theory.Standardizer().fit_transform(scale * (X + shift))
    np.testing.assert_allclose(after, before, atol=1e-9)


@given(arrays(int, (2, 30), elements=st.integers(0, 1)))
def test_type_one_errors_of_one_class_are_type_two_errors_of_the_other(labels):
    y, predicted = labels
    for positive in (0, 1):
        first = decision_theory.type1_rate(y, predicted, 1 - positive, undefined=-1)
        second = decision_theory.type2_rate(y, predicted, positive, undefined=-1)
        assert first == second


# Probability ---


def exact_tables(shape):
    """Return a strategy for joint tables of positive fractions that sum to one."""
    counts = arrays(int, shape, elements=st.integers(1, 30))
    return counts.map(
        lambda c: np.vectorize(lambda v: Fraction(int(v), int(c.sum())), otypes=[object])(c)
    )


#: Numbers of a size whose squares are numbers too.
NUMBERS = st.floats(-3, 3).map(lambda v: round(v, 9))


def gaussians(d):
    """Return a strategy for a mean and a well-conditioned covariance in d dimensions."""
    factors = st.tuples(arrays(float, d, elements=NUMBERS), arrays(float, (d, d), elements=NUMBERS))
    return factors.map(lambda pair: (pair[0], pair[1] @ pair[1].T + np.eye(d)))


@given(exact_tables((2, 3, 2)), st.permutations(range(3)))
def test_marginals_of_marginals_and_conditionals_of_conditionals_agree(joint, order):
    a, b, _ = order
    once = probability.marginal(joint, (a, b))
    assert (probability.marginal(once, 0) == probability.marginal(joint, a)).all()
    factors = probability.chain_rule(joint, order)
    assert (factors[0] * factors[1] * factors[2] == joint).all()


@given(exact_tables((3, 2)), exact_tables((3, 2)))
def test_two_observations_together_or_one_after_the_other(first, second):
    prior = probability.marginal(first, 0)
    one = probability.conditional(first, 0)[:, 0]
    two = probability.conditional(second, 0)[:, 1]
    step = probability.bayes(probability.bayes(prior, one).posterior, two)
    assert (probability.bayes(prior, one * two).posterior == step.posterior).all()


@given(gaussians(3), arrays(float, 3, elements=NUMBERS))
def test_gaussians_may_be_conditioned_one_coordinate_at_a_time(params, x):
    both = probability.gaussian_conditional(*params, (0, 2), x[[0, 2]])
    first = probability.gaussian_conditional(*params, 0, x[0])  # coordinates 1 and 2 are left
    second = probability.gaussian_conditional(*first, 1, x[2])
    np.testing.assert_allclose(second.mean, both.mean, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(second.cov, both.cov, rtol=1e-7, atol=1e-9)


@given(gaussians(2), gaussians(2), gaussians(2))
def test_products_of_gaussians_do_not_depend_on_order(one, two, three):
    def chained(a, b, c):
        m, S, k1 = probability.gaussian_product(*a, *b)
        m, S, k2 = probability.gaussian_product(m, S, *c)
        return np.r_[m, S.ravel(), k1 + k2]

    np.testing.assert_allclose(
        chained(one, two, three), chained(three, one, two), rtol=1e-6, atol=1e-8
    )


@given(gaussians(3), st.sampled_from([1e-6, 1e6]), arrays(float, 3, elements=NUMBERS))
def test_gaussian_density_changes_by_the_volume_when_units_change(params, scale, x):
    mean, cov = params
    units = np.array([scale, 1.0, 1.0])
    scaled = probability.gaussian_log_density(x * units, mean * units, cov * np.outer(units, units))
    plain = probability.gaussian_log_density(x, mean, cov)
    np.testing.assert_allclose(scaled, plain - np.log(scale), rtol=1e-7, atol=1e-7)


@given(exact_tables((2, 3)))
def test_entropy_of_a_pair_and_the_divergence_from_independence(joint):
    joint = joint.astype(float)
    p, q = probability.marginal(joint, 0), probability.marginal(joint, 1)
    H = probability.entropy(joint.ravel())
    information = probability.kl_divergence(joint.ravel(), np.outer(p, q).ravel())
    total = probability.entropy(p) + probability.entropy(q)
    np.testing.assert_allclose(total - H, information, atol=1e-12)
    assert information >= 0


# Optimisation ---


def vectors(d, largest=9):
    """Return a strategy for vectors of integers, as floats."""
    return arrays(float, d, elements=st.integers(-largest, largest).map(float))


@given(vectors(4), vectors(4), st.sampled_from([1e-6, 1.0, 1e6]))
def test_projection_onto_a_box_by_quadratic_programming_is_clipping(point, corner, size):
    low, high = -np.abs(corner) * size, np.abs(corner[::-1]) * size
    G, c = np.vstack([np.eye(4), -np.eye(4)]), np.r_[high, -low]
    run = optimization.solve_qp(np.eye(4), -point * size, G, c)
    np.testing.assert_allclose(run.x / size, np.clip(point * size, low, high) / size, atol=1e-9)


@given(vectors(5))
def test_projection_onto_the_simplex_by_quadratic_programming(point):
    run = optimization.solve_qp(np.eye(5), -point, -np.eye(5), np.zeros(5), np.ones((1, 5)), [1.0])
    ordered = np.sort(point)[::-1]
    levels = (np.cumsum(ordered) - 1) / np.arange(1, 6)
    level = levels[np.flatnonzero(ordered > levels)[-1]]
    np.testing.assert_allclose(run.x, np.maximum(point - level, 0), atol=1e-9)
    np.testing.assert_allclose(run.nu, level, atol=1e-9)  # the level is the multiplier of the sum


@given(vectors(3), arrays(float, (3, 3), elements=st.integers(-3, 3).map(float)), vectors(3, 3))
def test_newton_steps_do_not_depend_on_the_coordinates(z0, T, c):
    T = T + 10 * np.eye(3)  # invertible

    def f(z):
        return np.sum(np.cosh(z / 9)) + c @ z / 90

    def gradient(z):
        return np.sinh(z / 9) / 9 + c / 90

    def hessian(z):
        return np.diag(np.cosh(z / 9)) / 81

    plain = optimization.newton(f, gradient, hessian, z0, max_iter=3, tol=0)
    turned = optimization.newton(
        lambda v: f(T @ v),
        lambda v: T.T @ gradient(T @ v),
        lambda v: T.T @ hessian(T @ v) @ T,
        np.linalg.solve(T, z0),
        max_iter=3,
        tol=0,
    )
    np.testing.assert_allclose(turned.path[:3] @ T.T, plain.path[:3], rtol=1e-8, atol=1e-8)


@given(vectors(3), vectors(3), st.floats(0, 1))
def test_the_dual_function_is_concave_and_below_the_primal(first, second, t):
    program = optimization.quadratic_program(
        np.diag([1.0, 2.0, 3.0]), [1, -1, 2], [[1, 1, 0], [0, 1, 1], [1, 0, -1]], [0, -1, 2]
    )
    best = optimization.solve_qp(*program[:4]).value
    a, b = np.abs(first), np.abs(second)
    g = [optimization.dual_function(program, lam).value for lam in (a, b, t * a + (1 - t) * b)]
    assert max(g) <= best + 1e-9
    assert g[2] >= t * g[0] + (1 - t) * g[1] - 1e-9 * (1 + max(map(abs, g)))


# Model selection ---


@given(
    arrays(float, (9, 3), elements=st.integers(-5, 5).map(float)),
    vectors(9, 9),
    st.floats(0.1, 100),
    st.booleans(),
)
def test_leave_one_out_by_one_fit_equals_refits(X, y, lam, intercept):
    A = add_intercept(X) if intercept else X
    penalty = lam * np.eye(A.shape[1])
    penalty[0, 0] = 0 if intercept else lam
    refits = []
    for i in range(9):
        B, t = np.delete(A, i, 0), np.delete(y, i)
        refits.append(y[i] - A[i] @ np.linalg.solve(B.T @ B + penalty, B.T @ t))
    ours = model_selection.loo_residuals(X, y, lam, intercept=intercept)
    np.testing.assert_allclose(ours, refits, rtol=1e-8, atol=1e-8 * (1 + np.abs(y).max()))


@given(
    arrays(float, (6, 2), elements=st.integers(-5, 5).map(float)),
    vectors(6, 6),
    st.floats(0.1, 10),
    st.integers(0, 10**6),
)
def test_gcv_does_not_change_when_the_samples_are_rotated(X, y, lam, seed):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(6, 6)))[0]
    plain = model_selection.gcv_ridge(X, y, lam)
    turned = model_selection.gcv_ridge(Q @ X, Q @ y, lam)
    np.testing.assert_allclose(turned, plain, rtol=1e-8, atol=1e-10)


@given(st.integers(2, 40), st.data())
def test_folds_partition_the_rows(n, data):
    k = data.draw(st.integers(2, n))
    labels = data.draw(arrays(int, n, elements=st.integers(0, 2)))
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    for options in ({}, {"rng": rng}, {"rng": rng, "labels": labels}):
        folds = model_selection.k_fold(n, k, **options)
        assert sorted(np.concatenate([f.validation for f in folds])) == list(range(n))
        sizes = [len(f.validation) for f in folds]
        assert max(sizes) - min(sizes) <= 1


# Least squares -----------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.floats(-3, 3), st.floats(-100, 100))
def test_least_squares_moves_with_its_targets_and_inputs(seed, scale, shift):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((15, 3)), rng.standard_normal(15)
    T = np.linalg.qr(rng.standard_normal((3, 3)))[0] @ np.diag([1.0, 2.0, 4.0])
    plain = least_squares.LinearRegression().fit(X, y)
    moved = least_squares.LinearRegression().fit(X, scale * y + X @ [1.0, 2.0, 3.0] + shift)
    np.testing.assert_allclose(moved.coef_, scale * plain.coef_ + [1, 2, 3], atol=1e-9)
    assert np.isclose(moved.intercept_, scale * plain.intercept_ + shift, atol=1e-9)
    turned = least_squares.LinearRegression().fit(X @ T + shift, y)
    np.testing.assert_allclose(turned.predict(X @ T + shift), plain.predict(X), atol=1e-8)


@given(st.integers(0, 10**6), st.sampled_from([1e-8, 1e8]))
def test_least_squares_in_other_units(seed, unit):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((12, 4)), rng.standard_normal(12)
    X[:, 3] = X[:, 0] if seed % 2 else X[:, 3]
    plain = least_squares.least_squares(X, y, intercept=True)
    other = least_squares.least_squares(unit * X, y / unit, intercept=True)
    assert other.rank == plain.rank
    np.testing.assert_allclose(other.w * unit**2, plain.w, rtol=1e-8, atol=1e-9)
    assert np.isclose(other.b * unit, plain.b, rtol=1e-8, atol=1e-9)


# Ridge and lasso ---


@given(
    arrays(float, (7, 3), elements=st.integers(-5, 5).map(float)),
    arrays(float, 7, elements=st.integers(-9, 9).map(float)),
    st.sampled_from([0.01, 1.0, 30.0]),
)
def test_ridge_follows_rotations_and_the_lasso_does_not_need_to(X, y, lam):
    Q = np.linalg.qr(np.array([[2.0, 1, 0], [0, 1, 3], [1, 0, 1]]))[0]
    w = ridge(X, y, lam)
    np.testing.assert_allclose(ridge(X @ Q, y, lam), Q.T @ w, atol=1e-8)
    np.testing.assert_allclose(push_through(X, lam) @ y, w, atol=1e-8)
    np.testing.assert_allclose(ridge_svd(X, y, lam), w, atol=1e-8)
    assert np.linalg.norm(ridge(X, y, 2 * lam)) <= np.linalg.norm(w) + 1e-12
    hat = X @ np.linalg.solve(X.T @ X + lam * np.eye(3), X.T)
    np.testing.assert_allclose(shrinkage_factors(X, lam).sum(), np.trace(hat), atol=1e-9)


@given(
    arrays(float, (6, 4), elements=st.integers(-3, 3).map(float)),
    arrays(float, 6, elements=st.integers(-9, 9).map(float)),
    st.permutations(range(4)),
    st.sampled_from([0.2, 1.0, 7.0]),
)
def test_lasso_conditions_signs_and_orders(X, y, order, lam):
    w = path_at(lars_path(X, y), lam)
    assert lasso_kkt(w, X, y, lam).max() < 1e-8
    flipped = X * np.array([1, -1, 1, -1])
    other = path_at(lars_path(flipped[:, order], y), lam)
    back = np.empty(4)
    back[list(order)] = other
    np.testing.assert_allclose(flipped @ back, X @ w, atol=1e-7)  # the fit is unique, w need not be
    assert abs(np.abs(back).sum() - np.abs(w).sum()) < 1e-7


@given(
    arrays(float, (6, 2), elements=st.integers(-3, 3).map(float)),
    arrays(float, 6, elements=st.integers(-9, 9).map(float)),
    st.integers(-1000, 1000),
)
def test_a_free_offset_follows_every_shift(X, y, shift):
    for model in (Ridge(0.5), Lasso(0.5)):
        before = model.fit(X, y).predict(X)
        after = model.fit(X + shift, y + shift).predict(X + shift)
        np.testing.assert_allclose(after - shift, before, atol=1e-7)
    data = centre(X, y)
    np.testing.assert_allclose(data.X.sum(axis=0), 0, atol=1e-12)


# Bayesian regression ---


@st.composite
def regression_samples(draw):
    n, d = draw(st.integers(2, 8)), draw(st.integers(1, 3))
    X = draw(arrays(float, (n, d), elements=st.integers(-5, 5)))
    return X, draw(arrays(float, n, elements=st.integers(-9, 9))), draw(st.integers(1, n - 1))


@given(regression_samples(), st.floats(0.1, 10), st.floats(0.1, 10))
def test_bayesian_updates_in_two_parts_equal_one(data, alpha, beta):
    X, y, cut = data
    whole = bayesian_regression.isotropic_posterior(X, y, alpha, beta)
    first = bayesian_regression.isotropic_posterior(X[cut:], y[cut:], alpha, beta)
    both = first.update(X[:cut], y[:cut])
    np.testing.assert_allclose(both.mean, whole.mean, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(both.covariance, whole.covariance, rtol=1e-7, atol=1e-9)


@given(regression_samples(), st.floats(0.1, 10), st.floats(0.1, 10))
def test_posterior_mean_is_ridge_and_data_never_widen_an_error_bar(data, alpha, beta):
    X, y, cut = data
    whole = bayesian_regression.isotropic_posterior(X, y, alpha, beta)
    np.testing.assert_allclose(whole.mean, ridge(X, y, alpha / beta), rtol=1e-7, atol=1e-8)
    part = bayesian_regression.isotropic_posterior(X[:cut], y[:cut], alpha, beta)
    assert (whole.predict(X).variance <= part.predict(X).variance + 1e-9).all()


@given(regression_samples(), st.floats(0.1, 10), st.floats(0.1, 10))
def test_evidence_is_a_product_of_one_step_predictions(data, alpha, beta):
    X, y, _ = data
    d, total = X.shape[1], 0.0
    belief = bayesian_regression.WeightBelief(np.zeros(d), np.eye(d) / alpha, beta)
    for row, target in zip(X, y):
        law = belief.predict(row[None])
        total -= 0.5 * (np.log(2 * np.pi * law.variance[0]))
        total -= (target - law.mean[0]) ** 2 / (2 * law.variance[0])
        belief = belief.update(row[None], [target])
    exact = bayesian_regression.log_evidence(X, y, alpha, beta)
    np.testing.assert_allclose(total, exact, rtol=1e-8, atol=1e-8)


# Bias and variance ---


@given(
    arrays(float, (2, 4), elements=st.integers(-5, 5).map(float)),
    arrays(float, 4, elements=st.integers(-9, 9).map(float)),
    arrays(float, 2, elements=st.integers(-9, 9).map(float)),
    st.integers(1, 6),
)
def test_parts_of_any_linear_prediction_equal_an_enumeration(S, f, f_new, size):
    def learner(X, y, X_new):
        return S @ y

    listed = exact_decompose(learner, range(4), f, [-size, size], [0.5, 0.5], [0, 1], f_new)
    formula = decompose_smoother(S, f, f_new, size**2)
    for a, b in zip(listed[:5], formula[:5]):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-9)


@given(
    arrays(float, (6, 3), elements=st.integers(-9, 9).map(float)),
    arrays(float, 3, elements=st.integers(-9, 9).map(float)),
    st.sampled_from([1e-8, 1.0, 1e8]),
)
def test_the_error_of_any_estimates_is_split_in_any_unit(T, w, scale):
    parts = parameter_mse(scale * T, scale * w)
    whole = np.mean(np.sum((T - w) ** 2, axis=1)) * scale**2
    close = {"rtol": 1e-12, "atol": 1e-12 * scale**2}
    np.testing.assert_allclose(parts.squared_bias + parts.variance, whole, **close)
    np.testing.assert_allclose(parts.mse, whole, **close)
    single = parameter_mse([w, w], w)
    assert single.variance == single.mse == 0
