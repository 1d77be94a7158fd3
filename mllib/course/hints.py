"""Three hints for a function, made from what the chapter and the library have of it."""

import ast
import inspect
import re
from importlib import import_module

from mllib.course.page import page

__all__ = ["docstring", "hints", "outline", "sentences", "source"]


#: The body of a function that is still to be written.
EMPTY = "    ...  # your code"


def source(module, name):
    """Return the source of a function of the library, its decorators left out, or of a class."""
    text, node = _written(module, name)
    marks = [mark.lineno for mark in node.decorator_list] if isinstance(node, ast.ClassDef) else []
    return "\n".join(text.splitlines()[min([node.lineno, *marks]) - 1 : node.end_lineno]) + "\n"


def _written(module, name):
    """Return the text of a module and the node of a function or class in it.

    They are read from its file: a student's function may stand in the place of the library's.
    """
    here = import_module(module)
    text = inspect.getsource(here)
    for node in ast.parse(text).body:
        if getattr(node, "name", None) == name:
            return text, node
    return _written(getattr(here, name).__module__, name)  # it is imported there


def statement_of(chapter, module, name):
    """Return the label of the statement that a function carries out, or None.

    Its docstring names it, or the page prints the function beneath it.
    """
    named = re.search(r"Book: ([\w-]+)", docstring(module, name))
    if named and named[1] in chapter.statements:
        return named[1]
    at = chapter.printed.get(name, (module, 0))[1]
    above = [label for label, s in chapter.statements.items() if label and s.at < at]
    return above[-1] if above else None


def docstring(module, name):
    """Return the docstring of a function."""
    return ast.get_docstring(_written(module, name)[1]) or ""


def hints(slug, module, name):
    """Return the equation, the step of the proof and the shape of the loop."""
    chapter, code = page(slug), source(module, name)
    label = statement_of(chapter, module, name)
    statement = chapter.statements.get(label)
    equations = [chapter.equation(found) for found in re.findall(r"\((eq-[\w-]+)\)", code)]
    given = [
        "The equation.\n\n"
        + ("\n\n".join(filter(None, equations)) or sentences(docstring(module, name)))
    ]
    if statement:
        what = (
            f"*{statement.title}* says what it does" if statement.title else "It carries this out"
        )
        given.append(f"The statement. {what}:\n\n{readable(statement.body)}")
        if statement.proof:
            steps = re.findall(r"\*\*(.+?)\*\*", statement.proof)
            strategy = readable(statement.proof.split("\n\n")[0])
            listed = "\n".join(f"- {step}" for step in steps)
            given[-1] += f"\n\nIts proof: {strategy}\n\n{listed}".rstrip()
    given.append(f"The shape of the loop.\n\n```python\n{outline(code)}\n```")
    return given


def sentences(doc):
    """Return what a docstring says before its parameters and examples."""
    doc = re.split(r"\n\n(?:Parameters|Returns|Examples|Attributes)\n-+\n|\nBook:", doc)[0]
    return doc.strip()


def readable(text):
    """Return text of a chapter without the roles that only the site knows."""
    text = re.sub(r"\{[\w:]+\}`([^`<]*?) ?<[^`]*>`", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\(#([\w-]+)\)", lambda m: m[1] or f"*{m[2]}*", text)
    text = re.sub(r"\{eq\}`([^`]*)`", r"(\1)", text)
    text = re.sub(r"(?m)^(\s*\$\$) \(eq-[\w-]+\)$", r"\1", text)
    return re.sub(r"\{[\w:]+\}`([^`]*)`", r"*\1*", re.sub(r"(?m)^:\w+:.*\n", "", text)).strip()


class _Outline(ast.NodeTransformer):
    """Keeps what is assigned, repeated and returned; what it is computed from becomes dots."""

    def visit_Assign(self, node):
        return ast.Assign(node.targets, ast.Constant(...), lineno=0)

    def visit_AugAssign(self, node):
        return ast.AugAssign(node.target, node.op, ast.Constant(...))

    def visit_If(self, node):
        self.generic_visit(node)
        return ast.If(ast.Constant(...), node.body, node.orelse)

    def visit_While(self, node):
        self.generic_visit(node)
        return ast.While(ast.Constant(...), node.body, node.orelse)

    def visit_Expr(self, node):
        return ast.Expr(ast.Constant(...))

    def visit_Return(self, node):
        called = isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
        value = ast.Call(node.value.func, [ast.Constant(...)], []) if called else ast.Constant(...)
        return ast.Return(value)


def outline(code):
    """Return the loops and the names of a function, without what it computes."""
    tree = ast.parse(code).body[0]
    body = tree.body[1:] if ast.get_docstring(tree) else tree.body
    tree.body = [_Outline().visit(part) for part in body if not is_door(part)] or [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(tree))


def is_door(node):
    """Whether a statement only checks what comes in."""
    text = ast.unparse(node)
    if isinstance(node, ast.If):
        return all(isinstance(part, ast.Raise) or is_door(part) for part in node.body)
    value = getattr(node, "value", None)
    return isinstance(value, ast.Call) and bool(re.match(r"(.* = )?_?check_\w+\(", text))
