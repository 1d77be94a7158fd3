"""Titles of exercises and their solutions: one pair of brackets less, and a bar that opens.

An author writes ``{exercise} Another start (conceptual)``; the page shows the title, and what the
exercise asks of the reader on a tag. The title of a solution carries no link, so that its whole bar
opens it: the exercise stands above it.
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.directive import ExerciseDirective
from sphinx_exercise.nodes import exercise_enumerable_node, solution_node

_EFFORT = re.compile(r"\s*\((conceptual|short code|extended)\)$")


def split(title):
    """Return a title without the word in brackets that ends it, and that word or ``""``."""
    match = _EFFORT.search(title.strip())
    return (title.strip()[: match.start()], match[1]) if match else (title.strip(), "")


class Exercise(ExerciseDirective):
    """``{exercise}``: keeps the word that ends the title apart."""

    def run(self):
        """Return the exercise; the search knows its title."""
        title, effort = split(self.arguments[0] if self.arguments else "")
        self.arguments = [title] if title else []
        found = super().run()
        for node in found:
            node["effort"] = effort
            self.env.sphinx_exercise_registry[node["label"]]["title"] = title
        return found


class TidyExercises(SphinxTransform):
    """Replace the id that sphinx-exercise repeats in every exercise and solution of a page."""

    default_priority = 870

    def apply(self):
        """Name the body of each after the whole."""
        for node in self.document.findall(nodes.section):
            if node["ids"] in (["exercise-content"], ["solution-content"]):
                node["ids"] = [f"{node.parent['label']}-content"]


class PlainTitles(SphinxPostTransform):
    """Write the titles, before sphinx-exercise would."""

    default_priority = 19

    def run(self, **kwargs):
        """Replace the titles of this page."""
        known = getattr(self.env, "sphinx_exercise_registry", {})
        for node in self.document.findall(exercise_enumerable_node):
            title = nodes.title("", title="Exercise %s")
            if len(node[0]) > 1:
                title += nodes.inline("", "", *node[0][1].children, classes=["exercise-title"])
            if node["effort"]:
                title += [nodes.Text(" "), nodes.inline("", node["effort"], classes=["effort"])]
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
                title += [nodes.Text(": "), *target["node"][0][1].deepcopy().children]
            node["title"] = words
            node.children[0] = title
            title.parent = node


def setup(app):
    """Register the directive and the transforms."""
    app.setup_extension("sphinx_exercise")
    app.add_directive("exercise", Exercise, override=True)
    app.add_transform(TidyExercises)
    app.add_post_transform(PlainTitles)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
