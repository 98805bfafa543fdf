"""What `memrig submission rerun` prints of an audit record."""

from collections.abc import Iterable

import typer

from memrig.submission.auditrecord import CellResult, FreshResult, MetricResult
from memrig.submission.rerun import Reran

_SHOWN = 3


def show_audit(found: Reran) -> None:
    """Prints what was run again, what differs, and where the record is."""
    audit = found.audit
    for cell in audit.cells:
        _show_cell(cell)
    for run in audit.runs:
        typer.echo(f"{_word(run.agrees)} {run.run_id}: all its cells, {run.questions} questions")
        _show_metrics(run.metrics)
    for fresh in audit.fresh:
        _show_fresh(fresh)
    for note in audit.notes:
        typer.echo(f"note       {note}")
    typer.echo(f"draw       {audit.draw}")
    typer.echo(f"verdict    {'agrees' if audit.passed else 'DISAGREES'}: {audit.summary}")
    typer.echo(f"written    {found.file}, signed by {found.fingerprint}")


def _show_cell(cell: CellResult) -> None:
    typer.echo(
        f"{_word(cell.agrees)} {cell.trial_id}: {cell.differing} of {cell.questions} questions "
        f"differ; {_number(cell.claimed)} claimed, {_number(cell.again)} again; "
        f"search {_number(cell.claimed_search_ms)} ms, {_number(cell.again_search_ms)} ms again"
    )
    for odd in cell.deviations[:_SHOWN]:
        typer.echo(f"             {odd.scenario_id}/{odd.question_id}: {'; '.join(odd.fields[:3])}")
    if len(cell.deviations) > _SHOWN:
        typer.echo(f"             and {cell.differing - _SHOWN} more")


def _show_fresh(fresh: FreshResult) -> None:
    typer.echo(
        f"{_word(fresh.agrees)} {fresh.run_id}: fresh {fresh.made}, {fresh.questions} questions"
    )
    _show_metrics(fresh.metrics)
    for row in fresh.audits:
        typer.echo(f"             audit {row.audit}: {row.verdict}: {row.detail}")


def _show_metrics(metrics: Iterable[MetricResult]) -> None:
    for row in metrics:
        numbers = f"{_number(row.claimed)} claimed, {_number(row.found)} found"
        if row.low is not None and row.high is not None:
            numbers += f", claimed less found {row.low:+.3f} … {row.high:+.3f}"
        typer.echo(f"             {row.metric}: {numbers}{'' if row.agrees else ', disagrees'}")


def _word(agrees: bool) -> str:
    return "agrees    " if agrees else "DISAGREES "


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
