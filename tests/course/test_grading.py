"""Grading by claims: a function of one's own in the place of the library's."""

import ast
import itertools
import pickle
from functools import partial

import numpy as np
import pytest
from scipy.sparse import eye_array

from mllib import perceptron as library
from mllib.course import check, grading, hint, mine
from mllib.course.hints import docstring, source
from mllib.course.page import names, needed, page, slugs
from mllib.course.running import Outcome, Run, Watched, claimed, reaching
from mllib.perceptron import KernelRun

KEY = ("mllib.perceptron", "kernel_perceptron")


def graded(text, only=None):
    """Grade a version of ``kernel_perceptron`` in this process; return what is said."""
    said = []
    run = Run("perceptron", {KEY: text}, said.append)
    try:
        run.check(only)
    finally:
        run.end()
    return [message for message in said if isinstance(message, Outcome)]


def version(old="", new=""):
    text = source(*KEY)
    assert old in text
    return text.replace(old, new, 1)


def refusals(outcomes):
    return " | ".join(outcome.plain for outcome in outcomes if not outcome.passed)


# What is run ---------------------------------------------------------------------------------


def test_only_the_claims_in_which_a_function_takes_part_are_run():
    outcomes = graded(version())
    assert [o for o in outcomes if not o.passed] == []
    found = {name for o in outcomes for name in o.what.split(", ")}
    where = "The assertions under \N{LEFT DOUBLE QUOTATION MARK}No line at all"
    where += "\N{RIGHT DOUBLE QUOTATION MARK}"
    assert found == {"`kernel_perceptron`", "perceptron-weights-in-span", where}


def test_a_cell_needs_what_it_reads_and_the_cells_that_change_it():
    cells = page("perceptron").cells
    texts = ["import numpy as np", "a = []", "a.append(1)", "b = 2", "def f():\n    return a"]
    cells = [cells[0]._replace(source=text) for text in [*texts, "a[0] = 3", "b = f()", "b, c"]]
    assert needed(cells, 6) == [1, 2, 4, 5]
    assert needed(cells, 3) == []
    drawn = ["rng = Generator()", "rng.normal()", "x = 1", "y = rng.normal()"]
    cells = [cells[0]._replace(source=text) for text in drawn]
    assert needed(cells, 3) == [0, 1]
    found = names("x = [a for a in b if a > c]\nx.sort()\nnp.sort(d)\nfor e in x:\n    g += e")
    assert found.needs == {"b", "c", "np", "d", "g"}
    assert found.binds == {"x", "e", "g"}
    assert found.changes == {"x", "g"}


def test_each_claim_of_a_chapter_holds_after_the_cells_that_it_needs_alone():
    run = Run("perceptron", {}, None)
    run.begin()
    for k, cell in enumerate(run.cells):
        if claimed(cell.source) and k % 2:
            run.ended.clear()
            run.space = {"__name__": "__main__"}
            for j in [*needed(run.cells, k), k]:
                run.execute(j)
                assert run.ended[j] is None, (k, j, run.ended[j])


def test_what_comes_to_a_function_is_read_from_the_library():
    found = reaching("mllib.perceptron", "_one_pass")
    assert {("mllib.perceptron", "perceptron"), ("mllib.perceptron", "Perceptron")} <= found
    assert ("mllib.perceptron", "kernel_perceptron") not in found


@pytest.mark.parametrize("slug", slugs())
def test_every_chapter_can_be_taken_apart(slug):
    chapter = page(slug)
    assert chapter.title
    assert all(ast.parse(cell.source) for cell in chapter.cells)
    assert {cell.solution for cell in chapter.cells} - {""} <= set(chapter.exercises)
    assert chapter.statements
    for name, (module, _) in chapter.printed.items():
        hints = grading.hints(slug, module, name)
        assert 2 <= len(hints) <= 3
        shape = hints[-1].splitlines()
        assert not [line for line in source(module, name).splitlines() if " = " in line in shape]


# What is said --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("alpha[i] += 1", "alpha[i] += 2", "FAILS      the dual form makes the same mistakes"),
        ("y[i] * f[i] <= 0", "1 / 0", "raised ZeroDivisionError: division by zero, in its line"),
        ("return KernelRun(", "K[:] = 0; return KernelRun(", "It changes its argument `K`"),
        ("f = f + y", "f = np.nan * f + y", "The field `f` contains NaN"),
        ("f = np.zeros(len(y)", "f = np.zeros(2 * len(y)", "The field `alpha` has the shape"),
        ("return KernelRun(alpha, f,", "return KernelRun(alpha, f[:-1],", "has the shape"),
        ("KernelRun(alpha, f,", "KernelRun(alpha, list(f),", "The field `f` returns a list of"),
        (
            "return KernelRun(",
            "return (lambda *all: all)(",
            "in the place of a `KernelRun` (alpha, f, mis",
        ),
        ("return KernelRun(", "_ = (", "returns nothing; is there a `return`?"),
        ("max_epochs=1000", "max_epochs=9", "The default of `max_epochs` is 9, not 1000."),
        ("K, y, *", "K, *", "is promised"),
        ("bool(mistakes[-1] == 0)", "True", "FAILS"),
    ],
)
def test_each_slip_has_its_sentence(old, new, said):
    found = graded(version(old, new))
    assert said in refusals(found)


def test_a_kind_of_slip_is_said_once_whatever_the_sizes():
    found = graded(version("return KernelRun(alpha, f,", "return KernelRun(alpha, f[:-1],"))
    assert sum("has the shape" in outcome.plain for outcome in found) == 1


def test_examples_that_fail_show_the_error_and_no_line_of_the_library():
    said = refusals(graded(version("y[i] * f[i] <= 0", "1 / 0")))
    assert "ZeroDivisionError" in said
    assert "Traceback" not in said
    assert ".py" not in said


def test_records_may_be_compared():
    run = KernelRun(np.arange(2), np.ones(2), np.zeros(3), True)
    function = Watched("first", lambda run: run.f[0] + 1, lambda run: run.f[0])
    function(run)
    assert function.different[1].endswith("it gave `2`")


def test_a_function_that_works_in_other_processes_travels_by_its_name(monkeypatch):
    from mllib import model_selection

    library = model_selection._fit_fold
    mine = Watched("_fit_fold", lambda estimator, X, y, loss, fold: (0.0, 0.0), library)
    monkeypatch.setattr(model_selection, "_fit_fold", mine)
    assert pickle.loads(pickle.dumps(partial(mine, 1))).func is mine


def test_sparse_results_are_compared():
    function = Watched("eye", lambda n: 2 * eye_array(n), eye_array)
    function(2)
    assert "= `2` it gave `<" in function.different[1]


def test_the_cells_run_in_the_order_of_the_page_which_uses_names_anew():
    key = ("mllib.mixtures_and_em", "_climb")
    run = Run("mixtures-and-em", {key: source(*key)}, lambda said: None)
    try:
        run.check()
    finally:
        run.end()
    assert list(run.ended) == sorted(run.ended)
    assert set(run.ended.values()) == {None}


def test_what_is_to_be_written_in_place_is_shown_and_no_fault():
    def library(x, out):
        out[:] = x

    def late(x, out):
        out[:] = x + 1

    function = Watched("late", late, library)
    for x in (np.zeros(2), np.ones(2)):  # the first is what stands there already
        function(x, np.zeros(2))
    assert function.faults == []
    assert function.different[1].endswith("it left `out` = `[1., 1.]`")


def test_the_smallest_case_that_differs_is_shown_and_not_the_answer():
    function = Watched("double", lambda x: 3 * x, lambda x: 2 * x)
    for x in (np.arange(6.0), np.array([1.0, 5.0]), np.arange(4.0)):
        function(x)
    assert function.different[1] == "With `x` = `[1., 5.]` it gave `[ 3., 15.]`"
    assert function.faults == []


def test_a_generator_that_is_handed_in_is_drawn_from_once():
    def draw(rng):
        return rng.normal()

    function = Watched("draw", draw, draw)
    assert function(np.random.default_rng(3)) == np.random.default_rng(3).normal()
    assert function.different is None


# As a student does it ------------------------------------------------------------------------


@pytest.fixture
def library_again():
    """Give the library its functions back after a test."""
    kept = {name: getattr(library, name) for name in ("_one_pass", "kernel_perceptron")}
    yield
    for name, function in kept.items():
        setattr(library, name, function)
    grading.MINE.clear()


def written(text, **names):
    """Return the function that a student's cell defines."""
    space = {"__name__": "__main__", "np": np, "KernelRun": KernelRun, **names}
    exec(text, space)
    return space["kernel_perceptron"]


OWN = """
def kernel_perceptron(K, y, *, max_epochs=1000):
    K, y = np.asarray(K, dtype=float), np.asarray(y, dtype=float)
    alpha, passes = np.zeros(len(y), dtype=int), []
    while len(passes) < max_epochs and (not passes or passes[-1] > 0):
        passes.append(0)
        for i in range(len(y)):
            if y[i] * sum(alpha * y * K[i]) <= 0:
                alpha[i] += 1
                passes[-1] += 1
    return KernelRun(alpha, K @ (alpha * y), np.array(passes), passes[-1] == 0)
"""


@pytest.mark.usefixtures("library_again")
def test_a_function_of_ones_own_is_checked_in_a_process_of_its_own():
    function = mine(written(OWN))
    assert library.kernel_perceptron is function
    found = check("perceptron")
    assert found.passed, repr(found)
    assert found.score == 1
    assert "3 of 3 hold" in repr(found)
    assert "Weights are a combination of training points" in found._repr_markdown_()
    found.require()


@pytest.mark.usefixtures("library_again")
def test_an_endless_loop_ends_within_seconds_and_a_crash_costs_itself():
    mine(written(OWN.replace("passes.append(0)", "passes.append(0)\n        while True: pass")))
    found = check("perceptron", "kernel_perceptron")
    assert not found.passed
    assert "did not end within" in repr(found)
    assert found.seconds < 60
    mine(written(OWN.replace("passes.append(0)", "__import__('os')._exit(3)")))
    assert "or died" in repr(check("perceptron"))
    with pytest.raises(AssertionError):
        found.require()


@pytest.mark.usefixtures("library_again")
def test_what_is_empty_stays_the_librarys():
    before = library.kernel_perceptron
    namespace = {}
    exec("def no_such(): pass", namespace)
    with pytest.raises(ValueError, match="No chapter has a function 'no_such'"):
        mine(namespace["no_such"])
    assert "Nothing to check yet" in repr(check("perceptron"))
    assert library.kernel_perceptron is before
    with pytest.raises(ValueError, match=r"several chapters: write @mine\("):
        mine(written(OWN.replace("kernel_perceptron", "forward") + "\nkernel_perceptron = forward"))
    with pytest.raises(ValueError, match="no chapter 'nothing'"):
        check("nothing")
    with pytest.raises(ValueError, match="The perceptron has no function 'kernel'"):
        check("perceptron", "kernel")


@pytest.mark.usefixtures("library_again")
def test_hints_and_planted_faults_are_of_the_library_when_the_function_is_ones_own():
    before, told = source(*KEY), docstring(*KEY)
    mine(written(OWN))
    assert (source(*KEY), docstring(*KEY)) == (before, told)


def test_hints_grow_and_end():
    grading.GIVEN.clear()
    given = [hint("kernel_perceptron") for _ in range(4)]
    assert [text[:12] for text in given[:3]] == [f"**Hint {k} of " for k in (1, 2, 3)]
    assert given[3] == given[2]
    assert r"\alpha_j\,\tilde y_j" in given[0]
    assert "Weights are a combination of training points" in given[1]
    assert "for i in range(len(y)):" in given[2]
    assert "K[:, i]" not in "".join(given)
    assert not any(a == b for a, b in itertools.pairwise(given[:3]))
