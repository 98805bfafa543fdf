"""Both chat wires carry the built-in reader; what makes no sense is refused with the place."""

import json

import pytest
from anthropic.types import Message
from openai.types.chat import ChatCompletion

from memrig.errors import GatewayError
from memrig.gateway.local import local_models, run_local
from memrig.gateway.local.extractive import UNKNOWN
from memrig.model.chat import estimate_tokens

PROMPT = (
    '<memory handle="m1" date="2024-03-05 17:00">user: I own three bikes.</memory>\n'
    '<memory handle="m2" date="2024-03-06 17:00">user: I like tea.</memory>\n'
    '<question date="2024-04-01 10:00">How many bikes do I own?</question>'
)
SHAPE = 'Reply with a JSON object: {"answer": "", "cited": [], "confidence": 0, "abstained": false}'
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}
HIT = {"handle": "m1", "date": "2024-03-05 17:00", "text": "user: I own three bikes."}
RESULT = json.dumps({"results": [HIT]})


def anthropic(*messages: object, **more: object) -> Message:
    told = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
    body = {"model": "local/extractive", "max_tokens": 100, "messages": told} | more
    return Message.model_validate(run_local("anthropic.messages", body), strict=True)


def openai(*messages: object, **more: object) -> ChatCompletion:
    told = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
    body = {"model": "local/extractive", "messages": told} | more
    return ChatCompletion.model_validate(run_local("openai.chat", body), strict=True)


def test_an_answer_over_the_wire_of_anthropic():
    """With tokens by the rig's own estimate."""
    reply = anthropic(PROMPT, system="Be brief.")
    assert [block.text for block in reply.content] == ["three bikes"]
    assert (reply.stop_reason, reply.model) == ("end_turn", "local/extractive")
    assert reply.usage.input_tokens == estimate_tokens(f"Be brief.\n{PROMPT}")
    assert reply.usage.output_tokens == estimate_tokens("three bikes")


def test_an_answer_over_the_wire_of_openai():
    """The same words and the same tokens."""
    reply = openai({"role": "system", "content": "Be brief."}, PROMPT)
    (choice,) = reply.choices
    assert (choice.message.content, choice.finish_reason) == ("three bikes", "stop")
    assert reply.usage.prompt_tokens == estimate_tokens(f"Be brief.\n{PROMPT}")
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


def test_content_may_come_in_blocks():
    """As SDKs send it."""
    blocks = [{"type": "text", "text": part} for part in PROMPT.split("\n")]
    told = {"role": "user", "content": blocks}
    assert anthropic(told).content[0].text == "three bikes"
    assert openai(told).choices[0].message.content == "three bikes"


def test_equal_requests_get_equal_replies():
    """Byte for byte, with ids that are hashes of the request; streaming or not is no difference."""
    body = {"model": "local/extractive", "messages": [{"role": "user", "content": PROMPT}]}
    one = run_local("openai.chat", body)
    assert one == run_local("openai.chat", body | {"stream": True, "stream_options": {}})
    assert one["created"] == 0
    other = run_local("openai.chat", body | {"temperature": 1})
    assert other["id"] != one["id"]


def test_an_agent_searches_once_over_the_wire_of_anthropic_and_then_answers():
    """The question is the query; the answer cites the handle that the result gave."""
    tools = [{"name": "memory_search", "description": "", "input_schema": SCHEMA}]
    first = f"<question>How many bikes do I own?</question>\n{SHAPE}"
    call = anthropic(first, tools=tools)
    (block,) = call.content
    assert (call.stop_reason, block.name) == ("tool_use", "memory_search")
    assert block.input == {"query": "How many bikes do I own?"}
    result = {"type": "tool_result", "tool_use_id": block.id, "content": RESULT}
    told = {"role": "assistant", "content": [block.model_dump(exclude_none=True)]}
    reply = anthropic(first, told, {"role": "user", "content": [result]}, tools=tools)
    assert json.loads(reply.content[0].text) == {
        "answer": "three bikes",
        "cited": ["m1"],
        "confidence": 1.0,
        "abstained": False,
    }


def test_an_agent_searches_once_over_the_wire_of_openai_and_then_answers():
    """The same conversation in the other shape."""
    function = {"name": "memory_search", "description": "", "parameters": SCHEMA}
    tools = [{"type": "function", "function": function}]
    first = f"<question>How many bikes do I own?</question>\n{SHAPE}"
    reply = openai(first, tools=tools)
    (call,) = reply.choices[0].message.tool_calls
    assert reply.choices[0].finish_reason == "tool_calls"
    assert reply.choices[0].message.content is None
    assert json.loads(call.function.arguments) == {"query": "How many bikes do I own?"}
    told = reply.choices[0].message.model_dump(exclude_none=True)
    result = {"role": "tool", "tool_call_id": call.id, "content": RESULT}
    text = openai(first, told, result, tools=tools).choices[0].message.content
    assert json.loads(text)["cited"] == ["m1"]


def test_no_tool_is_called_where_none_may_be():
    """It answers from what it has: nothing."""
    tools = [{"name": "memory_search", "description": "", "input_schema": SCHEMA}]
    reply = anthropic("<question>Where?</question>", tools=tools, tool_choice={"type": "none"})
    assert reply.content[0].text == UNKNOWN
    function = {"type": "function", "function": {"name": "memory_search", "parameters": SCHEMA}}
    said = openai("<question>Where?</question>", tools=[function], tool_choice="none")
    assert said.choices[0].message.content == UNKNOWN


def test_not_knowing_is_said_in_the_words_of_the_instructions():
    """And in JSON it is marked as an abstention."""
    rule = "If not, reply: I don't know: this is not mentioned."
    question = "<question>Where is the violin?</question>"
    assert (
        anthropic(f"{rule}\n{question}").content[0].text == "I don't know: this is not mentioned."
    )
    shaped = json.loads(openai(f"{rule}\n{question}\n{SHAPE}").choices[0].message.content)
    assert shaped == {
        "answer": "I don't know: this is not mentioned.",
        "cited": [],
        "confidence": 0.0,
        "abstained": True,
    }


def test_a_reply_ends_at_the_limit_of_tokens():
    """And says so, on either wire."""
    text = "<memory>My violin is in Rome in the big house.</memory><question>My violin?</question>"
    cut = anthropic(text, max_tokens=2)
    assert (cut.content[0].text, cut.stop_reason) == ("My violi", "max_tokens")
    for limit in ("max_tokens", "max_completion_tokens"):
        (choice,) = openai(text, **{limit: 2}).choices
        assert (choice.message.content, choice.finish_reason) == ("My violi", "length")


def test_json_mode_gives_json():
    """Even where the prompt does not name the members."""
    reply = openai(PROMPT, response_format={"type": "json_object"}).choices[0].message.content
    assert json.loads(reply)["answer"] == "three bikes"


@pytest.mark.parametrize(
    ("format_", "change", "said"),
    [
        ("openai.responses", {}, "there is no wire 'openai.responses'"),
        ("openai.chat", {"model": "gpt-4o"}, "'gpt-4o' is not available here"),
        ("openai.chat", {"model": "local/hash-embed"}, "embeds; it cannot be asked"),
        ("openai.embeddings", {}, "reads and answers; it cannot be asked"),
        ("openai.chat", {"messages": []}, "messages is empty"),
        ("openai.chat", {"messages": "hello"}, "messages is str, expected a list"),
        ("openai.chat", {"messages": ["hello"]}, "messages[0] is str, expected an object"),
        ("openai.chat", {"messages": [{"role": "king"}]}, "messages[0].role is 'king'"),
        ("anthropic.messages", {"messages": [{"role": "system"}]}, "role is 'system'"),
        ("openai.chat", {"n": 2}, "n is 2"),
        ("openai.chat", {"max_tokens": 0}, "max_tokens is 0"),
        ("openai.chat", {"response_format": {"type": "json_schema"}}, "fills no schema"),
        ("openai.chat", {"tools": [{"type": "function"}]}, "tools[0].function is NoneType"),
        ("anthropic.messages", {"tools": [{"name": 3}]}, "a tool has the name 3"),
        ("openai.chat", {"temperature": float("nan")}, "no plain JSON"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_place(format_, change, said):
    """As a provider refuses a request, so that nothing is asked again."""
    body = {"model": "local/extractive", "messages": [{"role": "user", "content": "Where?"}]}
    with pytest.raises(GatewayError) as caught:
        run_local(format_, body | change)
    assert said in caught.value.message
    assert caught.value.kind == "rejected"


@pytest.mark.parametrize("format_", ["openai.chat", "anthropic.messages"])
def test_pictures_are_refused(format_):
    """Rather than passed over as if they had been seen."""
    told = [{"role": "user", "content": [{"type": "image", "source": {}}]}]
    with pytest.raises(GatewayError, match="built-in models read text alone"):
        run_local(format_, {"model": "local/extractive", "messages": told})


def test_a_lone_surrogate_is_refused():
    """It is JSON to some, and text to none."""
    told = [{"role": "user", "content": "\ud800?"}]
    with pytest.raises(GatewayError, match="no plain JSON"):
        run_local("openai.chat", {"model": "local/extractive", "messages": told})


def test_the_models_that_need_nothing_are_always_here():
    """The others where they are installed."""
    assert local_models()[:2] == ("local/extractive", "local/hash-embed")
