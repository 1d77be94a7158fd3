"""A chapter as its text has it: prose, cells, statements, printed functions, exercises.

The text is the one that people edit, ``chapters/<part>/<slug>.md``; the wheel carries a copy.
"""

import ast
import functools
import re
import textwrap
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

__all__ = ["Block", "Page", "page", "slugs"]

_BLOCK = re.compile(
    r"(?ms)^(?P<fence>`{3,})\{code-cell\}[^\n]*\n"
    r"(?P<options>---\n.*?^---\n|(?::[\w-]+:[^\n]*\n)*)(?P<code>.*?)^(?P=fence)$"
)
_STATEMENT = re.compile(
    r"(?ms)^(?P<fence>`{3,})\{prf:(?P<kind>\w+)\} *(?P<title>[^\n]*)\n"
    r"(?::label: (?P<label>[^\n]*)\n)?(?P<body>.*?)^(?P=fence)$"
)
_PRINTED = re.compile(
    r"(?m)^`{3,}\{literalinclude\} [./]*/(?P<module>mllib/[\w/]+)\.py\n:pyobject: (?P<name>\w+)\n"
)
_EXERCISE = re.compile(
    r"(?ms)^(?P<fence>`{3,})\{exercise\} (?P<title>[^\n]*?)"
    r"(?: \((?:conceptual|short code|extended)\))?\n:label: (?P<label>[^\n]*)\n"
    r"(?P<body>.*?)^(?P=fence)$"
)
_SOLUTION = re.compile(r"(?m)^`{3,}\{solution-(?:start\} (?P<label>\S+)|(?P<end>end\}))$")


class Block(NamedTuple):
    """A piece of a chapter: a cell of code, or what stands between two."""

    kind: str  #: "code" or "text"
    source: str
    options: str  #: what stands above the code of a cell: tags, the caption of a figure
    solution: str  #: the exercise in whose solution it stands, or ""
    section: str  #: the heading above it


class Statement(NamedTuple):
    """A statement with its proof, as they are written."""

    kind: str
    title: str
    body: str
    proof: str
    at: int


class Page:
    """The text of a chapter, taken apart."""

    def __init__(self, slug, text):
        self.slug = slug
        self.module = f"mllib.{slug.replace('-', '_')}"
        self.text = re.sub(r"\A---\n.*?^---\n", "", text, count=1, flags=re.S | re.M)
        self.title = re.search(r"^# (.*)$", self.text, re.M)[1]
        self.blocks = list(self._blocks())
        self.cells = [block for block in self.blocks if block.kind == "code"]
        self.statements = self._statements()
        self.printed = {
            m["name"]: (m["module"].replace("/", "."), m.start())
            for m in _PRINTED.finditer(self.text)
        }  # {function: (module, place in the text)}
        self.exercises = {m["label"]: m for m in _EXERCISE.finditer(self.text)}

    def _blocks(self):
        end, solution, section = 0, "", ""
        for match in [*_BLOCK.finditer(self.text), None]:
            between = self.text[end : match.start() if match else None]
            for piece in re.split(
                r"(?m)^(?=`{3,}\{solution-)|(?<=\{solution-end\}\n````\n)", between
            ):
                heads = re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^(`{3,}).*?^\1$", "", piece))
                section = heads[-1] if heads else section
                border = _SOLUTION.search(piece)
                solution = border["label"] if border and not border["end"] else solution
                if piece.strip("`\n "):
                    yield Block("text", piece.strip("\n"), "", solution, section)
                solution = "" if border and border["end"] else solution
            if match:
                code = match["code"].rstrip("\n")
                yield Block("code", code, match["options"], solution, section)
                end = match.end()

    def _statements(self):
        found, last = {}, ""
        for match in _STATEMENT.finditer(self.text):
            body = match["body"].strip("\n")
            if match["kind"] != "proof":
                last = match["label"]
                found[last] = Statement(match["kind"], match["title"], body, "", match.start())
            elif last in found and not found[last].proof:
                found[last] = found[last]._replace(proof=body)
        return found

    def equation(self, label):
        """Return a displayed equation by its label, or ""."""
        found = re.search(
            rf"\$\$\n((?:(?!\$\$).)*?)\n *\$\$ \({re.escape(label)}\)", self.text, re.S
        )
        return f"$$\n{textwrap.dedent(found[1])}\n$$" if found else ""

    def solution(self, label):
        """Return the cells of the solution of an exercise."""
        return [cell for cell in self.cells if cell.solution == label]


def _folder():
    """Return where the chapters are: in the tree of the book, else in what is installed."""
    here = Path(__file__).resolve().parents[2] / "chapters"
    return here if here.is_dir() else files("mllib").joinpath("chapters")


@functools.cache
def _texts():
    parts = (part for part in _folder().iterdir() if part.is_dir() and part.name != "slips")
    texts = (text for part in parts for text in part.iterdir() if text.name.endswith(".md"))
    return {text.name[:-3]: text for text in sorted(texts, key=lambda text: text.name)}


def slugs():
    """Return the names of the chapters."""
    return list(_texts())


@functools.cache
def page(slug):
    """Return a chapter by its name, such as ``page("perceptron")``."""
    if slug not in _texts():
        raise ValueError(f"There is no chapter {slug!r}; there are {', '.join(_texts())}.")
    return Page(slug, _texts()[slug].read_text(encoding="utf-8"))


# What a cell needs ---------------------------------------------------------------------------


class Names(NamedTuple):
    """What a cell does with names."""

    needs: frozenset  #: that it reads before it binds them
    binds: frozenset  #: that it gives a value
    changes: frozenset  #: whose value it changes in place
    reads: frozenset  #: all that it reads
    late: frozenset  #: what its functions read, whenever they are called


_IN_PLACE = set("append extend insert add update pop remove sort fill shuffle setdefault".split())
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@functools.cache
def names(source):
    """Return what a cell of code does with names."""
    needs, binds, changes, reads = set(), set(), set(), set()

    def read(found):
        reads.update(found)
        needs.update(found - binds)

    def visit(node):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            binds.add(node.name)
            later.append(node)
            for part in node.decorator_list:
                visit(part)
        elif isinstance(node, _SCOPES):
            read(_free(node))
            for part in ast.walk(node):  # a walrus binds outside
                if isinstance(part, ast.NamedExpr):
                    binds.add(part.target.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            binds.update((a.asname or a.name).split(".")[0] for a in node.names)
        elif isinstance(node, ast.Name):
            binds.add(node.id) if isinstance(node.ctx, ast.Store) else read({node.id})
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            visit(node.value) if node.value else None
            for target in getattr(node, "targets", None) or [node.target]:
                if isinstance(node, ast.AugAssign):
                    read(_loaded(target) | {getattr(target, "id", "")} - {""})
                    changes.update({_root(target)})
                elif isinstance(target, (ast.Subscript, ast.Attribute)):
                    changes.update({_root(target)})
                visit(target)
        elif isinstance(node, (ast.For, ast.comprehension)):
            for part in [node.iter, node.target, *node.body, *node.orelse]:
                visit(part)
        else:
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _IN_PLACE:
                changes.update({_root(node.func)} - {"np"})  # np.sort changes nothing
            for part in ast.iter_child_nodes(node):
                visit(part)

    later = []
    visit(ast.parse(source))
    late = set().union(*map(_free, later))
    read(late)
    return Names(*(frozenset(group - {None}) for group in (needs, binds, changes, reads, late)))


def _loaded(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _free(node):
    """Return the names that a function or a comprehension finds outside of itself."""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    own = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    first = _loaded(node.generators[0].iter) if hasattr(node, "generators") else set()
    return (_loaded(node) - own) | first


def _root(node):
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return getattr(node, "id", None)


def needed(cells, last):
    """Return the indices of the cells that the cell ``last`` needs before it, in order.

    They are those that give a value to what it reads, or change it in place; a generator of random
    numbers is changed by all that read it.
    """
    late = frozenset()
    while True:
        chosen, needs = [], names(cells[last].source).needs | late
        for k in range(last - 1, -1, -1):
            cell = names(cells[k].source)
            draws = {n for n in cell.reads & needs if n.startswith("rng")}
            if (cell.binds | cell.changes | draws) & needs:
                chosen.insert(0, k)
                needs = (needs - cell.binds) | cell.needs
        called = late.union(*(names(cells[k].source).late for k in chosen))
        if called == late:
            return chosen
        late = called
