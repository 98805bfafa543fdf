"""Does an answer state a key fact? Asked fact by fact, so that none covers for another."""

from collections.abc import Sequence

from memrig.grading.judges.base import JSON_TOKENS
from memrig.grading.judges.delimit import cut
from memrig.grading.judges.parse import json_verdict
from memrig.grading.judges.prompts import Prompt, PromptSet
from memrig.model.judgement import JudgeTask

PROMPTS = PromptSet(
    "facts",
    1,
    {
        "fact": Prompt(
            before=(
                "You check whether an answer states a fact. It does if somebody who reads the "
                "answer to the question learns the whole fact from it, in whatever words. It does "
                "not if the answer is vaguer than the fact, lacks a part of it, denies it or takes "
                "it back, states it of something else, names it as one of several things without "
                "settling on it, or says that it does not know. Length, style and what else the "
                "answer says do not count."
            ),
            after=(
                'Reply with one JSON object and nothing else: {"stated": true or false, "reason": '
                '"one short sentence"}'
            ),
            gold="fact",
        )
    },
)
_PARSE = json_verdict("stated", {"true": 1.0, "false": 0.0})
#: Votes on each fact: the suite's default (scoring §3).
VOTES = 3


def fact_names(subject: str, facts: int) -> tuple[str, ...]:
    """The names of all tasks, in order."""
    return tuple(f"{subject}: fact {number}" for number in range(1, facts + 1))


def fact_tasks(
    subject: str, question: str, answer: str, facts: Sequence[str], votes: int = VOTES
) -> tuple[JudgeTask, ...]:
    """One task a fact; it scores 1 where the fact is stated, else 0.

    Args:
        subject: what the facts are of, such as a dimension; unique within the question.
        question: the question's text.
        answer: the answer under test.
        facts: as the gold has them; ``|`` parts alternatives.
        votes: of each task; odd.
    """
    return tuple(
        JudgeTask(
            name=name,
            prompt=PROMPTS.render(
                "fact",
                [("question", question), ("fact", in_words(fact)), ("answer", cut(answer))],
            ),
            max_tokens=JSON_TOKENS,
            votes=votes,
            parse=_PARSE,
        )
        for name, fact in zip(fact_names(subject, len(facts)), facts, strict=True)
    )


def in_words(fact: str) -> str:
    """A fact as a judge reads it: its alternatives are as good as each other."""
    return " or: ".join(part.strip() for part in fact.split("|"))
