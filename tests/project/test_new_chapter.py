"""``make new-chapter``: what it writes passes the rules and the gates of a chapter as it stands."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = "_config.yml _toc.yml conftest.py pyproject.toml chapters mllib registers tests tools _ext"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Return a copy of the book in which a chapter was begun."""
    place = tmp_path_factory.mktemp("book")
    for name in PARTS.split():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, place)
    done = run(place, "tools/new_chapter.py", "least-angles", "regression")
    assert done.returncode == 0, done.stderr
    return place


def run(place, *command):
    """Run Python in the copy, with its library."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=place,
        env=os.environ | {"PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
    )


def test_the_rules_are_kept(copy):
    assert run(copy, "-m", "_ext.registers.rules").stdout.strip() == "All rules are kept."


def test_its_gates_are_green(copy):
    wanted = "least-angles or least_angles or every_chapter_is or later"
    command = ["-m", "pytest", "-p", "no:nbval", "-p", "no:cacheprovider", "-k", wanted]
    done = run(copy, *command, "tests/book/test_book.py", "tests/library/test_least_angles.py")
    assert done.returncode == 0, done.stdout[-3000:]


def test_a_name_that_is_taken_or_no_name_is_refused(copy):
    for name in ("perceptron", "Least Angles", ""):
        done = run(copy, "tools/new_chapter.py", name, "regression")
        assert "is a new name" in done.stderr
    assert "no part" in run(copy, "tools/new_chapter.py", "other-angles", "nowhere").stderr
