"""Graded questions with a place, an operation and a confidence, and a report made of them."""

import random

from memrig.grading.base import Grade, Metric
from memrig.model.gold import Operation
from memrig.report.calibrated import calibration_summary
from memrig.report.depth import depth_summary
from memrig.report.model import Report
from memrig.report.operations import operation_summary
from memrig.report.settled import Settled
from support.reports import sample_report

METRICS = (Metric("score", binary=False), Metric("recall_any@10", binary=True))
#: A category, what its questions take, and whether they need several statements.
KINDS: tuple[tuple[str, Operation, bool], ...] = (
    ("needle_in_haystack", "lookup", False),
    ("temporal_evolution", "latest", False),
    ("temporal_evolution", "count", False),
    ("temporal_trap", "as-of", False),
    ("source_attribution", "attribute", False),
    ("source_attribution", "attribute", True),
    ("cross_reference", "join", False),
    ("numerical_reasoning", "compute", False),
    ("meta_memory", "list", True),
    ("problem_solving", "explain", False),
    ("adversarial_distractor", "abstain", False),
)


def grade(number: int = 0, scenario: str = "world-42", **changes: object) -> Grade:
    """A graded question."""
    fields: dict[str, object] = {
        "trial_id": f"{scenario}-r0",
        "scenario_id": scenario,
        "question_id": f"q{number}",
        "category": "needle_in_haystack",
        "cluster": scenario,
        "seed": 42,
        "repeat": 0,
        "protocol": "longhorizon",
        "grader": "longhorizon/1",
        "status": "graded",
        "outcome": "answered",
        "scores": {"score": 1.0, "recall_any@10": 1.0},
    }
    return Grade.model_validate(fields | changes)


def settled(number: int = 0, scenario: str = "world-42", **changes: object) -> Settled:
    """A question asked after 100 of 100 episodes, whose evidence is the first of them."""
    fields: dict[str, object] = {
        "grade": grade(number, scenario),
        "episodes": 100,
        "before": 100,
        "evidence": 0,
        "operation": "lookup",
        "several": False,
        "confidence": None,
        "abstained": False,
        "answerable": True,
    }
    return Settled(**(fields | changes))  # type: ignore[arg-type]


def world(scenario: str, questions: int, turns: int) -> list[Settled]:
    """What a memory that forgets shows of a long world: the older, the less is found."""
    draw = random.Random(scenario)  # noqa: S311 -- made up, and the same every time
    return [_one(draw, scenario, number, turns) for number in range(questions)]


def _one(draw: random.Random, scenario: str, number: int, turns: int) -> Settled:
    category, operation, several = KINDS[number % len(KINDS)]
    before = turns * (1 + number % 4) // 4
    place = int(draw.random() * before)
    found = draw.random() < 0.4 + 0.5 * place / before
    hard = operation in {"join", "count", "compute", "list"} or several
    score = float(found and not hard and draw.random() < 0.9)
    confidence = round(min(1.0, 0.35 + 0.5 * draw.random() + 0.1 * score), 3)
    made = grade(
        number, scenario, category=category, scores={"score": score, "recall_any@10": float(found)}
    )
    return Settled(
        grade=made,
        episodes=turns,
        before=before,
        evidence=None if operation == "abstain" else place,
        operation=operation,
        several=several,
        confidence=confidence,
        abstained=draw.random() < 0.1,
        answerable=operation != "abstain",
    )


def placed_report(reader: str = "local/extractive", worlds: int = 4) -> Report:
    """A report of a few worlds, read by a built-in reader."""
    rows = [row for seed in range(worlds) for row in world(f"world-{seed}", 200, 5000)]
    return sample_report().model_copy(
        update={
            "depth": depth_summary(rows, METRICS, 7, reader),
            "operations": operation_summary(rows, METRICS, reader, 7),
            "calibration": calibration_summary(rows),
        }
    )
