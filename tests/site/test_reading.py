"""What the pages do for their readers: rows of formulas, titles of exercises, the reference."""

from _ext.pages import aligned, reference


def test_an_aligned_formula_is_cut_into_cells_outside_of_groups():
    cases = r"\begin{cases}1&x\\2&y\end{cases}"
    tex = rf"\begin{{aligned}} f &\le {cases} \\[2pt] &= {{a\\&b}},\end{{aligned}} ."
    assert aligned.cells(tex) == [
        ["f", rf"\le {cases}"],
        ["", r"= {a\\&b}, ."],
    ]
    assert aligned.cells("a = b") is None
    two = r"\begin{aligned}a\end{aligned} x \begin{aligned}b\end{aligned}"
    assert aligned.cells(two) is None


def test_a_formula_may_break_after_wide_spaces_outside_of_groups():
    tex = r"a\quad\text{for \quad b}\qquad c\left(\quad\right)"
    assert aligned.breakable(tex).count(aligned.BREAK) == 2
    assert aligned.breakable(tex).replace(aligned.BREAK, "") == tex


def test_rows_keep_the_whole_formula_for_those_who_hear_or_copy_it():
    whole = (
        '<span class="katex-display"><span class="katex"><span class="katex-mathml">ALL</span>'
        '<span class="katex-html" aria-hidden="true">BOX</span></span></span>'
    )
    html = aligned.broken(whole, [["a", "= b"], ["", "= c"]], lambda tex: whole.replace("BOX", tex))
    assert "ALL" in html
    assert "BOX" not in html
    assert html.count("katex-row") == 3
    assert html.count("katex-cell right") == 2
    assert "{}= b" in html


def test_attributes_are_read_from_a_docstring():
    text = "coef_, intercept_ : arrays\nn_iter_ : int\n    Passes\n    made.\nseen_\n    As before."
    assert reference.attributes(text) == [
        (["coef_", "intercept_"], "arrays", ""),
        (["n_iter_"], "int", "Passes made."),
        (["seen_"], "", "As before."),
    ]
    lines = reference.table([(["w*"], "", "the |best|")])
    assert "   :class: attributes" in lines
    assert r"     - the \|best\|" in lines
