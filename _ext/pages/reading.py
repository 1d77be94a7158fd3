"""Say on the card of a chapter how long it takes to read, from a count of what there is to read.

The card of a notebook says how long it runs. How long it takes to read is counted when the page is
built: words, formulas, lines of code in sight, verdicts, figures, each at the pace below. Exercises
and their solutions are left out, and what is folded away too.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

#: Seconds for each word, formula in a line, line of a displayed formula, line of code, verdict on a
#: card, and figure: the pace of somebody who follows, pencil at hand, not of somebody who leafs.
PACE = {"word": 0.5, "formula": 5, "display": 30, "code": 5, "verdict": 12, "figure": 60}
VERDICT = r"\bc\.(?:holds|tight|necessary|contrast|proves)\("
NUMBERS = "one two three four five six seven eight nine ten".split()


def counted(notebook):
    """Return how many words, formulas, ... a notebook shows before its exercises."""
    count = dict.fromkeys(PACE, 0)
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            shown = [kind for o in cell.get("outputs", []) for kind in o.get("data", {})]
            count["figure"] += any(kind.startswith("image/") for kind in shown)
            if "with claim(" in text:
                count["verdict"] += len(re.findall(VERDICT, text))
            elif "hide-input" not in cell["metadata"].get("tags", []):
                count["code"] += sum(bool(line.strip()) for line in text.splitlines())
            continue
        text, exercises = re.split(r"(?m)^## Exercises$", text + "\n")[0], "\n## Exercises" in text
        text = re.sub(r"(?m)^(`{3,}|:{3,}).*$|^:\w+:.*$|\{[\w:]+\}", " ", text)
        displays = re.findall(r"\$\$(.*?)\$\$", text, flags=re.S)
        count["display"] += sum(1 + d.count(r"\\") for d in displays)
        text = re.sub(r"\$\$.*?\$\$", " ", text, flags=re.S)
        count["formula"] += len(re.findall(r"\$[^$]+\$", text))
        count["word"] += len(re.findall(r"[^\W\d_]+(?:['’-]\w+)*", re.sub(r"\$[^$]+\$", " ", text)))
        if exercises or text.startswith("## Exercises"):
            break
    return count


def minutes(count):
    """Return the time to the next half hour.

    >>> minutes({"word": 7_500})
    60
    """
    seconds = sum(PACE[kind] * number for kind, number in count.items())
    return 30 * max(1, round(seconds / 1800))


def hours(time):
    """Return minutes in words.

    >>> hours(60), hours(150)
    ('an hour', 'two and a half hours')
    """
    whole, half = divmod(time // 30, 2)
    if whole < 2:
        return ["half an hour", "an hour", "an hour and a half"][time // 30 - 1]
    return f"{NUMBERS[whole - 1]}{' and a half' if half else ''} hours"


class TimeOnCard(SphinxTransform):
    """Put the time to read in front of the time to run."""

    default_priority = 500

    def apply(self):
        """Find the paragraph of the card that begins with "Time:"."""
        path = Path(self.env.doc2path(self.env.docname))
        if path.suffix != ".ipynb":
            return
        for card in self.document.findall(nodes.admonition):
            if "chapter-card" not in card["classes"]:
                continue
            for strong in card.findall(nodes.strong):
                if strong.astext() == "Time:":
                    time = minutes(counted(json.loads(path.read_text("utf-8"))))
                    self.env.metadata[self.env.docname]["minutes"] = time
                    place = strong.parent.index(strong) + 1
                    rest = strong.parent[place].astext().lstrip()
                    said = f" {hours(time)} to read, without the exercises; {rest}"
                    strong.parent[place] = nodes.Text(said)


def setup(app):
    """Register the transform."""
    app.add_transform(TimeOnCard)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
