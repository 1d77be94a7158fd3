"""Assignments for a course: handed out in nbgrader's format, and graded with it or without.

    python -m mllib.course.assignment ~/course perceptron-workbook.ipynb k-means-workbook.ipynb
    python -m mllib.course.assignment --grade ~/course

The first takes workbooks, which the pages of their chapters offer, and writes
``source/<chapter>/<chapter>.ipynb``, from which ``nbgrader generate_assignment`` makes what
students get: the workbook, its cells of checks locked and worth points. The same version for
students stands in ``release/`` for a course without nbgrader. The second grades what lies in
``submitted/<student>/<chapter>/<chapter>.ipynb``: into ``grades.csv``, and a page for each student
in ``feedback/``.
"""

import argparse
import ast
import csv
import html
import json
import re
from pathlib import Path

from mllib.course import exercises
from mllib.course.grading import Report, mine, report
from mllib.course.hints import EMPTY
from mllib.course.page import needed, page
from mllib.course.running import Outcome, Run, apart, check, watch
from mllib.course.workbook import solved, stub

__all__ = ["assignment", "grade"]

POINTS = 2  # of each task
#: What nbgrader leaves of a solution, and the seconds that it gives a cell.
CONFIG = f"""\
c = get_config()
c.ClearSolutions.code_stub = {{"python": "{EMPTY.strip()}"}}
c.Execute.timeout = 300
"""


# Handing out ---------------------------------------------------------------------------------


def known(cell):
    """Return what a cell is and its name, as the workbook notes them."""
    about = cell["metadata"]["mllib"]
    return about["kind"], about["name"]


def source_of(cell):
    """Return the text of a cell, which notebooks keep whole or in lines."""
    return "".join(cell["source"])


def _graded(kind, name):
    """Return what nbgrader has to know of a cell."""
    about = {"schema_version": 3, "grade_id": re.sub(r"\W", "-", f"{kind}-{name}"), "task": False}
    if kind == "yours":
        return about | {"solution": True, "grade": False, "locked": False}
    if kind == "check":
        return about | {"solution": False, "grade": True, "locked": True, "points": POINTS}
    return about | {"solution": False, "grade": False, "locked": True}


def tasks(cells, only=()):
    """Return the cells of an assignment: a workbook's, proofs apart, which no run grades.

    With ``only`` these tasks are left, each under the text before it, and the imports.
    """
    made, before = cells[:2], None
    for cell in cells[2:]:
        kind, name = known(cell)
        if kind in ("yours", "check"):
            found = exercises.entry(name) if name.startswith("ex-") else True
            if found is not True and (found is None or found.check is None):
                continue
            if only and name not in only:
                continue
            if only and kind == "yours" and before:
                made.append(before)
            made.append(cell)
        elif not only or (kind == "code" and imports(source_of(cell))):
            made.append(cell)
        before = cell if kind == "text" else None
    if missing := set(only) - {known(cell)[1] for cell in made if known(cell)[0] == "yours"}:
        raise ValueError(f"The workbook has no such task: {', '.join(sorted(missing))}.")
    return made


def imports(text):
    """Whether a cell does nothing but import."""
    kinds = (ast.Import, ast.ImportFrom, ast.Expr)
    return "import " in text and all(isinstance(node, kinds) for node in ast.parse(text).body)


def with_solution(slug, name, text):
    """Return a cell of the teacher's version: the answer between nbgrader's marks."""
    start, end = "### BEGIN SOLUTION", "### END SOLUTION"
    if name.startswith("ex-"):
        cells = "\n\n".join(cell.source for cell in page(slug).solution(name))
        return f"{text}\n{start}\n{cells}\n{end}"
    module = page(slug).printed[name][0]
    head = stub(slug, module, name).partition(EMPTY)[0]
    body = "\n".join(solved(slug, module, name).splitlines()[len(head.splitlines()) :])
    return text.replace(EMPTY, f"    {start}\n{body}\n    {end}")


def assignment(workbooks, to, *, only=()):
    """Write an assignment of each workbook; return the paths of the teacher's versions.

    Parameters
    ----------
    workbooks : sequence of path
    to : path; the folder of the course
    only : sequence of str; functions and exercises to ask for, instead of all
    """
    written = []
    for workbook in workbooks:
        text = Path(workbook).read_text(encoding="utf-8")
        for version in ("source", "release"):
            made = json.loads(text)
            slug = made["metadata"]["mllib"]["chapter"]
            made["cells"] = tasks(made["cells"], only)
            for cell in made["cells"]:
                kind, name = known(cell)
                cell["metadata"]["nbgrader"] = _graded(kind, name) | {
                    "cell_type": cell["cell_type"]
                }
                if kind == "yours" and version == "source":
                    cell["source"] = with_solution(slug, name, source_of(cell))
                elif kind == "check":
                    asked = f"from mllib.course import answer, check\n\n{source_of(cell)}.require()"
                    cell["source"] = asked
            path = Path(to) / version / slug / f"{slug}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
            written += [path] if version == "source" else []
    (Path(to) / "nbgrader_config.py").write_text(CONFIG, "utf-8")
    return written


# Grading without nbgrader --------------------------------------------------------------------


def handed_in(path):
    """Return what a submission has in the cells that were left empty: {name: source}."""
    if path.stat().st_size > 20 << 20:
        raise ValueError("the file is larger than 20 MB")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    found = {}
    for cell in cells:
        identity = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", "")
        if cell.get("cell_type") == "code" and identity.startswith("yours-"):
            found[identity] = source_of(cell)
    if not found:
        raise ValueError("it has none of the cells that were handed out")
    return found


def original(path):
    """Return the cells that were handed out: (what it is, name, source)."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(*known(cell), source_of(cell)) for cell in cells]


def _plain(text):
    """Return code without the lines that only a notebook understands."""
    return re.sub(r"(?m)^(\s*)[%!?].*$", r"\1pass", text)


def _parses(text):
    try:
        return ast.parse(text) is not None
    except (SyntaxError, ValueError):
        return False


def collect(slug, name, cells, last, say):
    """Run the cells that a task needs, in order, and say what was handed in, packed."""
    import cloudpickle

    run = Run(slug, {}, say)
    run.at = name
    watch(run)
    run.begin()
    run.space.update(mine=mine)
    sources = [text if _parses(text) else "" for text in cells]
    run.cells = [run.cells[0]._replace(source=text) for text in sources]
    for k in [*needed(run.cells, last), last]:
        run.execute(k)
        if run.ended[k] is not None and k == last:
            said = f"Your cell stopped: {type(run.ended[k]).__name__}: {run.ended[k]}."
            say(Outcome(name, False, said, said))
            return
    wanted = "handed_in" if name.startswith("ex-") else name
    if run.space.get(wanted) is None:
        said = f"There is no `{wanted}` in your cell."
        say(Outcome(name, False, said, said))
        return
    say(cloudpickle.dumps(run.space[wanted]))


def graded(slug, name, packed, say):
    """Check what was handed in, in a process that has nothing else of the student's."""
    import cloudpickle

    given = cloudpickle.loads(packed)
    if name.startswith("ex-"):
        exercises.judge(name, given if isinstance(given, tuple) else (given,), say)
    else:
        check(slug, {(page(slug).printed[name][0], name): given}, say=say)


def mark(slug, cells, name, last):
    """Return the report on one task of a submission."""
    title = f"{page(slug).title}: {name}"
    source = cells[last]
    try:
        ast.parse(source)
    except SyntaxError as error:
        return Report(title, [], f"Line {error.lineno} of this cell is no Python: {error.msg}.")
    left = source.strip().removesuffix(EMPTY.strip()).rstrip()
    if EMPTY in source or left.endswith("handed_in = None"):
        return Report(title, [], "Left empty.")
    messages = apart(collect, slug, name, cells, last, seconds=90)
    packed = [message for message in messages if isinstance(message, bytes)]
    outcomes = [message for message in messages if isinstance(message, Outcome)]
    if outcomes or not packed:
        said = "The cell did not come to its end: out of time or memory, or it ended the process."
        return Report(title, outcomes, "" if outcomes else said)
    messages = apart(graded, slug, name, packed[0])
    if name.startswith("ex-"):
        outcomes = [message for message in messages if isinstance(message, Outcome)]
        ended = messages[-1] is None
        return Report(title, [] if ended else outcomes, "The check did not end." if ended else "")
    return report(slug, {(page(slug).module, name): None}, messages, 0.0)


def grade(folder):
    """Grade all submissions in ``folder/submitted``; write the table and the pages.

    Returns the rows of the table: student, chapter, task, points, of how many, what was said.
    """
    folder, rows, pages = Path(folder), [], {}
    for path in sorted(folder.glob("submitted/*/*/*.ipynb")):
        student, slug = path.parts[-3], path.parent.name
        listed = original(folder / "release" / slug / f"{slug}.ipynb")
        try:
            given, problem = handed_in(path), ""
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            given, problem = {}, f"This is not the notebook that was handed out: {error}."
        todo = [cell for cell in listed if cell[0] not in ("text", "check")]
        cells = [
            _plain(given.get(_graded(kind, name)["grade_id"], text) if kind == "yours" else text)
            for kind, name, text in todo
        ]
        names = [(kind, name) for kind, name, _ in todo]
        for last, (kind, name) in enumerate(names):
            if kind != "yours":
                continue
            found = Report(name, [], problem) if problem else mark(slug, cells, name, last)
            points = POINTS if found.passed else 0
            failed = [o for o in found.outcomes if not o.passed]
            said = failed[0].what if failed else found.remark if not found.passed else ""
            rows.append((student, slug, name, points, POINTS, " ".join(said.split())[:200]))
            pages.setdefault(student, []).append((name, points, found))
    with open(folder / "grades.csv", "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow(["student", "chapter", "task", "points", "of", "remark"])
        table.writerows(rows)
    (folder / "feedback").mkdir(exist_ok=True)
    for student, reports in pages.items():
        (folder / "feedback" / f"{student}.html").write_text(feedback(student, reports), "utf-8")
    return rows


def feedback(student, reports):
    """Return the page of a student."""
    total = sum(points for _, points, _ in reports)
    parts = [
        f"<h2>{html.escape(name)}: {points} of {POINTS}</h2><pre>{html.escape(repr(found))}</pre>"
        for name, points, found in reports
    ]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(student)}</title>"
        "<style>body{font:1rem/1.5 system-ui;max-width:50rem;margin:auto;padding:1rem}"
        "pre{white-space:pre-wrap}</style>"
        f"<h1>{html.escape(student)}: {total} of {POINTS * len(reports)} points</h1>"
        f"{''.join(parts)}</html>"
    )


def main():
    """Write assignments, or grade what was handed in."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", help="the folder of the course")
    parser.add_argument("workbooks", nargs="*", help="workbooks of chapters")
    parser.add_argument("--grade", action="store_true", help="grade what is in submitted/")
    options = parser.parse_args()
    if options.grade:
        rows = grade(options.folder)
        points = sum(row[3] for row in rows)
        print(f"{points} of {POINTS * len(rows)} points; see {options.folder}/grades.csv")
    else:
        for path in assignment(options.workbooks, options.folder):
            print(path)


if __name__ == "__main__":
    main()
