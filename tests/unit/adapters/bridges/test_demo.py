"""The bridges' own agent."""

import pytest

from memrig_adapters.bridges.demo import Keywords


@pytest.fixture
def memory() -> Keywords:
    made = Keywords()
    made.learn("[2031-05-02 14:10] Ann: I like tea. The weather is mild.\nBen: I like beer.")
    return made


def test_it_answers_with_the_sentence_that_shares_the_rarest_words(memory: Keywords) -> None:
    """With how it came to it."""
    found = memory.answer("Who likes to drink beer?")
    assert found["answer"] == "Ben: I like beer."
    assert found["tool_calls"] == [
        {
            "tool": "keyword_search",
            "args": {"query": "Who likes to drink beer?"},
            "result": "1 sentences",
        }
    ]


def test_of_two_that_fit_alike_the_newer_one_counts(memory: Keywords) -> None:
    """What was said last is more often so."""
    memory.learn("Cid: I like beer.")
    assert memory.answer("Beer?")["answer"] == "Cid: I like beer."


def test_confidence_is_the_share_of_the_question_that_was_found(memory: Keywords) -> None:
    """All of it is 1, some of it less."""
    assert memory.answer("I like beer")["confidence"] == 1.0
    some = memory.answer("beer garden")["confidence"]
    assert isinstance(some, float)
    assert 0 < some < 1


def test_it_says_when_it_knows_nothing(memory: Keywords) -> None:
    """In words, and by a flag."""
    found = memory.answer("Zanzibar?")
    assert (found["answer"], found["confidence"], found["abstained"]) == ("I do not know.", 0, True)
