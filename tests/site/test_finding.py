"""Finding things in the site: glossary, index, names for the search."""

import json
import re
import sys
from pathlib import Path

import pytest
import small_site
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from _ext.registers import glossary, names  # noqa: E402

PAGE = """# Sums

A **sum** of $a$ and $b$ is $a+b$, and again a **sum**.

(sums-idea)=
The **law of $a+0$** says more.

```{prf:definition} Zero
:label: sums-zero

The number **zero**.
```
"""
TERMS = [
    {"term": "sum", "chapter": "sums", "definition": "What $a+b$ is.", "symbol": "$s$"},
    {
        "term": "law of zero",
        "chapter": "sums",
        "printed": "law of $a+0$",
        "aliases": ["neutral law"],
        "definition": "Adding zero changes nothing.",
    },
    {"term": "product", "chapter": "later", "definition": "What $ab$ is."},
]
RESULTS = [
    {"id": "sums-zero", "chapter": "sums", "kind": "definition", "title": "The number $0$"},
    {"id": "sums-idea", "chapter": "sums", "kind": "advice", "title": "An idea"},
]


class Book:
    """A book of one chapter with a glossary and an index, in a temporary folder."""

    def __init__(self, folder):
        self.folder = folder

    def build(self, page=PAGE, terms=TERMS):
        """Build and return the warnings."""
        source = self.folder / "source"
        (source / "chapters" / "part").mkdir(parents=True, exist_ok=True)
        (source / "tests").mkdir(exist_ok=True)
        (source / "registers").mkdir(exist_ok=True)
        written = {
            "index.md": "# Book\n\n```{toctree}\n:numbered:\nchapters/part/sums\n```\n\n"
            "```{toctree}\nchapters/glossary\nchapters/book-index\n```\n",
            "chapters/part/sums.md": page,
            "chapters/glossary.md": "# Glossary\n\n```{book-glossary}\n```\n",
            "chapters/book-index.md": "# Index\n\n```{book-index}\n```\n",
            "registers/glossary.yml": terms if isinstance(terms, str) else yaml.safe_dump(terms),
            "registers/results.yml": yaml.safe_dump(RESULTS),
        }
        for name, text in written.items():
            if not (source / name).exists() or (source / name).read_text() != text:
                (source / name).write_text(text)
        return small_site.build(self.folder, "_ext.registers.glossary", "_ext.registers.names")

    def page(self, name):
        """Return the HTML of a page."""
        return (self.folder / "html" / "chapters" / f"{name}.html").read_text(encoding="utf-8")

    def names(self):
        """Return the names that the search knows."""
        text = (self.folder / "html" / "searchnames.js").read_text(encoding="utf-8")
        pages, _, names = text.rstrip(";\n").partition(";\nwindow.bookNames = ")
        pages = json.loads(pages.removeprefix("window.bookPages = "))
        return [[*one[:2], pages[one[2]][1], *one[3:]] for one in json.loads(names)]


@pytest.fixture
def book(tmp_path):
    """A book to build in."""
    return Book(tmp_path)


# Glossary ---


def test_every_published_term_is_listed_once_and_leads_to_its_place_and_back(book):
    assert book.build() == []
    listing, page = book.page("glossary"), book.page("part/sums")
    assert listing.count('id="glossary-sum"') == 1
    assert 'href="part/sums.html#term-sum"' in listing
    assert 'href="part/sums.html#term-law-of-zero"' in listing
    assert "product" not in listing
    assert page.count('id="term-sum"') == 1
    assert page.index('href="../glossary.html#glossary-sum"') < page.index("and again")
    assert page.count("glossary-sum") == 1
    assert 'id="term-law-of-zero"' in page


def test_the_glossary_is_in_the_order_of_the_alphabet_and_aliases_lead_to_their_term(book):
    book.build()
    listing = book.page("glossary")
    order = re.findall(r'<dt id="glossary-([a-z-]+)"', listing)
    assert order == ["law-of-zero", "neutral-law", "sum"]
    alias = listing[listing.index('id="glossary-neutral-law"') :]
    assert 'href="#glossary-law-of-zero"' in alias[:400]
    assert "Also neutral law" in listing


@pytest.mark.parametrize(
    ("terms", "wanted"),
    [
        ([*TERMS, {**TERMS[0]}], r"glossary\.yml:\d+.*sum is entered twice"),
        ([*TERMS, {**TERMS[2], "term": "more", "aliases": ["Sum"]}], "Sum is entered twice"),
        ([{**TERMS[0], "term": "total"}], "does not print .*total.* in bold"),
        ([{"term": "sum", "chapter": "sums"}], "has the fields term, chapter, definition"),
        ([{**TERMS[0], "symbols": "s"}], "may have printed, symbol, aliases"),
        ([{**TERMS[0], "aliases": "total"}], "aliases is a list"),
        (["sum"], "an entry has the fields"),
    ],
)
def test_a_faulty_entry_fails_with_its_line(book, terms, wanted):
    warnings = book.build(terms=terms)
    assert len(warnings) == 1, warnings
    assert re.search(wanted, warnings[0]), warnings[0]
    assert re.search(r"registers/glossary\.yml:\d+", warnings[0])


def test_names_are_compared_without_marks_case_and_kind_of_apostrophe():
    assert glossary.plain("$\\sigma$-Sub-Gaussian:") == "\\sigma-sub-gaussian"
    assert glossary.plain("Lloyd\N{RIGHT SINGLE QUOTATION MARK}s  rule") == "lloyd's rule"
    assert glossary.slug("Bézout's $0$-1 law") == "bezout-s-0-1-law"


# Index and search ---


def test_the_index_lists_terms_and_results_with_their_numbers(book):
    book.build()
    index = book.page("book-index")
    assert 'href="part/sums.html#sums-zero"' in index
    assert "Definition 1.1 in Sums" in index
    assert 'href="part/sums.html#term-sum"' in index
    listed = re.findall(r"<li><p>([A-Za-z ]+): ", index)
    assert listed == ["An idea", "law of zero", "neutral law", "sum"]


def test_the_search_knows_names_words_and_symbols(book):
    book.build()
    page = "chapters/part/sums.html"
    found = {(line[2], line[3]): line for line in book.names()}
    total = found[page, "term-sum"]
    assert total[:2] == ["sum", "term"]
    assert total[6].startswith("<math")
    assert "annotation" not in total[6]
    zero = found[page, "sums-zero"]
    assert zero[1] == "Definition 1.1"
    assert zero[4] == "the number 0"
    assert {"sums-zero", "definition"} <= set(zero[5].split())
    assert found[page, "term-law-of-zero"][0] in ("neutral law", "law of zero")
    assert found[page, ""][:2] == ["Sums", "page"]
    letters = (book.folder / "html/searchwords/z.js").read_text(encoding="utf-8")
    assert letters.startswith('window.bookWords("z",{"zero":[0')


def test_titles_are_shown_as_text_code_and_mathml():
    assert names.shown("a < `b_c`") == "a &lt; <code>b_c</code>"
    assert names.shown("$x^2$").startswith("<math")
