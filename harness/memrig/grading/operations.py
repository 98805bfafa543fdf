"""Protocol `operations`: what is found while a memory grows, and after what befell it."""

from memrig.grading.retrieval import RetrievalGrader

GRADER = RetrievalGrader("operations")
