"""Run every gate of the book and end with one line for each: ``make test``.

A gate that fails does not stop the others. The first stage runs two gates at a time; the tests and
the notebooks use both cores themselves.
"""

import os
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


def run(gate):
    """Run one gate; return its name, whether it passed, its seconds and its output."""
    name, command = gate
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONHASHSEED": "0"}
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
    return name, done.returncode == 0, seconds


def main():
    """Run all stages; return the number of gates that failed."""
    if not (shutil.which("chromium-headless-shell") or shutil.which("chromium")):
        sys.exit("Chromium is missing. On Debian or Ubuntu: sudo apt-get install chromium")
    results = []
    for stage in STAGES:
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
