"""Health, the boot id, what is declared, and how a server begins and ends (protocol §1–4)."""

import threading
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from memrig_adapters import (
    Adapter,
    Capabilities,
    FilterField,
    FilterType,
    Hit,
    Query,
    SearchMode,
    tool,
)
from memrig_adapters.errors import AdapterBug
from memrig_adapters.none import NoneAdapter
from memrig_adapters.server import AdapterServer, AddressError
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as pb_grpc
from support.served import Serve
from support.toy_adapters import AsyncListAdapter, ListAdapter, OnlyAnswers

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.mark.parametrize("name", ["", "memrig.v1.MemoryAdapter"])
def test_health_serving(serve: Serve, name: str) -> None:
    """A started adapter is SERVING, for the server as a whole and for the service by its name."""
    served = serve(NoneAdapter())
    assert served.health.Check(health_pb2.HealthCheckRequest(service=name)).status == SERVING


def test_not_serving_before_start_returned(connect: Serve) -> None:
    """While start() runs, health answers NOT_SERVING and calls are UNAVAILABLE."""
    entered, go_on = threading.Event(), threading.Event()

    class Slow(NoneAdapter):
        def start(self) -> None:
            entered.set()
            go_on.wait(10)

    served = connect(Slow())
    starting = threading.Thread(target=served.server.start)
    starting.start()
    assert entered.wait(10)
    check = health_pb2.HealthCheckRequest(service="memrig.v1.MemoryAdapter")
    before = served.health.Check(check).status
    with pytest.raises(grpc.RpcError) as refused:
        served.stub.Flush(pb.FlushRequest())
    with pytest.raises(grpc.RpcError) as refused_stream:
        list(served.stub.Ingest(iter([pb.IngestRequest()])))
    go_on.set()
    starting.join(10)
    after = served.health.Check(check).status
    assert (before, after) == (NOT_SERVING, SERVING)
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    assert refused_stream.value.code() is grpc.StatusCode.UNAVAILABLE


def test_a_failed_start_never_serves(connect: Serve) -> None:
    """An exception of start() reaches whoever starts the server; health stays NOT_SERVING."""

    class Broken(NoneAdapter):
        def start(self) -> None:
            raise RuntimeError("no database")

    served = connect(Broken())
    with pytest.raises(RuntimeError, match="no database"):
        served.server.start()
    assert served.health.Check(health_pb2.HealthCheckRequest()).status == NOT_SERVING


def test_boot_id_is_one_per_start(serve: Serve) -> None:
    """Every response of one start carries the same boot id; another start has another."""
    first, second = serve(AsyncListAdapter()), serve(AsyncListAdapter())

    def ids(stub: pb_grpc.MemoryAdapterStub) -> set[str]:
        episodes = [pb.Episode(episode_id="e", text="hello")]
        return {
            stub.Capabilities(pb.CapabilitiesRequest()).boot_id,
            stub.Reset(pb.ResetRequest()).boot_id,
            *(r.boot_id for r in stub.Ingest(iter([pb.IngestRequest(episodes=episodes)]))),
            stub.Flush(pb.FlushRequest()).boot_id,
            stub.Search(pb.SearchRequest(query="hello", limit=1)).boot_id,
            stub.Retrieve(pb.RetrieveRequest(ref_id="e")).boot_id,
            stub.Answer(pb.AnswerRequest(question="hello?")).boot_id,
            stub.Forget(pb.ForgetRequest(episode_ids=["e"])).boot_id,
        }

    a, b = ids(first.stub), ids(second.stub)
    assert len(a) == len(b) == 1
    assert a != b
    assert "" not in a


def test_capabilities_carry_what_is_declared(serve: Serve) -> None:
    """Capabilities repeats the declaration and names contract version 1.0."""
    answer = serve(ListAdapter()).stub.Capabilities(pb.CapabilitiesRequest())
    assert (answer.name, answer.version, answer.contract_version) == ("list", "1.0", "1.0")
    assert list(answer.search_modes) == [pb.SEARCH_MODE_KEYWORD]
    assert answer.max_results == 5
    assert [(f.name, f.type, list(f.enum_values)) for f in answer.filter_fields] == [
        ("timestamp", pb.FILTER_TYPE_TIMESTAMP, []),
        ("rating", pb.FILTER_TYPE_NUMBER, []),
        ("place", pb.FILTER_TYPE_STRING, []),
        ("kind", pb.FILTER_TYPE_ENUM, ["note", "mail"]),
    ]


def test_support_flags_follow_from_the_methods(serve: Serve) -> None:
    """What is optional counts as supported if, and only if, the class has the method."""

    class WithTool(NoneAdapter):
        @tool({"type": "object"})
        def count(self, arguments: object) -> int:
            """Counts."""
            return 0

    def flags(adapter: Adapter) -> tuple[bool, bool, bool, list[str]]:
        c = serve(adapter).stub.Capabilities(pb.CapabilitiesRequest())
        return c.supports_retrieve, c.supports_answer, c.supports_forget, [t.name for t in c.tools]

    assert flags(ListAdapter()) == (False, False, False, [])
    assert flags(AsyncListAdapter()) == (True, True, True, [])
    assert flags(WithTool()) == (False, False, False, ["count"])


def test_capabilities_may_be_found_at_start(serve: Serve) -> None:
    """An adapter that learns its version in start() declares it on the instance."""

    class Late(NoneAdapter):
        def start(self) -> None:
            self.capabilities = Capabilities(name="late", version="found 7")

    assert serve(Late()).stub.Capabilities(pb.CapabilitiesRequest()).version == "found 7"


def test_what_cannot_be_searched_answers_and_says_so(serve: Serve) -> None:
    """No search mode, no results, and Search is UNIMPLEMENTED whatever it asks (§4.3)."""
    served = serve(OnlyAnswers())
    declared = served.stub.Capabilities(pb.CapabilitiesRequest())
    assert (list(declared.search_modes), declared.max_results) == ([], 0)
    assert served.stub.Answer(pb.AnswerRequest(question="Who?")).answer == "nobody"
    for request in (pb.SearchRequest(query="who", limit=1), pb.SearchRequest()):
        with pytest.raises(grpc.RpcError) as caught:
            served.stub.Search(request)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED  # type: ignore[attr-defined]


def test_what_cannot_be_searched_has_no_search(connect: Serve) -> None:
    """A search that nobody can reach is a mistake in one of the two."""

    class Both(OnlyAnswers):
        def search(self, query: Query) -> list[Hit]:
            return []

    with pytest.raises(AdapterBug, match="Both searches, but declares no search mode"):
        connect(Both()).server.start()


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (None, "capabilities is None"),
        (Capabilities(name="", version="1"), "no name"),
        (
            Capabilities(name="x", version="1", search_modes=()),
            r"lacks answer \(capabilities.search_modes is empty\)",
        ),
        (
            Capabilities(name="x", version="1", search_modes=(SearchMode.HYBRID,) * 2),
            "repeats a mode",
        ),
        (Capabilities(name="x", version="1", max_results=0), "max_results is 0"),
        (
            Capabilities(name="x", version="1", filter_fields=(FilterField("f", FilterType.ENUM),)),
            "'f': enum_values go with ENUM",
        ),
        (
            Capabilities(
                name="x", version="1", filter_fields=(FilterField("timestamp", FilterType.STRING),)
            ),
            "'timestamp' is not of type TIMESTAMP",
        ),
        (
            Capabilities(
                name="x", version="1", filter_fields=(FilterField("f", FilterType.STRING),) * 2
            ),
            "empty or repeated names",
        ),
    ],
)
def test_a_wrong_declaration_never_serves(
    connect: Serve, declared: Capabilities, message: str
) -> None:
    """A declaration that the contract does not allow ends the start, naming the field."""

    class Wrong(NoneAdapter):
        capabilities = declared

    with pytest.raises(AdapterBug, match=message):
        connect(Wrong()).server.start()


def test_a_missing_method_never_serves(connect: Serve) -> None:
    """An adapter that lacks what must be implemented does not start; the message names it."""

    class Half(Adapter):
        capabilities = Capabilities(name="half", version="1")

        def ingest(self, episode: object) -> int:
            return 1

    with pytest.raises(AdapterBug, match="lacks flush, search, reset"):
        connect(Half()).server.start()


def test_capabilities_does_not_wait_for_its_turn(serve: Serve) -> None:
    """Capabilities answers while another call holds the adapter."""
    entered, go_on = threading.Event(), threading.Event()

    class Busy(NoneAdapter):
        def flush(self) -> int:
            entered.set()
            go_on.wait(10)
            return 0

    served = serve(Busy())
    pending = served.stub.Flush.future(pb.FlushRequest())
    assert entered.wait(10)
    name = served.stub.Capabilities(pb.CapabilitiesRequest(), timeout=5).name
    go_on.set()
    pending.result(10)
    assert name == "none"


def test_stop_calls_close_once_and_is_clean(serve: Serve) -> None:
    """A graceful end calls close() after the last call and says that all ended in time."""
    closed: list[str] = []

    class Closing(NoneAdapter):
        def close(self) -> None:
            closed.append("closed")

    served = serve(Closing())
    assert served.server.stop(within_s=5)
    assert closed == ["closed"]
    with pytest.raises(grpc.RpcError):
        served.stub.Flush(pb.FlushRequest(), timeout=1)


def test_stop_does_not_close_under_a_running_call(serve: Serve) -> None:
    """close() does not run beside a plain method that hangs; the end is then not clean."""
    entered, go_on = threading.Event(), threading.Event()
    closed: list[str] = []

    class Hanging(NoneAdapter):
        def flush(self) -> int:
            entered.set()
            go_on.wait(10)
            return 0

        def close(self) -> None:
            closed.append("closed")

    served = serve(Hanging())
    pending = served.stub.Flush.future(pb.FlushRequest())
    assert entered.wait(10)
    clean = served.server.stop(within_s=0.5)
    snapshot = list(closed)
    go_on.set()
    assert pending.exception(10) is not None
    assert (clean, snapshot) == (False, [])


def test_a_close_that_fails_is_not_clean(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """An exception of close() is logged, and the end is not clean."""

    class Clumsy(NoneAdapter):
        def close(self) -> None:
            raise RuntimeError("still open")

    assert not serve(Clumsy()).server.stop(within_s=5)
    assert "still open" in caplog.text


def test_a_taken_port_is_an_error() -> None:
    """Two servers cannot share a port; port 0 takes one that is free and says which."""
    first = AdapterServer(NoneAdapter(), "127.0.0.1:0")
    first.start()
    try:
        assert not first.address.endswith(":0")
        with pytest.raises(AddressError, match=first.address):
            AdapterServer(NoneAdapter(), first.address)
    finally:
        first.stop(within_s=1)


def test_a_long_socket_path_is_an_error(tmp_path: Path) -> None:
    """A Unix socket's path over Linux's limit is refused with the limit, not cut."""
    with pytest.raises(AddressError, match="107 bytes"):
        AdapterServer(NoneAdapter(), f"unix:{tmp_path / ('x' * 120)}")
