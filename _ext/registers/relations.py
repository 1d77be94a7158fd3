"""The order of the pages, and which result rests on which."""

from _ext.registers.notes import Page


def chapters(env):
    """Return {slug: docname} of the published chapters, in reading order."""
    order = [d for d in reading_order(env) if d.count("/") >= 2]
    return {docname.rsplit("/", 1)[1]: docname for docname in order}


def reading_order(env):
    """Return the pages in the order of the table of contents."""
    seen = []

    def visit(docname):
        if docname not in seen:
            seen.append(docname)
            for child in env.toctree_includes.get(docname, []):
                visit(child)

    visit(env.config.root_doc)
    return seen + sorted(set(env.found_docs) - set(seen))


def edges(pages, results, order):
    """Return the pairs (result, result it rests on), forward references on a page left out."""
    home = {}
    for docname in order:
        for name, place in pages.get(docname, Page()).anchors.items():
            home.setdefault(name, (docname, place))
    known = {entry["id"] for entry in results}
    found = []
    for docname in order:
        page = pages.get(docname, Page())
        for name in page.anchors:
            proofs = page.proved_by.get(name, [])
            for target in [*proofs, *page.rests_on.get(name, [])]:
                if name == target or not {name, target} <= known & set(home):
                    continue
                same, forward = home[target][0] == docname, home[target][1] > home[name][1]
                if same and forward and target not in proofs:
                    continue
                found.append((name, target))
    return list(dict.fromkeys(found))
