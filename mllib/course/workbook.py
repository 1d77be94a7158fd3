"""A chapter as a workbook: its line of thought, with what you are to write left empty.

The site makes one from each chapter, which the menu of downloads of its page offers, and hands
the cells of the rendered page to ``cut``: here stands what is taken out. A function that the page
prints is emptied to its signature, its docstring, the checks of its input and the equations that
it carries out; a solution is left out. The first cell installs the wheel.
"""

import ast
import builtins
import re
import types
from importlib import import_module

import mllib
from mllib.course import exercises
from mllib.course.hints import EMPTY, is_door, source
from mllib.course.page import page

__all__ = ["cut", "opening", "solved", "stub"]

#: The wheel that the site offers beside the workbooks.
WHEEL = f"ml_you_can_check-{mllib.__version__}-py3-none-any.whl"


# What is left empty --------------------------------------------------------------------------


def stub(slug, module, name, equations=()):
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
    words = {*used, *re.findall(r"\w+", ast.get_docstring(node) or "")} & inside.keys()
    for n in sorted(words):
        lines += fields(inside[n])
    body = node.body[1:] if ast.get_docstring(node) else node.body
    end = body[0].lineno
    for part in body:
        if not is_door(part):
            break
        end = part.end_lineno + 1
    head = "\n".join(text.splitlines()[: end - 1])
    named = [f"    # It carries out {', '.join(equations)}."] if equations else []
    return "\n".join([*lines, *[""] * bool(lines), f'@mine("{slug}")', head, *named, EMPTY])


def fields(record):
    """Return comments that tell what a record holds, for a record of the library."""
    if not hasattr(record, "_fields") and not hasattr(record, "__dataclass_fields__"):
        return []
    text = source(record.__module__, record.__name__)
    told = re.findall(r"(?m)^    (\w+): .*?#: (.*)$", text)
    head = [f"# The fields of {record.__name__}:"] if told else []
    return head + [f"#     {name}: {said}" for name, said in told]


def solved(slug, module, name):
    """Return the same cell with the library's body."""
    text = stub(slug, module, name)
    return text[: text.index("def ")] + source(module, name)


def hand_in(label):
    """Return the cell in which an exercise is answered."""
    found, said = exercises.entry(label), "A proof: write it in a cell of text, then see its points"
    if found and found.check:
        said = f"Hand in {found.expects}"
    return f"# {said}.\nhanded_in = None"


# The notebook --------------------------------------------------------------------------------


def cell(kind, name, text):
    """Return a cell of a notebook: "text" and "code", "yours" to be filled, "check" of it."""
    made = {
        "cell_type": "markdown" if kind == "text" else "code",
        "id": re.sub(r"[^\w-]", "-", f"{kind}-{name}")[:64],
        "metadata": {"mllib": {"kind": kind, "name": name}},
        "source": text,
    }
    return made | ({} if kind == "text" else {"execution_count": None, "outputs": []})


def cut(slug, cells):
    """Return the cells of a chapter with what its reader writes left empty.

    Parameters
    ----------
    slug : str; the chapter
    cells : list of dict; the cells of its notebook. ``metadata["mllib"]`` of some says what they
        are: {"kind": "printed", "name": the function}, "exercise" or "solution" and its label.
    """
    made = []
    for given in cells:
        text = given["cell_type"] == "markdown"
        own = {"kind": "text" if text else "code", "name": given["id"]}
        about = given["metadata"].get("mllib", own)
        kind, name = about["kind"], about["name"]
        if kind == "printed":
            numbers = dict.fromkeys(re.findall(r"# .*?(\(\d+\.\d+\))", given["source"]))
            empty = stub(slug, page(slug).printed[name][0], name, numbers)
            made += [cell("yours", name, empty), cell("check", name, f'check("{slug}", "{name}")')]
        elif kind != "solution":
            kept = {**given, "metadata": {**given["metadata"], "mllib": own}}
            if not text:  # pictures stay; what code says, it says when it runs
                drawn = [o for o in given["outputs"] if "image/svg+xml" in o.get("data", ())]
                kept |= {"outputs": drawn, "execution_count": None}
            made.append(kept)
        if kind == "exercise":
            judged = f'answer("{name}", handed_in)'
            made += [cell("yours", name, hand_in(name)), cell("check", name, judged)]
    return made


def opening(title, wheel):
    """Return the first two cells: what this is, and what installs ``wheel``, the library."""
    words = (
        f"# Workbook: {title}\n\n"
        "Write the functions and the answers that are empty. `check` runs what the chapter claims "
        'on your code, and `answer` checks an exercise; `hint("name of a function")` gives a '
        "hint, and up to three. Until a function of yours is there, the library's works in its "
        "place."
    )
    install = (
        "import importlib.util\n\n"
        'if importlib.util.find_spec("mllib") is None:  # once\n'
        f'    %pip install --quiet "{wheel}"\n\n'
        "from mllib.course import answer, check, hint, mine"
    )
    if wheel.startswith(WHEEL):
        words += f" First put the library beside this notebook, `{WHEEL}`: the page offers both."
    return [cell("text", "workbook", words), cell("code", "install", install)]
