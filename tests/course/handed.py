"""The cells of a chapter as the site hands them to ``cut``, but for the text, which stays raw."""

from mllib.course.hints import source
from mllib.course.page import page


def cells(slug):
    """Return the blocks of a chapter, then its printed functions and its exercises."""
    chapter, made = page(slug), []

    def put(text, code=False, **about):
        cell = {"cell_type": "markdown", "id": f"cell-{len(made)}", "source": text}
        cell["metadata"] = {"mllib": about} if about else {}
        if code:
            cell |= {"cell_type": "code", "execution_count": 1, "outputs": []}
        made.append(cell)

    for block in chapter.blocks:
        about = {"kind": "solution", "name": block.solution} if block.solution else {}
        put(block.source, block.kind == "code", **about)
    for name, (module, _) in chapter.printed.items():
        put(f"```python\n{source(module, name)}    # (7.1)\n```", kind="printed", name=name)
    for label, exercise in chapter.exercises.items():
        put(exercise["body"], kind="exercise", name=label)
    return made
