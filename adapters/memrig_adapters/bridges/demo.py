"""The bridges' own agent: it keeps sentences, and answers with the one that shares most words.

A stand-in for an agent of yours, so that a bridge can be tried at once. It speaks both ways:
``--listen HOST:PORT`` serves POST /learn, /answer and /reset, and ``--learn``, ``--answer`` and
``--reset`` take a text on standard input and keep it in the folder `MEMRIG_AGENT_STATE`. It imports
nothing of memrig, as an agent would not.
"""

import argparse
import json
import math
import os
import re
import sys
import threading
from collections import Counter
from pathlib import Path

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"\w+")
_TOOL = "keyword_search"


class Keywords:
    """Sentences by their words."""

    def __init__(self) -> None:
        self._sentences: list[str] = []
        self._places: dict[str, list[int]] = {}

    def learn(self, text: str) -> None:
        """Keeps each sentence of a text."""
        for sentence in filter(None, map(str.strip, _SENTENCE.split(text))):
            for word in _words(sentence):
                self._places.setdefault(word, []).append(len(self._sentences))
            self._sentences.append(sentence)

    def answer(self, question: str) -> dict[str, object]:
        """The newest of the sentences that share the rarest words with a question."""
        weights = {w: self._weight(w) for w in sorted(_words(question))}
        scores: Counter[int] = Counter()
        for word, weight in weights.items():
            for place in self._places.get(word, ()):
                scores[place] += weight  # type: ignore[assignment]
        if not scores:
            return _reply("I do not know.", question, confidence=0.0, found=0) | {"abstained": True}
        best = max(scores, key=lambda place: (scores[place], place))
        sure = scores[best] / sum(weights.values())
        return _reply(self._sentences[best], question, confidence=sure, found=len(scores))

    def _weight(self, word: str) -> float:
        return math.log1p((1 + len(self._sentences)) / (1 + len(self._places.get(word, ()))))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _reply(answer: str, question: str, *, confidence: float, found: int) -> dict[str, object]:
    return {
        "answer": answer,
        "confidence": round(min(confidence, 1.0), 4),
        "reasoning": f"{found} sentences share a word with the question",
        "tool_calls": [
            {"tool": _TOOL, "args": {"query": question}, "result": f"{found} sentences"}
        ],
    }


class _Service:
    """The three calls by path, one at a time."""

    def __init__(self) -> None:
        self._memory = Keywords()
        self._lock = threading.Lock()

    def reply(self, path: str, raw: bytes) -> tuple[int, dict[str, object]]:
        """The status and the body for a request."""
        try:
            with self._lock:
                return self._carry_out(path, json.loads(raw or b"{}"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return 400, {"error": f"{type(error).__name__}: {error}"}

    def _carry_out(self, path: str, request: dict[str, str]) -> tuple[int, dict[str, object]]:
        if path == "/learn":
            self._memory.learn(request["content"])
        elif path == "/answer":
            return 200, self._memory.answer(request["question"])
        elif path == "/reset":
            self._memory = Keywords()
        else:
            return 404, {"error": f"no such path: {path}"}
        return 200, {"ok": True}


def _serve(address: str) -> None:
    # Here, since it takes longer to import than a call of the command takes to answer.
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # noqa: PLC0415

    service = _Service()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one write: two would wait for each other

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, reply = service.reply(self.path, raw)
            body = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - likewise
            """Says nothing: a line for each request would fill the log."""

    host, _, port = address.rpartition(":")
    with ThreadingHTTPServer((host, int(port)), Handler) as server:
        server.daemon_threads = True
        server.serve_forever()


def _file() -> Path:
    return Path(os.environ.get("MEMRIG_AGENT_STATE") or ".") / "memory.jsonl"


def _learn(text: str) -> None:
    with _file().open("a", encoding="utf-8") as file:
        file.write(json.dumps(text) + "\n")


def _answer(question: str) -> None:
    memory = Keywords()
    if _file().exists():
        for line in _file().read_text("utf-8").splitlines():
            memory.learn(json.loads(line))
    sys.stdout.write(json.dumps(memory.answer(question)) + "\n")


def main() -> None:
    """Serves, or carries out one call."""
    parser = argparse.ArgumentParser(description="A keyword memory, as an agent to try a bridge on")
    call = parser.add_mutually_exclusive_group(required=True)
    call.add_argument("--listen", metavar="HOST:PORT", help="serve HTTP until ended")
    call.add_argument("--learn", action="store_true", help="learn the text on standard input")
    call.add_argument("--answer", action="store_true", help="answer the question there")
    call.add_argument("--reset", action="store_true", help="forget everything")
    options = parser.parse_args()
    if options.listen:
        _serve(options.listen)
    elif options.reset:
        _file().unlink(missing_ok=True)
    else:
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
        (_learn if options.learn else _answer)(text)


if __name__ == "__main__":
    main()
