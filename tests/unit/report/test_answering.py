"""How answers came about, whether they may be compared, and what makes a run incomplete."""

from pathlib import Path

import pytest

from memrig.grading.judges.base import NO_VERDICT, UNDECIDED
from memrig.model.trial import AnswerSpec
from memrig.report.answering import answering_summary, published_rows
from memrig.report.build import _report
from memrig.report.collect import Collected
from memrig.report.model import AnsweringSummary, Report
from memrig.runs.directory import Execution, RunDirectory
from memrig.runs.lock import DataLock, Lock
from support.answer_reports import READER, call, grade, ungraded, verdict
from support.plans import execution, small_lock
from support.scenarios import small_scenario

COMPATIBLE = "longmemeval-compatible"
REFERENCE = "gpt-4o-2024-08-06"


def data(name: str = "longmemeval-s") -> DataLock:
    return DataLock(name=name, origin="data.json", sha256="sha256:0")


def locked(folder: Path, **changes: object) -> Lock:
    """A run of LongMemEval S by a real reader and the reference judge: the comparable case."""
    fields: dict[str, object] = {
        "suite": "longmemeval",
        "protocol": COMPATIBLE,
        "mode": "reader",
        "data": data(),
        "options": {"variant": "s"},
        "answer": AnswerSpec(model=READER),
        "judge": REFERENCE,
    }
    return small_lock(folder, small_scenario(), **(fields | changes))


def summary(
    lock: Lock, found: Collected | None = None, executions: tuple[Execution, ...] = ()
) -> AnsweringSummary:
    result = answering_summary(lock, executions, found or Collected())
    assert result is not None
    return result


def reported(folder: Path, *grades, verdicts=(), **changes: object) -> Report:
    found = Collected(grades=list(grades))
    for item in verdicts:
        found.take_verdicts([item])
    return _report(RunDirectory(folder), locked(folder, **changes), found)


class TestComparable:
    def test_the_published_judge_and_data_are_comparable(self, tmp_path):
        """Nothing keeps such numbers from standing beside others'."""
        found = summary(locked(tmp_path))
        assert (found.comparable, found.why) == (True, ())

    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"answer": AnswerSpec(model="local/extractive")}, "built into memrig and no LLM"),
            ({"judge": "gpt-4o-mini"}, "judged by gpt-4o-mini, published numbers mostly by gpt-4o"),
            ({"judge": "", "protocol": "longmemeval-typed"}, "own rules (longmemeval-typed)"),
            ({"protocol": "longmemeval-strict"}, "nobody publishes under them"),
            ({"sample": True}, "the built-in sample is not the dataset"),
            ({"data": data("mine")}, "the data are not the dataset (mine)"),
            ({"limit": 100}, "only 100 of the questions were asked"),
            ({"options": {"labels": "audited"}}, "other labels than the published ones (audited)"),
        ],
    )
    def test_whatever_differs_says_so(self, tmp_path, changes, why):
        """Each alone is reason enough, and named."""
        found = summary(locked(tmp_path, **changes))
        assert not found.comparable
        assert [reason for reason in found.why if why in reason] == list(found.why)

    def test_a_model_that_its_provider_did_not_serve_says_so(self, tmp_path):
        """Whatever it is called by, another server may have answered."""
        found = summary(locked(tmp_path), executions=(execution(elsewhere=(READER,)),))
        assert found.why == (
            f"{READER} was asked at an address of the user's own, not at its provider's",
        )

    def test_reasons_add_up(self, tmp_path):
        """All are told, not the first alone."""
        changes = {"judge": "", "protocol": "longmemeval-typed", "limit": 5}
        assert len(summary(locked(tmp_path, **changes)).why) == 2


class TestSummary:
    def test_mode_retrieval_has_none(self, tmp_path):
        """Nothing was answered."""
        lock = locked(tmp_path, mode="retrieval", answer=None, judge="", protocol="practical")
        assert answering_summary(lock, (), Collected()) is None

    def test_it_names_who_answered_and_judged_as_they_were_served(self, tmp_path):
        """What was asked for, and what the provider said it was."""
        found = Collected()
        found.costs.take_call(call(served_model="gpt-4o-eu"))
        found.take_verdicts([verdict(1.0)])
        seen = summary(locked(tmp_path), found)
        assert (seen.reader, seen.served_readers) == (READER, ("gpt-4o-eu",))
        assert (seen.judge, seen.served_judges) == (REFERENCE, ("judge-1",))

    def test_context_is_what_a_reader_was_shown(self, tmp_path):
        """Median and 95th percentile; unknown where nobody counted."""
        found = Collected(context_tokens=[100, 200, 300])
        seen = summary(locked(tmp_path), found)
        assert (seen.context_tokens_p50, seen.context_tokens_p95) == (200.0, 290.0)
        assert summary(locked(tmp_path), Collected(context_tokens=[0])).context_tokens_p50 is None

    def test_agreement_is_the_mean_over_questions_with_several_votes(self, tmp_path):
        """A single vote agrees with nobody."""
        found = Collected(grades=[grade(agreement=1.0), grade(agreement=0.5), grade()])
        assert summary(locked(tmp_path), found).judge_agreement == 0.75
        assert summary(locked(tmp_path), Collected(grades=[grade()])).judge_agreement is None

    def test_an_opponents_model_is_not_what_answered(self, tmp_path):
        """A memory that answers by itself has no reader, whoever opposes it."""
        answer = AnswerSpec(model="local/extractive")
        found = summary(locked(tmp_path, mode="native", answer=answer, naive=True))
        assert (found.reader, found.why) == ("", ())

    def test_an_agent_has_no_prompt_style_and_no_context_limit(self, tmp_path):
        """They are the reader's."""
        found = summary(locked(tmp_path, mode="agent"))
        assert (found.prompt, found.context_limit) == ("", 0)


class TestPublished:
    def test_the_runs_own_variant_alone(self, tmp_path):
        """S is set beside S."""
        rows = published_rows(locked(tmp_path))
        assert {(r.system, r.metric) for r in rows} >= {("Zep", "micro"), ("Zep", "macro")}
        oracle = published_rows(
            locked(tmp_path, data=data("longmemeval-oracle"), options={"variant": "oracle"})
        )
        assert not {r.system for r in rows} & {r.system for r in oracle}

    @pytest.mark.parametrize(
        "changes", [{"sample": True}, {"data": data("mine")}, {"mode": "retrieval"}]
    )
    def test_other_data_have_none(self, tmp_path, changes):
        """Nobody published anything on them."""
        assert published_rows(locked(tmp_path, **changes)) == ()

    def test_a_protocol_that_nobody_uses_has_none(self, tmp_path):
        """F1 is no accuracy."""
        changes = {"suite": "locomo", "data": data("locomo"), "options": {}}
        assert published_rows(locked(tmp_path, protocol="locomo-f1", **changes)) == ()
        assert published_rows(locked(tmp_path, protocol="locomo-judge", **changes)) != ()


class TestComplete:
    def test_a_question_that_no_judge_was_asked_about_is_open(self, tmp_path):
        """The run is incomplete, and says how many."""
        report = reported(tmp_path, grade(), *[ungraded(NO_VERDICT, question_id="q2")] * 3)
        assert not report.complete
        assert "3 questions without a judge's verdict" in report.incomplete
        assert report.questions.ungraded == {NO_VERDICT: 3}

    def test_so_is_one_with_too_few_valid_votes(self, tmp_path):
        """It is no wrong answer, and no reason to leave it out unseen."""
        lost = verdict(1.0, None, None, reason="1 of 3 votes was valid, expected 2")
        report = reported(tmp_path, *[grade()] * 3, ungraded(lost.reason), verdicts=[lost])
        assert report.incomplete == "1 question without a judge's verdict"
        assert report.value("accuracy").n == 3

    @pytest.mark.parametrize("why", [NO_VERDICT, f"{UNDECIDED}: 0 of 1 vote was valid"])
    def test_so_is_one_that_is_graded_in_all_but_what_a_judge_is_for(self, tmp_path, why):
        """A judge that failed on one metric leaves the others, and the run not whole."""
        waits = grade(missing={"answer_quality": why})
        assert reported(tmp_path, *[grade()] * 3, waits).incomplete == (
            "1 question without a judge's verdict"
        )
        assert reported(tmp_path, *[grade()] * 3, grade(missing={"x": "no facts"})).complete

    def test_what_a_protocol_leaves_out_is_not_open(self, tmp_path):
        """LoCoMo's category 5 has no verdict, and needs none."""
        changes = {"suite": "locomo", "protocol": "locomo-judge", "data": data("locomo")}
        grades = [grade(), grade(), grade(), ungraded("category 5 is left out")]
        assert reported(tmp_path, *grades, options={}, **changes).complete

    def test_without_a_judge_nothing_waits_for_one(self, tmp_path):
        """A rubric stays ungraded under typed graders."""
        changes = {"judge": "", "protocol": "longmemeval-typed"}
        grades = [grade(), grade(), grade(), ungraded("needs a judge: the gold is a rubric")]
        assert reported(tmp_path, *grades, **changes).complete

    def test_a_providers_fault_makes_it_incomplete(self, tmp_path):
        """It is never scored."""
        fault = ungraded("harness_error: no provider", outcome="harness_error")
        report = reported(tmp_path, *[grade()] * 3, fault)
        assert report.incomplete == "1 question failed by the rig or a model provider"


class TestLabels:
    def test_a_built_in_reader_is_named_and_not_called_comparable(self, tmp_path):
        """Nobody can mistake it for an LLM."""
        answer = AnswerSpec(model="local/extractive")
        labels = reported(tmp_path, grade(), answer=answer).labels
        assert "reader local/extractive: built in, no LLM; not comparable" in labels

    def test_another_judge_is_a_label(self, tmp_path):
        """The reference judge is none."""
        usual = reported(tmp_path, grade()).labels
        (label,) = set(reported(tmp_path, grade(), judge="gpt-4o-mini").labels) - set(usual)
        assert "judged by gpt-4o-mini" in label
        assert [text for text in usual if "judged" in text] == []

    def test_a_published_file_is_not_called_data_of_ones_own(self, tmp_path):
        """Each variant has a name of its own."""
        own = data("not the published LongMemEval")
        assert "own data: not the published LongMemEval (data.json)" in (
            reported(tmp_path, grade(), data=own).labels
        )

    @pytest.mark.parametrize("name", ["locomo", "longmemeval-m", "longitudinal-40"])
    def test_a_dataset_by_its_own_name_is_not(self, tmp_path, name):
        """Fetched or shipped, whole and unchanged."""
        labels = reported(tmp_path, grade(), data=data(name)).labels
        assert [label for label in labels if "own data" in label] == []

    @pytest.mark.parametrize("name", ["longitudinal-40, other distractors", "LENS 1"])
    def test_a_changed_dataset_is_data_of_ones_own(self, tmp_path, name):
        """Other distractors make another dataset."""
        labels = reported(tmp_path, grade(), data=data(name)).labels
        assert f"own data: {name} (data.json)" in labels

    @pytest.mark.parametrize(("mode", "bars"), [("reader", 11), ("agent", 0)])
    def test_ranks_are_counted_where_one_search_is_made(self, tmp_path, mode, bars):
        """An agent searches as it likes: its evidence has no rank, not a missing one."""
        assert len(reported(tmp_path, grade(rank=2), mode=mode).rank_histogram) == bars
