"""Anthropic and OpenAI through their own SDKs: connections, headers and time limits are theirs.

A call goes through the SDK's generic `post`, so that a body it has no parameter for passes as it
is; its retries are off, because the gateway records every attempt.
"""

import asyncio
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from memrig.gateway.config import UpstreamSpec
from memrig.gateway.jsons import Json
from memrig.gateway.scrub import Scrubber
from memrig.gateway.upstream.base import UpstreamError, failure_of_status
from memrig.gateway.wire.base import Format

#: Servers on one's own machine want no key; the SDK does.
_NO_KEY = "none"


class SdkUpstream:
    """One provider, called through an SDK. Both SDKs have the same shape.

    Args:
        spec: the provider.
        timeout_s: seconds until a call is given up.
        scrubber: takes keys out of what the provider says.
    """

    def __init__(self, spec: UpstreamSpec, timeout_s: float, scrubber: Scrubber) -> None:
        self._spec = spec
        self._timeout_s = timeout_s
        self._scrub = scrubber
        self._module, self._client = _client(spec, timeout_s)
        self._prefix = "/v1" if spec.kind == "anthropic" else ""

    async def send(
        self,
        wire: Format,  # noqa: ARG002 - the path says it
        path: str,
        body: Json,
        headers: Mapping[str, str],
    ) -> bytes:
        """Calls the provider once."""
        sdk = self._module
        options = {"headers": dict(headers)}
        try:
            # The SDK's own limit is of silence: a stream that drips would never end.
            async with asyncio.timeout(self._timeout_s):
                reply = await self._client.post(
                    self._prefix + path, cast_to=bytes, body=body, options=options
                )
        except sdk.APIStatusError as error:
            raise self._refused(error) from None  # the SDK's error holds the request's headers
        except (sdk.APITimeoutError, TimeoutError):
            message = f"{self._spec.name} did not answer within {self._timeout_s:g} s"
            raise UpstreamError(message) from None
        except sdk.APIConnectionError as error:
            cause = self._scrub.text(repr(error.__cause__ or error))
            raise UpstreamError(f"no whole reply from {self._spec.name}: {cause}") from None
        return self._scrub.data(bytes(reply))

    def _refused(self, error: Any) -> UpstreamError:
        body = self._scrub.data(error.response.content)
        text = self._scrub.text(str(error.message))
        message = f"{self._spec.name} answered {error.status_code}: {text[:500]}"
        return failure_of_status(error.status_code, message, error.response.headers, body)

    async def close(self) -> None:
        """Closes the SDK's connections."""
        await self._client.close()


def _client(spec: UpstreamSpec, timeout_s: float) -> tuple[ModuleType, Any]:
    # Imported where it is used: the two take a second, and many a run calls local models only.
    key = spec.key.get_secret_value() if spec.key else _NO_KEY
    if spec.kind == "anthropic":
        import anthropic  # noqa: PLC0415

        # The SDK adds /v1 itself; users know both ways of writing it.
        base = spec.base_url.rstrip("/").removesuffix("/v1") if spec.base_url else None
        return anthropic, anthropic.AsyncAnthropic(
            api_key=key, base_url=base, timeout=timeout_s, max_retries=0
        )
    import openai  # noqa: PLC0415

    return openai, openai.AsyncOpenAI(
        api_key=key, base_url=spec.base_url, timeout=timeout_s, max_retries=0
    )
