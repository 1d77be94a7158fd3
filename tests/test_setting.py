"""What sets a page: formulas with few elements that are kept, code, the contents beside it."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docutils import nodes
from sphinx import addnodes

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from _ext.registers import code  # noqa: E402
from _ext.setting import mathematics, quick  # noqa: E402

FORMULAS = [
    r"x^2 + w_i = \|w^*\|",
    r"a \le b,\quad c_{ij}^{\top}\log x",
    r"\frac{1}{n}\sum_{i=1}^n x_i \Big(1 - e^{-x_{t-1}^2}\Big)",
    r"\begin{aligned} a &= \hat\theta \\ &\ge \sqrt{2} \end{aligned}",
    r"\mathbf 1\{x > 0\}\!\left(\begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix}\right)",
]


@pytest.fixture
def plain():
    """KaTeX's own output for a formula."""
    engine = mathematics._engine(0)
    engine.eval("const plain = (tex, displayMode) => katex.renderToString(tex, {displayMode})")

    def typeset(tex, display):
        return engine.call("plain", tex, display)

    yield typeset
    mathematics._engine.cache_clear()


def halves(formula):
    """Return what a screen reader hears and what is seen, as trees."""
    root = ElementTree.fromstring(re.sub(r"&nbsp;", " ", formula))
    heard = next(part for part in root.iter() if part.get("class") == "katex-mathml")
    seen = next(part for part in root.iter() if part.get("class") == "katex-html")
    return heard, seen


def letters(part):
    return re.sub(r"[\s\u200b]+", "", "".join(part.itertext()))


@pytest.mark.parametrize("display", [False, True])
@pytest.mark.parametrize("tex", FORMULAS)
def test_a_formula_has_fewer_elements_and_the_same_letters(plain, tex, display):
    before, after = halves(plain(tex, display)), halves(mathematics.typeset(tex, display))
    for old, new in zip(before, after):
        assert letters(new) == letters(old)
        assert len(list(new.iter())) <= len(list(old.iter()))
    assert len(list(after[1].iter())) < 0.85 * len(list(before[1].iter()))


def test_a_lone_exponent_is_a_box_that_is_moved():
    seen = mathematics.typeset("x^2").partition("katex-html")[2]
    assert (
        '<span class="shift katex-sizing reset-size6 size3" style="margin-right:0.0714em;' in seen
    )
    assert "vlist" not in seen


def test_what_was_typeset_is_kept_for_the_next_build(tmp_path, monkeypatch):
    monkeypatch.setattr(mathematics, "kept", mathematics.Kept(tmp_path / "formulas.sqlite"))
    mathematics.typeset.cache_clear()
    made = mathematics.typeset("a_1 + b^2")
    mathematics.typeset.cache_clear()

    def engine(process):
        raise AssertionError("typeset again")

    monkeypatch.setattr(mathematics, "_engine", engine)
    assert mathematics.typeset("a_1 + b^2") == made
    mathematics.typeset.cache_clear()
    mathematics.kept.maker = "another version"
    with pytest.raises(AssertionError, match="typeset again"):
        mathematics.typeset("a_1 + b^2")


def test_what_tests_use_is_kept_for_the_next_build(tmp_path, monkeypatch):
    (tmp_path / "test_a.py").write_text(
        "from mllib.trees import grow\n\ndef test_it():\n    grow(1)\n"
    )
    kept = tmp_path / "tests.json"
    found = code.names_tested(tmp_path, kept)
    assert found == {"mllib.trees.grow": ["test_a.py::test_it"]}
    monkeypatch.setattr(code, "_tests_in", None)
    assert code.names_tested(tmp_path, kept) == found


def test_code_has_elements_for_what_is_coloured():
    from pygments import highlight
    from pygments.lexers import PythonLexer

    written = highlight("def f(x=y):\n    return x.y[0]", PythonLexer(), quick.Fewer())
    assert '<span class="k">return</span> x.y[<span class="mi">0</span>]' in written
    assert '(x<span class="o">=</span>y)' in written
    assert "<pre><span" in highlight("\n\n1", PythonLexer(stripnl=False), quick.Fewer())
    assert "<pre>x" in highlight("x", PythonLexer(), quick.Fewer())


@pytest.mark.parametrize("name", ["a11y-high-contrast-light", "a11y-high-contrast-dark"])
def test_what_has_no_element_has_the_colour_of_the_text(name):
    from pygments.styles import get_style_by_name
    from pygments.token import STANDARD_TYPES, Token

    style = get_style_by_name(name)
    tokens = [token for token, short in STANDARD_TYPES.items() if short in quick.UNCOLOURED]
    assert len(tokens) == len(quick.UNCOLOURED)
    looks = [style.style_for_token(token) for token in (Token, *tokens)]
    assert len({look["color"] for look in looks} - {None}) == 1
    strings = [style.style_for_token(token)["color"] for token in quick.STRINGS]
    assert len(set(strings)) == 1
    assert not any(look["bold"] or look["italic"] or look["underline"] for look in looks)


def test_the_contents_keep_titles_and_lists_of_pages():
    def entry(name, *inside):
        link = nodes.reference("", name, refuri=name, anchorname="", internal=True)
        return nodes.list_item("", addnodes.compact_paragraph("", "", link), *inside)

    deep = nodes.bullet_list("", entry("part", addnodes.toctree(entries=[(None, "other")])))
    whole = nodes.bullet_list("", entry("page", nodes.bullet_list("", entry("section"), *deep)))
    titles = quick.titles_of(whole)
    assert titles.astext().split() == ["page"]
    assert [tree["entries"] for tree in titles.findall(addnodes.toctree)] == [[(None, "other")]]
    assert whole.astext().split() == ["page", "section", "part"]


def test_figures_have_their_numbers_when_another_page_has_changed(tmp_path):
    from small_site import build

    def figures(*names):
        drawn = "```{figure} a.png\n:name: NAME\n\nThe *caption* of NAME.\n```"
        return "\n\n## A section\n\n".join(drawn.replace("NAME", name) for name in names)

    def numbers(page):
        html = (tmp_path / "html" / f"{page}.html").read_text(encoding="utf-8")
        return re.findall(r'caption-number">Fig. ([\d.]+) ', html)

    source = tmp_path / "source"
    source.mkdir()
    pixel = "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    pixel += "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
    (source / "a.png").write_bytes(bytes.fromhex(pixel))
    (source / "index.md").write_text("# Book\n\n```{toctree}\n:numbered:\none\ntwo\n```\n")
    (source / "one.md").write_text(f"# One\n\n{figures('a', 'b')}\n")
    stated = "```{prf:definition} Of pages\n:label: t\n\nThey change.\n```"
    (source / "two.md").write_text(f"# Two\n\n{figures('c')}\n\n{stated}\n\nSee {{numref}}`a`.\n")
    assert build(tmp_path, "_ext.setting.quick", results_file="none.yml") == []
    assert (numbers("one"), numbers("two")) == (["1.1", "1.2"], ["2.1"])
    (source / "one.md").write_text(f"# One\n\n{figures('z', 'a', 'b')}\n")
    assert build(tmp_path, "_ext.setting.quick", results_file="none.yml") == []
    assert (numbers("one"), numbers("two")) == (["1.1", "1.2", "1.3"], ["2.1"])
    two = (tmp_path / "html" / "two.html").read_text(encoding="utf-8")
    assert "Fig. 1.2</span></a>" in two
    (source / "index.md").write_text("# Book\n\n```{toctree}\n:numbered:\ntwo\none\n```\n")
    assert build(tmp_path, "_ext.setting.quick", results_file="none.yml") == []
    assert (numbers("one"), numbers("two")) == (["2.1", "2.2", "2.3"], ["1.1"])
