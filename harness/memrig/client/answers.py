"""What Retrieve, Answer and CallTool gave, checked against the contract."""

import json

from memrig.client.convert import hit_record, moment
from memrig.client.ids import Pseudonyms
from memrig.errors import ContractError
from memrig.model.transcript import (
    AdapterUsage,
    DocumentRecord,
    HitRecord,
    NativeRecord,
    ToolResultRecord,
    ToolUseRecord,
)
from memrig_proto.v1 import memory_adapter_pb2 as pb


def document_record(
    response: pb.RetrieveResponse, ref_id: str, ids: Pseudonyms, ns: int
) -> DocumentRecord:
    """A document with real ids.

    Raises:
        ContractError: it is another one than was asked for (protocol §11.1).
    """
    document = response.document
    if document.ref_id != ref_id:
        message = f"document {document.ref_id!r} came for ref_id {ref_id!r} (protocol §11.1)"
        raise ContractError(message, where="rpc=Retrieve")
    hit = HitRecord(
        ref_id=document.ref_id,
        text=document.text,
        score=0.0,
        episodes=tuple(ids.source_episode(name) for name in document.source_episode_ids),
        turns=tuple(ids.source_turn(name) for name in document.source_turn_ids),
        timestamp=moment(document.timestamp) if document.HasField("timestamp") else None,
    )
    return DocumentRecord(hit=hit, ns=ns, payload_bytes=response.ByteSize())


def native_record(response: pb.AnswerResponse, ids: Pseudonyms, ns: int) -> NativeRecord:
    """An answer with real ids.

    Raises:
        ContractError: it is empty without abstaining, or its confidence is no number from 0 to 1
            (protocol §12.1, §12.2).
    """
    if not response.answer and not response.abstained:
        message = "the answer is empty, but abstained is false (protocol §12.1)"
        raise ContractError(message, where="rpc=Answer")
    confidence = response.confidence if response.HasField("confidence") else None
    if confidence is not None and not 0 <= confidence <= 1:
        message = f"confidence is {confidence!r}, expected 0 to 1 (protocol §12.2)"
        raise ContractError(message, where="rpc=Answer")
    return NativeRecord(
        answer=response.answer,
        abstained=response.abstained,
        confidence=confidence,
        cited_refs=tuple(response.cited_ref_ids),
        episodes=tuple(ids.source_episode(name) for name in response.source_episode_ids),
        tools=tuple(map(_tool_use, response.tool_uses)),
        reasoning=response.reasoning_trace,
        usage=_usage(response.usage) if response.HasField("usage") else None,
        ns=ns,
        payload_bytes=response.ByteSize(),
    )


def _tool_use(use: pb.ToolUse) -> ToolUseRecord:
    # As a JSON text: what it says must not be read for a result of the rig's own tools.
    result = json.dumps(use.result, ensure_ascii=False)
    return ToolUseRecord(
        name=use.name, arguments_json=use.arguments_json, result=result, is_error=False, ns=0
    )


def _usage(usage: pb.Usage) -> AdapterUsage:
    return AdapterUsage(
        model_calls=usage.model_calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
    )


def tool_result_record(
    response: pb.CallToolResponse, name: str, ids: Pseudonyms, ns: int
) -> ToolResultRecord:
    """A tool's result, its memories with real ids.

    Raises:
        ContractError: the result is not JSON (protocol §14.2), or a hit's score is not finite.
    """
    where = "rpc=CallTool"
    try:
        json.loads(response.result_json, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        shown = f"{response.result_json[:60]!r}: {error}"
        message = f"the result of tool {name!r} is not JSON (protocol §14.2): {shown}"
        raise ContractError(message, where=where) from error
    return ToolResultRecord(
        result_json=response.result_json,
        is_error=response.is_error,
        hits=tuple(hit_record(hit, ids, where) for hit in response.hits),
        ns=ns,
        payload_bytes=response.ByteSize(),
    )


def _no_constant(name: str) -> object:
    """Python reads NaN and Infinity, JSON does not."""
    raise ValueError(f"{name} is no JSON value")
