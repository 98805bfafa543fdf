"""LoCoMo is read as it is: every irregularity of the file is repaired by rule and counted."""

import json
import os
from collections import Counter
from copy import deepcopy
from importlib.resources import files
from pathlib import Path

import pytest

from memrig.errors import DataError
from memrig.model.gold import AbstentionGold, TextGold
from memrig.model.scenario import Scenario, episodes_of, questions_of
from memrig.suites.base import SuiteOptions
from memrig.suites.locomo import LABELS, SUITE, repair_evidence
from memrig.suites.sampling import catalog, stratified
from support.data import data_file

ROOT = Path(__file__).parents[3]
REAL = Path(os.environ.get("MEMRIG_LOCOMO_FILE", ROOT.parent / "shared" / "data" / "locomo10.json"))
SAMPLE = json.loads((files("memrig.suites") / "locomo_sample.json").read_bytes())
KNOWN = {f"D{s}:{t}" for s in range(1, 31) for t in range(1, 31)}


def options(**changes: object) -> SuiteOptions:
    return SuiteOptions("locomo-any", **changes)


@pytest.mark.parametrize(
    ("raw", "turns", "repaired", "dropped"),
    [
        (["D1:3"], ("D1:3",), 0, 0),
        (["D1:3", "D2:4"], ("D1:3", "D2:4"), 0, 0),
        (["D1:3", "D1:3"], ("D1:3",), 0, 0),
        (["D8:6; D9:17"], ("D8:6", "D9:17"), 1, 0),
        (["D9:1 D4:4 D4:6"], ("D9:1", "D4:4", "D4:6"), 1, 0),
        (["D22:1,D9:10"], ("D22:1", "D9:10"), 1, 0),
        (["D:11:26"], ("D11:26",), 1, 0),
        (["D30:05"], ("D30:5",), 1, 0),
        (["D"], (), 0, 1),
        (["D10:99"], (), 0, 1),
        (["D4:36"], (), 0, 1),
        (["D1:3", "D"], ("D1:3",), 0, 1),
        (["D1:3; D1:99"], ("D1:3",), 1, 1),
        (["D1:3", "D1:3; D2:4"], ("D1:3", "D2:4"), 1, 0),
        ([" D1:3 "], ("D1:3",), 1, 0),
        ([], (), 0, 0),
    ],
)
def test_evidence_is_repaired_by_rule(raw, turns, repaired, dropped):
    """Split, unpadded, the stray colon removed; what names no turn is dropped; all counted."""
    evidence = repair_evidence(raw, KNOWN)
    assert (evidence.turns, evidence.repaired, evidence.dropped) == (turns, repaired, dropped)


class File:
    """A copy of the sample that a test may spoil."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "mine.json"
        self.data = deepcopy(SAMPLE)

    def load(self) -> list[Scenario]:
        self.path.write_text(json.dumps(self.data), "utf-8")
        return list(SUITE.scenarios(options(file=self.path)))


@pytest.fixture
def file(tmp_path) -> File:
    """The sample as a file of the user's own."""
    return File(tmp_path)


HALF = r"character 1 is '\ud83d', half of a surrogate pair"
SPOILT = [
    (lambda d: d[0].pop("conversation"), "[0].conversation", "expected dict, got nothing"),
    (lambda d: d[0].pop("sample_id"), "[0].sample_id", "expected str, got nothing"),
    (lambda d: d[0].update(sample_id=" "), "[0].sample_id", "is empty"),
    (lambda d: d[0].pop("qa"), "[0].qa", "expected list, got nothing"),
    (lambda d: d.append(7), "[1]", "expected dict, got int 7"),
    (lambda d: d[0]["conversation"].update(session_2="x"), "conversation.session_2",
     "expected list, got str 'x'"),
    (lambda d: d[0]["conversation"].pop("session_3_date_time"),
     "conversation.session_3_date_time", "expected str, got nothing"),
    (lambda d: d[0]["conversation"].update(session_1_date_time="8 May 2023"),
     "conversation.session_1_date_time", "'8 May 2023' is not a date like"),
    (lambda d: d[0]["conversation"]["session_1"][4].pop("text"),
     "conversation.session_1[4].text", "expected str, got nothing"),
    (lambda d: d[0]["conversation"]["session_1"][4].update(dia_id=5),
     "conversation.session_1[4].dia_id", "expected str, got int 5"),
    (lambda d: d[0]["qa"][3].update(category=6), "qa[3].category", "is 6, expected 1 to 5"),
    (lambda d: d[0]["qa"][3].update(category="2"), "qa[3].category", "is '2', expected 1 to 5"),
    (lambda d: d[0]["qa"][3].update(category=True), "qa[3].category", "is True, expected 1 to 5"),
    (lambda d: d[0]["qa"][3].pop("question"), "qa[3].question", "expected str, got nothing"),
    (lambda d: d[0]["qa"][3].update(question=""), "qa[3].question", "is empty"),
    (lambda d: d[0]["qa"][3].update(evidence="D1:1"), "qa[3].evidence", "expected list, got str"),
    (lambda d: d[0]["qa"][3].update(evidence=["D1:1", 2]), "qa[3].evidence[1]",
     "expected str, got int 2"),
    (lambda d: d[0].update(sample_id="a\ud83d"), "[0].sample_id", HALF),
    (lambda d: d[0]["conversation"]["session_1"][4].update(text="b\ud83d"),
     "conversation.session_1[4].text", HALF),
    (lambda d: d[0]["conversation"]["session_1"][4].update(dia_id="D\udc00"),
     "conversation.session_1[4].dia_id", "half of a surrogate pair"),
    (lambda d: d[0]["qa"][3].update(question="c\ud83d"), "qa[3].question", HALF),
    (lambda d: d[0]["qa"][3].update(answer="d\ud83d"), "qa[3].answer", HALF),
    (lambda d: d[0]["qa"][3].update(evidence=["D\ud83d"]), "qa[3].evidence[0]", HALF),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "place", "message"), SPOILT)
def test_a_malformed_file_is_refused_by_file_field_and_value(spoil, place, message, file):
    """Never a traceback, never a silent repair of what is not evidence."""
    spoil(file.data)
    with pytest.raises(DataError) as caught:
        file.load()
    assert str(file.path) in caught.value.where
    assert caught.value.where.endswith(place)
    assert message in caught.value.message
    assert caught.value.fix


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 100_000, "nested deeper than 64 levels"),
        (b"{not json", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"{}", "holds dict, expected a list of dialogues"),
        (b"[]", "holds list, expected a list of dialogues"),
    ],
)
def test_what_is_not_a_list_of_dialogues_is_refused(content, message, tmp_path):
    """With the file's name."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        list(SUITE.scenarios(options(file=path)))
    assert caught.value.where == str(path)
    assert caught.value.fix


def test_a_missing_file_is_refused(tmp_path):
    """Never another in its place."""
    with pytest.raises(DataError, match="no such file") as caught:
        SUITE.source(options(file=tmp_path / "none.json"))
    assert caught.value.fix
    with pytest.raises(DataError, match="is a folder"):
        SUITE.source(options(file=tmp_path))
    with pytest.raises(DataError, match="cannot be read"):
        list(SUITE.scenarios(options(file=tmp_path / "none.json")))


def test_a_question_whose_evidence_names_no_turn_is_not_scored(file):
    """No memory could be right about it; it is counted, and the report says so."""
    file.data[0]["qa"][0]["evidence"] = ["D", "D9:99"]
    file.data[0]["qa"][1]["evidence"] = []
    del file.data[0]["qa"][2]["evidence"]
    (scenario,) = file.load()
    unscored = [g for g in scenario.gold.values() if not g.scorable]
    assert [g.question_id for g in unscored] == [f"sample-1#{n}" for n in range(3)]
    assert {g.note for g in unscored} == {"the data names no evidence"}
    assert scenario.notes == (
        "sample-1: 2 evidence ids dropped: no such turn",
        "sample-1: 3 questions without evidence, not scored",
    )


def test_repairs_are_counted_in_the_notes(file):
    """They reach every report."""
    file.data[0]["qa"][0]["evidence"] = ["D2:3; D3:2", "D3:06"]
    (scenario,) = file.load()
    assert scenario.gold["sample-1#0"].evidence == ("D2:3", "D3:2", "D3:6")
    assert scenario.notes == ("sample-1: 2 evidence strings repaired",)


def test_turns_come_in_the_order_of_session_numbers(file):
    """Not in the order of the file's keys, nor of their spelling."""
    conversation = file.data[0]["conversation"]
    for number in range(4, 12):
        conversation[f"session_{number}_date_time"] = f"1:00 pm on {number} June, 2024"
        turn = {"speaker": "Noor", "dia_id": f"D{number}:1", "text": "hm"}
        conversation[f"session_{number}"] = [turn]
    file.data[0]["conversation"] = dict(reversed(conversation.items()))
    (scenario,) = file.load()
    names = [e.episode_id for e in episodes_of(scenario.timeline)]
    assert names[:2] == ["D1:1", "D1:2"]
    assert names[-8:] == [f"D{n}:1" for n in range(4, 12)]


def test_the_sample_is_a_small_dialogue_in_the_same_format():
    """Three sessions of eight turns, ten questions over all five categories."""
    (scenario,) = SUITE.scenarios(options(sample=True))
    episodes = list(episodes_of(scenario.timeline))
    assert Counter(e.episode_id.split(":")[0] for e in episodes) == {"D1": 8, "D2": 8, "D3": 8}
    assert Counter(g.category for g in scenario.gold.values()) == dict.fromkeys(LABELS["true"], 2)
    assert len(list(questions_of(scenario.timeline))) == 10
    assert all(g.scorable and g.evidence for g in scenario.gold.values())
    assert scenario.notes == ()


def test_an_episode_is_what_the_speaker_said_and_when():
    """`speaker: text`, at the session's date."""
    (scenario,) = SUITE.scenarios(options(sample=True))
    first = next(episodes_of(scenario.timeline))
    assert first.text.startswith("Noor: Elias! Did the move")
    assert first.timestamp.isoformat() == "2024-03-03T19:40:00+00:00"


def test_answers_are_text_as_the_data_words_it():
    """The official F1 is over the raw string; an integer is one, too."""
    (scenario,) = SUITE.scenarios(options(sample=True))
    assert scenario.gold["sample-1#6"].answer == TextGold(type="text", value="80")


def test_an_adversarial_question_has_no_answer(file):
    """Category 5 asks for what was never said, whatever the data gives beside the trap."""
    file.data[0]["qa"][8]["answer"] = "No"
    (scenario,) = file.load()
    gold = scenario.gold["sample-1#8"]
    assert gold.category == "adversarial"
    assert gold.answer == AbstentionGold(type="abstention", reason="dark green")
    del file.data[0]["qa"][8]["adversarial_answer"]
    (scenario,) = file.load()
    assert scenario.gold["sample-1#8"].answer == AbstentionGold(type="abstention", reason="")


def test_tags_name_the_files_category_numbers():
    """Whatever the label set; category 5 also by its name, which some label sets merge."""
    (scenario,) = SUITE.scenarios(options(sample=True, category_labels="synapse"))
    tags = [gold.tags for gold in scenario.gold.values()][::2]
    assert tags == [
        ("locomo:1",), ("locomo:2",), ("locomo:3",), ("locomo:4",), ("locomo:5", "adversarial"),
    ]  # fmt: skip


def test_questions_have_no_date():
    """The data gives none, and the last session's would be a guess."""
    (scenario,) = SUITE.scenarios(options(sample=True))
    assert all(question.asked_at is None for question in questions_of(scenario.timeline))


def test_the_sample_says_so_everywhere():
    """Nobody can take it for LoCoMo."""
    source = SUITE.source(options(sample=True))
    assert (source.name, source.origin) == ("locomo sample", "built in")
    assert "not LoCoMo" in source.notes[0]


def test_a_file_of_ones_own_is_not_taken_for_the_published_one(file):
    """Its hash differs, and the report says so."""
    file.load()
    assert "not the published" in SUITE.source(options(file=file.path)).notes[0]


def test_label_sets_name_the_same_questions_otherwise():
    """A published table can be matched in its own numbering."""
    by_set = {}
    for name in LABELS:
        (scenario,) = SUITE.scenarios(options(sample=True, category_labels=name))
        by_set[name] = [g.category for g in scenario.gold.values()][::2]
    assert by_set["true"] == [
        "multi-hop", "temporal", "open-domain", "single-hop", "adversarial",
    ]  # fmt: skip
    assert {name: tuple(labels) for name, labels in by_set.items()} == dict(LABELS)


@pytest.fixture(scope="module")
def real() -> list[Scenario]:
    """The published file, where it is on this machine."""
    if not REAL.is_file():
        pytest.skip("locomo10.json is not here; MEMRIG_LOCOMO_FILE names it")
    return list(SUITE.scenarios(options(file=REAL)))


def test_the_real_file_has_ten_dialogues_and_5882_turns(real):
    """All of them become episodes."""
    assert len(real) == 10
    assert sum(1 for s in real for _ in episodes_of(s.timeline)) == 5882


def test_the_real_file_has_1986_questions_of_which_1982_can_be_scored(real):
    """The four others name no evidence."""
    gold = [g for s in real for g in s.gold.values()]
    assert (len(gold), sum(g.scorable for g in gold)) == (1986, 1982)


def test_the_categories_of_the_real_file_have_their_true_names_and_sizes(real):
    """The numbering that the evidence shows, not that of the paper's prose."""
    assert Counter(g.category for s in real for g in s.gold.values()) == {
        "multi-hop": 282,
        "temporal": 321,
        "open-domain": 96,
        "single-hop": 841,
        "adversarial": 446,
    }


def test_no_scorable_question_of_the_real_file_is_beyond_reach(real):
    """Every one has evidence among the turns of its own dialogue."""
    for scenario in real:
        known = {e.episode_id for e in episodes_of(scenario.timeline)}
        assert all(g.evidence and known.issuperset(g.evidence)
                   for g in scenario.gold.values() if g.scorable)  # fmt: skip


def test_the_real_file_is_the_pinned_one(real):
    """No note: its hash is the published one's."""
    assert SUITE.source(options(file=REAL)).notes == ()


# --- audited labels ------------------------------------------------------------------------------


class Audit:
    """An audit of the sample that a test may spoil: one wrong answer, one wrong citation."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "audit.json"
        qa = SAMPLE[0]["qa"]
        self.data = [
            {
                "question_id": f"locomo_0_qa{index}",
                "question": qa[index]["question"],
                "golden_answer": str(qa[index]["answer"]),
                "error_type": error,
                "correct_answer": correct,
            }
            for index, error, correct in (
                (2, "TEMPORAL_ERROR", "in May"), (6, "WRONG_CITATION", "80"),
            )
        ]  # fmt: skip

    def options(self, file: File) -> SuiteOptions:
        self.path.write_text(json.dumps(self.data), "utf-8")
        file.path.write_text(json.dumps(file.data), "utf-8")
        return options(file=file.path, labels="audited", audit_file=self.path)


@pytest.fixture
def audit(tmp_path) -> Audit:
    """An audit of the sample."""
    return Audit(tmp_path)


def test_an_audit_tags_the_questions_and_keeps_their_published_answers(audit, file):
    """Both scores are shown: over all, and over those whose answer stands."""
    (scenario,) = SUITE.scenarios(audit.options(file))
    (published,) = file.load()
    tags = [gold.tags[1:] for gold in scenario.gold.values()]
    clean = ("audited-clean",)
    assert tags == [clean, clean, ("audited-error",), clean, clean, clean,
                    ("audited-citation", "audited-clean"), clean,
                    ("adversarial",), ("adversarial",)]  # fmt: skip
    assert [g.answer for g in scenario.gold.values()] == [g.answer for g in published.gold.values()]
    assert scenario.gold["sample-1#2"].note == "audit: temporal error; correct: in May"
    assert scenario.gold["sample-1#6"].note == "audit: wrong citation; correct: 80"


def test_an_audit_changes_no_timeline_and_no_draw(audit, file):
    """The published numbers and the audited ones are of the same run."""
    asked = audit.options(file)
    (audited,) = SUITE.scenarios(asked)
    (published,) = SUITE.scenarios(options(file=file.path))
    assert list(audited.timeline) == list(published.timeline)
    assert [g.evidence for g in audited.gold.values()] == [
        g.evidence for g in published.gold.values()
    ]
    both = [stratified(catalog([scenario]), 5, 1) for scenario in (audited, published)]
    assert both[0] == both[1]


def test_a_report_says_which_audit_was_used(audit, file):
    """By name, hash and counts."""
    note = SUITE.source(audit.options(file)).notes[-1]
    assert note.startswith("labels audited: 1 wrong answers and 1 wrong citations marked")
    assert "audit.json, sha256:" in note


SPOILT_AUDITS = [
    (lambda d: d.append(7), "[2]", "expected dict, got int 7"),
    (lambda d: d[1].update(question_id="conv-26#1"), "[1].question_id", "is not an id like"),
    (lambda d: d[1].update(question_id="locomo_1_qa0"), "[1].question_id", "does not have"),
    (lambda d: d[1].update(question_id="locomo_0_qa10"), "[1].question_id", "does not have"),
    (lambda d: d[1].update(question_id="locomo_0_qa2"), "[1].question_id", "a question twice"),
    (lambda d: d[1].update(question="Another?"), "[1].question", "is 'Another?', the data has"),
    (lambda d: d[1].update(golden_answer="81"), "[1].golden_answer", "is '81', the data has '80'"),
    (lambda d: d[1].pop("correct_answer"), "[1].correct_answer", "expected str, got nothing"),
    (lambda d: d[1].pop("error_type"), "[1].error_type", "expected str, got nothing"),
]


@pytest.mark.parametrize(("spoil", "place", "message"), SPOILT_AUDITS)
def test_an_audit_of_other_data_is_refused(spoil, place, message, audit, file):
    """Tags on the wrong questions would be worse than none."""
    spoil(audit.data)
    with pytest.raises(DataError) as caught:
        list(SUITE.scenarios(audit.options(file)))
    assert caught.value.where == f"{audit.path}: {place}".replace(": .", ".")
    assert message in caught.value.message


def test_an_audit_that_is_not_there_or_no_json_is_refused(audit, file, tmp_path):
    """By its flag or its name."""
    asked = audit.options(file)
    for content, message in (
        ("{", "is not JSON"),
        ("[" * 100_000, "nested deeper"),
        ("{}", "expected list, got dict"),
    ):
        audit.path.write_text(content)
        with pytest.raises(DataError, match=message) as caught:
            SUITE.source(asked)
        assert caught.value.fix
    audit.path.unlink()
    with pytest.raises(DataError, match="cannot be read") as caught:
        list(SUITE.scenarios(asked))
    assert caught.value.where == f"--audit-file {audit.path}"
    assert caught.value.fix


def test_the_published_audit_fits_the_published_file(real):
    """156 findings, 99 of them wrong answers, by category as its authors count."""
    asked = options(file=REAL, labels="audited", audit_file=data_file("locomo_audit_errors.json"))
    gold = [g for s in SUITE.scenarios(asked) for g in s.gold.values()]
    wrong = Counter(g.category for g in gold if "audited-error" in g.tags)
    assert wrong == {"multi-hop": 28, "temporal": 26, "open-domain": 9, "single-hop": 36}
    assert sum("audited-citation" in g.tags for g in gold) == 57
    assert sum("audited-clean" in g.tags for g in gold) == 1540 - 99


def test_adversarial_questions_of_the_real_file_are_abstentions(real):
    """446, the two that also have an answer included; all others have one."""
    gold = [g for s in real for g in s.gold.values()]
    assert sum(isinstance(g.answer, AbstentionGold) for g in gold) == 446
    assert sum(isinstance(g.answer, TextGold) for g in gold) == 1540
