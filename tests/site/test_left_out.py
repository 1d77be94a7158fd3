"""A site of one course: what is left out becomes text, and a note says where it stands."""

import re

import small_site
import yaml

INDEX = "# Book\n\n```{toctree}\n:numbered:\nchapters/part/kept\n```\n"
KEPT = """# Kept

By {prf:ref}`gone-theorem` and {prf:ref}`the second one <gone-theorem>`, see {doc}`gone`,
{eq}`eq-gone-sum`, {ref}`there <gone-place>` and {prf:ref}`kept-zero`.

```{prf:definition} Zero
:label: kept-zero

The number zero.
```
"""
GONE = """# All that is gone

(gone-place)=
A place.

```{prf:theorem} Lost
:label: gone-theorem

$$
1+1=2
$$ (eq-gone-sum)
```
"""
RESULTS = [
    {"id": "gone-theorem", "chapter": "gone", "kind": "theorem", "title": "The $lost$ theorem"},
    {"id": "kept-zero", "chapter": "kept", "kind": "definition", "title": "Zero"},
]


def test_references_to_what_is_left_out_become_text_with_a_note(tmp_path):
    source = tmp_path / "source"
    for name in ("chapters/part", "registers", "courses", "tests"):
        (source / name).mkdir(parents=True)
    (source / "index.md").write_text(INDEX)
    (source / "chapters/part/kept.md").write_text(KEPT)
    (source / "chapters/part/gone.md").write_text(GONE)
    (source / "registers/results.yml").write_text(yaml.safe_dump(RESULTS))
    weeks = [{"date": "5 October", "chapters": ["kept"]}]
    (source / "courses/one.yml").write_text(yaml.safe_dump({"title": "One", "weeks": weeks}))
    warnings = small_site.build(
        tmp_path,
        "_ext.registers.course",
        book_course="one.yml",
        exclude_patterns=["chapters/part/gone.md", "courses"],
        nitpicky=True,
    )
    assert warnings == []
    html = (tmp_path / "html/chapters/part/kept.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", "", html[html.index("<p>By") :])
    assert text.startswith("By The lost theorem† and the second one†, see All that is gone†,")
    assert "there† and Definition 1.1" in text
    assert "† Not in this course: All that is gone." in text
    assert html.count('href="#left-out"') == 5
    assert html.count('id="left-out"') == 1
