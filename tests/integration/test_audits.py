"""Audits of real processes: what cheats in one way is caught by the audit of that way alone."""

from pathlib import Path

import pytest

import memrig
from memrig import RunConfig
from memrig.suites.base import SuiteOptions, load_suite
from support.audited import verdicts
from support.cheating import baked_table, cheating
from support.command import ROOT

pytestmark = pytest.mark.slow

#: A suite whose questions no cheater could leave aside.
CHOSEN = {"suite": "practical", "limit": 20, "pod": "process", "audit": False, "audits": True}
PASSED = dict.fromkeys(("repeat", "canary", "poison", "reset", "rechunk"), "passed")


def audited(folder: Path, adapter: Path, **changes: object) -> memrig.Report:
    """The report of a run with audits."""
    fields = {**CHOSEN, "adapter": str(adapter), "out": folder / "run", **changes}
    return memrig.run(RunConfig.model_validate(fields))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a cheater learns of the published data."""
    options = SuiteOptions("practical", None, sample=False, category_labels="true")
    scenarios = list(load_suite("practical").scenarios(options))
    return baked_table(scenarios, tmp_path_factory.mktemp("table") / "table.json")


@pytest.mark.parametrize("image", ["bm25", "fts5"])
def test_an_honest_memory_passes(tmp_path: Path, image: str) -> None:
    """The reference images do what they should."""
    report = audited(tmp_path, ROOT / "images" / image)
    assert verdicts(report) == PASSED
    assert not [label for label in report.labels if "audits" in label]


def test_of_what_remembers_nothing_nothing_is_proven(tmp_path: Path) -> None:
    """It neither passes nor fails."""
    found = verdicts(audited(tmp_path, ROOT / "images" / "none"))
    assert {verdict for audit, verdict in found.items() if audit != "repeat"} == {"n/a"}


@pytest.mark.parametrize(
    ("cheat", "failed"),
    [("Cached", {"repeat"}), ("Kept", {"reset"}), ("Table", {"repeat", "canary", "rechunk"})],
)
def test_each_cheat_is_caught(tmp_path: Path, table: Path, cheat: str, failed: set[str]) -> None:
    """A cache, a Reset that is none, and answers that were brought along."""
    report = audited(tmp_path, cheating(tmp_path, cheat, table if cheat == "Table" else None))
    found = verdicts(report)
    assert {audit for audit, verdict in found.items() if verdict == "failed"} == failed
    assert [label for label in report.labels if label.startswith("audits failed")]


def test_a_table_scores_best_of_all(tmp_path: Path, table: Path) -> None:
    """Which is why scores alone are not believed."""
    report = audited(tmp_path, cheating(tmp_path, "Table", table), audits=False)
    assert report.value("recall_any@10").value == 1.0
    assert report.audits is None


def test_a_built_in_reader_answers_planted_facts_and_is_not_steered(tmp_path: Path) -> None:
    """It copies sentences: what is no model is not said to withstand anything."""
    report = audited(
        tmp_path, ROOT / "images" / "bm25", mode="reader", reader_model="local/extractive"
    )
    assert report.audits is not None
    rows = {row.audit: row for row in report.audits.rows}
    assert rows["canary"].values["answered"] == rows["canary"].values["planted"] == 8
    assert rows["poison"].verdict == "n/a"
    assert "copies sentences" in rows["poison"].detail
