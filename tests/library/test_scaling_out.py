"""Scaling out: states, merging, schedules, plans; one fit on every engine, under a memory limit."""

import itertools
import math
import os
import subprocess
import sys
import tracemalloc
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mllib.bias_variance import FixedDesign, decompose
from mllib.core.chunks import ChunkError, column_moments, reduce_chunks, tree_sum
from mllib.discriminant_analysis import LinearDiscriminantAnalysis
from mllib.estimation import mc_bias_variance
from mllib.least_squares import LinearRegression, solve_statistics
from mllib.logistic_regression import cross_entropy, fit_irls, gradient, hessian
from mllib.mixtures_and_em import em_over_chunks, random_start
from mllib.optimization import newton
from mllib.ridge_and_lasso import Ridge
from mllib.scaling_out import (
    ChunkedObjective,
    CountingWorkers,
    SimulatedChunk,
    best_workers,
    greedy_schedule,
    logistic_sums,
    merge_error_bound,
    needs,
    raw_sums,
    reduction_work,
    run_limited,
    states,
)

W = np.array([1.0, -2.0, 0.5])


def chunks(m=12, rows=400, **options):
    return [SimulatedChunk(i, rows, W, **options) for i in range(m)]


# What must be remembered ---------------------------------------------------------------------


def test_states_of_known_fits():
    sets = [A for n in (1, 2) for A in itertools.combinations_with_replacement(range(3), n)]
    later = [()] + sets
    assert len(states(max, sets, later).answers) == 3
    parity = states(lambda A: sum(A) % 2, sets, later)
    assert parity.state == tuple(sum(A) % 2 for A in sets)  # the first set, (0,), is even
    assert parity.answers[0] == tuple(sum(C) % 2 for C in later)
    for bad in (([], [()]), (sets, [])):
        with pytest.raises(ValueError, match="must each hold at least one"):
            states(max, *bad)


# Objectives that are sums --------------------------------------------------------------------


def labelled(seed=0, n=60):
    """Rows with a column of ones, labels drawn from a logistic model, weights, some of them 0."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.standard_normal((n, 2))])
    y = (rng.random(n) < 1 / (1 + np.exp(-X @ W))).astype(float)
    return X, y, rng.integers(0, 3, n) * 0.7


def test_sums_of_losses_are_those_of_logistic_regression():
    X, y, s = labelled()
    w = np.array([0.3, -1.0, 2.0])
    s[10:25] = 0  # a chunk that does not count
    cut = [slice(0, 10), slice(10, 25), slice(25, 60)]
    for weights in (s, np.ones(60)):
        total = sum_of([logistic_sums((X[i], y[i], weights[i]), w) for i in cut])
        assert math.isclose(total.n, weights.sum())
        assert math.isclose(total.value, cross_entropy(w, X, y, weights), rel_tol=1e-12)
        np.testing.assert_allclose(total.gradient, gradient(w, X, y, weights), rtol=1e-10)
        np.testing.assert_allclose(total.hessian, hessian(w, X, weights), rtol=1e-10)
    assert logistic_sums((X, y), w).value == logistic_sums((X, y, np.ones(60)), w).value


def sum_of(parts):
    return parts[0] + parts[1] + parts[2]


@pytest.mark.parametrize("workers", [1, 2])
def test_logistic_regression_from_chunks_is_that_of_all_rows(workers):
    X, y, _ = labelled(1)
    parts, lam = [(X[i : i + 20], y[i : i + 20]) for i in (0, 20, 40)], np.array([0.0, 2.0, 0.5])
    F = ChunkedObjective(logistic_sums, parts, lam=lam, workers=workers)
    run = newton(F.value, F.gradient, F.hessian, np.zeros(3), line_search=True, tol=1e-6)
    np.testing.assert_allclose(run.z, fit_irls(X, y, lam=lam).w, rtol=1e-5)
    assert math.isclose(F.value(run.z), cross_entropy(run.z, X, y) + lam @ run.z**2 / 2)


def test_an_objective_reads_its_chunks_once_for_each_point():
    X, y, _ = labelled(2)
    team = CountingWorkers(2, len)
    F = ChunkedObjective(logistic_sums, lambda: iter([(X, y), (X[:5], y[:5])]), workers=team)
    for w in (np.zeros(3), np.zeros(3), np.ones(3)):
        F.value(w), F.gradient(w), F.hessian(w)
    assert F.passes == 2
    assert len(team.costs) == 4
    assert F.at(W).n == 65


def test_objectives_refuse_what_they_cannot_use():
    X, y, _ = labelled(3)
    with pytest.raises(ValueError, match="y must hold only 0 and 1"):
        logistic_sums((X, y + 1), W)
    with pytest.raises(ValueError, match="w must have 3 entries"):
        logistic_sums((X, y), W[:2])
    with pytest.raises(ValueError, match="lam must be at least 0"):
        ChunkedObjective(logistic_sums, [(X, y)], lam=-1.0)
    with pytest.raises(ValueError, match="once per iteration"):
        ChunkedObjective(logistic_sums, iter([(X, y)]))
    with pytest.raises(ValueError, match="sums must be a function"):
        ChunkedObjective(3, [(X, y)])
    with pytest.raises(ChunkError, match="chunk 1: y must hold only"):
        ChunkedObjective(logistic_sums, [(X, y), (X, y + 1)]).value(W)


# Merging -------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=40).filter(lambda v: len(set(v)) > 1),
    st.sampled_from([0, 1, 10**4, 10**8, 10**12, 2**52]),
)
def test_merged_moments_stay_within_the_bound(values, offset):
    x = [v + offset for v in values]
    S = sum(v * v for v in x) - Fraction(sum(x) ** 2, len(x))
    total = tree_sum(column_moments([[float(v)]]) for v in x)
    s = Fraction(math.sqrt(float(total.scatter[0]) / len(x)))
    error = abs(math.sqrt(s * s * len(x) / S) - 1)
    height, largest = math.ceil(math.log2(len(x))), max(map(abs, x))
    assert error <= merge_error_bound(height, largest, max(x) - min(x), math.sqrt(S / len(x)))


def test_the_bound_of_merged_moments_does_not_cancel():
    cases = ((1, 1.0, 1.0, 0, 0), (3, 1.0, 0.1, 0, 0), (10**6, 1e6, 2.0, 1, 0.5))
    for h, M, R, means, spread in cases:
        v = Fraction(101, 100) / 2**53
        drift = Fraction(math.sqrt(h)) * (means + (h - 1) * v * (Fraction(M) + 3 * Fraction(R))) / 2
        exact = (1 + (h + 4) * v) * (1 + Fraction(spread) + drift) - 1
        bound = merge_error_bound(h, M, R, 2.0, means=means, spread=spread)
        np.testing.assert_allclose(bound, float(exact), rtol=1e-12, atol=0)


def test_raw_sums_lose_all_digits_where_centred_moments_keep_them():
    x = np.random.default_rng(0).integers(-2, 3, 1000)
    truth = np.sum((x - x.mean()) ** 2)
    far = (x + 10**8).astype(float)[:, None]
    assert abs(raw_sums(far).scatter[0] / truth - 1) > 1e-3
    parts = np.array_split(far, 7)
    assert abs(tree_sum(map(column_moments, parts)).scatter[0] / truth - 1) < 1e-9


# Work ----------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=20), st.integers(1, 6))
def test_greedy_schedules_obey_graham(costs, p):
    run = greedy_schedule(costs, p)
    assert run.loads.sum() == sum(costs)
    assert np.array_equal(np.bincount(run.worker, weights=costs, minlength=p), run.loads)
    assert max(sum(costs) / p, max(costs)) <= run.makespan + 1e-9
    assert run.makespan <= sum(costs) / p + (1 - 1 / p) * max(costs) + 1e-9
    # a wrong schedule, all to one worker, breaks the bound once there is much to share
    if p > 1 and sum(costs) > 2 * p * max(costs):
        assert sum(costs) > sum(costs) / p + (1 - 1 / p) * max(costs)


def test_best_number_of_workers_is_best():
    for n, b, s in ((1, 1, 0), (100, 1, 0), (5000, 7, 3), (0.5, 1, 0)):
        p, gain = best_workers(n, merge=b, serial=s)
        T = [reduction_work(n, q, merge=b, serial=s, tree=False) for q in range(1, 300)]
        assert T[p - 1] == min(T)
        assert math.isclose(gain, T[0] / min(T))


def test_counting_workers_change_nothing():
    team = CountingWorkers(3, lambda chunk: chunk.rows)
    model = LinearRegression().fit_chunks(chunks(), workers=team)
    assert model.coef_.tobytes() == LinearRegression().fit_chunks(chunks()).coef_.tobytes()
    assert team.costs == [400.0] * 12
    assert team.schedule.loads.tolist() == [1600.0] * 3


def test_needs_are_counted():
    plan = needs(10**9, 101, 10**4, machines=100, chunk_rows=10**5)
    assert plan == (80_000, 80_800_000, 808 * 10**9, 808 * 10**7, 10_000, 7, 99 * 80_000, 8 * 10**8)
    assert needs(5, 1, 1, machines=1, chunk_rows=10).chunk == 40
    half = needs(10**9, 101, 10**4, machines=100, chunk_rows=10**5, size=4)
    for name in ("statistic", "chunk", "data", "per_machine", "moved", "unmerged"):
        assert 2 * getattr(half, name) == getattr(plan, name)
    assert (half.chunks, half.rounds) == (plan.chunks, plan.rounds)


def test_bad_arguments_are_named():
    calls = [
        (lambda: greedy_schedule([], 2), "costs must hold at least one"),
        (lambda: greedy_schedule([1.0, -1.0], 2), "costs must hold at least one"),
        (lambda: greedy_schedule([1.0], 0), "workers must be an integer"),
        (lambda: reduction_work(10, 2, merge=-1), "merge must be"),
        (lambda: best_workers(10, row=0), "row must be"),
        (lambda: needs(0, 1, 1, machines=1, chunk_rows=1), "n must be"),
        (lambda: merge_error_bound(0, 1, 1, 1), "height must be"),
        (lambda: merge_error_bound(1, 1, 1, 1, means=1), "means must be"),
        (lambda: run_limited(print, 0), "extra must be"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()


# One fit on every engine ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    """A client of a Dask cluster of two processes on this machine."""
    from dask.distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options, silence_logs=50) as cluster, Client(cluster) as client:
        yield client


def test_a_cluster_gives_the_same_bits_also_after_a_worker_was_killed(client, tmp_path):
    mark = tmp_path / "died"
    one = LinearRegression().fit_chunks(chunks())
    risky = chunks()
    risky[7] = SimulatedChunk(7, 400, W, fault=mark)
    other = LinearRegression().fit_chunks(risky, workers=client.map)
    assert mark.exists()
    assert other.coef_.tobytes() == one.coef_.tobytes()
    assert other.sigma2_ == one.sigma2_


def test_a_chunk_that_kills_every_process_is_named_and_the_others_are_kept():
    deadly = chunks()
    deadly[7] = SimulatedChunk(7, 400, W, fault=True)
    with pytest.raises(ChunkError, match=r"chunk 7: no worker returned .* \(Broken") as caught:
        LinearRegression().fit_chunks(deadly, workers=2)
    assert list(caught.value.failures) == [7]
    assert caught.value.total.chunks == 11
    rest = LinearRegression().fit_chunks(chunks()[:7] + chunks()[8:])
    assert solve_statistics(caught.value.total.value).w.tobytes() == rest.coef_.tobytes()


def test_simulated_rows_follow_the_model_and_the_seed():
    X, y = SimulatedChunk(0, 20, W, noise=0.0)()
    np.testing.assert_allclose(y, X @ W)
    assert (SimulatedChunk(0, 20, W, seed=1)()[0] != X).all()


def test_a_cluster_names_bad_chunks_and_keeps_the_others(client):
    data = [chunk() for chunk in chunks(4)]
    data[2][0][0, 0] = np.nan
    with pytest.raises(ChunkError, match="chunk 2: Input X contains NaN") as caught:
        LinearRegression().fit_chunks(data, workers=client.map)
    assert caught.value.total.chunks == 3


def draw(rng, n):
    return rng.standard_normal(n)


def test_simulations_do_not_depend_on_the_engine(client):
    def run(workers):
        rng = np.random.default_rng(5)
        return mc_bias_variance(np.mean, draw, 0.0, n=5, repetitions=64, rng=rng, workers=workers)

    assert run(1) == run(2) == run(map) == run(client.map)

    def risk(workers):
        design = FixedDesign(np.arange(8.0), np.zeros(8), 1.0)
        rng = np.random.default_rng(6)
        task = {"repeats": 12, "rng": rng, "workers": workers}
        return decompose(mean_of_targets, design, [0.0], [1.0], **task).risk.tobytes()

    assert risk(1) == risk(2) == risk(client.map)


def mean_of_targets(X, y, X_new):
    return np.full(len(X_new), y.mean())


def test_an_iterating_model_on_the_cluster(client):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 1, (60, 2)) for m in (0, 5)])
    parts, start = np.array_split(rng.permutation(X), 5), random_start(X, 2, rng)
    here = em_over_chunks(parts, start)
    there = em_over_chunks(parts, start, workers=client.map)
    assert here.params.means.tobytes() == there.params.means.tobytes()


@pytest.mark.parametrize("workers", [1, 2, 3, map])
def test_the_same_bits_for_every_number_of_workers(workers):
    one = Ridge(3.0).fit_chunks(chunks())
    assert Ridge(3.0).fit_chunks(iter(chunks()), workers).coef_.tobytes() == one.coef_.tobytes()


def at_once(parts):
    X, y = (np.concatenate(part) for part in zip(*(chunk() for chunk in parts)))
    return LinearRegression().fit(X, y)


def test_data_larger_than_the_memory_are_fitted():
    parts = [SimulatedChunk(i, 20_000, W) for i in range(60)]  # 38 MB
    limit = 12 * 2**20
    if sys.platform != "linux" or not hasattr(os, "fork"):
        with pytest.raises(OSError, match="Linux"):
            run_limited(partial(at_once, parts), limit)
        return
    with pytest.raises(MemoryError):
        run_limited(partial(at_once, parts), limit)
    fit = run_limited(lambda: LinearRegression().fit_chunks(parts), limit)
    np.testing.assert_allclose(fit.coef_, at_once(parts).coef_, rtol=1e-10)
    with pytest.raises(KeyError, match="other"):
        run_limited(lambda: {}["other"], limit)
    with pytest.raises(MemoryError, match="was ended"):  # a process that dies without a word
        run_limited(lambda: os._exit(1), limit)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps such limits")
def test_a_process_that_has_computed_nothing_yet_is_limited_too():
    code = (
        "from mllib.scaling_out import run_limited, SimulatedChunk\n"
        "from mllib.least_squares import LinearRegression\n"
        "parts = [SimulatedChunk(i, 100, [1.0, 2.0]) for i in range(3)]\n"
        "run_limited(lambda: LinearRegression().fit_chunks(parts), 12 * 2**20)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)


def test_memory_does_not_grow_with_the_number_of_chunks():
    def peak(m):
        tracemalloc.start()
        LinearRegression().fit_chunks(SimulatedChunk(i, 20_000, W) for i in range(m))
        try:
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(2)
    assert peak(40) - peak(4) < 20_000 * 4 * 8  # one chunk


def test_an_endless_stream_is_read_as_far_as_it_is_asked_for():
    stream = (SimulatedChunk(i, 10, W) for i in itertools.count())
    model = Ridge().fit_chunks(itertools.islice(stream, 30))
    assert next(stream).number == 30
    assert model.n_features_in_ == 3


def test_a_class_of_the_last_chunk_only():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((90, 2)), np.repeat([0, 1, 2], 30)
    X += 4 * y[:, None]
    parts = [(X[i : i + 30], y[i : i + 30]) for i in (0, 30, 60)]
    model = LinearDiscriminantAnalysis().fit_chunks(parts, 2)
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(model.means_, [X[y == k].mean(axis=0) for k in range(3)])


def test_errors_hold_the_traceback_of_the_worker():
    with pytest.raises(ChunkError) as caught:
        reduce_chunks(explode, [1, 2], 2)
    assert "explode" in caught.value.__cause__.__notes__[0]
    assert len(caught.value.failures) == 2


def explode(chunk):
    raise ZeroDivisionError("no chunk is good enough")


def test_rounds_are_counted_exactly_for_any_number_of_machines():
    for p in (1, 2, 3, 4, 5, 2**49 + 1, 2**52 + 1, 2**60):
        rounds = needs(10, 1, 1, machines=p, chunk_rows=1).rounds
        assert 2**rounds >= p
        assert rounds == 0 or 2 ** (rounds - 1) < p
        assert reduction_work(0, p) == rounds


def test_the_fewest_workers_are_one():
    assert best_workers(1e-320, merge=1e300) == (1, 1.0)


def test_the_work_of_rows_merges_and_the_serial_part_add_up():
    parts = {"row": 3.0, "merge": 10.0, "serial": 500.0}
    assert reduction_work(1000, 8, **parts) == 3 * 125 + 10 * 3 + 500
    assert reduction_work(1000, 8, **parts, tree=False) == 3 * 125 + 10 * 7 + 500
    alone = {name: reduction_work(1000, 8, **{name: value}) for name, value in parts.items()}
    assert alone == {"row": 3 * 125 + 3, "merge": 125 + 10 * 3, "serial": 125 + 3 + 500}


def test_the_noise_of_a_simulated_chunk_has_the_deviation_that_is_asked():
    for options, deviation in (({}, 1.0), ({"noise": 0.1}, 0.1), ({"noise": 7.0}, 7.0)):
        X, y = SimulatedChunk(3, 4000, W, **options)()
        assert np.std(y - X @ W) == pytest.approx(deviation, rel=0.05)
