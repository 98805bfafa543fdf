"""What a question's record says of the time it took."""

from memrig.model.transcript import AnswerRecord, QuestionRecord, SearchRecord
from memrig.model.trial import Outcome

FOUND = SearchRecord(query="q", limit=5, ns=300, payload_bytes=0, hits=())


def settled(*searches: SearchRecord) -> QuestionRecord:
    return QuestionRecord(
        scenario_id="s",
        question_id="q",
        outcome=Outcome(status="answered"),
        ns=1000,
        memory_ns=300,
        searches=searches,
        answer=AnswerRecord(text="tea"),
    )


def test_a_reader_answers_in_what_searching_leaves():
    """The memory system's time is not the answer's."""
    record = settled(FOUND)
    assert not record.native
    assert record.answer_ns == 700


def test_a_memory_system_that_answers_by_itself_takes_its_own_time():
    """What the rig took around it, such as waiting for its turn, is not the system's."""
    record = settled()
    assert record.native
    assert record.answer_ns == 300
