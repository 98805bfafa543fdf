"""Whether what was worked out again is what the gold says, typed and exact."""

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction

from support.longhorizon_again import Listed, Result, Share
from support.longhorizon_asked import Query
from support.longhorizon_words import Amount, Told, told

#: How far a percentage with one decimal may be from the exact one.
_ROUNDED = Fraction(5, 100)


def agrees(result: Result, gold: Mapping, query: Query) -> bool:
    """Whether a result is the gold answer: its type, value, unit, members, order or pairs.

    Raises:
        KeyError: no question of the suite should have gold of this type.
    """
    return _AGREE[gold["type"]](result, gold, query)


def _entity(result: Result, gold: Mapping, query: Query) -> bool:
    return isinstance(result, str) and result == gold["value"]


def _date(result: Result, gold: Mapping, query: Query) -> bool:
    return isinstance(result, date) and result == date.fromisoformat(gold["value"])


def _mapping(result: Result, gold: Mapping, query: Query) -> bool:
    return result == {e["key"]: _read(e["value"], query) for e in gold["entries"]}


def _set(result: Result, gold: Mapping, query: Query) -> bool:
    items = _items(gold, query)
    once = len(set(items)) == len(items)
    return once and isinstance(result, Listed) and set(result.values) == set(items)


def _ordered(result: Result, gold: Mapping, query: Query) -> bool:
    return isinstance(result, Listed) and result.ordered and result.values == _items(gold, query)


def _nothing(result: Result, gold: Mapping, query: Query) -> bool:
    return result is None


def _number(result: Result, gold: Mapping, query: Query) -> bool:
    value = Decimal(repr(gold["value"]))
    if isinstance(result, Share):
        near = abs(Fraction(value) - result.exact) <= _ROUNDED
        return near and gold["unit"] == "%" and Fraction(repr(gold["tolerance"])) == _ROUNDED
    exact = isinstance(result, Amount) and gold["tolerance"] == 0
    return exact and result == Amount(value, gold["unit"])


def _text(result: Result, gold: Mapping, query: Query) -> bool:
    facts = result.values if isinstance(result, Listed) else (result,)
    return facts == tuple(gold["key_facts"])


def _read(text: str, query: Query) -> Told:
    """A value as the gold writes it; a name where the question lists names."""
    if query.wanted == "all":
        return text
    predicate = f"{query.kind}.{query.show}" if query.show else query.its[0].predicate
    value = told(predicate, text)
    assert value is not None, f"no value of {predicate}: {text}"
    return value


def _items(gold: Mapping, query: Query) -> tuple[Told, ...]:
    return tuple(_read(item["value"], query) for item in gold["items"])


def wrong_ones(gold: Mapping, query: Query) -> list[Result]:
    """The values that the gold holds for wrong, as results."""
    siblings = gold.get("siblings", ())
    match gold["type"]:
        case "number":
            return [Amount(Decimal(repr(value)), gold["unit"]) for value in siblings]
        case "date":
            return [date.fromisoformat(value) for value in siblings]
        case "set" | "ordered_list":
            return [_read(value, query) for value in siblings]
        case _:
            return list(siblings)


_AGREE: Mapping[str, Callable[[Result, Mapping, Query], bool]] = {
    "number": _number,
    "date": _date,
    "entity": _entity,
    "text": _text,
    "set": _set,
    "ordered_list": _ordered,
    "mapping": _mapping,
    "abstention": _nothing,
}
