"""Measure speed side by side with the usual choice: ``make bench``, or with MODULE=perceptron.

Each ``bench_<module>.py`` declares rows; everything else happens here, the same for all of them.
A row is measured in a process of its own. mllib and the peer take turns there, at least five times
after one warm-up, on each of its seeded data sets; a ratio is the time of mllib divided by the
peer's, and beside each ratio stands the quality of both answers, compared in the same run.

With one thread the clock is the processor time of the process and its children, which other work on
the machine disturbs little. With two it is the wall clock, so that the load is written down
as well. Peak memory is that of a whole process which does nothing but load its data and run one of
the two sides once.

Rows that run compiled loops are measured once more on the first data set with compilation turned
off, in few rounds, and only up to PLAIN observations. What compiling costs is measured apart: the
first calls of a module in a process without and with the cache on disk, less the second calls.

This process itself imports nothing heavy: on Linux the peak memory of a child begins at that of
its parent. The outcome is ``benchmarks/results.yml``, which the page on speed shows.
"""

import argparse
import datetime
import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from importlib import metadata
from pathlib import Path

try:
    import resource
except ModuleNotFoundError:  # Windows, where children and memory are not counted
    resource = None

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.yml"
REPEATS = 7  #: rounds of both sides in turn; 5 where a round is long
SHORTEST = 0.02  #: seconds that one timed stretch lasts at least, by repeating short calls
LONG = 2.0  #: seconds from which a round counts as long
PLAIN = 2_000  #: observations up to which a row is measured without numba too
SMALL = 10_000  #: observations up to which a row takes part in measuring compilation
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "hmmlearn")


# In the process of a row ---------------------------------------------------------------------


def processor_time():
    """Return the seconds of processor time of this process and of its finished children."""
    if resource is None:
        return time.process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def take_turns(calls, clock, repeats=REPEATS):
    """Return seconds for one call of each side, a list for each, and what the calls returned.

    The order changes from round to round. Short calls are repeated within a round, each as often
    as a stretch of SHORTEST seconds needs.
    """
    answers, number = [], []
    for call in calls:
        answers.append(call())  # warms up
        start = clock()
        call()
        number.append(max(1, min(2000, round(SHORTEST / max(clock() - start, 1e-9)))))
    seconds = [[] for _ in calls]
    for r in range(repeats):
        for k in range(len(calls)) if r % 2 else reversed(range(len(calls))):
            start = clock()
            for _ in range(number[k]):
                calls[k]()
            seconds[k].append((clock() - start) / number[k])
        if r >= 4 and sum(s[-1] * m for s, m in zip(seconds, number)) > LONG:
            break
    return seconds, answers


def summary(seconds):
    """Return the ratio of the median times, the smallest and largest ratio of a round, and ms."""
    ours, peer = (statistics.median(s) for s in seconds)
    rounds = [a / b for a, b in zip(*seconds)]
    return {
        "ratio": _short(ours / peer),
        "spread": [_short(min(rounds)), _short(max(rounds))],
        "milliseconds": [_short(1e3 * ours), _short(1e3 * peer)],
    }


def measure(row, threads):
    """Return one entry for each seed: times and quality."""
    clock = processor_time if threads == 1 else time.perf_counter
    entries = []
    for seed in row.seeds:
        data = row.data(seed)
        seconds, answers = take_turns([row.ours(data), row.peer(data)], clock)
        quality = row.quality(data, *answers)
        entries.append(
            {"seed": seed}
            | summary(seconds)
            | {
                "measure": quality.measure,
                "quality": [float(f"{quality.ours:.10g}"), float(f"{quality.peer:.10g}")],
                "equal": quality.equal,
            }
        )
    return entries


def measure_plain(row):
    """Return times without compilation on the first data set: three rounds, or one that is long."""
    data = row.data(row.seeds[0])
    calls, seconds = [row.ours(data), row.peer(data)], [[], []]
    calls[1]()  # warms up
    while len(seconds[0]) < 3 and sum(map(sum, seconds)) < LONG:
        for call, found in zip(calls, seconds):
            start = processor_time()
            call()
            found.append(processor_time() - start)
    return summary(seconds)


def loops_ran():
    """Return whether a compiled loop has been called in this process."""
    modules = [module for name, module in sys.modules.items() if name.startswith("mllib.")]
    return any(getattr(f, "signatures", None) for module in modules for f in vars(module).values())


def first_calls(rows):
    """Return the seconds that the first calls of small rows take beyond the second calls."""
    total = 0.0
    for row in rows:
        if row.n <= SMALL:
            call, seconds = row.ours(row.data(row.seeds[0])), []
            for _ in range(2):
                start = time.perf_counter()
                call()
                seconds.append(time.perf_counter() - start)
            total += seconds[0] - seconds[1]
    return _short(total)


def peak_memory():
    """Return the largest resident memory, in MB, that this process or one of its children had."""
    if resource is None:
        return 0
    unit = 2**20 if sys.platform == "darwin" else 2**10
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return round(max(resource.getrusage(w).ru_maxrss for w in who) / unit)


def _short(x):
    return float(f"{x:.3g}")


def work(task, module, index, extra):
    """Do one task of the main process in this one and return its answer."""
    warnings.simplefilter("ignore")  # both sides stop after a fixed number of iterations on purpose
    bench = importlib.import_module(f"bench_{module}")
    rows = bench.ROWS
    if task == "list":
        fields = ("workload", "n", "d", "against", "target", "why")
        listed = [{name: getattr(r, name) for name in fields} for r in rows]
        return {"title": bench.TITLE, "how": bench.HOW, "rows": listed}
    if task == "first":
        return first_calls(rows)
    row = rows[int(index)]
    if task == "plain":
        return measure_plain(row)
    if task == "data":
        import pickle

        Path(extra).write_bytes(pickle.dumps(row.data(row.seeds[0])))
        return None
    if task == "memory":
        import pickle

        side, path = extra.split(":", 1)
        getattr(row, side)(pickle.loads(Path(path).read_bytes()))()
        return peak_memory()
    return {"seeds": measure(row, int(extra)), "loops": loops_ran()}


# In the main process -------------------------------------------------------------------------


def ask(task, module, index=0, extra="", threads=1, **settings):
    """Let a new process do a task, in an environment with further settings; return its answer."""
    count = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    command = [sys.executable, str(HERE / "run.py"), "--task", task, module, str(index), str(extra)]
    done = subprocess.run(
        command, env=os.environ | count | settings, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def measure_row(module, index, entry, folder):
    """Add to the entry of a row all that is measured."""
    path = Path(folder) / "data"
    ask("data", module, index, path)
    entry["memory"] = [ask("memory", module, index, f"{side}:{path}") for side in ("ours", "peer")]
    found = ask("measure", module, index, 1)
    entry["one_thread"], entry["loops"] = found["seeds"], found["loops"]
    if entry["loops"] and entry["n"] <= PLAIN:
        entry["plain"] = ask("plain", module, index, NUMBA_DISABLE_JIT="1")
    if os.cpu_count() > 1:
        entry["two_threads"] = ask("measure", module, index, 2, threads=2)["seeds"]
    entry["met"] = max(seed["ratio"] for seed in entry["one_thread"]) <= entry["target"]


def machine():
    """Return what a reader needs to know about the machine and the versions."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):  # hmmlearn has no wheel for Python 3.14
            versions[name] = metadata.version(name)
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "load": _short(os.getloadavg()[0]),
        "versions": versions,
    }


def line_of(entry):
    """Return one printed line about a measured row."""
    cells = [
        f"{s['ratio']:6.3g} ({s['spread'][0]:.2g}-{s['spread'][1]:.2g})"
        for s in entry["one_thread"]
    ]
    quality = entry["one_thread"][0]
    plain = f"  without numba {entry['plain']['ratio']:g}" if "plain" in entry else ""
    return (
        f"{entry['workload']:<44s} {' '.join(cells)}{plain}  target {entry['target']:<5g} "
        f"{'met' if entry['met'] else 'MISSED'}  {quality['measure']} "
        f"{quality['quality'][0]:.8g} / {quality['quality'][1]:.8g}  "
        f"MB {entry['memory'][0]} / {entry['memory'][1]}"
    )


def write(module, found):
    """Replace what is known about one module in the data file."""
    import yaml

    old = yaml.safe_load(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    everything = old | {module: found}
    text = yaml.safe_dump(dict(sorted(everything.items())), sort_keys=False, width=100)
    RESULTS.write_text(f"# Written by `make bench`; the page on speed shows it.\n{text}", "utf-8")


def renew_words(module):
    """Take title and reasons afresh from ``bench_<module>.py``, without measuring."""
    import yaml

    found = yaml.safe_load(RESULTS.read_text("utf-8"))[module]
    declared = ask("list", module)
    why = {row["workload"]: row["why"] for row in declared["rows"]}
    for row in found["rows"]:
        row["why"] = why[row["workload"]]
    write(module, found | {"title": declared["title"], "how": declared["how"]})


def main(wanted, words=False):
    """Measure every module, or those wanted; return the number of rows of unequal quality."""
    known = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    unknown = set(wanted) - set(known)
    if unknown:
        sys.exit(f"No benchmark for {sorted(unknown)}: MODULE is one of {', '.join(known)}.")
    unequal = 0
    for module in wanted or known:
        if words:
            renew_words(module)
            continue
        print(f"\n== {module}: mllib / peer on each data set, one thread", flush=True)
        found = ask("list", module) | {"machine": machine()}
        for index, entry in enumerate(found["rows"]):
            with tempfile.TemporaryDirectory() as folder:
                measure_row(module, index, entry, folder)
            print(line_of(entry), flush=True)
            for seed in entry["one_thread"] + entry.get("two_threads", []):
                if not seed["equal"]:
                    unequal += 1
                    print(f"   not of equal quality, seed {seed['seed']}: this is no result")
        if any(entry["loops"] for entry in found["rows"]):
            with tempfile.TemporaryDirectory() as cache:
                cold, kept = (ask("first", module, NUMBA_CACHE_DIR=cache) for _ in range(2))
            found["compilation"] = {"cold": cold, "kept": kept}
            print(f"compiling: {cold} s at first, {kept} s from the cache")
        write(module, found)
    return unequal


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--words", action="store_true", help="only renew titles and reasons")
    parser.add_argument("--task", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(work(*options.task)))
    else:
        sys.exit(min(1, main(options.modules, options.words)))
