"""LongMemEval is read as a stream, as it is, and nothing of its labels leaves the host."""

import gc
import json
import tracemalloc
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext as ok
from copy import deepcopy
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest

from memrig.client.convert import episode_message
from memrig.client.ids import Pseudonyms
from memrig.errors import DataError, PrerequisiteError
from memrig.model.canonical import digest_file
from memrig.model.gold import AbstentionGold, NumberGold, TextGold
from memrig.model.scenario import Scenario, episodes_of
from memrig.suites.base import SuiteOptions
from memrig.suites.lint import lint_file
from memrig.suites.longmemeval import SUITE
from memrig.suites.longmemeval_scenario import ABSTAINS, NO_EVIDENCE, NO_USER_EVIDENCE
from memrig.suites.sampling import catalog
from memrig.suites.spool import spool

SAMPLE = json.loads((files("memrig.suites") / "longmemeval_sample.json").read_bytes())
OFFICIAL, ALL_TURNS, TYPED = "longmemeval-official", "longmemeval-all-turns", "longmemeval-typed"
JUDGED = "longmemeval-compatible"


def options(protocol: str = ALL_TURNS, **changes: object) -> SuiteOptions:
    return SuiteOptions(protocol, **changes)


def sample(protocol: str = ALL_TURNS, **changes: object) -> dict[str, Scenario]:
    """The sample's scenarios by id."""
    asked = options(protocol, sample=True, **changes)
    return {s.scenario_id: s for s in SUITE.scenarios(asked)}


def gold_of(scenario: Scenario):
    """The gold record of a scenario's only question."""
    (gold,) = scenario.gold.values()
    return gold


def names(scenario: Scenario) -> list[str]:
    return [episode.episode_id for episode in episodes_of(scenario.timeline)]


class File:
    """A copy of the sample that a test may spoil."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "mine.json"
        self.data = deepcopy(SAMPLE)

    def write(self) -> Path:
        self.path.write_text(json.dumps(self.data), "utf-8")
        return self.path

    def load(self, protocol: str = ALL_TURNS, **changes: object) -> list[Scenario]:
        return list(SUITE.scenarios(options(protocol, file=self.write(), **changes)))

    def notes(self, protocol: str = ALL_TURNS, **changes: object) -> tuple[str, ...]:
        return SUITE.source(options(protocol, file=self.write(), **changes)).notes


@pytest.fixture
def file(tmp_path: Path) -> File:
    """The sample as a file of the user's own."""
    return File(tmp_path)


# --- scenarios -----------------------------------------------------------------------------------


def test_a_scenario_is_one_question_behind_its_haystack():
    """The question comes last, with its date in UTC."""
    scenario = sample()["lm_0001"]
    *episodes, question = scenario.timeline
    assert [e.type for e in episodes] == ["episode"] * 4
    assert question.type == "question"
    assert question.asked_at == datetime(2024, 6, 10, 9, 30, tzinfo=UTC)
    assert episodes[0].timestamp == datetime(2024, 3, 2, 10, 15, tzinfo=UTC)
    assert list(scenario.gold) == [question.question_id] == ["lm_0001"]


def test_a_session_is_rendered_a_line_a_turn_with_its_turns():
    """Both roles, each turn by its place in the session."""
    episode = next(e for e in episodes_of(sample()["lm_0005"].timeline) if "_1" in e.episode_id)
    assert episode.text == (
        "user: I have just sown the runner beans in the long bed. How deep should they be?\n"
        "assistant: Five centimetres, and about twenty apart."
    )
    assert [t.turn_id for t in episode.turns] == ["answer_beans_1_1", "answer_beans_1_2"]
    assert [t.speaker for t in episode.turns] == ["user", "assistant"]
    assert "\n".join(f"{t.speaker}: {t.text}" for t in episode.turns) == episode.text


def test_the_official_protocol_ingests_user_turns_alone():
    """Joined by a space; nothing of the assistant's is in them."""
    episodes = list(episodes_of(sample(OFFICIAL)["lm_0001"].timeline))
    assert episodes[0].text == "How long do dried chickpeas keep in a sealed jar? And split peas?"
    assert all(not episode.turns for episode in episodes)


@pytest.mark.parametrize(("protocol", "count"), [(OFFICIAL, 7), (ALL_TURNS, 13), (TYPED, 13)])
def test_at_turn_granularity_every_turn_is_an_episode(protocol, count):
    """Named by session and 1-based place; a turn without text is left out, its place is not."""
    scenario = sample(protocol, granularity="turn")["lm_0001"]
    assert len(names(scenario)) == count
    assert "answer_hurdy_1_3" in names(scenario)
    assert "knots_22_2" in names(scenario)
    assert "knots_22_4" not in names(scenario)
    texts = {e.episode_id: e.text for e in episodes_of(scenario.timeline)}
    prefix = "" if protocol == OFFICIAL else "user: "
    assert texts["answer_hurdy_1_3"] == f"{prefix}Thanks, I have been overdoing it then."


def test_a_session_id_that_occurs_twice_is_told_apart_by_its_position():
    """Neither of the two is lost."""
    assert names(sample()["lm_0004"]) == [
        "answer_bikes_1", "tax_09@2", "answer_bikes_2", "tax_09@4", "ferry_04",
    ]  # fmt: skip


def test_sessions_come_in_the_files_order_or_by_date():
    """By date equal times keep the file's order; ids stay those of the file's positions."""
    assert names(sample()["lm_0005"])[:2] == ["answer_beans_2", "answer_beans_1"]
    assert names(sample(order="file")["lm_0005"])[:2] == ["answer_beans_2", "answer_beans_1"]
    assert names(sample(order="date")["lm_0005"])[:2] == ["answer_beans_1", "answer_beans_2"]


def test_equal_dates_keep_the_files_order(file):
    """The sort is stable."""
    for record in file.data:
        record["haystack_dates"] = ["2024/01/01 (Mon) 00:00"] * len(record["haystack_dates"])
    assert [names(s) for s in file.load(order="date")] == [names(s) for s in file.load()]


def test_sessions_after_the_question_are_ingested():
    """Hiding them would hide evidence of published questions; they are counted."""
    assert "stars_31" in names(sample()["lm_0006"])


def test_a_session_without_any_text_is_left_out(file):
    """There is nothing to remember."""
    file.data[0]["haystack_sessions"][2] = [{"role": "user", "content": " "}]
    file.data[0]["haystack_sessions"][3] = [{"role": "assistant", "content": "Hello again."}]
    assert len(names(file.load()[0])) == 3
    assert len(names(file.load(OFFICIAL)[0])) == 2
    assert "sessions with no text, left out: 1" in file.notes()
    assert "sessions with no user turn, left out: 2" in file.notes(OFFICIAL)


# --- gold ----------------------------------------------------------------------------------------


def test_evidence_is_the_sessions_that_the_record_names():
    """And the marked turns of either role."""
    gold = gold_of(sample()["lm_0002"])
    assert (gold.evidence, gold.evidence_turns) == (("answer_lisle_1",), ("answer_lisle_1_2",))
    assert gold.category == "single-session-assistant"
    assert gold.scorable


def test_official_evidence_is_the_sessions_with_a_marked_user_turn():
    """Where an assistant's turn holds the answer, there is none, and the question is not scored."""
    golds = {name: gold_of(scenario) for name, scenario in sample(OFFICIAL).items()}
    assert golds["lm_0004"].evidence == ("answer_bikes_1", "answer_bikes_2")
    assert golds["lm_0002"].evidence == ()
    assert not golds["lm_0002"].scorable
    assert golds["lm_0002"].note == NO_USER_EVIDENCE


def test_an_official_session_that_only_the_assistant_answers_is_no_evidence(file):
    """Beside one that a user answers, it does not count."""
    for turn in file.data[3]["haystack_sessions"][0]:
        turn["has_answer"] = turn["role"] == "assistant"
    assert gold_of(file.load(OFFICIAL)[3]).evidence == ("answer_bikes_2",)
    assert gold_of(file.load()[3]).evidence == ("answer_bikes_1", "answer_bikes_2")


@pytest.mark.parametrize("protocol", [OFFICIAL, ALL_TURNS, JUDGED])
def test_at_turn_granularity_evidence_is_the_marked_turns(protocol):
    """As episodes and as turns, and every one of them is ingested."""
    for scenario in sample(protocol, granularity="turn").values():
        gold = gold_of(scenario)
        assert gold.evidence == gold.evidence_turns
        assert set(gold.evidence) <= set(names(scenario))
        assert bool(gold.evidence) == gold.scorable


def test_at_turn_granularity_a_question_without_a_marked_turn_is_not_scored(file):
    """There is no turn to find."""
    for turn in file.data[1]["haystack_sessions"][0]:
        turn["has_answer"] = False
    gold = gold_of(file.load(granularity="turn")[1])
    assert (gold.scorable, gold.note) == (False, NO_EVIDENCE)
    assert gold_of(file.load()[1]).scorable


def test_both_sessions_of_a_repeated_evidence_id_are_evidence(file):
    """The data names the id, so that neither can be preferred."""
    file.data[0]["haystack_session_ids"][3] = "answer_hurdy_1"
    assert gold_of(file.load()[0]).evidence == ("answer_hurdy_1@2", "answer_hurdy_1@4")


def test_abstention_questions_keep_their_type_and_carry_a_tag():
    """Their gold is the data's explanation, and retrieval is not scored."""
    gold = gold_of(sample()["lm_0008_abs"])
    assert gold.tags == ("abstention",)
    assert gold.category == "multi-session"
    assert isinstance(gold.answer, AbstentionGold)
    assert gold.answer.reason.startswith("The information is not enough.")
    assert (gold.scorable, gold.note) == (False, ABSTAINS)
    assert gold.evidence == ("answer_scope_abs_1", "answer_scope_abs_2")


@pytest.mark.parametrize("protocol", SUITE.protocols)
def test_answers_are_typed_for_the_typed_grader_and_as_worded_for_the_others(protocol):
    """A judge sees what the data says; an integer is text, too."""
    gold = gold_of(sample(protocol)["lm_0004"])
    worded = TextGold(type="text", value="5")
    assert gold.answer == (NumberGold(type="number", value=5) if protocol == TYPED else worded)


# --- what is sent --------------------------------------------------------------------------------


@pytest.mark.parametrize("granularity", ["session", "turn"])
@pytest.mark.parametrize("protocol", [OFFICIAL, ALL_TURNS, TYPED])
def test_no_label_reaches_the_memory_system(protocol, granularity):
    """No evidence mark, no session id, no type, no question id: opaque ids, dates and texts."""
    for name, scenario in sample(protocol, granularity=granularity).items():
        ids = Pseudonyms(1, "sha256:0")
        sent = b"".join(
            episode_message(episode, ids).SerializeToString()
            for episode in episodes_of(scenario.timeline)
        )
        (record,) = [r for r in SAMPLE if r["question_id"] == name]
        labels = ["has_answer", "answer_", "_abs", name, record["question_type"]]
        for label in [*labels, *record["haystack_session_ids"]]:
            assert label.encode() not in sent
        assert all(not episode.metadata for episode in episodes_of(scenario.timeline))


def test_a_mark_changes_nothing_of_the_timeline(file):
    """The digest that keys opaque ids is the same with and without labels."""
    marked = file.load()
    for record in file.data:
        for session in record["haystack_sessions"]:
            for turn in session:
                turn.pop("has_answer", None)
        record["answer_session_ids"] = []
        record["answer"] = "something else"
    unmarked = file.load()
    for before, after in zip(marked, unmarked, strict=True):
        assert list(before.timeline) == list(after.timeline)
        assert before.gold != after.gold


# --- the file ------------------------------------------------------------------------------------

SPOILT = [
    (lambda d: d.append(7), "[8]", "expected dict, got int 7"),
    (lambda d: d[1].pop("question_id"), "[1].question_id", "expected str, got nothing"),
    (lambda d: d[1].update(question_id="lm_0001"), "[1].question_id", "'lm_0001' occurs twice"),
    (lambda d: d[1].update(question_type=""), "[1].question_type", "is empty"),
    (lambda d: d[1].update(question=[]), "[1].question", "expected str, got list []"),
    (lambda d: d[1].update(answer=None), "[1].answer", "expected str, got nothing"),
    (lambda d: d[1].update(answer=True), "[1].answer", "expected str, got bool True"),
    (lambda d: d[1].update(question_date="2024-07-01"), "[1].question_date",
     "'2024-07-01' is not a date like"),
    (lambda d: d[1]["haystack_dates"].__setitem__(1, "2024/13/01 (Mon) 10:00"),
     "[1].haystack_dates[1]", "'2024/13/01 (Mon) 10:00' is not a date like"),
    (lambda d: d[1]["haystack_dates"].pop(), "[1].haystack_sessions",
     "has 3 sessions, 3 ids and 2 dates"),
    (lambda d: d[1].pop("haystack_session_ids"), "[1].haystack_session_ids",
     "expected list, got nothing"),
    (lambda d: d[1]["haystack_session_ids"].__setitem__(2, 4), "[1].haystack_session_ids[2]",
     "expected str, got int 4"),
    (lambda d: d[1]["haystack_sessions"].__setitem__(0, {}), "[1].haystack_sessions[0]",
     "expected list, got dict {}"),
    (lambda d: d[1]["haystack_sessions"][0].__setitem__(1, "hm"),
     "[1].haystack_sessions[0][1]", "expected dict, got str 'hm'"),
    (lambda d: d[1]["haystack_sessions"][0][1].update(role="system"),
     "[1].haystack_sessions[0][1].role", "is 'system', expected 'user' or 'assistant'"),
    (lambda d: d[1]["haystack_sessions"][0][1].pop("content"),
     "[1].haystack_sessions[0][1].content", "expected str, got nothing"),
    (lambda d: d[1]["haystack_sessions"][0][1].update(has_answer="yes"),
     "[1].haystack_sessions[0][1].has_answer", "expected bool, got str 'yes'"),
    (lambda d: d[1].update(answer_session_ids=["gone"]), "[1].answer_session_ids[0]",
     "names session 'gone', which is not in the haystack"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "place", "message"), SPOILT)
def test_a_malformed_file_is_refused_by_file_field_and_value(spoil, place, message, file):
    """By `source`, before anything is planned, and by whoever reads on."""
    spoil(file.data)
    readers: list[Callable[[], object]] = [file.load, file.notes]
    for read in readers:
        with pytest.raises(DataError) as caught:
            read()
        assert caught.value.where == f"{file.path}: {place}"
        assert message in caught.value.message
        assert caught.value.fix


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{not json", "is not JSON"),
        (b'[{"question_id": "a"', "is not JSON"),
        (b"", "is not JSON"),
        (b"{}", "holds no list of questions"),
        (b"[]", "holds no list of questions"),
    ],
)
def test_what_is_not_a_list_of_questions_is_refused(content, message, tmp_path):
    """With the file's name."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        SUITE.source(options(file=path))
    assert caught.value.where == str(path)
    assert caught.value.fix


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'[{"haystack_sessions": ' + b"[" * 100_000,
        b'[{"a": ' + b"[" * 100_000,
        b"[" + b'{"a":' * 100_000,
    ],
)
def test_a_deeply_nested_file_is_refused_before_it_fills_the_memory(content, tmp_path):
    """A hundred kilobytes of brackets took gigabytes: a parser names the place of each."""
    path = tmp_path / "deep.json"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="nested deeper than 64 levels") as caught:
            SUITE.source(options(file=path))
        with pytest.raises(DataError, match="nested deeper") if b"hay" not in content else ok():
            assert "nested deeper" in lint_file(path)[0].message
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
    assert caught.value.where == f"{path}: [0]"
    assert caught.value.fix


def test_a_record_without_an_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    """With its number; records before it do not count towards its length."""
    monkeypatch.setattr("memrig.suites.longmemeval_data._LONGEST", 1 << 20)
    path = tmp_path / "long.json"
    turn = {"role": "user", "content": "x" * 700_000}
    records = [deepcopy(SAMPLE[n]) for n in range(3)]
    for record in records[:2]:
        record["haystack_sessions"][0].append(turn)
    path.write_text(json.dumps(records))
    assert len(list(SUITE.scenarios(options(file=path)))) == 3
    records[1]["haystack_sessions"][0].append(turn)
    path.write_text(json.dumps(records))
    with pytest.raises(DataError, match="a record is longer than 1 MiB") as caught:
        SUITE.source(options(file=path))
    assert caught.value.where == f"{path}: [1]"
    assert caught.value.fix


def test_a_missing_file_is_refused(tmp_path):
    """Never another in its place."""
    with pytest.raises(DataError, match="no such file") as caught:
        SUITE.source(options(file=tmp_path / "none.json"))
    assert caught.value.fix


def test_a_folder_is_no_file(tmp_path):
    """It is called what it is."""
    with pytest.raises(DataError, match="is a folder") as caught:
        SUITE.source(options(file=tmp_path))
    assert caught.value.fix


@pytest.mark.parametrize("variant", ["", "s", "oracle", "m"])
def test_data_that_is_not_here_names_the_command_that_fetches_it(variant, monkeypatch, tmp_path):
    """The variant's own; S where none was chosen."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(PrerequisiteError) as caught:
        SUITE.source(options(variant=variant))
    wanted = variant or "s"
    assert caught.value.where == f"--suite longmemeval --variant {wanted}"
    assert f"`memrig data fetch longmemeval-{wanted}`" in caught.value.fix


def test_a_file_of_ones_own_is_not_taken_for_a_published_one(file):
    """Its hash differs, and the report says so."""
    source = SUITE.source(options(file=file.write()))
    assert source.name == "not the published LongMemEval"
    assert "not the published" in source.notes[0]
    (note, *_) = file.notes(variant="m")
    assert note == ("the file is not the published longmemeval_m_cleaned.json (its sha256 differs)")


def test_the_sample_says_so_everywhere():
    """Nobody can take it for LongMemEval."""
    source = SUITE.source(options(sample=True))
    assert (source.name, source.origin) == ("longmemeval sample", "built in")
    assert "not LongMemEval" in source.notes[0]


def test_the_sample_holds_every_type_and_every_oddity():
    """Six types, two abstentions, and what the published files are odd in."""
    golds = [gold_of(scenario) for scenario in sample().values()]
    assert Counter(g.category for g in golds) == {
        "single-session-user": 2, "single-session-assistant": 1, "single-session-preference": 1,
        "multi-session": 2, "temporal-reasoning": 1, "knowledge-update": 1,
    }  # fmt: skip
    assert sum("abstention" in g.tags for g in golds) == 2
    assert SUITE.source(options(sample=True)).notes[1:] == (
        "sessions whose id their haystack repeats, told apart by position: 2 in 1 haystacks",
        "haystacks not in date order, kept in the file's order: 1",
        "sessions dated after their question, ingested like the others: 1, of 1 questions",
        "turns without text, left out: 3",
        "questions not scored for retrieval (abstention: nothing to find): 2",
    )


def test_a_file_is_hashed_as_it_is_read(file):
    """To its last byte, what follows the list included."""
    path = file.write()
    path.write_text(path.read_text("utf-8") + " \n" * 70_000, "utf-8")
    assert SUITE.source(options(file=path)).sha256 == digest_file(path)


def test_a_large_file_is_never_held_whole(tmp_path):
    """Memory does not grow with the number of questions, whoever reads."""
    record = deepcopy(SAMPLE[0])
    record["haystack_sessions"][0][0]["content"] = "hay " * 100_000
    path = tmp_path / "large.json"
    with path.open("w", encoding="utf-8") as out:
        for number in range(40):
            out.write("," if number else "[")
            out.write(json.dumps(record | {"question_id": f"q{number}"}))
        out.write("]")
    asked = options(file=path)
    gc.collect()
    tracemalloc.start()
    SUITE.source(asked)
    assert len(catalog(SUITE.scenarios(asked))) == 40
    for scenario in SUITE.scenarios(asked):
        spool(scenario, tmp_path / "spool")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 16_000_000
    assert peak < 8_000_000


def test_lint_lists_what_is_odd_and_what_is_wrong(file):
    """A file of this format is known by its first record."""
    odd = lint_file(file.write())
    assert {p.severity for p in odd} == {"warning"}
    assert any("told apart by position" in p.message for p in odd)
    file.data[2]["question"] = ""
    (problem,) = lint_file(file.write())
    assert (problem.severity, problem.message) == ("error", "is empty")
    assert problem.where.endswith("[2].question")


@pytest.mark.parametrize(
    ("protocol", "granularity", "expected"),
    [
        (TYPED, "", 10),
        (JUDGED, "turn", 10),
        (OFFICIAL, "", 50),
        (ALL_TURNS, "session", 50),
        (OFFICIAL, "turn", 200),
    ],
)
def test_retrieval_protocols_look_deeper(protocol, granularity, expected):
    """As deep as their largest k, at least."""
    assert SUITE.top_k_for(options(protocol, granularity=granularity)) == expected
