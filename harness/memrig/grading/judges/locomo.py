"""LoCoMo by a judge: `locomo-judge`, lenient as it became popular, and `locomo-judge-strict`.

The lenient rule takes an answer that touches the reference's topic; an audit found that it lets
most vague wrong answers pass. The strict one asks for what the reference says. Both leave category
5 out, as published tables do: it asks for what was never said.
"""

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

#: The tag that carries the file's own category number, whatever label set is shown.
_ADVERSARIAL = "locomo:5"

_LENIENT = Prompt(
    before=(
        "You label an answer to a question about a long chat between two people. The reference is "
        "short; the answer may be much longer. Be generous: the label is CORRECT as long as the "
        "answer is about the same thing as the reference. Where a time is asked for, any wording "
        "of the same date or period is CORRECT, be it relative, such as last Tuesday, or written "
        "another way. Otherwise the label is WRONG."
    ),
    after=(
        'Reply with one JSON object and nothing else: {"label": "CORRECT" or "WRONG", "reason": '
        '"one short sentence"}'
    ),
)
_STRICT = Prompt(
    before=(
        "You check an answer to a question about a long chat between two people. The answer is "
        "right only if it states what the reference states. Other words and other ways to write a "
        "date are as good, and more detail does no harm. It is wrong if it is about the same "
        "topic but vague where the reference is specific, if it leaves out something that the "
        "reference lists, if it gives another time, person, place or number, or if it offers "
        "several possibilities of which only one is the reference."
    ),
    after=JSON_CORRECT,
)


def _case(gold: Gold) -> Case:
    if _ADVERSARIAL in gold.tags or has_abstention(gold):
        return Case(left_out="category 5 (adversarial) is left out of this protocol")
    return Case("answer")


LENIENT = JudgeGrader(
    PromptSet("locomo-judge", 1, {"answer": _LENIENT}),
    _case,
    Ballot(1, JSON_TOKENS, json_verdict("label", {'"CORRECT"': 1.0, '"WRONG"': 0.0})),
)
STRICT = JudgeGrader(
    PromptSet("locomo-judge-strict", 1, {"answer": _STRICT}),
    _case,
    Ballot(3, JSON_TOKENS, json_verdict("correct", {"true": 1.0, "false": 0.0})),
)
