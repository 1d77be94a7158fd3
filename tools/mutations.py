"""Changes of a module, one at a time: what ``tools/mutants.py`` plants in its syntax tree."""

import ast
import builtins
import contextlib
import dataclasses
import re
from collections import namedtuple
from functools import partial
from numbers import Number

import numpy as np

HUMAN = ("argument ignored", "default moved", "field or attribute", "statistic, index, branch")
ARITHMETIC = {ast.Add: "Sub", ast.Sub: "Add", ast.Mult: "Div", ast.Div: "Mult"}
ARITHMETIC |= {ast.FloorDiv: "Mult", ast.Mod: "FloorDiv", ast.BitAnd: "BitOr", ast.BitOr: "BitAnd"}
COMPARISONS = "Lt LtE GtE, LtE Lt Gt, Gt GtE LtE, GtE Gt Lt, Eq NotEq, NotEq Eq, Is IsNot, IsNot Is"
COMPARISONS = {a: b for a, *b in map(str.split, (COMPARISONS + ", In NotIn, NotIn In").split(","))}
PAIRS = ["min max", "minimum maximum", "argmin argmax", "any all", "floor ceil"]
SWAPPED = {a: b for pair in PAIRS for a, b in (pair.split(), pair.split()[::-1])}
#: Functions that may be left out, and those whose arguments commute or are no values.
LEFT_OUT = {"sqrt", "log", "exp", "abs", "square", "log1p", "expm1", "sorted", "sort"}
COMMUTE = {*SWAPPED, "add", "multiply", "zip", "hypot", "logaddexp", "vdot", "squared_distance"}
COMMUTE |= {"max_abs", "isinstance", "getattr", "hasattr"}
CHECKS = re.compile(r"_?check_\w+|convergence_warning|warn|errstate|asarray")
STATISTICS = {"max": ("mean", "sum"), "mean": ("max", "sum"), "sum": ("mean", "max")}
#: One change: ``new`` instead of what stands in ``field`` (at ``index``) of the node ``parent``.
Change = namedtuple("Change", "kind function line text parent field index new")


def of_numbers(change):
    """Let a function of numbers and arrays change the entries of lists, tuples and records."""

    def changed(value):
        if isinstance(value, (list, tuple)):
            made = [changed(entry) for entry in value]
            same = all(new is old for new, old in zip(made, value))
            return value if same else getattr(value, "_make", type(value))(made)
        kind = getattr(getattr(value, "dtype", None), "kind", None)
        if kind not in tuple("biufc") and not isinstance(value, Number):
            return value
        made = change(value)
        return value if np.array_equal(made, value, equal_nan=True) else made

    return changed


TWISTS = {
    "zeroed": of_numbers(lambda v: np.zeros_like(v)[()] if hasattr(v, "dtype") else type(v)(0)),
    "doubled": of_numbers(lambda v: v if np.asarray(v).dtype == bool else v + v),
    "reversed": lambda v: v[::-1] if type(v) in (list, tuple) or getattr(v, "ndim", 0) else v,
    #: 0, 1, 2, ... in place of the indices of the best, as far as they reach
    "own": lambda v: np.minimum(np.arange(len(v)), v.max()) if np.ndim(v) == 1 else v,
    "rms": lambda v, **axis: np.sqrt(np.mean(np.square(v), **axis)),
    #: the mean size in place of each value
    "level": lambda v, **axis: 0 * np.abs(v) + np.mean(np.abs(v), **axis | {"keepdims": True}),
}
effects = set()  # of the twists in this process: whether there was anything to change


def twist(how, value, field=None, **named):
    """Twist a value, or a field of it, and note whether that is of a kind that can be changed."""
    old = getattr(value, field) if field else value
    made = TWISTS[how](old, **named)
    effects.add(made is not old and not np.array_equal(made, old))
    swap = getattr(value, "_replace", partial(dataclasses.replace, value))
    return swap(**{field: made}) if field else made


builtins.__twist__ = twist


def make(change):
    """Make a change in the tree it was found in; return the change that takes it back."""
    place = vars(change.parent) if change.index is None else getattr(change.parent, change.field)
    key = change.field if change.index is None else change.index
    old, place[key] = place[key], change.new
    return change._replace(new=old)


def twisted(how, node, words=()):
    """Return a node that calls a twist on another."""
    return ast.Call(ast.Name("__twist__", ast.Load()), [ast.Constant(how), node], list(words))


def functions(tree):
    """Return the functions and methods of a module by qualified name."""
    tops = [("", tree), *((f"{c.name}.", c) for c in tree.body if isinstance(c, ast.ClassDef))]
    found = {a + f.name: f for a, top in tops for f in top.body if isinstance(f, ast.FunctionDef)}
    return {name: f for name, f in found.items() if not CHECKS.fullmatch(f.name)}


def called(node):
    """Return the last name of what a call calls."""
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def shown(node):
    """Return a node as text; of a branch only its condition."""
    if isinstance(node, ast.Pass):
        return "(dropped)"
    text = "if " + ast.unparse(node.test) if isinstance(node, ast.If) else ast.unparse(node)
    text = re.sub(r"__twist__\('(\w+)', ", r"\1(", " ".join(text.split()))
    return text if len(text) <= 80 else text[:77] + "..."


def left_alone(parent, field, child):
    """Whether this part is not changed: docstrings, checks, messages, signatures."""
    value = child.value if isinstance(child, (ast.Expr, ast.Assign)) else child
    return (
        field in ("decorator_list", "returns", "annotation", "targets")
        or isinstance(child, (ast.arguments, ast.Raise, ast.Assert, ast.JoinedStr))
        or (isinstance(child, ast.If) and all(isinstance(s, ast.Raise) for s in child.body))
        or (isinstance(value, ast.Constant) and isinstance(value.value, str))
        or bool(CHECKS.fullmatch(called(value)))
    )


def places(parent):
    """Return ``(parent, field, index, node)`` of all that may be changed below a node."""
    for field, value in ast.iter_fields(parent):
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not left_alone(parent, field, child):
                yield parent, field, index, child
                yield from places(child)


def mechanical(node):
    """Return what may stand instead of a node after a slip of the hand."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        if not 0 < abs(value := node.value) <= 1e-6:  # a tolerance
            other = value + 1 if isinstance(value, int) else 2 * value or 1.0
            yield ast.Constant(not value if isinstance(value, bool) else other)
    elif isinstance(node, ast.BinOp) and not isinstance(node.left, ast.List):
        if type(node.op) in ARITHMETIC:
            yield ast.BinOp(node.left, getattr(ast, ARITHMETIC[type(node.op)])(), node.right)
        if not isinstance(node.op, ast.MatMult):
            yield node.left
    elif isinstance(node, ast.Compare):
        for name in COMPARISONS[type(node.ops[0]).__name__]:
            yield ast.Compare(node.left, [getattr(ast, name)(), *node.ops[1:]], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Call):
        name, args = called(node), node.args
        if name in SWAPPED:
            yield ast.Call(renamed(node.func, SWAPPED[name]), args, node.keywords)
        if name in LEFT_OUT and len(args) == 1:
            yield args[0]
        for k in range(len(args) - 1) if name not in COMMUTE and name.islower() else ():
            swapped = [*args[:k], args[k + 1], args[k], *args[k + 2 :]]
            if ast.dump(args[k]) != ast.dump(args[k + 1]):
                yield ast.Call(node.func, swapped, node.keywords)
    elif isinstance(node, (ast.Break, ast.Continue, ast.AugAssign, ast.Expr)):
        yield ast.Pass()
    elif isinstance(node, ast.Assign):
        used = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        if isinstance(node.targets[0], ast.Subscript) or ast.unparse(node.targets[0]) in used:
            yield ast.Pass()


def renamed(function, name):
    """Return another function of the same module, or another method of the same value."""
    return ast.Attribute(getattr(function, "value", ast.Name("np")), name, ast.Load())


def statistics(node):
    """Return what may stand instead of a statistic, of an index of the best, of a branch."""
    name, test = called(node), getattr(node, "test", None)
    if name in STATISTICS and len(node.args) < 2:
        words = [word for word in node.keywords if word.arg in ("axis", "keepdims")]
        for other in STATISTICS[name]:
            yield ast.Call(renamed(node.func, other), node.args, words)
        of = node.args[0] if node.args else node.func.value
        if name != "sum":
            yield twisted("rms", of, words)
        squared = isinstance(of, ast.BinOp) and isinstance(of.op, ast.Pow)
        if squared or called(of) == "square":
            root = of.left if squared else of.args[0]
            of = ast.Call(renamed(ast.Name("np"), "square"), [twisted("level", root, words)], [])
            yield ast.Call(renamed(ast.Name("np"), name), [of], node.keywords)
    elif name in ("argmin", "argmax"):
        yield from (twisted("zeroed", node), twisted("own", node))
    elif isinstance(node, (ast.If, ast.IfExp)) and re.search(r"\bself\.", ast.unparse(test)):
        yield type(node)(ast.UnaryOp(ast.Not(), test), node.body, node.orelse)


def fields(node, known):
    """Return ``(text, new)``: a field of a returned record, a fitted attribute is twisted."""
    for how in ("zeroed", "doubled", "reversed"):
        if isinstance(node, ast.Return) and called(node.value) in known:
            for field in known[called(node.value)]:
                word = ast.keyword("field", ast.Constant(field))
                yield f"{field} {how}", ast.Return(twisted(how, node.value, [word]))
        for target in node.targets if isinstance(node, ast.Assign) else ():
            for part in getattr(target, "elts", [target]):
                if isinstance(part, ast.Attribute) and re.fullmatch(r"[a-z]\w*_", part.attr):
                    now = ast.Attribute(part.value, part.attr, ast.Load())
                    both = [node, ast.Assign([part], twisted(how, now))]
                    yield f"{ast.unparse(part)} {how}", ast.If(ast.Constant(1), both, [])


def arguments(node, options):
    """Return ``(kind, text, parent, field, index, new)``: an argument ignored, a default moved."""
    a, both = node.args, node.args.posonlyargs + node.args.args
    late = enumerate(zip(both[len(both) - len(a.defaults) :], a.defaults))
    held = [(x.arg, d, "defaults", k) for k, (x, d) in late]
    named = enumerate(zip(a.kwonlyargs, a.kw_defaults))
    held += [(x.arg, d, "kw_defaults", k) for k, (x, d) in named if d]
    instead = {name: default for name, default, *_ in held}
    for name in {x.arg for x in both} & {"sample_weight", "weights"}:
        instead.setdefault(name, ast.parse(f"np.ones_like({name})", mode="eval").body)
    read = {n.id for part in node.body for n in ast.walk(part) if isinstance(n, ast.Name)}
    for name, value in ((n, v) for n, v in instead.items() if n in read):
        body = [ast.Assign([ast.Name(name, ast.Store())], value), *node.body]
        yield HUMAN[0], f"{name} is {ast.unparse(value)}", node, "body", None, body
    for name, default, field, k in held:
        for new in moved(default, options.get(name, [])):
            text = f"default {name}={ast.unparse(default)}  ->  {new!r}"
            yield HUMAN[1], text, a, field, k, ast.Constant(new)


def moved(default, options):
    """Return other defaults: ten times and a tenth of a number, the next of the choices."""
    try:
        value = ast.literal_eval(default)
    except ValueError:
        return []
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        tenth = max(1, value // 10) if isinstance(value, int) else value / 10
        return sorted({10 * value, tenth} - {value}) if value else [type(value)(1)]
    options = [False, True] if isinstance(value, bool) else options
    others = options[options.index(value) + 1 :] + options if value in options else []
    return [other for other in others if other != value][:1]


def changes(tree, space):
    """Return all changes of a module, given its tree and what is in it."""
    kept, made, options = ("__dataclass_fields__", "_fields"), [], {}
    kinds = [(n, k, a) for n, k in space.items() if isinstance(k, type) for a in kept]
    known = {name: list(getattr(kind, a)) for name, kind, a in kinds if hasattr(kind, a)}
    for node in ast.walk(tree):
        if called(node) == "check_choice":
            with contextlib.suppress(NameError, AttributeError):  # they hang on what is passed
                options[node.args[1].value] = list(eval(ast.unparse(node.args[2]), dict(space)))
    for name, node in functions(tree).items():
        if name.endswith("__init__") or not name.split(".")[-1].startswith("_"):
            made += [Change(c[0], name, node.lineno, *c[1:]) for c in arguments(node, options)]
        for *where, part in places(ast.Module(node.body, [])):
            news = [("mechanical", "", new) for new in mechanical(part)]
            news += [(HUMAN[2], text, new) for text, new in fields(part, known)]
            news += [(HUMAN[3], "", new) for new in statistics(part)]
            for kind, text, new in news:
                text = text or f"{shown(part)}  ->  {shown(new)}"
                made.append(Change(kind, name, part.lineno, text, *where, new))
    return made
