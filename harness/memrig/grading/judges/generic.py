"""Protocol `answer-judge`: any suite with gold answers, judged strictly, three votes in JSON."""

from memrig.grading.judges.base import (
    JSON_CORRECT,
    JSON_TOKENS,
    Ballot,
    Case,
    JudgeGrader,
    has_abstention,
)
from memrig.grading.judges.parse import json_verdict
from memrig.grading.judges.prompts import Prompt, PromptSet
from memrig.model.gold import Gold

_ANSWER = Prompt(
    before=(
        "You check an answer against a reference. The answer is right only if somebody who reads "
        "it learns everything that the reference says in reply to the question. Wording, order "
        "and format are free, and true detail beyond the reference does no harm. It is wrong if "
        "it is vaguer than the reference, lacks a part of it, contradicts it, presents an "
        "outdated value as the current one, names several competing values without settling on "
        "the right one, or does not answer."
    ),
    after=JSON_CORRECT,
)
_ABSTENTION = Prompt(
    before=(
        "You check an answer to a question that cannot be answered from what the system was told; "
        "the explanation says why. The answer is right if it says that this is unknown, or was "
        "not told, and claims no answer. It may add what it does know of related things. It is "
        "wrong if it gives an answer to the question, hedged or not."
    ),
    after=JSON_CORRECT,
    gold="explanation",
)


def _case(gold: Gold) -> Case:
    return Case("abstention", abstains=True) if has_abstention(gold) else Case("answer")


GRADER = JudgeGrader(
    PromptSet("answer-judge", 1, {"answer": _ANSWER, "abstention": _ABSTENTION}),
    _case,
    Ballot(3, JSON_TOKENS, json_verdict("correct", {"true": 1.0, "false": 0.0})),
)
