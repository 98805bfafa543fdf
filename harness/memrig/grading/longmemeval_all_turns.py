"""Protocol `longmemeval-all-turns`: both roles, standard nDCG, 470 questions of 500."""

from memrig.grading.longmemeval_retrieval import LongMemEvalRetrieval

GRADER = LongMemEvalRetrieval("longmemeval-all-turns", official=False)
