"""The ingest stream: what is acknowledged, and how it ends (protocol §6)."""

import threading
from collections.abc import Iterator, Sequence

import grpc
import pytest

from memrig_adapters import Duplicate, Episode, IngestResult, Rejected, runner
from memrig_adapters.none import NoneAdapter
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.served import Serve
from support.toy_adapters import AsyncListAdapter, ListAdapter

STORED = pb.INGEST_STATUS_STORED
Kind = type[ListAdapter] | type[AsyncListAdapter]
both_kinds = pytest.mark.parametrize("kind", [ListAdapter, AsyncListAdapter])


def message(*items: tuple[str, str]) -> pb.IngestRequest:
    return pb.IngestRequest(episodes=[pb.Episode(episode_id=i, text=t) for i, t in items])


def numbered(first: int, count: int) -> pb.IngestRequest:
    return message(*((f"e{n}", "hello") for n in range(first, first + count)))


@both_kinds
def test_every_episode_gets_one_ack_in_one_response_a_message(serve: Serve, kind: Kind) -> None:
    """Acknowledgements come once for each episode, one response for each request message."""
    responses = list(serve(kind()).stub.Ingest(iter([numbered(0, 256), numbered(256, 3)])))
    assert [len(r.acks) for r in responses] == [256, 3]
    assert [a.episode_id for r in responses for a in r.acks] == [f"e{n}" for n in range(259)]


@both_kinds
def test_slow_episodes_are_acknowledged_as_they_are_taken(
    serve: Serve, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message of 256 may take longer than the rig waits between two responses."""
    monkeypatch.setattr(runner, "SLICE_S", 0.0)
    batch = message(("a", "hello"), ("b", "reject me"), ("a", "hello"), ("y", "explode"))
    stream = serve(kind()).stub.Ingest(iter([batch]))
    responses: list[list[str]] = []
    with pytest.raises(grpc.RpcError) as caught:
        for response in stream:
            responses.append([a.episode_id for a in response.acks])  # noqa: PERF401 - ends with an error
    assert responses == [["a"], ["b"], ["a"]]
    assert caught.value.code() is grpc.StatusCode.INTERNAL


@both_kinds
def test_duplicates_and_rejections_are_told_apart(serve: Serve, kind: Kind) -> None:
    """DUPLICATE for what is known, REJECTED with the reason; the stream goes on after both."""
    acks = serve(kind()).ingest(
        message(("a", "hello"), ("a", "hello"), ("b", "reject me"), ("c", "hello")).episodes
    )
    assert [(a.episode_id, a.status, a.message) for a in acks] == [
        ("a", STORED, ""),
        ("a", pb.INGEST_STATUS_DUPLICATE, ""),
        ("b", pb.INGEST_STATUS_REJECTED, "as it asked"),
        ("c", STORED, ""),
    ]


@both_kinds
def test_an_exception_ends_the_stream_after_the_acks_before_it(serve: Serve, kind: Kind) -> None:
    """Episodes before the one that failed are acknowledged, then the stream ends with a status."""
    served = serve(kind())
    stream = served.stub.Ingest(iter([numbered(0, 2), message(("x", "hello"), ("y", "explode"))]))
    acked: list[str] = []
    with pytest.raises(grpc.RpcError) as caught:
        for response in stream:
            acked += [a.episode_id for a in response.acks]
    assert acked == ["e0", "e1", "x"]
    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert caught.value.details() == "ValueError: boom"
    assert len(served.search("hello")) == 3


@pytest.mark.parametrize(
    ("bad", "details"),
    [
        (pb.Episode(text="no id"), "Episode.episode_id is empty"),
        (pb.Episode(episode_id="e9"), "Episode.text is empty (episode_id 'e9')"),
        (
            pb.Episode(episode_id="e9", text="x", turns=[pb.Turn(text="x")]),
            "Turn.turn_id is empty (episode_id 'e9')",
        ),
    ],
)
def test_an_invalid_episode_ends_the_stream_after_the_acks_before_it(
    serve: Serve, bad: pb.Episode, details: str
) -> None:
    """An episode that breaks the contract is INVALID_ARGUMENT; those before it are kept."""
    good = pb.Episode(episode_id="e0", text="hello")
    served = serve(ListAdapter())
    acked: list[str] = []
    with pytest.raises(grpc.RpcError) as caught:
        for response in served.stub.Ingest(iter([pb.IngestRequest(episodes=[good, bad])])):
            acked += [a.episode_id for a in response.acks]
    assert acked == ["e0"]
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details() == details


@pytest.mark.parametrize(
    ("seconds", "nanos"), [(253_402_300_800, 0), (-62_135_596_801, 0), (0, -1)]
)
def test_a_time_out_of_range_is_invalid(serve: Serve, seconds: int, nanos: int) -> None:
    """A timestamp outside the years 1 to 9999 is refused with its value."""
    bad = pb.Episode(episode_id="e", text="x")
    bad.timestamp.seconds, bad.timestamp.nanos = seconds, nanos
    with pytest.raises(grpc.RpcError) as caught:
        serve(ListAdapter()).ingest([bad])
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert str(seconds) in str(caught.value.details())


def test_more_than_256_episodes_a_message_are_invalid(serve: Serve) -> None:
    """A message with 257 episodes is refused whole."""
    adapter = ListAdapter()
    with pytest.raises(grpc.RpcError) as caught:
        serve(adapter).ingest(numbered(0, 257).episodes)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert adapter.episodes == []


class Batching(NoneAdapter):
    """Takes batches; what it returns is set by the test."""

    def __init__(self, results: Sequence[IngestResult]) -> None:
        self.results = results
        self.sizes: list[int] = []

    def ingest_batch(self, episodes: Sequence[Episode]) -> Sequence[IngestResult]:
        self.sizes.append(len(episodes))
        return self.results


def test_a_batch_is_given_whole(serve: Serve) -> None:
    """An adapter with ingest_batch gets a message's episodes at once."""
    adapter = Batching([2, Duplicate(), Rejected("no")])
    acks = serve(adapter).ingest(numbered(0, 3).episodes)
    assert adapter.sizes == [3]
    assert [(a.status, a.stored_items, a.message) for a in acks] == [
        (STORED, 2, ""),
        (pb.INGEST_STATUS_DUPLICATE, 0, ""),
        (pb.INGEST_STATUS_REJECTED, 0, "no"),
    ]


@pytest.mark.parametrize(
    ("results", "details"),
    [
        ([1], "1 results for 2 episodes"),
        ([1, None], "ingest returned None"),
        ([1, -1], "ingest returned -1"),
        ([1, True], "ingest returned True"),
    ],
)
def test_a_wrong_batch_result_is_the_adapters_bug(
    serve: Serve, results: list[IngestResult], details: str
) -> None:
    """A result that is no count, or too few of them, is INTERNAL and says what it was."""
    with pytest.raises(grpc.RpcError) as caught:
        serve(Batching(results)).ingest(numbered(0, 2).episodes)
    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert details in str(caught.value.details())


@both_kinds
def test_a_cancelled_stream_leaves_the_server_usable(serve: Serve, kind: Kind) -> None:
    """After a client cancels in mid-stream, what was acknowledged is there and calls go on."""
    served = serve(kind())
    hold = threading.Event()

    def endless() -> Iterator[pb.IngestRequest]:
        yield numbered(0, 4)
        hold.wait(30)

    stream = served.stub.Ingest(endless())
    assert len(next(iter(stream)).acks) == 4
    stream.cancel()
    hold.set()
    assert len(served.search("hello")) == 4
    assert len(served.ingest(numbered(4, 2).episodes)) == 2


def test_turns_metadata_and_time_arrive(serve: Serve) -> None:
    """An episode reaches the adapter whole, its time in UTC to the microsecond."""
    adapter = ListAdapter()
    sent = pb.Episode(
        episode_id="e",
        text="Ann: hi\nBob: ",
        turns=[
            pb.Turn(turn_id="t1", speaker="Ann", text="hi"),
            pb.Turn(turn_id="t2", speaker="Bob"),
        ],
        media_type="text/markdown",
        metadata={"place": "Köln"},
    )
    sent.timestamp.FromJsonString("1955-11-05T06:00:00.000001Z")
    serve(adapter).ingest([sent])
    got = adapter.episodes[0]
    assert [(t.turn_id, t.speaker, t.text) for t in got.turns] == [
        ("t1", "Ann", "hi"),
        ("t2", "Bob", ""),
    ]
    assert (got.media_type, dict(got.metadata)) == ("text/markdown", {"place": "Köln"})
    assert got.timestamp is not None
    assert got.timestamp.isoformat() == "1955-11-05T06:00:00.000001+00:00"
