"""Reads an archive's runs for the checks: strictly, and as if nothing in them were true.

What is read here was unpacked safely and has the hashes that the manifest says; of what it means,
nothing is known yet.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from memrig.errors import MemrigError, VerificationError
from memrig.model.canonical import canonical_json, digest_of
from memrig.model.gold import Gold
from memrig.model.judgement import Verdict
from memrig.model.scenario import Event, ScenarioRef
from memrig.model.transcript import Record
from memrig.model.trial import TrialOutcome, TrialSpec
from memrig.runs.directory import Execution, RunDirectory
from memrig.runs.lock import Lock
from memrig.runs.plan import pretty
from memrig.submission.checks.base import ModelRecord
from memrig.submission.model import MODELS
from memrig.submission.modelrecord import read_models
from memrig.submission.result import Reading
from memrig.suites.spool import SpooledScenario
from memrig.trial.directory import OUTCOME, SPEC, TRANSCRIPT
from memrig.trial.transcript import read

FILES = Reading(
    "parse.files",
    "Lock, invocations and model record are what the rig writes",
    "values that two programs read in two ways, or that no run can have",
)
TRIALS = Reading(
    "parse.trials",
    "Every spec, outcome and verdict is what the rig writes",
    "values that two programs read in two ways, or that no trial can have",
)
INTACT = Reading(
    "chain.intact",
    "Every line of a transcript holds the hash of the one before, down to the seal",
    "a record that was changed, dropped or added after the trial",
)

M = TypeVar("M", bound=BaseModel)


class Unreadable(Exception):  # noqa: N818 - never leaves the room: it becomes an objection
    """What cannot be read, and the check that says so."""

    def __init__(self, check: Reading, where: str, message: str) -> None:
        self.check = check
        self.where = where
        self.message = message
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """What a run of the archive claims, but for its trials."""

    directory: RunDirectory
    lock: Lock
    executions: tuple[Execution, ...]
    trials: tuple[str, ...]
    verdicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrialFiles:
    """One trial of the archive."""

    spec: TrialSpec
    outcome: TrialOutcome
    records: tuple[Record, ...]
    verdicts: tuple[Verdict, ...]


def read_run(root: Path) -> RunFiles:
    """Reads a run's folder.

    Raises:
        Unreadable: the lock or a line of its invocations.
    """
    directory = RunDirectory(root)
    where = f"run {root.name}"
    lock = _read_lock(directory.lock_path, f"{where}: lock.json")
    executions = _lines(Execution, root / "executions.jsonl", FILES, f"{where}: executions.jsonl")
    trials = directory.trials
    names = sorted(path.name for path in trials.iterdir()) if trials.is_dir() else []
    verdicts = sorted(path.stem for path in (root / "verdicts").glob("*.jsonl"))
    return RunFiles(directory, lock, executions, tuple(names), tuple(verdicts))


@contextmanager
def models_of(run: RunFiles) -> Iterator[ModelRecord]:
    """The run's record of model calls, rebuilt where the rig expects it.

    Raises:
        Unreadable: a line of it is not as the rig writes it.
    """
    root = run.directory.root
    with ExitStack() as stack:
        try:
            record = stack.enter_context(read_models(root / MODELS, run.directory.record))
        except MemrigError as error:
            raise Unreadable(FILES, f"run {root.name}: {error.where}", error.message) from error
        yield record


def read_trial(run: RunFiles, name: str) -> TrialFiles:
    """Reads a trial's folder and its verdicts.

    Raises:
        Unreadable: a file of it, or the chain of its transcript does not hold.
    """
    folder = run.directory.trials / name
    where = f"run {run.directory.root.name}: trial {name}"
    spec = _parsed(TrialSpec, folder / SPEC, TRIALS, f"{where}: {SPEC}")
    outcome = _parsed(TrialOutcome, folder / OUTCOME, TRIALS, f"{where}: {OUTCOME}")
    path = run.directory.verdicts_of(name)
    verdicts = _lines(Verdict, path, TRIALS, f"{where}: verdicts") if path.exists() else ()
    records = _transcript(folder / TRANSCRIPT, spec, outcome, where)
    return TrialFiles(spec, outcome, records, verdicts)


def events_of(
    run: RunFiles, refs: Mapping[tuple[str, int | None], ScenarioRef], spec: TrialSpec
) -> dict[str, tuple[Event, ...]]:
    """The timelines of a trial's scenarios, as the verifier made them.

    Args:
        run: whose folder they were spooled into.
        refs: the verifier's scenarios by id and seed.
        spec: a trial that is planned over these.
    """
    return {name: tuple(one.events()) for name, one in _spooled(run, refs, spec)}


def gold_of(
    run: RunFiles, refs: Mapping[tuple[str, int | None], ScenarioRef], spec: TrialSpec
) -> dict[str, dict[str, Gold]]:
    """The gold records of a trial's scenarios by question; args are those of `events_of`."""
    return {name: one.gold() for name, one in _spooled(run, refs, spec)}


def _spooled(
    run: RunFiles, refs: Mapping[tuple[str, int | None], ScenarioRef], spec: TrialSpec
) -> Iterator[tuple[str, SpooledScenario]]:
    for ref in spec.scenarios:
        made = refs[ref.scenario_id, ref.seed]
        yield ref.scenario_id, SpooledScenario(run.directory.scenarios, made)


def _transcript(
    path: Path, spec: TrialSpec, outcome: TrialOutcome, where: str
) -> tuple[Record, ...]:
    try:
        return tuple(read(path, digest_of(spec), outcome.head))
    except VerificationError as error:
        place = error.where.removeprefix(str(path))
        raise Unreadable(INTACT, f"{where}: {TRANSCRIPT}{place}", error.message) from error
    except (RecursionError, ValueError, TypeError) as error:
        message = f"is no transcript: {error}"
        raise Unreadable(INTACT, f"{where}: {TRANSCRIPT}", message) from error


def _read_lock(path: Path, where: str) -> Lock:
    raw = path.read_bytes()
    lock, _ = _value(Lock, raw, FILES, where)
    if pretty(lock) != raw:
        raise Unreadable(FILES, where, "is not these values as the rig writes them")
    return lock


def _parsed(model: type[M], path: Path, check: Reading, where: str) -> M:
    return _strict(model, path.read_bytes(), check, where)


def _lines(model: type[M], path: Path, check: Reading, where: str) -> tuple[M, ...]:
    *lines, rest = path.read_bytes().split(b"\n")
    if rest:
        raise Unreadable(check, where, "its last line is cut off")
    return tuple(
        _strict(model, line, check, f"{where} line {number}")
        for number, line in enumerate(lines, 1)
    )


def _strict(model: type[M], raw: bytes, check: Reading, where: str) -> M:
    """A value in its canonical form: no member twice, or left out for its default."""
    value, canonical = _value(model, raw, check, where)
    if canonical != raw:
        raise Unreadable(check, where, "is not canonical JSON (RFC 8785) of these values")
    return value


def _value(model: type[M], raw: bytes, check: Reading, where: str) -> tuple[M, bytes]:
    """A value that can be hashed, and its canonical form: no NaN, no number beyond 2^53."""
    try:
        value = model.model_validate_json(raw)
        return value, canonical_json(value)
    except ValidationError as error:
        raise Unreadable(check, where, _first(error)) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise Unreadable(check, where, f"has no canonical form: {error}") from error


def _first(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in found["loc"])
    return f"{place}: {found['msg']}" if place else found["msg"]
