"""The rig's own calls: one request, whatever wire its model's provider speaks."""

import pytest

from memrig.errors import GatewayError
from memrig.model.chat import ChatRequest, Message, ToolCall, ToolSpec
from support.gateways import CLAUDE, GPT, KEY, ask, context, gateway_of
from support.llm_standin import Fault, Say

BOTH = pytest.mark.parametrize("model", [CLAUDE, GPT])
STREAMED = pytest.mark.parametrize("stream", [False, True])


@BOTH
@STREAMED
async def test_a_reply_says_all_that_came_back(standin, model, stream):
    """Text, tokens, price, the name that the provider gave, one attempt, and how long it took."""
    standin.script = lambda _: Say("Paris", input_tokens=30, output_tokens=5, served_model="v2")
    async with gateway_of(standin) as gateway:
        reply = await gateway.chat(ask(model=model, stream=stream), context())
    assert (reply.text, reply.served_model, reply.stop_reason) == ("Paris", "v2", "end")
    assert (reply.input_tokens, reply.output_tokens) == (30, 5)
    assert reply.cost_usd == pytest.approx(40e-6)
    assert reply.attempts == 1
    assert reply.ns > 0
    assert len(reply.key) == 64
    assert standin.seen[0].stream is stream


@BOTH
@STREAMED
async def test_tools_are_offered_called_and_answered(standin, model, stream):
    """A call's results go back in the form of the wire, all of one turn together."""
    arguments = '{"query": "tea", "limit": 3}'
    tool = ToolSpec("memory_search", "Searches.", {"type": "object", "properties": {}})
    first = ChatRequest(
        model, (Message("user", "tea?"),), 50, system="use tools", tools=(tool,), stream=stream
    )
    search = ("memory_search", {"query": "tea", "limit": 3})
    standin.script = lambda _: Say(tools=(search, ("memory_search", {})))
    async with gateway_of(standin) as gateway:
        asked = await gateway.chat(first, context())
        assert asked.stop_reason == "tool_use"
        assert [call.name for call in asked.tool_calls] == ["memory_search"] * 2
        assert asked.tool_calls[0].arguments_json == arguments
        results = tuple(
            Message("tool", f"result {n}", tool_call_id=call.call_id)
            for n, call in enumerate(asked.tool_calls)
        )
        said = Message("assistant", tool_calls=asked.tool_calls)
        standin.script = lambda seen: seen.text.splitlines()[-1]
        after = ChatRequest(model, (*first.messages, said, *results), 50, tools=(tool,))
        assert (await gateway.chat(after, context())).text == "result 1"
    assert "use tools" in standin.seen[0].text
    assert len(standin.seen[1].body["messages"]) == (3 if model == CLAUDE else 4)


@BOTH
@pytest.mark.parametrize("stop", ["end", "length", "refusal"])
async def test_why_a_reply_ended_is_told_alike_for_all(standin, model, stop):
    """Each wire has its own words for it."""
    standin.script = lambda _: Say("x", stop=stop)
    async with gateway_of(standin) as gateway:
        assert (await gateway.chat(ask(model=model), context())).stop_reason == stop


@BOTH
async def test_a_temperature_that_is_none_is_left_to_the_provider(standin, model):
    """0 is said, None is not."""
    async with gateway_of(standin) as gateway:
        for temperature in (0.0, None):
            request = ChatRequest(model, (Message("user", "x"),), 5, temperature=temperature)
            await gateway.chat(request, context())
    assert ["temperature" in seen.body for seen in standin.seen] == [True, False]


@pytest.mark.parametrize("model", ["o1", "o3-mini", "gpt-5-nano", "openai/gpt-5"])
async def test_reasoning_models_are_asked_in_their_own_way(standin, model):
    """They take neither `max_tokens` nor a temperature."""
    async with gateway_of(standin, models=frozenset({model})) as gateway:
        await gateway.chat(ask(model=model), context())
    body = standin.seen[0].body
    assert body["max_completion_tokens"] == 50
    assert not {"max_tokens", "temperature"} & set(body)


async def test_arguments_that_are_no_json_survive_a_wire_that_wants_an_object(standin):
    """Anthropic takes objects only; what the model wrote is kept within one."""
    call = ToolCall("c1", "look", "{not json")
    messages = (
        Message("user", "x"),
        Message("assistant", tool_calls=(call,)),
        Message("tool", "bad arguments", tool_call_id="c1"),
    )
    async with gateway_of(standin) as gateway:
        await gateway.chat(ChatRequest(CLAUDE, messages, 5), context())
    block = standin.seen[0].body["messages"][1]["content"][0]
    assert block["input"] == {"unreadable": "{not json"}


@BOTH
@pytest.mark.parametrize(
    ("fault", "kind", "tries"),
    [
        (Fault(status=400, message="too long"), "rejected", 1),
        (Fault(status=404), "rejected", 1),
        (Fault(status=401), "auth", 1),
        (Fault(status=403), "auth", 1),
        (Fault(status=402), "provider", 1),
        (Fault(status=429), "provider", 6),
        (Fault(status=500), "provider", 6),
        (Fault(status=529), "provider", 6),
        (Fault(cut="hard"), "provider", 6),
        (Fault(cut="clean"), "malformed", 6),
        (Fault(garbage="<html>"), "malformed", 6),
        (Fault(garbage="[1]"), "malformed", 6),
        (Fault(garbage="{}"), "malformed", 6),
    ],
)
async def test_what_stays_wrong_ends_under_its_own_kind(standin, model, fault, kind, tries):
    """What another try may mend is tried six times; the rest once."""
    standin.script = lambda _: fault
    async with gateway_of(standin) as gateway:
        with pytest.raises(GatewayError) as caught:
            await gateway.chat(ask(model=model), context())
    assert caught.value.kind == kind
    assert len(standin.seen) == tries
    assert f"model={model}" in caught.value.where


@BOTH
@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=429, retry_after="0.01"),
        Fault(status=500),
        Fault(status=529),
        Fault(cut="hard"),
        Fault(cut="clean"),
        Fault(garbage="not json"),
        Fault(stream_error="overloaded_error"),
    ],
)
@STREAMED
async def test_what_passes_is_not_noticed(standin, model, fault, stream):
    """Two faults, then a whole reply: it is the reply, after three attempts."""
    standin.fail_next(fault, fault)
    async with gateway_of(standin) as gateway:
        reply = await gateway.chat(ask("tea", model=model, stream=stream), context())
    assert (reply.text, reply.attempts) == ("heard: tea", 3)


@pytest.mark.parametrize("field", ["content", "stop_reason", "usage", "type"])
async def test_a_message_without_what_the_format_demands_is_none(standin, field):
    """It is asked for again."""
    standin.fail_next(Fault(drop=field))
    async with gateway_of(standin) as gateway:
        assert (await gateway.chat(ask(model=CLAUDE), context())).attempts == 2


async def test_a_completion_without_choices_is_none_and_one_without_usage_is_estimated(standin):
    """Not every server counts tokens; spending must not look like nothing for that."""
    standin.fail_next(Fault(drop="choices"), Fault(drop="usage"))
    async with gateway_of(standin) as gateway:
        reply = await gateway.chat(ask(), context())
    assert reply.attempts == 2
    assert reply.text == "a reply that is not whole"
    assert reply.input_tokens > 10
    assert reply.output_tokens > 5


async def test_a_provider_that_does_not_answer_in_time_is_asked_again(standin):
    """The time limit is one attempt's."""
    standin.fail_next(Fault(garbage="late", delay_s=2))
    async with gateway_of(standin, timeout_s=0.2) as gateway:
        reply = await gateway.chat(ask(), context())
    assert reply.attempts == 2


async def test_a_model_that_the_run_does_not_name_is_not_called(standin):
    """Whatever its price."""
    async with gateway_of(standin) as gateway:
        with pytest.raises(GatewayError) as caught:
            await gateway.chat(ask(model="gpt-other"), context())
    assert caught.value.kind == "not_allowed"
    assert GPT in caught.value.message
    assert standin.seen == []


async def test_an_error_does_not_show_the_key(standin):
    """A provider that repeats it is not repeated."""
    standin.script = lambda seen: Fault(status=401, message=f"bad key {seen.headers['x-api-key']}")
    async with gateway_of(standin) as gateway:
        with pytest.raises(GatewayError) as caught:
            await gateway.chat(ask(model=CLAUDE), context())
    assert standin.seen[0].headers["x-api-key"] == KEY
    assert KEY not in str(caught.value) + repr(caught.value.__dict__)
    assert "bad key [key]" in caught.value.message
