"""The gateway: the rig's own calls, and those that come out of pods."""

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from memrig.errors import HarnessError
from memrig.gateway.call import Answer, Call
from memrig.gateway.calls import Calls
from memrig.gateway.config import GatewayConfig
from memrig.gateway.endpoints import app_for
from memrig.gateway.identity import MEMORY, TrialIdentity
from memrig.gateway.keyring import find_upstreams
from memrig.gateway.ledger import Ledger, Prices, check_prices
from memrig.gateway.prices import PriceTable
from memrig.gateway.providers import Providers
from memrig.gateway.record import Record
from memrig.gateway.server import serving, sweep_sockets
from memrig.gateway.wire.base import ChatWire
from memrig.gateway.wire.formats import ANTHROPIC_MESSAGES, CHAT_WIRES, OPENAI_CHAT
from memrig.model.canonical import derive
from memrig.model.chat import PHASES, CallContext, ChatReply, ChatRequest, Phase, Spent
from memrig.model.transcript import ModelUsageRecord

_NO_HEADERS: Mapping[str, str] = {}


class Gateway:
    """All models of one run. Use as an async context manager; it is a `memrig.model.chat.Chat`.

    Args:
        config: mode, models, limits, upstreams.
        prices: what models cost; None: the table that ships with memrig.
        environment: where keys are looked for; None: the process's.

    Raises:
        UsageError: on entering: a limit in money beside a model without a price, or a keyring
            that cannot be used.
        PrerequisiteError: on entering: there is no record to replay.
    """

    def __init__(
        self,
        config: GatewayConfig,
        *,
        prices: Prices | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.config = config
        self._prices: Prices = prices if prices is not None else PriceTable.load()
        self._environment = environment
        self._entered: Calls | None = None
        self._wires: dict[str, ChatWire] = {}

    async def __aenter__(self) -> Self:
        config = self.config
        sweep_sockets()
        if not config.replays:
            check_prices(config.models, config.limits, self._prices)
        specs = config.upstreams
        if specs is None:
            # A replay needs no key, and must not fail for somebody's broken keyring.
            specs = () if config.replays else find_upstreams(self._environment)
        record = Record.opened(config.record, read_only=config.replays)
        ledger = Ledger(config.limits)
        if record is not None and not config.replays:
            for paid in record.paid():
                accounts = ledger.accounts(paid.trial_id, paid.phase)
                ledger.pay(accounts, paid.tokens, paid.cost_usd)
        chance = random.Random(derive(config.seed, "gateway", "jitter"))  # noqa: S311
        self._entered = Calls(
            config, Providers(config, specs), self._prices, record, ledger, chance
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        calls, self._entered = self._calls, None
        await calls.providers.close()
        if calls.record is not None:
            await calls.record.close()

    @property
    def _calls(self) -> Calls:
        if self._entered is None:
            raise HarnessError("the gateway is used outside of its context")
        return self._entered

    @property
    def record(self) -> Record | None:
        """What was written down so far."""
        return self._calls.record

    async def chat(self, request: ChatRequest, context: CallContext) -> ChatReply:
        """Calls a model for the rig itself.

        Raises:
            GatewayError: there is no reply; `kind` says why.
        """
        wire = await self._wire_of(request.model)
        call = Call(wire, wire.request(request), _NO_HEADERS, context)
        return _reply(wire, await self._calls.make(call))

    async def _wire_of(self, model: str) -> ChatWire:
        """The format that a model is spoken to in; in a replay, the one that was recorded."""
        if model in self._wires:
            return self._wires[model]
        calls = self._calls
        if self.config.replays:
            known = calls.record.wire_of(model) if calls.record is not None else None
            wire = CHAT_WIRES.get(known or "", OPENAI_CHAT)
        else:
            if model not in self.config.models:
                return OPENAI_CHAT  # refused in a moment; who serves it does not matter
            kind = calls.providers.spec(model).kind
            wire = ANTHROPIC_MESSAGES if kind == "anthropic" else OPENAI_CHAT
            if calls.record is not None:
                await calls.record.note_wire(model, wire.format)
        self._wires[model] = wire
        return wire

    @asynccontextmanager
    async def serve(
        self, identity: TrialIdentity, folder: Path | None = None
    ) -> AsyncIterator[Path]:
        """Serves one trial's pod on a Unix socket of its own; whoever reaches it is that trial.

        Identical calls of its memory system are counted from here on: another attempt at a trial
        asks what the first one asked, and gets what that one was given.

        Args:
            identity: the trial, which tells phase and scope as it goes.
            folder: where the socket is made: of mode 0700, with a short path. None: a new one.
        """
        self._calls.begin(identity.trial_id)
        async with serving(app_for(self._calls, identity), folder) as path:
            yield path

    def spent(
        self,
        *,
        phase: Phase | None = None,
        trial_id: str | None = None,
        purpose: str | None = None,
    ) -> Spent:
        """What the replies of this session took, those out of the record as it was recorded."""
        return self._calls.tally.spent(phase, trial_id, purpose)

    def usage_of(self, trial_id: str) -> tuple[ModelUsageRecord, ...]:
        """What a trial's memory system used in this session, by phase and model."""
        sums = self._calls.tally.sums(trial_id=trial_id, purpose=MEMORY)
        return tuple(
            ModelUsageRecord(
                phase=column.phase,
                model=column.model,
                calls=total.calls,
                attempts=total.attempts,
                input_tokens=total.input_tokens,
                output_tokens=total.output_tokens,
                cost_usd=None if total.unpriced else total.cost_usd,
            )
            for column, total in sorted(
                sums.items(), key=lambda item: (PHASES.index(item[0].phase), item[0].model)
            )
        )


def _reply(wire: ChatWire, answer: Answer) -> ChatReply:
    said = wire.said(answer.reply.value)
    return ChatReply(
        text=said.text,
        tool_calls=said.tool_calls,
        stop_reason=said.stop_reason,
        served_model=answer.reply.served_model,
        input_tokens=answer.reply.input_tokens,
        output_tokens=answer.reply.output_tokens,
        cost_usd=answer.cost_usd,
        ns=answer.ns,
        attempts=answer.attempts,
        key=answer.key,
    )
