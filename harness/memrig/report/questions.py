"""Questions of a run, looked up for a person."""

from memrig.errors import UsageError
from memrig.report.collect import collect
from memrig.report.model import ShownQuestion
from memrig.report.shown import show_question
from memrig.runs.directory import RunDirectory

_MOST = 5


def find_questions(directory: RunDirectory, wanted: str) -> tuple[ShownQuestion, ...]:
    """The question of this id (one for each repeat), or those whose id contains the text.

    Raises:
        UsageError: none does, or too many do.
    """
    found = collect(directory)
    exact = [grade for grade in found.grades if grade.question_id == wanted]
    grades = exact or [grade for grade in found.grades if wanted in grade.question_id]
    if not grades:
        some = ", ".join(grade.question_id for grade in found.grades[:3])
        raise UsageError(
            f"no question matches {wanted!r}",
            where=str(directory.root),
            fix=f"ids look like {some}",
        )
    if not exact and len(grades) > _MOST:
        some = ", ".join(grade.question_id for grade in grades[:_MOST])
        message = f"{len(grades)} questions match {wanted!r}: {some}, …"
        raise UsageError(message, where=str(directory.root), fix="give the whole id")
    return tuple(show_question(directory, found, grade) for grade in grades)
