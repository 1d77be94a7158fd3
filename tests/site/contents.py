"""Where the built site is and which pages it has."""

import os
import sys
from pathlib import Path

ROOT = Path(os.environ.get("BOOK_ROOT") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT))

from _ext.pages import reference  # noqa: E402

SITE = ROOT / "_build" / "html"
PATIENCE = 120_000  # milliseconds that a busy machine may take for one step


def pages():
    """Return the content pages in the order of the table of contents."""
    contents = reference.contents(ROOT)
    return [f"{name}.html" for name in [contents["root"], *reference.files([contents])]]


def chapters():
    """Return the pages of the chapters: those in the folder of a part."""
    return [page for page in pages() if page.count("/") > 1 and "/slips/" not in page]


def entries():
    """Return the pages of results, one for each chapter."""
    return [f"chapters/results/{Path(page).name}" for page in chapters()]
