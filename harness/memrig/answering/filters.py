"""Declared filter fields as JSON Schema, and what a model gave for them as conditions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal

from memrig.model.transcript import FilterFieldRecord, FilterUse

Operator = Literal["equal", "greater_or_equal", "less"]

#: What a model calls the operators.
_BOUNDS: Mapping[str, Operator] = {"is": "equal", "from": "greater_or_equal", "before": "less"}
_WORDS = {
    "is": "Exactly this.",
    "from": "At least this, itself included.",
    "before": "Less than this, itself excluded.",
}
#: Providers refuse a schema with other names.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_MOMENT = "A date or a time in UTC, such as 2024-03-05 or 2024-03-05T17:00:00Z."


class FilterError(ValueError):
    """A value is not of its field's type; the message is for the model."""


def offered(fields: Sequence[FilterFieldRecord]) -> list[FilterFieldRecord]:
    """The fields that a model can be offered: those whose names a provider takes."""
    return [field for field in fields if _NAME.fullmatch(field.name)]


def filters_schema(fields: Sequence[FilterFieldRecord], description: str) -> dict[str, object]:
    """The JSON Schema of an object with a member for each field.

    Texts and choices are given as they are; numbers and times as an object of bounds.
    """
    return {
        "type": "object",
        "description": description,
        "additionalProperties": False,
        "properties": {field.name: _field_schema(field) for field in fields},
    }


def _field_schema(field: FilterFieldRecord) -> dict[str, object]:
    described: dict[str, object] = {"description": field.description} if field.description else {}
    if field.type == "string":
        return {"type": "string", **described}
    if field.type == "enum":
        return {"type": "string", "enum": list(field.values), **described}
    value: dict[str, object] = {"type": "number"}
    if field.type == "timestamp":
        value = {"type": "string", "format": "date-time"}
    hint = f" {_MOMENT}" if field.type == "timestamp" else ""
    return {
        "type": "object",
        "additionalProperties": False,
        "minProperties": 1,
        "properties": {bound: {**value, "description": _WORDS[bound] + hint} for bound in _BOUNDS},
        **described,
    }


def filter_uses(
    given: Mapping[str, object], fields: Sequence[FilterFieldRecord]
) -> tuple[FilterUse, ...]:
    """The conditions of a search.

    Args:
        given: valid by `filters_schema`.
        fields: the declared ones.

    Raises:
        FilterError: a time cannot be read.
    """
    types = {field.name: field.type for field in fields}
    return tuple(use for name, value in given.items() for use in _uses(name, types[name], value))


def _uses(name: str, kind: str, value: object) -> Iterator[FilterUse]:
    if not isinstance(value, Mapping):
        yield FilterUse(field=name, operator="equal", value=str(value))
        return
    for bound, number in value.items():
        text = _moment(name, str(number)) if kind == "timestamp" else _decimal(number)
        yield FilterUse(field=name, operator=_BOUNDS[bound], value=text)


def _decimal(number: object) -> str:
    """A number without an exponent, as the contract writes it (protocol §9.3)."""
    return format(Decimal(str(number)), "f")


def _moment(name: str, text: str) -> str:
    """A time as the contract writes it: RFC 3339 in UTC, ending in Z (protocol §9.3)."""
    try:
        moment = datetime.fromisoformat(text.strip())
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return aware.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
    except (ValueError, OverflowError) as error:
        raise FilterError(f"filters.{name}: {text!r} is no time. {_MOMENT}") from error
