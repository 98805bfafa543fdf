"""Which runs may go into an archive, and which may go into one together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from memrig._version import __version__
from memrig.errors import UsageError
from memrig.report.build import build_report
from memrig.report.html import render_html
from memrig.report.model import Report
from memrig.runs.directory import Execution, RunDirectory
from memrig.runs.lock import Lock, contract_digest, differences
from memrig.runs.models import models_of
from memrig.runs.plan import trials_of
from memrig.submission.apart import apart
from memrig.submission.tolerance import served
from memrig.trial.directory import hold, write_aside


@dataclass(frozen=True, slots=True)
class Packable:
    """A run that may be packed: whole, of this version, graded again.

    `never` says why its memory system never served, if so.
    """

    name: str
    directory: RunDirectory
    lock: Lock
    executions: tuple[Execution, ...]
    never: str = ""


@contextmanager
def packable(folder: Path, say: Callable[[str], None]) -> Iterator[Packable]:
    """A run, graded again and held so that nobody writes to it."""
    directory = RunDirectory(folder.resolve())
    lock = directory.lock()
    _check_version(lock, folder)
    _check_plan(directory, lock, folder)
    with hold(directory.root):
        say(f"grading {folder}")
        report = build_report(directory)
        write_aside(directory.report_html, render_html(report).encode())
        if report.incomplete:
            fix = "repeat the command that made it: finished trials are kept"
            raise UsageError(f"is not whole: {report.incomplete}", where=str(folder), fix=fix)
        executions = tuple(directory.executions())
        run = Packable(directory.root.name, directory, lock, executions, _never(report))
        if not run.executions:
            message = "no command on it came to its end, so that nobody knows when it was made"
            raise UsageError(message, where=str(folder), fix="repeat the command that made it")
        _check_called(run, folder)
        yield run


def _never(report: Report) -> str:
    """What kept the memory system from serving any question; empty where it served one."""
    if served(report.questions.outcomes) or not report.questions.outcomes:
        return ""
    return report.faults[0] if report.faults else ", ".join(report.questions.outcomes)


def _check_called(run: Packable, folder: Path) -> None:
    """Who replays a record has another run's replies, failures and costs."""
    if any(execution.llm.startswith("replay") for execution in run.executions):
        message = "had its models replayed from another run's record"
        raise UsageError(message, where=str(folder), fix="pack the run that called them")


def _check_version(lock: Lock, folder: Path) -> None:
    wanted = {"memrig": __version__, "contract": contract_digest()}
    for name, made in (("memrig", lock.memrig_version), ("contract", lock.contract)):
        if made != wanted[name]:
            message = f"was made by {name} {made}, this is {wanted[name]}"
            fix = "pack it with the memrig that made it, or run it again"
            raise UsageError(message, where=str(folder), fix=fix)


def _check_plan(directory: RunDirectory, lock: Lock, folder: Path) -> None:
    """The run is its lock's, and has the record of the models that it called."""
    planned = {spec.trial_id for spec in trials_of(lock)}
    if odd := sorted(planned ^ {spec.trial_id for spec in directory.specs()}):
        message = f"its specs are not those that its lock stands for (trial {odd[0]})"
        raise UsageError(message, where=str(folder), fix="run it again in another folder")
    names = models_of(lock.adapter) | {lock.answer.model if lock.answer else ""}
    names |= {lock.judge} if "verdicts" not in lock.options else set()
    if (called := sorted(filter(None, names))) and not directory.record.is_file():
        raise UsageError(
            f"has no record of its models ({', '.join(called)}), which nobody could check",
            where=str(directory.record),
            fix="run it again without --llm-record, or copy that record here",
        )


def check_together(runs: Sequence[Packable]) -> None:
    """An archive is of one memory system, on one machine; each run once.

    Raises:
        UsageError: these are not.
    """
    first = runs[0]
    for run in runs[1:]:
        where, fix = f"{first.name}, {run.name}", "pack them apart"
        if odd := apart(first.lock.adapter, run.lock.adapter):
            raise UsageError(f"are not of one memory system: {odd}", where=where, fix=fix)
        old, new = (one.lock.machine.model_dump(mode="json") for one in (first, run))
        if fields := list(differences(old, new)):
            message = f"are not of one machine: {'; '.join(fields[:3])}"
            raise UsageError(message, where=where, fix=fix)
    for run, after in pairwise(sorted(runs, key=lambda run: run.lock.digest)):
        if run.lock.digest == after.lock.digest:
            message = "are one run, made twice: equal inputs"
            fix = "give the one that counts, or one run with --repeats"
            raise UsageError(message, where=f"{run.name}, {after.name}", fix=fix)
