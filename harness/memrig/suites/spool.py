"""Scenarios on disk: written once at planning, content-addressed, streamed ever after.

``<digest>.jsonl`` holds the timeline, an event a line; ``<gold digest>.gold.jsonl`` the gold. A
trial reads the first and only the grader the second.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ValidationError

from memrig.errors import DataError, VerificationError
from memrig.model.canonical import canonical_json, digest_file, short
from memrig.model.gold import Gold
from memrig.model.scenario import (
    EVENT,
    Episode,
    Event,
    Question,
    Scenario,
    ScenarioRef,
    event_id,
)
from memrig.suites.checks import check_event, check_text, usable

#: In the line of every probe.
_PROBE = b'"type":"probe"'
#: Texts that are kept once they were read: the hits of one question often come again.
_RECENT = 512


class _Sink:
    """Writes lines aside while hashing them, then takes the hash as the file's name."""

    def __init__(self, folder: Path, suffix: str) -> None:
        descriptor, name = tempfile.mkstemp(dir=folder, prefix=".spool-")
        self._file = os.fdopen(descriptor, "wb")
        self._temporary = Path(name)
        self._folder, self._suffix = folder, suffix
        self._hash = hashlib.sha256()

    def write(self, item: BaseModel) -> None:
        line = canonical_json(item) + b"\n"
        self._hash.update(line)
        self._file.write(line)

    def seal(self) -> str:
        self._file.close()
        digest = "sha256:" + self._hash.hexdigest()
        self._temporary.replace(self._folder / f"{short(digest, 64)}{self._suffix}")
        return digest

    def discard(self) -> None:
        with suppress(OSError):  # what is in its buffer does not fit a full disk either
            self._file.close()
        self._temporary.unlink(missing_ok=True)


def spool(scenario: Scenario, folder: Path) -> ScenarioRef:
    """Writes a scenario below `folder`; memory does not grow with its length.

    Raises:
        DataError: two events share an id, a question has no gold record, something is too large
            to be sent, or a text is not UTF-8.
    """
    where = f"scenario {scenario.scenario_id!r}"
    for text in (scenario.scenario_id, *scenario.notes):
        check_text(text, where)
    folder.mkdir(parents=True, exist_ok=True)
    events, gold = _Sink(folder, ".jsonl"), _Sink(folder, ".gold.jsonl")
    seen: set[tuple[str, str]] = set()
    counts, text_bytes = {"episode": 0, "question": 0, "probe": 0}, 0
    try:
        for event in usable(scenario.timeline, where):
            _check(event, scenario, seen)
            counts[event.type] += 1
            text_bytes += len(event.text.encode()) if isinstance(event, Episode) else 0
            events.write(event)
            if isinstance(event, Question):
                _write_gold(gold, scenario.gold[event.question_id], where)
        return ScenarioRef(
            scenario_id=scenario.scenario_id,
            digest=events.seal(),
            gold_digest=gold.seal(),
            episodes=counts["episode"],
            questions=counts["question"],
            text_bytes=text_bytes,
        )
    except BaseException:
        events.discard()
        gold.discard()
        raise


def _check(event: Event, scenario: Scenario, seen: set[tuple[str, str]]) -> None:
    where = f"scenario {scenario.scenario_id!r}"
    name = event_id(event)
    if (event.type, name) in seen:
        raise DataError(
            f"{event.type} id {name!r} occurs twice", where=where, fix="make ids unique"
        )
    seen.add((event.type, name))
    check_event(event, scenario.scenario_id)
    if isinstance(event, Question) and name not in scenario.gold:
        raise DataError(f"question {name!r} has no gold record", where=where)


def _write_gold(sink: _Sink, gold: Gold, where: str) -> None:
    try:
        sink.write(gold)
    except TypeError as error:
        raise DataError(
            f"the gold record cannot be written as JSON: {error}",
            where=f"{where}: question {gold.question_id!r}",
            fix="repair its text or number",
        ) from error


class SpooledScenario:
    """A scenario read back from its spool.

    Args:
        folder: where `spool` wrote it.
        ref: what `spool` returned.
    """

    def __init__(self, folder: Path, ref: ScenarioRef) -> None:
        self.ref = ref
        self._events = folder / f"{short(ref.digest, 64)}.jsonl"
        self._gold = folder / f"{short(ref.gold_digest, 64)}.gold.jsonl"

    def verify(self) -> None:
        """Compares the timeline with its digest.

        Raises:
            VerificationError: the file is missing or has been changed.
        """
        for path, digest in ((self._events, self.ref.digest), (self._gold, self.ref.gold_digest)):
            if not path.is_file() or digest_file(path) != digest:
                message = "the spooled scenario is missing or was changed since planning"
                raise VerificationError(message, where=str(path), fix="start a new run")

    def events(self) -> Iterator[Event]:
        """The timeline, streamed."""
        with self._events.open("rb") as file:
            for line in file:
                yield EVENT.validate_json(line)

    @cached_property
    def has_probes(self) -> bool:
        """Whether the timeline measures at places, beside its questions."""
        with self._events.open("rb") as file:
            return any(
                _PROBE in line and EVENT.validate_json(line).type == "probe" for line in file
            )

    def gold(self) -> dict[str, Gold]:
        """The gold records by question id."""
        return {record.question_id: record for record in self._read_gold()}

    def truth(self) -> "tuple[dict[str, Question], EpisodeTexts, dict[str, int]]":
        """The questions by id, the episodes' texts, and how many of these precede each question."""
        questions: dict[str, Question] = {}
        positions: dict[str, int] = {}
        places: dict[str, int] = {}
        place = 0
        with self._events.open("rb") as file:
            for line in file:
                event = EVENT.validate_json(line)
                if isinstance(event, Question):
                    questions[event.question_id] = event
                    positions[event.question_id] = len(places)
                elif isinstance(event, Episode):
                    places[event.episode_id] = place
                place += len(line)
        return questions, EpisodeTexts(self._events, places), positions

    def questions(self) -> dict[str, Question]:
        """The questions by id."""
        return self.truth()[0]

    def _read_gold(self) -> Iterable[Gold]:
        with self._gold.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield Gold.model_validate_json(line)
                except ValidationError as error:
                    message = f"line {number} is not a gold record: {error.errors()[0]['msg']}"
                    raise VerificationError(message, where=str(self._gold)) from error


class EpisodeTexts(Mapping[str, str]):
    """Texts by episode id, read from disk when they are asked for: a pooled memory is large.

    Args:
        path: the timeline.
        places: where each episode's line begins, bytes.
    """

    def __init__(self, path: Path, places: Mapping[str, int]) -> None:
        self._path = path
        self._places = places
        self._recent: dict[str, str] = {}

    def __getitem__(self, episode_id: str) -> str:
        """The text.

        Raises:
            KeyError: no such episode.
        """
        place = self._places[episode_id]
        if episode_id not in self._recent:
            if len(self._recent) >= _RECENT:
                self._recent.clear()
            with self._path.open("rb") as file:
                file.seek(place)
                self._recent[episode_id] = Episode.model_validate_json(file.readline()).text
        return self._recent[episode_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
