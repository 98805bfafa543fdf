"""A timeline arranged for its section of the page: tables over checkpoints, and every question."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from memrig.report.model_timeline import (
    Timeline,
    TimelineCall,
    TimelineCheckpoint,
    TimelineMemory,
    TimelineQuestion,
)
from memrig.report.units import (
    NOT_AVAILABLE,
    brief,
    count,
    metric_head,
    metric_help,
    percent,
    plural,
    seconds,
    size,
)
from memrig.report.view_pairs import Pair

#: Steps of the heat table's ground, from nothing to all.
_STEPS = 5
_ALL = "all types"


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A score with its n; `heat` names its ground."""

    value: str
    n: str
    heat: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A kind of question over all checkpoints."""

    name: str
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """A number with a bar; `width` is percent of the bar's room, `over` that it went beyond."""

    value: str
    note: str
    width: float
    over: bool = False


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A checkpoint, and shares of something there; `exceeded` says which limits were hit."""

    head: Pair
    shares: tuple[Share, ...]
    exceeded: str = ""


@dataclass(frozen=True, slots=True)
class Returned:
    """A memory in a call's result."""

    handle: str
    date: str
    evidence: bool


@dataclass(frozen=True, slots=True)
class CallView:
    """A tool call with its numbers worded."""

    call: TimelineCall
    returned: tuple[Returned, ...]
    numbers: str


@dataclass(frozen=True, slots=True)
class FactView:
    """A key fact: its mark, the class of the mark, and its score where it is between."""

    mark: str
    kind: str
    text: str
    score: str


@dataclass(frozen=True, slots=True)
class AskedView:
    """A question at its checkpoint."""

    question: TimelineQuestion
    score: str
    kind: str
    where: str
    evidence: str
    calls: tuple[CallView, ...]
    facts: tuple[FactView, ...]
    cited: tuple[Returned, ...]


@dataclass(frozen=True, slots=True)
class ScenarioView:
    """The questions of one scenario, in the order of asking."""

    name: str
    note: str
    questions: tuple[AskedView, ...]


@dataclass(frozen=True, slots=True)
class TimelineView:
    """The section."""

    metric: str
    help: str
    heads: tuple[Pair, ...]
    heat: tuple[HeatRow, ...]
    evidence: tuple[CheckpointRow, ...]
    limits: tuple[Pair, ...]
    budget: tuple[CheckpointRow, ...]
    scenarios: tuple[ScenarioView, ...]
    left_out: int


def timeline_view(timeline: Timeline | None) -> TimelineView | None:
    """Arranges a timeline; None where a report has none."""
    if timeline is None:
        return None
    return TimelineView(
        metric=metric_head(timeline.metric) if timeline.metric else "score",
        help=metric_help(timeline.metric),
        heads=tuple(Pair(str(p.number), f"after {_places(p)}") for p in timeline.checkpoints),
        heat=tuple(_heat_rows(timeline)),
        evidence=tuple(map(_evidence_row, timeline.checkpoints)),
        limits=_limits(timeline),
        budget=tuple(_budget_row(timeline, point) for point in timeline.checkpoints),
        scenarios=_scenarios(timeline.questions),
        left_out=timeline.left_out,
    )


def _head(point: TimelineCheckpoint) -> Pair:
    return Pair(f"Checkpoint {point.number}", f"after {_places(point)} episodes")


def _places(point: TimelineCheckpoint) -> str:
    """How many episodes come before it: ``12``, or ``10–12`` where scenarios differ."""
    last = f"–{count(point.last)}" if point.last != point.first else ""
    return count(point.first) + last


def _heat_rows(timeline: Timeline) -> list[HeatRow]:
    points = timeline.checkpoints
    rows = [HeatRow(_ALL, tuple(_cell(point.score, point.n) for point in points))]
    for name in timeline.categories:
        found = [next((c for c in point.cells if c.category == name), None) for point in points]
        cells = (_cell(c.score, c.n) if c else HeatCell("", "", "") for c in found)
        rows.append(HeatRow(name.replace("_", " "), tuple(cells)))
    return rows


def _cell(score: float | None, n: int) -> HeatCell:
    if score is None:
        return HeatCell(NOT_AVAILABLE, f"n {count(n)}", "")
    return HeatCell(percent(score), f"n {count(n)}", f"heat-{round(score * _STEPS)}")


def _evidence_row(point: TimelineCheckpoint) -> CheckpointRow:
    found = point.evidence
    shares = [Share(count(found.required), "", 0.0)]
    for number in (found.retrieved, found.cited):
        part = number / found.required if found.required else 0.0
        note = f"{percent(part)} %" if found.required else NOT_AVAILABLE
        shares.append(Share(count(number), note, round(100 * part, 1)))
    return CheckpointRow(_head(point), tuple(shares))


def _limits(timeline: Timeline) -> tuple[Pair, ...]:
    limits = timeline.limits
    tokens = "no limit" if limits.tokens is None else f"of {count(limits.tokens)}"
    return (
        Pair("Tool calls", f"of {count(limits.tool_calls)}"),
        Pair("From the memory", f"of {size(limits.payload_bytes)}"),
        Pair("Tokens", tokens),
        Pair("Wall time", f"of {seconds(limits.wall_s)}"),
    )


def _budget_row(timeline: Timeline, point: TimelineCheckpoint) -> CheckpointRow:
    spent, limits = point.spent, timeline.limits
    shares = (
        _share(f"{spent.tool_calls:.1f}", spent.tool_calls, limits.tool_calls),
        _share(size(round(spent.payload_bytes)), spent.payload_bytes, limits.payload_bytes),
        _share(count(round(spent.tokens)), spent.tokens, limits.tokens),
        _share(brief(1000 * spent.wall_s), spent.wall_s, limits.wall_s),
    )
    over = (f"{kind} {count(number)}" for kind, number in point.exceeded.items())
    hit = f"{', '.join(over)} of {count(point.n)}" if point.exceeded else ""
    return CheckpointRow(_head(point), shares, hit)


def _share(value: str, spent: float, limit: float | None) -> Share:
    if limit is None:
        return Share(value, "", 0.0)
    part = spent / limit
    return Share(value, f"{percent(part)} %", round(min(100.0, 100 * part), 1), part > 1)


def _scenarios(questions: Sequence[TimelineQuestion]) -> tuple[ScenarioView, ...]:
    views = []
    for name, group in groupby(questions, key=lambda question: question.scenario_id):
        asked = tuple(map(_asked, group))
        scores = [item.question.score for item in asked if item.question.score is not None]
        mean = f", mean {percent(sum(scores) / len(scores))} %" if scores else ""
        views.append(ScenarioView(name, f"{plural(len(asked), 'question')}{mean}", asked))
    return tuple(views)


def _asked(question: TimelineQuestion) -> AskedView:
    spent = question.spent
    where = (
        f"checkpoint {question.checkpoint}",
        f"after {plural(question.episodes, 'episode')}",
        plural(round(spent.tool_calls), "call"),
        size(round(spent.payload_bytes)),
        f"{count(round(spent.tokens))} tokens",
        brief(1000 * spent.wall_s),
    )
    memories = {memory.handle: memory for memory in question.memories}
    found = question.evidence
    needed = (
        f"evidence: {count(found.required)} needed, {count(found.retrieved)} retrieved, "
        f"{count(found.cited)} cited"
    )
    return AskedView(
        question=question,
        score=NOT_AVAILABLE if question.score is None else f"{percent(question.score)} %",
        kind=_kind(question.score),
        where=" · ".join(where),
        evidence=needed if found.required else "",
        calls=tuple(_call(call, memories) for call in question.calls),
        facts=tuple(_fact(fact.text, fact.score) for fact in question.facts),
        cited=tuple(_returned(m.handle, memories) for m in question.memories if m.cited),
    )


def _kind(score: float | None) -> str:
    if score is None:
        return ""
    return "good" if score >= 1 else "bad" if score <= 0 else "warn"


def _call(call: TimelineCall, memories: dict[str, TimelineMemory]) -> CallView:
    numbers = f"{size(call.payload_bytes)}, {brief(call.latency_ms)}"
    returned = tuple(_returned(handle, memories) for handle in call.handles)
    return CallView(call, returned, numbers)


def _returned(handle: str, memories: dict[str, TimelineMemory]) -> Returned:
    known = memories.get(handle)
    return Returned(handle, known.date, known.evidence) if known else Returned(handle, "", False)


def _fact(text: str, score: float) -> FactView:
    if score >= 1:
        return FactView("✓", "mark-good", text, "")
    if score <= 0:
        return FactView("✗", "mark-bad", text, "")
    return FactView("◐", "mark-warn", text, f"{percent(score)} %")
