"""A sentence embedder for tests: no model, but vectors in which equal words are near."""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from memrig_adapters.embedding import Vectors


class WordEmbedder:
    """Each word a fixed direction; a text is the sum of its words.

    Attributes:
        batches: how many texts each call was given.
    """

    name: Final = "words"

    def __init__(self, dimensions: int = 32) -> None:
        self.dimensions = dimensions
        self.batches: list[int] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 [texts, dimensions], each of length 1."""
        self.batches.append(len(texts))
        found = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            found[row] = sum(map(self._direction, sorted(re.findall(r"\w+", text.lower()) or [""])))
        unit: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit

    def _direction(self, word: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        found: Vectors = np.random.default_rng(seed).normal(size=self.dimensions).astype(np.float32)
        return found
