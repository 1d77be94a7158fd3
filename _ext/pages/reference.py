"""The reference of ``mllib``, from its docstrings: a page for each module, and the list of them.

``{api-index}`` lists the modules: those of the chapters in the order of the chapters, then what
all share; ``{api-module} perceptron``, alone on its page ``api/perceptron``, writes out one of
them. The pages and their places in the table of contents follow the modules that exist.
"""

import ast
import inspect
import re
from pathlib import Path

import yaml
from myst_parser.mdit_to_docutils.base import make_document
from myst_parser.mocking import MockRSTParser
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

#: The folder of the pages, and the page that lists them.
PAGES, LIST = "api", "chapters/api"


def modules(source, order):
    """Return the modules of a package: in the order of the chapters, then what all share.

    Parameters
    ----------
    source : path of the package
    order : list of str
        Names of the chapters, as in the table of contents.
    """
    source = Path(source)
    names = {path.stem for path in source.glob("*.py")} - {"__init__"}
    chapters = [slug.replace("-", "_") for slug in order if slug.replace("-", "_") in names]
    shared = sorted({path.stem for path in source.glob("core/*.py")} - {"__init__"})
    shared = ["core", *(f"core.{name}" for name in shared)] if shared else []
    return [*chapters, *sorted(names - set(chapters)), *shared]


def page(name):
    """Return the page of a module."""
    return f"{PAGES}/{re.sub('[._]', '-', name)}"


def files(entries):
    """Yield every file of a table of contents, in order."""
    for entry in entries:
        yield from [entry["file"]] if "file" in entry else []
        for key in ("parts", "chapters", "sections"):
            yield from files(entry.get(key, ()))


def contents(root):
    """Return the table of contents, the pages of the reference in it."""
    table = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    names = modules(root / "mllib", [Path(file).name for file in files([table])])
    for entry in (entry for part in table.get("parts", ()) for entry in part["chapters"]):
        if entry["file"] == LIST:
            entry["sections"] = [{"file": page(name), "title": name} for name in names]
    return table


def write(root):
    """Write the page of each module; return the table of contents with these pages in it."""
    for name in modules(root / "mllib", ()):
        path = root / f"{page(name)}.md"
        text = f"# `mllib.{name}`\n\n```{{api-module}} {name}\n```\n"
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return contents(root)


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
        path = Path(self.env.srcdir, "mllib", *name.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
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
            lines += [f":doc:`mllib.{name} </{page(name)}>`"]
            lines += [f"    {line}" for line in (*plain([summary(path)]), "", ", ".join(names), "")]
        return self.parsed(lines)


class ApiModule(Reference):
    """``{api-module} name``: a module and each of its public names with its docstring."""

    required_arguments = 1

    def run(self):
        """Return what autodoc makes of the module."""
        (name,) = self.arguments
        lines = [f".. automodule:: mllib.{name}", ""]
        pages = [d for d in self.config.external_site_map if Path(d).name == Path(page(name)).name]
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


def _entry(line):
    """Return the lines of an entry whose meaning stands behind its type, else the line alone."""
    field = _FIELD.fullmatch(line)
    kind, _, meaning = field[2].partition("; ") if field else ("", "", "")
    return [field[1] + kind, "    " + meaning] if meaning else [line]


def plain(lines):
    """Escape, in the lines of a docstring, what is mathematics to its author and markup to reST.

    Docstrings write ``|w|``, ``w*`` and ``coef_`` as they are; code and roles stay untouched. An
    entry in one line, ``name : type; meaning``, becomes the two lines that numpy's style asks for.
    """
    done = []
    for line in (part for whole in lines for part in _entry(whole)):
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


#: The attributes of an estimator: their section in a docstring of numpy's style.
_ATTRIBUTES = re.compile(r"Attributes\n-{5,}\n(.*?)(?=\n\n[A-Z][A-Za-z ]*\n-{3,}\n|\Z)", re.DOTALL)
_NAMES = re.compile(r"([\w]+(?:, [\w]+)*)(?: : (.*))?")


def attributes(section):
    """Return (names, type, meaning) for the entries of a section of attributes."""
    found = []
    for line in (part for whole in section.splitlines() for part in _entry(whole)):
        if line.startswith(" ") and found:
            found[-1][2].append(line.strip())
        elif match := _NAMES.fullmatch(line.strip()):
            found.append((match[1].split(", "), match[2] or "", []))
    return [(names, kind, " ".join(words)) for names, kind, words in found]


def fields(cls):
    """Return (names, type, meaning) for the fields of a record, from the remarks beside them."""
    remarks = ModuleAnalyzer.for_module(cls.__module__).find_attr_docs()
    return [
        ([field], "", " ".join(remarks[cls.__qualname__, field]).strip())
        for field in inspect.get_annotations(cls)
        if (cls.__qualname__, field) in remarks
    ]


def table(entries):
    """Return the lines of a table of attributes."""
    kinds = any(kind for _, kind, _ in entries)
    lines = [".. list-table::", "   :class: attributes", "   :header-rows: 1", ""]
    for names, kind, meaning in [(["Attribute"], "Type", "Meaning"), *entries]:
        called = names if names == ["Attribute"] else [f"``{name}``" for name in names]
        cells = [", ".join(called), *([kind] if kinds else []), meaning]
        lines += [
            f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(map(_escaped, cells))
        ]
    return [*lines, ""]


def _escaped(text):
    return plain([text])[0].strip()


def escape_docstring(app, what, name, obj, options, lines):
    """Let docstrings be read as plain text; the attributes of a class become a table."""
    text = "\n".join(lines)
    section = _ATTRIBUTES.search(text) if what == "class" else None
    if section:
        before, after = text[: section.start()], text[section.end() :]
        # Two empty lines end the section before; napoleon then leaves the table alone.
        made = ["", "", *table(attributes(section[1])), ""]
        lines[:] = [*plain(before.splitlines()), *made, *plain(after.splitlines())]
        return
    lines[:] = plain(lines)
    if what == "class" and (entries := fields(obj)):
        first = next((i for i, line in enumerate(lines) if i and not line.strip()), len(lines))
        lines[first:first] = ["", *table(entries)]


def keep_property(app, what, name, obj, options, lines):
    """Give a property its words back: napoleon takes what stands before a colon for its type."""
    if what == "property" and ":type:" in "".join(lines):
        lines[:] = [*plain(inspect.getdoc(obj).splitlines()), ""]


def skip_fields(app, what, name, obj, skip, options):
    """Leave out the fields of records: they stand in the table."""
    documented = app.env.temp_data.get("autodoc:class")
    module = app.env.temp_data.get("autodoc:module")
    if what != "class" or not documented or not module:
        return None
    remarks = ModuleAnalyzer.for_module(module).find_attr_docs()
    return True if (documented, name) in remarks else None


def setup(app):
    """Register the directives."""
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)
    app.connect("autodoc-process-docstring", keep_property, priority=900)
    app.connect("autodoc-skip-member", skip_fields)
    app.add_directive("api-index", ApiIndex)
    app.add_directive("api-module", ApiModule)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
