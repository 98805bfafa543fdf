"""Answers from elsewhere are read strictly: a line that is lost would count as a wrong answer."""

import json
from pathlib import Path

import pytest

from memrig.errors import DataError
from memrig.model.given import GivenAnswer
from memrig.suites.answers_file import coverage, read_answers


def written(folder: Path, *lines: object) -> Path:
    """A file of these lines; text goes in as it is."""
    path = folder / "answers.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", "utf-8")
    return path


def test_answers_are_read_by_question_id_in_the_files_order(tmp_path):
    """Citations and confidence are optional, an empty answer is an abstention."""
    path = written(
        tmp_path,
        {"question_id": "q2", "answer": "the attic", "cited": ["e1", "e2"], "confidence": 0.5},
        {"question_id": "q1", "answer": ""},
    )
    answers = read_answers(path)
    assert list(answers) == ["q2", "q1"]
    assert answers["q2"] == GivenAnswer(answer="the attic", cited=("e1", "e2"), confidence=0.5)
    assert answers["q1"] == GivenAnswer(answer="")


def test_blank_lines_are_passed_over_and_whole_numbers_are_confidences(tmp_path):
    """Editors leave the former, and writers the latter."""
    path = written(tmp_path, "", {"question_id": "q", "answer": "a", "confidence": 1}, " ")
    assert read_answers(path) == {"q": GivenAnswer(answer="a", confidence=1.0)}


GOOD = {"question_id": "q1", "answer": "a"}


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("{", "", "is not JSON"),
        ([1], "", "expected dict, got list"),
        ({"answer": "a"}, ": question_id", "expected str, got nothing"),
        ({"question_id": " ", "answer": "a"}, ": question_id", "is empty"),
        ({"question_id": 7, "answer": "a"}, ": question_id", "expected str, got int 7"),
        ({"question_id": "q2"}, ": answer", "expected str, got nothing"),
        ({"question_id": "q2", "answer": 5}, ": answer", "expected str, got int 5"),
        ({"question_id": "q2", "answer": "\ud83d"}, ": answer", "half of a surrogate pair"),
        ({"question_id": "q2", "answer": "a", "cited": "e1"}, ": cited", "valid array"),
        ({"question_id": "q2", "answer": "a", "cited": [1]}, ": cited.0", "valid string, got 1"),
        ({"question_id": "q2", "answer": "a", "confidence": 1.5}, ": confidence", "less than"),
        ({"question_id": "q2", "answer": "a", "confidence": "0.5"}, ": confidence", "valid number"),
        ({"question_id": "q2", "answer": "a", "citations": []}, ": citations", "there is no field"),
        ({"question_id": "q2", "answr": "a"}, ": answr", "there is no field 'answr'"),
        ('{"question_id": "q2", "cited": ' + "[" * 100_000, "", "nested deeper than 64 levels"),
        ('{"a":' * 65 + "1" + "}" * 65, "", "nested deeper than 64 levels"),
        (GOOD, ": question_id", "'q1' occurs twice"),
    ],
)
def test_a_malformed_line_is_refused_by_line_field_and_value(line, place, message, tmp_path):
    """The first such line, counted from one."""
    path = written(tmp_path, GOOD, "", line)
    with pytest.raises(DataError) as caught:
        read_answers(path)
    assert caught.value.where == f"{path}: line 3{place}"
    assert message in caught.value.message
    assert caught.value.fix


def test_a_misspelt_field_names_the_right_ones(tmp_path):
    """The fix lists them."""
    path = written(tmp_path, {"question_id": "q", "answer": "a", "source": "x"})
    with pytest.raises(DataError) as caught:
        read_answers(path)
    assert "question_id, answer" in caught.value.fix
    assert "cited" in caught.value.fix


@pytest.mark.parametrize(
    ("name", "near"), [("answr", "answer"), ("questionid", "question_id"), ("cites", "cited")]
)
def test_a_misspelt_field_is_named_before_what_is_missing_with_the_near_one(name, near, tmp_path):
    """Nobody is told that there is no answer where it stands under another name."""
    with pytest.raises(DataError) as caught:
        read_answers(written(tmp_path, {"question_id": "q", name: "x"}))
    assert caught.value.where.endswith(f"line 1: {name}")
    assert caught.value.fix.startswith(f"write {near};")


def test_a_file_that_is_not_there_or_empty_is_refused(tmp_path):
    """No answer at all is most likely the wrong file."""
    with pytest.raises(DataError, match="cannot be read") as caught:
        read_answers(tmp_path / "none.jsonl")
    assert caught.value.fix
    with pytest.raises(DataError, match="holds no line"):
        read_answers(written(tmp_path, ""))


def test_bytes_that_are_no_text_are_refused(tmp_path):
    """With their line."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b'{"question_id": "q", "answer": "a"}\n\xff\xfe\n')
    with pytest.raises(DataError, match="is not JSON") as caught:
        read_answers(path)
    assert caught.value.where == f"{path}: line 2"


def test_unknown_and_missing_questions_are_counted():
    """The former are of other data, the latter count as unanswered; a few are named."""
    given = {f"x{n}": None for n in range(7)} | {"q1": None}
    found = coverage(given, ["q1", "q2"])
    assert (found.missing, len(found.unknown)) == (("q2",), 7)
    assert found.notes() == (
        "7 answers are to questions that the data does not have: x0, x1, x2, x3, x4 …",
        "1 questions have no answer in the file: q2",
    )
    assert coverage({"q1": None, "q2": None}, ["q2", "q1"]).notes() == ()
