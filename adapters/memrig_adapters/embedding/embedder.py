"""What an adapter needs of a sentence embedder."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

#: float32 [texts, dimensions], each row of length 1.
Vectors = NDArray[np.float32]


class SentenceEmbedder(Protocol):
    """Turns texts into vectors whose dot product is their cosine similarity."""

    @property
    def name(self) -> str:
        """The model's name, for tables."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in their order: float32 [texts, dimensions], each of length 1."""
