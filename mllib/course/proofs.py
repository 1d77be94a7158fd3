r"""Certificates: statements that a machine decides for all values at once, not on a sample.

Three forms, each over a library that is kept by others:

- ``for_all(variables, given, then)``: Z3 decides polynomial and piecewise statements on real or
  whole numbers;
- ``on_box(f, box)``: ball arithmetic (Arb) and bisection show ``f > 0`` on a closed box;
- ``identity(a, b)``: SymPy shows that two rational expressions are the same.

A claim takes each together with its refutation, the statement without one hypothesis or with a
sharper constant, for which the same tool has to find a counterexample:

    w, x = reals("w1 w2"), reals("x1 x2")
    c.proves(r"$\|w+x\|^2 \le \|w\|^2+\|x\|^2$ for all $w, x \in \mathbb R^2$ with $w^Tx \le 0$",
             for_all([*w, *x], given=[dot(w, x) <= 0], then=grown <= both),
             without=r"without $w^Tx \le 0$", refuted=for_all([*w, *x], [], then=grown <= both))

What decides is a count of steps, never a clock, so the answer is the same on every machine.
Only notebooks need the three libraries; each is imported when it is first used.
"""

from collections import deque
from fractions import Fraction
from importlib.metadata import version
from typing import NamedTuple

__all__ = [
    "Decision",
    "Phi",
    "exp",
    "for_all",
    "identity",
    "integers",
    "log",
    "on_box",
    "reals",
    "sqrt",
]

STEPS = 40_000_000  #: of Z3, for one question: some seconds
BOXES = 20_000  #: of one bisection


class Decision(NamedTuple):
    """What a certificate found.

    Attributes
    ----------
    counterexample : str
        A point at which the statement is false, in fractions; empty if it is proved.
    tool : str
        What decided, its version, and how many boxes or entries it took.
    """

    counterexample: str
    tool: str


class Undecided(ArithmeticError):
    """Raised when a tool reaches its limit, or when nothing satisfies what is given."""


def reals(names):
    """Return a Z3 variable for each name: ``w1, w2 = reals("w1 w2")``."""
    import z3

    return tuple(z3.Reals(names))


def integers(names):
    """Return a Z3 variable on the whole numbers for each name."""
    import z3

    return tuple(z3.Ints(names))


def for_all(variables, given, then):
    """Certify that ``then`` is true for all values of the variables that satisfy ``given``.

    Parameters
    ----------
    variables : list of Z3 variables, from ``reals`` or ``integers``
    given : list of Z3 conditions, all of them assumed; at least one point must satisfy them
    then : a Z3 condition, or a list of them, all of which are to hold
    """

    def decide():
        import z3

        tool = f"Z3 {version('z3-solver')}"
        goal = z3.And(*then) if isinstance(then, (list, tuple)) else then

        def solved(*conditions):
            asked, solver = z3.Solver(), z3.Solver(ctx=z3.Context())
            asked.add(*conditions)
            solver.from_string(asked.sexpr())  # the text alone decides, not when Python made what
            solver.set("rlimit", STEPS)
            answer = solver.check()
            if answer == z3.unknown:
                raise Undecided(f"{tool} did not decide within {STEPS} steps")
            if answer == z3.unsat:
                return None
            model, there = solver.model(), solver.ctx
            value = {v: model.eval(v.translate(there), model_completion=True) for v in variables}
            return {v: number.translate(v.ctx) for v, number in value.items()}

        if given and solved(*given) is None:
            raise Undecided("nothing satisfies what is given")
        point = solved(*given, z3.Not(goal))
        if point is None:
            return Decision("", tool)
        false = z3.And(*given, z3.Not(goal))
        for v in variables:  # as short a fraction as leaves it a counterexample
            for candidate in _nearby(point[v]):
                there = [(u, candidate if u is v else value) for u, value in point.items()]
                if z3.is_true(z3.simplify(z3.substitute(false, *there))):
                    point[v] = candidate
                    break
        return Decision(", ".join(f"{v} = {value}" for v, value in point.items()), tool)

    return decide


def _nearby(value):
    """Yield fractions near a number of Z3, those of small denominator first."""
    import z3

    if z3.is_int(value):
        return
    exact = value if z3.is_rational_value(value) else value.approx(20)
    number = Fraction(exact.numerator_as_long(), exact.denominator_as_long())
    for largest in (1, 2, 3, 5, 10, 100, 10_000):
        near = number.limit_denominator(largest)
        yield z3.Q(near.numerator, near.denominator)


def on_box(f, box):
    """Certify that ``f`` is positive on a closed box, by ball arithmetic, slopes and bisection.

    Parameters
    ----------
    f : callable of the variables by name; sums, products, quotients and powers of them, whole
        numbers, and the functions ``exp``, ``log``, ``sqrt`` and ``Phi`` of this module
    box : dict, such as ``{"g": ("1/100", "1/2")}``: the least and the largest value of each
    """

    def decide():
        from flint import arb, arb_series, fmpq

        def value(sides):
            return f(**dict(zip(box, sides)))

        def positive(balls, middle):
            """Is f above 0, by its values or by its slopes around the middle?"""
            if value(balls) > 0:
                return True
            least = arb() + value(middle)
            for k, side in enumerate(balls):
                moving = [*balls[:k], arb_series([side, 1], 2), *balls[k + 1 :]]
                try:
                    least += (arb_series([0], 2) + value(moving))[1] * (side - middle[k])
                except (ValueError, ZeroDivisionError):  # a root or a quotient of what holds 0
                    return False
            return least > 0

        def number(text):
            exact = Fraction(text)
            return fmpq(exact.numerator, exact.denominator)

        first = [tuple(number(end) for end in ends) for ends in box.values()]
        waiting, boxes = deque([first]), 0
        while waiting:
            sides = waiting.popleft()
            boxes += 1
            if boxes > BOXES:
                raise Undecided(f"ball arithmetic did not decide with {BOXES} boxes")
            middle = [(low + high) / 2 for low, high in sides]
            points = [arb(number) for number in middle]
            if positive([arb(low).union(arb(high)) for low, high in sides], points):
                continue
            if value(points) <= 0:
                point = ", ".join(f"{name} = {value}" for name, value in zip(box, middle))
                return Decision(point, _arb(boxes))
            shares = [(h - l) / (b - a) if b > a else 0 for (l, h), (a, b) in zip(sides, first)]
            k = shares.index(max(shares))
            for half in ((sides[k][0], middle[k]), (middle[k], sides[k][1])):
                waiting.append([*sides[:k], half, *sides[k + 1 :]])
        return Decision("", _arb(boxes))

    return decide


def _arb(boxes):
    return f"Arb, python-flint {version('python-flint')}, {boxes} box{'es' * (boxes > 1)}"


def exp(x):
    """Return the exponential of a ball."""
    return _ball(x).exp()


def log(x):
    """Return the natural logarithm of a ball."""
    return _ball(x).log()


def sqrt(x):
    """Return the square root of a ball; of one that rounding takes below 0, of what is not."""
    x = _ball(x)
    return x.nonnegative_part().sqrt() if hasattr(x, "nonnegative_part") and not x < 0 else x.sqrt()


def Phi(x):
    """Return the standard normal distribution function of a ball."""
    return (-_ball(x) / _ball(2).sqrt()).erfc() / 2


def _ball(x):
    from flint import arb, arb_series

    return x if isinstance(x, (arb, arb_series)) else arb(x)


def identity(a, b):
    """Certify that two expressions are equal as rational functions of all their symbols.

    Parameters
    ----------
    a, b : SymPy expressions, or matrices or (nested) lists of as many of them
    """

    def decide():
        import sympy

        left, right = ([sympy.sympify(e) for e in _entries(side)] for side in (a, b))
        if len(left) != len(right):
            raise ValueError(f"identity compares {len(left)} entries with {len(right)}.")
        symbols = sorted(set().union(*(e.free_symbols for e in left + right)), key=str)
        for one, other in zip(left, right):
            numerator, _ = sympy.fraction(sympy.together(one - other))
            if not numerator.is_polynomial(*symbols):
                raise Undecided(f"{numerator} is no polynomial")
            difference = sympy.Poly(numerator, *symbols, domain="QQ") if symbols else numerator
            if difference != 0:
                return Decision(_differing(one - other, symbols), _sympy(len(left)))
        return Decision("", _sympy(len(left)))

    return decide


def _entries(side):
    if hasattr(side, "tolist"):
        side = side.tolist()
    return [e for part in side for e in _entries(part)] if isinstance(side, list) else [side]


def _sympy(entries):
    return f"SymPy {version('sympy')}, {entries} identit{'y' if entries == 1 else 'ies'}"


def _differing(expression, symbols):
    """Return a point, of small whole numbers, at which an expression is not 0."""
    import sympy

    numbers = (lambda start, k: start + k, lambda start, k: start + k**2, lambda s, k: (s + k) ** 2)
    for start, number in ((start, number) for start in range(1, 50) for number in numbers):
        point = {symbol: sympy.Integer(number(start, k)) for k, symbol in enumerate(symbols)}
        value = expression.subs(point)
        if value.is_finite and value != 0:
            return ", ".join(f"{symbol} = {number}" for symbol, number in point.items())
    raise Undecided("the two sides differ, but at none of the points that were tried")
