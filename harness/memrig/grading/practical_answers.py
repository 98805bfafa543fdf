"""Protocol `practical-answers`: answers to suite `practical` by the typed graders."""

from memrig.grading.answers import TypedAnswerGrader

GRADER = TypedAnswerGrader("practical-answers")
