"""Run the benchmarks: ``make bench``, or ``make bench MODULE=perceptron`` for one module.

Each ``bench_<module>.py`` measures its module side by side with the usual choice: both in turn
in one process, with one thread each, at least five times, on two seeded data sets, and with
the quality of both answers in the same row. A ratio is mllib / peer; below 1, mllib is faster. Run
it on a quiet machine.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(wanted):
    """Run the benchmark of every module, or of those wanted; return the number that failed."""
    scripts = sorted(HERE.glob("bench_*.py"))
    known = {path.stem.removeprefix("bench_"): path for path in scripts}
    unknown = set(wanted) - set(known)
    if unknown:
        sys.exit(f"No benchmark for {sorted(unknown)}: MODULE is one of {', '.join(known)}.")
    failed = 0
    for name in wanted or known:
        print(f"\n== {name}", flush=True)
        failed += subprocess.run([sys.executable, str(known[name])]).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
