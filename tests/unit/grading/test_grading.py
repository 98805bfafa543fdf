"""From records and gold to grades: what counts, what does not, and what cannot pay."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from memrig.errors import UsageError
from memrig.grading.base import Asked, Grade, Marks, load_grader
from memrig.grading.grade import Truth, asked_of, grade_trial
from memrig.grading.retrieval import RetrievalGrader
from memrig.model.gold import Gold
from memrig.model.judgement import JudgeTask, Verdict
from memrig.model.scenario import Question
from memrig.model.transcript import (
    AnswerRecord,
    CapabilitiesRecord,
    HitRecord,
    QuestionRecord,
    Record,
    SearchRecord,
)
from memrig.model.trial import Outcome, TrialSpec
from support.scenarios import small_spec

STRICT = RetrievalGrader("locomo-any")
PRACTICAL = RetrievalGrader("practical", lenient=True, stale=True)
TEXTS = {f"e{n}": f"word{n}" for n in range(1, 30)}
GradeOne = Callable[..., Grade]
QUESTION = Question(question_id="q1", text="Where is the kettle?")


def hit(*episodes: str | None, text: str = "word1") -> HitRecord:
    return HitRecord(ref_id="r", text=text, score=1.0, episodes=episodes)


def record(
    *hits: HitRecord, outcome: Outcome | None = None, surplus: int = 0, limit: int = 10
) -> QuestionRecord:
    search = SearchRecord(
        query="q", limit=limit, ns=1, payload_bytes=1, hits=hits, surplus_hits=surplus
    )
    return QuestionRecord(
        scenario_id="small",
        question_id="q1",
        outcome=outcome or Outcome(status="answered"),
        ns=5,
        searches=(search,),
    )


def truth(gold: Gold) -> Truth:
    return Truth({"q1": QUESTION}, {"q1": gold}, TEXTS)


def marks(grader: RetrievalGrader, settled: QuestionRecord, gold: Gold, limit: int = 10) -> Marks:
    return grader.grade(Asked(QUESTION, settled, gold, TEXTS, limit))


@pytest.fixture
def spec(tmp_path: Path) -> TrialSpec:
    """A trial that the records could be of."""
    return small_spec(tmp_path, top_k=10)


@pytest.fixture
def grade_one(spec) -> GradeOne:
    """Grades one record against one gold."""

    def one(settled: QuestionRecord, gold: Gold, grader: RetrievalGrader = STRICT) -> Grade:
        (grade,) = grade_trial(spec, [settled], lambda _: truth(gold), grader)
        return grade

    return one


def gold(*evidence: str, **changes: object) -> Gold:
    return Gold(question_id="q1", category="facts", evidence=evidence, **changes)


def test_a_grade_says_what_it_is_of_and_who_made_it(grade_one, spec):
    """Trial, question and its form, category, seed, grader and version."""
    grade = grade_one(record(hit("e1")), gold("e1", template="needle/pet"))
    assert (grade.trial_id, grade.question_id, grade.category) == (spec.trial_id, "q1", "facts")
    assert (grade.seed, grade.template) == (spec.seed, "needle/pet")
    assert grade.grader == "locomo-any/2"
    assert (grade.status, grade.outcome, grade.rank) == ("graded", "answered", 1)


def test_the_scores_are_those_of_the_ranking(grade_one):
    """Evidence at ranks 2 and 6 of 10."""
    hits = [hit(f"e{n}") for n in range(1, 11)]
    grade = grade_one(record(*hits), gold("e2", "e6"))
    assert grade.scores == pytest.approx(
        {
            "recall_any@1": 0,
            "recall_any@5": 1,
            "recall_any@10": 1,
            "mrr": 1 / 2,
            "recall_all@10": 1,
            "ndcg@10": (1 / 1.584963 + 1 / 2.807355) / (1 + 1 / 1.584963),
            "map": (1 / 2 + 2 / 6) / 2,
        }
    )


@pytest.mark.parametrize(
    "grader", [STRICT, PRACTICAL, load_grader("locomo-any"), load_grader("practical")]
)
def test_a_grader_scores_no_metric_that_it_does_not_declare(grader):
    """Tables follow the declaration."""
    full = gold("e1", stale=("e2",), keywords=("word1",))
    made = marks(grader, record(hit("e1")), full)
    assert set(made.scores) == {metric.name for metric in grader.metrics}


def chance(claims: int, episodes: int, questions: int) -> dict[str, float]:
    """Mean scores of a memory whose hits claim this many episodes each, at random."""
    random_ = random.Random(2026)  # noqa: S311
    names = [f"e{n}" for n in range(episodes)]
    totals: dict[str, float] = {}
    for _ in range(questions):
        order = random_.sample(names, episodes)
        claimed = [order[n * claims : (n + 1) * claims] or order for n in range(10)]
        hits = [hit(*claim) for claim in claimed[: 1000 // claims]]
        scores = marks(STRICT, record(*hits), gold(random_.choice(names))).scores
        for name, value in scores.items():
            totals[name] = totals.get(name, 0.0) + value / questions
    return totals


@pytest.mark.parametrize("claims", [1, 7, 100])
def test_claiming_more_sources_scores_no_better_than_chance(claims):
    """Each claim takes a rank, so all of 100 episodes a hit is worth k / 100."""
    scores = chance(claims, episodes=100, questions=1500)
    for k in (1, 5, 10):
        assert scores[f"recall_any@{k}"] == pytest.approx(k / 100, abs=0.025)


def test_claiming_every_episode_in_every_hit_is_worth_no_more_than_in_one(grade_one):
    """The repeated claims stand behind."""
    everything = tuple(f"e{n}" for n in range(1, 30))
    once = grade_one(record(hit(*everything)), gold("e20"))
    always = grade_one(record(*[hit(*everything)] * 10), gold("e20"))
    assert once.scores == always.scores
    assert once.scores["recall_any@10"] == 0


def test_void_claims_are_counted_and_push_the_evidence_down(grade_one):
    """They took their ranks."""
    grade = grade_one(record(hit(None, None), hit("e1")), gold("e1"))
    assert (grade.void_claims, grade.rank, grade.scores["recall_any@1"]) == (2, 3, 0)


def test_hits_without_a_source_push_the_evidence_down(grade_one):
    """Each takes one rank; a system that names no source scores nothing."""
    assert grade_one(record(hit(), hit("e1")), gold("e1")).rank == 2
    nameless = grade_one(record(hit(), hit()), gold("e1"))
    assert (nameless.rank, nameless.scores["recall_any@10"]) == (None, 0)


def test_derived_and_surplus_hits_are_counted_and_cost_nothing(grade_one):
    """They are facts for the report."""
    grade = grade_one(record(hit("e1", text="rewritten"), hit("e2"), surplus=3), gold("e1"))
    assert (grade.hits, grade.derived_hits, grade.surplus_hits) == (2, 2, 3)
    assert grade.scores["recall_any@1"] == 1


@pytest.mark.parametrize("status", ["adapter_error", "adapter_crashed", "timeout",
                                    "budget_exceeded"])  # fmt: skip
def test_a_fault_of_the_adapter_scores_zero_under_its_own_name(status, grade_one):
    """Whatever it returned: crashing on hard questions does not pay."""
    settled = record(hit("e1"), outcome=Outcome(status=status, kind="x"))
    grade = grade_one(settled, gold("e1", stale=("e2",), keywords=("word1",)), PRACTICAL)
    assert (grade.status, grade.outcome, grade.rank) == ("graded", status, None)
    assert set(grade.scores) == {metric.name for metric in PRACTICAL.metrics}
    assert set(grade.scores.values()) == {0.0}


def test_a_fault_of_the_rig_is_never_a_wrong_answer(grade_one):
    """Ungraded, with the reason, and in no mean."""
    outcome = Outcome(status="harness_error", message="disk full")
    grade = grade_one(record(hit("e1"), outcome=outcome), gold("e1"))
    assert (grade.status, grade.reason) == ("ungraded", "harness_error: disk full")
    assert (grade.scores, grade.rank) == ({}, None)


#: What so many hits can tell.
BY_LIMIT = {
    1: {"recall_any@1", "keyword_recall@1"},
    4: {"recall_any@1", "keyword_recall@1"},
    5: {"recall_any@1", "recall_any@5", "keyword_recall@1", "keyword_recall@5"},
    9: {"recall_any@1", "recall_any@5", "keyword_recall@1", "keyword_recall@5"},
    10: {metric.name for metric in PRACTICAL.metrics},
    50: {metric.name for metric in PRACTICAL.metrics},
}
FULL = gold("e1", stale=("e2",), keywords=("word1",))


@pytest.mark.parametrize("limit", BY_LIMIT)
def test_a_metric_deeper_than_the_search_is_not_measured(limit, grade_one):
    """Left out, neither 0 nor the value of a shallower one."""
    grade = grade_one(record(hit("e1"), limit=limit), FULL, PRACTICAL)
    assert set(grade.scores) == BY_LIMIT[limit]
    assert set(grade.scores.values()) == {1.0}


def capable(max_results: int) -> CapabilitiesRecord:
    return CapabilitiesRecord(
        name="m", version="1", contract_version="1.0", boot_id="b", search_modes=(),
        filter_fields=(), max_results=max_results, optional=(), tools=(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("top_k", "max_results", "limit"),
    [(10, None, 10), (10, 100, 10), (5, 100, 5), (10, 5, 5), (50, 1, 1), (4, None, 4)],
)
@pytest.mark.parametrize("searched", [True, False])
def test_a_fault_scores_zero_on_all_that_would_have_been_measured(
    top_k, max_results, limit, searched, spec
):
    """No more, no less: the limit is the trial's, within what the adapter can return."""
    fault = record(hit("e1"), outcome=Outcome(status="timeout"), limit=limit)
    if not searched:
        fault = fault.model_copy(update={"searches": ()})
    records: list[Record] = [] if max_results is None else [capable(max_results)]
    deep = spec.model_copy(update={"top_k": top_k})
    (grade,) = grade_trial(deep, [*records, fault], lambda _: truth(FULL), PRACTICAL)
    assert grade.scores == dict.fromkeys(BY_LIMIT[limit], 0.0)


@pytest.mark.parametrize(("note", "reason"), [("no evidence", "no evidence"), ("", "not scorable")])
def test_a_question_that_cannot_be_scored_is_ungraded(note, reason, grade_one):
    """With the data's own reason, where it has one."""
    grade = grade_one(record(hit("e1")), gold(scorable=False, note=note))
    assert (grade.status, grade.reason, grade.scores) == ("ungraded", reason, {})


def test_only_the_last_search_of_a_question_is_graded():
    """It is what the answer would be built on."""
    first, last = record(hit("e1")), record(hit("e2"))
    both = first.model_copy(update={"searches": first.searches + last.searches})
    assert marks(STRICT, both, gold("e2")).scores["recall_any@1"] == 1
    assert marks(STRICT, both, gold("e1")).scores["recall_any@1"] == 0


def test_the_keyword_rule_is_scored_beside_the_strict_one():
    """A hit of the wrong episode may hold the word."""
    settled = record(hit("e2", text="nothing"), hit("e3", text="the word is KETTLE"))
    scores = marks(PRACTICAL, settled, gold("e1", keywords=("kettle",))).scores
    assert (scores["recall_any@10"], scores["mrr"]) == (0, 0)
    assert (scores["keyword_recall@1"], scores["keyword_recall@5"]) == (0, 1)
    assert scores["keyword_mrr"] == 1 / 2


def test_a_question_without_keywords_has_no_lenient_score():
    """What does not apply is left out, not zero."""
    scores = marks(PRACTICAL, record(hit("e1")), gold("e1")).scores
    assert not any(name.startswith("keyword") for name in scores)


@pytest.mark.parametrize(
    ("order", "value"),
    [(["e1", "e2"], 1), (["e2", "e1"], 0), (["e1"], 1), (["e2"], 0), (["e9"], 0), ([], 0)],
)
def test_the_valid_memory_should_rank_above_the_superseded_one(order, value):
    """e1 holds the answer, e2 the one that it replaced."""
    settled = record(*[hit(name) for name in order])
    scores = marks(PRACTICAL, settled, gold("e1", stale=("e2",))).scores
    assert scores["current_before_stale"] == value


def test_the_stale_metric_is_left_out_where_nothing_was_superseded():
    """It is a matter of corrections alone."""
    scores = marks(PRACTICAL, record(hit("e1")), gold("e1")).scores
    assert "current_before_stale" not in scores


def test_a_grade_does_not_depend_on_how_long_anything_took(grade_one):
    """The same hits give the same line, to the byte."""
    slow = record(hit("e1"))
    slow = slow.model_copy(
        update={"ns": 10**9, "searches": (slow.searches[0].model_copy(update={"ns": 10**8}),)}
    )
    assert (
        grade_one(slow, gold("e1")).model_dump_json()
        == grade_one(record(hit("e1")), gold("e1")).model_dump_json()
    )


def test_a_protocol_without_a_grader_is_refused_with_the_known_ones():
    """A typing mistake, or a plug-in that is not installed."""
    with pytest.raises(UsageError, match="no grader for protocol 'locomo-all'") as caught:
        load_grader("locomo-all")
    assert "locomo-any" in caught.value.fix


class Curious(RetrievalGrader):
    """A grader that keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__("curious")
        self.asked: list[Asked] = []

    def tasks(self, asked: Asked) -> tuple[JudgeTask, ...]:
        return (JudgeTask("answer", asked.question.text, 10, 1, lambda _: 1.0),)

    def grade(self, asked: Asked) -> Marks:
        self.asked.append(asked)
        return Marks({"said": asked.verdicts["answer"].score or 0.0} if asked.verdicts else {})


def verdict(question_id: str, score: float, **changes: str) -> Verdict:
    fields = {"trial_id": "t", "scenario_id": "small", "protocol": "curious", "model": "m"}
    return Verdict(
        question_id=question_id, task="answer", votes=(), quorum=1, score=score, agreement=1.0,
        **(fields | changes),
    )  # fmt: skip


def two_questions(scenario: str) -> Truth:
    """Both scenarios name their questions alike."""
    questions = {
        name: Question(question_id=name, text=f"{scenario} {name}?") for name in ("q1", "q2")
    }
    return Truth(questions, {name: gold("e1", note=scenario) for name in questions}, TEXTS)


def test_a_settled_question_comes_with_its_own_text_gold_and_episodes(spec):
    """Two scenarios may use the same ids."""
    records = [
        record(hit("e1")).model_copy(update={"scenario_id": scenario, "question_id": name})
        for scenario, name in (("a", "q1"), ("a", "q2"), ("b", "q1"))
    ]
    found = list(asked_of(spec, records, two_questions))
    assert [asked.question.text for asked in found] == ["a q1?", "a q2?", "b q1?"]
    assert [asked.gold.note for asked in found] == ["a", "a", "b"]
    assert all(asked.texts == TEXTS for asked in found)


def test_the_truth_of_a_scenario_is_loaded_once_while_its_questions_last(spec):
    """Memory holds one scenario's texts."""
    loads: list[str] = []

    def load(scenario: str) -> Truth:
        loads.append(scenario)
        return two_questions(scenario)

    names = [("a", "q1"), ("a", "q2"), ("b", "q1"), ("b", "q2")]
    records = [
        record().model_copy(update={"scenario_id": scenario, "question_id": name})
        for scenario, name in names
    ]
    assert len(list(asked_of(spec, records, load))) == 4
    assert loads == ["a", "b"]


def test_a_judges_verdict_reaches_the_question_that_it_is_of(spec):
    """By trial, scenario and question; the others have none."""
    records = [
        record().model_copy(update={"scenario_id": scenario, "question_id": name})
        for scenario, name in (("a", "q1"), ("a", "q2"), ("b", "q1"))
    ]
    verdicts = {
        (spec.trial_id, "a", "q2"): {"answer": verdict("q2", 0.5)},
        ("another trial", "b", "q1"): {"answer": verdict("q1", 1.0)},
    }
    grader = Curious()
    grades = list(grade_trial(spec, records, two_questions, grader, verdicts))
    assert [grade.scores for grade in grades] == [{}, {"said": 0.5}, {}]
    assert [sorted(asked.verdicts) for asked in grader.asked] == [[], ["answer"], []]


@pytest.mark.parametrize(
    ("outcome", "answered", "kept"),
    [
        (Outcome(status="answered"), True, True),
        (Outcome(status="abstained"), True, True),
        (Outcome(status="budget_exceeded", kind="turns"), True, True),
        (Outcome(status="budget_exceeded", kind="turns"), False, False),
        (Outcome(status="adapter_error", kind="INTERNAL"), True, False),
        (Outcome(status="timeout"), True, False),
    ],
)
def test_only_what_an_adapter_may_be_graded_by_is_left_of_a_fault(outcome, answered, kept, spec):
    """An exhausted budget keeps the answer of its reserved turn; a fault keeps nothing."""
    settled = record(hit("e1"), outcome=outcome)
    if answered:
        settled = settled.model_copy(update={"answer": AnswerRecord(text="in the attic")})
    (asked,) = asked_of(spec, [settled], lambda _: truth(gold("e1")))
    assert (asked.record.answer is not None, bool(asked.record.searches)) == (kept, kept)


def test_a_graders_reason_not_to_grade_reaches_the_grade(spec):
    """With the scores left out."""

    class Refuses(Curious):
        def grade(self, asked: Asked) -> Marks:
            return Marks({"said": 1.0}, rank=1, ungraded="no quorum", agreement=0.4)

    (grade,) = grade_trial(spec, [record()], lambda _: truth(gold("e1")), Refuses())
    assert (grade.status, grade.reason, grade.scores, grade.rank) == (
        "ungraded", "no quorum", {}, None,
    )  # fmt: skip
    assert grade.agreement == 0.4


def test_a_fault_of_the_rig_is_not_shown_to_the_grader(spec):
    """There is nothing to grade."""
    grader = Curious()
    failed = record(outcome=Outcome(status="harness_error", message="disk full"))
    (grade,) = grade_trial(spec, [failed], lambda _: truth(gold("e1")), grader)
    assert (grade.status, grader.asked) == ("ungraded", [])
