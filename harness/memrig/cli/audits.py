"""What `memrig submission rerun` prints of an audit record."""

from collections.abc import Iterable, Iterator

from memrig.report.console import MeanAgain, PartAgain, print_rerun
from memrig.report.units import milliseconds, plural
from memrig.submission.auditrecord import (
    CellResult,
    FreshResult,
    MetricResult,
    RerunAudit,
    RunResult,
)
from memrig.submission.rerun import Reran

_SHOWN = 3
_NO_TIER = (
    "lifts none: made without --fresh-seeds, which a table of the published answers passes as well"
)


def show_audit(found: Reran) -> None:
    """Prints what was run again, what differs, and where the record is."""
    audit = found.audit
    metrics = {tolerance.run_id: tolerance.metric for tolerance in audit.tolerances}
    cells = [_cell(cell, metrics[cell.run_id]) for cell in audit.cells]
    wholes = [_run(run) for run in audit.runs] + [_fresh(fresh) for fresh in audit.fresh]
    print_rerun(cells, wholes, _facts(found), audit.summary, passed=audit.passed)


def _facts(found: Reran) -> Iterator[tuple[str, str]]:
    audit = found.audit
    yield from _differences(audit)
    for fresh in audit.fresh:
        for row in fresh.audits:
            yield "audit", f"{fresh.run_id}: {row.audit}: {row.verdict}: {row.detail}"
    for note in audit.notes:
        yield "note", note
    yield "draw", str(audit.draw)
    if audit.passed and not audit.fresh_seeds:
        yield "tier", _NO_TIER
    yield "written", f"{found.file}"
    yield "signed by", found.fingerprint


def _differences(audit: RerunAudit) -> Iterator[tuple[str, str]]:
    for cell in audit.cells:
        for odd in cell.deviations[:_SHOWN]:
            question = f"{odd.scenario_id}/{odd.question_id}"
            yield "differs", f"{cell.trial_id}: {question}: {'; '.join(odd.fields[:3])}"
        if cell.differing > _SHOWN:
            yield "", f"and {plural(cell.differing - _SHOWN, 'question')} more"


def _cell(cell: CellResult, metric: str) -> PartAgain:
    told = [f"{cell.differing} of {plural(cell.questions, 'question')} differ"]
    if cell.claimed_search_ms is not None and cell.again_search_ms is not None:
        claimed, again = map(milliseconds, (cell.claimed_search_ms, cell.again_search_ms))
        told.append(f"search {claimed}, again {again}")
    mean = MeanAgain(metric, cell.claimed, cell.again, agrees=cell.agrees)
    return PartAgain(cell.agrees, cell.trial_id, tuple(told), (mean,))


def _run(run: RunResult) -> PartAgain:
    told = (f"all its cells: {plural(run.questions, 'question')}",)
    return PartAgain(run.agrees, run.run_id, told, tuple(_means(run.metrics)))


def _fresh(fresh: FreshResult) -> PartAgain:
    told = (f"fresh {fresh.made}: {plural(fresh.questions, 'question')}",)
    return PartAgain(fresh.agrees, fresh.run_id, told, tuple(_means(fresh.metrics)))


def _means(metrics: Iterable[MetricResult]) -> Iterator[MeanAgain]:
    for row in metrics:
        yield MeanAgain(row.metric, row.claimed, row.found, row.low, row.high, row.agrees)
