"""The reference of ``mllib``: ``{api-reference}`` writes a section per module from docstrings."""

import ast
import re
from pathlib import Path

from docutils import nodes
from myst_parser.mdit_to_docutils.base import make_document
from myst_parser.mocking import MockRSTParser
from sphinx.util.docutils import SphinxDirective

#: What every chapter builds on, before the modules of the chapters.
GENERAL = ("base", "numerics")


def modules(source, order):
    """Return the modules of a package: the general ones, then in the order of the chapters.

    Parameters
    ----------
    source : path of the package
    order : list of str
        Names of the chapters, as in the table of contents.
    """
    names = {path.stem for path in Path(source).glob("*.py")} - {"__init__"}
    chapters = [slug.replace("-", "_") for slug in order]
    first = [name for name in GENERAL if name in names]
    middle = [name for name in chapters if name in names and name not in first]
    return first + middle + sorted(names - set(first) - set(middle))


def public(path):
    """Return the names in ``__all__`` of the module at ``path``, in the order of the file."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    listed, defined = set(), []
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
            listed = set(ast.literal_eval(node.value))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.append(node.name)
    return [name for name in defined if name in listed]


class ApiReference(SphinxDirective):
    """Write a section for each module, each public name with its docstring."""

    def run(self):
        """Return the sections; a change of a module makes the page out of date."""
        package = Path(self.env.srcdir) / "mllib"
        order = [Path(docname).name for docname in self.config.external_site_map]
        sections = []
        for name in modules(package, order):
            path = package / f"{name}.py"
            self.env.note_dependency(str(path))
            section = nodes.section(ids=[f"mllib-{name.replace('_', '-')}"])
            section += nodes.title("", "", nodes.literal("", f"mllib.{name}"))
            lines = [f".. automodule:: mllib.{name}", ""]
            for item in public(path):
                kind = "autoclass" if item.lstrip("_")[0].isupper() else "autofunction"
                lines += [f".. {kind}:: mllib.{name}.{item}"]
                lines += ["   :members:", ""] if kind == "autoclass" else [""]
            section += self.parsed(lines)
            sections.append(section)
        return sections

    def parsed(self, lines):
        """Return the nodes of reStructuredText ``lines``: autodoc writes no other markup."""
        inner = make_document()
        inner["source"] = self.state.document["source"]
        inner.settings = self.state.document.settings
        inner.reporter = self.state.document.reporter
        MockRSTParser().parse("\n".join(lines), inner)
        return inner.children


_CODE = re.compile(r"(``.+?``|:[a-z:]+:`[^`]+`|`[^`]+`_{0,2})")
_FIELD = re.compile(r"(\s*[\w*, ]+ : )(.*)")


def plain(lines):
    """Escape, in the lines of a docstring, what is mathematics to its author and markup to reST.

    Docstrings write ``|w|``, ``w*`` and ``coef_`` as they are; code and roles stay untouched.
    """
    done = []
    for line in lines:
        field = _FIELD.fullmatch(line)
        head, rest = field.groups() if field else ("", line)
        if not line.lstrip().startswith((">>>", "...", "..")):
            pieces = _CODE.split(rest)
            pieces[::2] = [
                re.sub(r"([|*])|(?<=\w)_(?!\w)", r"\\\g<0>", text) for text in pieces[::2]
            ]
            rest = "".join(pieces)
        done.append(head + rest)
    return done


def escape_docstring(app, what, name, obj, options, lines):
    """Let docstrings of the library be read as plain text."""
    lines[:] = plain(lines)


def setup(app):
    """Register the directive."""
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)
    app.add_directive("api-reference", ApiReference)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
