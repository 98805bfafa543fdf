"""The format `memrig.conversations/1`: what is read, and how each defect is named."""

import json
from copy import deepcopy

import pytest

from memrig.errors import DataError
from memrig.model.scenario import Question, episodes_of
from memrig.suites.conversations import lint_set, parse_set, read_set, scenario_of

GOOD = {
    "format": "memrig.conversations/1",
    "name": "mine",
    "scenarios": [
        {
            "id": "ada",
            "persona": "Ada, a plumber",
            "sessions": [
                {
                    "id": "s1",
                    "date": "2025-01-05T10:00:00Z",
                    "messages": [
                        {"id": "m1", "speaker": "Ada", "text": "The kettle is blue."},
                        {"id": "m2", "speaker": "Ben", "text": "Mine is red."},
                    ],
                },
                {
                    "id": "s2",
                    "date": "2025-02-05T10:00:00+02:00",
                    "messages": [{"id": "m3", "speaker": "Ada", "text": "It is green now."}],
                },
            ],
            "questions": [
                {
                    "id": "q1",
                    "category": "correction",
                    "question": "Which colour is the kettle?",
                    "answer": {"type": "entity", "value": "green", "siblings": ["blue", "red"]},
                    "evidence": ["m3"],
                    "stale": ["m1"],
                    "keywords": ["Green"],
                }
            ],
        }
    ],
}


def good() -> dict:
    return deepcopy(GOOD)


def person(data: dict) -> dict:
    return data["scenarios"][0]


def question(data: dict) -> dict:
    return person(data)["questions"][0]


def test_a_good_file_has_no_problem():
    """Each test below spoils one thing in it."""
    assert lint_set(good())[0] == []


def twice(items: list) -> None:
    items.append(deepcopy(items[0]))


HALF = r"character 1 is '\ud83d', half of a surrogate pair"
SPOILT = [
    (lambda d: twice(d["scenarios"]), "ada", "scenario id occurs twice", "error"),
    (lambda d: twice(person(d)["questions"]), "ada.q1", "question id occurs twice", "error"),
    (lambda d: person(d)["sessions"][0]["messages"][1].update(id="m1"), "ada.m1",
     "message id occurs twice", "error"),
    (lambda d: person(d)["sessions"].reverse(), "ada.s1",
     "date 2025-01-05 is before the session ahead of it", "error"),
    (lambda d: question(d).update(evidence=["m9"], keywords=[]), "ada.q1",
     "names message 'm9', which does not exist", "error"),
    (lambda d: question(d).update(stale=["m9"]), "ada.q1",
     "names message 'm9', which does not exist", "error"),
    (lambda d: question(d).update(stale=["m3"]), "ada.q1",
     "['m3'] are both evidence and stale", "error"),
    (lambda d: question(d).update(keywords=["purple"]), "ada.q1",
     "keyword 'purple' is in no evidence message", "warning"),
    (lambda d: d.update(format="memrig.conversations/2"), "format", "/2", "error"),
    (lambda d: d.update(colour=1), "colour", "Extra inputs", "error"),
    (lambda d: person(d).update(sessions=[]), "scenarios.0.sessions", "at least 1", "error"),
    (lambda d: person(d).update(id="two words"), "scenarios.0.id", "'two words'", "error"),
    (lambda d: person(d)["sessions"][0].update(date="2025-01-05T10:00:00"),
     "scenarios.0.sessions.0.date", "timezone", "error"),
    (lambda d: person(d)["sessions"][0].pop("date"), "scenarios.0.sessions.0.date",
     "required", "error"),
    (lambda d: person(d)["sessions"][0]["messages"][1].update(text=""),
     "scenarios.0.sessions.0.messages.1.text", "at least 1", "error"),
    (lambda d: question(d).update(evidence=[]), "scenarios.0.questions.0.evidence",
     "at least 1", "error"),
    (lambda d: question(d).update(keywords=[" "]), "scenarios.0.questions.0.keywords.0",
     "pattern", "error"),
    (lambda d: question(d).update(answer={"type": "haiku"}), "scenarios.0.questions.0.answer",
     "haiku", "error"),
    (lambda d: question(d)["answer"].update(value=""),
     "scenarios.0.questions.0.answer.entity.value", "at least 1", "error"),
    (lambda d: d.update(name="x\ud83d"), "name", HALF, "error"),
    (lambda d: person(d).update(persona="x\ud83d"), "scenarios.0.persona", HALF, "error"),
    (lambda d: person(d)["sessions"][0]["messages"][1].update(text="x\ud83d"),
     "scenarios.0.sessions.0.messages.1.text", HALF, "error"),
    (lambda d: question(d)["answer"].update(aliases=["x\ud83d"]),
     "scenarios.0.questions.0.answer.aliases.0", HALF, "error"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "where", "message", "severity"), SPOILT)
def test_each_rule_bites_and_names_the_place(spoil, where, message, severity):
    """One defect, one problem, with a way to mend it."""
    data = good()
    spoil(data)
    (problem,) = lint_set(data)[0]
    assert (problem.where, problem.severity) == (where, severity)
    assert message in problem.message
    assert problem.fix


def test_every_defect_is_named_not_only_the_first():
    """One round of mending is enough."""
    data = good()
    question(data).update(evidence=["m8"], stale=["m9"], keywords=["x"])
    assert len(lint_set(data)[0]) == 3


def test_a_defect_stops_a_run_and_says_how_many_more_there_are():
    """With the file, the place and the fix."""
    data = good()
    question(data).update(evidence=["m8"], stale=["m9"])
    with pytest.raises(DataError, match=r"'m8'.*and 1 more; see `memrig data lint`") as caught:
        parse_set(data, "mine.json")
    assert caught.value.where == "mine.json: ada.q1"
    assert "name a message id" in caught.value.fix


def test_a_warning_does_not_stop_a_run():
    """A keyword that never hits is the author's business."""
    data = good()
    question(data).update(keywords=["purple"])
    assert parse_set(data, "mine.json").name == "mine"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[]", "valid dictionary"),
        (b'{"a":' * 100_000, "nested deeper than 64 levels"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "nested deeper than 64 levels"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_name(content, message, tmp_path):
    """Not JSON, not UTF-8, not an object."""
    path = tmp_path / "mine.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_set(path)
    assert str(path) in caught.value.where
    assert caught.value.fix


def test_a_missing_file_is_refused_by_name(tmp_path):
    """The operating system's own reason."""
    with pytest.raises(DataError, match="No such file") as caught:
        read_set(tmp_path / "none.json")
    assert caught.value.fix


def test_every_message_is_an_episode_and_the_questions_come_last(tmp_path):
    """`speaker: text` at the session's date; gold stays aside."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(GOOD))
    scenario = scenario_of(read_set(path).scenarios[0])
    episodes = list(episodes_of(scenario.timeline))
    assert [(e.episode_id, e.text) for e in episodes] == [
        ("m1", "Ada: The kettle is blue."),
        ("m2", "Ben: Mine is red."),
        ("m3", "Ada: It is green now."),
    ]
    assert episodes[2].timestamp.isoformat() == "2025-02-05T10:00:00+02:00"
    last = scenario.timeline[-1]
    assert isinstance(last, Question)
    assert last.question_id == "ada#q1"
    gold = scenario.gold["ada#q1"]
    assert (gold.category, gold.evidence, gold.stale) == ("correction", ("m3",), ("m1",))


def test_a_key_that_is_no_text_is_named_in_plain_letters():
    """Or the message itself could not be shown."""
    data = good()
    person(data)["x\ud83d"] = "y\ud83d"
    problems = lint_set(data)[0]
    assert all(problem.where.isascii() for problem in problems)
    assert {problem.where for problem in problems} == {"scenarios.0", r"scenarios.0.x\ud83d"}


def test_a_file_with_half_a_character_stops_a_run_by_its_place(tmp_path):
    """As JSON spells it."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(good()).replace("Mine is red.", r"Mine is \ud83d."))
    with pytest.raises(DataError, match="half of a surrogate pair") as caught:
        read_set(path)
    assert caught.value.where == f"{path}: scenarios.0.sessions.0.messages.1.text"
    assert caught.value.fix
