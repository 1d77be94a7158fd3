"""The built site: links, hosts, descriptions, scripts off, badges, twins of figures."""

import functools
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from contents import ROOT, SITE, entries, pages
from playwright.sync_api import expect

each_page = pytest.mark.parametrize("page", pages())


@functools.cache
def html(path):
    return path.read_text(encoding="utf-8")


@functools.cache
def anchors(path):
    return set(re.findall(r'\b(?:id|name)="([^"]+)"', html(path)))


# The files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [*pages(), *entries()])
def test_every_internal_link_and_anchor_exists(page):
    path, broken = SITE / page, []
    for link in re.findall(r'\b(?:href|src)="([^"]*)"', html(path)):
        parts = urlsplit(link.replace("&amp;", "&"))
        if parts.scheme or parts.netloc or link in ("#", ""):
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        inside = unquote(parts.fragment) if target.suffix == ".html" else ""
        if not target.is_file() or (inside and inside not in anchors(target)):
            broken.append(link)
    assert not broken


@each_page
def test_a_page_names_itself_and_describes_its_pictures(page):
    text = html(SITE / page)
    assert re.search(r'<html[^>]*\blang="en"', text)
    assert re.search(r"<title>[^<]{5,}</title>", text)
    assert len(re.findall(r"<h1\b", text)) == 1
    for image in re.findall(r"<img\b[^>]*>", text):
        assert re.search(r'\balt="[^"]{3,}"', image), image


#: Words that say nothing of where a link leads; Lighthouse asks for others.
EMPTY_WORDS = {
    *("click here", "click this", "go", "here", "information", "learn more", "more", "more info"),
    *("more information", "read more", "right here", "see more", "start", "this"),
}


@pytest.mark.parametrize("page", [*pages(), *entries()])
def test_a_link_says_where_it_leads(page):
    article = html(SITE / page).partition("<article")[2].partition("</article>")[0]
    links = re.findall(r"<a\b[^>]*\bhref=[^>]*>(.*?)</a>", article, re.DOTALL)
    words = {re.sub(r"<[^>]+>", "", link).strip().lower() for link in links}
    assert words
    assert not words & EMPTY_WORDS


def test_nothing_is_fetched_from_another_host():
    for path in [*SITE.glob("**/*.html"), *SITE.glob("**/*.css")]:
        text = html(path)
        for pattern in (
            r'<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc="(?:https?:)?//[^"]*"',
            r'<link\b[^>]*rel="(?:stylesheet|preload|icon)"[^>]*href="(?:https?:)?//[^"]*"',
            r"url\(['\"]?(?:https?:)?//[^)]*\)",
        ):
            found = re.search(pattern, text)
            assert not found, f"{path.name}: {found and found[0][:200]}"


def test_every_figure_has_a_twin_for_the_dark():
    text = html(SITE / "chapters/classification/perceptron.html")
    light, dark = text.count('class="only-light"'), text.count('class="only-dark"')
    assert light == dark >= 5


def test_the_search_knows_theorems_and_functions():
    index = html(SITE / "searchnames.js").lower()
    for word in ("novikoff", "hoeffding", "viterbi", "mistake_bound"):
        assert word in index, word


def test_the_results_page_lists_every_result_of_the_published_chapters():
    text = html(SITE / "chapters/results.html")
    published = {Path(page).stem for page in pages()}
    for entry in yaml.safe_load((ROOT / "registers/results.yml").read_text(encoding="utf-8")):
        if entry["chapter"] in published:
            page = f"results/{entry['chapter']}.html"
            assert f'href="{page}#result-{entry["id"]}"' in text, entry["id"]
            assert f"result-{entry['id']}" in anchors(SITE / "chapters" / page), entry["id"]


@pytest.mark.parametrize("page", entries())
def test_a_page_of_results_has_no_number_of_a_chapter(page):
    headings = re.findall(r"<h[12]\b.*?</h[12]>", html(SITE / page), re.DOTALL)
    assert len(headings) == 3
    assert not any("section-number" in heading for heading in headings)


# The browser ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("scheme", "shown"), [("light", "only-light"), ("dark", "only-dark")])
def test_one_of_the_twins_is_shown(new_tab, address, scheme, shown):
    tab = new_tab(color_scheme=scheme)
    tab.goto(f"{address}/chapters/theory/concentration.html")
    for name in ("only-light", "only-dark"):
        assert tab.locator(f"figure img.{name}").first.is_visible() == (name == shown)
    captions = tab.locator("figure figcaption")
    assert captions.count() >= 2
    assert all(captions.nth(i).is_visible() for i in range(captions.count()))


def test_claims_wear_their_badge(new_tab, address):
    tab = new_tab()
    tab.goto(f"{address}/chapters/classification/perceptron.html")
    badges = tab.locator(".cell.claim .claim-badge")
    assert badges.count() >= 10
    badges.first.locator("a").first.click()
    tab.wait_for_url("**/results/perceptron.html#result-*")
    expect(tab.locator(":target .verdict").first).to_be_visible()
