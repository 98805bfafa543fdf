"""JSON values made to fit: cleaned of what JSON cannot carry, and cut so that they stay JSON."""

import json
import math
from collections.abc import Callable, Iterable

#: Deeper nesting than this is shown as "…".
DEEPEST = 50
#: Set in what was cut.
MARK = "truncated"
#: The size of the least that can be shown, ``{"truncated":true}``.
LEAST = 18
#: An item of a list that does not fit is shortened where this many bytes are left, else dropped.
USEFUL = 120
_MARK_BYTES = 17  # with its comma
#: What stands at the end of a text that was cut.
CUT = "…"
_GONE = object()


def dumps(value: object) -> str:
    """A JSON value in its shortest writing."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def size(value: object) -> int:
    """Bytes of a value in UTF-8."""
    return len(dumps(value).encode("utf-8", "surrogatepass"))


def cleaned(value: object, change: Callable[[str], str] = str, depth: int = DEEPEST) -> object:
    """A value without lone surrogates, numbers that are not finite, and depths beyond `depth`.

    Args:
        value: a parsed JSON value.
        change: applied to every string, keys included.
        depth: how many levels may be left.
    """
    if isinstance(value, str):
        return change(value.encode("utf-8", "replace").decode())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | dict) and depth == 0:
        return CUT
    if isinstance(value, list):
        return [cleaned(item, change, depth - 1) for item in value]
    if isinstance(value, dict):
        return {
            str(cleaned(key, change)): cleaned(item, change, depth - 1)
            for key, item in value.items()
        }
    return value


def strings_of(value: object) -> Iterable[str]:
    """Every string in a value, keys not included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings_of(item)


def fit(value: object, limit: int) -> object:
    """A value of at most `limit` bytes, and never fewer than `LEAST`.

    What does not fit loses the last items of its lists, then the ends of its longest texts, and is
    marked with ``"truncated": true``. A value that is no object becomes the member "result" of one.
    """
    if size(value) <= limit:
        return value
    members = value if isinstance(value, dict) else {"result": value}
    kept = _members({k: v for k, v in members.items() if k != MARK}, limit - _MARK_BYTES)
    return {**kept, MARK: True}


def _shrunk(value: object, room: int) -> object:
    if size(value) <= room:
        return value
    if isinstance(value, str):
        return _text(value, room)
    if isinstance(value, list):
        return _items(value, room) if room >= 2 else _GONE
    if isinstance(value, dict):
        return _members(value, room) if room >= 2 else _GONE
    return _GONE


def _text(text: str, room: int) -> object:
    """The longest beginning that fits with a mark of its own."""
    low, high = 0, min(len(text), max(0, room))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(text[:middle] + CUT) <= room else (low, middle - 1)
    return text[:low] + CUT if low else _GONE


def _items(items: list[object], room: int) -> list[object]:
    """The first items; one that does not fit is the last."""
    left, kept = room - 2, list[object]()
    for item in items:
        need = size(item) + bool(kept)
        if need > left:
            part = _shrunk(item, left - bool(kept)) if left >= USEFUL else _GONE
            return kept if part is _GONE else [*kept, part]
        kept.append(item)
        left -= need
    return kept


def _members(members: dict[str, object], room: int) -> dict[str, object]:
    """All members that fit, the short ones first, so that a long one takes what is left."""
    left, kept = room - 2, dict[str, object]()
    for key in sorted(members, key=lambda name: size(members[name])):
        frame = size(key) + 1 + bool(kept)
        part = _shrunk(members[key], left - frame)
        if part is not _GONE:
            kept[key] = part
            left -= frame + size(part)
    return {key: kept[key] for key in members if key in kept}
