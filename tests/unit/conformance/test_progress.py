"""What is said while the checks run."""

from memrig.conformance import Progress
from memrig.conformance.model import CheckResult, Status
from memrig.conformance.progress import EVERY_S


def result(status: Status, message: str = "") -> CheckResult:
    return CheckResult(
        id="search.scores", title="", reason="", spec="", status=status, message=message, seconds=0
    )


def test_a_check_that_does_not_pass_is_told_as_it_comes():
    """On one line, whatever the adapter's words hold; what passed or does not apply is not told."""
    said: list[str] = []
    progress = Progress(4, said.append, clock=lambda: 0.0)
    progress(result("passed"))
    progress(result("not_applicable", "it has no tools"))
    assert said == []
    progress(result("failed", "a score is\nnan \x1b[31m"))
    progress(result("error", "the check crashed"))
    assert said == [
        "failed: search.scores: a score is nan",
        "broke: search.scores: the check crashed",
    ]


def test_how_far_the_checks_are_is_told_now_and_then():
    """At most every 15 seconds, and not when they are done."""
    said: list[str] = []
    now = 0.0
    progress = Progress(5, said.append, clock=lambda: now)
    for seconds in (EVERY_S - 1, EVERY_S, 2 * EVERY_S - 1, 2 * EVERY_S, 9 * EVERY_S):
        now = seconds
        progress(result("passed"))
    assert said == ["2 of 5 checks", "4 of 5 checks"]
