"""Checks of the invocations."""

from dataclasses import replace
from datetime import timedelta

import pytest

from memrig.submission.checks import executions
from support.evidence import found


def with_first(run, **changes):
    first, *rest = run.executions
    return replace(run, executions=(first.model_copy(update=changes), *rest))


def caught(check_id, run):
    return found(executions.RUN_CHECKS, check_id, run)


@pytest.mark.parametrize("check", executions.RUN_CHECKS, ids=lambda check: check.id)
def test_an_honest_run_passes(check, good, answered):
    """Nothing is objected to where nothing is wrong."""
    assert list(check.find(good.run)) == list(check.find(answered.run)) == []


def test_a_run_without_invocations_is_caught(good):
    """Nothing says when and how it was run."""
    assert caught("executions.order", replace(good.run, executions=()))


def test_invocations_at_the_same_time_are_caught(good):
    """A folder is held by one of them."""
    long = good.run.executions[0].model_copy(update={"wall_s": 3600.0})
    second = long.model_copy(update={"started_at": long.started_at + timedelta(minutes=30)})
    run = replace(good.run, executions=(long, second))
    assert caught("executions.order", run) == [
        "run run: executions: number 2 began before the one before it had ended"
    ]
    later = long.model_copy(update={"started_at": long.started_at + timedelta(minutes=90)})
    assert caught("executions.order", replace(good.run, executions=(long, later))) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("wall_s", -1.0),
        ("wall_s", float("nan")),
        ("wall_s", float("inf")),
        ("jobs", 0),
        ("trials_run", 3),
        ("retries", -1),
        ("rig_peak_memory_bytes", 2**60),
    ],
)
def test_figures_that_no_machine_gives_are_caught(good, field, value):
    """Each of them is in a report."""
    (message,) = caught("executions.possible", with_first(good.run, **{field: value}))
    assert f"{field} is {value}" in message


def test_models_called_in_no_known_way_are_caught(good):
    """Neither live nor recorded nor replayed."""
    run = with_first(good.run, llm="from a table")
    assert "'from a table' is no way to call models" in caught("executions.possible", run)[0]


def test_another_kind_of_pod_is_caught(good):
    """A process is no container."""
    assert (
        "ran pods of kind docker" in caught("executions.pod", with_first(good.run, pod="docker"))[0]
    )


def test_trials_that_nobody_finished_are_warned_of(good):
    """A killed invocation looks the same: it is no proof."""
    run = with_first(good.run, trials_run=1)
    assert "finished 1 trials of 2" in caught("executions.accounted", run)[0]
    check = next(c for c in executions.RUN_CHECKS if c.id == "executions.accounted")
    assert check.severity == "warning"


def test_replayed_models_are_objected_to(answered):
    """Their replies are older than the run."""
    run = with_first(answered.run, llm="replay-strict")
    assert "models were replayed" in caught("executions.models-called", run)[0]
