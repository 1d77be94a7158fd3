"""Serve a built site on this machine as a web host does: compressed, with keep-alive."""

import contextlib
import functools
import gzip
import http.server
import io
import socket
import threading
from pathlib import Path

TEXT = (".html", ".css", ".js", ".svg", ".json", ".txt", ".xml", ".map", ".ipynb", ".md")


@functools.cache
def compressed(path, size, changed):
    """Return the bytes of a file under gzip; a file that changes is read again."""
    return gzip.compress(Path(path).read_bytes(), 6)


class Host(http.server.SimpleHTTPRequestHandler):
    """Answers like a static host."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        """Say nothing."""

    def send_head(self):
        """Send text compressed and the rest as it is."""
        path = Path(self.translate_path(self.path))
        if path.is_dir() and self.path.split("?")[0].endswith("/"):
            path /= "index.html"
        accepts = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (accepts and path.suffix in TEXT and path.is_file()):
            return super().send_head()
        about = path.stat()
        body = compressed(str(path), about.st_size, about.st_mtime_ns)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return io.BytesIO(body)

    def guess_type(self, path):
        """Name the encoding of text too."""
        kind = super().guess_type(path)
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


class Server(http.server.ThreadingHTTPServer):
    """A server that forgives a browser that leaves early."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """Say nothing about a closed connection."""

    def server_bind(self):
        """Send small answers at once."""
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().server_bind()


@contextlib.contextmanager
def served(folder):
    """Serve ``folder`` on a free port; give the address."""
    handler = functools.partial(Host, directory=str(folder))
    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
