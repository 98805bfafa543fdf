"""LENS's dataset JSON, and memrig's own, which is the same with a name (docs/formats.md).

Reading goes on after a defect, so that a lint can name them all; with an error it is no dataset.
"""

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TypeVar

from memrig.errors import DataError
from memrig.model.longitudinal import FORMAT, QUESTION_TYPES
from memrig.suites.fields import expect, some_text, texts
from memrig.suites.longitudinal_model import (
    CheckpointQuestion,
    Dataset,
    Kind,
    Scope,
    StreamEpisode,
)
from memrig.suites.problems import Problem

#: What tells a distractor where the data's `meta` does not, in LENS's files.
_DISTRACTOR_ID = "_dx_"
_KINDS: Mapping[str, Kind] = {"signal": "signal", "distractor": "distractor"}
_MEMBERS: Mapping[str, Collection[str]] = {
    "file": ("format", "name", "version", "description", "scopes", "questions"),
    "scope": ("scope_id", "domain", "episodes"),
    "episode": ("episode_id", "scope_id", "timestamp", "text", "meta"),
    "question": (
        "question_id", "scope_id", "checkpoint_after", "question_type", "prompt", "ground_truth",
    ),
    "ground truth": ("canonical_answer", "required_evidence_refs", "key_facts"),
}  # fmt: skip
_ADDED = {
    "questions": "add the questions; a file without any can be a --distractor-file, no more",
}
_NOTHING: Mapping[str, object] = {}
_EMPTY: Sequence[object] = ()
_EPOCH = datetime.fromtimestamp(0, UTC)
#: How many names a fix offers, how much of a wrong one is compared, and with how many.
_SHOWN, _LONGEST, _COMPARED = 3, 100, 500
T = TypeVar("T")


def read_dataset(raw: object, *, questions: bool = True) -> tuple[list[Problem], Dataset | None]:
    """Checks a parsed file member by member.

    Args:
        raw: the parsed JSON.
        questions: False for a file that only gives episodes; its questions are not looked at.

    Returns:
        Every defect, and the dataset if none of them is an error.
    """
    reading = _Reading()
    dataset = reading.dataset(raw, questions=questions)
    problems = [*reading.problems, *reading.warnings()]
    return problems, None if reading.problems else dataset


def near(name: str, known: Collection[str]) -> str:
    """What may have been meant: names like this one, else some of those that there are."""
    names = list(islice(known, _COMPARED))
    found = difflib.get_close_matches(name[:_LONGEST], names, n=_SHOWN) or names
    return f"one of: {', '.join(found[:_SHOWN])}{', …' if len(found) > _SHOWN else ''}"


class _Reading:
    """One pass over a file; `problems` are its errors."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._seen: dict[tuple[str, str], str] = {}
        self._unknown: Counter[tuple[str, str]] = Counter()
        self._strays: Counter[tuple[str, str]] = Counter()
        self._home: dict[str, str] = {}
        self._held: set[tuple[str, str]] = set()

    def dataset(self, raw: object, *, questions: bool) -> Dataset:
        top = self._read(lambda: _object(raw, "(top level)"), _NOTHING)
        self._note_unknown("file", top)
        name = ""
        if "format" in top and self._member(top, "format", "", _own_format, ""):
            name = self._member(top, "name", "", some_text, "")
        version = self._member(top, "version", "", some_text, "")
        listed = self._member(top, "scopes", "", _some_list, _EMPTY)
        scopes = [self._scope(item, f"scopes[{n}]") for n, item in enumerate(listed)]
        asked: dict[str, list[CheckpointQuestion]] = {scope.scope_id: [] for scope in scopes}
        if questions:
            known = {scope.scope_id: scope for scope in scopes}
            for number, item in enumerate(self._member(top, "questions", "", _some_list, _EMPTY)):
                self._question(item, f"questions[{number}]", known, asked)
        made = (Scope(s.scope_id, s.episodes, tuple(asked[s.scope_id]), s.as_filed) for s in scopes)
        return Dataset(name, version, tuple(made))

    def warnings(self) -> Iterator[Problem]:
        """What is passed over: a warning for each kind, whatever its number."""
        for (scope_id, named), count in self._strays.items():
            if count:
                message = (
                    f"episodes that name scope {named!r:.60}: {count}; where they stand counts"
                )
                fix = f"write {scope_id:.60} as their scope_id"
                yield Problem("warning", f"scope {scope_id!r:.60}", message, fix)
        for (level, name), count in self._unknown.items():
            message = f"member {name:.60} is none of the format's and is ignored ({count} times)"
            known = ", ".join(_MEMBERS[level])
            yield Problem("warning", level, message, f"leave it out; a {level} has {known}")

    def _scope(self, raw: object, index: str) -> Scope:
        item, place, scope_id = self._named("scope", raw, index)
        if "domain" in item:
            self._member(item, "domain", place, some_text, "")
        listed = self._member(item, "episodes", place, _some_list, _EMPTY)
        filed = [
            self._episode(episode, f"{index}.episodes[{n}]", scope_id)
            for n, episode in enumerate(listed)
        ]
        episodes = sorted(filed, key=lambda episode: episode.timestamp)  # stable
        return Scope(scope_id, tuple(episodes), as_filed=episodes == filed)

    def _episode(self, raw: object, index: str, scope_id: str) -> StreamEpisode:
        item, place, episode_id = self._named("episode", raw, index)
        named = self._member(item, "scope_id", place, some_text, scope_id)
        self._strays[scope_id, named] += bool(scope_id) and named != scope_id
        self._home[episode_id] = scope_id
        self._held.add((scope_id, episode_id))
        return StreamEpisode(
            episode_id,
            self._member(item, "timestamp", place, _moment, _EPOCH),
            self._member(item, "text", place, some_text, ""),
            self._kind(item, place, episode_id),
        )

    def _kind(self, item: Mapping[str, object], place: str, episode_id: str) -> Kind:
        where = f"{place}: meta"
        given = item.get("meta")
        meta = _NOTHING if given is None else self._read(lambda: _mapping(given, where), _NOTHING)
        if "episode_type" in meta:
            where += ".episode_type"
            named = self._read(lambda: expect(meta["episode_type"], str, where), "")
            return _KINDS.get(named, "")
        return "distractor" if _DISTRACTOR_ID in episode_id else ""

    def _question(
        self,
        raw: object,
        index: str,
        scopes: Mapping[str, Scope],
        asked: Mapping[str, list[CheckpointQuestion]],
    ) -> None:
        item, place, question_id = self._named("question", raw, index)
        scope_id = self._member(item, "scope_id", place, some_text, "")
        if scope_id not in scopes and all((scope_id, scopes, *scopes)):  # else it is named already
            message = f"there is no scope {scope_id!r:.60}"
            self._fault(f"{place}: scope_id", message, near(scope_id, scopes))
        kind = self._member(item, "question_type", place, _question_type, "")
        truth_place = f"{place}: ground_truth"
        truth = self._member(item, "ground_truth", place, _object, _NOTHING)
        self._note_unknown("ground truth", truth)
        question = CheckpointQuestion(
            question_id,
            kind,
            self._member(item, "prompt", place, some_text, ""),
            self._member(item, "checkpoint_after", place, _whole, 1),
            self._member(truth, "canonical_answer", truth_place, some_text, ""),
            self._member(truth, "required_evidence_refs", truth_place, _names, ()),
            self._member(truth, "key_facts", truth_place, _facts, ()),
        )
        if scope_id in scopes:
            self._check_place(question, place, scopes[scope_id])
            asked[scope_id].append(question)

    def _check_place(self, question: CheckpointQuestion, place: str, scope: Scope) -> None:
        """A question stands within its scope, and so does its evidence."""
        count = len(scope.episodes)
        if not count:
            return  # which is named already
        if not 1 <= question.checkpoint <= count:
            message = f"is {question.checkpoint!s:.60}, and the scope has {count} episodes"
            fix = f"give 1 to {count}: after how many episodes, in time order, it is asked"
            self._fault(f"{place}: checkpoint_after", message, fix)
        for name in question.evidence:
            if (scope.scope_id, name) not in self._held:
                home = self._home.get(name)
                where = f"{place}: ground_truth.required_evidence_refs"
                message = f"names {name!r:.80}, which is no episode of scope {scope.scope_id!r:.60}"
                message += f" but of {home!r:.60}" if home else ""
                names = [episode.episode_id for episode in scope.episodes]
                self._fault(where, message, f"name an episode of the scope: {near(name, names)}")

    def _named(self, kind: str, raw: object, index: str) -> tuple[Mapping[str, object], str, str]:
        """An object that has an id: its members, how it is called in errors, and its id."""
        item = self._read(lambda: _object(raw, index), _NOTHING)
        if not item:
            return _NOTHING, index, ""
        self._note_unknown(kind, item)
        name = self._member(item, f"{kind}_id", index, some_text, "")
        place = f"{kind} {name!r:.80}" if name else index
        first = self._seen.setdefault((kind, name), index)
        if name and first != index:
            message = f"{name!r:.80} occurs twice: also at {first}"
            self._fault(f"{index}: {kind}_id", message, "make ids unique in the whole file")
        return item, place, name

    def _member(
        self,
        item: Mapping[str, object],
        name: str,
        place: str,
        read: Callable[[object, str], T],
        default: T,
    ) -> T:
        """One member, or its stand-in where it cannot be: what is missing in nothing is no news."""
        where = f"{place}: {name}" if place else name
        if name in item:
            return self._read(lambda: read(item[name], where), default)
        if item:
            what = "is missing" if place else "the section is missing"
            self._fault(where, what, _ADDED.get(name, f"add {name} (docs/formats.md)"))
        return default

    def _read(self, read: Callable[[], T], default: T) -> T:
        try:
            return read()
        except DataError as error:
            self._fault(error.where, error.message, error.fix)
            return default

    def _fault(self, where: str, message: str, fix: str) -> None:
        self.problems.append(Problem("error", where, message, fix))

    def _note_unknown(self, level: str, item: Mapping[str, object]) -> None:
        for name in item:
            if name not in _MEMBERS[level]:
                self._unknown[level, ascii(name)] += 1


def _own_format(value: object, where: str) -> str:
    if value != FORMAT:
        fix = f"write {FORMAT!r}, or leave format out of a LENS file"
        raise DataError(f"is {value!r:.60}, expected {FORMAT!r}", where=where, fix=fix)
    return FORMAT


def _object(value: object, where: str) -> Mapping[str, object]:
    found = _mapping(value, where)
    if not found:
        raise DataError("is empty", where=where, fix="fill it in, or leave it out")
    return found


def _mapping(value: object, where: str) -> Mapping[str, object]:
    return expect(value, dict, where)


def _some_list(value: object, where: str) -> Sequence[object]:
    found: list[object] = expect(value, list, where)
    if not found:
        raise DataError("is empty", where=where, fix="there must be at least one")
    return found


def _whole(value: object, where: str) -> int:
    return expect(value, int, where)


def _names(value: object, where: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts(value, where)))


def _facts(value: object, where: str) -> tuple[str, ...]:
    found = texts(value, where)
    for number, fact in enumerate(found):
        if not all(alternative.strip() for alternative in fact.split("|")):
            message = f"{fact!r:.60} is empty, or has an empty alternative beside its |"
            raise DataError(message, where=f"{where}[{number}]", fix="write the fact, or drop it")
    return tuple(found)


def _question_type(value: object, where: str) -> str:
    name = some_text(value, where)
    if name not in QUESTION_TYPES:
        message, fix = f"there is no question type {name!r:.60}", near(name, QUESTION_TYPES)
        raise DataError(message, where=where, fix=fix)
    return name


def _moment(value: object, where: str) -> datetime:
    """ISO 8601; without a zone it is UTC."""
    text = some_text(value, where)
    fix = "write it as 2025-01-31T10:00:00 (UTC), or with its zone: 2025-01-31T10:00:00+01:00"
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        message = f"{text!r:.60} is no ISO 8601 date and time"
        raise DataError(message, where=where, fix=fix) from error
