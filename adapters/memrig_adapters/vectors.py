"""Vectors, one a row, that are compared with a query one by one: exact, with no index."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from memrig_adapters.embedding.embedder import Vectors
from memrig_adapters.ranking import Mask

#: Rows of a block: 6 MiB of 384 numbers. A new block copies nothing, as a growing array would.
BLOCK: Final = 4_096
#: Sums of float32 differ in their last digits with a row's place. Six digits are the same wherever
#: it stands, so that equal texts have equal scores, and forgetting others changes none.
DIGITS: Final = 6


class VectorTable:
    """Rows of float32, each of length 1.

    Args:
        dimensions: the numbers of a row.
    """

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._blocks: list[Vectors] = []
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, vectors: Vectors) -> None:
        """Takes more rows: float32 [rows, dimensions]."""
        done = 0
        while done < len(vectors):
            place = self._rows % BLOCK
            if place == 0:
                self._blocks.append(np.empty((BLOCK, self._dimensions), dtype=np.float32))
            part = vectors[done : done + BLOCK - place]
            self._blocks[-1][place : place + len(part)] = part
            done += len(part)
            self._rows += len(part)

    def scores(self, query: Vectors) -> NDArray[np.float64]:
        """The cosine of each row with a query [dimensions], in the rows' order."""
        found = np.empty(self._rows, dtype=np.float64)
        for number, block in enumerate(self._blocks):
            start = number * BLOCK
            end = min(start + BLOCK, self._rows)
            found[start:end] = block[: end - start] @ query
        return np.round(found, DIGITS)

    def keep(self, kept: Mask) -> None:
        """Removes the rows that are not to be kept; the others close up."""
        blocks, rows = self._blocks, self._rows
        self._blocks, self._rows = [], 0
        for number, block in enumerate(blocks):
            start = number * BLOCK
            end = min(start + BLOCK, rows)
            self.append(block[: end - start][kept[start:end]])
