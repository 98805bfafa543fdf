"""LongMemEval's judge (Wu et al., ICLR 2025): five rules by question type, in our own words.

`longmemeval-compatible` keeps the published form: one user message, at most 10 tokens, one vote,
right where the reply contains "yes". `longmemeval-strict` keeps the rules and takes three votes in
JSON. Neither holds the published prompts, so that neither is exactly comparable: for that, export
the hypotheses, run the official evaluator, and import its verdicts (`official.py`).
"""

from collections.abc import Mapping
from types import MappingProxyType

from memrig.grading.judges.base import (
    JSON_CORRECT,
    JSON_TOKENS,
    Ballot,
    Case,
    JudgeGrader,
    has_abstention,
)
from memrig.grading.judges.parse import contains_yes, json_verdict
from memrig.grading.judges.prompts import Prompt, PromptSet
from memrig.model.gold import Gold

_CONTAINED = (
    "You check an answer to a question about earlier conversations. The answer is right if it "
    "holds what the reference says, says the same in other words, or gives all the steps that "
    "lead to the reference. It is wrong if it gives only a part of what the reference requires."
)
_TEMPORAL = (
    f"{_CONTAINED} A count of days, weeks or months that misses the reference by one is not to be "
    "held against it: 7 days where the reference has 8 is right."
)
_UPDATE = (
    "You check an answer to a question about something that changed over earlier conversations. "
    "The reference is the value that holds now. The answer may name older values too; it is right "
    "as long as the value that it gives for now is the reference."
)
_PREFERENCE = (
    "You check an answer that should fit the person who asked, as known from earlier "
    "conversations. The rubric describes such an answer. The answer is right if it recalls what is "
    "known of the person correctly and makes use of it; it need not meet every point of the rubric."
)
_ABSTENTION = (
    "You check an answer to a question that the earlier conversations do not answer; the "
    "explanation says why. The answer is right if it recognises that the question cannot be "
    "answered. It may say that it does not know enough, or that it was told of something else but "
    "not of what is asked."
)
#: Each rule with the name of the block that holds its gold.
_RULES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "contained": (_CONTAINED, "reference"),
        "temporal": (_TEMPORAL, "reference"),
        "update": (_UPDATE, "reference"),
        "preference": (_PREFERENCE, "rubric"),
        "abstention": (_ABSTENTION, "explanation"),
    }
)
_RULE_OF_TYPE: Mapping[str, str] = MappingProxyType(
    {
        "single-session-user": "contained",
        "single-session-assistant": "contained",
        "multi-session": "contained",
        "temporal-reasoning": "temporal",
        "knowledge-update": "update",
        "single-session-preference": "preference",
    }
)
_YES_OR_NO = "Is the answer right by this rule? Reply with yes or no only."


def _prompts(name: str, after: str) -> PromptSet:
    prompts = {rule: Prompt(text, after, gold) for rule, (text, gold) in _RULES.items()}
    return PromptSet(name, 1, prompts)


def _case(gold: Gold) -> Case:
    """The rule of the question's type; abstention comes first."""
    if has_abstention(gold):
        return Case("abstention", abstains=True)
    rule = _RULE_OF_TYPE.get(gold.category)
    if rule is None:
        return Case(left_out=f"LongMemEval has no judge's rule for type {gold.category!r}")
    return Case(rule)


COMPATIBLE = JudgeGrader(
    _prompts("longmemeval-compatible", _YES_OR_NO),
    _case,
    Ballot(votes=1, max_tokens=10, parse=contains_yes),
    types=tuple(_RULE_OF_TYPE),
)
STRICT = JudgeGrader(
    _prompts("longmemeval-strict", JSON_CORRECT),
    _case,
    Ballot(3, JSON_TOKENS, json_verdict("correct", {"true": 1.0, "false": 0.0})),
    types=tuple(_RULE_OF_TYPE),
)
