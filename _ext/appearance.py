"""The look of the site: the book's own style sheet."""


def setup(app):
    """Add the style sheet to every page."""
    app.add_css_file("book.css", priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
