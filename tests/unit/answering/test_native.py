"""Mode native: the adapter's answer, as every other mode's."""

import pytest

from memrig.answering import mode_of
from memrig.answering.base import Trace
from memrig.errors import UsageError
from memrig.model.transcript import AdapterUsage, NativeRecord, ToolUseRecord
from memrig.model.trial import Budget
from support.fake_answers import QUESTION, FakeAnswers, access_to, declared
from support.fake_chat import ScriptedChat, says

ANSWERS = declared(optional=("answer",))
LOOKUP = ToolUseRecord(
    name="lookup", arguments_json='{"n": 1}', result='"attic"', is_error=False, ns=0
)


def native(**changes: object) -> NativeRecord:
    fields: dict[str, object] = {
        "answer": "In the attic.",
        "abstained": False,
        "confidence": 0.75,
        "cited_refs": ("r1", "r2"),
        "episodes": ("e1", None),
        "tools": (LOOKUP, LOOKUP),
        "reasoning": "because",
        "usage": AdapterUsage(model_calls=2, input_tokens=30, output_tokens=4),
        "ns": 11,
        "payload_bytes": 99,
    }
    return NativeRecord.model_validate(fields | changes)


async def ask(record: NativeRecord, **options: object):
    chat, trace = ScriptedChat([says("never")]), Trace()
    memory = FakeAnswers(capabilities=ANSWERS, native=record)
    access = access_to(memory, chat, mode="native", **options)
    outcome = await mode_of("native")(QUESTION, access, trace)
    assert chat.requests == []
    return outcome, trace, memory


async def test_the_answer_keeps_all_that_the_system_told():
    """Confidence, reasoning, usage, tools, and the time that it took."""
    outcome, trace, memory = await ask(native(), top_k=4)
    answer = trace.answer
    assert outcome.label == "answered"
    assert (answer.text, answer.confidence, answer.reasoning) == ("In the attic.", 0.75, "because")
    assert answer.usage == AdapterUsage(model_calls=2, input_tokens=30, output_tokens=4)
    assert trace.tool_uses == [LOOKUP, LOOKUP]
    assert (trace.memory_ns, trace.payload_bytes, memory.limits) == (11, 99, [4])


async def test_as_many_episodes_as_refs_are_taken_in_pairs():
    """A void claim keeps its place."""
    _, trace, _ = await ask(native())
    assert [(m.handle, m.ref_id, m.episodes) for m in trace.answer.memories] == [
        ("m1", "r1", ("e1",)),
        ("m2", "r2", (None,)),
    ]
    assert trace.answer.cited == ("m1", "m2")


async def test_otherwise_each_ref_and_each_episode_is_a_citation_of_its_own():
    """The contract does not say which belongs to which."""
    _, trace, _ = await ask(native(cited_refs=("r1",), episodes=("e1", "e2")))
    assert [(m.ref_id, m.episodes) for m in trace.answer.memories] == [
        ("r1", ()),
        ("", ("e1",)),
        ("", ("e2",)),
    ]
    assert trace.answer.cited == ("m1", "m2", "m3")


async def test_declining_to_answer_is_an_abstention():
    """Whatever its text says."""
    outcome, trace, _ = await ask(native(answer="", abstained=True, confidence=None))
    assert (outcome.label, trace.answer.abstained, trace.answer.text) == ("abstained", True, "")


async def test_more_bytes_than_the_budget_has_are_a_limit_hit():
    """The answer stays on record."""
    outcome, trace, _ = await ask(native(), budget=Budget(payload_bytes=98))
    assert outcome.label == "budget_exceeded(payload_bytes)"
    assert trace.answer.text == "In the attic."


async def test_a_system_that_does_not_answer_cannot_be_run_in_this_mode():
    """The run fails clearly instead of scoring 0."""
    access = access_to(FakeAnswers(native=native()), ScriptedChat([says("")]), mode="native")
    with pytest.raises(UsageError, match=r"--mode native: secret-name does not answer by itself"):
        await mode_of("native")(QUESTION, access, Trace())
