"""The gate itself: nbval fails on an altered number, text, SVG or PNG, and passes what is right."""

import base64
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent

CELLS = (
    "print('the answer is', 6 * 7)",
    "from mllib.course.figures import use_book_style\n"
    "import matplotlib.pyplot as plt\n"
    "use_book_style()\n"
    "_ = plt.plot([0, 1, 2], [0, 1, 4])",
    "import matplotlib_inline.backend_inline as inline\n"
    "inline.set_matplotlib_formats('png')\n"
    "_ = plt.plot([0, 1, 2], [0, 1, 4])",
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


def nudge_svg(cells):
    """Change the third decimal of a coordinate, which another processor may round otherwise."""
    data = picture(cells[1], "image/svg+xml")
    before = data["image/svg+xml"]
    number = re.search(r'x="\d+\.\d\d(\d)', before)
    digit = "1" if number[1] != "1" else "2"
    data["image/svg+xml"] = before[: number.start(1)] + digit + before[number.end(1) :]


#: What is changed, and the cells that the gate must find wrong.
CHANGES = {
    change_number: ["Cell 0"],
    change_text: ["Cell 0"],
    change_svg: ["Cell 1"],
    change_png: ["Cell 2"],
    nudge_svg: [],
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
    sanitize = ["--nbval-sanitize-with", str(ROOT / "tests" / "nbval_sanitize.cfg")]
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", *options, *sanitize, f"--junitxml={report}", "."]
    subprocess.run(command, cwd=folder, capture_output=True)
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
