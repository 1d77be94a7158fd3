"""Titles of exercises and their solutions: one pair of brackets less, and a bar that opens.

An author writes ``{exercise} Another start (conceptual)``; the page shows the title, and what the
exercise asks of the reader on a tag. The title of a solution carries no link, so that its whole bar
opens it: the exercise stands above it.
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import exercise_enumerable_node, solution_node

_EFFORT = re.compile(r"\s*\((conceptual|short code|extended)\)$")


def split(title):
    """Return a title without the word in brackets that ends it, and that word or ``""``."""
    match = _EFFORT.search(title.strip())
    return (title.strip()[: match.start()], match[1]) if match else (title.strip(), "")


class TidyExercises(SphinxTransform):
    """Replace the id that sphinx-exercise repeats in every exercise of a page."""

    default_priority = 870

    def apply(self):
        """Name the body of each exercise after the exercise."""
        for node in self.document.findall(nodes.section):
            if node["ids"] in (["exercise-content"], ["solution-content"]):
                node["ids"] = [f"{node.parent['label']}-content"]


def parts_of(subtitle):
    """Return the nodes of a title without the word that ends it, and that word."""
    parts = [part.deepcopy() for part in subtitle.children]
    shorter, effort = split(parts[-1].astext()) if parts else ("", "")
    if effort:
        parts[-1] = nodes.Text(f"{shorter} " if shorter else "")
    return parts, effort


class PlainTitles(SphinxPostTransform):
    """Write the titles, before sphinx-exercise would."""

    default_priority = 19

    def run(self, **kwargs):
        """Replace the titles of this page."""
        known = getattr(self.env, "sphinx_exercise_registry", {})
        for node in self.document.findall(exercise_enumerable_node):
            title = nodes.title("", title="Exercise %s")
            if len(node[0]) > 1:
                parts, effort = parts_of(node[0][1])
                title += nodes.inline("", "", *parts, classes=["exercise-title"])
                if effort:
                    title += [nodes.Text(" "), nodes.inline("", effort, classes=["effort"])]
            node.children[0] = title
            title.parent = node
        numbers = self.env.toc_fignumbers
        for node in self.document.findall(solution_node):
            target = known.get(node.get("target_label"))
            if target is None:
                continue
            number = numbers[target["docname"]]["exercise"][node["target_label"]]
            words = f"Solution to Exercise {'.'.join(map(str, number))}"
            title = nodes.title("", words)
            if len(target["node"][0]) > 1:
                title += [nodes.Text(": "), *parts_of(target["node"][0][1])[0]]
            node["title"] = words
            node.children[0] = title
            title.parent = node


class PlainReferences(SphinxPostTransform):
    """Leave the word that ends a title out of the text of references."""

    default_priority = 30

    def run(self, **kwargs):
        """Shorten the texts of references to exercises."""
        effort = re.compile(r"^(Exercise [\d.]+ \(.*) \((?:conceptual|short code|extended)\)\)$")
        for node in self.document.findall(nodes.reference):
            for text in list(node.findall(nodes.Text)):
                if match := effort.match(text):
                    text.parent.replace(text, nodes.Text(f"{match[1]})"))


def setup(app):
    """Register the transforms."""
    app.setup_extension("sphinx_exercise")
    app.add_transform(TidyExercises)
    app.add_post_transform(PlainTitles)
    app.add_post_transform(PlainReferences)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
