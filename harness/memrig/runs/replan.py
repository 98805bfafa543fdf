"""From a lock back to its scenarios: who checks a run makes them again, and reads none of its own.

The suite is the installed one and the data are what is on this machine, found by content. So gold
that may not be handed on need not be, and gold that was changed is of no use.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from memrig.errors import MissingDataError, PrerequisiteError, UsageError
from memrig.model.canonical import digest_file
from memrig.model.scenario import ScenarioRef
from memrig.runs.lock import Lock
from memrig.runs.spooling import Selection, source_of, spool_seeds
from memrig.suites.base import DataSource, Suite, SuiteOptions, check_options, load_suite
from memrig.suites.datasets import DATASETS, path_of

_RATIO, _ANSWERED = "distractors", "only_answered"
#: What a lock's `options` may hold; the verdicts' digest says nothing of the scenarios.
_KNOWN = frozenset(
    {
        *("variant", "order", "granularity", "labels", "question_set", "turns", "questions"),
        *("audit_file", "distractor_file", "verdicts", _RATIO, _ANSWERED),
    }
)


@dataclass(frozen=True, slots=True)
class Replanned:
    """A lock's scenarios, made again. `source` is the data that they were made from."""

    source: DataSource
    refs: tuple[ScenarioRef, ...]
    notes: tuple[str, ...]


def respool(lock: Lock, folder: Path, data: Sequence[Path] = ()) -> Replanned:
    """Makes the scenarios of a lock again.

    That they are those of the lock is not checked here: their digests say it.

    Args:
        lock: the run's. Of its scenarios and of its data only the data's digest is read.
        folder: where the scenarios are spooled.
        data: folders with data that does not ship with memrig, beside that of
            `memrig data fetch`; also single files.

    Raises:
        MissingDataError: data is not on this machine; names it, its digest, and how to get it.
        UsageError: there is no such suite, or it offers no such options.
    """
    check_places(data)
    if lock.limit is not None and lock.limit < 1:
        raise UsageError(f"{lock.limit} is no number of questions", where="lock.json: limit")
    suite = load_suite(lock.suite)
    store = _Store(tuple(data))
    options = _options_of(lock, store)
    check_options(suite, options)
    options, source = _located(lock, suite, options, store)
    answered = None
    if _ANSWERED in lock.options:
        if lock.adapter.pod != "given":
            message = f"a pod of kind {lock.adapter.pod} has no file of answers"
            raise UsageError(message, where=f"lock.json: options.{_ANSWERED}")
        answered = store.need(lock.adapter.inputs.get("answers", ""), "the file of answers")
    selection = Selection(lock.limit, lock.isolation, answered)
    refs, notes = spool_seeds(suite, options, lock.seeds, selection, folder)
    return Replanned(source, refs, notes)


def check_places(data: Sequence[Path]) -> None:
    """Refuses a folder of data that is not there.

    Raises:
        UsageError: names it.
    """
    for place in data:
        if not place.exists():
            fix = "name one that is there"
            raise UsageError("there is no such folder", where=f"--data {place}", fix=fix)


class _Store:
    """Files of this machine by their content.

    Args:
        places: folders and files, looked through when a file is needed that no dataset is.
    """

    def __init__(self, places: tuple[Path, ...]) -> None:
        self._places = places

    def find(self, digest: str) -> Path | None:
        """The file with this sha256, if it is here."""
        for item in DATASETS.values():
            path = path_of(item)
            if digest == f"sha256:{item.sha256}" and path.is_file() and digest_file(path) == digest:
                return path
        return self._given.get(digest)

    def need(self, digest: str, what: str) -> Path:
        """The file with this sha256.

        Raises:
            MissingDataError: it is not here.
        """
        path = self.find(digest)
        if path is None:
            raise _missing(digest, what)
        return path

    @cached_property
    def _given(self) -> dict[str, Path]:
        return {digest_file(path): path for path in self._files()}

    def _files(self) -> Iterator[Path]:
        for place in self._places:
            inside = [place] if place.is_file() else sorted(place.iterdir())
            yield from (path for path in inside if path.is_file())


def _missing(digest: str, what: str) -> MissingDataError:
    known = next((d.name for d in DATASETS.values() if digest == f"sha256:{d.sha256}"), "")
    fix = "give the folder that has it with --data FOLDER"
    if known:
        fix = f"run `memrig data fetch {known}`, or {fix}"
    return MissingDataError(f"{digest} is not on this machine", where=what, fix=fix)


def _options_of(lock: Lock, store: _Store) -> SuiteOptions:
    """What the lock asked of its suite.

    Raises:
        UsageError: an option is none, or its value is not as a lock writes it.
        MissingDataError: a file that is named by its digest is not here.
    """
    chosen = lock.options
    if unknown := sorted(chosen.keys() - _KNOWN):
        raise UsageError(f"there is no option {unknown[0]!r}", where="lock.json: options")

    def file(name: str) -> Path | None:
        return store.need(chosen[name], _named(name)) if name in chosen else None

    def whole(name: str) -> int | None:
        return _whole(name, chosen[name]) if name in chosen else None

    return SuiteOptions(
        lock.protocol,
        sample=lock.sample,
        category_labels=lock.category_labels,
        variant=chosen.get("variant", ""),
        order=chosen.get("order", ""),
        granularity=chosen.get("granularity", ""),
        labels=chosen.get("labels", "published"),
        audit_file=file("audit_file"),
        distractors=_ratio(chosen[_RATIO]) if _RATIO in chosen else None,
        distractor_file=file("distractor_file"),
        seed=lock.seeds[0],
        turns=whole("turns"),
        questions=whole("questions"),
        question_set=chosen.get("question_set", ""),
    )


def _named(option: str) -> str:
    return f"the file of --{option.replace('_', '-')}"


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16 and str(int(text)) == text):
        raise UsageError(f"is no number: {text!r}", where=f"lock.json: options.{name}")
    return int(text)


def _ratio(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if str(value) != text:
        raise UsageError(f"is no ratio: {text!r}", where=f"lock.json: options.{_RATIO}")
    return value


def _located(
    lock: Lock, suite: Suite, options: SuiteOptions, store: _Store
) -> tuple[SuiteOptions, DataSource]:
    """The data by the lock's digest: the suite's own, or a file that is here.

    Where the lock calls the suite's own data by another digest than it has, that is what is taken:
    the difference is for the caller to see, and no file could mend it.

    Raises:
        MissingDataError: the data is neither.
    """
    wanted, what = lock.data.sha256, f"suite {lock.suite}: data {lock.data.name!r}"
    try:
        own = source_of(suite, options, lock.seeds)
    except PrerequisiteError:
        own = None
    if own is not None and (own.sha256 == wanted or lock.sample or suite.made_of_seeds):
        return options, own
    path = store.find(wanted)
    if path is not None:
        options = replace(options, file=path, variant=_variant(options, own))
        return options, source_of(suite, options, lock.seeds)
    if own is not None and (own.name, own.origin) == (lock.data.name, lock.data.origin):
        return options, own
    raise _missing(wanted, what)


def _variant(options: SuiteOptions, own: DataSource | None) -> str:
    """A variant names a file; it stays only where that is the one that was missing."""
    return options.variant if own is None else ""
