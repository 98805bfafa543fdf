"""Checks of the seeds."""

from dataclasses import replace

import pytest

from memrig.submission.checks import seeds
from support.evidence import found


def with_lock(run, **changes):
    return replace(run, lock=run.lock.model_copy(update=changes))


def caught(check_id, run):
    return found(seeds.RUN_CHECKS, check_id, run)


@pytest.mark.parametrize("check", seeds.RUN_CHECKS, ids=lambda check: check.id)
def test_an_honest_run_passes(check, good):
    """Nothing is objected to where nothing is wrong."""
    assert list(check.find(good.run)) == []


@pytest.mark.parametrize(
    ("values", "text"),
    [((7, 7), "stands there twice"), ((-1,), "-1 is no seed"), ((2**53,), "is no seed")],
)
def test_seeds_that_are_none_are_caught(good, values, text):
    """Twice the same is one; what hashes otherwise elsewhere is none."""
    assert text in caught("seeds.lawful", with_lock(good.run, seeds=values))[0]


def test_answers_of_several_seeds_are_caught(good):
    """A file answers the questions of one."""
    given = good.run.lock.adapter.model_copy(update={"pod": "given"})
    run = with_lock(good.run, seeds=(1, 2), adapter=given)
    assert "of one seed" in caught("seeds.lawful", run)[0]


def test_a_seed_that_was_never_run_is_caught(good):
    """It is claimed all the same."""
    scenarios = tuple(ref.model_copy(update={"seed": 1}) for ref in good.run.lock.scenarios)
    run = with_lock(good.run, seeds=(1, 2), scenarios=scenarios)
    assert caught("seeds.used", run) == ["run run: lock.scenarios: no scenario runs under seed 2"]


def test_a_scenario_of_a_seed_that_is_not_run_is_caught(good):
    """Nobody would ever see it."""
    first = good.run.lock.scenarios[0].model_copy(update={"seed": 99})
    run = with_lock(good.run, scenarios=(*good.run.lock.scenarios, first))
    assert "made from seed 99" in caught("seeds.used", run)[0]


def test_a_made_world_without_its_seed_is_caught(good):
    """It would run under every seed as if it were another."""
    run = with_lock(good.run, suite="longhorizon")
    assert "longhorizon makes it from a seed" in caught("seeds.made", run)[0]
