"""Checks of the seeds: what is drawn and made from them, and that none is idle."""

from collections.abc import Iterator

from memrig.errors import UsageError
from memrig.runs.config import MAX_SEED
from memrig.submission.checks.base import Check, RunEvidence, at
from memrig.submission.model import Found
from memrig.suites.base import load_suite


def _lawful(run: RunEvidence) -> Iterator[Found]:
    where, seeds = at(f"run {run.name}", "lock.seeds"), run.lock.seeds
    if len(set(seeds)) < len(seeds):
        yield Found(where=where, message=f"a seed stands there twice: {seeds}")
    for seed in seeds:
        if not 0 <= seed <= MAX_SEED:
            yield Found(where=where, message=f"{seed} is no seed: it must be from 0 to {MAX_SEED}")
    if run.lock.adapter.pod == "given" and len(seeds) > 1:
        yield Found(where=where, message="answers in a file are to the questions of one seed")


def _used(run: RunEvidence) -> Iterator[Found]:
    for seed in run.lock.seeds:
        if not run.lock.of_seed(seed):
            where = at(f"run {run.name}", "lock.scenarios")
            yield Found(where=where, message=f"no scenario runs under seed {seed}")
    for ref in run.lock.scenarios:
        if ref.seed is not None and ref.seed not in run.lock.seeds:
            where = at(f"run {run.name}", f"scenario {ref.scenario_id}")
            message = f"is made from seed {ref.seed}, which the run does not have"
            yield Found(where=where, message=message)


def _made(run: RunEvidence) -> Iterator[Found]:
    try:
        made = load_suite(run.lock.suite).made_of_seeds
    except UsageError:
        return  # `config.suite` says so
    for ref in run.lock.scenarios if made else ():
        if ref.seed is None:
            where = at(f"run {run.name}", f"scenario {ref.scenario_id}")
            yield Found(
                where=where, message=f"{run.lock.suite} makes it from a seed; it names none"
            )


RUN_CHECKS: tuple[Check[RunEvidence], ...] = (
    Check(
        "seeds.lawful",
        "Seeds are distinct whole numbers that hash alike everywhere",
        "one lucky seed, counted twice",
        _lawful,
    ),
    Check(
        "seeds.used",
        "Every seed has scenarios, and every scenario one of the seeds",
        "seeds that are claimed and never run",
        _used,
    ),
    Check(
        "seeds.made",
        "A made scenario names the seed that it was made from",
        "one made world, passed off as the same under every seed",
        _made,
    ),
)
