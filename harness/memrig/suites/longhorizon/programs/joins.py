"""What several statements hold together: cross references and chains of hops."""

from memrig.suites.longhorizon.model import TRUTH, Entity, WorldEvent
from memrig.suites.longhorizon.programs.base import (
    WORDS,
    Draft,
    Form,
    Scene,
    attribute_of,
    capital,
    condition,
    kind_of,
    named,
    predicate_of,
    predicates,
    value_now,
)
from memrig.suites.longhorizon.query import (
    Having,
    Identity,
    Referred,
    Sharing,
    Subject,
    Value,
)

#: What another entity may be known by; a value of these is shared by a few.
_TRAITS = {
    "person": ("hometown", "hobby", "dish", "degree", "team", "role", "allergy", "pet"),
    "component": ("language", "storage", "licence"),
    "host": ("region", "owner", "cores"),
    "incident": ("service", "cause", "severity"),
    "project": ("client", "stage", "headcount"),
}


def _trait(scene: Scene, event: WorldEvent) -> WorldEvent | None:
    """Another trait of the same entity that holds now and was told in another turn."""
    kind = kind_of(event)
    held = [
        found
        for name in _TRAITS[kind]
        if name != event.attribute and (found := scene.now.standing(event.entity, name))
        if found[0].turn != event.turn and found[0].kind != "retracted"
    ]
    return held[int(scene.chance.random() * len(held))][0] if held else None


def _this(scene: Scene, event: WorldEvent, owner: str) -> str:
    noun = scene.lexicon.noun(predicate_of(event), owner)
    return f"{noun} is {scene.shown(event)}"


def two_traits(scene: Scene, event: WorldEvent) -> Draft | None:
    """The only entity with both of two traits, told in different turns."""
    other = _trait(scene, event) if scene.stands(event) else None
    if other is None:
        return None
    kind = kind_of(event)
    word = WORDS[kind][0]
    both = [_this(scene, e, f"this {word}") for e in (other, event)]
    texts = (
        f"Which {word} is it: {both[0]}, and {both[1]}?",
        f"Name the one {word} for which both hold: {both[0]}, and {both[1]}.",
        f"Of which {word} are both true: {both[0]}, and {both[1]}?",
    )
    conditions = (condition(other), condition(event))
    return Draft(Identity(of=Having(kind=kind, conditions=conditions)), texts, "join")


def trait_to_value(scene: Scene, event: WorldEvent) -> Draft | None:
    """A value of the only entity that has a trait told in another turn."""
    other = _trait(scene, event) if scene.stands(event) else None
    if other is None:
        return None
    kind = kind_of(event)
    word = WORDS[kind][0]
    trait = scene.lexicon.noun(predicate_of(other), f"this {word}")
    owner = f"the {word} for which {trait} is {scene.shown(other)}"
    noun = scene.lexicon.noun(predicate_of(event), owner)
    texts = (
        f"What is {noun}?",
        (
            f"One {word} is meant: {trait} is {scene.shown(other)}. "
            f"What is {scene.lexicon.noun(predicate_of(event), 'it')}?"
        ),
        f"Please look up {noun}.",
    )
    subject = Having(kind=kind, conditions=(condition(other),))
    return Draft(Value(of=subject, attribute=event.attribute), texts, "join")


def _pointing(scene: Scene, entity: str, kinds: tuple[str, ...]) -> list[WorldEvent]:
    """The references that lead to an entity now."""
    found = []
    for predicate in kinds:
        kind, _, name = predicate.partition(".")
        for event in scene.log.holding(kind, name, entity):
            if event.turn >= scene.now.told:
                break
            if event.kind in TRUTH and scene.stands(event):
                found.append(event)
    return found


_REFERENCES = tuple(
    name
    for name in predicates(
        "person", "project", "component", "rollout", "metric", "incident", values=("reference",)
    )
)
#: What a person is asked for at the end of a chain.
_ENDS = predicates("person", but=("person.mentor",))


def _back(scene: Scene, entity: str, seen: tuple[str, ...]) -> WorldEvent | None:
    """One of the references to an entity from one that was not passed yet."""
    found = [
        event
        for event in _pointing(scene, entity, _REFERENCES)
        if event.entity not in seen and event.kind != "retracted" and scene.owns(event.entity)
    ]
    return found[int(scene.chance.random() * len(found))] if found else None


def hops(scene: Scene, event: WorldEvent, length: int) -> Draft | None:
    """A value at the end of a chain of references."""
    if not scene.stands(event):
        return None
    path: list[WorldEvent] = []
    entity = event.entity
    seen: tuple[str, ...] = (entity,)
    for _ in range(length):
        step = _back(scene, entity, seen)
        if step is None:
            return None
        path.append(step)
        entity, seen = step.entity, (*seen, step.entity)
    owner: Entity = scene.entity(entity)
    name = owner.name
    subject: Subject = named(path[-1])
    for step in reversed(path):
        name = scene.lexicon.noun(predicate_of(step), name)
        subject = Referred(of=subject, attribute=step.attribute)
    texts = tuple(text.format(entity=name) for text in scene.lexicon.asks(predicate_of(event)))
    return Draft(Value(of=subject, attribute=event.attribute), texts, "join")


def two_hops(scene: Scene, event: WorldEvent) -> Draft | None:
    """One reference, then a value."""
    return hops(scene, event, 1)


def three_hops(scene: Scene, event: WorldEvent) -> Draft | None:
    """Two references, then a value."""
    return hops(scene, event, 2)


def shared(scene: Scene, event: WorldEvent) -> Draft | None:
    """Another entity's reference to the person that this one points to: who both have."""
    if not scene.stands(event) or event.kind == "retracted":
        return None
    others = [
        other
        for other in _pointing(scene, event.value, _REFERENCES)
        if kind_of(other) != kind_of(event)
        and other.turn != event.turn
        and scene.owns(other.entity)
    ]
    if not others:
        return None
    other = others[int(scene.chance.random() * len(others))]
    kind = kind_of(other)
    word, first = WORDS[kind][0], scene.noun(event)
    which, this = (
        scene.lexicon.noun(predicate_of(other), f"{owner} {word}") for owner in ("which", "this")
    )
    texts = (
        f"{capital(which)} is the same person as {first}?",
        f"Which {word} is it: {this} is also {first}?",
        f"Name the {word} for which this holds: {this} is {first}.",
    )
    same = Sharing(kind=kind, attribute=other.attribute, same_as=value_now(event))
    return Draft(Identity(of=same), texts, "join")


_TRAITED = tuple(f"{kind}.{name}" for kind, names in _TRAITS.items() for name in names)
_VALUES = tuple(
    name
    for name in predicates("person", "component", "host", "incident", "project")
    if attribute_of(name).value != "text"
)
_CROSS, _HOPS = "cross_reference", "multi_hop_reasoning"
FORMS: tuple[Form, ...] = (
    Form(_CROSS, "two-traits", _TRAITED, two_traits, anchored=False),
    Form(_CROSS, "trait-to-value", _VALUES, trait_to_value, anchored=False),
    Form(
        _CROSS, "client-lead", ("project.lead", "project.sponsor"), trait_to_value, anchored=False
    ),
    Form(_HOPS, "two-hops", _ENDS, two_hops, anchored=False),
    Form(_HOPS, "three-hops", _ENDS, three_hops, anchored=False),
    Form(_HOPS, "shared", _REFERENCES, shared, anchored=False),
)
