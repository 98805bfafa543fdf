"""What happened in a trial, record by record, in words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memrig.model.transcript import (
    AttemptRecord,
    AuditAskRecord,
    AuditRecord,
    AuditSkipRecord,
    CapabilitiesRecord,
    FaultRecord,
    FlushRecord,
    ModelUsageRecord,
    PodRecord,
    ProbeRecord,
    QuestionRecord,
    Record,
    ResetRecord,
    StreamRecord,
    TeardownRecord,
    UsageRecord,
)
from memrig.report.units import dollars, milliseconds, plural, seconds, size

#: Everything but single acknowledgements, of which there are as many as episodes.
KINDS = frozenset(
    {
        "attempt",
        "pod",
        "capabilities",
        "ingest_end",
        "flush",
        "reset",
        "question",
        "fault",
        "audit",
        "audit_ask",
        "audit_skip",
        "usage",
        "probe",
        "model_usage",
        "teardown",
        "close",
    }
)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a trial. `kind` colours it: good, bad, or nothing."""

    what: str
    said: str
    kind: str = ""
    more: str = ""


def events_of(read: Iterable[Record]) -> Iterator[Event]:
    """What happened, in order; questions asked one after the other are one event."""
    asked: list[QuestionRecord] = []
    for record in read:
        if isinstance(record, QuestionRecord):
            asked.append(record)
            continue
        if asked:
            yield _questions(asked)
            asked = []
        event = _event(record)
        if event is not None:
            yield event
    if asked:
        yield _questions(asked)


def _questions(asked: list[QuestionRecord]) -> Event:
    spent = sum(record.ns for record in asked) / 1e9
    open_ = sum(record.outcome.status not in {"answered", "abstained"} for record in asked)
    said = f"{plural(len(asked), 'question')} in {seconds(spent)}"
    return Event("asked", f"{said}, {open_} of them not answered" if open_ else said)


def _event(record: Record) -> Event | None:
    match record:
        case AttemptRecord():
            when = f"{record.started_at:%Y-%m-%d %H:%M:%S} UTC, memrig {record.memrig_version}"
            return Event(f"attempt {record.number}", when)
        case PodRecord():
            up, ready = milliseconds(record.start_ns / 1e6), milliseconds(record.ready_ns / 1e6)
            what = ", ".join(f"{name} {value}" for name, value in record.description.items())
            return Event("pod", f"up in {up}, served after {ready}", more=what)
        case CapabilitiesRecord():
            return _capabilities(record)
        case FaultRecord():
            return Event(
                "fault", f"{record.outcome.label}: {record.message}", "bad", record.log_tail
            )
        case AuditRecord() | AuditAskRecord() | AuditSkipRecord():
            return _audit(record)
        case _:
            return _measure(record)


def _capabilities(record: CapabilitiesRecord) -> Event:
    offers = [*record.optional, *(f"tool {tool.name}" for tool in record.tools)]
    more = "; ".join([*(f"offers {offer}" for offer in offers), *record.limitations])
    said = f"{record.name} {record.version}, contract {record.contract_version}"
    return Event("capabilities", said, more=more)


def _audit(record: AuditRecord | AuditAskRecord | AuditSkipRecord) -> Event:
    if isinstance(record, AuditRecord):
        kind = {"passed": "good", "failed": "bad"}.get(record.verdict, "")
        return Event("isolation audit", f"{record.verdict}: {record.detail}", kind)
    if isinstance(record, AuditSkipRecord):
        return Event(f"audit {record.audit}", f"n/a: {record.reason}")
    hits = sum(len(search.hits) for search in record.searches)
    answer = f"; answered: {record.answer.text}" if record.answer else ""
    said = f"{record.outcome.label}, {plural(hits, 'hit')}{answer}"
    return Event(f"audit {record.audit}, {record.part}", record.text, more=said)


def _measure(record: Record) -> Event | None:
    """What was measured of the memory system."""
    match record:
        case StreamRecord() | FlushRecord() | ResetRecord() | TeardownRecord():
            return _timed(record)
        case UsageRecord():
            cpu = "n/a" if record.cpu_s is None else seconds(record.cpu_s)
            return Event("used", f"{size(record.peak_memory_bytes)} at the peak, {cpu} of CPU")
        case ProbeRecord():
            values = ", ".join(f"{name} {value:.4g}" for name, value in record.values.items())
            kind = "bad" if record.failure else ""
            return Event(f"probe {record.probe}", record.failure or record.skipped, kind, values)
        case ModelUsageRecord():
            said = f"{record.model}: {plural(record.calls, 'call')}, {dollars(record.cost_usd)}"
            return Event(f"its own models, {record.phase}", said)
        case _:
            return None


def _timed(record: StreamRecord | FlushRecord | ResetRecord | TeardownRecord) -> Event:
    """What was done to the memory system, and how long it took."""
    spent = f"in {milliseconds(record.ns / 1e6)}"
    if isinstance(record, StreamRecord):
        held = f"{plural(record.episodes, 'episode')}, {size(record.text_bytes)}"
        return Event("ingested", f"{held} {spent}")
    if isinstance(record, FlushRecord):
        items = "" if record.total_items is None else f", {plural(record.total_items, 'item')}"
        return Event("flushed", f"{spent}{items}")
    return Event("emptied" if isinstance(record, ResetRecord) else "pod removed", spent)
