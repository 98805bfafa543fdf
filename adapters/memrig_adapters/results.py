"""From the dataclasses to the wire. A result that breaks docs/protocol.md becomes `AdapterBug`."""

import json
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from memrig_adapters.adapter import Adapter, IngestResult, overrides, tools_of
from memrig_adapters.errors import AdapterBug, Rejected
from memrig_adapters.types import (
    Answer,
    Capabilities,
    Document,
    Duplicate,
    FilterType,
    Hit,
    Json,
    SearchMode,
)
from memrig_proto.v1 import memory_adapter_pb2 as pb

CONTRACT_VERSION: Final = "1.0"
MAX_REF_BYTES: Final = 256

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MODES: dict[SearchMode, "pb.SearchMode.ValueType"] = {
    SearchMode.KEYWORD: pb.SEARCH_MODE_KEYWORD,
    SearchMode.SEMANTIC: pb.SEARCH_MODE_SEMANTIC,
    SearchMode.HYBRID: pb.SEARCH_MODE_HYBRID,
}
_FILTER_TYPES: dict[FilterType, "pb.FilterType.ValueType"] = {
    FilterType.STRING: pb.FILTER_TYPE_STRING,
    FilterType.NUMBER: pb.FILTER_TYPE_NUMBER,
    FilterType.TIMESTAMP: pb.FILTER_TYPE_TIMESTAMP,
    FilterType.ENUM: pb.FILTER_TYPE_ENUM,
}


def capabilities_message(
    adapter: Adapter, capabilities: Capabilities, boot_id: str
) -> pb.CapabilitiesResponse:
    """Writes what an adapter is, with the flags that follow from its methods."""
    return pb.CapabilitiesResponse(
        name=capabilities.name,
        version=capabilities.version,
        contract_version=CONTRACT_VERSION,
        boot_id=boot_id,
        search_modes=[_MODES[mode] for mode in capabilities.search_modes],
        filter_fields=[
            pb.FilterField(
                name=item.name,
                type=_FILTER_TYPES[item.type],
                enum_values=item.enum_values,
                description=item.description,
            )
            for item in capabilities.filter_fields
        ],
        max_results=capabilities.max_results if capabilities.search_modes else 0,
        supports_retrieve=overrides(adapter, "retrieve"),
        supports_answer=overrides(adapter, "answer"),
        supports_forget=overrides(adapter, "forget"),
        supports_as_of=capabilities.supports_as_of,
        questions_change_memory=capabilities.questions_change_memory,
        reports_source_turns=capabilities.reports_source_turns,
        tools=[
            pb.Tool(name=t.name, description=t.description, input_schema_json=t.input_schema_json)
            for t in tools_of(adapter).values()
        ],
        limitations=capabilities.limitations,
    )


def ack_message(episode_id: str, result: IngestResult) -> pb.IngestAck:
    """Writes what became of one episode.

    Raises:
        AdapterBug: the result is none that `ingest` may return.
    """
    if isinstance(result, Duplicate):
        return pb.IngestAck(episode_id=episode_id, status=pb.INGEST_STATUS_DUPLICATE)
    if isinstance(result, Rejected):
        return pb.IngestAck(
            episode_id=episode_id,
            status=pb.INGEST_STATUS_REJECTED,
            message=str(result) or "rejected without a reason",
        )
    if isinstance(result, int) and not isinstance(result, bool) and 0 <= result < 2**32:
        return pb.IngestAck(
            episode_id=episode_id, status=pb.INGEST_STATUS_STORED, stored_items=result
        )
    raise AdapterBug(f"ingest returned {result!r}, not a count of items or Duplicate()")


def hit_messages(hits: Iterable[Hit]) -> list[pb.Hit]:
    """Writes hits.

    Raises:
        AdapterBug: something is no Hit, or has a score that is not finite or a ref out of bounds.
    """
    return [_hit_message(hit) for hit in hits]


def _hit_message(hit: Hit) -> pb.Hit:
    if not isinstance(hit, Hit):
        raise AdapterBug(f"search returned {hit!r}, not a Hit")
    if not math.isfinite(hit.score):
        raise AdapterBug(f"Hit.score of {hit.ref_id!r} is {hit.score}, not finite")
    return pb.Hit(
        ref_id=_ref(hit.ref_id),
        text=_text(hit.text, "Hit.text"),
        score=float(hit.score),
        source_episode_ids=_ids(hit.source_episode_ids, "Hit.source_episode_ids"),
        source_turn_ids=_ids(hit.source_turn_ids, "Hit.source_turn_ids"),
        timestamp=_time_message(hit.timestamp),
    )


def document_message(document: Document) -> pb.Document:
    """Writes a document.

    Raises:
        AdapterBug: it is no Document.
    """
    if not isinstance(document, Document):
        raise AdapterBug(f"retrieve returned {document!r}, not a Document")
    return pb.Document(
        ref_id=_ref(document.ref_id),
        text=_text(document.text, "Document.text"),
        source_episode_ids=_ids(document.source_episode_ids, "Document.source_episode_ids"),
        source_turn_ids=_ids(document.source_turn_ids, "Document.source_turn_ids"),
        timestamp=_time_message(document.timestamp),
    )


def answer_message(answer: Answer, boot_id: str) -> pb.AnswerResponse:
    """Writes an answer.

    Raises:
        AdapterBug: it is no Answer, empty without abstaining, or its confidence is not in 0 to 1.
    """
    if not isinstance(answer, Answer):
        raise AdapterBug(f"answer returned {answer!r}, not an Answer")
    if not answer.text and not answer.abstained:
        raise AdapterBug("Answer.text is empty, and abstained is false")
    if answer.confidence is not None and not 0 <= answer.confidence <= 1:
        raise AdapterBug(f"Answer.confidence is {answer.confidence}, not 0 to 1")
    message = pb.AnswerResponse(
        answer=_text(answer.text, "Answer.text"),
        cited_ref_ids=_ids(answer.cited_ref_ids, "Answer.cited_ref_ids"),
        source_episode_ids=_ids(answer.source_episode_ids, "Answer.source_episode_ids"),
        confidence=answer.confidence,
        abstained=answer.abstained,
        tool_uses=[
            pb.ToolUse(name=t.name, arguments_json=json.dumps(dict(t.arguments)), result=t.result)
            for t in answer.tool_uses
        ],
        reasoning_trace=answer.reasoning_trace,
        boot_id=boot_id,
    )
    if answer.usage is not None:
        message.usage.model_calls = answer.usage.model_calls
        message.usage.input_tokens = answer.usage.input_tokens
        message.usage.output_tokens = answer.usage.output_tokens
    return message


def result_json(value: Json) -> str:
    """Writes what a tool returned.

    Raises:
        AdapterBug: JSON cannot carry it.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AdapterBug(f"a tool returned something that is not JSON: {error}") from error


def check_results(results: Sequence[IngestResult], expected: int) -> Sequence[IngestResult]:
    """Returns the results of a batch.

    Raises:
        AdapterBug: there is not one for each episode.
    """
    if len(results) != expected:
        raise AdapterBug(f"ingest_batch returned {len(results)} results for {expected} episodes")
    return results


def _ref(ref_id: str) -> str:
    if not 1 <= len(ref_id.encode()) <= MAX_REF_BYTES:
        raise AdapterBug(f"ref_id is {ref_id!r}, not 1 to {MAX_REF_BYTES} bytes")
    return ref_id


def _text(text: str, field: str) -> str:
    # Protobuf takes None for "not set", and would send an empty text.
    if not isinstance(text, str):
        raise AdapterBug(f"{field} is {text!r}, not a str")
    return text


def _ids(ids: Sequence[str], field: str) -> Sequence[str]:
    # A lone string would be taken for a sequence of one-letter ids.
    if isinstance(ids, str):
        raise AdapterBug(f"{field} is {ids!r}, not a tuple of ids")
    return ids


def _time_message(time: datetime | None) -> Timestamp | None:
    if time is None:
        return None
    if time.tzinfo is None:
        raise AdapterBug(f"timestamp {time.isoformat()} has no time zone; use UTC")
    since = time - _EPOCH
    # Not via total_seconds(): a float loses microseconds far from the epoch.
    return Timestamp(seconds=since.days * 86_400 + since.seconds, nanos=since.microseconds * 1000)
