"""The grader that all protocols with one verdict an answer share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memrig.grading.base import Asked, JudgeUse, Marks, Metric
from memrig.grading.beside import BESIDE_KS, beside, beside_metrics, derived_hits, evidence_rank
from memrig.grading.judges.delimit import Block, clean, cut
from memrig.grading.judges.parse import Parse
from memrig.grading.judges.prompts import PromptSet
from memrig.model.canonical import digest_of, short
from memrig.model.gold import (
    AbstentionGold,
    EntityGold,
    Gold,
    GoldAnswer,
    Item,
    NumberGold,
    OrderedListGold,
    SetGold,
    shown,
)
from memrig.model.judgement import JudgeTask
from memrig.model.trial import Mode

#: The one task of these protocols.
ANSWER = "answer"
#: Why a question that a judge has to decide is ungraded while none has.
NO_VERDICT = "no judge was asked"
#: How the reason begins for which a metric is missing that a judge was asked for in vain.
UNDECIDED = "the judge did not decide"
#: What an imported verdict of LongMemEval's own evaluator carries in place of a grader of ours.
OFFICIAL = "longmemeval-official-evaluator"
#: Goes up when code changes what a grade would be; prompts are hashed.
_VERSION = 1

JSON_CORRECT = (
    'Reply with one JSON object and nothing else: {"correct": true or false, "reason": "one short '
    'sentence"}'
)
#: Room for the object and its sentence.
JSON_TOKENS = 300


@dataclass(frozen=True, slots=True)
class Case:
    """How a question is judged: by which prompt, or not at all and why.

    With `abstains`, the right answer is to say that there is none.
    """

    prompt: str = ""
    abstains: bool = False
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Ballot:
    """How many votes are taken, how long a reply may be, and how it is read."""

    votes: int
    max_tokens: int
    parse: Parse


def has_abstention(gold: Gold) -> bool:
    """Whether the right answer is that there is none."""
    return "abstention" in gold.tags or isinstance(gold.answer, AbstentionGold)


def reference_text(answer: GoldAnswer) -> str:
    """The gold answer as a judge is shown it: other names that are as good, and tolerances, too."""
    match answer:
        case AbstentionGold():
            text = answer.reason or "What the system was told does not hold the answer."
        case EntityGold():
            text = _named(answer)
        case SetGold() | OrderedListGold():
            order = "in this order" if isinstance(answer, OrderedListGold) else "in any order"
            text = f"{', '.join(_named(item) for item in answer.items)} ({order})"
        case NumberGold() if answer.tolerance:
            text = f"{shown(answer)} (within {answer.tolerance:g})"
        case _:
            text = shown(answer)
    return text


def _named(item: Item) -> str:
    return f"{item.value} (or: {', '.join(item.aliases)})" if item.aliases else item.value


class JudgeGrader:
    """Accuracy by a judge's verdict, and beside it whether the evidence was found and cited.

    A question that ended without a word needs no judge: it is wrong, unless the system declared
    that it abstains where that is right, or the official evaluator has decided otherwise.

    Args:
        prompts: the protocol's; their name is the protocol's.
        case: how a question is judged, by its gold.
        ballot: votes and replies.
        types: the categories that the protocol tells apart, the first with the general rule.
        ks: depths of the retrieval metrics beside the verdict.
    """

    modes: tuple[Mode, ...] = ("reader", "agent", "native")
    judge: JudgeUse = "required"

    def __init__(
        self,
        prompts: PromptSet,
        case: Callable[[Gold], Case],
        ballot: Ballot,
        *,
        types: Sequence[str] = (),
        ks: Sequence[int] = BESIDE_KS,
    ) -> None:
        self.protocol = prompts.name
        self.prompts = prompts
        self.types = tuple(types)
        self.votes = ballot.votes
        self._case = case
        self._ballot = ballot
        self._ks = tuple(ks)
        asked = digest_of([prompts.digest, ballot.votes, ballot.max_tokens])
        self.version = f"{_VERSION}-{short(asked, 8)}"
        self.metrics = (Metric("accuracy", binary=True, headline=True), *beside_metrics(self._ks))

    def tasks(self, asked: Asked) -> tuple[JudgeTask, ...]:
        """The one verdict, where there is something to judge."""
        task = self.task(asked)
        return () if task is None else (task,)

    def task(self, asked: Asked, *, swapped: bool = False) -> JudgeTask | None:
        """What the judge is asked; None where the question is left out or nothing was said.

        Args:
            asked: the question.
            swapped: show the answer before the gold instead of after it (to measure a judge).
        """
        case = self._case(asked.gold)
        answer = _said(asked)
        if case.left_out or not answer or asked.gold.answer is None:
            return None
        gold: Block = (self.prompts.prompts[case.prompt].gold, reference_text(asked.gold.answer))
        pair = [gold, ("answer", cut(answer))]
        blocks = [("question", asked.question.text), *(reversed(pair) if swapped else pair)]
        return JudgeTask(
            name=ANSWER,
            prompt=self.prompts.render(case.prompt, blocks),
            max_tokens=self._ballot.max_tokens,
            votes=self._ballot.votes,
            parse=self._ballot.parse,
        )

    def grade(self, asked: Asked) -> Marks:
        """Scores one question by its verdict."""
        case = self._case(asked.gold)
        if reason := case.left_out or self._undecided(asked):
            return Marks({}, derived_hits=derived_hits(asked), ungraded=reason)
        answer = asked.record.answer
        if _needs_none(asked):
            silent = answer is not None and answer.abstained and case.abstains
            return self._marks(asked, float(silent), None)
        verdict = asked.verdicts[ANSWER]
        return self._marks(asked, float(verdict.score == 1.0), verdict.agreement)

    def _undecided(self, asked: Asked) -> str:
        """Why nobody can tell whether the answer is right; empty where somebody can."""
        if asked.gold.answer is None:
            return "the data holds no answer"
        if _needs_none(asked):
            return ""
        verdict = asked.verdicts.get(ANSWER)
        if verdict is None:
            return NO_VERDICT
        own = f"{self.protocol}/{self.version}"
        if verdict.grader not in {own, OFFICIAL}:
            return f"{NO_VERDICT} by {own}: the verdict is on the terms of {verdict.grader}"
        if verdict.score in {0.0, 1.0}:
            return ""
        return verdict.reason or f"the votes are split: their median is {verdict.score}"

    def _marks(self, asked: Asked, accuracy: float, agreement: float | None) -> Marks:
        return Marks(
            scores={"accuracy": accuracy} | beside(asked, self._ks),
            rank=evidence_rank(asked),
            derived_hits=derived_hits(asked),
            agreement=agreement,
        )


def _needs_none(asked: Asked) -> bool:
    """Whether nothing was said; the official evaluator judges that too, and its verdict stands."""
    verdict = asked.verdicts.get(ANSWER)
    return not _said(asked) and (verdict is None or verdict.grader != OFFICIAL)


def _said(asked: Asked) -> str:
    """The answer as a reader would see it; empty where there is none."""
    answer = asked.record.answer
    return "" if answer is None else clean(answer.text)
