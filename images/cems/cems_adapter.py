"""CEMS behind memrig's contract: the sidecar of a pod in which CEMS and its database run."""

import asyncio
import contextlib
import logging
import math
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final
from urllib.parse import quote

from cems_client import CemsError, Client, Json, NotThereError, Object, StatusError
from cems_record import Known, Record, Told, clean, told

from memrig_adapters import (
    Adapter,
    Capabilities,
    Document,
    Duplicate,
    Episode,
    Hit,
    IngestResult,
    NotFound,
    Query,
    Rejected,
    SearchMode,
)

URL: Final = "MEMRIG_CEMS_URL"
ADMIN_KEY: Final = "MEMRIG_CEMS_ADMIN_KEY"
SEARCH: Final = "MEMRIG_CEMS_SEARCH"

#: The REST contract that this adapter was written to; the image's own version is in its pin.
_VERSION: Final = "rest-0.9.3"
#: Documents and bytes of one add_batch: what CEMS stores in a few seconds, embedding included.
_BATCH: Final = 32
_BATCH_BYTES: Final = 1024**2
_AT_ONCE: Final = 4
_RETRY_S: Final = 0.1
_SAY_EVERY: Final = 50
_NOT_READY: Final = 503
_REFUSALS: Final = frozenset({400, 413, 422})
_MODES: Final = {SearchMode.SEMANTIC: "vector", SearchMode.HYBRID: "hybrid"}

_ALWAYS: Final = (
    (
        "CEMS takes an episode's time and drops it: the adapter writes the date at the head"
        " of the text, and gives each hit the time of its episode from its own records."
    ),
    (
        "CEMS stores a text once: an episode whose text and date are those of an earlier "
        "one is acknowledged as a duplicate, and a hit then names both as its sources."
    ),
    (
        "CEMS keeps no turns: which ones a hit covers is found by where its text stands in "
        "the episode."
    ),
    "CEMS cuts a query at 2,000 characters.",
    (
        "CEMS calls its language models at an address that a pod does not have: query "
        "synthesis, decomposition, HyDE and summaries are switched off; embeddings alone go"
        " through the gateway."
    ),
    (
        "CEMS cuts documents by characters in a pod, since its tokenizer would have to be "
        "downloaded."
    ),
    "NUL characters are replaced: PostgreSQL cannot hold them.",
    (
        "Which document came from which episode is kept by the adapter alone: after a "
        "restart of the adapter the memory is empty."
    ),
)
_RAW: Final = (
    (
        "Searched with raw: the best chunk of each document in full, without the relevance "
        "threshold, score gap and token budget that CEMS ships with (variant `production` "
        "has them)."
    ),
)
_PRODUCTION: Final = (
    (
        "Searched as CEMS ships it: the relevance threshold, the score gap and a budget of "
        "4,000 tokens leave fewer hits than are asked for; a snippet of 500 characters is "
        "replaced by the document."
    ),
)


@dataclass(frozen=True, slots=True)
class _User:
    """One memory in CEMS: its id, and the key to it."""

    id: str
    key: str


class CemsAdapter(Adapter):
    """One CEMS user for each memory; its documents are episodes."""

    concurrent: ClassVar[bool] = False

    async def start(self) -> None:
        """Waits until CEMS is healthy, and makes the first user.

        Raises:
            CemsError: a setting has a value that it cannot have, or CEMS refuses the admin key.
        """
        self._raw = _choice()
        self._client = Client(os.environ.get(URL, "http://127.0.0.1:8765"))
        self._admin_key = os.environ.get(ADMIN_KEY, "memrig")
        self._record = Record()
        self.capabilities = Capabilities(
            name="cems" if self._raw else "cems-production",
            version=_VERSION,
            search_modes=(SearchMode.HYBRID,) if self._raw else tuple(_MODES),
            max_results=100,
            # The shipped ranking weighs by when a memory was last shown.
            questions_change_memory=not self._raw,
            reports_source_turns=True,
            limitations=_ALWAYS + (_RAW if self._raw else _PRODUCTION),
        )
        await self._wait()
        self._user = await self._new_user()

    async def close(self) -> None:
        """Deletes the user, so that a CEMS that runs on is left as it was found."""
        user = getattr(self, "_user", None)
        if isinstance(user, _User):
            with contextlib.suppress(CemsError):
                await self._delete(user)

    async def ingest_batch(self, episodes: Sequence[Episode]) -> list[IngestResult]:
        """Stores episodes by add_batch, each with its date in its text.

        Raises:
            CemsError: CEMS failed, or gave another number of ids than it got documents.
        """
        results: dict[str, IngestResult] = {}
        fresh: dict[str, tuple[Episode, Told]] = {}
        for episode in episodes:
            if episode.episode_id not in self._record:
                fresh.setdefault(episode.episode_id, (episode, told(episode)))
        for batch in _batches(list(fresh.values())):
            for (episode, _), result in zip(batch, await self._add(batch), strict=True):
                results[episode.episode_id] = result
        # Whatever is met a second time is a duplicate, also within one call.
        return [results.pop(e.episode_id, Duplicate()) for e in episodes]

    async def flush(self) -> int:
        """Counts what CEMS holds: it had stored each episode when that was acknowledged.

        Raises:
            CemsError: CEMS holds fewer documents than it gave ids for.
        """
        reply = await self._call("GET", "/api/memory/list?limit=1&scope=personal")
        total = reply.get("total")
        if not isinstance(total, int) or isinstance(total, bool):
            return len(self._record)
        if total < len(self._record):
            raise CemsError(f"CEMS holds {total} documents of {len(self._record)} that it took")
        return total

    async def search(self, query: Query) -> list[Hit]:
        """Searches, raw or as CEMS ships it; what language models would do is switched off."""
        body: dict[str, Json] = {
            "query": clean(query.text),
            "limit": query.limit,
            "scope": "personal",
            "raw": self._raw,
            "enable_query_synthesis": False,
            "enable_hyde": False,
            "enable_decomposition": False,
        }
        if query.mode is not None and not self._raw:
            body["mode"] = _MODES[query.mode]
        reply = await self._call("POST", "/api/memory/search", body)
        found = reply.get("results")
        if not isinstance(found, list):
            raise CemsError(f"POST /api/memory/search: no results in the reply: {list(reply)}")
        unique: dict[str, Object] = {}
        for result in map(_result, found):
            unique.setdefault(str(result["memory_id"]), result)
        ranked = list(unique.values())[: query.limit]
        texts = await self._full_texts(ranked)
        return self._hits(ranked, texts)

    async def retrieve(self, ref_id: str) -> Document:
        """Gets a whole document. Only what this memory holds: CEMS would show another user's too.

        Raises:
            NotFound: it holds no such document.
        """
        known = self._record.get(ref_id)
        if known is None:
            raise NotFound(f"no document {ref_id!r}")
        try:
            text = await self._document(ref_id)
        except StatusError as error:
            if error.status == 404:
                raise NotFound(f"CEMS has no document {ref_id!r} any more") from error
            raise
        when = known.sources[0].timestamp
        return Document(ref_id, text, known.episode_ids, known.turns(), when)

    async def forget(self, episode_ids: Sequence[str]) -> int:
        """Deletes the documents that came from these episodes alone, for good.

        By the adapter's own records: CEMS says `success` of ids that it does not know as well.
        """
        count = 0
        for episode_id in dict.fromkeys(episode_ids):
            home = self._record.home(episode_id)
            if home is None:
                continue
            if self._record.lonely(episode_id):
                body: dict[str, Json] = {"memory_id": home, "hard_delete": True}
                await self._call("POST", "/api/memory/forget", body)
            self._record.drop(episode_id)
            count += 1
        return count

    async def reset(self) -> None:
        """Makes a new user, and deletes the old one with all that it has."""
        old, self._user = self._user, await self._new_user()
        self._record = Record()
        await self._delete(old)

    async def _wait(self) -> None:
        tries = 0
        while True:
            try:
                reply = await self._client.call("GET", "/health", "")
            except (NotThereError, StatusError) as error:
                if isinstance(error, StatusError) and error.status != _NOT_READY:
                    raise
                if tries % _SAY_EVERY == 0:
                    logging.getLogger("memrig_adapters").warning("waiting for CEMS: %s", error)
                tries += 1
                await asyncio.sleep(_RETRY_S)
                continue
            if reply.get("status") == "healthy":
                return
            await asyncio.sleep(_RETRY_S)

    async def _new_user(self) -> _User:
        body: dict[str, Json] = {"username": f"memrig-{uuid.uuid4().hex}"}
        reply = await self._client.call("POST", "/admin/users", self._admin_key, body)
        user, key = reply.get("user"), reply.get("api_key")
        if not isinstance(user, dict) or not isinstance(key, str):
            raise CemsError(f"POST /admin/users: no user or no key in the reply: {list(reply)}")
        return _User(str(user["id"]), key)

    async def _delete(self, user: _User) -> None:
        await self._client.call("DELETE", f"/admin/users/{quote(user.id)}", self._admin_key)

    async def _call(self, method: str, path: str, body: dict[str, Json] | None = None) -> Object:
        return await self._client.call(method, path, self._user.key, body)

    async def _add(self, batch: Sequence[tuple[Episode, Told]]) -> list[IngestResult]:
        memories: list[Json] = [
            {"content": t.content, "source_ref": f"project:memrig:{e.episode_id}"} for e, t in batch
        ]
        path = "/api/memory/add_batch"
        try:
            reply = await self._call("POST", path, {"memories": memories})
        except StatusError as error:
            if error.status not in _REFUSALS:
                raise
            if len(batch) == 1:
                return [Rejected(str(error))]
            return [result for one in batch for result in await self._add([one])]
        ids = reply.get("document_ids")
        if not isinstance(ids, list) or len(ids) != len(batch):
            count = len(ids) if isinstance(ids, list) else "no"
            raise CemsError(f"POST {path}: {count} ids for {len(batch)} documents")
        return [
            1 if self._record.add(str(name), episode, text) else Duplicate()
            for name, (episode, text) in zip(ids, batch, strict=True)
        ]

    async def _document(self, memory_id: str) -> str:
        reply = await self._call("GET", f"/api/memory/get?id={quote(memory_id)}")
        document = reply.get("document")
        if not isinstance(document, dict) or not isinstance(document.get("content"), str):
            raise CemsError(f"GET /api/memory/get: no document in the reply: {list(reply)}")
        return str(document["content"])

    async def _full_texts(self, results: Sequence[Object]) -> list[str]:
        """The text of each result; where CEMS cut it to a snippet, that of its document."""
        gate = asyncio.Semaphore(_AT_ONCE)

        async def text(result: Object) -> str:
            if not result.get("truncated"):
                return str(result["content"])
            async with gate:
                return await self._document(str(result["memory_id"]))

        return list(await asyncio.gather(*(text(result) for result in results)))

    def _hits(self, results: Sequence[Object], texts: Sequence[str]) -> list[Hit]:
        """Hits in the order of CEMS; a score above that of the one before is lowered to it."""
        hits = []
        ceiling = math.inf
        for result, text in zip(results, texts, strict=True):
            ceiling = min(ceiling, _score(result))
            memory_id, shown = str(result["memory_id"]), str(result["content"])
            known = self._record.get(memory_id)
            if known is None:  # shown as it is, and without a source: nothing is guessed
                hits.append(Hit(memory_id, text, ceiling))
                continue
            hits.append(
                Hit(
                    memory_id,
                    text,
                    ceiling,
                    known.episode_ids,
                    _turns(known, shown, text),
                    known.sources[0].timestamp,
                )
            )
        return hits


def _turns(known: Known, shown: str, text: str) -> tuple[str, ...]:
    """The turns of a hit's text; those of what CEMS found it by go first."""
    first = known.turns(shown)
    rest = () if shown == text else known.turns(text)
    return tuple(dict.fromkeys((*first, *rest)))


def _batches(entries: Sequence[tuple[Episode, Told]]) -> list[list[tuple[Episode, Told]]]:
    """Entries in groups of at most so many, and of at most so many bytes unless it is one."""
    groups: list[list[tuple[Episode, Told]]] = []
    room = 0
    for entry in entries:
        size = len(entry[1].content.encode())
        if not groups or len(groups[-1]) == _BATCH or size > room:
            groups.append([])
            room = _BATCH_BYTES
        groups[-1].append(entry)
        room -= size
    return groups


def _result(result: Json) -> Object:
    if not isinstance(result, dict) or not {"memory_id", "content"} <= result.keys():
        raise CemsError(f"POST /api/memory/search: this is no result: {str(result)[:200]}")
    return result


def _score(result: Object) -> float:
    score = result.get("score")
    if not isinstance(score, (int, float)) or not math.isfinite(score):
        raise CemsError(f"POST /api/memory/search: the score of a result is {score!r}")
    return float(score)


def _choice() -> bool:
    chosen = os.environ.get(SEARCH, "raw")
    if chosen not in {"raw", "production"}:
        raise CemsError(f"{SEARCH} is {chosen!r}, expected raw or production")
    return chosen == "raw"
