"""Server-sent events: read whole, written whole."""

from collections.abc import Iterator
from dataclasses import dataclass

from memrig.gateway.jsons import dump


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `name` is empty where the provider names none; `data` is its text."""

    name: str
    data: str


def parse(raw: bytes) -> Iterator[Event]:
    """The events of a stream that ended. An event that no empty line ends is not one."""
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    blocks = text.split("\n\n")
    for block in blocks[:-1]:
        name, data = "", []
        for line in block.split("\n"):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "event":
                name = value
            elif field == "data":
                data.append(value)
        if data:
            yield Event(name, "\n".join(data))


def written(value: object, name: str = "") -> bytes:
    """One event that carries a JSON value."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + dump(value) + b"\n\n"
