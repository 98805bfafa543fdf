"""Verdicts on disk: ``verdicts/<trial id>.jsonl`` in a run's folder, a canonical line a verdict.

They are evidence: with them, grades are redone without a judge. What is read back must follow from
its own votes.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from memrig.errors import InfrastructureError, VerificationError
from memrig.judging.panel import Result, count
from memrig.model.canonical import canonical_json
from memrig.model.judgement import Verdict


def write_verdicts(path: Path, verdicts: Iterable[Verdict]) -> None:
    """Writes a trial's verdicts, sorted, whole or not at all; none make an empty file.

    Raises:
        InfrastructureError: the disk refuses.
    """
    ordered = sorted(verdicts, key=_key)
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


def read_verdicts(path: Path) -> list[Verdict]:
    """The verdicts of the trial that the file is named after; none where there is no file.

    Raises:
        VerificationError: a line is no verdict, is another trial's, repeats one, or states a score
            that does not follow from its votes.
    """
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
        _check(verdict, path.stem, where)
        if _key(verdict) in seen:
            message = f"a second verdict on {verdict.question_id!r}, task {verdict.task!r}"
            raise VerificationError(message, where=where)
        seen.add(_key(verdict))
        verdicts.append(verdict)
    return verdicts


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
