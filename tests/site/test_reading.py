"""What the pages do for their readers: rows of formulas, titles of exercises, the reference."""

from _ext.pages import aligned, formulas, reference


def test_an_aligned_formula_is_cut_into_cells_outside_of_groups():
    cases = r"\begin{cases}1&x\\2&y\end{cases}"
    tex = rf"\begin{{aligned}} f &\le {cases} \\[2pt] &= {{a\\&b}},\end{{aligned}} ."
    assert aligned.cells(tex) == (
        ("f", rf"{{}}\le {cases}"),
        ("", r"{}= {a\\&b}, ."),
    )
    assert aligned.cells("a = b") is None
    two = r"\begin{aligned}a\end{aligned} x \begin{aligned}b\end{aligned}"
    assert aligned.cells(two) is None


def test_a_formula_may_break_after_wide_spaces_outside_of_groups():
    tex = r"a\quad\text{for \quad b}\qquad c\left(\quad\right)"
    assert aligned.breakable(tex).count(aligned.BREAK) == 2
    assert aligned.breakable(tex).replace(aligned.BREAK, "") == tex


def test_rows_keep_the_whole_formula_for_those_who_hear_or_copy_it():
    tex = r"\begin{aligned} a &= b \\ &= c\quad d \end{aligned}"
    html = formulas.typeset(
        tex, display=True, shown=aligned.breakable(tex), rows=aligned.cells(tex)
    )
    assert html.count(tex.replace("&", "&amp;")) == 1  # in the annotation, as its author wrote it
    assert html.count('class="katex-row"') == 2
    assert html.count("katex-cell right") == 2
    assert "columns-2" in html
    assert "vlist" not in html  # no table of KaTeX's own


def test_attributes_are_read_from_a_docstring():
    text = "coef_, intercept_ : arrays\nn_iter_ : int\n    Passes\n    made.\nseen_\n    As before."
    text += "\nb_ : float; offset"
    assert reference.attributes(text) == [
        (["coef_", "intercept_"], "arrays", ""),
        (["n_iter_"], "int", "Passes made."),
        (["seen_"], "", "As before."),
        (["b_"], "float", "offset"),
    ]
    lines = reference.table([(["w*"], "", "the |best|")])
    assert "   :class: attributes" in lines
    assert r"     - the \|best\|" in lines


def test_a_property_keeps_what_stands_before_a_colon():
    lines = ["t}), shape (T,).", "", ":type: log p(x_{1"]
    said = property(lambda self: 0, doc="log p(x_{1:t}), shape (T,).")
    reference.keep_property(None, "property", "log_alpha", said, None, lines)
    assert lines == [r"log p(x\_{1:t}), shape (T,).", ""]
