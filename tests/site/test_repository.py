"""The public address of the repository: no button without it, right buttons with it; Binder."""

import ast
import html
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from sphinx.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from _ext.web import repository  # noqa: E402

ADDRESS = "https://github.com/owner/name"


def tree(folder, address, published=""):
    """Lay out a book of one chapter with these addresses and build it; return the pages."""
    for name in ("_ext", "_static", "mllib", "tests"):
        (folder / name).symlink_to(ROOT / name)
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["repository"]["url"] = address
    config["html"]["baseurl"] = published
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: chapters/intro\nchapters:\n- file: chapters/part/one\n"
    )
    (folder / "chapters" / "part").mkdir(parents=True)
    (folder / "registers").mkdir()
    (folder / "chapters" / "intro.md").write_text("# Book\n\nRead.\n")
    (folder / "registers" / "references.bib").write_text("")
    for name in ("results", "errata", "glossary"):
        (folder / "registers" / f"{name}.yml").write_text("[]\n")
    cells = [nbformat.v4.new_markdown_cell("# One"), nbformat.v4.new_code_cell("1 + 1")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, folder / "chapters" / "part" / "one.ipynb")
    done = subprocess.run(
        [sys.executable, str(ROOT / "_ext" / "build" / "site.py")],
        env=os.environ | {"BOOK_ROOT": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    site = folder / "_build" / "html" / "chapters"
    return {name: (site / f"{name}.html").read_text("utf-8") for name in ("intro", "part/one")}


def links(page, text):
    """Return the addresses of the links of a page whose text is ``text``."""
    found = re.findall(r'<a href="([^"]*)"[^>]*>(.*?)</a>', page, re.DOTALL)
    return [html.unescape(url) for url, body in found if re.sub(r"<.*?>|\s", "", body) == text]


def test_with_the_addresses_set_every_button_and_mark_points_right(tmp_path):
    pages = tree(tmp_path, ADDRESS, "https://example.org/book")
    chapter, path = pages["part/one"], "chapters/part/one"
    assert links(chapter, "Binder") == [
        "https://mybinder.org/v2/gh/owner/name/notebooks?urlpath=lab/tree/part/one.ipynb"
    ]
    assert links(chapter, "Colab") == [
        "https://colab.research.google.com/github/owner/name/blob/notebooks/part/one.ipynb"
    ]
    assert links(chapter, "Repository") == [ADDRESS]
    assert links(chapter, "Showsource") == [f"{ADDRESS}/blob/main/{path}.md?plain=1"]
    assert links(chapter, "Suggestedit") == [f"{ADDRESS}/edit/main/{path}.md"]
    assert links(chapter, "Openissue")[0].startswith(f"{ADDRESS}/issues/new")
    assert f"%pip install -q git+{ADDRESS}@main" in html.unescape(chapter)
    assert links(pages["intro"], "Repository") == [ADDRESS]
    assert links(pages["intro"], "Binder") == []  # nothing to run there
    assert links(chapter, "Sourceofthispage") == [f"{ADDRESS}/blob/main/{path}.md"]
    assert links(chapter, "Editthispage") == [f"{ADDRESS}/edit/main/{path}.md"]
    assert links(chapter, "Reportaslip") == [
        f"{ADDRESS}/issues/new?template=slip.yml&title=Slip%3A+One&where=chapters%2Fpart%2Fone"
    ]
    assert links(chapter, "Openissue") == links(chapter, "Reportaslip")
    assert (tmp_path / "_build" / "html" / ".nojekyll").exists()
    own = f"https://example.org/book/{path}.html"
    assert chapter.count(f'<link rel="canonical" href="{own}" />') == 1
    assert f'<meta property="og:url" content="{own}" />' in chapter
    assert f"url    = {{{own}}}" in chapter
    site = tmp_path / "_build" / "html"
    assert (site / "sitemap.xml").read_text().count("<loc>") == 2
    missing = (site / "404.html").read_text(encoding="utf-8")
    assert "This page does not exist" in missing
    assert '<base href="https://example.org/book/" />' in missing


def test_without_the_address_there_is_no_button(tmp_path):
    for page in tree(tmp_path, "").values():
        assert not re.search(r"mybinder|colab|github\.com/(?!executable)", page)
        assert "dropdown-launch-buttons" not in page
        assert "dropdown-source-buttons" not in page
        for absent in ("canonical", "og:url", "og:image", "url    =", "Edit this", "as PDF"):
            assert absent not in page
        assert "@misc{check-" in page
        assert 'rel="license"' in page


def test_the_address_of_this_book_is_empty_or_valid():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    repository.options(config["repository"]["url"])
    assert "launch_buttons" not in config
    assert config["repository"]["branch"] == "main"


@pytest.mark.parametrize("url", ["owner/name", "https://example.org/a/b", f"{ADDRESS}.git", "x'y"])
def test_an_address_that_no_service_understands_is_refused(url):
    with pytest.raises(ConfigError, match="write it as https"):
        repository.options(url)


def test_a_report_fills_fields_that_the_form_has():
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE" / repository.FORM).read_text("utf-8"))
    assert "where" in {part["id"] for part in form["body"]}
    given = {"repository_url": "https://gitlab.com/a/b"}
    assert repository.report(given, "x", "PCA & more") == (
        "https://gitlab.com/a/b/-/issues/new?issue%5Btitle%5D=Slip%3A+PCA+%26+more"
    )
    assert repository.report({}, "x", "PCA") == ""


def test_colab_is_offered_for_github_alone():
    assert "colab_url" in repository.options(f"{ADDRESS}/")["launch_buttons"]
    assert "colab_url" not in repository.options("https://gitlab.com/a/b")["launch_buttons"]


# Binder ---


def pinned(path):
    """Return the packages of a list of requirements."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.partition("==")[0] for line in lines if not line.startswith("#")}


def test_binder_has_what_the_notebooks_import():
    ours = pinned(ROOT / "binder/requirements.txt")
    # IPython and its part for matplotlib come with every kernel.
    packages = {
        "matplotlib_inline": None,
        "sklearn": "scikit-learn",
        "z3": "z3-solver",
        "flint": "python-flint",
        "mllib": None,
        "IPython": None,
        "threadpoolctl": "scikit-learn",  # which brings it
    }
    for path in sorted(ROOT.glob("chapters/*/*.ipynb")) + sorted(ROOT.glob("mllib/**/*.py")):
        if path.suffix == ".ipynb":
            cells = nbformat.read(path, as_version=4).cells
            sources = [cell.source for cell in cells if cell.cell_type == "code"]
        else:
            sources = [path.read_text(encoding="utf-8")]
        for source in sources:
            plain = re.sub(r"(?m)^\s*(%|!(?!=)).*$", "", source)
            for node in ast.walk(ast.parse(plain)):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
                for name in (name.split(".")[0] for name in names):
                    package = packages.get(name, name)
                    known = name in sys.stdlib_module_names or package is None
                    assert known or package in ours, f"{path.name} imports {name}"


def test_binder_installs_the_library_with_the_python_of_the_requirements(tmp_path):
    script = ROOT / "binder" / "postBuild"
    assert script.stat().st_mode & stat.S_IXUSR
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    assert script.read_text().startswith("#!/bin/bash\n")
    for name in ("", "mllib.whl"):  # in the repository, and beside the notebooks
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        (folder / "python").write_text('#!/bin/sh\necho "$@"\n')
        (folder / "python").chmod(0o755)
        if name:
            (folder / name).touch()
        ran = subprocess.run(
            [script],
            cwd=folder,
            env={"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert ran.stdout == f"-m pip install --no-cache-dir --no-deps {name or '.'}\n"
    version = re.fullmatch(r"python-(3\.\d+)\n", (ROOT / "binder/runtime.txt").read_text())[1]
    assert f"tested together on Python {version}" in (ROOT / "requirements.txt").read_text()


def test_the_library_can_be_installed_from_the_repository_alone():
    import tomllib

    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "mllib").rglob("__init__.py")}
    packages = {".".join(folder.parts) for folder in folders} | {"mllib.chapters"}
    assert set(about["tool"]["setuptools"]["packages"]) == packages
    carried = about["tool"]["setuptools"]["package-data"]["mllib.course"]
    listed = {path for pattern in carried for path in (ROOT / "mllib/course").glob(pattern)}
    files = {p for p in (ROOT / "mllib").rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert {p for p in files if p.suffix != ".py"} == listed
    for folder in {p.parent for p in files if p.suffix == ".py"}:
        assert (folder / "__init__.py").is_file(), folder
