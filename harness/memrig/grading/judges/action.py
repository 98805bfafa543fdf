"""Is a recommendation any good? Five yes/no criteria, each asked by itself (scoring §4).

One question a criterion, so that a good impression of one does not colour the next.
"""

from collections.abc import Mapping, Sequence

from memrig.grading.judges.base import JSON_TOKENS
from memrig.grading.judges.delimit import Block, cut
from memrig.grading.judges.parse import json_verdict
from memrig.grading.judges.prompts import Prompt, PromptSet
from memrig.model.judgement import JudgeTask

_FORM = (
    'Reply with one JSON object and nothing else: {"met": true or false, "reason": "one short '
    'sentence"}'
)
_PARSE = json_verdict("met", {"true": 1.0, "false": 0.0})

#: What is asked of a recommendation, by the name of its criterion.
_CRITERIA: Mapping[str, str] = {
    "follows": (
        "It follows from the finding: what is recommended answers what the records show to be the "
        "matter, and would not be recommended just as well if they showed something else."
    ),
    "specific": (
        "It is specific: it says what is to be done and to what, so that somebody could begin "
        "without asking back."
    ),
    "feasible": (
        "It is feasible: those who are asked could do it with what people in this setting "
        "usually have."
    ),
    "proportionate": (
        "It is proportionate: neither out of scale with how certain and how grave the finding is, "
        "nor short of what that calls for."
    ),
    "evidence": (
        "It cites evidence: it rests on particular observations from the records, named in the "
        "text or by a citation, and not on general knowledge alone."
    ),
}


def _prompt(criterion: str) -> Prompt:
    return Prompt(
        before=(
            "You check a recommendation by one criterion. The finding says what the records show; "
            "the answer recommends what to do; the citations name the records that it was given "
            f"beside it. Decide only whether the answer meets this criterion. {criterion} Length "
            "and style do not count. An answer that recommends nothing meets no criterion."
        ),
        after=_FORM,
        gold="finding",
    )


PROMPTS = PromptSet("action", 1, {name: _prompt(text) for name, text in _CRITERIA.items()})


def action_names() -> tuple[str, ...]:
    """The names of all tasks, in order."""
    return tuple(f"action: {name}" for name in _CRITERIA)


def action_tasks(
    question: str, finding: str, answer: str, cited: Sequence[str], votes: int = 1
) -> tuple[JudgeTask, ...]:
    """One task a criterion; it scores 1 where the criterion is met, else 0.

    Args:
        question: the question's text.
        finding: what the records show, as the gold answer says it.
        answer: the recommendation.
        cited: handles of the memories that it cites.
        votes: of each task; odd.
    """
    blocks: list[Block] = [
        ("question", question),
        ("finding", finding),
        ("answer", cut(answer)),
        ("citations", ", ".join(cited) or "(none)"),
    ]
    return tuple(
        JudgeTask(
            name=name,
            prompt=PROMPTS.render(case, blocks),
            max_tokens=JSON_TOKENS,
            votes=votes,
            parse=_PARSE,
        )
        for name, case in zip(action_names(), _CRITERIA, strict=True)
    )
