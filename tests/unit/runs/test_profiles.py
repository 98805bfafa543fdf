"""Profiles: what they freeze, what a run under one is, and what makes its division open."""

import os
from importlib.resources import files
from pathlib import Path

import pytest

from memrig.api import plan, runs_of
from memrig.errors import PrerequisiteError, UsageError
from memrig.model.canonical import canonical_json, digest_of
from memrig.model.trial import AnswerSpec
from memrig.runs.config import RunConfig, parse_deadlines
from memrig.runs.lock import Lock
from memrig.runs.profiles import (
    ProfileSuite,
    differences,
    division_label,
    division_of,
    load_profile,
    only_one,
    profile_digest,
    profile_names,
    profiled,
)
from support.plans import execution, small_lock
from support.profiles import official_v1
from support.scenarios import small_scenario

OFFICIAL = load_profile("official-v1")


def lock_of(folder: Path, **changes: object) -> Lock:
    """A lock that is the profile's practical suite to the letter, but for `changes`."""
    suite = OFFICIAL.suite_of("no-key", "practical")
    assert suite is not None
    frozen = {name: getattr(suite, name) for name in type(suite).model_fields if name != "data"}
    lock = small_lock(folder, small_scenario("one"))
    data = lock.data.model_copy(update=suite.data.model_dump())
    made = {
        **frozen,
        "data": data,
        "profile": OFFICIAL.name,
        "profile_digest": profile_digest(OFFICIAL),
        "adapter": lock.adapter.model_copy(update={"pod": "docker"}),
        **changes,
    }
    return lock.model_copy(update=made)


def test_the_profile_is_what_the_suites_make_of_its_choices():
    """Drift of data, prompts, graders, prices or defaults is another profile, never this one."""
    made = official_v1()
    path = Path(str(files("memrig.runs") / "official-v1.json"))
    if os.environ.get("MEMRIG_UPDATE_GOLDEN") == "1":
        path.write_bytes(made.model_dump_json(indent=1).encode() + b"\n")
        load_profile.cache_clear()
    assert load_profile("official-v1") == made


def test_the_hash_is_of_the_content():
    """Whoever changes one value has another profile, under the same name too."""
    assert profile_names() == ("official-v1",)
    assert profile_digest(OFFICIAL) == digest_of(OFFICIAL)
    assert canonical_json(OFFICIAL)
    other = OFFICIAL.model_copy(update={"cpus": 8.0})
    assert profile_digest(other) != profile_digest(OFFICIAL)


def test_a_run_to_the_letter_is_closed(tmp_path):
    """No difference, and a label that says so."""
    lock = lock_of(tmp_path)
    assert differences(lock, OFFICIAL) == ()
    assert division_of(lock) == "closed"
    assert division_label(lock) == "closed division: official-v1, no-key"


def test_models_that_their_provider_did_not_serve_open_the_division(tmp_path):
    """The profile names a provider's model; a server of the user's own may be any."""
    lock, other = lock_of(tmp_path), (execution(), execution(elsewhere=("gpt-4o",)))
    said = "gpt-4o: its provider → an address of the user's own"
    assert differences(lock, OFFICIAL, other) == (said,)
    assert division_of(lock, other) == "open"
    assert division_label(lock, other) == f"open division of official-v1, no-key: {said}"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"top_k": 20}, "top_k: 10 → 20"),
        ({"seeds": (1,)}, "seeds: [2026] → [1]"),
        ({"repeats": 3}, "repeats: 1 → 3"),
        ({"limit": 10}, "limit: None → 10"),
        ({"isolation": "pooled"}, "isolation: 'fresh' → 'pooled'"),
        ({"audit": False}, "audit: True → False"),
        ({"audits": False}, "audits: True → False"),
        ({"protocol": "practical-answers"}, "protocol: 'practical' → 'practical-answers'"),
        ({"mode": "reader"}, "mode: 'retrieval' → 'reader'"),
        ({"sample": True}, "sample: False → True"),
        ({"options": {"labels": "audited"}}, "options.labels: None → 'audited'"),
        ({"judge": "gpt-4o"}, "judge: '' → 'gpt-4o'"),
        ({"prices": "sha256:00"}, f"prices: {OFFICIAL.prices!r}"[:30]),
        ({"profile_digest": "sha256:00"}, "profile: "),
        ({"tier": "keyed"}, "suite: official-v1 has none called 'practical' in the tier 'keyed'"),
    ],
)
def test_any_override_makes_the_division_open(tmp_path, changes, said):
    """And is named, with the profile's value first."""
    lock = lock_of(tmp_path, **changes)
    assert division_of(lock) == "open"
    found = differences(lock, OFFICIAL)
    assert any(line.startswith(said) for line in found), found
    assert division_label(lock).startswith("open division of official-v1")


def test_nested_values_are_named_one_by_one(tmp_path):
    """A deadline, a budget, the data's hash, the pod, what its containers ask for."""
    lock = lock_of(tmp_path)
    slow = lock.deadlines.model_copy(update={"search": 60.0})
    data = lock.data.model_copy(update={"sha256": "sha256:00"})
    process = lock.adapter.model_copy(update={"pod": "process"})
    assert differences(lock_of(tmp_path, deadlines=slow), OFFICIAL) == (
        "deadlines.search: 10.0 → 60.0",
    )
    assert differences(lock_of(tmp_path, data=data), OFFICIAL)[0].startswith("data.sha256: ")
    assert differences(lock_of(tmp_path, adapter=process), OFFICIAL) == (
        "pod: 'docker' → 'process'",
    )


def test_a_pod_that_asks_for_more_than_the_profile_gives_is_open(tmp_path):
    """All of its containers together."""
    lock = lock_of(tmp_path)
    manifest = lock.adapter.manifest
    assert manifest is not None
    large = manifest.image.resources.model_copy(update={"cpus": 5.0, "memory": 9 * 1024**3})
    image = manifest.image.model_copy(update={"resources": large})
    manifest = manifest.model_copy(update={"image": image})
    greedy = lock.adapter.model_copy(update={"manifest": manifest})
    assert differences(lock_of(tmp_path, adapter=greedy), OFFICIAL) == (
        "cpus: at most 4 → 5",
        f"memory: at most {OFFICIAL.memory_bytes} bytes → {9 * 1024**3}",
    )


def test_no_profile_is_open_and_says_nothing(tmp_path):
    """A run that never claimed to be official is no worse for it."""
    lock = lock_of(tmp_path, profile="", profile_digest="", tier="")
    assert (division_of(lock), division_label(lock)) == ("open", "")
    strange = lock_of(tmp_path, profile="mine")
    assert division_of(strange) == "open"
    assert "not known here" in division_label(strange)


def test_a_profile_stands_for_the_suites_of_its_tier():
    """One configuration each, in its order, below the folder that was given."""
    runs = profiled(RunConfig(adapter="images/bm25", profile="official-v1", out=Path("o")))
    assert [one.suite for one in runs] == ["practical", "longhorizon", "longitudinal"]
    assert [one.out for one in runs] == [Path("o") / one.suite for one in runs]
    assert {(one.pod, one.audits, one.tier) for one in runs} == {("docker", True, "no-key")}
    assert runs[1].turns == 1000
    assert runs[2].reader_model == "local/extractive"
    keyed = profiled(RunConfig(adapter="images/bm25", profile="official-v1", tier="keyed"))
    assert [one.suite for one in keyed] == ["longmemeval", "locomo", "longhorizon", "longitudinal"]
    assert all(one.judge_model for one in keyed)


def test_what_is_chosen_goes_before_the_profile():
    """One suite, another top_k, a process pod."""
    config = RunConfig(
        adapter="images/bm25", profile="official-v1", suite="practical", top_k=5, pod="process"
    )
    (one,) = profiled(config)
    assert (one.suite, one.top_k, one.pod, one.audits) == ("practical", 5, "process", True)


def test_a_default_that_is_chosen_goes_before_the_profile_too():
    """No audits: the profile has them, and the run says that it has not."""
    given = {"adapter": "images/bm25", "profile": "official-v1", "suite": "practical"}
    (one,) = profiled(RunConfig(**given, audits=False, pod="auto"))
    assert (one.audits, one.pod) == (False, "auto")


def test_a_deadline_that_is_chosen_leaves_the_others():
    """The profile's hold where none was named."""
    given = {"adapter": "images/bm25", "profile": "official-v1", "suite": "practical"}
    (one,) = profiled(RunConfig(**given, deadlines=parse_deadlines(["search=60"])))
    suite = OFFICIAL.suite_of("no-key", "practical")
    assert suite is not None
    assert one.deadlines == suite.deadlines.model_copy(update={"search": 60.0})


@pytest.mark.parametrize("tier", ["no-key", "keyed"])
def test_a_run_of_a_profile_stands_for_itself(tier):
    """Asking twice what it stands for changes nothing."""
    config = RunConfig(adapter="images/bm25", profile="official-v1", tier=tier, out=Path("o"))
    for one in profiled(config):
        assert profiled(one) == (one,)
        assert only_one(one) == one


def test_one_run_is_none_of_several():
    """Whoever asks for a single run of a whole tier is told which there are."""
    with pytest.raises(UsageError, match="practical, longhorizon, longitudinal"):
        only_one(RunConfig(adapter="images/bm25", profile="official-v1"))


def test_a_suite_of_the_other_tier_is_pointed_to():
    """The fix names the tier that has it."""
    config = RunConfig(adapter="images/bm25", profile="official-v1", suite="locomo")
    with pytest.raises(UsageError) as caught:
        profiled(config)
    assert caught.value.fix == "give --tier keyed"


def test_a_run_of_no_profile_is_held_against_the_suite_it_is_nearest_to(tmp_path):
    """Of two tiers that have its suite, the one with fewer differences."""
    lock = lock_of(tmp_path, profile="", profile_digest="", tier="", top_k=5)
    assert differences(lock, OFFICIAL) == (
        "profile: 'official-v1' → ''",
        "top_k: 10 → 5",
    )
    keyed = OFFICIAL.suite_of("keyed", "longhorizon")
    assert keyed is not None
    like = {name: getattr(keyed, name) for name in ("protocol", "grader", "mode", "answer")}
    lock = lock_of(tmp_path, profile="", tier="", suite="longhorizon", **like)
    assert not any(line.startswith("protocol") for line in differences(lock, OFFICIAL))


def test_models_without_a_price_table_are_open(tmp_path):
    """Every run that calls models names the prices that its costs are reckoned by."""
    lock = lock_of(tmp_path, answer=AnswerSpec(model="gpt-4o"), prices="")
    assert any(line.startswith("prices: ") for line in differences(lock, OFFICIAL))
    assert differences(lock_of(tmp_path, prices=OFFICIAL.prices), OFFICIAL) == ()


#: What of a lock no profile freezes: where and with what it ran, and what follows from the rest.
FREE = {
    "format",
    "memrig_version",
    "contract",
    "adapter",
    "scenarios",
    "notes",
    "machine",
    "profile",
    "profile_digest",
    "prices",
    "tier",
}


def test_every_input_of_a_run_is_frozen_or_free():
    """A new field of the lock is thought about before it can make runs unlike unseen."""
    frozen = set(ProfileSuite.model_fields)
    assert frozen - {"tier"} <= set(Lock.model_fields)
    assert set(Lock.model_fields) - frozen == FREE - {"tier"}


def test_data_that_is_not_here_is_found_out_before_the_first_suite(tmp_path, monkeypatch):
    """A run of hours does not end at its last suite for want of a file."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    config = RunConfig(adapter="images/bm25", profile="official-v1", tier="keyed")
    with pytest.raises(PrerequisiteError, match="not on this machine"):
        runs_of(config)


def test_a_plan_under_a_profile_is_the_profiles(tmp_path):
    """In the Python API as on the command line: everything that was not chosen."""
    config = RunConfig(
        adapter="baseline:oracle", profile="official-v1", suite="practical", limit=6,
        out=tmp_path / "run",
    )  # fmt: skip
    lock = plan(config).lock
    assert (lock.profile, lock.tier, lock.top_k) == ("official-v1", "no-key", 10)
    assert lock.profile_digest == profile_digest(OFFICIAL)
    assert set(differences(lock, OFFICIAL)) == {
        "pod: 'docker' → 'baseline'",
        "limit: None → 6",
        "audit: True → False",
        "audits: True → False",
    }


def test_a_baseline_needs_no_pod():
    """It lives in the rig; the division is open all the same."""
    (one, *_) = profiled(RunConfig(adapter="baseline:oracle", profile="official-v1"))
    assert one.pod == "auto"


def test_without_a_profile_a_configuration_stands_for_itself():
    """Nothing is changed."""
    config = RunConfig(adapter="images/bm25")
    assert profiled(config) == (config,)


@pytest.mark.parametrize(
    "given",
    [
        {"profile": "official-v9"},
        {"tier": "keyed"},
        {"profile": "official-v1", "suite": "operations"},
    ],
)
def test_what_a_profile_does_not_have_is_refused(given):
    """Naming the flag and what there is."""
    with pytest.raises(UsageError) as caught:
        profiled(RunConfig(adapter="images/bm25", **given))
    assert caught.value.fix
    assert caught.value.where.startswith("--")
