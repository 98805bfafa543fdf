"""Pairwise: which of two answers carries a key fact better, asked in both orders (scoring §3).

A judge that prefers a place cancels itself out: winning from one place and losing from the other
is a half. The win rate is the mean over all tasks (`tally.mean_score`).
"""

from collections.abc import Iterator, Sequence

from memrig.grading.judges.base import JSON_TOKENS
from memrig.grading.judges.delimit import cut
from memrig.grading.judges.parse import json_verdict
from memrig.grading.judges.prompts import Prompt, PromptSet
from memrig.model.judgement import JudgeTask

PROMPTS = PromptSet(
    "pairwise",
    1,
    {
        "fact": Prompt(
            before=(
                "Two answers to one question stand side by side, A and B. Decide which of them "
                "conveys the fact better: states it, or lets a reader conclude it, without "
                "contradicting it. Length, style and everything that is not about the fact do not "
                "count. Choose TIE if both convey it equally well, or neither does."
            ),
            after=(
                'Reply with one JSON object and nothing else: {"choice": "A" or "B" or "TIE", '
                '"reason": "one short sentence"}'
            ),
        )
    },
)
_CANDIDATE_FIRST = json_verdict("choice", {'"A"': 1.0, '"B"': 0.0, '"TIE"': 0.5})
_OTHER_FIRST = json_verdict("choice", {'"A"': 0.0, '"B"': 1.0, '"TIE"': 0.5})
_CANDIDATE = "candidate"
#: The opponent that every question with key facts has.
CANONICAL = "canonical"


def _name(fact: int, first: str, opponent: str) -> str:
    against = "" if opponent == CANONICAL else f" against {opponent}"
    return f"fact {fact}{against}, {first} first"


def pairwise_names(facts: int, opponent: str = CANONICAL) -> tuple[str, ...]:
    """The names of all tasks, in order."""
    firsts = (_CANDIDATE, opponent)
    return tuple(
        _name(number, first, opponent) for number in range(1, facts + 1) for first in firsts
    )


def pairwise_tasks(
    question: str,
    candidate: str,
    other: str,
    facts: Sequence[str],
    opponent: str = CANONICAL,
    votes: int = 1,
) -> tuple[JudgeTask, ...]:
    """Two tasks a key fact: the candidate's answer first, and its opponent's first.

    A task scores 1 where the candidate wins, 0 where the opponent does, and ½ for a tie.

    Args:
        question: the question's text.
        candidate: the answer under test.
        other: the answer it is measured by.
        facts: the key facts, numbered from 1 in the tasks' names.
        opponent: what the other answer is called in the tasks' names; no judge reads it.
        votes: of each task; odd.
    """
    answers = {_CANDIDATE: cut(candidate), opponent: cut(other)}

    def tasks() -> Iterator[JudgeTask]:
        for number, fact in enumerate(facts, 1):
            for first, second in ((_CANDIDATE, opponent), (opponent, _CANDIDATE)):
                blocks = [
                    ("question", question),
                    ("fact", fact),
                    ("answer_a", answers[first]),
                    ("answer_b", answers[second]),
                ]
                yield JudgeTask(
                    name=_name(number, first, opponent),
                    prompt=PROMPTS.render("fact", blocks),
                    max_tokens=JSON_TOKENS,
                    votes=votes,
                    parse=_CANDIDATE_FIRST if first == _CANDIDATE else _OTHER_FIRST,
                )

    return tuple(tasks())
