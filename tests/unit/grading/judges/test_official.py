"""Verdicts of the official LongMemEval evaluator, from its file to a grade."""

from pathlib import Path

import pytest

from memrig.grading.judges.base import OFFICIAL
from memrig.grading.judges.longmemeval import COMPATIBLE
from memrig.grading.judges.official import official_verdict
from memrig.judging import read_verdicts, write_verdicts
from memrig.model.judgement import Verdict
from memrig.suites.longmemeval_files import read_hypotheses
from support.judges import asked

MODEL = "gpt-4o-2024-08-06"
RIGHT = (
    '{"question_id": "q1", "hypothesis": "in the attic", '
    f'"autoeval_label": {{"model": "{MODEL}", "label": true}}}}'
)
WRONG = RIGHT.replace("q1", "q2_abs").replace("true", "false")


@pytest.fixture
def verdicts(tmp_path: Path) -> list[Verdict]:
    """What the evaluator left, as verdicts."""
    path = tmp_path / "hypotheses.eval-results-gpt-4o"
    path.write_text(f"{RIGHT}\n{WRONG}\n", "utf-8")
    return [
        official_verdict(name, found.verdict, "t1", "s1", "longmemeval-compatible")
        for name, found in read_hypotheses(path).items()
        if found.verdict is not None
    ]


def test_its_labels_become_verdicts_of_one_vote(verdicts):
    """By the judge that it names, and never mistaken for ours."""
    assert [(v.question_id, v.score, v.model, v.grader) for v in verdicts] == [
        ("q1", 1.0, MODEL, OFFICIAL),
        ("q2_abs", 0.0, MODEL, OFFICIAL),
    ]
    assert [(len(v.votes), v.quorum, v.agreement) for v in verdicts] == [(1, 1, None)] * 2


def test_they_are_kept_as_evidence_like_any_other(verdicts, tmp_path):
    """Written, read back and checked against their votes."""
    path = tmp_path / "verdicts" / "t1.jsonl"
    write_verdicts(path, verdicts)
    assert read_verdicts(path) == verdicts


def test_they_grade_as_a_judge_of_ours_would(verdicts):
    """The grader takes them for what they are."""
    scores = [
        COMPATIBLE.grade(asked("a", verdicts={"answer": verdict})).scores for verdict in verdicts
    ]
    assert scores == [{"accuracy": 1.0}, {"accuracy": 0.0}]


def test_they_decide_on_an_empty_answer_too(verdicts):
    """The evaluator judged it; a verdict of ours on nothing would not count."""
    right, wrong = verdicts
    for verdict, score in ((right, 1.0), (wrong, 0.0)):
        assert COMPATIBLE.grade(asked("", verdicts={"answer": verdict})).scores == {
            "accuracy": score
        }
    ours = right.model_copy(update={"grader": f"{COMPATIBLE.protocol}/{COMPATIBLE.version}"})
    assert COMPATIBLE.grade(asked("", verdicts={"answer": ours})).scores == {"accuracy": 0.0}
