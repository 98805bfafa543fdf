"""Mode retrieval: one search, and no model at all."""

from memrig.answering.base import Access, Trace
from memrig.answering.steps import exceeded, hits_wanted, note_search, settled
from memrig.model.scenario import Question
from memrig.model.trial import Outcome


async def retrieval(question: Question, access: Access, trace: Trace) -> Outcome:
    """Searches for the question as it stands.

    Raises:
        AdapterError: the memory system failed.
    """
    found = note_search(await access.memory.search(question.text, hits_wanted(access)), trace)
    if found.payload_bytes > access.spec.budget.payload_bytes:
        return exceeded("payload_bytes", access.spec.budget)
    return settled(abstained=False)
