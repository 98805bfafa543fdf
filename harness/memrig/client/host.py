"""Memories that live in the rig's own process, behind the client's interface: no wire, no adapter.

`oracle` returns the gold episodes of the question that is asked, and so bounds what any memory
could do for a reader; gold never leaves the host. `full-context` returns all episodes so far,
newest by date first, and so stands for a model that is simply shown everything. Given answers were
produced elsewhere; they are only read.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from memrig._version import __version__
from memrig.client.ids import Pseudonyms
from memrig.errors import AdapterRpcError, UsageError
from memrig.model.given import GivenAnswer
from memrig.model.gold import Gold
from memrig.model.manifest import BASELINE_PREFIX, Baseline
from memrig.model.scenario import Episode, Question
from memrig.model.transcript import (
    Ack,
    CapabilitiesRecord,
    FlushRecord,
    HitRecord,
    NativeRecord,
    ResetRecord,
    SearchRecord,
)

#: An episode and the turns of it that count.
Found = tuple[Episode, tuple[str, ...]]
_MOST = 1_000_000
_BATCH = 256


class HostClient:
    """Keeps every episode as it was ingested, and finds nothing.

    Args:
        name: what it declares itself as.
        optional: the optional calls that it has.
    """

    #: Whether a question's gold record is needed to find something.
    needs_gold = False

    def __init__(self, name: str, optional: tuple[str, ...] = ()) -> None:
        self._name = name
        self._optional = optional
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
        """What it declares."""
        return CapabilitiesRecord(
            name=self._name,
            version=__version__,
            contract_version="1.0",
            boot_id="host",
            search_modes=(),
            filter_fields=(),
            max_results=_MOST,
            optional=self._optional,
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
        """The hits for a question.

        Args:
            query: noted in the record.
            limit: the most hits.
            gold: the question's, where it is needed.
        """
        started = time.monotonic_ns()
        hits = tuple(
            HitRecord(
                ref_id=episode.episode_id,
                text=episode.text,
                score=1 / number,
                episodes=(episode.episode_id,),
                turns=turns,
                timestamp=episode.timestamp,
            )
            for number, (episode, turns) in enumerate(self._found(gold)[:limit], 1)
        )
        return SearchRecord(
            query=query,
            limit=limit,
            ns=time.monotonic_ns() - started,
            payload_bytes=0,
            hits=hits,
        )

    def answer(self, question: Question) -> NativeRecord:
        """An answer of its own.

        Raises:
            UsageError: it has none.
        """
        raise UsageError(
            f"{self._name} has no answer of its own to {question.question_id!r}",
            where="--mode native",
            fix="use --mode reader",
        )

    def _found(self, gold: Gold | None) -> Sequence[Found]:
        del gold
        return []


class BaselineClient(HostClient):
    """A baseline.

    Args:
        kind: which one.
    """

    def __init__(self, kind: Baseline) -> None:
        super().__init__(f"{BASELINE_PREFIX}{kind}")
        self._kind = kind
        self.needs_gold = kind == "oracle"

    def _found(self, gold: Gold | None) -> Sequence[Found]:
        if self._kind == "oracle":
            return _evidence(self._episodes, gold)
        return [(episode, ()) for episode in _newest_first(self._episodes.values())]


class GivenClient(HostClient):
    """Answers that were produced elsewhere.

    Args:
        name: what they are called in tables.
        answers: by question id.
    """

    def __init__(self, name: str, answers: Mapping[str, GivenAnswer]) -> None:
        super().__init__(name, optional=("answer",))
        self._answers = answers

    def answer(self, question: Question) -> NativeRecord:
        """The given answer.

        Raises:
            AdapterRpcError: there is none; the question counts as wrong under that name.
        """
        given = self._answers.get(question.question_id)
        if given is None:
            message = f"no answer was given to {question.question_id!r}"
            raise AdapterRpcError("NOT_FOUND", message, where="answers file")
        return NativeRecord(
            answer=given.answer,
            abstained=not given.answer.strip(),
            confidence=given.confidence,
            cited_refs=given.cited,
            episodes=given.cited,
            tools=(),
            reasoning="",
            usage=None,
            ns=0,
            payload_bytes=0,
        )


def _newest_first(episodes: Iterable[Episode]) -> list[Episode]:
    """By date; of equal dates, and without one, what was ingested later is newer.

    An episode without a date stays behind the one that was ingested before it.
    """
    dated: list[tuple[datetime, Episode]] = []
    date = datetime.min.replace(tzinfo=UTC)
    for episode in episodes:
        if stamp := episode.timestamp:
            date = stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)
        dated.append((date, episode))
    return [episode for _, episode in sorted(dated, key=lambda pair: pair[0])][::-1]


def _evidence(episodes: dict[str, Episode], gold: Gold | None) -> Sequence[Found]:
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
