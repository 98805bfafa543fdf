"""What models were sent and said, from the record of exchanges."""

import asyncio
import json
from pathlib import Path

import pytest

from memrig.gateway.record import Exchange, Record
from memrig.viewer.words import Words, pieces, words_of

ANTHROPIC = {
    "format": "anthropic.messages",
    "request": {
        "system": "You answer questions.",
        "messages": [
            {"role": "user", "content": "Where is the kettle?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "name": "memory_search", "input": {"query": "kettle"}}
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "content": "in the attic"}]},
        ],
    },
}
OPENAI = {
    "format": "openai.chat",
    "request": {
        "messages": [
            {"role": "user", "content": "Where is the kettle?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"function": {"name": "memory_search", "arguments": "{}"}}],
            },
            {"role": "tool", "content": "in the attic"},
        ]
    },
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "In the attic."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 9, "output_tokens": 4},
}
SAYS = {"choices": [{"message": {"content": "In the attic."}, "finish_reason": "stop"}]}


def recorded(path: Path, request: object, response: object, state: str = "ok") -> None:
    """A record with one exchange under the key `k`."""
    body = json.dumps(request)
    wire = json.loads(body)["format"] if isinstance(request, dict) else "openai.chat"
    exchange = Exchange(
        key="k", same="s", request="r", format=wire, model="m", phase="answer",
        purpose="reader", trial_id="t", scope="s", seed=1, attempt=0, vote=0, occurrence=0,
        state=state, status=200, error="too busy", response=json.dumps(response), events=None,
        served_model="m", input_tokens=1, output_tokens=1, cost_usd=None, ns=1, attempts=1, at="",
    )  # fmt: skip

    async def save() -> None:
        record = Record(path, read_only=False)
        await record.add(exchange, (), body.encode())
        await record.close()

    asyncio.run(save())


def words(path: Path) -> Words:
    found, why = words_of(path, ["k"])
    assert why == ""
    return found["k"]


@pytest.mark.parametrize(("request_", "response"), [(ANTHROPIC, MESSAGE), (OPENAI, SAYS)])
def test_both_wires_are_read(tmp_path, request_, response):
    """Messages, calls of tools, their results, and the reply."""
    path = tmp_path / "llm.sqlite"
    recorded(path, request_, response)
    found = words(path)
    sent = ["".join(said.pieces) for said in found.sent]
    assert sent[-3] == "Where is the kettle?"
    assert sent[-2].startswith("memory_search(")
    assert sent[-1] == "in the attic"
    assert [said.pieces for said in found.reply] == [("In the attic.",)]


def test_a_call_that_failed_says_how(tmp_path):
    """There is no reply to show."""
    path = tmp_path / "llm.sqlite"
    recorded(path, OPENAI, {"error": {}}, state="provider")
    (said,) = words(path).reply
    assert (said.role, said.pieces) == ("provider", ("too busy",))


@pytest.mark.parametrize("response", [[], "x", {}, {"choices": 5}, {"choices": [{}]}])
def test_a_reply_that_is_none_is_left_out(tmp_path, response):
    """Whatever a provider sent."""
    path = tmp_path / "llm.sqlite"
    recorded(path, OPENAI, response)
    assert "".join(piece for said in words(path).reply for piece in said.pieces) == ""


@pytest.mark.parametrize(
    "request_", [[], "x", {"format": "openai.chat", "request": {"messages": 7}}]
)
def test_a_request_of_another_shape_shows_nothing(tmp_path, request_):
    """And is no error."""
    path = tmp_path / "llm.sqlite"
    recorded(path, request_, SAYS)
    assert words(path).sent == ()


def test_a_call_that_is_not_recorded_is_missing(tmp_path):
    """The others are there."""
    path = tmp_path / "llm.sqlite"
    recorded(path, OPENAI, SAYS)
    found, why = words_of(path, ["k", "other", ""])
    assert (set(found), why) == ({"k"}, "")


def test_no_record_and_no_calls_are_told_apart(tmp_path):
    """A run without models lacks nothing."""
    path = tmp_path / "llm.sqlite"
    assert words_of(path, []) == ({}, "")
    assert words_of(path, ["k"]) == ({}, "this run keeps no record of models")


def test_a_file_that_is_no_record_is_said_to_be_none(tmp_path):
    """The rest of the page does not need it."""
    path = tmp_path / "llm.sqlite"
    path.write_bytes(b"not a database" * 100)
    found, why = words_of(path, ["k"])
    assert found == {}
    assert "not a record" in why


def test_pieces_are_the_whole_text_up_to_a_limit():
    """None is too long to be shown whole; what is left out is counted."""
    text = "".join(f"{number:07} " for number in range(1000))
    assert "".join(pieces(text)) == text
    assert max(map(len, pieces(text))) < 2000
    assert pieces("x" * 100_000)[-1] == "\n… and 54,400 characters more"
    assert pieces("a\x1b[31mb\u202ec") == ("abc",)
