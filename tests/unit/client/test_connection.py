"""One adapter, called: deadlines, limits, statuses, and what comes back."""

import asyncio
import math
from datetime import UTC, datetime, timedelta, timezone

import grpc
import pytest

from memrig.client import Pseudonyms
from memrig.client.convert import capabilities_record, episode_message, hit_record, timestamp
from memrig.errors import (
    AdapterCrashedError,
    AdapterRpcError,
    AdapterTimeoutError,
    ContractError,
)
from memrig.model.scenario import Episode
from memrig.model.transcript import FilterFieldRecord, ToolRecord
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.fake_memory import Behaviour, FakeMemory


def ids() -> Pseudonyms:
    return Pseudonyms(1, "sha256:" + "0" * 64)


def declared(**changes: object) -> pb.CapabilitiesResponse:
    fields = {
        "name": "m",
        "version": "1",
        "contract_version": "1.0",
        "boot_id": "b",
        "search_modes": [pb.SEARCH_MODE_HYBRID],
        "max_results": 10,
    }
    return pb.CapabilitiesResponse(**fields | changes)


def test_what_answers_need_not_be_searchable():
    """Then it has no search modes, and no results to speak of (protocol §4.3)."""
    record = capabilities_record(declared(search_modes=[], max_results=0, supports_answer=True))
    assert record.search_modes == ()
    assert record.optional == ("answer",)


def test_the_handshake_keeps_what_was_declared():
    """Names, modes, filter fields, tools and optional parts."""
    record = capabilities_record(
        declared(
            supports_answer=True,
            questions_change_memory=True,
            filter_fields=[
                pb.FilterField(
                    name="place", type=pb.FILTER_TYPE_ENUM, enum_values=["a", "b"], description="d"
                )
            ],
            tools=[pb.Tool(name="recall_day", description="A day.", input_schema_json="{}")],
        )
    )
    assert record.search_modes == ("SEARCH_MODE_HYBRID",)
    assert record.optional == ("answer", "questions_change_memory")
    assert record.filter_fields == (
        FilterFieldRecord(name="place", type="enum", values=("a", "b"), description="d"),
    )
    assert record.tools == (ToolRecord(name="recall_day", description="A day.", input_schema="{}"),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "name is empty"),
        ({"boot_id": ""}, "boot_id is empty"),
        ({"search_modes": []}, "search_modes is empty, and supports_answer is false"),
        ({"search_modes": [pb.SEARCH_MODE_UNSPECIFIED]}, r"search_modes holds \[0\]"),
        ({"search_modes": [99]}, r"search_modes holds \[99\]"),
        ({"max_results": 0}, "max_results is 0"),
        ({"contract_version": "2.0"}, "contract_version is '2.0', expected 1.x"),
        ({"contract_version": ""}, "contract_version is '', expected 1.x"),
        ({"filter_fields": [pb.FilterField(name="x")]}, "filter field has no type"),
        ({"filter_fields": [pb.FilterField(name="x", type=77)]}, "filter field has no type"),
    ],
)
def test_the_handshake_refuses_nonsense(change, message):
    """Each defect is named."""
    with pytest.raises(ContractError, match=message):
        capabilities_record(declared(**change))


def test_the_handshake_names_every_defect_at_once():
    """A vendor mends them together."""
    with pytest.raises(ContractError, match="name is empty; max_results is 0"):
        capabilities_record(declared(name="", max_results=0))


@pytest.mark.parametrize("rpc_name", ["reset", "flush", "search"])
async def test_a_response_of_another_process_is_a_crash(rpc_name, connect):
    """A silent restart is seen at the next response, whichever it is."""
    memory = FakeMemory(Behaviour())
    client = await connect(memory)
    memory.boot_id = "boot-other"
    calls = {
        "reset": client.reset,
        "flush": lambda: client.flush("s"),
        "search": lambda: client.search("q", 3, ids()),
    }
    with pytest.raises(AdapterCrashedError, match=r"boot_id .* → 'boot-other'") as caught:
        await calls[rpc_name]()
    assert caught.value.kind == "exit"


async def test_a_response_without_a_boot_id_breaks_the_contract(connect):
    """Every response carries it."""
    memory = FakeMemory(Behaviour())
    client = await connect(memory)
    memory.boot_id = ""
    with pytest.raises(ContractError, match="has no boot_id"):
        await client.flush("s")


async def test_the_same_process_passes_the_check_and_another_does_not(connect):
    """Asked after a lost connection."""
    memory = FakeMemory(Behaviour())
    client = await connect(memory)
    await client.check_same_process("rpc=Search")
    memory.boot_id = "boot-other"
    with pytest.raises(AdapterCrashedError):
        await client.check_same_process("rpc=Search")


async def test_a_call_past_its_deadline_is_a_timeout(connect):
    """It carries the seconds and the call."""
    client = await connect(FakeMemory(Behaviour(search_delay_s={1: 5})), search=0.1)
    with pytest.raises(AdapterTimeoutError) as caught:
        await client.search("q", 3, ids())
    assert (caught.value.seconds, caught.value.where) == (0.1, "rpc=Search")


@pytest.mark.parametrize("code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.INVALID_ARGUMENT])
async def test_another_status_keeps_its_code_and_details(code, connect):
    """The rig concludes nothing from the status alone."""
    client = await connect(FakeMemory(Behaviour(search_status={1: code})))
    with pytest.raises(AdapterRpcError) as caught:
        await client.search("q", 3, ids())
    assert (caught.value.code, caught.value.details) == (code.name, "as told")


async def test_an_adapter_that_is_not_there_is_unavailable(connect, tmp_path):
    """Whether that is a crash is for the trial to find out."""
    client = await connect()
    await client._channel.close()
    stray = type(client)(f"unix:{tmp_path}/none.sock")
    async with stray:
        assert not await stray.serving()
        with pytest.raises(AdapterRpcError) as caught:
            await stray.flush("s")
    assert caught.value.code == "UNAVAILABLE"


async def test_an_adapter_that_never_serves_is_a_hang(connect):
    """A process that runs is not yet one that serves."""
    client = await connect()  # its server has no health service

    async def fine() -> None:
        return None

    with pytest.raises(AdapterCrashedError, match=r"not SERVING within 0\.1 s") as caught:
        await client.wait_ready(0.1, fine)
    assert caught.value.kind == "hang"


async def test_hits_beyond_the_limit_are_cut_and_counted(connect):
    """What was not asked for is not graded."""
    memory = FakeMemory(Behaviour(surplus=2))
    client, pseudonyms = await connect(memory), ids()
    items = [Episode(episode_id=f"e{n}", text="same words") for n in range(5)]
    async for _ in client.ingest(items, pseudonyms):
        pass
    record = await client.search("same", 2, pseudonyms)
    assert [hit.episodes for hit in record.hits] == [("e0",), ("e1",)]
    assert (record.limit, record.surplus_hits) == (2, 2)
    assert record.payload_bytes > 0


async def test_no_more_than_256_calls_are_in_flight(connect):
    """More of them get lost in the transport."""
    running = highest = 0
    release = asyncio.Event()

    async def count(memory: FakeMemory, number: int) -> None:
        nonlocal running, highest
        running += 1
        highest = max(highest, running)
        if running == 256:
            release.set()
        await release.wait()
        running -= 1

    client = await connect(FakeMemory(Behaviour(on_search=count)), search=20)
    searches = [client.search("q", 3, ids()) for _ in range(300)]
    await asyncio.gather(*searches)
    assert highest == 256


def test_a_void_claim_keeps_its_place():
    """It took a rank, and goes on taking it."""
    pseudonyms = ids()
    known = pseudonyms.episode("e1")
    pseudonyms.acknowledge(known)
    hit = pb.Hit(ref_id="r", text="t", score=1, source_episode_ids=["e_made-up", known])
    assert hit_record(hit, pseudonyms).episodes == (None, "e1")


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_breaks_the_contract(score):
    """It cannot be ranked by."""
    with pytest.raises(ContractError, match="must be finite"):
        hit_record(pb.Hit(ref_id="r", score=score), ids())


def test_an_episode_carries_its_content_and_no_label():
    """Everything on the wire is the episode's own; the id is opaque."""
    episode = Episode(
        episode_id="train-gold-17", text="hello", media_type="text/markdown", metadata={"k": "v"}
    )
    message = episode_message(episode, ids())
    assert (message.text, message.media_type, dict(message.metadata)) == (
        "hello",
        "text/markdown",
        {"k": "v"},
    )
    assert not message.HasField("timestamp")
    assert b"train-gold-17" not in message.SerializeToString()


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2024, 3, 5, 17),  # noqa: DTZ001 - what the rule is about
        datetime(2024, 3, 5, 17, tzinfo=UTC),
        datetime(2024, 3, 5, 19, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_times_travel_in_utc(moment):
    """A time without a zone is taken as UTC."""
    assert timestamp(moment).ToJsonString() == "2024-03-05T17:00:00Z"
