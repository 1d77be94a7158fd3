"""What an earlier build leaves behind and Sphinx does not take away: pages and pictures.

A page that is read anew or is no more is removed first; pictures go when no page shows them.
"""

from pathlib import Path


def remove_page(app, env, docname):
    """Remove what was written for a page, and the copy of its source."""
    if app.builder.format == "html":
        Path(app.builder.get_outfilename(docname)).unlink(missing_ok=True)
        source = Path(app.outdir, "_sources", docname)
        for copy in source.parent.glob(f"{source.name}.*"):
            copy.unlink()


def remove_pictures(app, error):
    """Remove the pictures that no page shows."""
    shown = {name for _, name in app.env.images.values()}
    for path in Path(app.outdir, "_images").glob("*"):
        if error is None and path.name not in shown:
            path.unlink()


def setup(app):
    """Clear up at every build."""
    app.connect("env-purge-doc", remove_page)
    app.connect("build-finished", remove_pictures)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
