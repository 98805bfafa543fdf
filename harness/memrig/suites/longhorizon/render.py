"""Turns in words: each event a sentence of its own, which names its entity in full.

The wording is drawn from the turn's own number, so that the same turn reads the same everywhere.
Whoever sees one sentence alone, with its day, can tell what it says of what.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from memrig.suites.longhorizon.lexicon import Lexicon, Templates, amount
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.model import PlannedTurn, Turn, ValueKind, WorldEvent, turn_id
from memrig.suites.longhorizon.schema import KINDS

_WORD = 2**32 - 1


@dataclass(frozen=True, slots=True)
class _Predicate:
    """What is needed to say a predicate."""

    value: ValueKind
    stated: Templates
    nouns: Templates


class Renderer:
    """Puts the turns of a log into words."""

    def __init__(self, log: EventLog, lexicon: Lexicon) -> None:
        self._log = log
        self._lexicon = lexicon
        self._said = {
            (kind.name, attribute.name): _Predicate(
                attribute.value,
                lexicon.stated(f"{kind.name}.{attribute.name}"),
                lexicon.nouns(f"{kind.name}.{attribute.name}"),
            )
            for kind in KINDS.values()
            for attribute in kind.attributes
        }
        self._at_once = {
            name: {attribute.name for attribute in kind.attributes}
            for name, kind in KINDS.items()
            if kind.at_once
        }

    def text(self, turn: PlannedTurn) -> str:
        """What is said in a turn: a sentence an event, a log line, or small talk."""
        if not turn.events:
            return self._lexicon.small_talk(turn.draw)
        if self._is_line(turn.events):
            return self._line(turn)
        return " ".join(
            self._sentence(event, turn.told_at[:10], mixed(turn.draw, place))
            for place, event in enumerate(turn.events)
        )

    def _is_line(self, events: tuple[WorldEvent, ...]) -> bool:
        first = events[0]
        wanted = self._at_once.get(_kind(first))
        return (
            wanted is not None
            and len(events) == len(wanted)
            and wanted == {event.attribute for event in events}
            and all(event.kind == "stated" and event.entity == first.entity for event in events)
        )

    def _line(self, turn: PlannedTurn) -> str:
        templates = self._lexicon.lines()
        text = templates[mixed(turn.draw, 0) % len(templates)]
        for event in turn.events:
            text = text.replace(f"{{{event.attribute}}}", self._value(event))
        return text.replace("{entity}", self._log.entity(turn.events[0].entity).name)

    def _sentence(self, event: WorldEvent, day: str, draw: int) -> str:
        name = self._log.entity(event.entity).name
        said = self._said[_kind(event), event.attribute]
        if event.kind == "stated":
            template = said.stated[draw % len(said.stated)]
            return template.replace("{entity}", name).replace("{value}", self._value(event))
        first = event if event.refers_to is None else self._first(event)
        way = _way(event, first, day)
        choices = self._lexicon.told if event.supersedes is not None else self._lexicon.told_alone
        templates = choices(way)
        template = templates[draw % len(templates)]
        noun = said.nouns[(draw >> 16) % len(said.nouns)].replace("{entity}", name)
        places = {"noun": noun, "value": self._value(event), "source": first.source}
        if "{old}" in template and event.supersedes is not None:
            places["old"] = self._value(self._log.event(event.supersedes))
        if "{day}" in template:
            places["day"] = self._lexicon.day(first.valid_from)
        return filled(template, places)

    def _first(self, event: WorldEvent) -> WorldEvent:
        """The event whose day and source are told: of what is told again, the one before."""
        if event.kind != "recalled" or event.refers_to is None:
            return event
        return self._log.event(event.refers_to)

    def _value(self, event: WorldEvent) -> str:
        match self._said[_kind(event), event.attribute].value:
            case "number":
                return amount(event.value, event.unit)
            case "date":
                return self._lexicon.day(event.value)
            case "reference":
                return self._log.entity(event.value).name
            case _:
                return event.value


def told(log: EventLog, lexicon: Lexicon) -> Iterator[Turn]:
    """All turns of a log as they are told, in order, as a stream."""
    renderer = Renderer(log, lexicon)
    for turn in log.planned():
        yield Turn(
            turn_id(turn.index),
            turn.index,
            turn.block,
            turn.speaker,
            turn.told_at,
            renderer.text(turn),
            tuple(event.event_id for event in turn.events),
        )


def filled(template: str, places: dict[str, str]) -> str:
    """A template with its places filled; a place with a capital begins a sentence."""
    for name, text in places.items():
        template = template.replace(f"{{{name}}}", text)
        if (capital := f"{{{name.capitalize()}}}") in template:
            template = template.replace(capital, text[:1].upper() + text[1:])
    return template


def mixed(draw: int, place: int) -> int:
    """32 bits for one sentence of a turn: the finaliser of MurmurHash3 (A. Appleby, 2008)."""
    word = (draw + 0x9E3779B9 * place) & _WORD
    word = ((word ^ word >> 16) * 0x85EBCA6B) & _WORD
    word = ((word ^ word >> 13) * 0xC2B2AE35) & _WORD
    return word ^ word >> 16


def _way(event: WorldEvent, first: WorldEvent, day: str) -> str:
    """How an event is told on a day: a field of `EventPhrases`."""
    if event.kind == "recalled" and first.kind == "claimed":
        return "recalled_claim"
    if event.kind == "updated" and event.valid_from > day:
        return "updated_later"
    return event.kind


def _kind(event: WorldEvent) -> str:
    return event.entity.partition("/")[0]
