"""Keeps an adapter running for the checks, and starts it again when a check has killed it."""

import secrets
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import grpc
from grpc_health.v1 import health_pb2_grpc

from memrig.client import MemoryClient
from memrig.client.connection import MAX_MESSAGE_BYTES
from memrig.conformance.context import DEADLINES, Link, answer
from memrig.errors import AdapterCrashedError, AdapterError
from memrig.model.manifest import ADAPTER_SERVICE, AdapterRef
from memrig.model.trial import Deadlines
from memrig.pod.base import Fate, Pod, PodProvider, PodRequest
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as rpc

_START_S = 30.0
_LOG_LINES = 20


class Bench:
    """One adapter under check, in one pod after another. Use as an async context manager."""

    def __init__(
        self,
        adapter: AdapterRef,
        provider: PodProvider,
        deadlines: Deadlines | None = None,
        gateway_socket: Path | None = None,
    ) -> None:
        self._adapter = adapter
        self._provider = provider
        self._deadlines = deadlines or DEADLINES
        self._gateway_socket = gateway_socket
        self._stack = AsyncExitStack()
        self._pod: Pod | None = None
        self._link: Link | None = None
        self._starts = 0
        # Of its own: cleaning up after one run must not touch the pods of another.
        self._run_id = f"conformance-{secrets.token_hex(4)}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def link(self) -> Link:
        """The running adapter; starts one where there is none.

        Raises:
            AdapterError: it does not start, or does not shake hands.
        """
        if self._link is None:
            self._link = await self._open()
        return self._link

    async def restart(self) -> Link:
        """Ends the adapter's process and starts it again in the same pod.

        Raises:
            PrerequisiteError: this kind of pod cannot.
            AdapterError: it does not come up again.
        """
        await self.link()
        assert self._pod is not None  # noqa: S101  there is a link
        await self._pod.restart(ADAPTER_SERVICE)
        self._link = await self._connect(self._pod)
        return self._link

    async def drop(self) -> None:
        """Ends the adapter that runs, so that the next check gets a new one."""
        self._link = self._pod = None
        await self._stack.aclose()
        self._stack = AsyncExitStack()

    async def obituary(self) -> str:
        """How the adapter ended, with its last lines; empty while it lives and answers."""
        if self._link is None or self._pod is None:
            return ""
        fate = await self._pod.fate()
        if fate.state != "exited" and await _answers(self._link):
            return ""
        log = (await self._pod.logs(_LOG_LINES)).strip()
        ending = _ending(fate) or "the adapter does not answer any more"
        return f"{ending}\n{log}" if log else ending

    async def _open(self) -> Link:
        self._starts += 1
        request = PodRequest(
            adapter=self._adapter,
            run_id=self._run_id,
            trial_id=f"conformance-{self._starts}",
            gateway_socket=self._gateway_socket,
        )
        self._pod = pod = await self._stack.enter_async_context(self._provider.start(request))
        return await self._connect(pod)

    async def _connect(self, pod: Pod) -> Link:
        client = await self._stack.enter_async_context(MemoryClient(pod.target, self._deadlines))
        await self._wait_ready(pod, client)
        limit = self._deadlines.capabilities
        call = client.stub.Capabilities(pb.CapabilitiesRequest(), timeout=limit)
        declared = await answer(call, "Capabilities", limit)
        wide = await self._stack.enter_async_context(_wide_channel(pod.target))
        return Link(
            client=client,
            wide=rpc.MemoryAdapterStub(wide),
            health=health_pb2_grpc.HealthStub(wide),
            capabilities=declared,
            deadlines=self._deadlines,
        )

    async def _wait_ready(self, pod: Pod, client: MemoryClient) -> None:
        async def still_alive() -> None:
            fate = await pod.fate()
            if message := _ending(fate):
                log = await pod.logs(_LOG_LINES)
                raise AdapterCrashedError(
                    "oom" if fate.oom else "exit", message, log_tail=log, where="start"
                )

        manifest = self._adapter.manifest
        patience = manifest.start_timeout_s if manifest else _START_S
        try:
            await client.wait_ready(patience, still_alive)
        except AdapterCrashedError as crash:
            # One that serves but has no health service is for a check to name.
            if crash.kind == "hang" and await _serves(client, self._deadlines.capabilities):
                return
            crash.log_tail = crash.log_tail or await pod.logs(_LOG_LINES)
            raise


def _wide_channel(target: str) -> grpc.aio.Channel:
    options = (
        ("grpc.max_send_message_length", 4 * MAX_MESSAGE_BYTES),
        ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
        ("grpc.enable_retries", 0),
        ("grpc.use_local_subchannel_pool", 1),
    )
    return grpc.aio.insecure_channel(target, options=options)


async def _serves(client: MemoryClient, limit: float) -> bool:
    call = client.stub.Capabilities(pb.CapabilitiesRequest(), timeout=limit)
    try:
        await answer(call, "Capabilities", limit)
    except AdapterError:
        return False
    return True


async def _answers(link: Link) -> bool:
    """Whether the same process still answers the cheapest call."""
    return await _serves(link.client, link.deadlines.capabilities)


def _ending(fate: Fate) -> str:
    if fate.oom:
        return f"{fate.service!r} was killed for exceeding its memory limit"
    if fate.state == "exited":
        return f"{fate.service!r} ended with exit code {fate.exit_code}"
    return ""
