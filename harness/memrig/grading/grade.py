"""Grades whole trials: from sealed records and gold to lines of `grades.jsonl`."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from memrig.grading.base import Grade, Grader, Marks
from memrig.model.gold import Gold
from memrig.model.transcript import CapabilitiesRecord, QuestionRecord, Record
from memrig.model.trial import TrialSpec

#: Gold records and episode texts of one scenario.
Truth = tuple[Mapping[str, Gold], Mapping[str, str]]


def grade_trial(
    spec: TrialSpec,
    records: Iterable[Record],
    truth: Callable[[str], Truth],
    grader: Grader,
) -> Iterator[Grade]:
    """Grades every question of a trial, in the order they were settled.

    Args:
        spec: the trial.
        records: its transcript.
        truth: gives a scenario's gold and texts by scenario id.
        grader: the protocol's.
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
        gold, texts = loaded[record.scenario_id]
        marks = _marks(record, gold[record.question_id], texts, limit, grader)
        yield _grade(spec, record, gold[record.question_id], marks, grader)


def _grade(
    spec: TrialSpec, record: QuestionRecord, gold: Gold, marks: Marks, grader: Grader
) -> Grade:
    reason = _why_ungraded(record, gold)
    searches = record.searches
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
        status="ungraded" if reason else "graded",
        reason=reason,
        outcome=record.outcome.status,
        scores={} if reason else dict(marks.scores),
        rank=None if reason else marks.rank,
        hits=len(hits),
        void_claims=sum(source is None for hit in hits for source in hit.episodes),
        derived_hits=marks.derived_hits,
        surplus_hits=sum(search.surplus_hits for search in searches),
    )


def _why_ungraded(record: QuestionRecord, gold: Gold) -> str:
    if record.outcome.status == "harness_error":
        return f"harness_error: {record.outcome.message}"
    return "" if gold.scorable else gold.note or "not scorable"


def _marks(
    record: QuestionRecord, gold: Gold, texts: Mapping[str, str], limit: int, grader: Grader
) -> Marks:
    """A fault of the adapter scores what finding nothing scores, whatever it returned."""
    if record.searches:
        limit = record.searches[-1].limit
    if record.outcome.adapters_fault:
        record = record.model_copy(update={"searches": ()})
    return grader.grade(record, gold, texts, limit)
