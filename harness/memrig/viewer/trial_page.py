"""A run's trials, and one trial: what happened in it, record by record."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memrig.model.transcript import QuestionRecord
from memrig.report.text import question_name
from memrig.report.units import count, milliseconds, plural
from memrig.report.view_pairs import Pair
from memrig.runs.directory import RunDirectory
from memrig.trial.directory import LOG
from memrig.viewer import links
from memrig.viewer.events import KINDS, Event, events_of
from memrig.viewer.live import Live, TrialProgress, transcript_of
from memrig.viewer.parts import Badge, Bar, Paged, paged
from memrig.viewer.questions import Row, marks_of
from memrig.viewer.run_page import trial_name
from memrig.viewer.scenarios import Texts
from memrig.viewer.shelf import Shelf
from memrig.viewer.tail import records
from memrig.viewer.words import pieces

_PAGE = 100
_STATES = {"sealed": "good", "running": "live", "interrupted": "warn", "waiting": ""}
#: That something was answered does not say that it was right.
_OUTCOMES = {"answered": "", "abstained": "warn"}
#: How much of a log's end is shown, bytes.
_LOG = 16_000


@dataclass(frozen=True, slots=True)
class TrialLine:
    """One trial in the list."""

    href: str
    name: str
    trial_id: str
    badge: Badge
    bars: tuple[Bar, ...]
    outcomes: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario of a trial, and the way to its timeline."""

    name: str
    href: str
    holds: str


@dataclass(frozen=True, slots=True)
class TrialPage:
    """One trial."""

    name: str
    trial_id: str
    badge: Badge
    facts: tuple[Pair, ...]
    scenarios: tuple[Scenario, ...]
    events: tuple[Event, ...]
    rows: Paged[Row]
    log: tuple[str, ...]
    running: bool


def trials_page(shelf: Shelf, live: Live, key: str, page: int) -> Paged[TrialLine]:
    """A run's trials: those under way first, then those that wait, then the sealed ones.

    Raises:
        UsageError: there is no such run.
    """
    order = ("running", "interrupted", "waiting", "sealed")
    found = live.progress(shelf.run(key)).trials
    trials = sorted(found, key=lambda trial: order.index(trial.state))
    lines = [_line(key, trial) for trial in trials]
    return paged(lines, page, _PAGE, lambda n: links.trials(key, page=str(n) if n > 1 else ""))


def _line(key: str, trial: TrialProgress) -> TrialLine:
    bars = [Bar("episodes", trial.episodes, trial.of_episodes)]
    bars += [Bar("questions", trial.questions, trial.of_questions)] if trial.of_questions else []
    return TrialLine(
        href=links.trial(key, trial.spec.trial_id),
        name=trial_name(trial),
        trial_id=trial.spec.trial_id,
        badge=Badge(trial.state, _STATES[trial.state]),
        bars=tuple(bars),
        outcomes=", ".join(
            f"{count(n)} {status.replace('_', ' ')}" for status, n in sorted(trial.statuses.items())
        ),
    )


def trial_page(
    shelf: Shelf, live: Live, texts: Texts, key: str, trial_id: str, page: int
) -> TrialPage:
    """One trial, sealed or not.

    Raises:
        UsageError: there is no such run or trial.
        VerificationError: its transcript holds what the rig never writes.
    """
    directory = shelf.run(key)
    spec = shelf.spec(directory, trial_id)
    trial = live.trial(directory, spec)
    path = transcript_of(directory, trial_id)
    read = list(records(path, KINDS)) if path else []
    settled = [record for record in read if isinstance(record, QuestionRecord)]

    def href(number: int) -> str:
        return links.trial(key, trial_id, page=str(number) if number > 1 else "")

    marks = marks_of(shelf, directory, trial_id)

    def row(record: QuestionRecord) -> Row:
        mark = marks.get((record.scenario_id, record.question_id))
        return _row(texts, key, directory, trial, record, mark)

    shown = paged(settled, page, _PAGE, href)
    return TrialPage(
        name=trial_name(trial),
        trial_id=trial_id,
        badge=Badge(trial.state, _STATES[trial.state]),
        facts=tuple(_facts(trial)),
        scenarios=tuple(_scenarios(key, trial)),
        events=tuple(events_of(read)),
        rows=shown.holding(map(row, shown.items)),
        log=pieces(_log(path.parent / LOG, directory.root)) if path else (),
        running=trial.state == "running",
    )


def _facts(trial: TrialProgress) -> Iterator[Pair]:
    spec = trial.spec
    yield Pair("Mode", f"{spec.mode}, top {spec.top_k}")
    yield Pair("Isolation", spec.isolation)
    yield Pair("Seed", str(spec.seed))
    yield Pair("Attempts", count(max(1, trial.attempts)))
    yield Pair("Episodes", f"{count(trial.episodes)} of {count(trial.of_episodes)}")
    if trial.of_questions:
        yield Pair("Questions", f"{count(trial.questions)} of {count(trial.of_questions)}")


def _scenarios(key: str, trial: TrialProgress) -> Iterator[Scenario]:
    for ref in trial.spec.scenarios:
        holds = f"{plural(ref.episodes, 'episode')}, {plural(ref.questions, 'question')}"
        href = links.timeline(key, trial.spec.trial_id, ref.scenario_id)
        yield Scenario(ref.scenario_id, href, holds)


def _row(
    texts: Texts,
    key: str,
    directory: RunDirectory,
    trial: TrialProgress,
    record: QuestionRecord,
    mark: Badge | None,
) -> Row:
    name = record.scenario_id, record.question_id
    asked = texts.question(directory, trial.spec, *name)
    status = record.outcome.status
    kind = _OUTCOMES.get(status, "bad")
    hits = sum(len(search.hits) for search in record.searches)
    parts = [milliseconds(record.ns / 1e6), plural(hits, "hit")]
    parts += [plural(len(record.model_calls), "model call")] if record.model_calls else []
    return Row(
        href=links.question(key, trial.spec.trial_id, *name),
        text=asked.text if asked else record.question_id,
        name=question_name(*name),
        where=" · ".join(parts),
        badges=(*filter(None, [mark]), Badge(record.outcome.label, kind)),
    )


def _log(path: Path, run: Path) -> str:
    """The end of the adapter's log; nothing of a file elsewhere, were a link to lead there."""
    try:
        if not path.resolve().is_relative_to(run.resolve()):
            return ""
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LOG))
            return file.read(_LOG).decode("utf-8", "replace").strip()
    except OSError:
        return ""
