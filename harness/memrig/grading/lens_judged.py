"""What of LENS a judge decides: answers against others, and recommendations (scoring §4)."""

from collections.abc import Iterable
from statistics import fmean

from memrig.grading.base import Asked
from memrig.grading.judges.action import PROMPTS as ACTION
from memrig.grading.judges.action import action_names, action_tasks
from memrig.grading.judges.base import NO_VERDICT
from memrig.grading.judges.delimit import clean
from memrig.grading.judges.facts import in_words
from memrig.grading.judges.pairwise import CANONICAL, pairwise_names, pairwise_tasks
from memrig.grading.judges.pairwise import PROMPTS as PAIRWISE
from memrig.grading.judges.tally import mean_score
from memrig.grading.lens_evidence import cited_by
from memrig.model.gold import TextGold
from memrig.model.judgement import JudgeTask, Verdict
from memrig.model.longitudinal import DECISION
from memrig.model.transcript import AnswerRecord

NO_FACTS = "the question has no key facts"
NO_NAIVE = "no naive answer was asked for"
#: What the naive answer is called in the names of tasks.
NAIVE = "naive"
#: What a judge reads apart from the material: with it, verdicts change.
PROMPT_DIGESTS = (PAIRWISE.digest, ACTION.digest)

#: A score, or why there is none.
Found = float | str


def text_gold(asked: Asked) -> TextGold | None:
    """The gold of a question with key facts; None of one without."""
    gold = asked.gold.answer
    return gold if isinstance(gold, TextGold) and gold.key_facts else None


def said(answer: AnswerRecord | None) -> str:
    """An answer as a reader would see it; empty where there is none."""
    return "" if answer is None else clean(answer.text)


def judge_tasks(asked: Asked) -> tuple[JudgeTask, ...]:
    """All that a judge can help with: nothing where nothing was said."""
    text, gold = said(asked.record.answer), text_gold(asked)
    if not text:
        return ()
    tasks: list[JudgeTask] = []
    if gold is not None:
        facts = list(map(in_words, gold.key_facts))
        tasks += pairwise_tasks(asked.question.text, text, gold.value, facts)
        if not naive_missing(asked) and asked.record.naive is not None:
            other = said(asked.record.naive.answer)
            tasks += pairwise_tasks(asked.question.text, text, other, facts, NAIVE)
    if asked.gold.category in DECISION and isinstance(asked.gold.answer, TextGold):
        cited = [memory.handle for memory in cited_by(asked.record).memories]
        tasks += action_tasks(asked.question.text, asked.gold.answer.value, text, cited)
    return tuple(tasks)


def quality(asked: Asked, grader: str, opponent: str = CANONICAL) -> Found:
    """The win rate over key facts and both orders; who says nothing loses every fact.

    Without a judge nobody does: a run's value would be that of its silent questions alone.

    Args:
        asked: the question.
        grader: on whose terms a judge must have decided.
        opponent: whom the answer is set against.
    """
    gold = text_gold(asked)
    if gold is None:
        return NO_FACTS
    if not said(asked.record.answer):
        return 0.0 if asked.judged else NO_VERDICT
    return mean_score(asked.verdicts, pairwise_names(len(gold.key_facts), opponent), grader)


def action_quality(asked: Asked, grader: str) -> Found:
    """The share of the criteria that a recommendation meets; none of them without a word."""
    if not said(asked.record.answer):
        return 0.0 if asked.judged else NO_VERDICT
    return mean_score(asked.verdicts, action_names(), grader)


def naive_missing(asked: Asked) -> str:
    """Why there is no naive answer to be set against; empty where there is one.

    None is asked for once the memory is gone: it has lost to whatever would have been said.
    """
    naive = asked.record.naive
    if naive is None:
        lost = asked.naive and asked.record.outcome.adapters_fault
        return "" if lost else NO_NAIVE
    if naive.failure or naive.answer is None:
        # Without what follows the colon, a provider's words: equal reasons are counted together.
        return f"its own generation failed: {naive.failure.partition(': ')[0] or 'no answer'}"
    return "" if said(naive.answer) else "its own generation failed: the answer is empty"


def agreement(verdicts: Iterable[Verdict]) -> float | None:
    """The mean over tasks of how far their votes agree; None where one vote was taken of each."""
    known = [found.agreement for found in verdicts if found.agreement is not None]
    return fmean(known) if known else None
