"""What the terminal shows of a submission that was verified."""

import io

from memrig.report.console import Held, HeldRun, make_console, print_verification
from memrig.report.standing import Standing
from memrig.submission.model import CheckResult, Found, Verification
from support.reports import HOSTILE


def check(check_id: str, count: int = 0, skipped: str = "", severity: str = "error") -> CheckResult:
    """A check, with what it objects to."""
    return CheckResult.model_validate(
        {
            "id": check_id,
            "title": f"{check_id} holds",
            "reason": f"a cheat at {check_id}",
            "severity": severity,
            "count": count,
            "found": [Found(where=f"line {n}", message="is wrong") for n in range(min(count, 20))],
            "skipped": skipped,
        }
    )


def result(*checks: CheckResult, **changes: object) -> Verification:
    """A verification with these checks."""
    fields = {
        "archive": "mine.memrig",
        "manifest_digest": "sha256:" + "0f" * 32,
        "key": "ab" * 32,
        "memrig_version": "1.2.3",
        "division": "open",
        "tier": "recomputed",
        "checks": checks,
    }
    return Verification.model_validate(fields | changes)


def shown(found: Verification, held: Held | None = None, *, every: bool = False) -> str:
    """As 80 columns show it."""
    console = make_console(file=io.StringIO())
    console.width = 80
    print_verification(found, "0123-4567", held, every=every, console=console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


GOOD = result(check("cells.one"), check("chain.one"), check("cells.two"))
BAD = result(
    check("archive.one"),
    check("cells.one"),
    check("cells.two", count=1),
    check("cells.three", count=2, severity="warning"),
    check("grades.one", skipped="cells.two failed"),
    check("grades.two", skipped="cells.two failed"),
    tier="self-reported",
)


def rows(text: str) -> list[str]:
    """The lines of the table that begin with a mark."""
    marks = ("ok", "FAILED", "warning", "left out")
    return [" ".join(line.split()) for line in text.splitlines() if line.startswith(marks)]


def test_what_passed_is_summed_up_by_group():
    """However late the checks of a group were made."""
    assert rows(shown(GOOD)) == ["ok cells 2 checks", "ok chain 1 check"]


def test_a_good_one_says_what_was_shown():
    """The tier, in a word that docs/leaderboard.md explains."""
    assert shown(GOOD).endswith("Every number was made again (recomputed): 3 passed.\n")


def test_what_failed_says_where_and_what_could_be_cheated():
    """A warning too; what was left out says on what it stands."""
    text = shown(BAD)
    assert rows(text) == [
        "ok archive 1 check",
        "FAILED cells.two cells.two holds",
        "warning cells.three cells.three holds",
        "ok cells 1 check",
        "left out grades 2 checks: cells.two failed",
    ]
    assert "line 0: is wrong" in text
    assert "why: a cheat at cells.two" in text
    assert "1 failed, 1 warned, 2 left out, 2\npassed." in text


def test_what_was_left_out_for_one_reason_stands_on_one_line():
    """Behind everything that was made."""
    found = result(
        check("archive.one", count=1),
        check("parse.one", skipped="archive.one failed"),
        check("cells.one", skipped="archive.one failed"),
        check("cells.two", skipped="cells.one failed"),
        check("report.one"),
        tier="self-reported",
    )
    assert rows(shown(found)) == [
        "FAILED archive.one archive.one holds",
        "ok report 1 check",
        "left out 2 groups 2 checks: archive.one failed",
        "left out cells 1 check: cells.one failed",
    ]


def test_what_the_archive_holds_is_told():
    """Whose word a title is, which system it is, and what each run comes to."""
    runs = (
        HeldRun("a", "practical", Standing("recall_any@10", 0.674, 0.641, 0.707)),
        HeldRun("longhorizon", "longhorizon", Standing("mrr")),
        HeldRun("b", "locomo"),
    )
    text = shown(GOOD, Held("bm25 0.1.0", runs, "As shipped", "We"))
    assert "title      As shipped (the submitter's word)" in text
    assert "submitter  We (the submitter's word)" in text
    assert "system     bm25 0.1.0" in text
    assert "run        a: practical, R@10 67.4 % (64.1–70.7)" in text
    assert "run        longhorizon, MRR n/a" in text
    assert "run        b: locomo\n" in text


def test_of_many_objections_some_are_shown():
    """And all counted."""
    text = shown(result(check("cells.one", count=1234), tier="self-reported"))
    assert text.count("is wrong") == 5
    assert "and 1,229 more" in text


def test_each_check_can_be_asked_for():
    """With what holds where it passes."""
    assert rows(shown(BAD, every=True)) == [
        "ok archive.one archive.one holds",
        "ok cells.one cells.one holds",
        "FAILED cells.two cells.two holds",
        "warning cells.three cells.three holds",
        "left out grades.one grades.one holds (cells.two failed)",
        "left out grades.two grades.two holds (cells.two failed)",
    ]


def test_the_digest_stands_whole_on_one_line_and_all_lines_fit():
    """It is what a leaderboard's links are made of."""
    lines = shown(BAD).splitlines()
    assert f"manifest   {'0f' * 32}" in lines
    assert max(map(len, lines)) <= 80


def test_the_profile_and_what_differs_are_named():
    """An open division says why."""
    found = result(check("a.b"), profile="official-v1", differences=("practical: top_k: 10 → 20",))
    text = shown(found)
    assert "division   open, official-v1" in text
    assert "differs    practical: top_k: 10 → 20" in text


def test_text_of_an_archive_is_inert():
    """It may hold anything."""
    bad = check("a.b").model_copy(
        update={"count": 1, "found": (Found(where="x", message=HOSTILE),)}
    )
    held = Held(HOSTILE, (HeldRun(HOSTILE, HOSTILE),), HOSTILE, HOSTILE)
    text = shown(result(bad, archive=HOSTILE, differences=(HOSTILE,)), held)
    assert "\x1b" not in text
    assert "\u202e" not in text
