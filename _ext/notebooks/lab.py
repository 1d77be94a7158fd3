"""``make lab``: the notebooks in JupyterLab, as their pages have them.

    python _ext/notebooks/lab.py [options of JupyterLab]
    python _ext/notebooks/lab.py --to FOLDER

The notebooks of the site are handed out into ``lab/``, with a table of contents to begin from. A
notebook that the reader has changed since is left alone; delete it to get a fresh one. Or they are
only written, with the library and what Binder reads: a folder that runs by itself.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from _ext.build import site

LAB = site.ROOT / "lab"
#: The settings of this JupyterLab, whatever those of the user are: no news, and the plain renderer
#: of Markdown, for nothing in these notebooks needs another.
SETTINGS = {
    "lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "labconfig/page_config.json": {"disabledExtensions": {"jupyterlab-myst": True}},
}


def contents():
    """Return a notebook that lists parts and chapters in order, each a link."""
    lines = ["# Machine Learning You Can Check", "Every chapter is a notebook. Begin anywhere."]
    for part in yaml.safe_load(site.CONTENTS.read_text(encoding="utf-8"))["parts"]:
        names = [Path(entry["file"]) for entry in part["chapters"]]
        found = [f"{name.parent.name}/{name.name}.ipynb" for name in names if name.parent.name]
        found = [name for name in found if (site.SITE / "_sources/chapters" / name).exists()]
        lines += [f"## {part['caption']}"] if found else []
        for name in found:
            notebook = nbformat.read(site.SITE / "_sources/chapters" / name, as_version=4)
            title = re.search(r"(?m)^# (.*)", notebook.cells[0].source)[1]
            lines.append(f"- [{title}]({name})")
    notebook.cells = [nbformat.v4.new_markdown_cell("\n\n".join(lines), id="contents")]
    return nbformat.writes(notebook)


def texts():
    """Return the notebooks of the site by name, with their table of contents."""
    folder = site.SITE / "_sources/chapters"
    notebooks = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.glob("*/*.ipynb"))
    }
    return {"contents.ipynb": contents()} | notebooks


def hand_out():
    """Write the notebooks into ``lab/``; one that was changed there stays as it is."""
    given = LAB / ".handed-out.json"
    before = json.loads(given.read_text(encoding="utf-8")) if given.exists() else {}
    for name, text in texts().items():
        path = LAB / name
        if path.exists() and _mark(path.read_text(encoding="utf-8")) != before.get(name):
            print(f"  kept as you left it: lab/{name}")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        before[name] = _mark(text)
    given.write_text(json.dumps(before), encoding="utf-8")


def write(folder):
    """Write the notebooks into a new folder that Binder can run."""
    shutil.copytree(site.ROOT / "binder", folder / "binder")
    shutil.copy(next(site.SITE.glob("_sources/*.whl")), folder)
    for name, text in texts().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _mark(text):
    return hashlib.sha256(text.encode()).hexdigest()


def main(options):
    """Build what is missing, hand the notebooks out, and run JupyterLab."""
    if not site.build():
        sys.exit(1)
    if options[:1] == ["--to"]:
        return write(Path(options[1]))
    hand_out()
    home = site.ROOT / ".venv" / "jupyter"
    for name, settings in SETTINGS.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={LAB}"]
    command += ["--LabApp.default_url=/lab/tree/contents.ipynb", *options]
    with contextlib.suppress(KeyboardInterrupt):
        subprocess.run(command, env=os.environ | {"JUPYTER_CONFIG_DIR": str(home)}, check=False)


if __name__ == "__main__":
    main(sys.argv[1:])
