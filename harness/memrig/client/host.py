"""Memories that live in the rig's own process, behind the client's interface: no wire, no adapter.

`oracle` returns the gold episodes of the question that is asked, and so bounds what any memory
could do for a reader; gold never leaves the host. `oracle-75` and so on find only that percentage
of it where a question needs more than one episode: memories that look things up but do not
accumulate. `full-context` returns all episodes so far, newest by date first, and so stands for a
model that is simply shown everything. Given answers were produced elsewhere; they are only read.
"""

import hashlib
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
    DocumentRecord,
    FlushRecord,
    HitRecord,
    NativeRecord,
    ResetRecord,
    SearchRecord,
)

#: An episode and the turns of it that count.
Found = tuple[Episode, tuple[str, ...]]
_MOST = 1_000_000
#: The percentage of a question's evidence that each oracle finds.
_KEPT: Mapping[Baseline, int] = {
    "oracle": 100,
    "oracle-75": 75,
    "oracle-50": 50,
    "oracle-25": 25,
    "oracle-0": 0,
}
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

    def keep(self, episode: Episode) -> None:
        """Takes one episode in."""
        self._episodes[episode.episode_id] = episode

    async def ingest(
        self, episodes: Iterable[Episode], ids: Pseudonyms
    ) -> AsyncIterator[tuple[Ack, ...]]:
        """Keeps the episodes."""
        del ids
        acks: list[Ack] = []
        for episode in episodes:
            self.keep(episode)
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
        found = enumerate(self._found(gold)[:limit], 1)
        hits = tuple(_hit(episode, turns, 1 / number) for number, (episode, turns) in found)
        return SearchRecord(
            query=query,
            limit=limit,
            ns=time.monotonic_ns() - started,
            payload_bytes=sum(_size(hit) for hit in hits),
            hits=hits,
        )

    def retrieve(self, ref_id: str) -> DocumentRecord | None:
        """One episode in full; None where it has none of that id."""
        started = time.monotonic_ns()
        episode = self._episodes.get(ref_id)
        if episode is None:
            return None
        hit = _hit(episode, (), 0)
        return DocumentRecord(hit=hit, ns=time.monotonic_ns() - started, payload_bytes=_size(hit))

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
        super().__init__(f"{BASELINE_PREFIX}{kind}", optional=("retrieve",))
        self._kept = _KEPT.get(kind)
        self.needs_gold = self._kept is not None

    def _found(self, gold: Gold | None) -> Sequence[Found]:
        if self._kept is not None:
            return _evidence(self._episodes, gold, self._kept) if gold else []
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
        """The given answer. What it cites must have been ingested by then, or the claim is void.

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
            episodes=tuple(name if name in self._episodes else None for name in given.cited),
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


def _evidence(episodes: dict[str, Episode], gold: Gold, percent: int) -> Sequence[Found]:
    marked = frozenset(gold.evidence_turns)
    return [
        (
            episodes[name],
            tuple(turn.turn_id for turn in episodes[name].turns if turn.turn_id in marked),
        )
        for name in _drawn(gold, percent)
        if name in episodes
    ]


def _drawn(gold: Gold, percent: int) -> Sequence[str]:
    """The evidence that a degraded oracle keeps, in the order of the data.

    A single episode stays. Of several, so many are kept, rounded half up; whatever a lower
    percentage keeps, a higher one keeps too, since both draw in the same order.
    """
    names = gold.evidence
    if len(names) < 2 or percent == 100:
        return names
    drawn = sorted(names, key=lambda name: _lot(gold.question_id, name))
    kept = frozenset(drawn[: (len(names) * percent + 50) // 100])
    return [name for name in names if name in kept]


def _lot(question_id: str, episode_id: str) -> bytes:
    return hashlib.sha256(f"{question_id}\x1f{episode_id}".encode()).digest()


def _hit(episode: Episode, turns: tuple[str, ...], score: float) -> HitRecord:
    return HitRecord(
        ref_id=episode.episode_id,
        text=episode.text,
        score=score,
        episodes=(episode.episode_id,),
        turns=turns,
        timestamp=episode.timestamp,
    )


def _size(hit: HitRecord) -> int:
    """Bytes that an adapter would send for it, but for the wire's own."""
    return len(hit.text.encode()) + len(hit.ref_id.encode())
