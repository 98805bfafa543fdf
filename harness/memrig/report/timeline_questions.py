"""One question of a timeline: its tool calls, what they returned, and how far the answer got."""

import json
from collections.abc import Iterator, Mapping

from memrig.grading.base import Asked, Grade
from memrig.grading.typed import grade_each_fact
from memrig.model.gold import TextGold, shown
from memrig.model.transcript import QuestionRecord, SearchRecord, ToolUseRecord
from memrig.report.model_timeline import (
    Evidence,
    Spent,
    TimelineCall,
    TimelineFact,
    TimelineMemory,
    TimelineQuestion,
)
from memrig.report.text import one_line

#: A run has hundreds of questions: what is longer is cut, and says so by its ellipsis or a count.
CALLS, HANDLES = 30, 20
_TEXT, _SHORT = 800, 240


def timeline_question(
    asked: Asked, grade: Grade, checkpoint: int, score: float | None, found: Evidence, spent: Spent
) -> TimelineQuestion:
    """Puts together what is known of a question at its checkpoint."""
    record, answer = asked.record, asked.record.answer
    calls = tuple(_calls(record))
    return TimelineQuestion(
        scenario_id=grade.scenario_id,
        question_id=grade.question_id,
        repeat=grade.repeat,
        category=grade.category,
        checkpoint=checkpoint,
        episodes=asked.position,
        text=one_line(asked.question.text, _TEXT),
        outcome=record.outcome.label,
        score=score,
        evidence=found,
        spent=spent,
        calls=calls[:CALLS],
        more_calls=max(0, len(calls) - CALLS),
        memories=tuple(_memories(asked)),
        answer=None if answer is None else one_line(answer.text, _TEXT),
        unknown_citations=answer.unknown_citations if answer else 0,
        facts=tuple(_facts(asked)),
        gold=one_line(shown(asked.gold.answer), _TEXT) if asked.gold.answer else "",
    )


def _calls(record: QuestionRecord) -> Iterator[TimelineCall]:
    """The agent's calls, or else the searches that the rig made itself."""
    if record.tool_uses:
        yield from map(_tool_call, record.tool_uses)
        return
    memories = record.answer.memories if record.answer else ()
    handles = {memory.ref_id: memory.handle for memory in memories if memory.ref_id}
    for search in record.searches:
        yield _search(search, handles)


def _tool_call(use: ToolUseRecord) -> TimelineCall:
    handles = [str(item["handle"]) for item in _items(use.result)]
    return TimelineCall(
        name=one_line(use.name, _SHORT),
        arguments=one_line(use.arguments_json, _SHORT),
        handles=tuple(handles[:HANDLES]),
        more=max(0, len(handles) - HANDLES),
        note="" if handles else one_line(use.result, _SHORT),
        is_error=use.is_error,
        payload_bytes=use.payload_bytes,
        latency_ms=round(use.ns / 1e6, 3),
    )


def _search(search: SearchRecord, handles: Mapping[str, str]) -> TimelineCall:
    shown_as = [handles[hit.ref_id] for hit in search.hits if hit.ref_id in handles]
    return TimelineCall(
        name="search",
        arguments=one_line(search.query, _SHORT),
        handles=tuple(shown_as[:HANDLES]),
        more=max(0, len(search.hits) - len(shown_as[:HANDLES])),
        note="" if search.hits else "no hit",
        is_error=False,
        payload_bytes=search.payload_bytes,
        latency_ms=round(search.ns / 1e6, 3),
    )


def _items(result: str) -> list[dict[str, object]]:
    """The memories in a tool's result, each with its handle."""
    try:
        value = json.loads(result)
    except ValueError:
        return []
    members = value if isinstance(value, dict) else {}
    items = (item for name in ("results", "memories") for item in members.get(name) or ())
    return [item for item in items if isinstance(item, dict) and "handle" in item]


def _memories(asked: Asked) -> Iterator[TimelineMemory]:
    """What was shown, each memory once, with the date that it was shown with."""
    answer = asked.record.answer
    if answer is None:
        return
    dates = {
        str(item["handle"]): str(item.get("date", ""))
        for use in asked.record.tool_uses
        for item in _items(use.result)
    }
    needed = frozenset(asked.gold.evidence)
    for memory in answer.memories:
        yield TimelineMemory(
            handle=memory.handle,
            date=dates.get(memory.handle, "")[:10],
            evidence=not needed.isdisjoint(memory.episodes),
            cited=memory.handle in answer.cited,
        )


def _facts(asked: Asked) -> Iterator[TimelineFact]:
    """Each key fact, by the grader's own rule."""
    gold, answer = asked.gold.answer, asked.record.answer
    if not isinstance(gold, TextGold):
        return
    said, abstained = (answer.text, answer.abstained) if answer else ("", False)
    scores = grade_each_fact(said, gold, asked.question.text, abstained)
    for fact, score in zip(gold.key_facts, scores, strict=True):
        yield TimelineFact(text=one_line(fact, _SHORT), score=round(score, 4))
