"""What a workbook leaves empty; tests/site/test_notebooks.py has those that the site offers."""

import ast

import pytest
from handed import cells

from mllib.course.hints import EMPTY, docstring
from mllib.course.page import page, slugs
from mllib.course.workbook import cut, opening, solved, stub


@pytest.mark.parametrize("slug", slugs())
def test_functions_and_answers_are_left_empty_and_solutions_out(slug):
    chapter, given = page(slug), cells(slug)
    for cell in given:
        if cell["cell_type"] == "code":
            figure = {"data": {"image/svg+xml": "<svg/>"}}
            cell["outputs"] = [{"text": "printed"}, {"data": {"text/plain": "3"}}, figure]
    made, tasks = cut(slug, given), {}
    for cell in made:
        about = cell["metadata"]["mllib"]
        if about["kind"] in ("yours", "check"):
            tasks.setdefault(about["name"], {})[about["kind"]] = cell["source"]
            assert ast.parse(cell["source"])
            assert cell["outputs"] == []
        elif cell["cell_type"] == "code":
            assert cell["outputs"] == [figure]
            assert cell["execution_count"] is None
    assert set(tasks) == set(chapter.printed) | set(chapter.exercises)
    for name, (module, _) in chapter.printed.items():
        function = ast.parse(tasks[name]["yours"]).body[-1]
        assert (ast.get_docstring(function) or "") == docstring(module, name)
        assert tasks[name]["yours"].endswith(f"    # It carries out (7.1).\n{EMPTY}")
        assert tasks[name]["check"] == f'check("{slug}", "{name}")'
    for label in chapter.exercises:
        assert tasks[label]["yours"].endswith("\nhanded_in = None")
        assert tasks[label]["check"] == f'answer("{label}", handed_in)'
    kept = [cell["source"] for cell in made if cell["metadata"]["mllib"]["kind"] == "code"]
    assert kept == [cell.source for cell in chapter.cells if not cell.solution]
    assert len({cell["id"] for cell in made}) == len(made)
    assert "mllib" not in given[0]["metadata"]  # what was handed over stays as it was


@pytest.mark.parametrize("slug", ["perceptron", "k-means", "hidden-markov-models"])
def test_what_was_emptied_can_be_filled_with_what_was_taken(slug):
    for name, (module, _) in page(slug).printed.items():
        empty, full = stub(slug, module, name), solved(slug, module, name)
        assert full.startswith(empty[: empty.index(EMPTY)])
        assert len(full) > len(empty)
        space = {"mine": lambda slug: lambda function: function}
        exec(full, space)
        used = space[name].__code__.co_names
        assert {n for n in used if n in vars(__import__(module, fromlist=["x"]))} <= set(space)


def test_an_empty_function_is_told_the_fields_of_the_records_that_it_takes_and_gives():
    empty = stub("hidden-markov-models", "mllib.hidden_markov_models", "m_step")
    assert "# The fields of ExpectedCounts:\n#     start: sum over sequences" in empty
    assert "# The fields of HMM:\n#     pi: start, shape (K,)" in empty


def test_the_first_cell_installs_what_it_is_told_and_a_file_must_lie_beside_it():
    words, install = opening("The perceptron", "ml-you-can-check[book] @ https://a.org/x.whl")
    assert (
        '%pip install --quiet "ml-you-can-check[book] @ https://a.org/x.whl"' in install["source"]
    )
    assert "beside" not in words["source"]
    words, install = opening("The perceptron", "ml_you_can_check-0.1.0-py3-none-any.whl[book]")
    assert "`ml_you_can_check-0.1.0-py3-none-any.whl`: the page offers both" in words["source"]
