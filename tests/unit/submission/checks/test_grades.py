"""Checks of the grades: what is claimed is what comes out again, to the last digit."""

import json
import math
from dataclasses import replace

import pytest

from memrig.submission.checks import grades
from memrig.submission.checks.grades import unlike
from support.evidence import found


def caught(check_id, evidence):
    return found(grades.GRADES_CHECKS, check_id, evidence)


def with_report(evidence, change):
    """The claimed report, with something changed in it."""
    report = json.loads(evidence.claimed_report)
    change(report)
    return replace(evidence, claimed_report=json.dumps(report).encode())


@pytest.mark.parametrize("check", grades.GRADES_CHECKS, ids=lambda check: check.id)
def test_an_honest_run_passes(check, good, answered):
    """Nothing is objected to where nothing is wrong."""
    assert list(check.find(good.grades)) == list(check.find(answered.grades)) == []


class TestGrades:
    def test_a_better_score_is_caught(self, good):
        """It names question, metric and both values."""
        first, *rest = good.grades.claimed_grades.splitlines(keepends=True)
        grade = json.loads(first)
        real = grade["scores"]["mrr"]
        grade["scores"]["mrr"] = 0.123456
        line = json.dumps(grade, sort_keys=True, separators=(",", ":")).encode() + b"\n"
        claimed = replace(good.grades, claimed_grades=b"".join([line, *rest]))
        (message,) = caught("grades.recomputed", claimed)
        assert (
            f"question {grade['question_id']}: scores.mrr: claimed 0.123456, is {real}" in message
        )

    def test_a_grade_left_out_or_added_is_caught(self, good):
        """Each line is one question."""
        lines = good.grades.claimed_grades.splitlines(keepends=True)
        less = replace(good.grades, claimed_grades=b"".join(lines[:-1]))
        assert "is missing" in " ".join(caught("grades.recomputed", less))
        more = replace(good.grades, claimed_grades=b"".join([*lines, lines[-1]]))
        assert "is one too many" in " ".join(caught("grades.recomputed", more))

    @pytest.mark.parametrize("text", [b"{", b"[" * 100_000, b'{"a":1,"a":2}', b"\xff", b"NaN"])
    def test_what_is_no_grade_is_caught_and_raises_nothing(self, good, text):
        """Cut off, too deep, ambiguous, no text, no number."""
        assert caught("grades.recomputed", replace(good.grades, claimed_grades=text + b"\n"))

    def test_the_same_values_written_otherwise_are_caught(self, good):
        """Grades are compared byte for byte."""
        spaced = good.grades.claimed_grades.replace(b'":', b'": ')
        (message, *_) = caught("grades.recomputed", replace(good.grades, claimed_grades=spaced))
        assert message.endswith("is written otherwise than the rig writes it")


class TestReport:
    def test_a_mean_that_is_off_in_its_last_digit_is_caught(self, good):
        """Numbers are equal to the last bit only."""

        def nudge(report):
            value = report["metrics"][0]["value"]
            report["metrics"][0]["value"] = math.nextafter(value, 2.0)

        (message,) = caught("report.recomputed", with_report(good.grades, nudge))
        assert "metrics[0].value: claimed " in message

    @pytest.mark.parametrize(
        "change",
        [
            lambda report: report.update(labels=[]),
            lambda report: report.update(complete=1),
            lambda report: report.update(extra="verified"),
            lambda report: report.pop("faults"),
            lambda report: report["adapter"].update(name="mem0"),
            lambda report: report["latencies"][0].update(p95_ms=0.001),
            lambda report: report["executions"].pop(),
        ],
    )
    def test_whatever_a_report_says_otherwise_is_caught(self, good, change):
        """Labels, latencies, names; members added and left out; 1 is not true."""
        assert caught("report.recomputed", with_report(good.grades, change))

    def test_only_its_values_count(self, good):
        """Spaces do not."""
        assert caught("report.recomputed", with_report(good.grades, lambda report: None)) == []

    @pytest.mark.parametrize("text", [b"", b"[" * 100_000, b'{"a":1,"a":2}', b"\xff", b"1e999"])
    def test_what_is_no_report_is_caught_and_raises_nothing(self, good, text):
        """Empty, too deep, ambiguous, no text, no number."""
        assert caught("report.recomputed", replace(good.grades, claimed_report=text))

    def test_a_member_is_shown_so_that_it_can_be(self):
        """A lone surrogate, a terminal's escape, a line break."""
        (text,) = unlike({"\ud800\x1b[31m\n": 1}, {})
        assert text == "'\\ud800\\x1b[31m\\n': added"

    def test_what_is_too_deep_is_compared_and_shown_whole(self):
        """Nothing raises, however deep a claim is."""
        deep: object = 1
        for _ in range(900):
            deep = [deep]
        assert list(unlike({"a": deep}, {"a": [2]})) != []

    def test_a_run_that_is_not_whole_is_caught(self, good):
        """Questions blamed on the rig are in no mean."""
        report = json.loads(good.grades.report)
        report.update(complete=False, incomplete="3 questions failed by the rig")
        built = replace(good.grades, report=json.dumps(report).encode())
        assert caught("grades.complete", built) == [
            "run run: report.json: the run is not whole: 3 questions failed by the rig"
        ]
