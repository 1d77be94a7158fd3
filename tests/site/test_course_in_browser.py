"""The map, the live theorem, the players and what is shared, as a reader meets them."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml
from contents import ROOT, SITE, chapters, entries, pages
from looking import SIDEWAYS
from playwright.sync_api import expect

sys.path.insert(0, str(ROOT))

from _ext.pages import theorem

LANDING, TEACHING = "chapters/intro.html", "chapters/teaching.html"
PERCEPTRON = "chapters/classification/perceptron.html"


# The map -------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [LANDING, TEACHING, "chapters/results.html"])
@pytest.mark.parametrize("width", [320, 390, 1440])
def test_the_map_fits_and_its_lines_meet_their_chapters(new_tab, address, page, width):
    tab = new_tab(viewport={"width": width, "height": 900})
    tab.goto(f"{address}/{page}")
    assert tab.evaluate(SIDEWAYS) <= 0
    rows = tab.locator(".course-map .map-chapter")
    assert rows.count() == len(chapters())
    faults = tab.evaluate("""() => {
      const map = document.querySelector('.course-map'), faults = [];
      const drawing = map.querySelector('svg').getBoundingClientRect();
      const box = (part) => part.getBoundingClientRect();
      const rows = [...map.querySelectorAll('.map-rows > li')].map(box);
      const ends = new Map();
      for (const line of map.querySelectorAll('.map-lines g')) {
        const [name, ...users] = line.dataset.of.split(' ');
        ends.set(name, line.querySelector('.end').getAttribute('d').match(/,[\\d.]+h0/g).length);
        if (ends.get(name) !== users.length) faults.push(name);
      }
      const height = rows.at(-1).bottom - rows[0].top;
      if (Math.abs(drawing.height - height) > 1) faults.push('the drawing is not so high');
      if (rows.some((row) => Math.abs(row.height - rows[0].height) > 1)) faults.push('rows');
      for (const link of map.querySelectorAll('a'))
        if (link.getBoundingClientRect().left < drawing.right - 1) faults.push(link.textContent);
      return faults;
    }""")
    assert faults == []


def test_the_counts_are_those_of_the_register():
    html = (SITE / LANDING).read_text(encoding="utf-8")
    counts = re.search(r'<ul class="course-counts">(.*?)</ul>', html, re.DOTALL)[1]
    results, run, *_ = (
        int(re.sub(r"\D", "", number)) for number in re.findall(r"<strong>(.*?)</strong>", counts)
    )
    lists = (SITE / "chapters/results.html").read_text(encoding="utf-8")
    assert f"{results} results in {len(chapters())} chapters; {run} of them are run" in lists


def test_every_chapter_is_in_the_long_plan_and_each_comes_after_what_it_rests_on():
    html = (SITE / TEACHING).read_text(encoding="utf-8")
    plans = re.findall(r'<table class="[^"]*term-plan.*?</table>', html, re.DOTALL)
    assert len(plans) == 2
    for plan, weeks in zip(plans, (12, 6)):
        rows = re.findall(r"<tr.*?</tr>", plan.partition("<tbody>")[2], re.DOTALL)
        assert len(rows) == weeks
        seen = []
        for row in rows:
            cells = [re.findall(r'href="([^"]*)"', cell) for cell in row.split("</td>")]
            assert set(cells[3]) <= set(seen)
            seen += cells[1]
        if weeks == 12:
            assert [f"chapters/{link}" for link in seen] == chapters()


def test_what_a_week_can_set_is_what_grading_was_tried_on():
    html = (SITE / TEACHING).read_text(encoding="utf-8").replace("<wbr>", "")
    rows = html.partition("Exercises to answer")[2].partition("</table>")[0].split("</tr>")[1:-1]
    listed = [re.search(r'href="[\w/]*?([\w-]+)\.html"', row)[1] for row in rows]
    tried = yaml.safe_load((ROOT / "registers" / "grading.yml").read_text(encoding="utf-8"))
    assert listed == [slug for page in chapters() if (slug := Path(page).stem) in tried]
    for name, row in zip(listed, rows):
        assert set(tried[name]["functions"]) == set(re.findall(r'"pre">(\w+)<', row))
        answers = {label for label, one in tried[name]["exercises"].items() if "tried" in one}
        assert answers == set(re.findall(r'html#(ex-[\w-]+)"', row))


# The live theorem ----------------------------------------------------------------------------


def test_the_script_finds_what_the_library_finds(new_tab, address):
    tab = new_tab()
    tab.goto(f"{address}/{LANDING}")
    samples = [list(theorem.POINTS)]
    for i, (u, v) in enumerate([(3, 20), (-5, -9), (30, 4), (0, 0), (-38, 23), (16, -19)]):
        points = list(theorem.POINTS)
        points[2 * i] = (u, v, points[2 * i][2])
        samples.append(points)
    kinds = set()
    for points in samples:
        found = tab.evaluate(
            """(points) => {
              const found = bookTheorem(points, {one: 10, passes: 1000});
              return {...found, wrong: [...found.wrong].sort((a, b) => a - b)};
            }""",
            points,
        )
        wanted = theorem.judged(points)
        for name in ("mistakes", "wrong", "line"):
            assert found[name] == wanted[name]
        kinds.add(wanted["bound"] is None)
        assert (found["bound"] is None) == (wanted["bound"] is None)
        if wanted["bound"]:
            assert found["bound"] == pytest.approx(wanted["bound"], rel=1e-6)
            assert found["widest"] == pytest.approx(wanted["widest"], rel=1e-5, abs=1e-8)
    assert kinds == {True, False}


def test_a_switch_drops_the_hypothesis_and_a_point_moves_by_key_and_by_pointer(new_tab, address):
    tab = new_tab(viewport={"width": 1280, "height": 900})
    tab.goto(f"{address}/{LANDING}")
    box = tab.locator(".live-theorem")
    verdict = box.locator(".theorem-verdict")
    words = " ".join(theorem.said(theorem.judged(theorem.POINTS)))
    expect(verdict).to_have_text(words)
    switch = box.get_by_role("button", name="Drop H3")
    switch.click()
    expect(verdict).to_contain_text("no line separates the classes")
    expect(verdict.locator(".verdict-fails")).to_be_visible()
    switch.click()
    expect(verdict).to_have_text(words)
    point = box.locator(".point").nth(7)
    before = point.get_attribute("transform")
    point.focus()
    tab.keyboard.press("ArrowLeft")
    expect(point).not_to_have_attribute("transform", before)
    expect(point).to_have_attribute("aria-label", "Disc at 9, 12")
    box.scroll_into_view_if_needed()
    place = point.bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + 60, y + 10)
    tab.mouse.up()
    expect(point).not_to_have_attribute("aria-label", "Disc at 9, 12")
    box.get_by_role("button", name="Start again").click()
    expect(point).to_have_attribute("transform", before)
    expect(verdict).to_have_text(words)


# Players -------------------------------------------------------------------------------------


def with_players():
    return [
        page for page in chapters() if "data-player=" in (SITE / page).read_text(encoding="utf-8")
    ]


def test_there_are_players_each_light():
    assert len(with_players()) >= 4
    for page in with_players():
        html = (SITE / page).read_text(encoding="utf-8")
        for name in re.findall(r'data-player="([^"]*)"', html):
            assert ((SITE / page).parent / name).stat().st_size <= 40_000


def test_a_player_is_stepped_through_and_never_moves_by_itself(new_tab, address):
    tab = new_tab(viewport={"width": 1280, "height": 900})
    fetched = []
    tab.on("request", lambda request: fetched.append(request.url))
    tab.goto(f"{address}/{PERCEPTRON}")
    tab.wait_for_load_state("networkidle")
    assert not any(".frames.js" in url for url in fetched)
    film = tab.locator("[data-player]").first
    film.scroll_into_view_if_needed()
    slider = film.get_by_role("slider")
    expect(slider).to_be_visible()
    assert any(".frames.js" in url for url in fetched)
    figure = film.locator("xpath=..")
    picture, say = figure.locator(".player-picture"), film.locator(".player-say")
    expect(picture).to_be_visible()
    assert not any(image.is_visible() for image in figure.locator("img").all())
    inks = "(marks) => marks.map((mark) => getComputedStyle(mark).stroke)"
    assert "none" not in picture.locator("[class*='s-']").evaluate_all(inks)
    last = int(slider.get_attribute("max"))
    expect(film.locator("output")).to_have_text(f"{last + 1} / {last + 1}")
    expect(film.get_by_role("button", name="One step on")).to_be_disabled()
    before, words = picture.inner_html(), say.inner_text()
    tab.wait_for_timeout(1200)
    assert picture.inner_html() == before
    slider.focus()
    tab.keyboard.press("ArrowLeft")
    expect(film.locator("output")).to_have_text(f"{last} / {last + 1}")
    expect(say).not_to_have_text(words)
    assert picture.inner_html() != before
    assert slider.get_attribute("aria-valuetext").startswith(f"{last} of {last + 1}: ")
    tab.keyboard.press("Home")
    expect(film.get_by_role("button", name="One step back")).to_be_disabled()
    film.get_by_role("button", name="One step on").click()
    expect(film.locator("output")).to_have_text(f"2 / {last + 1}")
    film.get_by_role("button", name="Play").click()
    expect(film.locator("output")).not_to_have_text(f"2 / {last + 1}")
    film.get_by_role("button", name="Pause").click()
    held = film.locator("output").inner_text()
    tab.wait_for_timeout(1200)
    assert film.locator("output").inner_text() == held


def test_without_scripts_theorem_and_players_are_still_pictures(new_tab, address):
    tab = new_tab(java_script_enabled=False, viewport={"width": 390, "height": 800})
    tab.goto(f"{address}/{LANDING}")
    expect(tab.locator(".live-theorem svg")).to_be_visible()
    expect(tab.locator(".theorem-verdict")).to_be_visible()
    expect(tab.locator(".theorem-acts")).to_be_hidden()
    expect(tab.locator(".course-map a").first).to_be_visible()
    tab.goto(f"{address}/{PERCEPTRON}")
    film = tab.locator("[data-player]").first
    expect(film.locator("xpath=..").locator("img").first).to_be_visible()
    expect(film.locator(".player-bar")).to_be_hidden()
    expect(film.locator(".player-say")).to_be_visible()


# Sharing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [*pages(), *entries()])
def test_every_page_says_its_licence_and_how_to_cite_it(page):
    html = (SITE / page).read_text(encoding="utf-8")
    foot = html.partition('<div class="page-foot">')[2]
    assert 'rel="license"' in foot
    assert "@misc{check-" in foot
    for mark in ("og:title", "og:description", "og:site_name"):
        assert re.search(rf'<meta property="{mark}" content="[^"]{{5,}}"', html), mark


def test_a_result_and_a_figure_can_be_passed_on(new_tab, address):
    tab = new_tab(viewport={"width": 1280, "height": 900})
    tab.add_init_script("""
      window.copied = [];
      Object.defineProperty(navigator, 'clipboard',
        {value: {writeText: async (text) => { window.copied.push(text); }}});""")
    tab.goto(f"{address}/{PERCEPTRON}")

    def taken(box, name):
        button = box.locator(".share-button")
        button.scroll_into_view_if_needed()
        button.focus()
        tab.keyboard.press("Enter")
        menu = tab.locator(".share-menu")
        expect(menu.get_by_role("button").first).to_be_focused()
        menu.get_by_role("button", name=name).click()
        expect(menu).to_have_count(0)
        return tab.evaluate("window.copied.at(-1)")

    bound = tab.locator("div.proof#perceptron-mistake-bound")
    assert taken(bound, "Copy the link").endswith(f"{PERCEPTRON}#perceptron-mistake-bound")
    entry = taken(bound, "Copy the citation")
    assert entry.startswith("@misc{perceptron-mistake-bound,")
    assert "Novikoff" in entry
    assert "in: The perceptron}" in entry
    tex = taken(bound, "Copy as TeX")
    assert tex.startswith("\\begin{theorem}[Novikoff's mistake bound]")
    assert "\\label{perceptron-mistake-bound}" in tex
    assert r"\frac{R^2\,\|w^*\|^2}{\gamma^2}" in tex
    assert tex.count("\\item") == 3
    with tab.expect_download() as download:
        bound.locator(".share-button").click()
        tab.locator(".share-menu").get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "perceptron-mistake-bound.tex"
    figure = tab.locator("figure#fig-perceptron-strip")
    assert "\\includesvg{fig-perceptron-strip}" in taken(figure, "Copy as TeX")
    with tab.expect_download() as download:
        figure.locator(".share-button").click()
        tab.locator(".share-menu").get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "fig-perceptron-strip.svg"
    bound.locator(".share-button").click()
    tab.keyboard.press("Escape")
    expect(tab.locator(".share-menu")).to_have_count(0)
    expect(bound.locator(".share-button")).to_be_focused()


def test_data_of_the_theorem_are_those_of_its_picture():
    html = (SITE / LANDING).read_text(encoding="utf-8")
    data = json.loads(re.search(r'data-theorem="([^"]*)"', html)[1].replace("&quot;", '"'))
    assert [tuple(point) for point in data["points"]] == list(theorem.POINTS)
