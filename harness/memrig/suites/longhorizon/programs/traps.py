"""Near misses: values of a sibling, suppositions, rumours, and questions without an answer."""

from memrig.suites.longhorizon.model import NO_FACT, WorldEvent
from memrig.suites.longhorizon.programs.base import (
    Draft,
    Form,
    Scene,
    asked,
    attribute_of,
    named,
    predicates,
    value_now,
)
from memrig.suites.longhorizon.programs.times import CHANGING, when_it_became
from memrig.suites.longhorizon.query import Named, Since, Value

_KINDS = ("person", "project", "component", "rollout", "metric", "host", "incident")
_ANY = predicates(*_KINDS)
_SURE = ("stated", "updated", "corrected")


def _near_miss(scene: Scene, event: WorldEvent) -> bool:
    """Whether the sibling has another value of the same now."""
    sibling = scene.entity(event.entity).sibling
    held = scene.now.standing(sibling, event.attribute) if sibling else None
    own = scene.now.standing(event.entity, event.attribute)
    return held is not None and own is not None and held[1] != own[1]


def _plainly(scene: Scene, event: WorldEvent) -> Draft:
    chain = scene.now.chain(event.entity, event.attribute)
    return Draft(value_now(event), asked(scene, event), "latest" if len(chain) > 1 else "lookup",
                 temporal=len(chain) > 1)  # fmt: skip


def no_fact(scene: Scene, event: WorldEvent) -> Draft | None:
    """The value of what a supposition or a rumour was about, with a sibling beside it."""
    held = scene.now.standing(event.entity, event.attribute)
    if held is None or held[1] == event.value or not scene.entity(event.entity).sibling:
        return None
    return _plainly(scene, held[0])


def near_miss(scene: Scene, event: WorldEvent) -> Draft | None:
    """A value that the sibling has another one of."""
    return _plainly(scene, event) if scene.stands(event) and _near_miss(scene, event) else None


def beset(scene: Scene, event: WorldEvent) -> Draft | None:
    """A value that the sibling has another one of, and which is the subject of a supposition."""
    told = scene.now.told_of(event.entity, event.attribute)
    beside = any(e.kind in NO_FACT for e in told)
    return near_miss(scene, event) if beside else None


def absent(scene: Scene, event: WorldEvent) -> Draft | None:
    """What was told of the sibling, and never of this one."""
    sibling = scene.entity(event.entity).sibling
    if not sibling or not scene.now.told_of(sibling):
        return None
    if scene.now.told_of(sibling, event.attribute):
        return None
    texts = tuple(
        text.format(entity=scene.entity(sibling).name)
        for text in scene.lexicon.asks(f"{sibling.split('/', 1)[0]}.{event.attribute}")
    )
    program = Value(of=Named(entity=sibling), attribute=event.attribute)
    reason = f"{event.attribute} of {scene.entity(sibling).name} was never told"
    return Draft(program, texts, "abstain", reason=reason)


def premise(scene: Scene, event: WorldEvent) -> Draft | None:
    """Since when something holds that never did: it is the sibling's."""
    sibling = scene.entity(event.entity).sibling
    if not sibling or not scene.stands(event) or event.kind == "retracted":
        return None
    own = scene.now.chain(sibling, event.attribute)
    told = scene.now.told_of(sibling, event.attribute)
    if not own or any(e.value == event.value for e in told):
        return None
    value, noun = scene.shown(event), scene.noun(own[0])
    program = Since(of=named(own[0]), attribute=event.attribute, value=event.value)
    reason = f"{noun} was never {value}; that is of {scene.entity(event.entity).name}"
    return Draft(program, when_it_became(noun, value), "abstain", reason=reason)


def hearsay(scene: Scene, event: WorldEvent) -> Draft | None:
    """What only a rumour or a supposition is known of."""
    told = scene.now.told_of(event.entity, event.attribute)
    if any(e.kind not in NO_FACT for e in told):
        return None
    reason = f"of {scene.noun(event)} there is only a rumour or a supposition"
    return Draft(value_now(event), asked(scene, event), "abstain", reason=reason)


_DISTRACTED, _ADVERSARIAL = "distractor_resistance", "adversarial_distractor"
_STEADY = tuple(name for name in _ANY if not attribute_of(name).changes)
FORMS: tuple[Form, ...] = (
    Form(_DISTRACTED, "supposed", _ANY, no_fact, kinds=("supposed",), anchored=False),
    Form(_DISTRACTED, "rumoured", _ANY, no_fact, kinds=("rumoured",), anchored=False),
    Form(_DISTRACTED, "beset", _ANY, beset, kinds=_SURE),
    Form(_ADVERSARIAL, "near-miss", _ANY, near_miss, kinds=_SURE),
    Form(_ADVERSARIAL, "absent", _ANY, absent, kinds=_SURE, tags=("abstention",)),
    Form(_ADVERSARIAL, "near-miss-steady", _STEADY, near_miss, kinds=("stated",)),
    Form(_ADVERSARIAL, "premise", CHANGING, premise, kinds=_SURE, tags=("abstention",)),
    Form(_ADVERSARIAL, "near-miss-changed", predicates(*_KINDS, changes=True), near_miss,
         kinds=("updated",)),
    Form(_ADVERSARIAL, "hearsay", _ANY, hearsay, kinds=("supposed", "rumoured"), anchored=False,
         tags=("abstention",)),
)  # fmt: skip
