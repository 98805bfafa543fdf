"""The checks of one run: its frame, its trials one by one, and its grades, made again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeVar

from memrig.errors import MemrigError, PrerequisiteError, UsageError
from memrig.model.scenario import ScenarioRef
from memrig.model.trial import TrialSpec
from memrig.report.build import build_report
from memrig.report.model import Report
from memrig.runs.plan import trials_of
from memrig.runs.replan import Replanned, respool
from memrig.submission.checks import ARCHIVE, GRADES, RUN, TRIAL
from memrig.submission.checks.base import (
    Check,
    GradesEvidence,
    ModelRecord,
    RunEvidence,
    TrialEvidence,
    TrialTimes,
)
from memrig.submission.checks.times import times_of
from memrig.submission.evidence import (
    FILES,
    INTACT,
    TRIALS,
    RunFiles,
    Unreadable,
    events_of,
    gold_of,
    read_trial,
)
from memrig.submission.result import Ledger, Named, Reading

E = TypeVar("E")

RESPOOLED = Reading(
    "data.respooled",
    "The scenarios can be made again from what the lock says",
    "questions and gold that nobody else can have",
)
GRADED = Reading(
    "grades.made",
    "The transcripts can be graded again",
    "a transcript that no grader takes, with scores beside it",
)
#: In the order of making, which is that of the result.
ALL: tuple[Named, ...] = tuple(
    chain[Named]((FILES,), ARCHIVE, (RESPOOLED,), RUN, (TRIALS, INTACT), TRIAL, (GRADED,), GRADES)
)
#: Where one of these fails, what is in the trials cannot be held against what was planned …
_FRAME = ("parse.", "data.", "cells.")
#: … but trials that are missing or too many say nothing about the others.
_BESIDE = frozenset({"cells.complete", "cells.only-planned", "cells.verdicts"})
#: Where one of these fails, there is nothing that could be graded.
_WHOLE = (*_FRAME, "chain.", "questions.")


@dataclass(slots=True)
class RunChecking:
    """The checks of one run."""

    name: str
    files: RunFiles
    ledger: Ledger
    failed: list[str] = field(default_factory=list)
    times: dict[str, TrialTimes] = field(default_factory=dict)

    def respool(self, data: Sequence[Path]) -> Replanned | None:
        """Makes the scenarios again; None where that cannot be."""
        lock, where = self.files.lock, f"run {self.name}: lock"
        try:
            if len(lock.seeds) > len(self.files.trials):
                # Each seed is a trial at least: a lock of a few bytes must not make work for years.
                message = f"{len(lock.seeds)} seeds, and only {len(self.files.trials)} trials"
                raise UsageError(message)  # noqa: TRY301 - one way out for all
            replanned = respool(lock, self.files.directory.scenarios, data)
        except (PrerequisiteError, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - a suite may break on a lock that nobody wrote
            self.ledger.object(RESPOOLED, where, _said(error))
            self.skip_from(RUN, RESPOOLED.id)
            return None
        self.ledger.passed(RESPOOLED)
        return replanned

    def run(self, replanned: Replanned, models: ModelRecord) -> Report | None:
        """Makes every check on the run; the report, where all of it could be graded."""
        files = self.files
        evidence = RunEvidence(
            name=self.name,
            lock=files.lock,
            executions=files.executions,
            scenarios=replanned.refs,
            data=replanned.source.sha256,
            trials=files.trials,
            verdicts=files.verdicts,
            models=models,
            source=replanned.source,
            notes=replanned.notes,
        )
        for check in RUN:
            self._make(check, evidence)
        if frame := self._failed(_FRAME, but=_BESIDE):
            self.skip_from((TRIALS, INTACT, *TRIAL), frame)
            return None
        self._check_trials(evidence)
        if whole := self._failed(_WHOLE):
            self.ledger.skip((GRADED, *GRADES), f"{whole} failed")
            return None
        return self._check_grades(evidence)

    def skip_from(self, checks: Iterable[Named], failed: str) -> None:
        """Leaves out these checks of the run and all that come after them."""
        wanted = {check.id for check in checks}
        first = next(place for place, check in enumerate(ALL) if check.id in wanted)
        self.ledger.skip(ALL[first:], f"{failed} failed")

    def _make(self, check: Check[E], evidence: E) -> None:
        if not self.ledger.make(check, evidence) and check.severity == "error":
            self.failed.append(check.id)

    def _failed(self, prefixes: tuple[str, ...], but: frozenset[str] = frozenset()) -> str:
        """The first that failed of the checks that other things stand on; empty: none did."""
        ids = (name for name in self.failed if name.startswith(prefixes) and name not in but)
        return next(ids, "")

    def _check_trials(self, run: RunEvidence) -> None:
        """Trial by trial, so that memory does not grow with their number."""
        refs = {(ref.scenario_id, ref.seed): ref for ref in run.scenarios}
        specs = trials_of(run.lock)
        self.files.directory.save_specs(specs)
        present = frozenset(run.trials)
        for spec in specs:
            if spec.trial_id in present:
                self._check_trial(run, refs, spec)

    def _check_trial(
        self,
        run: RunEvidence,
        refs: Mapping[tuple[str, int | None], ScenarioRef],
        spec: TrialSpec,
    ) -> None:
        name = spec.trial_id
        try:
            files = read_trial(self.files, name)
        except Unreadable as error:
            self.ledger.object(error.check, error.where, error.message)
            self.ledger.skip(TRIAL, f"{error.check.id} failed")
            self.failed.append(error.check.id)
            return
        self.ledger.passed(TRIALS)
        self.ledger.passed(INTACT)
        evidence = TrialEvidence(
            run=run,
            spec=files.spec,
            outcome=files.outcome,
            records=files.records,
            events=events_of(self.files, refs, spec),
            verdicts=files.verdicts,
            name=name,
            gold=gold_of(self.files, refs, spec),
        )
        for check in TRIAL:
            self._make(check, evidence)
        self.times[name] = times_of(files.records)

    def _check_grades(self, run: RunEvidence) -> Report | None:
        directory = self.files.directory
        claimed = directory.grades.read_bytes(), directory.report_json.read_bytes()
        try:
            report = build_report(directory)
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - a grader may break on what no run writes
            self.ledger.object(GRADED, f"run {self.name}", _said(error))
            self.ledger.skip(GRADES, f"{GRADED.id} failed")
            return None
        self.ledger.passed(GRADED)
        evidence = GradesEvidence(
            run=run,
            claimed_grades=claimed[0],
            claimed_report=claimed[1],
            grades=directory.grades.read_bytes(),
            report=directory.report_json.read_bytes(),
            times=self.times,
        )
        for check in GRADES:
            self._make(check, evidence)
        return report


def _said(error: Exception) -> str:
    """What went wrong, without the advice that a user of the command line would need."""
    if isinstance(error, MemrigError):
        return error.message
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
