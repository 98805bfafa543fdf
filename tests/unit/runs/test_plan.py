"""From a configuration to a lock and its trials; nothing is started."""

import gc
import json
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from memrig.errors import DataError, UsageError
from memrig.model.canonical import digest_file
from memrig.model.scenario import Episode, Event, Scenario
from memrig.runs import plan as planning
from memrig.runs.config import MAX_SEED, RunConfig
from memrig.runs.plan import Plan, plan, trials_of
from memrig.suites.base import load_suite
from support.longitudinal import dataset
from support.plans import small_lock
from support.scenarios import small_scenario

ADAPTER = str(Path(__file__).parents[3] / "images" / "none")


async def planned(out: Path | None, **changes: object) -> Plan:
    config = {"adapter": ADAPTER, "pod": "process", "suite": "locomo", "sample": True, "out": out}
    return await plan(RunConfig.model_validate(config | changes), lambda _: None)


def test_fresh_gives_each_scenario_a_trial_of_its_own(tmp_path):
    """In the order of the data."""
    trials = trials_of(small_lock(tmp_path))
    assert [[s.scenario_id for s in t.scenarios] for t in trials] == [["one"], ["two"], ["three"]]
    assert {t.isolation for t in trials} == {"fresh"}


def test_reset_gives_one_trial_all_scenarios(tmp_path):
    """One pod, Reset between."""
    (trial,) = trials_of(small_lock(tmp_path, isolation="reset"))
    assert [s.scenario_id for s in trial.scenarios] == ["one", "two", "three"]


def test_pooled_is_one_scenario_and_has_nothing_to_audit(tmp_path):
    """There is no border that a canary could cross."""
    lock = small_lock(tmp_path, small_scenario("pooled"), isolation="pooled", audit=True)
    (trial,) = trials_of(lock)
    assert (trial.kind, trial.isolation) == ("scored", "pooled")


@pytest.mark.parametrize(("isolation", "count"), [("fresh", 9), ("reset", 3)])
def test_repeats_are_trials_of_their_own(isolation, count, tmp_path):
    """With the number of the repeat, and ids that differ."""
    trials = trials_of(small_lock(tmp_path, isolation=isolation, repeats=3))
    assert Counter(t.repeat for t in trials) == dict.fromkeys(range(3), count // 3)
    assert len({t.trial_id for t in trials}) == count


@pytest.mark.parametrize("isolation", ["reset", "pooled"])
async def test_what_measures_its_pod_must_have_it_for_itself(tmp_path, isolation):
    """Nothing may have been in it before."""
    with pytest.raises(UsageError, match=r"measures its pod|has questions or probes between"):
        await planned(
            tmp_path / "run", suite="operations", sample=False, turns=100, isolation=isolation
        )
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("isolation", ["fresh", "reset"])
def test_the_audit_is_a_trial_of_its_own_and_only_one(isolation, tmp_path):
    """Never a scored one, however many repeats there are."""
    trials = trials_of(small_lock(tmp_path, isolation=isolation, repeats=2, audit=True))
    audits = [t for t in trials if t.kind == "isolation-audit"]
    assert len(audits) == 1
    assert audits[0].isolation == isolation
    assert len({t.trial_id for t in trials}) == len(trials)


def test_audits_are_trials_of_single_scenarios_until_there_are_questions_enough(tmp_path):
    """Three scenarios of four questions each: the first two; and once, however many repeats."""
    trials = trials_of(small_lock(tmp_path, repeats=2, audits=True, isolation="reset"))
    audits = [t for t in trials if t.kind == "audits"]
    assert [[ref.scenario_id for ref in t.scenarios] for t in audits] == [["one"], ["two"]]
    assert all(t.trial_id.startswith("audits-") for t in audits)


def test_audits_change_no_other_trial(tmp_path):
    """Scored trials have the same ids with and without them; a pooled memory is not audited."""
    plain = trials_of(small_lock(tmp_path))
    assert [t for t in trials_of(small_lock(tmp_path, audits=True)) if t.kind == "scored"] == [
        *plain
    ]
    assert all(
        t.kind == "scored" for t in trials_of(small_lock(tmp_path, audits=True, isolation="pooled"))
    )


def test_every_trial_carries_what_the_lock_says(tmp_path):
    """Nothing is looked up elsewhere later."""
    lock = small_lock(tmp_path, seeds=(99,), top_k=4)
    for trial in trials_of(lock):
        for field in ("suite", "protocol", "mode", "adapter", "top_k", "deadlines",
                      "budget"):  # fmt: skip
            assert getattr(trial, field) == getattr(lock, field)
        assert trial.seed == 99


async def test_planning_writes_lock_specs_and_scenarios(tmp_path):
    """And leaves nothing else behind."""
    made = await planned(tmp_path / "run")
    assert not made.resumed
    assert sorted(p.name for p in made.directory.root.iterdir()) == [
        "lock.json", "scenarios", "specs",
    ]  # fmt: skip
    assert {s.trial_id for s in made.directory.specs()} == {s.trial_id for s in made.specs}
    assert (made.questions, made.episodes) == (10, 24)
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


async def test_the_same_configuration_resumes(tmp_path):
    """Equal content, equal run."""
    first = await planned(tmp_path / "run")
    second = await planned(tmp_path / "run")
    assert second.resumed
    assert second.specs == first.specs


async def test_another_configuration_is_refused_by_field(tmp_path):
    """Two runs are not mixed."""
    await planned(tmp_path / "run")
    with pytest.raises(UsageError, match=r"seeds\[0\]: 2026 → 7"):
        await planned(tmp_path / "run", seeds=(7,))


async def test_a_folder_with_other_things_in_it_is_refused(tmp_path):
    """Nobody's files are mixed with a run's."""
    (tmp_path / "photo.jpg").touch()
    with pytest.raises(UsageError, match="not empty and holds no run") as caught:
        await planned(tmp_path)
    assert caught.value.where == f"--out {tmp_path}"


async def test_without_out_a_run_is_named_by_its_content(tmp_path, monkeypatch):
    """Below `runs/`: suite, adapter, digest."""
    monkeypatch.chdir(tmp_path)
    made = await planned(None)
    digest = made.lock.digest.removeprefix("sha256:")[:10]
    assert made.directory.root == Path("runs") / f"locomo-none-{digest}"


async def test_a_limit_keeps_every_episode_and_fewer_questions(tmp_path):
    """Stratified: one of each category."""
    made = await planned(tmp_path / "run", limit=5)
    (ref,) = made.lock.scenarios
    assert (ref.episodes, ref.questions) == (24, 5)
    spooled = made.directory.scenario(made.specs[-1], ref.scenario_id)
    assert len({gold.category for gold in spooled.gold().values()}) == 5


async def test_pooling_puts_all_scenarios_into_one(tmp_path):
    """Labelled as such in the lock."""
    made = await planned(
        tmp_path / "run", suite="practical", sample=False, isolation="pooled", limit=12
    )
    (ref,) = made.lock.scenarios
    assert (ref.scenario_id, ref.questions) == ("pooled", 12)
    assert made.lock.isolation == "pooled"


async def test_the_largest_seed_can_be_planned(tmp_path):
    """Canonical JSON carries it, and nothing larger."""
    made = await planned(tmp_path / "run", seeds=(MAX_SEED,))
    assert made.specs[0].seed == 2**53 - 1
    with pytest.raises(ValidationError):
        RunConfig(adapter="x", seeds=(MAX_SEED + 1,))


async def test_scenarios_that_share_an_id_are_refused(tmp_path, monkeypatch):
    """Their grades could not be told apart."""

    def doubled(_suite: object, _options: object) -> list[Scenario]:
        return [small_scenario("same"), small_scenario("same", halves=True)]

    monkeypatch.setattr(type(load_suite("locomo")), "scenarios", doubled)
    with pytest.raises(DataError, match="scenario id 'same' occurs twice"):
        await planned(tmp_path / "run")


async def test_distractors_are_an_input_of_the_run(tmp_path):
    """None of them is a choice as well; a file counts by its content."""
    other = tmp_path / "other.json"
    other.write_text(json.dumps(dataset("other")), "utf-8")
    chosen = {"suite": "longitudinal", "adapter": "baseline:oracle", "pod": "auto"}
    without = await planned(tmp_path / "none", **chosen, distractors=0)
    assert (without.lock.options, without.episodes) == ({"distractors": "0.0"}, 6)
    mixed = await planned(tmp_path / "mixed", **chosen, distractors=0.5, distractor_file=other)
    assert mixed.lock.options == {"distractors": "0.5", "distractor_file": digest_file(other)}
    assert mixed.episodes == 9
    note = "cold-room-sample: 6 signal episodes, interleaved with 3 of 4 distractors"
    assert note in mixed.lock.notes


async def test_questions_between_episodes_are_not_pooled(tmp_path):
    """They would be asked with all that comes later in the memory."""
    chosen = {"suite": "longitudinal", "adapter": "baseline:oracle", "pod": "auto"}
    with pytest.raises(UsageError, match="between its episodes") as caught:
        await planned(tmp_path / "run", **chosen, isolation="pooled")
    assert caught.value.where == "--isolation pooled"
    assert not (tmp_path / "run").exists()


async def test_a_running_endpoint_cannot_be_fresh(tmp_path):
    """Nothing can give it an empty memory but Reset."""
    with pytest.raises(UsageError, match="fresh memory for each scenario") as caught:
        await planned(tmp_path, adapter="grpc://127.0.0.1:1", pod="auto")
    assert "--isolation reset" in caught.value.fix


async def test_a_pod_that_the_adapter_cannot_use_is_refused():
    """An endpoint is not a container."""
    with pytest.raises(UsageError, match="--pod docker cannot take this adapter"):
        await planning.pod_for("grpc://127.0.0.1:1", "docker")


def test_an_unknown_suite_is_refused_with_the_installed_ones():
    """A typing mistake, or a plug-in that is not installed."""
    with pytest.raises(UsageError, match="no suite 'lokomo'") as caught:
        load_suite("lokomo")
    assert (
        "locomo, longhorizon, longitudinal, longmemeval, operations, practical" in caught.value.fix
    )


async def test_a_protocol_without_a_grader_is_refused_before_anything_is_done(
    tmp_path, monkeypatch
):
    """Not after hours, when the report is to be made."""
    monkeypatch.setattr(type(load_suite("locomo")), "protocols", ("nobody-grades-this",))
    monkeypatch.setattr(planning, "resolve", None)
    with pytest.raises(UsageError, match="no grader for protocol 'nobody-grades-this'"):
        await planned(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


async def test_the_lock_names_grader_and_environment(tmp_path):
    """What would change the grades, and what a process pod imports."""
    lock = (await planned(tmp_path / "run")).lock
    assert lock.grader == "locomo-any/2"
    assert lock.plugins == {}
    assert set(lock.adapter.inputs) == {"adapter", "environment"}


@pytest.mark.parametrize("isolation", ["fresh", "pooled"])
async def test_a_value_that_a_suite_cannot_make_an_episode_of_is_the_datas_fault(
    isolation, tmp_path, monkeypatch
):
    """Whichever of the two makes it, the scenario or its stream."""

    def broken(_suite: object, _options: object) -> Iterator[Scenario]:
        yield small_scenario("good")
        yield Scenario("bad", [Episode(episode_id="e1", text="")], {})

    monkeypatch.setattr(type(load_suite("locomo")), "scenarios", broken)
    with pytest.raises(DataError, match=r"Episode\.text: .*at least 1"):
        await planned(tmp_path / "run", isolation=isolation)


class Timeline(list[Event]):
    """A list that a test can see go."""


@pytest.mark.slow
async def test_a_limit_holds_no_dataset_in_memory(tmp_path, monkeypatch):
    """One timeline at a time, however many scenarios there are."""
    made: list[weakref.ref[Timeline]] = []
    alive: list[int] = []

    def scenarios(_suite: object, _options: object) -> Iterator[Scenario]:
        for number in range(6):
            small = small_scenario(f"s{number}")
            timeline = Timeline(small.timeline)
            made.append(weakref.ref(timeline))
            yield Scenario(small.scenario_id, timeline, small.gold)
            del small, timeline
            gc.collect()
            alive.append(sum(ref() is not None for ref in made))

    monkeypatch.setattr(type(load_suite("locomo")), "scenarios", scenarios)
    made_plan = await planned(tmp_path / "run", limit=12)
    assert made_plan.questions == 12
    assert len(made) == 12
    assert max(alive) <= 2
