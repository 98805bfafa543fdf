"""Answers as models give them, each graded by hand before any grader saw it, and what is told on.

`by_hand.jsonl` has a line for each: question, gold, answer, the fair score, and `read_as` where the
graders are known to fall short of it.
"""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from memrig.grading.typed import grade_text
from memrig.model.gold import AbstentionGold, EntityGold, GoldAnswer
from memrig.suites.longhorizon import lexicon

GOLD: TypeAdapter[GoldAnswer] = TypeAdapter(GoldAnswer)
LINES = [
    json.loads(line)
    for line in (Path(__file__).parent / "by_hand.jsonl").read_text("utf-8").splitlines()
]
EVENTS = json.loads((Path(lexicon.__file__).parent / "phrasings" / "events.json").read_text())
TALK = [*EVENTS["rumoured"], *EVENTS["supposed"]]
ROLE = "What is the role of Vimona Stavgord?"


@pytest.mark.parametrize("line", LINES, ids=lambda line: line["answer"][:40])
def test_what_a_fair_hand_gave(line):
    """Right with its history or its workings; wrong by a sibling, a time, or a speaker."""
    score = grade_text(line["answer"], GOLD.validate_python(line["gold"]), line["question"])
    assert score == pytest.approx(line.get("read_as", line["fair"]), abs=0.01)


def test_no_wrong_answer_passes_and_few_right_ones_fail():
    """Where the graders are known to differ they are too strict, in one of twenty at most."""
    apart = [line for line in LINES if "read_as" in line]
    assert all(line["read_as"] < line["fair"] for line in apart)
    assert len(apart) <= len(LINES) / 20


def told(template: str) -> str:
    """A rumour or a supposition about the role."""
    said = template.replace("{Source}", "An old courier").replace("{source}", "an old courier")
    return said.format(noun="the role of Vimona Stavgord", value="senior glazier")


@pytest.mark.parametrize("template", TALK)
def test_talk_that_is_passed_on_is_neither_a_value_nor_not_knowing(template):
    """With its marks or without them: it asserts nothing, and says nothing of what is known."""
    answer = told(template)
    assert grade_text(answer, AbstentionGold(type="abstention"), ROLE) == 0
    assert grade_text(answer, EntityGold(type="entity", value="senior glazier"), ROLE) == 0


@pytest.mark.parametrize("template", TALK)
def test_beside_a_value_or_not_knowing_it_does_no_harm(template):
    """Who also says what is known, or that nothing is, has said that."""
    ignorant = f"Her role is not known. {told(template)}"
    assert grade_text(ignorant, AbstentionGold(type="abstention"), ROLE) == 1
    known = f"She is a junior buyer. {told(template)}"
    gold = EntityGold(type="entity", value="junior buyer", siblings=("senior glazier",))
    assert grade_text(known, gold, ROLE) == 1
