"""Places in the text that are filled once every page has been read.

A directive leaves a place; a filler writes what stands there. A page with places is written anew in
every build, for any other page may have changed what it tells.
"""

from types import MappingProxyType

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective


class place(nodes.General, nodes.Element):
    """What a directive leaves: its name, its arguments and its options."""


class Place(SphinxDirective):
    """Leave a place."""

    renewed = True  #: whether the page is written in every build

    def run(self):
        """Leave the place, and note its page."""
        if self.renewed:
            self.env.metadata[self.env.docname]["places"] = True
        left = place(what=self.name, arguments=self.arguments, options=self.options)
        self.set_source_info(left)
        return [left]


class Filler(SphinxPostTransform):
    """Fills places before references are resolved."""

    default_priority = 1
    fills = MappingProxyType({})  #: name of a directive -> function of self and the place

    def run(self, **kwargs):
        """Fill every place of this page that is ours."""
        ours = [left for left in self.document.findall(place) if left["what"] in self.fills]
        if ours:
            self.gather()
        for left in ours:
            left.replace_self(self.fills[left["what"]](self, left))

    def gather(self):
        """Read what all places are filled from."""


def renewed(app, env):
    """Name the pages to write in every build."""
    return [name for name in env.found_docs if env.metadata.get(name, {}).get("places")]


def setup(app):
    """Register the node."""
    app.add_node(place)
    app.connect("env-updated", renewed)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
