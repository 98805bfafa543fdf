"""The organiser's audit: runs some cells of a submission again, and some under fresh seeds.

A recomputed submission is consistent, which a made-up one can be too. What was run again by
somebody else, in cells that nobody could choose, happened; and what scores the same under seeds
that nobody could know before was not looked up in a table.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from memrig._version import __version__
from memrig.errors import IncompleteError, UsageError, VerificationError
from memrig.gateway.config import Limits
from memrig.report.units import plural
from memrig.runs.config import MAX_SEED, default_jobs
from memrig.runs.lock import Lock, this_machine
from memrig.runs.models import check_callable
from memrig.submission.auditrecord import (
    SUFFIX,
    CellResult,
    FreshResult,
    RerunAudit,
    RunResult,
    Tolerance,
    write_audit,
)
from memrig.submission.compared import compare_cell, summary_of
from memrig.submission.draws import Cell, claimed_grades, draw_cells
from memrig.submission.engine import disclosed_engine
from memrig.submission.fresh import FreshRun
from memrig.submission.keys import fingerprint, load_key
from memrig.submission.model import Manifest
from memrig.submission.outputs import check_out, workplace
from memrig.submission.replaying import Pace, replay
from memrig.submission.system import System, find_system
from memrig.submission.tolerance import (
    LEAST_QUESTIONS,
    RuleChoice,
    by_question,
    cell_bound,
    judge_run,
    said,
    served,
    tolerance_of,
)
from memrig.submission.verify import Opened, OpenedRun, opened
from memrig.trial.directory import disk_errors

Say = Callable[[str], None]


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class RerunOptions:
    """What an organiser asks of a rerun.

    Args:
        cells: how many trials to run again, over all runs; of each run at most as many under
            fresh seeds.
        fresh_seeds: also run under seeds that nobody could know before.
        adapter: the organiser's own copy of the memory system; empty: its images by digest.
        draw: what all random choices are made from; None: a secret that is drawn now.
        tolerance: which rule; auto takes the exact one where nothing says that answers waver.
        data: folders with data that does not ship.
        keep: a new folder for the runs that are made; None: they are thrown away.
        jobs: trials measured at the same time.
        limits: tokens and money at which it stops.
    """

    cells: int = 5
    fresh_seeds: bool = False
    adapter: str = ""
    draw: int | None = None
    tolerance: RuleChoice = "auto"
    data: tuple[Path, ...] = ()
    keep: Path | None = None
    jobs: int = field(default_factory=default_jobs)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Reran:
    """An audit record that was written."""

    file: Path
    audit: RerunAudit
    key: str

    @property
    def fingerprint(self) -> str:
        """Of the key that signed it."""
        return fingerprint(self.key)


def rerun(
    file: Path,
    options: RerunOptions | None = None,
    *,
    out: Path | None = None,
    key: Path | None = None,
    say: Say = _silent,
) -> Reran:
    """Runs cells of a submission again and writes a signed audit record; what it found is in that.

    Tolerances are told and fixed before anything is run.

    Args:
        file: the archive.
        options: what to run.
        out: the record, ``NAME.audit.json``; none: beside the archive.
        key: the organiser's; none: the key in the user's configuration.
        say: told what is being done, a line at a time.

    Raises:
        UsageError: there is no such file, a record is there already or cannot be written, the
            folder for runs is none, or so few cells tell nothing.
        PrerequisiteError: no key, data, image or model is to be had on this machine.
        VerificationError: the archive is not valid.
        IncompleteError: trials failed through no fault of the memory system, or it never came up,
            as it is claimed: nothing is decided.
    """
    options = options or RerunOptions()
    record = out or file.with_suffix(SUFFIX)
    check_out(record, SUFFIX, "a record", "there is a record already, and every one counts")
    _check_numbers(options)
    signer = load_key(key)
    with workplace(options.keep) as work:
        say(f"verifying {file}")
        audit = _rerun(file, options, work, say)
    write_audit(record, audit, signer)
    return Reran(record, audit, signer.public)


def _rerun(file: Path, options: RerunOptions, work: Path, say: Say) -> RerunAudit:
    with opened(file, options.data) as found:
        manifest = _verified(found, file)
        rerunning = _Rerunning(found, manifest, options, work, say)
        try:
            return rerunning.run()
        except (KeyboardInterrupt, BaseExceptionGroup) as stop:
            stop.add_note(f"nothing was written; --draw {rerunning.draw} takes the same cells")
            raise


def _check_numbers(options: RerunOptions) -> None:
    if options.cells < 1:
        fix = "give 1 or more"
        raise UsageError("is no number of cells", where=f"--cells {options.cells}", fix=fix)
    if options.draw is not None and not 0 <= options.draw <= MAX_SEED:
        fix = f"give one from 0 to {MAX_SEED}, as a record has it"
        raise UsageError("is no draw", where=f"--draw {options.draw}", fix=fix)


def _verified(found: Opened, file: Path) -> Manifest:
    errors = [c for c in found.verification.checks if c.severity == "error" and not c.passed]
    if found.manifest is None or errors or not found.runs:
        failed = [c.id for c in errors if c.count] or [c.id for c in errors]
        more = f" and {len(failed) - 5} more" if len(failed) > 5 else ""
        message = f"does not verify: {', '.join(failed[:5])}{more}"
        fix = f"`memrig submission verify {file}` says why"
        raise VerificationError(message, where=str(file), fix=fix)
    return found.manifest


class _Rerunning:
    """One rerun of a submission that verified."""

    def __init__(
        self, found: Opened, manifest: Manifest, options: RerunOptions, work: Path, say: Say
    ) -> None:
        self._found, self._manifest, self._options = found, manifest, options
        self._work, self._say = work, say
        self._started = datetime.now(UTC)
        self.draw = secrets.randbelow(MAX_SEED + 1) if options.draw is None else options.draw
        self._pace = Pace(options.jobs, options.limits)
        self._faults: list[str] = []
        self._served = False

    def run(self) -> RerunAudit:
        """Everything, in the order in which it is told."""
        for run in self._found.runs:
            _check_judged(run)
            check_callable(run.lock, self._options.limits)
        system = find_system(
            self._manifest.adapter,
            self._options.adapter,
            self._found.folder,
            self._manifest.images,
            self._say,
        )
        cells = draw_cells(self._found.runs, self._options.cells, self.draw)
        tolerances = self._tolerances(cells)
        self._tell(system, cells, tolerances)
        results: list[CellResult] = []
        runs: list[RunResult] = []
        for run in self._found.runs:
            mine = [cell for cell in cells if cell.run is run]
            if mine:
                compared, whole = self._again(mine, system, tolerances[run.entry.run_id], cells)
                results += compared
                runs.append(whole)
        self._check_served(cells)
        fresh = tuple(self._fresh(system, tolerances)) if self._options.fresh_seeds else ()
        return self._audit(system, tolerances, results, runs, fresh)

    def _tolerances(self, cells: tuple[Cell, ...]) -> dict[str, Tolerance]:
        found = {}
        for run in self._found.runs:
            name = run.entry.run_id
            grades = claimed_grades(run)
            found[name] = tolerance_of(name, run.lock, grades, self._options.tolerance)
            asked = sum(cell.questions for cell in cells if cell.run is run)
            if found[name].rule == "statistical" and 0 < asked < LEAST_QUESTIONS:
                raise UsageError(
                    f"the cells of {name} hold {asked} questions, of which bounds tell nothing",
                    where=f"--cells {self._options.cells}",
                    fix=f"give more: at least {LEAST_QUESTIONS} questions are needed",
                )
        return found

    def _tell(
        self, system: System, cells: tuple[Cell, ...], tolerances: dict[str, Tolerance]
    ) -> None:
        """What will be done, and by what it will be judged, before anything is."""
        self._say(f"draw       {self.draw}")
        self._say(f"system     {system.adapter.name} {system.adapter.version}: {system.how}")
        for note in system.notes:
            self._say(f"note       {note}")
        for tolerance in tolerances.values():
            self._say(f"tolerance  {said(tolerance)}")
        for cell in cells:
            rule = tolerances[cell.run.entry.run_id]
            bound = cell_bound(rule, cell.questions, len(cells))
            within = f", {rule.metric} ±{bound:.3g}" if bound else ""
            asked = plural(cell.questions, "question")
            self._say(f"cell       {cell.spec.trial_id}: {asked}{within}")
        if self._options.fresh_seeds:
            margin = max(tolerance.fresh_margin for tolerance in tolerances.values())
            self._say(
                "tolerance  fresh seeds: of each headline metric, the 95 % interval of claimed "
                f"less found begins at no more than {margin:g}; and no canary audit fails"
            )

    def _again(
        self, mine: list[Cell], system: System, tolerance: Tolerance, cells: tuple[Cell, ...]
    ) -> tuple[list[CellResult], RunResult]:
        run = mine[0].run
        lock = _here(run.lock, system)
        specs = [cell.under(system.adapter) for cell in mine]
        scenarios = run.directory.scenarios
        root = self._work / f"{run.entry.run_id}-again"
        replayed = replay(lock, specs, scenarios, root, self._pace, self._say)
        self._faults += replayed.faults
        self._served |= served(grade.outcome for grade in replayed.grades)
        results = [compare_cell(cell, system, replayed, tolerance, len(cells)) for cell in mine]
        claimed = [by_question(cell.grades) for cell in mine]
        again = [by_question(replayed.of(spec.trial_id)) for spec in specs]
        return results, judge_run(tolerance, claimed, again)

    def _check_served(self, cells: tuple[Cell, ...]) -> None:
        """Two systems that never came up agree in everything, and show nothing."""
        if self._served or served(grade.outcome for cell in cells for grade in cell.grades):
            return
        told = f": {self._faults[0]}" if self._faults else ""
        raise IncompleteError(
            f"no cell was served, neither as claimed nor now, so nothing was shown{told}",
            where=self._found.verification.archive,
            fix="there is nothing to run again before the memory system comes up",
        )

    def _fresh(self, system: System, tolerances: dict[str, Tolerance]) -> Iterator[FreshResult]:
        for run in self._found.runs:
            name = run.entry.run_id
            planned = FreshRun(run, _here(run.lock, system), self.draw, self._options.cells)
            self._say(f"fresh      {name}: seeds {', '.join(map(str, planned.seeds))}")
            root = self._work / f"{name}-fresh"
            with disk_errors(root):
                lock, specs = planned.plan(root / "scenarios", self._options.data)
            replayed = replay(lock, specs, root / "scenarios", root, self._pace, self._say)
            self._faults += replayed.faults
            yield planned.judge(specs, replayed, tolerances[name])

    def _audit(
        self,
        system: System,
        tolerances: dict[str, Tolerance],
        cells: list[CellResult],
        runs: list[RunResult],
        fresh: tuple[FreshResult, ...],
    ) -> RerunAudit:
        verification = self._found.verification
        agree = [part.agrees for part in cells] + [part.agrees for part in runs]
        agree += [part.agrees for part in fresh]
        return RerunAudit(
            manifest_digest=verification.manifest_digest,
            archive=verification.archive,
            submitter_key=verification.key,
            passed=all(agree),
            summary=summary_of(cells, runs, fresh),
            memrig_version=__version__,
            draw=self.draw,
            cells_asked=self._options.cells,
            fresh_seeds=self._options.fresh_seeds,
            system=system.told,
            machine=this_machine(),
            engine=disclosed_engine(system.adapter.pod),
            started_at=self._started,
            ended_at=datetime.now(UTC),
            tolerances=tuple(tolerances.values()),
            cells=tuple(cells),
            runs=tuple(runs),
            fresh=fresh,
            notes=(*system.notes, *dict.fromkeys(self._faults)),
        )


def _check_judged(run: OpenedRun) -> None:
    if "verdicts" in run.lock.options:
        raise UsageError(
            "was judged by verdicts that came from elsewhere, which cannot be had again",
            where=f"run {run.entry.run_id}",
            fix="ask for a run that memrig's judge judged",
        )


def _here(lock: Lock, system: System) -> Lock:
    """A lock for the system as it was found, on this machine."""
    return lock.model_copy(update={"adapter": system.adapter, "machine": this_machine()})
