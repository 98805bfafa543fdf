"""The official evaluator's files: what is written it can read, what it writes is understood."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.errors import DataError
from memrig.suites.longmemeval_files import (
    Hypothesis,
    OfficialVerdict,
    read_hypotheses,
    write_hypotheses,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def line(**changes: object) -> dict[str, object]:
    return {"question_id": "q1", "hypothesis": "an answer"} | changes


def written(folder: Path, *lines: object) -> Path:
    path = folder / "hypotheses.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    return path


def test_a_hypothesis_is_a_line_of_two_fields(tmp_path):
    """As `evaluate_qa.py` reads them, in the order given."""
    path = tmp_path / "out.jsonl"
    write_hypotheses(path, {"q2": "zwei Äpfel\nund mehr", "q1_abs": ""})
    lines = path.read_text("utf-8").splitlines()
    assert [json.loads(one) for one in lines] == [
        {"question_id": "q2", "hypothesis": "zwei Äpfel\nund mehr"},
        {"question_id": "q1_abs", "hypothesis": ""},
    ]
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]


@given(answers=st.dictionaries(st.text("abc_", min_size=1), TEXTS, min_size=1, max_size=5))
def test_what_is_written_is_read_again(answers, tmp_path_factory):
    """Line separators of every kind included."""
    path = tmp_path_factory.mktemp("h") / "out.jsonl"
    write_hypotheses(path, answers)
    assert {name: found.text for name, found in read_hypotheses(path).items()} == answers


def test_a_file_is_replaced_in_one_step(tmp_path, monkeypatch):
    """A failure leaves the old one whole, and nothing beside it."""
    path = tmp_path / "out.jsonl"
    write_hypotheses(path, {"q": "old"})

    def fails(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="no space"):
        write_hypotheses(path, {"q": "new"})
    assert "old" in path.read_text("utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]


def test_the_evaluators_verdicts_are_read(tmp_path):
    """With the judge model that gave them; a line without one has none."""
    label = {"model": "gpt-4o-2024-08-06", "label": True}
    path = written(tmp_path, line(autoeval_label=label, n_tokens=7), line(question_id="q2"))
    assert read_hypotheses(path) == {
        "q1": Hypothesis("an answer", OfficialVerdict(True, "gpt-4o-2024-08-06")),
        "q2": Hypothesis("an answer"),
    }


@pytest.mark.parametrize(
    ("broken", "place", "message"),
    [
        ({"hypothesis": "a"}, "question_id", "expected str, got nothing"),
        ({"question_id": "q2", "answer": "a"}, "hypothesis", "expected str, got nothing"),
        (line(question_id="q2", hypothesis=None), "hypothesis", "expected str, got nothing"),
        (line(question_id="q2", autoeval_label="yes"), "autoeval_label", "expected dict, got str"),
        (line(question_id="q2", autoeval_label={"model": "m", "label": "yes"}),
         "autoeval_label.label", "expected bool, got str 'yes'"),
        (line(question_id="q2", autoeval_label={"label": True}), "autoeval_label.model",
         "expected str, got nothing"),
        (line(), "question_id", "'q1' occurs twice"),
    ],
)  # fmt: skip
def test_a_malformed_line_is_refused_by_line_field_and_value(broken, place, message, tmp_path):
    """Nothing is guessed."""
    path = written(tmp_path, line(), broken)
    with pytest.raises(DataError) as caught:
        read_hypotheses(path)
    assert caught.value.where == f"{path}: line 2: {place}"
    assert message in caught.value.message
