"""A course: handed out, handed in, graded, by nbgrader and without it; five students."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from handed import cells

from mllib.course.assignment import assignment, grade, handed_in, mark, tasks
from mllib.course.workbook import cut, opening

ROOT = Path(__file__).resolve().parents[2]
ONLY = ("kernel_perceptron", "ex-perceptron-order")
#: A student who means no good: prints without end, spoils what checks, ends the process.
HOSTILE = {
    "kernel_perceptron": """
import mllib.course.claims
def kernel_perceptron(K, y, *, max_epochs=1000):
    mllib.course.claims.claim.holds = lambda *a: None
    print("x" * 10**6)
    raise SystemExit
kernel_perceptron = mine("perceptron")(kernel_perceptron)
def check(*names): return type("Fine", (), {"require": lambda self: None})()
answer = check
""",
    "ex-perceptron-order": "handed_in = (open('/dev/zero') if 0 else 'me', 1)\n",
}


def cell_of(notebook, name):
    return next(
        cell for cell in notebook.cells if cell.metadata.mllib == {"kind": "yours", "name": name}
    )


def workbook():
    """Return a workbook of the perceptron, as its page offers it."""
    made = [*opening("The perceptron", "the wheel"), *cut("perceptron", cells("perceptron"))]
    about = {"mllib": {"chapter": "perceptron"}, "kernelspec": {"name": "python3"}}
    about["kernelspec"] |= {"display_name": "Python 3", "language": "python"}
    return {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Hand out one assignment, and hand in what five students made of it."""
    folder = tmp_path_factory.mktemp("course")
    given = folder / "perceptron-workbook (1).ipynb"  # as a browser may call it
    given.write_text(json.dumps(workbook()), "utf-8")
    (source,) = assignment([given], folder, only=ONLY)
    right = nbformat.read(source, as_version=4)
    release = folder / "release" / "perceptron" / "perceptron.ipynb"
    for student in ("broken", "empty", "half", "hostile", "perfect"):
        made = nbformat.read(release, as_version=4)
        for name in ONLY:
            cell = cell_of(made, name)
            if student == "perfect" or (student == "half" and name == ONLY[0]):
                cell.source = cell_of(right, name).source
                cell.source += "\nhanded_in = A, t, (0, 1, 2), (2, 0, 1)" * (name == ONLY[1])
            elif student == "half":
                cell.source = "handed_in = [[1, 1]], [1], [0], [0]"
            elif student == "hostile":
                cell.source = HOSTILE[name]
        if student == "hostile":  # a cell of the teacher's, rewritten
            made.cells[-1].source = "pass"
        path = folder / "submitted" / student / "perceptron" / "perceptron.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(made, path)
        if student == "broken":
            path.write_text("This is no notebook.", "utf-8")
    return folder


def test_what_is_handed_out_is_in_nbgraders_format(course):
    for version in ("source", "release"):
        made = nbformat.read(course / version / "perceptron" / "perceptron.ipynb", as_version=4)
        nbformat.validate(made)
        about = [cell.metadata.nbgrader for cell in made.cells]
        assert len({entry.grade_id for entry in about}) == len(made.cells)
        assert sum(entry.get("points", 0) for entry in about) == 4
        assert [e.grade_id for e in about if e.solution] == [f"yours-{n}" for n in ONLY]
        assert all(entry.locked for entry in about if not entry.solution)
        everything = "\n".join(cell.source for cell in made.cells)
        assert ("### BEGIN SOLUTION" in everything) == (version == "source")
        assert ("y[i] * K[:, i]" in everything) == (version == "source")


def test_a_whole_chapter_has_all_its_tasks():
    made = [cell["metadata"]["mllib"] for cell in tasks(workbook()["cells"])]
    names = [about["name"] for about in made if about["kind"] == "yours"]
    assert names == [
        "_one_pass",
        "kernel_perceptron",
        *(f"ex-perceptron-{n}" for n in ("warm-start", "order", "margin", "iris", "break")),
    ]
    with pytest.raises(ValueError, match="The workbook has no such task: nothing"):
        tasks(workbook()["cells"], ["nothing"])


POINTS = {"broken": 0, "empty": 0, "half": 2, "hostile": 0, "perfect": 4}


def test_without_nbgrader_each_submission_costs_only_itself(course):
    rows = grade(course)
    with open(course / "grades.csv", encoding="utf-8") as table:
        listed = list(csv.DictReader(table))
    assert [tuple(row.values()) for row in listed] == [tuple(map(str, row)) for row in rows]
    totals = dict.fromkeys(POINTS, 0)
    for student, _, _, points, of, _ in rows:
        assert of == 2
        totals[student] += points
    assert totals == POINTS
    said = {(row[0], row[2]): row[5] for row in rows}
    assert "not the notebook that was handed out" in said["broken", ONLY[0]]
    assert said["empty", ONLY[0]] == "Left empty."
    assert "changes what checks it" in (course / "feedback" / "hostile.html").read_text("utf-8")
    pages = {p.stem: p.read_text("utf-8") for p in (course / "feedback").glob("*.html")}
    assert set(pages) == set(POINTS)
    assert "perfect: 4 of 4 points" in pages["perfect"]
    assert "after different numbers of mistakes" in pages["half"]


def test_a_submission_that_is_too_large_or_another_notebook_is_refused(tmp_path):
    path = tmp_path / "one.ipynb"
    path.write_text(json.dumps({"cells": []}), "utf-8")
    with pytest.raises(ValueError, match="none of the cells"):
        handed_in(path)
    path.write_bytes(b" " * (21 << 20))
    with pytest.raises(ValueError, match="larger than 20 MB"):
        handed_in(path)


def nbgrader(folder, *words):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": str(folder / ".no")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *words, "--course-dir", str(folder)],
        cwd=folder,
        env=environment | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
    )


def test_nbgrader_hands_out_grades_and_answers(course, tmp_path):
    from nbgrader.api import Gradebook

    for part in ("source", "submitted"):
        shutil.copytree(course / part, tmp_path / part)
    shutil.copy(course / "nbgrader_config.py", tmp_path)
    done = nbgrader(tmp_path, "generate_assignment", "perceptron")
    assert done.returncode == 0, done.stderr[-2000:]
    handed_out = nbformat.read(tmp_path / "release/perceptron/perceptron.ipynb", as_version=4)
    ours = nbformat.read(course / "release/perceptron/perceptron.ipynb", as_version=4)
    assert [c.metadata.nbgrader.grade_id for c in handed_out.cells] == [
        c.metadata.nbgrader.grade_id for c in ours.cells
    ]
    assert "SOLUTION" not in "\n".join(cell.source for cell in handed_out.cells)
    name = ONLY[0]  # a function that is empty is empty for nbgrader too
    assert cell_of(handed_out, name).source.split() == cell_of(ours, name).source.split()
    cells = [cell_of(handed_out, name).source for name in ONLY]
    for last, name in enumerate(ONLY):
        assert "Left empty." in repr(mark("perceptron", cells, name, last))
    nbgrader(tmp_path, "autograde", "perceptron", "--create")
    nbgrader(tmp_path, "generate_feedback", "perceptron")
    found = {}
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as book:
        for submission in book.assignment_submissions("perceptron"):
            found[submission.student.id] = submission.score
    assert found.pop("broken", 0) == 0
    assert found == {name: points for name, points in POINTS.items() if name != "broken"}
    pages = {path.parts[-3] for path in tmp_path.glob("feedback/*/perceptron/perceptron.html")}
    assert {"half", "perfect"} <= pages
