"""Verify notebooks and library as other processors would run them: ``make anywhere``.

A processor decides in which order sums are added: by the kernels that OpenBLAS picks for it, by the
loops that numpy and the C library pick. Each of these choices can be forced, so one machine can
stand in for others. Every variant runs the notebooks and the tests of the library once, and ends in
one line with its counts; what this machine cannot emulate is named at the end.

    make anywhere                                  everything, variant by variant
    make anywhere CHAPTER=perceptron               one notebook and the tests of its module
    make anywhere VARIANT=none                     one variant; several are joined by commas
"""

import argparse
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import psutil

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no"]
#: What is the same in every variant unless it says otherwise.
USUAL = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "SCIPY_ARRAY_API": "1",
}
#: The kernels of OpenBLAS, from the oldest to the newest processor, by machine.
KERNELS = {
    "x86_64": ["Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX"],
    "aarch64": ["ARMV8", "NEOVERSEN1", "NEOVERSEV1"],
}
#: What OpenBLAS calls a kernel where it has another name for it.
ALSO = {"Katmai": "Prescott"}
#: The extensions without which a processor dies of a kernel.
NEEDED = {
    "Sandybridge": {"AVX"},
    "Haswell": {"AVX2", "FMA3"},
    "Zen": {"AVX2", "FMA3"},
    "SkylakeX": {"AVX512F"},
}
#: What the C library may use for exp, log and their kin; names of old and new versions.
EXTENSIONS = "AVX512F AVX2 FMA FMA4 AVX AVX512F_Usable AVX2_Usable FMA_Usable FMA4_Usable".split()
#: Tests of the library that belong to no single module.
SHARED = ["claims", "conformance", "oracles", "properties", "published"]

PROBE_BLAS = """
import numpy, scipy.linalg, threadpoolctl
a = numpy.arange(1.0, 4097).reshape(64, 64) / 4096 + numpy.eye(64)
scipy.linalg.svd(numpy.linalg.inv(a) @ a)
print(*{m["architecture"] for m in threadpoolctl.threadpool_info()
        if m["internal_api"] == "openblas"})
"""
PROBE_NUMPY = """
try:
    from numpy._core import _multiarray_umath as m
except ImportError:
    from numpy.core import _multiarray_umath as m
print(*(name for name in m.__cpu_dispatch__ if m.__cpu_features__.get(name)))
print(*(name for name, has in m.__cpu_features__.items() if has))
"""


# -- the variants --------------------------------------------------------------------------------


def probe(code, **settings):
    """Return the lines that Python prints for ``code`` under these settings, or None if it dies."""
    environment = os.environ | USUAL | settings
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=ROOT
    )
    return None if done.returncode else done.stdout.splitlines()


def variants():
    """Return {name: settings} for this machine, and {name: why} for what it cannot do."""
    can, cannot = {"here": {}}, {}
    dispatched, has = (line.split() for line in probe(PROBE_NUMPY))
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    kernels = KERNELS.get(machine, [])
    if not any(probe(PROBE_BLAS) or []):
        cannot["blas"], kernels = "numpy computes without OpenBLAS here", []
    for kernel in kernels:
        lacking = NEEDED.get(kernel, set()) - set(has)
        setting = {"OPENBLAS_CORETYPE": kernel}
        used = " ".join(probe(PROBE_BLAS, **setting) or ["none"]) if not lacking else ""
        if lacking:
            cannot[f"blas-{kernel}"] = f"the processor lacks {', '.join(sorted(lacking))}"
        elif ALSO.get(used, used).lower() != kernel.lower():
            cannot[f"blas-{kernel}"] = f"OpenBLAS takes another kernel for it: {used}"
        else:
            can[f"blas-{kernel}"] = setting
    without = []
    if dispatched:
        without += [("numpy", {"NPY_DISABLE_CPU_FEATURES": " ".join(dispatched)})]
    else:
        cannot["numpy"] = "numpy has only one set of loops for this processor"
    if platform.libc_ver()[0] == "glibc" and machine == "x86_64":
        off = ",".join(f"-{name}" for name in EXTENSIONS)
        without += [("libc", {"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={off}"})]
    else:
        cannot["libc"] = "this C library does not let itself be told"
    can |= dict(without)
    oldest = [can[f"blas-{kernel}"] for kernel in kernels if f"blas-{kernel}" in can][:1]
    together = [*oldest, *(settings for _, settings in without)]
    if together:
        can["none"] = {key: value for settings in together for key, value in settings.items()}
    else:
        cannot["none"] = "nothing can be switched off here"
    can["threads"] = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    can["hash"] = {"PYTHONHASHSEED": "1"}
    return can, cannot


# -- what is run ---------------------------------------------------------------------------------


def tasks(chapter):
    """Return {what: arguments of pytest} for one chapter, or for the whole book."""
    notebooks = {path.stem: path for path in sorted((ROOT / "chapters").glob("*/*.ipynb"))}
    modules = [slug.replace("-", "_") for slug in notebooks]
    if chapter == "all":
        tests = [f"tests/test_{name}.py" for name in modules + SHARED]
        chosen, code, spread = ["chapters"], ["mllib"], ["-n", "2", "--dist", "loadfile"]
    elif chapter in notebooks:
        module = chapter.replace("-", "_")
        tests = [f"tests/test_{module}.py"]
        chosen, code, spread = [str(notebooks[chapter])], [f"mllib/{module}.py"], []
    else:
        names = ", ".join(notebooks)
        sys.exit(f"There is no chapter {chapter!r}. CHAPTER is one of: {names}; or all.")
    there = [path for path in tests + code if (ROOT / path).exists()]
    return {
        "cells": ["--nbval", "--nbval-current-env", *spread, *chosen],
        "tests": ["-p", "no:nbval", "--doctest-modules", *spread, *there],
    }


def run(name, settings, arguments):
    """Run pytest under these settings; return its counts, what failed, and what it said."""
    with tempfile.TemporaryDirectory(prefix="anywhere-") as folder:
        report = Path(folder, "report.xml")
        # Whatever a run writes goes with its folder, also when it is interrupted.
        places = {"TMPDIR": folder, "JUPYTER_RUNTIME_DIR": folder, "IPYTHONDIR": folder}
        places["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
        done = subprocess.run(
            [*PYTEST, f"--junitxml={report}", f"--basetemp={folder}/pytest", *arguments],
            cwd=ROOT,
            env=os.environ | USUAL | places | settings,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        if not report.exists():
            return 0, 0, [f"pytest stopped with {done.returncode}"], done.stdout
        cases = ElementTree.parse(report).getroot().findall(".//testcase")
    failed = [
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    skipped = sum(case.find("skipped") is not None for case in cases)
    if done.returncode and not failed:
        failed = [f"pytest stopped with {done.returncode}"]
    return len(cases) - skipped, skipped, failed, done.stdout


def verify(name, settings, chapter):
    """Run all tasks of one variant; return whether it passed and its line."""
    start, parts, faults = time.monotonic(), [], []
    for what, arguments in tasks(chapter).items():
        count, skipped, failed, said = run(name, settings, arguments)
        parts.append(
            f"{count - len(failed)} of {count} {what}" + f", {skipped} left out" * bool(skipped)
        )
        faults += failed
        if failed:
            print(f"\n==== {name}: {what}\n{said[-9000:]}", flush=True)
        elif "slowest" in said:  # asked for by PYTEST_ADDOPTS
            print(said[said.index("slowest") :], flush=True)
    seconds = time.monotonic() - start
    state = "FAILED" if faults else "passed"
    line = f"  {state}  {name:<17} {'; '.join(parts)} ({seconds:.0f} s)"
    print(line, flush=True)
    return not faults, "\n".join([line, *(f"            {fault}" for fault in faults)])


def stop_everything():
    """End every process that was started from here, and those that they started."""
    while started := psutil.Process().children(recursive=True):
        for process in started:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(started, timeout=5)


def main(argv):
    """Run the variants; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chapter", default="all")
    parser.add_argument("--variant", default="all")
    asked = parser.parse_args(argv)
    tasks(asked.chapter)
    can, cannot = variants()
    wanted = list(can) if asked.variant == "all" else asked.variant.split(",")
    for name in wanted:
        if name in cannot:
            sys.exit(f"This machine cannot run the variant {name!r}: {cannot[name]}.")
        if name not in can:
            sys.exit(f"There is no variant {name!r}. VARIANT is one of: {', '.join(can)}; or all.")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    # A single chapter keeps one core busy, so two variants run at a time.
    pool = ThreadPoolExecutor(1 if asked.chapter == "all" else 2)
    try:
        running = [pool.submit(verify, name, can[name], asked.chapter) for name in wanted]
        results = [future.result() for future in running]
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        stop_everything()
        pool.shutdown()
        print("\nInterrupted.", file=sys.stderr)
        return 130
    print(f"\nVariants ({asked.chapter})")
    for _, line in results:
        print(line)
    if asked.variant == "all":
        for name, why in cannot.items():
            print(f"  left out {name}: {why}")
    failed = sum(not passed for passed, _ in results)
    print(f"\n{len(results) - failed} passed, {failed} failed")
    return min(1, failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
