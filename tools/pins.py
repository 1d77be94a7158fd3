"""The pins and their source: ``make pins`` and ``make upgrade``.

    python tools/pins.py export     requirements.txt and binder/requirements.txt, from uv.lock
    python tools/pins.py lock       uv.lock anew: the newest versions that go together; then export
    python tools/pins.py report     execute all notebooks: what the new versions changed in meaning

The report compares with what was committed last and goes to ``_build/upgrade.md``. Every notebook
that ran is published anew, so that ``git diff`` shows the last digits too.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPORT = "export --frozen --no-emit-project --no-hashes --no-annotate --no-header --quiet".split()
#: The files, what they begin with, and the groups that they hold.
FILES = {
    "requirements.txt": (
        "# Exported from uv.lock by `make pins`: all packages, tested together on Python 3.11.\n"
        "# pip installs all of it; book.py what a word needs, from the lock.\n",
        ["--all-groups"],
    ),
    "binder/requirements.txt": (
        "# Exported from uv.lock by `make pins`: what the notebooks import.\n",
        ["--only-group", "notebooks"],
    ),
}
#: What of an output says nothing: nbval does not compare it either.
SKIPPED = ("metadata", "execution_count", "output_type", "name")


def uv(*arguments):
    """Run uv; return what it prints."""
    command = [sys.executable, "-m", "uv", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout


def export():
    """Write the files of pins."""
    for name, (head, groups) in FILES.items():
        (ROOT / name).write_text(head + uv(*EXPORT, *groups), encoding="utf-8", newline="\n")


def committed(path):
    """Return a file as it was committed last."""
    command = ["git", "show", f"HEAD:{path}"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()


def versions(requirements):
    """Return {package: version} of the text of a file of pins."""
    lines = [line.partition(" ;")[0] for line in requirements.splitlines()]
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def changed_versions():
    """Yield (package, version committed, version now) of those that differ."""
    before = versions(committed("requirements.txt"))
    now = versions((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            yield name, before.get(name, "new"), now.get(name, "gone")


def meaning(text):
    """Execute a chapter; return what it says now that it did not say, cell by cell."""
    import nbformat
    from compare import outputs_difference

    command = [sys.executable, "_ext/build/notebooks.py", text.stem]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        return [f"stopped: {(done.stderr.strip() or 'no message').splitlines()[-1]}"]
    pair = text.with_suffix(".ipynb")
    before = nbformat.reads(committed(pair.relative_to(ROOT).as_posix()), as_version=4).cells
    found = []
    for number, cells in enumerate(zip(before, nbformat.read(pair, as_version=4).cells), 1):
        outputs = [cell.get("outputs", []) for cell in cells]
        if fault := outputs_difference(*outputs, SKIPPED):
            found.append(f"cell {number}: {fault.splitlines()[0]}")
    return found


def report():
    """Print and write what changed; return the number of chapters that say something else."""
    rows = ["| package | was | is |", "| --- | --- | --- |"]
    rows += [f"| {' | '.join(row)} |" for row in changed_versions()]
    rows += ["", "| chapter | what changed in meaning |", "| --- | --- |"]
    changed = 0
    for text in sorted((ROOT / "chapters").glob("*/*.md")):
        found = meaning(text)
        changed += bool(found)
        said = "<br>".join(found).replace("|", "\\|") or "nothing"
        rows.append(f"| {text.stem} | {said} |")
        print(rows[-1], flush=True)
    target = ROOT / "_build" / "upgrade.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(f"{changed} chapters changed in meaning; {target.relative_to(ROOT)} has the table.")
    return changed


def main(what):
    """Do what is asked for."""
    if what == "lock":
        uv("lock", "--upgrade")
    if what in ("lock", "export"):
        export()
    else:
        sys.exit(min(1, report()))


if __name__ == "__main__":
    main(sys.argv[1])
