"""The course as a whole: its map, plans for a term, the live theorem, players."""

import html as markup
import itertools
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from _ext.pages import figures, players, theorem  # noqa: E402
from _ext.registers import course, coursemap, planted  # noqa: E402
from mllib.course.figures import COLOURS, DARK  # noqa: E402
from mllib.course.player import Player  # noqa: E402

CHAPTERS = sorted((ROOT / "chapters").glob("*/*.md"))
STYLE = (ROOT / "_static" / "course.css").read_text(encoding="utf-8")


# The map -------------------------------------------------------------------------------------


def closed(pairs, start):
    """All that ``start`` rests on, by way of ``pairs``."""
    needs, left = set(), [start]
    while left:
        name = left.pop()
        fresh = {b for a, b in pairs if a == name} - needs
        needs |= fresh
        left += fresh
    return needs


@pytest.mark.parametrize("seed", range(20))
def test_the_map_says_the_same_with_fewest_lines(seed):
    rng = np.random.default_rng(seed)
    names = [f"n{i}" for i in range(9)]
    pairs = [(a, b) for b, a in itertools.combinations(names, 2) if rng.random() < 0.4]
    direct = coursemap.direct(names, [*pairs, ("n0", "n8")])  # the last one leads ahead
    assert set(direct) <= set(pairs)
    for name in names:
        assert closed(direct, name) == closed(pairs, name)
    for one in direct:  # none can be spared
        rest = [pair for pair in direct if pair != one]
        assert one[1] not in closed(rest, one[0])


def test_no_two_lines_lie_over_each_other():
    names = [f"n{i}" for i in range(12)]
    rng = np.random.default_rng(1)
    pairs = [(a, b) for b, a in itertools.combinations(names, 2) if rng.random() < 0.3]
    placed = coursemap.lanes({name: i for i, name in enumerate(names)}, pairs)
    assert set(placed) == {b for _, b in pairs}
    for (lane, first, last), (other, start, end) in itertools.combinations(placed.values(), 2):
        assert lane != other or last < start or end < first


def test_the_map_is_a_list_that_says_its_lines():
    chapters = [
        {"name": n, "title": t, "part": p, "link": f"{n}.html", "facts": ["1\xa0h", "2 of 3 run"]}
        for n, t, p in (("a", "A & B", "I"), ("b", "Second", "I"), ("c", "Third", "II"))
    ]
    drawn = coursemap.drawn(chapters, [("b", "a"), ("c", "b")], "rests on nothing")
    assert re.findall(r'<li class="map-part">(.*?)</li>', drawn) == ["I", "II"]
    assert re.findall(r'<a href="(.)\.html">(.*?)</a>', drawn)[0] == ("a", "A &amp; B")
    said = re.findall(r'class="map-needs">(.*?)<', drawn)
    assert said == ["rests on nothing", "rests on A &amp; B", "rests on Second"]
    assert drawn.count("<g ") == 2
    assert drawn.count("of 3 run") == 3


def test_times_in_words():
    assert [coursemap.hours(t) for t in (60, 90, 30, 80)] == [
        "1\xa0h",
        "1½\xa0h",
        "½\xa0h",
        "1 h 20 min",
    ]


def test_the_long_course_has_every_chapter_and_a_site_of_a_course_only_its_own():
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))

    def chapters(table):
        files = [page["file"] for part in table["parts"] for page in part["chapters"]]
        return [Path(file).name for file in files if file.count("/") == 2]

    whole, others = chapters(contents), len(contents["parts"])
    long, six = (course.read(ROOT, f"{name}-weeks.yml") for name in ("twelve", "six"))
    assert [slug for week in long["weeks"] for slug in week["chapters"]] == whole
    short = course.cut(contents, six)
    wanted = [slug for week in six["weeks"] for slug in week["chapters"]]
    assert chapters(short) == wanted
    assert len(wanted) < len(whole)
    assert len(short["parts"]) < others


def test_goals_bring_what_they_rest_on():
    needs = {"c": ["b"], "b": ["a"], "d": ["a"]}
    assert coursemap.closure(["c"], needs) == {"a", "b", "c"}


def test_faults_are_counted_from_the_register(tmp_path):
    (tmp_path / "registers").mkdir()
    one = {"tried": 10, "claims": 4, "tests": 6, "alive": 3}
    two = {"tried": 5, "claims": 5, "tests": None, "alive": 0}
    counts = {"one": {"human": one}, "two": {"mechanical": two, "mechanical by claim": {"a-b": 5}}}
    (tmp_path / "registers" / "mutants.yml").write_text(yaml.safe_dump(counts))
    assert planted.counted(tmp_path, ["one"]) == (10, 4)
    assert planted.counted(tmp_path, ["one", "two", "three"]) == (15, 9)
    assert planted.sentence(tmp_path, ["three"]) == ""
    said = planted.sentence(tmp_path, ["one"])
    assert "noticed 4 when they ran again (40\u00a0%), the tests of the library 6 (60" in said
    assert "tests" not in planted.sentence(tmp_path, ["two"])


# The live theorem ----------------------------------------------------------------------------


def test_the_picture_tells_what_the_library_finds():
    found = theorem.judged(theorem.POINTS)
    mark, words = theorem.said(found)
    assert mark == "holds"
    assert found["mistakes"] <= found["bound"]
    shown = theorem.picture()
    assert words in shown
    assert f"{found['mistakes']} mistakes" in words
    assert shown.count('class="ring"') == len(found["wrong"])
    data = json.loads(markup.unescape(re.search(r'data-theorem="([^"]*)"', shown)[1]))
    assert [tuple(point) for point in data["points"]] == list(theorem.POINTS)


def test_without_the_hypothesis_the_theorem_fails():
    points = list(theorem.POINTS)
    i, u, v = theorem.DROPPED
    points[i] = (u, v, points[i][2])
    found = theorem.judged(points)
    assert found["bound"] is None
    assert theorem.said(found)[0] == "fails"
    assert found["mistakes"] >= theorem.PASSES


def test_the_theorem_is_light():
    script = ROOT / "_ext" / "web" / "scripts" / "theorem.js"
    assert len(theorem.picture().encode()) + script.stat().st_size < 15_000


# Players -------------------------------------------------------------------------------------


def film():
    made = Player((0, 4), (0, 2), xlabel="time", xticks=(0, 2))
    made.classes(np.array([[1, 1], [2, 1.0]]), np.array([1, -1]))
    made.frame("first <one>").line([1.0, -1], 0).rings([[1, 1]])
    made.frame("second").box((0, 0), (1, 1), colour="model", edge="muted")
    return made.frame("last").text((1, 1), "a & b").curve([[0, 0], [1, 1]], dashed=True)


def test_a_player_shows_its_last_frame_and_keeps_the_others():
    svg = film().svg()
    ElementTree.fromstring(svg)
    assert re.findall(r'<g class="frame"( display="none")?>', svg) == [' display="none"'] * 2 + [""]
    found = players.frames(svg)
    assert [say for say, _ in found["frames"]] == ["first <one>", "second", "last"]
    assert "a &amp; b" in found["frames"][2][1]
    assert found["size"] == [480, 300]
    still = players.still(svg)
    assert still.count('class="frame"') == 1
    assert "<desc>last</desc>" in still
    assert players.frames('<svg viewBox="0 0 1 1"></svg>') is None


def test_places_of_a_player_are_those_of_the_data():
    svg = Player((0, 4), (0, 2)).dots([[0, 0], [4, 2]]).frame("a").frame("b").svg()
    assert 'd="M6,294h0M474,6h0"' in svg
    equal = Player((0, 4), (0, 4), equal=True).dots([[0, 0], [4, 4]]).frame("a").frame("b").svg()
    (x0, y0), (x1, y1) = [
        tuple(map(float, pair)) for pair in re.findall(r"M([\d.]+),([\d.]+)h0", equal)
    ]
    assert x1 - x0 == pytest.approx(y0 - y1)


def test_a_line_of_a_player_lies_where_its_score_is_zero():
    made = Player((0, 468), (0, 288)).frame("a").line([2.0, -3], 50.0).frame("b")
    (x0, y0), (x1, y1) = [
        tuple(map(float, pair)) for pair in re.findall(r"[ML](-?[\d.]+),(-?[\d.]+)", made.svg())
    ]
    for x, y in ((x0, y0), (x1, y1)):
        assert 2 * (x - 6) - 3 * (294 - y) + 50 == pytest.approx(0, abs=0.1)


def test_a_player_refuses_what_it_cannot_draw():
    with pytest.raises(ValueError, match="two frames"):
        Player((0, 1), (0, 1)).frame("one").svg()
    with pytest.raises(ValueError, match="colour must be one of"):
        Player((0, 1), (0, 1)).dots([[0, 0]], colour="red")
    with pytest.raises(ValueError, match="one non-empty line"):
        Player((0, 1), (0, 1)).frame("two\nlines")
    with pytest.raises(ValueError, match="finite"):
        Player((0, 1), (0, 1)).dots([[0, np.nan]])


def test_a_player_keeps_one_frame_on_the_page_and_the_others_beside_it(tmp_path):
    svg = film().svg()
    found = players.frames(svg)
    html = players.controls(found, tmp_path / "x.svg", "../_images/x")
    assert 'data-player="../_images/x.frames.js"' in html
    assert '<p class="player-say">last</p>' in html
    written = (tmp_path / "x.frames.js").read_text(encoding="utf-8")
    kept = json.loads(re.fullmatch(r'window\.bookFrames\("x",(.*)\);\n', written)[1])
    assert len(kept["frames"]) == 3
    assert not re.search(r"\.\d\d", "".join(marks for _, marks in kept["frames"]))
    still = figures.darkened(players.still(svg))
    assert still.count('class="frame"') == 1
    assert DARK["positive"] in still


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_player_in_a_notebook_is_light(path):
    notebook = json.loads(path.with_suffix(".ipynb").read_text(encoding="utf-8"))
    outputs = [o for c in notebook["cells"] for o in c.get("outputs", ())]
    for svg in ("".join(o.get("data", {}).get("image/svg+xml", "")) for o in outputs):
        if found := players.frames(svg):
            assert len(json.dumps(found, ensure_ascii=False)) <= 40_000
            assert all(len(say) <= 90 for say, _ in found["frames"])


@pytest.mark.parametrize(("scheme", "table"), [("light", COLOURS), ("dark", DARK)])
def test_colours_of_players_are_those_of_figures(scheme, table):
    block = re.search(rf'html\[data-theme="{scheme}"\] \{{(.*?)\}}', STYLE, re.DOTALL)[1]
    assert dict(re.findall(r"--ink-(\w+): (#\w{6})", block)) == table
    for colour in table:
        assert f".s-{colour} {{ stroke: var(--ink-{colour}); }}" in STYLE
        assert f".f-{colour} {{ fill: var(--ink-{colour}); }}" in STYLE
