"""The gate of the built-in data: what everyone runs first has to be right."""

import json
from collections import Counter
from datetime import datetime

import pytest

from memrig.errors import DataError
from memrig.model.gold import DateGold, EntityGold, NumberGold, SetGold
from memrig.suites.base import SuiteOptions
from memrig.suites.conversations import Conversation, ConversationQuestion, lint_set
from memrig.suites.practical import PERSONAS, SUITE, built_in

SET = built_in()
CATEGORIES = {"facts", "temporal", "preference", "multi-hop", "correction"}


def questions() -> list[tuple[Conversation, ConversationQuestion]]:
    return [(c, q) for c in SET.scenarios for q in c.questions]


def texts(conversation: Conversation) -> dict[str, str]:
    return {m.id: m.text for s in conversation.sessions for m in s.messages}


def dates(conversation: Conversation) -> dict[str, datetime]:
    return {m.id: s.date for s in conversation.sessions for m in s.messages}


def names(found: list[tuple[Conversation, ConversationQuestion]]) -> list[str]:
    return [f"{c.id}#{q.id}" for c, q in found]


def test_there_is_enough_of_it():
    """At least 4 people, 60 sessions, 300 messages, 120 questions."""
    sessions = [s for c in SET.scenarios for s in c.sessions]
    assert len(SET.scenarios) >= 4
    assert len(sessions) >= 60
    assert sum(len(s.messages) for s in sessions) >= 300
    assert len(questions()) >= 120


def test_every_category_has_at_least_twenty_questions():
    """Five categories, none of them a token."""
    counts = Counter(q.category for _, q in questions())
    assert set(counts) == CATEGORIES
    assert min(counts.values()) >= 20


def test_the_numbers_in_the_suites_summary_are_true():
    """`memrig suites` shows them."""
    sessions = sum(len(c.sessions) for c in SET.scenarios)
    expected = f"{len(SET.scenarios)} people, {sessions} sessions, {len(questions())} questions"
    assert expected in SUITE.summary


def test_the_linter_has_nothing_to_say():
    """Not even a warning: every keyword is in its evidence, all evidence exists."""
    assert lint_set(json.loads(SET.model_dump_json()))[0] == []


def test_every_correction_names_what_it_superseded():
    """Otherwise stale memories could not be told from valid ones."""
    corrections = [(c, q) for c, q in questions() if q.category == "correction"]
    assert names([(c, q) for c, q in corrections if not q.stale]) == []


def test_a_correction_comes_after_what_it_corrects():
    """The last of the evidence is later than every stale message."""

    def order(conversation: Conversation) -> list[str]:
        return list(texts(conversation))

    late = [
        (c, q)
        for c, q in questions()
        if q.stale
        and max(map(order(c).index, q.evidence)) < max(map(order(c).index, q.stale))
    ]  # fmt: skip
    assert names(late) == []


def test_every_question_has_a_keyword_for_the_lenient_rule():
    """A rule that cannot apply is not reported as zero."""
    assert names([(c, q) for c, q in questions() if not q.keywords]) == []


def test_single_valued_golds_name_what_they_must_not_be_mistaken_for():
    """Numbers, dates, entities and sets have siblings."""
    kinds = NumberGold | DateGold | EntityGold | SetGold
    bare = [(c, q) for c, q in questions() if isinstance(q.answer, kinds) and not q.answer.siblings]
    assert names(bare) == []


def test_no_sibling_is_also_a_right_answer():
    """A value cannot be both."""

    def right(answer) -> set:
        if isinstance(answer, EntityGold):
            return {answer.value.lower(), *(a.lower() for a in answer.aliases)}
        return {answer.value}

    both = [
        (c, q)
        for c, q in questions()
        if isinstance(q.answer, NumberGold | DateGold | EntityGold)
        and right(q.answer) & {s.lower() if isinstance(s, str) else s for s in q.answer.siblings}
    ]
    assert names(both) == []


def test_no_question_is_asked_before_its_evidence_was_said():
    """What is asked can be known."""
    early = [
        (c, q)
        for c, q in questions()
        if q.asked_at and any(dates(c)[name] > q.asked_at for name in (*q.evidence, *q.stale))
    ]
    assert names(early) == []


def test_a_multi_hop_question_needs_more_than_one_message():
    """Or it is a fact."""
    hops = [(c, q) for c, q in questions() if q.category == "multi-hop"]
    assert names([(c, q) for c, q in hops if len(set(q.evidence)) < 2]) == []


def test_no_question_is_said_in_a_conversation():
    """A memory cannot find the question itself."""
    said = [
        (c, q)
        for c, q in questions()
        if any(q.question.lower().rstrip("?") in text.lower() for text in texts(c).values())
    ]
    assert names(said) == []


def test_no_message_and_no_question_occurs_twice():
    """Equal texts would make equal hits."""
    messages = Counter(text for c in SET.scenarios for text in texts(c).values())
    asked = Counter((c.id, q.question) for c, q in questions())
    assert [text for text, count in (messages + asked).items() if count > 1] == []


def test_every_person_is_named_and_alone_in_a_scenario():
    """One memory a person; the first makes the sample."""
    assert [c.id for c in SET.scenarios] == list(PERSONAS)
    (sample,) = SUITE.scenarios(SuiteOptions("practical", sample=True))
    assert sample.scenario_id == PERSONAS[0]


def test_the_source_is_named_by_content():
    """Data, sample and a file of one's own are told apart."""
    whole = SUITE.source(SuiteOptions("practical"))
    sample = SUITE.source(SuiteOptions("practical", sample=True))
    assert whole.sha256 != sample.sha256
    assert whole.notes == ()
    assert "sample" in sample.notes[0]


def test_a_file_of_ones_own_takes_the_place_of_the_data(tmp_path):
    """In the same format, under its own name."""
    data = json.loads(built_in(PERSONAS[1:2]).model_dump_json()) | {"name": "mine"}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data))
    options = SuiteOptions("practical", file=path)
    assert [s.scenario_id for s in SUITE.scenarios(options)] == [PERSONAS[1]]
    source = SUITE.source(options)
    assert (source.name, source.origin) == ("mine", "mine.json")


def test_a_missing_file_is_refused(tmp_path):
    """Never the built-in data in its place."""
    with pytest.raises(DataError, match="no such file"):
        SUITE.source(SuiteOptions("practical", file=tmp_path / "none.json"))


def test_a_file_of_ones_own_cannot_pass_for_the_published_data(tmp_path):
    """Whatever name it gives itself."""
    data = json.loads(built_in(PERSONAS[1:2]).model_dump_json())
    path = tmp_path / "mine.json"
    for name in ("practical", "locomo"):
        path.write_text(json.dumps(data | {"name": name}))
        source = SUITE.source(SuiteOptions("practical", file=path))
        assert source.name == f"not the published {name}"
