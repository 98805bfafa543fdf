"""A run's report and lock, as the row of a table needs them."""

from collections.abc import Iterable
from dataclasses import asdict

from memrig.leaderboard.model import BoardCost, BoardRun, BoardScore
from memrig.model.canonical import digest_of
from memrig.report.model import Latency, ModelCost, Report
from memrig.report.standing import Standing, metric_standing, standing_of
from memrig.runs.lock import Lock

#: Whose calls are no cost of the memory system's or of answering with it.
_APART = frozenset({"judge", "naive"})


def board_run(number: int, lock: Lock, report: Report, page: str) -> BoardRun:
    """The row of one run.

    Args:
        number: its place in its submission, from 1.
        lock: its lock.
        report: as it was recomputed.
        page: where the site shows it.
    """
    return BoardRun(
        number=number,
        run_id=report.run_id,
        lock_digest=report.lock_digest,
        suite=report.suite,
        protocol=report.protocol,
        mode=report.mode,
        data=report.data.name,
        asked=asked_digest(lock),
        isolation=report.isolation,
        top_k=report.top_k,
        seeds=report.seeds,
        repeats=report.repeats,
        reader=lock.reader,
        judge=lock.judge,
        labels=report.labels,
        complete=report.complete,
        planned=report.questions.planned,
        graded=report.questions.graded,
        score=_score(standing_of(report)),
        headline=tuple(_score(metric_standing(report, name)) for name in report.headline),
        cost=_cost(report),
        page=page,
    )


def asked_digest(lock: Lock) -> str:
    """What was asked about what, under which seeds, by content."""
    return digest_of(
        [
            [seed, ref.scenario_id, ref.digest, ref.gold_digest]
            for seed in lock.seeds
            for ref in lock.of_seed(seed)
        ]
    )


def _score(found: Standing) -> BoardScore:
    return BoardScore(**asdict(found))


def _cost(report: Report) -> BoardCost:
    asked = report.questions.settled
    usd = _usd(report.costs)
    search = _latency(report, "search")
    answer = _latency(report, "answer")
    cpu = report.resources.cpu_s
    found = report.answering
    return BoardCost(
        usd=usd,
        usd_per_1000=_per_1000(usd, asked),
        cpu_s_per_1000=_per_1000(cpu, asked),
        peak_memory_bytes=report.resources.peak_memory_bytes,
        search_p50_ms=search.p50_ms if search else None,
        search_p95_ms=search.p95_ms if search else None,
        answer_p50_ms=answer.p50_ms if answer else None,
        context_tokens=found.context_tokens_p50 if found else None,
        episodes_per_s=report.ingest.episodes_per_s,
    )


def _usd(costs: Iterable[ModelCost]) -> float | None:
    """Nothing was called: nothing was paid. One call without a price makes the sum unknown."""
    total = 0.0
    for row in costs:
        if row.purpose in _APART:
            continue
        if row.usd is None:
            return None
        total += row.usd
    return round(total, 6)


def _per_1000(value: float | None, questions: int) -> float | None:
    return None if value is None or not questions else round(1000 * value / questions, 6)


def _latency(report: Report, phase: str) -> Latency | None:
    return next((item for item in report.latencies if item.phase == phase), None)
