"""Behaviour of mllib.mixtures_and_em: EM, its bound, the M-step, starts, and the estimator."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from mllib.core.errors import ConvergenceWarning
from mllib.mixtures_and_em import (
    GaussianMixture,
    InverseWishart,
    MixtureParams,
    _labelled_start,
    centred_statistics,
    complete_data_mle,
    constrained_covariances,
    e_step,
    em,
    em_over_chunks,
    expected_complete_log_likelihood,
    fit_mixture,
    joint_log_density,
    kl_gap,
    log_likelihood,
    log_prior,
    lower_bound,
    m_step,
    m_step_from_statistics,
    mixture_density,
    n_parameters,
    random_start,
    responsibilities,
    sample_mixture,
    start_from_labels,
    stepwise_em,
    variance_floor,
)
from mllib.probability import entropy

FAMILIES = ("full", "tied", "diag", "spherical")


def random_theta(rng, K, d):
    A = rng.standard_normal((K, d, d))
    covariances = A @ A.transpose(0, 2, 1) + 0.3 * np.eye(d)
    return MixtureParams(rng.dirichlet(np.ones(K)), 2 * rng.standard_normal((K, d)), covariances)


@pytest.fixture(name="rng")
def _rng():
    return np.random.default_rng(7)


@pytest.fixture(name="theta")
def _theta(rng):
    return random_theta(rng, 3, 2)


@pytest.fixture(name="X")
def _X(theta, rng):
    return sample_mixture(theta, 200, rng)[0]


# The driver -------------------------------------------------------------------------------------


def test_em_reports_the_trace_the_count_and_convergence():
    fit = em(lambda t: (t, -((t - 3) ** 2)), lambda t: (t + 3) / 2, 0.0, tol=1e-8)
    assert fit.converged
    assert len(fit.trace) == fit.n_iter + 1
    assert fit.trace[-1] == -((fit.params - 3) ** 2)
    assert np.all(np.diff(fit.trace) >= 0)


def test_em_warns_with_the_gap_and_the_tolerance():
    with pytest.warns(UserWarning, match=r"max_iter=2.*gained 1.69.*tol is 1e-08") as record:
        fit = em(lambda t: (t, -((t - 3) ** 2)), lambda t: (t + 3) / 2, 0.0, max_iter=2, tol=1e-8)
    assert record[0].category.__name__ == ConvergenceWarning.__name__
    assert not fit.converged
    assert fit.n_iter == 2


def test_em_stops_after_the_first_gain_within_the_tolerance():
    steps = lambda t: (t, -t), lambda s: s / 2, 1.0
    fit = em(*steps, tol=0.01, n_samples=10)
    assert fit.n_iter == 4
    assert fit.converged
    np.testing.assert_array_equal(fit.trace, -(0.5 ** np.arange(5)))
    still = em(lambda t: (t, 0.0), lambda s: s, 1.0, tol=0)
    assert still.n_iter == 1
    assert still.converged


def test_em_raises_if_the_objective_falls():
    with pytest.raises(RuntimeError, match="fell from"):
        em(lambda t: (t, -((t - 3) ** 2)), lambda t: t - 1, 0.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_em_raises_if_the_objective_is_not_finite(bad):
    with pytest.raises(RuntimeError, match="no finite likelihood"):
        em(lambda t: (t, bad), lambda t: t, 0.0)
    with pytest.raises(RuntimeError, match="after it was"):
        em(lambda t: (t, bad if t else 0.0), lambda t: 1.0, 0.0)


def test_em_tolerance_is_per_observation():
    def n_iter(n):
        fit = em(lambda t: (t, -n * (t - 3) ** 2), lambda t: (t + 3) / 2, 0.0, n_samples=n)
        return fit.n_iter

    assert n_iter(1) == n_iter(10**6)


def test_a_wrong_m_step_is_caught(X, theta):
    def wrong(R):
        params = m_step(X, R)
        return params._replace(covariances=params.covariances * 1.3)

    with pytest.raises(RuntimeError, match="fell from"):
        em(lambda t: e_step(X, t), wrong, theta)


# The mixture and its posterior ------------------------------------------------------------------


def test_density_equals_scipys(X, theta):
    truth = sum(p * stats.multivariate_normal(m, S).pdf(X) for p, m, S in zip(*theta))
    np.testing.assert_allclose(mixture_density(X, theta), truth, rtol=1e-10)
    np.testing.assert_allclose(log_likelihood(X, theta), np.log(truth).sum(), rtol=1e-12)


def test_responsibilities_are_bayes_rule_and_survive_underflow(X, theta):
    joint = np.column_stack([p * stats.multivariate_normal(m, S).pdf(X) for p, m, S in zip(*theta)])
    R = responsibilities(X, theta)
    np.testing.assert_allclose(R, joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    far = responsibilities(1e6 + X, theta)
    np.testing.assert_allclose(far.sum(axis=1), 1)


def test_bound_plus_gap_is_the_log_likelihood(X, theta, rng):
    for _ in range(20):
        R = rng.dirichlet(np.ones(3), size=len(X))
        A, gap = lower_bound(X, R, theta), kl_gap(X, R, theta)
        assert gap > 0
        np.testing.assert_allclose(A + gap, log_likelihood(X, theta), rtol=1e-12)
    R = responsibilities(X, theta)
    assert abs(kl_gap(X, R, theta)) < 1e-10


def test_hard_assignments_have_no_entropy_and_give_a_finite_bound(X, theta, rng):
    R = np.eye(3)[rng.integers(3, size=len(X))]
    assert (entropy(R) == 0).all()
    A = lower_bound(X, R, theta)
    assert expected_complete_log_likelihood(X, R, theta) == pytest.approx(A)
    assert A + kl_gap(X, R, theta) == pytest.approx(log_likelihood(X, theta), rel=1e-12)


def test_a_component_of_weight_zero_is_allowed(X, theta):
    pi = np.array([0.4, 0.6, 0.0])
    R, value = e_step(X, theta._replace(weights=pi))
    assert (R[:, 2] == 0).all()
    assert np.isfinite(value)
    assert np.isfinite(lower_bound(X, R, theta._replace(weights=pi)))
    after = m_step(X, R, previous=theta)
    np.testing.assert_array_equal(after.means[2], theta.means[2])
    np.testing.assert_array_equal(after.covariances[2], theta.covariances[2])
    with pytest.raises(ValueError, match="Component 2 has no points"):
        m_step(X, R)


# The M-step ------------------------------------------------------------------------------------


def project(A, family):
    if family == "tied":
        return np.broadcast_to(A.mean(axis=0), A.shape)
    if family == "diag":
        return A * np.eye(A.shape[-1])
    if family == "spherical":
        return np.trace(A, axis1=1, axis2=2)[:, None, None] / A.shape[-1] * np.eye(A.shape[-1])
    return A


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("with_prior", [False, True])
def test_no_neighbour_of_the_m_step_has_a_larger_objective(X, theta, rng, family, with_prior):
    prior = InverseWishart(5.0, np.array([[2.0, 0.5], [0.5, 1.0]])) if with_prior else None
    R = rng.dirichlet(np.ones(3), size=len(X))
    best = m_step(X, R, covariance_type=family, prior=prior)

    def objective(params):
        counted = params.covariances[:1] if family == "tied" else params.covariances
        return expected_complete_log_likelihood(X, R, params) + log_prior(
            params._replace(covariances=counted), prior
        )

    top = objective(best)
    for _ in range(100):
        E = 0.03 * rng.standard_normal((3, 2, 2))
        other = MixtureParams(
            best.weights * np.exp(0.05 * rng.standard_normal(3)),
            best.means + 0.03 * rng.standard_normal((3, 2)),
            best.covariances + project(E + E.transpose(0, 2, 1), family),
        )
        other = other._replace(weights=other.weights / other.weights.sum())
        assert objective(other) < top


def test_floor_is_the_exact_constrained_maximiser(rng):
    S = np.array([[[2.0, 1.9], [1.9, 2.0]]]) * 50
    N, floor = np.array([50.0]), np.array([0.3, 0.5])
    Sigma = constrained_covariances(S, N, floor=floor)[0]
    assert np.linalg.eigvalsh(Sigma - np.diag(floor))[0] > -1e-12

    def loss(v):
        L = np.array([[v[0], 0], [v[1], v[2]]])
        M = np.diag(floor) + L @ L.T
        return 0.5 * (50 * np.linalg.slogdet(M)[1] + np.trace(np.linalg.solve(M, S[0])))

    found = min(
        (minimize(loss, rng.standard_normal(3), tol=1e-12) for _ in range(5)), key=lambda r: r.fun
    )
    L = np.array([[found.x[0], 0], [found.x[1], found.x[2]]])
    np.testing.assert_allclose(np.diag(floor) + L @ L.T, Sigma, atol=1e-4)
    assert (
        loss(found.x)
        >= 0.5 * (50 * np.linalg.slogdet(Sigma)[1] + np.trace(np.linalg.solve(Sigma, S[0]))) - 1e-9
    )


def test_log_prior_is_scipys_inverse_wishart(theta):
    prior = InverseWishart(6.5, np.array([[2.0, 0.5], [0.5, 1.0]]))
    truth = sum(stats.invwishart(6.5, prior.scale).logpdf(S) for S in theta.covariances)
    assert log_prior(theta, prior) == pytest.approx(truth)
    assert log_prior(theta, None) == 0


def test_complete_data_mle_is_the_mle_of_each_class(X, rng):
    z = rng.integers(3, size=len(X))
    theta = complete_data_mle(X, z)
    for k in range(3):
        np.testing.assert_allclose(theta.weights[k], np.mean(z == k))
        np.testing.assert_allclose(theta.means[k], X[z == k].mean(axis=0))
        np.testing.assert_allclose(theta.covariances[k], np.cov(X[z == k].T, bias=True))
    with pytest.raises(ValueError, match="Component 1 has no points"):
        complete_data_mle(X, 2 * (z > 0))
    with pytest.raises(ValueError, match="z must be 200 integers"):
        complete_data_mle(X, z + 0.5)
    with pytest.raises(ValueError, match="Component 1: its points lie in one hyperplane"):
        complete_data_mle(X, (np.arange(200) == 7).astype(int))


def test_a_start_below_the_floor_is_raised_to_it():
    X = np.concatenate([np.linspace(-1e-3, 1e-3, 20), 9 + np.linspace(-1e-3, 1e-3, 20)])[:, None]
    start = MixtureParams([0.5, 0.5], [[0.0], [9.0]], np.full((2, 1, 1), 1e-3))
    fit = fit_mixture(X, start, floor=np.ones(1))
    assert fit.params.covariances.min() == 1
    assert np.all(np.diff(fit.trace) >= 0)
    again = em_over_chunks([X[:20], X[20:]], start, floor=np.ones(1))
    np.testing.assert_allclose(again.trace, fit.trace, rtol=1e-12)


@pytest.mark.parametrize("family", ["full", "tied", "diag", "spherical"])
def test_a_start_that_the_family_or_the_floor_forbids_is_replaced_by_the_nearest(family):
    X = np.random.default_rng(0).standard_normal((60, 2)) * [0.1, 2.0]
    narrow = np.stack([np.diag([1e-2, 4.0]), [[1e-30, 0.0], [0.0, 1e-30]]])
    start = MixtureParams(np.array([0.5, 0.5]), np.stack([X[0], X[1]]), narrow)
    floor = variance_floor(X)
    fit = fit_mixture(X, start, covariance_type=family, floor=floor)
    model = GaussianMixture(2, covariance_type=family, init=start).fit(X)
    chunks = em_over_chunks([X[:20], X[20:]], start, covariance_type=family, floor=floor)
    np.testing.assert_allclose(model.trace_, fit.trace, rtol=1e-9)
    np.testing.assert_allclose(chunks.trace, fit.trace, rtol=1e-9)
    fit_mixture(X, start, covariance_type=family, floor=np.array([0.01, 1.0]))


def test_arguments_are_not_changed(X, theta):
    before = [a.copy() for a in (X, *theta)]
    fit_mixture(X, theta, max_iter=3, tol=1.0)
    GaussianMixture(3, init=theta, max_iter=3, tol=0.9).fit(X)
    for a, b in zip(before, (X, *theta)):
        np.testing.assert_array_equal(a, b)


# The fit: whole, in chunks, online --------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("with_labels", [False, True])
def test_a_weight_of_two_is_the_row_twice_from_a_given_start(
    X, rng, family, with_prior, with_labels
):
    prior = InverseWishart(5.0, np.eye(2)) if with_prior else None
    labels = np.where(np.arange(len(X)) < 12, np.arange(len(X)) % 3, -1) if with_labels else None
    start, s = random_start(X, 3, rng, covariance_type=family), rng.integers(0, 4, len(X))
    model = GaussianMixture(3, covariance_type=family, covariance_prior=prior, init=start)
    model.fit(X, labels=labels, sample_weight=s)
    rows = np.repeat(np.arange(len(X)), s)
    options = {"covariance_type": family, "floor": variance_floor(X[rows]), "prior": prior}
    options |= {"labels": None if labels is None else labels[rows], "max_iter": 1000}
    copies = fit_mixture(X[rows], start, **options)
    assert copies.n_iter == model.n_iter_
    np.testing.assert_allclose(model.trace_, copies.trace, rtol=1e-11)
    for a, b in zip(model.params_, copies.params):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


def test_m_step_takes_any_weights(X, rng):
    R, c = rng.uniform(0, 5, (len(X), 3)), 7.0
    for a, b in zip(m_step(X, R), m_step(X, c * R)):
        np.testing.assert_allclose(a, b, rtol=1e-10)
    truth = [np.cov(X.T, aweights=r, bias=True) for r in R.T]
    np.testing.assert_allclose(m_step(X, R).covariances, truth, rtol=1e-10)
    with pytest.raises(ValueError, match="R must not be negative"):
        m_step(X, -R)


def test_chunks_give_the_same_fit_also_in_processes_of_any_map(X, theta):
    whole = fit_mixture(X, theta, max_iter=500)
    chunks = [X[:50], X[50:51], X[51:]]
    parts = em_over_chunks(chunks, theta, max_iter=500)
    mapped = em_over_chunks(chunks, theta, max_iter=500, workers=map)
    assert whole.n_iter == parts.n_iter == mapped.n_iter
    np.testing.assert_allclose(whole.trace, parts.trace, rtol=1e-12)
    np.testing.assert_allclose(whole.params.covariances, parts.params.covariances, rtol=1e-8)
    np.testing.assert_array_equal(parts.trace, mapped.trace)
    idle = [(X[:9], None, np.zeros(9)), *((chunk, None, np.ones(len(chunk))) for chunk in chunks)]
    with_idle = em_over_chunks(idle, theta, max_iter=500)
    np.testing.assert_allclose(with_idle.trace, whole.trace, rtol=1e-12)
    np.testing.assert_allclose(with_idle.params.means, whole.params.means, rtol=1e-8)


def test_summed_statistics_leave_a_component_without_points_where_it_was(X, theta):
    gone = theta._replace(weights=np.array([0.0, 0.4, 0.6]))
    params = m_step_from_statistics(centred_statistics(X, gone), previous=gone)
    np.testing.assert_array_equal(params.means[0], theta.means[0])
    np.testing.assert_array_equal(params.covariances[0], theta.covariances[0])


def test_statistics_keep_their_digits_far_from_the_origin(X, theta):
    far = theta._replace(means=theta.means + 1e6)
    total = centred_statistics(X[:70] + 1e6, far) + centred_statistics(X[70:] + 1e6, far)
    here = m_step(X, responsibilities(X, theta))
    there = m_step_from_statistics(total)
    np.testing.assert_allclose(there.covariances, here.covariances, rtol=1e-6)


def test_objective_with_floor_or_prior_never_falls(X, rng):
    for options in ({"floor": np.full(2, 0.8)}, {"prior": InverseWishart(4.0, np.eye(2))}):
        for family in FAMILIES:
            start = random_start(X, 4, rng)
            fit = fit_mixture(X, start, covariance_type=family, max_iter=2000, **options)
            assert np.all(np.diff(fit.trace) > -1e-9 * abs(fit.trace[-1]))


def test_stepwise_em_learns_from_a_stream(theta, rng):
    start = MixtureParams(np.full(2, 0.5), np.array([[-1.0], [1.0]]), np.full((2, 1, 1), 4.0))
    truth = MixtureParams(np.array([0.3, 0.7]), np.array([[-3.0], [2.0]]), np.ones((2, 1, 1)))
    stream = (sample_mixture(truth, 50, rng)[0] for _ in range(400))
    params, trace = stepwise_em(stream, start)
    np.testing.assert_allclose(params.means, truth.means, atol=0.06)
    np.testing.assert_allclose(params.weights, truth.weights, atol=0.02)
    assert trace[-50:].mean() > trace[:5].mean()
    with pytest.raises(ValueError, match="at least one chunk"):
        stepwise_em([], start)
    with pytest.raises(ValueError, match="kappa"):
        stepwise_em([np.zeros((2, 1))], start, kappa=0.4)


def test_stepwise_em_weighs_the_second_chunk_by_its_step(X, theta):
    first, second = X[:50], X[50:]
    R = responsibilities(first, theta)
    after = m_step(first, R)  # the first chunk counts whole
    S = responsibilities(second, after)
    eta = 3**-0.7
    N = (1 - eta) * R.mean(axis=0) + eta * S.mean(axis=0)
    sums = (1 - eta) * R.T @ first / len(first) + eta * S.T @ second / len(second)
    params, _ = stepwise_em([first, second], theta)
    np.testing.assert_allclose(params.weights, N, rtol=1e-9)
    np.testing.assert_allclose(params.means, sums / N[:, None], rtol=1e-9)


def test_labelled_rows_keep_their_component(X, theta):
    labels = np.full(len(X), -1)
    labels[:9] = [0, 1, 2] * 3
    R, value = e_step(X, theta, labels)
    np.testing.assert_array_equal(R[:9], np.eye(3)[labels[:9]])
    np.testing.assert_allclose(R[9:], responsibilities(X[9:], theta))
    joint = joint_log_density(X[:9], theta)[np.arange(9), labels[:9]]
    assert value == pytest.approx(joint.sum() + log_likelihood(X[9:], theta))
    model = GaussianMixture(3, random_state=0).fit(X, labels=labels)
    assert np.all(np.diff(model.trace_) > -1e-8)
    with pytest.raises(ValueError, match=r"labels must lie in -1\.\.2"):
        e_step(X, theta, labels + 2)


def test_labels_decide_which_component_is_which(rng):
    X = np.concatenate([rng.normal(-4, 1, (50, 1)), rng.normal(4, 1, (50, 1))])
    for first, second in [(0, 1), (1, 0)]:
        labels = np.full(100, -1)
        labels[[0, 50]] = first, second
        model = GaussianMixture(2, random_state=0).fit(X, labels=labels)
        assert model.means_[first, 0] < 0 < model.means_[second, 0]
        twice = GaussianMixture(2, random_state=0)
        twice.fit(X, labels=labels, sample_weight=np.full(100, 2.0))
        np.testing.assert_allclose(twice.means_, model.means_, rtol=1e-6)
    labels = np.full(100, -1)
    labels[:5] = 2
    model = GaussianMixture(3, random_state=0).fit(X, labels=labels)
    assert model.means_[2, 0] < 0


# Starts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["k-means", "random"])
def test_every_start_is_drawn_anew(init, rng):
    X = rng.standard_normal((60, 2))
    starts = []

    def watch(run, items):
        starts.extend(items)
        return map(run, starts)

    GaussianMixture(5, init=init, n_init=6, random_state=0, workers=watch).fit(X)
    firsts = {round(float(np.sort(start.means[:, 0])[0]), 9) for start in starts}
    assert len(firsts) > 2


def test_a_random_start_has_the_rows_that_the_generator_draws(X):
    rows = np.random.default_rng(1).choice(len(X), size=3, replace=False)
    start = random_start(X, 3, np.random.default_rng(1))
    np.testing.assert_array_equal(start.means, X[rows])
    np.testing.assert_allclose(start.covariances, [np.cov(X.T, bias=True)] * 3)


def test_a_start_gives_small_clusters_the_pooled_covariance(rng):
    X = np.concatenate([rng.standard_normal((30, 2)), [[50.0, 50.0]]])
    labels = np.repeat([0, 1], [30, 1])
    start = start_from_labels(X, labels, 2)
    crowd = np.cov(X[:30].T, bias=True)
    np.testing.assert_allclose(start.covariances, [crowd, 30 / 31 * crowd])
    np.testing.assert_allclose(start.means, [X[:30].mean(axis=0), X[30]])
    with pytest.raises(ValueError, match="Cluster 2 has no rows"):
        start_from_labels(X, labels, 3)


# Sampling and model choice ----------------------------------------------------------------------


def test_sample_moments(theta, rng):
    X, z = sample_mixture(theta, 200_000, rng)
    mean = theta.weights @ theta.means
    centred = theta.means - mean
    cov = np.einsum("k,kij->ij", theta.weights, theta.covariances) + np.einsum(
        "k,ki,kj->ij", theta.weights, centred, centred
    )
    np.testing.assert_allclose(X.mean(axis=0), mean, atol=0.03)
    np.testing.assert_allclose(np.cov(X.T), cov, atol=0.1)
    np.testing.assert_allclose(np.bincount(z) / len(z), theta.weights, atol=0.006)


@pytest.mark.parametrize("family", FAMILIES)
def test_bic_counts_what_is_free(X, family):
    model = GaussianMixture(3, covariance_type=family, random_state=0).fit(X)
    q = 2 + model.means_.size
    per = {"full": 9, "tied": 3, "diag": 6, "spherical": 3}[family]
    assert n_parameters(3, 2, family) == q + per
    value = model.score_samples(X).sum()
    assert model.bic(X) == pytest.approx(-2 * value + (q + per) * np.log(len(X)))
    assert model.aic(X) == pytest.approx(-2 * value + 2 * (q + per))


# The estimator ----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_estimator_agrees_with_the_functions(X, family):
    model = GaussianMixture(3, covariance_type=family, random_state=0).fit(X)
    assert model.converged_
    assert model.trace_[-1] == pytest.approx(log_likelihood(X, model.params_), rel=1e-11)
    assert model.lower_bound_ == model.trace_[-1] / len(X)
    twice = GaussianMixture(3, covariance_type=family, random_state=0).fit(
        X, sample_weight=[2] * 200
    )
    assert twice.lower_bound_ == twice.trace_[-1] / 400
    R = responsibilities(X, model.params_)
    np.testing.assert_allclose(model.predict_proba(X), R, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), R.argmax(axis=1))
    np.testing.assert_allclose(np.exp(model.score_samples(X)), mixture_density(X, model.params_))
    shape = {"full": (3, 2, 2), "tied": (2, 2), "diag": (3, 2), "spherical": (3,)}[family]
    assert model.covariances_.shape == shape
    drawn, z = model.sample(10)
    assert drawn.shape == (10, 2)
    assert z.shape == (10,)


def test_more_starts_never_end_lower(X):
    one = GaussianMixture(4, init="random", n_init=1, random_state=3).fit(X)
    many = GaussianMixture(4, init="random", n_init=8, random_state=3).fit(X)
    assert many.trace_[-1] >= one.trace_[-1]


def test_start_from_given_parameters(X, theta):
    model = GaussianMixture(3, init=theta).fit(X)
    assert model.trace_[0] == pytest.approx(log_likelihood(X, theta))


@pytest.mark.parametrize("power", [-8, 8])
@pytest.mark.parametrize("family", FAMILIES)
def test_units_change_nothing_but_scale(X, family, power):
    c = 10.0**power
    a = GaussianMixture(3, covariance_type=family, random_state=0).fit(X)
    b = GaussianMixture(3, covariance_type=family, random_state=0).fit(c * X)
    assert a.n_iter_ == b.n_iter_
    np.testing.assert_allclose(b.means_ / c, a.means_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(b.covariances_ / c**2, a.covariances_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(b.trace_ + X.size * np.log(c), a.trace_, rtol=1e-9)


def test_prior_in_other_units_shifts_the_trace_by_a_constant(X):
    prior = InverseWishart(5.0, np.eye(2))
    model = GaussianMixture(2, covariance_prior=prior, random_state=0).fit(1e3 * X)
    truth = log_likelihood(1e3 * X, model.params_) + log_prior(model.params_, prior)
    assert model.trace_[-1] == pytest.approx(truth, rel=1e-11)


def test_duplicates_constant_features_and_collinear_columns_stay_finite(rng):
    duplicates = np.repeat(rng.standard_normal((6, 2)), 10, axis=0)
    constant = np.column_stack([rng.standard_normal(40), np.full(40, 3.0)])
    x = rng.standard_normal(40)
    for X in (duplicates, constant, np.column_stack([x, 2 * x])):
        for family in FAMILIES:
            model = GaussianMixture(3, covariance_type=family, random_state=0).fit(X)
            assert np.isfinite(model.trace_).all()
            assert np.isfinite(model.score_samples(X)).all()


def test_variance_floor_is_a_share_of_each_columns_variance(X):
    np.testing.assert_allclose(variance_floor(X, 0.5), 0.5 * X.var(axis=0))
    with_constant = np.column_stack([X, np.full(len(X), 7.0)])
    np.testing.assert_allclose(variance_floor(with_constant, 1.0)[2], X.var(axis=0).mean())


def test_a_round_covariance_keeps_to_the_largest_floor():
    S = np.diag([0.1, 0.3])[None]
    Sigma = constrained_covariances(
        S, np.ones(1), covariance_type="spherical", floor=np.array([0.3, 0.5])
    )
    np.testing.assert_allclose(Sigma[0], 0.5 * np.eye(2))


def test_rows_without_a_label_start_with_the_nearest_mean_of_the_labelled():
    X, labels = np.array([[0.0], [2.0], [10.0], [5.6]]), np.array([0, 0, 1, -1])
    start = _labelled_start(X, labels, 2, np.random.default_rng(0))
    np.testing.assert_allclose(start.means, [[1.0], [7.8]])
    np.testing.assert_allclose(start.weights, [0.5, 0.5])


def test_floor_stops_a_component_that_shrinks_on_one_point(rng):
    X = np.concatenate([rng.standard_normal((50, 1)), [[8.0]]])
    start = MixtureParams(
        np.array([0.9, 0.1]), np.array([[0.0], [8.0]]), np.array([[[1.0]], [[0.01]]])
    )
    model = GaussianMixture(2, init=start).fit(X)
    assert model.covariances_.min() == pytest.approx(1e-6 * X.var())
    with pytest.raises(ValueError, match="component 1 is not positive definite"):
        fit_mixture(X, start)


def test_bad_input_is_named(X, theta):
    def refused(message, **options):
        with pytest.raises(ValueError, match=message):
            GaussianMixture(**options).fit(X)

    refused("n_components", n_components=0)
    refused("n_components=201 needs at least 201 rows", n_components=201)
    refused("covariance_type must be one of", covariance_type="round")
    refused("init must be one of", init="best")
    refused("n_init", n_init=0)
    refused("relative must be", covariance_floor=-1.0)
    refused("max_iter", max_iter=0)
    refused("prior must be an InverseWishart", covariance_prior=np.eye(2))
    refused("prior.dof", covariance_prior=InverseWishart(1.0, np.eye(2)))
    refused(
        "prior.scale must be positive definite",
        covariance_prior=InverseWishart(5.0, np.diag([1.0, 0.0])),
    )
    refused(
        "means must have 2 columns", n_components=1, init=MixtureParams([1.0], [[0.0]], [[[1.0]]])
    )
    with pytest.raises(ValueError, match="All rows of X are equal"):
        GaussianMixture().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="too few different rows for 3"):
        GaussianMixture(3).fit([[0.0], [0.0], [1.0], [1.0]])
    with pytest.raises(ValueError, match="weights must sum to one"):
        mixture_density(X, theta._replace(weights=[0.5, 0.5, 0.5]))
    with pytest.raises(ValueError, match="covariances must have shape"):
        mixture_density(X, theta._replace(covariances=np.eye(2)))
    with pytest.raises(ValueError, match=r"R must have shape \(200, K\)"):
        m_step(X, np.ones((3, 1)))
    with pytest.raises(ValueError, match="R must sum to one"):
        lower_bound(X, np.ones((200, 3)), theta)
    with pytest.raises(ValueError, match="floor must hold 2"):
        fit_mixture(X, theta, floor=np.ones(3))


def test_bad_arguments_of_the_functions_are_named(X, theta, rng):
    S, N = np.stack([np.eye(2)] * 3), np.ones(3)
    R = np.full((200, 3), 1 / 3)
    lopsided = theta._replace(covariances=np.stack([[[1.0, 0.5], [0.0, 1.0]]] * 3))
    calls = [
        (lambda: joint_log_density(X, lopsided), "covariances must be symmetric"),
        (lambda: joint_log_density(X, (1, 2)), "params must be a MixtureParams"),
        (lambda: lower_bound(X, np.full((200, 2), 0.5), theta), r"R must have shape \(200, 3\)"),
        (lambda: kl_gap(X, np.full((200, 2), 0.5), theta), r"R must have shape \(200, 3\)"),
        (lambda: constrained_covariances(S, 0 * N), "counts must be above 0"),
        (lambda: constrained_covariances(np.nan * S, N), "scatters contains NaN"),
        (lambda: constrained_covariances(S, N, floor=np.ones(3)), "floor must hold 2"),
        (lambda: constrained_covariances(S, N, prior=3), "prior must be an InverseWishart"),
        (lambda: m_step(X, R, floor=-np.ones(2)), "floor must hold 2"),
        (lambda: m_step(X, R, floor=np.array([0.5, 0.0])), "all above 0"),
        (lambda: m_step(X, R, prior=InverseWishart(0.5, np.eye(2))), "prior.dof"),
        (lambda: log_prior(theta, InverseWishart(5, -np.eye(2))), "prior.scale"),
        (lambda: em_over_chunks((X for _ in range(2)), theta), "chunks must be a list of chunks"),
        (lambda: stepwise_em([X], theta, warm_up=-1), "warm_up must be an integer"),
        (lambda: start_from_labels(X, np.full(200, -1), 2), r"labels must lie in 0\.\.1"),
        (lambda: sample_mixture(theta, 3, 1), "rng must be"),
        (lambda: n_parameters(0, 2), "K must be an integer"),
        (lambda: em(lambda t: (t, 0.0), lambda t: t, 0.0, n_samples=0), "n_samples must be"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()


def test_running_out_warns_once_for_the_best_start(X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GaussianMixture(4, max_iter=2, n_init=5, random_state=0).fit(X)
    assert len(caught) == 1
    assert "GaussianMixture stopped at max_iter=2" in str(caught[0].message)
    assert model.n_iter_ == 2
    assert not model.converged_


def test_a_row_beyond_all_densities_is_an_error_and_not_a_row_of_zeros():
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    model = GaussianMixture(2, random_state=0).fit(1e-8 * X)
    for call in (model.predict_proba, model.predict, model.score_samples):
        with pytest.raises(ValueError, match="too large"):
            call([[0.0], [1e150]])


def test_a_start_with_another_number_of_components_is_refused():
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    start = GaussianMixture(2, random_state=0).fit(X).params_
    with pytest.raises(ValueError, match="n_components = 3"):
        GaussianMixture(3, init=start).fit(X)


def test_labels_are_checked_with_weights_too():
    theta = MixtureParams([0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[1.0]]])
    with pytest.raises(ValueError, match="labels must lie in"):
        centred_statistics([[0.0], [4.0]], theta, labels=np.array([0, 7]), weights=[1.0, 1.0])


OPTIONS = [
    {},
    {"covariance_type": "tied"},
    {"covariance_type": "diag"},
    {"covariance_type": "spherical"},
    {"floor": np.array([1.5, 2.5])},
    {"prior": InverseWishart(9.0, np.array([[4.0, 1.0], [1.0, 3.0]]))},
]


def m_step_by_hand(X, R, covariance_type="full", floor=None, prior=None):
    """Return the M-step from its formulas; the floor only where it binds every direction."""
    N, (n, d) = R.sum(axis=0), X.shape
    means = R.T @ X / N[:, None]
    S = np.array([(R[:, k, None] * (X - m)).T @ (X - m) for k, m in enumerate(means)])
    if prior is not None:
        S, N_k = S + prior.scale, N + prior.dof + d + 1
    else:
        N_k = N
    Sigma = S / N_k[:, None, None]
    if covariance_type == "tied":
        Sigma = np.repeat(S.sum(axis=0)[None] / n, len(N), axis=0)
    if covariance_type == "diag":
        Sigma = Sigma * np.eye(d)
    if covariance_type == "spherical":
        Sigma = np.trace(Sigma, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
    if floor is not None:
        D = np.sqrt(floor)
        values, V = np.linalg.eigh(Sigma / np.outer(D, D))
        Sigma = (V * np.maximum(values, 1.0)[:, None]) @ V.transpose(0, 2, 1) * np.outer(D, D)
    return MixtureParams(N / n, means, Sigma)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "given", OPTIONS, ids=lambda given: "".join(given.values() if 0 else given)
)
def test_every_way_to_fit_listens_to_every_option(X, theta, rng, given):
    R = responsibilities(X, theta)
    by_hand = m_step_by_hand(X, R, **given)
    statistics = centred_statistics(X, theta)
    for found in (
        m_step(X, R, **given),
        m_step_from_statistics(statistics, **given),
        MixtureParams(
            statistics.moments.counts / 200,
            statistics.moments.means,
            constrained_covariances(
                statistics.moments.scatters, statistics.moments.counts, **given
            ),
        ),
    ):
        for one, other in zip(found, by_hand):
            assert np.allclose(one, other)
    z = np.arange(200) % 3
    classes = complete_data_mle(X, z, **given)
    assert np.allclose(classes.covariances, m_step_by_hand(X, np.eye(3)[z], **given).covariances)
    asked = {"max_iter": 7, "tol": 0.0}
    fit = fit_mixture(X, theta, **asked, **given)
    chunks = [X[:50], X[50:60], X[60:]]
    used = []

    def workers(function, tasks):
        return (used.append(1) or function(task) for task in tasks)

    joined = em_over_chunks(chunks, theta, **asked, **given, workers=workers)
    assert len(used) == 3 * 8
    for run in (fit, joined):
        assert (run.n_iter, len(run.trace), run.converged) == (7, 8, False)
        params = run.params
        for _ in range(40):
            params = m_step_by_hand(X, responsibilities(X, params), **given)
        free = (
            params.covariances[:1] if given.get("covariance_type") == "tied" else params.covariances
        )
        end = log_likelihood(X, params) + log_prior(
            params._replace(covariances=free), given.get("prior")
        )
        assert end >= run.trace[-1] - 1e-9
        free = (
            run.params.covariances[:1]
            if given.get("covariance_type") == "tied"
            else run.params.covariances
        )
        value = log_likelihood(X, run.params)
        value += log_prior(run.params._replace(covariances=free), given.get("prior"))
        assert run.trace[-1] == pytest.approx(value)
    assert np.allclose(fit.trace, joined.trace)
    if "prior" not in given:
        labels = rng.permutation(np.arange(200) % 3)
        start = start_from_labels(X, labels, 3, **given)
        assert np.allclose(
            start.covariances, m_step_by_hand(X, np.eye(3)[labels], **given).covariances
        )
        drawn = random_start(X, 3, rng, **given)
        assert np.allclose(
            drawn.covariances[0], m_step_by_hand(X, np.ones((200, 1)), **given).covariances[0]
        )
        params, trace = stepwise_em([X], theta, **given)
        assert np.allclose(params.covariances, by_hand.covariances)
        assert trace == pytest.approx([log_likelihood(X, theta) / 200])


def test_what_is_left_out_of_em(X, theta):
    named = {"covariance_type": "full", "max_iter": 200, "tol": 1e-6}
    left_out = fit_mixture(X, theta)
    assert np.array_equal(left_out.trace, fit_mixture(X, theta, **named).trace)
    gains = np.diff(left_out.trace) / 200
    assert gains[-1] <= 1e-6 < gains[:-1].min()
    chunks = [X[:50], X[50:]]
    assert em_over_chunks(chunks, theta).n_iter == em_over_chunks(chunks, theta, **named).n_iter

    def climb(**given):  # gains of 0.9^t
        return em(lambda t: (t, -(0.9**t)), lambda t: t + 1, 0, **given)

    gains = np.diff(climb().trace)
    assert gains[-1] <= 1e-6 < gains[-2]
    with pytest.warns(UserWarning, match="^EM stopped at max_iter=200"):
        assert climb(tol=0.0).n_iter == 200
    with pytest.warns(UserWarning, match="^Mine stopped at max_iter=3"):
        assert climb(tol=0.0, max_iter=3, name="Mine").n_iter == 3
    assert climb(n_samples=1000).n_iter < climb().n_iter
    slow, fast = (stepwise_em(np.split(X, 4), theta, kappa=k)[0] for k in (0.7, 1.0))
    assert np.array_equal(stepwise_em(np.split(X, 4), theta)[0].means, slow.means)
    assert not np.allclose(slow.means, fast.means)
    waited = stepwise_em(np.split(X, 4), theta, warm_up=2)[1]
    kept = [log_likelihood(part, theta) / 50 for part in np.split(X, 4)[:3]]
    assert waited[:3] == pytest.approx(kept)
    assert np.array_equal(variance_floor(X), variance_floor(X, 1e-6))
    assert n_parameters(3, 2) == n_parameters(3, 2, "full")


def test_known_components_and_weights_enter_the_statistics(X, theta):
    labels, w = np.full(200, -1), np.arange(200) % 3.0
    labels[:30] = np.arange(30) % 3
    R = responsibilities(X, theta)
    R[:30] = np.eye(3)[labels[:30]]
    found = centred_statistics(X, theta, labels=labels, weights=w)
    log_p = np.log(mixture_density(X, theta))
    log_p[:30] = joint_log_density(X, theta)[np.arange(30), labels[:30]]
    assert found.moments.counts == pytest.approx(w @ R)
    assert found.moments.means == pytest.approx((w[:, None] * R).T @ X / (w @ R)[:, None])
    assert found.log_likelihood == pytest.approx(w @ log_p)
    assert found.n_samples == w.sum()
    statistics, objective = e_step(X, theta, labels)
    assert np.allclose(statistics, R)
    assert objective == pytest.approx(log_p.sum())
    fit = fit_mixture(X, theta, labels=labels, tol=1e-3)
    assert fit.trace[0] == pytest.approx(log_p.sum())
    start = start_from_labels(X, np.arange(200) % 3, 3, weights=w + 1)
    assert start.weights == pytest.approx(np.bincount(np.arange(200) % 3, w + 1) / (w + 1).sum())
    heavy = random_start(X, 3, np.random.default_rng(0), weights=w**9)
    assert not np.array_equal(heavy.means, random_start(X, 3, np.random.default_rng(0)).means)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"n_components": 2},
        {"covariance_type": "tied"},
        {"covariance_floor": 0.3},
        {"covariance_prior": OPTIONS[-1]["prior"]},
        {"init": "random"},
        {"n_init": 1},
        {"max_iter": 2},
        {"tol": 0.01},
        {"random_state": 5},
    ],
    ids=str,
)
def test_the_estimator_keeps_the_best_run_of_those_it_is_asked_for(X, given, monkeypatch):
    import mllib.mixtures_and_em as module

    runs = []

    def recorded(total, start, covariance_type, floor, prior, max_iter, tol):
        runs.append((start, covariance_type, floor, prior, max_iter, tol))
        return climb(total, start, covariance_type, floor, prior, max_iter, tol)

    climb = module._fit
    monkeypatch.setattr(module, "_fit", recorded)
    asked = {"n_components": 3, "random_state": 1, "n_init": 3, "max_iter": 20} | given
    model = GaussianMixture(**asked).fit(X)
    settings = GaussianMixture().get_params() | asked
    assert len(runs) == settings["n_init"]
    fits = []
    for start, *options in list(runs):
        family, floor, prior, max_iter, tol = options
        assert (family, prior) == (settings["covariance_type"], settings["covariance_prior"])
        assert (max_iter, tol) == (settings["max_iter"], settings["tol"])
        assert floor == pytest.approx(settings["covariance_floor"] * X.var(axis=0))
        assert len(start.weights) == settings["n_components"]
        equal = np.allclose(start.weights, 1 / len(start.weights))
        assert equal == (settings["init"] == "random")
        named = {"covariance_type": family, "floor": floor, "prior": prior}
        fits.append(fit_mixture(X, start, **named, max_iter=max_iter, tol=tol))
    best = max(fit.trace[-1] for fit in fits)
    assert model.trace_[-1] >= best - settings["tol"] * 200
    fit = next(fit for fit in fits if np.array_equal(fit.trace, model.trace_))
    assert (model.n_iter_, model.converged_) == (fit.n_iter, fit.converged)
    assert model.lower_bound_ == pytest.approx(fit.trace[-1] / 200)
    for name, value in zip(("weights_", "means_"), fit.params):
        assert np.array_equal(getattr(model, name), value)
    whole = (
        fit.params.covariances[0]
        if settings["covariance_type"] == "tied"
        else fit.params.covariances
    )
    assert np.allclose(model.covariances_, whole)
    assert all(np.array_equal(a, b) for a, b in zip(model.params_, fit.params))
    total = log_likelihood(X, fit.params)
    q = n_parameters(settings["n_components"], 2, settings["covariance_type"])
    assert model.bic(X) == pytest.approx(-2 * total + q * np.log(200))
    assert model.aic(X) == pytest.approx(-2 * total + 2 * q)
    drawn, labels = model.sample(7)
    again, same = sample_mixture(fit.params, 7, np.random.default_rng(settings["random_state"]))
    assert np.array_equal(drawn, again)
    assert np.array_equal(labels, same)
    assert len(model.sample()[0]) == 1
    used = []

    def workers(function, tasks):
        return (used.append(1) or function(task) for task in tasks)

    GaussianMixture(**asked, workers=workers).fit(X)
    assert len(used) == settings["n_init"]


def test_tolerances_are_per_observation_whatever_weighs_it_and_end_runs_over_chunks():
    X = np.random.default_rng(3).standard_normal((60, 2)) + np.repeat([[0, 0], [3, 3]], 30, axis=0)
    start = random_start(X, 2, np.random.default_rng(0))
    own = GaussianMixture(2, init=start)
    assert own.fit(X).n_iter_ == own.fit(X, sample_weight=np.full(60, 2**-7)).n_iter_
    fine, coarse = (em_over_chunks([X[:30], X[30:]], start, tol=tol) for tol in (1e-9, 0.1))
    assert coarse.n_iter < fine.n_iter
