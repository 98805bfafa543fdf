"""graphiti, a temporal knowledge graph, behind memrig's contract.

A model reads each episode and makes entities and facts of it; what a search finds are facts. This
model and that of the embeddings are reached through the rig's gateway.
"""

import logging
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from graphiti_core.edges import EntityEdge
from graphiti_core.errors import EdgeNotFoundError
from graphiti_core.nodes import EpisodeType
from graphiti_core.search.search_config_recipes import EDGE_HYBRID_SEARCH_RRF
from graphiti_episodes import PART_CHARACTERS, parts_of
from graphiti_graph import Graph, version
from graphiti_ledger import Ledger

from memrig_adapters import (
    Adapter,
    Capabilities,
    Document,
    Duplicate,
    Episode,
    Hit,
    NotFound,
    Query,
    Rejected,
    SearchMode,
)

#: More would be hours of extraction for one episode.
MAX_CHARACTERS: Final = 400_000
#: For episodes without a time before the first that has one: graphiti wants a time.
NO_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)

_LIMITATIONS: Final = (
    (
        "What is found are facts that a model extracted; what it left out is gone. Their sources "
        "are the episodes that graphiti lists on the fact, not the turns."
    ),
    (
        "An episode without a time is told to graphiti as of the newest time before it, or of "
        "1970-01-01: graphiti insists on one. Its facts carry that time into the prompts."
    ),
    f"Episodes of more than {MAX_CHARACTERS:,} characters are rejected.",
    f"Episodes of more than {PART_CHARACTERS:,} characters are told in parts.",
    (
        "The graph is kept in Kuzu, which graphiti calls deprecated. The adapter makes its "
        "full-text indexes, and makes them anew at Flush, for Kuzu's updates of them lose words; "
        "and opens the graph anew every 50 episodes, to keep its memory small."
    ),
    "Kuzu's full-text index knows no digits: numbers are told apart by vectors alone.",
    (
        "Forget removes what graphiti's remove_episode does: a fact goes with the episode that "
        "told it first, even if another told it too; summaries of entities stay as they are."
    ),
    "Vectors are cut to 1,024 numbers, as graphiti does unless told otherwise.",
)

logging.getLogger("graphiti_core").setLevel(logging.ERROR)
logging.getLogger("httpx").setLevel(logging.WARNING)  # a line for each call of a model


class GraphitiAdapter(Adapter):
    """Episodes go in by add_episode(), and facts come out by graphiti's hybrid search."""

    capabilities = Capabilities(
        name="graphiti",
        version=f"graphiti-core {version()}",
        search_modes=(SearchMode.HYBRID,),
        max_results=100,
        limitations=_LIMITATIONS,
    )

    async def start(self) -> None:
        """Opens the graph in `GRAPHITI_STORE`; what it holds from before a restart is there."""
        store = Path(os.environ.get("GRAPHITI_STORE", "/data"))
        self._graph = await Graph.opened(store / "graph.kuzu")
        self._ledger = Ledger(store / "episodes.db")
        self._changed = True

    async def close(self) -> None:
        """Closes the graph."""
        await self._graph.close()
        self._ledger.close()

    async def ingest(self, episode: Episode) -> int | Duplicate:
        """Has the model read an episode; an id that is known is a duplicate."""
        if len(episode.text) > MAX_CHARACTERS:
            raise Rejected(f"{len(episode.text):,} characters, of at most {MAX_CHARACTERS:,}")
        if self._ledger.holds(episode.episode_id):
            return Duplicate()
        self._changed = True
        await self._remove(episode.episode_id)  # the process may have ended amid this episode
        now = self._ledger.now(episode.timestamp) or NO_TIME
        added = 0
        for part in parts_of(episode):
            kind = EpisodeType.message if episode.turns else EpisodeType.text
            told = await self._graph.library.add_episode(
                name=episode.episode_id,
                episode_body=part,
                source=kind,
                source_description="a conversation" if episode.turns else "a text",
                reference_time=now,
            )
            self._ledger.add_part(episode.episode_id, told.episode.uuid)
            added += sum(edge.episodes[:1] == [told.episode.uuid] for edge in told.edges)
        self._ledger.finish(episode.episode_id, episode.timestamp)
        await self._graph.took_episode()
        return added

    async def flush(self) -> int:
        """Makes the full-text indexes anew if there is anything new since the last time."""
        if self._changed:
            await self._graph.index()
            self._changed = False
        return await self._graph.facts()

    async def search(self, query: Query) -> list[Hit]:
        """graphiti's own search: full text and vectors over facts, by reciprocal rank fusion."""
        config = EDGE_HYBRID_SEARCH_RRF.model_copy(update={"limit": query.limit})
        found = await self._graph.library.search_(query.text, config=config)
        scored = zip(found.edges, found.edge_reranker_scores, strict=True)
        return [self._hit(edge, score) for edge, score in scored][: query.limit]

    async def retrieve(self, ref_id: str) -> Document:
        """One fact."""
        try:
            edge = await EntityEdge.get_by_uuid(self._graph.library.driver, ref_id)
        except EdgeNotFoundError as error:
            raise NotFound(f"no fact {ref_id!r}") from error
        return Document(ref_id, text_of(edge), self._sources(edge))

    async def forget(self, episode_ids: Sequence[str]) -> int:
        """Removes the episodes, and what only they told."""
        known = [i for i in dict.fromkeys(episode_ids) if self._ledger.holds(i)]
        self._changed = self._changed or bool(known)
        for episode_id in known:
            await self._remove(episode_id)
        return len(known)

    async def reset(self) -> None:
        """Empties the graph."""
        await self._graph.clear()
        self._ledger.clear()

    async def _remove(self, episode_id: str) -> None:
        for uuid in self._ledger.parts(episode_id):
            await self._graph.library.remove_episode(uuid)
        self._ledger.remove(episode_id)

    def _hit(self, edge: EntityEdge, score: float) -> Hit:
        return Hit(edge.uuid, text_of(edge), float(score), self._sources(edge))

    def _sources(self, edge: EntityEdge) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._ledger.episodes_of(edge.episodes)))


def text_of(edge: EntityEdge) -> str:
    """A fact, with the days between which graphiti holds it to be true."""
    first, last = (
        None if t is None else t.date().isoformat() for t in (edge.valid_at, edge.invalid_at)
    )
    if last is not None:
        return f"{edge.fact} (from {first or 'an unknown day'} to {last})"
    return edge.fact if first is None else f"{edge.fact} (since {first})"
