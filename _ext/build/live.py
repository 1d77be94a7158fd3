"""``make live``: the site on localhost, with a kernel that runs its cells as they are edited.

    python _ext/build/live.py --port 8000

Two servers listen on this machine alone: one hands out the site and adds one button to its pages,
the other is a Jupyter server. It answers only with a token that is drawn anew each time and only to
pages of the first; the pages may speak to no other host.
"""

import argparse
import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from _ext.build import site

LIVE = Path(__file__).with_name("live_page")
VENDORED = LIVE.parents[1] / "vendored"


def free_port():
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def page(html, base, token):
    """Return a page with the button that makes its cells live."""
    if 'class="cell_input' not in html:
        return html
    settings = json.dumps({"root": "/", "baseUrl": base, "token": token})
    return html.replace(
        "</head>",
        '<link rel="stylesheet" href="/live/live.css">'
        f"<script>window.bookLive = {settings};</script>"
        '<script defer src="/live/start.js"></script></head>',
        1,
    )


class Site(site.Quiet):
    """Hands out the site to pages of its own address, with the button added."""

    base = token = ""

    def end_headers(self):
        """Let a page speak to this server and to the kernel, and to nobody else."""
        kernel = f"{self.base} {self.base.replace('http', 'ws', 1)}"
        own = "'self' 'unsafe-inline' 'unsafe-eval' data: blob:"
        self.send_header(
            "Content-Security-Policy", f"default-src {own}; connect-src 'self' {kernel}"
        )
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        super().end_headers()

    def do_GET(self):
        """Answer requests to localhost; send those to 127.0.0.1 there; refuse the rest."""
        port = self.server.server_address[1]
        asked = self.headers.get("Host", "")
        if asked == f"127.0.0.1:{port}":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{port}{self.path}")
            self.end_headers()
        elif asked != f"localhost:{port}":
            self.send_error(403, "This server answers to localhost only")
        else:
            self.answer()

    def answer(self):
        """Send a file; pages get the button."""
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        if path.suffix != ".html" or not path.is_file():
            super().do_GET()
            return
        html = page(path.read_text(encoding="utf-8"), self.base, self.token).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(html)))
        self.end_headers()
        self.wfile.write(html)

    def translate_path(self, path):
        """Find ``live/`` beside this file, what it needs of others, and all else in the site."""
        where = super().translate_path(path)
        inside = Path(where).relative_to(self.directory).parts
        for place, folder in (
            *((("live", name), VENDORED / name) for name in ("thebe", "katex")),
            (("live",), LIVE),
        ):
            if inside[: len(place)] == place:
                return str(folder.joinpath(*inside[len(place) :]))
        return where


@contextlib.contextmanager
def kernels(port, token, origin):
    """Run a Jupyter server on ``port`` that answers pages of ``origin`` that know the token."""
    with tempfile.TemporaryDirectory() as folder:
        # The settings of the user, whatever they are, stay out of this.
        places = {f"JUPYTER_{name}_DIR": folder for name in ("CONFIG", "RUNTIME")}
        places |= {"JUPYTER_NO_CONFIG": "1", "JUPYTER_TOKEN": token}  # not among the arguments
        command = [sys.executable, "-m", "jupyter_server", "--ip=127.0.0.1", f"--port={port}"]
        command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}"]
        command += ["--no-browser", "--ServerApp.allow_root=True", "--log-level=ERROR"]
        command += [f"--ServerApp.allow_origin={origin}"]
        server = subprocess.Popen(command, env=os.environ | places, start_new_session=True)
        try:
            wait(server, f"http://127.0.0.1:{port}/api", 60)
            yield
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def wait(server, address, seconds):
    """Wait until the server answers."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=2):
            return
        time.sleep(0.2)
    sys.exit("The Jupyter server did not start; its message is above.")


def main():
    """Start both servers, and wait for Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    if not site.SITE.exists():
        sys.exit("There is no site yet: `make book` builds it.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that the kernels end too
    kernel, token = free_port(), secrets.token_hex(24)
    Site.base, Site.token = f"http://127.0.0.1:{kernel}", token
    server = site.listen(Site, options.port, "live")
    origin = f"http://localhost:{options.port}"
    with kernels(kernel, token, origin):
        print(f"Open {origin} and press the button under the title of a chapter.", flush=True)
        print("Everything runs on this machine. Ctrl-C ends.", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
        server.shutdown()


if __name__ == "__main__":
    main()
