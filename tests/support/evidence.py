"""The evidence of a small real run, as its verifier would have it, to be tampered with."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

import memrig
from memrig.judging import read_verdicts
from memrig.runs.config import RunConfig
from memrig.runs.directory import RunDirectory
from memrig.runs.lock import contract_digest, lock_version
from memrig.runs.plan import trials_of
from memrig.runs.replan import respool
from memrig.submission.checks.base import (
    ArchiveEvidence,
    Check,
    GradesEvidence,
    ModelRecord,
    RunEvidence,
    TrialEvidence,
)
from memrig.submission.checks.times import times_of
from memrig.submission.engine import disclosed_limits
from memrig.submission.model import Disclosure, ImageEntry, Manifest, RunEntry
from memrig.suites.spool import SpooledScenario
from memrig.trial.directory import load_trial

E = TypeVar("E")


@dataclass(frozen=True)
class Evidence:
    """All the evidence of one run; `trials` are in the order of the plan."""

    archive: ArchiveEvidence
    run: RunEvidence
    trials: tuple[TrialEvidence, ...]
    grades: GradesEvidence


def evidence_of(root: Path, work: Path) -> Evidence:
    """Gathers the evidence of a run; scenarios are made again below `work`."""
    directory = RunDirectory(root)
    lock = directory.lock()
    made = respool(lock, work)
    verdicts = root / "verdicts"
    run = RunEvidence(
        name=root.name,
        lock=lock,
        executions=tuple(directory.executions()),
        scenarios=made.refs,
        data=made.source.sha256,
        trials=tuple(sorted(path.name for path in directory.trials.iterdir())),
        verdicts=tuple(sorted(path.stem for path in verdicts.glob("*.jsonl"))),
        models=ModelRecord(),
        source=made.source,
        notes=made.notes,
    )
    trials = tuple(_trial(run, directory, work, spec.trial_id) for spec in trials_of(lock))
    claimed = directory.grades.read_bytes(), directory.report_json.read_bytes()
    memrig.score(root)
    grades = GradesEvidence(
        run=run,
        claimed_grades=claimed[0],
        claimed_report=claimed[1],
        grades=directory.grades.read_bytes(),
        report=directory.report_json.read_bytes(),
        times={trial.name: times_of(trial.records) for trial in trials},
    )
    return Evidence(_archive(run), run, trials, grades)


def _trial(run: RunEvidence, directory: RunDirectory, work: Path, name: str) -> TrialEvidence:
    spec, outcome, records = load_trial(directory.trials / name)
    spooled = {ref.scenario_id: SpooledScenario(work, ref) for ref in spec.scenarios}
    events = {key: tuple(scenario.events()) for key, scenario in spooled.items()}
    gold = {key: scenario.gold() for key, scenario in spooled.items()}
    verdicts = tuple(read_verdicts(directory.verdicts_of(name)))
    return TrialEvidence(run, spec, outcome, tuple(records), events, verdicts, name, gold)


def _archive(run: RunEvidence) -> ArchiveEvidence:
    lock = run.lock
    first, last = run.executions[0], run.executions[-1]
    images = lock.adapter.images.items()
    manifest = Manifest(
        memrig_version=lock_version(),
        contract=contract_digest(),
        adapter=lock.adapter,
        runs=(
            RunEntry(
                run_id=run.name,
                lock_digest=lock.digest,
                suite=lock.suite,
                protocol=lock.protocol,
            ),
        ),
        images=tuple(ImageEntry(service=name, digest=digest) for name, digest in images),
        disclosure=Disclosure(
            machine=lock.machine,
            limits=disclosed_limits(lock.adapter),
            first=first.started_at,
            last=last.started_at,
        ),
        files=(),
    )
    return ArchiveEvidence(manifest, {run.name: lock}, {run.name: run.executions})


def found(checks: Iterable[Check[E]], check_id: str, evidence: E) -> list[str]:
    """What one of some checks objects to, as ``where: message``."""
    check = next(check for check in checks if check.id == check_id)
    return [f"{item.where}: {item.message}" for item in check.find(evidence)]


def objections(checks: Iterable[Check[E]], evidence: E) -> dict[str, list[str]]:
    """All that some checks object to, by id; nothing for those that pass."""
    every = {check.id: found([check], check.id, evidence) for check in checks}
    return {name: texts for name, texts in every.items() if texts}


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Two repeats of a few questions on the suite's sample, by a baseline of the rig's."""
    folder = tmp_path_factory.mktemp("good")
    config = RunConfig(
        adapter="baseline:full-context",
        suite="practical",
        sample=True,
        limit=6,
        repeats=2,
        out=folder / "run",
    )
    memrig.run(config)
    return evidence_of(folder / "run", folder / "again")


@pytest.fixture(scope="session")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A run whose questions a reader answers: the one that is built in."""
    folder = tmp_path_factory.mktemp("answered")
    config = RunConfig(
        adapter="baseline:full-context",
        suite="practical",
        mode="reader",
        sample=True,
        limit=4,
        reader_model="local/extractive",
        out=folder / "run",
    )
    memrig.run(config)
    return evidence_of(folder / "run", folder / "again")
