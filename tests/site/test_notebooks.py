"""The notebooks that are handed out: the code of the chapter, its text as the page has it."""

import re
import sys
import zipfile

import nbformat
import pytest
from contents import ROOT, SITE
from nbclient import NotebookClient

sys.path.insert(0, str(ROOT))

from _ext.notebooks import lab
from mllib.course.page import page as text_of

PAIRS = [
    (path, SITE / "_sources" / path.relative_to(ROOT))
    for path in sorted((ROOT / "chapters").glob("*/*.ipynb"))
]


def read(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize(("committed", "shipped"), PAIRS, ids=lambda path: path.stem)
def test_code_and_outputs_are_those_of_the_committed_notebook(committed, shipped):
    ours, theirs = (
        [c for c in read(path).cells if c.cell_type == "code"] for path in (committed, shipped)
    )
    assert [cell.id for cell in ours] == [cell.id for cell in theirs]
    for one, other in zip(ours, theirs):
        assert one.source == other.source
        for output in other.outputs:
            drawn = "image/svg+xml" in output.get("data", {})
            assert ("text/html" in output.get("data", {})) == drawn or not drawn
            if drawn:
                html = output.data.pop("text/html")
                assert html.startswith("<img ")
                assert re.search(r'alt="[^"]{20,}"', html)
        assert one.outputs == other.outputs


@pytest.mark.parametrize("shipped", [pair[1] for pair in PAIRS], ids=lambda path: path.stem)
def test_no_directive_is_left_and_every_link_leads_somewhere(shipped):
    notebook = read(shipped)
    nbformat.validate(notebook)
    text = "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    plain = re.sub(r"(?s)```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$]*\$", "", text)
    assert not re.search(r"\{[a-z:]+\}|^:[a-z]+:|%s|\*\*\*\*", plain, re.MULTILINE)
    anchors = {shipped: set(re.findall(r'<a id="([^"]+)">', text))}
    for page, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", plain):
        target = (shipped.parent / page).resolve() if page else shipped
        assert target.exists(), page
        if target not in anchors:
            anchors[target] = set(re.findall(r'<a id=\\"([^"\\]+)', target.read_text("utf-8")))
        assert not anchor or anchor in anchors[target], (page, anchor)


def test_printed_code_begins_with_its_def_and_names_equations_by_number():
    for page in sorted(SITE.glob("chapters/*/*.html")):
        shown = re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))
        assert not re.search(r"# .*\beq-[a-z]", shown), page.name
        if page.parent.name == "graphical" and page.stem == "hidden-markov-models":
            assert "def _best_paths(log_pi, log_AT, log_B, row, ends):" in shown


def test_what_binder_and_colab_open_is_what_is_shipped(tmp_path):
    lab.write(tmp_path / "branch")
    given = {path.name: path for path in tmp_path.glob("branch/*")}
    assert {"binder", "contents.ipynb"} < set(given)
    assert len([name for name in given if name.startswith("ml_you_can_check")]) == 1
    for _, shipped in PAIRS:
        written = tmp_path / "branch" / shipped.relative_to(SITE / "_sources/chapters")
        assert written.read_text("utf-8") == shipped.read_text("utf-8")


# The workbooks ----------------------------------------------------------------------------------

CHAPTERS = [path for _, path in PAIRS if path.parent.name != "slips"]


def plain(text):
    """Return text without its links."""
    return re.sub(r"\[((?:[^\[\]\\]|\\.)*)\]\([^)]*\)", r"\1", text)


@pytest.mark.parametrize("shipped", CHAPTERS, ids=lambda path: path.stem)
def test_a_workbook_is_its_chapter_minus_what_is_taken_out(shipped):
    whole = read(shipped)
    made = read(shipped.with_name(f"{shipped.stem}-workbook.ipynb"))
    nbformat.validate(made)
    assert len({cell.id for cell in made.cells}) == len(made.cells)
    about = [cell.metadata.get("mllib", {}) for cell in whole.cells]
    kept = [c for c, mark in zip(whole.cells, about) if mark.get("kind") in (None, "exercise")]
    ours = [cell for cell in made.cells[2:] if cell.metadata.mllib.kind in ("text", "code")]
    assert [plain(cell.source) for cell in ours] == [plain(cell.source) for cell in kept]
    for cell in kept:
        if cell.cell_type == "code":  # its pictures are there from the start
            outputs = [o for o in cell.outputs if "image/svg+xml" in o.get("data", ())]
            assert [c.outputs for c in ours if c.id == cell.id] == [outputs]
    tasks = [cell.metadata.mllib for cell in made.cells]
    yours = {mark.name for mark in tasks if mark.kind == "yours"}
    assert yours == {mark.name for mark in tasks if mark.kind == "check"}
    assert yours == set(text_of(shipped.stem).printed) | set(text_of(shipped.stem).exercises)
    text = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    anchors = set(re.findall(r'<a id="([^"]+)">', text))
    for link in re.findall(r"\]\(([^)]*)\)", re.sub(r"\$[^$]*\$|`[^`]*`", "", text)):
        assert link.startswith("http") or link.removeprefix("#") in anchors, link


def test_a_page_offers_its_workbook_and_the_wheel_that_it_installs(new_tab, address):
    tab = new_tab()
    tab.goto(f"{address}/chapters/classification/perceptron.html")
    tab.locator(".dropdown-download-buttons > summary").click()
    files = []
    for name in ("Workbook", "Library"):
        with tab.expect_download() as download:
            tab.get_by_role("link", name=name, exact=True).click()
        files.append(download.value)
    assert files[0].suggested_filename == "perceptron-workbook.ipynb"
    install = read(files[0].path()).cells[1].source
    assert f'%pip install --quiet "{files[1].suggested_filename}[book]"' in install
    names = zipfile.ZipFile(files[1].path()).namelist()
    assert "mllib/chapters/classification/perceptron.md" in names
    assert "mllib/course/exercises/perceptron.py" in names


def test_an_empty_workbook_runs_to_its_end_and_says_what_is_left(tmp_path):
    made = read(SITE / "_sources/chapters/classification/perceptron-workbook.ipynb")
    folder = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(made, timeout=120, kernel_name="python3", resources=folder).execute()
    said = {
        cell.metadata.mllib.name: str(cell.outputs)
        for cell in made.cells
        if cell.metadata.mllib.kind == "check"
    }
    assert "write kernel_perceptron under @mine first" in said["kernel_perceptron"]
    assert "your function `margin_perceptron(X, y, c)`" in said["ex-perceptron-margin"]
    assert "When you have tried: " in said["ex-perceptron-warm-start"]
