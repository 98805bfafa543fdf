"""From what the interpreter found to typed gold, with the dimensions it is graded in."""

from decimal import Decimal

from memrig.model.dimensions import WEIGHTS
from memrig.model.gold import (
    AbstentionGold,
    Aspect,
    DateGold,
    Dimension,
    EntityGold,
    Entry,
    GoldAnswer,
    Item,
    MappingGold,
    NumberGold,
    OrderedListGold,
    SetGold,
    TextGold,
)
from memrig.suites.longhorizon.interpreter import Answer
from memrig.suites.longhorizon.programs.base import Draft, Scene
from memrig.suites.longhorizon.query import (
    Changes,
    Claim,
    Claimant,
    Claims,
    Computed,
    Count,
    Explained,
    History,
    Identity,
    Since,
    Value,
    Which,
)
from memrig.suites.longhorizon.schema import KINDS, Attribute

#: A percentage is asked for with one decimal: how far rounding may be off.
_ROUNDED = 0.05


def gold_of(scene: Scene, draft: Draft, found: Answer) -> GoldAnswer:
    """The typed gold of a question."""
    if draft.reason:
        return AbstentionGold(type="abstention", reason=draft.reason)
    program = draft.program
    if isinstance(program, Changes | Count | Computed | Since):
        return _figure(scene, program, found)
    if isinstance(program, Claims | Explained | History | Which):
        return _several(scene, program, found)
    return _single(scene, program, found)


def _single(
    scene: Scene, program: Value | Claim | Claimant | Identity, found: Answer
) -> GoldAnswer:
    match program:
        case Value() | Claim():
            hop = found.hops[-1]
            return _value(scene, hop.entity, hop.attribute, found)
        case Identity():
            return _entity(scene, found.values[0])
        case Claimant():
            siblings = tuple(found.wrong)
            return EntityGold(type="entity", value=found.values[0], siblings=siblings)


def _figure(
    scene: Scene, program: Changes | Count | Computed | Since, found: Answer
) -> NumberGold | DateGold:
    match program:
        case Computed():
            return _computed(scene, program, found)
        case Since():
            return DateGold(type="date", value=found.values[0], siblings=tuple(found.wrong))
        case Changes() | Count():
            return NumberGold(type="number", value=float(found.values[0]))


def _several(
    scene: Scene, program: Claims | Explained | History | Which, found: Answer
) -> GoldAnswer:
    match program:
        case Claims():
            return _claims(scene, found)
        case Explained():
            facts = found.values
            return TextGold(type="text", value="; ".join(facts), key_facts=facts)
        case History() | Which():
            items, siblings = _items(scene, program, found)
            return SetGold(type="set", items=items, siblings=siblings)


def aspects_of(scene: Scene, draft: Draft, found: Answer, answer: GoldAnswer) -> tuple[Aspect, ...]:
    """The dimensions that a question is graded in beside being right."""
    aspects = []
    if isinstance(answer, NumberGold | DateGold):
        aspects.append(_aspect("specificity", answer))
    if draft.order and isinstance(draft.program, History):
        items, siblings = _items(scene, draft.program, found)
        ordered = OrderedListGold(type="ordered_list", items=items, siblings=siblings)
        aspects.append(_aspect("temporal_awareness", ordered))
    elif draft.temporal:
        aspects.append(_aspect("temporal_awareness", answer))
    if isinstance(draft.program, Claimant | Claim | Claims):
        aspects.append(_aspect("source_attribution", answer))
    return () if draft.reason else tuple(aspects)


def _aspect(dimension: Dimension, answer: GoldAnswer) -> Aspect:
    return Aspect(dimension=dimension, weight=WEIGHTS[dimension], answer=answer)


def schema_of(scene: Scene, entity: str, attribute: str) -> Attribute:
    """The schema of an entity's attribute."""
    return KINDS[scene.entity(entity).kind].attribute(attribute)


def unit_of(scene: Scene, entity: str, attribute: str) -> str:
    """The unit of an entity's numbers."""
    unit = schema_of(scene, entity, attribute).unit
    return scene.entity(entity).unit if unit == "*" else unit


def _value(scene: Scene, entity: str, attribute: str, found: Answer) -> GoldAnswer:
    value = found.values[0]
    match schema_of(scene, entity, attribute).value:
        case "number":
            return NumberGold(
                type="number",
                value=float(value),
                unit=unit_of(scene, entity, attribute),
                siblings=tuple(float(wrong) for wrong in found.wrong),
            )
        case "date":
            return DateGold(type="date", value=value, siblings=tuple(found.wrong))
        case "text":
            return TextGold(type="text", value=value, key_facts=(value,))
        case _:
            said = scene.shown_of(entity, attribute, value)
            wrong = _said(scene, entity, attribute, found.wrong, but={said})
            return EntityGold(type="entity", value=said, siblings=wrong)


def _said(
    scene: Scene, entity: str, attribute: str, values: list[str], but: set[str]
) -> tuple[str, ...]:
    said = [scene.shown_of(entity, attribute, value) for value in values]
    return tuple(dict.fromkeys(value for value in said if value not in but))


def _entity(scene: Scene, entity: str) -> EntityGold:
    found = scene.entity(entity)
    siblings = (scene.entity(found.sibling).name,) if found.sibling else ()
    return EntityGold(type="entity", value=found.name, siblings=siblings)


def _claims(scene: Scene, found: Answer) -> MappingGold:
    hop = found.hops[0]
    entries = tuple(
        Entry(key=source, value=scene.shown_of(hop.entity, hop.attribute, value))
        for source, value in found.pairs
    )
    return MappingGold(type="mapping", entries=entries)


def _computed(scene: Scene, program: Computed, found: Answer) -> NumberGold:
    hop = found.hops[0]
    unit = {"days": "days", "percent": "%"}.get(program.operator)
    if unit is None:
        unit = unit_of(scene, hop.entity, hop.attribute)
    return NumberGold(
        type="number",
        value=float(Decimal(found.values[0])),
        unit=unit,
        tolerance=_ROUNDED if program.operator == "percent" else 0,
        siblings=tuple(float(wrong) for wrong in found.wrong),
    )


def _items(
    scene: Scene, program: History | Which, found: Answer
) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    if isinstance(program, Which) and not program.show:
        names = [scene.entity(value) for value in found.values]
        siblings = (entity.sibling for entity in names if entity.sibling)
        others = dict.fromkeys(s for s in siblings if s not in found.values)
        return (
            tuple(Item(value=entity.name) for entity in names),
            tuple(scene.entity(other).name for other in others),
        )
    hop = found.hops[-1]
    attribute = program.show if isinstance(program, Which) else hop.attribute
    items = [_item(scene, hop.entity, attribute, value) for value in found.values]
    but = {item.value for item in items}
    return tuple(items), _said(scene, hop.entity, attribute, found.wrong, but)


def _item(scene: Scene, entity: str, attribute: str, value: str) -> Item:
    """A value as it is said; numbers and dates also as they are written."""
    said = scene.shown_of(entity, attribute, value)
    kind = schema_of(scene, entity, attribute).value
    written = {"number": f"{value} {unit_of(scene, entity, attribute)}".strip(), "date": value}
    other = written.get(kind, said)
    return Item(value=said, aliases=() if other == said else (other,))
