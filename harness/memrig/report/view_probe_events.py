"""What the terminal and the page say of restarts, outages, leaks and freshness."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memrig.report.model_probes import (
    FreshnessSummary,
    LeakSummary,
    OutageRow,
    ProbeNote,
    ProbeSummary,
    RestartRow,
    Timing,
)
from memrig.report.text import one_line
from memrig.report.units import NOT_AVAILABLE, count, milliseconds, percent, plural

_NAME, _TEXT = 40, 300
#: Of the recall that is due: below it, what was acknowledged was not kept.
_MISSED = 0.5
#: What each verdict of a restart or an outage is: good, worth a look, bad.
_TONES = {
    "kept": "good",
    "recovered": "good",
    "passed": "good",
    "lost some": "warn",
    "in part": "warn",
    "lost all": "bad",
    "not back": "bad",
    "not recovered": "bad",
    "failed": "bad",
}
_FAULTS = {
    "slow": "each call waits",
    "refuses": "the provider refuses",
    "down": "nobody answers",
}


@dataclass(frozen=True, slots=True)
class Said:
    """A name and what is said of it. `tone` is good, warn, bad or nothing."""

    name: str
    value: str
    tone: str = ""


RESTART_HEADS = ("down p50", "max", "before", "after", "acks")
OUTAGE_HEADS = ("stored", "rejected", "searches", "errors", "then", "later")


@dataclass(frozen=True, slots=True)
class EventLine:
    """A container or a fault, worded; the verdict comes last."""

    name: str
    note: str
    cells: tuple[str, ...]
    verdict: str
    tone: str


def restart_lines(found: ProbeSummary) -> tuple[EventLine, ...]:
    """A line a container."""
    return tuple(map(_restart, found.restarts))


def outage_lines(found: ProbeSummary) -> tuple[EventLine, ...]:
    """A line a fault."""
    return tuple(map(_outage, found.outages))


def event_sentences(found: ProbeSummary) -> Iterator[Said]:
    """What takes a sentence each: freshness, leaks, and what says nothing here."""
    if found.freshness:
        yield Said("freshness", _freshness(found.freshness), _fresh_tone(found.freshness))
    if found.leak:
        yield Said("leak", _leak(found.leak), _TONES.get(found.leak.verdict, ""))
    yield from _unkept(found.outages)
    yield from _skipped(found.notes)


def _unkept(rows: Sequence[OutageRow]) -> Iterator[Said]:
    """What was acknowledged as stored while models were out, and is not found afterwards.

    What is told once they are back is the yardstick: a memory that ranks it badly ranks both so.
    """
    for row in rows:
        if not row.acked or row.recall_outage is None or not row.recall_after:
            continue
        due = row.recall_after * row.acked / row.episodes
        if row.recall_outage < _MISSED * due:
            said = (
                f"{count(row.acked)} of {plural(row.episodes, 'episode')} were acknowledged as "
                f"stored while models were out, but {percent(row.recall_outage)} % of the "
                f"searches for them find them now; of what was told since, "
                f"{percent(row.recall_after)} %"
            )
            yield Said(f"models {row.fault}", said, "bad")


def _freshness(found: FreshnessSummary) -> str:
    said = f"{count(found.found)} of {count(found.asked)} found before any barrier"
    if found.visible is not None:
        times = found.visible
        said += f", p50 {milliseconds(times.p50_ms)}, p95 {milliseconds(times.p95_ms)}"
        said += " after the acknowledgement"
    never = found.asked - found.found - found.after_flush
    if found.after_flush:
        said += f"; {count(found.after_flush)} only once it was passed"
    return f"{said}; {count(never)} never" if never else said


def _fresh_tone(found: FreshnessSummary) -> str:
    if found.asked - found.found - found.after_flush:
        return "bad"
    return "warn" if found.after_flush else "good"


def _leak(found: LeakSummary) -> str:
    """What a scope's successor could find of it."""
    of = plural(found.asked, "search", "searches")
    if found.leaks:
        many = plural(found.leaks, "hit")
        return f"failed: after Reset, {many} of the scope before came up in {of}"
    if found.verdict == "passed":
        return f"passed: after Reset, nothing of the scope before came up in {of}"
    if not found.recall_before:
        return f"{NOT_AVAILABLE}: what was looked for was not found before Reset either"
    return f"{NOT_AVAILABLE}: nothing came up in {of}, but not every call worked"


def _restart(row: RestartRow) -> EventLine:
    cells = (
        *_times(row.down),
        percent(row.recall_before),
        percent(row.recall_after),
        percent(row.acks_after),
    )
    note = plural(row.trials, "trial") if row.trials > 1 else ""
    return EventLine(
        one_line(row.subject, _NAME), note, cells, row.verdict, _TONES.get(row.verdict, "")
    )


def _times(found: Timing | None) -> tuple[str, str]:
    if found is None:
        return NOT_AVAILABLE, NOT_AVAILABLE
    return milliseconds(found.p50_ms), milliseconds(found.max_ms)


def _outage(row: OutageRow) -> EventLine:
    told = _FAULTS.get(row.fault, "")
    met = f"{plural(row.met, 'call')} met it"
    return EventLine(
        one_line(row.fault, _NAME),
        f"{told}; {met}" if told else met,
        (
            f"{count(row.acked)}/{count(row.episodes)}",
            count(row.rejected),
            f"{count(row.search_ok)}/{count(row.search_ok + row.search_errors)}",
            count(row.errors),
            percent(row.recall_outage),
            percent(row.recall_after),
        ),
        row.verdict,
        _TONES.get(row.verdict, ""),
    )


def _skipped(notes: Sequence[ProbeNote]) -> Iterator[Said]:
    """A line a reason, whatever it is a reason for."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        if note.kind == "skipped":
            reasons.setdefault((note.probe, note.text), []).append(note.subject)
    for (probe, text), subjects in reasons.items():
        of = ", ".join(filter(None, subjects))
        yield Said(probe, one_line(f"{NOT_AVAILABLE}{f' ({of})' if of else ''}: {text}", _TEXT))


def failed_calls(notes: Sequence[ProbeNote]) -> Iterator[Said]:
    """What went wrong within probes."""
    for note in notes:
        if note.kind == "failed":
            names: list[str] = []
            for name in sorted((note.probe_id, note.scenario_id, note.subject), key=len)[::-1]:
                if not any(name in longer for longer in names):
                    names.append(name)
            yield Said(one_line(", ".join(names), 2 * _NAME), one_line(note.text, _TEXT), "warn")
