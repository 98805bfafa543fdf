"""Between the rig's types and the wire's messages."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

from google.protobuf.timestamp_pb2 import Timestamp

from memrig.client.ids import Pseudonyms
from memrig.errors import ContractError
from memrig.model.scenario import Episode
from memrig.model.transcript import (
    CapabilitiesRecord,
    FilterFieldRecord,
    FilterUse,
    HitRecord,
    ToolRecord,
)
from memrig_proto.v1 import memory_adapter_pb2 as pb

CONTRACT_MAJOR = "1"
#: Protocol §4.6.
MAX_LIMITATIONS, MAX_LIMITATION_BYTES = 16, 500


def timestamp(moment: datetime | None) -> Timestamp | None:
    """A wire timestamp; a time without a zone is taken as UTC."""
    if moment is None:
        return None
    stamp = Timestamp()
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    stamp.FromDatetime(aware.astimezone(UTC))
    return stamp


def episode_message(episode: Episode, ids: Pseudonyms) -> pb.Episode:
    """An episode with opaque ids. Nothing but its own content goes along."""
    turns = [
        pb.Turn(turn_id=ids.turn(turn.turn_id), speaker=turn.speaker, text=turn.text)
        for turn in episode.turns
    ]
    return pb.Episode(
        episode_id=ids.episode(episode.episode_id, tuple(turn.turn_id for turn in turns)),
        timestamp=timestamp(episode.timestamp),
        text=episode.text,
        turns=turns,
        media_type=episode.media_type,
        metadata=episode.metadata,
    )


def search_request(
    query: str, limit: int, mode: str, filters: Sequence[FilterUse]
) -> pb.SearchRequest:
    """A search. `mode` is a declared one's name; empty leaves the choice to the adapter."""
    return pb.SearchRequest(
        query=query,
        limit=limit,
        mode=pb.SearchMode.Value(mode) if mode else pb.SEARCH_MODE_UNSPECIFIED,
        filters=[
            pb.Filter(field=use.field, operator=_OPERATORS[use.operator], value=use.value)
            for use in filters
        ],
    )


def hit_record(hit: pb.Hit, ids: Pseudonyms, where: str = "rpc=Search") -> HitRecord:
    """A hit with real ids; a void claim keeps its place as None.

    Raises:
        ContractError: the score is not finite.
    """
    if not math.isfinite(hit.score):
        message = f"hit {hit.ref_id!r} has score {hit.score!r}; it must be finite"
        raise ContractError(message, where=where)
    return HitRecord(
        ref_id=hit.ref_id,
        text=hit.text,
        score=hit.score,
        episodes=tuple(ids.source_episode(name) for name in hit.source_episode_ids),
        turns=tuple(ids.source_turn(name) for name in hit.source_turn_ids),
        timestamp=moment(hit.timestamp) if hit.HasField("timestamp") else None,
    )


def moment(stamp: Timestamp) -> datetime | None:
    """A wire timestamp as a time in UTC; None for one that is out of range, which says nothing."""
    try:
        return stamp.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _is_mode(number: int) -> bool:
    """Proto3 enums are open: any number arrives."""
    return number != pb.SEARCH_MODE_UNSPECIFIED and number in pb.SearchMode.values()


def _is_filter_type(number: int) -> bool:
    return number != pb.FILTER_TYPE_UNSPECIFIED and number in pb.FilterType.values()


def capabilities_record(message: pb.CapabilitiesResponse) -> CapabilitiesRecord:
    """Checks the handshake and keeps what matters.

    Raises:
        ContractError: another contract major, no boot id, no results, neither a search mode nor
            answers, or an enum value that the contract does not have.
    """
    problems = [
        problem
        for problem, wrong in (
            ("name is empty", not message.name),
            ("boot_id is empty", not message.boot_id),
            (
                "search_modes is empty, and supports_answer is false",
                not message.search_modes and not message.supports_answer,
            ),
            ("max_results is 0", bool(message.search_modes) and message.max_results == 0),
            (
                f"search_modes holds {list(message.search_modes)}, not all of them modes",
                not all(map(_is_mode, message.search_modes)),
            ),
            (
                "a filter field has no type",
                not all(_is_filter_type(field.type) for field in message.filter_fields),
            ),
            (
                f"limitations holds more than {MAX_LIMITATIONS} sentences, or an overlong one",
                len(message.limitations) > MAX_LIMITATIONS
                or any(len(x.encode()) > MAX_LIMITATION_BYTES for x in message.limitations),
            ),
            (
                f"contract_version is {message.contract_version!r}, expected {CONTRACT_MAJOR}.x",
                message.contract_version.split(".")[0] != CONTRACT_MAJOR,
            ),
        )
        if wrong
    ]
    if problems:
        raise ContractError("; ".join(problems), where="rpc=Capabilities")
    flags = ("retrieve", "answer", "forget", "as_of")
    optional = [flag for flag in flags if getattr(message, f"supports_{flag}")]
    if message.questions_change_memory:
        optional.append("questions_change_memory")
    return CapabilitiesRecord(
        name=message.name,
        version=message.version,
        contract_version=message.contract_version,
        boot_id=message.boot_id,
        search_modes=tuple(pb.SearchMode.Name(mode) for mode in message.search_modes),
        filter_fields=tuple(_filter_field(field) for field in message.filter_fields),
        max_results=message.max_results,
        optional=tuple(optional),
        tools=tuple(
            ToolRecord(
                name=tool.name, description=tool.description, input_schema=tool.input_schema_json
            )
            for tool in message.tools
        ),
        limitations=tuple(message.limitations),
    )


_OPERATORS = {
    "equal": pb.FILTER_OPERATOR_EQUAL,
    "greater_or_equal": pb.FILTER_OPERATOR_GREATER_OR_EQUAL,
    "less": pb.FILTER_OPERATOR_LESS,
}
_FILTER_TYPES: Mapping[int, Literal["string", "number", "timestamp", "enum"]] = {
    pb.FILTER_TYPE_STRING: "string",
    pb.FILTER_TYPE_NUMBER: "number",
    pb.FILTER_TYPE_TIMESTAMP: "timestamp",
    pb.FILTER_TYPE_ENUM: "enum",
}


def _filter_field(field: pb.FilterField) -> FilterFieldRecord:
    return FilterFieldRecord(
        name=field.name,
        type=_FILTER_TYPES[field.type],
        values=tuple(field.enum_values),
        description=field.description,
    )
