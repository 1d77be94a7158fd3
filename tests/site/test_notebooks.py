"""The notebooks that are handed out: the code of the chapter, its text as the page has it."""

import re

import nbformat
import pytest
from contents import ROOT, SITE

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
