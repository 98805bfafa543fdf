"""The published JSON Schema of reports."""

import json
from pathlib import Path

import pytest

from memrig.report.model import Report
from memrig.report.schema import report_schema
from support.answer_reports import answered_report
from support.places import placed_report
from support.probes import operated_report
from support.reports import incomplete_report, sample_report

PUBLISHED = Path(__file__).parents[3] / "docs" / "schema" / "report.schema.json"


def test_the_published_schema_is_the_codes() -> None:
    """`make schema` writes it; a field that is added without it is seen here."""
    assert report_schema() == PUBLISHED.read_text("utf-8")


@pytest.mark.parametrize(
    "make", [sample_report, incomplete_report, answered_report, placed_report, operated_report]
)
def test_every_field_that_a_report_writes_is_in_the_schema(make) -> None:
    """Also of the parts that only runs with answers have."""
    schema = json.loads(report_schema())

    def check(value: object, rule: dict[str, object]) -> None:
        rule = resolve(rule, value)
        if isinstance(value, dict) and "properties" in rule:
            assert set(value) <= set(rule["properties"])
            for name, item in value.items():
                check(item, rule["properties"][name])
        elif isinstance(value, list) and "items" in rule:
            for item in value:
                check(item, rule["items"])

    def resolve(rule: dict[str, object], value: object) -> dict[str, object]:
        if "anyOf" in rule:
            some = [r for r in rule["anyOf"] if r.get("type") != "null"]
            rule = some[0] if value is not None else rule
        if "$ref" in rule:
            return schema["$defs"][str(rule["$ref"]).rpartition("/")[2]]
        return rule

    report: Report = make()
    check(json.loads(report.model_dump_json()), schema)
