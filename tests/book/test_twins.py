"""Each notebook and its text say the same: what pairing them would write is what is there."""

from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "chapters").glob("*/*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_text_equals_what_the_notebook_pairs_to(path):
    text = path.with_suffix(".md").read_text(encoding="utf-8")
    assert jupytext.writes(jupytext.read(path), "md:myst") == text, (
        "run `make run` for this chapter"
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_of_the_text_are_the_cells_of_the_notebook(path):
    notebook, text = jupytext.read(path), jupytext.read(path.with_suffix(".md"))
    assert [(c.cell_type, c.source) for c in notebook.cells] == [
        (c.cell_type, c.source) for c in text.cells
    ]


def test_every_text_has_a_notebook_and_every_notebook_a_text():
    texts = {path.with_suffix("") for path in (ROOT / "chapters").glob("*/*.md")}
    assert texts == {path.with_suffix("") for path in NOTEBOOKS}
    assert texts


def test_a_drift_is_noticed(tmp_path):
    path = NOTEBOOKS[0]
    notebook = jupytext.read(path)
    notebook.cells[0].source += "\n\nOne more sentence."
    assert jupytext.writes(notebook, "md:myst") != path.with_suffix(".md").read_text("utf-8")
