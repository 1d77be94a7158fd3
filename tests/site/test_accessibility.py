"""Accessibility of the built site: colours, keyboard; axe-core is in test_each_page."""

import re

import pytest
from looking import WHOLE
from playwright.sync_api import expect

from mllib.course.figures import COLOURS, DARK

CHAPTER = "chapters/classification/perceptron.html"
ENTRIES = "chapters/results/perceptron.html"
SOME = ["chapters/intro.html", CHAPTER, ENTRIES, "chapters/results.html", "search.html"]

some_pages = pytest.mark.parametrize("page", SOME)


def loaded(new_tab, address, page, **options):
    """Open a page, all of it laid out."""
    options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | options
    tab = new_tab(**options)
    tab.goto(f"{address}/{page}")
    tab.add_style_tag(content=WHOLE)
    return tab


# Colours -------------------------------------------------------------------------------------


def luminance(colour):
    """Return the relative luminance of an sRGB colour given by three numbers up to 255."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Return the contrast ratio of two colours, ``rgb(...)`` or ``#rrggbb``."""

    def parts(colour):
        if colour.startswith("#"):
            return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        return [float(c) / 255 for c in re.findall(r"[\d.]+", colour)[:3]]

    light, dark = sorted((luminance(parts(one)), luminance(parts(other))), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_the_standard():
    assert contrast("#ffffff", "rgb(0, 0, 0)") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=1e-3)


GROUND = "getComputedStyle(document.body).backgroundColor"


EDGES = """(edges) => edges.map(([selector, edge]) => [selector, [...new Set(
  [...document.querySelectorAll(selector)].map((part) => getComputedStyle(part)[edge]))]])"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("page", "edges"),
    [
        (
            CHAPTER,
            [
                (".claim-badge", "borderTopColor"),
                (".verdict", "borderTopColor"),
                ("div.proof.admonition:not(.proof-block)", "borderLeftColor"),
            ],
        ),
        (
            ENTRIES,
            [(".map-lines path", "stroke"), (".map-chapter > a", "borderLeftColor")],
        ),
    ],
)
def test_lines_of_pages_and_marks_of_figures_stand_out(new_tab, address, scheme, page, edges):
    tab = loaded(new_tab, address, page, color_scheme=scheme)
    ground = tab.evaluate(GROUND)
    for selector, colours in tab.evaluate(EDGES, edges):
        assert colours, selector
        for colour in colours:
            assert contrast(colour, ground) >= 3, (selector, colour)
    for meaning, colour in (COLOURS if scheme == "light" else DARK).items():
        least = 4.5 if meaning == "ink" else 1.0 if meaning == "grid" else 3.0
        assert contrast(colour, ground) >= least, (meaning, colour, ground)


# Keyboard ------------------------------------------------------------------------------------

#: Number every part that a keyboard should reach, and note those that it reaches.
NUMBERED = """() => {
  const parts = [...document.querySelectorAll(
    'a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter((part) =>
    !part.disabled && part.tabIndex >= 0 && part.checkVisibility({visibilityProperty: true})
    && !part.closest('[inert]'));
  window.reached = new Set();
  window.faint = [];
  document.addEventListener('focusin', ({target}) => {
    window.reached.add(target);
    const style = getComputedStyle(target);
    if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 2)
      window.faint.push(target.outerHTML.slice(0, 120));
  });
  window.expected = parts;
  return parts.length;
}"""
LEFT = """() => window.expected.filter((part) => !window.reached.has(part))
  .map((part) => part.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("width", [1280, 390])
@some_pages
def test_tab_reaches_everything_and_shows_where_it_is(new_tab, address, page, width):
    tab = loaded(new_tab, address, page, viewport={"width": width, "height": 900})
    for figure in tab.locator("figure:has([data-player])").all():  # a film comes when it is near
        figure.scroll_into_view_if_needed()
        expect(figure.locator(".player-picture")).to_be_visible()
    tab.keyboard.press("Tab")  # boxes that scroll are then known
    count = tab.evaluate(NUMBERED)
    assert count >= 5
    tab.evaluate("document.activeElement.blur()")
    tab.evaluate("window.getSelection().collapse(document.body, 0)")
    for _ in range(count + 5):
        tab.keyboard.down("Tab")  # held down, it goes on by itself
    assert tab.evaluate(LEFT) == []
    assert tab.evaluate("window.faint") == []


def test_search_menus_and_sidebars_work_by_keyboard(new_tab, address):
    tab = loaded(new_tab, address, CHAPTER)
    dialog = tab.locator("#pst-search-dialog")
    tab.keyboard.press("Control+k")
    expect(dialog.locator("input[name=q]")).to_be_focused()
    tab.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    tab.keyboard.press("/")
    expect(dialog).to_be_visible()
    tab.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    menu = tab.locator(".dropdown-download-buttons > summary")
    notebook = tab.locator(".btn-download-source-button")
    menu.focus()
    tab.keyboard.press("Enter")
    expect(notebook).to_be_visible()
    tab.keyboard.press("Escape")
    expect(notebook).not_to_be_visible()
    expect(menu).to_be_focused()
    tab.keyboard.press("Enter")
    expect(notebook).to_be_visible()
    tab.locator(".theme-switch-button").focus()
    expect(notebook).not_to_be_visible()
    bar = tab.locator("#pst-primary-sidebar")
    button = tab.locator(".bd-header-article .primary-toggle")
    button.focus()
    for shown in (False, True):
        expect(button).to_have_attribute("aria-expanded", str(not shown).lower())
        tab.keyboard.press("Enter")
        expect(bar).to_be_visible(visible=shown)
    expect(button).to_have_attribute("aria-expanded", "true")
    tab.locator(".theme-switch-button").focus()
    for mode in ("dark", "light", "auto"):
        tab.keyboard.press("Enter")
        expect(tab.locator("html")).to_have_attribute("data-mode", mode)


@pytest.mark.parametrize("side", ["primary", "secondary"])
def test_a_sidebar_opens_over_a_narrow_page_and_gives_the_focus_back(new_tab, address, side):
    tab = loaded(new_tab, address, CHAPTER, viewport={"width": 390, "height": 800})
    link = tab.locator(f"#pst-{side}-sidebar a, #pst-{side}-sidebar-modal a").first
    button = tab.locator(f".bd-header-article .{side}-toggle")
    expect(link).not_to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "false")
    button.focus()
    tab.keyboard.press("Enter")
    expect(link).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    tab.keyboard.press("Escape")
    expect(link).not_to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(button).to_be_focused()


def test_a_fold_opens_by_keyboard_and_by_a_link_into_it(new_tab, address):
    tab = loaded(new_tab, address, CHAPTER)
    fold = tab.locator(".solution.dropdown").first
    assert "Solution" in fold.locator("> summary").text_content()
    fold.locator("> summary").focus()
    tab.keyboard.press("Enter")
    expect(fold.locator("p").first).to_be_visible()
    last = tab.locator(".solution.dropdown").last
    tab.goto(f"{address}/{CHAPTER}#{last.get_attribute('id')}")
    expect(last).to_have_attribute("open", "")
