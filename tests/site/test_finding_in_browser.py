"""Finding things: glossary, index, search, permanent links, previews, copying; in the browser."""

import itertools
import re

import pytest
import yaml
from contents import ROOT, SITE, chapters, pages
from looking import AXE, ONCE
from playwright.sync_api import expect

PERCEPTRON = "chapters/classification/perceptron.html"
RUN_IN = """async (where) => (await axe.run(where)).violations.flatMap((rule) =>
  rule.nodes.map((node) => `${rule.id}: ${node.target} ${node.failureSummary}`))"""
CHAPTERS = chapters()


@pytest.fixture
def tab(new_tab, address):
    """Open a page of the site that may use the clipboard."""

    def go(page):
        opened = new_tab(permissions=["clipboard-read", "clipboard-write"])
        opened.goto(f"{address}/{page}")
        return opened

    return go


def clipboard(tab):
    """Return the text on the clipboard."""
    return tab.evaluate("navigator.clipboard.readText()")


# Glossary and index ---


def test_the_glossary_lists_every_term_of_the_published_chapters_once():
    text = (SITE / "chapters/glossary.html").read_text(encoding="utf-8")
    slugs = {page.rsplit("/", 1)[1].removesuffix(".html"): page for page in CHAPTERS}
    terms = yaml.safe_load((ROOT / "registers/glossary.yml").read_text(encoding="utf-8"))
    places = re.findall(r'href="([a-z/-]+\.html)#term-([a-z0-9-]+)"', text)
    assert len(places) == len(set(places))
    assert len(places) == sum(term["chapter"] in slugs for term in terms)
    for page, name in places:
        chapter = (SITE / "chapters" / page).read_text(encoding="utf-8")
        assert chapter.count(f'id="term-{name}"') == 1, name
        assert f"glossary.html#glossary-{name}" in chapter, name


def test_from_a_term_to_its_entry_and_back(tab):
    page = tab(PERCEPTRON)
    page.locator("a.term", has_text="pocket").click()
    page.wait_for_url("**/glossary.html#glossary-pocket")
    page.locator("dt#glossary-pocket + dd a", has_text="The perceptron").click()
    page.wait_for_url("**/perceptron.html#term-pocket")


def test_the_index_knows_terms_results_functions_and_people():
    text = (SITE / "chapters/book-index.html").read_text(encoding="utf-8")
    for link in (
        'perceptron.html#term-margin">term in',
        r'perceptron.html#perceptron-mistake-bound">Theorem \d+\.\d+ in',
        '../api/perceptron.html#mllib.perceptron.mistake_bound">function, mllib.perceptron',
    ):
        assert re.search(link, text), link
    assert re.search(r'Novikoff[^<]*: <a [^>]*href="classification/perceptron.html#id\d+"', text)
    assert "Läuchli, Peter: <a" in text  # written with a command of TeX in the bibliography


def test_every_page_leads_to_the_next_and_back():
    order = pages()
    for before, after in itertools.pairwise(order):
        for page, name, target in ((before, "right-next", after), (after, "left-prev", before)):
            text = (SITE / page).read_text(encoding="utf-8")
            link = re.search(rf'<a class="{name}"\s+href="([^"]+)"', text)
            assert link, (page, name)
            assert ((SITE / page).parent / link[1]).resolve() == (SITE / target).resolve()


# Search ---


@pytest.mark.parametrize(
    ("question", "title", "place"),
    [
        ("novikoff", "Novikoff mistake bound", f"{PERCEPTRON}#perceptron-mistake-bound"),
        ("Theorem 14.2", "Novikoff mistake bound", f"{PERCEPTRON}#perceptron-mistake-bound"),
        ("R^2", "R squared", "decision-theory.html#decision-theory-"),
        ("margin", "margin", f"{PERCEPTRON}#term-margin"),
        ("responsibility", "responsibility", "mixtures-and-em.html#term-responsibility"),
        ("mistake_bound", "mistake_bound", "api/perceptron.html#mllib.perceptron.mistake_bound"),
        ("KKT conditions", "KKT conditions", "#term-karush-kuhn-tucker-conditions"),
        ("BIC", "BIC", "model-selection.html#term-bayesian-information-criterion"),
        ("hoeffding", "Hoeffding", "concentration.html#"),
        ("perceptorn mistakse", "perceptron", f"{PERCEPTRON}#"),
    ],
)
def test_the_search_finds_by_name_and_leads_to_the_place(tab, question, title, place):
    page = tab(f"search.html?q={question.replace('^', '%5E')}")
    first = page.locator(".found li a").first
    expect(first).to_contain_text(re.compile(re.escape(title), re.IGNORECASE))
    link = first.get_attribute("href")
    assert place in link
    leads, _, anchor = link.partition("#")
    assert f'id="{anchor}"' in (SITE / leads).read_text(encoding="utf-8")
    first.click()
    page.wait_for_url(f"**/{leads.lstrip('./')}#{anchor}", wait_until="commit")


def test_a_number_leads_to_results_and_to_no_solution(tab):
    page = tab("search.html?q=14.2")
    kinds = page.locator(".found section").first.locator(".result-kind")
    expect(kinds.first).to_be_visible()
    said = kinds.all_inner_texts()
    assert "Theorem 14.2, The perceptron" in said
    assert all("14.2" in kind for kind in said)
    assert "Solution" not in page.locator(".found").inner_text()


def test_one_search_after_the_other_throws_nothing_and_fetches_little(tab):
    page = tab("search.html?q=svm")
    errors, fetched = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
    page.locator(".found li").first.wait_for()
    page.locator(".bd-search-container input").fill("viterbi")
    expect(page.locator(".found li").first).to_contain_text(re.compile("viterbi", re.IGNORECASE))
    page.locator(".bd-search-container input").press("Enter")
    page.wait_for_url("**/search.html?q=viterbi")
    expect(page.locator(".found li").first).to_contain_text(re.compile("viterbi", re.IGNORECASE))
    assert errors == []
    assert [name for name in fetched if name in ("searchindex.js", "searchtools.js")] == []
    assert max(path.stat().st_size for path in (SITE / "searchwords").iterdir()) < 60_000


def test_a_search_without_an_answer_says_so(tab):
    page = tab("search.html?q=zzzz")
    expect(page.locator(".found")).to_contain_text("Nothing is called so, and no page says it.")


def test_no_page_loads_the_names_before_they_are_asked_for():
    for path in SITE.glob("**/*.html"):
        assert "searchnames.js" not in path.read_text(encoding="utf-8"), path


# Permanent links ---


@pytest.mark.parametrize("page", CHAPTERS)
def test_everything_that_can_be_cited_has_one_permanent_link(page):
    text = (SITE / page).read_text(encoding="utf-8")
    links = re.findall(r'<a class="permalink" href="#([^"]+)"', text)
    assert len(links) == len(set(links))
    cited = re.findall(r'<div class="(?:proof (?!proof-block)|exercise )[^"]*" id="([^"]+)"', text)
    cited += re.findall(r'<figure [^>]*id="(fig-[^"]+)"', text)
    cited += re.findall(r'<p id="(?!id\d)([^"]+)"', text)
    cited += re.findall(r'<div class="cell [^"]*claim[^"]*" id="([^"]+)"', text)
    assert len(cited) > 10
    assert not set(cited) - set(links)
    assert text.count('class="claim-badge"') == sum(x.startswith("claim-") for x in links)
    for number in re.findall(r'<a class="equation-number"[^>]*>', text):
        assert 'href="#equation-' in number
        assert 'aria-label="Link to Equation' in number


@pytest.mark.parametrize("page", pages())
def test_no_two_places_of_a_page_have_one_anchor(page):
    ids = re.findall(r'\sid="([^"]+)"', (SITE / page).read_text(encoding="utf-8"))
    assert sorted(ids) == sorted(set(ids))


def test_a_permanent_link_shows_on_hover_and_on_focus_and_copies_its_address(tab):
    page = tab(PERCEPTRON)
    link = page.locator("#perceptron-mistake-bound a.permalink")
    label = link.get_attribute("aria-label")
    assert re.fullmatch(r"Link to Theorem \d+\.\d+", label)
    expect(link).to_have_css("opacity", "0")
    page.locator("#perceptron-mistake-bound .admonition-title").hover()
    expect(link).to_have_css("opacity", "1")
    page.mouse.move(0, 0)
    expect(link).to_have_css("opacity", "0")
    link.focus()
    expect(link).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    page.locator(".book-voice", has_text=f"{label} copied").wait_for()
    page.wait_for_url("**#perceptron-mistake-bound")
    assert clipboard(page) == page.url


def test_the_number_of_an_equation_copies_its_address(tab):
    page = tab(PERCEPTRON)
    number = page.locator("#equation-eq-perceptron-separable > a.equation-number")
    assert number.get_attribute("aria-label") == f"Link to Equation {number.inner_text()}"
    number.click()
    page.locator(".book-voice", has_text=f"Equation {number.inner_text()} copied").wait_for()
    assert clipboard(page).endswith("#equation-eq-perceptron-separable")


# Previews ---


def test_a_reference_shows_its_target_on_focus_and_escape_closes_it(tab):
    page = tab(PERCEPTRON)
    link = page.locator("a[data-preview][href='#perceptron-mistake-bound']").first
    link.scroll_into_view_if_needed()
    page.keyboard.press("Tab")  # from now on the focus is that of a keyboard
    link.focus()
    preview = page.get_by_role("tooltip")
    preview.wait_for()
    assert link.inner_text() in preview.inner_text()
    assert link.get_attribute("aria-describedby") == "book-preview"
    assert preview.locator("[id], a").count() == 0
    page.keyboard.press("Escape")
    expect(preview).to_have_count(0)
    expect(link).to_be_focused()
    assert link.get_attribute("aria-describedby") is None


def test_a_pointer_that_the_page_passes_under_closes_no_preview_of_the_keyboard(tab):
    page = tab(PERCEPTRON)
    page.keyboard.press("Tab")
    page.locator("a[data-preview][href='#perceptron-mistake-bound']").first.focus()
    preview = page.get_by_role("tooltip")
    preview.wait_for()
    page.mouse.move(3, 3)
    page.mouse.move(5, 300)
    page.wait_for_timeout(600)
    assert preview.count() == 1


def test_a_preview_that_scrolls_is_reached_by_tab_and_left_again(tab):
    page = tab(PERCEPTRON)
    page.set_viewport_size({"width": 700, "height": 260})
    link = page.locator("a[data-preview][href='#perceptron-mistake-bound']").first
    page.keyboard.press("Tab")
    link.focus()
    preview = page.get_by_role("tooltip")
    preview.wait_for()
    expect(preview).to_have_attribute("tabindex", "0")
    page.keyboard.press("Tab")
    expect(preview).to_be_focused()
    page.keyboard.press("Tab")
    expect(preview).to_have_count(0)
    assert page.evaluate("document.activeElement !== document.body")


@pytest.mark.parametrize("how", ["equation", "theorem"])
def test_a_reference_shows_its_target_on_hover(tab, how):
    page = tab(PERCEPTRON)
    start = "#equation-" if how == "equation" else "#perceptron-"
    link = page.locator(f"a[data-preview][href^='{start}']").first
    link.hover()
    preview = page.get_by_role("tooltip")
    preview.wait_for()
    assert preview.locator(".katex").count() >= 1
    preview.hover()  # it stays while the pointer is over it
    page.wait_for_timeout(400)
    assert preview.count() == 1
    page.mouse.move(0, 0)
    preview.wait_for(state="detached")


def reference_to_another_page():
    """Return a chapter that refers to a statement of another, and the address of the statement."""
    marked = re.compile(r'<a class="reference internal" data-preview="" href="([^"#]+#[^"]+)"')
    found = ((name, marked.search((SITE / name).read_text(encoding="utf-8"))) for name in CHAPTERS)
    return next((name, link[1]) for name, link in found if link)


def test_a_reference_to_another_page_fetches_one_small_file(tab, address):
    name, link = reference_to_another_page()
    page, fetched = tab(name), []
    page.on("request", lambda r: fetched.append(r.url))
    page.locator(f"a[data-preview][href='{link}']").first.hover()
    preview = page.get_by_role("tooltip")
    preview.wait_for()
    assert len(preview.inner_text()) > 20
    assert [u.partition(".previews")[1] for u in fetched if u.endswith(".js")] == [".previews"]
    assert all(u.startswith(address) for u in fetched)


def test_search_and_previews_work_from_the_disk_too(new_tab):
    page = new_tab()
    page.goto(f"{(SITE / 'search.html').as_uri()}?q=novikoff")
    page.locator(".found li a").first.click()
    page.wait_for_url("**/perceptron.html#perceptron-mistake-bound")
    name, link = reference_to_another_page()
    page.goto((SITE / name).as_uri())
    page.keyboard.press("Tab")
    page.locator(f"a[data-preview][href='{link}']").first.focus()
    page.get_by_role("tooltip").wait_for()


# Copying and downloading ---


def test_copying_a_formula_gives_its_tex(tab):
    page = tab(PERCEPTRON)
    page.evaluate(
        """() => { const f = document.querySelector("#equation-eq-perceptron-separable .katex");
                   getSelection().selectAllChildren(f); }"""
    )
    page.keyboard.press("Control+c")
    assert clipboard(page).startswith("$")
    assert "\\tilde y_i" in clipboard(page)


def test_each_code_cell_has_a_copy_button_that_the_keyboard_shows(tab):
    page = tab(PERCEPTRON)
    cells = page.locator(".cell_input .highlight")
    assert page.locator(".cell_input button.copybtn").count() == cells.count() > 20
    button = page.locator("#claim-perceptron-mistake-bound .cell_input button.copybtn")
    page.locator("#claim-perceptron-mistake-bound summary").focus()
    page.keyboard.press("Enter")
    button.focus()
    expect(button).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    expect(button).to_have_class(re.compile("success"))
    expect(page.locator("body > .book-voice")).to_have_text("Code copied")
    assert clipboard(page).startswith('with claim("perceptron-mistake-bound"')


@pytest.mark.parametrize("page", CHAPTERS)
def test_each_chapter_offers_its_notebook(page):
    text = (SITE / page).read_text(encoding="utf-8")
    link = re.search(r'<a href="([^"]*_sources/[^"]*\.ipynb)"\s*download', text)
    assert link
    assert ((SITE / page).parent / link[1]).resolve().is_file()  # test_notebooks.py reads it


# Accessibility of what appears later ---


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_an_open_preview(new_tab, address, scheme):
    page = new_tab(color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{address}/{PERCEPTRON}")
    page.evaluate(ONCE)
    page.keyboard.press("Tab")
    page.locator("a[data-preview][href='#perceptron-mistake-bound']").first.focus()
    page.get_by_role("tooltip").wait_for()
    page.evaluate(AXE)
    assert page.evaluate(RUN_IN, "#book-preview") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_answers_of_the_search(new_tab, address, scheme):
    page = new_tab(color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{address}/search.html?q=margin")
    page.locator(".found li").first.wait_for()
    page.evaluate(AXE)
    assert page.evaluate(RUN_IN, "main") == []
