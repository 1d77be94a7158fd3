"""What a reader does: taps on a phone, opens a solution, prints a page, asks while typing."""

import re

import pytest
from contents import SITE
from playwright.sync_api import expect
from test_finding_in_browser import tab  # noqa: F401 - a page of the site

PERCEPTRON = "chapters/classification/perceptron.html"
THEOREM = "a[data-preview][href='#perceptron-mistake-bound']"
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def phone(new_tab, address):
    """Open a page on a phone: a narrow screen, touched."""

    def go(page, width=390):
        size = PHONE | {"width": width}
        opened = new_tab(viewport=size, has_touch=True, is_mobile=True, reduced_motion="reduce")
        opened.goto(f"{address}/{page}")
        return opened

    return go


# On a phone ----------------------------------------------------------------------------------


def test_a_tap_on_a_reference_opens_a_sheet_from_below(phone):
    page = phone(PERCEPTRON)
    link = page.locator(THEOREM).first
    link.tap()
    sheet = page.get_by_role("dialog", name=re.compile("Theorem"))
    expect(sheet.locator(".katex").first).to_be_visible()
    box = sheet.bounding_box()
    assert box["x"] == 0
    assert box["width"] == PHONE["width"]
    assert abs(box["y"] + box["height"] - PHONE["height"]) <= 1
    sheet.get_by_role("button", name="Close").tap()
    expect(sheet).to_have_count(0)
    assert "#" not in page.url
    link.tap()
    sheet.get_by_role("link", name=re.compile("Go to Theorem")).tap()
    page.wait_for_url("**#perceptron-mistake-bound")
    expect(sheet).to_have_count(0)


def test_a_reference_to_another_page_opens_a_sheet_too(phone):
    from test_finding_in_browser import reference_to_another_page

    name, link = reference_to_another_page()
    page = phone(name)
    page.locator(f"a[data-preview][href='{link}']").first.tap()
    expect(page.locator("dialog.book-sheet")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog.book-sheet")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 320])
def test_a_figure_is_as_wide_as_its_labels_need_and_scrolls_in_its_place(phone, width):
    page = phone(PERCEPTRON, width)
    box = page.locator("article figure .scrolls").first
    box.scroll_into_view_if_needed()
    picture = box.locator("img.only-light")
    natural = int(picture.get_attribute("width"))
    shown = picture.bounding_box()["width"]
    assert 9 <= 12 * shown / natural < 9.1  # its labels have 12 px where it is shown whole
    assert shown > width
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert box.evaluate("box => [box.tabIndex, box.dataset.more]") == [0, "right"]
    box.evaluate("box => box.scrollTo(1000, 0)")
    expect(box).to_have_attribute("data-more", "left")
    caption = page.locator("article figure figcaption").first.bounding_box()
    assert caption["x"] >= 0
    assert caption["x"] + caption["width"] <= width


@pytest.mark.parametrize("width", [390, 320])
def test_the_button_to_the_top_covers_nothing(phone, width):
    page = phone(PERCEPTRON, width)
    button = page.locator("#pst-back-to-top")
    expect(button).to_be_hidden()
    page.evaluate("window.scrollTo(0, 5000)")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.evaluate("window.scrollBy(0, -300)")
    expect(button).to_be_visible()
    header = page.locator(".bd-header-article").bounding_box()
    box = button.bounding_box()
    assert header["y"] <= box["y"]
    assert box["y"] + box["height"] <= header["y"] + header["height"]
    others = page.locator(".bd-header-article button:visible:not(#pst-back-to-top)")
    for i in range(others.count()):
        other = others.nth(i).bounding_box()
        apart = other["x"] >= box["x"] + box["width"] or box["x"] >= other["x"] + other["width"]
        assert apart, others.nth(i).get_attribute("aria-label")
    button.click()
    page.wait_for_function("window.scrollY === 0")


# Exercises -----------------------------------------------------------------------------------


def test_the_whole_bar_opens_a_solution(tab):  # noqa: F811
    page = tab(PERCEPTRON)
    bars = page.locator(".solution > .admonition-title")
    assert bars.count() >= 5
    for i in range(3):
        bar = bars.nth(i)
        box = bar.bounding_box()
        inside = bar.locator("xpath=following-sibling::section")
        for share, shown in ((0.02, True), (0.5, False), (0.25, True), (0.75, False)):
            bar.click(position={"x": share * box["width"], "y": box["height"] / 2})
            expect(inside).to_be_visible(visible=shown)
    assert "#" not in page.url


def test_titles_of_exercises_have_no_brackets_in_brackets():
    for path in SITE.glob("chapters/*/*.html"):
        text = path.read_text(encoding="utf-8")
        titles = re.findall(r'<(?:p|summary) class="admonition-title">(.*?)</(?:p|summary)>', text)
        ours = [title for title in titles if re.search("Exercise|Solution", title)]
        for title in [re.sub(r"<[^>]+>", "", title) for title in ours]:
            assert not re.search(r"\([^()]*\(|\((?:conceptual|short code|extended)\)", title), title
        assert not any("<a " in title for title in ours if "Solution" in title), path


# On paper ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chapter_is_printed_light_whole_and_in_two_thirds_of_the_pages(new_tab, address, scheme):
    page = new_tab(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page.goto(f"{address}/{PERCEPTRON}")
    printed = page.pdf(format="A4", print_background=True)
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", printed))
    assert 10 < pages <= 22  # it had 33
    page.get_by_role("button", name="Solutions").click()
    page.set_viewport_size({"width": 672, "height": 1000})
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    found = page.evaluate(
        """() => {
          const how = {visibilityProperty: true, opacityProperty: true};
          const seen = (part) => part.checkVisibility(how);
          const folds = [...document.querySelectorAll('.solution > section')];
          const whole = (part) => seen(part) && part.getBoundingClientRect().height > 20;
          return {
            ink: getComputedStyle(document.body).color,
            paper: getComputedStyle(document.body).backgroundColor,
            folds: folds.length, empty: folds.filter((part) => !whole(part)).length,
            moving: document.getAnimations().length,
            codes: [...document.querySelectorAll('.code-fold')].filter(seen).length,
            dark: [...document.querySelectorAll('img.only-dark')].filter(seen).length,
            buttons: [...document.querySelectorAll('main button')].filter(seen).length,
            whole: [...document.querySelectorAll('.admonition, .cell, .cell_output, .highlight')]
              .filter((part) => getComputedStyle(part).breakInside !== 'auto').length,
          };
        }"""
    )
    assert max(map(int, re.findall(r"\d+", found["ink"])[:3])) < 80
    assert min(map(int, re.findall(r"\d+", found["paper"])[:3])) == 255
    assert found["folds"] >= 5
    faults = ("empty", "moving", "codes", "dark", "buttons", "whole")
    assert {name: found[name] for name in faults if found[name]} == {}
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(page.locator("html")).to_have_attribute("data-theme", scheme)
    assert page.locator(".solution > section:visible").count() == found["folds"]


# Search --------------------------------------------------------------------------------------


def asked(page, question):
    """Type a question into the search box; return its answers."""
    if not page.locator("#pst-search-dialog").is_visible():
        page.keyboard.press("/")
    page.locator("#pst-search-dialog input").fill("")
    page.keyboard.type(question)
    return page.locator("#pst-search-dialog .found a")


def test_the_search_answers_while_one_types_and_forgives(tab):  # noqa: F811
    page, fetched = tab(PERCEPTRON), []
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
    found = asked(page, "perceptorn")
    expect(found.first).to_have_text("perceptron")
    expect(found.first).to_have_attribute("href", re.compile("#term-perceptron$"))
    scripts = sorted(name for name in fetched if name.endswith(".js"))  # a font may come late
    assert scripts == ["minisearch.min.js", "p.js", "search.js", "searchnames.js"]
    for question, first, place in (
        ("novikov", "Novikoff mistake bound", "#perceptron-mistake-bound"),
        ("KERNEL TRICK", "kernel trick", "#term-kernel-trick"),
        ("mistake_bo", "mistake_bound", "#mllib.perceptron.mistake_bound"),
    ):
        found = asked(page, question)
        expect(found.first).to_have_text(first)
        expect(found.first).to_have_attribute("href", re.compile(f"{re.escape(place)}$"))
    asked(page, "zzzz")
    expect(page.locator(".found")).to_contain_text("Nothing is called so")
    titles = asked(page, "step size").locator("xpath=ancestor::ul/preceding-sibling::p")
    expect(titles).to_have_text(["Results, terms and functions", "Sections and pages"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**#term-step-size")


def test_the_first_answer_keeps_a_slow_phone_waiting_less_than_a_second(phone):
    page = phone(PERCEPTRON)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.evaluate(
        """() => { window.blocked = 0; new PerformanceObserver((list) => {
             for (const {duration} of list.getEntries())
               window.blocked = Math.max(window.blocked, duration);
           }).observe({type: 'longtask'}); }"""
    )
    found = asked(page, "kernel")
    expect(found.first).to_be_visible()
    expect(page.locator(".found-title")).to_have_count(2)
    assert page.evaluate("window.blocked") < 1000
