"""What a gateway is told before it starts: mode, models, limits, retries and upstreams."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from memrig.model.chat import PHASES, Phase

GatewayMode = Literal["live", "record", "replay", "replay-strict"]
UpstreamKind = Literal["anthropic", "openai", "local"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Limit(_Frozen):
    """The most that may be spent. None: no limit.

    Args:
        tokens: input and output together.
        usd: US dollars.
    """

    tokens: int | None = Field(default=None, gt=0)
    usd: float | None = Field(default=None, gt=0)

    def __bool__(self) -> bool:
        """Whether it limits anything."""
        return self.tokens is not None or self.usd is not None


class Limits(_Frozen):
    """Limits of the whole run, of each trial, and of each phase of the run."""

    run: Limit = Limit()
    trial: Limit = Limit()
    phases: Mapping[Phase, Limit] = Field(default_factory=dict)

    @property
    def money(self) -> bool:
        """Whether any of them is in US dollars."""
        parts = (self.run, self.trial, *(self.phases.get(phase, Limit()) for phase in PHASES))
        return any(part.usd is not None for part in parts)


class RetryPolicy(_Frozen):
    """How often and how patiently a failed call is repeated.

    Args:
        attempts: calls in all, the first included.
        initial_s: the first pause; each further one is twice as long.
        max_s: the longest pause.
        jitter: share of a pause that is drawn at random on top, from the run's seed.
        retry_after_max_s: a provider that asks for a longer pause than this is given up.
    """

    attempts: int = Field(default=6, ge=1)
    initial_s: float = Field(default=0.5, ge=0)
    max_s: float = Field(default=30, ge=0)
    jitter: float = Field(default=0.25, ge=0)
    retry_after_max_s: float = Field(default=120, ge=0)


class UpstreamSpec(_Frozen):
    """One provider.

    Args:
        name: unique; shown in errors.
        kind: the wire format it speaks.
        base_url: None: the SDK's own.
        key: never shown, never written.
        key_variable: what a user would set to give the key; named where it is missing.
        key_needed: whether calls without a key are pointless.
        models: glob patterns of the model names that go to it.
        concurrency: calls in flight.
        requests_per_minute: None: no limit.
    """

    name: str
    kind: UpstreamKind
    base_url: str | None = None
    key: SecretStr | None = None
    key_variable: str = ""
    key_needed: bool = True
    models: tuple[str, ...] = ("*",)
    concurrency: int = Field(default=32, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)


class GatewayConfig(_Frozen):
    """A gateway's configuration.

    Args:
        mode: `live` and `record` call models; `replay` and `replay-strict` only read the record.
        record: the SQLite file; in mode live it may be missing, and then nothing is kept.
        models: the models that may be called, the rig's own and the memory system's.
        limits: of tokens and money.
        retry: for every upstream.
        upstreams: in order; the first whose patterns match a model serves it. None: those of the
            keyring file and the environment.
        timeout_s: seconds until one call is given up.
        seed: of the pauses' jitter.
        max_body_bytes: the largest request that a pod may send.
        max_in_flight: a pod's requests at a time; further ones wait, unread.
        max_bytes_in_flight: the bytes of a pod's requests at a time.
        body_timeout_s: seconds that a request may take to come.
        max_memory_calls: calls that one trial's memory system may make in a session.
        max_memory_bytes: bytes that their requests may have together.
    """

    mode: GatewayMode
    record: Path | None = None
    models: frozenset[str]
    limits: Limits = Limits()
    retry: RetryPolicy = RetryPolicy()
    upstreams: tuple[UpstreamSpec, ...] | None = None
    timeout_s: float = Field(default=300, gt=0)
    seed: int = 0
    max_body_bytes: int = Field(default=64 * 1024**2, gt=0)
    max_in_flight: int = Field(default=64, gt=0)
    max_bytes_in_flight: int = Field(default=128 * 1024**2, gt=0)
    body_timeout_s: float = Field(default=60, gt=0)
    max_memory_calls: int = Field(default=1_000_000, gt=0)
    max_memory_bytes: int = Field(default=4 * 1024**3, gt=0)

    @model_validator(mode="after")
    def _needs_a_file(self) -> "GatewayConfig":
        if self.record is None and self.mode != "live":
            raise ValueError(f"mode {self.mode} needs a record file")
        return self

    @property
    def replays(self) -> bool:
        """Whether models are never called."""
        return self.mode in {"replay", "replay-strict"}
