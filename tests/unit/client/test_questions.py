"""Search by mode and filter, Retrieve, Answer, CallTool: what goes out and what is checked."""

import asyncio
import json
import math
from datetime import UTC, datetime

import grpc
import pytest

from memrig.client import MemoryClient, Pseudonyms
from memrig.errors import (
    AdapterCrashedError,
    AdapterRpcError,
    AdapterTimeoutError,
    ContractError,
)
from memrig.model.scenario import Question
from memrig.model.transcript import AdapterUsage, FilterUse
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.fake_memory import Behaviour, FakeMemory

QUESTION = Question(
    question_id="q-secret", text="where?", asked_at=datetime(2024, 3, 5, 17, tzinfo=UTC)
)


class Answering(FakeMemory):
    """Gives these responses, and keeps what it was asked."""

    def __init__(self, **responses: object) -> None:
        super().__init__(Behaviour())
        self.responses = responses
        self.requests: list[object] = []
        self.delay_s = 0.0
        self.abort: grpc.StatusCode | None = None

    async def _give(self, kind, name, request, context):
        self.requests.append(request)
        if self.abort:
            await context.abort(self.abort, "as told")
        await asyncio.sleep(self.delay_s)
        response = self.responses.get(name) or kind()
        response.boot_id = self.boot_id
        return response

    async def Search(self, request, context):  # noqa: N802
        return await self._give(pb.SearchResponse, "search", request, context)

    async def Retrieve(self, request, context):  # noqa: N802
        return await self._give(pb.RetrieveResponse, "retrieve", request, context)

    async def Answer(self, request, context):  # noqa: N802
        return await self._give(pb.AnswerResponse, "answer", request, context)

    async def CallTool(self, request, context):  # noqa: N802
        return await self._give(pb.CallToolResponse, "call_tool", request, context)


@pytest.fixture
def ids() -> Pseudonyms:
    """One episode with one turn, acknowledged."""
    pseudonyms = Pseudonyms(1, "sha256:x")
    pseudonyms.acknowledge(pseudonyms.episode("e1", (pseudonyms.turn("t1"),)))
    return pseudonyms


def opaque(ids: Pseudonyms) -> tuple[str, str]:
    return ids.episode("e1"), ids.turn("t1")


def answered(**changes: object) -> pb.AnswerResponse:
    return pb.AnswerResponse(**{"answer": "attic"} | changes)


CALLS = {
    "search": lambda client, ids: client.search("q", 3, ids),
    "retrieve": lambda client, ids: client.retrieve("r1", ids),
    "answer": lambda client, ids: client.answer(QUESTION, 5, ids),
    "call_tool": lambda client, ids: client.call_tool("batch", "{}", ids),
}
GOOD = {
    "retrieve": pb.RetrieveResponse(document=pb.Document(ref_id="r1", text="t")),
    "answer": answered(),
    "call_tool": pb.CallToolResponse(result_json="{}"),
}
NAMES = {"search": "Search", "retrieve": "Retrieve", "answer": "Answer", "call_tool": "CallTool"}


async def test_a_search_carries_mode_and_filters(connect, ids):
    """As the contract writes them; the record keeps them."""
    memory = Answering()
    client: MemoryClient = await connect(memory)
    uses = [
        FilterUse(field="place", operator=operator, value="1")
        for operator in ("equal", "greater_or_equal", "less")
    ]
    record = await client.search("tea", 4, ids, mode="SEARCH_MODE_HYBRID", filters=uses)
    request = memory.requests[0]
    assert (request.query, request.limit, request.mode) == ("tea", 4, pb.SEARCH_MODE_HYBRID)
    assert [(f.field, f.operator, f.value) for f in request.filters] == [
        ("place", pb.FILTER_OPERATOR_EQUAL, "1"),
        ("place", pb.FILTER_OPERATOR_GREATER_OR_EQUAL, "1"),
        ("place", pb.FILTER_OPERATOR_LESS, "1"),
    ]
    assert (record.mode, record.filters) == ("SEARCH_MODE_HYBRID", tuple(uses))


async def test_a_search_without_a_mode_leaves_it_to_the_adapter(connect, ids):
    """Unspecified is its own choice (protocol §8.3)."""
    memory = Answering()
    await (await connect(memory)).search("tea", 4, ids)
    assert memory.requests[0].mode == pb.SEARCH_MODE_UNSPECIFIED


async def test_a_document_comes_with_its_sources_and_time(connect, ids):
    """Real ids, a void claim as None."""
    episode, turn = opaque(ids)
    document = pb.Document(
        ref_id="r1", text="whole", source_episode_ids=[episode, "e_no"], source_turn_ids=[turn]
    )
    document.timestamp.FromJsonString("2024-03-05T17:00:00Z")
    response = pb.RetrieveResponse(document=document)
    client = await connect(Answering(retrieve=response))
    record = await client.retrieve("r1", ids)
    assert (record.hit.text, record.hit.episodes, record.hit.turns) == (
        "whole",
        ("e1", None),
        ("t1",),
    )
    assert record.hit.timestamp == datetime(2024, 3, 5, 17, tzinfo=UTC)
    assert (record.payload_bytes, record.ns > 0) == (response.ByteSize(), True)


async def test_an_unknown_ref_is_nothing_and_no_fault(connect, ids):
    """NOT_FOUND is what the contract asks for (protocol §11.2)."""
    memory = Answering()
    memory.abort = grpc.StatusCode.NOT_FOUND
    assert await (await connect(memory)).retrieve("r9", ids) is None


async def test_any_other_status_of_retrieve_is_a_fault(connect, ids):
    """It keeps its code."""
    memory = Answering()
    memory.abort = grpc.StatusCode.INTERNAL
    with pytest.raises(AdapterRpcError) as caught:
        await (await connect(memory)).retrieve("r9", ids)
    assert caught.value.code == "INTERNAL"


@pytest.mark.parametrize("document", [pb.Document(ref_id="r2", text="t"), None])
async def test_another_document_than_was_asked_for_breaks_the_contract(document, connect, ids):
    """So does none at all (protocol §11.1)."""
    client = await connect(Answering(retrieve=pb.RetrieveResponse(document=document)))
    with pytest.raises(ContractError, match=r"§11\.1"):
        await client.retrieve("r1", ids)


async def test_an_answer_keeps_all_that_was_told(connect, ids):
    """Claims with real ids, usage, tools with what they were given and gave, as a JSON text."""
    episode, _ = opaque(ids)
    response = answered(
        cited_ref_ids=["r1"],
        source_episode_ids=[episode, "e_no"],
        confidence=0.0,
        tool_uses=[pb.ToolUse(name="lookup", arguments_json="{}", result='{"results": 5}')],
        reasoning_trace="because",
        usage=pb.Usage(model_calls=2, input_tokens=30, output_tokens=4),
    )
    memory = Answering(answer=response)
    record = await (await connect(memory)).answer(QUESTION, 5, ids)
    assert (record.answer, record.abstained, record.confidence) == ("attic", False, 0.0)
    assert (record.cited_refs, record.episodes) == (("r1",), ("e1", None))
    (use,) = record.tools
    assert (use.name, use.arguments_json, record.reasoning) == ("lookup", "{}", "because")
    assert json.loads(use.result) == '{"results": 5}'
    assert record.usage == AdapterUsage(model_calls=2, input_tokens=30, output_tokens=4)
    assert record.payload_bytes == response.ByteSize()
    request = memory.requests[0]
    assert (request.question, request.limit) == ("where?", 5)
    assert request.question_time.ToJsonString() == "2024-03-05T17:00:00Z"
    assert b"q-secret" not in request.SerializeToString()


async def test_what_an_answer_does_not_tell_is_not_made_up(connect, ids):
    """Absent confidence is not 0; a question without a time has none."""
    memory = Answering(answer=answered())
    question = Question(question_id="q", text="where?")
    record = await (await connect(memory)).answer(question, 5, ids)
    assert (record.confidence, record.usage) == (None, None)
    assert not memory.requests[0].HasField("question_time")


@pytest.mark.parametrize(
    ("response", "rule"),
    [
        (answered(answer=""), r"§12\.1"),
        (answered(confidence=1.01), r"§12\.2"),
        (answered(confidence=-0.1), r"§12\.2"),
        (answered(confidence=math.nan), r"§12\.2"),
    ],
)
async def test_an_answer_that_breaks_a_rule_is_named_with_it(response, rule, connect, ids):
    """It is the adapter's fault, not a wrong answer."""
    client = await connect(Answering(answer=response))
    with pytest.raises(ContractError, match=rule):
        await client.answer(QUESTION, 5, ids)


async def test_an_empty_answer_may_abstain(connect, ids):
    """That is what abstaining is for."""
    client = await connect(Answering(answer=answered(answer="", abstained=True)))
    assert (await client.answer(QUESTION, 5, ids)).abstained


async def test_a_tool_s_result_comes_with_its_memories(connect, ids):
    """Claims with real ids; an error is a result."""
    episode, _ = opaque(ids)
    response = pb.CallToolResponse(
        result_json='{"a": [1, null]}',
        is_error=True,
        hits=[pb.Hit(ref_id="r", text="t", source_episode_ids=[episode])],
    )
    memory = Answering(call_tool=response)
    record = await (await connect(memory)).call_tool("batch", '{"x":1}', ids)
    assert (record.result_json, record.is_error) == ('{"a": [1, null]}', True)
    assert [hit.episodes for hit in record.hits] == [("e1",)]
    request = memory.requests[0]
    assert (request.name, request.arguments_json) == ("batch", '{"x":1}')
    assert record.payload_bytes == response.ByteSize()


@pytest.mark.parametrize("text", ["", "not json", "{'a': 1}", "NaN", "[" * 100_000])
async def test_a_result_that_is_not_json_breaks_the_contract(text, connect, ids):
    """The tool is named, and the rule."""
    client = await connect(Answering(call_tool=pb.CallToolResponse(result_json=text)))
    with pytest.raises(ContractError, match=r"tool 'batch' is not JSON \(protocol §14\.2\)"):
        await client.call_tool("batch", "{}", ids)


async def test_a_memory_of_a_result_needs_a_finite_score(connect, ids):
    """As every hit does."""
    hits = [pb.Hit(ref_id="r", score=math.inf)]
    client = await connect(Answering(call_tool=pb.CallToolResponse(result_json="{}", hits=hits)))
    with pytest.raises(ContractError, match="must be finite") as caught:
        await client.call_tool("batch", "{}", ids)
    assert caught.value.where == "rpc=CallTool"


@pytest.mark.parametrize("name", sorted(CALLS))
async def test_a_response_of_another_process_is_a_crash(name, connect, ids):
    """Whichever call it answers."""
    memory = Answering(**GOOD)
    client = await connect(memory)
    await CALLS[name](client, ids)
    memory.boot_id = "boot-other"
    with pytest.raises(AdapterCrashedError) as caught:
        await CALLS[name](client, ids)
    assert caught.value.where == f"rpc={NAMES[name]}"


@pytest.mark.parametrize("name", sorted(CALLS))
async def test_every_call_has_its_own_deadline(name, connect, ids):
    """From the trial's spec (protocol §17)."""
    memory = Answering(**GOOD)
    memory.delay_s = 5
    client = await connect(memory, **{name: 0.1})
    with pytest.raises(AdapterTimeoutError) as caught:
        await CALLS[name](client, ids)
    assert (caught.value.seconds, caught.value.where) == (0.1, f"rpc={NAMES[name]}")
