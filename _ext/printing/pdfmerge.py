"""Put printed files one after the other: one file with the pages, links, outline and tags of all.

The objects of each file follow with new numbers, one file in memory at a time. A link to ``AWAY``
and the name of an anchor becomes a link inside the file if the anchor is in it. The tags, which
tell a screen reader what is a heading, a table or a link, are those that Chromium wrote: that, and
the memory that parsed objects take, is why no general PDF library stands here.
"""

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from _ext.printing import pdfread

#: A document links to the anchors of others as if they stood here.
AWAY = "https://elsewhere.invalid/#"

_AWAY = re.escape(AWAY.encode())
_PART = re.compile(
    rb"(?P<action>/A <</Type /Action\s/S /URI\s/URI \("
    + _AWAY
    + rb"(?P<name>(?:\\.|[^\\()])*)\)>>)"
    rb"|\((?P<node>node\d+)\)|(?P<string>\((?:\\.|[^\\()])*\))"
    rb"|\b(?P<reference>\d+) 0 R\b|/(?P<struct>StructParents?) (?P<key>\d+)"
)
#: Objects that all files share, by their numbers.
CATALOG, PAGES, TAGS, BOOK, OUTLINE, ABOUT, PARENTS, NAMES = range(1, 9)


class Part(NamedTuple):
    """A printed file, and the caption of the part of the book to which it belongs."""

    path: Path
    caption: str = ""


def text(words):
    """Return a PDF string."""
    return b"<FEFF" + words.encode("utf-16-be").hex().upper().encode() + b">"


def name(anchor):
    """Return an anchor as a PDF name."""
    plain = rb"[!-\"$&'*-.0-;=?-Z\\^-z|~]"
    return b"/" + b"".join(
        byte if re.match(plain, byte) else b"#%02X" % ord(byte)
        for byte in (bytes([code]) for code in anchor)
    )


class Writer:
    """A file that is being written object by object."""

    def __init__(self, file):
        self.file, self.at, self.next = file, {}, NAMES + 1
        file.write(b"%PDF-1.4\n%\xd3\xeb\xe9\xe1\n")

    def reserve(self, count=1):
        """Return the first of ``count`` new numbers."""
        self.next += count
        return self.next - count

    def write(self, number, body):
        """Write an object."""
        self.at[number] = self.file.tell()
        self.file.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))

    def finish(self):
        """Write where each object stands."""
        start = self.file.tell()
        self.file.write(b"xref\n0 %d\n0000000000 65535 f \n" % self.next)
        for number in range(1, self.next):
            self.file.write(
                b"%010d 00000 n \n" % self.at[number]
                if number in self.at
                else b"0000000000 65535 f \n"
            )
        trailer = b"trailer\n<</Size %d\n/Root %d 0 R\n/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n"
        self.file.write(trailer % (self.next, CATALOG, ABOUT, start))


class Bookmark:
    """One line of the outline, with those beneath it."""

    def __init__(self, title, place, tag=b"", closed=True):
        self.title, self.place, self.tag = title, place, tag
        self.closed, self.children, self.number = closed, [], 0

    def shown(self):
        """Return how many lines beneath are seen when this one is open."""
        return sum(1 + (0 if child.closed else child.shown()) for child in self.children)

    def write(self, writer, parent, before, after):
        """Write this line and those beneath it."""
        body = [
            b"<</Title %s\n/Dest %s\n/Parent %d 0 R" % (self.title, self.place, parent),
            self.tag,
        ]
        body += [b"\n/Prev %d 0 R" % before] if before else []
        body += [b"\n/Next %d 0 R" % after] if after else []
        body += [beneath(self, writer)] if self.children else []
        writer.write(self.number, b"".join(body) + b">>")


def beneath(bookmark, writer):
    """Write the lines beneath a bookmark; return how it refers to them."""
    children = bookmark.children
    for child in children:
        child.number = writer.reserve()
    numbers = [0, *(child.number for child in children), 0]
    for child, before, after in zip(children, numbers, numbers[2:], strict=False):
        child.write(writer, bookmark.number, before, after)
    count = -bookmark.shown() if bookmark.closed else bookmark.shown()
    return b"\n/First %d 0 R\n/Last %d 0 R\n/Count %d" % (numbers[1], numbers[-2], count)


class Merger:
    """Several printed files on their way into one."""

    def __init__(self, writer, address=None):
        self.writer, self.address = writer, address
        self.kids, self.tops, self.parents, self.named = [], [], [], []
        self.places, self.wanted = {}, set()
        self.count = self.keys = self.files = 0
        self.outline = Bookmark(b"", b"", closed=False)
        self.outline.number = OUTLINE
        self.part = None

    def add(self, part):
        """Write the objects of a file."""
        pdf = pdfread.Pdf(part.path)
        self.files += 1
        pages, tags = (pdf.reference(pdf.catalog, word) for word in (b"Pages", b"StructTreeRoot"))
        root = pdf.objects[tags]
        parents, identified = (pdf.reference(root, word) for word in (b"ParentTree", b"IDTree"))
        dests = pdf.reference(pdf.catalog, b"Dests")
        apart = {pdf.root, pdf.info, tags, parents, identified, dests, *pdf.bookmarks}
        kept = [number for number in sorted(pdf.objects) if number not in apart]
        first = self.writer.reserve(len(kept))
        self.new = {number: first + i for i, number in enumerate(kept)} | {tags: BOOK}
        top = pdf.reference(root, b"K")
        for number in kept:
            body = pdf.objects[number]
            head, stream, rest = body.partition(b">> stream\n")
            new = self.rewritten(head)
            if number == pages:
                new = new.replace(b"/Type /Pages", b"/Type /Pages\n/Parent %d 0 R" % PAGES, 1)
            if number == top:
                new = new.replace(b"/S /Document", b"/S /Part", 1)
            self.writer.write(self.new[number], new + stream + rest)
        self.kids.append(self.new[pages])
        self.tops.append(self.new[top])
        listed = re.search(rb"/Nums \[(.*?)\]", pdf.objects[parents], re.DOTALL)[1]
        for key, number in re.findall(rb"(\d+) (\d+) 0 R", listed):
            self.parents.append((int(key) + self.keys, self.new[int(number)]))
        if identified:
            listed = re.search(rb"/Kids \[(.*?)\]", pdf.objects[identified], re.DOTALL)[1]
            self.named += [self.new[int(n)] for n in re.findall(rb"(\d+) 0 R", listed)]
        for anchor, place in pdf.destinations():
            self.places[anchor] = self.rewritten(place)
        self.bookmark(pdf, part.caption)
        self.keys += int(re.search(rb"/ParentTreeNextKey (\d+)", root)[1])
        self.count += len(pdf.pages)

    def rewritten(self, body):
        """Return the part of an object before its stream with the numbers of the whole."""

        def change(match):
            if match["reference"]:
                return b"%d 0 R" % self.new[int(match["reference"])]
            if match["struct"]:
                return b"/%s %d" % (match["struct"], int(match["key"]) + self.keys)
            if match["node"]:  # in the order of the files, as the tree of these names demands
                return b"(%04d-%s)" % (self.files, match["node"])
            if match["action"]:
                return self.link(unquote_to_bytes(pdfread.unescaped(b"(%s)" % match["name"])))
            return match["string"]

        return _PART.sub(change, body)

    def link(self, anchor):
        """Return the link to an anchor of another document."""
        if self.address is None:
            self.wanted.add(anchor)
            return b"/Dest " + name(anchor)
        if address := self.address(anchor.decode()):
            quoted = re.sub(rb"([\\()])", rb"\\\1", address.encode())
            return b"/A <</Type /Action\n/S /URI\n/URI (%s)>>" % quoted
        return b""

    def bookmark(self, pdf, caption):
        """Put the lines of a file's outline beneath its part."""
        lines = [self.outline]
        for depth, title, body in pdf.lines():
            place = self.rewritten(re.search(rb"/Dest (\[.*?\])", body, re.DOTALL)[1])
            tag = re.search(rb"\n/SE \d+ 0 R", body)
            line = Bookmark(title, place, self.rewritten(tag[0]) if tag else b"")
            if depth == 0 and caption:
                if self.part is None or self.part.title != text(caption):
                    self.part = Bookmark(text(caption), place, closed=False)
                    self.outline.children.append(self.part)
                lines[0] = self.part
            del lines[depth + 1 :]
            lines[-1].children.append(line)
            lines.append(line)
        self.part = self.part if caption else None

    def finish(self, about, language):
        """Write what the files share."""
        if lost := self.wanted - {pdfread.plain(anchor) for anchor in self.places}:
            names = ", ".join(sorted(anchor.decode() for anchor in lost)[:10])
            raise ValueError(f"links lead to {len(lost)} anchors that are not in the file: {names}")
        write = self.writer.write

        def listed(numbers):
            return b" ".join(b"%d 0 R" % number for number in numbers)

        write(PAGES, b"<</Type /Pages\n/Count %d\n/Kids [%s]>>" % (self.count, listed(self.kids)))
        pairs = b" ".join(b"%d %d 0 R" % pair for pair in self.parents)
        write(PARENTS, b"<</Type /ParentTree\n/Nums [%s]>>" % pairs)
        tree = b"<</Type /StructTreeRoot\n/K %d 0 R\n/ParentTreeNextKey %d\n/ParentTree %d 0 R"
        tree %= BOOK, self.keys, PARENTS
        write(TAGS, tree + (b"\n/IDTree <</Kids [%s]>>>>" % listed(self.named)))
        top = b"<</Type /StructElem\n/S /Document\n/Lang %s\n/P %d 0 R\n/K [%s]>>"
        write(BOOK, top % (text(language), TAGS, listed(self.tops)))
        dests = b"\n".join(b"/%s %s" % pair for pair in self.places.items())
        write(NAMES, b"<<%s>>" % dests)
        write(OUTLINE, b"<</Type /Outlines%s>>" % beneath(self.outline, self.writer))
        facts = b"\n".join(b"/%s %s" % (key.encode(), text(words)) for key, words in about.items())
        write(ABOUT, b"<<%s>>" % facts)
        write(
            CATALOG,
            b"<</Type /Catalog\n/Pages %d 0 R\n/Dests %d 0 R\n/MarkInfo <</Marked true>>\n"
            b"/StructTreeRoot %d 0 R\n/Outlines %d 0 R\n/PageMode /UseOutlines\n"
            b"/ViewerPreferences <</DisplayDocTitle true>>\n/Lang %s>>"
            % (PAGES, NAMES, TAGS, OUTLINE, text(language)),
        )
        self.writer.finish()


def merged(parts, target, about, language="en", address=None):
    """Write the printed files ``parts`` into ``target``, one after the other.

    Parameters
    ----------
    parts : iterable of Part
    target : Path
    about : dict
        Facts for the file's description: Title, Author.
    language : str
    address : callable, optional
        Gives the address on the web of an anchor that is not in the file, or "" for no link;
        without it every anchor must be there.
    """
    with Path(target).open("wb") as file:
        merger = Merger(Writer(file), address)
        for part in parts:
            merger.add(part)
        merger.finish(about, language)
