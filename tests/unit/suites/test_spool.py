"""Scenarios on disk: content-addressed, gold aside, any change seen."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memrig.client.convert import episode_message
from memrig.client.ids import Pseudonyms
from memrig.errors import DataError, VerificationError
from memrig.model.canonical import digest_file
from memrig.model.gold import EntityGold, Gold
from memrig.model.scenario import Episode, Event, Question, Scenario, Turn, UsageProbe
from memrig.suites.checks import MAX_EPISODE_BYTES, MAX_METADATA, MAX_QUERY_BYTES
from memrig.suites.spool import SpooledScenario, spool
from support.scenarios import FACTS, QUESTIONS, small_scenario


def events_file(folder, ref):
    return folder / f"{ref.digest.removeprefix('sha256:')}.jsonl"


def gold_file(folder, ref):
    return folder / f"{ref.gold_digest.removeprefix('sha256:')}.gold.jsonl"


def test_a_scenario_comes_back_as_it_went_in(tmp_path):
    """Events in order, gold by question."""
    scenario = small_scenario(halves=True)
    spooled = SpooledScenario(tmp_path, spool(scenario, tmp_path))
    assert list(spooled.events()) == list(scenario.timeline)
    assert spooled.gold() == scenario.gold
    assert dict(spooled.truth()[1]) == FACTS


def test_a_timeline_tells_whether_it_has_probes(tmp_path):
    """A text that looks like one is none."""
    plain = small_scenario()
    like = Episode(episode_id="e9", text='"type":"probe"', metadata={"type": "probe"})
    looks = Scenario("looks", [*plain.timeline, like], plain.gold)
    probed = Scenario("probed", [*plain.timeline, UsageProbe(probe_id="u")], plain.gold)
    found = [SpooledScenario(tmp_path, spool(one, tmp_path)) for one in (plain, looks, probed)]
    assert [scenario.has_probes for scenario in found] == [False, False, True]


def test_files_are_named_by_their_content(tmp_path):
    """The digest is that of the bytes."""
    ref = spool(small_scenario(), tmp_path)
    assert (ref.episodes, ref.questions) == (4, 4)
    assert digest_file(events_file(tmp_path, ref)) == ref.digest
    assert digest_file(gold_file(tmp_path, ref)) == ref.gold_digest
    assert len(list(tmp_path.iterdir())) == 2


def test_equal_scenarios_have_equal_digests_whatever_they_are_called(tmp_path):
    """A timeline that is a stream or a list, today or tomorrow."""
    one = spool(small_scenario("one"), tmp_path / "a")
    again = small_scenario("two")
    two = spool(Scenario("two", iter(list(again.timeline)), again.gold), tmp_path / "b")
    assert (one.digest, one.gold_digest) == (two.digest, two.gold_digest)


def test_the_order_of_the_timeline_counts(tmp_path):
    """Another order is another scenario."""
    assert spool(small_scenario(), tmp_path).digest != (
        spool(small_scenario(halves=True), tmp_path).digest
    )


def test_another_gold_is_the_same_timeline(tmp_path):
    """What is asked of a memory does not depend on what is right."""
    scenario = small_scenario()
    other = {key: gold.model_copy(update={"evidence": ("e9",)}) for key, gold in
             scenario.gold.items()}  # fmt: skip
    one = spool(scenario, tmp_path)
    two = spool(Scenario(scenario.scenario_id, scenario.timeline, other), tmp_path)
    assert one.digest == two.digest
    assert one.gold_digest != two.gold_digest


def test_no_gold_is_in_the_file_that_a_trial_reads(tmp_path):
    """No answer, no category, no evidence, no keyword."""
    marks = {"zanzibar", "secret-category", "ev-17", "quokka", "st-9", "a-note"}
    gold = Gold(
        question_id="q1",
        category="secret-category",
        answer=EntityGold(type="entity", value="zanzibar"),
        evidence=("ev-17",),
        stale=("st-9",),
        keywords=("quokka",),
        note="a-note",
    )
    timeline = [Episode(episode_id="e1", text="x"), Question(question_id="q1", text="where?")]
    ref = spool(Scenario("s", timeline, {"q1": gold}), tmp_path)
    events = events_file(tmp_path, ref).read_text()
    assert {mark for mark in marks if mark in events} == set()
    assert all(mark in gold_file(tmp_path, ref).read_text() for mark in marks)


@pytest.mark.parametrize("kind", ["episode", "question"])
def test_an_id_that_occurs_twice_is_refused(kind, tmp_path):
    """It could not be mapped back."""
    scenario = small_scenario()
    doubled = next(e for e in scenario.timeline if e.type == kind)
    timeline = [*scenario.timeline, doubled]
    with pytest.raises(DataError, match=f"{kind} id .* occurs twice"):
        spool(Scenario("s", timeline, scenario.gold), tmp_path)


def test_an_episode_and_a_question_may_share_an_id(tmp_path):
    """They are told apart by kind."""
    timeline = [Episode(episode_id="x", text="a"), Question(question_id="x", text="b")]
    ref = spool(Scenario("s", timeline, {"x": Gold(question_id="x", category="c")}), tmp_path)
    assert (ref.episodes, ref.questions) == (1, 1)


def refused(timeline: Iterable[Event], folder: Path, **changes: object) -> DataError:
    gold = {"q1": Gold(question_id="q1", category="c", **changes)}
    with pytest.raises(DataError) as caught:
        spool(Scenario("s", timeline, gold), folder)
    assert caught.value.fix
    return caught.value


def encoded(episode: Episode) -> int:
    return episode_message(episode, Pseudonyms(1, "sha256:0")).ByteSize()


def turns(count: int, text: str) -> tuple[Turn, ...]:
    return tuple(Turn(turn_id=str(n), speaker="é", text=text) for n in range(count))


@pytest.mark.parametrize(
    "episode",
    [
        Episode(episode_id="big", text="é" * (MAX_EPISODE_BYTES // 2)),
        Episode(episode_id="big", text="x", turns=turns(2, "é" * (MAX_EPISODE_BYTES // 4))),
        Episode(episode_id="big", text="x", turns=turns(400_000, "")),
        Episode(episode_id="big", text="x", metadata={"k": "v" * MAX_EPISODE_BYTES}),
    ],
    ids=["text", "turns", "ids", "metadata"],
)
def test_an_episode_that_fits_into_no_message_is_refused(episode, tmp_path):
    """By its bytes, with all that goes along; not by its characters."""
    error = refused([episode], tmp_path)
    assert error.where == "scenario 's': episode 'big'"
    assert f"at most {MAX_EPISODE_BYTES} fit" in error.message
    assert error.fix == "split the episode"


def test_an_episode_that_fits_is_taken_and_fits_its_message(tmp_path):
    """The rig's sum is never below what is sent."""
    episode = Episode(
        episode_id="big",
        timestamp=datetime(2025, 1, 1, tzinfo=UTC),
        text="é" * ((MAX_EPISODE_BYTES - 11_200) // 2),
        turns=turns(100, "x"),
        metadata={str(n): "v" for n in range(MAX_METADATA)},
    )
    assert spool(Scenario("s", [episode], {}), tmp_path).episodes == 1
    assert MAX_EPISODE_BYTES - 8_000 < encoded(episode) < MAX_EPISODE_BYTES


@pytest.mark.parametrize("count", [MAX_METADATA, MAX_METADATA + 1])
def test_more_metadata_than_is_ever_sent_is_refused(count, tmp_path):
    """16 entries of it."""
    episode = Episode(episode_id="e1", text="x", metadata={str(n): "" for n in range(count)})
    if count <= MAX_METADATA:
        assert spool(Scenario("s", [episode], {}), tmp_path).episodes == 1
    else:
        error = refused([episode], tmp_path)
        assert error.where == "scenario 's': episode 'e1'"
        assert error.message == "has 17 entries of metadata, at most 16 are sent"


@pytest.mark.parametrize("extra", ["", "x"])
def test_a_question_that_fits_into_no_query_is_refused(extra, tmp_path):
    """64 KiB, by its bytes."""
    timeline = [Question(question_id="q1", text="é" * (MAX_QUERY_BYTES // 2) + extra)]
    if extra:
        error = refused(timeline, tmp_path)
        assert error.where == "scenario 's': question 'q1'"
        assert error.message.startswith("has 65537 bytes of text, at most 65536")
    else:
        gold = {"q1": Gold(question_id="q1", category="c")}
        assert spool(Scenario("s", timeline, gold), tmp_path).questions == 1


HALF = "say \ud83d"
EPISODE = Episode(episode_id="e1", text="x")
QUESTION = Question(question_id="q1", text="?")


@pytest.mark.parametrize(
    ("event", "where"),
    [
        (EPISODE.model_copy(update={"text": HALF}), "episode 'e1': text"),
        (EPISODE.model_copy(update={"episode_id": HALF}), r"episode 'say \ud83d': episode_id"),
        (EPISODE.model_copy(update={"media_type": HALF}), "episode 'e1': media_type"),
        (EPISODE.model_copy(update={"turns": turns(1, HALF)}), "episode 'e1': turns[0].text"),
        (EPISODE.model_copy(update={"metadata": {"k": HALF}}), "episode 'e1': metadata['k']"),
        (EPISODE.model_copy(update={"metadata": {HALF: "v"}}), "episode 'e1': metadata"),
        (QUESTION.model_copy(update={"text": HALF}), "question 'q1': text"),
    ],
)
def test_text_that_cannot_be_utf8_is_refused_by_its_place(event, where, tmp_path):
    """A suite of somebody's may make it of broken JSON."""
    error = refused([event], tmp_path)
    assert error.where == f"scenario 's': {where}"
    assert r"character 4 is '\ud83d', half of a surrogate pair" in error.message
    assert list(tmp_path.iterdir()) == []


def test_gold_that_cannot_be_utf8_is_refused_by_its_question(tmp_path):
    """It is written too."""
    error = refused([QUESTION], tmp_path, note=HALF)
    assert error.where == "scenario 's': question 'q1'"


@pytest.mark.parametrize(("name", "notes"), [(HALF, ()), ("s", (HALF,))])
def test_a_scenario_whose_name_or_note_cannot_be_utf8_is_refused(name, notes, tmp_path):
    """The lock holds both."""
    with pytest.raises(DataError, match="half of a surrogate pair"):
        spool(Scenario(name, [EPISODE], {}, notes), tmp_path)


def test_an_event_that_a_suite_cannot_make_is_the_datas_fault(tmp_path):
    """Not a traceback of the model's checks."""

    def timeline() -> Iterator[Event]:
        yield EPISODE
        yield Episode(episode_id="e2", text=HALF)

    error = refused(timeline(), tmp_path)
    assert error.where == "scenario 's'"
    assert error.message.startswith("Episode.text: Input should be a valid string")
    assert list(tmp_path.iterdir()) == []


def test_a_question_without_gold_is_refused(tmp_path):
    """It could never be graded."""
    with pytest.raises(DataError, match="'q1' has no gold record"):
        spool(Scenario("s", [Question(question_id="q1", text="?")], {}), tmp_path)


def test_a_refused_scenario_leaves_nothing_behind(tmp_path):
    """Written aside, then thrown away."""
    with pytest.raises(DataError):
        spool(Scenario("s", [Question(question_id="q1", text="?")], {}), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("which", [events_file, gold_file])
@pytest.mark.parametrize("harm", ["change", "remove"])
def test_a_change_since_planning_is_seen(which, harm, tmp_path):
    """One byte is enough, in the timeline or in the gold."""
    ref = spool(small_scenario(), tmp_path)
    SpooledScenario(tmp_path, ref).verify()
    path = which(tmp_path, ref)
    if harm == "remove":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes().replace(b"e", b"f", 1))
    with pytest.raises(VerificationError, match="missing or was changed") as caught:
        SpooledScenario(tmp_path, ref).verify()
    assert caught.value.where == str(path)


def test_a_gold_line_that_cannot_be_read_is_named(tmp_path):
    """By file and line."""
    ref = spool(small_scenario(), tmp_path)
    path = gold_file(tmp_path, ref)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:2], b"{}"]))
    with pytest.raises(VerificationError, match="line 3 is not a gold record"):
        SpooledScenario(tmp_path, ref).gold()


def test_only_questions_that_are_asked_have_gold_in_the_spool(tmp_path):
    """A run with --limit grades what it asked."""
    scenario = small_scenario()
    timeline = [e for e in scenario.timeline if e.type == "episode" or e.question_id == "q2"]
    spooled = SpooledScenario(tmp_path, spool(Scenario("s", timeline, scenario.gold), tmp_path))
    assert set(spooled.gold()) == {"q2"}
    assert set(QUESTIONS) > {"q2"}
