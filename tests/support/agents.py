"""Agents for the bridges' tests: a real HTTP server with scripted replies, and small commands."""

import json
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: A status and a body. A body that is no text is sent as JSON.
Scripted = tuple[int, Any]


class HttpAgent:
    """Answers each path with what is queued for it, else with what it always says.

    Where `recites` is a list, it answers with all that it was told, since Reset if it `forgets`.
    """

    def __init__(self) -> None:
        self.always: dict[str, Scripted] = {
            "/learn": (200, {"ok": True}),
            "/answer": (200, {"answer": "in Bergen"}),
            "/reset": (200, {}),
        }
        self.queued: dict[str, deque[Scripted]] = {path: deque() for path in self.always}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.closes_after_reply = False
        self.cut_off = 0  # bytes that are announced, and not sent
        self.recites: list[str] | None = None
        self.forgets = True
        self.release = threading.Event()
        self.release.set()
        self.url = ""

    def told(self, path: str) -> list[dict[str, str]]:
        """What came in for one path."""
        return [body for where, body in self.asked if where == path]

    def reply(self, path: str) -> Scripted:
        """The next reply."""
        self.release.wait()
        if self.recites is not None and path == "/learn":
            self.recites.append(self.told(path)[-1]["content"])
        if self.recites is not None and path == "/reset" and self.forgets:
            self.recites.clear()
        if self.recites is not None and path == "/answer":
            return 200, {"answer": "\n".join(self.recites)}
        queue = self.queued.get(path)
        return queue.popleft() if queue else self.always.get(path, (404, "no such path"))


@contextmanager
def http_agent() -> Iterator[HttpAgent]:
    """Serves an agent on a free port of the loopback."""
    agent = HttpAgent()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def setup(self) -> None:
            agent.connections += 1
            super().setup()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            agent.asked.append((self.path, json.loads(raw)))
            agent.headers.append(dict(self.headers))
            status, body = agent.reply(self.path)
            sent = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent) + agent.cut_off))
            self.end_headers()
            self.wfile.write(sent)
            # Without a word: the client still believes in the connection.
            self.close_connection = agent.closes_after_reply or agent.cut_off > 0

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - likewise
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        agent.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield agent
        finally:
            agent.release.set()
            server.shutdown()
            thread.join()


def command_agent(folder: Path, body: str) -> str:
    """Writes a command whose Python `body` sees `flag` and `text`; returns its command line."""
    script = folder / "agent.py"
    head = "import json, os, sys, time\nflag, text = sys.argv[-1], sys.stdin.read()\n"
    script.write_text(head + body, "utf-8")
    return f"{sys.executable} -I -S {script}"
