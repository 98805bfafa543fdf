"""What the terminal shows of answers: scores by tag, money, others' numbers, a question in full."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from memrig.gateway.prices import PriceTable
from memrig.judging.calibrate import Calibration, Changes, Confusion, Rate
from memrig.model.trial import AnswerSpec
from memrig.report.console import (
    make_console,
    print_calibration,
    print_plan,
    print_question,
    print_questions_table,
    print_report,
)
from memrig.report.model import Report, ShownNaive
from memrig.runs.forecast import forecast
from support.answer_reports import (
    ANSWERING,
    COSTS,
    GROUPS,
    accuracies,
    answered_question,
    answered_report,
    cost,
    row,
)
from support.reports import shown_question
from support.shown import shown_plan


def printed(show: Callable[[Console], None], width: int = 80) -> str:
    console = make_console(file=io.StringIO())
    console.width = width
    show(console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def summary(report: Report, width: int = 80) -> str:
    return printed(lambda console: print_report(report, None, console), width)


def question(**changes: object) -> str:
    return printed(lambda console: print_question(answered_question(**changes), console))


def row_of(text: str, name: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(name))


def lines_from(text: str, start: str, end: str = "") -> list[str]:
    """The lines from the one that begins so to the next that is `end`."""
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(start))
    return lines[first : lines.index(end, first)]


class TestScores:
    @pytest.mark.parametrize("width", [80, 100, 120])
    def test_it_fits(self, width):
        """No line is wider than the terminal, and none has blanks at its end."""
        lines = summary(answered_report(), width).splitlines()
        assert max(map(len, lines)) <= width
        assert [line for line in lines if line != line.rstrip()] == []

    def test_groups_stand_whole_overall_first_then_tags_then_categories(self):
        """The order of a summary; no name is broken in 80 columns."""
        shown = [line.split("  ")[0] for line in lines_from(summary(answered_report()), "overall")]
        assert [name for name in shown if name] == list(GROUPS)

    def test_tags_come_first_wherever_a_metric_has_them(self):
        """A tag that only a later metric has still stands before the categories."""
        values = [v for v in accuracies() if v.metric != "accuracy" or v.kind != "tag"]
        text = summary(answered_report(metrics=tuple(values)))
        assert text.index("without abstention") < text.index("knowledge-update")

    def test_what_a_tag_has_no_number_for_is_not_available(self):
        """There is nothing to retrieve where the answer is in no episode."""
        row = row_of(summary(answered_report()), "abstention")
        assert row == ["abstention", "30", "50.0", "n/a", "n/a", "n/a"]

    def test_who_answered_and_judged_is_said(self):
        """As asked for, as served, and how much was shown."""
        text = " ".join(summary(answered_report()).split())
        assert "reader gpt-4o-2024-08-06 served as gpt-4o-2024-08-06-eu (direct)" in text
        assert "judge gpt-4o-mini (votes agree 98.4 %)" in text
        assert "context p50 3,055 tokens, p95 4,575, limit 16,000 (estimated)" in text

    def test_an_agents_budget_is_said(self):
        """Beside its mode."""
        changes = {"budget": "standard", "prompt": "", "served_readers": ()}
        found = ANSWERING.model_copy(update=changes)
        text = " ".join(summary(answered_report(mode="agent", answering=found)).split())
        assert "reader gpt-4o-2024-08-06 (agent, budget standard)" in text


class TestCosts:
    def test_each_model_has_a_row_and_all_of_them_a_sum(self):
        """Calls, those made again, tokens, money."""
        rows = [line.split() for line in lines_from(summary(answered_report()), "phase")]
        assert rows[2][:3] == ["ingest", "memory", "gpt-4o-mini"]
        assert rows[2][3:] == ["100", "+2", "250,000", "9,000", "$0.0531"]
        assert rows[4][-4:] == ["500", "250,000", "9,000", "$0.0072"]
        whole = row_of(summary(answered_report()), "in all")
        assert whole == ["in", "all", "1,100", "+5", "750,000", "27,000", "$1.29"]

    def test_an_unknown_price_makes_the_sum_unknown(self):
        """Not smaller."""
        costs = (*COSTS, cost("judge", "judge", "mine", None))
        text = summary(answered_report(costs=costs))
        assert row_of(text, "in all")[-1] == "n/a"

    def test_a_single_row_has_no_sum(self):
        """It is one."""
        assert "in all" not in summary(answered_report(costs=COSTS[:1]))

    def test_no_model_no_table(self):
        """Mode retrieval with a memory that asks nobody."""
        assert "model calls" not in summary(answered_report(costs=()))


class TestPublished:
    def test_micro_and_macro_stand_apart(self):
        """One row a system; a mean that is not told apart is neither; this run comes last."""
        rows = [line.split() for line in lines_from(summary(answered_report()), "published")]
        assert rows[0] == ["published", "reader", "macro", "micro", "mean?", "as", "of"]
        assert rows[2] == ["Zep", "gpt-4o", "72.3", "70.4", "2025-01"]
        assert rows[3] == ["AgentOS", "gpt-4o", "85.6", "2026-11"]
        own = lines_from(summary(answered_report()), "bm25   ")[0].split()
        assert own == ["bm25", "gpt-4o-2024-08-…", "58.7", "62.0"]

    def test_columns_tell_which_mean_it_is(self):
        """The one of unknown kind stands below its own head."""
        lines = lines_from(summary(answered_report()), "published")
        ends = {name: lines[0].index(name) + len(name) for name in ("macro", "micro", "mean?")}
        assert lines[2][: ends["macro"]].endswith("72.3")
        assert lines[2][: ends["micro"]].endswith("70.4")
        assert lines[3][: ends["mean?"]].endswith("85.6")

    def test_two_measurements_of_one_system_keep_two_rows(self):
        """The second does not take the first one's place."""
        twice = (row("Paper", "unspecified", 0.657), row("Paper", "unspecified", 0.72))
        text = summary(answered_report(published=twice))
        assert re.findall(r"^Paper .*?(\d\d\.\d)", text, re.MULTILINE) == ["65.7", "72.0"]

    def test_more_than_eight_are_counted(self):
        """The others stand in the report."""
        many = tuple(row(f"System {n}", "micro", 0.5) for n in range(11))
        text = summary(answered_report(published=many))
        assert text.count("System ") == 8
        assert "and 3 more" in text

    def test_what_keeps_this_run_from_being_compared_stands_below(self):
        """Beside the table, where somebody would compare."""
        text = " ".join(summary(answered_report()).split())
        assert "! This run cannot be compared with them: ! judged by gpt-4o-mini" in text
        fine = ANSWERING.model_copy(update={"comparable": True, "why": ()})
        assert "compared" not in summary(answered_report(answering=fine))

    def test_every_table_of_an_incomplete_run_says_so(self):
        """Scores, calls, and the row between others'."""
        changes = {"complete": False, "incomplete": "1 question without a judge's verdict"}
        lines = summary(answered_report(**changes)).splitlines()
        heads = [line for line in lines if "(incomplete run)" in line]
        assert [head.partition(" ")[0] for head in heads] == ["percent,", "model", "accuracy"]

    def test_without_an_accuracy_there_is_nothing_to_set_beside(self):
        """Nothing was graded."""
        assert "published" not in summary(answered_report(metrics=()))


class TestQuestion:
    def test_it_shows_the_answer_beside_the_gold_and_how_it_was_graded(self):
        """What was right, what was said and how sure, and the grade."""
        text = " ".join(question().split())
        for part in (
            "asked 2023-06-01 09:30",
            "gold the Sunday before 25 May 2023",
            "answer On the first Monday of May. (confidence 0.80)",
            "grade wrong",
        ):
            assert part in text

    def test_it_shows_every_vote_and_what_the_judge_said(self):
        """The verdict, then votes, then words."""
        text = " ".join(question().split())
        assert "judge wrong (wrong, right, missing) No. · Yes, nearly. · the reply is no" in text

    def test_a_judge_that_came_to_nothing_says_why(self):
        """It is no wrong answer."""
        lost = (
            answered_question()
            .verdicts[0]
            .model_copy(update={"score": None, "reason": "1 of 3 votes was valid", "votes": ()})
        )
        text = " ".join(question(verdicts=(lost,), score=None, ungraded="no verdict").split())
        assert "judge no verdict: 1 of 3 votes was valid" in text
        assert "grade none: no verdict" in text

    def test_it_shows_what_is_cited_and_whether_that_is_evidence(self):
        """By handle, source and text; handles that nobody issued are counted."""
        text = " ".join(question().split())
        assert "cited m2 D1:3 In June." in text
        assert "cited m3 evidence D4:7 On Sunday." in text
        assert "cited and 1 handle that no memory has" in text

    def test_it_shows_an_agents_tool_calls(self):
        """Name, arguments, and what came of it."""
        text = " ".join(question().split())
        assert 'called memory_search {"query":"support group"}: 3 results: m1, m2, m3' in text
        assert 'called memory_retrieve {"handle":"m9"}: {"error":"there is no m9"}' in text

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            (("the cellar", "", 4, 4), "the cellar (shown all episodes)"),
            (("the cellar", "", 9, 4), "the cellar (shown the newest 4 of 9 episodes)"),
            (("", "", 2, 2), "(empty) (shown all episodes)"),
            (("", "rejected: too long", 9, 0), "none: rejected: too long"),
        ],
    )
    def test_its_opponents_answer_stands_below_it(self, fields, words):
        """With how much it was shown, or why there is none."""
        text, failure, episodes, seen = fields
        naive = ShownNaive(text=text, failure=failure, episodes=episodes, shown=seen)
        question = shown_question().model_copy(update={"naive": naive})
        told = " ".join(printed(lambda c: print_question(question, c)).split())
        assert f"naive {words}" in told

    def test_an_answer_of_the_reserved_turn_is_marked(self):
        """Its budget had run out."""
        assert "turn reserved for it" in " ".join(question(reserved_turn=True).split())

    def test_an_empty_answer_is_one(self):
        """An answer that says nothing is not the same as none."""
        assert "answer    (empty)" in question(answer="", confidence=None)
        text = question(answer=None, score=None)
        assert "answer " not in text
        assert "grade" not in text

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({}, "answered, evidence among the hits, 1.23 ms"),
            ({"rank": 3}, "answered, evidence at rank 3, 1.23 ms"),
            ({"hits": ()}, "answered, evidence not retrieved, 1.23 ms"),
            ({"hits": (), "evidence": ()}, "answered, 1.23 ms"),
        ],
    )
    def test_whether_the_evidence_was_found_is_never_guessed(self, changes, words):
        """An agent's searches have no rank; where there is no evidence, none is missing."""
        assert words in question(**changes)

    def test_a_scenario_named_like_its_question_is_named_once(self):
        """As in LongMemEval."""
        text = question(scenario_id="lm_0002", question_id="lm_0002")
        assert text.startswith("lm_0002 · temporal\n")


class TestWorst:
    def test_the_list_says_how_answers_did(self):
        """Grade and rank beside the question."""
        text = printed(lambda c: print_questions_table(answered_report(), None, c))
        rows = lines_from(text, "id ", "In full: memrig show RUN ID")
        assert rows[0].split() == ["id", "grade", "rank", "question"]
        assert rows[2].split()[:4] == ["conv-26#q1", "wrong", "-", "When"]
        assert rows[4].split()[:4] == ["conv-26#q2", "0.50", "1", "When"]

    def test_an_id_that_is_not_one_questions_alone_has_its_scenario_before_it(self):
        """Worlds count their questions alike."""
        shown = shown_question(scenario_id="world-42", question_id="q0042", score=0.0)
        text = printed(lambda c: print_questions_table(answered_report(worst=(shown,)), None, c))
        assert "\nworld-42#q0042 " in text

    def test_an_abstention_stands_before_its_question(self):
        """So does a fault."""
        shown = shown_question(outcome="abstained", score=0.0)
        text = printed(lambda c: print_questions_table(answered_report(worst=(shown,)), None, c))
        assert "abstained: When did Caroline" in text

    def test_nothing_wrong_is_said_of_answers(self):
        """Not of ranks."""
        text = printed(lambda c: print_questions_table(answered_report(worst=()), None, c))
        assert text == "Every graded question was answered right.\n"


def dry_run(folder: Path, **changes: object) -> str:
    fields: dict[str, object] = {
        "mode": "reader",
        "suite": "longmemeval",
        "protocol": "longmemeval-compatible",
        "answer": AnswerSpec(model="gpt-4o-2024-08-06"),
        "judge": "gpt-4o-mini",
    }
    plan = shown_plan(folder / "run", **(fields | changes))
    plan = replace(plan, forecast=forecast(plan.lock, PriceTable.load()))
    return printed(lambda console: print_plan(plan, console))


class TestForecast:
    def test_a_dry_run_says_what_models_will_be_asked_and_cost(self, tmp_path):
        """Ingest, search, answer and judge, and the sum of money."""
        text = dry_run(tmp_path)
        rows = [line.split() for line in lines_from(text, "expected")]
        assert [row[0] for row in rows[2:6]] == ["ingest", "search", "answer", "judge"]
        assert rows[4][1:3] == ["gpt-4o-2024-08-06", "8"]
        assert rows[5][1:3] == ["gpt-4o-mini", "8"]
        parts = [float(row[-1].removeprefix("$")) for row in rows[2:6]]
        assert sum(parts) == pytest.approx(float(row_of(text, "in all")[-1][1:]), abs=2e-4)
        assert parts[2] > parts[3] > 0

    def test_what_was_assumed_is_said_once(self, tmp_path):
        """For all phases of which it holds."""
        text = dry_run(tmp_path)
        assert text.count("it asked for no model") == 1
        assert "tokens of memories a question" in text

    def test_an_unknown_price_leaves_a_lower_bound(self, tmp_path):
        """The sum is at least the rest."""
        text = dry_run(tmp_path, answer=AnswerSpec(model="nobody-knows-1"))
        assert row_of(text, "answer")[-1] == "n/a"
        assert row_of(text, "in all")[-2] == "≥"

    def test_a_run_without_models_has_no_such_table(self, tmp_path):
        """Mode retrieval."""
        changes = {"mode": "retrieval", "answer": None, "judge": "", "protocol": "practical"}
        assert "expected" not in dry_run(tmp_path, **changes)


def calibration(**changes: object) -> Calibration:
    fields: dict[str, object] = {
        "protocol": "locomo-judge-strict",
        "grader": "locomo-judge-strict/1",
        "model": "gpt-4o-mini",
        "served_models": ("gpt-4o-mini-2024-07-18",),
        "labelled": 40,
        "left_out": 2,
        "ungraded": 1,
        "confusion": Confusion(
            true_positive=18, false_positive=3, true_negative=17, false_negative=1
        ),
        "kappa": 0.7949,
        "false_positives": {"vague": Rate(count=3, of=5), "off topic": Rate(count=0, of=15)},
        "false_negatives": {"paraphrase": Rate(count=1, of=19)},
        "agreement": 0.95,
        "position": Changes(compared=39, to_right=1, to_wrong=2),
        "verbosity": Changes(compared=39, to_right=4, to_wrong=0),
        "pairs": Changes(compared=0, to_right=0, to_wrong=0),
        "calls": 120,
        "input_tokens": 54_000,
        "output_tokens": 2_400,
        "cost_usd": 0.0095,
    }
    return Calibration.model_validate(fields | changes)


def calibrated(**changes: object) -> str:
    return printed(lambda console: print_calibration(calibration(**changes), console))


class TestCalibration:
    def test_it_says_how_right_and_how_steady_the_judge_is(self):
        """Accuracy with its interval, kappa, both kinds of error, both biases, the price."""
        text = " ".join(calibrated().split())
        for part in (
            "gpt-4o-mini · as judge of locomo-judge-strict · calibration",
            "items 40 labelled, 39 decided, 2 left out by the protocol, 1 without a verdict",
            "accuracy 89.7 % (35 of 39; 95 %: 76.4–95.9)",
            "kappa 0.795",
            "accepted though wrong 15.0 % (3 of 20",
            "refused though right 5.3 % (1 of 19",
            "order of the texts 7.7 % of 39 changed (1 to right, 2 to wrong)",
            "padded answers 10.3 % of 39 changed (4 to right, 0 to wrong)",
            "long against short n/a",
            "votes that agree 95.0 %",
            "cost 120 calls, 54,000 tokens in, 2,400 out, $0.0095",
        ):
            assert part in text

    def test_errors_stand_by_kind_of_answer(self):
        """A judge that falls for one kind is seen to."""
        text = calibrated()
        assert row_of(text, "vague") == ["vague", "wrong", "3", "5", "60.0"]
        assert row_of(text, "off topic") == ["off", "topic", "wrong", "0", "15", "0.0"]
        assert row_of(text, "paraphrase") == ["paraphrase", "right", "1", "19", "5.3"]

    def test_what_could_not_be_measured_is_not_available(self):
        """A set of one label has no kappa; a single vote agrees with nobody."""
        text = calibrated(kappa=None, agreement=None, cost_usd=None, served_models=())
        assert row_of(text, "kappa") == ["kappa", "n/a"]
        assert row_of(text, "served as") == ["served", "as", "n/a"]
        assert "votes that agree" not in text
        assert "2,400 out, n/a" in text

    def test_it_fits_eighty_columns(self):
        """And leaves no blanks at the ends of lines."""
        lines = calibrated().splitlines()
        assert max(map(len, lines)) <= 80
        assert [line for line in lines if line != line.rstrip()] == []
