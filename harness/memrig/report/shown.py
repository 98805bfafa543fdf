"""One question in full: what was right, what was found, what was answered, what a judge said."""

import json
from collections.abc import Iterator, Mapping

from memrig.grading.base import Grade
from memrig.grading.retrieval import hits_of
from memrig.model.gold import Gold, shown
from memrig.model.judgement import Verdict
from memrig.model.scenario import Question
from memrig.model.transcript import (
    AnswerRecord,
    HitRecord,
    NaiveRecord,
    QuestionRecord,
    ToolUseRecord,
)
from memrig.report.collect import Collected
from memrig.report.model import (
    ShownCitation,
    ShownEvidence,
    ShownHit,
    ShownNaive,
    ShownQuestion,
    ShownTool,
    ShownVerdict,
    ShownVote,
)
from memrig.report.scores import score_of
from memrig.runs.directory import RunDirectory
from memrig.trial.directory import load_trial

_TEXT = 400
_HANDLES = 10


def show_question(directory: RunDirectory, found: Collected, grade: Grade) -> ShownQuestion:
    """One question in full: what should have been found, and what was."""
    spec = next(spec for spec in directory.specs() if spec.trial_id == grade.trial_id)
    scenario = directory.scenario(spec, grade.scenario_id)
    key = grade.trial_id, grade.scenario_id, grade.question_id
    questions, texts, _ = scenario.truth()
    return shown_question(
        grade,
        questions[grade.question_id],
        scenario.gold()[grade.question_id],
        _record(directory, grade),
        texts,
        tuple(found.verdicts.get(key, ())),
    )


def _record(directory: RunDirectory, grade: Grade) -> QuestionRecord:
    """Read again: the hits of a whole run would not fit into memory."""
    _, _, records = load_trial(directory.trials / grade.trial_id)
    return next(
        record
        for record in records
        if isinstance(record, QuestionRecord)
        and (record.scenario_id, record.question_id) == (grade.scenario_id, grade.question_id)
    )


def shown_question(
    grade: Grade,
    question: Question,
    gold: Gold,
    record: QuestionRecord,
    texts: Mapping[str, str],
    verdicts: tuple[Verdict, ...] = (),
) -> ShownQuestion:
    """Puts together what is known of a question; `texts` are the scenario's episodes by id."""
    answer = record.answer
    return ShownQuestion(
        scenario_id=grade.scenario_id,
        question_id=grade.question_id,
        category=grade.category,
        text=question.text,
        asked_at=f"{question.asked_at:%Y-%m-%d %H:%M}" if question.asked_at else "",
        gold=shown(gold.answer) if gold.answer else "",
        outcome=record.outcome.label,
        message=record.outcome.message,
        rank=grade.rank,
        latency_ms=round(record.ns / 1e6, 3),
        answer=None if answer is None else _cut(answer.text),
        confidence=answer.confidence if answer else None,
        reserved_turn=answer.reserved_turn if answer else False,
        naive=_shown_naive(record.naive) if record.naive else None,
        score=score_of(grade),
        ungraded=grade.reason,
        verdicts=tuple(map(_shown_verdict, verdicts)),
        citations=tuple(_citations(answer, record, gold, texts)) if answer else (),
        unknown_citations=answer.unknown_citations if answer else 0,
        tools=tuple(map(_shown_tool, record.tool_uses)),
        evidence=tuple(
            ShownEvidence(source=name, text=_cut(texts.get(name, ""))) for name in gold.evidence
        ),
        hits=tuple(_hits(record, gold)),
    )


def _shown_naive(naive: NaiveRecord) -> ShownNaive:
    return ShownNaive(
        text=_cut(naive.answer.text) if naive.answer else "",
        failure=_cut(naive.failure),
        episodes=naive.episodes,
        shown=naive.shown,
    )


def _shown_verdict(verdict: Verdict) -> ShownVerdict:
    votes = (
        ShownVote(score=vote.score, said=_cut(vote.reply.strip() or vote.reason))
        for vote in verdict.votes
    )
    return ShownVerdict(
        task=verdict.task, score=verdict.score, reason=_cut(verdict.reason), votes=tuple(votes)
    )


def _citations(
    answer: AnswerRecord, record: QuestionRecord, gold: Gold, texts: Mapping[str, str]
) -> Iterator[ShownCitation]:
    memories = {memory.handle: memory for memory in answer.memories}
    by_ref = {hit.ref_id: hit.text for search in record.searches for hit in search.hits}
    for handle in answer.cited:
        memory = memories.get(handle)
        if memory is None:
            continue
        named = next((texts[name] for name in memory.episodes if name and name in texts), "")
        yield ShownCitation(
            handle=handle,
            sources=_sources(memory.episodes),
            text=_cut(by_ref.get(memory.ref_id) or named),
            relevant=not set(memory.episodes).isdisjoint(gold.evidence),
        )


def _shown_tool(use: ToolUseRecord) -> ShownTool:
    return ShownTool(
        name=use.name,
        arguments=_cut(use.arguments_json),
        result=_cut(_in_short(use.result)),
        is_error=use.is_error,
        latency_ms=round(use.ns / 1e6, 3),
    )


def _in_short(result: str) -> str:
    """Which memories a search gave, instead of their text; anything else as it came."""
    try:
        value = json.loads(result)
    except ValueError:
        return result
    items = value.get("results") if isinstance(value, dict) else None
    if not isinstance(items, list):
        return result
    handles = [str(item["handle"]) for item in items if isinstance(item, dict) and "handle" in item]
    more = ", …" if len(handles) > _HANDLES else ""
    said = f"{len(items)} result{'' if len(items) == 1 else 's'}"
    return f"{said}: {', '.join(handles[:_HANDLES])}{more}" if handles else said


def _hits(record: QuestionRecord, gold: Gold) -> Iterator[ShownHit]:
    memories = record.answer.memories if record.answer else ()
    handles = {memory.ref_id: memory.handle for memory in memories if memory.ref_id}
    hits = hits_of(record)
    if len(record.searches) > 1:
        every = (hit for search in record.searches for hit in search.hits)
        hits = tuple({hit.ref_id: hit for hit in every}.values())
    for number, hit in enumerate(hits, 1):
        yield _shown_hit(number, hit, gold, handles.get(hit.ref_id, ""))


def _shown_hit(number: int, hit: HitRecord, gold: Gold, handle: str) -> ShownHit:
    return ShownHit(
        rank=number,
        text=_cut(hit.text),
        score=hit.score,
        sources=_sources(hit.episodes),
        relevant=not set(hit.episodes).isdisjoint(gold.evidence),
        stale=not set(hit.episodes).isdisjoint(gold.stale),
        handle=handle,
    )


def _sources(episodes: tuple[str | None, ...]) -> tuple[str, ...]:
    return tuple(name or "(void)" for name in episodes)


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
