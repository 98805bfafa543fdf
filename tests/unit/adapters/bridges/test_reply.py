"""What of an agent's reply is passed on, and what is no answer."""

import pytest

from memrig_adapters import Answer, ToolUse
from memrig_adapters.bridges.reply import AgentError, answer_of, read_json, reply_of_text
from memrig_adapters.types import Json


def test_all_keys_are_passed_on() -> None:
    """Answer, confidence, reasoning and tool calls with arguments and results."""
    calls: list[Json] = [{"tool": "look_up", "args": {"name": "Ann"}, "result": {"likes": "tea"}}]
    reply = {
        "answer": " Tea. ",
        "confidence": 0.75,
        "reasoning": "She said so.",
        "tool_calls": calls,
    }
    assert answer_of(reply) == Answer(
        text="Tea.",
        confidence=0.75,
        reasoning_trace="She said so.",
        tool_uses=(ToolUse("look_up", {"name": "Ann"}, '{"likes": "tea"}'),),
    )


def test_what_the_agent_does_not_say_is_absent() -> None:
    """No confidence is not a confidence of 0."""
    assert answer_of({"answer": "Tea."}) == Answer("Tea.")


@pytest.mark.parametrize("confidence", [1.5, -0.1, "high", True, [1], 10**400, "NaN"])
def test_a_confidence_that_is_none_is_left_out_and_said(confidence: Json) -> None:
    """It is neither guessed nor clamped."""
    answer = answer_of({"answer": "Tea.", "confidence": confidence, "reasoning": "So."})
    assert answer.confidence is None
    first, note = answer.reasoning_trace.split("\n")
    assert first == "So."
    assert "no number from 0 to 1" in note


@pytest.mark.parametrize("confidence", [0, 0.0, 1, 1.0])
def test_the_ends_of_the_scale_are_confidences(confidence: Json) -> None:
    """0 and 1, whole numbers too."""
    assert answer_of({"answer": "Tea.", "confidence": confidence}).confidence == confidence


@pytest.mark.parametrize("calls", ["look_up", [{"args": {}}], [3]])
def test_a_tool_call_without_a_name_is_left_out_and_said(calls: Json) -> None:
    """The answer stands."""
    answer = answer_of({"answer": "Tea.", "tool_calls": calls})
    assert answer.tool_uses == ()
    assert "a tool call without a name" in answer.reasoning_trace


def test_arguments_that_are_no_object_are_kept_under_a_name() -> None:
    """The contract takes objects only."""
    answer = answer_of({"answer": "Tea.", "tool_calls": [{"tool": "t", "args": ["a", 1]}]})
    assert answer.tool_uses == (ToolUse("t", {"args": ["a", 1]}),)


def test_an_agent_may_say_that_it_abstains() -> None:
    """Then the answer may be empty."""
    assert answer_of({"answer": "", "abstained": True}) == Answer("", abstained=True)


@pytest.mark.parametrize("nothing", ["", "  ", None])
def test_an_answer_that_says_nothing_is_an_abstention_and_noted(nothing: Json) -> None:
    """Many agents know no other way to say that they do not know."""
    answer = answer_of({"answer": nothing, "confidence": 0.1})
    assert (answer.text, answer.abstained, answer.confidence) == ("", True, 0.1)
    assert "the answer is empty, and was taken for an abstention" in answer.reasoning_trace


@pytest.mark.parametrize(("number", "text"), [(4, "4"), (0.5, "0.5"), (0, "0")])
def test_a_number_is_an_answer(number: Json, text: str) -> None:
    """It has one text only; a list or an object has not."""
    assert answer_of({"answer": number}) == Answer(text)


def test_an_answer_that_is_no_utf8_is_passed_on_and_noted() -> None:
    """Who reads a wrong name in it learns why."""
    answer = answer_of({"answer": b"Caf\xe9".decode("utf-8", "replace")})
    assert answer.text == "Caf\N{REPLACEMENT CHARACTER}"
    assert "no UTF-8" in answer.reasoning_trace


def test_a_number_beyond_all_floats_is_a_text() -> None:
    """JSON may hold it, and has no word for what Python makes of it."""
    reply = read_json(
        '{"answer": "a", "confidence": 1e999, "tool_calls": [{"tool": "t", "args": {"n": -1e999}}]}'
    )
    assert isinstance(reply, dict)
    answer = answer_of(reply)
    assert answer.confidence is None
    assert answer.tool_uses == (ToolUse("t", {"n": "-1e999"}),)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({"text": "Tea.", "ok": True}, r"no text under `answer`: only \['ok', 'text'\]"),
        ({"answer": ["Tea."]}, r"no text under `answer`: \['Tea.'\]"),
        ({"answer": True}, "no text under `answer`: True"),
        ({}, r"only \[\]"),
    ],
)
def test_a_reply_without_an_answer_is_an_error_that_shows_it(
    reply: dict[str, Json], message: str
) -> None:
    """The reply as a whole is never taken for the answer."""
    with pytest.raises(AgentError, match=message):
        answer_of(reply)


def test_half_a_character_becomes_a_question_mark() -> None:
    """JSON can carry it, the contract cannot."""
    reply = read_json('{"answer": "tea \\ud83d"}')
    assert isinstance(reply, dict)
    assert answer_of(reply).text == "tea ?"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("In Bergen.\n", "In Bergen."),
        ('{"answer": "In Bergen."}', "In Bergen."),
        ("42", "42"),
        ('["a", "b"]', '["a", "b"]'),
        ("{not JSON", "{not JSON"),
    ],
)
def test_output_is_a_json_object_or_else_the_answer_itself(text: str, answer: str) -> None:
    """A number or a list is an answer that happens to be JSON."""
    assert answer_of(reply_of_text(text)).text == answer
