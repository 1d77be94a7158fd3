"""Read what Chromium printed: the pages, anchors, outline and glyphs of a PDF.

Chromium writes plain objects, compressed streams and Unicode maps for its fonts. That much is
understood here, no PDF in general; the standard library is enough.
"""

import functools
import itertools
import re
import unicodedata
import zlib
from pathlib import Path

_STRING = rb"\((?:\\.|[^\\()])*\)|<[0-9a-fA-F]*>"
_TOKEN = re.compile(
    rb"<(?P<hex>[0-9a-fA-F]+)>|/(?P<name>[^\s/<>\[\]()]+)|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+))"
    rb"|(?P<word>[A-Za-z'\"*]+)|\((?:\\.|[^\\()])*\)|<<|>>|[\[\]]",
    re.DOTALL,
)


def unescaped(raw):
    """Return the text of a PDF string: ``(...)`` with escapes, or ``<...>`` in hexadecimal."""
    if raw.startswith(b"<"):
        data = bytes.fromhex(raw[1:-1].decode())
    else:
        named = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
        data = re.sub(
            rb"\\([0-7]{1,3}|.)",
            lambda m: bytes([int(m[1], 8)]) if m[1].isdigit() else named.get(m[1], m[1]),
            raw[1:-1],
            flags=re.DOTALL,
        )
    return data[2:].decode("utf-16-be") if data.startswith(b"\xfe\xff") else data.decode("latin-1")


def plain(name):
    """Return the bytes of a PDF name."""
    return re.sub(rb"#(\w\w)", lambda match: bytes.fromhex(match[1].decode()), name)


def objects(data):
    """Yield the number and the body of each object, from where the table of the file says."""
    start = int(data[data.rindex(b"startxref") + 9 :].split()[0])
    table = re.compile(rb"xref\s+0 (\d+)\s+").match(data, start)
    found = []
    for number in range(int(table[1])):
        line = table.end() + 20 * number
        place, _, kind = data[line : line + 18].split()
        if kind == b"n":
            found.append((int(place), number))
    found.sort()
    for (place, number), (end, _) in itertools.pairwise([*found, (start, 0)]):
        yield (
            number,
            data[data.index(b"obj", place) + 3 : data.rindex(b"endobj", place, end)].strip(),
        )


def product(a, b):
    """Return the transformation that applies ``a``, then ``b``; both as six numbers."""
    return (
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    )


def unicode_map(text):
    """Return {glyph: character} of a ToUnicode map."""

    def characters(code):
        return bytes.fromhex(code).decode("utf-16-be", "replace")

    found = {}
    for block in re.findall(r"beginbfchar(.*?)endbfchar", text, re.DOTALL):
        for glyph, code in re.findall(r"<(\w+)>\s*<(\w+)>", block):
            found[int(glyph, 16)] = characters(code)
    for block in re.findall(r"beginbfrange(.*?)endbfrange", text, re.DOTALL):
        for first, last, code in re.findall(r"<(\w+)>\s*<(\w+)>\s*<(\w+)>", block):
            start = int(first, 16)
            for glyph in range(start, int(last, 16) + 1):
                found[glyph] = characters(f"{int(code, 16) + glyph - start:0{len(code)}x}")
    return found


class Pdf:
    """A printed file.

    Attributes
    ----------
    pages : list of int
        The object numbers of the pages, in order.
    """

    def __init__(self, path):
        data = Path(path).read_bytes()
        self.objects = dict(objects(data))
        words = (b"Root", b"Info")
        ends = [re.findall(rb"/%s (\d+) 0 R" % word, data[-2000:])[-1] for word in words]
        self.root, self.info = map(int, ends)
        self.catalog = self.objects[self.root]
        self.pages = self._pages(self.reference(self.catalog, b"Pages"))
        self._fonts = {}

    def reference(self, body, name):
        """Return the number of the object to which ``/name`` of ``body`` refers, or None."""
        match = re.search(rb"/%s\s+(\d+) 0 R" % name, body)
        return int(match[1]) if match else None

    def _stream(self, number):
        body = self.objects[number]
        head, _, rest = body.partition(b"stream")
        rest = rest.lstrip(b"\r\n")
        return zlib.decompressobj().decompress(rest) if b"/FlateDecode" in head else rest

    def _pages(self, number):
        body = self.objects[number]
        if not re.search(rb"/Type\s*/Pages\b", body):
            return [number]
        kids = re.search(rb"/Kids\s*\[(.*?)\]", body, re.DOTALL)[1]
        return [page for kid in re.findall(rb"(\d+) 0 R", kids) for page in self._pages(int(kid))]

    def destinations(self):
        """Return (name, place) of every anchor that a link leads to, both as they are written."""
        number = self.reference(self.catalog, b"Dests")
        body = self.objects[number] if number else b""
        return re.findall(rb"/([^\s\[]+)\s*(\[\d+ 0 R[^\]]*\])", body)

    def places(self):
        """Return {anchor: number of the page} of every anchor that a link leads to."""
        order = {number: i + 1 for i, number in enumerate(self.pages)}
        found = {
            plain(name).decode(): int(place[1:].split()[0]) for name, place in self.destinations()
        }
        return {name: order[page] for name, page in found.items() if page in order}

    def lines(self):
        """Return the lines of the outline as (depth, title as it is written, object)."""
        return [(depth, title, self.objects[number]) for depth, title, number in self._outline()]

    def outline(self):
        """Return the titles of the outline as (depth, title)."""
        return [(depth, unescaped(title)) for depth, title, _ in self._outline()]

    @functools.cached_property
    def bookmarks(self):
        """The numbers of the objects of the outline."""
        top = self.reference(self.catalog, b"Outlines")
        return [top, *(number for *_, number in self._outline())] if top else []

    def _outline(self):
        found = []

        def visit(number, depth):
            while number:
                body = self.objects[number]
                title = re.search(rb"/Title\s*(%s)" % _STRING, body, re.DOTALL)
                if title:
                    found.append((depth, title[1], number))
                visit(self.reference(body, b"First"), depth + 1)
                number = self.reference(body, b"Next")

        top = self.reference(self.catalog, b"Outlines")
        visit(top and self.reference(self.objects[top], b"First"), 0)
        return found

    def _font(self, number):
        if number not in self._fonts:
            table = self.reference(self.objects[number], b"ToUnicode")
            text = self._stream(table).decode("latin-1") if table else ""
            digits = 4 if b"/Type0" in self.objects[number] else 2
            self._fonts[number] = (unicode_map(text), digits)
        return self._fonts[number]

    @functools.cache  # noqa: B019 - a file is read once
    def glyphs(self, page):
        """Return (x, y, size, text, run) for what a page shows as text.

        Points from the lower left corner of the page; glyphs with one ``run`` were shown together.
        """
        body = self.objects[self.pages[page - 1]]
        fonts = {name: int(n) for name, n in re.findall(rb"/(F\d+) (\d+) 0 R", body)}
        content = self._stream(self.reference(body, b"Contents"))
        found, stack, saved = [], [], []
        at = text = line = (1, 0, 0, 1, 0, 0)
        (font, digits), size, run = ({}, 4), 1.0, 0
        for token in _TOKEN.finditer(content):
            if token["word"] is None:
                value = token["number"] or token["hex"] or token["name"]
                stack.append(float(value) if token["number"] else value)
                continue
            word, values = token["word"], stack
            stack = []
            if word == b"q":
                saved.append((at, font, digits, size))
            elif word == b"Q" and saved:
                at, font, digits, size = saved.pop()
            elif word == b"cm":
                at = product(values[-6:], at)
            elif word == b"Tf":
                (font, digits), size = self._font(fonts[values[-2]]), values[-1]
            elif word == b"BT":
                text = line = (1, 0, 0, 1, 0, 0)
                run += 1
            elif word == b"Tm":
                text = line = tuple(values[-6:])
            elif word == b"Td":
                text = line = product((1, 0, 0, 1, *values[-2:]), line)
            elif word in (b"Tj", b"TJ"):
                place = product(text, at)
                scale = (abs(place[0] * place[3] - place[1] * place[2])) ** 0.5
                for value in values:
                    if isinstance(value, bytes):
                        codes = re.findall(rb"." * digits, value)
                        shown = "".join(font.get(int(code, 16), "") for code in codes)
                        found.append((place[4], place[5], size * scale, shown, run))
        return found

    def text(self, page):
        """Return the text of a page; runs that stand apart are separated by a space."""
        pieces, before = [], None
        for x, y, size, shown, run in self.glyphs(page):
            if before is not None and run != before[2]:
                apart = abs(y - before[1]) > 0.3 * size or not -1 < x - before[0] < 1.5 * size
                pieces.append(" " if apart else "")
            pieces.append(shown)
            before = (x, y, run)
        return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", "".join(pieces)))
