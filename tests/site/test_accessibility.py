"""Accessibility of the built site: axe-core on every page, colours, keyboard, structure, motion."""

import itertools
import re
from pathlib import Path

import pytest
from contents import chapters, entries, pages

from mllib.course.figures import COLOURS, DARK

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
CHAPTER = "chapters/classification/perceptron.html"
ENTRIES = "chapters/results/perceptron.html"
SOME = ["chapters/intro.html", CHAPTER, ENTRIES, "chapters/results.html", "search.html"]

each_page = pytest.mark.parametrize("page", [*pages(), *entries(), "search.html"])
some_pages = pytest.mark.parametrize("page", SOME)

#: Lay everything out, also what is far from the screen.
WHOLE = "* { content-visibility: visible !important; }"
OPEN = """() => {
  document.querySelectorAll('details').forEach((box) => { box.open = true; });
  document.querySelectorAll('.toggle-hidden > .admonition-title').forEach((title) => title.click());
}"""
#: A formula stands there as its TeX, in its colour; of tokens of code that look alike on the same
#: ground, one stays. Both keep axe quick and blind to nothing that it has a rule for.
ONCE = """() => {
  document.querySelectorAll('.katex').forEach((formula) => {
    formula.textContent = formula.querySelector('annotation').textContent;
  });
  const ground = (part) => {
    for (; part; part = part.parentElement) {
      const colour = getComputedStyle(part).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
  };
  const seen = new Set();
  document.querySelectorAll('pre').forEach((code) => {
    const below = ground(code);
    code.querySelectorAll('span').forEach((token) => {
      const look = `${token.className} on ${below}`;
      if (seen.has(look)) token.replaceWith(...token.childNodes);
      seen.add(look);
    });
  });
}"""
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
RUN = """async (rules) => {
  const found = await axe.run({
    resultTypes: ['violations'], rules: {'target-size': {enabled: true}},
    ...(rules && {runOnly: {type: 'rule', values: rules}})});
  return found.violations.flatMap((rule) => rule.nodes.map((node) =>
    `${rule.id} (${rule.impact}): ${node.target} ${node.html.slice(0, 150)}`
      + ` ${node.failureSummary}`));
}"""
OF_COLOUR = ["color-contrast", "link-in-text-block"]


def loaded(context, address, page, **options):
    """Open a page, all of it laid out."""
    options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | options
    tab = context(**options).new_page()
    tab.goto(f"{address}/{page}")
    tab.add_style_tag(content=WHOLE)
    return tab


# axe -----------------------------------------------------------------------------------------


@each_page
def test_axe_finds_nothing(context, address, page):
    tab = loaded(context, address, page)
    tab.evaluate(AXE)
    tab.evaluate(ONCE)
    if page in SOME:
        assert tab.evaluate(RUN, None) == [], "closed"
    tab.evaluate(OPEN)
    tab.evaluate(SETTLED)
    assert tab.evaluate(RUN, None) == [], "opened"
    tab.emulate_media(color_scheme="dark")
    tab.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert tab.evaluate(RUN, OF_COLOUR) == [], "opened, dark"


def test_axe_sees_a_fault(context, address):
    tab = loaded(context, address, "chapters/intro.html")
    tab.evaluate(AXE)
    tab.evaluate("""() => document.querySelector('article p').insertAdjacentHTML('afterend',
      '<p style="color: #aaa; background: #fff">pale</p><button></button>')""")
    found = "\n".join(tab.evaluate(RUN, None))
    assert "color-contrast" in found
    assert "button-name" in found


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


# Structure -----------------------------------------------------------------------------------

STRUCTURE = """() => {
  const seen = (part) => part.checkVisibility({visibilityProperty: true});
  const name = (part) => part.getAttribute('aria-label')
    || document.getElementById(part.getAttribute('aria-labelledby'))?.textContent.trim() || '';
  const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
  return {
    headings: all('h1, h2, h3, h4, h5, h6, [role=heading]').map((part) =>
      Number(part.getAttribute('aria-level') || part.tagName[1])),
    landmarks: all('nav, aside, [role=navigation], [role=region], [role=complementary]')
      .filter((part) => part.getAttribute('role') !== 'note').map(name),
    mains: all('main').length,
    tables: all('main table').filter((part) =>
      !part.matches('[role=presentation]') && !part.querySelector('th[scope]')).map((part) =>
      part.outerHTML.slice(0, 200)),
    language: document.documentElement.lang,
  };
}"""


@each_page
def test_headings_nest_and_landmarks_and_tables_are_named(context, address, page):
    tab = loaded(context, address, page)
    tab.evaluate(OPEN)
    found = tab.evaluate(STRUCTURE)
    levels = found["headings"]
    assert levels[0] == 1
    assert levels.count(1) == 1
    for before, after in itertools.pairwise(levels):
        assert after <= before + 1, levels
    assert all(found["landmarks"]), found["landmarks"]
    assert len(set(found["landmarks"])) == len(found["landmarks"]), found["landmarks"]
    assert found["mains"] == 1
    assert found["tables"] == []
    assert found["language"] == "en"


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


BOXES = """() => {
  const scrolls = (part) => {
    const style = getComputedStyle(part), can = (way) => /auto|scroll/.test(way);
    return (can(style.overflowX) && part.scrollWidth > part.clientWidth)
      || (can(style.overflowY) && part.scrollHeight > part.clientHeight);
  };
  const shown = [...document.querySelectorAll('main *:not(.katex *)')].filter((part) =>
    part.checkVisibility({visibilityProperty: true}) && part.clientWidth > 1);
  const own = 'a, button, input, summary, select, textarea';
  const tell = (part) => part.outerHTML.slice(0, 120);
  return {
    closed: shown.filter((part) => scrolls(part) && part.tabIndex < 0
      && !part.matches('nav, .bd-sidebar-secondary, .bd-sidebar-secondary *')).map(tell),
    needless: shown.filter((part) => part.tabIndex === 0 && !part.matches(own)
      && !part.closest('svg') && !scrolls(part)).map(tell),
    boxes: shown.filter((part) => part.tabIndex === 0 && scrolls(part)).length,
  };
}"""


@pytest.mark.parametrize("width", [1280, 390])
@each_page
def test_boxes_that_scroll_can_be_reached_and_no_others(context, address, page, width):
    tab = loaded(context, address, page, viewport={"width": width, "height": 900})
    tab.evaluate(OPEN)
    tab.keyboard.press("Tab")
    tab.evaluate(SETTLED)
    found = tab.evaluate(BOXES)
    assert found["closed"] == []
    assert found["needless"] == []
    if page == CHAPTER and width == 390:
        assert found["boxes"] > 5


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


# Code ----------------------------------------------------------------------------------------

ROOM = """() => [...document.querySelectorAll('main .cell_input pre, main .highlight pre')]
  .filter((code) => code.checkVisibility() && !code.closest('.cell_output')).map((code) => {
    const line = document.createElement('span');
    line.textContent = '0'.repeat(100);
    code.append(line);
    const wide = line.getBoundingClientRect().width, style = getComputedStyle(code);
    line.remove();
    const room = code.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return {room, wide, place: code.closest('[id]').id};
  })"""


@pytest.mark.parametrize("page", [*chapters(), "chapters/api.html"])
def test_a_line_of_code_of_100_characters_fits(context, address, page):
    tab = loaded(
        context, address, page, viewport={"width": 1265, "height": 900}
    )  # and a scroll bar
    tab.evaluate(OPEN)
    boxes = tab.evaluate(ROOM)
    assert boxes
    for box in boxes:
        assert box["room"] >= box["wide"] > 500, box
    tab.set_viewport_size({"width": 390, "height": 800})
    size = tab.evaluate("parseFloat(getComputedStyle(document.querySelector('main pre')).fontSize)")
    assert size >= 12
