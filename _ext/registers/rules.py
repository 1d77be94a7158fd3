"""The rules of statements, claims and registers, read from the text of the chapters alone.

The tests call this and so does the build, before Sphinx begins. What a cell has shown is read from
the notebook beside its text. A fault names the file, its line, the cell and the line inside it::

    chapters/theory/concentration.md:612 (cell 26, line 2): claim concentration-x is in neither ...

    python -m _ext.registers.rules          prints all faults of the book
"""

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

from _ext.registers import code, register

#: Blocks that state something, which must therefore be run, and the kinds of results.
STATEMENTS = ("theorem", "lemma", "proposition", "corollary", "algorithm", "example")
CLAIMED = (*STATEMENTS, "derivation")
KINDS = (*CLAIMED, "definition", "advice")
#: The fields of an entry of results.yml.
FIELDS = {"id", "chapter", "kind", "title", "sources"}

_FENCE = re.compile(r"^(`{3,}|:{3,}|~{3,})(?:\{([\w:-]+)\})?")


class Cell(NamedTuple):
    """A cell of a text twin."""

    number: int  #: counted from 1
    line: int  #: of the file, where its text begins
    kind: str  #: "code" or "markdown"
    text: str


class Chapter:
    """What a text twin states and claims, and what the cells of its notebook have shown."""

    def __init__(self, path, root):
        self.slug, self.path = path.stem, path.relative_to(root).as_posix()
        self.cells = cells(path.read_text(encoding="utf-8"))
        self.anchors, self.statements, self.claims = {}, [], []
        for cell in self.cells:
            self.read(cell)
        notebook = path.with_suffix(".ipynb")
        self.shown = shown(notebook) if notebook.exists() else {}

    def at(self, cell, line=1):
        """Return a place as its file, the line, the cell and the line in it."""
        return f"{self.path}:{cell.line + line - 1} (cell {cell.number}, line {line})"

    def read(self, cell):
        """Note the anchors, statements and claims of a cell."""
        if cell.kind == "code":
            for names, problem, line in code.claims_at(cell.text):
                self.claims.append((names, problem, self.at(cell, line)))
            return
        lines = cell.text.splitlines()
        for number, line in enumerate(lines, 1):
            if match := re.match(r":label: (\S+)$|\(([\w-]+)\)=$", line):
                self.anchors.setdefault(match[1] or match[2], self.at(cell, number))
            if (match := _FENCE.match(line)) and (match[2] or "").startswith("prf:"):
                options = " ".join(lines[number : number + 4])
                label = re.match(r"(?::\w+: \S+ )*?:label: (\S+)", options)
                kind = match[2].removeprefix("prf:")
                self.statements.append((kind, label and label[1], self.at(cell, number)))


def cells(text):
    """Return the cells of a text twin."""
    lines, found = text.splitlines(), []
    at = lines.index("---", 1) + 1 if lines[0] == "---" else 0
    start, inside = at, None

    def end(kind, start, stop):
        while start < stop and not lines[start].strip():
            start += 1
        if kind == "code" or start < stop:
            found.append(Cell(len(found) + 1, start + 1, kind, "\n".join(lines[start:stop])))

    while at < len(lines):
        if inside is None and lines[at].startswith("```{code-cell}"):
            end("markdown", start, at)
            stop = lines.index("```", at)
            start = at + 1
            if lines[start] == "---":
                start = lines.index("---", start + 1) + 1
            while lines[start].startswith(":"):
                start += 1
            end("code", start, stop)
            at = start = stop + 1
            continue
        if inside is None and lines[at].startswith("+++"):
            end("markdown", start, at)
            start = at + 1
        elif fence := _FENCE.match(lines[at]):
            if inside is None:
                inside = fence[1]
            elif lines[at].rstrip() == inside:
                inside = None
        at += 1
    end("markdown", start, len(lines))
    return found


def shown(notebook):
    """Return {claim: why its cell does not count, or ""} for the claims that a notebook has run."""
    found = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        source, outputs = "".join(cell["source"]), cell.get("outputs", [])
        texts = ["".join(o.get("text") or o.get("data", {}).get("text/plain", "")) for o in outputs]
        problem = ""
        if any(output["output_type"] == "error" for output in outputs):
            problem = "its cell ended in an error"
        elif cell["execution_count"] is None:
            problem = "its cell was not executed"
        elif not any(re.search(r"(?m)^  (holds|proves) +\S", text) for text in texts):
            problem = "its cell showed no verdict that it holds or is proved"
        for names, _, _ in code.claims_at(source):
            found |= dict.fromkeys(names, problem)
    return found


def faults(root):
    """Return every statement, claim, anchor or entry of the book in ``root`` that does not fit."""
    root = Path(root)
    chapters = {path.stem: Chapter(path, root) for path in sorted(root.glob("chapters/*/*.md"))}
    results = register.load(root / "registers/results.yml")
    errata = register.load(root / "registers/errata.yml")
    registered = register.register_names(results, errata)
    found, claimed = list(_entries(results)), {}
    for chapter in chapters.values():
        for names, problem, place in chapter.claims:
            if problem or not names:
                found.append(
                    f"{place}: claim {', '.join(names) or '?'}: its names must be written out"
                )
            for name in names:
                if name not in chapter.anchors:
                    found.append(
                        f"{place}: claim {name} names nothing that is anchored on its page"
                    )
                elif name not in registered:
                    found.append(
                        f"{place}: claim {name} is in neither results.yml nor errata.yml; an entry "
                        f"has id, chapter, kind ({', '.join(KINDS)}), title and sources"
                    )
                if name in claimed:
                    found.append(f"{place}: claim {name} is made twice, first in {claimed[name]}")
                claimed[name] = place
                if name not in chapter.shown:
                    found.append(
                        f"{place}: claim {name} was not run: make run CHAPTER={chapter.slug}"
                    )
                elif chapter.shown[name]:
                    found.append(f"{place}: claim {name}: {chapter.shown[name]}")
        for kind, label, place in chapter.statements:
            if kind in STATEMENTS and label is None:
                found.append(f"{place}: {kind} without a label, hence without a claim")
            elif kind in STATEMENTS and label not in chapter.shown:
                found.append(f"{place}: {kind} {label} has no claim")
    wanted = [((e["chapter"],), e["id"], e["kind"], e["kind"] in CLAIMED) for e in results]
    for e in errata:  # in its chapter, or on the page of its source
        homes = e["chapter"], register.SLIPS.get(e.get("source"))
        wanted.append((homes, f"erratum-{e['id']}", "slip", True))
    for homes, name, kind, needs_claim in wanted:
        pages = [chapters[slug] for slug in homes if slug in chapters]
        page = next((page for page in pages if name in page.anchors), None)
        if pages and page is None:
            found.append(f"{pages[-1].path}: no anchor {name} for the {kind} of that name")
        elif page and needs_claim and name not in page.shown:
            found.append(f"{page.anchors[name]}: {kind} {name} has no claim")
    return list(dict.fromkeys(found))


def _entries(results):
    """Yield what is wrong with the form of the entries of results.yml."""
    ids = [entry.get("id") for entry in results]
    for entry in results:
        name = f"registers/results.yml: entry {entry.get('id', '?')}"
        if set(entry) != FIELDS:
            yield f"{name} has the fields {', '.join(entry)}; it needs {', '.join(sorted(FIELDS))}"
        elif entry["kind"] not in KINDS:
            yield f"{name}: there is no kind {entry['kind']}; the kinds are {', '.join(KINDS)}"
        if ids.count(entry.get("id")) > 1:
            yield f"{name} is there twice"


if __name__ == "__main__":
    broken = faults(Path.cwd())
    print("\n".join(broken) or "All rules are kept.")
    sys.exit(bool(broken))
