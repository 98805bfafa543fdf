"""What a run's trials hold together, record by record."""

import pytest

from memrig.model.transcript import QuestionRecord
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
