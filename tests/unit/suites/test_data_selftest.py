"""`memrig data selftest`: a table, what is out of bounds, and an exit code."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from memrig import api
from memrig.cli import data as commands
from memrig.errors import GateError, UsageError
from memrig.grading.selftest import Item, as_markdown, selftest
from memrig.model.gold import NumberGold

RENT = Item("q", "facts", "What rent does she pay?", NumberGold(type="number", value=925))


def test_a_small_world_is_put_to_the_graders():
    """By the options of a run; the table is printed."""
    small = ["--seed", "7", "--turns", "200", "--questions", "15"]
    done = CliRunner().invoke(commands.data_app, ["selftest", "--suite", "longhorizon", *small])
    assert done.exit_code == 0, done.output
    assert "| temporal_trap | 1 | 1.000 |" in done.output
    assert "0 out of bounds" in done.output


def test_each_seed_makes_its_own_questions():
    """As in a run of several seeds."""
    table = api.selftest("longhorizon", seeds=(7, 8), turns=200, questions=15)
    assert sum(row.questions for row in table.by_category) == 30


def test_what_the_suite_does_not_offer_is_refused():
    """Flag and value are named."""
    with pytest.raises(UsageError, match="takes no --turns"):
        api.selftest("practical", turns=200)


def test_a_mean_out_of_bounds_fails_and_names_the_answers(monkeypatch: pytest.MonkeyPatch):
    """Exit code 5, after the table."""
    table = selftest([RENT], lambda answer, gold, question: float("rent" in answer))
    monkeypatch.setattr(api, "selftest", lambda *_: table)
    done = CliRunner().invoke(commands.data_app, ["selftest"])
    assert isinstance(done.exception, GateError)
    assert done.exception.exit_code == 5
    assert "facts: echo scores 1.000" in str(done.exception)
    assert as_markdown(table) in done.output
    assert "q number echo 1.00: 'What rent does she pay?'" in done.output


def test_a_file_of_ones_own_is_taken(tmp_path: Path):
    """And refused where it cannot be used."""
    file = tmp_path / "none.json"
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(UsageError, match=r"none\.json"):
        api.selftest("practical", file)


def test_seeds_are_given_as_to_a_run(monkeypatch: pytest.MonkeyPatch):
    """One list, one flag: `--seeds 42,123`."""
    asked = []
    table = selftest([RENT], lambda answer, gold, question: 0.0)
    monkeypatch.setattr(api, "selftest", lambda *given: asked.append(given) or table)
    CliRunner().invoke(commands.data_app, ["selftest", "--seeds", "42,123"])
    assert asked[0][2] == (42, 123)
    done = CliRunner().invoke(commands.data_app, ["selftest", "--seeds", "42,forty"])
    assert isinstance(done.exception, UsageError)
    assert "forty" in str(done.exception)
