"""Which provider serves a model."""

from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from memrig.errors import GatewayError
from memrig.gateway.config import UpstreamSpec

LOCAL_PREFIX = "local/"
#: Where providers themselves serve their models.
_PROVIDERS = frozenset({"api.anthropic.com", "api.openai.com", "openrouter.ai"})

_LOCAL = UpstreamSpec(
    name="local", kind="local", key_needed=False, models=(f"{LOCAL_PREFIX}*",), concurrency=4
)


def spec_for(model: str, specs: tuple[UpstreamSpec, ...]) -> UpstreamSpec:
    """The first provider whose patterns match; ``local/*`` is built in.

    Raises:
        GatewayError: of kind `missing_key`: it has no key, or there is no such provider.
    """
    for spec in (_LOCAL, *specs):
        if any(fnmatchcase(model, pattern) for pattern in spec.models):
            return spec
    raise GatewayError(
        f"no upstream serves the model {model!r}",
        kind="missing_key",
        where=f"model={model}",
        fix="set the provider's key in the environment or in the keyring file (docs/gateway.md)",
    )


def is_elsewhere(spec: UpstreamSpec) -> bool:
    """Whether models are asked at an address of the user's own, and not at their provider's."""
    return spec.base_url is not None and urlsplit(spec.base_url).hostname not in _PROVIDERS


def check_key(model: str, spec: UpstreamSpec) -> None:
    """Raises GatewayError of kind `missing_key` where a provider needs a key and has none."""
    if spec.key is None and spec.key_needed:
        raise GatewayError(
            f"there is no key for {spec.name}: {spec.key_variable} is not set",
            kind="missing_key",
            where=f"model={model}",
            fix=f"set {spec.key_variable}, or name another model",
        )
