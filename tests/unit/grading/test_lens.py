"""LENS's metrics, question by question, each against a case worked out by hand (scoring §4)."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.grading.base import Asked, Grade, Marks
from memrig.grading.grade import Truth, grade_trial
from memrig.grading.judges.action import action_names
from memrig.grading.judges.base import NO_VERDICT, UNDECIDED
from memrig.grading.judges.pairwise import pairwise_names
from memrig.grading.lens import V1, V3_4
from memrig.grading.profile import Composing
from memrig.model.longitudinal import CONTROL, DECISION, QUESTION_TYPES, SYNTHESIS
from memrig.model.transcript import AnswerRecord, Memory, NaiveRecord
from memrig.model.trial import Outcome
from support.judges import blocks_of
from support.lens import BARE, FACTS, GOLD, SAID, answer, fault, lens_asked, memory
from support.scenarios import small_spec


def marks(*args: object, **fields: object) -> Marks:
    return V1.grade(lens_asked(*args, **fields))


def naive(text: str = "The pump failed.", **fields: object) -> NaiveRecord:
    return NaiveRecord(answer=AnswerRecord(text=text), **fields)


class TestGrounding:
    @pytest.mark.parametrize(
        ("said", "score", "refs"),
        [
            (answer("m1"), 1.0, 1),
            (answer("m1", "m9"), 0.5, 2),
            (answer("m1", unknown=3), 0.25, 4),
            (answer("m9"), 0.0, 1),
            (answer(), 0.0, 0),
            (None, 0.0, 0),
        ],
    )
    def test_it_is_the_share_of_cited_refs_that_resolve(self, said, score, refs):
        """To episodes already streamed; 0 if none is cited. Its weight is the refs cited."""
        found = marks(said)
        assert found.scores["evidence_grounding"] == score
        assert found.weights["evidence_grounding"] == refs

    def test_a_ref_counts_by_the_share_of_its_claims_that_are_real(self):
        """One of four claims is of an episode that was never ingested, or not yet."""
        said = answer("m1", memories=(memory("m1", "e1", "e2", None, "e3"),))
        assert marks(said).scores["evidence_grounding"] == 0.75

    def test_a_ref_that_claims_nothing_stands_on_nothing(self):
        """No claim is no evidence."""
        said = answer("m1", "m2", memories=(memory("m1"), memory("m2", "e2")))
        assert marks(said).scores["evidence_grounding"] == 0.5

    @pytest.mark.parametrize("mode", ["agent", "native"])
    def test_what_is_cited_twice_counts_once(self, mode):
        """By its handle, or, in an answer of the memory's own, by its ref."""
        twice = answer("m1", "m1", "m9")
        own = answer(
            "m1", "m2", "m3",
            memories=(
                memory("m1", "e1", ref="a"),
                memory("m2", "e1", ref="a"),
                memory("m3", None, ref="b"),
            ),
        )  # fmt: skip
        found = marks(twice if mode == "agent" else own, mode=mode)
        assert found.scores["evidence_grounding"] == 0.5
        assert found.weights["evidence_grounding"] == 2

    def test_void_claims_without_a_ref_are_not_taken_for_one_another(self):
        """Nobody knows what they were of."""
        names = ("e1", "e1", None, None, None)
        own = tuple(
            Memory(handle=f"m{n}", ref_id="", episodes=(name,)) for n, name in enumerate(names)
        )
        found = marks(answer(*(m.handle for m in own), memories=own), mode="native")
        assert found.scores["evidence_grounding"] == 0.25

    def test_a_memorys_own_answer_is_held_to_the_episodes_that_it_names(self):
        """Three refs and two episodes do not pair; the contract does not ask that they do."""
        refs = (memory("m1"), memory("m2"), memory("m3"))
        episodes = tuple(
            Memory(handle=handle, ref_id="", episodes=(name,))
            for handle, name in (("m4", "e1"), ("m5", None))
        )
        cited = ("m1", "m2", "m3", "m4", "m5")
        found = marks(answer(*cited, memories=(*refs, *episodes)), mode="native")
        assert found.scores["evidence_grounding"] == 0.5
        bare = marks(answer(*cited[:3], memories=refs), mode="native")
        assert bare.scores["evidence_grounding"] == 0

    def test_a_cited_handle_that_stands_for_no_memory_counts_as_unknown(self):
        """Whoever wrote it."""
        assert marks(answer("m1", "m77")).scores["evidence_grounding"] == 0.5

    def test_a_reader_that_was_not_asked_to_cite_is_not_measured_by_what_it_cites(self):
        """0 would be said of the memory, and close a gate."""
        fields = {"mode": "reader", "naive": None}
        found = marks(answer(), prompt="direct", **fields)
        for name in ("evidence_grounding", "evidence_coverage", "insight_depth"):
            assert name not in found.scores
            assert found.missing[name] == "the reader was not asked to cite"
        asked = marks(answer(), prompt="cited", **fields).scores
        assert asked["evidence_grounding"] == asked["evidence_coverage"] == 0


class TestCoverage:
    @pytest.mark.parametrize(
        ("cited", "share"), [((), 0), (("m1",), 0.5), (("m3",), 0), (("m1", "m2", "m3"), 1)]
    )
    def test_it_is_the_share_of_the_required_that_is_cited(self, cited, share):
        """e1 and e2 are required; citing more costs nothing here."""
        assert marks(answer(*cited)).scores["evidence_coverage"] == share

    def test_of_one_memory_the_first_five_sources_count(self):
        """One that claims every episode earns nothing by it (ADR 0012)."""
        every = tuple(f"x{n}" for n in range(4))
        said = answer("m1", memories=(memory("m1", *every, "e1", "e2"),))
        assert marks(said).scores["evidence_coverage"] == 0.5

    def test_what_the_memory_returned_is_told_apart_from_what_was_cited(self):
        """Found by a search, and not made use of."""
        found = marks(answer(memories=(memory("m1", "e9"),)), hits=("e1", "e7"))
        assert found.scores["evidence_coverage"] == 0
        assert found.scores["evidence_retrieved"] == 0.5

    def test_what_was_retrieved_or_came_from_a_tool_was_returned_too(self):
        """All that a model was shown."""
        found = marks(answer(memories=(memory("m1", "e2"),)), hits=("e1",))
        assert found.scores["evidence_retrieved"] == 1

    @pytest.mark.parametrize("fields", [{"evidence": ()}, {"scorable": False}])
    def test_without_required_evidence_it_is_not_measured(self, fields):
        """Never 1 for nothing."""
        found = marks(answer("m1"), **fields)
        for name in ("evidence_coverage", "evidence_retrieved"):
            assert name not in found.scores
            assert found.missing[name] == "the question requires no evidence"

    def test_a_memory_that_answers_by_itself_shows_no_retrieval(self):
        """Nor do answers that were produced elsewhere."""
        for fields in ({"mode": "native"}, {"mode": "native", "pod": "given"}):
            assert "evidence_retrieved" in marks(answer("m1"), **fields).missing

    def test_the_later_weights_have_a_second_name_for_it(self):
        """Identical in 583 of 585 of the predecessor's scorecards."""
        found = V3_4.grade(lens_asked(answer("m1"))).scores
        assert found["citation_coverage"] == found["evidence_coverage"] == 0.5
        assert "citation_coverage" not in marks(answer("m1")).scores


class TestRecall:
    def test_it_is_the_mean_share_of_key_facts_found(self):
        """One of two."""
        assert marks(SAID).scores["fact_recall"] == 1
        assert marks("The pump failed.").scores["fact_recall"] == 0.5

    def test_after_one_mark_only_the_conclusion_counts(self):
        """As typed graders read every answer."""
        assert marks(f"{SAID}\nAnswer: nothing was wrong.").scores["fact_recall"] == 0

    @pytest.mark.parametrize("said", [None, "", AnswerRecord(text=SAID, abstained=True)])
    def test_who_does_not_answer_states_no_fact(self, said):
        """0, for there was something to say."""
        assert marks(said).scores["fact_recall"] == 0

    def test_a_question_without_facts_measures_none(self):
        """Neither ½ nor 1, as it once was."""
        found = marks(SAID, gold=BARE)
        for name in ("fact_recall", "answer_quality"):
            assert name not in found.scores
            assert found.missing[name] == "the question has no key facts"


class TestConduct:
    @pytest.mark.parametrize(
        ("status", "within"),
        [("answered", 1), ("abstained", 1), ("budget_exceeded", 0), ("timeout", 0)],
    )
    def test_a_question_counts_that_ended_within_its_budget(self, status, within):
        """A fault of the adapter is no compliance."""
        found = marks(SAID, outcome=Outcome.model_validate({"status": status}))
        assert found.scores["budget_compliance"] == within

    def test_of_given_answers_no_budget_was_seen(self):
        """Nor how they were reasoned: n/a is n/a."""
        found = marks(SAID, pod="given", mode="native")
        for name in ("budget_compliance", "reasoning_quality"):
            assert name not in found.scores
            assert "not seen" in found.missing[name]

    @pytest.mark.parametrize(("cited", "deep"), [(("m1", "m2"), 1), (("m1",), 0), (("m9",), 0)])
    def test_an_insight_stands_on_two_episodes(self, cited, deep):
        """Distinct and real ones."""
        assert marks(answer(*cited)).scores["insight_depth"] == deep

    def test_two_memories_of_one_episode_are_one_episode(self):
        """Chunks of it."""
        said = answer("m1", "m2", memories=(memory("m1", "e1"), memory("m2", "e1")))
        assert marks(said).scores["insight_depth"] == 0

    @pytest.mark.parametrize("category", QUESTION_TYPES)
    def test_insight_is_asked_of_synthesis_and_action_of_decisions(self, category):
        """A question of another type is not what the metric is about."""
        found = marks(answer("m1", "m2"), category=category)
        known = {**found.scores, **found.missing}
        assert ("insight_depth" in known) == (category in SYNTHESIS)
        assert ("action_quality" in known) == (category in DECISION)

    def test_the_types_fall_into_three_groups(self):
        """Eight, one and one."""
        assert [len(group) for group in (SYNTHESIS, CONTROL, DECISION)] == [8, 1, 1]

    @pytest.mark.parametrize(
        ("text", "tools", "score"), [("x" * 51, 1, 1), ("x" * 50, 1, 0), ("x" * 51, 0, 0)]
    )
    def test_reasoning_shows_in_a_long_answer_with_a_tool_call(self, text, tools, score):
        """Over 50 characters, and at least one call."""
        assert marks(text, tools=tools).scores["reasoning_quality"] == score

    def test_who_declares_not_to_know_shows_no_reasoning(self):
        """In whatever length: a memory that is empty would be full of it."""
        said = answer().model_copy(update={"abstained": True})
        assert marks(said).scores["reasoning_quality"] == 0

    @pytest.mark.parametrize("mode", ["reader", "native"])
    def test_only_an_agents_tool_calls_are_seen(self, mode):
        """A reader has none to make: that is no bad reasoning."""
        found = marks(SAID, mode=mode)
        assert "reasoning_quality" not in found.scores
        assert mode in found.missing["reasoning_quality"]

    def test_counts_are_kept_beside_the_scores(self):
        """What a timeline shows."""
        said = answer("m1", "m3", unknown=1)
        assert marks(said, hits=("e2",), tools=2).counts == {
            "episodes": 12,
            "evidence_required": 2,
            "evidence_cited": 1,
            "evidence_retrieved": 2,
            "refs_cited": 3,
            "tool_calls": 2,
            "turns": 0,
            "payload_bytes": 200,
        }


class TestQuality:
    names = pairwise_names(2)

    def test_without_a_judge_it_is_missing_and_the_question_is_graded(self):
        """A judge is of use for some of the metrics, not for all."""
        found = marks(SAID)
        assert found.ungraded == ""
        assert "answer_quality" not in found.scores
        assert found.missing["answer_quality"] == NO_VERDICT

    def test_it_is_the_win_rate_over_facts_and_both_orders(self):
        """Won, lost, tied, won."""
        given = dict(zip(self.names, (1.0, 0.0, 0.5, 1.0), strict=True))
        assert marks(SAID, verdicts=given).scores["answer_quality"] == 0.625

    def test_a_vote_that_failed_is_no_loss(self):
        """The question waits for its judge: neither 0 nor the mean of the rest."""
        given = dict.fromkeys(self.names, 1.0) | {self.names[2]: None}
        found = marks(SAID, verdicts=given)
        assert "answer_quality" not in found.scores
        assert found.missing["answer_quality"].startswith(UNDECIDED)
        assert found.scores["fact_recall"] == 1

    @pytest.mark.parametrize("said", [None, "", " \n"])
    def test_who_says_nothing_loses_every_fact_unasked(self, said):
        """No judge is paid for that."""
        one = lens_asked(said, naive=naive(), verdicts={})
        assert V1.tasks(one) == ()
        found = V1.grade(one).scores
        assert (found["answer_quality"], found["naive_baseline_advantage"]) == (0, 0)

    def test_without_a_judge_nobody_loses(self):
        """Or a run's value would be that of its silent questions alone."""
        found = marks(None, naive=naive(), category="action_recommendation")
        for name in ("answer_quality", "naive_baseline_advantage", "action_quality"):
            assert found.missing[name] == NO_VERDICT

    def test_the_judge_sees_the_answer_the_canonical_one_and_the_fact(self):
        """Each fact in both orders; alternatives are told to be such."""
        gold = GOLD.model_copy(update={"key_facts": ("it failed | it broke", *FACTS[1:])})
        tasks = V1.tasks(lens_asked(SAID, gold=gold))
        assert [task.name for task in tasks] == list(self.names)
        blocks = blocks_of(tasks[0].prompt)
        assert (blocks["answer_a"], blocks["answer_b"]) == (SAID, GOLD.value)
        assert blocks["fact"] == "it failed or: it broke"

    def test_verdicts_on_other_terms_do_not_count(self):
        """Of another prompt, or of the other protocol."""
        given = dict.fromkeys(self.names, 1.0)
        found = V3_4.grade(lens_asked(SAID, verdicts=given))
        assert "answer_quality" not in found.scores
        assert "on the terms of lens-v1" in found.missing["answer_quality"]


class TestAction:
    @pytest.mark.parametrize("category", sorted(DECISION))
    def test_it_is_the_share_of_five_criteria(self, category):
        """Three of five."""
        given = dict(zip(action_names(), (1.0, 1.0, 0.0, 0.0, 1.0), strict=True))
        found = marks(SAID, category=category, gold=BARE, verdicts=given)
        assert found.scores["action_quality"] == pytest.approx(0.6)

    def test_without_a_judge_it_is_missing(self):
        """Not 0, as it once was."""
        found = marks(SAID, category="action_recommendation")
        assert found.missing["action_quality"] == NO_VERDICT

    def test_silence_recommends_nothing(self):
        """No criterion is met, and no judge is asked."""
        one = lens_asked(None, category="action_recommendation", verdicts={})
        assert V1.tasks(one) == ()
        assert V1.grade(one).scores["action_quality"] == 0

    def test_the_judge_sees_the_finding_and_what_is_cited(self):
        """By the handles that the answer names them by."""
        tasks = V1.tasks(lens_asked(answer("m2"), category="action_recommendation", gold=BARE))
        assert [task.name for task in tasks] == list(action_names())
        blocks = blocks_of(tasks[0].prompt)
        assert (blocks["finding"], blocks["citations"]) == (BARE.value, "m2")


class TestNaive:
    names = pairwise_names(2, "naive")

    def test_it_is_the_win_rate_against_the_naive_answer(self):
        """By tasks of its own, beside those on the canonical answer."""
        one = lens_asked(SAID, naive=naive(), verdicts=dict.fromkeys(self.names, 1.0))
        assert {task.name for task in V1.tasks(one)} > set(self.names)
        found = V1.grade(one)
        assert found.scores["naive_baseline_advantage"] == 1
        assert "answer_quality" in found.missing

    def test_the_naive_answers_own_recall_needs_no_judge(self):
        """One of two facts."""
        found = marks(SAID, naive=naive())
        assert found.scores["fact_recall_naive"] == 0.5
        assert found.missing["naive_baseline_advantage"] == NO_VERDICT

    def test_without_a_naive_answer_there_is_nothing_to_compare_with(self):
        """It was not asked for."""
        found = marks(SAID)
        for name in ("naive_baseline_advantage", "fact_recall_naive"):
            assert found.missing[name] == "no naive answer was asked for"

    @pytest.mark.parametrize(
        "failed",
        [
            NaiveRecord(answer=None, failure="provider: gone"),
            naive("(failed)", failure="cut off"),
            NaiveRecord(answer=None),
            naive(" "),
        ],
    )
    def test_it_is_never_scored_when_its_own_generation_failed(self, failed):
        """A failure's text once passed for an opponent, and lost."""
        one = lens_asked(SAID, naive=failed, verdicts=dict.fromkeys(self.names, 1.0))
        assert not {task.name for task in V1.tasks(one)} & set(self.names)
        found = V1.grade(one)
        for name in ("naive_baseline_advantage", "fact_recall_naive"):
            assert name not in found.scores
            assert found.missing[name].startswith("its own generation failed")


class TestFaults:
    @pytest.mark.parametrize("status", ["adapter_error", "adapter_crashed", "timeout"])
    @pytest.mark.parametrize("category", ["longitudinal", "action_recommendation"])
    def test_a_fault_of_the_adapter_scores_0_in_all_that_would_be_measured(
        self, status, category, tmp_path
    ):
        """What it had returned before counts for nothing; or crashing on hard ones would pay."""
        whole = lens_asked(answer("m1", "m2"), hits=("e1", "e2"), category=category)
        grade = graded(whole, fault(status), tmp_path)
        measured = set(V1.grade(whole).scores) - {"citation_precision"}  # of nothing there is none
        assert grade.scores == dict.fromkeys(measured, 0.0)
        assert grade.outcome == status

    def test_a_fault_of_the_rig_is_not_graded(self, tmp_path):
        """As everywhere."""
        grade = graded(lens_asked(answer("m1")), fault("harness_error"), tmp_path)
        assert (grade.status, grade.scores, grade.missing) == ("ungraded", {}, {})

    def test_an_answer_from_the_reserved_turn_is_graded(self, tmp_path):
        """The budget's end shows in its own metric."""
        grade = graded(lens_asked(answer("m1", "m2")), fault("budget_exceeded"), tmp_path)
        assert (grade.scores["budget_compliance"], grade.scores["fact_recall"]) == (0, 1)

    @given(
        st.lists(st.sampled_from(["m1", "m2", "m3", "m9", "x", ""]), max_size=8),
        st.lists(
            st.lists(st.sampled_from(["e1", "e2", "e7", None]), max_size=8).map(tuple), max_size=4
        ),
        st.integers(0, 5),
    )
    def test_whatever_is_cited_every_score_is_a_share(self, cited, claims, unknown):
        """Void, future, repeated and made-up claims break nothing and gain nothing."""
        memories = tuple(memory(f"m{n}", *found) for n, found in enumerate(claims, 1))
        said = AnswerRecord(
            text=SAID, cited=tuple(cited), unknown_citations=unknown, memories=memories
        )
        found = marks(said)
        assert all(0 <= score <= 1 for score in found.scores.values())
        worse = marks(said.model_copy(update={"unknown_citations": unknown + 1})).scores
        assert worse["evidence_grounding"] <= found.scores["evidence_grounding"]
        again = dict(marks(said.model_copy(update={"cited": (*said.cited, *said.cited)})).scores)
        once = dict(found.scores)
        # A handle that is named twice is, once, a citation of nothing.
        assert again.pop("citation_precision", 0.0) <= once.pop("citation_precision", 0.0)
        assert again == once


def graded(one: Asked, outcome: Outcome, folder: Path) -> Grade:
    """The grade as a trial gives it."""
    record = one.record.model_copy(update={"outcome": outcome})
    truth = Truth({"q1": one.question}, {"q1": one.gold})
    spec = small_spec(folder, mode="agent")
    (grade,) = grade_trial(spec, [record], lambda _: truth, V1)
    return grade


def everything(count: int) -> AnswerRecord:
    """An answer that cites so many memories of an episode each; the evidence comes last."""
    names = [f"x{n}" for n in range(count - 2)] + ["e1", "e2"]
    memories = tuple(memory(f"m{n}", name) for n, name in enumerate(names))
    return answer(*(one.handle for one in memories), memories=memories)


class TestCitingEverything:
    def test_only_the_first_ten_sources_of_an_answer_count(self):
        """An answer that cites all there is must not beat one that knows (ADR 0012)."""
        scores = [marks(everything(count)).scores["evidence_coverage"] for count in (10, 11, 12)]
        assert scores == [1.0, 0.5, 0.0]

    def test_as_many_count_as_a_question_requires(self):
        """A question may require more than ten."""
        wanted = (*(f"x{n}" for n in range(10)), "e1", "e2")
        assert marks(everything(12), evidence=wanted).scores["evidence_coverage"] == 1.0

    def test_its_precision_stands_beside(self):
        """Which of the citations name anything that is required."""
        assert marks(everything(8)).scores["citation_precision"] == 0.25


def test_a_tool_call_that_failed_shows_no_reasoning():
    """Reasoning wants at least one call that worked."""
    one = lens_asked()
    failed = one.record.tool_uses[0].model_copy(update={"is_error": True})
    record = one.record.model_copy(update={"tool_uses": (failed,)})
    assert V1.grade(replace(one, record=record)).scores["reasoning_quality"] == 0.0


def test_a_memory_that_crashed_has_lost_to_the_naive_answer():
    """None is asked for once the memory is gone, and n/a would make crashing pay."""
    lost = replace(lens_asked(None, verdicts={}, outcome=fault()), naive=True)
    assert V1.grade(lost).scores["naive_baseline_advantage"] == 0.0


def test_a_grader_names_its_profile_and_its_terms():
    """Two protocols weigh the same scores differently; grades under one version can be compared."""
    assert isinstance(V1, Composing)
    assert (V1.profile.name, V3_4.profile.name) == (V1.protocol, V3_4.protocol)
    assert V1.judge == "optional"
    assert V1.metrics[0].name == "fact_recall"
    assert {part.metric for part in V3_4.profile.parts if not part.contrast} <= {
        metric.name for metric in V3_4.metrics
    }
