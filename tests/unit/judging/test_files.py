"""Verdicts on disk are evidence: whole, canonical, and what their votes come to."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memrig.errors import InfrastructureError, VerificationError
from memrig.judging import read_verdicts, write_verdicts
from memrig.judging.panel import count
from memrig.model.judgement import Verdict, Vote

Change = Callable[[dict[str, object]], None]


def verdict(question: str = "q1", *scores: float | None) -> Verdict:
    votes = tuple(
        Vote(score=score, reply="§ “yes”\r\n\u2028", reason="" if score is not None else "unread")
        for score in scores or (1.0, 0.0, None)
    )
    result = count(votes, 2)
    return Verdict(
        trial_id="t1",
        scenario_id="s1",
        question_id=question,
        protocol="p",
        model="m",
        task="answer",
        votes=votes,
        quorum=2,
        score=result.score,
        agreement=result.agreement,
        reason=result.reason,
        grader="p/1",
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a run keeps the verdicts of trial t1."""
    return tmp_path / "verdicts" / "t1.jsonl"


def test_what_is_written_is_read_back(path):
    """Whatever order it came in."""
    verdicts = [verdict("q2", 1.0, 1.0, 0.0), verdict("q1", None, None, 1.0), verdict("q3")]
    write_verdicts(path, verdicts)
    assert read_verdicts(path) == sorted(verdicts, key=lambda v: v.question_id)


def test_the_same_verdicts_make_the_same_bytes(path):
    """They come in any order."""
    write_verdicts(path, [verdict("q1"), verdict("q2")])
    first = path.read_bytes()
    write_verdicts(path, [verdict("q2"), verdict("q1")])
    assert path.read_bytes() == first
    assert first.count(b"\n") == 2


def test_nothing_is_left_beside_the_file(path):
    """It was written aside and renamed."""
    write_verdicts(path, [verdict()])
    assert [found.name for found in path.parent.iterdir()] == ["t1.jsonl"]


def test_a_trial_that_was_not_judged_has_no_verdicts(path):
    """No file is not an error; an empty one says that there was nothing to judge."""
    assert read_verdicts(path) == []
    write_verdicts(path, [])
    assert path.read_bytes() == b""
    assert read_verdicts(path) == []


def test_a_disk_that_refuses_is_named(path):
    """The folder's place is taken by a file."""
    path.parent.write_text("in the way")
    with pytest.raises(InfrastructureError) as caught:
        write_verdicts(path, [verdict()])
    assert caught.value.where == str(path)


def _vote(index: int, **changes: object) -> Change:
    def change(line: dict[str, object]) -> None:
        votes = line["votes"]
        assert isinstance(votes, list)
        votes[index].update(changes)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line.update(score=0.0), "its votes come to"),
        (lambda line: line.update(agreement=0.25), "its votes come to"),
        (lambda line: line.update(reason="another"), "its votes come to"),
        (_vote(1, score=1.0), "its votes come to"),
        (_vote(2, score=1.0, reason=""), "its votes come to"),
        (lambda line: line.update(quorum=1), "is no majority"),
        (lambda line: line.update(trial_id="t2"), "is of trial t2, expected t1"),
        (lambda line: line.update(verdict="right"), "is no verdict"),
        (lambda line: line.pop("votes"), "is no verdict"),
        (_vote(0, score=7.5), "is no verdict"),
    ],
)
def test_a_changed_line_is_refused(path, change, message):
    """One field at a time; the place is named."""
    write_verdicts(path, [verdict("q1"), verdict("q2", 1.0, 0.0, None)])
    first, second, end = path.read_bytes().split(b"\n")
    line = json.loads(second)
    change(line)
    path.write_bytes(b"\n".join([first, json.dumps(line).encode(), end]))
    with pytest.raises(VerificationError, match=message) as caught:
        read_verdicts(path)
    assert caught.value.where == f"{path}:2"


@pytest.mark.parametrize("text", ["nonsense", "[]", '{"trial_id"', "\xff"])
def test_a_line_that_is_no_json_is_refused(path, text):
    """Cut short, or something else altogether."""
    write_verdicts(path, [])
    path.write_text(text + "\n", "latin-1")
    with pytest.raises(VerificationError, match="is no verdict"):
        read_verdicts(path)


def test_a_second_verdict_on_the_same_task_is_refused(path):
    """Which of the two should count?"""
    write_verdicts(path, [verdict("q1"), verdict("q1")])
    with pytest.raises(VerificationError, match="a second verdict on 'q1', task 'answer'"):
        read_verdicts(path)
