"""Whether what was worked out again is what the gold says, typed and exact."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction

from support.longhorizon_again import Listed, Result, Share
from support.longhorizon_asked import Query
from support.longhorizon_words import Amount, Told, told

#: How far a percentage with one decimal may be from the exact one.
_ROUNDED = Fraction(5, 100)


def agrees(result: Result, gold: Mapping, query: Query) -> bool:
    """Whether a result is the gold answer: its type, value, unit, members, order or pairs."""
    match gold["type"]:
        case "abstention":
            return result is None
        case "number":
            return _number(result, gold)
        case "date":
            return isinstance(result, date) and result == date.fromisoformat(gold["value"])
        case "entity":
            return isinstance(result, str) and result == gold["value"]
        case "text":
            return _text(result, gold)
        case "mapping":
            return result == {e["key"]: _read(e["value"], query) for e in gold["entries"]}
        case "set":
            items = _items(gold, query)
            return isinstance(result, Listed) and _same(set(result.values), set(items), items)
        case "ordered_list":
            return isinstance(result, Listed) and result.values == _items(gold, query)
    raise AssertionError(f"no gold of this type is expected: {gold['type']}")


def _same(mine: set[Told], theirs: set[Told], items: tuple[Told, ...]) -> bool:
    return mine == theirs and len(theirs) == len(items)


def _number(result: Result, gold: Mapping) -> bool:
    value = Decimal(repr(gold["value"]))
    if isinstance(result, Share):
        near = abs(Fraction(value) - result.exact) <= _ROUNDED
        return near and gold["unit"] == "%" and Fraction(repr(gold["tolerance"])) == _ROUNDED
    exact = isinstance(result, Amount) and gold["tolerance"] == 0
    return exact and result == Amount(value, gold["unit"])


def _text(result: Result, gold: Mapping) -> bool:
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
