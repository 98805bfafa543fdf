"""The stand-in is what it says: the real SDKs understand it, and its faults are real faults."""

import anthropic
import openai
import pytest

from support.llm_standin import Fault, LlmStandIn, Say, Seen, vector

HELLO = [{"role": "user", "content": "hello"}]


def gpt(standin: LlmStandIn) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="k", base_url=standin.openai_url, max_retries=0)


def claude(standin: LlmStandIn) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(api_key="k", base_url=standin.anthropic_url, max_retries=0)


async def test_the_openai_sdk_gets_text_tools_and_usage(standin):
    """A completion has all that the SDK's types name."""
    standin.script = lambda _: Say("hm", tools=(("look", {"q": "x"}),), input_tokens=11)
    async with gpt(standin) as client:
        reply = await client.chat.completions.create(model="m", messages=HELLO)
    call = reply.choices[0].message.tool_calls[0]
    assert (call.function.name, call.function.arguments) == ("look", '{"q": "x"}')
    assert (reply.choices[0].message.content, reply.usage.prompt_tokens) == ("hm", 11)


async def test_the_openai_sdk_streams(standin):
    """Chunks come to the text, and the usage comes last where it was asked for."""
    async with gpt(standin) as client:
        stream = await client.chat.completions.create(
            model="m", messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == "heard: hello"
    assert chunks[-1].usage.total_tokens > 0


async def test_the_anthropic_sdk_streams_text_and_tools(standin):
    """The SDK assembles the events to the message that was scripted."""
    standin.script = lambda _: Say("hm hm hm", tools=(("look", {"query": "a long one"}),))
    async with (
        claude(standin) as client,
        client.messages.stream(model="m", max_tokens=9, messages=HELLO) as stream,
    ):
        message = await stream.get_final_message()
    assert message.content[0].text == "hm hm hm"
    assert message.content[1].input == {"query": "a long one"}
    assert message.stop_reason == "tool_use"


async def test_embeddings_come_as_the_sdk_asks_for_them(standin):
    """It asks for base64 and decodes it."""
    async with gpt(standin) as client:
        reply = await client.embeddings.create(model="e", input=["a", "b"])
        plain = await client.embeddings.create(model="e", input="a", encoding_format="float")
    assert [row.embedding for row in reply.data] == [vector("a"), vector("b")]
    assert plain.data[0].embedding == vector("a")


async def test_scripts_see_what_a_model_sees(standin):
    """System and messages of either wire, parts of messages too."""
    seen: list[Seen] = []
    standin.script = lambda one: seen.append(one) or "ok"
    parts = [{"role": "user", "content": [{"type": "text", "text": "part"}]}]
    async with claude(standin) as client:
        await client.messages.create(model="m", max_tokens=9, system="be kind", messages=parts)
    async with gpt(standin) as client:
        await client.chat.completions.create(model="m", messages=[*HELLO, *parts])
    assert [one.text for one in seen] == ["be kind\npart", "hello\npart"]
    assert seen[0].headers["x-api-key"] == "k"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(status=429, retry_after="7"), openai.RateLimitError),
        (Fault(status=500), openai.InternalServerError),
        (Fault(status=401), openai.AuthenticationError),
        (Fault(cut="hard"), openai.APIConnectionError),
    ],
)
async def test_faults_are_what_the_sdk_takes_them_for(standin, fault, error):
    """They come once, before the script is asked again."""
    standin.fail_next(fault)
    async with gpt(standin) as client:
        with pytest.raises(error) as caught:
            await client.chat.completions.create(model="m", messages=HELLO)
        assert (await client.chat.completions.create(model="m", messages=HELLO)).choices
    if fault.retry_after:
        assert caught.value.response.headers["retry-after"] == "7"
    assert (len(standin.seen), standin.answered) == (2, 1)


async def test_a_stream_can_end_as_if_it_were_whole(standin):
    """HTTP sees nothing wrong; only the format's last event is missing."""
    standin.fail_next(Fault(cut="clean"))
    async with gpt(standin) as client:
        stream = await client.chat.completions.create(model="m", messages=HELLO, stream=True)
        chunks = [chunk async for chunk in stream]
    assert chunks
    assert all(chunk.choices[0].finish_reason is None for chunk in chunks)


def test_it_serves_tests_that_have_no_loop():
    """In a thread of its own."""
    with (
        LlmStandIn.in_thread(lambda _: "from a thread") as standin,
        anthropic.Anthropic(api_key="k", base_url=standin.anthropic_url) as client,
    ):
        reply = client.messages.create(model="m", max_tokens=9, messages=HELLO)
    assert reply.content[0].text == "from a thread"
