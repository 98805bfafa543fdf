"""The questions that went worst, with what was retrieved for them."""

from memrig.grading.base import Grade
from memrig.grading.retrieval import hits_of
from memrig.model.gold import Gold, shown
from memrig.model.scenario import questions_of
from memrig.model.transcript import HitRecord
from memrig.report.collect import Collected
from memrig.report.model import ShownEvidence, ShownHit, ShownQuestion
from memrig.runs.directory import RunDirectory

_SHOWN = 10
_TEXT = 400


def worst_questions(directory: RunDirectory, found: Collected) -> tuple[ShownQuestion, ...]:
    """Ten questions: faults first, then those whose evidence was not found, across categories.

    Within a category the first of each scenario comes first, so that the ten differ in kind.
    """
    chosen = _spread([g for g in found.grades if g.status == "graded" and _went_wrong(g)])
    return tuple(show_question(directory, found, grade) for grade in chosen[:_SHOWN])


def _score(grade: Grade) -> float | None:
    """How the answer did; None where only retrieval was graded."""
    return next((grade.scores[name] for name in ("accuracy", "f1") if name in grade.scores), None)


def _went_wrong(grade: Grade) -> bool:
    score = _score(grade)
    return (grade.rank or 99) > 1 if score is None else score < 1


def _spread(grades: list[Grade]) -> list[Grade]:
    """Worst first, but taking turns between categories and scenarios."""

    def badness(grade: Grade) -> tuple[bool, float, bool, int]:
        fault = grade.outcome not in {"answered", "abstained"}
        return not fault, _score(grade) or 0.0, grade.rank is not None, -(grade.rank or 0)

    turn: dict[tuple[str, str], int] = {}
    keyed = []
    for grade in sorted(grades, key=badness):
        place = grade.category, grade.scenario_id
        turn[place] = turn.get(place, 0) + 1
        nth_of_category = sum(n for (category, _), n in turn.items() if category == grade.category)
        keyed.append(((badness(grade)[:3], nth_of_category, turn[place]), grade))
    return [grade for _, grade in sorted(keyed, key=lambda pair: pair[0])]


def show_question(directory: RunDirectory, found: Collected, grade: Grade) -> ShownQuestion:
    """One question in full: what should have been found, and what was."""
    spec = next(spec for spec in directory.specs() if spec.trial_id == grade.trial_id)
    scenario = directory.scenario(spec, grade.scenario_id)
    record = found.questions[grade.trial_id, grade.scenario_id, grade.question_id]
    gold = scenario.gold()[grade.question_id]
    texts = scenario.episode_texts()
    question = next(
        q for q in questions_of(scenario.events()) if q.question_id == grade.question_id
    )
    return ShownQuestion(
        scenario_id=grade.scenario_id,
        question_id=grade.question_id,
        category=grade.category,
        text=question.text,
        gold=shown(gold.answer) if gold.answer else "",
        outcome=record.outcome.label,
        message=record.outcome.message,
        rank=grade.rank,
        answer=_cut(record.answer.text) if record.answer else "",
        score=_score(grade),
        verdict=_verdict(found, grade),
        latency_ms=round(record.ns / 1e6, 3),
        evidence=tuple(
            ShownEvidence(source=name, text=_cut(texts.get(name, ""))) for name in gold.evidence
        ),
        hits=tuple(_shown_hit(number, hit, gold) for number, hit in enumerate(hits_of(record), 1)),
    )


def _verdict(found: Collected, grade: Grade) -> str:
    """What the judge said, in its own words; or why it did not."""
    key = grade.trial_id, grade.scenario_id, grade.question_id
    votes = [vote for verdict in found.verdicts.get(key, []) for vote in verdict.votes]
    return _cut(" · ".join(vote.reply.strip() or vote.reason for vote in votes))


def _shown_hit(number: int, hit: HitRecord, gold: Gold) -> ShownHit:
    sources = tuple(source or "(void)" for source in hit.episodes)
    return ShownHit(
        rank=number,
        text=_cut(hit.text),
        score=hit.score,
        sources=sources,
        relevant=not set(sources).isdisjoint(gold.evidence),
        stale=not set(sources).isdisjoint(gold.stale),
    )


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
