"""Which episodes an answer stands on, and which the memory returned (scoring §4)."""

from collections.abc import Iterable
from dataclasses import dataclass

from memrig.grading.base import Asked
from memrig.model.transcript import Memory, QuestionRecord

#: So many of the sources that one memory claims count as found: one that claims every episode must
#: earn nothing by it (ADR 0012).
SOURCES = 5
#: So many sources of one answer count, in the order of its citations, or as many as are required:
#: an answer that cites all there is must not beat one that knows (ADR 0012).
ANSWER_SOURCES = 10

Claims = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Cited:
    """What an answer cites: memories, each once, and how many handles that stand for none."""

    memories: tuple[Memory, ...] = ()
    unknown: int = 0

    @property
    def refs(self) -> int:
        """How many refs are cited."""
        return len(self.memories) + self.unknown

    def episodes(self, wanted: int = 0) -> frozenset[str]:
        """The episodes behind them, as many as count.

        Args:
            wanted: how many the question requires.
        """
        named = [name for memory in self.memories for name in memory.episodes[:SOURCES]]
        counted = list(dict.fromkeys(named))[: max(ANSWER_SOURCES, wanted)]
        return frozenset(name for name in counted if name is not None)

    @property
    def grounding(self) -> float:
        """The share of cited refs that resolve to ingested episodes; 0 where nothing is cited.

        A ref counts by the share of its claimed sources that were ingested before the question, and
        for nothing if it claims none.
        """
        if not self.refs:
            return 0.0
        return sum(_real_share(memory.episodes) for memory in self.memories) / self.refs


def cited_by(record: QuestionRecord) -> Cited:
    """What the answer of a question cites. A memory that is cited twice is cited once."""
    answer = record.answer
    if answer is None:
        return Cited()
    known = {memory.handle: memory for memory in answer.memories}
    handles = dict.fromkeys(answer.cited)
    found = [known[handle] for handle in handles if handle in known]
    if record.native and any(memory.episodes and not memory.ref_id for memory in found):
        # Refs and episodes came as two lists that do not pair: episodes are what can be checked.
        found = [memory for memory in found if memory.episodes]
    once = {_identity(memory): memory for memory in found}
    strange = sum(handle not in known for handle in handles)
    return Cited(tuple(once.values()), answer.unknown_citations + strange)


def sources_of(claims: Iterable[Claims]) -> frozenset[str]:
    """The episodes that these claims come to, the first few of each."""
    named = (name for claim in claims for name in claim[:SOURCES])
    return frozenset(name for name in named if name is not None)


def retrieved(record: QuestionRecord) -> frozenset[str]:
    """The episodes behind all that the memory returned for a question, cited or not."""
    hits = (hit.episodes for search in record.searches for hit in search.hits)
    shown = record.answer.memories if record.answer else ()
    return sources_of(hits) | sources_of(memory.episodes for memory in shown)


def required(asked: Asked) -> frozenset[str]:
    """The episodes that a right answer stands on."""
    return frozenset(asked.gold.evidence) if asked.gold.scorable else frozenset()


def _identity(memory: Memory) -> object:
    """What makes two cited handles the same citation.

    An answer of the memory's own has a handle for each of its citations, repeated ones too. Void
    claims without a ref may have been of anything, and each is one.
    """
    known = memory.ref_id or any(memory.episodes)
    return (memory.ref_id, memory.episodes) if known else memory.handle


def _real_share(claims: Claims) -> float:
    return sum(name is not None for name in claims) / len(claims) if claims else 0.0
