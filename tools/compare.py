"""Compare the outputs of a notebook by meaning: what two processors may round differently is equal.

The same program adds the same numbers in another order on another processor, so that the last of
sixteen digits differs. A printed number shows it only when it lies on the edge between two
roundings, and a picture only beyond what an eye can see. Everything else is a change:

**Text** (streams, results, verdicts, tables). Lines, words and whole numbers are equal. A decimal
number is one with a point or an exponent. Written with the same last place on both sides, it may
differ by one unit of that place if it has at least three significant digits there, else not at
all: 1.602 and 1.603 are equal, 0.99 and 1.00 are not, nor are 1e-16 and 2e-16. What prints one or
two digits of rounding noise therefore fails on some machine, and should print what it means.

- 9.999 and 10.00, 0.1 and 0.1001, 9.999e+04 and 1e+05 are neighbours: ``%.4g`` writes both.
- A zero has no sign: -0.0 is 0.0. But 0.5 is not 0.500: rounding does not change a format.
- Digits that follow a letter or a digit and a point belong to a name or a version (``x1.5``,
  ``2.4.6``): they are words.
- How many checks a verdict of a claim counts is not compared: an iteration may decide that.
- Where a number has become longer or shorter, columns shift: there one space is as good as
  several, in the whole output.

**Pictures** (SVG). Elements, their order, their texts, styles and colours are equal, and so are the
letters and the number of points of each path. A coordinate may differ by .05 px. matplotlib derives
some names (of clip paths, markers, hatches) from coordinates: these may differ if each name stands
for the same other name throughout. Shapes of letters are scaled afterwards, so scales are equal.

**Everything else** (PNG, JSON) is equal.
"""

import re
from collections import defaultdict
from decimal import Decimal
from itertools import zip_longest
from xml.etree import ElementTree

#: A number that is not part of a name or a version; the sign belongs to it unless it subtracts.
NUMBER = re.compile(
    r"((?:(?<![\w.)\]}])[-−+])?(?<![\w.])(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)(?!\.?\d)"
)
#: Where columns shift: a run of spaces, and the one that is left before the first number.
SPACES, EDGE = re.compile(" +"), re.compile(r"(?<![^\[(|]) $")
#: How many significant digits a number has at least whose last one may differ by one.
DIGITS = 3
#: How far a coordinate may move, in px.
MOVE = Decimal("0.05")
#: How many checks a verdict counts: where an iteration decides, the number is the processor's.
CHECKS = re.compile(r" \*\(\d+ checks\)\*(?=\n|$)")
#: The attributes of SVG that hold coordinates, and the transformations that do.
COORDINATES = set("d points x y x1 x2 y1 y2 cx cy r rx ry dx dy width height viewBox".split())
MOTIONS = {"translate", "rotate"}
#: A name that matplotlib derives from coordinates.
DERIVED = re.compile(r"\b([A-Za-z]\w*?[0-9a-f]{10})\b")


# -- text ----------------------------------------------------------------------------------------


def same_number(kept, found):
    """Whether two printed numbers differ by rounding alone, or not at all."""
    if kept == found:
        return True
    bare = [text.lstrip("+-−") for text in (kept, found)]
    values = [Decimal(text.replace("−", "-")) for text in (kept, found)]
    if not any(values):
        return bare[0] == bare[1]
    if all(text.isdigit() for text in bare):
        return False
    last = min(value.as_tuple().exponent for value in values)
    units = [int(value.scaleb(-last)) for value in values]
    return abs(units[0] - units[1]) == 1 and min(map(abs, units)) >= 10 ** (DIGITS - 1)


def text_difference(kept, found):
    """Return what differs between two texts in a sentence, or None."""
    if kept == found:
        return None
    pieces = [NUMBER.split(text) for text in (kept, found)]
    numbers = [part[1::2] for part in pieces]
    shifted = [len(n) for n in numbers[0]] != [len(n) for n in numbers[1]]
    lines = zip_longest(kept.splitlines(keepends=True), found.splitlines(keepends=True))
    for place, (before, after) in enumerate(lines, 1):
        if before is None or after is None:
            return f"line {place} is missing on one side: {before!r}, now {after!r}"
        fault = line_difference(before, after, shifted)
        if fault:
            return f"line {place}: {fault}\n  stored: {before.rstrip()}\n  now:    {after.rstrip()}"
    return None


def line_difference(kept, found, shifted):
    """Return what differs between two lines, or None; ``shifted``: spaces may differ in number."""
    kept, found = NUMBER.split(kept), NUMBER.split(found)
    for place, (before, after) in enumerate(zip_longest(kept, found, fillvalue="")):
        if place % 2:
            if not (before and after and same_number(before, after)):
                return f"the number {before or 'that is missing'} is now {after or 'missing'}"
            continue
        if shifted:
            before, after = (EDGE.sub("", SPACES.sub(" ", text)) for text in (before, after))
        if before != after:
            return f"the words {before!r} are now {after!r}"
    return None


# -- pictures ------------------------------------------------------------------------------------


def picture_difference(kept, found):
    """Return what differs between two SVG pictures in a sentence, or None."""
    if kept == found:
        return None
    try:
        kept, found = (list(ElementTree.fromstring(text).iter()) for text in (kept, found))
    except ElementTree.ParseError:
        return "the picture is not well-formed"
    names = {}, {}
    group = ""
    for before, after in zip_longest(kept, found):
        if before is None or after is None or before.tag != after.tag or len(before) != len(after):
            return f"other elements in {group or 'the picture'}, or in another order"
        group = before.get("id", group) if before.tag.endswith("}g") else group
        fault = element_difference(before, after, names)
        if fault:
            return f"in {group or 'the picture'}, <{before.tag.rpartition('}')[2]}>: {fault}"
    return None


def element_difference(kept, found, names):
    """Return what differs between two elements without their children, or None."""
    for before, after in ((kept.text, found.text), (kept.tail, found.tail)):
        if (before or "").strip() != (after or "").strip():
            return f"the text {before!r} is now {after!r}"
    if list(kept.attrib) != list(found.attrib):
        return f"attributes {list(kept.attrib)}, now {list(found.attrib)}"
    for name, before in kept.attrib.items():
        after, short = found.get(name), name.rpartition("}")[2]
        if before == after and not DERIVED.search(before):
            continue
        if short in COORDINATES:
            fault = moved(before, after)
        elif short == "transform":
            fault = transformed(before, after)
        else:
            fault = renamed(before, after, names)
        if fault:
            return f"{short}: {fault}"
    return None


def moved(kept, found):
    """Return what differs between two lists of coordinates, or None."""
    kept, found = NUMBER.split(kept), NUMBER.split(found)
    if kept[::2] != found[::2]:
        return f"{len(kept) // 2} coordinates, now {len(found) // 2}, or other segments"
    steps = [abs(Decimal(a) - Decimal(b)) for a, b in zip(kept[1::2], found[1::2])]
    if max(steps, default=0) > MOVE:
        return f"a coordinate moved by {max(steps)} px"
    return None


def transformed(kept, found):
    """Return what differs between two transformations, or None: only motions may move."""
    kept, found = (re.findall(r"(\w+)\(([^)]*)\)", text) for text in (kept, found))
    if [name for name, _ in kept] != [name for name, _ in found]:
        return f"{kept}, now {found}"
    for (name, before), (_, after) in zip(kept, found):
        fault = moved(before, after) if name in MOTIONS else before != after
        if fault:
            return fault if name in MOTIONS else f"{name}({before}) is now {name}({after})"
    return None


def renamed(kept, found, names):
    """Return what differs between two attributes apart from derived names, or None.

    ``names`` holds which name stands for which so far, there and back.
    """
    before, after = DERIVED.split(kept), DERIVED.split(found)
    same = before[::2] == after[::2] and all(
        names[0].setdefault(a, b) == b and names[1].setdefault(b, a) == a
        for a, b in zip(before[1::2], after[1::2])
    )
    return None if same else f"{kept!r} is now {found!r}"


# -- outputs -------------------------------------------------------------------------------------


def difference(kind, kept, found):
    """Return what differs between two values of one kind of output in a sentence, or None."""
    if not (isinstance(kept, str) and isinstance(found, str)):
        return None if kept == found else f"{kept!r} is now {found!r}"
    if kind == "text/markdown":
        kept, found = (CHECKS.sub("", text) for text in (kept, found))
    if kind == "image/svg+xml":
        return picture_difference(kept, found)
    if kind.startswith(("image/", "application/", "audio/", "video/")):
        return None if kept == found else "the data differ"
    return text_difference(kept, found)


def fields(outputs, skipped):
    """Return {kind: values in order} of the outputs of a cell, as nbval lays them out."""
    laid = defaultdict(list)
    for output in outputs:
        flat = {kind: value for kind, value in output.items() if kind != "data"}
        if output["output_type"] == "stream":
            flat[output["name"]] = flat.pop("text")
        for kind, value in (flat | dict(output.get("data", {}))).items():
            if kind not in skipped:
                laid[kind].append("".join(value) if isinstance(value, list) else value)
    return laid


def outputs_difference(kept, found, skipped=()):
    """Return what differs between the stored and the new outputs of a cell, or None."""
    kept, found = fields(kept, skipped), fields(found, skipped)
    counts = [{kind: len(values) for kind, values in side.items()} for side in (kept, found)]
    if counts[0] != counts[1]:
        return f"outputs of each kind: {counts[0]} stored, {counts[1]} now"
    for kind, values in kept.items():
        for before, after in zip(values, found[kind]):
            fault = difference(kind, before, after)
            if fault:
                return f"{kind}: {fault}"
    return None


def compare_by_meaning(cell):
    """Let a cell of nbval compare its outputs as this module does."""

    def compare_outputs(test, ref, skip_compare=None):
        fault = outputs_difference(ref, test, skip_compare or cell.parent.skip_compare)
        cell.comparison_traceback = [fault] if fault else []
        return not fault

    cell.compare_outputs = compare_outputs
