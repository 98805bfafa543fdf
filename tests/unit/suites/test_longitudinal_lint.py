"""What is odd in a longitudinal file stops no run: it is warned of, and stands in the report."""

import json
import os

import pytest

from memrig.errors import DataError
from memrig.model.longitudinal import FORMAT
from memrig.suites.lint import lint_file
from memrig.suites.longitudinal_format import read_dataset
from memrig.suites.longitudinal_lint import lint_dataset, notes, oddities
from support.longitudinal import dataset, episode, question, spoilt


def first_question(raw):
    return raw["questions"][0]


def truth(raw):
    return first_question(raw)["ground_truth"]


def stamp(raw, number, value):
    raw["scopes"][0]["episodes"][number]["timestamp"] = value


def noted(raw) -> tuple[str, ...]:
    made = read_dataset(raw)[1]
    assert made
    return notes(list(oddities(made.scopes[0])), made.scopes[0].scope_id)


def test_a_sound_file_has_nothing_odd():
    """Synthesis and control with facts, evidence in time, nothing left over."""
    assert lint_dataset(dataset()) == []
    assert noted(dataset()) == ()


REFS = "question 'one_q1': ground_truth.required_evidence_refs"
ODD = [
    (lambda d: truth(d).update(required_evidence_refs=["one_ep_002", "one_ep_003"]),
     REFS, "'one_ep_003' is episode 3, after the checkpoint 2", "required of nobody",
     "one: evidence after its checkpoint, required of nobody: 1 (one_q1: one_ep_003)"),
    (lambda d: truth(d).update(required_evidence_refs=[]),
     REFS, "leaves no evidence before the checkpoint", "name the episodes",
     "one: questions without evidence: 1 (one_q1)"),
    (lambda d: d["questions"][1]["ground_truth"].update(key_facts=[]),
     "question 'one_q2': ground_truth.key_facts", "is empty: fact_recall cannot be measured",
     "write what", "one: questions without key facts: 1 (one_q2)"),
    (lambda d: stamp(d, 1, "2024-01-01T10:00:00"),
     "scope 'one'", "episodes with the timestamp of another one: 1", "they keep their order",
     "one: episodes with the timestamp of another one: 1; they keep their order"),
    (lambda d: stamp(d, 0, "2024-01-01T10:00:00") or d["scopes"][0]["episodes"].reverse(),
     "scope 'one'", "episodes are not in time order in the file", "checkpoints count in it",
     "one: episodes are not in time order in the file; they were put into it"),
    (lambda d: d["scopes"][0]["episodes"].append(episode("one", 5)),
     "scope 'one'", "episodes after the last checkpoint: 1", "nothing is asked after them",
     "one: episodes after the last checkpoint: 1; nothing is asked after them"),
    (lambda d: d["scopes"][0]["episodes"][0].pop("meta"),
     "scope 'one'", "episodes that say neither signal nor distractor: 1", "meta.episode_type",
     "one: episodes that say neither signal nor distractor: 1; they count as signal"),
    (lambda d: d["scopes"][0]["episodes"][1]["meta"].update(episode_type="distractor"),
     REFS, "names 'one_ep_002', which is marked as a distractor", "mark the episode as signal",
     "one: distractors that a question requires, kept as signal: 1 (one_ep_002)"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "where", "message", "fix", "note"), ODD)
def test_an_oddity_is_a_warning_and_a_note_in_the_report(change, where, message, fix, note):
    """With its place, its value and what is done about it; the note counts them."""
    raw = spoilt(change)
    found = [item for item in lint_dataset(raw) if message in item.message]
    assert [(item.severity, item.where) for item in found] == [("warning", where)]
    assert fix in found[0].fix
    assert note in noted(raw)


def test_control_questions_without_facts_leave_longitudinal_advantage_unmeasured():
    """Some of them: each by itself; all of them: it is n/a."""
    raw = spoilt(lambda d: truth(d).update(key_facts=[]))
    single, whole = lint_dataset(raw)
    assert "is empty in a control question" in single.message
    assert (whole.where, whole.message) == (
        "questions", "no control question has key facts: longitudinal_advantage is n/a",
    )  # fmt: skip
    raw["questions"].append(question("one", 3, 4, question_type="null_hypothesis"))
    assert [item.where for item in lint_dataset(raw)] == [single.where]


@pytest.mark.parametrize(("kind", "lacking"), [("longitudinal", "control"),
                                               ("null_hypothesis", "synthesis")])  # fmt: skip
def test_without_a_group_longitudinal_advantage_is_unmeasured(kind, lacking):
    """There is nothing to subtract."""
    raw = dataset()
    for item in raw["questions"]:
        item["question_type"] = kind
    (found,) = lint_dataset(raw)
    assert found.message == f"there is no {lacking} question: longitudinal_advantage is n/a"


def test_a_scope_that_nothing_is_asked_about_is_named():
    """It is not run."""
    raw = dataset("one", "two")
    raw["questions"] = raw["questions"][:2]
    (found,) = lint_dataset(raw)
    assert (found.where, found.message) == ("scope 'two'", "no question is about this scope")


def clocked(story: list[str], other: list[str]) -> dict[str, object]:
    raw = dataset()
    raw["scopes"][0]["episodes"] += [
        episode("one", 5 + n, "distractor", timestamp=f"2024-02-0{n + 1}T{clock}")
        for n, clock in enumerate(other)
    ]
    for item, clock in zip(raw["scopes"][0]["episodes"], story, strict=False):
        item["timestamp"] = f"{item['timestamp'][:10]}T{clock}"
    return raw


@pytest.mark.parametrize(
    ("story", "other", "told"),
    [
        (["10:00"] * 4, ["10:30"] * 4, True),
        (["10:00"] * 4, ["10:30", "11:15", "12:20"], True),
        (["10:00"] * 4, ["10:30", "10:00", "10:30", "10:30"], False),
        (["08:01", "09:17", "16:40", "11:11"], ["10:30", "11:15", "12:20"], False),
        (["10:00"] * 4, [], False),
    ],
)
def test_times_of_day_that_tell_distractors_from_the_story_are_named(story, other, told):
    """A memory system could drop them unread; LENS's files invite it to."""
    raw = clocked(story, other)
    where = "times of day tell every distractor from the story"
    assert any(where in item.message for item in lint_dataset(raw)) == told
    assert any(where in note for note in noted(raw)) == told


def test_many_of_a_kind_are_one_note_with_a_few_names():
    """Reports stay short."""
    raw = dataset(episodes=12)
    for item in raw["questions"]:
        item["ground_truth"]["required_evidence_refs"] = []
    (line,) = noted(raw)
    assert line == "one: questions without evidence: 6 (one_q1, one_q2, one_q3, …)"


def test_with_an_error_only_what_was_read_is_listed():
    """What is odd in the order of times cannot be said before they are readable."""
    raw = spoilt(lambda d: stamp(d, 0, "x"))
    raw["scopes"][0]["episodes"].append(episode("one", 5, note="x"))
    assert [item.severity for item in lint_dataset(raw)] == ["error", "warning"]


@pytest.mark.parametrize("raw", [dataset(), {"format": FORMAT}, {"scopes": []}, {"scopes": 3}])
def test_the_format_is_known_by_its_name_or_its_shape(raw, tmp_path):
    """LENS's files have no name."""
    path = tmp_path / "some.json"
    path.write_text(json.dumps(raw), "utf-8")
    assert lint_file(path) == lint_dataset(raw)


def test_another_formats_name_goes_before_the_shape(tmp_path):
    """It is linted as what it says it is."""
    path = tmp_path / "some.json"
    path.write_text(json.dumps({"format": "memrig.conversations/1", "scopes": []}), "utf-8")
    assert "scenarios" in {problem.where for problem in lint_file(path)}


def test_what_is_of_no_format_is_told_the_ones_there_are(tmp_path):
    """This one by its shape."""
    path = tmp_path / "some.json"
    path.write_text('{"a": 1}', "utf-8")
    with pytest.raises(DataError, match="is of no format") as caught:
        lint_file(path)
    assert "an object with scopes (longitudinal)" in caught.value.fix


@pytest.mark.parametrize("text", ['{"scopes": %s}', "[%s]", '[{"haystack_sessions": [%s]}]'])
def test_a_number_without_end_is_refused_by_every_format(text, tmp_path):
    """JSON has no largest number, Python has."""
    path = tmp_path / "some.json"
    path.write_text(text % ("9" * 5000), "utf-8")
    try:
        (found,) = lint_file(path)
    except DataError as error:
        assert "digits" in error.message
        assert "sys." not in error.message
    else:
        assert found.severity == "error"


@pytest.mark.parametrize("name", ["pipe", "folder", "nothing"])
def test_what_is_no_file_is_refused_at_once(name, tmp_path):
    """A pipe would be waited for, and cannot be read twice."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError) as caught:
        lint_file(tmp_path / name)
    assert caught.value.where == str(tmp_path / name)
    assert caught.value.fix
