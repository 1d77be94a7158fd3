"""What ``tools/graded.py`` counted: how much of what is wrong the grading of a chapter refuses.

Nothing is taken from what was tried: a version that does what the library does on every input
compared counts as not refused, and is named for it. A chapter that is not in
``registers/grading.yml`` says nothing.
"""

from pathlib import Path

from docutils import nodes

from _ext.registers import blocks, register, verdicts

PARTS = {"functions": "wrong versions of its functions", "exercises": "wrong answers"}
#: How a version that is not refused is told of.
KEPT = {"passed": "passes", "no difference": "no difference on any input compared"}


def scores(folder, slugs):
    """Return, for functions and exercises, {its name: what was counted} of some chapters."""
    found = register.load(Path(folder) / "registers/grading.yml") or {}
    known = [found[slug] for slug in slugs if slug in found]
    return [{k: s for block in known for k, s in block.get(part, {}).items()} for part in PARTS]


def share(known):
    """Return in figures how much was refused of what was tried; "" if nothing was."""
    refused, tried = (sum(s.get(name, 0) for s in known.values()) for name in ("refused", "tried"))
    return f"{verdicts.number(refused)} of {verdicts.number(tried)}" if tried else ""


def line(folder, slug):
    """Return what the card of a chapter says; "" if nothing was tried."""
    counts = zip(map(share, scores(folder, [slug])), PARTS.values())
    said = ", ".join(f"{count} {words}" for count, words in counts if count)
    return said and f"{said} refused."


def named(folder, slug):
    """Return the line of a chapter, and by name what is not refused."""
    functions, answers = scores(folder, [slug])
    kept = [
        f"`{name}`, {words}: {', '.join(f'`{change}`' for change in score[key])}"
        for name, score in functions.items()
        for key, words in KEPT.items()
        if score[key]
    ]
    kept += [
        f"`{name}`: {share({name: score})} wrong answers refused"
        for name, score in answers.items()
        if score.get("refused") != score.get("tried")
    ]
    told = [nodes.paragraph("", "", *verdicts.sentence(text)) for text in kept]
    first = f"Grading: the right versions pass; {line(folder, slug)}"
    listed = nodes.bullet_list("", *(nodes.list_item("", one) for one in told))
    return [nodes.paragraph("", first), *[listed] * bool(kept)] if functions or answers else []


def table(folder, links):
    """Return the table of the chapters that were tried, and of all; ``links`` is {slug: link}."""
    tried = [slug for slug in links if line(folder, slug)]
    rows = []
    for head, slugs in [*((links[slug], [slug]) for slug in tried), (nodes.Text("All"), tried)]:
        functions, answers = scores(folder, slugs)
        kept = [sum(len(score[key]) for score in functions.values()) for key in KEPT]
        checked = f"{sum('tried' in score for score in answers.values())} of {len(answers)}"
        told = (share(functions), *kept, share(answers), checked)
        rows.append([[head], *([nodes.Text(str(one))] for one in told)])
    heads = ("Chapter", "Wrong functions refused", "pass", "no difference")
    heads += ("Wrong answers refused", "Exercises with a check")
    return [blocks.table(heads, rows)] if tried else []
