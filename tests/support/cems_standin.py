"""A stand-in for a CEMS server: its REST contract over real HTTP, with what was measured on it.

What it stands for: users with keys of their own and an admin key, documents that are known by the
hash of their content, a `timestamp` that is taken and dropped, chunks, a raw search of the best
chunk of each document and a shipped one with threshold, gap and snippets, and calls that find any
user's document by its id. What it does not: embeddings. It ranks by the words that are shared.

::

    with CemsStandIn() as cems:
        cems.fail("/api/memory/search", Fault(status=503))
        … cems.url, cems.seen, cems.documents …

As a process of its own: ``python tests/support/cems_standin.py [PORT [ADMIN_KEY]]`` writes its URL
to the standard output. It imports nothing but the standard library.
"""

import hashlib
import json
import math
import re
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

ADMIN_KEY = "memrig"
CHUNK, OVERLAP = 3200, 480
SNIPPET, QUERY, CONTENT = 500, 2000, 100_000
THRESHOLD, GAP = 0.45, 0.5
FUNCTIONAL = {"gate-rules", "guidelines", "preferences", "category-summary"}
CATEGORIES = {"general", "decisions", "patterns", "preferences", "debugging"}

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Fault:
    """What the next request of a path meets, instead of or before its answer.

    Args:
        status: answered at once, where it is not 200.
        error_event: a reply of status 200 whose result says ERROR.
        lost: so many ids of a batch are left out, though the documents are stored.
        delay_s: waited before anything is done.
        cut: the connection ends in the middle of the reply.
        body: what is answered, word for word.
    """

    status: int = 200
    error_event: bool = False
    lost: int = 0
    delay_s: float = 0.0
    cut: bool = False
    body: str = ""


@dataclass(slots=True)
class Document:
    """A document as CEMS keeps it."""

    id: str
    user_id: str
    content: str
    category: str
    source_ref: str | None
    tags: list[str]
    created_at: str
    #: Pieces that overlap, each with its words.
    chunks: list[tuple[str, set[str]]]


@dataclass
class Store:
    """Users, keys and documents."""

    users: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)

    def of(self, user_id: str) -> list[Document]:
        """A user's documents, in the order they came."""
        return [d for d in self.documents.values() if d.user_id == user_id]

    def put(self, user_id: str, memory: dict[str, Any], category: str) -> tuple[str, bool]:
        """Stores a document, unless the user has its content; its id, and whether it is new."""
        content = memory["content"]
        if "\x00" in content:
            raise _Refusal(500, "Internal server error")
        hashed = hashlib.sha256(content.encode()).hexdigest()
        for known in self.of(user_id):
            if hashlib.sha256(known.content.encode()).hexdigest() == hashed:
                return known.id, False
        made = Document(
            str(uuid.uuid4()),
            user_id,
            content,
            category,
            memory.get("source_ref"),
            memory.get("tags") or [],
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),  # never memory["timestamp"]
            [(chunk, _words(chunk)) for chunk in _chunks(content)],
        )
        self.documents[made.id] = made
        return made.id, True

    def rank(self, user_id: str, query: str) -> list[tuple[float, str, Document]]:
        """The best chunk of each document that shares a word with the query, best first."""
        pieces = [(chunk, held, d) for d in self.of(user_id) for chunk, held in d.chunks]
        asked = _words(query)
        spread = Counter(word for _, held, _ in pieces for word in asked & held)
        weights = {word: math.log(1 + len(pieces) / (1 + spread[word])) for word in spread}
        whole = sum(weights.values()) or 1.0  # what nobody said weighs nothing
        best: dict[str, tuple[float, str, Document]] = {}
        for chunk, held, document in pieces:
            score = sum(weights[word] for word in sorted(asked & held)) / whole
            if score > best.get(document.id, (0.0,))[0]:
                best[document.id] = (score, chunk, document)
        return sorted(best.values(), key=lambda entry: -entry[0])


class _Refusal(Exception):  # noqa: N818 - it is an answer
    def __init__(self, status: int, words: str) -> None:
        self.status = status
        self.words = words


class CemsStandIn:
    """Serves on a loopback port until it is left.

    Args:
        bcrypt_s: what checking a user's key takes; 0.3 on the real one.
        admin_key: the key of the admin calls.
        port: where on loopback; 0: a free one.
    """

    def __init__(self, *, bcrypt_s: float = 0.0, admin_key: str = ADMIN_KEY, port: int = 0) -> None:
        self.store = Store()
        self.seen: list[tuple[str, str, Any]] = []
        self.healthy = True
        self.bcrypt_s = bcrypt_s
        self._admin_key = admin_key
        self._faults: dict[str, list[Fault]] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def documents(self) -> list[Document]:
        """All documents of all users."""
        return list(self.store.documents.values())

    def fail(self, path: str, *faults: Fault) -> None:
        """What the next requests of a path meet, one after another."""
        self._faults.setdefault(path, []).extend(faults)

    def bodies(self, path: str) -> list[Any]:
        """What was sent to a path."""
        return [body for _, seen, body in self.seen if seen == path]

    def __enter__(self) -> Self:
        """Begins to serve."""
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        """Ends, if it has not yet."""
        self.close()

    def close(self) -> None:
        """Ends: whoever calls finds nobody."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        standin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # a head and a body in one write
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                parts = urlsplit(self.path)
                key = self.headers.get("Authorization", "").removeprefix("Bearer ")
                standin.seen.append((self.command, parts.path, body))
                queued = standin._faults.get(parts.path)
                fault = queued.pop(0) if queued else Fault()
                time.sleep(fault.delay_s)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                status, reply = standin._answer(
                    fault, f"{self.command} {parts.path}", key, {**query, **body}
                )
                self._send(status, fault.body or json.dumps(reply), cut=fault.cut)

            do_GET = do_DELETE = do_POST  # noqa: N815 - http.server's own naming

            def _send(self, status: int, text: str, *, cut: bool) -> None:
                raw = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw[: len(raw) // 2] if cut else raw)
                self.wfile.flush()
                self.close_connection = cut

            def log_message(self, *_args: object) -> None:
                """Quietly."""

        return Handler

    def _answer(
        self, fault: Fault, call: str, key: str, body: dict[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        if fault.status != 200:
            return fault.status, {"error": f"fault {fault.status}"}
        if fault.error_event:
            entry = {"event": "ERROR", "error": "embedding failed"}
            return 200, {"success": True, "result": {"results": [entry]}}
        try:
            return self._route(call, key, body, fault.lost)
        except _Refusal as refusal:
            return refusal.status, {"error": refusal.words}

    def _route(
        self, call: str, key: str, body: dict[str, Any], lost: int
    ) -> tuple[int, dict[str, Any]]:
        if call == "GET /health":
            state = "healthy" if self.healthy else "unhealthy"
            reply = {"status": state, "service": "cems-mcp-server", "mode": "http"}
            return (200 if self.healthy else 503), {**reply, "database": state}
        if call.partition(" ")[2].startswith("/admin/"):
            with self._lock:
                return self._admin(call, key, body)
        time.sleep(self.bcrypt_s)
        with self._lock:
            user_id = self.store.keys.get(key)
            if user_id is None:
                raise _Refusal(401, "Invalid API key")
            done = _CALLS.get(call)
            if done is None:
                raise _Refusal(404, "Not Found")
            reply = done(self.store, user_id, body)
        if lost:
            reply["document_ids"] = reply["document_ids"][:-lost]
        return 200, {"success": True, **reply}

    def _admin(self, call: str, key: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if key != self._admin_key:
            raise _Refusal(403, "Invalid admin key")
        if call == "POST /admin/users":
            name = body["username"]
            if name in self.store.users.values():
                raise _Refusal(400, f"User '{name}' already exists")
            made, secret = str(uuid.uuid4()), f"cems_ak_{uuid.uuid4().hex}"
            self.store.users[made] = name
            self.store.keys[secret] = made
            return 201, {"user": {"id": made, "username": name}, "api_key": secret}
        method, _, path = call.partition(" ")
        user_id = path.removeprefix("/admin/users/")
        if method != "DELETE" or user_id not in self.store.users:
            raise _Refusal(404, "User not found")
        del self.store.users[user_id]
        self.store.keys = {k: u for k, u in self.store.keys.items() if u != user_id}
        for document in self.store.of(user_id):
            del self.store.documents[document.id]
        return 200, {"message": "User deleted"}


def _add(store: Store, user_id: str, body: dict[str, Any]) -> dict[str, Any]:
    content = body.get("content")
    if not content:
        raise _Refusal(400, "content is required")
    if len(content.encode()) > CONTENT:
        raise _Refusal(400, f"Content exceeds {CONTENT} byte limit")
    category = body.get("category", "general")
    if category not in FUNCTIONAL | CATEGORIES:
        category = "general"
    made, is_new = store.put(user_id, body, category)
    event = "ADD" if is_new else "DUPLICATE"
    return {"result": {"results": [{"id": made, "event": event, "is_new": is_new}]}}


def _add_batch(store: Store, user_id: str, body: dict[str, Any]) -> dict[str, Any]:
    memories = body.get("memories")
    if not memories:
        raise _Refusal(400, "No memories provided")
    for number, memory in enumerate(memories):
        if not memory.get("content"):
            raise _Refusal(400, f"Memory at index {number} is missing 'content'")
    results = [store.put(user_id, m, m.get("category", "general")) for m in memories]
    new = sum(is_new for _, is_new in results)
    return {
        "document_ids": [made for made, _ in results],
        "count": len(results),
        "new_count": new,
        "duplicate_count": len(results) - new,
        "total_chunks": sum(len(store.documents[made].chunks) for made, _ in results),
    }


def _search(store: Store, user_id: str, body: dict[str, Any]) -> dict[str, Any]:
    query = body.get("query")
    if not query:
        raise _Refusal(400, "query is required")
    if "\x00" in query:
        raise _Refusal(500, "Internal server error")
    limit = body.get("limit", 10)
    ranked = store.rank(user_id, query[:QUERY])
    if body.get("raw"):
        results = [_raw(*entry) for entry in ranked[:limit]]
        return {"results": results, "count": len(results), "mode": "raw"}
    top = ranked[0][0] if ranked else 0.0
    kept = [entry for entry in ranked if entry[0] >= max(THRESHOLD, GAP * top)]
    budget = body.get("max_tokens", 4000) * 4
    results = []
    for entry in kept:
        budget -= min(len(entry[1]), SNIPPET)
        if budget < 0:
            break
        results.append(_snippet(*entry))
    return {"results": results[:limit], "count": len(results), "mode": body.get("mode", "vector")}


def _raw(score: float, chunk: str, document: Document) -> dict[str, Any]:
    about = {
        "category": document.category,
        "source_ref": document.source_ref,
        "tags": document.tags,
        "created_at": document.created_at,
    }
    return {
        "memory_id": document.id,
        "content": chunk,
        "score": score,
        "scope": "personal",
        "metadata": about,
    }


def _snippet(score: float, chunk: str, document: Document) -> dict[str, Any]:
    entry = _raw(score, chunk, document) | {"source_ref": document.source_ref}
    del entry["metadata"]
    if len(chunk) > SNIPPET:
        cut = chunk[:SNIPPET] + "..."
        entry |= {"content": cut, "truncated": True, "full_length": len(document.content)}
    return entry


def _get(store: Store, _user_id: str, body: dict[str, Any]) -> dict[str, Any]:
    document = store.documents.get(body.get("id", ""))
    if document is None:
        raise _Refusal(404, "Document not found")
    return {"document": {"id": document.id, "content": document.content}}


def _forget(store: Store, _user_id: str, body: dict[str, Any]) -> dict[str, Any]:
    store.documents.pop(body.get("memory_id", ""), None)
    return {"message": "Memory forgotten"}  # whether or not there was one


def _list(store: Store, user_id: str, body: dict[str, Any]) -> dict[str, Any]:
    found = store.of(user_id)
    limit = min(int(body.get("limit", 50)), 200)
    return {"results": [_raw(1.0, d.content, d) for d in found[:limit]], "total": len(found)}


_CALLS: dict[str, Callable[[Store, str, dict[str, Any]], dict[str, Any]]] = {
    "POST /api/memory/add": _add,
    "POST /api/memory/add_batch": _add_batch,
    "POST /api/memory/search": _search,
    "GET /api/memory/get": _get,
    "POST /api/memory/forget": _forget,
    "GET /api/memory/list": _list,
}


def _chunks(content: str) -> list[str]:
    starts = range(0, max(len(content) - OVERLAP, 1), CHUNK - OVERLAP)
    return [content[start : start + CHUNK] for start in starts]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def main(arguments: list[str]) -> None:
    """Serves until the standard input ends, or, on a port that is given, until it is killed."""
    port, admin_key = (*arguments, *("0", ADMIN_KEY)[len(arguments) :])
    with CemsStandIn(admin_key=admin_key, port=int(port)) as served:
        sys.stdout.write(served.url + "\n")
        sys.stdout.flush()
        if int(port):
            threading.Event().wait()
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
