"""Each page, visited once: on a phone, in all widths, light and dark, by axe and by the keyboard.

A visit is what takes time, so a page is opened once and looked at in turn; the tests read what was
seen.
"""

import itertools
import re

import pytest
from contents import SITE, chapters, entries, pages
from looking import (
    AXE,
    BOXES,
    DISTANT,
    LETTERS,
    LEVELS,
    MOVING,
    NEAR,
    ON_A_PHONE,
    ONCE,
    OPEN,
    OVER,
    PARTED,
    READ,
    ROOM,
    SETTLED,
    SHIFTS,
    SIDEWAYS,
    SPILLING,
    STRUCTURE,
    WHOLE,
    audit,
    audit_colours,
    audit_targets,
    watched,
)
from playwright.sync_api import TimeoutError as StandstillError

CHAPTER = "chapters/classification/perceptron.html"
#: Pages that axe also reads with all folds closed.
CLOSED = ["chapters/intro.html", CHAPTER, "chapters/results/perceptron.html", "search.html"]
LIMIT = 410_000  # bytes over the wire, all that a page fetches while it is read to its end
ELEMENTS = 75_000
SHIFT = 0.02
STANDSTILL = 30_000  # milliseconds
PHONE = {"width": 412, "height": 823}
DESK = 1265  # a window of 1280 px with a scroll bar


@pytest.fixture(scope="class")
def visit(request, open_tab, address):
    """Open a page and look at it in turn; give what was seen, by name."""
    page = request.cls.PAGE
    for last in (False, False, True):
        seen = {"page": page, "foreign": [], "failed": [], "errors": []}
        tab = open_tab(viewport=PHONE, reduced_motion="reduce")
        listen(tab, address, seen)
        try:
            arrive(tab, f"{address}/{page}", seen)
            break
        except StandstillError:  # the browser's slow line stops for good once in hundreds of pages
            tab.close()
            if last:
                raise
    walk(tab, seen)
    inspect(tab, page, seen, open_tab)
    tab.close()
    return seen


def listen(tab, address, seen):
    """Note what the page asks of others, misses or complains about, to the end of the visit."""
    own = (address, "data:")
    tab.on("request", lambda r: None if r.url.startswith(own) else seen["foreign"].append(r.url))
    tab.on("response", lambda r: seen["failed"].append(r.url) if r.status >= 400 else None)
    tab.on("console", lambda m: seen["errors"].append(m.text) if m.type == "error" else None)
    tab.on("pageerror", lambda e: seen["errors"].append(str(e)))


def arrive(tab, url, seen):
    """Load the page on a phone over a distant line, then read it to its end: shifts and bytes."""
    wire, size = watched(tab)
    wire.send("Network.emulateNetworkConditions", DISTANT)
    tab.add_init_script(f"({SHIFTS})()")
    for tries in range(3):  # a starved machine may decode a font late, but not every time
        size.clear()
        tab.goto(f"{url}?{tries}", timeout=STANDSTILL)
        tab.evaluate("document.fonts.ready")
        seen["shift"] = sum(tab.evaluate("window.shifts"))
        if seen["shift"] < SHIFT:
            break
    seen["spilling"] = tab.evaluate(SPILLING)
    seen["elements"] = tab.locator("*").count()
    wire.send("Network.emulateNetworkConditions", NEAR)
    tab.set_viewport_size({"width": 320, "height": 900})
    tab.add_style_tag(content=WHOLE)
    tab.evaluate(READ)
    tab.wait_for_load_state("networkidle")
    seen["bytes"] = {url.partition("?")[0].rpartition("/")[2]: n for url, n in size.items()}


def walk(tab, seen):
    """Look at the page in three widths, with everything laid out and every fold open."""
    tab.evaluate(AXE)
    seen["light"] = tab.evaluate("document.documentElement.dataset.theme")
    seen["sideways"] = {"320, closed": tab.evaluate(SIDEWAYS)}
    tab.evaluate(OPEN)
    seen["sideways"]["320"] = tab.evaluate(SIDEWAYS)
    seen["over the edge"] = tab.evaluate(OVER)
    seen["parted"] = tab.evaluate(PARTED)
    tab.evaluate(SETTLED)
    seen["phone"] = {320: tab.evaluate(ON_A_PHONE)}
    tab.keyboard.press("Tab")  # boxes that scroll are then known
    for width in (390, DESK):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.evaluate(SETTLED)
        seen["sideways"][f"{width}"] = tab.evaluate(SIDEWAYS)
        seen[f"boxes at {width}"] = tab.evaluate(BOXES)
        seen[f"letters at {width}"] = tab.evaluate(LETTERS)
        seen[f"levels at {width}"] = tab.evaluate(LEVELS)
        if width == 390:
            seen["phone"][390] = tab.evaluate(ON_A_PHONE)
        if width == 390 and seen["page"] in chapters():  # where links are many and close
            seen["axe, targets on a phone"] = audit_targets(tab)
    seen["structure"] = tab.evaluate(STRUCTURE)
    seen["room for code"] = tab.evaluate(ROOM)
    seen["moving"] = tab.evaluate(MOVING)


def inspect(tab, page, seen, open_tab):
    """Let axe look at the page, in light and in dark."""
    if page in CLOSED:
        closed = open_tab(viewport={"width": DESK, "height": 900}, reduced_motion="reduce")
        closed.goto(tab.url)
        closed.add_style_tag(content=WHOLE)
        closed.evaluate(AXE)
        closed.evaluate(ONCE)
        seen["axe, folds closed"] = audit(closed)
        seen["axe, folds closed, colours"] = audit_colours(closed, ["light"])[0]["light"]
        closed.close()
    tab.evaluate(ONCE)
    tab.evaluate(SETTLED)
    seen["axe"] = audit(tab)
    found, seen["looks"] = audit_colours(tab)
    seen |= {f"axe, colours, {scheme}": faults for scheme, faults in found.items()}


# What was seen -------------------------------------------------------------------------------


class EachPage:
    """What holds of every page."""

    PAGE = ""

    def test_it_loads_alone_and_without_an_error(self, visit):
        assert visit["light"] == "light"
        assert (visit["foreign"], visit["failed"], visit["errors"]) == ([], [], [])

    def test_it_holds_still_while_it_arrives(self, visit):
        assert visit["shift"] < SHIFT

    def test_it_weighs_little(self, visit):
        heaviest = sorted(visit["bytes"].items(), key=lambda file: -file[1])
        assert sum(visit["bytes"].values()) <= LIMIT, heaviest[:8]
        assert visit["elements"] <= ELEMENTS

    def test_it_never_scrolls_sideways(self, visit):
        assert len(visit["sideways"]) == 4
        assert max(visit["sideways"].values()) <= 0, visit["sideways"]
        assert visit["over the edge"] == []
        assert visit["parted"] == []
        assert visit["spilling"] == []

    @pytest.mark.parametrize("width", [320, 390])
    def test_a_phone_cuts_nothing_and_makes_nothing_too_small(self, visit, width):
        assert {name: parts for name, parts in visit["phone"][width].items() if parts} == {}

    def test_nothing_moves_for_readers_who_want_no_motion(self, visit):
        assert visit["moving"] == []

    @pytest.mark.parametrize("width", [390, DESK])
    def test_boxes_that_scroll_can_be_reached_and_no_others(self, visit, width):
        found = visit[f"boxes at {width}"]
        assert found["closed"] == []
        assert found["needless"] == []
        if visit["page"] == CHAPTER and width == 390:
            assert found["boxes"] > 5

    def test_headings_nest_and_landmarks_and_tables_are_named(self, visit):
        found = visit["structure"]
        levels = found["headings"]
        assert levels[0] == 1
        assert levels.count(1) == 1
        for before, after in itertools.pairwise(levels):
            assert after <= before + 1, levels
        assert all(found["landmarks"]), found["landmarks"]
        assert len(set(found["landmarks"])) == len(found["landmarks"]), found["landmarks"]
        for width in (390, DESK):
            for (least, _), (_, most) in itertools.pairwise(visit[f"levels at {width}"]):
                assert least > most, (width, visit[f"levels at {width}"])
        assert found["mains"] == 1
        assert found["tables"] == []
        assert found["language"] == "en"

    def test_a_line_of_code_of_100_characters_fits_and_its_letters_are_not_small(self, visit):
        assert visit["room for code"] or visit["page"] not in chapters()
        for box in visit["room for code"]:
            assert box["room"] >= box["wide"] > 500, box
        assert min(visit["letters at 390"] + visit[f"letters at {DESK}"], default=12) >= 12

    def test_axe_finds_nothing(self, visit):
        assert ("axe, folds closed" in visit) == (visit["page"] in CLOSED)
        assert min(visit["looks"][scheme] for scheme in ("light", "dark")) >= 10
        found = {
            name: faults for name, faults in visit.items() if name.startswith("axe") and faults
        }
        assert found == {}


#: The chapters first, for they take longest; each page is a class, which one worker visits.
ALL = list(
    dict.fromkeys([*chapters(), *entries(), *pages(), "search.html", "_modules/mllib/pca.html"])
)
for page in ALL:
    name = "Test_" + re.sub(r"\W", "_", page.removesuffix(".html"))
    globals()[name] = type(name, (EachPage,), {"PAGE": page})


def test_every_page_is_visited():
    built = {str(path.relative_to(SITE)) for path in SITE.rglob("*.html")}
    apart = ("_static/", "_modules/", "slides/")  # slides are made on demand, beside the pages
    listed = {page for page in built if not page.startswith(apart)} - set(ALL)
    assert listed <= {"index.html", "genindex.html", "py-modindex.html", "prf-prf.html"}
    assert set(ALL) <= built


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_sees_a_fault(new_tab, address, scheme):
    tab = new_tab(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    tab.goto(f"{address}/{CHAPTER}")
    tab.evaluate(AXE)
    tab.evaluate("""() => [...document.querySelectorAll('article p')].at(-1).insertAdjacentHTML(
      'afterend', '<p style="color: #777">pale in the one, dark in the other</p><p style="color: '
      + (document.documentElement.dataset.theme === 'dark' ? '#333' : '#ccc')
      + '">words <a href="#" style="color: inherit; text-decoration: none">linked</a></p>'
      + '<button></button><button id="small" style="all: unset; font-size: 9px">i</button>'
      + '<button style="all: unset; font-size: 9px">j</button>')""")
    assert any("#small" in fault for fault in audit_targets(tab))
    tab.evaluate(ONCE)
    found = audit(tab)
    assert any(fault.startswith("button-name") for fault in found), found
    colours = audit_colours(tab, [scheme])[0][scheme]
    assert sum(fault.startswith("color-contrast") for fault in colours) >= 2, colours
    assert not set(colours) & set(found)
