"""What came of a rerun: cell by cell, and in one sentence."""

from collections.abc import Sequence

from memrig.submission.auditrecord import CellResult, FreshResult, RunResult, Tolerance
from memrig.submission.draws import Cell
from memrig.submission.replaying import Replayed, search_ms
from memrig.submission.system import System
from memrig.submission.tolerance import (
    by_question,
    cell_bound,
    deviations,
    mean_of,
    shown,
    within,
)


def compare_cell(
    cell: Cell, system: System, replayed: Replayed, tolerance: Tolerance, cells: int
) -> CellResult:
    """What became of a cell.

    Args:
        cell: what is claimed.
        system: under which it was run again.
        replayed: what came of its run.
        tolerance: its run's.
        cells: how many there are in all, which share one level.
    """
    again_id = cell.under(system.adapter).trial_id
    claimed, again = cell.grades, replayed.of(again_id)
    odd = deviations(by_question(claimed), by_question(again))
    means = [mean_of(grades, tolerance.metric) for grades in (claimed, again)]
    bound = cell_bound(tolerance, cell.questions, cells)
    exact = tolerance.rule == "exact"
    return CellResult(
        run_id=cell.run.entry.run_id,
        trial_id=cell.spec.trial_id,
        again_trial_id=again_id,
        questions=cell.questions,
        differing=len(odd),
        claimed=means[0],
        again=means[1],
        bound=bound,
        agrees=not odd if exact else within(means[0], means[1], bound),
        deviations=shown(odd),
        claimed_search_ms=search_ms(cell.run.directory.trials / cell.spec.trial_id),
        again_search_ms=search_ms(replayed.directory.trials / again_id),
    )


def summary_of(
    cells: Sequence[CellResult], runs: Sequence[RunResult], fresh: Sequence[FreshResult]
) -> str:
    """An audit in one sentence, for people."""
    questions = sum(cell.questions for cell in cells)
    odd = sum(cell.differing for cell in cells)
    bad = sum(not cell.agrees for cell in cells)
    text = f"{len(cells) - bad} of {len(cells)} cells agree"
    text += f" ({odd} of {questions} questions graded differently)" if odd else ", exactly"
    if off := [run.run_id for run in runs if not run.agrees]:
        text += f"; disagrees over all its cells: {', '.join(off)}"
    for result in fresh:
        text += f"; {_fresh_said(result)}"
    return text


def _fresh_said(result: FreshResult) -> str:
    bad = [metric for metric in result.metrics if not metric.agrees]
    told = "; ".join(
        f"{metric.metric} {_number(metric.found)}, {_number(metric.claimed)} claimed"
        for metric in (bad or result.metrics[:1])
    )
    text = f"{result.run_id} under fresh {result.made}: {told}"
    if failed := [row.audit for row in result.audits if row.verdict == "failed"]:
        text += f", audits failed: {', '.join(failed)}"
    return text if result.agrees else f"{text}: disagrees"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
