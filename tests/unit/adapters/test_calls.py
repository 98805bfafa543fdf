"""Statuses, deadlines and turns: how a call to a method ends (protocol §15–17)."""

import asyncio
import threading
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2

from memrig_adapters import Hit, InvalidRequest, NotFound, Query
from memrig_adapters.none import NoneAdapter
from memrig_adapters.server import MAX_MESSAGE_BYTES
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.served import Serve
from support.toy_adapters import AsyncListAdapter, ListAdapter

Code = grpc.StatusCode
HELLO = pb.SearchRequest(query="hello", limit=5)


def episode(number: int, text: str = "hello") -> pb.Episode:
    return pb.Episode(episode_id=f"e{number}", text=text)


class Raising(NoneAdapter):
    """Raises what it was made with."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def search(self, _query: Query) -> list[Hit]:
        raise self.error


class RaisingAsync(Raising):
    """The same in a coroutine."""

    async def search(self, _query: Query) -> list[Hit]:  # type: ignore[override]
        raise self.error


@pytest.mark.parametrize("kind", [Raising, RaisingAsync])
@pytest.mark.parametrize(
    ("error", "code", "details"),
    [
        (InvalidRequest("no such field"), Code.INVALID_ARGUMENT, "no such field"),
        (NotFound("gone"), Code.NOT_FOUND, "gone"),
        (NotImplementedError("not yet"), Code.UNIMPLEMENTED, "not yet"),
        (MemoryError(), Code.RESOURCE_EXHAUSTED, ""),
        (ValueError("boom"), Code.INTERNAL, "ValueError: boom"),
        (TypeError("boom"), Code.INTERNAL, "TypeError: boom"),
        (KeyError("boom"), Code.INTERNAL, "KeyError: 'boom'"),
        (TimeoutError("its own"), Code.INTERNAL, "TimeoutError: its own"),
    ],
)
def test_an_exception_becomes_a_status(
    serve: Serve, kind: type[Raising], error: Exception, code: Code, details: str
) -> None:
    """Each kind of exception has its status; only the SDK's own classes blame the request."""
    with pytest.raises(grpc.RpcError) as caught:
        serve(kind(error)).stub.Search(HELLO, timeout=10)
    assert caught.value.code() is code
    assert details in str(caught.value.details())


def test_sys_exit_in_a_method_is_an_internal_error(serve: Serve) -> None:
    """A library that calls sys.exit() ends the call, not the thread behind it."""
    with pytest.raises(grpc.RpcError) as caught:
        serve(Raising(SystemExit(3))).stub.Search(HELLO, timeout=10)
    assert caught.value.code() is Code.INTERNAL


def test_the_traceback_goes_to_the_log_alone(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    """An INTERNAL names type and message; file names and lines are in the log only."""
    with pytest.raises(grpc.RpcError) as caught:
        serve(Raising(ValueError("boom"))).stub.Search(HELLO, timeout=10)
    assert "Traceback" not in str(caught.value.details())
    assert "raise self.error" in caplog.text


def test_long_details_still_arrive(serve: Serve) -> None:
    """A message that percent-encoding would blow past a header's limit is cut, not lost."""
    with pytest.raises(grpc.RpcError) as caught:
        serve(Raising(ValueError("漢" * 50_000))).stub.Search(HELLO, timeout=10)
    assert caught.value.code() is Code.INTERNAL
    assert str(caught.value.details()).startswith("ValueError: 漢漢漢")


@pytest.mark.parametrize(
    ("rpc", "request_"),
    [
        ("Retrieve", pb.RetrieveRequest(ref_id="r")),
        ("Answer", pb.AnswerRequest(question="q")),
        ("Forget", pb.ForgetRequest(episode_ids=["e"])),
        ("CallTool", pb.CallToolRequest(name="t", arguments_json="{}")),
    ],
)
def test_what_is_not_overridden_is_unimplemented(
    serve: Serve, rpc: str, request_: pb.RetrieveRequest
) -> None:
    """Optional RPCs that the adapter does not have answer UNIMPLEMENTED."""
    with pytest.raises(grpc.RpcError) as caught:
        getattr(serve(NoneAdapter()).stub, rpc)(request_, timeout=10)
    assert caught.value.code() is Code.UNIMPLEMENTED


@pytest.mark.parametrize("kind", [ListAdapter, AsyncListAdapter])
def test_plain_and_async_adapters_serve_alike(
    serve: Serve, kind: type[ListAdapter] | type[AsyncListAdapter]
) -> None:
    """Ingest, flush, search and reset do the same for plain methods and coroutines."""
    served = serve(kind())
    acks = served.ingest([episode(1, "hello world"), episode(2, "other")])
    assert [(a.status, a.stored_items) for a in acks] == [(pb.INGEST_STATUS_STORED, 1)] * 2
    assert served.stub.Flush(pb.FlushRequest()).total_items == 2
    assert served.search("hello") == ["hello world"]
    served.stub.Reset(pb.ResetRequest())
    assert served.search("hello") == []


def test_optional_methods_serve(serve: Serve) -> None:
    """Retrieve, Answer and Forget carry the adapter's results; an unknown ref is NOT_FOUND."""
    served = serve(AsyncListAdapter())
    served.ingest([episode(1)])
    assert served.stub.Retrieve(pb.RetrieveRequest(ref_id="e1")).document.text == "hello"
    answer = served.stub.Answer(pb.AnswerRequest(question="why?"))
    assert (answer.answer, answer.confidence, answer.HasField("confidence")) == (
        "you asked: why?",
        0.25,
        True,
    )
    assert served.stub.Forget(pb.ForgetRequest(episode_ids=["e1", "x"])).forgotten_episodes == 1
    with pytest.raises(grpc.RpcError) as caught:
        served.stub.Retrieve(pb.RetrieveRequest(ref_id="e1"))
    assert caught.value.code() is Code.NOT_FOUND


def test_coroutines_share_one_loop(serve: Serve) -> None:
    """All coroutines of an adapter, start() included, run on one thread."""
    adapter = AsyncListAdapter()
    served = serve(adapter)
    served.ingest([episode(1)])
    served.search("hello")
    assert len(adapter.threads) == 1


def test_a_blocked_plain_method_meets_the_deadline(serve: Serve) -> None:
    """A plain method that blocks past the deadline is DEADLINE_EXCEEDED; health still answers."""
    go_on = threading.Event()

    class Blocked(NoneAdapter):
        def search(self, _query: Query) -> list[Hit]:
            go_on.wait(30)
            return []

    served = serve(Blocked())
    began = time.monotonic()
    codes = []
    for _ in range(2):  # the second waits for a turn that does not come
        with pytest.raises(grpc.RpcError) as caught:
            served.stub.Search(HELLO, timeout=0.3)
        codes.append(caught.value.code())
    took = time.monotonic() - began
    name = served.stub.Capabilities(pb.CapabilitiesRequest(), timeout=5).name
    go_on.set()
    assert codes == [Code.DEADLINE_EXCEEDED] * 2
    assert took < 5
    assert name == "none"
    assert served.search("hello") == []


def test_health_answers_however_many_calls_wait(serve: Serve) -> None:
    """With 256 calls behind one that hangs, health and Capabilities still answer at once."""
    go_on = threading.Event()

    class Blocked(NoneAdapter):
        def search(self, _query: Query) -> list[Hit]:
            go_on.wait(30)
            return []

    served = serve(Blocked())
    waiting = [served.stub.Search.future(HELLO, timeout=60) for _ in range(256)]
    check = health_pb2.HealthCheckRequest(service="memrig.v1.MemoryAdapter")
    status = served.health.Check(check, timeout=10).status
    name = served.stub.Capabilities(pb.CapabilitiesRequest(), timeout=10).name
    go_on.set()
    answers = [call.result(60) for call in waiting]
    assert (status, name) == (health_pb2.HealthCheckResponse.SERVING, "none")
    assert len(answers) == 256


def test_waiting_calls_cost_no_threads(serve: Serve) -> None:
    """256 waiting calls fit a container that allows 64 processes: threads count as such."""
    go_on = threading.Event()
    before = threading.active_count()

    class Blocked(NoneAdapter):
        def search(self, _query: Query) -> list[Hit]:
            go_on.wait(30)
            return []

    served = serve(Blocked())
    waiting = [served.stub.Search.future(HELLO, timeout=60) for _ in range(256)]
    served.stub.Capabilities(pb.CapabilitiesRequest(), timeout=10)
    threads = threading.active_count() - before
    go_on.set()
    for call in waiting:
        call.result(60)
    assert threads <= 48


def test_a_coroutine_is_cancelled_at_its_deadline(serve: Serve) -> None:
    """A coroutine past its deadline is cancelled, so that the next call gets its turn at once."""
    cancelled = threading.Event()

    class Sleepy(NoneAdapter):
        async def search(self, query: Query) -> list[Hit]:  # type: ignore[override]
            if query.text == "hello":
                try:
                    await asyncio.sleep(60)
                finally:
                    cancelled.set()
            return []

    served = serve(Sleepy())
    with pytest.raises(grpc.RpcError) as caught:
        served.stub.Search(HELLO, timeout=0.3)
    assert caught.value.code() is Code.DEADLINE_EXCEEDED
    assert cancelled.wait(10)
    assert served.search("other") == []


def test_a_coroutine_is_cancelled_when_its_caller_leaves(serve: Serve) -> None:
    """A call that the client cancels does not hold the adapter until its deadline."""
    entered, cancelled = threading.Event(), threading.Event()

    class Sleepy(NoneAdapter):
        async def flush(self) -> int:  # type: ignore[override]
            entered.set()
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.set()
            return 0

    served = serve(Sleepy())
    pending = served.stub.Flush.future(pb.FlushRequest(), timeout=600)
    assert entered.wait(10)
    pending.cancel()
    assert cancelled.wait(10)
    assert served.search("hello") == []


class Counting(NoneAdapter):
    """Counts how many of its calls overlap; with `meet`, waits until two do."""

    def __init__(self, meet: bool = False) -> None:
        self.now = self.most = 0
        self.barrier = threading.Barrier(2 if meet else 1)
        self.guard = threading.Lock()

    def search(self, _query: Query) -> list[Hit]:
        with self.guard:
            self.now += 1
            self.most = max(self.most, self.now)
        self.barrier.wait(10)
        with self.guard:
            self.now -= 1
        return []


async def search_many(target: str, count: int) -> list[pb.SearchResponse]:
    async with grpc.aio.insecure_channel(target) as channel:
        search = channel.unary_unary(
            "/memrig.v1.MemoryAdapter/Search",
            request_serializer=pb.SearchRequest.SerializeToString,
            response_deserializer=pb.SearchResponse.FromString,
        )
        return list(await asyncio.gather(*(search(HELLO, timeout=60) for _ in range(count))))


async def test_256_calls_in_flight_are_answered_one_at_a_time(serve: Serve) -> None:
    """The rig's most calls in flight are all answered, and never overlap in the adapter."""
    adapter = Counting()
    assert len(await search_many(serve(adapter).server.address, 256)) == 256
    assert adapter.most == 1


async def test_a_concurrent_adapter_is_called_side_by_side(serve: Serve) -> None:
    """With `concurrent = True`, calls overlap."""

    class Concurrent(Counting):
        concurrent = True

    adapter = Concurrent(meet=True)
    await search_many(serve(adapter).server.address, 2)
    assert adapter.most == 2


def test_ten_megabytes_pass_and_seventeen_do_not(serve: Serve) -> None:
    """Under 16 MiB a message arrives whole; above, it is RESOURCE_EXHAUSTED and nothing is kept."""
    adapter = ListAdapter()
    served = serve(adapter)
    served.ingest([episode(1, "x" * 10_000_000)])
    with pytest.raises(grpc.RpcError) as caught:
        served.ingest([episode(2, "x" * (MAX_MESSAGE_BYTES + 1024**2))])
    assert caught.value.code() is Code.RESOURCE_EXHAUSTED
    assert [len(e.text) for e in adapter.episodes] == [10_000_000]


def test_a_response_over_the_limit_is_refused(serve: Serve) -> None:
    """An adapter cannot send more than 16 MiB either."""

    class Verbose(NoneAdapter):
        def search(self, _query: Query) -> list[Hit]:
            return [Hit("r", "x" * (MAX_MESSAGE_BYTES + 1), 1.0)]

    with pytest.raises(grpc.RpcError) as caught:
        serve(Verbose()).stub.Search(HELLO, timeout=30)
    assert caught.value.code() is Code.RESOURCE_EXHAUSTED
