"""The published JSON Schemas of a world's files, and the tables of their fields."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from memrig.generate import generate_longhorizon
from memrig.suites.longhorizon.records import RECORDS, file_of, schema_of
from memrig.suites.longhorizon.spec import WorldSpec

DOCS = Path(__file__).parents[4] / "docs"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A world that was written, with questions of every form."""
    folder = tmp_path_factory.mktemp("world")
    generate_longhorizon(WorldSpec(seed=11, turns=600, questions=300), folder)
    return folder


def lines(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize("name", RECORDS)
def test_the_published_schema_is_the_models(name):
    """`make schema` writes it; a field that is added without it is seen here."""
    assert (DOCS / "schema" / file_of(name)).read_text("utf-8") == schema_of(name)


@pytest.mark.parametrize("name", RECORDS)
def test_every_line_is_valid_by_its_published_schema(out, name):
    """By a validator that knows nothing of the models; a line with a field more is not."""
    schema = json.loads((DOCS / "schema" / file_of(name)).read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    found = lines(out / f"{name}.jsonl")
    assert found
    assert [error.message for line in found for error in validator.iter_errors(line)] == []
    assert not validator.is_valid(found[0] | {"more": 1})
    for field in found[0]:
        assert not validator.is_valid({k: v for k, v in found[0].items() if k != field})


@pytest.mark.parametrize("name", RECORDS)
def test_every_line_has_the_fields_of_its_model_in_order(out, name):
    """All of them, also where they are empty."""
    fields = list(RECORDS[name].model_fields)
    assert all(list(line) == fields for line in lines(out / f"{name}.jsonl"))


@pytest.mark.parametrize("name", RECORDS)
def test_the_page_explains_exactly_the_fields(name):
    """The table in docs/formats.md names each once, and no other."""
    page = (DOCS / "formats.md").read_text("utf-8")
    part = page.split(f"\n`{name}.jsonl`", 1)[1]
    rows = re.search(r"\|---\|---\|\n((?:\|.*\n)+)", part)
    assert rows is not None
    named = [
        field for row in rows[1].splitlines() for field in re.findall(r"`(\w+)`", row.split("|")[1])
    ]
    assert sorted(named) == sorted(RECORDS[name].model_fields)
