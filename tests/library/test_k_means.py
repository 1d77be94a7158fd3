"""k-means: behaviour, errors, edge cases, oracles, published numbers, properties."""

import itertools
from contextlib import nullcontext
from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans as PeerKMeans
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score
from uncompiled import uncompiled

import mllib.k_means as module
from mllib.core.chunks import ChunkError
from mllib.core.compiled import compiling
from mllib.k_means import (
    KMeans,
    MiniBatchKMeans,
    adjusted_rand_index,
    assign,
    bell,
    best_partition,
    best_partition_on_line,
    calinski_harabasz,
    chunk_statistic,
    inertia,
    inertia_curve,
    k_means,
    k_means_over_chunks,
    k_means_plus_plus,
    k_means_restarts,
    mini_batch_step,
    next_centres,
    partitions,
    random_partition,
    seed_centres,
    selection_probabilities,
    single_moves,
    stirling2,
    update,
)

EIGHT = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
RECTANGLE = np.array([[0, 0], [0, 1], [3, 0], [3, 1]], dtype=float)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def by_hand(X, centres, w=None):
    """Return labels and J from all distances, one at a time."""
    w = np.ones(len(X)) if w is None else w
    D = np.array([[sum((a - b) ** 2 for a, b in zip(x, m)) for m in centres] for x in X])
    return D.argmin(axis=1), float((w * D.min(axis=1)).sum())


def lloyd_by_hand(X, centres, steps):
    for _ in range(steps):
        labels, _ = by_hand(X, centres)
        centres = np.array([X[labels == k].mean(axis=0) for k in range(len(centres))])
    return centres


# The half-steps ----------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 3, 15, 16, 40])
@pytest.mark.parametrize("whole", [True, False])
def test_loop_blocks_and_product_assign_alike(d, whole, rng):
    X, centres = rng.standard_normal((1500, d)), rng.standard_normal((7, d))
    if whole:  # a coarse grid, full of ties
        X, centres = np.round(X), np.round(centres)
    expected, J = by_hand(X[:200], centres)
    found = assign(X, centres)
    assert np.array_equal(found.labels[:200], expected)
    assert found.distances[:200].sum() == pytest.approx(J, rel=1e-12)
    for function, rows in ((module.nearest_centres, X), (module._nearest_in_blocks, X.T.copy())):
        labels, distances = np.zeros(1500, np.int64), np.empty(1500)
        function(rows, centres, labels, distances)
        assert np.array_equal(labels, found.labels)
        if compiling():  # else numpy has summed, in an order of its own
            assert np.array_equal(distances, found.distances)
        np.testing.assert_allclose(distances, found.distances, rtol=1e-12)
    with uncompiled():
        slow = assign(X, centres)
    assert np.array_equal(slow.labels, found.labels)
    np.testing.assert_allclose(slow.distances, found.distances, rtol=1e-12)


@pytest.mark.parametrize("way", [nullcontext, uncompiled])
def test_digits_far_from_the_origin_are_kept(way, rng):
    X = rng.standard_normal((300, 20)) + 1e8
    with way():
        found = assign(X, X[:5])
    near = [np.argmin([((x - m) ** 2).sum() for m in X[:5]]) for x in X]
    assert np.array_equal(found.labels, near)
    assert found.distances[:5].max() == 0


def test_update_is_the_weighted_mean_and_refuses_an_empty_cluster(rng):
    X, w, labels = rng.standard_normal((30, 3)), rng.uniform(size=30), rng.integers(0, 4, 30)
    centres = update(X, labels, 4, w)
    for k in range(4):
        expected = np.average(X[labels == k], axis=0, weights=w[labels == k])
        np.testing.assert_allclose(centres[k], expected)
    with pytest.raises(ValueError, match=r"1 of 0\.\.2 is empty"):
        update(X[:2], [0, 2], 3)
    far = update(X + 1e9, labels, 4) - update(X, labels, 4)
    np.testing.assert_allclose(far, 1e9, rtol=1e-15)


def test_inertia_with_given_and_with_nearest_labels(rng):
    X, centres = rng.standard_normal((40, 3)), rng.standard_normal((4, 3))
    labels, w = rng.integers(0, 4, 40), rng.uniform(size=40)
    assert inertia(X, centres, sample_weight=w) == pytest.approx(by_hand(X, centres, w)[1])
    direct = sum(w[i] * ((X[i] - centres[labels[i]]) ** 2).sum() for i in range(40))
    assert inertia(X, centres, labels, w) == pytest.approx(direct)


# Lloyd's algorithm -------------------------------------------------------------------------------


def test_each_step_is_the_step_by_hand_and_j_falls(rng):
    X = rng.standard_normal((60, 3))
    for steps in range(1, 6):
        fit = k_means(X, X[:5], max_iter=steps)
        np.testing.assert_allclose(fit.centres, lloyd_by_hand(X, X[:5], steps), atol=1e-12)
        labels, J = by_hand(X, fit.centres)
        assert np.array_equal(fit.labels, labels)
        assert fit.trace[-1] == pytest.approx(J)
        assert len(fit.trace) == steps + 1 == fit.n_iter + 1
        assert not fit.converged
    fit = k_means(X, X[:5])
    assert fit.converged
    assert (np.diff(fit.trace)[:-1] < 0).all()
    np.testing.assert_allclose(update(X, fit.labels, 5), fit.centres, atol=1e-12)


def test_rectangle_has_two_fixed_points():
    wide = k_means(RECTANGLE, [[0, 0.5], [3, 0.5]])
    tall = k_means(RECTANGLE, [[1.5, 0], [1.5, 1]])
    assert (wide.trace[-1], tall.trace[-1]) == (1, 9)
    assert wide.converged
    assert tall.converged
    assert best_partition(RECTANGLE, 2).objective == 1


def test_weights_mean_repetition(rng):
    X, w = rng.standard_normal((25, 2)), rng.integers(0, 4, 25)
    start = X[w > 0][:3]
    heavy, rows = k_means(X, start, sample_weight=w), k_means(np.repeat(X, w, axis=0), start)
    np.testing.assert_allclose(heavy.centres, rows.centres, atol=1e-12)
    np.testing.assert_allclose(heavy.trace, rows.trace)
    assert heavy.n_iter == rows.n_iter


def test_the_first_empty_cluster_moves_to_the_farthest_row():
    X = np.array([[0.0], [1.0], [10.0]])
    fit = k_means(X, [[0.5], [100.0]], max_iter=1)
    np.testing.assert_allclose(fit.centres[:, 0], [11 / 3, 10])
    fit = k_means(X, [[0.5], [100.0], [200.0]])
    assert fit.converged
    assert sorted(fit.centres[:, 0]) == [0, 1, 10]
    weighted = k_means(X, [[0.5], [100.0]], sample_weight=[1, 1, 0])
    assert sorted(weighted.centres[:, 0]) == [0, 1]


def test_more_clusters_than_distinct_rows_are_refused():
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    with pytest.raises(ValueError, match="too few different rows for 3 clusters, 2 or fewer"):
        k_means(X, [[0.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match="too few different rows"):
        KMeans(3, random_state=0).fit(X)
    assert k_means(X, [[0.0], [0.2]]).trace[-1] == 0


def test_coincident_centres_come_apart(rng):
    X = rng.standard_normal((30, 2))
    fit = k_means(X, np.zeros((4, 2)))
    assert fit.converged
    assert set(fit.labels) == {0, 1, 2, 3}


def test_a_relative_tolerance_stops_earlier(rng):
    X = rng.standard_normal((400, 2))
    exact, rough = k_means(X, X[:6]), k_means(X, X[:6], tol=0.01)
    assert (rough.labels == assign(X, rough.centres).labels).all()
    assert rough.converged
    assert rough.n_iter < exact.n_iter
    fall = -np.diff(rough.trace) / rough.trace[:-1]
    assert fall[-1] <= 0.01 < fall[:-1].min()


def test_without_a_tolerance_only_labels_stop_a_run():
    X = np.array([[0.0], [1], [2], [10], [11], [1e12], [1.2e12]])
    fit = k_means(X, [[0.0], [1], [1.1e12]])  # J rounds to the same number at every step
    assert fit.converged
    assert fit.centres[:, 0].tolist() == [1, 10.5, 1.1e12]
    assert k_means(X, [[0.0], [1], [1.1e12]], tol=1e-6).centres[1, 0] == 6


def test_a_random_partition_starts_near_the_mean(rng):
    X = rng.standard_normal((600, 2)) * 3
    spread = (random_partition(X, 10, rng) ** 2).sum(axis=1).mean()
    assert spread < 0.1 * (X**2).sum(axis=1).mean()


def test_bad_input_is_refused_in_a_sentence(rng):
    X = rng.standard_normal((10, 2))
    for call, message in [
        (lambda: k_means(X, [[1.0]]), "centres must have 2 columns"),
        (lambda: k_means(X, X[:2], max_iter=0), "max_iter must be an integer"),
        (lambda: k_means(X, X[:2], tol=-1), "tol must be a number"),
        (lambda: k_means(X, X[:2], sample_weight=-np.ones(10)), "sample_weight must not be neg"),
        (lambda: k_means(X, X[:2], sample_weight=np.zeros(10)), "not all of it zero"),
        (lambda: k_means_plus_plus(X, 11, rng), "K must be an integer"),
        (lambda: k_means_plus_plus(X, 2, 0), "rng must be"),
        (lambda: seed_centres(X, 2, rng, power=-1), "power must be"),
        (lambda: selection_probabilities(X, X[:1], power=-1), "power must be"),
        (lambda: k_means_restarts(X, 2, rng, init="best"), "init must be one of"),
        (lambda: k_means_restarts(X, 11, rng), "n_samples=10"),
        (lambda: update(X, np.zeros(9, int), 1), "labels must hold 10"),
        (lambda: update(X, np.full(10, 3), 2), "labels must be below K = 2"),
        (lambda: calinski_harabasz(X, np.zeros(10)), "labels must take between 2 and 9"),
        (lambda: adjusted_rand_index([0, 1], [0, 1, 2]), "one length"),
        (lambda: partitions(40, 5), "too many to list"),
        (lambda: stirling2(0, 1), "n must be an integer"),
        (lambda: best_partition_on_line([1.0], 2), "K must be an integer"),
        (lambda: k_means_over_chunks((X for _ in "ab"), X[:2]), "must be a list"),
        (lambda: k_means_over_chunks([], X[:2]), "at least one chunk"),
        (lambda: KMeans(2, init=X[:3]).fit(X), "init must have n_clusters = 2 rows"),
        (lambda: MiniBatchKMeans(11).fit(X), "n_samples=10"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


# Chunks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 20])
def test_chunks_give_the_fit_in_memory(d, rng):
    X, w = rng.standard_normal((500, d)), rng.uniform(size=500)
    cuts = [(X[i : i + 77], None, w[i : i + 77]) for i in range(0, 500, 77)]
    start = np.vstack([X[:4], np.full((1, d), 50.0)])  # the last centre begins without rows
    whole = k_means(X, start, sample_weight=w)
    fit = k_means_over_chunks(cuts, start)
    np.testing.assert_allclose(fit.centres, whole.centres, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fit.trace[: len(whole.trace)], whole.trace, rtol=1e-12)
    assert fit.converged
    for other in (
        k_means_over_chunks(cuts, start, workers=map),
        k_means_over_chunks(lambda: iter(cuts), start),
    ):
        assert np.array_equal(other.centres, fit.centres)
    with pytest.raises(ChunkError, match="chunk 1"):
        k_means_over_chunks([X, X[:, :1]], start)
    with pytest.raises(ChunkError, match=r"each chunk must be X or \(X, None, sample_weight\)"):
        k_means_over_chunks([(X, w)], start)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_merging_is_associative_and_commutative(seed):
    rng = np.random.default_rng(seed)
    X, centres = rng.standard_normal((30, 2)) + 1e6, rng.standard_normal((3, 2)) + 1e6
    a, b, c = (chunk_statistic(part, centres) for part in np.split(X, 3))
    for left, right in (((a + b) + c, a + (b + c)), (a + b, b + a)):
        np.testing.assert_allclose(left.sums, right.sums, atol=1e-12)
        assert np.array_equal(left.counts, right.counts)
        assert left.inertia == pytest.approx(right.inertia, rel=1e-14)
        assert np.array_equal(left.far_row, right.far_row)


def test_statistics_of_chunks_add_up(rng):
    X, w = rng.standard_normal((90, 3)), rng.integers(0, 3, 90).astype(float)
    centres = rng.standard_normal((4, 3))
    a = chunk_statistic(X[:30], centres, sample_weight=w[:30])
    b = chunk_statistic(X[30:], centres, sample_weight=w[30:])
    labels, J = by_hand(X, centres, w)
    for total in (a + b, b.merge(a), chunk_statistic(X, centres, sample_weight=w)):
        np.testing.assert_allclose(total.counts, np.bincount(labels, w, 4))
        for k in range(4):
            rows = labels == k
            np.testing.assert_allclose(total.sums[k], w[rows] @ (X[rows] - centres[k]))
        assert total.inertia == pytest.approx(J)
        D = ((X[:, None] - centres) ** 2).sum(-1).min(1) * (w > 0)
        assert total.far_distance == pytest.approx(D.max())
        assert np.array_equal(total.far_row, X[D.argmax()])
    nothing = chunk_statistic(X[:5], centres, sample_weight=np.zeros(5))
    assert nothing.far_distance == 0 == nothing.counts.max()
    with uncompiled():
        slow = chunk_statistic(X, centres, sample_weight=w)
    np.testing.assert_allclose(slow.sums, total.sums, atol=1e-12)


def test_j_after_the_update_is_the_identity_of_the_decomposition(rng):
    X, centres = rng.standard_normal((50, 3)), rng.standard_normal((4, 3))
    s = chunk_statistic(X, centres)
    labels = by_hand(X, centres)[0]
    after = inertia(X, next_centres(s, centres), labels)
    fall = sum((s.sums[k] ** 2).sum() / s.counts[k] for k in range(4) if s.counts[k])
    assert after == pytest.approx(s.inertia - fall)


def test_mini_batch_centres_are_means_of_all_rows_received(rng):
    X = rng.standard_normal((60, 2))
    centres, counts = X[:3].copy(), np.zeros(3)
    received = [[], [], []]
    for i in range(0, 60, 10):
        for row, k in zip(X[i : i + 10], by_hand(X[i : i + 10], centres)[0]):
            received[k].append(row)
        centres, counts = mini_batch_step(X[i : i + 10], centres, counts)
        for k in range(3):
            if received[k]:
                np.testing.assert_allclose(centres[k], np.mean(received[k], axis=0))
                assert counts[k] == len(received[k])


def test_mini_batches_come_close_to_the_full_algorithm(rng):
    X = rng.standard_normal((3000, 2)) + 8 * rng.integers(0, 3, (3000, 1))
    small = MiniBatchKMeans(3, random_state=0).fit(X)
    full = KMeans(3, random_state=0).fit(X)
    assert (1 - 1e-12) * full.inertia_ <= small.inertia_ < 1.02 * full.inertia_
    stream = MiniBatchKMeans(3, random_state=0)
    for i in range(0, 3000, 100):
        stream.partial_fit(X[i : i + 100])
    assert stream.n_iter_ == 30
    assert stream.counts_.sum() == 3000
    assert -stream.score(X) < 1.1 * full.inertia_


# Starts ------------------------------------------------------------------------------------------


def test_selection_is_proportional_to_the_power_of_the_distance():
    X, first = [[0.0], [1.0], [3.0]], [[0.0]]
    expected = {0: [0, 1 / 2, 1 / 2], 1: [0, 1 / 4, 3 / 4], 2: [0, 0.1, 0.9], np.inf: [0, 0, 1]}
    for power, p in expected.items():
        np.testing.assert_allclose(selection_probabilities(X, first, power=power), p)
    w = [1.0, 9.0, 1.0]
    np.testing.assert_allclose(selection_probabilities(X, first, sample_weight=w), [0, 0.5, 0.5])
    same = selection_probabilities([[1.0], [1.0]], [[1.0]])
    np.testing.assert_allclose(same, 0.5)


def test_seeding_draws_from_that_law(rng):
    X = np.array([[0.0], [1.0], [3.0]])
    drawn = [tuple(seed_centres(X, 2, rng)[:, 0]) for _ in range(4000)]
    for i, j in itertools.permutations(range(3), 2):
        D = (X[:, 0] - X[i, 0]) ** 2
        p = D[j] / D.sum() / 3
        count = drawn.count((X[i, 0], X[j, 0]))
        assert abs(count - 4000 * p) < 6 * np.sqrt(4000 * p)  # more than five standard deviations


def test_starts_take_different_rows_while_there_are_any(rng):
    X = np.repeat(np.arange(3.0), 5)[:, None]
    for power in (0, 1, 2, np.inf):
        assert sorted(seed_centres(X, 3, rng, power=power)[:, 0]) == [0, 1, 2]
        assert seed_centres(X, 5, rng, power=power).shape == (5, 1)
    w = np.repeat([0.0, 1.0, 1.0], 5)
    for _ in range(20):
        assert sorted(seed_centres(X, 2, rng, sample_weight=w)[:, 0]) == [1, 2]
    ends = selection_probabilities([[0], [9], [1]], [[0]], power=np.inf, sample_weight=[1, 0, 1])
    assert ends.tolist() == [0, 0, 1]  # the farthest row with a weight
    centres = random_partition(X, 4, rng)
    assert centres.shape == (4, 1)
    assert ((centres >= 0) & (centres <= 2)).all()


def test_one_cluster_seeded_evenly_costs_twice_the_optimum(rng):
    X = rng.standard_normal((20, 3))
    mean_cost = np.mean([inertia(X, X[[i]]) for i in range(20)])
    assert mean_cost == pytest.approx(
        2 * best_partition_on_line(X[:, 0], 1).objective
        + 2 * inertia(X[:, 1:], X[:, 1:].mean(0)[None])
    )


def test_expected_cost_of_seeding_stays_below_the_bound(rng):
    X = np.vstack([rng.standard_normal((4, 2)) + c for c in ([0, 0], [9, 0], [0, 9])])
    total = 0.0
    for i, j, k in itertools.product(range(12), repeat=3):
        p = 1 / 12 * selection_probabilities(X, X[[i]])[j]
        if p:
            total += p * selection_probabilities(X, X[[i, j]])[k] * inertia(X, X[[i, j, k]])
    best = best_partition(X, 3).objective
    assert best < total < 8 * (log(3) + 2) * best


def test_runs_are_sorted_and_do_not_depend_on_the_workers(rng):
    X = rng.standard_normal((80, 2))
    here = k_means_restarts(X, 5, np.random.default_rng(3), n_init=6)
    there = k_means_restarts(X, 5, np.random.default_rng(3), n_init=6, workers=map)
    assert [a.trace[-1] for a in here] == [b.trace[-1] for b in there]
    assert (np.diff([a.trace[-1] for a in here]) >= 0).all()
    for init in ("random", "farthest", "partition"):
        assert k_means_restarts(X, 5, rng, init=init, n_init=2)[0].converged


# Counting, and the best partition ----------------------------------------------------------------


def test_stirling_and_bell_numbers_count_partitions():
    for n in range(1, 8):
        seen = {tuple(row) for row in itertools.product(range(n), repeat=n)}
        classes = {tuple(list(dict.fromkeys(row)).index(v) for v in row) for row in seen}
        assert len(classes) == bell(n) == sympy.bell(n)
        for K in range(1, n + 1):
            rows = partitions(n, K)
            assert {tuple(r) for r in rows} == {r for r in classes if max(r) + 1 == K}
            assert len(rows) == stirling2(n, K)
    for n, K in itertools.product(range(2, 30), range(1, 12)):
        assert stirling2(n, K) == K * stirling2(n - 1, K) + stirling2(n - 1, K - 1)
    assert bell(71) == sympy.bell(71)
    assert stirling2(3, 5) == 0


def test_enumeration_and_dynamic_programming_find_the_same_optimum(rng):
    for n, K in [(6, 2), (7, 3), (8, 4), (5, 5), (5, 1)]:
        x = np.round(rng.standard_normal(n), 2)
        line, every = best_partition_on_line(x, K), best_partition(x[:, None], K)
        assert line.objective == pytest.approx(every.objective, abs=1e-12)
        J = min(
            sum(((x[row == k] - x[row == k].mean()) ** 2).sum() for k in range(K))
            for row in partitions(n, K)
        )
        assert every.objective == pytest.approx(J, abs=1e-12)
        centres = update(x[:, None], line.labels, K)
        assert inertia(x[:, None], centres, line.labels) == pytest.approx(J, abs=1e-12)
        assert (np.diff(line.labels[np.argsort(x, kind="stable")]) >= 0).all()
    with uncompiled():
        slow = best_partition_on_line(x, 2)
    assert np.array_equal(slow.labels, best_partition_on_line(x, 2).labels)


def test_single_moves_are_the_differences_of_j(rng):
    X, labels = rng.standard_normal((12, 2)), np.repeat([0, 1, 2], [6, 5, 1])
    before = inertia(X, update(X, labels, 3), labels)
    change = single_moves(X, labels, 3)
    for i, k in itertools.product(range(11), range(3)):
        moved = labels.copy()
        moved[i] = k
        after = inertia(X, update(X, moved, 3), moved)
        assert change[i, k] == pytest.approx(after - before, abs=1e-12)
    assert (change[11, :2] == np.inf).all()
    assert change[11, 2] == 0


# Judging -----------------------------------------------------------------------------------------


def test_indices_agree_with_scikit_learn(rng):
    for _ in range(20):
        X, a, b = rng.standard_normal((30, 3)), rng.integers(0, 4, 30), rng.integers(0, 3, 30)
        assert calinski_harabasz(X, a) == pytest.approx(calinski_harabasz_score(X, a))
        assert adjusted_rand_index(a, b) == pytest.approx(adjusted_rand_score(a, b))
    assert adjusted_rand_index(np.zeros(5), np.zeros(5)) == 1
    assert calinski_harabasz(np.repeat([[0.0], [1.0]], 2, axis=0), [0, 0, 1, 1]) == np.inf


def test_the_index_of_chance_is_zero_on_average():
    b = np.array([0, 0, 0, 1, 1, 2])
    values = [
        adjusted_rand_index([0, 0, 1, 1, 2, 2], b[list(p)])
        for p in itertools.permutations(range(6))
    ]
    assert np.mean(values) == pytest.approx(0, abs=1e-12)


def test_the_best_j_falls_with_k_to_zero(rng):
    x = np.append(rng.standard_normal(7), [1.0, 1.0])
    best = [best_partition_on_line(x, K).objective for K in range(1, 10)]
    assert (np.diff(best)[:7] < 0).all()
    assert best[7] == pytest.approx(0, abs=1e-15)
    curve = inertia_curve(x[:, None], range(1, 6), rng, n_init=30)
    np.testing.assert_allclose(curve, best[:5], rtol=1e-12)


# Estimators --------------------------------------------------------------------------------------


def test_labels_and_centres_of_the_estimator_belong_together(rng):
    X = rng.standard_normal((100, 2))
    model = KMeans(4, random_state=0).fit(X)
    assert np.array_equal(model.labels_, model.predict(X))
    assert model.inertia_ == pytest.approx(-model.score(X))
    D = model.transform(X)
    np.testing.assert_allclose(D[:, 1], np.linalg.norm(X - model.cluster_centers_[1], axis=1))
    assert np.array_equal(model.fit_predict(X), model.labels_)
    np.testing.assert_allclose(model.fit_transform(X), D)
    assert list(model.get_feature_names_out()) == [f"kmeans{k}" for k in range(4)]
    assert np.array_equal(
        KMeans(4, random_state=0).fit(X, y=rng.integers(0, 9, 100)).labels_, model.labels_
    )


def test_neither_order_nor_repetition_changes_the_fit(rng):
    X, w, p = rng.standard_normal((60, 3)), rng.integers(0, 3, 60), rng.permutation(60)
    model = KMeans(4, random_state=1, n_init=2)
    a = model.fit(X, sample_weight=w).cluster_centers_
    b = model.fit(np.repeat(X, w, axis=0)).cluster_centers_
    c = model.fit(X[p], sample_weight=w[p]).cluster_centers_
    np.testing.assert_allclose(a, b, atol=1e-12)
    np.testing.assert_allclose(a, c, atol=1e-12)


def test_running_out_of_iterations_warns(rng):
    X = rng.standard_normal((200, 2))
    with pytest.warns(ConvergenceWarning, match="max_iter=1; its last step lowered J"):
        model = KMeans(6, max_iter=1, random_state=0).fit(X)
    assert not model.converged_


# Oracles and published numbers -------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_same_start_same_run_as_scikit_learn(load):
    X = load().data
    start = k_means_plus_plus(X, 6, np.random.default_rng(5))
    peer = PeerKMeans(6, init=start, n_init=1, tol=0, max_iter=300).fit(X)
    fit = k_means(X, start)
    np.testing.assert_allclose(fit.centres, peer.cluster_centers_, atol=1e-9)
    assert np.array_equal(fit.labels, peer.labels_)
    assert fit.trace[-1] == pytest.approx(peer.inertia_)


def test_iris_in_three_clusters():
    X, y = load_iris(return_X_y=True)
    model = KMeans(3, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(78.8514, abs=5e-5)
    assert adjusted_rand_index(model.labels_, y) == pytest.approx(0.7302, abs=5e-5)


def test_the_eight_points_of_the_lecture_notes():
    fit = k_means(EIGHT, EIGHT[[4, 5, 7]])
    np.testing.assert_allclose(fit.trace[:3], [55, 19.7222, 14.3333], atol=5e-5)
    assert fit.labels.tolist() == [2, 1, 0, 2, 0, 0, 1, 2]
    np.testing.assert_allclose(fit.centres, [[7, 13 / 3], [1.5, 3.5], [11 / 3, 9]])
    first = k_means(EIGHT, EIGHT[[4, 5, 7]], max_iter=1).centres
    np.testing.assert_allclose(first, [[7.5, 4.5], [3, 11 / 3], [11 / 3, 9]])
    assert calinski_harabasz(EIGHT, fit.labels) == pytest.approx(15.0727, abs=5e-5)
    assert best_partition(EIGHT, 3).objective == pytest.approx(43 / 3)


# Properties --------------------------------------------------------------------------------------

seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_fits_move_with_the_data(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 3))
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    shift, p = rng.standard_normal(3), rng.permutation(4)
    for scale in (1e-8, 1.0, 1e8):
        a = k_means(X, X[:4])
        b = k_means(scale * (X @ Q + shift), scale * (X[:4][p] @ Q + shift))
        np.testing.assert_allclose(b.centres, scale * (a.centres[p] @ Q + shift), atol=1e-9 * scale)
        assert a.n_iter == b.n_iter


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_every_run_ends_at_a_fixed_point_with_no_empty_cluster(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (15, 2)).astype(float)  # duplicates and ties
    K = int(rng.integers(1, min(6, len(np.unique(X, axis=0))) + 1))
    fit = k_means(X, rng.standard_normal((K, 2)) * 4)
    assert fit.converged
    assert set(fit.labels) == set(range(K))
    np.testing.assert_allclose(update(X, fit.labels, K), fit.centres, atol=1e-12)
    assert np.array_equal(by_hand(X, fit.centres)[0], fit.labels)
    assert (np.diff(fit.trace)[:-1] < 0).all()


@settings(deadline=None, max_examples=30)
@given(seeds)
def test_no_run_beats_the_enumeration(seed):
    X = np.random.default_rng(seed).standard_normal((8, 2))
    best = best_partition(X, 3).objective
    fit = k_means(X, X[:3])
    assert fit.trace[-1] >= best - 1e-12
    stable = best_partition(X, 3).labels
    assert single_moves(X, stable, 3).min() >= -1e-12  # no single move improves the optimum


# Wrong variants fail -----------------------------------------------------------------------------


def test_wrong_variants_are_noticed():
    """Printed formulas with a slip give numbers that the right ones contradict."""

    def S(n, K, first):
        return sum((-1) ** i * comb(K, i) * (K - i) ** n for i in range(first, K + 1))

    assert Fraction(S(3, 2, 1), 2) == -1 != stirling2(3, 2) == Fraction(S(3, 2, 0), 2)
    median = k_means([[0.0], [1.0], [5.0]], [[0.0]]).centres[0, 0]
    assert median == 2 != np.median([0, 1, 5])
    X = np.array([[0.0], [1.0], [2.0]])
    assert assign(X, [[0.0], [2.0]]).labels[1] == 0  # the highest index at ties would say 1


# Weights at the ends of the range ------------------------------------------------------------


def test_weights_whose_sum_or_objective_overflows_are_an_error():
    X = np.array([[0.0], [1.0], [5.0]])
    with pytest.raises(ValueError, match="sample_weight is too large"):
        k_means(X, X[:2], sample_weight=np.full(3, 1e308))
    with pytest.raises(ValueError, match="objective overflows"):
        inertia(1e8 * X, X[:1], sample_weight=np.full(3, 1e300))


def test_weights_near_the_ends_of_the_range_change_no_start():
    X = np.random.default_rng(1).standard_normal((9, 2))
    w = np.arange(1.0, 10.0)
    plain = selection_probabilities(X, X[:2], sample_weight=w)
    for unit in (1e-300, 1e300):
        scaled = selection_probabilities(X, X[:2], sample_weight=unit * w)
        np.testing.assert_allclose(scaled, plain, rtol=1e-12)


def test_a_far_row_of_weight_zero_does_not_hide_the_distances_of_the_others():
    X, w = np.array([[0.0], [1.0], [3.0], [1e60]]), np.array([1.0, 1.0, 1.0, 0.0])
    p = selection_probabilities(X, X[:1], power=8.0, sample_weight=w)
    np.testing.assert_allclose(p, np.array([0.0, 1.0, 3.0**8, 0.0]) / (1 + 3.0**8))


def test_distances_to_centres_keep_their_digits_between_far_centres():
    X = np.array([[0.0], [0.0], [1e8], [1e8]])
    model = KMeans(2, init=[[0.0], [1e8]]).fit(X)
    np.testing.assert_allclose(model.transform([[1e8 + 0.5]])[0, 1], 0.5)
    np.testing.assert_allclose(
        single_moves([[0.0], [1e8], [1e8 + 0.5]], [0, 1, 1], 2)[0, 1], np.inf
    )
    moved = single_moves([[0.0], [1e8], [1e8 + 0.5], [1e8 + 1.0]], [0, 0, 1, 1], 2)
    np.testing.assert_allclose(moved[1, 1], 2 / 3 * 0.75**2 - 2 * 0.25e16)


def test_weights_enter_every_statistic_start_and_score(rng):
    X, w = rng.standard_normal((20, 2)), np.arange(20) % 3 + 1.0
    rows = np.repeat(X, w.astype(int), axis=0)
    centres = X[:4] + 0.1
    labels, J = by_hand(rows, centres)
    found = chunk_statistic(X, centres, sample_weight=w)
    assert found.counts == pytest.approx(np.bincount(labels, minlength=4))
    gaps = [(rows[labels == k] - centres[k]).sum(axis=0) for k in range(4)]
    assert found.sums == pytest.approx(np.array(gaps))
    assert found.inertia == pytest.approx(J)
    D = ((rows - centres[labels]) ** 2).sum(axis=1)
    assert found.far_distance == pytest.approx(D.max())
    assert found.far_row == pytest.approx(rows[D.argmax()])
    assert inertia(X, centres, sample_weight=w) == pytest.approx(J)
    assert update(X, assign(X, centres).labels, 4, w) == pytest.approx(update(rows, labels, 4))
    moved, counts = mini_batch_step(X, centres, [1, 2, 3, 4], sample_weight=w)
    again, same = mini_batch_step(rows, centres, [1, 2, 3, 4])
    assert moved == pytest.approx(again)
    assert counts == pytest.approx(same)
    one = k_means(X, centres, sample_weight=w)
    two = k_means(rows, centres)
    assert one.centres == pytest.approx(two.centres)
    assert one.trace == pytest.approx(two.trace)
    assert (one.n_iter, len(one.trace), one.converged) == (two.n_iter, two.n_iter + 1, True)
    labels, J = by_hand(X, one.centres, w)
    assert (one.labels.tolist(), one.trace[-1]) == (labels.tolist(), pytest.approx(J))
    p = selection_probabilities(X, centres[:1], sample_weight=w)
    D = ((X - centres[0]) ** 2).sum(axis=1)
    assert p == pytest.approx(w * D / (w @ D))
    cubed = selection_probabilities(X, centres[:1], power=3.0)
    assert cubed == pytest.approx(D**1.5 / (D**1.5).sum())
    for start in (seed_centres, k_means_plus_plus, random_partition):
        heavy = start(X, 3, np.random.default_rng(0), sample_weight=w**9)
        assert not np.array_equal(heavy, start(X, 3, np.random.default_rng(0)))
    squared = seed_centres(X, 3, np.random.default_rng(1))
    assert np.array_equal(squared, seed_centres(X, 3, np.random.default_rng(1), power=2.0))
    assert np.array_equal(squared, k_means_plus_plus(X, 3, np.random.default_rng(1)))
    model = KMeans(3, random_state=0).fit(X, sample_weight=w)
    assert model.score(X, sample_weight=w) == pytest.approx(-model.inertia_)
    assert model.score(X) == pytest.approx(-by_hand(X, model.cluster_centers_)[1])


def test_runs_end_by_their_tolerance_or_limit(rng):
    X = rng.standard_normal((300, 2))
    centres = X[:6]
    whole = k_means(X, centres)
    assert np.array_equal(whole.trace, k_means(X, centres, max_iter=300, tol=0.0).trace)
    loose = k_means(X, centres, tol=0.05)
    falls = -np.diff(loose.trace) / loose.trace[:-1]
    assert falls[-1] <= 0.05 < falls[:-1].min()
    short = k_means(X, centres, max_iter=2)
    assert (short.n_iter, len(short.trace), short.converged) == (2, 3, False)
    chunks = [X[:100], X[100:170], X[170:]]
    for ends in ({}, {"tol": 0.05}, {"max_iter": 2}):
        joined, one = k_means_over_chunks(chunks, centres, **ends), k_means(X, centres, **ends)
        assert joined.centres == pytest.approx(one.centres)
        assert joined.converged == one.converged
        assert joined.trace[: one.n_iter] == pytest.approx(one.trace[: one.n_iter])
        assert len(joined.trace) == joined.n_iter + 1
    used = []

    def workers(function, tasks):
        return (used.append(1) or function(task) for task in tasks)

    k_means_over_chunks(chunks, centres, max_iter=2, workers=workers)
    assert len(used) == 9
    used.clear()
    k_means_restarts(X, 3, np.random.default_rng(0), n_init=4, workers=workers)
    assert len(used) == 4
    inertia_curve(X, [2, 3], np.random.default_rng(0), n_init=4, workers=workers)
    assert len(used) == 12


def test_restarts_listen_to_every_option_and_have_the_published_defaults(rng):
    X = rng.standard_normal((60, 2))

    def runs(**given):
        return k_means_restarts(X, 5, np.random.default_rng(3), **given)

    default = runs()
    named = {"n_init": 10, "init": "k-means++", "max_iter": 300, "tol": 0.0}
    traces = [fit.trace.tolist() for fit in default]
    assert traces == [fit.trace.tolist() for fit in runs(**named)]
    for other in (
        {"init": "random"},
        {"init": "farthest"},
        {"init": "partition"},
        {"tol": 0.3},
        {"max_iter": 1},
        {"sample_weight": np.arange(60) % 3},
        {"n_init": 3},
    ):
        assert traces != [fit.trace.tolist() for fit in runs(**other)], other
    curve = inertia_curve(X, [2, 4], np.random.default_rng(3))
    again = inertia_curve(X, [2, 4], np.random.default_rng(3), n_init=10)
    assert np.array_equal(curve, again)
    assert len(runs(n_init=3)) == 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"init": "random"},
        {"init": "farthest"},
        {"init": "partition"},
        {"n_init": 1},
        {"max_iter": 1},
        {"tol": 0.3},
        {"random_state": 7},
        {"n_clusters": 3},
    ],
    ids=str,
)
def test_the_estimator_keeps_the_best_of_the_runs_it_is_asked_for(rng, given):
    X = rng.standard_normal((60, 2))
    asked = {"n_clusters": 5, "random_state": 4} | given
    model = KMeans(**asked).fit(X)
    order = np.argsort(X @ np.random.default_rng(0).standard_normal(2), kind="stable")
    options = {
        name: value
        for name, value in asked.items()
        if name in ("init", "n_init", "max_iter", "tol")
    }
    start = np.random.default_rng(asked["random_state"])
    best = k_means_restarts(X[order], asked["n_clusters"], start, **options)[0]
    assert np.array_equal(model.cluster_centers_, best.centres)
    assert np.array_equal(model.labels_[order], best.labels)
    assert np.array_equal(model.trace_, best.trace)
    assert model.inertia_ == best.trace[-1]
    assert (model.n_iter_, model.converged_) == (best.n_iter, best.converged)
    used = []

    def workers(function, tasks):
        return (used.append(1) or function(task) for task in tasks)

    KMeans(**asked, workers=workers).fit(X)
    assert len(used) == asked.get("n_init", 10)


def test_mini_batches_are_cut_as_they_are_asked(rng):
    X = rng.standard_normal((300, 2))
    for cut in ({}, {"batch_size": 7}, {"max_iter": 2}, {"n_clusters": 3}):
        asked = {"n_clusters": 8, "batch_size": 256, "max_iter": 10} | cut
        model = MiniBatchKMeans(random_state=5, **cut).fit(X)
        draws = np.random.default_rng(5)
        centres, counts = (
            k_means_plus_plus(X, asked["n_clusters"], draws),
            np.zeros(asked["n_clusters"]),
        )
        for _ in range(asked["max_iter"]):
            rows = draws.permutation(300)
            for i in range(0, 300, asked["batch_size"]):
                batch = X[rows[i : i + asked["batch_size"]]]
                centres, counts = mini_batch_step(batch, centres, counts)
        assert model.cluster_centers_ == pytest.approx(centres)
        assert model.counts_ == pytest.approx(counts)
        assert model.n_iter_ == asked["max_iter"]
        labels, J = by_hand(X, centres)
        assert (model.labels_.tolist(), model.inertia_) == (labels.tolist(), pytest.approx(J))
    stream = MiniBatchKMeans(3, random_state=5)
    for k in range(3):
        stream.partial_fit(X[100 * k : 100 * (k + 1)])
    draws = np.random.default_rng(5)
    centres, counts = k_means_plus_plus(X[:100], 3, draws), np.zeros(3)
    for k in range(3):
        centres, counts = mini_batch_step(X[100 * k : 100 * (k + 1)], centres, counts)
    assert stream.cluster_centers_ == pytest.approx(centres)
    assert (stream.n_iter_, stream.n_features_in_) == (3, 2)


def test_a_best_partition_has_its_own_objective(rng):
    X = rng.standard_normal((7, 2))
    for K in (2, 3):
        found = best_partition(X, K)
        parts = [X[found.labels == k] for k in range(K)]
        J = sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts)
        assert found.objective == pytest.approx(J)
        line = best_partition_on_line(X[:, 0], K)
        parts = [X[line.labels == k, 0] for k in range(K)]
        assert line.objective == pytest.approx(sum(((p - p.mean()) ** 2).sum() for p in parts))
        assert [p.mean() for p in parts] == sorted(p.mean() for p in parts)


def test_what_products_cannot_tell_apart_is_settled_by_the_differences(rng):
    centres = rng.normal(3.0, 1.0, (2, 5))
    across = rng.normal(size=(400, 5))
    across -= np.outer(across @ (step := centres[1] - centres[0]), step) / (step @ step)
    X = centres.mean(axis=0) + across  # at one distance from both, up to rounding
    (labels, distances), (expected, near) = ((np.empty(400, np.int64), np.empty(400)) for _ in "ab")
    module.nearest_centres(X, centres, expected, near)
    module._by_product(X, centres, labels, distances)
    assert 0 < expected.sum() < 400
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(distances, near)


def test_a_compiled_sum_of_deviations_counts_each_row_by_its_weight():
    counts, sums = np.array([1.0, 0.0]), np.zeros((2, 1))
    X, weights, labels = (
        np.array([[3.0], [5.0], [8.0]]),
        np.array([2.0, 1.0, 4.0]),
        np.array([0, 0, 1]),
    )
    module.add_deviations(X, weights, labels, np.array([[1.0], [7.0]]), counts, sums)
    assert (counts.tolist(), sums.ravel().tolist()) == ([4.0, 4.0], [8.0, 4.0])


def test_a_run_that_ends_by_its_tolerance_counts_its_steps(rng):
    X = rng.standard_normal((60, 2))
    run = k_means(X, X[:4], tol=0.05)
    assert run.converged
    assert run.n_iter == len(run.trace) - 1 < k_means(X, X[:4]).n_iter
