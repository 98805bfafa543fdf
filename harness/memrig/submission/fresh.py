"""A run of a submission under seeds that nobody could know before."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from memrig.grading.base import Grade
from memrig.model.trial import TrialSpec
from memrig.runs.lock import Lock, data_lock
from memrig.runs.plan import trials_of
from memrig.runs.replan import respool
from memrig.submission.auditrecord import FreshResult, MetricResult, Tolerance
from memrig.submission.draws import cells_of, dice_of, fresh_seeds
from memrig.submission.replaying import Replayed
from memrig.submission.tolerance import (
    Graded,
    by_question,
    other_questions,
    over_repeats,
    same_questions,
)
from memrig.submission.verify import OpenedRun
from memrig.suites.base import load_suite

#: Pods that live in the rig are no memory systems, and are not audited.
_NOT_AUDITED = frozenset({"baseline", "given"})


@dataclass(frozen=True, slots=True)
class FreshRun:
    """A run that is planned again under fresh seeds.

    A suite that is made of seeds gets other worlds, as many as the run has or `cells`, whichever is
    less. Any other has the same data for everybody: there the seed makes other ids, and the audits
    are what tells whether answers come from what was told.

    Args:
        run: the submission's.
        lock: its lock for the system as it was found.
        draw: what the seeds are drawn from.
        cells: how many trials at most.
    """

    run: OpenedRun
    lock: Lock
    draw: int
    cells: int

    @property
    def worlds(self) -> bool:
        """Whether seeds make worlds."""
        return load_suite(self.lock.suite).made_of_seeds

    @property
    def seeds(self) -> tuple[int, ...]:
        """The fresh seeds."""
        count = min(len(self.lock.seeds), self.cells) if self.worlds else 1
        return fresh_seeds(self.draw, self.run.entry.run_id, count, self.lock.seeds)

    def plan(self, scenarios: Path, data: Sequence[Path]) -> tuple[Lock, tuple[TrialSpec, ...]]:
        """Makes the scenarios, and draws the trials.

        Raises:
            PrerequisiteError: data is not on this machine.
        """
        seeded = self.lock.model_copy(update={"seeds": self.seeds, "repeats": 1})
        replanned = respool(seeded, scenarios, data)
        lock = seeded.model_copy(
            update={
                "scenarios": replanned.refs,
                "data": data_lock(replanned.source),
                "notes": replanned.notes,
                "audits": not self.worlds and self.lock.adapter.pod not in _NOT_AUDITED,
            }
        )
        planned = trials_of(lock)
        scored = [spec for spec in planned if spec.kind == "scored" and _asks(spec)]
        dice = dice_of(self.draw, "fresh", self.run.entry.run_id)
        chosen = dice.sample(scored, min(self.cells, len(scored)))
        audits = [spec for spec in planned if spec.kind == "audits"][:1]
        return lock, (*audits, *chosen)

    def judge(
        self, specs: Sequence[TrialSpec], replayed: Replayed, tolerance: Tolerance
    ) -> FreshResult:
        """What came of them, against what is claimed."""
        scored = [spec for spec in specs if spec.kind == "scored"]
        fresh = [by_question(replayed.of(spec.trial_id)) for spec in scored]
        claimed = self._same(scored)
        metrics = tuple(self._metric(name, claimed, fresh, tolerance) for name in tolerance.metrics)
        audits = replayed.audits.rows if replayed.audits else ()
        steady = all(row.verdict != "failed" for row in audits if row.audit == "canary")
        asked = sum(map(len, claimed)) if claimed else len(self._all)
        return FreshResult(
            run_id=self.run.entry.run_id,
            made="worlds" if self.worlds else "ids",
            seeds=self.seeds,
            trials=tuple(spec.trial_id for spec in specs),
            claimed_questions=asked,
            questions=sum(map(len, fresh)),
            metrics=metrics,
            agrees=steady and all(metric.agrees for metric in metrics),
            audits=audits,
        )

    @property
    def _all(self) -> list[Grade]:
        return over_repeats(grade for cell in cells_of(self.run) for grade in cell.grades)

    def _same(self, specs: Sequence[TrialSpec]) -> list[Graded]:
        """What is claimed of the same questions, trial by trial; none where they are others."""
        known: dict[tuple[tuple[str, str], ...], Graded] = {}
        for cell in cells_of(self.run):
            known.setdefault(_about(cell.spec), by_question(cell.grades))
        if any(_about(spec) not in known for spec in specs):
            return []
        return [known[_about(spec)] for spec in specs]

    def _metric(
        self, name: str, claimed: Sequence[Graded], fresh: Sequence[Graded], tolerance: Tolerance
    ) -> MetricResult:
        if claimed:
            bounds = same_questions(claimed, fresh, name)
        else:
            grades = chain.from_iterable(cell.values() for cell in fresh)
            bounds = other_questions(self._all, grades, name)
        return bounds.result(name, agrees=bounds.allows(tolerance.fresh_margin))


def _asks(spec: TrialSpec) -> bool:
    return any(ref.questions for ref in spec.scenarios)


def _about(spec: TrialSpec) -> tuple[tuple[str, str], ...]:
    """What a trial asks about what, by content."""
    return tuple((ref.digest, ref.gold_digest) for ref in spec.scenarios)
