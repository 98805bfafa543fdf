"""The same text in other chunks: what is in turns is cut in two, what is not is put together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from memrig.model.scenario import Episode, Event, Turn, episodes_of

#: No merged episode is longer, bytes: a memory may refuse what is larger than any of the data.
_LONGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class Chunk:
    """An episode as it is told anew, and the episodes of the data that its text is from."""

    episode: Episode
    originals: tuple[str, ...]


def rechunked(events: Iterable[Event]) -> Iterator[Chunk]:
    """Every word of a scenario, once and in order, in other chunks.

    An episode of several turns becomes two, cut in the middle between two turns. Any other is put
    together with the next one, if that has no turns either and is of the same day; else it stays
    as it is, under another name. What is put together has the time of its later part.
    """
    waiting: Episode | None = None
    number = 0
    for episode in episodes_of(events):
        for chunk in _made(waiting, episode, number):
            yield chunk
            number += 1
        waiting = episode if _waits(waiting, episode) else None
    if waiting is not None:
        yield _alone(waiting, number)


def can_rechunk(events: Iterable[Event]) -> bool:
    """Whether there is any other chunking: something is cut, or put together."""
    whole: set[str] = set()
    for chunk in rechunked(events):
        name = chunk.originals[0]
        if len(chunk.originals) > 1 or name in whole:
            return True
        whole.add(name)
    return False


def _made(waiting: Episode | None, episode: Episode, number: int) -> Iterator[Chunk]:
    """What is whole once this episode comes after one that waits."""
    if waiting is not None:
        if _fit(waiting, episode):
            yield _merged(waiting, episode, number)
            return
        yield _alone(waiting, number)
        number += 1
    if len(episode.turns) > 1:
        yield from _halves(episode, number)


def _waits(waiting: Episode | None, episode: Episode) -> bool:
    """Whether an episode stays for the next one."""
    if len(episode.turns) > 1:
        return False
    return waiting is None or not _fit(waiting, episode)


def _fit(first: Episode, second: Episode) -> bool:
    alike = len(second.turns) <= 1 and first.media_type == second.media_type
    near = _day(first) == _day(second)
    return alike and near and len(first.text.encode()) + len(second.text.encode()) < _LONGEST


def _day(episode: Episode) -> date | None:
    return episode.timestamp.date() if episode.timestamp else None


def _merged(first: Episode, second: Episode, number: int) -> Chunk:
    together = Episode(
        episode_id=_name(number),
        timestamp=second.timestamp or first.timestamp,
        text=f"{first.text}\n{second.text}",
        media_type=first.media_type,
        metadata=second.metadata,
    )
    return Chunk(together, (first.episode_id, second.episode_id))


def _alone(episode: Episode, number: int) -> Chunk:
    again = episode.model_copy(update={"episode_id": _name(number), "turns": ()})
    return Chunk(again, (episode.episode_id,))


def _halves(episode: Episode, number: int) -> Iterator[Chunk]:
    middle = len(episode.turns) // 2
    for place, turns in enumerate((episode.turns[:middle], episode.turns[middle:])):
        update = {
            "episode_id": _name(number + place),
            "text": "\n".join(f"{turn.speaker}: {turn.text}" for turn in turns),
            "turns": tuple(_renamed(turn) for turn in turns),
        }
        yield Chunk(episode.model_copy(update=update), (episode.episode_id,))


def _renamed(turn: Turn) -> Turn:
    return turn.model_copy(update={"turn_id": f"audit/{turn.turn_id}"})


def _name(number: int) -> str:
    return f"audit/chunk-{number + 1}"
