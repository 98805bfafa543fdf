"""Context-stuffed answerers: everything up to the checkpoint, newest first."""

from dataclasses import replace

import pytest

from memrig.errors import GatewayError
from memrig.generation.planner import plan_by_formula
from memrig.generation.stuffed import LINES, fitting, picked_lines, stuffed_of
from memrig.model.chat import estimate_tokens
from support.fake_chat import ScriptedChat, says
from support.gateways import gateway_of
from support.stories import pump_spec

QUESTION = replace(
    plan_by_formula(pump_spec()).questions[-1],
    prompt="What was the inlet pressure on 2024-03-06, and the tank head?",
)
TEXTS = (
    "# Sheet\nDate: 2024-03-07\n- Inlet pressure: 21.0 kPa\n- Tank head: 50.1 kPa\nNo figure here.",
    "# Sheet\nDate: 2024-03-06\n| Inlet pressure | 20.5 | kPa |\n| Roof area | 9 | m2 |",
    "# Sheet\nDate: 2024-03-05\nInlet pressure stood at 20.1 kPa.",
)


async def test_lines_are_picked_from_the_day_that_the_question_names():
    """Those that share most words first, with the date; no line without a figure."""
    answer = await picked_lines(QUESTION, TEXTS)
    assert answer.splitlines() == [
        "Inlet pressure 20.5 kPa, on 2024-03-06.",
        "Roof area 9 m2, on 2024-03-06.",
    ]


async def test_without_a_date_the_newest_lines_come_first():
    """Where they share as many words with the question."""
    question = replace(QUESTION, prompt="How did the inlet pressure develop?")
    answer = await picked_lines(question, TEXTS)
    assert [line.rpartition(" ")[2] for line in answer.splitlines()[:3]] == [
        "2024-03-07.", "2024-03-06.", "2024-03-05.",
    ]  # fmt: skip


async def test_an_answer_has_so_many_lines_at_most():
    """A dump of everything would find everything."""
    text = "Date: 2024-03-06\n" + "\n".join(f"Inlet pressure {n}" for n in range(50))
    assert len((await picked_lines(QUESTION, (text,))).splitlines()) == LINES


async def test_a_model_gets_question_and_documents_in_one_prompt():
    """Newest first, escaped, and charged to generation."""
    chat = ScriptedChat([says("20.5 kPa")])
    answer = await stuffed_of(chat, "m")(QUESTION, (*TEXTS, "a < b"))
    (request,) = chat.requests
    told = request.messages[0].text
    assert answer == "20.5 kPa"
    assert told.index("21.0 kPa") < told.index("20.1 kPa") < told.index("a &lt; b")
    assert QUESTION.prompt in told
    assert (chat.contexts[0].phase, chat.contexts[0].purpose) == ("generate", "stuffed")


def test_what_does_not_fit_is_the_oldest():
    """Whole documents are kept, as the naive opponent of a run keeps them."""
    two = sum(estimate_tokens(text) for text in TEXTS[:2])
    assert fitting(TEXTS, two) == list(TEXTS[:2])
    assert fitting(TEXTS, two - 1) == list(TEXTS[:1])


async def test_a_refusal_is_no_measurement():
    """0 would pass any upper limit."""
    chat = ScriptedChat([says("", stop_reason="refusal")])
    with pytest.raises(GatewayError, match="refuses"):
        await stuffed_of(chat, "m")(QUESTION, TEXTS)


async def test_the_built_in_reader_can_be_asked_through_the_gateway():
    """It needs no key; it reads the same mark-up as the rig's own prompts."""
    model = "local/extractive"
    async with gateway_of(None, models=frozenset({model})) as chat:
        answer = await stuffed_of(chat, model)(QUESTION, TEXTS)
        spent = chat.spent(phase="generate")
    assert answer
    assert spent.by_model == {model: 1}
