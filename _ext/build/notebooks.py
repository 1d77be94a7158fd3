"""Execute notebooks again and pair them with their text: ``make run CHAPTER=perceptron`` or all.

The text twin is what people edit; its cells are executed, and both twins are written. Nothing in
the result depends on the time or the machine, so a second run changes nothing.
"""

import hashlib
import os
import re
import sys
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[2]


def chapters(wanted):
    """Return the text twins called ``wanted`` (a slug, or "all"), or stop with a sentence."""
    texts = sorted((ROOT / "chapters").glob("*/*.md"))
    chosen = [path for path in texts if wanted in ("all", path.stem)]
    if not chosen:
        names = ", ".join(path.stem for path in texts)
        sys.exit(f"There is no chapter {wanted!r}. CHAPTER is one of: {names}; or all.")
    return chosen


def name_cells(cells):
    """Give each cell an id that only its own text decides: its first claim, else a hash.

    A cell that says the same as one before it is told apart by a number.
    """
    before = Counter()
    for cell in cells:
        claim = re.search(r'^with claim\("([a-z0-9-]+)"', cell.source, re.MULTILINE)
        name = claim[1] if claim else hashlib.sha256(cell.source.encode()).hexdigest()[:10]
        before[name] += 1
        cell.id = name[:60] if before[name] == 1 else f"{name[:60]}-{before[name]}"


def execute(text):
    """Execute the notebook of a text twin in its own folder and write both twins."""
    pair = text.with_suffix(".ipynb")
    notebook = jupytext.read(text)
    name_cells(notebook.cells)
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--IPKernelApp.log_level=40"],  # not of what every kernel warns
        resources={"metadata": {"path": str(text.parent)}},
    )
    client.execute()
    notebook.metadata.get("language_info", {}).pop("version", None)
    nbformat.write(notebook, pair)
    jupytext.write(nbformat.read(pair, as_version=4), text, fmt="md:myst")


def main(argv):
    """Run the chapters named on the command line."""
    for text in chapters(argv[0] if argv and argv[0] else "all"):
        print(f"running {text.relative_to(ROOT)}", flush=True)
        try:
            execute(text)
        except CellExecutionError as error:
            sys.exit(f"{text.relative_to(ROOT)} stopped:\n{error}")


if __name__ == "__main__":
    main(sys.argv[1:])
