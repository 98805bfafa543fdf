"""Answers given in a file are read in either form, and once."""

import json
import os
from pathlib import Path

import pytest

from memrig.errors import DataError
from memrig.model.given import GivenAnswer
from memrig.suites import given
from memrig.suites.given import read_given


def written(path: Path, *lines: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_the_first_line_tells_the_form(tmp_path):
    """Our own lines, or the hypotheses of LongMemEval's evaluator."""
    expected = {"q": GivenAnswer(answer="the attic")}
    ours = written(tmp_path / "a", {"question_id": "q", "answer": "the attic"})
    theirs = written(tmp_path / "b", {"question_id": "q", "hypothesis": "the attic"})
    assert read_given(ours) == read_given(theirs) == expected


def test_a_file_is_parsed_once_until_it_changes(tmp_path, monkeypatch):
    """A run of 500 trials asks for it 500 times; by size or by time, a change is seen."""
    parsed: list[Path] = []
    read = given.read_answers
    monkeypatch.setattr(given, "read_answers", lambda path: parsed.append(path) or read(path))
    path = written(tmp_path / "a", {"question_id": "q", "answer": "one"})
    for _ in range(3):
        assert read_given(path)["q"].answer == "one"
    assert len(parsed) == 1
    written(path, {"question_id": "q", "answer": "three"})
    assert read_given(path)["q"].answer == "three"
    written(path, {"question_id": "q", "answer": "seven"})
    os.utime(path, ns=(1, 1))
    assert read_given(path)["q"].answer == "seven"
    assert len(parsed) == 3


def test_what_was_read_cannot_be_changed_by_one_trial_for_the_next(tmp_path):
    """They share it."""
    found = read_given(written(tmp_path / "a", {"question_id": "q", "answer": "one"}))
    with pytest.raises(TypeError):
        found["q"] = GivenAnswer(answer="two")


@pytest.mark.parametrize("name", ["none.jsonl", ""])
def test_what_is_no_file_is_refused_with_a_fix(tmp_path, name):
    """Nothing there, or a folder."""
    with pytest.raises(DataError, match="cannot be read") as caught:
        read_given(tmp_path / name)
    assert caught.value.fix
