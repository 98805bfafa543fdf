"""The line a question: what users of answer benchmarks know, while a run goes on."""

import pytest

from memrig.report.progress import RunDisplay
from memrig.report.score import Score, question_line
from memrig.runs.judge import Judged
from support.answer_reports import call, grade, judged, record, ungraded, verdict
from support.shown import shown_plan
from support.terminals import Clock, Terminal, outcome, plain, progress, terminal

__all__ = ["terminal"]

JUDGED = verdict(1.0, 1.0, score=1.0)


def line(item: Judged, score: Score | None = None, questions: int = 500) -> str:
    score = score or Score(done=41, graded=41, total=25.0)
    score.take(item)
    return question_line(item, score, questions).plain


class TestLine:
    def test_it_is_the_line_that_users_know(self):
        """Number, type, mark, times, running accuracy and cost."""
        score = Score(done=41, graded=41, total=25.0, usd=0.08)
        assert line(judged(1.0, JUDGED), score) == (
            "[ 42/500] temporal-reasoning ✓ (search 120 ms, answer 1.2 s, judge 0.8 s)"
            "  61.9 %  $0.12"
        )

    def test_without_a_judge_there_is_no_time_of_one(self):
        """Typed graders take none."""
        assert line(judged(1.0)).endswith("(search 120 ms, answer 1.2 s)  61.9 %  $0.0200")

    @pytest.mark.parametrize(
        ("score", "mark", "running"),
        [(1.0, "✓", "61.9"), (0.0, "✗", "59.5"), (0.25, "0.25", "60.1")],
    )
    def test_a_mark_says_how_it_went(self, score, mark, running):
        """Right, wrong, or the share of a partial score."""
        text = line(judged(score))
        assert f"temporal-reasoning {mark} (search" in text
        assert f"{running} %" in text

    def test_an_ungraded_question_says_why_and_changes_no_mean(self):
        """It is neither right nor wrong."""
        item = Judged(ungraded("needs a judge"), record(), (), None)
        text = line(item, Score(done=1, graded=1, total=1.0))
        assert text.startswith("[  2/500] temporal-reasoning – needs a judge (search")
        assert "100.0 %" in text

    def test_a_graded_question_without_that_score_says_why(self):
        """Its first metric could not be measured; others were."""
        lacking = grade(scores={"x": 1.0}, missing={"fact_recall": "no key facts", "y": "z"})
        text = line(Judged(lacking, record(), (), None), Score(done=1, graded=1, total=1.0))
        assert text.startswith("[  2/500] temporal-reasoning – no key facts (search")

    def test_before_the_first_grade_there_is_no_mean(self):
        """0 of 0 is not 0 %."""
        item = Judged(ungraded("needs a judge"), record(model_calls=(call(0.0),)), (), None)
        assert line(item, Score()) == (
            "[  1/500] temporal-reasoning – needs a judge (search 120 ms, answer 1.2 s)"
        )

    def test_an_adapters_fault_is_named(self):
        """And takes no time for an answer that was never made."""
        gone = record("adapter_crashed", "oom", answer=None, model_calls=(), memory_ns=0)
        text = line(Judged(grade(scores={"accuracy": 0.0}), gone, (), 0.0))
        assert text == "[ 42/500] temporal-reasoning ✗ adapter_crashed(oom)  59.5 %"

    def test_the_slowest_vote_is_what_judging_took(self):
        """Votes are asked for side by side."""
        assert "judge 0.9 s" in line(judged(1.0, verdict(1.0, 1.0, 1.0, score=1.0)))

    def test_a_memory_that_answers_by_itself_was_not_searched(self):
        """All that it took is its answer's time."""
        assert "✓ (answer 120 ms)" in line(judged(1.0, model_calls=()))

    def test_one_call_without_a_price_makes_the_cost_unknown(self):
        """For the rest of the run."""
        score = Score()
        line(judged(1.0, model_calls=(call(None),)), score)
        assert line(judged(1.0), score).endswith("100.0 %  cost unknown")

    def test_what_is_free_has_no_cost(self):
        """A built-in reader shows no dollars."""
        assert "$" not in line(judged(1.0, model_calls=(call(0.0),)))


def show(display: RunDisplay, plan, *items: Judged) -> None:
    """A trial of four questions, as an executor tells of it."""
    for item in items:
        display.observer.judged(item)
    display.observer.finished(plan.specs[0], outcome(plan.specs[0], answered=4))


class TestDisplay:
    def test_plain_lines_are_the_questions_alone(self, tmp_path):
        """A trial that was told by its questions has no line of its own."""
        console, file = plain()
        plan = shown_plan(tmp_path / "run", mode="reader")
        with RunDisplay(console, Clock()) as display:
            display.planned(plan)
            show(display, plan, judged(1.0), judged(0.0))
        assert file.getvalue().splitlines() == [
            "[1/8] temporal-reasoning ✓ (search 120 ms, answer 1.2 s)  100.0 %  $0.0200",
            "[2/8] temporal-reasoning ✗ (search 120 ms, answer 1.2 s)  50.0 %  $0.0400",
            "1 of 2 trials, 4 of 8 questions, in 0.00 s",
        ]

    def test_a_terminal_gets_them_above_its_bars(self, tmp_path, terminal: Terminal):
        """They stay, the bars go."""
        plan = shown_plan(tmp_path / "run", mode="reader")
        with RunDisplay(terminal.console()) as display:
            display.planned(plan)
            display.observer.progress(progress(plan.specs[0], 1))
            show(display, plan, judged(1.0))
        text = terminal.text()
        assert "[1/8] temporal-reasoning " in text
        assert "1/2" in text
        assert plan.specs[0].trial_id not in text

    def test_mode_retrieval_has_no_such_line(self, tmp_path):
        """Ranks are no answers."""
        console, file = plain()
        plan = shown_plan(tmp_path / "run")
        with RunDisplay(console, Clock()) as display:
            display.planned(plan)
            show(display, plan, judged(1.0))
        assert "temporal-reasoning" not in file.getvalue()
        assert plan.specs[0].trial_id in file.getvalue()

    def test_a_resumed_run_counts_on(self, tmp_path):
        """The first question of this command is not the run's first."""
        console, file = plain()
        plan = shown_plan(tmp_path / "run", finished=1, resumed=True, mode="reader")
        with RunDisplay(console, Clock()) as display:
            display.planned(plan)
            display.observer.judged(judged(1.0))
        assert "\n[5/8] temporal-reasoning ✓" in file.getvalue()

    def test_a_sealed_trial_that_waits_for_its_judge_is_not_done(self, tmp_path):
        """Otherwise it would count twice, once it is judged."""
        console, file = plain()
        changes = {"mode": "reader", "judge": "gpt-4o"}
        plan = shown_plan(tmp_path / "run", finished=2, resumed=True, **changes)
        verdicts = plan.directory.verdicts_of(plan.specs[1].trial_id)
        verdicts.parent.mkdir(parents=True, exist_ok=True)
        verdicts.write_text("")
        with RunDisplay(console, Clock()) as display:
            display.planned(plan)
            show(display, plan, *[judged(1.0)] * 4)
        assert f"Resuming {plan.directory.root}: 1 of 2 trials finished." in file.getvalue()
        assert "\n[8/8] temporal-reasoning ✓" in file.getvalue()
        assert file.getvalue().splitlines()[-1].startswith("2 of 2 trials, 8 of 8 questions")
