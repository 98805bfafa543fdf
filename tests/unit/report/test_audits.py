"""What audits come to: every cheat is caught by its audit, and honest memories pass."""

import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.report.audits import audits_summary
from memrig.report.build import build_report
from memrig.report.console import make_console, print_report
from memrig.report.html import render_html
from memrig.report.model import Report
from memrig.report.model_audits import AuditRow, AuditsSummary
from memrig.suites.spool import SpooledScenario
from memrig.trial.audits import Canary, plan_of
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.audited import (
    READ,
    Cached,
    CachedForGood,
    DiesOnItsTenthSearch,
    NewestOnly,
    Reader,
    Slow,
    Tabled,
    audit_plan,
    execute,
    obedient,
    row,
    steadfast,
    telling,
    told_scenario,
    verdicts,
)
from support.pages import Page
from support.reports import HOSTILE, SCRIPT, sample_report
from support.right_adapter import Memory
from support.wrong_adapters import KeepsAfterReset

PASSED = dict.fromkeys(("repeat", "canary", "poison", "reset", "rechunk"), "passed")


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder short enough for a socket's path."""
    with tempfile.TemporaryDirectory(prefix="mr") as folder:
        yield Path(folder)


async def test_a_memory_that_does_what_it_should_passes_them_all(root: Path) -> None:
    """And no label says anything of audits."""
    report = await execute(audit_plan(root / "run"))
    assert verdicts(report) == PASSED
    assert not [label for label in report.labels if "audits" in label]
    assert row(report, "canary").values["found"] == 4
    assert row(report, "canary").values["controls_found"] == 0


async def test_a_slow_memory_is_no_cache(root: Path) -> None:
    """It takes its time for the same question, too."""
    found = row(await execute(audit_plan(root / "run"), Slow), "repeat")
    assert (found.verdict, found.values["same"]) == ("passed", 6)
    assert found.values["ratio"] > 0.8


async def test_a_cache_is_caught_by_asking_again(root: Path) -> None:
    """The same question takes no time, the same in other words does."""
    report = await execute(audit_plan(root / "run"), Cached)
    assert verdicts(report) == PASSED | {"repeat": "failed"}
    assert "comes from a cache" in row(report, "repeat").detail
    assert "audits failed: repeat" in report.labels


async def test_a_memory_that_resets_nothing_is_caught(root: Path) -> None:
    """By what it still finds."""
    found = row(await execute(audit_plan(root / "run"), KeepsAfterReset), "reset")
    assert found.verdict == "failed"
    assert found.values["leaks"] == found.values["asked"] == 20


async def test_a_cache_that_outlives_reset_is_caught(root: Path) -> None:
    """Though the memory below it is empty."""
    report = await execute(audit_plan(root / "run"), CachedForGood)
    assert row(report, "reset").verdict == "failed"


async def test_a_table_of_answers_is_caught_thrice(root: Path) -> None:
    """It knows no other words, no facts of this run, and no other chunks."""
    report = await execute(audit_plan(root / "run"), Tabled)
    failed = {audit for audit, verdict in verdicts(report).items() if verdict == "failed"}
    assert failed == {"repeat", "canary", "rechunk"}
    assert row(report, "canary").values["questions_found"] == 6


async def test_poison_that_takes_the_place_of_evidence_is_counted(root: Path) -> None:
    """A memory that returns it instead of what was asked for fails."""
    found = row(await execute(audit_plan(root / "run"), NewestOnly), "poison")
    assert (found.verdict, found.values["displaced"], found.values["found"]) == ("failed", 3, 3)


@pytest.mark.parametrize(
    ("say", "verdict", "carried", "obeyed"),
    [(obedient, "failed", 3, 3), (telling, "passed", 3, 0), (steadfast, "passed", 0, 0)],
)
async def test_a_reader_that_obeys_a_memory_fails(
    root: Path, say: object, verdict: str, carried: int, obeyed: int
) -> None:
    """To tell of the instruction is not to follow it."""
    reader = Reader(say)  # type: ignore[arg-type]
    found = row(await execute(audit_plan(root / "run", **READ), reader=reader), "poison")
    assert found.verdict == verdict
    assert (found.values["carried"], found.values["obeyed"]) == (carried, obeyed)


async def test_a_memory_that_knows_what_nobody_told_is_caught(root: Path) -> None:
    """A control's word can come from nowhere but a leak."""
    plan = audit_plan(root / "run")
    spec = next(spec for spec in plan.specs if spec.kind == "audits")
    scenario = SpooledScenario(plan.directory.scenarios, spec.scenarios[0])
    controls: tuple[Canary, ...] = plan_of(spec, scenario.events()).controls

    class Clairvoyant(Memory):
        def ranked(self, request: pb.SearchRequest) -> list[pb.Hit]:
            known = [c for c in controls if c.question == request.query]
            return [pb.Hit(ref_id="x", text=c.text, score=9) for c in known] or super().ranked(
                request
            )

    found = row(await execute(plan, Clairvoyant), "canary")
    assert (found.verdict, found.values["controls_found"]) == ("failed", 2)


class FindsNothing(Memory):
    """Stores, and never finds."""

    def hits(self, request: pb.SearchRequest) -> list[pb.Hit]:
        return []


async def test_of_a_memory_that_finds_nothing_nothing_is_proven(root: Path) -> None:
    """What is absent proves something only where it was present."""
    found = verdicts(await execute(audit_plan(root / "run"), FindsNothing))
    assert {audit for audit, verdict in found.items() if verdict == "n/a"} == {
        "canary", "poison", "reset", "rechunk",
    }  # fmt: skip


async def test_what_a_crash_left_out_says_why(root: Path) -> None:
    """N/a is no verdict without a reason."""
    report = await execute(audit_plan(root / "run"), DiesOnItsTenthSearch)
    found = row(report, "reset")
    assert found.verdict == "n/a"
    assert "ended by adapter_crashed" in found.detail
    assert any("audits-" in fault for fault in report.faults)


async def test_with_audits_nothing_else_of_a_report_changes(root: Path) -> None:
    """None of it counts in a score, in what went in, or in any latency."""
    with_ = await execute(audit_plan(root / "with"))
    without = await execute(audit_plan(root / "without", audits=False))
    assert without.audits is None
    for field in ("questions", "claims", "rank_histogram", "incomplete", "faults"):
        assert getattr(with_, field) == getattr(without, field)
    assert [(m.metric, m.group, m.value) for m in with_.metrics] == [
        (m.metric, m.group, m.value) for m in without.metrics
    ]
    assert with_.ingest.model_copy(update={"episodes_per_s": None}) == without.ingest.model_copy(
        update={"episodes_per_s": None}
    )
    counts = [{item.phase: item.n for item in report.latencies} for report in (with_, without)]
    assert counts[0] == counts[1]


async def test_the_figures_are_reckoned_anew_from_the_transcript(root: Path) -> None:
    """Grading again gives the same, to the last digit."""
    plan = audit_plan(root / "run")
    report = await execute(plan)
    assert build_report(plan.directory).audits == report.audits


async def test_several_scenarios_are_put_together(root: Path) -> None:
    """A trial each, until they hold eight questions."""
    scenarios = [told_scenario(f"told-{n}") for n in range(3)]
    report = await execute(audit_plan(root / "run", *scenarios))
    assert report.audits is not None
    assert report.audits.trials == 2
    assert row(report, "repeat").values["asked"] == 12
    assert verdicts(report) == PASSED


def test_a_run_without_audits_has_none(root: Path) -> None:
    """And no section says otherwise."""
    plan = audit_plan(root / "run", audits=False)
    assert audits_summary(plan.directory, []) is None
    assert '"audits"' not in render_html(sample_report())


def audited_report(detail: str = "3 of 4 found", verdict: str = "failed") -> Report:
    """A report with one audit."""
    found = AuditRow.model_validate(
        {"audit": "canary", "verdict": verdict, "detail": detail, "values": {"planted": 4}}
    )
    return sample_report(audits=AuditsSummary(trials=2, rows=(found,)))


def test_the_page_says_what_was_found_and_that_tables_stand_beside_a_failure() -> None:
    """In a section of its own, with a link to it, and in every caption."""
    page = Page(render_html(audited_report()))
    assert "audits" in [element.attributes.get("id") for element in page.all("section")]
    assert "#audits" in [element.attributes.get("href") for element in page.all("a")]
    html = render_html(audited_report())
    assert "3 of 4 found" in html
    assert all("audits failed" in part for part in html.split("<caption>")[1:])


def test_what_a_memory_says_is_escaped() -> None:
    """A fault's message is its own."""
    assert SCRIPT not in render_html(audited_report(f"ended by {HOSTILE}", "n/a"))


def test_the_terminal_has_a_line_an_audit() -> None:
    """With its verdict first."""
    console = make_console(file=io.StringIO())
    print_report(audited_report(f"3 of 4 found {HOSTILE}"), console=console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "planted facts  failed: 3 of 4 found" in text
    assert "\x1b]0;" not in text
