"""Read what Chromium printed: the pages, anchors, outline and glyphs of a PDF.

Chromium writes plain objects, compressed streams and Unicode maps for its fonts. That much is
understood here, no PDF in general; the standard library is enough.
"""

import functools
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
        self.objects = {
            int(match[1]): match[2]
            for match in re.finditer(rb"(\d+) 0 obj\s(.*?)\sendobj", data, re.DOTALL)
        }
        root = int(re.findall(rb"/Root (\d+) 0 R", data)[-1])
        self.catalog = self.objects[root]
        self.pages = self._pages(self._reference(self.catalog, b"Pages"))
        self._fonts = {}

    def _reference(self, body, name):
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

    def places(self):
        """Return {anchor: number of the page} of every anchor that a link leads to."""
        order = {number: i + 1 for i, number in enumerate(self.pages)}
        number = self._reference(self.catalog, b"Dests")
        found = re.findall(rb"/([^\s\[]+)\s*\[(\d+) 0 R", self.objects[number] if number else b"")

        def plain(name):
            return re.sub(rb"#(\w\w)", lambda m: bytes.fromhex(m[1].decode()), name).decode()

        return {plain(name): order[int(page)] for name, page in found if int(page) in order}

    def outline(self):
        """Return the titles of the outline as (depth, title)."""
        found = []

        def visit(number, depth):
            while number:
                body = self.objects[number]
                title = re.search(rb"/Title\s*(%s)" % _STRING, body, re.DOTALL)
                if title:
                    found.append((depth, unescaped(title[1])))
                visit(self._reference(body, b"First"), depth + 1)
                number = self._reference(body, b"Next")

        top = self._reference(self.catalog, b"Outlines")
        visit(top and self._reference(self.objects[top], b"First"), 0)
        return found

    def _font(self, number):
        if number not in self._fonts:
            table = self._reference(self.objects[number], b"ToUnicode")
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
        content = self._stream(self._reference(body, b"Contents"))
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
