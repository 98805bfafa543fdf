"""Mode agent: the conversation, its budget, and what comes of it."""

import asyncio
import json
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrig.answering import mode_of
from memrig.answering.base import Trace
from memrig.answering.prompts import ABSTENTION
from memrig.errors import AdapterTimeoutError, GatewayError
from memrig.model.trial import PRESETS, Budget
from support.fake_answers import QUESTION, FakeAnswers, access_to, hit
from support.fake_chat import ScriptedChat, calls, final, says

DATES = {"episode-1": "2024-03-05 17:00"}
HITS = [hit("ref-aa", "The kettle is in the attic.", "episode-1"), hit("ref-bb", "Ben likes tea.")]
SEARCH = calls(("memory_search", {"query": "kettle"}))


async def run(*replies: object, memory: FakeAnswers | None = None, budget=None, **options: object):
    """Runs the mode: outcome, trace, chat, memory."""
    memory = memory or FakeAnswers(HITS, DATES)
    chat, trace = ScriptedChat(replies), Trace()
    access = access_to(memory, chat, mode="agent", budget=budget, **options)
    outcome = await mode_of("agent")(QUESTION, access, trace)
    return outcome, trace, chat, memory


def results_of(chat: ScriptedChat) -> list[dict[str, object]]:
    """The tool results that the model has seen, parsed."""
    return [json.loads(m.text) for m in chat.requests[-1].messages if m.role == "tool"]


async def test_a_model_searches_and_answers_with_citations():
    """Results hold handle, date and text, and no ref and no score."""
    outcome, trace, chat, memory = await run(SEARCH, final("In the attic.", "m1", confidence=0.9))
    assert outcome.label == "answered"
    assert memory.asked == [("kettle", 10, "", ())]
    assert results_of(chat) == [
        {
            "results": [
                {"handle": "m1", "date": DATES["episode-1"], "text": "The kettle is in the attic."},
                {"handle": "m2", "text": "Ben likes tea."},
            ]
        }
    ]
    answer = trace.answer
    assert (answer.text, answer.cited, answer.confidence) == ("In the attic.", ("m1",), 0.9)
    assert [(m.handle, m.ref_id, m.episodes) for m in answer.memories] == [
        ("m1", "ref-aa", ("episode-1",)),
        ("m2", "ref-bb", ()),
    ]


async def test_every_step_is_on_record():
    """Searches, tool calls as the model made them, model calls, and the time in the memory."""
    _, trace, chat, _ = await run(SEARCH, final("x"))
    assert [search.query for search in trace.searches] == ["kettle"]
    use = trace.tool_uses[0]
    assert (use.name, use.arguments_json) == ("memory_search", '{"query": "kettle"}')
    assert json.loads(use.result) == results_of(chat)[0]
    assert (use.is_error, use.ns, use.payload_bytes) == (False, 7, 41)
    assert [call.purpose for call in trace.model_calls] == ["agent", "agent"]
    assert (trace.memory_ns, trace.payload_bytes) == (7, 41)
    assert {context.purpose for context in chat.contexts} == {"agent"}


async def test_what_a_model_sees_is_the_same_whatever_the_refs():
    """Handles instead of refs, and call ids of the rig's own."""
    seen = []
    for _ in range(2):
        hits = [hit(str(uuid.uuid4()), one.text, *one.episodes) for one in HITS]
        memory = FakeAnswers(hits, DATES)
        again = calls(("memory_retrieve", {"handle": "m2"}))
        _, _, chat, _ = await run(SEARCH, again, final("x", "m2"), memory=memory)
        seen.append(chat.requests)
        assert not any(found.ref_id in chat.seen for found in hits)
    assert seen[0] == seen[1]
    assert "random-" not in chat.seen


async def test_nothing_of_the_rig_s_side_reaches_a_model():
    """No episode id, no name or boot id of the system under test."""
    _, _, chat, _ = await run(calls(("memory_capabilities", {})), SEARCH, final("x", "m1"))
    for secret in ("episode-1", "q1", "secret-name", "boot-77", "ref-", "s1/"):
        assert secret not in chat.seen


async def test_calls_stream_with_tools_until_the_answer():
    """At temperature 0, the question with its date and the shape of the answer."""
    _, _, chat, _ = await run(SEARCH, final("x"), max_output_tokens=321)
    first = chat.requests[0]
    assert (first.stream, first.max_tokens, first.temperature) == (True, 321, 0.0)
    assert [tool.name for tool in first.tools] == [
        "memory_search",
        "memory_retrieve",
        "memory_capabilities",
    ]
    assert '<question date="2024-04-01 09:30">' in first.messages[0].text
    assert '"answer"' in first.messages[0].text
    assert [m.role for m in chat.requests[1].messages] == ["user", "assistant", "tool"]


async def test_the_agent_is_told_its_limits():
    """It can only keep to what it knows."""
    _, _, chat, _ = await run(final("x"), budget=PRESETS["constrained"])
    assert "at most 4 tool calls in at most 4 replies" in chat.requests[0].system
    assert "8192 bytes" in chat.requests[0].system


async def test_a_second_document_of_the_same_ref_has_the_same_handle():
    """Handles are issued in the order of first sight."""
    memory = FakeAnswers(HITS, DATES)
    _, trace, chat, _ = await run(
        SEARCH, calls(("memory_retrieve", {"handle": "m2"})), final("x", "m2"), memory=memory
    )
    assert results_of(chat)[1] == {"results": [{"handle": "m2", "text": "Ben likes tea."}]}
    assert trace.answer.cited == ("m2",)
    assert trace.memory_ns == 10


# The budget.


async def test_turns_run_out_and_the_reserved_one_answers():
    """No tools are offered then, and all that was found is there."""
    outcome, trace, chat, _ = await run(
        SEARCH, SEARCH, final("attic", "m1"), budget=Budget(turns=2)
    )
    assert outcome.label == "budget_exceeded(turns)"
    assert (trace.answer.text, trace.answer.cited) == ("attic", ("m1",))
    assert trace.answer.reserved_turn
    last = chat.requests[-1]
    assert (last.tools, [message.role for message in last.messages]) == ((), ["user"])
    assert (
        '<memory handle="m1" date="2024-03-05 17:00">The kettle is in the attic.</memory>'
        in last.messages[0].text
    )
    assert len(chat.requests) == 3


async def test_an_answer_in_the_last_turn_is_within_the_budget():
    """A limit is what may be used."""
    outcome, trace, _, _ = await run(SEARCH, final("attic"), budget=Budget(turns=2, tool_calls=1))
    assert outcome.label == "answered"
    assert not trace.answer.reserved_turn


async def test_tool_calls_beyond_the_budget_are_refused_and_recorded():
    """Those within it are made."""
    three = calls(*[("memory_search", {"query": f"q{n}"}) for n in range(3)], text="Looking.")
    outcome, trace, chat, memory = await run(three, final("x"), budget=Budget(tool_calls=2))
    assert outcome.label == "budget_exceeded(tool_calls)"
    assert [asked[0] for asked in memory.asked] == ["q0", "q1"]
    assert [use.is_error for use in trace.tool_uses] == [False, False, True]
    assert "<notes>Looking.</notes>" in chat.requests[-1].messages[0].text


async def test_more_bytes_than_are_left_are_cut_as_json_and_end_the_search():
    """The agent answers from what it was shown of them."""
    hits = [hit(f"ref-{n}", "word " * 60, "episode-1") for n in range(5)]
    memory = FakeAnswers(hits, DATES)
    outcome, trace, _, _ = await run(
        SEARCH, final("x", "m1", "m5"), memory=memory, budget=Budget(payload_bytes=1000)
    )
    assert outcome.label == "budget_exceeded(payload_bytes)"
    use = trace.tool_uses[0]
    assert len(use.result.encode()) <= 1000
    shown = json.loads(use.result)
    assert shown["truncated"] is True
    assert [item["handle"] for item in shown["results"]] == ["m1", "m2", "m3"]
    assert (trace.answer.cited, trace.answer.unknown_citations) == (("m1",), 1)
    assert [memory.handle for memory in trace.answer.memories] == ["m1", "m2", "m3"]


async def test_after_a_limit_is_hit_nothing_more_of_the_reply_is_done():
    """It is recorded as refused."""
    two = calls(("memory_search", {"query": "kettle"}), ("memory_capabilities", {}))
    _, trace, _, _ = await run(two, final("x"), budget=Budget(payload_bytes=40))
    assert [use.is_error for use in trace.tool_uses] == [False, True]
    assert "payload_bytes is used up" in trace.tool_uses[1].result


async def test_without_a_byte_left_the_memory_is_not_asked():
    """Two searches of 41 bytes, and 41 to spend."""
    outcome, trace, _, memory = await run(
        SEARCH, SEARCH, final("x"), budget=Budget(payload_bytes=41)
    )
    assert outcome.label == "budget_exceeded(payload_bytes)"
    assert len(memory.asked) == 1
    assert [use.is_error for use in trace.tool_uses] == [False, True]


async def test_tokens_run_out_before_a_turn_that_may_not_fit():
    """It is not made; the reserved one is."""
    outcome, trace, chat, _ = await run(
        calls(("memory_search", {"query": "kettle"}), input_tokens=3800),
        final("attic"),
        budget=Budget(tokens=4000),
        max_output_tokens=100,
    )
    assert outcome.label == "budget_exceeded(tokens)"
    assert (len(chat.requests), chat.requests[1].tools) == (2, ())
    assert trace.answer.text == "attic"


async def test_money_runs_out_when_the_next_turn_may_cost_too_much():
    """One reserved call at most goes beyond it."""
    outcome, _, chat, _ = await run(
        calls(("memory_search", {"query": "kettle"}), cost_usd=0.6),
        final("attic"),
        budget=Budget(usd=1.0),
    )
    assert outcome.label == "budget_exceeded(usd)"
    assert len(chat.requests) == 2


async def test_an_abstention_of_the_reserved_turn_is_a_limit_hit_with_an_abstention():
    """Outcome and answer tell different things."""
    outcome, trace, _, _ = await run(
        SEARCH, final(ABSTENTION, abstained=True), budget=Budget(turns=1)
    )
    assert outcome.label == "budget_exceeded(turns)"
    assert trace.answer.abstained


CALL = st.sampled_from(
    [
        ("memory_search", {"query": "kettle"}),
        ("memory_search", {"query": "kettle", "limit": 1}),
        ("memory_search", "{broken"),
        ("memory_retrieve", {"handle": "m1"}),
        ("memory_retrieve", {"handle": "m9"}),
        ("memory_capabilities", {}),
        ("unheard_of", {}),
    ]
)
REPLY = st.lists(CALL, min_size=1, max_size=4).map(lambda wanted: calls(*wanted))
LIMITS = st.builds(
    Budget,
    turns=st.integers(1, 5),
    tool_calls=st.integers(1, 6),
    payload_bytes=st.integers(1, 2000),
    tokens=st.none() | st.integers(1, 9000),
    usd=st.none() | st.floats(0.0005, 0.01),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(REPLY, max_size=7), st.lists(st.text(max_size=400), max_size=5), LIMITS)
async def test_whatever_a_model_does_its_question_ends_with_an_answer(replies, texts, budget):
    """Within the limits but for one call, and every result that it read was JSON."""
    memory = FakeAnswers([hit(f"ref-{n}", text) for n, text in enumerate(texts)])
    outcome, trace, chat, _ = await run(*replies, final("x"), memory=memory, budget=budget)
    assert trace.answer
    assert trace.answer.reserved_turn == (outcome.status == "budget_exceeded")
    uses = trace.tool_uses
    assert all(isinstance(json.loads(use.result), dict) for use in uses)
    assert len(chat.requests) <= budget.turns + 1
    made = [use for use in uses if "is used up" not in use.result]
    assert len(made) <= budget.tool_calls
    sizes = [use.payload_bytes for use in uses if use.payload_bytes]
    assert sum(sizes[:-1]) <= budget.payload_bytes
    assert sum(len(use.result.encode()) for use in uses[:1] if not use.is_error) <= max(
        budget.payload_bytes, 400
    )


@pytest.mark.parametrize("preset", sorted(PRESETS))
async def test_no_model_can_search_for_ever(preset):
    """Every preset ends with an answer, whatever the model does."""
    outcome, trace, chat, memory = await run(SEARCH, budget=PRESETS[preset])
    assert outcome.status == "budget_exceeded"
    assert trace.answer.reserved_turn
    assert len(chat.requests) <= PRESETS[preset].turns + 1
    assert len(memory.asked) <= PRESETS[preset].tool_calls


async def test_who_ends_a_question_for_its_time_may_take_the_reserved_turn():
    """From what was found until then; after it, there is none left."""
    stuck = asyncio.Event()

    class Stuck(ScriptedChat):
        async def chat(self, request, context):
            reply = await super().chat(request, context)
            if len(self.requests) == 2:
                await stuck.wait()
            return reply

    chat, trace = Stuck([SEARCH, SEARCH, final("attic", "m1")]), Trace()
    access = access_to(FakeAnswers(HITS, DATES), chat, mode="agent")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await mode_of("agent")(QUESTION, access, trace)
    assert trace.last_turn
    outcome = await trace.last_turn("wall_time")
    assert outcome.label == "budget_exceeded(wall_time)"
    assert (trace.answer.text, trace.answer.cited) == ("attic", ("m1",))
    assert trace.last_turn is None


async def test_no_reserved_turn_is_left_after_an_answer():
    """There is nothing to add to it."""
    _, trace, _, _ = await run(final("x"))
    assert trace.last_turn is None


# The final answer.


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "attic", "cited": ["m1"]}',
        '```json\n{"answer": "attic", "cited": ["m1"]}\n```',
        'Here it is:\n```\n{"answer": "attic", "cited": [" m1 ", "m1"]}\n```\nDone.',
        '{"answer": "attic", "cited": ["m1"], "note": "more"}',
    ],
)
async def test_the_final_object_may_stand_in_a_fence(text):
    """And may have members that nobody asked for."""
    _, trace, _, _ = await run(SEARCH, says(text))
    assert (trace.answer.text, trace.answer.cited) == ("attic", ("m1",))
    assert (trace.answer.raw, trace.answer.unknown_citations) == (text, 0)


@pytest.mark.parametrize(
    "text",
    [
        "In the attic.",
        '{"answer": 3}',
        '{"answer": "a", "cited": "m1"}',
        '{"answer": "a", "cited": [1]}',
        '{"answer": "a", "confidence": 1.5}',
        '{"answer": "a", "confidence": NaN}',
        '{"answer": "a", "confidence": true}',
        '{"answer": "a", "abstained": "no"}',
        '{"cited": ["m1"]}',
        '["attic"]',
        '{"answer": "a"',
    ],
)
async def test_what_is_not_of_the_shape_is_all_answer(text):
    """Without citations, and nothing is guessed."""
    outcome, trace, _, _ = await run(SEARCH, says(text))
    assert outcome.label == "answered"
    answer = trace.answer
    assert (answer.text, answer.cited, answer.confidence) == (text, (), None)


async def test_handles_that_were_never_issued_are_counted():
    """A made-up source is no source."""
    _, trace, _, _ = await run(SEARCH, final("x", "m2", "m9", "ref-aa", "m9"))
    assert (trace.answer.cited, trace.answer.unknown_citations) == (("m2",), 2)


@pytest.mark.parametrize(
    "reply", [final("nothing there", abstained=True), final(ABSTENTION), says(ABSTENTION)]
)
async def test_an_agent_abstains_by_flag_or_by_the_agreed_words(reply):
    """Either is enough."""
    outcome, trace, _, _ = await run(reply)
    assert outcome.label == "abstained"
    assert trace.answer.abstained


async def test_broken_characters_of_a_model_go_no_further():
    """A record could not be written with them."""
    _, trace, _, _ = await run(
        calls(("memory_search\ud800", '{"query": "\ud800"}'), text="\ud800"), says("a\udc00b")
    )
    assert trace.answer.text == "a?b"
    assert trace.tool_uses[0].model_dump_json().encode()


async def test_a_failure_of_memory_or_model_is_the_caller_s():
    """What happened before it stays in the trace."""
    memory = FakeAnswers(error=AdapterTimeoutError(1))
    with pytest.raises(AdapterTimeoutError):
        await run(SEARCH, memory=memory)
    chat, trace = ScriptedChat([SEARCH, GatewayError("down")]), Trace()
    with pytest.raises(GatewayError):
        access = access_to(FakeAnswers(HITS), chat, mode="agent")
        await mode_of("agent")(QUESTION, access, trace)
    assert (len(trace.tool_uses), len(trace.model_calls)) == (1, 1)


async def test_a_search_of_what_shows_everything_gives_all_that_it_finds():
    """A baseline is not held to the top k; a limit that the model names holds for it too."""
    memory = FakeAnswers([hit(f"r{n}", f"note {n}") for n in range(9)], whole=True)
    two = calls(("memory_search", {"query": "kettle", "limit": 2}))
    _, _, chat, _ = await run(SEARCH, two, final("x"), memory=memory, top_k=3)
    assert [len(result["results"]) for result in results_of(chat)] == [9, 2]


async def test_a_memory_that_shows_everything_is_stopped_by_its_bytes():
    """Dumping all there is on an agent ends its search, baseline or not."""
    memory = FakeAnswers([hit(f"r{n}", "word " * 100) for n in range(9)], whole=True)
    outcome, trace, *_ = await run(
        SEARCH, final("x", "m1"), memory=memory, budget=Budget(payload_bytes=1000)
    )
    assert outcome.label == "budget_exceeded(payload_bytes)"
    assert trace.answer.reserved_turn
    assert [one.handle for one in trace.answer.memories] == ["m1", "m2"]
