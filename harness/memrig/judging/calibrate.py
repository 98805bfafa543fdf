"""Measures a judge against labelled answers: is it right, is it steady, and what sways it.

Every answer is judged three times: as a protocol asks; with the blocks of gold and answer swapped
(position bias); and with polite words around the answer that add nothing (verbosity bias).
Counts only; intervals are the report's.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from pydantic import BaseModel, ConfigDict

from memrig.grading.base import Asked
from memrig.grading.judges.base import JudgeGrader
from memrig.judging.labels import LabelledAnswer
from memrig.judging.panel import JudgedQuestion, Panel
from memrig.judging.pool import AT_ONCE, run_all
from memrig.judging.trial import grader_name
from memrig.model.chat import Chat
from memrig.model.gold import AbstentionGold, Gold, GoldAnswer, TextGold
from memrig.model.judgement import JudgeTask, Verdict
from memrig.model.scenario import Question
from memrig.model.transcript import AnswerRecord, QuestionRecord
from memrig.model.trial import Outcome

#: Words that say nothing about any question; some 60 of them.
_BEFORE = (
    "Thank you for asking. I have gone through what I remember of our earlier conversations with "
    "some care before writing this, and I will put what I have found as plainly as I can."
)
_AFTER = (
    "I hope that this is of use to you. If there is anything else that you would like to know, or "
    "anything that I should look at again, please do let me know at any time."
)
_NAME = "calibrate"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class Rate(_Record):
    """So many of so many."""

    count: int
    of: int


class Confusion(_Record):
    """Verdicts against labels; "positive" is right."""

    true_positive: int = 0
    false_positive: int = 0
    true_negative: int = 0
    false_negative: int = 0


class Changes(_Record):
    """How often a verdict changed that should not have, and which way."""

    compared: int
    to_right: int
    to_wrong: int

    @property
    def changed(self) -> int:
        """In either direction."""
        return self.to_right + self.to_wrong


class Calibration(_Record):
    """What a judge is worth on a labelled set.

    `labelled` counts answers that the protocol judges, `left_out` those it does not; `ungraded`
    ones got no verdict. `kappa` is Cohen's (1960) between verdicts and labels, None where chance
    alone would agree throughout. `false_positives` and `false_negatives` are by kind of answer.
    `agreement` is the mean between votes, None where there was one vote. `position`, `verbosity`
    and `pairs` (answers that the set holds in two lengths; from the first to the one that names
    it) say what sways the judge.
    """

    protocol: str
    grader: str
    model: str
    served_models: tuple[str, ...]
    labelled: int
    left_out: int
    ungraded: int
    confusion: Confusion
    kappa: float | None
    false_positives: dict[str, Rate]
    false_negatives: dict[str, Rate]
    agreement: float | None
    position: Changes
    verbosity: Changes
    pairs: Changes
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None

    @property
    def graded(self) -> int:
        """How many answers got a verdict."""
        return self.labelled - self.ungraded

    @property
    def right(self) -> int:
        """How many verdicts are the label's: of `graded`, the accuracy."""
        return self.confusion.true_positive + self.confusion.true_negative


@dataclass(frozen=True, slots=True)
class _Views:
    """The three verdicts on one answer."""

    item: LabelledAnswer
    plain: Verdict
    swapped: Verdict
    padded: Verdict


async def calibrate(
    chat: Chat,
    model: str,
    grader: JudgeGrader,
    items: Sequence[LabelledAnswer],
    *,
    seed: int = 0,
    limit: int = AT_ONCE,
) -> Calibration:
    """Measures one judge under one protocol.

    Args:
        chat: where the judge is reached.
        model: the judge.
        grader: the protocol.
        items: labelled answers.
        seed: of the calls.
        limit: how many answers are judged at once.

    Raises:
        GatewayError: the judge could not be had.
    """
    session = _Session(Panel(chat, model), grader, seed)
    judged = [(item, tasks) for item in items if (tasks := _tasks(item, grader))]
    views = await run_all((partial(session.views, item, tasks) for item, tasks in judged), limit)
    return _measured(views, grader, model, left_out=len(items) - len(judged))


def _tasks(item: LabelledAnswer, grader: JudgeGrader) -> tuple[JudgeTask, ...]:
    """What the judge is asked about one answer; nothing where the protocol has no rule for it."""
    if item.type and item.type not in grader.types:
        return ()
    plain = _asked(item, item.answer, grader)
    padded = _asked(item, f"{_BEFORE}\n\n{item.answer}\n\n{_AFTER}", grader)
    tasks = grader.task(plain), grader.task(plain, swapped=True), grader.task(padded)
    return tuple(task for task in tasks if task is not None)


def _asked(item: LabelledAnswer, answer: str, grader: JudgeGrader) -> Asked:
    """The labelled answer as a settled question."""
    gold: GoldAnswer = TextGold(type="text", value=item.gold)
    if item.abstention:
        gold = AbstentionGold(type="abstention", reason=item.gold)
    category = item.type or next(iter(grader.types), "")
    record = QuestionRecord(
        scenario_id=_NAME,
        question_id=item.id,
        outcome=Outcome(status="answered"),
        ns=0,
        answer=AnswerRecord(text=answer),
    )
    return Asked(
        question=Question(question_id=item.id, text=item.question),
        record=record,
        gold=Gold(question_id=item.id, category=category, answer=gold, scorable=False),
        texts={},
        limit=1,
        mode="native",
    )


@dataclass(frozen=True, slots=True)
class _Session:
    panel: Panel
    grader: JudgeGrader
    seed: int

    async def views(self, item: LabelledAnswer, tasks: Sequence[JudgeTask]) -> _Views:
        """All verdicts on one answer."""
        plain, swapped, padded = tasks
        return _Views(
            item,
            plain=await self._verdict(item, "plain", plain),
            swapped=await self._verdict(item, "swapped", swapped),
            padded=await self._verdict(item, "padded", padded),
        )

    async def _verdict(self, item: LabelledAnswer, view: str, task: JudgeTask) -> Verdict:
        where = JudgedQuestion(
            trial_id=_NAME,
            scenario_id=_NAME,
            question_id=item.id,
            protocol=self.grader.protocol,
            grader=grader_name(self.grader),
            seed=self.seed,
            scope=f"{_NAME}/{item.id}/{view}",
        )
        return await self.panel.judge(task, where)


def _measured(
    views: Sequence[_Views], grader: JudgeGrader, model: str, *, left_out: int
) -> Calibration:
    verdicts = [verdict for view in views for verdict in (view.plain, view.swapped, view.padded)]
    votes = [vote for verdict in verdicts for vote in verdict.votes]
    prices = [vote.cost_usd for vote in votes]
    known = [price for price in prices if price is not None]
    agreements = [v.plain.agreement for v in views if v.plain.agreement is not None]
    decided = [(v.item, said) for v in views if (said := _said(v.plain)) is not None]
    confusion = _confusion(decided)
    return Calibration(
        protocol=grader.protocol,
        grader=grader_name(grader),
        model=model,
        served_models=tuple(sorted({vote.served_model for vote in votes} - {""})),
        labelled=len(views),
        left_out=left_out,
        ungraded=len(views) - len(decided),
        confusion=confusion,
        kappa=kappa(confusion),
        false_positives=_errors(decided, label=False),
        false_negatives=_errors(decided, label=True),
        agreement=fmean(agreements) if agreements else None,
        position=_changes((v.plain, v.swapped) for v in views),
        verbosity=_changes((v.plain, v.padded) for v in views),
        pairs=_changes(_pairs(views)),
        calls=sum(vote.asked for vote in votes),
        input_tokens=sum(vote.input_tokens for vote in votes),
        output_tokens=sum(vote.output_tokens for vote in votes),
        cost_usd=sum(known) if known and len(known) == len(prices) else None,
    )


def _said(verdict: Verdict) -> bool | None:
    """Right or wrong; None where there is no verdict, or votes that split evenly."""
    return {1.0: True, 0.0: False}.get(verdict.score) if verdict.score is not None else None


def _confusion(decided: Iterable[tuple[LabelledAnswer, bool]]) -> Confusion:
    cells = Counter((item.label, said) for item, said in decided)
    return Confusion(
        true_positive=cells[True, True],
        false_positive=cells[False, True],
        true_negative=cells[False, False],
        false_negative=cells[True, False],
    )


def kappa(confusion: Confusion) -> float | None:
    """Cohen's kappa (1960): agreement beyond chance ÷ what chance leaves to agree on."""
    yes_yes, no_no = confusion.true_positive, confusion.true_negative
    said = yes_yes + confusion.false_positive
    labelled = yes_yes + confusion.false_negative
    n = said + no_no + confusion.false_negative
    chance = said * labelled + (n - said) * (n - labelled)  # times n²
    return (n * (yes_yes + no_no) - chance) / (n * n - chance) if n * n != chance else None


def _errors(decided: Iterable[tuple[LabelledAnswer, bool]], *, label: bool) -> dict[str, Rate]:
    """How many answers with this label got the other verdict, by kind."""
    total, wrong = Counter[str](), Counter[str]()
    for item, said in decided:
        if item.label is label:
            total[item.group] += 1
            wrong[item.group] += said is not label
    return {kind: Rate(count=wrong[kind], of=total[kind]) for kind in sorted(total)}


def _pairs(views: Sequence[_Views]) -> Iterable[tuple[Verdict, Verdict]]:
    plain: Mapping[str, Verdict] = {view.item.id: view.plain for view in views}
    return [(plain[v.item.pair], v.plain) for v in views if v.item.pair in plain]


def _changes(pairs: Iterable[tuple[Verdict, Verdict]]) -> Changes:
    """Compares verdicts where there are two."""
    cells = Counter((_said(before), _said(after)) for before, after in pairs)
    compared = sum(count for pair, count in cells.items() if None not in pair)
    return Changes(compared=compared, to_right=cells[False, True], to_wrong=cells[True, False])
