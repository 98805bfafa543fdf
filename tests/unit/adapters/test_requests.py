"""Requests are checked in one place, and a refusal names field and value (protocol §8, §9)."""

from datetime import UTC, datetime

import grpc
import pytest

from memrig_adapters import Capabilities, Filter, InvalidRequest, Operator, SearchMode
from memrig_adapters.none import NoneAdapter
from memrig_adapters.requests import parse_query
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.served import Serve
from support.toy_adapters import FIELDS, AsyncListAdapter, ListAdapter

CAPABILITIES = Capabilities(
    name="x",
    version="1",
    search_modes=(SearchMode.SEMANTIC,),
    filter_fields=FIELDS,
    max_results=5,
)
UNSET, EQUAL, AFTER, LESS = (
    pb.FILTER_OPERATOR_UNSPECIFIED,
    pb.FILTER_OPERATOR_EQUAL,
    pb.FILTER_OPERATOR_GREATER_OR_EQUAL,
    pb.FILTER_OPERATOR_LESS,
)


def query(**changes: object) -> pb.SearchRequest:
    request = pb.SearchRequest(query="hello", limit=5)
    request.MergeFrom(pb.SearchRequest(**changes))  # type: ignore[arg-type]
    return request


def condition(field: str, operator: int, value: str) -> pb.SearchRequest:
    return query(filters=[{"field": field, "operator": operator, "value": value}])


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (pb.SearchRequest(limit=5), "SearchRequest.query has 0 bytes"),
        (query(query="é" * 32_769), "SearchRequest.query has 65538 bytes"),
        (pb.SearchRequest(query="x"), "SearchRequest.limit is 0, not 1 to max_results (5)"),
        (query(limit=6), "SearchRequest.limit is 6, not 1 to max_results (5)"),
        (query(mode=pb.SEARCH_MODE_KEYWORD), "SearchRequest.mode is KEYWORD"),
        (query(mode=77), "SearchRequest.mode is 77"),
        (query(as_of={"seconds": 5}), "SearchRequest.as_of is set"),
        (condition("mood", EQUAL, "glad"), "Filter.field is 'mood'"),
        (
            condition("place", pb.FILTER_OPERATOR_UNSPECIFIED, "x"),
            "Filter.operator of 'place' is 0",
        ),
        (condition("place", 9, "x"), "Filter.operator of 'place' is 9"),
        (condition("place", LESS, "x"), "Filter.operator of 'place' is LESS"),
        (condition("kind", AFTER, "note"), "Filter.operator of 'kind' is GREATER_OR_EQUAL"),
        (condition("kind", EQUAL, "fax"), "Filter.value of 'kind' is 'fax'"),
        (condition("rating", LESS, "many"), "Filter.value of 'rating' is 'many'"),
        (condition("rating", LESS, "nan"), "Filter.value of 'rating' is 'nan'"),
        (condition("timestamp", LESS, "2024-03-05"), "Filter.value of 'timestamp' is '2024-03-05'"),
        (condition("timestamp", LESS, "2024-13-05T00:00:00Z"), "'2024-13-05T00:00:00Z'"),
        (condition("timestamp", LESS, "2024-03-05T17:00:00"), "'2024-03-05T17:00:00'"),
        (condition("timestamp", LESS, "2024-03-05T17:00:00+02:00"), "+02:00"),
    ],
)
def test_a_search_that_breaks_the_contract_is_refused(
    request_: pb.SearchRequest, message: str
) -> None:
    """Each rule of a search request is checked, with the field and the value in the message."""
    with pytest.raises(InvalidRequest) as caught:
        parse_query(request_, CAPABILITIES)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (condition("place", EQUAL, "Köln"), Filter("place", Operator.EQUAL, "Köln")),
        (condition("kind", EQUAL, "mail"), Filter("kind", Operator.EQUAL, "mail")),
        (condition("rating", AFTER, "-2.5e1"), Filter("rating", Operator.GREATER_OR_EQUAL, -25.0)),
        (
            condition("timestamp", LESS, "2024-03-05T17:00:00.25Z"),
            Filter("timestamp", Operator.LESS, datetime(2024, 3, 5, 17, 0, 0, 250_000, UTC)),
        ),
    ],
)
def test_a_filter_value_gets_its_fields_type(request_: pb.SearchRequest, expected: Filter) -> None:
    """A filter reaches the adapter with a value of the declared type."""
    assert parse_query(request_, CAPABILITIES).filters == (expected,)


def test_a_whole_query_arrives() -> None:
    """Mode, limit and as_of reach the adapter; an unspecified mode is None."""
    capabilities = Capabilities(
        name="x", version="1", search_modes=(SearchMode.HYBRID,), supports_as_of=True
    )
    request = query(query="q", limit=3, mode=pb.SEARCH_MODE_HYBRID, as_of={"seconds": 5})
    parsed = parse_query(request, capabilities)
    assert (parsed.text, parsed.limit, parsed.mode) == ("q", 3, SearchMode.HYBRID)
    assert parsed.as_of == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
    assert parse_query(query(), capabilities).mode is None


@pytest.mark.parametrize(
    ("rpc", "request_", "details"),
    [
        ("Search", pb.SearchRequest(query="x"), "SearchRequest.limit is 0"),
        ("Retrieve", pb.RetrieveRequest(), "RetrieveRequest.ref_id is empty"),
        ("Answer", pb.AnswerRequest(), "AnswerRequest.question is empty"),
        ("Forget", pb.ForgetRequest(), "has 0 entries"),
        ("Forget", pb.ForgetRequest(episode_ids=["x"] * 257), "has 257 entries"),
        ("Forget", pb.ForgetRequest(episode_ids=["x", ""]), "has an empty entry"),
    ],
)
def test_an_invalid_request_is_invalid_argument(
    serve: Serve, rpc: str, request_: pb.SearchRequest, details: str
) -> None:
    """On the wire, a request that breaks the contract is INVALID_ARGUMENT."""
    with pytest.raises(grpc.RpcError) as caught:
        getattr(serve(AsyncListAdapter()).stub, rpc)(request_, timeout=10)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert details in str(caught.value.details())


def test_an_adapter_never_sees_an_invalid_search(serve: Serve) -> None:
    """What the SDK refuses does not reach the adapter's code."""
    adapter = ListAdapter()
    with pytest.raises(grpc.RpcError):
        serve(adapter).stub.Search(pb.SearchRequest(query="x", limit=6), timeout=10)
    assert adapter.queries == []


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (Operator.EQUAL, [False, True, False]),
        (Operator.GREATER_OR_EQUAL, [False, True, True]),
        (Operator.LESS, [True, False, False]),
    ],
)
def test_a_filter_matches_by_its_operator(operator: Operator, expected: list[bool]) -> None:
    """`Filter.matches` compares an item's own value; a missing value never matches."""
    item = Filter("rating", operator, 2.0)
    assert [item.matches(v) for v in (1.0, 2.0, 3.0)] == expected
    assert not item.matches(None)


def test_a_message_without_episodes_is_harmless(serve: Serve) -> None:
    """An empty ingest message is neither acknowledged nor refused."""
    assert list(serve(NoneAdapter()).stub.Ingest(iter([pb.IngestRequest()]))) == []
