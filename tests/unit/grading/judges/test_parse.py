"""A reply is a verdict or it is not; nothing is guessed."""

import pytest

from memrig.grading.judges.parse import contains_yes, json_verdict

CORRECT = json_verdict("correct", {"true": 1.0, "false": 0.0})
LABEL = json_verdict("label", {'"CORRECT"': 1.0, '"WRONG"': 0.0})


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("yes", 1.0),
        ("Yes.", 1.0),
        ("YES, because", 1.0),
        ("Since yesterday", 1.0),  # the published rule is no wiser
        ("no", 0.0),
        ("correct", 0.0),
        ("", None),
        (" \n", None),
    ],
)
def test_the_compatible_rule_is_that_the_reply_contains_yes(reply, score):
    """As published; only silence is no verdict."""
    assert contains_yes(reply) == score


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"correct": true, "reason": "same"}', 1.0),
        ('{"reason": "other", "correct": false}', 0.0),
        ('{"correct": true}', 1.0),
        ('\n```json\n{"correct": true, "reason": "same"}\n```\n', 1.0),
        ('```\n{"correct": false}\n```', 0.0),
    ],
)
def test_a_json_verdict_is_read(reply, score):
    """The object alone, or fenced as models like to."""
    assert CORRECT(reply) == score


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "true",
        "yes",
        '{"correct": "true"}',
        '{"correct": 1}',
        '{"correct": 1.0}',
        '{"correct": null}',
        '{"correct": [true]}',
        '{"Correct": true}',
        '{"reason": "fine"}',
        '{"correct": true, "reason": 3}',
        '{"correct": true, "score": 1}',
        '{"correct": true, "correct": false}',
        '{"correct": false, "correct": true}',
        'Here it is: {"correct": true}',
        '{"correct": true} {"correct": false}',
        '{"correct": true, "reason": "cut o',
        '[{"correct": true}]',
        "[" * 100_000,
    ],
)
def test_anything_else_is_no_verdict(reply):
    """It is asked for again, and never becomes 0."""
    assert CORRECT(reply) is None


def test_labels_are_read_as_they_are_spelt():
    """Two words and no others."""
    assert LABEL('{"label": "CORRECT"}') == 1.0
    assert LABEL('{"label": "WRONG", "reason": "r"}') == 0.0
    assert LABEL('{"label": "correct"}') is None
    assert LABEL('{"label": true}') is None
