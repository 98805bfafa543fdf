"""Graded runs on disk to compare, without anything having run."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from memrig.grading.base import Grade, Metric
from memrig.model.canonical import canonical_json
from memrig.report.compare_model import Comparison
from memrig.report.model import Report
from memrig.stats.summary import summarise
from support.fake_memory import fake_adapter
from support.plans import small_lock
from support.reports import sample_report

METRICS = (Metric("recall_any@5", binary=True, headline=True), Metric("mrr", False, True))
#: Right (1) or wrong (0) by question, of twelve scenarios with three questions each.
WEAK = {f"s{n:02}#q{q}": float((n + q) % 3 == 0) for n in range(12) for q in range(3)}
#: Two questions in three are right, those of WEAK among them.
STRONG = {f"s{n:02}#q{q}": float((n + q) % 3 != 1) for n in range(12) for q in range(3)}


def grade(question: str, score: float, **changes: object) -> Grade:
    """A grade of a question such as ``s01#q2``: the scenario before the #, the category after."""
    scenario, _, rest = question.partition("#")
    fields: dict[str, object] = {
        "trial_id": scenario,
        "scenario_id": scenario,
        "question_id": question,
        "category": rest,
        "cluster": scenario,
        "seed": 7,
        "repeat": 0,
        "protocol": "practical",
        "grader": "practical/2",
        "status": "graded",
        "outcome": "answered",
        "scores": {"recall_any@5": score, "mrr": score / 2},
    }
    return Grade.model_validate(fields | changes)


def saved_run(
    folder: Path,
    grades: Iterable[Grade] | Mapping[str, float],
    *,
    report: Mapping[str, object] | None = None,
    **lock: object,
) -> Path:
    """A run's folder with its lock, its grades and its report.

    Args:
        folder: of the run; its name is the adapter's unless `lock` names one.
        grades: or a score by question.
        report: fields of the report other than those of a whole run.
        lock: fields of the lock.
    """
    if isinstance(grades, Mapping):
        grades = [grade(question, score) for question, score in grades.items()]
    found = list(grades)
    adapter = lock.pop("adapter", fake_adapter().model_copy(update={"name": folder.name}))
    locked = small_lock(folder / "scenarios", adapter=adapter, **lock)
    (folder / "lock.json").write_bytes(canonical_json(locked))
    lines = b"".join(canonical_json(item) + b"\n" for item in found)
    (folder / "grades.jsonl").write_bytes(lines)
    fields: dict[str, object] = {
        "run_id": folder.name,
        "lock_digest": locked.digest,
        "suite": locked.suite,
        "protocol": locked.protocol,
        "headline": tuple(metric.name for metric in METRICS),
        "metrics": tuple(summarise(found, METRICS, locked.suite, locked.protocol, 1)),
        "adapter": sample_report().adapter.model_copy(update={"name": adapter.name}),
        "seeds": locked.seeds,
    }
    whole: Report = sample_report(**(fields | dict(report or {})))
    (folder / "report.json").write_bytes(whole.model_dump_json().encode())
    return folder


def hostile(found: Comparison, text: str) -> Comparison:
    """A comparison whose adapters and categories carry a text meant to be run."""
    runs = tuple(
        run.model_copy(update={"name": text, "adapter": text, "version": text, "labels": (text,)})
        for run in found.runs
    )
    rows = tuple(
        row.model_copy(update={"group": text}) if row.kind == "category" else row
        for row in found.rows
    )
    return found.model_copy(update={"runs": runs, "rows": rows, "notes": (text,)})
