"""Claims: they show what they checked, and fail by name on every kind of fault."""

import subprocess
import sys

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from mllib.course.claims import ClaimFailure, claim
from mllib.course.plain import readable


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


@pytest.mark.parametrize("verdict", ["holds", "contrast"])
def test_one_false_case_fails_with_the_name_and_the_count(verdict):
    with pytest.raises(
        ClaimFailure, match=rf"^a-b \[{verdict}\] text: 1 of 3 cases fail, the first at \[1\]\.$"
    ):
        with claim("a-b") as c:
            c.holds("fine", True)
            getattr(c, verdict)("text", [True, False, True])


def test_a_claim_that_fails_shows_its_whole_card(capsys):
    with pytest.raises(ClaimFailure) as failure, claim("a-b") as c:
        c.holds("first", [True, False])
        c.tight("ratio", 0.3, at_least=0.5)
        c.necessary("without H2: nothing is as it was", False)
        c.necessary("without a roof: rain", [True, False])
        c.contrast("last", True)
    said = [
        "first: 1 of 2 cases fail, the first at [1]",
        "ratio: 0.3: expected a ratio in [0.5, 1]",
        "without H2: nothing is as it was: "
        "the statement did not fail although H2 was dropped (it is false)",
        "without a roof: rain: the statement did not fail although its hypothesis was dropped "
        "(1 of 2 cases fail, the first at [1])",
    ]
    lines = [f"  FAILS      {line}\n" for line in said]
    assert capsys.readouterr().out == "".join(["a-b\n", *lines, "  contrast   last\n"])
    kinds = "holds", "tight", "necessary", "necessary"
    assert str(failure.value) == "\n".join(
        f"a-b [{kind}] {line}." for kind, line in zip(kinds, said, strict=True)
    )


def test_an_error_after_a_failure_shows_the_card_first(capsys):
    with pytest.raises(ZeroDivisionError), claim("a-b") as c:
        c.holds("text", False)
        1 / 0
    assert capsys.readouterr().out == "a-b\n  FAILS      text: it is false\n"


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


def test_the_first_failing_case_is_named_by_its_index_and_its_condition():
    cases = np.ones((3, 4), dtype=bool)
    cases[1, 2] = cases[2, 0] = False
    with pytest.raises(ClaimFailure, match=r"2 of 12 cases fail, the first at \[1, 2\]\.$"):
        with claim("a-b") as c:
            c.holds("text", cases)
    with pytest.raises(ClaimFailure, match=r"\[holds\] x <= 1: it is false in condition 2\.$"):
        with claim("a-b") as c:
            c.holds(r"$x \le 1$", True, 2 > 3)


def test_formulas_are_printed_in_plain_characters(capsys):
    with claim("a-b") as c:
        c.holds(r"$k \le R^2\|w^*\|^2/\gamma^2$ on 200 samples", True)
    assert capsys.readouterr().out == "a-b\n  holds      k <= R^2|w^*|^2/γ^2 on 200 samples\n"


def test_dollars_come_in_pairs():
    with pytest.raises(ValueError, match="pairs"), claim("a-b") as c:
        c.holds("it costs $5", True)


@pytest.mark.parametrize(
    ("tex", "plain"),
    [
        (r"\hat\theta \le \frac{a+b}{2}", "θ\u0302 <= (a+b)/2"),
        (r"\hat w = \bar{x}_n", "ŵ = x\u0304_n"),
        (r"\tfrac12\|w\|^2", "1/2|w|^2"),
        (r"x_i^\top w \in \mathbb{R}^d", "x_i^T w in R^d"),
        (r"x_{i+1}, A^{-1}, e^{-x}", "x_(i+1), A^-1, e^-x"),
        (r"2^n\log p\ne\sqrt{\log n}", "2^n log p != sqrt(log n)"),
        (r"\left(\frac{\log n}{n}\right)", "((log n)/n)"),
        (r"\{1,\dots,n\}", "{1,...,n}"),
        (r"\lambda_{\max}\,\Sigma\succeq 0", "λ_max Σ succeq 0"),
        (r"\Pr(|Y - \mathbb{E}Y| \ge \epsilon)", "Pr(|Y - EY| >= ε)"),
        (r"\frac{a", "a/()"),
        (r"2\sqrt n", "2 sqrt(n)"),
    ],
)
def test_simple_tex_reads_as_plain_text(tex, plain):
    assert readable(f"so ${tex}$.") == f"so {plain}."


@pytest.fixture(scope="module")
def shown():
    """Run two cells in a kernel; give their outputs."""
    cells = [
        "from mllib.course.claims import claim\n"
        "with claim('a-b', 'c-d') as c:\n"
        "    c.holds(r'all |w*| in [0, 1]: $w_1^2 \\le 1$', [True, True], True)\n"
        "    c.contrast('a<b> and `c`', True)",
        "import numpy as np\nleft, right = np.array([1.0, 6.0]), [5, 5]\n"
        "with claim('a-b') as c:\n    c.holds('text', left <= np.abs(right))\n"
        "    c.contrast('drawn', np.random.random(2) > 2)\n    c.contrast('two', True)",
    ]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    NotebookClient(made, kernel_name="python3", allow_errors=True).execute()
    return [cell.outputs for cell in made.cells]


def test_a_notebook_shows_one_output_in_two_forms(shown):
    assert [output.output_type for output in shown[0]] == ["display_data"]
    assert shown[0][0].data == {
        "text/plain": "a-b\nc-d\n"
        "  holds      all |w*| in [0, 1]: w_1^2 <= 1\n"
        "  contrast   a<b> and `c`",
        "text/markdown": "`a-b` `c-d`\n\n"
        r"- **holds** all \|w\*\| in \[0, 1\]: $w_1^2 \le 1$ *(3 checks)*"
        "\n"
        r"- **contrast** a\<b\> and `c`",
    }


def test_a_notebook_shows_the_card_and_says_in_one_line_what_fails(shown):
    card, output = shown[1]
    assert card.data["text/markdown"].splitlines()[4:7] == [
        r"- **✗ holds fails:** text — **1 of 2 cases fail, the first at \[1\]: "
        "`left` = 6, `np.abs(right)` = 5**",
        r"- **✗ contrast fails:** drawn — **2 of 2 cases fail, the first at \[0\]**",
        "- **contrast** two",
    ]
    assert card.data["text/markdown"].startswith('<div style="border-left')
    assert output.ename == "ClaimFailure"
    assert "left" in output.evalue
    assert output.traceback == ["ClaimFailure: a-b: 2 of 3 verdicts failed: the card says where."]


def test_nothing_of_ipython_is_loaded_outside_a_notebook():
    code = (
        "import sys\nfrom mllib.course.claims import claim\n"
        "with claim('a-b') as c:\n    c.holds('text', True)\n"
        "print('IPython' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "a-b\n  holds      text\nFalse\n"
