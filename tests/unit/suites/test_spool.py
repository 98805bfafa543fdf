"""Scenarios on disk: content-addressed, gold aside, any change seen."""

import pytest

from memrig.errors import DataError, VerificationError
from memrig.model.canonical import digest_file
from memrig.model.gold import EntityGold, Gold
from memrig.model.scenario import Episode, Question, Scenario
from memrig.suites.spool import MAX_EPISODE_BYTES, SpooledScenario, spool
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
    assert spooled.episode_texts() == FACTS


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


@pytest.mark.parametrize(("extra", "fits"), [(0, True), (1, False)])
def test_an_episode_that_fits_into_no_message_is_refused(extra, fits, tmp_path):
    """By its bytes, not by its characters."""
    text = "é" * (MAX_EPISODE_BYTES // 2) + "x" * extra
    scenario = Scenario("s", [Episode(episode_id="big", text=text)], {})
    if fits:
        assert spool(scenario, tmp_path).episodes == 1
    else:
        with pytest.raises(DataError, match=f"'big' has {MAX_EPISODE_BYTES + 1} bytes"):
            spool(scenario, tmp_path)


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
