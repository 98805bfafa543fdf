"""The sidecar of images/cems before a stand-in for CEMS: over real HTTP, in this process."""

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memrig.model.manifest import load_manifest
from memrig_adapters import Duplicate, Episode, NotFound, Query, Rejected, SearchMode, Turn
from memrig_adapters.errors import status_of
from support.cems_standin import CemsStandIn, Fault

IMAGE = Path(__file__).parents[3] / "images" / "cems"
MODULES = ("cems_adapter", "cems_client", "cems_record")
MAY = datetime(2031, 5, 2, 14, 10, tzinfo=UTC)
BATCH, SEARCH = "/api/memory/add_batch", "/api/memory/search"


@pytest.fixture(scope="module")
def sidecar() -> Iterator[ModuleType]:
    """The image's own module, imported as in the image: from the folder it stands in."""
    sys.path.insert(0, str(IMAGE))
    try:
        yield importlib.import_module("cems_adapter")
    finally:
        sys.path.remove(str(IMAGE))
        for name in MODULES:
            sys.modules.pop(name, None)


@pytest.fixture
def cems() -> Iterator[CemsStandIn]:
    with CemsStandIn() as standin:
        yield standin


@pytest.fixture
async def adapter(
    sidecar: ModuleType, cems: CemsStandIn, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Any]:
    """Searches raw."""
    monkeypatch.setenv("MEMRIG_CEMS_URL", cems.url)
    made = sidecar.CemsAdapter()
    await made.start()
    yield made
    await made.close()


@pytest.fixture
async def production(
    sidecar: ModuleType, cems: CemsStandIn, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Any]:
    monkeypatch.setenv("MEMRIG_CEMS_URL", cems.url)
    monkeypatch.setenv("MEMRIG_CEMS_SEARCH", "production")
    made = sidecar.CemsAdapter()
    await made.start()
    yield made
    await made.close()


def episode(name: str, text: str, when: datetime | None = MAY) -> Episode:
    return Episode(name, text, when)


def talk(name: str, *said: str) -> Episode:
    turns = tuple(Turn(f"{name}-{n}", "Ann", text) for n, text in enumerate(said))
    return Episode(name, "\n".join(f"Ann: {text}" for text in said), MAY, turns)


async def ask(adapter: Any, text: str, limit: int = 10, mode: SearchMode | None = None) -> Any:
    return await adapter.search(Query(text, limit, mode))


async def test_dates_go_into_the_text_and_come_back_with_the_hit(
    adapter: Any, cems: CemsStandIn
) -> None:
    """CEMS drops a timestamp, so that none is sent to it."""
    assert await adapter.ingest_batch([episode("e1", "We moved to Bergen.")]) == [1]
    (sent,) = cems.bodies(BATCH)
    assert sent["memories"] == [
        {
            "content": "[2031-05-02 14:10]\nWe moved to Bergen.",
            "source_ref": "project:memrig:e1",
        }
    ]
    (hit,) = await ask(adapter, "Bergen")
    assert (hit.timestamp, hit.source_episode_ids) == (MAY, ("e1",))


async def test_the_same_text_twice_is_a_duplicate_that_keeps_its_source(
    adapter: Any, cems: CemsStandIn
) -> None:
    """CEMS gives the first one's id again; the second episode stays citable."""
    same = [episode("e1", "We moved to Bergen."), episode("e2", "We moved to Bergen.")]
    assert await adapter.ingest_batch(same) == [1, Duplicate()]
    assert len(cems.documents) == 1
    (hit,) = await ask(adapter, "Bergen")
    assert hit.source_episode_ids == ("e1", "e2")
    assert await adapter.flush() == 1


async def test_an_episode_that_is_known_is_not_sent_again(adapter: Any, cems: CemsStandIn) -> None:
    """By its id, in a later call and within one."""
    one = episode("e1", "We moved to Bergen.")
    assert await adapter.ingest_batch([one, one]) == [1, Duplicate()]
    assert await adapter.ingest_batch([one]) == [Duplicate()]
    assert [len(body["memories"]) for body in cems.bodies(BATCH)] == [1]


async def test_many_episodes_go_in_batches(adapter: Any, cems: CemsStandIn) -> None:
    """Each is one request, for which CEMS checks the key once."""
    told = [episode(f"e{n}", f"Fact number {n}.") for n in range(70)]
    assert await adapter.ingest_batch(told) == [1] * 70
    assert [len(body["memories"]) for body in cems.bodies(BATCH)] == [32, 32, 6]


async def test_a_hit_names_the_turns_that_its_chunk_covers(adapter: Any) -> None:
    """A chunk is a part of the episode, and claims no turn outside of it."""
    filler = "Nothing happened on this day that anyone would write down. " * 30
    await adapter.ingest_batch([talk("e1", "We moved to Bergen.", filler, filler, "A zebra came.")])
    (early,) = await ask(adapter, "Bergen")
    (late,) = await ask(adapter, "zebra")
    assert early.source_turn_ids[0] == "e1-0"
    assert "e1-3" not in early.source_turn_ids
    assert late.source_turn_ids[-1] == "e1-3"
    assert "e1-0" not in late.source_turn_ids
    assert "zebra" in late.text
    assert len(late.text) < 3300


async def test_raw_is_asked_for_the_whole_limit(adapter: Any, cems: CemsStandIn) -> None:
    """As many hits as there are, in full, best first; what needs a language model is off."""
    told = [episode(f"e{n}", f"The cat slept {'well ' * n}here.") for n in range(20)]
    await adapter.ingest_batch(told)
    hits = await ask(adapter, "cat slept", limit=15)
    assert len(hits) == 15
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    (sent,) = cems.bodies(SEARCH)
    assert (sent["raw"], sent["limit"], sent["scope"]) == (True, 15, "personal")
    switches = ("enable_query_synthesis", "enable_hyde", "enable_decomposition")
    assert [sent[name] for name in switches] == [False] * 3
    assert "mode" not in sent


async def test_production_leaves_out_what_cems_leaves_out(
    production: Any, cems: CemsStandIn
) -> None:
    """Fewer hits than there are; a snippet is replaced by its document, its own turns first."""
    filler = "Nothing happened on this day that anyone would write down. " * 40
    await production.ingest_batch(
        [talk("e1", filler, "The zebra came to Bergen."), episode("e2", "A zebra elsewhere went.")]
    )
    hits = await ask(production, "zebra came to Bergen", mode=SearchMode.SEMANTIC)
    assert [hit.source_episode_ids for hit in hits] == [("e1",)]
    assert hits[0].text.endswith("The zebra came to Bergen.")
    assert hits[0].source_turn_ids == ("e1-0", "e1-1")
    (sent,) = cems.bodies(SEARCH)
    assert (sent["raw"], sent["mode"]) == (False, "vector")


def test_the_variant_is_told_apart() -> None:
    """It is what the manifest's variant says, and only that."""
    manifest = load_manifest(IMAGE / "adapter.toml")
    plain, shipped = manifest.image, manifest.as_variant("production").image
    assert plain.environment["MEMRIG_CEMS_SEARCH"] == "raw"
    assert shipped.environment == {**plain.environment, "MEMRIG_CEMS_SEARCH": "production"}


def test_the_pod_is_the_makers_images_without_their_keys() -> None:
    """Started in order, as other users than root, on loopback; the admin key is one for both."""
    manifest = load_manifest(IMAGE / "adapter.toml")
    assert manifest.start_order() == ("postgres", "server")
    server = manifest.services["server"]
    assert server.reference == "chocksy/cems-server:latest"
    assert manifest.services["postgres"].reference == "pgvector/pgvector:pg16"
    assert server.environment["CEMS_ENABLE_SCHEDULER"] == "false"
    assert server.environment["CEMS_LLAMACPP_EMBED_MODEL"] in manifest.models
    keys = {server.environment["CEMS_ADMIN_KEY"]}
    assert keys == {manifest.image.environment["MEMRIG_CEMS_ADMIN_KEY"]}


async def test_retrieve_gives_the_document_and_nobody_elses(
    adapter: Any, cems: CemsStandIn
) -> None:
    """CEMS shows any user's document to anyone who has its id; this memory does not."""
    await adapter.ingest_batch([talk("e1", "We moved to Bergen.", "It rains.")])
    (hit,) = await ask(adapter, "Bergen")
    document = await adapter.retrieve(hit.ref_id)
    assert document.text == "[2031-05-02 14:10]\nAnn: We moved to Bergen.\nAnn: It rains."
    assert document.source_turn_ids == ("e1-0", "e1-1")
    other, _ = cems.store.put("somebody else", {"content": "a secret"}, "general")
    for name in (other, "unknown"):
        with pytest.raises(NotFound):
            await adapter.retrieve(name)


async def test_forget_deletes_what_came_from_these_episodes_alone(
    adapter: Any, cems: CemsStandIn
) -> None:
    """A text that a second episode told stays until that one is forgotten too."""
    await adapter.ingest_batch([episode("e1", "Bergen."), episode("e2", "Bergen.")])
    assert await adapter.forget(["e1", "unknown", "e1"]) == 1
    (hit,) = await ask(adapter, "Bergen")
    assert hit.source_episode_ids == ("e2",)
    assert await adapter.forget(["e2"]) == 1
    assert cems.documents == []
    assert [body["hard_delete"] for body in cems.bodies("/api/memory/forget")] == [True]
    assert await adapter.ingest_batch([episode("e1", "Bergen.")]) == [1]


async def test_reset_makes_a_new_user_and_deletes_the_old_one(
    adapter: Any, cems: CemsStandIn
) -> None:
    """With all its documents; old names mean nothing any more."""
    await adapter.ingest_batch([episode("e1", "Bergen.")])
    (hit,) = await ask(adapter, "Bergen")
    (before,) = cems.store.users
    await adapter.reset()
    assert len(cems.store.users) == 1
    assert before not in cems.store.users
    assert (cems.documents, await ask(adapter, "Bergen"), await adapter.flush()) == ([], [], 0)
    with pytest.raises(NotFound):
        await adapter.retrieve(hit.ref_id)


async def test_a_cems_that_runs_on_is_left_as_it_was(
    sidecar: ModuleType, cems: CemsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user goes with the adapter."""
    monkeypatch.setenv("MEMRIG_CEMS_URL", cems.url)
    adapter = sidecar.CemsAdapter()
    await adapter.start()
    await adapter.ingest_batch([episode("e1", "Bergen.")])
    await adapter.close()
    assert (cems.store.users, cems.documents) == ({}, [])


async def test_characters_that_postgresql_cannot_hold_are_replaced(adapter: Any) -> None:
    """In what is stored and in what is asked; the turns stay where they are."""
    await adapter.ingest_batch([talk("e1", "nul\x00nul Bergen", "It rains.")])
    (hit,) = await ask(adapter, "Bergen \x00")
    assert "\x00" not in hit.text
    assert hit.source_turn_ids == ("e1-0", "e1-1")


async def test_a_document_of_unknown_origin_is_shown_without_a_source(
    adapter: Any, cems: CemsStandIn
) -> None:
    """Nothing is guessed, and nothing is hidden."""
    (user,) = cems.store.users
    cems.store.put(user, {"content": "A zebra of nobody."}, "general")
    (hit,) = await ask(adapter, "zebra")
    assert (hit.text, hit.source_episode_ids) == ("A zebra of nobody.", ())


async def test_start_waits_for_a_server_that_is_not_healthy_yet(
    sidecar: ModuleType, cems: CemsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 is waited for."""
    monkeypatch.setenv("MEMRIG_CEMS_URL", cems.url)
    cems.healthy = False
    starting = asyncio.create_task(sidecar.CemsAdapter().start())
    await asyncio.sleep(0.15)
    assert not starting.done()
    cems.healthy = True
    await asyncio.wait_for(starting, 5)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MEMRIG_CEMS_ADMIN_KEY", "wrong", "status 403: Invalid admin key"),
        ("MEMRIG_CEMS_SEARCH", "fast", "expected raw or production"),
        ("MEMRIG_CEMS_URL", "https://a/b", "expected http://host:port"),
    ],
)
async def test_a_setting_that_cannot_be_ends_the_start(
    sidecar: ModuleType,
    cems: CemsStandIn,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    message: str,
) -> None:
    """With its value, or with what CEMS said of it."""
    monkeypatch.setenv("MEMRIG_CEMS_URL", cems.url)
    monkeypatch.setenv(name, value)
    with pytest.raises(Exception, match=message):
        await sidecar.CemsAdapter().start()


@pytest.mark.parametrize(
    ("fault", "status", "message"),
    [
        (Fault(error_event=True), "INTERNAL", "status 200, and in its reply: embedding failed"),
        (Fault(status=503), "INTERNAL", "status 503"),
        (Fault(status=500), "INTERNAL", "status 500"),
        (Fault(status=507), "RESOURCE_EXHAUSTED", "status 507"),
        (Fault(lost=1), "INTERNAL", "1 ids for 2 documents"),
        (Fault(cut=True), "INTERNAL", "ended"),
        (Fault(body="<html>"), "INTERNAL", "no JSON object"),
        (Fault(body='{"success": false}'), "INTERNAL", "success is false"),
    ],
)
async def test_a_failed_ingest_is_an_error_whatever_its_status_says(
    adapter: Any, cems: CemsStandIn, fault: Fault, status: str, message: str
) -> None:
    """Nothing is acknowledged; CEMS may be asked again, and takes it then."""
    told = [episode("e1", "Bergen."), episode("e2", "Oslo.")]
    cems.fail(BATCH, fault)
    with pytest.raises(Exception, match=message) as caught:
        await adapter.ingest_batch(told)
    assert status_of(caught.value)[0].name == status
    assert await adapter.ingest_batch(told) == [1, 1]
    assert len(await ask(adapter, "Bergen Oslo")) == 2


async def test_what_cems_will_not_have_is_rejected_alone(adapter: Any, cems: CemsStandIn) -> None:
    """A batch that it refuses is sent again one by one."""
    cems.fail(BATCH, Fault(status=400), Fault(), Fault(status=413))
    first, second = await adapter.ingest_batch([episode("e1", "Bergen."), episode("e2", "Oslo.")])
    assert first == 1
    assert isinstance(second, Rejected)
    assert "status 413" in str(second)
    assert await adapter.flush() == 1


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(status=503), "status 503"),
        (Fault(status=401), "status 401"),
        (Fault(body='{"success": true}'), "no results in the reply"),
        (Fault(body='{"results": [7]}'), "this is no result"),
        (
            Fault(body='{"results": [{"memory_id": "a", "content": "b", "score": NaN}]}'),
            "the score of a result is nan",
        ),
    ],
)
async def test_a_failed_search_is_an_error_and_no_empty_result(
    adapter: Any, cems: CemsStandIn, fault: Fault, message: str
) -> None:
    """The next one works."""
    await adapter.ingest_batch([episode("e1", "Bergen.")])
    cems.fail(SEARCH, fault)
    with pytest.raises(Exception, match=message) as caught:
        await ask(adapter, "Bergen")
    assert status_of(caught.value)[0].name == "INTERNAL"
    assert len(await ask(adapter, "Bergen")) == 1


async def test_documents_that_cems_lost_are_found_out_by_flush(
    adapter: Any, cems: CemsStandIn
) -> None:
    """What it gave an id for, it must hold."""
    await adapter.ingest_batch([episode("e1", "Bergen."), episode("e2", "Oslo.")])
    del cems.store.documents[cems.documents[0].id]
    with pytest.raises(Exception, match="holds 1 documents of 2"):
        await adapter.flush()


async def test_a_slow_server_is_given_up_at_the_deadline(adapter: Any, cems: CemsStandIn) -> None:
    """The connection is dropped at once, and the next call has one of its own."""
    await adapter.ingest_batch([episode("e1", "Bergen.")])
    cems.fail(SEARCH, Fault(delay_s=1.0))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(ask(adapter, "Bergen"), 0.05)
    assert len(await asyncio.wait_for(ask(adapter, "Bergen"), 0.9)) == 1


async def test_a_server_that_is_gone_is_named(adapter: Any, cems: CemsStandIn) -> None:
    """With the call that found nobody; the adapter can still be closed."""
    cems.close()
    with pytest.raises(Exception, match="POST /api/memory/search: no connection"):
        await ask(adapter, "Bergen")
