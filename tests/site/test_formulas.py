"""Formulas stand where KaTeX puts them, with fewer elements, and are spelled out in time."""

import html
import re

import pytest
from contents import ROOT, SITE, chapters
from playwright.sync_api import expect

from _ext.setting import mathematics
from _ext.shipping.weight import elements

#: A page opens with at most so many elements.
ELEMENTS = 20_000
#: A letter of a formula may stand so many pixels from its place.
MOVED = 0.3

PLACES = """async () => {
  await document.fonts.ready;
  await Promise.allSettled([...document.fonts].map((font) => font.load()));
  return [...document.querySelectorAll("i")].map((box) => {
    const from = box.getBoundingClientRect(), found = [];
    const letters = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    for (let text; (text = letters.nextNode());) {
      if (text.parentElement.closest(".katex-mathml")) continue;
      for (let i = 0; i < text.length; i++) {
        if (/[\\u200b\\s]/.test(text.data[i])) continue;
        const range = document.createRange();
        range.setStart(text, i);
        range.setEnd(text, i + 1);
        const {left, top} = range.getBoundingClientRect();
        found.push([text.data[i], left - from.left, top - from.top]);
      }
    }
    found.push(["", from.width, 0]);
    return found;
  });
}"""


def formulas(page):
    """Return the different formulas of a page, as TeX."""
    text = (SITE / page).read_text(encoding="utf-8")
    found = re.findall(r'<annotation encoding="application/x-tex">(.*?)</annotation>', text, re.S)
    return list(dict.fromkeys(html.unescape(tex) for tex in found))


@pytest.mark.parametrize("page", ["perceptron", "support-vector-machines"])
def test_letters_of_formulas_stand_where_katex_puts_them(new_tab, address, page):
    (page,) = (name for name in chapters() if name.endswith(f"/{page}.html"))
    tex = formulas(page)
    assert len(tex) > 100
    engine = mathematics._engine(0)
    engine.eval("globalThis.plain = (tex) => katex.renderToString(tex, {strict: 'ignore'})")
    style = (ROOT / "_static/katex/katex.min.css").read_text("utf-8")
    style = style.replace("url(fonts/", f"url({address}/_static/katex/fonts/")
    own = (ROOT / "_static/book.css").read_text("utf-8")
    style += "".join(re.findall(r"^\.katex \.(?:shift|katex-base::before) .*$", own, re.M))
    style += "i { font: 18px serif } p { width: 3000px; white-space: nowrap }"
    places = []
    for typeset in (lambda x: engine.call("plain", x), mathematics.typeset):
        rows = "".join(f"<p><i>a{typeset(x)}b</i></p>" for x in tex)
        tab = new_tab()
        tab.goto(f"{address}/search.html")
        tab.set_content(f"<!doctype html><style>{style}</style>{rows}")
        places.append(tab.evaluate(PLACES))
    for source, before, after in zip(tex, *places, strict=True):
        assert [spot[0] for spot in after] == [spot[0] for spot in before], source
        far = max(abs(a - b) for old, new in zip(before, after) for a, b in zip(old[1:], new[1:]))
        assert far < MOVED, f"{source} has a letter {far:.2f} px from its place"


def test_a_page_opens_with_few_elements():
    counted = {
        str(page.relative_to(SITE)): elements(page.read_text(encoding="utf-8"))
        for page in SITE.rglob("*.html")
    }
    assert max(counted.values()) > 5000  # something is counted
    heavy = {page: count for page, count in counted.items() if count > ELEMENTS}
    assert not heavy, heavy


def test_formulas_are_spelled_out_once_a_page_is_open(new_tab, address):
    tab = new_tab()
    tab.goto(f"{address}/{chapters()[0]}")
    expect(tab.locator("noscript.katex-mathml")).to_have_count(0)
    seen, heard = tab.locator("article .katex-html").count(), tab.locator("article .katex math")
    assert heard.count() == seen > 100


def test_formulas_are_spelled_out_without_scripts(new_tab, address):
    tab = new_tab(java_script_enabled=False)
    tab.goto(f"{address}/{chapters()[0]}")
    assert tab.locator("article .katex-mathml math").count() > 100
