"""Baselines and given answers: memories that live in the rig itself."""

import asyncio
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


async def finds(percent: int, evidence: int, question_id: str = "q1") -> list[str]:
    """What a degraded oracle finds of so many pieces of evidence."""
    names = [f"e{n}" for n in range(evidence)]
    kind = next(kind for kind in BASELINES if kind.endswith(f"oracle-{percent}"))
    client = await filled(BaselineClient(kind), [Episode(episode_id=n, text=n) for n in names])
    known = Gold(question_id=question_id, category="c", evidence=tuple(names))
    return [hit.ref_id for hit in client.search("anything", 99, known).hits]


@pytest.mark.parametrize(
    ("percent", "evidence", "found"),
    [(75, 4, 3), (50, 4, 2), (25, 4, 1), (0, 4, 0), (75, 2, 2), (50, 3, 2), (25, 2, 1), (25, 3, 1)],
)
async def test_a_degraded_oracle_keeps_its_percentage_of_several_pieces(percent, evidence, found):
    """Rounded half up."""
    assert len(await finds(percent, evidence)) == found


@pytest.mark.parametrize("percent", [75, 50, 25, 0])
async def test_a_degraded_oracle_keeps_a_single_piece(percent):
    """It still looks things up; what it cannot do is accumulate."""
    assert await finds(percent, 1) == ["e0"]


@given(st.integers(2, 12), st.text(min_size=1, max_size=8))
def test_what_a_worse_oracle_finds_a_better_one_finds_too(evidence, question_id):
    """So that the series differs by the amount of evidence alone; the order stays the data's."""
    series = [asyncio.run(finds(percent, evidence, question_id)) for percent in (0, 25, 50, 75)]
    assert all(set(less) <= set(more) for less, more in pairwise(series))
    assert all(found == sorted(found, key=lambda name: int(name[1:])) for found in series)


async def test_which_pieces_are_kept_is_another_draw_for_each_question():
    """Or the first piece of evidence would always be the one that is found."""
    first = {(await finds(25, 4, f"q{n}"))[0] for n in range(40)}
    assert first == {"e0", "e1", "e2", "e3"}


async def test_what_a_baseline_returns_counts_as_bytes():
    """An agent's budget holds for it as for any memory; text and ref in UTF-8."""
    client = await filled(BaselineClient("full-context"), [Episode(episode_id="e1", text="ä")])
    assert client.search("anything", 10, None).payload_bytes == 4


async def test_a_baselines_episodes_can_be_retrieved():
    """A result that was cut may be read in full; what is not there is not."""
    client = await filled(BaselineClient("oracle"))
    assert "retrieve" in (await client.capabilities()).optional
    document = client.retrieve("e2")
    assert document is not None
    assert (document.hit.text, document.hit.episodes, document.payload_bytes) == (
        "note 2",
        ("e2",),
        8,
    )
    assert client.retrieve("e9") is None


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
    assert "answer" not in (await BaselineClient("oracle").capabilities()).optional


async def test_a_given_answer_is_passed_on_with_citations_and_confidence():
    """As a memory's own answer would be."""
    theirs = GivenAnswer(answer="in the attic", cited=("e1",), confidence=0.5)
    client = GivenClient("theirs.jsonl", {"q1": theirs})
    await filled(client)
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


async def test_a_given_citation_is_real_only_of_what_was_ingested_by_then():
    """Citing the future, or what there never was, is a void claim (scoring §4, grounding)."""
    client = GivenClient("x", {"q1": GivenAnswer(answer="yes", cited=("e1", "e3", "never"))})
    await filled(client, EPISODES[:2])
    assert client.answer(QUESTION).episodes == ("e1", None, None)
    await filled(client, EPISODES[2:])
    assert client.answer(QUESTION).episodes == ("e1", "e3", None)
