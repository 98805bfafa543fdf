"""docs/answering.md says what the code does."""

import re

import pytest

from memrig.answering.context import USEFUL_TOKENS
from memrig.answering.handles import Item
from memrig.answering.prompts import ABSTENTION, MARKER, memories_block, question_element
from memrig.answering.toolspecs import tool_specs
from memrig.model.scenario import Question
from memrig.model.trial import PRESETS, Budget, Mode
from support.fake_answers import QUESTION, declared
from support.source import ROOT

PAGE = (ROOT / "docs" / "answering.md").read_text("utf-8")


def row(name: str, budget: Budget) -> str:
    """A preset as the table has it."""
    numbers = (budget.turns, budget.tool_calls, budget.payload_bytes, budget.tokens)
    shown = [f"{number:,}" if number else "no limit" for number in numbers]
    shown += [f"{budget.wall_time_s:g}", f"{budget.usd:g}" if budget.usd else "no limit"]
    return f"| {' | '.join([name, *shown])} |"


def test_the_table_of_presets_is_the_presets():
    """Every one, with every number, in their order."""
    table = re.search(r"\| preset .*?\n\|[-|]+\n(.*?)\n\n", PAGE, re.DOTALL)
    assert table[1].splitlines() == [row(name, budget) for name, budget in PRESETS.items()]


@pytest.mark.parametrize("mode", Mode.__args__)
def test_every_mode_has_a_section(mode):
    """None is left to be guessed."""
    assert f"## `{mode}`" in PAGE


def test_the_example_of_a_prompt_is_one():
    """Copied from what a reader is sent."""
    items = [
        Item("m1", "2024-03-05 17:00", "Ada: I moved the kettle to the attic"),
        Item("m2", "2024-01-01 08:00", "Ada: the kettle is in the cellar"),
    ]
    question = Question(question_id="q", text="Where is the kettle?", asked_at=QUESTION.asked_at)
    assert f"```\n{memories_block(items)}\n\n{question_element(question)}\n```" in PAGE


def test_the_words_that_the_page_quotes_are_those_in_use():
    """Sentence, marker, tools, and what is useful of a cut memory."""
    assert f'"{ABSTENTION}"' in PAGE
    assert f"`{MARKER}`" in PAGE
    assert f"{USEFUL_TOKENS} tokens" in PAGE
    assert all(f"| `{tool.name}` |" in PAGE for tool in tool_specs(declared()))
