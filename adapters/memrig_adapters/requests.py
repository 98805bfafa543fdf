"""From the wire to the dataclasses. Requests are checked here and nowhere else.

A request that breaks docs/protocol.md becomes `InvalidRequest`, which names field and value.
"""

import json
import math
from datetime import UTC, datetime, timedelta
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from memrig_adapters.errors import InvalidRequest
from memrig_adapters.types import (
    Capabilities,
    Episode,
    Filter,
    FilterField,
    FilterType,
    FilterValue,
    Json,
    Operator,
    Query,
    Question,
    SearchMode,
    Turn,
)
from memrig_proto.v1 import memory_adapter_pb2 as pb

MAX_QUERY_BYTES: Final = 64 * 1024
MAX_BATCH: Final = 256

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_SECOND = -62_135_596_800  # 0001-01-01T00:00:00Z
_LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z

_MODES: dict["pb.SearchMode.ValueType", SearchMode] = {
    pb.SEARCH_MODE_KEYWORD: SearchMode.KEYWORD,
    pb.SEARCH_MODE_SEMANTIC: SearchMode.SEMANTIC,
    pb.SEARCH_MODE_HYBRID: SearchMode.HYBRID,
}
_OPERATORS: dict["pb.FilterOperator.ValueType", Operator] = {
    pb.FILTER_OPERATOR_EQUAL: Operator.EQUAL,
    pb.FILTER_OPERATOR_GREATER_OR_EQUAL: Operator.GREATER_OR_EQUAL,
    pb.FILTER_OPERATOR_LESS: Operator.LESS,
}
_UNORDERED = frozenset({FilterType.STRING, FilterType.ENUM})


def parse_episode(message: pb.Episode) -> Episode:
    """Reads one episode.

    Raises:
        InvalidRequest: no id, no text, a turn without an id, or a time out of range.
    """
    name = message.episode_id
    if not name:
        raise InvalidRequest("Episode.episode_id is empty")
    if not message.text:
        raise InvalidRequest(f"Episode.text is empty (episode_id {name!r})")
    turns = tuple(Turn(turn.turn_id, turn.speaker, turn.text) for turn in message.turns)
    if not all(turn.turn_id for turn in turns):
        raise InvalidRequest(f"Turn.turn_id is empty (episode_id {name!r})")
    timestamp = None
    if message.HasField("timestamp"):
        timestamp = _parse_time(message.timestamp, f"Episode.timestamp of {name!r}")
    return Episode(name, message.text, timestamp, turns, message.media_type, dict(message.metadata))


def parse_batch(message: pb.IngestRequest) -> tuple[list[Episode], InvalidRequest | None]:
    """Reads the episodes of one message, up to the first that is not valid."""
    if len(message.episodes) > MAX_BATCH:
        return [], InvalidRequest(
            f"IngestRequest.episodes has {len(message.episodes)} entries, at most {MAX_BATCH}"
        )
    episodes: list[Episode] = []
    try:
        for item in message.episodes:
            episodes.append(parse_episode(item))  # noqa: PERF401 - the prefix outlives the error
    except InvalidRequest as error:
        return episodes, error
    return episodes, None


def parse_query(message: pb.SearchRequest, capabilities: Capabilities) -> Query:
    """Reads a search.

    Raises:
        InvalidRequest: it asks for something empty, too large or not declared.
    """
    size = len(message.query.encode())
    if not 0 < size <= MAX_QUERY_BYTES:
        raise InvalidRequest(f"SearchRequest.query has {size} bytes, not 1 to {MAX_QUERY_BYTES}")
    if not 1 <= message.limit <= capabilities.max_results:
        raise InvalidRequest(
            f"SearchRequest.limit is {message.limit}, not 1 to max_results "
            f"({capabilities.max_results})"
        )
    as_of = None
    if message.HasField("as_of"):
        if not capabilities.supports_as_of:
            raise InvalidRequest("SearchRequest.as_of is set, and supports_as_of is false")
        as_of = _parse_time(message.as_of, "SearchRequest.as_of")
    mode = _parse_mode(message.mode, capabilities)
    fields = {item.name: item for item in capabilities.filter_fields}
    filters = tuple(_parse_filter(item, fields) for item in message.filters)
    return Query(message.query, message.limit, mode, filters, as_of)


def parse_question(message: pb.AnswerRequest) -> Question:
    """Reads a question.

    Raises:
        InvalidRequest: it is empty, or its time is out of range.
    """
    if not message.question:
        raise InvalidRequest("AnswerRequest.question is empty")
    time = None
    if message.HasField("question_time"):
        time = _parse_time(message.question_time, "AnswerRequest.question_time")
    return Question(message.question, time, message.limit)


def parse_ref(message: pb.RetrieveRequest) -> str:
    """Reads a ref.

    Raises:
        InvalidRequest: it is empty.
    """
    if not message.ref_id:
        raise InvalidRequest("RetrieveRequest.ref_id is empty")
    return message.ref_id


def parse_forget(message: pb.ForgetRequest) -> tuple[str, ...]:
    """Reads the ids to forget.

    Raises:
        InvalidRequest: there are none or too many, or one is empty.
    """
    ids = tuple(message.episode_ids)
    if not 1 <= len(ids) <= MAX_BATCH:
        raise InvalidRequest(f"ForgetRequest.episode_ids has {len(ids)} entries, not 1 to 256")
    if not all(ids):
        raise InvalidRequest("ForgetRequest.episode_ids has an empty entry")
    return ids


def parse_arguments(message: pb.CallToolRequest) -> dict[str, Json]:
    """Reads the arguments of a tool.

    Raises:
        InvalidRequest: they are not a JSON object.
    """
    try:
        value = json.loads(message.arguments_json)
    except ValueError as error:
        raise InvalidRequest(f"CallToolRequest.arguments_json is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidRequest(f"CallToolRequest.arguments_json is not an object: {value!r}")
    return value


def _parse_time(stamp: Timestamp, where: str) -> datetime:
    if not (_FIRST_SECOND <= stamp.seconds <= _LAST_SECOND and 0 <= stamp.nanos < 10**9):
        raise InvalidRequest(f"{where} is out of range: {stamp.seconds} s, {stamp.nanos} ns")
    return _EPOCH + timedelta(seconds=stamp.seconds, microseconds=stamp.nanos // 1000)


def _parse_mode(mode: "pb.SearchMode.ValueType", capabilities: Capabilities) -> SearchMode | None:
    if mode == pb.SEARCH_MODE_UNSPECIFIED:
        return None
    known = _MODES.get(mode)
    if known not in capabilities.search_modes:
        declared = [item.name for item in capabilities.search_modes]
        raise InvalidRequest(
            f"SearchRequest.mode is {known.name if known else mode}, declared are {declared}"
        )
    return known


def _parse_filter(message: pb.Filter, fields: dict[str, FilterField]) -> Filter:
    field = fields.get(message.field)
    if field is None:
        raise InvalidRequest(f"Filter.field is {message.field!r}, declared are {list(fields)}")
    operator = _OPERATORS.get(message.operator)
    if operator is None:
        raise InvalidRequest(f"Filter.operator of {field.name!r} is {message.operator}")
    if field.type in _UNORDERED and operator is not Operator.EQUAL:
        raise InvalidRequest(
            f"Filter.operator of {field.name!r} is {operator.name}; a {field.type.value} knows "
            "EQUAL alone"
        )
    return Filter(field.name, operator, _parse_value(message.value, field))


def _parse_value(text: str, field: FilterField) -> FilterValue:
    if field.type is FilterType.ENUM and text not in field.enum_values:
        raise InvalidRequest(
            f"Filter.value of {field.name!r} is {text!r}, allowed are {list(field.enum_values)}"
        )
    if field.type in _UNORDERED:
        return text
    try:
        return _parse_number(text) if field.type is FilterType.NUMBER else _parse_rfc3339(text)
    except ValueError as error:
        raise InvalidRequest(
            f"Filter.value of {field.name!r} is {text!r}, not a {field.type.value}: {error}"
        ) from error


def _parse_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number


def _parse_rfc3339(text: str) -> datetime:
    # fromisoformat takes more than RFC 3339 has: dates alone, weeks, no separators.
    if len(text) < len("2024-03-05T17:00:00Z") or text[10] not in "Tt" or text[-1] not in "Zz":
        raise ValueError("not RFC 3339 in UTC, such as 2024-03-05T17:00:00Z")
    return datetime.fromisoformat(text.upper())
