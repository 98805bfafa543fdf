"""An adapter that keeps its episodes in the companion store, and nothing of its own."""

import urllib.error
import urllib.request

from memrig_adapters import Adapter, Capabilities, Episode, Hit, Query

STORE = "http://127.0.0.1:8080"


def call(method: str, path: str, body: bytes | None = None) -> bytes:
    """One request to the store."""
    request = urllib.request.Request(f"{STORE}{path}", data=body, method=method)  # noqa: S310
    with urllib.request.urlopen(request, timeout=5) as response:  # noqa: S310
        data: bytes = response.read()
    return data


class Stored(Adapter):
    """Finds an episode whose text contains the query."""

    capabilities = Capabilities(name="stored", version="1.0", max_results=100)

    def ingest(self, episode: Episode) -> int:
        """Puts the text under its id."""
        call("PUT", f"/{episode.episode_id}", episode.text.encode())
        return 1

    def flush(self) -> int:
        """Counts what the store holds."""
        return len(call("GET", "/").split())

    def search(self, query: Query) -> list[Hit]:
        """Reads every value: the tests keep only a few."""
        hits = []
        for name in call("GET", "/").decode().split():
            text = call("GET", f"/{name}").decode()
            if query.text in text:
                hits.append(Hit(name, text, 1.0, source_episode_ids=(name,)))
        return hits[: query.limit]

    def reset(self) -> None:
        """Empties the store."""
        call("DELETE", "/")
