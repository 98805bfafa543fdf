"""How a question went, in a word."""

import pytest

from memrig.viewer.marks import evidence_of, mark_of, standing_of
from support.comparisons import grade


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        ({"scores": {"accuracy": 1.0}, "rank": None}, "right", "right"),
        ({"scores": {"accuracy": 0.0}, "rank": 1}, "wrong", "wrong"),
        ({"scores": {"accuracy": 0.25}}, "partly", "0.25 of 1"),
        ({"scores": {"mrr": 1.0}, "rank": 1}, "right", "evidence at rank 1"),
        ({"scores": {"mrr": 0.2}, "rank": 5}, "partly", "evidence at rank 5"),
        ({"scores": {"mrr": 0.0}, "rank": None}, "wrong", "evidence not found"),
        ({"status": "ungraded", "scores": {}}, "ungraded", "not graded"),
        ({"outcome": "adapter_crashed", "scores": {"accuracy": 0.0}}, "fault", "adapter crashed"),
        ({"outcome": "harness_error", "status": "ungraded"}, "fault", "harness error"),
        ({"scores": {}, "missing": {"accuracy": "no key facts"}}, "ungraded", "not measured"),
        ({"outcome": "abstained", "scores": {"accuracy": 1.0}}, "right", "right"),
    ],
)
def test_a_mark_follows_from_the_grade(changes, kind, text):
    """By the answer where answers were graded, else by the evidence's rank."""
    mark = mark_of(grade("s01#q1", 1.0, **changes))
    assert (mark.kind, mark.text) == (kind, text)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"rank": 7}, "found"),
        ({"rank": None, "scores": {"recall_any@10": 0.0}}, "missed"),
        ({"rank": None, "scores": {"evidence_retrieved": 0.25}}, "found"),
        ({"rank": None, "scores": {"evidence_retrieved": 0.0}}, "missed"),
        ({"rank": None, "scores": {"score": 0.0}}, ""),
    ],
)
def test_evidence_is_found_missed_or_none_at_all(changes, found):
    """A question about what was never told has none."""
    assert evidence_of(grade("s01#q1", 1.0, **changes)) == found


@pytest.mark.parametrize(
    ("changes", "standing"),
    [
        ({"scores": {"accuracy": 0.25}, "rank": 1}, 0.25),
        ({"scores": {"mrr": 0.2}, "rank": 5}, 0.2),
        ({"scores": {"mrr": 0.0}, "rank": None}, 0.0),
        ({"outcome": "timeout", "scores": {"accuracy": 0.0}}, 0.0),
        ({"status": "ungraded", "scores": {}}, None),
    ],
)
def test_where_a_question_stands_tells_two_runs_apart(changes, standing):
    """What was not graded is neither better nor worse."""
    assert standing_of(grade("s01#q1", 1.0, **changes)) == standing
