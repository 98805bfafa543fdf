"""The bridges conform, each with its own agent behind it, in pods of their own."""

from pathlib import Path

import pytest

from memrig.conformance import ConformanceReport, run_conformance
from memrig.model.manifest import AdapterRef, load_manifest
from memrig.pod.process import ProcessProvider

IMAGES = Path(__file__).parents[2] / "images"


async def conformance(name: str, *, slow: bool = False) -> ConformanceReport:
    manifest = load_manifest(IMAGES / name / "adapter.toml")
    adapter = AdapterRef(
        name=manifest.name, version=manifest.version, pod="process", manifest=manifest
    )
    return await run_conformance(adapter, ProcessProvider(), slow=slow)


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


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["http-bridge", "subprocess-bridge"])
async def test_a_bridge_conforms_to_the_slow_checks_too(name):
    """A process for each call takes a minute or more for all of them."""
    report = await conformance(name, slow=True)
    require_conforms(report)
    assert report.left_out == ()
