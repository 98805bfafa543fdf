"""The wire of OpenAI Embeddings for the built-in embedding models."""

import base64
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from memrig.gateway.local import hashed, minilm
from memrig.gateway.local.wire import Body, refused
from memrig.model.chat import estimate_tokens

HASH_EMBED, MINILM = "local/hash-embed", "local/minilm"
_MOST_DIMENSIONS = 8192
_MOST_INPUTS = 2048  #: as OpenAI has it

Input = str | Sequence[int]
Vectors = npt.NDArray[np.float32]


def openai_embeddings(body: Body) -> dict[str, object]:
    """Answers a request in the shape of OpenAI Embeddings.

    `encoding_format` "base64" gives little-endian float32, "float" the same values as numbers.
    """
    inputs = _inputs(body.get("input"))
    vectors = _MODELS[str(body["model"])](inputs, _dimensions(body))
    tokens = sum(estimate_tokens(i) if isinstance(i, str) else len(i) for i in inputs)
    return {
        "object": "list",
        "model": body["model"],
        "data": [
            {"object": "embedding", "index": n, "embedding": vector}
            for n, vector in enumerate(_encoded(vectors, body))
        ],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _encoded(vectors: Vectors, body: Body) -> list[object]:
    form = body.get("encoding_format") or "float"
    if form == "float":
        return list(vectors.tolist())
    if form == "base64":
        return [base64.b64encode(vector.astype("<f4").tobytes()).decode() for vector in vectors]
    raise refused(f"encoding_format is {form!r}, expected float or base64")


def _inputs(value: object) -> list[Input]:
    items = value if isinstance(value, list) and not _tokens(value) else [value]
    if not items or len(items) > _MOST_INPUTS:
        raise refused(f"input holds {len(items)} texts, expected 1 to {_MOST_INPUTS}")
    return [_input(item, f"input[{n}]") for n, item in enumerate(items)]


def _input(item: object, where: str) -> Input:
    if item in ("", []):
        raise refused(f"{where} is empty")
    found = item if isinstance(item, str) else _tokens(item)
    if found is None:
        raise refused(f"{where} is {type(item).__name__}, expected text or token numbers")
    return found


def _tokens(value: object) -> list[int] | None:
    if isinstance(value, list) and value and all(type(item) is int for item in value):
        return value
    return None


def _dimensions(body: Body) -> int | None:
    value = body.get("dimensions")
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= _MOST_DIMENSIONS:
        raise refused(f"dimensions is {value!r}, expected 1 to {_MOST_DIMENSIONS}")
    return value


def _hashed(inputs: Sequence[Input], dimensions: int | None) -> Vectors:
    return hashed.embed(inputs, dimensions or hashed.DIMENSIONS)


def _minilm(inputs: Sequence[Input], dimensions: int | None) -> Vectors:
    texts = [item for item in inputs if isinstance(item, str)]
    if len(texts) < len(inputs):
        raise refused(f"{MINILM} reads text, not another model's token numbers")
    wanted = dimensions or minilm.DIMENSIONS
    if wanted < minilm.DIMENSIONS:
        message = f"{MINILM} has {minilm.DIMENSIONS} dimensions and cannot give {wanted}"
        raise refused(message, f"ask {HASH_EMBED} for fewer, or leave `dimensions` out")
    # Zeros at the end change no cosine, and let it stand in where a schema fixes a larger width.
    return np.pad(minilm.embed(texts), ((0, 0), (0, wanted - minilm.DIMENSIONS)))


_MODELS: Mapping[str, Callable[[Sequence[Input], int | None], Vectors]] = {
    HASH_EMBED: _hashed,
    MINILM: _minilm,
}
