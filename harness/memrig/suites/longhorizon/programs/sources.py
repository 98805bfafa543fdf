"""Who claims what, where sources contradict each other."""

from memrig.suites.longhorizon.model import WorldEvent
from memrig.suites.longhorizon.programs.base import Draft, Form, Scene, predicates
from memrig.suites.longhorizon.query import Claim, Claimant, Claims

_TOPICS = predicates("topic")


def _claims(scene: Scene, event: WorldEvent) -> list[WorldEvent]:
    """All claims about the same; empty: two of them say the same, or one source says two."""
    told = scene.now.told_of(event.entity, event.attribute)
    claims = [e for e in told if e.kind == "claimed"]
    values, sources = {e.value for e in claims}, {e.source for e in claims}
    return claims if len(values) == len(sources) == len(claims) else []


def claimant(scene: Scene, event: WorldEvent) -> Draft | None:
    """Who claims a value."""
    if len(_claims(scene, event)) < 2:
        return None
    noun, value = scene.noun(event), scene.shown(event)
    texts = (
        f"Who said that {noun} is {value}?",
        f"According to whom is {noun} {value}?",
        f"Which source gave {value} as {noun}?",
    )
    program = Claimant(entity=event.entity, attribute=event.attribute, value=event.value)
    return Draft(program, texts, "attribute")


def claim(scene: Scene, event: WorldEvent) -> Draft | None:
    """What a source claims."""
    if len(_claims(scene, event)) < 2:
        return None
    noun = scene.noun(event)
    texts = (
        f"What is {noun} according to {event.source}?",
        f"What did {event.source} say {noun} is?",
        f"Which value did {event.source} give for {noun}?",
    )
    program = Claim(entity=event.entity, attribute=event.attribute, source=event.source)
    return Draft(program, texts, "attribute")


def claims(scene: Scene, event: WorldEvent) -> Draft | None:
    """Who claims what, all of it."""
    found = _claims(scene, event)
    if len(found) < 2 or found[-1].event_id != event.event_id:
        return None
    noun = scene.noun(event)
    texts = (
        f"Sources disagree on {noun}. What does each of them say?",
        f"List every source that gave a view on {noun}, with what it said.",
        f"Who claims what about {noun}?",
    )
    return Draft(Claims(entity=event.entity, attribute=event.attribute), texts, "list")


_CATEGORY = "source_attribution"
FORMS: tuple[Form, ...] = (
    Form(_CATEGORY, "claimant", _TOPICS, claimant, kinds=("claimed",)),
    Form(_CATEGORY, "claim", _TOPICS, claim, kinds=("claimed",)),
    Form(_CATEGORY, "claims", _TOPICS, claims, kinds=("claimed",)),
)
