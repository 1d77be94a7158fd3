"""The rules of statements, claims and registers: each fault is found and says where it is."""

import json
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from _ext.registers import rules  # noqa: E402

CLAIM = 'x = 1\nwith claim("sums-zero") as c:\n    c.holds("x", True)'
STATED = "```{prf:theorem} Sums\n:label: sums-zero\n\nFor all $a$: $a + 0 = a$.\n```"
HOLDS = "sums-zero\n  holds      x\n"
ENTRY = {"id": "sums-zero", "chapter": "sums", "kind": "theorem", "title": "Sums", "sources": []}


@pytest.fixture
def found(tmp_path):
    """Return a function that writes a chapter of a few cells and its registers, and checks them."""

    def check(stated=STATED, claim=CLAIM, shown=HOLDS, results=(ENTRY,), errata=(), count=1):
        (tmp_path / "registers").mkdir(exist_ok=True)
        folder = tmp_path / "chapters" / "part"
        folder.mkdir(parents=True, exist_ok=True)
        cell = f"```{{code-cell}} ipython3\n:tags: [hide-input]\n\n{claim}\n```\n"
        text = f"---\njupytext: {{}}\n---\n\n# Sums\n\n+++\n\n{stated}\n\n{cell}\nEnd.\n"
        (folder / "sums.md").write_text(text)
        outputs = [{"output_type": "stream", "text": [shown]}]
        if shown is None:
            outputs = [{"output_type": "error"}]
        run = {"cell_type": "code", "source": [claim], "execution_count": count, "outputs": outputs}
        (folder / "sums.ipynb").write_text(json.dumps({"cells": [run]}))
        for name, entries in (("results", results), ("errata", errata)):
            (tmp_path / "registers" / f"{name}.yml").write_text(yaml.safe_dump(list(entries)))
        return rules.faults(tmp_path)

    return check


def test_a_good_chapter_has_no_fault(found):
    assert found() == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"results": ()}, "sums.md:19 (cell 3, line 2): claim sums-zero is in neither"),
        ({"results": ()}, "kind (theorem, lemma, proposition"),
        ({"stated": "(sums-zero)=\nTrue.", "results": ()}, "is in neither results.yml"),
        ({"stated": "True."}, "claim sums-zero names nothing that is anchored on its page"),
        (
            {"stated": STATED.replace(":label: sums-zero\n", "")},
            "(cell 2, line 1): theorem without",
        ),
        ({"claim": "x = 1"}, "sums.md:9 (cell 2, line 1): theorem sums-zero has no claim"),
        ({"claim": f"{CLAIM}\n{CLAIM}"}, "claim sums-zero is made twice, first in"),
        ({"claim": CLAIM.replace('"sums-zero"', "name")}, "its names must be written out"),
        ({"shown": ""}, "its cell showed no verdict that it holds"),
        ({"shown": None}, "its cell ended in an error"),
        ({"count": None}, "its cell was not executed"),
        ({"results": (ENTRY, ENTRY)}, "entry sums-zero is there twice"),
        ({"results": ({**ENTRY, "kind": "guess"},)}, "there is no kind guess; the kinds are"),
        ({"results": ({**ENTRY, "date": 1},)}, "it needs chapter, id, kind, sources, title"),
        (
            {"results": (ENTRY, {**ENTRY, "id": "sums-two", "kind": "definition"})},
            "no anchor sums-two for the definition",
        ),
        (
            {
                "stated": f"{STATED}\n\n(sums-two)=\nTwo.",
                "results": (ENTRY, {**ENTRY, "id": "sums-two", "kind": "derivation"}),
            },
            "derivation sums-two has no claim",
        ),
        ({"errata": ({"id": "five", "chapter": "sums"},)}, "no anchor erratum-five for the slip"),
    ],
)
def test_a_fault_says_what_and_where(found, change, said):
    faults = found(**change)
    assert any(said in fault for fault in faults), faults


def test_a_slip_stands_in_its_chapter_or_on_the_page_of_its_source(found, monkeypatch):
    monkeypatch.setitem(rules.register.SLIPS, "Some notes", "sums")
    here = {"id": "zero", "chapter": "elsewhere", "source": "Some notes"}
    stated = STATED.replace("sums-zero", "erratum-zero").replace("theorem", "definition")
    run = CLAIM.replace("sums-zero", "erratum-zero")
    assert found(stated=stated, claim=run, results=(), errata=(here,)) == []
    faults = found(errata=(here,))
    assert faults == ["chapters/part/sums.md: no anchor erratum-zero for the slip of that name"]


def test_what_needs_no_claim_and_what_is_not_published_is_left_alone(found):
    stated = f"{STATED}\n\n```{{prf:definition}} Two\n:label: sums-two\n\nTwo.\n```"
    more = {**ENTRY, "id": "sums-two", "kind": "definition"}
    assert found(stated=stated, results=(ENTRY, more, {**ENTRY, "id": "b", "chapter": "b"})) == []


def test_the_cells_of_a_text_twin_are_those_of_its_notebook():
    for path in sorted(ROOT.glob("chapters/*/*.md")):
        cells = json.loads(path.with_suffix(".ipynb").read_text(encoding="utf-8"))["cells"]
        ours = rules.cells(path.read_text(encoding="utf-8"))
        assert [c.text.strip() for c in ours] == ["".join(c["source"]).strip() for c in cells]
