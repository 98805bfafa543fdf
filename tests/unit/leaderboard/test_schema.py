"""The published JSON Schema of `board.json`."""

from memrig.leaderboard.schema import board_schema
from support.source import ROOT


def test_the_published_schema_is_the_codes() -> None:
    """`make schema` writes it."""
    published = ROOT / "docs" / "schema" / "board.schema.json"
    assert board_schema() == published.read_text("utf-8")
