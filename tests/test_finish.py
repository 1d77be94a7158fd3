"""What is done to the built pages: the theme's faults mended, one style sheet, one script."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from _ext import once  # noqa: E402
from _ext.setting import figures  # noqa: E402
from _ext.shipping import access, bundle, weight  # noqa: E402

# Faults of the theme ---


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '<button class="btn search-button-field x" title="Search" aria-label="Search" '
            'data-bs-placement="bottom" data-bs-toggle="tooltip">Search Ctrl+K</button>',
            '<button class="btn search-button-field x">Search Ctrl+K</button>',
        ),
        (
            '<summary aria-label="Toggle hidden content">Show</summary>',
            "<summary>Show</summary>",
        ),
        (
            '<div id="pst-primary-sidebar" class="bd-sidebar">',
            '<div id="pst-primary-sidebar" role="region" aria-label="Book" class="bd-sidebar">',
        ),
        ('<p aria-level="2" class="caption" role="heading">', '<p class="caption">'),
        (
            '<p class="admonition-title">Solution to<a href="#x"> Exercise 1</a></p>',
            '<p class="admonition-title">Solution to <a href="#x">Exercise 1</a></p>',
        ),
        ('<header id="pst-header" class="x">\n<p>bar</p></header><p>', "<p>"),
        ('<i class="fa-solid fa-list"></i>', '<i aria-hidden="true" class="fa-solid fa-list"></i>'),
        ('<aside class="margin sidebar">', '<aside class="margin sidebar" role="note">'),
        (
            '<a class="reference internal" href="a">Part</a><details><summary><i></i></summary>',
            '<a class="reference internal" href="a">Part</a><details>'
            '<summary aria-label="Pages of Part"><i></i></summary>',
        ),
    ],
)
def test_faults_of_the_theme_are_mended_once(before, after):
    assert access.repaired(before) == after
    assert access.repaired(after) == after


def test_one_description_of_the_view_stays():
    page = '<head><meta name="viewport" content="a"/><meta name="viewport" content="b"/></head>'
    assert access.repaired(page) == '<head><meta name="viewport" content="a"/></head>'


def test_the_colours_are_chosen_without_storage_too():
    page = '<script data-cfasync="false">localStorage.getItem("mode")</script>'
    assert "catch" in access.repaired(page)


def test_the_button_to_the_top_moves_into_the_main_part():
    page = (
        '<button type="button" id="pst-back-to-top">Up</button>'
        '<main id="main-content" class="bd-main" role="main">Text</main>'
    )
    assert access.top_in_main(page) == (
        '<main id="main-content" class="bd-main" role="main" tabindex="-1">\n'
        '<button type="button" id="pst-back-to-top">Up</button>Text</main>'
    )


def test_heads_of_tables_say_what_they_head():
    page = (
        "<table><thead><tr><th>a</th></tr></thead>"
        '<tbody><tr><th>b</th><th scope="col">c</th><td>d</td></tr></tbody></table><th>'
    )
    assert access.headed(page) == (
        '<table><thead><tr><th scope="col">a</th></tr></thead>'
        '<tbody><tr><th scope="row">b</th><th scope="col">c</th><td>d</td></tr></tbody></table><th>'
    )


def test_a_page_is_described_by_its_first_full_paragraph():
    text = (
        "A line is corrected each time that it is wrong, and left alone otherwise &amp; for ever."
    )
    page = (
        "<title>T</title><article><p>Short.</p>"
        '<p><span class="katex">x</span> and a long paragraph with a formula, passed over here</p>'
        f"<p><strong>The question.</strong> {text}</p></article>"
    )
    found = access.described(page)
    assert f'<meta name="description" content="{text}" />' in found
    assert access.described(found) == found
    long = access.described(page.replace("for ever.", "for ever. " * 30))
    description = long.split('content="')[1].split('"')[0]
    assert len(description) < 170
    assert description.endswith(" …")


# One style sheet ---


def test_rules_and_selectors_are_split_where_they_end():
    style = '@import "x";a{b:"}"}/* c{} */@media print{.d{e:f}.g{h:i}}.j::before{content:"\\"{"}'
    assert bundle.rules(style) == [
        ('@import "x";', None),
        ("a", 'b:"}"'),
        ("@media print", ".d{e:f}.g{h:i}"),
        (".j::before", 'content:"\\"{"'),
    ]
    assert bundle.selectors('a, b:is(c, d), [e=","]') == ["a", "b:is(c, d)", '[e=","]']


def test_rules_that_no_page_can_use_go_and_others_stay():
    style = (
        ".on{a:b}.off{c:d}.on .off{e:f}.on,.off>p{g:h}p:not(.off){i:j}:is(.off,.on){k:l}"
        "@media print{.off{m:n}}@media screen{#here{o:p}}@font-face{font-family:F}"
        r"a[class*=off]{q:r}.w\/2{s:t}"
    )
    assert bundle.thinned(style, {"on", "here", "w/2"}).split("\n") == [
        ".on{a:b}",
        ".on{g:h}",
        "p:not(.off){i:j}",
        ":is(.off,.on){k:l}",
        "@media screen{#here{o:p}}",
        "@font-face{font-family:F}",
        "a[class*=off]{q:r}",
        r".w\/2{s:t}",
    ]


def test_addresses_in_a_style_are_seen_from_its_new_place():
    style = 'a{b:url(../f.woff2)}c{d:url("data:x")}e{f:url("g.png")}'
    assert bundle.moved(style, "styles") == (
        'a{b:url(f.woff2)}c{d:url("data:x")}e{f:url("styles/g.png")}'
    )


PAGE = (
    '<html data-content_root="{root}"><head>'
    '<link rel="stylesheet" href="{root}_static/styles/a.css?v=1" />'
    '<link href="{root}_static/b.css" rel="stylesheet" type="text/css" />'
    '<script src="{root}_static/scripts/bootstrap.js"></script>'
    '<script src="{root}_static/doctools.js"></script></head>'
    '<body><article><p class="on">x</p><span class="katex">y</span></article></body></html>'
)


@pytest.fixture
def site(tmp_path):
    """A finished site of two pages."""
    static = tmp_path / "_static"
    for folder in (static / "styles", static / "scripts", static / "web", tmp_path / "part"):
        folder.mkdir(parents=True)
    (static / "styles" / "a.css").write_text('@import "../base.css";.on{a:url(../f.woff2)}')
    (static / "base.css").write_text(".on{z:1}.off{z:2}")
    (static / "b.css").write_text(".made{c:d}.off{e:f}")
    (static / "scripts" / "bootstrap.js").write_text("0")
    (static / "doctools.js").write_text("0")
    (static / "web" / "page.js").write_text('part.classList.add("made")')
    (tmp_path / "search.html").write_text(PAGE.format(root="./"))
    (tmp_path / "part" / "a.html").write_text(PAGE.format(root="../"))
    bundle.site(tmp_path)
    return tmp_path


def test_a_page_has_one_style_sheet_and_the_script_of_the_book(site):
    (sheet,) = (site / "_static").glob("style-*.css")
    assert sheet.read_text().split("\n") == [".on{z:1}", ".on{a:url(f.woff2)}", ".made{c:d}"]
    page = (site / "part" / "a.html").read_text()
    assert page.count('rel="stylesheet"') == 1
    assert f'href="../_static/{sheet.name}"' in page
    assert 'src="../_static/web/page.js?v=' in page
    assert "bootstrap" not in page
    assert "doctools" not in page
    assert not list((site / "_static").glob("scripts/*"))
    assert not (site / "_static" / "b.css").exists()


def test_the_search_page_keeps_what_searching_needs(site):
    page = (site / "search.html").read_text()
    assert "doctools.js" in page
    assert "bootstrap" not in page


def test_fonts_of_the_first_screens_are_fetched_ahead(site):
    page = (site / "part" / "a.html").read_text()
    assert 'href="../_static/katex/fonts/KaTeX_Main-Regular.woff2"' in page
    assert "KaTeX_Math-Italic" not in page


# Weight ---


def section(name, letters, inner=""):
    """A section of a page with so many letters."""
    return f'<section class="x" id="{name}"><p>{"a" * letters}</p>{inner}</section>'


def test_heavy_sections_beyond_the_first_screens_are_marked():
    light = section("light", 100)
    far = section("far", bundle.HEAVY, section("inner", 10))
    first = section("first", bundle.HEAVY)
    page = f"<article><section id='top'><h1>T</h1>{first}{far}{light}</section></article>"
    marked = bundle.distant(page)
    assert marked.count("distant") == 1
    assert '<section class="x distant" style="--phone:' in marked
    assert marked.index("distant") < marked.index('id="far"') < marked.index('id="inner"')
    assert 'class="x" id="first"' in marked


def test_results_beyond_the_first_screens_are_marked_one_by_one():
    def result(name):
        return f'<div class="result result-theorem" id="{name}"><p>{"a" * 2000}</p></div>'

    entries = "".join(map(result, ("one", "two", "three", "four")))
    page = f"<article><section id='all'><section id='in'>{entries}</section></section></article>"
    marked = bundle.distant(page)
    assert re.findall(r'result-theorem distant" style="[^"]+" id="(\w+)"', marked) == [
        "three",
        "four",
    ]
    assert marked.count("distant") == 2
    assert re.sub(r' distant" style="[^"]+"', '"', marked) == page


def test_pages_without_an_article_are_left_alone():
    assert bundle.distant("<p>x</p>") == "<p>x</p>"


def test_folded_code_takes_no_room_in_the_estimate():
    text, code = f"<p>{'word ' * 500}</p>", "<pre>" + "x = 1\n" * 40 + "</pre>"
    folded = f'<details class="code-fold"><summary>Code</summary>{code}</details>'
    assert bundle.heights(text + folded) == bundle.heights(text) != bundle.heights(text + code)


def test_a_drawing_loses_remarks_and_digits_but_no_scale():
    drawing = (
        '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg viewBox="0 0 5.12345 5">\n'
        "<metadata>\n<x/></metadata><!-- text -->\n"
        '<path id="a.1234" d="M 1.23456 -0.001 \nL 2 3.5"/>'
        '<g transform="translate(1.23456 2) scale(0.015625 -0.1)"/></svg>'
    )
    assert figures.compact(drawing) == (
        '<svg viewBox="0 0 5.12345 5"><path id="a.1234" d="M 1.2 0 L 2 3.5"/>'
        '<g transform="translate(1.2 2) scale(0.015625 -0.1)"/></svg>\n'
    )
    assert figures.compact(figures.compact(drawing)) == figures.compact(drawing)


def test_a_font_keeps_the_letters_that_are_shown_in_it():
    page = '<span class="mord mathbf">x</span><span class="mathbf mtight">&amp;</span>y'
    assert weight.letters_in([page], "mathbf|textbf") == {ord("x"), ord("&")}
    assert weight.letters_in(['<span class="mathbf"><span>x</span></span>'], "mathbf") is None
    assert weight.letters_in(["x"], "mathbf") == set()


def test_the_search_index_keeps_words_and_years_and_no_other_numbers():
    index = (
        'Search.setIndex({"terms":{"novikoff":1,"l1":[2,3],"1962":4,"0.125":5,"00543e":6},"x":{}})'
    )
    slim = weight.slim(index)
    assert slim == 'Search.setIndex({"terms":{"novikoff":1,"l1":[2,3],"1962":4},"x":{}})'
    assert weight.slim(slim) == slim


# From build to build ---


def test_what_was_made_of_a_text_is_kept_until_something_changes(tmp_path):
    made = []

    def doubled(text, times=2):
        made.append(text)
        return text * times

    keep = once.Kept(tmp_path / "kept", b"salt")
    assert [keep(doubled, "ab\r\n"), keep(doubled, "ab\r\n"), keep(doubled, "ab", 3)] == [
        "ab\r\n" * 2,
        "ab\r\n" * 2,
        "ababab",
    ]
    assert made == ["ab\r\n", "ab"]
    again = once.Kept(tmp_path / "kept", b"salt")
    assert again(doubled, "ab", 3) == "ababab"
    assert len(made) == 2
    again.forget()  # what this build did not ask for
    assert len(list((tmp_path / "kept").iterdir())) == 1
    assert once.Kept(tmp_path / "kept", b"other")(doubled, "ab", 3) == "ababab"
    assert len(made) == 3
