"""Run every gate of the book and end with one line for each: ``make test``.

A gate that fails does not stop the others; only what a failed gate printed is shown. The first
stage runs two gates at a time; the tests and the notebooks use both cores themselves.
``GATE=notebooks,lint`` runs the gates with one of these words in their names; with ``SLOWEST=10``
each gate that runs tests shows its ten slowest.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from _ext.web import browser  # noqa: E402

PYTHON = sys.executable
NBVAL = [PYTHON, "-m", "pytest", "-p", "no:cacheprovider"]
PYTEST = [*NBVAL, "-p", "no:nbval"]
TWO = ["-n", "2", "--dist"]

#: The modules whose loops are compiled, and tests that take minutes where they are not.
LOOPS = [p for p in sorted((ROOT / "mllib").glob("*.py")) if "\n@compiled" in p.read_text("utf-8")]
LONG = "not kd_tree and not work_of_a_tree and not million"

#: The gate that needs a browser. Three work in it, for a page that loads waits a lot.
BROWSER = "site in a browser"

#: Stages in order: name, command, further environment. Gates of one stage run at the same time.
STAGES = [
    [
        ("lint", [PYTHON, "-m", "ruff", "check", "."], {}),
        ("format", [PYTHON, "-m", "ruff", "format", "--check", "."], {}),
        ("book", [*PYTEST, "tests/book"], {}),
        ("grading", [*PYTEST, "tests/course"], {}),
        ("package", [*PYTEST, "-rs", "tests/project"], {}),
        ("site without a warning", [PYTHON, "_ext/build/site.py"], {}),
    ],
    [("library", [*PYTEST, *TWO, "load", "tests/library", "mllib", "--doctest-modules"], {})],
    [
        (
            "notebooks re-executed",
            [*NBVAL, "--nbval", "--nbval-current-env", *TWO, "loadfile", "chapters"],
            {},
        )
    ],
    [
        ("as another processor runs it", [PYTHON, "tools/anywhere.py", "--variant", "none"], {}),
        (
            "loops as plain Python",
            [*PYTEST, "-k", LONG, *(f"tests/library/test_{p.stem}.py" for p in LOOPS)],
            {"NUMBA_DISABLE_JIT": "1", "BARE": "1"},  # and without what Windows lacks: conftest.py
        ),
    ],
    [(BROWSER, [*PYTEST, "-n", "3", "--dist", "loadscope", "tests/site"], {})],
]


def run(gate):
    """Run one gate; return its name, whether it passed and its seconds."""
    name, command, further = gate
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONHASHSEED": "0"} | further
    slowest = os.environ.get("SLOWEST")
    if slowest:
        environment["PYTEST_ADDOPTS"] = f"--durations={slowest}"
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
    print(f"{'passed' if done.returncode == 0 else 'FAILED'}  {name} ({seconds:.0f} s)", flush=True)
    if done.returncode or slowest:
        print(done.stdout[-12000:], flush=True)
    return name, done.returncode == 0, seconds


def main():
    """Run all stages, or the gates that are asked for; return the number of those that failed."""
    wanted = os.environ.get("GATE") or ""
    parts = wanted.split(",")
    stages = [[gate for gate in stage if any(p in gate[0] for p in parts)] for stage in STAGES]
    if not any(stages):
        names = "; ".join(name for stage in STAGES for name, *_ in stage)
        sys.exit(f"No gate is called {wanted!r}. GATE is a part of one of these names: {names}.")
    missing = ""
    if any(name == BROWSER for stage in stages for name, *_ in stage):
        try:
            browser.get()
        except LookupError as error:
            missing = f"{BROWSER}: not run, because {error}"
            stages = [[gate for gate in stage if gate[0] != BROWSER] for stage in stages]
    results = []
    for stage in stages:
        with ThreadPoolExecutor(2) as pool:
            results += pool.map(run, stage)
    print("\nGates")
    for name, passed, seconds in results:
        print(f"  {'passed' if passed else 'FAILED'}  {name} ({seconds:.0f} s)")
    failed = sum(not passed for _, passed, _ in results)
    print(f"\n{len(results) - failed} passed, {failed} failed")
    if missing:  # nobody looks at the last line of a machine's log: there it is a failure
        print(missing)
        failed += bool(os.environ.get("CI"))
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main()))
