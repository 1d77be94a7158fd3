"""Begin a chapter that passes its gates: ``make new-chapter CHAPTER=least-angles PART=regression``.

It writes text, module and test from ``tools/chapter``, enters the chapter behind the last of its
part, and executes it. What is written there is one lemma and every part that a chapter has.
"""

import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
MODEL = Path(__file__).parent / "chapter"


def edit(name, old, new):
    """Replace the first place of a pattern in a file of the book."""
    path = ROOT / name
    text, count = re.subn(old, new, path.read_text(encoding="utf-8"), count=1, flags=re.M)
    if not count:
        sys.exit(f"{name}: no place for the chapter.")
    path.write_text(text, encoding="utf-8", newline="\n")


def main(slug, part):
    """Write the chapter and execute it."""
    if not re.fullmatch(r"[a-z]+(-[a-z]+)*", slug) or list(ROOT.glob(f"chapters/*/{slug}.md")):
        sys.exit("CHAPTER is a new name of small letters and hyphens, such as least-angles.")
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [one["file"] for group in contents["parts"] for one in group["chapters"]]
    last = [file for file in files if file.startswith(f"chapters/{part}/")]
    if not last:
        sys.exit(f"There is no part {part!r}: PART is a folder of chapters.")
    name, title = slug.replace("-", "_"), slug.replace("-", " ").capitalize()
    filled = {"SLUG": slug, "NAME": name, "TITLE": title}
    for model, target in (
        ("text.md", f"chapters/{part}/{slug}.md"),
        ("module.py.txt", f"mllib/{name}.py"),
        ("test.py.txt", f"tests/library/test_{name}.py"),
    ):
        text = (MODEL / model).read_text(encoding="utf-8")
        text = re.sub("|".join(filled), lambda found: filled[found[0]], text)
        (ROOT / target).write_text(text, encoding="utf-8", newline="\n")
    before = last[-1]
    edit("_toc.yml", f"^( *- file: ){before}$", rf"\g<0>\n\1chapters/{part}/{slug}")
    edit("tests/book/test_book.py", rf"(?<=[ \n]){Path(before).stem}(?=[ \n])", rf"\g<0> {slug}")
    with (ROOT / "registers" / "results.yml").open("a", encoding="utf-8", newline="\n") as results:
        results.write(f"\n# {slug}\n")
        for end, kind, said in (
            ("nearest-constant", "definition", "Nearest constant"),
            ("mean", "lemma", "The mean is the nearest constant"),
        ):
            results.write(
                f"- id: {slug}-{end}\n  chapter: {slug}\n  kind: {kind}\n  title: '{said}'\n"
                "  sources: []\n"
            )
    subprocess.run([sys.executable, "_ext/build/notebooks.py", slug], cwd=ROOT, check=True)
    print(f"chapters/{part}/{slug}.md is there. Edit it, then: make run CHAPTER={slug}")


if __name__ == "__main__":
    main(*sys.argv[1:])
