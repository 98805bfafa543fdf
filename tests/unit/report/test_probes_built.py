"""From a run of the operations suite to its report, and two of them compared."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.report.build import build_report
from memrig.report.compare import compare_runs
from memrig.report.compare_html import render_comparison
from memrig.report.compare_runs import load_run
from memrig.report.model import Report
from memrig.runs.executor import LocalExecutor, Observer, Services
from memrig.suites.operations.growth import growth
from support.fake_memory import FakeProvider
from support.plans import small_plan


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="mr") as name:
        yield Path(name)


async def grown(folder: Path, name: str) -> Report:
    plan = small_plan(folder / name, growth(42, 300, 4), suite="operations",
                      protocol="operations", grader="operations/2", top_k=10)  # fmt: skip
    await LocalExecutor(Services(FakeProvider(folder)), 1).execute(plan, Observer())
    return build_report(plan.directory)


async def test_a_run_of_the_suite_has_its_growth_in_the_report(folder):
    """Sizes, searches under load, and the recall of the questions asked at each."""
    report = await grown(folder, "one")
    assert report.complete
    assert report.probes is not None
    found = report.probes.growth
    assert found is not None
    assert [row.episodes for row in found.rows] == [100, 300]
    for row in found.rows:
        assert [(load.clients, load.errors) for load in row.loads] == [(1, 0), (8, 0)]
        assert row.recall is not None
        assert row.recall.n == 4
        assert row.episodes_per_s
    assert found.recall == "recall_any@10"
    assert found.latency.why == "not enough sizes: 2 of at least 3"


async def test_two_runs_of_the_suite_are_compared(folder):
    """By their questions, as runs of any other."""
    runs = [load_run(folder / name, await grown(folder, name)) for name in ("two", "three")]
    found = compare_runs(runs)
    assert {row.group for row in found.rows} >= {"overall", "growth-100", "growth-300"}
    assert {row.difference for row in found.rows} == {0}
    assert "growth-300" in render_comparison(found)
