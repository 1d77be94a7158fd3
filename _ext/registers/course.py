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
from sphinx.util.docutils import SphinxDirective

from _ext.registers import blocks, coursemap, planted, results, verdicts
from _ext.registers.coursemap import hours, noted

logger = logging.getLogger(__name__)


class course_place(nodes.General, nodes.Element):
    """Place of the map, the counts or a plan."""


class _Place(SphinxDirective):
    what = ""

    def run(self):
        """Leave a place that is filled once every page has been read."""
        notes = noted(self.env)
        notes["pages"].add(self.env.docname)
        goals = re.findall(r"[\w-]+", self.options.get("goals", ""))
        weeks = int(self.arguments[0]) if self.arguments else 0
        place = course_place(what=self.what, weeks=weeks, goals=goals)
        self.set_source_info(place)
        return [place]


class CourseMap(_Place):
    """``{course-map}``."""

    what = "map"


class CourseCounts(_Place):
    """``{course-counts}``."""

    what = "counts"


class TermPlan(_Place):
    """``{term-plan} 12``."""

    what = "plan"
    required_arguments = 1
    option_spec = MappingProxyType({"goals": directives.unchanged_required})


class FillCourse(results.FillPlaces):
    """Write map, counts and plans into their places."""

    default_priority = 2

    def run(self, **kwargs):
        """Fill every place on this page."""
        places = list(self.document.findall(course_place))
        if places:
            self.gather()
        for place in places:
            made = {"map": self.course, "counts": self.counts, "plan": self.plan}[place["what"]]
            place.replace_self(made(place))

    def course(self, place):
        """Return the map of the course, each chapter leading to its page."""
        return coursemap.map_of(self, lambda slug: self.address(self.chapters[slug]))

    def counts(self, place):
        """Return what the book verifies in numbers."""
        claims = [
            claim
            for slug in self.shown
            for claim in self.pages[self.chapters[slug]].claims
            if not claim.problem
        ]
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
        times = noted(self.env)["minutes"]
        pairs = coursemap.between(self)
        needs = defaultdict(list)
        for a, b in pairs:
            needs[a].append(b)
        known = [slug for slug in self.shown if self.chapters[slug] in times]
        if unknown := set(place["goals"]) - set(self.chapters):
            logger.warning(f"no chapter is called {sorted(unknown)[0]}", location=place)
        wanted = coursemap.closure(place["goals"], needs) if place["goals"] else set(known)
        names = [slug for slug in known if slug in wanted]
        length = {slug: times[self.chapters[slug]] for slug in names}
        rows, week_of = [], {}
        plan = coursemap.weeks(names, length, place["weeks"])
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
        made = []
        for slug in slugs:
            title = self.env.titles[self.chapters[slug]].astext()
            made += [
                nodes.reference("", title, internal=True, refuri=self.address(self.chapters[slug])),
                nodes.Text(", "),
            ]
        return made[:-1]


def note_time(app, doctree):
    """Note the time that a chapter takes."""
    for card in doctree.findall(nodes.Admonition):
        if isinstance(card, nodes.Element) and "chapter-card" in card["classes"]:
            time = coursemap.minutes(" ".join(card.astext().split()))
            if time:
                noted(app.env)["minutes"][app.env.docname] = time
            else:
                logger.warning("the card does not say the time to read", location=card)


def forget(app, env, docname):
    """Drop the notes of a page that is read anew."""
    noted(env)["pages"].discard(docname)
    noted(env)["minutes"].pop(docname, None)


def merge(app, env, docnames, other):
    """Take over the notes that a parallel reader made."""
    theirs = noted(other)
    noted(env)["pages"] |= theirs["pages"] & set(docnames)
    noted(env)["minutes"] |= {d: t for d, t in theirs["minutes"].items() if d in docnames}


def lists(app, env):
    """Name the pages to write in every build: any chapter may have changed what they tell."""
    return sorted(noted(env)["pages"] & set(env.found_docs))


def setup(app):
    """Register directives and notes."""
    app.setup_extension("_ext.registers.results")
    app.add_node(course_place)
    app.add_directive("course-map", CourseMap)
    app.add_directive("course-counts", CourseCounts)
    app.add_directive("term-plan", TermPlan)
    app.add_post_transform(FillCourse)
    app.connect("doctree-read", note_time)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", lists)
    return {
        "version": "1",
        "env_version": 1,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
