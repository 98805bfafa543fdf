"""The suite `longitudinal`: a scope is a scenario, and questions stand at their checkpoints."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from memrig.errors import DataError, PrerequisiteError, UsageError, VerificationError
from memrig.model.canonical import digest_bytes
from memrig.model.gold import TextGold
from memrig.model.scenario import Question, Scenario, episodes_of, questions_of
from memrig.suites import longitudinal_shipped
from memrig.suites.base import SuiteOptions, check_options
from memrig.suites.lint import lint_file
from memrig.suites.longitudinal import SUITE
from memrig.suites.longitudinal_shipped import shipped
from support.data import data_file
from support.longitudinal import dataset, episode, question

SAMPLE = SuiteOptions("lens-v1", sample=True)


@pytest.fixture
def options(tmp_path):
    """Options for a dataset of the test's own."""

    def made(raw: object, **changes: object) -> SuiteOptions:
        path = tmp_path / "mine.json"
        path.write_text(json.dumps(raw), "utf-8")
        return replace(SuiteOptions("lens-v1", file=path), **changes)

    return made


def lens(name: str, **changes: object) -> SuiteOptions:
    return replace(SuiteOptions("lens-v1", file=data_file(f"lens/{name}.json")), **changes)


def names(scenario: Scenario) -> list[str]:
    return [e.question_id if isinstance(e, Question) else e.episode_id for e in scenario.timeline]


def test_a_question_stands_right_behind_the_episode_of_its_checkpoint(options):
    """In file order where several do, with that episode's time."""
    raw = dataset("one", "two")
    raw["questions"].insert(0, question("one", 9, 2))
    first, second = SUITE.scenarios(options(raw))
    assert names(first) == [
        "one_ep_001", "one_ep_002", "one_q9", "one_q1", "one_ep_003", "one_ep_004", "one_q2",
    ]  # fmt: skip
    assert names(second)[2] == "two_q1"
    asked = [item.asked_at for item in questions_of(first.timeline)]
    assert [stamp.day for stamp in asked if stamp] == [2, 2, 4]


def test_gold_holds_type_answer_facts_and_the_evidence_before_the_checkpoint(options):
    """What comes later is required of nobody; without any, retrieval is not scored."""
    raw = dataset()
    raw["questions"][0]["ground_truth"]["required_evidence_refs"] = ["one_ep_003", "one_ep_001"]
    raw["questions"][1]["ground_truth"]["required_evidence_refs"] = []
    (scenario,) = SUITE.scenarios(options(raw))
    first, second = scenario.gold["one_q1"], scenario.gold["one_q2"]
    assert (first.category, first.evidence, first.scorable) == (
        "null_hypothesis", ("one_ep_001",), True,
    )  # fmt: skip
    assert first.answer == TextGold(type="text", value="Entry 2 was made.", key_facts=("entry 2",))
    assert (second.evidence, second.scorable) == ((), False)
    assert second.note == "the data names no evidence before the checkpoint"
    assert any("required of nobody: 1 (one_q1: one_ep_003)" in note for note in scenario.notes)


def test_an_episode_carries_no_label(options):
    """Its id (made opaque on the way), time and text are all there is."""
    raw = dataset()
    raw["scopes"][0]["episodes"][0]["meta"] = {"episode_type": "signal", "phase": "baseline"}
    (scenario,) = SUITE.scenarios(options(raw))
    for item in episodes_of(scenario.timeline):
        assert (item.metadata, item.turns, item.media_type) == ({}, (), "text/plain")


def test_a_scope_that_nothing_is_asked_about_is_left_out(options):
    """There is nothing to measure."""
    raw = dataset("one", "two")
    raw["questions"] = raw["questions"][2:]
    assert [item.scenario_id for item in SUITE.scenarios(options(raw))] == ["two"]


def test_the_source_is_the_files_content_and_never_taken_for_the_shipped_data(options):
    """Whatever it calls itself."""
    raw = dataset() | {"format": "memrig.longitudinal/1", "name": "longitudinal-40"}
    source = SUITE.source(options(raw))
    assert (source.name, source.origin) == ("file longitudinal-40", "mine.json")
    assert SUITE.source(options(dataset())).name == "LENS 1"


def test_what_cannot_be_measured_is_said_of_the_data(options):
    """In every report."""
    raw = dataset()
    raw["questions"][0]["ground_truth"]["key_facts"] = []
    notes = SUITE.source(options(raw)).notes
    assert notes == ("no control question has key facts: longitudinal_advantage is n/a",)


def test_what_reading_passed_over_is_said_of_the_data(options):
    """A misspelt member would be lost in silence."""
    raw = dataset()
    raw["scopes"][0]["episodes"][0]["metas"] = {}
    (note,) = SUITE.source(options(raw)).notes
    assert note == "episode: member 'metas' is none of the format's and is ignored (1 times)"


def test_a_spoilt_file_is_refused_by_source_and_scenarios_alike(options):
    """Before anything starts."""
    chosen = options(dataset() | {"questions": []})
    for ask in (SUITE.source, lambda o: list(SUITE.scenarios(o))):
        with pytest.raises(DataError, match="is empty") as caught:
            ask(chosen)
        assert caught.value.where == f"{chosen.file}: questions"


def test_distractors_of_the_file_are_interleaved_and_said_to_be(options):
    """The name of the data says so too: it is another dataset."""
    raw = dataset()
    raw["scopes"][0]["episodes"] += [episode("one", n, "distractor") for n in (5, 6)]
    (scenario,) = SUITE.scenarios(options(raw, distractors=0.25))
    assert "one: 4 signal episodes, interleaved with 1 of 2 distractors" in scenario.notes
    assert len(list(episodes_of(scenario.timeline))) == 5
    assert SUITE.source(options(raw, distractors=0.25)).name == "LENS 1, other distractors"
    with pytest.raises(UsageError, match="4 signal episodes and 2 distractors, 4 were asked for"):
        SUITE.source(options(raw, distractors=1))


def test_data_of_ones_own_and_a_variant_are_not_chosen_together(options):
    """One of the two would be ignored."""
    with pytest.raises(UsageError, match="exclude each other") as caught:
        SUITE.source(options(dataset(), variant="120"))
    assert caught.value.where == "--variant 120"


def test_distractors_come_from_another_file_that_needs_no_questions(options, tmp_path):
    """All of it where no ratio is given."""
    other = dataset("other")
    del other["questions"]
    (tmp_path / "other.json").write_text(json.dumps(other), "utf-8")
    chosen = options(dataset(), distractor_file=tmp_path / "other.json")
    (scenario,) = SUITE.scenarios(chosen)
    found = [item.episode_id for item in episodes_of(scenario.timeline)]
    assert sorted(found) == [f"{s}_ep_00{n}" for s in ("one", "other") for n in range(1, 5)]
    spoilt = tmp_path / "none.json"
    with pytest.raises(DataError, match="no such file") as caught:
        SUITE.source(replace(chosen, distractor_file=spoilt))
    assert caught.value.where == f"--distractor-file {spoilt}"


def test_the_sample_has_no_defect_and_says_what_it_is():
    """One scope, eight episodes, control questions with facts."""
    (scenario,) = SUITE.scenarios(SAMPLE)
    assert scenario.notes == ()
    assert len(list(episodes_of(scenario.timeline))) == 8
    control = [g for g in scenario.gold.values() if g.category == "null_hypothesis"]
    assert control
    assert len(scenario.gold) == 6
    source = SUITE.source(SAMPLE)
    assert (source.name, source.origin) == ("longitudinal sample", "built in")
    assert source.notes == ("the built-in sample: one invented scope of eight episodes",)


def test_every_figure_of_the_samples_answers_stands_in_their_evidence():
    """Its gold can be found by who reads it."""
    (scenario,) = SUITE.scenarios(SAMPLE)
    texts = {item.episode_id: item.text for item in episodes_of(scenario.timeline)}
    for gold in scenario.gold.values():
        seen = " ".join(texts[name] for name in gold.evidence)
        assert isinstance(gold.answer, TextGold)
        for fact in gold.answer.key_facts:
            figures = [w for w in fact.split() if w[0].isdigit() and "." in w]
            assert all(figure in seen for figure in figures), (gold.question_id, fact)


def test_the_defaults_of_the_suite_fit_the_composite():
    """Answers must be able to cite; the gate asks for it."""
    check_options(SUITE, SuiteOptions("lens-v1"))
    assert (SUITE.modes[0], SUITE.prompt, SUITE.top_k) == ("agent", "cited", 10)
    assert "retrieval" not in SUITE.modes


SHIPPED = json.dumps(dataset()).encode()


@pytest.fixture
def version(tmp_path) -> Path:
    """A folder of shipped data: one file and its sums."""
    (tmp_path / "40.json").write_bytes(SHIPPED)
    value = digest_bytes(SHIPPED).removeprefix("sha256:")
    (tmp_path / "SHA256SUMS").write_text(f"{value}  40.json\n{'0' * 64}  provenance.json\n")
    return tmp_path


def test_shipped_data_are_read_if_their_sha256_is_right(version):
    """Compared at every reading."""
    assert shipped("40", version) == SHIPPED


def test_shipped_data_that_were_changed_are_refused(version):
    """An editor's white space suffices."""
    (version / "40.json").write_bytes(SHIPPED + b"\n")
    with pytest.raises(VerificationError, match=r"40\.json is not as it was shipped"):
        shipped("40", version)


@pytest.mark.parametrize("missing", ["40.json", "SHA256SUMS"])
def test_shipped_data_that_are_missing_are_named_with_the_way_to_get_them(version, missing):
    """An installation may leave them out."""
    (version / missing).unlink()
    with pytest.raises(PrerequisiteError, match="not part of this installation") as caught:
        shipped("40", version)
    assert caught.value.where == "--suite longitudinal --variant 40"
    assert "--file" in caught.value.fix


def test_a_copy_of_shipped_data_is_known_by_its_content(version, options, monkeypatch):
    """As the dataset that it is."""
    monkeypatch.setattr(longitudinal_shipped, "folder", lambda: version.parent)
    monkeypatch.setattr(longitudinal_shipped, "VERSION", version.name)
    assert SUITE.source(options(dataset())).name == "longitudinal-40"


REFS = "ground_truth.required_evidence_refs"
REFUSED = [
    ("scope_12_isolated", 31, f"question 'tc12_q01_longitudinal': {REFS}",
     "names 'therapy_chat_12_ep_006', which is no episode of scope 'tc12_isolated'"),
    ("scope_13_only", 1, "questions", "the section is missing"),
    ("scope_16_with_distractors", 20, "episode 'parking_friction_16_dx_001': timestamp",
     "'2025-01-06T00:00:00T10:30:00' is no ISO 8601 date and time"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "count", "where", "message"), REFUSED)
def test_a_broken_file_of_lens_is_refused_by_its_defect(name, count, where, message):
    """The three that LENS's own loader takes, or trips over in a run."""
    errors = [p for p in lint_file(data_file(f"lens/{name}.json")) if p.severity == "error"]
    assert (len(errors), errors[0].where, errors[0].message) == (count, where, message)
    with pytest.raises(DataError, match=message[:30]) as caught:
        SUITE.source(lens(name))
    assert where in caught.value.where
    assert (f"and {count - 1} more" in caught.value.message) == (count > 1)


ACCEPTED = [
    ("scope_01_only", {"cascading_failure_01": (30, 24)}),
    ("scope_01_with_distractors", {"cascading_failure_01": (120, 24)}),
    ("scope_16_only", {"parking_friction_16": (20, 10)}),
    ("smoke_dataset", {"smoke_therapy_01": (10, 3), "smoke_product_01": (5, 3)}),
]


@pytest.mark.parametrize(("name", "scopes"), ACCEPTED)
def test_a_sound_file_of_lens_is_read_whole(name, scopes):
    """Episodes and questions as LENS counts them."""
    found = {
        item.scenario_id: (len(list(episodes_of(item.timeline))), len(item.gold))
        for item in SUITE.scenarios(lens(name))
    }
    assert found == scopes


def test_lens_distractors_taken_out_give_back_the_scope_without_them():
    """Order, times, questions, checkpoints and gold."""
    (plain,) = SUITE.scenarios(lens("scope_01_only"))
    (cleared,) = SUITE.scenarios(lens("scope_01_with_distractors", distractors=0))
    assert list(cleared.timeline) == list(plain.timeline)
    assert cleared.gold == plain.gold


@pytest.mark.parametrize("ratio", [0.5, 1, 3])
def test_lens_distractors_can_be_thinned_out(ratio):
    """Each question's evidence stays before it."""
    (plain,) = SUITE.scenarios(lens("scope_01_only"))
    (mixed,) = SUITE.scenarios(lens("scope_01_with_distractors", distractors=ratio))
    assert len(list(episodes_of(mixed.timeline))) == 30 + ratio * 30
    assert mixed.gold == plain.gold
