"""Building and serving: what is good stays, what changes is shown, nothing spins."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).resolve().parents[2]
PAGE = "# A small book\n\nIt has one page, {} words and $x^2 \\ge 0$, and that is all there is.\n"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book of two pages in a folder of its own, built once."""
    root = tmp_path_factory.mktemp("book")
    for name in ("_ext", "_static", "mllib"):
        shutil.copytree(HERE / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    config = yaml.safe_load((HERE / "_config.yml").read_text(encoding="utf-8"))
    (root / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    toc = "format: jb-book\nroot: chapters/intro\nchapters:\n- file: chapters/more\n"
    (root / "_toc.yml").write_text(toc)
    (root / "requirements.txt").touch()
    (root / "tests").mkdir()
    (root / "chapters").mkdir()
    (root / "registers").mkdir()
    for name in ("results.yml", "errata.yml"):
        (root / "registers" / name).write_text("[]\n")
    (root / "chapters" / "more.md").write_text("# More\n\nWritten after the first page.\n")
    shutil.copy(HERE / "registers" / "references.bib", root / "registers")
    write(root, "few")
    done = build(root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return root


def write(root, word):
    (root / "chapters" / "intro.md").write_text(PAGE.format(word), encoding="utf-8")


def command(*options):
    return [sys.executable, "_ext/build/site.py", *options]


def environment(root):
    return os.environ | {"BOOK_ROOT": str(root), "PYTHONUNBUFFERED": "1"}


def build(root):
    return subprocess.run(
        command(), cwd=root, env=environment(root), capture_output=True, text=True
    )


def shown(root):
    return (root / "_build" / "html" / "chapters" / "intro.html").read_text(encoding="utf-8")


def wait(condition, seconds=90):
    """Return the first true value of ``condition``."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.2)
    raise AssertionError("waited in vain")


def test_a_second_build_has_nothing_to_do(book):
    before = (book / "_build" / "html" / "index.html").stat().st_mtime_ns
    done = build(book)
    assert "Nothing changed" in done.stdout
    assert (book / "_build" / "html" / "index.html").stat().st_mtime_ns == before


def test_a_page_with_a_fault_leaves_the_last_good_site(book):
    good = shown(book)
    write(book, "[many](#nowhere)")
    done = build(book)
    assert done.returncode == 1
    assert "nowhere" in done.stderr
    assert "last good site is kept" in done.stderr
    assert shown(book) == good
    write(book, "few")
    assert build(book).returncode == 0


def heed_ctrl_c():
    """Undo that the children of a job in the background ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(("sign", "moment"), [("SIGINT", "reading"), ("SIGKILL", "writing")])
def test_an_interrupted_build_leaves_the_last_good_site(book, sign, moment):
    good = shown(book)
    write(book, f"{sign} {moment}")
    (book / "requirements.txt").write_text(f"# {sign}\n")  # all pages are written again
    running = subprocess.Popen(
        command(),
        cwd=book,
        env=environment(book),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_ctrl_c,
    )
    assert any(moment in line for line in running.stdout)
    running.send_signal(signal.Signals[sign])
    _, errors = running.communicate(timeout=120)
    assert running.returncode != 0
    assert shown(book) == good
    assert "Traceback" not in errors
    assert build(book).returncode == 0
    assert f"{sign} {moment}" in shown(book)


def seconds_of(pid):
    """Return the processor time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def test_serving_shows_changes_rests_and_stops(book):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (book / "log").open("w")
    running = subprocess.Popen(
        command("--serve", "--port", str(port)),
        cwd=book,
        env=environment(book),
        stdout=log,
        stderr=subprocess.STDOUT,
        preexec_fn=heed_ctrl_c,
    )
    try:
        wait(lambda: "Serving" in (book / "log").read_text())

        def page():
            address = f"http://localhost:{port}/chapters/intro.html"
            with urllib.request.urlopen(address, timeout=5) as answer:
                return answer.read().decode()

        assert "A small book" in page()
        busy = seconds_of(running.pid)
        time.sleep(4)
        assert seconds_of(running.pid) - busy < 0.4  # a tenth of one processor, at most
        write(book, "changed while served")
        wait(lambda: "changed while served" in page())
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=120) == 0
    finally:
        running.kill()
        log.close()
    assert "Traceback" not in (book / "log").read_text()
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
