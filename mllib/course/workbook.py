"""A chapter as a workbook: its line of thought, with what you are to write left empty.

    python -m mllib.course.workbook perceptron ~/course

The notebook is made of the chapter's text. A function that the page prints is emptied to its
signature, its docstring and the checks of its input; a solution is left out. Nothing of the book's
repository is needed: the first cell installs the wheel.
"""

import ast
import builtins
import json
import re
import sys
import types
from importlib import import_module
from pathlib import Path

import mllib
from mllib.course import exercises
from mllib.course.hints import EMPTY, is_door, source
from mllib.course.page import _EXERCISE, page
from mllib.course.running import claimed

__all__ = ["cells_of", "stub", "workbook", "written"]

#: What the first cell of a workbook installs: a file beside it.
WHEEL = f"ml_you_can_check-{mllib.__version__}-py3-none-any.whl[book]"

_FENCE = re.compile(r"(?ms)^(`{3,})\{(\w[\w:-]*)\} *([^\n]*)\n(.*?)^\1$")
_EQUATION = re.compile(r"(?s)\$\$\n((?:(?!\$\$).)*?)\n( *)\$\$ \((eq-[\w-]+)\)")
_ROLE = re.compile(r"\{([\w:]+)\}`([^`]+)`|\[([^\]]*)\]\(#([\w-]+)\)")


# Text that every notebook shows --------------------------------------------------------------


def written(chapter, text):
    """Return text of a chapter in plain Markdown: no directives, no roles, numbered equations."""
    numbers = {m[3]: k for k, m in enumerate(_EQUATION.finditer(chapter.text), 1)}

    def role(match):
        kind, words, label = match[1], match[2], match[4]
        if kind is None:
            words, label = match[3], match[4]
        elif named := re.fullmatch(r"(.*?) ?<(.*)>", words, re.S):
            words, label = named[1], named[2]
        else:
            words, label = "", words
        if kind == "eq":
            return f"({numbers.get(label, label)})"
        if kind and kind.startswith("py:"):
            return words or f"`{label.lstrip('~').rpartition('.')[2]}`"
        if kind and kind.startswith("cite"):
            return f"({label})" if kind.endswith(":p") else label
        statement = chapter.statements.get(label)
        exercise = chapter.exercises.get(label)
        title = statement.title if statement else exercise["title"] if exercise else ""
        return words or f"*{title or label.rpartition('/')[2].replace('-', ' ')}*"

    def fence(match):
        kind, title, body = match[2], match[3], match[4]
        body = re.sub(r"\A(?::\w+:[^\n]*\n)+", "", body).strip("\n")
        if kind in ("results-table", "literalinclude") or kind.startswith("solution"):
            return ""
        name = {"admonition": "", "margin": "", "exercise": "Exercise"}.get(kind)
        name = kind.removeprefix("prf:").capitalize() if name is None else name
        if kind == "exercise":
            name, title = f"Exercise. {title.rpartition(' (')[0] or title}", ""
        head = f"**{name}{f' ({title})' if name and title else title}.** " if name or title else ""
        quoted = _FENCE.sub(fence, head + body)
        return "\n".join(f"> {line}".rstrip() for line in quoted.split("\n"))

    text = _EQUATION.sub(lambda m: f"$$\n{m[1]} \\tag{{{numbers[m[3]]}}}\n{m[2]}$$", text)
    text = re.sub(r"(?m)^\([\w-]+\)=\n", "", _FENCE.sub(fence, text))
    text = re.sub(r"\n{3,}", "\n\n", _ROLE.sub(role, text)).strip("\n")
    return re.sub(r"\n*^#+ The results of this chapter\Z", "", text, flags=re.M)


# What is left empty --------------------------------------------------------------------------


def stub(slug, module, name):
    """Return a function as the workbook has it: what it may use, its head, an empty body."""
    text = source(module, name)
    node = ast.parse(text).body[0]
    inside = vars(import_module(module))
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & inside.keys()
    used = sorted(used - {name} - set(dir(builtins)))
    modules = [n for n in used if isinstance(inside[n], types.ModuleType)]
    lines = [f"import {inside[n].__name__} as {n}" for n in modules]
    if rest := [n for n in used if n not in modules]:
        lines.append(f"from {module} import {', '.join(rest)}")
    body = node.body[1:] if ast.get_docstring(node) else node.body
    end = body[0].lineno
    for part in body:
        if not is_door(part):
            break
        end = part.end_lineno + 1
    head = "\n".join(text.splitlines()[: end - 1])
    return "\n".join([*lines, *[""] * bool(lines), f'@mine("{slug}")', head, EMPTY, ""])


def solved(slug, module, name):
    """Return the same cell with the library's body."""
    text = stub(slug, module, name)
    return text[: text.index("def ")] + source(module, name)


def hand_in(label):
    """Return the cell in which an exercise is answered."""
    found = exercises.entry(label)
    if found is None or found.check is None:
        return "# A proof: write it in a cell of text, then look at its points below."
    return f"# Hand in {found.expects}.\nhanded_in = None"


# The notebook --------------------------------------------------------------------------------


def cells_of(slug):
    """Return the cells of a workbook: (what it is, name, source).

    What it is: "text" and "code" are the chapter's, "claim" its claims; "yours" is left empty,
    "check" says how that did.
    """
    chapter, made = page(slug), []
    cut = re.compile(rf"{_EXERCISE.pattern}|(?ms:^`{{3,}}\{{literalinclude\}}.*?^`{{3,}}$)")
    for number, block in enumerate(chapter.blocks):
        if block.solution:
            continue
        if block.kind == "code":
            kind = "claim" if claimed(block.source) else "code"
            made.append((kind, f"cell-{number}", block.source))
            continue
        start = 0
        for match in [*cut.finditer(block.source), None]:
            piece = block.source[start : match.end() if match else None]
            start = match.end() if match else 0
            if said := written(chapter, piece):
                made.append(("text", f"text-{number}-{start}", said))
            if match and match["label"]:
                label = match["label"]
                made.append(("yours", label, hand_in(label)))
                made.append(("check", label, f'answer("{label}", handed_in)'))
            elif match and (name := re.search(r":pyobject: (\w+)\n", match[0])):
                name = name[1]
                if name in chapter.printed:
                    made.append(("yours", name, stub(slug, chapter.printed[name][0], name)))
                    made.append(("check", name, f'check("{slug}", "{name}")'))
    return made


def opening(slug, wheel):
    """Return the first two cells: what this is, and what installs the library."""
    words = (
        f"# Workbook: {page(slug).title}\n\n"
        "Write the functions and the answers that are empty. `check` runs what the chapter claims "
        'on your code, and `answer` checks an exercise; `hint("name of a function")` gives a '
        "hint, and up to three. Until a function of yours is there, the library's works in its "
        "place."
    )
    install = (
        "import importlib.util\n\n"
        'if importlib.util.find_spec("mllib") is None:  # once; it lies beside this file\n'
        f'    %pip install --quiet "{wheel}"\n\n'
        "from mllib.course import answer, check, hint, mine"
    )
    return [("text", "workbook", words), ("code", "install", install)]


def notebook(cells):
    """Return cells as a notebook; claims and figures are folded."""
    made = []
    for kind, name, text in cells:
        where = {"mllib": {"kind": kind, "name": name}}
        identity = re.sub(r"[^\w-]", "-", f"{kind}-{name}")[:64]
        cell = {"id": identity, "metadata": where, "source": text.splitlines(keepends=True)}
        if kind == "text":
            made.append({"cell_type": "markdown", **cell})
            continue
        if kind == "claim":
            where["jupyter"] = {"source_hidden": True}
        made.append({"cell_type": "code", **cell, "execution_count": None, "outputs": []})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def workbook(slug, to=".", *, wheel=WHEEL):
    """Write the workbook of a chapter into a folder; return its path.

    Parameters
    ----------
    slug : str; the chapter
    to : path; a folder, made if need be
    wheel : str; what the first cell installs: a file beside the notebook, or an address
    """
    path = Path(to) / f"{slug}-workbook.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    made = notebook([*opening(slug, wheel), *cells_of(slug)])
    path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("python -m mllib.course.workbook CHAPTER [FOLDER]")
    print(workbook(*sys.argv[1:]))
