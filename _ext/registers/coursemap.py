"""The map of the course: which chapter rests directly on which, in reading order.

The chapters stand one under the other as on the line of a railway. From each a line of its own runs
down, left of the names, to the chapters that rest on it. Only direct dependences are drawn: what
another one implies is left out. The map is a list with a drawing beside it, so it fits any width
and is read aloud like a list.

The same drawing shows which result of a chapter rests on which. Who rests on whom is read from the
proofs (``notes.edges``); from that and the time of each chapter follow plans for a term.
"""

import html
from collections import defaultdict

from docutils import nodes

#: Units of the drawing: the height of a row, the distance of two lines.
ROW, LANE = 10, 10
#: Where in a row the lines arrive, and where they leave.
ARRIVE, LEAVE = 0.4, 0.68
COLOURS = 6


# -- what rests on what ----------------------------------------------------------------------------


def hours(time):
    """Return minutes in words: 90 is 1½ h."""
    whole, rest = divmod(time, 60)
    part = {0: "", 15: "¼", 30: "½", 45: "¾"}.get(rest)
    if part is None:
        return f"{whole} h {rest} min" if whole else f"{rest} min"
    return f"{whole or ''}{part}\N{NO-BREAK SPACE}h"


def direct(names, pairs):
    """Return the pairs (a, b), a rests on b, that no chain of others implies.

    Parameters
    ----------
    names : list of str
        In reading order; a pair that leads forward in it is left out.
    pairs : iterable of (str, str)
    """
    place = {name: i for i, name in enumerate(names)}
    needs = {name: set() for name in names}
    for a, b in pairs:
        if a in place and b in place and place[b] < place[a]:
            needs[a].add(b)
    return [
        (a, b)
        for a in names
        for b in sorted(needs[a], key=place.get)
        if not any(b in closure([c], needs) for c in needs[a] - {b})
    ]


def closure(goals, needs):
    """Return the goals and all that they rest on, by way of ``needs`` {name: names}."""
    seen, left = set(), list(goals)
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += needs.get(name, ())
    return seen


# -- the drawing -----------------------------------------------------------------------------------


def lanes(rows, pairs):
    """Give each row that others rest on a line of its own: {name: (lane, first, last row)}.

    Short lines run next to the names, long ones outside; no two lie over each other.
    """
    spans = {}
    for a, b in pairs:
        first, end = spans.get(b, (rows[b], rows[b]))
        spans[b] = min(first, rows[a]), max(end, rows[a])
    taken, found = [], {}
    for name in sorted(spans, key=lambda name: (spans[name][1] - spans[name][0], spans[name])):
        first, end = spans[name]
        free = (
            lane
            for lane, spans in enumerate(taken)
            if all(end < start or stop < first for start, stop in spans)
        )
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((first, end))
        found[name] = (lane, first, end)
    return found


def lines(rows, pairs, colour):
    """Return the drawing beside the names, which is stretched to their height, and its lanes."""
    placed = lanes(rows, pairs)
    count = 1 + max((lane for lane, _, _ in placed.values()), default=0)
    edge = count * LANE + 6
    users = defaultdict(list)
    for a, b in pairs:
        users[b].append(a)
    parts = []
    for name, (lane, _, _) in placed.items():
        x, top = (count - lane - 0.5) * LANE, (rows[name] + LEAVE) * ROW
        ends = sorted(rows[a] for a in users[name])
        path = ""
        for end in ends:
            y = (end + ARRIVE) * ROW
            turn = 3 if y > top else -3
            path += f"M{edge},{top:.1f}H{x + 3:g}Q{x:g},{top:.1f} {x:g},{top + turn:.1f}"
            path += f"V{y - turn:.1f}Q{x:g},{y:.1f} {x + 3:g},{y:.1f}H{edge - 1}"
        dots = "".join(f"M{edge - 2},{(end + ARRIVE) * ROW:.1f}h0" for end in ends)
        about = " ".join([name, *users[name]])
        parts.append(
            f'<g class="group-{colour[name]}" data-of="{html.escape(about)}">'
            f'<path d="{path}"/><path class="end" d="{dots}"/></g>'
        )
    height = (1 + max(rows.values(), default=0)) * ROW
    drawing = (
        f'<svg class="map-lines" viewBox="0 0 {edge} {height}" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false">{"".join(parts)}</svg>'
    )
    return drawing, count


def drawn(chapters, pairs, alone=""):
    """Return the map as HTML.

    Parameters
    ----------
    chapters : list of dict
        In reading order, with ``name``, ``title``, ``part``, ``link`` and ``facts``, a list of str.
    pairs : list of (str, str)
        (a, b) draws a line from b to a: a rests directly on b.
    alone : str
        What is said of a row that rests on nothing.
    """
    rows, listed, colour, part = {}, [], {}, None
    groups = {p: i % COLOURS for i, p in enumerate(dict.fromkeys(c["part"] for c in chapters))}
    titles = {chapter["name"]: chapter["title"] for chapter in chapters}
    for chapter in chapters:
        if chapter["part"] and chapter["part"] != part:
            part = chapter["part"]
            listed.append(f'<li class="map-part">{html.escape(part)}</li>')
        name = chapter["name"]
        rows[name], colour[name] = len(listed), groups[chapter["part"]]
        needs = [titles[b] for a, b in pairs if a == name]
        said = f"rests on {', '.join(needs)}" if needs else alone
        facts = "".join(f"<span>{html.escape(fact)}</span> " for fact in chapter["facts"])
        listed.append(
            f'<li class="map-chapter group-{colour[name]}" data-name="{html.escape(name)}">'
            f'<a href="{html.escape(chapter["link"])}">{html.escape(chapter["title"])}</a> '
            f'<span class="map-needs">{html.escape(said)}</span> '
            f'<span class="map-facts">{facts}</span></li>'
        )
    drawing, count = lines(rows, pairs, colour)
    return (
        f'<div class="course-map" style="--lanes:{count}">{drawing}'
        f'<ol class="map-rows">{"".join(listed)}</ol></div>'
    )


# -- for a site ----------------------------------------------------------------------------------


def between(writer):
    """Return the direct dependences between the chapters that ``writer`` shows."""
    return direct(writer.shown, [(writer.home(a), writer.home(b)) for a, b in writer.pairs])


def map_of(writer, link):
    """Return the map of the chapters that ``writer`` shows, each leading to ``link(slug)``."""
    chapters = []
    for slug in writer.shown:
        docname, entries = writer.chapters[slug], writer.of_chapter[slug]
        run = sum(writer.claim_of(docname, entry["id"]) is not None for entry in entries)
        time = writer.env.metadata[docname].get("minutes")
        chapters.append(
            {
                "name": slug,
                "title": writer.title_of(slug),
                "part": writer.part_of(docname),
                "link": link(slug),
                "facts": [hours(time) if time else "", f"{run} of {len(entries)} results run"],
            }
        )
    if not chapters:
        return []
    shown = drawn(chapters, between(writer), "rests on nothing before it")
    return [nodes.raw("", shown, format="html")]
