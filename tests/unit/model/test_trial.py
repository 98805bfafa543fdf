"""A trial's spec is hashed by content, and its name is safe wherever names are used."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memrig.model.canonical import digest_of
from memrig.model.scenario import ScenarioRef
from memrig.model.trial import PRESETS, AnswerSpec, Budget, Deadlines, Outcome, TrialSpec
from support.fake_memory import fake_adapter


def ref(name: str = "s1", digest: str = "a") -> ScenarioRef:
    return ScenarioRef(
        scenario_id=name,
        digest=f"sha256:{digest * 64}",
        gold_digest=f"sha256:{'b' * 64}",
        episodes=1,
        questions=1,
    )


def spec(**changes: object) -> TrialSpec:
    fields: dict[str, object] = {
        "suite": "practical",
        "protocol": "practical",
        "adapter": fake_adapter(),
        "scenarios": (ref(),),
        "seed": 7,
    }
    return TrialSpec.model_validate(fields | changes)


WORDS = st.text(alphabet="abcdef", min_size=1, max_size=6)
LIMITS = st.floats(min_value=0.001, max_value=9999, allow_nan=False)
CHANGES = {
    "kind": st.just("isolation-audit"),
    "suite": WORDS,
    "protocol": WORDS,
    "adapter": WORDS.map(lambda w: fake_adapter().model_copy(update={"version": w})),
    "scenarios": st.sampled_from([(ref("s2"),), (ref(digest="c"),), (ref(), ref("s2"))]),
    "isolation": st.sampled_from(["reset", "pooled"]),
    "mode": st.sampled_from(["reader", "agent", "native"]),
    "answer": st.builds(AnswerSpec, model=WORDS, context_tokens=st.integers(100, 9999)),
    "naive": st.just(True),
    "seed": st.integers(min_value=0, max_value=2**53 - 1).filter(lambda n: n != 7),
    "repeat": st.integers(min_value=1, max_value=99),
    "top_k": st.integers(min_value=1, max_value=1000).filter(lambda n: n != 10),
    "deadlines": st.builds(Deadlines, search=LIMITS.filter(lambda x: x != 10)),
    "budget": st.builds(Budget, wall_time_s=LIMITS.filter(lambda x: x != 30))
    | st.sampled_from(list(PRESETS.values())),
}


@given(st.data(), st.sampled_from(sorted(CHANGES)))
def test_a_change_of_any_field_is_another_trial(data, field):
    """The name holds the hash of the whole."""
    value = data.draw(CHANGES[field])
    changed = spec(**{field: value})
    assert changed.trial_id != spec().trial_id
    assert changed.trial_id == spec(**{field: value}).trial_id


def test_every_field_that_can_differ_is_tried_above():
    """A new field needs a line of its own; `format` has one value so far."""
    assert set(TrialSpec.model_fields) - {"format"} == set(CHANGES)


def test_a_spec_is_the_same_after_a_round_trip_through_its_file():
    """`memrig trial run SPEC` runs the same trial."""
    again = TrialSpec.model_validate_json(spec().model_dump_json())
    assert digest_of(again) == digest_of(spec())


@given(st.text(max_size=300))
def test_the_name_of_a_trial_is_safe(name):
    """A file name, a label and a shell word, whatever the data calls its scenario."""
    trial_id = spec(scenarios=(ref(name),)).trial_id
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}", trial_id)


def test_the_name_of_a_trial_can_be_read():
    """Scenario, seed, repeat, hash."""
    assert re.fullmatch(r"s1-s7-r2-[0-9a-f]{12}", spec(repeat=2).trial_id)
    assert spec(scenarios=(ref(), ref("s2"))).trial_id.startswith("all-s7-r0-")
    assert spec(kind="isolation-audit").trial_id.startswith("audit-s7-r0-")


@pytest.mark.parametrize(
    "change",
    [{"scenarios": ()}, {"repeat": -1}, {"top_k": 0}, {"mode": "magic"}, {"colour": "red"}],
)
def test_a_spec_that_cannot_be_run_is_refused(change):
    """No scenario, an impossible number, an unknown word."""
    with pytest.raises(ValidationError):
        spec(**change)


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        ("answered", False),
        ("abstained", False),
        ("harness_error", False),
        ("adapter_error", True),
        ("adapter_crashed", True),
        ("timeout", True),
        ("budget_exceeded", False),
    ],
)
def test_whose_fault_an_outcome_is(status, fault):
    """A fault of the rig is never the adapter's."""
    assert Outcome(status=status).adapters_fault is fault
