"""The course as a whole: its map, plans for a term, the live theorem, players, what is shared."""

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

from _ext.registers import coursemap, planted  # noqa: E402
from _ext.setting import figures, reading, theorem  # noqa: E402
from _ext.shipping import players, share  # noqa: E402
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
    drawn = coursemap.drawn(chapters, [("b", "a"), ("c", "b")])
    assert re.findall(r'<li class="map-part">(.*?)</li>', drawn) == ["I", "II"]
    assert re.findall(r'<a href="(.)\.html">(.*?)</a>', drawn)[0] == ("a", "A &amp; B")
    said = re.findall(r'class="map-needs">(.*?)<', drawn)
    assert said == ["rests on nothing before it", "rests on A &amp; B", "rests on Second"]
    assert drawn.count("<g ") == 2
    assert drawn.count("of 3 run") == 3


@pytest.mark.parametrize("halves", range(1, 20))
def test_the_time_on_a_card_is_understood(halves):
    said = reading.hours({"word": 3600 * halves})
    card = f"Time: {said} to read, without the exercises; ten seconds to run."
    assert coursemap.minutes(card) == 30 * halves


def test_times_in_words():
    assert [coursemap.hours(t) for t in (60, 90, 30, 80)] == [
        "1\xa0h",
        "1½\xa0h",
        "½\xa0h",
        "1 h 20 min",
    ]


@pytest.mark.parametrize("seed", range(10))
def test_a_plan_is_the_most_even_one(seed):
    rng = np.random.default_rng(seed)
    times = {f"n{i}": int(rng.integers(2, 9)) for i in range(8)}
    names = list(times)
    plan = coursemap.weeks(names, times, 3)
    assert [name for week in plan for name in week] == names

    def unevenness(cuts):
        parts = (names[i:j] for i, j in itertools.pairwise([0, *cuts, len(names)]))
        return sum(sum(times[name] for name in part) ** 2 for part in parts)

    best = min(map(unevenness, itertools.combinations(range(1, len(names)), 2)))
    assert sum(sum(times[name] for name in week) ** 2 for week in plan) == best
    assert coursemap.weeks(names[:2], times, 5) == [names[:1], names[1:2]]


def test_goals_bring_what_they_rest_on():
    needs = {"c": ["b"], "b": ["a"], "d": ["a"]}
    assert coursemap.closure(["c"], needs) == {"a", "b", "c"}


def test_faults_are_counted_from_the_register(tmp_path):
    (tmp_path / "chapters").mkdir()
    one = {"tried": 10, "claims": 4, "tests": 3, "alive": 3}
    two = {"tried": 5, "claims": 5, "tests": None, "alive": 0}
    counts = {"one": {"human": one}, "two": {"mechanical": two, "mechanical by claim": {"a-b": 5}}}
    (tmp_path / "chapters" / "mutants.yml").write_text(yaml.safe_dump(counts))
    assert planted.counted(tmp_path, ["one"]) == (10, 4)
    assert planted.counted(tmp_path, ["one", "two", "three"]) == (15, 9)
    assert planted.sentence(tmp_path, ["three"]) == ""
    said = planted.sentence(tmp_path, ["one"])
    assert (
        "noticed 4 when they ran again (40\u00a0%), the tests of the library alone 3 more;" in said
    )
    assert "alone" not in planted.sentence(tmp_path, ["two"])


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
    script = ROOT / "_ext" / "shipping" / "web" / "theorem.js"
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


def test_a_player_is_attached_to_its_still_picture(tmp_path):
    (tmp_path / "_images").mkdir()
    (tmp_path / "_images" / "x.svg").write_text(film().svg(), encoding="utf-8")
    (tmp_path / "chapters").mkdir()
    page = tmp_path / "chapters" / "one.html"
    html = players.attach(
        figures.pair('<figure><img alt="a" src="../_images/x.svg"/></figure>', page), page
    )
    assert 'data-player="../_images/x.frames.js"' in html
    assert html.index("only-dark") < html.index("data-player") < html.index("</figure>")
    assert '<p class="player-say">last</p>' in html
    written = (tmp_path / "_images" / "x.frames.js").read_text(encoding="utf-8")
    kept = json.loads(re.fullmatch(r'window\.bookFrames\("x",(.*)\);\n', written)[1])
    assert len(kept["frames"]) == 3
    assert not re.search(r"\.\d\d", "".join(marks for _, marks in kept["frames"]))
    for twin in ("x.svg", "x-dark.svg"):
        still = (tmp_path / "_images" / twin).read_text(encoding="utf-8")
        assert still.count('class="frame"') == 1
    assert DARK["positive"] in still
    plain = '<img class="only-light" src="../_images/none.svg"><img class="only-dark">'
    assert players.attach(plain, page) == plain


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


# What is shared ------------------------------------------------------------------------------

PAGE = """<html lang="en" data-content_root="../../"><head>
<title>14. The perceptron — The book</title>
<meta name="description" content="Lines."/></head><body><a href="../../index.html">Home</a>
<article class="bd-article"><figure><img class="only-light" src="../../_images/a.svg"/></figure>
</article><footer class="prev-next-footer">next</footer>
<footer class="bd-footer-content"><p>theme</p></footer></body></html>"""
BOOK = share.About("The book", "The authors", "2026")
WHERE = "chapters/part/perceptron.html"


def test_a_page_says_licence_and_citation_and_nothing_dead():
    html = share.shared(PAGE, WHERE, BOOK)
    assert 'rel="license"' in html
    assert "@misc{check-perceptron," in html
    assert "title  = {The perceptron}" in html
    assert "<p>theme</p>" not in html
    for absent in ("canonical", "og:url", "og:image", "url    =", "Edit", "Source of", "PDF"):
        assert absent not in html
    assert '<meta property="og:title" content="The perceptron" />' in html
    assert '<meta property="og:description" content="Lines." />' in html
    turned = PAGE.replace(
        'name="description" content="Lines."', 'content="Lines." name="description"'
    )
    assert 'og:description" content="Lines."' in share.shared(turned, WHERE, BOOK)


def test_with_the_address_of_the_repository_a_page_leads_to_its_source():
    book = BOOK._replace(repository="https://github.com/owner/name", folder="book", pdf=True)
    assert "This chapter" not in share.shared(PAGE, WHERE, book)
    book = book._replace(pdfs=("perceptron",))
    html = share.shared(PAGE, WHERE, book)
    at = "main/book/chapters/part/perceptron.md"
    assert f'href="https://github.com/owner/name/blob/{at}"' in html
    assert f'href="https://github.com/owner/name/edit/{at}"' in html
    assert 'href="../../book.pdf"' in html
    assert 'href="../../pdf/perceptron.pdf"' in html
    assert "This chapter" not in share.shared(PAGE, "chapters/part/other.html", book)
    assert "Edit" not in share.shared(PAGE, "chapters/results/perceptron.html", book)
    other = book._replace(repository="https://gitlab.com/owner/name", folder="")
    assert "owner/name/-/blob/main/chapters" in share.shared(PAGE, WHERE, other)


def test_with_the_address_of_the_site_a_page_has_its_card():
    book = BOOK._replace(address="https://example.org/book/")
    html = share.shared(PAGE, WHERE, book)
    own = "https://example.org/book/chapters/part/perceptron.html"
    assert html.count(f'<link rel="canonical" href="{own}" />') == 1
    assert f'<meta property="og:url" content="{own}" />' in html
    assert 'property="og:image" content="https://example.org/book/_images/a.card.png"' in html
    assert f"url    = {{{own}}}" in html
    assert "canonical" not in share.shared(PAGE, "search.html", book)


def test_the_page_for_errors_can_be_shown_anywhere():
    book = BOOK._replace(address="https://example.org/book/")
    page = share.shared(PAGE, "chapters/intro.html", book)
    html = share.missing(page, "chapters/intro.html", book.address)
    assert "This page does not exist" in html
    assert "og:" not in html
    assert "canonical" not in html
    for link in re.findall(r'\b(?:href|src|data-content_root)="([^"]*)"', html):
        assert link.startswith(("/", "https://")), link


def test_the_map_of_the_site_lists_its_pages():
    written = share.sitemap(["b.html", "a.html"], "https://example.org/")
    listed = re.findall(r"<loc>(.*?)</loc>", written)
    assert listed == ["https://example.org/a.html", "https://example.org/b.html"]


def test_the_settings_are_read(tmp_path):
    (tmp_path / "_config.yml").write_text(
        "title: T\nauthor: A\nrepository: {url: 'https://github.com/o/n/', branch: dev}\n"
        "html: {baseurl: 'https://example.org/n'}\n"
    )
    (tmp_path / "CITATION.cff").write_text("date-released: 2026-11-21\n")
    found = share.about(tmp_path, pdf=True)
    assert found == share.About(
        "T", "A", "2026", "https://github.com/o/n", "dev", "", "https://example.org/n/", True
    )


def test_a_published_site_has_cards_a_map_and_a_page_for_errors(tmp_path):
    book = BOOK._replace(address="https://example.org/book/")
    (tmp_path / "_images").mkdir()
    drawn = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"></svg>'
    (tmp_path / "_images" / "a.svg").write_text(drawn)
    for name in (WHERE, "chapters/intro.html", "search.html"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        page = PAGE if name == WHERE else re.sub(r"<figure>.*?</figure>", "", PAGE)
        path.write_text(share.shared(page, name, book), encoding="utf-8")
    share.site(tmp_path, BOOK)
    assert not (tmp_path / "sitemap.xml").exists()
    share.site(tmp_path, book)
    assert (tmp_path / "sitemap.xml").read_text().count("<loc>") == 2
    assert "does not exist" in (tmp_path / "404.html").read_text(encoding="utf-8")
    card = (tmp_path / "_images" / "a.card.png").read_bytes()
    assert [int.from_bytes(card[i : i + 4], "big") for i in (16, 20)] == [1200, 630]
