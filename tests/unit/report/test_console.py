"""What the terminal shows of a run: it fits, it is plain where it must be, and it is inert."""

import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from memrig.report.console import (
    make_console,
    print_question,
    print_questions_table,
    print_report,
)
from memrig.report.model import Report
from memrig.runs.directory import RunDirectory
from memrig.stats.summary import MetricValue
from support.answer_reports import answered_report, hostile_answers
from support.places import placed_report
from support.reports import (
    HOSTILE,
    hostile_report,
    incomplete_report,
    sample_report,
    shallow_report,
    shown_question,
)

REPORTS = {
    "sample": sample_report,
    "incomplete": incomplete_report,
    "hostile": hostile_report,
    "answers": answered_report,
    "hostile answers": hostile_answers,
    "places": placed_report,
}


class Terminal(io.StringIO):
    """A file that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def printed(show: Callable[[Console], None], width: int = 80) -> str:
    console = make_console(file=io.StringIO())
    console.width = width
    show(console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def summary(report: Report, width: int = 80, directory: RunDirectory | None = None) -> str:
    return printed(lambda console: print_report(report, directory, console), width)


def row_of(text: str, name: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(name))


@pytest.fixture(params=REPORTS)
def report(request: pytest.FixtureRequest) -> Report:
    return REPORTS[request.param]()


class TestConsole:
    def test_no_colour_without_a_terminal(self, report: Report) -> None:
        """A summary in a file holds no escape sequence."""
        assert "\x1b" not in summary(report)

    def test_no_sequence_under_no_color(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """NO_COLOR turns colours and weights off, in a terminal too."""
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("NO_COLOR", "1")
        terminal = Terminal()
        print_report(incomplete_report(), console=make_console(file=terminal))
        assert "\x1b" not in terminal.getvalue()

    def test_colour_in_a_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The counter-check: a terminal gets them."""
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("NO_COLOR", raising=False)
        terminal = Terminal()
        print_report(incomplete_report(), console=make_console(file=terminal))
        assert "\x1b" in terminal.getvalue()

    def test_a_terminal_that_lacks_a_letter_gets_another(self) -> None:
        """An encoding without box lines or dashes breaks nothing off."""
        code = (
            "from support.reports import sample_report\n"
            "from memrig.report.console import print_report\n"
            "print_report(sample_report())\n"
        )
        tests = str(Path(__file__).parents[2])
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": tests, "PATH": "/usr/bin"},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert b"57.8" in done.stdout


class TestReport:
    @pytest.mark.parametrize("width", [80, 100, 120])
    def test_it_fits(self, report: Report, width: int) -> None:
        """No line is wider than the terminal."""
        assert max(len(line) for line in summary(report, width).splitlines()) <= width

    def test_eighty_columns_keep_every_group_whole(self) -> None:
        """In 80 columns a row is one line: group, n, and four headline metrics as percent."""
        text = summary(sample_report())
        assert row_of(text, "group") == ["group", "n", "R@1", "R@5", "R@10", "MRR"]
        assert row_of(text, "overall") == ["overall", "1,982", "26.5", "48.9", "57.8", "36.3"]
        assert row_of(text, "open-domain") == ["open-domain", "92", "10.9", "26.1", "33.7", "17.4"]

    def test_eighty_columns_keep_the_overall_interval(self) -> None:
        """Where there is no room, the interval of overall stands below its value."""
        lines = summary(sample_report()).splitlines()
        overall = next(n for n, line in enumerate(lines) if line.startswith("overall"))
        assert lines[overall + 1].split() == ["23.5–29.5", "45.9–51.9", "54.8–60.8", "33.3–39.3"]

    def test_a_wide_terminal_has_every_interval(self) -> None:
        """Where there is room, each value has its interval beside it."""
        row = " ".join(row_of(summary(sample_report(), 120), "temporal"))
        assert "59.4 [53.4, 65.4]" in row

    def test_more_metrics_than_fit_go_on_below(self) -> None:
        """A protocol with seven headline metrics gets two tables, and loses none."""
        names = tuple(dict.fromkeys(value.metric for value in sample_report().metrics))
        text = summary(sample_report(headline=names))
        rows = [line for line in text.splitlines() if line.startswith("group")]
        heads = [re.split(r"  +", row.strip())[2:] for row in rows]
        assert [len(head) for head in heads] == [4, 3]

    def test_what_goes_on_below_leaves_categories_to_the_page(self) -> None:
        """And says so: the same rows once more would push the first ones out of sight."""
        names = tuple(dict.fromkeys(value.metric for value in sample_report().metrics))
        text = summary(sample_report(headline=names))
        assert "categories are on the page" in text
        assert sum(line.startswith("temporal ") for line in text.splitlines()) == 1
        assert sum(line.startswith("macro ") for line in text.splitlines()) == 2

    def test_dimensions_that_no_table_has_are_named(self) -> None:
        """With their n: not every question has each."""
        own = MetricValue(
            suite="s", protocol="p", metric="temporal_awareness", group="overall", value=0.439,
            low=None, high=None, n=221, interval="none", kind="micro",
        )  # fmt: skip
        report = sample_report(metrics=(*sample_report().metrics, own))
        assert "dimensions  time 43.9 (n 221)" in summary(report)

    def test_it_says_how_fast_and_how_large(self) -> None:
        """Cost and speed stand beside every score."""
        text = summary(sample_report())
        for part in (
            "5,882 episodes, 9,321 episodes/s",
            "p50 0.91 ms, p95 1.55 ms",
            "start p50 412.0 ms",
            "teardown p50 233.0 ms",
            "memory system 212 MiB",
            "rig 187 MiB",
            "isolation passed",
        ):
            assert part in text

    def test_an_incomplete_run_says_so_at_the_top_and_in_its_table(self) -> None:
        """An incomplete run cannot be quoted by mistake."""
        lines = summary(incomplete_report()).splitlines()
        assert lines[1].startswith("! INCOMPLETE: 2 trials not finished")
        assert "percent, 95 % intervals (incomplete run, isolation audit failed)" in [
            line.strip() for line in lines
        ]

    def test_outcomes_other_than_answered_are_counted(self) -> None:
        """What went wrong is said beside what was settled."""
        text = " ".join(summary(incomplete_report()).split())
        assert "1,682 of 1,982 settled, 40 adapter_crashed, 2 harness_error, 10 timeout" in text

    def test_the_first_faults_are_shown_and_the_others_counted(self) -> None:
        """Five faults, and how many more."""
        text = summary(incomplete_report())
        assert text.count("fault in conv-") == 5
        assert "! and 2 more faults, in the report" in text

    def test_claims_are_silent_when_there_is_nothing_to_say(self) -> None:
        """A line of zeros is no news."""
        assert "claims" not in summary(sample_report())
        text = summary(incomplete_report())
        assert "12 void, 3 derived, 40 surplus, of 16,300 hits" in text

    def test_a_metric_that_was_not_measured_is_not_available(self) -> None:
        """It is named with the reason, instead of a column without a number."""
        text = summary(shallow_report())
        assert row_of(text, "group") == ["group", "n", "R@1", "R@5"]
        assert "R@10, MRR: n/a (too few hits were asked for)\n" in text

    def test_metrics_that_were_all_not_measured_are_named(self) -> None:
        """Not an empty table."""
        report = sample_report(headline=(*sample_report().headline, "odd@1", "odd@2"))
        assert "odd@1, odd@2: n/a" in summary(report)

    def test_labels_are_warnings(self) -> None:
        """What forbids comparison stands above the numbers."""
        lines = summary(incomplete_report()).splitlines()
        assert "! process pod: not isolated, not leaderboard-eligible" in lines[:6]

    def test_paths_are_never_wrapped(self, tmp_path: Path) -> None:
        """A path can be copied from a narrow terminal."""
        directory = RunDirectory(tmp_path / ("deep" * 30))
        text = summary(sample_report(), 80, directory)
        assert f"report     {directory.report_html}\n" in text
        assert f"memrig show {directory.root} QUESTION" in text

    def test_without_a_grade_it_still_reports(self) -> None:
        """A run in which nothing worked has a summary."""
        text = summary(sample_report(metrics=(), latencies=()))
        assert "No question was graded." in text
        assert "ingest" in text


class TestUntrusted:
    def test_no_control_or_direction_character_arrives(self) -> None:
        """An adapter cannot move the cursor, recolour, retitle or reorder."""
        report = hostile_report()
        text = summary(report)
        text += printed(lambda console: print_question(report.worst[0], console))
        text += printed(lambda console: print_questions_table(report, None, console))
        assert [c for c in text if c != "\n" and not c.isprintable()] == []
        assert "\x1b" in HOSTILE

    def test_mark_up_is_shown_not_obeyed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Brackets, links and emoji names stay what the adapter wrote."""
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("NO_COLOR", raising=False)
        terminal = Terminal()
        console = make_console(file=terminal)
        console.width = 200
        print_question(
            shown_question(text="[red]x[/red] [link=file:///etc]y[/link] :smile:"), console
        )
        assert "[red]x[/red] [link=file:///etc]y[/link] :smile:" in terminal.getvalue()
        assert "\x1b]8" not in terminal.getvalue()


class TestQuestion:
    def test_it_shows_what_was_asked_expected_and_found(self) -> None:
        """A question in full: text, answer, outcome, evidence, and hits marked in words."""
        text = printed(lambda console: print_question(shown_question(), console))
        assert "When did Caroline go" in text
        assert "the Sunday before 25 May 2023" in text
        assert "answered, evidence at rank 3, 1.23 ms" in text
        assert "expected  D4:7 Caroline: I went" in text
        assert row_of(text, "2 ")[1] == "superseded"
        assert row_of(text, "3 ")[1] == "evidence"

    def test_it_fits_eighty_columns(self) -> None:
        """No line is wider than the terminal, whatever the adapter sent."""
        text = printed(lambda console: print_question(hostile_report().worst[0], console))
        assert max(len(line) for line in text.splitlines()) <= 80

    def test_a_question_that_met_a_fault_says_which(self) -> None:
        """Outcome and message stand where the rank would."""
        question = incomplete_report().worst[0]
        text = " ".join(printed(lambda console: print_question(question, console)).split())
        assert "adapter_crashed(oom), evidence not retrieved" in text
        assert "killed for exceeding its memory limit" in text
        assert "Nothing was retrieved." in text

    def test_the_list_says_how_to_see_one(self) -> None:
        """The worst questions by id, and the command for one of them."""
        directory = RunDirectory(Path("runs/x"))
        text = printed(lambda c: print_questions_table(incomplete_report(), directory, c))
        assert row_of(text, "conv-26#q2")[:3] == ["conv-26#q2", "3", "When"]
        assert row_of(text, "temporal")[0] == "temporal"
        assert "memrig show runs/x ID" in text
        assert "(incomplete run)" in text

    def test_no_bad_question_is_good_news(self) -> None:
        """Without one, a sentence instead of an empty table."""
        text = printed(lambda c: print_questions_table(sample_report(worst=()), None, c))
        assert text == "Every graded question had its evidence at rank 1.\n"
