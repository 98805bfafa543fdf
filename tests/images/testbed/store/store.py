"""A small HTTP key-value store: the companion container of the pod tests. One file a value."""

import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PORT = 8080
FOLDER = Path("/kept")


class Handler(BaseHTTPRequestHandler):
    """GET and PUT /name; GET / lists names; DELETE / empties the store."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one write a reply: two would meet a delayed acknowledgement
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Returns a value, or the names."""
        if self.path == "/":
            names = sorted(p.name for p in FOLDER.iterdir())
            self._reply(200, "\n".join(names).encode())
            return
        try:
            self._reply(200, self._file().read_bytes())
        except FileNotFoundError:
            self._reply(404, b"")

    def do_PUT(self) -> None:
        """Keeps a value."""
        self._file().write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
        self._reply(204, b"")

    def do_DELETE(self) -> None:
        """Empties the store."""
        for path in FOLDER.iterdir():
            path.unlink()
        self._reply(204, b"")

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def _file(self) -> Path:
        return FOLDER / self.path.strip("/").replace("/", "_")

    def _reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    if sys.argv[1] == "healthy":
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/", timeout=1):
            sys.exit(0)
    sys.stdout.write("store: serving\n")
    sys.stdout.flush()
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
