"""The rig's own baselines behind the client's interface: no process, no wire, no ranking of its own.

`oracle` returns the gold episodes of the question that is asked, and so bounds what any memory could
do for a reader; gold never leaves the host. `full-context` returns all episodes so far, newest
first, and so stands for a model that is simply shown everything.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Literal

from memrig._version import __version__
from memrig.client.ids import Pseudonyms
from memrig.model.gold import Gold
from memrig.model.scenario import Episode
from memrig.model.transcript import (
    Ack,
    CapabilitiesRecord,
    FlushRecord,
    HitRecord,
    ResetRecord,
    SearchRecord,
)

Baseline = Literal["oracle", "full-context"]
BASELINES: tuple[Baseline, ...] = ("oracle", "full-context")
PREFIX = "baseline:"
_MOST = 1_000_000
_BATCH = 256


class BaselineClient:
    """A baseline's memory: every episode, as it was ingested.

    Args:
        kind: which baseline.
    """

    def __init__(self, kind: Baseline) -> None:
        self.kind = kind
        self._episodes: dict[str, Episode] = {}

    async def serving(self) -> bool:
        """Always."""
        return True

    async def wait_ready(
        self, deadline_s: float, still_alive: Callable[[], Awaitable[None]]
    ) -> None:
        """It is ready."""

    async def check_same_process(self, where: str) -> None:
        """It is this one."""

    async def capabilities(self) -> CapabilitiesRecord:
        """What a baseline declares."""
        return CapabilitiesRecord(
            name=f"{PREFIX}{self.kind}",
            version=__version__,
            contract_version="1.0",
            boot_id="host",
            search_modes=(),
            filter_fields=(),
            max_results=_MOST,
            optional=(),
            tools=(),
        )

    async def reset(self) -> ResetRecord:
        """Forgets all episodes."""
        self._episodes.clear()
        return ResetRecord(ns=0)

    async def ingest(
        self, episodes: Iterable[Episode], ids: Pseudonyms
    ) -> AsyncIterator[tuple[Ack, ...]]:
        """Keeps the episodes."""
        del ids
        acks: list[Ack] = []
        for episode in episodes:
            self._episodes[episode.episode_id] = episode
            acks.append(Ack(episode_id=episode.episode_id, status="stored", stored_items=1, ns=0))
            if len(acks) == _BATCH:
                yield tuple(acks)
                acks = []
        if acks:
            yield tuple(acks)

    async def flush(self, scenario_id: str) -> FlushRecord:
        """Everything is searchable at once."""
        return FlushRecord(scenario_id=scenario_id, ns=0, total_items=len(self._episodes))

    def search(self, query: str, limit: int, gold: Gold | None) -> SearchRecord:
        """The baseline's hits for a question.

        Args:
            query: noted in the record.
            limit: the most hits.
            gold: the question's, for the oracle; its evidence that was ingested already is found.
        """
        started = time.monotonic_ns()
        if self.kind == "oracle":
            found = _evidence(self._episodes, gold)
        else:
            found = [(episode, ()) for episode in reversed(self._episodes.values())]
        hits = tuple(
            HitRecord(
                ref_id=episode.episode_id,
                text=episode.text,
                score=1 / number,
                episodes=(episode.episode_id,),
                turns=turns,
                timestamp=episode.timestamp,
            )
            for number, (episode, turns) in enumerate(found[:limit], 1)
        )
        return SearchRecord(
            query=query,
            limit=limit,
            ns=time.monotonic_ns() - started,
            payload_bytes=0,
            hits=hits,
        )


def _evidence(
    episodes: dict[str, Episode], gold: Gold | None
) -> Sequence[tuple[Episode, tuple[str, ...]]]:
    if gold is None:
        return []
    marked = frozenset(gold.evidence_turns)
    return [
        (
            episodes[name],
            tuple(turn.turn_id for turn in episodes[name].turns if turn.turn_id in marked),
        )
        for name in gold.evidence
        if name in episodes
    ]
