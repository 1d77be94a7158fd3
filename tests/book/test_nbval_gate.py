"""The gate itself: nbval fails on an altered text or picture, and passes what is rounding."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
CELLS = (
    "print('two thirds are', f'{2 / 3:.4f}')",
    "from mllib.course.figures import use_book_style\n"
    "import matplotlib.pyplot as plt\n"
    "use_book_style()\n"
    "_ = plt.plot([0, 1, 2], [0, 1, 4])",
)


def text(cells, before, after):
    cells[0].outputs[0].text = cells[0].outputs[0].text.replace(before, after)


def curve(cells, by):
    """Move one point of the curve by so many px."""
    data = next(o.data for o in cells[1].outputs if "image/svg+xml" in o.get("data", {}))
    found = re.search(r'id="line2d_\d+">\s*<path d="M (\d+\.\d+)', data["image/svg+xml"])
    a, b = found.span(1)
    moved = f"{float(found[1]) + by:.6f}"
    data["image/svg+xml"] = data["image/svg+xml"][:a] + moved + data["image/svg+xml"][b:]


#: What is changed, and whether the gate must pass.
CHANGES = {
    "nothing": (lambda cells: None, True),
    "a unit of the last digit": (lambda cells: text(cells, "0.6667", "0.6668"), True),
    "two units": (lambda cells: text(cells, "0.6667", "0.6669"), False),
    "a word": (lambda cells: text(cells, "thirds", "fifths"), False),
    "a fiftieth of a pixel": (lambda cells: curve(cells, 0.02), True),
    "a fifth of a pixel": (lambda cells: curve(cells, 0.2), False),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Run the gate's command on altered copies of a notebook; return what it says."""
    folder = tmp_path_factory.mktemp("notebooks")
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    NotebookClient(made, kernel_name="python3", record_timing=False).execute()
    for number, (change, _) in enumerate(CHANGES.values()):
        copy = nbformat.reads(nbformat.writes(made), as_version=4)
        change(copy.cells)
        nbformat.write(copy, folder / f"copy{number}.ipynb")
    (folder / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8"), "utf-8")
    paths = os.pathsep.join([str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
    options = ["--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-rf", "."],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
    ).stdout


@pytest.mark.parametrize("number", range(len(CHANGES)), ids=list(CHANGES))
def test_an_altered_output_fails_and_rounding_passes(said, number):
    passes = list(CHANGES.values())[number][1]
    assert (f"FAILED copy{number}.ipynb" not in said) == passes, said[-3000:]
