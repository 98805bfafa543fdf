"""Checks that a trial is what was sealed: its spec, its chain of records, and its outcome."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from memrig.model.canonical import digest_of
from memrig.model.transcript import AttemptRecord, CloseRecord, QuestionRecord, Record
from memrig.submission.checks.base import Check, TrialEvidence, of_trial, seconds
from memrig.submission.model import Found
from memrig.trial.transcript import start_of


def head_of(spec_digest: str, records: tuple[Record, ...]) -> str:
    """The hash of the last line of the transcript that the rig would write of these records.

    A reader that compared the file's last line with the sealed one, as `trial.transcript.read`
    does, knows with this that the file holds these records and nothing beside them.
    """
    head = start_of(spec_digest).head
    for number, record in enumerate(records):
        body = record.model_dump_json()
        line = f'{{"seq":{number},"prev":"{head}","record":{body}}}'
        head = hashlib.sha256(line.encode()).hexdigest()
    return head


def _name(trial: TrialEvidence) -> Iterator[Found]:
    for what, has in (
        ("spec", trial.spec.trial_id),
        ("outcome", trial.outcome.trial_id),
    ):
        if has != trial.name:
            message = f"the folder is named {trial.name!r}, its {what} is of trial {has!r}"
            yield Found(where=of_trial(trial), message=message)


def _spec(trial: TrialEvidence) -> Iterator[Found]:
    digest = digest_of(trial.spec)
    if trial.outcome.spec_digest != digest:
        message = f"the spec has digest {digest}, sealed was {trial.outcome.spec_digest}"
        yield Found(where=of_trial(trial), message=message)
    for record in _attempts(trial):
        if record.spec_digest != digest:
            message = f"attempt {record.number} was of spec {record.spec_digest}, not of {digest}"
            yield Found(where=of_trial(trial), message=message)


def _head(trial: TrialEvidence) -> Iterator[Found]:
    head = head_of(trial.outcome.spec_digest, trial.records)
    if head != trial.outcome.head:
        message = (
            f"its records, written by the rig, end at {head}, sealed was {trial.outcome.head}: "
            "they were changed, or hold more than the rig reads"
        )
        yield Found(where=of_trial(trial), message=message)


def _counts(trial: TrialEvidence) -> Iterator[Found]:
    settled = [record for record in trial.records if isinstance(record, QuestionRecord)]
    attempts = max((record.number for record in _attempts(trial)), default=0)
    statuses = Counter[str](record.outcome.status for record in settled)
    for what, sealed, there in (
        ("records", trial.outcome.records, len(trial.records)),
        ("questions", trial.outcome.questions, len(settled)),
        ("attempts", trial.outcome.attempts, attempts),
        ("statuses", dict(sorted(trial.outcome.statuses.items())), dict(sorted(statuses.items()))),
    ):
        if sealed != there:
            message = f"{what}: the outcome says {sealed}, the transcript has {there}"
            yield Found(where=of_trial(trial), message=message)


def _attempts_sealed(trial: TrialEvidence) -> Iterator[Found]:
    where = of_trial(trial)
    attempts = list(_attempts(trial))
    if not trial.records or not isinstance(trial.records[0], AttemptRecord):
        yield Found(where=where, message="the transcript does not begin with an attempt")
    closed = [n for n, record in enumerate(trial.records) if isinstance(record, CloseRecord)]
    if closed != [len(trial.records) - 1]:
        yield Found(where=where, message="the transcript is not closed once, at its end")
    for old, new in pairwise(attempts):
        if seconds(new.started_at) < seconds(old.started_at):
            message = f"attempt {new.number} began before attempt {old.number}"
            yield Found(where=where, message=message)
    for record in attempts:
        wanted = trial.run.lock.memrig_version
        if record.memrig_version != wanted:
            message = f"attempt {record.number} ran on memrig {record.memrig_version}, not {wanted}"
            yield Found(where=where, message=message)


def _attempts(trial: TrialEvidence) -> Iterator[AttemptRecord]:
    return (record for record in trial.records if isinstance(record, AttemptRecord))


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "chain.name",
        "Folder, spec and outcome are of one trial",
        "a good trial, copied to the place of a bad one",
        _name,
    ),
    Check(
        "chain.spec",
        "The transcript and its seal are of this spec",
        "a spec that was changed after the trial",
        _spec,
    ),
    Check(
        "chain.head",
        "The records end at the sealed hash, byte for byte as the rig writes them",
        "records that were changed, dropped or added, or that other readers read otherwise",
        _head,
    ),
    Check(
        "chain.counts",
        "The outcome's counts are the transcript's",
        "attempts, faults or questions that the seal does not admit to",
        _counts,
    ),
    Check(
        "chain.attempts",
        "Attempts begin and close the transcript, in order, on the lock's version",
        "transcripts put together from several runs or rigs",
        _attempts_sealed,
    ),
)
