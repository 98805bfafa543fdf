"""OpenAI Embeddings: requests, replies and errors."""

from memrig.errors import GatewayFault
from memrig.gateway.jsons import Json, as_count, as_list, as_object, as_text, dump
from memrig.gateway.wire import openai
from memrig.gateway.wire.base import Format, Refusal, WireError, WireReply
from memrig.model.chat import estimate_tokens


class OpenAIEmbeddings:
    """POST /v1/embeddings."""

    format: Format = "openai.embeddings"
    path = "/embeddings"

    def max_output_tokens(self, body: Json) -> int:  # noqa: ARG002 - the same for every request
        """None: vectors are not charged for."""
        return 0

    def prepared(self, body: Json) -> Json:
        """As it is."""
        return body

    def read(self, raw: bytes, body: Json) -> WireReply:
        """Checks that there is a vector for every input, as the encoding asked for has it."""
        value = openai.check_object(raw)
        vectors = as_list(value.get("data"))
        expected = _inputs(body.get("input"))
        if len(vectors) != expected:
            raise WireError(f"the reply has {len(vectors)} embeddings, expected {expected}")
        for vector in vectors:
            if not as_object(vector).get("embedding"):
                raise WireError("an embedding of the reply is empty")
        usage = as_object(value.get("usage"))
        sent = as_count(usage.get("prompt_tokens"))
        if not usage:
            sent = estimate_tokens(dump(body.get("input")).decode("utf-8", "replace"))
        return WireReply(raw, b"", value, sent, 0, as_text(value.get("model")))

    def stream(self, reply: WireReply, body: Json) -> bytes:  # noqa: ARG002 - there is no stream
        """Embeddings do not stream: the body as it is."""
        return reply.body

    def refusal(self, kind: GatewayFault, status: int | None, message: str) -> Refusal:
        """OpenAI's error object."""
        return openai.refusal(kind, status, message)


def _inputs(value: object) -> int:
    """A text, or a list of numbers which are its tokens, is one input; other lists hold several."""
    if not isinstance(value, list):
        return 1
    return 1 if value and all(isinstance(item, int) for item in value) else len(value)
