"""What can be known from turns that were heard: every sentence is read, and the truth kept."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from support.inverting import line_readings, readings
from support.longhorizon_words import Told, day, said, told, ways

_SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z])")
#: Ways of telling that change nothing.
IDLE = frozenset({"recalled", "recalled_claim", "supposed", "rumoured"})
#: Ways of telling that make the truth.
TRUE = frozenset({"stated", "updated", "updated_later", "corrected", "retracted"})


@dataclass(frozen=True)
class Fact:
    """What one sentence says, and when and by whom it was said."""

    turn: str
    heard: date
    speaker: str
    told: str
    predicate: str
    entity: str
    value: Told
    old: Told | None = None
    day: date | None = None
    source: str = ""


@dataclass(frozen=True)
class Held:
    """A value that an attribute has, and from which day on."""

    value: Told
    since: date
    fact: Fact


class MisreadError(AssertionError):
    """A sentence that can be read in no way, or in more than one."""


def heard(turn: Mapping[str, str]) -> tuple[Fact, ...]:
    """The facts of a turn, read from its text; its day and speaker are told with it.

    Raises:
        MisreadError: some of the text can be read in no way, or in several.
    """
    at, speaker, text = turn["told_at"][:10], turn["speaker"], turn["text"]
    place = (turn["turn_id"], date.fromisoformat(at), speaker)
    lines = list(line_readings(text))
    if lines:
        if len(lines) > 1:
            raise MisreadError(f"{len(lines)} readings: {text}")
        name = lines[0].pop("entity")
        return tuple(
            Fact(*place, "stated", f"log.{key}", name, value) for key, value in lines[0].items()
        )
    if _is_small_talk(text):
        return ()
    return tuple(_fact(place, sentence) for sentence in _SENTENCES.split(text))


def _fact(place: tuple[str, date, str], sentence: str) -> Fact:
    found = list(dict.fromkeys(readings(sentence)))
    if len(found) != 1:
        raise MisreadError(f"{len(found)} readings: {sentence}")
    one = found[0]
    value = told(one.predicate, one.value)
    if value is None:
        raise MisreadError(f"no value of {one.predicate}: {one.value}")
    old = told(one.predicate, one.old) if one.old else None
    when = day(one.day) if one.day else None
    return Fact(*place, one.told, one.predicate, one.entity, value, old, when, one.source)


def _is_small_talk(text: str) -> bool:
    parts = said("small_talk")["parts"]
    return any(
        all(words in parts[name] for name, words in way.items())
        for template in said("small_talk")["templates"]
        for way in ways(template, text)
    )


@dataclass
class Memory:
    """Facts in the order heard, looked at on a day.

    Args:
        facts: of all turns that may be used.
        today: the day of the question.
        without: turns that are left out.
    """

    facts: Iterable[Fact]
    today: date
    without: Collection[str] = ()
    _by_key: dict[tuple[str, str], list[Fact]] = field(default_factory=dict)
    _by_predicate: dict[str, dict[str, None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for fact in self.facts:
            if fact.turn not in self.without:
                self._by_key.setdefault((fact.predicate, fact.entity), []).append(fact)
                self._by_predicate.setdefault(fact.predicate, {})[fact.entity] = None

    def about(self, predicate: str, entity: str) -> list[Fact]:
        """All that was said of an attribute, true or not."""
        return self._by_key.get((predicate, entity), [])

    def entities(self, predicate: str) -> Iterator[str]:
        """The names of all of which anything was said under this head."""
        yield from self._by_predicate.get(predicate, ())

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """All heads and names of which anything was said."""
        return tuple(self._by_key)

    def course(self, predicate: str, entity: str) -> list[Held]:
        """The values that an attribute has had, corrections and withdrawals applied."""
        course: list[Held] = []
        for fact in self.about(predicate, entity):
            match fact.told:
                case "stated" | "updated":
                    course.append(Held(fact.value, fact.heard, fact))
                case "updated_later":
                    assert fact.day is not None
                    course.append(Held(fact.value, fact.day, fact))
                case "corrected":
                    since = course.pop().since if course else date.min
                    course.append(Held(fact.value, since, fact))
                case "retracted":
                    if len(course) > 1 and course[-2].value == fact.value:
                        course.pop()
                    else:
                        course.append(Held(fact.value, fact.heard, fact))
        return course

    def held(self, predicate: str, entity: str, on: date | None = None) -> Held | None:
        """What an attribute is today or was on a day."""
        course = [h for h in self.course(predicate, entity) if h.since <= (on or self.today)]
        return course[-1] if course else None

    def claims(self, predicate: str, entity: str) -> dict[str, Told]:
        """Who claims what."""
        about = self.about(predicate, entity)
        return {fact.source: fact.value for fact in about if fact.told == "claimed"}
