"""Any memory server that speaks the Model Context Protocol, behind the contract."""

import logging
import math
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mcp_mapping import (
    ServerMapping,
    Values,
    arguments_of,
    at,
    filled,
    json_of,
    load_mapping,
)
from mcp_stdio import ServerError, StdioServer

from memrig_adapters import (
    Adapter,
    Capabilities,
    Document,
    Duplicate,
    Episode,
    Hit,
    NotFound,
    Query,
    SearchMode,
)
from memrig_adapters.errors import AdapterBug
from memrig_adapters.passages import Passage, passages_of

log = logging.getLogger("memrig_adapters")

_WORD: Final = re.compile(r"\w+")
_STATE: Final = "{state}"


class McpBridge(Adapter):
    """Starts an MCP server, and calls the tools that its mapping file names.

    Which passage came from which episode is kept here, under the ids that the server was given: MCP
    has no word for it. A server that has ended is started again for the next call; the call that it
    ended in fails, and so does the next one where it has lost what it held.

    Environment:
        MCP_MAPPING: the mapping file.
    """

    def __init__(self, mapping: ServerMapping | None = None) -> None:
        self._mapping = mapping or load_mapping(Path(os.environ["MCP_MAPPING"]))
        self._server: StdioServer | None = None
        self._state = Path(tempfile.mkdtemp(prefix="mcp-"))
        #: By the ids that the server knows them under.
        self._passages: dict[str, Passage] = {}
        self._episodes: dict[str, list[str]] = {}

    async def start(self) -> None:
        """Starts the server and looks whether it has the tools.

        Raises:
            AdapterBug: it lacks a tool that the mapping names.
            ServerError: it cannot be started.
        """
        server = await self._running()
        missing = self._mapping.tools - await server.tools()
        if missing:
            raise AdapterBug(f"the server {server.name} has no tool {', '.join(sorted(missing))}")
        told, search = self._mapping.server, self._mapping.search
        self.capabilities = Capabilities(
            name=told.name,
            version=told.version or server.version or "unknown",
            search_modes=(SearchMode(search.mode),),
            max_results=search.max_results,
            reports_source_turns=self._mapping.store.item == "passage",
            limitations=tuple(told.limitations),
        )

    async def close(self) -> None:
        """Ends the server and removes its folder."""
        await self._stop()
        shutil.rmtree(self._state, ignore_errors=True)

    async def ingest_batch(self, episodes: Sequence[Episode]) -> list[int | Duplicate]:
        """Stores what the server does not hold yet, in as few calls as the mapping allows."""
        results: list[int | Duplicate] = []
        fresh: dict[str, list[Passage]] = {}
        for episode in episodes:
            if episode.episode_id in self._episodes or episode.episode_id in fresh:
                results.append(Duplicate())
            else:
                fresh[episode.episode_id] = self._items_of(episode)
                results.append(len(fresh[episode.episode_id]))
        passages = [passage for made in fresh.values() for passage in made]
        held = await self._store(passages)
        self._episodes.update((episode_id, []) for episode_id in fresh)
        for ref, passage in zip(held, passages, strict=True):
            self._episodes[passage.episode_id].append(ref)
            self._passages[ref] = passage
        return results

    async def flush(self) -> int:
        """Has nothing to wait for: a tool has done its work when it answers."""
        return len(self._passages)

    async def search(self, query: Query) -> list[Hit]:
        """Asks the server once, or for every word that tells something and ranks what it finds."""
        if self._mapping.search.by == "word":
            return await self._by_words(query)
        found = await self._ask(await self._running(), query.text, query.limit)
        hits = [self._hit(ref, text, score) for ref, text, score in found]
        if not self._mapping.search.score:
            hits = [self._hit(ref, text, 1 / n) for n, (ref, text, _) in enumerate(found, 1)]
        return sorted(hits, key=lambda hit: -hit.score)[: query.limit]

    async def retrieve(self, ref_id: str) -> Document:
        """Reads one item from the server, or, where it has no tool for that, from the bridge.

        Raises:
            NotFound: nothing was stored under this id.
            ServerError: the server has lost it.
        """
        passage = self._passages.get(ref_id)
        if passage is None:
            raise NotFound(f"no item {ref_id!r}")
        known = passage.document()
        text, read = known.text, self._mapping.read
        if read is not None:
            server = await self._running()
            found = json_of(await server.call(read.tool, _ask_for(read.arguments, ref_id)))
            text = at(found, read.text)
            if not isinstance(text, str):
                raise ServerError(f"{read.tool} does not know {ref_id!r} any more")
        return Document(
            ref_id, text, known.source_episode_ids, known.source_turn_ids, known.timestamp
        )

    async def reset(self) -> None:
        """Ends the server, empties its folder, and starts it anew."""
        await self._stop()
        for path in self._state.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        self._forget_all()
        await self._running()

    async def _forget(self, episode_ids: Sequence[str]) -> int:
        delete = self._mapping.delete
        assert delete is not None  # noqa: S101  only a mapping that has it gets here
        known = [e for e in dict.fromkeys(episode_ids) if e in self._episodes]
        server = await self._running()
        for episode_id in known:
            for ref in self._episodes[episode_id]:
                if ref in self._passages:  # not yet gone by a call that failed halfway
                    await server.call(delete.tool, _ask_for(delete.arguments, ref))
                    del self._passages[ref]
            del self._episodes[episode_id]
        return len(known)

    async def _store(self, passages: Sequence[Passage]) -> list[str]:
        """Stores items on one and the same server; returns the id of each."""
        store, server = self._mapping.store, await self._running()
        items = [_values(passage) for passage in passages]
        held: list[str] = []
        for arguments in arguments_of(store, items):
            result = await server.call(store.tool, arguments)
            if store.id:
                ref = at(json_of(result), store.id)
                if not isinstance(ref, str | int):
                    raise ServerError(f"{store.tool}: no id at {store.id!r} of its result")
                held.append(str(ref))
        return held or [passage.ref_id for passage in passages]

    def _items_of(self, episode: Episode) -> list[Passage]:
        if self._mapping.store.item == "passage":
            return passages_of(episode)
        ref = f"{episode.episode_id}#0"
        return [Passage(ref, episode.text, episode.episode_id, None, episode.timestamp)]

    async def _by_words(self, query: Query) -> list[Hit]:
        """Ranks items by the words of the query that their own begin with; rare ones weigh more."""
        weights: dict[str, float] = {}
        texts: dict[str, str] = {}
        server = await self._running()
        for word in self._words(query.text):
            begins = re.compile(rf"\b{re.escape(word)}", re.IGNORECASE)
            found = await self._ask(server, word, self._mapping.search.max_results)
            fitting = {ref: text for ref, text, _ in found if begins.search(text)}
            texts |= fitting
            for ref in fitting:
                rarity = math.log1p(len(self._passages) / len(fitting))
                weights[ref] = weights.get(ref, 0.0) + rarity
        order = {ref: place for place, ref in enumerate(self._passages)}
        best = sorted(weights, key=lambda ref: (-weights[ref], order.get(ref, len(order)), ref))
        return [self._hit(ref, texts[ref], weights[ref]) for ref in best[: query.limit]]

    def _words(self, text: str) -> list[str]:
        """The words to look for: without those to ignore, the longest if there are too many."""
        search = self._mapping.search
        words = list(dict.fromkeys(_WORD.findall(text.lower())))
        telling = [word for word in words if word not in search.ignore and len(word) > 1] or words
        return sorted(telling, key=lambda word: -len(word))[: search.max_words]

    async def _ask(
        self, server: StdioServer, text: str, limit: int
    ) -> list[tuple[str, str, float]]:
        """The id, text and score of what the server finds, in its order."""
        search = self._mapping.search
        arguments = _table(filled(search.arguments, {"query": text, "limit": limit}))
        found = at(json_of(await server.call(search.tool, arguments)), search.results)
        if not isinstance(found, list):
            raise ServerError(f"{search.tool}: no list at {search.results!r} of its result")
        rows: list[tuple[str, str, float]] = []
        for item in found:
            ref, body = at(item, search.id), at(item, search.text)
            if isinstance(ref, str | int) and isinstance(body, str):
                score = at(item, search.score) if search.score else 0.0
                rows.append((str(ref), body, float(score or 0.0)))
        return rows

    def _hit(self, ref: str, text: str, score: float) -> Hit:
        passage = self._passages.get(ref)
        if passage is None:  # the server's own: nobody knows what it is from
            return Hit(ref, text, score)
        known = passage.document()
        return Hit(
            ref, text, score, known.source_episode_ids, known.source_turn_ids, known.timestamp
        )

    async def _running(self) -> StdioServer:
        """The server, started again if it has ended. A call stays with the one it began with.

        Raises:
            ServerError: it cannot be started; or, once, it has ended and lost what it held.
        """
        if self._server is not None and not self._server.running:
            log.warning("the MCP server has ended; it is started again")
            await self._stop()
            if self._episodes and not self._mapping.server.keeps:
                self._forget_all()
                raise ServerError("the server has ended, and what it held is lost")
        if self._server is None:
            told = self._mapping.server
            state = str(self._state)
            self._server = await StdioServer.start(
                [word.replace(_STATE, state) for word in told.command],
                {key: value.replace(_STATE, state) for key, value in told.environment.items()},
            )
        return self._server

    async def _stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            await server.stop()

    def _forget_all(self) -> None:
        self._episodes.clear()
        self._passages.clear()


class McpBridgeWithForget(McpBridge):
    """The same for a mapping with [delete]: that Forget is supported is seen from the class."""

    async def start(self) -> None:
        """As `McpBridge.start`.

        Raises:
            AdapterBug: the mapping has no [delete].
        """
        if self._mapping.delete is None:
            raise AdapterBug("the mapping has no [delete]: serve McpBridge instead")
        await super().start()

    async def forget(self, episode_ids: Sequence[str]) -> int:
        """Deletes all items of the episodes; returns how many episodes were known."""
        return await self._forget(episode_ids)


def _values(passage: Passage) -> Values:
    return {
        "id": passage.ref_id,
        "text": passage.text,
        "time": passage.timestamp.isoformat() if passage.timestamp else "",
        "episode": passage.episode_id,
    }


def _ask_for(template: object, ref: str) -> dict[str, Any]:
    return _table(filled(template, {"id": ref}))


def _table(value: object) -> dict[str, Any]:
    assert isinstance(value, dict)  # noqa: S101  the mapping was checked
    return value
