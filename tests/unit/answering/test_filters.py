"""Declared fields as JSON Schema, and as conditions on the wire."""

import pytest

from memrig.answering.filters import FilterError, filter_uses, offered
from memrig.answering.toolspecs import problem_with, tool_specs
from memrig.model.transcript import FilterFieldRecord, FilterUse
from support.fake_answers import declared

FIELDS = (
    FilterFieldRecord(name="place", type="string", description="Where."),
    FilterFieldRecord(name="kind", type="enum", values=("note", "chat")),
    FilterFieldRecord(name="stars", type="number"),
    FilterFieldRecord(name="timestamp", type="timestamp"),
)
SEARCH = tool_specs(declared(filter_fields=FIELDS))[0]


def filters_of(**given: object) -> dict[str, object]:
    return {"query": "q", "filters": given}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"place": "Ulm"},
        {"kind": "note", "stars": {"from": 1, "before": 2.5}},
        {"timestamp": {"is": "2024-03-05"}},
    ],
)
def test_what_a_field_can_hold_is_valid(given):
    """Each by its declared type."""
    assert problem_with(filters_of(**given), SEARCH) == ""


@pytest.mark.parametrize(
    "given",
    [
        {"colour": "red"},
        {"place": 3},
        {"kind": "poem"},
        {"stars": 3},
        {"stars": {"is": "three"}},
        {"stars": {}},
        {"timestamp": {"after": "2024-03-05"}},
    ],
)
def test_what_it_cannot_hold_is_named(given):
    """An undeclared field, another type, no enum value, an unknown bound."""
    assert "filters" in problem_with(filters_of(**given), SEARCH)


@pytest.mark.parametrize(
    ("given", "operator", "value"),
    [
        ({"place": "Ulm"}, "equal", "Ulm"),
        ({"kind": "note"}, "equal", "note"),
        ({"stars": {"is": 3}}, "equal", "3"),
        ({"stars": {"from": 1e21}}, "greater_or_equal", "1000000000000000000000"),
        ({"stars": {"before": 0.00000015}}, "less", "0.00000015"),
        ({"timestamp": {"from": "2024-03-05"}}, "greater_or_equal", "2024-03-05T00:00:00Z"),
        ({"timestamp": {"before": "2024-03-05 17:00"}}, "less", "2024-03-05T17:00:00Z"),
        ({"timestamp": {"is": "2024-03-05T17:00:00Z"}}, "equal", "2024-03-05T17:00:00Z"),
        ({"timestamp": {"is": "2024-03-05T17:00:00+02:00"}}, "equal", "2024-03-05T15:00:00Z"),
    ],
)
def test_values_are_written_as_the_contract_says(given, operator, value):
    """Protocol §9.3: decimals without an exponent, times in UTC with a Z."""
    field = next(iter(given))
    expected = (FilterUse(field=field, operator=operator, value=value),)
    assert filter_uses(given, FIELDS) == expected


@pytest.mark.parametrize("text", ["last week", "2024-13-01", "0001-01-01T00:00:00+10:00"])
def test_a_time_that_cannot_be_read_is_the_model_s_to_mend(text):
    """It is told what a time looks like."""
    with pytest.raises(FilterError, match="2024-03-05T17:00:00Z"):
        filter_uses({"timestamp": {"is": text}}, FIELDS)


def test_a_field_whose_name_no_provider_takes_is_not_offered():
    """A schema that is refused would end every question."""
    odd = FilterFieldRecord(name="who said?", type="string")
    assert offered((odd, *FIELDS)) == list(FIELDS)


def test_enum_values_and_descriptions_reach_the_schema():
    """A model can only use what it is told."""
    fields = SEARCH.schema["properties"]["filters"]["properties"]
    assert fields["kind"] == {"type": "string", "enum": ["note", "chat"]}
    assert fields["place"] == {"type": "string", "description": "Where."}
    bound = fields["timestamp"]["properties"]["from"]
    assert bound["format"] == "date-time"
    assert "included" in bound["description"]


def test_without_fields_there_are_no_filters():
    """Nor modes where none is declared."""
    properties = tool_specs(declared(search_modes=()))[0].schema["properties"]
    assert sorted(properties) == ["limit", "query"]
