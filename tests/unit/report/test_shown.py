"""A question put together from grade, gold, transcript and verdicts; and which ones are shown."""

from datetime import UTC, datetime

import pytest

from memrig.grading.base import Grade
from memrig.model.gold import Gold
from memrig.model.scenario import Question
from memrig.model.transcript import (
    AnswerRecord,
    HitRecord,
    Memory,
    NaiveRecord,
    SearchRecord,
    ToolUseRecord,
)
from memrig.report.model import ShownNaive, ShownQuestion
from memrig.report.shown import shown_question
from memrig.report.worst import _spread, _went_wrong
from support.answer_reports import grade, record, ungraded, verdict
from support.judges import text_gold

TEXTS = {"e1": "Ada: the kettle is in the attic", "e2": "Ben: nine sharp"}
GOLD = Gold(
    question_id="q", category="temporal-reasoning", answer=text_gold(), evidence=("e1",),
    stale=("e2",),
)  # fmt: skip
ASKED = Question(
    question_id="q", text="Where is it?", asked_at=datetime(2024, 4, 1, 9, 30, tzinfo=UTC)
)


def hit(ref: str, *episodes: str | None, text: str = "") -> HitRecord:
    return HitRecord(ref, text or f"text of {ref}", 1.0, episodes)


def search(*hits: HitRecord) -> SearchRecord:
    return SearchRecord(query="where", limit=10, ns=1, payload_bytes=1, hits=hits)


def memory(handle: str, ref: str, *episodes: str | None) -> Memory:
    return Memory(handle=handle, ref_id=ref, episodes=episodes, shown_tokens=5)


def tool(result: str, **changes: object) -> ToolUseRecord:
    fields: dict[str, object] = {
        "name": "memory_search",
        "arguments_json": '{"query":"where"}',
        "result": result,
        "is_error": False,
        "ns": 2_500_000,
    }
    return ToolUseRecord.model_validate(fields | changes)


def shown(found: Grade | None = None, verdicts=(), **changes: object) -> ShownQuestion:
    return shown_question(found or grade(), ASKED, GOLD, record(**changes), TEXTS, tuple(verdicts))


class TestAnswer:
    def test_it_holds_what_was_asked_when_and_what_is_right(self):
        """Question, date, gold, grade, evidence with its text."""
        found = shown()
        assert (found.text, found.asked_at) == ("Where is it?", "2024-04-01 09:30")
        assert (found.gold, found.answer, found.score) == ("the attic", "in May", 1.0)
        assert [(item.source, item.text) for item in found.evidence] == [("e1", TEXTS["e1"])]

    def test_no_answer_is_not_an_empty_one(self):
        """A fault left none; a reader may say nothing."""
        assert shown(answer=None).answer is None
        assert shown(answer=AnswerRecord(text="")).answer == ""

    def test_confidence_and_the_reserved_turn_are_kept(self):
        """How sure it was, and that its budget had run out."""
        found = shown(answer=AnswerRecord(text="x", confidence=0.25, reserved_turn=True))
        assert (found.confidence, found.reserved_turn) == (0.25, True)

    def test_what_the_opponent_said_stands_beside_it(self):
        """And from how much; where there was none, nothing does."""
        naive = NaiveRecord(answer=AnswerRecord(text="the cellar"), episodes=9, shown=4)
        found = shown(naive=naive).naive
        assert found == ShownNaive(text="the cellar", failure="", episodes=9, shown=4)
        assert shown().naive is None

    def test_an_ungraded_question_has_a_reason_and_no_score(self):
        """It is not wrong."""
        found = shown(ungraded("needs a judge"))
        assert (found.score, found.ungraded) == (None, "needs a judge")

    @pytest.mark.parametrize("name", ["accuracy", "f1"])
    def test_the_score_is_the_answers(self, name):
        """Not that of the search beside it."""
        assert shown(grade(scores={"recall_any@5": 1.0, name: 0.5})).score == 0.5

    def test_a_question_of_mode_retrieval_has_no_score(self):
        """Ranks are none."""
        assert shown(grade(scores={"recall_any@5": 1.0})).score is None


class TestVerdicts:
    def test_every_vote_keeps_its_words(self):
        """What the judge replied; of a missing vote, why there is none."""
        (found,) = shown(verdicts=[verdict(1.0, None, score=1.0)]).verdicts
        assert [(vote.score, vote.said) for vote in found.votes] == [
            (1.0, "Yes."),
            (None, "the reply is no verdict"),
        ]
        assert (found.task, found.score) == ("answer", 1.0)

    def test_a_verdict_without_quorum_says_why(self):
        """Its score is none."""
        lost = verdict(None, None, 1.0, reason="1 of 3 votes was valid")
        (found,) = shown(verdicts=[lost]).verdicts
        assert (found.score, found.reason) == (None, "1 of 3 votes was valid")


class TestCitations:
    def test_a_citation_has_the_text_that_was_found(self):
        """By handle; whether it is evidence is the gold's."""
        answer = AnswerRecord(
            text="x",
            cited=("m2", "m1"),
            memories=(memory("m1", "r1", "e1"), memory("m2", "r2", "e2")),
        )
        found = shown(answer=answer, searches=(search(hit("r1", "e1"), hit("r2", "e2")),))
        assert [(c.handle, c.text, c.relevant) for c in found.citations] == [
            ("m2", "text of r2", False),
            ("m1", "text of r1", True),
        ]

    def test_a_memory_that_no_search_found_has_its_episodes_text(self):
        """As in mode native, which makes none."""
        answer = AnswerRecord(text="x", cited=("m1",), memories=(memory("m1", "r9", None, "e1"),))
        (found,) = shown(answer=answer).citations
        assert (found.text, found.sources) == (TEXTS["e1"], ("(void)", "e1"))

    def test_handles_that_nobody_issued_are_counted(self):
        """There is nothing to show of them."""
        found = shown(answer=AnswerRecord(text="x", cited=("m7",), unknown_citations=2))
        assert (found.citations, found.unknown_citations) == ((), 2)


class TestHits:
    def test_hits_of_one_search_are_all_shown_with_their_handles(self):
        """In their order; what a reader was not shown has no handle."""
        answer = AnswerRecord(text="x", memories=(memory("m1", "r2", "e2"),))
        hits = (hit("r1", "e1"), hit("r2", "e2"), hit("r1", "e1"))
        found = shown(answer=answer, searches=(search(*hits),)).hits
        assert [(h.rank, h.handle, h.relevant, h.stale) for h in found] == [
            (1, "", True, False),
            (2, "m1", False, True),
            (3, "", True, False),
        ]

    def test_the_hits_of_an_agents_searches_are_shown_once_each(self):
        """All of them: the last search is not what it answered from."""
        first, second = search(hit("r1", "e1"), hit("r2", None)), search(hit("r2", None), hit("r3"))
        found = shown(searches=(first, second)).hits
        assert [(h.rank, h.text, h.sources) for h in found] == [
            (1, "text of r1", ("e1",)),
            (2, "text of r2", ("(void)",)),
            (3, "text of r3", ()),
        ]


class TestTools:
    @pytest.mark.parametrize(
        ("result", "said"),
        [
            ('{"results":[{"handle":"m1"},{"handle":"m2"}]}', "2 results: m1, m2"),
            ('{"results":[{"handle":"m1","text":"long"}]}', "1 result: m1"),
            ('{"results":[]}', "0 results"),
            ('{"error":"no such tool"}', '{"error":"no such tool"}'),
            ('{"results":7}', '{"results":7}'),
            ("[1]", "[1]"),
            ("no JSON", "no JSON"),
            ("", ""),
        ],
    )
    def test_a_search_is_told_by_what_it_gave_and_all_else_as_it_came(self, result, said):
        """Texts stand below, with their handles."""
        (found,) = shown(tool_uses=(tool(result),)).tools
        assert (found.name, found.arguments) == ("memory_search", '{"query":"where"}')
        assert (found.result, found.latency_ms) == (said, 2.5)

    def test_many_handles_are_cut_but_counted(self):
        """Ten are enough."""
        items = ",".join(f'{{"handle":"m{n}"}}' for n in range(1, 31))
        (found,) = shown(tool_uses=(tool(f'{{"results":[{items}]}}'),)).tools
        assert found.result.startswith("30 results: m1, ")
        assert found.result.endswith("m10, …")


class TestWorst:
    def test_a_wrong_answer_went_wrong_whatever_was_found(self):
        """And a right one did not, though its evidence was not found."""
        assert _went_wrong(grade(scores={"accuracy": 0.0}, rank=1))
        assert _went_wrong(grade(scores={"f1": 0.5}, rank=1))
        assert not _went_wrong(grade(scores={"accuracy": 1.0}, rank=None))

    def test_what_no_answer_could_be_held_against_did_not_go_wrong(self):
        """A question without key facts has no score; a crash on it is one all the same."""
        bare = {"scores": {"budget_compliance": 1.0}, "rank": None}
        bare["missing"] = {"fact_recall": "the question has no key facts"}
        assert not _went_wrong(grade(**bare))
        assert _went_wrong(grade(**bare, outcome="adapter_crashed"))

    def test_without_answers_the_rank_counts(self):
        """As before."""
        scores = {"recall_any@1": 0.0}
        assert [_went_wrong(grade(scores=scores, rank=rank)) for rank in (1, 2, None)] == [
            False,
            True,
            True,
        ]

    def test_faults_come_first_then_the_wrong_then_the_half_right(self):
        """An exhausted budget is no fault: its answer is graded."""
        half = grade(question_id="half", scores={"accuracy": 0.5})
        wrong = grade(question_id="wrong", scores={"accuracy": 0.0}, outcome="budget_exceeded")
        crash = grade(question_id="crash", scores={"accuracy": 0.0}, outcome="adapter_crashed")
        order = [item.question_id for item in _spread([half, wrong, crash])]
        assert order == ["crash", "wrong", "half"]

    def test_categories_take_turns(self):
        """Ten of one kind would say one thing ten times."""
        names = ["a", "a", "a", "b", "c"]
        wrong = [
            grade(question_id=f"{n}", scenario_id=f"{n}", category=name, scores={"accuracy": 0.0})
            for n, name in enumerate(names)
        ]
        assert [item.category for item in _spread(wrong)] == ["a", "b", "c", "a", "a"]
