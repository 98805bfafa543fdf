"""What passes through on its way to the memory: counted, dated, and shown to who wants it."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from memrig.model.scenario import Episode


def unseen(_episode: Episode) -> None:
    """Nobody wants to see what passes through."""


class Tally:
    """Counts and dates what passes through on its way to the wire, and shows it to `seen`."""

    def __init__(
        self,
        episodes: Iterable[Episode],
        dates: dict[str, datetime],
        seen: Callable[[Episode], None],
    ) -> None:
        self._source = episodes
        self._dates = dates
        self._seen = seen
        self.episodes = 0
        self.text_bytes = 0

    def __iter__(self) -> Iterator[Episode]:
        for episode in self._source:
            self.episodes += 1
            self.text_bytes += len(episode.text.encode())
            if episode.timestamp is not None:
                self._dates[episode.episode_id] = episode.timestamp
            self._seen(episode)
            yield episode
