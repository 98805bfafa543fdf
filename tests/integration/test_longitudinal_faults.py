"""Memories that lie about their sources, or break the contract, under an agent: nothing crashes."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from support.llm_standin import LlmStandIn
from support.lying import lying
from support.model_fixtures import nobody, standin
from support.model_runs import GPT, Ran, answers
from support.scripted_agent import series_agent

__all__ = ["nobody", "standin"]

CHOSEN = {"suite": "longitudinal", "sample": True, "mode": "agent", "reader_model": GPT}
#: What each lie leaves of the grounding; the sound memory has 1.
LEFT = {
    "never-ingested": 0.0,
    "half": 0.5,
    "future": 0.0,
    "other-scope": 0.0,
    "turns": 0.0,
    "no-sources": 0.0,
}
BROKEN = {
    "nan": {"adapter_error"},
    "no-text": {"abstained"},
    "empty-refs": {"answered"},
    "huge-refs": {"adapter_error", "budget_exceeded"},
    "surplus": {"answered", "budget_exceeded"},
}


def one_fast(names: Iterable[str], fast: str) -> list[object]:
    """All of them as parameters; but for one, they wait for the long lane."""
    return [pytest.param(n, marks=[] if n == fast else [pytest.mark.slow]) for n in names]


@pytest.fixture(autouse=True)
def agent(nobody: None, standin: LlmStandIn) -> LlmStandIn:
    """The scripted agent behind the stand-in."""
    standin.script = series_agent
    return standin


def run(folder: Path, lie: str = "", file: Path | None = None, pod: str = "process") -> Ran:
    """A run of the sample against a memory that lies so."""
    folder.mkdir(parents=True, exist_ok=True)
    ran = answers(folder / "run", adapter=str(lying(folder, lie, file)), **CHOSEN, pod=pod)
    assert ran.report.complete
    assert ran.report.questions.settled == 6
    return ran


def value(ran: Ran, metric: str) -> float:
    found = ran.report.value(metric).value
    assert found is not None
    return found


@pytest.fixture
def sound(tmp_path: Path) -> Ran:
    """The same memory, telling the truth."""
    return run(tmp_path / "sound", file=tmp_path / "ids")


def test_the_sound_memory_is_grounded(sound: Ran) -> None:
    """Without it, no fall would mean anything."""
    assert value(sound, "evidence_grounding") == 1
    # The agent reads figures line by line, and half of the sample's facts compare them in prose.
    assert value(sound, "fact_recall") > 0.3
    assert sound.report.composite is not None
    assert sound.report.composite.value > 0.5
    assert sound.report.claims.void == 0


@pytest.mark.parametrize("lie", one_fast(LEFT, "future"))
def test_a_claim_on_what_was_not_ingested_yet_is_void_and_grounding_falls(
    tmp_path: Path, sound: Ran, lie: str
) -> None:
    """Whether nobody ever sent it, or it is still to come, or belongs to another scope.

    The ids of what is to come are known to this memory from the sound run before it.
    """
    ran = run(tmp_path / lie, lie, tmp_path / "ids")
    assert value(ran, "evidence_grounding") == LEFT[lie] < value(sound, "evidence_grounding")
    assert value(ran, "evidence_coverage") <= value(sound, "evidence_coverage")
    if lie != "no-sources":
        assert ran.report.claims.void > 0
    assert ran.report.composite is not None
    assert sound.report.composite is not None
    assert ran.report.composite.value < sound.report.composite.value
    assert (ran.report.composite.value == 0) == (LEFT[lie] < 0.5)


def test_what_is_to_come_was_claimed_by_its_true_id(tmp_path: Path, sound: Ran) -> None:
    """The memory that guesses the future does know it; that is what the rig must not honour."""
    known = (tmp_path / "ids").read_text().split()
    ran = run(tmp_path / "future", "future", tmp_path / "ids")
    assert len(set(known)) == sound.report.ingest.episodes
    hits = [hit for record in ran.questions() for s in record.searches for hit in s.hits]
    assert hits
    assert {name for hit in hits for name in hit.episodes} == {None}


def test_the_same_hit_again_and_again_counts_once(tmp_path: Path, sound: Ran) -> None:
    """As one citation of one episode: it shows no more than it is."""
    ran = run(tmp_path / "duplicates", "duplicates")
    assert value(ran, "evidence_grounding") <= 1
    assert value(ran, "evidence_coverage") < value(sound, "evidence_coverage")
    assert value(ran, "insight_depth") < value(sound, "insight_depth")
    for record in ran.questions():
        assert record.answer is not None
        assert len(record.answer.memories) <= 2


def test_one_memory_that_claims_every_episode_earns_little(tmp_path: Path, sound: Ran) -> None:
    """Five of its sources count, whatever else it claims."""
    ran = run(tmp_path / "all", "one-claims-all")
    assert value(ran, "evidence_coverage") < value(sound, "evidence_coverage")


@pytest.mark.parametrize("lie", one_fast(BROKEN, "nan"))
def test_what_breaks_the_contract_is_an_outcome_and_no_crash(
    tmp_path: Path, sound: Ran, lie: str
) -> None:
    """The run is whole, and its composite no better than the sound one's."""
    ran = run(tmp_path / lie, lie)
    assert set(ran.report.questions.outcomes) <= BROKEN[lie]
    assert value(ran, "evidence_grounding") <= value(sound, "evidence_grounding")
    assert ran.report.composite is not None
    assert sound.report.composite is not None
    assert ran.report.composite.value <= sound.report.composite.value


@pytest.mark.slow
@pytest.mark.docker
def test_it_is_the_same_in_docker(tmp_path: Path) -> None:
    """A container's claims are taken on trust no more than a process's."""
    ran = run(tmp_path / "docker", "half", pod="docker")
    assert value(ran, "evidence_grounding") == 0.5
    assert ran.report.claims.void > 0
