"""A workbook is its chapter, minus what the student writes."""

import ast
import json
import re

import nbformat
import pytest
from nbclient import NotebookClient

from mllib.course import workbook
from mllib.course.page import page, slugs
from mllib.course.workbook import cells_of, solved, stub, written

DONE = ("perceptron", "k-means", "hidden-markov-models")


@pytest.mark.parametrize("slug", slugs())
def test_it_is_the_chapter_minus_what_was_taken_out(slug):
    made, chapter = cells_of(slug), page(slug)
    code = [text for kind, _, text in made if kind in ("code", "claim")]
    assert code == [cell.source for cell in chapter.cells if not cell.solution]
    kept = [block.source for block in chapter.blocks if block.kind == "text" and not block.solution]

    def words(text):
        return re.findall(r"\w+", text)

    said = words("\n".join(text for kind, _, text in made if kind == "text"))
    assert said == words("\n".join(written(chapter, text) for text in kept))
    yours = [name for kind, name, _ in made if kind == "yours"]
    assert yours == [name for kind, name, _ in made if kind == "check"]
    assert set(yours) == set(chapter.printed) | set(chapter.exercises)
    everything = "\n".join(text for *_, text in made)
    for cell in chapter.cells:
        if cell.solution:
            assert cell.source not in everything


@pytest.mark.parametrize("slug", slugs())
def test_its_text_is_plain_markdown(slug):
    for kind, name, text in cells_of(slug):
        if kind == "text":
            assert not re.search(r"^`{3,}\{|\{(prf|eq|doc|py|ref|cite)[:\w]*\}`", text, re.M), name
            assert text.count("```") % 2 == 0
        else:
            assert ast.parse(text) is not None


@pytest.mark.parametrize("slug", DONE)
def test_what_was_emptied_can_be_filled_with_what_was_taken(slug):
    for name, (module, _) in page(slug).printed.items():
        empty, full = stub(slug, module, name), solved(slug, module, name)
        head = empty[: empty.index("    ...  # your code")]
        assert full.startswith(head)
        assert len(full) > len(empty)
        space = {"mine": lambda slug: lambda function: function}
        exec(full, space)
        used = space[name].__code__.co_names
        assert {n for n in used if n in vars(__import__(module, fromlist=["x"]))} <= set(space)


def test_it_opens_where_notebooks_open(tmp_path):
    path = workbook("perceptron", tmp_path / "new")
    made = nbformat.read(path, as_version=4)
    nbformat.validate(made)
    assert len({cell.id for cell in made.cells}) == len(made.cells)
    assert "%pip install" in made.cells[1].source
    assert path.read_text("utf-8") == workbook("perceptron", tmp_path / "again").read_text("utf-8")
    claims = [cell for cell in made.cells if "with claim(" in cell.source]
    assert all(cell.metadata["jupyter"]["source_hidden"] for cell in claims)
    assert all(cell.get("outputs", []) == [] for cell in made.cells)
    assert json.loads(path.read_text("utf-8"))["metadata"]["kernelspec"]["name"] == "python3"


def test_an_empty_workbook_runs_to_its_end_and_says_what_is_left(tmp_path):
    made = nbformat.read(workbook("perceptron", tmp_path), as_version=4)
    folder = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(made, timeout=120, kernel_name="python3", resources=folder).execute()
    said = {
        cell.metadata.mllib.name: str(cell.outputs)
        for cell in made.cells
        if cell.metadata.mllib.kind == "check"
    }
    assert "write kernel_perceptron under @mine first" in said["kernel_perceptron"]
    assert "your function `margin_perceptron(X, y, c)`" in said["ex-perceptron-margin"]
    assert "A proof makes these points" in said["ex-perceptron-warm-start"]
