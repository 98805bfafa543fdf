"""The reference adapters conform, served as a vendor's would be: in pods of their own.

The slow checks are asked in Docker: tests/integration/test_every_image.py.
"""

from pathlib import Path

import pytest

from memrig.conformance import ConformanceReport, run_conformance
from memrig.model.manifest import AdapterRef, load_manifest
from memrig.pod.process import ProcessProvider

IMAGES = Path(__file__).parents[2] / "images"


async def conformance(name: str) -> ConformanceReport:
    manifest = load_manifest(IMAGES / name / "adapter.toml")
    adapter = AdapterRef(
        name=manifest.name, version=manifest.version, pod="process", manifest=manifest
    )
    return await run_conformance(adapter, ProcessProvider())


def unmet(report: ConformanceReport) -> list[tuple[str, str]]:
    return [(r.id, r.message) for r in report.results if r.status in {"failed", "error"}]


def not_asked(report: ConformanceReport) -> set[str]:
    return {r.id for r in report.results if r.status == "not_applicable"}


#: Checks of what neither of them declares.
UNDECLARED = {
    "ingest.counts-honest",
    "filter.metadata",
    "answer.shape",
    "answer.empty-question-refused",
    "tools.call",
    "as-of.honoured",
}
#: bm25 has a tool, which needs arguments.
TOOLS = {"bm25": set(), "fts5": {"tools.unknown", "tools.arguments-refused"}}


@pytest.mark.parametrize("name", TOOLS)
async def test_a_reference_adapter_conforms(name):
    """All checks pass but those of what it does not declare."""
    report = await conformance(name)
    assert unmet(report) == []
    assert not_asked(report) == UNDECLARED | TOOLS[name]


async def test_a_memory_that_remembers_nothing_conforms():
    """It says so in its acknowledgements, is not asked to find anything, and finds nothing."""
    report = await conformance("none")
    assert unmet(report) == []
    assert "flush.all-findable" in not_asked(report)
    assert "ingest.counts-honest" not in not_asked(report)
    assert "concurrent.searches" not in not_asked(report)
