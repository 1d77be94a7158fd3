"""Verify notebooks and library as other processors would run them: ``make anywhere``.

A processor decides in which order sums are added: by the kernels that OpenBLAS picks for it, by the
loops that numpy and the C library pick. These can be told, so one machine can stand in for others.

    make anywhere                        all variants, one after the other
    make anywhere CHAPTER=perceptron     one notebook and the tests of its module
    make anywhere VARIANT=none           one variant
"""

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

from numpy._core import _multiarray_umath as numpy_core

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
#: What is the same in every variant unless it says otherwise.
USUAL = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "SCIPY_ARRAY_API": "1",
}
#: The oldest processor that can be had: its kernels in OpenBLAS, plain loops in numpy, and exp, log
#: and their kin without the extensions (names of old and new versions of the C library).
OFF = "AVX512F AVX2 FMA FMA4 AVX AVX512F_Usable AVX2_Usable FMA_Usable FMA4_Usable".split()
USED = [f for f in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__.get(f)]
OLDEST = {"NPY_DISABLE_CPU_FEATURES": " ".join(USED)} if USED else {}
if platform.machine() in ("x86_64", "AMD64"):
    OLDEST["OPENBLAS_CORETYPE"] = "Prescott"
    OLDEST["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in OFF)
#: BARE: the tests do without fork, resource and alarms, which Windows lacks (conftest.py).
VARIANTS = {
    "none": OLDEST,
    "bare": {"BARE": "1"},
    "threads": {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
    "hash": {"PYTHONHASHSEED": "1"},
    "here": {},
}


def tasks(chapter):
    """Return the arguments of pytest for the cells and for the tests of a chapter, or of all."""
    notebooks = {path.stem: path for path in sorted((ROOT / "chapters").glob("*/*.ipynb"))}
    if chapter == "all":
        cells, tests, spread = ["chapters"], ["tests/library", "mllib"], ["-n", "2"]
    elif chapter in notebooks:
        module = chapter.replace("-", "_")
        cells, spread = [str(notebooks[chapter])], []
        tests = [f"tests/library/test_{module}.py", f"mllib/{module}.py"]
    else:
        sys.exit(f"There is no chapter {chapter!r}. CHAPTER is one of: {', '.join(notebooks)}.")
    tests = [path for path in tests if (ROOT / path).exists()]
    spread += ["--dist", "loadfile"] if spread else []
    yield "cells", ["--nbval", "--nbval-current-env", *spread, *cells]
    yield "tests", ["-p", "no:nbval", "--doctest-modules", *spread, *tests]


def main():
    """Run the variants; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chapter", default="all")
    parser.add_argument("--variant", default="all", choices=["all", *VARIANTS])
    asked = parser.parse_args()
    results = []
    for name in VARIANTS if asked.variant == "all" else [asked.variant]:
        for what, arguments in tasks(asked.chapter):
            environment = os.environ | USUAL | VARIANTS[name]
            done = subprocess.run([*PYTEST, *arguments], cwd=ROOT, env=environment)
            results.append((f"{name}: {what}", done.returncode == 0))
    for what, passed in results:
        print(f"  {'passed' if passed else 'FAILED'}  {what}")
    return int(not all(passed for _, passed in results))


if __name__ == "__main__":
    sys.exit(main())
