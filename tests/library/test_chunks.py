"""Work that splits: workers, statistics of chunks that add up, fits that never see all the data."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mllib.bias_variance import FixedDesign, decompose
from mllib.core.arrays import check_array
from mllib.core.chunks import (
    ChunkError,
    as_passes,
    chunk_parts,
    column_moments,
    merge_labels,
    reduce_chunks,
    tree_sum,
)
from mllib.core.parallel import map_over, stream_over
from mllib.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularisedDiscriminantAnalysis,
    labelled_statistics,
)
from mllib.hidden_markov_models import (
    HMM,
    CategoricalEmission,
    GaussianEmission,
    GaussianHMM,
    PoissonEmission,
    add_counts,
    baum_welch,
    baum_welch_over_chunks,
    expected_counts,
)
from mllib.k_means import chunk_statistic
from mllib.least_squares import (
    LinearRegression,
    least_squares,
    regression_chunk,
    regression_statistics,
    solve_statistics,
)
from mllib.mixtures_and_em import (
    GaussianMixture,
    MixtureParams,
    centred_statistics,
    em_over_chunks,
    fit_mixture,
)
from mllib.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MixedNB
from mllib.pca import PCA, moments
from mllib.ridge_and_lasso import Ridge
from mllib.scaling_out import logistic_sums

ROOT = Path(__file__).resolve().parents[2]


def pieces(n, m, rng):
    """Return m slices of n rows, of unequal lengths, none empty."""
    edges = np.sort(rng.choice(np.arange(1, n), m - 1, replace=False))
    return [slice(a, b) for a, b in zip([0, *edges], [*edges, n])]


# Workers -------------------------------------------------------------------------------------


def square(x):
    return x * x


def fail_at_three(x):
    if x == 3:
        raise KeyError("three")
    return x


def die_once(item):
    """Kill the process that runs this, the first time that item 5 comes."""
    number, folder = item
    mark = Path(folder) / "died"
    if number == 5 and not mark.exists():
        mark.touch()
        os._exit(9)
    return number * 10


@pytest.mark.parametrize("workers", [1, 2, -1, map])
def test_results_come_in_the_order_of_the_items(workers):
    assert map_over(square, iter(range(23)), workers) == [i * i for i in range(23)]
    assert list(stream_over(square, iter(range(23)), workers)) == [i * i for i in range(23)]
    assert map_over(square, [], workers) == []


def test_an_error_in_a_worker_arrives_with_its_cause():
    with pytest.raises(KeyError, match="three") as caught:
        map_over(fail_at_three, range(8), 2)
    assert "fail_at_three" in str(caught.value.__cause__)


def test_the_work_of_a_killed_worker_is_done_again(tmp_path):
    items = [(i, str(tmp_path)) for i in range(12)]
    assert list(stream_over(die_once, items, 2)) == [10 * i for i in range(12)]
    assert (tmp_path / "died").exists()


def die_at_five(number):
    """Kill every process that runs this with 5, while its neighbours are still at work."""
    if number == 5:
        os._exit(9)
    time.sleep(0.05)
    return number * 10


def test_an_item_that_kills_every_process_is_lost_and_no_other():
    found = list(stream_over(die_at_five, range(12), 2, lost=lambda error: type(error).__name__))
    assert found == [10 * i if i != 5 else "BrokenProcessPool" for i in range(12)]
    with pytest.raises(BrokenProcessPool):
        list(stream_over(die_at_five, range(12), 2))


def test_a_future_that_failed_beside_another_is_tried_again_alone():
    calls = []

    def engine(function, items):
        """Item 5 kills its worker, which was also given item 6."""
        calls.append(list(items))
        futures = [Future() for _ in items]
        for item, future in zip(items, futures):
            if item == 5 or (item == 6 and len(items) > 1):
                future.set_exception(OSError(f"dead at {item}"))
            else:
                future.set_result(function(item))
        return futures

    found = list(stream_over(square, list(range(9)), engine, lost=str))
    assert found == [0, 1, 4, 9, 16, "dead at 5", 36, 49, 64]
    assert calls == [list(range(9)), [5], [6]]
    with pytest.raises(OSError, match="dead at 5"):
        list(stream_over(square, list(range(9)), engine))


def wait_for_four(item):
    """Item 0 waits until the four behind it have begun; whether they did in half a minute."""
    number, folder = item
    (Path(folder) / str(number)).touch()
    end = time.monotonic() + 30
    while number == 0 and len(list(Path(folder).iterdir())) < 5:
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def test_two_items_for_each_process_are_begun_behind_a_slow_one(tmp_path):
    items = [(i, str(tmp_path)) for i in range(9)]
    assert all(stream_over(wait_for_four, items, 2))


@pytest.mark.skipif(os.name == "nt", reason="Windows sends interrupts to a console")
def test_an_interrupt_ends_all_workers(tmp_path):
    code = f"""
        import os, signal, time
        from pathlib import Path
        from mllib.core.parallel import map_over
        def slow(i):
            Path({str(tmp_path)!r}, str(os.getpid())).touch()
            time.sleep(60)
        if __name__ == "__main__":
            # a shell starts what runs in the background deaf to interrupts
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                map_over(slow, range(4), 2)
            except KeyboardInterrupt:
                print("stopped")
    """
    run = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,  # where the collector says that an interrupt met it at work
        cwd=ROOT,
        text=True,
    )
    while len(list(tmp_path.iterdir())) < 2:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    assert run.communicate(timeout=30)[0].strip() == "stopped"
    for worker in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(worker.name), 0)


def test_futures_of_a_map_are_waited_for():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        submit = lambda f, items: [pool.submit(f, item) for item in items]  # noqa: E731
        assert map_over(square, range(5), submit) == [0, 1, 4, 9, 16]


def test_the_number_of_cores_decides_nothing(monkeypatch):
    groups = []

    def engine(function, items):
        groups.append(len(items))
        return map(function, items)

    def never():
        raise AssertionError

    monkeypatch.setattr(os, "cpu_count", never)
    for workers in (1, 2, engine):
        assert list(stream_over(square, range(70), workers)) == [i * i for i in range(70)]
        assert list(stream_over(square, list(range(70)), workers)) == [i * i for i in range(70)]
        assert map_over(square, iter(range(70)), workers) == [i * i for i in range(70)]
    assert groups == [32, 32, 6, 70, 70]
    assert list(stream_over(square, range(7), engine, in_flight=5)) == [i * i for i in range(7)]
    assert groups[5:] == [5, 2]


def test_a_stream_reads_only_what_its_workers_hold():
    for workers, most in ((1, 1), (2, 5), (map, 3)):
        held = read = 0

        def source():
            nonlocal read
            for i in range(20):
                read += 1
                yield i

        ahead = None if workers == 2 else most
        for done, _ in enumerate(stream_over(square, source(), workers, in_flight=ahead)):
            held = max(held, read - done)
        assert held <= most, workers


def test_bad_workers_are_named():
    for workers in (0, -2, 1.5, "two"):
        with pytest.raises(ValueError, match="workers must be"):
            map_over(square, [1], workers)


def test_one_seed_gives_one_result_for_every_number_of_workers():
    draw = FixedDesign(np.arange(6.0), np.zeros(6), 1.0)
    mean = partial(np.polyval, [1.0])

    def learn(X, y, X_new):
        return np.full(len(X_new), y.mean())

    assert mean(0) == 1.0
    runs = [
        decompose(learn, draw, [0.0], [1.0], repeats=20, rng=np.random.default_rng(3), workers=w)
        for w in (1, map, lambda f, x: list(map(f, x)))
    ]
    assert all(run.risk.tobytes() == runs[0].risk.tobytes() for run in runs)


@pytest.mark.parametrize("model", [GaussianMixture, GaussianHMM], ids=lambda m: m.__name__)
def test_restarts_do_not_depend_on_the_workers(model):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 1, (40, 2)) for m in (0, 4)])
    fits = [model(n_init=3, random_state=1, workers=w).fit(X) for w in (1, 2, map)]
    assert all(fit.means_.tobytes() == fits[0].means_.tobytes() for fit in fits)
    assert all(fit.trace_.tobytes() == fits[0].trace_.tobytes() for fit in fits)


# Reduction -----------------------------------------------------------------------------------


def test_the_tree_adds_in_pairs_and_holds_few_sums():
    for m in range(1, 40):
        depth = {}

        def merge(a, b, depth=depth):
            assert a[1] + 1 == b[0]  # neighbours, in order
            c = (a[0], b[1])
            depth[c] = 1 + max(depth.get(a, 0), depth.get(b, 0))
            return c

        assert tree_sum(((i, i) for i in range(m)), merge) == (0, m - 1)
        assert max(depth.values(), default=0) <= np.ceil(np.log2(m))
    assert tree_sum([]) is None


def mean_and_nothing_else(chunk):
    return column_moments(chunk)


@pytest.mark.parametrize("workers", [1, 2, map])
def test_bad_chunks_are_named_and_the_others_are_kept(workers):
    rng = np.random.default_rng(1)
    chunks = [rng.standard_normal((5, 3)) for _ in range(6)]
    good = reduce_chunks(mean_and_nothing_else, [c for i, c in enumerate(chunks) if i != 2])
    chunks[2] = chunks[2].copy()
    chunks[2][1, 1] = np.nan
    with pytest.raises(ChunkError, match="chunk 2: Input X contains NaN") as caught:
        reduce_chunks(mean_and_nothing_else, iter(chunks), workers)
    error = caught.value
    assert list(error.failures) == [2]
    assert error.total.chunks == 5
    assert np.array_equal(error.total.value.mean, good.value.mean)
    assert "check_array" in "".join(error.failures[2].__notes__)
    chunks[4] = np.ones((5, 2))
    with pytest.raises(ChunkError, match="chunk 4: it has 2 columns, but chunk 0 has 3") as caught:
        reduce_chunks(mean_and_nothing_else, chunks, workers)
    assert list(caught.value.failures) == [2, 4]
    mended = caught.value.total.value + column_moments(np.zeros((10, 3)))
    assert mended.n == 30


def test_no_chunks_and_wrong_chunks_are_refused():
    with pytest.raises(ChunkError, match="the iterator was empty"):
        reduce_chunks(column_moments, iter([]))
    with pytest.raises(ValueError, match="chunks must be an iterable"):
        reduce_chunks(column_moments, 3)
    with pytest.raises(ValueError, match="reads them once per iteration"):
        as_passes(iter([1]))
    with pytest.raises(ValueError, match=r"a tuple \(X, y\), got one of 1"):
        chunk_parts(np.ones((2, 2)), ("X", "y"), 2)
    with pytest.raises(ValueError, match="text in some chunks"):
        merge_labels(np.array([1, 2]), np.array(["a"]))
    with pytest.raises(ChunkError, match="chunk 1: each chunk must be a tuple"):
        LinearRegression().fit_chunks([(np.ones((2, 1)), np.ones(2)), np.ones((2, 1))])


def load(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 3))
    return X, X @ [1.0, -2.0, 0.5] + 3 + 0.1 * rng.standard_normal(50)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_chunk_may_be_a_function_that_loads_it(workers):
    X, y = (np.concatenate(part) for part in zip(*map(load, range(4))))
    whole = LinearRegression().fit(X, y)
    parts = LinearRegression().fit_chunks([partial(load, s) for s in range(4)], workers=workers)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-10)
    assert np.isclose(parts.intercept_, whole.intercept_, rtol=1e-10)


# Fits from chunks ----------------------------------------------------------------------------


def sample(rng, n=300, d=3, K=3, offset=0.0):
    y = rng.permutation(np.arange(n) % K)
    centres = 3 * rng.standard_normal((K, d))
    X = centres[y] + rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + offset
    return X, y


def same(a, b, names):
    for name in names.split():
        first, second = np.asarray(getattr(a, name)), np.asarray(getattr(b, name))
        assert first.shape == second.shape
        assert np.abs(first - second).max() <= 1e-10 * np.abs(second).max(), name


@pytest.mark.parametrize("workers", [1, 2, map])
def test_linear_models_from_chunks(workers):
    rng = np.random.default_rng(0)
    X, z = sample(rng, offset=10.0)
    y = X @ [1.0, 2.0, -1.0] + z + rng.standard_normal(len(X))
    for intercept in (True, False):
        for model in (LinearRegression, partial(Ridge, 7.0)):
            parts = [(X[i], y[i]) for i in pieces(len(X), 7, rng)]
            whole = model(fit_intercept=intercept).fit(X, y)
            chunked = model(fit_intercept=intercept).fit_chunks(iter(parts), workers)
            same(chunked, whole, "coef_ intercept_ n_features_in_")
            if isinstance(whole, LinearRegression):
                same(chunked, whole, "rank_ sigma2_")


def test_the_threads_of_products_decide_no_bit():
    """With two threads OpenBLAS adds a product of this size in another order."""
    limits = pytest.importorskip("threadpoolctl").threadpool_limits
    rng = np.random.default_rng(0)
    chunks = [
        (X, X.sum(axis=1) + rng.normal(size=20_000)) for X in rng.normal(size=(3, 20_000, 100))
    ]
    found = set()
    for threads in (1, 2):
        with limits(threads):
            model = LinearRegression().fit_chunks(chunks)
        found.add((model.coef_.tobytes(), model.intercept_, model.sigma2_))
    assert len(found) == 1


def test_the_place_in_memory_decides_no_bit():
    X, y = np.random.default_rng(0).normal(size=(60, 31)), np.arange(60)
    moved = np.frombuffer(b"ab" + X.tobytes(), dtype=float, offset=2).reshape(X.shape)
    assert not moved.flags.aligned
    labels, w = y % 2, np.zeros(31)
    there, here = (logistic_sums((table, labels), w) for table in (moved, X))
    assert there.gradient.tobytes() == here.gradient.tobytes()
    assert check_array(moved).flags.aligned


@pytest.mark.parametrize("whole", [True, False])
def test_linear_models_from_weighted_chunks(whole):
    rng = np.random.default_rng(20)
    X, z = sample(rng, offset=10.0)
    y = X @ [1.0, 2.0, -1.0] + z + rng.standard_normal(len(X))
    s = rng.integers(0, 4, len(X)) if whole else rng.random(len(X)) * (rng.random(len(X)) < 0.8)
    cut = pieces(len(X), 7, rng)
    s[cut[2]] = 0  # a chunk that does not count
    parts = [(X[i], y[i], s[i]) for i in cut]
    for intercept in (True, False):
        for model in (LinearRegression, partial(Ridge, 7.0)):
            fit = model(fit_intercept=intercept).fit(X, y, sample_weight=s)
            chunked = model(fit_intercept=intercept).fit_chunks(iter(parts))
            same(chunked, fit, "coef_ intercept_ n_features_in_")
            if isinstance(fit, LinearRegression):
                same(chunked, fit, "rank_ sigma2_")
            for first in ([], [(X[cut[2]], y[cut[2]], s[cut[2]])]):  # in any order
                again = model(fit_intercept=intercept).fit_chunks([*first, *parts])
                same(again, fit, "coef_ intercept_")
            if whole:
                rows = np.repeat(np.arange(len(X)), s)
                same(chunked, model(fit_intercept=intercept).fit(X[rows], y[rows]), "coef_")
    with pytest.raises(ValueError, match="sample_weight is not all zero"):
        LinearRegression().fit_chunks([(X, y, np.zeros(len(X)))])
    with pytest.raises(ValueError, match="chunk 1: sample_weight must not be negative"):
        Ridge().fit_chunks([(X, y), (X, y, -np.ones(len(X)))])


@pytest.mark.parametrize("family", ["full", "tied", "diag", "spherical"])
def test_mixtures_from_weighted_chunks(family):
    rng = np.random.default_rng(21)
    X, _ = sample(rng, K=2, offset=10.0)
    s = rng.random(len(X)) * (rng.random(len(X)) < 0.8)
    cut = pieces(len(X), 5, rng)
    s[cut[1]] = 0
    start = MixtureParams(np.full(2, 0.5), X[:2], np.stack([10 * np.eye(3)] * 2))
    options = {"covariance_type": family, "tol": 1e-13, "max_iter": 5000}
    model = GaussianMixture(2, init=start, covariance_floor=0, **options).fit(X, sample_weight=s)
    parts = em_over_chunks([(X[i], None, s[i]) for i in cut], start, **options)
    assert model.converged_
    assert parts.converged
    np.testing.assert_allclose(parts.params.means, model.means_, rtol=1e-10)
    np.testing.assert_allclose(parts.params.covariances, model.params_.covariances, rtol=1e-9)
    twice = em_over_chunks([(X, None, 2 * s)], start, **options)
    np.testing.assert_allclose(twice.params.means, model.means_, rtol=1e-10)
    with pytest.raises(ValueError, match="sample_weight must not be zero for every row"):
        em_over_chunks([(X, None, np.zeros(len(X)))], start)


def test_a_chunk_without_weight_changes_no_moments():
    X = np.random.default_rng(22).standard_normal((9, 2))
    nothing = column_moments(X, np.zeros(9))
    assert nothing.n == (nothing + nothing).n == 0
    for both in (nothing + column_moments(X), column_moments(X) + nothing):
        for found, wanted in zip(vars(both).values(), vars(column_moments(X)).values()):
            np.testing.assert_array_equal(found, wanted)


def test_linear_models_from_chunks_where_columns_depend():
    rng = np.random.default_rng(2)
    X, _ = sample(rng, n=60)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(60, 5.0)])
    y = rng.standard_normal(60)
    parts = [(X[i], y[i]) for i in pieces(60, 25, rng)]
    whole, chunked = LinearRegression().fit(X, y), LinearRegression().fit_chunks(parts)
    assert chunked.rank_ == whole.rank_ == 3
    np.testing.assert_allclose(chunked.coef_, whole.coef_, rtol=1e-10, atol=1e-12)


def test_the_record_solved_from_statistics_tells_what_is_left_over():
    rng = np.random.default_rng(9)
    X, _ = sample(rng, n=60)
    y = X @ [1.0, 2.0, -1.0] + 4 + rng.standard_normal(60)
    parts = [regression_statistics(X[i], y[i]) for i in pieces(60, 5, rng)]
    for lam in (0.0, 30.0):
        fit = solve_statistics(tree_sum(parts), lam)
        assert np.isclose(fit.rss, np.sum((y - X @ fit.w - fit.b) ** 2), rtol=1e-12)
        objective = fit.rss + lam * fit.w @ fit.w
        rho2 = tree_sum(parts).R[3, 3] ** 2
        assert np.isclose(fit.residuals @ fit.residuals + rho2, objective, rtol=1e-12)
    plain = solve_statistics(tree_sum(parts))
    assert np.isclose(plain.condition, least_squares(X, y, intercept=True).condition, rtol=1e-10)
    assert plain.rank == 3


def test_centred_factors_keep_the_digits_of_data_far_from_zero():
    rng = np.random.default_rng(3)
    X = rng.integers(-4, 5, (400, 2)).astype(float)
    y = X @ [1.0, -2.0] + rng.integers(-1, 2, 400)
    near = LinearRegression().fit(X, y)
    far = LinearRegression().fit_chunks([(X[i] + 1e8, y[i]) for i in pieces(400, 9, rng)])
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-6)  # inputs keep 8 digits less
    raw = (X + 1e8).T @ (X + 1e8) - 400 * np.outer(*2 * [(X + 1e8).mean(axis=0)])
    true = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    assert np.abs(raw - true).max() / np.abs(true).max() > 1e-3


CLASSIFIERS = [
    (GaussianNB(), "theta_ var_ class_prior_ class_count_"),
    (LinearDiscriminantAnalysis(), "priors_ means_ covariances_ coef_ intercept_"),
    (QuadraticDiscriminantAnalysis(), "priors_ means_ covariances_"),
    (RegularisedDiscriminantAnalysis(), "priors_ means_ covariances_"),
    (BernoulliNB(), "p_ class_prior_"),
]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("model", "names"), CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_classifiers_from_chunks_in_which_classes_come_late(model, names, workers):
    rng = np.random.default_rng(4)
    X, y = sample(rng)
    order = np.argsort(y, kind="stable")  # class 2 appears only in the last chunks
    X, y = X[order], np.array(["red", "green", "blue"])[y[order]]
    weights = rng.integers(0, 3, len(X)).astype(float)
    cut = pieces(len(X), 6, rng)
    whole = type(model)(**model.get_params()).fit(X, y, weights)
    parts = type(model)(**model.get_params()).fit_chunks(
        ((X[i], y[i], weights[i]) for i in cut), workers
    )
    assert parts.classes_.tolist() == whole.classes_.tolist() == ["blue", "green", "red"]
    same(parts, whole, names)
    assert np.array_equal(parts.predict(X), whole.predict(X))


@pytest.mark.parametrize("given_categories", [False, True])
def test_categorical_features_from_chunks_in_which_values_come_late(given_categories):
    rng = np.random.default_rng(5)
    y = np.sort(rng.integers(0, 3, 200))
    X = np.column_stack([np.sort(rng.integers(0, 5, 200)), rng.integers(2, 4, 200)]) * 1.0
    model = partial(CategoricalNB, categories=[range(6), [2, 3]] if given_categories else None)
    whole = model().fit(X, y)
    parts = model().fit_chunks([(X[i], y[i]) for i in pieces(200, 8, rng)])
    for a, b in zip(parts.tables_ + parts.categories_, whole.tables_ + whole.categories_):
        assert np.array_equal(a, b)
    mixed = partial(MixedNB, ["categorical", "gaussian"])
    whole = mixed().fit(X, y)
    parts = mixed().fit_chunks([(X[i], y[i]) for i in pieces(200, 8, rng)])
    assert np.allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-10)


def test_one_class_in_all_chunks_is_refused():
    with pytest.raises(ValueError, match="at least 2 classes"):
        LinearDiscriminantAnalysis().fit_chunks([(np.eye(3), np.zeros(3, int))] * 2)


@pytest.mark.parametrize("workers", [1, 2])
def test_components_from_chunks(workers):
    rng = np.random.default_rng(8)
    X, _ = sample(rng)
    parts = [X[i] for i in pieces(len(X), 6, rng)]
    same(PCA().fit_chunks(iter(parts), workers), PCA().fit(X), "mean_ explained_variance_")


@pytest.mark.filterwarnings("ignore:.*max_iter")
@pytest.mark.parametrize("family", ["full", "tied", "diag", "spherical"])
def test_mixtures_from_chunks(family):
    rng = np.random.default_rng(6)
    X, _ = sample(rng, K=2, offset=10.0)
    start = MixtureParams(np.full(2, 0.5), X[:2], np.stack([10 * np.eye(3)] * 2))
    # As many steps for both, and too few for rounding to end one of them earlier.
    options = {"covariance_type": family, "tol": 0, "max_iter": 15}
    chunks = [X[i] for i in pieces(len(X), 5, rng)]
    whole = fit_mixture(X, start, **options)
    for parts in (lambda: iter(chunks), chunks):
        fit = em_over_chunks(parts, start, workers=2 if parts is chunks else 1, **options)
        np.testing.assert_allclose(fit.params.covariances, whole.params.covariances, rtol=1e-9)
        np.testing.assert_allclose(fit.trace, whole.trace, rtol=1e-12)
    with pytest.raises(ValueError, match="once per iteration"):
        em_over_chunks(iter(chunks), start, **options)


@pytest.mark.parametrize("kind", ["gaussian", "diag", "poisson", "categorical"])
def test_hidden_markov_models_from_chunks_of_sequences(kind):
    rng = np.random.default_rng(7)
    lengths = [20, 35, 15, 30]
    z = np.repeat(rng.integers(0, 2, 20), 5)
    if kind in ("gaussian", "diag"):
        X = rng.standard_normal((100, 2)) + 4 * z[:, None] + 100
        covariances = np.ones((2, 2)) if kind == "diag" else np.stack([np.eye(2)] * 2)
        means = np.array([[99.0, 100.0], [104.0, 103.0]])
        emission = GaussianEmission(means, covariances, np.full(2, 1e-6))
    elif kind == "poisson":
        X = rng.poisson(np.where(z, 9, 2))[:, None].astype(float)
        emission = PoissonEmission(np.array([[3.0], [8.0]]))
    else:
        X = np.where(rng.random(100) < 0.8, z, 2)
        X[-1] = 3  # a symbol of the last chunk
        emission = CategoricalEmission(np.array([[0.5, 0.2, 0.2, 0.1], [0.2, 0.5, 0.2, 0.1]]))
    start = HMM(np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.2, 0.8]]), emission)
    options = {"tol": 1e-13, "max_iter": 3000}
    whole = baum_welch(start, X, lengths, **options)
    chunks = [(X[:55], [20, 35]), (X[55:70], None), X[70:]]
    for workers in (1, 2):
        parts = baum_welch_over_chunks(start, chunks, workers=workers, **options)
        np.testing.assert_allclose(parts.params.A, whole.params.A, atol=1e-9)
        np.testing.assert_allclose(parts.params.emission[0], whole.params.emission[0], rtol=1e-8)
        assert np.isclose(parts.trace[-1], whole.trace[-1], rtol=1e-12)


# Statistics add up: associative and commutative ---------------------------------------------------


class Case:
    """A statistic of rows, how two are added, and the numbers in it."""

    def __init__(self, name, statistic, numbers, merge=lambda a, b: a + b):
        self.name, self.statistic, self.numbers, self.merge = name, statistic, numbers, merge


THETA = MixtureParams(
    np.array([0.4, 0.6]), np.array([[0.0, 0.0], [2.0, 1.0]]), np.stack([np.eye(2), 2 * np.eye(2)])
)
START = HMM(
    np.array([0.5, 0.5]),
    np.array([[0.7, 0.3], [0.2, 0.8]]),
    GaussianEmission(THETA.means, THETA.covariances, np.full(2, 1e-6)),
)


def label(X):
    return (X[:, 0] > 1).astype(int) + (X[:, 1] > 1)


def products(s):
    """R is unique only for full rank; its products always are."""
    return [s.n, s.mean, s.R.T @ s.R]


CASES = [
    Case("columns", column_moments, lambda s: [s.n, s.mean, s.scatter, s.low, s.high]),
    Case("regression", lambda X: regression_statistics(X[:, :1], X[:, 1]), products),
    Case(
        "regression without an offset",
        lambda X: regression_chunk((X[:, :1], X[:, 1]), False),
        products,
    ),
    Case(
        "discriminant analysis",
        lambda X: labelled_statistics((X, label(X))),
        lambda s: [s.classes, s.rows, s.statistics.means, s.statistics.scatters],
    ),
    Case(
        "Gaussian naive Bayes",
        lambda X: GaussianNB().statistics(X, label(X)),
        lambda s: [s.classes, s.n, s.parts[0].n, s.parts[0].mean, s.parts[0].scatter],
    ),
    Case(
        "categorical naive Bayes",
        lambda X: CategoricalNB().statistics(np.round(X), label(X)),
        lambda s: [s.classes, s.n, *s.parts[0].categories, *s.parts[0].counts.tables],
    ),
    Case("principal components", moments, lambda s: [s.n, s.mean, s.scatter]),
    Case(
        "k-means",
        lambda X: chunk_statistic(X, THETA.means),
        lambda s: [s.counts, s.sums, s.inertia, s.far_distance],
    ),
    Case(
        "Gaussian mixture",
        lambda X: centred_statistics(X, THETA),
        lambda s: [s.moments.counts, s.moments.means, s.moments.scatters, s.log_likelihood],
    ),
    Case(
        "Baum-Welch",
        lambda X: expected_counts(START, X),
        lambda s: [s.start, s.transitions, *s.emission, s.log_likelihood],
        add_counts,
    ),
]

rows = st.lists(
    st.tuples(*2 * [st.floats(-8, 8).map(lambda v: round(v, 2))]), min_size=1, max_size=5
).map(np.array)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@settings(max_examples=40, deadline=None)
@given(A=rows, B=rows, C=rows)
def test_statistics_add_in_any_order_and_grouping(case, A, B, C):
    a, b, c = map(case.statistic, (A, B, C))
    plus = case.merge
    orders = [plus(plus(a, b), c), plus(a, plus(b, c)), plus(plus(c, a), b), plus(b, plus(c, a))]
    if case.name != "Baum-Welch":  # there a chunk is a sequence, and joining two makes one of them
        orders.append(case.statistic(np.concatenate([A, B, C])))
    for other in orders[1:]:
        for x, y in zip(case.numbers(orders[0]), case.numbers(other), strict=True):
            assert np.shape(x) == np.shape(y)
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)
