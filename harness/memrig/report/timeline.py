"""What a run's memory showed over time, wherever questions stand at several checkpoints.

The same for every suite: which questions stand at which checkpoint is the scenarios' own order.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from memrig.grading.base import Asked, Grade
from memrig.grading.grade import asked_of
from memrig.grading.lens_evidence import cited_by, required, retrieved
from memrig.model.longitudinal import QUESTION_TYPES
from memrig.model.scenario import ScenarioRef
from memrig.model.transcript import QuestionRecord
from memrig.model.trial import TrialSpec
from memrig.report.collect import Collected
from memrig.report.model_timeline import (
    Evidence,
    Spent,
    Timeline,
    TimelineCell,
    TimelineCheckpoint,
    TimelineLimits,
    TimelineQuestion,
)
from memrig.report.scores import SCORES, score_of
from memrig.report.timeline_questions import timeline_question
from memrig.runs.directory import RunDirectory
from memrig.runs.judge import truth_of
from memrig.suites.spool import SpooledScenario
from memrig.trial.directory import load_trial

#: So many questions are shown with their calls; `memrig show` shows the others.
QUESTIONS = 300

#: By a scenario's digest: which checkpoint stands after how many episodes, counted from 1.
Checkpoints = Mapping[str, Mapping[int, int]]


@dataclass(frozen=True, slots=True)
class Moment:
    """What the tables need to know of one settled question."""

    category: str
    checkpoint: int
    episodes: int
    score: float | None
    evidence: Evidence
    spent: Spent
    exceeded: str


def timeline_of(directory: RunDirectory, found: Collected) -> Timeline | None:
    """The timeline; None where no scenario asks at more than one point of it.

    Raises:
        VerificationError: a transcript, a scenario or a gold file was changed.
    """
    specs = [spec for spec in directory.specs() if spec.kind == "scored"]
    checkpoints = _checkpoints(directory, specs)
    if not checkpoints:
        return None
    grades = {(g.trial_id, g.scenario_id, g.question_id): g for g in found.grades}
    moments: list[Moment] = []
    shown: list[TimelineQuestion] = []
    for spec in specs:
        digests = {ref.scenario_id: ref.digest for ref in spec.scenarios}
        for asked, grade in _settled(directory, spec, grades):
            number = checkpoints[digests[grade.scenario_id]][asked.position]
            moment = _moment(asked, grade, number)
            moments.append(moment)
            if len(shown) < QUESTIONS:
                shown.append(_question(asked, grade, moment))
    if not moments:
        return None
    metric = next((n for n in SCORES if any(n in g.scores for g in found.grades)), "")
    return _timeline(metric, _limits(specs[0]), moments, shown)


def _checkpoints(directory: RunDirectory, specs: Sequence[TrialSpec]) -> Checkpoints:
    """Empty where no scenario has more than one. Those with one question are not read for that.

    Under another seed a scenario of the same name can be another one, so digests tell them apart.
    """
    refs = {ref.digest: ref for spec in specs for ref in spec.scenarios}
    read = {name: _places(directory, ref) for name, ref in refs.items() if ref.questions > 1}
    if not any(len(places) > 1 for places in read.values()):
        return {}
    rest = {name: ref for name, ref in refs.items() if name not in read}
    return read | {name: _places(directory, ref) for name, ref in rest.items()}


def _places(directory: RunDirectory, ref: ScenarioRef) -> Mapping[int, int]:
    positions = SpooledScenario(directory.scenarios, ref).truth()[2]
    return {place: number for number, place in enumerate(sorted(set(positions.values())), 1)}


def _settled(
    directory: RunDirectory, spec: TrialSpec, grades: Mapping[tuple[str, str, str], Grade]
) -> Iterator[tuple[Asked, Grade]]:
    folder = directory.finished(spec)
    if folder is None:
        return
    records = load_trial(folder)[2]
    for asked in asked_of(spec, records, partial(truth_of, directory, spec)):
        record = asked.record
        yield asked, grades[spec.trial_id, record.scenario_id, record.question_id]


def _moment(asked: Asked, grade: Grade, number: int) -> Moment:
    record = asked.record
    needed = required(asked)
    over = record.outcome.status == "budget_exceeded"
    return Moment(
        category=grade.category,
        checkpoint=number,
        episodes=asked.position,
        score=score_of(grade),
        evidence=Evidence(
            required=len(needed),
            retrieved=len(needed & retrieved(record)),
            cited=len(needed & cited_by(record).episodes(len(needed))),
        ),
        spent=_spent(record),
        exceeded=record.outcome.kind if over else "",
    )


def _spent(record: QuestionRecord) -> Spent:
    """What a question used. Without an agent, the calls are the rig's own searches."""
    made = record.tool_uses or record.searches
    calls = record.model_calls
    return Spent(
        tool_calls=len(made),
        payload_bytes=sum(call.payload_bytes for call in made),
        tokens=sum(call.input_tokens + call.output_tokens for call in calls),
        wall_s=round(record.ns / 1e9, 3),
    )


def _question(asked: Asked, grade: Grade, moment: Moment) -> TimelineQuestion:
    return timeline_question(
        asked, grade, moment.checkpoint, moment.score, moment.evidence, moment.spent
    )


def _limits(spec: TrialSpec) -> TimelineLimits:
    budget = spec.budget
    return TimelineLimits(
        tool_calls=budget.tool_calls,
        payload_bytes=budget.payload_bytes,
        tokens=budget.tokens,
        wall_s=budget.wall_time_s,
    )


def _timeline(
    metric: str,
    limits: TimelineLimits,
    moments: Sequence[Moment],
    shown: Sequence[TimelineQuestion],
) -> Timeline:
    categories = _in_order({moment.category for moment in moments})
    numbers = sorted({moment.checkpoint for moment in moments})
    at = ([m for m in moments if m.checkpoint == number] for number in numbers)
    return Timeline(
        metric=metric,
        categories=categories,
        limits=limits,
        checkpoints=tuple(_checkpoint(some, categories) for some in at),
        questions=tuple(shown),
        left_out=len(moments) - len(shown),
    )


def _in_order(categories: set[str]) -> tuple[str, ...]:
    """The longitudinal types in their own order, then all others by name."""
    known = [name for name in QUESTION_TYPES if name in categories]
    return (*known, *sorted(categories.difference(known)))


def _checkpoint(moments: Sequence[Moment], categories: Sequence[str]) -> TimelineCheckpoint:
    exceeded = Counter(moment.exceeded for moment in moments if moment.exceeded)
    places = [moment.episodes for moment in moments]
    return TimelineCheckpoint(
        number=moments[0].checkpoint,
        first=min(places),
        last=max(places),
        n=len(moments),
        score=_mean_score(moments),
        cells=tuple(
            TimelineCell(category=name, n=len(some), score=_mean_score(some))
            for name in categories
            if (some := [moment for moment in moments if moment.category == name])
        ),
        evidence=Evidence(
            required=sum(moment.evidence.required for moment in moments),
            retrieved=sum(moment.evidence.retrieved for moment in moments),
            cited=sum(moment.evidence.cited for moment in moments),
        ),
        spent=_mean_spent([moment.spent for moment in moments]),
        exceeded=dict(sorted(exceeded.items())),
    )


def _mean_score(moments: Sequence[Moment]) -> float | None:
    scores = [moment.score for moment in moments if moment.score is not None]
    return round(float(np.mean(scores)), 6) if scores else None


def _mean_spent(spent: Sequence[Spent]) -> Spent:
    return Spent(
        tool_calls=round(float(np.mean([each.tool_calls for each in spent])), 2),
        payload_bytes=round(float(np.mean([each.payload_bytes for each in spent])), 1),
        tokens=round(float(np.mean([each.tokens for each in spent])), 1),
        wall_s=round(float(np.mean([each.wall_s for each in spent])), 3),
    )
