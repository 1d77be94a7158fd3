"""What pages tell of other pages: where that changes, the page is written again.

Sphinx writes a page when it was read again or its own numbers changed. But a page also shows the
number of an equation of another chapter, the title of a page, the author of a work; its menu shows
the titles and numbers of all pages. Here is noted what each page tells, as a digest that lasts from
build to build. What is no longer there changes the digest too, so that a link to it is missed.
"""

import hashlib

from sphinx import addnodes
from sphinx.util import docname_join


def links(doctree):
    """Return what a page refers to: (domain, kind, target, further names that complete it)."""
    found = set()
    for link in doctree.findall(addnodes.pending_xref):
        target = str(link.get("reftarget") or "").lstrip("#")
        inside = [str(link.get(name) or "") for name in ("py:module", "py:class")]
        found.add((link.get("refdomain") or "", link.get("reftype") or "", target, *inside))
    return found


class Facts:
    """What there is to tell when all pages have been read and numbered."""

    def __init__(self, env):
        data = env.domaindata
        self.env = env
        self.objects = data["py"]["objects"]
        self.places = data["std"]["labels"], data["std"]["anonlabels"]
        self.equations = data["math"]["objects"]
        self.blocks = getattr(env, "proof_list", {})
        self.exercises = getattr(env, "sphinx_exercise_registry", {})
        self.works = {c.key: repr(c) for c in data.get("cite", {}).get("citations", ())}
        self.numbers = {
            (docname, name): number
            for docname, kinds in env.toc_fignumbers.items()
            for numbered in kinds.values()
            for name, number in numbered.items()
        }

    def of(self, docname, link):
        """Return what the page ``docname`` may tell of the target of one of its links."""
        domain, kind, target, module, klass = link
        if domain == "py":
            names = (target, f"{module}.{target}", f"{klass}.{target}")
            names += (f"{module}.{klass}.{target}",)
            return [self.objects[name][:2] for name in names if name in self.objects]
        if domain == "cite":
            return self.works.get(target)
        if kind == "doc":
            title = self.env.titles.get(docname_join(docname, target))
            return title.pformat() if title else None
        found = [tuple(map(str, place[target])) for place in self.places if target in place]
        if target in self.equations:
            found.append((self.equations[target][0], f"equation-{target}"))
        for known in (self.blocks, self.exercises):
            if target in known:
                kind = known[target].get("realtype") or known[target].get("type")
                found.append((known[target]["docname"], target, kind))
        return found, [self.numbers.get(place[:2]) for place in found]


def digest(*facts):
    """Return a short text that differs where the facts differ."""
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def contents(env, trees):
    """Return what the menu of every page shows: the pages in order, their titles and numbers."""
    own = [(d, env.titles[d].pformat(), env.toc_secnumbers.get(d, {}).get("")) for d in env.titles]
    keys = "entries", "caption", "numbered"
    return sorted(own, key=str), sorted(
        (docname, [[tree.get(key) for key in keys] for tree in found])
        for docname, found in trees.items()
    )


def outdated(env, pages):
    """Name the pages that tell something else than when they were last looked at.

    Parameters
    ----------
    env : Sphinx environment
        All pages have been read and numbered.
    pages : dict
        For each page what it refers to (``links``), and the tables of contents in it.
    """
    before, facts = env.__dict__.get("book_told", {}), Facts(env)
    shared = contents(env, {docname: trees for docname, (_, trees) in pages.items() if trees})
    after = {
        docname: digest(shared, [(link, facts.of(docname, link)) for link in sorted(refers)])
        for docname, (refers, _) in pages.items()
    }
    env.book_told = after
    return [docname for docname in after if before.get(docname, after[docname]) != after[docname]]
