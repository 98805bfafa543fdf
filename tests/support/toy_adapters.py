"""Small adapters for the SDK's tests: a list of texts, plain and async."""

import asyncio
import threading
from collections.abc import Sequence

from memrig_adapters import (
    Adapter,
    Answer,
    Capabilities,
    Document,
    Duplicate,
    Episode,
    FilterField,
    FilterType,
    Hit,
    NotFound,
    Query,
    Question,
    Rejected,
)

FIELDS = (
    FilterField("timestamp", FilterType.TIMESTAMP),
    FilterField("rating", FilterType.NUMBER),
    FilterField("place", FilterType.STRING),
    FilterField("kind", FilterType.ENUM, ("note", "mail")),
)


class ListAdapter(Adapter):
    """Keeps episodes in a list; a search returns all that hold a word of the query."""

    capabilities = Capabilities(
        name="list", version="1.0", max_results=5, filter_fields=FIELDS, supports_as_of=False
    )

    def __init__(self) -> None:
        self.episodes: list[Episode] = []
        self.queries: list[Query] = []

    def ingest(self, episode: Episode) -> int | Duplicate:
        if episode.text == "reject me":
            raise Rejected("as it asked")
        if episode.text == "explode":
            raise ValueError("boom")
        if any(e.episode_id == episode.episode_id for e in self.episodes):
            return Duplicate()
        self.episodes.append(episode)
        return 1

    def flush(self) -> int:
        return len(self.episodes)

    def search(self, query: Query) -> list[Hit]:
        self.queries.append(query)
        words = set(query.text.split())
        return [
            Hit(e.episode_id, e.text, 1.0, (e.episode_id,), timestamp=e.timestamp)
            for e in self.episodes
            if words & set(e.text.split())
        ]

    def reset(self) -> None:
        self.episodes.clear()


class OnlyAnswers(Adapter):
    """Cannot be searched; the answer is always the same."""

    capabilities = Capabilities(name="only-answers", version="1.0", search_modes=())

    def ingest(self, episode: Episode) -> int:
        return 1

    def flush(self) -> None:
        return None

    def answer(self, question: Question) -> Answer:
        return Answer("nobody")

    def reset(self) -> None:
        """Has nothing to empty."""


class AsyncListAdapter(Adapter):
    """The same, with coroutines, and every optional method."""

    capabilities = Capabilities(name="async-list", version="1.0", max_results=5)

    def __init__(self) -> None:
        self.inner = ListAdapter()
        self.threads: set[str] = set()

    async def start(self) -> None:
        self.threads.add(threading.current_thread().name)

    async def ingest(self, episode: Episode) -> int | Duplicate:
        await asyncio.sleep(0)
        self.threads.add(threading.current_thread().name)
        return self.inner.ingest(episode)

    async def flush(self) -> int:
        return self.inner.flush()

    async def search(self, query: Query) -> list[Hit]:
        self.threads.add(threading.current_thread().name)
        return self.inner.search(query)

    async def reset(self) -> None:
        self.inner.reset()

    async def retrieve(self, ref_id: str) -> Document:
        for episode in self.inner.episodes:
            if episode.episode_id == ref_id:
                return Document(ref_id, episode.text, (ref_id,))
        raise NotFound(f"no item {ref_id!r}")

    async def answer(self, question: Question) -> Answer:
        return Answer(f"you asked: {question.text}", confidence=0.25)

    async def forget(self, episode_ids: Sequence[str]) -> int:
        before = len(self.inner.episodes)
        self.inner.episodes = [
            e for e in self.inner.episodes if e.episode_id not in set(episode_ids)
        ]
        return before - len(self.inner.episodes)
