"""The parts that lists of results and slips are set from."""

import html
import re

from docutils import nodes


def entry_page(config, slug):
    """Return the name of the page on which the results of a chapter are entered."""
    return f"{config.results_page}/{slug}"


class permalink(nodes.Inline, nodes.Element):
    """The link of a thing to itself: to ``to``, which is ``what``."""

    def html(self):
        """Return the link; ``book.js`` makes a click copy the address."""
        label, to = html.escape(f"Link to {self['what']}"), html.escape(self["to"])
        return f' <a class="permalink" href="#{to}" aria-label="{label}">#</a>'


def plain(title):
    """Return a title without the marks of formulas and code."""
    return re.sub(r"[$`]", "", title)


def text(text, *classes):
    return nodes.inline("", text, classes=list(classes))


def link(builder, fromdoc, todoc, anchor, *content):
    uri = builder.get_relative_uri(fromdoc, todoc) if fromdoc != todoc else ""
    link = nodes.reference("", "", internal=True, refuri=f"{uri}#{anchor}")
    link += content
    return link


def commas(parts, between=", "):
    """Return nodes with commas between them."""
    listed = [node for part in parts for node in (part, nodes.Text(between))]
    return listed[:-1]


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def section(identity, title):
    section = nodes.section(ids=[identity])
    section += nodes.title("", "", *[part.deepcopy() for part in title])
    return section


def table(heads, rows, *classes):
    table = nodes.table(classes=list(classes))
    group = nodes.tgroup(cols=len(heads))
    table += group
    for _ in heads:
        group += nodes.colspec(colwidth=1)
    head = nodes.row()
    for text in heads:
        head += nodes.entry("", nodes.paragraph("", text))
    group += nodes.thead("", head)
    body = nodes.tbody()
    for cells in rows:
        line = nodes.row()
        for cell in cells:
            line += nodes.entry("", nodes.paragraph("", "", *cell))
        body += line
    group += body
    return table


def cleaned(node):
    """Strip what must not appear twice in the book: ids, names, labels and numbers of equations."""
    for part in [node, *node.findall(nodes.Element)]:
        if not isinstance(part, nodes.Element):
            continue
        for key in ("ids", "names", "dupnames"):
            part[key] = []
        for key in ("label", "number", "backrefs"):
            if isinstance(part, nodes.math_block) or key == "backrefs":
                part.attributes.pop(key, None)
    for part in [*node.findall(nodes.target), *node.findall(permalink)]:
        if part is not node:
            part.parent.remove(part)
    return not isinstance(node, (nodes.target, nodes.comment))
