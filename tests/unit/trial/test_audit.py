"""The canary of the isolation audit."""

from memrig.trial.audit import make_canary
from support.scenarios import small_spec


def test_the_question_for_the_canary_does_not_give_it_away(tmp_path):
    """Who repeats a question in an answer has not remembered anything; a search may be told."""
    canary = make_canary(small_spec(tmp_path), "Ann")
    assert canary.token in canary.text
    assert canary.token in canary.query
    assert canary.token.lower() not in canary.question.lower()
