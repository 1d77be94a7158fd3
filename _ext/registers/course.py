"""The course as a whole, on any page: its map, what it verifies, plans for a term.

``{course-map}``
    the map (``coursemap``), each chapter with its time and how many of its results are run;
``{course-counts}``
    what the whole book verifies, in three numbers;
``{term-plan} six-weeks.yml``
    the chapters of a course by week, with their times and what they rest on; with ``:assignments:``
    what of them can be handed out and graded, as far as the grading was tried (``graded``).
``{course-plan}``
    the plan of the course that this site is built for, if it is built for one.

A course is a file in ``courses/``. The site of a course has its chapters alone; a link into any
other becomes text, with a note at the end of the page that names what was left out.
"""

import html
import re
from collections import defaultdict
from pathlib import Path
from types import MappingProxyType

import yaml
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import docname_join, logging

from _ext.registers import blocks, coursemap, graded, places, planted, register, results, verdicts
from _ext.registers.coursemap import hours
from mllib.course.page import page

logger = logging.getLogger(__name__)


class CourseMap(places.Place):
    """``{course-map}``."""


class CourseCounts(places.Place):
    """``{course-counts}``."""


class TermPlan(places.Place):
    """``{term-plan} six-weeks.yml``."""

    required_arguments = 1
    option_spec = MappingProxyType({"assignments": directives.flag})


class CoursePlan(places.Place):
    """``{course-plan}``."""


class FillCourse(results.FillPlaces):
    """Write map, counts and plans into their places."""

    fills = MappingProxyType(
        {
            "course-map": lambda self, place: self.course(),
            "course-counts": lambda self, place: self.counts(),
            "term-plan": lambda self, place: (
                self.assignments if "assignments" in place["options"] else self.plan
            )(place["arguments"][0], place),
            "course-plan": lambda self, place: self.plan(self.config.book_course, place),
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

    def plan(self, course, place):
        """Return the table of a course."""
        if not course:
            return []
        weeks = read(self.env.srcdir, course)["weeks"]
        listed = [slug for week in weeks for slug in week["chapters"]]
        everywhere = {Path(name).name for name in sources(self.env.srcdir)}
        if unknown := set(listed) - everywhere:
            logger.warning(f"no chapter is called {sorted(unknown)[0]}", location=place)
        needs = defaultdict(list)
        for a, b in coursemap.between(self):
            needs[a].append(b)
        about = {slug: self.env.metadata[self.chapters[slug]] for slug in self.shown}
        names = [slug for slug in listed if "minutes" in about.get(slug, ())]
        length = {slug: about[slug]["minutes"] for slug in names}
        plan = [[slug for slug in week["chapters"] if slug in names] for week in weeks]
        rows, week_of = [], {}
        for number, week in enumerate(plan, 1):
            week_of |= dict.fromkeys(week, number)
            before = dict.fromkeys(
                b for a in week for b in needs[a] if week_of.get(b, number) < number
            )
            rows.append(
                (
                    [nodes.Text(f"{number} {weeks[number - 1].get('date', '')}".strip())],
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

    def assignments(self, course, place):
        """Return the table of what each week of a course can set."""
        rows = []
        for number, week in enumerate(read(self.env.srcdir, course)["weeks"], 1):
            for slug in [slug for slug in week["chapters"] if slug in self.shown]:
                functions, answers = graded.scores(self.env.srcdir, [slug])
                code = blocks.commas(nodes.literal("", name) for name in functions)
                checked = blocks.commas(
                    nodes.reference(
                        *("", ""),
                        *verdicts.sentence(re.sub(r" \([a-z ]+\)$", "", exercise["title"])),
                        internal=True,
                        refuri=self.address(self.chapters[slug], label),
                    )
                    for label, exercise in page(slug).exercises.items()
                    if "tried" in answers.get(label, ())
                )
                if code or checked:
                    rows.append(([nodes.Text(str(number))], self.links([slug]), code, checked))
        heads = ("Week", "Chapter", "Functions to write", "Exercises to answer")
        return [blocks.table(heads, rows)] if rows else []

    def links(self, slugs):
        """Return links to chapters, with commas between."""
        address = {slug: self.address(self.chapters[slug]) for slug in slugs}
        return blocks.commas(
            nodes.reference("", self.title_of(slug), internal=True, refuri=address[slug])
            for slug in slugs
        )


# -- a site of one course --------------------------------------------------------------------------


def read(folder, course):
    """Return a course: its title and its weeks."""
    path = Path(course) if Path(course).exists() else Path(folder, "courses", course)
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def sources(folder):
    """Return the pages of all chapters of the book, in the course or not."""
    texts = Path(folder, "chapters").glob("*/*.md")
    return [path.relative_to(folder).with_suffix("").as_posix() for path in sorted(texts)]


def cut(contents, course):
    """Leave in a table of contents the chapters of a course, and every page that is no chapter."""
    kept = {slug for week in course["weeks"] for slug in week["chapters"]}
    for part in contents["parts"]:
        part["chapters"] = [
            page
            for page in part["chapters"]
            if page["file"].count("/") < 2 or Path(page["file"]).name in kept
        ]
    contents["parts"] = [part for part in contents["parts"] if part["chapters"]]
    return contents


#: What a chapter can be referred to by, in its text.
_LABEL = re.compile(
    r"(?m)^\(([\w-]+)\)=$|^\s*:(?:label|name): (\S+)|^\s*name: (fig-\S+)|\$\$ \(([\w-]+)\)"
)


class LeaveOut(SphinxPostTransform):
    """Turn references into chapters that the course leaves out into text."""

    default_priority = 3

    def run(self, **kwargs):
        """Replace them, and name these chapters at the end of the page."""
        if not self.config.book_course:
            return
        gone, titles = left_out(self.env)
        named = {}
        for link in list(self.document.findall(addnodes.pending_xref)):
            to = link["reftarget"].lstrip("#")
            to = docname_join(link["refdoc"], to) if link["reftype"] == "doc" else to
            if link["refdomain"] == "py" or to not in gone:
                continue
            text = link.astext() if link.get("refexplicit") else titles.get(to, link.astext())
            named[gone[to]] = None
            mark = nodes.superscript("", "", nodes.reference("", "†", refid="left-out"))
            link.replace_self([nodes.inline("", text), mark])
        if named:
            note = nodes.paragraph("", f"† Not in this course: {', '.join(named)}.")
            note["ids"] = ["left-out"]
            self.document.next_node(nodes.section).append(note)


def left_out(env):
    """Return {label or page: title of its chapter} for what is left out, and titles of results."""
    if not hasattr(env, "left_out"):
        gone = {}
        titles = {
            entry["id"]: blocks.plain(entry["title"]) for entry in register.registers(env.app)[0]
        }
        for page in set(sources(env.srcdir)) - env.found_docs:
            text = Path(env.srcdir, f"{page}.md").read_text(encoding="utf-8")
            title = re.search(r"(?m)^# (.*)", text)[1]
            names = [
                page,
                *filter(None, (part for found in _LABEL.findall(text) for part in found)),
            ]
            gone |= dict.fromkeys(names, title)
            titles[page] = title
        env.left_out = gone, titles
    return env.left_out


def setup(app):
    """Register directives and notes."""
    app.add_config_value("book_course", "", "env")
    app.add_directive("course-plan", CoursePlan)
    app.add_post_transform(LeaveOut)
    app.setup_extension("_ext.registers.results")
    app.add_directive("course-map", CourseMap)
    app.add_directive("course-counts", CourseCounts)
    app.add_directive("term-plan", TermPlan)
    app.add_post_transform(FillCourse)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
