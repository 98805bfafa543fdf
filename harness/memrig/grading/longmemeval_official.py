"""Protocol `longmemeval-official`: user turns only, the published gain, 419 questions of 500."""

from memrig.grading.longmemeval_retrieval import LongMemEvalRetrieval

GRADER = LongMemEvalRetrieval("longmemeval-official", official=True)
