"""Runs some trials of a lock in a folder of their own, and grades them."""

import asyncio
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from memrig.errors import IncompleteError, MemrigError, PrerequisiteError, UsageError
from memrig.gateway.config import Limits
from memrig.grading.base import Grade
from memrig.model.transcript import QuestionRecord
from memrig.model.trial import TrialSpec
from memrig.report.audits import audits_summary
from memrig.report.collect import collect
from memrig.report.model_audits import AuditsSummary
from memrig.report.units import plural
from memrig.runs.config import RunConfig
from memrig.runs.directory import RunDirectory
from memrig.runs.execution import execute_plan
from memrig.runs.executor import Executed, Observer
from memrig.runs.lock import Lock
from memrig.runs.plan import Plan
from memrig.trial.directory import disk_errors, hold, load_trial, write_aside

Say = Callable[[str], None]
_MS = 1e6


@dataclass(frozen=True, slots=True)
class Pace:
    """How trials are run: so many at once, and with so much money and tokens at most."""

    jobs: int
    limits: Limits


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of some trials."""

    directory: RunDirectory
    grades: tuple[Grade, ...]
    audits: AuditsSummary | None
    faults: tuple[str, ...]

    def of(self, trial_id: str) -> list[Grade]:
        """The grades of one trial."""
        return [grade for grade in self.grades if grade.trial_id == trial_id]


def replay(
    lock: Lock, specs: Sequence[TrialSpec], scenarios: Path, root: Path, pace: Pace, say: Say
) -> Replayed:
    """Runs trials and grades them.

    Args:
        lock: what they are planned by.
        specs: the trials.
        scenarios: the folder with their spooled scenarios.
        root: where to make the run's folder.
        pace: how.
        say: told of each trial.

    Raises:
        PrerequisiteError: a pod cannot be started on this machine, or a model has no key.
        IncompleteError: trials failed through no fault of the memory system.
    """
    directory = RunDirectory(root)
    with disk_errors(root):
        root.mkdir(parents=True, exist_ok=True)
        if not directory.scenarios.exists():
            shutil.copytree(scenarios, directory.scenarios, copy_function=_linked)
        directory.save_specs(tuple(specs))
    write_aside(directory.lock_path, lock.model_dump_json(indent=1).encode() + b"\n")
    plan = Plan(directory, lock, tuple(specs), resumed=False, pod_reason="a rerun")
    config = RunConfig(
        adapter=lock.adapter.name, suite=lock.suite, jobs=pace.jobs, limits=pace.limits
    )
    with hold(root):
        executed = asyncio.run(execute_plan(plan, config, _observer(say)))
    _check_whole(executed, root.name)
    found = collect(directory)
    if rigs := sum(grade.outcome == "harness_error" for grade in found.grades):
        message = (
            f"{plural(rigs, 'question')} failed by the rig or a model provider: nothing was decided"
        )
        raise IncompleteError(message, where=root.name, fix=_AGAIN)
    return Replayed(
        directory=directory,
        grades=tuple(found.grades),
        audits=audits_summary(directory, found.audited),
        faults=tuple(found.faults),
    )


_AGAIN = "repeat the command, with --draw for the same cells"


def _linked(source: str, target: str) -> None:
    """A second name for a file, which is gone with neither; a copy where that cannot be."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def search_ms(folder: Path) -> float | None:
    """The median time of a search in a sealed trial, milliseconds; None where none was made."""
    _, _, records = load_trial(folder)
    times = [
        search.ns / _MS
        for record in records
        if isinstance(record, QuestionRecord)
        for search in record.searches
    ]
    return round(median(times), 3) if times else None


def _observer(say: Say) -> Observer:
    return Observer(
        finished=lambda spec, outcome: say(f"done {spec.trial_id}: {outcome.questions} questions"),
        failed=lambda spec, error: say(f"failed {spec.trial_id}: {error.message}"),
    )


def _check_whole(executed: Executed, where: str) -> None:
    """What is wrong with the machine or the command is said as it is; the rest decides nothing."""
    failures = executed.failures
    if not failures:
        return
    trial, first = next(iter(failures.items()))
    if isinstance(first, PrerequisiteError | UsageError):
        raise first
    error: MemrigError = IncompleteError(
        f"{plural(len(failures), 'trial')} could not be run, so nothing was decided: "
        f"{trial}: {first.message}",
        where=where,
        fix=_AGAIN,
    )
    raise error from first
