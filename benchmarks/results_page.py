"""The tables of the results page, from the reports of finished runs: no run, no file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.results_suites import Suite

from memrig.report.model import Report

#: Whose tokens a memory system's own are: what it asked models for while it took in or searched.
_OWN = ("ingest", "search")


@dataclass(frozen=True, slots=True)
class Shown:
    """A cell: a report, or why there is none."""

    image: str
    suite: Suite
    report: Report | None = None
    why: str = ""
    note: str = ""


def tables(cells: Sequence[Shown]) -> str:
    """The whole of what stands between the markers, as Markdown."""
    lines: list[str] = []
    for suite in dict.fromkeys(cell.suite.name for cell in cells):
        lines += [*_section([cell for cell in cells if cell.suite.name == suite]), ""]
    lines += [*_machines(cells), "", *_images(cells)]
    return "\n".join(lines)


def _section(cells: Sequence[Shown]) -> Iterator[str]:
    """One suite: best first by the figure that leads it, then what has none, by why."""
    suite = cells[0].suite
    yield f"### {suite.title}"
    yield ""
    yield suite.about
    yield ""
    measured = [(cell.image, cell.report) for cell in cells if cell.report]
    if measured:
        heads = [head for _, head in suite.columns]
        heads += ["ingest", "search p50", "peak memory", "tokens", "wall"]
        yield f"| image | {' | '.join(heads)} |"
        yield "|---|" + "---|" * len(heads)
    for image, report in sorted(measured, key=lambda item: _order(suite, *item)):
        yield f"| {image} | {' | '.join((*_quality(suite, report), *_costs(report)))} |"
    reasons: dict[str, list[str]] = {}
    for cell in cells:
        if not cell.report:
            reasons.setdefault(cell.why.rstrip("."), []).append(cell.image)
    if measured and reasons:
        yield ""
    yield from (f"- {', '.join(images)}: {why}." for why, images in reasons.items())
    yield ""
    yield f"`{suite.shown}`"


def _order(suite: Suite, image: str, report: Report) -> tuple[float, str]:
    value = _value(report, suite.lead)
    return (1.0 if value is None else -value, image)


def _value(report: Report, metric: str) -> float | None:
    try:
        return report.value(metric).value
    except KeyError:
        return None


def _quality(suite: Suite, report: Report) -> Iterator[str]:
    for metric, _ in suite.columns:
        value = _value(report, metric)
        yield "n/a" if value is None else f"{value * 100:.1f}"


def _costs(report: Report) -> Iterator[str]:
    rate = report.ingest.episodes_per_s
    yield f"{1e3 / rate:,.1f} ms" if rate else "n/a"
    search = next((one.p50_ms for one in report.latencies if one.phase == "search"), None)
    yield "n/a" if search is None else f"{search:,.1f} ms"
    peak = report.resources.peak_memory_bytes
    yield "n/a" if peak is None else f"{peak / 2**20:,.0f} MiB"
    own = [cost for cost in report.costs if cost.phase in _OWN]
    yield f"{sum(cost.input_tokens + cost.output_tokens for cost in own):,}" if own else "0"
    yield f"{sum(one.wall_s for one in report.executions):,.0f} s"


def _machines(cells: Sequence[Shown]) -> Iterator[str]:
    """Where and when: a line for each machine and version that took part."""
    days: dict[str, list[str]] = {}
    for report in (cell.report for cell in cells if cell.report):
        machine = report.machine
        where = (
            f"{machine.cores} cores ({machine.cpu}), {machine.memory_bytes / 2**30:.0f} GiB,"
            f" Linux {machine.kernel.partition('-')[0]}, memrig {report.memrig_version}"
        )
        days.setdefault(where, []).extend(f"{one.started_at:%Y-%m-%d}" for one in report.executions)
    for where, found in days.items():
        first, last = min(found), max(found)
        yield f"Measured on {first if first == last else f'{first} to {last}'}: {where}."


def _images(cells: Sequence[Shown]) -> Iterator[str]:
    """Which images these were, by digest; several where one was rebuilt between two suites."""
    yield "| image | version | digest | run as |"
    yield "|---|---|---|---|"
    for image in dict.fromkeys(cell.image for cell in cells if cell.report):
        reports = [cell.report for cell in cells if cell.image == image and cell.report]
        digests = dict.fromkeys(report.adapter.digest.removeprefix("sha256:") for report in reports)
        note = next(cell.note for cell in cells if cell.image == image)
        short = ", ".join(f"`{digest[:12]}`" for digest in digests)
        declared = reports[0].adapter.declared_version
        yield f"| {image} | {declared} | {short} | {note or 'as it comes'} |"
