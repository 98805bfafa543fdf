"""Reading JSON of unknown shape: each accessor gives the type it names, or an empty one."""

import json
from collections.abc import Mapping

Json = Mapping[str, object]


def as_object(value: object) -> dict[str, object]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """The value where it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value where it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int:
    """The value where it is a whole number from 0, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def dump(value: object) -> bytes:
    """Compact JSON, as it goes over a wire. What is hashed is canonical instead."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def load_object(raw: bytes | str) -> dict[str, object] | None:
    """The object that a text holds; None where it is no JSON or another kind of value."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
