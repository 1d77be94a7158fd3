"""Small changes of a function, one at a time: what ``tests/mutants.py`` breaks.

A change is a place in the syntax tree and what stands there instead. Docstrings, messages, checks
of the input and tolerances of at most 1e-6 are left alone, and so is what cannot change a value.
"""

import ast
import re
from fractions import Fraction
from typing import NamedTuple

ARITHMETIC = {ast.Add: "Sub", ast.Sub: "Add", ast.Mult: "Div", ast.Div: "Mult"}
ARITHMETIC |= {ast.FloorDiv: "Mult", ast.Mod: "FloorDiv", ast.BitAnd: "BitOr", ast.BitOr: "BitAnd"}
COMPARISONS = {ast.Lt: ("LtE", "GtE"), ast.LtE: ("Lt", "Gt"), ast.Gt: ("GtE", "LtE")}
COMPARISONS |= {ast.GtE: ("Gt", "Lt"), ast.Eq: ("NotEq",), ast.NotEq: ("Eq",)}
COMPARISONS |= {ast.Is: ("IsNot",), ast.IsNot: ("Is",), ast.In: ("NotIn",), ast.NotIn: ("In",)}
PAIRS = ["min max", "minimum maximum", "argmin argmax", "any all", "floor ceil", "nanmin nanmax"]
SWAPPED = {a: b for pair in PAIRS for a, b in (pair.split(), pair.split()[::-1])}
#: Functions of one argument that may be left out, and those whose arguments commute.
LEFT_OUT = {"sqrt", "log", "exp", "abs", "square", "log1p", "expm1", "safe_log", "sorted", "sort"}
COMMUTE = {*SWAPPED, "add", "multiply", "array_equal", "allclose", "isclose", "zip", "hypot", "gcd"}
COMMUTE |= {"where", "isinstance", "getattr", "hasattr", "logaddexp", "issubclass", "setattr"}
CHECKS = re.compile(r"_?check_\w+|convergence_warning|warn|as_array|errstate|asarray|Unpickler")
KEYWORDS = {"dtype", "kind", "check_finite", "overwrite_a", "overwrite_b", "copy", "out", "order"}
SMALL = 1e-6


class Change(NamedTuple):
    """One change: ``new`` instead of what stands in ``field`` (at ``index``) of ``parent``."""

    function: str
    line: int
    text: str  #: before -> after
    parent: ast.AST
    field: str
    index: int | None
    new: object
    span: tuple  #: first and last line of the statement it stands in

    def old(self):
        """Return what stands there now."""
        value = getattr(self.parent, self.field)
        return value if self.index is None else value[self.index]

    def make(self):
        """Make the change in the tree; return what undoes it."""
        if self.index is None:
            old = getattr(self.parent, self.field)
            setattr(self.parent, self.field, self.new)
            return lambda: setattr(self.parent, self.field, old)
        items = getattr(self.parent, self.field)
        old = items[self.index]
        items[self.index] = self.new
        return lambda: items.__setitem__(self.index, old)


def zero(value):
    """Return a value of the same kind that is zero, false or empty of meaning."""
    if hasattr(value, "dtype"):
        return value * 0 if value.dtype != bool else value & False
    if isinstance(value, (list, tuple)):
        made = [zero(v) for v in value]
        if all(new is old for new, old in zip(made, value)):
            return value
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return type(value)(0) if isinstance(value, (bool, int, float, complex, Fraction)) else value


def functions(tree):
    """Return the functions and methods of a module by qualified name."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        for inner in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(inner, ast.FunctionDef):
                found[f"{node.name}.{inner.name}"] = inner
    return {k: f for k, f in found.items() if not CHECKS.fullmatch(f.name)}


def records(tree):
    """Return the names of a module's records."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {
        c.name
        for c in classes
        if "NamedTuple" in map(ast.unparse, c.bases)
        or any("dataclass" in ast.unparse(d) for d in c.decorator_list)
    }


def called(node):
    """Return the last name of what a call calls."""
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def left_alone(parent, field, child):
    """Whether this part is not changed: docstrings, checks, messages, signatures."""
    if field in ("decorator_list", "returns", "annotation", "args") and not isinstance(
        parent, ast.Call
    ):
        return True
    if isinstance(child, (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(child, ast.If):
        return all(isinstance(s, ast.Raise) for s in child.body)
    if isinstance(child, ast.keyword):
        return child.arg in KEYWORDS
    if isinstance(child, (ast.Expr, ast.Assign)):
        whole = child.value
        return (isinstance(whole, ast.Constant) and isinstance(whole.value, str)) or (
            bool(CHECKS.fullmatch(called(whole)))
        )
    return bool(CHECKS.fullmatch(called(child)))


def cut(before, after):
    """Return ``before  ->  after`` without the most of what long texts have in common."""
    start = next((k for k, (a, b) in enumerate(zip(before, after)) if a != b), 0)
    start = max(0, start - 24) if len(before) > 60 else 0
    end = max(len(before), len(after)) > 60
    both = [("..." if start else "") + s[start:] for s in (before, after)]
    return "  ->  ".join(s if not end or len(s) < 64 else s[:60] + "..." for s in both)


def numbers(value):
    """Return other numbers for a number; none for a tolerance."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return {0: [1], 1: [0, 2]}.get(value, [value + 1])
    if isinstance(value, float) and (value == 0 or abs(value) > SMALL):
        return [2 * value if value else 1.0]
    return []


def operations(node):
    """Return what may stand instead of an operation or a comparison."""
    if isinstance(node, ast.BinOp):
        left, op, right = node.left, type(node.op), node.right
        if any(isinstance(s, (ast.JoinedStr, ast.List)) for s in (left, right)):
            return
        if op in ARITHMETIC:
            yield ast.BinOp(left, getattr(ast, ARITHMETIC[op])(), right)
        if op in (*ARITHMETIC, ast.Pow) and not isinstance(left, ast.Constant):
            yield left
        if op in (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr) and not isinstance(right, ast.Constant):
            yield right
        if op is ast.Sub:
            yield ast.UnaryOp(ast.USub(), right)
    elif isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            for name in COMPARISONS[type(op)]:
                ops = [*node.ops[:k], getattr(ast, name)(), *node.ops[k + 1 :]]
                yield ast.Compare(node.left, ops, node.comparators)
    elif isinstance(node, ast.BoolOp):
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield ast.BoolOp(other, node.values)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
        if isinstance(node.operand, ast.Constant):
            yield from (ast.UnaryOp(node.op, ast.Constant(n)) for n in numbers(node.operand.value))
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)


def calls(node, kinds):
    """Return what may stand instead of a call: arguments or functions swapped, fields zero."""
    name, args = called(node), node.args
    if any(isinstance(a, ast.Starred) for a in args):
        args = []
    if name == "where" and len(args) == 3:
        yield ast.Call(node.func, [args[0], args[2], args[1]], node.keywords)
    if name not in COMMUTE and name not in kinds:
        for k in range(len(args) - 1):
            same = ast.dump(args[k]) == ast.dump(args[k + 1])
            if not same and (name, k) != ("clip", 0):  # which is the least of the greatest
                swapped = [*args[:k], args[k + 1], args[k], *args[k + 2 :]]
                yield ast.Call(node.func, swapped, node.keywords)
    if name in SWAPPED:
        other = SWAPPED[name]
        function = (
            ast.Attribute(node.func.value, other, ast.Load())
            if isinstance(node.func, ast.Attribute)
            else ast.Name(other, ast.Load())
        )
        yield ast.Call(function, node.args, node.keywords)
    if name in LEFT_OUT and len(args) == 1:
        yield args[0]
    if name in kinds:
        for k, a in enumerate(args):
            if not isinstance(a, ast.Constant):
                yield ast.Call(node.func, [*args[:k], nothing(a), *args[k + 1 :]], node.keywords)
        for k, word in enumerate(node.keywords):
            if not isinstance(word.value, ast.Constant):
                other = ast.keyword(word.arg, nothing(word.value))
                words = [*node.keywords[:k], other, *node.keywords[k + 1 :]]
                yield ast.Call(node.func, node.args, words)


def nothing(node):
    return ast.Call(ast.Name("__zero__", ast.Load()), [node], [])


def statements(node, bound):
    """Return what may stand instead of a statement; ``bound`` holds names that have a value."""
    if isinstance(node, ast.AugAssign):
        if type(node.op) in ARITHMETIC:
            yield ast.AugAssign(node.target, getattr(ast, ARITHMETIC[type(node.op)])(), node.value)
        yield ast.Pass()
    elif isinstance(node, (ast.Break, ast.Continue)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield ast.Pass()
    elif isinstance(node, ast.Assign):
        target = node.targets[0]
        if isinstance(target, ast.Attribute):
            yield ast.Assign(node.targets, nothing(node.value))
        elif isinstance(target, ast.Subscript) or (
            isinstance(target, ast.Name) and (target.id, node.lineno) in bound
        ):
            yield ast.Pass()
    elif isinstance(node, ast.If) and not isinstance(node.test, (ast.Compare, ast.UnaryOp)):
        yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        for k, part in enumerate(node.value.elts):
            if not isinstance(part, (ast.Constant, ast.Starred)):
                parts = [*node.value.elts[:k], nothing(part), *node.value.elts[k + 1 :]]
                yield ast.Return(ast.Tuple(parts, ast.Load()))


def head(node):
    """Return a node as text; of a branch only its condition."""
    if isinstance(node, ast.Pass):
        return "(dropped)"
    text = "if " + ast.unparse(node.test) if isinstance(node, ast.If) else ast.unparse(node)
    return re.sub(r"\s+", " ", text.replace("__zero__", "zero"))


def told(change):
    """Return the text of a change; of a number with the expression it stands in."""
    before, after, parent = change.old(), change.new, change.parent
    if not isinstance(before, ast.Constant) or not hasattr(parent, "_fields"):
        return cut(head(before), head(after))
    whole = head(parent)
    undo = change.make()
    changed = head(parent)
    undo()
    return cut(whole, changed)


def instead(node, kinds, bound):
    """Return all that may stand instead of a node."""
    if isinstance(node, ast.Constant):
        return [ast.Constant(n) for n in numbers(node.value)]
    if isinstance(node, ast.Call):
        return calls(node, kinds)
    if isinstance(node, ast.stmt):
        return statements(node, bound)
    return operations(node)


def span_of(statement):
    """Return the first and last line of a statement, or of its head if it has a body."""
    last = statement.body[0].lineno - 1 if hasattr(statement, "body") else statement.end_lineno
    return statement.lineno, max(statement.lineno, last)


def within(parent, function, kinds, bound, span=None):
    """Return the changes of all that stands below ``parent``."""
    for field, value in ast.iter_fields(parent):
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, child in items:
            if not isinstance(child, ast.AST) or left_alone(parent, field, child):
                continue
            lines = span_of(child) if isinstance(child, ast.stmt) else span
            for new in instead(child, kinds, bound):
                ast.fix_missing_locations(ast.copy_location(new, child))
                made = Change(function, child.lineno, "", parent, field, index, new, lines)
                yield made._replace(text=told(made))
            if not isinstance(getattr(child, "operand", None), ast.Constant):
                yield from within(child, function, kinds, bound, lines)


def ignored(node, function):
    """Return the changes that use the default of an argument whatever is passed."""
    a = node.args
    pairs = [
        *zip((a.posonlyargs + a.args)[::-1], a.defaults[::-1]),
        *zip(a.kwonlyargs, a.kw_defaults),
    ]
    for argument, default in pairs:
        if default is not None:
            new = ast.Assign([ast.Name(argument.arg, ast.Store())], default)
            both = ast.fix_missing_locations(ast.copy_location(new, node.body[0]))
            body = [both, *node.body]
            text = f"{argument.arg} ignored  ->  {ast.unparse(new)}"
            yield Change(function, argument.lineno, text, node, "body", None, body, None)


def changes(tree, wanted):
    """Return all changes of the functions ``wanted``, in the order of the text."""
    kinds, made = records(tree), []
    for name, node in functions(tree).items():
        if name not in wanted:
            continue
        stores = [
            (n.id, n.lineno)
            for n in ast.walk(node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        ]
        stores += [(a.arg, 0) for a in ast.walk(node.args) if isinstance(a, ast.arg)]
        bound = {(n, at) for n, at in stores for m, earlier in stores if m == n and earlier < at}
        made += ignored(node, name)
        body = ast.Module(node.body, [])  # the list itself: what is changed in it is changed there
        made += within(body, name, kinds, bound)
    found = {}
    for c in made:
        same = found.setdefault((c.function, c.line, c.text), [])
        same.append(c if not same else c._replace(text=f"{c.text}  (no. {len(same) + 1})"))
    return [c for same in found.values() for c in same]
