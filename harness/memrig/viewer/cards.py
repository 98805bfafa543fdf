"""The list of runs: what each one is, how it stands, and its headline."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from memrig.errors import MemrigError
from memrig.report.groups import headline_values
from memrig.report.model import Report
from memrig.report.units import bounds, count, metric_head, milliseconds, percent, plural
from memrig.report.view_pairs import Pair
from memrig.runs.directory import RunDirectory
from memrig.runs.lock import Lock
from memrig.stats.summary import OVERALL
from memrig.viewer import links
from memrig.viewer.live import Live, RunProgress, began_at
from memrig.viewer.parts import Badge, Bar, Choice, named
from memrig.viewer.shelf import Shelf

_HEADLINES = 3


@dataclass(frozen=True, slots=True)
class Card:
    """One run in the list. `problem` says why it cannot be read; then there is little else."""

    key: str
    href: str
    name: str
    what: str
    how: str
    began: datetime | None
    badges: tuple[Badge, ...]
    figures: tuple[Pair, ...]
    bar: Bar | None = None
    problem: str = ""

    @property
    def when(self) -> str:
        """When it was planned."""
        return f"{self.began:%Y-%m-%d %H:%M} UTC" if self.began else ""


@dataclass(frozen=True, slots=True)
class RunsPage:
    """The first page."""

    folder: str
    cards: tuple[Card, ...]
    suites: tuple[Choice, ...]
    running: bool


def runs_page(shelf: Shelf, live: Live, suite: str = "") -> RunsPage:
    """Every run, newest first.

    Args:
        shelf: the runs.
        live: how far they are.
        suite: only those of this one; empty: all.

    Raises:
        UsageError: the folder is not there.
    """
    made = [_card(shelf, live, key, directory) for key, directory in shelf.runs().items()]
    made.sort(key=lambda pair: (pair[1].began is None, -_stamp(pair[1].began), pair[1].key))
    kept = tuple(card for name, card in made if not suite or name == suite)
    running = any(card.bar is not None for card in kept)
    names = [name for name, _ in made if name]
    return RunsPage(str(shelf.root), kept, tuple(_suites(names, suite)), running)


def _stamp(when: datetime | None) -> float:
    return when.timestamp() if when else 0.0


def _suites(names: list[str], chosen: str) -> Iterator[Choice]:
    if len(set(names)) < 2 and not chosen:
        return
    yield Choice("all", links.home(), count(len(names)), not chosen)
    for name in sorted(set(names)):
        href = links.home(suite=name)
        yield Choice(name, href, count(names.count(name)), name == chosen)


def _card(shelf: Shelf, live: Live, key: str, directory: RunDirectory) -> tuple[str, Card]:
    """A run's suite and its card; a run that cannot be read says why, and hides no other."""
    try:
        lock = shelf.lock(directory)
        card = _whole(shelf, live, key, directory, lock)
    except (MemrigError, OSError, ValueError) as error:
        href = links.run(key)
        return "", Card(key, href, key, "", "", None, (), (), problem=str(error))
    return lock.suite, card


def _whole(shelf: Shelf, live: Live, key: str, directory: RunDirectory, lock: Lock) -> Card:
    report = shelf.report(directory)
    progress = live.progress(directory)
    bar = Bar("questions", progress.questions, progress.of_questions)
    return Card(
        key=key,
        href=links.run(key),
        name=key,
        what=f"{named(lock.adapter.name)} {named(lock.adapter.version)}",
        how=how_words(lock),
        began=began_at(directory),
        badges=state_badges(progress, report),
        figures=headline_figures(report),
        bar=bar if progress.state == "running" else None,
    )


def how_words(lock: Lock) -> str:
    """What was asked, and how, on one line."""
    parts = [lock.suite, lock.protocol, lock.mode, f"{lock.adapter.pod} pod"]
    parts += [f"reader {lock.reader}"] if lock.reader else []
    parts += [f"judge {lock.judge}"] if lock.judge else []
    parts += [plural(sum(ref.questions for ref in lock.asked) * lock.repeats, "question")]
    return " · ".join(dict.fromkeys(parts))


def state_badges(progress: RunProgress, report: Report | None) -> tuple[Badge, ...]:
    """How a run stands, in a word or two."""
    if progress.state == "running":
        return (Badge("running", "live"),)
    open_ = len(progress.trials) - progress.sealed
    if open_:
        return (Badge(f"stopped: {plural(open_, 'trial')} open", "warn"),)
    if progress.unjudged:
        return (Badge(f"stopped: {plural(progress.unjudged, 'trial')} without judge", "warn"),)
    if report is None:
        return (Badge("not graded", "warn"),)
    return (Badge("complete", "good"),) if report.complete else (Badge("incomplete", "bad"),)


def division_badges(report: Report | None) -> tuple[Badge, ...]:
    """That a run is its profile's to the letter; what makes it open is one of its labels."""
    found = report.profile if report else None
    if found is None or found.division != "closed":
        return ()
    return (Badge(f"closed division: {found.name}, {found.tier}", "good"),)


def headline_figures(report: Report | None) -> tuple[Pair, ...]:
    """The first headline metrics and the median search of a graded run."""
    if report is None:
        return ()
    values = headline_values(report, OVERALL)
    found = [
        Pair(metric_head(name), f"{percent(value.value)} %", bounds(value.low, value.high))
        for name, value in zip(report.headline, values, strict=True)
        if value is not None
    ][:_HEADLINES]
    search = next((item for item in report.latencies if item.phase == "search"), None)
    if search is not None:
        found.append(Pair("search p50", milliseconds(search.p50_ms)))
    return tuple(found)
