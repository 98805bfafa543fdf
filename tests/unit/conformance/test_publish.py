"""What is published of the checks is what they are."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from memrig.conformance import CHECKS
from memrig.conformance.publish import (
    PAGE,
    SCHEMA,
    conformance_schema,
    main,
    with_table,
)
from support.right_adapter import Memory

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_lists_the_checks_as_they_are():
    """`python -m memrig.conformance.publish docs` was run after the last change."""
    page = (DOCS / PAGE).read_text("utf-8")
    assert with_table(page) == page


def test_the_schema_is_the_one_committed():
    """Likewise for docs/schema."""
    assert (DOCS / SCHEMA).read_text("utf-8") == conformance_schema()


def test_publishing_changes_nothing_twice(tmp_path, monkeypatch):
    """The command writes the table between its marks and leaves the rest of the page alone."""
    (tmp_path / "schema").mkdir()
    (tmp_path / PAGE).write_text((DOCS / PAGE).read_text("utf-8").replace("`search.scores`", "old"))
    monkeypatch.setattr("sys.argv", ["publish", str(tmp_path)])
    main()
    assert (tmp_path / PAGE).read_text("utf-8") == (DOCS / PAGE).read_text("utf-8")


def test_a_page_without_marks_is_refused():
    """A table that has no place is not appended somewhere."""
    with pytest.raises(ValueError, match="lacks"):
        with_table("# Conformance\n")


async def test_a_report_fits_its_schema(checked):
    """The published schema describes what --json prints."""
    report = await checked(Memory, "health", "as-of")
    jsonschema.validate(json.loads(report.model_dump_json()), json.loads(conformance_schema()))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_cites_rules_that_exist(check):
    """Every § is one of docs/protocol.md: a rule of its own, or a whole section."""
    protocol = (DOCS / "protocol.md").read_text("utf-8")
    cited = re.findall(r"§([0-9.]+)", check.spec)
    assert cited
    for number in cited:
        mark = f"**§{number}**" if "." in number else f"\n## {number}. "
        assert mark in protocol, f"§{number}"


def test_ids_are_unique_and_of_one_shape():
    """`group.what-must-be`, so that --only can name either."""
    ids = [check.id for check in CHECKS]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z-]+\.[a-z-]+", name) for name in ids)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_says_what_it_asks_and_why(check):
    """A vendor reads title and reason, and nothing else."""
    assert check.title.endswith(".")
    assert check.reason.endswith(".")
    assert "|" not in check.title + check.reason + check.condition.otherwise  # a table's own mark
