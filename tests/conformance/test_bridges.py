"""A bridge conforms, with its own agent behind it, as a process.

Both, and the slow checks, are asked in Docker: tests/integration/test_every_image.py.
"""

from pathlib import Path

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


def require_conforms(report: ConformanceReport) -> None:
    unmet = [(r.id, r.message) for r in report.results if r.status in {"failed", "error"}]
    assert unmet == []
    passed = {r.id for r in report.results if r.status == "passed"}
    assert passed >= {
        "flags.search",
        "flush.all-findable",
        "reset.empties",
        "answer.shape",
        "search.repeatable",
        "longitudinal.no-future",
        "deadline.tiny",
    }


async def test_the_http_bridge_conforms():
    """It is asked instead of searched; ranks, filters and sources do not apply."""
    require_conforms(await conformance("http-bridge"))
