"""What Sphinx does again for every page, and need do once.

The contents beside a page show the titles of all pages. Sphinx copies the headings of every page
for that and then removes all but the titles; here they are removed once. Code is written without
elements for names and punctuation, which have the colour of plain text.
"""

from docutils import nodes
from pygments.formatters import HtmlFormatter
from pygments.token import Token
from sphinx import addnodes
from sphinx.builders import html as builder
from sphinx.highlighting import PygmentsBridge

_global_toctree = builder.global_toctree_for_doc

#: Kinds of code that have the colour of the text around them.
UNCOLOURED = frozenset("n nn nx p pm w".split())
#: Parts of a string, which have one colour.
STRINGS = (Token.String.Affix, Token.String.Interpol, Token.String.Double)


def titles_of(contents):
    """Return a copy of the headings of a page with its title alone, and what lists other pages."""
    kept = contents.copy()
    for entry in contents.children:
        copy = entry.copy() if isinstance(entry, nodes.list_item) else entry.deepcopy()
        if isinstance(entry, nodes.list_item):
            copy += entry[0].deepcopy()
            lists = [
                tree.deepcopy() for part in entry[1:] for tree in part.findall(addnodes.toctree)
            ]
            if lists:
                copy += entry[1].copy()
                copy[1] += lists
        kept += copy
    return kept


def titles(env, kept={}):  # noqa: B006
    """Return the titles of all pages, made once for what is known of the headings."""
    if kept.get("of") is not env.tocs:
        kept.update(of=env.tocs, made={name: titles_of(toc) for name, toc in env.tocs.items()})
    return kept["made"]


def global_toctree(env, docname, building, *args, **options):
    """Return the contents beside a page."""
    if not options.get("titles_only"):
        return _global_toctree(env, docname, building, *args, **options)
    whole = env.tocs
    try:
        env.tocs = titles(env)
        return _global_toctree(env, docname, building, *args, **options)
    finally:
        env.tocs = whole


class Fewer(HtmlFormatter):
    """Writes code without elements that no style colours."""

    def _format_lines(self, tokensource):
        def colour(kind):
            return Token.String.Double if kind in STRINGS else kind

        return super()._format_lines((colour(kind), text) for kind, text in tokensource)

    def _wrap_pre(self, inner):
        (is_line, head), *lines = super()._wrap_pre(inner)
        if not lines[0][1].startswith("\n"):  # the empty element saves an empty first line
            head = head.replace("<span></span>", "")
        yield from [(is_line, head), *lines]

    def _get_css_classes(self, ttype):
        classes = super()._get_css_classes(ttype)
        return "" if classes in UNCOLOURED else classes


def setup(app):
    """Put both in the place of what Sphinx does."""
    builder.global_toctree_for_doc = global_toctree
    PygmentsBridge.html_formatter = Fewer
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
