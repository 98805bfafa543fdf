"""Checks that a run is all that its lock stands for, and nothing else: no cell left out or added.

What is expected comes from the lock's inputs and the verifier's own copy of the data; the archive
only says what there is.
"""

from collections import Counter
from collections.abc import Iterator

from pydantic import ValidationError

from memrig.model.scenario import ScenarioRef, event_id
from memrig.model.transcript import QuestionRecord
from memrig.model.trial import TrialSpec
from memrig.runs.lock import Lock
from memrig.runs.plan import trials_of
from memrig.submission.checks.base import Check, RunEvidence, TrialEvidence, at, of_trial
from memrig.submission.model import Found

#: What every trial of a run takes over from its lock as it is.
_TAKEN = (
    "suite",
    "protocol",
    "mode",
    "adapter",
    "isolation",
    "top_k",
    "deadlines",
    "budget",
    "answer",
    "naive",
)


#: More trials than any run has: a lock is small, and what it stands for need not be.
MOST_TRIALS = 200_000


def count_of(lock: Lock) -> int:
    """How many scored trials a lock stands for, without making them.

    A lock of a few bytes can stand for more than fits into memory: ask this before `trials_of`.
    """
    seeds = Counter(ref.seed for ref in lock.scenarios)
    each = [seeds[None] + seeds[seed] for seed in lock.seeds]
    groups = len(each) if lock.isolation == "reset" else sum(each)
    return lock.repeats * groups


def _plan(run: RunEvidence) -> tuple[TrialSpec, ...]:
    """The run's trials; none where `cells.sized` objects to them."""
    return () if _no_plan(run.lock) else trials_of(run.lock)


def _no_plan(lock: Lock) -> str:
    """Why a lock stands for no trials that could be; empty where it does."""
    count = count_of(lock)
    if not 0 < count <= MOST_TRIALS:
        return f"{count} scored trials, expected 1 to {MOST_TRIALS}"
    try:  # a lock takes values that its trials do not
        trials_of(lock.model_copy(update={"repeats": 1, "seeds": lock.seeds[:1]}))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        return f"no trial can have this {'.'.join(map(str, first['loc']))}: {first['msg']}"
    return ""


def _sized(run: RunEvidence) -> Iterator[Found]:
    if why := _no_plan(run.lock):
        yield Found(where=at(f"run {run.name}", "lock"), message=why)


def _complete(run: RunEvidence) -> Iterator[Found]:
    here = set(run.trials)
    for spec in _plan(run):
        if spec.trial_id not in here:
            yield Found(
                where=at(f"run {run.name}", f"trial {spec.trial_id}"),
                message="is planned, and missing",
            )


def _only_planned(run: RunEvidence) -> Iterator[Found]:
    planned = {spec.trial_id for spec in _plan(run)}
    for name, count in Counter(run.trials).items():
        where = at(f"run {run.name}", f"trial {name}")
        if name not in planned:
            yield Found(where=where, message="is no trial of this lock")
        elif count > 1:
            yield Found(where=where, message=f"is there {count} times")


def _data(run: RunEvidence) -> Iterator[Found]:
    claimed = run.lock.data.sha256
    if claimed != run.data:
        message = f"the lock names data {claimed}, the verifier's has {run.data}"
        yield Found(where=at(f"run {run.name}", "lock.data.sha256"), message=message)


def _described(run: RunEvidence) -> Iterator[Found]:
    where, lock, source = at(f"run {run.name}", "lock"), run.lock, run.source
    if source is None:
        yield Found(where=where, message="the verifier did not ask the suite about its data")
        return
    claimed, known = lock.notes, run.notes
    if lock.adapter.pod == "given":  # how answers fit the questions stands behind
        claimed = claimed[: len(known)]
    built_in = "built in"
    for name, has, wanted in (
        ("data.name", lock.data.name, source.name),
        ("data.origin", lock.data.origin == built_in, source.origin == built_in),
        ("data.notes", lock.data.notes, source.notes),
        ("notes", claimed, known),
    ):
        if has != wanted:
            message = f"{name}: the lock has {has!r}, the suite says {wanted!r}"
            yield Found(where=where, message=message)


def _scenarios(run: RunEvidence) -> Iterator[Found]:
    claimed = {_key(ref): ref for ref in run.lock.scenarios}
    made = {_key(ref): ref for ref in run.scenarios}
    for key, ref in made.items():
        if key not in claimed:
            message = f"the data has it, with {ref.questions} questions; the lock leaves it out"
            yield Found(where=_scenario(run, ref), message=message)
        else:
            yield from _same(run, claimed[key], ref)
    for key, ref in claimed.items():
        if key not in made:
            yield Found(where=_scenario(run, ref), message="the data has no such scenario")
    names = [_key(ref) for ref in run.lock.scenarios]
    if claimed.keys() == made.keys() and names != [_key(ref) for ref in run.scenarios]:
        message = "the scenarios stand in another order than the suite gives, or one is there twice"
        yield Found(where=at(f"run {run.name}", "lock.scenarios"), message=message)


def _key(ref: ScenarioRef) -> tuple[str, int | None]:
    return ref.scenario_id, ref.seed


def _scenario(run: RunEvidence, ref: ScenarioRef) -> str:
    seed = () if ref.seed is None else (f"seed {ref.seed}",)
    return at(f"run {run.name}", f"scenario {ref.scenario_id}", *seed)


def _same(run: RunEvidence, claimed: ScenarioRef, made: ScenarioRef) -> Iterator[Found]:
    for name in ScenarioRef.model_fields:
        old, new = getattr(claimed, name), getattr(made, name)
        if old != new:
            message = f"{name}: the lock has {old}, the data gives {new}"
            yield Found(where=_scenario(run, made), message=message)


def _verdicts(run: RunEvidence) -> Iterator[Found]:
    judged = run.lock.judge and run.lock.mode != "retrieval"
    specs = _plan(run) if judged else ()
    wanted = {spec.trial_id for spec in specs if spec.kind != "isolation-audit"}
    there = set(run.verdicts)
    for name in sorted(wanted - there):
        where = at(f"run {run.name}", f"verdicts of trial {name}")
        yield Found(where=where, message=f"the judge {run.lock.judge} never gave any")
    for name in sorted(there - wanted):
        message = "no judge was to be asked about it"
        yield Found(where=at(f"run {run.name}", f"verdicts of trial {name}"), message=message)


def _planned(trial: TrialEvidence) -> Iterator[Found]:
    spec, lock, where = trial.spec, trial.run.lock, of_trial(trial)
    for name in _TAKEN:
        has, wanted = getattr(spec, name), getattr(lock, name)
        if has != wanted:
            yield Found(where=where, message=f"{name}: the spec has {has}, the lock has {wanted}")
    if spec.seed not in lock.seeds:
        yield Found(where=where, message=f"seed {spec.seed} is none of the lock's {lock.seeds}")
    if spec.repeat >= lock.repeats:
        message = f"is repeat {spec.repeat}, the lock has {lock.repeats} from 0 on"
        yield Found(where=where, message=message)
    if not _grouped(trial):
        names = ", ".join(ref.scenario_id for ref in spec.scenarios)
        yield Found(where=where, message=f"the lock plans no {spec.kind} trial of {names}")


def _grouped(trial: TrialEvidence) -> bool:
    """Whether the spec's scenarios are ones that the lock puts into one memory."""
    spec, lock = trial.spec, trial.run.lock
    if spec.kind == "scored" and lock.isolation == "reset":
        return spec.scenarios == lock.of_seed(spec.seed)
    first = spec.scenarios[0]
    if len(spec.scenarios) > 1 or first.seed not in {None, spec.seed}:
        return False
    # Names first: there may be as many scenarios as trials, and comparing them whole takes long.
    return any(ref.scenario_id == first.scenario_id and ref == first for ref in lock.scenarios)


def _settled_once(trial: TrialEvidence) -> Iterator[Found]:
    wanted = planned_questions(trial)
    counts = Counter(_settled(trial))
    for key in wanted:
        if key not in counts:
            yield Found(where=of_trial(trial, *key), message="is planned, and was never settled")
    known = set(wanted)
    for key, count in counts.items():
        if key not in known:
            yield Found(where=of_trial(trial, *key), message="is no question of this trial")
        elif count > 1:
            yield Found(where=of_trial(trial, *key), message=f"was settled {count} times")


def _in_order(trial: TrialEvidence) -> Iterator[Found]:
    place = {key: n for n, key in enumerate(planned_questions(trial))}
    last = -1
    for key in _settled(trial):
        here = place.get(key, last)
        if here < last:
            message = "was settled after a question that the timeline asks later"
            yield Found(where=of_trial(trial, *key), message=message)
        last = max(last, here)


def _settled(trial: TrialEvidence) -> Iterator[tuple[str, str]]:
    for record in trial.records:
        if isinstance(record, QuestionRecord):
            yield record.scenario_id, record.question_id


def planned_questions(trial: TrialEvidence) -> list[tuple[str, str]]:
    """The questions that a trial must settle, in order; only a scored one has any."""
    if trial.spec.kind != "scored":
        return []
    return [
        (ref.scenario_id, event_id(event))
        for ref in trial.spec.scenarios
        for event in trial.events.get(ref.scenario_id, ())
        if event.type == "question"
    ]


RUN_CHECKS: tuple[Check[RunEvidence], ...] = (
    Check(
        "cells.sized",
        "The lock stands for trials that can be, and for no more than a run can have",
        "a lock that nobody could run, or that keeps the verifier busy for years",
        _sized,
    ),
    Check(
        "cells.data",
        "The data is the verifier's own, by digest",
        "an easier or shortened dataset under the name of the real one",
        _data,
    ),
    Check(
        "cells.described",
        "Name and notes of the data are what its suite says",
        "data of one's own under a known name, or praise where a report has its notes",
        _described,
    ),
    Check(
        "cells.scenarios",
        "The scenarios are those that suite, options and data give",
        "scenarios or questions left out, changed, or made up, with counts and digests to match",
        _scenarios,
    ),
    Check(
        "cells.complete",
        "Every trial that the lock stands for is there",
        "trials that went badly, left out",
        _complete,
    ),
    Check(
        "cells.only-planned",
        "No trial is there that the lock does not stand for",
        "extra trials, of which the better ones count",
        _only_planned,
    ),
    Check(
        "cells.verdicts",
        "Exactly the judged trials have verdicts",
        "verdicts left out where they are bad, or added where no judge was asked",
        _verdicts,
    ),
)

TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "cells.spec",
        "The trial's spec is the one that the lock plans",
        "a trial with more hits, time, money or another adapter than the run says",
        _planned,
    ),
    Check(
        "questions.settled",
        "Every planned question is settled exactly once",
        "hard questions left out, or asked again until the answer is right",
        _settled_once,
    ),
    Check(
        "questions.order",
        "Questions are settled in the order of the timeline",
        "questions asked when more is known than at their time",
        _in_order,
    ),
)
