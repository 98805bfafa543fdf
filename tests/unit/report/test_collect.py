"""What a run's trials hold together, record by record."""

import pytest

from memrig.model.transcript import NaiveRecord, QuestionRecord
from memrig.model.trial import Outcome
from memrig.report.collect import Collected
from support.answer_reports import call
from support.scenarios import small_spec


def test_a_model_that_was_paid_is_counted_also_where_no_answer_came_of_it(tmp_path):
    """A question that ran out of time cost money all the same."""
    late = QuestionRecord(
        scenario_id="s",
        question_id="q",
        outcome=Outcome(status="budget_exceeded", kind="wall_time"),
        ns=5,
        model_calls=(call(0.5), call(0.25)),
    )
    found = Collected()
    found.take(small_spec(tmp_path), late)
    (row,) = found.costs.rows()
    assert row.calls == 2
    assert row.usd == pytest.approx(0.75)
    assert not found.ns["answer"]


def test_an_opponents_calls_have_a_row_of_their_own(tmp_path):
    """It was paid for, but it is not what answered."""
    naive = NaiveRecord(answer=None, failure="x", model_calls=(call(2.0, purpose="naive"),))
    record = QuestionRecord(
        scenario_id="s",
        question_id="q",
        outcome=Outcome(status="answered"),
        ns=5,
        model_calls=(call(0.5, served_model="reader-1"),),
        naive=naive,
    )
    found = Collected()
    found.take(small_spec(tmp_path), record)
    assert {row.purpose: row.usd for row in found.costs.rows()} == {"reader": 0.5, "naive": 2.0}
    assert found.costs.served["answer"] == {"reader-1"}
