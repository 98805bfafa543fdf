"""Verdicts on disk: ``verdicts/<trial id>.jsonl`` in a run's folder, a canonical line a verdict.

They are evidence: with them, grades are redone without a judge. What is read back must follow from
its own votes.
"""

import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from memrig.errors import InfrastructureError, VerificationError
from memrig.grading.grade import Verdicts
from memrig.judging.panel import Result, count
from memrig.model.canonical import canonical_json
from memrig.model.judgement import Verdict

FOLDER = "verdicts"


def path_of(run: Path, trial_id: str) -> Path:
    """Where a trial's verdicts are."""
    return run / FOLDER / f"{trial_id}.jsonl"


def write_verdicts(run: Path, trial_id: str, verdicts: Iterable[Verdict]) -> None:
    """Writes a trial's verdicts, sorted, whole or not at all.

    Raises:
        InfrastructureError: the disk refuses.
    """
    ordered = sorted(verdicts, key=_key)
    path = path_of(run, trial_id)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.writelines(canonical_json(verdict) + b"\n" for verdict in ordered)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        message = f"cannot be written: {error.strerror}"
        fix = "make it writable, free some disk space, and repeat the command"
        raise InfrastructureError(message, where=str(path), fix=fix) from error


def read_verdicts(run: Path, trial_id: str) -> list[Verdict]:
    """A trial's verdicts; none where nothing was judged.

    Raises:
        VerificationError: a line is no verdict, is another trial's, repeats one, or states a score
            that does not follow from its votes.
    """
    path = path_of(run, trial_id)
    if not path.exists():
        return []
    verdicts: list[Verdict] = []
    seen: set[tuple[str, str, str]] = set()
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        where = f"{path}:{number}"
        try:
            verdict = Verdict.model_validate_json(line)
        except ValidationError as error:
            message = f"is no verdict: {error.errors()[0]['msg']}"
            raise VerificationError(message, where=where) from error
        _check(verdict, trial_id, where)
        if _key(verdict) in seen:
            message = f"a second verdict on {verdict.question_id!r}, task {verdict.task!r}"
            raise VerificationError(message, where=where)
        seen.add(_key(verdict))
        verdicts.append(verdict)
    return verdicts


def load_verdicts(run: Path, trial_ids: Iterable[str]) -> Verdicts:
    """The verdicts of several trials as graders take them: by question, then by task.

    Raises:
        VerificationError: as `read_verdicts`.
    """
    found: dict[tuple[str, str, str], dict[str, Verdict]] = defaultdict(dict)
    for trial_id in trial_ids:
        for verdict in read_verdicts(run, trial_id):
            key = verdict.trial_id, verdict.scenario_id, verdict.question_id
            found[key][verdict.task] = verdict
    return dict(found)


def _key(verdict: Verdict) -> tuple[str, str, str]:
    return verdict.scenario_id, verdict.question_id, verdict.task


def _check(verdict: Verdict, trial_id: str, where: str) -> None:
    if verdict.trial_id != trial_id:
        message = f"is of trial {verdict.trial_id}, expected {trial_id}"
        raise VerificationError(message, where=where)
    stated = Result(verdict.score, verdict.agreement, verdict.reason)
    counted = count(verdict.votes, verdict.quorum)
    if stated != counted:
        message = f"states {stated}, its votes come to {counted}"
        raise VerificationError(message, where=where)
    if verdict.quorum * 2 <= len(verdict.votes):
        message = f"a quorum of {verdict.quorum} of {len(verdict.votes)} votes is no majority"
        raise VerificationError(message, where=where)
