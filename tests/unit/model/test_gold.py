"""Typed gold answers: parsed by their type, shown in one line."""

import pytest
from pydantic import TypeAdapter, ValidationError

from memrig.model.gold import Gold, GoldAnswer, shown

ANSWER: TypeAdapter[GoldAnswer] = TypeAdapter(GoldAnswer)

SHOWN = [
    ({"type": "number", "value": 310, "unit": "GBP"}, "310 GBP"),
    ({"type": "number", "value": 2.5}, "2.5"),
    ({"type": "date", "value": "2024-03"}, "2024-03"),
    ({"type": "period", "start": "2024-03-01", "end": "2024-04"}, "2024-03-01 to 2024-04"),
    ({"type": "entity", "value": "Pepper", "aliases": ["the cat"]}, "Pepper"),
    ({"type": "set", "items": [{"value": "tea"}, {"value": "milk"}]}, "tea, milk"),
    ({"type": "ordered_list", "items": [{"value": "b"}, {"value": "a"}]}, "b, a"),
    ({"type": "mapping", "entries": [{"key": "Mo", "value": "swim"}]}, "Mo: swim"),
    ({"type": "boolean", "value": True}, "yes"),
    ({"type": "boolean", "value": False, "about": "she moved"}, "no (she moved)"),
    ({"type": "choice", "value": "left", "options": ["left", "right"]}, "left"),
    ({"type": "text", "value": "It rained.", "key_facts": ["rain"]}, "It rained."),
    ({"type": "abstention", "reason": "never said"}, "(no answer: never said)"),
]


@pytest.mark.parametrize(("raw", "text"), SHOWN)
def test_every_type_is_read_and_shown(raw, text):
    """The `type` field decides, and people get one line."""
    answer = ANSWER.validate_python(raw)
    assert answer.type == raw["type"]
    assert shown(answer) == text
    assert ANSWER.validate_json(ANSWER.dump_json(answer)) == answer


def test_every_type_of_the_union_is_tried_above():
    """A new type needs a line of its own."""
    mapping = ANSWER.json_schema()["discriminator"]["mapping"]
    assert {raw["type"] for raw, _ in SHOWN} == set(mapping)


@pytest.mark.parametrize(
    "raw",
    [
        {"value": "x"},
        {"type": "haiku", "value": "x"},
        {"type": "number", "value": "many"},
        {"type": "number", "value": 1, "tolerance": -1},
        {"type": "number", "value": 1, "sibling": [2]},
        {"type": "date", "value": "3 March 2024"},
        {"type": "date", "value": "2024-3-1"},
        {"type": "entity", "value": ""},
        {"type": "set", "items": []},
        {"type": "ordered_list", "items": [{"value": "alone"}]},
        {"type": "choice", "value": "a", "options": ["a"]},
        {"type": "mapping", "entries": []},
    ],
)
def test_what_cannot_be_graded_is_refused(raw):
    """No type, an unknown one, a wrong value, an unknown field."""
    with pytest.raises(ValidationError):
        ANSWER.validate_python(raw)


def test_a_gold_record_is_frozen():
    """Grading cannot change what is right."""
    gold = Gold(question_id="q", category="facts")
    with pytest.raises(ValidationError, match="frozen"):
        gold.category = "other"
