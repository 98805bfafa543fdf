"""What models cost, summed by phase, purpose and model."""

import pytest

from memrig.model.transcript import ModelUsageRecord
from memrig.report.costs import CostTable
from support.answer_reports import JUDGE, READER, call, verdict


def usage(phase: str = "ingest", cost_usd: float | None = 0.5, **changes: object):
    fields: dict[str, object] = {
        "phase": phase,
        "model": "gpt-4o-mini",
        "calls": 10,
        "attempts": 12,
        "input_tokens": 1000,
        "output_tokens": 100,
        "cost_usd": cost_usd,
    }
    return ModelUsageRecord.model_validate(fields | changes)


def numbers(table: CostTable) -> list[tuple[int, int, int, int]]:
    return [(r.calls, r.attempts, r.input_tokens, r.output_tokens) for r in table.rows()]


def test_calls_of_a_model_add_up():
    """Calls, attempts, tokens and money; a call that a provider failed counts as tried again."""
    table = CostTable()
    table.take_call(call())
    table.take_call(call(0.03, attempts=4))
    (row,) = table.rows()
    assert (row.phase, row.purpose, row.model) == ("answer", "reader", READER)
    assert numbers(table) == [(2, 5, 6000, 40)]
    assert row.usd == pytest.approx(0.05)


@pytest.mark.parametrize("costs", [(0.02, None), (None, 0.02), (None, None)])
def test_a_call_without_a_price_makes_the_sum_unknown(costs):
    """Half a sum would pass for a whole one; in whatever order they come."""
    table = CostTable()
    for cost in costs:
        table.take_call(call(cost))
    assert table.rows()[0].usd is None
    assert table.rows()[0].calls == 2


def test_an_unknown_price_leaves_the_other_models_sums_alone():
    """Each model has a row of its own."""
    table = CostTable()
    table.take_call(call(None))
    table.take_call(call(0.25, model="other"))
    assert {row.model: row.usd for row in table.rows()} == {READER: None, "other": 0.25}


def test_a_free_call_is_no_unknown_price():
    """A built-in model costs nothing, and says so."""
    table = CostTable()
    table.take_call(call(0.0))
    assert table.rows()[0].usd == 0.0


def test_every_time_that_a_vote_was_asked_for_is_a_call():
    """One that could not be parsed was asked for three times, and failed once beside that."""
    table = CostTable()
    table.take_verdict(verdict(1.0, 0.0, None))
    (row,) = table.rows()
    assert (row.phase, row.purpose, row.model) == ("judge", "judge", JUDGE)
    assert numbers(table) == [(5, 6, 300, 15)]
    assert row.usd == pytest.approx(0.03)


def test_the_memory_systems_own_calls_stand_in_their_phase():
    """By phase and model, and apart from the rig's."""
    table = CostTable()
    table.take_usage(usage("search", 0.1))
    table.take_usage(usage())
    table.take_usage(usage(cost_usd=0.25))
    assert [(row.phase, row.purpose, row.usd) for row in table.rows()] == [
        ("ingest", "memory", 0.75),
        ("search", "memory", 0.1),
    ]
    assert numbers(table)[0] == (20, 24, 2000, 200)


def test_rows_come_in_the_order_of_the_phases():
    """Ingest, search, answer, judge, whatever was seen first."""
    table = CostTable()
    table.take_verdict(verdict(1.0))
    table.take_call(call())
    table.take_call(call(purpose="agent"))
    table.take_usage(usage("search"))
    table.take_usage(usage("ingest"))
    assert [(row.phase, row.purpose) for row in table.rows()] == [
        ("ingest", "memory"),
        ("search", "memory"),
        ("answer", "agent"),
        ("answer", "reader"),
        ("judge", "judge"),
    ]


def test_the_names_that_providers_gave_are_kept_by_phase():
    """An alias is not what answered."""
    table = CostTable()
    table.take_call(call(served_model="gpt-4o-eu"))
    table.take_verdict(verdict(1.0))
    assert table.served == {"answer": {"gpt-4o-eu"}, "judge": {"judge-1"}}
