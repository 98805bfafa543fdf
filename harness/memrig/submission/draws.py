"""Which cells of a submission are run again: drawn, so that nobody can choose them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from memrig.grading.base import Grade
from memrig.model.canonical import derive
from memrig.model.manifest import AdapterRef
from memrig.model.trial import TrialSpec
from memrig.runs.config import MAX_SEED
from memrig.runs.plan import trials_of
from memrig.submission.verify import OpenedRun


@dataclass(frozen=True, slots=True)
class Cell:
    """A scored trial of a submission, and what is claimed of it."""

    run: OpenedRun
    spec: TrialSpec
    grades: tuple[Grade, ...]

    @property
    def questions(self) -> int:
        """How many were asked."""
        return sum(ref.questions for ref in self.spec.scenarios)

    def under(self, adapter: AdapterRef) -> TrialSpec:
        """The same trial of the system as it was found; the very same where nothing differs."""
        return self.spec.model_copy(update={"adapter": adapter})


def claimed_grades(run: OpenedRun) -> tuple[Grade, ...]:
    """The grades of a run, as verifying made them again."""
    lines = run.directory.grades.read_bytes().splitlines()
    return tuple(Grade.model_validate_json(line) for line in lines)


def cells_of(run: OpenedRun) -> list[Cell]:
    """All scored trials that ask something, in the order of the plan."""
    grades: dict[str, list[Grade]] = {}
    for grade in claimed_grades(run):
        grades.setdefault(grade.trial_id, []).append(grade)
    specs = (spec for spec in trials_of(run.lock) if spec.trial_id in grades)
    return [Cell(run, spec, tuple(grades[spec.trial_id])) for spec in specs]


def draw_cells(runs: Sequence[OpenedRun], count: int, draw: int) -> tuple[Cell, ...]:
    """So many cells at random, spread over the runs as evenly as can be."""
    dice = dice_of(draw, "cells")
    piles = [cells_of(run) for run in runs]
    for pile in piles:
        dice.shuffle(pile)
    dice.shuffle(piles)
    chosen: list[Cell] = []
    while len(chosen) < count and any(piles):
        for pile in piles:
            if pile and len(chosen) < count:
                chosen.append(pile.pop())
    return tuple(chosen)


def dice_of(draw: int, *purpose: str) -> random.Random:
    """A source of chance for one purpose; the same draw always throws the same."""
    return random.Random(derive(draw, "rerun", *purpose))  # noqa: S311


def fresh_seeds(draw: int, run_id: str, count: int, known: Sequence[int]) -> tuple[int, ...]:
    """Seeds that a run has not had."""
    dice = dice_of(draw, "seeds", run_id)
    found: list[int] = []
    while len(found) < count:
        seed = dice.randrange(MAX_SEED + 1)
        if seed not in known and seed not in found:
            found.append(seed)
    return tuple(found)
