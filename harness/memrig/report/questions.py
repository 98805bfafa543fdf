"""Questions of a run, looked up for a person."""

from collections.abc import Sequence

from memrig.errors import UsageError
from memrig.grading.base import Grade
from memrig.report.collect import collect
from memrig.report.model import ShownQuestion
from memrig.report.shown import show_question
from memrig.report.text import question_name
from memrig.runs.directory import RunDirectory

_MOST = 5


def find_questions(directory: RunDirectory, wanted: str) -> tuple[ShownQuestion, ...]:
    """The questions that `matching` finds in a run.

    Raises:
        UsageError: none matches, or too many do.
    """
    found = collect(directory)
    grades = matching(found.grades, wanted, str(directory.root))
    return tuple(show_question(directory, found, grade) for grade in grades)


def matching(grades: Sequence[Grade], wanted: str, where: str) -> list[Grade]:
    """The questions of this id (of each scenario, seed and repeat), or whose id contains the text.

    `world-42#q0042` is the one of that scenario.

    Raises:
        UsageError: none matches, or too many do.
    """
    exact = [grade for grade in grades if wanted in {grade.question_id, _name(grade)}]
    found = exact or [grade for grade in grades if wanted in _name(grade)]
    if not found:
        some = ", ".join(map(_name, grades[:3]))
        raise UsageError(
            f"no question matches {wanted!r}", where=where, fix=f"ids look like {some}"
        )
    if not exact and len(found) > _MOST:
        some = ", ".join(map(_name, found[:_MOST]))
        message = f"{len(found)} questions match {wanted!r}: {some}, …"
        raise UsageError(message, where=where, fix="give the whole id")
    return found


def _name(grade: Grade) -> str:
    return question_name(grade.scenario_id, grade.question_id)
