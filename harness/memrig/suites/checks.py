"""What may be sent to a memory system, and what a suite may not ask of the rig (protocol §16)."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from pydantic import ValidationError

from memrig.errors import DataError
from memrig.model.scenario import Episode, Event, Probe, Question

#: An encoded episode; the rest of a 16 MiB message is left to what is around it.
MAX_EPISODE_BYTES = 16 * 1024**2 - 64 * 1024
MAX_QUERY_BYTES = 64 * 1024
MAX_METADATA = 16

# What encoding adds at most: opaque ids of 26 bytes, a timestamp, and tags and lengths of fields.
_EPISODE_EXTRA, _TURN_EXTRA, _METADATA_EXTRA = 128, 64, 16
_REPAIR = "repair the text, or drop the broken character"
T = TypeVar("T")


def utf8_flaw(text: str) -> str:
    """What keeps a text from being written as UTF-8; empty where nothing does.

    JSON can name half of a surrogate pair (``\\ud83d``), which is no character.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        broken = text[error.start]
        around = text[max(0, error.start - 20) : error.start + 20]
        return f"character {error.start} is {broken!a}, half of a surrogate pair, in {around!r}"
    return ""


def check_text(text: str, where: str) -> None:
    """Refuses a text that is not UTF-8.

    Raises:
        DataError: names the character and its place.
    """
    if flaw := utf8_flaw(text):
        raise DataError(f"is not text: {flaw}", where=where, fix=_REPAIR)


def usable(items: Iterable[T], where: str) -> Iterator[T]:
    """Passes on what a suite makes.

    Raises:
        DataError: the suite met a value that no episode, question or gold record can hold.
    """
    try:
        yield from items
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        message = f"{error.title}.{place}: {first['msg']}, got {first['input']!r:.80}"
        raise DataError(message, where=where, fix="repair the data that the suite reads") from error


def check_event(event: Event, scenario: str) -> None:
    """Refuses an event that the protocol says is never sent.

    Args:
        event: of a scenario's timeline.
        scenario: the scenario's id, for the error.

    Raises:
        DataError: names scenario, episode or question, value and fix.
    """
    if event.type == "probe":
        _check_probe(event, scenario)
        return
    if isinstance(event, Episode):
        where = f"scenario {scenario!r}: episode {event.episode_id!r}"
        for place, text in _texts(event):
            check_text(text, f"{where}: {place}")
        _check_episode(event, where)
        return
    where = f"scenario {scenario!r}: question {event.question_id!r}"
    check_text(event.question_id, f"{where}: question_id")
    check_text(event.text, f"{where}: text")
    size = len(event.text.encode())
    if size > MAX_QUERY_BYTES:
        message = f"has {size} bytes of text, at most {MAX_QUERY_BYTES} fit into a query"
        raise DataError(message, where=where, fix="shorten the question")


def _check_probe(probe: Probe, scenario: str) -> None:
    """Its episodes and queries, as if they stood in the timeline."""
    for name in ("episodes", "after"):
        for episode in getattr(probe, name, ()):
            check_event(episode, scenario)
    for name in ("searches", "searches_after"):
        for number, search in enumerate(getattr(probe, name, ())):
            asked = Question(question_id=f"{probe.probe_id}/{name}[{number}]", text=search.query)
            check_event(asked, scenario)


def _texts(episode: Episode) -> Iterator[tuple[str, str]]:
    yield "episode_id", episode.episode_id
    yield "text", episode.text
    yield "media_type", episode.media_type
    for number, turn in enumerate(episode.turns):
        yield f"turns[{number}].turn_id", turn.turn_id
        yield f"turns[{number}].speaker", turn.speaker
        yield f"turns[{number}].text", turn.text
    for key, value in episode.metadata.items():
        yield "metadata", key
        yield f"metadata[{key!r}]", value


def _check_episode(episode: Episode, where: str) -> None:
    if len(episode.metadata) > MAX_METADATA:
        message = (
            f"has {len(episode.metadata)} entries of metadata, at most {MAX_METADATA} are sent"
        )
        raise DataError(message, where=where, fix="leave some out, or move them into the text")
    size = _encoded_size(episode)
    if size > MAX_EPISODE_BYTES:
        message = f"needs {size} bytes (text, turns and ids), at most {MAX_EPISODE_BYTES} fit"
        raise DataError(message, where=where, fix="split the episode")


def _encoded_size(episode: Episode) -> int:
    """The bytes of its message, or a few more; ids count as they are sent, all of one length."""
    size = _EPISODE_EXTRA + _size(episode.text) + _size(episode.media_type)
    size += sum(_TURN_EXTRA + _size(turn.speaker) + _size(turn.text) for turn in episode.turns)
    pairs = episode.metadata.items()
    return size + sum(_METADATA_EXTRA + _size(key) + _size(value) for key, value in pairs)


def _size(text: str) -> int:
    return len(text.encode())
