"""Bad states: no scripts, no storage, large letters, an old browser's storage."""

import pytest
from looking import OVER, WHOLE
from playwright.sync_api import expect

CHAPTER = "chapters/classification/perceptron.html"
PAGES = [
    "chapters/intro.html",
    CHAPTER,
    "chapters/results.html",
    "chapters/results/perceptron.html",
]


def listened(tab):
    """Collect what the page complains about."""
    errors = []
    tab.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    tab.on("pageerror", lambda e: errors.append(str(e)))
    return errors


# Without scripts -----------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
def test_without_scripts_everything_can_be_read_and_nothing_is_dead(new_tab, address, page, width):
    tab = new_tab(java_script_enabled=False, viewport={"width": width, "height": 900})
    tab.goto(f"{address}/{page}")
    assert tab.locator("h1").first.is_visible()
    links = tab.locator(".bd-docs-nav a.reference")
    assert links.count() > 8
    assert links.last.is_visible()
    buttons = (".sidebar-toggle", ".theme-switch-button", ".search-button__button", ".copybtn")
    for dead in (*buttons, ".view-switch"):
        assert tab.locator(f"{dead}:visible").count() == 0, dead
    for i in range(tab.locator("article .admonition").count()):
        assert tab.locator("article .admonition").nth(i).is_visible()


def test_without_scripts_a_click_opens_solutions_and_the_notebook_can_be_fetched(new_tab, address):
    tab = new_tab(java_script_enabled=False)
    tab.goto(f"{address}/{CHAPTER}")
    solutions = tab.locator("details.solution")
    assert solutions.count() >= 5
    solutions.first.locator("> summary").click()
    assert solutions.first.locator("p").first.is_visible()
    tab.locator(".dropdown-download-buttons > summary").click()
    for shown in (".btn-download-source-button", ".equation .katex", ".claim-badge"):
        assert tab.locator(shown).first.is_visible(), shown
    assert tab.locator("figure img.only-light").first.is_visible()
    assert not tab.locator("figure img.only-dark").first.is_visible()


def test_without_scripts_verdicts_stand_open_and_a_click_shows_the_code(new_tab, address):
    tab = new_tab(java_script_enabled=False)
    tab.goto(f"{address}/{CHAPTER}")
    claim = tab.locator("#claim-perceptron-mistake-bound")
    verdicts = claim.locator(".verdicts li")
    assert verdicts.count() > 4
    assert all(verdicts.nth(i).is_visible() for i in range(verdicts.count()))
    assert verdicts.first.locator(".katex").is_visible()
    assert not claim.locator("pre").is_visible()
    claim.locator("summary").click()
    assert claim.locator("pre").is_visible()
    claim.locator("summary").press("Enter")
    assert not claim.locator("pre").is_visible()


# Reading and checking ------------------------------------------------------------------------

CLAIM = "#claim-perceptron-mistake-bound"


def test_one_switch_shows_all_code_and_is_remembered(new_tab, address):
    tab = new_tab()
    errors = listened(tab)
    tab.goto(f"{address}/{CHAPTER}")
    folds, switch = tab.locator(".code-fold"), tab.get_by_role("button", name="Code", exact=True)
    opened = tab.locator(".code-fold[open]")
    assert folds.count() > 15
    assert opened.count() == 0
    expect(switch).to_have_attribute("aria-pressed", "false")
    switch.press("Enter")
    expect(opened).to_have_count(folds.count())
    tab.goto(f"{address}/chapters/theory/concentration.html")
    expect(switch).to_have_attribute("aria-pressed", "true")
    assert opened.count() == folds.count() > 10
    switch.click()
    tab.reload()
    expect(switch).to_have_attribute("aria-pressed", "false")
    assert opened.count() == 0
    assert errors == []


def test_paper_shows_verdicts_and_code_in_the_checking_view_alone(new_tab, address):
    tab = new_tab()
    tab.goto(f"{address}/{CHAPTER}")
    for shown in (False, True):
        tab.emulate_media(media="print")
        tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert tab.locator(f"{CLAIM} .verdicts").is_visible()
        assert tab.locator(f"{CLAIM} pre").is_visible() == shown
        assert not tab.locator(f"{CLAIM} summary").is_visible()
        assert tab.locator(".solution pre").first.is_visible() == shown
        tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
        tab.emulate_media(media="screen")
        for kind in ("code", "solutions"):
            tab.locator(f".view-switch[data-shows={kind}]").click()


# Without storage -----------------------------------------------------------------------------

REFUSED = """for (const name of ['localStorage', 'sessionStorage'])
  Object.defineProperty(window, name, {configurable: true, get() {
    throw new DOMException('Access is denied for this document.', 'SecurityError'); }});"""


@pytest.mark.parametrize("page", [*PAGES, "search.html?q=novikoff"])
def test_a_browser_that_refuses_storage_has_no_error(new_tab, address, page):
    tab = new_tab(color_scheme="dark")
    errors = listened(tab)
    tab.add_init_script(REFUSED)
    tab.goto(f"{address}/{page}")
    whole = tab.locator("html")
    expect(whole).to_have_attribute("data-theme", "dark")
    if "search" not in page:
        tab.locator(".theme-switch-button").first.click()
        expect(whole).to_have_attribute("data-theme", "light")
    tab.wait_for_load_state("networkidle")
    assert errors == []


def test_the_chosen_colours_are_kept_and_nonsense_is_not(new_tab, address):
    tab = new_tab(color_scheme="light")
    errors = listened(tab)
    tab.goto(f"{address}/chapters/intro.html")
    whole = tab.locator("html")
    tab.locator(".theme-switch-button").first.click()
    expect(whole).to_have_attribute("data-theme", "dark")
    tab.goto(f"{address}/{CHAPTER}")
    expect(whole).to_have_attribute("data-theme", "dark")
    tab.evaluate("localStorage.setItem('mode', 'purple')")
    tab.reload()
    expect(whole).to_have_attribute("data-theme", "light")
    assert errors == []


# Large letters -------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [*PAGES, "chapters/notation.html", "api/perceptron.html"])
def test_200_percent_holds_the_text(new_tab, address, page):
    # A window of 1280 px at 200 % is one of 640 px whose pixels are twice as dense.
    tab = new_tab(viewport={"width": 640, "height": 800}, device_scale_factor=2)
    tab.goto(f"{address}/{page}")
    tab.add_style_tag(content=WHOLE)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 640
    assert tab.evaluate(OVER) == []


def test_letters_of_twice_the_size_fit_too(new_tab, address):
    tab = new_tab(viewport={"width": 1280, "height": 900})
    tab.goto(f"{address}/{CHAPTER}")
    tab.add_style_tag(content=f"html {{ font-size: 200%; }} {WHOLE}")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1280
    assert tab.evaluate(OVER) == []
