"""What a version publishes: ``make release TAG=v0.2.0``.

    python tools/release.py check v0.2.0    does the tag fit the version, is the change log ready?
    python tools/release.py make v0.2.0     wheel, source distribution, book.pdf, site.zip, notes.md

Everything goes to ``_build/release``; the workflow of that name publishes it.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "_build" / "release"


def notes(version):
    """Return what CHANGELOG.md says of a version, or None."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(version)}\b.*?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found and found[1].strip() + "\n"


def fault(tag):
    """Return why a tag cannot be published in a sentence, or None."""
    code = (ROOT / "mllib" / "__init__.py").read_text(encoding="utf-8")
    version = re.search(r'__version__ = "(.*)"', code)[1]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    if not tag == f"v{version}" == f"v{cited}":
        return f"The tag is {tag}, mllib/__init__.py says {version}, CITATION.cff says {cited}."
    if not notes(version):
        return f"CHANGELOG.md has no section {version}."
    return None


def make(tag):
    """Write all files of a version."""
    shutil.rmtree(TARGET, ignore_errors=True)
    command = [sys.executable, "-m", "build", "--outdir", str(TARGET / "dist"), str(ROOT)]
    subprocess.run(command, check=True)
    shutil.copy(ROOT / "_build" / "book.pdf", TARGET)
    shutil.make_archive(str(TARGET / "site"), "zip", ROOT / "_build" / "html")
    (TARGET / "notes.md").write_text(notes(tag.removeprefix("v")), encoding="utf-8")


if __name__ == "__main__":
    if said := fault(sys.argv[2]):
        sys.exit(said)
    if sys.argv[1] == "make":
        make(sys.argv[2])
