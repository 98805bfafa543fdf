"""Protocol `practical`: rank of the first hit by evidence id (strict) and by keyword (lenient)."""

from memrig.grading.retrieval import RetrievalGrader

GRADER = RetrievalGrader("practical", lenient=True, stale=True)
