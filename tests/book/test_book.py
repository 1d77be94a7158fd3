"""The book's own rules: anatomy of chapters, claims, budgets, figures, outputs, imports, names."""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from _ext.registers import rules  # noqa: E402

NOTEBOOKS = sorted((ROOT / "chapters").glob("*/*.ipynb"))
CHAPTERS = [path for path in NOTEBOOKS if path.parent.name != "slips"]
MODULES = sorted(p for p in (ROOT / "mllib").glob("*.py") if p.stem != "__init__")

#: The order of the chapters of the whole book, which is the order in which modules may import.
ORDER = """
    linear-algebra probability estimation optimization decision-theory
    least-squares ridge-and-lasso bayesian-regression bias-variance model-selection
    nearest-neighbours discriminant-analysis naive-bayes perceptron logistic-regression
    neural-networks kernels gaussian-processes support-vector-machines trees forests boosting
    k-means hierarchical-clustering mixtures-and-em density-estimation pca
    hidden-markov-models bayesian-networks concentration pac-learning scaling-out
""".split()

#: Parameters that mean the same everywhere and are explained once, in ``mllib.core``.
SHARED = set("max_iter tol n_init rng random_state workers sample_weight class_weight".split())

each_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
each_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)


@cache
def notebook(path):
    return json.loads(path.read_text(encoding="utf-8"))


def code_cells(path):
    return [c for c in notebook(path)["cells"] if c["cell_type"] == "code" and source(c).strip()]


def source(cell):
    return "".join(cell["source"])


def prose(path):
    return "\n".join(source(c) for c in notebook(path)["cells"] if c["cell_type"] == "markdown")


def printed(cell):
    """Return all text that a cell has put out."""
    parts = []
    for output in cell["outputs"]:
        parts.append("".join(output.get("text", "")))
        data = output.get("data", {})
        parts += ["".join(data[k]) for k in data if k.startswith("text/")]
    return "\n".join(parts)


# Anatomy -------------------------------------------------------------------------------------


@each_chapter
def test_a_chapter_has_all_its_parts(path):
    text = prose(path)
    headings = re.findall(r"(?m)^## (.+)$", text)
    assert text.lstrip().startswith("# ")
    assert ":class: chapter-card" in text
    assert "**The question.**" in text
    for block in ("prf:definition", "prf:proof", "literalinclude", "results-table"):
        assert f"{{{block}}}" in text, f"no {{{block}}}"
    assert re.search(r"\{prf:(theorem|lemma|proposition)\}", text)
    for part in ("Where it breaks", "Exercises", "Summary"):
        assert any(part in heading for heading in headings), f"no section {part!r}"
    assert "History and further reading" in text
    assert "Not an example" in text or "non-example" in text


@each_chapter
def test_five_to_eight_exercises_each_with_a_level_and_a_solution(path):
    text = prose(path)
    exercises = re.findall(r"\{exercise\} (.+)\n:label: (\S+)", text)
    assert 5 <= len(exercises) <= 8
    for title, label in exercises:
        assert re.search(r"\((conceptual|short code|extended)\)$", title.strip()), title
        assert f"{{solution-start}} {label}\n:class: dropdown" in text, label


@each_notebook
def test_dollars_of_a_displayed_formula_follow_a_blank_line(path):
    inside, lines = False, prose(path).splitlines()
    for before, line in zip(["", *lines], lines):
        if line.strip().startswith("$$"):
            if not inside:
                assert not before.strip(), f"a blank line is missing before {line!r}"
            inside = not inside if line.strip().count("$$") == 1 else inside
    assert not inside


# Claims and registers ------------------------------------------------------------------------


@cache
def register(name):
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((ROOT / "registers" / name).read_text(encoding="utf-8"), Loader=loader)


def claims(path):
    """Return the names claimed on a page, each with what its cell printed."""
    found = {}
    for cell in code_cells(path):
        for node in ast.walk(ast.parse(re.sub(r"(?m)^%.*$", "", source(cell)))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "claim":
                for argument in node.args:
                    found[argument.value] = (cell, printed(cell))
    return found


def test_statements_claims_and_registers_fit_together():
    assert rules.faults(ROOT) == []


@each_notebook
def test_claims_fit_on_twenty_lines(path):
    for name, (cell, _) in claims(path).items():
        body = source(cell)
        start = body.index("with claim(")
        assert len(body[start:].strip().splitlines()) <= 20, name


def binds(node):
    """Yield each name that a statement binds, and how; what functions bind inside is their own."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name, "function"
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (((a.asname or a.name).split(".")[0], "import") for a in node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id, "value"
    elif not isinstance(
        node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    ):
        for child in ast.iter_child_nodes(node):
            yield from binds(child)


@each_notebook
def test_the_name_of_a_function_means_one_thing(path):
    """Else a later cell, an exercise perhaps, would call another function and nothing would say."""
    ways = [way for cell in code_cells(path) for way in {*binds(ast.parse(source(cell)))}]
    again = Counter(name for name, how in ways if how != "import")
    again.update({name for name, how in ways if how == "import"})
    assert not {name for name, how in ways if how != "value" and again[name] > 1}


@each_notebook
def test_what_a_chapter_cites_is_in_the_bibliography(path):
    known = re.findall(
        r"(?m)^@\w+\{([^,]+),", (ROOT / "registers/references.bib").read_text("utf-8")
    )
    assert len(set(known)) == len(known), "a key is entered twice"
    cited = re.findall(r"\{cite:\w+\}`([^`]+)`", prose(path))
    assert {key.strip() for keys in cited for key in keys.split(",")} <= set(known)


def test_a_term_is_defined_once():
    names = [
        re.sub(r"\W+", "-", name.lower())
        for entry in register("glossary.yml")
        for name in (entry["term"], *entry.get("aliases", ()))
    ]
    assert not {name for name in names if names.count(name) > 1}


# Order ---------------------------------------------------------------------------------------


def labels(text):
    """Return the places of a page that can be referred to: label and offset in its text."""
    marks = r"(?m)^:label: (\S+)$|^\(([\w-]+)\)=$|\$\$ \((eq-[\w-]+)\)$"
    return {m[1] or m[2] or m[3]: m.start() for m in re.finditer(marks, text)}


def leans_on(text):
    """Return what the proofs of a page refer to: (where the proof ends, label or chapter)."""
    fence = r"(?ms)^(`{3,}|:{3,})\{prf:proof\}[^\n]*\n(.*?)^\1\s*$"
    link = r"\{(?:prf:ref|ref|eq|numref|doc)\}`(?:[^`<]*<)?([^`>]+?)>?`|\]\(#?([\w./-]+)\)"
    for proof in re.finditer(fence, text):
        for m in re.finditer(link, proof[2]):
            yield proof.end(), (m[1] or m[2]).removesuffix(".md").split("/")[-1]


def test_no_proof_leans_on_what_comes_later():
    pages = {path.stem: prose(path) for path in CHAPTERS}
    at = {
        name: (ORDER.index(slug), place)
        for slug, text in pages.items()
        for name, place in labels(text).items()
    }
    at |= {slug: (ORDER.index(slug), -1) for slug in pages}
    proofs = [(slug, *found) for slug, text in pages.items() for found in leans_on(text)]
    assert len(proofs) > 300
    later = [
        f"{slug}: a proof refers to {name}"
        for slug, end, name in proofs
        if at[name] > (ORDER.index(slug), end)
    ]
    assert not later


def test_a_proof_that_leans_on_a_later_result_is_found():
    text = ":label: b\n\n```{prf:proof}\nBy {prf:ref}`this <a>`, {eq}`e` and {doc}`../x/c`.\n```\n"
    assert [name for _, name in leans_on(text)] == ["a", "e", "c"]
    assert list(labels(text + "(a)=\n$$\nx\n$$ (eq-e)\n")) == ["b", "a", "eq-e"]


@each_chapter
def test_the_time_to_read_is_counted_and_not_typed(path):
    assert re.search(r"\*\*Time:\*\* \w+ seconds to run\.", prose(path))


# Budgets and outputs -------------------------------------------------------------------------


@each_notebook
def test_cells_are_short_and_the_notebook_is_light(path):
    lines = np.array([len(source(cell).strip().splitlines()) for cell in code_cells(path)])
    assert lines.max() <= 40
    assert np.mean(lines < 20) >= 0.9
    own = [
        len(source(cell).strip().splitlines())
        for cell in code_cells(path)
        if "claim(" not in source(cell) and "hide-input" not in cell["metadata"].get("tags", [])
    ]
    assert np.median(own or [0]) <= 7
    wide = [
        line for cell in code_cells(path) for line in source(cell).splitlines() if len(line) > 100
    ]
    assert not wide, "code lines longer than a page is wide"
    assert path.stat().st_size < 1_000_000


@each_notebook
def test_every_cell_ran_in_order_without_an_error(path):
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        for output in cell["outputs"]:
            assert output["output_type"] != "error"
            assert output.get("name") != "stderr", source(cell)


@each_notebook
def test_outputs_hold_no_paths_addresses_or_timings(path):
    for cell in code_cells(path):
        text = printed(cell)
        assert not re.search(r"(?<![\w.])/(home|root|tmp|Users|work|usr|opt)/", text), text
        assert not re.search(r"\bat 0x[0-9a-f]{6,}", text), text
        assert not re.search(r"\b\d+(\.\d+)? ?(ms|µs|us|ns|seconds|sec)\b", text), text


@each_notebook
def test_every_figure_has_a_name_a_finding_and_a_description(path):
    for cell in code_cells(path):
        kinds = {k for o in cell["outputs"] for k in o.get("data", {}) if k.startswith("image/")}
        if not kinds:
            continue
        about = cell["metadata"].get("mystnb", {})
        assert about["figure"]["name"].startswith(f"fig-{path.stem}"), source(cell)
        assert len(about["figure"]["caption"].strip()) > 30
        assert len(about["image"]["alt"].strip()) > 40
        assert kinds == {"image/svg+xml"}, "figures are SVG: call use_book_style() first"


@each_notebook
def test_figures_use_the_colours_of_the_book(path):
    for cell in code_cells(path):
        code = source(cell)
        assert not re.search(r"[\"']#[0-9a-fA-F]{6}[\"']", code), code
        assert not re.search(r"color=[\"'](?!none)[a-z0-9:]+[\"']", code), code


@each_notebook
def test_every_library_name_used_exists_and_tells_its_shapes(path):
    for cell in code_cells(path):
        for node in ast.walk(ast.parse(re.sub(r"(?m)^%.*$", "", source(cell)))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mllib."):
                module = importlib.import_module(node.module)
                for alias in node.names:
                    thing = getattr(module, alias.name)
                    if ".course" not in node.module and callable(thing):
                        assert inspect.getdoc(thing), alias.name


# The library ---------------------------------------------------------------------------------


@each_module
def test_public_functions_say_what_they_take(path):
    module = importlib.import_module(f"mllib.{path.stem}")
    assert module.__doc__
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        thing = getattr(module, name)
        documentation = inspect.getdoc(thing) or ""
        assert documentation, name
        if inspect.isfunction(thing) and len({*inspect.signature(thing).parameters} - SHARED) > 3:
            assert "Parameters" in documentation, name


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@each_module
def test_arrows_run_one_way(path):
    order = [slug.replace("-", "_") for slug in ORDER]
    allowed = {f"mllib.core.{p.stem}" for p in (ROOT / "mllib" / "core").glob("*.py")}
    allowed |= {f"mllib.{name}" for name in order[: order.index(path.stem)]}
    for name in imports(path):
        top = name.split(".")[0]
        known = sys.stdlib_module_names | {"numpy", "scipy", "mllib"}
        assert top in known, name
        if top == "mllib":
            assert name in allowed, f"{path.stem} must not import {name}"


#: The rooms of the site's code, in the order in which they may import.
ROOMS = "pages registers web build notebooks pdf".split()
SITE_CODE = sorted(path for room in ROOMS for path in (ROOT / "_ext" / room).glob("*.py"))


def own_imports(path):
    """Return the modules of _ext that a module imports, as (room, module)."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "_ext":
            _, *place = node.module.split(".")
            found |= {(place[0], (*place[1:], alias.name)[0]) for alias in node.names if place}
            assert place, f"{path.name} imports from _ext without naming the room"
        elif isinstance(node, ast.Import):
            assert not any(a.name.startswith("_ext.") for a in node.names), path.name
    return found


@pytest.mark.parametrize("path", SITE_CODE, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_arrows_between_the_rooms_of_the_site_run_one_way(path):
    before = ROOMS[: ROOMS.index(path.parent.name) + 1]
    for room, name in own_imports(path):
        assert room in before, f"{path.parent.name}/{path.name} must not import {room}/{name}"


def test_no_two_modules_of_the_site_import_each_other():
    arrows = {(path.parent.name, path.stem): own_imports(path) for path in SITE_CODE}
    assert sum(map(len, arrows.values())) > 20
    while free := [module for module, needs in arrows.items() if not needs & set(arrows)]:
        for module in free:
            del arrows[module]
    assert not arrows, f"these import in a circle: {sorted(arrows)}"


def test_every_module_of_the_site_has_its_room():
    loose = {path.stem for path in (ROOT / "_ext").glob("*.py")}
    assert loose == {"__init__"}
    rooms = {p.name for p in (ROOT / "_ext").iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert rooms == {*ROOMS, "vendored"}
    assert not list((ROOT / "_ext" / "vendored").glob("**/*.py"))


def test_what_others_wrote_is_in_one_list():
    listed = ROOT / "_ext" / "vendored" / "list.yml"
    entries = yaml.safe_load(listed.read_text(encoding="utf-8"))
    folders = [ROOT / folder for entry in entries for folder in entry["folders"]]
    for path in (ROOT / "_ext" / "vendored").glob("**/*"):
        known = path == listed or any(path.is_relative_to(folder) for folder in folders)
        assert known, f"{path.relative_to(ROOT)} is not in {listed.name}"
    for place in ("_ext", "_static", "tests"):
        for path in (ROOT / place).glob("**/*.min.*"):
            assert any(path.is_relative_to(folder) for folder in folders), path
    for entry in entries:
        assert all(entry[key] for key in ("name", "version", "origin", "licence", "use"))
        assert entry["version"] in (ROOT / entry["marked"]).read_text(encoding="utf-8")
        assert (ROOT / entry["licence_file"]).is_file()
        assert entry["name"] in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_the_library_loads_neither_scikit_learn_nor_matplotlib():
    names = ", ".join(f"mllib.{path.stem}" for path in MODULES)
    heavy = ["sklearn", "matplotlib", "pandas", "mllib.course"]
    code = f"import sys, mllib, {names}\nprint([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_import_mllib_alone_loads_no_numpy():
    code = "import sys, mllib; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# Names and files -----------------------------------------------------------------------------


@each_chapter
def test_one_name_in_three_places(path):
    assert path.stem in ORDER
    name = path.stem.replace("-", "_")
    assert (ROOT / "mllib" / f"{name}.py").is_file()
    assert (ROOT / "tests" / "library" / f"test_{name}.py").is_file()


def test_every_chapter_is_in_the_table_of_contents_in_order():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [Path(c["file"]) for part in toc["parts"] for c in part["chapters"]]
    slugs = [f.stem for f in files if f.stem in ORDER]
    assert slugs == sorted(slugs, key=ORDER.index)
    assert set(slugs) == {path.stem for path in CHAPTERS}


def tracked_text():
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in done.stdout.split("\0"):
        if name and Path(name).suffix in (
            ".py",
            ".md",
            ".yml",
            ".toml",
            ".txt",
            ".cff",
            ".css",
            "",
        ):
            path = ROOT / name
            if path.is_file() and path != Path(__file__):
                yield name, path.read_text(encoding="utf-8", errors="ignore")


def places_outside(name, text):
    """Return the folders named in a file that only the machine has on which it was written.

    These are absolute paths into a home or into the folder that holds the project, and relative
    ones that leave the project. What a page links or includes (``href="../a"``) is found from the
    page, which may be one that a test lays out.
    """
    tops = {"home", "root", "Users", ROOT.parts[1]}
    absolute = re.findall(rf"(?<![\w.:/~-])/(?:{'|'.join(sorted(tops))})/[\w./-]*", text)
    relative = re.findall(r"(?<![\w./])(?<!=[\"'])(?<!include\} )(?:\.\./)+\w[\w./-]*", text)
    here = (ROOT / name).parent
    inside = [(here / path).resolve().is_relative_to(ROOT) for path in relative]
    return absolute + [path for path, ours in zip(relative, inside) if not ours]


def test_places_outside_the_project_are_found():
    here = ROOT.as_posix()
    assert places_outside("README.md", f"see ../a.md and {here}/a.md") == [
        f"{here}/a.md",
        "../a.md",
    ]
    assert places_outside("tests/a.py", '"../../a.md"') == ["../../a.md"]
    assert places_outside("tests/a.py", 'href="../../b.html" and ../mllib/pca.py') == []
    assert places_outside("README.md", f"https://example.org{here}/a and ~{here}/b") == []


def test_the_project_stands_alone():
    for name, text in tracked_text():
        assert not (found := places_outside(name, text)), f"{name} names {found}"
        for mark in ("TODO", "FIXME", "XXX", "NotImplementedError"):
            assert mark not in text, f"{mark} in {name}"


def test_the_top_level_is_the_table_of_contents():
    expected = ["_config.yml", "_toc.yml", "README.md", "requirements.txt", "pyproject.toml"]
    expected += ["Makefile", "chapters", "mllib", "tests", "benchmarks", "_static", "_ext"]
    expected += ["LICENSE", "CONTRIBUTING.md", "CITATION.cff", ".ci"]
    for name in expected:
        assert (ROOT / name).exists(), name
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 150


def test_prose_is_spelt_the_british_way():
    american = (
        r"\b(color|behavior|neighbor|center|(maxim|minim|normal|general|regular|anal)[iy]z\w*"
        r"|optimiz(?!ation)\w*)\b"
    )
    for path in sorted((ROOT / "chapters").glob("**/*.md")):
        text = re.sub(
            r"```\{code-cell\}.*?```|`[^`]*`|\{[^}]*\}|\([^)]*\)",
            " ",
            path.read_text("utf-8"),
            flags=re.S,
        )
        found = re.search(american, text, re.I)
        assert not found, f"{path.name}: {found and found[0]}"
