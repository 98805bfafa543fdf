"""Baselines and given answers: memories that live in the rig itself."""

from datetime import UTC, datetime

import pytest

from memrig.client import Pseudonyms
from memrig.client.host import BaselineClient, GivenClient, HostClient
from memrig.errors import AdapterRpcError, UsageError
from memrig.model.given import GivenAnswer
from memrig.model.gold import Gold
from memrig.model.manifest import BASELINES
from memrig.model.scenario import Episode, Question, Turn

IDS = Pseudonyms(7, "digest")
QUESTION = Question(question_id="q1", text="where is the kettle?")
EPISODES = [
    Episode(
        episode_id=f"e{n}",
        text=f"note {n}",
        timestamp=datetime(2024, 1, n, tzinfo=UTC),
        turns=(Turn(turn_id=f"e{n}t1", speaker="Ada", text=f"note {n}"),),
    )
    for n in (1, 2, 3)
]


def gold(*evidence: str, turns: tuple[str, ...] = ()) -> Gold:
    return Gold(question_id="q1", category="c", evidence=evidence, evidence_turns=turns)


async def filled(client: HostClient, episodes: list[Episode] = EPISODES) -> HostClient:
    async for _ in client.ingest(iter(episodes), IDS):
        pass
    return client


async def test_every_episode_is_acknowledged_in_order_and_in_batches():
    """As an adapter's would be; nothing is held back at the end."""
    episodes = [Episode(episode_id=f"e{n}", text="x") for n in range(600)]
    client = BaselineClient("full-context")
    batches = [acks async for acks in client.ingest(iter(episodes), IDS)]
    assert [len(acks) for acks in batches] == [256, 256, 88]
    assert [ack.episode_id for acks in batches for ack in acks] == [e.episode_id for e in episodes]
    assert (await client.flush("s")).total_items == 600


async def test_full_context_finds_everything_newest_first():
    """Whatever is asked, and without gold."""
    client = await filled(BaselineClient("full-context"))
    assert not client.needs_gold
    found = client.search("anything", 10, None)
    assert [hit.ref_id for hit in found.hits] == ["e3", "e2", "e1"]
    assert [hit.score for hit in found.hits] == sorted((h.score for h in found.hits), reverse=True)
    assert found.hits[0].timestamp == EPISODES[2].timestamp
    assert len(client.search("anything", 2, None).hits) == 2


async def test_newest_is_by_date_and_not_by_the_order_of_ingest():
    """Benchmarks ingest haystacks out of order; undated episodes stay behind the one before."""
    days = {"a": None, "b": 5, "c": None, "d": 2, "e": 5, "f": None, "g": 1}
    episodes = [
        Episode(
            episode_id=name,
            text=name,
            timestamp=datetime(2024, 1, day, tzinfo=None if name == "d" else UTC) if day else None,
        )
        for name, day in days.items()
    ]
    client = await filled(BaselineClient("full-context"), episodes)
    found = client.search("anything", 10, None)
    assert "".join(hit.ref_id for hit in found.hits) == "fecbdga"


async def test_the_oracle_finds_the_evidence_and_nothing_else():
    """Its turns only where they are marked as evidence."""
    client = await filled(BaselineClient("oracle"))
    assert client.needs_gold
    found = client.search("anything", 10, gold("e3", "e1", turns=("e1t1",)))
    assert [(hit.ref_id, hit.episodes, hit.turns) for hit in found.hits] == [
        ("e3", ("e3",), ()),
        ("e1", ("e1",), ("e1t1",)),
    ]


@pytest.mark.parametrize("known", [None, gold(), gold("e9")])
async def test_the_oracle_finds_nothing_where_there_is_no_evidence(known):
    """Nor what has not been ingested yet: it does not know the future."""
    client = await filled(BaselineClient("oracle"))
    assert client.search("anything", 10, known).hits == ()


@pytest.mark.parametrize("kind", BASELINES)
async def test_reset_empties_it(kind):
    """The next scenario does not see the one before."""
    client = await filled(BaselineClient(kind))
    await client.reset()
    assert client.search("anything", 10, gold("e1")).hits == ()


async def test_a_baseline_has_no_answer_of_its_own():
    """The user is told of a mode that fits."""
    with pytest.raises(UsageError, match="no answer of its own") as caught:
        BaselineClient("oracle").answer(QUESTION)
    assert "--mode reader" in caught.value.fix
    assert (await BaselineClient("oracle").capabilities()).optional == ()


async def test_a_given_answer_is_passed_on_with_citations_and_confidence():
    """As a memory's own answer would be."""
    given = GivenAnswer(answer="in the attic", cited=("e1",), confidence=0.5)
    client = GivenClient("theirs.jsonl", {"q1": given})
    answer = client.answer(QUESTION)
    assert (answer.answer, answer.abstained, answer.confidence) == ("in the attic", False, 0.5)
    assert answer.episodes == ("e1",)
    capabilities = await client.capabilities()
    assert (capabilities.name, capabilities.optional) == ("theirs.jsonl", ("answer",))


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_given_answer_abstains(text):
    """An empty text is no claim."""
    assert GivenClient("x", {"q1": GivenAnswer(answer=text)}).answer(QUESTION).abstained


def test_a_missing_answer_is_a_fault_by_its_own_name():
    """It scores 0 as NOT_FOUND, and is not taken for an abstention."""
    with pytest.raises(AdapterRpcError, match="no answer was given to 'q1'") as caught:
        GivenClient("x", {}).answer(QUESTION)
    assert caught.value.code == "NOT_FOUND"
