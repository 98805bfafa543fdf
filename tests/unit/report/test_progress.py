"""Progress: right counts, plain lines without a terminal, and next to no cost."""

import time
from pathlib import Path

import pytest

from memrig.errors import InfrastructureError
from memrig.report.progress import Download, RunDisplay, Tally, is_live
from memrig.suites.datasets import DATASETS
from support.reports import HOSTILE
from support.shown import finish, shown_plan
from support.terminals import Clock, Terminal, outcome, plain, progress, terminal

__all__ = ["terminal"]


class TestTally:
    def test_counts_questions_and_episodes_as_they_come(self, tmp_path: Path) -> None:
        """Counts in progress are since the trial's start; the tally adds what is new."""
        plan = shown_plan(tmp_path / "run")
        tally = Tally()
        tally.plan(plan)
        for questions in (0, 1, 2):
            tally.note(progress(plan.specs[0], questions))
        assert (tally.questions_done, tally.episodes, tally.asked) == (2, 4, 2)
        assert (tally.questions, tally.trials) == (8, 2)

    def test_finished_trials_of_an_earlier_command_count_as_done(self, tmp_path: Path) -> None:
        """A resumed run starts where it stopped, and its rate counts only what it asked."""
        plan = shown_plan(tmp_path / "run", finished=1)
        tally = Tally()
        tally.plan(plan)
        assert (tally.trials_done, tally.questions_done, tally.asked) == (1, 4, 0)

    def test_a_finished_trial_has_settled_all_its_questions(self, tmp_path: Path) -> None:
        """Whatever progress was seen, the end settles the count."""
        plan = shown_plan(tmp_path / "run")
        tally = Tally()
        tally.plan(plan)
        tally.note(progress(plan.specs[0], 3))
        tally.end(plan.specs[0], failed=False)
        assert (tally.trials_done, tally.questions_done) == (1, 4)

    def test_a_failed_trial_gives_its_questions_back(self, tmp_path: Path) -> None:
        """What was asked in a trial that did not end is not done."""
        plan = shown_plan(tmp_path / "run")
        tally = Tally()
        tally.plan(plan)
        tally.note(progress(plan.specs[0], 3))
        tally.end(plan.specs[0], failed=True)
        assert (tally.trials_done, tally.failed, tally.questions_done) == (0, 1, 0)

    def test_an_attempt_that_starts_again_is_not_counted_twice(self, tmp_path: Path) -> None:
        """A retry counts from its start; the total follows it down."""
        plan = shown_plan(tmp_path / "run")
        tally = Tally()
        tally.plan(plan)
        tally.note(progress(plan.specs[0], 3))
        tally.note(progress(plan.specs[0], 1))
        assert tally.questions_done == 1

    def test_noting_is_cheap(self, tmp_path: Path) -> None:
        """A question's progress costs the measuring loop less than 5 µs."""
        spec = shown_plan(tmp_path / "run").specs[0]
        notes = [progress(spec, number) for number in range(2000)]
        tally = Tally(trials=1, questions=2000)
        spent = []
        for _ in range(7):
            began = time.perf_counter()
            for note in notes:
                tally.note(note)
            spent.append((time.perf_counter() - began) / len(notes))
        assert min(spent) < 5e-6


class TestPlainLines:
    def test_one_line_a_finished_trial(self, tmp_path: Path) -> None:
        """Without a terminal: which trial of how many, when, and what became of it."""
        console, file = plain()
        clock = Clock()
        plan = shown_plan(tmp_path / "run")
        with RunDisplay(console, clock) as display:
            display.planned(plan)
            clock.now += 2.5
            display.observer.finished(plan.specs[0], outcome(plan.specs[0], answered=4))
            clock.now += 1
            display.observer.finished(plan.specs[1], outcome(plan.specs[1], answered=3, timeout=1))
            clock.now += 60
        first, second = plan.specs
        assert file.getvalue().splitlines() == [
            f"[1/2]   2.50 s  {first.trial_id}  4 questions",
            f"[2/2]   3.50 s  {second.trial_id}  4 questions, 1 timeout",
            "2 of 2 trials, 8 of 8 questions, in 3.50 s",
        ]

    def test_a_failed_trial_says_why(self, tmp_path: Path) -> None:
        """A trial that could not be run is named at once, not only at the end."""
        console, file = plain()
        plan = shown_plan(tmp_path / "run")
        with RunDisplay(console, Clock()) as display:
            display.planned(plan)
            display.observer.failed(plan.specs[0], InfrastructureError("the engine is gone"))
        assert "failed: the engine is gone" in file.getvalue()
        assert file.getvalue().endswith(", 1 failed\n")

    def test_a_resumed_run_says_where_it_goes_on(self, tmp_path: Path) -> None:
        """How much an earlier command did."""
        console, file = plain()
        plan = shown_plan(tmp_path / "run", finished=1, resumed=True)
        with RunDisplay(console, Clock()) as display:
            display.planned(plan)
        assert f"Resuming {plan.directory.root}: 1 of 2 trials finished." in file.getvalue()

    def test_nothing_left_to_do_is_said(self, tmp_path: Path) -> None:
        """A repeated command on a whole run is not taken for a very fast one."""
        console, file = plain()
        plan = shown_plan(tmp_path / "run", finished=2, resumed=True)
        with RunDisplay(console, Clock()) as display:
            display.planned(plan)
        assert file.getvalue().endswith("2 of 2 trials, 8 of 8 questions, nothing left to do\n")

    def test_an_interrupted_run_says_how_far_it_came(self, tmp_path: Path) -> None:
        """Ctrl-C before the first trial's end is no finished run."""
        console, file = plain()
        clock = Clock()
        plan = shown_plan(tmp_path / "run")
        with pytest.raises(KeyboardInterrupt), RunDisplay(console, clock) as display:
            display.planned(plan)
            clock.now += 3
            raise KeyboardInterrupt
        assert file.getvalue() == "0 of 2 trials, 0 of 8 questions, in 3.00 s\n"

    def test_before_the_plan_only_messages_are_shown(self) -> None:
        """A refused configuration leaves no summary behind."""
        console, file = plain()
        with RunDisplay(console) as display:
            display.say("Building memrig/bm25")
        assert file.getvalue() == "Building memrig/bm25\n"

    def test_messages_are_inert(self) -> None:
        """A build log's escape sequences and mark-up stay text."""
        console, file = plain()
        with RunDisplay(console) as display:
            display.say(HOSTILE)
        assert "\x1b" not in file.getvalue()
        assert "[bold red]loud[/bold red]" in file.getvalue()

    def test_progress_prints_nothing(self, tmp_path: Path) -> None:
        """Questions make no lines."""
        console, file = plain()
        plan = shown_plan(tmp_path / "run")
        with RunDisplay(console) as display:
            display.planned(plan)
            display.observer.progress(progress(plan.specs[0], 1))
            assert file.getvalue() == ""


class TestLive:
    def test_a_terminal_gets_bars_and_they_go_away(
        self, tmp_path: Path, terminal: Terminal
    ) -> None:
        """Questions, trials, rate and scenario move while it runs; one line stays."""
        plan = shown_plan(tmp_path / "run")
        with RunDisplay(terminal.console()) as display:
            display.planned(plan)
            display.observer.progress(progress(plan.specs[0], 2))
            display.say("a message in between")
        text = terminal.text()
        assert "2/8" in text
        assert "0/2" in text
        assert "small-0" in text
        assert "a message in between" in text
        assert text.rstrip().endswith("s")
        assert "\x1b[2K" in text

    def test_a_terminal_is_not_told_of_each_trial(self, tmp_path: Path, terminal: Terminal) -> None:
        """Bars say it; only trials in which something went wrong leave a line."""
        plan = shown_plan(tmp_path / "run")
        with RunDisplay(terminal.console()) as display:
            display.planned(plan)
            display.observer.finished(plan.specs[0], outcome(plan.specs[0], answered=4))
            display.observer.finished(plan.specs[1], outcome(plan.specs[1], timeout=4))
        text = terminal.text()
        assert plan.specs[0].trial_id not in text
        assert f"{plan.specs[1].trial_id}  4 questions" in text

    @pytest.mark.parametrize("name", ["NO_COLOR", "CI"])
    def test_no_color_and_ci_get_plain_lines(
        self, name: str, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
    ) -> None:
        """A log of a CI job is not redrawn."""
        assert is_live(terminal.console())
        monkeypatch.setenv(name, "1")
        assert not is_live(terminal.console())
        terminal.text()

    def test_a_dumb_terminal_gets_plain_lines(
        self, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
    ) -> None:
        """Where the cursor cannot move, nothing tries to move it."""
        monkeypatch.setenv("TERM", "dumb")
        assert not is_live(terminal.console())
        terminal.text()


class TestDownload:
    def test_a_line_every_tenth_without_a_terminal(self) -> None:
        """Ten lines for a download, however many blocks it comes in."""
        console, file = plain()
        item = DATASETS["locomo"]
        with Download(item, console) as download:
            for done in [*range(0, item.size, item.size // 1000), item.size]:
                download.advance(done, item.size)
        lines = file.getvalue().splitlines()
        assert len(lines) == 11
        assert lines[5] == "locomo: 1.3 MiB of 2.7 MiB (50 %)"

    def test_a_bar_in_a_terminal(self, terminal: Terminal) -> None:
        """Bytes and speed move in place."""
        item = DATASETS["locomo"]
        with Download(item, terminal.console()) as download:
            download.advance(item.size // 2, item.size)
        assert "locomo" in terminal.text()


def test_a_finished_folder_is_what_the_tally_looks_for(tmp_path: Path) -> None:
    """The support's way of finishing a trial is the directory's."""
    plan = shown_plan(tmp_path / "run")
    assert plan.directory.finished(plan.specs[1]) is None
    finish(plan.directory, plan.specs[1])
    assert plan.directory.finished(plan.specs[1]) is not None
