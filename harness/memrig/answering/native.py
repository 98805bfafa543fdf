"""Mode native: the memory system answers by itself."""

from collections.abc import Iterator

from memrig.answering.base import Access, Trace
from memrig.answering.steps import exceeded, hits_wanted, note_memory, settled
from memrig.errors import UsageError
from memrig.model.scenario import Question
from memrig.model.transcript import AnswerRecord, Memory, NativeRecord
from memrig.model.trial import Outcome


async def native(question: Question, access: Access, trace: Trace) -> Outcome:
    """Takes the memory system's own answer.

    Raises:
        AdapterError: the memory system failed.
        UsageError: it has no answers of its own.
    """
    capabilities = access.memory.capabilities
    if "answer" not in capabilities.optional:
        raise UsageError(
            f"{capabilities.name} does not answer by itself: it declares no supports_answer",
            where="--mode native",
            fix="use --mode reader, or --mode agent",
        )
    given = await access.memory.answer(question, hits_wanted(access))
    note_memory(given.ns, given.payload_bytes, trace)
    trace.tool_uses += given.tools
    trace.answer = _answer(given)
    if given.payload_bytes > access.spec.budget.payload_bytes:
        return exceeded("payload_bytes", access.spec.budget)
    return settled(given.abstained)


def _answer(given: NativeRecord) -> AnswerRecord:
    memories = tuple(_cited(given))
    return AnswerRecord(
        text=given.answer,
        abstained=given.abstained,
        confidence=given.confidence,
        cited=tuple(memory.handle for memory in memories),
        reasoning=given.reasoning,
        memories=memories,
        usage=given.usage,
    )


def _cited(given: NativeRecord) -> Iterator[Memory]:
    """Refs and episodes as one list of memories.

    The contract does not say which episode stands behind which ref. Where there are as many of one
    as of the other they are taken in pairs; otherwise each is a memory of its own.
    """
    refs, episodes = given.cited_refs, given.episodes
    pairs: list[tuple[str, tuple[str | None, ...]]]
    if len(refs) == len(episodes):
        pairs = [(ref, (name,)) for ref, name in zip(refs, episodes, strict=True)]
    else:
        pairs = [*((ref, ()) for ref in refs), *(("", (name,)) for name in episodes)]
    for number, (ref, claims) in enumerate(pairs, 1):
        yield Memory(handle=f"m{number}", ref_id=ref, episodes=claims)
