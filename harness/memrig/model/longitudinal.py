"""The kinds of longitudinal questions, as LENS names them (scoring §4)."""

from typing import Literal, get_args

QuestionType = Literal[
    "longitudinal",
    "null_hypothesis",
    "action_recommendation",
    "negative",
    "temporal",
    "paraphrase",
    "counterfactual",
    "distractor_resistance",
    "severity_assessment",
    "evidence_sufficiency",
]
QUESTION_TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
#: Answered by one episode alone: what a memory is measured by that only looks things up.
CONTROL: frozenset[str] = frozenset({"null_hypothesis"})
#: Asks what to do, not what is so.
DECISION: frozenset[str] = frozenset({"action_recommendation"})
#: Answered only by what several episodes show together.
SYNTHESIS: frozenset[str] = frozenset(QUESTION_TYPES) - CONTROL - DECISION

#: The format of memrig's own datasets: LENS's members, and a name.
FORMAT = "memrig.longitudinal/1"
