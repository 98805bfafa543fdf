"""Mode retrieval."""

from memrig.answering import mode_of
from memrig.answering.base import Trace
from memrig.model.trial import Budget
from support.fake_answers import QUESTION, FakeAnswers, access_to, hit
from support.fake_chat import ScriptedChat, says


async def test_one_search_with_the_question_as_it_stands_and_no_model():
    """The record holds the hits; no answer comes about."""
    memory, chat, trace = FakeAnswers([hit("r", "text")]), ScriptedChat([says("no")]), Trace()
    outcome = await mode_of("retrieval")(QUESTION, access_to(memory, chat, top_k=3), trace)
    assert outcome.label == "answered"
    assert memory.asked == [(QUESTION.text, 3, "", ())]
    assert [found.ref_id for found in trace.searches[0].hits] == ["r"]
    assert (trace.memory_ns, trace.payload_bytes) == (7, 4)
    assert (trace.answer, chat.requests) == (None, [])


async def test_no_more_hits_are_asked_for_than_the_memory_gives():
    """A limit over max_results would be INVALID_ARGUMENT (protocol §8.4)."""
    memory = FakeAnswers()
    access = access_to(memory, ScriptedChat([says("")]), top_k=500)
    await mode_of("retrieval")(QUESTION, access, Trace())
    assert memory.asked[0][1] == memory.capabilities.max_results


async def test_more_bytes_than_the_budget_has_are_a_limit_hit():
    """The hits stay on record."""
    memory, trace = FakeAnswers([hit("r", "x" * 11)]), Trace()
    access = access_to(memory, ScriptedChat([says("")]), budget=Budget(payload_bytes=10))
    outcome = await mode_of("retrieval")(QUESTION, access, trace)
    assert outcome.label == "budget_exceeded(payload_bytes)"
    assert len(trace.searches) == 1


async def test_as_many_bytes_as_the_budget_has_are_none():
    """A limit is what may be used."""
    memory = FakeAnswers([hit("r", "x" * 10)])
    access = access_to(memory, ScriptedChat([says("")]), budget=Budget(payload_bytes=10))
    assert (await mode_of("retrieval")(QUESTION, access, Trace())).status == "answered"
