"""The time to read that a card shows: counted from the notebook, put before the time to run."""

import sys
from pathlib import Path

import nbformat
import pytest
import small_site

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from _ext.setting import reading  # noqa: E402

CARD = """# A chapter

```{admonition} At a glance
:class: chapter-card

**The question.** Why?

**Time:** ten seconds to run. **In the library:** nothing.
```
"""


def notebook(*cells):
    return nbformat.v4.new_notebook(cells=cells)


def text(source):
    return nbformat.v4.new_markdown_cell(source)


def code(source, *tags, outputs=()):
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)}, outputs=list(outputs))


def test_everything_in_sight_is_counted_and_nothing_else():
    figure = nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>"})
    book = notebook(
        text("Two words, $x$ and {prf:ref}`more <a-b>`.\n\n$$\na\\\\\nb\n$$ (eq-a)"),
        code("a = 1\n\nb = 2"),
        code("import numpy", "hide-input"),
        code("draw()", "hide-input", outputs=[figure]),
        code('with claim("a") as c:\n    c.holds("one", 1)\n    c.tight("two", 1, at_least=1)'),
        text("Three more words.\n\n## Exercises\n\nNot these."),
        code("not_this = 1"),
    )
    count = reading.counted(book)
    assert 7 <= count.pop("word") <= 10
    assert count == {"formula": 1, "display": 2, "figure": 1, "code": 2, "verdict": 2}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (10, "half an hour"),
        (7200, "an hour"),
        (10_800, "an hour and a half"),
        (14_400, "two hours"),
    ],
)
def test_the_time_is_said_in_half_hours(words, said):
    assert reading.hours({"word": words}) == said
    assert reading.hours({"word": words + 14_400 * 2}) != said


def test_the_card_says_both_times(tmp_path):
    part = tmp_path / "source" / "chapters" / "part"
    part.mkdir(parents=True)
    book = notebook(text(CARD), text("word " * 18_000), code("x = 1"))
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(book, part / "long.ipynb")
    (tmp_path / "source" / "index.md").write_text(
        "# Book\n\n```{toctree}\nchapters/part/long\n```\n", "utf-8"
    )
    (tmp_path / "source" / "chapters" / "results.yml").write_text("[]\n", "utf-8")
    (tmp_path / "source" / "chapters" / "errata.yml").write_text("[]\n", "utf-8")
    small_site.build(tmp_path, "_ext.setting.reading")
    page = (tmp_path / "html" / "chapters" / "part" / "long.html").read_text("utf-8")
    time = "<strong>Time:</strong> two and a half hours to read, without the exercises; "
    assert time + "ten seconds to run." in page
