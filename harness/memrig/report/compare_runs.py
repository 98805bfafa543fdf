"""A run as a comparison needs it: its lock, its report, and its grades as pairs' halves."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from memrig.errors import UsageError
from memrig.grading.base import Grade
from memrig.report.model import Report
from memrig.runs.directory import RunDirectory
from memrig.runs.lock import Lock


class Key(NamedTuple):
    """What makes two runs' questions one pair."""

    scenario: str
    seed: int
    question: str


@dataclass(frozen=True, slots=True)
class LoadedRun:
    """A graded run."""

    folder: Path
    lock: Lock
    report: Report
    grades: dict[Key, list[Grade]]

    @property
    def graders(self) -> tuple[str, ...]:
        """Who graded, with versions."""
        return tuple(sorted({g.grader for grades in self.grades.values() for g in grades}))


@dataclass(frozen=True, slots=True)
class Half:
    """A question's score in one run: the mean over repeats, and of its weight.

    `value` is the pooled ratio where weights differ; `grade` is any of its grades.
    """

    value: float
    weight: float
    grade: Grade


def load_run(folder: Path, report: Report) -> LoadedRun:
    """Reads a run that has its report and grades on disk.

    Raises:
        UsageError: the folder holds no run, or grades of another version of memrig.
    """
    directory = RunDirectory(folder)
    grades: dict[Key, list[Grade]] = defaultdict(list)
    try:
        for line in directory.grades.read_bytes().splitlines():
            grade = Grade.model_validate_json(line)
            key = Key(grade.scenario_id, grade.seed, grade.question_id)
            grades[key].append(grade)
    except ValidationError as error:
        message = "holds grades of another version of memrig"
        fix = f"`memrig score {folder}` writes them again"
        raise UsageError(message, where=str(directory.grades), fix=fix) from error
    return LoadedRun(folder, directory.lock(), report, dict(grades))


def half(grades: Sequence[Grade], metric: str) -> Half | None:
    """A question's mean over the repeats that have the metric; None where none has."""
    found = [g for g in grades if g.status == "graded" and metric in g.scores]
    if not found:
        return None
    weights = [g.weights.get(metric, 1.0) for g in found]
    total = sum(w * g.scores[metric] for g, w in zip(found, weights, strict=True))
    value = total / sum(weights) if sum(weights) else 0.0
    return Half(value, sum(weights) / len(found), found[0])


def graded(grades: Iterable[Grade]) -> bool:
    """Whether any repeat of a question is."""
    return any(grade.status == "graded" for grade in grades)
