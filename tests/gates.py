"""Run every gate of the book and end with one line for each: ``make test``.

A gate that fails does not stop the others. The first stage runs two gates at a time; the tests and
the notebooks use both cores themselves. ``GATE=notebooks`` runs the gates with that word in their
names; with ``SLOWEST=10`` each gate that runs tests ends with its ten slowest.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = str(Path(sys.executable))
NOTEBOOKS = [PYTHON, "-m", "pytest", "-p", "no:cacheprovider"]
PYTEST = [*NOTEBOOKS, "-p", "no:nbval"]
APART = ["tests/test_book.py", "tests/test_twins.py", "tests/test_nbval_gate.py", "tests/site"]
APART += ["tests/test_installing.py", "tests/test_package.py"]

#: In the browser three work, for a page that loads waits a lot; windows are too heavy for that.
WORKERS = "3" if shutil.which("chromium-headless-shell") else "2"
#: Stages in order; the gates of one stage run at the same time.
STAGES = [
    [
        ("lint", [PYTHON, "-m", "ruff", "check", "."]),
        ("format", [PYTHON, "-m", "ruff", "format", "--check", "."]),
        ("twins in sync", [*PYTEST, "tests/test_twins.py"]),
        ("rules of the book", [*PYTEST, "tests/test_book.py"]),
        ("changed outputs are caught", [*PYTEST, "tests/test_nbval_gate.py"]),
        ("wheels for every Python", [*PYTEST, "-rs", "tests/test_installing.py"]),
        ("package built and tested clean", [*PYTEST, "-rs", "tests/test_package.py"]),
        ("site without a warning", [PYTHON, "_ext/serving/build.py"]),
    ],
    [
        (
            "library",
            [*PYTEST, "-n", "2", "tests", "--doctest-modules", "mllib"]
            + [f"--ignore={path}" for path in APART],
        )
    ],
    [
        (
            "notebooks re-executed",
            [
                *NOTEBOOKS,
                "--nbval",
                "--nbval-current-env",
                "-n",
                "2",
                "--dist",
                "loadfile",
                "chapters",
            ],
        )
    ],
    [
        ("as another processor runs it", [PYTHON, "tests/anywhere.py", "--variant", "none"]),
        ("loops as plain Python", [PYTHON, "tests/plain.py"]),
    ],
    [
        (
            "planted faults are noticed",
            [PYTHON, "tests/mutants.py", "all", "--sample", "12", "--seconds", "60"],
        )
    ],
    [
        (
            "site in a browser",
            [*PYTEST, "-n", WORKERS, "--dist", "loadscope", "--no-loadscope-reorder", "tests/site"],
        )
    ],
]


def slowest(output, count):
    """Return the slowest parts that a gate told of, at most ``count``, the slowest first.

    These are pytest's durations, and the chapters whose planted faults were run.
    """
    parts = [
        (float(seconds), f"{what} {where}")
        for seconds, what, where in re.findall(
            r"^ *([\d.]+)s (call|setup|teardown) +(\S.*)$", output, re.MULTILINE
        )
    ]
    parts += [
        (float(seconds), slug)
        for slug, seconds in re.findall(
            r"^(\S+): \d+ of \d+ changes, ([\d.]+) s$", output, re.MULTILINE
        )
    ]
    return [f"{seconds:8.1f} s  {part}" for seconds, part in sorted(parts, reverse=True)[:count]]


def run(gate):
    """Run one gate; return its name, whether it passed, its seconds and its output."""
    name, command = gate
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONHASHSEED": "0"}
    count = int(environment.get("SLOWEST") or 0)
    if count:
        environment["PYTEST_ADDOPTS"] = f"--durations={count} --durations-min=0.01"
    start = time.monotonic()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    seconds = time.monotonic() - start
    print(f"\n==== {name} ({seconds:.0f} s)", flush=True)
    print(done.stdout[-12000:], flush=True)
    if count and (found := slowest(done.stdout, count)):
        print(f"The slowest of {name}:", *found, sep="\n", flush=True)
    return name, done.returncode == 0, seconds


def main():
    """Run all stages, or the gates that are asked for; return the number of those that failed."""
    wanted = os.environ.get("GATE") or ""
    stages = [[gate for gate in stage if wanted in gate[0]] for stage in STAGES]
    if not any(stages):
        names = "; ".join(name for stage in STAGES for name, _ in stage)
        sys.exit(f"No gate is called {wanted!r}. GATE is a part of one of these names: {names}.")
    needs_browser = any("browser" in gate[0] for stage in stages for gate in stage)
    browsers = ("chromium-headless-shell", "chromium")
    if needs_browser and not any(map(shutil.which, browsers)):
        sys.exit("Chromium is missing. On Debian or Ubuntu: sudo apt-get install chromium")
    results = []
    for stage in stages:
        with ThreadPoolExecutor(2) as pool:
            results += pool.map(run, stage)
    print("\nGates")
    for name, passed, seconds in results:
        print(f"  {'passed' if passed else 'FAILED'}  {name} ({seconds:.0f} s)")
    failed = sum(not passed for _, passed, _ in results)
    print(f"\n{len(results) - failed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main()))
