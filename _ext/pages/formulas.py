"""Typeset every formula at build time with KaTeX, so that a page needs no script to be read.

KaTeX (``_ext/vendored/katex``) runs inside Python in an embedded V8. Each formula becomes HTML for
the eye and MathML for screen readers, with its TeX source attached. A formula that does not parse
is a warning that names the file and the line, hence a failed build.
"""

import atexit
import functools
import html
import json
import os
import re
from pathlib import Path

from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from _ext.pages import aligned

logger = logging.getLogger(__name__)

KATEX = Path(__file__).parents[1] / "vendored" / "katex" / "katex.min.js"


@functools.cache
def _engine(process):
    """The JavaScript engine of this process: an engine does not survive a fork."""
    from py_mini_racer import MiniRacer

    engine = MiniRacer()
    engine.eval(KATEX.read_text(encoding="utf-8"))
    engine.eval(Path(__file__).with_name("typeset.js").read_text(encoding="utf-8"))
    atexit.register(engine.close)  # while its thread still runs: later Python waits for it in vain
    return engine


class FormulaError(ValueError):
    """A formula that KaTeX cannot typeset; the message says why and where."""


@functools.lru_cache(maxsize=8192)
def typeset(tex, display=False, **how):
    """Return the HTML and MathML of the formula ``tex``.

    Parameters
    ----------
    tex : str
    display : bool
    **how
        ``shown``, TeX that is set in the place of ``tex``; ``held``, whether the last piece stays
        on the line of what follows; ``rows`` of cells as TeX, which are seen instead; ``mathml``,
        whether nothing else is wanted.

    Raises
    ------
    FormulaError
        If the formula does not parse.
    """
    call = json.dumps({"tex": tex, "display": bool(display), **how})
    answer = json.loads(_engine(os.getpid()).eval(f"JSON.stringify(typeset({call}))"))
    if "error" in answer:
        raise FormulaError(answer["error"].removeprefix("KaTeX parse error: "))
    return answer["html"]


_ENVIRONMENT = re.compile(r"\\begin\{([a-zA-Z*]+)\}.*?\\end\{\1\}", re.DOTALL)


def displayed(tex):
    """Wrap lines or alignment marks that stand outside any environment in ``aligned``."""
    bare = _ENVIRONMENT.sub("", tex)
    if r"\\" in bare or re.search(r"(?<!\\)&", bare):
        return f"\\begin{{aligned}}{tex}\\end{{aligned}}"
    return tex


def _rendered(node, tex, display=False, **how):
    try:
        return typeset(tex, display, **how)
    except FormulaError as error:
        logger.warning(
            "formula does not parse: %s in %r", error, tex, location=node, type="mathematics"
        )
        return f'<code class="formula-error">{html.escape(tex)}</code>'


_CLOSING = re.compile(r"[.,;:!?)\]\N{RIGHT SINGLE QUOTATION MARK}]")


def visit_inline(self, node):
    """Write an inline formula; it may break into lines, but not before a full stop or a comma."""
    after = node.next_node(descend=False, siblings=True)
    held = isinstance(after, nodes.Text) and bool(_CLOSING.match(after))
    self.body.append(_rendered(node, node.astext().strip(), held=held))
    raise nodes.SkipNode


def visit_block(self, node):
    """Write a displayed formula, with its number as a link to itself."""
    tex = node.astext().strip()
    tex = tex if node.get("nowrap") else displayed(tex)
    shown, rows = aligned.breakable(tex), aligned.cells(tex) or None
    formula = _rendered(node, tex, True, shown=shown, rows=rows)
    ids = "".join(f'<span id="{html.escape(i)}"></span>' for i in node["ids"][1:])
    first = f' id="{html.escape(node["ids"][0])}"' if node["ids"] else ""
    self.body.append(
        f'<div class="equation"{first}>{ids}<div class="equation-body">{formula}</div>'
    )
    if node.get("number"):
        number = get_node_equation_number(self, node)
        anchor = html.escape(node["ids"][0]) if node["ids"] else ""
        self.body.append(
            f'<a class="equation-number" href="#{anchor}" '
            f'aria-label="Link to Equation ({number})">({number})</a>'
        )
    elif node["ids"]:
        self.body.append(
            f'<a class="permalink" href="#{html.escape(node["ids"][0])}" '
            'aria-label="Link to this equation">#</a>'
        )
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Register the renderer under the name ``katex``."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
