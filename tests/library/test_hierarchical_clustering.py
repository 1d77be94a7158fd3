"""Hierarchical clustering: linkages, algorithms, trees, cuts, splits, the estimator."""

import inspect
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster import hierarchy
from scipy.sparse.csgraph import minimum_spanning_tree as scipy_tree
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import DBSCAN
from sklearn.cluster import AgglomerativeClustering as Peer
from uncompiled import uncompiled

import mllib.hierarchical_clustering as module
from mllib.course.datasets import iris
from mllib.hierarchical_clustering import (
    AgglomerativeClustering,
    Tree,
    cophenetic,
    cut,
    dbscan,
    divide,
    leaf_order,
    linkage,
    minimum_spanning_tree,
    updated,
)
from mllib.k_means import best_partition, k_means

RNG = np.random.default_rng(0)
REDUCIBLE = ("single", "complete", "average", "ward")
EVERY = (*REDUCIBLE, "centroid")


def sample(seed, n=30, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def between(A, B, method):
    """The linkage distance of two sets of rows, from its definition."""
    D = np.linalg.norm(A[:, None] - B, axis=2)
    if method in ("single", "complete", "average"):
        return {"single": D.min, "complete": D.max, "average": D.mean}[method]()
    far = np.linalg.norm(A.mean(axis=0) - B.mean(axis=0))
    if method == "ward":
        far *= np.sqrt(2 * len(A) * len(B) / (len(A) + len(B)))
    return far


# Trees ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_the_merges_are_those_of_scipy(method, n):
    X = sample(n, n)
    tree, Z = linkage(X, method), hierarchy.linkage(X, method)
    assert_array_equal(tree.children, Z[:, :2])
    assert_allclose(tree.height, Z[:, 2], rtol=1e-10)
    assert_array_equal(tree.size, Z[:, 3])


@pytest.mark.parametrize("method", REDUCIBLE)
@pytest.mark.parametrize("algorithm", ["naive", "chain"])
def test_the_algorithms_agree(method, algorithm):
    X = sample(5, 40)
    a, b = linkage(X, method), linkage(X, method, algorithm=algorithm)
    assert_array_equal(a.children, b.children)
    assert_allclose(a.height, b.height, rtol=1e-10)
    assert_array_equal(a.size, b.size)


@pytest.mark.parametrize("method", EVERY)
def test_each_height_is_the_distance_of_the_two_clusters(method):
    X = sample(1)
    tree, members = linkage(X, method), [[i] for i in range(len(X))]
    for (a, b), h in zip(tree.children, tree.height):
        assert_allclose(h, between(X[members[a]], X[members[b]], method), rtol=1e-9)
        members.append(members[a] + members[b])


@pytest.mark.parametrize("method", EVERY)
def test_distances_given_or_computed(method):
    X = sample(2)
    a = linkage(X, method)
    b = linkage(squareform(pdist(X)), method, metric="precomputed")
    assert_array_equal(a.children, b.children)
    assert_allclose(a.height, b.height)


def test_other_metrics():
    X = sample(3)
    Z = hierarchy.linkage(pdist(X, "cityblock"), "average")
    tree = linkage(X, "average", metric="manhattan")
    assert_array_equal(tree.children, Z[:, :2])
    assert_allclose(tree.height, Z[:, 2])
    one = linkage(X, "single", metric="manhattan")
    assert_allclose(one.height, hierarchy.linkage(pdist(X, "cityblock"), "single")[:, 2])


def test_the_input_is_not_changed():
    D = squareform(pdist(sample(4)))
    before = D.copy()
    for method in EVERY:
        linkage(D, method, metric="precomputed")
    assert_array_equal(D, before)


@pytest.mark.parametrize("method", EVERY)
def test_compiled_and_plain_are_the_same(method):
    X = sample(6, 25)
    fast = linkage(X, method)
    naive = linkage(X, method, algorithm="naive")
    with uncompiled():
        for a, b in ((fast, linkage(X, method)), (naive, linkage(X, method, algorithm="naive"))):
            assert_array_equal(a.children, b.children)
            assert_allclose(a.height, b.height, rtol=1e-13)
            assert a.looked_at == b.looked_at


@pytest.mark.parametrize("n", [50, 100, 200])
def test_the_work_is_counted(n):
    X = sample(n, n)
    assert linkage(X, "average", algorithm="naive").looked_at == (n**3 - n) // 6
    assert linkage(X, "average").looked_at <= 2 * (n - 1) ** 2
    assert linkage(X, "single").looked_at == n * (n - 1) // 2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(REDUCIBLE), st.integers(2, 12))
def test_ties_leave_a_tree_whose_heights_never_fall(seed, method, n):
    X = np.random.default_rng(seed).integers(0, 3, (n, 2)).astype(float)
    for algorithm in ("chain", "naive"):
        tree = linkage(X, method, algorithm=algorithm)
        assert (np.diff(tree.height) >= -1e-12).all()
        assert sorted(tree.children.ravel()) == list(range(2 * n - 2))
        assert tree.size[-1] == n


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(REDUCIBLE), st.sampled_from([1e-8, 1.0, 1e8]))
def test_moving_scaling_and_shuffling(seed, method, scale):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    order = rng.permutation(12)
    a, b = linkage(X, method), linkage(scale * (X[order] + 3.0), method)
    assert_allclose(b.height, scale * a.height, rtol=1e-6)
    same = cut(a, 4)[order]
    assert_array_equal(np.unique(same, return_inverse=True)[0].size, 4)
    assert_array_equal(same[:, None] == same, cut(b, 4)[:, None] == cut(b, 4))


def test_single_linkage_is_the_minimum_spanning_tree():
    D = squareform(pdist(sample(7, 50)))
    pairs, weight = np.empty((49, 2), dtype=np.int64), np.empty(49)
    minimum_spanning_tree(D, pairs, weight)
    theirs = scipy_tree(D).tocoo()
    ours = {frozenset(pair) for pair in pairs.tolist()}
    assert ours == {frozenset(pair) for pair in zip(theirs.row.tolist(), theirs.col.tolist())}
    assert_allclose(np.sort(weight), np.sort(theirs.data))


def test_the_sum_of_half_the_squares_of_ward_is_the_scatter():
    X = iris().X
    assert_allclose(np.sum(linkage(X, "ward").height ** 2) / 2, np.sum((X - X.mean(0)) ** 2))


# Reading trees -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", REDUCIBLE)
def test_cuts_agree_with_scipy(method):
    X = sample(8, 40)
    tree, Z = linkage(X, method), hierarchy.linkage(X, method)
    assert_array_equal(cut(tree, 40), np.arange(40))  # older versions of scipy leave pairs at 0
    for K in (1, 2, 5, 30):
        theirs, ours = hierarchy.fcluster(Z, K, "maxclust"), cut(tree, K)
        assert_array_equal(ours[:, None] == ours, theirs[:, None] == theirs)
        assert sorted(set(ours)) == list(range(K))
        _, first = np.unique(ours, return_index=True)
        assert (np.diff(first) > 0).all()
    for h in (0.0, tree.height[10], 1.0, 99.0):
        theirs, ours = hierarchy.fcluster(Z, h * (1 + 1e-12), "distance"), cut(tree, height=h)
        assert_array_equal(ours[:, None] == ours, theirs[:, None] == theirs)


@pytest.mark.parametrize("method", EVERY)
def test_cophenetic_distances_agree_with_scipy(method):
    X = sample(9, 25)
    theirs = squareform(hierarchy.cophenet(hierarchy.linkage(X, method)))
    assert_allclose(cophenetic(linkage(X, method)), theirs, rtol=1e-10)


def test_leaves_agree_with_scipy():
    X = sample(10, 25)
    assert_array_equal(
        leaf_order(linkage(X)), hierarchy.leaves_list(hierarchy.linkage(X, "average"))
    )


# Density -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_dbscan_agrees_with_scikit_learn_but_for_contended_border_points(seed):
    rng, k = np.random.default_rng(seed), 3 + seed // 2
    X, eps = (rng.integers(0, 12, (80, 2)) * 1.0, 2.0) if seed % 2 else (sample(seed, 80, 2), 0.35)
    ours, theirs = dbscan(X, eps, k), DBSCAN(eps=eps, min_samples=k).fit(X)
    assert_array_equal(np.flatnonzero(ours.core), theirs.core_sample_indices_)
    assert_array_equal(ours.labels[ours.core], theirs.labels_[ours.core])
    assert_array_equal(ours.labels < 0, theirs.labels_ < 0)
    D = squareform(pdist(X))
    for i in np.flatnonzero(~ours.core & (ours.labels >= 0)):
        nearest = np.flatnonzero(ours.core)[D[i, ours.core].argmin()]
        assert D[i, nearest] <= eps
        assert ours.labels[i] == ours.labels[nearest]


def test_dbscan_with_its_default_and_with_another_metric():
    X = sample(14, 80, 2)
    assert_array_equal(dbscan(X, 0.4).core, dbscan(X, 0.4, 5).core)
    ours = dbscan(X, 0.5, 4, metric="manhattan")
    theirs = DBSCAN(eps=0.5, min_samples=4, metric="manhattan").fit(X)
    assert_array_equal(np.flatnonzero(ours.core), theirs.core_sample_indices_)
    assert_array_equal(ours.labels[ours.core], theirs.labels_[ours.core])


def test_dbscan_without_crowds_is_single_linkage_cut():
    X = sample(15, 40, 2)
    tree = linkage(X, "single", algorithm="naive")
    for h in (tree.height[10:30] + tree.height[11:31]) / 2:
        assert_array_equal(dbscan(X, h, 1).labels, cut(tree, height=h))


def test_dbscan_of_one_row_and_of_rows_in_another_order():
    assert dbscan([[1.0]], 1.0, 1).labels.tolist() == [0]
    assert dbscan([[1.0]], 1.0).labels.tolist() == [-1]
    X, order = sample(16, 70, 2), np.random.default_rng(16).permutation(70)
    a, b = dbscan(X, 0.5, 5), dbscan(X[order], 0.5, 5)
    same = a.labels[order]
    assert_array_equal(a.core[order], b.core)
    assert_array_equal(same < 0, b.labels < 0)
    assert_array_equal(same[:, None] == same, b.labels[:, None] == b.labels)


# Splitting -----------------------------------------------------------------------------------


def test_the_first_split_of_few_rows_is_the_best():
    X = sample(11, 9, 2)
    found = divide(X, 2)
    best = best_partition(X, 2)
    assert_array_equal(found.labels, best.labels)
    assert_allclose(found.trace[-1], best.objective)


@pytest.mark.parametrize("seed", range(8))
def test_larger_clusters_are_split_by_two_means_from_rows_far_apart(seed):
    X = sample(seed, 12, 2)
    one = X[np.linalg.norm(X - X.mean(axis=0), axis=1).argmax()]
    other = X[np.linalg.norm(X - one, axis=1).argmax()]
    fit, found = k_means(X, [one, other]), divide(X, 2, exact_up_to=1)
    assert_array_equal(found.labels == 0, fit.labels == fit.labels[0])
    assert_allclose(found.trace[-1], fit.trace[-1])
    assert fit.trace[-1] >= best_partition(X, 2).objective * (1 - 1e-12)


def test_splits_are_nested_and_lower_the_objective():
    X = iris().X
    labels = [divide(X, K).labels for K in range(1, 8)]
    trace = divide(X, 7).trace
    assert (np.diff(trace) < 0).all()
    for K, (coarse, fine) in enumerate(itertools.pairwise(labels), 1):
        assert len(set(zip(coarse, fine))) == K + 1 == len(set(fine))
        J = sum(np.sum((X[fine == k] - X[fine == k].mean(0)) ** 2) for k in set(fine))
        assert_allclose(J, trace[K])


# The estimator -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", REDUCIBLE)
def test_the_estimator_agrees_with_scikit_learn(method):
    X = sample(12, 60)
    ours, theirs = (E(4, linkage=method).fit(X) for E in (AgglomerativeClustering, Peer))
    assert_array_equal(
        ours.labels_[:, None] == ours.labels_, theirs.labels_[:, None] == theirs.labels_
    )
    full = Peer(None, linkage=method, distance_threshold=0.9).fit(X)
    mine = AgglomerativeClustering(linkage=method, distance_threshold=0.9).fit(X)
    assert mine.n_clusters_ == full.n_clusters_
    assert_allclose(mine.distances_, full.distances_)
    assert mine.n_leaves_ == 60
    assert_array_equal(ours.children_, linkage(X, method).children)


D3 = np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linkage(-D3, metric="precomputed"), "negative dissimilarities"),
        (lambda: linkage(D3 + np.triu(D3), metric="precomputed"), "must be symmetric"),
        (lambda: linkage(D3 + np.eye(3), metric="precomputed"), "zeros on its diagonal"),
        (lambda: linkage(D3[:2], metric="precomputed"), "must be square"),
        (lambda: linkage(np.where(D3 == 3, np.nan, D3), metric="precomputed"), "contains NaN"),
        (lambda: linkage(np.where(D3 == 3, np.inf, D3), metric="precomputed"), "infinity"),
        (lambda: linkage([[1.0]]), "minimum of 2"),
        (lambda: linkage([[0.0, 1e200], [1e200, 0.0]], "ward", metric="precomputed"), "X holds 1e"),
        (lambda: linkage(np.eye(3), metric=lambda a, b: 1e200 * (a != b).any()), "holds 1e"),
        (lambda: linkage(D3, "median"), "method must be one of"),
        (lambda: linkage(D3, "ward", metric="manhattan"), "needs metric 'euclidean'"),
        (lambda: linkage(D3, "centroid", algorithm="chain"), "reducible"),
        (lambda: linkage(D3, "ward", algorithm="spanning-tree"), "take 'chain'"),
        (lambda: cut(linkage(D3), 4), "at most the 3 observations"),
        (lambda: cut(linkage(D3), 0), "n_clusters must be an integer"),
        (lambda: cut(linkage(D3)), "either n_clusters or height"),
        (lambda: cut(linkage(D3), 2, height=1.0), "either n_clusters or height"),
        (lambda: cut(linkage(D3), height=-1.0), "height must be"),
        (lambda: dbscan(D3, 0), "eps must be a number"),
        (lambda: dbscan(D3, 1.0, 0), "min_samples must be an integer"),
        (lambda: dbscan(np.where(D3 == 3, np.nan, D3), 1.0), "contains NaN"),
        (lambda: dbscan(D3, 1.0, metric="precomputed"), "metric must be one of"),
        (lambda: dbscan(np.eye(3), 1.0, metric=lambda a, b: 1e200 * (a != b).any()), "holds 1e"),
        (lambda: divide(D3, 4), "3 distinct rows"),
        (lambda: divide([[1.0], [1.0]], 2), "1 distinct rows"),
        (lambda: AgglomerativeClustering(5).fit(D3), "at most the 3 observations"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_a_tree_whose_heights_fall_is_not_cut_by_height():
    corner = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.75]])
    tree = linkage(corner, "centroid")
    assert tree.height[1] < tree.height[0]
    assert cut(tree, 2).tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match="heights fall"):
        cut(tree, height=1.9)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(a * ac + b * bc) / (a + b)\n    if kind == 3", "(ac + bc) / 2\n    if kind == 3"),
        ("- c * ab) / (a + b + c)", "+ c * ab) / (a + b + c)"),
        ("return max(ac, bc)", "return min(ac, bc)"),
        ("sizes[a] += sizes[b]", "sizes[a] += 0"),
    ],
)
def test_a_wrong_update_gives_another_tree(old, new):
    source, names = inspect.getsource(module), {"__name__": "broken"}
    assert old in source
    exec(source.replace("@compiled\n", "").replace(old, new), names)
    X = sample(13, 25)
    right = [linkage(X, m).height for m in REDUCIBLE]
    wrong = [names["linkage"](X, m).height for m in REDUCIBLE]
    assert not all(np.allclose(a, b) for a, b in zip(right, wrong))


def test_the_record_and_the_formula():
    assert Tree._fields == ("children", "height", "size", "looked_at")
    assert updated(3, 4.0, 9.0, 1.0, 1.0, 1.0, 1.0) == (8 + 18 - 1) / 3


def test_the_hyperparameters_of_agglomerative_clustering():
    defaults = {"n_clusters": 2, "linkage": "ward", "metric": "euclidean"}
    assert AgglomerativeClustering().get_params() == defaults | {"distance_threshold": None}
    X = sample(3)
    for metric, name in (("manhattan", "cityblock"), ("chebyshev", "chebyshev")):
        model = AgglomerativeClustering(3, linkage="average", metric=metric).fit(X)
        assert_allclose(model.distances_, hierarchy.linkage(X, "average", name)[:, 2])
        assert model.n_features_in_ == 3


def test_small_clusters_are_split_in_the_best_way_if_asked():
    def by_search(seed, **limit):
        return divide(sample(seed, n=9, d=2), 2, **limit).trace[-1]

    best = [best_partition(sample(seed, n=9, d=2), 2).objective for seed in range(20)]
    assert_allclose([by_search(seed) for seed in range(20)], best)
    assert_allclose([by_search(seed, exact_up_to=9) for seed in range(20)], best)
    searched = np.array([by_search(seed, exact_up_to=8) for seed in range(20)])
    assert (searched >= np.array(best) - 1e-9).all()
    assert (searched > np.array(best) + 1e-6).any()
