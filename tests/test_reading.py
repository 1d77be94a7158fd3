"""What the pages do for their readers: rows of formulas, titles of exercises, the reference."""

from _ext.setting import aligned, exercises, reference
from _ext.shipping import access, library


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


def test_titles_of_exercises_lose_their_second_brackets():
    head = '<p class="admonition-title"><span class="caption-number">Exercise 2.1 </span> '
    title = f'{head}(Another start (conceptual)) <a class="permalink" href="#x">#</a></p>'
    plain = exercises.plainer(title)
    assert '<span class="exercise-title">Another start</span>' in plain
    assert '<span class="effort">conceptual</span>' in plain
    link = '<a class="reference internal" href="#x">Exercise 2.1 (Another start (conceptual))</a>'
    solution = f'<p class="admonition-title">Solution to {link}</p>'
    bar = '<p class="admonition-title">Solution to Exercise 2.1: Another start</p>'
    assert exercises.plainer(solution) == bar
    assert exercises.plainer(link) == link.replace(" (conceptual))", ")")
    assert exercises.split("A start (twice) (short code)") == ("A start (twice)", "short code")


def test_names_in_tables_break_after_dots_and_underscores_only():
    html = "<table><td><code>a.long_name</code> a_b</td></table><code>c_d</code>"
    assert access.jointed(html) == html.replace("a.long_name", "a.<wbr>long_<wbr>name")


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


def test_the_reference_links_to_results_and_sources():
    html = (
        "<p>Book: perceptron-mistake-bound, other-thing. Novikoff (1962).</p>"
        '<dl class="py function">\n<dt class="sig sig-object py" id="mllib.perceptron.run">'
        '<span>run</span><a class="headerlink" href="#x">#</a></dt></dl>'
    )
    places = {"perceptron-mistake-bound": "chapters/classification/perceptron.html"}
    found = library.linked(html, "api/perceptron.html", places, {"perceptron-mistake-bound": "It"})
    address = "../chapters/classification/perceptron.html#perceptron-mistake-bound"
    assert f'<a class="reference internal" href="{address}">It</a>, other-thing. Nov' in found
    assert 'href="../_sources/mllib/perceptron.py.txt#:~:text=def%20run"' in found
