"""The course as a whole, on any page: its map, what it verifies, plans for a term.

``{course-map}``
    the map (``coursemap``), each chapter with its time and how many of its results are run;
``{course-counts}``
    what the whole book verifies, in three numbers;
``{term-plan} 12``
    the chapters in so many weeks of nearly the same length; with ``:goals:``, a list of chapters,
    only these and what they rest on.
"""

import html
import re
from collections import defaultdict
from types import MappingProxyType

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging

from _ext.registers import blocks, coursemap, places, planted, results, verdicts
from _ext.registers.coursemap import hours

logger = logging.getLogger(__name__)


class CourseMap(places.Place):
    """``{course-map}``."""


class CourseCounts(places.Place):
    """``{course-counts}``."""


class TermPlan(places.Place):
    """``{term-plan} 12``."""

    required_arguments = 1
    option_spec = MappingProxyType({"goals": directives.unchanged_required})


class FillCourse(results.FillPlaces):
    """Write map, counts and plans into their places."""

    fills = MappingProxyType(
        {
            "course-map": lambda self, place: self.course(),
            "course-counts": lambda self, place: self.counts(),
            "term-plan": lambda self, place: self.plan(place),
        }
    )

    def course(self):
        """Return the map of the course, each chapter leading to its page."""
        return coursemap.map_of(self, lambda slug: self.address(self.chapters[slug]))

    def counts(self):
        """Return what the book verifies in numbers."""
        claims = [c for slug in self.shown for c in self.pages[self.chapters[slug]].claims]
        entries = [(slug, entry) for slug in self.shown for entry in self.of_chapter[slug]]
        run = sum(self.claim_of(self.chapters[s], e["id"]) is not None for s, e in entries)
        checks = sum(verdict.checks for claim in claims for verdict in claim.verdicts)
        tried, died = planted.counted(self.env.srcdir, self.shown)
        said = [
            (len(entries), "results, each derived or defined on its page"),
            (run, f"of them run on their page, in {verdicts.number(checks)} checks"),
        ]
        if tried:
            of = verdicts.number(tried)
            said.append((died, f"of {of} planted faults noticed by the cells of their chapter"))
        tiles = "".join(
            f"<li><strong>{verdicts.number(count)}</strong> {html.escape(words)}</li>"
            for count, words in said
            if count
        )
        return [nodes.raw("", f'<ul class="course-counts">{tiles}</ul>', format="html")]

    def plan(self, place):
        """Return the table of a term."""
        about = {slug: self.env.metadata[self.chapters[slug]] for slug in self.shown}
        goals = re.findall(r"[\w-]+", place["options"].get("goals", ""))
        needs = defaultdict(list)
        for a, b in coursemap.between(self):
            needs[a].append(b)
        known = [slug for slug in self.shown if "minutes" in about[slug]]
        if unknown := set(goals) - set(self.chapters):
            logger.warning(f"no chapter is called {sorted(unknown)[0]}", location=place)
        wanted = coursemap.closure(goals, needs) if goals else set(known)
        names = [slug for slug in known if slug in wanted]
        length = {slug: about[slug]["minutes"] for slug in names}
        rows, week_of = [], {}
        plan = coursemap.weeks(names, length, int(place["arguments"][0]))
        for number, week in enumerate(plan, 1):
            week_of |= dict.fromkeys(week, number)
            before = dict.fromkeys(b for a in week for b in needs[a] if week_of[b] < number)
            rows.append(
                (
                    [nodes.Text(str(number))],
                    self.links(week),
                    [nodes.Text(hours(sum(length[slug] for slug in week)))],
                    self.links(before) or [nodes.Text("nothing yet")],
                )
            )
        if not rows:
            return []
        total = hours(sum(length.values()))
        longest = max(sum(length[slug] for slug in week) for week in plan)
        said = f"{len(names)} chapters, {total} of reading, at most {hours(longest)} a week."
        heads = ("Week", "Chapters", "Reading", "Rests directly on")
        return [nodes.paragraph("", said), blocks.table(heads, rows, "term-plan")]

    def links(self, slugs):
        """Return links to chapters, with commas between."""
        address = {slug: self.address(self.chapters[slug]) for slug in slugs}
        return blocks.commas(
            nodes.reference("", self.title_of(slug), internal=True, refuri=address[slug])
            for slug in slugs
        )


def setup(app):
    """Register directives and notes."""
    app.setup_extension("_ext.registers.results")
    app.add_directive("course-map", CourseMap)
    app.add_directive("course-counts", CourseCounts)
    app.add_directive("term-plan", TermPlan)
    app.add_post_transform(FillCourse)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
