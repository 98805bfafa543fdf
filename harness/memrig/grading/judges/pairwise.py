"""Pairwise: which of two answers carries a key fact better, asked in both orders (scoring §3).

A judge that prefers a place cancels itself out: winning from one place and losing from the other
is a half.
"""

from collections.abc import Iterator, Mapping, Sequence

from memrig.grading.judges.base import JSON_TOKENS
from memrig.grading.judges.delimit import cut
from memrig.grading.judges.parse import json_verdict
from memrig.grading.judges.prompts import Prompt, PromptSet
from memrig.model.judgement import JudgeTask, Verdict

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
_CANONICAL_FIRST = json_verdict("choice", {'"A"': 0.0, '"B"': 1.0, '"TIE"': 0.5})
_FIRST = ("candidate", "canonical")


def _name(fact: int, first: str) -> str:
    return f"fact {fact}, {first} first"


def pairwise_tasks(
    question: str, candidate: str, canonical: str, facts: Sequence[str], votes: int = 1
) -> tuple[JudgeTask, ...]:
    """Two tasks a key fact: the candidate's answer first, and the canonical one first.

    A task scores 1 where the candidate wins, 0 where the canonical answer does, and ½ for a tie.

    Args:
        question: the question's text.
        candidate: the answer under test.
        canonical: the answer it is measured by.
        facts: the key facts, numbered from 1 in the tasks' names.
        votes: of each task; odd.
    """
    answers = {"candidate": cut(candidate), "canonical": cut(canonical)}

    def tasks() -> Iterator[JudgeTask]:
        for number, fact in enumerate(facts, 1):
            for first, second in (_FIRST, _FIRST[::-1]):
                blocks = [
                    ("question", question),
                    ("fact", fact),
                    ("answer_a", answers[first]),
                    ("answer_b", answers[second]),
                ]
                yield JudgeTask(
                    name=_name(number, first),
                    prompt=PROMPTS.render("fact", blocks),
                    max_tokens=JSON_TOKENS,
                    votes=votes,
                    parse=_CANDIDATE_FIRST if first == "candidate" else _CANONICAL_FIRST,
                )

    return tuple(tasks())


def pairwise_score(verdicts: Mapping[str, Verdict], facts: int) -> float | None:
    """The candidate's win rate: the mean over facts of the mean over both orders.

    None where any fact lacks a verdict in either order, for then the orders do not cancel out; and
    where there are no facts.

    Args:
        verdicts: by task.
        facts: how many key facts there are.
    """
    names = [_name(number, first) for number in range(1, facts + 1) for first in _FIRST]
    scores = [verdicts[name].score if name in verdicts else None for name in names]
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known and len(known) == len(scores) else None
