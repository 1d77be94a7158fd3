"""The reference of ``mllib``, from its docstrings: a page for each module, and the list of them.

``{api-index}`` lists the modules in the order of the chapters; ``{api-module} perceptron``, alone
on its page ``api/perceptron``, writes out one of them. A module without a page fails the build.
"""

import ast
import re
from pathlib import Path

from myst_parser.mdit_to_docutils.base import make_document
from myst_parser.mocking import MockRSTParser
from sphinx.util.docutils import SphinxDirective

#: What every chapter builds on, before the modules of the chapters.
GENERAL = ("base", "numerics", "compiled", "chunks", "explained")
#: The folder of the pages.
PAGES = "api"


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


def summary(path):
    """Return the first line of the docstring of the module at ``path``."""
    return ast.get_docstring(ast.parse(Path(path).read_text(encoding="utf-8"))).split("\n")[0]


class Reference(SphinxDirective):
    """What both directives share."""

    def module(self, name):
        """Return the path of a module; a change of it makes the page out of date."""
        path = Path(self.env.srcdir) / "mllib" / f"{name}.py"
        self.env.note_dependency(str(path))
        return path

    def parsed(self, lines):
        """Return the nodes of reStructuredText ``lines``: autodoc writes no other markup."""
        inner = make_document()
        inner["source"] = self.state.document["source"]
        inner.settings = self.state.document.settings
        inner.reporter = self.state.document.reporter
        MockRSTParser().parse("\n".join(lines), inner)
        return inner.children


class ApiIndex(Reference):
    """``{api-index}``: every module with what it computes, its page, and its public names."""

    def run(self):
        """Return a list of definitions in the order of the chapters."""
        package = Path(self.env.srcdir) / "mllib"
        order = [Path(docname).name for docname in self.config.external_site_map]
        lines = []
        for name in modules(package, order):
            path = self.module(name)
            names = [f":py:obj:`~mllib.{name}.{item}`" for item in public(path)]
            lines += [f":doc:`mllib.{name} </{PAGES}/{name.replace('_', '-')}>`"]
            lines += [f"    {line}" for line in (*plain([summary(path)]), "", ", ".join(names), "")]
        return self.parsed(lines)


class ApiModule(Reference):
    """``{api-module} name``: a module and each of its public names with its docstring."""

    required_arguments = 1

    def run(self):
        """Return what autodoc makes of the module."""
        (name,) = self.arguments
        lines = [f".. automodule:: mllib.{name}", ""]
        pages = [d for d in self.config.external_site_map if Path(d).name == name.replace("_", "-")]
        for chapter in set(pages) - {self.env.docname}:
            lines += [f"Derived, printed and verified in :doc:`/{chapter}`.", ""]
        for item in public(self.module(name)):
            kind = "autoclass" if item.lstrip("_")[0].isupper() else "autofunction"
            lines += [f".. {kind}:: mllib.{name}.{item}"]
            lines += ["   :members:", ""] if kind == "autoclass" else [""]
        return self.parsed(lines)


#: Code, roles, links and emphasis, which stay as they are.
_CODE = re.compile(r"(``.+?``|:[a-z:]+:`[^`]+`|`[^`]+`_{0,2}|(?<!\S)\*[A-Za-z][\w ,-]*\w\*(?!\w))")
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
    """Register the directives."""
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)
    app.add_directive("api-index", ApiIndex)
    app.add_directive("api-module", ApiModule)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
