"""Streams: put together from their events, and made of a reply, without loss either way."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.gateway.wire import anthropic_stream, openai_stream, sse
from memrig.gateway.wire.base import WireError
from memrig.gateway.wire.embeddings import OpenAIEmbeddings
from memrig.gateway.wire.openai import error_of

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=40)
ARGUMENTS = st.dictionaries(TEXTS, TEXTS | st.integers(-99, 99) | st.none(), max_size=3)
BLOCKS = st.one_of(
    st.builds(lambda t: {"type": "text", "text": t}, TEXTS),
    st.builds(lambda t, s: {"type": "thinking", "thinking": t, "signature": s}, TEXTS, TEXTS),
    st.builds(
        lambda n, a: {"type": "tool_use", "id": "t1", "name": n, "input": a}, TEXTS, ARGUMENTS
    ),
    st.just({"type": "redacted_thinking", "data": "x"}),
)


def message(*blocks: dict, **changes: object) -> dict:
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": list(blocks),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 9},
    } | changes


@given(blocks=st.lists(BLOCKS, max_size=4))
def test_a_message_survives_its_stream(blocks):
    """Every kind of block, whatever characters are in it."""
    whole = message(*blocks)
    assert anthropic_stream.assemble(anthropic_stream.events_of(whole)) == whole


@given(text=TEXTS, calls=st.lists(st.tuples(TEXTS, ARGUMENTS), max_size=3), count=st.integers(1, 3))
def test_a_completion_survives_its_stream(text, calls, count):
    """Its choices, tool calls, logprobs and usage."""
    said = {"role": "assistant", "content": text}
    if calls:
        said["tool_calls"] = [
            {"id": f"c{n}", "type": "function",
             "function": {"name": name, "arguments": json.dumps(arguments)}}
            for n, (name, arguments) in enumerate(calls)
        ]  # fmt: skip
    choice = {"message": said, "finish_reason": "stop", "logprobs": {"content": [{"token": "x"}]}}
    whole = {
        "id": "x",
        "object": "chat.completion",
        "model": "gpt",
        "choices": [{"index": n, **choice} for n in range(count)],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }
    assert openai_stream.assemble(openai_stream.events_of(whole), error_of) == whole


def test_citations_and_unknown_deltas_do_not_break_a_message():
    """What this rig does not know of yet may come."""
    events = anthropic_stream.events_of(message({"type": "text", "text": "x", "citations": []}))
    name = "content_block_delta"
    extra = b"".join(
        sse.written({"type": name, "index": 0, "delta": delta}, name)
        for delta in ({"type": "citations_delta", "citation": {"cited": 1}}, {"type": "novel"})
    )
    cut = events.index(b"event: content_block_stop")
    whole = anthropic_stream.assemble(events[:cut] + extra + events[cut:])
    assert whole["content"] == [{"type": "text", "text": "x", "citations": [{"cited": 1}]}]


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 0.99])
def test_a_stream_that_breaks_off_is_none(share):
    """Wherever it does."""
    events = anthropic_stream.events_of(message({"type": "text", "text": "some words"}))
    with pytest.raises(WireError, match="broke off"):
        anthropic_stream.assemble(events[: int(len(events) * share)])
    chunks = b'data: {"choices": [{"index": 0, "delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n'
    with pytest.raises(WireError, match="broke off"):
        openai_stream.assemble(chunks[: int(len(chunks) * share)], error_of)


def test_events_are_read_as_the_standard_has_it():
    """Comments, line ends of all kinds, data of several lines; an unfinished event is dropped."""
    raw = b": hi\r\n\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\ndata: 3\n\ndata: lost"
    assert list(sse.parse(raw)) == [sse.Event("a", "1\n2"), sse.Event("", "3")]


@pytest.mark.parametrize(
    ("kind", "fault", "again"),
    [
        ("overloaded_error", "provider", True),
        ("api_error", "provider", True),
        ("rate_limit_error", "provider", True),
        ("invalid_request_error", "rejected", False),
        ("authentication_error", "auth", False),
    ],
)
def test_an_error_within_a_stream_is_the_error_it_names(kind, fault, again):
    """A stream has begun with status 200, so that only its event tells."""
    event = {"type": "error", "error": {"type": kind, "message": "no"}}
    with pytest.raises(WireError, match=kind) as caught:
        anthropic_stream.assemble(sse.written(event, "error"))
    assert (caught.value.kind, caught.value.retryable) == (fault, again)


@pytest.mark.parametrize(
    ("code", "fault", "again"),
    [
        (429, "provider", True),
        (502, "provider", True),
        (402, "provider", True),
        (400, "rejected", False),
        (403, "auth", False),
        ("server_error", "provider", True),
        (None, "provider", True),
    ],
)
def test_a_routers_error_with_status_200_is_the_error_it_names(code, fault, again):
    """Some send the status of the provider behind them in the body."""
    error = error_of({"error": {"message": "no", "code": code}})
    assert (error.kind, error.retryable) == (fault, again)


@pytest.mark.parametrize(
    ("given_", "vectors"),
    [("a", 1), (["a", "b"], 2), ([1, 2, 3], 1), ([[1, 2], [3]], 2)],
)
def test_every_input_gets_a_vector_or_the_reply_is_none(given_, vectors):
    """A text, texts, tokens, or lists of tokens."""
    wire = OpenAIEmbeddings()
    body = {"model": "e", "input": given_}
    rows = [{"embedding": [0.5], "index": n} for n in range(vectors)]
    assert wire.read(json.dumps({"data": rows}).encode(), body).input_tokens > 0
    with pytest.raises(WireError, match=f"expected {vectors}"):
        wire.read(json.dumps({"data": rows[1:]}).encode(), body)
    with pytest.raises(WireError, match="empty"):
        wire.read(json.dumps({"data": [{"embedding": []}] * vectors}).encode(), body)
