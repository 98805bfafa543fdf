"""Timelines of reports: a whole one, and one whose adapter is hostile."""

from memrig.report.model import Report
from memrig.report.model_timeline import (
    Evidence,
    Spent,
    Timeline,
    TimelineCall,
    TimelineCell,
    TimelineCheckpoint,
    TimelineFact,
    TimelineLimits,
    TimelineMemory,
    TimelineQuestion,
)
from support.answer_reports import answered_report
from support.reports import HOSTILE, LONG, hostile_report

TYPES = ("longitudinal", "null_hypothesis", "negative")


def call(**changes: object) -> TimelineCall:
    """A search that found three memories."""
    fields: dict[str, object] = {
        "name": "memory_search",
        "arguments": '{"query": "pump pressure", "limit": 3}',
        "handles": ("m1", "m2", "m3"),
        "more": 0,
        "note": "",
        "is_error": False,
        "payload_bytes": 2048,
        "latency_ms": 3.2,
    }
    return TimelineCall.model_validate(fields | changes)


def question(number: int = 1, **changes: object) -> TimelineQuestion:
    """A question with one call, two memories of which are evidence, and three key facts."""
    fields: dict[str, object] = {
        "scenario_id": "pumps",
        "question_id": f"pumps-q{number}",
        "repeat": 0,
        "category": "longitudinal",
        "checkpoint": 1,
        "episodes": 10,
        "text": "How has the pump pressure developed?",
        "outcome": "answered",
        "score": 0.5,
        "evidence": Evidence(required=4, retrieved=2, cited=1),
        "spent": Spent(tool_calls=1, payload_bytes=2048, tokens=900, wall_s=0.4),
        "calls": (call(),),
        "more_calls": 0,
        "memories": (
            TimelineMemory(handle="m1", date="2024-03-01", evidence=True, cited=True),
            TimelineMemory(handle="m2", date="2024-03-02", evidence=False, cited=False),
            TimelineMemory(handle="m3", date="2024-03-06", evidence=True, cited=False),
        ),
        "answer": "Pump pressure rose from 41 bar to 73 bar.",
        "unknown_citations": 0,
        "facts": (
            TimelineFact(text="pump pressure rose from 41 bar to 73 bar", score=1),
            TimelineFact(text="air flow stayed between 200 l and 201 l", score=0),
            TimelineFact(text="pump pressure first left its earlier range on 4 March", score=0.4),
        ),
        "gold": "Pump pressure rose from 41 bar to 73 bar; air flow stayed where it was.",
    }
    return TimelineQuestion.model_validate(fields | changes)


def checkpoint(number: int, **changes: object) -> TimelineCheckpoint:
    """A checkpoint after ten episodes for each that came before it."""
    fields: dict[str, object] = {
        "number": number,
        "first": 10 * number,
        "last": 10 * number,
        "n": 6,
        "score": 0.2 * number,
        "cells": tuple(
            TimelineCell(category=name, n=2, score=min(1.0, 0.2 * number + 0.2 * place))
            for place, name in enumerate(TYPES)
        ),
        "evidence": Evidence(required=20, retrieved=12, cited=5 * number),
        "spent": Spent(tool_calls=4, payload_bytes=32_768, tokens=20_000, wall_s=9),
        "exceeded": {},
    }
    return TimelineCheckpoint.model_validate(fields | changes)


def timeline(**changes: object) -> Timeline:
    """Two checkpoints of one scenario; at the second a limit was hit."""
    fields: dict[str, object] = {
        "metric": "fact_recall",
        "categories": TYPES,
        "limits": TimelineLimits(tool_calls=16, payload_bytes=65_536, tokens=65_536, wall_s=180),
        "checkpoints": (checkpoint(1), checkpoint(2, exceeded={"payload_bytes": 2})),
        "questions": (question(), question(2, checkpoint=2, episodes=20)),
        "left_out": 0,
    }
    return Timeline.model_validate(fields | changes)


def report_over_time(**changes: object) -> Report:
    """A report with a timeline."""
    return answered_report().model_copy(update={"timeline": timeline(**changes)})


def hostile_over_time() -> Report:
    """Whatever an adapter or a model can bring into a timeline is hostile, long, or both."""
    bad = HOSTILE + LONG
    memories = (TimelineMemory(handle=bad, date=bad, evidence=True, cited=True),)
    calls = (call(name=bad, arguments=bad, handles=(bad, "m9")), call(note=bad, handles=()))
    asked = question(scenario_id=bad, text=bad, answer=bad, calls=calls, memories=memories)
    kinds = tuple(
        checkpoint(n, cells=(TimelineCell(category=bad, n=1, score=0.5),)) for n in range(1, 9)
    )
    found = timeline(categories=(bad,), checkpoints=kinds, questions=(asked,))
    return hostile_report().model_copy(update={"timeline": found})
