"""Build the site: Sphinx into a work folder, then the finished site swapped into _build/html.

    python _ext/serving/build.py                       build what changed
    python _ext/serving/build.py --serve --port 8000   build, serve on localhost, rebuild on change

Every warning is an error. A build that fails or is interrupted leaves the last good site in place.
"""

import argparse
import contextlib
import fcntl
import functools
import gc
import hashlib
import http.server
import importlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(os.environ.get("BOOK_ROOT") or Path(__file__).resolve().parents[2])
BUILD = ROOT / "_build"
WORK = BUILD / "work"
SITE = BUILD / "html"
STAMP = BUILD / "built-from"
#: There while a build runs, and after one that failed or was stopped.
UNFINISHED = BUILD / "unfinished"
#: The printed book, and what it was printed from.
PDF, PRINTED = BUILD / "book.pdf", BUILD / "printed-from"

#: What of _ext comes after the pages or beside them: when it changes, no page is read anew.
AFTER = "anchors figures landing previews printing serving shipping vendored".split()

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
    "api/**/*",
    "chapters/**/*",
    "mllib/**/*.py",
    "tests/test_*.py",
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


def fingerprint():
    """Hash of the path and content of every file that the site is made from."""
    digest = hashlib.sha256()
    for path in sources():
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


def code():
    """Hash of the extensions: pages are read anew when one of them changes."""
    paths = (path for path in sorted((ROOT / "_ext").glob("**/*.py")))
    read = (path for path in paths if not {path.stem, path.parent.name} & set(AFTER))
    return hashlib.sha256(b"".join(path.read_bytes() for path in read)).hexdigest()


class Progress:
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

    def flush(self):
        """Nothing waits here."""
        self.stream.flush()

    def isatty(self):
        """Sphinx then writes whole lines."""
        return False


def workers():
    """Return how many processes read and write pages; for a few pages starting them costs more."""
    return os.cpu_count() if len(list((ROOT / "chapters").glob("*/*.ipynb"))) > 4 else 1


def run_sphinx():
    """Bring the work folder up to date; return True if there was no warning."""
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)
    importlib.import_module("_ext")  # first: what follows then starts sooner
    from jupyter_book.sphinx import build_sphinx

    gc.set_threshold(100_000, 20, 100)  # pages are large trees, looked through in vain each time
    with contextlib.redirect_stdout(Progress(sys.stdout)):
        result = build_sphinx(
            ROOT,
            WORK / "html",
            doctreedir=WORK / "doctrees",
            noconfig=True,
            path_config=ROOT / "_config.yml",
            confoverrides={
                "external_toc_path": "_toc.yml",
                "nitpicky": True,
                "latex_individualpages": False,
                "book_code": code(),
            },
            builder="html",
            warningiserror=True,
            keep_going=True,
            jobs=workers(),
        )
    return result == 0


def publish(stamp):
    """Copy the work folder, finish the copy, and put it in the place of the site.

    The printed book and its chapters come with it if they were printed from the same sources.
    """
    from _ext.shipping import finish

    fresh, old = BUILD / "html.fresh", BUILD / "html.old"
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(WORK / "html", fresh)
    printed = PDF.exists() and PRINTED.exists() and PRINTED.read_text() == stamp
    if printed:
        shutil.copy(PDF, fresh)
        shutil.copytree(PDF.with_name("pdf"), fresh / "pdf")
    finish.site(fresh, printed)
    if SITE.exists():
        SITE.rename(old)
    fresh.rename(SITE)
    shutil.rmtree(old, ignore_errors=True)


def build():
    """Build if anything changed; return True if the site is good."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not SITE.exists() and (BUILD / "html.old").exists():  # interrupted between two renames
            (BUILD / "html.old").rename(SITE)
        stamp = fingerprint()
        if SITE.exists() and STAMP.exists() and STAMP.read_text() == stamp:
            print("Nothing changed: the site is up to date.")
            return True
        start = time.monotonic()
        if UNFINISHED.exists():
            # Sphinx forgets warnings of pages that it does not read again, and what it had still
            # to write when it was stopped: read all.
            (WORK / "doctrees" / "environment.pickle").unlink(missing_ok=True)
        UNFINISHED.touch()
        if not run_sphinx():
            kept = " The last good site is kept." if SITE.exists() else ""
            print(f"\nThe book was not built: see the warnings above.{kept}", file=sys.stderr)
            return False
        UNFINISHED.unlink()
        publish(stamp)
        STAMP.write_text(stamp)
        print(f"\nBuilt in {time.monotonic() - start:.0f} s.")
        return True


def offer():
    """Put the book on the site from which it has just been printed."""
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = STAMP.read_text()
        PRINTED.write_text(stamp)
        publish(stamp)


def where():
    """Say where the site is and how to open it."""
    print(f"The site is in {SITE.relative_to(ROOT)}/. Open {SITE / 'index.html'} in a browser,")
    print("or run `make serve` and visit http://localhost:8000.")


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


def serve(port):
    """Serve the site on localhost and rebuild it when a source changes, until interrupted."""
    command = [sys.executable, str(Path(__file__).resolve())]
    seen = times()
    subprocess.run(command, check=False)
    if not SITE.exists():
        sys.exit(1)
    handler = functools.partial(Quiet, directory=str(SITE))
    try:
        server = Server(("127.0.0.1", port), handler)
    except OSError:
        sys.exit(
            f"Port {port} is in use: choose another, for instance `make serve PORT={port + 1}`."
        )
    threading.Thread(target=server.serve_forever, daemon=True).start()
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


def stop(*_):
    """End as Ctrl-C does."""
    raise KeyboardInterrupt


def main():
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--serve", action="store_true", help="serve and rebuild on change")
    parser.add_argument("--printed", action="store_true", help="offer the PDF just printed")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    try:
        if options.printed:
            sys.path.insert(0, str(ROOT))
            offer()
        elif options.serve:
            serve(options.port)
        elif build():
            where()
        else:
            sys.exit(1)
    except KeyboardInterrupt:
        kept = " The last good site is kept." if SITE.exists() else ""
        print("\nStopped." + ("" if options.serve else kept), file=sys.stderr)
        sys.exit(0 if options.serve else 130)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # at once: Python would take apart all that it read of the book, for three seconds
