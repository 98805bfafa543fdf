"""The summary at the end of a run."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memrig.model.dimensions import WEIGHTS
from memrig.report.groups import group_names, group_values, stamps, why_missing
from memrig.report.model import Latency, Phase, Report
from memrig.report.terminal.across import across_lines, print_across
from memrig.report.terminal.audits import print_audits
from memrig.report.terminal.base import (
    BAD,
    DIM,
    GOOD,
    WARN,
    facts,
    make_console,
    new_table,
    title,
    warning,
    words,
)
from memrig.report.terminal.composite import print_composite
from memrig.report.terminal.depth import print_depth, print_operations
from memrig.report.terminal.models import (
    answering_lines,
    print_costs,
    print_published,
)
from memrig.report.terminal.probes import print_probes
from memrig.report.units import (
    NOT_AVAILABLE,
    bounds,
    count,
    metric_head,
    milliseconds,
    percent,
    plural,
    rate,
    seconds,
    seeds_text,
    size,
)
from memrig.report.view_calibration import calibration_lines
from memrig.runs.directory import RunDirectory
from memrig.stats.summary import MACRO, OVERALL, MetricValue

_COLUMNS = 4  # metrics that fit beside each other in 80 columns
_FAULTS, _GROUP = 5, 28
_VERDICTS = {"passed": GOOD, "failed": BAD}


def print_report(
    report: Report, directory: RunDirectory | None = None, console: Console | None = None
) -> None:
    """Prints a run's summary; `directory` is named as the place to look further."""
    console = console or make_console()
    adapter = report.adapter
    console.print(
        title(
            f"{adapter.name} {adapter.version}",
            f"{report.suite} ({report.protocol})",
            f"{adapter.pod} pod",
            report.isolation,
            seeds_text(report.seeds),
        )
    )
    if not report.complete:
        console.print(warning(f"INCOMPLETE: {report.incomplete}", BAD))
    for label in report.labels:
        console.print(warning(label))
    console.print()
    if not report.metrics:
        console.print("No question was graded.")
    _print_scores(report, console)
    print_composite(report, console)
    print_probes(report, console)
    print_across(report, console)
    print_depth(report, console)
    print_operations(report, console)
    print_costs(report, console)
    print_published(report, console)
    print_audits(report, console)
    facts(console, _lines(report))
    _print_faults(report, console)
    _print_paths(directory, console)


def _print_scores(report: Report, console: Console) -> None:
    """A few headline metrics beside each other; those without any number are named below.

    What does not fit beside the first ones has no rows of categories: the page has them.
    """
    if not report.metrics:
        return
    known = {value.metric for value in report.metrics}
    names = [name for name in report.headline if name in known]
    for start in range(0, len(names), _COLUMNS):
        some = names[start : start + _COLUMNS]
        groups = [OVERALL, MACRO] if start else group_names(report)
        # Above the table, not of it: a title is no wider than its table, and some are narrow.
        said = "percent, 95 % intervals" + ("; categories are on the page" if start else "")
        marks = ", ".join(stamps(report))
        console.print(Text(f"{said} ({marks})" if marks else said, style=DIM))
        console.print(_fitting(report, some, groups, console))
        console.print()
    missing: dict[str, list[str]] = {}
    for name in report.headline:
        if name not in known:
            missing.setdefault(why_missing(report, name), []).append(metric_head(name))
    for reason, heads in missing.items():
        console.print(Text(f"{', '.join(heads)}: {NOT_AVAILABLE} ({reason})\n", style=DIM))


def _fitting(
    report: Report, names: Sequence[str], groups: Sequence[str], console: Console
) -> Table:
    """With every interval if they fit beside their values, else with those that matter most."""
    table = _scores(report, names, groups, wide=True)
    unbounded = console.options.update(width=10_000)
    if console.measure(table, options=unbounded).maximum > console.width:
        table = _scores(report, names, groups, wide=False)
    return table


def _scores(report: Report, names: Sequence[str], groups: Sequence[str], *, wide: bool) -> Table:
    table = new_table("group", "n", *map(metric_head, names), right=range(1, len(names) + 2))
    table.columns[0].no_wrap = False
    for group in groups:
        values = group_values(report, group, names)
        known = [value.n for value in values if value is not None]
        if not known:
            continue
        strong = group in (OVERALL, MACRO)
        # In a narrow terminal, the intervals of categories are left to the page.
        cells = [_score(value, wide=wide, spans=strong) for value in values]
        name = words(group, "bold" if strong else "", _GROUP)
        table.add_row(name, Text(count(max(known)), style=DIM), *cells)
    return table


def _score(value: MetricValue | None, *, wide: bool, spans: bool) -> Text:
    if value is None:
        return Text(NOT_AVAILABLE, style=DIM)
    text = Text(percent(value.value), style="bold" if spans else "")
    span = bounds(value.low, value.high)
    if wide:
        low, _, high = span.partition("–")
        text.append(f" [{low}, {high}]".rjust(14) if span else " " * 14, style="not bold dim")
    elif span and spans:
        # Two letters less a column are what four of them need.
        text.append(f"\n{span.replace('100.0', '100')}", style="not bold dim")
    return text


def _lines(report: Report) -> Iterator[tuple[str, Text]]:
    found = {item.phase: item for item in report.latencies}
    yield from _division(report)
    yield "questions", _questions(report)
    yield "ingest", _ingest(report)
    if search := found.get("search"):
        yield "search", Text(f"{_quantiles(search)}, p99 {milliseconds(search.p99_ms)}")
    if answer := found.get("answer"):
        yield "answer", Text(_quantiles(answer))
    if judge := found.get("judge"):
        yield "judging", Text(_quantiles(judge))
    yield from answering_lines(report)
    if dimensions := ", ".join(_dimensions(report)):
        yield "dimensions", Text(dimensions)
    yield from ((name, Text(line)) for name, line in calibration_lines(report.calibration))
    if flush := found.get("flush"):
        yield "flush", Text(_quantiles(flush))
    if pod := "; ".join(_pod_parts(found)):
        yield "pod", Text(pod)
    yield "memory", _memory(report)
    yield from ((name, words(line)) for name, line in across_lines(report))
    yield "wall time", Text(seconds(report.resources.wall_s))
    if claims := _claims(report):
        yield "claims", Text(claims, style=WARN)
    verdict = report.audit.verdict
    yield "audit", _audit(report, _VERDICTS.get(verdict, ""))
    if retries := sum(item.retries for item in report.executions):
        yield "retries", Text(f"{count(retries)}, after faults of the engine or the machine")
    if report.notes:
        yield "notes", Text(f"{count(len(report.notes))}, listed in the report")


def _division(report: Report) -> Iterator[tuple[str, Text]]:
    """That a run is its profile's; what makes it open stands above all else."""
    found = report.profile
    if found and found.division == "closed":
        yield "profile", words(f"closed division: {found.name}, {found.tier}", GOOD)


def _questions(report: Report) -> Text:
    counts = report.questions
    text = Text(f"{count(counts.settled)} of {count(counts.planned)} settled")
    others = {name: number for name, number in counts.outcomes.items() if name != "answered"}
    for name, number in others.items():
        # Not to answer may be right.
        text.append(f", {count(number)} {name}", style="" if name == "abstained" else WARN)
    if not others:
        text.append(", all answered")
    for reason, number in counts.ungraded.items():
        why = words(reason, limit=200)
        text.append(f"; {count(number)} not graded (").append_text(why).append(")")
    return text


def _ingest(report: Report) -> Text:
    found = report.ingest
    text = Text(f"{plural(found.episodes, 'episode')}, {rate(found.episodes_per_s, 'episodes')}")
    if found.duplicate:
        text.append(f", {count(found.duplicate)} duplicate")
    if found.rejected:
        text.append(f", {count(found.rejected)} rejected", style=WARN)
    return text


def _dimensions(report: Report) -> Iterator[str]:
    """What the score is put together from, beside what stands in the tables."""
    for value in group_values(report, OVERALL, WEIGHTS):
        if value is not None and value.metric not in report.headline:
            yield f"{metric_head(value.metric)} {percent(value.value)} (n {count(value.n)})"


def _quantiles(item: Latency) -> str:
    return f"p50 {milliseconds(item.p50_ms)}, p95 {milliseconds(item.p95_ms)}"


def _pod_parts(found: dict[Phase, Latency]) -> Iterator[str]:
    names: dict[Phase, str] = {"pod_start": "start", "pod_ready": "ready", "teardown": "teardown"}
    for phase, name in names.items():
        if phase in found:
            yield f"{name} p50 {milliseconds(found[phase].p50_ms)}"


def _memory(report: Report) -> Text:
    found = report.resources
    cpu = f", {seconds(found.cpu_s)} of CPU" if found.cpu_s is not None else ""
    return Text(
        f"memory system {size(found.peak_memory_bytes)}{cpu}; "
        f"rig {size(found.rig_peak_memory_bytes)}"
    )


def _claims(report: Report) -> str:
    found = report.claims
    parts = (("void", found.void), ("derived", found.derived), ("surplus", found.surplus))
    said = ", ".join(f"{count(number)} {name}" for name, number in parts if number)
    return f"{said}, of {plural(found.hits, 'hit')}" if said else ""


def _audit(report: Report, style: str) -> Text:
    text = Text(f"isolation {report.audit.verdict}", style=style)
    if report.audit.detail:
        text.append(": ", "default").append_text(words(report.audit.detail, "default", 300))
    return text


def _print_faults(report: Report, console: Console) -> None:
    for fault in report.faults[:_FAULTS]:
        console.print(warning(f"fault in {fault}"[:400], BAD))
    more = len(report.faults) - _FAULTS
    if more > 0:
        console.print(warning(f"and {plural(more, 'more fault')}, in the report", BAD))


def _print_paths(directory: RunDirectory | None, console: Console) -> None:
    if directory is None:
        return
    console.print()
    # Unwrapped, so that a path can be copied.
    console.print(Text(f"report     {directory.report_html}"), soft_wrap=True)
    console.print(Text(f"questions  memrig show {directory.root} QUESTION"), soft_wrap=True)
