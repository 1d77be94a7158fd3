"""The benchmarks: what they declare, how they measure, what they wrote. Nothing here is timed."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import run  # noqa: E402
from rows import Quality, Row  # noqa: E402

MODULES = sorted(path.stem.removeprefix("bench_") for path in run.HERE.glob("bench_*.py"))
MEASURED = yaml.safe_load(run.RESULTS.read_text("utf-8"))


class Clock:
    """A clock that only moves when a call says how long it took."""

    def __init__(self):
        self.now, self.calls = 0.0, []

    def __call__(self):
        return self.now

    def call(self, name, seconds):
        def spend():
            self.now += seconds
            self.calls.append(name)
            return name

        return spend


def test_both_sides_take_turns_and_short_calls_are_repeated():
    clock = Clock()
    calls = [clock.call("ours", 0.005), clock.call("peer", 0.04)]
    seconds, answers = run.take_turns(calls, clock, repeats=6)
    assert answers == ["ours", "peer"]
    assert [len(s) for s in seconds] == [6, 6]
    np.testing.assert_allclose(seconds, [[0.005] * 6, [0.04] * 6])
    rounds = clock.calls[4:]  # behind the warm-up and the trial of each
    assert rounds[:10] == ["peer"] + ["ours"] * 8 + ["peer"]
    assert run.summary(seconds)["ratio"] == 0.125


def test_long_rounds_are_repeated_five_times():
    clock = Clock()
    seconds, _ = run.take_turns([clock.call("ours", 3), clock.call("peer", 1)], clock)
    assert [len(s) for s in seconds] == [5, 5]


def test_without_numba_a_row_is_measured_in_three_rounds_or_one_long_one(monkeypatch):
    for seconds, rounds in ((0.1, 3), (5.0, 1)):
        clock = Clock()
        monkeypatch.setattr(run, "processor_time", clock)
        ours, peer = clock.call("ours", seconds), clock.call("peer", 0.05)
        row = Row(
            *("sums", 1, 1, "peer", 1.0, lambda seed: {}),
            *(lambda data, call=call: call for call in (ours, peer)),
            quality=None,
        )
        found = run.measure_plain(row)
        assert clock.calls == ["peer"] + ["ours", "peer"] * rounds
        assert found["ratio"] == pytest.approx(seconds / 0.05)


@pytest.mark.parametrize("module", MODULES)
def test_rows_with_loops_say_what_they_take_without_numba(module):
    rows = MEASURED[module]["rows"]
    for row in rows:
        if row["n"] <= run.PLAIN or not row.get("loops"):  # above, an earlier limit allowed more
            assert ("plain" in row) == row.get("loops", False)
    assert ("compilation" in MEASURED[module]) == any(row.get("loops") for row in rows)


def test_a_summary_is_the_ratio_of_medians_with_its_extremes():
    s = run.summary([[2.0, 1.0, 9.0], [1.0, 1.0, 1.0]])
    assert (s["ratio"], s["spread"]) == (2.0, [1.0, 9.0])
    assert s["milliseconds"] == [2000.0, 1000.0]


@pytest.mark.parametrize(
    ("ours", "peer", "better", "equal"),
    [
        (1.0, 1.0, "higher", True),
        (2.0, 1.0, "higher", True),
        (0.9, 1.0, "higher", False),
        (2.0, 1.0, "lower", False),
        (-1e6 - 0.5, -1e6, "higher", True),
        (float("nan"), 1.0, "higher", False),
    ],
)
def test_quality_may_be_better_but_not_worse(ours, peer, better, equal):
    assert Quality("x", ours, peer, better).equal is equal


@pytest.mark.parametrize("module", MODULES)
def test_rows_are_named_once_seeded_twice_and_have_a_target(module):
    rows = importlib.import_module(f"bench_{module}").ROWS
    names = [row.workload for row in rows]
    assert len(set(names)) == len(names)
    for row in rows:
        assert len(set(row.seeds)) >= 2
        assert 0 < row.target <= 10


@pytest.mark.parametrize("module", MODULES)
def test_every_row_was_measured_at_equal_quality_and_a_miss_is_explained(module):
    declared = importlib.import_module(f"bench_{module}").ROWS
    rows = MEASURED[module]["rows"]
    assert [r["workload"] for r in rows] == [r.workload for r in declared]
    for row, here in zip(rows, declared):
        assert row["target"] == here.target
        worst = max(seed["ratio"] for seed in row["one_thread"])
        assert row["met"] == (worst <= row["target"])
        assert row["met"] or len(row["why"]) > 40, row["workload"]
        for seed in row["one_thread"] + row.get("two_threads", []):
            assert seed["equal"], row["workload"]
            assert seed["spread"][0] <= seed["ratio"] <= seed["spread"][1]


def test_the_data_file_names_no_place_on_a_machine():
    text = run.RESULTS.read_text("utf-8")
    assert "/home" not in text
    assert "/tmp" not in text
    assert set(MEASURED) == set(MODULES)


def test_the_process_that_starts_the_others_is_small():
    code = "import sys; sys.argv = ['run']; import run; print('numpy' in sys.modules)"
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=run.HERE, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
