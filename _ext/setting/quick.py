"""What Sphinx does again for every page, and need do once.

The contents beside a page show the titles of all pages. Sphinx copies the headings of every page
for that and then removes all but the titles; here they are removed once. To number the figures it
reads every page again when one has changed; here what is numbered on a page is kept, and what it
refers to (``told``). Code is written without elements for names, dots and punctuation, which have
the colour of plain text.
"""

from pathlib import Path

from docutils import nodes
from pygments.formatters import HtmlFormatter
from pygments.token import Token
from sphinx import addnodes
from sphinx.builders import html as builder
from sphinx.environment.collectors.toctree import TocTreeCollector
from sphinx.highlighting import PygmentsBridge

from _ext.setting import told

_global_toctree = builder.global_toctree_for_doc
_assign_figure_numbers = TocTreeCollector.assign_figure_numbers

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


def bones(node, numbered):
    """Return copies of what numbering looks at beneath a node: sections, contents, the numbered.

    Parameters
    ----------
    node : docutils Element
    numbered : callable
        Tells whether an element may have a number.
    """
    found = []
    for part in node.children:
        if not isinstance(part, nodes.Element):
            continue
        beneath = bones(part, numbered)
        if not isinstance(part, (nodes.section, addnodes.toctree)) and not numbered(part):
            found += beneath
            continue
        copy = part.copy()
        titles = [one for one in part.children if isinstance(one, (nodes.caption, nodes.title))]
        copy += [type(title)("", title.astext()) for title in titles]
        copy += beneath
        copy.rawsource, copy.document = "", None
        found.append(copy)
    return found


def assign_figure_numbers(collector, env):
    """Number the figures, with what is kept of the pages that did not change.

    Returns
    -------
    list of str
        The pages to write again: where a number has changed, and where what is told has changed.
    """
    domains = list(env.domains.values())
    kept = env.__dict__.setdefault("book_bones", {})

    def numbered(node):
        return any(domain.get_enumerable_node_type(node) for domain in domains)

    def get_doctree(docname):
        about = Path(env.doctreedir, f"{docname}.doctree").stat()
        stamp = about.st_mtime_ns, about.st_size
        if kept.get(docname, (None,))[0] != stamp:
            whole, page = type(env).get_doctree(env, docname), nodes.container()
            page += bones(whole, numbered)
            page["refers"] = told.links(whole)
            kept[docname] = stamp, page
        return kept[docname][1]

    env.get_doctree = get_doctree
    try:
        changed = _assign_figure_numbers(collector, env)
    finally:
        del env.get_doctree
    for gone in set(kept) - set(env.all_docs):
        del kept[gone]
    pages = {
        name: (page["refers"], list(page.findall(addnodes.toctree)))
        for name, (_, page) in kept.items()
    }
    return [*changed, *told.outdated(env, pages)]


class Fewer(HtmlFormatter):
    """Writes code without elements that no style colours."""

    def _format_lines(self, tokensource):
        def colour(kind, text):
            if text == "." and kind is Token.Operator:  # it joins names and looks like them
                return Token.Punctuation
            return Token.String.Double if kind in STRINGS else kind

        return super()._format_lines((colour(kind, text), text) for kind, text in tokensource)

    def _wrap_pre(self, inner):
        (is_line, head), *lines = super()._wrap_pre(inner)
        if not lines[0][1].startswith("\n"):  # the empty element saves an empty first line
            head = head.replace("<span></span>", "")
        yield from [(is_line, head), *lines]

    def _get_css_classes(self, ttype):
        classes = super()._get_css_classes(ttype)
        return "" if classes in UNCOLOURED else classes


def setup(app):
    """Put these in the place of what Sphinx does."""
    builder.global_toctree_for_doc = global_toctree
    TocTreeCollector.assign_figure_numbers = assign_figure_numbers
    PygmentsBridge.html_formatter = Fewer
    app.setup_extension("_ext.setting.leavings")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
