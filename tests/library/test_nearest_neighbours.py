"""Nearest neighbours: behaviour, errors, edge cases, oracles, properties, wrong variants."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris
from sklearn.neighbors import KNeighborsClassifier as PeerClassifier
from sklearn.neighbors import KNeighborsRegressor as PeerRegressor
from uncompiled import uncompiled

from mllib.nearest_neighbours import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    angle,
    bayes_risk,
    check_metric,
    condensed_nn,
    cosine,
    cover_hart_bound,
    distance_contrast,
    edited_nn,
    hamming,
    hash_codes,
    jaccard,
    kd_query,
    kd_tree,
    knn_limit_risk,
    leave_one_out,
    leave_one_out_errors,
    lsh_index,
    lsh_query,
    mahalanobis,
    minkowski,
    nearest_law,
    neighbours,
    nn_limit_risk,
    nn_risk,
    pairwise_distances,
    pearson,
    vote_shares,
    vote_weights,
)

F = Fraction


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def by_sorting(X, Q, k):
    """Return the k nearest rows by a full sort of squared distances of whole numbers."""
    D = ((Q[:, None] - X) ** 2).sum(axis=2)
    return np.argsort(D, axis=1, kind="stable")[:, :k]


# Search --------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 7, 300])
@pytest.mark.parametrize("d", [1, 3, 12])
def test_all_searches_agree_on_grids_full_of_ties(rng, k, d):
    X, Q = rng.integers(-2, 3, (300, d)).astype(float), rng.integers(-3, 4, (40, d)).astype(float)
    expected = by_sorting(X, Q, k)
    found = neighbours(X, Q, k)
    assert np.array_equal(found.index, expected)
    tree = kd_query(kd_tree(X, leaf_size=5), Q, k)
    assert np.array_equal(tree.index, expected)
    assert np.array_equal(tree.distance, found.distance)
    with uncompiled():
        slow = neighbours(X, Q, k)
        slow_tree = kd_query(kd_tree(X, leaf_size=5), Q[:5], k)
    assert np.array_equal(slow.index, expected)
    assert np.array_equal(slow.distance, found.distance)
    assert np.array_equal(slow_tree.index, expected[:5])


def test_several_blocks_of_rows_and_columns_join(rng):
    X, Q = rng.standard_normal((1100, 4)), rng.standard_normal((600, 4))
    distance, index = cKDTree(X).query(Q, 6)
    for found in (neighbours(X, Q, 6), kd_query(kd_tree(X), Q, 6)):
        assert np.array_equal(found.index, index)
        assert np.allclose(found.distance, distance, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_scale_and_offset_do_not_matter(rng, scale):
    X, Q = rng.standard_normal((200, 3)), rng.standard_normal((50, 3))
    plain, moved = neighbours(X, Q, 4), neighbours(scale * X, scale * Q, 4)
    assert np.array_equal(plain.index, moved.index)
    assert np.allclose(moved.distance, scale * plain.distance)
    far = neighbours(X + 1e6, Q + 1e6, 4)
    assert np.mean(far.index == plain.index) > 0.999


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, 100, 1e6])
def test_distances_whose_powers_leave_the_floats(rng, p):
    for scale in (1e-140, 1e-3, 1.0, 1e3, 1e140):
        X, Y = rng.standard_normal((4, 3)) * scale, rng.standard_normal((6, 3)) * scale
        X[0] = Y[0]
        want = [[minkowski(a, b, p) for b in Y] for a in X]
        assert np.allclose(pairwise_distances(X, Y, "minkowski", p), want, rtol=1e-12, atol=0)
        if p == 2:
            assert np.allclose(pairwise_distances(X, Y), want, rtol=1e-12, atol=0)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "hamming", "angular", "minkowski"])
def test_other_metrics_by_sorting(rng, metric):
    X, Q = rng.integers(1, 6, (80, 3)).astype(float), rng.integers(1, 6, (20, 3)).astype(float)
    D = pairwise_distances(Q, X, metric, p=3)
    order = np.argsort(D, axis=1, kind="stable")[:, :5]
    found = neighbours(X, Q, 5, metric=metric, p=3)
    assert np.array_equal(found.index, order)
    assert np.allclose(found.distance, np.take_along_axis(D, order, axis=1))


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_a_tree_finds_what_brute_force_finds(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 80)), int(rng.integers(1, 5))
    X, k = np.round(3 * rng.standard_normal((n, d))), int(rng.integers(1, n + 1))
    Q = np.round(4 * rng.standard_normal((5, d)))
    tree = kd_tree(X, leaf_size=int(rng.integers(1, 9)))
    assert sorted(tree.index) == list(range(n))
    assert np.array_equal(kd_query(tree, Q, k).index, by_sorting(X, Q, k))


def test_a_tree_of_equal_points_and_of_one_point():
    X = np.ones((50, 2))
    found = kd_query(kd_tree(X, leaf_size=4), [[1.0, 1.0]], 3)
    assert found.index.tolist() == [[0, 1, 2]]
    assert found.distance.max() == 0
    assert kd_query(kd_tree([[2.0]]), [[5.0]]).distance.tolist() == [[3.0]]


def test_a_bound_that_also_drops_ties_loses_them(rng):
    X = rng.integers(0, 3, (200, 2)).astype(float)
    tree, Q = kd_tree(X, leaf_size=1), rng.integers(0, 3, (50, 2)).astype(float)
    first = kd_query(tree, Q, 1)
    assert np.array_equal(first.index[:, 0], by_sorting(X, Q, 1)[:, 0])
    # a tree whose boxes are a little too small drops boxes that hold the answer
    small = tree._replace(low=tree.low + 0.5, high=tree.high + 0.5)
    assert not np.array_equal(kd_query(small, Q, 1).index, first.index)


def test_the_work_of_a_tree_is_counted(rng):
    X, Q = rng.uniform(size=(4000, 2)), rng.uniform(size=(30, 2))
    work = kd_query(kd_tree(X), Q).looked_at
    assert work.min() >= 8
    assert work.mean() < 60
    assert np.all(kd_query(kd_tree(X), Q, 4000).looked_at == 4000)
    each = [kd_query(kd_tree(X), [q]).looked_at[0] for q in Q]
    assert work.tolist() == each
    assert each != each[::-1]


def test_equally_near_inputs_share_the_probability_of_their_level():
    D = np.array([[0.0, 1, 1], [1, 0, 1], [1, 1, 0]])
    w = np.array([0.5, 0.3, 0.2])
    law = nearest_law(D, w, 2)
    np.testing.assert_allclose(law[0], [1 - 0.25, 0.6 * 0.25, 0.4 * 0.25])


def test_an_index_holds_its_rows_and_its_planes():
    X = np.random.default_rng(3).normal(size=(9, 4))
    index = lsh_index(X, 2, 5, np.random.default_rng(4))
    np.testing.assert_array_equal(index.X, X)
    planes = np.random.default_rng(4).standard_normal((2, 5, 4))
    np.testing.assert_array_equal(index.normals, planes)


def test_leave_one_out_passes_over_the_row_itself(rng):
    X = rng.integers(0, 3, (60, 2)).astype(float)  # many equal rows
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    assert np.array_equal(leave_one_out(X, 4).index, np.argsort(D, axis=1, kind="stable")[:, :4])
    y = rng.integers(0, 3, 60)
    near = y[np.argsort(D, axis=1, kind="stable")]
    for k, e in zip((1, 2, 5), leave_one_out_errors(X, y, [1, 2, 5])):
        votes = (near[:, :k, None] == np.arange(3)).sum(axis=1).argmax(axis=1)
        assert e == np.mean(votes != y)


# Estimators ----------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "auto"])
@pytest.mark.parametrize("k", [1, 5, 14])
def test_classifier_equals_scikit_learn(rng, weights, algorithm, k):
    X, y = load_digits(return_X_y=True)
    X = X + 1e-3 * rng.standard_normal(X.shape)  # no ties of distance
    ours = KNeighborsClassifier(k, weights=weights, algorithm=algorithm).fit(X[:800], y[:800])
    peer = PeerClassifier(k, weights=weights).fit(X[:800], y[:800])
    assert np.allclose(ours.predict_proba(X[800:1200]), peer.predict_proba(X[800:1200]))
    assert np.array_equal(ours.predict(X[800:1200]), peer.predict(X[800:1200]))
    index = ours.kneighbors(X[800:900], 3)[1]
    assert np.array_equal(index, peer.kneighbors(X[800:900], 3)[1])


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_regressor_equals_scikit_learn(rng, weights, metric):
    X, y, Q = rng.standard_normal((700, 3)), rng.standard_normal(700), rng.standard_normal((80, 3))
    ours = KNeighborsRegressor(4, weights=weights, metric=metric).fit(X, y)
    peer = PeerRegressor(4, weights=weights, metric=metric).fit(X, y)
    assert np.allclose(ours.predict(Q), peer.predict(Q), rtol=1e-10)


def test_cross_validation_equals_scikit_learn(rng):
    from sklearn.model_selection import cross_val_score

    X = rng.standard_normal((90, 3))
    y = X[:, 0] - X[:, 1]
    ours, theirs = (cross_val_score(m(), X, y) for m in (KNeighborsRegressor, PeerRegressor))
    assert np.allclose(ours, theirs)


def test_votes_tie_towards_the_first_class_and_rows_towards_the_lowest():
    X, y = [[-1.0], [1.0], [3.0]], ["b", "a", "b"]
    assert KNeighborsClassifier(2).fit(X, y).predict([[0.0]]) == ["a"]
    assert KNeighborsClassifier(1).fit(X, y).predict([[0.0]]) == ["b"]
    assert KNeighborsClassifier(1).fit(X, y).predict([[2.0]]) == ["a"]


def test_weights():
    assert vote_weights([[1e-300, 2e-300]], "distance").tolist() == [[1.0, 0.5]]
    assert vote_weights([[0.0, 0.0, 1.0]], "distance").tolist() == [[1.0, 1.0, 0.0]]
    assert vote_shares([[1, 0]], [[3.0, 1.0]], 3).tolist() == [[0.25, 0.75, 0.0]]
    with pytest.raises(ValueError, match="finite numbers >= 0"):
        vote_weights([[1.0]], lambda d: -d)
    with pytest.raises(ValueError, match="widen the function"):
        vote_weights([[1.0]], lambda d: 0 * d)
    with pytest.raises(ValueError, match=r"lie in 0\.\.1"):
        vote_shares([[2]], [[1.0]], 2)
    with pytest.raises(ValueError, match="whole numbers"):
        vote_shares([[0.5]], [[1.0]], 2)


def test_published_iris_leave_one_out():
    X, y = load_iris(return_X_y=True)
    assert (leave_one_out_errors(X, y, [1, 5]) * 150).round().tolist() == [6, 5]


@pytest.mark.parametrize("Model", [KNeighborsClassifier, KNeighborsRegressor])
def test_bad_input_is_named(Model):
    X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0, 1, 1]
    with pytest.raises(ValueError, match="n_neighbors = 5 neighbours cannot be found among 3"):
        Model().fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors must be an integer"):
        Model(0).fit(X, y)
    with pytest.raises(ValueError, match="contains NaN"):
        Model(1).fit([[np.nan, 0], [0, 0], [1, 1]], y)
    with pytest.raises(ValueError, match=r"'cosine' is no metric.*triangle"):
        Model(1, metric="cosine").fit(X, y)
    with pytest.raises(ValueError, match="'sqeuclidean' is no metric"):
        Model(1, metric="sqeuclidean").fit(X, y)
    with pytest.raises(ValueError, match="metric must be one of"):
        Model(1, metric="euklid").fit(X, y)
    with pytest.raises(ValueError, match="p must be at least 1"):
        Model(1, metric="minkowski", p=0.5).fit(X, y)
    with pytest.raises(ValueError, match="breaks the axiom 'triangle'"):
        Model(1, metric=lambda a, b: float((a - b) @ (a - b))).fit([[0.0], [1.0], [2.0]], y)
    with pytest.raises(ValueError, match="breaks the axiom 'identity'"):
        Model(1, metric=lambda a, b: abs(a[0] - b[0])).fit([[0, 1], [0, 2], [1, 1]], y)
    with pytest.raises(ValueError, match="take 'brute'"):
        Model(1, metric="manhattan", algorithm="kd_tree").fit(X, y)
    with pytest.raises(ValueError, match="algorithm must be one of"):
        Model(1, algorithm="ball_tree").fit(X, y)
    with pytest.raises(ValueError, match="weights must be one of"):
        Model(1, weights="equal").fit(X, y)
    with pytest.raises(ValueError, match="only 0 and 1"):
        Model(1, metric="jaccard").fit(X, y).predict(X)
    with pytest.raises(ValueError, match="no direction"):
        Model(1, metric="angular").fit([[0, 0], [0, 1], [1, 0]], y).predict(X)
    with pytest.raises(ValueError, match="among 3"):
        Model(1).fit(X, y).kneighbors(X, 4)
    fitted = Model(1, metric=lambda a, b: float(np.abs(a - b).sum())).fit(X, y)
    assert np.array_equal(fitted.predict(X), y)


def test_one_class_and_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="needs at least 2 classes"):
        KNeighborsClassifier(1).fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KNeighborsRegressor(1).fit([[0.0], [1.0]], [1.0])


def test_functions_name_bad_input():
    X = [[0.0, 1.0], [2.0, 3.0]]
    with pytest.raises(ValueError, match="k = 3 neighbours"):
        neighbours(X, X, 3)
    with pytest.raises(ValueError, match="Q must have the 2 columns"):
        neighbours(X, [[1.0]], 1)
    with pytest.raises(ValueError, match="Y must have the 2 columns"):
        pairwise_distances(X, [[1.0]])
    with pytest.raises(ValueError, match="Q must have 2 columns"):
        kd_query(kd_tree(X), [[1.0]])
    with pytest.raises(ValueError, match="k = 3"):
        kd_query(kd_tree(X), X, 3)
    with pytest.raises(ValueError, match="leaf_size"):
        kd_tree(X, leaf_size=0)
    with pytest.raises(ValueError, match="k = 2"):
        leave_one_out(X, 2)
    with pytest.raises(ValueError, match="must be odd"):
        knn_limit_risk(0.1, 2)
    with pytest.raises(ValueError, match=r"r must lie in \[0, 1/2\]"):
        knn_limit_risk(0.6, 3)
    with pytest.raises(ValueError, match=r"bayes must lie in \[0, 0\.5\]"):
        cover_hart_bound(0.7)
    with pytest.raises(ValueError, match="eta must be of shape"):
        bayes_risk([[0.5, 0.5]], [0.5, 0.5])
    with pytest.raises(ValueError, match="sum to one"):
        nn_limit_risk([[0.5, 0.4]], [1.0])
    with pytest.raises(ValueError, match="normals must be at most 62"):
        hash_codes(X, np.ones((63, 2)))
    with pytest.raises(ValueError, match="equal rows with different labels"):
        condensed_nn([[0.0], [0.0]], [0, 1])
    with pytest.raises(ValueError, match="Sigma must be positive definite"):
        mahalanobis([0, 0], [1, 1], [[1, 2], [2, 1]])


# Distances -----------------------------------------------------------------------------------


def test_distances_against_scipy(rng):
    from scipy.spatial import distance

    a, b, B = rng.standard_normal(5), rng.standard_normal(5), rng.standard_normal((5, 5))
    S = B @ B.T + np.eye(5)
    assert np.isclose(mahalanobis(a, b, S), distance.mahalanobis(a, b, np.linalg.inv(S)))
    assert np.isclose(minkowski(a, b, 3), distance.minkowski(a, b, 3))
    assert np.isclose(1 - cosine(a, b), distance.cosine(a, b))
    assert np.isclose(pearson(a, b), np.corrcoef(a, b)[0, 1])
    s, t = rng.integers(0, 2, 20), rng.integers(0, 2, 20)
    assert np.isclose(hamming(s, t), distance.hamming(s, t))
    assert np.isclose(1 - jaccard(s, t), distance.jaccard(s.astype(bool), t.astype(bool)))
    assert jaccard([0, 0], [0, 0]) == 1
    assert np.isclose(angle([1.0, 0], [1, 1e-9]), 1e-9)
    assert np.isclose(cosine(1e-140 * a, 1e140 * b), cosine(a, b))
    with pytest.raises(ValueError, match="entries must be 0 or between 1e-150"):
        cosine(1e-200 * a, b)


def test_violated_axioms_are_measured():
    points = np.array([[0.0], [1.0], [2.0]])
    assert check_metric(lambda a, b: abs(a - b)[0], points) == (0, 0, 0, 0)
    assert check_metric(lambda a, b: -abs(a - b)[0], points).negative == 2
    assert check_metric(lambda a, b: 1 + abs(a - b)[0], points).identity == 1
    assert check_metric(lambda a, b: 0.0, points).identity == np.inf
    assert check_metric(lambda a, b: max(a[0] - b[0], 0), points).symmetry == 2


# Risks ---------------------------------------------------------------------------------------


def test_finite_risks_by_enumeration():
    at, w = np.array([[0], [1], [3]]), np.array([F(1, 2), F(1, 3), F(1, 6)])
    eta = np.array([[F(1, 4), F(3, 4)], [F(1), F(0)], [F(2, 3), F(1, 3)]])
    total = F(0)
    for a, b in itertools.product(range(3), repeat=2):
        for s, t in itertools.product((0, 1), repeat=2):
            for x in range(3):
                near = (a, s) if abs(at[x] - at[a]) <= abs(at[x] - at[b]) else (b, t)
                total += w[a] * w[b] * eta[a, s] * eta[b, t] * w[x] * (1 - eta[x, near[1]])
    assert nn_risk(cdist(at, at), w, eta, 2) == total
    law = nearest_law(cdist(at, at), w, 7)
    assert law.sum(axis=1).tolist() == [1, 1, 1]


def test_limits_on_random_posteriors(rng):
    for K in (2, 3, 6):
        eta, w = rng.dirichlet(np.ones(K), 50), rng.dirichlet(np.ones(50))
        R, limit = bayes_risk(eta, w), nn_limit_risk(eta, w)
        assert R <= limit <= cover_hart_bound(R, K)
    assert np.allclose(cover_hart_bound(np.array([0.0, 0.5])), [0, 0.5])
    r = np.linspace(0, 0.5, 11)
    assert np.allclose(knn_limit_risk(r, 1), 2 * r * (1 - r))
    assert np.all(knn_limit_risk(r, 3) <= knn_limit_risk(r, 1) + 1e-15)


def test_contrast():
    assert distance_contrast([[1.0, 0.0], [0.0, 4.0]], [0.0, 0.0]) == 3
    assert distance_contrast([[1.0], [2.0]], [1.0]) == np.inf


# Hashing and smaller samples -----------------------------------------------------------------


def test_hash_tables_return_true_neighbours_of_their_buckets(rng):
    X, Q = rng.standard_normal((300, 6)), rng.standard_normal((40, 6))
    tables = lsh_index(X, 3, 4, rng)
    found = lsh_query(tables, Q, 2)
    for i, q in enumerate(Q):
        same = np.zeros(300, dtype=bool)
        for planes in tables.normals:
            same |= ((X @ planes.T > 0) == (q @ planes.T > 0)).all(axis=1)
        rows = np.flatnonzero(same)
        angles = np.array([angle(q, x) for x in X[rows]])
        best = np.argsort(angles, kind="stable")[:2]
        assert found.candidates[i] == len(rows)
        assert found.index[i].tolist() == rows[best].tolist()
        assert np.allclose(found.angle[i], angles[best])
    exact = neighbours(X, Q, 2, metric="angular")
    assert np.all(found.angle >= exact.distance - 1e-12)
    everything = lsh_query(lsh_index(X, 60, 2, rng), Q, 2)
    assert np.array_equal(everything.index, exact.index)


def test_hash_tables_refuse_a_row_without_a_direction(rng):
    with pytest.raises(ValueError, match="each row of X must not be 0"):
        lsh_index(np.zeros((3, 2)), 2, 2, rng)


def test_a_query_without_candidates_says_so():
    tables = lsh_index([[1.0, 0.0]], 1, 62, np.random.default_rng(1))
    found = lsh_query(tables, [[-1.0, 0.0]])
    assert found.index.tolist() == [[-1]]
    assert found.angle.tolist() == [[np.inf]]
    assert found.candidates.tolist() == [0]


def test_condensing_and_editing(rng):
    X = rng.standard_normal((150, 2))
    y = (X[:, 0] > 0).astype(int)
    kept = condensed_nn(X, y)
    assert KNeighborsClassifier(1).fit(X[kept], y[kept]).score(X, y) == 1
    assert len(kept) < 60
    assert kept[0] == 0
    with uncompiled():
        assert np.array_equal(condensed_nn(X, y), kept)
    line = [[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]]
    assert edited_nn(line, [0, 1, 0, 1, 1, 1], 1).tolist() == [3, 4, 5]


def test_condensing_ends_or_refuses():
    assert condensed_nn([[0.0], [1e150]], [0, 1]).tolist() == [0, 1]
    assert condensed_nn([[0.0], [1e-150]], [0, 1]).tolist() == [0, 1]
    with pytest.raises(ValueError, match="entries must be 0 or between"):
        condensed_nn([[0.0], [1e200]], [0, 1])
    with pytest.raises(ValueError, match="entries must be 0 or between"):
        condensed_nn([[0.0], [1e-200]], [0, 1])
    with pytest.raises(ValueError, match="squared distance rounds to 0"):
        condensed_nn([[2e-150], [2.000000000000001e-150], [1.0]], [0, 1, 1])


METRICS = [{}, {"metric": "manhattan"}, {"metric": "minkowski", "p": 1.2}, {"metric": "minkowski"}]


@pytest.mark.parametrize("given", METRICS, ids=str)
def test_every_search_takes_the_metric_that_is_given(rng, given):
    X, Q = rng.standard_normal((40, 3)), rng.standard_normal((9, 3))
    X[:, 0] *= 3  # the metrics disagree on who is near
    y, t = (X[:, 1] > 0).astype(int), rng.standard_normal(40)
    power = {"manhattan": 1.0}.get(given.get("metric"), given.get("p", 2.0))
    D, own = cdist(Q, X, "minkowski", p=power), cdist(X, X, "minkowski", p=power)
    np.fill_diagonal(own, np.inf)
    order, others = np.argsort(D, axis=1), np.argsort(own, axis=1)
    assert np.allclose(pairwise_distances(Q, X, **given), D)
    assert np.array_equal(neighbours(X, Q, 4, **given).index, order[:, :4])
    assert np.array_equal(neighbours(X, Q, **given).index, order[:, :1])
    found = leave_one_out(X, 4, **given)
    assert np.array_equal(found.index, others[:, :4])
    assert np.allclose(found.distance, np.take_along_axis(own, others[:, :4], axis=1))
    assert np.array_equal(leave_one_out(X, **given).index, others[:, :1])
    outvoted = {k: (y[others[:, :k]].mean(axis=1) > 0.5) != y for k in (1, 3, 5)}
    errors = leave_one_out_errors(X, y, [1, 5], **given)
    assert np.array_equal(errors, [outvoted[1].mean(), outvoted[5].mean()])
    assert np.array_equal(edited_nn(X, y, **given), np.flatnonzero(~outvoted[3]))
    assert np.array_equal(edited_nn(X, y, 5, **given), np.flatnonzero(~outvoted[5]))
    for weights in ({}, {"weights": "distance"}, {"weights": lambda d: np.exp(-d)}):
        w = vote_weights(np.sort(D, axis=1)[:, :6], **weights)
        near = order[:, :6]
        regressor = KNeighborsRegressor(6, **weights, **given).fit(X, t)
        assert np.allclose(regressor.predict(Q), (w * t[near]).sum(axis=1) / w.sum(axis=1))
        classifier = KNeighborsClassifier(6, **weights, **given).fit(X, y)
        share = (w * y[near]).sum(axis=1) / w.sum(axis=1)
        assert np.allclose(classifier.predict_proba(Q)[:, 1], share)
        for model in (regressor, classifier):
            assert model.n_samples_fit_ == 40
            distance, index = model.kneighbors(Q)
            assert np.array_equal(index, near)
            assert np.allclose(distance, np.sort(D, axis=1)[:, :6])
            assert np.array_equal(model.kneighbors(Q, 2)[1], order[:, :2])


def test_what_is_left_out_of_trees_tables_and_bounds(rng):
    X = rng.standard_normal((100, 2))
    sizes = [np.array_equal(kd_tree(X).start, kd_tree(X, m).start) for m in (1, 16, 100)]
    assert sizes == [False, True, False]
    assert kd_query(kd_tree(X), X).index.ravel().tolist() == list(range(100))
    tables = lsh_index(X, 4, 3, rng)
    assert lsh_query(tables, X).index.ravel().tolist() == list(range(100))
    assert cover_hart_bound(0.25) == cover_hart_bound(0.25, 2) != cover_hart_bound(0.25, 3)
    assert np.array_equal(vote_weights([[1.0, 2.0]]), [[1.0, 1.0]])
    assert minkowski([0, 0], [3, 4]) == 5 != minkowski([0, 0], [3, 4], 3)


def test_the_tables_hold_each_row_under_its_code(rng):
    X = rng.standard_normal((30, 3))
    tables = lsh_index(X, 4, 3, rng)
    for normals, codes, order in zip(tables.normals, tables.codes, tables.order):
        assert np.array_equal(codes, hash_codes(X, normals)[order])
        assert sorted(order) == list(range(30))
    found = lsh_query(tables, X[:5], 3)
    for i, (index, angles) in enumerate(zip(found.index, found.angle)):
        kept = index >= 0
        assert np.allclose(angles[kept], [angle(X[i], X[j]) for j in index[kept]], atol=1e-7)
        same = [
            hash_codes(X, normals) == hash_codes(X[i : i + 1], normals)
            for normals in tables.normals
        ]
        assert found.candidates[i] == np.any(same, axis=0).sum()


def test_each_violated_axiom_is_measured_by_itself():
    def found(d):
        return check_metric(lambda a, b: d(float(a[0]), float(b[0])), [[0.0], [1.0], [3.0]])

    assert tuple(found(lambda a, b: abs(a - b))) == (0, 0, 0, 0)
    assert found(lambda a, b: abs(a - b) - 2 * (a != b)).negative == 1.0
    assert found(lambda a, b: abs(a - b) + 0.5).identity == 0.5
    assert found(lambda a, b: abs(a - b) + (b - a) / 4).symmetry == 1.5
    assert found(lambda a, b: (a - b) ** 2).triangle == 9 - 1 - 4
