"""Checks that manifest, locks and runs say the same, and only what this rig can vouch for."""

from collections.abc import Iterator

from memrig.answering.prompts import prompts_digest
from memrig.errors import UsageError
from memrig.gateway.prices import PriceTable
from memrig.grading.base import Grader, load_grader
from memrig.model.canonical import digest_of
from memrig.model.trial import PRESETS
from memrig.runs.lock import (
    Lock,
    contract_digest,
    differences,
    grader_lock,
    lock_version,
    plugins_lock,
)
from memrig.runs.models import models_of
from memrig.submission.checks.base import (
    ArchiveEvidence,
    Check,
    RunEvidence,
    at,
    seconds,
)
from memrig.submission.checks.times import SLACK_S, span
from memrig.submission.model import Found
from memrig.suites.base import load_suite, suite_names

LOCK_FORMAT = "memrig.lock/1"
#: Inputs in which two runs may differ and still be the same run, made again.
_NOT_INPUTS = ("machine", "notes")


def _runs(archive: ArchiveEvidence) -> Iterator[Found]:
    manifest = archive.manifest
    names = [entry.run_id for entry in manifest.runs]
    if len(set(names)) < len(names):
        yield Found(where="manifest.runs", message=f"a run is named twice: {', '.join(names)}")
    if set(names) != archive.locks.keys():
        message = f"names {sorted(set(names))}, the archive holds {sorted(archive.locks)}"
        yield Found(where="manifest.runs", message=message)
    for entry in manifest.runs:
        lock = archive.locks.get(entry.run_id)
        if lock is None:
            continue
        for name, said, has in (
            ("lock_digest", entry.lock_digest, lock.digest),
            ("suite", entry.suite, lock.suite),
            ("protocol", entry.protocol, lock.protocol),
        ):
            if said != has:
                message = f"{name}: the manifest has {said}, the lock {has}"
                yield Found(where=at("manifest.runs", f"run {entry.run_id}"), message=message)


def _distinct(archive: ArchiveEvidence) -> Iterator[Found]:
    seen: dict[str, str] = {}
    for name, lock in sorted(archive.locks.items()):
        inputs = lock.model_dump(mode="json", exclude=set(_NOT_INPUTS))
        first = seen.setdefault(digest_of(inputs), name)
        if first != name:
            message = f"has the very inputs of run {first}: one of them was chosen after the other"
            yield Found(where=at(f"run {name}", "lock"), message=message)


def _contract(archive: ArchiveEvidence) -> Iterator[Found]:
    ours = contract_digest()
    said = [("manifest.contract", archive.manifest.contract)]
    said += [(at(f"run {n}", "lock.contract"), k.contract) for n, k in archive.locks.items()]
    for where, digest in said:
        if digest != ours:
            yield Found(where=where, message=f"is {digest}, this memrig speaks {ours}")


def _version(archive: ArchiveEvidence) -> Iterator[Found]:
    ours = lock_version()
    said = [("manifest.memrig_version", archive.manifest.memrig_version)]
    said += [(at(f"run {n}", "lock"), k.memrig_version) for n, k in archive.locks.items()]
    for where, version in said:
        if version != ours:
            message = f"memrig {version}, this one is {ours}: verify it with memrig {version}"
            yield Found(where=where, message=message)
    for name, lock in archive.locks.items():
        if lock.format != LOCK_FORMAT:
            message = f"is of format {lock.format!r}, expected {LOCK_FORMAT!r}"
            yield Found(where=at(f"run {name}", "lock"), message=message)


def _machine(archive: ArchiveEvidence) -> Iterator[Found]:
    shown = archive.manifest.disclosure.machine.model_dump(mode="json")
    for name, lock in sorted(archive.locks.items()):
        other = list(differences(shown, lock.machine.model_dump(mode="json")))
        if other:
            message = f"is not the machine of the manifest: {'; '.join(other)}"
            yield Found(where=at(f"run {name}", "lock.machine"), message=message)


def _dates(archive: ArchiveEvidence) -> Iterator[Found]:
    shown, where = archive.manifest.disclosure, "manifest.disclosure"
    first, last = seconds(shown.first), seconds(shown.last)
    if last < first:
        yield Found(where=where, message=f"ends on {shown.last}, before it begins: {shown.first}")
    spans = []
    for name in sorted(archive.locks):
        executions = archive.executions.get(name, ())
        spans += [span(execution) for execution in executions]
        if not executions:
            yield Found(where=at(f"run {name}", "executions"), message="there is none")
    if not spans:
        return
    began = min(one for one, _ in spans)
    if abs(first - began) > SLACK_S:
        message = f"says that the runs began on {shown.first}, {began - first:+.0f} s off"
        yield Found(where=where, message=message)
    latest, ended = max(one for one, _ in spans), max(one for _, one in spans)
    if not latest - SLACK_S <= last <= ended + SLACK_S:
        message = f"says that the runs ended on {shown.last}, {ended - last:+.0f} s off"
        yield Found(where=where, message=message)


def _grader_of(lock: Lock) -> Grader | None:
    try:
        return load_grader(lock.protocol)
    except UsageError:
        return None


def _suite(run: RunEvidence) -> Iterator[Found]:
    lock, where = run.lock, at(f"run {run.name}", "lock")
    if lock.suite not in suite_names():
        yield Found(where=where, message=f"suite {lock.suite!r} is not installed here")
        return
    suite = load_suite(lock.suite)
    if lock.protocol not in suite.protocols:
        yield Found(where=where, message=f"{lock.suite} has no protocol {lock.protocol!r}")
    if lock.mode not in suite.modes:
        yield Found(where=where, message=f"{lock.suite} has no mode {lock.mode!r}")
    ours = plugins_lock(lock.suite, lock.protocol)
    if lock.plugins != ours:
        message = f"plugins: the lock has {lock.plugins}, installed here is {ours}"
        yield Found(where=where, message=message)


def _grader(run: RunEvidence) -> Iterator[Found]:
    lock, where = run.lock, at(f"run {run.name}", "lock.grader")
    grader = _grader_of(lock)
    if grader is None:
        message = f"no grader is installed here for protocol {lock.protocol!r}"
        yield Found(where=where, message=message)
        return
    if lock.grader != grader_lock(grader):
        message = f"is {lock.grader!r}, installed here is {grader_lock(grader)!r}"
        yield Found(where=where, message=message)
    if lock.mode not in grader.modes:
        yield Found(where=where, message=f"{lock.protocol} does not grade mode {lock.mode}")
    if grader.judge == "required" and not lock.judge:
        yield Found(where=where, message=f"{lock.protocol} needs a judge, the lock names none")
    if grader.judge == "none" and lock.judge:
        message = f"{lock.protocol} has no use for a judge, the lock names {lock.judge}"
        yield Found(where=where, message=message)


def _answer(run: RunEvidence) -> Iterator[Found]:
    lock, where = run.lock, at(f"run {run.name}", "lock.answer")
    answer = lock.answer
    if answer is None:
        if lock.mode != "retrieval" or lock.naive:
            yield Found(where=where, message=f"is none, and mode {lock.mode} needs one")
        return
    if lock.mode == "retrieval":
        yield Found(where=where, message="is given, and mode retrieval answers nothing")
        return
    if (lock.mode != "native" or lock.naive) and not answer.model:
        yield Found(where=where, message=f"names no model, and mode {lock.mode} calls one")
    if answer.model and answer.prompts != (ours := prompts_digest(answer.prompt)):
        message = f"was made with prompts {answer.prompts or 'unknown'}, this rig's are {ours}"
        yield Found(where=where, message=message)


def _budget(run: RunEvidence) -> Iterator[Found]:
    budget = run.lock.budget
    if budget.preset and budget != PRESETS.get(budget.preset):
        message = f"is called {budget.preset!r}, and is no preset of this name: {budget}"
        yield Found(where=at(f"run {run.name}", "lock.budget"), message=message)


def _prices(run: RunEvidence) -> Iterator[Found]:
    lock, where = run.lock, at(f"run {run.name}", "lock.prices")
    ours = PriceTable.load().digest
    if not lock.prices and _calls(lock):
        yield Found(where=where, message="is empty, and the run calls models")
    elif lock.prices not in ("", ours):
        message = f"are {lock.prices}, those that ship with memrig are {ours}"
        yield Found(where=where, message=message)


def _calls(lock: Lock) -> bool:
    reader = lock.answer.model if lock.answer else ""
    return bool(reader or lock.judge or models_of(lock.adapter))


ARCHIVE_CHECKS: tuple[Check[ArchiveEvidence], ...] = (
    Check(
        "config.version",
        "Manifest and locks are of this memrig's version",
        "another version's grades, which this one cannot make again",
        _version,
    ),
    Check(
        "config.contract",
        "The runs speak this memrig's contract",
        "a contract with calls that the public one has not",
        _contract,
    ),
    Check(
        "config.runs",
        "The manifest names exactly the runs that are there, by their inputs",
        "a lock that was changed after it was named, or a run under another suite's name",
        _runs,
    ),
    Check(
        "config.distinct",
        "No two runs have the same inputs",
        "the same run made again until it is lucky",
        _distinct,
    ),
    Check(
        "config.machine",
        "All runs were made on the machine that is disclosed",
        "latencies of a larger machine under the name of a smaller one",
        _machine,
    ),
    Check(
        "config.dates",
        "The runs were made when the manifest says",
        "old runs, passed off as new ones",
        _dates,
    ),
)

RUN_CHECKS: tuple[Check[RunEvidence], ...] = (
    Check(
        "config.suite",
        "Suite, protocol, mode and plug-ins are installed here as they were there",
        "a suite or grader of one's own under a known name",
        _suite,
    ),
    Check(
        "config.grader",
        "The grader's version is the installed one, and it grades this mode and judge",
        "an older, kinder grader",
        _grader,
    ),
    Check(
        "config.answer",
        "What makes answers fits the mode, and its prompts are this rig's",
        "prompts that help one memory system",
        _answer,
    ),
    Check(
        "config.budget",
        "A budget with a preset's name is that preset",
        "a small budget's label on a larger one",
        _budget,
    ),
    Check(
        "config.prices",
        "Costs were counted by the prices that ship with memrig",
        "cheaper models by a cheaper table",
        _prices,
    ),
)
