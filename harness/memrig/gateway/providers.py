"""The providers of one gateway: each is connected when the first of its models is called."""

from dataclasses import dataclass, replace

from memrig.gateway.config import GatewayConfig, UpstreamSpec
from memrig.gateway.jsons import load_object
from memrig.gateway.pace import Pace
from memrig.gateway.routing import check_key, spec_for
from memrig.gateway.scrub import Scrubber
from memrig.gateway.upstream.base import Upstream, UpstreamError
from memrig.gateway.upstream.local import LocalUpstream
from memrig.gateway.upstream.sdk import SdkUpstream
from memrig.gateway.wire.base import WireError, WireReply


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider, ready to be called."""

    spec: UpstreamSpec
    upstream: Upstream
    pace: Pace
    scrubber: Scrubber

    def failure(self, error: UpstreamError | WireError) -> UpstreamError:
        """A failed attempt as the provider's, also where it came as a reply that is none."""
        if isinstance(error, UpstreamError):
            return error
        return UpstreamError(
            f"{self.spec.name}: {self.scrubber.text(str(error))}",
            kind=error.kind,
            retryable=error.retryable,
            status=error.status,
        )

    def clean(self, reply: WireReply) -> WireReply:
        """A reply without our keys, also where a stream's pieces had cut one into bits.

        The events are made anew then.
        """
        body = self.scrubber.data(reply.body)
        if body == reply.body:
            return reply
        return replace(reply, body=body, events=b"", value=load_object(body) or {})


class Providers:
    """All of them.

    Args:
        config: the gateway's.
        specs: in order of precedence.
    """

    def __init__(self, config: GatewayConfig, specs: tuple[UpstreamSpec, ...]) -> None:
        self._config = config
        self._specs = specs
        self._scrubber = Scrubber(spec.key for spec in specs if spec.key is not None)
        self._ready: dict[str, Provider] = {}
        self._by_model: dict[str, Provider] = {}

    def spec(self, model: str) -> UpstreamSpec:
        """Who serves a model, with or without a key.

        Raises:
            GatewayError: nobody does.
        """
        return spec_for(model, self._specs)

    def of(self, model: str) -> Provider:
        """Who serves a model.

        Raises:
            GatewayError: of kind `missing_key`.
        """
        if model not in self._by_model:
            spec = spec_for(model, self._specs)
            check_key(model, spec)
            if spec.name not in self._ready:
                self._ready[spec.name] = self._connected(spec)
            self._by_model[model] = self._ready[spec.name]
        return self._by_model[model]

    def _connected(self, spec: UpstreamSpec) -> Provider:
        upstream: Upstream
        if spec.kind == "local":
            upstream = LocalUpstream()
        else:
            upstream = SdkUpstream(spec, self._config.timeout_s, self._scrubber)
        pace = Pace(spec.concurrency, spec.requests_per_minute)
        return Provider(spec, upstream, pace, self._scrubber)

    async def close(self) -> None:
        """Closes all connections."""
        for provider in self._ready.values():
            await provider.upstream.close()
