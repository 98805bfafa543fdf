"""The RPCs of the contract, over a `Runner`. Each is one line of its own and one shared guard."""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn, TypeVar

import grpc

from memrig_adapters.adapter import Adapter, Maybe, ToolReturn, check_capabilities, tools_of
from memrig_adapters.errors import NotFound, ToolError, status_of
from memrig_adapters.requests import (
    parse_arguments,
    parse_batch,
    parse_forget,
    parse_query,
    parse_question,
    parse_ref,
)
from memrig_adapters.results import (
    ack_message,
    answer_message,
    capabilities_message,
    document_message,
    hit_messages,
    result_json,
)
from memrig_adapters.runner import Runner
from memrig_adapters.types import Episode, Hit, ToolResult
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as pb_grpc

R = TypeVar("R")
log = logging.getLogger("memrig_adapters")


class Servicer(pb_grpc.MemoryAdapterServicer):
    """Answers for one adapter. `open` before the first call: until then, all are UNAVAILABLE."""

    def __init__(self, adapter: Adapter, runner: Runner, boot_id: str) -> None:
        self._adapter = adapter
        self._runner = runner
        self._boot_id = boot_id
        self._open = False
        self._cut_logged = False

    def open(self) -> None:
        """Checks what the adapter declares, and begins to answer.

        Raises:
            AdapterBug: it declares something that the contract does not allow.
        """
        self._capabilities = check_capabilities(self._adapter)
        self._tools = tools_of(self._adapter)
        self._open = True

    def Capabilities(  # noqa: N802 - the contract's name, here and below
        self, _request: pb.CapabilitiesRequest, context: grpc.ServicerContext
    ) -> pb.CapabilitiesResponse:
        """Answers at once: neither in turn nor by the adapter's own code."""
        return self._guard(
            context,
            lambda: capabilities_message(self._adapter, self._capabilities, self._boot_id),
        )

    def Reset(self, _request: pb.ResetRequest, context: grpc.ServicerContext) -> pb.ResetResponse:  # noqa: N802
        """Empties the memory."""
        self._run(context, self._adapter.reset)
        return pb.ResetResponse(boot_id=self._boot_id)

    def Ingest(  # noqa: N802
        self, request_iterator: Iterator[pb.IngestRequest], context: grpc.ServicerContext
    ) -> Iterator[pb.IngestResponse]:
        """Acknowledges a message's episodes together, or as it goes where they take their time.

        If one fails, those before it are acknowledged and the stream ends with its status.
        """
        for message in request_iterator:
            if not self._open:
                self._refuse(context)
            for response, fault in self._ingest(message, context):
                if response.acks:
                    yield response
                if fault is not None:
                    self._abort(context, fault)

    def _ingest(
        self, message: pb.IngestRequest, context: grpc.ServicerContext
    ) -> Iterator[tuple[pb.IngestResponse, BaseException | None]]:
        try:
            episodes, invalid = parse_batch(message)
        except Exception as error:  # noqa: BLE001 - becomes the status
            yield pb.IngestResponse(), error
            return
        while episodes:
            response, fault = self._take(episodes, context)
            yield response, fault
            episodes = episodes[len(response.acks) :]
        yield pb.IngestResponse(), invalid

    def _take(
        self, episodes: Sequence[Episode], context: grpc.ServicerContext
    ) -> tuple[pb.IngestResponse, BaseException | None]:
        response = pb.IngestResponse(boot_id=self._boot_id)
        try:
            results, fault = self._runner.ingest(context, episodes)
            for episode, result in zip(episodes, results, strict=False):
                response.acks.append(ack_message(episode.episode_id, result))
        except Exception as error:  # noqa: BLE001 - becomes the status
            return response, error
        return response, fault

    def Flush(self, _request: pb.FlushRequest, context: grpc.ServicerContext) -> pb.FlushResponse:  # noqa: N802
        """Waits for the barrier."""
        total = self._run(context, self._adapter.flush)
        return self._guard(
            context, lambda: pb.FlushResponse(total_items=total, boot_id=self._boot_id)
        )

    def Search(  # noqa: N802
        self, request: pb.SearchRequest, context: grpc.ServicerContext
    ) -> pb.SearchResponse:
        """Returns hits, cut to the limit."""

        def work() -> pb.SearchResponse:
            if not self._capabilities.search_modes:
                raise NotImplementedError("this memory cannot be searched; it answers by itself")
            query = parse_query(request, self._capabilities)
            hits = self._runner.run(context, lambda: self._adapter.search(query))
            return pb.SearchResponse(
                hits=hit_messages(self._cut(hits, query.limit)), boot_id=self._boot_id
            )

        return self._guard(context, work)

    def Retrieve(  # noqa: N802
        self, request: pb.RetrieveRequest, context: grpc.ServicerContext
    ) -> pb.RetrieveResponse:
        """Returns one item in full."""

        def work() -> pb.RetrieveResponse:
            ref_id = parse_ref(request)
            document = self._runner.run(context, lambda: self._adapter.retrieve(ref_id))
            return pb.RetrieveResponse(document=document_message(document), boot_id=self._boot_id)

        return self._guard(context, work)

    def Answer(  # noqa: N802
        self, request: pb.AnswerRequest, context: grpc.ServicerContext
    ) -> pb.AnswerResponse:
        """Answers a question by the system's own means."""

        def work() -> pb.AnswerResponse:
            question = parse_question(request)
            answer = self._runner.run(context, lambda: self._adapter.answer(question))
            return answer_message(answer, self._boot_id)

        return self._guard(context, work)

    def Forget(  # noqa: N802
        self, request: pb.ForgetRequest, context: grpc.ServicerContext
    ) -> pb.ForgetResponse:
        """Forgets episodes."""

        def work() -> pb.ForgetResponse:
            ids = parse_forget(request)
            count = self._runner.run(context, lambda: self._adapter.forget(ids))
            return pb.ForgetResponse(forgotten_episodes=count, boot_id=self._boot_id)

        return self._guard(context, work)

    def CallTool(  # noqa: N802
        self, request: pb.CallToolRequest, context: grpc.ServicerContext
    ) -> pb.CallToolResponse:
        """Runs an extra tool; a ToolError is a result that the agent reads."""

        def work() -> pb.CallToolResponse:
            if not self._tools:
                raise NotImplementedError("this adapter has no tools")
            spec = self._tools.get(request.name)
            if spec is None:
                raise NotFound(f"CallToolRequest.name is {request.name!r}: no such tool")
            arguments = parse_arguments(request)
            method: Callable[..., Maybe[ToolReturn]] = getattr(self._adapter, spec.method)
            try:
                result = self._runner.run(context, lambda: method(arguments))
            except ToolError as error:
                return pb.CallToolResponse(
                    result_json=result_json(str(error)), is_error=True, boot_id=self._boot_id
                )
            outcome = result if isinstance(result, ToolResult) else ToolResult(result)
            return pb.CallToolResponse(
                result_json=result_json(outcome.value),
                hits=hit_messages(outcome.hits),
                boot_id=self._boot_id,
            )

        return self._guard(context, work)

    def _run(self, context: grpc.ServicerContext, method: Callable[[], Maybe[R]]) -> R:
        return self._guard(context, lambda: self._runner.run(context, method))

    def _guard(self, context: grpc.ServicerContext, work: Callable[[], R]) -> R:
        if not self._open:
            self._refuse(context)
        try:
            return work()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - becomes the status
            self._abort(context, error)

    def _cut(self, hits: Sequence[Hit], limit: int) -> Sequence[Hit]:
        if len(hits) > limit and not self._cut_logged:
            self._cut_logged = True
            log.warning("search returned %d hits for a limit of %d: cut", len(hits), limit)
        return hits[:limit]

    def _refuse(self, context: grpc.ServicerContext) -> NoReturn:
        context.abort(grpc.StatusCode.UNAVAILABLE, "start() has not returned yet")

    def _abort(self, context: grpc.ServicerContext, error: BaseException) -> NoReturn:
        code, details = status_of(error)
        if code is grpc.StatusCode.INTERNAL:
            log.error("a call failed", exc_info=error)
        context.abort(code, details)
