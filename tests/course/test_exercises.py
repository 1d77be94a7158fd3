"""Each exercise of a chapter accepts the chapter's own solution and refuses wrong answers."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

from mllib.course import exercises  # noqa: E402
from mllib.course.exercises import digest, entry, judge, planted  # noqa: E402
from mllib.course.page import needed, page  # noqa: E402
from mllib.course.running import Outcome, Run, claimed  # noqa: E402

FILES = sorted((ROOT / "mllib" / "course" / "exercises").glob("[a-z]*.py"))
SLUGS = [path.stem.replace("_", "-") for path in FILES]
LABELS = [(slug, label) for slug in SLUGS for label in page(slug).exercises]
#: To run the claims named for every "Break it" takes ten minutes: tools/graded.py does it, and here
#: those of three chapters are run. Each has to fit the code.
BREAKS = [(slug, label) for slug, label in LABELS if getattr(entry(label), "kind", "") == "breaks"]
HERE = ("perceptron", "k-means", "hidden-markov-models")
RUN = [(slug, label) for slug, label in LABELS if slug in HERE or (slug, label) not in BREAKS]


def answers(slug):
    """Return the module with the answers of a chapter."""
    return importlib.import_module(slug.replace("-", "_"))


def refused(label, given):
    """Return what is said against an answer."""
    said = []
    judge(label, given, said.append)
    outcomes = [message for message in said if isinstance(message, Outcome)]
    assert outcomes
    return [outcome.plain for outcome in outcomes if not outcome.passed]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_exercise_has_a_check_or_the_points_of_its_proof(slug):
    for label in page(slug).exercises:
        found = entry(label)
        assert found is not None, label
        assert found.check or len(found.points) >= 2, label
        assert not found.check or found.expects
    assert {name for name in exercises.ENTRIES if name.startswith(f"ex-{slug}-")} == set(
        page(slug).exercises
    )


@pytest.fixture(scope="module")
def solved():
    """Return a function that runs the solution of an exercise and returns its names."""
    runs = {}

    def names(slug, label):
        if slug not in runs:
            runs[slug] = Run(slug, {}, None)
            runs[slug].begin()
        run = runs[slug]
        own = [k for k, cell in enumerate(run.cells) if cell.solution == label]
        for last in own:
            for k in [*needed(run.cells, last), last]:
                run.ended.pop(k, None)
                run.execute(k)
                assert run.ended[k] is None, run.ended[k]
        return run.space

    return names


@pytest.mark.parametrize(("slug", "label"), BREAKS)
def test_the_changes_of_a_break_it_fit_the_code_and_its_answers_are_claims(slug, label):
    chapter = page(slug)
    claims = {name for cell in chapter.cells for name in claimed(cell.source)}
    for change in entry(label).check:
        assert planted(slug, *change)
    right = eval(answers(slug).RIGHT[label])
    assert set(np.ravel(right)) <= claims
    assert len(answers(slug).WRONG[label]) >= 3


@pytest.mark.parametrize(("slug", "label"), RUN)
def test_the_solution_of_the_chapter_passes(slug, label, solved):
    if entry(label).check is None:
        assert label not in answers(slug).RIGHT
        return
    given = eval(answers(slug).RIGHT[label], solved(slug, label))
    assert refused(label, given) == []


@pytest.mark.parametrize(("slug", "label"), RUN)
def test_wrong_answers_are_refused(slug, label):
    if entry(label).check is None:
        assert label not in answers(slug).WRONG
        return
    wrong = answers(slug).WRONG[label]
    assert len(wrong) >= 3
    for number, given in enumerate(wrong):
        assert refused(label, given), f"wrong answer {number} passes"


@pytest.mark.parametrize("path", FILES, ids=SLUGS)
def test_a_value_is_kept_as_a_digest(path):
    kept = re.findall(r'"([0-9a-f]{16})"', path.read_text(encoding="utf-8"))
    calls = path.read_text(encoding="utf-8").count("\nvalue(")
    assert len(kept) == calls


def test_another_number_of_answers_and_an_error_say_what_to_hand_in():
    for given in [([1.0],), ([1.0], 0, 1, 2)]:
        (said,) = refused("ex-k-means-medians", given)
        assert f"You handed in {len(given)}, and 3 are asked for. Hand in a cluster" in said
    (said,) = refused("ex-perceptron-warm-start", (3.0,))
    assert "is not callable" in said
    assert "Hand in your bound as a function" in said
    (said,) = refused("ex-perceptron-iris", ([True] * 5,))
    assert "Hand in six answers" in said


def test_the_points_of_a_proof_are_shown_when_they_are_asked_for():
    for label in ("ex-perceptron-warm-start", "ex-k-means-second-seed"):
        assert "makes these points" in repr(exercises.answer(label))
        empty = repr(exercises.answer(label, None))
        assert "makes these points" not in empty
        assert f"`answer({label!r})` shows" in empty


def test_equal_forms_of_a_value_are_equal():
    from fractions import Fraction

    assert len({digest("ex-a", v) for v in (0.5, Fraction(1, 2), np.float64(0.5), 0.50001)}) == 1
    assert len({digest("ex-a", v) for v in (True, "yes", "Yes.", np.True_, "true")}) == 1
    assert digest("ex-a", [1, 2]) == digest("ex-a", np.array([1.0, 2.0]))
    assert digest("ex-a", {"one": 1, "two": 2}) == digest("ex-a", (1, 2))
    assert digest("ex-a", 0.5) != digest("ex-b", 0.5)
    assert digest("ex-a", 0.5) != digest("ex-a", 0.51)
    assert digest("ex-a", -0.0) == digest("ex-a", 0)
