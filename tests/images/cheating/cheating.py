"""Memories that cheat in one way each, and one that does not. For memrig's own tests.

- `Honest`: full-text search.
- `Cached`: the same, slowed down; a query that was asked before is answered from a cache.
- `Kept`: Reset only says that it empties the memory.
- `Table`: knows the questions of a dataset, and by their text the episodes that answer them; it
  finds nothing else. The table is the JSON file TABLE: question → texts of episodes.
"""

import json
import os
import time
from pathlib import Path

from memrig_adapters import Capabilities, Episode, Hit, Query
from memrig_adapters.fts5 import Fts5Adapter

_SLOW_S = 0.015


class Honest(Fts5Adapter):
    """Full-text search."""

    capabilities = Capabilities(name="cheating", version="1.0", max_results=1000)


class Cached(Honest):
    """Remembers what it answered, until something changes."""

    def start(self) -> None:
        super().start()
        self._answers: dict[tuple[str, int], list[Hit]] = {}

    def reset(self) -> None:
        super().reset()
        self._answers.clear()

    def ingest(self, episode: Episode) -> object:
        self._answers.clear()
        return super().ingest(episode)

    def search(self, query: Query) -> list[Hit]:
        key = query.text, query.limit
        if key not in self._answers:
            time.sleep(_SLOW_S)
            self._answers[key] = list(super().search(query))
        return self._answers[key]


class Kept(Honest):
    """Empties nothing."""

    def reset(self) -> None:
        pass


class Table(Honest):
    """Answers from what it brought along."""

    def start(self) -> None:
        super().start()
        self._table: dict[str, list[str]] = json.loads(Path(os.environ["TABLE"]).read_text("utf-8"))
        self._known: dict[str, str] = {}

    def reset(self) -> None:
        super().reset()
        self._known.clear()

    def ingest(self, episode: Episode) -> object:
        self._known[episode.text] = episode.episode_id
        return super().ingest(episode)

    def search(self, query: Query) -> list[Hit]:
        texts = [text for text in self._table.get(query.text, []) if text in self._known]
        return [
            Hit(f"t/{self._known[text]}", text, 1.0, (self._known[text],))
            for text in texts[: query.limit]
        ]
