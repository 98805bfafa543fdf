"""A memory that leans on a model: every line and every query is embedded through the gateway.

A line that cannot be embedded is rejected; a query that cannot be is an error.
"""

import json
import os
import urllib.request
from urllib.error import URLError

from memrig_adapters import Adapter, Capabilities, Episode, Hit, Query, Rejected, SearchMode

_MODEL = "local/hash-embed"


class Leaning(Adapter):
    """Ranks by the product of vectors."""

    capabilities = Capabilities(
        name="leaning", version="1.0", search_modes=(SearchMode.SEMANTIC,), max_results=20
    )

    def __init__(self) -> None:
        self._episodes: list[Episode] = []
        self._vectors: list[list[float]] = []

    def ingest(self, episode: Episode) -> int:
        try:
            vector = _embedded(episode.text)
        except URLError as error:
            raise Rejected(f"cannot be embedded: {error}") from error
        self._episodes.append(episode)
        self._vectors.append(vector)
        return 1

    def flush(self) -> int:
        return len(self._episodes)

    def search(self, query: Query) -> list[Hit]:
        wanted = _embedded(query.text)
        scored = [
            (sum(a * b for a, b in zip(wanted, vector, strict=True)), place)
            for place, vector in enumerate(self._vectors)
        ]
        scored.sort(key=lambda pair: (-pair[0], pair[1]))
        return [
            Hit(episode.episode_id, episode.text, score, (episode.episode_id,))
            for score, episode in ((s, self._episodes[p]) for s, p in scored[: query.limit])
        ]

    def reset(self) -> None:
        self._episodes.clear()
        self._vectors.clear()


def _embedded(text: str) -> list[float]:
    body = json.dumps({"model": _MODEL, "input": text}).encode()
    request = urllib.request.Request(  # noqa: S310 - the gateway's address
        f"{os.environ['MEMRIG_LLM_BASE_URL']}/v1/embeddings",
        body,
        {"content-type": "application/json", "authorization": "Bearer none"},
    )
    with urllib.request.urlopen(request, timeout=20) as reply:  # noqa: S310
        found: list[float] = json.load(reply)["data"][0]["embedding"]
        return found
