"""The package: what is built of it, installed where there is nothing but numpy and scipy, works.

The build needs a newer setuptools than most environments have. Where no package registry answers
it is left out by name; try again with

    .venv/bin/python -m pytest -p no:nbval tests/project/test_package.py
"""

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from contextlib import redirect_stdout
from email import message_from_string
from pathlib import Path

import numpy
import pytest
import scipy

ROOT = Path(__file__).resolve().parents[2]
AGAIN = ".venv/bin/python -m pytest -p no:nbval tests/project/test_package.py"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
PAGE = ROOT / "chapters" / "using-mllib.md"
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])('.out'))"


def build(tools, folder, what):
    """Build a distribution in a folder with the tools at hand; return its path."""
    (folder / ".out").mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, what],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(tools)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / ".out" / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the source distribution, unpacked, and the wheel that is built from it."""
    place = tmp_path_factory.mktemp("package")
    tools = place / "tools"
    command = [*PIP, "--retries", "1", "--timeout", "15", "install", "--target", str(tools)]
    try:
        done = subprocess.run(
            [*command, "setuptools>=77"], capture_output=True, text=True, timeout=60
        )
        failed = done.returncode != 0
    except subprocess.TimeoutExpired:
        failed = True
    if failed:
        pytest.skip(f"no package registry answers; try again with {AGAIN}")
    tree = place / "tree"
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CITATION.cff"):
        tree.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tree)
    shutil.copy(ROOT / "conftest.py", tree)
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("chapters", "mllib", "tests", "tools"):
        shutil.copytree(ROOT / name, tree / name, ignore=ignore)
    (tree / "build" / "lib" / "mllib").mkdir(parents=True)  # what an older build may have left
    (tree / "build" / "lib" / "mllib" / "stale.py").write_text("raise SystemExit\n")
    with tarfile.open(build(tools, tree, "build_sdist")) as packed:
        packed.extractall(place, filter="data")
    source = next(place.glob("ml_you_can_check-*"))
    return source, build(tools, source, "build_wheel")


@pytest.fixture(scope="module")
def clean(built, tmp_path_factory):
    """Return the Python of an environment that holds the wheel, numpy and scipy, and no more."""
    place = tmp_path_factory.mktemp("clean")
    venv.create(place, with_pip=False, symlinks=True)
    site = next(place.glob("lib/python*/site-packages"))
    for package in (numpy, scipy):
        folder = Path(package.__file__).parent
        for part in (folder, folder.with_name(f"{folder.name}.libs")):
            if part.exists():
                (site / part.name).symlink_to(part)
    zipfile.ZipFile(built[1]).extractall(site)
    return place / "bin" / "python"


def run(python, code, **options):
    """Run a programme in the clean environment, away from the tree."""
    keep = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    return subprocess.run(
        [str(python), "-I", "-c", code],
        cwd=python.parent,
        env=keep,
        capture_output=True,
        text=True,
        **options,
    )


def test_the_wheel_holds_the_library_and_nothing_else(built):
    names = zipfile.ZipFile(built[1]).namelist()
    ours = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
    source = {str(path.relative_to(ROOT)) for path in (ROOT / "mllib").rglob("*.py")}
    data = {str(path.relative_to(ROOT)) for path in (ROOT / "mllib").rglob("*.csv")}
    texts = {f"mllib/{path.relative_to(ROOT)}" for path in (ROOT / "chapters").glob("*/*.md")}
    texts -= {name for name in texts if "/slips/" in name}
    assert ours == source | data | texts | {"mllib/course/book.mplstyle"}
    about = next(name for name in names if name.endswith("METADATA"))
    about = message_from_string(zipfile.ZipFile(built[1]).read(about).decode())
    assert set(about.get_all("Provides-Extra")) == {"fast", "cluster", "book", "test"}
    needs = [line for line in about.get_all("Requires-Dist") if "extra ==" not in line]
    assert sorted(re.split("[<>=]", line)[0] for line in needs) == ["numpy", "scipy"]
    assert about["License-Expression"] == "BSD-3-Clause"
    assert len(about.get_all("Classifier")) > 8


def test_every_module_works_where_there_are_only_numpy_and_scipy(clean):
    code = (
        "import importlib, pkgutil, mllib, numpy as np\n"
        "for info in pkgutil.iter_modules(mllib.__path__):\n"
        "    importlib.import_module('mllib.' + info.name)\n"
        "from mllib.course import claim\n"
        "from mllib.course.datasets import faithful\n"
        "from mllib.mixtures_and_em import GaussianMixture\n"
        "from mllib.trees import DecisionTreeClassifier\n"
        "print(len(GaussianMixture(2, random_state=0).fit(faithful().X).means_))\n"
        "X = np.arange(8.0)[:, None]\n"
        "print(DecisionTreeClassifier().fit(X, X[:, 0] > 3).score(X, X[:, 0] > 3))\n"
    )
    done = run(clean, code)
    assert done.stdout.split() == ["2", "1.0"], done.stderr[-2000:]


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("import mllib.course.figures", "matplotlib"),
        ("from mllib.course.datasets import iris; iris()", "sklearn"),
        ("from mllib.course.datasets import sunspots; sunspots()", "statsmodels"),
    ],
)
def test_what_the_book_needs_is_named_with_the_extra_that_installs_it(clean, code, missing):
    done = run(clean, code)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError")
    assert missing in last
    assert "pip install 'ml-you-can-check[book]'" in last


def test_the_tests_of_the_source_distribution_run(built):
    source = built[0]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbval"]
    options = {"cwd": source, "capture_output": True, "text": True}
    collected = subprocess.run([*command, "--collect-only", "tests/library"], **options)
    assert collected.returncode == 0, collected.stdout[-2000:]
    found = set(re.findall(r"tests/library/test_(\w+)\.py", collected.stdout))
    modules = {path.stem for path in (ROOT / "mllib").glob("*.py")}
    there = {path.stem[5:] for path in (ROOT / "tests" / "library").glob("test_*.py")}
    assert found >= modules & there
    assert not (source / "tests" / "book").exists()
    done = subprocess.run([*command, "tests/library/test_perceptron.py"], **options)
    assert done.returncode == 0, done.stdout[-2000:]


# The page that tells how -------------------------------------------------------------------------


def examples():
    """Return the programmes of the page and what it says they print."""
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", text, re.S)


def test_the_examples_of_the_page_run_and_print_what_it_says():
    assert len(examples()) == 3
    for code, expected in examples():
        with redirect_stdout(io.StringIO()) as said:
            exec(compile(code, PAGE.name, "exec"), {"__name__": "example"})
        assert said.getvalue() == expected
