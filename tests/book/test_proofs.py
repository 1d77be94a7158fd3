"""Certificates: what is true of all values is proved, what is not is refuted by a point."""

import pytest
import sympy

from mllib.course import ClaimFailure, claim, for_all, identity, integers, on_box, reals
from mllib.course.proofs import Phi, Undecided, exp, log, sqrt

a, b = sympy.symbols("a b")
x, y = reals("x y")
(k,) = integers("k")
UNIT = {"p": ("0", "1")}


@pytest.mark.parametrize(
    "certificate",
    [
        for_all([x, y], [], 2 * x * y <= x * x + y * y),
        for_all([x], [x * x == 2, x > 0], [x > 1, x < 2]),
        for_all([k], [k * k <= 10], k <= 3),
        on_box(lambda p: exp(p) - p, UNIT),
        on_box(lambda g: exp(-2 * g * g) - sqrt(1 - 4 * g * g), {"g": ("1/100", "1/2")}),
        on_box(lambda p, q: log(1 + p + q) + 1 - p * q, {"p": ("0", "1"), "q": ("-1/2", "1")}),
        on_box(lambda p: exp(-p * p / 2) - 2 * (1 - Phi(p)), {"p": ("1/100", "8")}),
        on_box(lambda p: 2 / (p + 1) - sqrt(p) + p, {"p": ("0", "1000")}),
        identity((a + b) ** 2 / (a + b), a + b),
        identity(sympy.Matrix([[a, b], [b, a]]).det(), (a - b) * (a + b)),
        identity([[a, 1], [b, 2]], sympy.Matrix([[a, 1], [b, 2]])),
    ],
)
def test_what_is_true_is_proved(certificate):
    assert certificate().counterexample == ""


@pytest.mark.parametrize(
    ("certificate", "point"),
    [
        (for_all([x, y], [x + y == 1], 4 * x * y < 1), "x = 1/2, y = 1/2"),
        (for_all([x], [x >= 0, 3 * x <= 1], 3 * x != 1), "x = 1/3"),
        (for_all([k], [k * k <= 10], k != 3), "k = 3"),
        (on_box(lambda p: p * p + 1 - 2 * p, {"p": ("0", "2")}), "p = 1"),
        (on_box(lambda p: p * (1 - p) + exp(-20 * p) - 1, UNIT), "p = 1/2"),
        (identity((a + b) ** 2, a**2 + b**2), "a = 1, b = 2"),
        (identity([a, b], [a, a]), "a = 1, b = 2"),
        (identity(b, a + 1), "a = 1, b = 4"),
    ],
)
def test_what_is_false_is_refuted_at_a_point(certificate, point):
    assert certificate().counterexample == point


@pytest.mark.parametrize(
    ("certificate", "words"),
    [
        (for_all([x], [x * x < 0], x == 1), "nothing satisfies what is given"),
        (on_box(lambda p: p, {"p": ("0", "1/3")}), "p = 0|did not decide"),
        (on_box(lambda p: log(p - 2), UNIT), "did not decide with 20000 boxes"),
        (on_box(lambda p: sqrt(p - 2) + 1, UNIT), "did not decide with 20000 boxes"),
        (identity(sympy.sqrt(a), a), "no polynomial"),
    ],
)
def test_what_cannot_be_decided_is_no_proof(certificate, words):
    with pytest.raises(Undecided, match=words):
        certificate()


def test_a_proof_comes_with_its_refutation(capsys):
    square = for_all([x], [], x * x >= 0)
    with claim("a-b") as c:
        c.proves("squares", square, without="with 1", refuted=for_all([x], [], x * x >= 1))
    proved, refuted = capsys.readouterr().out.splitlines()[1:]
    assert proved.startswith("  proves     squares (Z3 ")
    assert refuted == "  refuted    with 1: false at x = 0"
    with pytest.raises(ClaimFailure, match=r"with 0: it is true all the same\.$"):
        with claim("a-b") as c:
            c.proves("squares", square, without="with 0", refuted=square)
    with pytest.raises(ClaimFailure, match=r"\[proves\] squares \(Z3 [\d.]+\): false at x = 0"):
        with claim("a-b") as c:
            c.proves("squares", for_all([x], [], x * x > 0), without="it", refuted=square)
    with pytest.raises(ClaimFailure, match=r"nothing satisfies what is given"):
        with claim("a-b") as c:
            c.proves("void", for_all([x], [x > x], x > 0), without="it", refuted=square)
