"""Protocol `longmemeval-typed`: LongMemEval's answers without a judge.

Not comparable with published numbers, which are all a judge's. Preference questions have a rubric
for gold and stay ungraded.
"""

from memrig.grading.answers import TypedAnswerGrader

GRADER = TypedAnswerGrader(
    "longmemeval-typed",
    rubrics=frozenset({"single-session-preference"}),
)
