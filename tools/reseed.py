"""Run the cells of chapters with every seed moved, and list those that fail: ``make reseed``.

A finding survives other seeds. A cell that shows one drawn example need not; its text says that it
is one ("in this sample"), and it carries the tag ``one-draw``. Whoever asks for the seed s gets the
seed s + 1000 k, in the cells and in the library.

    make reseed                             one shift, all chapters
    make reseed CHAPTER=boosting SHIFTS=5   five shifts of one chapter
"""

import argparse
import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

os.environ |= {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
ROOT = Path(__file__).resolve().parent.parent


def move_seeds(shift):
    """Let ``numpy.random.default_rng`` add ``shift`` to a seed."""
    import numpy as np

    given = np.random.default_rng

    def default_rng(seed=None):
        if isinstance(seed, (int, np.integer)):
            seed = int(seed) + shift
        elif isinstance(seed, (list, tuple)):
            seed = [*seed, shift]
        return given(seed)

    np.random.default_rng = default_rng


def run(text):
    """Run the cells of a chapter; print and count those that fail and are not tagged."""
    import jupytext
    from matplotlib import pyplot

    cells = [cell for cell in jupytext.read(text).cells if cell.cell_type == "code"]
    os.chdir(text.parent)
    space, failed = {"__name__": "__main__"}, 0
    for number, cell in enumerate(cells, 1):
        drawn = "one-draw" in cell.metadata.get("tags", ())
        try:
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                exec(compile(cell.source, f"<cell {number}>", "exec"), space)
        except Exception as error:
            failed += not drawn
            said = f"{type(error).__name__}: {error}".replace("\n", " ")
            print(f"  {'drawn ' if drawn else 'FAILED'} {text.stem} {number}: {said}")
        pyplot.close("all")
    return failed


def main():
    """Run the chapters that are asked for, two at a time; return 1 if a cell failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    texts = {path.stem: path for path in sorted(ROOT.glob("chapters/*/*.md"))}
    parser.add_argument("--chapter", choices=[*texts, "all"], default="all")
    parser.add_argument("--shifts", type=int, default=1)
    parser.add_argument("--only", type=int, help="run here, with this shift alone")
    asked = parser.parse_args()
    if asked.only is not None:
        move_seeds(1000 * asked.only)
        return min(1, run(texts[asked.chapter]))

    def aside(task):
        slug, k = task
        command = [sys.executable, __file__, "--chapter", slug, "--only", str(k)]
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE)
        print(f"{slug}, shift {k}\n{done.stdout}", end="", flush=True)
        return done.returncode

    slugs = texts if asked.chapter == "all" else [asked.chapter]
    tasks = [(slug, k) for k in range(1, asked.shifts + 1) for slug in slugs]
    with ThreadPoolExecutor(2) as pool:
        return max(pool.map(aside, tasks))


if __name__ == "__main__":
    sys.exit(main())
