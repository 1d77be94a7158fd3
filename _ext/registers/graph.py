"""Draw a directed graph in layers: an SVG whose boxes are links, coloured by the page's style."""

import html
import textwrap
from collections import defaultdict

BOX_WIDTH, BOX_HEIGHT = 168, 40
COLUMN, ROW = 226, 52
SWEEPS = 12


def acyclic(names, pairs):
    """Return ``pairs`` without those that close a cycle, in the order of ``names``.

    Each pair (a, b) says that a rests on b.
    """
    needs, kept = defaultdict(set), []

    def reaches(start, goal):
        stack, seen = [start], set()
        while stack:
            name = stack.pop()
            if name == goal:
                return True
            if name not in seen:
                seen.add(name)
                stack.extend(needs[name])
        return False

    place = {name: i for i, name in enumerate(names)}
    for a, b in sorted(pairs, key=lambda pair: (place[pair[1]] > place[pair[0]], pair)):
        if a != b and not reaches(b, a):
            needs[a].add(b)
            kept.append((a, b))
    return kept


def layers_of(names, pairs):
    """Return {name: layer}: one more than the deepest layer that the name rests on."""
    needs = defaultdict(list)
    for a, b in pairs:
        needs[a].append(b)
    layer = {}

    def depth(name):
        if name not in layer:
            layer[name] = 1 + max((depth(other) for other in needs[name]), default=-1)
        return layer[name]

    for name in names:
        depth(name)
    return layer


def layout(names, pairs):
    """Place each name, and route each pair through the columns between its ends.

    Returns
    -------
    places : dict from name to (x, y), the centre of its box
    routes : dict from pair (a, b) to the list of points from b to a
    """
    pairs = acyclic(names, pairs)
    layer = layers_of(names, pairs)
    # A pair that spans several columns passes through a bend in each: (a, b, column).
    columns = defaultdict(list)
    for name in names:
        columns[layer[name]].append(name)
    links, chains = [], {}
    for a, b in pairs:
        bends = [(a, b, column) for column in range(layer[b] + 1, layer[a])]
        for bend in bends:
            columns[bend[2]].append(bend)
        chains[a, b] = [b, *bends, a]
        links += list(zip(chains[a, b], chains[a, b][1:], strict=False))
    before, after = defaultdict(list), defaultdict(list)
    for left, right in links:
        before[right].append(left)
        after[left].append(right)
    height = {}
    for column in columns.values():
        for i, item in enumerate(column):
            height[item] = float(i)
    for sweep in range(SWEEPS):
        order = sorted(columns, reverse=bool(sweep % 2))
        near = after if sweep % 2 else before
        for c in order:
            wish = {
                item: sum(height[n] for n in near[item]) / len(near[item])
                if near[item]
                else height[item]
                for item in columns[c]
            }
            columns[c].sort(key=lambda item: wish[item])
            _spread(columns[c], wish, height)
    top = min(height.values(), default=0.0)
    point = {
        item: (c * COLUMN + BOX_WIDTH / 2, (height[item] - top) * ROW + BOX_HEIGHT / 2)
        for c, column in columns.items()
        for item in column
    }
    routes = {pair: [point[item] for item in chain] for pair, chain in chains.items()}
    return {name: point[name] for name in names}, routes


def _spread(column, wish, height):
    """Set heights near ``wish``, in order and a row apart; bends need half a row."""

    def room(a, b):
        return 0.5 if isinstance(a, tuple) or isinstance(b, tuple) else 1.0

    # Merge neighbours that would overlap into blocks, each at the mean of its members' wishes.
    blocks = []
    for item in column:
        blocks.append([[item], [0.0], wish[item]])
        while len(blocks) > 1:
            (items, offsets, start), (others, shifts, begin) = blocks[-2], blocks[-1]
            gap = room(items[-1], others[0])
            if begin >= start + offsets[-1] + gap:
                break
            moved = [offsets[-1] + gap + s for s in shifts]
            joined, places = items + others, offsets + moved
            mean = sum(wish[i] - p for i, p in zip(joined, places, strict=True)) / len(joined)
            blocks[-2:] = [[joined, places, mean]]
    for items, offsets, start in blocks:
        for item, offset in zip(items, offsets, strict=True):
            height[item] = start + offset


def _path(points):
    """Return the SVG path from the right edge of the first box to the left edge of the last."""
    (x, y), *rest = points
    x += BOX_WIDTH / 2
    parts = [f"M{x:.0f},{y:.1f}"]
    for i, (u, v) in enumerate(rest):
        last = i == len(rest) - 1
        end = u - BOX_WIDTH / 2 - (5 if last else 0)
        bend = (end - x) / 2
        parts.append(f"C{x + bend:.0f},{y:.1f} {end - bend:.0f},{v:.1f} {end:.0f},{v:.1f}")
        x, y = end, v
        if not last:
            x = u + BOX_WIDTH / 2
            parts.append(f"L{x:.0f},{v:.1f}")
    return "".join(parts)


def svg(names, pairs, *, titles, groups, link, label):
    """Return the graph as SVG text.

    Parameters
    ----------
    names : list of str
        The boxes, in reading order.
    pairs : list of (str, str)
        (a, b) draws an arrow from b to a: a rests on b.
    titles, groups : dict from name to str
        What each box says, and the group that numbers its colour.
    link : callable
        Address of a name.
    label : str
        Text alternative of the drawing.
    """
    places, routes = layout(names, pairs)
    width = max(x for x, _ in places.values()) + BOX_WIDTH / 2 + 2
    height = max(y for _, y in places.values()) + BOX_HEIGHT / 2 + 2
    colour = {group: i % 6 for i, group in enumerate(dict.fromkeys(groups[n] for n in names))}
    out = [
        '<div class="results-graph" role="region" tabindex="0" aria-label="Graph of the results">',
        f'<svg viewBox="-2 -2 {width + 4:.0f} {height + 4:.0f}" width="{width + 4:.0f}" '
        f'height="{height + 4:.0f}" role="group" aria-label="{html.escape(label)}">',
        '<defs><marker id="results-graph-head" viewBox="0 0 8 8" refX="3" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0L8,4L0,8z"/></marker></defs>',
        '<g class="arrows" aria-hidden="true">',
    ]
    for points in routes.values():
        out.append(f'<path d="{_path(points)}" marker-end="url(#results-graph-head)"/>')
    out.append("</g>")
    for name in names:
        x, y = places[name]
        lines = textwrap.wrap(titles[name], 27, max_lines=2, placeholder=" …")
        out.append(
            f'<a href="{html.escape(link(name))}" class="group-{colour[groups[name]]}" '
            f'aria-label="{html.escape(titles[name])}">'
            f"<title>{html.escape(titles[name])}</title>"
            f'<rect x="{x - BOX_WIDTH / 2:.0f}" y="{y - BOX_HEIGHT / 2:.1f}" width="{BOX_WIDTH}" '
            f'height="{BOX_HEIGHT}" rx="5"/>'
        )
        start = y + 4 - 7 * (len(lines) - 1)
        for i, text in enumerate(lines):
            out.append(
                f'<text x="{x:.0f}" y="{start + 14 * i:.1f}" text-anchor="middle">'
                f"{html.escape(text)}</text>"
            )
        out.append("</a>")
    out.append("</svg></div>")
    return "\n".join(out)
