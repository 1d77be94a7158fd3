"""Bad states: no scripts, no storage, large letters, a narrow phone, an old browser's storage."""

import pytest

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
def test_without_scripts_everything_can_be_read_and_nothing_is_dead(context, address, page, width):
    tab = context(java_script_enabled=False, viewport={"width": width, "height": 900}).new_page()
    tab.goto(f"{address}/{page}")
    assert tab.locator("h1").first.is_visible()
    links = tab.locator(".bd-docs-nav a.reference")
    assert links.count() > 8
    assert links.last.is_visible()
    for dead in (".sidebar-toggle", ".theme-switch-button", ".search-button__button", ".copybtn"):
        assert tab.locator(f"{dead}:visible").count() == 0, dead
    for i in range(tab.locator("article .admonition").count()):
        assert tab.locator("article .admonition").nth(i).is_visible()


def test_without_scripts_solutions_stand_open_and_the_notebook_can_be_fetched(context, address):
    tab = context(java_script_enabled=False).new_page()
    tab.goto(f"{address}/{CHAPTER}")
    solutions = tab.locator(".solution p:not(.admonition-title)")
    assert solutions.count() >= 6
    assert all(solutions.nth(i).is_visible() for i in range(solutions.count()))
    assert tab.locator(".btn-download-source-button").is_visible()
    assert tab.locator(".equation .katex").first.is_visible()


# Without storage -----------------------------------------------------------------------------

REFUSED = """for (const name of ['localStorage', 'sessionStorage'])
  Object.defineProperty(window, name, {configurable: true, get() {
    throw new DOMException('Access is denied for this document.', 'SecurityError'); }});"""


@pytest.mark.parametrize("page", [*PAGES, "search.html?q=novikoff"])
def test_a_browser_that_refuses_storage_has_no_error(context, address, page):
    tab = context(color_scheme="dark").new_page()
    errors = listened(tab)
    tab.add_init_script(REFUSED)
    tab.goto(f"{address}/{page}")
    mode = "document.documentElement.dataset.theme"
    assert tab.evaluate(mode) == "dark"
    if "search" not in page:
        tab.locator(".theme-switch-button").first.click()
        assert tab.evaluate(mode) == "light"
    tab.wait_for_load_state("networkidle")
    assert errors == []


def test_the_chosen_colours_are_kept_and_nonsense_is_not(context, address):
    tab = context(color_scheme="light").new_page()
    errors = listened(tab)
    tab.goto(f"{address}/chapters/intro.html")
    tab.locator(".theme-switch-button").first.click()
    tab.goto(f"{address}/{CHAPTER}")
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    tab.evaluate("localStorage.setItem('mode', 'purple')")
    tab.reload()
    assert tab.evaluate("document.documentElement.dataset.theme") == "light"
    assert errors == []


# Large letters, narrow phones ----------------------------------------------------------------

OVER = """() => [...document.querySelectorAll('h1, h2, h3, article p, article li, figcaption')]
  .filter((part) => part.checkVisibility() && !part.closest('.results-graph, table, pre'))
  .filter((part) => part.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((part) => part.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize(
    "page", [*PAGES, "chapters/notation.html", "chapters/api.html", "api/perceptron.html"]
)
@pytest.mark.parametrize(("width", "scale"), [(320, 1), (640, 2)])
def test_a_narrow_phone_and_200_percent_hold_the_text(context, address, page, width, scale):
    # A window of 1280 px at 200 % is one of 640 px whose pixels are twice as dense.
    tab = context(viewport={"width": width, "height": 800}, device_scale_factor=scale).new_page()
    tab.goto(f"{address}/{page}")
    tab.add_style_tag(content="* { content-visibility: visible !important; }")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate(OVER) == []


def test_letters_of_twice_the_size_fit_too(context, address):
    tab = context(viewport={"width": 1280, "height": 900}).new_page()
    tab.goto(f"{address}/{CHAPTER}")
    tab.add_style_tag(
        content="html { font-size: 200%; } * { content-visibility: visible !important; }"
    )
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1280
    assert tab.evaluate(OVER) == []
