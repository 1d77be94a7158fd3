"""Where the built site is and which pages it has."""

import os
from pathlib import Path

import yaml

ROOT = Path(os.environ.get("BOOK_ROOT") or Path(__file__).resolve().parents[2])
SITE = ROOT / "_build" / "html"
PATIENCE = 120_000  # milliseconds that a busy machine may take for one step


def pages():
    """Return the content pages in the order of the table of contents."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [toc["root"]]
    for part in toc["parts"]:
        for page in part["chapters"]:
            files += [page["file"], *(section["file"] for section in page.get("sections", []))]
    return [f"{name}.html" for name in files]


def chapters():
    """Return the pages of the chapters: those in the folder of a part."""
    return [page for page in pages() if page.count("/") > 1]


def entries():
    """Return the pages of results, one for each chapter."""
    return [f"chapters/results/{Path(page).name}" for page in chapters()]
