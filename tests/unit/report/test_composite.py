"""The composite in the terminal and on the page."""

import io
import json

import pytest

from memrig.report.console import make_console, print_question, print_report
from memrig.report.html import render_html
from memrig.report.model import Report, ShownVerdict
from support.composite_reports import composite_report, scope_grades
from support.pages import Page
from support.reports import HOSTILE, sample_report, shown_question


def printed(report: Report, width: int = 80) -> str:
    console = make_console(file=io.StringIO())
    console.width = width
    print_report(report, None, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def paged(report: Report) -> str:
    return " ".join(Page(render_html(report)).text_of("main").split())


def row_of(text: str, name: str) -> list[str]:
    return next(line for line in text.splitlines() if name in line.lstrip()[:40]).split()


GATED = [*scope_grades("reef", 0.2), *scope_grades("mill", 0.4)]


class TestTerminal:
    @pytest.mark.parametrize("width", [80, 120])
    def test_it_fits(self, width):
        """With long names of scopes, too."""
        grades = [g for n in range(15) for g in scope_grades(f"a-scope-of-a-long-name-{n}" * 3)]
        lines = printed(composite_report(*grades), width).splitlines()
        assert max(map(len, lines)) <= width

    def test_each_metric_stands_with_tier_weight_value_and_interval(self):
        """In the order of the profile."""
        text = printed(composite_report())
        assert "composite lens-v1: " in text
        grounding = row_of(text, "evidence grounding")
        assert grounding[:5] == ["1", "evidence", "grounding", "0.10", "90.0"]
        *head, bounds, n = row_of(text, "longitudinal advantage")
        assert head[:5] == ["3", "longitudinal", "advantage", "0.15", "30.0"]
        assert head[5:] == ["-69.6", "to"]  # no dash beside a minus
        assert (bounds, n) == ("90.1", "4")

    def test_what_was_not_measured_says_so_and_why(self):
        """And how much weight is behind the number."""
        text = printed(composite_report())
        assert row_of(text, "answer quality")[-1] == "n/a"
        assert "answer quality, action quality: n/a (no judge was asked)" in text
        said = " ".join(text.split())
        missing = "80 % of the weight was measured, without answer quality, action quality"
        assert f"{missing}; compare only with runs that measured the same" in said

    def test_metrics_without_a_weight_stand_below_it(self):
        """What was retrieved, and the naive opponent."""
        grades = [
            grade.model_copy(update={"scores": grade.scores | {"evidence_retrieved": 0.75}})
            for grade in scope_grades("reef")
        ]
        text = printed(composite_report(*grades))
        assert row_of(text, "evidence retrieved")[:3] == ["evidence", "retrieved", "75.0"]
        assert row_of(text, "fact recall naive")[-1] == "n/a"
        assert "evidence retrieved" in paged(composite_report(*grades))

    def test_a_closed_gate_stands_beside_the_ungated_value(self):
        """0, why, and what it would have been."""
        report = composite_report(*GATED)
        said = " ".join(printed(report).split())
        assert "composite lens-v1: 0.0 %" in said
        ungated = f"{report.composite.ungated * 100:.1f}"
        assert f"evidence grounding 30.0 % is below 50.0 %; without it {ungated} %" in said

    def test_what_closed_a_gate_never_looks_like_enough(self):
        """Just below a half is told with more digits."""
        said = " ".join(printed(composite_report(*scope_grades("reef", 0.4999))).split())
        assert "evidence grounding 49.9900 % is below 50.0 %" in said

    def test_scopes_without_a_mean_say_why(self):
        """The control question of one has no facts."""
        one, control, decision = scope_grades("mill")
        lacking = {k: v for k, v in control.scores.items() if k != "fact_recall"}
        other = [one, control.model_copy(update={"scores": lacking}), decision]
        text = printed(composite_report(*scope_grades("reef"), *other))
        assert "no mean over scopes: not the same metrics were measured in all of them" in text

    def test_scopes_stand_by_themselves_with_their_mean(self):
        """Gates that closed in one are named there."""
        text = printed(composite_report(*scope_grades("reef"), *scope_grades("mill", 0.1)))
        assert row_of(text, "mill")[-3:] == ["0.0", "evidence", "grounding"]
        assert "mean over scopes" in text

    def test_an_incomplete_run_says_so_beside_its_number(self):
        """It is of the questions that are settled, not of the run."""
        said = printed(composite_report(complete=False, incomplete="6 questions not settled"))
        line = next(line for line in said.splitlines() if line.startswith("composite"))
        assert line.endswith("incomplete run")
        assert "incomplete" not in row_of(printed(composite_report()), "composite lens-v1")

    def test_one_scope_has_no_table_of_scopes(self):
        """It would say the same twice."""
        assert "by scope" not in printed(composite_report(*scope_grades("reef")))

    def test_a_metric_of_the_head_line_says_why_it_is_missing(self):
        """With the composite's own reason."""
        grades = [
            grade.model_copy(
                update={
                    "scores": {k: v for k, v in grade.scores.items() if k != "budget_compliance"},
                    "missing": grade.missing | {"budget_compliance": "not seen"},
                }
            )
            for grade in scope_grades("reef")
        ]
        text = printed(composite_report(*grades))
        assert "in budget: n/a (not seen)" in text
        assert "gate not applied: budget compliance was not measured" in text

    def test_other_protocols_have_none(self):
        """Nothing is said of it."""
        assert "composite" not in printed(sample_report())
        assert "omposite" not in render_html(sample_report())


class TestPage:
    def test_it_has_a_section_and_the_first_tile(self):
        """And a place in the contents."""
        page = render_html(composite_report())
        assert 'href="#composite"' in page
        assert page.index(">Composite<") < page.index("fact recall")

    def test_parts_and_scopes_are_told_as_in_the_terminal(self):
        """One wording for both."""
        text = paged(composite_report(*scope_grades("reef"), *scope_grades("mill", 0.1)))
        for part in ("evidence grounding", "no judge was asked", "reef", "mill", "t interval"):
            assert part in text
        assert "share of synthesis answers that cite two episodes or more" in text

    def test_a_closed_gate_is_an_alert(self):
        """Nobody reads 0 as a low score."""
        page = render_html(composite_report(*GATED))
        assert '<p class="alert">gate closed: evidence grounding 30.0 % is below 50.0 %' in page

    def test_a_scopes_name_is_text(self):
        """It comes from a data file."""
        page = render_html(composite_report(*scope_grades(HOSTILE), *scope_grades("b")))
        assert "<script" not in page
        assert "\x1b" not in printed(composite_report(*scope_grades(HOSTILE), *scope_grades("b")))


def test_several_verdicts_on_a_question_are_told_apart():
    """By what was asked; a single one needs no name."""

    def shown(*tasks: str) -> str:
        verdicts = tuple(ShownVerdict(task=t, score=0.5, reason="", votes=()) for t in tasks)
        console = make_console(file=io.StringIO())
        print_question(shown_question().model_copy(update={"verdicts": verdicts}), console)
        assert isinstance(console.file, io.StringIO)
        return " ".join(console.file.getvalue().split())

    assert "judge fact 1, candidate first: 0.50 of 1" in shown("fact 1, candidate first", "b")
    assert "judge 0.50 of 1" in shown("answer")


def test_the_report_holds_the_whole_composite():
    """As JSON, and read back the same."""
    report = composite_report()
    assert Report.model_validate_json(report.model_dump_json()) == report
    found = json.loads(report.model_dump_json())["composite"]
    assert found["profile"] == "lens-v1"
    assert [row["tier"] for row in found["rows"]] == [1, 1, 1, 1, 2, 2, 2, 3, 3]
