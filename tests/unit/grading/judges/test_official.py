"""The official LongMemEval evaluator's file, as it leaves it."""

import pytest

from memrig.errors import DataError
from memrig.grading.judges.longmemeval import COMPATIBLE
from memrig.grading.judges.official import OFFICIAL, official_verdict, read_official
from support.judges import asked

MODEL = "gpt-4o-2024-08-06"
RIGHT = (
    '{"question_id": "q1", "hypothesis": "in the attic", '
    f'"autoeval_label": {{"model": "{MODEL}", "label": true}}}}'
)
WRONG = RIGHT.replace("q1", "q2_abs").replace("true", "false")


def test_its_labels_become_verdicts():
    """One vote each, by the model that it names."""
    lines = list(read_official([RIGHT + "\n", "\n", WRONG], "file"))
    verdicts = [official_verdict(line, "t", line.question_id) for line in lines]
    assert [(v.question_id, v.score, v.model, v.grader) for v in verdicts] == [
        ("q1", 1.0, MODEL, OFFICIAL),
        ("q2_abs", 0.0, MODEL, OFFICIAL),
    ]
    assert lines[0].hypothesis == "in the attic"
    assert len(verdicts[0].votes) == verdicts[0].quorum == 1


def test_they_grade_as_a_judge_of_ours_would():
    """The grader takes them for what they are."""
    (line,) = read_official([WRONG], "file")
    one = asked("in the attic", verdicts={"answer": official_verdict(line, "t", "s1")})
    assert COMPATIBLE.grade(one).scores == {"accuracy": 0.0}


def test_fields_of_a_users_own_are_left_alone():
    """Hypothesis files carry all sorts."""
    (line,) = read_official([RIGHT[:-1] + ', "retrieved": [1, 2]}'], "file")
    assert line.question_id == "q1"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("nonsense", "the line"),
        ("[]", "the line"),
        ('{"question_id": "q1", "hypothesis": "a"}', "autoeval_label"),
        (RIGHT.replace("true", '"yes"'), "autoeval_label.label"),
        (RIGHT.replace("true", "1"), "autoeval_label.label"),
        (RIGHT.replace('"in the attic"', "7"), "hypothesis"),
        (RIGHT.replace('"q1"', '""'), "question_id"),
        (RIGHT.replace(f'"{MODEL}"', "null"), "autoeval_label.model"),
    ],
)
def test_a_line_that_is_not_the_evaluators_is_refused(line, names):
    """With file, line, field and what to give instead."""
    with pytest.raises(DataError) as caught:
        list(read_official([WRONG, line], "verdicts.jsonl"))
    assert caught.value.where == "verdicts.jsonl:2"
    assert caught.value.message.startswith(names)
    assert "evaluate_qa.py" in caught.value.fix


def test_a_question_judged_twice_is_refused():
    """Which of the two should count?"""
    with pytest.raises(DataError, match="'q1' was in line 1 already"):
        list(read_official([RIGHT, RIGHT.replace("true", "false")], "file"))
