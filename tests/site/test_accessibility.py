"""Accessibility of the built site: colours, motion, keyboard; axe-core is in test_each_page."""

import re

import pytest
from looking import OPEN, WHOLE

from mllib.course.figures import COLOURS, DARK

CHAPTER = "chapters/classification/perceptron.html"
ENTRIES = "chapters/results/perceptron.html"
SOME = ["chapters/intro.html", CHAPTER, ENTRIES, "chapters/results.html", "search.html"]

some_pages = pytest.mark.parametrize("page", SOME)


def loaded(context, address, page, **options):
    """Open a page, all of it laid out."""
    options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | options
    tab = context(**options).new_page()
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_and_marks_of_figures_stand_out(context, address, scheme):
    tab = loaded(context, address, CHAPTER, color_scheme=scheme)
    ground = tab.evaluate(GROUND)
    palette = COLOURS if scheme == "light" else DARK
    for meaning, colour in palette.items():
        least = 4.5 if meaning == "ink" else 1.0 if meaning == "grid" else 3.0
        assert contrast(colour, ground) >= least, (meaning, colour, ground)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("page", "selector", "edge"),
    [
        (CHAPTER, ".claim-badge", "borderTopColor"),
        (CHAPTER, ".verdict", "borderTopColor"),
        (CHAPTER, "div.proof.admonition:not(.proof-block)", "borderLeftColor"),
        (ENTRIES, ".results-graph rect", "stroke"),
        (ENTRIES, ".results-graph .arrows path", "stroke"),
    ],
)
def test_lines_of_the_page_stand_out(context, address, scheme, page, selector, edge):
    tab = loaded(context, address, page, color_scheme=scheme)
    ground = tab.evaluate(GROUND)
    colours = tab.evaluate(
        "([selector, edge]) => [...new Set([...document.querySelectorAll(selector)]"
        ".map((part) => getComputedStyle(part)[edge]))]",
        [selector, edge],
    )
    assert colours
    for colour in colours:
        assert contrast(colour, ground) >= 3, colour


# Motion --------------------------------------------------------------------------------------


@some_pages
def test_nothing_moves_for_readers_who_want_no_motion(context, address, page):
    tab = loaded(context, address, page, reduced_motion="reduce")
    tab.evaluate(OPEN)
    moving = """() => [...document.querySelectorAll('body *:not(.katex *)')].filter((part) => {
      const style = getComputedStyle(part);
      return style.animationName !== 'none' || style.scrollBehavior === 'smooth'
        || style.transitionDuration.split(',').some((time) => parseFloat(time) > 0);
    }).map((part) => part.outerHTML.slice(0, 100))"""
    assert tab.evaluate(moving) == []
    assert tab.evaluate("document.getAnimations().length") == 0


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
def test_tab_reaches_everything_and_shows_where_it_is(context, address, page, width):
    tab = loaded(context, address, page, viewport={"width": width, "height": 900})
    tab.keyboard.press("Tab")  # boxes that scroll are then known
    count = tab.evaluate(NUMBERED)
    assert count >= 5
    tab.evaluate("document.activeElement.blur()")
    tab.evaluate("window.getSelection().collapse(document.body, 0)")
    for _ in range(count + 5):
        tab.keyboard.press("Tab")
    assert tab.evaluate(LEFT) == []
    assert tab.evaluate("window.faint") == []


def test_search_menus_and_sidebars_work_by_keyboard(context, address):
    tab = loaded(context, address, CHAPTER)
    tab.keyboard.press("Control+k")
    assert tab.evaluate("document.activeElement.name") == "q"
    tab.keyboard.press("Escape")
    assert not tab.evaluate("document.querySelector('#pst-search-dialog').open")
    tab.keyboard.press("/")
    assert tab.evaluate("document.querySelector('#pst-search-dialog').open")
    tab.keyboard.press("Escape")
    menu = tab.locator(".dropdown-download-buttons button[data-bs-toggle]")
    menu.focus()
    tab.keyboard.press("Enter")
    assert tab.locator(".btn-download-source-button").is_visible()
    assert menu.get_attribute("aria-expanded") == "true"
    tab.keyboard.press("Escape")
    assert not tab.locator(".btn-download-source-button").is_visible()
    bar = tab.locator("#pst-primary-sidebar")
    tab.locator(".bd-header-article .primary-toggle").focus()
    tab.keyboard.press("Enter")
    assert not bar.is_visible()
    tab.keyboard.press("Enter")
    assert bar.is_visible()
    modes = []
    tab.locator(".theme-switch-button").focus()
    for _ in range(3):
        tab.keyboard.press("Enter")
        modes.append(tab.evaluate("document.documentElement.dataset.mode"))
    assert sorted(modes) == ["auto", "dark", "light"]


@pytest.mark.parametrize("side", ["primary", "secondary"])
def test_a_sidebar_opens_over_a_narrow_page_and_gives_the_focus_back(context, address, side):
    tab = loaded(context, address, CHAPTER, viewport={"width": 390, "height": 800})
    links = tab.locator(f"#pst-{side}-sidebar a, #pst-{side}-sidebar-modal a")
    button = tab.locator(f".bd-header-article .{side}-toggle")
    assert not links.first.is_visible()
    button.focus()
    tab.keyboard.press("Enter")
    assert links.first.is_visible()
    assert button.get_attribute("aria-expanded") == "true"
    tab.keyboard.press("Escape")
    assert not links.first.is_visible()
    assert button.get_attribute("aria-expanded") == "false"
    assert button.evaluate("(button) => button === document.activeElement")


def test_a_fold_opens_by_keyboard_and_by_a_link_into_it(context, address):
    tab = loaded(context, address, CHAPTER)
    fold = tab.locator(".solution.dropdown").first
    button = fold.locator(".toggle-button").first
    assert button.get_attribute("aria-expanded") == "false"
    assert "Solution" in button.get_attribute("aria-label")
    button.focus()
    tab.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert fold.locator("p").nth(1).is_visible()
    last = tab.locator(".solution.dropdown").last
    tab.goto(f"{address}/{CHAPTER}#{last.get_attribute('id')}")
    assert last.locator(".toggle-button").first.get_attribute("aria-expanded") == "true"
