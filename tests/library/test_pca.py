"""Principal components: the theorem, kernels, distances, paths, chunks, and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import multivariate_normal
from sklearn import cluster, decomposition, manifold
from sklearn.datasets import make_swiss_roll
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from uncompiled import uncompiled

from mllib.course.datasets import breast_cancer, digits, us_arrests
from mllib.decision_theory import Standardizer
from mllib.discriminant_analysis import LinearDiscriminantAnalysis
from mllib.k_means import adjusted_rand_index
from mllib.kernels import (
    center_kernel,
    center_kernel_vectors,
    polynomial_kernel,
    polynomial_kernel_features,
    rbf_kernel,
)
from mllib.linear_algebra import low_rank_approximation
from mllib.pca import (
    PCA,
    Isomap,
    KernelPCA,
    _factor_e_step,
    _factor_m_step,
    classical_scaling,
    components_from_moments,
    covariance,
    factor_analysis,
    fixed_signs,
    geodesic_distances,
    graph_laplacian,
    kernel_components,
    kernel_scores,
    moments,
    neighbourhood_graph,
    principal_components,
    probabilistic_components,
    project,
    reconstruct,
    reconstruction_error,
    sine_between,
    spectral_clustering,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 4)) @ RNG.standard_normal((4, 4)) + [5.0, -2.0, 0.0, 100.0]
WIDE = RNG.standard_normal((8, 20))
WAYS = ("auto", "svd", "covariance", "gram")


# The components ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", WAYS)
@pytest.mark.parametrize("data", [X, WIDE], ids=["tall", "wide"])
def test_every_way_finds_the_eigenvectors_of_the_covariance(method, data):
    k = 3
    found = principal_components(data, k, method=method)
    values, V = np.linalg.eigh(np.cov(data.T, bias=True))
    np.testing.assert_allclose(found.variances, values[::-1][:k], rtol=1e-9)
    np.testing.assert_allclose(found.V, fixed_signs(V[:, ::-1][:, :k]), atol=1e-8)
    np.testing.assert_allclose(found.total, np.trace(np.cov(data.T, bias=True)))
    np.testing.assert_allclose(found.mean, data.mean(axis=0))
    error = values[::-1][k:].sum()
    np.testing.assert_allclose(reconstruction_error(data, found), error, rtol=1e-9)


@pytest.mark.parametrize("method", WAYS)
def test_without_centring_the_mean_product_is_added(method):
    found = principal_components(X, 2, center=False, method=method)
    M = X.T @ X / len(X)
    np.testing.assert_allclose(M @ found.V, found.V * found.variances, atol=1e-12 * found.total)
    assert not found.mean.any()
    mean = X.mean(axis=0)
    np.testing.assert_allclose(M, covariance(X) + np.outer(mean, mean))


@pytest.mark.parametrize("data", [X, WIDE], ids=["tall", "wide"])
def test_none_keeps_the_rank_and_a_share_the_smallest_number_that_holds_it(data):
    every = principal_components(data)
    assert len(every.variances) == min(len(data) - 1, data.shape[1])
    held = np.cumsum(every.variances) / every.total
    for share in (0.3, 0.8, 0.999):
        k = len(principal_components(data, share).variances)
        assert held[k - 1] >= share > (held[k - 2] if k > 1 else 0)
    assert len(principal_components(data, 1.0).variances) == len(every.variances)


def test_auto_takes_the_singular_values_where_the_covariance_would_blur():
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    Z = rng.standard_normal((50, 3)) * [1, 1e-3, 1e-7] @ Q
    truth = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False) ** 2 / 50
    good = principal_components(Z)
    np.testing.assert_allclose(good.variances, truth, rtol=1e-8)
    assert abs(principal_components(Z, 3, method="covariance").variances[2] / truth[2] - 1) > 1e-5
    flat = np.column_stack([Z[:, 0], 2 * Z[:, 0], np.full(50, 7.0)])
    assert len(principal_components(flat).variances) == 1


def test_auto_starts_again_where_a_variance_is_below_a_millionth_and_not_only_far_below():
    rng = np.random.default_rng(7)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    Z = rng.standard_normal((50, 3)) * [1, 1e-3, 1e-5] @ Q  # the last variance is 1e-10
    truth = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False) ** 2 / 50
    np.testing.assert_allclose(principal_components(Z).variances, truth, rtol=1e-8)


def test_large_matrices_by_the_iterative_solver_agree():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((600, 450)) * np.linspace(3, 1, 450)
    fast, slow = principal_components(A, 5), principal_components(A, 5, method="svd")
    np.testing.assert_allclose(fast.variances, slow.variances, rtol=1e-10)
    np.testing.assert_allclose(fast.V, slow.V, atol=1e-9)


@pytest.mark.parametrize("method", WAYS)
def test_weights_are_repetitions(method):
    w = np.random.default_rng(3).integers(0, 4, len(X))
    a = principal_components(X, 3, weights=w, method=method)
    b = principal_components(np.repeat(X, w, axis=0), 3, method=method)
    for one, other in zip(a, b):
        np.testing.assert_allclose(one, other, atol=1e-9)
    model = PCA(2).fit(X, sample_weight=w)
    np.testing.assert_allclose(model.mean_, b.mean)
    assert len(PCA().fit(X, sample_weight=np.arange(30) < 3).explained_variance_) == 2


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_the_unit_makes_no_difference(scale):
    a, b = principal_components(X), principal_components(scale * X)
    np.testing.assert_allclose(b.variances, scale**2 * a.variances, rtol=1e-9)
    np.testing.assert_allclose(b.V, a.V, atol=1e-9)


def test_data_far_from_the_origin_keep_their_digits():
    far = principal_components(X[:, :3] + 1e7, 3)
    near = principal_components(X[:, :3], 3)
    np.testing.assert_allclose(far.variances, near.variances, rtol=1e-7)


def test_signs_follow_the_largest_entry_and_ties_the_first():
    tie = np.array([1.0, -1.0]) / np.sqrt(2)
    for nudge in (-1e-12, 0, 1e-12):
        for sign in (1, -1):
            V = fixed_signs((sign * (tie + [nudge, 0]))[:, None])
            assert V[0, 0] > 0 > V[1, 0]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_no_orthonormal_directions_do_better(seed, k):
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (7, 4)).astype(float)
    A[0] += 4 * np.ones(4)
    values = np.linalg.eigvalsh(covariance(A))[::-1]
    Q = np.linalg.qr(rng.standard_normal((4, k)))[0]
    assert np.trace(Q.T @ covariance(A) @ Q) <= values[:k].sum() + 1e-9
    other = principal_components(A, 1)._replace(V=Q)
    assert reconstruction_error(A, other) >= values[k:].sum() - 1e-9


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_turning_and_moving_the_data_turns_the_directions(seed):
    rng = np.random.default_rng(seed)
    Q, shift = np.linalg.qr(rng.standard_normal((4, 4)))[0], rng.standard_normal(4)
    a, b = principal_components(X), principal_components(X @ Q + shift)
    np.testing.assert_allclose(a.variances, b.variances, rtol=1e-8)
    assert all(sine_between(Q.T @ a.V[:, j], b.V[:, j]) < 1e-6 for j in range(4))


def test_the_largest_entry_of_a_column_gets_the_plus():
    V = np.array([[-0.70, 0.3], [0.10, -0.8], [0.71, 0.5]])
    np.testing.assert_array_equal(fixed_signs(V), V * [1, -1])


def test_scores_and_rows_go_back_and_forth():
    found = principal_components(X)
    np.testing.assert_allclose(reconstruct(project(X, found), found), X)
    cut = principal_components(X, 2)
    best = low_rank_approximation(X - X.mean(axis=0), 2)
    np.testing.assert_allclose(reconstruct(project(X, cut), cut) - X.mean(axis=0), best.A_k)
    np.testing.assert_allclose(reconstruction_error(X, cut), best.error**2 / len(X))


def test_sine_between_lines():
    assert sine_between([1, 0], [-1, 0]) == 0
    assert sine_between([2, 0], [0, 3]) == 1
    np.testing.assert_allclose(sine_between([1, 0], [1, 1e-12]), 1e-12)
    with pytest.raises(ValueError, match="must not be 0"):
        sine_between([0, 0], [1, 0])


# Moments and chunks --------------------------------------------------------------------------


def test_chunks_of_any_size_give_the_fit_of_the_whole():
    data = digits().X
    whole = PCA(20).fit(data)
    for cuts in ([1, 2, 900], [600, 1200], []):
        model = PCA(20).fit_chunks(np.split(data, cuts))
        np.testing.assert_allclose(model.components_, whole.components_, atol=1e-10)
        np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-10)
        np.testing.assert_allclose(model.mean_, whole.mean_, atol=1e-12)
    parts = np.split(data, 3)
    by_map = PCA(20).fit_chunks(iter(parts), workers=map)
    np.testing.assert_array_equal(by_map.components_, PCA(20).fit_chunks(parts).components_)
    w = np.arange(1797) % 3
    weighted = PCA(5).fit_chunks([(data[:900], None, w[:900]), (data[900:], None, w[900:])])
    whole = PCA(5).fit(data, sample_weight=w)
    np.testing.assert_allclose(weighted.components_, whole.components_, atol=1e-10)
    with pytest.raises(ValueError, match=r"chunk 1: .*NaN"):
        PCA(2).fit_chunks([X, np.full((3, 4), np.nan)])
    assert len(PCA().fit_chunks(np.split(data, 3)).components_) == 61
    assert PCA(0.9).fit_chunks([data]).n_components_ == PCA(0.9).fit(data).n_components_
    tiny = components_from_moments(moments(1e-9 * data), 0.9)
    held = np.cumsum(np.linalg.eigvalsh(np.cov(data.T))[::-1]) / np.trace(np.cov(data.T))
    assert len(tiny.variances) == 1 + np.sum(held < 0.9)


def test_moments_merge_in_any_order():
    a, b, c = (moments(part) for part in np.split(X + 1e6, [4, 13]))
    one = (a + b) + c
    two = c + (b + a)
    for merged in (one, two):
        np.testing.assert_allclose(merged.scatter, 30 * np.cov(X.T, bias=True), rtol=1e-8)
        np.testing.assert_allclose(merged.mean, X.mean(axis=0) + 1e6)
        assert merged.n == 30
    w = np.arange(30)
    weighted = moments(X, w)
    np.testing.assert_allclose(weighted.scatter, moments(np.repeat(X, w, axis=0)).scatter)
    with pytest.raises(ValueError, match="same columns"):
        moments(X) + moments(WIDE)


def test_components_from_moments_sees_rank():
    flat = np.column_stack([X[:, 0], X[:, 0], np.ones(30)])
    assert len(components_from_moments(moments(flat)).variances) == 1
    with pytest.raises(ValueError, match="constant"):
        components_from_moments(moments(np.ones((3, 2))))


# Oracles and published numbers ---------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 5, 30])
def test_scikit_learn_finds_the_same(k):
    data = breast_cancer().X
    ours, theirs = PCA(k).fit(data), decomposition.PCA(k, svd_solver="full").fit(data)
    n = len(data)
    np.testing.assert_allclose(
        ours.explained_variance_ * n / (n - 1), theirs.explained_variance_, rtol=1e-8
    )
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8
    )
    np.testing.assert_allclose(ours.components_, fixed_signs(theirs.components_.T).T, atol=1e-6)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(data)),
        theirs.inverse_transform(theirs.transform(data)),
        atol=1e-8,
    )


def test_us_arrests_as_printed():
    found = principal_components(Standardizer().fit_transform(us_arrests().X))
    np.testing.assert_allclose(
        np.sqrt(found.variances), [1.5749, 0.9949, 0.5971, 0.4164], atol=5e-5
    )
    np.testing.assert_allclose(
        found.variances / found.total, [0.620, 0.247, 0.089, 0.043], atol=5e-4
    )
    np.testing.assert_allclose(found.V[:, 0], [0.5359, 0.5832, 0.2782, 0.5434], atol=5e-5)


def test_us_arrests_are_the_fifty_states():
    table = us_arrests()
    assert table.X.shape == (50, 4)
    assert (table.classes[0], table.classes[-1]) == ("Alabama", "Wyoming")
    np.testing.assert_allclose(table.X.mean(axis=0), [7.788, 170.76, 65.54, 21.232])


def test_kernel_pca_of_scikit_learn_finds_the_same():
    ell = 2.0
    ours = KernelPCA(4, "rbf", ell=ell).fit(X[:20])
    theirs = decomposition.KernelPCA(4, kernel="rbf", gamma=1 / (2 * ell**2)).fit(X[:20])
    for rows in (X[:20], X[20:]):
        np.testing.assert_allclose(
            np.abs(ours.transform(rows)), np.abs(theirs.transform(rows)), atol=1e-8
        )
    np.testing.assert_allclose(ours.explained_variance_, theirs.eigenvalues_ / 20, rtol=1e-8)


def test_isomap_of_scikit_learn_finds_the_same():
    roll, _ = make_swiss_roll(300, random_state=0)
    ours = Isomap(8).fit(roll)
    theirs = manifold.Isomap(n_neighbors=8).fit(roll)
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, atol=1e-8)
    np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-4)
    np.testing.assert_allclose(ours.transform(roll), ours.embedding_, atol=1e-8)


# A density -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3])
def test_probabilistic_components_are_the_model_behind_those_of_scikit_learn(k):
    ours = probabilistic_components(X, k)
    theirs = decomposition.PCA(k, svd_solver="full").fit(X)
    C = ours.loadings @ ours.loadings.T + np.diag(ours.noise)
    np.testing.assert_allclose(C * 30 / 29, theirs.get_covariance(), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.noise * 30 / 29, np.full(4, theirs.noise_variance_))
    np.testing.assert_allclose(ours.mean, X.mean(axis=0))


def two_factors():
    rng = np.random.default_rng(5)
    A = np.array([[2, 2, 1, 0, 0, 1], [0, 0, 1, 2, 2, -1.0]])
    errors = rng.standard_normal((300, 6)) * [1, 2, 1, 1, 2, 1]
    return 3 + rng.standard_normal((300, 2)) @ A + errors


def test_a_step_of_em_is_that_of_the_joint_covariance_of_rows_and_factors():
    D, A, noise = two_factors(), RNG.standard_normal((6, 2)), RNG.uniform(0.5, 2, 6)
    S, C = covariance(D), A @ A.T + np.diag(noise)
    (P, M), density = _factor_e_step((A, noise), S)
    B = np.linalg.solve(C, A).T
    np.testing.assert_allclose(P, S @ B.T, atol=1e-10)
    np.testing.assert_allclose(M, np.eye(2) - B @ A + B @ S @ B.T, atol=1e-10)
    expected = multivariate_normal(D.mean(axis=0), C).logpdf(D).sum()
    np.testing.assert_allclose(150 * (density - 6 * np.log(2 * np.pi)), expected, rtol=1e-10)
    new_A, new_noise = _factor_m_step((P, M), S)
    np.testing.assert_allclose(new_A @ M, P, atol=1e-10)
    np.testing.assert_allclose(new_noise, np.diag(S - new_A @ P.T), atol=1e-10)


def test_factor_analysis_climbs_as_high_as_that_of_scikit_learn():
    D = two_factors()
    ours = factor_analysis(D, 2)
    theirs = decomposition.FactorAnalysis(2, tol=1e-9, max_iter=20_000, svd_method="lapack").fit(D)
    C = ours.loadings @ ours.loadings.T + np.diag(ours.noise)
    density = multivariate_normal(ours.mean, C).logpdf(D)
    assert abs(density.mean() - theirs.score(D)) < 1e-6
    np.testing.assert_allclose(C, theirs.get_covariance(), atol=1e-2)
    np.testing.assert_allclose(ours.mean, D.mean(axis=0))


def test_factor_analysis_keeps_a_noise_for_a_column_that_the_others_determine():
    D = two_factors()
    twin = np.column_stack([D, D[:, 0]])
    assert (factor_analysis(twin, 1).noise > 0.99e-6 * twin.var(axis=0)).all()
    with pytest.warns(UserWarning, match="factor_analysis stopped at max_iter=2"):
        factor_analysis(D, 2, max_iter=2)


# Kernels -------------------------------------------------------------------------------------


def test_linear_kernel_gives_back_pca():
    for data in (X, WIDE):
        a, b = PCA().fit(data), KernelPCA().fit(data)
        np.testing.assert_allclose(a.explained_variance_, b.explained_variance_, rtol=1e-8)
        new = data[:3] + 1
        np.testing.assert_allclose(np.abs(a.transform(new)), np.abs(b.transform(new)), atol=1e-7)


def test_kernel_components_against_explicit_features():
    A, B = X[:12, :2] - [5, -2], X[12:18, :2] - [5, -2]
    Phi, Psi = polynomial_kernel_features(A, 2), polynomial_kernel_features(B, 2)
    found = kernel_components(polynomial_kernel(A, A, 2), 3)
    centred = Phi - Phi.mean(axis=0)
    V = centred.T @ found.alpha
    np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-10)
    truth = principal_components(Phi, 3)
    np.testing.assert_allclose(found.variances, truth.variances)
    scores = kernel_scores(polynomial_kernel(A, B, 2), found)
    np.testing.assert_allclose(scores, (Psi - Phi.mean(axis=0)) @ V, atol=1e-8)
    K_c = center_kernel(polynomial_kernel(A, A, 2))
    np.testing.assert_allclose(K_c, centred @ centred.T, atol=1e-8)
    k_c = center_kernel_vectors(polynomial_kernel(A, B, 2), polynomial_kernel(A, A, 2).mean(0))
    np.testing.assert_allclose(k_c, centred @ (Psi - Phi.mean(axis=0)).T, atol=1e-8)
    own = polynomial_kernel(A, B, 2)
    assert np.abs((own - own.mean(axis=0)).T @ found.alpha - scores).max() > 0.01


def test_a_kernel_as_a_function_and_as_a_matrix():
    function = KernelPCA(2, kernel=lambda A, B: rbf_kernel(A, B, 3.0)).fit(X)
    K, k = rbf_kernel(X, X, 3.0), rbf_kernel(X[:5] + 1, X, 3.0)
    matrix = KernelPCA(2, kernel="precomputed").fit(K)
    np.testing.assert_allclose(function.transform(X[:5] + 1), matrix.transform(k), atol=1e-10)
    np.testing.assert_allclose(matrix.fit_transform(K), matrix.transform(K), atol=1e-10)
    narrow = KernelPCA(2, kernel="precomputed").fit(rbf_kernel(X, X, 0.01))  # values near 0
    assert np.isfinite(narrow.transform(rbf_kernel(X[:5], X, 0.01))).all()
    cubic = KernelPCA(2, kernel="polynomial", degree=3, coef0=2.0, ell=4.0).fit(X)
    again = KernelPCA(2, kernel=lambda A, B: polynomial_kernel(A, B, 3, 2.0, 4.0)).fit(X)
    np.testing.assert_allclose(cubic.explained_variance_, again.explained_variance_)
    assert KernelPCA(2, kernel="rbf").fit(X).ell_ > 0


# Distances and paths -------------------------------------------------------------------------


def test_classical_scaling_rebuilds_points():
    D = squareform(pdist(X))
    found = classical_scaling(D)
    assert found.Y.shape == (30, 4)
    np.testing.assert_allclose(squareform(pdist(found.Y)), D, atol=1e-8)
    np.testing.assert_allclose(np.abs(found.Y), np.abs(PCA().fit_transform(X)), atol=1e-7)
    assert found.values[-1] > -1e-9 * found.values[0]
    np.testing.assert_allclose(classical_scaling(D, 2).Y, found.Y[:, :2])


def test_a_star_with_four_ends_is_not_euclidean():
    D = np.full((4, 4), 2.0)
    D[0] = D[:, 0] = 1.0
    np.fill_diagonal(D, 0)
    assert classical_scaling(D).values[-1] < -0.1


def test_shortest_paths_against_all_intermediate_stops():
    rng = np.random.default_rng(4)
    P = rng.uniform(size=(40, 2))
    graph = neighbourhood_graph(P, 6).toarray()
    G = np.where(graph > 0, graph, np.inf)
    G = np.minimum(G, G.T)
    np.fill_diagonal(G, 0)
    for j in range(40):
        G = np.minimum(G, G[:, [j]] + G[j])
    found = geodesic_distances(neighbourhood_graph(P, 6))
    np.testing.assert_allclose(found, G, rtol=1e-12)
    np.testing.assert_array_equal(found, found.T)


def test_neighbours_leave_out_the_row_itself_also_among_equal_rows():
    P = np.repeat([[0.0], [1.0], [5.0]], [4, 1, 1], axis=0)
    graph = neighbourhood_graph(P, 2)
    assert (np.diff(graph.indptr) == 2).all()
    rows = np.repeat(np.arange(6), 2)
    assert (graph.indices != rows).all()
    assert geodesic_distances(graph)[0].tolist() == [0, 0, 0, 0, 1, 5]
    with uncompiled():
        np.testing.assert_array_equal(neighbourhood_graph(P, 2).indices, graph.indices)


def test_isomap_on_a_bent_line_finds_the_way_along_it():
    t = np.linspace(0, 1.5 * np.pi, 40)
    arc = np.column_stack([np.cos(t), np.sin(t)])
    model = Isomap(2, 1).fit(arc)
    assert abs(np.corrcoef(model.embedding_[:, 0], t)[0, 1]) > 0.99999
    middle = np.column_stack([np.cos(t[:-1] + 0.05), np.sin(t[:-1] + 0.05)])
    assert abs(np.corrcoef(model.transform(middle)[:, 0], t[:-1])[0, 1]) > 0.999
    ends = cdist(arc[:1], arc[-1:])[0, 0]
    assert model.dist_matrix_[0, -1] > 3 * ends


def test_isomap_places_new_rows_by_the_paths_of_their_nearest_training_rows():
    few, new = np.split(np.random.default_rng(8).standard_normal((90, 3)), [60])
    paths, far = geodesic_distances(neighbourhood_graph(few, 9)), cdist(new, few)
    near = np.argsort(far, axis=1)[:, :10]
    g = np.array([(far[i, m, None] + paths[m]).min(axis=0) for i, m in enumerate(near)])
    expected = kernel_scores(-0.5 * g.T**2, kernel_components(-0.5 * paths**2, 2))
    np.testing.assert_allclose(Isomap(9).fit(few).transform(new), expected, atol=1e-8)


def test_isomap_joins_pieces_only_by_itself():
    two = np.vstack([X[:10, :2], X[:10, :2] + 1000])
    with pytest.raises(ValueError, match=r"in 2 pieces.*n_neighbors"):
        Isomap(3).fit(two)
    assert Isomap().fit(two).n_neighbors_ == 10
    three = np.vstack([two, X[:10, :2] + 5000])
    with pytest.raises(ValueError, match="in 3 pieces"):
        Isomap(5).fit(three)


# Clusters of a graph -------------------------------------------------------------------------


def test_the_laplacian_is_the_form_of_squared_differences():
    rng = np.random.default_rng(9)
    W = rng.integers(0, 4, (6, 6))
    W, f = W + W.T, rng.integers(-5, 6, 6)
    assert f @ graph_laplacian(W) @ f == np.sum(W * np.subtract.outer(f, f) ** 2) / 2


def test_spectral_clustering_finds_the_pieces_of_a_graph():
    W, truth = block_diag(*(np.ones((m, m)) for m in (4, 3, 5))), np.repeat([0, 1, 2], [4, 3, 5])
    order = np.random.default_rng(10).permutation(12)
    labels = spectral_clustering(W[order][:, order], 3, np.random.default_rng(0))
    assert adjusted_rand_index(labels, truth[order]) == 1


def test_spectral_clustering_finds_what_scikit_learn_finds():
    rng = np.random.default_rng(11)
    P = np.vstack([rng.standard_normal((20, 2)) + m for m in ([0, 0], [8, 0], [0, 8])])
    W = rbf_kernel(P, P, 1.5)
    labels = spectral_clustering(W, 3, rng)
    theirs = cluster.SpectralClustering(3, affinity="precomputed", random_state=0).fit(W).labels_
    assert adjusted_rand_index(labels, np.repeat([0, 1, 2], 20)) == 1
    assert adjusted_rand_index(labels, theirs) == 1
    again = spectral_clustering(W, 3, np.random.default_rng(1))
    np.testing.assert_array_equal(again, spectral_clustering(W, 3, np.random.default_rng(1)))


# Estimators and bad input --------------------------------------------------------------------


def test_whitened_scores_have_the_covariance_one():
    model = PCA(3, whiten=True).fit(X)
    Y = model.transform(X)
    np.testing.assert_allclose(covariance(Y), np.eye(3), atol=1e-10)
    plain = PCA(3).fit(X)
    np.testing.assert_allclose(
        model.inverse_transform(Y), plain.inverse_transform(plain.transform(X))
    )


def test_names_of_the_outputs():
    assert PCA(2).fit(X).get_feature_names_out().tolist() == ["pca0", "pca1"]
    assert KernelPCA(1).fit(X).get_feature_names_out().tolist() == ["kernelpca0"]
    assert Isomap(4, 1).fit(X).get_feature_names_out().tolist() == ["isomap0"]


def test_in_a_pipeline_and_a_search():
    data = breast_cancer()
    pipe = make_pipeline(Standardizer(), PCA(), LinearDiscriminantAnalysis())
    search = GridSearchCV(pipe, {"pca__n_components": [1, 5, 10]}, cv=3).fit(data.X, data.y)
    assert search.best_score_ > 0.93


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: principal_components(X, 5), "at most 4"),
        (lambda: principal_components(WIDE, 8), "at most 7"),
        (lambda: principal_components(np.ones((5, 3))), "constant"),
        (lambda: principal_components(np.full((7, 2), 0.1) * 3), "constant"),
        (lambda: principal_components([[1.0, np.nan], [0.0, 1.0]]), "contains NaN"),
        (lambda: principal_components([[1.0, np.inf], [0.0, 1.0]]), "contains infinity"),
        (lambda: principal_components([[1.0, 2.0]]), "1 sample"),
        (lambda: principal_components(X, 0), "n_components must be an integer"),
        (lambda: principal_components(X, 1.5), "n_components must be a number in"),
        (lambda: principal_components(X, True), "n_components"),
        (lambda: principal_components(X, "all"), "n_components"),
        (lambda: principal_components(X, method="qr"), "method must be one of"),
        (lambda: principal_components(X, center="no"), "center must be"),
        (lambda: principal_components(X, weights=-np.ones(30)), "weights"),
        (lambda: principal_components(X, weights=np.ones(3)), "weights"),
        (lambda: PCA(2, whiten="yes").fit(X), "whiten must be"),
        (lambda: PCA(2, center=False).fit_chunks([X]), "center=True"),
        (lambda: PCA(2).fit_chunks([]), "at least one chunk"),
        (lambda: PCA(2).fit(X).inverse_transform(X), "2 scores"),
        (lambda: kernel_components(np.ones((3, 3))), "constant"),
        (lambda: kernel_components(X), "square"),
        (lambda: kernel_components(X[:12] @ X[:12].T, 5), "at most 4"),
        (lambda: KernelPCA(kernel="precomputed").fit(-np.eye(3)), "semi-definite"),
        (lambda: KernelPCA(kernel="tanh").fit(X), "kernel must be one of"),
        (lambda: KernelPCA(kernel="rbf", ell=0).fit(X), "ell"),
        (lambda: classical_scaling(np.zeros((2, 3))), "square"),
        (lambda: classical_scaling([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (lambda: classical_scaling([[1.0, 1.0], [1.0, 0.0]]), "diagonal"),
        (lambda: classical_scaling([[0.0, -1.0], [-1.0, 0.0]]), "no entry below 0"),
        (lambda: classical_scaling([[0.0, 1.0], [1.0, 0.0]], 2), "at most 1"),
        (lambda: neighbourhood_graph(X, 30), "n_samples = 30, got k = 30"),
        (lambda: neighbourhood_graph(X, 0), "n_neighbors"),
        (lambda: Isomap(30).fit(X), "n_neighbors must be below"),
        (lambda: Isomap(5, 0).fit(X), "n_components"),
        (lambda: Isomap(2, 2).fit([[0.0], [1.0], [2.0]]), "at most 1"),
        (lambda: geodesic_distances(csr_array((3, 3))), "in 3 pieces"),
        (lambda: probabilistic_components(X, 4), "k must be an integer in"),
        (lambda: probabilistic_components(X[:, [0, 0, 1]], 2), "more than k = 2 directions"),
        (lambda: factor_analysis(X * [1, 1, 0, 1], 1), "column 2 of X is constant"),
        (lambda: factor_analysis(X, 0), "k must be an integer in"),
        (lambda: graph_laplacian([[0.0, -1.0], [-1.0, 0.0]]), "no entry below 0"),
        (lambda: graph_laplacian([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (lambda: spectral_clustering(np.diag([1.0, 0.0]), 1, RNG), "node 1 has no edge"),
        (lambda: spectral_clustering(np.ones((3, 3)), 4, RNG), "K must be an integer in"),
        (lambda: spectral_clustering(np.ones((3, 3)), 2, None), "rng must be"),
    ],
)
def test_bad_input_is_refused_with_a_reason(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_variants_fail():
    K = polynomial_kernel(X[:8, :2], X[:8, :2], 2)
    sum_instead_of_mean = (np.eye(8) - np.ones((8, 8))) @ K @ (np.eye(8) - np.ones((8, 8)))
    assert np.abs(sum_instead_of_mean - center_kernel(K)).max() > 1
    a, b = moments(X[:10]), moments(X[10:])
    without_gap = a.scatter + b.scatter
    assert np.abs(without_gap - moments(X).scatter).max() > 1


# Chunks without weight, wrong widths ------------------------------------------------------------


def test_a_chunk_whose_weights_are_all_zero_adds_nothing():
    X = np.random.default_rng(0).standard_normal((12, 3))
    w = np.r_[np.zeros(4), np.ones(4), np.zeros(4)]
    parts = [(X[a : a + 2], None, w[a : a + 2]) for a in range(0, 12, 2)]
    model = PCA().fit_chunks(parts)
    np.testing.assert_allclose(model.explained_variance_, PCA().fit(X[4:8]).explained_variance_)
    with pytest.raises(ValueError, match="sample_weight must not be zero for every row"):
        PCA().fit_chunks(parts[:2])


def test_rows_of_another_width_are_refused_and_not_stretched():
    found = principal_components([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    for call in (project, reconstruction_error):
        with pytest.raises(ValueError, match="X must have 2 columns, got 1"):
            call([[1.0], [2.0]], found)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_kernel_components_of_weighted_rows_are_those_of_repeated_rows(kernel):
    X = 1e3 + np.random.default_rng(1).standard_normal((8, 3))  # far out, for the linear kernel
    times = np.array([1, 2, 1, 3, 1, 1, 2, 1])
    weighted = KernelPCA(2, kernel, ell=1.5).fit(X, sample_weight=times)
    repeated = KernelPCA(2, kernel, ell=1.5).fit(np.repeat(X, times, axis=0))
    variances = repeated.explained_variance_
    np.testing.assert_allclose(weighted.explained_variance_, variances, rtol=1e-10)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-9)


def test_a_wrong_number_of_components_is_named_with_weights_too():
    X = np.random.default_rng(0).standard_normal((5, 2))
    with pytest.raises(ValueError, match="n_components"):
        KernelPCA(0).fit(X, sample_weight=np.ones(5))


@pytest.mark.parametrize(
    "given",
    [{}, {"whiten": True}, {"center": False}, {"n_components": 2}, {"method": "svd"}],
    ids=str,
)
def test_the_estimator_keeps_the_components_that_were_asked_for(given):
    model = PCA(**given).fit(X)
    mean = X.mean(axis=0) if given.get("center", True) else np.zeros(4)
    values, V = np.linalg.eigh((X - mean).T @ (X - mean) / 30)
    k = given.get("n_components", 4)
    np.testing.assert_allclose(model.mean_, mean)
    np.testing.assert_allclose(model.explained_variance_, values[::-1][:k])
    np.testing.assert_allclose(model.explained_variance_ratio_, values[::-1][:k] / values.sum())
    np.testing.assert_allclose(model.components_, fixed_signs(V[:, ::-1][:, :k]).T, atol=1e-9)
    assert model.n_components_ == k
    Z = (X - mean) @ model.components_.T
    scores = Z / np.sqrt(values[::-1][:k]) if given.get("whiten") else Z
    np.testing.assert_allclose(model.transform(X), scores, atol=1e-9)
    np.testing.assert_allclose(model.inverse_transform(scores), mean + Z @ model.components_)
    if given in ({}, {"n_components": 2}):
        chunks = [X[:7], X[7:9], X[9:]]
        np.testing.assert_allclose(
            PCA(**given).fit_chunks(chunks).explained_variance_ratio_,
            model.explained_variance_ratio_,
        )


def test_moments_and_components_of_weighted_rows():
    w = np.arange(30) % 3
    rows = np.repeat(X, w, axis=0)
    found, plain = moments(X, w), moments(rows)
    assert found.n == plain.n == w.sum()
    np.testing.assert_allclose(found.mean, rows.mean(axis=0))
    np.testing.assert_allclose(found.scatter, len(rows) * np.cov(rows.T, bias=True))
    for components in (principal_components(X, weights=w), components_from_moments(found)):
        np.testing.assert_allclose(components.mean, rows.mean(axis=0))
        np.testing.assert_allclose(components.total, rows.var(axis=0).sum())
        np.testing.assert_allclose(components.variances.sum(), components.total)
        expected = np.linalg.eigvalsh(np.cov(rows.T, bias=True))[::-1]
        np.testing.assert_allclose(components.variances, expected)
    assert len(components_from_moments(found, 2).variances) == 2


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
def test_kernel_components_are_kept_with_the_kernel_that_was_asked_for(kernel):
    given = {"rbf": {"ell": 3.0}, "polynomial": {"ell": 9.0, "degree": 2, "coef0": 0.5}}
    Y = X - X.mean(axis=0)
    model = KernelPCA(3, kernel, **given.get(kernel, {})).fit(Y)
    K = {
        "linear": lambda A, B: A @ B.T,
        "rbf": lambda A, B: rbf_kernel(A, B, 3.0),
        "polynomial": lambda A, B: polynomial_kernel(A, B, 2, 0.5, 9.0),
    }[kernel]
    centred = center_kernel(K(Y, Y))
    values = np.linalg.eigvalsh(centred)[::-1][:3]
    np.testing.assert_allclose(model.explained_variance_, values / 30)
    np.testing.assert_allclose(
        model.dual_coef_.T @ centred @ model.dual_coef_, np.eye(3), atol=1e-9
    )
    np.testing.assert_allclose(centred @ model.dual_coef_, values * model.dual_coef_, atol=1e-6)
    np.testing.assert_array_equal(model.X_fit_, Y)
    np.testing.assert_allclose(model.fit_transform(Y), centred @ model.dual_coef_, atol=1e-9)
    new = center_kernel_vectors(K(Y, Y[:4] + 0.1), K(Y, Y).mean(axis=0))
    np.testing.assert_allclose(model.transform(Y[:4] + 0.1), new.T @ model.dual_coef_, atol=1e-8)
    if kernel != "linear":
        assert model.ell_ == given[kernel]["ell"]
        scale = np.sqrt(4 * Y.var() / 2)
        assert KernelPCA(3, kernel).fit(Y).ell_ == pytest.approx(scale)


def test_isomap_keeps_its_graph_paths_and_coordinates():
    model = Isomap(7, n_components=3).fit(X)
    G = geodesic_distances(neighbourhood_graph(X, 7))
    np.testing.assert_allclose(model.dist_matrix_, G)
    assert model.n_neighbors_ == 7
    scaled = classical_scaling(G, 3)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(scaled.Y), atol=1e-6)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(scaled.Y), atol=1e-6)
    np.testing.assert_allclose(scaled.Y.T @ scaled.Y, np.diag(scaled.values[:3]), atol=1e-6)
    assert len(scaled.values) == 30
    assert Isomap().fit(X).embedding_.shape == (30, 2)


def test_factor_analysis_stops_by_its_tolerance_and_limit():
    Z = RNG.standard_normal((60, 2)) @ RNG.standard_normal((2, 5)) + RNG.standard_normal((60, 5))
    default = factor_analysis(Z, 2)
    for tol, same in ((1e-10, True), (1e-9, False), (1e-11, False)):
        assert np.array_equal(factor_analysis(Z, 2, tol=tol).noise, default.noise) is same
    with pytest.warns(UserWarning, match="factor_analysis"):
        factor_analysis(Z, 2, max_iter=3)
    np.testing.assert_allclose(default.mean, Z.mean(axis=0))
    model = default.loadings @ default.loadings.T + np.diag(default.noise)
    np.testing.assert_allclose(np.diag(model), Z.var(axis=0), rtol=1e-4)  # at every maximum


def test_unknown_ways_to_start_are_refused():
    with pytest.raises(ValueError, match="method must be one of"):
        PCA(method="power").fit(np.eye(3))
    with pytest.raises(ValueError, match="n_init"):
        spectral_clustering(np.ones((4, 4)), 2, np.random.default_rng(0), n_init=0)


def test_a_linear_kernel_keeps_its_digits_far_from_the_origin():
    X = np.random.default_rng(0).standard_normal((30, 2))
    far = KernelPCA(2).fit(X + 1e7)
    truth = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    np.testing.assert_allclose(far.explained_variance_, truth, rtol=1e-7)
