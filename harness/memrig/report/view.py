"""A report arranged for its page: sections, tables and charts, every number already worded."""

from dataclasses import dataclass
from itertools import islice

from memrig.report.charts import BarChart, WhiskerChart, latency_chart, rank_chart, whisker_chart
from memrig.report.groups import group_names, headline_values, stamps, why_missing
from memrig.report.model import Latency, Report, ShownQuestion
from memrig.report.text import one_line
from memrig.report.units import (
    NOT_AVAILABLE,
    bounds,
    count,
    metric_head,
    metric_help,
    milliseconds,
    percent,
    phase_name,
    plural,
    rate,
    seconds,
    size,
)
from memrig.report.view_across import AcrossView, across_view
from memrig.report.view_answers import (
    PublishedLine,
    answering_pairs,
    cost_rows,
    evidence_words,
    naive_words,
    published_lines,
    score_word,
    unknown_words,
    verdict_words,
)
from memrig.report.view_audits import AuditLine, audit_lines
from memrig.report.view_calibration import CalibrationView, calibration_view
from memrig.report.view_composite import CompositeView, composite_view
from memrig.report.view_depth import DepthView, OperationView, depth_view, operation_view
from memrig.report.view_pairs import Pair
from memrig.report.view_probes import ProbeView, probe_view
from memrig.report.view_timeline import TimelineView, timeline_view
from memrig.stats.summary import OVERALL, MetricValue

_FAULTS, _LABEL = 50, 28
_METHODS = {
    "wilson": "Wilson",
    "bca": "BCa bootstrap",
    "cluster-bootstrap": "bootstrap over whole scenarios",
    "cluster-t": "t over scenario means",
    "cluster-wilson": "Wilson over whole scenarios",
    "even": "Wilson over questions with t, as scenarios agree",
    "t": "t over scopes",
}
_OUTCOMES = {
    "answered": "an answer came, or hits in mode retrieval",
    "abstained": "it declined to answer",
    "budget_exceeded": "a limit of the question was hit; what it answered by then is graded",
    "adapter_error": "it answered with an error: scored 0",
    "adapter_crashed": "its process was gone: scored 0",
    "timeout": "no answer within the deadline: scored 0",
    "harness_error": "a fault of the rig or of a model provider: not scored",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric for a group. `n` only where it differs from the column's."""

    value: str
    bounds: str = ""
    n: str = ""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric over all groups."""

    name: str
    head: str
    help: str
    headline: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question with its numbers worded. `verdicts` are what was decided, and by what words."""

    shown: ShownQuestion
    rank: str
    latency: str
    score: str
    verdicts: tuple[Pair, ...]
    unknown: str
    naive: str


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that the template prints beside the report itself.

    `stamps` stand in the caption of every table: what must not be overlooked in one that is
    copied out of its page.
    """

    title: str
    stamps: tuple[str, ...]
    facts: tuple[Pair, ...]
    tiles: tuple[Pair, ...]
    whiskers: tuple[WhiskerChart, ...]
    groups: tuple[Pair, ...]
    metrics: tuple[MetricRow, ...]
    methods: str
    tagged: str
    ranks: BarChart | None
    latency: BarChart | None
    latencies: tuple[tuple[str, ...], ...]
    ingest: tuple[Pair, ...]
    resources: tuple[Pair, ...]
    answering: tuple[Pair, ...]
    costs: tuple[tuple[str, ...], ...]
    published: tuple[PublishedLine, ...]
    timeline: TimelineView | None
    depth: DepthView | None
    across: AcrossView | None
    operations: OperationView | None
    calibration: CalibrationView | None
    composite: CompositeView | None
    probes: ProbeView | None
    audits: tuple[AuditLine, ...]
    audit_trials: str
    outcomes: tuple[Pair, ...]
    faults: tuple[str, ...]
    more_faults: int
    claims: tuple[Pair, ...]
    questions: tuple[QuestionView, ...]
    provenance: tuple[Pair, ...]
    executions: tuple[tuple[str, ...], ...]


def page_of(report: Report) -> Page:
    """Arranges a report."""
    search = next((item for item in report.latencies if item.phase == "search"), None)
    groups = _groups(report)
    return Page(
        title=f"{report.adapter.name} {report.adapter.version} on {report.suite}",
        stamps=stamps(report),
        facts=_facts(report),
        tiles=(*_composite_tile(report), *_metric_tiles(report), *_speed_tiles(report, search)),
        whiskers=_whiskers(report),
        groups=tuple(Pair(value.group, count(value.n)) for value in groups),
        metrics=tuple(_metric_rows(report, groups)),
        methods=_methods(report),
        tagged=next((v.group for v in report.metrics if v.kind == "tag"), ""),
        ranks=rank_chart(report.rank_histogram) if report.rank_histogram else None,
        latency=latency_chart(report.search_histogram_ms, search),
        latencies=tuple(_latency_row(item) for item in report.latencies),
        ingest=_ingest(report),
        resources=_resources(report),
        answering=answering_pairs(report),
        costs=cost_rows(report),
        published=published_lines(report),
        timeline=timeline_view(report.timeline),
        depth=depth_view(report.depth),
        across=across_view(report),
        operations=operation_view(report.operations),
        calibration=calibration_view(report.calibration),
        composite=composite_view(report.composite),
        probes=probe_view(report.probes),
        audits=audit_lines(report.audits),
        audit_trials=plural(report.audits.trials if report.audits else 0, "trial"),
        outcomes=_outcomes(report),
        faults=report.faults[:_FAULTS],
        more_faults=max(0, len(report.faults) - _FAULTS),
        claims=_claims(report),
        questions=tuple(_question(shown) for shown in report.worst),
        provenance=_provenance(report),
        executions=_executions(report),
    )


def _groups(report: Report) -> list[MetricValue]:
    """One value for each group, that of the metric with the most questions: it names the n."""
    first: dict[str, MetricValue] = {}
    for value in report.metrics:
        if value.group not in first or value.n > first[value.group].n:
            first[value.group] = value
    return [first[name] for name in group_names(report) if name in first]


def _facts(report: Report) -> tuple[Pair, ...]:
    repeats = f", {plural(report.repeats, 'repeat')}" if report.repeats > 1 else ""
    return (
        Pair("Suite", report.suite),
        Pair("Protocol", report.protocol),
        Pair("Mode", f"{report.mode}, top {report.top_k}"),
        Pair("Pod", report.adapter.pod),
        Pair("Isolation", report.isolation),
        Pair("Scenarios", count(report.scenarios) + repeats),
        Pair(
            "Questions", f"{count(report.questions.settled)} of {count(report.questions.planned)}"
        ),
        Pair("Seed" if len(report.seeds) == 1 else "Seeds", ", ".join(map(str, report.seeds))),
    )


def _composite_tile(report: Report) -> list[Pair]:
    view = composite_view(report.composite)
    if view is None:
        return []
    note = "a gate closed" if view.closed else f"of {view.measured} of the weight"
    return [Pair("Composite", view.value, note)]


def _metric_tiles(report: Report) -> list[Pair]:
    tiles = []
    values = headline_values(report, OVERALL)
    for name, value in zip(report.headline, values, strict=True):
        if value is None:
            tiles.append(Pair(metric_head(name), NOT_AVAILABLE, why_missing(report, name)))
        else:
            span = bounds(value.low, value.high)
            note = f"95 %: {span}" if span else "no interval"
            tiles.append(Pair(metric_head(name), f"{percent(value.value)} %", note))
    return tiles


def _speed_tiles(report: Report, search: Latency | None) -> list[Pair]:
    ingest = rate(report.ingest.episodes_per_s, "")
    number = ingest.removesuffix(" /s")
    tiles = [Pair("Ingest", number, "episodes per second")]
    if search is not None:
        note = f"p95 {milliseconds(search.p95_ms)}"
        tiles.insert(0, Pair("Search p50", milliseconds(search.p50_ms), note))
    return tiles


def _whiskers(report: Report) -> tuple[WhiskerChart, ...]:
    charts = []
    for number, metric in enumerate(report.headline):
        values = [value for value in report.metrics if value.metric == metric]
        order = {name: place for place, name in enumerate(group_names(report))}
        values.sort(key=lambda value: order[value.group])
        short = [v.model_copy(update={"group": one_line(v.group, _LABEL)}) for v in values]
        if short:
            charts.append(whisker_chart(metric, short, number))
    return tuple(charts)


def _metric_rows(report: Report, groups: list[MetricValue]) -> list[MetricRow]:
    found = {(value.metric, value.group): value for value in report.metrics}
    measured = [value.metric for value in report.metrics]
    # A headline metric that was not measured says so in its own row.
    names = dict.fromkeys([*report.headline, *measured] if measured else ())
    return [
        MetricRow(
            name=name,
            head=metric_head(name),
            help=metric_help(name),
            headline=name in report.headline,
            cells=tuple(_cell(found.get((name, group.group)), group.n) for group in groups),
        )
        for name in names
    ]


def _cell(value: MetricValue | None, usual: int) -> Cell:
    if value is None:
        return Cell(NOT_AVAILABLE)
    n = "" if value.n == usual else f"n {count(value.n)}"
    return Cell(percent(value.value), bounds(value.low, value.high), n)


def _methods(report: Report) -> str:
    used = dict.fromkeys(value.interval for value in report.metrics if value.interval != "none")
    return ", ".join(_METHODS.get(name, name) for name in used)


def _latency_row(item: Latency) -> tuple[str, ...]:
    times = (item.p50_ms, item.p95_ms, item.p99_ms, item.max_ms)
    return (phase_name(item.phase), count(item.n), *(milliseconds(value) for value in times))


def _ingest(report: Report) -> tuple[Pair, ...]:
    found = report.ingest
    return (
        Pair("Episodes", count(found.episodes)),
        Pair("Stored", count(found.stored)),
        Pair("Duplicate", count(found.duplicate)),
        Pair("Rejected", count(found.rejected)),
        Pair("Items made of them", count(found.items)),
        Pair("Text", size(found.text_bytes)),
        Pair("Rate", rate(found.episodes_per_s, "episodes")),
    )


def _resources(report: Report) -> tuple[Pair, ...]:
    found = report.resources
    cpu = NOT_AVAILABLE if found.cpu_s is None else seconds(found.cpu_s)
    return (
        Pair("Memory system, peak memory", size(found.peak_memory_bytes)),
        Pair("Memory system, CPU time", cpu),
        Pair("Rig, peak memory", size(found.rig_peak_memory_bytes)),
        Pair("Wall time", seconds(found.wall_s)),
    )


def _outcomes(report: Report) -> tuple[Pair, ...]:
    counts = report.questions
    rows = [
        Pair(name, count(number), _OUTCOMES.get(name.partition("(")[0], ""))
        for name, number in counts.outcomes.items()
    ]
    rows += [
        Pair(f"of these ungraded: {reason or 'no reason given'}", count(number), "in no mean")
        for reason, number in counts.ungraded.items()
    ]
    if open_ := counts.planned - counts.settled:
        rows.append(Pair("not settled", count(open_), "planned, but not asked yet"))
    return tuple(rows)


def _claims(report: Report) -> tuple[Pair, ...]:
    found = report.claims
    return (
        Pair("Hits", count(found.hits), "over all searches"),
        Pair("Void", count(found.void), "named a source that was never acknowledged"),
        Pair("Derived", count(found.derived), "share no word with the sources they claim"),
        Pair("Surplus", count(found.surplus), "beyond the limit that was asked for; not counted"),
    )


def _question(shown: ShownQuestion) -> QuestionView:
    verdicts = tuple(
        Pair(verdict.task, verdict_words(verdict), " · ".join(vote.said for vote in verdict.votes))
        for verdict in shown.verdicts
    )
    return QuestionView(
        shown=shown,
        rank=evidence_words(shown),
        latency=milliseconds(shown.latency_ms),
        score=score_word(shown.score),
        verdicts=verdicts,
        unknown=unknown_words(shown),
        naive=naive_words(shown.naive) if shown.naive else "",
    )


def _provenance(report: Report) -> tuple[Pair, ...]:
    adapter, machine = report.adapter, report.machine
    declared = f"{adapter.declared_name} {adapter.declared_version}".strip()
    pairs = (
        Pair("Run", report.run_id),
        Pair("Lock", report.lock_digest),
        Pair("memrig", report.memrig_version),
        Pair("Adapter image", adapter.digest),
        Pair("Image inputs", adapter.inputs),
        Pair("Adapter says it is", declared),
        Pair("Data", report.data.name),
        Pair("Data from", report.data.origin),
        Pair("Data sha256", report.data.sha256),
        Pair("CPU", f"{machine.cpu}, {plural(machine.cores, 'core')}"),
        Pair("Memory", size(machine.memory_bytes)),
        Pair("System", f"{machine.system} {machine.kernel} {machine.architecture}"),
        Pair("Python", machine.python),
    )
    return tuple(pair for pair in pairs if pair.value)


def _executions(report: Report) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            f"{item.started_at:%Y-%m-%d %H:%M:%S} UTC",
            seconds(item.wall_s),
            count(item.jobs),
            count(item.trials_run),
            count(item.retries),
            item.pod_reason,
        )
        for item in islice(report.executions, 20)
    )
