"""What one statement holds: needles, exact figures, incidents, hosts."""

from memrig.suites.longhorizon.model import WorldEvent
from memrig.suites.longhorizon.programs.base import (
    WORDS,
    Draft,
    Form,
    Maker,
    Scene,
    asked,
    attribute_of,
    capital,
    condition,
    kind_of,
    named,
    predicate_of,
    predicates,
    value_now,
)
from memrig.suites.longhorizon.query import Having, History, Identity, Value

_FIGURES = ("number",)


def once(scene: Scene, event: WorldEvent) -> Draft | None:
    """The value of what was told once and never changed."""
    if len(scene.now.chain(event.entity, event.attribute)) != 1 or not scene.stands(event):
        return None
    return Draft(value_now(event), asked(scene, event), "lookup")


def latest(scene: Scene, event: WorldEvent) -> Draft | None:
    """The value now of what changed before."""
    chain = scene.now.chain(event.entity, event.attribute)
    if len(chain) < 2 or not scene.stands(event):
        return None
    return Draft(value_now(event), asked(scene, event), "latest", temporal=True)


def whatever(scene: Scene, event: WorldEvent) -> Draft | None:
    """The value now, whether it changed or not."""
    return once(scene, event) or latest(scene, event)


def reverse(scene: Scene, event: WorldEvent) -> Draft | None:
    """The only entity that has a value."""
    if not scene.stands(event):
        return None
    predicate, kind = predicate_of(event), kind_of(event)
    word, value = WORDS[kind][0], scene.shown(event)
    which, this = (scene.lexicon.noun(predicate, f"{d} {word}") for d in ("which", "this"))
    texts = (
        f"{capital(which)} is {value}?",
        f"Which {word} is it: {this} is {value}?",
        f"Name the {word} that fits: {this} is {value}.",
    )
    program = Identity(of=Having(kind=kind, conditions=(condition(event),)))
    return Draft(program, texts, "lookup", temporal=attribute_of(predicate).changes)


def former(scene: Scene, event: WorldEvent) -> Draft | None:
    """The value before the last change."""
    if not scene.changed(event):
        return None
    noun = scene.noun(event)
    texts = (
        f"What was {noun} before it last changed?",
        f"Which value did {noun} have right before the latest one?",
        f"{capital(noun)} has changed: what was it just before the last change?",
    )
    program = Value(of=named(event), attribute=event.attribute, which="before")
    return Draft(program, texts, "join", temporal=True)


def course(scene: Scene, event: WorldEvent) -> Draft | None:
    """All values in their order."""
    chain = scene.changed(event)
    values = [e.value for e in chain]
    if not chain:
        return None
    if len(set(values)) != len(values):
        return None
    noun = scene.noun(event)
    texts = (
        f"List all values that {noun} has had, from the first to the latest.",
        f"Which values has {noun} gone through, in order of time?",
        f"Give the whole history of {noun}, the oldest value first.",
    )
    program = History(of=named(event), attribute=event.attribute)
    return Draft(program, texts, "list", order=True, temporal=True)


def _told_once(category: str, *names: str) -> Form:
    return Form(category, "lookup", names, once)


def _form(category: str, name: str, make: Maker, names: tuple[str, ...]) -> Form:
    return Form(category, name, names, make)


_INCIDENTS = predicates("incident")
_MOVING = predicates("incident", changes=True)
_HOSTS = predicates("host")
FORMS: tuple[Form, ...] = (
    _told_once(
        "needle_in_haystack",
        *predicates("person", "project", "component", changes=False, but=("component.port",)),
    ),
    Form(
        "needle_in_haystack",
        "unchanged",
        predicates("person", "project", "component", changes=True, values=("name", "choice")),
        once,
        kinds=("stated",),
    ),
    Form(
        "needle_in_haystack",
        "log",
        ("log.action", "log.account", "log.address", "log.machine"),
        once,
        kinds=("stated",),
    ),
    _form(
        "numerical_precision",
        "unchanged",
        once,
        predicates("project", "component", "rollout", "metric", values=_FIGURES),
    ),
    _form(
        "numerical_precision",
        "latest",
        latest,
        predicates("project", "component", "rollout", "metric", values=_FIGURES, changes=True),
    ),
    _form("numerical_precision", "capacity", whatever, predicates("host", values=_FIGURES)),
    _form("incident_tracking", "now", whatever, _INCIDENTS),
    _form("incident_tracking", "status", latest, ("incident.status",)),
    _form("incident_tracking", "former", former, _MOVING),
    _form("incident_tracking", "course", course, ("incident.status", "incident.severity")),
    _form("infrastructure_knowledge", "unchanged", once, _HOSTS),
    _form("infrastructure_knowledge", "latest", latest, predicates("host", changes=True)),
    _form("infrastructure_knowledge", "reverse", reverse, ("host.address", "host.rack")),
    _form("infrastructure_knowledge", "port", reverse, ("component.port",)),
)
