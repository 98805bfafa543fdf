"""The questions that went worst, with what was retrieved for them."""

from memrig.grading.base import Grade
from memrig.report.collect import Collected
from memrig.report.model import ShownQuestion
from memrig.report.scores import score_of
from memrig.report.shown import show_question
from memrig.runs.directory import RunDirectory

_SHOWN = 10
_FAULTS = frozenset({"adapter_error", "adapter_crashed", "timeout"})


def worst_questions(directory: RunDirectory, found: Collected) -> tuple[ShownQuestion, ...]:
    """Ten questions: faults first, then those whose evidence was not found, across categories.

    Within a category the first of each scenario comes first, so that the ten differ in kind.
    """
    chosen = _spread([g for g in found.grades if g.status == "graded" and _went_wrong(g)])
    return tuple(show_question(directory, found, grade) for grade in chosen[:_SHOWN])


def _went_wrong(grade: Grade) -> bool:
    score = score_of(grade)
    if score is not None:
        return score < 1
    if grade.missing:  # nothing to hold the answer against, such as a question without key facts
        return grade.outcome in _FAULTS
    return (grade.rank or 99) > 1


def _spread(grades: list[Grade]) -> list[Grade]:
    """Worst first, but taking turns between categories and scenarios."""

    def badness(grade: Grade) -> tuple[bool, float, bool, int]:
        fault = grade.outcome in _FAULTS
        return not fault, score_of(grade) or 0.0, grade.rank is not None, -(grade.rank or 0)

    turn: dict[tuple[str, str], int] = {}
    keyed = []
    for grade in sorted(grades, key=badness):
        place = grade.category, grade.scenario_id
        turn[place] = turn.get(place, 0) + 1
        nth_of_category = sum(n for (category, _), n in turn.items() if category == grade.category)
        keyed.append(((badness(grade)[:3], nth_of_category, turn[place]), grade))
    return [grade for _, grade in sorted(keyed, key=lambda pair: pair[0])]
