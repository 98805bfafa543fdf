"""Episodes as mem0 takes them, its filters and its results: the part that needs no mem0."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from memrig_adapters import Episode, Filter, Hit, Operator

#: What one extraction is given at most; longer episodes are told in parts.
PROMPT_CHARACTERS: Final = 16_000

_LATER: Final = "9999-12-31T23:59:59.999999+00:00"
_SPEAKS_FOR_ITSELF: Final = {"user", "assistant"}


def metadata_of(episode: Episode, number: int) -> dict[str, Any]:
    """What a memory carries: its source, its time, and its place in the order of arrival."""
    known: dict[str, Any] = {"episode_id": episode.episode_id, "number": number}
    if episode.timestamp is not None:
        known["episode_time"] = known["created_at"] = stamp(episode.timestamp)
    return known


def parts_of(episode: Episode) -> Iterator[list[dict[str, str]]]:
    """An episode as mem0's messages, in as few parts as the length of a prompt allows."""
    part: list[dict[str, str]] = []
    size = 0
    for message in _messages(episode):
        if part and size + len(message["content"]) > PROMPT_CHARACTERS:
            yield part
            part, size = [], 0
        part.append(message)
        size += len(message["content"])
    if part:
        yield part


def _messages(episode: Episode) -> Iterator[dict[str, str]]:
    """A message a turn; the names of people stand in the text, for mem0 knows two roles."""
    for turn in episode.turns:
        if not turn.text.strip():
            continue
        role = turn.speaker.lower()
        if role in _SPEAKS_FOR_ITSELF:
            yield {"role": role, "content": turn.text}
        else:
            content = f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text
            yield {"role": "user", "content": content}
    if not episode.turns:
        for start in range(0, len(episode.text), PROMPT_CHARACTERS):
            text = episode.text[start : start + PROMPT_CHARACTERS]
            yield {"role": "user", "content": text}


def conditions(filters: Sequence[Filter]) -> dict[str, Any]:
    """Filters on the time, as one range in mem0's words."""
    bounds: dict[str, str] = {}
    for item in filters:
        assert isinstance(item.value, datetime)  # noqa: S101 - the only declared field is a time
        value = stamp(item.value)
        if item.operator is not Operator.LESS:
            bounds["gte"] = max(bounds.get("gte", value), value)
        if item.operator is Operator.EQUAL:
            bounds["lte"] = min(bounds.get("lte", value), value)
        if item.operator is Operator.LESS:
            bounds["lt"] = min(bounds.get("lt", _LATER), value)
    return {"episode_time": bounds} if bounds else {}


def stamp(time: datetime) -> str:
    """A time in UTC as a text of fixed length, so that texts compare as their times do."""
    return time.isoformat(timespec="microseconds")


def place_of(item: Mapping[str, Any]) -> tuple[int, int]:
    """Where a memory stands in the order of arrival."""
    known = item.get("metadata") or {}
    return known.get("number", 0), known.get("place", 0)


def hit_of(item: Mapping[str, Any]) -> Hit:
    """One of mem0's results."""
    known = item.get("metadata") or {}
    time, turn = known.get("episode_time"), known.get("turn_id")
    return Hit(
        str(item["id"]),
        item["memory"],
        float(item["score"]),
        (known["episode_id"],),
        () if turn is None else (turn,),
        None if time is None else datetime.fromisoformat(time),
    )
