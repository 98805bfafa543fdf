"""What the world is made of: entities, events, turns. Everything else is derived from the log."""

from dataclasses import dataclass, field
from typing import Literal

#: How a value is written in the log: numbers as decimals ("41500", "3.25"), dates as ISO days,
#: references as entity ids, all else as it is said.
ValueKind = Literal["name", "number", "date", "choice", "code", "reference", "text"]

#: What an event does to the truth.
#:
#: - ``stated``: the first value of an attribute.
#: - ``updated``: another value from `valid_from` on, which may lie after the day it is told.
#: - ``corrected``: the value before was wrong from the start; this one holds in its place.
#: - ``retracted``: the change before is taken back; the value before it holds again.
#: - ``claimed``: one of several sources that contradict each other; there is no truth but who
#:   claims what.
#: - ``recalled``: an older event told again, as of its own time. Changes nothing.
#: - ``supposed``: a plan or a thought experiment that never came to be. Changes nothing.
#: - ``rumoured``: what nobody can confirm. Changes nothing.
EventKind = Literal[
    "stated", "updated", "corrected", "retracted", "claimed", "recalled", "supposed", "rumoured"
]
#: The kinds that make the truth.
TRUTH: frozenset[EventKind] = frozenset({"stated", "updated", "corrected", "retracted"})
#: The kinds whose value is no fact.
NO_FACT: frozenset[EventKind] = frozenset({"supposed", "rumoured"})

#: How far who says it can be trusted.
Reliability = Literal["firsthand", "reported", "hearsay"]

Block = Literal[
    "people",
    "projects",
    "technical",
    "evolving_story",
    "numerical",
    "contradictory",
    "callbacks",
    "distractors",
    "security_logs",
    "incidents",
    "infrastructure",
    "problem_solving",
]


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing of the world.

    Args:
        entity_id: ``kind/slug``, unique, such as ``person/mara-ellison``.
        kind: one of `schema.KINDS`.
        name: as it is said; unique in its kind.
        sibling: the entity of the same kind whose name is nearly this one's; empty: none.
        holdout: whether only questions of the holdout set may ask about it.
        unit: of a metric's values; empty elsewhere.
    """

    entity_id: str
    kind: str
    name: str
    sibling: str = ""
    holdout: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class WorldEvent:
    """A line of the event log. Never changed, never removed.

    Args:
        event_id: its place in the log, from 0.
        turn: the turn that tells it, from 0.
        entity: an entity's id.
        attribute: one of its kind's.
        kind: what it does to the truth.
        value: see `ValueKind`.
        unit: of a number; else empty.
        valid_from: the ISO day from which the value holds.
        source: who says so: the turn's speaker, or whom the speaker names.
        reliability: of the source.
        supersedes: the event whose value this one takes the place of.
        refers_to: the event that is told again, or that a supposition or rumour is about.
    """

    event_id: int
    turn: int
    entity: str
    attribute: str
    kind: EventKind
    value: str
    unit: str = ""
    valid_from: str = ""
    source: str = ""
    reliability: Reliability = "firsthand"
    supersedes: int | None = None
    refers_to: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """A turn before it is put into words.

    Args:
        index: its place, from 0.
        block: what it is about.
        speaker: who talks.
        told_at: UTC, ISO 8601 with seconds.
        events: what it tells; empty: small talk.
        draw: a number below 2**32 that decides the wording, the same for the same seed.
    """

    index: int
    block: Block
    speaker: str
    told_at: str
    events: tuple[WorldEvent, ...]
    draw: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn as it is told; `turn_id` is `turn_id(index)`."""

    turn_id: str
    index: int
    block: Block
    speaker: str
    told_at: str
    text: str
    events: tuple[int, ...] = field(default=())


def turn_id(index: int) -> str:
    """The id of a turn, such as ``t000042``."""
    return f"t{index:06d}"
