"""A tiny memory server of the Model Context Protocol, over stdio and of the standard library alone.

Run as a program. It keeps notes in the file `NOTES`, if that is set, and behaves badly where told:
`BANNER` is printed before the first message, and a note or a question "die now" ends the process.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

FILE = os.environ.get("NOTES")
PATH = Path(__file__)
NOTE_TOOLS = ("add_notes", "keep_note", "find_notes", "rank_notes", "read_note", "drop_note")


class Notes:
    """Texts by name, in the order they came."""

    def __init__(self) -> None:
        stored = Path(FILE).read_text() if FILE and Path(FILE).exists() else "{}"
        self.kept: dict[str, str] = json.loads(stored)

    def call(self, tool: str, given: dict[str, Any]) -> Any:
        """What a tool answers with."""
        if "die now" in json.dumps(given):
            os._exit(7)
        if tool == "add_notes":
            self.kept |= {note["name"]: note["text"] for note in given["notes"]}
            return self.saved({"count": len(given["notes"])})
        if tool == "keep_note":
            key = f"k{len(self.kept) + 1}"
            self.kept[key] = given["text"]
            return self.saved({"key": key})
        if tool == "find_notes":
            found = [n for n, text in self.kept.items() if given["part"].lower() in text.lower()]
            return {"found": [{"name": n, "texts": [self.kept[n]]} for n in found]}
        if tool == "rank_notes":
            return self.ranked(given["question"], given["top"])
        if tool == "read_note":
            return {"text": self.kept.get(given["name"])}
        if tool == "drop_note":
            return self.saved({"dropped": self.kept.pop(given["name"], None) is not None})
        raise ValueError(f"no tool {tool}")

    def ranked(self, question: str, top: int) -> Any:
        """The notes by how many words they share with a question; one is the server's own."""
        words = set(question.lower().split())
        scores = {n: len(words & set(t.lower().split())) for n, t in self.kept.items()}
        rows = [{"name": n, "texts": [self.kept[n]], "score": s} for n, s in scores.items() if s]
        rows.sort(key=lambda row: -row["score"])
        return {"found": [*rows[: top - 1], {"name": "own", "texts": ["a hint"], "score": 0.5}]}

    def saved(self, reply: Any) -> Any:
        """The reply, once the notes are on disk."""
        if FILE:
            Path(FILE).write_text(json.dumps(self.kept))
        return reply


def reply_to(message: dict[str, Any], notes: Notes) -> dict[str, Any]:
    """The result, or the error, of a request."""
    if message["method"] == "initialize":
        info = {"name": "notes", "version": "1.2.3"}
        about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        return {"result": about}
    if message["method"] == "tools/list":
        return {"result": paged(message["params"].get("cursor"))}
    if message["method"] != "tools/call":
        return {"error": {"code": -32601, "message": "unknown method"}}
    try:
        value = notes.call(message["params"]["name"], message["params"]["arguments"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return {"result": {"content": [{"type": "text", "text": str(error)}], "isError": True}}
    return {"result": {"content": [{"type": "text", "text": json.dumps(value)}]}}


def paged(cursor: str | None) -> dict[str, Any]:
    """The tools, on two pages."""
    if cursor is None:
        return {"tools": [{"name": name} for name in NOTE_TOOLS[:2]], "nextCursor": "2"}
    return {"tools": [{"name": name} for name in NOTE_TOOLS[2:]]}


def say(line: str) -> None:
    """Writes a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answers line by line until the input ends."""
    notes = Notes()
    if "BANNER" in os.environ:
        say(os.environ["BANNER"])
        say(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
        say(json.dumps({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}))
    for line in sys.stdin:
        message = json.loads(line)
        if "method" in message and "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], **reply_to(message, notes)}
            say(json.dumps(reply))


if __name__ == "__main__":
    main()
