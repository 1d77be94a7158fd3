"""The gate itself: nbval fails on an altered number, text, SVG or PNG, and passes what is right.

What is right is the same meaning: one unit of the last digit or a fiftieth of a pixel is rounding.
"""

import base64
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]

CELLS = (
    "print('the answer is', 6 * 7)",
    "from mllib.course.figures import use_book_style\n"
    "import matplotlib.pyplot as plt\n"
    "use_book_style()\n"
    "_ = plt.plot([0, 1, 2], [0, 1, 4])",
    "import matplotlib_inline.backend_inline as inline\n"
    "inline.set_matplotlib_formats('png')\n"
    "_ = plt.plot([0, 1, 2], [0, 1, 4])",
    "from mllib.course.claims import claim\n"
    "with claim('two-thirds') as c:\n"
    "    c.holds(f'{2 / 3:.4f} is two thirds', True)",
)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """Return a small executed notebook with a text, an SVG and a PNG."""
    from nbclient import NotebookClient

    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    NotebookClient(made, kernel_name="python3", record_timing=False).execute()
    return made


def altered(notebook, change):
    """Return a copy of the notebook with one output changed."""
    copy = nbformat.from_dict(notebook)
    copy = nbformat.reads(nbformat.writes(copy), as_version=4)
    change(copy.cells)
    return copy


def picture(cell, kind):
    """Return the data of the output that holds a picture."""
    return next(o.data for o in cell.outputs if kind in o.get("data", {}))


def change_number(cells):
    cells[0].outputs[0].text = "the answer is 43\n"


def change_text(cells):
    cells[0].outputs[0].text = "the answer was 42\n"


def change_svg(cells):
    data = picture(cells[1], "image/svg+xml")
    data["image/svg+xml"] = data["image/svg+xml"].replace("#0b5fa5", "#b8431a")


def change_png(cells):
    data = picture(cells[2], "image/png")
    raw = bytearray(base64.b64decode(data["image/png"]))
    raw[len(raw) // 2] ^= 1
    data["image/png"] = base64.b64encode(bytes(raw)).decode()


def moved(by):
    """Return a change that moves one point of the curve by so many px."""

    def change(cells):
        data = picture(cells[1], "image/svg+xml")
        before = data["image/svg+xml"]
        number = re.search(r'id="line2d_\d+">\s*<path d="M (\d+\.\d+)', before)
        after = f"{float(number[1]) + by:.6f}"
        data["image/svg+xml"] = before[: number.start(1)] + after + before[number.end(1) :]

    return change


def point_moved(cells):
    moved(0.2)(cells)


def point_nudged(cells):
    moved(0.02)(cells)


def element_lost(cells):
    data = picture(cells[1], "image/svg+xml")
    data["image/svg+xml"], count = re.subn(r"<use [^>]*/>", "", data["image/svg+xml"], count=1)
    assert count == 1


def verdict(before, after):
    """Return a change of every form in which the verdict is shown."""

    def change(cells):
        found = 0
        for output in cells[3].outputs:
            shown = output if "text" in output else output.data
            for kind in set(shown) & {"text", "text/plain", "text/markdown"}:
                found += shown[kind].count(before)
                shown[kind] = shown[kind].replace(before, after)
        assert found

    return change


def two_units(cells):
    verdict("0.6667", "0.6669")(cells)


def one_unit(cells):
    verdict("0.6667", "0.6668")(cells)


def other_verdict(cells):
    verdict("holds", "tight")(cells)


def other_word(cells):
    verdict("thirds", "fifths")(cells)


#: What is changed, and the cells that the gate must find wrong.
CHANGES = {
    change_number: ["Cell 0"],
    change_text: ["Cell 0"],
    change_svg: ["Cell 1"],
    change_png: ["Cell 2"],
    point_moved: ["Cell 1"],
    point_nudged: [],
    element_lost: ["Cell 1"],
    two_units: ["Cell 3"],
    one_unit: [],
    other_verdict: ["Cell 3"],
    other_word: ["Cell 3"],
}


@pytest.fixture(scope="module")
def wrong(notebook, tmp_path_factory):
    """Run the gate's command on the notebook and its altered copies; give the cells that fail."""
    folder = tmp_path_factory.mktemp("notebooks")
    nbformat.write(notebook, folder / "untouched.ipynb")
    for change in CHANGES:
        copy = altered(notebook, change)
        assert nbformat.writes(copy) != nbformat.writes(notebook)
        nbformat.write(copy, folder / f"{change.__name__}.ipynb")
    (folder / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8"), "utf-8")
    options = ["--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    paths = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", *options, f"--junitxml={report}", "."]
    environment = os.environ | {"PYTHONPATH": paths}
    subprocess.run(command, cwd=folder, capture_output=True, env=environment)
    cells = ElementTree.parse(report).getroot().findall(".//testcase")
    assert len(cells) == len(CELLS) * (1 + len(CHANGES))
    found = {}
    for cell in cells:
        name = cell.get("classname").removesuffix(".ipynb").rpartition(".")[2]
        faulty = cell.find("failure") is not None or cell.find("error") is not None
        found.setdefault(name, []).extend([cell.get("name")] if faulty else [])
    return found


def test_an_untouched_notebook_passes(wrong):
    assert wrong["untouched"] == []


@pytest.mark.parametrize("change", CHANGES)
def test_an_altered_output_fails_in_its_cell(wrong, change):
    assert wrong[change.__name__] == CHANGES[change]
