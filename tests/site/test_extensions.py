"""The extensions of the site: each fault of a page is caught, and what they write is right."""

import re
import sys
from html import unescape
from pathlib import Path

import nbformat
import pytest
import small_site
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from _ext.pages import figures, formulas, reference  # noqa: E402
from _ext.registers import benchmarks, verdicts  # noqa: E402
from _ext.registers import code as codes  # noqa: E402
from mllib.course import claim as real_claim  # noqa: E402

PRINTED = "{}\n  holds      two and two make four in 3 cases\n  tight      largest ratio: 0.93\n"
SHOWN = "`{}`\n\n- **holds** two and two make four in 3 cases *(3 checks)*"
SHOWN += "\n- **tight** largest ratio: 0.93"
GOOD = 'with claim("{}") as c:\n    c.holds("two and two make four", add(2, 2) == 4)'

THEOREM = "```{{prf:theorem}} Sums\n:label: {0}\n\nFor all $a$: $a + 0 = a$.\n```"


def text(source):
    """A Markdown cell."""
    return nbformat.v4.new_markdown_cell(source)


def code(source, printed=None):
    """A code cell as it is stored after it ran."""
    outputs = [] if printed is None else [nbformat.v4.new_output("stream", text=printed)]
    return nbformat.v4.new_code_cell(source, outputs=outputs, execution_count=1)


def claim(name, *more, shown=None):
    """A claim cell that holds: it displays both forms."""
    names, quoted = [name, *more], '", "'.join([name, *more])
    cell = code(GOOD.format(quoted))
    shown = SHOWN.format("` `".join(names)) if shown is None else shown
    forms = {"text/plain": PRINTED.format("\n".join(names)), "text/markdown": shown}
    cell.outputs = [nbformat.v4.new_output("display_data", forms)]
    return cell


GOOD_PAGE = [
    text("# Sums"),
    code("from mllib.numerics import add"),
    text(THEOREM.format("sums-zero")),
    claim("sums-zero"),
    text("(sums-slip-target)=\nThe notes say five.\n\n(erratum-five)=\nIt is four."),
    claim("erratum-five"),
]
RESULTS = [{"id": "sums-zero", "chapter": "sums", "kind": "theorem", "title": "Sums"}]
ERRATA = [
    {
        "id": "five",
        "chapter": "sums",
        "source": "Some notes",
        "location": "Sect. 1",
        "severity": "wrong",
        "confidence": "medium",
        "original": "2 + 2 = 5",
    }
]


class Project:
    """A book of a few pages in a temporary folder."""

    def __init__(self, folder):
        self.folder = folder
        self.warnings = []

    def build(self, pages, register=RESULTS, errata=ERRATA):
        """Build the pages and return the warnings."""
        source = self.folder / "source"
        for name, cells in pages.items():
            path = source / "chapters" / "part" / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            notebook = nbformat.v4.new_notebook(cells=cells)
            notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
            notebook.metadata["language_info"] = {"name": "python"}
            nbformat.write(notebook, path)
        (source / "tests").mkdir(exist_ok=True)
        (source / "registers").mkdir(exist_ok=True)
        (source / "tests" / "test_sums.py").write_text(
            "from mllib.numerics import add\n\ndef test_add():\n    assert add(1, 1) == 2\n"
        )
        (source / "registers" / "results.yml").write_text(yaml.safe_dump(register))
        (source / "registers" / "errata.yml").write_text(yaml.safe_dump(errata))
        listed = "\n".join(f"chapters/part/{name}" for name in pages)
        (source / "index.md").write_text(
            f"# Book\n\n```{{toctree}}\n:caption: I Part\n{listed}\n"
            "chapters/results\nchapters/errata\n```\n"
        )
        for name, directive in (("results", "results-index"), ("errata", "errata-index")):
            (source / "chapters" / f"{name}.md").write_text(
                f"# {name.title()}\n\n```{{{directive}}}\n```\n\n```{{grading-table}}\n```\n"
            )
        self.warnings = small_site.build(self.folder, nitpicky=True)
        return self.warnings

    def page(self, name):
        """Return the HTML of a page."""
        return (self.folder / "html" / "chapters" / f"{name}.html").read_text(encoding="utf-8")

    def cards(self, name, claim):
        """Return the verdicts on the cards of a claim as (kind, text with its TeX)."""
        cell = self.page(name).partition(f'id="claim-{claim}"')[2].partition("<details")[0]
        return [
            [
                (kind, plain(text))
                for kind, text in re.findall(
                    r'<span class="verdict .*?">(.*?)</span> <span class="verdict-text">(.*?)</li>',
                    card,
                    re.DOTALL,
                )
            ]
            for card in cell.split('class="verdict-card')[1:]
        ]


@pytest.fixture
def project(tmp_path):
    """A project to build in."""
    return Project(tmp_path)


def plain(html):
    """Return the text of a piece of a page, formulas as TeX in dollars, code in backquotes."""
    for tex in map(unescape, re.findall(r"<annotation[^>]*>(.*?)</annotation>", html)):
        for held in (True, False):
            html = html.replace(formulas.typeset(tex, held=held), f"${tex}$")
    html = re.sub(r"<code[^>]*>(.*?)</code>", r"`\1`", html)
    return unescape(re.sub(r"<[^>]+>", "", html)).strip()


def only(warnings, pattern):
    """Assert that there is exactly one warning and that it says what it should."""
    assert len(warnings) == 1, warnings
    assert re.search(pattern, warnings[0]), warnings[0]


def test_a_good_page_builds_without_a_warning_and_fills_every_list(project):
    cells = [*GOOD_PAGE, text("```{results-table}\n```")]
    assert project.build({"sums": cells}) == []
    index, errata, page = project.page("results"), project.page("errata"), project.page("part/sums")
    entries = project.page("results/sums")
    assert 'href="results/sums.html#result-sums-zero"' in index
    assert 'href="../part/sums.html#sums-zero"' in entries
    assert 'id="result-sums-zero"' in entries
    assert "two and two make four in 3 cases" in entries
    assert "test_sums.py::test_add" in entries
    assert "katex" in entries
    assert 'href="part/sums.html#erratum-five"' in errata
    assert "as extracted" in errata
    assert page.count('class="claim-badge"') == page.count('class="verdict-card') == 2
    assert page.count("Verified: 4 checks were run") == 2
    assert 'href="../results/sums.html#result-sums-zero"' in page
    assert 'href="../errata.html#slip-five"' in page
    assert "results-table" in page
    assert "test_add" in page


def test_results_of_chapters_that_are_not_published_are_left_alone(project):
    more = {"id": "later-idea", "chapter": "later", "kind": "theorem", "title": "Idea"}
    slip = {**ERRATA[0], "id": "six", "chapter": "later"}
    assert project.build({"sums": GOOD_PAGE}, [*RESULTS, more], [*ERRATA, slip]) == []


def test_one_claim_may_verify_several_results(project):
    more = {"id": "sums-step", "chapter": "sums", "kind": "derivation", "title": "Step"}
    cells = [*GOOD_PAGE[:3], text("(sums-step)=\nAdd nothing."), claim("sums-zero", "sums-step")]
    assert project.build({"sums": [*cells, *GOOD_PAGE[4:]]}, [*RESULTS, more]) == []


def test_results_say_how_many_planted_faults_were_noticed_where_they_were_counted(project):
    assert project.build({"sums": GOOD_PAGE}) == []
    assert "lanted fault" not in project.page("results") + project.page("results/sums")
    score = {"tried": 15, "claims": 8, "tests": None, "alive": 7}
    block = {"mechanical": score, "mechanical by claim": {"sums-zero": 6}}
    path = project.folder / "source" / "registers" / "mutants.yml"
    path.write_text(
        yaml.safe_dump({"sums": block, "elsewhere": {"mechanical": score}}), encoding="utf-8"
    )
    card = "```{admonition} At a glance\n:class: chapter-card\n\n**Time:** a second to run.\n```"
    assert project.build({"sums": [GOOD_PAGE[0], text(card), *GOOD_PAGE[1:]]}) == []
    assert "<strong>Planted faults:</strong> 8 of 15 noticed." in project.page("part/sums")
    assert "6 planted faults caught" in project.page("results/sums")
    for page in ("results", "results/sums"):
        assert "Of 15 small mechanical changes" in project.page(page)
        assert "noticed 8 when they ran again (53\u00a0%); 7 stayed alive" in project.page(page)


def test_grading_that_was_tried_on_itself_is_told_with_what_it_does_not_refuse(project):
    card = "```{admonition} At a glance\n:class: chapter-card\n\n**Time:** a second to run.\n```"
    pages = {"sums": [GOOD_PAGE[0], text(card), *GOOD_PAGE[1:]]}
    assert project.build(pages) == []
    told = [project.page(name) for name in ("results", "results/sums", "part/sums")]
    assert "refused" not in "".join(told)
    add = {"tried": 1200, "refused": 1197, "passed": ["a < b  ->  a <= b"]}
    functions = {
        "add": add | {"no difference": ["0 -> 1", "x doubled"]},
        "sub": {"tried": 5, "refused": 5, "passed": [], "no difference": []},
    }
    answers = {"ex-a": {"kind": "value", "tried": 3, "refused": 2}, "ex-b": {"kind": "proof"}}
    register = {"sums": {"functions": functions, "exercises": answers}, "elsewhere": {}}
    path = project.folder / "source" / "registers" / "grading.yml"
    path.write_text(yaml.safe_dump(register), encoding="utf-8")
    pages["sums"].append(text("More."))
    assert project.build(pages) == []
    said = "1\u202f202 of 1\u202f205 wrong versions of its functions, 2 of 3 wrong answers refused."
    assert f"<strong>Grading:</strong> {said}" in project.page("part/sums")
    page = " ".join(plain(project.page("results/sums")).split())
    assert f"Grading: the right versions pass; {' '.join(said.split())}" in page
    assert "`add`, passes: `a < b -> a <= b`" in page
    assert "`add`, no difference on any input compared: `0 -> 1`, `x doubled`" in page
    assert "`ex-a`: 2 of 3 wrong answers refused" in page
    assert "`sub`" not in page
    table = project.page("results").partition("Exercises with a check")[2].partition("</table>")[0]
    told = ["1\u202f202 of 1\u202f205", "1", "2", "2 of 3", "1 of 2"]
    cells = [plain(cell) for cell in re.findall(r"<p>(.*?)</p>", table, re.DOTALL)]
    assert cells == ["Sums", *told, "All", *told]


def test_the_list_of_results_follows_a_change_of_a_chapter(project):
    project.build({"sums": GOOD_PAGE})
    changed = claim("sums-zero", shown="`sums-zero`\n\n- **holds** in 77 cases")
    project.build({"sums": [*GOOD_PAGE[:3], changed, *GOOD_PAGE[4:]]})
    assert "in 77 cases" in project.page("results/sums")


def test_a_link_to_a_chapter_in_a_statement_leads_there_from_the_entry_too(project):
    stated = text(THEOREM.format("sums-zero").replace("= a$.", "= a$ ({doc}`sums`)."))
    assert project.build({"sums": [*GOOD_PAGE[:2], stated, *GOOD_PAGE[3:]]}) == []
    assert re.search(
        r'href="\.\./part/sums\.html"><span class="doc">', project.page("results/sums")
    )


def test_what_rests_on_what_follows_references_in_statement_and_proof(project):
    register = [
        *RESULTS,
        {"id": "sums-two", "chapter": "sums", "kind": "lemma", "title": "Two"},
        {"id": "sums-proof", "chapter": "sums", "kind": "derivation", "title": "Proof of two"},
    ]
    proof = "```{prf:proof}\n:label: sums-proof\n\nBy {prf:ref}`sums-zero`.\n```"
    cells = [
        *GOOD_PAGE,
        text(THEOREM.format("sums-two").replace("theorem", "lemma")),
        text(proof),
        claim("sums-two", "sums-proof"),
    ]
    assert project.build({"sums": cells}, register) == []
    entries, _, drawn = plain(project.page("results/sums")).partition("Which result rests on which")
    assert re.search(r"Two.*Rests on:\s+Proof of two", entries, re.DOTALL)
    said = [line.strip() for line in drawn.splitlines() if "rests on" in line]
    assert re.search(r"Two\s+rests on Proof of two", drawn)
    assert re.search(r"Proof of two\s+rests on Sums", drawn), said
    assert project.page("results/sums").count("<svg") == 1


def test_statements_are_copied_without_their_ids_and_numbers(project):
    block = (
        "```{prf:theorem} Sums\n:label: sums-zero\n\nFor all $a$\n\n"
        "$$\na + 0 = a.\n$$ (eq-zero)\n\nas {eq}`eq-zero` says.\n```"
    )
    assert project.build({"sums": [*GOOD_PAGE[:2], text(block), *GOOD_PAGE[3:]]}) == []
    index = project.page("results/sums")
    assert 'id="sums-zero"' not in index
    assert 'id="equation-eq-zero"' not in index
    assert 'href="../part/sums.html#equation-eq-zero"' in index


MORE = {"id": "more-sums", "chapter": "more", "kind": "theorem", "title": "More"}
MORE_PAGE = [
    text("# More"),
    GOOD_PAGE[1],
    text(THEOREM.format("more-sums").replace("For all", "By {prf:ref}`sums-zero`, for all")),
    claim("more-sums"),
]


def test_entries_follow_what_they_show_of_other_chapters(project):
    pages = {"sums": GOOD_PAGE, "more": MORE_PAGE}
    project.build(pages, [*RESULTS, MORE])
    path = project.folder / "html" / "chapters" / "results" / "more.html"
    assert re.search(r"More\s+rests on Sums", plain(path.read_text()))
    project.build(pages, [RESULTS[0] | {"title": "Of sums"}, MORE])
    assert re.search(r"More\s+rests on Of sums", plain(path.read_text()))
    project.build(pages | {"sums": [text("# Adding"), *GOOD_PAGE[1:]]}, [*RESULTS, MORE])
    assert "Results: Adding" in path.read_text()  # where the link to the page before leads


def test_the_chapters_are_drawn_with_what_they_rest_on(project):
    register = [*RESULTS, MORE]
    assert project.build({"sums": GOOD_PAGE, "more": MORE_PAGE}, register) == []
    index = project.page("results")
    assert index.count("<svg") == 1
    assert '<a href="results/more.html">More</a>' in index
    said = re.findall(r'class="map-needs">(.*?)<', index)
    assert said == ["rests on nothing before it", "rests on Sums"]
    other = project.page("results/more")
    assert 'href="sums.html#result-sums-zero"' in other
    assert 'href="#result-more-sums"' in other


# Mathematics ---


def test_a_formula_that_does_not_parse_fails_with_file_cell_and_line(project):
    cells = [*GOOD_PAGE, text("One line.\n\nThen $\\frac{1$ here.")]
    only(project.build({"sums": cells}), r"sums\.ipynb:70004: WARNING: formula does not parse")


@pytest.mark.parametrize("tex", [r"\frac{1", r"a & b", r"\nosuchmacro", r"x_1_2"])
def test_bad_formulas_raise(tex):
    with pytest.raises(formulas.FormulaError):
        formulas.typeset(tex)


def test_formulas_carry_mathml_and_their_tex():
    html = formulas.typeset(r"\hat w^T x \ge \tfrac12", display=True)
    assert "<math" in html
    assert r"\hat w^T x \ge \tfrac12" in html
    assert 'aria-hidden="true"' in html


@pytest.mark.parametrize(
    ("tex", "wrapped"),
    [
        (r"a \\ b", True),
        ("a &= b", True),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", False),
        (r"a \& b", False),
    ],
)
def test_lines_outside_an_environment_are_aligned(tex, wrapped):
    assert formulas.displayed(tex).startswith(r"\begin{aligned}a") == wrapped
    formulas.typeset(formulas.displayed(tex), display=True)


# Reading claims, code and tests ---


def real(*texts):
    """Make a claim with these texts; give what it displays as Markdown."""
    made = real_claim("sums-zero", "sums-slip-target")
    with made as c:
        for kind, text in zip(verdicts.KINDS, texts, strict=False):
            if kind == "tight":
                c.tight(text, 0.5, at_least=0.4)
            else:
                getattr(c, kind)(text, [True] * 1200)
    return made._markdown()


# Verdict cards ---

#: Texts with whatever Markdown could take for its own, beside formulas and names of code.
AWKWARD = (
    r"all |w*|^2 <= x_1*x_2 in [0, 1]: $k_1 \le R^2\|w^*\|^2/\gamma^2$, {a}(b)_c_",
    "`add_up` over x_j' X_A (X_A' X_A)^-1 <a> & ~b~ #1",
    '[a](b) \\ **c**... "d" -- e',
    r"$a_i^*b_j^*$ *and* $\{1\}$",
)


def test_what_claim_displays_is_what_is_read_whatever_its_texts_hold(project):
    markdown = real(*AWKWARD)
    cell = claim("sums-zero", "sums-slip-target", shown=markdown)
    register = [*RESULTS, RESULTS[0] | {"id": "sums-slip-target", "kind": "advice"}]
    assert (
        project.build({"sums": [*GOOD_PAGE[:3], GOOD_PAGE[4], cell, GOOD_PAGE[5]]}, register) == []
    )
    (card,) = project.cards("part/sums", "sums-zero")
    assert card == [
        ("holds", AWKWARD[0]),
        ("tight", AWKWARD[1] + ": 0.5"),
        ("necessary", AWKWARD[2]),
        ("contrast", AWKWARD[3]),
    ]
    assert project.page("part/sums").count("Verified: 3\u202f601 checks were run") == 1
    entries = project.page("results/sums")
    assert entries.count("3\u202f601 checks were run") == 2
    assert entries.count(r"\|w^*\|^2/\gamma^2</annotation>") == 2


def test_the_code_of_a_claim_is_folded_beneath_it_and_other_code_where_its_author_says(project):
    hidden = code("x = 1\ny = 2", "done\n")
    hidden.metadata["tags"] = ["hide-input"]
    assert project.build({"sums": [*GOOD_PAGE, hidden, code("z = 3")]}) == []
    page = project.page("part/sums")
    cells = re.split(r'(?=<div class="cell )', page)[1:]
    folds = [cell.count('<details class="code-fold">') for cell in cells]
    assert folds == [0, 1, 1, 1, 0]
    for cell in (cells[1], cells[3]):
        assert cell.index("cell_output") < cell.index("<details") < cell.index("cell_input")
    assert "Code <span>2 lines</span>" in cells[3]
    assert "x = 1" in re.sub(r"<[^>]+>", "", cells[3])


def test_planted_faults_that_a_claim_caught_are_told_where_they_are_counted(project):
    counted = project.folder / "source" / "registers" / "mutants.yml"
    assert project.build({"sums": GOOD_PAGE}) == []
    assert "planted" not in project.page("part/sums")
    made = {"sums": {"mechanical by claim": {"sums-zero": 7, "erratum-five": 1}}, "more": {}}
    counted.write_text(yaml.safe_dump(made))
    assert project.build({"sums": [*GOOD_PAGE, text("More.")]}) == []
    assert "Verified: 4 checks were run, 7 planted faults caught" in project.page("part/sums")
    assert "4 checks were run, 1 planted fault caught" in project.page("part/sums")
    assert "4 checks were run, 7 planted faults caught" in project.page("results/sums")


@pytest.mark.parametrize(
    ("checks", "caught", "words"),
    [
        ([1], 0, "this cell was run"),
        ([1, 1], 0, "2 checks were run"),
        ([1, 1234567], 0, "1\u202f234\u202f568 checks were run"),
        ([1], 1, "this cell was run, 1 planted fault caught"),
        ([1000], 12, "1\u202f000 checks were run, 12 planted faults caught"),
    ],
)
def test_the_tally_in_words(checks, caught, words):
    shown = [verdicts.Verdict("holds", "x", count) for count in checks]
    assert verdicts.tally(shown, caught) == words
    proved = [verdicts.Verdict("proves", "x"), verdicts.Verdict("refuted", "y")]
    assert verdicts.tally(proved) == "1 proved for all values"
    assert verdicts.tally([*proved, *shown, *shown]).startswith("1 proved for all values, ")


def test_names_of_the_library_are_followed_through_imports():
    source = (
        "import mllib.pca as p\nfrom mllib import trees\nfrom mllib.perceptron import "
        "mistake_bound as bound\nfrom mllib.course import claim\n"
    )
    local = codes.imported(source)
    tree = codes.parsed("claim('x')\np.fit(trees.grow(1))\nbound(2)\nother()")
    assert codes.used(tree, local) == (
        "mllib.pca.fit",
        "mllib.trees.grow",
        "mllib.perceptron.mistake_bound",
    )


def test_an_object_stands_for_the_class_that_made_it():
    source = (
        "from mllib.probability import FiniteSpace, bayes\n"
        "from mllib.course.datasets import Table\n"
        "die = FiniteSpace.uniform(range(6))\nE = die.expectation\n"
        "answer = bayes(p, q)\ntable = Table(1)\na, b = die.prob({1}), 2\n"
    )
    local = codes.after(source, {})
    whole = "mllib.probability.FiniteSpace"
    assert {name: local.get(name) for name in ("die", "E", "answer", "table", "a")} == {
        "die": whole,
        "E": whole,
        "answer": None,
        "table": None,
        "a": None,
    }
    assert codes.used(codes.parsed("c.holds('all', die.prob({1}) == 6)"), local) == (whole,)
    again = codes.after("die = 3\nbayes = len", local)
    assert codes.used(codes.parsed("die + bayes([])"), again) == ()


def test_cells_with_magics_are_read():
    assert codes.claims_at("%matplotlib inline\nwith claim('a-b') as c:\n    pass") == [
        (("a-b",), "", 2)
    ]


# Reference ---


def test_docstrings_are_escaped_outside_code():
    lines = [
        "|w| and w* and coef_ but ``|x|`` and a_b",
        "Chapter: *The perceptron*; w* x* and 2 * 3 * 4",
        "coef_ : array",
        "n : int, |n| > 0",
        "t : float; above |a|",
        ">>> x_",
    ]
    assert reference.plain(lines) == [
        r"\|w\| and w\* and coef\_ but ``|x|`` and a_b",
        r"Chapter: *The perceptron*; w\* x\* and 2 \* 3 \* 4",
        "coef_ : array",
        r"n : int, \|n\| > 0",
        "t : float",
        r"    above \|a\|",
        ">>> x_",
    ]


def test_modules_come_in_the_order_of_the_chapters(tmp_path):
    (tmp_path / "core").mkdir()
    for name in (
        "__init__",
        "zeta",
        "alpha",
        "extra",
        "core/__init__",
        "core/tables",
        "core/arrays",
    ):
        (tmp_path / f"{name}.py").touch()
    order = reference.modules(tmp_path, ["zeta", "missing-one", "alpha"])
    assert order == ["zeta", "alpha", "extra", "core", "core.arrays", "core.tables"]


def test_public_names_come_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "m.py"
    path.write_text('__all__ = ["a", "B"]\n\nclass B: pass\n\ndef _c(): pass\n\ndef a(): pass\n')
    assert reference.public(path) == ["B", "a"]


# Figures ---


def test_palette_and_greys_are_mapped_and_other_colours_kept():
    from mllib.course.figures import COLOURS, DARK

    for meaning, light in COLOURS.items():
        assert figures.dark_colour(light) == DARK[meaning]
    assert figures.dark_colour("#000") == "#e6e6e6"
    assert figures.dark_colour("#ffffff") == "#141414"
    assert figures.dark_colour("#21918c") == "#21918c"  # of a colour map


# Benchmarks ---


def measured(ratio, target, why=""):
    """One row as the data file holds it."""
    seed = {"ratio": ratio, "spread": [ratio / 2, ratio * 2], "equal": True}
    seed |= {"measure": "loss < 1", "quality": [0.25, 0.5]}
    return {
        "workload": f"fit 20000 x {target}",
        "n": 20000,
        "d": 0,
        "against": "peer",
        "target": target,
        "why": why,
        "memory": [30, 60],
        "one_thread": [seed, seed],
        "met": ratio <= target,
    }


MEASURED = {
    "title": "Sums",
    "how": "One product.",
    "machine": {
        "date": "2026-01-01",
        "system": "Linux",
        "processor": "x86_64",
        "cores": 2,
        "load": 1.5,
        "versions": {"python": "3.11"},
    },
    "rows": [measured(0.5, 1), measured(3, 2, "The peer is compiled.")],
}


def test_the_table_of_speed_names_its_rows_and_columns():
    from xml.etree import ElementTree

    tree = ElementTree.fromstring(
        benchmarks.table("Sums", MEASURED["rows"]).replace("<br>", "<br/>")
    )
    assert tree.tag == "details"
    assert "".join(tree.find("summary").itertext()) == "Table 2 rows"
    table = tree.find("div/table")
    assert table.find("caption").text == "Sums: mllib and its peer"
    heads = table.findall("thead/tr/th")
    assert len(heads) == 1 + len(benchmarks.COLUMNS)
    assert {head.get("scope") for head in heads} == {"col"}
    lines = table.findall("tbody/tr")
    assert [line.find("th").get("scope") for line in lines] == ["row", "row"]
    assert {len(line.findall("td")) + 1 for line in lines} == {len(heads)}
    assert [line.find("td/span").text for line in lines] == ["met", "missed"]
    assert lines[0].find("th").text == "fit 20\N{NARROW NO-BREAK SPACE}000 rows of one number"
    assert "loss < 1: 0.25 and 0.5" in [td.text for td in lines[0].findall("td")]


def test_a_row_with_loops_shows_its_ratio_without_numba_and_what_compiling_takes():
    row = measured(0.5, 1)
    assert benchmarks.without_numba(row) == "not measured"
    assert benchmarks.without_numba(row | {"loops": False}) == "the same"
    assert benchmarks.without_numba(row | {"loops": True}) == "not measured"
    plain = {"ratio": 30.0, "spread": [29.0, 31.0]}
    shown = benchmarks.without_numba(row | {"loops": True, "plain": plain})
    assert shown.replace("\N{NO-BREAK SPACE}", " ") == "30 (29 to 31)"
    assert benchmarks.compilation([MEASURED]) == ""
    both = MEASURED | {"compilation": {"cold": 4.21, "kept": 0.333}}
    text = benchmarks.compilation([MEASURED, both, both])
    assert "takes 8.4 seconds once for the loops of all 2 chapters that run some" in text
    assert "loading what is compiled 0.67 seconds" in text


def test_the_picture_of_speed_has_a_dot_for_each_row_and_says_what_it_shows():
    from xml.etree import ElementTree

    ring = measured(0.02, 3) | {"plain": {"ratio": 40.0, "spread": [39.0, 41.0]}}
    loops = MEASURED | {"title": "Loops & more", "rows": [ring]}
    figure = ElementTree.fromstring(benchmarks.picture([MEASURED, loops]))
    svg, words = figure.find("div/svg"), figure.find("figcaption").text
    marks = {c.find("title").text: (c.get("class"), float(c.get("cx"))) for c in svg.iter("circle")}
    name = "fit 20\N{NARROW NO-BREAK SPACE}000 rows of"
    assert {title: kind for title, (kind, _) in marks.items()} == {
        f"{name} one number: 0.5": "dot",
        f"{name} 2 numbers: 3": "dot",
        f"{name} 3 numbers: 0.02": "dot",
        f"{name} 3 numbers: 40 without numba": "ring",
    }
    one = float(svg.find("path[@class='one']").get("d")[1:].split()[0])
    assert all((x < one) == (float(t.split(": ")[1].split()[0]) < 1) for t, (_, x) in marks.items())
    assert len({x - benchmarks.LEFT for _, x in marks.values()}) == 4
    assert {"Sums", "Loops & more", "0.01", "1", "100"} <= {t.text for t in svg.iter("text")}
    assert words.startswith("In 2 of 3 rows mllib takes less time than its peer")
    assert f"at most 0.5, and the largest is 3 ({name} 2 numbers)" in words
    assert "1 of the 1 rows with loops that were measured so are slower" in words
    assert svg.get("role") == "img"
    assert "3 rows in 2 lanes" in svg.get("aria-label")
    assert "up to 40 times" in svg.get("aria-label")


def test_a_workload_is_said_in_words():
    assert benchmarks.in_words("L2, 1000 x 20") == (
        "squared penalty, 1\N{NARROW NO-BREAK SPACE}000 rows of 20 numbers"
    )
    assert benchmarks.in_words("components, 200 x 50, k = 10, tol 1e-08") == (
        "components, 200 rows of 50 numbers, 10 components, tolerance 1e-08"
    )


def test_a_missed_target_is_listed_with_its_reason_and_counted():
    text = benchmarks.section("sums", MEASURED).astext()
    assert "000 rows of 2 numbers (ratio 3, target 2). The peer is compiled." in text
    assert "one number (" not in text
    assert "2 cores" in text
    assert benchmarks.tally({"sums": MEASURED}) == ("Of 2 rows, 1 meet their target.")
