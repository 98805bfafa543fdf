"""Calls from request to reply: allowed, found or paid for, tried, counted, written down."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from memrig.errors import GatewayError
from memrig.gateway import rows
from memrig.gateway.call import Answer, Call, CallError
from memrig.gateway.config import GatewayConfig, UpstreamSpec
from memrig.gateway.identity import MEMORY
from memrig.gateway.keys import Key, Keys
from memrig.gateway.ledger import Ledger, Prices, Reservation
from memrig.gateway.providers import Provider, Providers
from memrig.gateway.record import Attempt, Exchange, Record
from memrig.gateway.retry import persistently
from memrig.gateway.tally import Tally
from memrig.gateway.upstream.base import UpstreamError
from memrig.gateway.wire.base import Wire, WireError, WireReply, without_stream_flags

#: Outcomes that a resumed run takes over: asking again would cost, or meet the same.
_KEPT = {"ok", "rejected", "malformed"}


def utc_stamp() -> str:
    """Now, as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(slots=True)
class Calls:
    """Makes calls.

    Args:
        config: the gateway's.
        providers: whom to ask.
        prices: what it costs.
        record: where it is written down; None: nowhere.
        ledger: what may still be spent.
        chance: where jitter is drawn from.
        stamp: the time of day.
    """

    config: GatewayConfig
    providers: Providers
    prices: Prices
    record: Record | None
    ledger: Ledger
    chance: random.Random
    stamp: Callable[[], str] = utc_stamp
    tally: Tally = field(default_factory=Tally)
    _keys: Keys = field(default_factory=Keys)
    _asked: dict[str, tuple[int, int]] = field(default_factory=dict)

    def begin(self, trial_id: str) -> None:
        """An attempt at a trial begins: nothing of it was asked yet."""
        self._keys.begin(trial_id)

    async def make(self, call: Call) -> Answer:
        """Answers a call, from the record or by a provider.

        Raises:
            CallError: there is no answer.
        """
        if call.model not in (call.models or self.config.models) & self.config.models:
            allowed = ", ".join(sorted(call.models or self.config.models)) or "none"
            message = f"the model {call.model!r} is not one of those allowed ({allowed})"
            raise CallError(message, kind="not_allowed", where=call.where)
        try:
            key = self._keys.name(call.wire.format, call.body, call.headers, call.context)
        except TypeError as error:
            message = f"the request is no clean JSON: {error}"
            raise CallError(message, kind="rejected", where=call.where) from error
        self._bounded(call, len(key.canonical))
        if (found := self._found(key)) is not None:
            answer = rows.recorded(call, found)
        elif self.config.replays:
            message = f"the record holds no such exchange (key {key.exact[:12]})"
            raise CallError(message, kind="not_recorded", where=call.where)
        else:
            answer = await self._made(call, key)
        self.tally.answered(call, answer)
        return answer

    def _bounded(self, call: Call, size: int) -> None:
        """Refuses what a memory asks beyond all measure, and writes no row: rows fill the disk."""
        if call.context.purpose != MEMORY:
            return
        trial = call.context.trial_id
        calls, total = self._asked.get(trial, (0, 0))
        most, largest = self.config.max_memory_calls, self.config.max_memory_bytes
        if calls >= most or total + size > largest:
            message = f"a memory system may make {most:,} calls with {largest:,} bytes in all"
            raise CallError(message, kind="rejected", where=call.where)
        self._asked[trial] = calls + 1, total + size

    def _found(self, key: Key) -> Exchange | None:
        if self.record is None or self.config.mode == "live":
            return None
        found = self.record.exact(key)
        if found is None and self.config.mode == "replay":
            found = self.record.like(key)
        if found is None or (found.state == "ok" and found.response is None):
            return None  # mode live keeps no replies
        return found if self.config.replays or found.state in _KEPT else None

    async def _made(self, call: Call, key: Key) -> Answer:
        """Calls the provider, and writes down how it went, well or not."""
        began = time.monotonic_ns()
        tried: list[Attempt] = []
        row = rows.open_exchange(call, key, self.stamp())
        try:
            answer = await self._paid(call, key, tried)
        except CallError as error:
            row = rows.failed(row, error, tried, time.monotonic_ns() - began)
            await self._write(row, tried, key)
            raise
        except asyncio.CancelledError:
            # Not awaited: whoever cancels does not wait for the disk.
            self._queued(rows.cancelled(row, tried, time.monotonic_ns() - began), tried, key)
            raise
        finally:
            self.tally.tried(call, len(tried))
        bodies = self.config.mode == "record"
        done = rows.answered(row, answer, bodies=bodies)
        try:
            await self._write(done, tried, key)
        except asyncio.CancelledError:
            # The reply came, but nobody took it: a replay must not give it. Its cost stays.
            lost = time.monotonic_ns() - began
            self._queued(rows.cancelled(done, tried, lost), [], key)
            raise
        return answer

    async def _write(self, row: Exchange, tried: list[Attempt], key: Key) -> None:
        if (done := self._queued(row, tried, key)) is not None:
            await done

    def _queued(
        self, row: Exchange, tried: list[Attempt], key: Key
    ) -> "asyncio.Future[None] | None":
        if self.record is None:
            return None
        canonical = key.canonical if self.config.mode == "record" else None
        return self.record.add(row, tried, canonical)

    async def _paid(self, call: Call, key: Key, tried: list[Attempt]) -> Answer:
        began = time.monotonic_ns()
        provider = self._provider(call)
        with self._reserved(call, key) as reservation:
            try:
                reply = await self._tried(call, key, provider, tried)
            except UpstreamError as error:
                raise CallError(
                    error.message,
                    kind=error.kind,
                    where=f"{call.where} attempts={len(tried)}",
                    status=error.status,
                    body=error.body if error.kind == "rejected" else b"",
                ) from error
            cost = self.prices.cost(call.model, reply.input_tokens, reply.output_tokens)
            reservation.settle(reply.input_tokens + reply.output_tokens, cost)
            tried[-1] = rows.charged(tried[-1], reply, cost)
        return Answer(reply, key.exact, cost, time.monotonic_ns() - began, len(tried))

    def _provider(self, call: Call) -> Provider:
        try:
            provider = self.providers.of(call.model)
        except GatewayError as error:
            raise CallError.of(error) from error
        if not speaks(provider.spec, call.wire):
            raise CallError(
                f"the model {call.model!r} is served by {provider.spec.name}, which speaks the "
                f"format of {provider.spec.kind}, not {call.wire.format}",
                kind="rejected",
                where=call.where,
                fix=f"ask for it with the SDK of {provider.spec.kind}",
            )
        return provider

    def _reserved(self, call: Call, key: Key) -> Reservation:
        sent = (len(key.canonical) + 3) // 4  # as estimate_tokens
        said = call.wire.max_output_tokens(call.body)
        try:
            cost = self.prices.cost(call.model, sent, said)
            return self.ledger.reserve(call.context, sent + said, cost)
        except GatewayError as error:
            raise CallError.of(error) from error

    async def _tried(
        self, call: Call, key: Key, provider: Provider, tried: list[Attempt]
    ) -> WireReply:
        """Asks until there is a whole reply; every attempt is left in `tried`.

        Raises:
            UpstreamError: the last attempt's.
        """
        local = provider.spec.kind == "local"  # never streams by itself
        body = without_stream_flags(call.body) if local else call.wire.prepared(call.body)
        sent = replace(call, body=body)

        async def once(number: int) -> WireReply:
            async with provider.pace.turn():
                attempt = rows.open_attempt(call, key, number, self.stamp())
                with clock.running():
                    return await self._once(sent, provider, attempt, tried)

        clock = call.context.clock
        with clock.standing_still():
            return await persistently(once, self.config.retry, self.chance)

    async def _once(
        self, sent: Call, provider: Provider, attempt: Attempt, tried: list[Attempt]
    ) -> WireReply:
        wire = sent.wire
        began = time.monotonic_ns()
        try:
            raw = await provider.upstream.send(wire.format, wire.path, sent.body, sent.headers)
            reply = provider.clean(wire.read(raw, sent.body))
        except (UpstreamError, WireError) as error:
            failure = provider.failure(error)
            tried.append(rows.tried_in_vain(attempt, failure, began))
            asked = failure.retry_after_s
            if asked is not None and asked <= self.config.retry.retry_after_max_s:
                provider.pace.hold(asked)
            raise failure from error
        except asyncio.CancelledError:
            lost = time.monotonic_ns() - began
            tried.append(replace(attempt, error="cancelled", ns=lost))
            raise
        tried.append(replace(attempt, status=200, ns=time.monotonic_ns() - began))
        return reply


def speaks(spec: UpstreamSpec, wire: Wire) -> bool:
    """Whether a provider understands a format."""
    return spec.kind == "local" or wire.format.startswith(spec.kind)
