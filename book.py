"""Everything that this book can do, one word each: ``python book.py`` lists them.

    python book.py test GATE=library       as `make test GATE=library` where there is make
    python book.py run perceptron          a word alone is the first of the settings

It needs Python alone. All of it happens inside .venv, which is made on first use; a word adds the
groups of packages that it needs (pyproject.toml), in the versions of uv.lock. To add a word, write
a function under ``@word``.
"""

import hashlib
import importlib.util
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
READY = VENV / "ready.json"
OLDEST, NEWEST = (3, 11), (3, 14)
WORDS = {}

# -- how a word is run -----------------------------------------------------------------------------


def word(*groups):
    """Make a function a word of the command line that needs some groups of packages.

    Its arguments are the settings, all with a default: ``port`` is written PORT=8001. The first
    line of its docstring explains it in the list.
    """

    def enter(function):
        WORDS[function.__name__.replace("_", "-")] = function, groups
        return function

    return enter


def code_of(*command, **environment):
    """Run a script, or ``-m`` and a module, with the Python of .venv; return its exit code."""
    process = subprocess.Popen(
        [str(PYTHON), *map(str, command)], cwd=ROOT, env=os.environ | environment
    )
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # the script was told too, and ends in its own way
            continue


def run_python(*command, **environment):
    """Run it, and end with it if it fails."""
    if code := code_of(*command, **environment):
        sys.exit(code)


def options(**settings):
    """Return the settings that are not empty as options of a script."""
    return [part for name, value in settings.items() if value for part in (f"--{name}", value)]


def settings_of(function, arguments):
    """Return the settings that the command line gives to a word, or stop with a sentence."""
    known, given = list(inspect.signature(function).parameters), {}
    for argument in arguments:
        name, sign, value = argument.partition("=")
        if not sign and known:
            name, value = known[0], argument
        if name.lower() not in known:
            named = ", ".join(f"{name.upper()}=" for name in known)
            sys.exit(f"{argument!r} is not understood: {named or 'this word has no settings'}.")
        given[name.lower()] = value
    return given


def main(asked, *arguments):
    """Run the word that is asked for."""
    if sys.version_info < OLDEST:
        again(asked, *arguments)
    if asked not in WORDS:
        sys.exit(f"There is no {asked!r}: `python book.py` lists what there is.")
    function, groups = WORDS[asked]
    given = settings_of(function, arguments)
    # One thread per process: results do not depend on the number of cores.
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    os.environ["PYTHONUTF8"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # kept, each process starts faster
    if groups:
        environment(groups)
    function(**given)


def again(*arguments):
    """Start once more with a Python that is new enough, or say that there is none."""
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer and subprocess.run([newer, "-c", ""], stderr=subprocess.DEVNULL).returncode == 0:
            sys.exit(subprocess.run([newer, __file__, *arguments], check=False).returncode)
    sys.exit(
        f"This is Python {sys.version.split()[0]}; the book needs 3.11 or newer, from "
        "https://www.python.org/downloads or, on Debian and Ubuntu, `sudo apt-get install python3`."
    )


# -- the environment ------------------------------------------------------------------------------


def environment(groups):
    """Let .venv hold the packages of some groups, in the versions of uv.lock."""
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    state = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + pins.encode()).hexdigest()
    there = json.loads(READY.read_text()) if READY.exists() and PYTHON.exists() else {}
    wanted = sorted({*groups, *there.get("groups", ())})
    if there == {"state": state, "groups": wanted}:
        return
    if not PYTHON.exists():
        create()
    print(f"Installing the pinned packages of: {', '.join(wanted)} ...", flush=True)
    # What pip warns of (mirrors, a newer pip) is not said; what fails is.
    pip = ["-m", "pip", "install", "--disable-pip-version-check", "-qq", "--progress-bar", "off"]
    run_python(*pip, next(line for line in pins.splitlines() if line.startswith("uv==")))
    sync = ["-m", "uv", "sync", "--frozen", "--inexact", "--quiet"]
    if code_of(*sync, *(f"--group={name}" for name in wanted), UV_PYTHON_DOWNLOADS="never"):
        print("So pip installs them, and all others ...", flush=True)  # it may know a way
        run_python(*pip, "--requirement", "requirements.txt")
        run_python(*pip, "--no-deps", "--editable", ".")
    READY.write_text(json.dumps({"state": state, "groups": wanted}))


def create():
    """Make .venv with this Python."""
    if sys.version_info[:2] > NEWEST:
        print(f"The pins have wheels up to Python 3.{NEWEST[1]}; trying.", file=sys.stderr)
    print(f"Creating .venv with Python {sys.version.split()[0]} ...", flush=True)
    if importlib.util.find_spec("ensurepip") is None:  # Debian has it in a package of its own
        if not (hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get")):
            sys.exit("A part of Python is missing: sudo apt-get install python3-venv")
        for command in (["update"], ["install", "-y", "--no-install-recommends", "python3-venv"]):
            subprocess.run(
                ["apt-get", "-y", "-qq", *command], check=True, stdout=subprocess.DEVNULL
            )
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)


# -- the words ------------------------------------------------------------------------------------


@word()
def help():
    """Explain the words (this list)"""
    make = "make" if os.environ.get("MAKELEVEL") else "python book.py"
    print("Machine Learning You Can Check\n")
    for name, (function, _) in WORDS.items():
        print(f"  {make} {name:<12} {function.__doc__.splitlines()[0]}")


@word("build")
def setup():
    """Create .venv with what builds the site, and mllib"""


@word("build")
def book(course=""):
    """Build the site into _build/html (COURSE=six-weeks.yml: of these chapters alone)"""
    run_python("_ext/build/site.py", *options(course=course))


@word("build")
def serve(port="8000"):
    """Show the site on localhost and rebuild it when a file changes (PORT=8000)"""
    run_python("_ext/build/site.py", "--serve", "--port", port)


@word("build", "live")
def live(port="8000"):
    """Show the site with cells that can be edited and run, on this machine (PORT=8000)"""
    book()
    run_python("_ext/build/live.py", "--port", port)


@word("build", "pdf")
def pdf(chapter="", solutions="", code=""):
    """Print the book into _build/book.pdf, or one CHAPTER= (SOLUTIONS=no CODE=yes)"""
    book()
    run_python("_ext/pdf/book.py", *options(chapter=chapter, solutions=solutions, code=code))
    if not chapter:
        book()


@word("build")
def slides(chapter="perceptron"):
    """Make slides of a chapter: statements, figures, verdicts (CHAPTER=perceptron)"""
    book()
    run_python("_ext/pdf/slides.py", "--chapter", chapter)


@word("run")
def run(chapter="all"):
    """Execute a notebook again and pair it with its text (CHAPTER=perceptron, or all)"""
    run_python("_ext/build/notebooks.py", chapter)


@word("build", "lab")
def lab(to=""):
    """Open the notebooks in JupyterLab, as their pages have them (TO=folder: only write them)"""
    run_python("_ext/notebooks/lab.py", *options(to=to))


def workbooks(chapters, to):
    """Build the site, return its workbooks of some chapters, and put the wheel where they go."""
    book()
    made = ROOT.glob("_build/html/_sources/chapters/*/*-workbook.ipynb")
    found = {path.name.removesuffix("-workbook.ipynb"): path for path in made}
    if missing := set(chapters.split()) - found.keys():
        sys.exit(f"There is no chapter {' or '.join(sorted(missing))}: {', '.join(sorted(found))}.")
    Path(to).mkdir(parents=True, exist_ok=True)
    for wheel in ROOT.glob("_build/html/_sources/*.whl"):
        shutil.copy(wheel, to)
    return [found[slug] for slug in chapters.split()]


@word("build")
def workbook(chapter="perceptron", to="."):
    """Write a chapter as a workbook, with what you are to write left empty (CHAPTER= TO=)"""
    for path in workbooks(chapter, to):
        print(shutil.copy(path, to))


@word("build", "run", "grading")
def assignment(chapters="perceptron", to="course"):
    """Write assignments in the format of nbgrader (CHAPTERS="perceptron boosting" TO=)"""
    run_python("-m", "mllib.course.assignment", to, *workbooks(chapters, to))


@word("run")
def grade(folder="course"):
    """Grade what was handed in, into grades.csv and a page for each student (FOLDER=)"""
    run_python("-m", "mllib.course.assignment", "--grade", folder)


@word("test")
def test(gate="", slowest=""):
    """Run every gate; ends with one line for each (GATE=library, SLOWEST=10)"""
    run_python("tools/gates.py", GATE=gate, SLOWEST=slowest)


@word("test")
def anywhere(chapter="all", variant="all"):
    """Verify as other processors would run it (CHAPTER=perceptron, VARIANT=none)"""
    run_python("tools/anywhere.py", "--chapter", chapter, "--variant", variant)


@word("test")
def reseed(chapter="all", shifts="1"):
    """Run the cells with all seeds moved: which sentence hangs on a seed? (CHAPTER=, SHIFTS=5)"""
    run_python("tools/reseed.py", "--chapter", chapter, "--shifts", shifts)


@word("test")
def mutants(chapter="all", kind="", sample="", function=""):
    """Break the code of a chapter bit by bit: what notices? (CHAPTER= KIND= SAMPLE= FUNCTION=)"""
    run_python("tools/mutants.py", chapter, *options(kind=kind, sample=sample, function=function))


@word("test")
def bench(module=""):
    """Measure speed side by side with the usual choice (MODULE=perceptron for one)"""
    run_python("benchmarks/run.py", *filter(None, [module]))


@word("run")
def new_chapter(chapter="", part="foundations"):
    """Begin a chapter that passes its gates with one lemma (CHAPTER=new-slug PART=regression)"""
    run_python("tools/new_chapter.py", chapter, part)


@word("build", "pdf", "maintain")
def release(tag=""):
    """Make what a version publishes, in _build/release (TAG=v0.2.0)"""
    run_python("tools/release.py", "check", tag)
    pdf()
    run_python("tools/release.py", "make", tag)


@word("maintain")
def pins():
    """Export the pins from uv.lock, after an edit of pyproject.toml and `uv lock`"""
    run_python("tools/pins.py", "export")


@word("build", "run", "maintain")
def upgrade():
    """Take the newest versions of everything, execute all notebooks, report what changed"""
    run_python("tools/pins.py", "lock")
    environment(("build", "run", "maintain"))
    run_python("tools/pins.py", "report")


@word()
def clean():
    """Remove everything that was built; keeps .venv"""
    caches = [path for path in ROOT.rglob("__pycache__") if VENV not in path.parents]
    for path in [ROOT / name for name in "_build .pytest_cache .ruff_cache .hypothesis".split()]:
        caches.append(path)
    for path in caches:
        shutil.rmtree(path, ignore_errors=True)


if __name__ == "__main__":
    try:
        main(*(sys.argv[1:] or ["help"]))
    except KeyboardInterrupt:
        sys.exit(130)
