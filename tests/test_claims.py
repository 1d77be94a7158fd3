"""Claims: they print what they checked, and fail by name on every kind of fault."""

import numpy as np
import pytest

from mllib.course.claims import ClaimFailure, claim


def test_a_claim_prints_its_names_and_one_line_per_verdict(capsys):
    with claim("sums-commute", "sums-associate") as c:
        c.holds("a + b = b + a on 3 pairs", np.array([True, True, True]), True)
        c.tight("smaller over larger", 0.93456, at_least=0.9)
        c.necessary("differences do not", 1 - 2 != 2 - 1)
        c.contrast("products commute too", 2 * 3 == 3 * 2)
    assert capsys.readouterr().out == (
        "sums-commute\n"
        "sums-associate\n"
        "  holds      a + b = b + a on 3 pairs\n"
        "  tight      smaller over larger: 0.9346\n"
        "  necessary  differences do not\n"
        "  contrast   products commute too\n"
    )


@pytest.mark.parametrize("verdict", ["holds", "necessary", "contrast"])
def test_one_false_case_fails_with_the_name_and_the_count(verdict):
    with pytest.raises(ClaimFailure, match=rf"a-b \[{verdict}\] text: 1 of 3 cases fail"):
        with claim("a-b") as c:
            c.holds("fine", True)
            getattr(c, verdict)("text", [True, False, True])


@pytest.mark.parametrize("ratio", [0.4, 1.1, np.nan, -1.0])
def test_a_ratio_outside_the_promised_range_fails(ratio):
    with pytest.raises(ClaimFailure, match=r"a-b \[tight\]"), claim("a-b") as c:
        c.holds("fine", True)
        c.tight("ratio", ratio, at_least=0.5)


@pytest.mark.parametrize("condition", [[], np.array([], dtype=bool)])
def test_no_cases_is_a_fault(condition):
    with pytest.raises(ClaimFailure, match="no cases"), claim("a-b") as c:
        c.holds("text", condition)


@pytest.mark.parametrize("condition", [1, 0.5, "yes", [1, 0], None])
def test_only_true_and_false_count(condition):
    with pytest.raises(ClaimFailure, match="needs true or false"), claim("a-b") as c:
        c.holds("text", condition)


def test_checking_nothing_is_a_fault():
    with pytest.raises(ClaimFailure, match="given nothing to check"), claim("a-b") as c:
        c.holds("text")


def test_a_claim_without_holds_is_a_fault(capsys):
    with pytest.raises(ClaimFailure, match="never called holds"), claim("a-b") as c:
        c.necessary("text", True)
    assert capsys.readouterr().out == ""


def test_an_error_inside_a_claim_is_not_swallowed():
    with pytest.raises(ZeroDivisionError), claim("a-b"):
        1 / 0


@pytest.mark.parametrize("names", [(), ("single",), ("Upper-case",), ("a b",), (3,), ("a-b", "x_")])
def test_names_are_checked(names):
    with pytest.raises(ValueError, match="name of a result"):
        claim(*names)


@pytest.mark.parametrize("text", ["", "  ", "two\nlines"])
def test_a_verdict_is_one_line(text):
    with pytest.raises(ValueError, match="one non-empty line"), claim("a-b") as c:
        c.holds(text, True)


def test_at_least_must_be_positive():
    with pytest.raises(ValueError, match="at_least must be above 0"), claim("a-b") as c:
        c.tight("ratio", 0.5, at_least=0)
