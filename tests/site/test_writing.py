"""How a page is written: links of things to themselves, previews, drawings, exercises, styles."""

import json
import re
import sys
from pathlib import Path

import pytest
import small_site
import tinycss2
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from _ext.pages import exercises  # noqa: E402
from _ext.web import lighter  # noqa: E402

ONE = """# One

```{prf:theorem} Name
:label: one-name

It is so.

$$
a = b
$$ (eq-one)
```

```{prf:proof}
:label: one-proof

Clear.
```

(one-idea)=
A paragraph, see {eq}`eq-one`.

```{figure} a.svg
:name: fig-one

What *it* shows.
```

```{exercise} Another start (conceptual)
:label: one-exercise

Try.
```

```{solution} one-exercise
:class: dropdown

Done.
```

| a | `b.c_d` |
|---|---|
| `e.f_g` | 1 |
"""
TWO = "# Two\n\nSee {prf:ref}`one-name`, {ref}`one-exercise` and {doc}`one`.\n"
DRAWING = '<svg width="75pt" height="30pt" viewBox="0 0 75 30"><path style="fill: #0b5fa5"/></svg>'


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of a built site of two chapters."""
    folder = tmp_path_factory.mktemp("site")
    part = folder / "source" / "chapters" / "part"
    part.mkdir(parents=True)
    (folder / "source" / "registers").mkdir()
    (part / "one.md").write_text(ONE)
    (part / "two.md").write_text(TWO)
    (part / "a.svg").write_text(DRAWING)
    (folder / "source" / "index.md").write_text(
        "# Book\n\n```{toctree}\n:numbered:\nchapters/part/one\nchapters/part/two\n```\n"
    )
    entry = {"id": "one-idea", "chapter": "one", "kind": "advice", "title": "An $x$ idea"}
    (folder / "source" / "registers" / "results.yml").write_text(yaml.safe_dump([entry]))
    extensions = ("sphinx_exercise", "_ext.pages.exercises", "_ext.web.writer")
    assert small_site.build(folder, *extensions, results_page="none") == []
    return folder / "html"


@pytest.fixture(scope="module")
def one(site):
    """The first chapter."""
    return (site / "chapters/part/one.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("anchor", "what"),
    [
        ("one-name", "Theorem 1.1"),
        ("one-proof", "this proof"),
        ("one-idea", "An x idea"),
        ("fig-one", "Fig. 1.1"),
        ("one-exercise", "Exercise 1.1"),
    ],
)
def test_what_can_be_cited_links_to_itself_once(one, anchor, what):
    assert (
        one.count(f'<a class="permalink" href="#{anchor}" aria-label="Link to {what}">#</a>') == 1
    )


def test_references_of_chapters_are_marked_and_what_they_show_is_written(site, one):
    two = (site / "chapters/part/two.html").read_text(encoding="utf-8")
    assert one.count("data-preview") == 1
    assert two.count("data-preview") == 2
    written = (site / "chapters/part/one.previews.js").read_text(encoding="utf-8")
    assert written.startswith('window.bookPreviews("chapters/part/one.html", {')
    pieces = json.loads(written[written.index("{") : written.rindex("}") + 1])
    assert {"one-name", "equation-eq-one", "fig-one", "one-exercise"} <= set(pieces)
    for piece in pieces.values():
        assert piece.count("<div") == piece.count("</div>")


def test_a_drawing_has_a_twin_for_the_dark_page(site, one):
    assert len(re.findall(r"class=\"only-(?:light|dark)", one)) == 2
    for image in re.findall(r"<img[^>]*only-[^>]*>", one):
        assert 'loading="lazy"' in image
        assert 'width="100"' in image
        assert (site / "chapters/part" / re.search(r'src="([^"]*)"', image)[1]).is_file()
    twin = (site / "_images/a-dark.svg").read_text(encoding="utf-8")
    assert "#6cb4f5" in twin
    assert 'fill="#e6e6e6"' in twin


def test_titles_of_exercises_are_plain_and_solutions_fold_without_a_script(one):
    assert '<span class="exercise-title">Another start</span> <span class="effort">conc' in one
    assert '<summary class="admonition-title">Solution to Exercise 1.1: Another start' in one
    assert exercises.split("A start (twice) (short code)") == ("A start (twice)", "short code")


def test_heads_of_tables_say_what_they_head_and_names_break_at_their_joints(one):
    assert one.count('scope="col"') == 2
    assert "e.<wbr>f_<wbr>g" in one


def test_rules_that_no_page_can_use_go_and_others_stay():
    style = (
        ".on{a:b}.off{c:d}.on .off{e:f}.on,.off>p{g:h}p:not(.off){i:j}"
        "@media screen{#here{o:p}}@font-face{font-family:F}a[class*=off]{q:r}"
    )
    rules = tinycss2.parse_stylesheet(style, skip_comments=True, skip_whitespace=True)
    assert lighter.thinned(rules, {"on", "here"}).split("\n") == [
        ".on{a:b}",
        ".on{g:h}",
        "p:not(.off){i:j}",
        "@media screen{#here{o:p}}",
        "@font-face{font-family:F}",
        "a[class*=off]{q:r}",
    ]
