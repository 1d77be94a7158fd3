"""A site of a few pages, built with the extensions of the book, for the tests of the extensions."""

import io
import re


def build(folder, *more, **settings):
    """Build folder/source into folder/html; return the lines that warn.

    ``more`` names extensions besides those for mathematics and results, ``settings`` are of Sphinx.
    """
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    stream = io.StringIO()
    with docutils_namespace():
        app = Sphinx(
            folder / "source",
            None,
            folder / "html",
            folder / "doctrees",
            "html",
            confoverrides={
                "extensions": [
                    "myst_nb",
                    "sphinx_proof",
                    "_ext.pages.formulas",
                    "_ext.registers.results",
                    *more,
                ],
                "myst_enable_extensions": ["dollarmath"],
                "nb_execution_mode": "off",
                "nb_render_markdown_format": "myst",
                "html_math_renderer": "katex",
                "html_theme": "basic",
                "numfig": True,
                **settings,
            },
            status=None,
            warning=stream,
        )
        app.build()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    return [line for line in plain.splitlines() if "WARNING" in line or "ERROR" in line]
