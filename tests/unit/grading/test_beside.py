"""What stands beside an answer's score: found, and cited."""

import pytest

from memrig.grading.beside import beside, beside_metrics, citation_scores, evidence_rank
from memrig.grading.beside import retrieval_beside as found
from memrig.model.transcript import AnswerRecord, Memory
from support.judges import asked


def memory(handle: str, *episodes: str | None) -> Memory:
    return Memory(handle=handle, ref_id="r", episodes=episodes)


def citing(*cited: str, unknown: int = 0) -> AnswerRecord:
    memories = (memory("m1", "e1"), memory("m2", "e2", "e3"), memory("m3", None))
    return AnswerRecord(text="a", cited=cited, unknown_citations=unknown, memories=memories)


def test_a_readers_search_is_scored_at_every_depth_that_it_had():
    """What was not asked for was not measured."""
    one = asked(hits=("e9", "e1"), evidence=("e1",), limit=5)
    assert found(one, (1, 2, 5, 10)) == {
        "recall_any@1": 0.0,
        "recall_any@2": 1.0,
        "recall_any@5": 1,
    }
    assert evidence_rank(one) == 2


@pytest.mark.parametrize("mode", ["retrieval", "agent", "native"])
def test_only_a_readers_search_is_what_the_answer_came_from(mode):
    """An agent's last search is not."""
    one = asked(hits=("e1",), evidence=("e1",), mode=mode)
    assert found(one) == {}
    assert evidence_rank(one) is None


def test_a_question_that_a_fault_ended_found_nothing():
    """Or crashing would pay."""
    assert found(asked(None, evidence=("e1",)), (1,)) == {"recall_any@1": 0.0}


@pytest.mark.parametrize("fields", [{"evidence": ()}, {"evidence": ("e1",), "scorable": False}])
def test_without_evidence_in_the_data_nothing_is_scored(fields):
    """Not measurable is not 0."""
    assert beside(asked(hits=("e1",), **fields)) == {}
    assert beside(asked(citing("m1"), mode="agent", **fields)) == {}


@pytest.mark.parametrize(
    ("answer", "recall", "precision"),
    [
        (citing("m1"), 0.5, 1.0),
        (citing("m1", "m2"), 1.0, 1.0),
        (citing("m1", "m3"), 0.5, 0.5),
        (citing("m3"), 0.0, 0.0),
        (citing("m1", unknown=1), 0.5, 0.5),
        (citing("m1", "m1"), 0.5, 0.5),
        (citing("m9"), 0.0, 0.0),
        (citing(), 0.0, None),
        (None, 0.0, None),
    ],
)
def test_citations_are_held_against_the_evidence(answer, recall, precision):
    """e1 and e2 are the evidence; m1 is of e1, m2 of e2 and e3, m3 of nothing known."""
    expected = {"citation_recall": recall}
    if precision is not None:
        expected["citation_precision"] = precision
    assert citation_scores(asked(answer, evidence=("e1", "e2"), mode="agent")) == expected


@pytest.mark.parametrize("prompt", ["direct", "step-by-step"])
def test_a_reader_that_is_not_asked_for_citations_is_not_measured_by_them(prompt):
    """It could not give any."""
    assert citation_scores(asked(citing("m1"), evidence=("e1",), prompt=prompt)) == {}


def test_a_cited_reader_is_measured_as_an_agent_is():
    """It was asked for its citations."""
    one = asked(citing("m2"), evidence=("e1", "e2"), prompt="cited")
    assert citation_scores(one) == {"citation_recall": 0.5, "citation_precision": 1.0}


def test_a_search_alone_cites_nothing():
    """Whatever a reader would have been told."""
    assert citation_scores(asked(None, evidence=("e1",), mode="retrieval", prompt="cited")) == {}


def test_the_metrics_are_declared_in_table_order():
    """Depths first."""
    assert [metric.name for metric in beside_metrics((1, 50))] == [
        "recall_any@1",
        "recall_any@50",
        "citation_recall",
        "citation_precision",
    ]
