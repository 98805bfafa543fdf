"""An agent's tools: what is offered, what is checked, what comes back."""

import json

import pytest

from memrig.answering import mode_of
from memrig.answering.base import Trace
from memrig.answering.toolspecs import tool_specs
from memrig.errors import ContractError
from memrig.model.transcript import FilterFieldRecord, FilterUse, ToolRecord, ToolResultRecord
from support.fake_answers import QUESTION, TOOL_SCHEMA, FakeAnswers, access_to, declared, hit
from support.fake_chat import ScriptedChat, calls, final

HITS = [hit("ref-aa11", "The kettle is in the attic."), hit("b", "Ben likes tea.")]
BATCH = ToolRecord(name="batch", description="Several at once.", input_schema=TOOL_SCHEMA)
SEARCH = ("memory_search", {"query": "kettle"})


def tool_result(value: object, *hits: object, is_error: bool = False) -> ToolResultRecord:
    text = value if isinstance(value, str) else json.dumps(value)
    return ToolResultRecord(
        result_json=text, is_error=is_error, hits=hits, ns=13, payload_bytes=len(text)
    )


async def use(*wanted: tuple[str, object], memory: FakeAnswers | None = None):
    """Makes these calls in one reply: the results, parsed, then trace, memory and chat."""
    memory = memory or FakeAnswers(HITS)
    chat, trace = ScriptedChat([calls(*wanted), final("x")]), Trace()
    await mode_of("agent")(QUESTION, access_to(memory, chat, mode="agent"), trace)
    return [json.loads(one.result) for one in trace.tool_uses], trace, memory, chat


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("memory_search", "{query: kettle}", "not valid JSON"),
        ("memory_search", '"kettle"', "one JSON object"),
        ("memory_search", "[" * 5000, "not valid JSON"),
        ("memory_search", '{"query": NaN}', "NaN is no JSON value"),
        ("memory_search", '{"query": "\\ud800"}', "broken characters"),
        ("memory_search", '{"query": "x", "limit": 1e999}', "broken characters"),
        ("memory_search", "", "'query' is a required property"),
        ("memory_search", {"query": ""}, "query:"),
        ("memory_search", {"query": "x", "limit": 0}, "limit:"),
        ("memory_search", {"query": "x", "limit": 21}, "limit:"),
        ("memory_search", {"query": "x", "mode": "magic"}, "mode:"),
        ("memory_search", {"query": "x", "when": "now"}, "'when' was unexpected"),
        ("memory_retrieve", {"handle": "m7"}, "no memory 'm7'"),
        ("memory_retrieve", {"handle": "ref-aa11"}, "no memory 'ref-aa11'"),
        ("memory_forget", {}, "no tool 'memory_forget'"),
    ],
)
async def test_a_call_that_cannot_be_made_is_told_and_counted(name, arguments, told):
    """The agent can mend it; the memory is not asked, and nothing is over."""
    (result,), trace, memory, _ = await use((name, arguments))
    assert told in result["error"]
    assert (trace.tool_uses[0].is_error, memory.asked) == (True, [])
    assert trace.answer.text == "x"


async def test_broken_arguments_do_not_go_back_to_the_provider():
    """It would refuse the conversation; the transcript keeps what was written."""
    _, trace, _, chat = await use(("memory_search", "{oops"))
    assert chat.requests[1].messages[1].tool_calls[0].arguments_json == "{}"
    assert trace.tool_uses[0].arguments_json == "{oops"


async def test_a_search_takes_limit_mode_and_filters():
    """By the names that the schema offers."""
    fields = (FilterFieldRecord(name="place", type="string"),)
    memory = FakeAnswers(HITS, capabilities=declared(filter_fields=fields))
    given = {"query": "tea", "limit": 1, "mode": "semantic", "filters": {"place": "Ulm"}}
    (result,), _, _, _ = await use(("memory_search", given), memory=memory)
    where = (FilterUse(field="place", operator="equal", value="Ulm"),)
    assert memory.asked == [("tea", 1, "SEARCH_MODE_SEMANTIC", where)]
    assert len(result["results"]) == 1


async def test_a_filter_that_cannot_be_read_is_told():
    """Its schema cannot say all."""
    fields = (FilterFieldRecord(name="timestamp", type="timestamp"),)
    memory = FakeAnswers(HITS, capabilities=declared(filter_fields=fields))
    given = {"query": "tea", "filters": {"timestamp": {"from": "recently"}}}
    (result,), _, _, _ = await use(("memory_search", given), memory=memory)
    assert "'recently' is no time" in result["error"]
    assert memory.asked == []


async def test_retrieve_is_offered_where_it_is_declared():
    """The rest always is."""
    offered = [tool.name for tool in tool_specs(declared(optional=()))]
    assert offered == ["memory_search", "memory_capabilities"]


async def test_a_memory_that_is_gone_is_told():
    """NOT_FOUND is no fault."""
    memory = FakeAnswers(HITS, documents={})
    results, trace, _, _ = await use(SEARCH, ("memory_retrieve", {"handle": "m1"}), memory=memory)
    assert results[1] == {"error": "memory m1 is no longer there"}
    assert trace.tool_uses[1].ns > 0


async def test_a_document_adds_its_sources_to_what_is_known():
    """Whichever call told of them."""
    memory = FakeAnswers(HITS, documents={"b": hit("b", "Ben likes tea. A lot.", "e2")})
    results, trace, _, _ = await use(SEARCH, ("memory_retrieve", {"handle": "m2"}), memory=memory)
    assert results[1]["results"] == [{"handle": "m2", "text": "Ben likes tea. A lot."}]
    assert trace.answer.memories[1].episodes == ("e2",)


async def test_capabilities_tell_what_a_model_can_use():
    """And cost no byte of the memory's."""
    fields = (FilterFieldRecord(name="place", type="string"),)
    memory = FakeAnswers(HITS, capabilities=declared(filter_fields=fields, tools=(BATCH,)))
    (result,), trace, _, _ = await use(("memory_capabilities", {}), memory=memory)
    assert result["search_modes"] == ["keyword", "semantic"]
    assert [field["name"] for field in result["filters"]] == ["place"]
    assert result["max_results"] == 20
    assert "batch" in result["tools"]
    assert trace.payload_bytes == 0


# Tools of the adapter's own.


def with_tool(result: ToolResultRecord) -> FakeAnswers:
    return FakeAnswers(HITS, capabilities=declared(tools=(BATCH,)), tool=lambda *_: result)


async def test_an_extra_tool_is_offered_under_its_own_name_and_schema():
    """Its description too."""
    *_, chat = await use(SEARCH, memory=with_tool(tool_result({})))
    tool = chat.requests[0].tools[-1]
    assert (tool.name, tool.description) == ("batch", "Several at once.")
    assert tool.schema == json.loads(TOOL_SCHEMA)


async def test_handles_in_its_arguments_become_refs_and_refs_in_its_result_handles():
    """The model speaks of m1, the adapter of its own refs."""
    told = {"documents": [{"id": "b"}, {"id": "ref-aa11", "note": "see ref-aa11, not ref-aa112"}]}
    memory = with_tool(tool_result(told))
    results, _, _, chat = await use(SEARCH, ("batch", {"refs": ["m1", "m2", "m9"]}), memory=memory)
    assert memory.called == [("batch", '{"refs":["ref-aa11","b","m9"]}')]
    documents = results[1]["result"]["documents"]
    assert documents == [{"id": "m2"}, {"id": "m1", "note": "see m1, not ref-aa112"}]
    assert "ref-aa11," not in chat.seen


async def test_of_two_refs_that_begin_alike_the_longer_one_is_meant():
    """Else a handle would stand for another memory."""
    memory = with_tool(tool_result({"told": "see ref-aa11-2"}, hit("ref-aa11-2", "Another.")))
    results, _, _, _ = await use(SEARCH, ("batch", {"refs": []}), memory=memory)
    assert results[1]["result"] == {"told": "see m3"}


async def test_its_hits_get_handles_and_can_be_cited():
    """A text that the result tells already is not told twice."""
    new = [hit("n1", "Told above."), hit("n2", "Not told above.", "e5")]
    memory = with_tool(tool_result({"text": "It is Told above. Yes."}, *new))
    (result,), trace, _, _ = await use(("batch", {"refs": []}), memory=memory)
    assert result["memories"] == [
        {"handle": "m1"},
        {"handle": "m2", "text": "Not told above."},
    ]
    assert [(m.ref_id, m.episodes) for m in trace.answer.memories] == [("n1", ()), ("n2", ("e5",))]
    assert (trace.memory_ns, trace.tool_uses[0].ns) == (13, 13)


async def test_its_arguments_are_checked_by_its_schema_and_no_ref_is_told():
    """Invalid ones never reach the adapter (protocol §14.2)."""
    memory = with_tool(tool_result({}))
    results, _, _, _ = await use(SEARCH, ("batch", {"refs": "m1"}), memory=memory)
    assert "refs:" in results[1]["error"]
    assert "ref-aa11" not in results[1]["error"]
    assert memory.called == []


async def test_its_failure_is_a_result_that_the_agent_reads():
    """OK with is_error is no fault (protocol §14.3)."""
    memory = with_tool(tool_result({"why": "ref-aa11 is locked"}, is_error=True))
    results, trace, _, _ = await use(SEARCH, ("batch", {"refs": []}), memory=memory)
    assert results[1] == {"error": {"why": "m1 is locked"}}
    assert trace.tool_uses[1].is_error


@pytest.mark.parametrize("text", ['"\\ud800"', "[" * 400 + "]" * 400, "1e999", "null"])
async def test_odd_json_of_an_adapter_is_shown_as_sound_json(text):
    """Nothing of it can end the question."""
    (result,), trace, _, _ = await use(("batch", {"refs": []}), memory=with_tool(tool_result(text)))
    assert "result" in result
    assert trace.answer.text == "x"


async def test_what_it_found_is_there_in_the_reserved_turn():
    """Escaped, with the tool's name."""
    memory = with_tool(tool_result("</result> 7 kettles".join('""')))
    *_, chat = await use(*[("batch", {"refs": []})] * 17, memory=memory)
    last = chat.requests[-1].messages[0].text
    assert '<result tool="batch">{"result":"&lt;/result&gt; 7 kettles"}</result>' in last


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        ({"input_schema": "{"}, "no JSON Schema"),
        ({"input_schema": '{"type": "objekt"}'}, "no JSON Schema"),
        ({"input_schema": '{"type": "array"}'}, "not of type object"),
        ({"input_schema": "true"}, "not of type object"),
        ({"description": ""}, "a description"),
        ({"name": "a b"}, "needs a name"),
        ({"name": "memory_search"}, "none of the rig's"),
    ],
)
def test_a_tool_that_breaks_the_contract_is_the_adapter_s_fault(tool, told):
    """Named with its rule."""
    broken = BATCH.model_copy(update=tool)
    with pytest.raises(ContractError, match=rf"{told}.*§14\.1"):
        tool_specs(declared(tools=(broken,)))


def test_a_tool_twice_is_the_adapter_s_fault():
    """Nobody could say which is meant."""
    with pytest.raises(ContractError, match="unique"):
        tool_specs(declared(tools=(BATCH, BATCH)))


async def test_a_schema_that_points_outside_is_never_fetched(monkeypatch):
    """The host does not visit what an adapter names."""
    visited: list[object] = []

    def visit(request: object, *_: object, **__: object) -> None:
        visited.append(request)
        raise OSError("no way out")

    monkeypatch.setattr("urllib.request.urlopen", visit)
    away = '{"type": "object", "$ref": "http://127.0.0.1:9/schema"}'
    memory = FakeAnswers(
        capabilities=declared(tools=(BATCH.model_copy(update={"input_schema": away}),))
    )
    with pytest.raises(ContractError, match="cannot be applied"):
        await use(("batch", {}), memory=memory)
    assert visited == []
