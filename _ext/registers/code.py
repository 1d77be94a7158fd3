"""What code says about itself: its claims, and the names of ``mllib`` that it uses."""

import ast
import functools
import re
from collections import defaultdict
from pathlib import Path

_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")


def claims_at(source):
    """Return the claims in Python ``source`` as a list of (names, problem, line)."""
    found = []
    for call in ast.walk(parsed(source)):
        if not isinstance(call, ast.Call):
            continue
        called = (
            call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        )
        if called != "claim":
            continue
        literal = [
            a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
        ]
        problem = (
            "" if literal and len(literal) == len(call.args) else "its names must be written out"
        )
        found.append((tuple(literal), problem, call.lineno))
    return found


@functools.cache
def parsed(source):
    """Parse a code cell; lines of IPython magic are blanked."""
    lines = ["" if re.match(r"\s*[%!?]", line) else line for line in source.splitlines()]
    try:
        return ast.parse("\n".join(lines))
    except SyntaxError:
        return ast.parse("")


@functools.cache
def imported(source):
    """Return {local name: dotted name} for what ``source`` imports from mllib, the course apart."""
    return _imports(parsed(source))


def _imports(tree):
    local = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mllib":
            for alias in node.names:
                local[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("mllib.") and alias.asname:
                    local[alias.asname] = alias.name
    return {name: dotted for name, dotted in local.items() if not dotted.startswith("mllib.course")}


def after(source, local):
    """Return what the local names stand for once ``source`` has run: {local name: dotted name}.

    An object that a class of mllib made, or one of its methods returned, stands for that class:
    after ``die = FiniteSpace.uniform(faces)``, a claim that calls ``die.prob`` uses FiniteSpace.
    """
    local = local | imported(source)
    for node in parsed(source).body:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            made, root = "", node.value
            while isinstance(root, (ast.Call, ast.Attribute)):
                root = root.func if isinstance(root, ast.Call) else root.value
            if isinstance(target, ast.Name) and isinstance(root, ast.Name):
                made = local.get(root.id, "")
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    local.pop(name.id, None)
                    if _CLASS.fullmatch(made.rpartition(".")[2]):
                        local[name.id] = made
    return local


def used(tree, local):
    """Return the dotted mllib names that the syntax ``tree`` uses, in order, given its imports."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            chain, value = [node.attr], node.value
            while isinstance(value, ast.Attribute):
                chain.insert(0, value.attr)
                value = value.value
            if isinstance(value, ast.Name):
                dotted = local.get(value.id, "")
                if dotted.count(".") == 1:  # a module under a local name
                    names.append((node.lineno, node.col_offset, f"{dotted}.{chain[0]}"))
                elif value.id == "mllib" and len(chain) > 1 and chain[0] != "course":
                    names.append((node.lineno, node.col_offset, ".".join(["mllib", *chain[:2]])))
        elif isinstance(node, ast.Name) and local.get(node.id, "").count(".") >= 2:
            names.append((node.lineno, node.col_offset, local[node.id]))
    return tuple(dict.fromkeys(name for _, _, name in sorted(names)))


@functools.cache
def names_tested(folder):
    """Return {dotted mllib name: [file::test, ...]} for the test functions in ``folder``."""
    found = defaultdict(list)
    for path in sorted(Path(folder).glob("**/test_*.py")):
        for name, function in _tests_in(path.read_bytes()):
            found[name].append(f"{path.name}::{function}")
    return dict(found)


def _tests_in(source):
    """Return [(dotted mllib name, test function that uses it), ...] for one file of tests."""
    pairs, tree = [], ast.parse(source)
    local = _imports(tree)
    for node in tree.body:
        for function in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(function, ast.FunctionDef) and function.name.startswith("test_"):
                pairs += [(name, function.name) for name in used(function, local)]
    return pairs
