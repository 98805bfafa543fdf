"""Protocol `locomo-any`: any gold dialogue id in the top k, per true category and overall."""

from memrig.grading.retrieval import RetrievalGrader

GRADER = RetrievalGrader("locomo-any")
