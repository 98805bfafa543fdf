"""A scenario as it was played: episodes and questions in their order, a page at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from memrig.model.scenario import Episode, Event, Question
from memrig.model.transcript import Ack, IngestRecord, QuestionRecord
from memrig.report.units import milliseconds, plural
from memrig.viewer import links
from memrig.viewer.live import transcript_of
from memrig.viewer.parts import Badge, Paged
from memrig.viewer.questions import marks_of
from memrig.viewer.scenarios import scenario_of
from memrig.viewer.shelf import Shelf
from memrig.viewer.tail import records

PAGE = 40
_INGESTED = frozenset({"ingest", "question"})
_ACKS = {"stored": "", "duplicate": "warn", "rejected": "bad"}


@dataclass(frozen=True, slots=True)
class Line:
    """One event. `kind` is episode, question or probe; `href` leads to a question's page."""

    kind: str
    name: str
    when: str
    text: str
    note: str
    badge: Badge | None = None
    href: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """A part of a scenario's timeline."""

    scenario_id: str
    trial_id: str
    lines: Paged[Line]
    held: str


@dataclass(frozen=True, slots=True)
class Played:
    """What a transcript says of one scenario: acknowledgements and settled questions by id."""

    acks: Mapping[str, Ack]
    questions: Mapping[str, QuestionRecord]


def played(path: Path | None, scenario_id: str) -> Played:
    """Reads what was acknowledged and settled; of several attempts, what came last.

    Raises:
        VerificationError: the transcript holds what the rig never writes.
    """
    acks: dict[str, Ack] = {}
    questions: dict[str, QuestionRecord] = {}
    for record in records(path, _INGESTED) if path else ():
        if isinstance(record, IngestRecord) and record.scenario_id == scenario_id:
            acks.update({ack.episode_id: ack for ack in record.acks})
        elif isinstance(record, QuestionRecord) and record.scenario_id == scenario_id:
            questions[record.question_id] = record
    return Played(acks, questions)


def timeline_page(
    shelf: Shelf, key: str, trial_id: str, scenario_id: str, page: int
) -> TimelinePage:
    """A page of a scenario's timeline.

    Raises:
        UsageError: there is no such run, trial or scenario.
        VerificationError: the transcript holds what the rig never writes.
    """
    directory = shelf.run(key)
    spec = shelf.spec(directory, trial_id)
    scenario = scenario_of(directory, spec, scenario_id)
    total = sum(1 for _ in scenario.events())
    pages = max(1, -(-total // PAGE))
    page = min(max(1, page), pages)
    found = played(transcript_of(directory, trial_id), scenario_id)

    def href(number: int) -> str:
        return links.timeline(key, trial_id, scenario_id, number)

    first = (page - 1) * PAGE
    marks = marks_of(shelf, directory, trial_id)
    lines = tuple(
        replace(
            _line(
                event,
                found,
                marks.get((scenario_id, _id(event))),
                links.question(key, trial_id, scenario_id, _id(event)),
            ),
            anchor=_anchor(place),
        )
        for place, event in enumerate(islice(scenario.events(), first, first + PAGE), first)
    )
    before = href(page - 1) if page > 1 else ""
    after = href(page + 1) if page < pages else ""
    ref = scenario.ref
    held = f"{plural(ref.episodes, 'episode')} and {plural(ref.questions, 'question')}"
    return TimelinePage(
        scenario_id, trial_id, Paged(lines, page, pages, total, before, after), held
    )


def place_of(key: str, trial_id: str, scenario_id: str, place: int) -> str:
    """The address of an event within its page; `place` counts from 0."""
    page = links.timeline(key, trial_id, scenario_id, place // PAGE + 1)
    return f"{page}#{_anchor(place)}"


def _anchor(place: int) -> str:
    return f"event-{place + 1}"


def _id(event: Event) -> str:
    return event.question_id if isinstance(event, Question) else ""


def _line(event: Event, found: Played, mark: Badge | None, href: str) -> Line:
    if isinstance(event, Episode):
        return _episode(event, found.acks.get(event.episode_id))
    if isinstance(event, Question):
        return _question(event, found.questions.get(event.question_id), mark, href)
    return Line("probe", event.probe_id, "", f"measures: {event.kind}", "")


def _episode(event: Episode, ack: Ack | None) -> Line:
    when = f"{event.timestamp:%Y-%m-%d %H:%M}" if event.timestamp else ""
    if ack is None:
        return Line("episode", event.episode_id, when, event.text, "not ingested yet")
    items = f"{plural(ack.stored_items, 'item')} in {milliseconds(ack.ns / 1e6)}"
    said = f": {ack.message}" if ack.message else ""
    badge = None if ack.status == "stored" else Badge(ack.status, _ACKS[ack.status])
    return Line(
        "episode", event.episode_id, when, event.text, f"{ack.status}, {items}{said}", badge
    )


def _question(
    event: Question, record: QuestionRecord | None, mark: Badge | None, href: str
) -> Line:
    when = f"{event.asked_at:%Y-%m-%d %H:%M}" if event.asked_at else ""
    if record is None:
        return Line("question", event.question_id, when, event.text, "not settled yet")
    hits = sum(len(search.hits) for search in record.searches)
    note = f"{plural(hits, 'hit')} in {milliseconds(record.ns / 1e6)}"
    good = record.outcome.status in {"answered", "abstained"}
    badge = mark or Badge(record.outcome.label, "" if good else "bad")
    return Line("question", event.question_id, when, event.text, note, badge, href)
