"""One run: its headline, how far it is, where its questions went well and where not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice, zip_longest
from statistics import median

from memrig.grading.base import Grade
from memrig.report.groups import headline_values
from memrig.report.model import Report
from memrig.report.text import question_name
from memrig.report.units import count, metric_head, milliseconds, percent, plural, seconds
from memrig.report.view import page_of
from memrig.report.view_pairs import Pair
from memrig.runs.directory import RunDirectory
from memrig.runs.lock import Lock
from memrig.viewer import links
from memrig.viewer.cards import division_badges, how_words, state_badges
from memrig.viewer.live import Live, RunProgress, RunState, TrialProgress
from memrig.viewer.marks import EVIDENCE, KINDS, WORDS, Kind, evidence_of, mark_of
from memrig.viewer.parts import Badge, Bar, Choice, named
from memrig.viewer.questions import Row, rows_of
from memrig.viewer.scenarios import Texts
from memrig.viewer.shelf import Shelf

_WORST, _RUNNING, _RECENT, _GROUPS = 8, 8, 8, 40


@dataclass(frozen=True, slots=True)
class Cell:
    """How many questions of a group went one way, and where they are listed."""

    n: str
    href: str


@dataclass(frozen=True, slots=True)
class Group:
    """Questions of one category: how they went, and the headline metric."""

    name: str
    href: str
    n: str
    value: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Going:
    """One trial that is under way."""

    href: str
    name: str
    doing: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class LiveView:
    """How far an unfinished run is."""

    state: RunState
    said: str
    bars: tuple[Bar, ...]
    facts: tuple[Pair, ...]
    going: tuple[Going, ...]
    recent: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Ways:
    """Where else to look at a run."""

    report: str
    questions: str
    trials: str
    compare: str


@dataclass(frozen=True, slots=True)
class RunPage:
    """A run's page. `head` names the metric of `groups`, `kinds` their columns."""

    key: str
    to: Ways
    adapter: str
    version: str
    suite: str
    how: str
    badges: tuple[Badge, ...]
    labels: tuple[str, ...]
    incomplete: str
    tiles: tuple[Pair, ...]
    live: LiveView | None
    head: str
    kinds: tuple[str, ...]
    groups: tuple[Group, ...]
    lost: tuple[Choice, ...]
    worst: tuple[Row, ...]
    trials: str
    graded: bool


def run_page(shelf: Shelf, live: Live, texts: Texts, key: str) -> RunPage:
    """What there is to see of a run.

    Raises:
        UsageError: there is no such run, or its files are of another version.
        VerificationError: an unfinished transcript holds what the rig never writes.
    """
    directory = shelf.run(key)
    lock, report = shelf.lock(directory), shelf.report(directory)
    progress = live.progress(directory)
    grades = shelf.grades(directory)
    shown = progress.state != "done"
    found = {mark_of(grade).kind for grade in grades}
    kinds = [kind for kind in KINDS if kind in found]
    by_rank = all(mark_of(grade).text.startswith("evidence") for grade in grades)
    return RunPage(
        key=key,
        to=Ways(links.report(key), links.questions(key), links.trials(key), links.versus(key)),
        adapter=named(lock.adapter.name),
        version=named(lock.adapter.version),
        suite=lock.suite,
        how=how_words(lock),
        badges=(*state_badges(progress, report), *division_badges(report)),
        labels=report.labels if report else (),
        incomplete=report.incomplete if report and not shown else "",
        tiles=page_of(report).tiles if report else (),
        live=_live(shelf, texts, key, directory, progress) if shown else None,
        head=metric_head(report.headline[0]) if report and report.headline else "",
        kinds=tuple(WORDS[kind][by_rank] for kind in kinds),
        groups=tuple(_groups(key, report, grades, kinds))[:_GROUPS],
        lost=() if by_rank else tuple(_lost(key, grades)),
        worst=tuple(_worst(shelf, texts, key, directory, report, grades)),
        trials=plural(len(progress.trials), "trial"),
        graded=bool(grades),
    )


def _groups(
    key: str, report: Report | None, grades: Sequence[Grade], shown: Sequence[Kind]
) -> Iterator[Group]:
    values = {}
    if report is not None and report.headline:
        found = {value.group for value in report.metrics}
        values = {name: headline_values(report, name)[0] for name in found}
    for name in sorted({grade.category for grade in grades}):
        mine = [grade for grade in grades if grade.category == name]
        kinds = [mark_of(grade).kind for grade in mine]
        value = values.get(name)
        yield Group(
            name=named(name),
            href=links.questions(key, category=name),
            n=count(len(mine)),
            value=percent(value.value) if value else "",
            cells=tuple(
                Cell(
                    count(kinds.count(kind)) if kind in kinds else "",
                    links.questions(key, category=name, how=kind),
                )
                for kind in shown
            ),
        )


def _lost(key: str, grades: Sequence[Grade]) -> Iterator[Choice]:
    """Wrong answers by whether the memory had returned what they needed."""
    wrong = Counter(evidence_of(grade) for grade in grades if mark_of(grade).kind == "wrong")
    for name, text in EVIDENCE.items():
        if wrong[name]:
            href = links.questions(key, how="wrong", evidence=name)
            yield Choice(text, href, count(wrong[name]), chosen=False)


def _worst(
    shelf: Shelf,
    texts: Texts,
    key: str,
    directory: RunDirectory,
    report: Report | None,
    grades: Sequence[Grade],
) -> Iterator[Row]:
    """The report's choice of the questions that went worst."""
    if report is None:
        return
    found = {(grade.scenario_id, grade.question_id): grade for grade in reversed(grades)}
    names = [(shown.scenario_id, shown.question_id) for shown in report.worst[:_WORST]]
    chosen = [found[name] for name in names if name in found]
    yield from rows_of(shelf, texts, key, directory, chosen)


# ------------------------------------------------------------------------------------------- live


def _live(
    shelf: Shelf, texts: Texts, key: str, directory: RunDirectory, progress: RunProgress
) -> LiveView:
    going = [trial for trial in progress.trials if trial.tally is not None]
    lock = shelf.lock(directory)
    return LiveView(
        state=progress.state,
        said=_said(progress),
        bars=tuple(_bars(progress, lock)),
        facts=tuple(_facts(progress, going)),
        going=tuple(_going(key, trial) for trial in going[:_RUNNING]),
        recent=tuple(islice(_recent(texts, key, directory, going), _RECENT)),
    )


def _said(progress: RunProgress) -> str:
    if progress.state == "stopped":
        return "No process is at work here. Repeating the command goes on where it stopped."
    if progress.sealed < len(progress.trials):
        return ""
    return "Every trial is sealed; judging or grading goes on."


def _bars(progress: RunProgress, lock: Lock) -> Iterator[Bar]:
    yield Bar("questions", progress.questions, progress.of_questions)
    yield Bar("episodes", progress.episodes, progress.of_episodes)
    yield Bar("trials", progress.sealed, len(progress.trials))
    if lock.judge:
        sealed = sum(trial.state == "sealed" for trial in progress.scored)
        yield Bar("trials judged", sealed - progress.unjudged, len(progress.scored))


def _facts(progress: RunProgress, going: Sequence[TrialProgress]) -> Iterator[Pair]:
    for status, number in progress.statuses.most_common():
        yield Pair(status.replace("_", " "), count(number))
    times = [ns for trial in going if trial.tally for ns in trial.tally.search_ns]
    if times:
        yield Pair("search p50, open trials", milliseconds(median(times) / 1e6))
    again = sum(trial.attempts > 1 for trial in progress.trials)
    if again:
        yield Pair("trials begun again", count(again))


def _going(key: str, trial: TrialProgress) -> Going:
    tally = trial.tally
    doing = tally.doing if tally and trial.state == "running" else "interrupted"
    if tally and tally.started_at and trial.state == "running":
        spent = (datetime.now(UTC) - tally.started_at).total_seconds()
        doing = f"{doing}, {seconds(max(0.0, spent))} since its start"
    bars = [Bar("episodes", trial.episodes, trial.of_episodes)]
    bars += [Bar("questions", trial.questions, trial.of_questions)] if trial.of_questions else []
    return Going(links.trial(key, trial.spec.trial_id), trial_name(trial), doing, tuple(bars))


def trial_name(trial: TrialProgress) -> str:
    """What a trial is of, for people."""
    spec = trial.spec
    several = len(spec.scenarios) > 1
    what = plural(len(spec.scenarios), "scenario") if several else spec.scenarios[0].scenario_id
    kind = "" if spec.kind == "scored" else f"{spec.kind.replace('-', ' ')}, "
    repeat = f", repeat {spec.repeat}" if spec.repeat else ""
    return f"{kind}{what}, seed {spec.seed}{repeat}"


def _recent(
    texts: Texts, key: str, directory: RunDirectory, going: Sequence[TrialProgress]
) -> Iterator[Row]:
    """The questions that were settled last; the trials under way take turns."""
    found = [
        [(trial.spec, settled) for settled in reversed(trial.tally.recent)]
        for trial in going
        if trial.tally is not None
    ]
    for pair in filter(None, chain.from_iterable(zip_longest(*found))):
        spec, settled = pair
        name = settled.scenario_id, settled.question_id
        asked = texts.question(directory, spec, *name)
        good = settled.outcome in {"answered", "abstained"}
        yield Row(
            href=links.question(key, spec.trial_id, *name),
            text=asked.text if asked else settled.question_id,
            name=question_name(*name),
            where=milliseconds(settled.ns / 1e6),
            badges=(Badge(settled.outcome, "" if good else "bad"),),
        )
