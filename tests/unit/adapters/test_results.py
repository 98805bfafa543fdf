"""Results that break the contract are the adapter's bug, and said to be (protocol §8, §11–14)."""

import math
from datetime import UTC, datetime

import grpc
import pytest

from memrig_adapters import (
    Answer,
    Document,
    Hit,
    JsonObject,
    Query,
    Question,
    ToolError,
    ToolResult,
    ToolUse,
    Usage,
    tool,
)
from memrig_adapters.adapter import tools_of
from memrig_adapters.errors import AdapterBug
from memrig_adapters.none import NoneAdapter
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.served import Serve

INTERNAL = grpc.StatusCode.INTERNAL


class Fixed(NoneAdapter):
    """Returns what it was made with, whatever is asked."""

    def __init__(self, result: object) -> None:
        self.result = result

    def search(self, _query: Query) -> list[Hit]:
        return self.result  # type: ignore[return-value]

    def retrieve(self, _ref_id: str) -> Document:
        return self.result  # type: ignore[return-value]

    def answer(self, _question: Question) -> Answer:
        return self.result  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("hit", "details"),
    [
        (Hit("r", "text", math.nan), "Hit.score of 'r' is nan, not finite"),
        (Hit("r", "text", math.inf), "Hit.score of 'r' is inf, not finite"),
        (Hit("", "text", 1.0), "ref_id is ''"),
        (Hit("é" * 129, "text", 1.0), "not 1 to 256 bytes"),
        (Hit("r", "text", 1.0, timestamp=datetime(2024, 1, 1)), "has no time zone"),  # noqa: DTZ001
        (("r", "text"), "not a Hit"),
        (Hit("r", "text", 1.0, "e1"), "Hit.source_episode_ids is 'e1'"),  # type: ignore[arg-type]
        (Hit("r", None, 1.0), "Hit.text is None"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_hit_is_internal(serve: Serve, hit: object, details: str) -> None:
    """A hit that the contract forbids ends the call with INTERNAL and says what was wrong."""
    with pytest.raises(grpc.RpcError) as caught:
        serve(Fixed([hit])).stub.Search(pb.SearchRequest(query="x", limit=5), timeout=10)
    assert caught.value.code() is INTERNAL
    assert details in str(caught.value.details())


@pytest.mark.parametrize(
    ("answer", "details"),
    [
        (Answer(""), "Answer.text is empty"),
        (Answer("x", confidence=1.5), "Answer.confidence is 1.5"),
        (Answer("x", confidence=math.nan), "Answer.confidence is nan"),
        ("just text", "not an Answer"),
    ],
)
def test_a_wrong_answer_is_internal(serve: Serve, answer: object, details: str) -> None:
    """An answer that the contract forbids ends the call with INTERNAL and says what was wrong."""
    with pytest.raises(grpc.RpcError) as caught:
        serve(Fixed(answer)).stub.Answer(pb.AnswerRequest(question="x"), timeout=10)
    assert caught.value.code() is INTERNAL
    assert details in str(caught.value.details())


def test_a_wrong_document_is_internal(serve: Serve) -> None:
    """A retrieve that returns no Document ends with INTERNAL."""
    with pytest.raises(grpc.RpcError) as caught:
        serve(Fixed(None)).stub.Retrieve(pb.RetrieveRequest(ref_id="r"), timeout=10)
    assert caught.value.code() is INTERNAL
    assert "retrieve returned None" in str(caught.value.details())


def test_hits_over_the_limit_are_cut_and_logged_once(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    """A search never returns more than was asked for; the log says so once, not at each call."""
    served = serve(Fixed([Hit(f"r{n}", f"t{n}", 1.0) for n in range(4)]))
    assert [served.search("x", limit=2) for _ in range(2)] == [["t0", "t1"]] * 2
    assert caplog.text.count("4 hits for a limit of 2") == 1


def test_a_whole_answer_arrives(serve: Serve) -> None:
    """Every field of an answer reaches the client; a missing confidence is absent, not 0."""
    answer = Answer(
        "42",
        cited_ref_ids=("r1",),
        source_episode_ids=("e1",),
        abstained=True,
        tool_uses=(ToolUse("look", {"at": 1}, "seen"),),
        reasoning_trace="because",
        usage=Usage(1, 2, 3),
    )
    got = serve(Fixed(answer)).stub.Answer(pb.AnswerRequest(question="x"))
    assert not got.HasField("confidence")
    assert (got.answer, list(got.cited_ref_ids), list(got.source_episode_ids)) == (
        "42",
        ["r1"],
        ["e1"],
    )
    assert [(t.name, t.arguments_json, t.result) for t in got.tool_uses] == [
        ("look", '{"at": 1}', "seen")
    ]
    assert (got.abstained, got.reasoning_trace) == (True, "because")
    assert (got.usage.model_calls, got.usage.input_tokens, got.usage.output_tokens) == (1, 2, 3)


def test_times_keep_their_microseconds(serve: Serve) -> None:
    """A hit's time arrives exactly, far from the epoch too."""
    time = datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC)
    served = serve(Fixed([Hit("r", "x", 1.0, timestamp=time)]))
    hit = served.stub.Search(pb.SearchRequest(query="x", limit=1)).hits[0]
    assert hit.timestamp.ToJsonString() == "9999-12-31T23:59:59.999999Z"


class Tooled(NoneAdapter):
    """Has tools."""

    @tool({"type": "object", "properties": {"n": {"type": "integer"}}})
    def double(self, arguments: JsonObject) -> ToolResult:
        """Doubles a number."""
        number = arguments["n"]
        if not isinstance(number, int):
            raise ToolError("n is no number")
        return ToolResult({"twice": 2 * number}, (Hit("r", "text", 1.0, ("e1",)),))

    @tool({"type": "object"}, name="plain-value", description="Returns a list.")
    async def listed(self, arguments: JsonObject) -> list[str]:
        return ["ü"]

    @tool({"type": "object"})
    def broken(self, arguments: JsonObject) -> object:
        """Returns no JSON."""
        return object()


def call(serve: Serve, name: str, arguments: str) -> pb.CallToolResponse:
    request = pb.CallToolRequest(name=name, arguments_json=arguments)
    return serve(Tooled()).stub.CallTool(request, timeout=10)


def test_tools_are_declared_in_order(serve: Serve) -> None:
    """A tool's name, description and schema come from the decorator, the docstring standing in."""
    tools = serve(Tooled()).stub.Capabilities(pb.CapabilitiesRequest()).tools
    assert [(t.name, t.description) for t in tools] == [
        ("double", "Doubles a number."),
        ("plain-value", "Returns a list."),
        ("broken", "Returns no JSON."),
    ]
    assert tools[1].input_schema_json == '{"type": "object"}'


def test_a_tool_returns_a_value_and_hits(serve: Serve) -> None:
    """A ToolResult carries JSON and the memories behind it; a bare value is JSON alone."""
    got = call(serve, "double", '{"n": 4}')
    assert (got.result_json, got.is_error) == ('{"twice": 8}', False)
    assert [list(h.source_episode_ids) for h in got.hits] == [["e1"]]
    assert call(serve, "plain-value", "{}").result_json == '["ü"]'


def test_a_tool_error_is_a_result(serve: Serve) -> None:
    """A ToolError reaches the agent as a result, with the call OK."""
    got = call(serve, "double", '{"n": "four"}')
    assert (got.result_json, got.is_error) == ('"n is no number"', True)


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("missing", "{}", grpc.StatusCode.NOT_FOUND),
        ("double", "{", grpc.StatusCode.INVALID_ARGUMENT),
        ("double", "[1]", grpc.StatusCode.INVALID_ARGUMENT),
        ("broken", "{}", INTERNAL),
    ],
)
def test_a_wrong_tool_call_has_its_status(
    serve: Serve, name: str, arguments: str, code: grpc.StatusCode
) -> None:
    """An unknown tool, arguments that are no object, and a result that is no JSON differ."""
    with pytest.raises(grpc.RpcError) as caught:
        call(serve, name, arguments)
    assert caught.value.code() is code


@pytest.mark.parametrize("name", ["memory_search", "has space", "x" * 65])
def test_a_tool_name_is_checked_where_it_is_declared(name: str) -> None:
    """A reserved or malformed tool name is refused when the class is defined."""
    with pytest.raises(ValueError, match="tool"):
        tool({"type": "object"}, name=name)(lambda: None)


def test_a_tools_schema_is_an_object() -> None:
    """A schema of another type is refused when the class is defined."""
    with pytest.raises(ValueError, match="'object'"):
        tool({"type": "string"}, name="x")(lambda: None)


def test_two_tools_of_one_name_are_a_bug() -> None:
    """Two tools cannot share a name; one that overrides its parent's counts once."""

    class Child(Tooled):
        @tool({"type": "object"})
        def double(self, arguments: JsonObject) -> ToolResult:
            """Doubles otherwise."""
            return ToolResult(None)

    class Twice(Tooled):
        @tool({"type": "object"}, name="double")
        def other(self, arguments: JsonObject) -> ToolResult:
            """Doubles again."""
            return ToolResult(None)

    assert tools_of(Child())["double"].description == "Doubles otherwise."
    with pytest.raises(AdapterBug, match="two tools are named 'double'"):
        tools_of(Twice())
