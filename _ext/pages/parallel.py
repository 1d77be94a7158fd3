"""Pages are read and written side by side: what three extensions leave open for that.

``sphinx_multitoc_numbering`` replaces only how section numbers are given out, which Sphinx does in
one process when all pages are read; ``sphinx_jupyterbook_latex`` acts when LaTeX is written, which
this book never does; and the domain of ``sphinx_proof`` holds no data of its own: what it knows of
statements is merged by its extension.
"""

from sphinx_proof.domain import ProofDomain


def _nothing_to_merge(domain, docnames, otherdata):
    """Merge the data of a domain that has none."""


def setup(app):
    """Declare what these extensions leave open."""
    for name in ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex"):
        app.setup_extension(name)
        app.extensions[name].parallel_read_safe = True
    ProofDomain.merge_domaindata = _nothing_to_merge
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
