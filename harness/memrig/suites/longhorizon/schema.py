"""What there is in the world: kinds of entities, their attributes, and which block tells them.

A predicate is a kind's attribute, written ``kind.attribute``. Its phrasings are in the lexicon.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from memrig.suites.longhorizon.model import Block, ValueKind

#: The block types with their share of the turns, in percent.
SHARES: Mapping[Block, int] = {
    "people": 12,
    "projects": 10,
    "technical": 9,
    "evolving_story": 10,
    "numerical": 9,
    "contradictory": 6,
    "callbacks": 5,
    "distractors": 8,
    "security_logs": 10,
    "incidents": 8,
    "infrastructure": 8,
    "problem_solving": 5,
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """What can be said of a kind of entity.

    Args:
        name: unique in its kind.
        value: how values are written.
        pool: the lexicon's pool that values come from; empty for numbers, dates and references.
        of: the kind that a reference points to.
        unit: of a number; ``*``: the entity's own.
        span: the least and the largest number, in steps of the third.
        changes: whether it is updated over time.
    """

    name: str
    value: ValueKind
    pool: str = ""
    of: str = ""
    unit: str = ""
    span: tuple[int, int, int] = (0, 0, 1)
    changes: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entity: the block that tells it, and its attributes.

    Args:
        name: on the left of its entities' ids.
        block: which turns tell it.
        attributes: what can be said of it.
        at_once: whether all attributes are told in one turn, as a log line does.
    """

    name: str
    block: Block
    attributes: tuple[Attribute, ...]
    at_once: bool = False

    def attribute(self, name: str) -> Attribute:
        """One of its attributes.

        Raises:
            KeyError: it has none of this name.
        """
        for found in self.attributes:
            if found.name == name:
                return found
        raise KeyError(f"{self.name}.{name}")


def _name(name: str, pool: str, *, changes: bool = False) -> Attribute:
    return Attribute(name, "name", pool, changes=changes)


def _choice(name: str, pool: str, *, changes: bool = False) -> Attribute:
    return Attribute(name, "choice", pool, changes=changes)


def _code(name: str, pool: str, *, changes: bool = False) -> Attribute:
    return Attribute(name, "code", pool, changes=changes)


def _who(name: str, *, changes: bool = False, of: str = "person") -> Attribute:
    return Attribute(name, "reference", of=of, changes=changes)


def _day(name: str, *, changes: bool = False) -> Attribute:
    return Attribute(name, "date", changes=changes)


def _number(
    name: str, unit: str, span: tuple[int, int, int], *, changes: bool = False
) -> Attribute:
    return Attribute(name, "number", unit=unit, span=span, changes=changes)


def _text(name: str) -> Attribute:
    return Attribute(name, "text", name)


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "person",
            "people",
            (
                _day("birthday"),
                _name("hometown", "places"),
                _name("role", "roles", changes=True),
                _choice("team", "teams", changes=True),
                _name("hobby", "hobbies"),
                _name("pet", "pets"),
                _name("allergy", "allergies"),
                _name("dish", "dishes"),
                _name("degree", "degrees"),
                _code("desk", "desks", changes=True),
                _who("mentor"),
            ),
        ),
        Kind(
            "project",
            "projects",
            (
                _who("lead", changes=True),
                _day("deadline", changes=True),
                _number("budget", "EUR", (20_000, 980_000, 500), changes=True),
                _number("headcount", "people", (3, 60, 1), changes=True),
                _who("sponsor"),
                _name("client", "clients"),
                _choice("stage", "stages", changes=True),
            ),
        ),
        Kind(
            "component",
            "technical",
            (
                _code("version", "versions", changes=True),
                _name("language", "languages"),
                _number("port", "", (1_100, 49_000, 1)),
                _name("licence", "licences"),
                _who("maintainer", changes=True),
                _number("timeout", "ms", (50, 9_950, 50), changes=True),
                _name("storage", "stores"),
            ),
        ),
        Kind(
            "rollout",
            "evolving_story",
            (
                _number("share", "%", (1, 99, 1), changes=True),
                _number("sites", "sites", (2, 90, 1), changes=True),
                _name("blocker", "blockers", changes=True),
                _choice("decision", "decisions", changes=True),
                _who("owner", changes=True),
                _day("launch", changes=True),
            ),
        ),
        Kind(
            "metric",
            "numerical",
            (
                _number("value", "*", (11, 9_900, 1), changes=True),
                _number("target", "*", (11, 9_900, 1), changes=True),
                _number("baseline", "*", (11, 9_900, 1)),
                _who("steward"),
            ),
        ),
        Kind(
            "topic",
            "contradictory",
            (_name("cause", "causes"), _number("estimate", "days", (2, 120, 1))),
        ),
        Kind(
            "log",
            "security_logs",
            (
                _name("action", "actions"),
                _code("account", "accounts"),
                _code("address", "addresses"),
                _code("machine", "machines"),
                _choice("severity", "severities"),
            ),
            at_once=True,
        ),
        Kind(
            "incident",
            "incidents",
            (
                _choice("severity", "severities", changes=True),
                _choice("status", "statuses", changes=True),
                _name("service", "services"),
                _name("cause", "causes"),
                _who("assignee", changes=True),
                _day("opened"),
            ),
        ),
        Kind(
            "host",
            "infrastructure",
            (
                _code("address", "addresses"),
                _name("region", "regions"),
                _number("memory", "GB", (4, 1_024, 4), changes=True),
                _number("cores", "cores", (2, 128, 2)),
                _code("release", "releases", changes=True),
                _choice("owner", "teams", changes=True),
                _code("rack", "racks"),
            ),
        ),
        Kind(
            "case",
            "problem_solving",
            (
                _text("symptom"),
                _text("constraint"),
                _text("approach"),
                _text("reason"),
                _text("rejected"),
                _text("outcome"),
            ),
        ),
    )
}

#: Units that a metric can have, with the plural noun or sign that its values are written with.
METRIC_UNITS: tuple[str, ...] = ("EUR", "%", "ms", "tickets", "kWh", "hours")

PREDICATES: tuple[str, ...] = tuple(
    f"{kind.name}.{attribute.name}" for kind in KINDS.values() for attribute in kind.attributes
)
