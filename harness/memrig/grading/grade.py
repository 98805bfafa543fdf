"""Grades whole trials: from sealed records and gold to lines of `grades.jsonl`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from memrig.grading.base import Asked, Grade, Grader, Marks
from memrig.model.gold import Gold
from memrig.model.judgement import Verdict
from memrig.model.scenario import Question
from memrig.model.transcript import CapabilitiesRecord, QuestionRecord, Record
from memrig.model.trial import TrialSpec

#: Verdicts by task, by (trial id, scenario id, question id).
Verdicts = Mapping[tuple[str, str, str], Mapping[str, Verdict]]


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of one scenario: its questions, gold records and episode texts, by id.

    `positions` tells how many episodes come before each question.
    """

    questions: Mapping[str, Question]
    gold: Mapping[str, Gold]
    texts: Mapping[str, str] = field(default_factory=dict)
    positions: Mapping[str, int] = field(default_factory=dict)


def asked_of(
    spec: TrialSpec,
    records: Iterable[Record],
    truth: Callable[[str], Truth],
    verdicts: Verdicts | None = None,
) -> Iterator[Asked]:
    """Every settled question of a trial with all that is known of it, in the order of settling.

    Args:
        spec: the trial.
        records: its transcript.
        truth: what is known of a scenario, by scenario id.
        verdicts: a judge's; None where none was asked.
    """
    loaded: dict[str, Truth] = {}
    limit = spec.top_k
    for record in records:
        if isinstance(record, CapabilitiesRecord):
            limit = min(spec.top_k, record.max_results)
        if not isinstance(record, QuestionRecord):
            continue
        if record.scenario_id not in loaded:
            loaded = {record.scenario_id: truth(record.scenario_id)}
        found = loaded[record.scenario_id]
        key = spec.trial_id, record.scenario_id, record.question_id
        yield Asked(
            question=found.questions[record.question_id],
            record=_settled(record),
            gold=found.gold[record.question_id],
            texts=found.texts,
            limit=record.searches[-1].limit if record.searches else limit,
            verdicts=(verdicts or {}).get(key, {}),
            judged=verdicts is not None,
            mode=spec.mode,
            prompt=spec.answer.prompt if spec.answer else "direct",
            naive=spec.naive,
            pod=spec.adapter.pod,
            budget=spec.budget,
            position=found.positions.get(record.question_id, 0),
        )


def _settled(record: QuestionRecord) -> QuestionRecord:
    """A fault of the adapter scores what finding and saying nothing scores, whatever it returned.

    So does an exhausted budget that left no answer.
    """
    outcome = record.outcome
    if outcome.adapters_fault or (outcome.status == "budget_exceeded" and record.answer is None):
        return record.model_copy(update={"searches": (), "answer": None})
    return record


def grade_trial(
    spec: TrialSpec,
    records: Iterable[Record],
    truth: Callable[[str], Truth],
    grader: Grader,
    verdicts: Verdicts | None = None,
) -> Iterator[Grade]:
    """Grades every question of a trial, in the order they were settled.

    Args are those of `asked_of`, and the protocol's grader.
    """
    for _, grade in graded(spec, records, truth, grader, verdicts):
        yield grade


def graded(
    spec: TrialSpec,
    records: Iterable[Record],
    truth: Callable[[str], Truth],
    grader: Grader,
    verdicts: Verdicts | None = None,
) -> Iterator[tuple[Asked, Grade]]:
    """As `grade_trial`, each grade with what it was made from."""
    records = list(records)
    originals = (record for record in records if isinstance(record, QuestionRecord))
    for asked, original in zip(asked_of(spec, records, truth, verdicts), originals, strict=True):
        yield asked, _grade(spec, original, asked, grader)


def _grade(spec: TrialSpec, record: QuestionRecord, asked: Asked, grader: Grader) -> Grade:
    marks = _marks(asked, grader)
    gold, searches = asked.gold, record.searches
    hits = [hit for search in searches for hit in search.hits]
    return Grade(
        trial_id=spec.trial_id,
        scenario_id=record.scenario_id,
        question_id=record.question_id,
        category=gold.category,
        cluster=gold.cluster or record.scenario_id,
        seed=spec.seed,
        repeat=spec.repeat,
        protocol=spec.protocol,
        grader=f"{grader.protocol}/{grader.version}",
        status="ungraded" if marks.ungraded else "graded",
        reason=marks.ungraded,
        outcome=record.outcome.status,
        scores={} if marks.ungraded else dict(marks.scores),
        weights={} if marks.ungraded else dict(marks.weights),
        missing={} if marks.ungraded else dict(marks.missing),
        counts=dict(marks.counts),
        rank=None if marks.ungraded else marks.rank,
        tags=gold.tags,
        template=gold.template,
        agreement=marks.agreement,
        hits=len(hits),
        void_claims=sum(source is None for hit in hits for source in hit.episodes),
        derived_hits=marks.derived_hits,
        surplus_hits=sum(search.surplus_hits for search in searches),
    )


def _marks(asked: Asked, grader: Grader) -> Marks:
    outcome = asked.record.outcome
    if outcome.status == "harness_error":
        return Marks({}, ungraded=f"{outcome.label}: {outcome.message}")
    return grader.grade(asked)
