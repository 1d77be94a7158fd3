"""Build the site: Sphinx into a work folder, then the finished site swapped into _build/html.

    python _ext/build/site.py                       build what changed
    python _ext/build/site.py --serve --port 8000   build, serve on localhost, rebuild on change
    python _ext/build/site.py --course courses/six-weeks.yml   a site of these chapters alone

The rules of the text are checked first (``registers.rules``); then Sphinx reads the pages that
changed. What Sphinx cannot know, such as a register that changed, makes it read all of them. Every
warning is an error. A build that fails or is interrupted leaves the last good site in place, and
the next one begins from nothing.
"""

import argparse
import contextlib
import functools
import gc
import hashlib
import http.server
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import yaml

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    import msvcrt

ROOT = Path(os.environ.get("BOOK_ROOT") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT))

from _ext.pages import reference  # noqa: E402
from _ext.registers import course, rules  # noqa: E402

BUILD = ROOT / "_build"
WORK = BUILD / "work"
SITE = BUILD / "html"
STAMP = BUILD / "built-from"
#: The table of contents with the pages of the library reference.
CONTENTS = BUILD / "contents.yml"
#: The file of the course that the site is built for, or "".
COURSE = ""
#: The printed book, and what it was printed from.
PDF, PRINTED = BUILD / "book.pdf", BUILD / "printed-from"

#: Files in which an edit changes one page alone; after any other change all pages are read.
PAGES = ("chapters/**/*.md", "chapters/**/*.ipynb")

#: Seconds between two looks at the sources while the site is served.
PAUSE = 1.0

SOURCES = (
    "_config.yml",
    "_toc.yml",
    "CITATION.cff",
    "benchmarks/results.yml",
    "requirements.txt",
    "_ext/**/*",
    "_static/**/*",
    "chapters/**/*",
    "courses/*",
    "registers/*",
    "mllib/**/*.py",
    "tests/**/test_*.py",
)


def sources():
    """Return the files that the site is made from, in order."""
    found = []
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            hidden = any(part.startswith((".", "__pycache__")) for part in path.parts[-3:])
            if path.is_file() and not hidden:
                found.append(path)
    return found


def fingerprint(paths):
    """Hash of the path and content of files."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def times():
    """Return when each source was changed and its size: a look at them that reads none."""
    found = {}
    for path in sources():
        with contextlib.suppress(FileNotFoundError):
            about = path.stat()
            found[path] = (about.st_mtime_ns, about.st_size)
    return found


class Progress(io.TextIOBase):
    """The standard output while Sphinx runs: one line per page, nothing else."""

    def __init__(self, stream):
        self.stream, self.line = stream, ""

    def write(self, text):
        """Pass on the lines that tell which page is read or written."""
        self.line += text
        *lines, self.line = re.split("[\r\n]", self.line)
        for line in lines:
            plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line)
            match = re.match(r"(reading|writing)[^\[]*\[ *(\d+%)\] (.*\S)", plain)
            if match:
                self.stream.write("  {} {:>4}  {}\n".format(*match.groups()))
                self.stream.flush()


def for_course(path):
    """Build a site of one course, in a folder of its own beside that of the whole book."""
    global BUILD, WORK, SITE, STAMP, CONTENTS, COURSE
    COURSE = str(path.resolve())
    BUILD = ROOT / "_build" / path.stem
    WORK, SITE, STAMP = BUILD / "work", BUILD / "html", BUILD / "built-from"
    CONTENTS = BUILD / "contents.yml"


def run_sphinx(printed):
    """Bring the work folder up to date; return True if there was no warning."""
    from jupyter_book.sphinx import build_sphinx

    contents = reference.write(ROOT)
    if COURSE:
        contents = course.cut(contents, course.read(ROOT, COURSE))
    CONTENTS.write_text(yaml.safe_dump(contents), encoding="utf-8")
    gc.disable()  # to look for cycles among millions of nodes took half of the time
    with contextlib.redirect_stdout(Progress(sys.stdout)):
        result = build_sphinx(
            ROOT,
            WORK / "html",
            doctreedir=WORK / "doctrees",
            noconfig=True,
            path_config=ROOT / "_config.yml",
            confoverrides={
                "external_toc_path": str(CONTENTS.relative_to(ROOT)),
                "nitpicky": True,
                "latex_individualpages": False,
                "book_printed": printed,
                "book_version": version(),
                "book_course": COURSE,
            },
            builder="html",
            warningiserror=True,
            keep_going=True,
            jobs=os.cpu_count(),
        )
    gc.enable()
    return result == 0


def add_wheel(folder):
    """Put the wheel of the library into a folder; a copy of the tree takes what building leaves."""
    with tempfile.TemporaryDirectory() as tree:
        unneeded = shutil.ignore_patterns("__pycache__", "*.ipynb")
        for name in ("mllib", "chapters"):
            shutil.copytree(ROOT / name, Path(tree, name), ignore=unneeded)
        for name in ("pyproject.toml", "LICENSE"):
            shutil.copy(ROOT / name, tree)
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        subprocess.run([*pip, "--disable-pip-version-check", "-w", folder, tree], check=True)


def publish(printed):
    """Copy the work folder, and put the copy in the place of the site.

    The printed book and its chapters come with it if they were printed from the same sources.
    """
    fresh, old = BUILD / "html.fresh", BUILD / "html.old"
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(WORK / "html", fresh, ignore=shutil.ignore_patterns("*.map", "searchindex.js"))
    if (ROOT / "pyproject.toml").exists():
        add_wheel(fresh / "_sources")
    (fresh / ".nojekyll").touch()  # GitHub Pages keeps folders that begin with an underscore
    if printed:
        shutil.copy(PDF, fresh)
        shutil.copytree(PDF.with_name("pdf"), fresh / "pdf")
    if SITE.exists():
        SITE.rename(old)
    fresh.rename(SITE)
    shutil.rmtree(old, ignore_errors=True)


def hold(file):
    """Wait until no other build holds this open file; it is let go when it is closed."""
    if os.name == "nt":
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX)


def version():
    """Return the version of the book: the last tag and how far the history is beyond it, or ""."""
    command = ["git", "describe", "--tags", "--always"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()


def build():
    """Build if anything changed; return True if the site is good."""
    os.chdir(ROOT)
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        hold(lock)
        if not SITE.exists() and (BUILD / "html.old").exists():  # interrupted between two renames
            (BUILD / "html.old").rename(SITE)
        made_from = fingerprint(sources())
        if COURSE:
            made_from += Path(COURSE).read_text(encoding="utf-8")
        printed = PDF.exists() and PRINTED.exists() and PRINTED.read_text() == made_from
        stamp = f"{made_from} {'printed' if printed else ''}"
        if SITE.exists() and STAMP.exists() and STAMP.read_text() == stamp:
            print("Nothing changed: the site is up to date.")
            return True
        start = time.monotonic()
        pages = {path for pattern in PAGES for path in ROOT.glob(pattern)}
        shared = fingerprint(path for path in sources() if path not in pages) + made_from[64:]
        mark = WORK / "shared"
        if not mark.exists() or mark.read_text() != shared:
            shutil.rmtree(WORK, ignore_errors=True)
        mark.unlink(missing_ok=True)  # so that a build that does not end well is begun anew
        broken = rules.faults(ROOT)
        if broken or not run_sphinx(printed):
            print(*broken, sep="\n", file=sys.stderr)
            kept = " The last good site is kept." if SITE.exists() else ""
            print(f"\nThe book was not built: see the warnings above.{kept}", file=sys.stderr)
            return False
        mark.write_text(shared)
        publish(printed)
        STAMP.write_text(stamp)
        print(f"\nBuilt in {time.monotonic() - start:.0f} s.")
        return True


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serve files without a line per request and without caching."""

    def log_message(self, *args):
        """Say nothing."""

    def end_headers(self):
        """Forbid caching, so that a reload shows the new build."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


class Server(http.server.ThreadingHTTPServer):
    """A server that says nothing when a browser leaves early."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        """Let it go."""


def listen(handler, port, word):
    """Serve the site on localhost in a thread; ``word`` is what was asked for, if nothing can."""
    try:
        server = Server(("127.0.0.1", port), functools.partial(handler, directory=str(SITE)))
    except OSError:
        sys.exit(f"Port {port} is in use: choose another, like `make {word} PORT={port + 1}`.")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def serve(port):
    """Serve the site on localhost and rebuild it when a source changes, until interrupted."""
    command = [sys.executable, str(Path(__file__).resolve())]
    command += ["--course", COURSE] if COURSE else []
    seen = times()
    subprocess.run(command, check=False)
    if not SITE.exists():
        sys.exit(1)
    server = listen(Quiet, port, "serve")
    print(f"Serving http://localhost:{server.server_address[1]} (Ctrl-C ends);")
    print("a change to the book rebuilds it.", flush=True)
    try:
        while True:
            time.sleep(PAUSE)
            now = times()
            if now != seen:
                while now != (seen := times()):  # wait until what is being written is written
                    time.sleep(PAUSE / 4)
                    now = seen
                subprocess.run(command, check=False)
    finally:
        server.shutdown()
        server.server_close()


def main():
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--serve", action="store_true", help="serve and rebuild on change")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--course", type=Path, help="a file like those in courses/")
    options = parser.parse_args()
    if options.course:
        inside = ROOT / "courses" / options.course
        for_course(inside if inside.exists() else options.course)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends as by Ctrl-C
    try:
        if options.serve:
            serve(options.port)
        elif build():
            print(f"The site is in {SITE.relative_to(ROOT)}/. Open index.html there in a browser,")
            print("or run `make serve` and visit http://localhost:8000.")
        else:
            sys.exit(1)
    except KeyboardInterrupt:
        kept = " The last good site is kept." if SITE.exists() else ""
        print("\nStopped." + ("" if options.serve else kept), file=sys.stderr)
        sys.exit(0 if options.serve else 130)


if __name__ == "__main__":
    main()
