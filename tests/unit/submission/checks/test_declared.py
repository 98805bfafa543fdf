"""Checks of what a memory system declares: alike in every trial, and as the rig takes it."""

from dataclasses import replace

import pytest

from memrig.model.transcript import CapabilitiesRecord, FilterFieldRecord, ToolRecord
from memrig.submission.checks import declared, timeline
from memrig.submission.checks.times import times_of
from support.evidence import found
from support.happened import changed, of_kind, scored


def with_times(evidence, *trials):
    """The run's grades, with the times of these trials."""
    return replace(evidence.grades, times={trial.name: times_of(trial.records) for trial in trials})


def caught(grades):
    return found(declared.GRADES_CHECKS, "timeline.alike", grades)


@pytest.mark.parametrize("kind", ["searched", "read", "judged", "agent", "native", "good"])
def test_an_honest_run_declares_the_same_everywhere(kind, request):
    """Audits' trials like scored ones, over the wire and in the rig."""
    evidence = request.getfixturevalue(kind)
    grades = with_times(evidence, *evidence.trials)
    assert all(one.declared for one in grades.times.values())
    assert caught(grades) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"max_results": 1},
        {"version": "2"},
        {"optional": ("answer",)},
        {"tools": (ToolRecord(name="hint", description="nine years", input_schema="{}"),)},
        {"limitations": ("none",)},
    ],
    ids=lambda one: next(iter(one)),
)
def test_another_declaration_in_another_trial_is_objected_to(searched, changes):
    """The field is named, with both values."""
    trial, audit = scored(searched), of_kind(searched, "audits")
    odd = changed(trial, CapabilitiesRecord, **changes)
    (objection,) = caught(with_times(searched, audit, odd))
    assert f"trial {trial.name}: declares {next(iter(changes))} " in objection
    assert f"as trial {audit.name} does" in objection


def test_what_may_differ_may(searched):
    """A process names itself anew in every pod; what an endpoint holds may be filtered by."""
    trial, audit = scored(searched), of_kind(searched, "audits")
    other = changed(trial, CapabilitiesRecord, boot_id="another")
    assert caught(with_times(searched, audit, other)) == []
    held = (FilterFieldRecord(name="topic", type="string"),)
    grades = with_times(searched, audit, changed(trial, CapabilitiesRecord, filter_fields=held))
    assert "filter_fields" in caught(grades)[0]
    adapter = grades.run.lock.adapter.model_copy(update={"pod": "endpoint"})
    lock = grades.run.lock.model_copy(update={"adapter": adapter})
    assert caught(replace(grades, run=replace(grades.run, lock=lock))) == []


def test_a_trial_that_never_came_up_declares_nothing(searched):
    """That is a fault, and its own objection."""
    trial = scored(searched)
    bare = replace(trial, records=tuple(one for one in trial.records if one.kind != "capabilities"))
    assert caught(with_times(searched, bare, of_kind(searched, "audits"))) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"max_results": 0}, "0 results at most"),
        ({"name": ""}, "declares no name"),
        ({"boot_id": ""}, "declares no boot_id"),
        ({"search_modes": (), "optional": ()}, "neither a search mode nor answers"),
        ({"limitations": ("none",) * 17}, "17 limitations"),
        ({"limitations": ("x" * 501,)}, "of 501 bytes"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_what_the_rig_would_have_refused_is_objected_to(searched, changes, says):
    """It would never have asked such a memory."""
    trial = changed(scored(searched), CapabilitiesRecord, **changes)
    assert says in found(timeline.TRIAL_CHECKS, "timeline.handshake", trial)[0]
