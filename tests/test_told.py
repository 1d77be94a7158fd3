"""After any edit the site is the same as one built from nothing."""

import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
import small_site
import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PIXEL = (
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
ONE = """# One

$$
a=1
$$ (eq-one)

```{prf:theorem} Of sums
:label: one-law

A **sum** is a sum.
```
"""
CELL = """from mllib.numerics import add
with claim("one-law") as c:
    c.holds("small", add(1, 1) == 2)"""
SHOWN = "`one-law`\n\n- **holds** small"
MORE = """
(one-place)=
## A place

```{figure} a.png
:name: fig-one

A point.
```

````{exercise} Add
:label: ex-one

Add one.
````

```{results-table}
```
"""
TWO = """# Two

By {eq}`eq-one`, {prf:ref}`one-law`, {numref}`fig-one`, {ref}`ex-one` and {doc}`one`, as
[said](#one-place) by {cite:t}`gauss1809`; see {py:func}`mllib.numerics.add`.
"""
OTHERS = {
    "index.md": "# Book\n\n```{toctree}\n:numbered:\nchapters/part/one\nchapters/part/two\n"
    "chapters/part/three\n```\n\n```{toctree}\nchapters/results\nchapters/glossary\n"
    "chapters/book-index\nchapters/library\n```\n",
    "chapters/part/two.md": TWO,
    "chapters/part/three.md": "# Three\n\nSee {prf:ref}`one-law`.\n\n![A point](b.png)\n",
    "chapters/results.md": "# Results\n\n```{results-index}\n```\n",
    "chapters/glossary.md": "# Glossary\n\n```{book-glossary}\n```\n",
    "chapters/book-index.md": "# Index\n\n```{book-index}\n```\n",
    "chapters/library.md": "# Library\n\n```{py:function} mllib.numerics.add(x, y)\n```\n\n"
    "```{bibliography}\n```\n",
    "chapters/references.bib": "@book{gauss1809,\n author = {Gauss, C. F.},\n title = {Theory},\n"
    " publisher = {Perthes},\n year = {1809}\n}\n",
    "chapters/glossary.yml": yaml.safe_dump(
        [{"term": "sum", "chapter": "one", "definition": "What is added."}]
    ),
    "chapters/results.yml": yaml.safe_dump(
        [{"id": "one-law", "chapter": "one", "kind": "theorem", "title": "A law"}]
    ),
    "tests/test_one.py": "from mllib.numerics import add\n\n\ndef test_add():\n    add(1, 1)\n",
}


class Book:
    """A book of three chapters, built again and again in one folder."""

    def __init__(self, folder):
        self.folder, self.source = folder, folder / "source"
        for name, text in OTHERS.items():
            (self.source / name).parent.mkdir(parents=True, exist_ok=True)
            (self.source / name).write_text(text)
        for name in "ab":
            (self.source / f"chapters/part/{name}.png").write_bytes(bytes.fromhex(PIXEL))
        self.first = ONE
        self.write_first(ONE)
        assert self.build(folder) == []

    def write_first(self, text):
        """Write the first chapter, a notebook with a claim."""
        self.first = text
        forms = {"text/plain": "one-law\n  holds  small", "text/markdown": SHOWN}
        output = nbformat.v4.new_output("display_data", forms)
        cells = [
            nbformat.v4.new_markdown_cell(text),
            nbformat.v4.new_code_cell(CELL, outputs=[output], execution_count=1),
            nbformat.v4.new_markdown_cell(MORE),
        ]
        for number, cell in enumerate(cells):
            cell.id = f"cell-{number}"
        notebook = nbformat.v4.new_notebook(cells=cells)
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        notebook.metadata["language_info"] = {"name": "python"}
        nbformat.write(notebook, self.source / "chapters" / "part" / "one.ipynb")

    def edit(self, name, old, new):
        """Replace a text in a file."""
        if name == "one":
            assert old in self.first
            return self.write_first(self.first.replace(old, new, 1))
        path = self.source / name
        assert old in path.read_text()
        return path.write_text(path.read_text().replace(old, new, 1))

    def build(self, folder):
        """Build what changed; return the warnings."""
        return small_site.build(
            folder,
            "_ext.setting.quick",
            "_ext.registers.glossary",
            "_ext.registers.names",
            "sphinxcontrib.bibtex",
            "sphinx_exercise",
            nitpicky=True,
            bibtex_bibfiles=["chapters/references.bib"],
            bibtex_reference_style="author_year",
            prf_realtyp_to_countertyp=dict.fromkeys(("theorem", "lemma", "definition"), "theorem"),
            html_sidebars={"**": ["globaltoc.html"]},
        )

    def site(self, folder):
        """Return the content of every file of a site, style sheets without their version."""
        html = folder / "html"
        return {
            path.relative_to(html).as_posix(): re.sub(rb"\?v=[0-9a-f]+", b"", path.read_bytes())
            for path in html.glob("**/*")
            if path.is_file() and path.name != ".buildinfo"
        }


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The book, edited by one test after the other."""
    return Book(tmp_path_factory.mktemp("told"))


def page(book, name):
    return (book.folder / "html" / "chapters" / f"{name}.html").read_text(encoding="utf-8")


EDITS = {
    "equation": [("one", "# One\n", "# One\n\n$$\nb=2\n$$ (eq-new)\n")],
    "statement": [
        (
            "one",
            "```{prf:theorem}",
            "```{prf:definition} New\n:label: new\n\nSo.\n```\n\n```{prf:theorem}",
        )
    ],
    "kind": [("one", "```{prf:theorem} Of", "```{prf:lemma} Of")],
    "title": [("one", "# One\n", "# First\n")],
    "order": [("index.md", "one\nchapters/part/two", "two\nchapters/part/one")],
    "author": [("chapters/references.bib", "Gauss, C. F.", "Legendre, A. M.")],
    "test": [("tests/test_one.py", "test_add", "test_addition")],
    "term": [("chapters/glossary.yml", "What is added", "What comes of adding")],
    "picture": [("chapters/part/three.md", "b.png", "a.png")],
    "page": [("index.md", "chapters/part/three\n", "")],
}


@pytest.mark.parametrize("what", EDITS)
def test_a_site_brought_up_to_date_is_the_one_built_from_nothing(book, tmp_path, what):
    for edit in EDITS[what]:
        book.edit(*edit)
    if what == "page":
        (book.source / "chapters/part/three.md").unlink()
    assert book.build(book.folder) == []
    shutil.copytree(book.source, tmp_path / "source")
    assert book.build(tmp_path) == []
    updated, fresh = book.site(book.folder), book.site(tmp_path)
    assert sorted(updated) == sorted(fresh)
    assert [name for name in fresh if updated[name] != fresh[name]] == []
